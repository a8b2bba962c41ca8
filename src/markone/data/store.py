"""The store of training rows: in memory if they fit, else in a temporary file.

Rows are stored in pieces. A pass visits windows of some random pieces each, with the rows of a window in random order.
It therefore reads a file in long sections, but mixes examples from everywhere. Rows in memory are visited in the same
order, so the amount of memory changes only the time. A small store is one window, and is shuffled completely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Sparse, as_rows
from markone.data.source import UNLABELLED
from markone.data.spill import Spill, SpillFile

PIECE_VALUES = 2**20
"""The minimum number of values in a piece."""
WINDOW_PIECES = 16
FEW_PIECES = 4
"""The pieces that are read at once where rows are not mixed, to need little memory."""

Matrix = NDArray[np.float32] | Sparse


@dataclass(frozen=True, slots=True)
class Filed:
    """The place of a matrix in the file."""

    offset: int
    rows: int
    values: int
    width: int
    dense: bool
    packed: bool
    """Whether the values are written as bytes, because they are whole numbers from 0 to 255."""


class TrainingRows(Protocol):
    """What training knows of its rows, wherever they are stored."""

    unlabelled: int
    labels: NDArray[np.int32]
    importance: NDArray[np.float64] | None
    held_out: NDArray[np.bool_]

    def __len__(self) -> int: ...

    @property
    def values(self) -> int:
        """The number of stored values in all rows."""

    def labels_met(self) -> NDArray[np.int32]:
        """The labels of the rows, each once."""

    def finish(self, numbers: NDArray[np.int32]) -> None:
        """Finish after the last rows: label i becomes class `numbers[i]`."""

    def set_importance(self, importance: NDArray[np.float64]) -> None:
        """Give the rows another importance. The digest stays that of the rows as they were read."""


class RowStore:
    """Rows, their labels and their weights."""

    start = 0
    """The number of the first row in blocks of all rows."""

    def __init__(self, memory: int, folder: str | None = None) -> None:
        self._spill = Spill(memory, folder)
        self._sum = xxhash.xxh3_64()
        self.unlabelled = 0
        self.values = 0
        self._pieces: list[list[Matrix] | Filed] = []
        self._rows: list[int] = []
        self._waiting: list[Matrix] = []
        self._labels: list[NDArray[np.int32]] = []
        self._importance: list[NDArray[np.float64] | None] = []
        self._held_out: list[NDArray[np.bool_]] = []
        self._file: SpillFile | None = None
        self._whole: Block | None = None
        self._mapped: Block | None = None
        self.labels = np.zeros(0, np.int32)
        self.importance: NDArray[np.float64] | None = None
        self.held_out = np.zeros(0, bool)
        self.digest_of_labels = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- filling

    def add(
        self,
        matrix: Matrix,
        labels: NDArray[np.int32],
        importance: NDArray[np.float64] | None,
        held_out: NDArray[np.bool_] | None = None,
    ) -> None:
        """Add rows; rows without a label are left out."""
        apart = np.zeros(len(labels), bool) if held_out is None else held_out
        labelled = labels != UNLABELLED
        if not labelled.all():
            which = np.flatnonzero(labelled)
            self.unlabelled += len(labels) - len(which)
            matrix, labels, apart = matrix[which], labels[which], apart[which]
            importance = None if importance is None else importance[which]
        if len(labels) == 0:
            return
        self._waiting.append(matrix)
        self._labels.append(labels)
        self._importance.append(importance)
        self._held_out.append(apart)
        if sum(map(stored, self._waiting)) >= PIECE_VALUES:
            self._end_piece()

    def labels_met(self) -> NDArray[np.int32]:
        """The labels of the added rows, each once."""
        met = np.zeros(1 + max((int(labels.max()) for labels in self._labels), default=-1), bool)
        for labels in self._labels:
            met[labels] = True
        return np.flatnonzero(met).astype(np.int32)

    def finish(self, numbers: NDArray[np.int32]) -> None:
        """Finish the store after the last rows: label i becomes class `numbers[i]`."""
        self._end_piece()
        if not self._labels:
            return
        self.labels = numbers[np.concatenate(self._labels)]
        self.held_out = np.concatenate(self._held_out)
        if any(one is not None for one in self._importance):
            self.importance = np.concatenate(
                [
                    np.ones(len(labels)) if importance is None else importance
                    for labels, importance in zip(self._labels, self._importance, strict=True)
                ]
            )
        self._labels, self._importance, self._held_out = [], [], []
        self.starts = np.concatenate([[0], np.cumsum(self._rows)])
        facts = [self.labels, self.held_out, *([] if self.importance is None else [self.importance])]
        self._digest(facts)
        self.digest_of_labels = digest_of(facts)
        if self._file is None:
            whole = stack([part for piece in self._pieces if not isinstance(piece, Filed) for part in piece])
            self._pieces = []
            self._whole = Block(as_rows(whole), whole, self.labels, self.importance)

    def set_importance(self, importance: NDArray[np.float64]) -> None:
        """Give the rows of a finished store another importance. The digest stays that of the rows as they were read."""
        self.importance = importance
        if self._whole is not None:
            self._whole = replace(self._whole, importance=importance)

    def _end_piece(self) -> None:
        if not self._waiting:
            return
        piece, self._waiting = self._waiting, []
        arrays = arrays_of(piece)
        self._digest(arrays)
        self._rows.append(sum(map(len, piece)))
        self.values += sum(map(stored, piece))
        # While the pieces are joined, they need twice their memory.
        if self._file is None and not self._spill.take(2 * sum(array.nbytes for array in arrays)):
            self._file = self._spill.file()
            self._pieces = [one if isinstance(one, Filed) else put(one, self._file) for one in self._pieces]
            _core.give_back_memory()
        self._pieces.append(piece if self._file is None else put(piece, self._file))

    def _digest(self, arrays: list[NDArray[Any]]) -> None:
        update(self._sum, arrays)

    # ---- reading

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def pieces(self) -> int:
        return len(self._rows)

    @property
    def on_disk(self) -> bool:
        return self._file is not None

    @property
    def digest(self) -> str:
        """A digest of all rows."""
        return self._sum.hexdigest()

    @property
    def whole(self) -> Block | None:
        """All rows, if they are in memory."""
        return self._whole

    def mapped(self) -> Block:
        """All rows in one block; rows beyond the memory budget are in mapped files."""
        if self._whole is not None:
            return self._whole
        if self._mapped is None:
            everything = [piece for piece in self._pieces if isinstance(piece, Filed)]
            matrix = self._read(everything, Spill(self._spill.memory, self._spill.folder).empty)
            self._mapped = Block(as_rows(matrix), matrix, self.labels, self.importance)
        return replace(self._mapped, importance=self.importance)

    def window(self, pieces: NDArray[np.int64]) -> tuple[Block, NDArray[np.int64], NDArray[np.int64]]:
        """A block with the rows of some pieces, and the numbers of these rows in the block and in the store."""
        numbers = rows_of(self.starts, pieces)
        if self._whole is not None:
            return self._whole, numbers, numbers
        matrix = self._read([piece for i in pieces if isinstance(piece := self._pieces[i], Filed)])
        importance = None if self.importance is None else self.importance[numbers]
        block = Block(as_rows(matrix), matrix, self.labels[numbers], importance)
        return block, np.arange(len(numbers)), numbers

    def rows_of(self, pieces: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the rows of some pieces."""
        return rows_of(self.starts, pieces)

    def windows(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """The pieces in the given order, in windows."""
        return windows_of(order)

    def lengths(self) -> NDArray[np.int64]:
        """How many values each row has."""
        if self._whole is not None:
            matrix = self._whole.matrix
            return np.diff(matrix.indptr) if isinstance(matrix, Sparse) else np.full(len(self), matrix.shape[1])
        assert self._file is not None
        found = []
        for piece in self._pieces:
            assert isinstance(piece, Filed)
            lengths = np.full(piece.rows, piece.width)
            if not piece.dense:
                self._file.read_into(ends := np.empty(piece.rows, np.int64), piece.offset)
                lengths = np.diff(ends, prepend=0)
            found.append(lengths)
        return np.concatenate(found)

    def _read(self, pieces: list[Filed], empty: Callable[[Any, Any], NDArray[Any]] = np.empty) -> Matrix:
        assert self._file is not None
        read = self._file.read_into
        rows, values = sum(piece.rows for piece in pieces), sum(piece.values for piece in pieces)
        width = pieces[0].width
        if pieces[0].dense:
            dense = empty((rows, width), np.float32)
            at = 0
            for piece in pieces:
                read(dense[at : at + piece.rows], piece.offset)
                at += piece.rows
            return dense
        indptr, indices, data = empty(rows + 1, np.int64), empty(values, np.uint32), empty(values, np.float32)
        row = value = 0
        indptr[0] = 0
        for piece in pieces:
            lengths = indptr[row + 1 : row + 1 + piece.rows]
            at = read(lengths, piece.offset)
            at = read(indices[value : value + piece.values], at)
            part = data[value : value + piece.values]
            if piece.packed:
                read(counts := np.empty(piece.values, np.uint8), at)
                part[:] = counts
            else:
                read(part, at)
            lengths += value
            row, value = row + piece.rows, value + piece.values
        return Sparse(indptr, indices, data, width)

    def close(self) -> None:
        """Release the memory and the file."""
        self._pieces, self._whole, self._mapped = [], None, None
        if self._file is not None:
            self._file.close()


class PartOfStore:
    """The rows of a store from `start` to `end`, as a store of their own.

    Its pieces depend on its rows alone: a piece ends with the row that completes its number of values. The rows are
    therefore visited in the same order wherever they are stored.
    """

    def __init__(self, store: RowStore, lengths: NDArray[np.int64], start: int, end: int) -> None:
        """`lengths` are those of all rows of the store."""
        self._store = store
        self.start = start
        self.labels = store.labels[start:end]
        self.held_out = store.held_out[start:end]
        self.importance = None if store.importance is None else store.importance[start:end]
        values = np.concatenate([[0], np.cumsum(lengths[start:end])])
        self.values = int(values[-1])
        ends = [0]
        while ends[-1] < end - start:
            full = int(np.searchsorted(values, values[ends[-1]] + PIECE_VALUES))
            ends.append(min(max(full, ends[-1] + 1), end - start))
        self.starts = np.array(ends)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def pieces(self) -> int:
        return len(self.starts) - 1

    @property
    def whole(self) -> Block | None:
        """The block with these rows and all others of the store, if they are in memory."""
        return self._store.whole

    def mapped(self) -> Block:
        """The same block, which may be in mapped files."""
        return self._store.mapped()

    def window(self, pieces: NDArray[np.int64]) -> tuple[Block, NDArray[np.int64], NDArray[np.int64]]:
        """A block with the rows of some pieces, and the numbers of these rows in the block and in this part."""
        numbers = self.rows_of(pieces)
        rows = numbers + self.start
        if self._store.whole is not None:
            return self._store.whole, rows, numbers
        filed = np.unique(np.searchsorted(self._store.starts, rows, side="right") - 1)
        block, _, anywhere = self._store.window(filed)
        return block, np.searchsorted(anywhere, rows), numbers

    def rows_of(self, pieces: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the rows of some pieces."""
        return rows_of(self.starts, pieces)

    def windows(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """The pieces in the given order, in windows."""
        return windows_of(order)


def update(digest: xxhash.xxh3_64, arrays: list[NDArray[Any]]) -> None:
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)


def digest_of(arrays: list[NDArray[Any]]) -> str:
    """A digest of arrays, one after the other."""
    digest = xxhash.xxh3_64()
    update(digest, arrays)
    return digest.hexdigest()


def digest_of_rows(matrices: Iterable[Matrix]) -> str:
    """A digest of rows, which does not depend on how they are divided into matrices."""
    digests = [xxhash.xxh3_64() for _ in range(3)]
    for matrix in matrices:
        arrays = [np.diff(matrix.indptr), matrix.indices, matrix.data] if isinstance(matrix, Sparse) else [matrix]
        for digest, array in zip(digests, arrays, strict=False):
            update(digest, [array])
    return "".join(digest.hexdigest() for digest in digests)


def rows_between(matrix: Matrix, start: int, end: int) -> Matrix:
    """Rows of a matrix, without a copy."""
    if not isinstance(matrix, Sparse):
        return matrix[start:end]
    indptr = matrix.indptr[start : end + 1]
    values = slice(indptr[0], indptr[-1])
    return Sparse(indptr - indptr[0], matrix.indices[values], matrix.data[values], matrix.width)


def rows_of(starts: NDArray[np.int64], pieces: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *(np.arange(starts[i], starts[i + 1]) for i in pieces)])


def windows_of(order: NDArray[np.int64], size: int | None = None) -> Iterator[NDArray[np.int64]]:
    size = size or WINDOW_PIECES
    for start in range(0, len(order), size):
        yield order[start : start + size]


def stored(matrix: Matrix) -> int:
    return len(matrix.indices) if isinstance(matrix, Sparse) else matrix.size


def put(piece: list[Matrix], file: SpillFile) -> Filed:
    """Write a piece at the end of the file. Values that are small counts need a byte each."""
    rows, values, width = sum(map(len, piece)), sum(map(stored, piece)), piece[0].shape[1]
    arrays = arrays_of(piece)
    counts = [as_counts(matrix.data) for matrix in piece if isinstance(matrix, Sparse)]
    packed = [one for one in counts if one is not None]
    if is_packed := 0 < len(packed) == len(piece):
        arrays[-len(piece) :] = packed
    return Filed(file.write(*arrays), rows, values, width, not counts, is_packed)


def as_counts(values: NDArray[np.float32]) -> NDArray[np.uint8] | None:
    """The values as bytes, or None if they are not all whole numbers from 0 to 255."""
    if len(values) and not (values.min() >= 0 and values.max() <= 255):
        return None
    counts = values.astype(np.uint8)
    return counts if np.array_equal(counts, values) else None


def arrays_of(piece: list[Matrix]) -> list[NDArray[Any]]:
    """The arrays that are written into the file: where each row ends, then all indices, then all values."""
    sparse = [matrix for matrix in piece if isinstance(matrix, Sparse)]
    if not sparse:
        return [matrix for matrix in piece if not isinstance(matrix, Sparse)]
    return [*row_ends(sparse), *(matrix.indices for matrix in sparse), *(matrix.data for matrix in sparse)]


def row_ends(matrices: list[Sparse]) -> Iterator[NDArray[np.int64]]:
    """Where the rows of each matrix end, if the matrices are one after the other."""
    total = 0
    for matrix in matrices:
        yield matrix.indptr[1:] + total
        total += len(matrix.indices)


def stack(matrices: list[Matrix]) -> Matrix:
    """The rows of all matrices, one after the other."""
    if len(matrices) == 1:
        return matrices[0]
    sparse = [matrix for matrix in matrices if isinstance(matrix, Sparse)]
    dense = [matrix for matrix in matrices if not isinstance(matrix, Sparse)]
    if dense:
        assert not sparse, "the rows of a store must be of one kind"
        return np.concatenate(dense)
    return Sparse(
        np.concatenate([np.zeros(1, np.int64), *row_ends(sparse)]),
        np.concatenate([matrix.indices for matrix in sparse]),
        np.concatenate([matrix.data for matrix in sparse]),
        sparse[0].width,
    )
