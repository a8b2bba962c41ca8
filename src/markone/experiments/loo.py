"""Leave-one-out: each row is tested alone, by a model that is trained on all others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from markone.data.blocks import as_scipy
from markone.errors import SettingsError
from markone.experiments import loo_counts, loo_online, loo_svm
from markone.experiments.contenders import Answer, ByEstimator, ByRule, Way
from markone.experiments.crew import crew_of
from markone.experiments.folds import FoldRows, divided
from markone.experiments.progress import StepProgress, watching
from markone.experiments.shortcuts import LeftOutAnswers, Shortcut
from markone.experiments.splits import Plan, Split
from markone.experiments.validation import Validation, about_rows, fold_of, result
from markone.features.dependence import what_learns
from markone.features.map import FeatureMap
from markone.features.part import Matrix
from markone.learning.samples import Sample
from markone.model.rules import FAMILIES

ROWS_IN_TASK = 20
"""The number of trainings in each task on a cluster."""

FAMILIES["online"].leave_one_out = loo_online.SHORTCUT
FAMILIES["svm"].leave_one_out = loo_svm.SHORTCUT
FAMILIES["naive-bayes"].leave_one_out = loo_counts.SHORTCUT


def left_out(
    sample: Sample, way: Way, splits: list[Split], progress: StepProgress | bool | None, cluster: Any = None
) -> Validation:
    """Return a validation in which all rows form one fold. It uses a shortcut if there is one."""
    everything = whole(sample, way)
    reason = what_learns(everything.features)
    shortcut = None if reason else shortcut_for(way, everything)
    found = None
    start = time.perf_counter()
    if shortcut is not None:
        with watching(progress, 1) as told:
            told.step(f"{way.name}, each row left out")
            weight = way.settings.class_weight if isinstance(way, ByRule) else None
            found = shortcut(everything.weighted(weight), sample.threads)
    if found is None:
        found = one_by_one(OneByOne(sample, way, None if reason else everything), splits, progress, cluster)
        found.remarks.append(why_plain(way, len(sample), reason))
    seconds = time.perf_counter() - start
    everyone = Split(1, 1, np.arange(len(sample)), len(sample))
    answer = Answer(found.predicted, found.probabilities, seconds)
    fold = replace(fold_of(sample, everyone, answer), learned=len(sample) - 1)
    remarks = [*found.remarks, *about_rows(sample)]
    return result(sample, Plan(method="loo"), way, [fold], remarks, found.trained)


# ---- shortcuts


def shortcut_for(way: Way, rows: FoldRows) -> Callable[[FoldRows, int], LeftOutAnswers | None] | None:
    """Return a shortcut to the same predictions without a training per row, or None if there is none."""
    if isinstance(way, ByEstimator):
        has_errors = hasattr(way.estimator, "leave_one_out_errors") and rows.importance is None
        return partial(by_errors, way) if has_errors else None
    shortcut = shortcut_of(way)
    if not isinstance(way, ByRule) or shortcut is None or why_not(way, shortcut) is not None:
        return None
    if way.settings.traits.has_probabilities and not shortcut.has_probabilities:
        return None
    return partial(shortcut.answers, way)


def why_not(way: ByRule, shortcut: Shortcut) -> SettingsError | None:
    """Return why a shortcut does not give the same predictions; None if it does."""
    if way.settings.class_weight == "balanced":
        return SettingsError("class_weight", "is 'balanced', so that it changes if a row is left out")
    return shortcut.why_not(way.settings)


def shortcut_of(way: Way) -> Shortcut | None:
    """Return the shortcut of the rule's family."""
    found: Shortcut | None = way.settings.family.leave_one_out if isinstance(way, ByRule) else None
    return found


def by_errors(way: ByEstimator, rows: FoldRows, threads: int) -> LeftOutAnswers:
    """Return the predictions of a regression whose leave-one-out errors have a closed form."""
    errors = way.estimator.leave_one_out_errors(as_scipy(rows.learned).astype(np.float64), rows.truth)
    remark = "The leave-one-out errors were computed in closed form, with one training."
    return LeftOutAnswers(rows.truth - errors, None, 1, [remark])


def why_plain(way: Way, rows: int, reason: str | None) -> str:
    """Return a remark that says why each row needed its own training, and what would be faster."""
    if reason is not None:
        return f"Each of the {rows:,} rows needed its own training and its own features, because {reason}."
    plain = f"Each of the {rows:,} rows needed its own training."
    shortcut = shortcut_of(way)
    if not isinstance(way, ByRule) or shortcut is None:
        return plain
    problem = why_not(way, shortcut) or shortcut.nowhere
    return plain if problem is None else f"{plain} There is a faster way to the same result, but {problem}."


# ---- one training per row


class OneByOne:
    """What the trainings share. Features are made only once if they do not depend on the rows."""

    def __init__(self, sample: Sample, way: Way, everything: FoldRows | None) -> None:
        self.sample, self.way, self.learns = sample, way, everything is None
        if everything is not None:
            self.everything = everything

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (self.sample, self.way, self.learns)

    def rows(self, split: Split) -> FoldRows:
        return divided(self.sample, split, self.way.spec) if self.learns else without(self.everything, split)


def restored(sample: Sample, way: Way, learns: bool) -> OneByOne:
    return OneByOne(sample, way, None if learns else whole(sample, way))


def whole(sample: Sample, way: Way) -> FoldRows:
    """Return all rows, as training rows and as test rows."""
    features = FeatureMap(way.spec, sample.held.columns)
    matrix, importance = sample.fitted(features, np.arange(len(sample)))
    return FoldRows(features, sample.classes, matrix, sample.truth, importance, matrix, sample.truth)


def one_by_one(
    shared: OneByOne, splits: list[Split], progress: StepProgress | bool | None, cluster: Any
) -> LeftOutAnswers:
    """Train once for each row."""
    words = [f"{shared.way.name}, row {split.number:,} of {len(splits):,}" for split in splits]
    with (
        crew_of(cluster, shared, shared.sample.held, shared.way.spec) as crew,
        watching(progress, len(splits)) as told,
    ):
        size = ROWS_IN_TASK if crew.remote else 1
        parts = (slice(start, start + size) for start in range(0, len(splits), size))
        tasks = ((words[part], (splits[part],)) for part in parts)
        answers = [*chain.from_iterable(crew.each(answers_to, tasks, told))]
    probabilities = [answer.probabilities for answer in answers if answer.probabilities is not None]
    return LeftOutAnswers(
        np.concatenate([answer.predicted for answer in answers]),
        np.concatenate(probabilities) if len(probabilities) == len(answers) else None,
        len(splits),
    )


def answers_to(shared: OneByOne, splits: list[Split]) -> list[Answer]:
    """Train and test on some splits."""
    return [shared.way.answer(shared.rows(split)) for split in splits]


def without(rows: FoldRows, split: Split) -> FoldRows:
    """Return the rows of a split, with features that are the same for all splits."""
    learned, tested = split.learned, split.tested
    importance = None if rows.importance is None else rows.importance[learned]
    matrix: Matrix = rows.learned[learned]
    return FoldRows(
        rows.features, rows.classes, matrix, rows.truth[learned], importance, rows.learned[tested], rows.truth[tested]
    )
