"""Sources: examples from files or memory, which can be read repeatedly, some thousand at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief, one_line
from markone.data.amounts import NumberKind
from markone.data.dates import DateKind
from markone.data.sets import SetKind
from markone.errors import DataError, Setting, Words, did_you_mean

if TYPE_CHECKING:
    from markone.data.files import File
    from markone.data.overview import Overview

Kind = Literal["numeric", "boolean", "categorical", "text", "image", "rows"] | NumberKind | DateKind | SetKind
"""The kind of a column. A column of kind `rows` contains features already: a matrix whose columns have names."""
KINDS: tuple[str, ...] = tuple(kind for group in get_args(Kind) for kind in get_args(group) or (group,))

Label = Hashable
UNLABELLED = -1
BAD_LINES_SHOWN = 5
NAMES_SHOWN = 20
NAMES_OF_TARGETS = frozenset({"label", "labels", "target", "class", "category", "outcome", "sentiment", "y"})
"""What people call a column with labels, in lower case."""


@dataclass(frozen=True, slots=True, repr=False)
class Column(Brief):
    """A column from which features can be made."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True, repr=False)
class Batch(Brief):
    """Some examples, column by column.

    A column of kind numeric, boolean, categorical or text is an Arrow array in which null is a missing value: of
    float64 (never NaN nor infinity), bool, string or large_string, and for texts also binary or large_binary. A column
    of dates is one of timestamp[us], and one of sets of list<string>. The texts of lines, which may be no UTF-8, are
    `Strings`. A column of images is an array of bytes (examples × height × width). A column of rows is a `GivenRows`.
    """

    columns: dict[str, Any]
    size: int
    labels: NDArray[np.int32] | None = None
    """The numbers of the labels in the source's `labels`; `UNLABELLED` for an example without a label."""
    importance: NDArray[np.float64] | None = None
    kept: dict[str, Any] = field(default_factory=dict)
    """The columns to keep, unchanged: Arrow arrays, `Strings`, or lists of JSON values."""

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True, slots=True, repr=False)
class GivenRows(Brief):
    """Rows that already have features: a dense array or a CSR matrix, and the names of its columns."""

    matrix: Any
    names: Names


