"""scikit-learn, from files, by its own readers or those of Python and pandas."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.contestants.estimators import name_of
from benchmarks.contestants.texts import beginnings, labels_and_texts
from benchmarks.datasets import narrow
from benchmarks.files import ADULT_COLUMNS, ADULT_NUMBERS, Files
from benchmarks.timing import Contestant, Outcome, timed

Reader = Callable[[Path], tuple[Any, Any]]
"""Gives the examples of a file and their labels."""


def train_texts(*steps: Any) -> Contestant[Files]:
    """From a file of texts to a model."""
    return train("lines of file", read_texts, *steps)


def train_rows(classifier: Any) -> Contestant[Files]:
    """From a LIBSVM file to a model."""
    return train("load_svmlight_file(file, dtype=float32)", read_rows, classifier)


def train_table(classifier: Any) -> Contestant[Files]:
    """From a CSV file to a model: numbers are standardised, categories become columns of 0 and 1."""
    columns = make_column_transformer(
        (StandardScaler(), list(ADULT_NUMBERS)),
        (OneHotEncoder(handle_unknown="ignore"), [name for name in ADULT_COLUMNS[:-1] if name not in ADULT_NUMBERS]),
    )
    return train("pandas.read_csv(file, ...)", read_table, columns, classifier, package="pandas")


def train(reading: str, read: Reader, *steps: Any, package: str | None = None) -> Contestant[Files]:
    learn = learner(read, *steps)

    def turn(files: Files) -> Outcome:
        seconds, model = timed(lambda: learn(files.train))
        return Outcome(seconds, accuracy(model, read, files.test))

    return Contestant(f"{pipeline(*steps)}.fit({reading})", turn, package)


def score_texts(*steps: Any) -> Contestant[Files]:
    """From a file of texts to their scores, by a model that was trained before."""
    learn = cache(learner(read_texts, *steps))

    def turn(files: Files) -> Outcome:
        model = learn(files.train)
        seconds, _ = timed(lambda: model.decision_function(read_texts(files.test)[0]))
        return Outcome(seconds, accuracy(model, read_texts, files.test), size=files.test.stat().st_size)

    return Contestant(f"{pipeline(*steps)}.decision_function(lines of file)", turn)


def label_text(*steps: Any, words: int, calls: int) -> Contestant[Files]:
    """From a text in memory to its label, one text a call, by a model that was trained before."""
    learn = cache(learner(read_texts, *steps))

    def turn(files: Files) -> Outcome:
        model = learn(files.train)
        texts = beginnings(files.test, words=words, texts=calls)

        def work() -> None:
            for text in texts:
                model.predict([text])

        seconds, _ = timed(work)
        return Outcome(seconds / calls, accuracy(model, read_texts, files.test))

    return Contestant(f"{pipeline(*steps)}.predict([text])", turn)


def learner(read: Reader, *steps: Any) -> Callable[[Path], Any]:
    def learn(path: Path) -> Any:
        examples, labels = read(path)
        return make_pipeline(*map(clone, steps)).fit(examples, labels)

    return learn


def accuracy(model: Any, read: Reader, path: Path) -> float:
    examples, labels = read(path)
    return float(np.mean(model.predict(fitting(examples, model)) == np.asarray(labels)))


def fitting(examples: Any, model: Any) -> Any:
    """Rows with as many features as the model knows: a file has as many as it names."""
    if hasattr(examples, "resize"):
        examples.resize(examples.shape[0], model.n_features_in_)
    return examples


def pipeline(*steps: Any) -> str:
    return name_of(steps[0]) if len(steps) == 1 else f"make_pipeline({', '.join(map(name_of, steps))})"


# ---- readers


def read_texts(path: Path) -> tuple[list[str], list[str]]:
    labels, texts = labels_and_texts(path)
    return texts, labels


def read_rows(path: Path) -> tuple[Any, NDArray[Any]]:
    matrix, labels = load_svmlight_file(str(path), dtype=np.float32)
    return narrow(matrix), labels


def read_table(path: Path) -> tuple[Any, Any]:
    import pandas

    table = pandas.read_csv(path, header=None, names=list(ADULT_COLUMNS), skipinitialspace=True, na_values=["?"])
    labels = table.pop("income")
    return table, labels
