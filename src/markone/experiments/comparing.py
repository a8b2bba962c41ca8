"""Comparing rules and baselines on the same rows, and recommending one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.checks import check_named, switch
from markone.data.source import Label
from markone.errors import DataError, MarkoneError, SettingsError, did_you_mean
from markone.experiments.contenders import ByRule, Way, by_rule, for_table
from markone.experiments.contrasts import contrasts as all_contrasts
from markone.experiments.crew import Task, crew_of
from markone.experiments.folds import FoldRows, divided
from markone.experiments.page import page_of
from markone.experiments.progress import StepProgress, watching
from markone.experiments.splits import Method, Plan, Split
from markone.experiments.statistics import Calibration, PairTest, log_loss, parts_of_f1
from markone.experiments.tuning import tuned
from markone.experiments.validating import validated
from markone.experiments.validation import Fold, Metric, Validation, about_rows, fold_of, result, score_of
from markone.experiments.verdict import CURVES, p_in_words, pair_test, recommended, verdict_of
from markone.extras import need
from markone.features.derived import made_columns
from markone.features.map import FeatureMap
from markone.features.spec import Features, Function
from markone.learning import table_defaults
from markone.learning.arguments import check_weights_of_words
from markone.learning.deciding import decisions_of_labels, of_each_label
from markone.learning.samples import Sample, open_labelled
from markone.learning.wishes import Wishes
from markone.model.calibrator import FEWEST_ROWS, calibrate, is_better
from markone.model.rules import COMPARED, RULES, owners_of
from markone.model.settings import Settings
from markone.reporting.grids import Grid
from markone.reporting.shown import Content, Shown
from markone.theory.advice import advice, certificate_of, with_bias
from markone.theory.certificate import Certificate


@dataclass(frozen=True, repr=False)
class Contender(Brief):
    """The results of one way to learn."""

    name: str
    rule: str | None
    """The rule of Markone, or None for a baseline."""
    validation: Validation
    seconds: float
    """The time of training without features, as the mean of the folds."""
    passes: float | None
    """The number of passes, as the mean of the folds."""
    bytes: int | None
    """The size of the model file."""
    has_probabilities: bool
    calibration: Calibration | None
    """The calibration of its probabilities."""
    log_loss: float | None
    settings: dict[str, Any] = field(default_factory=dict)
    """The settings for `train`, without those that were tuned in each fold."""

    @cached_property
    def worth(self) -> NDArray[np.float64]:
        """How good the predictions of each row are in the first repeat, in the order of the rows. Their mean is the
        accuracy or, with several labels, micro F1."""
        folds = [fold for fold in self.validation.folds if fold.repeat == 1]
        order = np.argsort(np.concatenate([fold.rows for fold in folds]))
        if self.validation.metric != "micro F1":
            return self.right.astype(np.float64)
        truth, found = (np.concatenate([getattr(fold, name) for fold in folds]) for name in ("truth", "predicted"))
        return parts_of_f1(truth, found)[order]

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether each row was classified correctly in the first repeat, in the order of the rows; with several labels,
        whether it is right about each of them (rows × labels)."""
        folds = [fold for fold in self.validation.folds if fold.repeat == 1]
        order = np.argsort(np.concatenate([fold.rows for fold in folds]))
        return np.concatenate([fold.predicted == fold.truth for fold in folds])[order]

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rule": self.rule,
            "settings": self.settings,
            "seconds": self.seconds,
            "passes": self.passes,
            "bytes": self.bytes,
            "has_probabilities": self.has_probabilities,
            "calibration": None if self.calibration is None else self.calibration.as_dict(),
            "log_loss": self.log_loss,
            "validation": self.validation.as_dict(),
        }


