"""Margins: how far scores put examples on the right side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.model.evaluation import of_each_class


def functional_margins(scores: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
    """The score of the right class less that of the best wrong one; of two classes, y·s.

    >>> functional_margins(np.array([[2.0], [0.5]]), np.array([1, 0])).tolist()
    [2.0, -0.5]
    """
    rows = np.arange(len(labels))
    wrong = of_each_class(scores.astype(np.float64))
    right = wrong[rows, labels]
    wrong[rows, labels] = -np.inf
    margins: NDArray[np.float64] = right - wrong.max(axis=1)
    return margins
