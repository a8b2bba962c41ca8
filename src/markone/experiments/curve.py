"""Learning curves: the accuracy by the number of training rows, on the same held-out rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from markone.brief import of_fields
from markone.checks import check_named, whole
from markone.data.store import stack
from markone.errors import DataError, SettingsError
from markone.experiments.contenders import Way
from markone.experiments.folds import rows_of
from markone.experiments.progress import StepProgress, watching
from markone.experiments.splits import Plan, Split
from markone.experiments.validating import open_for, way_of
from markone.experiments.validation import score_of
from markone.extras import need
from markone.features.spec import Function
from markone.learning.samples import Sample
from markone.model.rules import Rule
from markone.model.settings import TrialSettings
from markone.reporting.charts import Chart, Line
from markone.reporting.grids import Grid, plain_number
from markone.reporting.shown import Content, Shown

FEWEST = 8
MOST_SIZES = 8
"""By default, each size is half of the next one. These are the smallest size and the largest number of sizes."""


class Size(NamedTuple):
    """The result with one number of training rows. All numbers are means over the repeats."""

    rows: int
    training: float
    """The accuracy on the training rows themselves; for a regression, the mean squared error."""
    held_out: float
    """The same on the held-out rows."""
    scores: tuple[float, ...]
    """The result on the held-out rows in each repeat."""
    seconds: float
    """The time of training, without making features."""

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, repr=False)
class LearningCurve(Shown):
    """The accuracy by the number of training rows. When printed, it shows a table."""

    name: str
    """The rule or the estimator."""
    metric: str
    """`accuracy` or `mean squared error`."""
    held_out: int
    """The number of held-out rows, which are the same for all sizes of a repeat."""
    design: str
    """How the rows were split, in words."""
    sizes: tuple[Size, ...]

    def in_brief(self) -> str:
        first, last = self.sizes[0], self.sizes[-1]
        return (
            f"{self.name}, {self.metric} {self._shown(first.held_out)} with {first.rows:,} rows and "
            f"{self._shown(last.held_out)} with {last.rows:,}"
        )

    def __len__(self) -> int:
        return len(self.sizes)

    def __iter__(self) -> Iterator[Size]:
        return iter(self.sizes)

    def __getitem__(self, i: int) -> Size:
        return self.sizes[i]

    def _shown(self, score: float) -> str:
        return f"{score:.2%}" if self.metric == "accuracy" else plain_number(score)

    def parts(self) -> Iterator[Content]:
        spread = len(self.sizes[0].scores) > 1
        heads = ["rows", "training", "held-out", *(["lowest", "highest"] if spread else [])]
        lines = [
            [
                f"{one.rows:,}",
                *map(
                    self._shown, (one.training, one.held_out, *((min(one.scores), max(one.scores)) if spread else ()))
                ),
            ]
            for one in self.sizes
        ]
        rows = "row" if self.held_out == 1 else "rows"
        title = f"{self.name}: {self.metric} by the number of training rows, on {self.held_out:,} held-out {rows}"
        yield from (f"{title} ({self.design}).", "", Grid([heads], lines))

    def contents(self) -> Iterator[Content]:
        yield from self.parts()
        sizes = [one.rows for one in self]
        lines = (
            Line(sizes, [one.training for one in self], "training", 1),
            Line(sizes, [one.held_out for one in self], "held-out", 0),
        )
        yield Chart(lines, f"{self.metric.capitalize()} by the number of training rows", x="rows")

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "metric": self.metric,
            "held_out": self.held_out,
            "design": self.design,
            "sizes": [{**one._asdict(), "scores": list(one.scores)} for one in self.sizes],
        }


def learning_curve(
    source: Any,
    target: Any = None,
    *,
    sizes: Iterable[int] | None = None,
    share: float = 0.3,
    repeats: int = 1,
    estimator: Any = None,
    rule: Rule | None = None,
    features: Any = None,
    functions: Mapping[str, Function] | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: StepProgress | bool | None = None,
    seed: int = 0,
    **settings: Unpack[TrialSettings],
) -> LearningCurve:
    """Trains on more and more rows, and tests each time on the same held-out rows.

    Each set of training rows contains the smaller ones, and all have about the same shares of the classes. Features are
    made from the training rows of each size only. If the accuracy on the held-out rows still rises at the end of the
    curve, more rows may help. A large distance between the accuracy on training rows and on held-out rows is a sign of
    overfitting.

    Parameters
    ----------
    source
        A source, or an argument of `markone.read`. All rows must fit in memory.
    target
        The target, as for `markone.read`, if `source` is not a source yet. For a regression, it is a column of numbers,
        or the numbers.
    sizes
        The numbers of training rows, in ascending order. By default, all rows that are not held out, half of them, and
        so on.
    share
        The share of rows that are held out.
    repeats
        How often to repeat it, each time with another random split. The results are the means.
    estimator, rule, features, functions, threads, memory, progress, seed, settings
        As for `validate`.

    Examples
    --------
    >>> texts = ["free money", "money now", "free tea now", "see you", "see you soon", "tea soon"] * 5
    >>> curve = learning_curve(texts, target=["spam", "spam", "spam", "ham", "ham", "ham"] * 5, sizes=[4, 20])
    >>> [size.rows for size in curve], curve[-1].held_out
    ([4, 20], 1.0)
    """
    need("sklearn", "scipy")
    plan = Plan(method="holdout", repeats=repeats, share=share, seed=seed)
    given: dict[str, Any] = {**({} if rule is None else {"rule": rule}), **settings}
    wanted = None if sizes is None else checked_sizes(sizes)
    way, regression = way_of(estimator, given, seed, features, functions)
    sample = open_for(way, regression, source, target, threads, memory)
    splits, _ = plan.divide(len(sample), sample.strata)
    learned = len(splits[0].learned)
    chosen = usual_sizes(learned, len(sample.classes)) if wanted is None else wanted
    if chosen[-1] > learned:
        raise SettingsError(
            "sizes", f"must be at most {learned:,}, the number of rows that are not held out, not {chosen[-1]:,}"
        )
    found: dict[int, list[tuple[float, float, float]]] = {size: [] for size in chosen}
    with watching(progress, len(splits) * len(chosen)) as told:
        for split in splits:
            order = nested_order(sample, split, seed)
            for size in chosen:
                told.step(f"{way.name}, {size:,} rows")
                found[size].append(measured(sample, way, np.sort(order[:size]), split))
    return LearningCurve(
        name=way.name,
        metric="mean squared error" if regression else "accuracy",
        held_out=len(splits[0].tested),
        design=plan.in_words(),
        sizes=tuple(size_of(size, results) for size, results in found.items()),
    )


def checked_sizes(sizes: Iterable[int]) -> list[int]:
    """Return the sizes, which must be whole numbers in ascending order."""
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise SettingsError("sizes", f"must be a list of numbers of rows, such as [10, 100], not {sizes!r:.80}")
    found = [check_named("sizes", whole(2), size) for size in sizes]
    if not found:
        raise SettingsError("sizes", "must contain at least one number of rows")
    for before, after in pairwise(found):
        if after <= before:
            raise SettingsError("sizes", f"must be in ascending order, but {after:,} follows {before:,}")
    return found


def usual_sizes(rows: int, classes: int) -> list[int]:
    """
    >>> usual_sizes(1000, 2), usual_sizes(9, 2)
    ([15, 31, 62, 125, 250, 500, 1000], [9])
    """
    sizes = [rows]
    while len(sizes) < MOST_SIZES and sizes[-1] // 2 >= max(FEWEST, 2 * classes):
        sizes.append(sizes[-1] // 2)
    return sizes[::-1]


def nested_order(sample: Sample, split: Split, seed: int) -> NDArray[np.int64]:
    """Return the training rows in a random order whose beginnings have about the same shares of the classes."""
    chance = np.random.default_rng([seed, 3, split.repeat])
    rows = chance.permutation(split.learned)
    if sample.strata is None:
        return rows
    classes = sample.strata[rows]
    place = np.empty(len(rows))
    for one in np.unique(classes):
        mine = np.flatnonzero(classes == one)
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return rows[np.argsort(place, kind="stable")]


def measured(sample: Sample, way: Way, learned: NDArray[np.int64], split: Split) -> tuple[float, float, float]:
    """Train on some rows, and return the results on them and on the held-out rows, and the time of training."""
    truth = sample.truth[learned]
    if not sample.is_regression and len(np.unique(truth)) < 2:
        raise DataError(f"{len(learned):,} training rows have only one class; use larger sizes")
    rows = rows_of(sample, learned, split.tested, way.spec)
    both = replace(
        rows, tested=stack([rows.learned, rows.tested]), tested_truth=np.concatenate([truth, rows.tested_truth])
    )
    answer = way.answer(both)
    training, held_out = (
        score_of(both.tested_truth[some], answer.predicted[some], sample.is_regression)
        for some in (slice(len(learned)), slice(len(learned), None))
    )
    return training, held_out, answer.seconds


def size_of(rows: int, results: list[tuple[float, float, float]]) -> Size:
    training, held_out, seconds = (tuple(map(float, column)) for column in zip(*results, strict=True))
    return Size(rows, float(np.mean(training)), float(np.mean(held_out)), held_out, float(np.mean(seconds)))