@dataclass(frozen=True, repr=False)
class Failure(Brief):
    """A rule or baseline that cannot be trained on these data."""

    name: str
    reason: str


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """The results of several rules and baselines. When printed, it shows a table and a verdict."""

    source: str
    """The name of the data."""
    rows: int
    classes: list[Label]
    design: str
    """How the rows were split, in words."""
    contenders: list[Contender]
    """The most accurate first."""
    tests: list[PairTest]
    """Exact McNemar tests of each contender and the next."""
    verdict: str
    """Which rule to use, in words."""
    failures: list[Failure]
    """The rules and baselines that could not be trained, with the reasons."""
    seconds: float
    """The time of the whole comparison."""
    feature_seconds: float
    """The time of making features, as the mean of the folds."""
    theory: str = ""
    """Whether a plane separates the classes, in words."""
    tuned: bool = False
    """Whether settings were chosen in each fold."""
    metric: Metric = "accuracy"
    """What is compared: accuracy or, if rows have several labels, micro F1."""
    remarks: list[str] = field(default_factory=list)

    def in_brief(self) -> str:
        best = self.contenders[0] if self.contenders else None
        shown = "" if best is None else f"; {best.name} is best, {best.validation.mean:.2%}"
        return f"{self.heading()}{shown}"

    @property
    def best(self) -> Contender | None:
        """The recommended contender, which is a rule of Markone: `train(source, **best.settings)` uses it. It is the
        most accurate one, or the default of `train` if that is as good."""
        return recommended([contender for contender in self.contenders if contender.rule is not None])

    def __getitem__(self, name: str) -> Contender:
        """The contender of this name."""
        for contender in self.contenders:
            if contender.name == name:
                return contender
        known = [contender.name for contender in self.contenders]
        raise KeyError(f"there is no contender {name!r}; there are {', '.join(known)}.{did_you_mean(name, known)}")

    def as_dict(self) -> dict[str, Any]:
        """Return everything except the single predictions, for JSON."""
        return {
            "source": self.source,
            "rows": self.rows,
            "classes": self.classes,
            "design": self.design,
            "metric": self.metric,
            "contenders": [contender.as_dict() for contender in self.contenders],
            "tests": [test.as_dict() for test in self.tests],
            "failures": [asdict(failure) for failure in self.failures],
            "verdict": self.verdict,
            "theory": self.theory,
            "seconds": self.seconds,
            "feature_seconds": self.feature_seconds,
            "remarks": self.remarks,
        }

    def parts(self) -> Iterator[Content]:
        yield from (f"{self.heading()}.", "", self.grid(with_passes=False), "")
        if self.tests:
            yield from (self.test_grid(), "")
        yield from (f"{failure.name} could not be trained: {failure.reason}" for failure in self.failures)
        yield from self.remarks
        if self.failures or self.remarks:
            yield ""
        yield from filter(None, (self.verdict, self.theory))

    def html(self) -> str:
        """Return a self-contained HTML page, with plots if matplotlib is installed and rows have one label each."""
        return page_of(self)

    def heading(self) -> str:
        """Return a short description of the comparison."""
        return (
            f"{len(self.contenders)} ways to learn from {self.rows:,} rows of {len(self.classes):,} "
            f"{'labels' if self.metric == 'micro F1' else 'classes'}, by {self.design}"
        )

    def grid(self, *, with_passes: bool = True) -> Grid:
        """Return a table with a row for each contender."""
        heads = ["", self.metric, "interval", "log-loss", "off by", "seconds", "size", "passes"]
        shown = len(heads) if with_passes else -1
        return Grid([heads[:shown]], [self._row(contender)[:shown] for contender in self.contenders])

    def _row(self, contender: Contender) -> list[str]:
        low, high = contender.validation.interval
        passes = contender.passes
        return [
            contender.name,
            f"{contender.validation.mean:.2%}",
            f"{low * 100:.1f}-{high * 100:.1f}%",
            "-" if contender.log_loss is None else f"{contender.log_loss:.4f}",
            "-" if contender.calibration is None else f"{contender.calibration.error:.1%}",
            f"{contender.seconds:.3f}",
            "-" if contender.bytes is None else size_in_words(contender.bytes),
            "-" if passes is None else f"{passes:.0f}" if passes == round(passes) else f"{passes:.1f}",
        ]

    def test_grid(self) -> Grid:
        """Return a table of the tests of each contender and the next."""
        heads = ["only better right", "only next right"]
        if self.metric == "micro F1":
            heads = ["rows where better", "rows where worse"]
        return Grid(
            [["better, next best", *heads, "p"]],
            [
                [f"{test.better}, {test.worse}", f"{test.wins:,}", f"{test.losses:,}", p_in_words(test.p)]
                for test in self.tests
            ],
        )


