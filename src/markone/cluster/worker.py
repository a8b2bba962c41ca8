"""What runs on the workers of a cluster around each task: the check of versions, and troubles of one machine."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from xxhash import xxh3_64

import markone
from markone.errors import MarkoneError

OF_THE_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS}
"""The errors of a machine, not of the data: another machine may be able to do the same work."""


class Build(NamedTuple):
    """What must be the same on all machines, so that results have the same bytes."""

    markone: str
    code: str
    """A digest of the program."""
    numpy: str

    def difference(self, other: Build) -> str:
        """Return what another machine has instead; an empty text if all is the same."""
        if other.markone != self.markone:
            return f"Markone {other.markone}, and this process has {self.markone}"
        if other.code != self.code:
            return f"another program that is also called Markone {self.markone}"
        if other.numpy != self.numpy:
            return f"NumPy {other.numpy}, and this process has {self.numpy}"
        return ""


class Trouble(Exception):  # noqa: N818 - it is a state
    """A task could not be done on this machine. Its text says why; `place` is the name of the worker."""

    def __init__(self, text: str, place: str | None = None) -> None:
        super().__init__(text, place)
        self.place = place

    def __str__(self) -> str:
        return str(self.args[0])


@cache
def this_build() -> Build:
    """Return the versions of this process."""
    root = Path(markone.__file__).parent
    digest = xxh3_64()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return Build(markone.__version__, digest.hexdigest(), np.__version__)


def run(build: Build | None, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task. A worker may be new, so each looks whether it has the same versions, if there is a build."""
    if build is not None and (difference := build.difference(this_build())):
        raise Trouble(f"the worker {this_place()} has {difference}", this_place())
    try:
        return function(*arguments)
    except MarkoneError:
        raise
    except MemoryError:
        raise Trouble(f"the worker {this_place()} has too little memory", this_place()) from None
    except OSError as error:
        if error.errno not in OF_THE_MACHINE:
            raise
        raise Trouble(f"the worker {this_place()} cannot go on: {error.strerror or error}", this_place()) from None


def unchanged(value: Any) -> Any:
    """Return a value that was sent to this worker, so that it stays here as the result of a task."""
    return value


def this_place() -> str:
    """Return the name of this worker in its cluster: its address for Dask, its node for Ray."""
    if "distributed" in sys.modules:
        from distributed import get_worker

        with suppress(ValueError):
            return str(get_worker().address)
    if "ray" in sys.modules:
        import ray

        if ray.is_initialized():
            return str(ray.get_runtime_context().get_node_id())
    return f"{socket.gethostname()} {os.getpid()}"
