"""Draws charts (reporting/charts.py), side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from markone.plots.colours import BLUE, COLOURS, QUIET
from markone.plots.drawing import (
    EVIDENCE,
    SMALL,
    TINY,
    draw_bars,
    entitle,
    finished,
    mark_of,
    name_axes,
    name_text,
    new_figure,
    tidy,
)
from markone.reporting.charts import Bars, Cells, Chart, Line, Pixels, Points, limits_of

PANEL_WIDTH, PANEL_HEIGHT, ROW_HEIGHT = 4.6, 3.6, 0.26
MOST_ACROSS = 3
LONGEST_TITLE = 46


def chart(charts: Chart | Sequence[Chart]) -> Figure:
    """Draw one chart, or several side by side."""
    shown = [charts] if isinstance(charts, Chart) else list(charts)
    across = min(len(shown), MOST_ACROSS)
    down = -(-len(shown) // across)
    figure = new_figure(PANEL_WIDTH * across, down * max(map(height_of, shown)))
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for axes, one in zip(panels, shown, strict=False):
        draw(axes, one)
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    return finished(figure, "; ".join(one.in_brief() for one in shown))


def height_of(chart: Chart) -> float:
    rows = max((len(part.names) for part in chart.parts if isinstance(part, Bars)), default=0)
    return max(PANEL_HEIGHT, 1.0 + ROW_HEIGHT * rows)


def draw(axes: Axes, chart: Chart) -> None:
    tidy(axes)
    name_axes(axes, chart.x, chart.y)
    entitle(axes, textwrap.fill(chart.title, LONGEST_TITLE))
    named: set[tuple[object, ...]] = set()
    """The names that are in the legend already, with their signs."""

    def label_of(part: Points | Line) -> str | None:
        sign = (part.name, type(part), part.number, isinstance(part, Line) and part.dashed)
        if not part.name or sign in named:
            return None
        named.add(sign)
        return part.name

    for part in chart.parts:
        if isinstance(part, Points):
            colour, marker = mark_of(part.number)
            axes.plot(part.xs, part.ys, marker, color=colour, markersize=6, label=label_of(part), zorder=3)
        elif isinstance(part, Line):
            style = (0, (4, 3)) if part.dashed else "-"
            axes.plot(
                part.xs, part.ys, color=COLOURS[part.number % len(COLOURS)], linestyle=style, label=label_of(part)
            )
        elif isinstance(part, Bars):
            draw_bars(axes, part.names, part.values)
        elif isinstance(part, Pixels):
            draw_pixels(axes, part)
        elif isinstance(part, Cells):
            draw_cells(axes, part)
    if any(isinstance(part, Points | Line) for part in chart.parts):
        low_x, high_x, low_y, high_y = limits_of(chart)
        axes.set_xlim(low_x, high_x)
        axes.set_ylim(low_y, high_y)
        if chart.square:
            axes.set_aspect("equal")
    if named:
        axes.legend(fontsize=SMALL, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)


def draw_pixels(axes: Axes, pixels: Pixels) -> None:
    values = np.array(pixels.rows, float)
    low, high = values.min(), values.max()
    ink = np.empty((*values.shape, 4))
    ink[..., :3] = to_rgb(BLUE)
    ink[..., 3] = (values - low) / ((high - low) or 1.0)  # transparent, for light and dark pages
    axes.imshow(ink, interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(QUIET)


def draw_cells(axes: Axes, cells: Cells) -> None:
    """Draw a heat map: blue above 0, red below 0, and no colour at 0."""
    values = np.array(cells.rows, float)
    scale = float(abs(values).max()) or 1.0
    drawn = axes.imshow(values, cmap=EVIDENCE, vmin=-scale, vmax=scale, interpolation="nearest", aspect="auto")
    axes.set_yticks(range(len(cells.down)), [name_text(name, less=8) for name in cells.down], fontsize=TINY)
    axes.set_xticks(
        range(len(cells.across)),
        [name_text(name, less=8) for name in cells.across],
        fontsize=TINY,
        rotation=60,
        ha="right",
    )
    axes.grid(False)
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.8, aspect=20)
    bar.ax.tick_params(length=0, labelsize=TINY)
    bar.outline.set_visible(False)
