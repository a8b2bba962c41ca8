"""Margins of examples: how far their scores are on the right side of the decision boundary."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.model.evaluation import of_each_class


def functional_margins(scores: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return the score of the right class minus that of the best wrong class; for two classes, this is y·s.

    >>> functional_margins(np.array([[2.0], [0.5]]), np.array([1, 0])).tolist()
    [2.0, -0.5]
    """
    rows = np.arange(len(labels))
    wrong = of_each_class(scores.astype(np.float64))
    right = wrong[rows, labels]
    wrong[rows, labels] = -np.inf
    margins: NDArray[np.float64] = right - wrong.max(axis=1)
    return margins
