"""Shared parts of all plots: colours, axes, and labels beside the lines that they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator

from markone.plots.colours import BLUE, COLOURS, FAINT, INK, QUIET, VERMILION
from markone.plots.svg_text import svg
from markone.reporting.grids import cells, label_in_words, shortened
from markone.reporting.html import fragment

EVIDENCE = LinearSegmentedColormap.from_list(
    "evidence", [(0, to_rgba(VERMILION)), (0.5, to_rgba(VERMILION, 0)), (0.5, to_rgba(BLUE, 0)), (1, to_rgba(BLUE))]
)
"""The colours of weights: those near 0 are transparent, so that they suit light and dark pages."""
MARKERS = "os^Dv<>PX"


TEXT, SMALL, TINY = 10, 9, 7
LABEL_WIDTH = 20
NAME_WIDTH = 32
PAD = 0.08
"""The free edge around a figure and its panels, in inches."""
PANELS_BESIDE, PANEL_WIDTH, ALONE = 3, 2.3, 5.7
"""How many panels stand beside each other, the width of each, and that of one that is alone, in inches."""
LINE = 0.19
"""The height of a line of text, such as the name of a bar, in inches."""
IN_AN_INCH = 11
"""The number of characters of a title in an inch, or somewhat fewer."""


class Mark(NamedTuple):
    """The mark of a class. Marks differ in shape and in colour, so that either is enough to distinguish them."""

    colour: str
    marker: str


def mark_of(number: int) -> Mark:
    return Mark(COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)])


class Picture(Figure):
    """A figure that shows itself in a notebook, as a drawing in the colours of the notebook's theme."""

    def _repr_html_(self) -> str:
        return fragment([f"<figure>{svg(self)}</figure>"])


def new_figure(width: float, height: float) -> Figure:
    return Picture(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=PAD, h_pad=PAD), facecolor="white")


def panels_for(count: int, lines: int, names: Iterable[str], *, share: bool = True) -> tuple[Figure, list[Axes]]:
    """Return a figure with so many panels, three in a row, which may `share` their horizontal axis.

    Each has room for some lines of text, such as named bars, and for the longest of these names beside it.
    """
    across = min(PANELS_BESIDE, count)
    down = -(-count // across)
    beside = width_of(names)
    area = max(PANEL_WIDTH, ALONE - beside) if count == 1 else PANEL_WIDTH
    figure = new_figure(0.3 + (area + beside) * across, 0.3 + down * (0.6 + LINE * lines))
    panels = list(figure.subplots(down, across, squeeze=False, sharex=share).ravel())
    for axes in panels[count:]:
        axes.remove()
    return figure, panels[:count]


def tidy(axes: Axes, *, grid: str | None = "both") -> Axes:
    """Keep only two sides of the frame, and a light grid behind the data."""
    axes.set_axisbelow(True)
    axes.tick_params(length=0, pad=5, labelsize=SMALL, labelcolor=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    if grid is not None:
        axes.grid(True, axis=grid, color=INK, alpha=FAINT, linewidth=0.8)  # type: ignore[arg-type]
    return axes


def name_axes(axes: Axes, x: str | None = None, y: str | None = None) -> None:
    axes.set_xlabel(x or "", fontsize=TEXT, color=INK)
    axes.set_ylabel(y or "", fontsize=TEXT, color=INK)


def entitle(axes: Axes, title: str, colour: str = INK) -> None:
    axes.set_title(title, fontsize=TEXT, color=colour, loc="left")


def count_in_whole_numbers(axis: Axis) -> None:
    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def in_percent(axis: Axis) -> None:
    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.10g}%"))


def draw_bars(axes: Axes, names: Sequence[str], values: Sequence[float], lines: int | None = None) -> None:
    """Draw named numbers as bars, with the first at the top. There is room for so many lines; by default, for all."""
    places = range(len(names))
    axes.barh(places, values, height=0.7, color=[BLUE if value > 0 else VERMILION for value in values])
    axes.set_yticks(places, list(map(name_text, names)))
    axes.set_ylim((len(names) if lines is None else lines) - 0.4, -0.6)
    axes.axvline(0, color=QUIET, linewidth=0.8)
    tidy(axes, grid="x").tick_params(labelbottom=True)
    axes.locator_params(axis="x", nbins=4)
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.05)


def entitle_sides(axes: Axes, negative: str, positive: str) -> None:
    """Say above bars what those to the left and those to the right stand for."""
    left, right = f"← {negative}", f"{positive} →"
    longest = max((len(label.get_text()) for label in axes.get_yticklabels()), default=0)
    if len(left) + len(right) + longest > IN_AN_INCH * axes.figure.bbox.width / axes.figure.dpi:
        left += "\n"
    axes.set_title(left, loc="left", fontsize=TEXT, color=VERMILION)
    axes.set_title(right, loc="right", fontsize=TEXT, color=BLUE)


class End(NamedTuple):
    """The end of a line, and its name."""

    height: float
    name: str
    colour: str


def label_ends(axes: Axes, ends: Sequence[End]) -> None:
    """Write the names of lines at the right edge, as close to the ends of the lines as possible."""
    low, high = axes.get_ylim()
    room = 1.3 * SMALL / 72 * axes.figure.dpi / axes.bbox.height
    ordered = sorted(((end.height - low) / (high - low), end) for end in ends)
    heights = apart([height for height, _ in ordered], room)
    for (_, end), height in zip(ordered, heights, strict=True):
        axes.annotate(
            end.name,
            (1, height),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=end.colour,
        )


def apart(places: Sequence[float], room: float) -> list[float]:
    """Move ascending places as little as possible, so that all lie between 0 and 1 with enough room between them.

    >>> apart([0.2, 0.2, 0.9], 0.25)
    [0.075, 0.325, 0.9]
    """
    groups: list[list[float]] = []  # each of places that touch: their number, and the sum of where the first would be
    for place in places:
        groups.append([1, place])
        while len(groups) > 1 and start(groups[-2], room) + groups[-2][0] * room > start(groups[-1], room):
            count, total = groups.pop()
            groups[-1] = [groups[-1][0] + count, groups[-1][1] + total - count * groups[-1][0] * room]
    return [round(start(group, room) + i * room, 12) for group in groups for i in range(int(group[0]))]


def start(group: list[float], room: float) -> float:
    """Return the start of a group, which is centred at its original places and inside the range."""
    count, total = group
    return max(0.0, min(total / count, 1 - (count - 1) * room))


def width_of(names: Iterable[str]) -> float:
    """Return about how many inches the longest name takes as the label of a tick."""
    return max((cells(name) for name in names), default=0) * SMALL / TEXT / IN_AN_INCH


def finished(figure: Figure, description: str) -> Figure:
    """Return the figure with a description for people who cannot see it. A $ in names does not begin a formula."""
    figure.set_label(description)
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_parse_math(False)
    return figure


def label_text(label: object, less: int = 0) -> str:
    """Return a label, which may be shortened. `less` is the room that is missing."""
    return label_in_words(label, LABEL_WIDTH - less)


def name_text(name: object, less: int = 0) -> str:
    """Return the name of a feature, which may be shortened. `less` is the room that something else needs beside it."""
    return shortened(name, NAME_WIDTH - less)
