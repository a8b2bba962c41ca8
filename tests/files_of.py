"""Files that hold the same table in every format, and ways to damage them; for tests, and for longer runs of them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from hypothesis import strategies as st

ROWS = 12
TABLE = pa.table(
    {
        "age": pa.array([None if i == 3 else 20.5 + i for i in range(ROWS)], pa.float64()),
        "job": [None if i == 4 else ["clerk", "baker"][i % 2] for i in range(ROWS)],
        "member": [None if i == 5 else i % 3 == 0 for i in range(ROWS)],
        "note": [f'he said "{i}", and\tleft; naïve {i * i}' for i in range(ROWS)],
        "weight": [1.0 + i % 2 for i in range(ROWS)],
        "label": [None if i == 6 else ["no way", "да"][i % 2] for i in range(ROWS)],
    }
)
TABLE_SETTINGS = {"target": "label", "importance": "weight"}


# ---- writers


def as_csv(separator: str = ",") -> bytes:
    out = io.BytesIO()
    pa.csv.write_csv(TABLE, out, pa.csv.WriteOptions(delimiter=separator))
    return out.getvalue()


def as_json() -> bytes:
    return "".join(json.dumps(row, ensure_ascii=i % 2 == 0) + "\n" for i, row in enumerate(TABLE.to_pylist())).encode()


def as_parquet() -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(TABLE, out, row_group_size=5)
    return out.getvalue()


def as_arrow(stream: bool = False) -> bytes:
    out = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(out, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=5)
    return out.getvalue()


def as_idx(values: np.ndarray[Any, Any]) -> bytes:
    return struct.pack(f">4B{values.ndim}I", 0, 0, 8, values.ndim, *values.shape) + values.astype(np.uint8).tobytes()


IMAGES = np.arange(ROWS * 12).reshape(ROWS, 4, 3)
MARKS = np.arange(ROWS) % 3
TABLES: dict[str, bytes] = {
    "table.csv": as_csv(),
    "table.tsv": as_csv("\t"),
    "table.jsonl": as_json(),
    "table.parquet": as_parquet(),
    "table.arrow": as_arrow(),
    "table.feather": as_arrow(stream=True),
}
LINES: dict[str, bytes] = {
    "rows.libsvm": b"+1 1:1 7:.5 # first\n-1 3:2\n1.0 1:-3\n",
    "rows.vw": b"1 2 'tag|a:2 b c:.5 |d e\n-1 | f:3\n1.0 |a b\n",
    "texts.ft": "__label__spam free money\n__label__ham see you, Жорж\n__label__spam prize\n".encode(),
    "texts.txt": 'spam\tfree "money\nham\tsee you, Жорж\nspam\tprize\n'.encode(),
}
PICTURES = {"train-images-idx3-ubyte": as_idx(IMAGES)}
EVERY = {**TABLES, **LINES, **PICTURES}
COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


# ---- damage


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A file of which some bits are flipped, some bytes are others or doubled, or the end is missing."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.sampled_from(["flip", "cut", "put", "drop", "twice"])):
            case "flip" if data:
                data[at] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del data[at:]
            case "put":
                data[at:at] = draw(
                    st.sampled_from([b"\n", b'"', b",", b"\0", b"\xff", b"{", b"[" * 2000, b"-1", b"1e999"])
                )
            case "drop":
                del data[at : at + draw(st.integers(1, 40))]
            case "twice":
                data[at:at] = data[at : at + draw(st.integers(1, 40))]
    return bytes(data)
