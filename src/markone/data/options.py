"""Options: what a user can say about how data are to be read, checked before anything is opened."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markone.brief import Brief
from markone.errors import SettingsError, did_you_mean
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Options(Brief):
    """The settings of `markone.read`, which explains them."""

    target: Any = None
    importance: Any = None
    format: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    header: bool | None = None
    columns: Sequence[str] | None = None
    separator: str | None = None
    quote: str | None = '"'
    encoding: str = "utf-8"
    missing: Sequence[str] = MISSING
    longest_line: int = LONGEST_LINE
    skip_bad: bool = False
    threads: int | None = None
    keep: Sequence[str] | str = ()
    once: bool = False
    named: str | None = None
    """The format that the names of a model's data say, where they are of another; `markone.read` is not told this."""

    def check(self) -> None:
        if self.format is not None:
            check_choice("format", self.format, FORMATS)
        if self.named is not None:
            check_choice("named", self.named, FORMATS)
        if not isinstance(self.kinds, Mapping):
            raise SettingsError("kinds", f"must say the kinds of columns, as in {{'zip': 'text'}}, not {self.kinds!r}")
        for column, kind in self.kinds.items():
            check_choice(f"kinds[{column!r}]", kind, KINDS)
        for name in ("header", "skip_bad", "once"):
            value = getattr(self, name)
            if not isinstance(value, bool) and not (name == "header" and value is None):
                raise SettingsError(name, f"must be True or False, not {value!r}")
        if self.columns is not None:
            check_words("columns", self.columns)
            if len(set(self.columns)) < len(self.columns):
                twice = next(name for i, name in enumerate(self.columns) if name in self.columns[:i])
                raise SettingsError("columns", f"must differ, but {twice!r} is there twice")
        check_words("missing", self.missing)
        if self.keep != ALL:
            check_words("keep", self.keep)
        self.check_signs()
        if not isinstance(self.encoding, str) or not is_encoding(self.encoding):
            raise SettingsError("encoding", f"must be one that Python knows, like 'latin-1', not {self.encoding!r}")
        longest = self.longest_line
        if isinstance(longest, bool) or not isinstance(longest, int) or not 1 <= longest <= 2**30:
            raise SettingsError("longest_line", f"must be a number of bytes from 1 to 2³⁰, not {longest!r}")
        count_threads(self.threads)

    def check_signs(self) -> None:
        for name, sign in (("separator", self.separator), ("quote", self.quote)):
            if sign is None or (name == "separator" and sign == WHITE_SPACE):
                continue
            if not (isinstance(sign, str) and len(sign) == 1 and sign.isascii() and sign not in "\r\n\0"):
                other = ", or 'whitespace'" if name == "separator" else ", or None"
                raise SettingsError(name, f"must be one character of ASCII{other}, not {sign!r}")
        if self.quote is not None and (self.quote == self.separator or self.quote in " \t"):
            raise SettingsError("quote", f"must be no white space and not the separator, but is {self.quote!r}")

    def check_use(self, what: str, format: str | None) -> None:
        """That nothing was said which means nothing here; `what` names that which is read, `format` a file's format."""
        usual = Options()
        for name in useless(format):
            if getattr(self, name) != getattr(usual, name):
                raise SettingsError(name, f"means nothing for {what}; leave it out")

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
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise SettingsError(name, f"must be one of {known}, not {value!r}.{did_you_mean(str(value), choices)}")


def check_words(name: str, words: object) -> None:
    if isinstance(words, str) or not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise SettingsError(name, f"must be a list of words, not {words!r}")


def is_encoding(name: str) -> bool:
    try:
        return codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):  # a name with a zero byte in it is a ValueError
        return False
