"""Learners for rows with several labels: for each label, a learner of two classes, with the label or without it.

All of them read the same rows. The learners of the online rules take their steps together, so that each row is read
once in a pass. Those that converge to an optimum are trained one after the other, because each of them arranges the
rows in memory in its own way: one pass trains all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Rows
from markone.data.source import UNLABELLED, Label
from markone.errors import SettingsError
from markone.learning.class_weights import weights_of_sets
from markone.learning.examples import Examples, PartOfRows, Visits
from markone.learning.learner import CommonLearner, Counted, Course, Learner, State, Tally
from markone.learning.online import Linear
from markone.learning.states import check_forms, need, prefixed, without_prefix
from markone.model.scorer import LinearScorer
from markone.model.settings import Settings, SpelledOut
from markone.parallel import in_order

Sets = NDArray[np.bool_]
"""Which labels each set of labels contains: labels × sets. The labels of rows are the numbers of their sets."""
MakeLearner = Callable[[], Learner]
GROUPS = 8
"""How many groups of labels each thread trains. A task for each label would take longer than its steps."""


def learner_of_sets(
    settings: Settings, sets: Sets, names: list[Label], make: MakeLearner
) -> LabelsTogether | LabelsInTurn:
    """Return a learner for rows with several labels of these names; `make` returns a learner of two classes."""
    return (LabelsTogether if settings.traits.online else LabelsInTurn)(sets, names, make)


class OneLabel:
    """The same examples, whose class is 1 if they have a label, and otherwise 0."""

    def __init__(
        self,
        examples: Examples,
        sets: Sets,
        label: int,
        visits: Iterable[Visits] = (),
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        """`visits` are those of a pass that learners of several labels make together. `weights` are those of each
        label, for the rows without it and with it."""
        self._examples = examples
        self._labels = len(sets)
        self._classes = np.append(sets[label].astype(np.int32), np.int32(UNLABELLED))  # the last is at UNLABELLED
        self._visits = visits
        self._weights = None if weights is None else weights[label][self._classes]

    def _of_label(self, block: Block) -> Block:
        importance = self._weighted(block.labels, block.importance)
        return replace(block, labels=self._classes[block.labels], importance=importance)

    def _weighted(
        self, labels: NDArray[np.int32], importance: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        if self._weights is None:
            return importance
        own: NDArray[np.float64] = self._weights[labels]
        return own if importance is None else importance * own

    @property
    def rows(self) -> int:
        return self._examples.rows

    def visits(self, settings: Settings, epoch: int, skip: int = 0) -> Iterator[Visits]:
        for block, order in self._visits:
            yield self._of_label(block), order

    def pack_counts(self) -> None:
        self._examples.pack_counts()

    def between_looks(self, columns: int) -> int:
        return self._examples.between_looks(columns * self._labels)

    def held_out(self) -> Iterator[Block]:
        return map(self._of_label, self._examples.held_out())

    def labels(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        learned, held_out = self._examples.labels()
        return self._classes[learned], self._classes[held_out]

    def importance(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        pairs = zip(self._examples.labels(), self._examples.importance(), strict=True)
        learned, held_out = (self._weighted(labels, importance) for labels, importance in pairs)
        return learned, held_out

    def parts(self, count: int) -> list[PartOfRows]:
        raise SettingsError(
            "partitions", "is for rows with one label each, but here a row can have several; leave it out"
        )

    def whole(self, *, in_files: bool = False) -> Visits:
        block, rows = self._examples.whole(in_files=in_files)
        return self._of_label(block), rows


class LabelLearner(CommonLearner):
    """What both ways have in common."""

    settings: SpelledOut

    def __init__(self, sets: Sets, names: list[Label], learner: Learner) -> None:
        self.sets, self.names = sets, names
        self.settings, self.features, self.dtype = learner.settings, learner.features, learner.dtype
        self.threads = 1
        """The number of labels that are trained at the same time. The result is the same."""
        self._snapshots: dict[bool | None, _core.Weights32 | _core.Weights64] = {}
        """The weights since the last change."""
        self._of_classes: NDArray[np.float64] | None = None

    def one_label(self, examples: Examples, label: int, visits: Iterable[Visits] = ()) -> OneLabel:
        """Return the examples of one label, weighted as the settings say."""
        if self.settings.class_weight is not None and self._of_classes is None:
            numbers, importance = examples.labels()[0], examples.importance()[0]
            self._of_classes = weights_of_sets(self.settings.class_weight, self.names, self.sets, numbers, importance)
        return OneLabel(examples, self.sets, label, visits, self._of_classes)

    @property
    def classes(self) -> int:
        """The number of labels."""
        return len(self.sets)

    @property
    def columns(self) -> int:
        """The number of scores of a row, one for each label."""
        return len(self.sets)

    def last_weights(self, averaged: bool | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the current weights, features × labels, and the bias of each label."""
        raise NotImplementedError

    def weights(self, averaged: bool | None = None) -> _core.Weights32 | _core.Weights64:
        """Return the current weights in the form that scores rows."""
        if averaged not in self._snapshots:
            kind = _core.Weights32 if self.dtype == np.float32 else _core.Weights64
            matrix, bias = (np.ascontiguousarray(one, self.dtype) for one in self.last_weights(averaged))
            self._snapshots[averaged] = kind(matrix, bias, self.classes, several=True)
        return self._snapshots[averaged]

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        return self.weights(averaged).scores(rows)

    def scorer(self) -> LinearScorer:
        return LinearScorer(self.weights(), self.settings.traits.has_probabilities)

    def found(self, rows: Rows, averaged: bool | None = None) -> NDArray[np.bool_]:
        """Return which labels have positive scores. The setting `tie` decides about a score of 0."""
        scores = self.scores(rows, averaged)
        return np.asarray(scores >= 0 if self.settings.tie == "positive" else scores > 0)

    def right(self, block: Block, averaged: bool | None = None) -> NDArray[np.bool_]:
        """Return for which rows exactly their labels are found."""
        return np.asarray((self.found(block.rows, averaged) == self.sets.T[block.labels]).all(axis=1))


