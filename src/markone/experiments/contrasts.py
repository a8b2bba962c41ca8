"""Baselines from scikit-learn that do not use weights, for comparison with the rules."""

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
"""The largest number of values that 1-nearest-neighbour compares, which takes some seconds."""
MOST_SORTED, MOST_LOOKED_AT = 4e6, 2e8
"""The largest numbers of values that a tree sorts, and of features that it examines in all nodes."""
MOST_DENSE = 2e7


@dataclass(frozen=True)
class Contrast(ByEstimator):
    """An estimator of scikit-learn, which is trained on some of the rows if all would take too long."""

    most_rows: Callable[[FoldRows], int] = lambda rows: len(rows.truth)

    def answer(self, rows: FoldRows, *, weigh: bool = False) -> Answer:
        all_rows, most = len(rows.truth), max(1, self.most_rows(rows))
        remark = None
        if most < all_rows:
            rows = rows.some(np.random.default_rng(0).permutation(all_rows)[:most])
            about = f"about {float(f'{most:.2g}'):,.0f} of {all_rows:,} rows in each fold"
            remark = f"{self.name} was trained on {about}, since all would take too long."
        if not self.uses_importance:
            rows = replace(rows, importance=None)
        return replace(super().answer(as_dense(rows)), remark=remark)

    @property
    def uses_importance(self) -> bool:
        """Whether the estimator supports weights of examples."""
        from sklearn.utils.validation import has_fit_parameter

        return bool(has_fit_parameter(self.estimator, "sample_weight"))


def as_dense(rows: FoldRows) -> FoldRows:
    """Return sparse rows of few features as dense rows, with which scikit-learn is faster."""
    if len(rows.truth) * rows.features.width > MOST_DENSE:
        return rows
    learned, tested = (as_scipy(matrix) for matrix in (rows.learned, rows.tested))
    dense = [matrix if isinstance(matrix, np.ndarray) else matrix.toarray() for matrix in (learned, tested)]
    return replace(rows, learned=dense[0], tested=dense[1])


def contrasts(spec: Features, seed: int) -> list[Contrast]:
    """Return the most frequent class, 1-nearest-neighbour and a decision tree."""
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
        # These two only predict 0 or 1, which are not useful as probabilities.
        Contrast("1-nearest-neighbour", KNeighborsClassifier(1), spec, False, most_rows=to_compare),
        Contrast("decision tree", DecisionTreeClassifier(random_state=seed), spec, False, most_rows=to_sort),
    ]
