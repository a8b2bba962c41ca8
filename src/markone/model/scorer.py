"""What a scorer is: the part of a model that learning has made, whatever its family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Rows
from markone.errors import DataError
from markone.features.map import BIAS, FeatureMap
from markone.model.explaining import ModelExplanation, Shown, explain_weights
from markone.model.named_numbers import FeatureNames, NamedNumbers, outputs_of
from markone.storage.saved import Saved

if TYPE_CHECKING:
    from markone.model.model import Model


class Contributions(NamedTuple):
    """What the features of a row make of its scores: in each array a column for each score."""

    weights: NDArray[np.float64]
    """Of each feature; NaN where it has none of its own."""
    products: NDArray[np.float64]
    """What each feature adds."""
    bias: NDArray[np.float64]
    """What is added whatever the features."""
    sums: NDArray[np.float64]
    """The scores."""


class Scorer(Protocol):
    """Scores rows of features, can be saved, and can be loaded from a file that may come from anywhere."""

    kind: ClassVar[str]
    """Its name in files."""
    adds_up: ClassVar[bool]
    """Whether what features contribute to a score adds up to it."""

    @property
    def has_probabilities(self) -> bool:
        """Whether the softmax of its scores are probabilities."""

    @property
    def features(self) -> int:
        """The width of the rows that it can score."""

    @property
    def classes(self) -> int:
        """The number of classes."""

    @property
    def weights(self) -> _core.Weights32 | _core.Weights64 | None:
        """How much each feature speaks for each class or, of two classes, for the second; None where that depends on
        the other features."""

    def scores(self, rows: Rows) -> NDArray[Any]:
        """A row for each row: a score for each class or, of two classes, that of the second alone."""

    def contributions(
        self, features: NDArray[np.uint32], values: NDArray[np.float64], columns: list[int], lanes: int
    ) -> Contributions:
        """What the features of a row, visited as the core does, make of some columns of its scores.

        The core adds what belongs to them into so many partial sums.
        """

    def explain(self, model: Model, top: int) -> Shown:
        """What a model with this scorer goes by as a whole, of which so many rows are shown."""

    def named_numbers(self, features: FeatureMap, labels: list[str]) -> list[NamedNumbers]:
        """All its numbers by name, as a trace shows them."""

    def used(self) -> NDArray[np.bool_]:
        """The features without which some score would be another."""

    def prune(self, kept: NDArray[np.bool_]) -> Self:
        """The same for rows that have only these features."""

    def save(self) -> Saved:
        """All of it."""

    @classmethod
    def load(cls, saved: Saved, classes: int, has_probabilities: bool) -> Self:
        """What was saved; what is not just as `save` has it is a `DataError`."""


class LinearScorer:
    """Weights: the score of a class is the sum over features of weight times value."""

    kind: ClassVar[str] = "linear"
    adds_up: ClassVar[bool] = True

    def __init__(self, weights: _core.Weights32 | _core.Weights64, has_probabilities: bool) -> None:
        self.weights: _core.Weights32 | _core.Weights64 = weights
        self.has_probabilities = has_probabilities

    @property
    def features(self) -> int:
        return self.weights.features

    @property
    def classes(self) -> int:
        return self.weights.classes

    def scores(self, rows: Rows) -> NDArray[Any]:
        return self.weights.scores(rows)

    def contributions(
        self, features: NDArray[np.uint32], values: NDArray[np.float64], columns: list[int], lanes: int
    ) -> Contributions:
        weights = self.weights.of(features)[:, columns].astype(np.float64)
        bias = self.weights.bias()[columns].astype(np.float64)
        products = values[:, None] * weights
        sums = (add_up(products, lanes) + bias).astype(np.float32).astype(np.float64)
        return Contributions(weights, products, bias, sums)

    def explain(self, model: Model, top: int) -> ModelExplanation:
        return explain_weights(model, self.weights, top)

    def named_numbers(self, features: FeatureMap, labels: list[str]) -> list[NamedNumbers]:
        matrix = np.vstack([self.weights.matrix(), self.weights.bias()])
        return [NamedNumbers(FeatureNames(features, BIAS), outputs_of(labels), matrix.astype(np.float64))]

    def used(self) -> NDArray[np.bool_]:
        return np.asarray((self.weights.view() != 0).any(axis=1))

    def prune(self, kept: NDArray[np.bool_]) -> LinearScorer:
        matrix = np.ascontiguousarray(self.weights.view()[kept])
        return LinearScorer(type(self.weights)(matrix, self.weights.bias(), self.classes), self.has_probabilities)

    def save(self) -> Saved:
        return Saved({}, {"weights": self.weights.view(), "bias": self.weights.bias()})

    @classmethod
    def load(cls, saved: Saved, classes: int, has_probabilities: bool) -> LinearScorer:
        if saved.facts or saved.arrays.keys() != {"weights", "bias"}:
            raise DataError("its weights have other parts than they should")
        matrix, bias = saved.arrays["weights"], saved.arrays["bias"]
        columns = 1 if classes == 2 else classes
        need(matrix.dtype == bias.dtype == np.float32, "its weights are no 32-bit floats")
        need(matrix.ndim == 2 and matrix.shape[1] == columns and bias.shape == (columns,), "its weights fit no classes")
        need(bool(np.isfinite(matrix).all() and np.isfinite(bias).all()), "its weights are not finite")
        return cls(_core.Weights32(matrix, bias, classes), has_probabilities)


def add_up(products: NDArray[np.float64], lanes: int) -> NDArray[np.float64]:
    """The sum of each column, with the core's additions in the core's order (core/rows/arithmetic.h).

    Product i goes to partial sum i modulo `lanes`; of these the second half is added to the first, and so on.
    """
    steps = -(-len(products) // lanes) + 1  # the first one adds to 0
    laid = np.zeros((steps * lanes, products.shape[1]))
    laid[lanes : lanes + len(products)] = products
    part = np.cumsum(laid.reshape(steps, lanes, -1), axis=0)[-1]
    while len(part) > 1:
        part = part[: len(part) // 2] + part[len(part) // 2 :]
    total: NDArray[np.float64] = part[0]
    return total


def need(holds: bool, problem: str) -> None:
    if not holds:
        raise DataError(problem)
