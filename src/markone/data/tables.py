"""Tables: sources with named columns, from files or memory."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone.data import kinds
from markone.data.guesses import Guess, guess, plain_kind
from markone.data.labels import Labels, canonical, in_fixed_order, labels_in, plain
from markone.data.options import ALL, Options
from markone.data.sets import SET_KINDS, items_in
from markone.data.source import UNLABELLED, BadLines, Batch, Column, Label, Source, missing_column
from markone.errors import DataError, Setting, SettingsError, Words, did_you_mean

if TYPE_CHECKING:
    from markone.data.overview import Overview

SAMPLE_ROWS = 5000
BATCH_ROWS = 4096
PADDED = re.compile(r"[+-]?0[0-9]", re.ASCII)
FAULTS = {
    "numeric": "is not a finite number",
    "decimal-comma": "is not a finite number with a decimal comma",
    "boolean": "is neither true nor false",
}
SKIP_ADVICE = (Setting("skip_bad", True), " skips such rows")


@dataclass(frozen=True, slots=True)
class TableRows:
    """Some rows of a table, before their values are checked."""

    columns: Mapping[str, Any]
    """Arrow arrays by name."""
    size: int
    place: Callable[[int], str]
    """The place of a row, for a message."""
    bad: int = 0
    first_bad: Sequence[str] = ()
    """Messages about the first rows that could not be read and are left out."""
    kept: Mapping[str, Any] = field(default_factory=dict)
    """The columns to keep, unchanged: Arrow arrays, or lists of values."""
    lines: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """The line of each row in its chunk, if rows are lines."""


class Table(ABC):
    """Data with named columns."""

    name: str
    written: bool = False
    """Whether numbers are written as strings."""
    how: str = ""
    """A note about an unusual way of writing that was recognised, such as another separator."""

    def hint(self, sampled: Mapping[str, Any]) -> Words:
        """A possible reason why a column is not found, to append to an error."""
        return ""

    def header_hint(self, sampled: Mapping[str, Any]) -> Words:
        """A hint that the first row may not be a header; empty if it looks like one, or if there can be none."""
        return ""

    @abstractmethod
    def sample(self) -> dict[str, Any]:
        """The first rows, as Arrow arrays by name, in the table's order."""

    def names_to_keep(self, sampled: Mapping[str, Any]) -> list[str]:
        """The names of all columns as they are in the data, where several columns may be made from one."""
        return list(sampled)

    @abstractmethod
    def scan(self, wanted: Mapping[str, str], keep: Sequence[str] = ()) -> Iterator[TableRows]:
        """All rows, with the wanted columns, each with its kind, and the columns to keep."""


