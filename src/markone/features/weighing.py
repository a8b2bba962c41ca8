"""Weights of features that are known before anything is learned: how rare a word is, and for which class it speaks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def inverse_document_frequency(examples_with: NDArray[Any], examples: int) -> NDArray[np.float32]:
    """1 + ln((1 + examples) / (1 + examples with the feature)).

    >>> inverse_document_frequency(np.array([3, 0]), 3)
    array([1.       , 2.3862944], dtype=float32)
    """
    return (1 + np.log((1 + examples) / (1 + examples_with.astype(np.float64)))).astype(np.float32)


def log_odds(counts: NDArray[Any], smoothing: float) -> NDArray[np.float32]:
    """Naive Bayes' log odds ratio of each feature, from its counts in each class (classes × features).

    The odds are those of a class against all others, ln P(f|class) - ln P(f|others), with `smoothing` added to each
    count. With more than two classes, a feature has the largest of its ratios by absolute value.

    >>> log_odds(np.array([[3, 1], [1, 3]]), 1)
    array([-0.6931472,  0.6931472], dtype=float32)
    """
    smoothed = counts.astype(np.float64) + smoothing
    total = smoothed.sum(axis=0)
    best = np.zeros(counts.shape[1])
    for one in smoothed[1:] if len(smoothed) == 2 else smoothed:
        others = total - one
        ratio = np.log(one / one.sum()) - np.log(others / others.sum())
        best = np.where(np.abs(ratio) > np.abs(best), ratio, best)
    return best.astype(np.float32)