def size_in_words(size: int) -> str:
    """
    >>> size_in_words(820), size_in_words(4321), size_in_words(12_345_678)
    ('820 B', '4.3 kB', '12.3 MB')
    """
    for unit, of in (("B", 1), ("kB", 10**3), ("MB", 10**6), ("GB", 10**9)):
        if size < 1000 * of or unit == "GB":
            break
    return f"{size / of:,.0f} {unit}" if of == 1 else f"{size / of:,.1f} {unit}"


def compare(
    source: Any,
    target: Any = None,
    *,
    rules: Iterable[str] | None = None,
    contrasts: bool = True,
    method: Method = "kfold",
    folds: int = 5,
    repeats: int = 1,
    share: float = 0.3,
    tune: bool = False,
    bias: bool = True,
    features: Any = None,
    functions: Mapping[str, Function] | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: StepProgress | bool | None = None,
    seed: int = 0,
    cluster: Any = None,
) -> Comparison:
    """Compares rules and some baselines on the same rows, and recommends a rule.

    If rows have lists of labels, rules are compared by micro F1, without baselines. The thresholds and probabilities of
    the labels are learned from the other folds or, for a hold-out, from the other half of the tested rows.

    Features are made within each fold, once for all rules that use the same features.

    Parameters
    ----------
    source
        A source, or an argument of `markone.read`. All rows must fit in memory.
    target
        The target, as for `markone.read`, if `source` is not a source yet.
    rules
        The names of the rules to compare: `perceptron` (not averaged), `averaged-perceptron`, `mira`, `hinge`,
        `logistic` (trained to the optimum), `logistic-online`, `svm`, `naive-bayes` and `mlp`; for tables also
        `curves`, which is what `train` does if no rule is chosen. The default is all.
    contrasts
        Also test the most frequent class, 1-nearest-neighbour and a decision tree, from scikit-learn.
    method, folds, repeats, share
        How to split the rows, as for `validate`.
    tune
        Choose the settings of each rule in each fold, on held-out training rows. The test rows are not used for this.
    bias
        Whether linear rules have a bias. Without it, their planes go through the origin, also in the advice.
    features, functions, threads, memory, progress, seed
        As for `validate`.
    cluster
        The workers of a cluster, as for `validate`. Each task tests the rules with the same features on one fold.

    Examples
    --------
    >>> texts = ["free money", "money now", "free tea now", "see you", "see you soon", "tea soon"] * 5
    >>> labels = ["spam", "spam", "spam", "ham", "ham", "ham"] * 5
    >>> comparison = compare(texts, target=labels, rules=["perceptron", "mira"], folds=3)
    >>> comparison["mira"].validation.mean
    1.0
    """
    need("sklearn", "scipy")
    begun = time.perf_counter()
    plan = Plan(method=method, folds=folds, repeats=repeats, share=share, seed=seed)
    compared = {name: settings_of_rule(name, bias) for name in names_of(rules)}
    named = [(name, given) for name, given in compared.items() if name != CURVES]
    checked: list[Way] = [by_rule(name, given, seed, features, functions) for name, given in named]
    sample = open_labelled(source, target, threads, memory)
    several = sample.sets is not None
    if several:
        plan.check_for_labels()
        check_weights_of_words(Features.of(features, functions, classless=True), sample.held.columns)
        ways = ways_for_labels(named, seed, features, functions, chosen=rules is not None)
    else:
        ways = [*checked, *(all_contrasts(Features.of(features, functions), seed) if contrasts else [])]
    if CURVES in compared and not several and table_defaults.suits(sample.held.columns, compared[CURVES]):
        ways.insert(0, replace(for_table(compared[CURVES], seed, features, functions), name=CURVES))
    elif rules is not None and CURVES in compared:
        raise SettingsError("rules", f"must not contain {CURVES!r}, which are for tables of numbers and categories")
    contest = Contest(sample, plan, ways, Tuner(features, functions, seed, compared) if tune else None)
    contest.hold(progress, cluster)
    if several:
        return replace(contest.comparison(time.perf_counter() - begun, compared), tuned=tune)
    chart = FeatureMap(Features.of(features, functions), sample.held.columns)
    certificate = certificate_of(sample, chart, bias=bias)
    biased = with_bias(certificate, lambda: certificate_of(sample, chart, bias=True))
    found = contest.comparison(time.perf_counter() - begun, compared, certificate)
    return replace(found, theory=advice(certificate, biased), tuned=tune)


