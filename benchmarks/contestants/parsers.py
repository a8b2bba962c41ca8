"""Our parsers: from lists of words and tags to trees."""

from __future__ import annotations

from typing import Any

import markone
from benchmarks.timing import Contestant, Outcome, timed
from benchmarks.treebanks import Treebank


def train(**settings: Any) -> Contestant[Treebank]:
    """From sentences to a parser; its accuracy is the share of words with the right head and label."""

    def turn(data: Treebank) -> Outcome:
        seconds, parser = timed(lambda: markone.Parser.train(data.train, **settings))
        return Outcome(seconds, parser.evaluate(data.test).las)

    said = ", ".join(["sentences", *(f"{name}={value!r}" for name, value in settings.items())])
    return Contestant(f"markone.Parser.train({said})", turn)


def run(**settings: Any) -> Contestant[Treebank]:
    """From lists of words and tags to trees."""
    parsers: dict[int, markone.Parser] = {}

    def turn(data: Treebank) -> Outcome:
        if id(data) not in parsers:
            parsers[id(data)] = markone.Parser.train(data.train, **settings)
        parser = parsers[id(data)]
        columns = zip(data.test.lists(), data.test.lists("upos"), strict=True)
        sentences = [{"form": words, "upos": tags} for words, tags in columns]
        seconds, _ = timed(lambda: parser.parse(sentences))
        return Outcome(seconds, parser.evaluate(data.test).las)

    return Contestant("markone.Parser.parse(words and tags)", turn)
