"""Tuning: settings chosen by rows that are held out from those to learn from. Whatever is tested later is not read."""

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
from markone.errors import DataError, MarkoneError, SettingsError
from markone.experiments.contenders import settings_for, taught
from markone.experiments.folds import FoldRows, divided
from markone.experiments.loo import what_learns
from markone.experiments.progress import Progress, watching
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
"""Of the rows, held out to choose by."""
FOLDS = 5
"""Where all rows are held out in turn."""
NARROWING = 3
"""Each round has so many times more rows than the one before, and so many times fewer candidates."""
ROUNDS = 3
FINALISTS = 3
"""So many learn from all rows."""
FEWEST_ROWS = 500
"""A round has no fewer: what is best on them would be mostly chance."""
MORE_PASSES = 2
"""So many times more passes are tried than are usual."""
TRIALS_SHOWN = 10

WORDS = ([1, 1], [1, 2], [1, 3])


@dataclass(frozen=True, repr=False)
class Trial(Brief):
    """One candidate in one round."""

    round: int
    """From 1."""
    settings: Choice
    """What it varies."""
    words: list[int] | None
    """The lengths of n-grams, where they are varied."""
    rows: int
    """How many rows it learned from."""
    passes: int
    """After how many passes it was best; where they are not tuned, how many it made."""
    score: float
    """Its accuracy on the rows held out."""
    seconds: float
    reason: str | None = None
    """Why it could not learn, where it could not."""

    def in_words(self) -> str:
        words = {} if self.words is None else {"words": f"{self.words[0]}-{self.words[1]}"}
        return ", ".join(f"{name} {plain(value)}" for name, value in {**self.settings, **words}.items()) or "as usual"

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
    """What was chosen, and how. Printed, it is a table.

    `train(source, features=tuning.features, **tuning.settings)` learns with it from all rows.
    """

    rule: Rule
    settings: Choice
    """The rule, what was given, and what was chosen."""
    features: Features
    """The spec of the features, with the n-grams that were chosen."""
    trials: list[Trial]
    """All of them, in the order made."""
    score: float
    """The accuracy of what was chosen on the rows held out. It was chosen by them, and so is a little too good."""
    rows: int
    """How many rows there were to learn from."""
    held_out: int
    """How many were held out to choose by."""
    in_turn: bool
    """Whether all rows were, so many at a time."""
    chosen: Trial
    """The one that was best in the last round."""

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
        by = f"{self.held_out:,} rows held out from the {everything} to learn from"
        if self.in_turn:
            size = "one" if self.held_out == 1 else f"{self.held_out:,}"
            by = f"all {everything} rows to learn from, held out {size} at a time"
        lines = [
            f"Tuned {self.rule}: {len(self.trials):,} trials in {rounds}, by {by}.",
            "",
            str(Grid([["settings", "round", "rows", "passes", "accuracy", "seconds"]], rows)),
        ]
        more = len(self.trials) - TRIALS_SHOWN
        if more > 0:
            lines.append(f"... and {more:,} more")
        return "\n".join([*lines, "", f"Chosen: {', '.join(chosen) or 'what is usual'}. No test data were read."])


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
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress | bool | None = None,
    seed: int = 0,
    **settings: Unpack[TrialSettings],
) -> Tuning:
    """Chooses settings of a rule, by one row of five that is held out.

    Candidates learn from few rows and in few passes first; a third of them, the best, go on with three times as many,
    and so on. The number of passes is chosen where there is a curve of them, n-grams where there are texts and no
    `features` are given. What is given in `settings` is kept. The same seed chooses the same.

    Of `naive-bayes` all rows are held out in their turn: one at a time where features learn nothing from the rows, else
    one of five.

    Parameters
    ----------
    source
        A source, or what `markone.read` takes: the rows to learn from. Its rows are held in memory.
    target
        What is to be predicted, as for `markone.read`, where `source` is not yet a source.
    rule
        A rule, as for `train`. `mira` by default.
    features
        The spec of the features, as for `train`; given, it is kept.
    functions, threads, memory, seed
        As for `validate`.
    progress
        True for a bar on a terminal and lines elsewhere; or an object that is told of each trial.
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
    settings_for(given, seed)  # before anything is read
    sample = open_sample(source, target, threads, memory)
    return tuned(sample, given, features, functions, seed, progress)


def check_given(given: Choice) -> None:
    for name in ("patience", "holdout"):
        if given.get(name):
            raise SettingsError(name, "and tuning both choose by rows held out; leave one of them out")


def tuned(
    sample: Sample,
    given: Choice,
    features: Any,
    functions: Mapping[str, Function] | None,
    seed: int,
    progress: Progress | bool | None = None,
) -> Tuning:
    """What suits the rows of a sample."""
    return TuningSearch(sample, given, features, functions, seed).run(progress)


@dataclass(frozen=True)
class Candidate:
    """What may be chosen."""

    place: int
    """Among all, from 0: of equals, the first is the more usual."""
    choice: Choice
    words: list[int] | None
    settings: Settings
    spec: Features

    @property
    def key(self) -> str:
        """What candidates with the same features have in common: only the lengths of n-grams are varied."""
        return str(self.words)


class TuningSearch:
    """Rounds of trials, each with fewer candidates, more rows and more passes."""

    def __init__(
        self, sample: Sample, given: Choice, features: Any, functions: Mapping[str, Function] | None, seed: int
    ) -> None:
        self.sample, self.given, self.seed = sample, given, seed
        self.usual = usual = settings_for(given, seed)
        self.rule: Rule = usual.rule
        self.tunes_passes = "epochs" not in given and usual.traits.tunes_passes
        self.passes = usual.spelled_out().epochs * (MORE_PASSES if self.tunes_passes else 1)
        self.candidates = list(self.all_candidates(features, functions))
        self.trials: list[Trial] = []
        self._rows: dict[str, FoldRows] = {}
        self._before: tuple[tuple[str, int], Learner] | None = None
        """The last learner, by its features and the number of its rows, where the next goes on from it."""

    @cached_property
    def split(self) -> Split:
        """Which rows are held out."""
        [[split], _] = Plan(method="holdout", share=SHARE, seed=self.seed).divide(len(self.sample), self.sample.strata)
        return split

    @cached_property
    def folds(self) -> list[Split]:
        """The same in turn."""
        plan = Plan(method="kfold", folds=min(FOLDS, len(self.sample)), seed=self.seed)
        return plan.divide(len(self.sample), self.sample.strata)[0]

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """In which the others than those held out take part."""
        return np.random.default_rng([self.seed, 2]).permutation(len(self.split.learned))

    def all_candidates(self, features: Any, functions: Mapping[str, Function] | None) -> Iterator[Candidate]:
        varied = features is None and any(column.kind == "text" for column in self.sample.held.columns)
        usual = spec_of(features, functions, None, countable=self.usual.traits.counts)
        specs: list[tuple[list[int] | None, Features]] = [(None, usual)]
        if varied:
            lengths = sorted(WORDS, key=lambda words: tuple(words) != usual.text.words)
            specs = [(words, replace(usual, text=replace(usual.text, words=(words[0], words[1])))) for words in lengths]
        places = count()
        for choice, settings in self.choices():
            for words, spec in specs:
                yield Candidate(next(places), choice, words, settings, spec)

    def choices(self) -> Iterator[tuple[Choice, Settings]]:
        """What is tried beside what is given, each once."""
        seen: list[Choice] = []
        for choice in self.usual.traits.grid(self.usual):
            kept = {name: value for name, value in choice.items() if name not in self.given}
            if kept in seen:
                continue
            seen.append(kept)
            try:
                yield kept, settings_for({**self.given, **kept}, self.seed)
            except SettingsError:  # it does not go together with what is given
                continue

    def run(self, progress: Progress | bool | None) -> Tuning:
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

    def take_turns(self, progress: Progress | bool | None) -> list[tuple[Trial, Candidate]]:
        """Learning is quick, and one learner serves all settings: so all rows choose, held out in their turn."""
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
        return sorted(ranked, key=lambda one: -one[0].score)  # of equals, the more usual first

    def right_alone(self, spec: Features, settings: list[Settings]) -> NDArray[np.int64] | None:
        """How many rows are classified rightly by each of these settings, each row left out alone.

        None where features are learned from the rows: they would have to be learned without the row, too, or its words
        would be known, and what they are weighed by.
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
        """The same with folds in their turn, and features that are learned from the others."""
        right = np.zeros(len(settings), np.int64)
        for split in self.folds:
            rows = divided(self.sample, split, spec)
            learner = self.learned(rows)
            for i, how in enumerate(settings):
                right[i] += (learner.with_settings(how).predict(rows.tested_block.rows) == rows.tested_truth).sum()
        return right

    def learned(self, rows: FoldRows) -> Any:
        """A learner of these rows, which serves all settings."""
        learner: Any = new_learner(self.usual, rows.features, rows.classes)
        learner.learn(learner.ready(rows.block))
        return learner

    def narrow_down(self, progress: Progress | bool | None) -> list[tuple[Trial, Candidate]]:
        """In each round the best of the round before."""
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
                ranked.sort(key=lambda one: (-one[0].score, one[1].place))  # of equals, the more usual first
                left = [candidate for _, candidate in ranked]
        return ranked

    def sizes(self) -> list[int]:
        """How many rows each round has: all in the last one."""
        rows = len(self.split.learned)
        sizes = [rows // NARROWING**i for i in reversed(range(ROUNDS))]
        return [size for size in sizes if size >= min(rows, FEWEST_ROWS)] if len(self.candidates) > 1 else [rows]

    def passes_in(self, number: int, rounds: int) -> int:
        """Half of those of the next round, where they are tuned."""
        return max(1, self.passes // 2 ** (rounds - number)) if self.tunes_passes else self.passes

    def trial(self, candidate: Candidate, number: int, size: int, passes: int) -> Trial:
        start = time.perf_counter()

        def told(passes: int, score: float, reason: str | None = None) -> Trial:
            seconds = time.perf_counter() - start
            return Trial(number, candidate.choice, candidate.words, size, passes, score, seconds, reason)

        try:
            rows = some_of(self.rows(candidate), self.order[:size])
            learner = self.learner(candidate, rows, replace(candidate.settings, epochs=passes))
            history, _ = taught(learner, rows)
        except MarkoneError as error:  # a rate at which weights grow beyond all numbers, or what cannot be counted
            return told(0, -1.0, str(error))
        found = [(one.holdout, one.epoch) for one in history if one.holdout is not None]
        if self.tunes_passes:
            score, epoch = max(found, key=lambda one: (one[0], -one[1]))
        else:
            score, epoch = found[-1]
        return told(epoch, score)

    def learner(self, candidate: Candidate, rows: FoldRows, settings: Settings) -> Learner:
        """A new one; where the optimum of one trial is near that of the next, one that goes on from the last."""
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
        """By their features, and then by the setting along which one optimum is near the next, where there is one."""
        by = self.usual.family.warm_by
        return candidates if by is None else sorted(candidates, key=lambda one: (one.key, getattr(one.settings, by)))

    def rows(self, candidate: Candidate) -> FoldRows:
        """The rows to learn from and those held out, with features of the first."""
        if candidate.key not in self._rows:
            self._rows[candidate.key] = divided(self.sample, self.split, candidate.spec)
        return self._rows[candidate.key]


def some_of(rows: FoldRows, which: Any) -> FoldRows:
    """With some of the rows to learn from."""
    if len(which) == len(rows.truth):
        return rows
    which = np.sort(which)
    importance = None if rows.importance is None else rows.importance[which]
    return replace(rows, learned=rows.learned[which], truth=rows.truth[which], importance=importance)