def ways_for_labels(
    named: Iterable[tuple[str, dict[str, Any]]],
    seed: int,
    features: Any,
    functions: Mapping[str, Function] | None,
    *,
    chosen: bool,
) -> list[Way]:
    """Return the rules that can learn several labels a row. If the user has `chosen` the rules, all of them must."""
    ways: list[Way] = []
    for name, given in named:
        try:
            ways.append(by_rule(name, given, seed, features, functions, several=True))
        except SettingsError:
            if chosen:
                raise
    return ways


def settings_of_rule(name: str, bias: bool) -> dict[str, Any]:
    """Return the settings of a compared rule. A rule that is not linear has no bias that could be left out."""
    check_named("bias", switch, bias)
    if name == CURVES:
        return {} if bias else {"bias": False}
    given = COMPARED[name]
    return given if bias or given["rule"] not in owners_of("bias") else {**given, "bias": False}


def names_of(rules: Iterable[str] | None) -> list[str]:
    every = [*COMPARED, CURVES]
    if rules is None:
        return every
    names = [rules] if isinstance(rules, str) else list(dict.fromkeys(rules))
    for name in names:
        if name not in every:
            guess = did_you_mean(str(name), every)
            raise SettingsError("rules", f"must be among {', '.join(every)}, not {name!r}.{guess}")
    if not names:
        raise SettingsError("rules", "must name at least one rule")
    return names


class Tested(NamedTuple):
    """The result of one way on one split."""

    name: str
    feature_seconds: float
    """The time of making features."""
    fold: Fold | None = None
    remark: str | None = None
    reason: str | None = None
    """The reason if the way could not be trained."""


