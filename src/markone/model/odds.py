"""Explains a naive Bayes model by tables of probabilities and odds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief, of_fields
from markone.data.source import Label
from markone.model.counts import STRONGEST
from markone.model.events import Floats
from markone.model.explaining import LABEL_WIDTH, plain_label
from markone.reporting.grids import Grid, counted, label_in_words, plain_number
from markone.reporting.shown import Content, Shown

if TYPE_CHECKING:
    from markone.model.model import Model
    from markone.model.naive_bayes import NaiveBayes


class Ratio(NamedTuple):
    """How much more probable an event is in a class than in the other classes."""

    feature: str
    inside: float
    """P(feature | class)."""
    outside: float
    """P(feature | the other class, or all other classes together)."""
    odds: float
    """inside / outside, which may be infinite."""
    times: float | None
    """How often it occurred in the class; None if the probabilities were given and not counted."""

    def __repr__(self) -> str:
        return of_fields(self)


class Likely(NamedTuple):
    """A feature that is probable in a class; it may be just as probable in other classes."""

    feature: str
    probability: float

    def __repr__(self) -> str:
        return of_fields(self)


class Measured(NamedTuple):
    """The distribution of a measurement in each class."""

    feature: str
    mean: list[float]
    """The mean in each class."""
    deviation: list[float]

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class ClassOdds(Brief):
    """The features with the largest odds for a class."""

    label: Label
    examples: float | None
    """The sum of the importance of its rows; None if the probabilities were given and not counted."""
    prior: float
    ratios: list[Ratio]
    """The largest odds come first; among equal odds, the more frequent feature comes first."""
    likely: list[Likely]
    """The most probable features come first."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "label": plain_label(self.label),
            "examples": self.examples,
            "prior": self.prior,
            "ratios": [{name: in_json(value) for name, value in one._asdict().items()} for one in self.ratios],
            "likely": [one._asdict() for one in self.likely],
        }


@dataclass(frozen=True, slots=True, repr=False)
class OddsExplanation(Shown):
    """The probabilities of a naive Bayes model: for each class P(feature | class), and the largest odds ratios
    P(feature | class) / P(feature | others).

    With two classes, the odds of one are the inverse of the other's. With maximum likelihood, odds may be infinite.
    """

    classes: list[ClassOdds]
    numbers: list[Measured]
    """The features that are measurements, in the order of the features."""
    features: int
    """How many features the model has."""
    top: int
    """The number of rows that are shown of each table; `as_dict` and `classes` contain more."""

    def in_brief(self) -> str:
        return f"{counted(self.features, 'feature')}, {counted(len(self.classes), 'class', 'classes')}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "features": self.features,
            "classes": [one.as_dict() for one in self.classes],
            "numbers": [one._asdict() for one in self.numbers],
        }

    def by_class(self, top: int) -> list[tuple[Label, list[str]]]:
        """Return for each class the names of the features with the largest odds."""
        return [(one.label, [ratio.feature for ratio in one.ratios[:top]]) for one in self.classes]

    def parts(self) -> Iterator[Content]:
        examples = sum(one.examples or 0 for one in self.classes)
        origin = f"counted in {count_in_words(examples)} examples" if examples else "with given probabilities"
        yield f"{counted(self.features, 'feature')}, {counted(len(self.classes), 'class', 'classes')}, {origin}"
        for one in self.classes:
            yield ""
            label = label_in_words(one.label)
            seen = "" if one.examples is None else f"{count_in_words(one.examples)} examples, "
            facts = f"{seen}prior {plain_number(one.prior)}"
            yield f"features that support {label} ({facts})"
            if one.ratios:
                yield self.odds_grid(one)
            if one.likely:
                yield ""
                yield f"most probable features in {label}"
                yield self.likely_grid(one)
        if self.numbers:
            yield ""
            yield "measurements: mean ± standard deviation"
            yield self.numbers_grid()

    def odds_grid(self, one: ClassOdds) -> Grid:
        others = [other.label for other in self.classes if other is not one]
        elsewhere = label_in_words(others[0], LABEL_WIDTH) if len(others) == 1 else "others"
        heads = ["feature", f"P in {label_in_words(one.label, LABEL_WIDTH)}", f"P in {elsewhere}", "odds", "times"]
        rows = [
            [
                ratio.feature,
                plain_number(ratio.inside),
                plain_number(ratio.outside),
                ratio_in_words(ratio.odds),
                "" if ratio.times is None else plain_number(ratio.times),
            ]
            for ratio in one.ratios[: self.top]
        ]
        if one.examples is None:
            return Grid([heads[:-1]], [row[:-1] for row in rows], spare=[2, 1])
        return Grid([heads], rows, spare=[4, 2, 1])

    def likely_grid(self, one: ClassOdds) -> Grid:
        rows = [[likely.feature, plain_number(likely.probability)] for likely in one.likely[: self.top]]
        return Grid([["feature", "P"]], rows)

    def numbers_grid(self) -> Grid:
        heads = ["feature", *(label_in_words(one.label, LABEL_WIDTH) for one in self.classes)]
        rows = []
        for number in self.numbers[: self.top]:
            pairs = zip(number.mean, number.deviation, strict=True)
            rows.append([number.feature, *(f"{plain_number(mean)} ± {plain_number(spread)}" for mean, spread in pairs)])
        return Grid([heads], rows)


