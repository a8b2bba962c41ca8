"""Matrices: rows in memory, in arrays of NumPy or SciPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import MOST_FEATURES, Sparse, as_matrix, is_sparse
from markone.data.labels import Labels
from markone.data.source import BadLines, Batch, Column, GivenRows, Names, Source
from markone.data.tables import BATCH_ROWS
from markone.errors import DataError


class MatrixSource(Source):
    """A matrix, whose columns are named x0, x1 and so on."""

    columns = (Column("features", "rows"),)

    def __init__(self, matrix: Any, labels: Sequence[Any] | None, importance: NDArray[np.float64] | None) -> None:
        self.bad = BadLines()
        self.target = None if labels is None else "label"
        self.known_labels = Labels("label")
        self.labels = self.known_labels.values
        self.matrix = as_sparse(matrix) if is_sparse(matrix) else as_matrix(matrix)
        if 0 in self.matrix.shape:
            raise DataError(f"the matrix has no rows or no columns: its shape is {self.matrix.shape}")
        self.given_labels = None if labels is None else self.known_labels.numbers_of(labels)
        self.given_importance = importance
        self.names = NumberedNames(self.matrix.shape[1])
        form = "sparse" if isinstance(self.matrix, Sparse) else "dense"
        self.name = "a {} matrix of {:,} rows and {:,} columns".format(form, *self.matrix.shape)

    def batches(self) -> Iterator[Batch]:
        self.bad = BadLines()
        for start in range(0, self.matrix.shape[0], BATCH_ROWS):
            stop = min(start + BATCH_ROWS, self.matrix.shape[0])
            part = rows_between(self.matrix, start, stop)
            labels = None if self.given_labels is None else self.given_labels[start:stop]
            importance = None if self.given_importance is None else self.given_importance[start:stop]
            yield Batch({"features": GivenRows(part, self.names)}, stop - start, labels, importance)


class NumberedNames(Names):
    """The names x0, x1, x2 and so on."""

    def __init__(self, width: int) -> None:
        self.width = width

    def __len__(self) -> int:
        return self.width

    def since(self, start: int) -> list[str]:
        return [f"x{i}" for i in range(start, self.width)]


def as_sparse(matrix: Any) -> Sparse:
    """Convert a matrix of SciPy to ours, which shares its indices if possible."""
    matrix = matrix.tocsr()
    if matrix.shape[1] > MOST_FEATURES:
        raise DataError(f"{matrix.shape[1]} columns are too many; the maximum is 2³¹ = {MOST_FEATURES}")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.dtype.kind not in "fiub":
        raise DataError(f"the matrix has values of type {matrix.dtype}, which are not numbers")
    with np.errstate(over="ignore"):
        data = np.ascontiguousarray(matrix.data, np.float32)
    if not np.isfinite(data).all():
        raise DataError("the matrix contains NaN, infinity, or values that are too large for a float of 32 bits")
    return Sparse(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), data, matrix.shape[1])


def rows_between(matrix: Any, start: int, stop: int) -> Any:
    if not isinstance(matrix, Sparse):
        return matrix[start:stop]
    begin, end = matrix.indptr[start], matrix.indptr[stop]
    indptr = matrix.indptr[start : stop + 1] - begin
    return Sparse(indptr, matrix.indices[begin:end], matrix.data[begin:end], matrix.width)
