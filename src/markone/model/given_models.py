"""Models from numbers that a person gives: weights, or tables of probabilities for naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from markone import _core
from markone.data.class_order import ClassOrder, labels_in, listed, positive_second
from markone.data.labels import KnownLabels
from markone.data.source import Label
from markone.errors import Setting, SettingsError, did_you_mean, warn
from markone.features.map import BIAS
from markone.features.named import Kinds, map_of_names
from markone.model.events import Events, Floats
from markone.model.given_weights import GivenWeights, checked_table, have, placed
from markone.model.history import History
from markone.model.naive_bayes import NaiveBayes, Smoothing
from markone.model.rules import ONLINE, SOLVERS
from markone.model.scorer import LinearScorer
from markone.model.settings import Settings

PRIORS_WITHIN = 0.02
"""Priors that are rounded numbers may differ by this from a sum of 1."""
ROUNDING = 1e-9
NAMES_SHOWN = 5


def parts_of_weights(
    weights: Any, *, classes: Any, positive: Any, kinds: Kinds, features: Any, target: str | None, given: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of `Model` for given weights. `given` are settings of training."""
    if given.get("rule") in tuple(SOLVERS):  # the other solvers cannot continue from weights
        given = {**given, "solver": given.get("solver") or "online"}
    settings = Settings(**given).before_rows()
    if not settings.traits.online:
        raise SettingsError(
            "rule",
            f"of given weights must be one that takes a step at each example, {listed(ONLINE)}, not {settings.rule!r}",
        )
    numbers = weights if isinstance(weights, GivenWeights) else GivenWeights.of("weights", weights)
    labels = classes_for(numbers.classes, classes, positive)
    if labels is None:
        raise SettingsError(
            "classes",
            ("must name the two classes, such as ", Setting("classes", ["ham", "spam"])),
            advice="" if numbers.classes else "positive weights support the second",
        )
    names = numbers.features
    if not names:
        raise SettingsError(numbers.setting, f"must have a weight for a feature, and not only for {BIAS}")
    chart = map_of_names(names, kinds, features)
    matrix, bias = numbers.arrays(chart.names(), labels, bias=settings.bias)
    if len(labels) > 2:
        check_complete(numbers.setting, numbers.classes, labels)
    scorer = LinearScorer(_core.Weights32(matrix, bias, len(labels)), settings.traits.has_probabilities)
    return {
        "features": chart,
        "classes": labels,
        "scorer": scorer,
        "settings": settings,
        "history": History(stopped="given"),
        "target": target,
    }


def parts_of_tables(
    words: Any,
    *,
    priors: Any,
    unlisted: Any,
    likelihood: Any,
    classes: Any,
    positive: Any,
    kinds: Kinds,
    features: Any,
    target: str | None,
    tie: Any,
) -> dict[str, Any]:
    """Return the arguments of `Model` for given probabilities P(word | class)."""
    if not isinstance(words, Mapping) or not all(isinstance(table, Mapping) for table in words.values()):
        raise SettingsError("words", f"must be the probabilities of words for each class, not {words!r:.80}")
    bernoulli = likelihood == "bernoulli"
    if likelihood not in ("multinomial", "bernoulli"):
        raise SettingsError("likelihood", f"must be 'multinomial' or 'bernoulli', not {likelihood!r:.80}")
    tables = {label: checked_probabilities("words", label, table) for label, table in words.items()}
    labels = classes_for(list(tables), classes, positive)
    if labels is None:
        found = f"not only for {listed(list(tables))}" if tables else "and there is none"
        raise SettingsError("words", f"must have probabilities for at least two classes, {found}")
    check_complete("words", list(tables), labels)
    number = KnownLabels(labels).number
    by_class = {number(label): table for label, table in tables.items()}
    rows = [by_class[i] for i in range(len(labels))]
    names = listed_words(rows, unlisted)
    if unlisted is not None:
        usual = checked_probabilities("unlisted", "", {"the probability": unlisted})["the probability"]
        rows = [with_unlisted(names, usual, label, row, bernoulli) for label, row in zip(labels, rows, strict=True)]
    shares = priors_for(priors, labels)
    settings = Settings(
        rule="naive-bayes",
        k=0.0,
        likelihood=likelihood,
        priors=list(zip(labels, shares.tolist(), strict=True)),
        tie=tie,
    ).before_rows()
    chart = map_of_names(names, kinds, features)
    counts: Floats = np.zeros((chart.width, len(labels)))
    for column, row in enumerate(rows):
        features_of_row, shares_of_row = placed("words", {name: row[name] for name in names}, chart.names())
        counts[features_of_row, column] = shares_of_row
    groups = chart.groups(likelihood)
    if [group.kind for group in groups] != [likelihood]:
        raise SettingsError("kinds", f"must make features that are {likelihood}, such as words of texts")
    for label, row in zip(labels, rows, strict=True):
        if not bernoulli and (total := sum(row.values())) > 1 + ROUNDING:
            raise SettingsError("words", f"of {label!r} have probabilities that sum to {total:.6g}, which is above 1")
    others = np.zeros((1, len(labels))) if bernoulli else np.maximum(0, 1 - counts.sum(axis=0))[None, :]
    # The counts of one example of each class, and its words that no table has: with k = 0, P is the count itself.
    events = Events(tuple(groups), np.ones(len(labels)), counts, np.zeros((0, 5, len(labels))), others)
    return {
        "features": chart,
        "classes": labels,
        "scorer": NaiveBayes(events, Smoothing(k=0.0), shares),
        "settings": settings,
        "history": History(stopped="given"),
        "target": target,
    }


