"""Computes lengths of rows. Each row is computed alone, so the result does not depend on how rows are divided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import is_sparse
from markone.features.moments import row_sums

AT_ONCE = 2**20
"""The number of values that are processed together."""

Floats = NDArray[np.float64]


def lengths2(matrix: Any, rows: NDArray[np.int64]) -> Floats:
    """Return the squared lengths of some rows, Σ x²."""
    return sums_of(matrix, rows, lambda values: np.square(values, dtype=np.float64))


def sizes(matrix: Any, rows: NDArray[np.int64]) -> Floats:
    """Return the sums of the absolute values of some rows, Σ |x|."""
    return sums_of(matrix, rows, lambda values: np.abs(values, dtype=np.float64))


def fractions(matrix: Any, rows: NDArray[np.int64]) -> Floats:
    """Return how many values of some rows are not whole numbers."""
    return sums_of(matrix, rows, lambda values: (values != np.rint(values)).astype(np.float64))


def sums_of(matrix: Any, rows: NDArray[np.int64], f: Callable[[NDArray[Any]], Floats]) -> Floats:
    stored = len(matrix.data) if is_sparse(matrix) else matrix.size
    size = max(1, AT_ONCE * matrix.shape[0] // max(1, stored))
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    return np.concatenate([np.zeros(0), *(sums_at_once(matrix, part, f) for part in parts)])


def sums_at_once(matrix: Any, rows: NDArray[np.int64], f: Callable[[NDArray[Any]], Floats]) -> Floats:
    if not is_sparse(matrix):
        return row_sums(f(matrix[rows]))
    starts = matrix.indptr[rows]
    counts = matrix.indptr[rows + 1] - starts
    before = np.cumsum(counts) - counts
    places = np.arange(counts.sum()) + np.repeat(starts - before, counts)
    # bincount adds the values in the same order on every machine.
    return np.bincount(np.repeat(np.arange(len(rows)), counts), f(matrix.data[places]), len(rows)).astype(np.float64)
