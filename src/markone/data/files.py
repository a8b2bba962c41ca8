"""Files: opened and decompressed; also pipes and standard input."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, Protocol

from markone.addresses import facts_of_address, is_address, open_address, shown
from markone.data.archives import Member, is_zip, open_member
from markone.errors import DataError, MarkoneError, shorten
from markone.extras import need

STANDARD_INPUT = "-"

START_KEPT = 2**26
"""The number of bytes that are kept at the start of a file that is read only once. The start is read several times."""
IN_MEMORY = 2**20
"""The number of bytes of a stream that need no temporary file."""
PAUSE = 0.02
"""The number of seconds to wait for more bytes of a pipe before the bytes so far are passed on."""

COMPRESSION_OF_ENDING = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".zip": "zip"}

# The first bytes of compressed files. No text begins with them: two are not UTF-8, the third has six odd bytes.
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
BZ2_MAGIC = (b"BZh", b"\x31\x41\x59\x26\x53\x59")


class File(Protocol):
    """A file that can be opened repeatedly."""

    place: int
    """The number of bytes that have been read since it was last opened."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int | None:
        """Its size in bytes, or None if it is not known."""

    def open(self) -> Any:
        """Open it at its first byte."""

    def look(self) -> None:
        """Update `place`."""

    def check_again(self) -> None:
        """Raise an error at the end of a reading if the file has changed meanwhile."""


