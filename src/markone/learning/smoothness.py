"""The penalty that keeps curves smooth: it grows with the differences of neighbouring weights.

The weights of a curve's intervals are a chain. Its penalty is λ/2 Σ (w[i-1] - 2 w[i] + w[i+1])², the squares of second
differences, which are 0 for a straight line. The weights of a pair of columns are a grid. Its penalty is λ/2 Σ (w -
w')² over neighbours along each column of numbers, and 0 if all weights are equal; categories have no neighbours. Both
are divided by the sum of the importance of the rows, as the mean loss is, so that the same λ allows more bends if there
are more rows (Eilers & Marx 1996).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from markone.features.part import Neighbours

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Smoothness:
    """The penalties of all chains and grids of a feature map. It is false if there are none."""

    neighbours: tuple[Neighbours, ...] = ()
    rows: float = 1.0
    """What the penalties are divided by: the importance of all rows."""

    @classmethod
    def of(cls, neighbours: Iterable[Neighbours]) -> Smoothness:
        return cls(tuple(one for one in neighbours if one.smoothness > 0))

    def __bool__(self) -> bool:
        return len(self.neighbours) > 0

    def shared_by(self, rows: float) -> Smoothness:
        return replace(self, rows=rows)

    def pull(self, w: Array) -> Array:
        """Return the gradient of the penalty, which is also the product of its Hessian with w (features × stride)."""
        out = np.zeros_like(w)
        for one in self.neighbours:
            values = w[one.begin : one.end].reshape(*one.shape, -1)
            pulled = out[one.begin : one.end].reshape(*one.shape, -1)
            strength = one.smoothness / self.rows
            if len(one.shape) == 1:
                bends = strength * (values[2:] - 2 * values[1:-1] + values[:-2])
                pulled[2:] += bends
                pulled[1:-1] -= 2 * bends
                pulled[:-2] += bends
            else:
                for way in one.ways:
                    along, out_along = np.moveaxis(values, way, 0), np.moveaxis(pulled, way, 0)
                    steps = strength * (along[1:] - along[:-1])
                    out_along[1:] += steps
                    out_along[:-1] -= steps
        return out

    @cached_property
    def lower_half(self) -> tuple[NDArray[np.uint32], Array]:
        """The entries of the Hessian in its lower half: rows and columns, and values. Some places occur repeatedly."""
        found = [(np.zeros((0, 2), np.int64), np.zeros(0))]
        for one in self.neighbours:
            strength = one.smoothness / self.rows
            for features, factors in differences(one):
                # Each difference adds the products of its factors.
                for a, b in combinations_with_replacement(range(len(factors)), 2):
                    size = np.full(len(features), strength * factors[a] * factors[b])
                    found.append((features[:, [b, a]], size))
        return np.concatenate([at for at, _ in found]).astype(np.uint32), np.concatenate([size for _, size in found])

    def diagonal(self, features: int) -> Array:
        at, values = self.lower_half
        own = at[:, 0] == at[:, 1]
        sums: Array = np.bincount(at[own, 0], values[own], minlength=features).astype(np.float64)
        return sums

    @property
    def largest(self) -> float:
        """A bound of the Hessian's largest eigenvalue: (1 + 2 + 1)² for chains, and 2 · 4 for grids, times λ."""
        sizes = [one.smoothness / self.rows * (16 if len(one.shape) == 1 else 8) for one in self.neighbours]
        return max(sizes, default=0.0)


NONE = Smoothness()


def differences(one: Neighbours) -> Iterator[tuple[NDArray[np.int64], tuple[int, ...]]]:
    """Return the features of the differences that the penalty squares, in ascending order, and their factors."""
    places = np.arange(one.begin, one.end).reshape(one.shape)
    if len(one.shape) == 1:
        yield np.column_stack([places[:-2], places[1:-1], places[2:]]), (1, -2, 1)
        return
    for way in one.ways:
        along = np.moveaxis(places, way, 0)
        yield np.column_stack([along[:-1].ravel(), along[1:].ravel()]), (-1, 1)
