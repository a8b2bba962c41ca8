"""Draws charts (reporting/charts.py), side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from markone.plots.drawing import (
    BLUE,
    COLOURS,
    INK,
    QUIET,
    SMALL,
    VERMILION,
    entitle,
    finished,
    mark_of,
    name_axes,
    name_text,
    new_figure,
    tidy,
)
from markone.reporting.charts import Bars, Chart, Line, Pixels, Points, limits_of

PANEL_WIDTH, PANEL_HEIGHT, ROW_HEIGHT = 4.6, 3.6, 0.26
MOST_ACROSS = 3


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
    entitle(axes, chart.title)
    for part in chart.parts:
        if isinstance(part, Points):
            colour, marker = mark_of(part.number)
            axes.plot(part.xs, part.ys, marker, color=colour, markersize=6, label=part.name or None, zorder=3)
        elif isinstance(part, Line):
            style = (0, (4, 3)) if part.dashed else "-"
            axes.plot(
                part.xs, part.ys, color=COLOURS[part.number % len(COLOURS)], linestyle=style, label=part.name or None
            )
        elif isinstance(part, Bars):
            draw_bars(axes, part)
        elif isinstance(part, Pixels):
            draw_pixels(axes, part)
    if any(isinstance(part, Points | Line) for part in chart.parts):
        low_x, high_x, low_y, high_y = limits_of(chart)
        axes.set_xlim(low_x, high_x)
        axes.set_ylim(low_y, high_y)
        if chart.square:
            axes.set_aspect("equal")
    if len({part.name for part in chart.parts if isinstance(part, Points | Line) and part.name}):
        axes.legend(fontsize=SMALL, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)


def draw_bars(axes: Axes, bars: Bars) -> None:
    places = np.arange(len(bars.names))[::-1]
    axes.barh(places, bars.values, color=[BLUE if value >= 0 else VERMILION for value in bars.values], height=0.7)
    axes.set_yticks(places, [name_text(name) for name in bars.names])
    axes.axvline(0, color=QUIET, linewidth=0.8)
    axes.grid(False, axis="y")


def draw_pixels(axes: Axes, pixels: Pixels) -> None:
    axes.imshow(np.array(pixels.rows, float), cmap="Greys", interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(INK)
