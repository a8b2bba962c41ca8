"""fastText, from files in its own format."""

from __future__ import annotations

from typing import Any

from benchmarks.contestants.ours import call
from benchmarks.contestants.texts import words_of
from benchmarks.files import Files
from benchmarks.timing import Contestant, Outcome, timed


def train(**settings: Any) -> Contestant[Files]:
    """From a file to a model."""

    def turn(files: Files) -> Outcome:
        import fasttext

        own = files.rewritten(text, ".ft")
        seconds, model = timed(lambda: fasttext.train_supervised(str(own.train), **settings, thread=1, verbose=0))
        _, precision, _ = model.test(str(own.test))  # of one label for each text: the accuracy
        return Outcome(seconds, precision)

    return Contestant(call("fasttext.train_supervised", "file", **settings, thread=1), turn, "fasttext")


def text(line: str) -> str:
    """Words in lower case, since it splits at spaces."""
    label, text = line.split("\t", 1)
    return f"__label__{label} {words_of(text)}"
