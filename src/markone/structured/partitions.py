"""Partitions of sentences: fixed shares that learn on their own within a pass, and whose weights are then mixed.

This is the iterative parameter mixing of `learning/partitions/mixing.py`, in threads of this process. The result
depends on the number of partitions, but not on the number of threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.cluster.engine import LOOK, Engine, Threads, engine_for, reduce_in_tree
from markone.errors import SettingsError
from markone.learning.examples import IN_PARTITIONS, shares
from markone.learning.trainable import PassTotals
from markone.structured.sentence_training import BETWEEN_LOOKS, seed_of, visiting_order


class Learner(Protocol):
    """A learner of the core, of which there can be others with the same settings."""

    def part(self) -> Self: ...


SomeLearner = TypeVar("SomeLearner", bound=Learner)


class Partitions(ABC, Generic[SomeLearner]):
    """The partitions of a training, and learners for them that can be used again."""

    def __init__(self, base: SomeLearner, sentences: int, count: int, seed: int, threads: int) -> None:
        if count > sentences:
            raise SettingsError(
                "partitions",
                f"is {count}, but there are only {sentences} sentences to learn; choose at most as many as sentences",
            )
        self._base = base
        self._shares = shares(sentences, count)
        self._seed = seed
        self._threads = threads
        self._spare: list[SomeLearner] = []
        """Learners that no partition uses now."""

    @abstractmethod
    def visit(self, part: SomeLearner, some: NDArray[np.int64], epoch: int, seed: int) -> PassTotals:
        """Visit these sentences in order."""

    @abstractmethod
    def take(self, part: SomeLearner) -> Any:
        """Return what a learner has changed in a pass."""

    @abstractmethod
    def mix(self, changes: list[Any], engine: Engine) -> None:
        """Mix the weights of the base with the changes of all partitions, each with the same share."""

    def start(self, part: SomeLearner) -> None:
        """Bring a learner to the weights of the base, where it is not there already."""

    def learn_pass(self, epoch: int) -> Iterator[PassTotals]:
        """Make one pass (from 1) over all partitions, and mix the weights.

        It yields nothing visited while the partitions learn, so that training can be interrupted: until the weights are
        mixed, they are those before the pass.
        """
        with engine_for(None, self._threads) as engine:
            tasks = [engine.submit(self._learn, number, epoch) for number in range(len(self._shares))]
            while not engine.wait(tasks, LOOK):
                yield PassTotals()
            each = engine.gather(tasks)
            self.mix([changes for changes, _ in each], engine)
        whole = PassTotals()
        for _, totals in each:
            whole.add(totals)
        yield whole

    def _learn(self, number: int, epoch: int) -> tuple[Any, PassTotals]:
        """Make the pass of one partition."""
        try:
            part = self._spare.pop()
        except IndexError:
            part = self._base.part()
        self.start(part)
        start, end = self._shares[number]
        order = start + visiting_order(end - start, self._seed, epoch, IN_PARTITIONS, number)
        totals = PassTotals()
        for at in range(0, len(order), BETWEEN_LOOKS):
            seed = seed_of(self._seed, epoch, at, IN_PARTITIONS, number)
            totals.add(self.visit(part, order[at : at + BETWEEN_LOOKS], epoch, seed))
            Threads.check_wanted()
        changes = self.take(part)
        self._spare.append(part)
        return changes, totals


class TaggerPartitions(Partitions[_core.TaggerLearner]):
    """The partitions of a tagger's training. Learners that no partition uses follow the weights of the base."""

    def visit(self, part: _core.TaggerLearner, some: NDArray[np.int64], epoch: int, seed: int) -> PassTotals:
        return totals_of(part.learn(some))

    def take(self, part: _core.TaggerLearner) -> _core.TagChanges:
        return part.take_changes(self._base, 1 / len(self._shares))

    def mix(self, changes: list[_core.TagChanges], engine: Engine) -> None:
        leaves = [engine.put(some) for some in changes]
        [together] = engine.gather([reduce_in_tree(engine, _core.merge_tag_changes, leaves)])
        mixes = [self._base.mix, *(part.follow for part in self._spare)]
        engine.gather([engine.submit(mix, together) for mix in mixes])


class ParserPartitions(Partitions[_core.TreeLearner]):
    """The partitions of a parser's training. Each of them starts a pass with a copy of the weights."""

    Visit = Callable[[_core.TreeLearner, NDArray[np.int64], int, int], PassTotals]

    def __init__(self, visit: Visit, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._visit = visit

    def start(self, part: _core.TreeLearner) -> None:
        part.start_at(self._base)

    def visit(self, part: _core.TreeLearner, some: NDArray[np.int64], epoch: int, seed: int) -> PassTotals:
        return self._visit(part, some, epoch, seed)

    def take(self, part: _core.TreeLearner) -> _core.TreeChanges:
        return part.take_changes(self._base)

    def mix(self, changes: list[_core.TreeChanges], engine: Engine) -> None:
        self._base.mix(changes)


def totals_of(tally: _core.SequenceTally) -> PassTotals:
    return PassTotals(tally.sentences, tally.mistakes, tally.updates, tally.loss, weight=tally.sentences)
