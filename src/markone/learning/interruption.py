"""Remembers Ctrl-C and SIGTERM until training can stop safely."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from markone.errors import Interrupted, Terminated

OTHERS = (signal.SIG_IGN, None)
"""The values of `getsignal` for an ignored signal, and for a handler that is not from Python."""
GRACE = 2.0
"""Seconds in which a second signal is ignored: people press Ctrl-C twice, and process managers may send two
signals."""


def exception_for(number: signal.Signals) -> Interrupted:
    return Terminated() if number == signal.SIGTERM else Interrupted()


class Interruption:
    """Remembers signals that would interrupt the work in the middle of a step. A second signal interrupts it, unless it
    comes immediately after the first.

    This works only in the main thread, and only if nobody else has installed a handler for Ctrl-C. With `keeping`, an
    active `Shelter` handles signals afterwards, until the result is saved.
    """

    def __init__(self, signals: Sequence[signal.Signals], *, keeping: bool = False) -> None:
        self.signal: signal.Signals | None = None
        """The first signal, if there was one."""
        self._came = 0.0
        self._signals = signals
        self._keeping = keeping
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in self._signals:
                before = signal.getsignal(number)
                if is_usual(before) if number == signal.SIGINT else before not in OTHERS:
                    self._before[number] = before
                    signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._keeping and Shelter.active is not None:
            Shelter.active.take_over(self)
            return
        for number, before in self._before.items():
            signal.signal(number, before)

    def _note(self, number: int, _: object) -> None:
        now = time.monotonic()
        if self.signal is None:
            self.signal, self._came = signal.Signals(number), now
        elif now - self._came > GRACE:
            raise KeyboardInterrupt


class Shelter(Interruption):
    """Protects a trained model until it is saved. It handles signals from the end of the passes on, not earlier."""

    active: ClassVar[Shelter | None] = None

    def __enter__(self) -> Self:
        Shelter.active = self
        return self

    def __exit__(self, *_: object) -> None:
        Shelter.active = None
        super().__exit__()

    def take_over(self, other: Interruption) -> None:
        """Handle signals in place of another object, without a gap, and copy the signal that it remembers."""
        for number, before in other._before.items():
            self._before.setdefault(number, before)
            signal.signal(number, self._note)
        if self.signal is None:
            self.signal, self._came = other.signal, other._came


def is_usual(handler: Any) -> bool:
    """Return whether a handler of Ctrl-C is Python's own, or that of the program `markone`."""
    return handler is signal.default_int_handler or ends_the_program(handler)


def ends_the_program(handler: Any) -> bool:
    return getattr(handler, "ends_the_program", False)


def end_quietly() -> None:
    """Ignore further signals, because the program is about to print its last message and end."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if ends_the_program(signal.getsignal(number)):
                signal.signal(number, signal.SIG_IGN)
