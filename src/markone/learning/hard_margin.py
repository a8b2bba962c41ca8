"""Hulls: the hard margin in finitely many steps, or a proof that there is none.

A hard margin wants w·z ≥ 1 for every z = y·x (of more than two classes, for every z = (e_y - e_k)⊗x). There is such a w
just where the convex hull of all z does not contain 0. Then the nearest point of the hull to 0 has the direction of the
shortest such w, and its shares of the z are the multipliers but for a factor. Where the point is 0, its shares are the
proof that there is none: by every w the products w·z have a weighted mean of 0, so that some of them is not positive.

Wolfe's algorithm (1976) finds the point. Each step adds the z with the smallest product to those that make up the
point, and goes to the point nearest to 0 that these can make.

What is found goes into model files, so that every product and sum is the core's: NumPy's linear algebra rounds
otherwise in other builds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from markone import _core

NOTHING = 1e-9
"""A point so much shorter than the longest z is 0, as far as can be told."""
MOST_VALUES = 20_000_000
"""The z that make up the point are written out: no more than so many values of all."""
STEPS = 10
"""At most so many for each dimension; then the point is as near as it came."""
DEPENDENT = 1e-14
"""What a z must have of its own, as a share of its length, to be told from a mixture of others."""
UPDATES = 200
"""After so many, what was updated is computed anew, for rounding adds up."""

Array = NDArray[np.float64]
Found = Literal["nearest", "nothing", "unfinished"]
"""The point is the nearest; or 0, as far as can be told; or neither, because steps or memory did not suffice."""


def multipliers_of_hard_margin(solver: _core.Dual) -> Array | None:
    """The best multipliers that were found for a solver with a hard margin; None where it is proved to have none."""
    face = Face(solver)
    return None if come_nearest(face) == "nothing" else face.multipliers()


def come_nearest(
    face: Face, *, nothing: float = NOTHING, near: float = NOTHING, may_go_on: Callable[[], bool] = lambda: True
) -> Found:
    """Takes steps from a face until its point is the nearest to 0, but for a share of `near`."""
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
    """A point of the hull: some z, and its shares of them."""

    def __init__(self, solver: _core.Dual, corners: Iterable[tuple[int, int, float]] = ()) -> None:
        """Begins at a z, or with some that are given: examples, a wrong class for each, and their shares."""
        self.solver = solver
        self._labels = solver.labels()
        weights = np.zeros_like(solver.weights(best=False))
        self._columns = weights.shape[1]
        self.corners: list[tuple[int, int]] = []
        """The number of an example, and a wrong class for it."""
        self._x: list[Array] = []
        self._signs: list[Array] = []
        """What each column has of x: 1 for the right class, -1 for the wrong one."""
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
        """Another z, unless it is a mixture of the others already."""
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
        """In the form of weights."""
        x, factors = np.array(self._x), self.shares[:, None] * np.array(self._signs)
        return np.stack([_core.combine(column.copy(), x) for column in factors.T], axis=1)

    def normal(self) -> Array:
        """The same, found as what has the same product with all z: far more exact where it is short."""
        return self._normal.reshape(-1, self._columns)

    def multipliers(self) -> Array:
        """Those by which the weights have the direction of the point, and the length at which the dual is largest."""
        scale = 1 / square_of(self.point())
        alpha = np.zeros((len(self._labels), self._columns))
        for (example, _), share, signs in zip(self.corners, self.shares, self._signs, strict=True):
            alpha[example] += scale * share * (signs if self._columns > 1 else 1.0)
        return alpha

    def come_nearer(self) -> None:
        """Goes to the nearest point of the face's plane or, where that is outside, to the edge and on from there."""
        while True:
            wanted, shares = self._nearest_of_plane(), self.shares
            if (wanted > 0).all():
                self.shares = wanted
                return
            falling = wanted <= 0
            steps = shares[falling] / np.maximum(shares - wanted, np.finfo(float).tiny)[falling]
            shares = np.maximum(shares + steps.min() * (wanted - shares), 0)
            shares[np.flatnonzero(falling)[steps.argmin()]] = 0
            for i in np.flatnonzero(shares == 0)[::-1]:
                del self.corners[i], self._x[i], self._signs[i]
                self._inverse.remove(int(i))
            shares = shares[shares > 0]
            self.shares = shares / _core.sum(shares)

    def _nearest_of_plane(self) -> Array:
        """The shares, which sum to 1 and may be negative, of the point nearest to 0 on the plane through all z.

        With a 1 above each z, in units of their length, what the z lack of (1, 0, 0 ...) at best is the point, but for
        a factor.
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
        """Another column, unless the others can make it."""
        if not self._add(column):
            return False
        self._columns.push(column)
        self._look_after()
        return True

    def _add(self, column: Array) -> bool:
        rows = self._rows.array
        within = _core.multiply(rows, column)
        rest = column - _core.combine(within, rows)
        more = _core.multiply(rows, rest)  # what rounding has left in it of the others
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
        """Turns the orthonormal rows so that the last is all that this column alone has, and leaves that out."""
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
        self._updates += 1
        if self._updates % UPDATES:
            return
        before = self._rows, self._square
        self._rows, self._square = Stack(self._columns.width), np.zeros((0, 0))
        if not all(self._add(column) for column in self._columns.array):  # rounding has made them dependent
            self._rows, self._square = before

    def best_for_first(self) -> tuple[Array, Array]:
        """How the columns make (1, 0, 0 ...), or what comes nearest to it, and what is then left of it.

        What is left may be far shorter than what it is the difference of, and yet is orthogonal to the columns up to a
        rounding of its own length.
        """
        columns, rows = self._columns.array, self._rows.array
        made = _core.multiply(self._square, rows[:, 0].copy())
        for _ in range(2):
            left = -_core.combine(made, columns)
            left[0] += 1
            made += _core.multiply(self._square, _core.multiply(rows, left))
        for _ in range(2):
            left -= _core.combine(_core.multiply(rows, left), rows)
        return made, left


class Stack:
    """Rows of an array that grows at its end, with room to spare."""

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
    """‖v‖²."""
    return _core.sum((v * v).ravel())
