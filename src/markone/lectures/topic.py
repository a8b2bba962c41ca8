"""A topic of a lecture: a claim, its demonstration, and a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markone.brief import Brief
from markone.reporting.charts import Chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Table:
    """The data of a topic, for a CSV file."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a demonstration computed: some text, and pictures."""

    text: str
    charts: tuple[Chart, ...]
    """Shown in the terminal, and drawn in a file if there is no `figure`."""
    figure: Callable[[], Figure] | None = None
    """Draws a better picture for a file."""
    frames: Callable[[], Any] | None = None
    """Draws an animation for a GIF file."""


@dataclass(frozen=True, slots=True)
class Topic:
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
    commands: tuple[str, ...] = ()
    """Commands that do the same with any data. `{data}` is the file with the topic's data."""


@dataclass(frozen=True, slots=True)
class Deck:
    """A lecture: a list of topics in its order."""

    number: str
    title: str
    source: str
    """The course that the lecture belongs to."""
    topics: tuple[Topic, ...] = field(repr=False)

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
        return "\n\n".join([self.topic.title, self.topic.claim, self.shown.text, *pictures])

    def figure(self) -> Figure:
        """Draw the topic as a matplotlib figure."""
        from markone import plots

        return self.shown.figure() if self.shown.figure is not None else plots.chart(self.shown.charts)
