"""Models and starts from weights that a person gives, with the figures of the lectures."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from markone import Model
from markone.errors import DataError, LimitError, SettingsError
from markone.model import given_weights

SPAM = {"BIAS": -3, "free": 4, "money": 2}
TOPICS = {
    "SPORTS": {"BIAS": -2, "win": 4, "game": 4, "vote": 0, "the": 0},
    "POLITICS": {"BIAS": 1, "win": 2, "game": 0, "vote": 4, "the": 0},
    "TECH": {"BIAS": 2, "win": 0, "game": 2, "vote": 0, "the": 0},
}
REVIEW = {"positive": 2.5, "negative": -5.0, "no": -1.2, "pronouns": 0.5, "!": 2.0, "ln words": 0.7}
ROW = dict(zip(REVIEW, (3, 2, 1, 3, 0, 4.15), strict=True))


def spam(**how: Any) -> Model:
    return Model.from_weights(SPAM, classes=["ham", "spam"], **how)


# ---- the lectures' models


def test_free_money_is_spam() -> None:
    model = spam()
    assert model.scores("free money").tolist() == [0, 3] and model.predict("free money") == "spam"
    assert model.predict(["money", "a free free lunch"]).tolist() == ["ham", "spam"]
    assert model.positive == "spam" and model.history.stopped == "given"
    [table] = model.explain("free money").tables
    assert {row.feature: (row.value, row.weight, row.product) for row in table.rows} == {
        "free": (1, 4, 4),
        "money": (1, 2, 2),
        "BIAS": (1, -3, -3),
    }
    assert table.score == 3


def test_win_the_vote_is_politics() -> None:
    model = Model.from_weights(TOPICS)
    assert model.classes == ["SPORTS", "POLITICS", "TECH"] and model.positive is None
    assert model.scores("win the vote").tolist() == [2, 7, 2]
    assert model.predict("win the vote") == "POLITICS"


def test_and_is_a_line() -> None:
    model = Model.from_weights({"BIAS": -1.5, "x1": 1, "x2": 1}, classes=[0, 1], kinds="numeric")
    rows = {"x1": [0, 0, 1, 1], "x2": [0, 1, 0, 1]}
    assert model.predict(rows).tolist() == [0, 0, 0, 1]
    assert model.evaluate({**rows, "label": [0, 0, 0, 1]}).accuracy == 1


def test_the_review_is_positive_with_0_69() -> None:
    model = Model.from_weights({"BIAS": 0.1, **REVIEW}, classes=["-", "+"], kinds="numeric", rule="logistic")
    assert model.scores(ROW)[1] == pytest.approx(0.805, abs=1e-6)
    assert model.probabilities(ROW).round(2).tolist() == [0.31, 0.69]
    products = {row.feature: row.product for row in model.explain(ROW).tables[0].rows}
    assert products["positive"] == 7.5 and products["negative"] == -10 and products["ln words"] == pytest.approx(2.905)
    losses = [model.losses({name: [value] for name, value in ROW.items()}, target=[y]).cross_entropy for y in "+-"]
    assert [round(loss, 2) for loss in losses] == [0.37, 1.17]


def test_the_review_as_a_text_has_the_same_score() -> None:
    """A text with the deck's six features: 3 positive words, 2 negative ones, "no", 3 pronouns, no "!", 64 words."""
    words = ["great", "great", "nice", "awful", "hokey", "no", "I", "you", "my"]
    text = " ".join(words + ["film"] * (64 - len(words)))
    spec = {
        "text": {
            "words": [],
            "lexicons": {"positive": ["great", "nice"], "negative": ["awful", "hokey"]},
            "document": ["no", "pronouns", "exclamation", "log-words"],
        }
    }
    model = Model.from_weights({"BIAS": 0.1, **REVIEW}, classes=["-", "+"], features=spec, rule="logistic")
    found = model.features.named(text)
    assert [found.get(name, 0) for name in REVIEW] == pytest.approx([3, 2, 1, 3, 0, math.log(64)])
    assert model.scores(text)[1] == pytest.approx(0.1 + 7.5 - 10 - 1.2 + 1.5 + 0.7 * math.log(64), abs=1e-5)
    assert round(model.probabilities(text)[1], 2) == 0.69


# ---- what the names mean


