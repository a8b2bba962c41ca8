"""The output of commands: its format, and the file or the standard output that it is written to."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from markone.data.files import COMPRESSION_OF_ENDING, STANDARD_INPUT
from markone.data.finding import files_in, find, format_of
from markone.errors import DataError, SettingsError

FORMAT_OF_ENDING = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".txt": "labels"}


def output_format(asked: str | None, path: str | None, *, more: bool) -> str:
    """Return the format that the user asked for, or that the name of the file tells. `more` needs columns."""
    ending = os.path.splitext(path or "")[1].lower()
    if ending in COMPRESSION_OF_ENDING:
        raise DataError(
            f"the output is not compressed, but {path} has the name of a compressed file; leave out {ending}, or use a "
            f"pipe instead of -o"
        )
    if asked is None and ending not in ("", *FORMAT_OF_ENDING):
        known = " ".join(FORMAT_OF_ENDING)
        raise DataError(f"the name of {path} does not tell the format ({known}); give one, for example --output csv")
    format = asked or FORMAT_OF_ENDING.get(ending) or ("csv" if more else "labels")
    if more and format == "labels":
        raise SettingsError("output", "must be csv or jsonl to write columns or scores, not labels")
    return format


def check_not_read(path: str | None, *inputs: str | None) -> None:
    """Check that the output does not overwrite an input."""
    if not path or not os.path.exists(path):
        return
    place = os.stat(path)
    if any(os.path.samestat(place, read) for name in inputs if name for read in files_read(name)):
        raise DataError(f"{path} is an input file; name another file for the output")


def files_read(name: str) -> Iterator[os.stat_result]:
    """Yield the status of each file that a name stands for: a file, a pattern, a folder, or standard input."""
    if name == STANDARD_INPUT:
        with suppress(OSError):
            yield os.fstat(0)
        return
    paths: list[str] = []
    with suppress(DataError):  # the reader reports a missing file
        paths = find(name)
    for found in paths:
        if not os.path.isdir(found):
            yield os.stat(found)
            continue
        files, folders = files_in(found)
        for file in [*filter(format_of, files), *(file for folder in folders for file in files_in(folder)[0])]:
            with suppress(OSError):  # a broken link
                yield os.stat(file)


@contextmanager
def opened(path: str | None) -> Iterator[Callable[[bytes], object]]:
    """Yield a function that writes to a file, which appears when it is complete, or directly to standard output."""
    if path is not None:
        from markone.storage.atomic import writing

        with writing(path) as file:
            yield file.write
        return
    sys.stdout.flush()
    yield to_standard_output


def write_page(path: str | None, page: Callable[[], str]) -> None:
    """Write a page or another text, if there is a path."""
    if path is not None:
        with opened(path) as write:
            write(page().encode())


def to_standard_output(data: bytes) -> None:
    if sys.stdout.isatty():
        from markone.reporting.grids import visible_text

        data = visible_text(data.decode("utf-8", "backslashreplace")).encode()
    try:
        for piece in pieces_of(data):
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from None


def pieces_of(data: bytes) -> Iterator[bytes]:
    """Split data into pieces of whole lines that a pipe accepts in one write, so that no signal cuts a line in two.

    A line that is longer is a piece by itself.
    """
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + select.PIPE_BUF) + 1 or data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end
