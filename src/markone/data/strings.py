"""A column of strings without Arrow, whose import is slow: bytes, and where each string starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief

if TYPE_CHECKING:
    from markone.data.spill import Spill

LINE_END = ord("\n")
UNKNOWN = ord("_")
FEW = 16
"""Up to this number of strings, encoding each one is faster than joining them with line ends."""
AT_A_TIME = 2**14
"""The number of strings that are copied at a time, because the places of all bytes would need too much memory."""


@dataclass(frozen=True, eq=False, repr=False)
class Strings(Brief):
    """Many strings: string i is `data[offsets[i] : offsets[i + 1]]`, in UTF-8.

    >>> words = Strings.of(["two", "wörds"])
    >>> words[1], len(words), words.some(0, 1).tolist()
    ('wörds', 2, ['two'])
    """

    data: NDArray[np.uint8]
    offsets: NDArray[Any]
    """Numbers of 64 bits, or of 32 bits if they come from an Arrow array."""

    @classmethod
    def of(cls, strings: Sequence[str | bytes]) -> Strings:
        if len(strings) > FEW and set(map(type, strings)) == {str}:
            data = np.frombuffer("\n".join(strings).encode("utf-8", "surrogatepass"), np.uint8)  # type: ignore[arg-type]
            ends = np.flatnonzero(data == LINE_END)
            if len(ends) == len(strings) - 1:  # no string contains a line end
                starts = np.concatenate([[0], ends + 1, [len(data) + 1]])
                return cls(data[data != LINE_END], starts - np.arange(len(starts)))
        parts = [one.encode("utf-8", "surrogatepass") if isinstance(one, str) else one for one in strings]
        return cls(np.frombuffer(b"".join(parts), np.uint8), starts_of([len(part) for part in parts]))

    @classmethod
    def of_arrow(cls, array: Any) -> Strings:
        """The strings of an Arrow array of strings or bytes, if possible without a copy; null becomes an empty one."""
        if isinstance(array, Strings):
            return array
        import pyarrow as pa
        import pyarrow.compute as pc

        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        kind = array.type
        wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
        if not (wide or pa.types.is_string(kind) or pa.types.is_binary(kind)):
            try:
                array, wide = array.cast(pa.large_string()), True
            except pa.ArrowNotImplementedError:  # older versions of pyarrow cannot cast views
                array, wide = pa.array(array.to_pylist(), pa.large_string()), True
        if array.null_count:
            is_text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
            array = pc.fill_null(array, "" if is_text else b"")
        _, offsets, data = array.buffers()
        if offsets is None or len(array) == 0:
            return cls(np.zeros(0, np.uint8), np.zeros(1, np.int64))
        starts = np.frombuffer(offsets, np.int64 if wide else np.int32)[array.offset : array.offset + len(array) + 1]
        return cls(np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8), starts)

    @classmethod
    def of_core(cls, offsets: NDArray[Any], data: NDArray[np.uint8]) -> Strings:
        """Make strings from the core's arrays: first the offsets, then the bytes."""
        return cls(data, offsets)

    @property
    def for_core(self) -> tuple[NDArray[Any], NDArray[np.uint8]]:
        """The arrays for the core's functions: first the offsets, then the bytes."""
        return self.offsets, self.data

    @classmethod
    def joined(cls, parts: Sequence[Strings]) -> Strings:
        """The strings of all parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        sizes = [0, *np.cumsum([part.offsets[-1] - part.offsets[0] for part in parts]).tolist()]
        starts = [part.offsets[:-1] - part.offsets[0] + size for part, size in zip(parts, sizes, strict=False)]
        data = [part.data[part.offsets[0] : part.offsets[-1]] for part in parts]
        end = np.array(sizes[-1:], np.int64)
        return cls(np.concatenate([np.zeros(0, np.uint8), *data]), np.concatenate([*starts, end]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> str:
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        return text_of(self.bytes_of(i % len(self)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    @property
    def nbytes(self) -> int:
        """Its size in memory, in bytes."""
        return self.data.nbytes + self.offsets.nbytes

    def bytes_of(self, i: int) -> bytes:
        """String i, as it is stored."""
        return self.data[int(self.offsets[i]) : int(self.offsets[i + 1])].tobytes()

    def tolist(self, errors: str = "backslashreplace") -> list[str]:
        """The strings as a Python list; `errors` tells `bytes.decode` what to do with bytes that are not UTF-8."""
        whole = len(self) > FEW and self.offsets[0] == 0 and self.offsets[-1] == len(self.data)
        if whole and not (self.data == LINE_END).any():  # all at once, joined with line ends
            try:
                return np.insert(self.data, self.offsets[1:-1], LINE_END).tobytes().decode("utf-8").split("\n")
            except UnicodeDecodeError:
                pass
        data = self.data.tobytes()
        return [data[begin:end].decode("utf-8", errors) for begin, end in pairwise(self.offsets.tolist())]

    def to_pylist(self) -> list[str]:
        """The strings as a list, with the method name of Arrow's arrays; bytes that are not UTF-8 are replaced."""
        return self.tolist("replace")

    def take(self, which: NDArray[Any], spill: Spill | None = None) -> Strings:
        """The strings with these numbers, in this order; they are in files if the memory of `spill` is used up."""
        make = np.empty if spill is None else spill.empty
        offsets = make(len(which) + 1, np.int64)
        offsets[0] = 0
        np.cumsum(self.offsets[which + 1] - self.offsets[which], out=offsets[1:])
        data = make(int(offsets[-1]), np.uint8)
        for begin in range(0, len(which), AT_A_TIME):
            end = min(begin + AT_A_TIME, len(which))
            sizes = np.diff(offsets[begin : end + 1])
            first, last = offsets[begin], offsets[end]
            moved = np.repeat(self.offsets[which[begin:end]] - offsets[begin:end], sizes)
            data[first:last] = self.data[moved + np.arange(first, last)]
        return Strings(data, offsets)

    def blank(self) -> NDArray[np.int64]:
        """The numbers of the strings that are empty or an underscore, which means unknown in CoNLL-U.

        >>> Strings.of(["NOUN", "_", "", "x"]).blank()
        array([1, 2])
        """
        sizes = np.diff(self.offsets)
        short = np.flatnonzero(sizes <= 1)
        single = short[sizes[short] == 1]
        known = single[self.data[self.offsets[single]] != UNKNOWN]
        return np.setdiff1d(short, known, assume_unique=True)

    def some(self, begin: int, end: int) -> Strings:
        """The strings from `begin` to before `end`; their bytes are not copied."""
        offsets = self.offsets[begin : end + 1]
        return Strings(self.data[offsets[0] : offsets[-1]], offsets - offsets[0])


def starts_of(sizes: Any) -> NDArray[np.int64]:
    """The offsets of consecutive items with these sizes, and the end of the last one."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def text_of(data: bytes) -> str:
    """A text for messages: bytes that are not UTF-8 are shown as escapes."""
    return data.decode("utf-8", "backslashreplace")
