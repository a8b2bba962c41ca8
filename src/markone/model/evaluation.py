"""Evaluation: counts right and wrong predictions, batch by batch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from markone.data.labels import KnownLabels
from markone.data.source import UNLABELLED, Label
from markone.errors import DataError
from markone.model.decisions import ABSTAINED, Abstention, Threshold
from markone.reporting.grids import SCREEN, Facts, Grid, cells, label_in_words
from markone.reporting.shown import Content, Shown

NORMAL_95 = 1.959963984540054
MOST_IN_MATRIX = 12
MOST_IN_TABLE = 24
CONFUSIONS_SHOWN = 10
LABEL_WIDTH = 20
MEASURE_WIDTH = 8
STRANGERS_SHOWN = 5
BINS = 10
"""The number of groups of probabilities for the calibration error."""


@dataclass(frozen=True, repr=False)
class Evaluation(Shown):
    """The result of a model on labelled examples. It prints as a table."""

    classes: list[Label]
    """The classes of the model."""
    counts: dict[tuple[int, int], int]
    """The number of examples for each pair of a true and a predicted class. The true class `len(classes)` stands for
    all labels that the model does not know; these are always mistakes."""
    strangers: list[Label]
    """The first labels that the model does not know."""
    unlabelled: int = 0
    """The number of examples that were skipped because they have no label."""
    log_loss: float | None = None
    """The mean of -ln P(right class) over the examples whose label the model knows; None if the model has no
    probabilities."""
    brier: float | None = None
    """The Brier score: the mean squared error of the probability of the second class or, with more than two classes,
    the mean sum of the squared errors of all classes."""
    calibration_error: float | None = None
    """How far probabilities are from what is observed, on average: of all predictions with a probability of 80%, 80%
    should be true. The predictions are put into ten bins (ECE)."""
    threshold: Threshold | None = None
    """The threshold of the model; None for a score of 0."""
    abstention: Abstention | None = None
    """When the model makes no prediction; None if it always does."""
    abstained: int = 0
    """The number of labelled examples without a prediction. Only the three measures of probabilities count them."""

    def in_brief(self) -> str:
        return f"accuracy {self.accuracy:.2%} of {self.total:,} examples, {len(self.classes):,} classes"

    @cached_property
    def total(self) -> int:
        """The number of labelled examples."""
        return sum(self.counts.values())

    @cached_property
    def right(self) -> int:
        """The number of examples whose label was predicted."""
        return sum(count for (truth, found), count in self.counts.items() if truth == found)

    @property
    def accuracy(self) -> float:
        """The share of the labelled examples whose label was predicted."""
        return self.right / self.total

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the accuracy (Wilson 1927)."""
        n, p, z = self.total, self.accuracy, NORMAL_95
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """The number of examples of each class."""
        return self._sums(0)[:-1]

    @property
    def unknown(self) -> int:
        """The number of examples whose label the model does not know."""
        return int(self._sums(0)[-1])

    @property
    def majority(self) -> tuple[Label, float]:
        """The most frequent class, and the accuracy of always predicting it."""
        most = int(self.support.argmax())
        return self.classes[most], int(self.support[most]) / self.total

    @cached_property
    def precision(self) -> NDArray[np.float64]:
        """For each class, the share of its predictions that are right; 0 if it was never predicted."""
        return ratio(self._hits, self._sums(1)[:-1])

    @cached_property
    def recall(self) -> NDArray[np.float64]:
        """For each class, the share of its examples that were predicted right; 0 if it has no examples."""
        return ratio(self._hits, self.support)

    @cached_property
    def f1(self) -> NDArray[np.float64]:
        """The harmonic mean of precision and recall."""
        return ratio(2 * self._hits, self._sums(1)[:-1] + self.support)

    @property
    def macro_f1(self) -> float:
        """The unweighted mean of F1 over the classes that occur or were predicted."""
        met = (self.support > 0) | (self._sums(1)[:-1] > 0)
        return float(self.f1[met].mean())

    @property
    def confusion(self) -> NDArray[np.int64]:
        """The confusion matrix: row i, column j is how often class j was predicted for class i."""
        size = len(self.classes)
        matrix = np.zeros((size, size), np.int64)
        for (truth, found), count in self.counts.items():
            if truth < size:
                matrix[truth, found] = count
        return matrix

    def confusions(self, most: int = CONFUSIONS_SHOWN) -> list[tuple[Label, Label, int]]:
        """Return the most frequent mistakes: the true class, the predicted class, and the number of examples."""
        wrong = [(pair, count) for pair, count in self.counts.items() if len(self.classes) > pair[0] != pair[1]]
        wrong.sort(key=lambda one: (-one[1], one[0]))
        return [(self.classes[truth], self.classes[found], count) for (truth, found), count in wrong[:most]]

    def _sums(self, axis: int) -> NDArray[np.int64]:
        """Count how often each class is the truth (0) or was predicted (1); the last count is for unknown labels."""
        sums = np.zeros(len(self.classes) + 1, np.int64)
        for pair, count in self.counts.items():
            sums[pair[axis]] += count
        return sums

    @cached_property
    def _hits(self) -> NDArray[np.int64]:
        return np.array([self.counts.get((i, i), 0) for i in range(len(self.classes))], np.int64)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers for JSON."""
        label, share = self.majority
        names = ("precision", "recall", "f1", "support")
        return {
            "examples": self.total,
            "right": self.right,
            "accuracy": self.accuracy,
            "interval": list(self.interval),
            "majority": {"class": label, "accuracy": share},
            "macro_f1": self.macro_f1,
            "log_loss": self.log_loss,
            "brier": self.brier,
            "calibration_error": self.calibration_error,
            "threshold": None if self.threshold is None else self.threshold.as_dict(),
            "abstention": None if self.abstention is None else self.abstention.as_dict(),
            "abstained": self.abstained,
            "unlabelled": self.unlabelled,
            "unknown": {"examples": self.unknown, "labels": self.strangers},
            "classes": [
                {"class": label, **{name: getattr(self, name)[i].item() for name in names}}
                for i, label in enumerate(self.classes)
            ],
            "confusions": [
                {"class": truth, "taken_for": found, "examples": count}
                for truth, found, count in self.confusions(len(self.counts))
            ],
        }

    def parts(self) -> Iterator[Content]:
        label, share = self.majority
        if not self.threshold:
            yield from no_better(self.accuracy, share, f"{self.total:,} examples")
        yield f"{self.right:,} of {self.total:,} examples are right."
        if self.unknown:
            names = ", ".join(map(shown, self.strangers)) + (", ..." if len(self.strangers) == STRANGERS_SHOWN else "")
            yield f"{self.unknown:,} have labels that the model does not know, and count as mistakes: {names}"
        if self.abstained:
            yield f"For {self.abstained:,} more, the model makes no prediction."
        if self.unlabelled:
            yield f"{self.unlabelled:,} more have no label and were skipped."
        yield ""
        yield Facts([*self._measures(label, share)], least=MEASURE_WIDTH)
        yield ""
        yield by_class("class", self)
        matrix = self._matrix() if len(self.classes) <= MOST_IN_MATRIX else None
        fits = matrix is not None and max(cells(line) for line, _ in matrix.lines(10**6)) <= SCREEN
        if (last := matrix if fits else self._largest()) is not None:
            yield ""
            yield last

    def _measures(self, majority: Label, share: float) -> Iterator[tuple[str, str, str]]:
        low, high = self.interval
        yield "accuracy", f"{self.accuracy:.2%}", f"95% interval: {low:.2%} to {high:.2%}"
        yield "majority", f"{share:.2%}", f"by always predicting {shown(majority)}"
        if self.log_loss is not None:
            yield "log-loss", f"{self.log_loss:.4f}", ""
        if self.brier is not None and self.calibration_error is not None:
            yield "Brier", f"{self.brier:.4f}", ""
            yield "ECE", f"{self.calibration_error:.2%}", "the mean error of probabilities"
        if self.threshold is not None:
            note = f"{shown(self.classes[1])} is predicted from this score on, for {self.threshold.aim_in_words}"
            yield "threshold", f"{self.threshold.score:.4g}", note
        if self.abstention is not None:
            left_out = self.abstained / (self.abstained + self.total)
            note = f"without a prediction, for an error of at most {self.abstention.error:.2%}"
            yield "abstained", f"{left_out:.2%}", note

    def _matrix(self) -> Grid:
        names = list(map(shown, self.classes))
        counts = [[f"{count:,}" for count in row] for row in self.confusion.tolist()]
        if self.unknown:
            strangers = [self.counts.get((len(names), i), 0) for i in range(len(names))]
            counts.append([f"{count:,}" for count in strangers])
            names = [*names, "unknown"]
        header = ["is \\ said", *names[: len(self.classes)]]
        return Grid([header], [[name, *row] for name, row in zip(names, counts, strict=True)])

    def _largest(self) -> Grid | None:
        """Return the most frequent mistakes, or None if there are none."""
        rows = [[shown(truth), shown(said), f"{count:,}"] for truth, said, count in self.confusions()]
        return Grid([["is", "said", "examples"]], rows, words=(0, 1)) if rows else None


def no_better(accuracy: float, majority: float, on: str, rule: str = "another rule") -> list[str]:
    """Return a warning if a model is no better than always predicting the most frequent class, or an empty list.

    >>> no_better(0.9, 0.6, "the test")
    []
    >>> print(*no_better(0.55, 0.6, "the test"))  # doctest: +ELLIPSIS
    The model is no better than always predicting the most frequent class: 55.0% right on the test, against 60.0%...
    """
    if accuracy > majority or majority == 1:
        return []
    return [
        f"The model is no better than always predicting the most frequent class: {accuracy:.1%} right on {on}, against "
        f"{majority:.1%}. Try {rule}, other features or more data; or the labels do not depend on these features."
    ]


class EvaluationTally:
    """Counts predictions batch by batch. Its memory depends on the number of classes, not of examples."""

    def __init__(
        self, classes: list[Label], log_probabilities: Callable[[NDArray[Any]], NDArray[np.float64]] | None
    ) -> None:
        """Begin to count. `log_probabilities` makes them from scores; None if there are none."""
        self.classes = classes
        self.log_probabilities = log_probabilities
        self.labels = KnownLabels(classes)
        self.numbers = np.zeros(0, np.int64)
        self.strangers: list[Label] = []
        self.counts: Counter[tuple[int, int]] = Counter()
        self.unlabelled = self.known = self.abstained = 0
        self.loss = self.squares = 0.0
        self.gaps = np.zeros(BINS)
        """For each bin of probabilities, the sum of their differences from what was observed."""
        self.threshold: Threshold | None = None
        self.abstention: Abstention | None = None

    def add(
        self, names: list[Label], labels: NDArray[np.int32], found: NDArray[np.int64], scores: NDArray[np.float32]
    ) -> None:
        """Add a batch: its labels as indices of `names`, which may grow, the predicted classes, and the scores."""
        self._learn(names)
        labelled = labels != UNLABELLED
        self.unlabelled += int((~labelled).sum())
        truth, found = self.numbers[labels[labelled]], found[labelled]
        answered = found != ABSTAINED
        self.abstained += int((~answered).sum())
        pairs, counts = np.unique((truth * len(self.classes) + found)[answered], return_counts=True)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            self.counts[divmod(pair, len(self.classes))] += count
        if self.log_probabilities is not None:
            known = truth < len(self.classes)
            self._judge(self.log_probabilities(scores[labelled][known]), truth[known])

    def _judge(self, log_p: NDArray[np.float64], truth: NDArray[np.int64]) -> None:
        """Add the probabilities of some examples to the sums."""
        self.known += len(log_p)
        self.loss -= float(log_p[np.arange(len(log_p)), truth].sum())
        p = np.exp(log_p)
        self.squares += float(squared_errors(p, truth).sum()) * 2
        if p.shape[1] == 2:
            said, true = p[:, 1], truth == 1
        else:
            said, true = p.max(axis=1), p.argmax(axis=1) == truth
        bins = np.minimum((said * BINS).astype(np.int64), BINS - 1)
        self.gaps += np.bincount(bins, said - true, minlength=BINS)

    def _learn(self, names: list[Label]) -> None:
        """Find the classes of the labels that are new in `names`."""
        new = names[len(self.numbers) :]
        unknown = len(self.classes)
        found = [self.labels.number(name) for name in new]
        numbers = [unknown if number is None else number for number in found]
        strange = [name for name, number in zip(new, numbers, strict=True) if number == unknown]
        self.strangers += strange[: STRANGERS_SHOWN - len(self.strangers)]
        self.numbers = np.append(self.numbers, np.array(numbers, np.int64))

    def merge(self, other: EvaluationTally) -> None:
        """Add what another tally has counted in one batch: the sums then have the same bits as after `add`."""
        self.strangers += [name for name in other.strangers if name not in self.strangers]
        del self.strangers[STRANGERS_SHOWN:]
        self.counts.update(other.counts)
        self.unlabelled += other.unlabelled
        self.abstained += other.abstained
        self.known += other.known
        self.loss += other.loss
        self.squares += other.squares
        self.gaps += other.gaps

    def __getstate__(self) -> dict[str, Any]:
        """What other processes need for `merge`."""
        return {**self.__dict__, "log_probabilities": None, "labels": None, "numbers": None}

    def evaluation(self) -> Evaluation:
        if self.abstained and not self.counts:
            raise DataError(f"the model makes no prediction for any of the {self.abstained:,} labelled examples")
        if not self.counts:
            raise DataError("there are no labelled examples to measure accuracy on")
        if all(truth == len(self.classes) for truth, _ in self.counts):
            theirs, mine = (", ".join(map(repr, labels[:5])) for labels in (self.strangers, self.classes))
            raise DataError(f"none of the labels ({theirs}) is a class of the model ({mine})")
        found = Evaluation(
            self.classes,
            dict(self.counts),
            self.strangers,
            self.unlabelled,
            threshold=self.threshold,
            abstention=self.abstention,
            abstained=self.abstained,
        )
        if self.log_probabilities is None:
            return found
        return replace(
            found,
            log_loss=self.loss / self.known,
            brier=self.squares / self.known,
            calibration_error=float(np.abs(self.gaps).sum()) / self.known,
        )


def log_probabilities(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Return the logarithm of the softmax of the scores, which may be infinite."""
    if scores.shape[1] == 1:  # the same numbers in fewer steps: those below 0, and 0
        above = np.zeros((len(scores), 2))
        np.minimum(scores[:, 0], 0.0, out=above[:, 1])
        np.minimum(-scores[:, 0], 0.0, out=above[:, 0])
    else:
        scores = scores.astype(np.float64)
        top = scores.max(axis=1, keepdims=True)
        above = np.subtract(scores, top, out=np.zeros_like(scores), where=scores != top)
    above -= np.log(np.exp(above).sum(axis=1, keepdims=True))
    return above


