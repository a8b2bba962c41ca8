"""Makes HTML of results. It needs no other files and no scripts, and every name, label and word is escaped.

Colours suit light and dark pages. They follow the theme of Jupyter, VS Code and Sphinx, or else the preference of the
reader's system.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from markone.reporting.charts import Chart
from markone.reporting.grids import Facts, Grid, signed_number, visible, visible_text
from markone.reporting.marking import FAINTEST, MarkedText, share
from markone.reporting.svg import AGAINST, FOR, STROKES, STRONGEST_SHADE, Drawing, drawn

LIGHT = "--markone-quiet: #59636e; --markone-line: #d0d7de; " + " ".join(
    f"--markone-{number}: {colour};" for number, colour in enumerate(STROKES)
)
# The same hues, light enough for a dark page.
DARK_STROKES = ("#58a6ff", "#ff8a4c", "#2bc49a", "#e29bc4", "#f0b429", "#8fd3f5")
DARK = "--markone-quiet: #9aa4b0; --markone-line: #3d444d; " + " ".join(
    f"--markone-{number}: {colour};" for number, colour in enumerate(DARK_STROKES)
)
IN_LIGHT = ('[data-jp-theme-light="true"]', ".vscode-light", ".vscode-high-contrast-light", '[data-theme="light"]')
IN_DARK = (
    '[data-jp-theme-light="false"]',
    ".vscode-dark",
    ".vscode-high-contrast:not(.vscode-high-contrast-light)",
    '[data-theme="dark"]',
)
"""How notebooks and pages say which theme they have."""


def themed(pages: Sequence[str], colours: str) -> str:
    return f"{', '.join(f'{page} .markone' for page in pages)} {{ {colours} }}"


# Jupyter aligns the cells of all tables to the right, by a rule that only more than one of our classes outranks.
STYLE = f"""\
.markone {{ font: 14px/1.5 system-ui, sans-serif; max-width: 60em; {LIGHT} }}
@media (prefers-color-scheme: dark) {{ .markone {{ {DARK} }} }}
{themed(IN_LIGHT, LIGHT)}
{themed(IN_DARK, DARK)}
.markone p {{ margin: 0.5em 0; max-width: 46em; overflow-wrap: anywhere; }}
.markone .wide {{ overflow-x: auto; margin: 0.75em 0; }}
.markone table {{ border-collapse: collapse; margin: 0; font-variant-numeric: tabular-nums; font-size: inherit; }}
.markone tr, .markone tbody tr:nth-child(odd) {{ background: none; }}
.markone th, .markone td {{ padding: 0.15em 0.6em; text-align: right; vertical-align: top; border: 0; }}
.markone td {{ white-space: nowrap; }}
.markone .wide th:first-child, .markone .wide td:first-child, .markone .wide .w {{ text-align: left; }}
.markone td:first-child, .markone td.w {{ white-space: normal; overflow-wrap: break-word; }}
.markone td.w + td.w {{ min-width: 5em; }}
.markone td.w:last-child {{ min-width: 14em; }}
.markone td.w:last-child:nth-child(2) {{ min-width: 0; }}
.markone tbody tr + tr td {{ border-top: 1px solid var(--markone-line); }}
.markone thead th {{ border-bottom: 1px solid; white-space: nowrap; }}
.markone thead, .markone tfoot {{ font-weight: bold; }}
.markone tfoot tr:first-child td {{ border-top: 1px solid; }}
.markone .note, .markone figcaption {{ color: var(--markone-quiet); }}
.markone .text {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
.markone pre {{ overflow-x: auto; }}
.markone mark {{ color: inherit; border-radius: 0.2em; }}
.markone figure {{ margin: 1em 0; overflow-x: auto; }}
.markone svg {{ max-width: 100%; height: auto; }}
""" + "\n".join(
    f".markone svg .line-{number} {{ stroke: var(--markone-{number}); }} "
    f".markone svg .area-{number} {{ fill: var(--markone-{number}); }}"
    for number in range(len(STROKES))
)
PAGE_STYLE = ":root { color-scheme: light dark; } body { margin: min(2em, 4vw); }"


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
    """Return a table. On a narrow page, it can be moved sideways."""

    def lines(cell: str, some: Sequence[Sequence[str]]) -> str:
        return "".join(f"<tr>{''.join(one(cell, i, text) for i, text in enumerate(line))}</tr>\n" for line in some)

    def one(cell: str, column: int, text: str) -> str:
        kind = ' class="w"' if column and column in grid.words else ""
        return f"<{cell}{kind}>{escaped(text)}</{cell}>"

    heads, rows, last = lines("th", grid.heads), lines("td", grid.rows), lines("td", grid.last)
    head = f"<thead>\n{heads}</thead>\n" if heads else ""
    foot = f"<tfoot>\n{last}</tfoot>\n" if last else ""
    return f'<div class="wide"><table>\n{head}<tbody>\n{rows}</tbody>\n{foot}</table></div>'


def facts(found: Facts) -> str:
    """Return facts as a table without a head."""
    rows = "".join(
        f'<tr><td>{escaped(name)}</td><td>{escaped(value)}</td><td class="w note">{escaped(note)}</td></tr>\n'
        for name, value, note in found.rows
    )
    return f'<div class="wide"><table>\n<tbody>\n{rows}</tbody>\n</table></div>'


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


def picture(shown: Chart | Drawing) -> str:
    """Return a chart or another drawing, with its title."""
    caption = f"<figcaption>{escaped(shown.title)}</figcaption>\n" if shown.title else ""
    return f"<figure>\n{caption}{shown.svg if isinstance(shown, Drawing) else drawn(shown)}\n</figure>"


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
