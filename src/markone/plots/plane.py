"""Plots points in the plane, and the regions in which a model predicts each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from markone.data.source import Label
from markone.errors import DataError
from markone.features.examples import names_in
from markone.model.model import Model
from markone.plots.colours import INK, QUIET
from markone.plots.drawing import (
    SMALL,
    Mark,
    entitle,
    finished,
    label_text,
    mark_of,
    name_axes,
    name_text,
    new_figure,
    tidy,
)

Points = NDArray[np.float64]

SIDE = 256
"""The number of grid points in each direction for which the model makes a prediction."""
EDGE = 0.08
TINT = 0.22
MARGINS = (-1.0, 1.0)
SAME_PLANE = 1e-4
"""The relative error up to which scores count as linear, since they have 32 bits."""
MOST_DRAWN_AS_SHAPES = 3000
LARGEST_SCORE = 1e30


def boundary(model: Any, X: Any, y: Any) -> Figure:
    """Draw points in the plane coloured by class, over the regions in which the model predicts each class.

    Of two classes the boundary between them is a line and, where the score is linear in both features, dashed lines
    are the margins, at the scores 1 and -1.

    Parameters
    ----------
    model
        A `Model` of two numeric columns, or a fitted classifier with scikit-learn's interface.
    X
        The points: an array with two columns, or a frame with the model's.
    y
        Their labels.

    Examples
    --------
    >>> from markone import Perceptron
    >>> from markone.plots import boundary
    >>> X, y = [[3, 2], [-2, 2], [-2, -3]], ["+", "-", "+"]
    >>> figure = boundary(Perceptron(average=False, shuffle=False).fit(X, y), X, y)
    >>> figure.axes[0].get_title(loc="left")
    '3 of 3 points are classified correctly'
    """
    plane = plane_of(model, X)
    numbers = numbers_of(y, plane)
    low, high = frame(plane.points)
    across, up = (np.linspace(low[i], high[i], SIDE) for i in range(2))
    places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    said = plane.predict(places).reshape(SIDE, SIDE)

    figure = new_figure(6, 4.5)
    axes = tidy(figure.add_subplot(), grid=None)
    marks = list(map(mark_of, range(len(plane.classes))))
    tints = ListedColormap([tint(mark) for mark in marks])
    axes.imshow(
        said,
        cmap=tints,
        vmin=-0.5,
        vmax=len(marks) - 0.5,
        extent=(low[0], high[0], low[1], high[1]),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    handles = draw_points(axes, plane.points, numbers, plane.classes)
    if len(plane.classes) == 2:
        handles += draw_lines(axes, plane, said, across, up)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    name_axes(axes, *map(name_text, plane.names))
    right = int((plane.predict(plane.points) == numbers).sum())
    entitle(axes, f"{right:,} of {len(numbers):,} points are classified correctly")
    figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=SMALL)
    return finished(figure, f"Decision boundary: {right:,} of {len(numbers):,} points are classified correctly")


def draw_points(axes: Axes, points: Points, numbers: NDArray[Any], classes: Sequence[Label]) -> list[Line2D]:
    """Draw points with the marks of their classes, and return the entries of the legend. Many points are one image."""
    handles = []
    for number, label in enumerate(classes):
        mark = mark_of(number)
        handles += axes.plot(
            *points[numbers == number].T,
            mark.marker,
            color=mark.colour,
            markeredgecolor="white",
            markeredgewidth=0.5,
            markersize=6 if len(numbers) <= 500 else 4,
            label=label_text(label),
            rasterized=len(numbers) > MOST_DRAWN_AS_SHAPES,
        )
    return handles


def draw_lines(
    axes: Any, plane: PlaneView, said: NDArray[np.int64], across: NDArray[np.float64], up: NDArray[np.float64]
) -> list[Line2D]:
    """Draw the boundary and, if the scores are linear, the margins; return the entries of the legend."""
    places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    scores = np.clip(np.nan_to_num(plane.scores(places)), -LARGEST_SCORE, LARGEST_SCORE).reshape(SIDE, SIDE)
    boundary_style = {"color": INK, "linewidth": 1.5}
    slope = linear(scores)
    if slope is None:
        if not scores.min() < 0 < scores.max():
            return []
        axes.contour(across, up, scores, levels=[0], colors=[INK], linewidths=[1.5])
        return [Line2D([], [], label="boundary", **boundary_style)]  # type: ignore[arg-type]
    low, size = np.array([across[0], up[0]]), np.array([np.ptp(across), np.ptp(up)])
    found: dict[str, Line2D] = {}
    for level in (0.0, *MARGINS):
        ends = crossing(*slope[:2], slope[2] - level)
        if ends is not None:
            name, style = "boundary", boundary_style
            if level:
                name, style = "margins", {"color": QUIET, "linewidth": 1.2, "linestyle": (0, (4, 3))}
            [line] = axes.plot(*(low + ends * size).T, label=name, **style)
            found[name] = line
    return list(found.values())


def linear(scores: Points) -> tuple[float, float, float] | None:
    """Return a, b and c if the scores on a grid over the unit square are a u + b v + c; else None."""
    side = np.linspace(0, 1, SIDE)
    a = float((scores[:, -1] - scores[:, 0]).mean())
    b = float((scores[-1] - scores[0]).mean())
    c = float(scores.mean()) - (a + b) / 2
    strays = np.abs(a * side[None, :] + b * side[:, None] + c - scores).max()
    return (a, b, c) if strays <= SAME_PLANE * np.ptp(scores) and (a or b) else None


def crossing(a: float, b: float, c: float) -> Points | None:
    """Return the ends of the line a u + b v + c = 0 in the unit square, or None if it does not cross the square.

    >>> crossing(1, -1, 0).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    ends = []
    for side in (0.0, 1.0):
        if b and 0 <= -(a * side + c) / b <= 1:
            ends.append((side, -(a * side + c) / b + 0.0))
        if a and 0 <= -(b * side + c) / a <= 1:
            ends.append((-(b * side + c) / a + 0.0, side))
    ends = sorted(set(ends))
    return np.array([ends[0], ends[-1]]) if len(ends) > 1 else None


