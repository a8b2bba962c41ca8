"""Guesses: the kind of each column, by its name and its first rows, with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data import kinds
from markone.data.amounts import amount
from markone.data.dates import COMPACT, guess_date
from markone.data.sets import guess_set
from markone.data.source import Kind

# A text has some words, or many letters, and is rarely repeated.
WORDS_OF_TEXT = 2
BYTES_OF_TEXT = 40
DISTINCT_OF_TEXT = 0.5
# If there are few rows, fewer words are enough, or the name of the column. Codes and ids are not guessed.
FEW = 50
WORDS_OF_FEW = 1.5
NAMES_OF_TEXT = {"text", "review", "message", "comment", "title", "body"}
# An id is almost never repeated.
DISTINCT_OF_IDS = 0.95
LONG_NUMBER = 10**11
NAMES_OF_IDS = {"id", "ids", "uuid", "guid", "key", "index", "idx", "rowid", "#", "unnamed"}
# Whole numbers that are codes have few values, each in many rows, or a name that says so.
CODES = 10
ROWS_OF_CODE = 100
NAMES_OF_CODES = {"id", "code", "codes", "type", "zip", "zipcode", "postcode", "category", "class", "status", "cluster"}
NAMES_OF_TIMES = {"time", "timestamp", "date", "datetime", "ts", "epoch", "created", "updated", "modified", "at"}
SECONDS = (5e8, 4e9)
"""Unix times from 1985 to 2096."""
PADDED = re.compile(r"0[0-9]+", re.ASCII)
PADDED_LINE = re.compile(r"^\s*0[0-9]", re.MULTILINE)
DIGITS = re.compile(r"[0-9]", re.ASCII)
WHOLE = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?", re.ASCII)
PARTS_OF_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|#")


@dataclass(frozen=True, slots=True)
class Guess:
    """A guessed kind, and why."""

    kind: Kind | None
    """None if no features are made from the column."""
    reason: str
    otherwise: Kind | None = None
    """The kind of an id, which is used if the table has no other column."""


def plain_kind(array: Any, written: bool) -> str | None:
    """The kind of labels and weights by their first values: numeric, boolean or categorical; None if no value can be
    one."""
    import pyarrow as pa

    kind = array.type
    if array.null_count == len(array):
        return None
    if pa.types.is_boolean(kind) or kinds.is_number(kind):
        return "boolean" if pa.types.is_boolean(kind) else "numeric"
    if pa.types.is_dictionary(kind):
        return "categorical" if kinds.is_words(kind.value_type) or kinds.is_number(kind.value_type) else None
    if not kinds.is_words(kind):
        return None
    distinct = kinds.as_strings(array).drop_null().unique().to_pylist()
    if kinds.are_truths(distinct):
        return "boolean"
    return "numeric" if written and kinds.are_numbers(distinct) else "categorical"


def guess(array: Any, written: bool, name: str = "") -> Guess:
    """Guess the kind of a column by its first values. `written` means that numbers are written as strings, as in a CSV
    file."""
    import pyarrow as pa

    kind = array.type
    if array.null_count == len(array):
        return Guess(None, f"no value in the first {len(array):,} rows")
    if pa.types.is_boolean(kind):
        return Guess("boolean", "truth values")
    if kinds.is_number(kind):
        return guess_numbers(array.drop_null().to_numpy(zero_copy_only=False), name)
    if kinds.is_date(kind):
        return guess_moments(array)
    if kinds.is_list_of_words(kind):
        return Guess("set", "lists of words")
    if pa.types.is_dictionary(kind) and (kinds.is_words(kind.value_type) or kinds.is_number(kind.value_type)):
        return Guess("categorical", "stored as categories")
    if not kinds.is_words(kind):
        what = "lists or objects" if pa.types.is_nested(kind) else str(kind)
        return Guess(None, f"no features are made from {what}")
    return guess_words(kinds.as_strings(array).drop_null(), written, name)


def guess_moments(array: Any) -> Guess:
    """Guess the kind of dates that Arrow knows as such."""
    import pyarrow as pa

    moments, far = kinds.dates_of(array)
    if far is not None:
        return Guess(None, "no features are made from dates that are so early or late")
    moments = moments.drop_null().cast(pa.int64()).to_numpy(zero_copy_only=False)
    if (moments % int(kinds.MICROSECONDS["day"])).any():
        return Guess("datetime", "dates with times")
    return Guess("date", "dates")


# ---- strings


def guess_words(strings: Any, written: bool, name: str) -> Guess:
    encoded = strings.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    count = len(strings)
    if kinds.are_truths(distinct):
        return Guess("boolean", f"only {' and '.join(map(repr, sorted(distinct)[:4]))}")
    if written and kinds.are_numbers(distinct):
        return guess_written(encoded.indices.to_numpy(), distinct, name)
    if not written and are_fractions(distinct):
        return Guess("numeric", "numbers in strings, some with a decimal point")
    first = distinct[0]
    if DIGITS.search(first):
        found = guess_date(distinct)
        if found is not None:
            return Guess(*found)
        for comma in (False, True):
            if amount(first, comma=comma) is not None and are_amounts(distinct, written, comma):
                how = "with a decimal comma" if comma else "written for people"
                return Guess("decimal-comma" if comma else "numeric", f"numbers {how}, such as {odd_one(distinct)!r}")
    sets = guess_set(distinct, np.bincount(encoded.indices.to_numpy()).tolist()) if count >= FEW else None
    if sets is not None:
        return Guess(*sets)
    if len(distinct) < DISTINCT_OF_TEXT * count:
        what = "different words or phrases" if len(distinct) > 1 else "word or phrase"
        return Guess("categorical", f"{len(distinct):,} {what} in {count:,} rows")
    return guess_rare_words(strings, distinct, name)


def guess_rare_words(strings: Any, distinct: list[str], name: str) -> Guess:
    """Guess the kind of strings that are rarely repeated: ids or texts, or categories if there are few rows."""
    import pyarrow.compute as pc

    count = len(strings)
    words = pc.mean(pc.count_substring_regex(strings, r"\S+")).as_py()
    size = pc.mean(pc.binary_length(strings)).as_py()
    share = f"{len(distinct):,} different values in {count:,} rows"
    if count >= FEW and len(distinct) >= DISTINCT_OF_IDS * count and are_ids(distinct, words, name):
        return Guess(None, f"an id: {share}", "categorical")
    if words >= WORDS_OF_TEXT or size >= BYTES_OF_TEXT:
        return Guess("text", f"{words:.1f} words on average, {share}")
    if count < FEW:
        if words >= WORDS_OF_FEW or name.strip().lower() in NAMES_OF_TEXT:
            return Guess("text", f"{words:.1f} words on average" if words >= WORDS_OF_FEW else f"its name is {name!r}")
        return Guess("categorical", f"{share}, too few to tell")
    if sum(any(c.isalpha() for c in value) for value in distinct) < len(distinct) / 2:
        return Guess("categorical", f"{share}, without letters")
    return Guess("text", f"single words that are rarely repeated, {share}")


def are_ids(distinct: list[str], words: float, name: str) -> bool:
    """Whether values that are almost all different are ids: single words with digits, or of a column named like one."""
    if words > 1 or any("/" in value or "@" in value for value in distinct):
        return False
    if named_like(name, NAMES_OF_IDS):
        return True
    with_digits = sum(DIGITS.search(value) is not None for value in distinct)
    digits = sum(len(DIGITS.findall(value)) for value in distinct) / max(1, sum(map(len, distinct)))
    return with_digits >= 0.9 * len(distinct) and (digits >= 0.2 or len({*map(len, distinct)}) == 1)


def are_amounts(distinct: list[str], written: bool, comma: bool) -> bool:
    """Whether all values are numbers. Strings of plain digits that do not come from a file are words."""
    plain = True
    for value in distinct:
        if amount(value, comma=comma) is None:
            return False
        plain = plain and kinds.NUMBER.fullmatch(value) is not None
    return written or not plain


def are_fractions(distinct: list[str]) -> bool:
    """Whether strings of data in memory are numbers rather than codes: some have a decimal point. pandas leaves a
    column of a file as strings if one of them is blank."""
    filled = [value for value in distinct if value.strip()]
    return any("." in value for value in filled) and kinds.are_numbers(filled)


def odd_one(distinct: list[str]) -> str:
    return next((value for value in distinct if not kinds.NUMBER.fullmatch(value)), distinct[0])


# ---- numbers


def guess_written(where: NDArray[np.int32], distinct: list[str], name: str) -> Guess:
    """Guess the kind of numbers that are written as plain digits; `where` are the places of the rows' values."""
    padded = None
    if PADDED_LINE.search("\n".join(distinct)):  # all at once, because few columns have such numbers
        padded = next((value for value in distinct if PADDED.fullmatch(value.strip())), None)
    if padded is not None and all(value.strip().isdecimal() for value in distinct):
        if all(COMPACT.fullmatch(value.strip()) for value in distinct) and (found := guess_date(distinct)):
            return Guess(*found)
        return Guess("categorical", f"codes: {padded!r} has a leading zero")
    return guess_numbers(np.array([*map(float, distinct)])[where], name)


