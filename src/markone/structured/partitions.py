"""Partitions of sentences: fixed shares that learn on their own within a pass, and whose weights are then mixed.

This is the iterative parameter mixing of `learning/partitions/mixing.py`, in threads of this process. The result
depends on the number of partitions, but not on the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markone import _core
from markone.cluster.engine import LOOK, Threads, engine_for, reduce_in_tree
from markone.errors import SettingsError
from markone.learning.examples import IN_PARTITIONS, shares
from markone.learning.trainable import PassTotals
from markone.structured.sentence_training import BETWEEN_LOOKS, visiting_order


class Partitions:
    """The partitions of a tagger's training, and learners for them that can be used again."""

    def __init__(self, base: _core.TaggerLearner, sentences: int, count: int, seed: int, threads: int) -> None:
        if count > sentences:
            raise SettingsError(
                "partitions",
                f"is {count}, but there are only {sentences} sentences to learn; choose at most as many as sentences",
            )
        self._base = base
        self._shares = shares(sentences, count)
        self._seed = seed
        self._threads = threads
        self._spare: list[_core.TaggerLearner] = []
        """Learners that are at the weights of the base."""

    def learn_pass(self, epoch: int) -> Iterator[PassTotals]:
        """Make one pass (from 1) over all partitions, and mix the weights.

        It yields nothing visited while the partitions learn, so that training can be interrupted: until the weights are
        mixed, they are those before the pass.
        """
        with engine_for(None, self._threads) as engine:
            tasks = [engine.submit(self._learn, number, epoch) for number in range(len(self._shares))]
            while not engine.wait(tasks, LOOK):
                yield PassTotals()
            each: Sequence[tuple[_core.TagChanges, PassTotals]] = engine.gather(tasks)
            leaves = [engine.put(changes) for changes, _ in each]
            [together] = engine.gather([reduce_in_tree(engine, _core.merge_tag_changes, leaves)])
            mixes = [self._base.mix, *(part.follow for part in self._spare)]
            engine.gather([engine.submit(mix, together) for mix in mixes])
        whole = PassTotals()
        for _, totals in each:
            whole.add(totals)
        yield whole

    def _learn(self, number: int, epoch: int) -> tuple[_core.TagChanges, PassTotals]:
        """Make the pass of one partition."""
        try:
            part = self._spare.pop()
        except IndexError:
            part = self._base.part()
        start, end = self._shares[number]
        order = start + visiting_order(end - start, self._seed, epoch, IN_PARTITIONS, number)
        totals = PassTotals()
        for at in range(0, len(order), BETWEEN_LOOKS):
            totals.add(totals_of(part.learn(order[at : at + BETWEEN_LOOKS])))
            Threads.check_wanted()
        changes = part.take_changes(self._base, 1 / len(self._shares))
        self._spare.append(part)
        return changes, totals


def totals_of(tally: _core.SequenceTally) -> PassTotals:
    return PassTotals(tally.sentences, tally.mistakes, tally.updates, tally.loss, weight=tally.sentences)
