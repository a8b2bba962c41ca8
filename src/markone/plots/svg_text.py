"""Figures as SVG: the same plot gives the same bytes, plots on one page do not interfere, and they suit light and dark
pages."""

from __future__ import annotations

import hashlib
import io
import re
import threading
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from itertools import count

import matplotlib
from matplotlib.figure import Figure

from markone.plots.colours import COLOURS, INK
from markone.plots.fonts import RAW_WARNINGS
from markone.reporting.grids import visible

TAG = re.compile(r"<[^>]*>")
DEFINED = re.compile(r' id="([^"]*)"')
USED = re.compile(r'(?:url\(|href=")#([^")]*)')
UNSAID = dict.fromkeys(("Creator", "Date", "Format", "Type"))
"""Metadata that depend on the date or on the version of matplotlib."""
ROOT = re.compile(r"\A.*?<svg [^>]*>", re.DOTALL)
STYLE = re.compile(r"<defs>\s*<style [^>]*>\*{[^}]*}</style>\s*</defs>\s*")
"""In an HTML page, this style would apply to the whole page."""
INK_OF_PAGE = "currentColor"
COLOURED_TEXT = re.compile(rf"fill: ({'|'.join(COLOURS)})", re.IGNORECASE)
STROKES = f"fill: {INK_OF_PAGE}; stroke-linejoin: round; stroke-linecap: butt"
IN_PAGE = "max-width: 100%; height: auto"
"""In a narrow page, a plot shrinks."""
NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
INK_ON_LIGHT, INK_ON_DARK = INK, "#e6e6e6"
INK_BY_SCHEME = (
    f"<style>:root {{ color-scheme: light dark; color: {INK_ON_LIGHT} }} "
    f"@media (prefers-color-scheme: dark) {{ :root {{ color: {INK_ON_DARK} }} }}</style>"
)
"""A file has no page from which it could inherit the colour of ink."""
FONTS = ["DejaVu Sans", "Verdana"]
GAP = 12
"""The distance of figures that stand below each other, in points."""
ALONE = threading.Lock()
"""A lock, since the settings of matplotlib for SVG apply to the whole process."""


def svg(figure: Figure) -> str:
    """Return the figure as an SVG element for an HTML page, which may contain several.

    Words stay words: they can be searched and read aloud, take little room, and are drawn by the browser, which knows
    scripts that matplotlib's font does not. The figure's label is its description for those who cannot see it. The
    background is transparent, and black becomes the colour of the text around it, so that the figure suits light and
    dark pages.
    """
    width, height = size_of(figure)
    size = f'width="{width:g}pt" height="{height:g}pt" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg {NAMESPACES} {size} {described(figure)} style="{STROKES}; {IN_PAGE}">{drawn(figure)}</svg>'


def svg_file(figures: Sequence[Figure]) -> str:
    """Return figures, one below the other, as the text of an SVG file. Its ink is white where dark is preferred."""
    sizes = [size_of(figure) for figure in figures]
    width, height = max(own for own, _ in sizes), sum(own for _, own in sizes) + GAP * (len(sizes) - 1)
    title = ". ".join(str(figure.get_label()) for figure in figures)
    lines = [
        f'<svg {NAMESPACES} width="{width:g}pt" height="{height:g}pt" viewBox="0 0 {width:g} {height:g}">',
        f"<title>{escape(visible(title))}</title>",
        INK_BY_SCHEME,
    ]
    top = 0.0
    for figure, (own_width, own_height) in zip(figures, sizes, strict=True):
        place = f'y="{top:g}" width="{own_width:g}" height="{own_height:g}"'
        lines.append(f'<svg {place} {described(figure)} style="{STROKES}">{drawn(figure)}</svg>')
        top += own_height + GAP
    return "\n".join([*lines, "</svg>\n"])


def size_of(figure: Figure) -> tuple[float, float]:
    """Return width and height in points."""
    return 72 * figure.get_figwidth(), 72 * figure.get_figheight()


def described(figure: Figure) -> str:
    """Return the attributes that tell a screen reader what the figure shows."""
    description = str(figure.get_label())
    return f'role="img" aria-label="{escape(visible(description))}"' if description else 'role="img"'


def drawn(figure: Figure) -> str:
    """Return the shapes and words of a figure."""
    file = io.StringIO()
    with ALONE, matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcParams.update({"svg.hashsalt": "markone", "svg.fonttype": "none", "font.sans-serif": FONTS})
        warnings.filterwarnings("ignore", message=RAW_WARNINGS)
        figure.savefig(file, format="svg", metadata=UNSAID, transparent=True)
    text = STYLE.sub("", ROOT.sub("", file.getvalue())).removesuffix("</svg>\n").strip()
    return renamed(TAG.sub(in_colours_of_page, text))


def in_colours_of_page(found: re.Match[str]) -> str:
    """Return a tag with the ink of the page. Coloured text is a little of this ink, too, so that it is easy to read."""
    tag = found[0].replace(INK.lower(), INK_OF_PAGE)
    if tag.startswith("<text"):
        tag = COLOURED_TEXT.sub(rf"fill: \1; fill: color-mix(in srgb, \1 70%, {INK_OF_PAGE})", tag)
    return tag


def renamed(text: str) -> str:
    """Return the SVG with short ids, without unused ids. Only identical plots have the same ids."""
    used = dict.fromkeys(name for tag in TAG.findall(text) for name in USED.findall(tag))
    numbers = {name: str(number) for name, number in zip(used, count(1))}
    # Matplotlib's ids depend on what was drawn before. The text with numbers instead of them does not.
    own = hashlib.sha256(with_ids(text, numbers).encode()).hexdigest()[:8]
    return with_ids(text, {name: f"{own}-{number}" for name, number in numbers.items()})


def with_ids(text: str, names: Mapping[str, str]) -> str:
    def in_tag(found: re.Match[str]) -> str:
        tag = DEFINED.sub(lambda one: f' id="{names[one[1]]}"' if one[1] in names else "", found[0])
        return USED.sub(lambda one: one[0].replace(one[1], names[one[1]]), tag)

    return TAG.sub(in_tag, text)
