"""Standard output of the commands."""

from __future__ import annotations

import json
import os
import sys

WIDE = 200
"""The width of output that does not go to a terminal."""


def say(text: object) -> None:
    """Print text for people. Names from data and models may contain control characters, which are made visible."""
    from markone.reporting.grids import visible_text

    print(visible_text(str(text)) if sys.stdout.isatty() else text)


def say_json(text: str) -> None:
    """Print JSON. On a terminal, control characters are written as JSON escapes, so that it stays valid JSON."""
    print(visible_json(text) if sys.stdout.isatty() else text)


def visible_json(text: str) -> str:
    """
    >>> print(visible_json('["\u202ea"]'))
    ["\\u202ea"]
    """
    shown = (c if c.isprintable() or c in "\n\t" else json.dumps(c)[1:-1] for c in text)
    return text if text.isprintable() else "".join(shown)


def knows_width() -> bool:
    """Whether the width of standard output is known."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ
