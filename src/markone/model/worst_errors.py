"""The worst errors of a model: wrong predictions with the largest scores, and their explanations."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from markone.data.source import Batch, Label, Source
from markone.data.subsets import OneBatch, taken
from markone.model.decisions import ABSTAINED
from markone.model.explaining import Explanation, explain_examples, plain_label
from markone.model.margins import functional_margins
from markone.reporting.grids import label_in_words, plain_number
from markone.reporting.shown import Content, Shown

if TYPE_CHECKING:
    from markone.model.model import Model


@dataclass(frozen=True, repr=False)
class WorstError(Shown):
    """A wrong prediction."""

    row: int
    """The number of the row in the data, from 1."""
    truth: Label
    """The label in the data."""
    margin: float
    """The score of the label minus that of the prediction. The smaller it is, the worse is the error; or the label is
    wrong."""
    explanation: Explanation
    """Why the model makes the prediction."""

    def in_brief(self) -> str:
        return f"row {self.row:,} is {self.truth!r}, and not {self.explanation.prediction!r}"

    def parts(self) -> Iterator[Content]:
        label = label_in_words(self.truth)
        yield f"Row {self.row:,} has the label {label}, with a margin of {plain_number(self.margin)}:"
        yield from self.explanation.parts()

    def as_dict(self) -> dict[str, Any]:
        found = {"row": self.row, "label": plain_label(self.truth), "margin": self.margin}
        return {**found, "explanation": self.explanation.as_dict()}


def worst_errors(model: Model, source: Source, most: int, top: int, threads: int | None) -> list[WorstError]:
    """Return the errors with the smallest margins, the worst first. Only these rows are kept in memory."""
    number = model.label_numbers(source)
    kept: list[tuple[float, int, int, Batch]] = []
    before = 0
    for batch, winners, scores in model.answers(source, threads=threads):
        labels = number(batch)
        wrong = np.flatnonzero((labels >= 0) & (winners != ABSTAINED) & (labels != winners))
        margins = functional_margins(scores[wrong], labels[wrong])
        for place in np.argsort(margins, kind="stable")[:most].tolist():
            i, margin = int(wrong[place]), float(margins[place])
            if len(kept) < most or (-margin, -before - i) > kept[0][:2]:
                one = (-margin, -before - i, int(labels[i]), taken(batch, np.array([i])))
                heapq.heappushpop(kept, one) if len(kept) == most else heapq.heappush(kept, one)
        before += len(batch)
    found = []
    for against, place, label, batch in sorted(kept, key=lambda one: one[:2], reverse=True):
        [explanation] = explain_examples(model, OneBatch(source, batch), top)
        assert isinstance(explanation, Explanation)  # because examples have one label
        found.append(WorstError(1 - place, model.classes[label], -against, explanation))
    return found
