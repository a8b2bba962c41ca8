"""Standard output as the commands write to it."""

from __future__ import annotations

import os
import sys

from rich.console import Console

WIDE = 200
"""Columns of what is no terminal: nobody has to look at it through a narrow window."""


class Terminal(Console):
    """Rich's console, except that a reader who has gone is left to `main` to deal with."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def knows_width() -> bool:
    """Whether standard output has as many columns as it says."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ
