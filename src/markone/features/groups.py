"""Groups of features: what kind of event the features of a part are, for rules that count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Event = Literal["multinomial", "bernoulli", "categorical", "gaussian"]


@dataclass(frozen=True, slots=True)
class Group:
    """Features, by number from `start` to before `end`, that are events of one kind.

    `multinomial`: each value says how often a word of the group was drawn. `bernoulli`: each feature is there or not,
    by itself. `categorical`: one of the group is there, the value of a column. `gaussian`: each is a measurement.
    """

    kind: Event
    start: int
    end: int

    def moved(self, by: int) -> Group:
        return Group(self.kind, self.start + by, self.end + by)


def joined(groups: list[Group]) -> list[Group]:
    """The same, in which neighbours whose features are events each by itself are one group."""
    found: list[Group] = []
    for group in groups:
        alone = group.kind in ("bernoulli", "gaussian")
        if alone and found and found[-1].kind == group.kind and found[-1].end == group.start:
            found[-1] = Group(group.kind, found[-1].start, group.end)
        elif group.end > group.start:
            found.append(group)
    return found
