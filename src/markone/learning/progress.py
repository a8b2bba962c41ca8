"""Shows the progress of training: a bar on a terminal, or a line for each pass in a log."""

from __future__ import annotations

import sys
from typing import Any, Protocol

from markone.model.history import Pass


class Progress(Protocol):
    """The interface through which training reports its progress."""

    def read(self, rows: int, share: float | None = None) -> None: ...
    def start(self, rows: int, epochs: int) -> None: ...
    def advance(self, rows: int) -> None: ...
    def finish_pass(self, result: Pass) -> None: ...
    def close(self) -> None: ...


def sentence(result: Pass) -> str:
    """Return the result of a pass in one line."""
    facts = [
        None if result.mistakes is None else f"{result.mistakes:,} mistakes",
        None if result.loss is None else f"loss {result.loss:.4g}",
        None if result.gap is None else f"gap {result.gap:.2g}",
        None if result.holdout is None else f"held-out accuracy {result.holdout:.2%}",
        f"{result.seconds:.2f} s",
    ]
    return f"pass {result.epoch}: {', '.join(filter(None, facts))}"


class Silence:
    """Reports nothing."""

    def read(self, rows: int, share: float | None = None) -> None: ...
    def start(self, rows: int, epochs: int) -> None: ...
    def advance(self, rows: int) -> None: ...
    def finish_pass(self, result: Pass) -> None: ...
    def close(self) -> None: ...


class Bar:
    """A bar on standard error, with rows per second, the remaining time, and the result of the last pass."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._reading: Any = None

    def read(self, rows: int, share: float | None = None) -> None:
        """Show how many rows have been read, and which share of all, if that is known."""
        if self._reading is None:
            self._reading = self._progress.add_task("reading", total=None, speed="")
            self._progress.start()
        seconds = self._progress.tasks[-1].elapsed or 0.0
        speed = f"{rows:,} rows" + (f", {rows / seconds:,.0f} rows/s" if seconds > 0 else "")
        if share is None:
            self._progress.update(self._reading, speed=speed)
        else:
            self._progress.update(self._reading, total=1.0, completed=min(share, 1.0), speed=speed)

    def start(self, rows: int, epochs: int) -> None:
        if self._reading is not None:
            self._progress.remove_task(self._reading)
            self._reading = None
        self._epochs = epochs
        self._task = self._progress.add_task(f"pass 1 of {epochs}", total=rows * epochs, speed="")
        self._progress.start()

    def advance(self, rows: int) -> None:
        speed = self._progress.tasks[-1].speed
        self._progress.update(self._task, advance=rows, speed=f"{speed:,.0f} rows/s" if speed else "")

    def finish_pass(self, result: Pass) -> None:
        held_out = "" if result.holdout is None else f", {result.holdout:.1%} held out"
        wrong = "" if result.mistakes is None else f", last {result.mistakes:,} wrong"
        current = f"pass {min(result.epoch + 1, self._epochs)} of {self._epochs}"
        self._progress.update(self._task, description=f"{current}{wrong}{held_out}")

    def close(self) -> None:
        self._progress.stop()


class PassLines(Silence):
    """Prints a line for each pass on standard error, for logs."""

    def finish_pass(self, result: Pass) -> None:
        print(sentence(result), file=sys.stderr)


def visible_progress() -> Progress:
    """Return a bar if standard error is a terminal, otherwise lines for a log."""
    return Bar() if sys.stderr.isatty() else PassLines()
