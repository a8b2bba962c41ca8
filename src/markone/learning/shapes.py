"""Finds the shapes of a table's model with held-out training rows: how smooth curves are, and which pairs matter.

Three questions are answered one after the other, by the log-loss of rows that were not used for the fit:

1. Are curves better than lines, and how smooth should they be? Logistic regression is fitted for each smoothness.
2. Which pairs of columns matter? For each pair, the errors that remain are summed in each cell of its grid. If the pair
   does not matter, the sums are noise (compare FAST of Lou, Caruana, Gehrke & Hooker 2013). This needs no fit.
3. How many of the best pairs are better than none?

More parts are only accepted if the gain is larger than its standard error, so that a table for which lines are good
keeps them. Rows with the labels of the fit never judge it. All of this uses a sample of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, as_rows
from markone.data.source import UNLABELLED
from markone.features.categories import Categories
from markone.features.curves import Curves, Pair
from markone.features.map import FeatureMap, beside
from markone.features.numbers import Numbers
from markone.features.part import Matrix
from markone.learning.logistic import NewtonInWeights
from markone.learning.regression import SQUARED_UNIT, TargetObjective, in_units, standard
from markone.learning.row_defaults import suited
from markone.learning.smoothness import NONE, Smoothness
from markone.model.settings import OptimumSettings, RegressionSettings, Settings

Array = NDArray[np.float64]

SMOOTH = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
"""The values of the smoothness that are tried."""
PAIR_SMOOTH = 1.0
NUMBERS_OF_PAIRS = (2, 5, 10, 20)
"""The numbers of pairs that are tried."""
MOST_FEATURES = 1024
"""Pairs must not make the model wider: up to this width, the solver is fast."""
FEWEST_ROWS = 100
"""With fewer rows, only lines are used."""
FOLDS = ((2_000, 5), (6_000, 3))
"""For up to this number of rows, each row is held out once, in this number of folds. For more rows, a quarter is."""
SHARE = 4
MOST_STEPS = 12
TOL = 3e-4
"""The gap at which the fit is good enough for a comparison."""
SURE, SURE_OF_NUMBERS = 1.0, 2.0
"""How many standard errors curves and pairs must gain. Squared errors are large in few rows, so that a gain by chance
is more likely."""
NOISE = 10.0
"""The number of rows whose errors are assumed to be noise in each cell."""
SCREENED = 2**25
"""The largest number of rows times pairs in the search for pairs: it uses fewer rows if there are many pairs."""


NUMBERS = Settings(rule="regression")


@dataclass
class Fold:
    """Rows for the fit, and rows that judge it."""

    learned: NDArray[np.int64]
    tested: NDArray[np.int64]


def find_shapes(features: FeatureMap, seed: int, numbers: Array | None = None) -> None:
    """Choose the curves and pairs of a feature map that has just been fitted, and number its features again.

    If numbers are predicted, `numbers` has the number that each label stands for.
    """
    for part in features.parts:
        if isinstance(part, Curves):
            Search(features, part, seed, numbers).run()
    features.count()


class Search:
    """The search for the shapes of one part, with the lines and categories of the other parts beside it."""

    def __init__(self, features: FeatureMap, part: Curves, seed: int, numbers: Array | None = None) -> None:
        self.part = part
        sample = part.sample()
        plain: list[Matrix] = [one.refine(sample.draft.numbers) for one in features.parts if isinstance(one, Numbers)]
        plain += [one.refine(sample.draft.categories) for one in features.parts if isinstance(one, Categories)]
        self.plain = beside(plain)
        self.codes = part.places(sample.draft)
        self.rows = np.flatnonzero(sample.labels != UNLABELLED)
        self.labels = np.full(len(sample.labels), UNLABELLED, np.int32)
        met, places = np.unique(sample.labels[self.rows], return_inverse=True)
        self.labels[self.rows] = places
        self.classes = len(met)
        self.seed = seed
        self.sure = SURE if numbers is None else SURE_OF_NUMBERS
        self.targets: Array | None = None
        if numbers is not None and len(self.rows):
            self.targets = np.zeros(len(sample.labels))
            values = numbers[sample.labels[self.rows]]
            shift, scale = standard(values, np.ones(len(values)), np.dtype(np.float64), bias=True)
            self.targets[self.rows] = (values - shift) / scale

    def run(self) -> None:
        if len(self.rows) < FEWEST_ROWS or self.classes < 2:
            return
        self.folds = list(self.divided())
        fits = [self.fit(fold) for fold in self.folds]
        lines = np.concatenate([fit.losses(NONE) for fit in fits])
        straight = chosen = fits
        best, smoothness = lines, None
        for one in SMOOTH if self.part.bent else ():
            self.part.shape(one, (), 0.0)
            if self.part.width == 0:
                break
            # The features do not depend on the smoothness.
            block = self.block() if fits is straight else fits[0].block
            fits = [fit.widened(block) for fit in fits]
            losses = np.concatenate([fit.losses(self.smoothness()) for fit in fits])
            if losses.mean() < best.mean():
                best, smoothness, chosen = losses, one, fits
            elif smoothness is not None:
                break
        if not gains(lines, best, self.sure):
            best, smoothness, chosen = lines, None, straight
        self.part.shape(smoothness, (), 0.0)
        pairs = self.number_of_pairs(best, chosen) if self.part.may_pair else 0
        if pairs:
            fit = chosen[0].on(Fold(self.rows, self.rows))
            fit.losses(self.smoothness())
            self.part.shape(smoothness, self.screened(fit, pairs), PAIR_SMOOTH)

    def divided(self) -> Iterator[Fold]:
        """Divide the labelled rows into folds, at random."""
        mixed = np.random.default_rng([self.seed, 2]).permutation(self.rows)
        count = next((folds for rows, folds in FOLDS if len(mixed) <= rows), None)
        for i in range(count or 1):
            tested = np.zeros(len(self.labels), bool)
            tested[mixed[i :: count or SHARE]] = True
            yield Fold(self.rows[~tested[self.rows]], self.rows[tested[self.rows]])

    def fit(self, fold: Fold) -> Fit:
        """A fit with the present shapes."""
        if self.targets is None:
            return Fit(self.block(), self.classes, fold)
        return NumberFit(self.block(), self.classes, fold, targets=self.targets)

    def block(self) -> Block:
        """The rows of the sample with the present shapes."""
        matrix = beside([self.plain, self.part.rows(self.codes)]) if self.part.width else self.plain
        return Block(as_rows(matrix), matrix, self.labels)

    def smoothness(self) -> Smoothness:
        """The penalty of the present shapes. The features of the part come last."""
        start = self.plain.shape[1]
        return Smoothness.of(one.moved(start) for one in self.part.neighbours())

    def number_of_pairs(self, best: Array, fits: list[Fit]) -> int:
        """The best number of pairs, from the fits of the folds without any and their losses.

        Each fold finds its pairs in its own rows, because the tested rows must be new.
        """
        smoothness = self.part.smoothness
        room = (MOST_FEATURES - fits[0].block.matrix.shape[1]) // (self.part.side_limit**2)
        numbers = [number for number in NUMBERS_OF_PAIRS if number <= room]
        if not numbers:
            return 0
        found = [(fit, self.screened(fit, max(numbers))) for fit in fits]
        chosen, before = 0, best
        for number in numbers:
            losses = []
            for fit, pairs in found:
                self.part.shape(smoothness, pairs[:number], PAIR_SMOOTH)
                losses.append(fit.widened(self.block()).losses(self.smoothness()))
            self.part.shape(smoothness, (), 0.0)
            these = np.concatenate(losses)
            if these.mean() < best.mean():
                best, chosen = these, number
            elif number > 2 * max(chosen, 2):
                break
            if number >= max(len(pairs) for _, pairs in found):
                break
        return chosen if gains(before, best, self.sure) else 0

    def screened(self, fit: Fit, most: int) -> list[Pair]:
        """The pairs whose cells explain most of the errors of a fit, the best first."""
        part = self.part
        columns = [i for i in range(len(part.columns)) if part.side(i) > 1]
        pairs = [Pair(*pair) for pair in combinations(columns, 2)]
        if not pairs:
            return []
        errors, bends = fit.errors()
        rows = fit.fold.learned
        step = -(-len(rows) * len(pairs) // SCREENED)
        rows, errors, bends = rows[::step], errors[::step], bends[::step]
        sides = {i: part.coarse(i, part_codes[rows]) for i, part_codes in enumerate(self.codes) if i in {*columns}}
        scores = [gain_of(part, pair, sides, errors, bends) for pair in pairs]
        order = np.argsort(-np.array(scores), kind="stable")[:most]
        return [pairs[i] for i in order.tolist() if scores[i] > 0]


def gain_of(part: Curves, pair: Pair, sides: dict[int, NDArray[np.int64]], errors: Array, bends: Array) -> float:
    """How much of the errors a step of Newton's method in each cell of a pair would explain, beyond noise."""
    first, second = sides[pair.first], sides[pair.second]
    cells = part.side(pair.first) * part.side(pair.second)
    places = np.where((first < 0) | (second < 0), cells, first * part.side(pair.second) + second)
    gain = 0.0
    for error, bend in zip(errors.T, bends.T, strict=True):
        sums = np.bincount(places, error, minlength=cells + 1)[:cells]
        sizes = np.bincount(places, bend, minlength=cells + 1)[:cells]
        gain += float(((sums**2 - sizes) / (sizes + NOISE)).sum())
    return gain


