"""`markone lecture`: shows the claims of the five lectures, on their numbers or on small data of our own."""

from __future__ import annotations

import csv
import io
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from markone.cli.messages import typed
from markone.cli.options import FileName, Flag
from markone.cli.terminal import knows_width, say
from markone.errors import DataError, SettingsError
from markone.reporting.grids import SCREEN

if TYPE_CHECKING:
    from markone.lectures.topic import Deck, Demonstration, Topic
    from markone.reporting.charts import Chart

NEXT = "Next:  "
CONTINUES = " \\"
"""The end of a line that the next line continues."""


def lecture(
    deck: Annotated[str | None, Parameter(help="The number of the lecture: 000, 001, 002, 003 or 004.")] = None,
    topic: Annotated[str | None, Parameter(help="The topic. Without it, the topics of the lecture are listed.")] = None,
    /,
    *,
    answer: Flag = False,
    brief: Flag = False,
    no_picture: Flag = False,
    data: FileName | None = None,
    plot: FileName | None = None,
) -> None:
    """Show a claim of one of the five lectures, computed and drawn.

    It is computed on the lecture's numbers or, where it gives none, on small data of our own. Without a topic, the
    topics are listed. Each topic ends with a question, and many name commands that do the same with your own data.

    For example:

    `markone lecture 000`

    `markone lecture 000 trace --data points.csv`

    `markone lecture 000 trace --plot trace.svg`

    Parameters
    ----------
    answer
        Also print the answer to the question.
    brief
        Print only what was computed, without the claim, the picture and the question.
    no_picture
        Do not draw the picture in the terminal.
    data
        Save the data of the topic in this CSV file, to change them and to use them with other commands. First weights,
        if the topic has any, are saved beside it. A file with other content is not overwritten.
    plot
        Also draw the topic in this file: a .png image, an .svg drawing or an .html page. Needs matplotlib: pip install
        'markone[plot]'.
    """
    from markone.cli.pictures import check_picture, save_picture
    from markone.lectures.decks import deck_of, decks, topic_of
    from markone.lectures.topic import Demonstration, filled

    if topic is None:
        check_alone(answer=answer, brief=brief, no_picture=no_picture, data=data, plot=plot)
    if deck is None:
        for found in decks().values():
            say(f"{found.number}  {found.title} ({found.source}), {len(found.topics)} topics")
        say(f"Next:  markone lecture {next(iter(decks()))}")
    elif topic is None:
        say(listing(deck_of(deck)))
    else:
        one = topic_of(deck, topic)
        check_picture(plot, written=[] if data is None else one.paths(data).values())
        if data is not None:
            save_data(one, data)
        shown = Demonstration(deck_of(deck), one, one.show())
        save_picture(plot, lambda: [shown.figure()], one.title)
        say(filled(shown.shown.text) if brief else report(shown, data, picture=not no_picture, answer=answer))


def check_alone(**options: object) -> None:
    """Check that no option was given that needs a topic."""
    for name, value in options.items():
        if value:
            raise SettingsError(name, "needs a topic: markone lecture 000 TOPIC")


def listing(deck: Deck) -> str:
    """Return the topics of a lecture, one on each line."""
    from markone.lectures.topic import filled

    width = max(len(topic.name) for topic in deck.topics)
    lines = [filled(f"  {topic.name:{width}}  {topic.title}") for topic in deck.topics]
    return "\n".join(
        [
            f"Lecture {deck.number}: {deck.title} ({deck.source})",
            *lines,
            f"Next:  markone lecture {deck.number} {deck.topics[0].name}",
        ]
    )


def report(shown: Demonstration, data: str | None, *, picture: bool, answer: bool) -> str:
    """Return the claim, the numbers, the picture, the question, and the commands for other data."""
    from markone.lectures.topic import filled

    deck, topic = shown.deck, shown.topic
    parts = [f"{filled(topic.title)}\n{filled(topic.claim)}", filled(shown.shown.text)]
    if picture:
        parts += pictures(shown.shown.charts)
    hint = "" if answer else " (--answer shows the answer)"
    parts.append(filled(f"Question: {topic.question}{hint}"))
    if answer:
        parts.append(filled(f"Answer: {topic.answer}"))
    if topic.commands:
        file = data or f"{topic.name}.csv"
        paths = {name: typed(path) for name, path in topic.paths(file).items()}
        lines = [command.format(**paths) for command in topic.commands]
        if topic.data is not None and data is None:
            lines.insert(0, typed("markone", "lecture", deck.number, topic.name, "--data", file))
        indent = " " * len(NEXT)
        parts.append(NEXT + f"\n{indent}".join(continued(line, indent) for line in lines))
    return "\n\n".join(parts)


def pictures(charts: Sequence[Chart]) -> list[str]:
    """Return the charts as text, or one line if standard output cannot show their characters."""
    from markone.lectures.topic import filled

    width = min(SCREEN, shutil.get_terminal_size().columns) if knows_width() else SCREEN
    texts = ["\n".join(chart.lines(width)) for chart in charts]
    encoding = sys.stdout.encoding or "utf-8"
    try:
        "".join(texts).encode(encoding)
    except UnicodeEncodeError:
        return [filled(f"The picture is left out, because {encoding} has no characters for it; see --plot.")]
    return texts


def save_data(topic: Topic, path: str) -> None:
    """Write the data of a topic as a CSV file, and the other files that its commands need beside it."""

    if topic.data is None:
        raise DataError(f"the topic {topic.name} has no data that could be saved; leave out --data")
    from markone.storage.atomic import writing

    table = topic.data()
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    paths = topic.paths(path)
    texts = {"data": text.getvalue(), **(topic.files or dict)()}
    for name, file in paths.items():
        check_free(file, texts[name])
    for name, file in paths.items():
        with writing(file) as opened:
            opened.write(texts[name].encode())


def check_free(path: str, text: str) -> None:
    """Check that no file with other content would be overwritten."""
    place = Path(path)
    if place.exists() and not (place.is_file() and place.read_bytes() == text.encode()):
        raise DataError(f"{path} exists already, with other content; remove it, or name another file")


def continued(command: str, indent: str) -> str:
    """Return a command in lines that fit on the terminal, each but the last with a backslash at its end."""
    room = SCREEN - len(indent) - len(CONTINUES)
    lines = textwrap.wrap(command, room, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return f"{CONTINUES}\n{indent}".join(lines if len(command) > room else [command])
