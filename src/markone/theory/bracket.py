"""Brackets: a lower and an upper bound of the best margin. A plane shows the lower one, a point of the convex hull of
all z (see `points`) the upper one, because the best margin is the distance of that hull from 0.

Everything here is computed in floats and is only a proposal: `verification` computes what may be claimed about a plane
or a point, and `exact` decides whether a proof holds.

With few dimensions, the point of the hull nearest to 0 is found in finitely many steps (Wolfe's algorithm,
`learning.hard_margin`). With many, passes of the dual of the support vector machine approach it, and the gap between
the two bounds says how far away it still is.

The bias is the weight of a feature that is always 1. The margin is defined by the length of the weights without the
bias. So rows are scaled down: the shorter they are beside that 1, the less the bias adds to the length.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import as_rows
from markone.learning.hard_margin import Face, Found, come_nearest
from markone.learning.svm import seed_of_pass
from markone.theory.claims import Plane, Support
from markone.theory.points import Points

Array = NDArray[np.float64]

NEAREST = 1e-9
"""How near to the nearest point the steps must come, as a share of its distance from 0."""
NOTHING = 1e-14
"""A point of the hull that is shorter than this share of the longest z may be 0."""
LIGHT_BIAS, LIGHTER_BIAS = 16.0, 1024.0
"""The size of the feature that is always 1, relative to the length of a typical row, for `take_steps`."""
HEAVY_BIAS, LIGHTER = 0.25, 4.0
"""The same for passes, which are slow if all rows have much in common; and the factor by which it grows if the bracket
cannot be narrowed otherwise."""
LARGEST_POWER = 1000
"""The largest exponent of the powers of two by which rows are scaled."""
HUGE, TINY = 2.0**500, 2.0**-80
OTHER_SCALE = 1e6
"""If rows are longer or shorter than 1 by this factor, either they or the feature that is always 1 are lost in
rounding."""
MOST_CENTRED = 50_000_000
"""Dense rows with at most this number of values are centred, in 64-bit floats. Larger data are not changed."""
CHANGED = 200
"""After a pass, one in 200 examples is visited again: those that the pass has changed most."""
AGAIN = 100
"""The number of these extra visits. The few examples that are similar to those of another class need many steps."""
RARER = 1.4
"""The numbers of the passes after which bounds are computed grow by this factor."""
VALUES_AT_ONCE = 20_000_000
"""The number of values that are visited between two looks at the clock."""


class Clock:
    """The processor time that is left, which does not depend on what else the machine does."""

    def __init__(self, seconds: float) -> None:
        self._start = time.thread_time()
        self._end = self._start + seconds

    @property
    def spent(self) -> float:
        return time.thread_time() - self._start

    @property
    def left(self) -> float:
        return max(0.0, self._end - time.thread_time())

    def part(self, share: float) -> Clock:
        """A clock for a share of the time that is left."""
        return Clock(share * self.left)


@dataclass
class Bracket:
    """The best plane and the best point of the hull so far."""

    points: Points
    lower: float = -math.inf
    upper: float = math.inf
    plane: Plane | None = None
    support: Support | None = None
    bound_planes: list[Plane] = field(default_factory=list)
    """Planes that were found with the bias as part of their length, as the bound of the perceptron needs it."""

    @property
    def gap(self) -> float:
        """The difference between the two ends, as a share of the upper one."""
        return 1 - self.lower / self.upper if 0 < self.upper < math.inf else math.inf

    def see_plane(self, weights: Array, bias: Array) -> None:
        """Keep a plane if its margin is the largest so far. With two classes, its bias is moved so that both classes
        are equally far away."""
        norm = length_of(weights)
        if not 0 < norm < math.inf:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            weights, bias = weights / norm, bias / norm
            scores = np.asarray(self.points.matrix @ weights.astype(self.points.matrix.dtype)) + bias
        if not (np.isfinite(bias).all() and np.isfinite(scores).all()):
            return
        if len(bias) == 1:
            second = self.points.truth == 1
            low, high = float(scores[second].min()), float(scores[~second].max())
            if self.points.bias:
                bias = bias - (low + high) / 2
                margin = (low - high) / 2
            else:
                margin = min(low, -high)
        else:
            margin = float(margins_of(scores, self.points.truth).min())
        if margin > self.lower:
            self.lower, self.plane = margin, Plane(weights, bias)

    def see_support(self, rows: NDArray[np.int64], rivals: NDArray[np.int64], shares: Array) -> None:
        """Keep a point of the hull if it is the shortest so far. With two classes and a bias, each class gets half of
        the shares, so that the bias cancels out."""
        kept = shares > 0
        rows, rivals, shares = rows[kept], rivals[kept], shares[kept]
        if not len(rows):
            return
        points, two = self.points, len(self.points.classes) == 2
        second = points.truth[rows] == 1
        if two and points.bias:
            if second.all() or not second.any():
                return
            shares = np.where(second, shares / shares[second].sum(), shares / shares[~second].sum())
        shares = shares / shares.sum()
        pulls = np.zeros((len(rows), len(points.classes)))
        pulls[np.arange(len(rows)), points.truth[rows]] = shares
        pulls[np.arange(len(rows)), rivals] = -shares
        if two:
            pulls = pulls[:, 1:]
        length = length_of(np.asarray(points.matrix[rows].T @ pulls))
        sway = float(abs(pulls.sum(axis=0)).sum()) * math.sqrt(0.5) * longest(points) if points.bias and not two else 0
        self._take(length + sway, rows, rivals, shares)

    def _take(self, upper: float, rows: NDArray[np.int64], rivals: NDArray[np.int64], shares: Array) -> None:
        if upper < self.upper:
            order = np.lexsort((rivals, rows))
            rows, rivals = rows[order].astype(np.int64), rivals[order].astype(np.int64)
            self.upper, self.support = upper, Support(rows, rivals, shares[order])


def margins_of(scores: Array, truth: NDArray[np.int64]) -> Array:
    """How far the right class is above the best wrong one, for each row."""
    rows = np.arange(len(truth))
    others = scores.copy()
    others[rows, truth] = -np.inf
    margins: Array = scores[rows, truth] - others.max(axis=1)
    return margins


def length_of(array: Array) -> float:
    """‖w‖, without overflow."""
    largest = float(abs(array).max(initial=0))
    return largest * float(np.linalg.norm(array / largest)) if 0 < largest < math.inf else largest


def stored(points: Points) -> int:
    """How many values the rows have."""
    return int(points.matrix.nnz if points.is_sparse else points.matrix.size)


def longest(points: Points) -> float:
    """The length of the longest row, in floats."""
    unit, squares = squared_lengths(points)
    return unit * math.sqrt(float(squares.max()))


def typical(points: Points) -> float:
    """The root of the mean squared length of the rows."""
    unit, squares = squared_lengths(points)
    return unit * math.sqrt(float(squares.mean()))


def squared_lengths(points: Points) -> tuple[float, Array]:
    """The largest value, and the squared lengths of the rows divided by it, so that nothing overflows."""
    matrix = points.matrix
    unit = float(abs(matrix.data if points.is_sparse else matrix).max(initial=0)) or 1.0
    if points.is_sparse:
        squares = (matrix.data.astype(np.float64) / unit) ** 2
        return unit, np.add.reduceat(np.append(squares, 0), matrix.indptr[:-1]) * (np.diff(matrix.indptr) > 0)
    scaled = matrix / unit
    return unit, np.einsum("ij,ij->i", scaled, scaled, dtype=np.float64)


# ---- rows as the solvers see them


class SolverRows:
    """The rows of some points, moved and scaled for a solver. The solver's planes are translated back."""

    def __init__(self, points: Points, *, light: float, stretch: bool = False, move: bool = True) -> None:
        """`light`: the size of the feature that is always 1, relative to the length of a typical row; 0 means that rows
        are not scaled.

        `stretch`: scale each feature separately. This does not change what can be separated, but it changes the margin.
        """
        matrix, self.points = points.matrix, points
        self._centre: Array | None = None
        self._units = np.ones(1)
        if not points.is_sparse and move and matrix.size <= MOST_CENTRED and light:
            matrix = matrix.astype(np.float64)
            if points.bias:
                self._centre = middle(matrix)
                matrix = matrix - self._centre
        if stretch:
            self._units = powers_of_two(-np.frexp(sizes_of(matrix))[1].astype(np.float64))
            matrix = matrix.multiply(self._units[None]).tocsr() if points.is_sparse else matrix * self._units
        self.scale = 1.0
        if light:
            reach = typical(Points(matrix, points.truth, points.classes, points.bias)) * (light if points.bias else 1)
            self.scale = float(powers_of_two(-np.round(np.log2(reach)))) if 0 < reach < math.inf else 1.0
        if self.scale != 1:
            if not 1 / OTHER_SCALE < self.scale < OTHER_SCALE:
                matrix = matrix.astype(np.float64)  # a 32-bit float may overflow
            matrix = matrix * matrix.dtype.type(self.scale)
        self.matrix = matrix if points.is_sparse else np.ascontiguousarray(matrix)

    def solver(self, C: float = math.inf, rows: NDArray[np.int64] | None = None) -> _core.Dual:
        """A solver for all rows, or for some."""
        return _core.Dual(
            as_rows(self.matrix),
            self.points.truth.astype(np.int32),
            None,
            rows,
            features=self.points.features,
            classes=len(self.points.classes),
            C=C,
            squared=False,
            bias=self.points.bias,
        )

    def plane(self, found: Array) -> tuple[Array, Array]:
        """Weights and bias for the original points. The last row of the solver's weights is the bias."""
        # Only the direction matters, so the weights can be made smaller if they would overflow.
        if self._units.max() > HUGE / max(1.0, self.scale):
            found = found / (float(abs(found).max()) or 1.0) * TINY
        with np.errstate(over="ignore", invalid="ignore"):  # a plane that still overflows is ignored later
            weights = found[:-1] * self.scale * self._units[:, None]
            bias = found[-1]
            return weights, bias if self._centre is None else bias - self._centre @ weights


