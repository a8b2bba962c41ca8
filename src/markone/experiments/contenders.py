"""Ways to learn that can be put to the test: Markone's rules, and whatever has scikit-learn's interface."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import as_scipy
from markone.errors import SettingsError
from markone.experiments.folds import FoldRows
from markone.features.spec import Features, Function
from markone.learning.learner import Learner
from markone.learning.passes import accuracies, teach
from markone.learning.reading import FEW_ROWS, USUAL_HOLDOUT
from markone.learning.training import check_names, check_patience, new_learner, settings_of, spec_of
from markone.model.evaluation import log_probabilities
from markone.model.history import History, Pass
from markone.model.model import Model
from markone.model.settings import Settings

ALL_MEASURED = 20
MEASURED_AGAIN = 1.1
"""The first passes are all measured on the tested rows, and later ones when there are so many times more of them: who
makes a thousand passes should not be measured a thousand times."""


@dataclass(frozen=True)
class Answer:
    """What came of learning: predictions for the tested rows, and what they cost."""

    predicted: NDArray[Any]
    probabilities: NDArray[np.float64] | None
    seconds: float
    """For learning alone, without making features and without tests."""
    history: History | None = None
    bytes: int | None = None
    """The size of the model's file."""
    settings: dict[str, Any] | None = None
    """What was chosen for it, where it was tuned."""
    remark: str | None = None
    """What one should know about it, in a sentence."""


class Way(Protocol):
    """One way to learn."""

    @property
    def name(self) -> str: ...

    @property
    def rule(self) -> str | None:
        """The rule, where it is one of Markone's."""

    @property
    def spec(self) -> Features:
        """The features that it learns from."""

    def answer(self, rows: FoldRows, *, weigh: bool = False) -> Answer:
        """Learns, and predicts the tested rows; `weigh` asks for the size of the model, too."""


# ---- rules


@dataclass(frozen=True)
class ByRule:
    """A rule of Markone's, with its settings."""

    name: str
    settings: Settings
    spec: Features
    chosen: dict[str, Any] | None = None
    """What tuning has chosen, where it was tuned."""

    @property
    def rule(self) -> str:
        return self.settings.rule

    def answer(self, rows: FoldRows, *, weigh: bool = False) -> Answer:
        learner = self.learner(rows)
        history, seconds = taught(learner, rows)
        scorer = learner.scorer()
        probabilities = None
        if scorer.has_probabilities:
            probabilities = np.exp(log_probabilities(scorer.scores(rows.tested_block.rows)))
        size = file_size(rows, learner, history) if weigh else None
        return Answer(learner.predict(rows.tested_block.rows), probabilities, seconds, history, size, self.chosen)

    def learner(self, rows: FoldRows) -> Learner:
        settings = with_holdout(self.settings, len(rows.truth))
        return new_learner(settings, rows.features, rows.classes, [rows.block])


def taught(learner: Learner, rows: FoldRows) -> tuple[History, float]:
    """Teaches the rows to learn from. The tested rows are only looked at: in the history, held-out accuracy is theirs.

    Nothing is chosen by it. Where there is patience, it waits for rows that were held out from those to learn from.
    """
    tested = rows.tested_block
    looks: dict[int, tuple[float | None, float | None]] = {}
    spent, next_look = 0.0, 1.0

    def look(result: Pass) -> None:
        nonlocal spent, next_look
        if result.epoch < next_look:
            return
        start = time.perf_counter()
        looks[result.epoch] = accuracies(learner, iter([tested]))
        next_look = result.epoch + 1 if result.epoch < ALL_MEASURED else MEASURED_AGAIN * result.epoch
        spent += time.perf_counter() - start

    start = time.perf_counter()
    history = teach(learner, rows.block, callback=look)
    seconds = time.perf_counter() - start - spent
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
    if history.passes and learner.settings.patience is None and len(history) not in looks:
        looks[len(history)] = accuracies(learner, iter([tested]))
    history.passes = [
        replace(one, holdout_last=last, holdout_averaged=averaged)
        for one in history
        for last, averaged in [looks.get(one.epoch, (None, None))]
    ]
    history.held_out = len(tested)
    return history, seconds


