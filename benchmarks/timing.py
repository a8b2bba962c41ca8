"""Timing: two contestants run in turns, and the best time of each counts."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from threadpoolctl import threadpool_limits

from benchmarks.memory import PEAK

Data = TypeVar("Data", contravariant=True)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one turn."""

    seconds: float
    """The time of the whole work, or of one call if a turn makes many."""
    accuracy: float | None
    """The accuracy on the test rows; None if nothing is trained."""
    values: int | None = None
    """The number of stored values that a fit reads in all passes."""
    size: int | None = None
    """The size of the file in bytes."""
    start: float | None = None
    """The time of the same work on an empty file, for a contestant that runs in a separate process."""
    memory: int | None = field(default_factory=PEAK.bytes)
    """The most bytes that the work had at a time, beside what was there before."""


@dataclass(frozen=True, slots=True)
class Contestant(Generic[Data]):
    """One side of a case. Its turn times only the work to be measured."""

    name: str
    turn: Callable[[Data], Outcome]
    package: str | None = None
    """The packages that it needs."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The best results of both sides."""

    ours: Outcome
    theirs: Outcome

    @property
    def ratio(self) -> float:
        return self.theirs.seconds / self.ours.seconds


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the time of the work, without garbage collection, and its result. Its memory is noted in `PEAK`."""
    gc.collect()
    PEAK.begin()
    gc.disable()
    try:
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        PEAK.end()
        return seconds, result
    finally:
        gc.enable()


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Limit the work and its threads and processes to a number of cores, so that both sides have the same."""
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
    """Run one turn of each side in every round, so that a slow moment of the machine affects both."""
    for _ in range(rounds):
        yield Comparison(ours.turn(data), theirs.turn(data))


def best(rounds: Iterable[Comparison]) -> Comparison:
    """Return the fastest turn of each side, which may be from different rounds, with the most memory of all turns.

    In later turns, a side may use memory again that it has not given back.
    """
    turns = list(rounds)
    return Comparison(best_of([turn.ours for turn in turns]), best_of([turn.theirs for turn in turns]))


def best_of(outcomes: list[Outcome]) -> Outcome:
    """
    >>> best_of([Outcome(2, None, memory=30), Outcome(1, None, memory=20)])
    Outcome(seconds=1, accuracy=None, values=None, size=None, start=None, memory=30)
    """
    fastest = min(outcomes, key=lambda outcome: outcome.seconds)
    return replace(fastest, memory=max((one.memory for one in outcomes if one.memory is not None), default=None))
