"""Seeds: a small file of every kind of model, finished and interrupted, from which all others are made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from markone.learning.progress import Silence
from markone.storage.container import read_file
from markone.storage.saved import Saved

from .subjects import Subject

STAGES = ("cut", "kept", "final")
"""Interrupted within a pass; after the last pass, with what is needed for more; and without that."""
SHARES = (4, 4, 2)
"""How often each stage is chosen, of ten times."""


class Interrupting(Silence):
    """Is interrupted at the first look after so many passes of a training of so many, but not before one has begun."""

    def __init__(self, passes: int, epochs: int) -> None:
        self.passes = passes
        self.epochs = epochs
        self.meant = False

    def start(self, rows: int, epochs: int) -> None:
        self.meant = epochs == self.epochs  # a parser's tagger makes other passes before

    def finish_pass(self, result: object) -> None:
        self.passes -= self.meant

    def advance(self, rows: int) -> None:
        if self.meant and self.passes <= 0 and rows > 0:
            raise KeyboardInterrupt


@contextmanager
def frequent_looks() -> Iterator[None]:
    """Trainings can be interrupted after some examples of a few."""
    with (
        mock.patch("markone.learning.examples.VALUES_BETWEEN_LOOKS", 30),
        mock.patch("markone.structured.sentence_training.BETWEEN_LOOKS", 2),
    ):
        yield


def passes_of(subject: Subject) -> int:
    """Those before it is interrupted."""
    return 0 if subject.has_one_pass else subject.passes - 1


def make_seed(subject: Subject, stage: str, folder: Path) -> Path:
    """Trains a model and writes its file."""
    path = folder / f"{subject.name}.{stage}"
    if stage == "final":
        subject.train(epochs=subject.passes).save(path, final=True)
        return path
    if stage == "kept":
        subject.train(epochs=subject.passes, checkpoint=path)
        return path
    epochs = 1 if passes_of(subject) == 0 else subject.passes + 1
    with frequent_looks():
        subject.train(epochs=epochs, checkpoint=path, progress=Interrupting(passes_of(subject), epochs))
    return path


def make_seeds(subjects: dict[str, Subject], folder: Path) -> None:
    for subject in subjects.values():
        for stage in STAGES:
            make_seed(subject, stage, folder)


def read_seeds(subjects: dict[str, Subject], folder: Path) -> dict[str, Saved]:
    """By the name of the subject and the stage."""
    return {f"{name}.{stage}": read_file(folder / f"{name}.{stage}") for name in subjects for stage in STAGES}
