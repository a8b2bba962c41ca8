"""The examples of a request, within the limits of the service, as the library takes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from markone.data.nested import flat
from markone.model.model import Model
from markone.server.messages import Examples, ToExplain
from markone.server.problems import Problem
from markone.server.settings import ServeSettings

FEW_NAMES = 50
"""A request may have this many different names that the model does not use, before they are left out."""
DEEPEST = 20
"""The maximum depth of nested values in a row."""
LARGEST_INTEGER = 2**63
WAYS = ("text", "texts", "row", "rows", "columns", "images")


class Given(NamedTuple):
    """The examples of a request."""

    examples: Any
    rows: int
    names: Iterable[str] | None = None
    """The columns of the examples; None if they have none."""


def examples_of(asked: Examples | ToExplain, limits: ServeSettings, ways: tuple[str, ...] = WAYS) -> Given:
    """Return the examples, which are given in exactly one way."""
    if asked.text is not None and all(getattr(asked, way) is None for way in ways[1:]):
        check_text(asked.text, limits)
        return Given(asked.text, 1)
    given = {way: value for way in ways if (value := getattr(asked, way)) is not None}
    if len(given) != 1:
        found = f"{' and '.join(given)} are" if given else "none is"
        raise Problem(422, f"Exactly one of {', '.join(ways[:-1])} and {ways[-1]} must be given, and {found} given.")
    [(way, value)] = given.items()
    return OPENED[way](value, limits)


def of_texts(texts: list[str], limits: ServeSettings) -> Given:
    check_rows(len(texts), limits)
    check_text(max(texts, key=len, default=""), limits)
    return Given(texts, len(texts))


def of_rows(rows: list[dict[str, Any]], limits: ServeSettings) -> Given:
    check_rows(len(rows), limits)
    for row in rows:
        check_row(row, limits)
    return Given(rows, len(rows), {name for row in rows for name in row})


def of_columns(columns: Mapping[str, list[Any]], limits: ServeSettings) -> Given:
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise Problem(422, "All columns must have the same number of values, and there must be at least one column.")
    [rows] = lengths
    check_rows(rows, limits)
    check_row(columns, limits)
    return Given(columns if rows else [], rows, columns)


def of_images(images: list[list[list[int]]], limits: ServeSettings) -> Given:
    check_rows(len(images), limits)
    try:
        pixels = np.array(images, np.uint8)
    except ValueError:
        pixels = np.zeros(0, np.uint8)
    if pixels.ndim != 3:
        raise Problem(422, "Images must be lists of rows of pixels, and all of the same size.")
    return Given(pixels, len(images))


OPENED: dict[str, Callable[[Any, ServeSettings], Given]] = {
    "texts": of_texts,
    "row": lambda row, limits: of_rows([row], limits),
    "rows": of_rows,
    "columns": of_columns,
    "images": of_images,
}


def missing_columns(model: Model, names: Iterable[str] | None) -> list[str]:
    """Return the columns of the model that the examples lack."""
    columns = model.features.columns
    if names is None or any(column.kind in ("image", "rows") for column in columns):
        return []
    there = set(names)
    # Nested values become columns such as person.age, so their first part counts.
    return [one.name for one in columns if one.name not in there and one.name.partition(".")[0] not in there]


def of_model(model: Model, examples: Any) -> Any:
    """Return rows or columns without names that the model does not use. Each name in any row becomes a column, so many
    different ones would need much time and memory. Only a few others stay, because messages name them."""
    columns = model.features.columns
    if any(column.kind in ("image", "rows") for column in columns):
        return examples
    used = {column.name for column in columns}
    if isinstance(examples, dict):
        return with_names(examples, used) if len(examples) > len(used) + FEW_NAMES else examples
    if not isinstance(examples, list) or not all(isinstance(one, dict) for one in examples):
        return examples
    others: set[str] = set()
    for one in examples:
        others.update(flat(one).keys() - used)
        if len(others) > FEW_NAMES:
            return [with_names(flat(one), used) for one in examples]
    return examples


def with_names(row: Mapping[str, Any], used: set[str]) -> dict[str, Any]:
    """Return the values of the names that are used or, if there are none, of another one."""
    found = {name: value for name, value in row.items() if name in used}
    return found or dict(islice(row.items(), 1))


# ---- limits


def check_rows(rows: int, limits: ServeSettings) -> None:
    if rows > limits.most_rows:
        raise Problem(413, f"A request may have {limits.most_rows:,} examples, not {rows:,}; send them as a stream.")


def check_text(text: str, limits: ServeSettings) -> None:
    if len(text) > limits.longest_text:
        raise Problem(413, f"A text may have {limits.longest_text:,} characters, not {len(text):,}.")


def check_row(row: Mapping[str, Any], limits: ServeSettings) -> None:
    for name, value in row.items():
        if type(value) is str:
            check_text(value, limits)
        elif value is not None:
            check_value(name, value, limits, DEEPEST)


def check_value(name: str, value: Any, limits: ServeSettings, deepest: int) -> None:
    if isinstance(value, list | dict):
        if deepest == 0:
            raise Problem(422, f"The value of {name!r:.80} is nested too deeply.")
        for one in value if isinstance(value, list) else value.values():
            check_value(name, one, limits, deepest - 1)
    elif isinstance(value, str):
        check_text(value, limits)
    elif isinstance(value, int | float) and not -LARGEST_INTEGER <= value < LARGEST_INTEGER and not is_float(value):
        raise Problem(422, f"The value of {name!r:.80} is too large a number.")


def is_float(value: float) -> bool:
    return isinstance(value, float) and math.isfinite(value)
