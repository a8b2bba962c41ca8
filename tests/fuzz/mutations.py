"""Mutations: changes of what a model's file says, of its arrays, and of plain bytes.

A file is changed as what it holds, and then written by the writer of models, so that lengths and checksums are right
and only what is said is wrong. What JSON cannot say by itself, such as NaN or a name that stands twice, is written as a
mark that is replaced in the text, whose checksum is made anew.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_hexdigest

from markone.storage import container
from markone.storage.saved import Saved

Arrays = dict[str, NDArray[Any]]
Place = tuple[Any, ...]
"""The way to a value inside of facts."""

MARK = "raw!"
"""Begins a text whose rest stands in the JSON as it is."""
HOSTILE: list[Any] = [
    *(0, 1, -1, 2, 3, 7, 255, 256, 2**15, 2**16, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**53 + 1),
    *(2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**31), -(2**63), -(2**63) - 1, 10**30, 10**100),
    *(0.0, -0.0, 0.5, -0.5, 1.5, 1e-320, 1e-30, 1e30, 1e38, 3.5e38, 1e300, -1e300, 1.7e308, 2.0**53, 2.0**63, 2.0**64),
    *(True, False, None, "", "x", "nan", "inf", "-inf", "0", "\0", "é", "\ud800", "a" * 5000, "../x", "{0}", "%s"),
    *([], {}, [[]], {"": {}}, [None], [0], [0, 0], [1.5, 2], ["x", "x"], {"x": 1}),
    *(MARK + raw for raw in ("NaN", "Infinity", "-Infinity", "1e999", "9" * 400, "9" * 5000, "1E-999", "-0")),
]
NUDGES: list[Callable[[Any], Any]] = [
    lambda x: x + 1,
    lambda x: x - 1,
    lambda x: x * 2,
    lambda x: x * 1000,
    lambda x: -x,
    lambda x: -1 - x,
    lambda x: float(x),
    lambda x: int(x),
    lambda x: str(x),
    lambda x: x + 0.5,
    lambda x: x * 1e-9,
    lambda x: not x,
]
DEEP = 60


# ---- facts


def places_in(what: Any, path: Place = ()) -> list[Place]:
    """The ways to all values inside."""
    inside = what.items() if isinstance(what, dict) else enumerate(what) if isinstance(what, list) else ()
    return [place for key, value in inside for place in [(*path, key), *places_in(value, (*path, key))]]


def at(what: Any, place: Place) -> Any:
    for key in place:
        what = what[key]
    return what


def changed(what: Any, place: Place, change: Callable[[Any, Any], None]) -> Any:
    """A copy in which the container of a value has been changed; what is not on the way to it is not copied."""
    copied = dict(what) if isinstance(what, dict) else list(what)
    if len(place) == 1:
        change(copied, place[0])
    else:
        copied[place[0]] = changed(copied[place[0]], place[1:], change)
    return copied


def change_fact(facts: Any, chance: random.Random) -> tuple[Any, str]:
    """The facts with one change, and what it was."""
    places = places_in(facts)
    if not places:
        return facts, "nothing"
    place = chance.choice(places)
    value = at(facts, place)
    how = chance.choices(*zip(*FACT_CHANGES.items(), strict=True))[0]
    told = ""

    def put(new: Any) -> Any:
        nonlocal told
        told = f" to {new!r:.60}"
        return changed(facts, place, lambda inside, key: inside.__setitem__(key, new))

    if how == "nudge" and not isinstance(value, int | float):
        how = "text" if isinstance(value, str) else "length" if isinstance(value, list | dict) else "put"
    match how:
        case "put":
            facts = put(chance.choice(HOSTILE))
        case "nudge":
            facts = put(nudged(value, chance.choice(NUDGES)))
        case "text" if isinstance(value, str):
            facts = put(change_text(value, chance))
        case "length" if isinstance(value, list | dict) and value:
            facts = put(change_length(value, chance))
        case "nest":
            for _ in range(chance.choice([1, 1, 2, DEEP])):
                value = [value] if chance.random() < 0.5 else {"x": value}
            facts = put(value)
        case "swap":
            facts = put(at(facts, chance.choice(places)))
        case "rename" if isinstance(place[-1], str):
            name = chance.choice([other[-1] for other in places if isinstance(other[-1], str)] + ["x", "", "kind"])
            told = f" to {name!r}"
            facts = changed(facts, place, lambda inside, key: inside.__setitem__(name, inside.pop(key)))
        case "twice" if isinstance(place[-1], str):
            facts = changed(facts, place, lambda inside, key: inside.__setitem__(MARK + json.dumps(key), inside[key]))
        case _:
            how = "remove"
            facts = changed(facts, place, lambda inside, key: inside.pop(key))
    return facts, f"{how} {'.'.join(map(str, place))}{told}"


def nudged(value: Any, nudge: Callable[[Any], Any]) -> Any:
    """The value after the nudge. JSON has no infinity, so that one is marked, to be written all the same."""
    try:
        after = nudge(value)
    except OverflowError:
        return 0
    if isinstance(after, float) and not math.isfinite(after):
        return MARK + ("NaN" if math.isnan(after) else "Infinity" if after > 0 else "-Infinity")
    return after


FACT_CHANGES = {
    "put": 6,
    "nudge": 6,
    "text": 2,
    "length": 2,
    "nest": 1,
    "swap": 2,
    "rename": 1,
    "twice": 1,
    "remove": 2,
}


def change_text(text: str, chance: random.Random) -> str:
    at = chance.randint(0, len(text))
    odd = chance.choice(["", "\0", "é", "\ud800", " ", "[", "-1", "0", ".", "x", "\n", "\U0001f600", "a" * 300])
    return chance.choice([text[:at], text[at:], text + text, text[:at] + odd + text[at:], text.upper(), text[::-1]])


def change_length(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        return chance.choice([{}, {**value, "x": 0}, dict(list(value.items())[:-1]), list(value)])
    return chance.choice(
        [[], value[:-1], value[1:], value + value[-1:], value + value, value * 50, value[::-1], [value[0]] * len(value)]
    )


# ---- arrays


def hostile_numbers(dtype: np.dtype[Any]) -> list[Any]:
    """Numbers of a type that none expects."""
    if dtype.kind == "b":
        return [True, False]
    if dtype.kind == "f":
        info = np.finfo(dtype)
        large = [
            float(info.max),
            float(info.min),
            float(info.tiny),
            float(info.smallest_subnormal),
            1e30,
            -1e30,
            2.0**63,
        ]
        return [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-30, 1e9, *large]
    limits = np.iinfo(dtype)
    some = [0, 1, -1, 2, 3, 5, 8, 63, 64, 127, 128, 255, 256, 1000, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32]
    some += [2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, -2, -128, -(2**31), -(2**63), limits.max, limits.max - 1]
    return [number for number in some if limits.min <= number <= limits.max]


HOSTILE_NUMBERS = {dtype: hostile_numbers(dtype) for dtype in container.TYPES.values()}
ARRAY_CHANGES = {
    "element": 10,
    "nudge element": 6,
    "copy element": 3,
    "some elements": 2,
    "swap elements": 2,
    "shorten": 3,
    "lengthen": 3,
    "shorten together": 3,
    "lengthen together": 2,
    "empty": 1,
    "reshape": 2,
    "type": 2,
    "shuffle": 2,
    "reverse": 1,
    "sort": 1,
    "constant": 2,
    "bits": 2,
    "swap arrays": 2,
    "rename": 1,
    "remove": 1,
    "add": 1,
    "transplant": 2,
}
MORE = (1, 1, 1, 2, 8, 1000)
"""By how many an array grows."""
LARGEST_ROW = 1000


def change_array(
    arrays: Arrays, chance: random.Random, others: Callable[[], Mapping[str, NDArray[Any]]] | None = None
) -> tuple[Arrays, str]:
    """The arrays with one change, and what it was. `others` gives arrays of another file."""
    if not arrays:
        return arrays, "nothing"
    arrays = dict(arrays)
    names = list(arrays)
    # What training goes on from deserves as much care as all else.
    kept = [name for name in names if name.startswith("resume.")]
    name = chance.choice(kept if kept and chance.random() < 0.5 else names)
    array = arrays[name]
    how = chance.choices(*zip(*ARRAY_CHANGES.items(), strict=True))[0]
    if array.size == 0 and how not in ("lengthen", "type", "remove", "rename", "reshape", "add", "transplant"):
        how = "lengthen"
    told = ""
    match how:
        case "shorten" | "shorten together":
            fewer = chance.choice([1, 1, 1, 2, array.size // 2])
            for other in names_alike(arrays, name) if how == "shorten together" else [name]:
                arrays[other] = arrays[other][: -fewer or None] if array.ndim else arrays[other].reshape(1)
            told = f" by {fewer}"
        case "lengthen" | "lengthen together":
            more = chance.choice(MORE)
            for other in names_alike(arrays, name) if how == "lengthen together" else [name]:
                arrays[other] = longer(arrays[other], more, chance)
            told = f" by {more}"
        case "remove":
            del arrays[name]
        case "rename":
            new = chance.choice([*names, name + "x", "x", name.rpartition(".")[2]])
            told = f" to {new}"
            arrays[new] = arrays.pop(name)
        case "add":
            arrays[chance.choice(["x", "resume.x", "resume.state.x", name + "2"])] = array
        case "swap arrays":
            other = chance.choice(names)
            told = f" with {other}"
            arrays[name], arrays[other] = arrays[other], array
        case "transplant":
            donor = {} if others is None else others()
            arrays[name] = donor.get(name, array)
            told = "" if name in donor else " (of none)"
        case _:
            arrays[name], told = change_numbers(array, how, chance)
    return arrays, f"{how} {name}{told}"


def names_alike(arrays: Arrays, name: str) -> list[str]:
    """Those that are as long as the one, and of the same part of the file."""
    part = name.rpartition(".")[0]
    size = len(arrays[name]) if arrays[name].ndim else -1
    alike = [other for other, one in arrays.items() if one.ndim and len(one) == size]
    return [other for other in alike if other.rpartition(".")[0] == part] or [name]


def longer(array: NDArray[Any], more: int, chance: random.Random) -> NDArray[Any]:
    if array.ndim == 0:
        return np.repeat(array.reshape(1), more)
    if math.prod(array.shape[1:]) > LARGEST_ROW:  # of an array without rows
        return array
    last = array[-1:] if len(array) and chance.random() < 0.5 else np.zeros((1, *array.shape[1:]), array.dtype)
    return np.concatenate([array, np.repeat(last, more, axis=0)])


def change_numbers(array: NDArray[Any], how: str, chance: random.Random) -> tuple[NDArray[Any], str]:
    """An array with other numbers, or in another form."""
    if how == "reshape":
        return reshaped(array, chance)
    if how == "type":
        dtype = chance.choice(list(container.TYPES.values()))
        with np.errstate(all="ignore"):
            same_bytes = chance.random() < 0.3 and array.nbytes % dtype.itemsize == 0 and array.ndim == 1
            return (array.view(dtype) if same_bytes else array.astype(dtype)), f" to {dtype}"
    if how == "empty":
        return array[:0] if array.ndim else array, ""
    new = array.copy()
    flat = new.reshape(-1)
    i, j = chance.randrange(flat.size), chance.randrange(flat.size)
    if chance.random() < 0.3:
        i = chance.choice([0, flat.size - 1])
    number: Any
    match how:
        case "element":
            number = chance.choice(HOSTILE_NUMBERS[flat.dtype])
            flat[i] = number
            return new, f"[{i}] to {number}"
        case "nudge element":
            # Neighbours of what is right are what a check forgets.
            with np.errstate(all="ignore"):
                number = (
                    (flat[i] + flat.dtype.type(1))
                    if chance.random() < 0.5
                    else (flat[i] - flat.dtype.type(1))
                    if flat.dtype.kind != "b"
                    else ~flat[i]
                )
                flat[i] = number
            return new, f"[{i}] to {flat[i]}"
        case "copy element":
            flat[i] = flat[j]
            return new, f"[{i}] from [{j}]"
        case "swap elements":
            flat[i], flat[j] = flat[j].copy(), flat[i].copy()
            return new, f"[{i}] and [{j}]"
        case "some elements":
            numbers = HOSTILE_NUMBERS[flat.dtype]
            for _ in range(min(flat.size, 10)):
                flat[chance.randrange(flat.size)] = chance.choice(numbers)
        case "bits":
            octets = flat.view(np.uint8)
            octets[chance.randrange(octets.size)] ^= 1 if flat.dtype.kind == "b" else 1 << chance.randrange(8)
        case "constant":
            number = chance.choice([*HOSTILE_NUMBERS[flat.dtype], flat[i]])
            flat[:] = number
            return new, f" {number}"
        case "reverse":
            flat[:] = flat[::-1].copy()
        case "sort":
            flat.sort()
        case "shuffle":
            np.random.default_rng(chance.randrange(2**32)).shuffle(flat)
    return new, ""


def reshaped(array: NDArray[Any], chance: random.Random) -> tuple[NDArray[Any], str]:
    size = array.size
    forms: list[tuple[int, ...]] = [(size,), (1, size), (size, 1), (*array.shape, 1), array.shape[::-1]]
    forms += [(2, size // 2)] if size % 2 == 0 else []
    forms += [()] if size == 1 else [(0, 2**40), (2**31, 0)] if size == 0 else []
    form = chance.choice(forms)
    return array.reshape(form), f" to {form}"


# ---- files


def mutate(seed: Saved, chance: random.Random, others: Callable[[], Saved]) -> tuple[Saved, list[str]]:
    """What a file holds, after one change or some, and what they were."""
    facts, arrays = seed.facts, dict(seed.arrays)
    told = []
    for _ in range(1 if chance.random() < 0.7 else chance.randint(2, 5)):
        if chance.random() < 0.4:
            facts, one = change_fact(facts, chance)
        else:
            arrays, one = change_array(arrays, chance, lambda: others().arrays)
        told.append(one)
    return Saved(facts, arrays), told


def write(path: Path, saved: Saved) -> None:
    """Writes a file whose checksums are right."""
    container.write_file(path, saved.facts, saved.arrays)
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    if MARK.encode() not in content[:end]:
        return
    header = json.loads(content[8:end])
    text = without_marks(header["__metadata__"]["markone"])
    header["__metadata__"] = {"markone": text, "checksum": xxh3_64_hexdigest(text.encode())}
    written = json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + content[end:])


def without_marks(text: str) -> str:
    """JSON in which every marked text is what it stands for."""
    # A marked text may be inside of another: there its quotation mark is escaped.
    pieces = re.split(rf'(?<!\\)"{re.escape(MARK)}', text)
    for i, piece in enumerate(pieces[1:], 1):
        # A name that stands twice is a JSON text within the marked one.
        inside, end = json.JSONDecoder().raw_decode(f'"{piece}')
        pieces[i] = without_marks(inside) + piece[end - 1 :]
    return "".join(pieces)


# ---- bytes

SNIPPETS = [
    *(b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xc3", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b'"', b'""', b"'", b",", b";"),
    *(b"\t", b" ", b"|", b":", b"#", b"-", b"+", b".", b"_", b"{", b"}", b"[", b"[" * 3000, b"\\", b"\\u", b"\\ud800"),
    *(b"0", b"-1", b"1e999", b"-1e-999", b"nan", b"inf", b"0x1p3", b"9" * 30, b"4294967295", b"4294967296", b"1e9"),
    *(b"18446744073709551616", b"__label__", b"null", b"true", b"1-2\t", b"1.1\t", b"# text = ", b"\n\n", b"a" * 5000),
]


def change_bytes(data: bytes, chance: random.Random) -> tuple[bytes, str]:
    """Bytes with one change, and what it was."""
    where = chance.randint(0, len(data))
    size = chance.choice([1, 1, 2, 5, 20, 200])
    how = chance.choice(["flip", "byte", "cut", "drop", "insert", "insert", "insert", "double", "move", "lines"])
    match how:
        case "flip" | "byte" if where < len(data):
            new = data[where] ^ 1 << chance.randrange(8) if how == "flip" else chance.randrange(256)
            data = data[:where] + bytes([new]) + data[where + 1 :]
        case "cut":
            data = data[:where]
        case "drop":
            data = data[:where] + data[where + size :]
        case "double":
            data = data[:where] + data[where : where + size] * chance.choice([2, 3, 50]) + data[where + size :]
        case "move":
            other = chance.randint(where, len(data))
            data = data[:where] + data[other:] + data[where:other]
        case "lines":
            lines = data.splitlines(keepends=True)
            chance.shuffle(lines)
            data = b"".join(lines)
        case _:
            data = data[:where] + chance.choice(SNIPPETS) + data[where:]
    return data, f"{how} at {where}"


def mutate_bytes(data: bytes, chance: random.Random) -> tuple[bytes, list[str]]:
    told: Sequence[str] = []
    for _ in range(chance.choice([1, 1, 2, 3, 6])):
        data, one = change_bytes(data, chance)
        told = [*told, one]
    return data, list(told)
