"""The history of a training, with the result of each pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from markone.brief import Brief
from markone.model.bounds import Bounds

Stop = Literal["epochs", "converged", "optimum", "held-out", "loss", "callback", "interrupted", "given"]

REASONS: dict[Stop, str] = {
    "epochs": "all passes were made",
    "converged": "a pass changed nothing",
    "optimum": "it is close enough to the optimum",
    "held-out": "held-out accuracy did not improve for some passes; the best weights were restored",
    "loss": "the loss did not improve for some passes",
    "callback": "the callback requested it",
    "interrupted": "it was interrupted",
    "given": "its numbers were given, and not learned",
}


@dataclass(frozen=True, slots=True, repr=False)
class Pass(Brief):
    """One pass over the data."""

    epoch: int
    """The number of the pass, from 1."""
    mistakes: int | None
    """The number of examples that were misclassified when they were visited; None for rules that do not predict during
    training, such as `naive-bayes`. If examples can have several labels, it is the sum over all labels."""
    updates: int
    """The number of visits that changed the weights."""
    loss: float | None
    """The mean loss of the examples. Each loss is computed before the example changes the weights."""
    norm2: float
    """The squared length of the last weights after the pass, bias included."""
    seconds: float | None
    """The duration of the pass, with the time for held-out accuracy. It is not in the model file, so that the same
    training makes the same file; it is None in a loaded model."""
    holdout_last: float | None = None
    """The held-out accuracy of the last weights. If examples can have several labels, all of them must be right."""
    holdout_averaged: float | None = None
    """The held-out accuracy of the averaged weights."""
    objective: float | None = None
    """The sum of loss and penalty, which rules with an optimum minimise."""
    gap: float | None = None
    """How far the objective may be from its minimum: for `svm` the duality gap as a share of the objective, for
    `logistic` the largest component of the gradient."""

    @property
    def holdout(self) -> float | None:
        """The held-out accuracy of the weights that will be used."""
        return self.holdout_last if self.holdout_averaged is None else self.holdout_averaged


@dataclass(slots=True, repr=False)
class History(Brief):
    """The passes of one training, and why it ended."""

    passes: list[Pass] = field(default_factory=list)
    """All passes in order. The history itself can also be used like this list."""
    stopped: Stop = "epochs"
    """Why training ended."""
    best_epoch: int | None = None
    """The pass with the best held-out accuracy. Its weights are restored if `patience` is set."""
    rows: int = 0
    """The number of training examples."""
    held_out: int = 0
    """The number of held-out examples."""
    unlabelled: int = 0
    """The number of examples that were skipped because they have no label."""
    majority: float | None = None
    """The accuracy of always predicting the most frequent class: on the held-out examples, or without them on the
    training examples."""
    bounds: Bounds | None = None
    """The mistake bound of the perceptron, if it was requested."""

    def in_brief(self) -> str:
        return str(self)

    def __iter__(self) -> Iterator[Pass]:
        return iter(self.passes)

    def __len__(self) -> int:
        return len(self.passes)

    def __getitem__(self, i: int) -> Pass:
        return self.passes[i]

    def __str__(self) -> str:
        return f"{len(self)} passes; stopped because {REASONS[self.stopped]}"
