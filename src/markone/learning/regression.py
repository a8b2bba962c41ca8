"""Regression: numbers are predicted instead of classes, by the solvers of logistic regression.

The targets z are the numbers, shifted and scaled to mean 0 and standard deviation 1, so that no setting depends on
their unit; without a bias, they are not shifted. The loss of a score s is

    squared    ½ (s - z)²
    quantile   q (z - s) + h ln(1 + e^((s - z) / h))

The second is the quantile loss, whose corner is rounded with the width h. It is at most h ln 2 above it (Zheng 2011).
The absolute loss is twice the quantile loss for q = ½. The objective is the mean loss plus strength · ½‖w‖².

Newton's method needs the slope and the curvature of the loss. Those of logistic regression for the score
(s - z) / h and the first class are σ and σ (1 - σ), and those of the rounded loss are σ - q and σ (1 - σ) / h. At the
score 0, σ (1 - σ) is ¼ for every row, and the squared loss has the same curvature in every row, too. So the core's
objective serves for both, with losses that are multiplied by h or by ¼, which is called the unit here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block
from markone.errors import DataError, SettingsError
from markone.learning.examples import Examples
from markone.learning.learner import Counted, Course
from markone.learning.logistic import BatchLearner, Newton
from markone.learning.smoothness import NONE, Smoothness
from markone.model.settings import OptimumSettings, RegressionSettings, Settings, with_values

Array = NDArray[np.float64]

SQUARED_UNIT = 0.25
WIDTH = 0.02
"""The width of the rounded corner of the quantile loss, in standard deviations of the target."""
LARGEST_NUMBER = 1e30
LARGEST_SHIFT = 1e5
"""The largest distance of the numbers from 0, in standard deviations. Weights are 32-bit floats, so that numbers that
differ less than this would be predicted with large rounding errors."""


class TargetObjective(_core.Objective):
    """The objective of a regression, as a function of all rows, in the form that the solvers use."""

    def __init__(self, block: Block, targets: Array, chosen: NDArray[np.int64] | None, settings: Settings) -> None:
        """`targets` has a number for each row of the block."""
        super().__init__(block.rows, np.zeros(len(block), np.int32), 2, block.importance, chosen)
        weights = np.ones(len(block)) if block.importance is None else block.importance
        rows = np.arange(len(block)) if chosen is None else chosen
        rows = rows[weights[rows] > 0]  # the core leaves out the others
        self.quantile = quantile_of(settings)
        self.unit = SQUARED_UNIT if self.quantile is None else WIDTH
        self.targets = np.ascontiguousarray(targets[rows])[:, None]
        self.shares_of_rows = super().shares()[:, None]
        self._still = np.zeros_like(self.targets)
        if self.quantile is None:
            super().judge(self._still, np.zeros_like(self.targets))  # sets all curvatures to ¼

    def judge(self, scores: Array, pulls: Array) -> tuple[float, int]:
        if self.quantile is None:
            away = scores - self.targets
            np.multiply(self.shares_of_rows, self.unit * away, out=pulls)
            return _core.sum((pulls * away).ravel()) / 2, 0
        loss, _ = super().judge((scores - self.targets) / WIDTH, pulls)
        below = _core.sum((self.shares_of_rows * (self.targets - scores)).ravel())
        pulls -= self.quantile * self.shares_of_rows
        pulls *= WIDTH
        return WIDTH * (WIDTH * loss + self.quantile * below), 0

    def along(self, scores: Array, steps: Array, t: float) -> tuple[float, float, float]:
        if self.quantile is None:
            away = scores + t * steps - self.targets
            shared = self.unit * self.shares_of_rows
            sums = [_core.sum((shared * one).ravel()) for one in (away * away, away * steps, steps * steps)]
            return sums[0] / 2, sums[1], sums[2]
        loss, slope, curvature = super().along((scores - self.targets) / WIDTH, steps / WIDTH, t)
        below = _core.sum((self.shares_of_rows * (self.targets - scores - t * steps)).ravel())
        faster = _core.sum((self.shares_of_rows * steps).ravel())
        wide, q = WIDTH * WIDTH, self.quantile
        return wide * loss + WIDTH * q * below, wide * slope - WIDTH * q * faster, wide * curvature


def quantile_of(settings: Settings) -> float | None:
    """Return the quantile of the loss; None for the squared loss."""
    if settings.loss == "quantile":
        return 0.5 if settings.quantile is None else settings.quantile
    return 0.5 if settings.loss == "absolute" else None


class Regression(Newton):
    """The learner. Its labels are indices of `numbers`."""

    settings: RegressionSettings

    def __init__(
        self,
        settings: Settings,
        *,
        features: int,
        classes: int = 2,
        dtype: Any = np.float64,
        smoothness: Smoothness = NONE,
        numbers: Array | None = None,
    ) -> None:
        settings = RegressionSettings.of(settings)
        super().__init__(settings, features=features, classes=2, dtype=dtype, smoothness=smoothness)
        self.numbers = np.zeros(0) if numbers is None else numbers
        self.shift, self.scale = 0.0, 1.0
        self._unit = 1.0

    def begin(self, examples: Examples) -> None:
        block, chosen = examples.whole(in_files=True)
        block = block.without_repeats()
        targets = self.numbers[block.labels]
        rows = np.arange(len(block)) if chosen is None else chosen
        weights = np.ones(len(rows)) if block.importance is None else block.importance[rows]
        self.shift, self.scale = standard(targets[rows], weights, self.dtype, bias=self.settings.bias)
        objective = TargetObjective(block, (targets - self.shift) / self.scale, chosen, self.settings)
        self._importance, self._unit = objective.importance, objective.unit
        self._descent, self._weights = self._make_descent(objective, None), None

    @property
    def _solver_settings(self) -> OptimumSettings:
        return in_units(self.settings, self._unit)

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Counted, int]]:
        """Make one step, which uses all examples. There are no mistakes to count."""
        for judged, rows in super().learn_pass(examples, epoch, skip):
            loss = None if judged.loss is None else judged.loss / self._unit
            yield judged._replace(mistakes=None, loss=loss), rows

    @property
    def _tol(self) -> float:
        return self._unit * self.settings.tol

    def course(self) -> Course:
        found = super().course()
        assert found.objective is not None and found.gap is not None
        return Course(found.objective / self._unit, found.gap / self._unit, found.done)

    def _finished(self, matrix: Array) -> Array:
        """Return the weights for the numbers themselves, not for the scaled ones."""
        found: Array = matrix * self.scale
        found[-1] += self.shift
        return found

    def with_settings(self, settings: Settings) -> BatchLearner:
        raise SettingsError("rule", f"is {self.settings.rule!r}, which cannot continue with other settings")


def in_units(settings: RegressionSettings, unit: float) -> RegressionSettings:
    """Return the settings for losses that are multiplied by a unit."""
    return with_values(RegressionSettings, {**settings.values(), "strength": unit * settings.strength})


def standard(numbers: Array, weights: Array, dtype: np.dtype[Any], *, bias: bool) -> tuple[float, float]:
    """Return the mean and the standard deviation of the target, in which it is predicted; without a bias, 0 and the
    root of the mean square."""
    if abs(numbers).max(initial=0) > LARGEST_NUMBER:
        raise DataError("the numbers of the target are too large; divide them by a power of ten")
    total = _core.sum(weights)
    if not total > 0:
        raise DataError("the weights of all examples are zero, so there is nothing to learn from")
    shift = _core.sum(weights * numbers) / total if bias else 0.0
    scale = (_core.sum(weights * (numbers - shift) ** 2) / total) ** 0.5
    if scale == 0:
        return shift, 1.0
    if dtype == np.float32 and abs(shift) > LARGEST_SHIFT * scale:
        raise DataError(
            f"the numbers of the target are near {shift:.6g} and differ only by about {scale:.2g}, which is too little "
            "for 32-bit weights; subtract a number from all of them"
        )
    return shift, scale
