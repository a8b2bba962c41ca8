"""Contrasts: what learns otherwise than by weights, or not at all, so that one sees what weights are worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from markone.data.blocks import as_scipy
from markone.data.store import stored
from markone.experiments.contenders import Answer, ByEstimator
from markone.experiments.folds import FoldRows
from markone.features.spec import Features

MOST_COMPARED = 1e9
"""Values that 1-nearest-neighbour may have to compare: some seconds' work."""
MOST_SORTED, MOST_LOOKED_AT = 4e6, 2e8
"""Values that a tree may have to sort, and features that it may have to look at in all of its nodes: likewise."""
MOST_DENSE = 2e7


@dataclass(frozen=True)
class Contrast(ByEstimator):
    """One of scikit-learn's, which learns from some of the rows only, where all would take too long."""

    most_rows: Callable[[FoldRows], int] = lambda rows: len(rows.truth)

    def answer(self, rows: FoldRows, *, weigh: bool = False) -> Answer:
        all_rows, most = len(rows.truth), max(1, self.most_rows(rows))
        remark = None
        if most < all_rows:
            rows = some_of(rows, most)
            remark = f"{self.name} learned from {most:,} of {all_rows:,} rows in each fold: all would take too long."
        if not self.weighs:
            rows = replace(rows, importance=None)
        return replace(super().answer(as_dense(rows)), remark=remark)

    @property
    def weighs(self) -> bool:
        """Whether it can make something of examples that count more than others."""
        from sklearn.utils.validation import has_fit_parameter

        return bool(has_fit_parameter(self.estimator, "sample_weight"))


def as_dense(rows: FoldRows) -> FoldRows:
    """Few features, of which most values are 0, as scikit-learn is quicker with."""
    if len(rows.truth) * rows.features.width > MOST_DENSE:
        return rows
    learned, tested = (as_scipy(matrix) for matrix in (rows.learned, rows.tested))
    dense = [matrix if isinstance(matrix, np.ndarray) else matrix.toarray() for matrix in (learned, tested)]
    return replace(rows, learned=dense[0], tested=dense[1])


def some_of(rows: FoldRows, most: int) -> FoldRows:
    """With fewer rows to learn from, chosen at random."""
    some = np.sort(np.random.default_rng(0).permutation(len(rows.truth))[:most])
    return replace(
        rows,
        learned=rows.learned[some],
        truth=rows.truth[some],
        importance=None if rows.importance is None else rows.importance[some],
    )


def contrasts(spec: Features, seed: int) -> list[Contrast]:
    """The commonest class, 1-nearest-neighbour and a decision tree."""
    from sklearn.dummy import DummyClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    def to_compare(rows: FoldRows) -> int:
        return int(MOST_COMPARED / max(1, len(rows.tested_truth) * stored(rows.learned) / len(rows.truth)))

    def to_sort(rows: FoldRows) -> int:
        sorted_in_time = MOST_SORTED / max(1, stored(rows.learned) / len(rows.truth))
        return int(min(sorted_in_time, MOST_LOOKED_AT / rows.features.width))

    return [
        Contrast("majority class", DummyClassifier(strategy="prior"), spec),
        # These two are always quite sure, which is no probability.
        Contrast("1-nearest-neighbour", KNeighborsClassifier(1), spec, False, most_rows=to_compare),
        Contrast("decision tree", DecisionTreeClassifier(random_state=seed), spec, False, most_rows=to_sort),
    ]
