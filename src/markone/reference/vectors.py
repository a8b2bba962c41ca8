"""Vectors: dictionaries from a feature's name to its value."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

Number = Any  # int, float or Fraction
Vector = Mapping[Hashable, Number]

BIAS = "BIAS"


def added(numbers: Iterable[Number]) -> Number:
    """The sum from left to right. The built-in `sum` adds floats in another way since Python 3.12."""
    total = 0
    for number in numbers:
        total += number
    return total


def dot(w: Vector, x: Vector) -> Number:
    """The activation: the sum of weight times value over all features."""
    return added(w.get(feature, 0) * value for feature, value in x.items())


def length2(x: Vector) -> Number:
    return added(value * value for value in x.values())


def cosine(a: Vector, b: Vector) -> float:
    """Cosine similarity: the dot product over the product of the lengths."""
    return float(dot(a, b) / math.sqrt(length2(a) * length2(b)))


def sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-z))


def softmax(scores: Sequence[float]) -> list[float]:
    odds = [math.exp(s - max(scores)) for s in scores]
    return [o / added(odds) for o in odds]


def cross_entropy(z: float, y: int) -> float:
    """The loss of the predicted probability σ(z) of class 1, if the right class y is 1 or 0."""
    return -math.log(sigmoid(z) if y == 1 else 1 - sigmoid(z))


def squared_error(scores: Sequence[float], y: int) -> float:
    """Half the squared error of the predicted probabilities, for the right class y.

    Two classes: ½(σ(z) − y)², where z is the only score, or the second score minus the first. More classes:
    ½ Σ (p_k − t_k)², where p is the softmax of the scores, and t_k is 1 for the right class and 0 for the others.
    """
    if len(scores) <= 2:
        return (sigmoid(scores[-1] - sum(scores[:-1])) - y) ** 2 / 2
    return sum((p - (k == y)) ** 2 for k, p in enumerate(softmax(scores))) / 2
