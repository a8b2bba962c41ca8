"""Leave-one-out: each row is tested alone, by what was learned from all others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import as_scipy
from markone.errors import SettingsError
from markone.experiments import loo_svm
from markone.experiments.contenders import ByEstimator, ByRule, Way, taught
from markone.experiments.folds import FoldRows, divided
from markone.experiments.loo_online import leave_one_out, why_not
from markone.experiments.progress import Progress, watching
from markone.experiments.splits import Split
from markone.experiments.validation import Fold, Validation, about_rows, score_of
from markone.features.documents import Documents
from markone.features.images import Pixels
from markone.features.map import FeatureMap
from markone.features.ngrams import Ngrams
from markone.features.numbers import Numbers
from markone.features.part import Matrix, Part
from markone.features.precomputed import Given
from markone.learning.row_defaults import suited
from markone.learning.samples import Sample
from markone.model.evaluation import log_probabilities


@dataclass(frozen=True)
class Found:
    """What was said of each row by what was learned from all others."""

    predicted: NDArray[Any]
    probabilities: NDArray[np.float64] | None
    trained: int
    """How many trainings it took."""
    remarks: list[str]


def left_out(sample: Sample, way: Way, splits: list[Split], progress: Progress | bool | None) -> Validation:
    """A validation in which all rows are one fold. Where there is a shortcut to the same answers, it is taken."""
    features = FeatureMap(way.spec, sample.held.columns)
    matrix, importance = sample.fitted(features, np.arange(len(sample)))
    everything = FoldRows(features, sample.classes, matrix, sample.truth, importance, matrix, sample.truth)
    reason = what_learns(features)
    shortcut = None if reason else shortcut_of(way, everything)
    found = None
    start = time.perf_counter()
    if shortcut is not None:
        with watching(progress, 1) as told:
            told.step(f"{way.name}, each row left out")
            found = shortcut(way, everything, sample.threads)
    if found is None:
        with watching(progress, len(splits)) as told:
            found = one_by_one(sample, way, splits, None if reason else everything, told)
        found.remarks.append(why_plain(way, len(sample), reason))
    seconds = time.perf_counter() - start
    fold = Fold(
        number=1,
        repeat=1,
        learned=len(sample) - 1,
        rows=sample.held.numbers,
        truth=sample.truth,
        predicted=found.predicted,
        probabilities=found.probabilities,
        score=score_of(sample.truth, found.predicted, sample.is_regression),
        seconds=seconds,
        history=None,
    )
    return Validation(
        method="loo",
        name=way.name,
        metric="mean squared error" if sample.is_regression else "accuracy",
        classes=sample.classes,
        folds=[fold],
        trained=found.trained,
        remarks=[*found.remarks, *about_rows(sample)],
    )


# ---- shortcuts

Shortcut = Callable[[Any, FoldRows, int], Found | None]
"""Gives nothing where it turns out that it leads nowhere."""


def shortcut_of(way: Way, rows: FoldRows) -> Shortcut | None:
    """A way to the same answers without a training for each row; None where there is none."""
    if isinstance(way, ByEstimator):
        return by_errors if hasattr(way.estimator, "leave_one_out_errors") and rows.importance is None else None
    if not isinstance(way, ByRule):
        return None
    if way.settings.traits.counts:
        return by_counts
    if problem_of(way) is not None:
        return None
    if way.settings.rule == "svm":
        return by_support
    # What has probabilities is asked for them, row by row; by steps there are only answers.
    return by_steps if way.settings.traits.online and not way.settings.traits.has_probabilities else None


def by_steps(way: ByRule, rows: FoldRows, threads: int) -> Found:
    """Only without a row that made a step is there anything to be learned anew."""
    classes = len(rows.classes)
    settings = suited(way.settings, [rows.block], 1 if classes <= 2 else classes)
    found = leave_one_out(rows.block, settings, classes, threads=threads)
    remark = (
        f"{found.free:,} rows made no step, and could be left out for nothing; without each of the other "
        f"{found.retrained:,} the run was made again from its first step on. The answers are those of a training for "
        "each row, in the order of the run with all."
    )
    if settings.eta != way.settings.spelled_out().eta:
        remark = f"{remark.removesuffix('.')}, and at its rate, {settings.eta:g}."
    return Found(found.predicted, None, 1 + found.retrained, [remark])


def by_support(way: ByRule, rows: FoldRows, threads: int) -> Found | None:
    """Only without a row that holds the optimum is there anything to be learned anew."""
    found = loo_svm.leave_one_out(rows.block, way.settings, len(rows.classes), threads=threads)
    if found is None:
        return None
    remark = (
        f"Of {found.free:,} rows, the optimum with all of them proves what the one without them says; without each of "
        f"the other {found.retrained:,} it was sought anew, from the one with all on. The answers are those of the "
        "optimum itself, which a training that ends sooner may miss."
    )
    if found.near:
        remark += f" Not proven, for they are next to a tie: {found.near:,}."
    return Found(found.predicted, None, 1 + found.retrained, [remark])


def by_counts(way: ByRule, rows: FoldRows, threads: int) -> Found:
    """The counts of a row are taken away from those of all."""
    from markone.learning.naive_bayes import Counting

    learner = way.learner(rows)
    assert isinstance(learner, Counting)  # it is what counts
    taught(learner, rows)
    scores = learner.scorer().scores_left_out(learner.ready(rows.block))
    remark = "Each row was left out by taking its counts away. The answers are those of a training for each row."
    return Found(_core.winners(scores, _core.Tie[way.settings.tie]), np.exp(log_probabilities(scores)), 1, [remark])


def by_errors(way: ByEstimator, rows: FoldRows, threads: int) -> Found:
    """A regression that knows what its errors would be."""
    errors = way.estimator.leave_one_out_errors(as_scipy(rows.learned).astype(np.float64), rows.truth)
    remark = "The errors of rows left out are known in closed form, by one training."
    return Found(rows.truth - errors, None, 1, [remark])


def why_plain(way: Way, rows: int, reason: str | None) -> str:
    """Why it took so long, and what would be quicker."""
    if reason is not None:
        return f"Each of the {rows:,} rows took a training of its own, with features learned anew, for {reason}."
    problem: object = problem_of(way)
    if problem is None and way.rule == "svm":
        problem = "with all rows the training gets nowhere near its optimum"
    if problem is not None:
        return (
            f"Each of the {rows:,} rows took a training of its own. There is a quicker way to the same, but {problem}."
        )
    return f"Each of the {rows:,} rows took a training of its own."


def problem_of(way: Way) -> SettingsError | None:
    """What there is in the settings that bars the shortcut that the rule has."""
    if not isinstance(way, ByRule):
        return None
    if way.settings.rule == "svm":
        return loo_svm.why_not(way.settings)
    return why_not(way.settings) if way.settings.traits.online else None


# ---- the plain way


def one_by_one(sample: Sample, way: Way, splits: list[Split], everything: FoldRows | None, told: Progress) -> Found:
    """The plain way: a training for each row, with features that are made once where that changes nothing."""
    answers = []
    for split in splits:
        told.step(f"{way.name}, row {split.number:,} of {len(splits):,}")
        rows = divided(sample, split, way.spec) if everything is None else without(everything, split)
        answers.append(way.answer(rows))
    probabilities = [answer.probabilities for answer in answers if answer.probabilities is not None]
    return Found(
        np.concatenate([answer.predicted for answer in answers]),
        np.concatenate(probabilities) if len(probabilities) == len(answers) else None,
        len(splits),
        [],
    )


def without(rows: FoldRows, split: Split) -> FoldRows:
    """The rows of a division, of features that are the same for all."""
    learned, tested = split.learned, split.tested
    importance = None if rows.importance is None else rows.importance[learned]
    matrix: Matrix = rows.learned[learned]
    return FoldRows(
        rows.features, rows.classes, matrix, rows.truth[learned], importance, rows.learned[tested], rows.truth[tested]
    )


# ---- what features learn from rows


def what_learns(features: FeatureMap) -> str | None:
    """Why the features of a row depend on which other rows there are; None where they do not.

    A feature that no other row has gets a new number where its row is left out, or none at all, and no weight either
    way: that alone does not count.
    """
    for part in features.parts:
        reason = what_part_learns(part, features.unit)
        if reason is not None:
            return reason
    return None


def what_part_learns(part: Part, unit: bool) -> str | None:
    if isinstance(part, Documents | Pixels):
        return None
    if isinstance(part, Numbers):
        if any(
            settings.scale != "none"
            for settings, column in zip(part.settings, part.columns, strict=True)
            if column.kind == "numeric"
        ):
            return "numbers are scaled by what the rows have (numeric.scale = 'none' would not)"
        return "gaps in numbers are filled by what the rows have" if part.gaps.any() else None
    if isinstance(part, Given):
        if part.settings.scale != "none":
            return "given rows are scaled by what the rows have (rows.scale = 'none' would not)"
        return None if part.dense or not unit else "rows are scaled to length 1 by features that the others have"
    if isinstance(part, Ngrams):
        if part.settings.hash_bits is None:
            return "words are chosen by how many rows have them (text.hash_bits would not)"
        return None if part.settings.weight == "none" else "words are weighed by the rows that have them"
    return "categories, conjunctions, patches and functions are chosen by what the rows have"
