"""A linear learner: weights that blocks of examples change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Rows
from markone.errors import DataError
from markone.learning.examples import Examples
from markone.learning.learner import CommonLearner, State
from markone.learning.states import OWED, check_forms, check_in_core
from markone.model.scorer import LinearScorer
from markone.model.settings import OnlineSettings, Settings

LARGEST_IMPORTANCE = 1e6
RANDOM_START = 0.01

Listener = Callable[[Block, NDArray[np.int64], NDArray[np.float64]], None]
"""Is told the rows of a block at which mistakes were made, one after the other, and their margins before the steps."""


class Linear(CommonLearner):
    """Weights for `features` × `classes`, how they are learned, and what is needed to go on learning."""

    settings: OnlineSettings

    def __init__(self, settings: Settings, *, features: int, classes: int, dtype: Any = np.float64) -> None:
        self.settings = settings = OnlineSettings.of(settings)
        self.dtype = np.dtype(dtype)
        self._tie = _core.Tie[settings.tie]
        kind = _core.Learner32 if self.dtype == np.float32 else _core.Learner64
        self._learner: _core.Learner32 | _core.Learner64 = kind(settings.for_core(), features, classes)
        self._snapshots: dict[bool, _core.Weights32 | _core.Weights64] = {}
        self._changes = 0
        self.listener: Listener | None = None
        """Who is told of mistakes, if anybody."""
        if settings.start == "random":
            random = np.random.default_rng(settings.seed)
            self.start_at(
                random.normal(0, RANDOM_START, (features, self.columns)), random.normal(0, RANDOM_START, self.columns)
            )

    @property
    def features(self) -> int:
        """The width of the rows that it can learn from."""
        return self._learner.features

    @property
    def classes(self) -> int:
        """The number of classes, known to it as 0, 1, 2 and so on."""
        return self._learner.classes

    @property
    def time(self) -> float:
        """The examples seen so far, each counted by its importance."""
        return self._learner.time

    def start_at(self, matrix: NDArray[Any], bias: NDArray[Any]) -> None:
        """Puts the weights (features × columns) and the bias (columns) where learning is to start."""
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
        """A learner that goes on by other settings: just as before where a step stays the same, else from here anew."""
        how = OnlineSettings.of(settings)
        if how.steps_like(self.settings):
            self.settings = how
            return self
        last = self.weights(averaged=False)
        fresh = Linear(how, features=self.features, classes=self.classes, dtype=self.dtype)
        fresh.start_at(last.matrix(), last.bias())
        return fresh

    def grow(self, *, features: int, classes: int, places: list[int]) -> None:
        """Makes room for new features and classes; `places[k]` is where class k goes."""
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
        """The block as this learner can use it: a step that goes by the length of a row needs each feature once."""
        by_length = self.settings.traits.goes_by_length or self.settings.schedule == "adagrad"
        return block.without_repeats() if by_length else block

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[_core.Tally, int]]:
        """Visits all examples, with a look up now and then."""
        size = examples.between_looks(self.columns)
        for block, order in examples.visits(self.settings, epoch, skip):
            for part in pieces(order, len(block) if order is None else len(order), size):
                yield self.learn(block, part), len(block) if part is None else len(part)
            del block, order, part  # or this window would stay while the next one is read

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> _core.Tally:
        """Visits the block's rows once, all or those that `order` names, and says what happened."""
        if self.settings.traits.repeats and block.importance is not None:
            check_repeats(block.importance)
        try:
            if self.listener is None:
                return self._learner.learn(block.rows, block.labels, block.importance, order)
            tally, rows, margins = self._learner.learn_noting(block.rows, block.labels, block.importance, order)
            self.listener(block, rows, margins)
            return tally
        finally:
            self._changed()

    def weights(self, averaged: bool | None = None) -> _core.Weights32 | _core.Weights64:
        """The weights as they stand: averaged or last, as the settings say unless told otherwise."""
        averaged = self.settings.average if averaged is None else averaged
        snapshot = self._snapshots.get(averaged)
        if snapshot is None:
            changes = self._changes
            snapshot = self._learner.snapshot(averaged)
            if changes == self._changes:  # no other thread has learned meanwhile
                self._snapshots[averaged] = snapshot
        return snapshot

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        """One row of `columns` scores for each row."""
        averaged = self.settings.average if averaged is None else averaged
        few = rows.stored < self.features and averaged not in self._snapshots
        if few and isinstance(rows, _core.SparseRows32 | _core.SparseRows64):
            return self._learner.scores(rows, averaged)
        return self.weights(averaged).scores(rows)

    def predict(self, rows: Rows, averaged: bool | None = None) -> NDArray[np.int64]:
        """The number of the best class for each row; the settings' `tie` says which of several."""
        if self.classes < 2:
            return np.zeros(len(rows), np.int64)
        return _core.winners(self.scores(rows, averaged), self._tie)

    def scorer(self) -> LinearScorer:
        return LinearScorer(self.weights(), self.settings.traits.has_probabilities)

    def judge(self, block: Block) -> LinearScorer:
        return LinearScorer(self.weights(averaged=False), self.settings.traits.has_probabilities)

    def norm2(self) -> float:
        """The squared length of the last weights, bias included."""
        return self._learner.norm2()

    def _changed(self) -> None:
        self._changes += 1
        self._snapshots.clear()

    def get_state(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on, to the bit, as if nothing had happened."""
        return self._learner.get_state()

    def check_state(self, state: State) -> None:
        check_forms(state, self.get_state(), growing=OWED)
        check_in_core(self._learner.check_state, state)

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Goes back to what `get_state` of a learner with the same settings and shape gave."""
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


def pieces(order: NDArray[np.int64] | None, visits: int, size: int) -> Iterator[NDArray[np.int64] | None]:
    """The order of so many visits, cut into pieces."""
    if visits <= size:
        yield order
        return
    order = np.arange(visits) if order is None else order
    for start in range(0, visits, size):
        yield order[start : start + size]


def check_repeats(importance: NDArray[np.float64]) -> None:
    if importance.max(initial=0) > LARGEST_IMPORTANCE:
        raise DataError(
            f"the perceptron visits an example as often as its weight says, and {importance.max():g} is more than "
            f"{LARGEST_IMPORTANCE:g} times; divide the weights by a constant"
        )
