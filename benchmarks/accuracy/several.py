"""Texts with several labels each; the accuracy is micro F1 on the test rows.

The labels of a newsgroup are the parts of its name, such as `sci` and `space`. Those of a sentence in a treebank are
the grammatical relations in its tree, which are to be predicted from the sentence alone.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

import markone
from benchmarks.accuracy.suite import Contestant, Suite
from benchmarks.datasets import Dataset, Split, folder
from markone.data.blocks import as_scipy

Rows = list[tuple[str, list[str]]]
FORM, RELATION = 1, 7
"""The columns of a word in CoNLL-U."""


# ---- data sets


def indicated(train: Rows, test: Rows) -> Split:
    """The texts, and their labels as indicator matrices. Labels that no training row has are left out."""
    texts, labels = zip(*train, strict=True)
    test_texts, test_labels = zip(*test, strict=True)
    known = MultiLabelBinarizer().fit(labels)
    met = [[label for label in own if label in known.classes_] for own in test_labels]
    return Split(list(texts), known.transform(labels), list(test_texts), known.transform(met))


def newsgroups() -> Split:
    def rows(part: str) -> Rows:
        with gzip.open(folder("newsgroups") / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
            return [(one["text"], one["label"].split(".")) for one in map(json.loads, lines)]

    return indicated(rows("train"), rows("test"))


def sentences(path: Path) -> Iterator[tuple[str, list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for block in lines.read().split("\n\n"):
            words = [line.split("\t") for line in block.splitlines() if line[:1].isdigit()]
            words = [word for word in words if word[0].isdigit()]  # neither several words in one, nor left-out words
            if words:
                yield " ".join(word[FORM] for word in words), sorted({word[RELATION] for word in words})


def treebank(data: str, name: str) -> Split:
    train, test = (list(sentences(folder(data) / name.format(part))) for part in ("train", "test"))
    return indicated(train, test)


SETS = [
    Dataset("Newsgroups", "the parts of the names of newsgroups", newsgroups),
    Dataset("English", "relations in EWT", partial(treebank, "ewt", "en_ewt-ud-{}.conllu.gz")),
    Dataset("Basque", "relations in UD Basque", partial(treebank, "ud", "eu.{}.conllu.gz")),
    Dataset("Hungarian", "relations in UD Hungarian", partial(treebank, "ud", "hu.{}.conllu.gz")),
    Dataset("Gothic", "relations in UD Gothic", partial(treebank, "ud", "got.{}.conllu.gz")),
]


# ---- contestants


def ours(split: Split, **settings: Any) -> NDArray[np.bool_]:
    model = markone.train(split.train, target=[np.flatnonzero(row) for row in split.train_labels], **settings)
    found = np.zeros(split.test_labels.shape, bool)
    for row, labels in zip(found, model.predict(split.test), strict=True):
        row[list(labels)] = True
    return found


def same_features(split: Split) -> Any:
    """LinearSVC on the features that Markone makes."""
    source = markone.read(split.train)
    features = markone.FeatureMap(markone.Features.of({}, classless=True), source.columns).fit(source)
    train, test = (
        vstack([as_scipy(features.transform(batch)) for batch in features.batches(part)])
        for part in (split.train, split.test)
    )
    return OneVsRestClassifier(LinearSVC()).fit(train, split.train_labels).predict(test)


def words_and_pairs(split: Split) -> Any:
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    train, test = vectorizer.fit_transform(split.train), vectorizer.transform(split.test)
    return OneVsRestClassifier(LinearSVC()).fit(train, split.train_labels).predict(test)


SUITE = Suite(
    "several labels",
    SETS,
    [
        Contestant("Markone", "`markone.train(texts, target=labels)` without settings", ours),
        Contestant("`svm`", '`rule="svm"`', partial(ours, rule="svm")),
        Contestant("`threshold=0.5`", "a label is predicted if its score is above 0", partial(ours, threshold=0.5)),
        Contestant("LinearSVC, same features", "`OneVsRestClassifier(LinearSVC())`", same_features),
        Contestant("LinearSVC", "the same, on tf-idf of words and pairs", words_and_pairs),
    ],
    measure=lambda predicted, truth: float(f1_score(truth, predicted, average="micro")),
)
