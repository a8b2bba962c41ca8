"""Data in memory for the benchmarks: real data from the folder in MARKONE_DATA, or generated data."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file, make_classification
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

from benchmarks.kept import kept

ROOT = Path(__file__).parents[1]
REAL_DATA = ROOT / os.environ.get("MARKONE_DATA", "../shared/data")
HASHED_FEATURES = 2**18

Data = TypeVar("Data")


class AbsentError(Exception):
    """Raised if something that a case needs is missing. The message says what."""


@dataclass(frozen=True, slots=True)
class Split:
    """Training rows and test rows."""

    train: Any
    train_labels: NDArray[Any]
    test: Any
    test_labels: NDArray[Any]


@dataclass(frozen=True, slots=True)
class Dataset(Generic[Data]):
    """A data set: its name in the table, a description, and a function that loads it."""

    name: str
    about: str
    load: Callable[[], Data]


# ---- real


def imdb_counts() -> Split:
    vectorizer = CountVectorizer(ngram_range=(1, 2), min_df=2, dtype=np.float32)
    files = [folder("imdb") / name for name in ("train.tsv.gz", "test.tsv.gz")]
    return cached("imdb", files, lambda: vectorized(vectorizer, *map(tab_separated, files)))


def imdb_counts_float64() -> Split:
    def widened(matrix: Any) -> Any:
        # Not matrix.astype, which would sort each row's columns: the vectorizer leaves them unsorted.
        return csr_matrix((matrix.data.astype(np.float64), matrix.indices, matrix.indptr), matrix.shape)

    counts = IMDB.load()
    return Split(widened(counts.train), counts.train_labels, widened(counts.test), counts.test_labels)


def imdb_tfidf() -> Split:
    counts, weigh = IMDB.load(), TfidfTransformer()
    train = weigh.fit_transform(counts.train).astype(np.float32)
    return Split(train, counts.train_labels, weigh.transform(counts.test).astype(np.float32), counts.test_labels)


def a9a_part() -> Split:
    whole = A9A.load()
    return Split(whole.train[:5000], whole.train_labels[:5000], whole.test, whole.test_labels)


def newsgroups_tfidf() -> Split:
    vectorizer = TfidfVectorizer(min_df=2, dtype=np.float32)
    files = [folder("newsgroups") / name for name in ("train.jsonl.gz", "test.jsonl.gz")]
    return cached("newsgroups", files, lambda: vectorized(vectorizer, *map(json_lines, files)))


def a9a_rows() -> Split:
    train, test = (
        load_svmlight_file(str(folder("a9a") / name), n_features=123, dtype=np.float32)
        for name in ("a9a.gz", "a9a.t.gz")
    )
    return Split(narrow(train[0]), train[1].astype(np.int64), narrow(test[0]), test[1].astype(np.int64))


def mnist_images() -> Split:
    def read(name: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        images = idx_bytes(folder("mnist") / f"{name}-images-idx3-ubyte.gz", header=16).reshape(-1, 28 * 28)
        labels = idx_bytes(folder("mnist") / f"{name}-labels-idx1-ubyte.gz", header=8)
        return images.astype(np.float32) / np.float32(255), labels.astype(np.int64)

    return Split(*read("train"), *read("t10k"))


def folder(name: str) -> Path:
    if not (REAL_DATA / name).is_dir():
        raise AbsentError(f"there is no folder {name} in MARKONE_DATA")
    return REAL_DATA / name


def tab_separated(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            label, text = line.rstrip("\n").split("\t", 1)
            yield label, text


def json_lines(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["label"], record["text"]


def narrow(matrix: Any) -> Any:
    """Return the matrix with 32-bit column numbers, which scikit-learn's linear models require."""
    return csr_matrix((matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)), matrix.shape)


def idx_bytes(path: Path, *, header: int) -> NDArray[np.uint8]:
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


def vectorized(vectorizer: Any, train: Iterator[tuple[str, str]], test: Iterator[tuple[str, str]]) -> Split:
    """Convert labels to numbers, so that the times do not include comparing strings."""
    train_names, train_texts = zip(*train, strict=True)
    test_names, test_texts = zip(*test, strict=True)
    classes, train_labels = np.unique(train_names, return_inverse=True)
    return Split(
        vectorizer.fit_transform(train_texts),
        train_labels,
        vectorizer.transform(test_texts),
        np.searchsorted(classes, test_names),
    )


# ---- made


def zipf_rows(*, rows: int, draws: int, classes: int) -> Split:
    """Rows of features drawn as words are: the k-th most frequent one in proportion to 1/k.

    The labels are those of a linear model with one weight in ten other than 0, and noise.
    """
    random = np.random.default_rng(0)
    reach = np.cumsum(1 / np.arange(1, HASHED_FEATURES + 1))
    lengths = random.poisson(draws, rows)
    ranks = reach.searchsorted(random.random(lengths.sum()) * reach[-1])
    features = random.permutation(HASHED_FEATURES)[ranks]  # the frequent ones stand anywhere, as in a vocabulary
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    matrix = narrow(csr_matrix((np.ones(len(features), np.float32), features, indptr), (rows, HASHED_FEATURES)))
    matrix.sum_duplicates()
    weights = random.normal(size=(HASHED_FEATURES, classes)) * (random.random((HASHED_FEATURES, 1)) < 0.1)
    scores = matrix @ weights
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0) + random.normal(0, 0.3, scores.shape)
    return eighty_twenty(matrix, scores.argmax(axis=1))


