"""Cross-fitting: the scores of all rows, each by a model that was trained without the row.

If few rows are held out, the probabilities of a model are learned from these scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Block, as_rows
from markone.data.source import UNLABELLED, Label, Source
from markone.data.store import TrainingRows
from markone.data.subsets import Held
from markone.features.map import FeatureMap
from markone.features.spec import Features
from markone.learning.class_weights import weighted
from markone.learning.learners import new_learner
from markone.learning.naive_bayes import Counting
from markone.learning.passes import teach
from markone.learning.samples import Sample
from markone.learning.several_labels import Sets
from markone.model.calibrator import FEWEST_ROWS
from markone.model.settings import Settings
from markone.parallel import in_order

FEW_ROWS = 1000
FOLDS, FOLDS_OF_FEW = 3, 5
"""The number of folds, and that for few rows. More folds take longer, and the probabilities become hardly better."""
MOST_ROWS, MOST_VALUES = 20_000, 2**20
"""The largest numbers of rows, and of values in all rows, for which training is repeated, so that it takes little
time. Of more rows, enough are held out."""


class Scored(NamedTuple):
    """Rows with the scores of models that were not trained on them."""

    scores: NDArray[Any]
    truth: NDArray[np.int64]
    importance: NDArray[np.float64] | None

    @classmethod
    def of(cls, block: Block, scores: NDArray[Any]) -> Scored:
        return cls(scores, block.labels.astype(np.int64), block.importance)

    @classmethod
    def joined(cls, parts: Sequence[Scored]) -> Scored:
        """Return the rows of several parts together."""
        importance = [part.importance for part in parts if part.importance is not None]
        return cls(
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.truth for part in parts]),
            np.concatenate(importance) if importance else None,
        )

    def of_label(self, sets: Sets, label: int, weights: NDArray[np.float64] | None = None) -> Scored:
        """Return the scores and classes of one label, if the truth is the number of a row's set of labels. `weights`
        are those of each label, for the rows without it and with it."""
        truth, importance = sets[label][self.truth].astype(np.int64), self.importance
        if weights is not None:
            importance = weights[label][truth] * (1.0 if importance is None else importance)
        return Scored(self.scores[:, label, None], truth, importance)


def may_be_crossed(settings: Settings, store: TrainingRows, *, asked: bool = False) -> bool:
    """Return whether training is repeated for cross-fitting: if it takes little time, or if there are so few rows that
    none are held out. Networks, and tables with curves, would take too long, and their rules have probabilities; but
    if the user has `asked` for something that needs the scores, these are crossed, too."""
    few = FEWEST_ROWS <= len(store) <= MOST_ROWS
    quick = store.values <= MOST_VALUES or len(store) < FEW_ROWS
    return few and (asked or (quick and settings.traits.family not in ("network", "optimum")))


def number_of_folds(store: TrainingRows) -> int:
    """Return the number of folds: more of them if there are few rows, and training takes little time."""
    return FOLDS_OF_FEW if len(store) < FEW_ROWS and store.values <= MOST_VALUES else FOLDS


def cross_fitted(
    source: Source,
    spec: Features,
    settings: Settings,
    classes: list[Label],
    folds: int,
    threads: int,
    sets: Sets | None = None,
) -> Scored:
    """Train a model for each fold on the other folds, with features of their own, and return all scores. If rows can
    have several labels, the truth is the number of a row's set of labels."""
    held = Held(source)
    sample = Sample.of(held, classes if sets is None else held.labels, 1)
    fold = folds_of(sample.truth, folds, settings.seed)
    settings = replace(settings, holdout=0.0, patience=None)
    class_weight = settings.class_weight if sets is None else None  # several labels are weighted by their learner

    def of_fold(number: int) -> NDArray[Any]:
        learned, tested = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        features = FeatureMap(spec, sample.held.columns)
        matrix, given = sample.fitted(features, learned)
        labels = sample.truth[learned].astype(np.int32)
        block = Block(as_rows(matrix), matrix, labels, weighted(class_weight, classes, labels, given))
        learner = new_learner(settings, features, classes, [block], sets=sets)
        teach(learner, block)
        return learner.scores(as_rows(sample.transformed(features, tested)))

    order = np.argsort(fold, kind="stable")
    found = np.concatenate(list(in_order(of_fold, range(fold.max() + 1), threads)))
    scores = np.empty_like(found)
    scores[order] = found
    importance = sample.importance(np.arange(len(sample)))
    weights = weighted(class_weight, classes, sample.truth, importance)
    assert weights is not None  # they are given
    return Scored(scores, sample.truth, None if (weights == 1).all() else weights)


def scored_left_out(block: Block, counting: Counting) -> Scored:
    """Return the labelled rows of a block that was counted, with their scores without their own counts."""
    own = counting.ready(block.take(np.flatnonzero(block.labels != UNLABELLED)))
    return Scored.of(own, counting.scorer().scores_left_out(own))


def folds_of(truth: NDArray[Any], folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row. Each class is spread evenly over the folds."""
    mixed = np.random.default_rng([seed, 2]).permutation(len(truth))
    order = mixed[np.argsort(truth[mixed], kind="stable")]
    fold = np.empty(len(truth), np.int64)
    fold[order] = np.arange(len(truth)) % folds
    return fold
