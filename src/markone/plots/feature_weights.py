"""Plots weights: the strongest by name, and those of pixels as images."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from markone.data.source import Label
from markone.errors import DataError, SettingsError
from markone.features.images import Pixels
from markone.features.map import BIAS
from markone.model.explaining import check_top
from markone.model.model import Model
from markone.plots.colours import INK, QUIET
from markone.plots.drawing import (
    EVIDENCE,
    LINE,
    SMALL,
    TEXT,
    draw_bars,
    entitle,
    entitle_sides,
    finished,
    label_text,
    name_axes,
    name_text,
    new_figure,
    panels_for,
)

MOST_PANELS = 24
IMAGES_BESIDE = 5


def weights(model: Any, top: int = 20, classes: Sequence[Label] | None = None) -> Figure:
    """Draw the strongest weights by name. Bars to the right are evidence for a class, bars to the left against it.

    Two classes share one list of the strongest evidence for each. If there are more, each class has its own list.

    Parameters
    ----------
    model
        A linear `Model`, or a fitted linear classifier with scikit-learn's interface.
    top
        The number of features per class.
    classes
        The classes to draw, if there are more than two. None draws all.
    """
    top = check_top(top)
    linear = linear_of(model)
    if len(linear.classes) == 2:
        if classes is not None:
            raise SettingsError("classes", "is only for more than two classes; for two classes, one plot shows both")
        return weights_of_two(linear, top)
    chosen = choose(linear.classes, classes)
    lists = [strongest(linear.column(number), top) for number in chosen]
    longest = max(map(len, lists))
    names = (name_text(linear.name(number)) for features in lists for number in features.tolist())
    figure, panels = panels_for(len(chosen), longest, names)
    for axes, number, features in zip(panels, chosen, lists, strict=True):
        draw_weights(axes, linear, features, linear.column(number)[features], longest)
        entitle(axes, label_text(linear.classes[number]))
    count = f"{len(chosen)} classes"
    if len(chosen) < len(linear.classes):
        count = f"{len(chosen)} of {len(linear.classes)} classes"
        figure.suptitle(f"The strongest weights of {count}", fontsize=TEXT, color=INK)
    return finished(figure, f"The strongest weights of {count}")


def weights_of_two(linear: LinearScores, top: int) -> Figure:
    column = linear.column(0)
    order = np.argsort(-column, kind="stable")
    forth, back = order[column[order] > 0][:top], order[column[order] < 0][-top:]
    features = np.concatenate([forth, back])
    figure = new_figure(6, 1 + LINE * len(features))
    axes = figure.add_subplot()
    draw_weights(axes, linear, features, column[features])
    first, second = map(label_text, linear.classes)
    entitle_sides(axes, f"evidence for {first}", f"evidence for {second}")
    name_axes(axes, "weight")
    return finished(figure, f"The strongest weights for {second} and for {first}")


def draw_weights(
    axes: Axes, linear: LinearScores, features: NDArray[np.int64], values: Any, lines: int | None = None
) -> None:
    draw_bars(axes, [linear.name(int(number)) for number in features], values, lines)


def strongest(column: NDArray[np.float64], top: int) -> NDArray[np.int64]:
    """Return the features with the largest absolute weights, the most positive first."""
    most = np.argsort(-np.abs(column), kind="stable")[:top]
    most = most[column[most] != 0]
    order: NDArray[np.int64] = most[np.argsort(-column[most], kind="stable")]
    return order


def choose(known: list[Label], chosen: Sequence[Label] | None) -> list[int]:
    """Return the numbers of the classes to draw."""
    if chosen is None:
        if len(known) > MOST_PANELS:
            raise SettingsError(
                "classes", f"must name the classes to draw: there are {len(known)}, too many for one plot"
            )
        return list(range(len(known)))
    if isinstance(chosen, str) or not len(chosen):
        raise SettingsError("classes", f"must be a list of labels, not {chosen!r}")
    for label in chosen:
        if label not in known:
            raise SettingsError("classes", f"has {label!r}, which is not a class of the model")
    return [known.index(label) for label in chosen]


# ---- images


def weight_images(model: Any, shape: tuple[int, int] | None = None) -> Figure:
    """Draw the weights of pixels as an image for each class. Blue pixels are evidence for it, red ones against it.

    All images have the same scale, which is symmetric: a pixel without colour is 0. Of two classes there is one image,
    for the second.

    Parameters
    ----------
    model
        A linear `Model` of images, or a fitted linear classifier whose features are pixels, row by row.
    shape
        Height and width, if the model does not know them and the images are not square.
    """
    linear = linear_of(model)
    images = list(images_of(model, linear, shape))
    labels = linear.classes[1:] if len(images) == 1 else linear.classes
    scale = max(float(np.abs(image).max()) for image in images) or 1.0
    across = min(IMAGES_BESIDE, len(images))
    down = -(-len(images) // across)
    figure = new_figure(max(3.2, 0.8 + 1.5 * across), 0.4 + 1.7 * down)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for axes, label, image in zip(panels, labels, images, strict=False):
        drawn = axes.imshow(image, cmap=EVIDENCE, vmin=-scale, vmax=scale, interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_color(QUIET)
        axes.set_title(label_text(label, less=4), fontsize=SMALL, color=INK, loc="left")
    for axes in panels[len(images) :]:
        axes.remove()
    bar = figure.colorbar(drawn, ax=list(panels[: len(images)]), shrink=0.8, aspect=30)
    bar.set_label("weight", fontsize=SMALL, color=INK)
    bar.ax.tick_params(length=0, labelsize=SMALL)
    bar.outline.set_visible(False)
    return finished(figure, f"The weights of {images[0].shape[0]} × {images[0].shape[1]} pixels, of each class")


def has_images(model: Model) -> bool:
    """Whether the features of a model are known to be pixels."""
    return any(isinstance(part, Pixels) for part in model.features.parts)


def images_of(model: Any, linear: LinearScores, shape: tuple[int, int] | None) -> Iterator[NDArray[np.float64]]:
    start, (height, width) = pixels_of(model, linear, shape)
    for number in range(linear.matrix.shape[1]):
        yield linear.matrix[start : start + height * width, number].astype(np.float64).reshape(height, width)


def pixels_of(model: Any, linear: LinearScores, shape: tuple[int, int] | None) -> tuple[int, tuple[int, int]]:
    """Return the number of the first feature that is a pixel, and the height and width of the images."""
    if isinstance(model, Model):
        found = [
            (int(start), part)
            for start, part in zip(model.features.starts[:-1], model.features.parts, strict=True)
            if isinstance(part, Pixels)
        ]
        if found:
            start, part = found[0]
            assert part.size is not None  # it is fitted
            if shape not in (None, part.size):
                raise SettingsError("shape", f"is {shape}, but the size of the model's images is {part.size}")
            return start, part.size
    features = len(linear.matrix)
    side = math.isqrt(features)
    if shape is None and side * side == features and (not isinstance(model, Model) or is_rows(model)):
        return 0, (side, side)
    if shape is None:
        raise DataError(
            f"weights are drawn as images where features are pixels, and this model has {features} features that are "
            "no square of them; say shape=(height, width) if they are pixels"
        )
    if len(shape) != 2 or shape[0] * shape[1] != features:
        raise SettingsError("shape", f"is {shape}, which does not match {features} pixels")
    return 0, shape


def is_rows(model: Model) -> bool:
    return [column.kind for column in model.features.columns] == ["rows"]


# ---- the weights


@dataclass(frozen=True)
class LinearScores:
    """The weights of a linear model or classifier."""

    matrix: NDArray[Any]
    """The matrix of features × columns. Two classes share one column, which is for the second class."""
    bias: NDArray[Any]
    feature_name: Callable[[int], str]
    classes: list[Label]

    def column(self, number: int) -> NDArray[np.float64]:
        """Return all weights of a column, the bias last."""
        return np.append(self.matrix[:, number], self.bias[number]).astype(np.float64, copy=False)

    def name(self, number: int) -> str:
        return BIAS if number == len(self.matrix) else self.feature_name(number)


def linear_of(model: Any) -> LinearScores:
    if isinstance(model, Model):
        matrix, bias = model.weight_arrays()
        return LinearScores(matrix, bias, model.features.name, model.classes)
    if not hasattr(model, "coef_") or not hasattr(model, "classes_"):
        raise DataError(f"this plot needs a linear model or a fitted linear classifier, not a {type(model).__name__}")
    matrix = np.atleast_2d(dense(model.coef_)).T
    bias = np.broadcast_to(np.asarray(model.intercept_, np.float64), matrix.shape[1:])
    names = getattr(model, "feature_names_in_", None)
    classes = np.asarray(model.classes_).tolist()
    if matrix.shape[1] not in (1, len(classes)):
        raise DataError(f"there are {len(classes)} classes and {matrix.shape[1]} columns of weights")
    return LinearScores(matrix, bias, lambda i: f"feature {i}" if names is None else str(names[i]), classes)


def dense(matrix: Any) -> NDArray[Any]:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