def explain_odds(model: Model, scorer: NaiveBayes, top: int) -> OddsExplanation:
    inside, outside = scorer.probabilities(), scorer.probabilities(of_others=True)
    odds = odds_of(inside, outside)
    priors = np.exp(scorer.joint.starts()[0]).tolist()
    name, most = model.features.name, max(top, STRONGEST)
    given = model.history.stopped == "given"
    classes = []
    for k, label in enumerate(model.classes):
        counts = scorer.events.counts[:, k]
        strong = largest(odds[:, k], counts, most, above=1.0)
        times = [None] * len(strong) if given else counts[strong].tolist()
        facts = (column[strong].tolist() for column in (inside[:, k], outside[:, k], odds[:, k]))
        ratios = [Ratio(name(f), *one) for f, *one in zip(strong.tolist(), *facts, times, strict=True)]
        probable = largest(inside[:, k], counts, most, above=0.0)
        likely = [Likely(name(f), p) for f, p in zip(probable.tolist(), inside[probable, k].tolist(), strict=True)]
        examples = None if given else float(scorer.events.rows[k])
        classes.append(ClassOdds(label, examples, priors[k], ratios, likely))
    features, means, variances = scorer.moments()
    measured = zip(features.tolist(), means.tolist(), np.sqrt(variances).tolist(), strict=True)
    numbers = [Measured(name(f), mean, spread) for f, mean, spread in measured]
    return OddsExplanation(classes, numbers, scorer.features, top)


def odds_of(inside: Floats, outside: Floats) -> Floats:
    """Return inside / outside: infinite if only `outside` is 0, 1 if both are 0, and NaN if one of them is NaN."""
    ratios = np.divide(inside, outside, out=np.full_like(inside, np.inf), where=outside != 0)
    ratios[(inside == 0) & (outside == 0)] = 1.0
    return ratios


def largest(values: Floats, counts: Floats, most: int, above: float) -> NDArray[np.int64]:
    """Return the indices of the largest values above a limit, the largest first.

    Among equal values, the more frequent come first, and then those with smaller indices.
    """
    found = np.flatnonzero(values > above)
    if len(found) > most:
        found = found[values[found] >= np.partition(values[found], -most)[-most]]
    return found[np.lexsort((-counts[found], -values[found]))[:most]]


def ratio_in_words(odds: float) -> str:
    return "∞" if math.isinf(odds) else f"{odds:,.1f} : 1"


def in_json(value: Any) -> Any:
    return "inf" if isinstance(value, float) and math.isinf(value) else value


def count_in_words(count: float) -> str:
    """
    >>> count_in_words(3801.0), count_in_words(2.5)
    ('3,801', '2.5')
    """
    return f"{count:,.0f}" if count == round(count) else plain_number(count)
