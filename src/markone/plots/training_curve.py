"""Plots training mistakes and held-out accuracy after each pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from markone.errors import DataError, Setting
from markone.model.history import History
from markone.plots.colours import BLUE, INK, ORANGE, QUIET, VERMILION
from markone.plots.drawing import (
    SMALL,
    End,
    count_in_whole_numbers,
    entitle,
    finished,
    in_percent,
    label_ends,
    name_axes,
    new_figure,
    tidy,
)

MOST_MARKED = 40
"""The largest number of passes for which each pass has a dot."""


def curves(result: Any) -> Figure:
    """Draw the mistakes in training, and the accuracy of the last and of the averaged weights on other examples.

    The best pass is marked if the last one is worse. If the loss is too large to be chance, it is called overfitting.

    Parameters
    ----------
    result
        A `History`, as `model.history` and `estimator.history_` are, or a `Validation`, whose folds are averaged.
    """
    course = of_history(result) if isinstance(result, History) else of_validation(result)
    panels = [name for name, there in (("mistakes", course.mistakes), ("accuracy", course.tested)) if there]
    if not panels:
        raise DataError(
            "there are no curves to draw: no passes with mistakes counted and none with accuracy on other examples",
            advice=("train with ", Setting("holdout", 0.1)),
        )
    figure = new_figure(6, 1 + 2.2 * len(panels))
    drawn = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(drawn, panels, strict=True):
        tidy(axes)
        if panel == "mistakes":
            draw_mistakes(axes, course)
        else:
            draw_accuracy(axes, course)
    name_axes(drawn[-1], "pass", drawn[-1].get_ylabel())
    count_in_whole_numbers(drawn[-1].xaxis)
    for axes in drawn:
        axes.set_xlim(0.5 if len(course.epochs) == 1 else course.epochs[0], max(course.epochs[-1], 1.5))
        label_ends(axes, [End(line.get_ydata()[-1], line.get_label(), line.get_color()) for line in named(axes)])
    said = f"; overfitting after pass {course.best}" if course.over_trained else ""
    return finished(figure, f"Curves over {len(course.epochs)} passes{said}")


def named(axes: Axes) -> list[Any]:
    return [line for line in axes.lines if not str(line.get_label()).startswith("_")]


def draw_mistakes(axes: Axes, course: CurveData) -> None:
    draw(axes, course.epochs, course.mistakes, "while learning", VERMILION)
    axes.set_ylim(bottom=0)
    if course.in_shares:
        in_percent(axes.yaxis)
    else:
        count_in_whole_numbers(axes.yaxis)
    entitle(axes, "mistakes in training")


def draw_accuracy(axes: Axes, course: CurveData) -> None:
    if any(value is not None for value in course.averaged):
        draw(axes, course.epochs, course.last, "last weights", ORANGE)
        draw(axes, course.epochs, course.averaged, "averaged", BLUE)
    else:
        draw(axes, course.epochs, course.last, "accuracy", BLUE)
    in_percent(axes.yaxis)
    entitle(axes, f"{course.subject} accuracy")
    if course.best is not None:
        at = course.epochs.index(course.best)
        value = course.used[at]
        assert value is not None  # the best is one of those that were measured
        axes.axvline(course.best, color=QUIET, linewidth=1, linestyle=(0, (2, 2)))
        axes.plot([course.best], [value], "o", markersize=9, markerfacecolor="none", markeredgecolor=INK)
        said = f"best: pass {course.best}, {value:.1%}" + ("; overfitting after it" if course.over_trained else "")
        axes.set_title(said, loc="right", fontsize=SMALL, color=INK)


def draw(axes: Axes, epochs: Sequence[int], values: Sequence[float | None], name: str, colour: str) -> None:
    ys = np.array([np.nan if value is None else value for value in values], float)
    axes.plot(
        epochs,
        ys,
        color=colour,
        linewidth=2,
        marker="o" if len(epochs) <= MOST_MARKED else "",
        markersize=4,
        label=name,
        clip_on=False,
        zorder=3,
    )


# ---- the curves


@dataclass(frozen=True)
class CurveData:
    """The common parts of a history and a validation. Values that were not measured are None."""

    epochs: list[int]
    mistakes: list[float | None]
    """The mistakes of each pass; empty if they were not counted."""
    in_shares: bool
    """Whether mistakes are shares of the examples rather than counts."""
    last: list[float | None]
    averaged: list[float | None]
    subject: str
    over_trained: bool

    @property
    def best(self) -> int | None:
        """The first of the best passes, if the last pass is worse."""
        measured = [(value, -epoch) for epoch, value in zip(self.epochs, self.used, strict=True) if value is not None]
        if not measured:
            return None
        best, minus = max(measured)
        return -minus if measured[-1][0] < best else None

    @property
    def used(self) -> list[float | None]:
        """The accuracy of the weights that are used."""
        return [last if mean is None else mean for last, mean in zip(self.last, self.averaged, strict=True)]

    @property
    def tested(self) -> bool:
        return any(value is not None for value in self.used)


def of_history(history: History) -> CurveData:
    mistakes = [None if one.mistakes is None else one.mistakes / (history.rows or 1) for one in history]
    course = CurveData(
        epochs=[one.epoch for one in history],
        mistakes=mistakes if any(share is not None for share in mistakes) else [],
        in_shares=history.rows > 0,
        last=[one.holdout_last for one in history],
        averaged=[one.holdout_averaged for one in history],
        subject="held-out",
        over_trained=False,
    )
    return replace(course, over_trained=lost_more_than_chance(course, history.held_out))


def lost_more_than_chance(course: CurveData, held_out: int) -> bool:
    """Whether the loss of accuracy since the best pass is larger than its standard error.

    It is assumed that no example was lost and won back.
    """
    if course.best is None:
        return False
    measured = [value for value in course.used if value is not None]
    lost = max(measured) - measured[-1]
    return not held_out or lost > math.sqrt(lost / held_out)


def of_validation(validation: Any) -> CurveData:
    if not hasattr(validation, "curve"):
        raise DataError(f"this plot needs a history or a validation, not a {type(validation).__name__}")
    points = validation.curve()
    mistakes = mean_mistakes(validation.folds, [point.epoch for point in points])
    return CurveData(
        epochs=[point.epoch for point in points],
        mistakes=mistakes if any(share is not None for share in mistakes) else [],
        in_shares=True,
        last=[point.last for point in points],
        averaged=[point.averaged for point in points],
        subject="tested",
        over_trained=validation.over_training is not None,
    )


def mean_mistakes(folds: Sequence[Any], epochs: Sequence[int]) -> list[float | None]:
    """Return the share of mistakes in each pass, as the mean of the folds that made this pass."""
    shares: dict[int, list[float]] = {}
    for fold in folds:
        for one in fold.history or ():
            if one.mistakes is not None:
                shares.setdefault(one.epoch, []).append(one.mistakes / fold.learned)
    return [sum(shares[epoch]) / len(shares[epoch]) if epoch in shares else None for epoch in epochs]
