"""Topics on neural networks: the perceptron as a layer, hidden layers, and the approximation of functions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


# ---- universal approximation

POINTS, STEPS = 80, 400


def curve(x: Array) -> Array:
    """The continuous function to approximate, on the closed interval from -3 to 3."""
    return np.asarray(np.sin(2.5 * x) + 0.4 * np.abs(x) - 0.3 * x)


def sample() -> tuple[Array, Array]:
    x = np.linspace(-3, 3, POINTS)
    return x[:, None], curve(x)[:, None]


def mean_squared(layers: Sequence[Layer], x: Array, y: Array) -> float:
    return float(((output(layers, x) - y) ** 2).mean())


def slopes(layers: Sequence[Layer], x: Array, y: Array) -> list[Layer]:
    """Return the gradient of the mean squared error by backpropagation."""
    units = [x]
    for W, b in layers[:-1]:
        units.append(np.tanh(units[-1] @ W + b))
    W, b = layers[-1]
    error = 2 * (units[-1] @ W + b - y) / len(x)
    found: list[Layer] = []
    for (W, _), unit in zip(reversed(layers), reversed(units), strict=True):
        found.append((unit.T @ error, error.sum(axis=0)))
        error = (error @ W.T) * (1 - unit**2)
    return found[::-1]


def learned(hidden: Sequence[int], x: Array, y: Array, seed: int = 0) -> list[Layer]:
    """Train a network by gradients, from small random weights."""
    from scipy.optimize import minimize

    chance = np.random.default_rng(seed)
    sizes = [x.shape[1], *hidden, y.shape[1]]
    shapes = [*itertools.pairwise(sizes)]

    def layered(flat: Array) -> list[Layer]:
        made, at = [], 0
        for inputs, outputs in shapes:
            W = flat[at : at + inputs * outputs].reshape(inputs, outputs)
            at += inputs * outputs
            made.append((W, flat[at : at + outputs]))
            at += outputs
        return made

    def flattened(layers: Sequence[Layer]) -> Array:
        return np.concatenate([part.ravel() for layer in layers for part in layer])

    def loss(flat: Array) -> tuple[float, Array]:
        layers = layered(flat)
        return mean_squared(layers, x, y), flattened(slopes(layers, x, y))

    start = [
        (chance.normal(0, 1.5 / np.sqrt(inputs), (inputs, outputs)), chance.normal(0, 1.5, outputs))
        for inputs, outputs in shapes
    ]
    found = minimize(loss, flattened(start), jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "ftol": 1e-10})
    return layered(found.x)


def size_of(layers: Sequence[Layer]) -> int:
    return sum(W.size + b.size for W, b in layers)


WIDTHS = (2, 8, 32)


def show_universal() -> Shown:
    x, y = sample()
    networks = {width: learned((width,), x, y) for width in WIDTHS}
    rows = []
    for width, layers in networks.items():
        largest = float(np.abs(output(layers, x) - y).max())
        cells = [f"{mean_squared(layers, x, y):.5f}", f"{largest:.3f}"]
        rows.append([f"{width} hidden units", str(size_of(layers)), *cells])
    head = ["network with one hidden layer", "parameters", "mean squared error", "largest error"]
    return Shown(
        str(Grid([head], rows)),
        (
            Chart(
                (
                    *(
                        Line(x[:, 0].tolist(), output(networks[width], x)[:, 0].tolist(), f"{width} units", i, bool(i))
                        for i, width in enumerate(WIDTHS[:2])
                    ),
                    Points(x[::2, 0].tolist(), y[::2, 0].tolist(), "the function", 0),
                ),
                title="A continuous function, approximated",
                x="x",
                y="f(x)",
            ),
        ),
    )


SHAPES = ((4,), (10,), (32,), (3, 3), (4, 4), (8, 8))


def show_width_and_depth() -> Shown:
    x, y = sample()
    rows, found = [], []
    for shape in SHAPES:
        layers = learned(shape, x, y)
        error = mean_squared(layers, x, y)
        found.append((size_of(layers), error, len(shape)))
        rows.append([" and ".join(map(str, shape)), str(len(shape)), str(size_of(layers)), f"{error:.6f}"])
    return Shown(
        str(Grid([["hidden units", "depth", "parameters", "mean squared error"]], rows)),
        (
            Chart(
                tuple(
                    Points(
                        [float(size) for size, _, depth in found if depth == wanted],
                        [float(np.log10(error)) for _, error, depth in found if depth == wanted],
                        name,
                        wanted - 1,
                    )
                    for wanted, name in ((1, "one hidden layer"), (2, "two hidden layers"))
                ),
                title="log10 of the error, by the number of parameters",
                x="parameters",
                y="log10 of the mean squared error",
            ),
        ),
    )


def curve_table() -> Table:
    x, y = sample()
    return Table(["x", "y"], [[f"{a:.4f}", f"{b:.4f}"] for a, b in zip(x[:, 0], y[:, 0], strict=True)])


# ---- any function of a discrete space

BITS = 3


def parity() -> tuple[Array, NDArray[np.int64]]:
    rows = np.array([*itertools.product((0.0, 1.0), repeat=BITS)])
    return rows, rows.sum(axis=1).astype(np.int64) % 2


def show_discrete() -> Shown:
    X, y = parity()
    errors = {}
    for width in (1, 2, 3, 4):
        trials = [learned((width,), X, y[:, None].astype(float), seed) for seed in range(3)]
        errors[width] = min(int(((output(layers, X)[:, 0] > 0.5) != y).sum()) for layers in trials)
    rows = [[str(width), str(wrong)] for width, wrong in errors.items()]
    return Shown(
        f"Parity of {BITS} bits: is the number of ones odd? There are {len(y)} inputs.\n"
        f"{Grid([['hidden units', 'wrong inputs']], rows)}",
        (
            Chart(
                (Line([*map(float, errors)], [*map(float, errors.values())], "wrong inputs", 0),),
                title="Wrong inputs by the number of hidden units",
                x="hidden units",
                y="wrong",
            ),
        ),
    )


def parity_table() -> Table:
    X, y = parity()
    columns = [*(f"x{i}" for i in range(1, BITS + 1)), "label"]
    rows = [[*map(int, row), "odd" if odd else "even"] for row, odd in zip(X, y, strict=True)]
    return Table(columns, rows * 4)


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
        name="universal",
        title="A Multi-Layer Perceptron is a universal approximator",
        claim="A network with one hidden layer can approximate any continuous function on a closed and bounded set. "
        "More hidden units approximate better.",
        show=show_universal,
        question="Does the theorem say that training finds these weights?",
        answer="No, only that such weights exist. Training can end in a worse minimum, and more data may be needed.",
        terms=("universal approximator", "continuous function", "closed and bounded", "hidden layer"),
        data=curve_table,
    ),
    Topic(
        name="discrete",
        title="Universal approximator: functions of a discrete space",
        claim="A network with one hidden layer can also represent any function from one finite discrete space to "
        "another. The example is parity, the hardest for linear models: every change of a bit changes the answer.",
        show=show_discrete,
        question="How many hidden units are always enough for a function of n bits?",
        answer="2^n, one for each input, which recognises only this input. Parity needs only about n.",
        terms=("universal approximator", "finite dimensional discrete space", "parity"),
        data=parity_table,
        commands=("markone train {data} --target label --rule mlp --hidden 16 --eta 0.05 --epochs 200",),
    ),
    Topic(
        name="width-and-depth",
        title="Many complications: width and depth",
        claim="Two questions remain open when a network is built: how many units a layer has (width), and how many "
        "hidden layers there are (depth). Here both are varied on the same curve.",
        show=show_width_and_depth,
        question="Is a deeper network always better than a wider one?",
        answer="No. Compare networks with similar numbers of parameters in the table: for this smooth curve of one "
        "variable, one layer is as good.",
        terms=("width", "depth", "hidden layers", "stochastic gradient descent"),
        data=curve_table,
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
