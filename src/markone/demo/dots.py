"""Thirteen dots around a parabola, on which a line, a parabola and joined dots are compared by validation.

By leave-one-out, joining the dots is worst. By the test-set method with the default seed, whose test set has four dots,
the line is worst. The parabola is best by both, and by 3-fold cross-validation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DOTS = (
    (8.6, 2.8),
    (7.1, 4.7),
    (0.8, 2.5),
    (2.1, 5.1),
    (9.1, 2.8),
    (8.0, 3.4),
    (5.5, 4.1),
    (1.9, 1.7),
    (5.7, 4.1),
    (1.8, 4.1),
    (6.4, 3.9),
    (4.5, 5.4),
    (4.4, 3.7),
)
"""Pairs of x and y: y is 2 + 1.1 x - 0.11 x² with normal errors of standard deviation 0.8, rounded."""


def dots() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the dots as a matrix with the single column x, and the targets y.

    >>> X, y = dots()
    >>> X.shape, y.shape
    ((13, 1), (13,))
    """
    table = np.array(DOTS)
    return table[:, :1], table[:, 1]
