"""A choice: the predicted answer, the second-best answer, and the weights of each feature for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import NDArray

from markone.brief import Brief, of_fields
from markone.reporting.grids import Grid, signed_numbers

ROWS_SHOWN = 20
NOBODY = "-"


class Term(NamedTuple):
    """The weights of one feature for two answers."""

    feature: str
    chosen: float
    against: float

    def __repr__(self) -> str:
        return of_fields(self)

    @property
    def difference(self) -> float:
        return self.chosen - self.against


@dataclass(frozen=True, repr=False)
class Choice(Brief):
    """A predicted answer, the second-best answer, and the weights of each feature for both.

    The differences of the weights add up to the margin.
    """

    chosen: str
    against: str | None
    """None if no other answer was possible."""
    terms: list[Term]
    """Sorted by the size of their differences, the largest first."""
    top: int = field(default=ROWS_SHOWN, kw_only=True)
    """How many terms a table shows."""

    @property
    def margin(self) -> float:
        return sum(term.difference for term in self.terms)

    def as_dict(self) -> dict[str, Any]:
        return {
            "chosen": self.chosen,
            "against": self.against,
            "margin": self.margin,
            "terms": [{**term._asdict(), "difference": term.difference} for term in self.terms],
        }

    def grid(self) -> Grid:
        shown, rest = self.terms[: self.top], self.terms[self.top :]
        if rest:
            left = Term(f"{len(rest)} more", sum(one.chosen for one in rest), sum(one.against for one in rest))
            shown = [*shown, left]
        numbers = [[term.chosen, term.against, term.difference] for term in shown]
        columns = [signed_numbers(list(column)) for column in zip(*numbers, strict=True)]
        lines = [[term.feature, *cells] for term, *cells in zip(shown, *columns, strict=True)]
        return Grid([["feature", self.chosen, self.against or NOBODY, "difference"]], lines)


def choice(
    names: Sequence[str], weights: NDArray[Any], chosen: int, answers: Sequence[str], possible: Sequence[int]
) -> Choice:
    """Compare the chosen answer with the best other possible answer. `weights` has a row for each feature."""
    others = [answer for answer in possible if answer != chosen]
    if not others:
        return Choice(answers[chosen], None, [])
    sums = weights.sum(axis=0)
    other = max(others, key=lambda answer: sums[answer])
    terms = [
        Term(name, float(row[chosen]), float(row[other]))
        for name, row in zip(names, weights, strict=True)
        if row[chosen] != row[other]
    ]
    terms.sort(key=lambda term: -abs(term.difference))
    return Choice(answers[chosen], answers[other], terms)
