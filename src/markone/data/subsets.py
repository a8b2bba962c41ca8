"""Subsets of a source: its rows are read once, and then divided into training and test rows in any way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import is_sparse
from markone.data.source import UNLABELLED, BadLines, Batch, Column, GivenRows, Label, Source
from markone.errors import DataError, LimitError, Setting


class Held(Source):
    """All rows of a source, in memory. Rows without a label are left out, because nothing can be tested on them."""

    source: Source | None = None

    def __init__(self, source: Source, budget: int | None = None) -> None:
        """The budget is the maximum number of bytes of the rows."""
        self.source = source
        self.name, self.columns, self.target = source.name, source.columns, source.target
        self.labels: list[Label] = source.labels
        self.reading, self.files = source.reading, source.files
        self.numbers: NDArray[np.int64]
        """The rows' numbers in the source, in which rows without a label are counted."""
        self.unlabelled = 0
        self._batches: list[Batch] = []
        numbers, size, start = [np.zeros(0, np.int64)], 0, 0
        for batch in source.batches():
            which = np.arange(len(batch))
            if batch.labels is not None:
                which = np.flatnonzero(batch.labels != UNLABELLED)
            kept = batch if len(which) == len(batch) else taken(batch, which)
            numbers.append(start + which)
            start += len(batch)
            self.unlabelled += len(batch) - len(which)
            size += size_of(kept)
            if budget is not None and size > budget:
                raise LimitError(
                    f"after {start:,} rows {source.name} needs more than the {budget / 1e6:,.0f} MB of memory "
                    "that are allowed for the rows",
                    advice=("use fewer rows, or set ", Setting("memory", ...)),
                )
            if len(kept):
                self._batches.append(kept)
        self.bad: BadLines = source.bad
        self.numbers = np.concatenate(numbers)
        if not len(self.numbers):
            raise DataError("there are no rows to learn from" if start == 0 else "none of the rows has a label")
        self.size = size
        """The size of the rows, in bytes."""
        self.starts = np.concatenate([[0], np.cumsum([len(batch) for batch in self._batches])])

    def __getstate__(self) -> dict[str, Any]:
        """The rows, without what they were read from."""
        return {name: value for name, value in self.__dict__.items() if name not in ("source", "files")}

    def __len__(self) -> int:
        return len(self.numbers)

    def batches(self) -> Iterator[Batch]:
        yield from self._batches

    def label_numbers(self) -> NDArray[np.int32]:
        """The number of each row's label in `labels`."""
        return np.concatenate([batch.labels for batch in self._batches if batch.labels is not None])

    def some(self, rows: NDArray[np.int64]) -> Iterator[Batch]:
        """A source with only these rows, in this order; the numbers count the rows in memory."""
        ends = np.searchsorted(rows, self.starts)
        for i, batch in enumerate(self._batches):
            here = rows[ends[i] : ends[i + 1]] - self.starts[i]
            if len(here) == len(batch):
                yield batch
            elif len(here):
                yield taken(batch, here)


class Subset(Source):
    """Some of the rows as a separate source: features that are fitted on it never see the others."""

    def __init__(self, held: Held, rows: NDArray[np.int64]) -> None:
        self.held = held
        self.rows = np.sort(rows)
        self.name, self.columns, self.target, self.labels = held.name, held.columns, held.target, held.labels
        self.reading, self.bad = held.reading, BadLines()

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self) -> Iterator[Batch]:
        return self.held.some(self.rows)


class OneBatch(Source):
    """A few examples of a source."""

    def __init__(self, source: Source, batch: Batch) -> None:
        self.name, self.columns, self.target, self.labels = source.name, source.columns, source.target, source.labels
        self.bad = source.bad
        self.batch = batch

    def batches(self) -> Iterator[Batch]:
        yield self.batch


class Without(Source):
    """A source without one of its columns, whose numbers are the target of a regression."""

    def __init__(self, source: Source, column: str) -> None:
        self.source, self.column = source, column
        self.name, self.labels, self.target = source.name, [], None
        self.reading, self.files = source.reading, source.files
        kinds = {one.name: one.kind for one in source.columns}
        if kinds.get(column) != "numeric":
            found = f"it is {kinds[column]}" if column in kinds else f"there are {', '.join(kinds)}"
            raise DataError(f"a regression needs a target of numbers, and {column!r} does not contain numbers: {found}")
        self.columns: tuple[Column, ...] = tuple(one for one in source.columns if one.name != column)
        if not self.columns:
            raise DataError(f"{source.name} has no column to predict {column!r} from")
        self.values: list[NDArray[np.float64]] = []
        """The target's numbers in the last reading, batch after batch."""

    @property
    def bad(self) -> BadLines:  # type: ignore[override]
        return self.source.bad

    def batches(self) -> Iterator[Batch]:
        self.values = []
        for batch in self.source.batches():
            column = batch.columns[self.column]
            there = np.flatnonzero(np.asarray(column.is_valid()))
            kept = batch if len(there) == len(batch) else taken(batch, there)
            columns = {name: values for name, values in kept.columns.items() if name != self.column}
            self.values.append(kept.columns[self.column].to_numpy(zero_copy_only=False).astype(np.float64))
            yield Batch(columns, len(kept), None, kept.importance)


def taken(batch: Batch, which: NDArray[np.int64]) -> Batch:
    """Some rows of a batch, without the columns that were kept for output."""
    return Batch(
        {name: column_taken(column, which) for name, column in batch.columns.items()},
        len(which),
        None if batch.labels is None else batch.labels[which],
        None if batch.importance is None else batch.importance[which],
    )


def column_taken(column: Any, which: NDArray[np.int64]) -> Any:
    if isinstance(column, GivenRows):
        return GivenRows(column.matrix[which], column.names)
    if isinstance(column, np.ndarray):
        return column[which]
    return column.take(which)


def size_of(batch: Batch) -> int:
    """The size of its columns in bytes."""
    return sum(map(size_of_column, batch.columns.values()))


def size_of_column(column: Any) -> int:
    if isinstance(column, GivenRows):
        return size_of_column(column.matrix)
    if is_sparse(column):
        return sum(array.nbytes for array in (column.indptr, column.indices, column.data))
    return int(column.nbytes)