class Contest:
    """Tests several ways to learn on the same rows, fold by fold."""

    def __init__(self, sample: Sample, plan: Plan, ways: list[Way], tuner: Tuner | None) -> None:
        self.sample, self.plan, self.tuner = sample, plan, tuner
        # Ways with the same features follow each other, so that memory holds the rows of only one spec at a time.
        keys = {way.name: key_of(way.spec, sample) for way in ways}
        first = {key: place for place, key in reversed([*enumerate(keys.values())])}
        self.ways = sorted(ways, key=lambda way: first[keys[way.name]])
        self.order = [way.name for way in ways]
        self.validations: dict[str, Validation] = {}
        self.folds: dict[str, list[Fold]] = {way.name: [] for way in ways}
        self.failures: dict[str, str] = {}
        self.remarks: list[str] = []
        self.remarked: set[str] = set()
        self.feature_seconds = 0.0
        self._made: tuple[str, FoldRows] | None = None

    def hold(self, progress: StepProgress | bool | None, cluster: Any = None) -> None:
        splits, self.remarks = self.plan.divide(len(self.sample), self.sample.strata)
        if self.plan.method == "loo":
            self.leave_out(progress, cluster)
            return
        steps, spec = len(splits) * len(self.ways), self.ways[0].spec
        with crew_of(cluster, self, self.sample.held, spec) as crew, watching(progress, steps) as told:
            for tests in crew.each(Contest.tests, self.tasks(splits, together=crew.remote), told):
                for test in tests:
                    self.note(test)
        self._made = None
        self.feature_seconds /= len(splits)
        for way in self.ways:
            if way.name not in self.failures:
                folds = self.folds[way.name]
                if self.sample.sets is None:
                    folds = with_probabilities(folds, way.rule, self.sample.classes)
                elif isinstance(way, ByRule):
                    folds = with_decisions(folds, way.settings)
                self.validations[way.name] = result(self.sample, self.plan, way, folds, [])

    def tasks(self, splits: list[Split], *, together: bool) -> Iterator[Task]:
        """Yield the tasks: one way and one split or, if they should be `together`, all ways with the same features. A
        way that cannot be trained on these data is not tested again."""
        for number, split in enumerate(splits, 1):
            key = (lambda way: key_of(way.spec, self.sample)) if together else (lambda way: way.name)
            for _, group in groupby(self.ways, key):
                ways = [*group]
                words = [f"fold {number} of {len(splits)}: {way.name}" for way in ways]
                yield words, ([way for way in ways if way.name not in self.failures], split, number == 1)

    def tests(self, ways: list[Way], split: Split, weigh: bool) -> list[Tested]:
        """Test some ways on one split."""
        return [self.test(way, split, weigh=weigh) for way in ways]

    def test(self, way: Way, split: Split, *, weigh: bool) -> Tested:
        """Test one way on one split."""
        # scikit-learn raises ValueError if it cannot learn from the data.
        refusals = MarkoneError if isinstance(way, ByRule) else ValueError
        seconds = 0.0
        try:
            if self.tuner is not None and isinstance(way, ByRule) and way.name != CURVES:
                way = self.tuner.tuned(way, self.sample, split)
            rows, seconds = self.rows(split, way.spec)
            answer = way.answer(rows, weigh=weigh)
        except refusals as error:
            return Tested(way.name, seconds, reason=str(error))
        return Tested(way.name, seconds, fold_of(self.sample, split, answer), answer.remark)

    def note(self, test: Tested) -> None:
        """Note the result of a test."""
        self.feature_seconds += test.feature_seconds
        if test.fold is None:
            self.failures.setdefault(test.name, str(test.reason))
        elif test.name not in self.failures:
            if test.remark is not None and test.name not in self.remarked:  # folds differ in a few rows
                self.remarked.add(test.name)
                self.remarks.append(test.remark)
            self.folds[test.name].append(test.fold)

    def rows(self, split: Split, spec: Features) -> tuple[FoldRows, float]:
        """Return the rows of a split, which are made once for all ways with the same features, and the seconds."""
        key = f"{split.repeat} {split.number} {key_of(spec, self.sample)}"
        made, start = self._made, time.perf_counter()
        if made is None or made[0] != key:
            self._made = None  # their memory is needed
            self._made = made = key, divided(self.sample, split, spec)
        return made[1], time.perf_counter() - start

    def __reduce__(self) -> tuple[Any, ...]:
        return Contest, (self.sample, self.plan, self.ways, self.tuner)

    def leave_out(self, progress: StepProgress | bool | None, cluster: Any) -> None:
        for way in self.ways:
            try:
                self.validations[way.name] = validated(self.sample, self.plan, way, progress, cluster)
            except ValueError as error:
                self.failures[way.name] = str(error)

    def comparison(
        self, seconds: float, compared: Mapping[str, dict[str, Any]], certificate: Certificate | None = None
    ) -> Comparison:
        contenders = [
            contender_of(name, self.rule_of(name), self.validations[name], compared.get(name, {}))
            for name in self.order
            if name in self.validations
        ]
        if not contenders:
            raise DataError(f"no rule can be trained on these data: {next(iter(self.failures.values()))}")
        facts = () if certificate is None else (certificate.separable, certificate.plane_in_words)
        contenders.sort(key=lambda contender: (-contender.validation.mean, contender.log_loss or 0.0))
        return Comparison(
            source=self.sample.held.name,
            rows=len(self.sample),
            classes=self.sample.classes,
            design=self.plan.in_words(),
            contenders=contenders,
            tests=[pair_test(better, worse) for better, worse in pairwise(contenders)],
            verdict=verdict_of(contenders, *facts),
            failures=[Failure(name, self.failures[name]) for name in self.order if name in self.failures],
            seconds=seconds,
            feature_seconds=self.feature_seconds,
            metric=contenders[0].validation.metric,
            remarks=[*self.remarks, *about_rows(self.sample)],
        )

    def rule_of(self, name: str) -> str | None:
        return next(way.rule for way in self.ways if way.name == name)


def with_probabilities(folds: list[Fold], rule: str | None, classes: list[Label]) -> list[Fold]:
    """Return the folds with probabilities that are learned from the scores of the other folds, as `train` learns them
    by cross-fitting. Rules with probabilities of their own keep them unless the learned ones are better."""
    if rule is None:
        return folds
    found = []
    for fold in folds:
        others = [one for one in folds if one.repeat == fold.repeat and one is not fold and one.scores is not None]
        if fold.scores is None or sum(len(one.rows) for one in others) < FEWEST_ROWS:
            found.append(fold)
            continue
        truth = np.concatenate([one.truth for one in others])
        scores = np.concatenate([one.scores for one in others if one.scores is not None])
        finite = bool(np.isfinite(scores).all())
        own = RULES[rule].has_probabilities
        if finite and (not own or is_better(scores, truth, None, classes)):
            probabilities = np.exp(calibrate(scores, truth, None, classes).log_probabilities(fold.scores))
            fold = replace(fold, probabilities=probabilities)
        found.append(fold)
    return found


