"""Certificates, model files, code, pasted data and addresses of the page, compared with the package."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xxhash

import markone
from markone.features.spec import Features
from markone.theory.certifying import certify

SIGNS = ["−1", "+1"]


def points_of(X: Any, y: Any) -> list[dict[str, float]]:
    return [{"x1": float(a), "x2": float(b), "y": int(k)} for (a, b), k in zip(X, y, strict=True)]


# ---- certificates


def check_certificate(mine: dict[str, Any], classes: int) -> bool:
    """Compares a certificate of the page with `markone.certify`, and returns whether the rows are separable."""
    X = np.array([row["value"] for row in mine["rows"]])
    y = np.array([row["y"] for row in mine["rows"]])
    theirs = certify(X, y, bias=False, tol=1e-9)
    assert theirs.separable is not None
    assert mine["separable"] == theirs.separable
    if mine["separable"]:
        w = np.array(mine["w"])
        scores = X @ w if classes == 2 else X @ w.reshape(classes, -1).T
        margins = (
            np.where(y == 1, 1, -1) * scores
            if classes == 2
            else scores[np.arange(len(y)), y] - np.where(np.eye(classes, dtype=bool)[y], -np.inf, scores).max(axis=1)
        )
        assert margins.min() > 0
        assert margins.min() == pytest.approx(mine["margin"], rel=1e-9)
        if classes == 2:
            lower, upper = theirs.bracket
            assert lower * (1 - 1e-6) <= mine["margin"] <= upper * (1 + 1e-6)
            assert mine["radius"] == pytest.approx(theirs.radius)
    else:
        rows = sorted({one["row"] for one in mine["proof"]})
        assert all(one["share"] > 0 for one in mine["proof"])
        if len({*y[rows]}) == classes:  # the rows of the proof are enough
            assert certify(X[rows], y[rows], bias=False).separable is False
        if classes == 2:
            shares = np.array([one["share"] for one in mine["proof"]])
            z = np.where(y == 1, 1, -1)[:, None] * X
            balance = shares @ z[[one["row"] for one in mine["proof"]]]
            assert np.abs(balance).max() <= 1e-5 * max(1e-300, np.abs(z).max())
    return bool(mine["separable"])


FEATURE_SETS = [["x1", "x2"], ["x1", "x2", "x12"], ["x1", "x2", "x11", "x22", "x12"]]


def test_certificates_of_the_presets(node: Any) -> None:
    [presets] = node([{"ask": "presets"}])
    cases = [
        {"points": preset["points"], "classes": preset["classes"], "features": features, "bias": bias}
        for preset, features, bias in itertools.product(presets["points"], FEATURE_SETS, [True, False])
    ]
    answers = node([{"ask": "certify", **case} for case in cases])
    found = {check_certificate(answer, len(case["classes"])) for case, answer in zip(cases, answers, strict=True)}
    assert found == {True, False}


def test_certificates_of_random_points(node: Any) -> None:
    random = np.random.default_rng(1)
    cases = []
    for number in range(120):
        rows = int(random.integers(2, 12))
        # Small whole numbers often touch: they lie on one line, or on each other.
        X = (
            random.integers(-2, 3, (rows, 2))
            if number % 2
            else random.normal(size=(rows, 2)) * 10.0 ** random.integers(-3, 4)
        )
        y = random.integers(0, 2 if number % 3 else 3, rows)
        if number % 5 == 0:
            y = (X @ [1, 2] > 0).astype(int)
        classes = 2 if y.max() < 2 else 3
        if len({*y.tolist()}) == classes:
            case = {"points": points_of(X, y), "classes": SIGNS if classes == 2 else ["a", "b", "c"]}
            cases.append({**case, "features": ["x1", "x2"], "bias": number % 4 > 0})
    answers = node([{"ask": "certify", **case} for case in cases])
    found = [check_certificate(answer, len(case["classes"])) for case, answer in zip(cases, answers, strict=True)]
    assert 20 < sum(found) < len(found) - 20


def test_a_certificate_is_exact_where_doubles_are_not(node: Any) -> None:
    a = 0.1 + 0.2  # the double above 0.3
    touching = points_of([[0.3, 1], [0.3, -1], [a, 0]], [0, 0, 1])
    apart = [{"points": touching, "classes": SIGNS, "features": ["x1", "x2"], "bias": True}]
    same = points_of([[0.3, 1], [0.3, -1], [0.3, 0]], [0, 0, 1])
    apart.append({"points": same, "classes": SIGNS, "features": ["x1", "x2"], "bias": True})
    answers = node([{"ask": "certify", **case} for case in apart])
    assert [answer["separable"] for answer in answers] == [True, False]


def test_one_class_or_no_point_has_no_certificate(node: Any) -> None:
    case = {"classes": SIGNS, "features": ["x1", "x2"], "bias": True}
    assert node([{"ask": "certify", **case, "points": one} for one in ([], points_of([[1, 2]], [1]))]) == [None, None]


# ---- files


def test_checksums(node: Any) -> None:
    sizes = [*range(260), 511, 512, 1023, 1024, 1025, 1088, 2048, 5000]
    [answer] = node([{"ask": "xxh3", "sizes": sizes}])
    assert answer == [xxhash.xxh3_64_hexdigest(bytes((i * 37 + 11) % 256 for i in range(size))) for size in sizes]


def test_the_specification_is_that_of_the_package(node: Any) -> None:
    [spec] = node([{"ask": "spec"}])
    advice = "copy the difference to src/markone/play/page/learn/spec.js"
    assert spec["version"] == markone.__version__, advice
    numbers = Features.of({"unit": False, "numeric": {"scale": "none"}})
    assert spec["numbers"] == numbers.as_dict(full=True), advice
    texts = {"unit": False, "numeric": {"scale": "none"}, "text": {"words": [1, 1], "weight": "none", "min_count": 1}}
    assert spec["texts"] == Features.of(texts).as_dict(full=True), advice


@pytest.mark.parametrize("rule", ["perceptron", "mira", "logistic", "hinge", "mlp"])
def test_a_model_file_of_the_page(node: Any, tmp_path: Path, rule: str) -> None:
    [presets] = node([{"ask": "presets"}])
    for number, preset in enumerate(presets["points"]):
        case = {"points": preset["points"], "classes": preset["classes"], "features": ["x1", "x2", "x12"]}
        settings = {"rule": rule, "passes": 5, "eta": 0.5}
        asked = {**case, "bias": number % 2 == 0, "settings": settings, "averaged": rule != "mlp" and number % 2 == 0}
        [answer] = node([{"ask": "model", **asked}])
        path, data = tmp_path / "page.model", tmp_path / "points.csv"
        path.write_bytes(bytes(answer["bytes"]))
        data.write_text(answer["csv"], encoding="utf-8")
        model = markone.load(path)
        scores = np.asarray(answer["scores"])
        assert np.asarray(model.scores(data)) == pytest.approx(scores, rel=1e-5, abs=1e-5)
        assert [str(one) for one in model.classes] == [
            one.replace("−", "-").replace("+", "") for one in preset["classes"]
        ]
        assert model.settings.rule == rule and len(model.history) <= 5
        assert model.predict(data).tolist() == [model.classes[k] for k in scores.argmax(axis=1)]


def test_a_model_file_of_texts(node: Any, tmp_path: Path) -> None:
    [presets] = node([{"ask": "presets"}])
    for texts in presets["texts"]:
        asked = {"lines": texts["lines"], "classes": texts["classes"], "settings": {"rule": "perceptron"}}
        [answer] = node([{"ask": "model", **asked}])
        (tmp_path / "texts.model").write_bytes(bytes(answer["bytes"]))
        model = markone.load(tmp_path / "texts.model")
        lines = [line["text"] for line in texts["lines"]]
        assert np.asarray(model.scores(lines)) == pytest.approx(np.asarray(answer["scores"]))
        assert model.predict(lines).tolist() == [texts["classes"][line["y"]] for line in texts["lines"]]


def test_words_are_those_of_the_package(node: Any) -> None:
    texts = ["Don't WIN 3,5 é-mail now!", "Straße ÄÖ  (x_y) 中文", "a.b.c", "AI很好、カナ ที่นี่ 👍🏽 👩‍🔬 ❤️ 🇩🇪"]
    answers = node([{"ask": "words", "text": text} for text in texts])
    spec = {"text": {"words": [1, 1], "weight": "none", "min_count": 1}}
    for text, words in zip(texts, answers, strict=True):
        run = markone.trace([text, "other"], ["a", "b"], features=spec, steps=1)
        assert set(words) == set(run[0].features) - {"BIAS"}


@pytest.mark.parametrize("rule", ["perceptron", "mira", "logistic", "hinge", "mlp"])
@pytest.mark.parametrize("preset", ["three-points", "and", "xor", "three-classes", "mail"])
def test_the_code_of_the_page_does_the_same(
    node: Any, rule: str, preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    if (preset, rule) == ("mail", "mlp"):
        return  # the page has no networks for texts
    [presets] = node([{"ask": "presets"}])
    found = {one["id"]: one for one in presets["points"] + presets["texts"]}[preset]
    settings = {"rule": rule, "passes": 6, "eta": 0.5, "order": "each", "seed": 2}
    asked = {"classes": found["classes"], "settings": settings, "features": ["x1", "x2", "x11"], "bias": True}
    asked |= {"lines": found["lines"]} if "lines" in found else {"points": found["points"]}
    [answer] = node([{"ask": "code", **asked}])
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(answer["code"], "playground.py", "exec"), names)
    assert Path("playground.model").is_file() and capsys.readouterr().out
    if rule == "mlp":
        return
    run, classes = names["run"], found["classes"]
    assert run.mistakes == answer["mistakes"] and run.made == answer["steps"]
    numbers = np.array(answer["numbers"]).reshape(len(classes), -1)
    weights = run.weights()
    for k, label in enumerate(classes):
        named = weights.get(label.replace("−", "-").replace("+", ""), {})
        for name, value in zip(answer["names"], numbers[k], strict=True):
            assert named.get(name, 0.0) == pytest.approx(value, rel=1e-4, abs=1e-5)


# ---- pasted data


def test_pasted_points(node: Any) -> None:
    texts = [
        "1,2,a\n-.5;3;b".replace(";", ","),
        "x\ty\tlabel\n1\t2\t1\n3\t4\t-1\n",
        "1 2 b\n 3  4 a",
        'p;q;r;s\n1;2;9;"a;b"\n3;4;8;c',
    ]
    answers = node([{"ask": "paste", "text": text} for text in texts])
    assert [one["points"] for one in answers[:2]] == [
        [{"x1": 1, "x2": 2, "y": 0}, {"x1": -0.5, "x2": 3, "y": 1}],
        [{"x1": 1, "x2": 2, "y": 1}, {"x1": 3, "x2": 4, "y": 0}],
    ]
    assert answers[1]["columns"] == ["x", "y"] and answers[1]["classes"] == ["-1", "1"]
    assert answers[2]["classes"] == ["a", "b"] and answers[2]["points"][0]["y"] == 1
    assert answers[3]["classes"] == ["a;b", "c"] and answers[3]["columns"] == ["p", "q"]


@pytest.mark.parametrize(
    ("text", "kind", "facts"),
    [
        ("", "empty", {}),
        ("1,2,a\n1,2\n", "fields", {"number": 2, "count": 2, "wanted": 3}),
        ("1,2,a\n\n1,two,b\n", "number", {"number": 3, "field": "two"}),
        ("1,2,a\n1,NaN,b\n", "number", {"number": 2, "field": "NaN"}),
        ("1,2,a\n1,Infinity,b\n", "number", {"number": 2, "field": "Infinity"}),
        ("1,2,a\n1,1e999,b\n", "large", {"number": 2, "field": "1e999"}),
        ("1,2,a\n1,2,\n", "label", {"number": 2}),
        ("1,2,a\n3,4,a\n", "one-class", {"label": "a"}),
        ("\n".join(f"1,2,{i}" for i in range(9)), "many-classes", {"count": 9, "most": 8}),
        ("\n".join(f"1,2,{i % 2}" for i in range(2001)), "many-rows", {"count": 2001, "most": 2000}),
    ],
)
def test_wrong_pastes_name_the_line(node: Any, text: str, kind: str, facts: dict[str, Any]) -> None:
    assert node([{"ask": "paste", "text": text}]) == [{"error": kind, "facts": facts}]


def test_pasted_texts(node: Any) -> None:
    answers = node(
        [{"ask": "paste", "texts": True, "text": text} for text in ("spam,free, now\nham\tsee you", "one\n")]
    )
    assert answers[0] == {
        "classes": ["ham", "spam"],
        "lines": [{"text": "free, now", "y": 1}, {"text": "see you", "y": 0}],
    }
    assert answers[1] == {"error": "text", "facts": {"number": 1}}


# ---- addresses


OWN = [{"x1": 0.1, "x2": -2.5, "y": 0}, {"x1": 1e-7, "x2": 3, "y": 2}, {"x1": 4, "x2": 5, "y": 1}]
ACTIONS: list[list[dict[str, Any]]] = [
    [],
    [{"type": "preset", "id": "moons"}, {"type": "learner", "change": {"rule": "mira", "C": 0.25, "seed": 9}}],
    [
        {"type": "points", "points": OWN, "classes": ["<b>", 'a"&', "é"]},
        {"type": "features", "features": ["x1", "x12"]},
    ],
    [{"type": "tab", "value": "text"}, {"type": "texts", "id": "mail"}, {"type": "guided", "value": False}],
    [{"type": "tab", "value": "text"}, {"type": "lines", "classes": ["a", "b"], "lines": [{"text": "x & y", "y": 1}]}],
    [{"type": "noise", "value": 0.2}, {"type": "holdout", "value": 0.3}, {"type": "average", "value": True}],
    [{"type": "second", "second": {"rule": "mlp", "show": "last"}}, {"type": "go", "step": 3, "last": 6}],
]


@pytest.mark.parametrize("actions", ACTIONS)
def test_an_address_restores_the_page(node: Any, actions: list[dict[str, Any]]) -> None:
    [answer] = node([{"ask": "address", "actions": actions}])
    assert answer["wrong"] == []
    assert answer["after"] == answer["before"]


def test_too_many_points_for_an_address(node: Any) -> None:
    many = [{"x1": i / 7, "x2": i / 3, "y": i % 2} for i in range(2000)]
    [answer] = node([{"ask": "address", "actions": [{"type": "points", "points": many, "classes": SIGNS}]}])
    assert answer["text"] is None


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("rule=evil&eta=NaN&tie=3", ["rule", "tie", "eta"]),
        ("points=1,2,9", ["points"]),
        ("points=1,2,0&classes=<script>", ["points"]),
        ("lines=[[1],2]&tab=x", ["tab", "lines"]),
        ("features=x1,evil&step=-1&noise=9&seed=1.5", ["features", "seed", "noise", "step"]),
        ("data=nothing&second=a,b&passes=1e9", ["data", "passes", "second"]),
    ],
)
def test_wrong_addresses_are_noticed(node: Any, text: str, wrong: list[str]) -> None:
    [answer] = node([{"ask": "read", "text": text}])
    assert sorted(answer["wrong"]) == sorted(wrong)
    assert answer["steps"] > 0


# ---- odd settings


def test_odd_settings_end(node: Any) -> None:
    learner = [
        {"type": "learner", "change": {"rule": rule, "eta": eta}}
        for rule in ("perceptron", "logistic", "hinge", "mlp")
        for eta in (0, 1000)
    ]
    huge = {
        "type": "points",
        "points": [{"x1": 1e100, "x2": -1e100, "y": 0}, {"x1": 1e99, "x2": 1e100, "y": 1}],
        "classes": SIGNS,
    }
    squares = {"type": "features", "features": ["x1", "x2", "x11", "x22", "x12"]}
    same = {"type": "points", "points": [{"x1": 1, "x2": 1, "y": 0}, {"x1": 1, "x2": 1, "y": 1}], "classes": SIGNS}
    none = {"type": "points", "points": [], "classes": SIGNS}
    bare = [{"type": "features", "features": [], "bias": False}]
    cases: list[list[dict[str, Any]]] = [[one] for one in learner]
    cases += [[huge, squares], [huge, squares, learner[-1]], [same], [none], bare]
    answers = node([{"ask": "ends", "actions": actions} for actions in cases])
    assert all(answer["stopped"] in ("converged", "passes", "steps", "diverged", "no rows") for answer in answers)
    by_case = dict(zip(range(len(cases)), answers, strict=True))
    assert by_case[8 + 1]["stopped"] == "diverged"
    assert by_case[8 + 2]["separable"] is False
    assert by_case[8 + 3]["stopped"] == "no rows" and by_case[8 + 3]["steps"] == 0


def test_noise_and_held_out_points(node: Any) -> None:
    [presets] = node([{"ask": "presets"}])
    moons = presets["points"][4]
    case = {"points": moons["points"], "classes": moons["classes"], "seed": 1}
    clean, noisy, held = node(
        [
            {"ask": "prepared", **case, "noise": noise, "holdout": holdout}
            for noise, holdout in ((0, 0), (0.25, 0), (0, 0.3))
        ]
    )
    assert clean == moons["points"]
    flipped = sum(a["y"] != b["y"] for a, b in zip(clean, noisy, strict=True))
    assert 10 <= flipped <= 30
    for k in (0, 1):
        assert sum(p.get("held", False) for p in held if p["y"] == k) == 12


def test_the_stories_are_true(node: Any) -> None:
    def ends(preset: str, *actions: dict[str, Any]) -> dict[str, Any]:
        [answer] = node([{"ask": "ends", "actions": [{"type": "preset", "id": preset}, *actions]}])
        return answer

    def learner(**change: Any) -> dict[str, Any]:
        return {"type": "learner", "change": change}

    three = ends("three-points")
    assert (three["mistakes"], three["stopped"], int(three["bound"])) == (2, "converged", 26)
    for preset in ("and", "or", "barely"):
        found = ends(preset)
        assert found["separable"] and found["stopped"] == "converged" and found["mistakes"] <= found["bound"]
    assert ends("barely")["bound"] > 500
    assert ends("and", {"type": "features", "bias": False})["separable"] is False
    xor = ends("xor")
    assert xor["separable"] is False and xor["stopped"] == "passes"
    assert ends("xor", {"type": "features", "features": ["x1", "x2", "x12"]})["stopped"] == "converged"
    network = {"rule": "mlp", "eta": 0.2, "hidden": 4, "passes": 400}
    assert all(ends("xor", learner(**network, seed=seed))["accuracy"] == 1 for seed in range(5))
    held = {"type": "holdout", "value": 0.3}
    moons = ends("moons", held)
    assert moons["separable"] is False and moons["heldAverage"] >= moons["held"]
    assert ends("moons", held, learner(**{**network, "hidden": 8, "passes": 75}))["held"] == 1
    outlier = ends("outlier")
    assert outlier["separable"] is False
    assert ends("outlier", {"type": "remove", "i": 10})["stopped"] == "converged"
    assert ends("three-classes")["stopped"] == "converged"
    for texts in ("headlines", "mail"):
        found = ends("and", {"type": "tab", "value": "text"}, {"type": "texts", "id": texts})
        assert found["stopped"] == "converged" and found["accuracy"] == 1