class TableSource(Source):
    """A table as a source, with columns for features, labels and importance."""

    def __init__(
        self,
        table: Table,
        options: Options,
        labels: Sequence[Any] | None = None,
        importance: NDArray[np.float64] | None = None,
        label_name: str = "label",
    ) -> None:
        """`labels`, which are called `label_name`, and `importance` replace columns of the table."""
        self.table = table
        self.labels_beside = labels
        self.label_name = label_name
        self.name = table.name
        self.options = options
        self.bad = BadLines()
        self.sampled = {name: kinds.without_nan(array) for name, array in table.sample().items()}
        self.check_names()
        self.target = options.target if labels is None else label_name
        self.importance = options.importance if importance is None else None
        self.given_importance = importance
        self.known_labels = Labels(self.target or "")
        self.labels = self.known_labels.values
        self.given_labels = None if labels is None else self.known_labels.numbers_of(labels)
        self.label_kind = self.guess_label_kind() if self.target is not None and labels is None else None
        if self.label_kind in SET_KINDS:
            self.labels.several = True
        self.reasons: dict[str, str] = {}
        """Why each column has its kind, or is ignored."""
        self.ignored: dict[str, str] = {}
        self.ids: list[str] = []
        """The columns that are ignored because they are ids."""
        self.columns = tuple(self.choose_columns())
        own_names = table.names_to_keep(self.sampled)
        self.keep = own_names if options.keep == ALL else chosen(options.keep, [*own_names, *self.sampled], table.name)
        if not self.columns:
            raise DataError(f"{table.name} has no column to make features from:\n{self}")

    # ---- what the columns are

    def check_names(self) -> None:
        names = list(self.sampled)
        for setting, name in [("target", self.options.target), ("importance", self.options.importance)]:
            if isinstance(name, str) and name not in names:
                there = f"must be a column of {self.table.name}, not {name!r}. It has {listed(names)}."
                guess = did_you_mean(name, names) or self.table.hint(self.sampled)
                raise SettingsError(setting, (there, guess), value=name)
        self.check_importance()
        for name in self.options.kinds:
            if name not in names:
                raise SettingsError(
                    "kinds", f"are for columns of {self.table.name}, not for {name!r}.{among(name, names)}"
                )
        for name, kind in self.options.kinds.items():
            if kind != "ignore" and not kinds.can_be(self.sampled[name].type, kind):
                raise DataError(
                    f"{self.table.name}: the column {name!r} holds {self.sampled[name].type}, which cannot be read as "
                    f"{kind}",
                    column=name,
                    advice=("leave it out with ", Setting("kinds", {name: "ignore"})),
                )

    def check_importance(self) -> None:
        name = self.options.importance
        if not isinstance(name, str):
            return
        if name == self.options.target:
            raise SettingsError("importance", f"must not be the target column, {name!r}")
        array = self.sampled[name]
        if array.null_count < len(array) and plain_kind(array, self.table.written) != "numeric":
            from markone.data.overview import Look

            raise DataError(f"the importance {name!r} must be a column of numbers: {Look.of(name, '', array).examples}")

    def choose_columns(self) -> Iterator[Column]:
        """The columns for features. A column of ids is only used if there is no other one."""
        guesses = {name: self.guess_of(name) for name in self.sampled if name not in (self.own_target, self.importance)}
        if all(one.kind is None for one in guesses.values()):
            guesses = {
                name: Guess(one.otherwise, f"{one.reason}; there is no other column") if one.otherwise else one
                for name, one in guesses.items()
            }
        for name, one in guesses.items():
            self.reasons[name] = one.reason
            if one.kind is None:
                self.ignored[name] = one.reason
                self.ids += [name] if one.otherwise is not None else []
            else:
                yield Column(name, one.kind)

    @property
    def own_target(self) -> str | None:
        """The column with the labels, if they are not given separately."""
        return self.target if self.given_labels is None else None

    def guess_of(self, name: str) -> Guess:
        said = self.options.kinds.get(name)
        if said is not None:
            return Guess(None if said == "ignore" else said, "as you said")  # type: ignore[arg-type]
        return guess(self.sampled[name], self.table.written, name)

    def guess_label_kind(self) -> str:
        """Guess the kind of the labels: numbers, booleans or, for any other column, texts."""
        assert self.target is not None
        array = self.sampled[self.target]
        said = self.options.kinds.get(self.target)
        if said in ("text", "ignore"):
            raise SettingsError(
                "kinds", f"say {said} for the target {self.target!r}, which must be categorical or numeric"
            )
        if said in SET_KINDS or kinds.is_list_of_labels(array.type):
            return said or "set"
        guessed = said or plain_kind(array, self.table.written)
        if guessed is None and array.null_count < len(array):
            raise DataError(
                f"the target {self.target!r} holds {array.type}; labels are texts, whole numbers or booleans, or lists "
                "of texts"
            )
        if said is None and guessed == "boolean" and kinds.is_words(array.type):
            words = {str(value).strip().lower() for value in array.drop_null().unique().to_pylist()}
            guessed = "boolean" if self.table.written and words <= {"true", "false"} else "categorical"
        if said is None and guessed == "numeric" and kinds.is_words(array.type):
            # A label such as 007 is not meant as a number, and would be predicted as 7.
            padded = any(PADDED.match(value.strip()) for value in array.drop_null().unique().to_pylist())
            guessed = "categorical" if padded else "numeric"
        kind = guessed if guessed in ("numeric", "boolean") else "categorical"
        trial = Labels(self.target)
        for value in kinds.decoded(array).unique().to_pylist():
            trial.number(as_label(value, kind))
        return kind

    @property
    def column_names(self) -> list[str]:
        return list(self.sampled)

    def header_hint(self) -> Words:
        return self.table.header_hint(self.sampled)

    def with_target(self, target: str, kind: str | None = None) -> Source:
        if target not in self.sampled:
            return super().with_target(target, kind)
        more = {} if kind is None else {target: kind}
        return self._twin(replace(self.options, target=target, kinds={**more, **self.options.kinds}))

    def with_columns(self, columns: tuple[Column, ...]) -> Source:
        """The same rows with only these columns, which are read as the given kinds, not as the guessed ones."""
        if set(columns) == set(self.columns):
            return self
        for column in columns:
            if column.name not in self.sampled:
                raise missing_column(column.name, self.name, list(self.sampled))
        wanted = {column.name: str(column.kind) for column in columns}
        others = {column.name: "ignore" for column in self.columns if column.name not in wanted}
        options = replace(self.options, kinds={**self.options.kinds, **others, **wanted})
        twin = self._twin(options)
        return super(TableSource, twin).with_columns(columns)

    def _twin(self, options: Options) -> TableSource:
        twin = TableSource(self.table, options, self.labels_beside, self.given_importance, self.label_name)
        twin.files, twin.reading = self.files, self.reading
        return twin

    # ---- what the rows are

    def batches(self) -> Iterator[Batch]:
        self.bad = BadLines()
        wanted = {column.name: str(column.kind) for column in self.columns}
        if self.label_kind is not None:
            assert self.target is not None
            # A category, so that a whole number of any length is not rounded.
            wanted[self.target] = self.label_kind if self.several else "categorical"
        if self.importance is not None:
            wanted[self.importance] = "numeric"
        start = 0
        for rows in self.table.scan(wanted, self.keep):
            self.bad.add_all(rows.bad, rows.first_bad)
            batch = self.batch_of(rows, start)
            start += rows.size
            if len(batch) > 0:
                yield batch
        if start == 0:
            raise DataError(f"{self.table.name} has no rows that can be read")

    def batch_of(self, rows: TableRows, start: int) -> Batch:
        good = np.ones(rows.size, bool)
        columns = {column.name: self.values_of(rows, column.name, column.kind, good) for column in self.columns}
        importance = None if self.given_importance is None else self.given_importance[start : start + rows.size]
        if self.importance is not None:
            importance = self.importance_of(rows, good)
        # Last, because only labels of good rows are numbered.
        labels = None if self.given_labels is None else self.given_labels[start : start + rows.size]
        if self.label_kind is not None:
            labels = self.labels_of(rows, good)
        if good.all():
            return Batch(columns, rows.size, labels, importance, dict(rows.kept))
        import pyarrow as pa

        which = pa.array(good)
        return Batch(
            {name: array.filter(which) for name, array in columns.items()},
            int(good.sum()),
            None if labels is None else labels[good],
            None if importance is None else importance[good],
            {name: only(values, good) for name, values in rows.kept.items()},
        )

    def values_of(self, rows: TableRows, name: str, kind: str, good: NDArray[np.bool_]) -> Any:
        """The values of a column; rows whose value is not of this kind are removed from the good ones."""
        values, wrong = kinds.as_kind(rows.columns[name], kind)
        if wrong is not None:
            fault = FAULTS.get(kind, f"is not of kind {kind}")
            other = "ignore" if kind in ("categorical", "text") else "categorical"
            advice: Words = ("; if the column is of another kind, set it, as in ", Setting("kinds", {name: other}))
            if name == self.importance:
                advice = ""
            self.strike(
                rows, good, wrong, lambda row: (f"{name!r} {fault}: {shown(rows.columns[name][row].as_py())}", advice)
            )
        return values

    def labels_of(self, rows: TableRows, good: NDArray[np.bool_]) -> NDArray[np.int32]:
        assert self.target is not None and self.label_kind is not None
        array = rows.columns[self.target]
        where, cells = each_once(kinds.decoded(array))
        if self.several and self.table.written:  # an empty cell of a file means that there is no label
            where, cells = np.where(where == UNLABELLED, len(cells), where), [*cells, ""]
        values, strange = [], []
        for i, value in enumerate(cells):
            try:
                values.append(as_label(value, self.label_kind))
            except ValueError:
                values.append(None)
                strange.append(i)
        if strange:
            self.strike(
                rows,
                good,
                np.isin(where, strange),
                lambda row: (
                    f"the label {shown(array[row].as_py())} is not {self.label_kind} like those before; if labels are "
                    "of several kinds, set ",
                    Setting("kinds", {self.target: "categorical"}),
                ),
            )
        if not good.all():
            kept = set(where[good].tolist())
            values = [value if i in kept else None for i, value in enumerate(values)]
        numbers = np.array([*map(self.known_labels.number, values), UNLABELLED], np.int32)
        labels: NDArray[np.int32] = numbers[where]
        return labels

    def importance_of(self, rows: TableRows, good: NDArray[np.bool_]) -> NDArray[np.float64]:
        assert self.importance is not None
        values = self.values_of(rows, self.importance, "numeric", good).to_numpy(zero_copy_only=False)
        wrong = ~(values >= 0) & good
        if wrong.any():
            self.strike(
                rows,
                good,
                wrong,
                lambda row: (
                    f"the importance {self.importance!r} is "
                    + ("missing" if np.isnan(values[row]) else f"negative: {values[row]:g}")
                ),
            )
        return np.asarray(values, np.float64)

    def strike(
        self, rows: TableRows, good: NDArray[np.bool_], wrong: NDArray[np.bool_], problem: Callable[[int], Words]
    ) -> None:
        for row in np.flatnonzero(wrong & good).tolist():
            error = DataError((f"{rows.place(row)}: ", problem(row)))
            if not self.options.skip_bad:
                error.advice = SKIP_ADVICE
                raise error
            self.bad.add(str(error))
            good[row] = False

    # ---- what a user sees

    def overview(self) -> Overview:
        from markone.data.overview import Look, Overview

        looks = [Look.of(column.name, column.kind, self.sampled[column.name]) for column in self.columns]
        if self.label_kind is not None and self.target is not None:
            looks.append(Look.of(self.target, "target", self.sampled[self.target]))
        if self.importance is not None:
            looks.append(Look.of(self.importance, "importance", self.sampled[self.importance]))
        looks += [Look.of(name, f"ignored: {why}", self.sampled[name]) for name, why in self.ignored.items()]
        rows = len(next(iter(self.sampled.values())))
        return Overview(f"{self.name}, {self.table.how}" if self.table.how else self.name, looks, rows)


