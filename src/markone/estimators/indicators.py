"""Indicator matrices: the targets of rows that can have several labels, as in scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import is_sparse
from markone.errors import DataError
from markone.learning.several_labels import Sets


def is_indicator(y: Any) -> bool:
    """Whether a target has a column for each label, and not one label for each row."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and len(y) and isinstance(y[0], list | tuple | np.ndarray):
        shape = (len(y), len(y[0]))
    return shape is not None and len(shape) == 2 and shape[1] > 1


def sets_in(y: Any, rows: int) -> tuple[Sets, NDArray[np.int32]]:
    """Return the different rows of an indicator matrix as sets of labels, and the number of each row's set."""
    matrix = y.toarray() if is_sparse(y) else np.asarray(y)
    if matrix.dtype.kind not in "biuf" or not np.isin(matrix, (0, 1)).all():
        raise DataError("y has several columns, so it must have a 1 where a row has a label, and a 0 elsewhere")
    if len(matrix) != rows:
        raise DataError(f"there are {rows} rows but {len(matrix)} rows of labels")
    different, numbers = np.unique(matrix.astype(bool), axis=0, return_inverse=True)
    return np.ascontiguousarray(different.T), numbers.reshape(-1).astype(np.int32)
