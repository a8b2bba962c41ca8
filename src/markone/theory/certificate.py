"""The certificate: whether a plane can separate the classes, with which margin, and a proof."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from markone.model.bounds import square, whole
from markone.reporting.grids import FACT_WIDTH, Facts
from markone.reporting.shown import Content
from markone.theory.claims import Claims, Hinge, Plane, Proof, Removal, Support
from markone.theory.points import open_points
from markone.theory.verification import Verification, verify

__all__ = ["Certificate", "Hinge", "Plane", "Proof", "Removal", "Support", "Verification"]

ROWS_SHOWN = 8


@dataclass(frozen=True, repr=False)
class Certificate(Claims):
    """Whether a plane can separate the classes, and the proof. It is printed in a few lines."""

    def in_brief(self) -> str:
        answer = {True: "separable", False: "not separable", None: "undecided"}[self.separable]
        count = f"{len(self.classes)} classes" if len(self.classes) > 2 else "{!s} and {!s}".format(*self.classes)
        bias = "with a bias" if self.bias else "without a bias"
        return f"{answer}: {self.rows:,} rows of {self.features:,} features, {count}, {bias}"

    @property
    def margin(self) -> float | None:
        """The margin of the plane that was found, a lower bound of the best margin; None if nothing separates."""
        return self.bracket[0] if self.plane is not None and self.separable else None

    @property
    def radius2(self) -> float:
        """R² of the mistake bound, in which a bias counts as a feature that is always 1. It may be infinite."""
        return square(self.radius) + self.bias * (1 if len(self.classes) == 2 else 2)

    def verify(
        self, X: Any, y: Any = None, *, threads: int | None = None, memory: int | str | None = None
    ) -> Verification:
        """Check all claims of the certificate on the examples, in exact arithmetic if rounding might matter."""
        return verify(self, open_points(X, y, self.spec, bias=self.bias, threads=threads, memory=memory))

    def __str__(self) -> str:
        lines = (f"  {name:<{FACT_WIDTH}}{note}" for name, _, note in self._facts())
        return "\n".join([self.in_brief(), *lines, *self.remarks])

    def parts(self) -> Iterator[Content]:
        yield self.in_brief()
        yield Facts([*self._facts()])
        yield from self.remarks

    def _facts(self) -> Iterator[tuple[str, str, str]]:
        lower, upper = self.bracket
        plane = self.plane_in_words
        best = f"no {plane} has more than {number(upper)}" if math.isfinite(upper) else ""
        if self.separable:
            yield "margin", "", f"{number(lower)}{'; ' if best else ''}{best}"
        elif self.separable is None and best:
            yield "margin", "", best
        yield "radius", "", number(self.radius)
        if self.support is not None and self.separable:
            yield "support", "", f"{len(self.support.rows):,} examples"
        if self.mistake_bound is not None and math.isfinite(self.mistake_bound):
            yield "mistakes", "", f"a perceptron makes at most {whole(self.mistake_bound)}"
            if self.bias and math.isfinite(self.radius2):
                margin = math.sqrt(self.radius2 / self.mistake_bound)
                yield "", "", f"R²/γ², with the bias as a feature: R² = {number(self.radius2)}, γ = {number(margin)}"
        if self.proof is not None:
            size = len(self.proof.rows)
            which = f"{size} examples" if size > 1 else "1 example"
            yield "proof", "", f"{which} that no {plane} separates: row{'s' * (size > 1)} {listed(self.proof.rows)}"
        if self.removal is not None:
            rows = self.removal.rows.tolist()
            count = "1 row" if len(rows) == 1 else f"{len(rows):,} rows (fewer might be enough)"
            yield "removal", "", f"without {count} the others are separable: {listed(rows)}"
        if self.hinge is not None:
            bound = "" if self.proof is None else f", and none is below {number(self.proof.hinge_bound)}"
            yield "hinge", "", f"{number(self.hinge.total)} in total is the smallest that was found{bound}"
        if self.numbers is not None:
            yield "numbers", "", self.numbers

    def as_dict(self) -> dict[str, Any]:
        """The certificate as JSON values. The weights of a proof are strings, because they may be too large for JSON
        numbers."""
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
            "numbers": self.numbers,
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


def finite_or_none(value: float) -> float | None:
    """The value, or None if it is infinite, because JSON has no infinity."""
    return value if np.isfinite(value) else None


def number(value: float) -> str:
    """
    >>> number(0.2873410612773924)
    '0.287341'
    """
    return f"{value:,.6g}" if math.isfinite(value) else "larger than any float"


def listed(rows: Sequence[int]) -> str:
    """The numbers of rows for readers, counted from 1.

    >>> listed(range(12))
    '1, 2, 3, 4, 5, 6, 7, 8, ... 12'
    """
    shown = [str(row + 1) for row in rows]
    return ", ".join(shown if len(shown) <= ROWS_SHOWN + 1 else [*shown[:ROWS_SHOWN], f"... {shown[-1]}"])
