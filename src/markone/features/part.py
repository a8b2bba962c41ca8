"""Parts of a feature map: groups of features that are made alike, from one column or from several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Sparse
from markone.data.source import Batch
from markone.features.event_kinds import Event, Group
from markone.storage.saved import Contents, Saved, damaged

__all__ = ["Matrix", "Part"]

Matrix = NDArray[np.float32] | Sparse
"""A row for each example: dense where most values are not 0, else sparse."""


class Part(ABC):
    """Learns its features from batches, then turns batches into rows.

    Learning has three steps, so that threads can share the work and its result does not depend on how many they are:
    `collect` looks at a batch, by several threads at once, and changes nothing; `absorb` takes in what was collected,
    batch after batch in their order; `finish` chooses the features. What `absorb` returns, a draft, is all that
    `refine` needs to make the batch's rows in the end, so that the batch need not be read twice.

    What has learned can be saved and restored, extended by what another one has learned from other data, and pruned
    of what no weight speaks for. Then it transforms, and refines no more.
    """

    @abstractmethod
    def collect(self, batch: Batch) -> Any: ...

    @abstractmethod
    def absorb(self, collected: Any, labels: NDArray[np.int32] | None) -> Any:
        """Takes in a batch; `labels` are the numbers of its classes, UNLABELLED where there is none."""

    @abstractmethod
    def finish(self) -> None: ...

    @abstractmethod
    def refine(self, draft: Any) -> Matrix:
        """The rows of a batch that was absorbed. Several threads may call it."""

    def held(self) -> int:
        """About how many bytes it has come to hold that grow with what it absorbs."""
        return 0

    def settle(self) -> None:  # noqa: B027 - most parts keep nothing for it
        """After the last draft: what only `refine` needs can be let go."""

    @abstractmethod
    def transform(self, batch: Batch) -> Matrix:
        """The rows of any batch. Several threads may call it."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of features."""

    @abstractmethod
    def name(self, number: int) -> str:
        """What a feature is called."""

    def names(self) -> list[str]:
        """What all features are called, by number."""
        return [self.name(number) for number in range(self.width)]

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        """What kind of events its features are, once they are learned.

        Of words, pixels and given features it may be said otherwise: `likelihood`.
        """
        return [Group("gaussian", 0, self.width)]

    # ---- after learning

    @abstractmethod
    def save(self) -> Saved:
        """All that was learned. What follows from the spec and the columns is not in it."""

    def restore(self, saved: Saved, width: int | None = None) -> None:
        """Makes a part of the same spec and columns, which has learned nothing yet, what the saved one was.

        What was saved may come from anywhere: what is not just as `save` has it is a `DataError`. `width` is the number
        of features that there are weights for, if that is known: it must be the part's, and no more memory is used than
        some times what is given and what so many weights need.
        """
        contents = Contents(saved)
        self.take(contents)
        contents.close()
        if width is not None and self.width != width:
            raise damaged(f"there are {self.width} features and {width} are announced")

    @abstractmethod
    def take(self, contents: Contents) -> None:
        """Takes what `save` gave out of the contents of a file, and checks it."""

    @abstractmethod
    def extend(self, other: Self) -> NDArray[np.int64]:
        """Adds the features of a part of the same spec and columns, fitted on other data; the old ones' new numbers.

        What features have of their own (scaling, what fills gaps, weights of words) stays as it was; only what is new
        has it from the other one. If that cannot be, it is a `DataError`, and the part is not to be used any more.
        """

    def prune(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Forgets features that are not used, where no other feature's value changes by it; which of the old ones stay.

        Those that stay keep their order. A part that does not say otherwise keeps all of them.
        """
        return np.ones(self.width, np.bool_)
