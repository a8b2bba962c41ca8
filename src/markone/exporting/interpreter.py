"""Predictions from a document alone: no model is needed. It is the check of the JSON export, and the plain twin of the
programs that the other targets write."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from markone.data.dates import MONTHS, WEEKDAYS
from markone.errors import DataError
from markone.exporting.tokens import Characters, Tokenizer, hash_of_ngram, splitter

Row = Mapping[str, Any]
Value = tuple[Any, list[float], float]
"""The name of a feature, its weights, and its value."""


class Answer(NamedTuple):
    """A prediction: the number of the class, None without one; the scores; and the probabilities, if there are any."""

    label: int | None
    scores: list[float]
    probabilities: list[float] | None


def narrow(number: float) -> float:
    """Round to 32 bits."""
    return float(np.float32(number))


class Interpreter:
    """Predicts with a document. A row has the values of its columns by name; None is a missing value."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.rounded: Callable[[float], float] = narrow if document["bits"] == 32 else float
        self.bias = [self.rounded(one) for one in document["bias"]]
        characters = Characters(document["characters"]) if "characters" in document else None
        self.parts = [PARTS[part["part"]](part, characters) for part in document["parts"]]

    def answer(self, row: Row | str) -> Answer:
        scores = self.scores(row)
        return Answer(self.label(scores), scores, self.probabilities(scores))

    def scores(self, row: Row | str) -> list[float]:
        """Return a score for each class or, with two classes, only that of the second; for a regression, its number."""
        values = self.values(row)
        lanes = self.document["lanes"]
        sums = [[0.0] * len(self.bias) for _ in range(lanes)]
        for i, (_, weights, value) in enumerate(values):
            to = sums[i % lanes]
            for k, weight in enumerate(weights):
                to[k] += self.rounded(weight) * value
        while lanes > 1:
            lanes //= 2
            sums = [[a + b for a, b in zip(sums[i], sums[i + lanes], strict=True)] for i in range(lanes)]
        return [self.rounded(one + bias) for one, bias in zip(sums[0], self.bias, strict=True)]

    def values(self, row: Row | str) -> list[Value]:
        """Return the features of a row, in the order in which they are added."""
        document = self.document
        if isinstance(row, str) or [column["kind"] for column in document["columns"]] == ["rows"]:
            row = {document["columns"][0]["name"]: row}
        found = [
            (value, facts["presence"])
            for part, facts in zip(self.parts, document["parts"], strict=True)
            for value in part(row)
            if document["zeros"] or not facts["dense"] or value[2] != 0
        ]
        values = [value for value, _ in found]
        if document["unit"]:
            values = scaled_to_unit(values, divided=all(part["dense"] for part in document["parts"]))
        return [
            (name, weights, float(value != 0) if once else value)
            for (name, weights, value), (_, once) in zip(values, found, strict=True)
        ]

    def label(self, scores: list[float]) -> int | None:
        decision = self.document["decision"]
        if not self.document["classes"]:
            return None
        each = scores if len(scores) > 1 else [0.0, scores[0]]
        if decision["threshold"] is not None:
            best = int(scores[0] >= decision["threshold"])
        else:
            best = 0
            for k, score in enumerate(each):
                if score > each[best] or (score == each[best] and decision["tie"] == "second"):
                    best = k
        others = max(score for k, score in enumerate(each) if k != best)
        return None if decision["margin"] is not None and each[best] - others <= decision["margin"] else best

    def probabilities(self, scores: list[float]) -> list[float] | None:
        how = self.document["probabilities"]
        if how is None:
            return None
        odds = odds_by_class(scores, how) if how["offsets"] else [log_odds(score, how) for score in scores]
        odds = odds if len(odds) > 1 else [0.0, odds[0]]
        shares = [math.exp(one - max(odds)) for one in odds]
        return [share / sum(shares) for share in shares]


def odds_by_class(scores: list[float], how: Mapping[str, Any]) -> list[float]:
    """Return the log-odds of classes with slopes of their own. That of the best score is the largest."""
    odds = [score * slope + offset for score, slope, offset in zip(scores, how["slopes"], how["offsets"], strict=True)]
    return [
        max(odds) if score == max(scores) else min(one, max(odds) - how["lead"])
        for score, one in zip(scores, odds, strict=True)
    ]


