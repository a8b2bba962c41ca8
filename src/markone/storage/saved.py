"""What has been learned, as a file keeps it: put together, and taken apart again with distrust."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from markone.brief import Brief
from markone.data.strings import Strings
from markone.errors import DataError, ModelFileError

Fact = TypeVar("Fact")


@dataclass(frozen=True, slots=True, repr=False)
class Saved(Brief):
    """What has been learned, as a file keeps it."""

    facts: dict[str, Any] = field(default_factory=dict)
    """What JSON has."""
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    """The rest, by name."""


def damaged(problem: str) -> ModelFileError:
    return ModelFileError(f"the saved features are damaged: {problem}")


@contextmanager
def distrusted() -> Iterator[None]:
    """What the core refuses was wrong in the file."""
    try:
        yield
    except DataError:
        raise
    except ValueError as error:
        raise damaged(str(error)) from None


# ---- names as bytes


def blob(name: str, texts: Strings) -> dict[str, NDArray[Any]]:
    """Texts as two arrays: their bytes, and where each starts, as in Arrow's arrays of strings."""
    small = len(texts.data) <= np.iinfo(np.int32).max
    return {name: texts.data, f"{name}_offsets": texts.offsets.astype(np.int32 if small else np.int64)}


# ---- several in one


def joined(parts: Mapping[str, Saved], facts: Mapping[str, Any] | None = None) -> Saved:
    """What several have learned, each under its name, and more facts."""
    return Saved(
        {**(facts or {}), **{name: saved.facts for name, saved in parts.items()}},
        {f"{name}.{key}": array for name, saved in parts.items() for key, array in saved.arrays.items()},
    )


class Contents:
    """What a file has where `Saved` should be: everything in it is asked for by name and checked, and nothing is left.

    Whoever takes something out of it says what it must be; what it means is checked by them.
    """

    def __init__(self, saved: Saved) -> None:
        self._facts = dict(saved.facts)
        self._arrays: dict[str, Any] = {}
        self._inner: dict[str, dict[str, Any]] = {}
        for name, array in saved.arrays.items():
            head, dot, rest = name.partition(".")
            if dot:
                self._inner.setdefault(head, {})[rest] = array
            else:
                self._arrays[name] = array

    def fact(self, name: str, kind: type[Fact]) -> Fact:
        """Something of just this kind: True is no number."""
        value = self._facts.pop(name, None)
        if type(value) is not kind:
            raise damaged(f"{name!r} is not what it should be")
        return value

    def facts(self, name: str, kind: type[Fact], count: int) -> list[Fact]:
        """A list of so many of just this kind."""
        values = self.fact(name, list)
        if len(values) != count or any(type(value) is not kind for value in values):
            raise damaged(f"{name!r} is not what it should be")
        return values

    def array(self, name: str, dtype: DTypeLike, *shape: int | None) -> NDArray[Any]:
        """An array of this type and shape, in which None stands for any size."""
        array = self._arrays.pop(name, None)
        if (
            not isinstance(array, np.ndarray)
            or array.dtype != dtype
            or len(array.shape) != len(shape)
            or any(size is not None and size != found for size, found in zip(shape, array.shape, strict=True))
        ):
            raise damaged(f"the array {name!r} is not what it should be")
        return np.ascontiguousarray(array)

    def peek(self, name: str) -> NDArray[Any] | None:
        """An array of whatever type, which stays to be asked for."""
        return self._arrays.get(name)

    def texts(self, name: str, errors: str = "surrogatepass") -> Strings:
        """What `blob` gave: any texts."""
        data = self.array(name, np.uint8, None)
        offsets = self._arrays.get(f"{name}_offsets")
        wide = isinstance(offsets, np.ndarray) and offsets.dtype == np.int64
        starts = self.array(f"{name}_offsets", np.int64 if wide else np.int32, None).astype(np.int64)
        # Compared, not subtracted: differences of forged numbers may overflow, and so seem to be in order.
        if len(starts) == 0 or starts[0] != 0 or starts[-1] != len(data) or (starts[1:] < starts[:-1]).any():
            raise damaged(f"the texts of {name!r} are not within their bytes")
        try:
            data.tobytes().decode("utf-8", errors)
        except UnicodeDecodeError as error:
            raise damaged(f"{name!r} is not UTF-8: {error.reason}") from None
        if (data[starts[starts < len(data)]] & 0xC0 == 0x80).any():
            raise damaged(f"a text of {name!r} starts within a character")
        return Strings(data, starts)

    def names(self, name: str) -> list[str]:
        """Texts of which each is another."""
        names = self.texts(name).tolist("surrogatepass")
        if len({*names}) != len(names):
            raise damaged(f"a name of {name!r} is there twice")
        return names

    def saved(self, name: str) -> Saved:
        """What `joined` put under a name."""
        return Saved(self.fact(name, dict), self._inner.pop(name, {}))

    def close(self) -> None:
        """Nothing may be left."""
        for rest in (self._facts, self._arrays, self._inner):
            for name in rest:
                raise damaged(f"{name!r} is unknown")


def check_finite(name: str, numbers: NDArray[Any]) -> None:
    if not np.isfinite(numbers).all():
        raise damaged(f"{name!r} has numbers that are not finite")


def check_positive(name: str, numbers: NDArray[Any]) -> None:
    """Infinity is positive."""
    if not (numbers > 0).all():
        raise damaged(f"{name!r} has numbers that are not positive")
