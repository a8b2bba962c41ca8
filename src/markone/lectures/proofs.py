"""The proof of convergence in numbers: what it says about each mistake of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markone.lectures.planes import Example, best_separator, length, made_points, product, run_of, weights_in
from markone.reporting.grids import plain_number

HARD = made_points(8, 19, lambda x1, x2: x2 - 0.8 * x1, gap=0.3, low=0.5)
"""Points on which the perceptron makes many mistakes, because both classes lie in the same direction."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The numbers in the proof of convergence, after each mistake."""

    w: list[tuple[float, ...]]
    best: tuple[float, ...]
    """w*, with length 1."""
    gamma: float
    R: float

    @property
    def counts(self) -> list[int]:
        """k, from 1 on."""
        return list(range(1, len(self.w) + 1))

    @property
    def aligned(self) -> list[float]:
        """w·w*"""
        return [product(w, self.best) for w in self.w]

    @property
    def squares(self) -> list[float]:
        """|w|²"""
        return [product(w, w) for w in self.w]

    @property
    def angles(self) -> list[float]:
        """The angle between w and w*, in degrees."""
        cosines = (product(w, self.best) / length(w) for w in self.w)
        return [math.degrees(math.acos(min(1.0, cosine))) for cosine in cosines]

    @property
    def bound(self) -> float:
        """R²/γ²"""
        return (self.R / self.gamma) ** 2

    @property
    def some(self) -> list[int]:
        """Some of the mistakes, for a table: the first ones, and some up to the last."""
        last = len(self.w)
        return sorted({k for k in (1, 2, 3, 4, 5, last // 4, last // 2, 3 * last // 4, last) if k > 0})


def proof_of(examples: Sequence[Example]) -> Proof:
    """Run the perceptron without a bias, and find the best separator."""
    best, _, gamma = best_separator(examples)
    return Proof(weights_in(run_of(examples)), best, gamma, max(length(x) for x, _ in examples))


def facts(proof: Proof) -> str:
    """Return a line with R, γ and the bound."""
    return (
        f"R = {plain_number(proof.R)}, γ = {plain_number(proof.gamma)}: at most R²/γ² = {math.floor(proof.bound):,} "
        f"mistakes. The run made {len(proof.w)}."
    )
