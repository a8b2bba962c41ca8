"""Contestants that near an optimum. Both sides stop where they are as near as asked, and not much nearer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.extmath import safe_sparse_dot

import markone
from benchmarks.contestants.estimators import accuracy, name_of
from benchmarks.datasets import Split
from benchmarks.timing import Contestant, Outcome, timed

TOLERANCES = [10 ** (-step / 2) for step in range(15)]
NEAR = 1e-7

Distance = Callable[[Any, Split], float]
"""How far a fitted estimator is from the optimum on the rows that it was fitted on."""


def reach(estimator: Any, distance: Distance, goal: float) -> Contestant[Split]:
    """Fits with the loosest `tol` at which the result is as near as the goal. Which one that is, is found untimed."""
    found: dict[int, float] = {}

    def turn(data: Split) -> Outcome:
        if id(data) not in found:
            found[id(data)] = loosest(estimator, distance, goal, data)
        model = clone(estimator).set_params(tol=found[id(data)])
        seconds, _ = timed(lambda: model.fit(data.train, data.train_labels))
        return Outcome(seconds, accuracy(model, data))

    return Contestant(f"{name_of(estimator)}, to {goal:g}", turn)


def loosest(estimator: Any, distance: Distance, goal: float, data: Split) -> float:
    for tol in TOLERANCES:
        model = clone(estimator).set_params(tol=tol).fit(data.train, data.train_labels)
        if distance(model, data) <= goal:
            return tol
    raise RuntimeError(f"{name_of(estimator)} does not come as near as {goal:g}")


# ---- distances


def above_the_least(objective: Callable[[Any, Split], float], best: Any) -> Distance:
    """By how large a share an objective is above the least, which `best` finds."""
    least: dict[int, float] = {}

    def distance(model: Any, data: Split) -> float:
        if id(data) not in least:
            least[id(data)] = objective(clone(best).fit(data.train, data.train_labels), data)
        return objective(model, data) / least[id(data)] - 1

    return distance


def svm_objective(C: float) -> Callable[[Any, Split], float]:
    """½|w|² + C Σ hinge, in which the bias is a weight like any other."""

    def objective(model: Any, data: Split) -> float:
        scores, numbers = scores_and_classes(model, data)
        rows = np.arange(len(numbers))
        if scores.shape[1] == 1:
            margins = np.where(numbers == 1, scores[:, 0], -scores[:, 0])
        else:
            right = scores[rows, numbers].copy()
            scores[rows, numbers] = -np.inf
            margins = right - scores.max(axis=1)
        norm2 = float((model.coef_**2).sum() + (model.intercept_**2).sum())
        return norm2 / 2 + C * float(np.maximum(0, 1 - margins).sum())

    return objective


def logistic_slope(C: float) -> Distance:
    """The largest slope of the mean loss + |w|² / (2 C rows)."""

    def distance(model: Any, data: Split) -> float:
        scores, numbers = scores_and_classes(model, data)
        if scores.shape[1] == 1:
            pulls = 1 / (1 + np.exp(-scores)) - numbers[:, None]
        else:
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            pulls = odds / odds.sum(axis=1, keepdims=True)
            pulls[np.arange(len(numbers)), numbers] -= 1
        rows = len(numbers)
        slopes = safe_sparse_dot(data.train.T, pulls) / rows + model.coef_.T / (C * rows)
        return float(max(abs(slopes).max(), abs(pulls.mean(axis=0)).max()))

    return distance


def scores_and_classes(model: Any, data: Split) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """In double, whatever the model counts in."""
    weights = np.asarray(model.coef_.T, np.float64)
    scores = np.asarray(safe_sparse_dot(data.train, weights) + np.asarray(model.intercept_, np.float64), np.float64)
    return scores, np.searchsorted(model.classes_, data.train_labels)


SVM_GAP = above_the_least(svm_objective(1.0), markone.LinearSVM(C=1.0, tol=NEAR, max_iter=10_000))
