"""Counts in how many training examples the strongest features of each class occur, and computes odds from that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief, of_fields
from markone.data.blocks import Block, Blocks, of_each
from markone.errors import ModelFileError
from markone.features.categories import Categories
from markone.features.conjunctions import Conjunctions
from markone.features.functions import Functions
from markone.features.images import Patterns, Pixels
from markone.features.map import FeatureMap
from markone.features.ngrams import NOBODY, Ngrams
from markone.features.part import Part
from markone.features.precomputed import Given
from markone.storage.saved import Saved

STRONGEST = 100
"""The number of features that are counted for each class, and also against it."""
MOST_ROWS = 2**48
VALUES_AT_ONCE = 2**20

Weights = _core.Weights32 | _core.Weights64


class Count(NamedTuple):
    """The number of training examples in which a feature occurs."""

    inside: int
    """The number in a class."""
    outside: int
    """The number in all other classes."""
    odds: float
    """P(feature | class) / P(feature | other classes), with 1 added to each count and 2 to each total."""

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, repr=False)
class Counts(Brief):
    """For pairs of a feature and a class: how many examples of the class, and how many of all, have the feature.

    The pairs are sorted by feature, and then by class.
    """

    features: NDArray[np.uint32]
    classes: NDArray[np.uint32]
    inside: NDArray[np.int64]
    total: NDArray[np.int64]
    rows: NDArray[np.int64]
    """How many examples each class has."""

    def of(self, feature: int, number: int) -> Count | None:
        """Return the count of a feature in class `number`, or None if it was not counted."""
        pair = self._pairs.get((feature, number))
        if pair is None:
            return None
        inside, total = int(self.inside[pair]), int(self.total[pair])
        mine, all_rows = int(self.rows[number]), self._all_rows
        odds = ((inside + 1) / (mine + 2)) / ((total - inside + 1) / (all_rows - mine + 2))
        return Count(inside, total - inside, odds)

    @cached_property
    def _all_rows(self) -> int:
        return sum(self.rows.tolist())

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], int]:
        pairs = zip(self.features.tolist(), self.classes.tolist(), strict=True)
        return {pair: i for i, pair in enumerate(pairs)}

    def renumbered(self, stays: NDArray[np.bool_]) -> Counts:
        """Return the counts of the features that stay after pruning, with their new numbers."""
        kept = stays[self.features]
        numbers = (np.cumsum(stays) - 1)[self.features[kept]].astype(np.uint32)
        return Counts(numbers, self.classes[kept], self.inside[kept], self.total[kept], self.rows)

    def save(self) -> Saved:
        return Saved(arrays={name: getattr(self, name) for name in DTYPES})

    @classmethod
    def load(cls, saved: Saved, width: int, classes: int) -> Counts:
        """Read the counts from a file, which may contain anything, for a model with `width` features."""
        if saved.facts or saved.arrays.keys() != DTYPES.keys():
            raise damaged("has the wrong parts")
        for name, array in saved.arrays.items():
            if array.dtype != DTYPES[name] or array.ndim != 1:
                raise damaged(f"has {name!r} with a wrong type or shape")
        counts = cls(**saved.arrays)
        pairs = len(counts.features)
        if len(counts.rows) != classes or {len(counts.classes), len(counts.inside), len(counts.total)} != {pairs}:
            raise damaged("has parts that do not match")
        if pairs and (counts.features.max() >= width or counts.classes.max() >= classes):
            raise damaged("names features or classes that the model does not have")
        if counts.rows.min(initial=0) < 0 or counts.rows.max(initial=0) > MOST_ROWS:
            raise damaged("has impossible numbers")
        keys = counts.features.astype(np.uint64) << np.uint64(32) | counts.classes
        if (keys[1:] <= keys[:-1]).any():
            raise damaged("is out of order")
        mine = counts.rows[counts.classes]
        others = min(sum(counts.rows.tolist()), np.iinfo(np.int64).max) - mine
        outside = counts.total - np.clip(counts.inside, 0, None)
        if (counts.inside < 0).any() or (counts.inside > mine).any() or (outside < 0).any() or (outside > others).any():
            raise damaged("has impossible numbers")
        same = counts.features[1:] == counts.features[:-1]
        if (counts.total[1:] != counts.total[:-1])[same].any():
            raise damaged("has two numbers for one feature")
        return counts


DTYPES = {
    "features": np.dtype(np.uint32),
    "classes": np.dtype(np.uint32),
    "inside": np.dtype(np.int64),
    "total": np.dtype(np.int64),
    "rows": np.dtype(np.int64),
}


def damaged(problem: str) -> ModelFileError:
    return ModelFileError(f"the table of counts in the model file {problem}; the file is damaged, make the model again")


# ---- the strongest features


class Strongest(NamedTuple):
    """The features with the largest weights for or against one class, the strongest first."""

    number: int
    """The number of the class."""
    speaks_for: bool
    """Whether the features support the class, or another one."""
    features: NDArray[np.uint32]
    weights: NDArray[np.float64]
    """The weights of the features. With two classes, the features that support the first have negative weights."""


def strongest(weights: Weights, most: int = STRONGEST) -> Iterator[Strongest]:
    """Return the features that support each class most and, with more than two classes, those most against it.

    With two classes, a feature that is against one class supports the other. Among features with equal weights, the
    first ones are chosen.
    """
    columns = weights.bias().size
    best = [[(np.zeros(0, np.uint32), np.zeros(0)) for _ in (1, -1)] for _ in range(columns)]
    step = max(1, VALUES_AT_ONCE // columns)
    for begin in range(0, weights.features, step):
        features = np.arange(begin, min(begin + step, weights.features), dtype=np.uint32)
        some = weights.of(features).astype(np.float64)
        for column, sides in enumerate(best):
            for side, sign in enumerate((1, -1)):
                sides[side] = better(*sides[side], features, sign * some[:, column], most)
    for column, ((up, up_weights), (down, down_weights)) in enumerate(best):
        if columns == 1:
            yield Strongest(1, True, up, up_weights)
            yield Strongest(0, True, down, -down_weights)
        else:
            yield Strongest(column, True, up, up_weights)
            yield Strongest(column, False, down, -down_weights)


def better(
    features: NDArray[np.uint32],
    weights: NDArray[np.float64],
    more_features: NDArray[np.uint32],
    more_weights: NDArray[np.float64],
    most: int,
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Return the `most` largest positive weights of some sorted ones and of more, whose features come later."""
    least = weights[-1] if len(weights) == most else 0.0
    chosen = np.flatnonzero(more_weights > least)
    if len(chosen) > most:
        bar = np.partition(more_weights[chosen], -most)[-most]
        chosen = chosen[more_weights[chosen] >= bar]
    features = np.concatenate([features, more_features[chosen]])
    weights = np.concatenate([weights, more_weights[chosen]])
    order = np.argsort(-weights, kind="stable")[:most]
    return features[order], weights[order]


