"""Naive Bayes: probabilities from counts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from markone.reference.vectors import Number, Vector

Distribution = dict[Hashable, Number]

# ---- estimates, as in the lecture


def maximum_likelihood(counts: Mapping[Hashable, Number]) -> Distribution:
    """count(x) / total samples.

    >>> maximum_likelihood({"r": 2, "b": 1})["r"]
    Fraction(2, 3)
    """
    return laplace(counts, 0)


def laplace(counts: Mapping[Hashable, Number], k: Number = 1) -> Distribution:
    """(c(x) + k) / (N + k |X|): as if every outcome had been seen k more times. If N and k are 0, all estimates are 0.

    >>> [laplace({"r": 2, "b": 1}, k)["r"] for k in (0, 1, 100)]
    [Fraction(2, 3), Fraction(3, 5), Fraction(102, 203)]
    """
    total = sum(counts.values()) + k * len(counts)
    return {x: divided(count + k, total) if total else 0 for x, count in counts.items()}


def interpolated(own: Distribution, general: Distribution, alpha: Number) -> Distribution:
    """α P̂(x|y) + (1-α) P̂(x)."""
    return {x: alpha * own[x] + (1 - alpha) * general[x] for x in general}


def divided(above: Number, below: Number) -> Number:
    """The quotient, which is exact for whole numbers and fractions."""
    exact = isinstance(above, int | Fraction) and isinstance(below, int | Fraction)
    return Fraction(above) / Fraction(below) if exact else above / below


# ---- the classifier


@dataclass
class NaiveBayes:
    """Counts of words in each class. Each word of a text is drawn from the same distribution, at any position.

    With `bernoulli`, there is instead one draw for each feature, which is either present or absent.
    """

    classes: Sequence[Hashable]
    features: Sequence[Hashable]
    k: Number = 1
    alpha: Number | None = None
    bernoulli: bool = False
    priors: Mapping[Hashable, Number] | None = None

    rows: dict[Hashable, Number] = field(default_factory=dict)
    counts: dict[Hashable, dict[Hashable, Number]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for y in self.classes:
            self.rows.setdefault(y, 0)
            self.counts.setdefault(y, dict.fromkeys(self.features, 0))

    def learn(self, examples: Iterable[tuple[Vector, Hashable, Number]]) -> None:
        """One pass over (features, class, importance)."""
        for x, y, importance in examples:
            self.rows[y] += importance
            for feature, value in x.items():
                self.counts[y][feature] += importance * ((value != 0) if self.bernoulli else value)

    def prior(self, y: Hashable) -> Number:
        return maximum_likelihood(self.rows)[y] if self.priors is None else self.priors[y]

    def draws(self, y: Hashable) -> list[Distribution]:
        """The distributions that a row of class y is drawn from: one for all words, or one for each feature."""
        own, general = (
            self.tables(self.counts[y], self.rows[y]),
            self.tables(self.all_counts(), sum(self.rows.values())),
        )
        if self.alpha is None:
            return [laplace(table, self.k) for table in own]
        both = zip(map(maximum_likelihood, own), map(maximum_likelihood, general), own, strict=True)
        # A class without counts has no estimate of its own.
        return [interpolated(mine if any(table.values()) else all_, all_, self.alpha) for mine, all_, table in both]

    def tables(self, counts: Mapping[Hashable, Number], rows: Number) -> list[dict[Hashable, Number]]:
        if not self.bernoulli:
            return [dict(counts)]
        return [{(x, True): counts[x], (x, False): rows - counts[x]} for x in self.features]

    def all_counts(self) -> dict[Hashable, Number]:
        return {x: sum(self.counts[y][x] for y in self.classes) for x in self.features}

    def events(self, x: Vector) -> list[tuple[int, Hashable, Number]]:
        """The events of a row: the number of the distribution, the outcome, and how often it occurs."""
        if not self.bernoulli:
            return [(0, feature, value) for feature, value in x.items() if value]
        return [(i, (feature, x.get(feature, 0) != 0), 1) for i, feature in enumerate(self.features)]

    def joint(self, x: Vector) -> dict[Hashable, Number]:
        """P(y) ∏ P(event | y) for each class.

        Events that occur in no class are ignored. If no class is possible, the prior decides.
        """
        draws = {y: self.draws(y) for y in self.classes}
        found = {y: self.prior(y) for y in self.classes}
        for table, event, times in self.events(x):
            if any(draws[y][table][event] for y in self.classes):
                for y in self.classes:
                    found[y] = found[y] * draws[y][table][event] ** times
        return found if any(found.values()) else {y: self.prior(y) for y in self.classes}

    def posterior(self, x: Vector) -> dict[Hashable, Number]:
        """P(y | x)."""
        joint = self.joint(x)
        return {y: divided(p, sum(joint.values())) for y, p in joint.items()}

    def log_joint(self, x: Vector) -> dict[Hashable, float]:
        """The logarithms of `joint`; -∞ for impossible classes."""
        return {y: logarithm(p) for y, p in self.joint(x).items()}

    def odds(self, feature: Hashable, a: Hashable, b: Hashable) -> Number:
        """P(feature | a) / P(feature | b), which may be infinite; 1 if the feature occurs in neither class."""
        event = (feature, True) if self.bernoulli else feature
        table = self.features.index(feature) if self.bernoulli else 0
        above, below = self.draws(a)[table][event], self.draws(b)[table][event]
        return divided(above, below) if below else math.inf if above else 1


def logarithm(p: Number) -> float:
    """The natural logarithm, also of fractions whose parts are too large for a float."""
    if not p:
        return -math.inf
    return math.log(p.numerator) - math.log(p.denominator) if isinstance(p, Fraction) else math.log(p)
