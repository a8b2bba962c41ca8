"""Weights of words that are computed before training: inverse document frequency and log odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core


def inverse_document_frequency(examples_with: NDArray[Any], examples: int) -> NDArray[np.float32]:
    """Return 1 + ln((1 + examples) / (1 + examples with the feature)).

    >>> inverse_document_frequency(np.array([3, 0]), 3)
    array([1.       , 2.3862944], dtype=float32)
    """
    return (1 + _core.log((1 + examples) / (1 + examples_with.astype(np.float64)))).astype(np.float32)


def log_odds(counts: NDArray[Any], smoothing: float) -> NDArray[np.float32]:
    """The largest log odds ratio of each feature over all classes, from its counts in each class.

    For one class it is the log odds ratio of naive Bayes, ln P(feature|class) - ln P(feature|all others), with
    `smoothing` added to each count. If there are two classes, their ratios are r and -r, so the weight is |r|.

    >>> log_odds(np.array([[3, 1], [1, 3]]), 1)
    array([0.6931472, 0.6931472], dtype=float32)
    """
    if len(counts) == 2:
        inside, outside = counts + smoothing
        return np.abs(log_shares(inside) - log_shares(outside)).astype(np.float32)
    total = counts.sum(axis=0, dtype=np.float64)
    best = np.zeros(counts.shape[1])
    for one in counts:
        inside, outside = one + smoothing, total - one + smoothing
        np.maximum(best, log_shares(inside) - log_shares(outside), out=best)
    return best.astype(np.float32)


def shrunk(odds: NDArray[np.float32], counts: NDArray[Any], shrinkage: float) -> NDArray[np.float32]:
    """The odds, multiplied by n / (n + shrinkage), where n is the count of the feature in all classes.

    A feature that occurs once seems to belong to the class of its only example, most of all if the class is rare.

    >>> shrunk(np.float32([2, 2]), np.array([[1, 3], [0, 0]]), 1)
    array([1. , 1.5], dtype=float32)
    """
    if shrinkage == 0:
        return odds
    times = counts.sum(axis=0, dtype=np.float64)
    return np.asarray(odds * (times / (times + shrinkage)), np.float32)


def log_shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of each count's share of all. The core computes it, so that it is the same on every machine."""
    return _core.log(counts / _core.sum(counts))
