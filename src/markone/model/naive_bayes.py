"""Naive Bayes: scores each class by the probability of the row's events in that class."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Rows
from markone.data.labels import KnownLabels
from markone.data.source import Label
from markone.errors import SettingsError
from markone.features.event_kinds import numbers_of
from markone.features.map import FeatureMap
from markone.model.events import Events, Floats
from markone.model.named_numbers import FeatureNames, NamedNumbers
from markone.model.scorer import Contributions, need
from markone.storage.saved import Saved

if TYPE_CHECKING:
    from markone.model.model import Model
    from markone.model.odds import OddsExplanation

USUAL_OF_VARIANCE = 1e-9
LOWEST_DENSITY = -1e290
"""As in core/bayes/counts.h: the log-density of a number is finite, however far it is from the mean."""


ROWS = "rows"
"""The name of the row counts in `named_numbers`."""
SUM, SQUARES = "sum", "squares"
"""The names of the sums of numbers in `named_numbers`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Smoothing:
    """How probabilities are estimated from counts.

    Without an alpha, by Laplace smoothing: (c(x,y) + k) / (c(y) + k·|X|), where k = 0 is maximum likelihood. With an
    alpha, by linear interpolation of the class's own estimate with that of all classes: α·P̂(x|y) + (1-α)·P̂(x). For
    measurements, the largest variance times `of_variance` is added to all variances, so that none is 0.
    """

    k: float = 1.0
    alpha: float | None = None
    of_variance: float = USUAL_OF_VARIANCE

    def in_core(self) -> dict[str, Any]:
        return {"k": self.k, "alpha": self.alpha, "of_variance": self.of_variance}


