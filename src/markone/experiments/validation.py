"""The result of a validation: how good a way to learn is on test rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data.source import Label
from markone.experiments.contenders import Answer, Way
from markone.experiments.splits import Method, Plan, Split
from markone.experiments.statistics import (
    Calibration,
    Interval,
    corrected_interval,
    interval_of_mean,
    parts_of_f1,
    wilson,
)
from markone.learning.samples import Sample
from markone.model.evaluation import no_better
from markone.model.history import History, thinned
from markone.reporting.charts import Chart, Line
from markone.reporting.grids import Grid, plain_number
from markone.reporting.shown import Content, Shown

Metric = Literal["accuracy", "micro F1", "mean squared error"]
FOLDS_SHOWN = 20
ALL_SHOWN = 12
IN_WORDS: dict[Method, str] = {"holdout": "hold-out", "kfold": "k-fold", "loo": "leave-one-out"}


class CurvePoint(NamedTuple):
    """The accuracy after a pass."""

    epoch: int
    last: float
    """The accuracy of the last weights on the test rows, as the mean of the folds."""
    averaged: float | None
    """The accuracy of the averaged weights, if there are any."""

    @property
    def used(self) -> float:
        """The accuracy of the weights that are used."""
        return self.last if self.averaged is None else self.averaged


@dataclass(frozen=True, repr=False)
class Fold(Brief):
    """The result of one split. In leave-one-out, all rows form one fold."""

    number: int
    """The number of the fold in its repeat, starting with 1."""
    repeat: int
    """The number of the repeat, starting with 1."""
    learned: int
    """The number of training rows."""
    rows: NDArray[np.int64]
    """The numbers of the test rows in the source."""
    truth: NDArray[Any]
    """The numbers of their classes; for a regression, their targets; with several labels, which of them each row has
    (rows × labels)."""
    predicted: NDArray[Any]
    """The predictions, in the same form."""
    probabilities: NDArray[np.float64] | None
    """The probability of each row and class, if there are any; with several labels, that it does not have a label, and
    that it has it (rows × 2 × labels)."""
    score: float
    """Accuracy, micro F1, or mean squared error."""
    seconds: float
    """The time of training, without features and tests."""
    history: History | None
    """The passes. Their held-out accuracy is the accuracy on the test rows."""
    bytes: int | None = None
    """The size of the model file, if it was measured."""
    settings: dict[str, Any] | None = None
    """The chosen settings of this fold, if they were tuned."""
    scores: NDArray[Any] | None = None
    """The scores of the test rows, if they were computed."""


@dataclass(frozen=True, repr=False)
class Validation(Shown):
    """The result of a validation. When printed, it shows a table."""

    method: Method
    name: str
    """The rule, or the class of an estimator."""
    metric: Metric
    classes: list[Label]
    folds: list[Fold]
    trained: int
    """The number of trainings. Exact leave-one-out may need fewer than one per row."""
    remarks: list[str] = field(default_factory=list)
    """Remarks for the user, in sentences."""

    def in_brief(self) -> str:
        return f"{self.name}, {self.metric} {self._shown(self.mean)}. {self._tests_in_words()}"

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """The score of each fold."""
        return np.array([fold.score for fold in self.folds])

    @cached_property
    def tested(self) -> int:
        """The number of tests."""
        return sum(len(fold.rows) for fold in self.folds)

    @cached_property
    def mean(self) -> float:
        """The mean of the scores of the folds."""
        return float(self.scores.mean())

    @cached_property
    def std(self) -> float | None:
        """The standard deviation of the scores of the folds; None for a single fold."""
        return float(self.scores.std(ddof=1)) if len(self.folds) > 1 else None

    @cached_property
    def interval(self) -> Interval:
        """The 95% interval of the score.

        A single hold-out and leave-one-out test each row once, so the accuracy is a share of rows, with Wilson's
        interval. A mean squared error has Student's interval. Several folds give a mean of scores. Its interval is
        Nadeau and Bengio's corrected t, since folds share most of their training rows, and Student's would be too
        narrow. If Wilson's interval for the number of tested rows is wider, it is used, since a few folds may be
        similar by chance.
        """
        accuracy = self.metric == "accuracy"
        if self.metric == "micro F1":
            parts, ratio = parts_of_f1(self.truth, self.predicted), self._tested_to_learned
            single = len(self.folds) == 1
            low, high = interval_of_mean(parts) if single else corrected_interval(self.scores, ratio)
            return max(0.0, low), min(1.0, high)
        if len(self.folds) == 1:
            if not accuracy:
                return max(0.0, (found := interval_of_mean((self.predicted - self.truth) ** 2))[0]), found[1]
            return wilson(int((self.predicted == self.truth).sum()), self.tested)
        low, high = corrected_interval(self.scores, self._tested_to_learned)
        if accuracy:
            rows = sum(len(fold.rows) for fold in self.folds if fold.repeat == 1)
            least, most = wilson(round(self.mean * rows), rows)
            low, high = min(low, least), min(1.0, max(high, most))
        return max(0.0, low), high

    @cached_property
    def truth(self) -> NDArray[Any]:
        """The true classes or targets of all tests, fold by fold."""
        return np.concatenate([fold.truth for fold in self.folds])

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """The predictions of all tests, fold by fold."""
        return np.concatenate([fold.predicted for fold in self.folds])

    @cached_property
    def probabilities(self) -> NDArray[np.float64] | None:
        """The probabilities of all tests, fold by fold; None if a fold has none."""
        found = [fold.probabilities for fold in self.folds if fold.probabilities is not None]
        return np.concatenate(found) if len(found) == len(self.folds) else None

    @cached_property
    def calibration(self) -> Calibration | None:
        """The calibration of the probabilities; None if there are none."""
        return None if self.probabilities is None else Calibration.of(*self.decisions)

    @cached_property
    def decisions(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The true classes and the probabilities, which must be there. With several labels, every pair of a row and a
        label counts as a row of two classes."""
        assert self.probabilities is not None
        if self.metric != "micro F1":
            return self.truth, self.probabilities
        return self.truth.ravel().astype(np.int64), np.moveaxis(self.probabilities, 1, 2).reshape(-1, 2)

    @cached_property
    def seconds(self) -> float:
        """The time of training, as the mean of the folds."""
        return float(np.mean([fold.seconds for fold in self.folds]))

    @cached_property
    def passes(self) -> float | None:
        """The number of passes, as the mean of the folds; None if there are no passes."""
        found = [len(fold.history) for fold in self.folds if fold.history is not None]
        return float(np.mean(found)) if found else None

    def curve(self) -> list[CurvePoint]:
        """Return the accuracy on test rows after each pass, as the mean of all folds.

        A fold that stops early counts with its last accuracy. Passes that were not measured in all other folds are left
        out.
        """
        histories = [fold.history for fold in self.folds if fold.history is not None and len(fold.history)]
        points = []
        for epoch in range(1, max(map(len, histories), default=0) + 1):
            found = [history[min(epoch, len(history)) - 1] for history in histories]
            last = [one.holdout_last for one in found if one.holdout_last is not None]
            averaged = [one.holdout_averaged for one in found if one.holdout_averaged is not None]
            if len(last) == len(found):
                both = len(averaged) == len(found)
                points.append(CurvePoint(epoch, float(np.mean(last)), float(np.mean(averaged)) if both else None))
        return points

    @cached_property
    def over_training(self) -> int | None:
        """The pass with the best accuracy, if later passes reduced the accuracy significantly; else None.

        Without this test, the best of many passes would often be the best by chance.
        """
        points = self.curve()
        if not points:
            return None
        best = max(points, key=lambda point: (point.used, -point.epoch))
        return best.epoch if self._least_loss(best.epoch, best.used - points[-1].used) > 0 else None

    def _least_loss(self, epoch: int, lost: float) -> float:
        """Return the lower end of the 95% interval of the accuracy that is lost after a pass."""
        losses = [
            (history[min(epoch, len(history)) - 1].holdout or 0.0) - (history[len(history) - 1].holdout or 0.0)
            for history in (fold.history for fold in self.folds)
            if history is not None
        ]
        # It is not known which rows changed, but at least as many as were lost.
        rows = sum(len(fold.rows) for fold in self.folds if fold.repeat == 1)
        least = lost - 2 * math.sqrt(max(lost, 0.0) / rows)
        if len(losses) > 1:  # a few folds may be similar by chance
            least = min(least, corrected_interval(losses, self._tested_to_learned)[0])
        return least

    @property
    def _tested_to_learned(self) -> float:
        return self.tested / sum(fold.learned for fold in self.folds)

    def as_dict(self) -> dict[str, Any]:
        """Return everything except the single predictions, for JSON."""
        return {
            "method": self.method,
            "name": self.name,
            "metric": self.metric,
            "mean": self.mean,
            "std": self.std,
            "interval": [one if math.isfinite(one) else None for one in self.interval],
            **({} if self.majority is None else {"majority": self.majority}),
            "tested": self.tested,
            "trained": self.trained,
            "classes": self.classes,
            "folds": [
                {
                    "repeat": fold.repeat,
                    "fold": fold.number,
                    "learned": fold.learned,
                    "tested": len(fold.rows),
                    "score": fold.score,
                    "seconds": fold.seconds,
                    "passes": None if fold.history is None else len(fold.history),
                    **({} if fold.settings is None else {"settings": fold.settings}),
                }
                for fold in self.folds
            ],
            "curve": [point._asdict() for point in self.curve()],
            "over_training": self.over_training,
            "remarks": self.remarks,
        }

    def parts(self) -> Iterator[Content]:
        low, high = map(self._shown, self.interval)
        spread = "" if self.std is None else f", standard deviation {self._shown(self.std)}"
        yield from self._warning()
        yield f"{self.name}: {self.metric} {self._shown(self.mean)}, 95% interval {low} to {high}{spread}."
        yield f"{self._tests_in_words()}."
        if len(self.folds) > 1:
            yield from ("", self._grid())
        if self.curve():
            yield from ("", *self._curve_parts())
        if self.remarks:
            yield from ("", *self.remarks)

    def contents(self) -> Iterator[Content]:
        yield from self.parts()
        points = self.curve()
        epochs = [point.epoch for point in points]
        curves = {
            "last": [point.last for point in points if point.last is not None],
            "averaged": [point.averaged for point in points if point.averaged is not None],
        }
        lines = [
            Line(epochs, values, name, number)
            for number, (name, values) in enumerate(curves.items())
            if len(values) == len(epochs)
        ]
        if len(points) > 1 and lines:
            yield Chart(tuple(lines), "Accuracy after each pass", x="pass")

    @cached_property
    def majority(self) -> float | None:
        """The accuracy of always predicting the most frequent class of the test rows; None for a regression."""
        return None if self.metric != "accuracy" else float(np.bincount(self.truth).max() / len(self.truth))

    def _warning(self) -> list[str]:
        accuracy = float((self.predicted == self.truth).mean()) if self.majority is not None else 1.0
        return [] if self.majority is None else no_better(accuracy, self.majority, f"{self.tested:,} tested rows")

    def _shown(self, score: float) -> str:
        return plain_number(score) if self.metric == "mean squared error" else f"{score:.2%}"

    def _tests_in_words(self) -> str:
        name = IN_WORDS[self.method]
        if self.method == "loo":
            trainings = "one training" if self.trained == 1 else f"{self.trained:,} trainings"
            return f"{name[0].upper()}{name[1:]}: {self.tested:,} rows, each tested alone, with {trainings}"
        first = self.folds[0]
        if len(self.folds) == 1:
            return f"Hold-out: trained on {first.learned:,} rows, tested on {len(first.rows):,}"
        repeats = max(fold.repeat for fold in self.folds)
        each = len(self.folds) // repeats
        if self.method == "holdout":
            return f"Hold-out, {repeats} times: trained on {first.learned:,} rows, tested on {len(first.rows):,}"
        again = "" if repeats == 1 else f", {repeats} times"
        return f"{each}-fold{again}: {self.tested // repeats:,} rows, each tested once{' per repeat' if again else ''}"

    def _grid(self) -> Grid:
        def cells(fold: Fold) -> list[str]:
            passes = "-" if fold.history is None else str(len(fold.history))
            return [f"{len(fold.rows):,}", self._shown(fold.score), passes]

        return grid_of_folds(self.folds, ["tested", "accuracy" if self.classes else "error", "passes"], cells)

    def _curve_parts(self) -> Iterator[Content]:
        points = self.curve()
        if len(points) < 2:
            return
        shown = [points[i] for i in thinned(len(points), ALL_SHOWN)]
        averaged = any(point.averaged is not None for point in points)
        head = ["after pass", *(["last", "averaged"] if averaged else ["accuracy"])]
        rows = []
        for point in shown:
            values = [point.last, *([point.averaged] if averaged else [])]
            rows.append([str(point.epoch), *("-" if value is None else f"{value:.2%}" for value in values)])
        yield Grid([head], rows)
        if self.over_training is not None:
            yield f"Overfitting: accuracy falls after pass {self.over_training}."


