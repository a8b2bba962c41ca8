"""Statistics of results: intervals, tests and calibration, based on scikit-learn and SciPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief

CONFIDENCE = 0.95
BINS = 10

Interval = tuple[float, float]


# ---- intervals


def wilson(right: int, total: int) -> Interval:
    """Return the 95% interval of a share, given `right` of `total` (Wilson 1927).

    >>> [round(end, 4) for end in wilson(81, 100)]
    [0.7222, 0.8749]
    """
    from scipy.stats import binomtest

    found = binomtest(right, total).proportion_ci(CONFIDENCE, method="wilson")
    return float(found.low), float(found.high)


def interval_of_mean(values: Sequence[float] | NDArray[np.float64]) -> Interval:
    """Return the 95% interval of the mean of independent measurements (Student's t)."""
    return corrected_interval(values, 0.0)


def corrected_interval(scores: Sequence[float] | NDArray[np.float64], tested_to_learned: float) -> Interval:
    """Return the 95% interval of the mean score, by Nadeau and Bengio's corrected resampled t (2003).

    The scores of folds are not independent, because any two folds share most of their training rows. Student's interval
    assumes that the variance of the mean is s²/J; this one assumes s² (1/J + n_tested/n_learned), which is closer to
    the truth. If the second term is 0, it is Student's interval.
    """
    from scipy.stats import t

    values = np.asarray(scores, np.float64)
    mean, count = float(values.mean()), len(values)
    if count < 2:
        return -math.inf, math.inf
    half = float(t.ppf((1 + CONFIDENCE) / 2, count - 1)) * math.sqrt(
        float(values.var(ddof=1)) * (1 / count + tested_to_learned)
    )
    return mean - half, mean + half


# ---- several labels


def parts_of_f1(truth: NDArray[np.bool_], found: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return what each row contributes to micro F1 (both arguments are rows × labels). The mean over the rows is F1.

    F1 is 2h / d, with h right predictions, and d predicted and true labels. It is not a mean over rows, but changes by
    (2h - F1 d) / mean(d) of a row when the row counts a little more (its influence). So the standard deviation of these
    numbers gives the standard error of F1, and that of their differences the error of a difference.

    >>> parts_of_f1(np.array([[1, 1], [0, 0]], bool), np.array([[1, 0], [1, 0]], bool)).tolist()
    [0.75, 0.25]
    """
    hits = (truth & found).sum(axis=1)
    either = truth.sum(axis=1) + found.sum(axis=1)
    f1 = 2 * float(hits.sum()) / max(1.0, float(either.sum()))
    parts: NDArray[np.float64] = f1 + (2 * hits - f1 * either) / max(float(either.mean()), 1 / len(truth))
    return parts


# ---- two contenders on the same rows


@dataclass(frozen=True, slots=True)
class PairTest:
    """A test whether one contender is better than another, or whether the difference may be chance."""

    better: str
    worse: str
    wins: int
    """The number of rows that only the better one classifies correctly. If rows have several labels, the number of rows
    for which it is right about more of them."""
    losses: int
    """The same for the worse one."""
    p: float
    """The probability of such a difference, or a larger one, if both are equally good."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def mcnemar(wins: int, losses: int) -> float:
    """Return the exact p of McNemar's test (1947).

    If both are equally good, each should win half of the rows that only one of them classifies correctly.

    >>> round(mcnemar(8, 1), 4), mcnemar(3, 3), mcnemar(0, 0)
    (0.0391, 1.0, 1.0)
    """
    from scipy.stats import binomtest

    if wins + losses == 0:
        return 1.0
    return float(binomtest(wins, wins + losses, 0.5).pvalue)


def p_of_lead(differences: NDArray[np.float64]) -> float:
    """Return the p of the mean of independent differences, by the normal distribution, as for many rows.

    >>> round(p_of_lead(np.array([1.0, 0.0, 1.0, 1.0, -1.0, 1.0, 0.0, 1.0])), 3), p_of_lead(np.zeros(9))
    (0.061, 1.0)
    """
    return math.erfc(abs(lead_in_errors_of(differences)) / math.sqrt(2))


def lead_in_errors_of(differences: NDArray[np.float64]) -> float:
    """Return the mean of differences in standard errors; 0 if it cannot be computed, because all are the same."""
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences)) if len(differences) > 1 else 0.0
    return float(differences.mean()) / error if error > 0 else 0.0


# ---- probabilities


class Bin(NamedTuple):
    """A group of predictions with similar probabilities."""

    predicted: float
    """Their mean probability."""
    observed: float
    """The share of predictions that are true."""
    count: int  # type: ignore[assignment] # tuples also have a method of this name
    """The number of predictions."""


@dataclass(frozen=True, repr=False)
class Calibration(Brief):
    """The calibration of probabilities: of all predictions with a probability of 80%, 80% should be true.

    For two classes, it uses the probability of the second class; for more, that of the predicted class.
    """

    bins: list[Bin]
    error: float
    """The calibration error: the difference between the predicted and the observed share of a bin, as the mean over all
    predictions."""

    @classmethod
    def of(cls, truth: NDArray[np.int64], probabilities: NDArray[np.float64], bins: int = BINS) -> Calibration:
        from sklearn.calibration import calibration_curve

        if probabilities.shape[1] == 2:
            predictions, true = probabilities[:, 1], truth == 1
        else:
            predictions, true = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
        predictions = np.clip(predictions, 0.0, 1.0)  # a sum of probabilities may be a little more than 1
        observed, predicted = calibration_curve(true, predictions, n_bins=bins)
        # The curve does not say how many predictions each bin has, and leaves out empty bins.
        counts = np.bincount(np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], predictions), minlength=bins)
        counts = counts[counts > 0]
        error = float((counts * abs(observed - predicted)).sum() / counts.sum())
        return cls(
            [Bin(*one) for one in zip(predicted.tolist(), observed.tolist(), counts.tolist(), strict=True)], error
        )

    def as_dict(self) -> dict[str, Any]:
        return {"error": self.error, "bins": [one._asdict() for one in self.bins]}


def log_loss(truth: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Return the mean of -ln p, where p is the probability of the right class."""
    from sklearn import metrics

    sums = probabilities.sum(axis=1, keepdims=True)
    return float(metrics.log_loss(truth, probabilities / sums, labels=np.arange(probabilities.shape[1])))
