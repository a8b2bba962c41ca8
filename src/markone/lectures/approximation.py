"""Topics on networks that approximate functions: continuous and discrete ones, width and depth."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from markone.lectures.networks import Array, Layer, output
from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Chart, Line, Points
from markone.reporting.grids import Grid

# ---- universal approximation

POINTS, STEPS, STARTS = 80, 600, 5
STEEP, SMALL = 3.0, 0.5


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
    """Train a network by its gradients, from random weights."""
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

    # Steep units with different thresholds, but a small output: the network starts near 0 and can bend anywhere.
    scales = [STEEP] * len(hidden) + [SMALL]
    start = [
        (chance.normal(0, scale / np.sqrt(inputs), (inputs, outputs)), chance.normal(0, scale, outputs))
        for (inputs, outputs), scale in zip(shapes, scales, strict=True)
    ]
    found = minimize(
        loss, flattened(start), jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "ftol": 1e-12, "gtol": 1e-9}
    )
    return layered(found.x)


def best_learned(hidden: Sequence[int], x: Array, y: Array) -> list[Layer]:
    """Train a network from several starts, since a single one may end in a poor local optimum, and return the best."""
    trials = [learned(hidden, x, y, seed) for seed in range(STARTS)]
    return min(trials, key=lambda layers: mean_squared(layers, x, y))


def size_of(layers: Sequence[Layer]) -> int:
    return sum(W.size + b.size for W, b in layers)


WIDTHS = (2, 8, 32)


def show_universal() -> Shown:
    x, y = sample()
    networks = {width: best_learned((width,), x, y) for width in WIDTHS}
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
        layers = best_learned(shape, x, y)
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


TOPICS = (
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
)
"""Topics of the lecture on discriminative classification."""
