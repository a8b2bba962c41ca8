"""Files: found by name, pattern or folder, opened and decompressed; also pipes and standard input."""

from __future__ import annotations

import errno
import glob
import io
import os
import select
import stat
import sys
import threading
import weakref
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

from markone.data.foreign import foreign_at
from markone.data.formats import FORMATS, format_of_name
from markone.errors import DataError, LimitError, MarkoneError, Setting, did_you_mean

if TYPE_CHECKING:
    import zipfile

STANDARD_INPUT = "-"

START_KEPT = 2**26
"""The number of bytes that are kept at the start of a file that is read only once. The start is read several times."""
PAUSE = 0.02
"""The number of seconds to wait for more bytes of a pipe before the bytes so far are passed on."""

IDX_LABELS = ("idx1-ubyte", "idx1.ubyte")
COMPRESSION_OF_ENDING = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".zip": "zip"}
LARGEST_BY_RATIO, LARGEST_RATIO = 2**30, 200
"""A file in a ZIP archive that is larger than this, and larger than its packed size by this factor, is refused."""

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
    arrive for a moment.
    """

    size: int | None = None

    def __init__(self, stream: BinaryIO, name: str, once: bool = False) -> None:
        import tempfile

        self.stream = stream
        self.name = name
        self.once = once
        self.place = 0
        self.kept = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this object
        weakref.finalize(self, self.kept.close)
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
    """The file with this name, which may be a pipe."""
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


def shorten(sentence: str, longest: int = 300) -> str:
    """The message of another library on one line, cut if it is long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in sentence).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


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
    import pyarrow as pa

    if not isinstance(file, NamedFile):
        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), found)
    raw.close()
    return pa.CompressedInputStream(file.open_in_arrow(), found)


def is_zip(name: str) -> bool:
    return os.path.splitext(name)[1].lower() == ".zip"


