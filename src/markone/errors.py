"""The errors and warnings that concern the user's settings or data.

ValueError
└── MarkoneError            an error that the user can fix
    ├── SettingsError       a setting is invalid, or another setting forbids it
    └── DataError           examples, labels or files cannot be used
        ├── NoDataError     a file or a pipe is empty
        ├── LimitError      something needs more memory than allowed, or is longer than allowed
        └── ModelFileError  a file is not a model, or it is damaged, or a newer version wrote it
KeyboardInterrupt
└── Interrupted             a signal, such as Ctrl-C, has ended the work
    └── Terminated          the signal SIGTERM has ended the work
UserWarning
└── MarkoneWarning          the user should know something about a result

The parts of an error are attributes: the setting, the value, the file and line, and the advice. Its message says what
is wrong, what was found and, if there is a good guess, what to do. Settings in a message are objects, so that the
library can write `header=False` and the command line can write `--no-header`.
"""

from __future__ import annotations

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

LONGEST_WORD = 200
"""Longer words are not compared with known ones, because that takes too long."""
OUR_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


# ---- messages


class Unsaid(Enum):
    """Stands for a value that is not mentioned; None is a value."""

    UNSAID = "unsaid"


UNSAID = Unsaid.UNSAID


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that a message mentions, alone or with a value. As text it is Python code.

    >>> print(Setting("header", False), Setting("kinds", {"zip": ...}), Setting("longest_line"))
    header=False kinds={'zip': ...} longest_line
    """

    name: str
    value: Any = UNSAID
    """`...` stands for a value that the user has to fill in, also inside a list or a dictionary."""
    key: str | None = None
    """The entry that is meant, if the setting is a dictionary."""

    def __str__(self) -> str:
        name = self.name if self.key is None else f"{self.name}[{self.key!r}]"
        return name if self.value is UNSAID else f"{name}={in_python(self.value)}"


Words: TypeAlias = Union[str, Setting, "Told", tuple["Words", ...]]
"""A message or a part of one: strings, settings and other errors, in order."""


def in_python(value: Any) -> str:
    """Return a value as Python code, with `...` for an Ellipsis."""
    if value is ...:
        return "..."
    if isinstance(value, list):
        return f"[{', '.join(map(in_python, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {in_python(one)}' for name, one in value.items())}}}"
    return repr(value)


def text_of(words: Words, name: Callable[[Setting], str]) -> str:
    """Return the words as text. The function `name` formats the settings."""
    if isinstance(words, tuple):
        return "".join(text_of(part, name) for part in words)
    if isinstance(words, Setting):
        return name(words)
    return words.in_words(name) if isinstance(words, Told) else str(words)


class Told(Exception):  # noqa: N818 - it is the base of warnings, too
    """The base class of errors and warnings for the user."""

    def __init__(self, words: Words = "", *, advice: Words = "") -> None:
        super().__init__(words)
        self.words = words
        """What is wrong."""
        self.advice = advice
        """What the user can do about it; empty if there is no advice."""

    def in_words(self, name: Callable[[Setting], str]) -> str:
        """Return the whole message. The function `name` formats the settings."""
        text = text_of(self.words, name)
        return f"{text}; {text_of(self.advice, name)}" if self.advice else text

    def __str__(self) -> str:
        return self.in_words(str)


# ---- errors


class MarkoneError(Told, ValueError):
    """The base class of all errors that the user can fix."""


class SettingsError(MarkoneError):
    """A setting is invalid, or another setting forbids it."""

    def __init__(self, name: str | Setting, problem: Words, *, value: Any = UNSAID, advice: Words = "") -> None:
        self.setting = name if isinstance(name, Setting) else Setting(name)
        super().__init__((self.setting, " ", problem), advice=advice)
        self.args = (name, problem)  # copy and pickle call the class with these arguments
        self.name = str(self.setting)
        self.problem = problem
        """The message without its subject, which is the setting."""
        self.value = value
        """The wrong value, if it was recorded."""


class DataError(MarkoneError):
    """Examples, labels or files cannot be used. If `line` is known, the message begins with the file and the line."""

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
        """The number of the line, counted from 1."""
        self.column = column

    def in_words(self, name: Callable[[Setting], str]) -> str:
        place = "" if self.line is None else f"{self.file}, line {self.line}: "
        return place + super().in_words(name)


class NoDataError(DataError):
    """A file or a pipe is empty. Commands that predict treat this as no work, not as a failure."""


class LimitError(DataError):
    """Something needs more memory than is allowed or available, or is longer than allowed."""


class ModelFileError(DataError):
    """A file is not a model, or it is damaged, or a newer version wrote it."""


class Interrupted(KeyboardInterrupt):
    """A signal, such as Ctrl-C, has ended the work."""

    told = False
    """Whether the user has already seen a message about it."""

    def known(self) -> Interrupted:
        """Record that the user has seen a message, and return the exception."""
        self.told = True
        return self


class Terminated(Interrupted):
    """SIGTERM has ended the work. It is handled like Ctrl-C, but has another exit status."""


# ---- warnings


class MarkoneWarning(Told, UserWarning):
    """The user should know something about a result."""


def warn(words: Words) -> None:
    """Warn the user. The warning names the user's line of code, and not a line inside Markone."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OUR_FOLDER):
        level, frame = level + 1, frame.f_back
    warnings.warn(MarkoneWarning(words), stacklevel=level)


OTHER_NAMES = {
    "cross-validation": "kfold",
    "early-stopping": "patience",
    "fit-intercept": "bias",
    "hidden-layer-sizes": "hidden",
    "learning-rate": "eta",
    "leave-one-out": "loo",
    "linear-regression": "regression",
    "logistic-regression": "logistic",
    "loocv": "loo",
    "max-iter": "epochs",
    "multinomial-nb": "naive-bayes",
    "n-iter": "epochs",
    "n-iter-no-change": "patience",
    "n-jobs": "threads",
    "nb": "naive-bayes",
    "neural-network": "mlp",
    "ols": "regression",
    "passive-aggressive": "hinge",
    "random-state": "seed",
    "ridge": "regression",
    "sample-weight": "importance",
    "svc": "svm",
    "validation-fraction": "holdout",
    "warm-start": "from_model",
}
"""What other programs and textbooks call things that are called something else here."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question to add to an error message, or an empty string if no known word is similar.

    >>> did_you_mean("preceptron", ["perceptron", "mira"])
    " Did you mean 'perceptron'?"
    """
    import difflib

    known = list(known)
    if (name := OTHER_NAMES.get(word.lower().replace("_", "-"))) in known:
        return f" Did you mean {name!r}?"
    near = difflib.get_close_matches(word, known, n=1) if len(word) <= LONGEST_WORD else []
    return f" Did you mean {near[0]!r}?" if near else ""


def shorten(sentence: str, longest: int = 300) -> str:
    """The message of another library on one line, cut if it is long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in sentence).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
