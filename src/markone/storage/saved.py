"""Learned state as facts and arrays for a file, and its checked reading."""

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
    """Learned state as a file stores it."""

    facts: dict[str, Any] = field(default_factory=dict)
    """Values of JSON."""
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    """Arrays, by name."""


def damaged(problem: str) -> ModelFileError:
    return ModelFileError(f"the saved features are damaged: {problem}")


@contextmanager
def distrusted() -> Iterator[None]:
    """Turn an error of the core into an error about the file."""
    try:
        yield
    except DataError:
        raise
    except ValueError as error:
        raise damaged(str(error)) from None


# ---- names as bytes


def blob(name: str, texts: Strings) -> dict[str, NDArray[Any]]:
    """Texts as two arrays: their bytes, and the start of each text, as in Arrow's arrays of strings."""
    small = len(texts.data) <= np.iinfo(np.int32).max
    return {name: texts.data, f"{name}_offsets": texts.offsets.astype(np.int32 if small else np.int64)}


# ---- several in one


def joined(parts: Mapping[str, Saved], facts: Mapping[str, Any] | None = None) -> Saved:
    """Join several states, each under its name, and more facts."""
    return Saved(
        {**(facts or {}), **{name: saved.facts for name, saved in parts.items()}},
        {f"{name}.{key}": array for name, saved in parts.items() for key, array in saved.arrays.items()},
    )


class Contents:
    """The contents of a file that should be a `Saved`. Each entry is taken by name and checked, and none may be left.

    The caller gives the type and shape of an entry, and checks its meaning.
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
        """Take a fact of exactly this type: True is not a number."""
        value = self._facts.pop(name, None)
        if type(value) is not kind:
            raise damaged(f"{name!r} is not what it should be")
        return value

    def facts(self, name: str, kind: type[Fact], count: int) -> list[Fact]:
        """Take a list of this length, whose items have exactly this type."""
        values = self.fact(name, list)
        if len(values) != count or any(type(value) is not kind for value in values):
            raise damaged(f"{name!r} is not what it should be")
        return values

    def array(self, name: str, dtype: DTypeLike, *shape: int | None) -> NDArray[Any]:
        """Take an array of this type and shape, in which None allows any size."""
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
        """Look at an array of any type without taking it."""
        return self._arrays.get(name)

    def texts(self, name: str, errors: str = "surrogatepass") -> Strings:
        """Take texts that were stored by `blob`."""
        data = self.array(name, np.uint8, None)
        offsets = self._arrays.get(f"{name}_offsets")
        wide = isinstance(offsets, np.ndarray) and offsets.dtype == np.int64
        starts = self.array(f"{name}_offsets", np.int64 if wide else np.int32, None).astype(np.int64)
        # Compared, not subtracted: differences of forged numbers may overflow and then seem valid.
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
        """Take texts, all of which must differ."""
        names = self.texts(name).tolist("surrogatepass")
        if len({*names}) != len(names):
            raise damaged(f"a name of {name!r} occurs twice")
        return names

    def saved(self, name: str) -> Saved:
        """Take a state that was stored under this name by `joined`."""
        return Saved(self.fact(name, dict), self._inner.pop(name, {}))

    def close(self) -> None:
        """Raise an error if an entry has not been taken."""
        for rest in (self._facts, self._arrays, self._inner):
            for name in rest:
                raise damaged(f"{name!r} is unknown")


def check_finite(name: str, numbers: NDArray[Any]) -> None:
    if not np.isfinite(numbers).all():
        raise damaged(f"{name!r} has numbers that are not finite")


def check_positive(name: str, numbers: NDArray[Any]) -> None:
    """Raise an error if a number is not positive; infinity is allowed."""
    if not (numbers > 0).all():
        raise damaged(f"{name!r} has numbers that are not positive")
