"""Progress for people: a line with a bar, on a terminal or in a notebook, if somebody watches and the work takes long.

This is the one place that decides whether progress is shown.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

PATIENCE = 2.0
"""Progress is shown after this number of seconds, unless it was requested."""
BETWEEN = 0.25
"""The seconds between two updates of a notebook."""
Place = Literal["terminal", "notebook"]

_quiet = 0
"""How many experiments are running that show progress themselves, or should show none."""


def watched_place() -> Place | None:
    """Return where a person watches: in a notebook, on a terminal, or nowhere."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if hasattr(shell, "kernel"):
        return "notebook"
    return "terminal" if sys.stderr is not None and sys.stderr.isatty() else None


def usual_meter() -> Meter | None:
    """Return the progress that is shown by default, after two seconds; None if nobody watches."""
    place = watched_place()
    return None if place is None or _quiet else Meter(place, PATIENCE)


def requested_meter() -> Meter | None:
    """Return progress that is shown at once; None if there is neither a terminal nor a notebook."""
    place = watched_place()
    return None if place is None else Meter(place, 0.0)


@contextmanager
def alone() -> Iterator[None]:
    """Work that is part of other work shows no progress of its own."""
    global _quiet
    _quiet += 1
    try:
        yield
    finally:
        _quiet -= 1


class Meter:
    """A bar with a text before and after it, and the remaining time."""

    def __init__(self, place: Place, patience: float) -> None:
        self.place = place
        self.begun = time.monotonic()
        self.patience = patience
        self.since = self.begun
        """When the current work began."""
        self.shown: Any = None
        self.updated = 0.0

    def restart(self) -> None:
        """Other work begins, whose remaining time is estimated anew."""
        self.since = time.monotonic()

    @property
    def seconds(self) -> float:
        """The duration of the current work so far."""
        return time.monotonic() - self.since

    def update(self, what: str, done: float = 0.0, total: float | None = None, note: str = "") -> None:
        """Say what is being done, and how much of it is done. The total is None if it is unknown."""
        now = time.monotonic()
        if now - self.begun < self.patience:
            return
        left = time_left(now - self.since, done, total)
        if self.place == "notebook":
            if now - self.updated >= BETWEEN:
                self.updated = now
                self._show_in_notebook(in_html(what, done, total, note, left))
        else:
            self._show_on_terminal(what, done, total, note, left)

    def _show_in_notebook(self, content: str) -> None:
        notebook: Any = importlib.import_module("IPython.display")
        shown = notebook.HTML(content)
        if self.shown is None:
            self.shown = notebook.display(shown, display_id=True)
        else:
            self.shown.update(shown)

    def _show_on_terminal(self, what: str, done: float, total: float | None, note: str, left: str) -> None:
        if self.shown is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            texts = (TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in ("what", "note", "left"))
            first, *others = texts
            self.shown = Progress(
                first, BarColumn(bar_width=None), *others, console=Console(stderr=True), transient=True
            )
            self.task = self.shown.add_task("", what="", note="", left="")
            self.shown.start()
        self.shown.update(self.task, completed=done, total=total, what=what, note=note, left=left)

    def close(self) -> None:
        """Remove the bar."""
        if self.shown is None:
            return
        if self.place == "notebook":
            self._show_in_notebook("")
        else:
            self.shown.stop()
        self.shown = None


def time_left(seconds: float, done: float, total: float | None) -> str:
    """Return the remaining time.

    >>> time_left(10, 1, 4), time_left(10, 0, 4), time_left(3600, 1, 2)
    ('0:30', '', '1:00:00')
    """
    if not total or done <= 0:
        return ""
    left = round(seconds * max(0.0, total - done) / done)
    minutes, rest = divmod(left, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def in_html(what: str, done: float, total: float | None, note: str, left: str) -> str:
    """Return a bar for a notebook."""
    from markone.reporting import html

    share = "" if not total else f' value="{min(1.0, done / total):.3f}"'
    words = ", ".join(filter(None, (note, f"{left} left" if left else "")))
    return html.fragment([f"<p>{html.escaped(what)} <progress{share}></progress> {html.escaped(words)}</p>"])
