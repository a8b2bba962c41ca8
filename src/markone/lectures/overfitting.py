"""Topics on overfitting: training, held-out and test set, zero probabilities, and too few examples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.lectures.mail import CLASSES, HAM, SPAM, Message, counts_of, messages, table_of, texts_of
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid

TRAINING, OTHERS = 150, 600
SEED = 286
WORDS: dict[str, Any] = {"text": {"words": [1, 1], "value": "count", "weight": "none", "min_count": 1}, "unit": False}
"""Words and how often they occur."""


def sets() -> tuple[list[Message], list[Message], list[Message]]:
    """Return training, held-out and test e-mails."""
    every = messages(TRAINING + 2 * OTHERS, SEED)
    return every[:TRAINING], every[TRAINING : TRAINING + OTHERS], every[TRAINING + OTHERS :]


def accuracies(strengths: Sequence[float], training: Sequence[Message], *tests: Sequence[Message]) -> list[list[float]]:
    """Return the accuracy of naive Bayes with each strength k of Laplace smoothing, on several sets."""
    from markone import read, train

    texts, labels = texts_of(training)
    source = read(texts, target=labels)
    found = []
    for k in strengths:
        model = train(source, rule="naive-bayes", k=k, features=WORDS)
        found.append([model.accuracy(*texts_of(some)) for some in (training, *tests)])
    return found


def training_table() -> Table:
    return table_of(sets()[0])


# ---- the experimentation cycle

PEEKS = 400


def show_cycle() -> Shown:
    training, held_out, test = sets()
    strengths = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
    found = accuracies(strengths, training, held_out, test)
    best = max(range(len(strengths)), key=lambda i: found[i][1])
    rows = [
        [f"{k:g}", *(f"{value:.3f}" for value in row[:2]), f"{row[2]:.3f}" if i == best else "not looked at"]
        for i, (k, row) in enumerate(zip(strengths, found, strict=True))
    ]
    chance = np.random.default_rng(0)
    truth = chance.integers(0, 2, 50)
    guesses = chance.integers(0, 2, (PEEKS, len(truth)))
    scores = (guesses == truth).mean(axis=1)
    fresh = chance.integers(0, 2, 10_000)
    return Shown(
        f"{len(training)} e-mails for training, {len(held_out)} held out, {len(test)} for the test\n"
        f"{Grid([['hyper-parameter k', 'training', 'held-out', 'test']], rows)}\n\n"
        f"What peeking does: the best of {PEEKS} classifiers that guess at random has an\n"
        f"accuracy of {scores.max():.2f} on the {len(truth)} test rows that chose it, and of "
        f"{float((chance.integers(0, 2, len(fresh)) == fresh).mean()):.2f} on new rows.",
        (
            Chart(
                tuple(
                    Line([math.log10(k) for k in strengths], [row[j] for row in found], name, j, dashed=bool(j))
                    for j, name in enumerate(("training", "held-out"))
                ),
                title="Accuracy by the strength of smoothing",
                x="log10 of k",
                y="accuracy",
            ),
        ),
    )


# ---- relative frequencies


def show_relative() -> Shown:
    training, _, test = sets()
    vocabulary, counts = counts_of(training)
    one_class = [word for word in vocabulary if 0 in (counts[HAM][word], counts[SPAM][word])]
    unseen = {word for message in test for word in message.text.split()} - {*vocabulary}
    struck = sum(zero_in_all(message, counts) for message in test)
    found = accuracies((0.0, 1.0), training, test)
    rows = [
        [name, *(f"{value:.3f}" for value in row)]
        for name, row in zip(("relative frequencies", "Laplace, k = 1"), found, strict=True)
    ]
    examples = [word for word in ("minute", "seriously", "screens", "nation", *one_class) if word in one_class][:6]
    words = [[word, str(counts[HAM][word]), str(counts[SPAM][word])] for word in dict.fromkeys(examples)]
    return Shown(
        f"{len(one_class)} of {len(vocabulary)} words occur in one class only, for example\n"
        f"{Grid([['word', 'in ham', 'in spam']], words)}\n"
        f"In {struck} of {len(test)} test messages, every class has probability 0.\n"
        f"{len(unseen)} words of the test messages were never seen in training.\n\n"
        f"{Grid([['naive Bayes', 'training', 'test']], rows)}",
        (
            Chart(
                (
                    Bars(
                        [f"{name}: {where}" for name in ("frequencies", "Laplace") for where in ("training", "test")],
                        [value for row in found for value in row],
                    ),
                ),
                title="Accuracy on training and test messages",
            ),
        ),
    )


def zero_in_all(message: Message, counts: dict[str, dict[Hashable, int]]) -> bool:
    """Whether, by relative frequencies, each class has a probability of 0 for some word of the message."""
    seen = [word for word in message.text.split() if any(counts[label].get(word, 0) for label in CLASSES)]
    return all(any(not counts[label].get(word, 0) for word in seen) for label in CLASSES)


# ---- the whole e-mail as one feature


def pairs_of(text: str) -> list[str]:
    """
    >>> pairs_of("win the vote")
    ['win the', 'the vote']
    """
    return [f"{a} {b}" for a, b in itertools.pairwise(text.split())]


FEATURES: dict[str, Callable[[str], list[str]]] = {
    "the whole e-mail": lambda text: [text],
    "pairs of words": pairs_of,
    "words": str.split,
}


def table_with(known: Sequence[str], found: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Return how often each known feature occurs in each row. Other features are ignored."""
    numbers = {feature: i for i, feature in enumerate(known)}
    table = np.zeros((len(found), len(known)))
    for row, features in enumerate(found):
        for feature in features:
            if feature in numbers:
                table[row, numbers[feature]] += 1
    return table


