"""The certificate: whether classes can be separated by a plane, how widely, and a proof of either."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data.source import Label

__all__ = ["Certificate", "Hinge", "Plane", "Proof", "Removal", "Support", "Verification"]

ROWS_SHOWN = 8


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
class Verification(Brief):
    """Whether all that a certificate says holds; true where it does."""

    holds: bool
    reason: str
    """A sentence: what was checked or, where something does not hold, what."""

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, repr=False)
class Certificate(Brief):
    """Whether classes can be separated, and the proof. Printed, it says it in a few lines."""

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

    def in_brief(self) -> str:
        return next(self._lines())

    @property
    def margin(self) -> float | None:
        """The margin of the plane that was found: the best one is not below it. None where nothing separates."""
        return self.bracket[0] if self.plane is not None and self.separable else None

    def verify(
        self, X: Any, y: Any = None, *, threads: int | None = None, memory: int | str | None = None
    ) -> Verification:
        """Checks against the examples all that is claimed of them, in exact arithmetic where floats might mislead."""
        from markone.theory.points import open_points
        from markone.theory.verification import verify

        return verify(self, open_points(X, y, self.spec, bias=self.bias, threads=threads, memory=memory))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        answer = {True: "separable", False: "not separable", None: "undecided"}[self.separable]
        count = f"{len(self.classes)} classes" if len(self.classes) > 2 else "{!s} and {!s}".format(*self.classes)
        bias = "with a bias" if self.bias else "without a bias"
        yield f"{answer}: {self.rows:,} rows of {self.features:,} features, {count}, {bias}"
        lower, upper = self.bracket
        plane = "plane" if self.bias else "plane through the origin"
        best = f"no {plane} has more than {number(upper)}" if math.isfinite(upper) else ""
        if self.separable:
            yield f"  margin    {number(lower)}{'; ' if best else ''}{best}"
        elif self.separable is None and best:
            yield f"  margin    {best}"
        yield f"  radius    {number(self.radius)}"
        if self.support is not None and self.separable:
            yield f"  support   {len(self.support.rows):,} examples"
        if self.mistake_bound is not None and math.isfinite(self.mistake_bound):
            yield f"  mistakes  a perceptron makes at most {math.floor(self.mistake_bound):,}"
        if self.proof is not None:
            size = len(self.proof.rows)
            yield f"  proof     {size} examples that no {plane} separates: rows {listed(self.proof.rows)}"
        if self.removal is not None:
            rows = self.removal.rows.tolist()
            count = "1 row" if len(rows) == 1 else f"{len(rows):,} rows (fewer might do)"
            yield f"  removal   without {count} the others are separable: {listed(rows)}"
        if self.hinge is not None:
            bound = "" if self.proof is None else f", and none is below {number(self.proof.hinge_bound)}"
            yield f"  hinge     {number(self.hinge.total)} in total is the smallest that was found{bound}"
        yield from self.remarks

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it; the weights of a proof as texts, for they may be larger than JSON's numbers."""
        return {
            "separable": self.separable,
            "margin": self.margin,
            "bracket": [finite_or_none(end) for end in self.bracket],
            "radius": finite_or_none(self.radius),
            "mistake_bound": None if self.mistake_bound is None else finite_or_none(self.mistake_bound),
            "classes": self.classes,
            "bias": self.bias,
            "rows": self.rows,
            "features": self.features,
            **{
                name: None if one is None else one.as_dict()
                for name, one in (
                    ("plane", self.plane),
                    ("support", self.support),
                    ("bound_plane", self.bound_plane),
                    ("proof", self.proof),
                    ("removal", self.removal),
                    ("hinge", self.hinge),
                )
            },
            "seconds": self.seconds,
            "remarks": self.remarks,
        }


def numbers_of(array: NDArray[Any]) -> Any:
    """As JSON has them: fractions as texts."""
    return array.astype(str).tolist() if array.dtype == object else array.tolist()


def finite_or_none(value: float) -> float | None:
    """JSON has no infinity."""
    return value if np.isfinite(value) else None


def number(value: float) -> str:
    """
    >>> number(0.2873410612773924)
    '0.287341'
    """
    return f"{value:,.6g}" if math.isfinite(value) else "larger than any float"


def listed(rows: Sequence[int]) -> str:
    """Rows as people count them, from 1.

    >>> listed(range(12))
    '1, 2, 3, 4, 5, 6, 7, 8, ... 12'
    """
    shown = [str(row + 1) for row in rows]
    return ", ".join(shown if len(shown) <= ROWS_SHOWN + 1 else [*shown[:ROWS_SHOWN], f"... {shown[-1]}"])
