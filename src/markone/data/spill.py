"""Spilling to disk: large arrays are in memory if they fit into the budget, else in temporary files.

A temporary file has no name. It vanishes with the object that uses it, or with the process, even if that is killed.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from markone.data.budget import LEAST
from markone.data.strings import Strings


class Spill:
    """Allocates arrays in memory up to a budget of bytes, and then in files.

    >>> spill = Spill(2**20)
    >>> spill.empty(100, np.int32).shape, spill.on_disk
    ((100,), False)
    >>> spill.empty((2**20, 4), np.uint8).shape, spill.on_disk
    ((1048576, 4), True)
    """

    def __init__(self, memory: int, folder: str | None = None) -> None:
        self.memory = memory
        self.folder = folder
        self.used = 0
        """The bytes of memory of all arrays that still exist."""
        self.on_disk = False
        """Whether anything had to be written to a file."""

    @property
    def left(self) -> int:
        """The memory for other work, in bytes."""
        return max(LEAST, self.memory - self.used)

    def take(self, size: int) -> bool:
        """Whether the memory budget has room for this many more bytes, which are then reserved."""
        if self.used + size > self.memory:
            self.on_disk = True
            return False
        self.used += size
        return True

    def give_back(self, size: int) -> None:
        self.used -= size

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
        """An array with undefined values."""
        kind = np.dtype(dtype)
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        size = math.prod(sizes) * kind.itemsize
        if size == 0 or self.take(size):
            return self.watch(np.empty(sizes, kind))
        with SpillFile(self.folder) as file:
            file.reserve(size)
            return file.mapped(kind).reshape(sizes)

    def watch(self, array: NDArray[Any]) -> NDArray[Any]:
        """An array whose bytes are reserved; they are released when it is no longer used."""
        weakref.finalize(array, self.give_back, array.nbytes)
        return array

    def file(self) -> SpillFile:
        return SpillFile(self.folder)


class SpillFile:
    """A temporary file without a name, into which arrays are written one after the other."""

    def __init__(self, folder: str | None = None) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, prefix="markone-")  # noqa: SIM115

    def __enter__(self) -> SpillFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reserve(self, size: int) -> None:
        """Reserve bytes on the disk, so that a full disk is an error now and not later."""
        if hasattr(os, "posix_fallocate"):  # neither macOS nor Windows has it; there, a full disk is an error later
            os.posix_fallocate(self._file.fileno(), 0, size)

    def write(self, *arrays: NDArray[Any]) -> int:
        """Write arrays at the end, and return where the first of them starts."""
        start = self._file.tell()
        for array in arrays:
            self._file.write(np.ascontiguousarray(array).data)
        return start

    def read_into(self, array: NDArray[Any], offset: int) -> int:
        """Fill an array from the file, and return where it ends in the file."""
        self._file.flush()
        view = memoryview(array.data).cast("B")
        while len(view) > 0:
            read = os.preadv(self._file.fileno(), [view], offset)
            if read == 0:
                raise OSError("the temporary file of rows has been cut")
            view, offset = view[read:], offset + read
        return offset

    def mapped(self, dtype: DTypeLike) -> NDArray[Any]:
        """The whole file as a writable array, which stays valid after the file is closed."""
        self._file.flush()
        return np.frombuffer(mmap.mmap(self._file.fileno(), 0), dtype)

    def close(self) -> None:
        self._file.close()


class GrowingArray:
    """An array that grows at its end."""

    def __init__(self, spill: Spill, dtype: DTypeLike) -> None:
        self.spill = spill
        self.dtype = np.dtype(dtype)
        self.parts: list[NDArray[Any]] = []
        self.file: SpillFile | None = None

    def append(self, part: NDArray[Any]) -> None:
        part = np.ascontiguousarray(part, self.dtype)
        if part.size == 0:
            return
        if self.file is None and self.spill.take(part.nbytes):
            self.parts.append(part)
            return
        if self.file is None:
            self.file = self.spill.file()
            self.file.write(*self.parts)
            self.spill.give_back(sum(earlier.nbytes for earlier in self.parts))
            self.parts = []
        self.file.write(part)

    def finish(self) -> NDArray[Any]:
        """The whole array."""
        parts, self.parts = self.parts, []
        if self.file is None:
            return self.spill.watch(np.concatenate([np.zeros(0, self.dtype), *parts]))
        with self.file:
            return self.file.mapped(self.dtype)


class GrowingStrings:
    """A column of strings that grows at its end."""

    def __init__(self, spill: Spill) -> None:
        self.data = GrowingArray(spill, np.uint8)
        self.offsets = GrowingArray(spill, np.int64)
        self.offsets.append(np.zeros(1))
        self.size = 0

    def append(self, more: Strings) -> None:
        first, last = int(more.offsets[0]), int(more.offsets[-1])
        self.offsets.append(more.offsets[1:] - first + self.size)
        self.data.append(more.data[first:last])
        self.size += last - first

    def finish(self) -> Strings:
        return Strings(self.data.finish(), self.offsets.finish())
