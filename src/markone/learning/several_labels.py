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
from itertools import chain
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
from markone.learning.online import Linear, pieces
from markone.learning.side_by_side import SideBySide, most_together
from markone.learning.states import check_forms, need, prefixed, without_prefix
from markone.model.scorer import LinearScorer
from markone.model.settings import Settings, SpelledOut
from markone.parallel import in_order

Sets = NDArray[np.bool_]
"""Which labels each set of labels contains: labels × sets. The labels of rows are the numbers of their sets."""
MakeLearner = Callable[[], Learner]
GROUPS = 8
"""How many groups of labels each thread trains. A task for each label would take longer than its steps."""
LEAST_TOGETHER = 4
"""Fewer labels than this share of those that can stand side by side would leave most of their memory unused."""


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
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        """`weights` are those of each label, for the rows without it and with it."""
        self._examples = examples
        self._labels = len(sets)
        self._classes = np.append(sets[label].astype(np.int32), np.int32(UNLABELLED))  # the last is at UNLABELLED
        self._weights = None if weights is None else weights[label][self._classes]

    def of_label(self, block: Block) -> Block:
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
        for block, order in self._examples.visits(settings, epoch, skip):
            yield self.of_label(block), order

    def pack_counts(self) -> None:
        self._examples.pack_counts()

    def between_looks(self, columns: int) -> int:
        return self._examples.between_looks(columns * self._labels)

    def held_out(self) -> Iterator[Block]:
        return map(self.of_label, self._examples.held_out())

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
        return self.of_label(block), rows


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

    def one_label(self, examples: Examples, label: int) -> OneLabel:
        """Return the examples of one label, weighted as the settings say."""
        if self.settings.class_weight is not None and self._of_classes is None:
            numbers, importance = examples.labels()[0], examples.importance()[0]
            self._of_classes = weights_of_sets(self.settings.class_weight, self.names, self.sets, numbers, importance)
        return OneLabel(examples, self.sets, label, self._of_classes)

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
        first = make()
        assert isinstance(first, Linear)
        super().__init__(sets, names, first)
        most = most_together(first.settings, first.dtype)
        self.learners: dict[range, Linear] = {}
        """The learners, by the labels that they learn. If only a few labels are left over, each has its own."""
        for start in range(0, len(sets), most):
            some = range(start, min(start + most, len(sets)))
            if len(some) > max(1, most // LEAST_TOGETHER):
                self.learners[some] = SideBySide(
                    first.settings, features=first.features, sets=sets[start : some.stop], dtype=first.dtype
                )
                continue
            for label in some:
                alone = make()
                assert isinstance(alone, Linear)
                self.learners[range(label, label + 1)] = alone

    def ready(self, block: Block) -> Block:
        return next(iter(self.learners.values())).ready(block)

    def begin(self, examples: Examples) -> None:
        next(iter(self.learners.values())).begin(examples)

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Tally, int]]:
        """Visit all examples in pieces. Mistakes, updates and losses are the sums over all labels."""
        size = examples.between_looks(self.classes)
        labels = [*self.learners.items()]
        most = -(-len(labels) // (GROUPS * self.threads))
        groups = [labels[start : start + most] for start in range(0, len(labels), most)]
        for block, order in examples.visits(self.settings, epoch, skip):
            own = {some: self.block_of(examples, some, block) for some in self.learners}
            for part in pieces(order, len(block) if order is None else len(order), size):

                def learned(group: list[tuple[range, Linear]], part: Any = part, own: Any = own) -> list[Tally]:
                    return [learner.learn(own[some], part) for some, learner in group]

                found = [*chain.from_iterable(in_order(learned, groups, self.threads))]
                self._snapshots.clear()
                yield total(found), len(block) if part is None else len(part)
            del block, order, part, own, learned  # releases this window before the next one is read

    def block_of(self, examples: Examples, some: range, block: Block) -> Block:
        """Return the block as the learner of some labels reads it."""
        return block if len(some) > 1 else self.one_label(examples, some.start).of_label(block)

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        if averaged in self._snapshots or rows.stored >= self.features:
            return super().scores(rows, averaged)
        found = [learner.scores(rows, averaged) for learner in self.learners.values()]
        return np.hstack(found)  # without copying all weights

    def grown_from(self, scorer: LinearScorer, moved: NDArray[np.int64], places: list[int]) -> LabelsTogether:
        matrix, bias = np.zeros((self.features, self.classes), self.dtype), np.zeros(self.classes, self.dtype)
        matrix[np.ix_(moved, np.array(places))] = scorer.weights.view()
        bias[places] = scorer.weights.bias()
        for some, learner in self.learners.items():
            learner.start_at(matrix[:, some.start : some.stop], bias[some.start : some.stop])
        self._snapshots.clear()
        return self

    def last_weights(self, averaged: bool | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        found = [(learner.weights(averaged), len(some)) for some, learner in self.learners.items()]
        matrix = np.hstack([weights.view()[:, :count] for weights, count in found])
        return matrix, np.concatenate([weights.bias()[:count] for weights, count in found])

    def norm2(self) -> float:
        return math.fsum(learner.norm2() for learner in self.learners.values())

    def __getstate__(self) -> dict[str, Any]:
        """Pickle copies of the learners."""
        copies = {some: copy(learner) for some, learner in self.learners.items()}
        return {**self.__dict__, "learners": copies, "_snapshots": {}}

    def get_state(self) -> State:
        """Return the states of all labels, as if each had a learner of its own."""
        state: State = {}
        for some, learner in self.learners.items():
            states = learner.states() if isinstance(learner, SideBySide) else [learner.get_state()]
            for label, one in zip(some, states, strict=True):
                state |= prefixed(f"{label}.", one)
        return state

    def check_state(self, state: State) -> None:
        parts = [without_prefix(f"{label}.", state) for label in range(self.classes)]
        need(sum(map(len, parts)) == len(state), "it has the wrong arrays")
        for some, learner in self.learners.items():
            if isinstance(learner, SideBySide):
                learner.check_states(parts[some.start : some.stop])
            else:
                learner.check_state(parts[some.start])

    def set_state(self, state: State) -> None:
        for some, learner in self.learners.items():
            parts = [without_prefix(f"{label}.", state) for label in some]
            learner.set_states(parts) if isinstance(learner, SideBySide) else learner.set_state(parts[0])
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


def total(tallies: Iterable[Tally]) -> Counted:
    """Return the sum of the results of several learners, or of several pieces of a pass."""
    tallies = list(tallies)
    return Counted(
        sum(one.mistakes or 0 for one in tallies),
        sum(one.updates for one in tallies),
        math.fsum(one.loss or 0.0 for one in tallies),
        math.fsum(one.importance for one in tallies),
    )