def gains(before: Array, after: Array, sure: float) -> bool:
    """Whether losses have become smaller by more than so many standard errors of the difference."""
    less = before - after
    return bool(less.mean() > sure * less.std() / np.sqrt(len(less)))


class Fit:
    """Logistic regression on the rows of a fold."""

    def __init__(self, block: Block, classes: int, fold: Fold, start: Array | None = None) -> None:
        self.block = block
        self.classes = classes
        self.fold = fold
        self.start = start

    def widened(self, block: Block) -> Fit:
        """The same fit with the features of another block, starting from the weights of the features that stay."""
        if block is self.block:
            return copy(self)
        if self.start is None:
            return self.like_this(block, None)
        start = np.zeros((block.matrix.shape[1] + 1, self.start.shape[1]))
        same = min(len(start), len(self.start)) - 1
        start[:same], start[-1] = self.start[:same], self.start[-1]
        return self.like_this(block, start)

    def on(self, fold: Fold) -> Fit:
        """The same fit on other rows, starting from the weights of this one."""
        fit = self.like_this(self.block, self.start)
        fit.fold = fold
        return fit

    def like_this(self, block: Block, start: Array | None) -> Fit:
        return Fit(block, self.classes, self.fold, start)

    def losses(self, smoothness: Smoothness) -> Array:
        """Fit the weights, and return the loss of each tested row."""
        of = self.learned
        columns = 1 if self.classes == 2 else self.classes
        descent = NewtonInWeights(of, self.settings, self.start, smoothness)
        for _ in range(MOST_STEPS):
            before = descent.objective
            descent.step(TOL)
            if descent.gap <= TOL or not descent.objective < before:
                break
        self.start = descent.weights()[:, :columns].copy()
        self._pulls = descent.pulls[:, :columns] * of.importance
        tested = self.tested
        scores = np.zeros((tested.rows, tested.stride))
        tested.score(descent.weights(), scores)
        return self.losses_of(tested, scores)

    @cached_property
    def learned(self) -> _core.Objective:
        """The loss of the rows for the fit."""
        return self.objective(self.fold.learned)

    @cached_property
    def tested(self) -> _core.Objective:
        """The loss of the rows that judge it."""
        return self.objective(self.fold.tested)

    @cached_property
    def settings(self) -> OptimumSettings:
        """The settings with the default penalty for the rows for the fit."""
        matrix = self.block.matrix[self.fold.learned]
        return self.settings_for(Block(as_rows(matrix), matrix, self.block.labels[self.fold.learned]))

    def settings_for(self, training: Block) -> OptimumSettings:
        columns = 1 if self.classes == 2 else self.classes
        return OptimumSettings.of(suited(Settings(rule="logistic", solver="newton"), [training], columns))

    def losses_of(self, tested: _core.Objective, scores: Array) -> Array:
        """The loss of each tested row."""
        pulls = np.zeros_like(scores)
        tested.judge(scores, pulls)
        columns = 1 if self.classes == 2 else self.classes
        return -np.log1p(-np.minimum(self.missed(pulls[:, :columns] * tested.importance, self.fold.tested), 1 - 1e-12))

    def missed(self, pulls: Array, rows: NDArray[np.int64]) -> Array:
        """One minus the probability of the right class."""
        if self.classes == 2:
            return abs(pulls[:, 0])
        return abs(pulls[np.arange(len(rows)), self.block.labels[rows]])

    def errors(self) -> tuple[Array, Array]:
        """The errors of all scores of the fitted rows, and how much the loss bends there: p - y and p (1 - p)."""
        size = abs(self._pulls)
        return self._pulls, size * (1 - size)

    def objective(self, rows: NDArray[np.int64]) -> _core.Objective:
        return _core.Objective(self.block.rows, self.block.labels, self.classes, None, rows)


