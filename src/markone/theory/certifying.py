"""Certifying: decides, with a proof, whether a plane can separate the classes, and with which margin.

First, a quick search looks for equal rows of different classes. Then numeric solvers look for the point nearest to 0 in
the convex hull of all z (see `points`). They propose a plane, or a few z that may sum to 0, and exact arithmetic
decides."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.checks import check_named, number, switch
from markone.errors import SettingsError
from markone.extras import need
from markone.features.spec import Features
from markone.reporting.meter import requested_meter, usual_meter
from markone.theory.bracket import LIGHTER_BIAS, Bracket, Clock, Passes, embedded, find_bound_plane, take_steps
from markone.theory.certificate import Certificate
from markone.theory.claims import Plane, Proof
from markone.theory.exact import decide, prove
from markone.theory.points import Corner, Points, open_points
from markone.theory.quick_proofs import contested, find_opposites
from markone.theory.soft_margin import columns_of, soften
from markone.theory.verification import hull_bound, least_margin, mistakes_allowed, radius_of

__all__ = ["certify"]

USUAL_TOL = 0.01
FEW_DIMENSIONS = 3000
"""Up to this number of dimensions the nearest point is found in steps; with more, passes approach it."""
PROOFS = ((12, 60), (50, 200), (200, 400), (800, 400))
"""Pairs of a number of passes and a number of rows. After this number of passes without a plane, a proof is searched
for among the rows with the largest multipliers."""
PART_OF_PROOF = 0.2
"""The share of the remaining time for such a search."""

Tell = Callable[[str], None]


def certify(
    source: Any,
    target: Any = None,
    *,
    features: Any = None,
    bias: bool = True,
    scaled: bool = False,
    tol: float = USUAL_TOL,
    seconds: float = 60.0,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Tell | bool | None = None,
) -> Certificate:
    """Decide whether a plane separates the classes. The result is such a plane, with bounds of the best margin, or a
    proof that there is none.

    Two classes can be separated if there are weights w and a bias b such that y(w·x + b) > 0 for all examples. More
    classes can be separated if each example's own class can score above all others. The margin of a plane is the
    smallest y(w·x + b)/‖w‖. `bracket` contains bounds of the best achievable margin: a plane shows the lower bound, and
    a point of the convex hull shows the upper bound. The proof that no plane separates is a weighted sum of a few
    examples that is exactly zero. `verify` checks all claims on the examples.

    Parameters
    ----------
    source
        An array or a SciPy matrix, whose columns are the features; or a source, a frame or a file, as for `train`.
    target
        The labels, or the name of the column of labels.
    features
        The specification of the features, as for `train`.
    bias
        Whether the plane may lie anywhere, or must go through the origin.
    scaled
        Scale numeric columns as `train` does. By default, numbers are used as they are, unless `features` says how to
        scale them.
    tol
        The tolerance of the bracket: the lower bound may be smaller than the upper bound by this share.
    seconds
        The limit of processor time for the search, without reading. The result is the bracket that was reached then.
    threads
        The number of threads that make features. The default is the number of cores. The result is always the same.
    memory
        The memory limit for the rows, for example "2 GB". The default is half of the machine's memory.
    progress
        By default, the current step is shown on a terminal or in a notebook if the work takes more than two seconds.
        True shows it at once, or prints lines elsewhere. False shows nothing. A function is called with a
        sentence for each step.

    Examples
    --------
    >>> import markone
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> found = markone.certify(X, y)
    >>> found.separable, round(found.margin, 6)
    (True, 0.353553)
    >>> exclusive = markone.certify(X, [0, 1, 1, 0])
    >>> exclusive.separable, exclusive.proof.rows, exclusive.proof.weights
    (False, (0, 1, 2, 3), (1, 1, 1, 1))
    >>> bool(exclusive.verify(X, [0, 1, 1, 0]))
    True
    """
    need("scipy")
    check_positive("tol", tol)
    check_positive("seconds", seconds)
    check_named("scaled", switch, scaled)
    with telling(progress) as tell:
        tell("reading")
        points = open_points(source, target, features, bias=bias, scaled=scaled, threads=threads, memory=memory)
        spec = None if features is None and not scaled else Features.of(features, scaled=scaled)
        return Certifying(points, Clock(seconds), tol, tell).certificate(spec)


def certify_points(points: Points, *, seconds: float, tol: float = USUAL_TOL) -> Certificate:
    """The certificate for these points."""
    return Certifying(points, Clock(seconds), tol, lambda _: None).certificate(None)


def check_positive(name: str, value: Any) -> None:
    check_named(name, number(above=0), value)


@contextmanager
def telling(progress: Tell | bool | None) -> Iterator[Tell]:
    """A function that reports progress: a line that is updated where a person watches, and if progress was requested,
    separate lines elsewhere."""
    if callable(progress):
        yield progress
        return
    if progress not in (None, True, False):
        raise SettingsError("progress", f"must be True, False or a function that takes a sentence: {progress!r}")
    meter = None if progress is False else usual_meter() if progress is None else requested_meter()
    if meter is None:
        yield (lambda what: print(what, file=sys.stderr)) if progress else (lambda what: None)
        return
    try:
        yield meter.update
    finally:
        meter.close()


class Certifying:
    """The search for a certificate."""

    def __init__(self, points: Points, clock: Clock, tol: float, tell: Tell) -> None:
        self.points, self.clock, self.tol, self.tell = points, clock, tol, tell
        self.bracket = Bracket(points)
        self.exact_plane: Plane | None = None
        """A plane that exact arithmetic found and floats did not."""
        self.measured: tuple[Plane, float] | None = None
        """The plane that was measured last, and its margin."""

    def certificate(self, spec: Any) -> Certificate:
        self.tell("searching for equal rows of different classes")
        proof = find_opposites(self.points) or self.search()
        facts: dict[str, Any] = {
            "classes": self.points.classes,
            "bias": self.points.bias,
            "rows": len(self.points),
            "features": self.points.features,
            "radius": radius_of(self.points),
            "numbers": self.points.numbers,
            "spec": spec,
        }
        if proof is not None:
            self.tell("searching for a plane with few rows on the wrong side")
            removal, hinge = soften(self.points, self.clock)
            proof = replace(proof, labels=tuple(self.points.truth[list(proof.rows)].tolist()))
            facts |= {"bracket": (0.0, 0.0), "proof": proof, "removal": removal, "hinge": hinge}
            return Certificate(separable=False, seconds=self.clock.spent, **facts)
        return self.separated(facts)

    def separated(self, facts: dict[str, Any]) -> Certificate:
        """The certificate with the best plane that was found. If there is none, time ran out."""
        planes = [plane for plane in (self.bracket.plane, self.exact_plane) if plane is not None]
        margins = [self.margin_of(plane) for plane in planes]
        lower, upper, support = max(margins, default=0.0), math.inf, self.bracket.support
        if support is not None:
            upper = hull_bound(self.points, support)
        separable = lower > 0 or self.exact_plane is not None or None
        facts |= {"separable": separable, "bracket": (lower, upper), "support": support, "remarks": []}
        if separable:
            plane = planes[int(np.argmax(margins))] if lower > 0 else self.exact_plane
            assert plane is not None
            bounds = [(mistakes_allowed(self.points, one), one) for one in [plane, *self.bracket.bound_planes]]
            bound, bound_plane = min(bounds, key=lambda pair: pair[0])
            facts |= {
                "plane": plane,
                "mistake_bound": bound,
                "bound_plane": None if bound_plane is plane else bound_plane,
            }
        if separable and lower == 0:
            facts["remarks"].append("the margin is smaller than any positive float, so it is shown as 0")
        if not separable or (self.bracket.gap > self.tol and self.clock.left == 0):
            facts["remarks"].append("time ran out before the bracket was narrow enough; allow more seconds")
        elif upper * (1 - self.tol) > lower > 0:
            facts["remarks"].append(
                "the values differ so much in size that the bracket is too wide; scale the features"
            )
        return Certificate(seconds=self.clock.spent, **facts)

    # ---- the search

    def search(self) -> Proof | None:
        """A proof that nothing separates, or None. In the second case, the bracket contains the result."""
        dimensions = columns_of(self.points) * (self.points.features + self.points.bias)
        return self.few(self.points) if dimensions <= FEW_DIMENSIONS else self.many()

    def few(self, points: Points) -> Proof | None:
        """With few dimensions: steps to the nearest point."""
        self.tell(f"stepping towards the nearest point of {len(points):,} rows")
        bracket = self.bracket
        _, corners = take_steps(bracket, self.clock)
        if self.separates():
            if bracket.gap > self.tol and points.bias:
                take_steps(bracket, self.clock, light=LIGHTER_BIAS, start=corners)
            self.narrow()
            if points.bias:
                find_bound_plane(bracket, self.clock, corners)
            return None
        self.tell("proving that nothing separates")
        z = [(row, rival) for row, rival, _ in corners]
        if proof := prove_by_pairs(points, z, self.clock) or prove(points, z, self.clock.left):
            return proof
        _, corners = take_steps(bracket, self.clock, stretch=True)
        if self.separates():
            self.narrow()
            return None
        z = [(row, rival) for row, rival, _ in corners]
        if proof := prove(points, z, self.clock.left):
            return proof
        decided = decide(points, z, self.clock.left)
        if isinstance(decided, Plane):
            self.exact_plane = decided
        return decided if isinstance(decided, Proof) else None

    def narrow(self) -> None:
        """Searches again with each feature scaled by itself, if rounding kept the bracket wide: features may differ in
        size."""
        if self.bracket.gap > self.tol:
            take_steps(self.bracket, self.clock, light=LIGHTER_BIAS, stretch=True)

    def many(self) -> Proof | None:
        """With many dimensions: passes and, as long as they find no plane, from time to time a search for a proof."""
        passes = Passes(self.bracket)
        for until, most in PROOFS:
            passes.run(self.clock, self.tol, self.tell, until)
            if self.clock.left == 0 or self.separates():
                break
            if proof := self.proof_among(passes.heaviest(most)):
                return proof
        passes.run(self.clock, self.tol, self.tell)
        return None

    def proof_among(self, rows: NDArray[np.int64]) -> Proof | None:
        """A proof among these rows, after the signs of their values have ruled out many of them."""
        self.tell("searching for a proof that nothing separates")
        rows = rows[contested(self.points.some(rows).narrowed()).any(axis=1)]
        points = self.points.some(rows).narrowed()
        if len(np.unique(points.truth)) < 2:
            return None
        clock = self.clock.part(PART_OF_PROOF)
        found, corners = take_steps(Bracket(embedded(points)), clock)
        proof = prove(points, [(row, rival) for row, rival, _ in corners], clock.left) if found == "nothing" else None
        return None if proof is None else proof.of_rows(rows)

    def separates(self) -> bool:
        """Whether the plane that was found separates, in exact arithmetic."""
        plane = self.bracket.plane
        return plane is not None and self.bracket.lower > 0 and self.margin_of(plane) > 0

    def margin_of(self, plane: Plane) -> float:
        if self.measured is None or self.measured[0] is not plane:
            self.measured = plane, least_margin(self.points, plane)
        return self.measured[1]


def prove_by_pairs(points: Points, corners: list[Corner], clock: Clock) -> Proof | None:
    """With several classes, a proof that two of them cannot be separated from each other, which has fewer points."""
    if len(points.classes) == 2:
        return None
    met = sorted({(min(pair), max(pair)) for row, rival in corners for pair in [(int(points.truth[row]), rival)]})
    for first, second in met:
        pair, rows = points.pair(first, second)
        found, z = take_steps(Bracket(pair), clock)
        if found == "nothing" and (proof := prove(pair, [(row, rival) for row, rival, _ in z], clock.left)):
            return proof.of_pair(rows, first, second)
    return None