def with_decisions(folds: list[Fold], settings: Settings) -> list[Fold]:
    """Return the folds with the predictions and probabilities of several labels, as other folds of the same repeat, or
    other rows of a single fold, suggest them."""
    found = []
    for fold in folds:
        others = [one for one in folds if one.repeat == fold.repeat and one is not fold]
        predicted, probabilities = decided_by(others, fold, settings) if others else decided_by_halves(fold, settings)
        found.append(
            replace(
                fold, predicted=predicted, probabilities=probabilities, score=score_of(fold.truth, predicted, False)
            )
        )
    return found


Decided = tuple[NDArray[np.bool_], NDArray[np.float64] | None]
"""Which labels are predicted, and the probabilities of both answers for each label, if there are any."""


def decided_by(others: list[Fold], fold: Fold, settings: Settings) -> Decided:
    """Return the predictions of several labels for a fold, with thresholds that are chosen on other folds."""
    scores, truth = (np.concatenate([getattr(one, name) for one in others]) for name in ("scores", "truth"))
    decisions = decisions_of_labels(of_each_label(scores, truth), settings, Wishes(), truth.shape[1])
    assert fold.scores is not None  # rules have scores
    predicted = decisions.found(fold.scores, _core.Tie[settings.tie])
    has_probabilities = decisions.calibrated or settings.traits.has_probabilities
    return predicted, np.exp(decisions.log_of_both(fold.scores)) if has_probabilities else None


def decided_by_halves(fold: Fold, settings: Settings) -> Decided:
    """Return the same for a single fold: each half of its rows decides about the other."""
    half = np.arange(len(fold.rows)) % 2 == 0
    predicted = np.zeros_like(fold.truth)
    probabilities = np.zeros((len(fold.rows), 2, fold.truth.shape[1]))
    complete = True
    for tested in (half, ~half):
        rest, own = (part_of(fold, rows) for rows in (~tested, tested))
        predicted[tested], found = decided_by([rest], own, settings)
        if found is None:
            complete = False
        else:
            probabilities[tested] = found
    return predicted, probabilities if complete else None


def part_of(fold: Fold, rows: NDArray[np.bool_]) -> Fold:
    """Return some of the rows of a fold, with their scores."""
    assert fold.scores is not None  # rules have scores
    return replace(fold, rows=fold.rows[rows], truth=fold.truth[rows], scores=fold.scores[rows])


def contender_of(
    name: str, rule: str | None, validation: Validation, settings: Mapping[str, Any] | None = None
) -> Contender:
    probabilities = validation.probabilities
    return Contender(
        name=name,
        rule=rule,
        validation=validation,
        seconds=validation.seconds,
        passes=validation.passes,
        bytes=validation.folds[0].bytes,
        has_probabilities=probabilities is not None,
        calibration=validation.calibration,
        log_loss=None if probabilities is None else log_loss(*validation.decisions),
        settings=dict(settings or {}),
    )


def key_of(spec: Features, sample: Sample) -> str:
    """Return a key that is equal for specs that make the same rows."""
    columns = sample.held.columns
    facts = [
        [(column.name, spec.for_column(column).as_dict(full=True)) for column in made_columns(columns)],
        spec.conjunctions,
        spec.degree,
        spec.email,
        FeatureMap(spec, columns).unit,
        [(name, id(function)) for name, function in spec.functions.items()],
    ]
    return json.dumps(facts, default=str)


@dataclass(frozen=True)
class Tuner:
    """Chooses settings in each fold, on training rows only."""

    features: Any
    functions: Mapping[str, Function] | None
    seed: int
    compared: Mapping[str, dict[str, Any]]
    """The settings of each rule that are not tuned."""

    def tuned(self, way: ByRule, sample: Sample, split: Split) -> ByRule:
        found = tuned(sample.part(split.learned), self.compared[way.name], self.features, self.functions, self.seed)
        several = sample.sets is not None
        by = by_rule(way.name, found.settings, self.seed, found.features, None, several=several)
        return replace(by, chosen=found.settings)
