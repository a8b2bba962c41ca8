"""Weights that a person gives by the names of the features, in Python or in a file."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data.class_order import listed
from markone.data.labels import KnownLabels
from markone.data.source import Label
from markone.errors import DataError, LimitError, SettingsError, did_you_mean
from markone.features.map import BIAS
from markone.reporting.grids import counted

LARGEST_FILE = 2**26
"""The most bytes that a file of weights may have."""
MOST_WEIGHTS = 2**26
MOST_GUESSED = 10_000
"""With more features, an error message suggests none of them."""
LARGEST_WEIGHT = float(np.finfo(np.float32).max)
FEATURE, WEIGHT = "feature", "weight"
"""The heads of the columns in a CSV file of weights for two classes."""

WeightsByName = Mapping[str, float] | Mapping[Any, Mapping[str, float]]
"""The weight of each feature for the second of two classes, or the weights for each class."""


@dataclass(frozen=True, slots=True, repr=False)
class GivenWeights(Brief):
    """Weights by class and feature. `BIAS` is the bias."""

    setting: str
    """The name of the argument, for messages."""
    tables: dict[Label | None, dict[str, float]]
    """The weights of each class; with None instead of a class, those of the second of two."""

    @classmethod
    def of(cls, setting: str, given: Any) -> GivenWeights:
        """Check given weights, or read them from a JSON, TOML, CSV or TSV file."""
        if isinstance(given, str | os.PathLike):
            given = read_tables(os.fspath(given))
        if not isinstance(given, Mapping):
            raise SettingsError(setting, f"must be weights by the names of features, or a file, not {given!r:.80}")
        if not given:
            raise SettingsError(setting, f"{have(setting)} no weights; give at least one")
        nested = [isinstance(one, Mapping) for one in given.values()]
        if any(nested) and not all(nested):
            name = next(name for name, one in given.items() if not isinstance(one, Mapping))
            raise SettingsError(
                setting,
                f"{have(setting)} weights by class, but {name!r} is a number; give all weights by class, or none",
            )
        tables = dict(given) if any(nested) else {None: given}
        return cls(setting, {label: checked_table(setting, table) for label, table in tables.items()})

    @property
    def classes(self) -> list[Label]:
        """The classes that it names; empty if the weights are those of the second of two classes."""
        return [label for label in self.tables if label is not None]

    @property
    def features(self) -> list[str]:
        """All features that it names, without the bias."""
        return list(dict.fromkeys(name for table in self.tables.values() for name in table if name != BIAS))

    def arrays(
        self, names: Sequence[str], classes: Sequence[Label], *, bias: bool
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the weights, features × columns, and the bias, for features with these names.

        Two classes share one column, that of the second. Weights of the first are subtracted there, because only the
        difference of the two scores matters.
        """
        columns = 1 if len(classes) == 2 else len(classes)
        if len(names) * columns > MOST_WEIGHTS:
            raise LimitError(
                f"{len(names):,} features and {len(classes):,} classes need more than {MOST_WEIGHTS:,} weights"
            )
        matrix, biases = np.zeros((len(names), columns)), np.zeros(columns)
        for label, table in self.tables.items():
            column, sign = self._column(label, classes)
            if bias:
                biases[column] += sign * table.get(BIAS, 0.0)
            own = {name: weight for name, weight in table.items() if not (bias and name == BIAS)}
            features, weights = placed(self.setting, own, names)
            matrix[features, column] += sign * weights
        largest = max(abs(matrix).max(initial=0), abs(biases).max(initial=0))
        if largest > LARGEST_WEIGHT:
            raise SettingsError(
                self.setting, f"{have(self.setting)} the weight {largest:g}, which is too large for a 32-bit float"
            )
        return matrix.astype(np.float32), biases.astype(np.float32)

    def digest(self) -> str:
        """Return a digest of all weights, which is the same for the same weights."""
        import hashlib

        facts = [[str(label), sorted(table.items())] for label, table in self.tables.items()]
        return hashlib.sha256(json.dumps(sorted(facts)).encode("utf-8", "surrogatepass")).hexdigest()

    def _column(self, label: Label | None, classes: Sequence[Label]) -> tuple[int, int]:
        """Return the column of a class, and the sign of its weights there."""
        if label is None and len(classes) != 2:
            raise SettingsError(
                self.setting,
                f"{have(self.setting)} weights without a class, but there are {len(classes)}; give them for each class",
            )
        number = 1 if label is None else KnownLabels(classes).number(label)
        if number is None:
            guess = did_you_mean(str(label), map(str, classes))
            raise SettingsError(
                self.setting,
                f"{have(self.setting)} weights for {label!r}, which is not a class; the classes are "
                f"{listed(classes)}.{guess}",
            )
        return (0, 1 if number == 1 else -1) if len(classes) == 2 else (number, 1)


def have(setting: str) -> str:
    """Return the verb for the name of an argument.

    >>> have("weights"), have("start")
    ('have', 'has')
    """
    return "have" if setting.endswith("s") else "has"