class Names(ABC):
    """Different names of columns. More may be added while a source is read, but they never change."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def since(self, start: int) -> list[str]:
        """The names from number `start` on."""


@dataclass(slots=True, repr=False)
class BadLines(Brief):
    """Lines that could not be read and were skipped."""

    count: int = 0
    first: list[str] = field(default_factory=list)
    """Messages about the first few: file, line and problem."""

    def add(self, sentence: str) -> None:
        self.add_all(1, [sentence])

    def add_all(self, count: int, first: Iterable[str]) -> None:
        """Count more lines, with messages about the first of them."""
        self.count += count
        self.first += list(first)[: BAD_LINES_SHOWN - len(self.first)]


def missing_column(name: str, where: str, names: list[str]) -> DataError:
    """The error for a column that a model needs and the data do not have."""
    return DataError(
        f"the model needs the column {name!r}, and {where} has {some_of(names)}.{did_you_mean(name, names)}"
    )


def missing_labels(target: str, where: str, names: list[str]) -> DataError:
    """The error for an evaluation if the data do not have the column with the labels."""
    return DataError(
        (
            f"the labels are missing: the model predicts {target!r}, and {where} has {some_of(names)}. Name the "
            "column with the labels, or give the labels: ",
            Setting("target", ...),
            did_you_mean(target, names),
        ),
        column=target,
    )


def no_target(source: Source | None = None) -> DataError:
    """The error for training examples without a target."""
    names = [] if source is None else source.column_names
    which = "" if source is None else f": the columns of {source.name} are {some_of(names)}"
    texts = () if source is None else [column.name for column in source.columns if column.kind == "text"]
    likely = likely_target(names, texts)
    if source is not None and (hint := source.header_hint()):
        return DataError(f"there is nothing to predict: no column of {source.name} has been named", advice=hint)
    if likely is None:
        advice = ("name the column with the labels: ", Setting("target", ...))
    else:
        advice = ("name the column with the labels, for example ", Setting("target", likely))
    return DataError(f"there is nothing to predict{which}", advice=advice)


def likely_target(names: list[str], texts: Collection[str] = ()) -> str | None:
    """Return the column that most likely holds the labels: one that is called so, or else the last of several, which is
    not a text if another one is there.

    >>> likely_target(["id", "Label", "text"]), likely_target(["tenure", "churn"]), likely_target(["text"])
    ('Label', 'churn', None)
    >>> likely_target(["guest", "review"], texts=["review"])
    'guest'
    """
    called = next((name for name in names if name.strip().lower() in NAMES_OF_TARGETS), None)
    others = [name for name in names if name not in texts] or names
    return called or (others[-1] if len(names) > 1 else None)


def some_of(names: list[str]) -> str:
    return ", ".join(names[:NAMES_SHOWN]) + (" and others" if len(names) > NAMES_SHOWN else "") or "no columns"


class Source(ABC):
    """Examples with columns of known kinds and, possibly, labels."""

    name: str = "the data"
    """A short description for users."""
    columns: tuple[Column, ...]
    """The columns for features, without the target and the importance."""
    target: str | None
    """The name of the target; None if the examples have no labels."""
    labels: list[Label]
    """The labels so far, by number. New labels are added while the source is read, and none ever changes."""
    bad: BadLines
    """The lines that the last reading skipped."""
    reading: Mapping[str, Any] = MappingProxyType({})
    """The options of `markone.read` for another file in the same format, as values of JSON."""
    files: Sequence[File] = ()
    """The files that it is read from, if any."""

    @property
    def progress(self) -> float | None:
        """The share of its files that the current reading has read, from 0 to 1; None if their sizes are unknown."""
        try:
            sizes = [file.size for file in self.files]
        except OSError:
            return None
        if not sizes or None in sizes:
            return None
        whole = sum(size for size in sizes if size is not None)
        return sum(file.place for file in self.files) / whole if whole else None

    @property
    def several(self) -> bool:
        """Whether a row can have several labels. The entries of `labels` are then tuples."""
        return getattr(self.labels, "several", False)

    @property
    def column_names(self) -> list[str]:
        """All columns, whether they are used or not."""
        return [column.name for column in self.columns]

    def header_hint(self) -> Words:
        """A hint that the names of the columns may be an example; empty if they look like names."""
        return ""

    def with_target(self, target: str, kind: str | None = None) -> Source:
        """The same examples with the labels of a column, which are of `kind` or, if it is None, of a guessed kind."""
        raise missing_labels(target, self.name, self.column_names)

    def with_columns(self, columns: tuple[Column, ...]) -> Source:
        """The same examples, with these columns; an error if that is impossible."""
        mine = {column.name: column.kind for column in self.columns}
        for column in columns:
            if column.name not in mine:
                raise missing_column(column.name, self.name, list(mine))
            if mine[column.name] != column.kind:
                raise DataError(
                    f"the column {column.name!r} of {self.name} is {mine[column.name]}, and to the model it is "
                    f"{column.kind}"
                )
        return self

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """All examples, from the first one; can be called repeatedly."""

    def overview(self) -> Overview:
        """The columns and their kinds."""
        from markone.data.overview import Look, Overview

        looks = [Look(column.name, column.kind) for column in self.columns]
        if self.target is not None:
            looks.append(Look(self.target, "target"))
        return Overview(self.name, looks)

    def __str__(self) -> str:
        """The columns and their kinds, as a small table."""
        return str(self.overview())

    def _repr_html_(self) -> str:
        from markone.reporting.shown import fragment_of

        return fragment_of(self.overview().parts())

    def __repr__(self) -> str:
        names = ", ".join(f"{column.name} ({column.kind})" for column in self.columns)
        target = "no target" if self.target is None else f"target {self.target}"
        return one_line(f"<Source: {self.name}, {target}, columns {names}>")
