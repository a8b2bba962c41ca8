"""The perceptron's mistake bound, computed for one training run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.reporting.grids import plain_number
from markone.reporting.shown import Content, Shown

MOST_POINTS = 500


@dataclass(frozen=True, slots=True, repr=False)
class Bounds(Shown):
    """The numbers in the mistake bound, for a perceptron that starts at 0 and takes steps of 1.

    Let R be the length of the longest example, and γ the margin of any plane that separates the examples. Then after
    the k-th mistake

        k²γ² ≤ |w|² ≤ kR²,    so that    k ≤ R²/γ².

    A bias is the weight of a feature that is always 1, and it counts as such in R, in |w| and in margins. With three
    or more classes, w contains the weights of all classes, and an example counts once for each wrong class: the right
    class must score higher than that class. Such an example changes two weight vectors, so its length is √2 |x|.
    """

    mistakes: int
    """k, the number of mistakes in all passes."""
    radius2: float
    """R²."""
    norm2: float
    """|w|² after the last mistake, computed from the margins of the mistakes."""
    least: float | None
    """A value of |w|/k after some mistake, the smallest that is certain: no plane has a larger margin. It is 0 if all
    weights were 0 after a mistake, so that no plane separates. None if no value is certain, because of rounding."""
    bias: bool
    """Whether the perceptron has a bias."""
    given: float | None = None
    """The margin of a plane that was known before training."""
    found: float | None = None
    """The margin of the last or the averaged weights, if they separate the examples."""
    stride: int = 1
    """The number of mistakes between two points."""
    points: tuple[tuple[int, float], ...] = ()
    """Pairs of k and |w|². A long run has only some of them, evenly spaced, and always the last one."""

    def in_brief(self) -> str:
        allowed = "no bound is known" if self.bound is None else f"the theory allows {whole(self.bound)}"
        return f"{self.mistakes:,} mistakes; {allowed}"

    @property
    def refuted(self) -> bool:
        """Whether the run proves that no plane has the given margin."""
        return self.given is not None and self.least is not None and self.given > self.least * (1 + ROUNDING)

    @property
    def margin(self) -> float | None:
        """The largest margin that some plane is known to have."""
        known = [self.found, None if self.refuted else self.given]
        return max((margin for margin in known if margin is not None), default=None)

    @property
    def bound(self) -> float | None:
        """R²/γ² for this margin. No order of the examples leads to more mistakes."""
        return None if self.margin is None else square(math.sqrt(self.radius2) / self.margin)

    @property
    def least_bound(self) -> float | None:
        """R²/γ² for the largest margin that is possible. The true bound cannot be smaller."""
        return None if not self.least else square(math.sqrt(self.radius2) / self.least)

    @property
    def plane(self) -> str:
        """The kind of planes that the bound is about."""
        return "plane" if self.bias else "plane through the origin"

    def sentences(self) -> Iterator[str]:
        """Return the conclusions, one sentence after the other."""
        if not self.mistakes:
            yield "Made no mistakes."
            return
        made = f"Made {self.mistakes:,} mistake{'' if self.mistakes == 1 else 's'}"
        if self.least == 0:
            yield (
                f"{made}. All weights were 0 after one of them. Since k²γ² ≤ |w|², no {self.plane} separates the "
                "examples, and there is no bound."
            )
        elif self.bound is None or self.margin is None:
            yield f"{made}. The weights do not separate the examples, so no bound is known."
        else:
            of = "of the weights" if self.margin == self.found else "that was given"
            yield (
                f"{made}; the theory allows at most {whole(self.bound)}: R²/γ², with R = "
                f"{plain_number(math.sqrt(self.radius2))} and the margin γ = {plain_number(self.margin)} {of}."
            )
        if self.refuted and self.given is not None:
            yield f"No {self.plane} has the margin that was given, {plain_number(self.given)}."
        if self.least is not None and self.least_bound is not None:
            doubt = "" if self.bound is not None else ", if the examples can be separated at all"
            yield (
                f"No {self.plane} has a margin above {plain_number(self.least)}, because |w|/k fell to this during the "
                f"run: R²/γ² is at least {whole(self.least_bound)}{doubt}."
            )
        if self.bias:
            yield "The bias counts here as the weight of a feature that is always 1."

    def parts(self) -> Iterator[Content]:
        return self.sentences()

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers for JSON."""
        return {**asdict(self), "margin": self.margin, "bound": self.bound, "least_bound": self.least_bound}


ROUNDING = 1e-6
"""The largest rounding error of |w|², as a share of kR²."""


CLEAR = 100
"""A squared length must exceed its possible rounding error by this factor, to be shown."""


def least_ratio(ks: NDArray[np.int64], norms2: NDArray[np.float64], rooms: NDArray[np.float64]) -> float | None:
    """Return the smallest |w|/k, rounded up, if the rounding errors of each |w|² are at most `rooms`. Lengths that
    consist of rounding errors for a large part are left out. None if no other is there.

    >>> ks, norms2 = np.array([1, 2, 4]), np.array([2.0, 4.0, 0.0])
    >>> round(least_ratio(ks, norms2, 1e-9 * ks), 6), least_ratio(ks, norms2, 0.0 * ks)
    (1.0, 0.0)
    """
    certain = (norms2 > CLEAR * rooms) | ((norms2 == 0) & (rooms == 0))
    ratios = np.sqrt(norms2[certain] + rooms[certain]) / ks[certain]
    return float(ratios.min()) if len(ratios) else None


def square(number: float) -> float:
    """Return the square, which is infinite if it overflows. The operator `**` would raise an exception."""
    return number * number


def whole(bound: float) -> str:
    """Return the bound without its fraction. A number that rounding has put just below a whole number is rounded up.

    >>> whole(40.7), whole(25.999999999999996), whole(3.2e12)
    ('40', '26', '3.2e+12')
    """
    return f"{math.floor(bound * (1 + 1e-12)):,}" if bound < 1e9 else f"{bound:.3g}"
