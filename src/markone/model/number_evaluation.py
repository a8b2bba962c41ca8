"""The evaluation of a regression: how far its predictions are from the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.errors import DataError
from markone.model.evaluation import NORMAL_95
from markone.model.settings import Settings
from markone.reporting.grids import Facts, plain_number
from markone.reporting.shown import Content, Shown

Interval = tuple[float, float]
PERCENTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
POINTS_DRAWN = 500


@dataclass(frozen=True, repr=False)
class NumberEvaluation(Shown):
    """The errors of a regression on examples with numbers. It prints as a table."""

    truth: NDArray[np.float64]
    """The numbers."""
    predicted: NDArray[np.float64]
    """The predictions."""
    unlabelled: int = 0
    """The number of examples that were skipped because they have no number."""
    quantile: float | None = None
    """The quantile that the model predicts; None if it predicts means or medians."""

    def in_brief(self) -> str:
        return f"R² {self.r2:.4f}, MAE {plain_number(self.mae)}, {self.total:,} examples"

    @property
    def total(self) -> int:
        """The number of examples with a number."""
        return len(self.truth)

    @property
    def errors(self) -> NDArray[np.float64]:
        """The predictions minus the numbers."""
        return self.predicted - self.truth

    @property
    def mse(self) -> float:
        """The mean squared error."""
        return float((self.errors**2).mean())

    @property
    def mae(self) -> float:
        """The mean absolute error."""
        return float(abs(self.errors).mean())

    @property
    def mse_interval(self) -> Interval:
        """The 95% confidence interval of the mean squared error."""
        return interval_of(self.errors**2)

    @property
    def mae_interval(self) -> Interval:
        """The 95% confidence interval of the mean absolute error."""
        return interval_of(abs(self.errors))

    @property
    def r2(self) -> float:
        """R²: one minus the mean squared error, divided by that of always predicting the mean; NaN if all numbers are
        the same."""
        spread = float(self.truth.var())
        return 1 - self.mse / spread if spread > 0 else math.nan

    @property
    def r2_interval(self) -> Interval:
        """The 95% confidence interval of R², by the standard error of the ratio."""
        away = (self.truth - self.truth.mean()) ** 2
        if not away.any():
            return math.nan, math.nan
        change = self.errors**2 - (1 - self.r2) * away
        half = NORMAL_95 * float(change.std()) / math.sqrt(self.total) / float(away.mean())
        return self.r2 - half, self.r2 + half

    @property
    def spearman(self) -> float:
        """The rank correlation of the numbers and the predictions; NaN if either are all the same."""
        first, second = ranks_of(self.truth), ranks_of(self.predicted)
        first, second = first - first.mean(), second - second.mean()
        size = math.sqrt(_core.sum(first * first) * _core.sum(second * second))
        return _core.sum(first * second) / size if size > 0 else math.nan

    @property
    def below(self) -> float:
        """The share of numbers that are below their predictions. If a quantile is predicted, it should be that."""
        return float((self.truth < self.predicted).mean())

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers for JSON."""
        return {
            "examples": self.total,
            "unlabelled": self.unlabelled,
            "r2": self.r2,
            "r2_interval": list(self.r2_interval),
            "mse": self.mse,
            "mse_interval": list(self.mse_interval),
            "rmse": math.sqrt(self.mse),
            "mae": self.mae,
            "mae_interval": list(self.mae_interval),
            "spearman": self.spearman,
            "below": self.below,
            "quantile": self.quantile,
            "error_percentiles": {f"{share:g}": float(np.quantile(self.errors, share)) for share in PERCENTILES},
        }

    def parts(self) -> Iterator[Content]:
        if self.r2 <= 0 and self.quantile is None:
            yield "The model is no better than always predicting the mean."
        yield f"{self.total:,} examples."
        if self.unlabelled:
            yield f"{self.unlabelled:,} more have no number and were skipped."
        rows = [
            ("R²", f"{self.r2:.4f}", in_words("{:.4f}", self.r2_interval)),
            ("MSE", plain_number(self.mse), in_words(None, self.mse_interval)),
            ("RMSE", plain_number(math.sqrt(self.mse)), ""),
            ("MAE", plain_number(self.mae), in_words(None, self.mae_interval)),
            ("Spearman", f"{self.spearman:.4f}", "rank correlation"),
        ]
        if self.quantile is not None:
            rows.append(("below", f"{self.below:.1%}", f"of the numbers; the model predicts {self.quantile:.1%}"))
        yield ""
        yield Facts(rows)
        yield ""
        low, first, median, third, high = (plain_number(float(np.quantile(self.errors, one))) for one in PERCENTILES)
        yield f"Half of the errors are from {first} to {third}, and 90% from {low} to {high} (median {median})."

    def contents(self) -> Iterator[Content]:
        from markone.reporting.charts import Chart, Line, Points

        yield from self.parts()
        some = slice(None, None, max(1, -(-self.total // POINTS_DRAWN)))
        truth, predicted = self.truth[some].tolist(), self.predicted[some].tolist()
        ends = [min(truth), max(truth)]
        parts = (Points(predicted, truth, "examples"), Line(ends, ends, "right", 1, dashed=True))
        yield Chart(parts, "The numbers (upwards) and the predictions", x="predicted")


def evaluate_numbers(
    numbers: NDArray[np.float64], predicted: NDArray[np.float64], settings: Settings
) -> NumberEvaluation:
    """Compare predictions with numbers, some of which may be NaN because they are missing."""
    there = ~np.isnan(numbers)
    if not there.any():
        raise DataError("there are no examples with a number to measure errors on")
    quantile = (settings.quantile or 0.5) if settings.loss == "quantile" else None
    return NumberEvaluation(numbers[there], predicted[there], int((~there).sum()), quantile)


def interval_of(values: NDArray[np.float64]) -> Interval:
    """Return the 95% interval of a mean."""
    mean = float(values.mean())
    half = NORMAL_95 * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return max(0.0, mean - half), mean + half


def in_words(form: str | None, interval: Interval) -> str:
    low, high = (plain_number(one) if form is None else form.format(one) for one in interval)
    return f"95% interval: {low} to {high}"


def ranks_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks; equal values have the mean of their ranks."""
    _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: NDArray[np.float64] = (ends - (counts - 1) / 2)[number]
    return ranks
