"""Makes HTML of explanations. It needs no other files, and every name, label and word is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from markone.reporting.grids import Grid, signed_number, visible, visible_text
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
