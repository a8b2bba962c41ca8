"""Journals: files to which entries are added, each of which is on disk before anybody hears of it.

The first line says what the journal starts from. Each line has a checksum and JSON. The service has a journal of what a
model has learned, and `markone filter` has one of the files that it has written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from xxhash import xxh3_64_hexdigest

from markone.errors import DataError
from markone.storage.atomic import writing

FORMAT = 1
ENDING = ".journal"


class Journal:
    """A file of entries."""

    def __init__(self, path: str, start: dict[str, Any]) -> None:
        self.path = path
        self.start = start
        """The first line: where the journal starts."""
        self._stamp = stamp_of(path)

    @classmethod
    def begin(cls, path: str, start: dict[str, Any]) -> Journal:
        """Write an empty journal, which replaces an older one when it is on disk."""
        with writing(path) as file:
            file.write(line_of({"format": FORMAT, **start}))
        return cls(path, start)

    @classmethod
    def read(cls, path: str) -> tuple[Journal, list[dict[str, Any]]] | None:
        """Return a journal and its entries; None if there is none.

        A last line that is not complete was never confirmed to anybody, and is removed.
        """
        try:
            with open(path, "rb") as file:
                lines = file.read().split(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise DataError(f"cannot read the journal {path}: {error.strerror}") from None
        found = list(entries_in(path, lines))
        if not found or found[0].pop("format", None) != FORMAT:
            raise DataError(f"{path} is not a journal of this version of Markone; move it away to start again")
        size = sum(len(line) + 1 for line in lines[: len(found)])
        if size < os.path.getsize(path):
            os.truncate(path, size)
        return cls(path, found[0]), found[1:]

    def add(self, entry: dict[str, Any]) -> None:
        """Write an entry. When this returns, it is on disk; if it fails, the journal is as before."""
        self.check()
        _, size = self._stamp
        try:
            with open(self.path, "ab") as file:
                file.write(line_of(entry))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with suppress(OSError):
                os.truncate(self.path, size)
            raise DataError(f"{self.path} could not be written: {error.strerror}") from error
        self._stamp = stamp_of(self.path)

    def check(self) -> None:
        """Check that the file is as this journal has left it: nobody else writes to it, and no line is torn."""
        if stamp_of(self.path) != self._stamp:
            raise DataError(f"{self.path} has been changed or removed by another program")


def stamp_of(path: str) -> tuple[int, int]:
    """Return what changes if a journal is replaced or written to."""
    try:
        found = os.stat(path)
    except OSError:
        return -1, 0
    return found.st_ino, found.st_size


@contextmanager
def checked_entries(path: str) -> Iterator[None]:
    """Turn an error of using the entries of a journal into one that names it: they may have been changed."""
    try:
        yield
    except DataError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        words = f"{path} has an entry that is not right ({type(error).__name__}: {error}); move it away to start again"
        raise DataError(words) from error


def line_of(entry: dict[str, Any]) -> bytes:
    text = json.dumps(entry, separators=(",", ":"), allow_nan=False).encode()
    return b"%s %s\n" % (xxh3_64_hexdigest(text).encode(), text)


def entries_in(path: str, lines: list[bytes]) -> Iterator[dict[str, Any]]:
    """Return the entries of complete lines. Only the last line may be incomplete."""
    *whole, _ = lines  # what follows the last line break was not written completely
    for number, line in enumerate(whole):
        checksum, _, text = line.partition(b" ")
        if xxh3_64_hexdigest(text).encode() != checksum:
            if number == len(whole) - 1 and number > 0:
                return
            raise DataError(f"{path}, line {number + 1}: the journal is damaged; move it away to start again")
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            raise DataError(f"{path}, line {number + 1}: the journal is damaged; move it away to start again")
        yield entry
