"""Rich's console, for the commands that draw tables and panels. The other commands do not import Rich."""

from __future__ import annotations

from rich.console import Console, ConsoleDimensions

NARROWEST = 20


class Terminal(Console):
    """Rich's console, except that `main` handles a closed pipe."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

    @property
    def size(self) -> ConsoleDimensions:
        """The real size, but at least as wide as Rich needs to draw a panel."""
        width, height = super().size
        return ConsoleDimensions(max(width, NARROWEST), height)

    @size.setter
    def size(self, new: tuple[int, int]) -> None:
        Console.size.__set__(self, new)  # type: ignore[attr-defined]
