"""Records: rows of Python values, from JSON, workbooks and databases, as columns of one type each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from markone.data.kinds import word
from markone.data.sets import SET_KINDS
from markone.data.tables import BATCH_ROWS, SAMPLE_ROWS, SKIP_ADVICE, Table, TableRows, shown
from markone.errors import DataError, NoDataError


class RecordTable(Table):
    """A table whose rows are tuples of Python values. A column contains numbers, booleans, strings or dates; if they
    are mixed, all become strings."""

    skip_bad: bool
    names: list[str]
    types: Mapping[str, str]

    @abstractmethod
    def batches(self) -> Iterator[Sequence[Sequence[Any]]]:
        """All rows, some thousand at a time."""

    @abstractmethod
    def place(self, row: int) -> str:
        """The place of a row, counted from 0, for a message."""

    def sample(self) -> dict[str, Any]:
        rows: list[Sequence[Any]] = []
        for batch in self.batches():
            rows += batch
            if len(rows) >= SAMPLE_ROWS:
                break
        if not rows:
            raise NoDataError(f"{self.name} has no rows")
        columns = dict(zip(self.names, zip(*rows[:SAMPLE_ROWS], strict=True), strict=True))
        self.types = {name: type_of(values) for name, values in columns.items()}
        return {name: column(list(values), self.types[name])[0] for name, values in columns.items()}

    def scan(self, wanted: Mapping[str, str], keep: Sequence[str] = ()) -> Iterator[TableRows]:
        start = 0
        for rows in self.batches():
            yield self.rows_of(rows, start, wanted, keep)
            start += len(rows)

    def rows_of(
        self, rows: Sequence[Sequence[Any]], start: int, wanted: Mapping[str, str], keep: Sequence[str]
    ) -> TableRows:
        import pyarrow as pa

        values = dict(zip(self.names, map(list, zip(*rows, strict=True)), strict=True))
        columns, wrong, sentences = {}, set[int](), []
        for name, kind in wanted.items():
            has = type_to_read(self.types[name], kind)
            columns[name], others = column(values[name], has)
            for row in sorted(others - wrong):
                problem = f"{self.place(start + row)}: {name!r} is not {has}, as it is in the first rows: "
                sentences.append(problem + shown(values[name][row]))
                if not self.skip_bad:
                    raise DataError(sentences[0], advice=SKIP_ADVICE)
            wrong |= others
        good = [row for row in range(len(rows)) if row not in wrong]
        if wrong:
            columns = {name: array.take(pa.array(good, pa.int64())) for name, array in columns.items()}
        kept = {name: [values[name][row] for row in good] for name in keep}
        return TableRows(columns, len(good), lambda row: self.place(start + good[row]), len(wrong), sentences, kept)


def type_to_read(has: str, kind: str) -> str:
    """The type to which the values of a column of this type are converted, if it is to be of a kind."""
    if has == "empty":
        return kind if kind in CHANGES else "mixed"
    if has == "numeric" and kind not in (
        "numeric",
        "decimal-comma",
    ):  # so that a whole number of any length is not rounded
        return "mixed"
    return "nested" if has == "set" and kind not in SET_KINDS else has


def some_rows(rows: Iterator[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    """Rows, some thousand at a time."""
    while batch := [row for row, _ in zip(rows, range(BATCH_ROWS), strict=False)]:
        yield batch


def type_of(values: Sequence[Any]) -> str:
    """The type of a column, by its first values."""
    types = set(map(type, values)) - {type(None)}
    if not types:
        return "empty"
    if types <= {int, float}:
        return "numeric"
    if types == {bool}:
        return "boolean"
    if types <= {date, datetime}:
        return "date"
    if types == {list} and all(type(item) is str for value in values if value is not None for item in value):
        return "set"
    return "nested" if types & {dict, list, bytes} else "text" if types == {str} else "mixed"


def column(values: list[Any], kind: str) -> tuple[Any, set[int]]:
    """The values as an Arrow array, and the numbers of the rows whose values are of another kind."""
    import pyarrow as pa

    if kind == "empty":
        return pa.nulls(len(values)), set()
    if kind == "nested":  # no features are made from it, so its values do not matter
        return pa.array([None if value is None else [] for value in values], pa.list_(pa.null())), set()
    made = {
        "numeric": pa.float64(),
        "boolean": pa.bool_(),
        "set": pa.list_(pa.string()),
        "date": pa.timestamp("us"),
    }.get(kind, pa.string())
    if set(map(type, values)) <= TYPES[kind] and kind != "set":
        try:
            return pa.array(values, made), set()
        except (UnicodeEncodeError, pa.ArrowException):
            pass  # half of a surrogate pair, or a very large number: found below
    values = [None if value != value else value for value in values]  # NaN, the only value that is not itself
    changed = [None if value is None else CHANGES[kind](value) for value in values]
    wrong = {row for row, value in enumerate(changed) if value is None and values[row] is not None}
    return pa.array(changed, made), wrong


def real(value: Any) -> float | None:
    try:
        return float(value) if type(value) in (int, float) else None
    except OverflowError:
        return None


def boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def text(value: Any) -> str | None:
    """The value if it is a string; None if it is not, or if it contains half of a surrogate pair."""
    return value if isinstance(value, str) and is_encodable(value) else None


def items(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and None not in map(text, value) else None


def any_text(value: Any) -> str | None:
    return text(value) if isinstance(value, str) else None if isinstance(value, dict | list | bytes) else word(value)


def moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    return datetime.combine(value, time()) if isinstance(value, date) else None


def is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


NOTHING = type(None)
# The Python types that Arrow accepts for each type of column, and the functions that convert the others.
TYPES: dict[str, set[type]] = {
    "numeric": {int, float, NOTHING},
    "boolean": {bool, NOTHING},
    "text": {str, NOTHING},
    "mixed": {str, NOTHING},
    "set": {list, NOTHING},
    "date": {datetime, NOTHING},
}
CHANGES: dict[str, Callable[[Any], Any]] = {
    "numeric": real,
    "boolean": boolean,
    "text": text,
    "mixed": any_text,
    "set": items,
    "date": moment,
}
