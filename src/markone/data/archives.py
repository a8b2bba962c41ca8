"""ZIP archives that contain one file."""

from __future__ import annotations

import io
import os
import zlib
from typing import IO, TYPE_CHECKING, Any

from markone.errors import DataError, LimitError, MarkoneError, shorten

if TYPE_CHECKING:
    import zipfile

LARGEST_BY_RATIO, LARGEST_RATIO = 2**30, 200
"""A file in a ZIP archive that is larger than this, and larger than its packed size by this factor, is refused."""


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
