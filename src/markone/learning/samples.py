"""Samples: rows in memory with their targets, which can be divided in any way, for example for cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.budget import memory_budget
from markone.data.class_order import ClassOrder
from markone.data.labels import (
    KnownLabels,
    check_classes,
    members_of,
    number_in,
    numbers_of,
    plain,
    refuse_several,
    sets_of,
)
from markone.data.read import read
from markone.data.source import UNLABELLED, Label, Source, no_target
from markone.data.store import stack
from markone.data.subsets import Held, Subset, Without
from markone.errors import DataError
from markone.features.files import Files, files_of
from markone.features.map import FeatureMap
from markone.features.part import Matrix
from markone.learning.reading import one_class, opened
from markone.learning.several_labels import Sets
from markone.learning.shapes import find_shapes
from markone.model.model import second_target
from markone.parallel import count_threads, in_order


@dataclass(frozen=True)
class Sample:
    """All rows of a source that have a label or, for a regression, a number as target."""

    held: Held
    classes: list[Label]
    """The classes in their order; empty for a regression."""
    truth: NDArray[Any]
    """The class number of each row, or the number to predict."""
    threads: int
    sets: Sets | None = None
    """Which labels each set of labels contains, if a row can have several labels: labels × sets. The `classes` are then
    the labels, and `truth` is the number of each row's set."""

    @classmethod
    def of(cls, held: Held, classes: list[Label], threads: int) -> Sample:
        """Return the rows of a source, whose labels are among these classes."""
        number = KnownLabels(classes).number
        of_label = np.array([UNLABELLED if (i := number(label)) is None else i for label in held.labels], np.int64)
        return cls(held, classes, of_label[held.label_numbers()], threads)

    def __len__(self) -> int:
        return len(self.truth)

    def __reduce__(self) -> tuple[Any, ...]:
        return Sample.received, (SharedRows(self.held), self.classes, self.truth, self.sets)

    @classmethod
    def received(cls, rows: SharedRows, classes: list[Label], truth: NDArray[Any], sets: Sets | None) -> Sample:
        return cls(rows.held, classes, truth, 1, sets)

    @property
    def is_regression(self) -> bool:
        return not self.classes

    @property
    def numbers(self) -> NDArray[np.float64] | None:
        """The number that each label of the source stands for, if its labels are the targets of a regression."""
        if not self.is_regression or self.held.target is None:
            return None
        return numbers_of(self.held.labels, self.held.target)

    @property
    def strata(self) -> NDArray[Any] | None:
        """The classes, whose shares should be the same in every part; None for a regression, and for several labels."""
        return None if self.is_regression or self.sets is not None else self.truth

    def targets(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the truth of some rows as predictions have it: with several labels, which of them each row has."""
        return self.truth[rows] if self.sets is None else self.sets.T[self.truth[rows]]

    def part(self, rows: NDArray[np.int64]) -> Sample:
        """Return a sample with only some of the rows."""
        return replace(self, held=Held(Subset(self.held, rows)), truth=self.truth[rows])

    def fitted(self, features: FeatureMap, rows: NDArray[np.int64]) -> tuple[Matrix, NDArray[np.float64] | None]:
        """Fit the features to these rows, and return their features and importance. The rows are read once."""
        drafts = []
        features.of_numbers = self.is_regression
        for batch, collected in features.collected(Subset(self.held, rows), self.threads):
            drafts.append(features.absorb(collected, batch.labels))
        features.finish()
        find_shapes(features, 0, self.numbers)
        matrix = stack(list(in_order(features.refine, drafts, self.threads)))
        features.settle()
        weights = self.importance(rows)
        return matrix, None if (weights == 1).all() else weights

    def importance(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the importance of these rows."""
        batches = self.held.some(rows)
        return np.concatenate([np.ones(len(one)) if one.importance is None else one.importance for one in batches])

    def transformed(self, features: FeatureMap, rows: NDArray[np.int64]) -> Matrix:
        return stack(list(in_order(features.transform, self.held.some(rows), self.threads)))


class SharedRows:
    """Rows in memory as an argument of tasks. A worker reads them from their files; what is in no file is sent."""

    def __init__(self, held: Held) -> None:
        self.held = held

    @property
    def files(self) -> Files | None:
        """The files of the rows, if workers can read them."""
        return None if self.held.source is None else files_of(self.held.source)

    def __reduce__(self) -> tuple[Any, ...]:
        files = self.files
        return (SharedRows, (self.held,)) if files is None else (SharedRows.read, (files, len(self.held)))

    @classmethod
    def read(cls, files: Files, rows: int) -> SharedRows:
        """Read the rows of files, of which there were so many."""
        held = Held(files.together(), memory_budget(None))
        if len(held) != rows:
            raise DataError(
                f"{files.paths[0]} has changed meanwhile: there were {rows:,} rows with a label, and a worker found "
                f"{len(held):,}"
            )
        return cls(held)


def paths_of(held: Held) -> tuple[str, ...]:
    """Return the files that workers read for these rows."""
    files = SharedRows(held).files
    return () if files is None else files.paths


# ---- opening data


def open_sample(
    source: Any, target: Any, threads: int | None, memory: int | str | None, order: ClassOrder | None = None
) -> Sample:
    """Read a sample for classification. `order` says more about the classes."""
    workers, budget = count_threads(threads), memory_budget(memory)
    source = opened(source, target, threads)
    refuse_several(source.labels, "this")
    held = Held(source, budget)
    check_classes(held.labels, held.target)
    met = [held.labels[number] for number in np.unique(held.label_numbers())]
    classes = (order or ClassOrder()).arrange(met)
    if len(classes) < 2:
        raise one_class(classes[0])
    return Sample.of(held, classes, workers)


def open_labelled(source: Any, target: Any, threads: int | None, memory: int | str | None) -> Sample:
    """Read a sample for classification, whose rows may have several labels."""
    source = opened(source, target, threads)
    if not source.several:
        return open_sample(source, None, threads, memory)
    workers, held = count_threads(threads), Held(source, memory_budget(memory))
    numbers = held.label_numbers()
    met = dict.fromkeys(label for number in np.unique(numbers) for label in members_of(held.labels[number]))
    if not met:
        raise DataError("none of the rows has a label")
    labels = ClassOrder().arrange([*met])
    return Sample(held, labels, numbers, workers, sets_of(held.labels, labels))


def open_regression(source: Any, target: Any, threads: int | None, memory: int | str | None) -> Sample:
    """Read a sample for regression. The target is the name of a column, or the numbers themselves."""
    workers, budget = count_threads(threads), memory_budget(memory)
    if isinstance(source, Source):
        if target is not None:
            raise second_target()
        if source.target is None:
            raise no_target(source)
        held = Held(source, budget)
        values = numbers_of(held.labels, held.target)[held.label_numbers()]
    elif isinstance(target, str):
        without = Without(read(source, threads=threads), target)
        held = Held(without, budget)
        values = np.concatenate(without.values)
    elif target is not None:
        held = Held(read(source, threads=threads), budget)
        values = np.array([as_number(plain(one)) for one in target], np.float64)
        if len(values) != len(held):
            raise DataError(f"there are {len(held):,} rows but {len(values):,} values in target")
    else:
        raise no_target()
    return Sample(held, [], values, workers)


def as_number(label: Label | None) -> float:
    number = number_in(label)
    if number is None:
        raise DataError(f"a regression needs a target of numbers, but {label!r:.60} is not a number")
    return number
