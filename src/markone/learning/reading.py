"""Reads a source: fits the features, and stores the rows for training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import is_sparse
from markone.data.class_order import ClassOrder, continued
from markone.data.labels import KnownLabels, check_classes, members_of, numbers_of, sets_of
from markone.data.read import read
from markone.data.source import UNLABELLED, Batch, Label, Source, no_target
from markone.data.store import RowStore, TrainingRows
from markone.errors import DataError, LimitError, Setting
from markone.features.map import FeatureMap
from markone.features.part import Matrix
from markone.learning.holdout import HoldoutChoice
from markone.learning.progress import Progress
from markone.learning.several_labels import Sets
from markone.model.model import second_target
from markone.parallel import in_order

DRAFTS_SHARE = 3
"""Drafts are kept while they need less than 1/3 of the memory, because the rows made from them need as much."""
USUAL_HOLDOUT = 0.05
FEW_ROWS = 1000
"""With fewer rows, none are held out by default: few held-out rows say little, and would be missing in training."""

LabelledRows = tuple[Matrix, NDArray[np.int32], NDArray[np.float64] | None]
"""Rows of features, the numbers of their labels, and their importance."""


@dataclass(slots=True)
class Filling(ABC):
    """Reads a source with these options for held-out rows, threads and memory."""

    source: Source
    holdout: float | None
    """The share of rows that are held out; None for the default, which depends on the number of rows."""
    seed: int
    threads: int
    budget: int
    progress: Progress
    of_numbers: bool = False
    """Whether the labels are numbers, not classes."""

    @property
    @abstractmethod
    def store(self) -> TrainingRows:
        """The rows."""

    @abstractmethod
    def learn_features(self, feature_map: FeatureMap, *, for_rows: bool = True) -> Drafts:
        """Fit the features, without the labels of the held-out rows. Unless they are `for_rows`, the rows will be made
        of other features."""

    @abstractmethod
    def add_rows(self, feature_map: FeatureMap, drafts: Drafts | None = None) -> None:
        """Add all rows to the store, unless they are there: from the drafts if they were kept, otherwise by reading the
        source again."""

    def choice(self) -> Callable[[NDArray[np.int32]], NDArray[np.bool_]]:
        """Return a function that chooses the held-out rows: the same share of every class."""
        assert self.holdout is not None
        choice = HoldoutChoice(self.holdout, self.seed)
        if not self.source.several:
            return choice
        return lambda labels: choice(np.minimum(labels, 0))  # sets of labels are no classes: many occur only once


@dataclass(slots=True)
class OwnFilling(Filling):
    """Reads a source in this process."""

    store: RowStore = field(kw_only=True)

    def learn_features(self, feature_map: FeatureMap, *, for_rows: bool = True) -> Drafts:
        """If later batches do not change the rows of earlier ones, the rows are added to the store at once."""
        drafts = Drafts(deque())
        size = 0
        held_out: Callable[[NDArray[np.int32]], NDArray[np.bool_]] | None = None
        for batch, collected in self._after_choosing(feature_map.collected(self.source, self.threads)):
            assert batch.labels is not None  # because there is a target
            held_out = held_out or self.choice()
            apart = held_out(batch.labels)
            draft = feature_map.absorb(collected, np.where(apart, np.int32(UNLABELLED), batch.labels))
            if not self.of_numbers and not self.source.several:
                check_classes(self.source.labels, self.source.target)
            drafts.rows += len(batch)
            self.progress.read(drafts.rows, self.source.progress)
            check_vocabulary(feature_map, drafts.rows, self.budget)
            if for_rows and feature_map.refines_at_once():
                self.store.add(feature_map.refine(draft), batch.labels, batch.importance, apart)
                drafts.stored = True
            elif for_rows and size <= self.budget // DRAFTS_SHARE:
                size += size_of(draft)
                drafts.kept.append((draft, batch.labels, batch.importance))
            else:
                drafts.kept.clear()
        if drafts.rows == 0:
            raise DataError("there are no rows to learn from")
        feature_map.finish()
        return drafts

    def _after_choosing(self, collected: Iterator[tuple[Batch, Any]]) -> Iterator[tuple[Batch, Any]]:
        """Return the same batches, but only after there are enough rows to choose the default of `holdout`."""
        waiting: list[tuple[Batch, Any]] = []
        for batch, one in collected:
            waiting.append((batch, one))
            if self.holdout is None and sum(len(batch) for batch, _ in waiting) >= FEW_ROWS:
                self.holdout = USUAL_HOLDOUT
            if self.holdout is not None:
                yield from waiting
                waiting.clear()
        if self.holdout is None:
            self.holdout = 0.0
        yield from waiting

    def add_rows(self, feature_map: FeatureMap, drafts: Drafts | None = None) -> None:
        if drafts is not None and drafts.stored:
            feature_map.settle()
            return
        held_out, rows = self.choice(), 0
        for matrix, labels, importance in self._rows(feature_map, drafts):
            self.store.add(matrix, labels, importance, held_out(labels))
            rows += len(labels)
            if drafts is None:
                self.progress.read(rows, self.source.progress)
        feature_map.settle()
        if drafts is not None and rows != drafts.rows:
            raise DataError(
                f"{self.source.name} has changed during training: it had {drafts.rows:,} rows, and then {rows:,}"
            )

    def _rows(self, feature_map: FeatureMap, drafts: Drafts | None) -> Iterator[LabelledRows]:
        if drafts is not None and drafts.kept:
            kept = drafts.kept
            tasks = (kept.popleft() for _ in range(len(kept)))
            return in_order(lambda task: (feature_map.refine(task[0]), *task[1:]), tasks, self.threads)

        def transform(batch: Batch) -> LabelledRows:
            assert batch.labels is not None  # because there is a target
            return feature_map.transform(batch), batch.labels, batch.importance

        return in_order(transform, self.source.batches(), self.threads)


@dataclass(slots=True)
class Drafts:
    """The results of the first reading."""

    kept: deque[Any]
    """Drafts of all batches with labels and importance; empty if they need too much memory."""
    rows: int = 0
    stored: bool = False
    """Whether the rows are already in the store."""


def check_vocabulary(features: FeatureMap, rows: int, budget: int) -> None:
    """Raise an error if what features have learned of some rows needs too much memory."""
    if features.held() > budget:
        raise LimitError(
            f"after {rows:,} rows the vocabulary needs more than the {budget / 1e6:,.0f} MB of memory",
            advice=(
                "use fewer or shorter n-grams, a table of fixed size (text.hash_bits), no odds (text.weight), or set ",
                Setting("memory", ...),
            ),
        )


def opened(what: Any, target: Any, threads: int | None) -> Source:
    if isinstance(what, Source) and target is not None:
        raise second_target()
    source: Source = what if isinstance(what, Source) else read(what, target=target, threads=threads)
    if source.target is None:
        raise no_target(source)
    return source


def finish_store(
    store: TrainingRows, source: Source, known: list[Label], order: ClassOrder | None = None
) -> list[Label]:
    """Replace the labels of the rows by class numbers, and return the classes: the known ones and those of the rows.

    The known classes are those of a model. Without them, `order` says more about the classes.
    """
    met = [source.labels[number] for number in store.labels_met()]
    if not met:
        raise DataError("none of the rows has a label")
    old = KnownLabels(known)
    new = [label for label in met if old.number(label) is None]
    classes = continued(known, new) if known else (order or ClassOrder()).arrange(new)
    if len(classes) < 2:
        raise one_class(classes[0])
    number = KnownLabels(classes).number
    found = [number(known[i]) if (i := old.number(label)) is not None else number(label) for label in source.labels]
    store.finish(np.array([UNLABELLED if one is None else one for one in found], np.int32))
    return classes


def finish_store_of_sets(
    store: TrainingRows, source: Source, known: list[Label], order: ClassOrder | None = None
) -> tuple[list[Label], Sets]:
    """Finish a store whose rows have several labels. Return all labels, and which of them each label of the store
    stands for. New labels follow the known ones if there is an `order`."""
    met = [source.labels[number] for number in store.labels_met()]
    labels = [*dict.fromkeys(label for one in met for label in members_of(one))]
    number = KnownLabels(known).number
    new = [label for label in labels if number(label) is None] if known else labels
    classes = known if order is None else [*known, *order.arrange(new)]
    if not classes:
        raise DataError("none of the rows has a label")
    store.finish(np.arange(len(source.labels), dtype=np.int32))
    return classes, sets_of(source.labels, classes)


def finish_store_of_numbers(store: TrainingRows, source: Source) -> NDArray[np.float64]:
    """Finish a store whose labels are numbers, and return the number that each label of the store stands for."""
    if not len(store.labels_met()):
        raise DataError("none of the rows has a label")
    store.finish(np.arange(len(source.labels), dtype=np.int32))
    return numbers_of(source.labels, source.target)


def one_class(label: Label) -> DataError:
    """Return the error for examples that all have the same label."""
    return DataError(f"all examples have the label {label!r}; training needs at least two classes")


def size_of(draft: Any) -> int:
    """Return the number of bytes of the arrays in a draft."""
    if isinstance(draft, list | tuple):
        return sum(map(size_of, draft))
    if is_sparse(draft):
        return size_of([draft.indptr, draft.indices, draft.data])
    return int(getattr(draft, "nbytes", 0))