def log_odds(score: float, how: Mapping[str, Any]) -> float:
    if not how["knots"]:
        return float(score * how["slopes"][0])
    at = bisect_left(how["knots"], score)
    nearest = max(at - 1, 0)
    return float(how["heights"][nearest] + how["slopes"][at] * (score - how["knots"][nearest]))


def scaled_to_unit(values: list[Value], *, divided: bool) -> list[Value]:
    total = 0.0
    for _, _, value in values:
        total += value * value
    if total == 0:
        return values
    length = math.sqrt(total)
    return [(name, w, narrow(value / length if divided else value * (1 / length))) for name, w, value in values]


# ---- values of columns


def piece_of(column: Mapping[str, Any], row: Row) -> Any:
    """Return the value of a column, or of a piece of a date, which is written as in ISO 8601."""
    if "date" not in column:
        return row.get(column["column"])
    text = row.get(column["date"])
    if text is None:
        return None
    when = datetime.fromisoformat(text)
    piece = column["piece"]
    if piece in ("year", "day", "hour"):
        return getattr(when, piece)
    if piece == "days":
        return when.toordinal() - datetime(1970, 1, 1).toordinal()
    return MONTHS[when.month - 1] if piece == "month" else WEEKDAYS[when.weekday()]


def number_of(column: Mapping[str, Any], row: Row) -> float | None:
    value = piece_of(column, row)
    if value is None or math.isnan(value):
        return None
    if math.isinf(value):
        raise DataError(f"column {column['column']!r} has the number {value}")
    return float(value)


def scaled(column: Mapping[str, Any], row: Row) -> float:
    number = number_of(column, row)
    if number is None:
        if column["fill"] is None:
            raise DataError(f"column {column['column']!r} has no number")
        number = column["fill"]
    return 0.0 if column["spread"] is None else (number - column["center"]) / column["spread"]


# ---- parts: each is a function from a row to its features


def numbers(part: Mapping[str, Any], _: Any) -> Callable[[Row], list[Value]]:
    def values(row: Row) -> list[Value]:
        made: list[float] = []
        for feature in part["features"]:
            if "number" in feature:
                value = narrow(scaled(part["columns"][feature["number"]], row))
            elif "missing" in feature:
                value = float(number_of(part["columns"][feature["missing"]], row) is None)
            else:
                first, second = feature["product"]
                value = narrow(made[first] * made[second])
            made.append(value)
        return [(one["name"], one["weights"], value) for one, value in zip(part["features"], made, strict=True)]

    return values


def place_on(axis: Mapping[str, Any], places: Mapping[str, int] | None, row: Row) -> int | None:
    if places is None:
        number = number_of(axis, row)
        return None if number is None else bisect_right(axis["cuts"], number)
    value = piece_of(axis, row)
    found: int = axis["missing"] if value is None else places.get(text_of(value), axis["other"])
    return found


