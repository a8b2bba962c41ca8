"""Averages are exact however long the run, and so are the debts to a penalty."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from markone import reference
from markone.data.blocks import Block
from markone.learning.online import Linear
from markone.model.settings import Settings

slow = pytest.mark.slow
MANY = 70_000
"""Steps: more than the core remembers of what was asked."""


def exact_average(X: np.ndarray, y: np.ndarray, passes: int) -> list[Fraction]:
    """The perceptron's average over many passes in whole numbers: the run is followed until it repeats itself."""
    w, total = [0] * X.shape[1], [0] * X.shape[1]
    seen: dict[tuple[int, ...], int] = {}
    sums: list[list[int]] = []  # the sum over each pass
    for done in range(passes):
        if tuple(w) in seen:
            first = seen[tuple(w)]
            cycle = sums[first:]
            turns, rest = divmod(passes - done, len(cycle))
            for j in range(len(w)):
                total[j] += turns * sum(one[j] for one in cycle) + sum(one[j] for one in cycle[:rest])
            break
        seen[tuple(w)] = done
        of_pass = [0] * len(w)
        for x, label in zip(X.tolist(), y.tolist(), strict=True):
            sign = 1 if label else -1
            if sign * sum(a * b for a, b in zip(w, x, strict=True)) <= 0:
                w = [a + sign * b for a, b in zip(w, x, strict=True)]
            of_pass = [a + b for a, b in zip(of_pass, w, strict=True)]
        sums.append(of_pass)
        total = [a + b for a, b in zip(total, of_pass, strict=True)]
    return [Fraction(t, passes * len(y)) for t in total]


@pytest.mark.parametrize(
    ("dtype", "steps"),
    [
        (np.float32, 20_000_000),  # more than a number of 32 bits can count
        (np.float64, 2_000_000),
        pytest.param(np.float32, 100_000_000, marks=slow),
        pytest.param(np.float64, 100_000_000, marks=slow),
    ],
)
def test_the_average_of_many_steps_is_exact(dtype: Any, steps: int) -> None:
    random = np.random.default_rng(3)
    X, y = random.integers(-4, 5, (8, 3)), random.integers(0, 2, 8)
    X[-1], y[-1] = X[0], 1 - y[0]  # not separable: it goes on for ever
    expected = exact_average(X, y, steps // len(y))
    assert len({*expected}) == 3 and all(expected)

    copies = 10_000
    block = Block.of(np.tile(X, (copies, 1)).astype(dtype), np.tile(y, copies))
    linear = Linear(Settings(bias=False), features=3, classes=2, dtype=dtype)
    mistakes = 0
    for _ in range(steps // len(block)):
        mistakes += linear.learn(block).mistakes
    assert linear.time == steps and mistakes > steps // 20
    found = linear.weights(averaged=True).matrix()[:, 0]
    tolerance = np.finfo(dtype).eps if dtype is np.float32 else 1e-13
    np.testing.assert_allclose(found, [float(e) for e in expected], rtol=tolerance)


def test_the_average_is_that_of_the_rounded_weights() -> None:
    # Tenths are not exact in 32 bits: the weights drift, and the average must be the average of what they were.
    random = np.random.default_rng(4)
    X = (random.integers(1, 100, (2000, 1)) / 10).astype(np.float32)
    y = random.integers(0, 2, 2000)
    linear = Linear(Settings(bias=False, rule="hinge", eta=0.1), features=1, classes=2, dtype=np.float32)
    linear.learn(Block.of(X, y))

    w, total, drift = np.float32(0), Fraction(0), Fraction(0)
    for x, label in zip(X[:, 0], y, strict=True):
        sign = np.float32(1 if label else -1)
        if sign * (w * x) < 1:
            step = sign * np.float32(0.1) * x
            drift += Fraction(float(step))
            w = w + step
        total += Fraction(float(w))
    assert drift != Fraction(float(w))
    assert linear.weights(False).matrix()[0, 0] == w
    assert linear.weights(True).matrix()[0, 0] == np.float32(float(total / 2000))


@pytest.mark.parametrize(
    ("schedule", "penalty", "rows"),
    [
        ("sqrt", "l1", MANY),
        ("adagrad", "l2", 10_000),
        ("inverse", "l2", 10_000),  # of which the core remembers one number only
        pytest.param("adagrad", "l2", MANY, marks=slow),
        pytest.param("constant", "l1", MANY, marks=slow),
        pytest.param("adagrad", "l1", MANY, marks=slow),
        pytest.param("constant", "l2", MANY, marks=slow),
        pytest.param("inverse", "l2", MANY, marks=slow),
    ],
)
def test_debts_are_paid_in_full_over_a_long_run(schedule: str, penalty: str, rows: int) -> None:
    # With features that are seldom seen.
    random = np.random.default_rng(6)
    X = random.normal(size=(rows, 3)) * (random.random((rows, 3)) < [0.5, 0.01, 0.0003])
    y = (X @ [1, -2, 30] + random.normal(size=rows) > 0).astype(int)
    chosen: dict[str, Any] = {
        "rule": "logistic",
        "schedule": schedule,
        "penalty": penalty,
        "eta": 0.5,
        "strength": 1e-3,
    }
    linear = Linear(Settings(**chosen), features=3, classes=2)
    linear.learn(Block.of(X, y))
    oracle = reference.Learner(2, **chosen)
    oracle.learn(
        [({j: v for j, v in enumerate(x) if v}, label, 1) for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    )
    for averaged, expected in ((False, oracle.w), (True, oracle.average())):
        np.testing.assert_allclose(
            linear.weights(averaged).matrix()[:, 0], [expected[1].get(j, 0) for j in range(3)], rtol=1e-7, atol=1e-9
        )
        np.testing.assert_allclose(linear.weights(averaged).bias()[0], expected[1][reference.BIAS], rtol=1e-7)


def test_l1_makes_weights_exactly_zero_and_l2_does_not() -> None:
    random = np.random.default_rng(7)
    X = random.normal(size=(400, 20))
    y = (X[:, 0] + 0.1 * random.normal(size=400) > 0).astype(int)
    zeros = {}
    for penalty in (None, "l1", "l2"):
        linear = Linear(
            Settings(rule="logistic", penalty=penalty, strength=0.3, schedule="sqrt"), features=20, classes=2
        )
        linear.learn(Block.of(X, y))
        zeros[penalty] = int((linear.weights(averaged=False).matrix() == 0).sum())
    assert zeros["l1"] > 10 and zeros["l2"] == zeros[None] == 0
