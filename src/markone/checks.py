"""Checks of settings. Each field declares its own check: `epochs: int = checked(10, whole(1))`.

A check takes a value and returns the value to store, or raises a `ValueError` that says what the value must be.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, field, fields
from typing import Any

from markone.errors import MarkoneError, Setting, SettingsError, did_you_mean

Check = Callable[[Any], Any]

LARGEST = 2**63 - 1
"""The largest whole number that the core can count to."""
SHOWN = 80
"""The number of characters that are shown of a wrong value."""


def checked(default: Any, check: Check) -> Any:
    """Return a dataclass field with a default value (or `dict` for a new dictionary) and a check."""
    if default is dict:
        return field(default_factory=dict, metadata={"check": check})
    return field(default=default, metadata={"check": check})


def required(check: Check) -> Any:
    """Return a dataclass field with a check and without a default value."""
    return field(metadata={"check": check})


def check_fields(settings: Any) -> None:
    """Check every field that has a check, and store the checked values. The first wrong one is a `SettingsError`."""
    for one in (one for one in fields(settings) if "check" in one.metadata):
        object.__setattr__(settings, one.name, as_kept(one, getattr(settings, one.name)))


def as_kept(one: Field[Any], value: Any) -> Any:
    """Check a value and return it in the form in which the field stores it."""
    return check_named(one.name, one.metadata["check"], value)


def check_named(name: str | Setting, check: Check, value: Any) -> Any:
    """Return the checked value. Raise a `SettingsError` with this name if the value is wrong."""
    try:
        return check(value.item() if is_scalar_of_numpy(value) else value)
    except MarkoneError:
        raise
    except ValueError as error:
        raise SettingsError(name, str(error), value=value) from None


def is_scalar_of_numpy(value: Any) -> bool:
    """Whether it is a single number of NumPy, as loops over arrays give them."""
    return getattr(value, "shape", None) == () and hasattr(value, "item")


def default_of(one: Field[Any]) -> Any:
    """Return the default value of a field."""
    return one.default if one.default_factory is MISSING else one.default_factory()


# ---- kinds of values


def one_of(*choices: str | None) -> Check:
    def check(value: Any) -> Any:
        if not (value is None or isinstance(value, str)) or value not in choices:
            guess = did_you_mean(str(value), map(str, choices))
            raise ValueError(f"must be one of {', '.join(map(repr, choices))}, not {shown(value)}.{guess}")
        return value

    return check


def words(value: Any) -> Any:
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(word, str) for word in value):
        raise ValueError(f"must be a list of words, not {shown(value)}")
    return value


def names(value: Any) -> Any:
    """A list of words without repetition."""
    for place, word in enumerate(words(value)):
        if word in value[:place]:
            raise ValueError(f"must differ, but {word!r} occurs twice")
    return value


def some_of(*choices: str) -> Check:
    """Accept a list of choices, and remove repeated ones."""

    def check(value: Any) -> Any:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ValueError(f"must be a list, not {shown(value)}")
        return tuple(dict.fromkeys(map(one_of(*choices), value)))

    return check


def optional(check: Check) -> Check:
    """Accept None, or a value that passes the check."""
    return lambda value: None if value is None else check(value)


def or_empty(check: Check) -> Check:
    """Like `optional`, but an empty list also means None, because TOML has no None."""
    return lambda value: None if value is None or value == [] else check(value)


def switch(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ValueError(f"must be True or False, not {shown(value)}")
    return value


def text(what: str) -> Check:
    """Accept a string. The error message calls it `what`."""

    def check(value: Any) -> Any:
        if not isinstance(value, str):
            raise ValueError(f"must be {what}, not {shown(value)}")
        return value

    return check


def whole(least: int, most: int | None = LARGEST) -> Check:
    """Accept a whole number in this range. With `most=None` it may be arbitrarily large."""

    def check(value: Any) -> Any:
        good = isinstance(value, int) and not isinstance(value, bool)
        if good and most == LARGEST and value > most:
            raise ValueError(f"must be less than 2⁶³, not a number of {value.bit_length()} bits")
        if not good or value < least or (most is not None and value > most):
            reach = f"of at least {least}" if most in (None, LARGEST) else f"from {least} to {most}"
            raise ValueError(f"must be a whole number {reach}, not {shown(value)}")
        return value

    return check


def number(
    *, above: float = -math.inf, least: float = -math.inf, below: float | None = None, most: float | None = None
) -> Check:
    """Accept a number in this range. `below=math.inf` means that the number must be finite."""
    reach = range_in_words(above, least, below, most)

    def check(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"must be a number{reach}, not {shown(value)}")
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            raise ValueError(f"must be a number that a float can hold, not one of {value.bit_length()} bits")
        in_range = (
            value >= least
            and (value > above or above == -math.inf)
            and (below is None or value < below)
            and (most is None or value <= most)
        )
        if math.isnan(value) or not in_range:
            raise ValueError(f"must be a number{reach}, not {shown(value)}")
        return value

    return check


def range_in_words(above: float, least: float, below: float | None, most: float | None) -> str:
    """
    >>> range_in_words(0, -math.inf, math.inf, None), range_in_words(-math.inf, 0, None, 1)
    (' greater than 0 and finite', ' from 0 to 1')
    """
    if least > -math.inf and most is not None:
        return f" from {least:g} to {most:g}"
    words = (
        [f"greater than {above:g}"] if above > -math.inf else [f"of at least {least:g}"] if least > -math.inf else []
    )
    if most is not None:
        words.append(f"at most {most:g}")
    if below is not None:
        words.append("finite" if below == math.inf else f"less than {below:g}")
    if words == ["finite"]:
        return " that is finite"
    return f" {' and '.join(words)}" if words else ""


def shown(value: Any) -> str:
    """Return a wrong value for a message, shortened if it is long."""
    return f"{value!r:.{SHOWN}}"
