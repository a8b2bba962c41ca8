"""Partitions whose rows are made by the workers of a cluster.

A worker reads its own files, by their paths, and keeps the rows of a partition. They are a function of the files, the
features and the share of the partition alone, so another worker makes the same rows if this one is lost. What is not in
files is sent. This process, the driver, knows the labels of all rows, and has the rows that are held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from markone.cluster.engine import LOOK, Engine, Handle, in_turn
from markone.data.blocks import Block, DistantBlocks
from markone.data.budget import LEAST, memory_budget
from markone.data.source import UNLABELLED, BadLines, Batch, Column, Label, Source
from markone.data.store import PartOfStore, RowStore, TrainingRows, digest_of
from markone.errors import DataError
from markone.features.files import Files, files_of
from markone.features.map import FeatureMap
from markone.features.part import Matrix
from markone.features.spec import Features
from markone.learning.examples import StoredExamples, Visits, check_enough, digest_of_partitions, shares
from markone.learning.holdout import check_both
from markone.learning.reading import DRAFTS_SHARE, check_vocabulary, size_of
from markone.model.settings import Settings
from markone.storage.saved import Saved


class DistantPart:
    """The rows of a partition, on the worker that made them."""

    def __init__(self, store: RowStore, partition: int) -> None:
        self.store = store
        self.partition = partition
        self.kept: dict[Any, Any] = {}
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

    def __init__(self, features: FeatureMap, saved: Saved | None = None) -> None:
        self.features = features
        self.saved = saved or features.save()

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (self.saved, self.features.width, self.features.spec.functions)

    def __sizeof__(self) -> int:
        """The bytes that are sent."""
        return sum(array.nbytes for array in self.saved.arrays.values())


def restored(saved: Saved, width: int, functions: Any) -> SentFeatures:
    return SentFeatures(FeatureMap.load(saved, width, functions), saved)


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


@dataclass(frozen=True, slots=True)
class Reading:
    """What a worker has read of some files, and keeps until the rows of partitions are made of it."""

    surveys: list[Survey]
    """What the driver needs to know about each file."""
    absorbed: list[Any]
    """What the features have learned, without the labels."""
    drafts: list[tuple[Any, NDArray[np.bool_]]] | None
    """The drafts of all batches, each with the rows that have a label; None if they need too much memory."""

    def __sizeof__(self) -> int:
        """The bytes of the drafts, by which Dask decides where to use them."""
        return sum(size_of(draft) for draft, _ in self.drafts or ())


@dataclass(frozen=True, slots=True)
class Survey:
    """What the driver needs to know about the rows of a file."""

    labels: list[Label]
    numbers: NDArray[np.int32]
    """The number of each row's label."""
    importance: NDArray[np.float64] | None
    bad: BadLines

    @property
    def labelled(self) -> int:
        return int((self.numbers != UNLABELLED).sum())


# ---- tasks


def survey(files: Files, path: str, use: Callable[[Batch], None] | None = None) -> Survey:
    """Read a file, and return the labels of its rows. `use` is called with each batch."""
    source = files.source_or_none(path)
    numbers, importance = [np.zeros(0, np.int32)], [np.zeros(0)]
    if source is None:
        return Survey([], numbers[0], None, BadLines())
    weighted = False
    for batch in source.batches():
        assert batch.labels is not None  # because there is a target
        numbers.append(batch.labels)
        weighted |= batch.importance is not None
        importance.append(np.ones(len(batch)) if batch.importance is None else batch.importance)
        if use is not None:
            use(batch)
    together = np.concatenate(importance) if weighted else None
    return Survey([*source.labels], np.concatenate(numbers), together, source.bad)


def read_files(spec: Features, columns: tuple[Column, ...], files: Files, neighbours: int, keep: bool) -> Reading:
    """Read files, and learn features from them without their labels. If the rows are to be made of the same features,
    `keep` what they need, unless it is too much for so many neighbours on a worker."""
    features = FeatureMap(spec, columns)
    features.put_off_labels()
    room = memory_for(neighbours) // DRAFTS_SHARE
    drafts: list[tuple[Any, NDArray[np.bool_]]] | None = [] if keep else None
    rows = size = 0

    def learn(batch: Batch) -> None:
        nonlocal drafts, rows, size
        draft = features.absorb(features.collect(batch), batch.labels)
        rows += len(batch)
        check_vocabulary(features, rows, memory_budget(None))
        if drafts is not None:
            drafts.append((draft, labelled_in(batch)))
            size += size_of(draft)
            drafts = drafts if size <= room else None

    surveys = [survey(files, path, learn) for path in files.paths]
    return Reading(surveys, features.absorbed(), drafts)


