"""Calibration: turns scores into probabilities that hold on rows that were not trained on.

With two classes, the log-odds of the second class are a rising function of its score that is linear between a few knots
and 0 for the score 0, so that a probability above 0.5 and a positive score mean the same label. The slopes maximise the
likelihood of held-out labels (Platt 1999, with his targets, which keep separable rows from infinite slopes), and a
penalty keeps neighbouring slopes similar. With more classes, all scores are multiplied by one slope, which is called
temperature scaling (Guo et al. 2017). If that is better beyond noise on rows from which it is not learned, each class
has a slope and an offset of its own instead (vector scaling). The predicted class remains the most probable.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data.source import Label
from markone.errors import DataError
from markone.model.evaluation import log_probabilities
from markone.storage.saved import Saved

MOST_ROWS = 20_000
"""More rows are not needed."""
FEWEST_ROWS = 50
"""Fewer rows say too little about probabilities."""
ROWS_OF_SLOPE = 300
"""The smallest number of rows for each slope on its side of 0."""
MOST_SLOPES = 6
"""The largest number of slopes on each side of 0."""
LIKENESS = 10.0
"""The strength of the penalty for neighbouring slopes that differ."""
FLATTEST = 0.05
"""No slope is less than this share of the single slope that suits all rows, so that scores keep their order."""
WORTH = 0.02
"""The share of the log-loss that must be gained for probabilities of a rule to be replaced."""
MOST_CLASSES, MOST_SCORES = 50, 120_000
"""The largest number of classes with slopes of their own, and of scores from which these are learned, which takes a few
tenths of a second."""
STIFFNESS = 1.0
"""The strength of the penalties for slopes and offsets of classes that differ from those of all classes."""
BEYOND = 2.0
"""The number of standard errors by which slopes of classes must lower the log-loss."""
LEAD = 1e-6
"""How much larger the log-odds of the class with the best score are at least than those of others."""
LEAST_LOG = math.log(sys.float_info.min)
ROUNDS, ENOUGH = 100, 1e-10
Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Calibrator(Brief):
    """The function from scores to log-odds, and the number of rows from which it was learned."""

    slopes: tuple[float, ...]
    """The slopes between the knots, from the lowest scores to the highest; or with offsets, the slope of each class."""
    knots: tuple[float, ...]
    """The scores at which the slope changes. One of them is 0, unless there is only one slope."""
    rows: int
    """The number of rows from which it was learned."""
    offsets: tuple[float, ...] = ()
    """What is added to the scores of each class; empty if there is one slope for all classes."""

    @property
    def lead(self) -> float:
        """How much larger the log-odds of the class with the best score are at least than those of others."""
        return LEAD if self.offsets else 0.0

    def in_brief(self) -> str:
        return f"{len(self.slopes)} slopes, from {self.rows:,} rows"

    def log_odds(self, scores: NDArray[Any]) -> Floats:
        """Return the calibrated scores."""
        scores = np.asarray(scores, np.float64)
        if self.offsets:
            by_class: Floats = scores * np.array(self.slopes) + np.array(self.offsets)
            return by_class
        if not self.knots:
            return scores * self.slopes[0]
        knots, slopes, heights = self._line
        at = knots.searchsorted(scores)
        nearest = np.maximum(at - 1, 0)
        found: Floats = heights[nearest] + slopes[at] * (scores - knots[nearest])
        return found

    @cached_property
    def _line(self) -> tuple[Floats, Floats, Floats]:
        """The knots, the slopes, and the log-odds at the knots."""
        knots, slopes = np.array(self.knots), np.array(self.slopes)
        heights = np.concatenate([[0.0], np.cumsum(slopes[1:-1] * np.diff(knots))])
        return knots, slopes, heights - heights[np.searchsorted(knots, 0.0)]

    def score_of(self, log_odds: float) -> float:
        """Return the score that has these calibrated log-odds."""
        heights = self.log_odds(np.array(self.knots))
        at = int(np.searchsorted(heights, log_odds))
        knot, height = (self.knots[max(at - 1, 0)], float(heights[max(at - 1, 0)])) if self.knots else (0.0, 0.0)
        return knot + (log_odds - height) / self.slopes[at]

    def log_probabilities(self, scores: NDArray[Any]) -> Floats:
        """Return the logarithm of the probability of each class. The class with the best score is the most probable."""
        odds = self.log_odds(scores)
        return log_probabilities(best_first(odds, np.asarray(scores)) if self.offsets else odds)

    def save(self) -> Saved:
        offsets = {"offsets": [*self.offsets]} if self.offsets else {}
        return Saved({"slopes": [*self.slopes], "knots": [*self.knots], "rows": self.rows, **offsets}, {})

    @classmethod
    def load(cls, saved: Saved, classes: int) -> Self:
        """Restore a calibration from a file, and check every number."""
        facts = saved.facts
        if saved.arrays or facts.keys() - {"offsets"} != {"slopes", "knots", "rows"}:
            raise DataError("its calibration has the wrong parts")
        slopes, knots, rows, offsets = facts["slopes"], facts["knots"], facts["rows"], facts.get("offsets", [])
        fits = all(isinstance(one, list) for one in (slopes, knots, offsets))
        if fits and "offsets" in facts:
            fits = classes > 2 and len(slopes) == len(offsets) == classes and not knots
        elif fits:
            fits = len(slopes) == len(knots) + 1 and len(slopes) <= (2 * MOST_SLOPES if classes == 2 else 1)
        fits = fits and all(type(one) is float and math.isfinite(one) for one in [*slopes, *knots, *offsets])
        fits = fits and all(slope > 0 for slope in slopes) and all(a < b for a, b in pairwise(knots))
        if not fits or (knots and 0.0 not in knots) or type(rows) is not int or not 0 <= rows <= 2**53:
            raise DataError(
                f"its calibration has the numbers {slopes!r:.60}, {knots!r:.60}, {offsets!r:.60}, {rows!r:.20}"
            )
        return cls(tuple(slopes), tuple(knots), rows, tuple(offsets))


def calibrate(scores: NDArray[Any], truth: NDArray[Any], importance: Floats | None, classes: list[Label]) -> Calibrator:
    """Learn a calibration from the scores and the class numbers of rows that were not trained on."""
    if (every := -(-len(truth) // MOST_ROWS)) > 1:
        importance = None if importance is None else importance[::every]
        scores, truth = scores[::every], truth[::every]
    scores = np.asarray(scores, np.float64)
    weights = np.ones(len(truth)) if importance is None else importance
    if len(classes) > 2:
        return best_of_classes(scores, truth, weights)
    own = scores[:, 0]
    targets = platt_targets(truth, weights)
    slope = float(fitted(own[None], targets, weights, np.ones(1), 0.0)[0])
    knots = knots_of(own)
    if not knots:
        return Calibrator((rounded(slope),), (), len(truth))
    slopes = fitted(ramps(own, knots), targets, weights, np.full(len(knots) + 1, slope), LIKENESS)
    return Calibrator(tuple(map(rounded, slopes.tolist())), tuple(knots), len(truth))


def best_first(odds: Floats, scores: NDArray[Any]) -> Floats:
    """Return log-odds of which that of the best score is the largest: it becomes as large as the largest one, and the
    others stay a little below."""
    top = odds.max(axis=1, keepdims=True)
    best = scores == scores.max(axis=1, keepdims=True)
    found: Floats = np.where(best, top, np.minimum(odds, top - LEAD))
    return found


def best_of_classes(scores: Floats, truth: NDArray[Any], weights: Floats) -> Calibrator:
    """Learn one slope for three or more classes, or a slope and an offset for each class if these are better beyond
    noise. They are learned from one half of the rows and measured on the other, both ways."""
    plain = of_all_classes(scores, truth, weights)
    if scores.shape[1] > MOST_CLASSES:
        return plain
    every = -(-scores.size // MOST_SCORES)
    scores, truth, weights = scores[::every], truth[::every], weights[::every]
    gains, half = np.zeros(len(truth)), np.arange(len(truth)) % 2 == 0
    for learned, tested in ((half, ~half), (~half, half)):
        own = scores[learned], truth[learned], weights[learned]
        before, after = (
            one.log_probabilities(scores[tested])[np.arange(int(tested.sum())), truth[tested]]
            for one in (of_all_classes(*own), of_each_class(*own))
        )
        gains[tested] = weights[tested] * (after - before)
    better = gains.sum() > BEYOND * math.sqrt(float((gains**2).sum()))
    return of_each_class(scores, truth, weights) if better else plain


def of_all_classes(scores: Floats, truth: NDArray[Any], weights: Floats) -> Calibrator:
    """Learn one slope for all classes."""
    return Calibrator((rounded(best_slope(scores, truth, weights)),), (), len(truth))


def of_each_class(scores: Floats, truth: NDArray[Any], weights: Floats) -> Calibrator:
    """Learn a slope and an offset for each class, by Newton's method. Penalties keep the slopes close to the one slope
    that suits all classes, and the offsets close to 0. The problem is convex."""
    slope, (rows, classes) = best_slope(scores, truth, weights), scores.shape
    scaled = slope * scores
    smoothed = 1 / (float(weights.sum()) + classes)  # as in Platt's targets
    targets = np.full(scores.shape, smoothed / classes)
    targets[np.arange(rows), truth] += 1 - smoothed
    start = np.append(np.ones(classes), np.zeros(classes))

    def logs(point: Floats) -> Floats:
        return log_probabilities(point[:classes] * scaled + point[classes:])

    def cost(point: Floats) -> float:
        loss = -(weights[:, None] * targets * logs(point)).sum()
        return float(loss + STIFFNESS * ((point - start) ** 2).sum() / 2)

    def derivatives(point: Floats) -> tuple[Floats, Floats]:
        p = np.exp(logs(point))
        off, own = weights[:, None] * (p - targets), weights[:, None] * p
        gradient = np.append((off * scaled).sum(axis=0), off.sum(axis=0)) + STIFFNESS * (point - start)
        both = np.hstack([p * scaled, p]).T.copy()
        hessian = STIFFNESS * np.eye(2 * classes) - np.array([(weights * row * both).sum(axis=1) for row in both])
        for i, j, power in ((0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 0)):
            places = np.arange(classes)
            hessian[places + i * classes, places + j * classes] += (own * scaled**power).sum(axis=0)
        return gradient, hessian

    lowest = np.append(np.full(classes, FLATTEST), np.full(classes, -math.inf))
    found = minimised(start, lowest, cost, derivatives)
    slopes, offsets = found[:classes] * slope, found[classes:]
    return Calibrator(tuple(map(rounded, slopes.tolist())), (), rows, tuple(map(rounded, offsets.tolist())))


def rounded(number: float) -> float:
    """Return a number with four digits, so that it does not depend on how a processor computes exponentials."""
    return float(f"{number:.4g}")


def is_better(scores: NDArray[Any], truth: NDArray[Any], importance: Floats | None, classes: list[Label]) -> bool:
    """Return whether calibration clearly lowers the log-loss of probabilities that a rule already has. It is learned
    from one half of the rows and measured on the other, both ways."""
    before, after = np.zeros(len(truth)), np.zeros(len(truth))
    half = np.arange(len(truth)) % 2 == 0
    for learned, tested in ((half, ~half), (~half, half)):
        found = calibrate(scores[learned], truth[learned], None if importance is None else importance[learned], classes)
        rows = np.arange(int(tested.sum()))
        after[tested] = -found.log_probabilities(scores[tested])[rows, truth[tested]]
        before[tested] = -np.maximum(log_probabilities(scores[tested])[rows, truth[tested]], LEAST_LOG)
    weights = np.ones(len(truth)) if importance is None else importance
    return bool((weights * after).sum() < (1 - WORTH) * (weights * before).sum())


def knots_of(scores: Floats) -> list[float]:
    """Return the scores at which the slope may change: 0, and quantiles on each side of it if there are many rows."""
    if len(scores) < 2 * ROWS_OF_SLOPE:
        return []
    knots = {0.0}
    for side in (scores[scores < 0], scores[scores > 0]):
        slopes = min(MOST_SLOPES, len(side) // ROWS_OF_SLOPE)
        knots.update(map(rounded, np.quantile(side, np.arange(1, slopes) / slopes).tolist()) if slopes > 1 else [])
    return sorted(knots)


def ramps(scores: Floats, knots: list[float]) -> Floats:
    """Return for each slope how far it is walked from 0 to the score of each row: the log-odds are the sums of this
    times the slopes."""
    edges = np.array([-math.inf, *knots, math.inf])
    low, high = edges[:-1, None], edges[1:, None]
    up = np.clip(np.minimum(scores, high) - np.maximum(low, 0.0), 0.0, None)
    down = np.clip(np.minimum(high, 0.0) - np.maximum(scores, low), 0.0, None)
    found: Floats = up - down
    return found


def platt_targets(truth: NDArray[Any], weights: Floats) -> Floats:
    """Return targets slightly inside of 0 and 1."""
    second, first = (float(weights[truth == number].sum()) for number in (1, 0))
    targets: Floats = np.where(truth == 1, (second + 1) / (second + 2), 1 / (first + 2))
    return targets


def fitted(basis: Floats, targets: Floats, weights: Floats, start: Floats, likeness: float) -> Floats:
    """Return the slopes that maximise the likelihood, by Newton's method within bounds. The problem is convex. `basis`
    has a row for each slope."""
    unit = float(np.abs(basis).sum(axis=0).mean()) or 1.0
    lowest = FLATTEST * start if likeness else np.full(len(start), 1e-6 / unit)
    between = np.diff(np.eye(len(start)), axis=0) * math.sqrt(likeness) / start.mean()
    curvature = (between[:, :, None] * between[:, None, :]).sum(axis=0)

    def log_odds(slopes: Floats) -> Floats:
        return np.asarray((basis * slopes[:, None]).sum(axis=0))

    def pull(slopes: Floats) -> Floats:
        return np.asarray((curvature * slopes).sum(axis=1))

    def cost(slopes: Floats) -> float:
        z = log_odds(slopes)
        loss = np.logaddexp(0.0, z) - targets * z
        return float((weights * loss).sum() + (slopes * pull(slopes)).sum() / 2)

    def derivatives(slopes: Floats) -> tuple[Floats, Floats]:
        p = 1 / (1 + np.exp(-np.clip(log_odds(slopes), -700, 700)))
        gradient = (basis * (weights * (p - targets))).sum(axis=1) + pull(slopes)
        certain = basis * (weights * p * (1 - p))
        return gradient, np.array([(certain * row).sum(axis=1) for row in basis]) + curvature

    return minimised(start, lowest, cost, derivatives)


def minimised(
    start: Floats,
    lowest: Floats,
    cost: Callable[[Floats], float],
    derivatives: Callable[[Floats], tuple[Floats, Floats]],
) -> Floats:
    """Return the point with the lowest cost, by Newton's method within bounds. `derivatives` returns the gradient and
    the Hessian matrix."""
    point, value = start.copy(), cost(start)
    for _ in range(ROUNDS):
        gradient, hessian = derivatives(point)
        free = (point > lowest) | (gradient < 0)
        if not free.any():
            break
        small = 1e-12 * (np.trace(hessian) + 1e-300)
        step = np.zeros_like(point)
        step[free] = solution(hessian[np.ix_(free, free)] + small * np.eye(int(free.sum())), -gradient[free])
        length = 1.0
        while length > 1e-10:
            trial = np.maximum(point + length * step, lowest)
            if (then := cost(trial)) <= value:
                break
            length /= 2
        else:
            break
        gain, point, value = value - then, trial, then
        if gain <= ENOUGH * max(1.0, abs(value)):
            break
    return point


def solution(matrix: Floats, right: Floats) -> Floats:
    """Solve a small system of equations, whose matrix is positive definite, by elimination."""
    rows = np.column_stack([matrix, right])
    for i in range(len(rows)):
        rows[i] /= rows[i, i]
        others = np.arange(len(rows)) != i
        rows[others] -= rows[others, i, None] * rows[i]
    found: Floats = rows[:, -1]
    return found


def best_slope(scores: Floats, truth: NDArray[Any], weights: Floats) -> float:
    """Return the factor of the scores that maximises the likelihood of the classes, by Newton's method."""
    classes = scores.shape[1]
    spread = float(np.abs(scores - scores.mean(axis=1, keepdims=True)).mean()) or 1.0
    scaled = scores / spread
    smoothed = 1 / (float(weights.sum()) + classes)  # as in Platt's targets
    aims = (1 - smoothed) * scaled[np.arange(len(truth)), truth] + smoothed * scaled.mean(axis=1)
    slope = 1.0
    for _ in range(ROUNDS):
        p = np.exp(log_probabilities(slope * scaled))
        mean = (p * scaled).sum(axis=1)
        gradient = float((weights * (mean - aims)).sum())
        curvature = float((weights * ((p * scaled**2).sum(axis=1) - mean**2)).sum())
        step = -gradient / curvature if curvature > 0 else 0.0
        after = min(max(slope + step, slope / 4), slope * 4)
        if abs(after - slope) <= ENOUGH * slope:
            break
        slope = after
    return slope / spread
