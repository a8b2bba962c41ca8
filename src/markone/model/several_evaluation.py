"""The evaluation of a model whose rows can have several labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.labels import KnownLabels, in_fixed_order, members_of, sets_of
from markone.data.source import UNLABELLED, Label
from markone.errors import DataError
from markone.model.evaluation import MEASURE_WIDTH, STRANGERS_SHOWN, by_class, ratio, shown
from markone.reporting.grids import Facts
from markone.reporting.shown import Content, Shown

Counts = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class SeveralEvaluation(Shown):
    """The result of a model on examples with several labels each. It prints as a table."""

    classes: list[Label]
    """The labels of the model."""
    total: int
    """The number of labelled examples; those with an empty list of labels are among them."""
    right: int
    """The number of examples for which exactly their labels were predicted."""
    hits: Counts
    """For each label, the number of examples that have it and for which it was predicted."""
    predicted: Counts
    """For each label, the number of examples for which it was predicted."""
    support: Counts
    """For each label, the number of examples that have it."""
    unknown: int = 0
    """How often examples have labels that the model does not know. They count as labels that were missed."""
    strangers: tuple[Label, ...] = ()
    """The first labels that the model does not know."""
    unlabelled: int = 0
    """The number of examples that were skipped because their labels are missing."""
    log_loss: float | None = None
    """The mean of -ln P over all examples and labels, where P is the probability that the example has the label or, if
    it does not, that it does not have it; None if the model has no probabilities."""

    def in_brief(self) -> str:
        return f"micro F1 {self.micro_f1:.2%} of {self.total:,} examples, {len(self.classes):,} labels"

    @property
    def accuracy(self) -> float:
        """The share of examples for which exactly their labels were predicted (subset accuracy)."""
        return self.right / self.total

    @property
    def hamming_loss(self) -> float:
        """The share of wrong decisions, of all pairs of an example and a label."""
        wrong = self.predicted + self.support - 2 * self.hits
        return float(wrong.sum()) / (self.total * len(self.classes))

    @cached_property
    def precision(self) -> NDArray[np.float64]:
        """For each label, the share of its predictions that are right; 0 if it was never predicted."""
        return ratio(self.hits, self.predicted)

    @cached_property
    def recall(self) -> NDArray[np.float64]:
        """For each label, the share of its examples for which it was predicted; 0 if it has no examples."""
        return ratio(self.hits, self.support)

    @cached_property
    def f1(self) -> NDArray[np.float64]:
        """The harmonic mean of precision and recall."""
        return ratio(2 * self.hits, self.predicted + self.support)

    @property
    def micro_precision(self) -> float:
        """The share of all predicted labels that are right."""
        return int(self.hits.sum()) / max(1, int(self.predicted.sum()))

    @property
    def micro_recall(self) -> float:
        """The share of all labels of the examples that were predicted."""
        return int(self.hits.sum()) / max(1, int(self.support.sum()) + self.unknown)

    @property
    def micro_f1(self) -> float:
        """F1 of all pairs of an example and a label together."""
        return 2 * int(self.hits.sum()) / max(1, int((self.predicted + self.support).sum()) + self.unknown)

    @property
    def macro_f1(self) -> float:
        """The unweighted mean of F1 over the labels that occur or were predicted."""
        met = (self.support > 0) | (self.predicted > 0)
        return float(self.f1[met].mean()) if met.any() else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers for JSON."""
        names = ("precision", "recall", "f1", "support", "predicted")
        return {
            "examples": self.total,
            "right": self.right,
            "accuracy": self.accuracy,
            "hamming_loss": self.hamming_loss,
            "micro_precision": self.micro_precision,
            "micro_recall": self.micro_recall,
            "micro_f1": self.micro_f1,
            "macro_f1": self.macro_f1,
            "log_loss": self.log_loss,
            "unlabelled": self.unlabelled,
            "unknown": {"labels": list(self.strangers), "times": self.unknown},
            "labels": [
                {"label": label, **{name: getattr(self, name)[i].item() for name in names}}
                for i, label in enumerate(self.classes)
            ],
        }

    def parts(self) -> Iterator[Content]:
        yield f"{self.right:,} of {self.total:,} examples have exactly the predicted labels."
        if self.unknown:
            names = ", ".join(map(shown, self.strangers)) + (", ..." if len(self.strangers) == STRANGERS_SHOWN else "")
            yield f"The model does not know {names}: {self.unknown:,} times, it was missed."
        if self.unlabelled:
            yield f"{self.unlabelled:,} more have no labels and were skipped."
        yield ""
        yield Facts([*self._facts()], least=MEASURE_WIDTH)
        yield ""
        yield by_class("label", self)

    def _facts(self) -> Iterator[tuple[str, str, str]]:
        shares = f"precision {self.micro_precision:.2%}, recall {self.micro_recall:.2%}"
        yield "micro F1", f"{self.micro_f1:.2%}", shares
        yield "macro F1", f"{self.macro_f1:.2%}", "the mean over the labels"
        yield "accuracy", f"{self.accuracy:.2%}", "all labels of an example are right"
        yield "Hamming", f"{self.hamming_loss:.2%}", "of all decisions about a label are wrong"
        if self.log_loss is not None:
            yield "log-loss", f"{self.log_loss:.4f}", ""


