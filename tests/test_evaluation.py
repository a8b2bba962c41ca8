"""Evaluation: its numbers are scikit-learn's, and it says what it does not count."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import markone
from markone.data.source import UNLABELLED
from markone.errors import DataError, SettingsError
from markone.model.evaluation import Evaluation, EvaluationTally, log_probabilities
from markone.reporting.grids import Grid

TEXTS = ["free money", "see you soon", "win a prize", "lunch at noon", "free prize", "you and me"]
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"]


def evaluated(truth: list[int], found: list[int], classes: int, cut: int = 3) -> Evaluation:
    """Of labels 0, 1, 2 and so on, in batches of `cut`."""
    tally = EvaluationTally(list(range(classes)), None)
    for start in range(0, len(truth), cut):
        few = slice(start, start + cut)
        scores = np.zeros((len(truth[few]), classes), np.float32)
        tally.add(list(range(classes)), np.array(truth[few], np.int32), np.array(found[few], np.int64), scores)
    return tally.evaluation()


@given(st.integers(2, 5).flatmap(lambda k: st.lists(st.tuples(*2 * [st.integers(0, k - 1)]), min_size=1, max_size=40)))
def test_the_numbers_are_scikit_learns(pairs):
    truth, found = map(list, zip(*pairs, strict=True))
    evaluation = evaluated(truth, found, 5)
    every = {"labels": range(5), "zero_division": 0, "average": None}
    assert evaluation.accuracy == metrics.accuracy_score(truth, found)
    assert evaluation.precision.tolist() == pytest.approx(metrics.precision_score(truth, found, **every).tolist())
    assert evaluation.recall.tolist() == pytest.approx(metrics.recall_score(truth, found, **every).tolist())
    assert evaluation.f1.tolist() == pytest.approx(metrics.f1_score(truth, found, **every).tolist())
    assert evaluation.confusion.tolist() == metrics.confusion_matrix(truth, found, labels=range(5)).tolist()
    assert evaluation.macro_f1 == pytest.approx(metrics.f1_score(truth, found, average="macro", zero_division=0))
    assert evaluation.support.sum() == evaluation.total == len(truth)
    assert evaluation.majority[1] == max(map(truth.count, truth)) / len(truth)


@pytest.mark.parametrize("classes", [2, 3])
def test_log_loss_is_that_of_the_probabilities(classes):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 5))
    y = (X[:, :classes] + random.normal(size=(300, classes))).argmax(axis=1)
    model = markone.train(X[:200], target=y[:200], rule="logistic")
    evaluation = model.evaluate(X[200:], y[200:])
    probabilities = model.probabilities(X[200:])
    assert evaluation.log_loss == pytest.approx(metrics.log_loss(y[200:], probabilities))
    assert evaluation.accuracy == model.accuracy(X[200:], y[200:]) == np.mean(model.predict(X[200:]) == y[200:])
    assert markone.train(X[:30], target=y[:30], rule="mira").evaluate(X, y).log_loss is None  # too few rows


def test_the_interval_is_wilsons():
    evaluation = evaluated([0] * 10, [0] * 8 + [1] * 2, 2)
    low, high = evaluation.interval
    # the roots of (p̂ - p)² = z² p (1 - p) / n
    for p in (low, high):
        assert (0.8 - p) ** 2 == pytest.approx(1.959963984540054**2 * p * (1 - p) / 10)
    assert low < 0.8 < high
    assert evaluated([0] * 9, [0] * 9, 2).interval[1] == pytest.approx(1)
    assert evaluated([0] * 9, [1] * 9, 2).interval[0] == pytest.approx(0)


def test_labels_that_the_model_does_not_know_are_mistakes():
    model = markone.train(TEXTS, target=LABELS)
    evaluation = model.evaluate([*TEXTS, "free money", "x"], [*LABELS, "egg", None])
    assert (evaluation.total, evaluation.right, evaluation.unknown, evaluation.unlabelled) == (7, 6, 1, 1)
    assert evaluation.strangers == ["egg"]
    assert evaluation.accuracy == 6 / 7
    assert evaluation.precision[1] == 3 / 4  # "egg" was taken for spam
    shown = str(evaluation)
    assert "1 have labels that the model does not know, and count as mistakes: egg" in shown
    assert "1 more have no label and were skipped." in shown
    assert "unknown" in shown.splitlines()[-1]


def test_a_label_may_be_a_number_here_and_a_text_there():
    model = markone.train(TEXTS, target=[1, 0, 1, 0, 1, 0])
    assert model.evaluate(TEXTS, ["1", "0", "1", "0", "1", "0"]).accuracy == 1


def test_what_cannot_be_measured_is_said():
    model = markone.train(TEXTS, target=LABELS)
    with pytest.raises(DataError, match="the labels are missing"):
        model.evaluate(TEXTS)
    with pytest.raises(DataError, match="there are no labelled examples"):
        model.evaluate(TEXTS, [None] * 6)
    with pytest.raises(DataError, match=r"none of the labels \('a'\) is a class of the model \('ham', 'spam'\)"):
        model.evaluate(TEXTS, ["a"] * 6)
    with pytest.raises(SettingsError, match="target belongs to markone.read"):
        model.evaluate(markone.read(TEXTS, target=LABELS), LABELS)


def test_it_keeps_no_examples():
    tally = EvaluationTally(["a", "b"], log_probabilities)
    for _ in range(200):
        labels = np.array([0, 1, UNLABELLED], np.int32)
        tally.add(["a", "b"], labels, np.array([0, 0, 1]), np.array([[-1], [1], [0]], np.float32))
    assert tally.counts == {(0, 0): 200, (1, 0): 200}
    evaluation = tally.evaluation()
    assert (evaluation.total, evaluation.unlabelled) == (400, 200)
    expected = math.log(1 + math.exp(-1))  # for both: the score speaks for the right class
    assert evaluation.log_loss == pytest.approx(expected)


def test_many_classes_are_shown_by_their_worst():
    truth = list(range(40)) * 2
    found = [*range(40), 1, 0, *range(2, 40)]
    evaluation = evaluated(truth, found, 40)
    lines = str(evaluation).splitlines()
    assert sum(line.endswith("%") or line.split()[0].isdigit() for line in lines if line.strip()) < 40
    assert any(line.startswith("worst 24") for line in lines)
    assert lines[-3:] == ["is  said  examples", "0   1            1", "1   0            1"]
    assert len(evaluation.as_dict()["classes"]) == 40


def test_a_matrix_that_is_too_wide_becomes_a_list():
    tally = EvaluationTally([f"a rather long label {i}" for i in range(8)], None)
    numbers = np.arange(8)
    tally.add(tally.classes, numbers.astype(np.int32), numbers[::-1].copy(), np.zeros((8, 8), np.float32))
    shown = str(tally.evaluation())
    assert max(map(len, shown.splitlines())) <= 80
    assert "is \\ said" not in shown


def test_it_can_be_had_as_json():
    model = markone.train(TEXTS, target=LABELS, rule="logistic")
    facts = json.loads(json.dumps(model.evaluate(TEXTS, LABELS).as_dict()))
    assert facts["accuracy"] == 1 and facts["examples"] == 6 and facts["confusions"] == []
    assert facts["classes"][0] == {"class": "ham", "precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 3}
    assert facts["log_loss"] > 0


def test_columns_stand_below_each_other():
    assert str(Grid([["a", "bc", "d"]], [["def", "1", "e"]], words=(0, 2))) == "a    bc  d\ndef   1  e"
    assert str(Grid([], [["a", "1"]])) == "a  1"
