"""Our side, from files: `markone.read`, `markone.train` and what the model does."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import markone
from benchmarks.contestants.texts import beginnings
from benchmarks.files import Files
from benchmarks.timing import Contestant, Outcome, timed

Settings = dict[str, Any]


def train(*, read: Settings, train: Settings, threads: int = 1) -> Contestant[Files]:
    """From a file to a model."""
    learn = learner(read, train, threads)

    def turn(files: Files) -> Outcome:
        seconds, model = timed(lambda: learn(files.train))
        return Outcome(seconds, accuracy(model, files, read))

    return Contestant(training(read, train, threads), turn)


def score(*, read: Settings, train: Settings, threads: int = 1) -> Contestant[Files]:
    """From a file to the scores of its examples, by a model that was trained before."""
    learn = cache(learner(read, train, threads))

    def turn(files: Files) -> Outcome:
        model = learn(files.train)
        seconds, _ = timed(lambda: model.scores(open_file(files.test, read, threads), threads=threads))
        return Outcome(seconds, accuracy(model, files, read), size=files.test.stat().st_size)

    return Contestant(f"{training(read, train)}.scores({call('markone.read', 'file', **read)}, {threads=})", turn)


def label(*, read: Settings, train: Settings, words: int, calls: int) -> Contestant[Files]:
    """From a text in memory to its label, one text a call, by a model that was trained before."""
    learn = cache(learner(read, train, 1))

    def turn(files: Files) -> Outcome:
        model = learn(files.train)
        texts = beginnings(files.test, words=words, texts=calls)

        def work() -> None:
            for text in texts:
                model.predict(text)

        seconds, _ = timed(work)
        return Outcome(seconds / calls, accuracy(model, files, read))

    return Contestant(f"{training(read, train)}.predict(text)", turn)


def read(*, threads: int = 1, **settings: Any) -> Contestant[Files]:
    """From a file to batches, which nobody keeps."""

    def turn(files: Files) -> Outcome:
        def work() -> None:
            for _ in open_file(files.train, settings, threads).batches():
                pass

        seconds, _ = timed(work)
        return Outcome(seconds, None, size=files.train.stat().st_size)

    return Contestant(f"{call('markone.read', 'file', **settings, threads=threads)}.batches()", turn)


def learner(read: Settings, train: Settings, threads: int) -> Callable[[Path], markone.Model]:
    return lambda path: markone.train(open_file(path, read, threads), **train, threads=threads)


def open_file(path: Path, settings: Settings, threads: int) -> Any:
    return markone.read(path, **settings, threads=threads)


def accuracy(model: markone.Model, files: Files, read: Settings) -> float:
    return model.accuracy(markone.read(files.test, **read))


def training(read: Settings, train: Settings, threads: int = 1) -> str:
    return call("markone.train", call("markone.read", "file", **read), **train, threads=threads)


def call(function: str, *given: str, **settings: Any) -> str:
    """A call as it is written, without the names of columns."""
    named = (f"{name}={'[...]' if name == 'columns' else repr(value)}" for name, value in settings.items())
    return f"{function}({', '.join([*given, *named])})"
