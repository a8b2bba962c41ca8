"""If nothing separates, finds a plane with a small total hinge loss, and a plane with few rows on the wrong side.

Once the wrong rows are removed, the plane separates the others. So their number is an upper bound of how many rows must
be removed. The smallest number is not known, because finding it is NP-hard.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.learning.hard_margin import Face, come_nearest
from markone.theory.bracket import LIGHT_BIAS, Array, Clock, SolverRows, margins_of, sizes_of, stored
from markone.theory.claims import Hinge, Plane, Removal
from markone.theory.points import Points
from markone.theory.verification import least_product, total_hinge

FIRST_C, LAST_C, TIMES = 1.0, 4.0**10, 4.0
"""The first and the last C that are tried, and the factor between two of them, for rows of about length 1."""
UNEVEN = 64.0
"""Features are scaled separately if the largest is this many times as large as the median."""
PASSES = 500
"""The most passes for each of them."""
MOST_VISITED = 2_000_000_000
"""The most values that all passes together visit, which takes some seconds."""
GAP = 0.02
"""The duality gap that is small enough, as a share of the objective."""
BETTER = 0.005
"""C is large enough if the total hinge falls by less than this share."""
MOST_VALUES_OF_PROGRAM = 40_000
"""The largest linear program that is solved quickly, in values."""
MOST_VALUES_PUT_BACK = 10_000_000
"""The largest number of values that are used while wrong rows are put back one by one."""
ANY_PLANE = 0.999
"""How far from the nearest point a search may end, as a share of its distance: any plane that separates will do."""


def soften(points: Points, clock: Clock) -> tuple[Removal | None, Hinge | None]:
    """The smallest set of rows to remove that was found, and the smallest total hinge loss."""
    found = Softest(points)
    for weights, bias in constant_planes(points):
        found.see(weights, bias)
    if values_of_program(points) <= MOST_VALUES_OF_PROGRAM:
        plane = solve_program(points, clock)
        if plane is not None:
            found.see(*plane)
    climb(found, clock.part(0.6))
    hinge = Hinge(total_hinge(points, found.softest), found.softest)
    removal = put_back(points, found.fewest_wrong, found.order_of_wrong(), clock)
    return removal, hinge


class Softest:
    """The best planes so far."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.hinge, self.wrong = math.inf, len(points) + 1
        zero = Plane(np.zeros((points.features, columns_of(points))), np.zeros(columns_of(points)))
        self.softest = self.fewest_wrong = zero

    def see(self, weights: Array, bias: Array) -> float:
        """Scale a plane to the length with the smallest total hinge, keep it if it is the best, and return its hinge.

        A plane that overflows, as with subnormal values, is ignored.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            margins = margins_by(self.points, weights, bias)
        if not (np.isfinite(weights).all() and np.isfinite(bias).all() and np.isfinite(margins).all()):
            return math.inf
        wrong = int((margins <= 0).sum())
        if wrong < self.wrong:
            self.wrong, self.fewest_wrong = wrong, Plane(weights, bias)
        length = best_length(margins)
        with np.errstate(over="ignore", invalid="ignore"):
            if not (np.isfinite(length * weights).all() and np.isfinite(length * bias).all()):
                return math.inf
        hinge = float(np.maximum(0, 1 - length * margins).sum())
        if hinge < self.hinge:
            self.hinge, self.softest = hinge, Plane(length * weights, length * bias)
        return hinge

    def order_of_wrong(self) -> NDArray[np.int64]:
        """The wrong rows, ordered by how wrong they are, the least wrong first."""
        margins = margins_by(self.points, self.fewest_wrong.weights, self.fewest_wrong.bias)
        wrong = np.flatnonzero(margins <= 0)
        return wrong[np.argsort(-margins[wrong], kind="stable")].astype(np.int64)


def columns_of(points: Points) -> int:
    return 1 if len(points.classes) == 2 else len(points.classes)


def margins_by(points: Points, weights: Array, bias: Array) -> Array:
    """The smallest product of each row's z."""
    scores = np.asarray(points.matrix @ weights, np.float64) + bias
    if len(bias) == 1:
        return np.where(points.truth == 1, scores[:, 0], -scores[:, 0])
    return margins_of(scores, points.truth)


def best_length(margins: Array) -> float:
    """The factor for the margins with which the sum of max(0, 1 - factor · margin) is smallest.

    The slope of the sum rises wherever a positive margin reaches 1.
    """
    positive = np.sort(margins[margins > 0])[::-1]
    slope = -float(margins.sum())
    if slope >= 0 or not len(positive):
        return 0.0
    slopes = slope + np.cumsum(positive)
    with np.errstate(over="ignore"):
        return float(1 / positive[min(int((slopes < 0).sum()), len(positive) - 1)])


def constant_planes(points: Points) -> list[tuple[Array, Array]]:
    """Planes that give every row the most frequent class."""
    if not points.bias:
        return []
    count = np.bincount(points.truth)
    weights, most = np.zeros((points.features, columns_of(points))), int(count.argmax())
    bias = np.array([2.0 * most - 1]) if len(count) == 2 else np.eye(len(count))[most]
    return [(weights, bias)]


# ---- planes with a small hinge


