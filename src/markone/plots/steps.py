"""Plots a step of a trace, and the whole trace as an animation."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from markone.data.blocks import Sparse, as_scipy
from markone.errors import DataError, SettingsError
from markone.plots.colours import INK, QUIET
from markone.plots.drawing import SMALL, entitle, finished, mark_of, name_axes, name_text, new_figure, tidy
from markone.plots.fonts import warn_of_boxes
from markone.plots.plane import TINT, Points, crossing, draw_points, frame, tint
from markone.plots.saving import as_image, check_file
from markone.plots.svg_text import svg
from markone.reporting.html import fragment, page
from markone.storage.atomic import writing
from markone.theory.trace import Step, Trace

SIZE = 6.0, 4.5
RESOLUTION = 80
"""Dots per inch of a GIF."""
MOST_FRAMES = 500
FEW = 500
"""The largest number of rows or features for which principal components are computed directly."""


def step(trace: Trace, number: int) -> Figure:
    """Draw one step in the plane: the boundary before and after it, with a ring around the visited example.

    Of more than two features, the plane is that of the two principal components.

    Parameters
    ----------
    trace
        What `markone.trace` gives for a rule with linear scores.
    number
        The number of the step in the trace, starting with 0; -1 is the last.

    Examples
    --------
    >>> from markone import trace
    >>> from markone.plots import step
    >>> run = trace([[3, 2], [-2, 2], [-2, -3]], ["+", "-", "+"])
    >>> figure = step(run, 0)
    >>> figure.axes[0].get_title(loc="left")
    'Pass 1, row 1: wrong'
    """
    view = View.of(trace)
    which = range(len(trace.steps))[number]
    figure, axes = view.empty()
    before, after = view.lines(trace, which - 1), view.lines(trace, which)
    view.draw_regions(axes, after)
    handles = [
        *draw_points(axes, view.points, trace.block.labels, trace.classes),
        *view.draw_line(axes, before, "before", QUIET, (0, (4, 3))),
    ]
    handles += view.draw_line(axes, after, "after", INK, "-")
    view.draw_rings(axes, trace.steps[which])
    entitle(axes, in_words(trace.steps[which]))
    figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=SMALL)
    return finished(figure, f"{in_words(trace.steps[which])}: the boundary before and after it")


def animation(trace: Trace, path: str | os.PathLike[str], *, seconds: float = 0.7) -> None:
    """Save the trace as an animation, with a frame for every step that changed the weights.

    Parameters
    ----------
    trace
        What `markone.trace` gives for a rule with linear scores.
    path
        The file to write: a `.gif`, or a self-contained `.html` page with a slider to move back and forth.
    seconds
        The duration of a frame.
    """
    ending = check_file(path, (".gif", ".html"))
    if not seconds > 0:
        raise SettingsError("seconds", f"must be greater than 0, not {seconds!r}")
    view = View.of(trace)
    shown = [i for i, one in enumerate(trace.steps) if one.changes]
    if not shown:
        raise DataError("no step of this trace changed the weights, so there is nothing to animate")
    if len(shown) > MOST_FRAMES:
        raise DataError(
            f"{len(shown):,} steps changed the weights, and an animation can have at most {MOST_FRAMES} frames; trace "
            "fewer steps"
        )
    if ending == ".html":
        with writing(os.fspath(path)) as file:
            file.write(as_page(view, trace, shown, seconds).encode())
        return
    warn_of_boxes([frame_of(view, trace, -1)])  # all frames have the same labels
    frames = [as_image(frame_of(view, trace, which), RESOLUTION).quantize(64) for which in (-1, *shown)]
    with writing(os.fspath(path)) as file:
        frames[0].save(
            file,
            format="GIF",
            save_all=True,
            append_images=frames[1:],
            duration=[round(1000 * seconds)] * (len(frames) - 1) + [round(4000 * seconds)],
            loop=0,
        )


def in_words(one: Step) -> str:
    rows = f"row {one.rows[0] + 1:,}" if len(one.rows) == 1 else f"{len(one.rows):,} rows"
    verdict = ("wrong" if one.mistakes else "right") if len(one.rows) == 1 else f"{one.mistakes:,} wrong"
    return f"Pass {one.epoch}, {rows}: {verdict}"


# ---- the plane


@dataclass(frozen=True)
class View:
    """The plane of two directions onto which a trace is projected, with its examples."""

    trace: Trace
    names: tuple[str, str]
    centre: NDArray[np.float64]
    directions: Points
    """The directions: 2 × features."""
    points: Points
    low: Points
    high: Points

    @classmethod
    def of(cls, trace: Trace) -> View:
        if not trace.settings.traits.linear:
            raise DataError(
                f"this plot needs linear scores, and those of {trace.settings.rule} are not linear; trace another rule"
            )
        width = trace.features.width
        matrix = trace.block.matrix
        names: tuple[str, str]
        if width == 2:
            points = dense(matrix)
            names, centre, directions = (trace.features.name(0), trace.features.name(1)), np.zeros(2), np.eye(2)
        elif width < 2 or len(trace.block) < 2:
            raise DataError("this plot needs at least two features, and there is only one")
        else:
            from sklearn.decomposition import PCA

            many = min(matrix.shape) > FEW
            found = PCA(2, svd_solver="arpack" if many else "full", random_state=0)
            points = found.fit_transform((as_scipy(matrix) if many else dense(matrix)).astype(np.float64))
            names = ("first principal component", "second principal component")
            centre, directions = np.asarray(found.mean_, np.float64), found.components_
        points = np.asarray(points, np.float64)
        low, high = frame(points)
        return cls(trace, names, centre, directions, points, low, high)

    def lines(self, trace: Trace, after: int) -> Points:
        """Return a, b and c of the score a u + b v + c of each class, or of the second of two classes."""
        table = trace.start[0] if after < 0 else trace.tables(after)[0]
        weights, bias = table.values[:-1], table.values[-1]
        return np.column_stack([(self.directions @ weights).T, self.centre @ weights + bias])

    def regions(self, lines: Points) -> list[Points]:
        """Return the corners of the region of each class."""
        scores = lines if len(lines) > 1 else np.vstack([np.zeros(3), lines])
        (left, bottom), (right, top) = self.low, self.high
        found = []
        for k, line in enumerate(scores):
            corners = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
            for other, rival in enumerate(scores):
                if other != k and len(corners):
                    corners = cut(corners, line - rival, keeps_all=other > k)
            found.append(corners)
        return found

    def line(self, lines: Points) -> Points | None:
        """Return the ends of the visible part of the boundary between two classes."""
        if len(lines) > 1:
            return None
        a, b, c = lines[0]
        size = self.high - self.low
        ends = crossing(a * size[0], b * size[1], c + a * self.low[0] + b * self.low[1])
        return None if ends is None else self.low + ends * size

    # ---- drawing

    def empty(self) -> tuple[Figure, Axes]:
        figure = new_figure(*SIZE)
        axes = tidy(figure.add_subplot(), grid=None)
        axes.set_xlim(self.low[0], self.high[0])
        axes.set_ylim(self.low[1], self.high[1])
        name_axes(axes, *map(name_text, self.names))
        return figure, axes

    def draw_regions(self, axes: Axes, lines: Points) -> None:
        for number, corners in enumerate(self.regions(lines)):
            if len(corners):
                axes.add_patch(Polygon(corners.tolist(), color=tint(mark_of(number)), zorder=0, linewidth=0))

    def draw_line(self, axes: Axes, lines: Points, name: str, colour: str, style: Any) -> list[Line2D]:
        ends = self.line(lines)
        if ends is None:
            return []
        return axes.plot(*ends.T, color=colour, linestyle=style, linewidth=1.5, label=name)

    def draw_rings(self, axes: Axes, one: Step) -> None:
        rows = list(one.rows)
        if len(rows) < len(self.points):
            axes.plot(
                *self.points[rows].T, "o", markersize=13, markerfacecolor="none", markeredgecolor=INK, label="_visited"
            )


def cut(corners: Points, line: NDArray[np.float64], *, keeps_all: bool) -> Points:
    """Return the part of a convex polygon on the positive side of a line; all or nothing if there is no line.

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> cut(square, np.array([1.0, 0.0, -0.5]), keeps_all=True).tolist()
    [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0], [0.5, 1.0]]
    """
    if not line.any():
        return corners if keeps_all else corners[:0]
    heights = corners @ line[:2] + line[2]
    kept: list[Points] = []
    for i in range(len(corners)):
        before, height = heights[i - 1], heights[i]
        if (before > 0) != (height > 0):
            kept.append(corners[i - 1] + (corners[i] - corners[i - 1]) * (before / (before - height)))
        if height > 0:
            kept.append(corners[i])
    return np.array(kept).reshape(-1, 2)


def dense(matrix: Any) -> Any:
    return as_scipy(matrix).toarray() if isinstance(matrix, Sparse) else matrix


# ---- frames


def frame_of(view: View, trace: Trace, which: int) -> Figure:
    """Return a frame; -1 is the one before the first step."""
    figure, axes = view.empty()
    lines = view.lines(trace, which)
    view.draw_regions(axes, lines)
    handles = draw_points(axes, view.points, trace.block.labels, trace.classes)
    view.draw_line(axes, lines, "boundary", INK, "-")
    if which >= 0:
        view.draw_rings(axes, trace.steps[which])
    title = "Before the first step" if which < 0 else in_words(trace.steps[which])
    entitle(axes, title)
    figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=SMALL)
    return finished(figure, title)


def as_page(view: View, trace: Trace, shown: list[int], seconds: float) -> str:
    """Yield the lines of a page: one plot, and a script that draws the regions, line and ring of the chosen step."""
    figure, axes = view.empty()
    handles = draw_points(axes, view.points, trace.block.labels, trace.classes)
    figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=SMALL)
    entitle(axes, " ")
    finished(figure, "The run, step by step")
    picture = svg(figure)
    height = SIZE[1] * 72

    def place(points: Points) -> list[list[float]]:
        there = axes.transData.transform(points) * 72 / figure.dpi
        return [[round(float(x), 2), round(height - float(y), 2)] for x, y in there]

    frames = []
    for which in (-1, *shown):
        lines = view.lines(trace, which)
        ends = view.line(lines)
        visited = [] if which < 0 else list(trace.steps[which].rows)
        frames.append(
            {
                "title": "Before the first step" if which < 0 else in_words(trace.steps[which]),
                "regions": [place(corners) if len(corners) else [] for corners in view.regions(lines)],
                "line": [] if ends is None else place(ends),
                "rings": place(view.points[visited]) if 0 < len(visited) < len(view.points) else [],
            }
        )
    colours = [mark_of(number).colour for number in range(len(trace.classes))]
    facts = json.dumps({"frames": frames, "colours": colours, "tint": TINT, "seconds": seconds}, separators=(",", ":"))
    return page("A run, step by step", fragment(player(picture, facts.replace("<", "\\u003c"), len(frames))))


def player(picture: str, facts: str, frames: int) -> Iterator[str]:
    yield f'<figure id="run">{picture}</figure>'
    yield '<p><button id="play" type="button">Play</button> '
    yield f'<input id="at" type="range" min="0" max="{frames - 1}" value="0" aria-label="step"> '
    yield '<output id="title"></output></p>'
    yield f'<script id="facts" type="application/json">{facts}</script>'
    yield f"<script>{SCRIPT}</script>"


SCRIPT = """
"use strict";
const facts = JSON.parse(document.getElementById("facts").textContent);
const picture = document.querySelector("#run svg"), at = document.getElementById("at");
const play = document.getElementById("play"), title = document.getElementById("title");
const make = (name, where) => where(document.createElementNS("http://www.w3.org/2000/svg", name));
const behind = make("g", g => picture.insertBefore(g, picture.querySelector("g")) && g);
const above = make("g", g => picture.appendChild(g));
const set = (element, values) => { for (const name in values) element.setAttribute(name, values[name]); };
function show() {
  const frame = facts.frames[at.value];
  behind.replaceChildren(); above.replaceChildren();
  frame.regions.forEach((corners, k) => { if (corners.length) make("polygon", e => { behind.append(e);
    set(e, {points: corners.map(c => c.join(",")).join(" "), fill: facts.colours[k], "fill-opacity": facts.tint});
  }); });
  if (frame.line.length) make("line", e => { above.append(e); const [[a, b], [c, d]] = frame.line;
    set(e, {x1: a, y1: b, x2: c, y2: d, stroke: "currentColor", "stroke-width": 1.5}); });
  for (const [x, y] of frame.rings) make("circle", e => { above.append(e);
    set(e, {cx: x, cy: y, r: 7, fill: "none", stroke: "currentColor"}); });
  title.textContent = frame.title + " (" + at.value + " of " + at.max + ")";
}
let timer = null;
function stop() { clearInterval(timer); timer = null; play.textContent = "Play"; }
play.onclick = () => {
  if (timer !== null) return stop();
  if (at.value === at.max) at.value = 0;
  play.textContent = "Pause";
  show();
  timer = setInterval(() => { if (at.value === at.max) return stop(); at.stepUp(); show(); }, 1000 * facts.seconds);
};
at.oninput = () => { stop(); show(); };
show();
"""
