"""Topics on what naive Bayes assumes: independent features, and a model of each class that can be sampled from."""

from __future__ import annotations

import math
import random

import numpy as np
from numpy.typing import NDArray

from markone import reference
from markone.lectures.bayes import TINY, tiny_bayes, tiny_table
from markone.lectures.mail import CLASSES, HAM, SPAM, bag, counts_of, messages, table_of
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid

# ---- the assumption


def show_independence() -> Shown:
    of_spam = [set(message.text.split()) for message in TINY if message.label == SPAM]
    pairs = [("free", "money"), ("free", "meeting"), ("money", "now"), ("offer", "now")]
    rows, together, apart = [], [], []
    for a, b in pairs:
        single = [sum(word in words for words in of_spam) / len(of_spam) for word in (a, b)]
        both = sum({a, b} <= words for words in of_spam) / len(of_spam)
        together.append(both)
        apart.append(math.prod(single))
        rows.append([f"{a}, {b}", *(f"{p:.2f}" for p in (*single, apart[-1], both))])
    table = Grid([["words x1, x2", "P(x1|spam)", "P(x2|spam)", "product", "P(x1, x2|spam)"]], rows)
    bayes = tiny_bayes()
    texts = ["free money meeting", "meeting money free"]
    found = [float(bayes.posterior(bag(text))[SPAM]) for text in texts]
    lines = [f"P(spam | {text}) = {p:.3f}" for text, p in zip(texts, found, strict=True)]
    return Shown(
        f"{table}\nThe last two columns would be equal if the words were independent.\n" + "\n".join(lines),
        (
            Chart(
                (
                    Bars(
                        [f"{a}, {b}: {kind}" for a, b in pairs for kind in ("product", "counted")],
                        [p for both in zip(apart, together, strict=True) for p in both],
                    ),
                ),
                title="Probability of both words in spam: by the assumption, and counted",
            ),
        ),
    )


# ---- features that are copies of each other

COPIES = (1, 2, 4, 8)
TRAINING, TEST = 2000, 4000


