"""Curves: numeric columns divided into intervals, and pairs of columns divided into cells.

A line says that a score rises with a column everywhere by the same amount. With a weight for each interval of the
column beside it, the score follows a curve. A pair of columns has a weight for each cell of a grid, where one interval
or category of the first column meets one of the second. A penalty keeps the weights of neighbours similar. How smooth
the curves are, and which pairs there are, is found with held-out rows: see learning/shapes.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Sparse
from markone.data.source import UNLABELLED, Batch, Column
from markone.features.categories import Categories, Codes
from markone.features.event_kinds import Event, Group
from markone.features.numbers import Numbers
from markone.features.part import Neighbours, Part
from markone.features.spec import Categorical, Numeric
from markone.storage.saved import Contents, Saved, check_finite, damaged, joined

MOST_INTERVALS = 20
"""About the largest number of intervals of a column; frequent values between other ones make some more."""
FEWEST_INTERVALS = 3
"""With fewer intervals, a curve would be a line."""
ALL_INTERVALS = 800
"""The largest number of intervals of all columns: with many columns, few rows or many classes, each has fewer."""
SIDE = 8
"""The largest number of rows and columns of the grid of a pair."""
SAMPLE = 16_384
"""Intervals, smoothness and pairs are found with at most this number of rows."""
ABSENT = -1
"""The interval of a missing number, which has no feature here: `age is missing` is one of the numbers."""


class Draft(NamedTuple):
    numbers: NDArray[Any]
    """Numbers by column and row; NaN is a missing number."""
    categories: list[Codes]


@dataclass(frozen=True, slots=True)
class Examples:
    """Rows of training with their labels."""

    draft: Draft
    labels: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two columns, by their numbers: first those with numbers, then those with categories."""

    first: int
    second: int


