"""What happened in training: a row for each pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from markone.brief import Brief
from markone.model.bounds import Bounds

Stop = Literal["epochs", "converged", "optimum", "held-out", "loss", "callback", "interrupted"]

REASONS: dict[Stop, str] = {
    "epochs": "all passes were made",
    "converged": "a pass changed nothing",
    "optimum": "it is near enough to the optimum",
    "held-out": "held-out accuracy had not got better for some passes; the best weights were restored",
    "loss": "the loss had not got better for some passes",
    "callback": "the callback asked for it",
    "interrupted": "it was interrupted",
}


@dataclass(frozen=True, slots=True, repr=False)
class Pass(Brief):
    """One pass over the data."""

    epoch: int
    """The number of the pass, from 1."""
    mistakes: int | None
    """Examples that were misclassified when they were visited; None where nothing was judged, as by `naive-bayes`."""
    updates: int
    """Visits that changed the weights."""
    loss: float | None
    """The mean loss of the examples, each measured at its visit, before it could change the weights."""
    norm2: float
    """The squared length of the last weights after the pass, bias included."""
    seconds: float | None
    """How long the pass took, held-out accuracy included. A file does not keep it, so that the same training gives the
    same file; then it is None."""
    holdout_last: float | None = None
    """The held-out accuracy of the last weights."""
    holdout_averaged: float | None = None
    """The held-out accuracy of the averaged weights."""
    objective: float | None = None
    """What is made small by a rule that nears an optimum: loss and penalty together."""
    gap: float | None = None
    """How far that may be from the smallest: of `svm` the duality gap as a share of it, of `logistic` the largest
    slope."""

    @property
    def holdout(self) -> float | None:
        """The held-out accuracy of the weights that will be used."""
        return self.holdout_last if self.holdout_averaged is None else self.holdout_averaged


@dataclass(slots=True, repr=False)
class History(Brief):
    """The passes of one training, and why it ended."""

    passes: list[Pass] = field(default_factory=list)
    """In the order made; the history itself can be walked through and counted like this list."""
    stopped: Stop = "epochs"
    """Why training ended."""
    best_epoch: int | None = None
    """The pass with the best held-out accuracy; its weights are restored where there is a `patience`."""
    rows: int = 0
    """The examples that were learned from."""
    held_out: int = 0
    """The examples that were kept apart."""
    unlabelled: int = 0
    """The examples that were left out because they have no label."""
    majority: float | None = None
    """The accuracy of always saying the commonest class, on what was held out or else on what was learned from."""
    bounds: Bounds | None = None
    """What the theory of the perceptron says of the run, where that was asked for."""

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
