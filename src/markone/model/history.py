"""The history of a training, with the result of each pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from markone.brief import Brief
from markone.model.bounds import Bounds
from markone.reporting.grids import Grid, counted, plain_number
from markone.reporting.shown import Content, Shown

if TYPE_CHECKING:
    from markone.reporting.charts import Chart

PASSES_SHOWN = 20

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
class History(Shown):
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
        return f"{counted(len(self), 'pass', 'passes')}; stopped because {REASONS[self.stopped]}"

    def parts(self) -> Iterator[Content]:
        yield f"{self}."
        if self.bounds is not None:
            yield from self.bounds.sentences()
        if self.passes:
            yield self.grid()

    def contents(self) -> Iterator[Content]:
        yield from self.parts()
        yield from self.charts()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def grid(self) -> Grid:
        """Return a table of the passes: the first, the last, and some between them if there are many."""
        columns = [
            ("pass", [f"{one.epoch:,}" for one in self]),
            ("mistakes", ["" if one.mistakes is None else f"{one.mistakes:,}" for one in self]),
            ("updates", [f"{one.updates:,}" for one in self]),
            ("loss", ["" if one.loss is None else plain_number(one.loss) for one in self]),
            ("held-out", ["" if one.holdout is None else f"{one.holdout:.2%}" for one in self]),
            ("objective", ["" if one.objective is None else plain_number(one.objective) for one in self]),
            ("seconds", ["" if one.seconds is None else f"{one.seconds:.3f}" for one in self]),
        ]
        there = [(name, cells) for name, cells in columns if any(cells)]
        shown = thinned(len(self), PASSES_SHOWN)
        return Grid([[name for name, _ in there]], [[cells[i] for _, cells in there] for i in shown])

    def charts(self) -> Iterator[Chart]:
        """Draw what changes from pass to pass: the held-out accuracy, and the share of mistakes or the loss."""
        from markone.reporting.charts import Chart, Line

        epochs = [one.epoch for one in self]
        if len(epochs) < 2:
            return
        last, averaged = ([getattr(one, f"holdout_{which}") for one in self] for which in ("last", "averaged"))
        lines = [("last weights", last, 1), ("averaged", averaged, 0)]
        held = [Line(epochs, values, name, number) for name, values, number in lines if None not in values]
        if held:
            yield Chart(tuple(held), "Held-out accuracy", x="pass")
        for title, values in (
            ("Mistakes in each pass", [one.mistakes for one in self]),
            ("Loss", [one.loss for one in self]),
        ):
            known = [value for value in values if value is not None]
            if len(known) == len(epochs):
                yield Chart((Line(epochs, known),), title, x="pass")
                return


def thinned(count: int, most: int) -> list[int]:
    """Return the first, the last, and some evenly spaced numbers between them, at most this many.

    >>> thinned(3, 5), thinned(100, 4)
    ([0, 1, 2], [0, 33, 66, 99])
    """
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
