"""The core against the reference, on random data, in every option."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st

from levels import check_levels
from markone import reference
from markone.data.blocks import Block
from markone.learning.examples import BlockExamples
from markone.learning.online import Linear
from markone.model.rules import ONLINE
from markone.model.settings import Settings


@dataclass
class Data:
    X: np.ndarray
    y: np.ndarray
    importance: np.ndarray
    order: np.ndarray
    classes: int

    def examples(self) -> list[tuple[dict[int, float], int, float]]:
        return [
            (
                {j: float(v) for j, v in enumerate(self.X[i]) if v},
                int(self.y[i]),
                float(self.importance[i]),
            )
            for i in self.order
        ]

    def block(self, kind: str, dtype: Any = np.float64) -> Block:
        matrix = self.X.astype(dtype)
        return Block.of(scipy.sparse.csr_array(matrix) if kind == "sparse" else matrix, self.y, self.importance)


@st.composite
def data(draw: st.DrawFn, whole_numbers: bool = False) -> Data:
    rows = draw(st.integers(1, 20))
    # 1, 2 and 33 are on either side of a register's width
    features = draw(st.sampled_from([1, 2, 3, 5, 9, 17, 33]))
    classes = draw(st.sampled_from([2, 2, 3, 4, 5, 9, 13, 34]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random.integers(-3, 4, (rows, features)) if whole_numbers else random.normal(size=(rows, features))
    X = X * (random.random((rows, features)) < draw(st.sampled_from([0.2, 0.6, 1.0])))
    y = random.integers(0, classes, rows)
    importance = np.ones(rows)
    if draw(st.booleans()):
        importance = random.choice([0, 0.5, 1, 1, 2, 3.25], rows)
    order = np.concatenate([random.permutation(rows) for _ in range(draw(st.integers(1, 3)))])
    return Data(X.astype(float), y, importance, order, classes)


@st.composite
def options(draw: st.DrawFn, rule: str) -> dict[str, Any]:
    chosen: dict[str, Any] = {"rule": rule, "tie": draw(st.sampled_from(["negative", "error", "positive"]))}
    chosen["bias"] = draw(st.booleans())
    if rule == "mira":
        chosen["C"] = draw(st.sampled_from([0.01, 0.3, 1.0, math.inf]))
        chosen["form"] = draw(st.sampled_from(["label", "difference"]))
        chosen["update"] = draw(st.sampled_from(["margin", "mistake"]))
        return chosen
    chosen["eta"] = draw(st.sampled_from([0.25, 1.0, 2.0]))
    chosen["schedule"] = draw(st.sampled_from(["constant", "sqrt", "inverse", "adagrad"]))
    chosen["penalty"] = draw(st.sampled_from([None, "l1", "l2"]))
    chosen["strength"] = draw(st.sampled_from([1e-3, 0.05, 0.8]))
    if rule == "perceptron":
        chosen["form"] = draw(st.sampled_from(["label", "difference"]))
    return chosen


def assert_same_weights(linear: Linear, oracle: reference.Learner, rtol: float) -> None:
    for averaged in (False, True):
        weights = linear.weights(averaged)
        expected = oracle.average() if averaged and oracle.t else oracle.w
        for column, k in enumerate(oracle.moving):
            want = np.array([float(expected[k].get(j, 0)) for j in range(linear.features)])
            np.testing.assert_allclose(weights.matrix()[:, column], want, rtol=rtol, atol=rtol)
            want_bias = float(expected[k].get(reference.BIAS, 0))
            np.testing.assert_allclose(weights.bias()[column], want_bias, rtol=rtol, atol=rtol)


class Nearest:
    """The smallest distance so far. A learner and its copies have the same one."""

    distance: float = math.inf

    def __deepcopy__(self, _: Any) -> Nearest:
        return self


class Careful(reference.Learner):
    """Notes how near a score came to where a rounding error would decide."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.noted = Nearest()
        self.has_moved = False

    @property
    def nearest(self) -> float:
        return self.noted.distance

    def visit(self, x: Any, y: int, h: Any, tally: Any) -> None:
        scores = self.scores(x)
        is_somewhere = any(any(vector.values()) for vector in self.w.values())
        # Weights that an l1 penalty has brought back to 0 may be a rounding error away from it.
        if is_somewhere or (self.has_moved and self.penalty == "l1"):
            top = sorted(s for k, s in enumerate(scores) if k != y)
            distances = [abs(scores[y] - top[-1]), *(abs(top[-1] - s) for s in top[:-1])]
            if self.rule == "hinge":
                distances.append(abs(scores[y] - top[-1] - 1))
            self.noted.distance = min(self.noted.distance, *distances)
        self.has_moved |= is_somewhere
        super().visit(x, y, h, tally)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("rule", ONLINE)
