"""Exports: every target gives what the model gives, for all kinds of features, and with names that try to break out."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import markone
from markone import _core
from markone.errors import DataError, SettingsError
from markone.exporting import to_c, to_js, to_json, to_onnx, to_sql
from markone.exporting.checking import Sample, first_difference
from markone.exporting.document import as_table, document_of
from markone.exporting.interpreter import Answer, Interpreter
from markone.exporting.options import Options
from markone.exporting.parts import ExportError
from markone.exporting.samples import ODD_TEXTS
from markone.exporting.targets import TARGETS
from markone.exporting.texts import in_lines
from markone.exporting.tokens import Characters, Tokenizer, hash_of_ngram
from markone.model.calibrator import Calibrator
from parts import ODD_WORDS
from quickly import slow_but

NODE = shutil.which("node")
CC = shutil.which("cc")
WORDS = [*("free money win now see you noon are at home not good bad never don't !".split()), "日本", "Straße", "👍🏽"]  # noqa: SIM905
LABELS = ["ham", "spam", 'e"g\\g</script>']
NAMES = ("json", "js", "sql", "c", "onnx")
RUNS: dict[str, Any] = {"json": to_json, "js": to_js, "sql": to_sql, "c": to_c, "onnx": to_onnx}


# ---- models


def texts(classes: int = 2, **how: Any) -> markone.Model:
    say = random.Random(classes)
    rows = [
        " ".join([*say.choices(WORDS[i % classes * 4 :], k=say.randint(1, 8)), say.choice(ODD_TEXTS)])
        for i in range(90)
    ]
    return markone.train(rows, target=[LABELS[i % classes] for i in range(90)], **how)


def table(classes: int = 2, columns: str = "age pay make ok", rows: int = 400, **how: Any) -> markone.Model:
    say = random.Random(classes)
    made: dict[str, list[Any]] = {name: [] for name in ("age", "pay", "make", "ok", "born", "seen")}
    for i in range(rows):
        k = i % classes
        made["age"].append(None if say.random() < 0.1 else say.gauss(30 + 5 * k, 8))
        made["pay"].append(say.expovariate(0.001) * (1 + k))
        made["make"].append(None if say.random() < 0.1 else say.choice(["asia", "europe", 'it\'s "us"', "π"][: 3 + k]))
        made["ok"].append(None if say.random() < 0.05 else say.random() < 0.4 + 0.2 * k)
        made["born"].append(f"{say.randint(1900, 2024)}-{say.randint(1, 12):02}-{say.randint(1, 28):02}")
        made["seen"].append(f"2024-{say.randint(1, 12):02}-{say.randint(1, 28):02} {say.randint(0, 23):02}:30:00")
    chosen = {name: made[name] for name in columns.split()}
    return markone.train({**chosen, "y": [LABELS[i % classes] for i in range(rows)]}, target="y", **how)


def numbers(**how: Any) -> markone.Model:
    say = np.random.default_rng(0)
    x = say.normal(size=(200, 2))
    return markone.train({"a": x[:, 0], "b": x[:, 1], "y": x @ [1.0, -2.0] + 3}, target="y", rule="regression", **how)


def sets() -> markone.Model:
    given = {"c": [["red", "o'k"], ["red"], None, ["green", "o'k"]] * 10, "y": ["a", "b", "a", "b"] * 10}
    return markone.train(markone.read(given, target="y", kinds={"c": "set"}))


def matrix(width: int = 70, classes: int = 2, *, sparse: bool = False) -> markone.Model:
    say = np.random.default_rng(1)
    x: Any = say.normal(size=(150, width)) * (say.random((150, width)) < 0.3 if sparse else 1)
    y = (np.argsort(np.argsort(x[:, 0])) * classes // 150).tolist()
    return markone.train(scipy.sparse.csr_matrix(x) if sparse else x, target=y, rule="mira")


TEXTS = {
    "defaults": {},
    "idf, ln, NOT_": {"features": {"text": {"weight": "idf", "value": "log", "negation": True}}},
    "characters": {"features": {"text": {"words": [], "characters": [2, 4], "weight": "none", "value": "count"}}},
    "subwords, templates, case": {
        "features": {"text": {"subwords": [2, 4], "templates": ["lower", "not"], "case": "keep"}}
    },
    "few places of hashes": {"features": {"text": {"hash_bits": 6, "words": [1, 2]}}},
    "hashes": {"features": {"text": {"hash_bits": 18, "characters": [1, 3]}}},
    "lexicons": {
        "features": {
            "text": {
                "words": [],
                "lexicons": {"good": ["good", "win now"], "bad": ["bad", "don't"]},
                "document": ["no", "pronouns", "exclamation", "log-words"],
            }
        }
    },
    "plain words": {"features": {"unit": False, "text": {"unspaced": "words", "emoji": "parts", "signs": False}}},
    "naive Bayes": {"rule": "naive-bayes"},
    "naive Bayes of presence": {"rule": "naive-bayes", "likelihood": "bernoulli"},
}
IN_SQL = ("defaults", "plain words", "naive Bayes", "naive Bayes of presence")
TABLES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "perceptron": {"rule": "perceptron"},
    "svm": {"rule": "svm"},
    "products": {"rule": "mira", "features": {"degree": 3}},
    "conjunctions": {"rule": "mira", "features": {"conjunctions": ["make*age", "make*ok", "age*pay"]}},
    "unit": {"rule": "mira", "features": {"unit": True}},
    "zeros for gaps": {"rule": "logistic", "features": {"numeric": {"scale": "max-abs", "missing": "zero"}}},
    "tie": {"rule": "perceptron", "tie": "positive"},
    "numbers": {"columns": "age pay", "rule": "mira", "features": {"conjunctions": ["age*pay"], "unit": True}},
    "curves": {"columns": "age pay make", "rows": 900, "features": {"numeric": {"curves": True}, "pairs": True}},
    "naive Bayes": {"columns": "make ok", "rule": "naive-bayes"},
}


def check(model: markone.Model, to: str, **options: Any) -> str:
    """Check that an export was run, and gives what the model gives; return it."""
    document, how = document_of(model), Options(**options)
    content = TARGETS[to].write(document, how)
    sample = Sample(model, document)
    ran = RUNS[to].run(content, document, sample.rows, how)
    if ran is None:
        pytest.skip(f"nothing can run {to} here")
    [expected] = sample.expected
    assert len(ran.answers) == len(sample.rows) == 200
    assert first_difference(expected, ran.answers, TARGETS[to].exact) is None
    return content.decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("how", "classes"),
    slow_but(
        [("defaults", 2), ("subwords, templates, case", 3), ("hashes", 3), ("naive Bayes", 2)],
        [*((how, 2 + i % 2) for i, how in enumerate(TEXTS)), ("defaults", 3)],
    ),
)
def test_models_of_texts(how: str, classes: int) -> None:
    model = texts(classes, **TEXTS[how])
    for to in ("json", "js", "c"):
        check(model, to)
    if how in IN_SQL:
        check(model, "sql")


@pytest.mark.parametrize(
    ("how", "classes"),
    slow_but(
        [("defaults", 2), ("products", 3), ("conjunctions", 2), ("tie", 3), ("naive Bayes", 2)],
        [*((how, 2 + i % 2) for i, how in enumerate(TABLES)), ("defaults", 3)],
    ),
)
def test_models_of_tables(how: str, classes: int) -> None:
    model = table(classes, **TABLES[how])
    for to in NAMES:
        check(model, to)
    check(model, "sql", dialect="sqlite")


def test_curves_and_pairs_are_exported() -> None:
    """A pattern that no line follows, so that intervals and cells are features."""
    say = np.random.default_rng(2)
    a, b, make = say.uniform(-3, 3, 2500), say.uniform(-3, 3, 2500), say.choice([*"uvwxyzklmno"], 2500)
    y = np.where(np.sin(2 * a) + a * b / 3 + (make == "u") * b > 0.3, "p", "q").tolist()
    gaps = [None if i % 50 == 0 else one for i, one in enumerate(a.tolist())]
    model = markone.train({"a": gaps, "b": b.tolist(), "make": make.tolist(), "y": y}, target="y")
    axes = [len(part.get("axes", [])) for part in document_of(model)["parts"]]
    assert 2 in axes and axes.count(1) > 1
    for to in NAMES:
        check(model, to)
    check(model, "sql", dialect="sqlite")


@pytest.mark.parametrize("make", [numbers, sets, matrix, lambda: matrix(5, 3), lambda: matrix(30, 3, sparse=True)])
def test_other_models(make: Any) -> None:
    model = make()
    for to in NAMES:
        if make is sets and to in ("c", "onnx"):
            with pytest.raises(ExportError, match="'c has "):
                TARGETS[to].write(document_of(model), Options())
            continue
        check(model, to)
    check(model, "sql", dialect="sqlite")


def test_dates() -> None:
    model = table(2, "age born seen", rule="mira")
    for to in ("json", "js", "sql", "c"):
        check(model, to)
    check(model, "sql", dialect="sqlite")
    with pytest.raises(ExportError, match=r"'born\.year' is of a date; the graph"):
        to_onnx.write(document_of(model), Options())


def test_a_threshold_decides() -> None:
    model = table(2, rule="mira", threshold="recall=0.9", holdout=0.3)
    plain = table(2, rule="mira", holdout=0.3)
    assert document_of(model)["decision"]["threshold"] is not None
    for to in NAMES:
        check(model, to)
    rows = Sample(plain, document_of(plain)).rows
    counts = [sum(bool(Interpreter(document_of(one)).answer(row).label) for row in rows) for one in (plain, model)]
    assert counts[0] < counts[1]


@pytest.mark.parametrize(("classes", "error"), [(2, 0.25), (3, 0.45)])
def test_a_model_that_abstains(classes: int, error: float) -> None:
    model = table(classes, rule="logistic", abstain=error, holdout=0.3, rows=900)
    [expected] = Sample(model, document_of(model)).expected
    assert None in expected.labels and {*expected.labels} > {None}
    for to in NAMES:
        check(model, to)
    check(model, "sql", dialect="sqlite")


def test_probabilities_have_knots() -> None:
    model = table(2, rule="mira", rows=3000)
    assert document_of(model)["probabilities"]["knots"]
    for to in NAMES:
        check(model, to)
    check(model, "sql", dialect="sqlite")


def test_classes_have_slopes_of_their_own() -> None:
    x = np.random.default_rng(0).normal(size=(300, 2))
    rows = {"a": x[:, 0], "b": x[:, 1]}
    model = markone.train({**rows, "y": [LABELS[i] for i in (x @ [[1, 0, -1], [0, 1, 0]]).argmax(axis=1)]}, target="y")
    scores = model.scores(rows)
    model.calibrator = Calibrator((2.0, 0.5, 1.0), (), 900, (0.0, 1.5, -1.0))
    own = scores * np.array(model.calibrator.slopes) + np.array(model.calibrator.offsets)
    assert (own.argmax(axis=1) != scores.argmax(axis=1)).any()  # so that the best score makes a difference
    for to in NAMES:
        check(model, to)
    check(model, "sql", dialect="sqlite")


def test_without_probabilities_there_are_none() -> None:
    model = markone.train({"x": [1.0, 2, 3, 4], "y": ["a", "b", "a", "b"]}, target="y", rule="perceptron")
    assert document_of(model)["probabilities"] is None
    for to in NAMES:
        assert "robabilit" not in check(model, to) or to in ("js", "json")


@pytest.mark.parametrize("tie", ["negative", "positive"])
def test_ties(tie: Any) -> None:
    model = markone.Model.from_weights({"a": 1, "b": -1}, classes=["n", "p"], kinds="numeric", tie=tie)
    rows = [{"a": 1.0, "b": 1.0}, {"a": 2.0, "b": 1.0}, {"a": 0.1, "b": 0.1}]
    document = document_of(model)
    for to in NAMES:
        ran = RUNS[to].run(TARGETS[to].write(document, Options()), document, rows, Options())
        if ran is not None:
            assert [one.label for one in ran.answers] == ([1, 1, 1] if tie == "positive" else [0, 1, 0])


# ---- tokens and hashes


@given(
    st.lists(st.one_of(st.sampled_from(ODD_WORDS), st.text(max_size=6)), max_size=8).map(" ".join),
    st.tuples(*[st.booleans()] * 5),
    st.sampled_from(["all", "lower", "negated"]),
    st.sampled_from([None, (1, 3)]),
    st.booleans(),
)
def test_tokens_are_those_of_the_core(text: str, flags: Any, choice: Any, runs: Any, within: bool) -> None:
    fold, signs, unspaced, emoji, negation = flags
    within = within and runs is not None
    if within or choice != "all":
        negation, choice = False, "all" if within else choice
    plain = {"fold": fold, "signs": signs, "unspaced": unspaced, "emoji": emoji, "negation": negation}
    how = _core.NgramSettings(
        **plain,
        choice=_core.TokenChoice[choice],
        shortest=1 if runs is None else runs[0],
        longest=1 if runs is None else runs[1],
        characters=runs is not None,
        within_words=within,
    )
    characters = Characters({name: found.tolist() for name, found in _core.unicode_tables().items()})
    own = Tokenizer({**plain, "choice": choice, "runs": runs, "within_words": within}, characters)
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert own(whole) == _core.tokens(how, whole)


@given(
    st.lists(
        st.text(min_size=1, max_size=20, alphabet=st.characters(exclude_categories=["Cs", "Z"])), min_size=1, max_size=3
    )
)
def test_hashes_are_those_of_the_core(words: list[str]) -> None:
    how = _core.NgramSettings(
        fold=False, signs=True, negation=False, choice=_core.TokenChoice.all, shortest=1, longest=3, characters=False
    )
    tokens = _core.tokens(how, " ".join(words))[:3]
    if tokens:
        from markone.data.strings import Strings

        vocabulary = _core.HashedVocabulary(how, 16)
        names = Strings.of([" ".join(tokens)])
        [place] = vocabulary.add(*names.for_core, np.zeros(1, np.uint8)).tolist()
        assert place == hash_of_ngram(tokens) >> 48


def test_every_character_has_the_kind_that_javascript_gives_it(tmp_path: Path) -> None:
    """Texts with each character of Unicode, beside letters, in one model of their tokens."""
    if NODE is None:
        pytest.skip("needs Node")
    model = markone.train(["a b", "c d"] * 30, target=["x", "y"] * 30, features={"text": {"words": [1, 1]}})
    document = document_of(model)
    program = to_js.write(document, Options()).decode()
    program += f"""
