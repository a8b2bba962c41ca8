"""Texts of many kinds: long and short documents, questions, messages, single words, and a script without spaces."""

from __future__ import annotations

import csv
import gzip
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.accuracy.suite import Contestant, Suite
from benchmarks.contestants import vowpal_wabbit
from benchmarks.datasets import Dataset, Split, folder, json_lines, tab_separated

Pairs = Iterable[tuple[str, str]]
TEST_SHARE = 0.2
WAYS, FEW = ((0.1, 5), (0.5, 5), (1.0, 5), (0.1, 0), (0.5, 0), (1.0, 0)), 5000
"""Rates of fastText with the longest subwords, and how many training rows decide between them."""
FEWEST_EXAMPLES = 100_000
"""How many examples fastText sees in all passes, at least."""
"""The learning rates of fastText, of which one is chosen with this number of training rows."""
TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s]")
"""An ideograph or kana, a word, or a sign: for peers that split texts at spaces, or need a pattern."""


# ---- data sets: pairs of a label and a text


def split_of(train: Pairs, test: Pairs) -> Split:
    (train_labels, train_texts), (test_labels, test_texts) = (zip(*pairs, strict=True) for pairs in (train, test))
    return Split(list(train_texts), np.array(train_labels), list(test_texts), np.array(test_labels))


def divided(pairs: Pairs) -> Split:
    """A random fifth of each class is the test."""
    every = list(pairs)
    return split_of(*train_test_split(every, test_size=TEST_SHARE, random_state=0, stratify=[one for one, _ in every]))


