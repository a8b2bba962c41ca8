"""Learning from examples that clients send: one writer, a journal, snapshots, and the accuracy so far."""

from __future__ import annotations

import glob
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple

from markone.data.source import Label
from markone.errors import DataError, MarkoneError
from markone.features.examples import completed, opened
from markone.learning.arguments import going_on, settings_of
from markone.learning.training import train
from markone.learning.warm_start import check_growth
from markone.model.model import Model, load
from markone.model.rules import owners_of
from markone.server.drift import PageHinkley
from markone.server.metrics import head, sample
from markone.server.problems import Problem
from markone.server.shelf import Served, Shelf
from markone.storage.journal import ENDING, Journal, checked_entries

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

SNAPSHOT_AFTER, SECONDS_AGAIN = 5000, 5.0
"""A snapshot is saved after this many examples, or after examples that took this long to learn, so that a restart does
not take long to learn them again."""
MOST_CLASSES = 10_000


class Step(NamedTuple):
    """The result of learning some examples."""

    served: Served
    predicted: list[Label]
    tally: Tally
    drift: bool


@dataclass
class Tally:
    """Progressive validation: how many examples were predicted right before they were learned."""

    learned: int = 0
    right: int = 0

    @property
    def accuracy(self) -> float:
        return self.right / self.learned if self.learned else 0.0


class Learning:
    """The models of the shelf that can learn."""

    def __init__(self, shelf: Shelf, snapshot_after: int = SNAPSHOT_AFTER) -> None:
        self._shelf = shelf
        self._pupils = {one.path: Pupil(one, shelf, snapshot_after) for one in shelf if why_not(one) is None}
        if not self._pupils:
            reasons = "; ".join(f"{one.name}: {why_not(one)}" for one in shelf)
            raise DataError(f"none of the models can learn ({reasons})")
        shelf.learning.update(self._pupils)

    def learns(self, served: Served) -> bool:
        return served.path in self._pupils

    def learn(self, served: Served, examples: list[Any], labels: Sequence[Label]) -> Step:
        """Learn examples. When this returns, they are on disk, and the model on the shelf has learned them."""
        pupil = self._pupils.get(served.path)
        if pupil is None:
            raise Problem(422, f"{served.name} cannot learn: {why_not(served) or 'it was loaded later'}.")
        return pupil.learn(examples, list(labels))

    def metrics(self) -> Iterator[str]:
        yield from head("markone_learned_total", "counter", "Examples that models have learned.")
        for pupil in self._pupils.values():
            yield sample("markone_learned_total", {"model": pupil.name}, pupil.tally.learned)
        yield from head("markone_progressive_accuracy", "gauge", "Right predictions before learning, as a share.")
        for pupil in self._pupils.values():
            yield sample("markone_progressive_accuracy", {"model": pupil.name}, pupil.tally.accuracy)
        yield from head("markone_drift_alarms_total", "counter", "Alarms, because the error rate has risen.")
        for pupil in self._pupils.values():
            yield sample("markone_drift_alarms_total", {"model": pupil.name}, pupil.drift.alarms)

    def close(self) -> None:
        """Save snapshots of all models that have learned."""
        for pupil in self._pupils.values():
            pupil.close()


