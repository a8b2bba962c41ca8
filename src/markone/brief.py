"""A base class whose `repr` is one short line. The full report of a result is its `str`."""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Iterator, Sized
from typing import Any

LONGEST = 200
"""The largest number of characters in a `repr`."""
MANY = 50
"""Lists with more elements are abbreviated without trying to print them in full."""


class Brief:
    """The base class of results. Dataclasses must set `repr=False`, or they would replace this `repr`."""

    __slots__ = ()

    def in_brief(self) -> str | None:
        """Return a summary in a few words, or None to show the fields instead."""
        return None

    def __repr__(self) -> str:
        summary = self.in_brief()
        return of_fields(self) if summary is None else one_line(f"<{type(self).__name__}: {summary}>")


def of_fields(what: Any) -> str:
    """Return the class name and the fields: complete if they fit on one short line, otherwise abbreviated."""
    name, found = type(what).__name__, list(fields_of(what))
    if not any(isinstance(value, Sized) and not isinstance(value, str) and size(value) > MANY for _, value in found):
        whole = f"{name}({', '.join(f'{field}={value!r}' for field, value in found)})"
        if len(whole) <= LONGEST and "\n" not in whole:
            return whole
    return one_line(f"{name}({', '.join(f'{field}={SHORT.repr(value)}' for field, value in found)})")


def fields_of(what: Any) -> Iterator[tuple[str, Any]]:
    if dataclasses.is_dataclass(what):
        return ((field.name, getattr(what, field.name)) for field in dataclasses.fields(what) if field.repr)
    return zip(what._fields, what, strict=True)  # a named tuple


def size(what: Sized) -> int:
    try:
        return len(what)
    except TypeError:  # an array without dimensions has no length
        return 0


def one_line(text: str) -> str:
    """Return the text on one line, shortened to the largest allowed length.

    >>> one_line("<Sum: of\\n  many>"), len(one_line("<" + 300 * "a" + ">")), one_line("(" + 300 * "a" + ")")[-5:]
    ('<Sum: of many>', 200, 'a...)')
    """
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]}...{text[-1]}"


class Short(reprlib.Repr):
    """Abbreviates the values of fields."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxtuple, self.maxdict, self.maxset = 2, 3, 3, 2, 3
        self.maxstring = self.maxother = 30

    def repr_ndarray(self, array: Any, level: int) -> str:
        return f"<array of {' × '.join(map(str, array.shape))}>"

    def repr_float(self, number: float, level: int) -> str:
        return f"{number:.6g}"

    def repr_instance(self, what: Any, level: int) -> str:
        whole = one_line(repr(what))
        return whole if len(whole) <= self.maxother else f"<{type(what).__name__}>"


SHORT = Short()
