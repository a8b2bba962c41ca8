"""Statistics: how sure one can be of what was measured. Metrics and distributions are scikit-learn's and SciPy's."""

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
    """Where a share lies, with a probability of 95 %, of which `right` of `total` were found (Wilson 1927).

    >>> [round(end, 4) for end in wilson(81, 100)]
    [0.7222, 0.8749]
    """
    from scipy.stats import binomtest

    found = binomtest(right, total).proportion_ci(CONFIDENCE, method="wilson")
    return float(found.low), float(found.high)


def interval_of_mean(values: Sequence[float] | NDArray[np.float64]) -> Interval:
    """Where the mean lies, with a probability of 95 %, of which these are independent measurements (Student's t)."""
    return corrected_interval(values, 0.0)


def corrected_interval(scores: Sequence[float] | NDArray[np.float64], tested_to_learned: float) -> Interval:
    """Where the mean score lies, with a probability of 95 %, by Nadeau and Bengio's corrected resampled t (2003).

    The scores of folds are no independent measurements: any two folds learn from much the same rows. Student's interval
    takes the variance of their mean for s²/J; this one takes s² (1/J + n_tested/n_learned), which is nearer the truth.
    With 0 for the second term it is Student's.
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


# ---- two contenders on the same rows


@dataclass(frozen=True, slots=True)
class PairTest:
    """Whether one is better than another, or whether chance alone may have made it look so."""

    better: str
    worse: str
    wins: int
    """Rows that only the better one gets right."""
    losses: int
    """Rows that only the worse one gets right."""
    p: float
    """How probable it is that two which are equally good differ so much on as many rows, or more."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def mcnemar(wins: int, losses: int) -> float:
    """The exact p of McNemar's test (1947): of rows on which just one of two is right, either should be on half.

    >>> round(mcnemar(8, 1), 4), mcnemar(3, 3), mcnemar(0, 0)
    (0.0391, 1.0, 1.0)
    """
    from scipy.stats import binomtest

    if wins + losses == 0:
        return 1.0
    return float(binomtest(wins, wins + losses, 0.5).pvalue)


# ---- probabilities


class Bin(NamedTuple):
    """Predictions of about the same probability."""

    predicted: float
    """Their mean probability."""
    observed: float
    """The share of them that is so."""
    count: int  # type: ignore[assignment] # which is a method of tuples, too
    """How many they are."""


@dataclass(frozen=True, repr=False)
class Calibration(Brief):
    """Whether probabilities are what they say: of what is said with 80 %, 80 % should be so.

    Of two classes it is the probability of the second that is looked at, of more that of the class which is predicted.
    """

    bins: list[Bin]
    error: float
    """By how much the probabilities are off, as the mean over all predictions of their bin's difference."""

    @classmethod
    def of(cls, truth: NDArray[np.int64], probabilities: NDArray[np.float64], bins: int = BINS) -> Calibration:
        from sklearn.calibration import calibration_curve

        if probabilities.shape[1] == 2:
            said, so = probabilities[:, 1], truth == 1
        else:
            said, so = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
        said = np.clip(said, 0.0, 1.0)  # a sum of probabilities may be a little more than 1
        observed, predicted = calibration_curve(so, said, n_bins=bins)
        # The curve leaves out how many predictions each of its bins has, and bins that have none.
        counts = np.bincount(np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], said), minlength=bins)
        counts = counts[counts > 0]
        error = float((counts * abs(observed - predicted)).sum() / counts.sum())
        return cls(
            [Bin(*one) for one in zip(predicted.tolist(), observed.tolist(), counts.tolist(), strict=True)], error
        )

    def as_dict(self) -> dict[str, Any]:
        return {"error": self.error, "bins": [one._asdict() for one in self.bins]}


def log_loss(truth: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """The mean of -ln of the probability of the right class."""
    from sklearn import metrics

    sums = probabilities.sum(axis=1, keepdims=True)
    return float(metrics.log_loss(truth, probabilities / sums, labels=np.arange(probabilities.shape[1])))
