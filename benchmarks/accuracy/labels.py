"""Wrong labels: a share of right labels is changed at random, and as many rows are pointed out as were changed.

The accuracy is the share of these rows whose label was changed. Both contestants see the same features.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

import markone
from benchmarks.accuracy import tables
from benchmarks.accuracy.suite import Contestant, Suite
from benchmarks.datasets import IMDB_TFIDF, MNIST, NEWSGROUPS, Dataset, Split, folder

SHARES = (0.05, 0.1, 0.2)
PART = 5_000

Rows = tuple[Any, NDArray[np.int64]]


# ---- data sets


@cache
def sms() -> Rows:
    path = folder("sms_spam") / "SMSSpamCollection"
    with path.open(encoding="utf-8", newline="\n") as lines:
        labels, texts = zip(*(line.rstrip("\n").split("\t", 1) for line in lines), strict=True)
    numbers = np.unique(labels, return_inverse=True)[1]
    return TfidfVectorizer(min_df=2, dtype=np.float32).fit_transform(texts), numbers


@cache
def adult() -> Rows:
    split = tables.adult()
    rows = csr_matrix(tables.encoded(split)[0]).astype(np.float32)
    return rows, np.unique(split.train_labels, return_inverse=True)[1]


def of(data: Dataset[Split], most: int | None = None) -> Rows:
    split = data.load()
    which = np.random.default_rng(0).permutation(len(split.train_labels))[:most]
    return split.train[which], split.train_labels[which]


def flipped(load: Callable[[], Rows], share: float) -> Split:
    """The rows with some labels changed; the test is which rows these are."""
    rows, labels = load()
    random = np.random.default_rng([0, int(100 * share)])
    classes, count = len(np.unique(labels)), round(share * len(labels))
    which = random.choice(len(labels), count, replace=False)
    changed = labels.copy()
    changed[which] = (labels[which] + random.integers(1, classes, count)) % classes
    return Split(rows, changed, np.isin(np.arange(len(labels)), which), np.ones(count, np.bool_))


SOURCES: list[tuple[str, str, Callable[[], Rows]]] = [
    ("SMS", "spam, tf-idf of words", sms),
    ("IMDb", f"{PART:,} of the film reviews, tf-idf of words and pairs", partial(of, IMDB_TFIDF, PART)),
    ("Newsgroups", "tf-idf of words", partial(of, NEWSGROUPS)),
    ("Adult", "scaled numbers and categories", adult),
    ("MNIST", f"{PART:,} of the digits, grey values", partial(of, MNIST, PART)),
]
SETS = [
    Dataset(f"{name}, {share:.0%}", about, partial(flipped, load, share))
    for name, about, load in SOURCES
    for share in SHARES
]


# ---- contestants


def ours(split: Split) -> Any:
    found = markone.audit(split.train, target=split.train_labels)
    return split.test[found.ranking()[: len(split.test_labels)] - 1]


def cleanlab(split: Split) -> Any:
    return split.test[by_cleanlab(split.train, split.train_labels)[: len(split.test_labels)]]


def by_cleanlab(rows: Any, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all rows: first the issues that cleanlab finds, and then the others by their quality."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        likely = cross_val_predict(LogisticRegression(max_iter=1_000), rows, labels, cv=5, method="predict_proba")
    issues = find_label_issues(labels, likely, return_indices_ranked_by="self_confidence", n_jobs=1)
    others = np.argsort(get_label_quality_scores(labels, likely), kind="stable")
    return np.concatenate([issues, others[~np.isin(others, issues)]])


SUITE = Suite(
    "wrong labels",
    SETS,
    [
        Contestant("Markone", "`markone.audit(X, target=y)` without any setting", ours),
        Contestant(
            "cleanlab",
            "`cross_val_predict(LogisticRegression(max_iter=1000), cv=5)` and `find_label_issues`",
            cleanlab,
            "cleanlab",
        ),
    ],
)
