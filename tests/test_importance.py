"""What it means that an example counts more than another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markone.data.blocks import Block
from markone.learning.online import Linear
from markone.model.rules import ONLINE
from markone.model.settings import Settings


def sample(seed: int, classes: int, rows: int = 15) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return (
        random.integers(-3, 4, (rows, 4)).astype(float),
        random.integers(0, classes, rows),
        random.integers(0, 4, rows).astype(float),
    )


def learn(settings: Settings, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, classes: int) -> Linear:
    linear = Linear(settings, features=X.shape[1], classes=classes)
    linear.learn(Block.of(X, y, weights))
    return linear


def everything(linear: Linear) -> list[bytes]:
    return [
        a.tobytes()
        for averaged in (False, True)
        for a in (linear.weights(averaged).matrix(), linear.weights(averaged).bias())
    ]


@given(
    st.integers(0, 10**6), st.sampled_from([2, 3, 6]), st.sampled_from([*ONLINE]), st.sampled_from([None, "l1", "l2"])
)
def test_weight_zero_is_absence(seed: int, classes: int, rule: str, penalty: str | None) -> None:
    X, y, weights = sample(seed, classes)
    settings = Settings(rule=rule, penalty=None if rule == "mira" else penalty)
    present = weights > 0
    if not present.any():
        return
    whole = learn(settings, X, y, weights, classes)
    absent = learn(settings, X[present], y[present], weights[present], classes)
    assert everything(whole) == everything(absent)


@pytest.mark.parametrize("form", ["label", "difference"])
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 6]), st.sampled_from(["negative", "error", "positive"]))
def test_weight_k_is_k_repeats_in_place_for_the_perceptron(form: str, seed: int, classes: int, tie: str) -> None:
    X, y, weights = sample(seed, classes)
    if weights.sum() == 0:
        return
    settings = Settings(tie=tie, form=form)
    weighted = learn(settings, X, y, weights, classes)
    times = weights.astype(int)
    repeated = learn(settings, np.repeat(X, times, axis=0), np.repeat(y, times), None, classes)
    assert everything(weighted) == everything(repeated)
    assert weighted.time == repeated.time == weights.sum()


@given(st.integers(0, 10**6))
def test_weight_k_is_k_repeats_in_place_for_mira(seed: int) -> None:
    X, y, weights = sample(seed, 2)
    settings = Settings(rule="mira", C=0.05, average=False)
    times = weights.astype(int)
    if times.sum() == 0:
        return
    weighted = learn(settings, X, y, weights, 2)
    repeated = learn(settings, np.repeat(X, times, axis=0), np.repeat(y, times), None, 2)
    np.testing.assert_allclose(weighted.weights().matrix(), repeated.weights().matrix(), atol=1e-12)


@pytest.mark.parametrize("rule", ["mira", "logistic", "hinge"])
def test_a_heavier_example_is_heeded_more(rule: str) -> None:
    X, y = np.array([[1.0, 0.2], [1.0, -0.2]]), np.array([1, 0])
    chosen: dict[str, Any] = {"C": 0.01} if rule == "mira" else {"eta": 0.01}
    scores = []
    for weight in (1.0, 3.0):
        linear = learn(
            Settings(rule=rule, average=False, **chosen), X[::-1].copy(), y[::-1].copy(), np.array([1.0, weight]), 2
        )
        scores.append(linear.scores(Block.of(X, y).rows)[0, 0])
    assert scores[1] > scores[0]
