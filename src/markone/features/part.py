"""Parts of a feature map: groups of features of one kind, from one or more columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Sparse
from markone.data.source import Batch
from markone.features.event_kinds import Event, Group
from markone.storage.saved import Contents, Saved, damaged

__all__ = ["Matrix", "Neighbours", "Part"]

Matrix = NDArray[np.float32] | Sparse
"""A row for each example: dense if most values are not 0, else sparse."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Features that are a chain or a grid, so that the weights of neighbours should be similar."""

    begin: int
    shape: tuple[int, ...]
    """The length of a chain, or the rows and columns of a grid, whose features come row by row."""
    smoothness: float
    """The strength of the penalty on differences of neighbours."""
    ways: tuple[int, ...] = (0,)
    """The axes along which features have an order, so that they are neighbours."""

    @property
    def end(self) -> int:
        return self.begin + prod(self.shape)

    def moved(self, by: int) -> Neighbours:
        return replace(self, begin=self.begin + by)


class Part(ABC):
    """A part is fitted on batches, and then turns batches into rows.

    Fitting has three steps, so that the result does not depend on the number of threads. `collect` examines a batch and
    changes nothing, so several threads can run it at once. `absorb` adds the collected batches in their order. `finish`
    chooses the features. `absorb` returns a draft, from which `refine` finally makes the rows of the batch, so that the
    batch is not read twice.

    Some parts can also be fitted on several machines: `absorbed` returns what a part has learned of its batches, and
    `absorb_all` adds it to another part, as if that had absorbed these batches itself. The drafts of the first part can
    then be refined by the finished one: `numbers_of` finds what they mean there, and `refine_with` makes the rows.

    A fitted part can be saved and restored, extended by a part that was fitted on other data, and pruned of features
    without weight. After that it transforms batches, but no longer refines drafts.
    """

    mergeable: ClassVar[bool] = False
    """Whether it has `absorbed` and `absorb_all`."""

    @abstractmethod
    def collect(self, batch: Batch) -> Any: ...

    @abstractmethod
    def absorb(self, collected: Any, labels: NDArray[np.int32] | None) -> Any:
        """Add a collected batch; `labels` are the numbers of its classes, or UNLABELLED."""

    def absorbed(self) -> Any:
        """What it has learned of the batches so far, as plain values and arrays that can be sent to another machine."""
        raise NotImplementedError

    def absorb_all(self, absorbed: Any) -> None:
        """Add what another part of the same spec has learned of the batches that come next."""
        raise NotImplementedError

    def counts_labels(self) -> bool:
        """Whether it counts labels while it is fitted."""
        return False

    def put_off_labels(self) -> None:  # noqa: B027 - most parts count none
        """Let `absorb` ignore labels, which are not known yet, and which `with_labels` counts later."""

    def with_labels(self, absorbed: Any, batches: Iterable[tuple[Any, NDArray[np.int32]]]) -> Any:
        """Return what a part has `absorbed` without labels, with those of its batches, each given with its draft."""
        return absorbed

    def numbers_of(self, absorbed: Any) -> Any:
        """What the drafts of the part that has `absorbed` this need in `refine_with`; by default nothing."""
        return None

    def refine_with(self, draft: Any, numbers: Any) -> Matrix:
        """Make the rows of a batch from the draft of another part of the same spec."""
        return self.refine(draft)

    @abstractmethod
    def finish(self) -> None: ...

    @abstractmethod
    def refine(self, draft: Any) -> Matrix:
        """Make the rows of an absorbed batch from its draft. Several threads may call it."""

    def refines_at_once(self) -> bool:
        """Whether `refine` may be called right after `absorb`, because later batches do not change the rows."""
        return False

    def held(self) -> int:
        """The approximate number of bytes of its data that grow with each batch."""
        return 0

    def settle(self) -> None:  # noqa: B027 - most parts have nothing to release
        """Release the data that only `refine` needs, after the last draft."""

    @abstractmethod
    def transform(self, batch: Batch) -> Matrix:
        """Make the rows of a batch. Several threads may call it."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of features."""

    @abstractmethod
    def name(self, number: int) -> str:
        """The name of a feature."""

    def names(self) -> list[str]:
        """The names of all features, by number."""
        return [self.name(number) for number in range(self.width)]

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        """The kinds of events of its features, after fitting.

        For words, pixels and given features, `likelihood` can change the kind.
        """
        return [Group("gaussian", 0, self.width)]

    def neighbours(self) -> list[Neighbours]:
        """The features whose weights should differ little from those of their neighbours; by default none."""
        return []

    # ---- after learning

    @abstractmethod
    def save(self) -> Saved:
        """The learned state, without anything that follows from the spec and the columns."""

    def restore(self, saved: Saved, width: int | None = None) -> None:
        """Restore the saved state of a part. This part has the same spec and columns, and is not fitted.

        The saved state is not trusted: anything that `save` would not write is a `DataError`. `width` is the number of
        features with weights, if it is known. It must be the width of the part, and memory use is limited to a small
        multiple of the saved state and these weights.
        """
        contents = Contents(saved)
        self.take(contents)
        contents.close()
        if width is not None and self.width != width:
            raise damaged(f"there are {self.width} features, but weights for {width}")

    @abstractmethod
    def take(self, contents: Contents) -> None:
        """Take the state that `save` returned from the contents of a file, and check it."""

    @abstractmethod
    def extend(self, other: Self) -> NDArray[np.int64]:
        """Add the features of a part with the same spec, fitted on other data; return the old ones' new numbers.

        Old features keep their scaling, their values for gaps and their weights of words; new features have those of
        the other part. If this fails, it raises a `DataError`, and the part must not be used any more.
        """

    def prune(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Remove unused features if this changes no other feature's value; return which of the old ones stay.

        They keep their order. By default a part keeps all features.
        """
        return np.ones(self.width, np.bool_)