class Curves(Part):
    """One-hot rows of intervals and cells: for each curve and each pair, the feature of one interval or cell is 1.

    Numeric columns get curves. Numeric, categorical and boolean columns can be in pairs. In a pair, a column has at
    most 8 parts: neighbouring intervals are joined, and all categories but the most frequent ones are one.
    """

    def __init__(
        self,
        numbers: Sequence[tuple[Column, Numeric]],
        categories: Sequence[tuple[Column, Categorical]],
        *,
        pairs: bool = True,
    ) -> None:
        self.may_pair = pairs
        self.numbers = Numbers(numbers)
        self.categories = Categories(categories)
        self.columns = [*self.numbers.columns, *self.categories.columns]
        self.bent = [i for i, (column, how) in enumerate(numbers) if column.kind == "numeric" and how.curves]
        """The columns that may have a curve."""
        self.cuts: list[NDArray[np.float64]] = [np.zeros(0) for _ in self.numbers.columns]
        """The least number of each interval but the first, by column."""
        self.bounds = np.zeros((len(self.cuts), 2))
        """The least and the largest number of each column, for pictures."""
        self.samples: list[Examples] = []
        self.every = 1
        self.met = 0
        self.shape(None, (), 0.0)

    def shape(self, smoothness: float | None, pairs: Sequence[Pair], pair_smoothness: float) -> None:
        """Set how smooth the curves are, or None if lines are enough, and which pairs there are."""
        self.smoothness = smoothness
        self.pairs = tuple(pairs)
        self.pair_smoothness = pair_smoothness
        self.curves = [] if smoothness is None else [i for i in self.bent if self.parts(i) >= FEWEST_INTERVALS]
        widths = [self.parts(i) for i in self.curves]
        widths += [self.side(pair.first) * self.side(pair.second) for pair in self.pairs]
        self.begins = list(accumulate(widths, initial=0))

    def parts(self, column: int) -> int:
        """The number of intervals or categories of a column."""
        own = column - len(self.numbers.columns)
        return len(self.cuts[column]) + 1 if own < 0 else self.categories.widths[own]

    @property
    def side_limit(self) -> int:
        """The largest side of a pair of these columns."""
        return max((self.side(i) for i in range(len(self.columns))), default=1)

    def side(self, column: int) -> int:
        """The number of parts of a column in a pair."""
        return min(self.parts(column), SIDE)

    # ---- fitting

    of_numbers = False
    """Whether the labels are numbers, not classes, so that there is one score."""

    def collect(self, batch: Batch) -> Any:
        return self.numbers.read(batch), self.categories.collect(batch)

    def absorb(self, collected: Any, labels: NDArray[np.int32] | None = None) -> Draft:
        draft = Draft(collected[0], self.categories.absorb(collected[1]))
        self.keep(draft, np.zeros(draft.numbers.shape[1], np.int32) if labels is None else labels)
        return draft

    def keep(self, draft: Draft, labels: NDArray[np.int32]) -> None:
        """Keep every row, then every second, fourth and so on, so that the sample is from all parts of the data."""
        self.samples.append(thinned(Examples(draft, labels), -self.met % self.every, self.every))
        self.met += len(labels)
        while sum(len(one.labels) for one in self.samples) > SAMPLE:
            self.every *= 2
            start = 0
            for i, one in enumerate(self.samples):
                self.samples[i] = thinned(one, start % 2, 2)
                start += len(one.labels)

    def finish(self) -> None:
        self.categories.finish()
        if not self.samples:
            return
        labels = np.concatenate([one.labels for one in self.samples])
        classes = 2 if self.of_numbers else len(np.unique(labels[labels != UNLABELLED]))
        room = min(ALL_INTERVALS, len(labels), 4 * ALL_INTERVALS // max(2, classes) // 2)
        most = min(MOST_INTERVALS, room // max(1, len(self.bent)))
        for i in range(len(self.numbers.columns)):
            values = np.concatenate([one.draft.numbers[i] for one in self.samples])
            known = values[np.isfinite(values)]
            self.cuts[i] = cuts_of(known, most)
            self.bounds[i] = (known.min(), known.max()) if len(known) else 0.0
        self.shape(None, (), 0.0)

    def sample(self) -> Examples:
        """The rows that were kept in training."""
        numbers = np.concatenate([one.draft.numbers for one in self.samples], axis=1)
        categories = [
            np.concatenate(some) for some in zip(*(one.draft.categories for one in self.samples), strict=True)
        ]
        return Examples(Draft(numbers, categories), np.concatenate([one.labels for one in self.samples]))

    def settle(self) -> None:
        self.samples = []

    # ---- rows

    def refine(self, draft: Draft) -> Sparse:
        return self.rows(self.places(draft))

    def transform(self, batch: Batch) -> Sparse:
        return self.rows(self.codes(self.numbers.read(batch), self.categories.find(batch)))

    def places(self, draft: Draft) -> list[NDArray[np.int64]]:
        """The interval or category of each column in each row of a draft."""
        found = [places[numbers] for places, numbers in zip(self.categories.places, draft.categories, strict=True)]
        return self.codes(draft.numbers, found)

    def codes(self, numbers: NDArray[Any], categories: list[Codes]) -> list[NDArray[np.int64]]:
        intervals = [
            np.where(np.isnan(values), ABSENT, np.searchsorted(cuts, values, side="right"))
            for cuts, values in zip(self.cuts, numbers, strict=True)
        ]
        return [*intervals, *(places.astype(np.int64) for places in categories)]

    def coarse(self, column: int, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The part of a column in a pair."""
        if self.parts(column) <= SIDE:
            return codes
        if column >= len(self.numbers.columns):
            return np.minimum(codes, SIDE - 1)
        return np.where(codes < 0, ABSENT, codes * SIDE // self.parts(column))

    def cells(self, pair: Pair, codes: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The cell of a pair in each row."""
        first, second = (self.coarse(column, codes[column]) for column in (pair.first, pair.second))
        return np.where((first < 0) | (second < 0), ABSENT, first * self.side(pair.second) + second)

    def rows(self, codes: list[NDArray[np.int64]]) -> Sparse:
        size = len(codes[0])
        found = [codes[i] for i in self.curves] + [self.cells(pair, codes) for pair in self.pairs]
        places = np.empty((size, len(found)), np.int64)
        for i, (begin, one) in enumerate(zip(self.begins, found, strict=False)):
            places[:, i] = np.where(one < 0, ABSENT, one + begin)
        kept = places >= 0
        indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        indices = places[kept].astype(np.uint32)
        return Sparse(indptr, indices, np.ones(len(indices), np.float32), self.width)

    @property
    def width(self) -> int:
        return self.begins[-1]

    def neighbours(self) -> list[Neighbours]:
        chains = [
            Neighbours(begin, (self.parts(i),), self.smoothness or 0.0)
            for begin, i in zip(self.begins, self.curves, strict=False)
        ]
        grids = [
            Neighbours(begin, (self.side(pair.first), self.side(pair.second)), self.pair_smoothness, self.ordered(pair))
            for begin, pair in zip(self.begins[len(self.curves) :], self.pairs, strict=False)
        ]
        return chains + [grid for grid in grids if grid.ways]

    def ordered(self, pair: Pair) -> tuple[int, ...]:
        """Which of its columns have numbers. Categories have no order, and so no neighbours."""
        return tuple(i for i, column in enumerate((pair.first, pair.second)) if column < len(self.numbers.columns))

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        return [Group("bernoulli", 0, self.width)] if self.width else []

    # ---- names

    def name(self, number: int) -> str:
        which = bisect_right(self.begins, number) - 1
        place = number - self.begins[which]
        if which < len(self.curves):
            return self.name_of(self.curves[which], place, place)
        pair = self.pairs[which - len(self.curves)]
        first, second = divmod(place, self.side(pair.second))
        return f"{self.name_in_pair(pair.first, first)} × {self.name_in_pair(pair.second, second)}"

    def name_of(self, column: int, first: int, last: int) -> str:
        """The name of an interval, or of several that are joined."""
        name, cuts = self.columns[column].name, self.cuts[column]
        low, high = (number_in_words(cuts[i]) if 0 <= i < len(cuts) else None for i in (first - 1, last))
        if low is None:
            return name if high is None else f"{name} < {high}"
        return f"{name} ≥ {low}" if high is None else f"{low} ≤ {name} < {high}"

    def name_in_pair(self, column: int, place: int) -> str:
        own, parts = column - len(self.numbers.columns), self.parts(column)
        if own >= 0:
            return (
                f"another {self.columns[column].name}"
                if parts > SIDE and place == SIDE - 1
                else self.categories.name_in(own, place)
            )
        joined_here = np.flatnonzero(self.coarse(column, np.arange(parts)) == place)
        return self.name_of(column, int(joined_here[0]), int(joined_here[-1]))

    def report(self) -> list[str]:
        """The curves and pairs that were found, as sentences."""
        found = []
        if self.curves:
            columns = "1 column has a curve" if len(self.curves) == 1 else f"{len(self.curves)} columns have curves"
            found.append(f"{columns} (smoothness {self.smoothness:g}).")
        if self.pairs:
            found.append(f"Pairs: {', '.join(map(self.pair_name, self.pairs))}.")
        return found

    def pair_name(self, pair: Pair) -> str:
        return f"{self.columns[pair.first].name} × {self.columns[pair.second].name}"

    # ---- after learning

    def save(self) -> Saved:
        within = joined({"categories": self.categories.save()})
        sizes = [len(cuts) for cuts in self.cuts]
        facts = {
            "sizes": sizes,
            "curved": self.smoothness is not None,
            "smoothness": self.smoothness or 0.0,
            "pair_smoothness": self.pair_smoothness,
        }
        pairs = np.array([(pair.first, pair.second) for pair in self.pairs], np.int64).reshape(-1, 2)
        arrays = {"cuts": np.concatenate([np.zeros(0), *self.cuts]), "bounds": self.bounds, "pairs": pairs}
        return Saved({**within.facts, **facts}, {**within.arrays, **arrays})

    def take(self, contents: Contents) -> None:
        self.categories.restore(contents.saved("categories"))
        sizes = contents.facts("sizes", int, len(self.cuts))
        cuts = contents.array("cuts", np.float64, None)
        if min(sizes, default=0) < 0 or max(sizes, default=0) > 3 * MOST_INTERVALS or sum(sizes) != len(cuts):
            raise damaged("the numbers of intervals do not match the columns")
        check_finite("cuts", cuts)
        self.cuts = np.split(cuts, np.cumsum(sizes)[:-1]) if sizes else []
        if any((np.diff(some) <= 0).any() for some in self.cuts):
            raise damaged("the intervals of a column are not in order")
        self.bounds = contents.array("bounds", np.float64, len(self.cuts), 2)
        check_finite("bounds", self.bounds)
        curved, smoothness = contents.fact("curved", bool), contents.fact("smoothness", float)
        pair_smoothness = contents.fact("pair_smoothness", float)
        if not (0 <= smoothness < np.inf and 0 <= pair_smoothness < np.inf):
            raise damaged("a smoothness is negative or infinite")
        pairs = contents.array("pairs", np.int64, None, 2)
        if ((pairs < 0) | (pairs >= len(self.columns))).any() or (pairs[:, 0] >= pairs[:, 1]).any():
            raise damaged("a pair has an unknown column")
        if len({*map(tuple, pairs.tolist())}) != len(pairs):
            raise damaged("a pair occurs twice")
        self.shape(smoothness if curved else None, [Pair(*pair) for pair in pairs.tolist()], pair_smoothness)

    def extend(self, other: Curves) -> NDArray[np.int64]:
        """Keep all intervals and pairs, because the weights depend on them. New categories are like rare ones."""
        return np.arange(self.width)


def thinned(examples: Examples, start: int, step: int) -> Examples:
    """Every `step`-th row. They are copied, so that the memory of the others can be released."""
    if step == 1:
        return examples
    draft, rows = examples.draft, slice(start, None, step)
    numbers, categories = draft.numbers[:, rows].copy(), [codes[rows].copy() for codes in draft.categories]
    return Examples(Draft(numbers, categories), examples.labels[rows].copy())


def cuts_of(values: NDArray[Any], most: int) -> NDArray[np.float64]:
    """The borders of intervals with about the same number of values. A frequent value has its own interval.

    A border is the shortest decimal number above the largest value of an interval, and not above the next value.
    """
    distinct, counts = np.unique(values, return_counts=True)
    alone, share = heavy(counts, most)
    ends, held = [], 0
    for i, count in enumerate(counts[:-1].tolist()):
        held += count
        if held >= share or alone[i] or alone[i + 1]:
            ends.append(i)
            held = 0
    return np.array([shortest_between(float(distinct[i]), float(distinct[i + 1])) for i in ends], np.float64)


def heavy(counts: NDArray[np.int64], most: int) -> tuple[NDArray[np.bool_], float]:
    """Which values need an interval of their own, and the number of values in each of the other intervals.

    Without the frequent values, the other intervals become smaller, and further values are frequent among them.
    """
    alone = np.zeros(len(counts), bool)
    while True:
        left = max(1, most - int(alone.sum()))
        share = float(counts[~alone].sum()) / left
        more = ~alone & (counts >= share)
        if not more.any() or left == 1:
            return alone, share
        alone |= more


def shortest_between(low: float, high: float) -> float:
    """The number with the fewest digits that is above `low` and at most `high`.

    >>> shortest_between(17.3, 22.8), shortest_between(0.0012, 0.0013), shortest_between(-3.0, -2.0)
    (20.0, 0.0013, -2.0)
    """
    for digits in range(1, 18):
        for number in (float(f"{(low + high) / 2:.{digits}g}"), float(f"{high:.{digits}g}")):
            if low < number <= high:
                return number
    return high


def number_in_words(number: float) -> str:
    """
    >>> number_in_words(20.0), number_in_words(0.25)
    ('20', '0.25')
    """
    text = repr(float(number))
    return text.removesuffix(".0")
