"""Ways to learn that can be tested: rules of Markone, and estimators with the interface of scikit-learn."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import as_rows, as_scipy
from markone.errors import SettingsError
from markone.experiments.folds import FoldRows
from markone.features.spec import Features, Function
from markone.learning import table_defaults
from markone.learning.arguments import check_for_sets, check_names, check_patience, settings_of, spec_of
from markone.learning.learner import Learner
from markone.learning.learners import new_learner
from markone.learning.passes import accuracies, teach
from markone.learning.reading import FEW_ROWS, USUAL_HOLDOUT
from markone.learning.several_labels import LabelLearner
from markone.model.evaluation import log_probabilities
from markone.model.history import History, Pass
from markone.model.model import Model
from markone.model.settings import Settings
from markone.model.several_labels import SeveralLabels

ALL_MEASURED = 20
MEASURED_AGAIN = 1.1
"""The first 20 passes are all measured on the test rows. After a measured pass, the next one has a number that is 1.1
times larger, so that a thousand passes do not need a thousand measurements."""


@dataclass(frozen=True)
class Answer:
    """The predictions for the test rows, and what the training needed."""

    predicted: NDArray[Any]
    probabilities: NDArray[np.float64] | None
    seconds: float
    """The time of training, without making features and without tests."""
    history: History | None = None
    bytes: int | None = None
    """The size of the model file."""
    settings: dict[str, Any] | None = None
    """The chosen settings, if they were tuned."""
    remark: str | None = None
    """A remark for the user, in a sentence."""
    scores: NDArray[Any] | None = None
    """The scores of the test rows, if they were computed."""


class Way(Protocol):
    """One way to learn."""

    @property
    def name(self) -> str: ...

    @property
    def rule(self) -> str | None:
        """The rule of Markone, or None for an estimator."""

    @property
    def spec(self) -> Features:
        """The spec of its features."""

    def answer(self, rows: FoldRows, *, weigh: bool = False) -> Answer:
        """Train on the training rows, and predict the test rows. `weigh` also asks for the size of the model."""


# ---- rules


@dataclass(frozen=True)
class ByRule:
    """A rule of Markone, with its settings."""

    name: str
    settings: Settings
    spec: Features
    chosen: dict[str, Any] | None = None
    """The chosen settings, if they were tuned."""
    straight: Settings | None = None
    """The settings for a table in which curves may not help."""

    @property
    def rule(self) -> str:
        return self.settings.rule

    def answer(self, rows: FoldRows, *, weigh: bool = False) -> Answer:
        rows = rows.weighted(self.settings.class_weight)
        learner = self.learner(rows)
        if self.settings.traits.predicts_numbers:
            return numbers_answered(learner, rows)
        history, seconds = taught(learner, rows)
        scorer = learner.scorer()
        scores = scorer.scores(rows.tested_block.rows)
        size = file_size(rows, learner, history) if weigh else None
        if isinstance(learner, LabelLearner):
            found = learner.found(rows.tested_block.rows)
            return Answer(found, None, seconds, history, size, self.chosen, scores=scores)
        probabilities = np.exp(log_probabilities(scores)) if scorer.has_probabilities else None
        predicted = learner.predict(rows.tested_block.rows)
        return Answer(predicted, probabilities, seconds, history, size, self.chosen, scores=scores)

    def learner(self, rows: FoldRows) -> Learner:
        settings = table_defaults.after_search(rows.features, self.settings, self.straight)
        settings = with_holdout(settings, len(rows.truth))
        if settings.traits.predicts_numbers:
            return new_learner(settings, rows.features, [], [rows.block], rows.truth)
        return new_learner(settings, rows.features, rows.classes, [rows.block], sets=rows.sets)


def numbers_answered(learner: Learner, rows: FoldRows) -> Answer:
    """Train on the training rows of a regression, and predict the numbers of the test rows."""
    start = time.perf_counter()
    history = teach(learner, rows.block)
    seconds = time.perf_counter() - start
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
    return Answer(learner.scores(as_rows(rows.tested))[:, 0].astype(np.float64), None, seconds, history)


Measure = Callable[[int], tuple[float | None, float | None]]
"""Returns the accuracies of the last and of the averaged weights after a pass."""


def taught(learner: Learner, rows: FoldRows, measure: Measure | None = None) -> tuple[History, float]:
    """Train on the training rows. In the history, held-out accuracy is the accuracy on the test rows.

    It does not influence the training: patience uses rows that are held out from the training rows. By default, the
    last and the averaged weights are both measured.
    """
    tested = rows.tested_block
    measure = measure or (lambda epoch: accuracies(learner, iter([tested])))
    looks: dict[int, tuple[float | None, float | None]] = {}
    spent, next_look = 0.0, 1.0

    def look(result: Pass) -> None:
        nonlocal spent, next_look
        if result.epoch < next_look:
            return
        start = time.perf_counter()
        looks[result.epoch] = measure(result.epoch)
        next_look = result.epoch + 1 if result.epoch < ALL_MEASURED else MEASURED_AGAIN * result.epoch
        spent += time.perf_counter() - start

    start = time.perf_counter()
    history = teach(learner, rows.block, callback=look)
    seconds = time.perf_counter() - start - spent
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
    if history.passes and learner.settings.patience is None and len(history) not in looks:
        looks[len(history)] = measure(len(history))
    history.passes = [
        replace(one, holdout_last=last, holdout_averaged=averaged)
        for one in history
        for last, averaged in [looks.get(one.epoch, (None, None))]
    ]
    history.held_out = len(tested)
    return history, seconds


def with_holdout(settings: Settings, rows: int) -> Settings:
    """Return the settings with the default share of held-out rows for patience, as in `train`."""
    if settings.patience is not None and settings.holdout == 0 and settings.tol is None and rows >= FEW_ROWS:
        settings = replace(settings, holdout=USUAL_HOLDOUT)
    check_patience(settings)
    return settings


def file_size(rows: FoldRows, learner: Learner, history: History) -> int:
    """Return the size of the final model file in bytes."""
    model = Model(
        features=rows.features,
        classes=rows.classes,
        scorer=learner.scorer(),
        settings=learner.settings,
        history=history,
        several=None if rows.sets is None else SeveralLabels.plain(len(rows.sets)),
    )
    with tempfile.TemporaryDirectory(prefix="markone-") as folder:
        path = os.path.join(folder, "model")
        model.save(path, final=True)
        return os.path.getsize(path)


def by_rule(
    name: str,
    given: dict[str, Any],
    seed: int,
    features: Any,
    functions: Mapping[str, Function] | None,
    *,
    several: bool = False,
) -> ByRule:
    """Return a rule with the given settings, and with the features that suit it, also if a row can have `several`
    labels."""
    settings = settings_for(given, seed)
    traits = settings.traits
    if several:
        check_for_sets(settings)
    spec = spec_of(features, functions, None, countable=traits.counts, classless=several or traits.predicts_numbers)
    return ByRule(name, settings, spec)


def for_table(given: dict[str, Any], seed: int, features: Any, functions: Mapping[str, Function] | None) -> ByRule:
    """Return the way in which `train` learns from a table if no rule is chosen."""
    settings = settings_for({"rule": table_defaults.RULE, **given}, seed)
    numbers = settings.traits.predicts_numbers
    spec = spec_of(features, functions, None, countable=False, curved=True, classless=numbers)
    return ByRule(settings.rule, settings, spec, straight=None if numbers else settings_for(given, seed))


def settings_for(given: dict[str, Any], seed: int) -> Settings:
    """Return the given settings, checked as in `train`."""
    check_names(given)
    if given.get("holdout") and given.get("patience") is None:
        raise SettingsError(
            "holdout", "is only used by patience; without it, each pass is measured on the test rows, so leave it out"
        )
    return settings_of({"seed": seed, **given}, None)


# ---- estimators


@dataclass(frozen=True)
class ByEstimator:
    """An estimator with the interface of scikit-learn. A clone of it is trained."""

    name: str
    estimator: Any
    spec: Features
    has_probabilities: bool = True
    """Whether its probabilities, if it has any, are useful."""

    @property
    def rule(self) -> None:
        return None

    def answer(self, rows: FoldRows, *, weigh: bool = False) -> Answer:
        from sklearn.base import clone

        estimator = clone(self.estimator)
        truth = rows.names[rows.truth] if rows.classes else rows.truth
        X, tested = as_scipy(rows.learned), as_scipy(rows.tested)
        if not rows.classes:  # 32 bits may be too few for a regression
            X, tested = X.astype(np.float64), tested.astype(np.float64)
        weights = weights_for(estimator, rows.importance)
        start = time.perf_counter()
        estimator.fit(X, truth, **weights)
        seconds = time.perf_counter() - start
        found = np.asarray(estimator.predict(tested))
        if not rows.classes:
            return Answer(found.astype(np.float64).reshape(len(rows.tested_truth)), None, seconds)
        probabilities = probabilities_of(estimator, tested, rows) if self.has_probabilities else None
        return Answer(rows.numbers_of(found), probabilities, seconds)


def weights_for(estimator: Any, importance: NDArray[np.float64] | None) -> dict[str, Any]:
    if importance is None:
        return {}
    from sklearn.utils.validation import has_fit_parameter

    if not has_fit_parameter(estimator, "sample_weight"):
        raise SettingsError("importance", f"is not supported by {type(estimator).__name__}; leave it out")
    return {"sample_weight": importance}


def probabilities_of(estimator: Any, tested: Any, rows: FoldRows) -> NDArray[np.float64] | None:
    """Return probabilities with a column for each class, also for classes without training rows."""
    if not hasattr(estimator, "predict_proba"):
        return None
    found = np.asarray(estimator.predict_proba(tested), np.float64)
    probabilities = np.zeros((len(found), len(rows.classes)))
    probabilities[:, rows.numbers_of(estimator.classes_)] = found
    return probabilities
