"""The learner of naive Bayes, which counts events in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.cluster.engine import Engine, engine_for
from markone.data.blocks import Block, Rows, is_sparse
from markone.data.source import Label
from markone.errors import DataError
from markone.features.event_kinds import Groups, one_group
from markone.learning.examples import Examples, divided
from markone.learning.learner import CommonLearner, Counted, State
from markone.learning.online import pieces
from markone.learning.partitions.counting import counted_pass
from markone.learning.states import check_forms, need
from markone.model.evaluation import log_probabilities
from markone.model.events import Events, Floats
from markone.model.naive_bayes import USUAL_OF_VARIANCE, NaiveBayes, Smoothing, priors_of
from markone.model.settings import NaiveBayesSettings, Settings
from markone.storage.saved import Saved

AS_STORED = Settings(order="given")
"""The order of visits for a learner whose result does not depend on the order."""


class Counting(CommonLearner):
    """Counts of events by class. Rows can be added at any time, in any order and in any parts.

    Whole numbers are counted exactly, so that the same rows give the same counts in any order, and separate counts can
    be added. For other values, the last digits may differ.
    """

    settings: NaiveBayesSettings

    def __init__(
        self,
        settings: Settings,
        *,
        features: int,
        classes: int,
        dtype: Any = np.float64,
        groups: Groups | None = None,
        priors: Floats | None = None,
        of_variance: float = USUAL_OF_VARIANCE,
    ) -> None:
        """`groups` are the kinds of the features; by default all have the settings' likelihood, or are words.

        `priors` are numbers for the classes. They replace those of the settings, because labels are not known here.
        """
        self.settings = NaiveBayesSettings.of(settings)
        self.dtype = np.dtype(dtype)
        self.priors = priors
        self.of_variance = of_variance
        if groups is None:
            groups = one_group(self.settings.likelihood or "multinomial", features)
        self.events = Events.none(groups, features, classes)
        self.engine: Engine | None = None
        """What runs the tasks of partitions; by default, threads."""
        self.threads: int | None = None
        self._scorer: NaiveBayes | None = None
        self._lent: Events | None = None
        """The counts that a scorer reads, and that must not change any more."""

    @property
    def features(self) -> int:
        return self.events.features

    @property
    def classes(self) -> int:
        return self.events.classes

    def ready(self, block: Block) -> Block:
        """Merge repeated features of a row into one, unless all are words, whose occurrences are added up anyway."""
        if all(group.kind == "multinomial" for group in self.events.groups) and block.rows.least >= 0:
            return block
        return block.without_repeats()

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Counted, int]]:
        """Count all examples."""
        if self.settings.partitions == 1:
            yield from self.count_own(examples, epoch, skip)
            return
        parts = divided(examples, self.settings.partitions)
        with engine_for(self.engine, self.threads) as engine:
            yield from counted_pass(self, parts, engine)

    def count_own(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Counted, int]]:
        """Count all examples in storage order, because the order does not matter."""
        size = examples.between_looks(1)
        for block, order in examples.visits(AS_STORED, epoch, skip):
            for part in pieces(order, len(block) if order is None else len(order), size):
                yield self.learn(block, part), len(block) if part is None else len(part)
            del block, order, part

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> Counted:
        """Count all rows of a block, or those in `order`."""
        if self.events is self._lent:
            self.events = self.events.copy()
        self._scorer = None
        importance = self.events.add(block, order)
        return Counted(None, len(block) if order is None else len(order), None, importance)

    def scorer(self) -> NaiveBayes:
        """Return a scorer with the counts so far. Learning more changes a copy of them."""
        if self._scorer is None:
            self._lent = self.events
            self._scorer = NaiveBayes(self.events, smoothing_of(self.settings, self.of_variance), self._priors())
        return self._scorer

    def _priors(self) -> Floats | None:
        if self.priors is not None:
            return self.priors
        if isinstance(self.settings.priors, str):
            return None if self.settings.priors == "data" else np.ones(self.classes)
        raise DataError("priors are given by label, but the labels of the classes are not known here")

    def scores(self, rows: Rows, averaged: bool | None = None) -> Floats:
        return self.scorer().scores(rows)

    # ---- more features and classes, and states

    def grow(self, *, features: int, classes: int, places: list[int]) -> None:
        """Make room for new classes: class k moves to `places[k]`. New features need `rearrange`."""
        if features != self.features:
            raise DataError("the kinds of new features are not known; use rearrange with new groups")
        self.events = self.events.moved(self.events.groups, features, np.arange(features), classes, places)
        self._scorer = None

    def rearrange(self, groups: Groups, width: int, moved: NDArray[np.int64]) -> None:
        """Keep the counts for wider rows, in which feature i is `moved[i]`."""
        self.events = self.events.moved(groups, width, moved, self.classes, list(range(self.classes)))
        self._scorer = None

    def grown_from(self, scorer: NaiveBayes, moved: NDArray[np.int64], places: list[int]) -> Counting:
        """Add the counts of a scorer, whose feature i is `moved[i]` here, and whose class k is `places[k]`."""
        groups, width = self.events.groups, self.features
        self.events = self.events.merged(scorer.events.moved(groups, width, moved, self.classes, places))
        self._scorer = None
        return self

    def get_state(self) -> State:
        return {name: array.copy() for name, array in self.events.arrays().items()}

    def set_state(self, state: State) -> None:
        self.events = self.events.with_arrays(state)
        self._scorer = None

    def check_state(self, state: State) -> None:
        check_forms(state, self.events.arrays())
        try:
            self.events.with_arrays(state).check_sense()
        except DataError as error:
            need(False, str(error))

    def with_settings(self, settings: Settings) -> Counting:
        """Return a learner with the same counts and another smoothing."""
        twin = self.twin()
        twin.settings, twin._scorer = NaiveBayesSettings.of(settings), None
        return twin

    def right_left_out(self, block: Block, settings: Sequence[Settings]) -> NDArray[np.int64]:
        """Return how many counted rows are classified correctly by leave-one-out, for each of these settings."""
        smoothings = [smoothing_of(one, self.of_variance) for one in settings]
        return np.array([one.right for one in leave_one_out(self, block, smoothings)], np.int64)

    def without_counts(self) -> Counting:
        """Return a learner of the same kind that has counted nothing."""
        empty = self.twin()
        empty.settings = NaiveBayesSettings.of(replace(self.settings, partitions=1))
        empty.events = Events.none(self.events.groups, self.features, self.classes)
        empty.engine = empty._scorer = None
        return empty

    def add_counts(self, events: Events) -> None:
        """Add the counts of other rows with the same features and classes."""
        self.events = self.events.merged(events)
        self._scorer = None

    def twin(self) -> Counting:
        """Return a learner that shares the counts until one of the two grows or starts from others."""
        twin: Counting = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __copy__(self) -> Counting:
        """Return a learner with its own copy of the counts."""
        twin = self.twin()
        twin.events = self.events.copy()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        saved = self.events.save()
        own = ("events", "engine", "_scorer", "_lent")
        kept = {name: value for name, value in self.__dict__.items() if name not in own}
        return {**kept, "facts": saved.facts, "arrays": saved.arrays, "classes": self.classes}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        events = Events.load(Saved(saved.pop("facts"), saved.pop("arrays")), saved.pop("classes"))
        self.__dict__.update(saved, events=events, engine=None, _scorer=None, _lent=None)


def is_positive(matrix: Any) -> bool:
    values: NDArray[Any] = getattr(matrix, "data", matrix) if is_sparse(matrix) else matrix
    return bool(values.min(initial=0) >= 0)


def smoothing_of(settings: Settings, of_variance: float = USUAL_OF_VARIANCE) -> Smoothing:
    settings = NaiveBayesSettings.of(settings)
    return Smoothing(k=0.0 if settings.k is None else settings.k, alpha=settings.alpha, of_variance=of_variance)


class EventKinds(NamedTuple):
    """What a rule that counts needs to know, apart from the numbers of features and classes."""

    groups: Groups
    """The kinds of events that the features are."""
    labels: Sequence[Label]
    """The labels of the classes, for which priors may be given."""


def counting_for(
    settings: Settings, *, features: int, classes: int, dtype: Any = np.float64, events: EventKinds | None = None
) -> Counting:
    """Return a learner for these kinds of events; by default all features have the settings' likelihood."""
    groups, priors = None, None
    if events is not None:
        groups, priors = events.groups, priors_of(settings.priors, list(events.labels))
    return Counting(settings, features=features, classes=classes, dtype=dtype, groups=groups, priors=priors)


