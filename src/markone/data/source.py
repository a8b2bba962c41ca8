"""Sources: examples that can be read again and again, some thousand at a time, whatever they are kept in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief, one_line
from markone.data.overview import Look, overview
from markone.errors import DataError, Setting, did_you_mean

if TYPE_CHECKING:
    from markone.data.files import File

Kind = Literal["numeric", "boolean", "categorical", "text", "image", "rows"]
"""What a column holds. `rows` are features already: numbers in a matrix, each with a name of its own."""

Label = Hashable
UNLABELLED = -1
BAD_LINES_SHOWN = 5
NAMES_SHOWN = 20


@dataclass(frozen=True, slots=True, repr=False)
class Column(Brief):
    """A column that features can be made of."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True, repr=False)
class Batch(Brief):
    """Some examples, column by column.

    A column of kind numeric, boolean, categorical or text is an Arrow array in which null is a missing value: of
    float64 (never NaN nor infinity), bool, string or large_string, and for texts also binary or large_binary. The texts
    of lines, which may be no UTF-8, are `Strings`. A column of images is an array of bytes (examples × height × width).
    A column of rows is a `GivenRows`.
    """

    columns: dict[str, Any]
    size: int
    labels: NDArray[np.int32] | None = None
    """The numbers of the labels in the source's `labels`; `UNLABELLED` where an example has none."""
    importance: NDArray[np.float64] | None = None
    kept: dict[str, Any] = field(default_factory=dict)
    """Columns that were to be kept, as they are in the file: Arrow arrays, `Strings`, or lists of values of JSON."""

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True, slots=True, repr=False)
class GivenRows(Brief):
    """Rows that come with features: a dense array or a CSR matrix, and the names of its columns."""

    matrix: Any
    names: Names


class Names(ABC):
    """Names of columns, all different, that may grow in number while a source is read, but never change."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def since(self, start: int) -> list[str]:
        """The names from number `start` on."""


@dataclass(slots=True, repr=False)
class BadLines(Brief):
    """Lines that could not be read and were passed over."""

    count: int = 0
    first: list[str] = field(default_factory=list)
    """Sentences about the first few: file, line and what is wrong."""

    def add(self, sentence: str) -> None:
        self.add_all(1, [sentence])

    def add_all(self, count: int, first: Iterable[str]) -> None:
        """Some more, with sentences about the first of them."""
        self.count += count
        self.first += list(first)[: BAD_LINES_SHOWN - len(self.first)]


def missing_column(name: str, where: str, names: list[str]) -> DataError:
    """The error for a column that a model needs and that is not among those that there are."""
    return DataError(
        f"the model needs the column {name!r}, and {where} has {some_of(names)}.{did_you_mean(name, names)}"
    )


def missing_labels(target: str, where: str, names: list[str]) -> DataError:
    """The error for labels that a model is to be measured by, and that are not among the columns that there are."""
    return DataError(
        (
            f"the labels are missing: the model predicts {target!r}, and {where} has {some_of(names)}. Say which "
            "column has the labels, or give them: ",
            Setting("target", ...),
            did_you_mean(target, names),
        ),
        column=target,
    )


def no_target() -> DataError:
    """The error for examples to learn from of which nobody said what is to be predicted."""
    return DataError("there is nothing to predict", advice=("say which column is the target: ", Setting("target", ...)))


def some_of(names: list[str]) -> str:
    return ", ".join(names[:NAMES_SHOWN]) + (" and others" if len(names) > NAMES_SHOWN else "")


class Source(ABC):
    """Examples with columns of known kinds and, where they are labelled, labels."""

    name: str = "the data"
    """What people see it is."""
    columns: tuple[Column, ...]
    """What features can be made of; target and importance are not among them."""
    target: str | None
    """The name of what is to be predicted; None where the examples have no labels."""
    labels: list[Label]
    """The labels met so far, by number. It grows while the source is read and never changes else."""
    bad: BadLines
    """The lines that the last reading passed over."""
    reading: Mapping[str, Any] = MappingProxyType({})
    """What `markone.read` must be told to read another file in the same format, as JSON has it."""
    files: Sequence[File] = ()
    """What it is read from, where that is files."""

    @property
    def progress(self) -> float | None:
        """How much of its files the present reading has read, from 0 to 1; None where their sizes are not known."""
        try:
            sizes = [file.size for file in self.files]
        except OSError:
            return None
        if not sizes or None in sizes:
            return None
        whole = sum(size for size in sizes if size is not None)
        return sum(file.place for file in self.files) / whole if whole else None

    @property
    def column_names(self) -> list[str]:
        """All columns that there are, be they used or not."""
        return [column.name for column in self.columns]

    def with_target(self, target: str, kind: str | None = None) -> Source:
        """The same examples, which have no labels yet, with those of a column; its kind, where it is not guessed."""
        raise missing_labels(target, self.name, self.column_names)

    def with_columns(self, columns: tuple[Column, ...]) -> Source:
        """The same examples, with these columns among theirs; an error where that cannot be."""
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
        """All examples from the first; can be called again."""

    def __str__(self) -> str:
        """The columns and their kinds, as a small table."""
        looks = [Look(column.name, column.kind) for column in self.columns]
        if self.target is not None:
            looks.append(Look(self.target, "target"))
        return overview(self.name, looks)

    def __repr__(self) -> str:
        names = ", ".join(f"{column.name} ({column.kind})" for column in self.columns)
        target = "no target" if self.target is None else f"target {self.target}"
        return one_line(f"<Source: {self.name}, {target}, columns {names}>")