def frame(points: Points) -> tuple[Points, Points]:
    low, high = points.min(axis=0), points.max(axis=0)
    edge = np.where(high > low, EDGE * (high - low), 1.0)
    return low - edge, high + edge


def tint(mark: Mark) -> tuple[float, ...]:
    """Return the colour of a class as its region has it: transparent, so that it suits light and dark pages."""
    return (*to_rgb(mark.colour), TINT)


# ---- the model and the points


@dataclass(frozen=True)
class PlaneView:
    """A model or classifier with two features."""

    names: tuple[str, str]
    classes: list[Label]
    points: Points
    predict: Callable[[Points], NDArray[np.int64]]
    """A function that predicts the numbers of the classes."""
    scores: Callable[[Points], Points]
    """A function that returns scores for two classes: negative for the first, positive for the second."""


def plane_of(model: Any, X: Any) -> PlaneView:
    return of_model(model, X) if isinstance(model, Model) else of_estimator(model, X)


def of_model(model: Model, X: Any) -> PlaneView:
    columns = model.features.columns
    by_name = len(columns) == 2 and all(column.kind == "numeric" for column in columns)
    if not by_name and not (len(columns) == 1 and columns[0].kind == "rows" and model.features.width == 2):
        raise DataError(
            f"a boundary is drawn in the plane of two numeric columns, and this model has {in_words(columns)}; "
            "train one on two columns"
        )
    names = [column.name for column in columns] if by_name else model.features.names()
    points = in_plane(X, names)

    def given(places: Points) -> Any:
        return dict(zip(names, places.T, strict=True)) if by_name else places

    numbers = {label: number for number, label in enumerate(model.classes)}
    return PlaneView(
        (names[0], names[1]),
        model.classes,
        points,
        lambda places: np.array([numbers[label] for label in model.predict(given(places)).tolist()], np.int64),
        lambda places: np.diff(model.scores(given(places)).astype(np.float64))[:, 0],
    )


def in_words(columns: tuple[Any, ...]) -> str:
    kinds = [column.kind for column in columns]
    if kinds == ["rows"]:
        return "rows of more or fewer features"
    return (
        f"{len(kinds)} of the kind {kinds[0]}" if len(set(kinds)) == 1 else f"columns of the kinds {', '.join(kinds)}"
    )


def of_estimator(model: Any, X: Any) -> PlaneView:
    if not hasattr(model, "predict"):
        raise DataError(f"a decision boundary needs a model or a fitted classifier, not a {type(model).__name__}")
    if not hasattr(model, "classes_"):
        raise DataError(f"this {type(model).__name__} has no classes: it is not a classifier, or fit was not called")
    names = names_in(X)
    points = in_plane(X, names)
    classes = np.asarray(model.classes_)

    def given(places: Points) -> Any:
        return places if names is None else type(X)(dict(zip(names, places.T, strict=True)))

    def scores(places: Points) -> Points:
        if hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(given(places)), np.float64)
        if hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(given(places))[:, 1] - 0.5, np.float64)
        return (predict(places) - 0.5).astype(np.float64)

    def predict(places: Points) -> NDArray[np.int64]:
        return np.asarray(classes.searchsorted(model.predict(given(places))), np.int64)

    shown = ("feature 0", "feature 1") if names is None else (names[0], names[1])
    return PlaneView(shown, classes.tolist(), points, predict, scores)


def in_plane(X: Any, names: list[str] | None) -> Points:
    """Return the points from two columns of a frame or from an array."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    given = names_in(X)
    if given is not None and names is not None:
        missing = [name for name in names if name not in given]
        if missing:
            raise DataError(f"there is no column {missing[0]!r} among the points' columns: {', '.join(given)}")
        X = np.column_stack([np.asarray(X[name]) for name in names])
    try:
        points = np.asarray(X, np.float64)
    except (TypeError, ValueError):
        raise DataError("the points must be numbers, two for each point") from None
    if points.ndim != 2 or points.shape[1] != 2:
        what = f"{points.shape[1]} columns" if points.ndim == 2 else f"the shape {points.shape}"
        raise DataError(f"a boundary is drawn in the plane of two features, and the points have {what}; choose two")
    if not len(points) or not np.isfinite(points).all():
        raise DataError("there are no points to draw" if not len(points) else "some points contain NaN or infinity")
    return points


def numbers_of(y: Any, plane: PlaneView) -> NDArray[np.int64]:
    labels = np.asarray(y).tolist()
    if not isinstance(labels, list) or len(labels) != len(plane.points):
        raise DataError(f"there are {len(plane.points)} points and {np.size(y)} labels")
    numbers = {label: number for number, label in enumerate(plane.classes)}
    strange = [label for label in labels if label not in numbers]
    if strange:
        known = ", ".join(map(repr, plane.classes[:5]))
        raise DataError(f"the label {strange[0]!r} is not a class of the model ({known})")
    return np.array([numbers[label] for label in labels], np.int64)