import {{ readFileSync }} from "node:fs";
const texts = JSON.parse(readFileSync({json.dumps(str(tmp_path / "texts.json"))}, "utf8"));
const tokenizer = new Tokenizer(MODEL.parts[0].tokens);
console.log(JSON.stringify(texts.map((text) => tokenizer.tokens(text))));
"""
    points = [
        *range(0x3100),
        *range(0xA000, 0xD800),
        *range(0xE000, 0x11100),
        *range(0x1F000, 0x20010),
        0xE0067,
        0x10FFFF,
    ]
    rows = ["".join(f"a{chr(point)}b" for point in points[i : i + 500]) for i in range(0, len(points), 500)]
    (tmp_path / "texts.json").write_text(json.dumps(rows))
    (tmp_path / "check.mjs").write_text(program, encoding="utf-8")
    done = subprocess.run([NODE, tmp_path / "check.mjs"], capture_output=True, text=True, encoding="utf-8", check=True)
    how = _core.NgramSettings(
        fold=True,
        signs=True,
        negation=False,
        shortest=1,
        longest=1,
        characters=False,
        unspaced=True,
        emoji=True,
        choice=_core.TokenChoice.all,
    )
    assert json.loads(done.stdout) == [_core.tokens(how, row) for row in rows]


# ---- names that try to break out

HOSTILE = st.one_of(
    st.sampled_from(
        [
            *(
                "'",
                '"',
                "''; DROP TABLE data; --",
                "</script><script>alert(1)//",
                "*/ int x; /*",
                "??/",
                "\\",
                "`${x}`",
            ),
            *("a\nb", "a\r\nb", "\u2028", "-- \x85", "👩\u200d👧", "{}", "%s", "$$", "__proto__", "constructor", "int"),
            *("@", "markone_row", "é", "\ufeff", "NULL", "\t", "\x7f", "<!--", "[1]", "row->x"),
        ]
    ),
    st.text(min_size=1, max_size=8, alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=settings.default.max_examples * 4 // 10)
@given(st.lists(HOSTILE, min_size=5, max_size=5, unique_by=str.casefold))
def test_hostile_names_of_columns_categories_and_labels(names: list[str]) -> None:
    number, category, value, one, other = names
    rows = 40
    data = {
        number: [float(i % 7) for i in range(rows)],
        category: [value if i % 2 else "usual" for i in range(rows)],
        "the target": [other if i % 2 else one for i in range(rows)],
    }
    kinds = {number: "numeric", category: "categorical"}
    model = markone.train(markone.read(data, target="the target", kinds=kinds), rule="mira")
    document = document_of(model)
    assert json.loads(to_json.write(document, Options()))["classes"] == [*model.classes]
    for to, options in [*((to, {}) for to in NAMES), ("sql", {"dialect": "sqlite"})]:
        if not is_allowed(names[:2], to):
            with pytest.raises(ExportError, match="rename it"):
                TARGETS[to].write(document, Options(**options))
            continue
        assert "</script" not in check(model, to, **options) or to != "js"


def is_allowed(columns: list[str], to: str) -> bool:
    if to == "sql":
        return "markone_row" not in columns
    return to != "onnx" or not any(name in to_onnx.OUTPUTS for name in columns)


@given(st.lists(HOSTILE, min_size=2, max_size=2, unique=True))
@settings(max_examples=settings.default.max_examples * 3 // 10)
def test_hostile_words_and_labels_of_texts(names: list[str]) -> None:
    rows = [f"{names[i % 2]} {WORDS[i % 5]} <!-- </script> '' 日本" for i in range(60)]
    model = markone.train(rows, target=[names[i % 2] for i in range(60)], features={"text": {"subwords": []}})
    for to in ("json", "js", "sql"):
        check(model, to)


def test_what_cannot_be_written_is_named() -> None:
    made = {"x": ["a\0b", "c"] * 20, "y": ["p\0", "q"] * 20}
    model = markone.train(markone.read(made, target="y", kinds={"x": "categorical"}), rule="mira")
    document = document_of(model)
    for to in ("json", "js", "sql"):
        check(model, to)
    with pytest.raises(ExportError, match=r"'a\\x00b' contains a character 0, which ends a text in C"):
        to_c.write(document, Options())
    with pytest.raises(ExportError, match="which PostgreSQL does not allow"):
        to_sql.write(document, Options(dialect="postgresql"))


# ---- what is refused


def test_models_that_are_no_sums_are_refused() -> None:
    with pytest.raises(SettingsError, match="is 'mlp'; only models whose score is a sum"):
        document_of(markone.train({"x": [1.0, 2, 3, 4], "y": [0, 1, 0, 1]}, target="y", rule="mlp"))
    with pytest.raises(ExportError, match="'age' is a measurement"):
        document_of(table(2, "age", rule="naive-bayes"))
    with pytest.raises(ExportError, match="has a probability of 0 in some class"):
        document_of(markone.train(["a b", "c d"], target=["x", "y"], rule="naive-bayes", k=0))


def test_features_that_are_not_in_a_target_are_named() -> None:
    functions = {"size": lambda text: len(text)}
    own = markone.train(["a b", "c d e"], target=["x", "y"], functions=functions)
    with pytest.raises(ExportError, match="'size\\(\\)' is of a kind that no export has"):
        document_of(own)
    document = document_of(texts())
    for to, options, problem in [
        ("onnx", {}, "is of a text; the graph has only"),
        ("sql", {"dialect": "sqlite"}, "is of words, and SQLite has no regular expressions"),
    ]:
        with pytest.raises(ExportError, match=problem):
            TARGETS[to].write(document, Options(**options))
    for how in set(TEXTS) - {*IN_SQL}:
        with pytest.raises(ExportError, match="SQL"):
            to_sql.write(document_of(texts(**TEXTS[how])), Options())
    wide = markone.train(np.eye(600), target=[i % 2 for i in range(600)], rule="perceptron")
    with pytest.raises(ExportError, match="SQLite joins at most 500"):
        to_sql.write(document_of(wide), Options(dialect="sqlite"))


def test_a_wrong_export_is_not_written_and_the_feature_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    model = texts(features={"text": {"words": [1, 1], "subwords": []}})

    def changed(document: Any, options: Options) -> bytes:
        other = json.loads(json.dumps(document))
        for feature in other["parts"][0]["features"]:
            feature[-1] += 0.01 * (feature[0] == "money")
        return to_json.write(other, options)

    monkeypatch.setitem(TARGETS, "json", _replaced(TARGETS["json"], write=changed))
    with pytest.raises(DataError, match="A score is .* The reason is 'money'; .*'text': '(money|MONEY)'"):
        model.export(tmp_path / "model.json")
    assert not [*tmp_path.iterdir()]


def test_a_wrong_label_is_found(tmp_path: Path, monkeypatch: Any) -> None:
    model = table(2, rule="mira")

    def changed(document: Any, options: Options) -> bytes:
        return to_json.write({**document, "decision": {**document["decision"], "threshold": 0.3}}, options)

    monkeypatch.setitem(TARGETS, "json", _replaced(TARGETS["json"], write=changed))
    with pytest.raises(DataError, match="The class has the number 0 instead of 1"):
        model.export(tmp_path / "model.json")


def _replaced(target: Any, **changes: Any) -> Any:
    from dataclasses import replace

    return replace(target, **changes)


# ---- the call


def test_files_are_not_overwritten(tmp_path: Path) -> None:
    model, path = table(2, rule="mira"), tmp_path / "model.json"
    first = model.export(path)
    assert first.bytes == path.stat().st_size and first.to == "json" and not first.given
    assert model.export(path) == first  # the same content may be written again
    path.write_text("mine")
    with pytest.raises(DataError, match="exists already, with other content"):
        model.export(path)
    assert path.read_text() == "mine"
    model.export(path, overwrite=True)
    assert json.loads(path.read_text())["format"] == "markone-export"


def test_the_ending_says_the_target(tmp_path: Path) -> None:
    model = table(2, rule="mira")
    assert model.export(tmp_path / "m.sql", name="people").to == "sql"
    assert "FROM people AS t" in (tmp_path / "m.sql").read_text()
    assert model.export(tmp_path / "m.h", name="people").to == "c"
    assert "people_predict" in (tmp_path / "m.h").read_text()
    with pytest.raises(SettingsError, match="to must be json, js, sql, c or onnx, because the name"):
        model.export(tmp_path / "m.txt")
    with pytest.raises(SettingsError, match="not 'sq'.*Did you mean 'sql'"):
        model.export(tmp_path / "m.txt", to="sq")
    with pytest.raises(SettingsError, match="dialect is only for sql, not for js"):
        model.export(tmp_path / "m.mjs", dialect="sqlite")
    with pytest.raises(SettingsError, match="name must be a name of letters"):
        model.export(tmp_path / "m.h", name="a b")
    with pytest.raises(SettingsError, match="dialect must be"):
        model.export(tmp_path / "m.sql", dialect="oracle", overwrite=True)


def test_a_sample_of_the_user_is_used(tmp_path: Path) -> None:
    model = table(2, rule="mira")
    rows = [{"age": 20.0, "pay": 1.0, "make": "asia", "ok": True}, {"age": None, "pay": 2.0, "make": None, "ok": None}]
    exported = model.export(tmp_path / "m.json", sample=rows)
    assert exported.rows == 2 and exported.given and "2 sample rows" in str(exported)
    with pytest.raises(DataError, match="the sample has no rows"):
        model.export(tmp_path / "n.json", sample=[])


@pytest.mark.parametrize("sparse", [False, True])
def test_a_sample_of_given_rows(sparse: bool, tmp_path: Path) -> None:
    model = matrix(30, 3, sparse=sparse)
    rows = np.random.default_rng(5).normal(size=(40, 30))
    rows[:, ::3] = 0
    for to in NAMES:
        path = tmp_path / to
        assert model.export(path, to=to, sample=scipy.sparse.csr_matrix(rows) if sparse else rows).rows == 40


def test_what_cannot_be_run_is_said(tmp_path: Path, monkeypatch: Any) -> None:
    exported = table(2, rule="mira").export(tmp_path / "m.sql", dialect="postgresql")
    assert exported.engine is None and "It was NOT run" in str(exported) and exported.rows == 200
    monkeypatch.setattr(to_js.shutil, "which", lambda _: None)
    by_quickjs = texts().export(tmp_path / "m.mjs")
    assert by_quickjs.engine == "QuickJS"
    monkeypatch.setattr(to_js, "find_spec", lambda _: None)
    assert texts().export(tmp_path / "m.mjs").engine is None
    assert table(2, rule="mira").export(tmp_path / "m.h").engine is None


def test_onnx_without_its_runtime(monkeypatch: Any) -> None:
    model = table(2, rule="mira")
    monkeypatch.setattr(to_onnx, "find_spec", lambda name: None if name == "onnxruntime" else True)
    document = document_of(model)
    sample = Sample(model, document)
    ran = to_onnx.run(to_onnx.write(document, Options()), document, sample.rows, Options())
    assert ran.engine == "ONNX's reference"
    assert first_difference(sample.expected[0], ran.answers, False) is None
    monkeypatch.setattr(to_onnx, "find_spec", lambda _: None)
    with pytest.raises(DataError, match="needs the library onnx; run pip install"):
        to_onnx.write(document, Options())


def test_the_document_is_the_same_each_time() -> None:
    model = texts()
    assert to_json.write(document_of(model), Options()) == to_json.write(document_of(model), Options())
    loaded = json.loads(to_json.write(document_of(model), Options()))
    assert loaded == document_of(model)


def test_the_module_explains(tmp_path: Path) -> None:
    if NODE is None:
        pytest.skip("needs Node")
    model = texts(3)
    model.export(tmp_path / "model.mjs")
    use = 'import { explain, predict, scores } from "./model.mjs";\nconst text = "free money, not good";\n'
    use += "console.log(JSON.stringify([predict(text), scores(text), explain(text)]));"
    (tmp_path / "use.mjs").write_text(use)
    done = subprocess.run([NODE, tmp_path / "use.mjs"], capture_output=True, text=True, encoding="utf-8", check=True)
    label, scores, why = json.loads(done.stdout)
    text = "free money, not good"
    assert label == model.predict(text) == why["prediction"] == why["of"]
    assert scores == model.scores(text).tolist() == why["scores"]
    table = model.explain(text).tables[0]
    assert {one["feature"]: one["product"] for one in why["features"]} == pytest.approx(
        {row.feature: row.product for row in table.rows}
    )
    assert sum(one["product"] for one in why["features"]) == pytest.approx(max(scores), abs=1e-6)


def test_the_module_in_a_browser(tmp_path: Path, page: Any) -> None:
    """A page with the whole module in a script element: nothing in it ends the element."""
    model = texts(3)
    model.export(tmp_path / "model.mjs")
    program = (tmp_path / "model.mjs").read_text(encoding="utf-8").replace("export {", "globalThis.model = {")
    (tmp_path / "page.html").write_text(
        f"<!doctype html><meta charset=utf-8><script type=module>{program}</script>", encoding="utf-8"
    )
    page.goto((tmp_path / "page.html").as_uri())
    said = [*ODD_TEXTS, "free money"]
    assert page.evaluate("texts => texts.map(model.predict)", said) == model.predict(said).tolist()


@pytest.mark.parametrize(
    "make", [lambda: table(3, rule="mira"), lambda: texts(3, **TEXTS["subwords, templates, case"])]
)
def test_cplusplus_accepts_the_header(make: Any, tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    make().export(tmp_path / "model.h")
    (tmp_path / "use.cpp").write_text(
        '#include "model.h"\nint main() { model_row row{}; return model_predict(&row) < -1; }\n'
    )
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", tmp_path / "use.cpp", "-o", tmp_path / "use"]
    subprocess.run(command, check=True)
    subprocess.run([tmp_path / "use"], check=True)


ANY_BYTES = r"""
#include "model.h"
int main(void) {
    static const char some[] = "no\303\237\360\237\221\215\342\200\215. T";
    unsigned seed = 1, i, k;
    double scores[model_classes];
    for (i = 0; i < 20000; ++i) {
        const unsigned size = i % 24;
        char *const text = (char *)malloc(size + 1);
        model_row row;
        for (k = 0; k < size; ++k) {
            seed = seed * 1664525u + 1013904223u;
            text[k] = k % 3 ? (char)(seed >> 24) : some[(seed >> 20) % (sizeof some - 1)];
        }
        text[size] = 0;
        row.text = text;
        model_scores(&row, scores);
        free(text);
        if (isnan(scores[model_classes - 1])) return 1;
    }
    return 0;
}
"""


@pytest.mark.parametrize("how", slow_but(["subwords, templates, case", "hashes"], TEXTS))
def test_the_header_reads_texts_of_any_bytes(how: str, tmp_path: Path) -> None:
    """Bytes that are not UTF-8, and texts that end within a character, are read within their bounds."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    (tmp_path / "model.h").write_bytes(to_c.write(document_of(texts(**TEXTS[how])), Options()))
    (tmp_path / "use.c").write_text(ANY_BYTES)
    command = [compiler, "-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "use.c", "-lm"]
    subprocess.run([*command, "-o", "use"], check=True, cwd=tmp_path)
    subprocess.run(["./use"], check=True, cwd=tmp_path)


@pytest.mark.parametrize("how", ["defaults", "hashes"])
def test_too_many_ngrams_for_c(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markone.exporting.c_texts.MOST_NGRAMS", 5)
    with pytest.raises(ExportError, match="n-grams, and C gets at most 5; train with a larger min_count"):
        to_c.write(document_of(texts(**TEXTS[how])), Options())


def test_sqlite_has_the_weights_by_name(tmp_path: Path) -> None:
    model = table(2, rule="mira")
    model.export(tmp_path / "m.sql", dialect="sqlite")
    program = (tmp_path / "m.sql").read_text(encoding="utf-8")
    with sqlite3.connect(":memory:") as connection:
        connection.execute('CREATE TABLE data ("age", "pay", "make", "ok")')
        connection.executescript(program.split("-- The query.")[0])
        found = dict(connection.execute("SELECT name, w0 FROM data_weights"))
    connection.close()
    assert found == {name: float(weights[1]) for name, weights in model.weights().items() if name != "BIAS"}


# ---- PostgreSQL, where it is installed


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: Any) -> Any:
    """Runs statements in a server of its own, which no network reaches."""
    import os
    import pwd
    import tempfile

    # Debian has the programs of each version in a folder of its own.
    folders = [*sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True), *os.get_exec_path()]
    initdb, pg_ctl, psql = (shutil.which(name, path=os.pathsep.join(folders)) for name in ("initdb", "pg_ctl", "psql"))
    if initdb is None or pg_ctl is None or psql is None:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    as_user: list[str] = []
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        if os.getuid() == 0:  # as which the server refuses to run
            try:
                pwd.getpwnam("postgres")
            except KeyError:
                pytest.skip("needs a user for PostgreSQL")
            shutil.chown(folder, "postgres")
            as_user = ["runuser", "-u", "postgres", "--"]

        def command(*words: str) -> None:
            subprocess.run([*as_user, *words], check=True, capture_output=True, cwd=folder)

        command(initdb, "-D", f"{folder}/data", "-E", "UTF8", "--locale=C", "-A", "trust", "-U", "tester")
        options = f"-k {folder} -h '' -c fsync=off"
        started = [*as_user, pg_ctl, "-D", f"{folder}/data", "-o", options, "-l", f"{folder}/log", "-w", "start"]
        subprocess.run(started, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

        def run(statements: str) -> str:
            words = [psql, "-h", folder, "-U", "tester", "-d", "postgres", "-q", "-v", "ON_ERROR_STOP=1"]
            done = subprocess.run(
                words, input=statements, capture_output=True, text=True, encoding="utf-8", check=False
            )
            assert done.returncode == 0, done.stderr[:1000]
            return done.stdout

        try:
            yield run
        finally:
            command(pg_ctl, "-D", f"{folder}/data", "-m", "immediate", "stop")


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        *(lambda how=how, k=k: texts(k, **TEXTS[how]) for how in IN_SQL for k in (2, 3)),
        *(lambda how=how, k=k: table(k, **TABLES[how]) for how in TABLES for k in (2, 3)),
        *(numbers, sets, matrix, lambda: table(2, "age born seen", rule="mira")),
    ],
)
def test_in_postgresql(make: Any, postgresql: Any) -> None:
    model = make()
    document = document_of(model)
    sample = Sample(model, document)
    program = to_sql.write(document, Options(dialect="postgresql")).decode()
    flat = as_table(document)
    types = {"numeric": "float8", "boolean": "bool", "date": "timestamp", "datetime": "timestamp", "set": "text[]"}
    columns = ", ".join(f"{to_sql.identifier(one['name'])} {types.get(one['kind'], 'text')}" for one in flat["columns"])
    rows = ",\n".join(
        f"({i}, {', '.join(in_postgresql(row.get(one['name'])) for one in flat['columns'])})"
        for i, row in enumerate(sample.rows)
    )
    tables, query = program.split("\n-- The query.")
    query = query.split("\n", 1)[1].rstrip().rstrip(";")
    postgresql(
        f"DROP TABLE IF EXISTS data, data_weights, data_values; CREATE TABLE data (test_order int, {columns});"
        f"INSERT INTO data VALUES {rows};\n{tables}"
    )
    found = postgresql(f"COPY ({query}) TO STDOUT WITH (FORMAT csv, NULL '(null)', HEADER)")
    head, *lines = csv.reader(io.StringIO(found))
    lines.sort(key=lambda line: int(line[head.index("test_order")]))
    scores = [i for i, name in enumerate(head) if re.fullmatch(r"score_\d+", name)]
    shares = [i for i, name in enumerate(head) if re.fullmatch(r"probability_\d+", name)]
    shown = [str(label) for label in document["classes"]]
    answers = []
    for line in lines:
        label = line[head.index("prediction")]
        number = None if label == "(null)" or not shown else shown.index(label)
        probabilities = [float(line[i]) for i in shares] if shares else None
        answers.append(Answer(number, [float(line[i]) for i in scores], probabilities))
    assert len(answers) == 200
    assert first_difference(sample.expected[0], answers, False) is None


def in_postgresql(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return f"ARRAY[{', '.join(map(in_postgresql, value))}]::text[]"
    if isinstance(value, str):
        return "'" + value.replace("\0", " ").replace("'", "''") + "'"
    return str(value)


def test_a_model_of_several_labels_is_exported_label_by_label(tmp_path: Path) -> None:
    texts = ["free money", "see you", "free beer", "see a film"] * 30
    model = markone.train(texts, target=[["spam"], ["private"], ["spam", "private"], []] * 30)
    with pytest.raises(DataError, match=r"export each label: model\.of_label"):
        model.export(tmp_path / "mail.json")
    exported = model.of_label("spam").export(tmp_path / "spam.json")
    assert exported.engine is not None and (tmp_path / "spam.json").exists()


def test_a_feature_has_one_line_with_any_number_of_classes() -> None:
    features = [[name, *(0.5 + k / 3 for k in range(20))] for name in ("free", "a\nb")]
    lines = in_lines({"features": features}).splitlines()
    assert len(lines) == 4 + len(features)
    assert [json.loads(line.rstrip(",")) for line in lines[2:-2]] == features
