"""What can go wrong because of what was asked or given.

MarkoneError
├── SettingsError    a setting that means nothing, or that another one forbids
└── DataError        rows, labels or weights from which nothing can be learned
    └── NoDataError  a file, or what comes from a pipe, that is empty

All are `ValueError`s whose message says what is wrong, what was found and, where there is a good guess, what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["DataError", "MarkoneError", "NoDataError", "SettingsError", "did_you_mean"]


class MarkoneError(ValueError):
    """The base of every error that the user can mend."""


class SettingsError(MarkoneError):
    """A setting that means nothing, or that another one forbids. `name` is the setting's."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name} {problem}")
        self.name = name
        self.problem = problem

    def __reduce__(self) -> tuple[type[SettingsError], tuple[str, str]]:
        return type(self), (self.name, self.problem)


class DataError(MarkoneError):
    """Rows, labels or weights from which nothing can be learned."""


class NoDataError(DataError):
    """A file, or what comes from a pipe, that is empty: whoever predicts has nothing to do."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question to end an error with, or nothing where no known word is near.

    >>> did_you_mean("preceptron", ["perceptron", "mira"])
    " Did you mean 'perceptron'?"
    """
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
