"""Writes predictions as labels, CSV or JSON lines, one batch at a time."""

from __future__ import annotations

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone.data.kinds import word, written
from markone.data.source import Label
from markone.data.strings import Strings
from markone.errors import DataError, SettingsError
from markone.model.evaluation import of_each_class

if TYPE_CHECKING:
    from markone.model.model import Model

LogProbabilities = Callable[[NDArray[Any]], NDArray[np.float64]]
PREDICTION = "prediction"

# ---- formats


class Writer(ABC):
    """Formats predictions as lines."""

    def __init__(
        self, classes: Sequence[Label], *, several: bool, scores: bool, log_probabilities: LogProbabilities | None
    ) -> None:
        self.classes = classes
        self.several = several
        self.scores = scores
        self.log_probabilities = log_probabilities

    @abstractmethod
    def lines(self, kept: Mapping[str, Any], winners: NDArray[np.int64], scores: NDArray[np.float32]) -> bytes:
        """Format a batch: the columns to copy, the numbers of the predicted classes, and the scores."""

    def numbers(self, scores: NDArray[np.float32]) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield the groups of numbers that the user asked for, with a column of digits for each class."""
        if self.scores:
            yield "score", in_digits(scores if self.several else of_each_class(scores))
        if self.log_probabilities is not None:
            yield "probability", in_digits(np.exp(self.log_probabilities(scores)).astype(np.float32))

    def predictions(self, labels: NDArray[Any], winners: NDArray[Any], scores: NDArray[np.float32]) -> list[Any]:
        """Return the labels of a batch as they are written or, for a regression, the numbers."""
        if self.several:
            return [self.together(labels[: len(row)][row].tolist()) for row in winners]
        return labels[winners].tolist() if self.classes else in_digits(scores)[0]

    def together(self, labels: list[str]) -> str:
        """Return several labels of a row in one cell, which is read as a set."""
        if any(sign in written(label) for label in self.classes for sign in ";|"):
            return in_json(labels)
        return ";".join(labels)


class LabelWriter(Writer):
    """One label per line."""

    def __init__(self, classes: Sequence[Label], **more: Any) -> None:
        super().__init__(classes, **more)
        for label in classes:
            if any(end in written(label) for end in "\r\n"):
                raise SettingsError(
                    "output", f"must be csv or jsonl for this model, because its label {label!r} has more than one line"
                )
        self.written = as_objects([*map(written, classes), ""])  # the last is at ABSTAINED
        self.encoded = as_objects([f"{label}\n".encode() for label in self.written])

    def lines(self, kept: Mapping[str, Any], winners: NDArray[np.int64], scores: NDArray[np.float32]) -> bytes:
        if self.several or not self.classes:
            return "".join(f"{one}\n" for one in self.predictions(self.written, winners, scores)).encode()
        return b"".join(self.encoded[winners].tolist())


class CsvWriter(Writer):
    """A header, then rows."""

    def __init__(self, classes: Sequence[Label], **more: Any) -> None:
        super().__init__(classes, **more)
        self.written = [written(label) for label in classes]
        self.predicted = as_objects([*self.written, ""])  # the last is at ABSTAINED
        self.begun = False

    def lines(self, kept: Mapping[str, Any], winners: NDArray[np.int64], scores: NDArray[np.float32]) -> bytes:
        columns = {name: list(map(in_csv, values_of(values))) for name, values in kept.items()}
        columns[free_name(PREDICTION, kept)] = self.predictions(self.predicted, winners, scores)
        for group, digits in self.numbers(scores):
            for label, column in zip(self.written, digits, strict=True):
                columns[free_name(f"{group}:{label}", columns)] = column
        buffer = io.StringIO(newline="")
        if not self.begun:
            csv_writer(buffer, [columns]).writerow(columns)
            self.begun = True
        csv_writer(buffer, columns.values()).writerows(zip(*columns.values(), strict=True))
        return buffer.getvalue().encode("utf-8", "surrogateescape")


def csv_writer(buffer: io.StringIO, columns: Iterable[Iterable[str]]) -> Any:
    """Return a writer that quotes all fields if any contains \\r, which Python would not quote."""
    has_returns = any("\r" in field for column in columns for field in column)
    return csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL)


class JsonWriter(Writer):
    """One JSON object per line."""

    def __init__(self, classes: Sequence[Label], **more: Any) -> None:
        super().__init__(classes, **more)
        self.encoded = as_objects([*map(in_json, classes), in_json(None)])  # the last is at ABSTAINED

    def together(self, labels: list[str]) -> str:
        return f"[{', '.join(labels)}]"

    def lines(self, kept: Mapping[str, Any], winners: NDArray[np.int64], scores: NDArray[np.float32]) -> bytes:
        columns = [list(map(in_json, values_of(values))) for values in kept.values()]
        columns.append(self.predictions(self.encoded, winners, scores))
        names = [*kept, free_name(PREDICTION, kept)]
        fields = [template(name) for name in names]
        for group, digits in self.numbers(scores):
            names.append(free_name(group_name(group), names))
            fields.append(template(names[-1], "{" + ", ".join(template(written(c)) for c in self.classes) + "}"))
            columns += [[INFINITE.get(number, number) for number in column] for column in digits]
        line = "{" + ", ".join(fields) + "}\n"
        return "".join(map(line.__mod__, zip(*columns, strict=True))).encode()


INFINITE = {"inf": '"inf"', "-inf": '"-inf"'}
"""JSON has no infinite numbers, so they are written as texts."""
WRITERS: dict[str, type[Writer]] = {"labels": LabelWriter, "csv": CsvWriter, "jsonl": JsonWriter}


def make_writer(form: str, model: Model, *, scores: bool, probabilities: bool) -> Writer:
    return WRITERS[form](
        model.classes,
        several=model.several is not None,
        scores=scores,
        log_probabilities=model.log_probabilities if probabilities else None,
    )


def group_name(group: str) -> str:
    return {"score": "scores", "probability": "probabilities"}[group]


def template(name: str, value: str = "%s") -> str:
    """Return a field of an object, with a placeholder for the value."""
    return f"{in_json(name).replace('%', '%%')}: {value}"


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with underscores added until no column has it."""
    while name in taken:
        name += "_"
    return name


