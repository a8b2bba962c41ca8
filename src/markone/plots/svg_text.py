"""Figures as SVG for HTML pages: the same plot gives the same bytes, and plots on one page do not interfere."""

from __future__ import annotations

import hashlib
import io
import re
import threading
import warnings
from html import escape
from itertools import count

import matplotlib
from matplotlib.figure import Figure

TAG = re.compile(r"<[^>]*>")
DEFINED = re.compile(r' id="([^"]*)"')
USED = re.compile(r'(?:url\(|href=")#([^")]*)')
UNSAID = dict.fromkeys(("Creator", "Date", "Format", "Type"))
"""Metadata that depend on the date or on the version of matplotlib."""
STYLE = re.compile(r"<defs>\s*<style [^>]*>\*{[^}]*}</style>\s*</defs>\s*")
"""In an HTML page, this style would apply to the whole page."""
STROKES = "stroke-linejoin: round; stroke-linecap: butt"
FONTS = ["DejaVu Sans", "Verdana"]
ALONE = threading.Lock()
"""A lock, since the settings of matplotlib for SVG apply to the whole process."""


def svg(figure: Figure) -> str:
    """Return the figure as an SVG element for an HTML page, which may contain several.

    Words stay words: they can be searched and read aloud, take little room, and are drawn by the browser, which knows
    scripts that matplotlib's font does not. The figure's label is its description for those who cannot see it.
    """
    file = io.StringIO()
    with ALONE, matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcParams.update({"svg.hashsalt": "markone", "svg.fonttype": "none", "font.sans-serif": FONTS})
        warnings.filterwarnings("ignore", message="(Glyph|Matplotlib currently does not support)")
        figure.savefig(file, format="svg", metadata=UNSAID)
    text = file.getvalue()
    text = STYLE.sub("", text[text.index("<svg") :]).strip()
    return headed(renamed(text), str(figure.get_label()))


def renamed(text: str) -> str:
    """Return the SVG with short ids, without unused ids. Only identical plots have the same ids."""
    own = hashlib.sha256(text.encode()).hexdigest()[:8]
    used = dict.fromkeys(name for tag in TAG.findall(text) for name in USED.findall(tag))
    names = {name: f"{own}-{number}" for name, number in zip(used, count(1))}

    def in_tag(found: re.Match[str]) -> str:
        tag = DEFINED.sub(lambda one: f' id="{names[one[1]]}"' if one[1] in names else "", found[0])
        return USED.sub(lambda one: one[0].replace(one[1], names[one[1]]), tag)

    return TAG.sub(in_tag, text)


def headed(text: str, description: str) -> str:
    """Return the SVG with the attributes of the whole plot."""
    head = f'style="{STROKES}"'
    if description:
        head = f'role="img" aria-label="{escape(description)}" {head}'
    return text.replace("<svg ", f"<svg {head} ", 1)
