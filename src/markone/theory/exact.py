"""The exact decision: a proof that nothing separates, or a plane that does, in whole numbers of any size.

Every float is a whole number times a power of two, so the vectors z (see `points`) become vectors of whole numbers when
each feature is measured in a suitable unit. A plane w separates if w·z ≥ 1 for all z, after scaling. Among such w, the
linear program looks for the smallest w·q, where q is a sum of some of the z. Its dual is: maximise Σα such that
Σ αz = q and α ≥ 0. We know a solution of the dual to start from. The dual is unbounded exactly if some α ≥ 0, not all
0, give Σ αz = 0, and these α are the proof that nothing separates.

The simplex method moves from basis to basis. For each basis there is a plane that has the product 1 with every z in
it. If its products with all other z are positive, too, it separates. Otherwise a z whose product is not positive enters
the basis. All numbers are whole numbers over one common denominator (Edmonds 1967, Bareiss 1968), so nothing is
rounded. After a step that makes no progress, Bland's rule (1977) chooses the next one, so that the method cannot cycle.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import is_sparse
from markone.theory.claims import Plane, Proof
from markone.theory.cuts import Cuts
from markone.theory.dixon import null_vector
from markone.theory.points import Corner, Points
from markone.theory.products import Products
from markone.theory.verification import least_margin

Integers = NDArray[Any]
"""Python's whole numbers, in an array of objects."""

FEW = 8
"""Up to this many dimensions the whole numbers stay small, and the simplex method needs no starting point."""
MOST_DIMENSIONS = 250
"""In more dimensions, the steps of the simplex method take too long."""
MOST_CORNERS = 1500
MOST_VALUES = 4_000_000
"""With more z, or more values in them, no exact proof is computed from a numeric solution (see `dixon`)."""


def prove(points: Points, corners: Iterable[Corner], seconds: float = 10.0) -> Proof | None:
    """A proof made of some of these z; None if there is none, or if time ran out."""
    chosen = np.array(list(corners), np.int64).reshape(-1, 2)
    if not len(chosen):
        return None
    rows, place = np.unique(chosen[:, 0], return_inverse=True)
    here = points.some(rows).narrowed()
    allowed = np.zeros((len(here), len(points.classes)), bool)
    allowed[place, chosen[:, 1]] = True
    found = Search(here, allowed, time.thread_time() + seconds).run()
    return found.of_rows(rows) if isinstance(found, Proof) else None


def decide(points: Points, hint: Iterable[Corner] = (), seconds: float = 10.0) -> Proof | Plane | None:
    """A proof, or a plane that separates; None if time ran out. `hint` are the z that a numeric solver ended with.

    The plane has floats if floats can separate the points, otherwise fractions. Its margin is not the best. With
    several classes, each pair of classes is looked at first: if two cannot be separated from each other, then all
    cannot, and the proof is short.
    """
    deadline = time.thread_time() + seconds
    classes = len(points.classes)
    for first, second in combinations(range(classes), 2) if classes > 2 else ():
        if time.thread_time() > deadline:
            return None
        pair, rows = points.pair(first, second)
        found = decide(pair, seconds=deadline - time.thread_time())
        if isinstance(found, Proof):
            return found.of_pair(rows, first, second)
    allowed = np.ones((len(points), len(points.classes)), bool)
    allowed[np.arange(len(points)), points.truth] = False
    return Search(points, allowed, deadline).run(hint)


