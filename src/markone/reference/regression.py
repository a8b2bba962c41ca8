"""Regression: losses, the objective, and least squares by its normal equations."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from markone.reference.vectors import BIAS, Number, Vector, dot

NumberExamples = Sequence[tuple[Vector, float, Number]]
"""Pairs of features and a number, each with its importance."""


def quantile_loss(s: float, y: float, q: float, h: float = 0.0) -> float:
    """The loss of a prediction s of the quantile q: q (y - s) above it, and (1 - q) (s - y) below it.

    With h, the corner is rounded: q (y - s) + h ln(1 + e^((s - y) / h)).
    """
    if not h:
        return max(q * (y - s), (1 - q) * (s - y))
    t = (s - y) / h
    return q * (y - s) + h * (max(t, 0.0) + math.log1p(math.exp(-abs(t))))


def regression_objective(
    w: Vector, examples: NumberExamples, strength: float = 0.0, q: float | None = None, h: float = 0.0
) -> float:
    """The mean loss, weighted by importance, plus strength · ½‖w‖² without the bias. Without q, the loss is half the
    squared error."""
    total = loss = 0.0
    for x, y, importance in examples:
        s = float(dot(w, {**x, BIAS: 1}))
        loss += float(importance) * ((s - y) ** 2 / 2 if q is None else quantile_loss(s, y, q, h))
        total += float(importance)
    return loss / total + strength / 2 * sum(float(value) ** 2 for name, value in w.items() if name != BIAS)


def least_squares(examples: NumberExamples, strength: float = 0.0) -> dict[Hashable, float]:
    """The weights with the smallest objective: the solution of (Σ h x x' / Σ h + strength) w = Σ h y x / Σ h, by
    Gaussian elimination."""
    names: list[Hashable] = [*dict.fromkeys(name for x, _, _ in examples for name in x), BIAS]
    total = float(sum(h for _, _, h in examples))
    rows = [[0.0] * (len(names) + 1) for _ in names]
    for x, y, h in examples:
        values = [float({**x, BIAS: 1}.get(name, 0)) for name in names]
        for i, a in enumerate(values):
            for k, b in enumerate([*values, y]):
                rows[i][k] += float(h) * a * b / total
    for i in range(len(names) - 1):  # all but the bias
        rows[i][i] += strength
    for i in range(len(rows)):
        best = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[best] = rows[best], rows[i]
        for r in range(len(rows)):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return {name: rows[i][-1] / rows[i][i] for i, name in enumerate(names)}
