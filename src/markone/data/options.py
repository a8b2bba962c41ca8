"""Options: what a user can say about how data are to be read, checked before anything is opened."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from markone.brief import Brief
from markone.errors import MarkoneError, Setting, SettingsError, did_you_mean
from markone.parallel import count_threads

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "libsvm", "vw", "fasttext", "tab", "lines", "folders", "idx")
TABLES = ("csv", "tsv", "jsonl", "parquet", "arrow")
TEXTS = ("fasttext", "tab", "lines")
DELIMITED = ("csv", "tsv")
BINARY = ("parquet", "arrow", "idx")

KINDS = ("numeric", "boolean", "categorical", "text", "ignore")
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
LONGEST_LINE = 64 * 2**20
WHITE_SPACE = "whitespace"
ALL = "all"

# What another file in the same format is read by; the rest is about one reading of one file.
MAKE = ("kinds", "header", "columns", "separator", "quote", "encoding", "missing", "longest_line", "named")


# ---- what an option may be: each check returns the value as it is kept, or raises ValueError with what it must be


def one_of(*choices: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if value not in choices:
            guess = did_you_mean(str(value), choices)
            raise ValueError(f"must be one of {', '.join(map(repr, choices))}, not {value!r}.{guess}")
        return value

    return check


def switch(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ValueError(f"must be True or False, not {value!r}")
    return value


def words(value: Any) -> Any:
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(word, str) for word in value):
        raise ValueError(f"must be a list of words, not {value!r}")
    return value


def names(value: Any) -> Any:
    """Words of which each is there once."""
    for place, word in enumerate(words(value)):
        if word in value[:place]:
            raise ValueError(f"must differ, but {word!r} is there twice")
    return value


def names_or_all(value: Any) -> Any:
    return value if value == ALL else words(value)


def number_of_bytes(most: int) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise ValueError(f"must be a number of bytes from 1 to {most:,}, not {value!r}")
        return value

    return check


def number_of_threads(value: Any) -> Any:
    count_threads(value)
    return value


def sign(other: str | None) -> Callable[[Any], Any]:
    """A character, or this word instead."""

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
        raise ValueError(f"must be one that Python knows, like 'latin-1', not {value!r}")
    return value


def kinds_of_columns(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError(f"must say the kinds of columns, as in {{'zip': 'text'}}, not {value!r}")
    for column, kind in value.items():
        checked_value(Setting("kinds", key=column), kind, one_of(*KINDS))
    return value


def or_none(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else check(value)


def checked(default: Any, check: Callable[[Any], Any]) -> Any:
    """A field whose value is checked when an object is made."""
    return field(default=default, metadata={"check": check})


def checked_value(name: str | Setting, value: Any, check: Callable[[Any], Any]) -> Any:
    """The value as it is kept, or an error that names the setting."""
    try:
        return check(value)
    except ValueError as error:
        raise error if isinstance(error, MarkoneError) else SettingsError(name, str(error), value=value) from None


# ---- the options


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Options(Brief):
    """The settings of `markone.read`, which explains them."""

    target: Any = None
    importance: Any = None
    format: str | None = checked(None, or_none(one_of(*FORMATS)))
    kinds: Mapping[str, str] = field(default_factory=dict, metadata={"check": kinds_of_columns})
    header: bool | None = checked(None, or_none(switch))
    columns: Sequence[str] | None = checked(None, or_none(names))
    separator: str | None = checked(None, or_none(sign(WHITE_SPACE)))
    quote: str | None = checked('"', sign(None))
    encoding: str = checked("utf-8", encoding)
    missing: Sequence[str] = checked(MISSING, words)
    longest_line: int = checked(LONGEST_LINE, number_of_bytes(2**30))
    skip_bad: bool = checked(False, switch)
    threads: int | None = checked(None, number_of_threads)
    keep: Sequence[str] | str = checked((), names_or_all)
    once: bool = checked(False, switch)
    named: str | None = checked(None, or_none(one_of(*FORMATS)))
    """The format that the names of a model's data say, where they are of another; `markone.read` is not told this."""

    def __post_init__(self) -> None:
        for option in fields(self):
            if "check" in option.metadata:
                value = checked_value(option.name, getattr(self, option.name), option.metadata["check"])
                object.__setattr__(self, option.name, value)
        if self.quote is not None and (self.quote == self.separator or self.quote in " \t"):
            raise SettingsError(
                "quote", f"must be no white space and not the separator, but is {self.quote!r}", value=self.quote
            )

    def check_use(self, what: str, format: str | None) -> None:
        """That nothing was said which means nothing here; `what` names that which is read, `format` a file's format."""
        usual = Options()
        for name in useless(format):
            if (value := getattr(self, name)) != getattr(usual, name):
                raise SettingsError(name, f"means nothing for {what}", value=value, advice="leave it out")

    def reading(self, format: str) -> dict[str, Any]:
        """What must be said, in JSON's types, so that a file in the same format is read alike."""
        usual = Options()
        changed = {name: getattr(self, name) for name in MAKE if getattr(self, name) != getattr(usual, name)}
        for name, value in changed.items():
            changed[name] = dict(value) if name == "kinds" else list(value) if name in ("columns", "missing") else value
        return {"format": format, **changed}


def useless(format: str | None) -> set[str]:
    """The options that mean nothing for files of a format, or for None in memory."""
    names: set[str] = set()
    if format not in DELIMITED:
        names |= {"header", "columns", "separator", "quote", "missing"}
    if format is None or format in BINARY:
        names |= {"encoding", "longest_line"}
    if format is not None and format not in TABLES:
        names |= {"kinds", "importance"}
    if format not in (*TABLES, *TEXTS):
        names.add("keep")
    return names


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    checked_value(name, value, one_of(*choices))


def check_words(name: str, value: object) -> None:
    checked_value(name, value, words)
