"""Quick proofs: equal rows of different classes, and rows that cannot be in a proof because of the signs of their
values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import is_sparse
from markone.theory.claims import Proof
from markone.theory.points import Points

ROWS_AT_ONCE = 2**16
ROUNDS = 50
"""The largest number of rounds that compare signs. More rounds would rule out few further rows."""


def find_opposites(points: Points) -> Proof | None:
    """A proof that needs no search: without a bias, a row of zeros; or two equal rows of different classes."""
    starts = range(0, len(points), ROWS_AT_ONCE)
    hashes = np.concatenate([hash_rows(points.matrix[start : start + ROWS_AT_ONCE]) for start in starts])
    if not points.bias:
        for row in np.flatnonzero(hashes == 0).tolist():
            if not len(points.row(row)[0]):
                return Proof((row,), (0 if points.truth[row] else 1,), (1,))
    order = np.argsort(hashes, kind="stable")
    groups = np.flatnonzero(np.diff(hashes[order], prepend=hashes[order[:1]] + np.uint64(1)))
    classes = points.truth[order]
    mixed = np.minimum.reduceat(classes, groups) < np.maximum.reduceat(classes, groups)
    ends = np.append(groups[1:], len(order))
    for start, end in zip(groups[mixed].tolist(), ends[mixed].tolist(), strict=True):
        if proof := opposites_among(points, order[start:end].tolist()):
            return proof
    return None


def opposites_among(points: Points, rows: list[int]) -> Proof | None:
    """The same proof, among rows that have the same hash."""
    met: dict[bytes, int] = {}
    for row in rows:
        features, values = points.row(row)
        place = np.argsort(features)
        other = met.setdefault(features[place].tobytes() + values[place].tobytes(), row)
        right, wrong = int(points.truth[row]), int(points.truth[other])
        if right != wrong:
            return Proof((other, row), (right, wrong), (1, 1))
    return None


def hash_rows(matrix: Any) -> NDArray[np.uint64]:
    """A hash of each row, the same for equal rows with any order of their features; 0 for a row of zeros."""
    odd = np.random.default_rng(0).integers(1, 2**64, matrix.shape[1] + 1, np.uint64) | np.uint64(1)
    sparse = is_sparse(matrix)
    bits = (np.asarray(matrix.data if sparse else matrix, np.float64) + 0.0).view(np.uint64)  # adding 0 turns -0 into 0
    bits = (bits ^ (bits >> np.uint64(32))) * odd[-1]
    products = (bits ^ (bits >> np.uint64(29))) * (odd[matrix.indices] if sparse else odd[:-1])
    if not sparse:
        return np.asarray(products.sum(axis=1, dtype=np.uint64))
    sums = np.append(np.zeros(1, np.uint64), np.cumsum(products, dtype=np.uint64))
    return np.asarray(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]])


# ---- signs


def contested(points: Points) -> NDArray[np.bool_]:
    """Which z (see `points`) can be part of a proof: rows × classes, true for the wrong classes that are left.

    The z of a proof sum to zero. So if a feature has the same sign in all z that are left, those in which it is not 0
    cannot be part of a proof, and are ruled out. That may leave further features with one sign only. If no z is left,
    the classes can be separated.
    """
    left = np.ones((len(points), len(points.classes)), bool)
    left[np.arange(len(points)), points.truth] = False
    signs = Signs(points)
    for _ in range(ROUNDS):
        before = np.count_nonzero(left)
        for column in range(1 if len(points.classes) == 2 else 0, len(points.classes)):
            sides = np.where(points.truth == column, left.any(axis=1), -left[:, column].astype(np.int8)).astype(np.int8)
            out = signs.uncontested(sides)
            left[out & (sides > 0)] = False
            left[out & (sides < 0), column] = False
        if np.count_nonzero(left) in (0, before):
            break
    return left


class Signs:
    """The signs of all values that are not zero."""

    def __init__(self, points: Points) -> None:
        self.points = points
        if points.is_sparse:
            kept = points.matrix.data != 0
            self.features = points.matrix.indices[kept]
            self.rows = np.repeat(np.arange(len(points), dtype=np.int32), np.diff(points.matrix.indptr))[kept]
            self.signs = np.sign(points.matrix.data[kept]).astype(np.int8)

    def uncontested(self, sides: NDArray[np.int8]) -> NDArray[np.bool_]:
        """The rows that are ruled out. `sides` is the sign with which each row counts in a block of the z, 0 if it does
        not; a row is ruled out by a feature that has only one sign after multiplication with the sides."""
        here: NDArray[np.bool_] = sides != 0
        if self.points.bias and (sides > 0).any() != (sides < 0).any():
            return here
        out = np.zeros(len(sides), bool)
        if self.points.is_sparse:
            products = self.signs * sides[self.rows]
            one_sided = self._met(products > 0) != self._met(products < 0)
            out[self.rows[one_sided[self.features]]] = True
        else:
            above, below = self.points.matrix[sides > 0], self.points.matrix[sides < 0]
            positive = (above > 0).any(axis=0) | (below < 0).any(axis=0)
            negative = (above < 0).any(axis=0) | (below > 0).any(axis=0)
            out |= (self.points.matrix[:, positive != negative] != 0).any(axis=1)
        out &= here
        return out

    def _met(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        met = np.zeros(self.points.features, bool)
        met[self.features[which]] = True
        return met
