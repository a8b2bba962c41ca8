"""Weights of classes, which multiply the importance of their rows: a rare class can count as much as a frequent one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.class_order import listed
from markone.data.labels import KnownLabels
from markone.data.source import Label
from markone.data.store import TrainingRows
from markone.errors import SettingsError, did_you_mean

Floats = NDArray[np.float64]


def weigh(store: TrainingRows, class_weight: Any, classes: list[Label]) -> None:
    """Multiply the importance of the rows of a finished store by the weights of their classes."""
    if class_weight is None:
        return
    learned = ~store.held_out
    importance = np.ones(len(store)) if store.importance is None else store.importance
    weights = weights_of(class_weight, classes, store.labels[learned], importance[learned])
    store.set_importance(importance * weights[store.labels])


def weighted(class_weight: Any, classes: list[Label], labels: NDArray[Any], importance: Floats | None) -> Floats | None:
    """Return the importance of rows, multiplied by the weights of their classes."""
    if class_weight is None:
        return importance
    own = np.ones(len(labels)) if importance is None else importance
    products: Floats = own * weights_of(class_weight, classes, labels, own)[labels]
    return products


def weights_of(class_weight: Any, classes: list[Label], labels: NDArray[Any], importance: Floats) -> Floats:
    """Return the weight of each class; `labels` and `importance` are those of the training rows."""
    if isinstance(class_weight, str):
        return balanced(labels, importance, len(classes))
    weights = np.ones(len(classes))
    known = KnownLabels(classes)
    for label, weight in class_weight:
        number = known.number(label)
        if number is None:
            guess = did_you_mean(str(label), map(str, classes))
            raise SettingsError(
                "class_weight", f"names {label!r}, which is not among the classes {listed(classes)}.{guess}"
            )
        weights[number] = weight
    return weights


def weights_of_sets(
    class_weight: Any, names: list[Label], sets: NDArray[np.bool_], numbers: NDArray[Any], importance: Floats | None
) -> Floats:
    """Return the weights of each label, for the rows without it and with it, if rows can have several labels. `sets`
    says which labels each set contains, and `numbers` are the sets of the training rows."""
    if not isinstance(class_weight, str):
        own = weights_of(class_weight, names, numbers, np.ones(0))
        return np.column_stack([np.ones(len(names)), own])
    totals = np.bincount(numbers, importance, minlength=sets.shape[1]).astype(np.float64)
    inside = (sets * totals).sum(axis=1)
    of_both = np.column_stack([totals.sum() - inside, inside])
    weights: Floats = totals.sum() / (2 * np.where(of_both > 0, of_both, 1.0))
    return weights


def balanced(labels: NDArray[Any], importance: Floats | None, classes: int) -> Floats:
    """Return weights with which all classes have the same total importance, and all rows the same one as before.

    A class without importance has a finite weight, so that it keeps its importance of 0.
    """
    totals = np.bincount(labels, importance, minlength=classes).astype(np.float64)
    weights: Floats = totals.sum() / (classes * np.where(totals > 0, totals, 1.0))
    return weights
