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


class Careful(reference.Learner):
    """Notes how near a score came to where a rounding error would decide."""

    nearest: float = math.inf

    def visit(self, x: Any, y: int, h: Any, tally: Any) -> None:
        scores = self.scores(x)
        if any(any(vector.values()) for vector in self.w.values()):
            top = sorted(s for k, s in enumerate(scores) if k != y)
            self.nearest = min(self.nearest, abs(scores[y] - top[-1]), *(abs(top[-1] - s) for s in top[:-1]))
            if self.rule == "hinge":
                self.nearest = min(self.nearest, abs(scores[y] - top[-1] - 1))
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
    for matrix in (X, scipy.sparse.csr_array(X)):
        linear = Linear(Settings(rule=rule), features=width, classes=classes, dtype=dtype)
        block = Block.of(matrix.astype(dtype), y)
        tally = linear.learn(block)
        digest.update(linear.weights(True).matrix().tobytes() + linear.scores(block.rows).tobytes())
        digest.update(repr((tally.mistakes, tally.updates, tally.loss)).encode())
print(digest.hexdigest())
"""
    check_levels(program)