class LabelsTogether(LabelLearner):
    """Learners that visit each row one after the other, before the next row is read."""

    def __init__(self, sets: Sets, names: list[Label], make: MakeLearner) -> None:
        self.learners = [made for made in (make() for _ in sets) if isinstance(made, Linear)]
        super().__init__(sets, names, self.learners[0])

    def ready(self, block: Block) -> Block:
        return self.learners[0].ready(block)

    def begin(self, examples: Examples) -> None:
        for label, learner in enumerate(self.learners):
            learner.begin(self.one_label(examples, label))

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Tally, int]]:
        """Visit all examples in pieces. Mistakes, updates and losses are the sums over all labels."""
        for visits in examples.visits(self.settings, epoch, skip):
            passes: list[Iterator[tuple[Tally, int]]] = [
                learner.learn_pass(self.one_label(examples, label, [visits]), epoch, skip)
                for label, learner in enumerate(self.learners)
            ]
            del visits  # releases this window before the next one is read
            size = -(-len(passes) // (GROUPS * self.threads))
            groups = [passes[start : start + size] for start in range(0, len(passes), size)]
            while pieces := [piece for found in in_order(next_pieces, groups, self.threads) for piece in found]:
                self._snapshots.clear()
                yield total(tally for tally, _ in pieces), pieces[0][1]
            del passes, groups

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        if averaged in self._snapshots or rows.stored >= self.features:
            return super().scores(rows, averaged)
        return np.hstack([learner.scores(rows, averaged) for learner in self.learners])  # without copying all weights

    def grown_from(self, scorer: LinearScorer, moved: NDArray[np.int64], places: list[int]) -> LabelsTogether:
        matrix, bias = scorer.weights.matrix(), scorer.weights.bias()
        for label, place in enumerate(places):
            own = _core.Weights32(np.ascontiguousarray(matrix[:, label, None]), bias[label, None].copy(), 2)
            one = LinearScorer(own, scorer.has_probabilities)
            self.learners[place] = self.learners[place].grown_from(one, moved, [0, 1])
        self._snapshots.clear()
        return self

    def last_weights(self, averaged: bool | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        found = [learner.weights(averaged) for learner in self.learners]
        return np.hstack([one.view() for one in found]), np.concatenate([one.bias() for one in found])

    def norm2(self) -> float:
        return math.fsum(learner.norm2() for learner in self.learners)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle copies of the learners."""
        return {**self.__dict__, "learners": [copy(learner) for learner in self.learners], "_snapshots": {}}

    def get_state(self) -> State:
        state: State = {}
        for label, learner in enumerate(self.learners):
            state |= prefixed(f"{label}.", learner.get_state())
        return state

    def check_state(self, state: State) -> None:
        parts = [without_prefix(f"{label}.", state) for label in range(self.classes)]
        need(sum(map(len, parts)) == len(state), "it has the wrong arrays")
        for learner, part in zip(self.learners, parts, strict=True):
            learner.check_state(part)

    def set_state(self, state: State) -> None:
        for label, learner in enumerate(self.learners):
            learner.set_state(without_prefix(f"{label}.", state))
        self._snapshots.clear()


class LabelsInTurn(LabelLearner):
    """Learners that converge to an optimum, one after the other. Of each, only its weights are kept."""

    def __init__(self, sets: Sets, names: list[Label], make: MakeLearner) -> None:
        self._make = make
        super().__init__(sets, names, make())
        self.trained = 0
        """The number of labels that have been trained."""
        self.matrix = np.zeros((self.features + 1, self.classes), self.dtype)
        """The weights, with the bias as the last row."""
        self.courses = np.zeros((self.classes, 4))
        """For each label the objective, the gap, 1 if the gap is small enough, and the number of passes."""

    passes = 1
    """A pass trains each label in as many passes as it needs."""

    def ready(self, block: Block) -> Block:
        return self._make().ready(block)

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Tally, int]]:
        """Train the remaining labels. Each of them counts as a share of the visits."""
        rows, left = examples.rows, range(self.trained, self.classes)
        results = in_order(lambda label: self._train(label, examples), left, self.threads)
        for label, result in zip(left, results, strict=True):
            weights, course, last, passes = result
            self.matrix[:-1, label], self.matrix[-1, label] = weights.view()[:, 0], weights.bias()[0]
            self.courses[label] = course.objective or 0.0, course.gap or 0.0, course.done, passes
            self.trained = label + 1
            self._snapshots.clear()
            yield last, rows * self.trained // self.classes - rows * label // self.classes

    def _train(self, label: int, all_labels: Examples) -> tuple[Any, Course, Tally, int]:
        """Train a label, and return its weights, their distance to the optimum, the results of the last pass, and the
        number of passes."""
        learner, examples = self._make(), self.one_label(all_labels, label)
        learner.begin(examples)
        assert self.settings.epochs is not None  # defaults are filled in
        last, epoch = Counted(0, 0, 0.0, 0.0), 0
        for epoch in range(1, self.settings.epochs + 1):
            last = total(tally for tally, _ in learner.learn_pass(examples, epoch, 0))
            if learner.course().done or last.updates == 0:
                break
        return learner.scorer().weights, learner.course(), last, epoch

    def last_weights(self, averaged: bool | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.matrix[:-1], self.matrix[-1]

    def norm2(self) -> float:
        return float(_core.sum(np.square(self.matrix.astype(np.float64)).ravel()))

    def course(self) -> Course:
        """Return the sum of the objectives, and the largest gap."""
        objectives, gaps, done, _ = self.courses.T
        return Course(math.fsum(objectives.tolist()), float(gaps.max()), bool(done.all()))

    @property
    def most_passes(self) -> int:
        """The number of passes of the label that needed most."""
        return int(self.courses[:, 3].max())

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the weights, without what makes learners."""
        return {**self.__dict__, "_make": None, "matrix": self.matrix.copy(), "_snapshots": {}}

    def get_state(self) -> State:
        return {"trained": np.array([self.trained]), "matrix": self.matrix.copy(), "courses": self.courses.copy()}

    def check_state(self, state: State) -> None:
        check_forms(state, self.get_state())
        need(0 <= int(state["trained"][0]) <= self.classes, "it has more labels than there are")

    def set_state(self, state: State) -> None:
        self.trained = int(state["trained"][0])
        self.matrix, self.courses = state["matrix"].copy(), state["courses"].copy()
        self._snapshots.clear()


def next_pieces(passes: list[Iterator[tuple[Tally, int]]]) -> list[tuple[Tally, int]]:
    """Return the results of the next piece of each pass, if there are more pieces."""
    return [piece for one in passes if (piece := next(one, None)) is not None]


def total(tallies: Iterable[Tally]) -> Counted:
    """Return the sum of the results of several learners, or of several pieces of a pass."""
    tallies = list(tallies)
    return Counted(
        sum(one.mistakes or 0 for one in tallies),
        sum(one.updates for one in tallies),
        math.fsum(one.loss or 0.0 for one in tallies),
        math.fsum(one.importance for one in tallies),
    )
