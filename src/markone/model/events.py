"""Events: how often each one occurred in each class. Naive Bayes learns nothing else."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.data.blocks import Block
from markone.errors import DataError
from markone.features.event_kinds import Group, Groups, groups_from_json, groups_to_json, in_core, numbers_of, pruned
from markone.storage.saved import Contents, Saved, damaged

Floats = NDArray[np.float64]

PLANES = 5
"""A number has five sums: of importance (one double), and of values and squares (two doubles each; core/bayes)."""
LARGEST = 1e150
LARGEST_IMPORTANCE = 1e15
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, repr=False)
class Events(Brief):
    """Counts, which are changed in place. Counts of whole numbers are exact, and do not depend on the order of rows."""

    groups: tuple[Group, ...]
    rows: Floats
    """The importance of the rows of each class."""
    counts: Floats
    """Features × classes: how often words occur, or how many rows have a feature."""
    numbers: Floats
    """Numbers × planes × classes."""
    others: Floats
    """Groups × classes: events of features that were pruned."""
    core: _core.EventGroups = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "core", in_core(self.groups, len(self.counts)))

    @classmethod
    def none(cls, groups: Groups, width: int, classes: int) -> Events:
        """Return counts that are all 0."""
        numbers = len(numbers_of(groups))
        return cls(
            tuple(groups),
            np.zeros(classes),
            np.zeros((width, classes)),
            np.zeros((numbers, PLANES, classes)),
            np.zeros((len(groups), classes)),
        )

    @property
    def features(self) -> int:
        return len(self.counts)

    @property
    def classes(self) -> int:
        return len(self.rows)

    def add(self, block: Block, order: NDArray[np.int64] | None = None) -> float:
        """Count the rows of a block, or only those in `order`, and return the sum of their importance."""
        self.check(block, order)
        return self.core.count(block.rows, block.labels, block.importance, order, self.rows, self.counts, self.numbers)

    def check(self, block: Block, order: NDArray[np.int64] | None = None) -> None:
        """Raise a `DataError` if the rows cannot be counted."""
        if block.importance is not None and block.importance.max(initial=0) > LARGEST_IMPORTANCE:
            raise DataError(
                f"a weight of {block.importance.max():g} is too large to be counted; divide the weights by a constant"
            )
        found = self.core.find_unusable(block.rows, order, LARGEST)
        if found is None:
            return
        row, feature, value = found
        if abs(value) > LARGEST:
            raise DataError(f"feature {feature} has the value {value:g} in row {row}, which is too large; rescale it")
        raise DataError(
            f"Negative values in data: feature {feature} has the value {value:g} in row {row}, but a multinomial "
            "counts occurrences; use the likelihood 'gaussian' for measurements, or 'bernoulli' for features that are "
            "present or absent"
        )

    def arrays(self) -> dict[str, Any]:
        return {"rows": self.rows, "counts": self.counts, "numbers": self.numbers, "others": self.others}

    def with_arrays(self, arrays: Mapping[str, Any]) -> Events:
        """Return the same events with copies of other counts."""
        return Events(self.groups, **{name: array.copy() for name, array in arrays.items()})

    def copy(self) -> Events:
        return self.with_arrays(self.arrays())

    def merged(self, more: Events) -> Events:
        """Return the sum of both counts, which must have the same features and classes."""
        mine, theirs = ([replace(group, size=group.events) for group in one.groups] for one in (self, more))
        if mine != theirs or self.counts.shape != more.counts.shape:
            raise DataError("counts can only be added to those of the same features and classes")
        numbers = np.concatenate(
            [
                self.numbers[:, :1] + more.numbers[:, :1],
                add_twofold(self.numbers[:, 1:3], more.numbers[:, 1:3]),
                add_twofold(self.numbers[:, 3:5], more.numbers[:, 3:5]),
            ],
            axis=1,
        )
        return replace(
            self,
            rows=self.rows + more.rows,
            counts=self.counts + more.counts,
            numbers=numbers,
            others=self.others + more.others,
        )

    def moved(self, groups: Groups, width: int, features: NDArray[np.int64], classes: int, places: list[int]) -> Events:
        """Return the counts with more features and classes: feature i becomes `features[i]`, class k `places[k]`."""
        wider = Events.none(groups, width, classes)
        starts = [group.start for group in groups]
        for group, others in zip(self.groups, self.others, strict=True):
            place = bisect_right(starts, int(features[group.start])) - 1
            if place < 0 or groups[place].kind != group.kind:
                raise DataError("counts can only be kept if the features stay of the same kind")
            wider.others[place, places] += others
        numbers = numbers_of(groups).searchsorted(features[numbers_of(self.groups)])
        wider.rows[places] = self.rows
        wider.counts[features[:, None], places] = self.counts
        wider.numbers[numbers[:, None, None], np.arange(PLANES)[:, None], places] = self.numbers
        return wider

    def pruned(self, kept: NDArray[np.bool_]) -> Events:
        """Return the counts without some features. Their events still count in the totals of their groups."""
        which, groups = pruned(self.groups, kept)
        others = self.others.copy()
        for i, group in enumerate(self.groups):
            if group.kind in ("multinomial", "categorical"):
                here = slice(group.start, group.end)
                others[i] += self.counts[here][~kept[here]].sum(axis=0)
        return Events(
            groups,
            self.rows.copy(),
            np.ascontiguousarray(self.counts[kept]),
            np.ascontiguousarray(self.numbers[kept[numbers_of(self.groups)]]),
            np.ascontiguousarray(others[which]),
        )

    # ---- in files

    def save(self) -> Saved:
        return Saved(
            {"groups": groups_to_json(self.groups)},
            {name: narrowed(array) for name, array in self.arrays().items()},
        )

    @classmethod
    def load(cls, saved: Saved, classes: int) -> Events:
        """Restore what `save` returned, from a file that may contain anything."""
        contents = Contents(saved)

        def array(name: str, *shape: int | None) -> Floats:
            narrow = getattr(saved.arrays.get(name), "dtype", None) == np.uint32
            return contents.array(name, np.uint32 if narrow else np.float64, *shape).astype(np.float64)

        counts = array("counts", None, classes)
        groups = groups_from_json(contents.fact("groups", list), len(counts))
        numbers = array("numbers", len(numbers_of(groups)), PLANES, classes)
        events = cls(groups, array("rows", classes), counts, numbers, array("others", len(groups), classes))
        contents.close()
        events.check_sense()
        return events

    def check_sense(self) -> None:
        """Raise an error if the numbers cannot be counts; a damaged file may contain any numbers."""
        for name, array in self.arrays().items():
            if not np.isfinite(array).all():
                raise damaged(f"{name!r} contains NaN or infinity")
        counted = (self.rows, self.counts, self.others, self.numbers[:, 0], self.numbers[:, 3])
        if any((array < 0).any() for array in counted):
            raise damaged("it has negative counts")
        most = self.rows * (1 + ROUNDING)
        for group in self.groups:
            if group.kind in ("bernoulli", "categorical") and (self.counts[group.start : group.end] > most).any():
                raise damaged("a feature is in more rows than there are")
        if (self.numbers[:, 0] > most).any():
            raise damaged("a number is in more rows than there are")


def add_twofold(a: Floats, b: Floats) -> Floats:
    """Return the sums of numbers that consist of two doubles each, added in the same way as in the core."""
    high, low = a[:, 0], a[:, 1]
    for more in (b[:, 0], b[:, 1]):
        high, rest = add_exactly(high, more)
        high, low = add_exactly(high, rest + low)
    return np.stack([high, low], axis=1)


def add_exactly(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum, and the rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def narrowed(array: Floats) -> NDArray[Any]:
    """Return the array as 32-bit integers if that loses nothing: most counts are small whole numbers."""
    if array.size and not 0 <= array.min() <= array.max() < 2**32:
        return array
    narrow = array.astype(np.uint32)
    return narrow if (narrow == array).all() else array