def show_whole() -> Shown:
    from markone import NaiveBayes

    training, _, test = sets()
    rows, bars = [], []
    for name, features in FEATURES.items():
        made = [[features(message.text) for message in some] for some in (training, test)]
        known = [*{feature: None for row in made[0] for feature in row}]
        tables = [table_with(known, found) for found in made]
        labels = [texts_of(some)[1] for some in (training, test)]
        model = NaiveBayes("multinomial").fit(tables[0], labels[0])
        found = [float(model.score(table, truth)) for table, truth in zip(tables, labels, strict=True)]
        bars += found
        rows.append([name, *(f"{value:.3f}" for value in found), f"{tables[1].any(axis=1).mean():.1%}"])
    most = max(np.mean([message.label == label for message in test]) for label in CLASSES)
    return Shown(
        f"{Grid([['features', 'training', 'test', 'test messages with a known feature']], rows)}\n"
        f"Always answering the more frequent class has a test accuracy of {most:.3f}.",
        (
            Chart(
                (Bars([f"{name}: {where}" for name in FEATURES for where in ("training", "test")], bars),),
                title="Accuracy on training and test messages",
            ),
        ),
    )


# ---- too few examples

LESSONS = (10, 20, 40, 80, 160, 320, 640)


def show_few() -> Shown:
    every, test = messages(LESSONS[-1], SEED + 1), messages(OTHERS, SEED + 2)
    curve = [accuracies((1.0,), every[:size], test)[0] for size in LESSONS]
    rows = [[str(size), *(f"{v:.3f}" for v in both)] for size, both in zip(LESSONS, curve, strict=True)]
    sizes = [math.log2(size) for size in LESSONS]
    return Shown(
        str(Grid([["training messages", "training", "test"]], rows)),
        (
            Chart(
                tuple(
                    Line(sizes, [both[j] for both in curve], name, j, dashed=not j)
                    for j, name in enumerate(("training", "test"))
                ),
                title="Learning curve",
                x="log2 of the training messages",
                y="accuracy",
            ),
        ),
    )


def many_table() -> Table:
    return table_of(messages(LESSONS[-1], SEED + 1))