def surveys_of(reading: Reading) -> tuple[list[Survey], bool]:
    """Return what the driver needs to know about the files of a reading, and whether it has drafts."""
    return reading.surveys, reading.drafts is not None


def make_part(features: SentFeatures, share: Share) -> DistantPart:
    """Read the rows of a partition, and keep them."""
    batches = (batch for path in share.files.paths for batch in share.files.batches(path))
    found = labelled_between(
        ((batch, labelled_in(batch)) for batch in batches),
        share.first,
        share.first + len(share.labels),
        features.features.transform,
    )
    return part_of(found, share)


def refine_rows(features: SentFeatures, reading: Reading, first: int, end: int) -> list[Matrix]:
    """Make the labelled rows from `first` to `end` of a reading."""
    assert reading.drafts is not None
    numbers = features.features.numbers_of(reading.absorbed)
    return [*labelled_between(reading.drafts, first, end, lambda draft: features.features.refine_with(draft, numbers))]


def join_rows(share: Share, *pieces: list[Matrix]) -> DistantPart:
    """Keep the rows of a partition, of which other tasks have made some each."""
    return part_of(chain(*pieces), share)


def facts_of_part(part: DistantPart) -> tuple[int, str]:
    """Return the number of values in the rows of a partition, and their digest."""
    return part.store.values, part.examples(Settings()).digest_of_rows()


def held_out_rows(part: DistantPart) -> SentRows:
    """Return the held-out rows of a partition."""
    store = part.store
    matrix, which = store.mapped().matrix, np.flatnonzero(store.held_out)
    importance = None if store.importance is None else store.importance[which]
    return SentRows(matrix[which], store.labels[which], store.held_out[which], importance)