def squared_errors(probabilities: NDArray[np.float64], labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return half the squared errors, of the second class if there are two, and of all classes if there are more."""
    missed = probabilities.copy()
    missed[np.arange(len(labels)), labels] -= 1
    squares = missed[:, 1] ** 2 if missed.shape[1] == 2 else (missed**2).sum(axis=1)
    errors: NDArray[np.float64] = squares / 2
    return errors


def of_each_class(scores: NDArray[Any]) -> NDArray[Any]:
    """Return one score for each class: with two classes, a 0 is added for the first."""
    if scores.shape[1] != 1:
        return scores
    both = np.zeros((len(scores), 2), scores.dtype)
    both[:, 1] = scores[:, 0]
    return both


def ratio(above: NDArray[np.int64], below: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the quotients, and 0 for 0 / 0."""
    return above / np.maximum(below, 1)


class OfClasses(Protocol):
    """The measures of each class."""

    @property
    def classes(self) -> list[Label]: ...
    @property
    def precision(self) -> NDArray[np.float64]: ...
    @property
    def recall(self) -> NDArray[np.float64]: ...
    @property
    def f1(self) -> NDArray[np.float64]: ...
    @property
    def support(self) -> NDArray[np.int64]: ...


def by_class(title: str, of: OfClasses) -> Grid:
    """Return a table with a line for each class; of many classes, only for the worst."""
    order = list(range(len(of.classes)))
    if len(order) > MOST_IN_TABLE:
        order = [i for i in np.argsort(of.f1, kind="stable").tolist() if of.support[i]][:MOST_IN_TABLE]
        title = f"worst {len(order)}"
    shares = (of.precision, of.recall, of.f1)
    rows = [[shown(of.classes[i]), *(f"{share[i]:.2%}" for share in shares), f"{of.support[i]:,}"] for i in order]
    return Grid([[title, "precision", "recall", "F1", "examples"]], rows)


def shown(label: Label) -> str:
    return label_in_words(label, LABEL_WIDTH)
