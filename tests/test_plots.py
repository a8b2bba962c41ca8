"""The pictures show what they are drawn from."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import shutil
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as pyplot
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.path import Path as MatplotlibPath
from matplotlib.text import Text
from PIL import Image
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

import markone
from files_of import as_idx
from markone import DataError, LogisticRegression, Perceptron, SettingsError, plots
from markone.experiments.comparing import Comparison, Contender
from markone.experiments.validation import Fold, Validation
from markone.model.evaluation import Evaluation
from markone.model.history import History, Pass
from markone.plots import drawing, steps
from markone.plots.svg_text import svg_file
from markone.reporting.charts import Bars, Chart

LECTURE = [[3, 2], [-2, 2], [-2, -3]], ["+", "-", "+"]


def texts(figure: Any) -> list[str]:
    """All that is written in a picture, or in a part of one."""
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def lines(axes: Any) -> dict[str, Any]:
    return {str(line.get_label()): line for line in axes.lines}


def drawn(axes: Any, name: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in zip(*lines(axes)[name].get_data(), strict=True)]


def title(axes: Any) -> str:
    return str(axes.get_title(loc="left"))


def ticks(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


# ---- what all of them are


def blobs(classes: int = 2) -> tuple[Any, Any]:
    X, y = make_blobs(60, centers=classes, n_features=2, cluster_std=0.5, random_state=3)
    return X, y


@pytest.fixture(scope="module")
def pictures() -> dict[str, Figure]:
    return one_of_each()


def one_of_each() -> dict[str, Figure]:
    X, y = blobs()
    fitted = LogisticRegression(random_state=0).fit(X, y)
    return {
        "boundary": plots.boundary(fitted, X, y),
        "curves": plots.curves(history([5, 2, 1], last=[0.8, 0.9, 0.7])),
        "weights": plots.weights(fitted),
        "weight_images": plots.weight_images(fitted, shape=(1, 2)),
        "confusion": plots.confusion(validation()),
        "roc": plots.roc(validation()),
        "calibration": plots.calibration(validation()),
        "accuracies": plots.accuracies(comparison(contender("mira", 9), contender("logistic", 8))),
        "regressions": plots.regressions([1, 2, 3, 4], [2, 4, 5, 9], [LinearRegression()]),
        "losses_curve": plots.losses_curve(),
        "bounds": plots.bounds(watched()),
        "learning_curve": plots.learning_curve(markone.learning_curve(X, target=y, sizes=[4, 20])),
        "angles": plots.angles(markone.trace(*LECTURE)),
        "margins": plots.margins(markone.margins(watched(), *LECTURE)),
        "step": plots.step(markone.trace(*LECTURE), 0),
        "certificate": plots.certificate(markone.certify(*LECTURE), *LECTURE),
        "folds": plots.folds(validation()),
        "paths": plots.paths(markone.trace(*LECTURE)),
        "products": plots.products(texts_model().explain("free money")),
        "odds": plots.odds(texts_model("naive-bayes").explain()),
        "measurements": plots.measurements(markone.train(X, target=y.tolist(), rule="naive-bayes").explain()),
        "chart": plots.chart(Chart((Bars(["a", "b"], [1.0, -2.0]),), title="numbers")),
    }


def texts_model(rule: Any = "perceptron", **settings: Any) -> markone.Model:
    return markone.train(["free money", "see you", "free", "you"], target=["spam", "ham"] * 2, rule=rule, **settings)


def watched() -> markone.Model:
    return markone.train(LECTURE[0], target=LECTURE[1], rule="perceptron", holdout=0, bounds=True)


def test_every_picture_is_a_figure(pictures: dict[str, Figure]) -> None:
    assert {*pictures} == {*plots.__all__} - {"animation", "save", "svg"}
    for name, picture in pictures.items():
        assert isinstance(picture, Figure), name
        assert picture.get_label(), name


def test_pictures_are_the_same_bytes_each_time_change_nothing_else_and_fit_into_a_page(
    pictures: dict[str, Figure],
) -> None:
    before = dict(matplotlib.rcParams)
    first, second = (list(map(plots.svg, each.values())) for each in (pictures, one_of_each()))
    assert first == second
    assert dict(matplotlib.rcParams) == before and pyplot.get_fignums() == []
    page = ET.fromstring(f"<html>{''.join(first)}</html>")
    ids = [element.attrib["id"] for element in page.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    used = {
        value.partition("#")[2].rstrip(")")
        for element in page.iter()
        for name, value in element.attrib.items()
        if value.startswith(("url(#", "#")) and not name.startswith("style")
    }
    assert used == {*ids}
    for picture in first:
        assert picture.startswith("<svg ") and picture.endswith("</svg>")
        assert ' role="img" aria-label="' in picture[: picture.index(">")]
        assert "matplotlib.org" not in picture and "dc:date" not in picture
        assert "<style" not in picture  # it would hold for the whole page
    assert max(map(len, first)) < 60_000


def test_names_are_drawn_as_they_are() -> None:
    names = ["$x^2$", "<b>&", 'id="a" "', "価格", "a\nb"]
    X = np.eye(5)
    fitted = Perceptron(max_iter=1, tol=None, average=False).fit(pd.DataFrame(X, columns=names), [0, 1, 0, 1, 0])
    picture = plots.svg(plots.weights(fitted))
    words = {"".join(element.itertext()) for element in ET.fromstring(picture).iter() if element.tag.endswith("text")}
    assert {"$x^2$", "<b>&", 'id="a" "', "価格", "a\\nb"} <= words


def test_two_threads_draw_at_once() -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(plots.svg(plots.losses_curve()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3 and len(set(found)) == 1


def test_without_matplotlib_there_is_a_sentence() -> None:
    program = "import sys; sys.modules['matplotlib'] = None; import markone.plots"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.rstrip().endswith(
        "markone.errors.MarkoneError: plots need matplotlib, which is not installed: pip install 'markone[plot]'"
    )


def test_the_room_shows_its_names_and_imports_them_when_they_are_used() -> None:
    assert dir(plots) == plots.__all__
    with pytest.raises(AttributeError, match="'markone.plots' has no attribute 'pie'"):
        _ = plots.pie  # type: ignore[attr-defined]
    look = "print('matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules, 'sklearn' in sys.modules);"
    program = f"import sys, markone; markone.plots; {look} markone.plots.svg(markone.plots.losses_curve()); {look}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False False False\nTrue False False\n"


@pytest.mark.parametrize("places", [[], [0.5], [0.0, 0.0, 0.0], [0.9, 0.95, 1.0], [0.1, 0.11, 0.5, 0.52, 0.53, 0.99]])
def test_labels_stand_apart_in_their_order_and_inside(places: list[float]) -> None:
    moved = drawing.apart(places, 0.1)
    assert all(after - before > 0.1 - 1e-9 for before, after in pairwise(moved))
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in moved)
    assert len(moved) == len(places)


def test_labels_that_have_room_stay() -> None:
    assert drawing.apart([0.1, 0.3, 0.8], 0.2) == [0.1, 0.3, 0.8]


# ---- the plane


def test_the_boundary_of_the_lecture_is_the_diagonal() -> None:
    X, y = LECTURE
    fitted = Perceptron(average=False, shuffle=False, fit_intercept=False, tie="negative").fit(X, y)
    figure = plots.boundary(fitted, X, y)
    [axes] = figure.axes
    for x, height in drawn(axes, "boundary"):
        assert height == pytest.approx(x)
    assert drawn(axes, "+") == [(3, 2), (-2, -3)]
    assert drawn(axes, "-") == [(-2, 2)]
    assert title(axes) == "3 of 3 points are classified correctly"
    assert legend(figure) == ["+", "-", "boundary", "margins"]


def test_margins_are_where_the_score_is_one() -> None:
    X, y = blobs()
    fitted = SVC(kernel="linear").fit(X, y)
    [axes] = plots.boundary(fitted, X, y).axes
    found = {
        round(float(score), 6)
        for line in axes.lines
        if line.get_label() in ("boundary", "margins")
        for score in fitted.decision_function(np.transpose(line.get_data()))
    }
    assert found == {-1, 0, 1}
    assert [line.get_linestyle() for line in axes.lines if line.get_label() == "margins"] == ["--", "--"]


def test_a_line_is_found_behind_a_pipeline() -> None:
    X, y = blobs()
    fitted = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X, y)
    assert {"boundary", "margins"} <= {*lines(plots.boundary(fitted, X, y).axes[0])}


def test_regions_are_what_is_predicted() -> None:
    X, y = blobs(3)
    fitted = KNeighborsClassifier(1).fit(X, y)
    figure = plots.boundary(fitted, X, y)
    [axes] = figure.axes
    [image] = axes.images
    left, right, low, high = image.get_extent()
    said = np.asarray(image.get_array())
    across, up = np.linspace(left, right, said.shape[1]), np.linspace(low, high, said.shape[0])
    for row, column in [(0, 0), (-1, 5), (100, 200), (37, -1), (128, 128)]:
        assert said[row, column] == fitted.predict([[across[column], up[row]]])[0]
    assert {*np.unique(said)} == {0, 1, 2}
    assert legend(figure) == ["0", "1", "2"]
    assert title(axes) == "60 of 60 points are classified correctly"


@pytest.mark.parametrize("model", [GaussianNB(), SVC(), KNeighborsClassifier(1)])
def test_a_curved_boundary_is_where_the_prediction_changes(model: Any) -> None:
    X, y = make_moons(80, noise=0.1, random_state=0)
    model.fit(X, y)
    figure = plots.boundary(model, X, y)
    [axes] = figure.axes
    assert legend(figure) == ["0", "1", "boundary"]
    [contour] = [one for one in axes.collections if len(one.get_paths())]
    vertices = np.concatenate([path.vertices for path in contour.get_paths()])
    step = 0.03
    around = [model.predict(vertices + np.array([dx, dy])) for dx in (-step, 0, step) for dy in (-step, 0, step)]
    assert (np.min(around, axis=0) != np.max(around, axis=0)).mean() > 0.98


def test_a_plane_of_one_class_only_has_no_line() -> None:
    class Always:
        classes_ = np.array(["a", "b"])

        def predict(self, X: Any) -> Any:
            return np.full(len(X), "a")

    figure = plots.boundary(Always(), [[0, 0], [1, 1]], ["a", "b"])
    assert legend(figure) == ["a", "b"]
    assert title(figure.axes[0]) == "1 of 2 points are classified correctly"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_a_model_is_drawn_in_the_plane_of_its_two_columns(frame: Any) -> None:
    X, y = blobs()
    data = {"height": X[:, 0] * 100, "weight": X[:, 1]}
    names = np.where(y == 0, "cat", "dog").tolist()
    model = markone.train(data, target=names, rule="logistic", epochs=3)
    figure = plots.boundary(model, frame(data), names)
    [axes] = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("height", "weight")
    assert legend(figure)[:3] == ["cat", "dog", "boundary"]
    ends = np.array(drawn(axes, "boundary"))
    scores = model.scores({"height": ends[:, 0], "weight": ends[:, 1]})
    assert np.abs(np.diff(scores)).max() < 1e-3
    assert len(drawn(axes, "cat")) == (y == 0).sum()


@pytest.mark.parametrize("rule", ["naive-bayes", "mlp"])
def test_models_whose_features_speak_together_have_a_boundary_and_no_weights(rule: Any) -> None:
    X, y = make_moons(80, noise=0.1, random_state=0)
    model = markone.train({"a": X[:, 0], "b": X[:, 1]}, target=y.tolist(), rule=rule, epochs=1)
    figure = plots.boundary(model, X, y)
    assert legend(figure) == ["0", "1", "boundary"]
    right = int((model.predict({"a": X[:, 0], "b": X[:, 1]}) == y).sum())
    assert title(figure.axes[0]) == f"{right} of 80 points are classified correctly"
    with pytest.raises(SettingsError, match=f"rule is '{rule}', whose features have no weights of their own"):
        plots.weights(model)


def test_a_model_of_rows_and_one_of_products() -> None:
    X, y = blobs()
    [axes] = plots.boundary(markone.train(X, target=y.tolist(), epochs=2), X, y).axes
    assert "boundary" in lines(axes)
    circle = (X**2).sum(axis=1) > np.median((X**2).sum(axis=1))
    data = {"a": X[:, 0], "b": X[:, 1]}
    curved = markone.train(data, target=circle.tolist(), features={"degree": 2}, epochs=2)
    [axes] = plots.boundary(curved, X, circle).axes
    assert "boundary" not in lines(axes)


def test_frames_keep_their_names_for_estimators() -> None:
    X, y = blobs()
    frame = pd.DataFrame(X, columns=["a", "b"])
    [axes] = plots.boundary(GaussianNB().fit(frame, y), frame, y).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("a", "b")


def test_many_points_are_an_image() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = X[:, 0] > 0
    assert len(plots.svg(plots.boundary(SVC(kernel="linear").fit(X[::100], y[::100]), X, y))) < 600_000


def test_what_is_no_plane_gets_a_sentence() -> None:
    X, y = blobs()
    fitted = GaussianNB().fit(X, y)
    with pytest.raises(DataError, match="in the plane of two features, and the points have 3 columns; choose two"):
        plots.boundary(fitted, np.zeros((2, 3)), [0, 1])
    with pytest.raises(DataError, match="this model has 3 of the kind numeric"):
        plots.boundary(markone.train({"a": X[:, 0], "b": X[:, 1], "c": X[:, 0]}, target=y.tolist()), X, y)
    with pytest.raises(DataError, match="this model has 1 of the kind text"):
        plots.boundary(markone.train(["a b", "b"], target=[0, 1]), X, y)
    with pytest.raises(DataError, match="rows of more or fewer features"):
        plots.boundary(markone.train(np.eye(3), target=[0, 1, 0]), X, y)
    with pytest.raises(DataError, match="there are 60 points and 2 labels"):
        plots.boundary(fitted, X, [0, 1])
    with pytest.raises(DataError, match=r"label 7 is not a class of the model \(0, 1\)"):
        plots.boundary(fitted, X[:1], [7])
    with pytest.raises(DataError, match="no classes: it is not a classifier, or fit was not called"):
        plots.boundary(GaussianNB(), X, y)
    with pytest.raises(DataError, match="not a str"):
        plots.boundary("model", X, y)
    with pytest.raises(DataError, match="no points"):
        plots.boundary(fitted, np.zeros((0, 2)), [])
    with pytest.raises(DataError, match="contain NaN or infinity"):
        plots.boundary(fitted, [[0, np.nan]], [0])
    with pytest.raises(DataError, match="must be numbers"):
        plots.boundary(fitted, [["a", "b"]], [0])
    model = markone.train({"a": X[:, 0], "b": X[:, 1]}, target=y.tolist())
    with pytest.raises(DataError, match="no column 'b' among the points' columns: a, c"):
        plots.boundary(model, {"a": X[:, 0], "c": X[:, 1]}, y)


# ---- curves


def history(mistakes: list[Any], last: Any = None, averaged: Any = None, rows: int = 10, held_out: int = 0) -> History:
    none = [None] * len(mistakes)
    passes = [
        Pass(epoch, wrong, wrong, 0.0, 1.0, None, one, mean)
        for epoch, wrong, one, mean in zip(
            range(1, len(mistakes) + 1), mistakes, last or none, averaged or none, strict=True
        )
    ]
    return History(passes, rows=rows, held_out=held_out)


def test_curves_of_a_history() -> None:
    figure = plots.curves(history([4, 2, 1, 0], last=[0.5, 0.7, 0.6, 0.65], averaged=[0.6, 0.8, 0.9, 0.85]))
    above, below = figure.axes
    assert drawn(above, "while learning") == [(1, 0.4), (2, 0.2), (3, 0.1), (4, 0.0)]
    assert drawn(below, "last weights") == [(1, 0.5), (2, 0.7), (3, 0.6), (4, 0.65)]
    assert drawn(below, "averaged") == [(1, 0.6), (2, 0.8), (3, 0.9), (4, 0.85)]
    assert "best: pass 3, 90.0%; overfitting after it" in texts(below)
    assert [line.get_xdata()[0] for line in below.lines if list(line.get_ydata()) == [0.9]] == [3]
    assert (title(above), title(below)) == ("mistakes in training", "held-out accuracy")
    assert {"averaged", "last weights"} <= {*texts(below)}


@pytest.mark.parametrize(("held_out", "is_much"), [(10, False), (1000, True)])
def test_what_chance_may_take_is_no_over_training(held_out: int, is_much: bool) -> None:
    found = history([4, 2, 1], last=[0.5, 0.8, 0.75], held_out=held_out)
    figure = plots.curves(found)
    said = "best: pass 2, 80.0%"
    assert (f"{said}; overfitting after it" if is_much else said) in texts(figure.axes[1])
    assert ("overfitting" in str(figure.get_label())) == is_much


def test_without_over_training_nothing_is_marked() -> None:
    _, below = plots.curves(history([4, 2, 1], last=[0.5, 0.8, 0.8])).axes
    assert [*lines(below)] == ["accuracy"]
    assert not any("overfitting" in text for text in texts(below))


def test_curves_show_only_what_was_measured() -> None:
    [alone] = plots.curves(history([4, 2])).axes
    assert drawn(alone, "while learning") == [(1, 0.4), (2, 0.2)]
    [counted] = plots.curves(history([4, 2], rows=0)).axes
    assert drawn(counted, "while learning") == [(1, 4), (2, 2)]
    [tested] = plots.curves(history([None], last=[0.5])).axes
    assert drawn(tested, "accuracy") == [(1, 0.5)]
    with pytest.raises(DataError, match="there are no curves to draw"):
        plots.curves(history([]))
    with pytest.raises(DataError, match="a history or a validation, not a list"):
        plots.curves([])


def test_curves_of_a_training() -> None:
    X, y = load_digits(return_X_y=True)
    model = markone.train(X[:600] / 16, target=y[:600].tolist(), epochs=4, holdout=0.3)
    above, below = plots.curves(model.history).axes
    assert drawn(above, "while learning") == [(one.epoch, one.mistakes / model.history.rows) for one in model.history]
    assert drawn(below, "averaged") == [(one.epoch, one.holdout_averaged) for one in model.history]


# ---- weights


def test_the_weights_of_two_classes_are_one_list() -> None:
    model = markone.train(["free money", "see you", "free"], target=["spam", "ham", "spam"], epochs=3)
    [axes] = plots.weights(model).axes
    known = {name: float(values[1]) for name, values in model.weights().items() if values[1] != 0}
    names = ticks(axes.yaxis)
    widths = [bar.get_width() for bar in axes.patches]
    assert dict(zip(names, widths, strict=True)) == pytest.approx(known)
    assert widths == sorted(widths, reverse=True)
    assert (title(axes), axes.get_title(loc="right")) == ("← evidence for ham", "evidence for spam →")
    [few] = plots.weights(model, top=1).axes
    assert ticks(few.yaxis) == [names[0], names[-1]]


def test_each_of_more_classes_has_a_list() -> None:
    X, y = blobs(3)
    frame = pd.DataFrame(X, columns=["a", "b"])
    fitted = Perceptron(random_state=0).fit(frame, y)
    panels = plots.weights(fitted).axes
    assert list(map(title, panels)) == ["0", "1", "2"]
    for number, axes in enumerate(panels):
        known = {"a": fitted.coef_[number, 0], "b": fitted.coef_[number, 1], "BIAS": fitted.intercept_[number]}
        drawn_here = dict(zip(ticks(axes.yaxis), (bar.get_width() for bar in axes.patches), strict=True))
        assert drawn_here == pytest.approx({name: value for name, value in known.items() if value})
        for bar in axes.patches:
            assert to_hex(bar.get_facecolor()).upper() == (drawing.BLUE if bar.get_width() > 0 else drawing.VERMILION)
    [only] = plots.weights(fitted, top=1, classes=[2]).axes
    strongest = max(panels[2].patches, key=lambda bar: abs(bar.get_width()))
    assert [bar.get_width() for bar in only.patches] == [strongest.get_width()]
    assert title(only) == "2"


def test_which_weights_cannot_be_drawn() -> None:
    X, y = blobs(3)
    fitted = Perceptron().fit(X, y)
    with pytest.raises(SettingsError, match="top must be a whole number of at least 1, not 0"):
        plots.weights(fitted, top=0)
    with pytest.raises(SettingsError, match="classes has 'x', which is not a class of the model"):
        plots.weights(fitted, classes=["x"])
    with pytest.raises(SettingsError, match="classes must be a list of labels"):
        plots.weights(fitted, classes="0")
    with pytest.raises(SettingsError, match="classes is only for more than two"):
        plots.weights(Perceptron().fit(X, y > 0), classes=[True])
    with pytest.raises(DataError, match="fitted linear classifier, not a GaussianNB"):
        plots.weights(GaussianNB().fit(X, y))
    many = Perceptron().fit(np.eye(25), np.arange(25))
    with pytest.raises(SettingsError, match="must name the classes to draw: there are 25"):
        plots.weights(many)
    assert len(plots.weights(many, classes=[3, 24]).axes) == 2


def model_of_images(folder: Path, images: Any, labels: Any) -> markone.Model:
    (folder / "images-idx3-ubyte").write_bytes(as_idx(images))
    (folder / "labels-idx1-ubyte").write_bytes(as_idx(labels))
    return markone.train(folder / "images-idx3-ubyte", epochs=1)


def test_pixels_are_images_on_a_symmetric_scale(tmp_path: Path) -> None:
    X, y = load_digits(return_X_y=True)
    model = model_of_images(tmp_path, X[:300].reshape(-1, 8, 8) * 15, y[:300])
    assert any(name.startswith("patch") for name in model.weights())
    *panels, bar = plots.weight_images(model).axes
    assert list(map(title, panels)) == list("0123456789")
    known = model.weights()
    scale = max(float(np.abs(axes.images[0].get_array()).max()) for axes in panels)
    for number, axes in enumerate(panels):
        [image] = axes.images
        expected = [[known[f"pixel {row},{column}"][number] for column in range(8)] for row in range(8)]
        assert np.array_equal(image.get_array(), expected)
        assert image.get_clim() == pytest.approx((-scale, scale))
    assert bar.get_ylabel() == "weight"


def test_pixels_of_estimators_are_square_or_of_a_shape(tmp_path: Path) -> None:
    X, y = load_digits(n_class=2, return_X_y=True)
    fitted = Perceptron().fit(X, y)
    axes, _ = plots.weight_images(fitted).axes
    assert title(axes) == "1"
    assert np.array_equal(axes.images[0].get_array(), fitted.coef_.reshape(8, 8))
    axes, _ = plots.weight_images(fitted, shape=(4, 16)).axes
    assert np.array_equal(axes.images[0].get_array(), fitted.coef_.reshape(4, 16))
    axes, _ = plots.weight_images(markone.train(X, target=y.tolist(), epochs=1)).axes
    assert axes.images[0].get_array().shape == (8, 8)
    with pytest.raises(SettingsError, match=r"shape is \(3, 5\), which does not match 64 pixels"):
        plots.weight_images(fitted, shape=(3, 5))
    with pytest.raises(DataError, match=r"62 features that are no square of them; say shape=\(height, width\)"):
        plots.weight_images(Perceptron().fit(X[:, 2:], y))
    with pytest.raises(DataError, match="where features are pixels"):
        plots.weight_images(markone.train(["a b c d", "e"], target=[0, 1]))
    model = model_of_images(tmp_path, X[:9].reshape(-1, 8, 8) * 15, y[:9])
    with pytest.raises(SettingsError, match=r"the size of the model's images is \(8, 8\)"):
        plots.weight_images(model, shape=(4, 16))


# ---- results of experiments


CHANCES, TRUTH = np.array([0.1, 0.4, 0.35, 0.8, 0.9, 0.6]), np.array([0, 0, 1, 1, 1, 0])


def fold(number: int, truth: Any, predicted: Any, probabilities: Any = None, history: History | None = None) -> Fold:
    rows = np.arange(len(truth))
    score = float((truth == predicted).mean())
    return Fold(number, 1, 10, rows, truth, predicted, probabilities, score, seconds=0.1, history=history)


def validation(*histories: History, name: str = "logistic", with_probabilities: bool = True) -> Validation:
    """Two folds of three rows: of six rows four are right."""
    both = np.column_stack([1 - CHANCES, CHANCES])
    folds = [
        fold(number, TRUTH[some], (CHANCES[some] > 0.5).astype(int), both[some] if with_probabilities else None, one)
        for number, some, one in zip((1, 2), (slice(0, 3), slice(3, 6)), histories or (None, None), strict=True)
    ]
    return Validation("kfold", name, "accuracy", ["ham", "spam"], folds, trained=2)


def contender(name: str, right: int, *, with_probabilities: bool = False) -> Contender:
    """One that is right on so many of ten rows."""
    truth = np.zeros(10, np.int64)
    predicted = (np.arange(10) >= right).astype(np.int64)
    chances = np.column_stack([1 - 0.9 * predicted, 0.9 * predicted]) if with_probabilities else None
    found = Validation("holdout", name, "accuracy", ["ham", "spam"], [fold(1, truth, predicted, chances)], trained=1)
    return Contender(name, None, found, 0.1, None, None, with_probabilities, found.calibration, None)


def comparison(*contenders: Contender) -> Comparison:
    return Comparison(
        source="mail.csv",
        rows=10,
        classes=["ham", "spam"],
        design="hold-out",
        contenders=list(contenders),
        tests=[],
        verdict="",
        failures=[],
        seconds=0.1,
        feature_seconds=0.1,
    )


def test_curves_of_a_validation_are_means_of_its_folds() -> None:
    found = validation(
        history([5, 3, 1], last=[0.5, 0.6, 0.5], averaged=[0.6, 0.9, 0.7]),
        history([3, 1, 1], last=[0.7, 0.7, 0.7], averaged=[0.8, 0.9, 0.7]),
    )
    above, below = plots.curves(found).axes
    assert np.allclose(drawn(above, "while learning"), [(1, 0.4), (2, 0.2), (3, 0.1)])
    assert np.allclose(drawn(below, "averaged"), [(1, 0.7), (2, 0.9), (3, 0.7)])
    assert np.allclose(drawn(below, "last weights"), [(1, 0.6), (2, 0.65), (3, 0.6)])
    assert title(below) == "tested accuracy"
    assert "best: pass 2, 90.0%" in texts(below)  # so few rows may have lost it by chance
    by_chance = validation(history([5, 3], last=[0.5, 0.6]), history([3, 1], last=[0.8, 0.5]))
    assert "best: pass 1, 65.0%" in texts(plots.curves(by_chance))
    with pytest.raises(DataError, match="there are no curves"):
        plots.curves(validation())


# ---- confusions


def cells(axes: Any) -> dict[tuple[float, float], str]:
    """What is written in row and column."""
    return {(y, x): text.get_text() for text in axes.texts for x, y in [text.get_position()]}


def squares(collection: Any) -> dict[tuple[float, float], float]:
    """The shares that row and column are coloured by."""
    middles = [path.vertices[:4].mean(axis=0) for path in collection.get_paths()]
    return {(y, x): share for (x, y), share in zip(middles, collection.get_array().tolist(), strict=True)}


def test_confusions_of_a_validation() -> None:
    [axes] = plots.confusion(validation()).axes
    assert cells(axes) == {(0, 0): "2\n67%", (0, 1): "1\n33%", (1, 0): "1\n33%", (1, 1): "2\n67%"}
    assert ticks(axes.xaxis) == ticks(axes.yaxis) == ["ham", "spam"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("predicted", "is")
    assert title(axes) == "accuracy 66.7%: 4 of 6"
    right, wrong = map(squares, axes.collections)
    assert right == {(0, 0): pytest.approx(2 / 3), (1, 1): pytest.approx(2 / 3)}
    assert wrong == {(0, 1): pytest.approx(1 / 3), (1, 0): pytest.approx(1 / 3)}
    regression = replace(validation(), metric="mean squared error")
    with pytest.raises(DataError, match="a confusion matrix needs classes"):
        plots.confusion(regression)
    with pytest.raises(DataError, match="an evaluation or a validation, not a dict"):
        plots.confusion({})


def test_confusions_of_an_evaluation_have_a_row_for_unknown_labels() -> None:
    model = markone.train(["free money", "see you", "free"], target=["spam", "ham", "spam"], epochs=3)
    evaluation = model.evaluate(["free", "you", "free", "see"], ["spam", "ham", "eggs", "spam"])
    [axes] = plots.confusion(evaluation).axes
    assert ticks(axes.yaxis) == ["ham", "spam", "unknown"]
    assert ticks(axes.xaxis) == ["ham", "spam"]
    assert cells(axes) == {(0, 0): "1\n100%", (1, 0): "1\n50%", (1, 1): "1\n50%", (2, 1): "1\n100%"}
    assert title(axes) == "accuracy 50.0%: 2 of 4"


def many(classes: int, wrong: dict[tuple[int, int], int]) -> Evaluation:
    counts = {(i, i): 1000 + i for i in range(classes)} | wrong
    return Evaluation([f"class {i}" for i in range(classes)], counts, [])


def test_confusions_of_many_classes_stay_readable() -> None:
    [counts_only] = plots.confusion(many(20, {(3, 4): 7})).axes
    assert cells(counts_only)[3, 4] == "7" and cells(counts_only)[19, 19] == "1,019"
    [colours_only] = plots.confusion(many(30, {(3, 4): 7})).axes
    assert not cells(colours_only) and len(ticks(colours_only.xaxis)) == 30
    [merged] = plots.confusion(many(200, {(150, 7): 5, (7, 199): 3, (60, 60): 0})).axes
    names = ticks(merged.yaxis)
    assert len(names) == 40 and names[-1] == "161 others"
    assert {"class 7", "class 150", "class 199"} <= {*names}
    wrong = squares(merged.collections[1])
    assert wrong[names.index("class 150"), names.index("class 7")] == pytest.approx(5 / 1155)
    total = sum(1000 + i for i in range(200) if i != 60) + 8
    assert title(merged).endswith(f": {total - 8:,} of {total:,}")
    assert wrong[39, 39] == pytest.approx(1)  # in the colour of mistakes, since there may be some
    assert max(plots.confusion(many(200, {(0, 1): 1})).get_size_inches()) < 12


# ---- probabilities


def test_the_roc_curve_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    scores = rng.normal(size=200) + truth
    [axes] = plots.roc(np.where(truth == 1, "spam", "ham"), scores).axes
    wrong, found, _ = roc_curve(truth, scores)
    assert drawn(axes, "ROC") == list(zip(wrong, found, strict=True))
    assert title(axes) == f"finding spam: AUC {roc_auc_score(truth, scores):.3f}"
    assert axes.get_ylabel() == "true positive rate of spam"
    assert drawn(axes, "chance") == [(0, 0), (1, 1)]


def test_the_roc_curve_of_a_validation_and_of_a_model() -> None:
    [axes] = plots.roc(validation()).axes
    assert title(axes) == f"finding spam: AUC {roc_auc_score(TRUTH, CHANCES):.3f}"
    X, y = make_blobs(80, centers=2, cluster_std=4, random_state=1)
    model = markone.train(X, target=y.tolist(), epochs=2)
    [axes] = plots.roc(model, markone.read(X, target=y[:].tolist())).axes
    area = roc_auc_score(y, model.scores(X)[:, 1])
    assert 0.5 < area < 1
    assert title(axes) == f"finding 1: AUC {area:.3f}"
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(kind=y)
    model = markone.train(frame, target="kind", epochs=2)
    [axes] = plots.roc(model, frame).axes
    assert title(axes) == f"finding 1: AUC {roc_auc_score(y, model.scores(frame)[:, 1]):.3f}"


def test_infinite_scores_have_their_place() -> None:
    [axes] = plots.roc([0, 0, 1, 1], [-np.inf, 1, 0, np.inf]).axes
    assert title(axes) == "finding 1: AUC 0.750"


def test_what_has_no_roc_curve() -> None:
    for arguments, sentence in [
        (([0, 1, 2], [0, 1, 2]), "two classes, and there are 3"),
        (([1, 1], [0, 1]), "two classes, and there are 1"),
        (([0, 1], [[0, 1], [1, 0]]), "one score for each label"),
        (([0, 1],), r"labels and scores: roc\(truth, scores\)"),
        (([0, 1], [0, np.nan]), "some of the scores are NaN"),
        ((markone.train(["a", "b"], target=[0, 1]), ["a"]), "the labels are missing"),
        ((markone.train(["a", "b"], target=[0, 1]),), r"needs labelled examples: roc\(model, examples\)"),
        ((markone.train(["a", "b", "c"], target=[0, 1, 2]), ["a"]), "two classes, and there are 3"),
        ((markone.train(["a", "b"], target=[0, 1]), markone.read(["a"], target=[3])), "does not know the label 3"),
        ((markone.train(["a", "b"], target=[0, 1]), markone.read(["a"], target=[1])), "all examples belong to one"),
    ]:
        with pytest.raises(DataError, match=sentence):
            plots.roc(*arguments)
    with pytest.raises(DataError, match="mira has no probabilities; validate a rule that has them"):
        plots.roc(validation(name="mira", with_probabilities=False))


def test_calibration_shows_shares_and_counts() -> None:
    found = validation()
    assert found.calibration is not None
    figure = plots.calibration(found)
    above, below = figure.axes
    name = f"logistic: off by {found.calibration.error:.1%}"
    bins = found.calibration.bins
    assert drawn(above, name) == [(one.predicted, one.observed) for one in bins]
    assert drawn(below, name) == [(one.predicted, one.count) for one in bins]
    assert below.get_yscale() == "log"
    assert legend(figure) == [name]
    [dots] = above.collections
    assert dots.get_offsets().tolist() == [[one.predicted, one.observed] for one in bins]
    larger = np.argsort([one.count for one in bins], kind="stable")
    assert list(np.argsort(dots.get_sizes(), kind="stable")) == list(larger)
    assert len({*dots.get_sizes()}) == len({one.count for one in bins}) > 1


def test_calibrations_side_by_side() -> None:
    mira = contender("mira", 9)
    logistic = contender("logistic", 8, with_probabilities=True)
    bayes = contender("bayes", 7, with_probabilities=True)
    figure = plots.calibration(comparison(mira, logistic, bayes))
    assert legend(figure) == ["logistic: off by 18.0%", "bayes: off by 27.0%"]
    assert len({line.get_color() for line in figure.axes[0].lines}) == 3
    assert legend(plots.calibration([logistic, bayes.validation])) == legend(figure)
    for several in (mira, [logistic, mira], comparison(mira)):
        with pytest.raises(DataError, match="calibration needs probabilities, and mira has none"):
            plots.calibration(several)
    for other in ("logistic", [1, 2], 3):
        with pytest.raises(DataError, match="this plot needs validations or a comparison, not a"):
            plots.calibration(other)


# ---- comparisons


def test_accuracies_are_dots_with_intervals() -> None:
    contenders = [contender("mira", 9), contender("logistic", 8)]
    [axes] = plots.accuracies(comparison(*contenders)).axes
    assert ticks(axes.yaxis) == ["mira", "logistic"]
    assert [[*line.get_xdata()] for line in axes.lines] == [
        values for one in contenders for values in ([*one.validation.interval], [one.validation.mean])
    ]
    first, second = (axes.transData.transform((0.5, place))[1] for place in (0, 1))
    assert first > second
    heights = {text.get_text(): text.xy[1] for text in axes.texts}
    assert heights == {"80.0%": pytest.approx(0.25), "90.0%": pytest.approx(0.75)}
    with pytest.raises(DataError, match="no contenders to draw"):
        plots.accuracies(comparison())


def test_pictures_of_a_real_comparison() -> None:
    X, y = blobs()
    found = markone.compare(X, target=y.tolist(), rules=["perceptron", "logistic"], folds=3)
    page = found.html()
    best = found.contenders[0].validation
    for picture in (plots.accuracies(found), plots.calibration(found), plots.confusion(best)):
        assert plots.svg(picture) in page
    [axes] = plots.confusion(best).axes
    assert title(axes).endswith(f": {round(best.mean * 60)} of 60")


# ---- the lectures'


def test_regressions_say_their_leave_one_out_errors() -> None:
    rng = np.random.default_rng(0)
    x = np.linspace(0, 4, 12)
    y = x**2 + rng.normal(size=12) / 4
    quadratic = make_pipeline(PolynomialFeatures(2), LinearRegression())
    straight, bent = plots.regressions(x, y, {"linear": LinearRegression(), "quadratic": quadratic}).axes
    for axes, model in ((straight, LinearRegression()), (bent, quadratic)):
        guesses = []
        for i in range(12):
            others = np.arange(12) != i
            guesses.append(model.fit(x[others, None], y[others]).predict(x[[i], None])[0])
        error = np.mean((np.array(guesses) - y) ** 2)
        assert title(axes).endswith(f"\nleave-one-out MSE: {error:.3g}")
        [from_points] = axes.collections
        assert np.allclose([segment[1][1] for segment in from_points.get_segments()], guesses)
        assert drawn(axes, "points") == list(zip(x, y, strict=True))
        fitted = model.fit(x[:, None], y).predict(lines(axes)["fitted"].get_xdata()[:, None])
        assert np.allclose(lines(axes)["fitted"].get_ydata(), fitted)
    assert title(straight).startswith("linear\n") and title(bent).startswith("quadratic\n")
    assert title(plots.regressions(x, y, [LinearRegression()]).axes[0]).startswith("linear regression\n")
    assert [text.get_color() for text in bent.findobj(Text) if text.get_text() == title(bent)] == [drawing.BLUE]
    assert (lines(straight)["fitted"].get_color(), lines(bent)["fitted"].get_color()) == (
        drawing.VERMILION,
        drawing.BLUE,
    )


def test_what_is_no_regression() -> None:
    for arguments, sentence in [
        (([1, 2, 3], [1, 2]), "there are 3 points and 2 values to predict"),
        (([1, 2], [1, 2]), "needs at least three points, and there are 2"),
        ((np.ones((3, 2)), [1, 2, 3]), r"X must be one number for each point; its shape is \(3, 2\)"),
        (([1, 2, 3], list("abc")), "y must be numbers"),
        (([1, 2, np.inf], [1, 2, 3]), "X has values that are not finite"),
    ]:
        with pytest.raises(DataError, match=sentence):
            plots.regressions(*arguments, [LinearRegression()])
    with pytest.raises(DataError, match="no regression to draw"):
        plots.regressions([1, 2, 3], [1, 2, 3], [])


def test_losses_are_those_of_the_lectures() -> None:
    [axes] = plots.losses_curve().axes

    def at(name: str, margin: float) -> float:
        [line] = [line for label, line in lines(axes).items() if label.startswith(name)]
        return float(np.interp(margin, *line.get_data()))

    assert [at("0/1", m) for m in (-1, 1)] == [1, 0]
    assert [at("perceptron", m) for m in (-1, 0.5)] == pytest.approx([1, 0])
    assert [at("hinge", m) for m in (-1, 0.5, 2)] == pytest.approx([2, 0.5, 0], abs=0.01)
    assert [at("logistic", m) for m in (-1, 0)] == pytest.approx([np.log1p(np.e), np.log(2)], abs=1e-3)
    sigmoid = [1 / (1 + np.exp(-m)) for m in (-1, 0, 2)]
    assert [at("squared", m) for m in (-1, 0, 2)] == pytest.approx([(1 - p) ** 2 / 2 for p in sigmoid], abs=1e-3)
    written = texts(axes)
    assert all(name in written for name in lines(axes) if not name.startswith("_"))


# ---- the page of pictures


DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_shows_every_picture_and_its_script_draws_them(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_pictures", DOCS / "make_pictures.py")
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (DOCS / "pictures.md").read_text(encoding="utf-8")
    assert script.svg_file is svg_file
    monkeypatch.setattr(script, "svg_file", lambda figures: figures[0])  # what it makes of any, other tests show
    pictures = script.draw()
    assert [str(path.relative_to(DOCS)) for path in pictures] == re.findall(r"\]\((_pictures/.*?)\)", page)
    assert all(isinstance(picture, Figure) for picture in pictures.values())
    assert {*re.findall(r"plots\.(\w+)\(", page)} == {*plots.__all__}


def test_a_learning_curve_by_rows() -> None:
    X, y = blobs()
    curve = markone.learning_curve(X, target=y, sizes=[4, 10, 40], repeats=3)
    [axes] = plots.learning_curve(curve).axes
    assert drawn(axes, "held-out rows") == [(one.rows, one.held_out) for one in curve]
    assert drawn(axes, "training rows") == [(one.rows, one.training) for one in curve]
    assert len(axes.collections) == 1  # the band of the repeats
    assert title(axes) == "mira, tested on 18 held-out rows" and axes.get_xscale() == "log"
    with pytest.raises(DataError, match="needs the result of markone.learning_curve, not a int"):
        plots.learning_curve(5)


# ---- theory


def test_the_length_of_weights_is_drawn_between_its_bounds() -> None:
    model = watched()
    found = model.history.bounds
    assert found is not None and found.margin is not None
    [axes] = plots.bounds(model).axes
    assert drawn(axes, "|w|²") == [(0, 0), *found.points]
    assert drawn(axes, "kR²")[-1] == pytest.approx((found.mistakes, found.mistakes * found.radius2))
    [lowest] = [name for name in lines(axes) if name.startswith("k²γ², γ = ")]
    assert drawn(axes, lowest)[-1] == pytest.approx((found.mistakes, (found.mistakes * found.margin) ** 2))
    assert title(axes) == f"{found.mistakes} mistakes; the theory allows at most {int(found.bound or 0):,}"
    assert plots.svg(plots.bounds(found)) == plots.svg(plots.bounds(model.history)) == plots.svg(plots.bounds(model))
    unknown = plots.bounds(replace(found, found=None)).axes[0]
    assert any(name.startswith("k²γ², γ ≤ ") for name in lines(unknown)) and "allows" not in title(unknown)


def test_the_angle_is_drawn_below_its_bound() -> None:
    run = markone.trace([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1], epochs=50)
    found = run.invariants()
    [axes] = plots.angles(run).axes
    assert drawn(axes, "angle") == [(one.k, one.angle) for one in found]
    assert drawn(axes, "at most")[-1] == pytest.approx((len(found), found.largest_angle(len(found))))
    assert title(axes).startswith("18 mistakes; the cosine is at least")
    assert plots.svg(plots.angles(found)) == plots.svg(plots.angles(run))
    [axes] = plots.bounds(found).axes
    assert drawn(axes, "|w|²") == [(0, 0), *((one.k, one.norm2) for one in found)]
    exclusive = markone.trace([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    for what, problem in (
        (exclusive, "no plane is known that separates the rows"),
        (replace(found, mistakes=()), "the run made no mistake"),
        (5, "needs a trace or its invariants, not a int"),
    ):
        with pytest.raises(DataError, match=problem):
            plots.angles(what)


def test_margins_are_drawn_by_each_weights() -> None:
    model = watched()
    found = markone.margins(model, *LECTURE)
    figure = plots.margins(found)
    for axes, (name, spread) in zip(figure.axes, found.spreads().items(), strict=True):
        assert title(axes) == f"{name} weights: 0.0% below 0, smallest {spread.smallest:.4g}"
        bars = [bar for bar in axes.patches if bar.get_height()]  # type: ignore[attr-defined]
        assert sum(bar.get_height() for bar in bars) == 3  # type: ignore[attr-defined]
    one = markone.train(LECTURE[0], target=LECTURE[1], rule="perceptron", average=False, epochs=1)
    wrong = markone.margins(one, LECTURE[0], ["-", "+", "-"])
    figure = plots.margins({"right": found, "wrong": wrong})
    assert title(figure.axes[2]).startswith("wrong\nlast weights: ") and len(figure.axes) == 3
    colours = {to_hex(bar.get_facecolor()) for bar in figure.axes[2].patches if bar.get_height()}  # type: ignore[attr-defined]
    assert to_hex(drawing.VERMILION) in colours


def test_what_has_no_bounds_and_no_margins() -> None:
    model = watched()
    found = model.history.bounds
    assert found is not None
    for what, problem in (
        (replace(model.history, bounds=None), "did not record its bounds; train with rule='perceptron', bounds=True"),
        (replace(found, points=()), "made no mistake"),
        (5, "not a int"),
    ):
        with pytest.raises(DataError, match=problem):
            plots.bounds(what)
    with pytest.raises(DataError, match="this plot needs the result of markone.margins, not a Model"):
        plots.margins(model)
    with pytest.raises(DataError, match="there are no margins to draw"):
        plots.margins({})


# ---- runs


def test_a_step_shows_the_boundary_before_and_after_it() -> None:
    run = markone.trace(*LECTURE, tie="negative", bias=False)
    figure = plots.step(run, 0)
    [axes] = figure.axes
    assert title(axes) == "Pass 1, row 1: wrong"
    assert "before" not in legend(figure)  # all weights were 0
    ends = np.array(drawn(axes, "after"))
    assert ends @ [3, 2] == pytest.approx([0, 0], abs=1e-6)  # which the weights are after it
    assert drawn(axes, "_visited") == [(3, 2)]
    figure = plots.step(run, 1)
    assert title(figure.axes[0]) == "Pass 1, row 2: right"
    assert drawn(figure.axes[0], "before") == drawn(figure.axes[0], "after")
    assert legend(figure) == ["-", "+", "before", "after"]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_of_many_features_it_shows_the_principal_components(kind: str) -> None:
    X, y = make_blobs(60, centers=3, n_features=5, random_state=0)
    given = scipy.sparse.csr_matrix(X) if kind == "sparse" else X
    run = markone.trace(given, y, steps=100)
    figure = plots.step(run, -1)
    [axes] = figure.axes
    assert axes.get_xlabel() == "first principal component"
    weights = run.tables()[0].values
    said = (X @ weights[:-1] + weights[-1]).argmax(axis=1)
    regions = [patch.get_path() for patch in axes.patches]
    assert len(regions) == 3
    for number, region in enumerate(regions):
        points = np.column_stack(lines(axes)[str(number)].get_data())
        # The components hold nearly all that there is, so that most points are in the region of what was said.
        inside = region.contains_points(points) == (said[y == number] == number)
        assert inside.mean() > 0.8


def test_regions_cover_the_plane_and_end_where_scores_are_equal() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(40, 2)), random.integers(0, 3, 40)
    run = markone.trace(X, y, steps=40)
    view = steps.View.of(run)
    lines_of = view.lines(run, -1)
    regions = view.regions(lines_of)
    areas = [abs(np.sum(r[:, 0] * np.roll(r[:, 1], 1) - r[:, 1] * np.roll(r[:, 0], 1))) / 2 for r in regions]
    assert sum(areas) == pytest.approx(np.prod(view.high - view.low))
    places = random.uniform(view.low, view.high, (500, 2))
    best = (places @ lines_of[:, :2].T + lines_of[:, 2]).argmax(axis=1)
    for number, region in enumerate(regions):
        if len(region):
            assert MatplotlibPath(region).contains_points(places).tolist() == (best == number).tolist()


def test_a_run_is_animated(tmp_path: Path) -> None:
    from PIL import Image

    run = markone.trace(*LECTURE, tie="negative", bias=False)
    plots.animation(run, tmp_path / "run.gif", seconds=0.5)
    with Image.open(tmp_path / "run.gif") as image:
        updates = sum(bool(one.changes) for one in run)
        assert image.n_frames == updates + 1
        assert image.info["duration"] == 500
        pictures = []
        for number in range(image.n_frames):
            image.seek(number)
            pictures.append(image.convert("RGB").tobytes())
        assert len(set(pictures)) == len(pictures)


def test_a_run_is_a_page_of_its_own(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    run = markone.trace([[3, 2], [-2, 2], [-2, -3]], [hostile, "-", hostile], bias=False)
    plots.animation(run, tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    assert "http" not in page.replace("http://www.w3.org/", "") and "alert(1)</script>" not in page
    facts = json.loads(re.search(r'type="application/json">(.*?)</script>', page)[1])  # type: ignore[index]
    assert facts["frames"][0]["title"] == "Before the first step"
    assert len(facts["frames"]) == 1 + sum(bool(one.changes) for one in run)
    for frame in facts["frames"][1:]:
        for x, y in [*frame["line"], *frame["rings"], *itertools.chain(*frame["regions"])]:
            assert 0 <= x <= 6 * 72 and 0 <= y <= 4.5 * 72


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to run the script")
def test_the_script_shows_the_frame_that_is_chosen(tmp_path: Path) -> None:
    run = markone.trace(*LECTURE, tie="negative", bias=False)
    plots.animation(run, tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    facts = re.search(r'type="application/json">(.*?)</script>', page)[1]  # type: ignore[index]
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]  # type: ignore[index]
    (tmp_path / "run.js").write_text(STAGE.replace("FACTS", json.dumps(facts)).replace("SCRIPT", script))
    out = subprocess.run(["node", str(tmp_path / "run.js")], capture_output=True, text=True, check=True, timeout=60)
    seen = json.loads(out.stdout)
    frames = json.loads(facts)["frames"]
    assert [one["title"] for one in seen] == [
        f"{frame['title']} ({number} of {len(frames) - 1})" for number, frame in enumerate(frames)
    ]
    assert [one["lines"] for one in seen] == [int(bool(frame["line"])) for frame in frames]
    assert [one["circles"] for one in seen] == [len(frame["rings"]) for frame in frames]


STAGE = """
const element = name => ({name, children: [], style: {}, append(e) { this.children.push(e); }, setAttribute() {},
  replaceChildren() { this.children = []; }, appendChild(e) { this.children.push(e); return e; },
  insertBefore(e) { this.children.unshift(e); return e; }, querySelector() { return null; }});
