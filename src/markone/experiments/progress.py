"""Progress of an experiment: which of how many trainings is under way."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from markone.errors import SettingsError


class Progress(Protocol):
    """What an experiment tells while it works."""

    def start(self, steps: int) -> None:
        """There will be so many steps."""

    def step(self, what: str) -> None:
        """The next one begins, which is described by this."""

    def close(self) -> None: ...


class Silence:
    """Says nothing."""

    def start(self, steps: int) -> None: ...
    def step(self, what: str) -> None: ...
    def close(self) -> None: ...


class Bar:
    """A bar on the terminal's standard error: how many steps are done, time left, and what is under way."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: Any = None
        self._begun = False

    def start(self, steps: int) -> None:
        self._task = self._progress.add_task("reading", total=steps)
        self._progress.start()

    def step(self, what: str) -> None:
        self._progress.update(self._task, description=what, advance=1 if self._begun else 0)
        self._begun = True

    def close(self) -> None:
        self._progress.stop()


class Lines(Silence):
    """A line for each step on standard error, for logs."""

    def __init__(self) -> None:
        self._steps = self._step = 0

    def start(self, steps: int) -> None:
        self._steps = steps

    def step(self, what: str) -> None:
        self._step += 1
        print(f"{self._step:,} of {self._steps:,}: {what}", file=sys.stderr)


@contextmanager
def watching(progress: Progress | bool | None, steps: int) -> Iterator[Progress]:
    """What is told of so many steps: True is a bar where a person watches, and lines where a log is written."""
    if progress is True:
        shown: Progress = Bar() if sys.stderr.isatty() else Lines()
    elif progress is None or progress is False:
        shown = Silence()
    elif hasattr(progress, "step"):
        shown = progress
    else:
        raise SettingsError("progress", f"must be True, False, or have the methods start, step and close: {progress!r}")
    shown.start(steps)
    try:
        yield shown
    finally:
        shown.close()