# ---- counting


def count_strongest(weights: Weights, blocks: Blocks, classes: int, features: FeatureMap) -> Counts:
    """Count the strongest features of each class in the training rows. Rows with a negative label are skipped."""
    countable = countable_features(features)
    pairs = np.sort(
        np.concatenate(
            [
                np.uint64(side.number) | side.features[countable[side.features]].astype(np.uint64) << np.uint64(32)
                for side in strongest(weights)
            ]
        )
    )
    pairs = pairs[np.diff(pairs, prepend=~pairs[:1]) != 0]  # np.unique would import masked arrays
    chosen, of_class = (pairs >> np.uint64(32)).astype(np.uint32), (pairs & np.uint64(NOBODY)).astype(np.uint32)
    found = np.zeros((2, len(chosen)), np.int64), np.zeros(classes, np.int64)
    for counts in of_each(blocks, count_block, chosen, of_class, classes):
        for total, more in zip(found, counts, strict=True):
            total += more
    (inside, total), rows = found
    return Counts(chosen, of_class, inside, total, rows)


def count_block(
    block: Block, chosen: NDArray[np.uint32], of_class: NDArray[np.uint32], classes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for pairs of a feature and a class how many rows of the class, and of all classes, have the feature; and
    how many rows each class has."""
    inside, total = counts = np.zeros((2, len(chosen)), np.int64)
    rows = np.bincount(block.labels[block.labels >= 0], minlength=classes)
    if isinstance(block.rows, _core.SparseRows32 | _core.SparseRows64):
        block.rows.count_with(block.labels, chosen, of_class, inside, total)
        return counts, rows
    for i, (feature, number) in enumerate(zip(chosen, of_class, strict=True)):
        with_it = block.labels[block.matrix[:, feature] != 0]
        inside[i] = np.count_nonzero(with_it == number)
        total[i] = np.count_nonzero(with_it >= 0)
    return counts, rows


def countable_features(features: FeatureMap) -> NDArray[np.bool_]:
    """Return for each feature whether it can be counted, because an example either has it or not."""
    return np.concatenate([np.full(part.width, is_countable(part)) for part in features.parts])


def is_countable(part: Part) -> bool:
    """Return whether an example either has or does not have the features. It is not meaningful to count numbers."""
    if isinstance(part, Pixels):
        return part.settings.pixels == "on-off"
    if isinstance(part, Given):
        return not part.dense
    if isinstance(part, Conjunctions):
        return all(one is not None for one in part.combinations)
    return isinstance(part, Ngrams | Categories | Functions | Patterns)
