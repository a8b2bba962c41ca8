"""Finds the hard margin in finitely many steps, or proves that there is none.

A hard margin requires w·z ≥ 1 for every z = y·x (with more than two classes, for every z = (e_y - e_k)⊗x). Such a w
exists if and only if the convex hull of all z does not contain 0. Then the point of the hull that is nearest to 0 has
the direction of the shortest such w, and its convex coefficients (`shares`) are proportional to the multipliers. If the
point is 0, its coefficients prove that there is no such w: for every w, the products w·z have a weighted mean of 0, so
at least one of them is not positive.

Wolfe's algorithm (1976) finds the point. Each step adds the z with the smallest product to the corners of the point,
and moves to the point nearest to 0 in the convex hull of the corners.

The results are saved in model files, so all products and sums are computed by the core: other builds of NumPy's linear
algebra round differently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from markone import _core

NOTHING = 1e-9
"""A point is regarded as 0 if its length is at most this share of the longest z."""
MOST_VALUES = 20_000_000
"""The largest number of values in all corners, which are stored as dense vectors."""
STEPS = 10
"""The largest number of steps for each dimension."""
DEPENDENT = 1e-14
"""A z is regarded as a linear combination of others if the rest is at most this share of its length."""
UPDATES = 200
"""After this number of updates, the inverse is computed again, because rounding errors accumulate."""

Array = NDArray[np.float64]
Found = Literal["nearest", "nothing", "unfinished"]
"""The point is the nearest; it is 0 within rounding errors; or the limits of steps or memory were reached."""


def multipliers_of_hard_margin(solver: _core.Dual) -> Array | None:
    """Return the best multipliers for a solver with a hard margin, or None if it is proved that there is none."""
    face = Face(solver)
    return None if come_nearest(face) == "nothing" else face.multipliers()


def come_nearest(
    face: Face, *, nothing: float = NOTHING, near: float = NOTHING, may_go_on: Callable[[], bool] = lambda: True
) -> Found:
    """Take steps until the point of a face is the nearest to 0, up to a relative error of `near`."""
    dimensions = face.normal().size
    before = np.inf
    for _ in range(STEPS * dimensions + len(face.corners)):
        normal = face.normal()
        distance2 = square_of(normal)
        if distance2 <= (nothing * face.longest) ** 2:
            return "nothing"
        product, example, rival = face.solver.narrow(normal)
        if product >= distance2 * (1 - near):
            return "nearest"
        if distance2 >= before or not may_go_on() or (len(face.corners) + 1) * dimensions > MOST_VALUES:
            return "unfinished"
        before = distance2
        if (example, rival) in face.corners or not face.add(example, rival):
            return "unfinished"
        face.come_nearer()
    return "unfinished"


class Face:
    """A point of the hull: some corners z, and their convex coefficients."""

    def __init__(self, solver: _core.Dual, corners: Iterable[tuple[int, int, float]] = ()) -> None:
        """Start at one z, or at given corners: examples, a wrong class for each, and their coefficients."""
        self.solver = solver
        self._labels = solver.labels()
        weights = np.zeros_like(solver.weights(best=False))
        self._columns = weights.shape[1]
        self.corners: list[tuple[int, int]] = []
        """The number of an example, and a wrong class for it."""
        self._x: list[Array] = []
        self._signs: list[Array] = []
        """The factor of x in each column: 1 for the right class, -1 for the wrong class."""
        self._unit = float(np.sqrt(solver.typical2)) or 1.0
        self._inverse = Inverse(weights.size + 1)
        self._normal = weights.ravel()
        self.shares = np.zeros(0)
        self.longest = 0.0
        for example, rival, share in corners:
            self.add(example, rival, share)
        if not self.corners:
            self.add(*solver.narrow(weights)[1:], 1.0)
        self.shares /= _core.sum(self.shares)
        self.come_nearer()

    def add(self, example: int, rival: int, share: float = 0.0) -> bool:
        """Add a z, and return True, unless it is a linear combination of the others."""
        signs, right = np.zeros(self._columns), int(self._labels[example])
        if self._columns == 1:
            signs[0] = 1 if right == 1 else -1
        else:
            signs[right], signs[rival] = 1, -1
        x = self.solver.write(example)
        if not self._inverse.add(np.append(self._unit, np.outer(x, signs))):
            return False
        self.corners.append((example, rival))
        self._x.append(x)
        self._signs.append(signs)
        self.shares = np.append(self.shares, share)
        self.longest = max(self.longest, math.sqrt(square_of(x) * square_of(signs)))
        return True

    def point(self) -> Array:
        """Return the point in the shape of weights."""
        x, factors = np.array(self._x), self.shares[:, None] * np.array(self._signs)
        return np.stack([_core.combine(column.copy(), x) for column in factors.T], axis=1)

    def normal(self) -> Array:
        """Return the point, computed as the vector with equal products with all z. It is more exact if it is short."""
        return self._normal.reshape(-1, self._columns)

    def multipliers(self) -> Array:
        """Return the multipliers of weights in the direction of the point, with the length that maximises the dual."""
        scale = 1 / square_of(self.point())
        alpha = np.zeros((len(self._labels), self._columns))
        for (example, _), share, signs in zip(self.corners, self.shares, self._signs, strict=True):
            alpha[example] += scale * share * (signs if self._columns > 1 else 1.0)
        return alpha

    def come_nearer(self) -> None:
        """Move to the nearest point of the face's plane. If that is outside, remove the corners on the way."""
        while True:
            target, shares = self._nearest_of_plane(), self.shares
            if (target > 0).all():
                self.shares = target
                return
            falling = target <= 0
            steps = shares[falling] / np.maximum(shares - target, np.finfo(float).tiny)[falling]
            shares = np.maximum(shares + steps.min() * (target - shares), 0)
            shares[np.flatnonzero(falling)[steps.argmin()]] = 0
            for i in np.flatnonzero(shares == 0)[::-1]:
                del self.corners[i], self._x[i], self._signs[i]
                self._inverse.remove(int(i))
            shares = shares[shares > 0]
            self.shares = shares / _core.sum(shares)

    def _nearest_of_plane(self) -> Array:
        """Return the coefficients of the point nearest to 0 on the plane through all z.

        They sum to 1 and may be negative. Each z gets a first component of 1, in units of their length. The residual of
        the best approximation of (1, 0, 0 ...) by these vectors is then proportional to the point.
        """
        shares, left = self._inverse.best_for_first()
        total = _core.sum(shares)
        self._normal = left[1:] / -total
        return shares / total


