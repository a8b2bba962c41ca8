"""Functions: features that Python functions of the user compute from an example."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Sparse, is_sparse
from markone.data.source import Batch, Column, GivenRows
from markone.data.strings import Strings
from markone.errors import DataError
from markone.features.part import Part
from markone.features.spec import Function
from markone.storage.saved import Contents, Saved, blob

LARGEST = float(np.finfo(np.float32).max)


class Functions(Part):
    """Each function is called with an example and returns a number, a boolean, a dict from names to these, or None.

    An example is a dict of its columns' values or, if the only column is text, the text. A number is the feature
    `function()`, and a dict gives features `function(name)`. Values that are None or 0 are left out of the row. Several
    threads may call a function at once.
    """

    def __init__(self, functions: Mapping[str, Function], columns: Sequence[Column]) -> None:
        self.functions = dict(functions)
        self.columns = list(columns)
        self.number_of: dict[str, int] = {}
        self.chosen: list[str] = []
        """The names of the features, by number."""

    def collect(self, batch: Batch) -> list[dict[str, float]]:
        return [self.call(example, row) for row, example in enumerate(self.examples(batch))]

    def absorb(self, collected: list[dict[str, float]], labels: NDArray[np.int32] | None = None) -> Sparse:
        for features in collected:
            for name in features:
                self.number_of.setdefault(name, len(self.number_of))
        return self.rows(collected)

    def finish(self) -> None:
        self.chosen = list(self.number_of)

    def refine(self, draft: Sparse) -> Sparse:
        return Sparse(draft.indptr, draft.indices, draft.data, self.width)

    def transform(self, batch: Batch) -> Sparse:
        return self.rows(self.collect(batch))

    @property
    def width(self) -> int:
        return len(self.chosen)

    def name(self, number: int) -> str:
        return self.chosen[number]

    def save(self) -> Saved:
        """Save the names only: a file cannot contain functions."""
        return Saved(arrays=blob("names", Strings.of(self.chosen)))

    def take(self, contents: Contents) -> None:
        self.choose(contents.names("names"))

    def choose(self, names: list[str]) -> None:
        """Set the features."""
        self.number_of = {name: number for number, name in enumerate(names)}
        self.chosen = names

    def extend(self, other: Functions) -> NDArray[np.int64]:
        before = self.width
        self.choose(list(dict.fromkeys(self.chosen + other.chosen)))
        return np.arange(before)

    def prune(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        self.choose([name for name, is_used in zip(self.chosen, used, strict=True) if is_used])
        return used.copy()

    def examples(self, batch: Batch) -> Iterator[Any]:
        values = [values_of(column, batch.columns[column.name]) for column in self.columns]
        if [column.kind for column in self.columns] == ["text"]:
            yield from values[0]
            return
        names = [column.name for column in self.columns]
        for example in zip(*values, strict=True):
            yield dict(zip(names, example, strict=True))

    def call(self, example: Any, row: int) -> dict[str, float]:
        features: dict[str, float] = {}
        for name, function in self.functions.items():
            try:
                result = function(example)
            except Exception as error:
                raise DataError(
                    f"the function {name!r} failed in row {row} of a batch: {type(error).__name__}: {error}"
                ) from error
            named = result if isinstance(result, Mapping) else {"": result}
            for key, value in named.items():
                if value is not None:
                    features[f"{name}({key})"] = as_number(value, f"{name}({key})", row)
        return features

    def rows(self, collected: list[dict[str, float]]) -> Sparse:
        indptr, indices = [0], list[int]()
        data = list[float]()
        for features in collected:
            for name, value in features.items():
                if value != 0 and name in self.number_of:
                    indices.append(self.number_of[name])
                    data.append(value)
            indptr.append(len(indices))
        return Sparse(np.array(indptr, np.int64), np.array(indices, np.uint32), np.array(data, np.float32), self.width)


def is_number(value: object) -> bool:
    return isinstance(value, numbers.Real | np.bool_)


def as_number(value: Any, feature: str, row: int) -> float:
    if not is_number(value):
        raise DataError(
            f"the function's feature {feature!r} is {value!r} in row {row} of a batch; "
            "it must be a number, a boolean, a dict of them, or None"
        )
    if not -LARGEST <= value <= LARGEST:  # false for NaN, too
        raise DataError(
            f"the function's feature {feature!r} is {value} in row {row} of a batch; it must be finite, and small "
            "enough for a 32-bit float"
        )
    return float(value)


def values_of(column: Column, values: Any) -> Any:
    """The values of a column for functions: Python values, an array for an image, a dict for a sparse row."""
    if column.kind == "image":
        return values
    if column.kind == "rows":
        return given_values(values)
    return Strings.of_arrow(values).to_pylist() if column.kind == "text" else values.to_pylist()


def given_values(given: GivenRows) -> list[dict[str, float]]:
    names, matrix = given.names.since(0), given.matrix
    if not is_sparse(matrix):
        return [dict(zip(names, row, strict=True)) for row in matrix.tolist()]
    indices, data = matrix.indices.tolist(), matrix.data.tolist()
    ends = matrix.indptr.tolist()
    return [{names[indices[i]]: data[i] for i in range(begin, end)} for begin, end in pairwise(ends)]
