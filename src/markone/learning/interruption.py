"""Ctrl-C and SIGTERM, noted until there is a good moment to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from typing import Any, Self

OTHERS = (signal.SIG_IGN, None)
"""Signals that are to be ignored, and handlers that are not Python's."""


class Interruption:
    """Notes signals that would break off the work in the middle of a step. The second time they do so nevertheless.

    Only the main thread can do that, and only where nobody else has put a handler of their own for Ctrl-C.
    """

    def __init__(self, signals: Sequence[signal.Signals]) -> None:
        self.signal: signal.Signals | None = None
        """The signal that came."""
        self._signals = signals
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in self._signals:
                before = signal.getsignal(number)
                if before is signal.default_int_handler if number == signal.SIGINT else before not in OTHERS:
                    self._before[number] = before
                    signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _note(self, number: int, _: object) -> None:
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = signal.Signals(number)
