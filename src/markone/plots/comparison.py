"""Plots the accuracies of contenders with their intervals."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from markone.errors import DataError
from markone.plots.drawing import (
    BLUE,
    INK,
    QUIET,
    SMALL,
    End,
    entitle,
    finished,
    in_percent,
    label_ends,
    name_text,
    new_figure,
    tidy,
)

LINE = 0.34


def accuracies(comparison: Any) -> Figure:
    """Draw a dot for the accuracy of each contender, with its 95% interval. The best is at the top.

    Parameters
    ----------
    comparison
        A `Comparison`, as `markone.compare` gives it.
    """
    contenders = getattr(comparison, "contenders", None)
    if not contenders:
        raise DataError("the comparison has no contenders to draw")
    figure = new_figure(6.5, 0.8 + LINE * len(contenders))
    axes = tidy(figure.add_subplot(), grid="x")
    axes.set_ylim(len(contenders) - 0.5, -0.5)
    for place, contender in enumerate(contenders):
        low, high = contender.validation.interval
        colour = BLUE if place == 0 else INK
        axes.plot([low, high], [place, place], color=colour, linewidth=2, alpha=0.45, solid_capstyle="butt")
        axes.plot([contender.validation.mean], [place], "o", color=colour, markersize=7)
    axes.margins(x=0.04)
    axes.set_yticks(range(len(contenders)), [name_text(contender.name) for contender in contenders], fontsize=SMALL)
    axes.spines["left"].set_visible(False)
    in_percent(axes.xaxis)
    label_ends(
        axes,
        [
            End(place, f"{contender.validation.mean:.1%}", BLUE if place == 0 else INK)
            for place, contender in enumerate(contenders)
        ],
    )
    entitle(axes, "accuracy with 95% interval")
    axes.tick_params(axis="x", labelcolor=QUIET)
    best = contenders[0]
    return finished(figure, f"Accuracy of {len(contenders)} contenders; best: {best.name}, {best.validation.mean:.1%}")
