"""JSON lines: one object per line, whose fields are the columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from markone.data.chunks import Chunk, chunks
from markone.data.files import File
from markone.data.nested import flat
from markone.data.options import Options
from markone.data.records import column, type_of, type_to_read
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

    advice_on_encodings: Words = ("; if the file has another encoding, name it, as in ", Setting("encoding", "latin-1"))

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
            has = type_to_read(self.types[name], kind)
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
                refuse(number, ("the line is not UTF-8", self.advice_on_encodings))
            except (ValueError, RecursionError) as error:
                problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
                refuse(number, f"the line is not JSON ({problem}): {shown(line.decode()[:200])}")
            else:
                if isinstance(fields, dict):
                    yield number, fields
                else:
                    refuse(number, f'the line is not an object, as in {{"text": ...}}: {shown(line.decode()[:200])}')
