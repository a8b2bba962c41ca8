"""Derived columns: a date becomes its year, month, day and so on, which are numbers and categories for the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from markone.data.dates import MONTHS, STYLES, WEEKDAYS
from markone.data.source import Batch, Column, Kind

DAY = 24 * 3600 * 10**6
"""The number of microseconds in a day."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A number or category that is made from a date."""

    word: str
    """Its name, after the name of the column and a full stop."""
    kind: Kind
    make: Callable[[Any], Any]
    """Returns an Arrow array for an array of timestamps."""
    of_times: bool = False
    """Whether it is only made from dates with times."""


def named(names: Sequence[str], numbers: Any) -> Any:
    """The names of numbers from 0 on."""
    import pyarrow as pa

    return pa.array(names).take(numbers)


def days(array: Any) -> Any:
    """The number of days since 1970-01-01."""
    import pyarrow as pa

    since = array.cast(pa.int64())
    missing = since.is_null().to_numpy(zero_copy_only=False)
    whole = np.floor_divide(since.fill_null(0).to_numpy(zero_copy_only=False), DAY)
    return pa.array(whole.astype(np.float64), mask=missing)


def part(name: str) -> Callable[[Any], Any]:
    """A function of pyarrow that returns a whole number for each timestamp."""

    def make(array: Any) -> Any:
        import pyarrow.compute as pc

        return getattr(pc, name)(array)

    return make


def months(array: Any) -> Any:
    import pyarrow.compute as pc

    return named(MONTHS, pc.subtract(pc.month(array), 1))


PIECES = (
    Piece("year", "numeric", part("year")),
    Piece("month", "categorical", months),
    Piece("day", "numeric", part("day")),
    Piece("weekday", "categorical", lambda array: named(WEEKDAYS, part("day_of_week")(array))),
    Piece("hour", "categorical", part("hour"), of_times=True),
    Piece("days", "numeric", days),
)
SAME = {"decimal-comma": "numeric", "comma-set": "set"}
"""Kinds whose values are those of another kind after they are read."""


def made_columns(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns that the parts of a feature map use: those of the source, with the pieces of dates instead of dates.

    >>> [column.name for column in made_columns([Column("born", "date"), Column("age", "numeric")])]
    ['born.year', 'born.month', 'born.day', 'born.weekday', 'born.days', 'age']
    """
    columns = tuple(columns)
    taken = {column.name for column in columns}
    return tuple(made for column in columns for made in made_from(column, taken))


def made_from(column: Column, taken: set[str]) -> list[Column]:
    if column.kind in STYLES:
        pieces = [(f"{column.name}.{piece.word}", piece) for piece in pieces_of(column)]
        return [Column(name, piece.kind) for name, piece in pieces if name not in taken]
    return [Column(column.name, SAME.get(column.kind, column.kind))]  # type: ignore[arg-type]


def pieces_of(column: Column) -> list[Piece]:
    return [piece for piece in PIECES if STYLES[column.kind].has_time or not piece.of_times]


def with_derived(batch: Batch, columns: Sequence[Column]) -> Batch:
    """The batch with the pieces of its dates as further columns."""
    dates = [column for column in columns if column.kind in STYLES]
    if not dates:
        return batch
    made = {f"{c.name}.{piece.word}": piece.make(batch.columns[c.name]) for c in dates for piece in pieces_of(c)}
    return replace(batch, columns={**made, **batch.columns})
