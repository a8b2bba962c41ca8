"""Claims: the content of a certificate, with the planes, proofs and rows that show it. Data only."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data.source import Label
from markone.reporting.shown import Shown


@dataclass(frozen=True, repr=False)
class Plane(Brief):
    """Weights and bias. Two classes have one column of weights, and more classes have a column for each class."""

    weights: NDArray[Any]
    """Features × columns. Two classes have one column, which is that of the second class. The numbers are 64-bit
    floats, or exact fractions (an array of `Fraction`) if only fractions can separate the classes."""
    bias: NDArray[Any]
    """One number for each column; zeros without a bias."""

    @property
    def is_exact(self) -> bool:
        """Whether it is made of fractions."""
        return self.weights.dtype == object

    def as_dict(self) -> dict[str, Any]:
        return {"weights": numbers_of(self.weights), "bias": numbers_of(self.bias)}


@dataclass(frozen=True, repr=False)
class Support(Brief):
    """A point of the convex hull of all z: some z and their shares. Its length is an upper bound of the margin."""

    rows: NDArray[np.int64]
    rivals: NDArray[np.int64]
    """The number of a wrong class for each row; with two classes, the other one."""
    shares: NDArray[np.float64]
    """The shares, which are not negative. They are divided by their sum, so the sum can be any number."""

    def as_dict(self) -> dict[str, Any]:
        return {"rows": self.rows.tolist(), "rivals": self.rivals.tolist(), "shares": self.shares.tolist()}


@dataclass(frozen=True, repr=False)
class Proof(Brief):
    """A proof that no plane separates: examples whose z, with these weights, sum to zero.

    For every plane, the products with the z have a weighted mean of zero, so not all of them can be positive.
    """

    rows: tuple[int, ...]
    """The numbers of the rows, counted from 0. Printed numbers are counted from 1."""
    rivals: tuple[int, ...]
    """The number of a wrong class for each row; with two classes, the other one."""
    weights: tuple[int, ...]
    """Positive whole numbers without a common factor. They may be large."""
    labels: tuple[int, ...] = ()
    """The number of each row's own class, if known."""

    @property
    def hinge_bound(self) -> float:
        """A lower bound of the total hinge of all planes: with these weights, the mean hinge is always at least 1."""
        totals: Counter[int] = Counter()
        for row, weight in zip(self.rows, self.weights, strict=True):
            totals[row] += weight
        return math.nextafter(sum(self.weights) / max(totals.values()), 0.0)

    def of_rows(self, rows: NDArray[np.int64]) -> Proof:
        """The same proof for points in which the rows have these numbers."""
        return Proof(tuple(int(rows[row]) for row in self.rows), self.rivals, self.weights)

    def of_pair(self, rows: NDArray[np.int64], first: int, second: int) -> Proof:
        """A proof for two classes as a proof for all classes. `rows` are the numbers of the pair's rows among all."""
        return Proof(self.of_rows(rows).rows, tuple((first, second)[rival] for rival in self.rivals), self.weights)

    def as_dict(self) -> dict[str, Any]:
        whole = [str(one) for one in self.weights]
        return {"rows": list(self.rows), "labels": list(self.labels), "rivals": list(self.rivals), "weights": whole}


@dataclass(frozen=True, repr=False)
class Removal(Brief):
    """Rows without which a plane can separate the others, and this plane. Fewer rows might be enough."""

    rows: NDArray[np.int64]
    plane: Plane

    def as_dict(self) -> dict[str, Any]:
        return {"rows": self.rows.tolist(), "plane": self.plane.as_dict()}


@dataclass(frozen=True, repr=False)
class Hinge(Brief):
    """The smallest total hinge loss that was found, and its plane."""

    total: float
    """Σ max(0, 1 - y(w·x + b)); with more than two classes, Σ max(0, 1 - the margin over the best wrong class)."""
    plane: Plane

    def as_dict(self) -> dict[str, Any]:
        return {"total": self.total, "plane": self.plane.as_dict()}


@dataclass(frozen=True, repr=False)
class Claims(Shown):
    """All claims about some points, and what shows them."""

    separable: bool | None
    """None if time ran out before it was decided."""
    classes: list[Label]
    bias: bool
    rows: int
    features: int
    """Without the bias."""
    radius: float
    """R: the length of the longest row; with more than two classes √2 times that, for difference vectors."""
    bracket: tuple[float, float]
    """A lower and an upper bound of the best achievable margin; both are 0 if nothing separates."""
    plane: Plane | None = None
    """A plane with the lower bound as its margin."""
    support: Support | None = None
    """A point of the convex hull which shows the upper bound."""
    mistake_bound: float | None = None
    """An upper bound of the mistakes of a perceptron that starts from zero, with any order of the examples."""
    bound_plane: Plane | None = None
    """The plane that shows the mistake bound, if it is not `plane`."""
    proof: Proof | None = None
    """The proof that nothing separates."""
    removal: Removal | None = None
    hinge: Hinge | None = None
    seconds: float = 0.0
    """The time of the search."""
    remarks: list[str] = field(default_factory=list)
    """Sentences about the limits of the result."""
    numbers: str | None = None
    """What happened to numeric columns, in words, if there are any."""
    spec: Any = None
    """The specification of the features, as for `train`; None for the columns of an array, and for the usual features
    of other data with numbers as they are."""

    @property
    def plane_in_words(self) -> str:
        """The kind of planes that the claims are about."""
        return "plane" if self.bias else "plane through the origin"


def numbers_of(array: NDArray[Any]) -> Any:
    """The numbers as JSON values. Fractions become strings."""
    return array.astype(str).tolist() if array.dtype == object else array.tolist()
