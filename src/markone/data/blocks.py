"""Blocks: rows in the form that the core reads, from NumPy and SciPy arrays, if possible without a copy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from markone import _core
from markone.brief import Brief
from markone.errors import DataError

Rows = _core.DenseRows32 | _core.DenseRows64 | _core.SparseRows32 | _core.SparseRows64

# The keys are NumPy's letters for 32- and 64-bit floats.
DENSE: dict[str, type[_core.DenseRows32 | _core.DenseRows64]] = {"f": _core.DenseRows32, "d": _core.DenseRows64}
SPARSE: dict[str, type[_core.SparseRows32 | _core.SparseRows64]] = {"f": _core.SparseRows32, "d": _core.SparseRows64}
MOST_FEATURES = 2**31


@dataclass(frozen=True, slots=True, repr=False)
class Sparse(Brief):
    """A CSR matrix of 32-bit floats with SciPy's attribute names, but without SciPy; no row names a feature twice."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    data: NDArray[np.float32]
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.width

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, which: NDArray[np.int64]) -> Sparse:
        return Sparse(*_core.take_rows(self.indptr, self.indices, self.data, self.width, which), self.width)


@dataclass(frozen=True, slots=True, repr=False)
class Block(Brief):
    """Rows, the number of each row's class and, if they differ, the weight of each row."""

    rows: Rows
    matrix: Any
    labels: NDArray[np.int32]
    importance: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, matrix: Any, labels: NDArray[Any], importance: ArrayLike | None = None) -> Block:
        """Check that rows, labels and weights fit together, and make a block of them."""
        matrix = as_matrix(matrix)
        rows = as_rows(matrix)
        if len(rows) == 0:
            raise DataError("there are no rows to learn from")
        labels = np.asarray(labels)
        if len(labels) != len(rows):
            raise DataError(f"there are {len(rows)} rows but {len(labels)} labels")
        if labels.ndim != 1 or labels.dtype.kind not in "iub" or (abs(labels.astype(np.int64)) >= 2**31).any():
            raise DataError("the labels of a block are the numbers of classes: 0, 1, 2 and so on")
        return cls(rows, matrix, np.ascontiguousarray(labels, np.int32), as_importance(importance, len(rows)))

    def __len__(self) -> int:
        return len(self.rows)

    def without_repeats(self) -> Block:
        """Return the block without repeated features in a row: their values are added up."""
        if isinstance(self.matrix, Sparse):
            return self
        if not (isinstance(self.rows, _core.SparseRows32 | _core.SparseRows64) and self.rows.names_twice()):
            return self
        matrix = self.matrix.copy()
        matrix.sum_duplicates()
        return Block(as_rows(matrix), matrix, self.labels, self.importance)

    def pack_counts(self) -> bool:
        """Store whole numbers from 0 to 255 as bytes, too, and return whether all values are such numbers.

        It pays if the online rules visit the rows more than once: they read fewer bytes, with the same results.
        """
        return isinstance(self.rows, _core.SparseRows32 | _core.SparseRows64) and self.rows.pack_counts()

    def take(self, which: NDArray[np.int64]) -> Block:
        """Return a block of some of the rows."""
        importance = None if self.importance is None else self.importance[which]
        matrix = self.matrix[which]
        return Block(as_rows(matrix), matrix, self.labels[which], importance)


