"""The exact decision: a proof that nothing separates, or a plane that does, in whole numbers of any size.

Every float is a whole number times a power of two. A feature may be measured in any unit, so all z become vectors of
whole numbers. Some plane separates just where w·z ≥ 1 can be had for all of them, and of such w one asks for the
smallest w·q, where q is a sum of some z. The dual of this linear program, max Σα with Σ αz = q and α ≥ 0, has a
solution to start from, and it grows without limit just where a sum of z with α ≥ 0 is zero: that is the proof.

The simplex method walks from basis to basis. Each basis has a plane on which its z have the product 1: if all other
products are positive, it separates. Else a z with a product that is not enters the basis. All is kept in whole numbers
over one common denominator (Edmonds 1967, Bareiss 1968), so that there is no rounding, and Bland's rule (1977) takes
over where a step leads nowhere, so that there is no circle.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.theory.certificate import Plane, Proof
from markone.theory.points import Points

Corner = tuple[int, int]
"""A row, and a wrong class for it: what a z is made of."""
Integers = NDArray[Any]
"""Python's whole numbers, in an array of objects."""

EPS = 2.0**-53
TINY = 2.0**-1060


def prove(points: Points, corners: Iterable[Corner], seconds: float = 10.0) -> Proof | None:
    """A proof made of some of these z, on few points; None where they hold none, or where time ran out."""
    corners = list(dict.fromkeys(corners))
    rows = np.unique([row for row, _ in corners])
    number = {int(row): i for i, row in enumerate(rows)}
    here = points.some(rows)
    allowed = np.zeros((len(here), len(points.classes)), bool)
    for row, rival in corners:
        allowed[number[row], rival] = True
    found = Simplex(here, allowed, time.monotonic() + seconds).run()
    return found.of_rows(rows) if isinstance(found, Proof) else None


def decide(points: Points, hint: Iterable[Corner] = (), seconds: float = 10.0) -> Proof | Plane | None:
    """A proof, or a plane that separates; None where it takes longer. `hint`: z that a numeric solver ended with.

    The plane is of fractions. Its margin is not the best.
    """
    allowed = np.ones((len(points), len(points.classes)), bool)
    allowed[np.arange(len(points)), points.truth] = False
    return Simplex(points, allowed, time.monotonic() + seconds).run(hint)


class Whole:
    """The z as vectors of whole numbers, each feature in a unit of its own, which is a power of two."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.width = points.features + points.bias
        self.units = units_of(points.matrix)
        """The power of two of which each feature's values are whole multiples."""

    def z(self, corner: Corner) -> Integers:
        """A block for each class but the first."""
        row, rival = corner
        features, values = self.points.row(row)
        x = np.zeros(self.width, object)
        for feature, value in zip(features.tolist(), values.tolist(), strict=True):
            top, bottom = value.as_integer_ratio()
            x[feature] = (
                (top << -int(self.units[feature])) // bottom
                if self.units[feature] < 0
                else top >> int(self.units[feature])
            )
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
    values = np.asarray(matrix.data if hasattr(matrix, "indptr") else matrix, np.float64)
    mantissas, exponents = np.frexp(values)
    whole = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1 + exponents.astype(np.int64) - 53
    none = np.iinfo(np.int64).max
    lowest = np.where(whole == 0, none, lowest)
    if hasattr(matrix, "indptr"):
        units = np.full(matrix.shape[1], none)
        np.minimum.at(units, matrix.indices, lowest)
    else:
        units = lowest.min(axis=0, initial=none)
    return np.where(units == none, 0, units)