def of_suite(name: str, column: str, target: str = "label") -> Split:
    def read(part: str) -> Iterator[tuple[str, str]]:
        with gzip.open(folder("suite") / f"{name}.{part}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield row[target], row[column]

    return split_of(read("train"), read("test"))


def imdb() -> Split:
    return split_of(*(tab_separated(folder("imdb") / f"{part}.tsv.gz") for part in ("train", "test")))


def newsgroups(change: Callable[[str], str] = str) -> Split:
    files = (folder("newsgroups") / f"{part}.jsonl.gz" for part in ("train", "test"))
    return split_of(*([(label, change(text)) for label, text in json_lines(path)] for path in files))


def subject(message: str) -> str:
    found = re.search(r"^Subject: (?:Re: )*(.*)$", message, re.MULTILINE)
    return found[1] if found else ""


def few_newsgroups() -> Split:
    """The first 30 messages of each group."""
    every = newsgroups()
    seen: Counter[str] = Counter()
    chosen = []
    for row, label in enumerate(every.train_labels):
        seen[label] += 1
        if seen[label] <= 30:
            chosen.append(row)
    return Split([every.train[row] for row in chosen], every.train_labels[chosen], every.test, every.test_labels)


def sms() -> Split:
    with (folder("sms_spam") / "SMSSpamCollection").open(encoding="utf-8", newline="\n") as lines:
        return divided([tuple(line.rstrip("\n").split("\t", 1)) for line in lines])  # type: ignore[misc]


def opinion_words() -> Split:
    pairs = []
    for label in ("positive", "negative"):
        with (folder("lexicon") / f"{label}-words.txt").open(encoding="latin-1") as lines:
            pairs += [(label, word) for line in lines if (word := line.strip()) and not word.startswith(";")]
    return divided(pairs)


def sentences(path: Path) -> Iterator[tuple[str, str]]:
    """The sentences of a treebank, with the kind of document that they come from."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# sent_id = "):
                label = line.removeprefix("# sent_id = ").split("-")[0]
            if line.startswith("# text = "):
                yield label, line.removeprefix("# text = ").strip()


def ewt() -> Split:
    return split_of(*(sentences(folder("ewt") / f"en_ewt-ud-{part}.conllu.gz") for part in ("train", "test")))


def tagged_words(path: Path) -> Iterator[tuple[str, str]]:
    """The distinct words of a treebank, each with its most frequent part of speech."""
    tags: dict[str, Counter[str]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            cells = line.split("\t")
            if len(cells) == 10 and cells[3] not in ("PUNCT", "SYM", "NUM", "X", "_"):
                tags.setdefault(cells[1], Counter())[cells[3]] += 1
    for word, found in tags.items():
        yield found.most_common(1)[0][0], word


def words_of_language(code: str) -> Split:
    """The test has only words that the training text does not have."""
    train, test = (list(tagged_words(folder("ud") / f"{code}.{part}.conllu.gz")) for part in ("train", "test"))
    known = {word for _, word in train}
    return split_of(train, [(tag, word) for tag, word in test if word not in known])


def named(name: str, about: str, load: Callable[[], Split]) -> Dataset[Split]:
    return Dataset(name, about, cache(load))


SETS = [
    named("IMDb", "film reviews, their sentiment", imdb),
    named("20 Newsgroups", "messages with headers, their group", newsgroups),
    named("Newsgroups, 600 rows", "the first 30 messages of each group", few_newsgroups),
    named("subject lines", "of the same messages", partial(newsgroups, subject)),
    named("kitchen", "product reviews, their sentiment", partial(of_suite, "amazon_kitchen", "text")),
    named("polarity", "sentences of film reviews", partial(of_suite, "polarity", "text")),
    named("tweets", "to airlines, their sentiment", partial(of_suite, "airline_raw", "text", "airline_sentiment")),
    named("SMS", "messages, spam or not", sms),
    named("questions", "and the kind of answer that they ask for", partial(of_suite, "trec6", "text")),
    named("EWT", "sentences of English texts of the web, by the kind of text", ewt),
    named("hotels", "Chinese reviews, their sentiment", partial(of_suite, "chn_hotel", "review")),
    named("first names", "female or male", partial(of_suite, "names", "name")),
    named("opinion words", "positive or negative words", opinion_words),
    named("Basque words", "their part of speech", partial(words_of_language, "eu")),
    named("Hungarian words", "their part of speech", partial(words_of_language, "hu")),
    named("Gothic words", "their part of speech", partial(words_of_language, "got")),
]


# ---- contestants


def plain(split: Split) -> Any:
    import markone

    return markone.train(split.train, target=split.train_labels.tolist()).predict(split.test)


def by_pipeline(make: Callable[[], Any], split: Split) -> Any:
    return make().fit(split.train, split.train_labels).predict(split.test)


WORDS = {"token_pattern": TOKEN.pattern, "ngram_range": (1, 2)}
CHARACTERS = {"analyzer": "char_wb", "ngram_range": (2, 5)}


class BayesWeights(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Binary features times the log ratios of naive Bayes for each class against the others (Wang and Manning 2012)."""

    def __init__(self, positive: Any) -> None:
        self.positive = positive

    def fit(self, rows: Any, labels: Any) -> BayesWeights:
        inside = np.asarray(labels) == self.positive
        p, q = (1 + np.asarray(rows[which].sum(axis=0)).ravel() for which in (inside, ~inside))
        self.ratios = np.log((p / p.sum()) / (q / q.sum()))
        return self

    def transform(self, rows: Any) -> Any:
        return rows.multiply(self.ratios).tocsr()


def nb_svm(split: Split) -> Any:
    """With more than two classes, a linear SVM for each class against the others."""
    vectorizer = CountVectorizer(binary=True, token_pattern=TOKEN.pattern, ngram_range=(1, 3))
    train, test = vectorizer.fit_transform(split.train), vectorizer.transform(split.test)
    classes = np.unique(split.train_labels)
    if len(classes) == 2:
        return classes[(bayes_scores(classes[1], train, split.train_labels, test) > 0).astype(int)]
    return classes[np.argmax([bayes_scores(one, train, split.train_labels, test) for one in classes], axis=0)]


def bayes_scores(positive: Any, train: Any, labels: Any, test: Any) -> Any:
    weigh, svm = BayesWeights(positive), LinearSVC(C=0.1)
    svm.fit(weigh.fit_transform(train, labels), labels == positive)
    return svm.decision_function(weigh.transform(test))


def spaced(text: str) -> str:
    return " ".join(TOKEN.findall(text.lower()))


def vw(split: Split) -> Any:
    """Words and pairs; one against all."""
    classes, numbers = np.unique(split.train_labels, return_inverse=True)
    with tempfile.TemporaryDirectory() as place:
        train, test, model, found = (Path(place, name) for name in ("train", "test", "model", "found"))
        order = np.random.default_rng(0).permutation(len(split.train))
        rows = [f"{numbers[row] + 1} | {vw_text(split.train[row])}" for row in order]
        train.write_text("\n".join(rows) + "\n", encoding="utf-8")
        test.write_text("".join(f"1 | {vw_text(text)}\n" for text in split.test), encoding="utf-8")
        options = f"--oaa {len(classes)} --loss_function logistic --ngram 2 -b 24 --passes 10 -c -k --holdout_off"
        vowpal_wabbit.run(options, d=train, f=model, cache_file=Path(place, "cache"))
        vowpal_wabbit.run("-t", d=test, i=model, p=found)
        return classes[np.loadtxt(found).astype(int) - 1]


def vw_text(text: str) -> str:
    """It gives : and | a meaning."""
    return spaced(text).replace(":", ";").replace("|", "/")


def fast_text(split: Split) -> Any:
    """Words and pairs, with or without parts of words. It has the way that is best on held-out training rows."""
    rows = np.random.default_rng(0).permutation(len(split.train))[:FEW]
    middle = len(rows) * 4 // 5
    learned, tested = rows[:middle], rows[middle:]

    def accuracy(way: tuple[float, int]) -> float:
        found = fast_text_by(
            way, [split.train[row] for row in learned], split.train_labels[learned], split.train, tested
        )
        return float((found == split.train_labels[tested]).mean())

    return fast_text_by(max(WAYS, key=accuracy), split.train, split.train_labels, split.test, range(len(split.test)))


def fast_text_by(way: tuple[float, int], texts: Any, labels: Any, others: Any, rows: Iterable[int]) -> Any:
    """The labels that fastText predicts for some of the others."""
    import fasttext

    rate, longest = way
    shortest = min(2, longest)
    classes, numbers = np.unique(labels, return_inverse=True)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "train")
        order = np.random.default_rng(0).permutation(len(texts))  # it does not shuffle
        lines = [f"__label__{numbers[row]} {spaced(texts[row])}" for row in order]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        model = fasttext.train_supervised(
            str(path),
            epoch=max(25, FEWEST_EXAMPLES // len(texts)),
            lr=rate,
            wordNgrams=2,
            minn=shortest,
            maxn=longest,
            dim=50,
            bucket=500_000,
            thread=1,
            verbose=0,
        )
    found = [model.f.predict(f"{spaced(others[row])}\n", 1, 0.0, "strict") for row in rows]
    return classes[[int(one[0][1].removeprefix("__label__")) if one else 0 for one in found]]


SUITE = Suite(
    "texts",
    SETS,
    [
        Contestant("Markone", "`markone.train(texts, target=labels)` without any setting", plain),
        Contestant(
            "tf-idf + SVM",
            "scikit-learn's LinearSVC on sublinear tf-idf of words and pairs of words",
            partial(by_pipeline, lambda: make_pipeline(TfidfVectorizer(sublinear_tf=True, **WORDS), LinearSVC())),
        ),
        Contestant(
            "characters + SVM",
            "the same on n-grams of 2 to 5 characters within words",
            partial(by_pipeline, lambda: make_pipeline(TfidfVectorizer(sublinear_tf=True, **CHARACTERS), LinearSVC())),
        ),
        Contestant(
            "logistic regression",
            "scikit-learn's LogisticRegression with C=10 on tf-idf of words and pairs of words",
            partial(
                by_pipeline,
                lambda: make_pipeline(
                    TfidfVectorizer(sublinear_tf=True, **WORDS), LogisticRegression(C=10, max_iter=1000)
                ),
            ),
        ),
        Contestant("NB-SVM", "binary n-grams of up to three words times the log ratios of naive Bayes, C=0.1", nb_svm),
        Contestant("VW", "words and pairs of words, logistic loss, 10 passes", vw, "vowpalwabbit"),
        Contestant(
            "fastText",
            "pairs of words, 25 passes or more; rate and subwords (2 to 5 characters or none) as training rows say",
            fast_text,
            "fasttext",
        ),
    ],
)
