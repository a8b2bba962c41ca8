"""Kinds of columns: which values of Arrow can be read as which kind, and their conversion."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.amounts import amount
from markone.data.dates import STYLES, parser
from markone.data.sets import SET_KINDS, items_in
from markone.written import word as word
from markone.written import written as written

MICROSECONDS = {"day": 86_400e6, "s": 1e6, "ms": 1e3, "us": 1, "ns": 1e-3}
FARTHEST = 2.0**63 / 1000
"""The largest number of microseconds between a date and 1970: a timestamp of nanoseconds reaches as far."""
PAIRS = (
    ("true", "false"),
    ("yes", "no"),
    ("t", "f"),
    ("y", "n"),
    ("on", "off"),
    ("ja", "nein"),
    ("oui", "non"),
    ("sí", "no"),
)
"""The words for true and false. Letters may be other codes, so a column of truth values has one of these pairs."""
TRUTH = {word: number == 0 for pair in PAIRS for number, word in enumerate(pair)}
NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf|infinity)", re.ASCII | re.IGNORECASE)
NUMBERS = re.compile(rf"(?:{NUMBER.pattern}\n)*+", NUMBER.flags)
"""Several numbers, each on its line."""


def are_truths(words: Sequence[str]) -> bool:
    """Whether words of a column are truth values: `true`, `false`, `yes` and `no`, or another pair.

    >>> are_truths(["Yes", "false"]), are_truths(["t", "F"]), are_truths(["t", "n"]), are_truths(["t"])
    (True, True, False, False)
    """
    if words and words[0].strip().lower() not in TRUTH:  # most columns are not, and some have long texts
        return False
    met = {word.strip().lower() for word in words}
    return met <= {*PAIRS[0], *PAIRS[1]} or any(met == {*pair} for pair in PAIRS)


def are_numbers(texts: list[str]) -> bool:
    """Whether all texts are numbers. They are matched all at once, one on each line."""
    if not all(NUMBER.fullmatch(text) for text in texts[:10]):
        return False
    lines = "".join([f"{text}\n" for text in texts])
    if lines.count("\n") != len(texts):  # some text has several lines
        return False
    return NUMBERS.fullmatch(lines) is not None


def is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_words(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view())


def can_be(kind: Any, wanted: str) -> bool:
    """Whether values of an Arrow type can be read as a kind."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if is_date(kind):
        return wanted in STYLES or wanted == "categorical"
    if is_list_of_words(kind):
        return wanted in SET_KINDS
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    if is_bytes or pa.types.is_boolean(kind):
        return wanted == "text" if is_bytes else wanted not in (*STYLES, *SET_KINDS)
    return bool(is_number(kind) or is_words(kind) or pa.types.is_null(kind))