class NumberFit(Fit):
    """Least squares on the rows of a fold, with targets that are scaled to standard deviation 1."""

    def __init__(self, block: Block, classes: int, fold: Fold, start: Array | None = None, *, targets: Array) -> None:
        super().__init__(block, 2, fold, start)  # one score for each row
        self.targets = targets

    def like_this(self, block: Block, start: Array | None) -> Fit:
        return NumberFit(block, self.classes, self.fold, start, targets=self.targets)

    def settings_for(self, training: Block) -> OptimumSettings:
        return in_units(RegressionSettings.of(suited(NUMBERS, [training], 1)), SQUARED_UNIT)

    def losses_of(self, tested: _core.Objective, scores: Array) -> Array:
        losses: Array = (scores[:, 0] - self.targets[self.fold.tested]) ** 2 / 2
        return losses

    def errors(self) -> tuple[Array, Array]:
        """The errors in standard deviations, and the curvature of the loss; both in the scale of two classes."""
        spread = (_core.sum((self._pulls**2).ravel()) / len(self._pulls)) ** 0.5 or 1.0
        return self._pulls / (2 * spread), np.full_like(self._pulls, SQUARED_UNIT)

    def objective(self, rows: NDArray[np.int64]) -> _core.Objective:
        return TargetObjective(self.block, self.targets, rows, NUMBERS)
