"""Counting: the learner of naive Bayes, whose one pass counts events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Rows
from markone.data.source import Label
from markone.errors import DataError
from markone.features.event_kinds import Groups, one_group
from markone.learning.examples import Examples
from markone.learning.learner import CommonLearner, Counted, State
from markone.learning.online import pieces
from markone.learning.states import check_forms, need
from markone.model.evaluation import log_probabilities
from markone.model.events import Events, Floats
from markone.model.naive_bayes import USUAL_OF_VARIANCE, NaiveBayes, Smoothing, priors_of
from markone.model.settings import NaiveBayesSettings, Settings
from markone.storage.saved import Saved

AS_STORED = Settings(order="given")
"""How examples are visited by what does not mind in which order they come."""


class Counting(CommonLearner):
    """Counts of events by class, which can be added to at any time, in any order and in any parts.

    Whole numbers are counted exactly, so that the same rows give the same counts however they come, and what was
    counted apart can be added up. Other values give the same but for the last digits.
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
        """`groups` say what the features are; by default all are what the settings' likelihood says, or words.

        `priors` are numbers for the classes, where they are not as the settings say: labels are not known here.
        """
        self.settings = NaiveBayesSettings.of(settings)
        self.dtype = np.dtype(dtype)
        self.priors = priors
        self.of_variance = of_variance
        if groups is None:
            groups = one_group(self.settings.likelihood or "multinomial", features)
        self.events = Events.none(groups, features, classes)
        self._tie = _core.Tie[self.settings.tie]
        self._scorer: NaiveBayes | None = None

    @property
    def features(self) -> int:
        return self.events.features

    @property
    def classes(self) -> int:
        return self.events.classes

    def ready(self, block: Block) -> Block:
        """A feature that a row names twice is there once."""
        return block.without_repeats()

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Counted, int]]:
        """Counts all examples as they are stored, since their order does not matter."""
        size = examples.between_looks(1)
        for block, order in examples.visits(AS_STORED, epoch, skip):
            for part in pieces(order, len(block) if order is None else len(order), size):
                yield self.learn(block, part), len(block) if part is None else len(part)
            del block, order, part

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> Counted:
        """Counts the block's rows, all or those that `order` names."""
        self._scorer = None
        importance = self.events.add(block, order)
        return Counted(None, len(block) if order is None else len(order), None, importance)

    def scorer(self) -> NaiveBayes:
        """By the counts so far, which may go on without it."""
        if self._scorer is None:
            self._scorer = NaiveBayes(self.events.copy(), smoothing_of(self.settings, self.of_variance), self._priors())
        return self._scorer

    def _priors(self) -> Floats | None:
        if self.priors is not None:
            return self.priors
        if isinstance(self.settings.priors, str):
            return None if self.settings.priors == "data" else np.ones(self.classes)
        raise DataError("priors are numbers by label, and which class has which label was not said")

    def scores(self, rows: Rows, averaged: bool | None = None) -> Floats:
        return self.scorer().scores(rows)

    def predict(self, rows: Rows, averaged: bool | None = None) -> NDArray[np.int64]:
        if self.classes < 2:
            return np.zeros(len(rows), np.int64)
        return _core.winners(self.scores(rows), self._tie)

    # ---- going on

    def grow(self, *, features: int, classes: int, places: list[int]) -> None:
        """Makes room for new classes; `places[k]` is where class k goes. New features come with new groups."""
        if features != self.features:
            raise DataError("what new features are must be said: rearrange the counts in other groups")
        self.events = self.events.moved(self.events.groups, features, np.arange(features), classes, places)
        self._scorer = None

    def rearrange(self, groups: Groups, width: int, moved: NDArray[np.int64]) -> None:
        """Keeps the counts for wider rows, in which feature i is `moved[i]`."""
        self.events = self.events.moved(groups, width, moved, self.classes, list(range(self.classes)))
        self._scorer = None

    def grown_from(self, scorer: NaiveBayes, moved: NDArray[np.int64], places: list[int]) -> Counting:
        """Adds what another has counted, whose feature i is here `moved[i]`, and whose class k is `places[k]`."""
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
        """One of the same counts, with another smoothing."""
        twin = self.twin()
        twin.settings, twin._scorer = NaiveBayesSettings.of(settings), None
        return twin

    def right_left_out(self, block: Block, settings: Sequence[Settings]) -> NDArray[np.int64]:
        """How many rows of what was counted are classified rightly by all the others, by each of these settings."""
        smoothings = [smoothing_of(one, self.of_variance) for one in settings]
        return np.array([one.right for one in leave_one_out(self, block, smoothings)], np.int64)

    def twin(self) -> Counting:
        """One of the same counts, which parts from this one when it grows or starts from others."""
        twin: Counting = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __copy__(self) -> Counting:
        """One that counts on its own."""
        twin = self.twin()
        twin.events = self.events.copy()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        saved = self.events.save()
        kept = {name: value for name, value in self.__dict__.items() if name not in ("events", "_scorer", "_tie")}
        return {**kept, "facts": saved.facts, "arrays": saved.arrays, "classes": self.classes}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        events = Events.load(Saved(saved.pop("facts"), saved.pop("arrays")), saved.pop("classes"))
        self.__dict__.update(saved, events=events, _scorer=None, _tie=_core.Tie[saved["settings"].tie])


def smoothing_of(settings: Settings, of_variance: float = USUAL_OF_VARIANCE) -> Smoothing:
    how = NaiveBayesSettings.of(settings)
    return Smoothing(k=0.0 if how.k is None else how.k, alpha=how.alpha, of_variance=of_variance)


class EventKinds(NamedTuple):
    """What a rule that counts needs to know beside the numbers of features and classes."""

    groups: Groups
    """What kind of events the features are."""
    labels: Sequence[Label]
    """The classes, which priors may be given for."""


def counting_for(
    settings: Settings, *, features: int, classes: int, dtype: Any = np.float64, events: EventKinds | None = None
) -> Counting:
    """A learner for features that are these kinds of events; by default all are what the settings' likelihood says."""
    groups, priors = None, None
    if events is not None:
        groups, priors = events.groups, priors_of(settings.priors, list(events.labels))
    return Counting(settings, features=features, classes=classes, dtype=dtype, groups=groups, priors=priors)


# ---- leaving one out


@dataclass(frozen=True, slots=True)
class CountedLeftOut:
    """How rows are classified by all the others."""

    smoothing: Smoothing
    predicted: NDArray[np.int64]
    """The number of the best class for each row."""
    right: int
    log_probability: float
    """The mean, by importance, of the logarithm of the right class's probability: -∞ where one was impossible."""


def leave_one_out(
    counting: Counting, block: Block, smoothings: Iterable[Smoothing] | None = None
) -> list[CountedLeftOut]:
    """Classifies each row by all the others, for each smoothing: by that of the settings where none is given.

    The block must be what was counted, or a part of it. It is counted once: for each row its own counts are taken away,
    in a sweep for each smoothing. Of whole numbers the answers are those of really learning without the row, to the
    bit.
    """
    block, scorer = counting.ready(block), counting.scorer()
    if counting.classes < 2 or scorer.events.rows.sum() <= block_importance(block).max(initial=0):
        raise DataError("leaving one out needs two classes, and at least one other row")
    return [
        left_out(NaiveBayes(scorer.events, smoothing, scorer.priors), block, counting._tie)
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
    """What each row is classified as by all the others: the same as learning as often as there are rows."""
    counting = Counting(settings, features=block.rows.width, classes=classes, groups=groups, priors=priors)
    block = counting.ready(block)
    counting.learn(block)
    return leave_one_out(counting, block)[0].predicted