def is_date(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def is_list_of_words(kind: Any) -> bool:
    import pyarrow as pa

    return bool((pa.types.is_list(kind) or pa.types.is_large_list(kind)) and is_words(kind.value_type))


def is_list_of_labels(kind: Any) -> bool:
    """Whether values of an Arrow type are lists of texts, whole numbers or truth values."""
    import pyarrow as pa

    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return False
    item = kind.value_type
    return bool(is_words(item) or pa.types.is_integer(item) or pa.types.is_boolean(item))


def as_strings(array: Any) -> Any:
    """Convert string views, which few functions accept yet, to strings, also within lists."""
    import pyarrow as pa

    if array.type == pa.string_view():
        wanted = pa.large_string()
    elif is_list_of_words(array.type) and array.type.value_type == pa.string_view():
        wanted = pa.list_(pa.string())
    else:
        return array
    try:
        return array.cast(wanted)
    except pa.ArrowNotImplementedError:  # older versions have string views but cannot cast them
        return pa.array(array.to_pylist(), wanted)


def decoded(array: Any) -> Any:
    """The values without dictionary encoding and without string views."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        return as_strings(array.dictionary).take(array.indices)
    return as_strings(array)


# ---- values


def type_of(kind: str) -> Any:
    """The Arrow type of the values of a kind in a batch, unless it is text, which may have several."""
    import pyarrow as pa

    if kind in STYLES:
        return pa.timestamp("us")
    if kind in SET_KINDS:
        return pa.list_(pa.string())
    return {"numeric": pa.float64(), "decimal-comma": pa.float64(), "boolean": pa.bool_()}.get(kind, pa.string())


def as_kind(array: Any, kind: str) -> tuple[Any, NDArray[np.bool_] | None]:
    """The values with the type of their kind, and which of them are not of this kind."""
    import pyarrow as pa

    array = decoded(array)
    has = array.type
    if pa.types.is_null(has):
        return pa.nulls(len(array), type_of(kind)), None
    if kind in ("numeric", "decimal-comma"):
        if pa.types.is_boolean(has):
            array = array.cast(pa.uint8())
        if is_words(has):
            return by_value(without_blanks(array), number if kind == "numeric" else number_with_comma, pa.float64())
        return finite(array.cast(pa.float64(), safe=False))
    array = without_nan(array)
    if kind == "boolean":
        return (array, None) if pa.types.is_boolean(has) else by_value(array, truth, pa.bool_())
    if kind in STYLES:
        return dates_of(array) if is_date(has) else by_value(array, parser(kind), type_of(kind))
    if kind in SET_KINDS:
        if is_list_of_words(has):
            return array.cast(type_of(kind)), None
        return by_value(array, lambda value: items_in(str(word(value)), kind), type_of(kind))
    if is_words(has) or pa.types.is_binary(has) or pa.types.is_large_binary(has):
        return array, None
    return by_value(array, word, pa.string())


def dates_of(array: Any) -> tuple[Any, NDArray[np.bool_] | None]:
    """Dates of any Arrow type, without their time zone, and which of them are too early or too late for one of ours."""
    import pyarrow as pa

    kind = array.type
    unit = "day" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else kind.unit
    numbers = array.cast(pa.int32() if unit == "day" else pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    size = MICROSECONDS[unit]
    far = np.abs(numbers.astype(np.float64) * size) >= FARTHEST
    moments = np.where(far, 0, numbers.astype(np.int64) * max(1, int(size)) // (1000 if unit == "ns" else 1))
    missing = array.is_null().to_numpy(zero_copy_only=False)
    made = pa.array(moments, mask=missing | far).cast(pa.timestamp("us"))
    return made, far & ~missing if (far & ~missing).any() else None


def finite(array: Any) -> tuple[Any, NDArray[np.bool_] | None]:
    """The numbers, with NaN as a missing value, and which of them are infinite."""
    import pyarrow as pa

    values = array.to_numpy(zero_copy_only=False)
    if np.isfinite(values).all():
        return array, None
    infinite = np.isinf(values)
    return pa.array(values, mask=~np.isfinite(values)), infinite if infinite.any() else None


def without_nan(array: Any) -> Any:
    """The values with NaN as a missing value. Frames of pandas already have this, those of polars and NumPy do not."""
    import pyarrow as pa

    if not pa.types.is_floating(array.type):
        return array
    values = array.to_numpy(zero_copy_only=False)
    missing = np.isnan(values)
    return array if missing.sum() == array.null_count else pa.array(values, array.type, mask=missing)


def without_blanks(array: Any) -> Any:
    """The strings, with those of white space alone as missing values, which they are in a column of numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    blank = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(array)), 0)
    return pc.if_else(blank, pa.scalar(None, array.type), array) if pc.any(blank).as_py() else array


def by_value(array: Any, change: Callable[[Any], Any], made: Any) -> tuple[Any, NDArray[np.bool_] | None]:
    """Convert each distinct value once. A value that becomes None is not of the kind."""
    import pyarrow as pa

    encoded = array.dictionary_encode(null_encoding="mask")
    changed = pa.array([change(value) for value in encoded.dictionary.to_pylist()], made).take(encoded.indices)
    if changed.null_count == array.null_count:
        return changed, None
    return changed, changed.is_null().to_numpy(zero_copy_only=False) & array.is_valid().to_numpy(zero_copy_only=False)


def number(value: str) -> float | None:
    value = value.strip()
    if not NUMBER.fullmatch(value):
        return amount(value)
    result = float(value)
    return result if np.isfinite(result) else None


def number_with_comma(value: str) -> float | None:
    return amount(value, comma=True)


def truth(value: Any) -> bool | None:
    if isinstance(value, str):
        value = value.strip().lower()
        return TRUTH.get(value, {"1": True, "0": False}.get(value))
    return {0: False, 1: True}.get(value)
