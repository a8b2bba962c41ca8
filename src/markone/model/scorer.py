"""Scorers: the learned part of a model. Each family of rules has its own kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Rows
from markone.errors import DataError
from markone.features.map import BIAS, FeatureMap
from markone.model.named_numbers import FeatureNames, NamedNumbers, outputs_of
from markone.storage.saved import Saved

if TYPE_CHECKING:
    from markone.model.explaining import ModelExplanation
    from markone.model.model import Model
    from markone.reporting.shown import Shown


class Contributions(NamedTuple):
    """The contributions of features to the scores of a row. Each array has one column for each score."""

    weights: NDArray[np.float64]
    """The weight of each feature; NaN if it has no weight of its own."""
    products: NDArray[np.float64]
    """The contribution of each feature."""
    bias: NDArray[np.float64]
    """The part of the score that does not depend on features."""
    sums: NDArray[np.float64]
    """The scores."""


class Scorer(Protocol):
    """Computes scores of rows. It can be saved, and loaded from a file that may contain anything."""

    kind: ClassVar[str]
    """Its name in files."""
    adds_up: ClassVar[bool]
    """Whether the contributions of features add up to the score."""

    @property
    def has_probabilities(self) -> bool:
        """Whether the softmax of its scores is a probability distribution."""

    @property
    def features(self) -> int:
        """The width of the rows that it can score."""

    @property
    def classes(self) -> int:
        """The number of classes."""

    @property
    def weights(self) -> _core.Weights32 | _core.Weights64 | None:
        """The weight of each feature for each class or, with two classes, for the second; None if features have no
        weights of their own."""

    def scores(self, rows: Rows) -> NDArray[Any]:
        """Return for each row a score for each class or, with two classes, only that of the second."""

    def contributions(
        self, features: NDArray[np.uint32], values: NDArray[np.float64], columns: list[int], lanes: int
    ) -> Contributions:
        """Return what the features of a row contribute to some columns of its scores.

        The features are in the order in which the core visits them, and the core adds them in `lanes` partial sums.
        """

    def explain(self, model: Model, top: int) -> Shown:
        """Explain a whole model with this scorer. `top` is the number of rows that are shown."""

    def named_numbers(self, features: FeatureMap, labels: list[str]) -> list[NamedNumbers]:
        """Return all learned numbers by name, for traces."""

    def used(self) -> NDArray[np.bool_]:
        """Return which features can change a score."""

    def prune(self, kept: NDArray[np.bool_]) -> Self:
        """Return a scorer for rows that have only these features."""

    def save(self) -> Saved:
        """Return all facts and arrays for a file."""

    @classmethod
    def load(cls, saved: Saved, classes: int, has_probabilities: bool) -> Self:
        """Restore a scorer. Anything that `save` could not have written is a `DataError`."""


class LinearScorer:
    """Weights. The score of a class is the sum over features of weight times value, plus the bias."""

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
        from markone.model.explaining import explain_weights

        return explain_weights(model, self.weights, top)

    def named_numbers(self, features: FeatureMap, labels: list[str]) -> list[NamedNumbers]:
        matrix = np.vstack([self.weights.matrix(), self.weights.bias()])
        return [NamedNumbers(FeatureNames(features, BIAS), outputs_of(labels), matrix.astype(np.float64))]

    def used(self) -> NDArray[np.bool_]:
        return np.asarray((self.weights.view() != 0).any(axis=1))

    def prune(self, kept: NDArray[np.bool_]) -> LinearScorer:
        matrix, bias = np.ascontiguousarray(self.weights.view()[kept]), self.weights.bias()
        weights = type(self.weights)(matrix, bias, self.classes, several=len(bias) == self.classes)
        return LinearScorer(weights, self.has_probabilities)

    def save(self) -> Saved:
        return Saved({}, {"weights": self.weights.view(), "bias": self.weights.bias()})

    @classmethod
    def load(cls, saved: Saved, classes: int, has_probabilities: bool, columns: int | None = None) -> LinearScorer:
        if saved.facts or saved.arrays.keys() != {"weights", "bias"}:
            raise DataError("its weights have the wrong parts")
        matrix, bias = saved.arrays["weights"], saved.arrays["bias"]
        columns = columns or (1 if classes == 2 else classes)
        need(matrix.dtype == bias.dtype == np.float32, "its weights are not 32-bit floats")
        matches = matrix.ndim == 2 and matrix.shape[1] == columns and bias.shape == (columns,)
        need(matches, "the shape of its weights does not match its classes")
        need(bool(np.isfinite(matrix).all() and np.isfinite(bias).all()), "its weights contain NaN or infinity")
        return cls(_core.Weights32(matrix, bias, classes, several=columns == classes), has_probabilities)


def add_up(products: NDArray[np.float64], lanes: int) -> NDArray[np.float64]:
    """Return the sum of each column, with the same additions in the same order as in core/rows/arithmetic.h.

    Product i is added to partial sum i modulo `lanes`. Then the second half of the partial sums is added to the first
    half, until one is left.
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
    """Raise a `DataError` unless a condition holds."""
    if not holds:
        raise DataError(problem)
