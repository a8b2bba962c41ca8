"""A network: the scorer of the rule `mlp`.

The core computes scores itself, each sum in a fixed order. They therefore have the same bits on every machine, with any
number of threads, and for any set of rows that is scored together. With BLAS, the bits would depend on all of these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Rows, Sparse, as_rows
from markone.errors import SettingsError
from markone.features.map import BIAS, FeatureMap
from markone.model.named_numbers import FeatureNames, NamedNumbers, outputs_of
from markone.model.scorer import Contributions, need
from markone.model.settings import MOST_LAYERS, WIDEST_LAYER
from markone.storage.saved import Saved

if TYPE_CHECKING:
    from markone.model.model import Model
    from markone.reporting.shown import Shown

Floats = NDArray[np.float32]

REGISTER = 8
"""The core needs rows of weights whose length is a multiple of this; they are padded with 0."""
VALUES_AT_ONCE = 2**22
"""The largest number of values in the rows that are made at once to leave out one feature each."""


class Network:
    """Layers of weights with an activation function between them. The sums of the last layer are the scores."""

    kind: ClassVar[str] = "network"
    adds_up: ClassVar[bool] = False
    has_probabilities: bool = True
    weights = None

    def __init__(self, layers: Sequence[tuple[Floats, Floats]], activation: str, classes: int) -> None:
        """`layers` are the weights, inputs × outputs, and the biases of each layer. Two classes share one output."""
        self.layers = [(np.asarray(weights), np.asarray(bias)) for weights, bias in layers]
        self.activation = activation
        self.classes = classes
        widths = [self.features, *(len(bias) for _, bias in self.layers)]
        self._core = _core.Network(
            _core.Bend[activation],
            widths,
            [pad(weights) for weights, _ in self.layers],
            [pad(bias) for _, bias in self.layers],
        )

    @property
    def features(self) -> int:
        return len(self.layers[0][0])

    def scores(self, rows: Rows) -> Floats:
        return self._core.scores(rows)

    def contributions(
        self, features: NDArray[np.uint32], values: NDArray[np.float64], columns: list[int], lanes: int
    ) -> Contributions:
        """Return for each feature the score of the row minus its score without the feature.

        That is exact for each single feature, but features interact, so that the numbers do not add up to the score.
        `bias` is the score of a row without features.
        """
        alone = Sparse(
            np.array([0, 0, len(features)]), np.asarray(features, np.uint32), values.astype(np.float32), self.features
        )
        bias, sums = self.scores(as_rows(alone))[:, columns].astype(np.float64)
        products = np.empty((len(features), len(columns)))
        for some in np.array_split(np.arange(len(features)), 1 + len(features) ** 2 // VALUES_AT_ONCE):
            products[some] = sums - self.scores(as_rows(without_each(alone, some)))[:, columns]
        return Contributions(np.full_like(products, np.nan), products, bias, sums)

    def explain(self, model: Model, top: int) -> Shown:
        raise SettingsError(
            "rule",
            f"of this model is {model.settings.rule!r}, in which features interact and have no weights of their own; "
            "explain an example instead",
        )

    def named_numbers(self, features: FeatureMap, labels: list[str]) -> list[NamedNumbers]:
        """Return the weights of each layer."""
        found = []
        rows: Sequence[str] = FeatureNames(features, BIAS)
        for number, (weights, bias) in enumerate(self.layers, start=1):
            units = [f"unit {number}.{unit}" for unit in range(1, len(bias) + 1)]
            columns = outputs_of(labels) if number == len(self.layers) else units
            found.append(NamedNumbers(rows, columns, np.vstack([weights, bias]).astype(np.float64)))
            rows = [*units, BIAS]
        return found

    def used(self) -> NDArray[np.bool_]:
        return np.asarray((self.layers[0][0] != 0).any(axis=1))

    def prune(self, kept: NDArray[np.bool_]) -> Network:
        (weights, bias), *others = self.layers
        return Network([(np.ascontiguousarray(weights[kept]), bias), *others], self.activation, self.classes)

    def save(self) -> Saved:
        arrays: dict[str, NDArray[Any]] = {}
        for number, (weights, bias) in enumerate(self.layers):
            arrays |= {f"weights{number}": weights, f"bias{number}": bias}
        return Saved({"activation": self.activation}, arrays)

    @classmethod
    def load(cls, saved: Saved, classes: int, has_probabilities: bool) -> Network:
        activation = saved.facts.get("activation")
        need(saved.facts.keys() == {"activation"} and has_probabilities, "its network has the wrong parts")
        known = isinstance(activation, str) and activation in ("relu", "tanh", "sigmoid")
        need(known, "its network has an unknown activation")
        layers = [
            (saved.arrays[f"weights{number}"], saved.arrays[f"bias{number}"])
            for number in range(MOST_LAYERS + 1)
            if {f"weights{number}", f"bias{number}"} <= saved.arrays.keys()
        ]
        need(len(layers) >= 2 and 2 * len(layers) == len(saved.arrays), "its network has the wrong layers")
        check_layers(layers)
        outputs = 1 if classes == 2 else classes
        need(layers[-1][1].shape == (outputs,), "the outputs of its network do not match its classes")
        return cls(layers, str(activation), classes)


def check_layers(layers: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> None:
    """Raise an error if arrays from a file are not the layers of a network."""
    for weights, bias in layers:
        need(weights.dtype == bias.dtype == np.float32, "its weights are not 32-bit floats")
        need(weights.ndim == 2 and bias.shape == weights.shape[1:], "a layer of its network has the wrong shape")
        need(bool(np.isfinite(weights).all() and np.isfinite(bias).all()), "its weights contain NaN or infinity")
    for (one, _), (other, _) in pairwise(layers):
        need(1 <= one.shape[1] <= WIDEST_LAYER, "a layer of its network is empty or too large")
        need(one.shape[1] == other.shape[0], "the sizes of its layers do not match")


def padded(outputs: int) -> int:
    """Return the number of columns, rounded up to whole registers."""
    return -(-outputs // REGISTER) * REGISTER


def pad(array: Floats) -> Floats:
    """Return the array with columns of 0 added up to whole registers."""
    if array.shape[-1] % REGISTER == 0:
        return np.ascontiguousarray(array)
    wider = zeros(*array.shape[:-1], padded(array.shape[-1]))
    wider[..., : array.shape[-1]] = array
    return wider


def zeros(*shape: int) -> Floats:
    """Return an array that starts at a cache line, so that each row touches as few cache lines as possible."""
    count, line = math.prod(shape), 16
    memory = np.zeros(count + line, np.float32)
    start = -memory.ctypes.data // memory.itemsize % line
    return memory[start : start + count].reshape(shape)


def without_each(rows: Sparse, which: NDArray[np.int64]) -> Sparse:
    """Return copies of the last row, each without one of these values."""
    count = len(rows.indices)
    others = np.arange(count - 1)
    left = others + (others >= which[:, None])
    indptr = np.arange(len(which) + 1) * (count - 1)
    return Sparse(indptr, rows.indices[left].reshape(-1), rows.data[left].reshape(-1), rows.width)
