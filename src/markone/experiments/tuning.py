"""Tuning: choosing settings on held-out training rows. Test data are not read.

There are two stages. First, all candidates are tried on one share of the rows, with more and more rows for fewer and
fewer candidates. In the final, the best of them and the defaults are compared by cross-fitting, with several repeats if
there are few rows. The defaults are kept unless they are beaten beyond noise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, product
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_hexdigest

from markone.checks import check_named, switch
from markone.data.blocks import Block
from markone.errors import DataError, MarkoneError, SettingsError
from markone.experiments.contenders import settings_for, taught
from markone.experiments.crew import Alone, Crew, Task, crew_of
from markone.experiments.folds import FoldRows, divided
from markone.experiments.progress import StepProgress, watching
from markone.experiments.splits import Plan, Split
from markone.experiments.statistics import parts_of_f1
from markone.experiments.trials import Trial, Tuning
from markone.extras import need
from markone.features.choices import choose
from markone.features.dependence import what_learns
from markone.features.map import FeatureMap
from markone.features.spec import Features, Function
from markone.learning import table_defaults
from markone.learning.arguments import check_for_sets, check_weights_of_words, spec_of
from markone.learning.deciding import found_by_others
from markone.learning.learner import Learner
from markone.learning.learners import new_learner
from markone.learning.passes import teach
from markone.learning.samples import Sample, open_labelled
from markone.learning.several_labels import LabelLearner
from markone.model.rules import RULES, Rule
from markone.model.search_grids import RIVALS, Choice
from markone.model.settings import Settings, TrialSettings

SHARE = 0.2
"""The share of rows that are held out for the first trials."""
FOLDS = 5
"""The number of folds if all rows are held out in turn."""
FINALS = ((1_000, 5, 3), (3_000, 5, 1), (20_000, 3, 1))
"""In the final, up to these numbers of rows: the number of folds, and of repeats. With more rows, there are no folds,
and the final has the same held-out rows as the first trials."""
MOST_BYTES = 300_000
"""Folds of more bytes are not repeated."""
NARROWING = 3
"""Each round has 3 times as many rows as the one before, and a third of the candidates."""
ROUNDS = 3
FINALISTS = 3
"""The number of candidates that are trained on all rows, and of those that challenge the defaults."""
BEYOND = 2.0
"""The number of standard errors by which the defaults must be beaten."""
FEWEST_ROWS = 500
"""The smallest number of rows in a round. With fewer, the best candidate would be mostly chance."""
MORE_PASSES = 2
"""The largest number of passes to try, relative to the default."""
MOST_KEPT = 3
"""The largest number of specs whose rows are kept in memory between rounds."""

WORDS = ([1, 1], [1, 2], [1, 3])
TEXTS: tuple[Choice, ...] = (
    *({"words": words} for words in WORDS),
    {"subwords": [2, 5]},
    {"subwords": []},
    {"weight": "idf"},
    {"words": [1, 2], "weight": "idf"},
)
"""The settings of texts that are tried: n-grams of words, parts of words, and the weights of both."""


def tune(
    source: Any,
    target: Any = None,
    *,
    rule: Rule | None = None,
    features: Any = None,
    functions: Mapping[str, Function] | None = None,
    scaled: bool = True,
    plain: bool = False,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: StepProgress | bool | None = None,
    seed: int = 0,
    cluster: Any = None,
    **settings: Unpack[TrialSettings],
) -> Tuning:
    """Chooses settings on held-out rows, and keeps the defaults unless others are better beyond noise.

    First, all candidates are trained on a part of the rows and in few passes, and tested on one fifth of the rows. The
    best third of them continue with three times as many rows and passes, and so on. Then the best three and the
    defaults are compared by cross-validation, which is repeated three times if there are fewer than 1,000 rows. Of
    those that are better than the defaults by two standard errors, the simplest is chosen that is within one standard
    error of the best. If there is none, the defaults are kept.

    The candidates differ in one setting from the defaults: in a setting of the rule; in the rule, if it is not given
    and no other setting implies it; and if there are texts and no `features` are given, in the n-grams of words,
    parts of words, and the weights of features. The best changes of both kinds are also combined. Settings that are
    given are not changed. The same seed makes the same choice. If rows have lists of labels, micro F1 is compared
    instead of the accuracy: thresholds for half of the held-out rows are chosen on the other half.

    Parameters
    ----------
    source
        The training rows: a source, or an argument of `markone.read`. All rows must fit in memory.
    target
        The target, as for `markone.read`, if `source` is not a source yet.
    rule
        A rule, as for `train`. By default, it is chosen, too.
    features
        The spec of the features, as for `train`. If it is given, it is not tuned.
    functions, threads, memory, seed
        As for `validate`.
    scaled
        Whether numeric columns are scaled, if `features` does not say it.
    plain
        As for `train`: the defaults for a table are then those of the rule `mira`.
    progress
        True for a bar on a terminal and lines elsewhere; or an object that is called for each trial.
    cluster
        The workers of a cluster, as for `validate`, try the candidates. The choice is the same.
    settings
        Settings that are not tuned, as in `markone.Settings`.

    Examples
    --------
    >>> texts = ["free money", "money now", "free tea now", "see you", "see you soon", "tea soon"] * 20
    >>> labels = ["spam", "spam", "spam", "ham", "ham", "ham"] * 20
    >>> tuning = tune(texts, target=labels, rule="perceptron")
    >>> tuning.settings, tuning.kept
    ({'rule': 'perceptron'}, True)
    """
    need("sklearn", "scipy")
    given: dict[str, Any] = {**({} if rule is None else {"rule": rule}), **settings}
    check_given(given)
    check_named("scaled", switch, scaled)
    check_named("plain", switch, plain)
    if settings_for(given, seed).traits.predicts_numbers:  # before anything is read
        raise SettingsError("rule", "is 'regression', which tuning does not support; train with it instead")
    sample = open_labelled(source, target, threads, memory)
    search = TuningSearch(sample, given, features, functions, seed, scaled, plain)
    with crew_of(cluster, search, sample.held, search.candidates[0].spec) as crew:
        return search.run(progress, crew)


def check_given(given: Choice) -> None:
    for name in ("patience", "holdout"):
        if given.get(name):
            raise SettingsError(name, "and tuning both use held-out rows; leave out one of them")


def tuned(
    sample: Sample,
    given: Choice,
    features: Any,
    functions: Mapping[str, Function] | None,
    seed: int,
) -> Tuning:
    """Return the best settings for the rows of a sample."""
    search = TuningSearch(sample, given, features, functions, seed)
    return search.run(None, Alone(search))


@dataclass(frozen=True)
class Candidate:
    """A candidate for the choice."""

    place: int
    """The number of the candidate, starting with 0 for the defaults. Lower numbers win ties."""
    choice: Choice
    """The settings that differ from the defaults."""
    text: Choice
    """The settings of texts that differ from the defaults."""
    settings: Settings
    spec: Features
    key: str
    """A key of the features, which is the same for candidates with the same rows."""

    @property
    def changes(self) -> int:
        """How many settings differ from the defaults."""
        return len(self.choice) + len(self.text)


@dataclass(frozen=True)
class Final:
    """The result of a candidate in the final."""

    trial: Trial
    candidate: Candidate
    worth: NDArray[np.float64]
    """How good the predictions of each test row are, as the mean of the repeats."""


@dataclass(frozen=True)
class Look:
    """The result of a candidate after a pass."""

    epoch: int
    worth: NDArray[np.float64]
    """How good the predictions of each test row are: 1 if it was classified correctly, and otherwise 0; with several
    labels, what it contributes to micro F1. The mean is the score."""
    seconds: float


class Tried(NamedTuple):
    """The result of a candidate in a round."""

    trial: Trial
    looks: dict[int, Look] | None = None
    """What it had learned after its passes, if it was trained on all training rows."""
    passes: int | None = None
    """The number of passes for the final, if another than the default is better."""


class Looks:
    """Looks at a learner after its passes, with the weights that it would use."""

    def __init__(self, learner: Learner, tested: Block, start: float) -> None:
        self.learner, self.tested, self.start = learner, tested, start
        self.found: dict[int, Look] = {}

    def __call__(self, epoch: int) -> tuple[float | None, float | None]:
        worth = worth_of(self.learner, self.tested)
        self.found[epoch] = Look(epoch, worth, time.perf_counter() - self.start)
        share = float(worth.mean())
        return (None, share) if self.learner.settings.average else (share, None)


class TuningSearch:
    """Rounds of trials, each with fewer candidates, more rows and more passes, and a final."""

    def __init__(
        self,
        sample: Sample,
        given: Choice,
        features: Any,
        functions: Mapping[str, Function] | None,
        seed: int,
        scaled: bool = True,
        plain: bool = False,
    ) -> None:
        self.sample, self.given, self.seed = sample, given, seed
        self.features, self.functions, self.scaled = features, functions, scaled
        self.any_rule = given.keys() <= {*table_defaults.OF_BOTH}
        self.several = sample.sets is not None
        self.usual = settings_for(given, seed)
        if self.several:
            check_for_sets(self.usual)
        self.curved = False
        if scaled and not plain and not self.several and table_defaults.suits(sample.held.columns, given):
            self.usual, self.curved = self.defaults_for_table()
        self.rule: Rule = self.usual.rule
        self.trials: list[Trial] = []
        self.candidates = list(self.all_candidates())
        if self.several:
            check_weights_of_words(self.candidates[0].spec, sample.held.columns)
        self._rows: dict[str, FoldRows] = {}
        self._looks: dict[int, dict[int, Look]] = {}
        """What each candidate that was trained on all training rows had learned after its passes."""
        self._passes: dict[int, int] = {}
        """The number of passes of candidates for which another number than the default is better."""

    def __getstate__(self) -> dict[str, Any]:
        """What workers need: the rows, but not their features, which they make themselves."""
        kept = {name: value for name, value in self.__dict__.items() if name not in ("split", "folds", "plan", "order")}
        return {**kept, "trials": [], "candidates": [], "_rows": {}, "_looks": {}, "_passes": {}}

    # ---- the candidates

    def defaults_for_table(self) -> tuple[Settings, bool]:
        """Return the default settings for a table, and whether it has curves. As in `train`, texts beside other columns
        are learned without curves if these do not help."""
        curved = settings_for({"rule": table_defaults.RULE, **self.given}, self.seed)
        columns = self.sample.held.columns
        features = FeatureMap(self.spec(curved, curved=True), columns)
        if any(column.kind == table_defaults.TEXT for column in columns):
            self.sample.fitted(features, np.arange(len(self.sample)))
        usual = table_defaults.after_search(features, curved, self.usual)
        return usual, usual is curved

    def spec(self, settings: Settings, *, curved: bool = False) -> Features:
        """Return the default features of a rule."""
        return spec_of(
            self.features,
            self.functions,
            None,
            countable=settings.traits.counts,
            scaled=self.scaled,
            curved=curved,
            classless=self.several,
        )

    def all_candidates(self) -> Iterator[Candidate]:
        """Yield the defaults first, and then what differs in one setting; if one learner serves all settings, also what
        differs in several."""
        usual = self.spec(self.usual, curved=self.curved)
        texts = [{}, *self.texts(usual)]
        choices = [({}, self.usual, usual), *self.choices(usual)]
        pairs = product(choices, texts) if self.usual.family.tunes_in_turn else both(choices, texts)
        for place, ((choice, settings, spec), text) in enumerate(pairs):
            yield self.candidate(place, choice, text, settings, spec)

    def candidate(self, place: int, choice: Choice, text: Choice, settings: Settings, spec: Features) -> Candidate:
        if text:
            spec = replace(spec, text=replace(spec.text, **text))
        return Candidate(place, choice, text, settings, spec, f"{spec.as_dict()} {settings.traits.counts}")

    def texts(self, usual: Features) -> list[Choice]:
        """Return the settings of texts to try."""
        if self.features is not None or not any(column.kind == "text" for column in self.sample.held.columns):
            return []
        if self.usual.traits.counts:
            return [text for text in TEXTS if [*text] == ["words"] and replace(usual.text, **text) != usual.text]
        found = choose(usual, self.sample.held.columns, self.sample.held.batches())[0].text
        texts = [text for text in TEXTS if not (self.several and "weight" in text)]  # the weight is idf already
        return [text for text in texts if replace(found, **text) not in (found, usual.text)]

    def choices(self, usual: Features) -> Iterator[tuple[Choice, Settings, Features]]:
        """Yield each different choice of settings that are not given, with the features of its rule."""
        seen = [(self.usual, usual.as_dict())]
        own: list[Choice] = [] if self.curved else [*self.usual.traits.grid(self.usual)]
        others = [{"rule": rule, **choice} for rule, choices in RIVALS.items() for choice in choices]
        if any(column.kind == "text" for column in self.sample.held.columns):
            others = [one for one in others if not RULES[one["rule"]].has_layers]  # texts have too many features
        for choice in [*own, *(others if self.any_rule else [])]:
            kept = {name: value for name, value in choice.items() if name not in self.given}
            try:
                settings = settings_for({"rule": self.rule, **self.given, **kept}, self.seed)
                if self.several:
                    check_for_sets(settings)
            except SettingsError:  # this choice cannot be combined with the given settings, or with several labels
                continue
            spec = self.spec(settings)
            if (settings, spec.as_dict()) not in seen:
                seen.append((settings, spec.as_dict()))
                yield kept, settings, spec

    # ---- the rows

    @cached_property
    def split(self) -> Split:
        """The split into training rows and held-out rows."""
        [[split], _] = Plan(method="holdout", share=SHARE, seed=self.seed).divide(len(self.sample), self.sample.strata)
        return split

    @cached_property
    def folds(self) -> list[Split]:
        """The splits if all rows are held out in turn."""
        plan = Plan(method="kfold", folds=min(FOLDS, len(self.sample)), seed=self.seed)
        return plan.divide(len(self.sample), self.sample.strata)[0]

    @cached_property
    def plan(self) -> Plan:
        """How the rows are divided in the final."""
        rows = len(self.sample)
        for most, folds, repeats in FINALS:
            if rows <= most:
                repeats = repeats if self.sample.held.size <= MOST_BYTES else 1
                return Plan(method="kfold", folds=min(folds, rows), repeats=repeats, seed=self.seed + 1)
        return Plan(method="holdout", share=SHARE, seed=self.seed)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The random order in which training rows are added in the rounds."""
        return np.random.default_rng([self.seed, 2]).permutation(len(self.split.learned))

    # ---- the search

    def run(self, progress: StepProgress | bool | None, crew: Crew) -> Tuning:
        in_turn = self.usual.family.tunes_in_turn
        ranked = self.take_turns(progress, crew) if in_turn else self.narrow_down(progress, crew)
        finals = self.finals([self.candidates[0], *self.challengers(ranked)], progress, crew)
        usual, *others = finals
        if all(one.trial.reason is not None for one in finals):
            raise DataError(str(usual.trial.reason))
        chosen = self.choose(usual, others)
        rival = max(others, key=lambda one: one.trial.score, default=None)
        shown = chosen if chosen is not usual else rival
        gain, noise = (0.0, 0.0) if shown is None else lead(shown, usual)
        learned = chosen.trial.rows
        return Tuning(
            rule=chosen.candidate.settings.rule,
            settings={"rule": self.rule, **self.given, **chosen.candidate.choice},
            features=chosen.candidate.spec,
            trials=self.trials,
            score=chosen.trial.score,
            rows=learned,
            held_out=len(self.sample) - learned,
            in_turn=self.plan.method == "kfold",
            chosen=chosen.trial,
            kept=chosen is usual,
            rival=None if rival is None else rival.trial,
            gain=gain,
            noise=noise,
            design=self.plan.in_words(),
            metric="micro F1" if self.several else "accuracy",
        )

    def choose(self, usual: Final, others: list[Final]) -> Final:
        """Return the defaults, unless they are beaten beyond noise: then the simplest candidate that beats them and is
        within one standard error of the best."""
        leads = [(one, *lead(one, usual)) for one in others]
        beating = [(one, gain, noise) for one, gain, noise in leads if gain > BEYOND * noise and gain > 0]
        if not beating:
            return usual
        best = max(beating, key=lambda one: one[1])[0]
        near = [one for one, _, _ in beating if one is best or lead(best, one)[0] <= lead(best, one)[1]]
        return min(near, key=lambda one: (one.candidate.changes, one.candidate.place))

    def challengers(self, ranked: list[tuple[Trial, Candidate]]) -> list[Candidate]:
        """Return the best candidates, with the chosen numbers of passes, and the combination of the best setting and
        the best features."""
        tried = {candidate.place: (trial, candidate) for trial, candidate in ranked if trial.reason is None}
        found = [self.with_passes(candidate) for _, candidate in tried.values()]
        usual = self.candidates[0]
        other = [one for one in found if one.choice or one.text]
        best = other[:FINALISTS]
        settings = next((one for one in other if one.choice and not one.text), None)
        text = next((one for one in other if one.text and not one.choice), None)
        if settings is not None and text is not None and settings.key == usual.key:
            both_changed = self.candidate(
                len(self.candidates), settings.choice, text.text, settings.settings, usual.spec
            )
            best = [*best[: FINALISTS - 1], both_changed]
        return best

    def with_passes(self, candidate: Candidate) -> Candidate:
        """Return the candidate with the number of passes that the last round has chosen, if it is not the default."""
        if (epochs := self._passes.get(candidate.place)) is None:
            return candidate
        settings = replace(candidate.settings, epochs=epochs)
        return replace(candidate, choice={**candidate.choice, "epochs": epochs}, settings=settings)

    def finals(self, candidates: list[Candidate], progress: StepProgress | bool | None, crew: Crew) -> list[Final]:
        """Compare candidates on the same rows."""
        if self.plan.method == "holdout":
            splits = [self.split]  # as in the rounds, and so with the same rows
        else:
            splits = self.plan.divide(len(self.sample), self.sample.strata)[0]
            self._rows.clear()
        number = 1 + max((trial.round for trial in self.trials), default=0)
        worth = np.zeros((len(candidates), len(self.sample)))
        tests = np.zeros(len(self.sample))
        seconds, passes = np.zeros(len(candidates)), np.zeros(len(candidates), int)
        reasons: list[str | None] = [None] * len(candidates)
        for split in splits:
            tests[split.tested] += 1

        def tasks() -> Iterator[Task]:
            for split in splits:
                for i in in_order:
                    words = [f"final: {candidates[i].settings.rule}"]
                    yield words, (split, None if reasons[i] else candidates[i], self.known(candidates[i]))

        in_order = sorted(range(len(candidates)), key=lambda one: candidates[one].key)
        with watching(progress, len(splits) * len(candidates)) as told:
            looks = crew.each(TuningSearch.look, tasks(), told)
            for (split, i), look in zip(product(splits, in_order), looks, strict=True):
                if reasons[i] is not None or look is None:
                    continue
                if isinstance(look, str):
                    reasons[i] = look
                    continue
                worth[i, split.tested] += look.worth
                passes[i] = look.epoch
                seconds[i] += look.seconds
        tested = np.flatnonzero(tests)
        finals = []
        for i, candidate in enumerate(candidates):
            shares = worth[i, tested] / tests[tested]
            failed = reasons[i] is not None
            score = -1.0 if failed else float(shares.mean())
            learned, spent = len(splits[0].learned), float(seconds[i])
            trial = Trial(number, candidate.choice, candidate.text, learned, int(passes[i]), score, spent, reasons[i])
            finals.append(Final(trial, candidate, np.full(len(tested), -1.0) if failed else shares))
        self.trials += [one.trial for one in finals]
        return finals

    def known(self, candidate: Candidate) -> Look | None:
        """Return the predictions of the last round, if the final has the same rows and would train in the same way."""
        if self.plan.method != "holdout" or self.warm_by(candidate.settings) is not None:
            return None
        looks = self._looks.get(candidate.place, {})
        return looks.get(min(candidate.settings.spelled_out().epochs, max(looks, default=0)))

    def look(self, split: Split, candidate: Candidate | None, known: Look | None) -> Look | str | None:
        """Train on the training rows of a split, and predict its test rows, unless that is known or not needed. Return
        the reason if the candidate cannot be trained."""
        if candidate is None or known is not None:
            return known
        start = time.perf_counter()
        try:
            rows = self.rows(candidate, split)
            learner = self.learner(rows, candidate.settings, None)
            epoch = len(teach(learner, rows.block))
            worth = worth_of(learner, rows.tested_block)
        except MarkoneError as error:
            return str(error)
        return Look(epoch, worth, time.perf_counter() - start)

    def take_turns(self, progress: StepProgress | bool | None, crew: Crew) -> list[tuple[Trial, Candidate]]:
        """Hold out all rows in turn, which is possible because training is fast and one learner serves all settings."""
        groups: dict[str, list[Candidate]] = {}
        for candidate in self.candidates:
            groups.setdefault(candidate.key, []).append(candidate)
        ranked: list[tuple[Trial, Candidate]] = []
        what = f"{self.rule}, all rows held out in turn"
        tasks = (
            ([what], (group[0].spec, [one.settings for one in group], len(groups) == 1)) for group in groups.values()
        )
        with watching(progress, len(groups)) as told:
            found = crew.each(TuningSearch.turn, tasks, told)
            for group, (right, rows, spent) in zip(groups.values(), found, strict=True):
                seconds = spent / len(group)
                for candidate, score in zip(group, (right / len(self.sample)).tolist(), strict=True):
                    ranked.append((Trial(1, candidate.choice, candidate.text, rows, 1, score, seconds), candidate))
        ranked.sort(key=lambda one: one[1].place)
        self.trials += [trial for trial, _ in ranked]
        return sorted(ranked, key=lambda one: -one[0].score)  # of equals, those closer to the defaults come first

    def turn(self, spec: Features, settings: list[Settings], alone: bool) -> tuple[NDArray[np.int64], int, float]:
        """Return how many rows each of these settings classifies correctly, the number of training rows, and the
        seconds. If it is the only spec (`alone`), each row is left out by itself if possible."""
        start = time.perf_counter()
        right, rows = self.right_alone(spec, settings) if alone else None, len(self.sample) - 1
        if right is None:
            right, rows = self.right_in_folds(spec, settings), len(self.folds[0].learned)
        return right, rows, time.perf_counter() - start

    def right_alone(self, spec: Features, settings: list[Settings]) -> NDArray[np.int64] | None:
        """Return how many rows each of these settings classifies correctly, by leave-one-out.

        None if the features, or balanced class weights, depend on the rows: they would have to be made without the row,
        too, because otherwise its words and their weights would be known.
        """
        if self.usual.class_weight == "balanced":
            return None
        features = FeatureMap(spec, self.sample.held.columns)
        matrix, importance = self.sample.fitted(features, np.arange(len(self.sample)))
        if what_learns(features) is not None:
            return None
        truth = self.sample.truth
        rows = FoldRows(features, self.sample.classes, matrix, truth, importance, matrix, truth)
        block = rows.weighted(self.usual.class_weight).block
        right: NDArray[np.int64] = self.learned(rows).right_left_out(block, settings)
        return right

    def right_in_folds(self, spec: Features, settings: list[Settings]) -> NDArray[np.int64]:
        """Return the same by cross-validation, with features from the training rows of each fold."""
        right = np.zeros(len(settings), np.int64)
        for split in self.folds:
            rows = divided(self.sample, split, spec)
            learner = self.learned(rows)
            for i, one in enumerate(settings):
                right[i] += (learner.with_settings(one).predict(rows.tested_block.rows) == rows.tested_truth).sum()
        return right

    def learned(self, rows: FoldRows) -> Any:
        """Return a learner trained on these rows, which serves all settings."""
        learner: Any = new_learner(self.usual, rows.features, rows.classes)
        learner.learn(learner.ready(rows.weighted(self.usual.class_weight).block))
        return learner

    def narrow_down(self, progress: StepProgress | bool | None, crew: Crew) -> list[tuple[Trial, Candidate]]:
        """Run the rounds. Each round continues with the best candidates of the round before. Return all candidates,
        those of the last rounds first."""
        sizes = self.sizes()
        most = len(self.candidates)
        counts = [max(min(FINALISTS, most), math.ceil(most / NARROWING**i)) for i in range(len(sizes))]
        left = self.candidates
        ranked: list[tuple[Trial, Candidate]] = []
        with watching(progress, sum(counts)) as told:
            for number, (size, count) in enumerate(zip(sizes, counts, strict=True), 1):
                left = left[:count]
                tasks = [
                    (
                        [f"round {number} of {len(sizes)}: {candidate.settings.rule}" for candidate in chain],
                        (chain, number, size, [self.passes_in(candidate, number, len(sizes)) for candidate in chain]),
                    )
                    for chain in self.chains(left)
                ]
                found = []
                for (_, (chain, *_)), tries in zip(tasks, crew.each(TuningSearch.tries, tasks, told), strict=True):
                    for candidate, tried in zip(chain, tries, strict=True):
                        self.note(candidate, tried)
                        found.append((tried.trial, candidate))
                found.sort(key=lambda one: (-one[0].score, one[1].place))  # ties: the closest to the defaults first
                left = [candidate for _, candidate in found]
                ranked = [*found, *(one for one in ranked if one[1] not in left)]
        return ranked

    def sizes(self) -> list[int]:
        """Return the number of rows of each round. The last round has all rows."""
        rows = len(self.split.learned)
        sizes = [rows // NARROWING**i for i in reversed(range(ROUNDS))]
        return [size for size in sizes if size >= min(rows, FEWEST_ROWS)] if len(self.candidates) > 1 else [rows]

    def tunes_passes(self, candidate: Candidate) -> bool:
        # Thresholds of several labels would have to be chosen after each pass, which takes longer than the passes.
        return "epochs" not in self.given and candidate.settings.traits.tunes_passes and not self.several

    def passes_in(self, candidate: Candidate, number: int, rounds: int) -> int:
        """Return the number of passes of a round: if it is tuned, half as many as in the next round."""
        usual = candidate.settings.spelled_out().epochs
        return max(1, MORE_PASSES * usual // 2 ** (rounds - number)) if self.tunes_passes(candidate) else usual

    def chains(self, candidates: list[Candidate]) -> Iterator[list[Candidate]]:
        """Yield candidates in groups, in which the learner of one trial can start from the one before."""
        for (_, warm_by), group in groupby(
            self.in_warm_order(candidates), lambda one: (one.key, self.warm_by(one.settings))
        ):
            alike = [*group]
            yield from ([one] for one in alike) if warm_by is None else [alike]

    def tries(self, candidates: list[Candidate], number: int, size: int, passes: list[int]) -> list[Tried]:
        """Try candidates on this number of rows, with these numbers of passes, each from the learner before if that is
        possible."""
        found, learner = [], None
        for candidate, epochs in zip(candidates, passes, strict=True):
            tried, learner = self.trial(candidate, number, size, epochs, learner)
            found.append(tried)
        return found

    def note(self, candidate: Candidate, tried: Tried) -> None:
        """Note the result of a candidate in a round."""
        self.trials.append(tried.trial)
        if tried.looks is not None:
            self._looks[candidate.place] = tried.looks
        if tried.passes is not None:
            self._passes[candidate.place] = tried.passes

    def trial(
        self, candidate: Candidate, number: int, size: int, passes: int, before: Learner | None
    ) -> tuple[Tried, Learner | None]:
        """Return the result of a candidate, and its learner. It starts from the learner before, if there is one."""
        start = time.perf_counter()
        whole = size == len(self.split.learned)

        def result(passes: int, score: float, reason: str | None = None) -> Trial:
            seconds = time.perf_counter() - start
            return Trial(number, candidate.choice, candidate.text, size, passes, score, seconds, reason)

        learner = before
        try:
            rows = self.rows(candidate, self.split).some(self.order[:size])
            learner = self.learner(rows, replace(candidate.settings, epochs=passes), before)
            looks = Looks(learner, rows.tested_block, start)
            if self.several:
                last = len(teach(learner, rows.block))
                looks(last)
                scores = {last: float(looks.found[last].worth.mean())}
            else:
                history, _ = taught(learner, rows, looks)
                scores = {one.epoch: one.holdout for one in history if one.holdout is not None}
        except MarkoneError as error:  # training diverged, or the rule cannot use these features
            return Tried(result(0, -1.0, str(error))), learner
        epoch, is_better = self.best_pass(candidate, scores)
        found = Tried(result(epoch, scores[epoch]))
        if whole:
            found = found._replace(looks=looks.found, passes=epoch if is_better else None)
        return found, learner

    def best_pass(self, candidate: Candidate, scores: dict[int, float]) -> tuple[int, bool]:
        """Return the best number of passes: the default, unless another is better by a standard error. Also return
        whether it is better."""
        usual = min(candidate.settings.spelled_out().epochs, max(scores))
        if not self.tunes_passes(candidate) or usual not in scores:
            return max(scores), False
        best = max(scores, key=lambda epoch: (scores[epoch], -epoch))
        noise = math.sqrt(scores[best] * (1 - scores[best]) / len(self.split.tested))
        return (usual, False) if scores[best] <= scores[usual] + noise else (best, True)

    def learner(self, rows: FoldRows, settings: Settings, before: Learner | None) -> Learner:
        """Return a new learner or, if the optimum of one trial is near the next, one that starts from the last."""
        if before is not None and self.warm_by(settings) is not None:
            warm: Learner = before.with_settings(settings)
            return warm
        return new_learner(settings, rows.features, rows.classes, [rows.block], sets=rows.sets)

    def warm_by(self, settings: Settings) -> str | None:
        """Return the setting for which neighbouring optima are close; None if a learner cannot start at another's
        optimum. Learners of several labels keep only their weights."""
        return None if self.several else settings.family.warm_by

    def in_warm_order(self, candidates: list[Candidate]) -> list[Candidate]:
        """Sort by features, and then by the setting for which neighbouring optima are close, if there is one."""

        def warmth(one: Candidate) -> tuple[str, str, float]:
            by = self.warm_by(one.settings)
            return one.key, one.settings.rule, 0.0 if by is None else getattr(one.settings.spelled_out(), by)

        return sorted(candidates, key=warmth)

    def rows(self, candidate: Candidate, split: Split) -> FoldRows:
        """Return the training rows and the held-out rows, with features from the training rows."""
        # Rounds and finals number their splits alike, so the rows say which split it is.
        key = f"{xxh3_64_hexdigest(split.tested.tobytes())} {candidate.key}"
        if (found := self._rows.get(key)) is None:
            for old in [*self._rows][: len(self._rows) - MOST_KEPT + 1]:
                self._rows.pop(old, None)  # on a worker, another thread may have removed it
            found = divided(self.sample, split, candidate.spec).weighted(self.usual.class_weight)
            self._rows[key] = found
        return found


def both(
    choices: list[tuple[Choice, Settings, Features]], texts: list[Choice]
) -> Iterator[tuple[tuple[Choice, Settings, Features], Choice]]:
    """Yield each choice with the default texts, and each setting of texts with the default choice."""
    yield from ((choice, texts[0]) for choice in choices)
    yield from ((choices[0], text) for text in texts[1:])


def worth_of(learner: Learner, tested: Block) -> NDArray[np.float64]:
    """Return how good the predictions of test rows are. The thresholds of several labels for one half of the rows are
    chosen on the other half."""
    if not isinstance(learner, LabelLearner):
        return learner.right(tested).astype(np.float64)
    truth = learner.sets.T[tested.labels]
    halves = np.arange(len(truth)) % 2
    return parts_of_f1(truth, found_by_others(learner.scores(tested.rows), truth, halves, learner.settings))


def lead(one: Final, other: Final) -> tuple[float, float]:
    """Return by how much one candidate is better than another on the same rows, and the standard error of this."""
    differences = one.worth - other.worth
    if len(differences) < 2:
        return float(differences.mean()), math.inf
    return float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(len(differences))
