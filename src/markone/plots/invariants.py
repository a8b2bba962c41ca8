"""Plots the invariants of the perceptron: the length of the weights and its bounds after each mistake."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from markone.errors import DataError, Setting
from markone.model.bounds import Bounds, whole
from markone.model.history import History
from markone.plots.drawing import (
    BLUE,
    GREEN,
    VERMILION,
    End,
    count_in_whole_numbers,
    entitle,
    finished,
    label_ends,
    name_axes,
    new_figure,
    tidy,
)
from markone.reporting.grids import plain_number


def bounds(result: Any) -> Figure:
    """Draw |w|² of a perceptron after each mistake, between k²γ² and kR².

    γ is the largest margin that a plane is known to have or, where none is known, the largest that there may be.

    Parameters
    ----------
    result
        A model that was trained with `bounds=True`, its history, or its `Bounds`.
    """
    found = bounds_of(result)
    k = np.array([0, *(k for k, _ in found.points)], float)
    norm2 = np.array([0.0, *(norm2 for _, norm2 in found.points)])
    gamma = found.margin or found.least or 0.0
    of = f"γ = {plain_number(gamma)}" if found.margin else f"γ ≤ {plain_number(gamma)}"
    steps = np.linspace(0, k[-1], 200)
    figure = new_figure(6, 3.6)
    axes = tidy(figure.subplots())
    drawn = [
        ("kR²", VERMILION, (0, (4, 2)), steps, steps * found.radius2),
        ("|w|²", BLUE, "solid", k, norm2),
        (f"k²γ², {of}", GREEN, "solid" if found.margin else (0, (4, 2)), steps, (steps * gamma) ** 2),
    ]
    for name, colour, style, xs, ys in drawn:
        axes.plot(xs, ys, color=colour, linewidth=2, linestyle=style, label=name, clip_on=False, zorder=3)
    axes.set_xlim(0, k[-1])
    axes.set_ylim(bottom=0)
    count_in_whole_numbers(axes.xaxis)
    name_axes(axes, "mistakes k", "squared length")
    allowed = "" if found.bound is None else f"; the theory allows at most {whole(found.bound)}"
    entitle(axes, f"{found.mistakes:,} mistakes{allowed}")
    label_ends(axes, [End(float(ys[-1]), name, colour) for name, colour, _, _, ys in drawn])
    return finished(figure, f"The squared length of the weights over {found.mistakes} mistakes, between its bounds")


def bounds_of(result: Any) -> Bounds:
    history = getattr(result, "history", result)
    found = history.bounds if isinstance(history, History) else history
    if isinstance(found, Bounds) and found.points:
        return found
    if isinstance(found, Bounds):
        raise DataError("there are no bounds to draw, because the training made no mistake")
    if found is None:
        advice = ("train with ", Setting("rule", "perceptron"), ", ", Setting("bounds", True))
        raise DataError("the training did not record its bounds", advice=advice)
    raise DataError(f"this plot needs a model, a history or bounds, not a {type(result).__name__}")
