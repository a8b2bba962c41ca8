"""Tables: what a learner has learned so far, as named numbers that a step may change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.data.kinds import written
from markone.features.event_kinds import numbers_of
from markone.features.map import BIAS, FeatureMap
from markone.learning.learner import Learner
from markone.learning.network import Multilayer
from markone.learning.online import Linear
from markone.learning.svm import Dual
from markone.model.events import Events
from markone.model.naive_bayes import NaiveBayes
from markone.model.network import Network
from markone.model.scorer import LinearScorer, Scorer

ROWS = "rows"
"""What naive Bayes counts beside events: the rows of each class."""
SUM, SQUARES = "sum", "squares"
"""What it adds up of numbers."""


@dataclass(frozen=True, slots=True, repr=False)
class Table(Brief):
    """Numbers with a name for each row and each column. Of two classes there may be one column, of the second."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: NDArray[np.float64]

    def named(self) -> dict[str, dict[str, float]]:
        """For each column its numbers by name, where they are not 0."""
        found = {}
        for name, values in zip(self.columns, self.values.T, strict=True):
            found[name] = {self.rows[i]: float(values[i]) for i in np.flatnonzero(values).tolist()}
        return found


class Names(Sequence[str]):
    """The names of features, each made when it is asked for, and of what comes after them."""

    def __init__(self, features: FeatureMap, *after: str) -> None:
        self._features, self._after = features, after

    def __len__(self) -> int:
        return self._features.width + len(self._after)

    def __getitem__(self, number: Any) -> Any:
        width = self._features.width
        return self._features.name(number) if number < width else self._after[number - width]


def last_scorer(learner: Learner, start: NDArray[np.float32] | None = None) -> Scorer:
    """What the next step will judge an example by: nothing averaged, and nothing better from before. Features that a
    network has not met yet have the weights that they `start` with."""
    if isinstance(learner, Multilayer) and start is not None:
        return learner.scorer_before(start)
    if isinstance(learner, Linear):
        return LinearScorer(learner.weights(averaged=False), learner.settings.traits.has_probabilities)
    if isinstance(learner, Dual):
        matrix = learner.last_weights().astype(learner.dtype)
        kind = _core.Weights32 if learner.dtype == np.float32 else _core.Weights64
        return LinearScorer(kind(np.ascontiguousarray(matrix[:-1]), matrix[-1].copy(), learner.classes), False)
    return learner.scorer()


def tables_of(scorer: Scorer, features: FeatureMap, classes: Sequence[Any]) -> list[Table]:
    """The weights; of naive Bayes the counts, of a network each layer."""
    labels = [written(label) for label in classes]
    if isinstance(scorer, NaiveBayes):
        return list(counts_of(scorer.events, features, labels))
    outputs = labels if len(labels) > 2 else labels[1:]
    if isinstance(scorer, Network):
        return list(layers_of(scorer, features, outputs))
    assert scorer.weights is not None  # it is linear
    matrix = np.vstack([scorer.weights.matrix(), scorer.weights.bias()])
    return [Table(Names(features, BIAS), outputs, matrix.astype(np.float64))]


def counts_of(events: Events, features: FeatureMap, labels: list[str]) -> Iterator[Table]:
    yield Table(Names(features, ROWS), labels, np.vstack([events.counts, events.rows]))
    numbers = [features.name(number) for number in numbers_of(events.groups).tolist()]
    if numbers:
        _, sums, _, squares, _ = events.numbers.swapaxes(0, 1)
        yield Table([f"{SUM} of {name}" for name in numbers], labels, sums.copy())
        yield Table([f"{SQUARES} of {name}" for name in numbers], labels, squares.copy())


def layers_of(network: Network, features: FeatureMap, outputs: list[str]) -> Iterator[Table]:
    rows: Sequence[str] = Names(features, BIAS)
    for number, (weights, bias) in enumerate(network.layers, start=1):
        units = [f"unit {number}.{unit}" for unit in range(1, len(bias) + 1)]
        columns = outputs if number == len(network.layers) else units
        yield Table(rows, columns, np.vstack([weights, bias]).astype(np.float64))
        rows = [*units, BIAS]
