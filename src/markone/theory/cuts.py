"""Cuts: linear programming in floats finds a plane that separates, or a few z that may be a proof that none does.

HiGHS maximises the smallest product w·z/|z|, with weights between -1 and 1. It starts with some of the z (see
`points`). In each round the z that its plane has on the wrong side are added, until there are none, or until no plane
is left. In the second case the dual solution names a few z whose hull contains 0, as far as floats can tell.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.theory.claims import Plane
from markone.theory.points import Corner, Points
from markone.theory.products import Products

NOTHING = 1e-9
"""A margin that is not larger than this counts as none."""
FEWEST = 500
"""The first round has at least this number of z, and at least four for each dimension."""
MANY = 200
"""In more dimensions the interior-point method is quicker than the simplex method."""
SEED = 0


@dataclass(frozen=True)
class Found:
    corners: list[Corner] = field(default_factory=list)
    """The z that have a share in the dual solution."""
    plane: Plane | None = None
    """One that separates, as far as floats can tell."""
    certain: bool = False
    """Whether it is certain that some plane separates all allowed z. That plane may differ from `plane` by rounding."""


class Cuts:
    """Rounds of HiGHS with ever more z."""

    def __init__(self, points: Points, products: Products, deadline: float) -> None:
        self.points, self.products, self.deadline = points, products, deadline

    def run(self, hint: list[Corner]) -> Found:
        working = self.first(hint)
        found = Found()
        while (left := self.deadline - time.thread_time()) > 0:
            solved = self.solve(working, left)
            if solved is None:
                break
            margin, blocks, found = solved
            if margin <= NOTHING:
                return found
            products, errors = self.products.of(blocks)
            if products.min() > 0:
                return Found(found.corners, self.plane(blocks), bool((products > errors).all()))
            products[tuple(np.array(working).T)] = np.inf
            if products.min() > 0:  # HiGHS was inaccurate: some z are on the wrong side despite its constraints
                break
            # Those that are nearly on the wrong side would come next. Adding them now saves a few rounds.
            lowest = np.argsort(products, axis=None, kind="stable")[: max(100, self.points.dimensions)]
            rows, rivals = np.unravel_index(lowest[np.isfinite(products.ravel()[lowest])], products.shape)
            working += list(zip(rows.tolist(), rivals.tolist(), strict=True))
        return found

    def first(self, hint: list[Corner]) -> list[Corner]:
        """All z if they are few, otherwise the hint and some chosen at random."""
        every = np.argwhere(self.products.allowed)
        count = max(FEWEST, 4 * self.points.dimensions)
        if len(every) > count:
            every = np.random.default_rng(SEED).choice(every, count, replace=False)
        return list(dict.fromkeys([*hint, *((row, rival) for row, rival in every.tolist())]))

    def solve(self, working: list[Corner], seconds: float) -> tuple[float, NDArray[np.float64], Found] | None:
        """The widest margin of some z, the weights in blocks, and the z of the dual solution; None if HiGHS found
        none."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix, hstack

        z = self.matrix_of(working)
        size = z.shape[1]
        system: Any = hstack([-z, csr_matrix(np.ones((len(working), 1)))]).tocsr()
        goal = np.append(np.zeros(size), -1.0)
        bounds = [(-1.0, 1.0)] * size + [(0.0, np.inf)]
        method: Any = "highs-ipm" if size > MANY else "highs"
        result: Any = linprog(
            goal, system, np.zeros(len(working)), bounds=bounds, method=method, options={"time_limit": seconds}
        )
        if result.status != 0:
            return None
        shares = -result.ineqlin.marginals
        corners = [working[i] for i in np.flatnonzero(shares > NOTHING * shares.max(initial=0)).tolist()]
        return float(result.x[-1]), result.x[:-1].reshape(len(self.points.classes) - 1, -1), Found(corners)

    def matrix_of(self, corners: list[Corner]) -> Any:
        """The z of scaled features, all of length 1."""
        from scipy.sparse import csr_matrix, diags, hstack

        rows, rivals = np.array(corners, np.int64).T
        x: Any = csr_matrix(self.products.matrix[rows])
        if self.points.bias:
            x = hstack([x, csr_matrix(np.ones((len(rows), 1)))]).tocsr()
        lengths = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
        x = diags(1 / np.where(lengths > 0, lengths, 1)) @ x
        right = self.points.truth[rows]
        signs = [(right == column) * 1.0 - (rivals == column) for column in range(1, len(self.points.classes))]
        blocks: Any = [diags(sign) @ x for sign in signs]
        return hstack(blocks).tocsr()

    def plane(self, blocks: NDArray[np.float64]) -> Plane:
        """The plane in the units of the features."""
        features = self.points.features
        weights, bias = np.ldexp(blocks[:, :features], -self.products.tops), blocks[:, features:].sum(axis=1)
        if len(bias) > 1:
            weights, bias = np.vstack([weights[:1] * 0, weights]), np.append(0.0, bias)
            weights, bias = weights - weights.mean(axis=0), bias - bias.mean()
        return Plane(np.ascontiguousarray(weights.T), bias)
