"""Losses: what the scores of a model cost on labelled examples, by each of the lectures' measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.errors import DataError
from markone.model.evaluation import columns, log_probabilities
from markone.model.margins import functional_margins

NAMES = {
    "zero_one": "0/1",
    "perceptron": "perceptron",
    "hinge": "hinge",
    "cross_entropy": "cross entropy",
    "squared_error": "squared error",
}
FORMULAS = {
    "zero_one": "[m ≤ 0]",
    "perceptron": "max(-m, 0)",
    "hinge": "max(1 - m, 0)",
    "cross_entropy": "-ln p",
    "squared_error": "(s - t)² / 2",
}
"""By the margin m: the score of the right class less that of the best wrong one; by its probability p, the softmax of
the scores; by the distance of the scores s from the targets t."""


@dataclass(frozen=True, slots=True, repr=False)
class Losses(Brief):
    """What a model costs on examples, as sums; `mean` has the means. Printed, it is a table.

    A margin is the score of the right class less that of the best wrong one: y·s for two classes, of which the first
    scores 0. The squared error of two classes is that of the score from -1 or +1; of more classes, that of each class's
    score from 1 for the right one and 0 for all others, added up.
    """

    examples: int
    """Those with a label that the model knows."""
    zero_one: float
    """How many are misclassified."""
    perceptron: float
    """How far the margins are below 0."""
    hinge: float
    """How far the margins are below 1."""
    cross_entropy: float
    """Minus the logarithms of the right classes' probabilities: the softmax of the scores, whatever they mean."""
    squared_error: float
    """Half the squares of the scores' distances from their targets."""

    def in_brief(self) -> str:
        means = ", ".join(f"{name} {value:.4g}" for name, value in self.mean.items())
        return f"means of {self.examples:,} examples: {means}"

    @property
    def mean(self) -> dict[str, float]:
        """Each loss for one example."""
        return {name: getattr(self, name) / self.examples for name in FORMULAS}

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        sums = {name: getattr(self, name) for name in FORMULAS}
        return {"examples": self.examples, "sum": sums, "mean": self.mean}

    def __str__(self) -> str:
        rows = [
            [NAMES[name], formula, f"{getattr(self, name):,.6g}", f"{self.mean[name]:,.6g}"]
            for name, formula in FORMULAS.items()
        ]
        table = columns([["loss", "of one", "sum", "mean"], *rows], texts=2)
        return "\n".join(
            [f"{self.examples:,} examples; m is the margin, p the probability of the right class.", *table]
        )


class LossTally:
    """Adds up losses, batch after batch."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.examples = 0
        self.sums = dict.fromkeys(FORMULAS, 0.0)

    def add(self, scores: NDArray[Any], labels: NDArray[Any], found: NDArray[Any] | None = None) -> None:
        """A batch: one score for each class, or of two classes the second's; the numbers of the right classes; and of
        those that were found, where a tie is not to count as a mistake.

        A number that is no class's, such as that of a label which is unknown or missing, is passed over.
        """
        known = (labels >= 0) & (labels < self.classes)
        scores, labels = scores[known].astype(np.float64), labels[known]
        self.examples += len(labels)
        rows, margins = np.arange(len(labels)), functional_margins(scores, labels)
        for name, losses in {
            "zero_one": margins <= 0 if found is None else found[known] != labels,
            "perceptron": np.maximum(-margins, 0),
            "hinge": np.maximum(1 - margins, 0),
            "cross_entropy": -log_probabilities(scores)[rows, labels],
            "squared_error": squared_errors(scores, labels),
        }.items():
            self.sums[name] += float(losses.sum())

    def losses(self) -> Losses:
        if self.examples == 0:
            raise DataError("there are no labelled examples to measure losses on")
        return Losses(self.examples, **self.sums)


def losses(scores: NDArray[Any], labels: NDArray[Any], classes: int) -> Losses:
    """The losses of scores, a row for each example, whose right classes have these numbers.

    >>> print(losses(np.array([[2.0], [0.5], [-1.0]]), np.array([1, 1, 1]), classes=2))
    3 examples; m is the margin, p the probability of the right class.
    loss           of one             sum      mean
    0/1            [m ≤ 0]              1  0.333333
    perceptron     max(-m, 0)           1  0.333333
    hinge          max(1 - m, 0)      2.5  0.833333
    cross entropy  -ln p          1.91427  0.638089
    squared error  (s - t)² / 2     2.625     0.875
    """
    tally = LossTally(classes)
    tally.add(scores, labels)
    return tally.losses()


def squared_errors(scores: NDArray[np.float64], labels: NDArray[Any]) -> NDArray[np.float64]:
    targets = np.zeros_like(scores)
    if scores.shape[1] == 1:
        targets[:, 0] = np.where(labels == 1, 1, -1)
    else:
        targets[np.arange(len(labels)), labels] = 1
    errors: NDArray[np.float64] = ((scores - targets) ** 2).sum(axis=1) / 2
    return errors