def test_names_are_words_columns_categories_or_given_features() -> None:
    model = Model.from_weights({"make=asia": 2, "make=europ": -1, "age": 0.5, "member": 1}, classes=["bad", "good"],
                               kinds={"make": "categorical", "age": "numeric", "member": "boolean"})  # fmt: skip
    assert model.scores({"make": "asia", "age": 3, "member": True})[1] == 4.5
    assert model.scores({"make": "other", "age": 0, "member": False})[1] == 0
    rows = Model.from_weights({"f1": 2, "f2": -1}, classes=[0, 1], kinds="rows")
    assert rows.scores({"f1": 3, "f2": 1, "unknown": 9})[1] == 5
    two = Model.from_weights({"title:free": 2, "body:free": 1}, classes=[0, 1], kinds={"title": "text", "body": "text"})
    assert two.scores({"title": "Free!", "body": "free free"})[1] == 4
    pairs = Model.from_weights({"not good": -2, "good": 1}, classes=["-", "+"], features={"text": {"words": [1, 2]}})
    assert pairs.scores(["good", "not good"])[:, 1].tolist() == [1, -1]
    assert pairs.features.names() == ["good", "not good"]  # and no feature for "not" alone


def test_words_are_compared_like_those_of_texts() -> None:
    model = Model.from_weights({"Free": 4, "BIAS": -1}, classes=["ham", "spam"])
    assert model.scores("FREE free")[1] == 7
    kept = Model.from_weights({"Free": 4}, classes=["ham", "spam"], features={"text": {"case": "keep"}})
    assert kept.scores(["Free", "free"])[:, 1].tolist() == [4, 0]


def test_many_words_are_all_kept() -> None:
    weights = {f"w{i}": float(i) for i in range(3000)}
    model = Model.from_weights(weights, classes=[0, 1])
    assert model.features.width == 3000 and model.scores("w2999 w1")[1] == 3000


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1000, 1000), min_size=1), st.integers(-9, 9),
       st.lists(st.sampled_from("abcdefghxy"), max_size=20))  # fmt: skip
def test_a_score_is_the_sum_of_the_weights(weights: dict[str, int], bias: int, words: list[str]) -> None:
    model = Model.from_weights({"BIAS": bias, **weights}, classes=["n", "p"])
    assert model.scores(" ".join(words))[1] == bias + sum(weights.get(word, 0) for word in words)


def test_two_classes_with_their_own_weights_score_the_difference() -> None:
    model = Model.from_weights({"spam": {"free": 3, "BIAS": 1}, "ham": {"free": 1, "see": 2}})
    assert model.classes == ["ham", "spam"]
    assert model.scores(["free", "see"])[:, 1].tolist() == [3, -1]
    assert Model.from_weights({"spam": {"a": 1}, "ham": {"b": 1}}, positive="ham").classes == ["spam", "ham"]


# ---- a real model


def test_it_is_saved_loaded_and_trained_on(tmp_path: Path) -> None:
    model = spam()
    model.save(tmp_path / "spam.model")
    loaded = markone.load(tmp_path / "spam.model")
    assert loaded.scores("free money").tolist() == [0, 3] and loaded.history.stopped == "given"
    assert "given" in str(loaded.history)
    model.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == (tmp_path / "spam.model").read_bytes()
    data = {"text": ["free beer with friends", "cheap pills", "money", "free"], "label": ["ham", "spam", "ham", "spam"]}
    trained = markone.train(data, target="label", from_model=loaded, average=False, order="given", epochs=1)
    assert "pills" in trained.features.names() and trained.settings.rule == "perceptron"
    # By hand: 4 - 3 > 0 is wrong for ham; then -3 - 1 for spam is wrong.
    weights = {name: float(both[1]) for name, both in trained.weights().items()}
    assert (weights["free"], weights["beer"], weights["cheap"], weights["BIAS"]) == (3 + 1, -1, 1, -3 - 1 + 1 + 1)
    again = markone.train(data, target="label", from_model=tmp_path / "spam.model", rule="logistic")
    assert again.settings.solver == "online"


def test_settings_are_kept_and_change_the_answer() -> None:
    assert Model.from_weights({"a": 1}, classes=["n", "p"], tie="positive").predict("b") == "p"
    assert Model.from_weights({"a": 1}, classes=["n", "p"], tie="negative").predict("b") == "n"
    assert Model.from_weights({"a": 1}, classes=["n", "p"], rule="mira", C=0.5).settings.C == 0.5
    with pytest.raises(SettingsError, match="probabilities cannot be computed: scores of the rule"):
        spam().probabilities("free")


