"""Plots the accuracy by the number of training rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from markone.errors import DataError
from markone.plots.colours import BLUE, VERMILION
from markone.plots.drawing import (
    End,
    entitle,
    finished,
    in_percent,
    label_ends,
    name_axes,
    name_text,
    new_figure,
    tidy,
    width_of,
)

INCHES = 3.6
"""The least length of the axis."""


def learning_curve(result: Any) -> Figure:
    """Draw the accuracy on the training rows and on the held-out rows, by the number of training rows.

    The rows are on a logarithmic scale. With several repeats, a band shows the lowest and the highest accuracy on the
    held-out rows.

    Parameters
    ----------
    result
        The result of `markone.learning_curve`.
    """
    if not hasattr(result, "sizes") or not hasattr(result, "metric"):
        raise DataError(f"this plot needs the result of markone.learning_curve, not a {type(result).__name__}")
    rows = [one.rows for one in result.sizes]
    figure = new_figure(6, 3.6)
    axes = tidy(figure.subplots())
    drawn = [
        ("training rows", VERMILION, [one.training for one in result.sizes]),
        ("held-out rows", BLUE, [one.held_out for one in result.sizes]),
    ]
    for name, colour, values in drawn:
        axes.plot(rows, values, "o-", color=colour, linewidth=2, markersize=4, label=name, clip_on=False, zorder=3)
    if any(len(one.scores) > 1 for one in result.sizes):
        lows, highs = ([pick(one.scores) for one in result.sizes] for pick in (min, max))
        axes.fill_between(rows, lows, highs, color=BLUE, alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks(shown := apart_on_log_scale(rows), [f"{size:,}" for size in shown])
    axes.minorticks_off()
    if result.metric == "accuracy":
        in_percent(axes.yaxis)
    name_axes(axes, "training rows", result.metric)
    entitle(axes, f"{name_text(result.name)}, tested on {result.held_out:,} held-out rows")
    label_ends(axes, [End(values[-1], name, colour) for name, colour, values in drawn])
    return finished(figure, f"The {result.metric} of {result.name} by the number of training rows")


def apart_on_log_scale(sizes: Sequence[int]) -> list[int]:
    """Return those of ascending sizes that can be written below the axis without touching. The largest is one of them.

    >>> apart_on_log_scale([20, 21, 40, 80, 158, 160])
    [20, 40, 80, 160]
    """
    kept: list[int] = []
    least = 1.1 * width_of([f"{sizes[-1]:,}"]) / INCHES * math.log(sizes[-1] / sizes[0])
    for size in (sizes[-1], *sizes[:-1]):
        if all(abs(math.log(size / other)) >= least for other in kept) and size not in kept:
            kept.append(size)
    return sorted(kept)
