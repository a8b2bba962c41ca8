"""NLTK's averaged perceptron, which tags from left to right."""

from __future__ import annotations

from typing import Any

from benchmarks.contestants.crfsuite import accuracy
from benchmarks.timing import Contestant, Outcome, timed
from benchmarks.treebanks import Treebank

PACKAGE = "nltk"


def train(column: str, passes: int) -> Contestant[Treebank]:
    def turn(data: Treebank) -> Outcome:
        from nltk.tag.perceptron import PerceptronTagger

        pairs = [list(zip(*one, strict=True)) for one in zip(data.train.lists(), data.train.lists(column), strict=True)]
        tagger: Any = PerceptronTagger(load=False)
        seconds, _ = timed(lambda: tagger.train(pairs, nr_iter=passes))
        found = [[tag for _, tag in tagger.tag(words)] for words in data.test.lists()]
        return Outcome(seconds, accuracy(found, data.test.lists(column)))

    return Contestant(f"nltk.PerceptronTagger.train(nr_iter={passes})", turn, PACKAGE)
