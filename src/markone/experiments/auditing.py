"""Auditing: finds labels that are probably wrong, and rows that are repeated, by models that were not trained on them.

The doubt about a label comes from cross-fitting. A model is trained for each fold on the other folds, and the margin of
a row is the score of its label minus that of the best other class. Wrong labels disturb the training, too, so it is
repeated without the rows whose labels are doubtful, and the second margins count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.checks import check_named, switch
from markone.data.budget import memory_budget
from markone.data.labels import KnownLabels
from markone.data.read import read
from markone.data.source import UNLABELLED, Batch, Column, Label, Source
from markone.data.strings import Strings
from markone.data.subsets import Held, size_of_column, taken
from markone.errors import DataError, SettingsError
from markone.experiments.contenders import ByRule, by_rule, for_table
from markone.experiments.duplicates import Fingerprints, Pairs, groups_of, joined, pairs_of, similarities
from markone.experiments.findings import LIKELY, Audit, Finding
from markone.experiments.folds import FoldRows, divided
from markone.experiments.progress import StepProgress, watching
from markone.experiments.splits import Plan, Split
from markone.experiments.validation import about_rows
from markone.extras import need
from markone.features.examples import completed
from markone.features.spec import Features, Function
from markone.learning import table_defaults
from markone.learning.arguments import USUAL_RULE
from markone.learning.passes import teach
from markone.learning.samples import Sample, open_sample
from markone.model.evaluation import no_better
from markone.model.margins import functional_margins
from markone.model.rules import Rule, predicts_numbers
from markone.reporting.grids import counted, label_in_words

FIRST_PASSES = 5
"""The number of passes of the first training of a rule that takes a step at each example. It is enough to find the rows
that the second training leaves out."""
FEWEST_OF_CLASS = 5
"""Labels of classes with fewer rows are not judged."""
LEAST_WON = 0.1
"""If fewer of a class's labels win, the model does not know the class, and the labels need not be wrong."""
PREVIEW = 200
"""The number of characters that a finding shows of its row."""
CLASSES_NAMED = 5

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


def audit(
    source: Any,
    target: Any = None,
    *,
    against: Any = None,
    rule: Rule | None = None,
    features: Any = None,
    functions: Mapping[str, Function] | None = None,
    folds: int = 3,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: StepProgress | bool | None = None,
    seed: int = 0,
    plain: bool = False,
) -> Audit:
    """Find labels that are probably wrong, and rows that are the same or nearly the same.

    Parameters
    ----------
    source
        A source, or an argument of `markone.read`. All rows must fit in memory.
    target
        The target, as for `markone.read`, if `source` is not a source yet.
    against
        Test rows: a source, or an argument of `markone.read`. Those that are the same or nearly the same as a training
        row are found, too. They need no labels.
    rule
        The rule that judges the labels. The default is that of `train`.
    features
        The spec of the features, as for `train`.
    functions
        Python functions that make more features, by name.
    folds
        The number of folds. Each row is judged by a model that was trained on the other folds.
    threads
        The number of threads that make features; by default one per core. The result does not depend on it.
    memory
        How much memory the rows may use: bytes, or a text such as "2 GB"; by default half of the memory.
    progress
        True for a bar on a terminal and lines elsewhere; or an object that is called for each training.
    seed
        The seed of all random choices, including the folds.
    plain
        True for the rule `mira` and straight lines, also for a table, as for `train`.

    Returns
    -------
    Audit
        Its `findings`, the most doubtful first, and the `doubts` of all rows. Printed, it is a report.

    Examples
    --------
    >>> texts = ["free money", "money now", "free tea now", "see you", "see you soon", "you soon"] * 5
    >>> labels = ["spam", "spam", "spam", "ham", "ham", "ham"] * 5
    >>> labels[3] = "spam"  # "see you"
    >>> found = audit(texts, target=labels)
    >>> [(one.problem, one.row, one.label, one.suggestion) for one in found.findings if one.problem != "repeat"]
    [('label', 4, 'spam', 'ham'), ('conflict', 4, 'spam', 'ham')]
    """
    need("sklearn", "scipy")
    if predicts_numbers(rule):
        raise SettingsError("rule", f"is {rule!r}, which predicts numbers, and an audit judges classes; leave it out")
    plan = Plan(method="kfold", folds=folds, seed=seed)
    given: dict[str, Any] = {} if rule is None else {"rule": rule}
    way = by_rule(rule or USUAL_RULE, given, seed, features, functions)
    sample = open_sample(source, target, threads, memory)
    curved = table_defaults.suits(sample.held.columns, given)
    table_defaults.check_plain(check_named("plain", switch, plain), curved)
    if curved and not plain:
        way = for_table(given, seed, features, functions)
    tested = None if against is None else open_tests(against, sample.held, threads)
    doubts, better, remarks = judged(sample, plan, way, memory_budget(memory), progress)
    rows = Fingerprints.of(sample.held.batches(), sample.held.columns, sample.threads, alone=tested is None)
    pairs = pairs_of(rows if tested is None else joined(rows, tested.fingerprints(sample.threads)))
    findings = [*doubtful(sample, doubts, better), *repeated(sample, rows, pairs)]
    if tested is not None:
        findings += leaked(sample, tested, pairs)
    return Audit(
        name=sample.held.name,
        rows=len(sample),
        classes=sample.classes,
        rule=way.name,
        folds=folds,
        findings=findings,
        doubts=doubts,
        numbers=sample.held.numbers + 1,
        against=None if tested is None else tested.name,
        tested=0 if tested is None else len(tested),
        remarks=[*remarks, *about_rows(sample)],
    )


