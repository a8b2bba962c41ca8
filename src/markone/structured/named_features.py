"""Weights and features by name, in Python dictionaries: for structures that the core does not know."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.brief import LONGEST, MANY
from markone.data.strings import Strings
from markone.errors import DataError
from markone.storage.saved import Contents, blob, check_finite

LARGEST = sys.float_info.max
Example = tuple[Any, Any]
"""An input x and its right answer y."""


class Weights(dict[str, float]):
    """The weights of features by name. Features without an entry have the weight 0.

    >>> w = Weights({"a": 2.0})
    >>> w["a"], w["b"], w.score({"a": 3, "b": 1}), len(w)
    (2.0, 0.0, 6.0, 1)
    """

    def __missing__(self, name: str) -> float:
        return 0.0

    def __repr__(self) -> str:
        whole = "" if len(self) > MANY else f"Weights({super().__repr__()})"
        return whole if 0 < len(whole) <= LONGEST else f"<Weights: {len(self):,} features>"

    def score(self, features: Mapping[str, float] | Iterable[str]) -> float:
        """The sum of weights times values."""
        products = [self[name] * value for name, value in named(features).items()]
        try:
            score = math.fsum(products)
        except (OverflowError, ValueError):  # a partial sum overflows, or infinities are subtracted
            score = math.nan
        if not math.isfinite(score):
            raise DataError("the score of an answer overflows: weights or feature values are too large")
        return score


def named(features: Any) -> Mapping[str, float]:
    """Features as a mapping from names to values. In a list of names, the value is the number of occurrences."""
    if isinstance(features, Mapping):
        return features
    if isinstance(features, str) or not isinstance(features, Iterable):
        raise DataError(f"features must be a dict of values by name, or a list of names, not {features!r:.80}")
    return Counter(features)


def checked(features: Mapping[str, float]) -> Mapping[str, float]:
    for name, value in features.items():
        if not isinstance(name, str):
            raise DataError(f"the name of a feature must be a string, not {name!r:.80}")
        if not isinstance(value, int | float) or not abs(value) <= LARGEST:
            raise DataError(f"the value of the feature {name!r:.80} must be a finite number, not {value!r:.80}")
    return features


def difference(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """The features of `one` minus the features of `other`, without zeros."""
    found = dict(checked(one))
    for name, value in checked(other).items():
        found[name] = found.get(name, 0) - value
    return {name: float(value) for name, value in found.items() if value != 0}


def norm2_of(features: Mapping[str, float]) -> float:
    return math.fsum(value * value for value in features.values())


# ---- examples


def share_right(search: Callable[[Any, Weights], Any], w: Weights, pairs: Sequence[Example]) -> float:
    return sum(bool(search(x, w) == y) for x, y in pairs) / len(pairs) if pairs else 0.0


def list_of(examples: Iterable[Any]) -> list[Example]:
    pairs = list(examples)
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise DataError(f"example {number} is {pair!r:.80}, not a pair of x and the right answer")
    return [(x, y) for x, y in pairs]


# ---- files


def save_numbers(names: list[str], **columns: Mapping[str, float]) -> dict[str, NDArray[Any]]:
    """The arrays of a file with these names, and a column of numbers for each mapping."""
    numbers = {key: np.array([by[name] for name in names], np.float64) for key, by in columns.items()}
    return {**blob("names", Strings.of(names)), **numbers}


def numbers_of(contents: Contents, key: str, names: list[str]) -> dict[str, float]:
    """One of the columns that `save_numbers` has written, by name."""
    numbers = contents.array(key, np.float64, len(names))
    check_finite(key, numbers)
    return dict(zip(names, numbers.tolist(), strict=True))


def weights_in(contents: Contents) -> Weights:
    """The weights, which must be the last part of the contents."""
    weights = Weights(numbers_of(contents, "weights", contents.names("names")))
    contents.close()
    return weights
