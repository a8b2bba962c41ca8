"""Texts as the core reads them: bytes, and where each text starts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Texts(NamedTuple):
    """Text i is `data[offsets[i] : offsets[i + 1]]`, in UTF-8."""

    offsets: NDArray[Any]
    data: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: Sequence[str | bytes]) -> Texts:
        """Without Arrow, which is slow to start."""
        parts = [text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in texts]
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return cls(offsets, np.frombuffer(b"".join(parts), np.uint8))

    def take(self, which: NDArray[Any]) -> Texts:
        """Some of the texts, in this order."""
        data = self.data.tobytes()
        begins, ends = self.offsets[which].tolist(), self.offsets[which + 1].tolist()
        return Texts.of([data[begin:end] for begin, end in zip(begins, ends, strict=True)])

    def to_pylist(self) -> list[str]:
        """The texts once more; what is no UTF-8 is replaced."""
        data = self.data.tobytes()
        return [data[begin:end].decode("utf-8", "replace") for begin, end in pairwise(self.offsets.tolist())]


def as_texts(array: Any) -> Texts:
    """An Arrow array of strings or bytes, without a copy where it is laid out as the core likes it; null is empty."""
    if isinstance(array, Texts):
        return array
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if not (wide or pa.types.is_string(kind) or pa.types.is_binary(kind)):
        try:
            array, wide = array.cast(pa.large_string()), True
        except pa.ArrowNotImplementedError:  # older versions of pyarrow cannot cast views
            array, wide = pa.array(array.to_pylist(), pa.large_string()), True
    if array.null_count:
        array = pc.fill_null(
            array, "" if pa.types.is_string(array.type) or pa.types.is_large_string(array.type) else b""
        )
    _, offsets, data = array.buffers()
    if offsets is None or len(array) == 0:
        return Texts(np.zeros(1, np.int64), np.zeros(0, np.uint8))
    starts = np.frombuffer(offsets, np.int64 if wide else np.int32)[array.offset : array.offset + len(array) + 1]
    return Texts(starts, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8))
