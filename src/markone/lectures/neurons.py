"""Topics on the neuron and the classes of the third lecture: thresholds, AND, several classes, and a mistake bound."""

from __future__ import annotations

import itertools
import json
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from markone import reference
from markone.lectures.activations import SPAM
from markone.lectures.mail import bag
from markone.lectures.multiclass import counted
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid, plain_number

# ---- a neuron

SYNAPSES = {"a, excitatory, strong": 0.9, "b, excitatory, weak": 0.3, "c, inhibitory": -0.7}
THRESHOLD = 0.5


def show_neuron() -> Shown:
    rows, signals = [], []
    for active in itertools.product((0, 1), repeat=len(SYNAPSES)):
        signal = sum(weight * on for weight, on in zip(SYNAPSES.values(), active, strict=True))
        signals.append(signal)
        rows.append([" ".join(map(str, active)), f"{signal:.1f}", "fires" if signal > THRESHOLD else ""])
    names = [f"synapse {name}: {weight:+}" for name, weight in SYNAPSES.items()]
    fires = [signal > THRESHOLD for signal in signals]
    return Shown(
        "\n".join(names) + f"\nthreshold: {THRESHOLD}\n\n{Grid([['inputs a b c', 'signal', '']], rows)}",
        (
            Chart(
                (
                    Line([0.5, len(rows) + 0.5], [THRESHOLD, THRESHOLD], "threshold", 2, dashed=True),
                    *(
                        Points(
                            [i + 1.0 for i, fired in enumerate(fires) if fired == wanted],
                            [signal for signal, fired in zip(signals, fires, strict=True) if fired == wanted],
                            name,
                            number,
                        )
                        for number, (wanted, name) in enumerate(((True, "fires"), (False, "does not fire")))
                    ),
                ),
                title="The neuron fires above its threshold only",
                x="combination of inputs",
                y="signal",
            ),
        ),
    )


# ---- AND and XOR

AND_WEIGHTS = (-1.5, 1.0, 1.0)
CORNERS = [*itertools.product((0, 1), repeat=2)]


def show_and() -> Shown:
    from markone import certify

    w0, w1, w2 = AND_WEIGHTS
    sums = [w0 + w1 * a + w2 * b for a, b in CORNERS]
    rows = [
        [f"{a}, {b}", str(a & b), f"{total:+.1f}", "1" if total > 0 else "0", str(a ^ b)]
        for (a, b), total in zip(CORNERS, sums, strict=True)
    ]
    proof = certify([list(map(float, corner)) for corner in CORNERS], [a ^ b for a, b in CORNERS])
    found = certify([list(map(float, corner)) for corner in CORNERS], [a & b for a, b in CORNERS])
    ends = [-0.5, 1.5]
    return Shown(
        f"{Grid([['x1, x2', 'AND', '-1.5 + x1 + x2', 'output', 'XOR']], rows)}\n"
        f"AND: {str(found).splitlines()[0]}\nXOR: {str(proof).splitlines()[0]}",
        (
            Chart(
                (
                    Line(ends, [(-w0 - w1 * x) / w2 for x in ends], "-1.5 + x1 + x2 = 0", 2),
                    Points([1], [1], "AND = 1", 0),
                    Points([0, 0, 1], [0, 1, 0], "AND = 0", 1),
                ),
                title="The line of AND",
                x="x1",
                y="x2",
                limits=(-0.5, 1.5, -0.5, 1.5),
                square=True,
            ),
        ),
    )


def and_table() -> Table:
    return Table(["x1", "x2", "and", "xor"], [[a, b, a & b, a ^ b] for a, b in CORNERS])


# ---- classes


def show_binary() -> Shown:
    texts = ("free money", "money", "free", "hello", "money money money")
    zero: reference.Vector = dict.fromkeys(SPAM, 0)
    rows, scores = [], []
    for text in texts:
        x: reference.Vector = {"BIAS": 1, **bag(text)}
        spam, ham = (reference.dot(w, x) for w in (SPAM, zero))
        binary = "spam" if spam > 0 else "ham"
        multi = max((("spam", spam), ("ham", ham)), key=lambda pair: (pair[1], pair[0] == "ham"))[0]
        scores.append(float(spam))
        rows.append([text, plain_number(spam), binary, plain_number(spam), plain_number(ham), multi])
    head = [
        ["", "binary", "", "multiclass", "", ""],
        ["text", "w·x", "sign", "w_spam·x", "w_ham·x", "highest score"],
    ]
    return Shown(str(Grid(head, rows)), (Chart((Bars(texts, scores),), title="w·x: spam if it is greater than 0"),))


