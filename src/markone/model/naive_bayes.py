"""Naive Bayes: classes scored by how probable the events of a row are in each of them."""

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
from markone.model.odds import OddsExplanation, explain_odds
from markone.model.scorer import Contributions, need
from markone.storage.saved import Saved

if TYPE_CHECKING:
    from markone.model.model import Model

USUAL_OF_VARIANCE = 1e-9
LOWEST_DENSITY = -1e290
"""As in core/bayes/counts.h: however far away a number is, what it says is finite."""


ROWS = "rows"
"""What is counted beside events: the rows of each class."""
SUM, SQUARES = "sum", "squares"
"""What is added up of numbers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Smoothing:
    """How probabilities are estimated from counts.

    By Laplace, (c(x,y) + k) / (c(y) + k·|X|), where k = 0 is maximum likelihood; or, where there is an alpha, by linear
    interpolation of the class's own estimate with that of all classes: α·P̂(x|y) + (1-α)·P̂(x). Of numbers, this share of
    the largest variance of any number is added to all variances, so that none is 0.
    """

    k: float = 1.0
    alpha: float | None = None
    of_variance: float = USUAL_OF_VARIANCE

    def in_core(self) -> dict[str, Any]:
        return {"k": self.k, "alpha": self.alpha, "of_variance": self.of_variance}


class NaiveBayes:
    """Counts, and the logarithms that they make.

    Of two classes the score is the logarithm of the odds for the second; of more, each class has log P(y, x). By
    maximum likelihood an event may be impossible in a class, whose score is then -∞, or of two classes the odds
    infinite. An event that no class has seen says nothing. If no class is left that is possible, the prior decides.
    """

    kind: ClassVar[str] = "naive-bayes"
    has_probabilities = True
    weights = None
    adds_up: ClassVar[bool] = True

    def __init__(self, events: Events, smoothing: Smoothing, priors: Floats | None = None) -> None:
        self.events = events
        self.smoothing = smoothing
        self.priors = None if priors is None else priors / priors.sum()
        """The probabilities of the classes; None where they are those of the counts."""

    @property
    def features(self) -> int:
        return self.events.features

    @property
    def classes(self) -> int:
        return self.events.classes

    @cached_property
    def tables(self) -> _core.EventTables:
        """The logarithms that scores are made of."""
        return self._tables(odds=self.classes == 2)

    @cached_property
    def joint(self) -> _core.EventTables:
        """The same for each class, be they two."""
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
        """log P(y, x) for each class."""
        return self.joint.scores(rows)

    def merged(self, more: NaiveBayes) -> NaiveBayes:
        """What both have counted, of the same features and classes: the same as if one had counted all."""
        return NaiveBayes(self.events.merged(more.events), self.smoothing, self.priors)

    def scores_left_out(self, block: Block) -> Floats:
        """The scores of rows that were counted, each by all the others: its own counts are taken away."""
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
        """P(feature | class) of some features or of all, features × classes; NaN where a feature is a number, or
        has no say. Of a feature that is there or not, that it is there. `of_others`: P(feature | all other classes)."""
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
        """As the core estimates them (core/bayes/counts.h)."""
        if self.smoothing.alpha is None:
            below = totals + self.smoothing.k * size
            return np.divide(counts + self.smoothing.k, below, out=np.zeros_like(counts), where=below > 0)
        own = np.divide(counts, totals, out=np.broadcast_to(general, counts.shape).copy(), where=totals > 0)
        return self.smoothing.alpha * own + (1 - self.smoothing.alpha) * general

    def moments(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """The features that are numbers; their means, and their variances with what is added: numbers × classes."""
        mean, factor, _ = np.moveaxis(self.joint.bells(), 2, 0)
        variance = np.divide(-0.5, factor, out=np.zeros_like(factor), where=factor != 0)
        return numbers_of(self.events.groups), mean, variance

    # ---- explanations

    def contributions(
        self, features: NDArray[np.uint32], values: Floats, columns: list[int], lanes: int
    ) -> Contributions:
        """What the features of a row make of some columns of its scores.

        The weight of an event is log P(event | class) or, of two classes, the logarithm of the odds; of a feature that
        is there or not, how much more it says that it is there. The bias is the prior and what a row says that has
        nothing. A number has no weight. Where no class is possible, nothing but the prior says anything.
        """
        row = _core.SparseRows64(np.array([0, len(features)]), features, values, self.features)
        sums = self.scores(row)[0]
        logs, impossible = self.tables.of(features)
        log_priors, bases, never = self.tables.starts()
        there = values != 0
        # Of each class, how much of what it cannot be without this row is without.
        lacking = never - (there[:, None] & (impossible < 0)).sum(axis=0)
        cannot = there[:, None] & (impossible > 0)
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
        says = times > 0
        products[says] = times[says, None] * weights[says]
        with np.errstate(invalid="ignore"):
            bias = np.where(np.isinf(bias), bias, bias + priors)
        return Contributions(weights[:, columns], products[:, columns], bias[columns], sums[columns])

    def _times(self, features: NDArray[np.uint32], values: Floats) -> Floats:
        """How often each feature is an event of the row; 0 for what is a number or has no say."""
        times = np.zeros(len(features))
        for group in self.events.groups:
            mine = (group.start <= features) & (features < group.end)
            if group.kind == "multinomial":
                times[mine] = values[mine]
            elif group.kind != "gaussian":
                times[mine] = values[mine] != 0
        return times

    def _numbers(self, features: NDArray[np.uint32], values: Floats) -> tuple[Floats, Floats, Floats]:
        """NaN for the features that are numbers, what each says for each class, and what those say that are 0, which
        no explanation shows."""
        weights, products = np.zeros((2, len(features), self.classes))
        numbers = numbers_of(self.events.groups)
        if not len(numbers):
            return weights, products, np.zeros(self.classes)
        row = np.zeros(self.features)
        row[features] = values
        means, factors, constants = np.moveaxis(self.joint.bells(), 2, 0)
        away = row[numbers][:, None] - means
        says = constants + np.maximum(LOWEST_DENSITY, factors * away * away)
        for group in self.events.groups:
            for number, by in group.missing:
                says[numbers.searchsorted(number)] *= row[by] == 0
        weights[np.isin(features, numbers)] = np.nan
        mine = np.isin(features, numbers) & (values != 0)
        places = numbers.searchsorted(features[mine])
        products[mine] = says[places]
        return weights, products, np.delete(says, places, axis=0).sum(axis=0)

    def explain(self, model: Model, top: int) -> OddsExplanation:
        return explain_odds(model, self, top)

    def named_numbers(self, features: FeatureMap, labels: list[str]) -> list[NamedNumbers]:
        """The counts, and what is added up of numbers."""
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
        """Of two classes, what says the same for both is not used. Of more, each has a score of its own, in which
        everything counts that some class has seen."""
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
        need(is_number(k, np.inf), "its k is no number")
        need(alpha is None or is_number(alpha, 1), "its alpha is no share")
        need(is_number(of_variance, np.inf), "what it adds to variances is no number")
        if priors is not None:
            need(priors.dtype == np.float64 and priors.shape == (classes,), "its priors fit no classes")
            need(bool(np.isfinite(priors).all() and (priors >= 0).all() and priors.sum() > 0), "its priors are none")
        smoothing = Smoothing(k=k, alpha=alpha, of_variance=of_variance)
        return cls(Events.load(Saved(facts, arrays), classes), smoothing, priors)


def is_number(value: Any, most: float) -> bool:
    """At least 0, at most so much, and finite as a float."""
    return type(value) in (int, float) and 0 <= value <= min(most, sys.float_info.max)


def priors_of(priors: Any, classes: list[Label]) -> Floats | None:
    """What the setting `priors` says of the classes; None where the counts say it."""
    if isinstance(priors, str):
        return None if priors == "data" else np.full(len(classes), 1 / len(classes))
    number = KnownLabels(classes).number
    found: Floats = np.full(len(classes), np.nan)
    for label, probability in priors:
        place = number(label)
        if place is None:
            raise SettingsError(
                "priors", f"names {label!r}, which is no class; there are {', '.join(map(repr, classes))}"
            )
        found[place] = probability
    for label, probability in zip(classes, found.tolist(), strict=True):
        if np.isnan(probability):
            raise SettingsError("priors", f"has no number for {label!r}; give one for each class")
    return found
