"""Brief: the `repr` of a result is one short line, whatever is in it. The report is its `str`."""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Iterator, Sized
from typing import Any

LONGEST = 200
"""The most characters of a line."""
MANY = 50
"""Of longer lists not all is looked at to find that they are too long."""


class Brief:
    """Results derive from it, and dataclasses say `repr=False`, or they would have a `repr` of their own."""

    __slots__ = ()

    def in_brief(self) -> str | None:
        """What it comes to, in a few words; None for the values of its fields."""
        return None

    def __repr__(self) -> str:
        told = self.in_brief()
        return of_fields(self) if told is None else one_line(f"<{type(self).__name__}: {told}>")


def of_fields(what: Any) -> str:
    """Name and fields, all of them if that is one short line, else in brief."""
    name, found = type(what).__name__, list(fields_of(what))
    if not any(isinstance(value, Sized) and not isinstance(value, str) and size(value) > MANY for _, value in found):
        whole = f"{name}({', '.join(f'{field}={value!r}' for field, value in found)})"
        if len(whole) <= LONGEST and "\n" not in whole:
            return whole
    return one_line(f"{name}({', '.join(f'{field}={SHORT.repr(value)}' for field, value in found)})")


def fields_of(what: Any) -> Iterator[tuple[str, Any]]:
    if dataclasses.is_dataclass(what):
        return ((field.name, getattr(what, field.name)) for field in dataclasses.fields(what) if field.repr)
    return zip(what._fields, what, strict=True)  # of a named tuple


def size(what: Sized) -> int:
    try:
        return len(what)
    except TypeError:  # an array of no dimension
        return 0


def one_line(text: str) -> str:
    """On one line, and not too long for it.

    >>> one_line("<Sum: of\\n  many>"), len(one_line("<" + 300 * "a" + ">")), one_line("(" + 300 * "a" + ")")[-5:]
    ('<Sum: of many>', 200, 'a...)')
    """
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]}...{text[-1]}"


class Short(reprlib.Repr):
    """Values that are parts of a line."""

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