def table_lines(form: str, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Format a table as CSV with a header, or as JSON lines."""
    if form == "jsonl":
        return "".join(f"{in_json({name: row[name] for name in names})}\n" for row in rows).encode()
    columns = [[name, *(in_csv(row[name]) for row in rows)] for name in names]
    buffer = io.StringIO(newline="")
    csv_writer(buffer, columns).writerows(zip(*columns, strict=True))
    return buffer.getvalue().encode("utf-8", "surrogateescape")


# ---- values


def as_objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def values_of(column: Any) -> list[Any]:
    """Return a copied column as a list of Python values. Texts may contain bytes that are not UTF-8."""
    if isinstance(column, list):
        return column
    if isinstance(column, Strings):
        return column.tolist("surrogateescape")
    values: list[Any] = column.to_pylist()
    return values


def in_csv(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return in_json(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return word(value) or ""


def in_json(value: Any) -> str:
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return json.dumps(value, ensure_ascii=False, default=as_text, allow_nan=False)


def as_text(value: Any) -> str:
    """Return a value that JSON does not support as a text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def in_digits(matrix: NDArray[Any]) -> list[list[str]]:
    """Return the columns of a matrix as the shortest digits that give the same numbers when they are read.

    Sums of logarithms, which have double precision, may be infinite; sums of weights may not.
    """
    if np.isnan(matrix).any() or (matrix.dtype == np.float32 and np.isinf(matrix).any()):
        raise DataError("a score overflowed; the model was trained on features with too large values")
    return [column.astype(str).tolist() for column in matrix.T]
