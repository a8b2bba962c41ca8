"""Examples: what passes visit, in which order, and what is held out from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block
from markone.data.source import UNLABELLED
from markone.data.store import RowStore
from markone.errors import LimitError, Setting
from markone.learning.holdout import check_both, split
from markone.model.settings import Settings

VALUES_BETWEEN_LOOKS = 4_000_000
"""How many values, times weight vectors, before Python looks up: for Ctrl-C, for checkpoints, for the progress bar."""


Visits = tuple[Block, NDArray[np.int64] | None]
"""A block, and the rows that are visited in their order; None is every row as it stands."""


class Examples(Protocol):
    """What is learned from, and what is held out to measure accuracy on."""

    @property
    def rows(self) -> int:
        """How many a pass visits."""

    def visits(self, settings: Settings, epoch: int, skip: int = 0) -> Iterator[Visits]:
        """The blocks of a pass (from 1), each with the order of its visits; the first visits may be skipped."""

    def between_looks(self, columns: int) -> int:
        """How many visits are soon made, for so many weight vectors; the same wherever the rows are kept."""

    def held_out(self) -> Iterator[Block]:
        """Nothing where nothing is held out."""

    def labels(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Of what is learned from, and of what is held out."""

    def whole(self, *, in_files: bool = False) -> Visits:
        """All rows in one block, and which of them are learned from, where that is not all of them.

        `in_files`: it may be one of files that are mapped into memory, for whoever reads the rows in their order.
        """


class BlockExamples:
    """One block, or those of its rows that are to be learned from, or what a share of it leaves."""

    def __init__(
        self,
        block: Block,
        settings: Settings,
        holdout: Block | None = None,
        *,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        self._block = block
        self._rows = np.arange(len(block)) if rows is None else rows
        self._holdout = holdout
        if rows is None and holdout is None and settings.holdout > 0:
            self._rows, kept_apart = split(block.labels, settings.holdout, settings.seed)
            self._holdout = block.take(kept_apart)

    @property
    def rows(self) -> int:
        return len(self._rows)

    def visits(self, settings: Settings, epoch: int, skip: int = 0) -> Iterator[Visits]:
        if settings.order != "given":
            yield self._block, shuffled(self._rows, settings.seed, epoch_of_order(settings, epoch))[skip:]
        elif skip or len(self._rows) < len(self._block):
            yield self._block, self._rows[skip:]
        else:
            yield self._block, None

    def between_looks(self, columns: int) -> int:
        return between_looks(len(self._block), self._block.rows.stored, columns)

    def held_out(self) -> Iterator[Block]:
        if self._holdout is not None:
            yield self._holdout

    def labels(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        apart = np.zeros(0, np.int32) if self._holdout is None else self._holdout.labels
        return self._block.labels[self._rows], apart

    def whole(self, *, in_files: bool = False) -> Visits:
        return self._block, None if len(self._rows) == len(self._block) else self._rows


class StoredExamples:
    """A store of rows, in memory or in a file, which are visited in the same order."""

    def __init__(self, store: RowStore, settings: Settings) -> None:
        self._store = store
        self._learned = ~store.held_out
        if settings.holdout > 0:
            check_both(store.held_out, settings.holdout)
        self.rows = int(self._learned.sum())

    def visits(self, settings: Settings, epoch: int, skip: int = 0) -> Iterator[Visits]:
        pieces = np.arange(self._store.pieces)
        shuffling = settings.order != "given"
        mixed = epoch_of_order(settings, epoch)
        if shuffling:
            pieces = shuffled(pieces, settings.seed, mixed, 0, 1)
        for number, window in enumerate(self._store.windows(pieces)):
            if skip and (count := int(self._learned[self._store.rows_of(window)].sum())) <= skip:
                skip -= count
                continue
            # Of few rows there is one window. As it is shuffled wholly, its rows may as well start in their own order.
            block, here, anywhere = self._store.window(np.sort(window) if len(pieces) == len(window) else window)
            rows = here[self._learned[anywhere]]
            if shuffling:
                rows = shuffled(rows, settings.seed, mixed, *([number] if number else []))
            yield block, rows[skip:]
            skip = 0
            del block

    def between_looks(self, columns: int) -> int:
        return between_looks(len(self._store), self._store.values, columns)

    def held_out(self) -> Iterator[Block]:
        if self._learned.all():
            return
        for window in self._store.windows(np.arange(self._store.pieces)):
            block, here, anywhere = self._store.window(window)
            apart = here[~self._learned[anywhere]]
            if len(apart):
                yield block.take(apart)

    def learned(self) -> Iterator[Block]:
        """All rows, of which those that are held out have no label."""
        if (whole := self._store.whole) is not None:
            yield replace(whole, labels=np.where(self._learned, whole.labels, np.int32(UNLABELLED)))
            return
        for window in self._store.windows(np.arange(self._store.pieces)):
            block, _, anywhere = self._store.window(window)
            yield replace(block, labels=np.where(self._learned[anywhere], block.labels, np.int32(UNLABELLED)))

    def labels(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self._store.labels[self._learned], self._store.labels[~self._learned]

    def whole(self, *, in_files: bool = False) -> Visits:
        block = self._store.mapped() if in_files else self._store.whole
        if block is None:
            raise LimitError(
                "the rows need more memory than they may use, and this rule looks at all of them at once",
                advice=(
                    "say ",
                    Setting("memory", ...),
                    " if there is more, or learn by a rule that takes them as they come, such as 'mira'",
                ),
            )
        return block, None if self._learned.all() else np.flatnonzero(self._learned)


def epoch_of_order(settings: Settings, epoch: int) -> int:
    """The number, from 0, of the order in which a pass visits the rows."""
    return 0 if settings.order == "once" else epoch - 1


def shuffled(rows: NDArray[np.int64], seed: int, *numbers: int) -> NDArray[np.int64]:
    """A copy in random order: the same for the same seed and numbers, whatever came before."""
    order = rows.copy()
    _core.shuffle(order, int(np.random.SeedSequence([seed, *numbers]).generate_state(1, np.uint64)[0]))
    return order


def between_looks(rows: int, stored: int, columns: int) -> int:
    """How many of these rows are soon learned, for so many weight vectors."""
    return max(1, VALUES_BETWEEN_LOOKS * rows // max(1, stored * columns))
