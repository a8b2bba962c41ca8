"""The container of a model file: facts and arrays in one safetensors file, each with a checksum.

The file is eight bytes with the length of its header, the header, and the bytes of the arrays; any program that reads
safetensors can open it. The header's metadata has two texts: `markone`, which is JSON with the version of the format,
the facts, and the type, shape and checksum (XXH3, 64 bits) of each array; and `checksum`, the checksum of that text.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from xxhash import xxh3_64_hexdigest

from markone import __version__
from markone.errors import DataError, LimitError, MarkoneError, ModelFileError, SettingsError, did_you_mean
from markone.storage.atomic import writing
from markone.storage.saved import Saved

FORMAT = 1
"""The version of the format. A reader knows all versions up to its own."""
DEEPEST = 50
"""The maximum depth of nested facts."""
LARGEST_HEADER = 100_000_000
"""The maximum size of a header that readers of safetensors accept, in bytes."""

PICKLED = "<pickle>"
"""The name in messages for a model that does not come from a file."""

Path = str | os.PathLike[str]

# The names of safetensors for the types that we use. All are little-endian.
TYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "BOOL": np.dtype("?"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"),
}
NAMES = {dtype: name for name, dtype in TYPES.items()}


# ---- writing


def write_file(path: Path, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write facts and arrays. An old file is replaced when the new one is complete. Equal content gives equal bytes."""
    path = checked(path)
    pieces = pieces_of(path, facts, arrays)
    with writing(path) as file:
        for piece in pieces:
            file.write(piece)


def to_bytes(saved: Saved) -> bytes:
    """The bytes that `write_file` would write."""
    return b"".join(pieces_of("the model", saved.facts, saved.arrays))


def digest_of(saved: Saved) -> str:
    """The SHA-256 of the bytes that `write_file` would write."""
    import hashlib  # loads OpenSSL, which a prediction does not need

    digest = hashlib.sha256()
    for piece in pieces_of("the model", saved.facts, saved.arrays):
        digest.update(piece)
    return digest.hexdigest()


