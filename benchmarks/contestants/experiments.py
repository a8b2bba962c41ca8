"""Experiments on many rows: validation, tuning and comparison, by us and by scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import markone
from benchmarks.accuracy.labels import by_cleanlab
from benchmarks.contestants.estimators import name_of
from benchmarks.datasets import Split
from benchmarks.timing import Contestant, Outcome, timed


def validate(*, folds: int, **settings: Any) -> Contestant[Split]:
    """The mean accuracy of cross-validation."""

    def turn(data: Split) -> Outcome:
        rows: dict[str, Any] = {"target": data.train_labels, "folds": folds, "threads": 1}
        seconds, found = timed(lambda: markone.validate(data.train, **rows, **settings))
        return Outcome(seconds, found.mean)

    return Contestant(f"markone.validate(X, target=y, folds={folds}, threads=1, {spelled(settings)})", turn)


def cross_validate(estimator: Any, *, folds: int) -> Contestant[Split]:
    def turn(data: Split) -> Outcome:
        seconds, found = timed(lambda: cross_val_score(clone(estimator), data.train, data.train_labels, cv=folds))
        return Outcome(seconds, float(np.mean(found)))

    return Contestant(f"cross_val_score({name_of(estimator)}, X, y, cv={folds})", turn)


def tune(**settings: Any) -> Contestant[Split]:
    """The choice of settings on held-out rows; the accuracy is that of a model with them."""

    def turn(data: Split) -> Outcome:
        rows: dict[str, Any] = {"target": data.train_labels, "threads": 1}
        seconds, found = timed(lambda: markone.tune(data.train, **rows, **settings))
        model = markone.train(data.train, **rows, features=found.features, **found.settings)
        return Outcome(seconds, model.accuracy(data.test, data.test_labels))

    return Contestant(f"markone.tune(X, target=y, threads=1, {spelled(settings)})", turn)


def grid_search(estimator: Any, grid: dict[str, list[Any]]) -> Contestant[Split]:
    """As many settings as ours tries, in as many passes, on one fifth of the rows that is held out."""

    def turn(data: Split) -> Outcome:
        rows = np.random.default_rng(0).permutation(len(data.train_labels))
        held_out = len(rows) // 5
        split = [(rows[held_out:], rows[:held_out])]
        search = GridSearchCV(clone(estimator), grid, cv=split)
        seconds, _ = timed(lambda: search.fit(data.train, data.train_labels))
        return Outcome(seconds, float(np.mean(search.predict(data.test) == data.test_labels)))

    return Contestant(f"GridSearchCV({name_of(estimator)}, {grid}, cv=one fifth)", turn)


def compare(**settings: Any) -> Contestant[Split]:
    """All rules, without the contrasts, some of which are scikit-learn's."""

    def turn(data: Split) -> Outcome:
        rows: dict[str, Any] = {"target": data.train_labels, "threads": 1, "contrasts": False}
        seconds, _ = timed(lambda: markone.compare(data.train, **rows, **settings))
        return Outcome(seconds, None)

    return Contestant(f"markone.compare(X, target=y, contrasts=False, threads=1, {spelled(settings)})", turn)


def audit() -> Contestant[Split]:
    """Labels that are probably wrong; the accuracy is the share of changed labels among as many rows."""

    def turn(data: Split) -> Outcome:
        seconds, found = timed(lambda: markone.audit(data.train, target=data.train_labels, threads=1))
        return Outcome(seconds, float(data.test[found.ranking()[: len(data.test_labels)] - 1].mean()))

    return Contestant("markone.audit(X, target=y, threads=1)", turn)


def cleanlab() -> Contestant[Split]:
    """The probabilities of scikit-learn's logistic regression in five folds, and cleanlab's filter."""

    def turn(data: Split) -> Outcome:
        seconds, order = timed(lambda: by_cleanlab(data.train, data.train_labels))
        return Outcome(seconds, float(data.test[order[: len(data.test_labels)]].mean()))

    return Contestant("find_label_issues(y, cross_val_predict(LogisticRegression(), X, y, cv=5))", turn, "cleanlab")


def spelled(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())
