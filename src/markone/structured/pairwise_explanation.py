"""Compares answers in pairs: which features decide between two answers, and by which margins right answers win."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from markone.model.explaining import Row
from markone.reporting.grids import Grid, label_in_words, plain_number, signed_numbers
from markone.reporting.shown import Content, Shown


@dataclass(frozen=True, slots=True, repr=False)
class Decision(Shown):
    """The features that decided between two answers. It is printed as a table that adds up to the difference."""

    answer: Any
    other: Any
    score: float
    """The score of the answer."""
    other_score: float
    rows: list[Row]
    """The features in which the two differ, with the difference of their values, the weight, and the product. Rows are
    sorted by the size of the product, the largest first."""
    top: int
    """How many rows are printed."""

    def in_brief(self) -> str:
        return f"{self.answer!r:.60} and not {self.other!r:.60}, by {plain_number(self.difference)}"

    @property
    def difference(self) -> float:
        """The score of the answer minus the score of the other one: the sum of the products."""
        return math.fsum(row.product for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """The explanation as JSON values. Answers are given as text."""
        return {
            "answer": str(self.answer),
            "other": str(self.other),
            "score": self.score,
            "other_score": self.other_score,
            "difference": self.difference,
            "rows": [row._asdict() for row in self.rows],
        }

    def parts(self) -> Iterator[Content]:
        first, second = label_in_words(str(self.answer)), label_in_words(str(self.other))
        yield f"{first} scores {plain_number(self.score)}, {second} {plain_number(self.other_score)}"
        yield f"Positive numbers support {first}, negative numbers support {second}."
        shown = self.rows if len(self.rows) <= self.top + 1 else self.rows[: self.top]
        rest = math.fsum(row.product for row in self.rows[len(shown) :])
        *products, others, total = signed_numbers([*(row.product for row in shown), rest, self.difference])
        cells = [
            [row.feature, plain_number(row.value), plain_number(row.weight or 0.0), product]
            for row, product in zip(shown, products, strict=True)
        ]
        left = len(self.rows) - len(shown)
        last = [["difference", "", "", total]]
        if left:
            last.insert(0, [f"and {left:,} more features", "", "", others])
        yield Grid([["feature", "value", "weight", "product"]], cells, last, spare=[1, 2])


@dataclass(frozen=True, repr=False)
class StructuredMargins(Shown):
    """The margins by which right answers win against the best other answers, and the mistake bound of the theory."""

    functional: Sequence[float]
    """For each example, the score of the right answer minus that of the best other one; infinite if there is none."""
    norm: float
    """|w|."""
    radius: float | None = None
    """R, the length of the longest difference between the features of a right and of another answer; None if not all
    answers are known."""
    mistakes: int | None = None
    """The number of mistakes in training; None if the bound does not apply to them."""

    def in_brief(self) -> str:
        return str(self).split("\n")[0]

    @property
    def separates(self) -> bool:
        """Whether every right answer wins against all others."""
        return all(margin > 0 for margin in self.functional)

    @property
    def smallest(self) -> float:
        """γ, the smallest margin divided by |w|."""
        return min(self.functional, default=math.inf) / self.norm if self.norm > 0 else 0.0

    @property
    def bound(self) -> float | None:
        """R²/γ², an upper bound of a perceptron's mistakes with any order of the examples (Collins 2002). None if the
        weights do not separate, if R is unknown, or if the bound is too large for a float."""
        if self.radius is None or not self.separates or not self.smallest > 0:
            return None
        ratio = self.radius / self.smallest
        return ratio * ratio if math.isfinite(ratio * ratio) else None

    def as_dict(self) -> dict[str, Any]:
        """The content as JSON values."""
        return {**asdict(self), "functional": list(self.functional), "smallest": self.smallest, "bound": self.bound}

    def parts(self) -> Iterator[Content]:
        wrong = sum(margin <= 0 for margin in self.functional)
        yield f"smallest margin {plain_number(self.smallest)}; {wrong:,} of {len(self.functional):,} not above 0"
        made = "" if self.mistakes is None else f"{self.mistakes:,} mistakes in training; "
        if self.bound is not None and self.radius is not None:
            allowed, radius = math.floor(self.bound), plain_number(self.radius)
            yield f"{made}the theory allows at most {allowed:,}: R²/γ², with R = {radius}"
        elif made:
            yield f"{made}no bound is known"
