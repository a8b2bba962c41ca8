"""Examples for prediction where pyarrow is not installed: arrays of numbers, and dicts of numbers, words and texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.kinds import word
from markone.data.nested import flat
from markone.data.source import Batch, Column, missing_column
from markone.data.strings import Strings
from markone.errors import DataError
from markone.extras import need

KINDS = ("numeric", "categorical", "text")
"""The kinds of columns whose values can be used as they are."""


def without_arrow(examples: Any, columns: tuple[Column, ...]) -> Iterator[Batch] | None:
    """The examples as one batch; None if they are rows of features, which need no table. What needs a table of Arrow is
    an error that names the extra."""
    if len(columns) == 1 and columns[0].kind == "rows":
        return None
    if not all(column.kind in KINDS for column in columns):
        need("pyarrow")
    if isinstance(examples, np.ndarray) and examples.ndim == 2 and examples.dtype.kind in "fiub":
        if examples.shape[1] != len(columns) or any(column.kind != "numeric" for column in columns):
            raise DataError(f"the model needs {len(columns)} columns, and the array has {examples.shape[1]}")
        return iter([Batch({column.name: examples[:, i] for i, column in enumerate(columns)}, len(examples))])
    if not (isinstance(examples, list | tuple) and all(isinstance(one, Mapping) for one in examples)):
        need("pyarrow")
    rows = [flat(one) for one in examples]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not any(column.name in names for column in columns):
        raise missing_column(columns[0].name, "the data", names)
    return iter([Batch({column.name: values_of(column, rows) for column in columns}, len(rows))])


def values_of(column: Column, rows: list[Mapping[str, Any]]) -> Any:
    values = [row.get(column.name) for row in rows]
    if column.kind == "numeric":
        return numbers(column.name, values)
    words = [None if value is None else word(value) for value in values]
    return Strings.of([one or "" for one in words]) if column.kind == "text" else words


def numbers(name: str, values: list[Any]) -> NDArray[np.float64]:
    try:
        return np.array([np.nan if value is None else float(value) for value in values])
    except (TypeError, ValueError):
        raise DataError(f"column {name!r} must have numbers, but here it has {values!r:.80}") from None
