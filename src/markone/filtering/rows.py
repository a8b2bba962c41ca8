"""Rows to filter: batches of JSON lines or Parquet with the bytes of each row, and files of the rows that are kept."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.data.chunks import Chunk, chunks
from markone.data.files import NamedFile, compression_of, open_seekable, readable
from markone.data.json_lines import JsonTable, Refusals
from markone.data.options import Options
from markone.data.source import Batch
from markone.data.strings import Strings
from markone.data.tables import BATCH_ROWS
from markone.errors import DataError
from markone.model.model import Model

NEWLINE, RETURN, OPEN, CLOSE = b"\n\r{}"
SCORE = "score"
CODECS = {"gzip": ("gz", "gzip"), "zstd": ("zst", "zstd"), "bz2": ("gz", "gzip"), None: ("", None)}
"""The ending and the codec of output files, by the compression of the input. Nothing is written as bz2."""

Scored = tuple[NDArray[np.int64], NDArray[Any]]
"""The class numbers and the scores of rows."""


class Lines(NamedTuple):
    """Rows of JSON lines."""

    data: bytes
    starts: NDArray[np.int64]
    """Where each row starts."""
    ends: NDArray[np.int64]
    """Where each row ends, with its line break, if it has one."""
    scored: Scored
    bad: int
    """The number of lines that were skipped."""
    size: int

    def kept(self, which: NDArray[np.bool_], scores: NDArray[np.float64] | None) -> bytes:
        """Return the bytes of some rows, unchanged, or with their scores as a last field."""
        if scores is None:
            rows = runs_of(which, self.starts, self.ends)
            found = b"".join(self.data[self.starts[first] : self.ends[last]] for first, last in rows)
            return found if not found or found.endswith(b"\n") else found + b"\n"
        return b"".join(
            with_score(self.data[self.starts[row] : self.ends[row]], scores[row]) for row in np.flatnonzero(which)
        )


class Columns(NamedTuple):
    """Rows of a Parquet file."""

    batch: Any
    scored: Scored
    bad: int
    size: int

    def kept(self, which: NDArray[np.bool_], scores: NDArray[np.float64] | None) -> Any:
        import pyarrow as pa

        batch = self.batch
        if scores is not None:
            batch = batch.append_column(free_field(batch), pa.array(scores))
        return batch.filter(pa.array(which))


Rows = Lines | Columns


def runs_of(which: NDArray[np.bool_], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the first and the last row of each run of kept rows whose bytes follow each other.

    A line that was skipped lies between two rows, so a run ends there.

    >>> runs_of(np.array([True, True, False, True, True]), np.array([0, 2, 4, 6, 9]), np.array([2, 4, 6, 8, 11]))
    [(0, 1), (3, 3), (4, 4)]
    """
    kept = np.flatnonzero(which)
    if len(kept) == 0:
        return []
    breaks = np.flatnonzero((np.diff(kept) > 1) | (starts[kept[1:]] != ends[kept[:-1]])) + 1
    return [(int(run[0]), int(run[-1])) for run in np.split(kept, breaks)]


def with_score(line: bytes, score: float) -> bytes:
    """Return a row with one more field at its end.

    >>> with_score(b'{"score": 3}\\n', 0.5)
    b'{"score": 3, "score_": 0.5}\\n'
    """
    body = line.rstrip()
    inside = body[:-1].rstrip()
    comma = b"" if inside.endswith(b"{") else b", "
    name = SCORE
    if SCORE.encode() in line or b"\\u" in line:  # the row may have a field with this name
        known = json.loads(line)
        while name in known:
            name += "_"
    return b'%s%s"%s": %s}\n' % (inside, comma, name.encode(), repr(float(score)).encode())


def free_field(batch: Any) -> str:
    name = SCORE
    while name in batch.schema.names:
        name += "_"
    return name


# ---- JSON lines


