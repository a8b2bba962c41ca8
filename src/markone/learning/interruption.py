"""Ctrl-C and SIGTERM, noted until there is a good moment to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from markone.errors import Interrupted, Terminated

OTHERS = (signal.SIG_IGN, None)
"""Signals that are to be ignored, and handlers that are not Python's."""
GRACE = 2.0
"""Seconds within which a second signal says no more than the first: people press Ctrl-C twice, and what starts
processes may send two signals."""


def exception_for(number: signal.Signals) -> Interrupted:
    return Terminated() if number == signal.SIGTERM else Interrupted()


class Interruption:
    """Notes signals that would break off the work in the middle of a step. The second time they do so nevertheless,
    unless it comes right after the first.

    Only the main thread can do that, and only where nobody else has put a handler of their own for Ctrl-C. What was
    learned meanwhile may be worth `keeping`: then the signals are noted on by whoever will save it.
    """

    def __init__(self, signals: Sequence[signal.Signals], *, keeping: bool = False) -> None:
        self.signal: signal.Signals | None = None
        """The signal that came."""
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
    """For what was learned, until it is saved. From the end of the passes on, not earlier, signals are noted."""

    active: ClassVar[Shelter | None] = None

    def __enter__(self) -> Self:
        Shelter.active = self
        return self

    def __exit__(self, *_: object) -> None:
        Shelter.active = None
        super().__exit__()

    def take_over(self, other: Interruption) -> None:
        """Notes what the other one has noted, without a moment between them."""
        for number, before in other._before.items():
            self._before.setdefault(number, before)
            signal.signal(number, self._note)
        if self.signal is None:
            self.signal, self._came = other.signal, other._came


def is_usual(handler: Any) -> bool:
    """Whether it is Python's own handler of Ctrl-C, or that of the program `markone`."""
    return handler is signal.default_int_handler or ends_the_program(handler)


def ends_the_program(handler: Any) -> bool:
    return getattr(handler, "ends_the_program", False)


def end_quietly() -> None:
    """When the program is about to end and to say why: another signal has nothing to add."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if ends_the_program(signal.getsignal(number)):
                signal.signal(number, signal.SIG_IGN)
