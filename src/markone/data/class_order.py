"""The order of the classes. With two classes, the first is the negative class and the second the positive one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markone.brief import Brief
from markone.data.labels import KnownLabels, plain
from markone.data.source import Label
from markone.errors import DataError, SettingsError, did_you_mean

POSITIVE_WORDS = frozenset(
    {"+", "+1", "pos", "positive", "yes", "true", "spam", "good", "accept", "accepted", "approve", "approved", "pass"}
    | {"passed", "present", "hit", "win", "fraud", "abnormal", "anomaly", "attack", "malignant"}
)
"""If one of two labels is such a word, in upper or lower case, it is the positive class."""
NEGATIONS = frozenset({"not", "no", "non", "un"})
"""If one of two labels is the other with such a prefix, as in `unhappy` or `not spam`, it is the negative class."""
LABELS_SHOWN = 20


@dataclass(frozen=True, slots=True, repr=False)
class ClassOrder(Brief):
    """What the user says about the classes: which of two is positive, or all of them in their order."""

    positive: Label | None = None
    classes: tuple[Label, ...] | None = None

    @classmethod
    def of(cls, positive: Any = None, classes: Any = None) -> ClassOrder:
        """Check the arguments `positive` and `classes` of a function."""
        named = None if classes is None else labels_in(classes)
        found = None if positive is None else one_label("positive", positive)
        if named is not None and found is not None and (len(named) != 2 or KnownLabels(named).number(found) != 1):
            raise SettingsError("positive", f"is {found!r}, but the second of two classes is positive; leave it out")
        return cls(found, named)

    def arrange(self, labels: list[Label]) -> list[Label]:
        """Return the classes of examples with these labels, in their order."""
        if self.classes is not None:
            return self._named(self.classes, labels)
        classes = in_good_order(labels)
        if self.positive is None:
            return classes
        number = KnownLabels(classes).number(self.positive)
        if number is None:
            guess = did_you_mean(str(self.positive), map(str, classes))
            raise SettingsError(
                "positive", f"is {self.positive!r}, which is not a label; the labels are {listed(classes)}.{guess}"
            )
        if len(classes) > 2:
            raise SettingsError(
                "positive", f"is for two classes, but there are {len(classes):,}: {listed(classes)}; leave it out"
            )
        return classes if number == len(classes) - 1 else classes[::-1]

    def check_model(self, classes: list[Label]) -> None:
        """Raise an error if a model, from which a training continues, has other classes or another order."""
        if self.classes is not None and [KnownLabels(self.classes).number(one) for one in classes] != [
            *range(len(self.classes))
        ]:
            raise SettingsError("classes", f"of the model are {listed(classes)}, in this order; leave them out")
        if self.positive is not None and (len(classes) != 2 or KnownLabels(classes).number(self.positive) != 1):
            has = f"the positive class is {classes[1]!r}" if len(classes) == 2 else f"there are {len(classes)} classes"
            raise SettingsError("positive", f"is {self.positive!r}, but in the model {has}; leave it out")

    @staticmethod
    def _named(names: Sequence[Label], labels: list[Label]) -> list[Label]:
        """Return the named classes. A label of the examples keeps its type, which may not be that of its name."""
        known = KnownLabels(names)
        classes = [as_in_data(name, labels) for name in names]
        for label in labels:
            number = known.number(label)
            if number is None:
                guess = did_you_mean(str(label), map(str, names))
                raise DataError(f"the label {label!r} is not among the given classes, {listed(names)}.{guess}")
            classes[number] = label
        return classes


def continued(known: list[Label], labels: list[Label]) -> list[Label]:
    """Return the classes of a model with new ones. Classes that have another order than usual keep it."""
    if not labels:
        return list(known)
    usual = in_good_order(known) == known
    return in_good_order([*known, *labels]) if usual else [*known, *in_good_order(labels)]


def in_good_order(labels: Sequence[Label]) -> list[Label]:
    """Sort numbers by size and texts alphabetically; labels that cannot be compared are sorted as texts.

    >>> in_good_order([3, 1, 2]), in_good_order(["spam", "ham"]), in_good_order(["+", "-"])
    ([1, 2, 3], ['ham', 'spam'], ['-', '+'])
    """
    try:
        found = sorted(labels)  # type: ignore[type-var]
    except TypeError:
        found = sorted(labels, key=str)
    return positive_second(found)


def positive_second(labels: list[Label]) -> list[Label]:
    """Return the labels, and if there are two, the positive one comes second.

    >>> positive_second(["Approved", "rejected"]), positive_second(["happy", "unhappy"]), positive_second([1, 2])
    (['rejected', 'Approved'], ['unhappy', 'happy'], [1, 2])
    """
    if len(labels) != 2 or not all(isinstance(label, str) for label in labels):
        return labels
    first, second = (str(label).lower() for label in labels)
    by_word = (first in POSITIVE_WORDS) - (second in POSITIVE_WORDS)
    return labels[::-1] if (by_word or negates(second, first) - negates(first, second)) > 0 else labels


def negates(label: str, other: str) -> bool:
    """
    >>> negates("not spam", "spam"), negates("non-toxic", "toxic"), negates("spam", "not spam")
    (True, True, False)
    """
    return label.endswith(other) and label.removesuffix(other).rstrip(" _-") in NEGATIONS


# ---- labels that a user gives


def labels_in(classes: Any) -> tuple[Label, ...]:
    """Check a list of labels."""
    if isinstance(classes, str | bytes) or not hasattr(classes, "__iter__"):
        raise SettingsError("classes", f"must be a list of labels, such as ['ham', 'spam'], not {classes!r:.80}")
    labels = tuple(one_label("classes", one) for one in classes)
    if len(labels) < 2:
        found = f"not only {listed(labels)}" if labels else "and there is none"
        raise SettingsError("classes", f"must be at least two labels, {found}")
    known = KnownLabels(labels)
    for number, label in enumerate(labels):
        if known.written[str(label)] != number:
            raise SettingsError("classes", f"must differ, but {label!r} occurs twice")
    return labels


def one_label(setting: str, value: Any) -> Label:
    """Check a label."""
    try:
        label = plain(value)
    except DataError as error:
        raise SettingsError(setting, f"must be a label: {error}") from None
    if label is None or label == "":
        raise SettingsError(setting, f"must be a label, not {value!r}")
    return label


def as_in_data(name: Label, labels: list[Label]) -> Label:
    """Return a label that no example has, as a whole number if all labels of the examples are."""
    whole = isinstance(name, str) and labels and all(type(label) is int for label in labels)
    try:
        return int(name) if whole else name  # type: ignore[call-overload]
    except ValueError:
        return name


def listed(labels: Sequence[Label]) -> str:
    """Return the first few labels for a message."""
    more = f" and {len(labels) - LABELS_SHOWN:,} more" if len(labels) > LABELS_SHOWN else ""
    return ", ".join(map(repr, labels[:LABELS_SHOWN])) + more
