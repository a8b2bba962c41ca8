"""A topic of a lecture: a claim, its demonstration, and a question."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markone.brief import Brief
from markone.reporting.charts import Chart
from markone.reporting.grids import SCREEN, Grid, cells, plain_number
from markone.reporting.html import fragment, preformatted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Table:
    """The data of a topic, for a CSV file."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True, repr=False)
class Shown(Brief):
    """What a demonstration computed: some text, and pictures."""

    text: str
    """Tables, which fit on a terminal, and sentences of any length."""
    charts: tuple[Chart, ...]
    """Shown in the terminal, and drawn in a file if there is no `figure`."""
    figure: Callable[[], Figure] | None = None
    """Draws a better picture for a file."""

    def in_brief(self) -> str:
        return f"{len(self.text.splitlines())} lines, {len(self.charts)} charts"


@dataclass(frozen=True, slots=True, repr=False)
class Topic(Brief):
    """A claim of a lecture that is shown by computing it."""

    name: str
    """The word for the command line."""
    title: str
    """The title, in the lecture's words."""
    claim: str
    """What the lecture says, in our words."""
    show: Callable[[], Shown]
    question: str
    answer: str
    terms: tuple[str, ...] = ()
    """The lecture's words for this topic, by which the documentation is searched."""
    data: Callable[[], Table] | None = None
    """The data of the demonstration, which can be saved as a CSV file and changed."""
    files: Callable[[], dict[str, str]] | None = None
    """Other files that the commands need, such as the first weights: their JSON texts by name."""
    commands: tuple[str, ...] = ()
    """Commands that do the same with any data. `{data}` is the file with the topic's data, and `{start}` the file
    `start`, which is saved beside it."""

    def paths(self, data: str) -> dict[str, str]:
        """Return the paths of the topic's files, by name, if its data are saved at this path."""
        stem = data.removesuffix(".csv")
        return {"data": data, **{name: f"{stem}-{name}.json" for name in (self.files or dict)()}}

    def in_brief(self) -> str:
        return f"{self.name}: {self.title}"


@dataclass(frozen=True, slots=True, repr=False)
class Deck(Brief):
    """A lecture: a list of topics in its order."""

    number: str
    title: str
    source: str
    """The course that the lecture belongs to."""
    topics: tuple[Topic, ...]

    def in_brief(self) -> str:
        return f"lecture {self.number}, {self.title}: {len(self.topics)} topics"

    def topic(self, name: str) -> Topic | None:
        return next((topic for topic in self.topics if topic.name == name), None)


@dataclass(frozen=True, slots=True, repr=False)
class Demonstration(Brief):
    """A topic that was computed. As text, it is the claim, the numbers, the picture and the question."""

    deck: Deck
    topic: Topic
    shown: Shown

    def in_brief(self) -> str:
        return f"lecture {self.deck.number}, {self.topic.name}: {self.topic.title}"

    def __str__(self) -> str:
        pictures = (str(chart) for chart in self.shown.charts)
        return "\n\n".join([*map(filled, (self.topic.title, self.topic.claim, self.shown.text)), *pictures])

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the numbers and the picture."""
        from markone.plots import svg

        return fragment([preformatted(filled(self.shown.text)), svg(self.figure())])

    def figure(self) -> Figure:
        """Draw the topic as a matplotlib figure."""
        from markone import plots

        return self.shown.figure() if self.shown.figure is not None else plots.chart(self.shown.charts)


# ---- text

DECIMALS = 9
"""Numbers that differ less than this many decimals show are equal, except for rounding errors."""


def grid(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as text. Numbers are rounded.

    >>> print(grid(["x", "activation"], [["free", 4], ["money", 0.123456]]))
    x      activation
    free            4
    money      0.1235
    """
    return str(Grid([list(heads)], [[cell(one) for one in row] for row in rows]))


def cell(content: object) -> str:
    """Return a number, a vector or a word as text.

    >>> cell((1.0, -0.5)), cell(True), cell(2)
    ('(1, -0.5)', 'yes', '2')
    """
    if isinstance(content, bool):
        return "yes" if content else "no"
    if isinstance(content, tuple | list):
        return f"({', '.join(map(cell, content))})"
    return plain_number(round(content, DECIMALS)) if isinstance(content, int | float) else str(content)


def filled(text: str) -> str:
    """Return text in lines that fit on the terminal. Lines that fit already, such as those of tables, stay as they are.

    >>> print(filled("  proof     " + "so many examples that no plane separates them: " * 2))
      proof     so many examples that no plane separates them: so many examples that
                no plane separates them:
    """
    return "\n".join(line if cells(line) <= SCREEN else hanging(line) for line in text.split("\n"))


def hanging(line: str) -> str:
    """Return a long line in several lines. If it begins with a word and a wide space, the text stays to the right."""
    indent = re.match(r" *(?:\S+ {2,})?", line)
    return textwrap.fill(line, SCREEN, subsequent_indent=" " * (indent.end() if indent else 0))
