"""Options: the settings of `markone.read`, checked before anything is opened."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from markone.brief import Brief
from markone.checks import (
    Check,
    check_fields,
    check_named,
    checked,
    names,
    one_of,
    optional,
    switch,
    text,
    whole,
    words,
)
from markone.data.formats import FORMATS, useless_options
from markone.data.source import KINDS
from markone.errors import Setting, SettingsError
from markone.parallel import count_threads

SAID = (*(kind for kind in KINDS if kind not in ("image", "rows")), "ignore")
"""The kinds that a user can give to a column of a table."""
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
LONGEST_LINE = 64 * 2**20
WHITE_SPACE = "whitespace"
ALL = "all"

MAKE = (
    *("kinds", "header", "columns", "separator", "quote", "encoding", "missing", "longest_line", "sheet", "query"),
    "named",
)
"""The options that describe the format of a file. A model keeps them; the others concern one reading of one file."""


# ---- the values that only these options can have


def names_or_all(value: Any) -> Any:
    return value if value == ALL else words(value)


def number_of_threads(value: Any) -> Any:
    count_threads(value)
    return value


def character(other: str | None) -> Check:
    """A character of ASCII, or this word or None instead."""

    def check(value: Any) -> Any:
        if value == other:
            return value
        if not (isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\r\n\0"):
            raise ValueError(f"must be one character of ASCII, or {other!r}, not {value!r}")
        return value

    return check


def encoding(value: Any) -> Any:
    try:
        known = isinstance(value, str) and codecs.lookup(value)._is_text_encoding
    except (LookupError, ValueError):  # a name with a zero byte in it is a ValueError
        known = False
    if not known:
        raise ValueError(f"must be the name of an encoding that Python knows, like 'latin-1', not {value!r}")
    return value


def kinds_of_columns(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError(f"must map the names of columns to kinds, as in {{'zip': 'text'}}, not {value!r}")
    for column, kind in value.items():
        check_named(Setting("kinds", key=column), one_of(*SAID), kind)
    return value


# ---- the options


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Options(Brief):
    """The settings of `markone.read`, which explains them."""

    target: Any = None
    importance: Any = None
    format: str | None = checked(None, optional(one_of(*FORMATS)))
    kinds: Mapping[str, str] = checked(dict, kinds_of_columns)
    header: bool | None = checked(None, optional(switch))
    columns: Sequence[str] | None = checked(None, optional(names))
    separator: str | None = checked(None, optional(character(WHITE_SPACE)))
    quote: str | None = checked('"', character(None))
    encoding: str = checked("utf-8", encoding)
    missing: Sequence[str] = checked(MISSING, words)
    longest_line: int = checked(LONGEST_LINE, whole(1, 2**30))
    sheet: str | None = checked(None, optional(text("the name of a sheet")))
    query: str | None = checked(None, optional(text("a SELECT, or the name of a table")))
    nan: Literal["error", "missing"] = checked("error", one_of("error", "missing"))
    skip_bad: bool = checked(False, switch)
    threads: int | None = checked(None, number_of_threads)
    keep: Sequence[str] | str = checked((), names_or_all)
    once: bool = checked(False, switch)
    named: str | None = checked(None, optional(one_of(*FORMATS)))
    """The format that the names of a model's files show, if it is not their real one; no option of `markone.read`."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.quote is not None and (self.quote == self.separator or self.quote in " \t"):
            problem = f"must be neither white space nor the separator, but is {self.quote!r}"
            raise SettingsError("quote", problem, value=self.quote)

    def check_use(self, what: str, format: str | None) -> None:
        """Raise an error if an option is set that has no meaning for files of this format, or for data in memory if it
        is None; `what` names the data in the message."""
        usual = Options()
        for name in sorted(useless_options(format)):
            if (value := getattr(self, name)) != getattr(usual, name):
                raise SettingsError(name, f"means nothing for {what}", value=value, advice="leave it out")

    def reading(self, format: str) -> dict[str, Any]:
        """The options, as values of JSON, with which another file of this format is read in the same way."""
        usual = Options()
        changed = {name: getattr(self, name) for name in MAKE if getattr(self, name) != getattr(usual, name)}
        for name, value in changed.items():
            changed[name] = dict(value) if name == "kinds" else list(value) if name in ("columns", "missing") else value
        return {"format": format, **changed}
