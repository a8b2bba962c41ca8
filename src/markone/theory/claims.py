"""Claims: what a certificate says about some points, with the planes, proofs and rows that show it. Data only."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data.source import Label


@dataclass(frozen=True, repr=False)
class Plane(Brief):
    """Weights with a bias: a plane for two classes, a column of weights for each of several."""

    weights: NDArray[Any]
    """Features × columns, where two classes have one column, of the second. Floats of 64 bits; exact fractions (an
    array of `Fraction`) where no floats separate what can be separated."""
    bias: NDArray[Any]
    """One for each column; zeros without a bias."""

    @property
    def is_exact(self) -> bool:
        """Whether it is made of fractions."""
        return self.weights.dtype == object

    def as_dict(self) -> dict[str, Any]:
        return {"weights": numbers_of(self.weights), "bias": numbers_of(self.bias)}


@dataclass(frozen=True, repr=False)
class Support(Brief):
    """A point of the hull of all z, whose length bounds the margin from above: some z, and its shares of them."""

    rows: NDArray[np.int64]
    rivals: NDArray[np.int64]
    """The number of a wrong class for each row; of two classes, the other one."""
    shares: NDArray[np.float64]
    """Not negative. What they sum to does not matter: it is divided by."""

    def as_dict(self) -> dict[str, Any]:
        return {"rows": self.rows.tolist(), "rivals": self.rivals.tolist(), "shares": self.shares.tolist()}


@dataclass(frozen=True, repr=False)
class Proof(Brief):
    """That no plane separates: examples whose z, taken with these weights, sum to zero.

    By any plane, the products with the z have a weighted mean of zero, so that not all of them are positive.
    """

    rows: tuple[int, ...]
    """By their numbers, from 0; what is printed counts from 1."""
    rivals: tuple[int, ...]
    """The number of a wrong class for each row; of two classes, the other one."""
    weights: tuple[int, ...]
    """Positive whole numbers, which may be large, without a common factor."""
    labels: tuple[int, ...] = ()
    """The number of each row's own class; where it is known, for those who read the proof."""

    @property
    def hinge_bound(self) -> float:
        """No plane's total hinge is below it: by any plane, the hinges' mean with these weights is at least 1."""
        totals: Counter[int] = Counter()
        for row, weight in zip(self.rows, self.weights, strict=True):
            totals[row] += weight
        return math.nextafter(sum(self.weights) / max(totals.values()), 0.0)

    def of_rows(self, rows: NDArray[np.int64]) -> Proof:
        """The same proof where its rows have these numbers."""
        return Proof(tuple(int(rows[row]) for row in self.rows), self.rivals, self.weights)

    def of_pair(self, rows: NDArray[np.int64], first: int, second: int) -> Proof:
        """A proof for two classes as one for all of several: `rows` are the numbers there of the pair's rows."""
        return Proof(self.of_rows(rows).rows, tuple((first, second)[rival] for rival in self.rivals), self.weights)

    def as_dict(self) -> dict[str, Any]:
        whole = [str(one) for one in self.weights]
        return {"rows": list(self.rows), "labels": list(self.labels), "rivals": list(self.rivals), "weights": whole}


@dataclass(frozen=True, repr=False)
class Removal(Brief):
    """Rows without which the others can be separated, by a plane that does it. Fewer might do."""

    rows: NDArray[np.int64]
    plane: Plane

    def as_dict(self) -> dict[str, Any]:
        return {"rows": self.rows.tolist(), "plane": self.plane.as_dict()}


@dataclass(frozen=True, repr=False)
class Hinge(Brief):
    """The smallest total hinge that was found, and the plane that has it."""

    total: float
    """Σ max(0, 1 - y(w·x + b)); of several classes, Σ max(0, 1 - the margin over the best wrong one)."""
    plane: Plane

    def as_dict(self) -> dict[str, Any]:
        return {"total": self.total, "plane": self.plane.as_dict()}


@dataclass(frozen=True, repr=False)
class Claims(Brief):
    """All that is claimed about some points, and what shows it."""

    separable: bool | None
    """None where time ran out before it was decided."""
    classes: list[Label]
    bias: bool
    rows: int
    features: int
    """Without the bias."""
    radius: float
    """R: the length of the longest row; of several classes, of the longest difference vector, √2 times that."""
    bracket: tuple[float, float]
    """The best achievable margin is not below the first, nor above the second; 0 and 0 where there is none."""
    plane: Plane | None = None
    """One that has the first margin of the bracket."""
    support: Support | None = None
    """A point of the hull which shows that no plane has a margin above the second of the bracket."""
    mistake_bound: float | None = None
    """A perceptron that starts from zero makes no more mistakes, in whatever order it meets the examples."""
    bound_plane: Plane | None = None
    """The plane that the bound is of, where it is another one."""
    proof: Proof | None = None
    """That it is not separable."""
    removal: Removal | None = None
    hinge: Hinge | None = None
    seconds: float = 0.0
    """How long it took."""
    remarks: list[str] = field(default_factory=list)
    """What one should know about it, in sentences."""
    spec: Any = None
    """The features that were asked for, as for `train`; None for an array's own."""


def numbers_of(array: NDArray[Any]) -> Any:
    """As JSON has them: fractions as texts."""
    return array.astype(str).tolist() if array.dtype == object else array.tolist()
