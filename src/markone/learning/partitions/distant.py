"""Partitions whose rows are made by the workers of a cluster.

A worker reads its own files, by their paths, and keeps the rows of a partition. They are a function of the files, the
features and the share of the partition alone, so another worker makes the same rows if this one is lost. What is not in
files is sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.cluster.engine import Engine, Handle
from markone.data.budget import LEAST, memory_budget
from markone.data.source import UNLABELLED, Source
from markone.data.store import PartOfStore, RowStore
from markone.errors import DataError
from markone.features.files import Files, files_of
from markone.features.map import FeatureMap
from markone.features.part import Matrix
from markone.learning.examples import StoredExamples, shares
from markone.model.settings import Settings
from markone.storage.saved import Saved


class DistantPart:
    """The rows of a partition, on the worker that made them."""

    def __init__(self, store: RowStore, partition: int) -> None:
        self.store = store
        self.partition = partition
        self._examples = StoredExamples(PartOfStore(store, store.lengths(), 0, len(store)), Settings(), partition)
        self._examples.pack_counts()

    def examples(self, settings: Settings) -> StoredExamples:
        return self._examples

    def __sizeof__(self) -> int:
        """The bytes of the rows, by which Dask decides where to run a task, and what to put on the disk."""
        return self.store.values * 8 + len(self.store) * 16

    def __getstate__(self) -> dict[str, Any]:
        rows = rows_of(self.store, self.store.mapped().matrix, 0, len(self.store))
        return {"rows": rows, "partition": self.partition}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(stored(saved["rows"], 1), saved["partition"])  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class SentRows:
    """Rows of features with what learning needs to know about them."""

    matrix: Matrix
    labels: NDArray[np.int32]
    held_out: NDArray[np.bool_]
    importance: NDArray[np.float64] | None


class SentFeatures:
    """Features as an argument of tasks."""

    def __init__(self, features: FeatureMap) -> None:
        self.features = features

    def __reduce__(self) -> tuple[Any, ...]:
        features = self.features
        return restored, (features.save(), features.width, features.spec.functions)


def restored(saved: Saved, width: int, functions: Any) -> SentFeatures:
    return SentFeatures(FeatureMap.load(saved, width, functions))


@dataclass(frozen=True, slots=True)
class Share:
    """The share of a partition in the rows of some files."""

    partition: int
    files: Files
    first: int
    """The number of labelled rows in these files that come before it."""
    labels: NDArray[np.int32]
    held_out: NDArray[np.bool_]
    importance: NDArray[np.float64] | None
    neighbours: int
    """The number of partitions of which a worker has to keep the rows, about."""


# ---- tasks


def count_rows(files: Files, path: str) -> int:
    """Return how many rows of a file have a label."""
    rows = 0
    for batch in files.source(path).batches():
        assert batch.labels is not None  # because there is a target
        rows += int((batch.labels != UNLABELLED).sum())
    return rows


def make_part(features: SentFeatures, share: Share) -> DistantPart:
    """Read the rows of a partition, and keep them."""
    store = RowStore(memory_for(share.neighbours))
    at, end = -share.first, len(share.labels)
    for path in share.files.paths:
        for batch in share.files.source(path).batches():
            assert batch.labels is not None  # because there is a target
            labelled = np.flatnonzero(batch.labels != UNLABELLED)
            begin, at = at, at + len(labelled)
            inside = labelled[max(0, -begin) : max(0, end - begin)]
            if not len(inside):
                continue
            matrix = features.features.transform(batch)
            places = slice(max(0, begin), max(0, begin) + len(inside))
            add(store, matrix if len(inside) == len(batch) else matrix[inside], share, places)
            if at >= end:
                return finished(store, share)
    return finished(store, share)


def keep_part(rows: SentRows, partition: int, neighbours: int) -> DistantPart:
    """Keep the rows of a partition that were sent."""
    return DistantPart(stored(rows, neighbours), partition)


def add(store: RowStore, matrix: Matrix, rows: Share | SentRows, places: slice) -> None:
    importance = None if rows.importance is None else rows.importance[places]
    store.add(matrix, rows.labels[places], importance, rows.held_out[places])


def finished(store: RowStore, share: Share) -> DistantPart:
    store.finish(np.arange(share.labels.max(initial=0) + 1, dtype=np.int32))
    if len(store) != len(share.labels):
        raise changed(share.files.paths[0], len(share.labels), len(store))
    return DistantPart(store, share.partition)


def stored(rows: SentRows, neighbours: int) -> RowStore:
    store = RowStore(memory_for(neighbours))
    add(store, rows.matrix, rows, slice(None))
    store.finish(np.arange(rows.labels.max(initial=0) + 1, dtype=np.int32))
    return store


def memory_for(neighbours: int) -> int:
    """Return the memory for the rows of a partition on this machine. Others go to its disk."""
    return max(LEAST, memory_budget(None) // max(1, neighbours))


# ---- the driver


def parts_on(engine: Engine, source: Source, features: FeatureMap, store: RowStore, count: int) -> list[Handle]:
    """Make the rows of all partitions on the workers, and return their handles."""
    ends = shares(len(store), count)
    neighbours = -(-count // max(1, engine.workers()))
    files = files_of(source)
    if files is None:
        matrix = store.mapped().matrix
        return [
            engine.submit(keep_part, engine.put(rows_of(store, matrix, start, end)), partition, neighbours)
            for partition, (start, end) in enumerate(ends)
        ]
    starts = starts_of(engine, files, len(store), source.name)
    sent = engine.put(SentFeatures(features))
    found = []
    for partition, (start, end) in enumerate(ends):
        some = [i for i in range(len(files.paths)) if starts[i] < end and starts[i + 1] > start]
        own = Files(tuple(files.paths[i] for i in some), files.options, files.columns)
        importance = None if store.importance is None else store.importance[start:end]
        share = Share(
            partition=partition,
            files=own,
            first=start - starts[some[0]],
            labels=store.labels[start:end],
            held_out=store.held_out[start:end],
            importance=importance,
            neighbours=neighbours,
        )
        found.append(engine.submit(make_part, sent, share))
    return found


def starts_of(engine: Engine, files: Files, rows: int, name: str) -> list[int]:
    """Return where the labelled rows of each file start, and where the last ones end."""
    tasks = [engine.submit(count_rows, files, path) for path in files.paths]
    try:
        counts: list[int] = engine.gather(tasks)
    finally:
        engine.free(tasks)
    if sum(counts) != rows:
        raise changed(name, rows, sum(counts))
    return [0, *np.cumsum(counts).tolist()]


def changed(name: str, before: int, now: int) -> DataError:
    return DataError(f"{name} has changed during training: it had {before:,} labelled rows, and a worker found {now:,}")


def rows_of(store: RowStore, matrix: Matrix, start: int, end: int) -> SentRows:
    """Return some rows of a store, whose features are a matrix."""
    importance = None if store.importance is None else store.importance[start:end]
    some = matrix if (start, end) == (0, len(store)) else matrix[np.arange(start, end)]
    return SentRows(some, store.labels[start:end], store.held_out[start:end], importance)