def pieces_of(path: str, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> list[bytes | memoryview]:
    """The pieces of a file, one after the other."""
    # The largest types first, so that each array is aligned for its type.
    ordered = sorted(((name, in_order(array)) for name, array in arrays.items()), key=lambda a: (-a[1].itemsize, a[0]))
    header = header_of(facts, dict(ordered))
    if len(header) > LARGEST_HEADER:
        raise DataError(
            f"cannot save {path}: classes, lexicons and settings need {len(header) / 1e6:,.0f} MB, but a file has room "
            f"for {LARGEST_HEADER / 1e6:,.0f} MB of them; use fewer or shorter ones"
        )
    return [len(header).to_bytes(8, "little"), header, *(flat(array) for _, array in ordered)]


def in_order(array: NDArray[Any]) -> NDArray[Any]:
    """The array as it is written: row by row, little-endian; without a copy if it already is."""
    array = np.asarray(array)
    return np.require(array, array.dtype.newbyteorder("<"), "C")


def flat(array: NDArray[Any]) -> memoryview:
    """The bytes of an array, without a copy."""
    return array.reshape(-1).view(np.uint8).data


def header_of(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    tensors = {
        name: {"dtype": NAMES[array.dtype], "shape": list(array.shape), "xxh3": xxh3_64_hexdigest(flat(array))}
        for name, array in arrays.items()
    }
    told = to_json({"format": FORMAT, "version": __version__, "facts": facts, "tensors": tensors})
    header: dict[str, Any] = {"__metadata__": {"markone": told, "checksum": xxh3_64_hexdigest(told.encode())}}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": tensors[name]["dtype"],
            "shape": tensors[name]["shape"],
            "data_offsets": [begin, end],
        }
    written = to_json(header).encode()
    return written + b" " * (-len(written) % 8)


def to_json(what: Any) -> str:
    return json.dumps(what, allow_nan=False, separators=(",", ":"))


# ---- reading


def read_file(path: Path) -> Saved:
    """Read the facts and arrays of a file. Their sizes are checked before they are read, their checksums afterwards.

    The content is not trusted: the caller only knows that it is JSON and arrays of known types.
    """
    path = checked(path)
    with reading(path), opened(path) as file:
        return read_opened(path, file)


def read_opened(path: str, file: BufferedReader) -> Saved:
    told = read_told(path, file)
    return Saved(told["facts"], read_arrays(path, file, told["tensors"]))


def from_bytes(content: bytes) -> Saved:
    """Read the facts and arrays from a result of `to_bytes`, with the same checks as for a file."""
    if not content:
        raise DataError(f"{PICKLED} is empty, not a Markone model")
    import tempfile

    with reading(PICKLED), tempfile.NamedTemporaryFile() as file:  # because safetensors opens only files
        file.write(content)
        file.flush()
        with opened(file.name) as again:
            return read_opened(PICKLED, again)


def kind_of(path: Path) -> Any:
    """The kind of model in a file, by its header: `classifier`, `tagger` and so on. Its arrays are not read."""
    path = checked(path)
    with reading(path), opened(path) as file:
        return read_told(path, file)["facts"].get("kind")


def read_told(path: str, file: BufferedReader) -> dict[str, Any]:
    """The contents of the header, after a check that they match the arrays."""
    # By its descriptor, because another file may get its name meanwhile.
    same = f"/proc/self/fd/{file.fileno()}"
    with safe_open(same if os.path.exists(same) else file.name, framework="numpy") as seen:
        told = read_header(path, seen.metadata())
        check_arrays(path, seen, told["tensors"])
    return told


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn an error of reading a model into a `DataError` that names the file."""
    try:
        yield
    except MarkoneError:
        raise
    except SafetensorError as error:
        raise ModelFileError(f"{path} is not a Markone model, or is damaged: {error}", file=path) from error
    except MemoryError as error:
        raise LimitError(f"cannot read the model {path}: there is not enough memory for it", file=path) from error
    except OSError as error:
        raise DataError(f"cannot read the model {path}: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from error


def checked(path: Path) -> str:
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise SettingsError("path", f"must be the name of a file, not {path!r}")
    return os.fspath(path)


def opened(path: str) -> BufferedReader:
    """Open a file, with a clear error if it is not a file. A pipe without a writer does not block."""
    try:
        file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115
    except FileNotFoundError:
        raise DataError(f"there is no model {path}.{nearest(path)}") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder, not a model; name the file") from None
    except ValueError as error:
        raise DataError(f"{path!r} is not a valid file name: {error}") from None
    found = os.fstat(file.fileno())
    if stat.S_ISREG(found.st_mode) and found.st_size > 0:
        return file
    file.close()
    if stat.S_ISREG(found.st_mode):
        raise ModelFileError(f"{path} is empty, not a Markone model", file=path)
    raise DataError(f"{path} is a pipe or a device, not a file; copy it into a file first")


def nearest(path: str) -> str:
    """A guess at the file that was meant, for a message."""
    folder, name = os.path.split(path)
    try:
        return did_you_mean(name, os.listdir(folder or "."))
    except FileNotFoundError:
        return f" There is no folder {folder} either."
    except OSError:
        return ""


def damaged(path: str, how: str) -> ModelFileError:
    words = f"the model {path} is damaged: {how}. Use an undamaged copy, or train it again"
    return ModelFileError(words, file=path)


def read_header(path: str, metadata: dict[str, str] | None) -> dict[str, Any]:
    if not metadata or "markone" not in metadata:
        raise ModelFileError(f"{path} is a safetensors file, but not one that Markone wrote", file=path)
    text = metadata["markone"]
    try:
        told: Any = json.loads(text, object_pairs_hook=once, parse_constant=no_number, parse_float=finite)
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"its header has been changed ({error})") from error
    version = told.get("format") if isinstance(told, dict) else None
    if type(version) is not int or version < 1:
        raise damaged(path, f"its format is {version!r:.50}, which is not a version")
    if version > FORMAT:
        raise ModelFileError(
            f"{path} was written by a newer Markone, {told.get('version')!r:.50}, in format {version}; this one, "
            f"{__version__}, reads formats up to {FORMAT}. Install a newer one: pip install --upgrade markone"
        )
    if xxh3_64_hexdigest(text.encode("utf-8", "surrogatepass")) != metadata.get("checksum"):
        raise damaged(path, "the checksum of its header is wrong")
    if set(told) != {"format", "version", "facts", "tensors"}:
        raise damaged(path, "its header lacks a part, or has an unknown one")
    for part in ("facts", "tensors"):
        if not isinstance(told[part], dict):
            raise damaged(path, f"the {part} in its header are not a JSON object")
    check_depth(told["facts"], DEEPEST)
    return dict(told)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in it")
    return found


def no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


def finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text:.50} is too large a number")
    return number


def check_depth(what: Any, deepest: int) -> None:
    if isinstance(what, dict | list):
        if deepest == 0:
            raise ValueError("its facts are nested too deeply")
        for one in what.values() if isinstance(what, dict) else what:
            check_depth(one, deepest - 1)


def check_arrays(path: str, seen: Any, listed: dict[str, Any]) -> None:
    """Check that the arrays of the file, whose sizes safetensors has checked, are those in our own header."""
    if set(seen.keys()) != set(listed):
        raise damaged(path, "it does not have the arrays that its header lists")
    for name, said in listed.items():
        there = seen.get_slice(name)
        if not isinstance(said, dict) or set(said) != {"dtype", "shape", "xxh3"}:
            raise damaged(path, f"its header does not describe the array {name!r:.50}")
        if there.get_dtype() not in TYPES or there.get_dtype() != said["dtype"]:
            raise damaged(path, f"the array {name!r:.50} is of the type {there.get_dtype()}, which is not allowed")
        if list(there.get_shape()) != said["shape"]:
            raise damaged(path, f"the array {name!r:.50} does not have the shape in the header")


def read_arrays(path: str, file: BufferedReader, listed: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Read the arrays, which are at the end of the file in the order of the list."""
    arrays: dict[str, NDArray[Any]] = {}
    sizes = [math.prod(said["shape"]) * TYPES[said["dtype"]].itemsize for said in listed.values()]
    file.seek(-sum(sizes), os.SEEK_END)
    for name, said in listed.items():
        array: NDArray[Any] = np.empty(said["shape"], TYPES[said["dtype"]])
        file.readinto(flat(array))
        if xxh3_64_hexdigest(flat(array)) != said["xxh3"]:
            raise damaged(path, f"the checksum of the array {name!r:.50} is wrong")
        if array.dtype == bool and (array.view(np.uint8) > 1).any():
            raise damaged(path, f"the array {name!r:.50} has a value that is neither false nor true")
        arrays[name] = array
    return arrays
