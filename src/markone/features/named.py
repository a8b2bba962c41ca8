"""Feature maps that are made from the names of features, without training data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from markone.data.source import KINDS, Batch, Column, Kind, Source
from markone.errors import DataError, SettingsError, did_you_mean
from markone.features.examples import rows_of
from markone.features.map import FeatureMap
from markone.features.spec import Features

ROWS_COLUMN = "features"
"""The name of the column of given rows, as in LIBSVM files and arrays."""
TEXT_COLUMN = "text"
WITHOUT_DATA: tuple[Kind, ...] = ("text", "numeric", "boolean", "categorical", "rows")
"""The kinds of columns whose features are known by their names alone. Images are not: their sizes are unknown."""
Kinds = Mapping[str, Kind] | Kind


def map_of_names(names: Sequence[str], kinds: Kinds, features: Any = None) -> FeatureMap:
    """Return a feature map that has exactly these features, apart from features that its columns always have.

    By default it has counts of words, and numbers that are not scaled. `kinds` are the kinds of the columns. The kind
    "text" means one column of texts, "rows" one of given features, and any other kind that each name is a column.
    """
    columns = columns_of(names, kinds)
    spec = Features.of(features, countable=True)
    if spec.text.min_count is None:  # the default would leave out names that occur only once
        spec = replace(spec, text=replace(spec.text, min_count=1))
    check_needs_no_data(spec, columns)
    found = FeatureMap(spec, columns)
    found.fit(NamedExamples(columns, names))
    wanted = {*names, *(name.lower() for name in names)}
    found.prune(np.array([name in wanted for name in found.names()], np.bool_))
    return found


def columns_of(names: Sequence[str], kinds: Any) -> tuple[Column, ...]:
    if isinstance(kinds, str):
        one = {"text": TEXT_COLUMN, "rows": ROWS_COLUMN}.get(kinds)
        pairs: dict[str, Any] = {one: kinds} if one is not None else dict.fromkeys(names, kinds)
    elif isinstance(kinds, Mapping):
        pairs = dict(kinds)
    else:
        raise SettingsError("kinds", f"must be a kind, or the kinds of columns by name, not {kinds!r:.80}")
    for name, kind in pairs.items():
        if not isinstance(name, str) or kind not in WITHOUT_DATA:
            choices = ", ".join(map(repr, WITHOUT_DATA))
            why = f" The features of the kind {kind} are not known without data." if kind in KINDS else ""
            guess = did_you_mean(str(kind), WITHOUT_DATA)
            raise SettingsError("kinds", f"must be one of {choices} for {name!r}, not {kind!r}.{why}{guess}")
    if not pairs:
        raise SettingsError("kinds", "must name at least one column")
    return tuple(Column(name, kind) for name, kind in pairs.items())


def check_needs_no_data(spec: Features, columns: tuple[Column, ...]) -> None:
    """Raise an error for features that are computed from training data."""
    for setting in ("conjunctions", "functions"):
        if getattr(spec, setting):
            raise SettingsError(f"features.{setting}", "make features from data, but there are none; leave them out")
    for column in columns:
        how = spec.for_column(column)
        if column.kind == "text" and how.weight != "none":
            raise SettingsError(
                "features.text.weight", f"is {how.weight!r}, which is computed from training data; set it to 'none'"
            )
        if column.kind in ("numeric", "rows") and how.scale != "none":
            group = "rows" if column.kind == "rows" else "numeric"
            raise SettingsError(
                f"features.{group}.scale", f"is {how.scale!r}, which is computed from training data; set it to 'none'"
            )


class NamedExamples(Source):
    """Examples that together have all features with given names: a text for each word, a row for each category."""

    def __init__(self, columns: tuple[Column, ...], names: Sequence[str]) -> None:
        self.name = "the names of the features"
        self.columns = columns
        self.target, self.labels = None, []
        self._names = names

    def batches(self) -> Iterator[Batch]:
        import pyarrow as pa

        found: dict[str, list[Any]] = {}
        for column in self.columns:
            prefix = "" if len(self.columns) == 1 else f"{column.name}:"
            if column.kind == "text":
                found[column.name] = [text_of(name[len(prefix) :]) for name in self._names if name.startswith(prefix)]
            elif column.kind == "categorical":
                start = f"{column.name}="
                found[column.name] = [name[len(start) :] for name in self._names if name.startswith(start)]
            elif column.kind != "rows":
                found[column.name] = [0.0 if column.kind == "numeric" else False]
            if f"{column.name} is missing" in self._names and column.kind not in ("text", "rows"):
                found[column.name].append(None)
        size = max((len(values) for values in found.values()), default=1) or 1
        types = {"text": pa.string(), "categorical": pa.string(), "numeric": pa.float64(), "boolean": pa.bool_()}
        batch: dict[str, Any] = {}
        for column in self.columns:
            if column.kind == "rows":
                batch[column.name] = rows_of([dict.fromkeys(self._names, 1.0)] * size)
                continue
            values = found[column.name]
            filler = "" if column.kind == "text" else values[0] if values else None
            try:
                batch[column.name] = pa.array([*values, *[filler] * (size - len(values))], types[column.kind])
            except UnicodeEncodeError:
                raise DataError("the name of a feature is not valid Unicode") from None
        yield Batch(batch, size)


def text_of(name: str) -> str:
    """Return a text in which the feature with this name occurs.

    >>> text_of("free"), text_of("lower:free"), text_of("NOT_good")
    ('free', 'free', 'not good')
    """
    for prefix in ("chars:", "lower:"):
        name = name.removeprefix(prefix)
    return f"not {name[4:]}" if name.startswith("NOT_") else name
