"""Folds: training rows and test rows, with features that are made from the training rows only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Block, as_rows
from markone.data.source import Label
from markone.experiments.splits import Split
from markone.features.map import FeatureMap
from markone.features.part import Matrix
from markone.features.spec import Features
from markone.learning.class_weights import weighted
from markone.learning.samples import Sample
from markone.learning.several_labels import Sets
from markone.model.model import as_array


@dataclass(frozen=True)
class FoldRows:
    """The training rows and the test rows of a fold, as features."""

    features: FeatureMap
    classes: list[Label]
    learned: Matrix
    truth: NDArray[Any]
    importance: NDArray[np.float64] | None
    tested: Matrix
    tested_truth: NDArray[Any]
    sets: Sets | None = None
    """Which labels each set of labels contains, if a row can have several; the truth is then the number of a set."""

    @cached_property
    def block(self) -> Block:
        """The training rows. In a regression, the label of a row is its number in the block."""
        if not self.classes:
            return Block(
                as_rows(self.learned), self.learned, np.arange(len(self.truth), dtype=np.int32), self.importance
            )
        return Block(as_rows(self.learned), self.learned, self.truth.astype(np.int32), self.importance)

    @cached_property
    def tested_block(self) -> Block:
        """The test rows, which all have the same weight."""
        return Block(as_rows(self.tested), self.tested, self.tested_truth.astype(np.int32))

    @cached_property
    def names(self) -> NDArray[Any]:
        """The classes for scikit-learn: their labels, or their numbers if the labels have several types."""
        labels = as_array(self.classes)
        return np.arange(len(labels)) if labels.dtype == object else labels

    def numbers_of(self, names: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class numbers of labels from scikit-learn."""
        order = np.argsort(self.names)
        return np.asarray(order[np.searchsorted(self.names, names, sorter=order)], np.int64)

    def weighted(self, class_weight: Any) -> FoldRows:
        """Return the fold with the importance of its training rows multiplied by the weights of their classes. Several
        labels are weighted by their learner."""
        if class_weight is None or self.sets is not None:
            return self
        return replace(self, importance=weighted(class_weight, self.classes, self.truth, self.importance))

    def some(self, which: NDArray[np.int64]) -> FoldRows:
        """Return the fold with some of its training rows, in their order."""
        if len(which) == len(self.truth):
            return self
        which = np.sort(which)
        importance = None if self.importance is None else self.importance[which]
        return replace(self, learned=self.learned[which], truth=self.truth[which], importance=importance)


def divided(sample: Sample, split: Split, spec: Features) -> FoldRows:
    """Return the rows of a split, with features that are made from the training rows only."""
    return rows_of(sample, split.learned, split.tested, spec)


def rows_of(sample: Sample, learned: NDArray[np.int64], tested: NDArray[np.int64], spec: Features) -> FoldRows:
    """Return training rows and test rows, with features that are made from the training rows only."""
    features = FeatureMap(spec, sample.held.columns)
    matrix, importance = sample.fitted(features, learned)
    return FoldRows(
        features=features,
        classes=sample.classes,
        learned=matrix,
        truth=sample.truth[learned],
        importance=importance,
        tested=sample.transformed(features, tested),
        tested_truth=sample.truth[tested],
        sets=sample.sets,
    )