class DistantBlocks(ABC):
    """Blocks on other machines."""

    @abstractmethod
    def each(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """Call a function of a module for each block, where the block is, and yield the results in their order."""


Blocks = Iterable[Block] | DistantBlocks


def of_each(blocks: Blocks, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
    """Yield the results of a function for all blocks, wherever they are."""
    if isinstance(blocks, DistantBlocks):
        yield from blocks.each(function, *arguments)
        return
    for block in blocks:
        result = function(block, *arguments)
        del block  # releases its memory before the next one is read
        yield result


def is_sparse(matrix: object) -> bool:
    """Whether the value is a SciPy matrix. SciPy is not imported for this."""
    return hasattr(matrix, "indptr") or (hasattr(matrix, "tocsr") and hasattr(matrix, "nnz"))


def as_scipy(matrix: Any) -> Any:
    """Return a dense array, or a CSR matrix of SciPy."""
    if not isinstance(matrix, Sparse):
        return matrix
    from scipy.sparse import csr_matrix

    narrow = len(matrix.indices) < 2**31 and matrix.width < 2**31
    kind = np.int32 if narrow else np.int64  # scikit-learn is faster with 32-bit indices
    return csr_matrix((matrix.data, matrix.indices.astype(kind), matrix.indptr.astype(kind)), shape=matrix.shape)


def as_matrix(matrix: Any, dtype: Any = None) -> Any:
    """Return a dense C-contiguous array or a CSR matrix of 32- or 64-bit floats: of `dtype`, or of the nearest type."""
    if isinstance(matrix, Sparse):
        return matrix
    if is_sparse(matrix):
        matrix = matrix.tocsr()
        wanted = float_like(matrix.dtype) if dtype is None else np.dtype(dtype)
        return matrix if matrix.dtype == wanted else matrix.astype(wanted)
    array = np.asarray(matrix)
    wanted = float_like(array.dtype) if dtype is None else np.dtype(dtype)
    try:
        array = np.ascontiguousarray(array, wanted) if array.ndim else array
    except (TypeError, ValueError) as error:
        raise DataError(f"the rows contain values that are not numbers: {error}") from None
    if array.ndim != 2:
        raise DataError(f"rows must be an array of two dimensions, not {array.ndim}; for one row give [row]")
    return array


def float_like(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "c":
        raise DataError("complex numbers are not supported as values of features")
    return np.dtype(np.float32 if dtype in (np.dtype(np.float32), np.dtype(np.float16)) else np.float64)


def as_rows(matrix: Any) -> Rows:
    """Return a result of `as_matrix` in the form that the core reads, with checked bounds and values."""
    if not is_sparse(matrix):
        return dense_rows(matrix)
    try:
        return sparse_rows(matrix)
    except TypeError:  # an array that is not contiguous, or indices of another type
        indptr, indices = (np.ascontiguousarray(array, np.int64) for array in (matrix.indptr, matrix.indices))
        return sparse_rows(type(matrix)((np.ascontiguousarray(matrix.data), indices, indptr), shape=matrix.shape))


def quick_rows(matrix: Any, dtype: np.dtype[Any], width: int) -> Rows | None:
    """Return the rows of an array or a CSR matrix if the core can read it without a copy, else None."""
    kind = type(matrix)
    if kind is not np.ndarray and kind.__name__ not in ("csr_matrix", "csr_array"):
        return None
    shape = matrix.shape
    if len(shape) != 2 or shape[1] != width or shape[0] == 0 or matrix.dtype != dtype:
        return None
    try:
        return dense_rows(matrix) if kind is np.ndarray else sparse_rows(matrix)
    except TypeError:
        return None


def dense_rows(matrix: NDArray[Any]) -> Rows:
    try:
        return DENSE[matrix.dtype.char](matrix)
    except _core.NotFinite:
        raise DataError(describe_not_finite(matrix)) from None


def sparse_rows(matrix: Any) -> Rows:
    width = matrix.shape[1]
    if width > MOST_FEATURES:
        raise DataError(f"{width} columns are too many; the maximum is 2³¹ = {MOST_FEATURES}")
    try:
        return SPARSE[matrix.data.dtype.char](matrix.indptr, matrix.indices, matrix.data, width)
    except _core.NotFinite:
        raise DataError(describe_not_finite(matrix.data)) from None
    except IndexError:
        raise DataError(
            f"the sparse matrix has a column index beyond its width of {width}; make it again with the right shape"
        ) from None


def describe_not_finite(values: NDArray[Any]) -> str:
    what, where = "NaN" if np.isnan(values).any() else "infinity", ""
    if values.ndim == 2:
        row, column = np.argwhere(np.isnan(values) if what == "NaN" else np.isinf(values))[0]
        where = f", first in row {row}, column {column}"
    return f"Input X contains {what}{where}. Remove such rows, or fill the gaps, for instance with the column's mean"


def as_importance(importance: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
    """Return the checked weights of examples: finite, not negative, one for each row; None if all are 1."""
    if importance is None:
        return None
    try:
        weights = np.ascontiguousarray(importance, np.float64)
    except (TypeError, ValueError):
        raise DataError("the weights of examples must be numbers") from None
    if weights.shape != (rows,):
        raise DataError(f"there must be one weight for each of the {rows} rows, not an array of shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise DataError("the weights of examples contain NaN or infinity")
    if weights.max(initial=0) > np.finfo(np.float32).max:
        raise DataError(f"a weight of {weights.max():g} is too large for an example; divide the weights by a constant")
    if (weights < 0).any():
        raise DataError(
            f"the weights of examples must not be negative; the first negative one is in row {(weights < 0).argmax()}"
        )
    return None if (weights == 1).all() else weights
