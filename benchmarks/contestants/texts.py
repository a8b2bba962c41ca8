"""Lines of a label, a tab and a text, in plain Python: for peers that cannot read them, and to make what they can."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

WORD = re.compile(r"\w+")


def labels_and_texts(path: Path) -> tuple[list[str], list[str]]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        pairs = [line.rstrip("\n").split("\t", 1) for line in lines]
    return [label for label, _ in pairs], [text for _, text in pairs]


def words_of(text: str) -> str:
    """Lower-case words with a space between, which is all that peers who split at spaces can tell from a text."""
    return " ".join(WORD.findall(text.lower()))


def beginnings(path: Path, *, words: int, texts: int) -> list[str]:
    """The first words of the first texts that have so many."""

    def cut() -> Iterator[str]:
        for text in labels_and_texts(path)[1]:
            ends = [word.end() for word in islice(WORD.finditer(text), words)]
            if len(ends) == words:
                yield text[: ends[-1]]

    return list(islice(cut(), texts))
