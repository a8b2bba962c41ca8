"""Weights of features that are known before anything is learned: how rare a word is, and for which class it speaks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core


def inverse_document_frequency(examples_with: NDArray[Any], examples: int) -> NDArray[np.float32]:
    """1 + ln((1 + examples) / (1 + examples with the feature)).

    >>> inverse_document_frequency(np.array([3, 0]), 3)
    array([1.       , 2.3862944], dtype=float32)
    """
    return (1 + _core.log((1 + examples) / (1 + examples_with.astype(np.float64)))).astype(np.float32)


def log_odds(counts: NDArray[Any], smoothing: float) -> NDArray[np.float32]:
    """How much each feature speaks for the class that it speaks for most, from its counts in each class.

    For a class that is naive Bayes' log odds ratio, ln P(feature|class) - ln P(feature|all others), with `smoothing`
    added to each count. Of two classes one has the ratio r and the other -r, so that the weight is |r|.

    >>> log_odds(np.array([[3, 1], [1, 3]]), 1)
    array([0.6931472, 0.6931472], dtype=float32)
    """
    total = counts.sum(axis=0, dtype=np.float64)
    best = np.zeros(counts.shape[1])
    for one in counts:
        inside, outside = one + smoothing, total - one + smoothing
        np.maximum(best, log_shares(inside) - log_shares(outside), out=best)
    return best.astype(np.float32)


def log_shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each count the logarithm of its share of all. By the core, so that every machine makes the same features."""
    return _core.log(counts / _core.sum(counts))
