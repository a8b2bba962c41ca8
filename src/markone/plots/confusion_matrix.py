"""Plots the confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from numpy.typing import NDArray

from markone.errors import DataError
from markone.model.evaluation import Evaluation
from markone.plots.colours import BLUE, INK, VERMILION
from markone.plots.drawing import (
    SMALL,
    TEXT,
    TINY,
    entitle,
    finished,
    label_text,
    name_axes,
    new_figure,
    tidy,
    width_of,
)

MOST_WITH_SHARES, MOST_WITH_COUNTS, MOST_CLASSES = 12, 24, 40
"""The largest numbers of classes for which cells show counts and shares, counts only, or no text. If there are more,
only the most confused classes are shown."""
DARK = 0.55
"""From this share on, the text of a cell is white."""
FAINTEST_TOP = 0.05
"""The darkest colour stands for at least this share, so that rare mistakes do not look frequent."""
RIGHT = LinearSegmentedColormap.from_list("right", [to_rgba(BLUE, 0), to_rgba(BLUE)])
WRONG = LinearSegmentedColormap.from_list("wrong", [to_rgba(VERMILION, 0), to_rgba(VERMILION)])
HALF = 0.47
"""Half the side of a cell, which leaves a gap between cells."""


def confusion(result: Any) -> Figure:
    """Draw the confusion matrix: true classes are rows, and predictions are columns, with counts and shares of the row.

    What is right is blue. Mistakes are red, on a scale of their own, so that rare ones are seen. Of more than 40
    classes those with most mistakes are shown, and all others as one.

    Parameters
    ----------
    result
        An `Evaluation` from `model.evaluate`, or a `Validation`, whose folds are added up.
    """
    table = legible(table_of(result))
    shares = table.counts / np.maximum(table.counts.sum(axis=1, keepdims=True), 1)
    rows, columns = shares.shape
    on_diagonal = np.eye(rows, columns, dtype=bool)
    if table.merged:
        on_diagonal[-1, -1] = False  # among the others there are mistakes, too
    single = len(shares) - table.merged  # what several classes have together is always much
    mistakes = shares[:single, :single][~on_diagonal[:single, :single]]
    most = max(float(mistakes.max(initial=0)), FAINTEST_TOP)
    widest = 0.1 + width_of(f"{count:,}" for count in table.counts.flat)
    if columns <= MOST_WITH_SHARES:
        cell = max(0.62, widest)
    else:
        cell = max(0.42, widest * TINY / SMALL) if columns <= MOST_WITH_COUNTS else 0.22
    title = f"accuracy {table.right / table.total:.1%}: {table.right:,} of {table.total:,}"
    beside = width_of(table.names)
    upright = columns > 4 or beside > cell
    width = 0.6 + beside + max(cell * columns, width_of([title]) * TEXT / SMALL)
    figure = new_figure(width, 1.1 + cell * rows + (beside if upright else 0))
    axes = tidy(figure.add_subplot(anchor="W"), grid=None)
    draw_cells(axes, shares, on_diagonal, RIGHT, 1)
    draw_cells(axes, shares, ~on_diagonal, WRONG, most)
    if columns <= MOST_WITH_COUNTS:
        depth = np.where(on_diagonal, shares, shares / most)
        write_cells(axes, table, shares, depth, with_shares=columns <= MOST_WITH_SHARES)
    size = SMALL if columns <= MOST_WITH_COUNTS else TINY
    axes.set_xticks(range(columns), table.names[:columns], rotation=90 if upright else 0, fontsize=size)
    axes.set_yticks(range(rows), table.names, fontsize=size)
    axes.spines[:].set_visible(False)
    axes.set(aspect="equal", xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    name_axes(axes, "predicted", "is")
    entitle(axes, title)
    return finished(figure, f"Confusion matrix: {table.right:,} of {table.total:,} predictions are correct")


def draw_cells(
    axes: Axes, shares: NDArray[np.float64], some: NDArray[np.bool_], colours: Colormap, most: float
) -> None:
    """Colour some cells. They are squares rather than an image, so that they stay sharp and few are stored."""
    at = np.argwhere(some & (shares > 0))
    corners = at[:, None, ::-1] + HALF * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    cells = PolyCollection(list(corners), array=shares[tuple(at.T)], cmap=colours, linewidths=0)
    cells.set_clim(0, most)
    axes.add_collection(cells)


def write_cells(
    axes: Axes, table: ConfusionTable, shares: NDArray[np.float64], depth: NDArray[np.float64], *, with_shares: bool
) -> None:
    for (row, column), count in np.ndenumerate(table.counts):
        if count:
            text = f"{count:,}\n{shares[row, column]:.0%}" if with_shares else f"{count:,}"
            colour = "white" if depth[row, column] > DARK else INK
            size = SMALL if with_shares else TINY
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color=colour, linespacing=1.1)


# ---- the table


@dataclass(frozen=True)
class ConfusionTable:
    """Rows are true classes, and columns are predictions. The last row may be for labels unknown to the model."""

    names: list[str]
    counts: NDArray[np.int64]
    right: int
    merged: bool = False
    """Whether the last row and the last column stand for several classes."""

    @property
    def total(self) -> int:
        return int(self.counts.sum())


def table_of(result: Any) -> ConfusionTable:
    if isinstance(result, Evaluation):
        return of_evaluation(result)
    if not hasattr(result, "folds"):
        raise DataError(f"a confusion matrix needs an evaluation or a validation, not a {type(result).__name__}")
    if result.metric != "accuracy":
        raise DataError(f"a confusion matrix needs classes, and this validation has a {result.metric}")
    counts = np.zeros((len(result.classes), len(result.classes)), np.int64)
    np.add.at(counts, (result.truth, result.predicted), 1)
    return ConfusionTable(list(map(label_text, result.classes)), counts, int(np.trace(counts)))


def of_evaluation(evaluation: Evaluation) -> ConfusionTable:
    names, counts = list(map(label_text, evaluation.classes)), evaluation.confusion
    if evaluation.unknown:
        size = len(names)
        strangers = [evaluation.counts.get((size, said), 0) for said in range(size)]
        names, counts = [*names, "unknown"], np.vstack([counts, strangers])
    return ConfusionTable(names, counts, evaluation.right)


def legible(table: ConfusionTable) -> ConfusionTable:
    """Return the table or, if there are very many classes, the most confused classes, with the others added up."""
    rows, columns = table.counts.shape
    if columns <= MOST_CLASSES:
        return table
    square = table.counts[:columns]
    wrong = square.sum(axis=0) + square.sum(axis=1) - 2 * np.diag(square)
    kept = np.sort(np.argsort(-wrong, kind="stable")[: MOST_CLASSES - 1])
    group = np.full(rows, MOST_CLASSES - 1)
    group[kept] = np.arange(len(kept))
    counts = np.zeros((MOST_CLASSES, MOST_CLASSES), np.int64)
    np.add.at(counts, (group[:, None], group[None, :columns]), table.counts)
    names = [table.names[number] for number in kept] + [f"{rows - len(kept)} others"]
    return ConfusionTable(names, counts, table.right, merged=True)
