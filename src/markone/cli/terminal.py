"""Standard output as the commands write to it."""

from __future__ import annotations

import json
import os
import sys

from rich.console import Console, ConsoleDimensions

NARROWEST = 20
WIDE = 200
"""Columns of what is no terminal: nobody has to look at it through a narrow window."""


class Terminal(Console):
    """Rich's console, except that a reader who has gone is left to `main` to deal with."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

    @property
    def size(self) -> ConsoleDimensions:
        """As it is, but no narrower than what Rich can draw a panel into."""
        width, height = super().size
        return ConsoleDimensions(max(width, NARROWEST), height)

    @size.setter
    def size(self, new: tuple[int, int]) -> None:
        Console.size.__set__(self, new)  # type: ignore[attr-defined]


def say(text: object) -> None:
    """Prints lines for people. Names in them come from data and models, and may hold what steers a terminal."""
    from markone.reporting.grids import visible_text

    print(visible_text(str(text)) if sys.stdout.isatty() else text)


def say_json(text: str) -> None:
    """Prints JSON, which stays JSON: what a terminal must not see is written as JSON writes it."""
    print(visible_json(text) if sys.stdout.isatty() else text)


def visible_json(text: str) -> str:
    """
    >>> print(visible_json('["\u202ea"]'))
    ["\\u202ea"]
    """
    shown = (c if c.isprintable() or c in "\n\t" else json.dumps(c)[1:-1] for c in text)
    return text if text.isprintable() else "".join(shown)


def knows_width() -> bool:
    """Whether standard output has as many columns as it says."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ
