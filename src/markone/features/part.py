"""Parts of a feature map: groups of features that are made alike, from one column or from several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Sparse
from markone.data.source import Batch

Matrix = NDArray[np.float32] | Sparse
"""A row for each example: dense where most values are not 0, else sparse."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What has been learned, as a file keeps it."""

    facts: dict[str, Any] = field(default_factory=dict)
    """What JSON has."""
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    """The rest, by name."""


class Part(ABC):
    """Learns its features from batches, then turns batches into rows.

    Learning has three steps, so that threads can share the work and its result does not depend on how many they are:
    `collect` looks at a batch, by several threads at once, and changes nothing; `absorb` takes in what was collected,
    batch after batch in their order; `finish` chooses the features. What `absorb` returns, a draft, is all that
    `refine` needs to make the batch's rows in the end, so that the batch need not be read twice.
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