def text_of(value: Any) -> str:
    """Return a category as a text, as Arrow writes it.

    >>> text_of("a"), text_of(4.0), text_of(True)
    ('a', '4', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def cells(part: Mapping[str, Any], _: Any) -> Callable[[Row], list[Value]]:
    of_axis = [{text: i for i, text in enumerate(a["values"])} if "values" in a else None for a in part["axes"]]
    at = {tuple(feature["at"]): feature for feature in part["features"]}

    def values(row: Row) -> list[Value]:
        places = tuple(place_on(axis, known, row) for axis, known in zip(part["axes"], of_axis, strict=True))
        factors = [scaled(column, row) for column in part["factors"]]
        feature = at.get(places)
        return [] if feature is None else [(feature["name"], feature["weights"], narrow(math.prod(factors)))]

    return values


def items(part: Mapping[str, Any], _: Any) -> Callable[[Row], list[Value]]:
    def values(row: Row) -> list[Value]:
        found = row.get(part["columns"][0]["column"])
        has = [found is None if "missing" in one else one["item"] in (found or ()) for one in part["features"]]
        return [(one["name"], one["weights"], 1.0) for one, there in zip(part["features"], has, strict=True) if there]

    return values


def given(part: Mapping[str, Any], _: Any) -> Callable[[Row], list[Value]]:
    known = {feature["name"]: feature for feature in part["features"]}

    def scaled_value(feature: Mapping[str, Any], value: float) -> Value:
        spread = feature["spread"]
        number = 0.0 if spread is None else narrow((value - feature["center"]) / spread)
        return feature["name"], feature["weights"], number

    def values(row: Row) -> list[Value]:
        own = row[part["columns"][0]["column"]]
        if part["dense"]:
            return [scaled_value(feature, own.get(name, 0.0)) for name, feature in known.items()]
        return [scaled_value(known[name], value) for name, value in own.items() if name in known]

    return values


def ngrams(part: Mapping[str, Any], characters: Any) -> Callable[[Row], list[Value]]:
    tokens = Tokenizer(part["tokens"], characters)
    shortest, longest = part["lengths"]
    first = 2 if part["weighted"] else 1
    column, prefix = part["columns"][0]["column"], part["prefix"]
    find = finder(part)

    def values(row: Row) -> list[Value]:
        said, counts = tokens(row.get(column) or ""), dict[int, int]()
        for size in range(shortest, longest + 1):
            for i in range(len(said) - size + 1):
                number = find(said[i : i + size])
                if number is not None:
                    counts[number] = counts.get(number, 0) + 1
        found = []
        for number, count in counts.items():
            feature = part["features"][number]
            value = {"count": float(count), "binary": 1.0, "log": narrow(math.log1p(count))}[part["value"]]
            value = narrow(value * narrow(feature[1])) if first == 2 else value
            found.append((prefix + feature[0], feature[first:], value))
        return found

    return values


def finder(part: Mapping[str, Any]) -> Callable[[list[str]], int | None]:
    """Return a function that finds the number of an n-gram, by its name or by its hash."""
    if part["hash_bits"] is None:
        by_name = {feature[0]: number for number, feature in enumerate(part["features"])}
        return lambda tokens: by_name.get(" ".join(tokens))
    split, shift, shared = splitter(part["tokens"]["runs"] is not None), 64 - part["hash_bits"], {*part["shared"]}
    hashes = [hash_of_ngram(split(feature[0])) for feature in part["features"]]
    at = {one >> shift: number for number, one in enumerate(hashes)}

    def find(tokens: list[str]) -> int | None:
        one = hash_of_ngram(tokens)
        number = at.get(one >> shift)
        knows = number is not None and (number in shared or (hashes[number] ^ one) & 0xFFFFFFFF == 0)
        return number if knows else None

    return find


def of_document(part: Mapping[str, Any], characters: Any) -> Callable[[Row], list[Value]]:
    tokens, words = (Tokenizer({**part["tokens"], "signs": signs}, characters) for signs in (True, False))
    column = part["columns"][0]["column"]
    longest = max((len(entry.split(" ")) for feature in part["features"] for entry in feature["entries"]), default=1)

    def values(row: Row) -> list[Value]:
        text = row.get(column) or ""
        said, counts = tokens(text), dict[str, int]()
        for size in range(1, longest + 1):
            for i in range(len(said) - size + 1):
                ngram = " ".join(said[i : i + size])
                counts[ngram] = counts.get(ngram, 0) + 1
        found = []
        for feature in part["features"]:
            total = sum(counts.get(entry, 0) for entry in feature["entries"])
            if feature["value"] == "log-words":
                value = narrow(math.log(max(1, len(words(text)))))
            else:
                value = float(total if feature["value"] == "count" else total > 0)
            found.append((feature["name"], feature["weights"], value))
        return found

    return values


PARTS: dict[str, Callable[[Mapping[str, Any], Any], Callable[[Row], list[Value]]]] = {
    "numbers": numbers,
    "cells": cells,
    "set": items,
    "given": given,
    "ngrams": ngrams,
    "document": of_document,
}
