"""Labels: the values to predict, numbered in the order of their first occurrence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.source import UNLABELLED, Label
from markone.errors import DataError, Setting

MOST_FRACTIONS = 20
LISTS = (list, tuple, set, frozenset, np.ndarray)
"""The types of several labels of a row."""


class LabelList(list[Label]):
    """The labels of a source, by number."""

    several = False
    """Whether a row can have several labels. Each entry is then a tuple of labels, which may be empty."""
    fractions = 0
    """How many of them are numbers with fractions."""
    last_fraction: Label = None


class Labels:
    """The labels of a source. Labels that are equal but of different types, like 1 and True, are different labels."""

    def __init__(self, target: str, numbers_are_texts: bool = False) -> None:
        self.target = target
        self.numbers_are_texts = numbers_are_texts
        self.values = LabelList()
        self.numbers: dict[tuple[bool | tuple[bool, ...], Label], int] = {}

    def number(self, value: Label | None) -> int:
        """The number of a label; a new label gets the next number. `UNLABELLED` for None."""
        if value is None:
            return UNLABELLED
        are_bool = (
            tuple(isinstance(one, bool) for one in value) if isinstance(value, tuple) else isinstance(value, bool)
        )
        key = (are_bool, value)
        number = self.numbers.get(key)
        if number is None:
            self.count_fraction(value)
            number = self.numbers[key] = len(self.values)
            self.values.append(value)
        return number

    def count_fraction(self, value: Label) -> None:
        if is_fraction_text(str(value)) if self.numbers_are_texts else isinstance(value, float):
            self.values.fractions += 1
            self.values.last_fraction = value

    def numbers_of(self, values: Any) -> NDArray[np.int32]:
        """The numbers of a sequence of labels, or of lists of labels."""
        kinds = {*map(type, values)} if isinstance(values, list | tuple) else set()
        if any(issubclass(kind, LISTS) for kind in kinds):
            self.values.several = True
            return np.fromiter((self.number(labels_in(value)) for value in values), np.int32, len(values))
        if isinstance(values, list) and kinds in ({str}, {int}):
            # Each different label is looked at once.
            known = {value: self.number(plain(value)) for value in dict.fromkeys(values)}
            return np.fromiter(map(known.__getitem__, values), np.int32, len(values))
        return np.fromiter((self.number(plain(value)) for value in values), np.int32)


class KnownLabels:
    """The labels of a model or source, and the number of the label that a label of another source means.

    A label may be a number or a boolean in one source and a text in another. A label that does not occur with its type
    is therefore looked up by its text.

    >>> known = KnownLabels([0, 1, True, "maybe"])
    >>> known.number(1), known.number("1"), known.number("true"), known.number("perhaps")
    (1, 1, 2, None)
    """

    def __init__(self, labels: Sequence[Label]) -> None:
        self.exact = {(type(label), label): number for number, label in enumerate(labels)}
        self.written: dict[str, int] = {}
        for number, label in enumerate(labels):
            for text in as_written(label):
                self.written.setdefault(text, number)

    def number(self, label: Label) -> int | None:
        """The number of a label, or None if it is unknown."""
        number = self.exact.get((type(label), label))
        found = [self.written[text] for text in as_written(label) if number is None and text in self.written]
        return found[0] if found else number


def is_list(value: Any) -> bool:
    """Whether a value is a list of labels, not a label."""
    return isinstance(value, LISTS)


def labels_in(value: Any) -> tuple[Label, ...] | None:
    """The labels of a row, each once, in a fixed order; None if they are missing.

    >>> labels_in(["sports", " film", "sports"]), labels_in([]), labels_in(None)
    (('film', 'sports'), (), None)
    """
    if not is_list(value):
        if plain(value) is None:
            return None
        raise DataError(f"the labels of each row must be a list, such as ['film', 'sports'], not {value!r:.60}")
    return in_fixed_order(label for label in map(plain, value) if label is not None and label != "")


def in_fixed_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    """
    >>> in_fixed_order([2, 10, True, 2])
    (10, 2, True)
    """
    found = {(str(label), isinstance(label, bool)): label for label in labels}
    return tuple(found[key] for key in sorted(found))


def members_of(labels: Label) -> tuple[Label, ...]:
    """The labels of a row that can have several."""
    assert isinstance(labels, tuple)
    return labels


def sets_of(labels: Sequence[Label], classes: list[Label]) -> NDArray[np.bool_]:
    """Which of the classes each set of labels contains: classes × sets. Other labels are ignored.

    >>> sets_of([("film", "sports"), (), ("sports",)], ["film", "sports"]).astype(int)
    array([[1, 0, 0],
           [1, 0, 1]])
    """
    number = KnownLabels(classes).number
    sets = np.zeros((len(classes), len(labels)), bool)
    for i, one in enumerate(labels):
        sets[[k for label in members_of(one) if (k := number(label)) is not None], i] = True
    return sets


def refuse_several(labels: list[Label], what: str) -> None:
    """Raise an error if rows have several labels, which something is not made for."""
    if isinstance(labels, LabelList) and labels.several:
        raise DataError(
            f"{what} needs one label for each row, and these rows have lists of labels",
            advice="choose a target with one label a row",
        )


def check_classes(labels: list[Label], target: str | None) -> None:
    """Raise an error if labels are numbers that are hardly classes."""
    if isinstance(labels, LabelList) and labels.fractions > MOST_FRACTIONS:
        raise DataError(
            f"the target {target!r} has more than {MOST_FRACTIONS} different values with fractions, one of them "
            f"{labels.last_fraction}, and this rule predicts classes",
            advice=("to predict numbers, set ", Setting("rule", "regression"), "; or divide the values into classes"),
        )


def numbers_of(labels: list[Label], target: str | None) -> NDArray[np.float64]:
    """Return the labels as numbers, which a regression predicts."""
    found = np.zeros(len(labels))
    for i, label in enumerate(labels):
        number = number_in(label)
        if number is None:
            raise DataError(
                f"a regression needs a target of numbers, and {target!r} has the value {label!r:.60}",
                advice="name another target, or leave out such rows",
            )
        found[i] = number
    return found


def number_in(label: Label) -> float | None:
    """Return a label as a finite number, or None if it is not one."""
    if isinstance(label, bool) or not isinstance(label, int | float | str):
        return None
    try:
        number = float(label)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def as_written(label: Label) -> list[str]:
    """The spellings of a label: a boolean has that of Python, and the usual one."""
    return [str(label), str(label).lower()] if isinstance(label, bool) else [str(label)]


def plain(value: Any) -> Label | None:
    """A label as a text, a whole number, a boolean or a fraction; None if it is missing.

    >>> plain(np.float64(2)), plain(b"spam "), plain(float("nan"))
    (2, 'spam', None)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Decimal):
        value = int(value) if value.is_finite() and value == int(value) else float(value)
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            raise DataError("a label is infinite")
        return int(value) if value.is_integer() else value
    if type(value).__name__ in ("NAType", "NaTType"):  # missing values of pandas
        return None
    raise DataError(f"labels are texts, whole numbers or booleans, not {type(value).__name__}: {value!r:.60}")


def canonical(text: str) -> str:
    """A label in a file of lines; all spellings of a number become the same text.

    >>> canonical("+1"), canonical("1.0"), canonical("-1e0"), canonical("2e16"), canonical(".50"), canonical("spam")
    ('1', '1', '-1', '20000000000000000', '0.5', 'spam')
    """
    if re.fullmatch(r"[+-]?[0-9]{1,4000}", text, re.ASCII):
        return str(int(text))
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text, re.ASCII):
        value = float(text)
        if math.isfinite(value):
            exact = value if abs(value) < 2**53 else Decimal(text)
            return str(int(exact)) if value.is_integer() else repr(value)
    return text


def is_fraction_text(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?", text, re.ASCII) is not None
