"""Certificates of well-known data, and the time to find and to check them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import markone
from benchmarks.datasets import A9A, IMDB, NEWSGROUPS, AbsentError, Dataset, Split
from benchmarks.timing import on_cores, timed

SECONDS = 300
"""For the slowest."""


def shipped(load: Any, *classes: int) -> Split:
    """A data set of scikit-learn, with some of its classes or all."""
    rows, labels = load(return_X_y=True)
    kept = np.isin(labels, classes) if classes else np.ones(len(labels), bool)
    return Split(rows[kept], labels[kept], rows[:0], labels[:0])


DATA: list[Dataset[Split]] = [
    Dataset("iris, setosa and versicolor", "", partial(shipped, load_iris, 0, 1)),
    Dataset("iris, versicolor and virginica", "", partial(shipped, load_iris, 1, 2)),
    Dataset("iris, three classes", "", partial(shipped, load_iris)),
    Dataset("breast cancer", "", partial(shipped, load_breast_cancer)),
    Dataset("digits, 3 and 8", "", partial(shipped, load_digits, 3, 8)),
    Dataset("digits, ten classes", "", partial(shipped, load_digits)),
    A9A,
    IMDB,
    NEWSGROUPS,
]


def answers() -> Iterator[tuple[str, ...]]:
    """Return the rows of a table. Missing data are left out."""
    for dataset in DATA:
        try:
            data = dataset.load()
        except AbsentError:
            continue
        yield answer(dataset.name, data.train, data.train_labels)


def answer(name: str, rows: Any, labels: Any) -> tuple[str, ...]:
    with on_cores(1):
        seconds, found = timed(lambda: markone.certify(rows, labels, seconds=SECONDS))
        to_check, checked = timed(lambda: found.verify(rows, labels))
    if not checked:
        raise RuntimeError(f"the certificate of {name} does not hold: {checked}")
    return name, f"{rows.shape[0]:,} × {rows.shape[1]:,}", in_words(found), f"{seconds:.2f} s", f"{to_check:.2f} s"


def in_words(found: markone.Certificate) -> str:
    if found.separable:
        lower, upper = found.bracket
        return f"separable, margin {lower:.5g} to {upper:.5g}"
    if found.proof is None:
        return "not decided"
    removed = "" if found.removal is None else f"; separable but for {len(found.removal.rows):,} of the rows"
    return f"not separable, by {len(found.proof.rows)} examples{removed}"