@pytest.mark.parametrize(
    ("weights", "how", "problem"),
    [
        ({}, {}, "weights have no weights"),
        (3, {}, "weights must be weights by the names of features, or a file, not 3"),
        ({"BIAS": 1}, {}, "weights must have a weight for a feature, and not only for BIAS"),
        ({"a": "1"}, {}, "weights have '1' for 'a', which is not a number"),
        ({"a": True}, {}, "weights have True for 'a', which is not a number"),
        ({"a": math.nan}, {}, "weights have nan for 'a'; every number must be finite"),
        ({"a": math.inf}, {}, "weights have inf for 'a'; every number must be finite"),
        ({"a": 1e39}, {}, "weights have the weight 1e\\+39, which is too large for a 32-bit float"),
        ({"a": 10**400}, {}, "weights have a number for 'a' that is too large"),
        ({1: 2}, {}, "weights must have the names of features, not 1"),
        ({"n": {"a": 1}, "b": 2}, {}, "weights have weights by class, but 'b' is a number"),
        ({"n": {"a": 1}, "q": {"a": 1}}, {}, "weights have weights for 'q', which is not a class; the classes are 'n'"),
        ({"free money": 2}, {}, "weights have a number for 'free money', but there is no such feature"),
        ({"Free": 2, "free": 1}, {}, "weights have 'Free' and 'free', which are the same feature"),
        ({"BIAS": 1, "a": 1}, {"bias": False}, "weights have a number for BIAS, but there is no bias"),
        ({"a": 1}, {"classes": None}, "classes must name the two classes"),
        ({"a": 1}, {"classes": ["x", "y", "z"]}, "weights have weights without a class, but there are 3"),
        ({"n": {"a": 1}}, {"classes": ["n", "p", "q"]}, "weights have no numbers for 'p'; give them for each class"),
        ({"a": 1}, {"rule": "svm"}, "rule of given weights must be one that takes a step at each example"),
        ({"a": 1}, {"rule": "logistic", "solver": "newton"}, "rule of given weights must be one that takes a step"),
        ({"a": 1}, {"kinds": "image"}, "The features of the kind image are not known without data"),
        ({"a": 1}, {"kinds": "txt"}, "kinds must be one of 'text', .* Did you mean 'text'?"),
        ({"a": 1}, {"kinds": {}}, "kinds must name at least one column"),
        ({"a": 1}, {"kinds": 3}, "kinds must be a kind, or the kinds of columns by name"),
        ({"a": 1}, {"features": {"text": {"weight": "odds"}}}, "features.text.weight is 'odds', which is"),
        ({"a": 1}, {"features": {"numeric": {"scale": "standard"}}, "kinds": "numeric"}, "features.numeric.scale is"),
        ({"a": 1}, {"features": {"conjunctions": ["a*b"]}, "kinds": "numeric"}, "features.conjunctions make features"),
        ({"a\ud800": 1}, {}, "not valid Unicode"),
    ],
)  # fmt: skip
def test_mistakes_are_told(weights: Any, how: dict[str, Any], problem: str) -> None:
    with pytest.raises((SettingsError, DataError), match=problem):
        Model.from_weights(weights, **{"classes": ["n", "p"], **how})


# ---- files


FILES = {
    "w.json": json.dumps(SPAM),
    "w.toml": "BIAS = -3\nfree = 4\nmoney = 2.0\n",
    "w.csv": "feature,weight\nBIAS,-3\nfree,4\nmoney,2\n",
    "w.tsv": "feature\tweight\r\nBIAS\t-3\r\nfree\t4\r\nmoney\t2\r\n",
}


@pytest.mark.parametrize("name", FILES)
def test_weights_are_read_from_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], newline="")
    for path in (tmp_path / name, str(tmp_path / name)):
        assert Model.from_weights(path, classes=["ham", "spam"]).scores("free money").tolist() == [0, 3]


