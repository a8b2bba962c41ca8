"""Examples: which rows a pass visits, in which order, and which rows are held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64

from markone import _core
from markone.data.blocks import Block
from markone.data.source import UNLABELLED
from markone.data.store import FEW_PIECES, PartOfStore, RowStore, digest_of_rows, rows_between, windows_of
from markone.errors import LimitError, Setting, SettingsError
from markone.learning.holdout import check_both, split
from markone.model.settings import Settings

VALUES_BETWEEN_LOOKS = 4_000_000
"""Values times weight vectors between two looks of Python at signals, checkpoints and the progress bar."""


IN_PARTITIONS = 2
"""Distinguishes the random orders of partitions from others."""

Visits = tuple[Block, NDArray[np.int64] | None]
"""A block, and the order in which its rows are visited; None means all rows in their own order."""


class PartOfRows(Protocol):
    """The rows of a partition, as an argument of tasks."""

    @property
    def kept(self) -> dict[Any, Any]:
        """What tasks keep for the next ones on this machine. They can make it again."""

    def examples(self, settings: Settings) -> Examples:
        """Return the rows, which may have to be made first."""


class Examples(Protocol):
    """The training rows, and the rows that are held out to measure accuracy."""

    @property
    def rows(self) -> int:
        """The number of rows that a pass visits."""

    def visits(self, settings: Settings, epoch: int, skip: int = 0) -> Iterator[Visits]:
        """Return the blocks of a pass (from 1) with the order of their visits, without the first `skip` visits."""

    def pack_counts(self) -> None:
        """Store counts as bytes, too, if the rows stay in memory during all passes: they are then visited faster."""

    def between_looks(self, columns: int) -> int:
        """Return how many visits to make between two looks, for this number of weight vectors.

        The result does not depend on where the rows are stored.
        """

    def held_out(self) -> Iterator[Block]:
        """Return blocks of the held-out rows, if there are any."""

    def labels(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the labels of the training rows, and of the held-out rows."""

    def importance(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        """Return the importance of the training rows, and of the held-out rows; None if it is 1 for all."""

    def parts(self, count: int) -> Sequence[PartOfRows]:
        """Return the examples of each partition. Partitions have the same number of rows, or one more or less."""

    def whole(self, *, in_files: bool = False) -> Visits:
        """Return all rows in one block, and the numbers of the training rows, or None if these are all rows.

        With `in_files`, the block may be a memory-mapped file, which suits learners that read the rows in order.
        """


class BlockExamples:
    """The rows of one block: all, some of them, or all except for a held-out share."""

    def __init__(
        self,
        block: Block,
        settings: Settings,
        holdout: Block | None = None,
        *,
        rows: NDArray[np.int64] | None = None,
        partition: int | None = None,
    ) -> None:
        self._block = block
        self._partition = partition
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
            yield (
                self._block,
                shuffled(self._rows, settings.seed, *numbers_of_order(settings, epoch, 0, self._partition))[skip:],
            )
        elif skip or len(self._rows) < len(self._block):
            yield self._block, self._rows[skip:]
        else:
            yield self._block, None

    def pack_counts(self) -> None:
        self._block.pack_counts()

    def between_looks(self, columns: int) -> int:
        return between_looks(len(self._block), self._block.rows.stored, columns)

    def held_out(self) -> Iterator[Block]:
        if self._holdout is not None:
            yield self._holdout

    def labels(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        apart = np.zeros(0, np.int32) if self._holdout is None else self._holdout.labels
        return self._block.labels[self._rows], apart

    def importance(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        learned = self._block.importance
        apart = None if self._holdout is None else self._holdout.importance
        return None if learned is None else learned[self._rows], apart

    def parts(self, count: int) -> list[GivenPart]:
        found = []
        for partition, (start, end) in enumerate(shares(len(self._block), count)):
            rows = self._rows[(self._rows >= start) & (self._rows < end)]
            found.append(GivenPart(BlockExamples(self._block, Settings(), rows=rows, partition=partition)))
        return found

    def whole(self, *, in_files: bool = False) -> Visits:
        return self._block, None if len(self._rows) == len(self._block) else self._rows


class StoredExamples:
    """The rows of a store, in memory or in a file. Both are visited in the same order."""

    def __init__(self, store: RowStore | PartOfStore, settings: Settings, partition: int | None = None) -> None:
        self._store = store
        self._partition = partition
        self._learned = ~store.held_out
        if settings.holdout > 0 and partition is None:
            check_both(store.held_out, settings.holdout)
        self.rows = int(self._learned.sum())
        self.distant: Callable[[int], Sequence[PartOfRows]] | None = None
        """Makes the partitions on the workers of a cluster."""
        self._apart: list[Block] | None = None
        """The held-out rows, which are copied once if the rows are in memory, because every pass needs them."""

    def visits(self, settings: Settings, epoch: int, skip: int = 0) -> Iterator[Visits]:
        pieces = np.arange(self._store.pieces)
        shuffling = settings.order != "given"
        if shuffling:
            apart = () if self._partition is None else (self._partition,)
            pieces = shuffled(pieces, settings.seed, epoch_of_order(settings, epoch), 0, 1, *apart)
        for number, window in enumerate(self._store.windows(pieces)):
            if skip and (count := int(self._learned[self._store.rows_of(window)].sum())) <= skip:
                skip -= count
                continue
            # If all rows are in one window, sorted pieces are faster to read, and the rows are shuffled later anyway.
            block, here, anywhere = self._store.window(np.sort(window) if len(pieces) == len(window) else window)
            rows = here[self._learned[anywhere]]
            if shuffling:
                rows = shuffled(rows, settings.seed, *numbers_of_order(settings, epoch, number, self._partition))
            yield block, rows[skip:]
            skip = 0
            del block

    def pack_counts(self) -> None:
        if self._store.whole is not None:
            self._store.whole.pack_counts()

    def between_looks(self, columns: int) -> int:
        return between_looks(len(self._store), self._store.values, columns)

    def held_out(self) -> Iterator[Block]:
        if self._store.whole is None:
            yield from self._read_held_out()
            return
        if self._apart is None:
            self._apart = [*self._read_held_out()]
        yield from self._apart

    def _read_held_out(self) -> Iterator[Block]:
        if self._learned.all():
            return
        for block, here, anywhere in self._in_order():
            apart = here[~self._learned[anywhere]]
            taken = block.take(apart) if len(apart) else None
            del block
            if taken is not None:
                yield taken

    def learned(self) -> Iterator[Block]:
        """Return all rows; those that are held out have no label."""
        if (whole := self._store.whole) is not None:
            yield replace(whole, labels=np.where(self._learned, whole.labels, np.int32(UNLABELLED)))
            return
        for block, _, anywhere in self._in_order():
            labels = np.where(self._learned[anywhere], block.labels, np.int32(UNLABELLED))
            block = replace(block, labels=labels)
            yield block
            del block

    def labels(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self._store.labels[self._learned], self._store.labels[~self._learned]

    def importance(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        weights = self._store.importance
        return (None, None) if weights is None else (weights[self._learned], weights[~self._learned])

    def parts(self, count: int) -> Sequence[PartOfRows]:
        if self.distant is not None:
            return self.distant(count)
        return [GivenPart(part) for part in self._divided(count)]

    def _divided(self, count: int) -> list[StoredExamples]:
        store = self._store
        assert isinstance(store, RowStore), "partitions are not divided again"
        lengths = store.lengths()
        return [
            StoredExamples(PartOfStore(store, lengths, start, end), Settings(), partition)
            for partition, (start, end) in enumerate(shares(len(store), count))
        ]

    def digest(self, partitions: int) -> str:
        """Return a digest of the rows for a training in this number of partitions, which may be on other machines when
        it is resumed."""
        assert isinstance(self._store, RowStore), "a partition is not all rows"
        if partitions == 1:
            return self._store.digest
        digests = [part.digest_of_rows() for part in self._divided(partitions)]
        return digest_of_partitions(self._store.digest_of_labels, digests)

    def digest_of_rows(self) -> str:
        """Return a digest of the features of all rows, wherever these are stored."""
        return digest_of_rows(rows_between(block.matrix, rows[0], rows[-1] + 1) for block, rows, _ in self._in_order())

    def _in_order(self) -> Iterator[tuple[Block, NDArray[np.int64], NDArray[np.int64]]]:
        """Return all rows in their order, a few pieces at a time, with their numbers in the block and in the store."""
        for pieces in windows_of(np.arange(self._store.pieces), FEW_PIECES):
            yield self._store.window(pieces)

    def whole(self, *, in_files: bool = False) -> Visits:
        block = self._store.mapped() if in_files else self._store.whole
        if block is None:
            raise LimitError(
                "the rows need more memory than is allowed, and this rule needs all of them at once",
                advice=(
                    "set ",
                    Setting("memory", ...),
                    " if there is more, or use a rule that reads one row at a time, such as 'mira'",
                ),
            )
        rows = self._store.start + np.flatnonzero(self._learned)
        return block, None if len(rows) == len(block) else rows


@dataclass(frozen=True, slots=True)
class GivenPart:
    """A partition whose rows are in this process."""

    rows: Examples
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def examples(self, settings: Settings) -> Examples:
        return self.rows


def divided(examples: Examples, count: int) -> Sequence[PartOfRows]:
    """Return the examples of each partition, if there are enough rows."""
    check_partitions(examples, count)
    return examples.parts(count)


def check_partitions(examples: Examples, count: int) -> None:
    """Raise an error if there are more partitions than rows."""
    check_enough(sum(map(len, examples.labels())), count)


def check_enough(rows: int, count: int) -> None:
    if count > rows:
        raise SettingsError("partitions", f"is {count}, but there are only {rows} rows; choose at most as many as rows")


def shares(rows: int, count: int) -> list[tuple[int, int]]:
    """Return where each of `count` partitions of the rows starts and ends.

    >>> shares(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    ends = [rows * i // count for i in range(count + 1)]
    return list(pairwise(ends))


def digest_of_partitions(of_labels: str, of_rows: Sequence[str]) -> str:
    """Return the digest of a training in partitions, from that of all labels and those of the partitions' rows."""
    return xxh3_64("".join([of_labels, *of_rows]).encode()).hexdigest()


def numbers_of_order(settings: Settings, epoch: int, window: int, partition: int | None) -> tuple[int, ...]:
    """Return the numbers on which, beside the seed, the random order of the rows of a window depends."""
    mixed = epoch_of_order(settings, epoch)
    if partition is not None:
        return mixed, window, IN_PARTITIONS, partition
    return (mixed, window) if window else (mixed,)


def epoch_of_order(settings: Settings, epoch: int) -> int:
    """Return the number, from 0, of the random order of a pass."""
    return 0 if settings.order == "once" else epoch - 1


def shuffled(rows: NDArray[np.int64], seed: int, *numbers: int) -> NDArray[np.int64]:
    """Return a copy in random order. The order depends only on the seed and the numbers."""
    order = rows.copy()
    _core.shuffle(order, seed_of(seed, *numbers))
    return order


def seed_of(seed: int, *numbers: int) -> int:
    """Return the seed of the core for a random order that depends on these numbers."""
    return int(np.random.SeedSequence([seed, *numbers]).generate_state(1, np.uint64)[0])


def between_looks(rows: int, stored: int, columns: int) -> int:
    """Return how many rows to visit between two looks, for this number of weight vectors."""
    return max(1, VALUES_BETWEEN_LOOKS * rows // max(1, stored * columns))
