"""The progress of an experiment: the number of the current training."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from markone.errors import SettingsError


class StepProgress(Protocol):
    """An object that an experiment calls while it works."""

    def start(self, steps: int) -> None:
        """The experiment begins, and has this number of steps."""

    def step(self, what: str) -> None:
        """The next step begins. `what` describes it."""

    def close(self) -> None: ...


class NoSteps:
    """Shows no progress."""

    def start(self, steps: int) -> None: ...
    def step(self, what: str) -> None: ...
    def close(self) -> None: ...


class StepBar:
    """A progress bar on standard error, with the steps done, the remaining time, and the current step."""

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


class StepLines(NoSteps):
    """A line for each step on standard error, for logs."""

    def __init__(self) -> None:
        self._steps = self._step = 0

    def start(self, steps: int) -> None:
        self._steps = steps

    def step(self, what: str) -> None:
        self._step += 1
        print(f"{self._step:,} of {self._steps:,}: {what}", file=sys.stderr)


@contextmanager
def watching(progress: StepProgress | bool | None, steps: int) -> Iterator[StepProgress]:
    """Yield the progress of an experiment. True means a bar on a terminal, and lines elsewhere."""
    if progress is True:
        shown: StepProgress = StepBar() if sys.stderr.isatty() else StepLines()
    elif progress is None or progress is False:
        shown = NoSteps()
    elif hasattr(progress, "step"):
        shown = progress
    else:
        raise SettingsError("progress", f"must be True, False, or have the methods start, step and close: {progress!r}")
    shown.start(steps)
    try:
        yield shown
    finally:
        shown.close()