def open_tests(against: Any, like: Held, threads: int | None) -> ComparedRows:
    """Open test rows with the columns of the training rows, and with their labels if they have any."""
    source = against if isinstance(against, Source) else read(against, threads=threads)
    if source.target is None and like.target is not None and like.target in source.column_names:
        source = source.with_target(like.target)
    return ComparedRows(completed(source, like.columns), like.columns)


class ComparedRows:
    """All test rows, also those without labels."""

    def __init__(self, source: Source, columns: tuple[Column, ...]) -> None:
        self.name, self.columns = source.name, columns
        self.batches = list(source.batches())
        none = [np.full(len(batch), UNLABELLED) if batch.labels is None else batch.labels for batch in self.batches]
        numbers = np.concatenate(none) if none else np.zeros(0, np.int64)
        self.labels: list[Label | None] = [None if one == UNLABELLED else source.labels[one] for one in numbers]

    def __len__(self) -> int:
        return len(self.labels)

    def fingerprints(self, threads: int) -> Fingerprints:
        return Fingerprints.of(self.batches, self.columns, threads)


# ---- labels that are probably wrong


def judged(
    sample: Sample, plan: Plan, way: ByRule, budget: int, progress: StepProgress | bool | None
) -> tuple[Floats, Numbers, list[str]]:
    """Return the doubt about each label, NaN if it cannot be judged; the best class of each row; and remarks."""
    if len(sample) < plan.folds:
        raise DataError(
            f"{len(sample):,} rows cannot be divided into {plan.folds} folds; use fewer folds, or more rows"
        )
    splits, remarks = plan.divide(len(sample), sample.strata)
    rare = np.bincount(sample.truth, minlength=len(sample.classes)) < FEWEST_OF_CLASS
    with watching(progress, 2 * len(splits)) as told:
        fitting = CrossFitting(sample, splits, budget // 2, told)
        doubts, better = doubts_of(fitting.scores(quicker(way), np.ones(len(sample), np.bool_)), sample.truth)
        doubts, better = doubts_of(fitting.scores(way, believed(sample, doubts)), sample.truth)
    weights = importance_of(sample)
    accuracy = float(weights[better == sample.truth].sum() / weights.sum())
    majority = float(np.bincount(sample.truth, weights).max() / weights.sum())
    if unable := no_better(accuracy, majority, "rows of other folds"):
        remarks.append(f"{' '.join(unable)} So the labels are not judged.")
        doubts[:] = np.nan
        return doubts, better, remarks
    doubts[rare[sample.truth]] = np.nan
    unknown = unknown_classes(sample, doubts) & ~rare
    doubts[unknown[sample.truth]] = np.nan
    remarks += about_classes(sample, rare, f"fewer than {FEWEST_OF_CLASS} rows")
    remarks += about_classes(sample, unknown, "labels that the model cannot tell from others")
    return doubts, better, remarks


def importance_of(sample: Sample) -> Floats:
    """Return the importance of each row; 1 for all if it is 0 for all."""
    batches = sample.held.batches()
    weights = np.concatenate([np.ones(len(one)) if one.importance is None else one.importance for one in batches])
    return weights if weights.any() else np.ones_like(weights)


class CrossFitting:
    """Trains a model for each fold on the other folds. The features of the folds are kept if they fit in memory."""

    def __init__(self, sample: Sample, splits: list[Split], budget: int, told: StepProgress) -> None:
        self.sample, self.splits, self.told = sample, splits, told
        self.left = budget
        self.kept: dict[int, FoldRows] = {}

    def scores(self, way: ByRule, used: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the scores of all rows. Only the rows in `used` are trained on."""
        classes = len(self.sample.classes)
        scores = np.zeros((len(self.sample), 1 if classes == 2 else classes))
        for split in self.splits:
            self.told.step(f"{way.name}, fold {split.number} of {len(self.splits)}")
            rows = self.rows(split, way.spec).some(np.flatnonzero(used[split.learned]))
            learner = way.learner(rows)
            if teach(learner, rows.block).stopped == "interrupted":
                raise KeyboardInterrupt
            scores[split.tested] = learner.scorer().scores(rows.tested_block.rows)
        return scores

    def rows(self, split: Split, spec: Features) -> FoldRows:
        if split.number in self.kept:
            return self.kept[split.number]
        rows = divided(self.sample, split, spec)
        if (size := size_of(rows)) <= self.left:
            self.left -= size
            self.kept[split.number] = rows
        return rows


def quicker(way: ByRule) -> ByRule:
    """Return the same way with fewer passes, for a rule that takes a step at each example."""
    settings = way.settings
    if not settings.traits.online or (settings.epochs or 0) <= FIRST_PASSES:
        return way
    return replace(way, settings=replace(settings, epochs=FIRST_PASSES))


def size_of(rows: FoldRows) -> int:
    return size_of_column(rows.learned) + size_of_column(rows.tested)


def doubts_of(scores: NDArray[Any], truth: NDArray[Any]) -> tuple[Floats, Numbers]:
    """Return how much each label loses by, as a share of what winning labels win by on average; and the best classes.

    Labels that win have negative doubts.
    """
    margins = functional_margins(scores, truth)
    wins = margins[margins > 0]
    typical = float(wins.mean()) if len(wins) else 1.0
    better = (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
    return np.clip(-margins / typical, -1e6, 1e6), better


def believed(sample: Sample, doubts: Floats) -> NDArray[np.bool_]:
    """Return the rows for the second training: all but the doubtful ones, and all of a class that is unknown."""
    used: NDArray[np.bool_] = (doubts <= LIKELY) | unknown_classes(sample, doubts)[sample.truth]
    return used


def unknown_classes(sample: Sample, doubts: Floats) -> NDArray[np.bool_]:
    """Return for each class whether the model does not know it, because its labels hardly ever win."""
    count = len(sample.classes)
    won = np.bincount(sample.truth[doubts < 0], minlength=count)
    unknown: NDArray[np.bool_] = won < LEAST_WON * np.bincount(sample.truth, minlength=count)
    return unknown


def about_classes(sample: Sample, which: NDArray[np.bool_], why: str) -> list[str]:
    names = [label_in_words(sample.classes[number], 20) for number in np.flatnonzero(which)]
    if not names:
        return []
    listed = ", ".join(names[:CLASSES_NAMED]) + (" and others" if len(names) > CLASSES_NAMED else "")
    return [f"{counted(len(names), 'class has', 'classes have')} {why} and cannot be judged: {listed}."]


def doubtful(sample: Sample, doubts: Floats, better: Numbers) -> list[Finding]:
    """Return the labels that are probably wrong, the most doubtful first."""
    which = np.flatnonzero(doubts > LIKELY)
    which = which[np.argsort(-doubts[which], kind="stable")]
    texts = previews(sample.held.batches(), which)
    return [
        Finding(
            "label",
            int(sample.held.numbers[i]) + 1,
            sample.classes[sample.truth[i]],
            sample.classes[better[i]],
            doubt=float(doubts[i]),
            text=text,
        )
        for i, text in zip(which.tolist(), texts, strict=True)
    ]


# ---- rows that are repeated


def repeated(sample: Sample, rows: Fingerprints, pairs: Pairs) -> list[Finding]:
    """Return the rows that are the same or nearly the same as another one: first those with another label than most of
    their group, then those with the same label as an earlier row."""
    groups = groups_of(pairs.within(len(rows)), len(rows))
    conflicts: list[tuple[int, int]] = []
    repeats: list[tuple[int, int]] = []
    for group in groups:
        labels = sample.truth[group]
        counts = np.bincount(labels)
        first = np.flatnonzero(counts[labels] == counts.max())[0]  # a tie is decided by the first row
        most, model = int(labels[first]), int(group[first])
        conflicts += [(int(row), model) for row in group[labels != most]]
        repeats += [(int(row), model) for row in group[labels == most] if row != model]
    found, numbers = [], sample.held.numbers + 1
    for problem, these in (("conflict", conflicts), ("repeat", repeats)):
        alike = dict(zip(these, likenesses(rows, these), strict=True))
        order = sorted(these, key=lambda pair: (-alike[pair], pair))
        texts = previews(sample.held.batches(), np.array([row for row, _ in order], np.int64))
        for (row, other), text in zip(order, texts, strict=True):
            label = sample.classes[sample.truth[row]]
            instead = sample.classes[sample.truth[other]] if problem == "conflict" else None
            found.append(
                Finding(
                    problem,  # type: ignore[arg-type]
                    int(numbers[row]),
                    label,
                    instead,
                    other=int(numbers[other]),
                    similarity=alike[row, other],
                    text=text,
                )
            )
    return found


def leaked(sample: Sample, tested: ComparedRows, pairs: Pairs) -> list[Finding]:
    """Return the test rows that are the same or nearly the same as a training row."""
    across = (pairs.first < len(sample)) & (pairs.second >= len(sample))
    best: dict[int, tuple[float, int]] = {}
    for first, second, alike in zip(pairs.first[across], pairs.second[across], pairs.similarity[across], strict=True):
        row = int(second) - len(sample)
        if row not in best or alike > best[row][0]:
            best[row] = (float(alike), int(first))
    order = sorted(best, key=lambda row: (-best[row][0], row))
    texts = previews(tested.batches, np.array(order, np.int64))
    known = KnownLabels(sample.classes)
    found = []
    for row, text in zip(order, texts, strict=True):
        alike, other = best[row]
        label, instead = tested.labels[row], sample.classes[sample.truth[other]]
        same = label is None or known.number(label) == sample.truth[other]
        found.append(
            Finding(
                "leak",
                row + 1,
                label,
                None if same else instead,
                other=int(sample.held.numbers[other]) + 1,
                similarity=alike,
                text=text,
            )
        )
    return found


def likenesses(rows: Fingerprints, pairs: list[tuple[int, int]]) -> list[float]:
    """Return how similar the rows of pairs are: 1 for the same, and else the share of common n-grams."""
    if not pairs:
        return []
    first, second = np.array(pairs, np.int64).T
    same = rows.same[first] == rows.same[second]
    if rows.ngrams is None:
        return [1.0] * len(pairs)
    found: list[float] = np.where(same, 1.0, similarities(rows.ngrams, first, second)).tolist()
    return found


# ---- the beginnings of rows


def previews(batches: Iterable[Batch], which: Numbers) -> list[str]:
    """Return the rows in short: the text, if there is only one column of text, or else names and values."""
    found: dict[int, str] = {}
    wanted, start = np.unique(which), 0
    for batch in batches:
        here = wanted[(wanted >= start) & (wanted < start + len(batch))]
        readable = {name: values for name, values in batch.columns.items() if is_readable(values)}
        if len(here) and readable:
            some = taken(replace(batch, columns=readable), here - start)
            columns = {name: shown_values(values) for name, values in some.columns.items()}
            for i, row in enumerate(here.tolist()):
                values = {name: column[i] for name, column in columns.items() if column[i] is not None}
                found[row] = in_short(values, alone=len(columns) == 1)
        start += len(batch)
    return [found.get(row, "") for row in which.tolist()]


def is_readable(column: Any) -> bool:
    """Return whether people can read the values, unlike those of images and given rows."""
    return isinstance(column, Strings) or hasattr(column, "to_pylist")


def shown_values(column: Any) -> list[Any]:
    values: list[Any] = column.tolist("replace") if isinstance(column, Strings) else column.to_pylist()
    return values


def in_short(values: dict[str, Any], alone: bool) -> str:
    words = [as_word(value) if alone else f"{name}={as_word(value)}" for name, value in values.items()]
    text = " ".join(", ".join(words)[: 4 * PREVIEW].split())
    return text if len(text) <= PREVIEW else f"{text[: PREVIEW - 1]}…"


def as_word(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return f"{value:g}" if isinstance(value, float) else str(value)
