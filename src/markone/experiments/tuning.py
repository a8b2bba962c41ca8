"""Tuning: choosing settings on held-out training rows. Test data are not read."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.checks import check_named, switch
from markone.errors import DataError, MarkoneError, SettingsError
from markone.experiments.contenders import settings_for, taught
from markone.experiments.folds import FoldRows, divided
from markone.experiments.loo import what_learns
from markone.experiments.progress import StepProgress, watching
from markone.experiments.splits import Plan, Split
from markone.features.map import FeatureMap
from markone.features.spec import Features, Function
from markone.learning.learner import Learner
from markone.learning.samples import Sample, open_sample
from markone.learning.training import new_learner, spec_of
from markone.model.rules import Rule
from markone.model.search_grids import Choice
from markone.model.settings import Settings, TrialSettings
from markone.reporting.grids import Grid

SHARE = 0.2
"""The share of rows that are held out to choose the settings."""
FOLDS = 5
"""The number of folds if all rows are held out in turn."""
NARROWING = 3
"""Each round has 3 times as many rows as the one before, and a third of the candidates."""
ROUNDS = 3
FINALISTS = 3
"""The number of candidates that are trained on all rows."""
FEWEST_ROWS = 500
"""The smallest number of rows in a round. With fewer, the best candidate would be mostly chance."""
MORE_PASSES = 2
"""The largest number of passes to try, relative to the default."""
TRIALS_SHOWN = 10

WORDS = ([1, 1], [1, 2], [1, 3])


@dataclass(frozen=True, repr=False)
class Trial(Brief):
    """The result of one candidate in one round."""

    round: int
    """The number of the round, starting with 1."""
    settings: Choice
    """The settings that are tuned."""
    words: list[int] | None
    """The lengths of word n-grams, if they are tuned."""
    rows: int
    """The number of training rows."""
    passes: int
    """The best number of passes; if it is not tuned, the number of passes that were made."""
    score: float
    """The accuracy on the held-out rows."""
    seconds: float
    reason: str | None = None
    """The reason if the candidate could not be trained."""

    def in_words(self) -> str:
        words = {} if self.words is None else {"words": f"{self.words[0]}-{self.words[1]}"}
        return ", ".join(f"{name} {plain(value)}" for name, value in {**self.settings, **words}.items()) or "defaults"

    def as_dict(self) -> dict[str, Any]:
        return {
            "round": self.round,
            "settings": {name: jsonable(value) for name, value in self.settings.items()},
            "words": self.words,
            "rows": self.rows,
            "passes": self.passes,
            "accuracy": self.score if self.reason is None else None,
            "seconds": self.seconds,
            "reason": self.reason,
        }


@dataclass(frozen=True, repr=False)
class Tuning(Brief):
    """The chosen settings and all trials. When printed, it shows a table.

    `train(source, features=tuning.features, **tuning.settings)` trains with these settings on all rows.
    """

    rule: Rule
    settings: Choice
    """The rule, the given settings, and the chosen settings."""
    features: Features
    """The spec of the features, with the chosen n-grams."""
    trials: list[Trial]
    """All trials, in order."""
    score: float
    """The accuracy of the chosen settings on the held-out rows, which is a little too high, since they chose them."""
    rows: int
    """The number of training rows in the last round."""
    held_out: int
    """The number of rows that were held out at a time."""
    in_turn: bool
    """Whether all rows were held out in turn."""
    chosen: Trial
    """The best trial of the last round."""

    def in_brief(self) -> str:
        return f"{self.rule}, {self.chosen.in_words()}; accuracy {self.score:.2%}, best of {len(self.trials):,} trials"

    def as_dict(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "settings": {name: jsonable(value) for name, value in self.settings.items()},
            "features": self.features.as_dict(),
            "accuracy": self.score,
            "rows": self.rows,
            "held_out": self.held_out,
            "in_turn": self.in_turn,
            "trials": [trial.as_dict() for trial in self.trials],
        }

    def __str__(self) -> str:
        last = self.trials[-1].round
        ranked = sorted(self.trials, key=lambda trial: (-trial.round, trial is not self.chosen, -trial.score))
        rows = [
            [
                trial.in_words(),
                str(trial.round),
                f"{trial.rows:,}",
                str(trial.passes),
                "-" if trial.reason else f"{trial.score:.2%}",
                f"{trial.seconds:.3f}",
            ]
            for trial in ranked[:TRIALS_SHOWN]
        ]
        rounds = "one round" if last == 1 else f"{last} rounds"
        chosen = [f"{name} {plain(value)}" for name, value in self.settings.items() if name != "rule"]
        words = self.chosen.words
        if words is not None:
            chosen.append(f"words {words[0]}-{words[1]}")
        everything = f"{self.rows + self.held_out:,}"
        by = f"{self.held_out:,} held-out rows of {everything} training rows"
        if self.in_turn:
            size = "one" if self.held_out == 1 else f"{self.held_out:,}"
            by = f"all {everything} training rows, held out {size} at a time"
        lines = [
            f"Tuned {self.rule}: {len(self.trials):,} trials in {rounds}, tested on {by}.",
            "",
            str(Grid([["settings", "round", "rows", "passes", "accuracy", "seconds"]], rows)),
        ]
        more = len(self.trials) - TRIALS_SHOWN
        if more > 0:
            lines.append(f"... and {more:,} more")
        return "\n".join([*lines, "", f"Chosen: {', '.join(chosen) or 'the defaults'}. No test data were read."])


def plain(value: Any) -> str:
    """
    >>> plain(0.30000000000000004), plain((64, 64)), plain("l2")
    ('0.3', '64x64', 'l2')
    """
    if isinstance(value, tuple):
        return "x".join(map(str, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def jsonable(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def tune(
    source: Any,
    *,
    target: Any = None,
    rule: Rule | None = None,
    features: Any = None,
    functions: Mapping[str, Function] | None = None,
    scaled: bool = True,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: StepProgress | bool | None = None,
    seed: int = 0,
    **settings: Unpack[TrialSettings],
) -> Tuning:
    """Chooses the settings of a rule on one fifth of the rows, which are held out.

    At first, all candidates are trained on few rows and in few passes. The best third of them continue with three times
    as many rows and passes, and so on. The number of passes is also chosen if the rule has a learning curve, and the
    lengths of n-grams if there are texts and no `features` are given. Settings that are given are not changed. The same
    seed makes the same choice.

    For `naive-bayes`, all rows are held out in turn: one at a time if the features do not depend on the rows, else one
    fifth at a time.

    Parameters
    ----------
    source
        The training rows: a source, or an argument of `markone.read`. All rows must fit in memory.
    target
        The target, as for `markone.read`, if `source` is not a source yet.
    rule
        A rule, as for `train`. `mira` by default.
    features
        The spec of the features, as for `train`. If it is given, it is not tuned.
    functions, threads, memory, seed
        As for `validate`.
    scaled
        Whether numeric columns are scaled, if `features` does not say it.
    progress
        True for a bar on a terminal and lines elsewhere; or an object that is called for each trial.
    settings
        Settings that are not tuned, as in `markone.Settings`.

    Examples
    --------
    >>> texts = ["free money", "money now", "free tea now", "see you", "see you soon", "tea soon"] * 20
    >>> labels = ["spam", "spam", "spam", "ham", "ham", "ham"] * 20
    >>> tuning = tune(texts, target=labels, rule="perceptron")
    >>> tuning.settings
    {'rule': 'perceptron', 'epochs': 1}
    """
    given: dict[str, Any] = {**({} if rule is None else {"rule": rule}), **settings}
    check_given(given)
    check_named("scaled", switch, scaled)
    if settings_for(given, seed).traits.predicts_numbers:  # before anything is read
        raise SettingsError("rule", "is 'regression', which tuning does not support; train with it instead")
    sample = open_sample(source, target, threads, memory)
    return tuned(sample, given, features, functions, seed, progress, scaled=scaled)


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
    progress: StepProgress | bool | None = None,
    *,
    scaled: bool = True,
) -> Tuning:
    """Return the best settings for the rows of a sample."""
    return TuningSearch(sample, given, features, functions, seed, scaled).run(progress)


@dataclass(frozen=True)
class Candidate:
    """A candidate for the choice."""

    place: int
    """The number of the candidate, starting with 0. Lower numbers are closer to the defaults, and win ties."""
    choice: Choice
    words: list[int] | None
    settings: Settings
    spec: Features

    @property
    def key(self) -> str:
        """A key of the features: candidates differ only in the lengths of n-grams."""
        return str(self.words)


class TuningSearch:
    """Rounds of trials, each with fewer candidates, more rows and more passes."""

    def __init__(
        self,
        sample: Sample,
        given: Choice,
        features: Any,
        functions: Mapping[str, Function] | None,
        seed: int,
        scaled: bool = True,
    ) -> None:
        self.sample, self.given, self.seed = sample, given, seed
        self.usual = usual = settings_for(given, seed)
        self.rule: Rule = usual.rule
        self.tunes_passes = "epochs" not in given and usual.traits.tunes_passes
        self.passes = usual.spelled_out().epochs * (MORE_PASSES if self.tunes_passes else 1)
        self.candidates = list(self.all_candidates(features, functions, scaled))
        self.trials: list[Trial] = []
        self._rows: dict[str, FoldRows] = {}
        self._before: tuple[tuple[str, int], Learner] | None = None
        """The last learner, with its features and number of rows, if the next trial can start from it."""

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
    def order(self) -> NDArray[np.int64]:
        """The random order in which training rows are added in the rounds."""
        return np.random.default_rng([self.seed, 2]).permutation(len(self.split.learned))

    def all_candidates(
        self, features: Any, functions: Mapping[str, Function] | None, scaled: bool
    ) -> Iterator[Candidate]:
        varied = features is None and any(column.kind == "text" for column in self.sample.held.columns)
        usual = spec_of(features, functions, None, countable=self.usual.traits.counts, scaled=scaled)
        specs: list[tuple[list[int] | None, Features]] = [(None, usual)]
        if varied:
            lengths = sorted(WORDS, key=lambda words: tuple(words) != usual.text.words)
            specs = [(words, replace(usual, text=replace(usual.text, words=(words[0], words[1])))) for words in lengths]
        places = count()
        for choice, settings in self.choices():
            for words, spec in specs:
                yield Candidate(next(places), choice, words, settings, spec)

    def choices(self) -> Iterator[tuple[Choice, Settings]]:
        """Yield each different choice of the settings that are not given."""
        seen: list[Choice] = []
        for choice in self.usual.traits.grid(self.usual):
            kept = {name: value for name, value in choice.items() if name not in self.given}
            if kept in seen:
                continue
            seen.append(kept)
            try:
                yield kept, settings_for({**self.given, **kept}, self.seed)
            except SettingsError:  # this choice cannot be combined with the given settings
                continue

    def run(self, progress: StepProgress | bool | None) -> Tuning:
        in_turn = self.usual.family.tunes_in_turn
        ranked = self.take_turns(progress) if in_turn else self.narrow_down(progress)
        best, chosen = ranked[0]
        if best.reason is not None:
            raise DataError(best.reason)
        epochs = {"epochs": best.passes} if self.tunes_passes else {}
        return Tuning(
            rule=self.rule,
            settings={"rule": self.rule, **self.given, **chosen.choice, **epochs},
            features=chosen.spec,
            trials=self.trials,
            score=best.score,
            rows=best.rows,
            held_out=len(self.sample) - best.rows,
            in_turn=in_turn,
            chosen=best,
        )

    def take_turns(self, progress: StepProgress | bool | None) -> list[tuple[Trial, Candidate]]:
        """Hold out all rows in turn, which is possible because training is fast and one learner serves all settings."""
        groups: dict[str, list[Candidate]] = {}
        for candidate in self.candidates:
            groups.setdefault(candidate.key, []).append(candidate)
        ranked: list[tuple[Trial, Candidate]] = []
        with watching(progress, len(groups)) as told:
            for group in groups.values():
                told.step(f"{self.rule}, all rows held out in turn")
                start = time.perf_counter()
                spec, settings = group[0].spec, [candidate.settings for candidate in group]
                right = self.right_alone(spec, settings) if len(groups) == 1 else None
                rows = len(self.sample) - 1
                if right is None:
                    right, rows = self.right_in_folds(spec, settings), len(self.folds[0].learned)
                seconds = (time.perf_counter() - start) / len(group)
                for candidate, score in zip(group, (right / len(self.sample)).tolist(), strict=True):
                    ranked.append((Trial(1, candidate.choice, candidate.words, rows, 1, score, seconds), candidate))
        ranked.sort(key=lambda one: one[1].place)
        self.trials += [trial for trial, _ in ranked]
        return sorted(ranked, key=lambda one: -one[0].score)  # of equals, those closer to the defaults come first

    def right_alone(self, spec: Features, settings: list[Settings]) -> NDArray[np.int64] | None:
        """Return how many rows each of these settings classifies correctly, by leave-one-out.

        None if the features depend on the rows: they would have to be made without the row, too, because otherwise its
        words and their weights would be known.
        """
        features = FeatureMap(spec, self.sample.held.columns)
        matrix, importance = self.sample.fitted(features, np.arange(len(self.sample)))
        if what_learns(features) is not None:
            return None
        truth = self.sample.truth
        rows = FoldRows(features, self.sample.classes, matrix, truth, importance, matrix, truth)
        right: NDArray[np.int64] = self.learned(rows).right_left_out(rows.block, settings)
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
        learner.learn(learner.ready(rows.block))
        return learner

    def narrow_down(self, progress: StepProgress | bool | None) -> list[tuple[Trial, Candidate]]:
        """Run the rounds. Each round continues with the best candidates of the round before."""
        sizes = self.sizes()
        most = len(self.candidates)
        counts = [max(min(FINALISTS, most), math.ceil(most / NARROWING**i)) for i in range(len(sizes))]
        left = self.candidates
        ranked: list[tuple[Trial, Candidate]] = []
        with watching(progress, sum(counts)) as told:
            for number, (size, count) in enumerate(zip(sizes, counts, strict=True), 1):
                left = left[:count]
                ranked = []
                for candidate in self.in_warm_order(left):
                    told.step(f"round {number} of {len(sizes)}: {self.rule}")
                    trial = self.trial(candidate, number, size, self.passes_in(number, len(sizes)))
                    self.trials.append(trial)
                    ranked.append((trial, candidate))
                ranked.sort(key=lambda one: (-one[0].score, one[1].place))  # ties: the closest to the defaults first
                left = [candidate for _, candidate in ranked]
        return ranked

    def sizes(self) -> list[int]:
        """Return the number of rows of each round. The last round has all rows."""
        rows = len(self.split.learned)
        sizes = [rows // NARROWING**i for i in reversed(range(ROUNDS))]
        return [size for size in sizes if size >= min(rows, FEWEST_ROWS)] if len(self.candidates) > 1 else [rows]

    def passes_in(self, number: int, rounds: int) -> int:
        """Return the number of passes of a round: if it is tuned, half as many as in the next round."""
        return max(1, self.passes // 2 ** (rounds - number)) if self.tunes_passes else self.passes

    def trial(self, candidate: Candidate, number: int, size: int, passes: int) -> Trial:
        start = time.perf_counter()

        def result(passes: int, score: float, reason: str | None = None) -> Trial:
            seconds = time.perf_counter() - start
            return Trial(number, candidate.choice, candidate.words, size, passes, score, seconds, reason)

        try:
            rows = self.rows(candidate).some(self.order[:size])
            learner = self.learner(candidate, rows, replace(candidate.settings, epochs=passes))
            history, _ = taught(learner, rows)
        except MarkoneError as error:  # training diverged, or the rule cannot use these features
            return result(0, -1.0, str(error))
        scores = [(one.holdout, one.epoch) for one in history if one.holdout is not None]
        if self.tunes_passes:
            score, epoch = max(scores, key=lambda one: (one[0], -one[1]))
        else:
            score, epoch = scores[-1]
        return result(epoch, score)

    def learner(self, candidate: Candidate, rows: FoldRows, settings: Settings) -> Learner:
        """Return a new learner or, if the optimum of one trial is near the next, one that starts from the last."""
        if self.usual.family.warm_by is None:
            return new_learner(settings, rows.features, rows.classes, [rows.block])
        key = candidate.key, len(rows.truth)
        if self._before is not None and self._before[0] == key:
            learner = self._before[1].with_settings(settings)
        else:
            learner = new_learner(settings, rows.features, rows.classes, [rows.block])
        self._before = key, learner
        return learner

    def in_warm_order(self, candidates: list[Candidate]) -> list[Candidate]:
        """Sort by features, and then by the setting for which neighbouring optima are close, if there is one."""
        by = self.usual.family.warm_by
        return candidates if by is None else sorted(candidates, key=lambda one: (one.key, getattr(one.settings, by)))

    def rows(self, candidate: Candidate) -> FoldRows:
        """Return the training rows and the held-out rows, with features from the training rows."""
        if candidate.key not in self._rows:
            self._rows[candidate.key] = divided(self.sample, self.split, candidate.spec)
        return self._rows[candidate.key]
