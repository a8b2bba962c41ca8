"""What the page shows of a source: points in two dimensions, or texts; a random sample if there are many rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import as_scipy, is_sparse
from markone.data.kinds import written
from markone.errors import DataError, SettingsError, did_you_mean
from markone.features.map import FeatureMap
from markone.features.spec import Features
from markone.learning.samples import Sample, open_sample

MOST_POINTS = 2000
MOST_TEXTS = 300
LONGEST_TEXT = 500
MOST_CLASSES = 8
"""The page has a colour and a shape for each of 8 classes."""
MOST_CHOICES = 200
WIDEST = 2000
"""Principal components are computed from the features with the most nonzero values, at most this number."""
COMPONENTS = ("first principal component", "second principal component")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Shown:
    """A source as the page shows it."""

    sample: Sample
    name: str
    chart: FeatureMap = field(repr=False)
    matrix: Any = field(repr=False)
    """The features of all rows, as `markone.train` makes them; None for texts."""
    text: str | None
    """The column of texts, if there is one."""

    @classmethod
    def of(
        cls, source: Any, target: Any = None, *, threads: int | None = None, memory: int | str | None = None
    ) -> Shown:
        sample = open_sample(source, target, threads, memory)
        if len(sample.classes) > MOST_CLASSES:
            raise DataError(
                f"{sample.held.name} has {len(sample.classes):,} classes, but the playground can show at most "
                f"{MOST_CLASSES}; use a file with fewer of them"
            )
        chart = FeatureMap(Features(), sample.held.columns)
        text = next((column.name for column in sample.held.columns if column.kind == "text"), None)
        matrix = None if text is not None else sample.fitted(chart, np.arange(len(sample)))[0]
        shown = cls(sample, sample.held.name, chart, matrix, text)
        if matrix is not None and matrix.shape[1] < 1:
            raise DataError(f"{shown.name} has no features to show")
        return shown

    @property
    def classes(self) -> list[str]:
        return [written(label) for label in self.sample.classes]

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The rows that the page shows, in storage order."""
        most = MOST_POINTS if self.text is None else MOST_TEXTS
        if len(self.sample) <= most:
            return np.arange(len(self.sample))
        return np.sort(np.random.default_rng(0).choice(len(self.sample), most, replace=False))

    @cached_property
    def choices(self) -> list[str]:
        """The features that an axis can show."""
        names = self.chart.names()
        return [*(COMPONENTS if len(names) > 2 else ()), *names[:MOST_CHOICES]]

    def usual(self) -> dict[str, str]:
        """The axes that are shown first: two features, or two principal components if there are more."""
        return {"x": self.choices[0], "y": self.choices[min(1, len(self.choices) - 1)]}

    def along(self, name: str) -> Floats:
        """The value of every row on an axis."""
        if name not in self.choices:
            raise SettingsError("columns", f"has no {name!r:.80}.{did_you_mean(name, self.choices)}")
        if name in COMPONENTS[: 2 if len(self.chart.names()) > 2 else 0]:
            return np.asarray(self.components[:, COMPONENTS.index(name)])
        column = self.chart.names().index(name)
        if is_sparse(self.matrix):
            return np.asarray(as_scipy(self.matrix)[:, [column]].toarray()[:, 0], np.float64)
        return np.asarray(self.matrix[:, column], np.float64)

    @cached_property
    def components(self) -> Floats:
        """The first two principal components, computed from the shown rows, for all rows."""
        matrix: Any = as_scipy(self.matrix) if is_sparse(self.matrix) else np.asarray(self.matrix)
        used = np.asarray((matrix != 0).sum(axis=0)).ravel()
        columns = np.sort(np.argsort(-used, kind="stable")[:WIDEST])
        some = matrix[self.rows][:, columns]
        dense = np.asarray(some.toarray() if is_sparse(self.matrix) else some, np.float64)
        mean = dense.mean(axis=0)
        _, axes = np.linalg.eigh((dense - mean).T @ (dense - mean))
        first = axes[:, [-1, -2]]
        first = first * np.sign(first[np.abs(first).argmax(axis=0), [0, 1]])
        return np.asarray(matrix[:, columns] @ first - mean @ first, np.float64)

    def as_dict(self, chosen: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The content as JSON values, for the page."""
        facts = {"name": self.name, "rows": len(self.sample), "shown": len(self.rows), "classes": self.classes}
        truth = self.sample.truth[self.rows].tolist()
        if self.text is not None:
            lines = [[text, y] for text, y in zip(self.texts(), truth, strict=True)]
            return {**facts, "kind": "text", "lines": lines, "sentence": self.sentence()}
        axes = {**self.usual(), **(chosen or {})}
        places = np.column_stack([self.along(axes["x"])[self.rows], self.along(axes["y"])[self.rows]])
        return {
            **facts,
            "kind": "points",
            "choices": self.choices,
            "chosen": axes,
            "columns": [axes["x"], axes["y"]],
            "points": [[*place, y] for place, y in zip(places.tolist(), truth, strict=True)],
            "sentence": self.sentence(),
        }

    def texts(self) -> list[str]:
        """The shown texts, cut where they are very long."""
        assert self.text is not None
        found: list[str] = []
        for batch in self.sample.held.some(self.rows):
            found += [as_text(one)[:LONGEST_TEXT] for one in batch.columns[self.text].to_pylist()]
        return found

    def sentence(self) -> str:
        """What the page says about the file."""
        rows, what = len(self.sample), "texts" if self.text is not None else "rows"
        if len(self.rows) == rows:
            said = f"{self.name}: all {rows:,} {what}."
        else:
            said = f"{self.name}: a random sample of {len(self.rows):,} of its {rows:,} {what}."
        scaled = any(column.kind == "numeric" for column in self.sample.held.columns)
        return said + (" Numbers are scaled to mean 0 and deviation 1, as in training." if scaled else "")


def as_text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value or ""
