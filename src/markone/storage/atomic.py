"""Atomic writing: after any failure, a file is either the complete old one or the complete new one."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from markone.errors import DataError

try:
    import fcntl
except ImportError:  # Windows, which has no such locks, and no unnamed files that need them
    fcntl = None  # type: ignore[assignment]

OURS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Programs that we start do not get the file, and Windows leaves its bytes alone."""
TRIES, PAUSE = 200, 0.005
"""How often to try to lock the folder, and the seconds between two tries, if another process saves in it, too."""
LONGEST_NAME = 255
NO_NAMELESS = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}
"""The errors of systems and file systems without unnamed files."""
NO_SYNC = {errno.EINVAL, errno.EACCES, errno.EOPNOTSUPP}
"""The errors of file systems that cannot sync a folder, and of folders that we may write to but not open."""


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that becomes the file at `path` if the block succeeds.

    If anything fails, the old file stays unchanged. The new file has no name until it is complete and on disk, so a
    process that is killed leaves nothing behind. A link is followed; a device or a pipe is written to directly. An
    OSError becomes a DataError.
    """
    path = os.fspath(path)
    if path.endswith(os.sep):
        raise DataError(f"cannot save {path}: that is the name of a folder")
    old: os.stat_result | None = None
    try:
        old = status(path)
        if old is not None and (stat.S_ISCHR(old.st_mode) or stat.S_ISFIFO(old.st_mode)):
            with open(path, "wb") as file:
                yield file
            return
        with replacing(os.path.realpath(path), old) as file:
            yield file
    except OSError as error:
        raise DataError(f"cannot save {path}: {sentence(error, path, old)}") from error


def status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except ValueError as error:  # a null character, or one that the system cannot encode
        raise OSError(errno.EINVAL, f"that is not a valid file name ({error})") from None


def sentence(error: OSError, path: str, old: os.stat_result | None) -> str:
    if isinstance(error, FileNotFoundError):
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            return f"there is no folder {folder}"
    why = error.strerror or str(error)
    return why if old is None or not stat.S_ISREG(old.st_mode) else f"{why}; the old file is unchanged"


@contextmanager
def replacing(target: str, old: os.stat_result | None) -> Iterator[BinaryIO]:
    if old is not None and not stat.S_ISREG(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder" if stat.S_ISDIR(old.st_mode) else "it is not a file")
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "there is no permission to write to it")
    descriptor, name = create(target)
    file = os.fdopen(descriptor, "wb")
    try:
        if old is not None and hasattr(os, "fchmod"):
            os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
        yield file
        file.flush()
        os.fsync(descriptor)
        if name is None:
            give_name(descriptor, target)
        else:
            file.close()  # Windows renames no file that is open
            os.replace(name, target)
            name = None
    finally:
        with suppress(OSError):  # after a failed write, flushing fails as well
            file.close()
        if name is not None:
            with suppress(OSError):
                os.unlink(name)
    sync_folder(target)


def create(target: str) -> tuple[int, str | None]:
    """Create an unnamed file or, if the system has none, a file with a temporary name."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        try:
            return os.open(os.path.dirname(target), os.O_TMPFILE | os.O_WRONLY | OURS, 0o666), None
        except OSError as error:
            if error.errno not in NO_NAMELESS:
                raise
    temporary = beside(target, os.urandom(4).hex())
    return os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | OURS, 0o666), temporary


def beside(target: str, ending: str) -> str:
    """A hidden name in the target's folder."""
    folder, name = os.path.split(target)
    short = os.fsencode(name)[: LONGEST_NAME - len(ending) - 2]
    return os.path.join(folder, f".{os.fsdecode(short)}.{ending}")


def give_name(descriptor: int, target: str) -> None:
    """Move an unnamed file to the target.

    The system cannot link a file over an old one, so it gets a temporary name and is then renamed. A file that has lost
    its only name cannot get another one, so a lock keeps other processes from removing the temporary name.
    """
    temporary = beside(target, "new")
    with locked(os.path.dirname(target)):
        try:
            link(descriptor, target)
            return
        except FileExistsError:
            pass
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # left by a process that was killed here
        try:
            link(descriptor, temporary)
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """Lock a folder. A lock ends with its process; if another process keeps it too long, we go on without it."""
    if fcntl is None:
        yield
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | OURS)
    except PermissionError:  # we may write to it, but not open it
        yield
        return
    try:
        for _ in range(TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(PAUSE)
            except OSError:  # a file system without such locks
                break
        yield
    finally:
        os.close(descriptor)


def link(descriptor: int, name: str) -> None:
    # Python follows the link in /proc only with `src_dir_fd`, whose value does not matter for an absolute path.
    os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=descriptor, follow_symlinks=True)


def sync_folder(target: str) -> None:
    """Sync the folder, so that the new name is on disk, too. Windows opens no folders, and syncs names by itself."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        folder = os.open(os.path.dirname(target), os.O_RDONLY | os.O_DIRECTORY | OURS)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise DataError(f"{target} is saved, but the disk has not confirmed it: {error.strerror}") from error