def climb(found: Softest, clock: Clock) -> None:
    """Trains support vector machines with larger and larger C, so that the hinge counts more and more."""
    rows = SolverRows(found.points, light=1.0, stretch=not found.points.is_sparse or is_uneven(found.points))
    C, solver = FIRST_C, rows.solver(FIRST_C)
    visits = int(MOST_VISITED * len(found.points) / (stored(found.points) * columns_of(found.points) + 1))
    idle = 0
    while idle < 2 and C <= LAST_C:
        best = found.hinge
        for number in range(PASSES):
            if awake := solver.begin_pass(number, 0):
                visits -= solver.learn(awake).visits
            over = visits <= 0 or clock.left == 0
            if over or awake == 0 or number % 10 == 9:
                solver.measure()
                if over or solver.primal - solver.bound <= GAP * solver.primal:
                    break
        for is_best in (True, False):
            found.see(*rows.plane(solver.weights(best=is_best)))
        if over:
            return
        idle = idle + 1 if found.hinge > (1 - BETTER) * best else 0
        C *= TIMES
        solver.scale_to(C)


def is_uneven(points: Points) -> bool:
    """Whether some features are much larger than most, as numbers beside one-hot categories are."""
    sizes = sizes_of(points.matrix)
    return bool(sizes.max(initial=0) > UNEVEN * np.median(sizes))


def values_of_program(points: Points) -> int:
    return int((stored(points) + len(points)) * (1 if len(points.classes) == 2 else 2 * (len(points.classes) - 1)))


def solve_program(points: Points, clock: Clock) -> tuple[Array, Array] | None:
    """The smallest total hinge as a linear program: min Σξ with w·z + ξ ≥ 1, ξ ≥ 0, one ξ for each row."""
    from scipy import optimize, sparse

    linprog: Any = optimize.linprog

    def stack(blocks: Any) -> Any:
        return sparse.csr_array(sparse.bmat(blocks))  # the oldest SciPy has only `bmat`, which returns a matrix

    matrix: Any = sparse.csr_array(points.matrix, dtype=np.float64)
    if points.bias:
        matrix = stack([[matrix, np.ones((len(points), 1))]])
    columns, blocks = columns_of(points), []
    for rival in range(len(points.classes)):
        rows = np.flatnonzero(points.truth != rival)
        signs = np.zeros((len(rows), columns))
        if columns == 1:
            signs[:, 0] = 1 if rival == 0 else -1
        else:
            signs[np.arange(len(rows)), points.truth[rows]] = 1
            signs[:, rival] = -1
        slack = sparse.csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows)), (len(rows), len(points)))
        blocks.append([*(matrix[rows] * signs[:, [column]] for column in range(columns)), slack])
    constraints = stack(blocks)
    width = columns * matrix.shape[1]
    found: Any = linprog(
        np.append(np.zeros(width), np.ones(len(points))),
        A_ub=-constraints,
        b_ub=-np.ones(constraints.shape[0]),
        bounds=[(None, None)] * width + [(0, None)] * len(points),
        method="highs",
        options={"time_limit": max(0.1, 0.3 * clock.left)},
    )
    if found.x is None:
        return None
    weights = found.x[:width].reshape(columns, -1).T
    return weights[: points.features], weights[points.features] if points.bias else np.zeros(columns)


# ---- planes with few rows on the wrong side


def put_back(points: Points, plane: Plane, wrong: NDArray[np.int64], clock: Clock) -> Removal | None:
    """Remove the rows on the wrong side of a plane, then try one by one whether each of them can be put back."""
    everyone = np.arange(len(points))
    kept = start = np.setdiff1d(everyone, wrong)
    tries, found = Tries(points, clock), plane
    for row in wrong[: MOST_VALUES_PUT_BACK // max(1, stored(points))].tolist():
        more = np.append(kept, row)
        if clock.left > 0 and (other := tries.plane_for(more)) is not None:
            kept, found = more, other
    for rows, by in ((kept, found), (start, plane)):
        if len(rows) and least_product(points.some(rows), by) > 0:
            return Removal(np.setdiff1d(everyone, rows), by)
    return None


class Tries:
    """Tries to separate some of the rows. Each search starts from the support of the last plane that was found."""

    def __init__(self, points: Points, clock: Clock) -> None:
        self._points, self._clock = points, clock
        self._rows = SolverRows(points, light=LIGHT_BIAS, stretch=True)
        self._corners: list[tuple[int, int, float]] = []

    def plane_for(self, rows: NDArray[np.int64]) -> Plane | None:
        if len(np.unique(self._points.truth[rows])) < 2:
            return None
        place = {int(row): i for i, row in enumerate(rows)}
        start = [(place[row], rival, share) for row, rival, share in self._corners]
        face = Face(self._rows.solver(rows=rows), start)
        if come_nearest(face, near=ANY_PLANE, may_go_on=lambda: self._clock.left > 0) != "nearest":
            return None
        weights, bias = self._rows.plane(face.normal())
        if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            return None
        corners = zip(face.corners, face.shares, strict=True)
        self._corners = [(int(rows[i]), rival, float(share)) for (i, rival), share in corners]
        return Plane(weights, bias)
