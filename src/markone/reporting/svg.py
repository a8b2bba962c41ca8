"""Draws charts as SVG for HTML. Colours are classes, for which the page has light and dark values."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from markone.brief import Brief
from markone.reporting.charts import Bars, Cells, Chart, Line, Pixels, Points, limits_of
from markone.reporting.grids import plain_number, shortened, signed_number, visible

# The colours are partly transparent, so that text is readable on light and on dark pages.
FOR, AGAINST = "31,111,235", "218,54,40"
STRONGEST_SHADE = 0.6
STROKES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""The colours of lines, which people with any kind of colour vision can distinguish."""
LEFT, TOP, ACROSS, DOWN = 56, 8, 300, 140
"""Where a drawing begins, and its size, in pixels."""
LEGEND = 18
"""The height of a line of the legend."""
LETTER = 7.2
"""The approximate width of a letter, in pixels."""
BAR, BAR_GAP, LONGEST_NAME, LONGEST_LEGEND = 16, 6, 24, 40
PIXEL = 8


@dataclass(frozen=True, slots=True, repr=False)
class Drawing(Brief):
    """A finished SVG drawing, and what stands for it in plain text."""

    svg: str
    text: str
    title: str = ""

    def in_brief(self) -> str:
        return self.title or "a drawing"

    def __str__(self) -> str:
        return self.text


def escaped(text: object) -> str:
    return html.escape(visible(text), quote=True)


def drawn(chart: Chart) -> str:
    """Return a chart as an SVG drawing; a heat map is a table whose cells have colours."""
    for part in chart.parts:
        if isinstance(part, Cells):
            return heat_map(part)
        if isinstance(part, Bars):
            return bar_drawing(part, chart.title)
        if isinstance(part, Pixels):
            return pixel_drawing(part, chart.title)
    return plane_drawing(chart)


def framed(width: float, height: float, title: str, shapes: Sequence[str]) -> str:
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
    inside = "\n".join(shapes)
    return f'<svg {size} role="img" aria-label="{escaped(title)}">\n{inside}\n</svg>'


