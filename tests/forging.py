"""Model files that were damaged by accident, or made to deceive."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from xxhash import xxh3_64_hexdigest


def assemble(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def told(text: str) -> dict[str, Any]:
    """A header without arrays that says this, with the right checksum."""
    return {"__metadata__": {"markone": text, "checksum": xxh3_64_hexdigest(text.encode())}}


class Forged:
    """A file taken apart, to be put together again with something else in it, under checksums that are right."""

    def __init__(self, content: bytes) -> None:
        length = int.from_bytes(content[:8], "little")
        self.header = json.loads(content[8 : 8 + length])
        self.told = json.loads(self.header["__metadata__"]["markone"])
        self.data = bytearray(content[8 + length :])

    def array(self, name: str) -> memoryview:
        begin, end = self.header[name]["data_offsets"]
        return memoryview(self.data)[begin:end]

    def resize(self, name: str, more: int) -> None:
        """Makes an array longer or shorter by so many rows, and moves those behind it."""
        said = self.header[name]
        begin, end = said["data_offsets"]
        if not said["shape"]:
            return
        more = max(more, -said["shape"][0])
        row = (end - begin) // max(1, said["shape"][0])
        shape = [said["shape"][0] + more, *said["shape"][1:]]
        self.data[end + min(0, more * row) : end] = bytes(max(0, more * row))
        for other, where in self.header.items():
            if other != "__metadata__" and where["data_offsets"][0] >= end and other != name:
                where["data_offsets"] = [place + more * row for place in where["data_offsets"]]
        said |= {"shape": shape, "data_offsets": [begin, end + more * row]}
        self.told["tensors"][name]["shape"] = shape

    def assembled(self, *, sums: bool = True) -> bytes:
        if sums:
            listed = self.told["tensors"]
            for name, said in listed.items() if isinstance(listed, dict) else ():
                if name in self.header and isinstance(said, dict) and "xxh3" in said:
                    said["xxh3"] = xxh3_64_hexdigest(self.array(name))
        text = json.dumps(self.told)
        metadata = {"markone": text, "checksum": xxh3_64_hexdigest(text.encode())}
        return assemble({**self.header, "__metadata__": metadata}, bytes(self.data))


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content after one to three accidents."""
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(0, len(content) - 1)))
        what = draw(st.sampled_from(["flip", "byte", "cut", "drop", "insert", "double", "swap"]))
        if what == "flip" and content:
            content = content[:place] + bytes([content[place] ^ 1 << draw(st.integers(0, 7))]) + content[place + 1 :]
        elif what == "byte":
            content = content[:place] + draw(st.binary(min_size=1, max_size=1)) + content[place + 1 :]
        elif what == "cut":
            content = content[:place]
        elif what == "drop":
            content = content[:place] + content[place + draw(st.integers(1, 20)) :]
        elif what == "insert":
            content = content[:place] + draw(st.binary(min_size=1, max_size=20)) + content[place:]
        elif what == "double":
            content = content[:place] + content[place : place + 30] + content[place:]
        else:
            other = draw(st.integers(place, len(content)))
            content = content[:place] + content[other:] + content[place:other]
    return content


ODD = st.one_of(
    st.sampled_from(
        [
            0,
            -1,
            2**31,
            2**32,
            2**63 - 1,
            2**63,
            2**64 - 1,
            2**64,
            10**30,
            10**400,
            -(10**400),
            1e308,
            0.5,
            None,
            True,
            "",
            [],
            {},
        ]
    ),
    st.sampled_from(["F32", "F64", "BF16", "U8", "C64", "F8_E4M3", "F4", "BOOL", "nonsense", "w"]),
    st.lists(st.integers(-1, 2**64), max_size=4),
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5),
)


def places(what: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values inside."""
    inside = what.items() if isinstance(what, dict) else enumerate(what) if isinstance(what, list) else ()
    return [place for key, value in inside for place in [(*path, key), *places(value, (*path, key))]]


def put(what: Any, place: tuple[Any, ...], value: Any) -> None:
    for key in place[:-1]:
        what = what[key]
    what[place[-1]] = value


def forge(draw: Callable[[st.SearchStrategy[Any]], Any], forged: Forged) -> None:
    """Changes a fact, a number of an array, or the size of one."""
    what = draw(st.sampled_from(["fact", "array", "size"]))
    name = draw(st.sampled_from(sorted(forged.told["tensors"])))
    if what == "fact":
        put(forged.told["facts"], draw(st.sampled_from(places(forged.told["facts"]))), draw(ODD))
    elif what == "size":
        forged.resize(name, draw(st.integers(-2, 2)))
    else:
        with forged.array(name) as array:
            if len(array):
                array[draw(st.integers(0, len(array) - 1))] = draw(st.integers(0, 255))
