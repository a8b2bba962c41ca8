"""Hulls: the hard margin in finitely many steps, or a proof that there is none.

A hard margin wants w·z ≥ 1 for every z = y·x (of more than two classes, for every z = (e_y - e_k)⊗x). There is such a w
just where the convex hull of all z does not contain 0. Then the nearest point of the hull to 0 has the direction of the
shortest such w, and its shares of the z are the multipliers but for a factor. Where the point is 0, its shares are the
proof that there is none: by every w the products w·z have a weighted mean of 0, so that some of them is not positive.

Wolfe's algorithm (1976) finds the point. Each step adds the z with the smallest product to those that make up the
point, and goes to the point nearest to 0 that these can make.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from markone import _core

NOTHING = 1e-9
"""A point so much shorter than the longest z is 0, as far as can be told."""
MOST_VALUES = 20_000_000
"""The z that make up the point are written out: no more than so many values of all."""
STEPS = 10
"""At most so many for each dimension; then the point is as near as it came."""

Array = NDArray[np.float64]


def multipliers_of_hard_margin(solver: _core.Dual) -> Array | None:
    """The best multipliers that were found for a solver with a hard margin; None where it is proved to have none."""
    face = Face(solver)
    dimensions = face.point().size
    for _ in range(STEPS * dimensions):
        point = face.point()
        distance2 = float((point * point).sum())
        if distance2 <= (NOTHING * face.longest) ** 2:
            return None
        product, example, rival = solver.narrow(point)
        nearest = product >= distance2 * (1 - NOTHING)
        if nearest or (example, rival) in face.corners or (len(face.corners) + 1) * dimensions > MOST_VALUES:
            break
        face.add(example, rival)
        face.come_nearer()
    return face.multipliers()


class Face:
    """A point of the hull: some z, and its shares of them."""

    def __init__(self, solver: _core.Dual) -> None:
        self._solver = solver
        self._labels = solver.labels()
        weights = np.zeros_like(solver.weights(best=False))
        self._columns = weights.shape[1]
        self.corners: list[tuple[int, int]] = []
        """The number of an example, and a wrong class for it."""
        self._x: list[Array] = []
        self._signs: list[Array] = []
        """What each column has of x: 1 for the right class, -1 for the wrong one."""
        self._products = np.zeros((0, 0))
        self._shares = np.zeros(0)
        self.longest = 0.0
        self.add(*solver.narrow(weights)[1:])

    def add(self, example: int, rival: int) -> None:
        """Another z, with a share of 0 unless it is the first."""
        signs, right = np.zeros(self._columns), int(self._labels[example])
        if self._columns == 1:
            signs[0] = 1 if right == 1 else -1
        else:
            signs[right], signs[rival] = 1, -1
        self.corners.append((example, rival))
        self._x.append(self._solver.write(example))
        self._signs.append(signs)
        row = (np.array(self._x) @ self._x[-1]) * (np.array(self._signs) @ signs)
        self._products = np.block([[self._products, row[:-1, None]], [row[None, :-1], row[-1:, None]]])
        self._shares = np.append(self._shares, float(len(self.corners) == 1))
        self.longest = max(self.longest, float(np.sqrt(row[-1])))

    def point(self) -> Array:
        """In the form of weights."""
        return np.array(self._x).T @ (self._shares[:, None] * np.array(self._signs))

    def multipliers(self) -> Array:
        """Those by which the weights have the direction of the point, and the length at which the dual is largest."""
        scale = 1 / float(self._shares @ self._products @ self._shares)
        alpha = np.zeros((len(self._labels), self._columns))
        for (example, _), share, signs in zip(self.corners, self._shares, self._signs, strict=True):
            alpha[example] += scale * share * (signs if self._columns > 1 else 1.0)
        return alpha

    def come_nearer(self) -> None:
        """Goes to the nearest point of the face's plane or, where that is outside, to the edge and on from there."""
        while True:
            wanted, shares = nearest_of_plane(self._products), self._shares
            if (wanted > 0).all():
                self._shares = wanted
                return
            falling = wanted <= 0
            steps = shares[falling] / np.maximum(shares - wanted, np.finfo(float).tiny)[falling]
            shares = np.maximum(shares + steps.min() * (wanted - shares), 0)
            shares[np.flatnonzero(falling)[steps.argmin()]] = 0
            self._keep(np.flatnonzero(shares), shares)

    def _keep(self, which: NDArray[np.int64], shares: Array) -> None:
        self.corners = [self.corners[i] for i in which]
        self._x = [self._x[i] for i in which]
        self._signs = [self._signs[i] for i in which]
        self._products = self._products[np.ix_(which, which)]
        self._shares = shares[which] / shares[which].sum()


def nearest_of_plane(products: Array) -> Array:
    """The shares, which sum to 1 and may be negative, of the point nearest to 0 on the plane through some points."""
    size = len(products)
    system = np.ones((size + 1, size + 1))
    system[0, 0] = 0
    system[1:, 1:] = products / (np.trace(products) / size or 1.0)
    wanted = np.eye(size + 1)[0]
    try:
        shares: Array = np.linalg.solve(system, wanted)[1:]
    except np.linalg.LinAlgError:
        shares = np.linalg.lstsq(system, wanted, rcond=None)[0][1:]
    return shares
