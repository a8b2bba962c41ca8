"""Leave-one-out: each row is tested alone, by what was learned from all others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from markone.data.blocks import as_scipy
from markone.experiments import loo_counts, loo_online, loo_svm
from markone.experiments.contenders import Answer, ByEstimator, ByRule, Way
from markone.experiments.folds import FoldRows, divided
from markone.experiments.progress import Progress, watching
from markone.experiments.shortcuts import LeftOutAnswers, Shortcut
from markone.experiments.splits import Plan, Split
from markone.experiments.validation import Validation, about_rows, fold_of, result
from markone.features.documents import Documents
from markone.features.images import Pixels
from markone.features.map import FeatureMap
from markone.features.ngrams import Ngrams
from markone.features.numbers import Numbers
from markone.features.part import Matrix, Part
from markone.features.precomputed import Given
from markone.learning.samples import Sample
from markone.model.rules import FAMILIES

FAMILIES["online"].leave_one_out = loo_online.SHORTCUT
FAMILIES["svm"].leave_one_out = loo_svm.SHORTCUT
FAMILIES["naive-bayes"].leave_one_out = loo_counts.SHORTCUT


def left_out(sample: Sample, way: Way, splits: list[Split], progress: Progress | bool | None) -> Validation:
    """A validation in which all rows are one fold. Where there is a shortcut to the same answers, it is taken."""
    features = FeatureMap(way.spec, sample.held.columns)
    matrix, importance = sample.fitted(features, np.arange(len(sample)))
    everything = FoldRows(features, sample.classes, matrix, sample.truth, importance, matrix, sample.truth)
    reason = what_learns(features)
    shortcut = None if reason else shortcut_for(way, everything)
    found = None
    start = time.perf_counter()
    if shortcut is not None:
        with watching(progress, 1) as told:
            told.step(f"{way.name}, each row left out")
            found = shortcut(everything, sample.threads)
    if found is None:
        with watching(progress, len(splits)) as told:
            found = one_by_one(sample, way, splits, None if reason else everything, told)
        found.remarks.append(why_plain(way, len(sample), reason))
    seconds = time.perf_counter() - start
    everyone = Split(1, 1, np.arange(len(sample)), len(sample))
    answer = Answer(found.predicted, found.probabilities, seconds)
    fold = replace(fold_of(sample, everyone, answer), learned=len(sample) - 1)
    remarks = [*found.remarks, *about_rows(sample)]
    return result(sample, Plan(method="loo"), way, [fold], remarks, found.trained)


# ---- shortcuts


def shortcut_for(way: Way, rows: FoldRows) -> Callable[[FoldRows, int], LeftOutAnswers | None] | None:
    """A way to the same answers without a training for each row; None where there is none."""
    if isinstance(way, ByEstimator):
        knows = hasattr(way.estimator, "leave_one_out_errors") and rows.importance is None
        return partial(by_errors, way) if knows else None
    shortcut = shortcut_of(way)
    if not isinstance(way, ByRule) or shortcut is None or shortcut.why_not(way.settings) is not None:
        return None
    if way.settings.traits.has_probabilities and not shortcut.has_probabilities:
        return None
    return partial(shortcut.answers, way)


def shortcut_of(way: Way) -> Shortcut | None:
    """That of the rule's family."""
    found: Shortcut | None = way.settings.family.leave_one_out if isinstance(way, ByRule) else None
    return found


def by_errors(way: ByEstimator, rows: FoldRows, threads: int) -> LeftOutAnswers:
    """A regression that knows what its errors would be."""
    errors = way.estimator.leave_one_out_errors(as_scipy(rows.learned).astype(np.float64), rows.truth)
    remark = "The errors of rows left out are known in closed form, by one training."
    return LeftOutAnswers(rows.truth - errors, None, 1, [remark])


def why_plain(way: Way, rows: int, reason: str | None) -> str:
    """Why it took so long, and what would be quicker."""
    if reason is not None:
        return f"Each of the {rows:,} rows took a training of its own, with features learned anew, for {reason}."
    plain = f"Each of the {rows:,} rows took a training of its own."
    shortcut = shortcut_of(way)
    if not isinstance(way, ByRule) or shortcut is None:
        return plain
    problem = shortcut.why_not(way.settings) or shortcut.nowhere
    return plain if problem is None else f"{plain} There is a quicker way to the same, but {problem}."


# ---- the plain way


def one_by_one(
    sample: Sample, way: Way, splits: list[Split], everything: FoldRows | None, told: Progress
) -> LeftOutAnswers:
    """The plain way: a training for each row, with features that are made once where that changes nothing."""
    answers = []
    for split in splits:
        told.step(f"{way.name}, row {split.number:,} of {len(splits):,}")
        rows = divided(sample, split, way.spec) if everything is None else without(everything, split)
        answers.append(way.answer(rows))
    probabilities = [answer.probabilities for answer in answers if answer.probabilities is not None]
    return LeftOutAnswers(
        np.concatenate([answer.predicted for answer in answers]),
        np.concatenate(probabilities) if len(probabilities) == len(answers) else None,
        len(splits),
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
