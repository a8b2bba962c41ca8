"""Computes the losses of a model on labelled examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.errors import DataError
from markone.model.evaluation import log_probabilities, squared_errors
from markone.model.margins import functional_margins
from markone.reporting.grids import Grid
from markone.reporting.shown import Content, Shown

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
    "squared_error": "(p - y)² / 2",
}
"""m is the margin: the score of the right class minus that of the best wrong class. p is the probability of the right
class, by the sigmoid or softmax of the scores, and y = 1 is its target. The squared error of more than two classes is
the sum over all classes, with the target 0 for the wrong ones."""


@dataclass(frozen=True, slots=True, repr=False)
class Losses(Shown):
    """The losses of a model as sums over examples; `mean` contains the means. It prints as a table.

    The margin is the score of the right class minus that of the best wrong class: y·s for two classes, of which the
    first scores 0. The probabilities are the softmax of the scores, also for rules without probabilities. For two
    classes, p is the sigmoid of s, and the squared error is that of the second class, whose target is 1 or 0. With
    more classes, the target is 1 for the right class and 0 for all others, and the errors of all classes are added.
    """

    examples: int
    """The number of examples with a label that the model knows."""
    zero_one: float
    """The number of misclassified examples."""
    perceptron: float
    """The sum of max(-m, 0)."""
    hinge: float
    """The sum of max(1 - m, 0)."""
    cross_entropy: float
    """The sum of -ln p."""
    squared_error: float
    """The sum of (p - y)² / 2."""

    def in_brief(self) -> str:
        means = ", ".join(f"{name} {value:.4g}" for name, value in self.mean.items())
        return f"means of {self.examples:,} examples: {means}"

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each loss."""
        return {name: getattr(self, name) / self.examples for name in FORMULAS}

    def as_dict(self) -> dict[str, Any]:
        """Return all losses for JSON."""
        sums = {name: getattr(self, name) for name in FORMULAS}
        return {"examples": self.examples, "sum": sums, "mean": self.mean}

    def parts(self) -> Iterator[Content]:
        letters = "m is the margin, p the probability of the right class, y = 1 its target."
        yield f"{self.examples:,} examples; {letters}"
        rows = [
            [NAMES[name], formula, f"{getattr(self, name):,.6g}", f"{self.mean[name]:,.6g}"]
            for name, formula in FORMULAS.items()
        ]
        yield Grid([["loss", "of one", "sum", "mean"]], rows, words=(0, 1))


class LossTally:
    """Adds up losses, batch by batch."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.examples = 0
        self.sums = dict.fromkeys(FORMULAS, 0.0)

    def add(self, scores: NDArray[Any], labels: NDArray[Any], found: NDArray[Any] | None = None) -> None:
        """Add a batch of scores with the numbers of the right classes.

        There is one score for each class or, with two classes, only that of the second. `found` are the predicted
        classes; without them, a tie counts as a mistake. Examples with unknown or missing labels are skipped.
        """
        known = (labels >= 0) & (labels < self.classes)
        scores, labels = scores[known].astype(np.float64), labels[known]
        self.examples += len(labels)
        rows, margins = np.arange(len(labels)), functional_margins(scores, labels)
        log_p = log_probabilities(scores)
        for name, losses in {
            "zero_one": margins <= 0 if found is None else found[known] != labels,
            "perceptron": np.maximum(-margins, 0),
            "hinge": np.maximum(1 - margins, 0),
            "cross_entropy": -log_p[rows, labels],
            "squared_error": squared_errors(np.exp(log_p), labels),
        }.items():
            self.sums[name] += float(losses.sum())

    def losses(self) -> Losses:
        if self.examples == 0:
            raise DataError("there are no labelled examples to measure losses on")
        return Losses(self.examples, **self.sums)


def losses(scores: NDArray[Any], labels: NDArray[Any], classes: int) -> Losses:
    """Return the losses of scores, with one row for each example, for these right classes.

    >>> print(losses(np.array([[2.0], [0.5], [-1.0]]), np.array([1, 1, 1]), classes=2))
    3 examples; m is the margin, p the probability of the right class, y = 1 its
    target.
    loss           of one              sum      mean
    0/1            [m ≤ 0]               1  0.333333
    perceptron     max(-m, 0)            1  0.333333
    hinge          max(1 - m, 0)       2.5  0.833333
    cross entropy  -ln p           1.91427  0.638089
    squared error  (p - y)² / 2   0.345596  0.115199
    """
    tally = LossTally(classes)
    tally.add(scores, labels)
    return tally.losses()
