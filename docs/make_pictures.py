"""Draws the pictures of the pages: those of pictures.md by the code of that page, where each image is the `figure` of
the code above it, and those of the other pages by the functions that `PICTURES` names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from markone.plots.svg_text import INK_BY_SCHEME, svg_file
from markone.structured.drawing import tree_svg

sys.path.insert(0, str(Path(__file__).parents[1]))
from docs import charts_of_results, pictures_of_pages

PAGE = Path(__file__).with_name("pictures.md")
FOLDER = PAGE.with_name("_pictures")
PIECE = re.compile(r"^```python\n(.*?)^```$|^!\[[^\n]*\]\(([^\n]*)\)$", re.MULTILINE | re.DOTALL)

PICTURES: dict[str, Callable[[], Figure]] = {
    **{name: partial(charts_of_results.speed, name) for name in charts_of_results.GROUPS},
    "growth": charts_of_results.growth,
    "accuracy-texts": partial(charts_of_results.dots, "Texts"),
    "accuracy-tables": partial(charts_of_results.dots, "Tables"),
    "clusters-cost": charts_of_results.cost_of_clusters,
    "partitions-accuracy": charts_of_results.accuracy_by_partitions,
    "rules-boundaries": pictures_of_pages.boundaries_of_rules,
    "features-curves": pictures_of_pages.curves_of_columns,
    "table-curve": pictures_of_pages.curve_of_payments,
    "tutorial-weights": pictures_of_pages.weights_of_reviews,
    "tutorial-products": pictures_of_pages.products_of_a_review,
    "digits-weights": pictures_of_pages.weights_of_digits,
    "digits-confusion": pictures_of_pages.confusion_of_digits,
}
"""Pictures of other pages, by their names."""

WORDS = ["The", "old", "guest", "finds", "a", "green", "garden", "."]
HEADS = [3, 3, 4, 0, 7, 7, 4, 4]
LABELS = ["det", "amod", "nsubj", "root", "det", "amod", "obj", "punct"]


def draw() -> dict[Path, str]:
    """Return the drawings of pictures.md by their files."""
    names: dict[str, Any] = {"__name__": "pictures"}
    drawn = {}
    for code, image in PIECE.findall(PAGE.read_text(encoding="utf-8")):
        if code:
            exec(compile(code, PAGE.name, "exec"), names)
        else:
            drawn[PAGE.parent / image] = svg_file([names.pop("figure")])
    return drawn


def tree() -> str:
    """Return the drawing of a sentence with its tree, whose ink suits light and dark pages."""
    head, rest = tree_svg(WORDS, HEADS, LABELS).split("\n", 1)
    return f"{head}\n{INK_BY_SCHEME}\n{rest}\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, picture in draw().items():
        path.write_text(picture, encoding="utf-8")
    for name, draw_one in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(svg_file([draw_one()]), encoding="utf-8")
    (FOLDER / "structured-tree.svg").write_text(tree(), encoding="utf-8")
    pictures_of_pages.card().savefig(FOLDER / "card.png")