# ---- classes


def classes_for(named: list[Label], classes: Any, positive: Any) -> list[Label] | None:
    """Return the classes in their order: the given ones, or those that the numbers name; None if these are too few."""
    order = ClassOrder.of(positive, classes)
    if order.classes is not None:
        return list(order.classes)
    if len(named) < 2:
        return None
    labels = list(labels_in(named))
    return positive_second(labels) if positive is None else order.arrange(labels)


def check_complete(setting: str, named: list[Label], classes: list[Label]) -> None:
    """Raise an error if a class has no numbers, or if numbers are those of an unknown class."""
    known, given = KnownLabels(classes), KnownLabels(named)
    for label in named:
        if known.number(label) is None:
            guess = did_you_mean(str(label), map(str, classes))
            raise SettingsError(
                setting,
                f"{have(setting)} numbers for {label!r}, which is not a class; the classes are "
                f"{listed(classes)}.{guess}",
            )
    for label in classes:
        if given.number(label) is None:
            raise SettingsError(setting, f"{have(setting)} no numbers for {label!r}; give them for each class")


# ---- probabilities


def checked_probabilities(setting: str, label: Any, table: Mapping[Any, Any]) -> dict[str, float]:
    found = checked_table(setting, table)
    for name, value in found.items():
        if not 0 <= value <= 1:
            whose = f" of {label!r}" if label != "" else ""
            raise SettingsError(setting, f"{have(setting)} {value:g} for {name!r}{whose}; a probability is from 0 to 1")
    if not found:
        raise SettingsError(setting, f"{have(setting)} no words for {label!r}; give at least one")
    return found


def listed_words(rows: list[dict[str, float]], unlisted: Any) -> list[str]:
    """Return the words with a probability in each class, or, if `unlisted` is given, in some class."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if unlisted is not None:
        return names
    whole = [name for name in names if all(name in row for row in rows)]
    if not whole:
        raise SettingsError(
            "words", "have no word in common; give each word a probability in each class, or set unlisted"
        )
    if len(whole) < len(names):
        missing = [name for name in names if name not in whole]
        shown = ", ".join(map(repr, missing[:NAMES_SHOWN])) + (", ..." if len(missing) > NAMES_SHOWN else "")
        warn(
            f"some classes have no probability for {shown}, so predictions ignore "
            f"{'these words' if len(missing) > 1 else 'this word'}; give a probability for each class, or set unlisted"
        )
    return whole


def with_unlisted(
    names: list[str], usual: float, label: Label, row: dict[str, float], bernoulli: bool
) -> dict[str, float]:
    """Return the probabilities of a class with the usual one for each word that it does not have."""
    whole = {**dict.fromkeys(names, usual), **row}
    total = sum(whole.values())
    if not bernoulli and total > 1 + ROUNDING and sum(row.values()) <= 1 + ROUNDING:
        raise SettingsError(
            "unlisted",
            f"is {usual:g}, with which the probabilities of {label!r} sum to {total:.6g}, which is above 1; give a "
            "smaller number",
        )
    return whole


def priors_for(priors: Any, classes: list[Label]) -> Floats:
    """Return the prior of each class. Rounded priors are divided by their sum; without any, all are equal."""
    if priors is None:
        return np.full(len(classes), 1 / len(classes))
    if not isinstance(priors, Mapping):
        raise SettingsError("priors", f"must be a probability for each class, not {priors!r:.80}")
    found = checked_probabilities("priors", "", {str(label): value for label, value in priors.items()})
    check_complete("priors", list(priors), classes)
    number = KnownLabels(classes).number
    shares: Floats = np.zeros(len(classes))
    for label in priors:
        shares[number(label)] = found[str(label)]
    if not (shares > 0).all():
        raise SettingsError("priors", f"must be greater than 0 for each class, not {priors!r:.80}")
    if abs(shares.sum() - 1) > PRIORS_WITHIN:
        raise SettingsError("priors", f"sum to {shares.sum():.6g}, not to 1")
    shares /= shares.sum()
    return shares