def pooled(evaluations: Sequence[SeveralEvaluation]) -> SeveralEvaluation:
    """Return the evaluation of all examples of several models together, which need not have the same labels."""
    classes = in_fixed_order(label for one in evaluations for label in one.classes)
    places = [[classes.index(label) for label in one.classes] for one in evaluations]

    def summed(name: str) -> Counts:
        sums = np.zeros(len(classes), np.int64)
        for one, own in zip(evaluations, places, strict=True):
            sums[own] += getattr(one, name)
        return sums

    losses = [None if one.log_loss is None else one.log_loss * one.total for one in evaluations]
    total = sum(one.total for one in evaluations)
    return SeveralEvaluation(
        [*classes],
        total,
        sum(one.right for one in evaluations),
        summed("hits"),
        summed("predicted"),
        summed("support"),
        sum(one.unknown for one in evaluations),
        tuple(dict.fromkeys(label for one in evaluations for label in one.strangers))[:STRANGERS_SHOWN],
        sum(one.unlabelled for one in evaluations),
        None if None in losses else math.fsum(loss for loss in losses if loss is not None) / total,
    )


class SeveralTally:
    """Counts predictions batch by batch. Its memory depends on the number of labels, not of examples."""

    def __init__(self, classes: list[Label], log_of_both: Callable[[NDArray[Any]], NDArray[np.float64]] | None) -> None:
        """Begin to count. `log_of_both` makes the logarithms of probabilities from scores; None if there are none."""
        self.classes = classes
        self.log_of_both = log_of_both
        self.known = KnownLabels(classes)
        self.sets = np.zeros((len(classes), 0), bool)
        self.strange = np.zeros(0, np.int64)
        """For each set of labels, how many of them the model does not know."""
        self.strangers: dict[Label, None] = {}
        self.total = self.right = self.unlabelled = self.unknown = 0
        self.hits, self.predicted, self.support = (np.zeros(len(classes), np.int64) for _ in range(3))
        self.loss = 0.0

    def add(
        self, names: list[Label], labels: NDArray[np.int32], found: NDArray[np.bool_], scores: NDArray[np.float32]
    ) -> None:
        """Add a batch: its labels as indices of `names`, which may grow, the predicted labels, and the scores."""
        self._learn(names)
        labelled = labels != UNLABELLED
        self.unlabelled += int((~labelled).sum())
        numbers, found, scores = labels[labelled], found[labelled], scores[labelled]
        truth = self.sets.T[numbers]
        self.total += len(numbers)
        self.right += int(((truth == found).all(axis=1) & (self.strange[numbers] == 0)).sum())
        self.unknown += int(self.strange[numbers].sum())
        self.hits += (truth & found).sum(axis=0)
        self.predicted += found.sum(axis=0)
        self.support += truth.sum(axis=0)
        if self.log_of_both is not None:
            both = self.log_of_both(scores)
            self.loss -= float(np.where(truth, both[:, 1], both[:, 0]).sum())

    def _learn(self, names: list[Label]) -> None:
        """Find the labels of the sets that are new in `names`."""
        new = names[self.sets.shape[1] :]
        if not new:
            return
        self.sets = np.hstack([self.sets, sets_of(new, self.classes)])
        strange = [[label for label in members_of(one) if self.known.number(label) is None] for one in new]
        self.strange = np.append(self.strange, np.array([*map(len, strange)], np.int64))
        self.strangers |= dict.fromkeys(label for one in strange for label in one)

    def merge(self, other: SeveralTally) -> None:
        """Add what another tally has counted in one batch: the sums then have the same bits as after `add`."""
        self.strangers |= other.strangers
        for name in ("total", "right", "unlabelled", "unknown", "hits", "predicted", "support", "loss"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def __getstate__(self) -> dict[str, Any]:
        """What other processes need for `merge`."""
        return {**self.__dict__, "log_of_both": None, "known": None, "sets": None, "strange": None}

    def evaluation(self) -> SeveralEvaluation:
        if not self.total:
            raise DataError("there are no labelled examples to measure")
        if self.unknown and not self.support.any():
            theirs, mine = (", ".join(map(repr, labels[:5])) for labels in ([*self.strangers], self.classes))
            raise DataError(f"none of the labels ({theirs}) is a label of the model ({mine})")
        return SeveralEvaluation(
            self.classes,
            self.total,
            self.right,
            self.hits,
            self.predicted,
            self.support,
            self.unknown,
            tuple(self.strangers)[:STRANGERS_SHOWN],
            self.unlabelled,
            None if self.log_of_both is None else self.loss / (self.total * len(self.classes)),
        )
