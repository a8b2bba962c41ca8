"""Results that show themselves: as plain text, on a terminal, as an HTML page, and in a notebook."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from markone.brief import Brief
from markone.reporting.grids import SCREEN, Facts, Grid, visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

    from markone.reporting.charts import Chart
    from markone.reporting.marking import MarkedText
    from markone.reporting.svg import Drawing

Content: TypeAlias = "str | Grid | Facts | Chart | Drawing | list[MarkedText]"
"""A sentence, a table, a chart, a drawing, or texts with marks. An empty sentence is an empty line of plain text."""


class Shown(Brief):
    """A result that can be shown as plain text, on a terminal, as HTML and in a notebook."""

    __slots__ = ()

    def parts(self) -> Iterator[Content]:
        """Return sentences, tables, charts and marked texts, in the order of reading."""
        raise NotImplementedError

    def contents(self) -> Iterator[Content]:
        """Return what HTML shows. Results that have charts only there add them to `parts`."""
        return self.parts()

    def as_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the text without colours, for a screen of 80 columns."""
        return "\n".join(as_plain(part) for part in self.parts() if not isinstance(part, list))

    def html(self) -> str:
        """Return a complete page, which can be saved and opened in a browser."""
        from markone.reporting import html

        return html.page(in_words(type(self).__name__), self._repr_html_())

    def _repr_html_(self) -> str:
        return fragment_of(self.contents())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        colours = console.color_system is not None and not console.no_color
        for part in self.parts():
            yield from as_rich(part, colours, options.max_width)


def fragment_of(contents: Iterable[Content]) -> str:
    """Return what a notebook shows."""
    from markone.reporting import html

    return html.fragment(line for part in contents for line in as_html(part))


def in_words(name: str) -> str:
    """Return the name of a class as words.

    >>> in_words("ModelExplanation")
    'Model explanation'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def as_plain(part: str | Grid | Facts | Chart | Drawing) -> str:
    return textwrap.fill(visible(part), SCREEN, break_on_hyphens=False) if isinstance(part, str) else str(part)


def as_html(part: Content) -> Iterator[str]:
    from markone.reporting import html
    from markone.reporting.charts import Chart
    from markone.reporting.svg import Drawing

    if isinstance(part, str):
        yield from [html.paragraph(part)] if part else []
    elif isinstance(part, Chart | Drawing):
        yield html.picture(part)
    elif isinstance(part, Grid):
        yield html.table(part)
    elif isinstance(part, Facts):
        yield html.facts(part)
    else:
        for text in filter(has_words, part):
            yield from [html.title(text.column)] if len(part) > 1 else []
            yield html.marked(text, largest_mark(part))


def as_rich(part: Content, colours: bool, width: int) -> Iterator[Text]:
    """Return the lines as `Text`, because rich would look for markup in strings."""
    from rich.text import Text

    from markone.reporting.charts import Chart

    if isinstance(part, str):
        yield Text(visible(part))
    elif isinstance(part, Chart):
        yield from (Text(line, no_wrap=True, overflow="crop") for line in part.lines(min(width, SCREEN)))
    elif isinstance(part, Grid):
        styles = {"head": "bold", "row": "", "last": "bold"}
        for line, kind in part.lines(width):
            yield Text(line, style=styles[kind], no_wrap=True, overflow="crop")
    elif isinstance(part, list):
        for text in filter(has_words, part):
            yield from [Text(f"{visible(text.column)}:", style="bold")] if len(part) > 1 else []
            largest = largest_mark(part)
            yield text.rich(largest) if colours else Text(text.plain(largest))
        yield Text()
    else:
        yield Text(str(part))


def has_words(text: MarkedText) -> bool:
    return bool(text.pieces)


def largest_mark(texts: list[MarkedText]) -> float:
    return max((text.largest for text in texts), default=0.0)