def test_weights_of_classes_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text(json.dumps(TOPICS))
    (tmp_path / "w.csv").write_text("feature,SPORTS,POLITICS,TECH\nBIAS,-2,1,2\nwin,4,2,\ngame,4,,2\n\nvote,,4,0\n")
    (tmp_path / "w.toml").write_text(
        "[SPORTS]\nBIAS=-2\nwin=4\ngame=4\n[POLITICS]\nBIAS=1\nwin=2\nvote=4\n[TECH]\nBIAS=2\ngame=2"
    )
    for name in ("w.json", "w.csv", "w.toml"):
        assert Model.from_weights(tmp_path / name).scores("win the vote").tolist() == [2, 7, 2]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("w.json", '{"a": 1,}', "w.json, line 1: this is not JSON"),
        ("w.json", '{"a": 1, "a": 2}', "has two values for 'a'"),
        ("w.json", '{"a": NaN}', "have nan for 'a'"),
        ("w.json", "[" * 100_000, "nested too deeply|not JSON"),
        ("w.json", '{"a": 1' + "0" * 5000 + "}", "too many digits"),
        ("w.json", '{"a": {"b": {"c": 1}}}', "have {'c': 1} for 'b', which is not a number"),
        ("w.json", "[1]", "must be weights by the names"),
        ("w.toml", "a = ", "is not TOML"),
        ("w.csv", "word,weight\na,1\n", "line 1: the first row must be 'feature,weight'"),
        ("w.csv", "feature,weight\na,x\n", "line 2: 'x' is not a number"),
        ("w.csv", "feature,weight\na,1\na,2\n", "line 3: 'a' occurs twice"),
        ("w.csv", "feature,weight\na,1,2\n", "line 2: there are 3 fields instead of 2"),
        ("w.csv", "feature,weight\na,inf\n", "have inf for 'a'"),
        ("w.csv", "", "line 1: the first row must be"),
        ("w.csv", "feature,weight\na\n", "line 2: there is 1 field instead of 2"),
        ("w.csv", "feature,weight\na,1\n a ,2\n", "line 3: 'a' occurs twice"),
        ("w.csv", "feature,weight\na,1_000\n", "line 2: '1_000' is not a number"),
        ("w.csv", "feature,weight\n ,1\n", "weights must have the names of features, not ''"),
        ("w.txt", "a 1", "must end in .json, .toml, .csv or .tsv"),
        ("w.json", b"\xff\xfe\x00", "is not UTF-8"),
    ],
)
def test_bad_files_are_told(name: str, content: Any, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises((SettingsError, DataError), match=problem):
        Model.from_weights(tmp_path / name, classes=["n", "p"])


def test_spaces_around_the_names_in_a_table_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("feature, weight\n free , 4 \nBIAS ,-3\n")
    (tmp_path / "w.tsv").write_text("feature \t weight\nfree \t 4\n BIAS\t-3\n")
    for name in ("w.csv", "w.tsv"):
        assert Model.from_weights(tmp_path / name, classes=["n", "p"]).scores("free")[1] == 1


def test_a_name_that_is_repeated_among_many_is_found_quickly(tmp_path: Path) -> None:
    names = [*(f"w{i}" for i in range(200_000)), "w199999"]
    (tmp_path / "w.json").write_text("{" + ", ".join(f'"{name}": 1' for name in names) + "}")
    begin = time.perf_counter()
    with pytest.raises(DataError, match="has two values for 'w199999'"):
        Model.from_weights(tmp_path / "w.json", classes=["n", "p"])
    assert time.perf_counter() - begin < 5  # comparing each name with all before it takes minutes


def test_messages_of_the_command_line_name_its_options(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    from markone.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "topics.json").write_text(json.dumps(TOPICS))
    (tmp_path / "spam.json").write_text(json.dumps(SPAM))
    (tmp_path / "bias.json").write_text('{"BIAS": 1}')
    for words, problem in [
        (["topics.json", "--classes", "SPORTS,POLITICS,TECH,X"], "--start has no numbers for 'X'"),
        (["bias.json", "--classes", "ham,spam"], "--start must have a weight for a feature"),
        (["spam.json"], "--classes must name the two classes, such as --classes ham,spam; positive weights support"),
        (["spam.json", "--classes", "spam"], "--classes must be at least two labels, not only 'spam'"),
    ]:
        assert main(["train", "--start", *words]) == 2
        said = capsys.readouterr().err
        assert problem in said and "[" not in said


def test_one_feature_is_not_some_features() -> None:
    model = Model.from_weights({"a": 1}, classes=["n", "p"])
    assert "1 feature, 2 classes" in repr(model) and str(model.explain()).startswith("1 feature, 2 classes")


def test_missing_and_large_files_and_tables_are_told(tmp_path: Path, monkeypatch: Any) -> None:
    with pytest.raises(DataError, match="cannot read the file of weights .*: No such file"):
        Model.from_weights(tmp_path / "none.json", classes=["n", "p"])
    (tmp_path / "w.json").write_text(json.dumps(SPAM))
    monkeypatch.setattr(given_weights, "LARGEST_FILE", 10)
    with pytest.raises(LimitError, match="has more than 10 bytes"):
        Model.from_weights(tmp_path / "w.json", classes=["n", "p"])
    monkeypatch.setattr(given_weights, "MOST_WEIGHTS", 3)
    with pytest.raises(LimitError, match="4 features and 3 classes need more than 3 weights"):
        Model.from_weights(TOPICS)


# ---- the start of a training


def test_training_and_tracing_start_at_the_same_weights(tmp_path: Path) -> None:
    X, y = [[3, 2], [-2, 2], [-2, -3]], ["+", "-", "+"]
    start = {"x0": 0.5, "x1": 2, "BIAS": -1}
    (tmp_path / "w.json").write_text(json.dumps(start))
    run = markone.trace(X, y, start=start)
    assert run.start[0].named() == {"+": {"x0": 0.5, "x1": 2, "BIAS": -1}}
    models = [
        markone.train(X, target=y, rule="perceptron", order="given", average=False, start=one)
        for one in (start, tmp_path / "w.json", {"+": start}, {"-": {name: -one for name, one in start.items()}})
    ]
    for model in models:
        found = {name: float(both[1]) for name, both in model.weights().items() if both[1]}
        assert found == run.weights()["+"]
    assert run.weights() != markone.trace(X, y).weights()


def test_the_start_changes_each_rule_that_takes_steps() -> None:
    random = np.random.default_rng(1)
    X, y = random.normal(size=(50, 3)), random.integers(0, 2, 50)
    for rule in ("perceptron", "mira", "hinge", "logistic"):
        zero = markone.train(X, target=y, rule=rule, epochs=1, **({"solver": "online"} if rule == "logistic" else {}))
        moved = markone.train(X, target=y, rule=rule, epochs=1, start={"x0": 5, "x2": -5})
        assert any((zero.weights()[name] != moved.weights()[name]).any() for name in zero.weights()), rule
    for rule in ("svm", "naive-bayes", "mlp"):
        with pytest.raises(
            SettingsError, match=f"start is only for rules that take a step at each example, not for {rule}"
        ):
            markone.train(X, target=y, rule=rule, start={"x0": 5})


def test_a_run_from_given_weights_is_resumed_with_the_same_bits(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    X, y = random.normal(size=(60, 3)), random.integers(0, 3, 60)
    start = {"1": {"x0": 5}, "2": {"x1": 1, "BIAS": 2}}
    how: dict[str, Any] = {"target": y, "rule": "perceptron"}
    whole = markone.train(X, start=start, epochs=4, **how)
    markone.train(X, start=start, epochs=2, **how).save(tmp_path / "half.model")
    for again in ({"start": start}, {}):
        resumed = markone.train(X, epochs=4, resume=tmp_path / "half.model", **again, **how)
        assert all((resumed.weights()[name] == one).all() for name, one in whole.weights().items())
        resumed.save(tmp_path / "resumed.model")
        whole.save(tmp_path / "whole.model")
        assert (tmp_path / "resumed.model").read_bytes() == (tmp_path / "whole.model").read_bytes()
    with pytest.raises(SettingsError, match="start has other weights than the training that is to be resumed"):
        markone.train(X, epochs=4, resume=tmp_path / "half.model", start={"1": {"x0": 6}}, **how)
    with pytest.raises(DataError, match="are not those of the interrupted training"):
        markone.train(X + 1, epochs=4, resume=tmp_path / "half.model", **how)


def test_starts_that_cannot_be_are_told() -> None:
    data: dict[str, Any] = {"target": ["a", "b"]}
    for start, problem in [
        ({"free": 1}, "start has a number for 'free', but there is no such feature. Did you mean 'fre'?"),
        ("anywhere", "start must be one of 'zero', 'random', or weights or a file of weights, not 'anywhere'"),
        ("none.json", "cannot read the file of weights none.json"),
        ({"c": {"fre": 1}}, "start has weights for 'c', which is not a class"),
    ]:
        with pytest.raises((SettingsError, DataError), match=problem):
            markone.train(["fre money", "see"], start=start, rule="perceptron", **data)
    with pytest.raises(SettingsError, match="needs a perceptron that starts at 0 .*, but the first weights are given"):
        markone.train([[1.0], [2.0]], start={"x0": 1}, rule="perceptron", bounds=True, **data)
    with pytest.raises(SettingsError, match="start has the first weights, but they are already those of a model"):
        markone.train(["x", "y"], start={"x": 1}, from_model=Model.from_weights({"x": 1}, classes=["a", "b"]), **data)
    with pytest.raises(SettingsError, match="start must be one of"):
        markone.validate([[1.0], [2.0]], start="w.json", **data)  # type: ignore[arg-type]


# ---- the command line


def test_the_command_line_makes_models_from_weights(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    from markone.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "spam.json").write_text(json.dumps(SPAM))
    (tmp_path / "and.csv").write_text("feature,weight\nBIAS,-1.5\nx1,1\nx2,1\n")
    (tmp_path / "rows.csv").write_text("x1,x2,label\n0,0,0\n0,1,0\n1,0,0\n1,1,1\n")
    (tmp_path / "mail.csv").write_text("label,text\nspam,free money\nham,see you\n")
    assert main(["train", "--start", "spam.json", "--classes", "ham,spam", "--test", "mail.csv"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "Made a model of 2 classes from the weights in spam.json (2 features).\n  Positive class: spam."
    )
    assert "Accuracy 100.0% on 2 rows of mail.csv" in said and "Saved spam.model" in said
    assert markone.load("spam.model").scores("free money").tolist() == [0, 3]
    assert main(["explain", "spam.model", "free money"]) == 0
    assert "sum                          +3" in capsys.readouterr().out
    kinds = ["--kinds", "x1=numeric,x2=numeric"]
    assert main(["train", "--start", "and.csv", "--classes", "0,1", *kinds, "-o", "and.model", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["positive"] == "1" and facts["columns"] == {"x1": "numeric", "x2": "numeric"}
    assert main(["evaluate", "and.model", "rows.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1
    for more, problem in [
        (["--tune"], "--tune needs data, but no file was given"),
        (["--from", "spam.model"], "--from needs data"),
        (["--resume"], "--resume needs data"),
        (["--header"], "--header is for reading data"),
        (["--positive", "ham"], "--positive is 'ham', but the second of two classes is positive"),
        (["--rule", "svm"], "--rule of given weights must be"),
        (["-o", "spam.json"], "spam.json"),
    ]:
        assert main(["train", "--start", "spam.json", "--classes", "ham,spam", *more]) == 2, more
        assert problem in capsys.readouterr().err
    (tmp_path / "bad.json").write_text('{"free": "much"}')
    assert main(["train", "--start", "bad.json", "--classes", "ham,spam"]) == 2
    assert "--start has 'much' for 'free', which is not a number" in capsys.readouterr().err
    assert main(["train", "--start", "zero"]) == 2
    assert "no file was given" in capsys.readouterr().err


def test_the_command_line_starts_training_and_traces_at_weights(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    from markone.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.toml").write_text("x1 = 2.5\nBIAS = -1\n")
    (tmp_path / "rows.csv").write_text("x1,x2,label\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n")
    (tmp_path / "raw.toml").write_text('[numeric]\nscale = "none"\n')
    how = ["rows.csv", "--target", "label", "--features", "raw.toml", "--start", "w.toml"]
    assert main(["trace", *how, "--steps", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == {"yes": -1.0}
    train = ["train", *how, "--rule", "perceptron", "--no-average", "--order", "given", "--quiet"]
    assert main([*train, "--epochs", "1"]) == 0
    weights = {name: float(both[1]) for name, both in markone.load("rows.model").weights().items()}
    assert weights == {"x1": 2.5, "x2": 1, "BIAS": -1}  # wrong at the third row, w - x, and at the fourth, w + x
    assert main([*train, "--resume", "--epochs", "3"]) == 0
    assert main(["train", *how, "--tune"]) == 2
    assert "--tune chooses settings for a new training" in capsys.readouterr().err
