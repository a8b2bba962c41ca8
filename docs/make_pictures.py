"""Draws the images of pictures.md with the code of the page: each image is the `figure` of the code above it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from markone.plots.svg_text import svg_file

PAGE = Path(__file__).with_name("pictures.md")
PIECE = re.compile(r"^```python\n(.*?)^```$|^!\[[^\n]*\]\(([^\n]*)\)$", re.MULTILINE | re.DOTALL)


def draw() -> dict[Path, str]:
    """Yield each figure with the file of its image."""
    names: dict[str, Any] = {"__name__": "pictures"}
    drawn = {}
    for code, image in PIECE.findall(PAGE.read_text(encoding="utf-8")):
        if code:
            exec(compile(code, PAGE.name, "exec"), names)
        else:
            drawn[PAGE.parent / image] = svg_file([names.pop("figure")])
    return drawn


if __name__ == "__main__":
    for path, picture in draw().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(picture, encoding="utf-8")
