"""Makes the pages, the pictures and the notebooks of the lectures from their topics.

Pictures and notebooks are written before the documentation is built. The pages are part of the project: a test compares
them, and writes them with MARKONE_UPDATE_DOCS=1. The output of the commands stays as it is on a page until the test of
all pages has run the commands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markone.lectures.decks import decks, lecture
from markone.lectures.topic import Deck, Topic

HERE = Path(__file__).parent
FOLDER = HERE / "lectures"
PICTURES = HERE / "_pictures" / "lectures"
NOTEBOOKS = HERE / "_notebooks"
CONSOLE = re.compile(r"^```console\n(\$ markone lecture [^\n]*\n)(.*?)^```$", re.MULTILINE | re.DOTALL)

INDEX = """\
# The lectures, claim by claim

*`docs/make_lectures.py` generates these pages from the topics of `markone lecture`.*

Markone implements the methods of five lectures on linear classification. Here every claim of the lectures is computed
again, on the lecture's numbers or, where it gives none, on small data of our own, and drawn: {count} topics. `markone
lecture` lists the lectures, `markone lecture 000` the topics of one of them, and `markone lecture 000 trace` shows a
topic. In Python, `markone.lecture("000", "trace")` does the same. Each lecture also has a notebook, and the
[glossary](../glossary.md) explains the lectures' words.

| lecture | page | notebook |
| --- | --- | --- |
{lectures}

## All topics

A topic that several lectures have is in the table for each of them.

| lecture | topic | command | picture |
| --- | --- | --- | --- |
{topics}

```{{toctree}}
:hidden:

{pages}
```
"""
HEAD = """\
# Lecture {number}: {title}

The topics follow the lecture ({source}). Each has a claim, a command that computes it again, its output, a picture,
and a question. A topic with data of its own also names commands that do the same with any data: `--data FILE` saves
the topic's data as a CSV file, which you can change. [All lectures](index.md)
"""


def command(deck: Deck, topic: Topic) -> str:
    return f"markone lecture {deck.number} {topic.name}"


def anchor(deck: Deck, topic: Topic) -> str:
    return f"lecture-{deck.number}-{topic.name}"


def picture(topic: Topic) -> Path:
    return PICTURES / f"{topic.name}.svg"


# ---- pages


def pages() -> dict[Path, str]:
    """Return the text of each page, with the outputs that the page has now."""
    every = list(decks().values())
    texts = {FOLDER / "index.md": index(every)}
    for deck in every:
        path = FOLDER / f"{deck.number}.md"
        texts[path] = with_outputs(page(deck), path.read_text(encoding="utf-8") if path.exists() else "")
    return texts


def index(every: list[Deck]) -> str:
    lectures = [
        f"| {deck.number}: {deck.title} ({deck.source}) | [{len(deck.topics)} topics]({deck.number}.md) "
        f"| {{download}}`lecture-{deck.number}.ipynb <../_notebooks/lecture-{deck.number}.ipynb>` |"
        for deck in every
    ]
    topics = [
        f"| {deck.number} | [{topic.title}]({deck.number}.md#{anchor(deck, topic)}) | `{command(deck, topic)}` "
        f"| [picture](../_pictures/lectures/{picture(topic).name}) |"
        for deck in every
        for topic in deck.topics
    ]
    return INDEX.format(
        count=len({topic.name for deck in every for topic in deck.topics}),
        lectures="\n".join(lectures),
        topics="\n".join(topics),
        pages="\n".join(deck.number for deck in every),
    )


def page(deck: Deck) -> str:
    head = HEAD.format(number=deck.number, title=deck.title, source=deck.source)
    return "\n".join([head, *("\n".join(section(deck, topic)) for topic in deck.topics)])


def section(deck: Deck, topic: Topic) -> Iterator[str]:
    yield f"({anchor(deck, topic)})=\n\n## {topic.title}\n"
    yield f"{topic.claim}\n"
    yield f"```console\n$ {command(deck, topic)} --brief\n```\n"
    yield f"![{topic.title}](../_pictures/lectures/{picture(topic).name})\n"
    yield f"<details><summary>{topic.question}</summary>\n\n{topic.answer}\n\n</details>\n"
    if topic.commands:
        file = f"{topic.name}.csv"
        lines = [one.format(**topic.paths(file)) for one in topic.commands]
        if topic.data is not None:
            lines.insert(0, f"{command(deck, topic)} --data {file}")
        yield "The same with any data:\n\n```text\n" + "\n".join(lines) + "\n```\n"
    if topic.terms:
        yield f"Terms: {', '.join(topic.terms)}.\n"


def with_outputs(text: str, before: str) -> str:
    """Return a page with the outputs of another."""
    outputs = {found[1]: found[2] for found in CONSOLE.finditer(before)}
    return CONSOLE.sub(lambda found: f"```console\n{found[1]}{outputs.get(found[1], '')}```", text)


# ---- pictures


def pictures() -> Iterator[tuple[Path, str]]:
    """Draw each topic once, even if several lectures have it."""
    from markone.plots.svg_text import svg_file

    drawn = set()
    for deck in decks().values():
        for topic in deck.topics:
            if topic.name not in drawn:
                drawn.add(topic.name)
                yield picture(topic), svg_file([lecture(deck.number, topic.name).figure()])


# ---- notebooks


def notebook(deck: Deck) -> dict[str, Any]:
    """Return a notebook with the topics of a lecture: the claim, a call that computes it, and the question."""
    cells = [
        text_cell(f"# Lecture {deck.number}: {deck.title}\n\nRun the cells from the top. Each shows a claim."),
        code_cell("import markone"),
    ]
    for topic in deck.topics:
        cells += [
            text_cell(f"## {topic.title}\n\n{topic.claim}"),
            code_cell(f'markone.lecture("{deck.number}", "{topic.name}")'),
            text_cell(f"<details><summary>{topic.question}</summary>\n\n{topic.answer}\n\n</details>"),
        ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def text_cell(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def code_cell(code: str) -> dict[str, Any]:
    lines = code.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines}


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    for path, drawing in pictures():
        path.write_text(drawing, encoding="utf-8")
    NOTEBOOKS.mkdir(exist_ok=True)
    for deck in decks().values():
        path = NOTEBOOKS / f"lecture-{deck.number}.ipynb"
        path.write_text(json.dumps(notebook(deck), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