def regions(count: int, seed: int, below: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return points whose class changes at x1 = 0 above and at x1 = 1.5 below; `below` is the share of low points."""
    chance = np.random.default_rng(seed)
    low = chance.random(count) < below
    x1, x2 = chance.uniform(-2, 2, count), np.where(low, chance.uniform(-2, 0, count), chance.uniform(0, 2, count))
    return np.column_stack([x1, x2]).round(3), (x1 > np.where(low, 1.5, 0.0)).astype(np.int64)


def show_region() -> Shown:
    from sklearn.neighbors import KNeighborsClassifier

    test, truth = regions(2000, 5, 0.5)
    rows = []
    for below in (0.05, 0.5):
        X, y = regions(80, 3, below)
        model = KNeighborsClassifier(3).fit(X, y)
        right = model.predict(test) == truth
        low = test[:, 1] < 0
        counts = [int((X[:, 1] < 0).sum()), int((X[:, 1] >= 0).sum())]
        rows.append([f"{counts[1]} above, {counts[0]} below", f"{right[~low].mean():.3f}", f"{right[low].mean():.3f}"])
    X, y = regions(80, 3, 0.05)
    return Shown(
        str(Grid([["training points", "accuracy above", "accuracy below"]], rows))
        + "\nThe classifier asks the three nearest training points.",
        (
            Chart(
                (
                    Line([0, 0, 1.5, 1.5], [2, 0, 0, -2], "true boundary", 2),
                    *(
                        Points(X[y == k, 0].tolist(), X[y == k, 1].tolist(), f"class {k}", i)
                        for i, k in enumerate((1, 0))
                    ),
                ),
                title="Hardly any points in the lower half",
                x="x1",
                y="x2",
                limits=(-2.1, 2.1, -2.1, 2.1),
            ),
        ),
    )


def region_table() -> Table:
    X, y = regions(80, 3, 0.05)
    return Table(["x1", "x2", "label"], [[*row, f"class {k}"] for row, k in zip(X.tolist(), y, strict=True)])


TOPICS = (
    Topic(
        name="training-and-testing",
        title="Important concepts: training, held out and test set",
        claim="Learn the parameters on the training set, tune hyper-parameters on the held-out set, and compute the "
        "accuracy, the share of instances predicted correctly, on the test set. Never peek at the test set.",
        show=show_cycle,
        question="Why must the hyper-parameter not be tuned on the training set?",
        answer="The least smoothing fits the training set best, so the training set would always choose it. On "
        "held-out messages it is not the best.",
        terms=("training set", "held out set", "test set", "accuracy", "hyper-parameter", "experimentation cycle"),
        data=training_table,
        commands=("markone train {data} --target label --rule naive-bayes --tune",),
    ),
    Topic(
        name="relative-frequencies",
        title="Generalization and overfitting: relative frequencies",
        claim="Relative frequencies overfit the training data: a word that was never seen in one class gets the "
        "probability 0 there, however spam-like the rest of the message is.",
        show=show_relative,
        question="What about words that do not occur in the training set at all?",
        answer="By relative frequencies they are impossible in both classes, so nothing could be predicted. They must "
        "be ignored, or smoothed like all others.",
        terms=("overfitting", "generalization", "relative frequency", "zero probability", "unseen events"),
        data=training_table,
        commands=(
            "markone validate {data} --target label --rule naive-bayes --k 0",
            "markone validate {data} --target label --rule naive-bayes --k 1",
        ),
    ),
    Topic(
        name="whole-email",
        title="Overfitting: the entire email as the only feature",
        claim="With the whole e-mail as the only feature, the training data are predicted perfectly, and nothing is "
        "learned about any other e-mail. The bag of words gives some generalisation.",
        show=show_whole,
        question="What does the classifier answer for a new e-mail if the whole e-mail is the only feature?",
        answer="It knows nothing about it, so the prior decides: always the more frequent class.",
        terms=("overfitting", "generalize", "deterministic labeling", "bag of words"),
        data=training_table,
        commands=("markone validate {data} --target label --rule naive-bayes",),
    ),
    Topic(
        name="few-examples",
        title="Learning curve: accuracy by the number of examples",
        claim="With few examples the training accuracy is high and the test accuracy is low. With more examples they "
        "come closer to each other.",
        show=show_few,
        question="How many more messages would be needed to close the gap?",
        answer="The gap shrinks with each doubling, and slower each time: read it from the curve. The two lines meet "
        "at what the model can achieve at best.",
        terms=("learning curve", "insufficient examples", "overfitting", "number of training records"),
        data=many_table,
        commands=("markone validate {data} --target label --rule naive-bayes --folds 3",),
    ),
    Topic(
        name="empty-region",
        title="Overfitting due to insufficient examples in a region",
        claim="Where a region has hardly any training points, a classifier has to use points from elsewhere, which may "
        "be irrelevant there. It then predicts the region wrongly although it is right elsewhere.",
        show=show_region,
        question="How could you notice this without knowing the true boundary?",
        answer="Not by the accuracy on held-out points of the same sample: they lack the region as well. Look at how "
        "many training points are near each new point.",
        terms=("insufficient examples", "lack of data points", "region", "nearest neighbour"),
        data=region_table,
        commands=("markone compare {data} --target label",),
    ),
)
"""Topics of the lecture on learning and generalisation."""