def words_at(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="currentColor" font-size="12">{escaped(text)}</text>'


def stroke(number: int) -> str:
    number %= len(STROKES)
    return f'class="line-{number}" stroke="{STROKES[number]}"'


def fill(number: int) -> str:
    number %= len(STROKES)
    return f'class="area-{number}" fill="{STROKES[number]}"'


def heat_map(part: Cells) -> str:
    scale = max((abs(value) for row in part.rows for value in row), default=0.0) or 1.0

    def cell(value: float) -> str:
        ground = f"rgba({FOR if value > 0 else AGAINST},{STRONGEST_SHADE * abs(value) / scale:.2f})"
        return f'<td style="background:{ground}">{signed_number(value)}</td>'

    heads = "".join(f"<th>{escaped(name)}</th>" for name in ("", *part.across))
    rows = "".join(
        f"<tr><td>{escaped(name)}</td>{''.join(map(cell, row))}</tr>\n"
        for name, row in zip(part.down, part.rows, strict=True)
    )
    return f"<table>\n<thead>\n<tr>{heads}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n</table>"


def bar_drawing(bars: Bars, title: str) -> str:
    """Return horizontal bars with their names and numbers. Bars of negative numbers go to the left."""
    names = [shortened(name, LONGEST_NAME) for name in bars.names]
    numbers = [plain_number(value) for value in bars.values]
    left, room = (LETTER * max(map(len, texts), default=0) + 10 for texts in (names, numbers))
    low, high = min([0.0, *bars.values]), max([0.0, *bars.values])
    scale = ACROSS / (high - low) if high > low else 0.0
    zero = left - low * scale
    shapes = []
    for i, (name, value, number) in enumerate(zip(names, bars.values, numbers, strict=True)):
        top = i * (BAR + BAR_GAP)
        start, length = zero + min(value, 0.0) * scale, abs(value) * scale
        shapes.append(words_at(left - 6, top + BAR - 4, "end", name))
        colour = fill(0 if value >= 0 else 1)
        shapes.append(f'<rect x="{start:.1f}" y="{top}" width="{length:.1f}" height="{BAR}" {colour}/>')
        shapes.append(words_at(max(start + length, zero) + 6, top + BAR - 4, "start", number))
    return framed(left + ACROSS + room, max(1, len(names)) * (BAR + BAR_GAP), title, shapes)


def pixel_drawing(pixels: Pixels, title: str) -> str:
    """Return an image in shades of the colour of the text."""
    rows = [[float(value) for value in row] for row in pixels.rows]
    low, high = min(map(min, rows)), max(map(max, rows))
    shapes = [
        f'<rect x="{PIXEL * x}" y="{PIXEL * y}" width="{PIXEL}" height="{PIXEL}" fill="currentColor" '
        f'fill-opacity="{(value - low) / (high - low):.2f}"/>'
        for y, row in enumerate(rows)
        for x, value in enumerate(row)
        if value > low
    ]
    return framed(PIXEL * len(rows[0]), PIXEL * len(rows), title, shapes)


def plane_drawing(chart: Chart) -> str:
    """Return points and lines, with the ranges of the axes, and a legend if they have names."""
    low_x, high_x, low_y, high_y = limits_of(chart)

    def place(x: float, y: float) -> tuple[str, str]:
        across, up = (x - low_x) / (high_x - low_x), (y - low_y) / (high_y - low_y)
        return f"{LEFT + across * ACROSS:.1f}", f"{TOP + (1 - up) * DOWN:.1f}"

    shown = [part for part in chart.parts if isinstance(part, Points | Line)]
    right, bottom = LEFT + ACROSS, TOP + DOWN
    shapes = [f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="currentColor"/>']
    if low_y < 0 < high_y:
        zero = place(low_x, 0)[1]
        shapes.append(f'<path d="M{LEFT} {zero}H{right}" stroke="currentColor" stroke-dasharray="2 4"/>')
    for part in shown:
        places = [place(x, y) for x, y in zip(part.xs, part.ys, strict=True)]
        if isinstance(part, Points):
            shapes += [f'<circle cx="{x}" cy="{y}" r="3" {fill(part.number)} fill-opacity="0.6"/>' for x, y in places]
            continue
        dashes = ' stroke-dasharray="6 4"' if part.dashed else ""
        path = " ".join(f"{x},{y}" for x, y in places)
        shapes.append(f'<polyline points="{path}" fill="none" stroke-width="2" {stroke(part.number)}{dashes}/>')
    low, high = ends(shown, "xs", (low_x, high_x) if chart.limits else None)
    shapes += [words_at(float(place(x, low_y)[0]), bottom + 16, "middle", plain_number(x)) for x in sorted({low, high})]
    low, high = ends(shown, "ys", (low_y, high_y) if chart.limits else None)
    shapes += [words_at(LEFT - 6, float(place(low_x, y)[1]) + 4, "end", plain_number(y)) for y in sorted({low, high})]
    shapes.append(words_at(LEFT + ACROSS / 2, bottom + 16, "middle", chart.x))
    named = [part for part in shown if part.name]
    for i, part in enumerate(named):
        y = bottom + 40 + LEGEND * i
        sign = f'<path d="M{LEFT} {y - 4}h14" stroke-width="3" {stroke(part.number)}/>'
        shapes += [sign, words_at(LEFT + 20, y, "start", shortened(part.name, LONGEST_LEGEND))]
    return framed(right + 24, bottom + 24 + LEGEND * len(named) + (6 if named else 0), chart.title, shapes)


def ends(parts: Sequence[Points | Line], axis: str, limits: tuple[float, float] | None) -> tuple[float, float]:
    """Return the numbers that are written on an axis: the least and the largest, or the limits of the chart."""
    if limits is not None:
        return limits
    numbers = [number for part in parts for number in getattr(part, axis) if math.isfinite(number)] or [0.0]
    return min(numbers), max(numbers)
