"""Plots accuracies: those of contenders with their intervals, and those of the folds of a validation."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from markone.errors import DataError
from markone.plots.colours import BLUE, INK, QUIET
from markone.plots.drawing import (
    SMALL,
    End,
    count_in_whole_numbers,
    entitle,
    finished,
    in_percent,
    label_ends,
    name_axes,
    name_text,
    new_figure,
    tidy,
)

LINE = 0.34
FAINT_BAND = 0.12
FEW_FOLDS = 50


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


def folds(validation: Any) -> Figure:
    """Draw a dot for the accuracy of each fold of a validation, with their mean and its 95% interval.

    Parameters
    ----------
    validation
        A `Validation` with several folds, as `markone.validate` gives it.
    """
    scores = getattr(validation, "scores", None)
    if scores is None:
        raise DataError(f"this plot needs a validation, not a {type(validation).__name__}")
    if len(scores) < 2:
        raise DataError("this validation has only one fold, so there is nothing to compare")
    accuracy = validation.metric == "accuracy"
    low, high = validation.interval
    figure = new_figure(6, 3)
    axes = tidy(figure.add_subplot())
    axes.axhspan(low, high, color=BLUE, alpha=FAINT_BAND, linewidth=0)
    axes.axhline(validation.mean, color=BLUE, linewidth=1.5, label="mean")
    size = 6 if len(scores) <= FEW_FOLDS else 3
    axes.plot(range(1, len(scores) + 1), scores, "o", color=INK, markersize=size, label="folds")
    axes.margins(x=0.05)
    count_in_whole_numbers(axes.xaxis)
    name_axes(axes, "fold")
    if accuracy:
        in_percent(axes.yaxis)
    shown = "{:.1%}" if accuracy else "{:.4g}"
    label_ends(axes, [End(validation.mean, f"mean {shown.format(validation.mean)}", BLUE)])
    entitle(axes, f"{validation.metric} of each fold, with the 95% interval of the mean")
    return finished(figure, f"The {validation.metric} of {len(scores)} folds; mean: {shown.format(validation.mean)}")