def checked_table(setting: str, table: Mapping[Any, Any]) -> dict[str, float]:
    """Check the names and numbers of one class."""
    found: dict[str, float] = {}
    for name, value in table.items():
        if not isinstance(name, str) or not name:
            raise SettingsError(setting, f"must have the names of features, not {name!r:.80}")
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SettingsError(setting, f"{have(setting)} {value!r:.80} for {name!r:.80}, which is not a number")
        if isinstance(value, int) and abs(value) > LARGEST_WEIGHT:
            raise SettingsError(
                setting, f"{have(setting)} a number for {name!r:.80} that is too large for a 32-bit float"
            )
        if not math.isfinite(value):
            raise SettingsError(setting, f"{have(setting)} {value} for {name!r:.80}; every number must be finite")
        found[name] = float(value)
    return found


def placed(
    setting: str, table: Mapping[str, float], names: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the features that a table names, among features with these names, and their numbers.

    Words of texts are usually in lower case, so a name that does not occur is looked up in lower case.
    """
    place = {name: i for i, name in enumerate(names)}
    found: dict[int, str] = {}
    for name in table:
        feature = place.get(name, place.get(name.lower()))
        if feature is None and name == BIAS:
            raise SettingsError(setting, f"{have(setting)} a number for {BIAS}, but there is no bias; leave it out")
        if feature is None:
            guess = did_you_mean(name, names if len(names) <= MOST_GUESSED else ())
            raise SettingsError(setting, f"{have(setting)} a number for {name!r}, but there is no such feature.{guess}")
        if (other := found.setdefault(feature, name)) != name:
            raise SettingsError(setting, f"{have(setting)} {other!r} and {name!r}, which are the same feature")
    return np.array([*found], np.int64), np.array([*table.values()], np.float64)


# ---- files


def read_tables(path: str) -> Any:
    """Read numbers by name from a JSON, TOML, CSV or TSV file. The numbers are not checked yet."""
    readers = {".json": from_json, ".toml": from_toml, ".csv": from_csv, ".tsv": from_csv}
    ending = os.path.splitext(path)[1].lower()
    if ending not in readers:
        *others, last = readers
        known = f"{', '.join(others)} or {last}"
        raise DataError(f"the file of weights {path} must end in {known}", file=path)
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise DataError(f"cannot read the file of weights {path}: {error.strerror}", file=path) from None
    if len(data) > LARGEST_FILE:
        raise LimitError(f"the file of weights {path} has more than {LARGEST_FILE:,} bytes", file=path)
    try:
        return readers[ending](data.decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise DataError(f"the file of weights {path} is not UTF-8: {error.reason}", file=path) from None
    except RecursionError:
        raise DataError(f"the file of weights {path} is nested too deeply", file=path) from None


def from_json(text: str, path: str) -> Any:
    def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
            raise DataError(f"{path} has two values for {twice!r:.80}", file=path)
        return found

    try:
        return json.loads(text, object_pairs_hook=without_repeats)
    except json.JSONDecodeError as error:
        raise DataError(f"this is not JSON: {error.msg}", file=path, line=error.lineno) from None
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} has a number with too many digits", file=path) from None


def from_toml(text: str, path: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path} is not TOML: {error}", file=path) from None
    except ValueError:
        raise DataError(f"{path} has a number with too many digits", file=path) from None


def from_csv(text: str, path: str) -> Any:
    """Read rows of a feature and its weight, or of a feature and its weight for each class, which the first row names.

    An empty field is a weight of 0. Spaces around names and numbers are ignored.
    """
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if path.lower().endswith(".tsv") else ",")
    names: set[str] = set()
    tables: dict[str, dict[str, float]] = {}
    try:
        heads = [head.strip() for head in next(rows, [])]
        if len(heads) < 2 or heads[0].lower() != FEATURE or not all(heads) or len({*heads}) < len(heads):
            raise DataError(
                f"the first row must be '{FEATURE},{WEIGHT}', or '{FEATURE}' and the names of the classes",
                file=path,
                line=1,
            )
        tables = {head: {} for head in heads[1:]}
        for row in rows:
            if not row:
                continue
            if len(row) != len(heads):
                found = f"there {'is' if len(row) == 1 else 'are'} {counted(len(row), 'field')}"
                raise DataError(f"{found} instead of {len(heads)}", file=path, line=rows.line_num)
            name = row[0].strip()
            if name in names:
                raise DataError(f"{name!r:.80} occurs twice", file=path, line=rows.line_num)
            names.add(name)
            for head, field in zip(heads[1:], row[1:], strict=True):
                if field.strip():
                    tables[head][name] = number_in(field, path, rows.line_num)
    except csv.Error as error:
        raise DataError(f"this is not a table: {error}", file=path, line=rows.line_num) from None
    return tables[heads[1]] if [head.lower() for head in heads[1:]] == [WEIGHT] else tables


def number_in(field: str, path: str, line: int) -> float:
    try:
        if "_" in field:  # float() reads 1_000 as 1000
            raise ValueError
        return float(field)
    except ValueError:
        raise DataError(f"{field!r:.80} is not a number", file=path, line=line) from None
