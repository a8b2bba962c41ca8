"""Fonts for characters that matplotlib's own font does not have, such as Chinese ones."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, fontManager, get_font
from matplotlib.text import Text

from markone.errors import warn

FALLBACKS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans CJK TC", "Noto Sans SC", "Noto Sans JP"),
    *("Noto Sans KR", "Source Han Sans SC", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback"),
    *("IPAGothic", "IPAexGothic", "TakaoGothic", "NanumGothic", "UnDotum"),
    *("PingFang SC", "PingFang HK", "Hiragino Sans", "Hiragino Sans GB", "Heiti TC", "AppleGothic"),
    *("Microsoft YaHei", "SimHei", "Yu Gothic", "MS Gothic", "Malgun Gothic", "Arial Unicode MS"),
)
"""Fonts with Chinese, Japanese or Korean characters on Linux, macOS and Windows."""
REGULAR = (400, "normal", "regular")
"""Weights of letters that are neither bold nor light."""
RAW_WARNINGS = "(Glyph|Matplotlib currently does not support)"
"""How matplotlib's warnings about characters begin."""


def installed() -> dict[str, str]:
    """Return the fallbacks that this computer has, and the files of their upright faces, which have most characters."""
    upright_last = sorted(fontManager.ttflist, key=lambda font: (font.style == "normal", font.weight in REGULAR))
    known = {font.name: font.fname for font in upright_last}
    return {name: known[name] for name in FALLBACKS if name in known}


@contextmanager
def with_fallbacks(figure: Figure) -> Iterator[None]:
    """Let a figure use other fonts for what its own font does not have, without matplotlib's warnings."""
    changed = [(text, text.get_fontfamily()) for text in texts_of(figure) if lacking(text)]
    others = installed() if changed else {}
    logger = logging.getLogger(findfont.__module__)
    logger.addFilter(never)  # it would say that a fallback does not have the exact weight
    try:
        for text, family in changed:
            text.set_fontfamily([*family, *others])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=RAW_WARNINGS)
            yield
    finally:
        logger.removeFilter(never)
        for text, family in changed:
            text.set_fontfamily(family)


def never(_: object) -> bool:
    return False


def warn_of_boxes(figures: Iterable[Figure]) -> None:
    """Warn the user once if images of these figures have boxes instead of characters, because no font has these."""
    others = [*installed().values()]
    boxes = {sign: None for figure in figures for text in texts_of(figure) for sign in lacking(text, others)}
    if boxes:
        more = " and other characters" if len(boxes) > 1 else ""
        warn(
            f"matplotlib finds no font with {next(iter(boxes))!r}{more} of the picture, and draws boxes instead; "
            "install a font such as Noto Sans CJK, or save the picture as .svg or .html"
        )


def texts_of(figure: Figure) -> list[Text]:
    return [text for text in figure.findobj(Text) if isinstance(text, Text) and not text.get_text().isascii()]


def lacking(text: Text, others: Sequence[str] = ()) -> list[str]:
    """Return the characters that are not in the font of a text, nor in the other font files."""
    files = [findfont(text.get_fontproperties()), *others]
    signs = [sign for sign in text.get_text() if not sign.isspace()]
    return [sign for sign in signs if not any(ord(sign) in characters_of(str(file)) for file in files)]


@cache
def characters_of(file: str) -> frozenset[int]:
    """Return the characters of a font."""
    return frozenset(get_font(file).get_charmap())
