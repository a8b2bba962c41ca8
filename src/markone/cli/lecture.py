"""`markone lecture`: shows the claims of the five lectures, on their own numbers."""

from __future__ import annotations

import csv
import io
import textwrap
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from markone.cli.messages import typed
from markone.cli.options import FileName, Flag
from markone.cli.terminal import say
from markone.errors import DataError
from markone.reporting.grids import SCREEN

if TYPE_CHECKING:
    from markone.lectures.topic import Deck, Demonstration, Topic


def lecture(
    deck: Annotated[str | None, Parameter(help="The number of the lecture: 000, 001, 002, 003 or 004.")] = None,
    topic: Annotated[str | None, Parameter(help="The topic. Without it, the topics of the lecture are listed.")] = None,
    /,
    *,
    answer: Flag = False,
    picture: Flag = True,
    data: FileName | None = None,
) -> None:
    """Show a claim of one of the five lectures, computed on the lecture's own numbers and drawn.

    Without a topic, the topics are listed. Each topic ends with a question, and names the commands that do the same
    with your own data.

    For example:

    `markone lecture 000`

    `markone lecture 000 trace --data points.csv`

    Parameters
    ----------
    answer
        Also print the answer to the question.
    picture
        Draw the picture in the terminal.
    data
        Save the data of the topic in this CSV file, to change them and to use them with other commands.
    """
    from markone.lectures.decks import deck_of, decks, lecture

    if deck is None:
        say(
            "\n".join(f"{one.number}  {one.title} ({one.source}), {len(one.topics)} topics" for one in decks().values())
        )
        say(f"Next:  markone lecture {next(iter(decks()))}")
    elif topic is None:
        say(listing(deck_of(deck)))
    else:
        shown = lecture(deck, topic)
        if data is not None:
            save_data(shown.topic, data)
        say(report(shown, data, picture=picture, answer=answer))


def listing(deck: Deck) -> str:
    """Return the topics of a lecture, one on each line."""
    width = max(len(topic.name) for topic in deck.topics)
    lines = [f"  {topic.name:{width}}  {topic.title}" for topic in deck.topics]
    return "\n".join(
        [
            f"Lecture {deck.number}: {deck.title} ({deck.source})",
            *lines,
            f"Next:  markone lecture {deck.number} {deck.topics[0].name}",
        ]
    )


def report(shown: Demonstration, data: str | None, *, picture: bool, answer: bool) -> str:
    """Return the claim, the numbers, the picture, the question, and the commands for other data."""
    deck, topic = shown.deck, shown.topic
    parts = [f"{topic.title}\n{filled(topic.claim)}", shown.shown.text]
    if picture:
        parts += map(str, shown.shown.charts)
    hint = "" if answer else " (--answer shows the answer)"
    parts.append(filled(f"Question: {topic.question}{hint}"))
    if answer:
        parts.append(filled(f"Answer: {topic.answer}"))
    if topic.commands:
        file = data or f"{topic.name}.csv"
        lines = [command.format(data=typed(file)) for command in topic.commands]
        if topic.data is not None and data is None:
            lines.insert(0, typed("markone", "lecture", deck.number, topic.name, "--data", file))
        parts.append("\n       ".join(["Next:  " + lines[0], *lines[1:]]))
    return "\n\n".join(parts)


def save_data(topic: Topic, path: str) -> None:
    """Write the data of a topic as a CSV file."""
    from markone.storage.atomic import writing

    if topic.data is None:
        raise DataError(f"the topic {topic.name} has no data that could be saved; leave out --data")
    table = topic.data()
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    with writing(path) as file:
        file.write(text.getvalue().encode())


def filled(text: str) -> str:
    """Return text in lines that fit on the terminal."""
    return textwrap.fill(text, SCREEN)
