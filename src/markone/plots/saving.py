"""Saves plots in files: as an image, as SVG, or as a page."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from html import escape
from typing import Any

from matplotlib.figure import Figure

from markone.errors import DataError, SettingsError, did_you_mean
from markone.plots.fonts import warn_of_boxes, with_fallbacks
from markone.plots.svg_text import GAP, svg, svg_file
from markone.reporting.grids import visible
from markone.reporting.html import fragment, page
from markone.storage.atomic import writing

STILL = (".png", ".svg", ".html")
ANIMATED = (*STILL, ".gif")
RESOLUTION = 160
"""Dots per inch of an image."""
MOST_PIXELS = 2**15
"""The largest height of an image. A taller one has fewer dots per inch."""


def save(figures: Figure | Sequence[Figure], path: str | os.PathLike[str], *, title: str = "Plots") -> None:
    """Save a plot, or several one below the other, in a file, which appears when it is complete.

    Parameters
    ----------
    figures
        One of the figures that the functions of this module return, or a list of them.
    path
        The file to write. Its ending is the format: `.png` is an image on white ground. `.svg` stays sharp, and suits
        light and dark pages. `.html` is a page that needs no other file, and suits both as well.
    title
        The title of a page.

    Examples
    --------
    >>> import tempfile
    >>> from markone import plots
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plots.save(plots.losses_curve(), f"{folder}/losses.svg")
    """
    shown = [figures] if isinstance(figures, Figure) else list(figures)
    if not shown:
        raise DataError("there is no figure to save")
    ending = check_file(path, STILL)
    if ending == ".png":
        content = as_png(shown)
    elif ending == ".svg":
        content = svg_file(shown).encode()
    else:
        content = page(title, fragment(map(as_element, shown))).encode()
    with writing(path) as file:
        file.write(content)


def check_file(path: str | os.PathLike[str], endings: Sequence[str], name: str = "path") -> str:
    """Check that a picture can be saved in this file, and return the ending of its name. `name` is the setting."""
    text = os.fspath(path)
    ending = os.path.splitext(text)[1].lower()
    if ending not in endings:
        known = f"{', '.join(endings[:-1])} or {endings[-1]}"
        if ending in ANIMATED:
            raise SettingsError(name, f"must end in {known} here, not in {ending}: there is no animation of this")
        found = f"and {text!r} does not" if not ending else f"not in {ending}"
        raise SettingsError(name, f"must end in {known}, {found}.{did_you_mean(ending, endings)}".removesuffix("."))
    folder = os.path.dirname(text) or "."
    if not os.path.isdir(folder):
        raise DataError(f"the folder {folder} for the picture does not exist")
    if os.path.isdir(text):
        raise DataError(f"{text} is a folder; name a file for the picture")
    if not os.access(text if os.path.exists(text) else folder, os.W_OK):
        raise DataError(f"you have no permission to write {text}; name another file for the picture")
    return ending


def as_element(figure: Figure) -> str:
    return f"<figure>{svg(figure)}<figcaption>{escape(visible(str(figure.get_label())))}</figcaption></figure>"


def as_png(figures: Sequence[Figure]) -> bytes:
    """Return the figures as one image, on white ground."""
    from PIL import Image

    inches = sum(figure.get_figheight() for figure in figures) + GAP / 72 * (len(figures) - 1)
    resolution = min(RESOLUTION, MOST_PIXELS / inches)
    warn_of_boxes(figures)
    images = [as_image(figure, resolution) for figure in figures]
    gap = round(GAP / 72 * resolution)
    size = max(one.width for one in images), sum(one.height for one in images) + gap * (len(images) - 1)
    whole, top = Image.new("RGB", size, "white"), 0
    for one in images:
        whole.paste(one, (0, top))
        top += one.height + gap
    file = io.BytesIO()
    whole.save(file, format="PNG", dpi=(resolution, resolution), optimize=True)
    return file.getvalue()


def as_image(figure: Figure, resolution: float) -> Any:
    """Return a figure as a Pillow image."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    before = figure.dpi
    try:
        figure.set_dpi(resolution)
        canvas: Any = FigureCanvasAgg(figure)
        with with_fallbacks(figure):
            canvas.draw()
        return Image.frombuffer("RGBA", canvas.get_width_height(physical=True), canvas.buffer_rgba()).convert("RGB")
    finally:
        figure.set_dpi(before)
