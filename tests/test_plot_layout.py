"""The words of a picture do not collide, and stay inside it, however awkward the data."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB

import markone
from markone import plots
from markone.estimators.regressions import JoinTheDots, LinearLeastSquares, QuadraticLeastSquares
from markone.experiments.curve import LearningCurve, Size
from markone.model.evaluation import Evaluation
from markone.model.history import History, Pass
from quickly import slow_but

TOUCH = 1.0
"""Boxes may overlap by so many pixels, of 100 in an inch: there is some air around words in their boxes."""

LONG = "a class whose name is far too long to be drawn anywhere"


Words = list[tuple[str, Any]]


def words_of(figure: Figure) -> Words:
    """The texts that are drawn, and their boxes."""
    found: Words = []
    original = Text.draw

    def draw(self: Text, renderer: Any, *arguments: Any, **options: Any) -> Any:
        if self.get_visible() and self.get_text().strip():
            found.append((self.get_text(), written(self, self.get_window_extent(renderer))))
        return original(self, renderer, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", draw)
        FigureCanvasAgg(figure).draw()
    return found


def written(text: Text, box: Any) -> Any:
    """The box without empty lines at the end."""
    words = text.get_text()
    empty = (len(words) - len(words.rstrip("\n"))) / (words.count("\n") + 1)
    return Bbox.from_extents(box.x0, box.y0 + empty * box.height, box.x1, box.y1)


def collisions(words: Words) -> list[tuple[str, str]]:
    pairs = []
    for (one, box), (other, rival) in itertools.combinations(words, 2):
        across = min(box.x1, rival.x1) - max(box.x0, rival.x0)
        down = min(box.y1, rival.y1) - max(box.y0, rival.y0)
        if across > TOUCH and down > TOUCH:
            pairs.append((one, other))
    return pairs


def outside(figure: Figure, words: Words) -> list[str]:
    width, height = figure.bbox.width, figure.bbox.height
    return [
        word
        for word, box in words
        if box.x0 < -TOUCH or box.y0 < -TOUCH or box.x1 > width + TOUCH or box.y1 > height + TOUCH
    ]


def crushed(figure: Figure) -> list[str]:
    """Panels that are hardly seen, because words take the room."""
    sizes = [(axes.bbox.width / figure.dpi, axes.bbox.height / figure.dpi) for axes in figure.axes]
    return [f"{width:.2f} × {height:.2f}" for width, height in sizes if max(width, height) < 1]


# ---- awkward data


def names(count: int, long: bool) -> list[str]:
    return [f"{LONG} {i}" if long else f"c{i}" for i in range(count)]


def points(classes: int, rows: int = 60) -> tuple[Any, list[int]]:
    X, y = make_blobs(rows, centers=classes, n_features=2, cluster_std=0.7, random_state=classes)
    return X, y.tolist()


def plane(classes: int, *, long: bool, rows: int = 60, scale: float = 1.0) -> tuple[Any, list[str]]:
    X, y = points(classes, rows)
    columns = [LONG, f"other {LONG}"] if long else ["a", "b"]
    return pd.DataFrame(X * scale, columns=columns), [names(classes, long)[i] for i in y]


def boundary(classes: int, **how: Any) -> Figure:
    X, y = plane(classes, **how)
    return plots.boundary(GaussianNB().fit(X, y), X, y)


def certificate(classes: int, **how: Any) -> Figure:
    X, y = plane(classes, **how)
    return plots.certificate(markone.certify(X, y), X, y)


def wide_certificate(classes: int, separable: bool) -> Figure:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200 if not separable else 12, 8)), rng.integers(classes, size=200 if not separable else 12)
    return plots.certificate(markone.certify(X, y), X, y)


def step(classes: int, **how: Any) -> Figure:
    X, y = plane(classes, **how)
    return plots.step(markone.trace(X, y, steps=30), 5)


def paths(classes: int, features: int, *, long: bool = True) -> Figure:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        rng.normal(size=(40, features)), columns=[f"{LONG} {i}" if long else f"x{i}" for i in range(features)]
    )
    y = [names(classes, long)[i % classes] for i in range(40)]
    return plots.paths(markone.trace(X, y, steps=40))


def model(classes: int, features: int, *, long: bool = True, **settings: Any) -> markone.Model:
    rng = np.random.default_rng(2)
    shown = [f"{i} {LONG}" if long else f"x{i}" for i in range(features)]
    X = dict(zip(shown, rng.normal(size=(features, 60)), strict=True))
    return markone.train(X, target=[names(classes, long)[i % classes] for i in range(60)], **settings)


def texts(classes: int) -> markone.Model:
    words = [f"word{i} donaudampfschifffahrtsgesellschaftskapitänsmütze{i} {'abc'[i % 3]}" for i in range(60)]
    labels = [names(classes, True)[i % classes] for i in range(60)]
    return markone.train(words, target=labels, rule="naive-bayes", k=0)


def confusion(classes: int, long: bool, count: int = 123_456) -> Figure:
    counts = {(i, j): count if i == j else i * j for i in range(classes) for j in range(classes)}
    return plots.confusion(Evaluation(list(names(classes, long)), counts, []))


def curves(passes: int, *, over: bool, averaged: bool = True) -> Figure:
    shares = [0.5 + 0.4 * i / passes - (0.35 * (i == passes - 1) if over else 0) for i in range(passes)]
    return plots.curves(
        History(
            [
                Pass(i + 1, 123_456 - i, i, None, 1.0, None, share, share + 0.001 if averaged else None)
                for i, share in enumerate(shares)
            ],
            rows=200_000,
            held_out=5000,
        )
    )


def bounds(rows: int, rule: str = "perceptron") -> Figure:
    X, y = points(2, rows)
    return plots.bounds(markone.train(X, target=y, rule="perceptron", epochs=30, holdout=0, bounds=True))


def margins(classes: int) -> Figure:
    X, y = points(classes)
    found = markone.margins(markone.train(X, target=y, rule="perceptron", epochs=3), markone.read(X, target=y))
    return plots.margins({LONG: found, "after": found})


def validation(folds: int, classes: int = 2, rule: Any = "logistic") -> Any:
    X, y = points(classes, 120)
    return markone.validate(X, target=[names(classes, True)[i] for i in y], rule=rule, folds=folds)


def roc(scale: float) -> Figure:
    labels = [LONG, f"z {LONG}"]
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=100)
    return plots.roc([labels[i] for i in truth], (rng.normal(size=100) + scale * truth))


def comparison() -> Any:
    X, y = points(3, 90)
    return markone.compare(X, target=y, folds=3)


def learning_curve(rows: list[int]) -> Figure:
    sizes = tuple(Size(one, 0.9 + 0.001 * i, 0.9, (0.8, 0.95), 0.1) for i, one in enumerate(rows))
    return plots.learning_curve(LearningCurve(LONG, "accuracy", 1000, "", sizes))


def regressions() -> Figure:
    x = np.linspace(0, 4, 8)
    every = {f"{LONG} {i}": one for i, one in enumerate([LinearLeastSquares(), QuadraticLeastSquares(), JoinTheDots()])}
    return plots.regressions(x, 1e6 * x**2, every)


def images(classes: int) -> Figure:
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 25)), [names(classes, True)[i % classes] for i in range(60)]
    return plots.weight_images(markone.train(X, target=y, epochs=1))


def products(classes: int, features: int) -> Figure:
    found = model(classes, features)
    example = {column.name: 1e-5 * (i + 1) for i, column in enumerate(found.features.columns)}
    return plots.products(found.explain(example, top=10))


AWKWARD: dict[str, Callable[[], Figure]] = {
    "boundary of 2 long": lambda: boundary(2, long=True),
    "boundary of 12 long": lambda: boundary(12, long=True, rows=100),
    "boundary of 12 short": lambda: boundary(12, long=False, rows=100),
    "boundary of 3 points": lambda: boundary(2, long=False, rows=4),
    "boundary of large numbers": lambda: boundary(3, long=False, scale=1e7),
    "boundary of small numbers": lambda: boundary(3, long=False, scale=1e-7),
    "certificate of 2 long": lambda: certificate(2, long=True),
    "certificate of 12 long": lambda: certificate(12, long=True, rows=60),
    "certificate of 8 features": lambda: wide_certificate(2, False),
    "certificate of 8 features, separable": lambda: wide_certificate(2, True),
    "certificate of 3 classes, 8 features": lambda: wide_certificate(3, True),
    "step of 2 long": lambda: step(2, long=True),
    "step of 12 long": lambda: step(12, long=True),
    "paths of 2 classes, 3 features": lambda: paths(2, 3),
    "paths of 2 classes, 40 features": lambda: paths(2, 40),
    "paths of 5 classes, 40 features": lambda: paths(5, 40),
    "paths of 20 classes": lambda: paths(20, 8),
    "paths of short names": lambda: paths(3, 2, long=False),
    "weights of 2 long": lambda: plots.weights(model(2, 30)),
    "weights of 2 short": lambda: plots.weights(model(2, 1, long=False)),
    "weights of 12 long": lambda: plots.weights(model(12, 30), top=10),
    "weights of 30, some": lambda: plots.weights(model(30, 5), classes=names(30, True)[:24]),
    "weight images of 2": lambda: images(2),
    "weight images of 12": lambda: images(12),
    "products of 2": lambda: products(2, 30),
    "products of 12": lambda: products(12, 3),
    "odds of 2": lambda: plots.odds(texts(2).explain(top=10)),
    "odds of 12": lambda: plots.odds(texts(12).explain(top=5)),
    "measurements of 2": lambda: plots.measurements(model(2, 7, rule="naive-bayes").explain()),
    "measurements of 12": lambda: plots.measurements(model(12, 4, rule="naive-bayes").explain()),
    "confusion of 2 long": lambda: confusion(2, True),
    "confusion of 4 long": lambda: confusion(4, True),
    "confusion of 12 long": lambda: confusion(12, True),
    "confusion of 24 long": lambda: confusion(24, True),
    "confusion of 40 long": lambda: confusion(40, True),
    "confusion of 90": lambda: confusion(90, False),
    "confusion of millions": lambda: confusion(3, False, count=123_456_789),
    "confusion of one": lambda: confusion(2, False, count=1),
    "curves of one pass": lambda: curves(1, over=False),
    "curves that overfit": lambda: curves(12, over=True),
    "curves of 100 passes": lambda: curves(100, over=True, averaged=False),
    "bounds": lambda: bounds(60),
    "bounds of few": lambda: bounds(4),
    "margins of 2": lambda: margins(2),
    "margins of 4": lambda: margins(4),
    "folds": lambda: plots.folds(validation(10)),
    "folds of 3": lambda: plots.folds(validation(3, 4)),
    "calibration": lambda: plots.calibration(validation(3)),
    "calibration of a comparison": lambda: plots.calibration(comparison()),
    "accuracies": lambda: plots.accuracies(comparison()),
    "roc": lambda: roc(1),
    "roc of a perfect ranking": lambda: roc(100),
    "learning curve": lambda: learning_curve([20, 22, 25, 100, 110, 250]),
    "learning curve of many": lambda: learning_curve([4 * 2**i for i in range(20)]),
    "learning curve of one size": lambda: learning_curve([1_234_567]),
    "angles": lambda: plots.angles(markone.trace(*points(2), steps=None)),
    "regressions": regressions,
    "losses": plots.losses_curve,
}


ONE_OF_EACH = (
    *("boundary of 12 long", "certificate of 2 long", "certificate of 8 features", "step of 2 long"),
    *("paths of 2 classes, 3 features", "weights of 2 long", "weight images of 2", "products of 2", "odds of 2"),
    *("measurements of 2", "confusion of 4 long", "curves that overfit", "bounds", "margins of 2", "folds of 3"),
    *("calibration", "accuracies", "roc", "learning curve", "angles", "regressions", "losses"),
)


@pytest.mark.parametrize("name", slow_but(ONE_OF_EACH, AWKWARD))
def test_words_do_not_collide_and_stay_inside(name: str) -> None:
    figure = AWKWARD[name]()
    words = words_of(figure)
    assert collisions(words) == []
    assert outside(figure, words) == []
    assert crushed(figure) == []


def test_collisions_are_found() -> None:
    figure = Figure(figsize=(4, 2), dpi=100)
    figure.text(0.1, 0.5, "one word")
    figure.text(0.15, 0.52, "another")
    figure.text(0.95, 0.1, "beyond the edge")
    words = words_of(figure)
    assert collisions(words) == [("one word", "another")]
    assert outside(figure, words) == ["beyond the edge"]
