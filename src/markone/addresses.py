"""Files that have an address, such as `s3://bucket/part.csv`, by the file systems of pyarrow and fsspec."""

from __future__ import annotations

import fnmatch
import re
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import unquote

from markone.errors import DataError, LimitError, MarkoneError, shorten
from markone.extras import installed, need

ANSWER = 15.0
"""The seconds in which a file system must answer the first question about a file."""
MOST_FILES = 100_000
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
OF_PYARROW = ("s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")
"""The file systems of pyarrow. All others are those of fsspec."""
MAGIC = re.compile(r"[*?[]")

Result = TypeVar("Result")


class Address(str):
    """An address where the path of a file is expected. A `pathlib.Path` would lose one of its slashes."""

    __slots__ = ()

    def __fspath__(self) -> str:
        return str(self)


def is_address(name: str) -> bool:
    """
    >>> [is_address(name) for name in ("s3://bucket/a.csv", "memory://a.csv", "C:/a.csv", "a/b.csv")]
    [True, True, False, False]
    """
    return ADDRESS.match(name) is not None


def path_of_local(address: str) -> str | None:
    """Return the path of an address such as `file:///data/a.csv`; None for other addresses."""
    found = re.fullmatch(r"file://(?:localhost)?(/.*)", address, re.DOTALL)
    return None if found is None else unquote(found[1])


def shown(address: str) -> str:
    """Return an address for messages and files, without a user's name, password or other secrets.

    >>> shown("s3://key:secret@bucket/a.csv?secret=1"), shown("memory://a/b.csv")
    ('s3://bucket/a.csv', 'memory://a/b.csv')
    """
    scheme, rest = address.split("://", 1)
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


def answered(address: str, ask: Callable[[], Result]) -> Result:
    """Return the answer of a file system, or raise an error that names the address if there is none in time."""
    found: list[Result] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            found.append(ask())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True, name="markone-address")
    thread.start()
    thread.join(ANSWER)
    if thread.is_alive():
        raise DataError(
            f"{shown(address)} cannot be read: there was no answer within {ANSWER:.0f} seconds",
            advice="check the address, and the connection to it",
        )
    if found:
        return found[0]
    [error] = failed
    if isinstance(error, MarkoneError) or not isinstance(error, Exception):
        raise error
    raise cannot(address, error) from None


def cannot(address: str, error: Exception) -> DataError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return DataError(f"{shown(address)} cannot be read: {shorten(str(reason))}")


@lru_cache(64)
def file_system_of(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    need("pyarrow")
    from pyarrow import fs

    scheme = address.split("://")[0].lower()
    if scheme in OF_PYARROW:
        system, path = fs.FileSystem.from_uri(address)
        return system, path
    if not installed("fsspec"):
        raise DataError(f"{scheme}:// needs a package that is not installed: pip install fsspec")
    import fsspec

    system, path = fsspec.core.url_to_fs(address)
    return fs.PyFileSystem(fs.FSSpecHandler(system)), path


def facts_of_address(address: str) -> tuple[int, int]:
    """Return the size of a file in bytes, and when it was written to, in nanoseconds; 0 if that is not known."""
    from pyarrow import fs

    def ask() -> Any:
        system, path = file_system_of(address)
        return system.get_file_info(path)

    info = answered(address, ask)
    if info.type != fs.FileType.File:
        what = "is a folder, not a file" if info.type == fs.FileType.Directory else "does not exist"
        raise DataError(f"{shown(address)} {what}")
    return int(info.size), int(info.mtime_ns or 0)


def open_address(address: str) -> Any:
    """Open a file for reading at any place, as a file of Arrow."""

    def ask() -> Any:
        system, path = file_system_of(address)
        return system.open_input_file(path)

    return answered(address, ask)


def find_addresses(address: str) -> list[str]:
    """Return the files that an address stands for, which can also be a pattern, or that of a folder."""
    from pyarrow import fs

    def ask() -> list[str]:
        system, path = file_system_of(address)
        pattern = MAGIC.search(path)
        if pattern is None:
            info = system.get_file_info(path)
            if info.type != fs.FileType.Directory:
                return [address]
            top = path
        else:
            top = path[: pattern.start()].rpartition("/")[0]
        deep = pattern is not None and "/" in path[pattern.start() :]
        there = system.get_file_info(fs.FileSelector(top or "/", allow_not_found=True, recursive=deep))
        start, query = address.split(path, 1)
        names = [one.path for one in there if one.type == fs.FileType.File and not one.base_name.startswith((".", "_"))]
        if pattern is not None:
            names = [name for name in names if matches(name.lstrip("/"), path.lstrip("/"))]
        return [start + name + query for name in sorted(names)]

    found = answered(address, ask)
    if not found:
        raise DataError(f"no file matches {shown(address)}")
    if len(found) > MOST_FILES:
        raise LimitError(f"{shown(address)} stands for {len(found):,} files; at most {MOST_FILES:,} are read together")
    return found


def matches(path: str, pattern: str) -> bool:
    """Whether a path matches a pattern, folder by folder.

    >>> matches("a/b.csv", "a/*.csv"), matches("a/b/c.csv", "a/*.csv"), matches("a/b/c.csv", "*/b/c.*")
    (True, False, True)
    """
    names, patterns = path.split("/"), pattern.split("/")
    return len(names) == len(patterns) and all(map(fnmatch.fnmatchcase, names, patterns))
