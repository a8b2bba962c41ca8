"""Chunks: pieces of a file of about a megabyte, in UTF-8, each of which ends with a complete line or row."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from markone.brief import Brief
from markone.data.files import File, open_plain, readable
from markone.data.foreign import LOOKED_AT, check_start
from markone.data.options import Options
from markone.errors import DataError, LimitError, Setting

CHUNK = 2**20
BYTE_ORDER_MARK = codecs.BOM_UTF8


@dataclass(frozen=True, slots=True, repr=False)
class Chunk(Brief):
    """Complete lines of a file, and the number of lines before them."""

    file: str
    data: bytes
    lines_before: int

    def place(self, line: int) -> str:
        """The place of a line of the chunk, counted from 1, for a message."""
        return f"{self.file}, line {self.lines_before + line}"

    def at(self, line: int) -> dict[str, Any]:
        """The place of a line, as arguments of an error."""
        return {"file": self.file, "line": self.lines_before + line}


def last_line_end(data: bytes) -> int:
    return data.rfind(b"\n") + 1


def chunks(files: Iterable[File], options: Options, cut: Callable[[bytes], int] = last_line_end) -> Iterator[Chunk]:
    """The chunks of all files, one after the other. `cut` returns where the last complete row ends, or 0."""
    files = list(files)
    for file in files:
        file.place = 0
    for file in files:
        yield from chunks_of(file, options, cut)


def chunks_of(file: File, options: Options, cut: Callable[[bytes], int]) -> Iterator[Chunk]:
    lines = 0
    rest = b""
    waiting: list[bytes] = []  # as long as the unfinished row, so that a long line is not searched for each piece
    for fresh in chain(pieces(file, options), [b""]):
        waiting.append(fresh)
        if fresh and rest and sum(map(len, waiting)) < len(rest):
            continue
        rest = b"".join([rest, *waiting])
        waiting = []
        end = cut(rest)
        if end == 0 and len(rest) > options.longest_line:
            raise LimitError(
                (
                    f"the line is longer than {options.longest_line:,} bytes; is the file not "
                    f"{options.format or 'a file of lines'} at all, or is a quote not closed? "
                    "If such lines are intended, allow them with ",
                    Setting("longest_line"),
                ),
                file=file.name,
                line=lines + 1,
            )
        if end > 0:
            chunk = Chunk(file.name, rest[:end], lines)
            lines += count_lines(chunk.data)
            rest = rest[end:]
            yield chunk
    if rest:
        yield Chunk(file.name, rest, lines)


def count_lines(data: bytes) -> int:
    """The number of line ends; five times as fast as bytes.count."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))


def pieces(file: File, options: Options) -> Iterator[bytes]:
    """The bytes of a file in UTF-8, without a byte order mark."""
    decoder = None
    if codecs.lookup(options.encoding).name not in ("utf-8", "utf-8-sig"):
        decoder = codecs.getincrementaldecoder(options.encoding)()
    size = min(CHUNK, max(options.longest_line, len(BYTE_ORDER_MARK)))
    at_start = True
    with readable(file.name):
        stream = open_plain(file)
    try:
        while True:
            with readable(file.name):
                raw: bytes = stream.read(size)
                file.look()
            if at_start:
                check_start(file.name, raw[:LOOKED_AT])
            piece = raw if decoder is None else decode(raw, decoder, file.name, options.encoding)
            if at_start:
                piece = piece.removeprefix(BYTE_ORDER_MARK)
                at_start = False
            if piece:
                yield piece
            if not raw:
                with readable(file.name):
                    file.check_again()
                return
    finally:
        stream.close()


def decode(raw: bytes, decoder: codecs.IncrementalDecoder, name: str, encoding: str) -> bytes:
    """The next bytes in UTF-8, none at the end of the file. A file that ends within a character is an error."""
    try:
        return decoder.decode(raw, final=not raw).encode("utf-8", "surrogatepass")
    except UnicodeError as error:
        wrong = f" {error.object[error.start : error.end]!r}" if isinstance(error, UnicodeDecodeError) else ""
        raise DataError(f"{name} is not {encoding}: there is no character for the bytes{wrong}") from None
