"""Iterative parameter mixing of the online rules (McDonald, Hall and Mann 2010).

In each pass, every partition learns on its own from the same weights. Then the weights are mixed: the new ones are the
mean of those of all partitions, each with the same share, or with the share of its mistakes. The averaged weights are
the mean of all weights that any partition has met. The arithmetic is in core/online/mixing.h.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.cluster.engine import LOOK, Engine, Handle, Threads, reduce_in_tree
from markone.learning.examples import PartOfRows, shares
from markone.learning.learner import Counted
from markone.learning.trainable import PassTotals
from markone.model.settings import OnlineSettings

if TYPE_CHECKING:
    from markone.learning.online import Linear

Arrays = tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""The places of numbers that have changed, how far they have moved, what that adds to the sums, and to the squares."""
TwoChanges = tuple[Arrays, float, Arrays, float]
"""The changes of two sets of partitions, each with its share."""

RANGE = 2**16
"""The fewest weights that are worth another thread when they are mixed."""
GROUPS = 2**12
"""The fewest groups of weights that are worth another thread when they are mixed where they are."""
SMALL = 2**20
"""The most weights, of all partitions together, for which a partition has a learner even if it waits for a thread."""
NOTHING_VISITED = Counted(0, 0, 0.0, 0.0), 0
NOTHING: Arrays = (np.zeros(0, np.uint32), np.zeros(0), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, slots=True)
class Changes:
    """What one or more partitions have changed in a pass."""

    weights: Arrays
    bias: Arrays
    share: float = 1.0
    """The share of these partitions in the scaled weights; the moves are not yet multiplied by it."""
    share_of_bias: float = 1.0
    """Their share in the bias, which no penalty scales."""


@dataclass(frozen=True, slots=True)
class ShareOfPart:
    """A partition of this process that has learned."""

    learner: Linear
    share: float
    """Its share in the scaled weights."""
    share_of_bias: float


@dataclass(frozen=True, slots=True)
class PartOfPass:
    """The result of a partition's pass."""

    changes: Changes | None
    scale: float
    clock: float
    time: float
    totals: PassTotals


Waiting = deque[tuple[int, PartOfRows]]
"""Partitions that have to learn in this pass, with their numbers."""
Learned = dict[int, tuple[PartOfPass, "Linear"]]
"""By their numbers, partitions that have learned, and the learners that have what they learned."""


