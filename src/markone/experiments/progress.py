"""The progress of an experiment: the number of the current training."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from markone.errors import SettingsError
from markone.reporting.meter import Meter, alone, requested_meter, usual_meter


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
    """A bar with the steps done, the remaining time, and the current step."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.steps, self.done = 0, -1

    def start(self, steps: int) -> None:
        self.steps = steps
        self.meter.update("reading", 0, steps)

    def step(self, what: str) -> None:
        self.done += 1
        self.meter.update(what, self.done, self.steps, f"{self.done:,} of {self.steps:,}")

    def close(self) -> None:
        self.meter.close()


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
    """Yield the progress of an experiment. None means a bar where a person watches, after two seconds. True means a bar
    at once, and lines where nobody watches."""
    if progress is None or progress is True:
        meter = usual_meter() if progress is None else requested_meter()
        silent = NoSteps() if progress is None else StepLines()
        shown: StepProgress = silent if meter is None else StepBar(meter)
    elif progress is False:
        shown = NoSteps()
    elif hasattr(progress, "step"):
        shown = progress
    else:
        raise SettingsError("progress", f"must be True, False, or have the methods start, step and close: {progress!r}")
    with alone():
        shown.start(steps)
        try:
            yield shown
        finally:
            shown.close()
