"""Folds: rows of features to learn from, and rows to be tested, which had no part in making them."""

from __future__ import annotations

from dataclasses import dataclass
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
from markone.learning.samples import Sample
from markone.model.model import as_array


@dataclass(frozen=True)
class FoldRows:
    """Rows of features to learn from and to be tested."""

    features: FeatureMap
    classes: list[Label]
    learned: Matrix
    truth: NDArray[Any]
    importance: NDArray[np.float64] | None
    tested: Matrix
    tested_truth: NDArray[Any]

    @cached_property
    def block(self) -> Block:
        """What is learned from."""
        return Block(as_rows(self.learned), self.learned, self.truth.astype(np.int32), self.importance)

    @cached_property
    def tested_block(self) -> Block:
        """What is tested, each row counting the same."""
        return Block(as_rows(self.tested), self.tested, self.tested_truth.astype(np.int32))

    @cached_property
    def names(self) -> NDArray[Any]:
        """The classes as scikit-learn can have them: their labels, or their numbers where labels are of many types."""
        labels = as_array(self.classes)
        return np.arange(len(labels)) if labels.dtype == object else labels


def divided(sample: Sample, split: Split, spec: Features) -> FoldRows:
    """The rows of a division, with features that were learned only from the rows to learn from."""
    features = FeatureMap(spec, sample.held.columns)
    learned, importance = sample.fitted(features, split.learned)
    return FoldRows(
        features=features,
        classes=sample.classes,
        learned=learned,
        truth=sample.truth[split.learned],
        importance=importance,
        tested=sample.transformed(features, split.tested),
        tested_truth=sample.truth[split.tested],
    )