class Search:
    """Tries the quick method first: HiGHS proposes a plane or a few z, and exact arithmetic confirms them. If that
    fails, the simplex method decides."""

    def __init__(self, points: Points, allowed: NDArray[np.bool_], deadline: float) -> None:
        self.points, self.deadline = points, deadline
        self.whole = Whole(points)
        self.products = Products(points, allowed, self.whole.units)

    def run(self, hint: Iterable[Corner] = ()) -> Proof | Plane | None:
        hint = list(hint)
        if self.points.dimensions > FEW:
            found = Cuts(self.points, self.products, self.deadline).run(hint)
            if found.plane is not None and self.holds(found.plane, found.certain):
                return found.plane
            for corners in (found.corners, hint):
                if proof := self.proof_of_all(corners):
                    return proof
            hint = found.corners or hint
        if self.points.dimensions > MOST_DIMENSIONS:
            return None
        return Simplex(self.points, self.whole, self.products, self.deadline).run(hint)

    def holds(self, plane: Plane, certain: bool) -> bool:
        """Whether a plane separates all points. If only some z are allowed, whether these can be separated for
        certain."""
        some_only = np.count_nonzero(self.products.allowed) < len(self.points) * (len(self.points.classes) - 1)
        return certain if some_only else least_margin(self.points, plane) > 0

    def proof_of_all(self, corners: list[Corner]) -> Proof | None:
        """A proof that needs all of these z, if there is one."""
        if not 0 < len(corners) <= MOST_CORNERS or len(corners) * self.points.dimensions > MOST_VALUES:
            return None
        matrix = np.array([self.whole.z(corner) for corner in corners], object).T
        weights = null_vector(matrix[(matrix != 0).any(axis=1)])
        if weights is None or (weights < 0).any():
            return None
        return proof_of([(corner, weight) for corner, weight in zip(corners, weights, strict=True) if weight])