class AnyFold(Protocol):
    """What the folds of all validations have in common."""

    @property
    def number(self) -> int: ...
    @property
    def repeat(self) -> int: ...
    @property
    def learned(self) -> int: ...
    @property
    def seconds(self) -> float: ...


OneFold = TypeVar("OneFold", bound=AnyFold)


def grid_of_folds(folds: Sequence[OneFold], heads: list[str], cells: Callable[[OneFold], list[str]]) -> Grid:
    """Return a table of folds, with the given cells of each. Of many folds, the first are shown."""
    repeated = folds[-1].repeat > 1
    rows = [
        [
            f"{fold.repeat}.{fold.number}" if repeated else str(fold.number),
            f"{fold.learned:,}",
            *cells(fold),
            f"{fold.seconds:.3f}",
        ]
        for fold in folds[:FOLDS_SHOWN]
    ]
    if len(folds) > FOLDS_SHOWN:
        rows.append(["...", *[""] * (len(heads) + 2)])
    return Grid([["fold", "learned", *heads, "seconds"]], rows)


def fold_of(sample: Sample, split: Split, answer: Answer) -> Fold:
    """Return the fold with the score of an answer."""
    truth = sample.targets(split.tested)
    return Fold(
        number=split.number,
        repeat=split.repeat,
        learned=len(sample) - len(split.tested),
        rows=sample.held.numbers[split.tested],
        truth=truth,
        predicted=answer.predicted,
        probabilities=answer.probabilities,
        score=score_of(truth, answer.predicted, sample.is_regression),
        seconds=answer.seconds,
        history=answer.history,
        bytes=answer.bytes,
        settings=answer.settings,
        scores=answer.scores,
    )


def score_of(truth: NDArray[Any], predicted: NDArray[Any], regression: bool) -> float:
    from sklearn import metrics

    if truth.ndim == 2:
        return float(parts_of_f1(truth, predicted).mean())
    measure: Callable[..., Any] = metrics.mean_squared_error if regression else metrics.accuracy_score
    return float(measure(truth, predicted))


def result(
    sample: Sample, plan: Plan, way: Way, folds: list[Fold], remarks: list[str], trained: int | None = None
) -> Validation:
    return Validation(
        method=plan.method,
        name=way.name,
        metric="mean squared error" if sample.is_regression else "accuracy" if sample.sets is None else "micro F1",
        classes=sample.classes,
        folds=folds,
        trained=len(folds) if trained is None else trained,
        remarks=remarks,
    )


def about_rows(sample: Sample) -> list[str]:
    count = sample.held.unlabelled
    if not count:
        return []
    return [f"{count:,} {'row has' if count == 1 else 'rows have'} no label and cannot be used."]