def of_part(part: DistantPart, function: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
    """Call a function for each block of a partition."""
    return [function(block, *arguments) for block in part.examples(Settings()).learned()]


def keep_part(rows: SentRows, partition: int, neighbours: int) -> DistantPart:
    """Keep the rows of a partition that were sent."""
    return DistantPart(stored(rows, neighbours), partition)


def labelled_in(batch: Batch) -> NDArray[np.bool_]:
    """Return which rows of a batch have a label."""
    assert batch.labels is not None  # because there is a target
    found: NDArray[np.bool_] = batch.labels != UNLABELLED
    return found


def labelled_between(
    batches: Iterable[tuple[Any, NDArray[np.bool_]]], first: int, end: int, rows_of: Callable[[Any], Matrix]
) -> Iterator[Matrix]:
    """Yield the labelled rows from `first` to `end` of batches, each of which comes with its labelled rows."""
    at = 0
    for batch, is_labelled in batches:
        labelled = np.flatnonzero(is_labelled)
        inside = labelled[max(0, first - at) : max(0, end - at)]
        if len(inside):
            matrix = rows_of(batch)
            yield matrix if len(inside) == len(is_labelled) else matrix[inside]
        at += len(labelled)
        if at >= end:
            return


def part_of(matrices: Iterable[Matrix], share: Share) -> DistantPart:
    """Keep rows with the labels of a share."""
    store = RowStore(memory_for(share.neighbours))
    at = 0
    for matrix in matrices:
        begin, at = at, at + matrix.shape[0]
        add(store, matrix, share, slice(begin, at))
    return finished(store, share)


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


def examples_of(store: TrainingRows, settings: Settings) -> StoredExamples | DistantExamples:
    """Return the examples of a finished store, wherever its rows are."""
    if isinstance(store, DistantRows):
        return DistantExamples(store, settings)
    assert isinstance(store, RowStore)
    return StoredExamples(store, settings)


class DistantRows:
    """The rows of a training, which the workers of a cluster make of their files."""

    def __init__(self, engine: Engine, partitions: int, memory: int) -> None:
        self.engine = engine
        self.partitions = partitions
        self.unlabelled = 0
        self.labels = np.zeros(0, np.int32)
        self.importance: NDArray[np.float64] | None = None
        self.held_out = np.zeros(0, bool)
        self._numbers = np.zeros(0, np.int32)
        self._memory = memory
        self._made: list[Handle] | None = None
        self._readings: Sequence[Kept] = ()
        self._facts: list[tuple[int, str]] | None = None
        self._apart: RowStore | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._apart is not None:
            self._apart.close()
        self.engine.free([*(self._made or ()), *(kept.reading for kept in self._readings)])

    def fill(
        self,
        name: str,
        files: Files,
        features: FeatureMap,
        surveys: Surveys,
        held_out: NDArray[np.bool_],
        readings: Sequence[Kept],
    ) -> None:
        """Say which rows there are. Those without a label are left out."""
        labelled = surveys.numbers != UNLABELLED
        self.unlabelled = int((~labelled).sum())
        self._name, self._files, self._features, self._readings = name, files, features, readings
        self._starts = [int(labelled[:start].sum()) for start in surveys.starts]
        self._numbers = surveys.numbers[labelled]
        self.held_out = held_out[labelled]
        self.importance = None if surveys.importance is None else surveys.importance[labelled]

    # ---- as a store of rows

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def values(self) -> int:
        return sum(values for values, _ in self.facts())

    def labels_met(self) -> NDArray[np.int32]:
        return np.unique(self._numbers)

    def finish(self, numbers: NDArray[np.int32]) -> None:
        check_enough(len(self), self.partitions)
        self.labels = numbers[self._numbers]
        facts = [self.labels, self.held_out, *([] if self.importance is None else [self.importance])]
        self._digest_of_labels = digest_of(facts)

    def set_importance(self, importance: NDArray[np.float64]) -> None:
        self.importance = importance

    # ---- on the workers

    def parts(self) -> list[Handle]:
        """The handles of all partitions. The first call lets the workers make their rows."""
        if self._made is None:
            made = made_on(
                self.engine, self._files, self._features, self, self._starts, self.partitions, self._readings
            )
            self._made = [one.part for one in made]
            for one in made:
                while one.pieces and not self.engine.wait([one.part], LOOK):
                    pass
                self.engine.free(one.pieces)
            self.engine.free(kept.reading for kept in self._readings)
            self._readings = ()
        return self._made

    def facts(self) -> list[tuple[int, str]]:
        """The number of values in each partition, and the digest of its rows."""
        if self._facts is None:
            self._facts = [*in_turn(self.engine, facts_of_part, ([part] for part in self.parts()))]
        return self._facts

    def digest(self) -> str:
        return digest_of_partitions(self._digest_of_labels, [digest for _, digest in self.facts()])

    def apart(self) -> RowStore:
        """The held-out rows, which come from the workers once."""
        if self._apart is None:
            self._apart = RowStore(self._memory)
            for rows in in_turn(self.engine, held_out_rows, ([part] for part in self.parts())):
                add(self._apart, rows.matrix, rows, slice(None))
            self._apart.finish(np.arange(self.labels.max(initial=0) + 1, dtype=np.int32))
        return self._apart


class DistantExamples:
    """The examples of a training whose partitions are on the workers of a cluster."""

    def __init__(self, rows: DistantRows, settings: Settings) -> None:
        if settings.holdout > 0:
            check_both(rows.held_out, settings.holdout)
        self._rows = rows
        self._learned = ~rows.held_out
        self.rows = int(self._learned.sum())
        self._apart: StoredExamples | None = None

    def labels(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self._rows.labels[self._learned], self._rows.labels[~self._learned]

    def importance(self) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        weights = self._rows.importance
        return (None, None) if weights is None else (weights[self._learned], weights[~self._learned])

    def parts(self, count: int) -> Sequence[Any]:
        assert count == self._rows.partitions, "workers have made the rows of another number of partitions"
        return self._rows.parts()

    def held_out(self) -> Iterator[Block]:
        if self._apart is None:
            if self._learned.all():
                return
            self._apart = StoredExamples(self._rows.apart(), Settings(holdout=0))
        yield from self._apart.held_out()

    def learned(self) -> BlocksOfParts:
        """All rows; those that are held out have no label."""
        return BlocksOfParts(self._rows)

    def digest(self, partitions: int) -> str:
        assert partitions == self._rows.partitions
        return self._rows.digest()

    def pack_counts(self) -> None:
        """Do nothing: the workers do it."""

    def visits(self, settings: Settings, epoch: int, skip: int = 0) -> Iterator[Visits]:
        raise AssertionError("the rows are on the workers")

    def between_looks(self, columns: int) -> int:
        raise AssertionError("the rows are on the workers")

    def whole(self, *, in_files: bool = False) -> Visits:
        raise AssertionError("the rows are on the workers")


class BlocksOfParts(DistantBlocks):
    """The blocks of all partitions on the workers."""

    def __init__(self, rows: DistantRows) -> None:
        self._rows = rows

    def each(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        calls = ((part, function, arguments) for part in self._rows.parts())
        for results in in_turn(self._rows.engine, of_part, calls):
            yield from results


@dataclass(frozen=True, slots=True)
class Kept:
    """The reading of some files, on the worker that has made it."""

    reading: Handle
    first: int
    """The number of the first file."""
    end: int
    """The number after that of the last file."""
    whole: bool
    """Whether it has drafts, so that the files need not be read again."""


@dataclass(frozen=True, slots=True)
class Made:
    """The rows of a partition, and the pieces of which they are made, which are of no use later."""

    part: Handle
    pieces: list[Handle]


@dataclass(frozen=True, slots=True)
class Surveys:
    """What the driver knows about the rows of all files."""

    numbers: NDArray[np.int32]
    importance: NDArray[np.float64] | None
    starts: list[int]
    """Where the rows of each file start, and where the last ones end."""

    @classmethod
    def of(cls, numbers: list[NDArray[np.int32]], importance: list[NDArray[np.float64] | None]) -> Surveys:
        weights = None
        if any(one is not None for one in importance):
            pairs = zip(numbers, importance, strict=True)
            weights = np.concatenate([np.ones(len(rows)) if one is None else one for rows, one in pairs])
        return cls(np.concatenate(numbers), weights, [0, *np.cumsum([*map(len, numbers)]).tolist()])


def parts_on(engine: Engine, source: Source, features: FeatureMap, store: RowStore, count: int) -> list[Handle]:
    """Make the rows of all partitions on the workers, and return their handles. The driver has read all rows itself,
    because they are in no file, or because the features cannot be fitted by workers."""
    files = files_of(source)
    if files is None:
        neighbours = -(-count // max(1, engine.workers()))
        matrix = store.mapped().matrix
        return [
            engine.submit(keep_part, engine.put(rows_of(store, matrix, start, end)), partition, neighbours)
            for partition, (start, end) in enumerate(shares(len(store), count))
        ]
    counts = [one.labelled for one in in_turn(engine, survey, ((files, path) for path in files.paths))]
    if sum(counts) != len(store):
        raise changed(source.name, len(store), sum(counts))
    return [one.part for one in made_on(engine, files, features, store, [0, *np.cumsum(counts).tolist()], count)]


def made_on(
    engine: Engine,
    files: Files,
    features: FeatureMap,
    store: TrainingRows,
    starts: list[int],
    count: int,
    readings: Sequence[Kept] = (),
) -> list[Made]:
    """Let the workers make the rows of all partitions. `starts` says where the labelled rows of each file start, and
    where the last ones end. Files of which no reading is kept are read again."""
    neighbours = -(-count // max(1, engine.workers()))
    sent = engine.put(SentFeatures(features))
    found = []
    for partition, (start, end) in enumerate(shares(len(store), count)):
        some = [i for i in range(len(files.paths)) if starts[i] < end and starts[i + 1] > start]
        share = Share(
            partition=partition,
            files=files.some(some[0], some[-1] + 1),
            first=start - starts[some[0]],
            labels=store.labels[start:end],
            held_out=store.held_out[start:end],
            importance=None if store.importance is None else store.importance[start:end],
            neighbours=neighbours,
        )
        pieces = [kept for kept in readings if starts[kept.first] < end and starts[kept.end] > start]
        if pieces and all(kept.whole for kept in pieces):
            rows = [
                engine.submit_near(
                    kept.reading,
                    refine_rows,
                    sent,
                    kept.reading,
                    max(0, start - starts[kept.first]),
                    end - starts[kept.first],
                )
                for kept in pieces
            ]
            found.append(Made(engine.submit(join_rows, share, *rows), rows))
        else:
            found.append(Made(engine.submit(make_part, sent, share), []))
    return found


def changed(name: str, before: int, now: int) -> DataError:
    return DataError(f"{name} has changed during training: it had {before:,} labelled rows, and a worker found {now:,}")


def rows_of(store: RowStore, matrix: Matrix, start: int, end: int) -> SentRows:
    """Return some rows of a store, whose features are a matrix."""
    importance = None if store.importance is None else store.importance[start:end]
    some = matrix if (start, end) == (0, len(store)) else matrix[np.arange(start, end)]
    return SentRows(some, store.labels[start:end], store.held_out[start:end], importance)
