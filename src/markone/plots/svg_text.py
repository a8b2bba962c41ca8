"""Figures as SVG for pages: the same bytes for the same picture, and nothing that meets other pictures of the page."""

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
"""What would change with the day or with the version of matplotlib."""
STYLE = re.compile(r"<defs>\s*<style [^>]*>\*{[^}]*}</style>\s*</defs>\s*")
"""In a page it would be a rule for everything, not only for the picture."""
STROKES = "stroke-linejoin: round; stroke-linecap: butt"
FONTS = ["DejaVu Sans", "Verdana"]
ALONE = threading.Lock()
"""How matplotlib writes SVG is set for the whole process."""


def svg(figure: Figure) -> str:
    """The figure as an SVG element that can stand in an HTML page, together with others.

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
    """With short ids where ids are used, and none elsewhere. They begin alike only in pictures that are all alike."""
    own = hashlib.sha256(text.encode()).hexdigest()[:8]
    used = dict.fromkeys(name for tag in TAG.findall(text) for name in USED.findall(tag))
    names = {name: f"{own}-{number}" for name, number in zip(used, count(1))}

    def in_tag(found: re.Match[str]) -> str:
        tag = DEFINED.sub(lambda one: f' id="{names[one[1]]}"' if one[1] in names else "", found[0])
        return USED.sub(lambda one: one[0].replace(one[1], names[one[1]]), tag)

    return TAG.sub(in_tag, text)


def headed(text: str, description: str) -> str:
    """With what holds for all of the picture."""
    head = f'style="{STROKES}"'
    if description:
        head = f'role="img" aria-label="{escape(description)}" {head}'
    return text.replace("<svg ", f"<svg {head} ", 1)
