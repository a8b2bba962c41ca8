"""Delimited tables: CSV, TSV and similar files, with a separator or white space between the fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from markone import _core
from markone.data.chunks import Chunk, chunks, count_lines
from markone.data.files import File
from markone.data.kinds import NUMBER, number
from markone.data.options import WHITE_SPACE, Options
from markone.data.tables import SAMPLE_ROWS, SKIP_ADVICE, Table, TableRows, listed
from markone.errors import DataError, NoDataError, Setting, Words
from markone.parallel import count_threads, in_order

SEPARATOR = {"csv": ",", "tsv": "\t"}
HOW = {";": "separated by semicolons", "\t": "separated by tabs", "|": "separated by vertical bars"}
"""The separators other than the comma that are recognised in CSV files, with the words for users."""
ROWS_LOOKED_AT = 20
LONGEST_LOOK = 2**16
LONGEST_NAME = 30
HOW_TO_READ = {"numeric": _core.TableKind.number, "text": _core.TableKind.text}
"""How the core reads the kinds of columns that it does not read as words."""
FAULTS_OF_QUOTES = ("a quote is opened and never closed", "there is more after a closing quote")
QUOTE_ADVICE = ("if quotes are plain characters, set ", Setting("quote", None))


class DelimitedTable(Table):
    """CSV files that have the same columns."""

    written = True

    def __init__(self, files: Sequence[File], name: str, options: Options, format: str) -> None:
        self.files = files
        self.name = name
        self.options = options
        self.separator = options.separator or SEPARATOR[format]
        self.start: Chunk | None = None
        """The first chunk, until the columns are known."""
        if self.separator == WHITE_SPACE:
            self.separator = " "
        if options.separator is None and format == "csv":
            self.separator = self.find_separator()
            self.how = HOW.get(self.separator, "")
        self.has_header = options.columns is None if options.header is None else options.header
        self.names = self.read_names()
        self.amounts: frozenset[str] = frozenset()
        """The columns of numbers in which some are written for people, as far as they are known."""

    def cut(self, data: bytes) -> int:
        return _core.whole_rows(data, separator=self.separator, quote=self.options.quote)

    def first_chunks(self) -> Iterator[Chunk]:
        """All chunks, for those who rarely need more than the first, which may have been read already."""
        found = chunks(self.files, self.options, self.cut)
        if self.start is not None:
            yield self.start
            next(found, None)
        yield from found

    def chunks(self) -> Iterator[Chunk]:
        """All chunks, without the headers."""
        return self.without_headers(chunks(self.files, self.options, self.cut))

    def without_headers(self, found: Iterator[Chunk]) -> Iterator[Chunk]:
        header_due = False
        for chunk in found:
            header_due = self.has_header if chunk.lines_before == 0 else header_due
            if header_due:
                names, end = self.first_row(chunk)
                header_due = not names
                self.check_header(names, chunk.file)
                chunk = Chunk(chunk.file, chunk.data[end:], count_lines(chunk.data[:end]))
            yield chunk

    # ---- the separator

    def find_separator(self) -> str:
        """Return the comma or, if the first row has none, another separator that divides all of the first rows into the
        same number of fields, at least two."""
        usual = SEPARATOR["csv"]
        chunk = self.start = next(chunks(self.files, self.options, self.cut), None)
        if chunk is None:
            return usual
        if self.first_widths(chunk.data, usual, 1) != [1]:
            return usual
        self.start = None  # with another separator, rows may end elsewhere
        widths = {sign: self.first_widths(chunk.data, sign, ROWS_LOOKED_AT) for sign in HOW}
        fitting = {sign: found[0] for sign, found in widths.items() if len(set(found)) == 1 and found[0] > 1}
        return max(fitting, key=fitting.__getitem__, default=usual)

    def first_widths(self, data: bytes, separator: str, rows: int) -> list[int]:
        """The number of fields of each of the first rows; an empty list if they cannot be read with this separator."""
        if self.options.quote == separator:
            return []
        found: list[int] = []
        at = 0
        while len(found) < rows:
            try:
                fields, end = _core.first_row(
                    data[at : at + LONGEST_LOOK], separator=separator, quote=self.options.quote
                )
            except _core.BadLine:
                return []
            if not fields:
                break
            found.append(len(fields))
            at += end
        return found

    # ---- names of columns

    def read_names(self) -> list[str]:
        for chunk in self.first_chunks():
            self.start = self.start or chunk
            self.check_line_ends(chunk)
            fields, _ = self.first_row(chunk)
            if not fields:
                continue
            if self.options.header is None and self.options.columns is None:
                check_is_header(fields, chunk.at(1))
            if not self.has_header and self.options.columns is None:
                return [f"c{i}" for i in range(len(fields))]
            names = fields if self.options.columns is None else list(self.options.columns)
            if len(names) != len(fields):
                raise DataError(f"there are {len(fields)} fields but columns gives {len(names)} names", **chunk.at(1))
            check_repeats(names, chunk.at(1))
            return named(names)
        raise NoDataError(f"{self.name} is empty")

    def first_row(self, chunk: Chunk) -> tuple[list[str], int]:
        """The fields of the first row that is not blank, and the place in the chunk where it ends."""
        try:
            fields, end = _core.first_row(chunk.data, separator=self.separator, quote=self.options.quote)
            return [field.decode() for field in fields], end
        except _core.BadLine as bad:
            raise DataError(bad.problem, **chunk.at(bad.line), advice=quote_advice(bad.problem)) from None
        except UnicodeDecodeError:
            advice = ("if the file has another encoding, name it, for instance ", Setting("encoding", "latin-1"))
            raise DataError("the first row is not UTF-8", **chunk.at(1), advice=advice) from None

    def check_line_ends(self, chunk: Chunk) -> None:
        """Raise an error if lines end in a carriage return alone, as on old Macs. Quoted fields may contain one."""
        if b"\r" not in chunk.data:
            return
        first, *others = chunk.data.rstrip().split(b"\r", 1)
        is_quoted = self.options.quote is not None and first.count(self.options.quote.encode()) % 2 == 1
        if others and not is_quoted and b"\n" not in chunk.data:
            raise DataError(
                f"the lines of {chunk.file} end in a carriage return alone, \\r; they must end in \\n or \\r\\n: "
                "tr '\\r' '\\n' converts them"
            )

    def check_header(self, names: list[str], file: str) -> None:
        """Raise an error if a file does not have the columns of the first file."""
        if names and self.options.columns is None and named(names) != self.names:
            first = self.files[0].name
            what = "has changed since it was opened" if file == first else f"has other columns than {first}"
            raise DataError(f"{file} {what}: {listed(names)} instead of {listed(self.names)}")

    def hint(self, sampled: Mapping[str, Any]) -> Words:
        """A possible reason why a column is not found: a first row that is not a header, or another separator."""
        options, names = self.options, self.names
        if options.header is not None or options.columns is not None:
            return ""
        if len(names) == 1 and (sign := next((sign for sign in ",;\t|" if sign in names[0]), None)):
            return f" If the fields are separated by {sign!r}, set ", Setting("separator", sign), "."
        if len(names) == 1:
            return " A file with one column has no labels beside the examples."
        return (" But ", hint) if (hint := self.header_hint(sampled)) else ""

    def header_hint(self, sampled: Mapping[str, Any]) -> Words:
        """A hint that the first row may not be a header; empty if it looks like one, or if the user described it."""
        if self.options.header is not None or self.options.columns is not None:
            return ""
        if not any(self.is_like_data(name, array) for name, array in sampled.items()):
            return ""
        from markone.reporting.grids import shortened

        row = listed([shortened(name, LONGEST_NAME) for name in self.names], 5)
        return (
            f"the first row, {row}, looks like an example, not like a header; if it is one, set ",
            Setting("header", False),
            ", which names the columns c0, c1 and so on, or ",
            Setting("columns", [...]),
        )

    def better_separator(self) -> str | None:
        """Another separator that divides all of the first rows into the same, larger number of fields; None if there
        is none, or if the user named the separator."""
        chunk = next(chunks(self.files, self.options, self.cut), None)
        if chunk is None or self.options.separator is not None:
            return None
        widths = {sign: self.first_widths(chunk.data, sign, ROWS_LOOKED_AT) for sign in (",", *HOW)}
        found = {sign: some[0] for sign, some in widths.items() if len({*some}) == 1 and some[0] > len(self.names)}
        return max(found, key=found.__getitem__, default=None)

    def is_like_data(self, name: str, array: Any) -> bool:
        """Whether the name of a column is a number, or equal to one of the column's values."""
        return NUMBER.fullmatch(name) is not None or name in array.drop_null().to_pylist()

    # ---- rows

    def reader(self, how: Mapping[str, _core.TableKind]) -> _core.TableReader:
        return _core.TableReader(
            separator=self.separator,
            quote=self.options.quote,
            missing=list(self.options.missing),
            kinds=[how.get(name, _core.TableKind.skip) for name in self.names],
            names=self.names,
        )

    def sample(self) -> dict[str, Any]:
        reader = self.reader(dict.fromkeys(self.names, _core.TableKind.word))
        for chunk in self.without_headers(self.first_chunks()):
            self.start = None  # it is not needed any more
            rows = self.rows_of(reader, self.start_of(chunk))
            if rows.size > 0:
                return {name: array[:SAMPLE_ROWS] for name, array in rows.columns.items()}
        raise (DataError if self.options.skip_bad else NoDataError)(f"{self.name} has no rows")

    def start_of(self, chunk: Chunk) -> Chunk:
        """The part of a chunk with as many lines as a sample has rows, or the whole chunk if no row ends there."""
        ends = np.flatnonzero(np.frombuffer(chunk.data, np.uint8) == ord("\n"))[:SAMPLE_ROWS]
        end = self.cut(chunk.data[: ends[-1] + 1]) if len(ends) == SAMPLE_ROWS else 0
        return Chunk(chunk.file, chunk.data[:end], chunk.lines_before) if end > 0 else chunk

    def scan(self, wanted: Mapping[str, str], keep: Sequence[str] = ()) -> Iterator[TableRows]:
        keeper = self.reader(dict.fromkeys(keep, _core.TableKind.text)) if keep else None
        readers: dict[frozenset[str], _core.TableReader] = {}

        def reader(amounts: frozenset[str]) -> _core.TableReader:
            if amounts not in readers:
                how = {name: HOW_TO_READ.get(kind, _core.TableKind.word) for name, kind in wanted.items()}
                readers[amounts] = self.reader(how | {n: _core.TableKind.word for n in wanted if n in amounts})
            return readers[amounts]

        def read(chunk: Chunk) -> TableRows:
            known = self.amounts  # another thread may find more meanwhile
            try:
                rows = self.rows_of(reader(known), chunk)
            except DataError:
                if not self.find_amounts(chunk, wanted, known):
                    raise
                return read(chunk)
            return read(chunk) if rows.bad and self.find_amounts(chunk, wanted, known) else rows

        def rows_of(chunk: Chunk) -> TableRows:
            rows = read(chunk)
            return rows if keeper is None else replace(rows, kept=self.kept_of(keeper, keep, chunk, rows))

        return in_order(rows_of, self.chunks(), count_threads(self.options.threads))

    def find_amounts(self, chunk: Chunk, wanted: Mapping[str, str], known: frozenset[str]) -> bool:
        """Whether the chunk, of which not all rows could be read, has numbers in more columns that are written for
        people, such as $5. From then on, these columns are read as words."""
        names = [name for name, kind in wanted.items() if kind == "numeric" and name not in known]
        read = self.reader(dict.fromkeys(names, _core.TableKind.word)).read(chunk.data, skip_bad=True)
        found: set[str] = set()
        for name, arrays in zip(self.names, read.columns, strict=True):
            if arrays and name in names:
                words = arrow_of(arrays, len(read.row_lines)).drop_null().unique().to_pylist()
                if any(NUMBER.fullmatch(word) is None and number(word) is not None for word in words):
                    found.add(name)
        self.amounts = self.amounts | found
        return bool(found)

    def kept_of(self, keeper: _core.TableReader, keep: Sequence[str], chunk: Chunk, rows: TableRows) -> dict[str, Any]:
        """The columns to keep, as strings, for the rows that could be read. They are read separately, because the same
        column may also be needed as numbers."""
        import pyarrow as pa

        kept = self.rows_of(keeper, chunk)
        if kept.size == rows.size:
            return {name: kept.columns[name] for name in keep}
        which = pa.array(np.isin(kept.lines, rows.lines))
        return {name: kept.columns[name].filter(which) for name in keep}

    def rows_of(self, reader: _core.TableReader, chunk: Chunk) -> TableRows:
        try:
            read = reader.read(chunk.data, skip_bad=self.options.skip_bad)
        except _core.BadLine as bad:
            about_quotes = quote_advice(bad.problem)
            advice = (about_quotes, "; ", *SKIP_ADVICE) if about_quotes else SKIP_ADVICE
            raise DataError(bad.problem, **chunk.at(bad.line), advice=advice) from None
        size = len(read.row_lines)
        columns = {
            name: arrow_of(arrays, size) for name, arrays in zip(self.names, read.columns, strict=True) if arrays
        }
        first_bad = [f"{chunk.place(line)}: {problem}" for line, problem in read.first_bad]
        return TableRows(
            columns,
            size,
            lambda row: chunk.place(int(read.row_lines[row])),
            read.bad,
            first_bad,
            lines=read.row_lines,
        )


