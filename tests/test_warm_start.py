"""Features and classes may appear at any time; a learner may be stopped, saved and continued."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from markone.data.blocks import Block
from markone.learning.online import Linear
from markone.model.settings import Settings

EVERY_KIND = [
    {"rule": "perceptron"},
    {"rule": "perceptron", "form": "difference", "average": False},
    {"rule": "mira", "C": 0.1},
    {"rule": "mira", "C": 0.1, "update": "mistake", "form": "difference"},
    {"rule": "logistic", "schedule": "adagrad"},
    {"rule": "logistic", "schedule": "adagrad", "penalty": "l2", "strength": 0.01},
    {"rule": "logistic", "schedule": "adagrad", "penalty": "l1", "strength": 0.01},
    {"rule": "hinge", "schedule": "sqrt", "penalty": "l1", "strength": 0.01},
    {"rule": "hinge", "schedule": "inverse", "penalty": "l2", "strength": 0.5, "eta": 2.0},
]


def sample(seed: int, classes: int, features: int = 6, rows: int = 30) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features)) * (random.random((rows, features)) < 0.4)
    return scipy.sparse.csr_array(X), random.integers(0, classes, rows)


def same(a: Linear, b: Linear) -> bool:
    ours, theirs = a.get_state(), b.get_state()
    return ours.keys() == theirs.keys() and all(ours[k].tobytes() == theirs[k].tobytes() for k in ours)


@pytest.mark.parametrize("chosen", EVERY_KIND, ids=str)
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_new_features_start_at_zero(chosen: dict[str, Any], classes: int) -> None:
    X, y = sample(1, classes)
    X = X.tolil()
    X[:15, 4:] = 0
    X = X.tocsr()
    wide = Linear(Settings(**chosen), features=6, classes=classes)
    wide.learn(Block.of(X, y))
    growing = Linear(Settings(**chosen), features=4, classes=classes)
    growing.learn(Block.of(X[:15, :4], y[:15]))
    growing.grow(features=6, classes=classes, places=list(range(classes)))
    growing.learn(Block.of(X[15:], y[15:]))
    for averaged in (False, True) if wide.settings.average else (False,):
        np.testing.assert_array_equal(growing.weights(averaged).matrix(), wide.weights(averaged).matrix())
        np.testing.assert_array_equal(growing.weights(averaged).bias(), wide.weights(averaged).bias())


@pytest.mark.parametrize("chosen", EVERY_KIND, ids=str)
def test_a_new_class_leaves_the_others_where_they_were(chosen: dict[str, Any]) -> None:
    X, y = sample(2, 3)
    linear = Linear(Settings(**chosen), features=6, classes=3)
    linear.learn(Block.of(X, y))
    averages = (False, True) if linear.settings.average else (False,)
    before = {averaged: linear.weights(averaged).matrix() for averaged in averages}
    linear.grow(features=6, classes=5, places=[0, 2, 3])
    for averaged in averages:
        after = linear.weights(averaged).matrix()
        np.testing.assert_allclose(after[:, [0, 2, 3]], before[averaged], rtol=1e-12)
        assert not after[:, [1, 4]].any()
    linear.learn(Block.of(X, np.array([0, 2, 3])[y]))
    linear.learn(Block.of(X, np.full(30, 4)))
    assert linear.weights().matrix()[:, 4].any()


@pytest.mark.parametrize("chosen", EVERY_KIND, ids=str)
def test_two_classes_that_part_keep_the_difference_of_their_scores(chosen: dict[str, Any]) -> None:
    X, y = sample(3, 2)
    linear = Linear(Settings(**chosen), features=6, classes=2)
    linear.learn(Block.of(X, y))
    rows = Block.of(X, y).rows
    before = linear.scores(rows)[:, 0]
    linear.grow(features=6, classes=3, places=[0, 2])
    after = linear.scores(rows)
    np.testing.assert_allclose(after[:, 2] - after[:, 0], before, atol=1e-12)
    assert not after[:, 1].any()


def test_with_one_class_only_time_passes() -> None:
    X, _ = sample(4, 2)
    linear = Linear(Settings(), features=6, classes=1)
    tally = linear.learn(Block.of(X, np.zeros(30, int)))
    assert (tally.visits, tally.updates, tally.mistakes, linear.time) == (30, 0, 0, 30)
    assert not linear.weights().matrix().any()


@pytest.mark.parametrize("chosen", EVERY_KIND, ids=str)
@given(st.integers(0, 29), st.sampled_from([2, 3, 6]), st.sampled_from([np.float32, np.float64]))
def test_going_on_from_saved_state_is_never_having_stopped(
    chosen: dict[str, Any], cut: int, classes: int, dtype: Any
) -> None:
    X, y = sample(5, classes)
    block = Block.of(X.astype(dtype), y)
    order = np.random.default_rng(cut).permutation(30)
    straight = Linear(Settings(**chosen), features=6, classes=classes, dtype=dtype)
    straight.learn(block, order)
    stopped = Linear(Settings(**chosen), features=6, classes=classes, dtype=dtype)
    stopped.learn(block, order[:cut])
    resumed = pickle.loads(pickle.dumps(stopped))
    resumed.learn(block, order[cut:])
    assert same(straight, resumed)


def test_threads_may_learn_and_predict_at_the_same_time() -> None:
    random = np.random.default_rng(7)
    block = Block.of(random.normal(size=(2000, 40)), random.integers(0, 5, 2000))
    linear = Linear(Settings(), features=40, classes=5)
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            linear.predict(block.rows)
            linear.norm2()

    watchers = [threading.Thread(target=watch) for _ in range(3)]
    for thread in watchers:
        thread.start()
    try:
        for _ in range(30):
            linear.learn(block)
    finally:
        stop.set()
        for thread in watchers:
            thread.join()
    alone = Linear(Settings(), features=40, classes=5)
    for _ in range(30):
        alone.learn(block)
    assert same(linear, alone)
    np.testing.assert_array_equal(linear.weights().matrix(), alone.weights().matrix())


@pytest.mark.parametrize("damage", ["v", "u", "settled", "owed_asked", "clocks"])
def test_a_damaged_state_is_refused(damage: str) -> None:
    settings = Settings(rule="hinge", penalty="l1", strength=0.1)
    X, y = sample(6, 3)
    linear = Linear(settings, features=6, classes=3)
    linear.learn(Block.of(X, y))
    state = linear.get_state()
    state[damage] = state[damage][:-1]
    with pytest.raises(ValueError, match="state"):
        Linear(settings, features=6, classes=3).set_state(state)


def test_a_state_that_names_a_moment_that_never_was_is_refused() -> None:
    settings = Settings(rule="hinge", penalty="l1", strength=0.1)
    linear = Linear(settings, features=6, classes=3)
    state = linear.get_state()
    state["settled"] = np.full(6, 999, np.uint32)
    with pytest.raises(ValueError, match="never was"):
        linear.set_state(state)


@pytest.mark.parametrize(
    ("features", "classes", "places"),
    [(5, 3, [0, 1, 2]), (6, 2, [0, 1]), (6, 4, [0, 1]), (6, 4, [0, 1, 1]), (6, 4, [0, 1, 9])],
)
def test_growth_that_makes_no_sense_is_refused(features: int, classes: int, places: list[int]) -> None:
    linear = Linear(Settings(), features=6, classes=3)
    with pytest.raises(ValueError, match="shrink|place"):
        linear.grow(features=features, classes=classes, places=places)