def scores_of_students(count: int, copies: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return features of students and whether they pass. The first feature, an earlier score, has noisy copies."""
    chance = np.random.default_rng(seed)
    passes = chance.random(count) < 0.5
    earlier = chance.normal(np.where(passes, 0.6, -0.6), 1.0)
    sleep, age = (chance.normal(np.where(passes, shift, -shift), 1.0) for shift in (0.6, 0.1))
    copied = [earlier + chance.normal(0, 0.05, count) for _ in range(copies - 1)]
    return np.column_stack([earlier, sleep, age, *copied]), passes.astype(np.int64)


def calibration(p: NDArray[np.float64], y: NDArray[np.int64], bins: int = 10) -> tuple[list[float], list[float], float]:
    """Return the mean predicted probability and the share of the class in each bin, and their mean distance."""
    places = np.minimum((p * bins).astype(int), bins - 1)
    said, true, error = [], [], 0.0
    for place in range(bins):
        inside = places == place
        if inside.any():
            said.append(float(p[inside].mean()))
            true.append(float(y[inside].mean()))
            error += abs(said[-1] - true[-1]) * float(inside.mean())
    return said, true, error


def both_on_copies(copies: int) -> dict[str, tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Return the probabilities of naive Bayes and of logistic regression on test rows, and the labels."""
    from markone import LogisticRegression, NaiveBayes

    X, y = scores_of_students(TRAINING, copies, seed=1)
    test, truth = scores_of_students(TEST, copies, seed=2)
    models = {"naive Bayes": NaiveBayes("gaussian"), "logistic": LogisticRegression(C=1.0)}
    return {name: (model.fit(X, y).predict_proba(test)[:, 1], truth) for name, model in models.items()}


def show_correlated() -> Shown:
    rows, last = [], {}
    for copies in COPIES:
        last = both_on_copies(copies)
        cells = [str(copies)]
        for p, truth in last.values():
            accuracy = float(((p > 0.5) == truth).mean())
            cells += [f"{accuracy:.3f}", f"{calibration(p, truth)[2]:.3f}"]
        rows.append(cells)
    head = [
        ["", "naive Bayes", "naive Bayes", "logistic", "logistic"],
        ["copies of a feature", "accuracy", "calibration error", "accuracy", "calibration error"],
    ]
    curves = {name: calibration(p, truth) for name, (p, truth) in last.items()}
    parts = [Line([0, 1], [0, 1], "calibrated", 2, dashed=True)]
    marks = [Points(said, true, name, i) for i, (name, (said, true, _)) in enumerate(curves.items())]
    return Shown(
        f"{Grid(head, rows)}\nThe calibration error is the mean distance between the predicted probability and\n"
        "the share of rows that really belong to the class.",
        (
            Chart(
                (*parts, *marks),
                title=f"Calibration with {COPIES[-1]} copies: predicted probability and truth",
                x="predicted P(pass)",
                y="share that passed",
                limits=(0, 1, 0, 1),
            ),
        ),
    )


def students() -> Table:
    X, y = scores_of_students(TRAINING, COPIES[-1], seed=1)
    names = ["score", "sleep", "age", *(f"score{i}" for i in range(2, COPIES[-1] + 1))]
    return Table(
        [*names, "label"],
        [[*(f"{v:.3f}" for v in row), "pass" if passed else "fail"] for row, passed in zip(X, y, strict=True)],
    )


# ---- generative and discriminative

SAMPLES, LENGTH = 3, 9


def show_generative() -> Shown:
    some = messages(300, seed=3)
    vocabulary, _ = counts_of(some)
    bayes = reference.NaiveBayes(CLASSES, vocabulary)
    bayes.learn((bag(message.text), message.label, 1) for message in some)
    chance = random.Random(0)
    lines = []
    for label in CLASSES:
        (table,) = bayes.draws(label)
        for _ in range(SAMPLES):
            words = chance.choices([*map(str, table)], [float(p) for p in table.values()], k=LENGTH)
            lines.append(f"{label:<5} {' '.join(words)}")
    text = "free money for the meeting"
    joint, posterior = bayes.joint(bag(text)), bayes.posterior(bag(text))
    rows = []
    for label in CLASSES:
        prior, both = bayes.prior(label), joint[label]
        numbers = [f"{float(p):.3g}" for p in (prior, both / prior, both)]
        rows.append([label, *numbers, f"{float(posterior[label]):.3f}"])
    table_text = Grid([["class c", "prior P(c)", "likelihood P(d|c)", "product", "P(c|d)"]], rows)
    draws = {label: bayes.draws(label)[0] for label in CLASSES}
    telling = sorted(vocabulary, key=lambda word: -abs(math.log(draws[SPAM][word] / draws[HAM][word])))[:10]
    return Shown(
        f"Words drawn from the naive Bayes model of {len(some)} made e-mails:\n" + "\n".join(lines) + f"\n\n"
        f"d = “{text}”\n{table_text}",
        (
            Chart(
                (Bars(telling, [float(math.log(draws[SPAM][word] / draws[HAM][word])) for word in telling]),),
                title="What distinguishes the classes: ln P(w|spam) / P(w|ham)",
            ),
        ),
    )


def mail_table() -> Table:
    return table_of(messages(300, seed=3))


RINGS = 500


def odd_shapes(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return points of two classes with odd distributions, which a line separates."""
    chance = np.random.default_rng(seed)
    y = chance.integers(0, 2, count)
    along = chance.uniform(-3, 3, count)
    clump = chance.choice([0.0, 0.4, 4.0], count, p=[0.6, 0.3, 0.1])
    away = 0.15 + np.abs(np.sin(2 * along)) * 0.5 + clump + chance.exponential(0.3, count)
    side = np.where(y == 1, 1.0, -1.0)
    along = along + np.where(clump > 1, 2.0 * side, 0.0)
    return np.column_stack([along, 0.5 * along + side * away * np.where(y == 1, 1.0, 0.4)]), y


def show_visual() -> Shown:
    from markone import LogisticRegression, NaiveBayes

    X, y = odd_shapes(RINGS, seed=4)
    test, truth = odd_shapes(4 * RINGS, seed=5)
    generative, discriminative = NaiveBayes("gaussian").fit(X, y), LogisticRegression(C=100.0).fit(X, y)
    rows = [
        ["generative: naive Bayes (a normal distribution)", f"{float(generative.score(test, truth)):.3f}"],
        ["discriminative: logistic regression", f"{float(discriminative.score(test, truth)):.3f}"],
    ]
    (a, b), c = discriminative.coef_[0].tolist(), float(discriminative.intercept_[0])
    ends = [-5.0, 5.0]
    shown = X[:160]
    groups = [shown[y[:160] == k] for k in (1, 0)]
    return Shown(
        str(Grid([["model", "accuracy on new points"]], rows)),
        (
            Chart(
                (
                    Line(ends, [-(a * x + c) / b for x in ends], "logistic regression", 2),
                    *(
                        Points(g[:, 0].tolist(), g[:, 1].tolist(), name, i)
                        for i, (g, name) in enumerate(zip(groups, ("+1", "-1"), strict=True))
                    ),
                ),
                title="Odd distributions, but a simple boundary",
                x="x1",
                y="x2",
                limits=(-5, 5, -5, 8),
            ),
        ),
    )


def odd_table() -> Table:
    X, y = odd_shapes(RINGS, seed=4)
    return Table(
        ["x1", "x2", "label"], [[f"{a:.3f}", f"{b:.3f}", f"{2 * k - 1:+d}"] for (a, b), k in zip(X, y, strict=True)]
    )


TOPICS = (
    Topic(
        name="independence",
        title="Naïve Bayes recap: features independent given a class",
        claim="Naive Bayes ignores the order of the words, and assumes that features are independent given the class: "
        "P(x1, ..., xn | c) = P(x1|c) ··· P(xn|c). Here both are checked on six short messages.",
        show=show_independence,
        question="Is the assumption of independence really true?",
        answer="No: here “free” and “money” occur together in spam more often than the product says, and “free” never "
        "occurs with “meeting”. Naive Bayes can predict the right class nevertheless, because only the largest "
        "posterior matters.",
        terms=("naive Bayes", "bag of words", "order independent", "conditional independence"),
        data=tiny_table,
        commands=("markone train {data} --target label --rule naive-bayes",),
    ),
    Topic(
        name="correlated",
        title="Correlated features: double counting evidence",
        claim="Naive Bayes estimates each feature alone, so it counts the evidence of correlated features again and "
        "again. This hurts its accuracy and its calibration. Logistic regression learns all weights jointly and "
        "shares the weight among the copies. The made data predict whether a student passes a test.",
        show=show_correlated,
        question="With eight copies, how should you read a probability of 0.99 from naive Bayes?",
        answer="As “rather likely” only: the copies multiply the same evidence, so its probabilities are near 0 or 1 "
        "although it is often wrong. Calibrate it on held-out rows, or use logistic regression.",
        terms=("double counting", "correlated features", "calibration", "logistic regression", "test scores"),
        data=students,
        commands=(
            "markone validate {data} --target label --rule naive-bayes",
            "markone validate {data} --target label --rule logistic",
        ),
    ),
    Topic(
        name="sampling",
        title="Generative vs. discriminative models",
        claim="A generative model knows the likelihood P(d|c): how to generate the features of a document of class c. "
        "So it can be sampled from. A discriminative model computes P(c|d) directly, and its parameters do not help "
        "to generate an example.",
        show=show_generative,
        question="Why do the sampled messages look like spam or ham, but are not sentences?",
        answer="Their words have the right frequencies, but each one is drawn alone: the model knows no order, and no "
        "word depends on another.",
        terms=("generative", "discriminative", "likelihood", "prior", "posterior", "joint distribution"),
        data=mail_table,
        commands=("markone train {data} --target label --rule naive-bayes", "markone compare {data} --target label"),
    ),
    Topic(
        name="visual",
        title="Generative vs. discriminative: visual example",
        claim="It can be hard to model the distribution that produced the points of each class, and easy to "
        "distinguish the classes. Here naive Bayes fits a normal distribution for each class and feature, and "
        "logistic regression fits only a line.",
        show=show_visual,
        question="Why does naive Bayes fail here although a line separates the classes?",
        answer="The few points far away widen its normal distributions, and x1 and x2 are correlated in both classes. "
        "A discriminative model does not model where the points are, only on which side of the line.",
        terms=("generative", "discriminative", "linear classification", "decision boundary"),
        data=odd_table,
        commands=(
            "markone train {data} --target label --rule naive-bayes",
            "markone train {data} --target label --rule logistic",
        ),
    ),
)
"""Topics of the lecture on discriminative classification."""