class Whole:
    """The z as vectors of whole numbers. Each feature is measured in a power of two of its own."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.width = points.features + points.bias
        self.units = units_of(points.matrix)
        """For each feature, the exponent of the power of two of which its values are whole multiples."""

    def z(self, corner: Corner) -> Integers:
        """The vector itself: a block for each class but the first."""
        row, rival = corner
        features, values = self.points.row(row)
        x = np.zeros(self.width, object)
        for feature, value in zip(features.tolist(), values.tolist(), strict=True):
            top, bottom = value.as_integer_ratio()
            unit = int(self.units[feature])
            x[feature] = (top << max(-unit, 0)) // bottom >> max(unit, 0)
        if self.points.bias:
            x[-1] = 1
        z = np.zeros((len(self.points.classes) - 1, self.width), object)
        if right := int(self.points.truth[row]):
            z[right - 1] = x
        if rival:
            z[rival - 1] = -x
        return z.ravel()


def units_of(matrix: Any) -> NDArray[np.int64]:
    """For each feature, the largest power of two of which all values are whole multiples; 0 for one that is all 0."""
    values = np.asarray(matrix.data if is_sparse(matrix) else matrix, np.float64)
    mantissas, exponents = np.frexp(values)
    whole = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1 + exponents.astype(np.int64) - 53
    none = np.iinfo(np.int64).max
    lowest = np.where(whole == 0, none, lowest)
    if is_sparse(matrix):
        units = np.full(matrix.shape[1], none)
        np.minimum.at(units, matrix.indices, lowest)
    else:
        units = lowest.min(axis=0, initial=none)
    return np.where(units == none, 0, units)


class Simplex:
    """The simplex method in whole numbers, which moves from basis to basis."""

    def __init__(self, points: Points, whole: Whole, products: Products, deadline: float) -> None:
        self.points, self.whole, self.products, self.deadline = points, whole, products, deadline
        size = points.dimensions
        self.basis: list[Corner | None] = [None] * size
        """None stands for a unit vector, which fills a place until a z takes it, and has no share in q."""
        self.inverse: Integers = np.array([[int(i == j) for j in range(size)] for i in range(size)], object)
        """The inverse of the basis, times the denominator."""
        self.denominator = 1
        self.shares: Integers = np.zeros(size, object)
        """The share of each z of the basis in q, times the denominator."""
        self.random = np.random.default_rng(0)
        self.stuck = False

    def run(self, hint: list[Corner]) -> Proof | Plane | None:
        for corner in hint:
            if time.thread_time() > self.deadline:
                return None
            self.fill(corner, self.inverse @ self.whole.z(corner))
        while time.thread_time() < self.deadline:
            w = self.plane()
            entering = self.choose(w)
            if entering is None:
                return self.as_plane(w)
            if proof := self.enter(*entering):
                return proof
        return None

    def plane(self) -> Integers:
        """The plane that has the product 1 with every z of the basis, times the denominator."""
        real = np.array([corner is not None for corner in self.basis])
        w: Integers = self.inverse[real].sum(axis=0) + np.zeros(len(self.basis), object)
        return w

    def choose(self, w: Integers) -> tuple[Corner, Integers] | None:
        """A z whose product with w is not positive: the one with the smallest product or, after a step without
        progress, the first one (Bland's rule)."""
        products, errors = self.products.of(self.products.floats(w))
        open_ = np.argwhere(products <= errors)
        if not self.stuck:
            open_ = open_[np.argsort(products[tuple(open_.T)], kind="stable")]
        for row, rival in open_.tolist():
            z = self.whole.z((row, rival))
            if w @ z <= 0:
                return (row, rival), z
        return None

    def enter(self, corner: Corner, z: Integers) -> Proof | None:
        """Takes a z into the basis. If no other z has to leave for it, the dual is unbounded, and we have a proof."""
        column = self.inverse @ z
        if self.fill(corner, column):
            self.stuck = False
            return None
        leaving = [i for i, one in enumerate(column) if one > 0]
        if not leaving:
            return self.as_proof(corner, column)
        ratios = {i: Fraction(self.shares[i], column[i]) for i in leaving}
        least = min(ratios.values())
        place = min((self.basis[i], i) for i in leaving if ratios[i] == least)[1]
        self.stuck = least == 0
        self.pivot(place, corner, column)
        return None

    def fill(self, corner: Corner, column: Integers) -> bool:
        """Puts a z in the place of a unit vector, if there is still one that it can replace, and adds the z to q."""
        free = [i for i, one in enumerate(self.basis) if one is None and column[i]]
        if not free:
            return False
        self.pivot(free[0], corner, column)
        self.shares[free[0]] = int(self.random.integers(1, 1000)) * self.denominator
        return True

    def pivot(self, place: int, corner: Corner, column: Integers) -> None:
        divisor = column[place]
        row, share = self.inverse[place], self.shares[place]
        inverse = (divisor * self.inverse - np.outer(column, row)) // self.denominator
        shares = (divisor * self.shares - column * share) // self.denominator
        inverse[place], shares[place] = row, share
        if divisor < 0:
            divisor, inverse, shares = -divisor, -inverse, -shares
        self.inverse, self.shares, self.denominator = inverse, shares, divisor
        self.basis[place] = corner

    def as_proof(self, corner: Corner, column: Integers) -> Proof:
        parts = [(corner, self.denominator)]
        parts += [(one, -share) for one, share in zip(self.basis, column, strict=True) if one is not None and share]
        return proof_of(parts)

    def as_plane(self, w: Integers) -> Plane:
        points = self.points
        blocks = w.reshape(len(points.classes) - 1, -1)
        units = np.array([Fraction(2) ** -int(unit) for unit in self.whole.units], object)
        weights = blocks[:, : points.features] * units + Fraction(0)
        bias = np.array([Fraction(block[-1]) if points.bias else Fraction(0) for block in blocks], object)
        if len(blocks) > 1:
            weights = np.vstack([weights[:1] * 0, weights])
            bias = np.append(bias[:1] * 0, bias)
            weights, bias = weights - weights.sum(axis=0) / len(bias), bias - bias.sum() / len(bias)
        return Plane(weights.T.reshape(points.features, len(bias)), bias)


def proof_of(parts: list[tuple[Corner, int]]) -> Proof:
    """The proof that has these weights, divided by their common factor, in the order of the rows."""
    ordered = sorted((int(row), int(rival), int(weight)) for (row, rival), weight in parts)
    rows, rivals, weights = zip(*ordered, strict=True)
    divisor = gcd(*weights)
    return Proof(rows, rivals, tuple(weight // divisor for weight in weights))