def named(names: Sequence[str]) -> list[str]:
    """The names of the columns; a column without a name is named after its position."""
    return [name or f"c{i}" for i, name in enumerate(names)]


def quote_advice(problem: str) -> Words:
    """What to do about a row that the core cannot read, if the problem is a quote."""
    return QUOTE_ADVICE if problem.startswith(FAULTS_OF_QUOTES) else ""


def check_is_header(names: Sequence[str], place: Mapping[str, Any]) -> None:
    """Raise an error if the first row, which the user did not describe, looks like an example and not like a header."""
    numbers = [name for name in names if NUMBER.fullmatch(name)]
    if 2 * len(numbers) >= len(names):
        raise DataError(
            (
                f"is the first row a header? {len(numbers)} of its {len(names)} fields are numbers: "
                f"{listed(numbers, 5)}. If it is not a header, set ",
                Setting("header", False),
                ", or ",
                Setting("columns", [...]),
                " with names",
            ),
            advice=("if it is one, set ", Setting("header", True)),
            **place,
        )


def check_repeats(names: Sequence[str], place: Mapping[str, Any]) -> None:
    seen: set[str] = set()
    for name in named(names):
        if name in seen:
            advice = (
                "if the first line is not a header, set ",
                Setting("header", False),
                "; if it is one, rename the columns with ",
                Setting("columns", [...]),
            )
            raise DataError(f"two columns are named {name!r}", **place, advice=advice)
        seen.add(name)


def arrow_of(arrays: Sequence[Any], size: int) -> Any:
    """An Arrow array over the core's arrays, without a copy."""
    import pyarrow as pa

    bits, *others = (None if array is None else pa.py_buffer(array) for array in arrays)
    return pa.Array.from_buffers(pa.float64() if len(others) == 1 else pa.string(), size, [bits, *others])