def with_holdout(settings: Settings, rows: int) -> Settings:
    """With the share of the rows to learn from that patience looks at, as `train` has it."""
    if settings.patience is not None and settings.holdout == 0 and settings.tol is None and rows >= FEW_ROWS:
        settings = replace(settings, holdout=USUAL_HOLDOUT)
    check_patience(settings)
    return settings


def file_size(rows: FoldRows, learner: Learner, history: History) -> int:
    """The bytes of the file of the final model."""
    model = Model(
        features=rows.features,
        classes=rows.classes,
        scorer=learner.scorer(),
        settings=learner.settings,
        history=history,
    )
    with tempfile.TemporaryDirectory(prefix="markone-") as folder:
        path = os.path.join(folder, "model")
        model.save(path, final=True)
        return os.path.getsize(path)


def by_rule(
    name: str, given: dict[str, Any], seed: int, features: Any, functions: Mapping[str, Function] | None
) -> ByRule:
    """A rule with what was asked for, and with the features that suit it."""
    settings = settings_for(given, seed)
    return ByRule(name, settings, spec_of(features, functions, None, countable=settings.traits.counts))


def settings_for(given: dict[str, Any], seed: int) -> Settings:
    """What was asked for, checked as `train` does."""
    check_names(given)
    if given.get("holdout") and given.get("patience") is None:
        raise SettingsError(
            "holdout", "is what patience waits for; without it, the tested rows show how each pass does: leave it out"
        )
    return settings_of({"seed": seed, **given}, None)


# ---- estimators


@dataclass(frozen=True)
class ByEstimator:
    """Whatever has scikit-learn's interface; a clone of it learns."""

    name: str
    estimator: Any
    spec: Features
    has_probabilities: bool = True
    """Whether those that it gives, if it does, are any."""

    @property
    def rule(self) -> None:
        return None

    def answer(self, rows: FoldRows, *, weigh: bool = False) -> Answer:
        from sklearn.base import clone

        estimator = clone(self.estimator)
        truth = rows.names[rows.truth] if rows.classes else rows.truth
        X, tested = as_scipy(rows.learned), as_scipy(rows.tested)
        if not rows.classes:  # where 32 bits may be too few to say what differs
            X, tested = X.astype(np.float64), tested.astype(np.float64)
        weights = weights_for(estimator, rows.importance)
        start = time.perf_counter()
        estimator.fit(X, truth, **weights)
        seconds = time.perf_counter() - start
        found = np.asarray(estimator.predict(tested))
        if not rows.classes:
            return Answer(found.astype(np.float64).reshape(len(rows.tested_truth)), None, seconds)
        probabilities = probabilities_of(estimator, tested, rows) if self.has_probabilities else None
        return Answer(np.searchsorted(rows.names, found), probabilities, seconds)


def weights_for(estimator: Any, importance: NDArray[np.float64] | None) -> dict[str, Any]:
    if importance is None:
        return {}
    from sklearn.utils.validation import has_fit_parameter

    if not has_fit_parameter(estimator, "sample_weight"):
        raise SettingsError(
            "importance", f"of examples means nothing to {type(estimator).__name__}, which weighs none; leave it out"
        )
    return {"sample_weight": importance}


def probabilities_of(estimator: Any, tested: Any, rows: FoldRows) -> NDArray[np.float64] | None:
    """With a column for each class, be it one that was not learned from."""
    if not hasattr(estimator, "predict_proba"):
        return None
    found = np.asarray(estimator.predict_proba(tested), np.float64)
    probabilities = np.zeros((len(found), len(rows.classes)))
    probabilities[:, np.searchsorted(rows.names, estimator.classes_)] = found
    return probabilities
