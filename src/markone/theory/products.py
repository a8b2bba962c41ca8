"""Products of all z (see `points`) with a vector, in floats, each with a bound of its rounding error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.theory.points import Points

Floats = NDArray[np.float64]

EPS = 2.0**-53
TINY = 2.0**-1060


class Products:
    """Features are scaled by powers of two, so that the largest value of each is near 1, and nothing overflows."""

    def __init__(self, points: Points, allowed: NDArray[np.bool_], units: NDArray[np.int64]) -> None:
        self.points, self.allowed, self.units = points, allowed, units
        sparse = points.is_sparse
        largest = abs(points.matrix).max(axis=0)
        largest = np.asarray(largest.todense() if sparse else largest, np.float64).ravel()
        self.tops = np.frexp(largest)[1].astype(np.int64)
        """The power of two by which each feature is divided."""
        matrix: Any = points.matrix.astype(np.float64)
        if sparse:
            matrix.data = np.ldexp(matrix.data, -self.tops[matrix.indices])
        else:
            matrix = np.ldexp(matrix, -self.tops)
        self.matrix, self.sizes = matrix, abs(matrix)

    def of(self, blocks: Floats) -> tuple[Floats, Floats]:
        """The products, rows × classes, infinite where a z is not allowed, and bounds of their errors.

        `blocks`: for each class but the first, weights for the scaled features and, with a bias, one for that.
        """
        rows, features, truth = np.arange(len(self.points)), self.points.features, self.points.truth
        v, b = np.zeros((len(blocks) + 1, features)), np.zeros(len(blocks) + 1)
        v[1:] = blocks[:, :features]
        b[1:] = blocks[:, features:].sum(axis=1)
        scores = np.asarray(self.matrix @ v.T) + b
        errors = (np.asarray(self.sizes @ abs(v).T) + abs(b)) * ((features + 8) * EPS) + TINY
        products = scores[rows, truth][:, None] - scores
        errors = (errors[rows, truth][:, None] + errors) * (1 + 4 * EPS)
        products[~self.allowed] = np.inf
        return products, errors

    def floats(self, w: NDArray[Any]) -> Floats:
        """Whole-number weights for features in their units, as blocks of floats for `of`, up to a common factor."""
        blocks = len(self.points.classes) - 1
        shifts = np.append(self.tops - self.units, np.zeros(int(self.points.bias), np.int64)).tolist() * blocks
        pairs = list(zip(w.tolist(), shifts, strict=True))
        largest = max((one.bit_length() + shift for one, shift in pairs if one), default=0)
        return np.array([scaled(one, shift - largest) for one, shift in pairs]).reshape(blocks, -1)


def scaled(whole: int, power: int) -> float:
    """whole · 2^power as a float, with a relative error of at most 2^-52."""
    extra = max(whole.bit_length() - 64, 0)
    return float(np.ldexp(float(whole >> extra), power + extra))
