"""Plots histograms of margins, the distances of examples from the decision boundary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from markone.errors import DataError
from markone.plots.colours import BLUE, INK, VERMILION
from markone.plots.drawing import (
    count_in_whole_numbers,
    entitle,
    finished,
    name_axes,
    name_text,
    new_figure,
    tidy,
)
from markone.reporting.grids import plain_number
from markone.theory.margins import Margins, Spread, even_edges

BINS = 40
BAR = 0.92
"""The width of a bar, as a share of its bin."""


def margins(found: Any) -> Figure:
    """Draw histograms of the geometric margins of examples, with the averaged and with the last weights.

    Margins below 0 have another colour; the smallest is marked.

    Parameters
    ----------
    found
        What `markone.margins` gave; or several of them in a dict, by what they are to be called, such as those after
        one pass and after ten.
    """
    panels = list(panels_of(found))
    if not panels:
        raise DataError("there are no margins to draw")
    low = min(spread.smallest for _, spread in panels)
    high = max(float(spread.geometric.max()) for _, spread in panels)
    edges = even_edges(low, high, BINS)
    figure = new_figure(6, 0.6 + 1.7 * len(panels))
    for axes, (name, spread) in zip(
        figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0], panels, strict=True
    ):
        draw_spread(axes, spread, edges)
        entitle(axes, f"{name}: {spread.negative:.1%} below 0, smallest {plain_number(spread.smallest)}")
    name_axes(figure.axes[-1], "margin", "examples")
    return finished(figure, f"Histograms of margins: {', '.join(name.replace(chr(10), ', ') for name, _ in panels)}")


def draw_spread(axes: Axes, spread: Spread, edges: NDArray[np.float64]) -> None:
    """Draw the histogram of some margins, and mark the smallest."""
    tidy(axes, grid="y")
    counts, _ = np.histogram(spread.geometric, edges)
    colours = [VERMILION if edge < 0 else BLUE for edge in edges[:-1]]
    axes.bar((edges[1:] + edges[:-1]) / 2, counts, BAR * np.diff(edges), color=colours)
    axes.axvline(spread.smallest, color=INK, linewidth=1, linestyle=(0, (2, 2)))
    count_in_whole_numbers(axes.yaxis)


def panels_of(found: Any) -> Iterator[tuple[str, Spread]]:
    named = found if isinstance(found, Mapping) else {"": found}
    for what, one in named.items():
        if not isinstance(one, Margins):
            raise DataError(f"this plot needs the result of markone.margins, not a {type(one).__name__}")
        for name, spread in one.spreads().items():
            yield f"{name_text(what)}\n{name} weights" if what else f"{name} weights", spread