def topic_rows(*, classes: int, rows: int = 50_000, words: int = 20_000) -> Split:
    """Rows of 20 words that are as frequent as in any text, and of 10 from the 20 words of the row's class."""
    random = np.random.default_rng(0)
    reach = np.cumsum(1 / np.arange(1, words + 1))
    topics = random.integers(words, size=(classes, 20))
    labels = random.integers(classes, size=rows)
    common = reach.searchsorted(random.random((rows, 20)) * reach[-1])
    own = np.take_along_axis(topics[labels], random.integers(20, size=(rows, 10)), axis=1)
    features = np.hstack([common, own])
    starts = np.arange(0, features.size + 1, features.shape[1])
    matrix = narrow(csr_matrix((np.ones(features.size, np.float32), features.ravel(), starts), (rows, words)))
    matrix.sum_duplicates()
    return eighty_twenty(matrix, labels)


def dense_rows(*, classes: int, rows: int = 25_000) -> Split:
    return eighty_twenty(
        *make_classification(
            n_samples=rows,
            n_features=30,
            n_informative=10,
            n_classes=classes,
            n_clusters_per_class=1,
            random_state=0,
        )
    )


def points(*, flipped: int) -> Split:
    """Return points on two sides of a plane. Some have the label of the other side."""
    random = np.random.default_rng(0)
    matrix = random.normal(size=(5_000, 50))
    labels = (matrix @ random.normal(size=50) > 0.3).astype(np.int64)
    labels[:flipped] ^= 1
    return Split(matrix, labels, matrix[:0], labels[:0])


def eighty_twenty(matrix: Any, labels: NDArray[Any]) -> Split:
    train = len(labels) * 4 // 5
    return Split(matrix[:train], labels[:train], matrix[train:], labels[train:])


# ---- kept


def cached(name: str, files: list[Path], make: Callable[[], Split]) -> Split:
    """Return sparse rows from the temporary folder."""

    def write(path: Path) -> None:
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays_of(make()))

    with np.load(kept(f"{name}.npz", __file__, files, write)) as arrays:
        return Split(
            matrix_of(arrays, "train"), arrays["train_labels"], matrix_of(arrays, "test"), arrays["test_labels"]
        )


def arrays_of(split: Split) -> dict[str, NDArray[Any]]:
    arrays = {"train_labels": split.train_labels, "test_labels": split.test_labels}
    for part, matrix in (("train", split.train), ("test", split.test)):
        for piece in ("data", "indices", "indptr", "shape"):
            arrays[f"{part}_{piece}"] = np.asarray(getattr(matrix, piece))
    return arrays


def matrix_of(arrays: Any, part: str) -> Any:
    data, indices, indptr, shape = (arrays[f"{part}_{piece}"] for piece in ("data", "indices", "indptr", "shape"))
    return csr_matrix((data, indices, indptr), tuple(shape))


# ---- all of them

IMDB = Dataset(
    "imdb", "25,000 film reviews, two classes: counts of words and pairs of words, float32", cache(imdb_counts)
)
IMDB_FLOAT64 = Dataset("imdb float64", "the same in float64", cache(imdb_counts_float64))
IMDB_TFIDF = Dataset("imdb tf-idf", "the same, by tf-idf, rows of length 1, float32", cache(imdb_tfidf))
A9A_PART = Dataset("a9a, 5,000 rows", "the first 5,000 of a9a", cache(a9a_part))
A9A = Dataset("a9a", "32,561 census records, two classes, 123 features of 0 and 1, sparse, float32", cache(a9a_rows))
ZIPF = Dataset(
    "zipf",
    "200,000 made rows, two classes, about 50 of 2¹⁸ features in each, as frequent as words, float32",
    cache(partial(cached, "zipf", [], partial(zipf_rows, rows=250_000, draws=58, classes=2))),
)
NEWSGROUPS = Dataset("newsgroups", "11,314 messages, 20 classes: tf-idf of words, float32", cache(newsgroups_tfidf))
MNIST = Dataset("mnist", "60,000 handwritten digits, 10 classes, 784 grey values, dense, float32", cache(mnist_images))

THOUSAND_CLASSES, TEN_THOUSAND_CLASSES = (
    Dataset(
        f"{classes:,} classes",
        f"40,000 made rows, {classes:,} classes, about 30 of 20,000 features in each, sparse, float32",
        cache(partial(topic_rows, classes=classes)),
    )
    for classes in (1_000, 10_000)
)
POINTS_APART = Dataset(
    "points, apart",
    "5,000 made points of 50 features on two sides of a plane, float64",
    cache(partial(points, flipped=0)),
)
POINTS_MIXED = Dataset(
    "points, 20 mixed", "the same, of which 20 have the other side's label", cache(partial(points, flipped=20))
)

HUNDRED_THOUSAND = Dataset(
    "100,000 rows",
    "100,000 made rows, two classes, 30 features, dense, float64",
    cache(partial(dense_rows, classes=2, rows=125_000)),
)


def dense(classes: int) -> Dataset[Split]:
    return Dataset(
        f"dense, {classes} classes",
        f"20,000 made rows, {classes} classes, 30 features, dense, float64",
        cache(partial(dense_rows, classes=classes)),
    )


def sparse(classes: int) -> Dataset[Split]:
    return Dataset(
        f"sparse, {classes} classes",
        f"8,000 made rows, {classes} classes, about 100 of 2¹⁸ features in each, float32",
        cache(partial(zipf_rows, rows=10_000, draws=125, classes=classes)),
    )