def guess_numbers(numbers: NDArray[Any], name: str) -> Guess:
    usual = Guess("numeric", "numbers")
    values = np.asarray(numbers, np.float64)
    if len(values) == 0 or not np.isfinite(values).all() or (values != np.floor(values)).any():
        return usual
    distinct = np.unique(values)
    count, share = len(values), f"{len(distinct):,} different numbers in {len(values):,} rows"
    is_date = (distinct >= 19000101) & (distinct < 21000101)
    if is_date.all() and (found := guess_date(str(int(value)) for value in distinct)):
        return Guess(*found)
    if named_like(name, NAMES_OF_TIMES) and any(
        (distinct >= SECONDS[0] * unit).all() and (distinct < SECONDS[1] * unit).all() for unit in (1, 1e3, 1e6)
    ):
        return Guess("datetime", "whole numbers that are Unix times, by their size and name")
    if count < FEW:
        return usual
    if len(distinct) >= DISTINCT_OF_IDS * count:
        if named_like(name, NAMES_OF_IDS):
            return Guess(None, f"an id, by its name: {share}", "numeric")
        if (np.diff(values) == 1).all():
            return Guess(None, "the numbers of the rows", "numeric")
        if distinct[0] >= LONG_NUMBER and len(str(int(distinct[0]))) == len(str(int(distinct[-1]))):
            return Guess(None, f"an id: long whole numbers, {share}", "numeric")
    elif named_like(name, NAMES_OF_CODES) and len(distinct) > 2:
        return Guess("categorical", f"codes, by its name: {share}")
    if 2 < len(distinct) <= CODES and count >= ROWS_OF_CODE * len(distinct):
        return Guess("categorical", f"codes: only {len(distinct)} different whole numbers in {count:,} rows")
    return Guess("numeric", "whole numbers")


def named_like(name: str, words: set[str]) -> bool:
    """Whether the first or the last word of a column's name is one of these.

    >>> named_like("customerID", {"id"}), named_like("valid", {"id"}), named_like("zip_code", {"code"})
    (True, False, True)
    """
    parts = [part.lower() for part in PARTS_OF_NAME.findall(name)]
    return bool(parts) and (parts[0] in words or parts[-1] in words)
