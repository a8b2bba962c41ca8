"""Moments: means, variances and bounds of columns for scaling, batch by batch, without loss of precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief

Floats = NDArray[np.float64]


def row_sums(matrix: NDArray[Any]) -> Floats:
    """The sums, computed by the core, which adds in the same order on every machine."""
    return _core.sum_rows(np.ascontiguousarray(matrix, np.float64))


@dataclass(frozen=True, slots=True, repr=False)
class Moments(Brief):
    """For each column: the number of values, their mean, the sum of squared distances from it, and the bounds.

    The sum of squares is never a difference of large sums (Chan, Golub & LeVeque 1979), so the deviation is also right
    for years or timestamps, which are far from 0 and close together.
    """

    count: Floats
    mean: Floats
    squares: Floats
    least: Floats
    greatest: Floats

    @classmethod
    def none(cls, columns: int) -> Moments:
        """The moments of no values; their bounds are NaN."""
        return cls(*np.zeros((3, columns)), *np.full((2, columns), np.nan))

    @classmethod
    def of(cls, columns: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Moments:
        """The moments of the columns of an array, whose first dimension is the columns."""
        count = np.full(len(columns), float(columns.shape[1]))
        known = columns
        if missing is not None:
            count -= missing.sum(axis=1)
            known = np.where(missing, 0, columns)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = row_sums(known) / np.maximum(count, 1)
            away = columns - mean[:, None]
            if missing is not None:
                away[missing] = 0
            squares = row_sums(np.square(away, out=away))
        least = np.fmin.reduce(columns, axis=1, initial=np.nan)
        greatest = np.fmax.reduce(columns, axis=1, initial=np.nan)
        return cls(count, mean, squares, least.astype(np.float64), greatest.astype(np.float64))

    @classmethod
    def of_sparse(cls, columns: int, indices: NDArray[Any], values: NDArray[Any]) -> Moments:
        """The moments of the stored values of a sparse matrix."""
        values = values.astype(np.float64, copy=False)  # NumPy is slow if it gathers and converts at once
        count = np.bincount(indices, minlength=columns).astype(np.float64)
        mean = np.bincount(indices, values, minlength=columns) / np.maximum(count, 1)
        away = values - mean[indices]
        with np.errstate(over="ignore"):
            squares = np.bincount(indices, away * away, minlength=columns).astype(np.float64)
        least, greatest = np.full((2, columns), np.nan)
        np.fmin.at(least, indices, values)
        np.fmax.at(greatest, indices, values)
        return cls(count, mean, squares, least, greatest)

    def merged(self, more: Moments) -> Moments:
        """The moments of the values of both."""
        count = self.count + more.count
        share = more.count / np.maximum(count, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            apart = more.mean - self.mean
            squares = self.squares + more.squares + apart * apart * self.count * share
        least, greatest = np.fmin(self.least, more.least), np.fmax(self.greatest, more.greatest)
        return Moments(count, self.mean + apart * share, squares, least, greatest)

    def with_zeros(self, count: Floats) -> Moments:
        """The moments with this many zeros added to each column."""
        none = Moments.none(len(count))
        bound = np.where(count > 0, 0, np.nan)
        return self.merged(Moments(count, none.mean, none.squares, bound, bound))

    def take(self, columns: NDArray[Any]) -> Moments:
        return Moments(*(values[columns] for values in self.arrays))

    def put(self, columns: NDArray[Any], moments: Moments) -> None:
        """Merge others in place, for a few of many columns."""
        for values, new in zip(self.arrays, moments.arrays, strict=True):
            values[columns] = new

    def widened(self, columns: int) -> Moments:
        """The moments with more columns at the end, which have no values yet."""
        none = Moments.none(columns - len(self.count))
        return Moments(*map(np.concatenate, zip(self.arrays, none.arrays, strict=True)))

    @property
    def arrays(self) -> tuple[Floats, ...]:
        return self.count, self.mean, self.squares, self.least, self.greatest

    @property
    def deviation(self) -> Floats:
        """The standard deviation. It is exactly 0 if all values are equal, even if their mean is rounded."""
        return np.where(self.least < self.greatest, np.sqrt(self.squares / np.maximum(self.count, 1)), 0)

    @property
    def largest(self) -> Floats:
        """The largest absolute value; 0 if there are no values."""
        return np.nan_to_num(np.maximum(np.abs(self.least), np.abs(self.greatest)), nan=0.0)
