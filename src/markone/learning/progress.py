"""Shows the progress of training: a bar on a terminal or in a notebook, or a line for each pass in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol

from markone.model.history import Pass
from markone.reporting.meter import Meter, requested_meter, usual_meter


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
    """A bar with rows per second, the remaining time, and the result of the last pass."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.elsewhere: Callable[[], str] | None = None
        """Says what the workers of a cluster do."""
        self.what = "reading"
        self.epochs = self.done = self.total = 0

    def read(self, rows: int, share: float | None = None) -> None:
        """Show how many rows have been read, and which share of all, if that is known."""
        seconds = self.meter.seconds
        note = f"{rows:,} rows" + (f", {rows / seconds:,.0f} rows/s" if seconds > 0 else "")
        self.meter.update(self.what, share or 0.0, None if share is None else 1.0, self._with_workers(note))

    def start(self, rows: int, epochs: int) -> None:
        self.meter.restart()
        self.what, self.epochs, self.done, self.total = f"pass 1 of {epochs}", epochs, 0, rows * epochs
        self.advance(0)

    def advance(self, rows: int) -> None:
        self.done += rows
        seconds = self.meter.seconds
        note = f"{self.done / seconds:,.0f} rows/s" if self.done and seconds > 0 else ""
        self.meter.update(self.what, self.done, self.total, self._with_workers(note))

    def _with_workers(self, note: str) -> str:
        return ", ".join(filter(None, [note, None if self.elsewhere is None else self.elsewhere()]))

    def finish_pass(self, result: Pass) -> None:
        held_out = "" if result.holdout is None else f", {result.holdout:.1%} held out"
        wrong = "" if result.mistakes is None else f", last {result.mistakes:,} wrong"
        self.what = f"pass {min(result.epoch + 1, self.epochs)} of {self.epochs}{wrong}{held_out}"
        self.advance(0)

    def close(self) -> None:
        self.meter.close()


class PassLines(Silence):
    """Prints a line for each pass on standard error, for logs."""

    def finish_pass(self, result: Pass) -> None:
        print(sentence(result), file=sys.stderr)


def progress_of(wish: Progress | bool | None) -> Progress:
    """Return what shows progress. None means a bar where a person watches, after two seconds. True means a bar at once,
    or lines for a log where nobody watches."""
    if wish is None:
        usual = usual_meter()
        return Silence() if usual is None else Bar(usual)
    if wish is True:
        requested = requested_meter()
        return PassLines() if requested is None else Bar(requested)
    return Silence() if wish is False else wish
