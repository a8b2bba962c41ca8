"""Pictures of single pages: what their examples look like, on the same data."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits, make_moons

import markone
from markone import Model, plots
from markone.demo.reviews import write_reviews
from markone.plots.colours import BLUE, INK, QUIET, VERMILION
from markone.plots.drawing import finished, mark_of, new_figure

sys.path.insert(0, str(Path(__file__).parents[1]))
from docs.make_speed_chart import bars, in_words

GRID = 200
"""The number of places in each direction at which a rule is asked."""
RULES: dict[str, dict[str, Any]] = {
    "perceptron, last weights": {"rule": "perceptron", "average": False},
    "perceptron, averaged": {"rule": "perceptron"},
    "mira": {"rule": "mira"},
    "svm": {"rule": "svm"},
    "logistic": {"rule": "logistic"},
    "naive-bayes": {"rule": "naive-bayes"},
    "logistic, curves and pairs": {"rule": "logistic", "features": {"numeric": {"curves": True}, "pairs": True}},
    "mlp, 32 hidden units": {"rule": "mlp", "hidden": 32, "epochs": 400},
}


# ---- rules


def boundaries_of_rules() -> Figure:
    """Draw where each rule changes its prediction, on the same points."""
    X, y = make_moons(240, noise=0.22, random_state=3)
    table, kinds = {"x": X[:, 0], "y": X[:, 1]}, ["left" if number == 0 else "right" for number in y]
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    across, up = (np.linspace(low[i], high[i], GRID) for i in range(2))
    places = dict(zip("xy", map(np.ravel, np.meshgrid(across, up)), strict=True))
    figure = new_figure(7.6, 4.1)
    panels = figure.subplots(2, 4, sharex=True, sharey=True).ravel()
    for axes, (name, settings) in zip(panels, RULES.items(), strict=True):
        model = markone.train(table, target=kinds, holdout=0, **settings)
        said = (model.predict(places) == "right").reshape(GRID, GRID)
        axes.contourf(across, up, said, levels=[-0.5, 0.5, 1.5], colors=[BLUE, VERMILION], alpha=0.18)
        axes.contour(across, up, said, levels=[0.5], colors=[INK], linewidths=1.4)
        for number in (0, 1):
            mark = mark_of(number)
            axes.plot(*X[y == number].T, mark.marker, color=mark.colour, markersize=2.4, markeredgewidth=0)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_color(QUIET)
        axes.set_title(f"{name}\n{model.accuracy(table, kinds):.0%}", fontsize=8, color=INK)
    return finished(figure, f"The boundaries of {', '.join(RULES)}, on the same points of two classes")


def curves_of_columns() -> Figure:
    """Draw the curves of the example on the page about features."""
    chance = random.Random(1)
    ages, hours = ([chance.uniform(low, high) for _ in range(800)] for low, high in ((18, 80), (0, 60)))
    busy = ["yes" if 30 < age < 60 and chance.random() < 0.9 else "no" for age in ages]
    shapes = markone.train({"age": ages, "hours": hours}, target=busy).explain().shapes
    assert shapes is not None
    return plots.chart(list(shapes.charts()))


# ---- the tutorials


@cache
def reviews() -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "reviews.csv")
        write_reviews(path, count=2000, seed=0)
        return markone.train(path, target="guest")


def weights_of_reviews() -> Figure:
    return plots.weights(reviews(), top=8)


def products_of_a_review() -> Figure:
    return plots.products(reviews().explain("The bed was not clean. What a lovely view!", top=8))


def curve_of_payments() -> Figure:
    """Draw the curve of the payments in the table of the tutorial, which the page itself makes."""
    page = Path(__file__).with_name("tutorials").joinpath("table.md").read_text(encoding="utf-8")
    script = page.partition("<<'END'\n")[2].partition("\nEND\n")[0]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)
        shapes = markone.train(Path(folder, "customers.csv"), target="left").explain().shapes
    assert shapes is not None
    return plots.chart([one for one in shapes.charts() if "paid" in one.title and "×" not in one.title][:1])


@cache
def digits() -> tuple[NDArray[Any], NDArray[Any], Model]:
    X, y = load_digits(return_X_y=True)
    return X / 16, y, markone.train(X[:1200] / 16, target=y[:1200].tolist(), rule="perceptron", holdout=0)


def weights_of_digits() -> Figure:
    return plots.weight_images(digits()[2])


def confusion_of_digits() -> Figure:
    X, y, model = digits()
    return plots.confusion(model.evaluate(X[1200:], y[1200:].tolist()))


# ---- the project


def card() -> Figure:
    """Draw the picture that links to these pages show, 1200 by 630 pixels."""
    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="#12181f")
    light, quiet, own = "#f2f4f7", "#9aa4b0", "#4aa8e0"
    figure.text(0.06, 0.8, "Markone", fontsize=54, color=light, weight="bold")
    figure.text(0.06, 0.695, "Linear models from labelled examples: fast, explained, exact", fontsize=23, color=light)
    axes = figure.add_axes((0.2, 0.16, 0.56, 0.44), facecolor="none")
    shown = bars()
    for place, bar in enumerate(shown):
        colour, ink = (own, light) if place == 0 else ("#6b7681", quiet)
        axes.barh(place, bar.seconds, height=0.62, color=colour)
        axes.text(bar.seconds + 0.06, place, in_words(bar), va="center", fontsize=18, color=ink)
    axes.set_yticks(range(len(shown)), [bar.name for bar in shown], fontsize=18, color=light)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.text(0.06, 0.07, "From a file of 25,000 film reviews to a model, on one core", fontsize=17, color=quiet)
    return figure
