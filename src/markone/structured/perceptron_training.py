"""The training of a structured perceptron."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64

from markone.errors import DataError, SettingsError
from markone.learning.examples import epoch_of_order
from markone.learning.holdout import split
from markone.learning.run_options import RunOptions
from markone.learning.states import damaged
from markone.learning.trainable import Arrays, PassTotals
from markone.model.history import History
from markone.model.settings import OnlineSettings
from markone.storage.saved import Contents, Saved
from markone.structured.named_features import (
    Example,
    Weights,
    checked,
    difference,
    list_of,
    named,
    norm2_of,
    numbers_of,
    save_numbers,
    share_right,
    weights_in,
)
from markone.structured.sentence_training import SentenceTraining, check_all_settings, run_of

if TYPE_CHECKING:
    from markone.structured.perceptron import StructuredPerceptron

ROUNDING = 1e-13


def train_perceptron(
    learner: StructuredPerceptron,
    examples: Iterable[Example],
    held_out: Iterable[Example] | None,
    options: RunOptions,
) -> None:
    """Train a structured perceptron: see `StructuredPerceptron.train`."""
    kept = None
    if options.resume_from is not None:
        kept = type(learner).load(
            options.resume_from,
            learner.features,
            learner.argmax,
            answers=learner.answers,
            cost=learner.cost,
            best_other=learner.best_other,
        )
        check_all_settings(kept.settings.spelled_out(), learner.settings.spelled_out())
    run = run_of(StructuredPerceptronTraining(learner, *divide(learner, list_of(examples), held_out)), kept)
    learner.history, learner.resume = run.history, None
    learner.weights = run.train(options).weights


def divide(
    learner: StructuredPerceptron, pairs: list[Example], held_out: Iterable[Example] | None
) -> tuple[list[Example], list[Example]]:
    """The training examples and the held-out examples."""
    share = learner.settings.holdout
    if held_out is not None and share:
        raise SettingsError("holdout", "must be 0 if held-out examples are given")
    if not pairs:
        raise DataError("there are no training examples")
    if share == 0:
        return pairs, list_of(held_out or [])
    learned, apart = split(np.zeros(len(pairs), np.int32), share, learner.settings.seed)
    return [pairs[i] for i in learned.tolist()], [pairs[i] for i in apart.tolist()]


@dataclass
class GrowingWeights:
    """Weights during training.

    The average of the weights after each of t visits is w - late / t. A step at visit i is missing in the i - 1 vectors
    before it, and `late` is the sum of all steps, each multiplied by the number of vectors in which it is missing.
    """

    w: Weights = field(default_factory=Weights)
    late: dict[str, float] = field(default_factory=dict)
    visits: int = 0

    def step(self, by: Mapping[str, float], tau: float) -> None:
        """Take a step at the current visit."""
        for name, value in by.items():
            self.w[name] = self.w[name] + tau * value
            self.late[name] = self.late.get(name, 0.0) + (self.visits - 1) * tau * value

    def average(self) -> Weights:
        return Weights({name: value - self.late[name] / self.visits for name, value in self.w.items()})


class StructuredPerceptronTraining(SentenceTraining["StructuredPerceptron"]):
    """The training of a structured perceptron."""

    visited = "examples"

    def __init__(self, learner: StructuredPerceptron, learned: list[Example], held_out: list[Example]) -> None:
        settings = OnlineSettings.of(learner.settings)
        super().__init__(len(learned), len(held_out), settings)
        self.learner = learner
        self.settings = settings
        self.learned = learned
        self.held_out = held_out
        self.now = GrowingWeights()
        self._digest: str | None = None

    def order(self, epoch: int) -> NDArray[np.int64]:
        if self.settings.order == "given":
            return np.arange(self.rows, dtype=np.int64)
        return super().order(1 + epoch_of_order(self.settings, epoch))

    def learn(self, some: NDArray[np.int64], epoch: int, first: int, seed: int) -> PassTotals:
        """Visit only one example, because a search may take long and training can only stop between two calls."""
        return self.visit(*self.learned[some[0]])

    def visit(self, x: Any, y: Any) -> PassTotals:
        """The learning step: search, compare, change the weights."""
        learner, state = self.learner, self.now
        mira, cost = self.settings.rule == "mira", learner.cost
        state.visits += 1
        guess = learner.rival(x, state.w, y)
        if guess == y:  # also with a cost: then no other answer scores higher, even with its cost
            return PassTotals(visits=1, weight=1)
        mistakes = int(cost is None or learner.search(x, state.w) != y)
        right, wrong = named(learner.features(x, y)), named(learner.features(x, guess))
        by = difference(right, wrong)
        owed = checked_cost(cost(y, guess)) if cost is not None else 1.0 if mira else 0.0
        loss = excess(owed, state.w.score(wrong), state.w.score(right))
        norm2 = norm2_of(by)
        updates = int(norm2 > 0 and (loss > 0 or not mira))
        if updates:
            state.step(by, min(self.settings.C or math.inf, loss / norm2) if mira else 1.0)
        return PassTotals(1, mistakes, updates, loss, weight=1)

    def accuracies(self) -> tuple[float | None, float | None]:
        """The shares of held-out examples with a completely right answer, by the last and the averaged weights."""
        if not self.held_out:
            return None, None
        averaged = (
            share_right(self.learner.search, self.now.average(), self.held_out) if self.settings.average else None
        )
        return share_right(self.learner.search, self.now.w, self.held_out), averaged

    def norm2(self) -> float:
        return norm2_of(self.now.w)

    def weights(self) -> Saved:
        found = self.now.average() if self.settings.average and self.now.visits else self.now.w
        used = {name: value for name, value in found.items() if value != 0}
        return Saved({}, save_numbers(sorted(used), weights=used))

    def model(self, weights: Saved, history: History, resume: Saved | None) -> StructuredPerceptron:
        found = copy(self.learner)
        found.weights, found.history, found.resume = weights_in(Contents(weights)), history, resume
        return found

    def state(self) -> Arrays:
        state = self.now
        names = sorted(state.w)
        return {**save_numbers(names, w=state.w, late=state.late), "visits": np.array([state.visits], np.int64)}

    def set_state(self, state: Arrays, passes: int, visits: int) -> None:
        try:
            contents = Contents(Saved({}, state))
            names = contents.names("names")
            w, late = (numbers_of(contents, name, names) for name in ("w", "late"))
            [stored] = contents.array("visits", np.int64, 1).tolist()
            contents.close()
        except DataError as error:
            raise damaged(str(error)) from None
        if stored != passes * self.rows + visits:
            raise damaged(f"it has made {stored} visits, not {passes * self.rows + visits}")
        self.now = GrowingWeights(Weights(w), late, stored)

    def digest(self) -> str:
        """A digest of the features of all right answers. Examples can be any objects, so they have no digest."""
        if self._digest is None:
            hashed = xxh3_64()
            for pairs in (self.learned, self.held_out):
                hashed.update(f"{len(pairs)} ".encode())
                for x, y in pairs:
                    found = checked(named(self.learner.features(x, y)))
                    hashed.update(json.dumps([(name, float(found[name])) for name in sorted(found)]).encode())
            self._digest = hashed.hexdigest()
        return self._digest


def excess(owed: float, wrong: float, right: float) -> float:
    """The amount by which the score of the wrong answer is too high.

    It is 0 if it is within rounding errors. Otherwise a step of exactly the needed length would be followed by
    further steps that change nothing.
    """
    found = owed + wrong - right
    return found if found > ROUNDING * (owed + abs(wrong) + abs(right)) else 0.0


def checked_cost(cost: float) -> float:
    if not cost >= 0 or math.isinf(cost):
        raise DataError(f"a cost must be at least 0 and finite, not {cost!r}")
    return float(cost)
