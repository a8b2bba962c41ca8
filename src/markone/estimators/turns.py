"""A read-write lock for threads that share an estimator: many may read it, or one may change it."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any


class Turns:
    """`with turns:` is for reading, `with turns.alone():` for changing.

    A thread that changes the estimator stops new readers, waits for the current ones, and lets them in again when it
    has finished, so no thread waits forever. Inside `alone`, a thread may read and change. Inside a read, it must
    not read again, since that could wait forever.
    """

    def __init__(self) -> None:
        self._door = threading.RLock()
        self._inside: list[None] = []  # one entry per reader; append and pop are atomic
        self._awaited = False
        self._left = threading.Event()
        self.notes: dict[str, Any] = {}
        """What readers have found out about the estimator. A change of it begins with new notes."""

    def __enter__(self) -> dict[str, Any]:
        with self._door:
            self._inside.append(None)
        return self.notes

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._inside.pop()
        if self._awaited:
            self._left.set()

    def alone(self) -> Alone:
        return Alone(self)

    def close(self) -> None:
        self._door.acquire()
        self._awaited = True
        try:
            while self._inside:
                self._left.wait()
                self._left.clear()
        except BaseException:
            self._door.release()
            raise
        finally:
            self._awaited = False
        self.notes = {}

    def open(self) -> None:
        self._door.release()


class Alone:
    """The context in which one thread changes the estimator."""

    __slots__ = ("_turns",)

    def __init__(self, turns: Turns) -> None:
        self._turns = turns

    def __enter__(self) -> None:
        self._turns.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._turns.open()
