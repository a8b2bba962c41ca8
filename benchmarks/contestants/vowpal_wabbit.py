"""Vowpal Wabbit, from files in its own format, as a process of its own.

The time is that of the whole process. What it takes to start, to make room for the weights and, where there is a
model, to load it, is measured apart by the same command on an empty file.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.contestants.texts import words_of
from benchmarks.files import Files
from benchmarks.memory import run_process
from benchmarks.timing import Contestant, Outcome, timed

PACKAGE = "vowpalwabbit"
PASSES = "--passes 5 -c -k --holdout_off"
ONE = re.compile(r":1(?= |$)")

Convert = Callable[[str], str]


def train(convert: Convert, options: str) -> Contestant[Files]:
    """From a file to a file of the model."""

    def turn(files: Files) -> Outcome:
        own = files.rewritten(convert, ".vw")
        with tempfile.TemporaryDirectory() as folder:
            model, empty = Path(folder, "model"), empty_file(folder)
            start, _ = timed(lambda: learn(empty, options, Path(folder, "nothing")))
            seconds, _ = timed(lambda: learn(own.train, options, model))
            return Outcome(seconds, accuracy(scores(own.test, model), own.test), start=start)

    return Contestant(f"vw {options} {PASSES}", turn, PACKAGE)


def score(convert: Convert, options: str) -> Contestant[Files]:
    """From a file to a file of scores, by a model that was trained before."""

    def turn(files: Files) -> Outcome:
        own = files.rewritten(convert, ".vw")
        with tempfile.TemporaryDirectory() as folder:
            model, empty = Path(folder, "model"), empty_file(folder)
            learn(own.train, options, model)
            start, _ = timed(lambda: scores(empty, model))
            seconds, found = timed(lambda: scores(own.test, model))
            return Outcome(seconds, accuracy(found, own.test), size=files.test.stat().st_size, start=start)

    return Contestant(f"vw -t -i model -r scores, trained by vw {options} {PASSES}", turn, PACKAGE)


def learn(data: Path, options: str, model: Path) -> None:
    run(f"{options} {PASSES}", d=data, f=model, cache_file=model.with_suffix(".cache"))


def scores(data: Path, model: Path) -> Path:
    found = model.with_suffix(".scores")
    run("-t", d=data, i=model, r=found)
    return found


def run(options: str, **paths: Path) -> None:
    named = [part for name, path in paths.items() for part in (f"{'-' if len(name) == 1 else '--'}{name}", str(path))]
    run_process([sys.executable, "-m", PACKAGE, "--quiet", *options.split(), *named])


def accuracy(scores: Path, data: Path) -> float:
    with data.open(encoding="utf-8") as lines:
        labels = np.array([float(line.partition(" ")[0]) for line in lines])
    return float(np.mean((np.loadtxt(scores) > 0) == (labels > 0)))


def empty_file(folder: str) -> Path:
    path = Path(folder, "empty.vw")
    path.touch()
    return path


# ---- its format: the forms that it reads fastest


def text(line: str) -> str:
    """Words in lower case: it splits at spaces, and : and | would mean something."""
    label, text = line.split("\t", 1)
    return f"{1 if label == 'pos' else -1} | {words_of(text)}"


def row(line: str) -> str:
    """A value of 1 need not be written."""
    label, features = line.split(" ", 1)
    return f"{label} | {ONE.sub('', features)}"
