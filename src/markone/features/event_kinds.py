"""Groups of features: the kinds of events that naive Bayes counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.storage.saved import damaged

Event = Literal["multinomial", "bernoulli", "categorical", "gaussian"]

MOST_EVENTS = 2**53


@dataclass(frozen=True, slots=True)
class Group:
    """The features from `start` to before `end`, which are events of one kind.

    `multinomial`: each value is the number of times that a word of the group was drawn. `bernoulli`: each feature is
    independently present or absent. `categorical`: exactly one feature of the group is present, the value of a column.
    `gaussian`: each feature is a measurement.
    """

    kind: Event
    start: int
    end: int
    size: int | None = None
    """The number of events that can be drawn, |X|; the number of features by default."""
    missing: tuple[tuple[int, int], ...] = ()
    """Pairs of a number and a feature that is not 0 if the number is missing. A missing number is then not counted; the
    other feature is counted if it is in a group."""

    @property
    def events(self) -> int:
        return self.end - self.start if self.size is None else self.size

    def moved(self, by: int) -> Group:
        missing = tuple((number + by, indicator + by) for number, indicator in self.missing)
        return replace(self, start=self.start + by, end=self.end + by, missing=missing)


Groups = Sequence[Group]
"""Groups in the order of the features. No feature is in two groups; features outside all groups are not counted."""


def joined(groups: list[Group]) -> list[Group]:
    """The same groups, in which neighbouring groups of independent features are joined."""
    found: list[Group] = []
    for group in groups:
        alone = group.kind in ("bernoulli", "gaussian")
        if alone and found and found[-1].kind == group.kind and found[-1].end == group.start:
            found[-1] = replace(found[-1], end=group.end, missing=found[-1].missing + group.missing)
        elif group.end > group.start:
            found.append(group)
    return found


def one_group(kind: Event, width: int) -> tuple[Group, ...]:
    """All features as events of one kind."""
    return (Group(kind, 0, width),) if width else ()


def in_core(groups: Groups, width: int) -> _core.EventGroups:
    """The groups, checked for this number of features."""
    return _core.EventGroups(
        [(_core.Likelihood[group.kind], group.start, group.end, float(group.events)) for group in groups],
        width,
        [pair for group in groups for pair in group.missing],
    )


def numbers_of(groups: Groups) -> NDArray[np.int64]:
    """The features that are numbers, in order."""
    ranges = [np.arange(group.start, group.end) for group in groups if group.kind == "gaussian"]
    return np.concatenate([np.zeros(0, np.int64), *ranges])


def pruned(groups: Groups, kept: NDArray[np.bool_]) -> tuple[list[int], tuple[Group, ...]]:
    """The groups after only some features are kept, with their new numbers."""
    places = np.concatenate([[0], np.cumsum(kept)]).tolist()
    which, left = [], []
    for i, group in enumerate(groups):
        start, end = places[group.start], places[group.end]
        if start == end:
            continue
        pairs = [(number, by) for number, by in group.missing if kept[number]]
        missing = tuple((places[number], places[by]) for number, by in pairs)
        which.append(i)
        left.append(replace(group, start=start, end=end, size=group.events, missing=missing))
    return which, tuple(left)


# ---- in files


def groups_to_json(groups: Groups) -> list[list[Any]]:
    return [[group.kind, group.start, group.end, group.events, [*map(list, group.missing)]] for group in groups]


def groups_from_json(found: Any, width: int) -> tuple[Group, ...]:
    """Groups from untrusted content of a file, checked."""
    if type(found) is not list:
        raise damaged("its groups are not a list")
    groups = tuple(group_from_json(one) for one in found)
    try:
        in_core(groups, width)
    except ValueError as error:
        raise damaged(str(error)) from None
    return groups


def group_from_json(found: Any) -> Group:
    whole = type(found) is list and len(found) == 5 and found[0] in get_args(Event) and type(found[4]) is list
    pairs = found[4] if whole else []
    whole = whole and all(type(pair) is list and len(pair) == 2 for pair in pairs)
    numbers = [*found[1:4], *(number for pair in pairs for number in pair)] if whole else [None]
    if any(type(number) is not int or not 0 <= number < MOST_EVENTS for number in numbers):
        raise damaged("a group of features is not what it should be")
    kind, start, end, size, _ = found
    return Group(kind, start, end, size, tuple((number, by) for number, by in pairs))
