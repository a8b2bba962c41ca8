"""Blocks: rows as the core reads them, made from NumPy and SciPy arrays without a copy where that is possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from markone import _core
from markone.brief import Brief
from markone.errors import DataError

Rows = _core.DenseRows32 | _core.DenseRows64 | _core.SparseRows32 | _core.SparseRows64

# By the letter that NumPy has for 32- and 64-bit floats.
DENSE: dict[str, type[_core.DenseRows32 | _core.DenseRows64]] = {"f": _core.DenseRows32, "d": _core.DenseRows64}
SPARSE: dict[str, type[_core.SparseRows32 | _core.SparseRows64]] = {"f": _core.SparseRows32, "d": _core.SparseRows64}
MOST_FEATURES = 2**31


@dataclass(frozen=True, slots=True, repr=False)
class Sparse(Brief):
    """A CSR matrix of 32-bit floats, in SciPy's words but without SciPy, in which a row names each feature once."""

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
    """Rows with the number of each one's class and, where they differ, how much each one counts."""

    rows: Rows
    matrix: Any
    labels: NDArray[np.int32]
    importance: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, matrix: Any, labels: NDArray[Any], importance: ArrayLike | None = None) -> Block:
        """Checks that the three belong together."""
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
        """The same block, in which a feature that a row names twice counts once, with the sum of its values."""
        if isinstance(self.matrix, Sparse):
            return self
        if not (isinstance(self.rows, _core.SparseRows32 | _core.SparseRows64) and self.rows.names_twice()):
            return self
        matrix = self.matrix.copy()
        matrix.sum_duplicates()
        return Block(as_rows(matrix), matrix, self.labels, self.importance)

    def take(self, which: NDArray[np.int64]) -> Block:
        """A block of some of the rows."""
        importance = None if self.importance is None else self.importance[which]
        matrix = self.matrix[which]
        return Block(as_rows(matrix), matrix, self.labels[which], importance)


def is_sparse(matrix: object) -> bool:
    """Whether it is a SciPy matrix, without importing SciPy for the answer."""
    return hasattr(matrix, "indptr") or (hasattr(matrix, "tocsr") and hasattr(matrix, "nnz"))


def as_scipy(matrix: Any) -> Any:
    """A dense array, or SciPy's CSR matrix."""
    if not isinstance(matrix, Sparse):
        return matrix
    from scipy.sparse import csr_matrix

    narrow = len(matrix.indices) < 2**31 and matrix.width < 2**31
    kind = np.int32 if narrow else np.int64  # scikit-learn is quicker with the narrow ones
    return csr_matrix((matrix.data, matrix.indices.astype(kind), matrix.indptr.astype(kind)), shape=matrix.shape)


def as_matrix(matrix: Any, dtype: Any = None) -> Any:
    """A dense C-contiguous array or a CSR matrix, of 32- or 64-bit floats: `dtype` or the nearest to what it has."""
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
        raise DataError(f"the rows have values that are no numbers: {error}") from None
    if array.ndim != 2:
        raise DataError(f"rows must stand in a table of two dimensions, not {array.ndim}; for one row give [row]")
    return array


def float_like(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "c":
        raise DataError("complex numbers are not supported as values of features")
    return np.dtype(np.float32 if dtype in (np.dtype(np.float32), np.dtype(np.float16)) else np.float64)


def as_rows(matrix: Any) -> Rows:
    """What `as_matrix` gave, as the core reads it, with its bounds and values checked."""
    if not is_sparse(matrix):
        return dense_rows(matrix)
    try:
        return sparse_rows(matrix)
    except TypeError:  # an array that is not contiguous, or indices of a rarer type
        indptr, indices = (np.ascontiguousarray(array, np.int64) for array in (matrix.indptr, matrix.indices))
        return sparse_rows(type(matrix)((np.ascontiguousarray(matrix.data), indices, indptr), shape=matrix.shape))


def quick_rows(matrix: Any, dtype: np.dtype[Any], width: int) -> Rows | None:
    """The rows of an array or a CSR matrix that can be read just as it is; `None` for all else."""
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
        raise DataError(f"{width} columns are too many; there may be 2³¹ = {MOST_FEATURES}")
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
    """Weights of examples: finite, not negative, one for each row; `None` where all are 1."""
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
            f"the weights of examples must not be negative; the first such is in row {(weights < 0).argmax()}"
        )
    return None if (weights == 1).all() else weights
