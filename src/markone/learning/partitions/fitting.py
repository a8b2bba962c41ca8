"""Features that are fitted by the workers of a cluster, as one machine would fit them.

For each file, a task reads the labels. The driver then knows which rows are held out, and a second task counts the
n-grams and categories of the file, without the labels of these rows. Neighbouring counts are merged, then neighbours of
these, and so on. Only the last of these tasks knows all counts: it chooses the features, which go to the driver.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.cluster.engine import LOOK, Engine, in_turn, reduce_in_tree
from markone.data.budget import memory_budget
from markone.data.labels import check_classes
from markone.data.source import UNLABELLED, BadLines, Column, Source
from markone.errors import DataError
from markone.features.examples import Renamed
from markone.features.files import Files, files_of
from markone.features.map import FeatureMap
from markone.features.spec import Features
from markone.learning.partitions.distant import DistantRows, SentFeatures, Survey, Surveys, survey
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
    spec: Features, columns: tuple[Column, ...], files: Files, path: str, labels: NDArray[np.int32]
) -> CountedFeatures:
    """Read a file whose rows have these labels, or none if they are held out, and count what is in the rows."""
    features = FeatureMap(spec, columns)
    rows = 0
    for batch in files.batches(path):
        features.absorb(features.collect(batch), labels[rows : rows + len(batch)])
        rows += len(batch)
        check_vocabulary(features, rows, memory_budget(None))
    if rows != len(labels):
        raise DataError(f"{path} has changed during training: it had {len(labels):,} rows, and then {rows:,}")
    return CountedFeatures(spec, columns, features.absorbed(), rows)


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


@dataclass(slots=True)
class DistantFilling(Filling):
    """Lets the workers of a cluster read a source. The driver only looks at the first rows."""

    engine: Engine = field(kw_only=True)
    store: DistantRows = field(kw_only=True)
    _of: Source | None = None
    _surveys: Surveys | None = None
    _held_out: NDArray[np.bool_] | None = None

    def learn_features(self, feature_map: FeatureMap, *, for_rows: bool = True) -> Drafts:
        files, surveys, held_out = self.surveyed()
        feature_map.choose(self.source)
        labels = np.where(held_out, np.int32(UNLABELLED), surveys.numbers)
        sent = self.engine.put(feature_map.spec)
        counted = [
            self.engine.submit(count_features, sent, feature_map.columns, files, path, labels[start:end])
            for path, start, end in zip(files.paths, surveys.starts, surveys.starts[1:], strict=False)
        ]
        try:
            fitted = self.engine.submit(finish_features, reduce_in_tree(self.engine, merge_features, counted))
            while not self.engine.wait([fitted], LOOK):
                self.progress.read(len(labels), 1.0)
            feature_map.become(self.engine.gather([fitted])[0].features)
        finally:
            self.engine.free([sent, *counted])
        return Drafts(deque(), len(labels), stored=True)

    def add_rows(self, feature_map: FeatureMap, drafts: Drafts | None = None) -> None:
        files, surveys, held_out = self.surveyed()
        self.store.fill(self.source.name, files, feature_map, surveys, held_out)

    def surveyed(self) -> tuple[Files, Surveys, NDArray[np.bool_]]:
        """Return the files, what is known about their rows, and which rows are held out."""
        files = files_of(self.source)
        assert files is not None
        if self._of is not self.source or self._surveys is None or self._held_out is None:
            self._of, self._surveys = self.source, self._survey(files)
            rows = len(self._surveys.numbers)
            if rows == 0:
                raise DataError("there are no rows to learn from")
            if self.holdout is None:
                self.holdout = USUAL_HOLDOUT if rows >= FEW_ROWS else 0.0
            check_classes(self.source.labels, self.source.target)
            self._held_out = self.choice()(self._surveys.numbers)
        return files, self._surveys, self._held_out

    def _survey(self, files: Files) -> Surveys:
        own: Any = self.source.source if isinstance(self.source, Renamed) else self.source
        own.bad = BadLines()
        numbers, importance, rows = [], [], 0
        calls = ((files, path) for path in files.paths)
        for done, one in enumerate(in_turn(self.engine, survey, calls), 1):
            found: Survey = one
            # Labels are numbered in the order of all files, as if this process had read them.
            known = np.array([*map(own.known_labels.number, found.labels), UNLABELLED], np.int32)
            numbers.append(known[found.numbers])
            importance.append(found.importance)
            own.bad.add_all(found.bad.count, found.bad.first)
            rows += len(found.numbers)
            self.progress.read(rows, done / len(files.paths))
        return Surveys.of(numbers, importance)
