"""Timing: two contestants take turns, and the best turn of each counts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.datasets import Split


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one turn gave."""

    seconds: float
    """For a fit, or for a call where a turn makes many."""
    accuracy: float
    """On the test rows."""
    values: int | None = None
    """The stored values that the fit read, all passes together."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """One side of a case. Its turn times what is to be measured, and nothing else."""

    name: str
    turn: Callable[[Split], Outcome]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The best of both sides."""

    ours: Outcome
    theirs: Outcome

    @property
    def ratio(self) -> float:
        return self.theirs.seconds / self.ours.seconds


def seconds_of(work: Callable[[], object]) -> float:
    """How long the work takes, without the garbage collector in between."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    finally:
        gc.enable()


def alternate(ours: Contestant, theirs: Contestant, data: Split, rounds: int) -> Iterator[Comparison]:
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
