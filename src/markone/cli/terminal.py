"""Standard output as the commands write to it."""

from __future__ import annotations

from rich.console import Console


class Terminal(Console):
    """Rich's console, except that a reader who has gone is left to `main` to deal with."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