@given(st.data())
def test_every_rule_and_option_is_the_references(rule: str, kind: str, source: st.DataObject) -> None:
    chosen = source.draw(options(rule))
    whole_numbers = rule == "perceptron" and chosen["schedule"] == "constant" and chosen["penalty"] is None
    sample = source.draw(data(whole_numbers=whole_numbers))
    oracle = Careful(sample.classes, **chosen)
    expected = oracle.learn(sample.examples())
    # Where a tie is not exact, either answer would be right.
    assume(whole_numbers or oracle.nearest > 1e-7)

    linear = Linear(Settings(**chosen), features=sample.X.shape[1], classes=sample.classes)
    tally = linear.learn(sample.block(kind), sample.order)

    assert tally.mistakes == expected.mistakes
    if (
        chosen.get("update") != "margin"
    ):  # after a full step of MIRA the margin is 1 but for rounding, and the next step
        # may be one of 1e-16
        assert tally.updates == expected.updates
    assert tally.loss == pytest.approx(float(expected.loss), rel=1e-9, abs=1e-9)
    assert tally.visits == np.count_nonzero(sample.importance[sample.order])
    assert tally.importance == pytest.approx(sample.importance[sample.order].sum())
    assert_same_weights(linear, oracle, rtol=1e-8)
    w = [value for vector in oracle.w.values() for value in vector.values()]
    assert linear.norm2() == pytest.approx(float(sum(v * v for v in w)), rel=1e-8, abs=1e-12)
    if whole_numbers:
        rows = [{j: float(v) for j, v in enumerate(x) if v} for x in sample.X]
        predicted = linear.predict(sample.block(kind).rows, averaged=False)
        assert predicted.tolist() == [oracle.predict(x) for x in rows]


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@given(data(whole_numbers=True))
def test_arithmetic_follows_the_type_of_the_rows(kind: str, sample: Data) -> None:
    # Whole numbers are exact in both types, so the perceptron must be the same to the bit.
    found = []
    for dtype in (np.float32, np.float64):
        linear = Linear(Settings(), features=sample.X.shape[1], classes=sample.classes, dtype=dtype)
        linear.learn(sample.block(kind, dtype), sample.order)
        matrix = linear.weights(False).matrix()
        assert matrix.dtype == dtype
        found.append(matrix)
    np.testing.assert_array_equal(*found)


@given(
    data(), st.sampled_from([*ONLINE]), st.sampled_from([None, "l1", "l2"]), st.sampled_from(["constant", "adagrad"])
)
def test_sparse_and_dense_rows_give_the_same_weights(
    sample: Data, rule: str, penalty: str | None, schedule: str
) -> None:
    chosen: dict[str, Any] = {"rule": rule}
    if rule != "mira":
        chosen |= {"penalty": penalty, "schedule": schedule, "strength": 0.01}
    found = []
    for kind in ("sparse", "dense"):
        linear = Linear(Settings(**chosen), features=sample.X.shape[1], classes=sample.classes)
        linear.learn(sample.block(kind), sample.order)
        found.append((linear.weights(True).matrix(), linear.weights(True).bias()))
    # A zero that a dense row visits changes nothing; only the order of additions differs.
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-7, atol=1e-9)


def assert_same_bits(one: Linear, other: Linear) -> None:
    expected = one.get_state()
    found = other.get_state()
    assert expected.keys() == found.keys()
    for name, array in expected.items():
        assert array.tobytes() == found[name].tobytes(), name


