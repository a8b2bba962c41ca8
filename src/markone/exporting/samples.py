"""Sample rows, with which an export is checked: those of the user, or rows that are made from a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from random import Random
from typing import Any

import numpy as np

from markone.data.kinds import type_of
from markone.data.source import Batch, Column, GivenRows
from markone.data.strings import Strings
from markone.exporting.parts import columns_of
from markone.features.examples import rows_of as rows_of_dicts

Row = dict[str, Any]

MADE = 200
"""The number of rows that are made."""
SEED = 1
CHOICES = 60
"""From this many categories, numbers or n-grams of a feature the rows are made."""
UNSEEN = ("", "another value", 'it\'s "so" </script>\n\\', "né 日本 👍🏽")
ODD_TEXTS = (
    "",
    " ",
    "Don't stop, it isn't good! Not bad, NEVER (again): no one",
    "STRASSE Straße ΣΊΣΥΦΟΣ İstanbul ǅ ﬁn e\u0301 \u0149 ŉ",
    "我的iPhone13が日本語 ไทยสวัสดี ខ្មែរ ကမ္ဘာ 한국어 हिन्दी",
    "👍🏽👍 👩\u200d👩\u200d👧 🇩🇪🇫🇷🇪 1\ufe0f\u20e32\u20e3 a1\u20e3 ❤\ufe0f\u200d🔥 🏴\U000e0067\U000e007f \U0001fa77",
    "字\ufe0f か\ufe0f字 x-y _a_ \x00 \ufffd \ufe0f \u200d !\u200d? \U0003134a N’T don’t isn't. at",
)
DATES = ("1969-07-20T20:17:40", "2000-02-29T00:00:00", "2024-12-31T23:59:59", "1815-12-10T12:00:00")


# ---- rows of the user


def rows_in(batch: Batch, columns: Iterable[Column]) -> list[Row]:
    """Return the examples of a batch as rows of plain values."""
    columns = tuple(columns)
    if [column.kind for column in columns] == ["rows"]:
        return [*features_in(batch.columns[columns[0].name])]
    values = {column.name: values_of(batch.columns[column.name]) for column in columns}
    return [{name: some[i] for name, some in values.items()} for i in range(len(batch))]


def values_of(array: Any) -> list[Any]:
    if isinstance(array, Strings):
        return array.tolist("replace")
    return [*map(plain, array.to_pylist())]


def plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.isoformat() if isinstance(value, datetime) else value


def features_in(given: GivenRows) -> Iterator[Row]:
    names, matrix = given.names.since(0), given.matrix
    if isinstance(matrix, np.ndarray):
        yield from (dict(zip(names, row, strict=True)) for row in matrix.tolist())
        return
    for begin, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        numbers = matrix.indices[begin:end].tolist()
        yield dict(zip([names[number] for number in numbers], matrix.data[begin:end].tolist(), strict=True))


def batch_of(rows: list[Row], columns: Iterable[Column]) -> Batch:
    """Return rows of plain values as a batch."""
    import pyarrow as pa

    columns = tuple(columns)
    if [column.kind for column in columns] == ["rows"]:
        return Batch({columns[0].name: rows_of_dicts([*rows])}, len(rows))
    made = {}
    for column in columns:
        kind = type_of(column.kind)
        values = [row[column.name] for row in rows]
        if pa.types.is_timestamp(kind):
            values = [None if value is None else datetime.fromisoformat(value) for value in values]
        made[column.name] = pa.array(values, kind)
    return Batch(made, len(rows))


# ---- rows that are made


def made_rows(document: Mapping[str, Any], count: int = MADE) -> list[Row]:
    """Return rows with the categories, numbers and words that a model knows, with others, and with missing values."""
    random = Random(SEED)
    if [column["kind"] for column in document["columns"]] == ["rows"]:
        return [features_of(document["parts"], random) for _ in range(count)]
    values = {column["name"]: candidates(column, document["parts"], random) for column in document["columns"]}
    return [
        {name: some[i] if i < len(some) else random.choice(some) for name, some in values.items()} for i in range(count)
    ]


def features_of(parts: list[Any], random: Random) -> Row:
    names = [feature["name"] for part in parts for feature in part["features"]]
    chosen = random.sample(names, min(len(names), random.randint(0, 20)))
    return {**{name: random.choice([0.0, 1.0, 2.5, -3.0]) for name in chosen}, "an unknown feature": 1.0}


def candidates(column: Mapping[str, Any], parts: list[Any], random: Random) -> list[Any]:
    """Return values of a column, those first that should occur in any case."""
    name, kind = column["name"], column["kind"]
    found: list[Any] = []
    if kind == "boolean":
        found = [True, False]
    elif kind in ("date", "datetime"):
        found = [*DATES] if kind == "datetime" else [f"{date[:10]}T00:00:00" for date in DATES]
    elif kind == "text":
        return [*ODD_TEXTS, *(text_of(name, parts, random) for _ in range(MADE))]
    facts = [one for part in parts for one in columns_of(part) if one.get("date", one["column"]) == name]
    for one in facts:
        if kind == "numeric":
            found += numbers_near(one)
        elif kind == "categorical":
            found += [*one["values"][:CHOICES], *UNSEEN]
    if kind == "set":
        known = [feature["item"] for part in parts for feature in items_of(part, name)][:CHOICES]
        found = [[], [*UNSEEN], *(random.sample(known, random.randint(0, len(known))) for _ in range(10))]
    needed = any("fill" in one and one["fill"] is None for one in facts)
    return [*dict.fromkeys(found)] + ([] if needed else [None]) if kind != "set" else [None, *found]


def items_of(part: Mapping[str, Any], column: str) -> list[Any]:
    own = part["part"] == "set" and part["columns"][0]["column"] == column
    return [feature for feature in part["features"] if "item" in feature] if own else []


def numbers_near(facts: Mapping[str, Any]) -> list[float]:
    if "cuts" in facts:
        return [number for cut in facts["cuts"] for number in (cut, float(np.nextafter(cut, -np.inf)))]
    center, spread = facts["center"], facts["spread"] or 1.0
    return [0.0, center, *(center + times * spread for times in (-3, -1.5, -0.3, 0.7, 1, 2.2, 6))]


def text_of(column: str, parts: list[Any], random: Random) -> str:
    """Return a text of words that the model knows, some of them in capital letters, and a few others."""
    own = [part for part in parts if "tokens" in part and part["columns"][0]["column"] == column and part["features"]]
    words = ["and", "never", "not", "!", ".", "ß", "unknown"]
    for part in own:
        for feature in random.sample(part["features"], min(len(part["features"]), random.randint(1, 15))):
            words += [feature[0]] if isinstance(feature, list) else feature["entries"][:3]
    chosen = random.choices(words, k=random.randint(1, 25))
    return " ".join(word.upper() if random.random() < 0.15 else word for word in chosen)
