"""Room for large arrays: in memory while there is enough, else in temporary files that are mapped into memory.

A file has no name, and is gone with its array or with the process, however that ends.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
import weakref
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from markone.data.budget import LEAST


class Room:
    """So many bytes of memory, and then files.

    >>> room = Room(2**20)
    >>> room.empty(100, np.int32).shape, room.on_disk
    ((100,), False)
    >>> room.empty((2**20, 4), np.uint8).shape, room.on_disk
    ((1048576, 4), True)
    """

    def __init__(self, memory: int, folder: str | None = None) -> None:
        self.memory = memory
        self.folder = folder
        self.used = 0
        """Of the memory, by arrays that are still there."""
        self.on_disk = False
        """Whether there is any file."""

    @property
    def left(self) -> int:
        """Bytes for what needs some room of its own."""
        return max(LEAST, self.memory - self.used)

    def take(self, size: int) -> bool:
        """Whether so many bytes more are to be in memory; else they must go to a file."""
        if self.used + size > self.memory:
            self.on_disk = True
            return False
        self.used += size
        return True

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
        """An array in which anything may stand."""
        kind = np.dtype(dtype)
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        size = math.prod(sizes) * kind.itemsize
        if size == 0 or self.take(size):
            return self.watch(np.empty(sizes, kind))
        with self.file() as file:
            os.posix_fallocate(file.fileno(), 0, size)  # if the disk is full, that is an error here and not later
            return mapped(file, kind).reshape(sizes)

    def watch(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array whose bytes were taken; they are given back when nobody needs it any more."""
        weakref.finalize(array, self.give_back, array.nbytes)
        return array

    def give_back(self, size: int) -> None:
        self.used -= size

    def file(self) -> IO[bytes]:
        return tempfile.TemporaryFile(dir=self.folder, prefix="markone-")


class Growing:
    """An array that grows at its end."""

    def __init__(self, room: Room, dtype: DTypeLike) -> None:
        self.room = room
        self.dtype = np.dtype(dtype)
        self.parts: list[NDArray[Any]] = []
        self.file: IO[bytes] | None = None

    def append(self, part: NDArray[Any]) -> None:
        part = np.ascontiguousarray(part, self.dtype)
        if part.size == 0:
            return
        if self.file is None and self.room.take(part.nbytes):
            self.parts.append(part)
            return
        if self.file is None:
            self.file = self.room.file()
            for earlier in self.parts:
                self.file.write(earlier.data)
            self.room.give_back(sum(earlier.nbytes for earlier in self.parts))
            self.parts = []
        self.file.write(part.data)

    def finish(self) -> NDArray[Any]:
        """All of it."""
        parts, self.parts = self.parts, []
        if self.file is None:
            return self.room.watch(np.concatenate([np.zeros(0, self.dtype), *parts]))
        with self.file:
            self.file.flush()
            return mapped(self.file, self.dtype)


def mapped(file: IO[bytes], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A file as an array, which may be written to."""
    return np.frombuffer(mmap.mmap(file.fileno(), 0), dtype)
