"""Contestants with scikit-learn's interface, ours and theirs alike, on rows in memory."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.datasets import Split
from benchmarks.timing import Contestant, Outcome, timed

LIST = re.compile(r"\['[^]]*\]")


def fit(estimator: Any) -> Contestant[Split]:
    """Learns all rows."""

    def turn(data: Split) -> Outcome:
        model = clone(estimator)
        seconds, _ = timed(lambda: model.fit(data.train, data.train_labels))
        return Outcome(seconds, accuracy(model, data), values=data.train.size * model.n_iter_)

    return Contestant(name_of(estimator), turn)


def fit_to_use(estimator: Any) -> Contestant[Split]:
    """Learns all rows in one pass and predicts one, since we make some estimates only when they are needed."""

    def turn(data: Split) -> Outcome:
        model = clone(estimator)
        seconds, _ = timed(lambda: model.fit(data.train, data.train_labels).predict(data.test[:1]))
        return Outcome(seconds, accuracy(model, data), values=data.train.size)

    return Contestant(f"{name_of(estimator)}.fit(X, y).predict(row)", turn)


def answer(estimator: Any) -> Contestant[Split]:
    """Predicts all test rows, after a fit and a prediction that are not timed."""

    def turn(data: Split) -> Outcome:
        model = clone(estimator).fit(data.train, data.train_labels)
        model.predict(data.test[:1])
        seconds, found = timed(lambda: model.predict(data.test))
        return Outcome(seconds, float(np.mean(found == data.test_labels)))

    return Contestant(name_of(estimator), turn)


def partial_fit(estimator: Any, *, rows: int, calls: int) -> Contestant[Split]:
    """Learns some rows with each call."""

    def turn(data: Split) -> Outcome:
        model = clone(estimator)
        classes = np.unique(data.train_labels)
        starts = range(0, rows * calls, rows)
        batches = [(data.train[at : at + rows], data.train_labels[at : at + rows]) for at in starts]

        def work() -> None:
            model.partial_fit(*batches[0], classes=classes)
            for batch in batches[1:]:
                model.partial_fit(*batch)

        seconds, _ = timed(work)
        return Outcome(seconds / calls, accuracy(model, data))

    return Contestant(name_of(estimator), turn)


def predict(estimator: Any, *, calls: int) -> Contestant[Split]:
    """Predicts one row with each call, after a fit that is not timed."""

    def turn(data: Split) -> Outcome:
        model = clone(estimator).fit(data.train, data.train_labels)
        rows = [data.test[at : at + 1] for at in range(calls)]

        def work() -> None:
            for row in rows:
                model.predict(row)

        seconds, _ = timed(work)
        return Outcome(seconds / calls, accuracy(model, data))

    return Contestant(name_of(estimator), turn)


def accuracy(model: Any, data: Split) -> float:
    return float(np.mean(model.predict(data.test) == data.test_labels))


def name_of(estimator: Any) -> str:
    """Its package and what it was given, other than the defaults and the names of columns."""
    package = type(estimator).__module__.partition(".")[0]
    return f"{package}.{LIST.sub('[...]', ' '.join(repr(estimator).split()))}"