class Products:
    """The products of all z with a vector: in floats, with a bound of the error, to see which ones need a closer look.

    Features are scaled by powers of two, so that the largest value of each is near 1, and nothing is too large.
    """

    def __init__(self, points: Points, allowed: NDArray[np.bool_], units: NDArray[np.int64]) -> None:
        self.points, self.allowed, self.units = points, allowed, units
        sparse = points.is_sparse
        size = abs(points.matrix).max(axis=0)
        size = np.asarray(size.todense() if sparse else size, np.float64).ravel()
        self.tops = np.frexp(size)[1].astype(np.int64)
        if sparse:
            matrix = points.matrix.astype(np.float64)
            matrix.data = np.ldexp(matrix.data, -self.tops[matrix.indices])
        else:
            matrix = np.ldexp(np.asarray(points.matrix, np.float64), -self.tops)
        self.matrix, self.sizes = matrix, abs(matrix)
        self.terms = 2 * (points.features + 4)

    def of(self, w: Integers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rows × classes, and how far each may be off; a positive factor is left out."""
        classes, width = len(self.points.classes), self.points.features + self.points.bias
        blocks = w.reshape(classes - 1, width)
        shifts = np.append(self.tops - self.units, np.zeros(int(self.points.bias), np.int64))
        exponents = np.array([[int(abs(one)).bit_length() for one in block] for block in blocks]) + shifts
        largest = int(exponents[blocks != 0].max()) if (blocks != 0).any() else 0
        v = np.zeros((classes, width))
        for (i, j), one in np.ndenumerate(blocks):
            v[i + 1, j] = scaled(int(one), int(shifts[j]) - largest)
        v, b = v[:, : self.points.features], v[:, self.points.features :].sum(axis=1)
        scores = np.asarray(self.matrix @ v.T) + b
        errors = (np.asarray(self.sizes @ abs(v).T) + abs(b)) * (self.terms * EPS) + TINY
        rows = np.arange(len(self.points))
        right, error = scores[rows, self.points.truth], errors[rows, self.points.truth]
        products, errors = right[:, None] - scores, error[:, None] + errors
        errors += EPS * abs(products)
        products[~self.allowed] = np.inf
        return products, errors


def scaled(whole: int, power: int) -> float:
    """whole · 2^power as the nearest float, or nearly so."""
    extra = max(whole.bit_length() - 64, 0)
    return float(np.ldexp(float(whole >> extra), power + extra))


class Simplex:
    """The walk from basis to basis."""

    def __init__(self, points: Points, allowed: NDArray[np.bool_], deadline: float) -> None:
        self.points, self.deadline = points, deadline
        self.whole = Whole(points)
        self.products = Products(points, allowed, self.whole.units)
        size = points.dimensions
        self.basis: list[Corner | None] = [None] * size
        """None stands for a unit vector, which may have no share: it only fills the place."""
        self.inverse: Integers = np.array([[int(i == j) for j in range(size)] for i in range(size)], object)
        """The inverse of the basis, times the denominator."""
        self.denominator = 1
        self.shares: Integers = np.zeros(size, object)
        """How much of q each z of the basis makes up, times the denominator."""
        self.random = np.random.default_rng(0)
        self.stuck = False

    def run(self, hint: Iterable[Corner] = ()) -> Proof | Plane | None:
        for corner in hint:
            if time.monotonic() > self.deadline:
                return None
            z = self.whole.z(corner)
            if self.plane() @ z <= 0 and (proof := self.enter(corner, z)):
                return proof
        while time.monotonic() < self.deadline:
            w = self.plane()
            entering = self.choose(w)
            if entering is None:
                return self.as_plane(w)
            if proof := self.enter(*entering):
                return proof
        return None

    def plane(self) -> Integers:
        """The w by which the z of the basis have the product 1, times the denominator."""
        real = np.array([corner is not None for corner in self.basis])
        w: Integers = self.inverse[real].sum(axis=0) + np.zeros(len(self.basis), object)
        return w

    def choose(self, w: Integers) -> tuple[Corner, Integers] | None:
        """A z whose product with w is not positive: the smallest product or, after a step to nowhere, the first one."""
        products, errors = self.products.of(w)
        open_ = np.argwhere(products <= errors)
        if not self.stuck:
            open_ = open_[np.argsort(products[tuple(open_.T)], kind="stable")]
        for row, rival in open_.tolist():
            z = self.whole.z((row, rival))
            if w @ z <= 0:
                return (row, rival), z
        return None

    def enter(self, corner: Corner, z: Integers) -> Proof | None:
        """Takes a z into the basis; a proof, if nothing has to leave for it."""
        column = self.inverse @ z
        free = [i for i, one in enumerate(self.basis) if one is None and column[i]]
        if free:
            self.pivot(free[0], corner, column)
            self.shares[free[0]] = int(self.random.integers(1, 1000)) * self.denominator
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
    """Of z with their weights, in the order of the rows, without a common factor."""
    parts = sorted(parts)
    divisor = gcd(*(weight for _, weight in parts))
    rows, rivals = zip(*(corner for corner, _ in parts), strict=True)
    return Proof(rows, rivals, tuple(int(weight // divisor) for _, weight in parts))