HEADLINES = (("win the vote", "POLITICS"), ("win the election", "POLITICS"), ("win the game", "SPORTS"))
CLASSES = ("SPORTS", "POLITICS", "TECH")
VOCABULARY = ("BIAS", "win", "game", "vote", "the", "election")


def headline_run() -> list[tuple[str, list[int], str, list[dict[Hashable, int]]]]:
    """Return each headline with its scores, the predicted class, and the weights of each class afterwards."""
    learner = reference.Learner(len(CLASSES), tie="negative", bias=False, w={0: {"BIAS": 1}, 1: {}, 2: {}})
    found = []
    for text, right in HEADLINES:
        x: reference.Vector = dict.fromkeys(["BIAS", *text.split()], 1)
        scores, said = learner.scores(x), CLASSES[learner.predict(x)]
        learner.learn([(x, CLASSES.index(right), 1)])
        found.append((text, scores, said, [dict(learner.w[k]) for k in range(len(CLASSES))]))
    return found


def show_headlines() -> Shown:
    run = headline_run()
    rows = [
        [text, right, *map(str, scores), said if said == right else f"{said}, wrong"]
        for (text, scores, said, _), (_, right) in zip(run, HEADLINES, strict=True)
    ]
    final = run[-1][3]
    table = [[word, *(str(weights.get(word, 0)) for weights in final)] for word in VOCABULARY]
    bars = {f"{CLASSES[k]}: {word}": final[k].get(word, 0) for k in (0, 1) for word in VOCABULARY}
    return Shown(
        f"{Grid([['headline', 'right', *CLASSES, 'predicted']], rows)}\n\n"
        f"The weights afterwards\n{Grid([['feature', *CLASSES]], table)}",
        (Chart((Bars([*bars], [*bars.values()]),), title="The weights after the three headlines"),),
    )


def headline_table() -> Table:
    """Return the headlines with the counts of their words, which are the features."""
    return counted([(label, text) for text, label in HEADLINES])


def headline_start() -> dict[str, str]:
    """Return the file with the first weights."""
    return {"start": json.dumps({CLASSES[0]: {"BIAS": 1}}) + "\n"}


# ---- the mistake bound

BITS, ORDERS = 8, 30