def powers_of_two(exponents: Any) -> Any:
    """2^exponent, limited to what floats can hold: for subnormal numbers a smaller power is large enough."""
    return np.exp2(np.clip(exponents, -LARGEST_POWER, LARGEST_POWER))


def middle(matrix: Array) -> Array:
    with np.errstate(over="ignore"):
        found = matrix.min(axis=0) / 2 + matrix.max(axis=0) / 2
    return np.where(np.isfinite(found), found, 0.0)


def sizes_of(matrix: Any) -> Array:
    """The largest absolute value of each feature."""
    sizes = abs(matrix).max(axis=0)
    return np.asarray(sizes.todense() if hasattr(sizes, "todense") else sizes, np.float64).ravel()


def embedded(points: Points) -> Points:
    """A few rows of many features as rows of few features that have the same products with each other, up to
    rounding."""
    if points.features <= len(points):
        return points
    products = points.matrix.astype(np.float64) @ points.matrix.T.astype(np.float64)
    values, vectors = np.linalg.eigh(products.toarray() if points.is_sparse else products)
    kept = values > np.finfo(float).eps * len(points) * values[-1]
    return Points(vectors[:, kept] * np.sqrt(values[kept]), points.truth, points.classes, points.bias)


# ---- few dimensions


def take_steps(
    bracket: Bracket,
    clock: Clock,
    *,
    light: float = LIGHT_BIAS,
    stretch: bool = False,
    start: Iterable[tuple[int, int, float]] = (),
    near: float = NEAREST,
) -> tuple[Found, list[tuple[int, int, float]]]:
    """Find the nearest point of the hull in steps. Returns how the search ended, and the z of the point with their
    shares."""
    rows = SolverRows(bracket.points, light=light, stretch=stretch)
    face = Face(rows.solver(), start)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # numbers may differ by the range of floats
        found = come_nearest(face, nothing=NOTHING, near=near, may_go_on=lambda: clock.left > 0)
    corners = [(row, rival, float(share)) for (row, rival), share in zip(face.corners, face.shares, strict=True)]
    if found != "nothing":
        bracket.see_plane(*rows.plane(face.normal()))
    examples, rivals = (np.array([corner[i] for corner in corners], np.int64) for i in range(2))
    bracket.see_support(examples, rivals, np.array([share for _, _, share in corners]))
    return found, corners