class NaiveBayes:
    """Counts, and the log-probabilities that are computed from them.

    With two classes, the score is the logarithm of the odds for the second; with more, the score of each class is
    log P(y, x). With maximum likelihood, an event may be impossible in a class. Then the score of the class is -∞, or
    with two classes the odds are infinite. Events that occurred in no class are ignored. If all classes are impossible,
    the prior decides.
    """

    kind: ClassVar[str] = "naive-bayes"
    has_probabilities = True
    weights = None
    adds_up: ClassVar[bool] = True

    def __init__(self, events: Events, smoothing: Smoothing, priors: Floats | None = None) -> None:
        self.events = events
        self.smoothing = smoothing
        self.priors = None if priors is None else priors / priors.sum()
        """The prior probabilities of the classes; None if they are estimated from the counts."""

    @property
    def features(self) -> int:
        return self.events.features

    @property
    def classes(self) -> int:
        return self.events.classes

    @cached_property
    def tables(self) -> _core.EventTables:
        """The log-probabilities from which scores are computed."""
        return self._tables(odds=self.classes == 2)

    @cached_property
    def joint(self) -> _core.EventTables:
        """The same for each class, even if there are only two."""
        return self._tables(odds=False)

    def _tables(self, *, odds: bool) -> _core.EventTables:
        return _core.EventTables(
            groups=self.events.core,
            **self.events.arrays(),
            **self.smoothing.in_core(),
            priors=self.priors,
            odds=odds,
        )

    def scores(self, rows: Rows) -> Floats:
        return self.tables.scores(rows)

    def joint_scores(self, rows: Rows) -> Floats:
        """Return log P(y, x) for each class."""
        return self.joint.scores(rows)

    def merged(self, more: NaiveBayes) -> NaiveBayes:
        """Return the sum of two counts with the same features and classes, as if one model had counted all rows."""
        return NaiveBayes(self.events.merged(more.events), self.smoothing, self.priors)

    def scores_left_out(self, block: Block) -> Floats:
        """Return the leave-one-out scores of rows that were counted: for each, its own counts are subtracted."""
        return _core.leave_one_out(
            groups=self.events.core,
            **self.events.arrays(),
            **self.smoothing.in_core(),
            priors=self.priors,
            block=block.rows,
            labels=block.labels,
            importance=block.importance,
            odds=self.classes == 2,
        )

    # ---- estimates

    def probabilities(self, features: NDArray[Any] | None = None, *, of_others: bool = False) -> Floats:
        """Return P(feature | class) of some features or of all, features × classes.

        It is NaN for measurements and ignored features. For a feature that is present or absent, it is the probability
        that it is present. With `of_others`, it is P(feature | all other classes).
        """
        features = np.arange(self.features) if features is None else np.asarray(features, np.int64)
        counts, found = self.events.counts[features], np.full((len(features), self.classes), np.nan)
        totals = self.joint.totals()
        for i, group in enumerate(self.events.groups):
            mine = (group.start <= features) & (features < group.end)
            if group.kind == "gaussian" or not mine.any():
                continue
            bernoulli = group.kind == "bernoulli"
            total = self.events.rows if bernoulli else totals[i]
            some, size = counts[mine], 2 if bernoulli else group.events
            all_counts, all_total = some.sum(axis=1, keepdims=True), float(total.sum())
            if of_others:
                some, total = all_counts - some, all_total - total
            found[mine] = self._estimates(some, total, size, all_counts / all_total if all_total else 0 * all_counts)
        return found

    def _estimates(self, counts: Floats, totals: Floats, size: float, general: Floats) -> Floats:
        """Estimate probabilities in the same way as the core (core/bayes/counts.h)."""
        if self.smoothing.alpha is None:
            below = totals + self.smoothing.k * size
            return np.divide(counts + self.smoothing.k, below, out=np.zeros_like(counts), where=below > 0)
        own = np.divide(counts, totals, out=np.broadcast_to(general, counts.shape).copy(), where=totals > 0)
        return self.smoothing.alpha * own + (1 - self.smoothing.alpha) * general

    def moments(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return the features that are measurements, their means and their smoothed variances, numbers × classes."""
        mean, factor, _ = np.moveaxis(self.joint.bells(), 2, 0)
        variance = np.divide(-0.5, factor, out=np.zeros_like(factor), where=factor != 0)
        return numbers_of(self.events.groups), mean, variance

    # ---- explanations

    def contributions(
        self, features: NDArray[np.uint32], values: Floats, columns: list[int], lanes: int
    ) -> Contributions:
        """Return what the features of a row contribute to some columns of its scores.

        The weight of an event is log P(event | class) or, with two classes, the logarithm of the odds. The weight of a
        feature that is present or absent is the difference between both cases. The bias is the prior plus the score of
        a row in which all features are absent. A measurement has no weight. If all classes are impossible, only the
        prior contributes.
        """
        row = _core.SparseRows64(np.array([0, len(features)]), features, values, self.features)
        sums = self.scores(row)[0]
        logs, impossible = self.tables.of(features)
        log_priors, bases, never = self.tables.starts()
        present = values != 0
        # For each class, how many features are absent from this row although the class always has them.
        lacking = never - (present[:, None] & (impossible < 0)).sum(axis=0)
        cannot = present[:, None] & (impossible > 0)
        possible = (lacking + cannot.sum(axis=0) == 0).any()
        weights, products, of_zeros = self._numbers(features, values)
        times = self._times(features, values)
        if self.classes == 2:
            weights = np.where(np.isnan(weights[:, :1]), np.nan, logs)
            weights[cannot[:, 0], 0], weights[cannot[:, 1], 0] = np.inf, -np.inf
            products = products[:, 1:] - products[:, :1]
            bias = (bases[1:] - bases[:1]) + (of_zeros[1:] - of_zeros[:1])
            bias = np.where(lacking[:1] > 0, np.inf, np.where(lacking[1:] > 0, -np.inf, bias))
            priors = log_priors[1:] - log_priors[:1] if possible or np.isfinite(log_priors).all() else sums
        else:
            weights = np.where(np.isnan(weights), np.nan, np.where(cannot, -np.inf, logs))
            bias, priors = np.where(lacking > 0, -np.inf, bases + of_zeros), log_priors
        if not possible:
            nothing = np.zeros((len(features), len(columns)))
            return Contributions(nothing, nothing, priors[columns], sums[columns])
        counts = times > 0
        products[counts] = times[counts, None] * weights[counts]
        with np.errstate(invalid="ignore"):
            bias = np.where(np.isinf(bias), bias, bias + priors)
        return Contributions(weights[:, columns], products[:, columns], bias[columns], sums[columns])

    def _times(self, features: NDArray[np.uint32], values: Floats) -> Floats:
        """Return how often each feature is an event of the row; 0 for measurements and ignored features."""
        times = np.zeros(len(features))
        for group in self.events.groups:
            mine = (group.start <= features) & (features < group.end)
            if group.kind == "multinomial":
                times[mine] = values[mine]
            elif group.kind != "gaussian":
                times[mine] = values[mine] != 0
        return times

    def _numbers(self, features: NDArray[np.uint32], values: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the weights (NaN for measurements), the log-density of each measurement in each class, and the sum
        of the log-densities of measurements that are 0, which explanations do not show."""
        weights, products = np.zeros((2, len(features), self.classes))
        numbers = numbers_of(self.events.groups)
        if not len(numbers):
            return weights, products, np.zeros(self.classes)
        row = np.zeros(self.features)
        row[features] = values
        means, factors, constants = np.moveaxis(self.joint.bells(), 2, 0)
        away = row[numbers][:, None] - means
        densities = constants + np.maximum(LOWEST_DENSITY, factors * away * away)
        for group in self.events.groups:
            for number, by in group.missing:
                densities[numbers.searchsorted(number)] *= row[by] == 0
        weights[np.isin(features, numbers)] = np.nan
        mine = np.isin(features, numbers) & (values != 0)
        places = numbers.searchsorted(features[mine])
        products[mine] = densities[places]
        return weights, products, np.delete(densities, places, axis=0).sum(axis=0)

    def explain(self, model: Model, top: int) -> OddsExplanation:
        from markone.model.odds import explain_odds

        return explain_odds(model, self, top)

    def named_numbers(self, features: FeatureMap, labels: list[str]) -> list[NamedNumbers]:
        """Return the counts, and the sums of measurements and of their squares."""
        events = self.events
        found = [NamedNumbers(FeatureNames(features, ROWS), labels, np.vstack([events.counts, events.rows]))]
        numbers = [features.name(number) for number in numbers_of(events.groups).tolist()]
        if numbers:
            _, sums, _, squares, _ = events.numbers.swapaxes(0, 1)
            for what, values in ((SUM, sums), (SQUARES, squares)):
                found.append(NamedNumbers([f"{what} of {name}" for name in numbers], labels, values.copy()))
        return found

    # ---- fewer features

    def used(self) -> NDArray[np.bool_]:
        """Return which features can change a score.

        With two classes, a feature with the same probability in both is not used. With more, each class has its own
        score, which depends on every feature that occurred in some class.
        """
        logs, impossible = self.tables.of(np.arange(self.features, dtype=np.uint32))
        used: NDArray[np.bool_] = (logs != 0).any(axis=1) | (impossible != 0).any(axis=1)
        bells, numbers = self.joint.bells(), numbers_of(self.events.groups)
        two = self.classes == 2
        used[numbers] = (bells[:, 0] != bells[:, 1] if two else bells[:, :, 1] != 0).any(axis=1)
        for group in self.events.groups:
            if group.kind == "bernoulli" and not two:
                used[group.start : group.end] = True
            for number, by in group.missing:
                used[by] |= used[number]
        return used

    def prune(self, kept: NDArray[np.bool_]) -> NaiveBayes:
        return NaiveBayes(self.events.pruned(kept), self.smoothing, self.priors)

    # ---- in files

    def save(self) -> Saved:
        saved = self.events.save()
        facts = {"k": self.smoothing.k, "alpha": self.smoothing.alpha, "of_variance": self.smoothing.of_variance}
        priors = {} if self.priors is None else {"priors": self.priors}
        return Saved({**saved.facts, **facts}, {**saved.arrays, **priors})

    @classmethod
    def load(cls, saved: Saved, classes: int, has_probabilities: bool) -> NaiveBayes:
        facts, arrays = dict(saved.facts), dict(saved.arrays)
        k, alpha, of_variance = (facts.pop(name, None) for name in ("k", "alpha", "of_variance"))
        priors = arrays.pop("priors", None)
        need(is_number(k, np.inf), "its k is not a number of at least 0")
        need(alpha is None or is_number(alpha, 1), "its alpha is not a number from 0 to 1")
        need(is_number(of_variance, np.inf), "its of_variance is not a number of at least 0")
        if priors is not None:
            need(priors.dtype == np.float64 and priors.shape == (classes,), "its priors do not match its classes")
            valid = bool(np.isfinite(priors).all() and (priors >= 0).all() and priors.sum() > 0)
            need(valid, "its priors are not probabilities")
        smoothing = Smoothing(k=k, alpha=alpha, of_variance=of_variance)
        return cls(Events.load(Saved(facts, arrays), classes), smoothing, priors)


def is_number(value: Any, most: float) -> bool:
    """Return whether a value is a number from 0 to `most`, and finite as a float."""
    return type(value) in (int, float) and 0 <= value <= min(most, sys.float_info.max)


def priors_of(priors: Any, classes: list[Label]) -> Floats | None:
    """Return the priors of the classes by the setting `priors`; None if they are estimated from the counts."""
    if isinstance(priors, str):
        return None if priors == "data" else np.full(len(classes), 1 / len(classes))
    number = KnownLabels(classes).number
    found: Floats = np.full(len(classes), np.nan)
    for label, probability in priors:
        place = number(label)
        if place is None:
            raise SettingsError(
                "priors", f"names {label!r}, which is not a class; the classes are {', '.join(map(repr, classes))}"
            )
        found[place] = probability
    for label, probability in zip(classes, found.tolist(), strict=True):
        if np.isnan(probability):
            raise SettingsError("priors", f"has no number for {label!r}; set one for each class")
    return found
