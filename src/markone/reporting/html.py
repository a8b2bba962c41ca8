"""Makes HTML of explanations. It needs no other files, and every name, label and word is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from markone.reporting.charts import Cells, Chart, Line, limits_of
from markone.reporting.grids import Grid, plain_number, signed_number, visible, visible_text
from markone.reporting.marking import FAINTEST, MarkedText, share

STYLE = """\
.markone { font: 14px/1.5 system-ui, sans-serif; max-width: 60em; }
.markone table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums; }
.markone th, .markone td { padding: 0.1em 0.6em; text-align: right; overflow-wrap: anywhere; }
.markone th:first-child, .markone td:first-child { text-align: left; }
.markone thead, .markone tfoot { font-weight: bold; }
.markone tfoot tr:first-child td { border-top: 1px solid; }
.markone .text { white-space: pre-wrap; overflow-wrap: anywhere; }
.markone mark { color: inherit; border-radius: 0.2em; }
.markone figure { margin: 1em 0 2em; }"""
PAGE_STYLE = ":root { color-scheme: light dark; } body { margin: min(2em, 4vw); }"
# The colours are partly transparent, so that text is readable on light and on dark pages.
FOR, AGAINST = "31,111,235", "218,54,40"
STRONGEST_SHADE = 0.6
STROKES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""The colours of lines, which people with any kind of colour vision can distinguish."""
LEFT, TOP, ACROSS, DOWN = 60, 8, 420, 180
"""Where a drawing begins, and its size, in pixels."""


def escaped(text: object) -> str:
    """Return a name or a label for use in HTML."""
    return html.escape(visible(text), quote=True)


def paragraph(text: str) -> str:
    return f"<p>{escaped(text)}</p>"


def preformatted(text: str) -> str:
    """Return text whose lines and columns stay as they are."""
    return f"<pre>{html.escape(visible_text(text), quote=True)}</pre>"


def title(text: str) -> str:
    return f"<h3>{escaped(text)}</h3>"


def table(grid: Grid) -> str:
    def lines(cell: str, some: Sequence[Sequence[str]]) -> str:
        return "".join(f"<tr>{''.join(f'<{cell}>{escaped(one)}</{cell}>' for one in line)}</tr>\n" for line in some)

    inside = (("thead", lines("th", grid.heads)), ("tbody", lines("td", grid.rows)))
    foot = f"<tfoot>\n{lines('td', grid.last)}</tfoot>\n" if grid.last else ""
    head, body = (f"<{part}>\n{rows}</{part}>\n" for part, rows in inside)
    return f"<table>\n{head}{body}{foot}</table>"


def marked(text: MarkedText, largest: float) -> str:
    """Return the text with a background colour behind each marked word. The title of a word shows its mark."""
    pieces = []
    for piece, mark in text.pieces:
        shown = html.escape(visible_text(piece), quote=True)
        strength = share(mark or 0.0, largest)
        if mark and strength >= FAINTEST:
            ground = f"rgba({FOR if mark > 0 else AGAINST},{STRONGEST_SHADE * strength:.2f})"
            shown = f'<mark style="background:{ground}" title="{signed_number(mark)}">{shown}</mark>'
        pieces.append(shown)
    return f'<div class="text">{"".join(pieces)}</div>'


def chart(drawn: Chart) -> str:
    """Return a chart of lines as a drawing, or a heat map as a table whose cells have colours."""
    for part in drawn.parts:
        if isinstance(part, Cells):
            return f"<figure>\n<figcaption>{escaped(drawn.title)}</figcaption>\n{heat_map(part)}\n</figure>"
    return f"<figure>\n<figcaption>{escaped(drawn.title)}</figcaption>\n{line_drawing(drawn)}\n</figure>"


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


def line_drawing(drawn: Chart) -> str:
    """Return an SVG drawing of the lines, with the ranges of the axes and a legend if lines have names."""
    low_x, high_x, low_y, high_y = limits_of(drawn)

    def place(x: float, y: float) -> str:
        across, up = (x - low_x) / (high_x - low_x), (y - low_y) / (high_y - low_y)
        return f"{LEFT + across * ACROSS:.1f},{TOP + (1 - up) * DOWN:.1f}"

    lines = [part for part in drawn.parts if isinstance(part, Line)]
    shown = [
        f'<polyline points="{" ".join(map(place, part.xs, part.ys))}" fill="none" stroke-width="2" '
        f'stroke="{STROKES[part.number % len(STROKES)]}"/>'
        for part in lines
    ]
    right, bottom = LEFT + ACROSS, TOP + DOWN
    if low_y < 0 < high_y:
        zero = place(low_x, 0).partition(",")[2]
        shown.insert(0, f'<path d="M{LEFT} {zero}H{right}" stroke="currentColor" stroke-dasharray="2 4"/>')
    words = [
        (LEFT - 6, TOP + 8, "end", plain_number(high_y)),
        (LEFT - 6, bottom, "end", plain_number(low_y)),
        (LEFT, bottom + 16, "start", plain_number(low_x)),
        (right, bottom + 16, "end", plain_number(high_x)),
        (LEFT + ACROSS / 2, bottom + 16, "middle", drawn.x),
    ]
    texts = [
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="currentColor" font-size="12">{escaped(word)}</text>'
        for x, y, anchor, word in words
    ]
    named = [part for part in lines if part.name]
    texts += [
        f'<text x="{right + 10}" y="{TOP + 12 + 16 * i}" fill="{STROKES[part.number % len(STROKES)]}" '
        f'font-size="12">{escaped(part.name)}</text>'
        for i, part in enumerate(named)
    ]
    axes = f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="currentColor"/>'
    inside = "\n".join([axes, *shown, *texts])
    size = f'viewBox="0 0 {right + (150 if named else 20)} {bottom + 24}" width="{right + (150 if named else 20)}"'
    return f'<svg {size} role="img" aria-label="{escaped(drawn.title)}">\n{inside}\n</svg>'


def fragment(parts: Iterable[str]) -> str:
    """Return HTML that can be inserted into any page."""
    inside = "\n".join(parts)
    return f'<div class="markone">\n<style>\n{STYLE}\n</style>\n{inside}\n</div>'


def page(name: str, body: str) -> str:
    """Return a complete page, which loads nothing from the network."""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escaped(name)}</title>\n'
        f"<style>{PAGE_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
