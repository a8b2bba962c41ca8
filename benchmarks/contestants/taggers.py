"""Our taggers: from lists of words, as the others have them."""

from __future__ import annotations

from typing import Any

import markone
from benchmarks.contestants.crfsuite import accuracy
from benchmarks.timing import Contestant, Outcome, timed
from benchmarks.treebanks import Treebank


def train(column: str, **settings: Any) -> Contestant[Treebank]:
    """From lists of pairs to a tagger."""

    def turn(data: Treebank) -> Outcome:
        pairs = [list(zip(*one, strict=True)) for one in zip(data.train.lists(), data.train.lists(column), strict=True)]
        seconds, tagger = timed(lambda: markone.Tagger.train(pairs, **settings))
        return Outcome(seconds, accuracy(tagger.tag(data.test.lists()), data.test.lists(column)))

    said = ", ".join(["pairs", *(f"{name}={value!r}" for name, value in settings.items())])
    return Contestant(f"markone.Tagger.train({said})", turn)


def run(column: str) -> Contestant[Treebank]:
    """From lists of words to lists of tags."""
    taggers: dict[int, markone.Tagger] = {}

    def turn(data: Treebank) -> Outcome:
        if id(data) not in taggers:
            taggers[id(data)] = markone.Tagger.train(data.train, column=column)
        words = data.test.lists()
        seconds, found = timed(lambda: taggers[id(data)].tag(words))
        return Outcome(seconds, accuracy(found, data.test.lists(column)))

    return Contestant("markone.Tagger.tag(words)", turn)
