"""Atomic writing: whatever happens, a file is the old one or the new one, and nothing lies about."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from markone import DataError
from markone.storage import atomic
from markone.storage.atomic import writing

OLD, NEW = b"old" * 1000, b"new" * 100_000


def save(path: Path, data: bytes = NEW) -> None:
    with writing(path) as file:
        file.write(data)


def save_and_fail(path: Path, error: BaseException) -> None:
    with writing(path) as file:
        file.write(NEW)
        raise error


def refused(path: Path, sentence: str, data: bytes = NEW) -> None:
    with pytest.raises(DataError, match=sentence):
        save(path, data)


@pytest.fixture(params=["nameless", "named", "no proc"])
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Files without names, and file systems and systems that have none."""
    if request.param == "named":
        really = os.open

        def without(path: Any, flags: int, *others: Any) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(errno.EOPNOTSUPP, "Operation not supported")
            return really(path, flags, *others)

        monkeypatch.setattr(os, "open", without)
    elif request.param == "no proc":
        monkeypatch.delattr(os, "O_TMPFILE")
    return str(request.param)


@pytest.mark.usefixtures("each_way")
def test_a_new_file_and_a_replaced_one(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    for data in (OLD, NEW, b""):
        save(path, data)
        assert path.read_bytes() == data
        assert os.listdir(tmp_path) == ["m.model"]


@pytest.mark.usefixtures("each_way")
@pytest.mark.parametrize("old", [OLD, None])
def test_a_block_that_fails_leaves_all_as_it_was(tmp_path: Path, old: bytes | None) -> None:
    path = tmp_path / "m.model"
    if old is not None:
        path.write_bytes(old)
    for error in (RuntimeError, KeyboardInterrupt, ValueError):
        with pytest.raises(error):
            save_and_fail(path, error())
    assert os.listdir(tmp_path) == ([] if old is None else ["m.model"])
    assert old is None or path.read_bytes() == old


@pytest.mark.usefixtures("each_way")
@pytest.mark.parametrize("name", ["fsync", "replace", "fchmod"])
def test_an_error_of_the_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = tmp_path / "m.model"
    path.write_bytes(OLD)
    monkeypatch.setattr(os, name, raising(OSError(errno.EIO, os.strerror(errno.EIO))))
    refused(path, "cannot save .*m.model: Input/output error; the old file is unchanged")
    assert path.read_bytes() == OLD and os.listdir(tmp_path) == ["m.model"]


@pytest.mark.usefixtures("each_way")
def test_an_error_in_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    path.write_bytes(OLD)
    with pytest.raises(DataError, match="No space left on device; the old file is unchanged"):
        save_and_fail(path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert path.read_bytes() == OLD and os.listdir(tmp_path) == ["m.model"]


def raising(error: BaseException) -> Callable[..., None]:
    def fail(*arguments: Any, **options: Any) -> None:
        raise error

    return fail


def test_an_interrupt_between_two_names_leaves_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.model"
    path.write_bytes(OLD)
    monkeypatch.setattr(os, "replace", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        save(path)
    assert path.read_bytes() == OLD and os.listdir(tmp_path) == ["m.model"]


def test_a_folder_that_is_not_synced_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.fsync

    def fail(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        really(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    refused(tmp_path / "m.model", "m.model is saved, but the disk has not confirmed it: Input/output error")
    assert (tmp_path / "m.model").read_bytes() == NEW


def test_the_file_and_its_folder_are_synced_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    for name in ("fsync", "link", "replace"):
        really = getattr(os, name)

        def log(*arguments: Any, name: str = name, really: Any = really, **options: Any) -> Any:
            kind = "folder" if name == "fsync" and stat.S_ISDIR(os.fstat(arguments[0]).st_mode) else "file"
            result = really(*arguments, **options)
            done.append(f"{name} {kind}")
            return result

        monkeypatch.setattr(os, name, log)
    save(tmp_path / "m.model")
    assert done == ["fsync file", "link file", "fsync folder"]
    done.clear()
    save(tmp_path / "m.model")
    assert done == ["fsync file", "link file", "replace file", "fsync folder"]


# ---- what it is written over


@pytest.mark.usefixtures("each_way")
def test_permission_bits_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    mask = os.umask(0o027)
    try:
        save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(mask)


@pytest.mark.usefixtures("each_way")
def test_a_link_stays_and_what_it_points_at_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "m.model", tmp_path / "link.model"
    link.symlink_to("real/m.model")
    for data in (OLD, NEW):  # at first, the link leads nowhere
        save(link, data)
        assert link.is_symlink() and real.read_bytes() == data
    assert os.listdir(tmp_path / "real") == ["m.model"] and sorted(os.listdir(tmp_path)) == ["link.model", "real"]


def test_a_link_to_itself_is_told(tmp_path: Path) -> None:
    (tmp_path / "m.model").symlink_to("m.model")
    refused(tmp_path / "m.model", "cannot save .*: Too many levels of symbolic links")


def test_devices_and_pipes_are_written_straight_into(tmp_path: Path) -> None:
    save(Path("/dev/null"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    refused(Path("/dev/full"), "cannot save /dev/full: No space left on device$")
    os.mkfifo(tmp_path / "pipe")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    save(tmp_path / "pipe")
    reader.join(10)
    assert received == [NEW] and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.usefixtures("each_way")
def test_what_cannot_be_a_file_gets_a_sentence(tmp_path: Path) -> None:
    refused(tmp_path, "cannot save .*: it is a folder")
    refused(tmp_path / "no" / "m.model", f"cannot save .*m.model: there is no folder {tmp_path}/no")
    refused(tmp_path / "a\0b", "that is not a valid file name")
    refused(tmp_path / ("m" * 300), "File name too long")
    (tmp_path / "file").write_bytes(OLD)
    refused(tmp_path / "file" / "m.model", "there is no folder|Not a directory")
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.usefixtures("each_way")
def test_the_longest_names(tmp_path: Path) -> None:
    for name in ("m" * 255, "ü" * 127):
        save(tmp_path / name, OLD)
        save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == NEW
    assert len(os.listdir(tmp_path)) == 2


def test_a_file_that_may_not_be_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.model"
    path.write_bytes(OLD)
    path.chmod(0o444)
    if os.geteuid() == 0:  # whom the bits do not bind
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    refused(path, "cannot save .*: there is no permission to write to it; the old file is unchanged")
    assert path.read_bytes() == OLD


def test_litter_of_one_who_was_killed_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / "m.model").write_bytes(OLD)
    (tmp_path / ".m.model.new").write_bytes(b"half")
    save(tmp_path / "m.model")
    assert os.listdir(tmp_path) == ["m.model"] and (tmp_path / "m.model").read_bytes() == NEW


def test_somebody_who_keeps_the_folder_locked_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "TRIES", 3)
    (tmp_path / "m.model").write_bytes(OLD)
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    save(tmp_path / "m.model")
    os.close(folder)
    assert (tmp_path / "m.model").read_bytes() == NEW


@pytest.mark.parametrize("problem", [OSError(errno.ENOTSUP, "no"), None])
def test_folders_that_cannot_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: OSError | None
) -> None:
    if problem is not None:
        monkeypatch.setattr(fcntl, "flock", raising(problem))
    else:
        really = os.open

        def not_looked_into(path: Any, flags: int, *others: Any) -> int:
            if flags & os.O_DIRECTORY and flags & os.O_TMPFILE != os.O_TMPFILE:
                raise PermissionError(errno.EACCES, "Permission denied")
            return really(path, flags, *others)

        monkeypatch.setattr(os, "open", not_looked_into)
    for data in (OLD, NEW):
        save(tmp_path / "m.model", data)
        assert (tmp_path / "m.model").read_bytes() == data and os.listdir(tmp_path) == ["m.model"]


# ---- full and read-only disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte, where we may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mount.returncode != 0:
        pytest.skip(f"we may not mount a small disk: {mount.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.usefixtures("each_way")
def test_a_full_disk(small_disk: Path) -> None:
    path = small_disk / "m.model"
    refused(path, "cannot save .*: No space left on device$", b"x" * 2_000_000)
    assert os.listdir(small_disk) == []
    save(path, OLD)
    refused(path, "No space left on device; the old file is unchanged", b"x" * 2_000_000)
    assert path.read_bytes() == OLD and os.listdir(small_disk) == ["m.model"]
    save(path, b"y" * 900_000)  # what the failure took is free again


@pytest.mark.usefixtures("each_way")
def test_a_read_only_disk(small_disk: Path) -> None:
    path = small_disk / "m.model"
    save(path, OLD)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    refused(
        path, "cannot save .*: (Read-only file system|there is no permission to write to it); the old file is unchanged"
    )
    refused(small_disk / "other", "cannot save .*: Read-only file system$")
    assert path.read_bytes() == OLD and os.listdir(small_disk) == ["m.model"]


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_read_only_folder(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    save(path, OLD)
    tmp_path.chmod(0o555)
    try:
        refused(path, "cannot save .*: Permission denied; the old file is unchanged")
    finally:
        tmp_path.chmod(0o755)
    assert path.read_bytes() == OLD


@pytest.mark.usefixtures("each_way")
def test_a_limit_on_the_size_of_files(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    save(path, OLD)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        refused(path, "cannot save .*: File too large; the old file is unchanged")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == OLD and os.listdir(tmp_path) == ["m.model"]


# ---- processes that are killed, and several at once


def run(script: str, *arguments: Any) -> None:
    """In a process of its own, which may be forked and killed as one likes."""
    done = subprocess.run(
        [sys.executable, "-c", HELPERS + script, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


HELPERS = """
import os, random, signal, sys, time
from markone.storage.atomic import writing

folder = sys.argv[1]
path = os.path.join(folder, "m.model")
whole = {bytes([byte]) * size for byte, size in ((1, 10), (2, 100_000), (3, 1_000_000))}

def save(data):
    with writing(path) as file:
        for begin in range(0, len(data), 65536):
            file.write(data[begin:begin + 65536])

def fork(work):
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    return child

def check():
    found = set(os.listdir(folder))
    assert "m.model" in found, found
    with open(path, "rb") as file:
        assert file.read() in whole, "the file is not whole"
    return found - {"m.model"}

save(min(whole))
"""


def test_killed_at_any_moment(tmp_path: Path) -> None:
    run(
        """
random.seed(int(sys.argv[2]))
def savers():
    while True:
        save(random.choice(sorted(whole)))
end, rounds, litter = time.monotonic() + 4, 0, 0
while rounds < 100 and time.monotonic() < end:
    child = fork(savers)
    time.sleep(random.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left = check()
    # Between two calls of the system the file has both names; a later save clears the second away.
    assert left <= {".m.model.new"}, left
    litter += bool(left)
    rounds += 1
save(min(whole))
assert not check()
assert rounds > 20 and litter < rounds / 4, (rounds, litter)
""",
        tmp_path,
        1,
    )


def test_killed_before_and_after_each_step(tmp_path: Path) -> None:
    run(
        """
def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)

def killed_at(name, when, times):
    def work():
        really, calls = getattr(os, name), [0]
        def step(*arguments, **options):
            calls[0] += 1
            if when == "before" and calls[0] == times:
                die()
            result = really(*arguments, **options)
            if when == "after" and calls[0] == times:
                die()
            return result
        setattr(os, name, step)
        save(max(whole))
    return work

ends = []
for name, times in (("open", 1), ("fdopen", 1), ("fchmod", 1), ("fsync", 1), ("link", 2), ("replace", 1), ("fsync", 2)):
    for when in ("before", "after"):
        save(min(whole))
        _, status = os.waitpid(fork(killed_at(name, when, times)), 0)
        assert os.WIFSIGNALED(status), name
        left = check()
        both_names = (name, when) in (("link", "after"), ("replace", "before"))
        assert left == ({".m.model.new"} if both_names else set()), (name, when, left)
        with open(path, "rb") as file:
            ends.append(file.read() == max(whole))
assert ends == [False] * 11 + [True] * 3, ends
save(min(whole))
assert not check()
""",
        tmp_path,
    )


def test_several_processes_save_at_once(tmp_path: Path) -> None:
    run(
        """
def saver():
    random.seed(os.getpid())
    for _ in range(60):
        save(random.choice(sorted(whole)))
        check()
children = [fork(saver) for _ in range(3)]
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
assert not check()
""",
        tmp_path,
    )
