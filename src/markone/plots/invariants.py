"""Plots the invariants of the perceptron after each mistake: the length of the weights, and their angle to a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from markone.errors import DataError, Setting
from markone.model.bounds import Bounds, whole
from markone.model.history import History
from markone.plots.colours import BLUE, GREEN, VERMILION
from markone.plots.drawing import (
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
        A model that was trained with `bounds=True`, its history, or its `Bounds`; or the invariants of a trace.
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


def angles(result: Any) -> Figure:
    """Draw the angle between the weights w and a plane w* that separates, after each mistake, below its bound.

    The bound falls with each mistake, because the cosine of the angle is at least √k γ/R. The angle itself may rise at
    some mistakes.

    Parameters
    ----------
    result
        A trace of a perceptron, or its invariants: `run.invariants()`.
    """
    found = result.invariants() if hasattr(result, "invariants") else result
    if not hasattr(found, "largest_angle"):
        raise DataError(f"this plot needs a trace or its invariants, not a {type(result).__name__}")
    if not found.mistakes:
        raise DataError("there are no angles to draw, because the run made no mistake")
    if found.margin is None:
        raise DataError("there are no angles to draw, because no plane is known that separates the rows")
    ks = np.array([one.k for one in found.mistakes], float)
    steps = np.linspace(1, max(ks[-1], 2), 200)
    figure = new_figure(6, 3.6)
    axes = tidy(figure.subplots())
    drawn = [
        ("at most", VERMILION, (0, (4, 2)), steps, np.array([found.largest_angle(k) for k in steps])),
        ("angle", BLUE, "solid", ks, np.array([one.angle for one in found.mistakes])),
    ]
    for name, colour, style, xs, ys in drawn:
        axes.plot(xs, ys, color=colour, linewidth=2, linestyle=style, label=name, clip_on=False, zorder=3)
    axes.set_xlim(1, steps[-1])
    axes.set_ylim(0, 90)
    count_in_whole_numbers(axes.xaxis)
    name_axes(axes, "mistakes k", "angle between w and w* (degrees)")
    entitle(
        axes, f"{len(found.mistakes):,} mistakes; the cosine is at least √k γ/R, with γ = {plain_number(found.margin)}"
    )
    label_ends(axes, [End(float(ys[-1]), name, colour) for name, colour, _, _, ys in drawn])
    return finished(figure, f"The angle between the weights and a separating plane over {len(found.mistakes)} mistakes")


def bounds_of(result: Any) -> Bounds:
    history = getattr(result, "history", result)
    found = history.bounds if isinstance(history, History) else getattr(history, "bounds", history)
    if isinstance(found, Bounds) and found.points:
        return found
    if isinstance(found, Bounds):
        raise DataError("there are no bounds to draw, because the training made no mistake")
    if found is None:
        advice = ("train with ", Setting("rule", "perceptron"), ", ", Setting("bounds", True))
        raise DataError("the training did not record its bounds", advice=advice)
    raise DataError(f"this plot needs a model, a history or bounds, not a {type(result).__name__}")
