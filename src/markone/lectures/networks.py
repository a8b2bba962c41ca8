"""Topics on neural networks: the perceptron as a layer, hidden layers, and the approximation of functions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import reference
from markone.lectures.descent import EXAMPLES, HOURS, hours
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart, Line, Points
from markone.reporting.grids import Grid

Array = NDArray[np.float64]
Layer = tuple[Array, Array]
"""The weights W, inputs × outputs, and the biases b."""

XOR = [((0, 0), 0), ((0, 1), 1), ((1, 0), 1), ((1, 1), 0)]


def output(layers: Sequence[Layer], x: Array) -> Array:
    """Return g(g(xW1 + b1)W2 + b2)W3 + b3, with as many layers as there are; g is the hyperbolic tangent.

    >>> output([(np.array([[1.0], [2.0]]), np.array([-0.5]))], np.array([[1.0, 1.0]])).tolist()
    [[2.5]]
    """
    for number, (W, b) in enumerate(layers, 1):
        x = x @ W + b
        if number < len(layers):
            x = np.tanh(x)
    return x


# ---- the perceptron as a network


def show_layer() -> Shown:
    W = np.array([[-2.0, 1.0, 2.0], [4.0, 2.0, 0.0], [4.0, 0.0, 2.0], [0.0, 4.0, 0.0]])
    features, classes = ("win", "game", "vote"), ("SPORTS", "POLITICS", "TECH")
    x = np.array([[1.0, 0.0, 1.0]])
    b, inner = W[0], W[1:]
    found = output([(inner, b)], x)[0]
    rows = [[name, f"{x[0, i]:g}", *(f"{weight:g}" for weight in inner[i])] for i, name in enumerate(features)]
    last = [["b", "", *(f"{value:g}" for value in b)], ["xW + b", "", *(f"{value:g}" for value in found)]]
    return Shown(
        f"{Grid([['feature', 'x', *(f'W {name}' for name in classes)]], rows, last)}\n"
        f"x has {x.shape[1]} numbers, W is {inner.shape[0]} × {inner.shape[1]}, b has {len(b)} numbers; "
        f"the largest output is {classes[int(found.argmax())]}.",
        (Chart((Bars([*classes], found.tolist()),), title="The outputs xW + b of “win vote”"),),
    )


# ---- without the sigmoid


def show_line() -> Shown:
    x, y = (np.array(column, float) for column in zip(*HOURS, strict=True))
    slope = float((x - x.mean()) @ (y - y.mean()) / ((x - x.mean()) @ (x - x.mean())))
    start = float(y.mean() - slope * x.mean())
    weights = reference.newton(EXAMPLES, 2, 0.0)[1]
    w, b = float(weights["hours"]), float(weights[reference.BIAS])
    rows = []
    for above in (-4.0, -2.0, -0.2, 0.0, 0.2, 2.0, 4.0):
        line, p = start + slope * above, reference.sigmoid(w * above + b)
        decisions = ["pass" if value > 0.5 else "fail" for value in (line, p)]
        rows.append([f"{above:g}", f"{line:.2f}", f"{p:.2f}", *decisions])
    grid = [i / 10 for i in range(-45, 46)]
    return Shown(
        str(Grid([["hours", "line", "σ(wx + b)", "line > 0.5", "σ > 0.5"]], rows)),
        (
            Chart(
                (
                    Line(grid, [start + slope * at for at in grid], "a line", 0, dashed=True),
                    Line(grid, [reference.sigmoid(w * at + b) for at in grid], "σ(wx + b)", 1),
                    Points(x.tolist(), y.tolist(), "students", 0),
                ),
                title="A line leaves the range of probabilities, the sigmoid does not",
                x="hours of study above the mean",
                y="P(pass)",
            ),
        ),
    )


# ---- hidden layers


def xor_table() -> Table:
    return Table(["x1", "x2", "label"], [[*x, y] for x, y in XOR * 8])


def xor_models() -> dict[str, Any]:
    from markone import MLP, Perceptron

    X, y = np.array([x for x, _ in XOR], float), np.array([label for _, label in XOR])
    settings: dict[str, Any] = {
        "activation": "tanh",
        "learning_rate_init": 0.05,
        "max_iter": 400,
        "tol": None,
        "random_state": 1,
    }
    models = {
        "perceptron: xW + b": Perceptron(max_iter=400),
        "one hidden layer: g(xW1 + b1)W2 + b2": MLP((4,), **settings),
        "two hidden layers: g(g(xW1 + b1)W2 + b2)W3": MLP((4, 4), **settings),
    }
    return {name: model.fit(X, y) for name, model in models.items()}


def show_mlp() -> Shown:
    X, y = np.array([x for x, _ in XOR], float), np.array([label for _, label in XOR])
    models = xor_models()
    rows = [
        [name, *(str(guess) for guess in model.predict(X)), f"{float(model.score(X, y)):.2f}"]
        for name, model in models.items()
    ]
    names = ["".join(str(value) for value in x) for x, _ in XOR]
    network = [*models.values()][1]
    grid = np.array([*itertools.product(np.linspace(-0.3, 1.3, 60), np.linspace(-0.3, 1.3, 32))])
    inside = grid[network.predict(grid) == 1]
    return Shown(
        str(Grid([["network", *names, "accuracy"]], [["right answer", *(str(label) for label in y), ""], *rows])),
        (
            Chart(
                (
                    Points(inside[:, 0].tolist(), inside[:, 1].tolist(), "the network says 1", 5),
                    Points([0, 1], [1, 0], "XOR = 1", 0),
                    Points([0, 1], [0, 1], "XOR = 0", 1),
                ),
                title="XOR by a network with one hidden layer of four units",
                x="x1",
                y="x2",
                limits=(-0.3, 1.3, -0.3, 1.3),
            ),
        ),
    )


# ---- three models


def rings(count: int, seed: int) -> tuple[Array, NDArray[np.int64]]:
    """Return points inside and outside a circle, which no line separates."""
    chance = np.random.default_rng(seed)
    X = chance.uniform(-2, 2, (count, 2)).round(3)
    return X, (np.hypot(X[:, 0], X[:, 1]) < 1.4).astype(np.int64)


def show_three_models() -> Shown:
    from markone import MLP, LogisticRegression, NaiveBayes

    X, y = rings(400, seed=1)
    test, truth = rings(2000, seed=2)
    ways: list[tuple[str, str, Any, Any]] = [
        ("naive Bayes", "x1, x2", NaiveBayes("gaussian"), np.asarray),
        ("logistic regression", "x1, x2", LogisticRegression(), np.asarray),
        ("logistic regression", "x1², x2²", LogisticRegression(C=100.0), np.square),
        ("neural network", "x1, x2", MLP((16,), activation="tanh", learning_rate_init=0.02, tol=None), np.asarray),
    ]
    rows, networks = [], []
    for name, features, model, made in ways:
        model.fit(made(X), y)
        networks.append(model)
        rows.append([name, features, f"{float(model.score(made(test), truth)):.3f}"])
    grid = np.array([*itertools.product(np.linspace(-2, 2, 60), np.linspace(-2, 2, 32))])
    inside = grid[networks[-1].predict(grid) == 1]
    return Shown(
        f"{Grid([['model', 'given features', 'accuracy on new points']], rows)}",
        (
            Chart(
                (
                    Points(inside[:, 0].tolist(), inside[:, 1].tolist(), "the neural network says 1", 5),
                    Points(X[:60][y[:60] == 1, 0].tolist(), X[:60][y[:60] == 1, 1].tolist(), "class 1", 0),
                    Points(X[:60][y[:60] == 0, 0].tolist(), X[:60][y[:60] == 0, 1].tolist(), "class 0", 1),
                ),
                title="The network learns features from which the circle follows",
                x="x1",
                y="x2",
                limits=(-2, 2, -2, 2),
            ),
        ),
    )


def rings_table() -> Table:
    X, y = rings(400, seed=1)
    return Table(
        ["x1", "x2", "label"], [[*row, "in" if label else "out"] for row, label in zip(X.tolist(), y, strict=True)]
    )


TOPICS = (
    Topic(
        name="linear-function",
        title="Without the sigmoid it's just a linear function",
        claim="Without the sigmoid, logistic regression is a linear function: it regresses a line, or classifies by "
        "the side of a threshold. The line is a real number, not a probability: it leaves the range from 0 to 1.",
        show=show_line,
        question="Where do both decide alike?",
        answer="Nearly everywhere: both change at about the same number of hours. But only the sigmoid's number can be "
        "read as a probability.",
        terms=("linear function", "regressing a line", "sigmoid", "real number", "classification"),
        data=hours,
        commands=("markone train {data} --target label --rule logistic",),
    ),
    Topic(
        name="network",
        title="Neural networks: the perceptron as xW + b",
        claim="The simplest neural network is a perceptron: a linear model xW + b, with a weight matrix W from inputs "
        "to outputs and a bias for each output. The weights here are those of “win the vote”.",
        show=show_layer,
        question="How many numbers does a perceptron with d inputs and k outputs have?",
        answer="d·k weights and k biases; here 3·3 + 3 = 12.",
        terms=("neural network", "perceptron", "weight matrix", "bias term", "xW + b"),
    ),
    Topic(
        name="mlp",
        title="Multi-Layer Perceptron: one and two hidden layers",
        claim="A hidden layer with a non-linear function g goes beyond linear functions: g(xW1 + b1)W2 + b2. With two "
        "hidden layers it is g(g(xW1 + b1)W2 + b2)W3. Both learn XOR, which a perceptron cannot.",
        show=show_mlp,
        question="What would happen without the non-linear function g?",
        answer="(xW1 + b1)W2 + b2 = x(W1W2) + (b1W2 + b2): a linear function of a linear function is linear, so the "
        "network could represent no more than a perceptron.",
        terms=("multi-layer perceptron", "hidden layer", "activation function", "non-linear", "XOR"),
        data=xor_table,
        commands=(
            "markone train {data} --target label --rule mlp --hidden 4 --activation tanh --eta 0.05 --epochs 200",
            "markone train {data} --target label --rule perceptron",
        ),
    ),
    Topic(
        name="three-models",
        title="Recap: naïve Bayes, logistic regression, neural networks",
        claim="Naive Bayes and logistic regression need features that are specified in advance. A neural network "
        "learns both the features and the weights. The points of one class lie inside a circle.",
        show=show_three_models,
        question="Why does logistic regression succeed with x1² and x2²?",
        answer="The circle x1² + x2² = r² is a line in these two features. A person who knows this can specify them; "
        "the network had to learn them.",
        terms=("recap", "generative classifier", "discriminative classifier", "neural networks", "features"),
        data=rings_table,
        commands=(
            "markone train {data} --target label --rule mlp --hidden 16",
            "markone train {data} --target label --rule logistic",
        ),
    ),
)
"""Topics of the lecture on discriminative classification."""

"""The last topic of the same lecture."""