@pytest.mark.parametrize("rule", ONLINE)
@given(st.data())
def test_counts_in_bytes_give_the_same_bits(rule: str, source: st.DataObject) -> None:
    sample, chosen = source.draw(data()), source.draw(options(rule))
    dtype = source.draw(st.sampled_from([np.float32, np.float64]))
    sample.X = np.minimum(abs(sample.X) * source.draw(st.sampled_from([1, 10, 300])) // 1, 255)
    learners, tallies = [], []
    for packed in (False, True):
        linear = Linear(Settings(**chosen), features=sample.X.shape[1], classes=sample.classes, dtype=dtype)
        block = sample.block("sparse", dtype)
        if packed:
            assert block.pack_counts() and block.pack_counts()
        tally = linear.learn(block, sample.order)
        learners.append(linear)
        tallies.append((tally.mistakes, tally.updates, tally.loss, tally.importance))
    assert_same_bits(*learners)
    assert tallies[0] == tallies[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("value", "fits"),
    [(0, True), (255, True), (256, False), (-1, False), (-0.0, False), (0.5, False), (254.99999, False), (3e9, False)],
)
def test_only_whole_numbers_up_to_255_are_packed(value: float, fits: bool, dtype: Any) -> None:
    for rows in (1, 5000):
        values = np.ones(rows * 3, dtype)
        values[-1] = value
        indices, starts = np.tile(np.arange(3), rows), np.arange(0, 3 * rows + 1, 3)
        matrix = scipy.sparse.csr_array((values, indices, starts), (rows, 3))
        block = Block.of(matrix, np.arange(rows) % 2)
        assert block.pack_counts() == fits
        unpacked = Block.of(matrix, np.arange(rows) % 2)
        learners = [Linear(Settings(), features=3, classes=2, dtype=dtype) for _ in range(2)]
        for linear, one in zip(learners, (block, unpacked), strict=True):
            linear.learn(one)
        assert_same_bits(*learners)


def test_dense_rows_are_not_packed() -> None:
    assert not Block.of(np.ones((2, 3)), np.array([0, 1])).pack_counts()


@pytest.mark.parametrize(("epochs", "packed"), [(1, 0), (2, 1)])
def test_counts_are_packed_for_more_than_one_pass(epochs: int, packed: int) -> None:
    calls = []

    class Watched(BlockExamples):
        def pack_counts(self) -> None:
            calls.append(self)

    settings = Settings(epochs=epochs, holdout=0)
    block = Block.of(scipy.sparse.csr_array(np.eye(2)), np.array([0, 1]))
    Linear(settings, features=2, classes=2).begin(Watched(block, settings))
    assert len(calls) == packed


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("lengths", [[0, 1, 7, 8, 9], [5000, 0, 3, 1000, 20, 768]])
def test_an_order_visits_the_rows_as_if_they_were_stored_in_it(lengths: list[int], classes: int) -> None:
    random = np.random.default_rng(3)
    starts = np.concatenate([[0], np.cumsum(lengths * 20)])
    indices = np.concatenate([random.choice(6000, length, replace=False) for length in lengths * 20])
    rows = len(lengths) * 20
    matrix = scipy.sparse.csr_array((random.normal(size=len(indices)), indices, starts), (rows, 6000))
    y, order = random.integers(0, classes, rows), random.permutation(rows)
    learners = [Linear(Settings(rule="mira"), features=6000, classes=classes) for _ in range(2)]
    learners[0].learn(Block.of(matrix, y), order)
    learners[1].learn(Block.of(matrix[order], y[order]))
    assert_same_bits(*learners)


@given(data(), st.sampled_from([None, "l1", "l2"]), st.booleans())
def test_scores_of_a_few_rows_are_the_snapshots_to_the_bit(sample: Data, penalty: str | None, averaged: bool) -> None:
    settings = Settings(rule="logistic", penalty=penalty, strength=0.01)
    linear = Linear(settings, features=sample.X.shape[1], classes=sample.classes)
    block = sample.block("sparse")
    linear.learn(block, sample.order)
    few = linear._learner.scores(block.rows, averaged)
    np.testing.assert_array_equal(few, linear.weights(averaged).scores(block.rows))


def test_the_cpu_levels_give_the_same_bits() -> None:
    program = """
import hashlib, numpy as np, scipy.sparse, itertools
from markone.data.blocks import Block
from markone.learning.online import Linear
from markone.model.rules import ONLINE
from markone.model.settings import Settings
random, digest = np.random.default_rng(5), hashlib.sha256()
for dtype, rule, classes, width in itertools.product((np.float32, np.float64), ONLINE, (2, 3, 10, 37), (45, 101)):
    X = random.normal(size=(60, width)) * (random.random((60, width)) < 0.7)
    y = random.integers(0, classes, 60)
    counts = scipy.sparse.csr_array(abs(X) * 50 // 1)
    for matrix in (X, scipy.sparse.csr_array(X), counts):
        linear = Linear(Settings(rule=rule), features=width, classes=classes, dtype=dtype)
        block = Block.of(matrix.astype(dtype), y)
        assert block.pack_counts() == (matrix is counts)
        tally = linear.learn(block)
        digest.update(linear.weights(True).matrix().tobytes() + linear.scores(block.rows).tobytes())
        digest.update(repr((tally.mistakes, tally.updates, tally.loss)).encode())
print(digest.hexdigest())
"""
    check_levels(program)
