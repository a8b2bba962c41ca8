"""Plots how the weights move during a trace."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from markone.errors import DataError
from markone.plots.colours import COLOURS, INK, QUIET
from markone.plots.drawing import (
    TEXT,
    End,
    count_in_whole_numbers,
    entitle,
    finished,
    label_ends,
    label_text,
    name_axes,
    name_text,
    panels_for,
    tidy,
)
from markone.theory.trace import Trace

MOST_PANELS = 12
LINES = 12
"""The height of a panel, in lines of text."""
DASHES: tuple[Any, ...] = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (2, 1)), (0, (8, 2)))


def paths(trace: Trace) -> Figure:
    """Draw the weights of the strongest features after each step of a trace, with a panel for each class.

    Of two classes there is one panel, for the second. Of a network, these are the weights of the first units.

    Parameters
    ----------
    trace
        The result of `markone.trace`.
    """
    if not isinstance(trace, Trace):
        raise DataError(f"this plot needs the result of markone.trace, not a {type(trace).__name__}")
    table = trace.start[0]
    moved = peaks(trace)
    order = np.argsort(-moved.max(axis=0, initial=0), kind="stable")
    columns = np.sort(order[:MOST_PANELS])
    chosen = {}
    for column in columns.tolist():
        largest = np.argsort(-moved[:, column], kind="stable")[: len(COLOURS)]
        if moved[largest[0], column]:
            chosen[column] = [row for row in largest.tolist() if moved[row, column]]
    if not chosen:
        raise DataError("no step of this trace changed the weights, so there is nothing to draw")
    numbers, values = courses(trace, chosen)
    names = {row: name_text(table.rows[row], less=12) for rows in chosen.values() for row in rows}
    figure, panels = panels_for(len(chosen), LINES, names.values())
    for axes, (column, rows) in zip(panels, chosen.items(), strict=True):
        tidy(axes)
        axes.axhline(0, color=QUIET, linewidth=0.8)
        ends = []
        for place, row in enumerate(rows):
            name, course = names[row], values[column][:, place]
            ends.append(End(float(course[-1]), name, COLOURS[place]))
            axes.plot(
                numbers,
                course,
                drawstyle="steps-post",
                color=COLOURS[place],
                linestyle=DASHES[place],
                linewidth=1.8,
                label=name,
            )
        axes.set_xlim(numbers[0], numbers[-1])
        count_in_whole_numbers(axes.xaxis)
        entitle(axes, f"weights of {label_text(table.columns[column])}")
        name_axes(axes, "step")
        label_ends(axes, ends)
    if len(chosen) < len(table.columns):
        title = f"{len(chosen)} of {len(table.columns)}: those with the largest weights"
        figure.suptitle(title, fontsize=TEXT, color=INK)
    return finished(figure, f"The weights over {len(trace.steps):,} steps")


def peaks(trace: Trace) -> NDArray[np.float64]:
    """Return the largest absolute value that each weight has had."""
    found = np.abs(trace.start[0].values)
    for step in trace.steps:
        for change in (*step.meanwhile, *step.changes):
            if change.table == 0:
                found[change.row, change.column] = max(found[change.row, change.column], abs(change.after))
    return found


def courses(trace: Trace, chosen: dict[int, list[int]]) -> tuple[list[int], dict[int, NDArray[np.float64]]]:
    """Return the numbers of the steps, beginning with 0, and the values of the chosen weights after each of them."""
    values = trace.start[0].values.copy()
    numbers, found = [0], {column: [values[rows, column]] for column, rows in chosen.items()}
    for step in trace.steps:
        for change in (*step.meanwhile, *step.changes):
            if change.table == 0:
                values[change.row, change.column] = change.after
        numbers.append(step.number)
        for column, rows in chosen.items():
            found[column].append(values[rows, column])
    return numbers, {column: np.array(rows) for column, rows in found.items()}