class NamedFile:
    """A file on disk. It must not change between two openings; if it is read only `once`, it may grow."""

    def __init__(self, path: str, once: bool = False) -> None:
        self.path = path
        self.once = once
        self.place = 0
        self.opened: Any = None
        self.descriptor: int | None = None
        self.identity: Identity | None = None

    @property
    def name(self) -> str:
        return self.path

    @property
    def size(self) -> int | None:
        return os.path.getsize(self.path)

    def open(self) -> Any:
        # If a pipe has replaced the file, a blocking open would wait for a writer.
        opener = lambda path, flags: os.open(path, flags | os.O_NONBLOCK)  # noqa: E731
        self.opened = open(self.path, "rb", buffering=0, opener=opener)  # noqa: SIM115 - its reader closes it
        self.descriptor = self.opened.fileno()
        try:
            self.check(os.fstat(self.descriptor))
        except BaseException:
            self.opened.close()
            raise
        return self.opened

    def open_in_arrow(self) -> Any:
        """Open it as a file of Arrow, which is read without Python."""
        import pyarrow as pa

        self.check(os.stat(self.path))
        self.opened = pa.OSFile(self.path)  # not every version gives access to its descriptor
        self.descriptor = None
        return self.opened

    def check(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise special(self.path, found.st_mode)
        now = Identity.of(found)
        if self.identity is None:
            self.identity = now
        elif change := now.change_since(self.identity, may_grow=self.once):
            raise DataError(
                f"{self.path} {change} while it was being read; start again when no program writes to it, or "
                "read a copy of it"
            )

    def check_again(self) -> None:
        """Raise an error if the file has changed while it was read."""
        if not self.opened.closed:
            self.check(os.stat(self.path) if self.descriptor is None else os.fstat(self.descriptor))

    def look(self) -> None:
        self.place = self.opened.tell()


class DistantFile:
    """A file that has an address. It must not change between two openings."""

    def __init__(self, address: str) -> None:
        self.path = address
        self.name = shown(address)
        self.place = 0
        self.opened: Any = None
        self.facts = facts_of_address(address)

    @property
    def size(self) -> int | None:
        return self.facts[0]

    def open(self) -> Any:
        self.check_again()
        self.opened = open_address(self.path)
        return self.opened

    def check_again(self) -> None:
        if facts_of_address(self.path) != self.facts:
            raise DataError(f"{self.name} was written to while it was being read; read a copy of it")

    def look(self) -> None:
        self.place = self.opened.tell()


class Identity(NamedTuple):
    """The facts that change if a file is replaced or written to."""

    file: tuple[int, int]
    size: int
    modified: int

    @classmethod
    def of(cls, found: os.stat_result) -> Identity:
        return cls((found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns)

    def change_since(self, before: Identity, *, may_grow: bool = False) -> str:
        """What has happened to the file, for a message; an empty text if it is unchanged."""
        if self.file != before.file:
            return "was replaced by another file"
        if self.size < before.size:
            return f"shrank from {before.size:,} to {self.size:,} bytes"
        if may_grow or self == before:
            return ""
        return f"grew from {before.size:,} to {self.size:,} bytes" if self.size > before.size else "was written to"


SPECIAL = (
    (stat.S_ISFIFO, "a pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
)


def special(path: str, mode: int) -> DataError:
    """The error for something in a folder that is not a regular file."""
    what = next((what for is_one, what in SPECIAL if is_one(mode)), "not a regular file")
    return DataError(f"{path} is {what}, not a file; remove it from the folder, or name the files to read")


class KeptFile:
    """A pipe or another stream. While it is first read, it is copied to a temporary file, from which it can be read
    again.

    If it will be read only `once`, only its start is copied, and its bytes are passed on as soon as no more of them
    arrive for a moment. A short stream stays in memory.
    """

    size: int | None = None

    def __init__(self, stream: BinaryIO, name: str, once: bool = False) -> None:
        self.stream = stream
        self.name = name
        self.once = once
        self.place = 0
        self.kept: BinaryIO = io.BytesIO()
        self.met = self.passed = 0
        self.at_end = False
        self.lock = threading.Lock()

    def open(self) -> Any:
        return KeptReading(self)

    def look(self) -> None:
        """Do nothing: without a known size, no progress is shown."""

    def check_again(self) -> None:
        """Do nothing: the copy does not change."""

    def read_at(self, place: int, size: int) -> bytes:
        with self.lock:
            if self.once and place >= self.met:
                return self.pass_on(place, size)
            while not self.at_end and self.met < place + size and not self.once:
                fresh = self.stream.read(max(2**16, place + size - self.met))
                self.at_end = not fresh
                self.keep(fresh)
            self.kept.seek(place)
            return self.kept.read(min(size, max(0, self.met - place)))

    def keep(self, fresh: bytes) -> None:
        if isinstance(self.kept, io.BytesIO) and self.met + len(fresh) > IN_MEMORY:
            start = self.kept.getvalue()
            self.kept = temporary_file()
            weakref.finalize(self, self.kept.close)
            self.kept.write(start)
        self.kept.seek(self.met)
        self.kept.write(fresh)
        self.met += len(fresh)

    def pass_on(self, place: int, size: int) -> bytes:
        """Return the next bytes; only those at the start of the stream are kept."""
        if place != self.passed:
            raise DataError(f"{self.name} can be read only once")
        if self.met < START_KEPT:
            self.keep(self.read_what_comes(max(size, 2**20)))
            self.passed = self.met
            self.kept.seek(place)
            return self.kept.read(size)
        fresh = self.read_what_comes(size)
        self.passed += len(fresh)
        return fresh

    def read_what_comes(self, size: int) -> bytes:
        """Wait for some bytes, and for more as long as they keep arriving; returns no bytes at the end."""
        read_some = getattr(self.stream, "read1", self.stream.read)
        parts: list[bytes] = []
        missing = size
        while missing > 0 and not self.at_end and (not parts or comes_soon(self.stream)):
            parts.append(read_some(missing))
            self.at_end = not parts[-1]
            missing -= len(parts[-1])
        return b"".join(parts)

    def read_all(self) -> int:
        """Copy the whole stream, and return its size."""
        while not self.at_end:
            self.read_at(self.met, 2**20)
        return self.met


def comes_soon(stream: BinaryIO) -> bool:
    """Whether there are bytes to read now or in a moment. A stream without a descriptor never blocks."""
    try:
        descriptor = stream.fileno()
    except (OSError, AttributeError):
        return True
    ready, _, _ = select.select([descriptor], [], [], PAUSE)
    return bool(ready)


class KeptReading:
    """One reading of a `KeptFile`."""

    def __init__(self, source: KeptFile) -> None:
        self.source = source
        self.place = 0
        self.closed = False

    def read(self, size: int | None = None) -> bytes:
        if size is None or size < 0:
            size = self.source.read_all() - self.place
        data = self.source.read_at(self.place, size)
        self.place += len(data)
        return data

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self.place, os.SEEK_END: 0}[whence]
        self.place = max(0, (self.source.read_all() if whence == os.SEEK_END else base) + place)
        return self.place

    def tell(self) -> int:
        return self.place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def flush(self) -> None:
        """Do nothing: pyarrow calls it."""

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> KeptReading:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def standard_input(once: bool = False) -> File:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise DataError("there is no standard input")
    return KeptFile(stream, "standard input", once)


def file_at(path: str, once: bool = False) -> File:
    """The file with this name, which may be a pipe, or with this address."""
    if is_address(path):
        return DistantFile(path)
    if os.path.isfile(path):
        return NamedFile(path, once)
    with readable(path):
        if stat.S_ISSOCK(os.stat(path).st_mode):
            raise DataError(
                f"{path} is a socket, which cannot be opened; read from it through a pipe, as in: nc -U ... | ..."
            )
        stream = open(path, "rb")  # noqa: SIM115 - it is closed together with its copy
    kept = KeptFile(stream, path, once)
    weakref.finalize(kept, stream.close)
    return kept


# ---- opening


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn an error of reading a file into a `DataError` that names the file."""
    try:
        yield
    except MarkoneError:
        raise
    except FileNotFoundError:
        link = f"is a symbolic link to {os.readlink(name)}, which does not exist" if os.path.islink(name) else ""
        raise DataError(f"{name} {link or 'no longer exists: it did when reading began'}") from None
    except Exception as error:
        if not isinstance(error, (OSError, EOFError, UnicodeError, MemoryError)) and not is_of_arrow(error):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DataError(f"{name} cannot be read: {shorten(reason)}") from None


def is_of_arrow(error: Exception) -> bool:
    """Whether it is an error of Arrow, which is not imported for this, because its import is slow."""
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(error, arrow.ArrowException)


def compression_of(start: bytes) -> str | None:
    """The compression of a file, recognised by its first ten bytes."""
    if start.startswith(BZ2_MAGIC[0]) and start[4:10] == BZ2_MAGIC[1]:
        return "bz2"
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)


def open_plain(file: File) -> Any:
    """The bytes of a file as a stream, decompressed if necessary."""
    raw = file.open()
    start = raw.read(10)
    raw.seek(0)
    if is_zip(file.name):
        return open_member(file.name, raw)
    found = compression_of(start)
    named = COMPRESSION_OF_ENDING.get(os.path.splitext(file.name)[1])
    if named is not None and found != named and start:
        raw.close()
        raise DataError(f"{file.name} is named like a {named} file but is not one")
    if found is None:
        return raw
    need("pyarrow")
    import pyarrow as pa

    if not isinstance(file, NamedFile):
        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), found)
    raw.close()
    return pa.CompressedInputStream(file.open_in_arrow(), found)


def is_unpacked(stream: Any) -> bool:
    """Whether a stream of `open_plain` comes from a compressed file."""
    arrow = sys.modules.get("pyarrow")
    return isinstance(stream, Member) or (arrow is not None and isinstance(stream, arrow.CompressedInputStream))


def temporary_file() -> BinaryIO:
    """An empty file without a name, which vanishes when it is closed."""
    import tempfile

    return tempfile.TemporaryFile()


def open_seekable(file: File) -> Any:
    """The bytes of a file for formats that need to seek; a compressed file is unpacked into a temporary file."""
    import pyarrow as pa

    stream = open_plain(file)
    if not is_unpacked(stream):
        if not isinstance(file, NamedFile):
            return pa.PythonFile(stream, mode="r")
        stream.close()
        return file.open_in_arrow()
    whole = temporary_file()
    try:
        while piece := stream.read(2**20):
            whole.write(piece)
        whole.seek(0)
    except BaseException:
        whole.close()
        raise
    return pa.PythonFile(whole, mode="r")
