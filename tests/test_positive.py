"""The positive class: which of two it is, and what depends on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markone
from markone.data.class_order import ClassOrder, continued, in_good_order
from markone.errors import DataError, SettingsError

MAIL = {"text": ["free money", "see you", "free tea", "see me soon"], "kind": ["spam", "ham", "spam", "ham"]}


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["+", "-"], "+"),
        (["+1", "-1"], "+1"),
        (["1", "0"], "1"),
        ([1, -1], 1),
        ([1, 2], 2),
        ([False, True], True),
        (["pos", "neg"], "pos"),
        (["Positive", "negative"], "Positive"),
        (["yes", "no"], "yes"),
        (["TRUE", "FALSE"], "TRUE"),
        (["spam", "ham"], "spam"),
        (["good", "bad"], "good"),
        (["fraud", "genuine"], "fraud"),
        (["approved", "rejected"], "approved"),
        (["abnormal", "normal"], "abnormal"),
        (["happy", "unhappy"], "happy"),
        (["duplicate", "not_duplicate"], "duplicate"),
        (["toxic", "non-toxic"], "toxic"),
        (["apple", "pear"], "pear"),
        (["good", "positive"], "positive"),
    ],
)
def test_a_word_says_which_class_is_positive(labels: list[Any], positive: Any) -> None:
    for order in (labels, labels[::-1]):
        assert in_good_order(order)[1] == positive
        model = markone.train(["free money", "see you"], target=order, rule="perceptron")
        assert model.classes[1] == positive == model.positive


def test_three_classes_are_sorted_and_none_is_positive() -> None:
    model = markone.train(["a b", "c d", "e f"], target=["+", "-", "0"])
    assert model.classes == ["+", "-", "0"] and model.positive is None


@pytest.mark.parametrize("rule", ["perceptron", "mira", "hinge", "logistic", "svm", "naive-bayes", "mlp"])
def test_the_positive_class_has_the_positive_scores(rule: Any) -> None:
    default = markone.train(MAIL, target="kind", rule=rule)
    other = markone.train(MAIL, target="kind", rule=rule, positive="ham")
    assert (default.classes, other.classes) == (["ham", "spam"], ["spam", "ham"])
    assert other.positive == "ham"
    for model in (default, other):
        assert model.predict(MAIL["text"]).tolist() == MAIL["kind"]
    assert default.scores("free money")[1] > 0 > other.scores("free money")[1]
    if rule in ("logistic", "naive-bayes", "svm"):
        np.testing.assert_allclose(default.scores("free tea")[1], -other.scores("free tea")[1], rtol=1e-3)


def test_a_tie_is_the_negative_class_or_the_positive_one() -> None:
    for positive, tie, answer in [
        ("spam", "negative", "ham"),
        ("spam", "positive", "spam"),
        ("ham", "negative", "spam"),
        ("ham", "positive", "ham"),
    ]:
        model = markone.train(MAIL, target="kind", rule="perceptron", bias=False, positive=positive, tie=tie)
        assert model.predict("unknown words") == answer


def test_labels_may_be_given_as_texts() -> None:
    rows, labels = [[1.0], [2.0], [-1.0]], [1, 1, 0]
    assert markone.train(rows, target=labels, positive="0").classes == [1, 0]
    assert markone.train(rows, target=labels, classes=["1", "0", "7"]).classes == [1, 0, 7]
    assert markone.trace(rows, labels, positive=0).classes == [1, 0]


def test_classes_fix_the_order_and_add_classes() -> None:
    for rule in ("perceptron", "mira", "hinge", "logistic", "svm", "naive-bayes", "mlp"):
        model = markone.train(MAIL, target="kind", rule=rule, classes=["spam", "news", "ham"])
        assert model.classes == ["spam", "news", "ham"]
        assert model.predict("free money") == "spam" and model.predict("see you") == "ham"
        run = markone.trace(MAIL, "kind", classes=["spam", "news", "ham"], epochs=2)
        assert run.classes == ["spam", "news", "ham"]


def test_one_label_is_enough_if_the_classes_are_named() -> None:
    for rule in ("perceptron", "mira", "hinge", "logistic", "svm", "naive-bayes", "mlp"):
        model = markone.train(["free money", "money"], target=["spam", "spam"], rule=rule, classes=["ham", "spam"])
        assert model.predict("free money") == "spam", rule


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"positive": "spma"}, "positive is 'spma', which is not a label; the labels are 'ham', 'spam'. Did you mean"),
        ({"positive": [1]}, "positive must be a label"),
        ({"positive": ""}, "positive must be a label"),
        ({"positive": "ham", "classes": ["ham", "spam"]}, "positive is 'ham', but the second of two classes is"),
        ({"classes": "ham,spam"}, "classes must be a list of labels"),
        ({"classes": ["ham"]}, "classes must be at least two labels"),
        ({"classes": ["ham", "ham"]}, "classes must differ, but 'ham' occurs twice"),
        ({"classes": ["ham", "spamm"]}, "the label 'spam' is not among the given classes, 'ham', 'spamm'. Did you"),
    ],
)
def test_what_cannot_be_is_told(how: dict[str, Any], problem: str) -> None:
    for function in (markone.train, markone.trace):
        with pytest.raises((SettingsError, DataError), match=problem):
            function(MAIL, target="kind", **how)


def test_more_than_two_classes_have_no_positive_one() -> None:
    with pytest.raises(SettingsError, match="positive is for two classes, but there are 3: 'a', 'b', 'c'; leave"):
        markone.train(["x", "y", "z"], target=["a", "b", "c"], positive="a")


def test_a_model_keeps_its_positive_class(tmp_path: Path) -> None:
    model = markone.train(MAIL, target="kind", rule="perceptron", positive="ham", epochs=2)
    model.save(tmp_path / "m.model")
    loaded = markone.load(tmp_path / "m.model")
    assert loaded.positive == "ham" and loaded.classes == ["spam", "ham"]
    assert markone.train(MAIL, target="kind", from_model=loaded).classes == ["spam", "ham"]
    more = {"text": ["today's news", "free"], "kind": ["news", "spam"]}
    grown = markone.train(more, target="kind", from_model=loaded)
    assert grown.classes == ["spam", "ham", "news"]
    usual = markone.train(MAIL, target="kind", rule="perceptron", epochs=2)
    mirrored = markone.train(more, target="kind", from_model=usual)
    assert mirrored.classes == ["ham", "news", "spam"]
    assert grown.scores("see you").tolist() == mirrored.scores("see you")[[2, 0, 1]].tolist()
    resumed = markone.train(MAIL, target="kind", resume=tmp_path / "m.model", epochs=4, positive="ham")
    assert resumed.classes == ["spam", "ham"]
    whole = markone.train(MAIL, target="kind", rule="perceptron", positive="ham", epochs=4)
    for name, weights in whole.weights().items():
        assert (resumed.weights()[name] == weights).all()
    for how in ({"from_model": loaded}, {"resume": tmp_path / "m.model"}):
        with pytest.raises(SettingsError, match="positive is 'spam', but in the model the positive class is 'ham'"):
            markone.train(MAIL, target="kind", positive="spam", **how)
        with pytest.raises(SettingsError, match="classes of the model are 'spam', 'ham', in this order"):
            markone.train(MAIL, target="kind", classes=["ham", "spam"], **how)
        assert markone.train(MAIL, target="kind", classes=["spam", "ham"], **how).classes == ["spam", "ham"]


def test_classes_of_older_models_keep_their_order() -> None:
    assert continued(["+", "-"], []) == ["+", "-"]
    assert continued(["+", "-"], ["0"]) == ["+", "-", "0"]
    assert continued(["-", "+"], ["0"]) == ["+", "-", "0"]
    assert continued([1, 3], [2]) == [1, 2, 3]


def test_comparisons_and_experiments_use_the_same_order() -> None:
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(-2, 1, (30, 2)), random.normal(2, 1, (30, 2))])
    y = ["+"] * 30 + ["-"] * 30
    found = markone.validate(X, target=y, rule="logistic", folds=3)
    assert found.classes == ["-", "+"] and found.mean > 0.9
    assert found.probabilities[found.truth == 1, 1].mean() > 0.8
    compared = markone.compare(X, target=y, folds=3)
    assert compared.classes == ["-", "+"]
    learned = {one.name: one.validation.mean for one in compared.contenders if one.name != "majority class"}
    assert "decision tree" in learned  # it is scikit-learn's, which sorts its classes
    assert min(learned.values()) > 0.9


def test_order_without_wishes_is_the_usual_one() -> None:
    assert ClassOrder().arrange(["spam", "ham"]) == ["ham", "spam"]


def test_the_command_line_says_and_changes_it(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    from markone.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "mail.csv").write_text("kind,text\nspam,free money\nham,see you\nspam,money\n")
    assert main(["train", "mail.csv", "--target", "kind"]) == 0
    assert "\n  Positive class: spam.\n" in capsys.readouterr().out
    assert main(["train", "mail.csv", "--target", "kind", "--positive", "ham", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["positive"] == "ham" and facts["classes"] == ["spam", "ham"]
    assert main(["train", "mail.csv", "--target", "kind", "--classes", "spam,news,ham"]) == 0
    assert "Positive class" not in capsys.readouterr().out
    assert main(["trace", "mail.csv", "--target", "kind", "--positive", "ham", "--steps", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"].keys() == {"ham"}
    assert main(["trace", "mail.csv", "--target", "kind", "--positive", "hm"]) == 2
    assert "--positive is 'hm', which is not a label" in capsys.readouterr().err
