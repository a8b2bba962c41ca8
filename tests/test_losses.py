"""The losses of scores, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import hinge_loss, log_loss

from markone import reference
from markone.errors import DataError
from markone.model.losses import FORMULAS, LossTally, losses


def test_two_classes_by_hand() -> None:
    # Margins y·s: 2, 0.5, -1, 0.
    found = losses(np.array([[2.0], [-0.5], [1.0], [0.0]]), np.array([1, 0, 0, 1]), 2)
    assert found.examples == 4
    assert found.zero_one == 2
    assert found.perceptron == 1
    assert found.hinge == 0.5 + 2 + 1
    assert found.cross_entropy == pytest.approx(sum(math.log1p(math.exp(-m)) for m in (2, 0.5, -1, 0)))
    sigmoid = [1 / (1 + math.exp(-m)) for m in (2, 0.5, -1, 0)]
    assert found.squared_error == pytest.approx(sum((1 - p) ** 2 for p in sigmoid) / 2)
    assert found.mean["hinge"] == 3.5 / 4


def test_the_lectures_cross_entropy() -> None:
    # 002: z = 0.805 costs 0.37 where y = 1 and 1.17 where y = 0.
    assert losses(np.array([[0.805]]), np.array([1]), 2).cross_entropy == pytest.approx(0.37, abs=0.005)
    assert losses(np.array([[0.805]]), np.array([0]), 2).cross_entropy == pytest.approx(1.17, abs=0.005)


def test_the_lectures_squared_error() -> None:
    # σ(0.805) = 0.69: half the squares of 1 - 0.69 and of 0.69.
    assert losses(np.array([[0.805]]), np.array([1]), 2).squared_error == pytest.approx(0.31**2 / 2, abs=0.001)
    assert losses(np.array([[0.805]]), np.array([0]), 2).squared_error == pytest.approx(0.69**2 / 2, abs=0.001)


@given(st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 20.0]))
def test_the_squared_error_is_the_references(columns: int, seed: int, size: float) -> None:
    random = np.random.default_rng(seed)
    scores, labels = size * random.normal(size=(7, columns)), random.integers(0, max(2, columns), 7)
    expected = [reference.squared_error(s, y) for s, y in zip(scores.tolist(), labels.tolist(), strict=True)]
    found = losses(scores, labels, max(2, columns)).squared_error
    assert found == pytest.approx(sum(expected), rel=1e-9, abs=1e-12)


def test_more_classes_by_hand() -> None:
    # "win the vote" scores 2, 7, 2: the margin is 5 for the second class, and -5 for the third.
    scores = np.array([[2.0, 7.0, 2.0], [2.0, 7.0, 2.0]])
    found = losses(scores, np.array([1, 2]), 3)
    assert (found.zero_one, found.perceptron, found.hinge) == (1, 5, 6)
    p = np.exp([2, 7, 2]) / np.exp([2, 7, 2]).sum()
    assert found.cross_entropy == pytest.approx(-math.log(p[1]) - math.log(p[2]))
    squares = p[0] ** 2 + (p[1] - 1) ** 2 + p[2] ** 2 + p[0] ** 2 + p[1] ** 2 + (p[2] - 1) ** 2
    assert found.squared_error == pytest.approx(squares / 2)
    np.testing.assert_array_equal(scores, [[2, 7, 2], [2, 7, 2]])  # what comes in stays as it is


def test_two_classes_with_two_scores_are_two_classes_with_their_difference() -> None:
    random = np.random.default_rng(0)
    scores, labels = random.normal(size=(20, 2)), random.integers(0, 2, 20)
    both, one = losses(scores, labels, 2), losses(scores[:, 1:] - scores[:, :1], labels, 2)
    for name in FORMULAS:
        assert getattr(both, name) == pytest.approx(getattr(one, name))


@pytest.mark.parametrize("classes", [2, 5])
def test_it_agrees_with_scikit_learn(classes: int) -> None:
    random = np.random.default_rng(1)
    scores, labels = random.normal(size=(60, 1 if classes == 2 else classes)), random.integers(0, classes, 60)
    found = losses(scores, labels, classes)
    flat = scores[:, 0] if classes == 2 else scores
    assert found.mean["hinge"] == pytest.approx(hinge_loss(labels, flat, labels=range(classes)))
    each = np.hstack([np.zeros_like(scores), scores]) if classes == 2 else scores
    p = np.exp(each) / np.exp(each).sum(axis=1, keepdims=True)
    assert found.mean["cross_entropy"] == pytest.approx(log_loss(labels, p, labels=range(classes)))


def test_batches_add_up_and_what_has_no_class_is_passed_over() -> None:
    random = np.random.default_rng(2)
    scores, labels = random.normal(size=(30, 3)).astype(np.float32), random.integers(0, 3, 30)
    whole, tally = losses(scores, labels, 3), LossTally(3)
    tally.add(scores[:11], labels[:11])
    tally.add(scores[11:11], labels[11:11])
    tally.add(np.vstack([scores[11:], scores[:2]]), np.concatenate([labels[11:], [-1, 3]]))
    for name, value in tally.losses().mean.items():
        assert value == pytest.approx(whole.mean[name])
    assert tally.losses().examples == 30


def test_a_tie_is_a_mistake_unless_the_winners_say_otherwise() -> None:
    scores, labels = np.zeros((2, 1)), np.array([0, 1])
    assert losses(scores, labels, 2).zero_one == 2
    tally = LossTally(2)
    tally.add(scores, labels, np.array([0, 0]))
    assert tally.losses().zero_one == 1


def test_extreme_scores_cost_much_but_not_infinitely() -> None:
    found = losses(np.array([[1e4]]), np.array([0]), 2)
    assert found.cross_entropy == pytest.approx(1e4)
    assert found.squared_error == 0.5  # no probability is further off than by 1


def test_no_examples_is_a_sentence() -> None:
    with pytest.raises(DataError, match="there are no labelled examples to measure losses on"):
        LossTally(2).losses()


def test_table_and_dict() -> None:
    found = losses(np.array([[2.0], [0.5], [-1.0]]), np.array([1, 1, 1]), 2)
    lines = str(found).splitlines()
    assert lines[0].startswith("3 examples")
    assert [line.split("  ")[0] for line in lines[3:]] == [
        "0/1", "perceptron", "hinge", "cross entropy", "squared error",
    ]  # fmt: skip
    assert found.as_dict() == {
        "examples": 3,
        "sum": {name: getattr(found, name) for name in FORMULAS},
        "mean": found.mean,
    }
