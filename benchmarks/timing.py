"""Timing: two contestants take turns, and the best turn of each counts."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from threadpoolctl import threadpool_limits

Data = TypeVar("Data", contravariant=True)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one turn gave."""

    seconds: float
    """For the whole work, or for a call where a turn makes many."""
    accuracy: float | None
    """On the test rows; None where nothing is learned."""
    values: int | None = None
    """The stored values that a fit read, all passes together."""
    size: int | None = None
    """The bytes of the file that was read."""
    start: float | None = None
    """How many of the seconds the same work takes on an empty file, for who runs in a process of its own."""


@dataclass(frozen=True, slots=True)
class Contestant(Generic[Data]):
    """One side of a case. Its turn times what is to be measured, and nothing else."""

    name: str
    turn: Callable[[Data], Outcome]
    package: str | None = None
    """What must be installed for it."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The best of both sides."""

    ours: Outcome
    theirs: Outcome

    @property
    def ratio(self) -> float:
        return self.theirs.seconds / self.ours.seconds


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """How long the work takes, without the garbage collector in between, and what it gives."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        result = work()
        return time.perf_counter() - start, result
    finally:
        gc.enable()


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Keeps the work to so many cores, whatever threads and processes it starts, so that both sides have as much."""
    with threadpool_limits(count):
        if not hasattr(os, "sched_setaffinity"):
            yield
            return
        all_cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, sorted(all_cores)[-count:])
        try:
            yield
        finally:
            os.sched_setaffinity(0, all_cores)


def alternate(ours: Contestant[Data], theirs: Contestant[Data], data: Data, rounds: int) -> Iterator[Comparison]:
    """A turn of each in every round, so that a slow moment of the machine meets both."""
    for _ in range(rounds):
        yield Comparison(ours.turn(data), theirs.turn(data))


def best(rounds: Iterable[Comparison]) -> Comparison:
    """The quickest turn of each side, be they of different rounds."""
    turns = list(rounds)
    return Comparison(
        min((turn.ours for turn in turns), key=lambda outcome: outcome.seconds),
        min((turn.theirs for turn in turns), key=lambda outcome: outcome.seconds),
    )