class LinesFile:
    """A file of JSON lines, which may be compressed."""

    ending = "jsonl"

    def __init__(self, path: str, model: Model, text: str | None, skip_bad: bool) -> None:
        self.path = path
        self.model = model
        self.options = Options(format="jsonl", skip_bad=skip_bad, once=True)
        columns = model.features.columns
        self.column = columns[0].name if len(columns) == 1 and columns[0].kind == "text" else None
        """The column of a model of texts; None for other models."""
        self.field = text or self.column
        """The field that has the text."""

    @property
    def compression(self) -> str | None:
        with readable(self.path), open(self.path, "rb") as file:
            return compression_of(file.read(16))

    def batches(self) -> Iterator[Chunk]:
        """Yield chunks of complete lines. They are the same each time."""
        return chunks([NamedFile(self.path)], self.options)

    def scored(self, chunk: Chunk) -> Lines:
        starts, ends = lines_in(chunk.data)
        if self.column is not None:
            texts = self.texts_at_once(chunk.data, starts, ends)
            if texts is not None:
                _, *scored = self.model.answer(Batch({self.column: Strings.of_arrow(texts)}, len(texts)))
                return Lines(chunk.data, starts, ends, (scored[0], scored[1]), 0, len(chunk.data))
        return self.scored_one_by_one(chunk, starts, ends)

    def texts_at_once(self, data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Any | None:
        """Return the texts of all lines; None if a line is unusual, and must be looked at by itself.

        Arrow's parser does not see where lines end. If every line begins and ends with a brace, and there are as many
        objects as lines, each line is an object.
        """
        import pyarrow as pa
        from pyarrow import json as arrow_json

        if len(starts) == 0 or not are_objects(data, starts, ends) or not is_utf8(data):
            return None
        parse = arrow_json.ParseOptions(
            pa.schema([(self.field, pa.large_string())]), unexpected_field_behavior="ignore"
        )
        read = arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1)
        try:
            table = arrow_json.read_json(io.BytesIO(data), read, parse)
        except pa.ArrowInvalid:
            return None
        texts = table[0]
        if len(texts) != len(starts) or texts.null_count:
            return None
        return texts.combine_chunks()

    def scored_one_by_one(self, chunk: Chunk, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Lines:
        """Read the lines with Python, which is slower, and names the line that is wrong."""
        refuse = Refusals(chunk, self.options.skip_bad)
        examples: list[Any] = []
        used: list[int] = []
        table = JsonTable([], self.path, self.options, "jsonl")
        table.advice_on_encodings = ""  # kept lines have the same bytes, so the filter has no such option
        number_of = {1 + chunk.data.count(b"\n", 0, int(start)): row for row, start in enumerate(starts)}
        for line, fields in table.objects(chunk, refuse):
            example: Any = fields
            if self.column is not None:
                example = fields.get(str(self.field))
                if not isinstance(example, str):
                    found = "is missing" if example is None else f"is not a text: {example!r:.80}"
                    refuse(line, f"the field {self.field!r} {found}")
                    continue
            examples.append(example)
            used.append(number_of[line])
        rows = np.array(used, np.int64)
        numbers, scores = self.model.decide(examples, threads=1)
        return Lines(chunk.data, starts[rows], ends[rows], (numbers, scores), refuse.count, len(chunk.data))


def lines_in(data: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the lines that are not blank start and end."""
    found = np.frombuffer(data, np.uint8)
    breaks = np.flatnonzero(found == NEWLINE).astype(np.int64) + 1
    ends = breaks if not data or data.endswith(b"\n") else np.append(breaks, len(data))
    starts = np.concatenate([np.zeros(min(1, len(ends)), np.int64), ends[:-1]])
    short = np.flatnonzero(ends - starts <= 2)
    blank = [row for row in short.tolist() if not data[starts[row] : ends[row]].strip()]
    return np.delete(starts, blank), np.delete(ends, blank)


def are_objects(data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> bool:
    """Return whether every line begins with { and ends with }."""
    found = np.frombuffer(data, np.uint8)
    last = ends - 1
    last = np.where(found[last] == NEWLINE, last - 1, last)
    last = np.where(found[last] == RETURN, last - 1, last)
    return bool((found[starts] == OPEN).all() and (found[last] == CLOSE).all())


def is_utf8(data: bytes) -> bool:
    """Return whether the bytes are UTF-8, which Arrow's parser does not check."""
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


@contextmanager
def writing_lines(file: Any, codec: str | None) -> Iterator[Callable[[bytes], object]]:
    """Yield a function that writes kept lines to a file, which it compresses."""
    import pyarrow as pa

    if codec is None:
        yield file.write
        return
    # The stream closes its file, so it gets a descriptor of its own.
    with os.fdopen(os.dup(file.fileno()), "wb") as own, pa.CompressedOutputStream(own, codec) as stream:
        yield stream.write


# ---- Parquet


class ParquetRows:
    """A Parquet file."""

    ending = "parquet"
    compression = None

    def __init__(self, path: str, model: Model, text: str | None, skip_bad: bool) -> None:
        self.path = path
        self.model = model
        columns = model.features.columns
        self.column = columns[0].name if len(columns) == 1 and columns[0].kind == "text" else None
        self.field = text or self.column

    def batches(self) -> Iterator[Any]:
        """Yield record batches. They are the same each time."""
        import pyarrow.parquet as pq

        with readable(self.path), open_seekable(NamedFile(self.path)) as opened, pq.ParquetFile(opened) as whole:
            yield from whole.iter_batches(BATCH_ROWS, use_threads=False)

    def scored(self, batch: Any) -> Columns:
        import pyarrow as pa

        with readable(self.path):
            batch.validate(full=True)
        table = pa.Table.from_batches([batch])
        if self.column is not None:
            if self.field not in table.column_names:
                known = ", ".join(map(repr, table.column_names))
                raise DataError(f"{self.path} has no column {self.field!r}; it has {known}")
            table = pa.table({self.column: table[self.field]})
        return Columns(batch, self.model.decide(table, threads=1), 0, batch.nbytes)


RowsFile = LinesFile | ParquetRows


def size_of(batch: Any) -> int:
    """Return the bytes of a chunk or a record batch."""
    return len(batch.data) if isinstance(batch, Chunk) else int(batch.nbytes)