# ---- leaving one out


@dataclass(frozen=True, slots=True)
class CountedLeftOut:
    """The leave-one-out predictions of rows, for one smoothing."""

    smoothing: Smoothing
    predicted: NDArray[np.int64]
    """The number of the predicted class of each row."""
    right: int
    log_probability: float
    """The mean of log P(right class), weighted by importance: -∞ if the right class was impossible for some row."""


def leave_one_out(
    counting: Counting, block: Block, smoothings: Iterable[Smoothing] | None = None
) -> list[CountedLeftOut]:
    """Classify each row by the counts of all other rows, for each smoothing; by default, for that of the settings.

    The block must be the counted rows, or a part of them. For each row, its own counts are subtracted, in one sweep for
    each smoothing. For whole numbers, the results have the same bits as those of training without the row.
    """
    block, scorer = counting.ready(block), counting.scorer()
    if counting.classes < 2 or scorer.events.rows.sum() <= block_importance(block).max(initial=0):
        raise DataError("leaving one out needs two classes, and at least one other row")
    return [
        left_out(NaiveBayes(scorer.events, smoothing, scorer.priors), block, _core.Tie[counting.settings.tie])
        for smoothing in (smoothings or [scorer.smoothing])
    ]


def left_out(scorer: NaiveBayes, block: Block, tie: _core.Tie) -> CountedLeftOut:
    scores = scorer.scores_left_out(block)
    predicted = _core.winners(scores, tie)
    of_truth = log_probabilities(scores)[np.arange(len(block)), block.labels]
    importance = block_importance(block)
    counted = importance > 0
    total = _core.sum(importance[counted])
    mean = _core.sum(importance[counted] * of_truth[counted]) / total if counted.any() else 0.0
    return CountedLeftOut(scorer.smoothing, predicted, int((predicted == block.labels).sum()), mean)


def block_importance(block: Block) -> Floats:
    return np.ones(len(block)) if block.importance is None else block.importance


def leave_one_out_predictions(
    block: Block, settings: Settings, groups: Groups | None = None, *, classes: int, priors: Floats | None = None
) -> NDArray[np.int64]:
    """Return the leave-one-out prediction of each row. The result is that of a separate training for each row."""
    counting = Counting(settings, features=block.rows.width, classes=classes, groups=groups, priors=priors)
    block = counting.ready(block)
    counting.learn(block)
    return leave_one_out(counting, block)[0].predicted
