"""Bounds: what the theory of the perceptron says of one run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from markone.brief import Brief
from markone.reporting.grids import plain_number

MOST_POINTS = 500


@dataclass(frozen=True, slots=True, repr=False)
class Bounds(Brief):
    """The numbers in the mistake bound, of a perceptron that starts at 0 and takes steps of 1.

    After its k-th mistake, with R the length of the longest example and γ the margin of any plane that separates the
    examples,

        k²γ² ≤ |w|² ≤ kR²,    so that    k ≤ R²/γ².

    A bias is the weight of a feature that is always 1, and is counted as one: in R, in |w|, and in margins. Of three
    classes and more, w has the weights of all classes, and each example is as many as it has wrong classes: the right
    class's weights should score higher than those of each other. An example x that is to move both is √2 |x| long.
    """

    mistakes: int
    """k, of all passes together."""
    radius2: float
    """R²."""
    norm2: float
    """|w|² after the last mistake, added up from the margins of the mistakes."""
    least: float | None
    """The smallest |w|/k after any mistake: no plane has a greater margin. None before the first mistake."""
    bias: bool
    """Whether there is one."""
    given: float | None = None
    """The margin of some plane that was known beforehand."""
    found: float | None = None
    """The margin of the last weights or of the averaged ones, where they separate the examples."""
    stride: int = 1
    """Every so many mistakes there is a point."""
    points: tuple[tuple[int, float], ...] = ()
    """k and |w|² after it, the last one always; of a long run some, evenly spread."""

    def in_brief(self) -> str:
        allowed = "no bound is known" if self.bound is None else f"the theory allows {whole(self.bound)}"
        return f"{self.mistakes:,} mistakes; {allowed}"

    @property
    def refuted(self) -> bool:
        """Whether no plane can have the margin that was given."""
        return self.given is not None and self.least is not None and self.given > self.least * (1 + ROUNDING)

    @property
    def margin(self) -> float | None:
        """The largest margin that some plane is known to have."""
        known = [self.found, None if self.refuted else self.given]
        return max((margin for margin in known if margin is not None), default=None)

    @property
    def bound(self) -> float | None:
        """R²/γ², by this margin: no order of the examples leads to more mistakes."""
        return None if self.margin is None else square(math.sqrt(self.radius2) / self.margin)

    @property
    def least_bound(self) -> float | None:
        """R²/γ² can be no smaller, whatever γ is: it is what the largest margin gives that there may be."""
        return None if not self.least else square(math.sqrt(self.radius2) / self.least)

    @property
    def plane(self) -> str:
        """Of which planes it speaks."""
        return "plane" if self.bias else "plane through the origin"

    def sentences(self) -> Iterator[str]:
        """What follows, in words."""
        if not self.mistakes:
            yield "Made no mistakes."
            return
        made = f"Made {self.mistakes:,} mistake{'' if self.mistakes == 1 else 's'}"
        if self.bound is None or self.margin is None:
            yield f"{made}. The weights do not separate the examples, so that no bound is known."
        else:
            of = "of the weights" if self.margin == self.found else "that was given"
            yield (
                f"{made}; the theory allows at most {whole(self.bound)}: R²/γ², with R = "
                f"{plain_number(math.sqrt(self.radius2))} and the margin γ = {plain_number(self.margin)} {of}."
            )
        if self.refuted and self.given is not None:
            yield f"No {self.plane} has the margin that was given, {plain_number(self.given)}."
        if self.least is not None and self.least_bound is not None:
            doubt = "" if self.bound is not None else ", if they can be separated at all"
            yield (
                f"No {self.plane} has a margin above {plain_number(self.least)}, the smallest |w|/k of the run: R²/γ² "
                f"is {whole(self.least_bound)} at least{doubt}."
            )
        if self.bias:
            yield "The bias counts as a weight here, of a feature that is always 1."

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {**asdict(self), "margin": self.margin, "bound": self.bound, "least_bound": self.least_bound}


ROUNDING = 1e-6
"""What rounding may have added to |w|² or taken from it, as a share of kR²."""


def square(number: float) -> float:
    """Infinite where it is beyond all numbers, which `**` takes for a mistake."""
    return number * number


def whole(bound: float) -> str:
    """Without its fraction, but for what rounding has taken from a whole number.

    >>> whole(40.7), whole(25.999999999999996), whole(3.2e12)
    ('40', '26', '3.2e+12')
    """
    return f"{math.floor(bound * (1 + 1e-12)):,}" if bound < 1e9 else f"{bound:.3g}"
