"""Topics on images: handwritten digits by the perceptron, MIRA and naive Bayes, and their weights as images."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.lectures.topic import Shown, Table, Topic
from markone.reporting.charts import Bars, Chart, Pixels
from markone.reporting.grids import Grid

SIDE, LEVELS, TEST = 8, 16, 0.3
"""The images have 8×8 pixels with 17 levels of grey. The share of the test images is 30%."""
SHOWN = (0, 2, 3, 8)
"""The digits whose weights are drawn."""


@cache
def images() -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the digits of scikit-learn, in a random order: training images and labels, test images and labels."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    cut = round(len(y) * (1 - TEST))
    X, y = X[order] / LEVELS, y[order].astype(np.int64)
    return X[:cut], y[:cut], X[cut:], y[cut:]


def models() -> dict[str, Any]:
    """Return the trained classifiers of the project."""
    from markone import MIRA, NaiveBayes, Perceptron

    X, y, _, _ = images()
    made = {
        "perceptron": Perceptron(max_iter=5, average=False),
        "averaged perceptron": Perceptron(max_iter=5),
        "MIRA": MIRA(C=0.01, max_iter=5, tol=None),
        "naive Bayes (pixel on or off)": NaiveBayes("bernoulli", binarize=0.5),
    }
    return {name: model.fit(X, y) for name, model in made.items()}


def side_by_side(squares: list[NDArray[np.float64]]) -> Pixels:
    """Return several images as one, each with the whole range of shades."""
    scaled = [(square - square.min()) / (square.max() - square.min()) for square in squares]
    gap = np.zeros((SIDE, 1))
    parts = [part for square in scaled for part in (square, gap)][:-1]
    return Pixels(np.hstack(parts).tolist())


def show_project() -> Shown:
    X, y, test, truth = images()
    found = {name: (float(m.score(X, y)), float(m.score(test, truth))) for name, m in models().items()}
    rows = [[name, *(f"{value:.3f}" for value in both)] for name, both in found.items()]
    examples = [X[int(np.flatnonzero(y == digit)[0])].reshape(SIDE, SIDE) for digit in SHOWN]
    return Shown(
        f"{len(y)} training images and {len(truth)} test images of {SIDE}×{SIDE} pixels, 10 classes\n"
        f"{Grid([['classifier', 'training', 'test']], rows)}",
        (
            Chart((side_by_side(examples),), title=f"Images of {', '.join(map(str, SHOWN))}"),
            Chart((Bars([*found], [both[1] for both in found.values()]),), title="Accuracy on the test images"),
        ),
    )


def show_weights() -> Shown:
    from markone import Perceptron

    X, y, test, truth = images()
    model = Perceptron(max_iter=5).fit(X, y)
    on = [(X[y == digit] > 0.5).mean(axis=0).reshape(SIDE, SIDE) for digit in SHOWN]
    weights = [np.asarray(model.coef_[digit], float).reshape(SIDE, SIDE) for digit in SHOWN]
    rows = []
    for digit, square in zip(SHOWN, weights, strict=True):
        best, worst = (np.unravel_index(int(at), square.shape) for at in (square.argmax(), square.argmin()))
        cells = [f"row {i + 1}, column {j + 1}: {square[i, j]:+.2f}" for i, j in (best, worst)]
        rows.append([str(digit), *cells])
    names = ", ".join(map(str, SHOWN))
    return Shown(
        f"{Grid([['digit', 'strongest pixel for it', 'strongest pixel against it']], rows)}\n"
        f"The accuracy on {len(truth)} test images is {float(model.score(test, truth)):.3f}.",
        (
            Chart((side_by_side(on),), title=f"Naive Bayes: P(on|digit) for {names}; dark is likely"),
            Chart((side_by_side(weights),), title=f"Perceptron: weights for {names}; dark is evidence for the digit"),
        ),
    )


def digit_table() -> Table:
    X, y, _, _ = images()
    names = [f"p{i}{j}" for i in range(SIDE) for j in range(SIDE)]
    rows = [[*map(int, (row * LEVELS).round()), f"digit {label}"] for row, label in zip(X[:600], y[:600], strict=True)]
    return Table([*names, "label"], rows)


TOPICS = (
    Topic(
        name="project-5",
        title="Project 5: image classification, digits",
        claim="The input is a grid of pixels, the output a digit from 0 to 9. The perceptron, MIRA and naive Bayes "
        "learn the same images. These are the 8×8 digits that come with scikit-learn.",
        show=show_project,
        question="Why does naive Bayes stay behind the averaged perceptron and MIRA?",
        answer="Neighbouring pixels are strongly correlated, and naive Bayes counts their evidence several times. The "
        "mistake-driven rules correct this.",
        terms=("image classification", "digit recognition", "pixel grids", "Project 5", "faces"),
        data=digit_table,
        commands=(
            "markone compare {data} --target label --rules perceptron,mira,naive-bayes",
            "markone train {data} --target label --rule mira",
        ),
    ),
    Topic(
        name="weight-images",
        title="Digit recognition: weights as images",
        claim="A weight vector over pixels is an image itself. For naive Bayes, P(on|digit) looks like the digit. The "
        "weights of a perceptron show instead which pixels tell the digit from all others.",
        show=show_weights,
        question="Why are the corners of a perceptron's image neither dark nor light?",
        answer="These pixels are off in almost all images, so hardly any mistake changed their weights: they stay near "
        "0.",
        terms=("weights", "pixel", "digit", "feature values"),
        data=digit_table,
        commands=(
            "markone train {data} --target label --rule perceptron -o digits.model",
            "markone explain digits.model",
        ),
    ),
)
"""Topics of the lecture on learning and generalisation."""