class Inverse:
    """The pseudo-inverse of a matrix that gains and loses columns, as a square matrix times orthonormal rows."""

    def __init__(self, dimensions: int) -> None:
        self._columns = Stack(dimensions)
        self._rows = Stack(dimensions)
        self._square = np.zeros((0, 0))
        self._updates = 0

    def add(self, column: Array) -> bool:
        """Add a column, and return True, unless it is a linear combination of the others."""
        if not self._add(column):
            return False
        self._columns.push(column)
        self._look_after()
        return True

    def _add(self, column: Array) -> bool:
        rows = self._rows.array
        within = _core.multiply(rows, column)
        rest = column - _core.combine(within, rows)
        more = _core.multiply(rows, rest)  # a second projection removes rounding errors
        rest -= _core.combine(more, rows)
        length = math.sqrt(square_of(rest))
        if length <= DEPENDENT * math.sqrt(square_of(column)):
            return False
        size = len(within)
        square = np.zeros((size + 1, size + 1))
        square[:size, :size] = self._square
        square[:size, size] = _core.multiply(self._square, within + more) / -length
        square[size, size] = 1 / length
        self._square = square
        self._rows.push(rest / length)
        return True

    def remove(self, number: int) -> None:
        """Remove a column: rotate the orthonormal rows so that only the last depends on it, and drop that row."""
        self._columns.remove(number)
        mirror = self._square[number] / math.sqrt(square_of(self._square[number]))
        mirror[-1] += 1.0 if mirror[-1] >= 0 else -1.0
        factor = 2 / square_of(mirror)
        rows = self._rows.array
        rows -= np.outer(factor * mirror, _core.combine(mirror, rows))
        self._rows.remove(len(rows) - 1)
        square = np.delete(self._square, number, axis=0)
        square -= np.outer(_core.multiply(square, mirror), factor * mirror)
        self._square = np.ascontiguousarray(square[:, :-1])
        self._look_after()

    def _look_after(self) -> None:
        """Compute the inverse again after many updates."""
        self._updates += 1
        if self._updates % UPDATES:
            return
        before = self._rows, self._square
        self._rows, self._square = Stack(self._columns.width), np.zeros((0, 0))
        if not all(self._add(column) for column in self._columns.array):  # by rounding, they are now dependent
            self._rows, self._square = before

    def best_for_first(self) -> tuple[Array, Array]:
        """Return the coefficients of the columns that approximate (1, 0, 0 ...) best, and the residual.

        The residual may be much shorter than the vectors whose difference it is. It is still orthogonal to the columns,
        with an error that is relative to its own length.
        """
        columns, rows = self._columns.array, self._rows.array
        factors = _core.multiply(self._square, rows[:, 0].copy())
        for _ in range(2):
            left = -_core.combine(factors, columns)
            left[0] += 1
            factors += _core.multiply(self._square, _core.multiply(rows, left))
        for _ in range(2):
            left -= _core.combine(_core.multiply(rows, left), rows)
        return factors, left


class Stack:
    """Rows of an array that grows at its end, with spare capacity."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._room = np.zeros((8, width))
        self._size = 0

    @property
    def array(self) -> Array:
        return self._room[: self._size]

    def push(self, row: Array) -> None:
        if self._size == len(self._room):
            self._room = np.concatenate([self._room, np.zeros_like(self._room)])
        self._room[self._size] = row
        self._size += 1

    def remove(self, number: int) -> None:
        self._room[number : self._size - 1] = self._room[number + 1 : self._size]
        self._size -= 1


def square_of(v: Array) -> float:
    """Return ‖v‖²."""
    return _core.sum((v * v).ravel())