const parts = {facts: {textContent: FACTS}, at: {value: "0", max: "0"}, play: {}, title: {}};
parts.at.max = String(JSON.parse(parts.facts.textContent).frames.length - 1);
const stage = element("svg");
globalThis.document = {getElementById: id => parts[id], querySelector: () => stage,
  createElementNS: (_, name) => element(name)};
SCRIPT
const seen = [];
for (let i = 0; i <= Number(parts.at.max); ++i) {
  parts.at.value = String(i); parts.at.oninput();
  const drawn = stage.children.flatMap(g => g.children.map(e => e.name));
  seen.push({title: parts.title.textContent, lines: drawn.filter(n => n === "line").length,
    circles: drawn.filter(n => n === "circle").length});
}
console.log(JSON.stringify(seen));
"""


@pytest.mark.parametrize(
    ("draw", "problem"),
    [
        (lambda run: plots.animation(run, "run.mp4"), r"path must end in .gif or .html, not in .mp4"),
        (lambda run: plots.animation(run, "run.gif", seconds=0), "seconds must be greater than 0"),
        (lambda _: plots.step(markone.trace([[1.0], [2.0]], ["a", "b"]), 0), "there is only one"),
        (lambda _: plots.step(markone.trace(*LECTURE, rule="mlp"), 0), "those of mlp are not"),
        (lambda _: plots.animation(markone.trace([[0.0, 0], [0, 0]], ["a", "b"], bias=False), "a.gif"), "no step of"),
    ],
)
def test_what_cannot_be_shown_of_a_run_is_told(draw: Any, problem: str) -> None:
    with pytest.raises((DataError, SettingsError), match=problem):
        draw(markone.trace(*LECTURE))


# ---- certificates


def test_the_band_of_a_certificate_is_as_wide_as_its_margin() -> None:
    X, y = np.array([[0.0, 0], [0, 2], [3, 0], [3, 2], [9, 1]]), ["a", "a", "b", "b", "b"]
    figure = plots.certificate(markone.certify(X, y), X, y)
    [axes] = figure.axes
    assert axes.get_title(loc="left") == "A margin of 1.5; no line has more than 1.5"
    assert legend(figure) == ["a", "b", "boundary", "margins", "support vectors"]
    heights = {round(x, 6) for line in axes.get_lines() if line.get_label() == "margins" for x in line.get_xdata()}
    assert heights == {0, 3} and {round(x, 6) for x, _ in drawn(axes, "boundary")} == {1.5}
    assert {x for x, _ in drawn(axes, "support vectors")} == {0, 3}


def test_the_two_sides_of_a_proof_meet() -> None:
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    figure = plots.certificate(markone.certify(X, y), X, y)
    assert legend(figure) == ["0", "1", "where both sides meet", "proof"]
    assert drawn(figure.axes[0], "where both sides meet") == [(0.5, 0.5)]
    without = markone.certify(X, y, bias=False)
    assert legend(plots.certificate(without, X, y)) == ["0", "1", "proof"]


def test_a_certificate_of_three_classes_has_boundaries() -> None:
    X, y = blobs(3)
    figure = plots.certificate(markone.certify(X, y), X, y)
    assert "boundary" in legend(figure) and figure.axes[0].collections


def test_certificates_that_cannot_be_drawn() -> None:
    X, y = [[0, 0], [1, 1]], [0, 1]
    with pytest.raises(DataError, match="of 2 rows of 2 features; here are 3 rows of 2"):
        plots.certificate(markone.certify(X, y), [*X, [2, 2]], [0, 1, 1])
    with pytest.raises(DataError, match="of 2 rows of 2 features; here are 2 rows of 3"):
        plots.certificate(markone.certify(X, y), np.eye(3)[:2], y)
    with pytest.raises(DataError, match="the classes of the certificate are 0, 1, and those of the examples are 0, 2"):
        plots.certificate(markone.certify(X, y), X, [0, 2])


def test_a_certificate_of_more_features_is_drawn_by_exact_distances() -> None:
    X, y = np.array([[0.0, 0, 0], [0, 2, 1], [3, 0, 0], [3, 2, 1], [9, 1, 5]]), ["a", "a", "b", "b", "b"]
    certificate = markone.certify(X, y)
    [axes] = plots.certificate(certificate, X, y).axes
    assert title(axes) == ("A margin of 1.5; no plane has more than 1.5\n0 of 5 examples are not on the right side")
    assert certificate.plane is not None
    w, b = certificate.plane.weights[:, 0], certificate.plane.bias[0]
    distances = (X @ w + b) * np.where(np.array(y) == "b", 1, -1) / np.linalg.norm(w)
    for bar in axes.patches:
        left, right = bar.get_x() - 1e-9, bar.get_x() + bar.get_width() + 1e-9  # type: ignore[attr-defined]
        middle, half = (left + right) / 2, (right - left) / 2 / 0.92
        inside = (distances >= middle - half) & (distances < middle + half)
        assert bar.get_height() == inside.sum()  # type: ignore[attr-defined]
    [line] = axes.lines
    assert line.get_xdata()[0] == pytest.approx(1.5)
    twice = np.vstack([X, X[:1]])
    figure = plots.certificate(markone.certify(twice, [*y, "b"]), twice, [*y, "b"])
    assert title(figure.axes[0]).startswith("No plane separates these 6 rows; this one comes closest\n1 of 6 ")


def test_a_certificate_of_a_frame_is_drawn_with_the_features_that_were_certified() -> None:
    frame = pd.DataFrame({"height": [1.0, 2, 30, 40], "weight": [5.0, 6, 7, 9]})
    figure = plots.certificate(markone.certify(frame, list("aabb")), frame, list("aabb"))
    [axes] = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("height", "weight")
    (x0, y0), (x1, y1) = drawn(axes, "boundary")
    sides = [(x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) for label in "ab" for x, y in drawn(axes, label)]
    assert len({side > 0 for side in sides[:2]}) == len({side > 0 for side in sides[2:]}) == 1
    assert (sides[0] > 0) != (sides[2] > 0)


# ---- folds, paths and explanations


def test_each_fold_has_a_dot_and_the_mean_its_interval() -> None:
    found = validation()
    [axes] = plots.folds(found).axes
    assert drawn(axes, "folds") == [(1, 2 / 3), (2, 2 / 3)]
    assert {y for _, y in drawn(axes, "mean")} == {found.mean}
    assert "mean 66.7%" in texts(axes)
    [band] = axes.patches
    low, high = axes.transData.inverted().transform_bbox(band.get_window_extent()).intervaly
    assert (low, high) == pytest.approx(found.interval)
    with pytest.raises(DataError, match="only one fold"):
        plots.folds(contender("mira", 8).validation)
    with pytest.raises(DataError, match="needs a validation, not a dict"):
        plots.folds({})


def test_paths_are_the_weights_after_each_step() -> None:
    run = markone.trace(*LECTURE, bias=False, tie="negative")
    [axes] = plots.paths(run).axes
    for place, name in enumerate(["x0", "x1"]):
        weights = [run.tables(number)[0].values[place, 0] for number in range(len(run))]
        assert drawn(axes, name) == list(zip(range(len(run) + 1), [0.0, *weights], strict=True))
    assert title(axes) == "weights of +"
    assert {"x0", "x1"} <= {*texts(axes)}


def test_paths_count_steps_that_are_not_shown() -> None:
    whole, some = markone.trace(*LECTURE), markone.trace(*LECTURE, only_mistakes=True)
    assert len(some) < len(whole)
    [axes], [other] = plots.paths(whole).axes, plots.paths(some).axes
    for name in ("x0", "x1", "BIAS"):
        course = dict(drawn(axes, name))
        assert drawn(other, name) == [(0, 0), *((step.number, course[step.number]) for step in some)]


def test_of_many_classes_those_with_the_largest_weights_have_paths() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), [f"c{i % 20}" for i in range(40)]
    run = markone.trace(X, y, steps=40)
    figure = plots.paths(run)
    assert len(figure.axes) == 12
    assert "12 of 20: those with the largest weights" in texts(figure)
    table = run.tables()[0]
    assert title(figure.axes[0]) in {f"weights of {label}" for label in table.columns}
    with pytest.raises(DataError, match="no step of this trace changed"):
        plots.paths(markone.trace([[0.0, 0], [0, 0]], ["a", "b"], bias=False))
    with pytest.raises(DataError, match="result of markone.trace, not a list"):
        plots.paths([])  # type: ignore[arg-type]


def test_products_are_those_of_the_explanation() -> None:
    model = texts_model()
    found = model.explain("free money you")
    figure = plots.products(found)
    [axes] = figure.axes
    assert [bar.get_width() for bar in axes.patches] == [row.product for row in found.difference.rows]  # type: ignore[attr-defined]
    assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(found.difference.score)  # type: ignore[attr-defined]
    assert (title(axes), axes.get_title(loc="right")) == ("← ham", "spam →")
    assert any(text.startswith("prediction: spam; score ") for text in texts(figure))
    short = plots.products(model.explain("free money you see", top=1)).axes[0]
    assert ticks(short.yaxis)[-1].endswith(" more features") and len(short.patches) == 2
    assert sum(bar.get_width() for bar in short.patches) == pytest.approx(  # type: ignore[attr-defined]
        model.explain("free money you see").difference.score
    )
    with pytest.raises(DataError, match="the explanation of a prediction, not a ModelExplanation"):
        plots.products(model.explain())


def test_products_of_several_classes_are_of_the_difference_and_of_networks_need_not_add_up() -> None:
    three = markone.train(["a", "b", "c"] * 3, target=["x", "y", "z"] * 3)
    found = three.explain("a c")
    [axes] = plots.products(found).axes
    assert axes.get_title(loc="right") == f"{found.prediction} →" and title(axes) == f"← {found.runner_up}"
    network = markone.train(["a", "b"] * 4, target=["x", "y"] * 4, rule="mlp")
    [axes] = plots.products(network.explain("a b", top=1)).axes
    assert axes.get_xlabel() == "what the score loses without the feature"
    assert not any("more features" in name for name in ticks(axes.yaxis))


def test_odds_are_drawn_on_a_scale_of_powers_and_infinite_ones_are_hatched() -> None:
    found = texts_model("naive-bayes").explain()
    panels = plots.odds(found).axes
    assert list(map(title, panels)) == ["ham", "spam"]
    for axes, one in zip(panels, found.classes, strict=True):
        assert ticks(axes.yaxis) == [ratio.feature for ratio in one.ratios]
        lengths = [10 ** bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
        assert lengths == pytest.approx([ratio.odds for ratio in one.ratios])
    endless = plots.odds(texts_model("naive-bayes", k=0).explain()).axes[0]
    assert all(name.endswith(": ∞") for name in ticks(endless.yaxis))
    assert all(bar.get_hatch() for bar in endless.patches)
    X, y = blobs()
    numeric = markone.train(X, target=y.tolist(), rule="naive-bayes").explain()
    with pytest.raises(DataError, match="no odds to draw"):
        plots.odds(numeric)
    with pytest.raises(DataError, match="no measurements to draw"):
        plots.measurements(found)
    for draw in (plots.odds, plots.measurements):
        with pytest.raises(DataError, match="not a dict"):
            draw({})


def test_measurements_are_means_with_a_deviation() -> None:
    X, y = blobs()
    found = markone.train({"a": X[:, 0], "b": X[:, 1]}, target=y.tolist(), rule="naive-bayes").explain()
    panels = plots.measurements(found).axes
    assert list(map(title, panels)) == ["a", "b"]
    for axes, number in zip(panels, found.numbers, strict=True):
        assert [line.get_xdata()[0] for line in axes.lines] == pytest.approx(number.mean)
        ends = [one.get_segments()[0][:, 0] for one in axes.collections]  # type: ignore[attr-defined]
        assert [(high - low) / 2 for low, high in ends] == pytest.approx(number.deviation)


# ---- files


def test_figures_suit_light_and_dark_pages(pictures: dict[str, Figure]) -> None:
    for name, picture in pictures.items():
        text = plots.svg(picture)
        assert drawing.INK.lower() not in text.lower() and "currentColor" in text, name
        for tag in re.findall(r"<(?:path|rect|polygon)[^>]*>", text):
            box = re.search(r'd="M 0 ([\d.]+) \nL ([\d.]+)', tag)
            assert box is None or "fill: none" in tag, name  # the ground
        file = svg_file([picture])
        assert "@media (prefers-color-scheme: dark)" in file and ET.fromstring(file)[0].text


def test_coloured_words_are_mixed_with_the_ink_and_lines_are_not() -> None:
    text = plots.svg(plots.losses_curve())
    mixed = "fill: #0072b2; fill: color-mix(in srgb, #0072b2 70%, currentColor)"
    assert mixed in text and "stroke: color-mix" not in text


def test_figures_are_saved_one_below_the_other(tmp_path: Path) -> None:
    one, other = plots.losses_curve(), plots.weights(texts_model())
    one.set_label('one "<&>" \x00')
    plots.save([one, other], tmp_path / "both.svg")
    plots.save([one, other], tmp_path / "both.png")
    plots.save([one, other], tmp_path / "both.html", title="<b>")
    root = ET.parse(tmp_path / "both.svg").getroot()
    first, second = (part for part in root if part.tag.endswith("svg"))
    assert float(second.attrib["y"]) == pytest.approx(72 * one.get_figheight() + 12)
    assert float(root.attrib["height"].removesuffix("pt")) == pytest.approx(
        72 * (one.get_figheight() + other.get_figheight()) + 12
    )
    assert first.attrib["aria-label"] == 'one "<&>" \\x00'
    with Image.open(tmp_path / "both.png") as image:
        inches = one.get_figheight() + other.get_figheight() + 12 / 72
        assert image.height == pytest.approx(160 * inches, abs=3)
        assert image.info["dpi"] == pytest.approx((160, 160), abs=0.1)
    page = (tmp_path / "both.html").read_text()
    assert page.count("<figure>") == 2 and "<title>&lt;b&gt;</title>" in page
    assert "<figcaption>one &quot;&lt;&amp;&gt;&quot; \\x00</figcaption>" in page
    assert one.dpi == Figure().dpi
    for path in ("both.svg", "both.png"):
        plots.save([one, other], tmp_path / path)
        before = (tmp_path / path).read_bytes()
        plots.save([one, other], tmp_path / path)
        assert (tmp_path / path).read_bytes() == before


def test_what_cannot_be_saved_gets_a_sentence(tmp_path: Path) -> None:
    figure = plots.losses_curve()
    for path, problem in [
        (tmp_path / "a.gif", "path must end in .png, .svg or .html here, not in .gif: there is no animation of this"),
        (tmp_path / "a.PDF", "path must end in .png, .svg or .html, not in .pdf"),
        (tmp_path / "png", "path must end in .png, .svg or .html, and '.*png' does not"),
        (tmp_path / "no" / "a.png", "the folder .* for the picture does not exist"),
    ]:
        with pytest.raises((SettingsError, DataError), match=problem):
            plots.save(figure, path)
    with pytest.raises(DataError, match="no figure to save"):
        plots.save([], tmp_path / "a.png")
    assert not any(tmp_path.iterdir())


def test_a_very_tall_picture_has_fewer_dots(tmp_path: Path) -> None:
    tall = Figure(figsize=(1, 400))
    plots.save(tall, tmp_path / "tall.png")
    with Image.open(tmp_path / "tall.png") as image:
        assert image.height <= 2**15 + 1
