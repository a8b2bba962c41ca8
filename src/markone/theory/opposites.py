"""Opposites: what can be told of separability from signs and from equal rows, without any search for a plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from markone.theory.certificate import Proof
from markone.theory.points import Points


def find_opposites(points: Points) -> Proof | None:
    """A proof that lies open: a row of zeros without a bias, or two equal rows of different classes."""
    met: dict[bytes, int] = {}
    for row in range(len(points)):
        features, values = points.row(row)
        if not points.bias and not len(features):
            rival = 0 if points.truth[row] else 1
            return Proof((row,), (rival,), (1,))
        order = np.argsort(features)
        other = met.setdefault(features[order].tobytes() + values[order].tobytes(), row)
        if points.truth[other] != points.truth[row]:
            return Proof((other, row), (int(points.truth[row]), int(points.truth[other])), (1, 1))
    return None


def contested(points: Points) -> NDArray[np.bool_]:
    """Which z can have a part in a proof: rows × classes, true for the wrong classes that are left.

    A feature in whose products with the z only one sign is left keeps every z that has it out of any proof: nothing
    could make up for it. What goes out may leave further features with one sign. If nothing is left, the classes can be
    separated.
    """
    left = np.ones((len(points), len(points.classes)), bool)
    left[np.arange(len(points)), points.truth] = False
    return left