class Weights:
    """The weights from which all partitions start a pass, with learners for them that can be used again."""

    def __init__(self, base: Linear) -> None:
        self.base = base
        self._spare: list[Linear] = []
        """Learners that are at these weights, except for the bias and the clocks."""

    def borrow(self) -> Linear:
        """Return a learner that is at these weights."""
        try:
            learner = self._spare.pop()
        except IndexError:
            learner = self.base.without_weights()
            learner.start_part(self.base)
        else:
            learner.start_again(self.base)
        return learner

    def give_back(self, learner: Linear) -> None:
        """Take back a learner that is at these weights again."""
        self._spare.append(learner)

    def mix_in_place(
        self,
        parts: Sequence[ShareOfPart],
        others: Sequence[Linear],
        clocks: tuple[float, float, float],
        engine: Engine,
    ) -> None:
        """Mix the weights with those of all partitions, which then have them, too. `others` have not learned."""
        self.base.mix_bias_of(parts, clocks)
        groups = self.base.groups
        ranges = shares(groups, max(1, min(engine.workers(), groups // GROUPS)))
        each_in_thread(engine, self.base.mix_groups, [(parts, others, *one) for one in ranges])

    def have_room(self, parts: int, threads: int) -> bool:
        """Return whether each partition can have a learner until the weights are mixed."""
        return parts <= threads or parts * self.base.features * self.base.columns <= SMALL

    def mix(self, a: Changes, b: Changes, clocks: tuple[float, float, float], engine: Engine) -> None:
        """Mix the weights with the changes of all partitions, which are those of two sets of them."""
        self.base.mix_bias(biases_of(a, b), clocks)
        features = self.base.features
        threads = engine.workers() if engine.in_process else 1
        ranges = shares(features, max(1, min(threads, features * self.base.columns // RANGE)))
        each_in_thread(engine, self.base.mix_weights, [(self._spare, weights_of(a, b), *one) for one in ranges])

    def __sizeof__(self) -> int:
        """The bytes of the weights and the bias, which are sent; penalties have more."""
        return (self.base.features + 1) * self.base.columns * int(self.base.dtype.itemsize)

    def __getstate__(self) -> dict[str, Any]:
        state = self.base.get_state()
        state = {name: array for name, array in state.items() if name.removeprefix("bias_") != "u"}
        return {**self.base.__getstate__(), "learner": type(self.base), "state": state}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        state = saved["state"]
        if saved["settings"].average:
            state |= {name: np.zeros(state[name[:-1] + "v"].shape) for name in ("u", "bias_u")}
        base = saved["learner"](
            saved["settings"], features=saved["features"], classes=saved["classes"], dtype=saved["dtype"]
        )
        base.set_state(state)
        self.__init__(base)  # type: ignore[misc]


# ---- tasks


def learn_part(part: PartOfRows, weights: Weights, epoch: int) -> PartOfPass:
    """Make one pass (from 1) over the rows of a partition."""
    learner = weights.borrow()
    totals = PassTotals()
    for _ in visit(part, learner, epoch, totals):
        Threads.check_wanted()
    moved, bias, clocks = learner.take_changes(weights.base)
    weights.give_back(learner)
    return PartOfPass(Changes(moved, bias), *clocks, totals)


def learn_waiting(waiting: Waiting, weights: Weights, epoch: int, learned: Learned) -> None:
    """Make one pass over the rows of partitions of this process, as long as some are waiting."""
    for _ in visit_waiting(waiting, weights, epoch, learned):
        Threads.check_wanted()


def visit_waiting(waiting: Waiting, weights: Weights, epoch: int, learned: Learned) -> Iterator[None]:
    """Do the same in pieces."""
    while waiting:
        try:
            number, part = waiting.popleft()
        except IndexError:  # another thread was faster
            return
        learner = weights.borrow()
        totals = PassTotals()
        yield from visit(part, learner, epoch, totals)
        learned[number] = PartOfPass(None, *learner.finish_part(weights.base), totals), learner


def visit(part: PartOfRows, learner: Linear, epoch: int, totals: PassTotals) -> Iterator[None]:
    """Visit the rows of a partition in pieces."""
    for tally, visits in learner.learn_own(part.examples(learner.settings), epoch, 0):
        totals.add(PassTotals(visits, tally.mistakes, tally.updates, tally.loss, tally.importance))
        yield


def summary(result: PartOfPass) -> PartOfPass:
    """Return the result of a partition without its changes, which may be large."""
    return replace(result, changes=None)


def share_of(result: PartOfPass, share: float, scale: float) -> Changes:
    """Return the changes of a partition with its share, for weights that will have this scale."""
    assert result.changes is not None
    return replace(result.changes, share=share * result.scale / scale, share_of_bias=share)


def weights_of(a: Changes, b: Changes) -> TwoChanges:
    return a.weights, a.share, b.weights, b.share


def biases_of(a: Changes, b: Changes) -> TwoChanges:
    return a.bias, a.share_of_bias, b.bias, b.share_of_bias


def merge(a: Changes, b: Changes) -> Changes:
    """Return the changes of two sets of partitions together."""
    return Changes(_core.merge_changes(weights_of(a, b)), _core.merge_changes(biases_of(a, b)))


# ---- the driver


def mixed_pass(
    weights: Weights, parts: Sequence[PartOfRows], engine: Engine, epoch: int
) -> Iterator[tuple[Counted, int]]:
    """Make one pass (from 1) over all partitions, and mix the weights.

    It yields nothing visited while the tasks run, so that training can be interrupted: until the weights are mixed,
    they are those before the pass.
    """
    weights.base.settle()
    in_place = engine.in_process and weights.have_room(len(parts), engine.workers())
    each = yield from (mixed_in_place if in_place else mixed_by_changes)(weights, parts, engine, epoch)
    whole = PassTotals()
    for one in each:
        whole.add(one.totals)
    yield Counted(whole.mistakes, whole.updates, whole.loss, whole.weight), whole.visits


def mixed_in_place(
    weights: Weights, parts: Sequence[PartOfRows], engine: Engine, epoch: int
) -> Generator[tuple[Counted, int], None, list[PartOfPass]]:
    """Mix the tables of the partitions where they are. This thread learns, too, so that there is less to wait for."""
    waiting, learned = deque(enumerate(parts)), Learned()
    threads = min(engine.workers(), len(parts))
    tasks = [engine.submit(learn_waiting, waiting, weights, epoch, learned) for _ in range(threads - 1)]
    try:
        for _ in visit_waiting(waiting, weights, epoch, learned):
            yield NOTHING_VISITED
        yield from looks_while(engine, tasks)
        engine.gather(tasks)
    finally:
        waiting.clear()
        engine.free(tasks)
    each, learners = [learned[i][0] for i in range(len(parts))], [learned[i][1] for i in range(len(parts))]
    if found := shares_of(each, weights.base.settings):
        scale = mixed_scale([each[i].scale for i in found], [*found.values()])
        sources = [ShareOfPart(learners[i], share * each[i].scale / scale, share) for i, share in found.items()]
        others = [learner for i, learner in enumerate(learners) if i not in found]
        weights.mix_in_place(sources, others, clocks_of(each, scale), engine)
    for learner in learners:
        weights.give_back(learner)
    return each


def mixed_by_changes(
    weights: Weights, parts: Sequence[PartOfRows], engine: Engine, epoch: int
) -> Generator[tuple[Counted, int], None, list[PartOfPass]]:
    """Mix the weights with what the partitions have changed."""
    start = engine.put(weights)
    tasks = [engine.submit(learn_part, part, start, epoch) for part in parts]
    used: list[Handle] = [start, *tasks]
    try:
        yield from looks_while(engine, tasks)
        near = engine.in_process
        each: list[PartOfPass] = engine.gather(tasks if near else [engine.submit(summary, task) for task in tasks])
        if found := shares_of(each, weights.base.settings):
            scale = mixed_scale([each[i].scale for i in found], [*found.values()])
            if near:
                leaves = [engine.put(share_of(each[i], share, scale)) for i, share in found.items()]
            else:
                leaves = [engine.submit(share_of, tasks[i], share, scale) for i, share in found.items()]
            sets = halves(engine, leaves) if near else [reduce_in_tree(engine, merge, leaves)]
            used += [*leaves, *sets]
            changes, *rest = engine.gather(sets)
            weights.mix(changes, rest[0] if rest else Changes(NOTHING, NOTHING), clocks_of(each, scale), engine)
    finally:
        engine.free(used)
    return each


def looks_while(engine: Engine, tasks: Sequence[Handle]) -> Iterator[tuple[Counted, int]]:
    """Yield nothing visited until all tasks have ended."""
    while tasks and not engine.wait(tasks, LOOK):
        yield NOTHING_VISITED


def each_in_thread(engine: Engine, function: Callable[..., None], calls: Sequence[Sequence[Any]]) -> None:
    """Make all calls, the first one in this thread."""
    tasks = [engine.submit(function, *arguments) for arguments in calls[1:]]
    try:
        function(*calls[0])
    finally:
        engine.gather(tasks)


def halves(engine: Engine, leaves: Sequence[Handle]) -> list[Handle]:
    """Return both sides of the root of the tree of all leaves, or the leaf if there is only one.

    What they have in common is then added when the weights are mixed, with the same result.
    """
    left = 1 << max(0, (len(leaves) - 1).bit_length() - 1)
    return [reduce_in_tree(engine, merge, some) for some in (leaves[:left], leaves[left:]) if some]


def mixed_scale(scales: Sequence[float], shares: Sequence[float]) -> float:
    """Return the mean scale of the weights of partitions. Without a penalty it is exactly 1; rounded shares, such as
    seven times 1/7, may add up to less.

    >>> mixed_scale([1.0] * 7, [1 / 7] * 7), mixed_scale([0.5, 0.25], [0.5, 0.5])
    (1.0, 0.375)
    """
    if all(scale == 1 for scale in scales):
        return 1.0
    found = 0.0
    for scale, share in zip(scales, shares, strict=True):
        found += scale * share
    return found


def shares_of(each: Sequence[PartOfPass], settings: OnlineSettings) -> dict[int, float]:
    """Return the number and the share of each partition that has learned."""
    learned = {i: one.totals for i, one in enumerate(each) if one.totals.visits > 0}
    mistakes = {i: one.mistakes or 0 for i, one in learned.items()}
    if settings.mixing == "mistakes" and any(mistakes.values()):
        return {i: some / sum(mistakes.values()) for i, some in mistakes.items()}
    return {i: 1 / len(learned) for i in learned}


def clocks_of(each: Sequence[PartOfPass], scale: float) -> tuple[float, float, float]:
    """Return the scale of the mixed weights, and how far the clocks of all partitions have gone together."""
    return scale, total(each, "clock"), total(each, "time")


def total(each: Sequence[PartOfPass], name: str) -> Any:
    """Return the sum over all partitions, in their order."""
    found = getattr(each[0], name)
    for one in each[1:]:
        found += getattr(one, name)
    return found
