"""Logistic regression to its optimum: the objective, its gradient, batch gradient ascent, and Newton's method.

The weights of each class are a vector. Two classes are the case in which the first one's vector is held at zero.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import pairwise

from markone.reference.vectors import BIAS, Number, Vector, dot, softmax

Examples = Sequence[tuple[Vector, int, Number]]
"""Pairs of features and class, each with its importance."""
Weights = dict[int, dict[Hashable, float]]


def probabilities(w: Weights, x: Vector, classes: int) -> list[float]:
    """P(k | x, w) for each class k. A bias is a feature that is always 1."""
    return softmax([dot(w.get(k, {}), {**x, BIAS: 1}) for k in range(classes)])


def mean_scores(w: Weights, examples: Examples) -> dict[int, float]:
    """The mean score of each class, weighted by importance."""
    total = sum(h for _, _, h in examples)
    return {k: sum(h * dot(vector, {**x, BIAS: 1}) for x, _, h in examples) / total for k, vector in w.items()}


def logistic_objective(
    w: Weights,
    examples: Examples,
    classes: int,
    strength: float = 0.0,
    penalty: str = "l2",
    balance: float = 0.0,
) -> float:
    """The mean of -ln P(y | x, w), weighted by importance, plus the penalty of all weights except the bias, plus the
    penalty of mean scores."""
    total = sum(h for _, _, h in examples)
    loss = sum(-h * math.log(probabilities(w, x, classes)[y]) for x, y, h in examples) / total
    weights = [value for vector in w.values() for feature, value in vector.items() if feature != BIAS]
    cost = strength * sum(abs(value) if penalty == "l1" else value * value / 2 for value in weights)
    return float(loss + cost + balance * sum(mean**2 / 2 for mean in mean_scores(w, examples).values()))


def logistic_gradient(
    w: Weights, examples: Examples, classes: int, strength: float = 0.0, balance: float = 0.0
) -> Weights:
    """The gradient of the objective with the penalty l2, for the weights in w."""
    total = sum(h for _, _, h in examples)
    slope = {k: dict.fromkeys(vector, 0.0) for k, vector in w.items()}
    means = mean_scores(w, examples)
    for x, y, h in examples:
        p = probabilities(w, x, classes)
        for k, vector in slope.items():
            for feature, value in {**x, BIAS: 1}.items():
                if feature in vector:
                    vector[feature] -= h / total * ((k == y) - p[k] - balance * means[k]) * value
    for k, vector in w.items():
        for feature, value in vector.items():
            slope[k][feature] += 0.0 if feature == BIAS else strength * value
    return slope


def roughness(weights: Sequence[Sequence[float]]) -> float:
    """Return half the sum of squared differences of neighbours in a grid: what the penalty of a pair measures."""
    steps = [b - a for row in weights for a, b in pairwise(row)]
    steps += [b - a for upper, lower in pairwise(weights) for a, b in zip(upper, lower, strict=True)]
    return sum(step**2 for step in steps) / 2


def bending(weights: Sequence[float]) -> float:
    """Return half the sum of squared second differences of a chain: what the penalty of a curve measures."""
    return sum((a - 2 * b + c) ** 2 for a, b, c in zip(weights, weights[1:], weights[2:], strict=False)) / 2


def start_at_zero(examples: Examples, classes: int, bias: bool = True) -> Weights:
    """A zero weight for every feature and every class with its own weight vector."""
    features = sorted({feature for x, _, _ in examples for feature in x}, key=str) + ([BIAS] if bias else [])
    return {k: dict.fromkeys(features, 0.0) for k in ([1] if classes == 2 else range(classes))}


def ascend(
    examples: Examples,
    classes: int,
    eta: float,
    steps: int,
    strength: float = 0.0,
    bias: bool = True,
    balance: float = 0.0,
    gradient: str = "sum",
) -> Weights:
    """Batch gradient ascent: w += eta Σ h [y − P(y | x, w)] x, minus eta Σ h times the gradient of the penalties.

    With the gradient "mean", the step is divided by Σ h.
    """
    w = start_at_zero(examples, classes, bias)
    rows = sum(h for _, _, h in examples) if gradient == "sum" else 1
    for _ in range(steps):
        slope = logistic_gradient(w, examples, classes, strength, balance)
        for k, vector in w.items():
            for feature in vector:
                vector[feature] -= eta * rows * slope[k][feature]
    return w


def newton(
    examples: Examples, classes: int, strength: float, steps: int = 20, bias: bool = True, balance: float = 0.0
) -> Weights:
    """Newton's method with the penalty l2: w -= (Hessian)⁻¹ gradient. Steps are halved until the objective falls."""
    w = start_at_zero(examples, classes, bias)
    total = sum(h for _, _, h in examples)
    names = [(k, feature) for k, vector in w.items() for feature in vector]
    middle = {f: sum(h * {**x, BIAS: 1}.get(f, 0) for x, _, h in examples) / total for _, f in names}
    for _ in range(steps):
        hessian = [[strength * (a == b and a[1] != BIAS) for b in names] for a in names]
        for i, (k, feature) in enumerate(names):
            for j, (other, by) in enumerate(names):
                hessian[i][j] += balance * (k == other) * middle[feature] * middle[by]
        for x, _, h in examples:
            p, full = probabilities(w, x, classes), {**x, BIAS: 1}
            for i, (k, feature) in enumerate(names):
                for j, (other, by) in enumerate(names):
                    bend = p[k] * ((k == other) - p[other])
                    hessian[i][j] += h / total * bend * full.get(feature, 0) * full.get(by, 0)
        for i in range(len(names)):
            hessian[i][i] += 1e-12  # adding a number to all classes changes nothing, so the matrix may be singular
        slope = logistic_gradient(w, examples, classes, strength, balance)
        direction = solve(hessian, [slope[k][feature] for k, feature in names])
        before, far = logistic_objective(w, examples, classes, strength, balance=balance), 1.0
        while far > 1e-10:
            there: Weights = {k: dict(vector) for k, vector in w.items()}
            for (k, feature), step in zip(names, direction, strict=True):
                there[k][feature] -= far * step
            if logistic_objective(there, examples, classes, strength, balance=balance) <= before:
                w = there
                break
            far /= 2
    return w


def solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Gaussian elimination with the largest pivot of each column."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for i in range(size):
        best = max(range(i, size), key=lambda j: abs(rows[j][i]))
        rows[i], rows[best] = rows[best], rows[i]
        for j in range(i + 1, size):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    found = [0.0] * size
    for i in reversed(range(size)):
        known = sum(rows[i][j] * found[j] for j in range(i + 1, size))
        found[i] = (rows[i][size] - known) / rows[i][i]
    return found
