"""The learner of the online rules, which take a step at each example."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.cluster.engine import HasEngine
from markone.data.blocks import Block, Rows
from markone.errors import DataError
from markone.learning.examples import Examples, PartOfRows, divided, shares
from markone.learning.learner import CommonLearner, State, Tally
from markone.learning.partitions import mixing
from markone.learning.partitions.objective import sum_in_tree
from markone.learning.states import OWED, check_forms, check_in_core
from markone.model.scorer import LinearScorer
from markone.model.settings import OnlineSettings, Settings

LARGEST_IMPORTANCE = 1e6
RANDOM_START = 0.01

Listener = Callable[[Block, NDArray[np.int64], NDArray[np.float64]], None]
"""A function that gets a block, the rows at which mistakes were made, in order, and their margins before the steps."""


class Linear(HasEngine, CommonLearner):
    """Weights for `features` × `classes`, and the state that is needed to continue training."""

    settings: OnlineSettings

    def __init__(self, settings: Settings, *, features: int, classes: int, dtype: Any = np.float64) -> None:
        self.settings = settings = OnlineSettings.of(settings)
        self.dtype = np.dtype(dtype)
        kind = _core.Learner32 if self.dtype == np.float32 else _core.Learner64
        self._learner: _core.Learner32 | _core.Learner64 = kind(settings.for_core(), features, classes)
        self._snapshots: dict[bool, _core.Weights32 | _core.Weights64] = {}
        self._changes = 0
        self.listener: Listener | None = None
        """A function that is called for mistakes."""
        self._in_partitions: tuple[mixing.Weights, Sequence[PartOfRows]] | None = None
        if settings.start == "random":
            random = np.random.default_rng(settings.seed)
            self.start_at(
                random.normal(0, RANDOM_START, (features, self.columns)), random.normal(0, RANDOM_START, self.columns)
            )

    @property
    def features(self) -> int:
        """The width of the rows."""
        return self._learner.features

    @property
    def classes(self) -> int:
        """The number of classes. Their labels are 0, 1, 2 and so on."""
        return self._learner.classes

    @property
    def time(self) -> float:
        """The number of visits so far, weighted by importance."""
        return self._learner.time

    def start_at(self, matrix: NDArray[Any], bias: NDArray[Any]) -> None:
        """Set the first weights (features × columns) and the first bias (columns)."""
        matrix, bias = np.asarray(matrix, self.dtype), np.asarray(bias, self.dtype).reshape(1, -1)
        if matrix.shape != (self.features, self.columns) or bias.shape != (1, self.columns):
            raise DataError(
                f"the first weights must have the shapes {(self.features, self.columns)} and {(self.columns,)}, "
                f"not {matrix.shape} and {bias.shape[1:]}"
            )
        if not (np.isfinite(matrix).all() and np.isfinite(bias).all()):
            raise DataError("the first weights contain NaN or infinity")
        self._learner.start_at(np.ascontiguousarray(matrix), np.ascontiguousarray(bias))
        self._changed()

    def with_settings(self, settings: Settings) -> Linear:
        """Return a learner that continues with other settings. If they change a step, the average starts again."""
        settings = OnlineSettings.of(settings)
        if settings.steps_like(self.settings):
            self.settings = settings
            return self
        last = self.weights(averaged=False)
        fresh = Linear(settings, features=self.features, classes=self.classes, dtype=self.dtype)
        fresh.start_at(last.matrix(), last.bias())
        return fresh

    def grow(self, *, features: int, classes: int, places: list[int]) -> None:
        """Make room for new features and classes: class k moves to `places[k]`."""
        self._learner.grow(features, classes, places)
        self._changed()

    def grown_from(self, scorer: LinearScorer, moved: NDArray[np.int64], places: list[int]) -> Linear:
        learner = Linear(self.settings, features=self.features, classes=scorer.classes, dtype=self.dtype)
        matrix = scorer.weights.matrix()
        wider = np.zeros((self.features, matrix.shape[1]), matrix.dtype)
        wider[moved] = matrix
        learner.start_at(wider, scorer.weights.bias())
        learner.grow(features=self.features, classes=self.classes, places=places)
        return learner

    def ready(self, block: Block) -> Block:
        """Merge repeated features of a row if a step depends on the length of the row."""
        by_length = self.settings.traits.goes_by_length or self.settings.schedule == "adagrad"
        return block.without_repeats() if by_length else block

    def begin(self, examples: Examples) -> None:
        """Prepare the examples for more than one pass, and divide them into partitions."""
        if self.settings.epochs > 1:
            examples.pack_counts()
        if self.settings.partitions > 1:
            self._in_partitions = mixing.Weights(self), divided(examples, self.settings.partitions)

    def let_go(self) -> None:
        self._in_partitions = None
        self.end_tasks()

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Tally, int]]:
        """Visit all examples in pieces; in partitions, all at once."""
        if self.settings.partitions == 1:
            yield from self.learn_own(examples, epoch, skip)
            return
        if self._in_partitions is None:
            self.begin(examples)
        assert self._in_partitions is not None
        try:
            yield from mixing.mixed_pass(*self._in_partitions, self.tasks(), epoch)
        except BaseException:
            self.let_go()  # which also ends the tasks
            raise

    def learn_own(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[_core.Tally, int]]:
        """Visit all examples in pieces."""
        size = examples.between_looks(self.columns)
        for block, order in examples.visits(self.settings, epoch, skip):
            for part in pieces(order, len(block) if order is None else len(order), size):
                yield self.learn(block, part), len(block) if part is None else len(part)
            del block, order, part  # releases this window before the next one is read

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> _core.Tally:
        """Visit all rows of a block, or those in `order`, and return the results."""
        if self.settings.traits.repeats and block.importance is not None:
            check_repeats(block.importance)
        try:
            return self._visit(block, order)
        finally:
            self._changed()

    def _visit(self, block: Block, order: NDArray[np.int64] | None) -> _core.Tally:
        if self.listener is None:
            return self._learner.learn(block.rows, block.labels, block.importance, order)
        tally, rows, margins = self._learner.learn_noting(block.rows, block.labels, block.importance, order)
        self.listener(block, rows, margins)
        return tally

    def without_weights(self) -> Linear:
        """Return a new learner of the same kind."""
        settings = replace(self.settings, start="zero", partitions=1, mixing=None)
        return Linear(settings, features=self.features, classes=self.classes, dtype=self.dtype)

    def start_part(self, base: Linear) -> None:
        """Start at the weights of another learner of the same kind, which stands for all partitions."""
        self._learner.start_part(base._learner)  # type: ignore[arg-type]  # both have the same type

    def start_again(self, base: Linear) -> None:
        """Do the same if only the bias and the clocks may be others."""
        self._learner.start_again(base._learner)  # type: ignore[arg-type]

    def take_changes(self, base: Linear) -> tuple[mixing.Arrays, mixing.Arrays, tuple[float, float, float]]:
        """Return what has changed since then, for the bias, too, with the clocks. Everything is at the start again."""
        self._changed()
        return self._learner.take_changes(base._learner)  # type: ignore[arg-type]

    def finish_part(self, base: Linear) -> tuple[float, float, float]:
        """Apply the penalties that are due at the end of a pass, and return the clocks."""
        self._changed()
        return self._learner.finish_part(base._learner)  # type: ignore[arg-type]

    def settle(self) -> None:
        """Apply all penalties that are due."""
        self._learner.settle()
        self._changed()

    def mix_bias(self, changes: mixing.TwoChanges, clocks: tuple[float, float, float]) -> None:
        """Mix the bias with the changes of partitions, all of which have gone on by these clocks."""
        self._learner.mix_bias(changes, *clocks)
        self._changed()

    def mix_weights(self, others: list[Linear], changes: mixing.TwoChanges, first: int, last: int) -> None:
        """Mix the weights of a range of features, after the bias, and copy the new ones to partitions that wait."""
        self._learner.mix_weights([one._learner for one in others], changes, first, last)  # type: ignore[misc]

    @property
    def groups(self) -> int:
        """The number of groups of neighbouring weights, which are mixed together."""
        return self._learner.groups

    def mix_bias_of(self, parts: Sequence[mixing.ShareOfPart], clocks: tuple[float, float, float]) -> None:
        """Mix the bias with those of partitions of this process, which have gone on by these clocks together."""
        self._learner.mix_bias_of(learners_of(parts), *clocks)
        self._changed()

    def mix_groups(self, parts: Sequence[mixing.ShareOfPart], others: Sequence[Linear], first: int, last: int) -> None:
        """Mix a range of groups of weights, after the bias, and copy the new ones to all partitions."""
        self._learner.mix_groups(learners_of(parts), [one._learner for one in others], first, last)  # type: ignore[misc]

    def weights(self, averaged: bool | None = None) -> _core.Weights32 | _core.Weights64:
        """Return the current weights: the averaged or the last ones, by default as in the settings."""
        averaged = self.settings.average if averaged is None else averaged
        snapshot = self._snapshots.get(averaged)
        if snapshot is None:
            changes = self._changes
            snapshot = self._learner.snapshot(averaged)
            if changes == self._changes:  # no other thread has changed the weights in the meantime
                self._snapshots[averaged] = snapshot
        return snapshot

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        """Return `columns` scores for each row."""
        averaged = self.settings.average if averaged is None else averaged
        few = rows.stored < self.features and averaged not in self._snapshots
        if few and isinstance(rows, _core.SparseRows32 | _core.SparseRows64):
            return self._learner.scores(rows, averaged)
        return self.weights(averaged).scores(rows)

    def scorer(self) -> LinearScorer:
        return LinearScorer(self.weights(), self.settings.traits.has_probabilities)

    def judge(self, block: Block) -> LinearScorer:
        return LinearScorer(self.weights(averaged=False), self.settings.traits.has_probabilities)

    def norm2(self) -> float:
        """Return the squared length of the last weights, with the bias."""
        ranges = shares(self.features, max(1, min(self.features, self.settings.partitions)))
        if self._own_engine is None or self.features * self.columns < mixing.RANGE * len(ranges):
            return sum_in_tree([self._learner.norm2(*one) for one in ranges])
        tasks = [self._own_engine.submit(self._learner.norm2, *one) for one in ranges[1:]]
        first = self._learner.norm2(*ranges[0])
        others: list[float] = self._own_engine.gather(tasks)
        return sum_in_tree([first, *others])

    def _changed(self) -> None:
        self._changes += 1
        self._snapshots.clear()

    def get_state(self) -> dict[str, NDArray[Any]]:
        """Return everything that is needed to resume with the same bits."""
        return self._learner.get_state()

    def check_state(self, state: State) -> None:
        check_forms(state, self.get_state(), growing=OWED)
        check_in_core(self._learner.check_state, state)

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Restore a state of a learner with the same settings and shape."""
        self._learner.set_state(state)
        self._changed()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "settings": self.settings,
            "dtype": self.dtype,
            "features": self.features,
            "classes": self.classes,
            "state": self.get_state(),
        }

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(  # type: ignore[misc]
            saved["settings"], features=saved["features"], classes=saved["classes"], dtype=saved["dtype"]
        )
        self.set_state(saved["state"])


def learners_of(parts: Sequence[mixing.ShareOfPart]) -> list[Any]:
    return [(one.learner._learner, one.share, one.share_of_bias) for one in parts]


def pieces(order: NDArray[np.int64] | None, visits: int, size: int) -> Iterator[NDArray[np.int64] | None]:
    """Divide the order of the visits into pieces."""
    if visits <= size:
        yield order
        return
    order = np.arange(visits) if order is None else order
    for start in range(0, visits, size):
        yield order[start : start + size]


def check_repeats(importance: NDArray[np.float64]) -> None:
    if importance.max(initial=0) > LARGEST_IMPORTANCE:
        raise DataError(
            f"the perceptron repeats an example as often as its weight says, and the weight {importance.max():g} is "
            f"larger than {LARGEST_IMPORTANCE:g}; divide the weights by a constant"
        )
