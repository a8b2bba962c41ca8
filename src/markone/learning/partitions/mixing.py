"""Iterative parameter mixing of the online rules (McDonald, Hall and Mann 2010).

In each pass, every partition learns on its own from the same weights. Then the weights are mixed: the new ones are the
mean of those of all partitions, each with the same share, or with the share of its mistakes. The averaged weights are
the mean of all weights that any partition has met. The arithmetic is in core/online/mixing.h.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.cluster.engine import LOOK, Engine, Handle, Threads, reduce_in_tree
from markone.learning.examples import PartOfRows, shares
from markone.learning.learner import Counted
from markone.model.settings import OnlineSettings

if TYPE_CHECKING:
    from markone.learning.online import Linear

Arrays = tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""The places of numbers that have changed, how far they have moved, what that adds to the sums, and to the squares."""
TwoChanges = tuple[Arrays, float, Arrays, float]
"""The changes of two sets of partitions, each with its share."""

RANGE = 2**16
"""The fewest weights that are worth another thread when they are mixed."""
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
class PartOfPass:
    """The result of a partition's pass."""

    changes: Changes | None
    scale: float
    clock: float
    time: float
    visits: int
    mistakes: int
    updates: int
    loss: float
    importance: float


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

    def mix(self, a: Changes, b: Changes, clocks: tuple[float, float, float], engine: Engine) -> None:
        """Mix the weights with the changes of all partitions, which are those of two sets of them."""
        self.base.mix_bias(biases_of(a, b), clocks)
        features = self.base.features
        threads = engine.workers() if engine.in_process else 1
        ranges = shares(features, max(1, min(threads, features * self.base.columns // RANGE)))
        if len(ranges) == 1:
            self.base.mix_weights(self._spare, weights_of(a, b), 0, features)
        else:
            mix = self.base.mix_weights
            engine.gather([engine.submit(mix, self._spare, weights_of(a, b), *one) for one in ranges])

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
    examples = part.examples(learner.settings)
    visits = mistakes = updates = 0
    loss = importance = 0.0
    for tally, some in learner.learn_own(examples, epoch, 0):
        visits, mistakes, updates = visits + some, mistakes + tally.mistakes, updates + tally.updates
        loss, importance = loss + tally.loss, importance + tally.importance
        Threads.check_wanted()
    moved, bias, (scale, clock, time) = learner.take_changes(weights.base)
    weights.give_back(learner)
    return PartOfPass(Changes(moved, bias), scale, clock, time, visits, mistakes, updates, loss, importance)


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
    start = engine.put(weights)
    tasks = [engine.submit(learn_part, part, start, epoch) for part in parts]
    used: list[Handle] = [start, *tasks]
    try:
        while not engine.wait(tasks, LOOK):
            yield Counted(0, 0, 0.0, 0.0), 0
        near = engine.in_process
        each: list[PartOfPass] = engine.gather(tasks if near else [engine.submit(summary, task) for task in tasks])
        learned = [i for i, one in enumerate(each) if one.visits > 0]
        if learned:
            shares = shares_of([each[i] for i in learned], weights.base.settings)
            scale = mixed_scale([each[i].scale for i in learned], shares)
            each_share = [*zip(learned, shares, strict=True)]
            if near:
                leaves = [engine.put(share_of(each[i], share, scale)) for i, share in each_share]
            else:
                leaves = [engine.submit(share_of, tasks[i], share, scale) for i, share in each_share]
            sets = halves(engine, leaves) if near else [reduce_in_tree(engine, merge, leaves)]
            used += [*leaves, *sets]
            changes, *rest = engine.gather(sets)
            clocks = (scale, total(each, "clock"), total(each, "time"))
            weights.mix(changes, rest[0] if rest else Changes(NOTHING, NOTHING), clocks, engine)
    finally:
        engine.free(used)
    sums = {name: total(each, name) for name in ("mistakes", "updates", "loss", "importance")}
    yield Counted(**sums), total(each, "visits")


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


def shares_of(each: Sequence[PartOfPass], settings: OnlineSettings) -> list[float]:
    """Return the share of each partition that has learned."""
    if settings.mixing == "mistakes" and (mistakes := total(each, "mistakes")) > 0:
        return [one.mistakes / mistakes for one in each]
    return [1 / len(each)] * len(each)


def total(each: Sequence[PartOfPass], name: str) -> Any:
    """Return the sum over all partitions, in their order."""
    found = getattr(each[0], name)
    for one in each[1:]:
        found += getattr(one, name)
    return found
