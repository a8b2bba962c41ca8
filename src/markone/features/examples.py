"""Examples that a user gives to a feature map: a source, a file, a frame, a list, an array, or a single example."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from markone.data.blocks import Sparse
from markone.data.kinds import type_of
from markone.data.memory import collected
from markone.data.nested import flat
from markone.data.read import read
from markone.data.sets import SET_KINDS
from markone.data.source import BadLines, Batch, Column, GivenRows, Names, Source, missing_column
from markone.data.strings import Strings
from markone.data.tables import BATCH_ROWS, TableSource
from markone.errors import DataError, did_you_mean, warn
from markone.extras import installed
from markone.features.plain_examples import without_arrow


def batches_of(examples: Any, columns: tuple[Column, ...]) -> Iterator[Batch]:
    """The examples as batches with these columns. If some columns are absent, their values are missing."""
    if isinstance(examples, Source):
        return completed(examples, columns).batches()
    if is_file(examples, columns):
        return open_source(examples, columns).batches()
    if isinstance(examples, str) and not any(column.kind == "text" for column in columns):
        raise DataError(f"the model does not predict texts, and {examples[:80]!r} is not the name of a file")
    if is_one(examples, columns):
        row = row_of_frame(examples, columns)
        of_array = isinstance(examples, np.ndarray)  # an image, or the row of a matrix
        examples = examples[None] if of_array else [examples if row is None else row]
    if is_empty(examples):
        return iter(())
    batches = in_memory(examples, columns)
    if batches is None and not installed("pyarrow"):
        batches = without_arrow(examples, columns)
    return open_source(examples, columns).batches() if batches is None else batches


def open_source(examples: Any, columns: tuple[Column, ...]) -> Source:
    """The source for a file, a frame or similar data, with these columns."""
    return completed(opened(examples, columns), columns)


def opened(examples: Any, columns: tuple[Column, ...], target: Any = None) -> Source:
    """The source for a file, a frame or similar data, in which these columns, if present, have their kinds."""
    examples = collected(examples)
    if is_list_of_dicts(examples):
        examples = [*map(flat, examples)]
    if isinstance(examples, np.ndarray) and examples.ndim == 2 and are_of_matrix(columns, examples.shape[1]):
        return read(examples, target=target, nan="missing")
    names = names_in(examples)
    if names is None:
        return read(examples, target=target)
    found = ((named_like(column.name, names), column.kind) for column in columns)
    kinds = {name: kind for name, kind in found if name is not None}
    if not kinds:
        raise missing_column(columns[0].name, "the data", names)
    return read(examples, target=target, kinds=kinds)


def completed(source: Source, columns: tuple[Column, ...]) -> Source:
    """The source with these columns for prediction. Columns that it lacks have no values, with a warning; at least one
    column must be present.
    """
    source = spelled(source, columns)
    names = source.column_names
    absent = [column for column in columns if column.name not in names]
    there = tuple(column for column in columns if column.name in names)
    if not absent or not there or any(column.kind in ("image", "rows") for column in columns):
        found = fitting(source, columns)
        # A list of texts has a column of this name, too.
        if isinstance(found, Renamed) and isinstance(source, TableSource) and found.old != "text":
            warn(f"{source.name} lacks the column {found.new!r} of the model; its only text, {found.old!r}, is used")
        return found
    which = ", ".join(repr(column.name) for column in absent)
    several = len(absent) > 1
    warn(
        f"{source.name} lacks {'columns' if several else 'the column'} {which} of the model, which "
        f"count{'' if several else 's'} as missing in every row.{did_you_mean(absent[0].name, names)}"
    )
    return Completed(fitting(source, there), columns)


def spelled(source: Source, columns: tuple[Column, ...]) -> Source:
    """The source with the names of these columns, for columns whose names differ only in spaces around them: files are
    read without these, and frames have them."""
    names = source.column_names
    for column in columns:
        name = named_like(column.name, names)
        if name is not None and name != column.name:
            source = Renamed(source, name, column.name)
    return source


def named_like(name: str, names: list[str]) -> str | None:
    """The column of this name, or else the only one whose name differs only in spaces around it."""
    if name in names:
        return name
    similar = [other for other in names if other.strip() == name.strip()]
    return similar[0] if len(similar) == 1 else None


def fitting(source: Source, columns: tuple[Column, ...]) -> Source:
    """The source with these columns. If its only column is text, the name of this column does not matter."""
    [only] = columns if len(columns) == 1 else [None]
    texts = [column for column in source.columns if column.kind == "text"]
    if only is not None and only.kind == "text" and len(texts) == 1 and only not in source.columns:
        return Renamed(source, texts[0].name, only.name)
    return source.with_columns(columns)


class Renamed(Source):
    """A source with another name for a column."""

    def __init__(self, source: Source, name: str, new_name: str) -> None:
        self.source = source
        self.old, self.new = name, new_name
        self.name, self.target, self.labels = source.name, source.target, source.labels
        self.columns = tuple(Column(new_name, c.kind) if c.name == name else c for c in source.columns)
        self.files, self.reading = source.files, source.reading

    @property
    def bad(self) -> BadLines:  # type: ignore[override]
        return self.source.bad

    @property
    def column_names(self) -> list[str]:
        return [self.new if name == self.old else name for name in self.source.column_names]

    def with_columns(self, columns: tuple[Column, ...]) -> Source:
        own = tuple(Column(self.old, one.kind) if one.name == self.new else one for one in columns)
        return Renamed(self.source.with_columns(own), self.old, self.new)

    def batches(self) -> Iterator[Batch]:
        for batch in self.source.batches():
            columns = {self.new if name == self.old else name: values for name, values in batch.columns.items()}
            yield replace(batch, columns=columns)


class Completed(Source):
    """A source with more columns, which have no values."""

    def __init__(self, source: Source, columns: tuple[Column, ...]) -> None:
        self.source = source
        self.columns = columns
        self.name, self.target, self.labels = source.name, source.target, source.labels
        self.files, self.reading = source.files, source.reading

    @property
    def bad(self) -> BadLines:  # type: ignore[override]
        return self.source.bad

    def batches(self) -> Iterator[Batch]:
        import pyarrow as pa

        for batch in self.source.batches():
            more = {
                column.name: pa.nulls(len(batch), type_of(column.kind))
                for column in self.columns
                if column.name not in batch.columns
            }
            yield replace(batch, columns={**batch.columns, **more})


# ---- what need not become a source first


def is_one(examples: Any, columns: tuple[Column, ...]) -> bool:
    """Whether it is a single example: a text, an image, a row of a frame or of an array, or a dict of values that are
    not columns."""
    if isinstance(examples, str):
        return not is_file(examples, columns)
    if isinstance(examples, Mapping):
        sets = {column.name for column in columns if column.kind in SET_KINDS}
        return not any(is_column(value) and not (name in sets and is_set(value)) for name, value in examples.items())
    if isinstance(examples, np.ndarray):
        return (examples.ndim == 2 and is_only(columns, "image")) or is_row_of_matrix(examples, columns)
    return row_of_frame(examples, columns) is not None


def row_of_frame(examples: Any, columns: tuple[Column, ...]) -> dict[str, Any] | None:
    """The values of one row of a pandas frame by column: `frame.iloc[0]`, or one of `frame.itertuples()`. None if the
    examples are something else, such as a column of a frame.
    """
    if isinstance(examples, tuple):
        names, values = getattr(examples, "_fields", ()), examples
    elif getattr(examples, "ndim", 0) == 1 and hasattr(examples, "index") and hasattr(examples, "to_numpy"):
        names, values = tuple(examples.index), examples.to_numpy(object)
    else:
        return None
    if not any(column.name in names for column in columns):
        return None
    return {str(name): value for name, value in zip(names, values, strict=True)}


def is_file(examples: Any, columns: tuple[Column, ...]) -> bool:
    """Whether it is the name of a file. To a model of texts alone, every string is a text."""
    return isinstance(examples, str) and not is_only(columns, "text") and os.path.isfile(examples)


def is_empty(examples: Any) -> bool:
    if isinstance(examples, Mapping | os.PathLike):
        return False
    shape = getattr(examples, "shape", None)  # a sparse matrix has no length
    return shape[0] == 0 if isinstance(shape, tuple) else hasattr(examples, "__len__") and len(examples) == 0


def is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | Mapping) and getattr(value, "ndim", 1) > 0


def are_of_matrix(columns: tuple[Column, ...], width: int) -> bool:
    """Whether these are the columns that a matrix has if NaN is a missing value."""
    names = [column.name for column in columns]
    return names == [f"x{i}" for i in range(width)] and all(column.kind == "numeric" for column in columns)


def is_row_of_matrix(examples: np.ndarray[Any, Any], columns: tuple[Column, ...]) -> bool:
    """Whether it is one row of a matrix of numbers, such as `X[0]`, for a model that was trained on such a matrix."""
    of_matrix = is_only(columns, "rows") or are_of_matrix(columns, len(columns))
    return examples.ndim == 1 and examples.dtype.kind in "biuf" and of_matrix


def is_set(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def is_list_of_dicts(examples: Any) -> bool:
    return isinstance(examples, list | tuple) and all(isinstance(one, Mapping) for one in examples)


def is_only(columns: tuple[Column, ...], kind: str) -> bool:
    return len(columns) == 1 and columns[0].kind == kind


def in_memory(examples: Any, columns: tuple[Column, ...]) -> Iterator[Batch] | None:
    """The batches of simple examples, without a source; None if they are not simple."""
    name = columns[0].name
    if is_only(columns, "text") and is_list(examples) and not any(isinstance(one, Mapping) for one in examples):
        texts = list(examples)
        for number, text in enumerate(texts):
            if not isinstance(text, str | bytes):
                raise DataError(f"the model predicts texts, and example {number} is {text!r}")
        return (Batch({name: Strings.of(texts[few])}, len(texts[few])) for few in slices(len(texts)))
    if is_only(columns, "image") and (isinstance(examples, np.ndarray) or is_list(examples)):
        images = np.asarray(examples)
        if images.ndim != 3 or images.dtype != np.uint8:
            raise DataError(
                f"images are bytes, examples × height × width, not {images.dtype} with the shape {images.shape}"
            )
        return (Batch({name: images[few]}, len(images[few])) for few in slices(len(images)))
    if is_only(columns, "rows") and is_list(examples) and all(isinstance(one, Mapping) for one in examples):
        return iter([Batch({name: rows_of(list(examples))}, len(examples))])
    return None


def slices(size: int) -> Iterator[slice]:
    return (slice(start, start + BATCH_ROWS) for start in range(0, size, BATCH_ROWS))


def is_list(examples: Any) -> bool:
    """Whether it is a list, or something like one: a tuple, a column of a frame, an array of one dimension."""
    return isinstance(examples, list | tuple) or (getattr(examples, "ndim", 0) == 1 and hasattr(examples, "__iter__"))


def rows_of(examples: list[Mapping[str, Any]]) -> GivenRows:
    """Dicts of features by name."""
    numbers: dict[str, int] = {}
    indptr, indices, values = [0], [], []
    for example in examples:
        for name, value in example.items():
            indices.append(numbers.setdefault(str(name), len(numbers)))
            values.append(value)
        indptr.append(len(indices))
    try:
        data = np.array(values, np.float32)
    except (TypeError, ValueError):
        raise DataError("the values of features must be numbers") from None
    matrix = Sparse(np.array(indptr, np.int64), np.array(indices, np.uint32), data, len(numbers))
    return GivenRows(matrix, ListedNames(list(numbers)))


class ListedNames(Names):
    """A fixed list of names."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def __len__(self) -> int:
        return len(self.names)

    def since(self, start: int) -> list[str]:
        return self.names[start:]


def names_in(examples: Any) -> list[str] | None:
    """The names of the columns of a frame, a dict or a list of dicts; None if there are none, or not yet."""
    if isinstance(examples, Mapping):
        return list(map(str, examples))
    if is_list_of_dicts(examples):
        return list(dict.fromkeys(str(name) for one in examples for name in one))
    names = getattr(examples, "column_names", None) or getattr(examples, "columns", None)  # pyarrow; pandas and others
    return None if names is None or callable(names) else list(map(str, names))
