"""JSON lines: one object per line, whose fields are the columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from markone.data.chunks import Chunk, chunks
from markone.data.files import File
from markone.data.kinds import word
from markone.data.nested import flat
from markone.data.options import Options
from markone.data.sets import SET_KINDS
from markone.data.source import BAD_LINES_SHOWN
from markone.data.tables import SAMPLE_ROWS, SKIP_ADVICE, Table, TableRows, shown
from markone.errors import DataError, NoDataError, Setting, Words

Fields = Mapping[str, Any]


class Refusals:
    """The bad lines of a chunk: the first one is an error, or all are counted."""

    def __init__(self, chunk: Chunk, skip_bad: bool) -> None:
        self.chunk = chunk
        self.skip_bad = skip_bad
        self.count = 0
        self.first: list[str] = []

    def __call__(self, line: int, problem: Words) -> None:
        error = DataError(problem, **self.chunk.at(line))
        if not self.skip_bad:
            error.advice = SKIP_ADVICE
            raise error
        self.count += 1
        if self.count <= BAD_LINES_SHOWN:
            self.first.append(str(error))


class JsonTable(Table):
    """Files of JSON lines. A column contains numbers, booleans or strings; if they are mixed, all become strings."""

    def __init__(self, files: Sequence[File], name: str, options: Options, _: str) -> None:
        self.files = files
        self.name = name
        self.options = options
        self.types: dict[str, str] = {}
        self.own_names: list[str] = []
        """The names of the fields of the objects, without those of the objects within them."""

    def sample(self) -> dict[str, Any]:
        for chunk in chunks(self.files, self.options):
            found = self.objects(chunk, Refusals(chunk, self.options.skip_bad))
            read = [fields for _, fields in islice(found, SAMPLE_ROWS)]
            if read:
                self.own_names = list(dict.fromkeys(name for fields in read for name in fields))
                objects = [*map(flat, read)]
                names = dict.fromkeys(name for fields in objects for name in fields)
                self.types = {name: type_of([fields.get(name) for fields in objects]) for name in names}
                return {name: column([fields.get(name) for fields in objects], self.types[name])[0] for name in names}
        raise (DataError if self.options.skip_bad else NoDataError)(f"{self.name} is empty or has no objects")

    def names_to_keep(self, sampled: Mapping[str, Any]) -> list[str]:
        return self.own_names

    def scan(self, wanted: Mapping[str, str], keep: Sequence[str] = ()) -> Iterator[TableRows]:
        return (self.rows_of(chunk, wanted, keep) for chunk in chunks(self.files, self.options))

    def rows_of(self, chunk: Chunk, wanted: Mapping[str, str], keep: Sequence[str]) -> TableRows:
        import pyarrow as pa

        refuse = Refusals(chunk, self.options.skip_bad)
        own = list(self.objects(chunk, refuse))
        objects = [(line, flat(fields)) for line, fields in own]
        columns = {}
        wrong: set[int] = set()
        for name, kind in wanted.items():
            has = self.types[name] if self.types[name] != "empty" else kind if kind in CHANGES else "mixed"
            if has == "numeric" and kind != "numeric":  # so that a whole number of any length is not rounded
                has = "mixed"
            if has == "set" and kind not in SET_KINDS:
                has = "nested"
            columns[name], others = column([fields.get(name) for _, fields in objects], has)
            for row in sorted(others - wrong):
                problem = f"{name!r} is not {has}, as it is in the first lines: {shown(objects[row][1][name])}"
                refuse(objects[row][0], problem)
            wrong |= others
        if wrong:
            kept = [row for row in range(len(objects)) if row not in wrong]
            own, objects = [own[row] for row in kept], [objects[row] for row in kept]
            columns = {name: array.take(pa.array(kept, pa.int64())) for name, array in columns.items()}
        as_written = {
            name: [one.get(name, fields.get(name)) for (_, one), (_, fields) in zip(own, objects, strict=True)]
            for name in keep
        }
        return TableRows(
            columns, len(objects), lambda row: chunk.place(objects[row][0]), refuse.count, refuse.first, as_written
        )

    def objects(self, chunk: Chunk, refuse: Refusals) -> Iterator[tuple[int, Fields]]:
        """The objects of a chunk, each with the number of its line."""
        load = json.JSONDecoder().decode
        if chunk.lines_before == 0 and chunk.data.lstrip().startswith(b"["):
            raise DataError(
                f"{chunk.file} begins with [ like a JSON array, but should contain one JSON object per line: "
                '{"text": "free money", "label": "spam"}; to read an array of objects, give the result of json.load'
            )
        for number, line in enumerate(chunk.data.split(b"\n"), start=1):
            if not line or line.isspace():
                continue
            try:
                fields = load(line.decode())
            except UnicodeDecodeError:
                advice = "; if the file has another encoding, name it, as in "
                refuse(number, ("the line is not UTF-8", advice, Setting("encoding", "latin-1")))
            except (ValueError, RecursionError) as error:
                problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
                refuse(number, f"the line is not JSON ({problem}): {shown(line.decode()[:200])}")
            else:
                if isinstance(fields, dict):
                    yield number, fields
                else:
                    refuse(number, f'the line is not an object, as in {{"text": ...}}: {shown(line.decode()[:200])}')


def type_of(values: Sequence[Any]) -> str:
    """The type of a column, by its first values."""
    types = set(map(type, values)) - {type(None)}
    if not types:
        return "empty"
    if types <= {int, float}:
        return "numeric"
    if types == {bool}:
        return "boolean"
    if types == {list} and all(type(item) is str for value in values if value is not None for item in value):
        return "set"
    return "nested" if types & {dict, list} else "text" if types == {str} else "mixed"


def column(values: list[Any], kind: str) -> tuple[Any, set[int]]:
    """The values as an Arrow array, and the numbers of the rows whose values are of another kind."""
    import pyarrow as pa

    if kind == "empty":
        return pa.nulls(len(values)), set()
    if kind == "nested":  # no features are made from it, so its values do not matter
        return pa.array([None if value is None else [] for value in values], pa.list_(pa.null())), set()
    made = {"numeric": pa.float64(), "boolean": pa.bool_(), "set": pa.list_(pa.string())}.get(kind, pa.string())
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
    return text(value) if isinstance(value, str) else None if isinstance(value, dict | list) else word(value)


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
}
CHANGES: dict[str, Callable[[Any], Any]] = {
    "numeric": real,
    "boolean": boolean,
    "text": text,
    "mixed": any_text,
    "set": items,
}
