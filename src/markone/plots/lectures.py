"""Two plots from the lectures: regressions with their leave-one-out errors, and losses as functions of the margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from markone.errors import DataError
from markone.plots.colours import BLUE, GREEN, INK, PURPLE, QUIET, VERMILION
from markone.plots.drawing import (
    SMALL,
    End,
    entitle,
    finished,
    label_ends,
    name_axes,
    name_text,
    new_figure,
    tidy,
)

PLACES = 400
LEAST_MARGIN, MOST_MARGIN, MOST_LOSS = -2.0, 3.0, 3.2


def regressions(X: Any, y: Any, regressors: Mapping[str, Any] | Sequence[Any]) -> Figure:
    """Draw several regressions of the same points side by side, with their leave-one-out mean squared errors.

    A thin line leads from each point to what is predicted in its place when it is left out: the errors are the means of
    the squared lengths of these lines. The least is set in blue.

    Parameters
    ----------
    X
        The feature, a number for each point.
    y
        The target, a number for each point.
    regressors
        Estimators with scikit-learn's interface, by name, or a list of them, which are called like their classes. They
        need not be fitted: copies of them are fitted here.
    """
    from sklearn.base import clone
    from sklearn.model_selection import LeaveOneOut, cross_val_predict

    xs, ys = numbers(X, "X"), numbers(y, "y")
    if len(xs) != len(ys):
        raise DataError(f"there are {len(xs)} points and {len(ys)} values to predict")
    if len(xs) < 3:
        raise DataError(f"leave-one-out needs at least three points, and there are {len(xs)}")
    if not regressors:
        raise DataError("there is no regression to draw")
    if isinstance(regressors, Mapping):
        names, regressors = list(regressors), list(regressors.values())
    else:
        names = list(map(in_words, regressors))
    places = np.linspace(xs.min(), xs.max(), PLACES)
    lines, left_out = [], []
    for regressor in regressors:
        lines.append(clone(regressor).fit(xs[:, None], ys).predict(places[:, None]))
        left_out.append(cross_val_predict(regressor, xs[:, None], ys, cv=LeaveOneOut()))
    errors = [float(((guesses - ys) ** 2).mean()) for guesses in left_out]

    figure = new_figure(0.4 + 3 * len(regressors), 3.2)
    panels = figure.subplots(1, len(regressors), squeeze=False, sharex=True, sharey=True)[0]
    for axes, name, line, guesses, error in zip(panels, names, lines, left_out, errors, strict=True):
        tidy(axes)
        colour = BLUE if error == min(errors) else VERMILION
        axes.vlines(xs, ys, guesses, colors=QUIET, linewidths=0.8, label="left out")
        axes.plot(places, line, color=colour, linewidth=2, label="fitted")
        axes.plot(xs, ys, "o", color=INK, markersize=4, label="points")
        name_axes(axes, "x", "y" if axes is panels[0] else None)
        entitle(axes, f"{name_text(name)}\nleave-one-out MSE: {error:.3g}", colour)
    room = 0.15 * float(np.ptp(ys)) or 1.0
    panels[0].set_ylim(ys.min() - room, ys.max() + room)  # lines may lead far out: what is seen is where points are
    best = names[int(np.argmin(errors))]
    return finished(figure, f"{len(regressors)} regressions; least leave-one-out error: {best}")


def numbers(values: Any, name: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be numbers") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{name} must be one number for each point; its shape is {array.shape}")
    if not np.isfinite(array).all():
        raise DataError(f"{name} has values that are not finite")
    return array


def in_words(regressor: Any) -> str:
    """Return the name of a Python class as words.

    >>> class JoinTheDots: ...
    >>> in_words(JoinTheDots())
    'join the dots'
    """
    name = type(regressor).__name__
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def losses_curve() -> Figure:
    """Draw the losses as functions of the margin y·w·x, where σ(m) is the probability of the right class.

    All but the first are what learning can follow downhill: counting mistakes is flat wherever it does not jump.
    """
    margins = np.linspace(LEAST_MARGIN, MOST_MARGIN, PLACES)
    curves = [
        ("0/1: is it wrong?", (margins <= 0).astype(float), INK),
        ("perceptron: max(−m, 0)", np.maximum(-margins, 0), VERMILION),
        ("hinge: max(1 − m, 0)", np.maximum(1 - margins, 0), BLUE),
        ("logistic: ln(1 + e⁻ᵐ)", np.logaddexp(0, -margins), GREEN),
        ("squared: ½(1 − σ(m))²", (1 / (1 + np.exp(margins))) ** 2 / 2, PURPLE),
    ]
    figure = new_figure(6, 3.4)
    axes = tidy(figure.add_subplot())
    for name, values, colour in curves:
        shown = values <= MOST_LOSS
        axes.plot(margins[shown], values[shown], color=colour, linewidth=2, label=name)
    axes.axvline(0, color=QUIET, linewidth=0.8)
    axes.set_xlim(LEAST_MARGIN, MOST_MARGIN)
    axes.set_ylim(-0.05, MOST_LOSS)
    label_ends(axes, [End(values[-1], name, colour) for name, values, colour in curves])
    name_axes(axes, "margin m", "loss")
    axes.annotate("wrong", (0, 1), xycoords=("data", "axes fraction"), xytext=(-5, -4), textcoords="offset points",
                  ha="right", va="top", fontsize=SMALL, color=QUIET)  # fmt: skip
    axes.annotate("right", (0, 1), xycoords=("data", "axes fraction"), xytext=(5, -4), textcoords="offset points",
                  ha="left", va="top", fontsize=SMALL, color=QUIET)  # fmt: skip
    return finished(figure, "Losses by margin: 0/1, perceptron, hinge, logistic, squared")
