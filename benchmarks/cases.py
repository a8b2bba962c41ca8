"""The cases: who meets whom, on what, and how many times as fast we want to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn import linear_model as scikit

import markone
from benchmarks.contestants import fit, partial_fit, predict
from benchmarks.datasets import A9A, IMDB, IMDB_FLOAT64, MNIST, NEWSGROUPS, ZIPF, Dataset, dense, sparse
from benchmarks.timing import Contestant

# Both sides visit the rows in random order, as they do by default; a fixed seed makes the accuracies repeatable.
FIVE_PASSES: dict[str, Any] = {"max_iter": 5, "tol": None, "random_state": 0}

OUR_PERCEPTRON = markone.Perceptron(average=True, **FIVE_PASSES)
OUR_MIRA = markone.MIRA(C=1.0, **FIVE_PASSES)
THEIR_PERCEPTRON = scikit.Perceptron(**FIVE_PASSES)
THEIR_AVERAGED = scikit.SGDClassifier(
    loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None, average=True, **FIVE_PASSES
)
THEIR_MIRA = scikit.SGDClassifier(  # eta0 is PA-I's C
    loss="hinge", learning_rate="pa1", eta0=1.0, penalty=None, average=True, **FIVE_PASSES
)


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table."""

    what: str
    data: Dataset
    ours: Contestant
    theirs: Contestant
    at_least: float
    """How many times as fast as theirs ours is meant to be."""

    @property
    def name(self) -> str:
        return f"{self.what}: {self.data.name}"


def same(
    what: str, task: Callable[[Any], Contestant], ours: Any, theirs: Any, at_least: float, *datasets: Dataset
) -> list[Case]:
    """The same task for both, on several data sets."""
    return [Case(what, data, task(ours), task(theirs), at_least) for data in datasets]


CASES: list[Case] = [
    *same("perceptron", fit, OUR_PERCEPTRON, THEIR_PERCEPTRON, 1.2, IMDB, IMDB_FLOAT64, A9A, ZIPF),
    *same("averaged", fit, OUR_PERCEPTRON, THEIR_AVERAGED, 4, IMDB, IMDB_FLOAT64, A9A, ZIPF),
    *same("mira", fit, OUR_MIRA, THEIR_MIRA, 4, IMDB, IMDB_FLOAT64, A9A, ZIPF),
    *same("many classes", fit, OUR_PERCEPTRON, THEIR_PERCEPTRON, 10, NEWSGROUPS, MNIST),
    *same(
        "partial_fit, 1 row",
        lambda estimator: partial_fit(estimator, rows=1, calls=1000),
        OUR_PERCEPTRON,
        THEIR_PERCEPTRON,
        20,
        dense(2),
        dense(3),
    ),
    *same(
        "partial_fit, 100 rows",
        lambda estimator: partial_fit(estimator, rows=100, calls=200),
        OUR_PERCEPTRON,
        THEIR_PERCEPTRON,
        5,
        dense(2),
        dense(3),
    ),
    *same(
        "predict, 1 row",
        lambda estimator: predict(estimator, calls=1000),
        OUR_PERCEPTRON,
        THEIR_PERCEPTRON,
        30,
        dense(2),
        dense(3),
        sparse(2),
        sparse(3),
    ),
]
