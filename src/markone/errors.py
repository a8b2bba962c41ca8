"""What can go wrong because of what was asked or given.

ValueError
└── MarkoneError            what the user can mend
    ├── SettingsError       a setting that has no meaning, or that another one forbids
    └── DataError           examples, labels or files that cannot be used
        ├── NoDataError     a file or a pipe that is empty
        ├── LimitError      what needs more memory, or is longer, than is allowed
        └── ModelFileError  a file that is no model, or is damaged, or was written by a newer version
KeyboardInterrupt
└── Interrupted             a signal, such as Ctrl-C, has ended the work
    └── Terminated          SIGTERM
UserWarning
└── MarkoneWarning          what one should know about a result

An error is data first: which setting, which value, which file and line, and what to do about it. Its sentence says what
is wrong, what was found and, where there is a good guess, what to do. Settings that it mentions are objects. So the
library writes `header=False` where the command line writes `--no-header`.
"""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias, Union

__all__ = [
    "DataError",
    "Interrupted",
    "LimitError",
    "MarkoneError",
    "MarkoneWarning",
    "ModelFileError",
    "NoDataError",
    "Setting",
    "SettingsError",
    "Terminated",
    "did_you_mean",
    "warn",
]

OUR_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


# ---- sentences


class Unsaid(Enum):
    """Stands for a value that is not mentioned; None is a value."""

    UNSAID = "unsaid"


UNSAID = Unsaid.UNSAID


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that a sentence mentions, alone or with a value. Its text is what one writes in Python.

    >>> print(Setting("header", False), Setting("kinds", {"zip": ...}), Setting("longest_line"))
    header=False kinds={'zip': ...} longest_line
    """

    name: str
    value: Any = UNSAID
    """`...` stands for a value that the user has to fill in, also inside a list or a dictionary."""
    key: str | None = None
    """The one entry of a dictionary that is meant."""

    def __str__(self) -> str:
        name = self.name if self.key is None else f"{self.name}[{self.key!r}]"
        return name if self.value is UNSAID else f"{name}={in_python(self.value)}"


Words: TypeAlias = Union[str, Setting, "Told", tuple["Words", ...]]
"""A sentence or a part of one: texts, and the settings and errors that stand between them."""


def in_python(value: Any) -> str:
    """A value as it is written in Python."""
    if value is ...:
        return "..."
    if isinstance(value, list):
        return f"[{', '.join(map(in_python, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {in_python(one)}' for name, one in value.items())}}}"
    return repr(value)


def text_of(words: Words, name: Callable[[Setting], str]) -> str:
    """The words as text, in which `name` writes the settings."""
    if isinstance(words, tuple):
        return "".join(text_of(part, name) for part in words)
    if isinstance(words, Setting):
        return name(words)
    return words.in_words(name) if isinstance(words, Told) else str(words)


class Told(Exception):  # noqa: N818 - it is the base of warnings, too
    """Something that is told to the user."""

    def __init__(self, words: Words = "", *, advice: Words = "") -> None:
        super().__init__(words)
        self.words = words
        """What is wrong."""
        self.advice = advice
        """What to do about it, if there is something to say."""

    def in_words(self, name: Callable[[Setting], str]) -> str:
        """The whole sentence, in which `name` writes the settings."""
        text = text_of(self.words, name)
        return f"{text}; {text_of(self.advice, name)}" if self.advice else text

    def __str__(self) -> str:
        return self.in_words(str)


# ---- errors


class MarkoneError(Told, ValueError):
    """The base of every error that the user can mend."""


class SettingsError(MarkoneError):
    """A setting that has no meaning, or that another one forbids."""

    def __init__(self, name: str | Setting, problem: Words, *, value: Any = UNSAID, advice: Words = "") -> None:
        self.setting = name if isinstance(name, Setting) else Setting(name)
        super().__init__((self.setting, " ", problem), advice=advice)
        self.args = (name, problem)  # with which a copy is made, in another process too
        self.name = str(self.setting)
        self.problem = problem
        """The sentence without its subject, which is the setting."""
        self.value = value
        """What was found, where that was noted."""


class DataError(MarkoneError):
    """Examples, labels or files that cannot be used. A sentence about a `line` begins with its place."""

    def __init__(
        self,
        words: Words = "",
        *,
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        advice: Words = "",
    ) -> None:
        super().__init__(words, advice=advice)
        self.file = file
        self.line = line
        """Counted from 1."""
        self.column = column

    def in_words(self, name: Callable[[Setting], str]) -> str:
        place = "" if self.line is None else f"{self.file}, line {self.line}: "
        return place + super().in_words(name)


class NoDataError(DataError):
    """A file, or what comes from a pipe, is empty: whoever predicts has nothing to do."""


class LimitError(DataError):
    """Something needs more memory, or is longer, than is allowed or than there is."""


class ModelFileError(DataError):
    """A file is no model, or is damaged, or was written by a newer version."""


class Interrupted(KeyboardInterrupt):
    """A signal, such as Ctrl-C, has ended the work."""

    told = False
    """Whether the user has been told so already."""

    def known(self) -> Interrupted:
        """The same, after the user has been told."""
        self.told = True
        return self


class Terminated(Interrupted):
    """SIGTERM: it does what Ctrl-C does, cleaning up included, with another exit status."""


# ---- warnings


class MarkoneWarning(Told, UserWarning):
    """What one should know about a result."""


def warn(words: Words) -> None:
    """Warns of what the user has asked for, in the user's line, however deep in here it was found."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OUR_FOLDER):
        level, frame = level + 1, frame.f_back
    warnings.warn(MarkoneWarning(words), stacklevel=level)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question to end an error with, or nothing where no known word is near.

    >>> did_you_mean("preceptron", ["perceptron", "mira"])
    " Did you mean 'perceptron'?"
    """
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