class Pupil:
    """A model that learns. Its files lie beside the model: NAME.journal and, after some time, NAME.learned-N."""

    def __init__(self, served: Served, shelf: Shelf, snapshot_after: int) -> None:
        self._shelf = shelf
        self._after = snapshot_after
        self._writer = Lock()
        """One request learns at a time."""
        self._base = served
        self._served = served
        self._lock: int | None = locked(served.path)
        self.name = served.name
        self.tally = Tally()
        self.drift = PageHinkley()
        self._seconds = 0.0
        """How long the examples of the journal took to learn."""
        found = Journal.read(served.path + ENDING)
        if found is None:
            start = {"base": served.model.digest, "snapshot": None, "digest": served.model.digest}
            self._journal = Journal.begin(served.path + ENDING, {**start, **self._facts()})
        else:
            self._journal, entries = found
            with checked_entries(self._journal.path):
                self._restore(entries)

    def learn(self, examples: list[Any], labels: list[Label]) -> Step:
        with self._writer:
            model = self._model
            check_labels(labels, model)
            numbers, _ = model.decide(examples)
            predicted = model.labels_of(numbers)
            fresh = self._taught(model, examples, labels)
            try:
                self._journal.add({"examples": examples, "labels": labels, "predicted": predicted})
            except DataError as error:
                raise Problem(503, f"Nothing was learned, because {error}.", retry_after="5") from None
            alarm = self._take(fresh, labels, predicted)
            step = Step(self._served, predicted, replace(self.tally), alarm)
            self._shelf.replace(self._served)
            if self.tally.learned - self._journal.start["learned"] >= self._after or self._seconds >= SECONDS_AGAIN:
                self._try_snapshot()
            return step

    def close(self) -> None:
        with self._writer:
            if self.tally.learned > self._journal.start["learned"]:
                self._try_snapshot()
            self.release()

    def release(self) -> None:
        """Let another service learn with this model."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def _model(self) -> Model:
        assert isinstance(self._served.model, Model)
        return self._served.model

    def _taught(self, model: Model, examples: list[Any], labels: list[Label]) -> Model:
        began = time.monotonic()
        try:
            return taught(model, examples, labels)
        finally:
            self._seconds += time.monotonic() - began

    def _take(self, model: Model, labels: list[Label], predicted: list[Label]) -> bool:
        """Record what was learned; return whether the drift alarm was raised."""
        alarm = False
        for label, guess in zip(labels, predicted, strict=True):
            is_right = label == guess
            self.tally.learned += 1
            self.tally.right += is_right
            alarm |= self.drift.update(0.0 if is_right else 1.0)
        version = f"{self._base.version}+{self.tally.learned}"
        self._served = replace(self._base, model=model, version=version, learned=self.tally.learned)
        return alarm

    def _facts(self) -> dict[str, Any]:
        return {"learned": self.tally.learned, "right": self.tally.right, "drift": self.drift.as_dict()}

    def _try_snapshot(self) -> None:
        try:
            self._snapshot()
        except MarkoneError as error:  # the journal has everything, so nothing is lost
            print(f"{self._base.path}: no snapshot was saved: {error}", file=sys.stderr, flush=True)

    def _snapshot(self) -> None:
        """Save the model, and begin a journal that starts from it. The older files go when the new ones are on disk."""
        self._journal.check()
        path = f"{self._base.path}.learned-{self.tally.learned}"
        self._model.save(path)
        start = {"base": self._base.model.digest, "snapshot": os.path.basename(path), "digest": self._model.digest}
        self._journal = Journal.begin(self._journal.path, {**start, **self._facts()})
        self._seconds = 0.0
        for old in glob.glob(f"{glob.escape(self._base.path)}.learned-*"):
            if old != path:
                with suppress(OSError):
                    os.unlink(old)

    def _restore(self, entries: list[dict[str, Any]]) -> None:
        """Learn again what the journal has, from the state that it starts from."""
        start, path = self._journal.start, self._journal.path
        if start.get("base") != self._base.model.digest:
            raise DataError(
                f"{path} has the examples that another model has learned, not {self._base.path}; move it away to start "
                "again, or put the old model back"
            )
        model = self._model
        if start["snapshot"] is not None:
            model = load(os.path.join(os.path.dirname(path), os.path.basename(start["snapshot"])))
        if model.digest != start["digest"]:
            raise DataError(f"the snapshot {start['snapshot']} is not the one that {path} starts from")
        self.tally = Tally(start["learned"], start["right"])
        self.drift = PageHinkley.of(start["drift"])
        for entry in entries:
            model = self._taught(model, entry["examples"], entry["labels"])
            self._take(model, entry["labels"], entry["predicted"])
        if self.tally.learned:
            version = f"{self._base.version}+{self.tally.learned}"
            self._served = replace(self._base, model=model, version=version, learned=self.tally.learned)
            self._shelf.replace(self._served)


def locked(path: str) -> int:
    """Lock a model, so that only one service learns with it. The lock ends with the process."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    if fcntl is None:
        return descriptor
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise DataError(f"another service already learns with {path}") from None
    return descriptor


def taught(model: Model, examples: list[Any], labels: list[Label]) -> Model:
    """Return a model that has also learned these examples, one after the other, with their new features and classes."""
    columns = model.features.columns
    source = completed(opened(examples, columns, labels), columns)
    return train(source, from_model=model, threads=1, **once_through(model))


def once_through(model: Model) -> dict[str, Any]:
    """Return the settings of one pass over all examples in their order."""
    once: dict[str, Any] = {"epochs": 1, "holdout": 0.0, "patience": None, "tol": None, "order": "given"}
    return {name: value for name, value in once.items() if model.settings.rule in owners_of(name)}


def check_labels(labels: list[Label], model: Model) -> None:
    kinds = {type(label) for label in model.classes}
    for label in labels:
        if type(label) not in kinds:
            known = ", ".join(repr(one) for one in model.classes[:3])
            raise Problem(422, f"The label {label!r:.80} is of another type than the labels of the model: {known}.")
    if len(set(labels) | set(model.classes)) > MOST_CLASSES:
        raise Problem(422, f"The model would have more than {MOST_CLASSES:,} classes.")


def why_not(served: Served) -> str | None:
    """Return why a model cannot learn, or None if it can."""
    model = served.model
    if not isinstance(model, Model):
        return "taggers and parsers cannot learn one example at a time"
    if model.predicts_numbers:
        return "a regression needs all rows at once, so it cannot learn one example at a time"
    if any(column.kind == "image" for column in model.features.columns):
        return "models of images cannot learn one example at a time"
    try:
        check_growth(model, settings_of(going_on(once_through(model), model), model))
    except MarkoneError as error:
        return str(error)
    return None