def only(values: Any, which: NDArray[np.bool_]) -> Any:
    """Some of the values of an Arrow array or a list."""
    import pyarrow as pa

    return list(compress(values, which.tolist())) if isinstance(values, list) else values.filter(pa.array(which))


def each_once(array: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """The different values of an Arrow array, and the place of each row's value among them; -1 if it is missing."""
    import pyarrow as pa

    if not pa.types.is_nested(array.type):
        encoded = array.dictionary_encode()
        return encoded.indices.fill_null(UNLABELLED).to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()
    places: dict[Any, int] = {None: UNLABELLED}
    lists = [None if value is None else tuple(value) for value in array.to_pylist()]
    where = np.array([places.setdefault(value, len(places) - 1) for value in lists], np.int64)
    return where, [*places][1:]


def as_label(value: Any, kind: str) -> Label | None:
    """A label of this kind from a value of the target, or its labels if it is a set; a ValueError if it is not of this
    kind."""
    if kind in SET_KINDS:
        written = isinstance(value, str)
        return (
            in_fixed_order(items_in(value, kind))
            if written
            else labels_in(value if isinstance(value, tuple) else [value])
        )
    if isinstance(value, str) and kind == "numeric":
        number = canonical(value.strip())
        if kinds.number(number) is None:
            raise ValueError(value)
        return float(number) if any(c in number for c in ".en") else int(number)
    if isinstance(value, str) and kind == "boolean":
        truth = kinds.truth(value)
        if truth is None:
            raise ValueError(value)
        return truth
    label = plain(value)
    return label if label is None or kind != "categorical" else kinds.word(label)


def chosen(keep: Sequence[str] | str, names: list[str], where: str) -> list[str]:
    """The columns to keep, after a check that they exist."""
    if keep == ALL:
        return names
    for name in keep:
        if name not in names:
            raise SettingsError("keep", f"must name columns of {where}, not {name!r}.{among(name, names)}")
    return list(keep)


def among(name: str, names: Sequence[str]) -> str:
    """A guess at the intended name, or else a list of the names."""
    guess = did_you_mean(name, names)
    if guess:
        return guess
    return f" It has {listed(names)}"


def listed(names: Sequence[str], most: int = 20) -> str:
    return ", ".join(map(shown, names[:most])) + (" and others" if len(names) > most else "")


def shown(value: object) -> str:
    """A value for a message: quoted, on one line, cut if it is long."""
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
