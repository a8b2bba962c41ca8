"""Features that are fitted by the workers of a cluster, as one machine would fit them.

A task reads some files: it finds the labels of their rows, and counts their n-grams and categories. The driver then
knows which rows are held out. If n-grams have weights that depend on labels, a second task counts these, without the
held-out rows. Neighbouring counts are merged, then neighbours of these, and so on. Only the last of these tasks knows
all counts: it chooses the features, which go to the driver. The workers keep what they have read until they make the
rows of it. They read each file once, if their memory is large enough.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.addresses import is_address
from markone.cluster.engine import LOOK, Engine, Handle, in_turn, reduce_in_tree
from markone.data.budget import memory_budget
from markone.data.labels import check_classes
from markone.data.source import UNLABELLED, BadLines, Column, Source
from markone.errors import DataError
from markone.features.examples import Renamed
from markone.features.files import Files, files_of
from markone.features.map import FeatureMap
from markone.features.spec import Features
from markone.learning.partitions.distant import (
    DistantRows,
    Kept,
    Reading,
    SentFeatures,
    Survey,
    Surveys,
    read_files,
    survey,
    surveys_of,
)
from markone.learning.reading import FEW_ROWS, USUAL_HOLDOUT, Drafts, Filling, check_vocabulary


@dataclass(frozen=True, slots=True)
class CountedFeatures:
    """What the features of a spec have learned of some files."""

    spec: Features
    columns: tuple[Column, ...]
    absorbed: list[Any]
    rows: int

    def feature_map(self) -> FeatureMap:
        """Return features that have learned the same."""
        features = FeatureMap(self.spec, self.columns)
        features.absorb_all(self.absorbed)
        return features


# ---- tasks


def count_features(
    spec: Features, columns: tuple[Column, ...], files: Files, reading: Reading, labels: NDArray[np.int32]
) -> CountedFeatures:
    """Count what is in the rows of files, which have these labels, or none if they are held out. If labels are counted,
    and the reading has no drafts, the files are read again."""
    features = FeatureMap(spec, columns)
    if not features.counts_labels():
        return CountedFeatures(spec, columns, reading.absorbed, len(labels))
    if reading.drafts is not None:
        ends = np.cumsum([len(labelled) for _, labelled in reading.drafts])
        check_rows(files, len(labels), int(ends[-1]) if len(ends) else 0)
        drafts = (draft for draft, _ in reading.drafts)
        counted = features.with_labels(reading.absorbed, zip(drafts, np.split(labels, ends[:-1]), strict=False))
        return CountedFeatures(spec, columns, counted, len(labels))
    rows = 0
    for batch in (batch for path in files.paths for batch in files.batches(path)):
        features.absorb(features.collect(batch), labels[rows : rows + len(batch)])
        rows += len(batch)
        check_vocabulary(features, rows, memory_budget(None))
    check_rows(files, len(labels), rows)
    return CountedFeatures(spec, columns, features.absorbed(), rows)


def check_rows(files: Files, before: int, now: int) -> None:
    """Raise an error if files have other rows than before."""
    if now != before:
        raise DataError(f"{files.paths[0]} has changed during training: it had {before:,} rows, and then {now:,}")


def merge_features(a: CountedFeatures, b: CountedFeatures) -> CountedFeatures:
    """Return the counts of both, as if the files of `b` had been read after those of `a`."""
    features = a.feature_map()
    features.absorb_all(b.absorbed)
    check_vocabulary(features, a.rows + b.rows, memory_budget(None))
    return CountedFeatures(a.spec, a.columns, features.absorbed(), a.rows + b.rows)


def finish_features(counted: CountedFeatures) -> SentFeatures:
    """Choose the features."""
    features = counted.feature_map()
    features.finish()
    features.settle()
    return SentFeatures(features)


# ---- the driver


def sizes_of(paths: Sequence[str]) -> list[int]:
    """Return the sizes of files. Those with an address count as if all had the same size."""
    return [1 if is_address(path) else os.path.getsize(path) for path in paths]


def groups_of(sizes: Sequence[int], count: int) -> list[tuple[int, int]]:
    """Divide files of these sizes into at most `count` groups of neighbours of about the same size, and return where
    each starts and ends. No group is empty.

    >>> groups_of([5, 5, 5, 5, 20], 3), groups_of([1, 1], 8), groups_of([0], 2)
    ([(0, 3), (3, 4), (4, 5)], [(0, 1), (1, 2)], [(0, 1)])
    """
    ends = np.cumsum(sizes)
    whole = max(1, int(ends[-1]))
    middles = (ends - np.array(sizes) / 2) / whole
    group = np.minimum(count - 1, (middles * count).astype(int))
    starts = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), len(sizes)]
    return [*pairwise(starts)]


@dataclass(slots=True)
class DistantFilling(Filling):
    """Lets the workers of a cluster read a source. The driver only looks at the first rows."""

    engine: Engine = field(kw_only=True)
    store: DistantRows = field(kw_only=True)
    _of: Source | None = None
    _surveys: Surveys | None = None
    _held_out: NDArray[np.bool_] | None = None
    _readings: Sequence[Kept] = ()

    def learn_features(self, feature_map: FeatureMap, *, for_rows: bool = True) -> Drafts:
        feature_map.choose(self.source)
        sent = self.engine.put(feature_map.spec)
        self._read(sent, feature_map.columns, keep=for_rows)
        files, surveys, held_out = self.surveyed()
        labels = np.where(held_out, np.int32(UNLABELLED), surveys.numbers)
        counted = [
            self.engine.submit_near(
                kept.reading,
                count_features,
                sent,
                feature_map.columns,
                files.some(kept.first, kept.end),
                kept.reading,
                labels[surveys.starts[kept.first] : surveys.starts[kept.end]],
            )
            for kept in self._readings
        ]
        try:
            fitted = self.engine.submit(finish_features, reduce_in_tree(self.engine, merge_features, counted))
            while not self.engine.wait([*counted, fitted], LOOK):
                self.progress.read(len(labels), 1.0)
            feature_map.become(self.engine.gather([fitted])[0].features)
        finally:
            self.engine.free([sent, *counted])
            if not for_rows:
                self._forget_readings()
        return Drafts(deque(), len(labels), stored=True)

    def add_rows(self, feature_map: FeatureMap, drafts: Drafts | None = None) -> None:
        files, surveys, held_out = self.surveyed()
        self.store.fill(self.source.name, files, feature_map, surveys, held_out, self._readings)
        self._readings = ()

    def surveyed(self) -> tuple[Files, Surveys, NDArray[np.bool_]]:
        """Return the files, what is known about their rows, and which rows are held out."""
        files = files_of(self.source)
        assert files is not None
        if self._of is not self.source or self._surveys is None or self._held_out is None:
            calls = ((files, path) for path in files.paths)
            self._take(in_turn(self.engine, survey, calls), len(files.paths))
        assert self._surveys is not None
        assert self._held_out is not None
        return files, self._surveys, self._held_out

    def _read(self, spec: Handle, columns: tuple[Column, ...], *, keep: bool) -> None:
        """Let the workers read all files, once if they can keep what they have read."""
        files = files_of(self.source)
        assert files is not None
        count = self.store.partitions
        neighbours = -(-count // max(1, self.engine.workers()))
        groups = groups_of(sizes_of(files.paths), count)
        readings = [
            self.engine.submit(read_files, spec, columns, files.some(first, end), neighbours, keep)
            for first, end in groups
        ]
        try:
            while not self.engine.wait(readings, LOOK):
                self.progress.read(0)
            tasks = [self.engine.submit_near(one, surveys_of, one) for one in readings]
            found: list[tuple[list[Survey], bool]] = self.engine.gather(tasks)
            self.engine.free(tasks)
            self._take((survey for surveys, _ in found for survey in surveys), len(files.paths))
        except BaseException:
            self.engine.free(readings)
            raise
        self._readings = [
            Kept(reading, first, end, whole)
            for reading, (first, end), (_, whole) in zip(readings, groups, found, strict=True)
        ]

    def _forget_readings(self) -> None:
        self.engine.free(kept.reading for kept in self._readings)
        self._readings = ()

    def _take(self, surveys: Iterable[Survey], files: int) -> None:
        """Take what the workers know of the files, and choose the held-out rows."""
        own: Any = self.source.source if isinstance(self.source, Renamed) else self.source
        own.bad = BadLines()
        numbers, importance, rows = [], [], 0
        for done, found in enumerate(surveys, 1):
            # Labels are numbered in the order of all files, as if this process had read them.
            known = np.array([*map(own.known_labels.number, found.labels), UNLABELLED], np.int32)
            numbers.append(known[found.numbers])
            importance.append(found.importance)
            own.bad.add_all(found.bad.count, found.bad.first)
            rows += len(found.numbers)
            self.progress.read(rows, done / files)
        if rows == 0:
            raise DataError("there are no rows to learn from")
        if self.holdout is None:
            self.holdout = USUAL_HOLDOUT if rows >= FEW_ROWS else 0.0
        check_classes(self.source.labels, self.source.target)
        self._of, self._surveys = self.source, Surveys.of(numbers, importance)
        self._held_out = self.choice()(self._surveys.numbers)
