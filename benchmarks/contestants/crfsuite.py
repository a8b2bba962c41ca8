"""CRFsuite: conditional random fields and the averaged perceptron over features that Python makes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.timing import Contestant, Outcome, timed
from benchmarks.treebanks import Treebank

PACKAGE = "pycrfsuite"


def train(column: str, algorithm: str, **settings: Any) -> Contestant[Treebank]:
    """From lists of words to a model on disk, features included."""

    def turn(data: Treebank) -> Outcome:
        words, tags = data.train.lists(), data.train.lists(column)
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "tags.crfsuite"
            seconds, _ = timed(lambda: learn(words, tags, path, algorithm, settings))
            return Outcome(seconds, accuracy(tag(opened(path), data.test.lists()), data.test.lists(column)))

    said = ", ".join([repr(algorithm), *(f"{name}={value}" for name, value in settings.items())])
    return Contestant(f"pycrfsuite.Trainer({said})", turn, PACKAGE)


def run(column: str, algorithm: str, **settings: Any) -> Contestant[Treebank]:
    """From lists of words to lists of tags, features included."""
    taggers: dict[int, Any] = {}

    def turn(data: Treebank) -> Outcome:
        if id(data) not in taggers:
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / "tags.crfsuite"
                learn(data.train.lists(), data.train.lists(column), path, algorithm, settings)
                taggers[id(data)] = opened(path)
        words = data.test.lists()
        seconds, found = timed(lambda: tag(taggers[id(data)], words))
        return Outcome(seconds, accuracy(found, data.test.lists(column)))

    return Contestant("pycrfsuite.Tagger()", turn, PACKAGE)


def learn(words: list[list[str]], tags: list[list[str]], path: Path, algorithm: str, settings: dict[str, Any]) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm, verbose=False)
    trainer.set_params(settings)
    for sentence, right in zip(words, tags, strict=True):
        trainer.append(features_of(sentence), right)
    trainer.train(str(path))


def opened(path: Path) -> Any:
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


def tag(tagger: Any, sentences: list[list[str]]) -> list[list[str]]:
    return [tagger.tag(features_of(sentence)) for sentence in sentences]


def features_of(words: Sequence[str]) -> list[list[str]]:
    """What is usual for taggers: the word, its ends and shape, its neighbours."""
    lower = [word.lower() for word in words]
    around = ["<<", "<", *lower, ">", ">>"]
    return [list(features_at(words[i], lower[i], around[i : i + 5])) for i in range(len(words))]


def features_at(word: str, lower: str, around: Sequence[str]) -> Iterator[str]:
    yield from ("bias", f"w={word}", f"l={lower}", f"shape={shape(word)}")
    for size in range(1, min(4, len(lower)) + 1):
        yield f"p{size}={lower[:size]}"
        yield f"s{size}={lower[-size:]}"
    if any(character.isdigit() for character in word):
        yield "digit"
    if "-" in word:
        yield "hyphen"
    if word[0].isupper():
        yield "capital"
    before2, before, _, after, after2 = around
    yield from (f"-2={before2}", f"-1={before}", f"+1={after}", f"+2={after2}")
    yield from (f"-1,0={before},{lower}", f"0,+1={lower},{after}", f"-1,+1={before},{after}")


def shape(word: str) -> str:
    """
    >>> shape("iPhone-12")
    'xXxx-dd'
    """
    kinds = ["X" if one.isupper() else "x" if one.isalpha() else "d" if one.isdigit() else one for one in word]
    return "".join(kind for i, kind in enumerate(kinds) if i < 2 or kinds[i - 2 : i] != [kind, kind])


def accuracy(found: list[list[str]], right: list[list[str]]) -> float:
    pairs = list(zip(chain.from_iterable(found), chain.from_iterable(right), strict=True))
    return sum(one == other for one, other in pairs) / len(pairs)