def members_of(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files in an archive, without folders and without those that macOS adds."""
    return [
        one
        for one in archive.infolist()
        if not one.is_dir() and not one.filename.startswith("__MACOSX/") and not hidden(one.filename)
    ]


def hidden(path: str) -> bool:
    return os.path.basename(path).startswith(".")


def open_member(name: str, raw: Any) -> Any:
    """The bytes of the only file in an archive as a stream."""
    import zipfile

    try:
        archive = zipfile.ZipFile(raw)
        members = members_of(archive)
        if len(members) != 1:
            names = ", ".join(one.filename for one in members[:5]) + (", ..." if len(members) > 5 else "")
            raise DataError(
                f"{name} contains {len(members)} files{f': {names}' if members else ''}; an archive must contain one "
                "file, so unpack it and name the files to read"
            )
        [member] = members
        if member.flag_bits & 1:
            raise DataError(f"{name} is encrypted; unpack it first")
        if member.file_size > max(LARGEST_BY_RATIO, LARGEST_RATIO * member.compress_size):
            raise LimitError(
                f"{member.filename} in {name} is {member.file_size:,} bytes large but packed into "
                f"{member.compress_size:,}, which is suspicious; unpack it yourself if you trust it",
                file=name,
            )
        damage = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError)
        return Member(raw, archive.open(member), damage)
    except BaseException as error:
        raw.close()
        if isinstance(error, MarkoneError) or not isinstance(error, Exception):
            raise
        # The module raises errors of many types for damaged archives.
        raise DataError(
            f"{name} is named like a ZIP archive but cannot be read as one: {shorten(str(error))}"
        ) from None


class Member(io.RawIOBase):
    """A file in an archive. Damage that is found while it is read is an `OSError`."""

    def __init__(self, raw: Any, stream: IO[bytes], damage: tuple[type[Exception], ...]) -> None:
        self.raw, self.stream, self.damage = raw, stream, damage

    def read(self, size: int | None = -1) -> bytes:
        try:
            return self.stream.read(-1 if size is None else size)
        except self.damage as error:
            raise OSError(str(error)) from None

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self.stream.close()
            self.raw.close()
        super().close()


def is_unpacked(stream: Any) -> bool:
    """Whether a stream of `open_plain` comes from a compressed file."""
    import pyarrow as pa

    return isinstance(stream, pa.CompressedInputStream | Member)


def open_seekable(file: File) -> Any:
    """The bytes of a file for formats that need to seek; a compressed file is unpacked into a temporary file."""
    import pyarrow as pa

    stream = open_plain(file)
    if not is_unpacked(stream):
        if not isinstance(file, NamedFile):
            return pa.PythonFile(stream, mode="r")
        stream.close()
        return file.open_in_arrow()
    import tempfile

    whole = tempfile.TemporaryFile()  # noqa: SIM115 - its reader closes it
    try:
        while piece := stream.read(2**20):
            whole.write(piece)
        whole.seek(0)
    except BaseException:
        whole.close()
        raise
    return pa.PythonFile(whole, mode="r")


# ---- finding


def find(path: str) -> list[str]:
    """The files that match a path or a pattern; the path itself if it is a folder."""
    if os.path.exists(path):
        return [path]
    if os.path.islink(path):
        raise DataError(
            f"{path} is a symbolic link to {os.readlink(path)}, {why_broken(path)}; create it again, or name the file"
        )
    if glob.has_magic(path):
        found = sorted(name for name in matches(path) if os.path.isfile(name))
        if not found:
            raise DataError(f"no file matches {path}")
        return found
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        raise DataError(f"there is no folder {folder}, which should contain {name}")
    guess = did_you_mean(name, os.listdir(folder or "."))
    raise DataError(f"there is no file {path}.{guess}")


def why_broken(link: str) -> str:
    """Why a symbolic link does not lead to a file."""
    try:
        os.stat(link)
    except OSError as error:
        return "which is a loop of links" if error.errno == errno.ELOOP else "which does not exist"
    return "which exists again"


def matches(pattern: str) -> set[str]:
    """The names that match a pattern. `**` matches a folder and all folders below it, each once, even if links form a
    loop, in which Python's `glob` would run many times."""
    head, deep, tail = cut_pattern(pattern)
    if not deep:
        return set(glob.glob(pattern))
    tops = glob.glob(os.path.join(head, "")) if head else [""]
    folders = [folder for top in sorted(tops) for folder in folders_below(top)]
    return {name for folder in folders for name in matches(os.path.join(glob.escape(folder), tail or "*"))}


def cut_pattern(pattern: str) -> tuple[str, str, str]:
    """The parts of a path before, at and after its first `**` between two separators.

    >>> cut_pattern("data/**/*.csv"), cut_pattern("**.csv")
    (('data', '**', '*.csv'), ('**.csv', '', ''))
    """
    parts = pattern.split(os.sep)
    if "**" not in parts:
        return pattern, "", ""
    at = parts.index("**")
    head = os.sep.join(parts[:at])
    return head or (os.sep if at else ""), "**", os.sep.join(parts[at + 1 :])


def folders_below(top: str) -> Iterator[str]:
    """A folder and all folders below it, without hidden ones."""
    seen = {os.path.realpath(top)}
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        yield folder
        for name in sorted(glob.glob(os.path.join(glob.escape(folder), "*", ""))):
            real = os.path.realpath(name)
            if real not in seen:
                seen.add(real)
                waiting.append(name)


def files_in(folder: str) -> tuple[list[str], list[str]]:
    """The files and the folders in a folder, sorted, without names that begin with a dot or an underscore."""
    files: list[str] = []
    folders: list[str] = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if not entry.name.startswith((".", "_")):
            (folders if os.path.isdir(entry.path) else files).append(entry.path)
    return files, folders


def format_of(path: str) -> str | None:
    """The format that a file's name shows or, for a ZIP archive, the name of the only file in it; else None."""
    found = format_of_name(name_without_compression(path))
    if found is not None or not is_zip(path):
        return found
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            members = members_of(archive)
    except (OSError, ValueError, zipfile.BadZipFile):
        return None
    return format_of_name(os.path.basename(members[0].filename).lower()) if len(members) == 1 else None


def name_without_compression(path: str) -> str:
    name = os.path.basename(path).lower()
    stem, ending = os.path.splitext(name)
    return stem if ending in COMPRESSION_OF_ENDING else name


def common_format(paths: Sequence[str]) -> str:
    """The format of all these files, which their names show."""
    formats = {path: format_of(path) for path in paths}
    first, *others = dict.fromkeys(formats.values())
    if first is None or None in others:
        path = next(path for path, format in formats.items() if format is None)
        if name_without_compression(path).endswith(IDX_LABELS):
            raise DataError(
                f"{path} contains labels, by its name; read the file of images, whose name ends in "
                f"{FORMATS['idx'].endings[0]}: its labels are found beside it, or in the file that target names"
            )
        error = None if is_zip(path) else foreign_at(path)
        if error is not None:
            raise error
        if is_zip(path):
            open_plain(NamedFile(path)).close()  # an error if it is not an archive of one file
        endings = [ending for format in FORMATS.values() for ending in format.endings]
        guess = did_you_mean(os.path.splitext(name_without_compression(path))[1], endings)
        advice = ("set it, for instance ", Setting("format", "csv"))
        raise DataError(
            f"the name of {path} does not show its format ({' '.join(endings)}).{guess}".removesuffix("."),
            file=path,
            advice=advice,
        )
    if others:
        path = next(path for path, format in formats.items() if format == others[0])
        raise DataError(
            f"{paths[0]} is {first} but {path} is {others[0]}; files that are read together must have one format"
        )
    return first
