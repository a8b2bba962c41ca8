"""Turns: threads that share an estimator look at it together, and change it one at a time while nobody looks."""

from __future__ import annotations

import threading
from types import TracebackType


class Turns:
    """`with turns:` looks, `with turns.alone():` changes.

    Who changes closes the door, waits until all who look are out, and opens it again when all is changed; so neither
    waits for ever. To look while one looks already may wait for ever, and is not done; to change or to look while one
    changes is.
    """

    def __init__(self) -> None:
        self._door = threading.RLock()
        self._inside: list[None] = []  # as long as there are who look; a list's ends are changed in one step
        self._awaited = False
        self._left = threading.Event()

    def __enter__(self) -> None:
        with self._door:
            self._inside.append(None)

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

    def open(self) -> None:
        self._door.release()


class Alone:
    """Behind a door that is closed to others."""

    __slots__ = ("_turns",)

    def __init__(self, turns: Turns) -> None:
        self._turns = turns

    def __enter__(self) -> None:
        self._turns.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._turns.open()
