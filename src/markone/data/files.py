"""Files: found by name, pattern or folder, opened through whatever they are compressed with, and standard input."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol

from markone.errors import DataError, MarkoneError, did_you_mean

STANDARD_INPUT = "-"

FORMAT_OF_ENDING = {
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "parquet": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "libsvm": "libsvm",
    "svm": "libsvm",
    "svmlight": "libsvm",
    "vw": "vw",
    "ft": "fasttext",
    "txt": "tab",
}
IDX_IMAGES = ("idx3-ubyte", "idx3.ubyte")
IDX_LABELS = ("idx1-ubyte", "idx1.ubyte")
COMPRESSION_OF_ENDING = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}

# How compressed files begin. No text begins so: the first two are no UTF-8, the third has six odd bytes.
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
BZ2_MAGIC = (b"BZh", b"\x31\x41\x59\x26\x53\x59")


class File(Protocol):
    """Something that can be opened again and again."""

    @property
    def name(self) -> str: ...

    def open(self) -> Any:
        """Its bytes, as a pyarrow file."""


class NamedFile:
    """A file on disk."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def name(self) -> str:
        return self.path

    def open(self) -> Any:
        import pyarrow as pa

        return pa.OSFile(self.path)


class KeptFile:
    """What can be read only once, such as a pipe: it is kept in a temporary file without a name while it is first read,
    so that it can be read again."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.stream = stream
        self.name = name
        self.kept = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this object
        weakref.finalize(self, self.kept.close)
        self.size = 0
        self.at_end = False
        self.lock = threading.Lock()

    def open(self) -> Any:
        import pyarrow as pa

        return pa.PythonFile(KeptReading(self), mode="r")

    def read_at(self, place: int, size: int) -> bytes:
        with self.lock:
            while not self.at_end and self.size < place + size:
                fresh = self.stream.read(max(2**16, place + size - self.size))
                self.at_end = not fresh
                self.kept.seek(self.size)
                self.kept.write(fresh)
                self.size += len(fresh)
            self.kept.seek(place)
            return self.kept.read(min(size, max(0, self.size - place)))

    def read_all(self) -> int:
        """Keeps all of it; its size."""
        while not self.at_end:
            self.read_at(self.size, 2**20)
        return self.size


class KeptReading:
    """One reading of such a file."""

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
        """There is nothing to flush; pyarrow asks all the same."""

    def close(self) -> None:
        self.closed = True


def standard_input() -> File:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise DataError("there is no standard input")
    return KeptFile(stream, "standard input")


def file_at(path: str) -> File:
    """The file of that name, which may be a pipe."""
    if os.path.isfile(path):
        return NamedFile(path)
    with readable(path):
        stream = open(path, "rb")  # noqa: SIM115 - it is closed together with what is kept of it
    kept = KeptFile(stream, path)
    weakref.finalize(kept, stream.close)
    return kept


# ---- opening


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Makes what goes wrong while a file is read an error that names it."""
    import pyarrow as pa

    try:
        yield
    except MarkoneError:
        raise
    except FileNotFoundError:
        raise DataError(f"{name} is gone: it was there when reading began") from None
    except (OSError, EOFError, UnicodeError, pa.ArrowException, MemoryError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DataError(f"{name} cannot be read: {shorten(reason)}") from None


def shorten(sentence: str, longest: int = 300) -> str:
    """A foreign sentence on one line."""
    line = " ".join("".join(c if c.isprintable() else " " for c in sentence).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def compression_of(start: bytes) -> str | None:
    """What a file is compressed with, by its first ten bytes."""
    if start.startswith(BZ2_MAGIC[0]) and start[4:10] == BZ2_MAGIC[1]:
        return "bz2"
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)


def open_plain(file: File) -> Any:
    """The bytes of a file as a stream, decompressed if need be."""
    import pyarrow as pa

    raw = file.open()
    start = raw.read(10)
    raw.seek(0)
    found = compression_of(start)
    named = COMPRESSION_OF_ENDING.get(os.path.splitext(file.name)[1])
    if named is not None and found != named and start:
        raise DataError(f"{file.name} is named like a {named} file but is none")
    return raw if found is None else pa.CompressedInputStream(raw, found)


def open_seekable(file: File) -> Any:
    """The same for formats that are read from several places: what is compressed goes to a nameless temporary file."""
    import pyarrow as pa

    stream = open_plain(file)
    if not isinstance(stream, pa.CompressedInputStream):
        return stream
    whole = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed by whoever reads it
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
    """The files that a path or a pattern names; a folder's own name, if it names one."""
    if os.path.exists(path):
        return [path]
    if glob.has_magic(path):
        found = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
        if not found:
            raise DataError(f"no file matches {path}")
        return found
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        raise DataError(f"there is no folder {folder}, in which to look for {name}")
    guess = did_you_mean(name, os.listdir(folder or "."))
    raise DataError(f"there is no file {path}.{guess}")


def files_in(folder: str) -> tuple[list[str], list[str]]:
    """A folder's files and folders, in order, without those whose names begin with a dot or an underscore."""
    files: list[str] = []
    folders: list[str] = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if not entry.name.startswith((".", "_")):
            (folders if entry.is_dir() else files).append(entry.path)
    return files, folders


def format_of(path: str) -> str | None:
    """The format that a file's name says, or None."""
    name = name_without_compression(path)
    return "idx" if name.endswith(IDX_IMAGES) else FORMAT_OF_ENDING.get(os.path.splitext(name)[1].removeprefix("."))


def name_without_compression(path: str) -> str:
    name = os.path.basename(path).lower()
    stem, ending = os.path.splitext(name)
    return stem if ending in COMPRESSION_OF_ENDING else name


def common_format(paths: Sequence[str]) -> str:
    """The one format that all these files have by their names."""
    formats = {path: format_of(path) for path in paths}
    first, *others = dict.fromkeys(formats.values())
    if first is None or None in others:
        path = next(path for path, format in formats.items() if format is None)
        if name_without_compression(path).endswith(IDX_LABELS):
            raise DataError(
                f"{path} holds labels, by its name; read the file of images, whose name ends in {IDX_IMAGES[0]}: it "
                "finds its labels beside it, or where target says"
            )
        known = " ".join([*(f".{ending}" for ending in FORMAT_OF_ENDING), IDX_IMAGES[0]])
        raise DataError(f"the name of {path} does not say its format ({known}); say it, for instance format='csv'")
    if others:
        path = next(path for path, format in formats.items() if format == others[0])
        raise DataError(
            f"{paths[0]} is {first} but {path} is {others[0]}; files that are read together have one format"
        )
    return first
