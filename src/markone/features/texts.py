"""Texts as the core reads them, whatever they come in."""

from __future__ import annotations

from typing import Any

import numpy as np

from markone.data.texts import Texts as Texts


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