def bit_rows(seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return rows of on/off features, the first always on, and labels by a vote of three of them."""
    chance = np.random.default_rng(seed)
    X = chance.integers(0, 2, (60, BITS)).astype(float)
    X[:, 0] = 1.0
    return X, np.where(X[:, 1:4].sum(axis=1) >= 2, 1, -1)


def show_bound() -> Shown:
    from markone import certify

    X, y = bit_rows()
    delta = float(certify(X, y, bias=False).bracket[0])
    examples = [(dict(enumerate(x)), int(label > 0), 1) for x, label in zip(X.tolist(), y, strict=True)]
    counts = []
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(len(y))
        learner = reference.Learner(2, bias=False)
        mistakes: list[int] = []
        while not mistakes or mistakes[-1]:
            mistakes.append(learner.learn([examples[i] for i in order]).mistakes)
        counts.append(sum(mistakes))
    bound = BITS / delta**2
    rows = [
        ["features k, all 0 or 1, so that |x|² ≤ k", str(BITS)],
        ["best margin δ of a plane with |w| = 1", f"{delta:.4f}"],
        ["bound k / δ²", f"{bound:.1f}"],
        [f"mistakes in {len(counts)} random orders: fewest", str(min(counts))],
        ["most", str(max(counts))],
    ]
    return Shown(
        str(Grid([["", ""]], rows)).lstrip("\n"),
        (
            Chart(
                (
                    Points([float(i) for i in range(len(counts))], [*map(float, counts)], "mistakes", 0),
                    Line([0, len(counts)], [bound, bound], "k / δ²", 1, dashed=True),
                ),
                title="Mistakes until convergence, and the bound",
                x="order",
                y="mistakes",
                limits=(-1, len(counts), 0, 1.1 * bound),
            ),
        ),
    )


def bit_table() -> Table:
    X, y = bit_rows()
    return Table(
        [*(f"x{i}" for i in range(BITS)), "label"],
        [[*map(int, row), f"{label:+d}"] for row, label in zip(X, y, strict=True)],
    )


"""The first topic on neurons in the lecture on learning and generalisation."""

TOPICS = (
    Topic(
        name="neuron",
        title="The structure of neurons: threshold and synapses",
        claim="A neuron fires only if its input signal exceeds a threshold. Synapses differ in strength, and are "
        "excitatory or inhibitory. In a linear classifier the inputs are feature values, synapses are weights, and "
        "the threshold is a negative bias.",
        show=show_neuron,
        question="How does the threshold become a weight?",
        answer="w·x > θ is the same as w·x - θ > 0: -θ is the weight of a feature BIAS that is always 1.",
        terms=("neuron", "threshold", "synapse", "excitatory", "inhibitory", "activation", "biological inspiration"),
    ),
    Topic(
        name="and",
        title="Decision surface of a perceptron: AND, and XOR",
        claim="AND(x1, x2) is represented by w0 = -1.5, w1 = 1, w2 = 1. Functions that are not linearly separable, "
        "such as XOR, are not representable. Both statements are proved by a certificate.",
        show=show_and,
        question="Which weights represent OR?",
        answer="For example w0 = -0.5, w1 = 1, w2 = 1: only (0, 0) stays below 0.",
        terms=("decision surface", "AND", "XOR", "representable", "linearly separable"),
        data=and_table,
        commands=(
            "markone certify {data} --target and --kinds xor=ignore",
            "markone certify {data} --target xor --kinds and=ignore",
        ),
    ),
    Topic(
        name="binary-multiclass",
        title="Binary = multiclass where the negative class is zero",
        claim="A binary classifier is a multiclass classifier with two weight vectors of which that of the negative "
        "class is zero: w·x > 0 says the same as w_spam·x > w_ham·x = 0.",
        show=show_binary,
        question="What if both classes have vectors u and v that are not zero?",
        answer="Only the difference matters: u·x > v·x is (u - v)·x > 0, so w = u - v is the binary classifier.",
        terms=("binary decision rule", "multiclass decision rule", "weight zero", "highest score wins"),
    ),
    Topic(
        name="win-the-vote",
        title="Example: multiclass perceptron, “win the vote”",
        claim="SPORTS starts with BIAS 1, and all other weights are 0. Three headlines are fed in. If a wrong class "
        "wins, its features are subtracted from its vector and added to the vector of the right class.",
        show=show_headlines,
        question="Why do the weights of TECH stay 0?",
        answer="TECH is never the right class and never wins, so no update involves it.",
        terms=("multiclass perceptron", "win the election", "win the game", "weight vector", "learning"),
        data=headline_table,
        files=headline_start,
        commands=(
            "markone trace {data} --target label --kinds text=ignore --classes SPORTS,POLITICS,TECH --start {start} "
            "--tie negative --epochs 1 --no-average",
        ),
    ),
    Topic(
        name="k-over-delta",
        title="Properties of perceptrons: at most k / δ² mistakes",
        claim="On separable data the number of mistakes is at most k / δ², where δ is the margin, the degree of "
        "separability, and k bounds the squared length of the examples. With k features that are 0 or 1, it is the "
        "number of features. The lecture writes “<”, but there are data on which both sides are equal: "
        "markone lecture 001 tight.",
        show=show_bound,
        question="What happens to the bound if every example is repeated ten times?",
        answer="Nothing: k and δ stay the same. The number of mistakes does not grow with the number of examples.",
        terms=("properties of perceptrons", "mistake bound", "margin", "separability", "convergence"),
        data=bit_table,
        commands=("markone certify {data} --target label --no-bias",),
    ),
)
"""More topics of the same lecture."""
