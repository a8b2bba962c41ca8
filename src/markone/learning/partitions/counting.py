"""Naive Bayes in partitions: each counts its own rows, and the counts are added up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markone.cluster.engine import LOOK, Engine, Threads, reduce_in_tree
from markone.learning.examples import PartOfRows
from markone.learning.learner import Counted

if TYPE_CHECKING:
    from markone.learning.naive_bayes import Counting
    from markone.model.events import Events


@dataclass(frozen=True, slots=True)
class PartOfCounts:
    """The counts of one or more partitions."""

    counting: Counting
    visits: int
    importance: float

    @property
    def events(self) -> Events:
        return self.counting.events


def count_part(part: PartOfRows, empty: Counting) -> PartOfCounts:
    """Count the rows of a partition."""
    counting = copy(empty)
    visits, importance = 0, 0.0
    for tally, some in counting.count_own(part.examples(counting.settings), 1, 0):
        visits, importance = visits + some, importance + tally.importance
        Threads.check_wanted()
    return PartOfCounts(counting, visits, importance)


def add(a: PartOfCounts, b: PartOfCounts) -> PartOfCounts:
    """Return the counts of two sets of partitions together."""
    counting = a.counting.twin()
    counting.events = a.events.merged(b.events)
    return PartOfCounts(counting, a.visits + b.visits, a.importance + b.importance)


def counted_pass(counting: Counting, parts: Sequence[PartOfRows], engine: Engine) -> Iterator[tuple[Counted, int]]:
    """Count all partitions, and add their counts. It yields nothing visited while the tasks run."""
    empty = engine.put(counting.without_counts())
    tasks = [engine.submit(count_part, part, empty) for part in parts]
    try:
        whole = reduce_in_tree(engine, add, tasks)
        while not engine.wait([whole], LOOK):
            yield Counted(None, 0, None, 0.0), 0
        result: PartOfCounts = engine.gather([whole])[0]
    finally:
        engine.free([empty, *tasks])
    counting.add_counts(result.events)
    yield Counted(None, result.visits, None, result.importance), result.visits
