"""The cases: the contestants, the data, and how many times as fast we want to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from sklearn import linear_model
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC

import markone
from benchmarks.accuracy import labels
from benchmarks.contestants import (
    certificates,
    command,
    crfsuite,
    experiments,
    fast_text,
    leaving_out,
    nltk_tagger,
    ours,
    parsers,
    scikit,
    spacy_pipes,
    taggers,
    vowpal_wabbit,
)
from benchmarks.contestants.estimators import answer, fit, fit_to_use, partial_fit, predict
from benchmarks.contestants.optima import SVM_GAP, logistic_slope, reach
from benchmarks.datasets import (
    A9A,
    A9A_PART,
    HUNDRED_THOUSAND,
    IMDB,
    IMDB_FLOAT64,
    IMDB_TFIDF,
    MNIST,
    NEWSGROUPS,
    POINTS_APART,
    POINTS_MIXED,
    TEN_THOUSAND_CLASSES,
    THOUSAND_CLASSES,
    ZIPF,
    Dataset,
    Split,
    dense,
    sparse,
)
from benchmarks.files import A9A_FILE, ADULT_COLUMNS, ADULT_FILE, ADULT_PART, IMDB_FILE, IMDB_TEN_TIMES, ZIPF_FILE
from benchmarks.timing import Contestant
from benchmarks.treebanks import EWT

Data = TypeVar("Data")

# Both sides visit the rows in random order, as they do by default; a fixed seed makes the accuracies repeatable.
FIVE_PASSES: dict[str, Any] = {"max_iter": 5, "tol": None, "random_state": 0}

OUR_PERCEPTRON = markone.Perceptron(average=True, **FIVE_PASSES)
OUR_MIRA = markone.MIRA(C=1.0, **FIVE_PASSES)
THEIR_PERCEPTRON = linear_model.Perceptron(**FIVE_PASSES)
THEIR_AVERAGED = linear_model.SGDClassifier(
    loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None, average=True, **FIVE_PASSES
)
THEIR_MIRA = linear_model.SGDClassifier(  # eta0 is PA-I's C
    loss="hinge", learning_rate="pa1", eta0=1.0, penalty=None, average=True, **FIVE_PASSES
)

# From files. Texts: a word or pair of words that occurs in at least two texts counts 1, times a weight that says how
# well it indicates a class. The weighting of texts, fastText's lr and scikit-learn's learning_rate are the best of a
# few on the last 5,000 training lines (ours of nine, 91.2%; fastText of four, 89.1%; scikit-learn of eight, 89.0%).
# Vowpal Wabbit has its defaults (91.4%).
PAIRS: dict[str, Any] = {
    "words": [1, 2],
    "signs": False,
    "value": "binary",
    "weight": "odds",
    "discount": 0,
    "min_count": 2,
}
WORDS: dict[str, Any] = {"words": [1, 1], "signs": False, "value": "count", "weight": "idf", "min_count": 1}
OUR_TEXTS: dict[str, Any] = {
    "read": {"format": "tab"},
    "train": {"rule": "mira", "C": 1, "epochs": 5, "holdout": 0, "features": {"text": PAIRS, "unit": False}},
}
OUR_COMMAND: dict[str, Any] = {"read": OUR_TEXTS["read"], "learning": OUR_TEXTS["train"]}
OUR_WORDS: dict[str, Any] = {
    "read": {"format": "tab"},
    "train": {"rule": "mira", "C": 1, "epochs": 5, "holdout": 0, "features": {"text": WORDS, "unit": True}},
}
OUR_ROWS: dict[str, Any] = {"read": {}, "train": {"rule": "perceptron", "epochs": 5, "holdout": 0}}
OUR_TABLE: dict[str, Any] = {
    "read": {"target": "income", "header": False, "columns": list(ADULT_COLUMNS)},
    "train": {"rule": "mira", "C": 1, "epochs": 5, "holdout": 0},
}
# Without settings: what runs of three words, calibration, curves and pairs cost.
OUR_TEXT_DEFAULTS: dict[str, Any] = {"read": OUR_TEXTS["read"], "train": {}}
OUR_TABLE_DEFAULTS: dict[str, Any] = {"read": OUR_TABLE["read"], "train": {}}
OUR_COUNTS: dict[str, Any] = {
    "read": {"format": "tab"},
    "train": {"rule": "naive-bayes", "holdout": 0, "features": {"text": {"signs": False, "min_count": 1}}},
}
OUR_NETWORK = markone.MLP(hidden_layer_sizes=(128,), max_iter=5, tol=None, random_state=0)
THEIR_NETWORK = MLPClassifier(hidden_layer_sizes=(128,), max_iter=10, random_state=0)
LEFT_OUT: dict[str, Any] = {"rule": "perceptron", "epochs": 10}
VW_TEXTS = (vowpal_wabbit.text, "--loss_function logistic --ngram 2 -b 22")
VW_TRAINED = vowpal_wabbit.train(*VW_TEXTS)
VW_ROWS = (vowpal_wabbit.row, "--loss_function logistic -b 18")
THEIR_PAIRS = (HashingVectorizer(ngram_range=(1, 2), dtype=np.float32), THEIR_MIRA)
THEIR_WORDS = (TfidfVectorizer(dtype=np.float32), THEIR_MIRA)
MANY_WEIGHTS = Dataset("2²² weights", "2,000 texts of random numbers, words hashed into 22 bits", command.hashed_model)
WRONG_LABELS = [data for data in labels.SETS if data.name.endswith(", 10%")]
ONE_TEXT: dict[str, Any] = {"words": 200, "calls": 1000}


@dataclass(frozen=True, slots=True)
class Case(Generic[Data]):
    """One row of the table."""

    what: str
    data: Dataset[Data]
    ours: Contestant[Data]
    theirs: Contestant[Data]
    at_least: float
    """How many times as fast as theirs ours is meant to be."""
    cores: int = 1
    """How many each side has."""

    @property
    def name(self) -> str:
        return f"{self.what}: {self.data.name}"


def same(
    what: str,
    task: Callable[[Any], Contestant[Split]],
    ours: Any,
    theirs: Any,
    at_least: float,
    *datasets: Dataset[Split],
) -> list[Case[Split]]:
    """The same task for both, on several data sets."""
    return [Case(what, data, task(ours), task(theirs), at_least) for data in datasets]


BAYES_CASES = [
    case
    for task, what in (
        (fit_to_use, "naive Bayes of {} (scikit-learn)"),
        (answer, "labels by naive Bayes of {} (scikit-learn)"),
    )
    for mine, theirs, of, datasets in (
        (markone.NaiveBayes(), MultinomialNB(), "counts", (IMDB, NEWSGROUPS, MNIST)),
        (markone.NaiveBayes("bernoulli"), BernoulliNB(), "presence", (IMDB, MNIST)),
        (markone.NaiveBayes("gaussian"), GaussianNB(), "measurements", (MNIST,)),
    )
    for case in same(what.format(of), task, mine, theirs, 2, *datasets)
]
CASES: list[Case[Any]] = [
    *same("perceptron", fit, OUR_PERCEPTRON, THEIR_PERCEPTRON, 1.2, IMDB, IMDB_FLOAT64, A9A, ZIPF),
    *same("averaged", fit, OUR_PERCEPTRON, THEIR_AVERAGED, 4, IMDB, IMDB_FLOAT64, A9A, ZIPF),
    *same("mira", fit, OUR_MIRA, THEIR_MIRA, 4, IMDB, IMDB_FLOAT64, A9A, ZIPF),
    *same("many classes", fit, OUR_PERCEPTRON, THEIR_PERCEPTRON, 10, NEWSGROUPS, MNIST, THOUSAND_CLASSES),
    Case("many classes, in a minute", TEN_THOUSAND_CLASSES, fit(OUR_PERCEPTRON), command.limit(60), 1),
    *same(
        "svm, to 0.1 % above the optimum",
        lambda estimator: reach(estimator, SVM_GAP, 1e-3),
        markone.LinearSVM(C=1.0, max_iter=10_000),
        LinearSVC(C=1.0, loss="hinge", max_iter=100_000, random_state=0),
        1.5,
        IMDB_TFIDF,
        A9A,
    ),
    *same(
        "svm of many classes, to 0.1 % above the optimum",
        lambda estimator: reach(estimator, SVM_GAP, 1e-3),
        markone.LinearSVM(C=1.0, max_iter=10_000),
        LinearSVC(C=1.0, multi_class="crammer_singer", max_iter=100_000, random_state=0),
        1.5,
        NEWSGROUPS,
    ),
    *same(
        "logistic, to a slope of 0.0001",
        lambda estimator: reach(estimator, logistic_slope(1.0), 1e-4),
        markone.LogisticRegression(max_iter=1000),
        linear_model.LogisticRegression(max_iter=10_000),
        3,
        IMDB_TFIDF,
        A9A,
        NEWSGROUPS,
    ),
    Case(
        "text to naive Bayes (scikit-learn)",
        IMDB_FILE,
        ours.train(**OUR_COUNTS),
        scikit.train_texts(CountVectorizer(dtype=np.float32), MultinomialNB()),
        10,
    ),
    *BAYES_CASES,
    *same("network", fit, OUR_NETWORK, THEIR_NETWORK, 1, MNIST),
    Case("leave-one-out", A9A_PART, leaving_out.quick(**LEFT_OUT), leaving_out.slow(**LEFT_OUT), 20),
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
        50,
        dense(2),
        dense(3),
        sparse(2),
        sparse(3),
    ),
    Case("text to model (Vowpal Wabbit)", IMDB_FILE, ours.train(**OUR_TEXTS), vowpal_wabbit.train(*VW_TEXTS), 2),
    Case(
        "text to model (fastText)",
        IMDB_FILE,
        ours.train(**OUR_TEXTS),
        fast_text.train(wordNgrams=2, epoch=5, dim=10, lr=0.5),
        5,
    ),
    Case("text to model (scikit-learn)", IMDB_FILE, ours.train(**OUR_TEXTS), scikit.train_texts(*THEIR_PAIRS), 8),
    Case("text to scores (Vowpal Wabbit)", IMDB_FILE, ours.score(**OUR_TEXTS), vowpal_wabbit.score(*VW_TEXTS), 2),
    Case("text to scores (scikit-learn)", IMDB_FILE, ours.score(**OUR_TEXTS), scikit.score_texts(*THEIR_PAIRS), 10),
    Case(
        "one text to label (scikit-learn)",
        IMDB_FILE,
        ours.label(**OUR_WORDS, **ONE_TEXT),
        scikit.label_text(*THEIR_WORDS, **ONE_TEXT),
        20,
    ),
    Case("rows to model (scikit-learn)", A9A_FILE, ours.train(**OUR_ROWS), scikit.train_rows(THEIR_PERCEPTRON), 5),
    Case("rows to model (scikit-learn)", ZIPF_FILE, ours.train(**OUR_ROWS), scikit.train_rows(THEIR_PERCEPTRON), 8),
    Case("rows to model (Vowpal Wabbit)", ZIPF_FILE, ours.train(**OUR_ROWS), vowpal_wabbit.train(*VW_ROWS), 1.5),
    Case("table to model (scikit-learn)", ADULT_FILE, ours.train(**OUR_TABLE), scikit.train_table(THEIR_MIRA), 5),
    Case("defaults, text to model (Vowpal Wabbit)", IMDB_FILE, ours.train(**OUR_TEXT_DEFAULTS), VW_TRAINED, 1),
    Case(
        "defaults, table to model (scikit-learn)",
        ADULT_FILE,
        ours.train(**OUR_TABLE_DEFAULTS),
        scikit.train_table(linear_model.LogisticRegression(max_iter=1000)),
        0.5,
    ),
    Case(
        "command: text to saved model (Vowpal Wabbit)",
        IMDB_FILE,
        command.train(
            "--format tab --rule mira --C 1 --epochs 5 --holdout 0 --threads 1",
            markone.Features.of(OUR_TEXTS["train"]["features"]),
        ),
        vowpal_wabbit.train(*VW_TEXTS),
        2,
    ),
    Case(
        "command: text to labels (Vowpal Wabbit)",
        IMDB_TEN_TIMES,
        command.predict(**OUR_COMMAND),
        vowpal_wabbit.score(*VW_TEXTS),
        2,
    ),
    Case("command: one line to its label", IMDB_FILE, command.predict_line(**OUR_COMMAND), command.limit(0.15), 1),
    Case("command: all rules compared", ADULT_PART, command.compare(ADULT_COLUMNS), command.limit(60), 1),
    Case("certificate: plane (SVC)", POINTS_APART, certificates.certify(), certificates.widest_street(), 1),
    Case("certificate: proof (HiGHS)", POINTS_MIXED, certificates.certify(), certificates.linear_program(), 0.3),
    Case("certificate: plane, in a second", POINTS_APART, certificates.certify(), command.limit(1), 1),
    Case("certificate: proof, in a second", POINTS_MIXED, certificates.certify(), command.limit(1), 1),
    Case("certificate, in ten seconds", HUNDRED_THOUSAND, certificates.certify(), command.limit(10), 1),
    Case(
        "cross-validation (scikit-learn)",
        HUNDRED_THOUSAND,
        experiments.validate(folds=5, rule="mira", C=1, epochs=5),
        experiments.cross_validate(THEIR_MIRA, folds=5),
        1,
    ),
    Case(
        "tuning (scikit-learn)",
        HUNDRED_THOUSAND,
        experiments.tune(rule="mira", epochs=5),
        experiments.grid_search(THEIR_MIRA, {"eta0": [10.0**power for power in range(-4, 2)]}),
        1,
    ),
    *(Case("wrong labels (cleanlab)", data, experiments.audit(), experiments.cleanlab(), 10) for data in WRONG_LABELS),
    Case("all rules compared, in a minute", HUNDRED_THOUSAND, experiments.compare(folds=5), command.limit(60), 1),
    Case(
        "tags, learned (CRFsuite)",
        EWT,
        taggers.train("upos", epochs=3),
        crfsuite.train("upos", "ap", max_iterations=10),
        5,
    ),
    Case("tags, learned (NLTK)", EWT, taggers.train("upos", epochs=3), nltk_tagger.train("upos", 5), 5),
    Case("tags, given (CRFsuite)", EWT, taggers.run("upos"), crfsuite.run("upos", "ap", max_iterations=10), 10),
    Case("tags, given (spaCy)", EWT, taggers.run("upos"), spacy_pipes.run("tagger"), 20),
    Case("trees, fast (spaCy)", EWT, parsers.run(mode="fast"), spacy_pipes.run("parser"), 15),
    Case("trees, accurate (spaCy)", EWT, parsers.run(mode="accurate"), spacy_pipes.run("parser"), 2),
    Case("trees, learned in nine seconds", EWT, parsers.train(mode="fast", epochs=10), command.limit(9), 1),
    Case("command: certificate", IMDB_FILE, certificates.certify_file("--format tab"), command.limit(60), 1),
    Case(
        "saving and loading (safetensors)",
        MANY_WEIGHTS,
        command.save_and_load(),
        command.save_and_load_tensors(),
        1 / 1.5,
    ),
    Case("two threads, reading", ZIPF_FILE, ours.read(threads=2), ours.read(threads=1), 1.8, cores=2),
    Case(
        "two threads, text to scores",
        IMDB_FILE,
        ours.score(**OUR_TEXTS, threads=2),
        ours.score(**OUR_TEXTS, threads=1),
        1.6,
        cores=2,
    ),
]
