"""Kinds of columns: guessed from the first rows. Values are converted to the kind of their column."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from markone.data.source import Kind

TRUTH = {"true": True, "yes": True, "false": False, "no": False}
NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf|infinity)", re.ASCII | re.IGNORECASE)
NUMBERS = re.compile(rf"(?:{NUMBER.pattern}\n)*+", NUMBER.flags)
"""Several numbers, each on its line."""

# A text has some words, or many letters, and is rarely repeated.
WORDS_OF_TEXT = 2
BYTES_OF_TEXT = 40
DISTINCT_OF_TEXT = 0.5
# If there are few rows, fewer words are enough, or the name of the column.
FEW = 50
WORDS_OF_FEW = 1.5
NAMES_OF_TEXT = {"text", "review", "message", "comment", "title", "body"}


def are_numbers(texts: list[str]) -> bool:
    """Whether all texts are numbers. They are matched all at once, one on each line."""
    if not all(NUMBER.fullmatch(text) for text in texts[:10]):
        return False
    lines = "".join([f"{text}\n" for text in texts])
    if lines.count("\n") != len(texts):  # some text has several lines
        return False
    return NUMBERS.fullmatch(lines) is not None


def guess(array: Any, written: bool, name: str = "") -> Kind | None:
    """The kind of a column by its first values; None if there are none, or if no features can be made from them.

    `written` means that numbers are written as strings, as in a CSV file.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if array.null_count == len(array):
        return None
    if pa.types.is_boolean(kind):
        return "boolean"
    if is_number(kind):
        return "numeric"
    if pa.types.is_dictionary(kind):
        return "categorical" if is_words(kind.value_type) or is_number(kind.value_type) else None
    if not is_words(kind):
        return None
    strings = as_strings(array).drop_null()
    distinct = strings.unique().to_pylist()
    if all(value.strip().lower() in TRUTH for value in distinct):
        return "boolean"
    if written and are_numbers(distinct):
        return "numeric"
    if len(distinct) < DISTINCT_OF_TEXT * len(strings):
        return "categorical"
    words = pc.mean(pc.count_substring_regex(strings, r"\S+")).as_py()
    size = pc.mean(pc.binary_length(strings)).as_py()
    if len(strings) < FEW and (words >= WORDS_OF_FEW or name.strip().lower() in NAMES_OF_TEXT):
        return "text"
    return "text" if words >= WORDS_OF_TEXT or size >= BYTES_OF_TEXT else "categorical"


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
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    simple = is_number(kind) or is_words(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)
    return simple or (is_bytes and wanted == "text")


def as_strings(array: Any) -> Any:
    """Convert string views, which few functions accept yet, to strings."""
    import pyarrow as pa

    if array.type != pa.string_view():
        return array
    try:
        return array.cast(pa.large_string())
    except pa.ArrowNotImplementedError:  # older versions have string views but cannot cast them
        return pa.array(array.to_pylist(), pa.large_string())


def decoded(array: Any) -> Any:
    """The values without dictionary encoding and without string views."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        return as_strings(array.dictionary).take(array.indices)
    return as_strings(array)


# ---- values


def as_kind(array: Any, kind: str) -> tuple[Any, NDArray[np.bool_] | None]:
    """The values as float64, bool, string or, for texts, string or binary; and which of them are not of this kind."""
    import pyarrow as pa

    array = decoded(array)
    has = array.type
    if pa.types.is_null(has):
        made = {"numeric": pa.float64(), "boolean": pa.bool_()}.get(kind, pa.string())
        return pa.nulls(len(array), made), None
    if kind == "numeric":
        if pa.types.is_boolean(has):
            array = array.cast(pa.uint8())
        return by_value(array, number, pa.float64()) if is_words(has) else finite(array.cast(pa.float64(), safe=False))
    array = without_nan(array)
    if kind == "boolean":
        return (array, None) if pa.types.is_boolean(has) else by_value(array, truth, pa.bool_())
    if is_words(has) or pa.types.is_binary(has) or pa.types.is_large_binary(has):
        return array, None
    return by_value(array, word, pa.string())


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
        return None
    result = float(value)
    return result if np.isfinite(result) else None


def truth(value: Any) -> bool | None:
    if isinstance(value, str):
        value = value.strip().lower()
        return TRUTH.get(value, {"1": True, "0": False}.get(value))
    return {0: False, 1: True}.get(value)


def written(label: Any) -> str:
    """A label as text, for files, tables and messages."""
    return str(word(label))


def word(value: Any) -> str | None:
    """A value as text; whole numbers of any type are written as digits without a decimal point.

    >>> word(2e16), word(Decimal("2.00")), word(Decimal("2.50")), word(2.5), word(True)
    ('20000000000000000', '2', '2.5', '2.5', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return str(int(value)) if value == int(value) else f"{value.normalize():f}"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else None if np.isnan(value) else repr(value)
    return str(value)