def find_bound_plane(bracket: Bracket, clock: Clock, start: Iterable[tuple[int, int, float]] = ()) -> None:
    """Search for the plane with the smallest bound of a perceptron's mistakes, in which the bias counts as a weight."""
    if not 1 / OTHER_SCALE < longest(bracket.points) < OTHER_SCALE:
        return
    face = Face(SolverRows(bracket.points, light=0).solver(), start)
    if come_nearest(face, nothing=NOTHING, near=NEAREST, may_go_on=lambda: clock.left > 0) != "nothing":
        bracket.bound_planes.append(Plane(face.normal()[:-1], face.normal()[-1]))


# ---- many dimensions


class Passes:
    """Approaches the nearest point in passes, until the bracket is narrow enough or time runs out. It can be
    continued."""

    def __init__(self, bracket: Bracket) -> None:
        self.bracket = bracket
        self.done = False
        """Whether further passes would change nothing."""
        self._light = HEAVY_BIAS
        self._rows = SolverRows(bracket.points, light=self._light)
        self._solver = self._rows.solver()
        values = stored(bracket.points) * self._solver.weights(best=False).shape[1]
        self._at_once = max(1, int(VALUES_AT_ONCE * len(self._solver) / (values + 1)))
        self._passes, self._look = 0, 1.0

    def run(self, clock: Clock, tol: float, tell: Callable[[str], None], until: int | None = None) -> None:
        """Make passes until there are `until` in total, or until nothing is left to do."""
        while clock.left > 0 and not self.done and (until is None or self._passes < until):
            moved = self._pass(clock)
            if self._solver.hopeless:
                self.done = True
                return
            if self._passes >= min(self._look, until or math.inf) or clock.left == 0 or not moved:
                self._look = max(self._passes + 1, self._passes * RARER)
                self._solver.measure()
                see(self.bracket, self._rows, self._solver)
                lower, upper = max(0.0, self.bracket.lower), self.bracket.upper
                tell(f"pass {self._passes}: the best margin is between {lower:.4g} and {upper:.4g}")
                self._see_whether_done(moved, tol)
        self.bracket.bound_planes = [Plane(*self._rows.plane(self._solver.weights(best=False)))]

    def _see_whether_done(self, moved: bool, tol: float) -> None:
        """Decide whether the passes are done. If the solver is near its optimum but the bracket is still too wide, the
        bias counts too much, and the rows are scaled again."""
        solver = self._solver
        near = not moved or (math.isfinite(solver.primal) and solver.primal - solver.bound <= tol * solver.primal)
        self.done = self.bracket.gap <= tol or (near and (not self.bracket.points.bias or self._light >= LIGHTER_BIAS))
        if near and not self.done:
            self._light *= LIGHTER
            scale, alpha = self._rows.scale, solver.alpha()
            self._rows = SolverRows(self.bracket.points, light=self._light)
            self._solver = self._rows.solver()
            self._solver.start_at(alpha * (scale / self._rows.scale) ** 2)

    def _pass(self, clock: Clock) -> bool:
        """Visit all examples that still change, and then several times those that have changed most. Returns whether
        there were any."""
        self._passes += 1
        solver, before = self._solver, self._solver.alpha()
        visits = solver.begin_pass(seed_of_pass(0, self._passes), 0)
        if visits == 0:
            solver.measure()
            visits = solver.begin_pass(seed_of_pass(0, self._passes), 0)
        self._visit(visits, clock)
        changes = abs(solver.alpha() - before).max(axis=1)
        few = min(len(changes), max(2, len(changes) // CHANGED))
        moved = np.argpartition(-changes, few - 1)[:few].astype(np.int64)
        for _ in range(AGAIN if self._passes > 2 else 0):
            solver.begin_visits(moved)
            self._visit(len(moved), clock)
        return visits > 0

    def _visit(self, visits: int, clock: Clock) -> None:
        while visits > 0 and clock.left > 0:
            visits -= self._solver.learn(self._at_once).visits

    def heaviest(self, most: int) -> NDArray[np.int64]:
        """The rows with the largest multipliers."""
        pulls = abs(self._solver.alpha()).max(axis=1)
        return np.sort(np.argsort(-pulls, kind="stable")[: min(most, int((pulls > 0).sum()))]).astype(np.int64)


def see(bracket: Bracket, rows: SolverRows, solver: _core.Dual) -> None:
    """Keep the plane and the point of the hull that a solver has found, if they are the best so far."""
    points, found, alpha = bracket.points, solver.weights(best=False), solver.alpha()
    if alpha.shape[1] == 1:
        bracket.see_plane(*rows.plane(found))
        examples = np.flatnonzero(alpha[:, 0] > 0)
        bracket.see_support(examples, 1 - points.truth[examples], alpha[examples, 0])
        return
    # With many classes the weights are a large matrix, and the core computes its products with the rows faster.
    total = float(alpha[np.arange(len(points)), points.truth].sum())
    norm = float(np.linalg.norm(found[:-1])) * rows.scale
    if norm == 0:
        return
    margin = solver.narrow(found)[0] / norm
    if margin > bracket.lower:
        weights, bias = rows.plane(found)
        bracket.lower, bracket.plane = margin, Plane(weights, bias)
    length = norm / (rows.scale**2 * total)
    sway = float(abs(alpha.sum(axis=0)).sum()) / total * math.sqrt(0.5) * longest(points) if points.bias else 0.0
    if length + sway < bracket.upper:
        alpha[np.arange(len(points)), points.truth] = 0
        examples, rivals = np.nonzero(alpha < 0)
        bracket._take(length + sway, examples, rivals, -alpha[examples, rivals])
