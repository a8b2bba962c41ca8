"""The shelf: the models that the service has, by name and version, and the files that they come from."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock, get_native_id
from typing import Any

import msgspec

from markone.data.kinds import written
from markone.errors import DataError, MarkoneError, SettingsError, did_you_mean
from markone.model.model import Model, load
from markone.server.problems import Problem
from markone.storage.container import kind_of
from markone.structured.parser import Parser
from markone.structured.tagger import Tagger

ENDINGS = (".model", ".tagger", ".parser")
"""The endings of the files in a folder that are models."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
VERSION_DIGITS = 12
MOST_FIELDS = 200
DIGITS = re.compile(r"(\d+)")
LESS_URGENT = 15
"""How much a thread that loads models gives way to those that answer, as in `nice`."""
SAMPLE = "A sentence with which a model is tried before it answers."

AnyModel = Model | Tagger | Parser
Stamp = tuple[int, int, int]
LOADERS = {"classifier": load, "tagger": Tagger.load, "parser": Parser.load}
CALLED = {"classifier": "a classifier", "tagger": "a tagger", "parser": "a parser"}


@dataclass(frozen=True, eq=False)
class Served:
    """A model that is ready to answer."""

    name: str
    version: str
    kind: str
    model: AnyModel
    path: str
    stamp: Stamp
    learned: int = 0
    """The number of examples that it has learned since it was loaded."""

    @property
    def role(self) -> str:
        """What the model is called: its kind, or a regression, whose files have the kind of classifiers."""
        return "regression" if isinstance(self.model, Model) and self.model.predicts_numbers else self.kind

    @cached_property
    def labels(self) -> list[str]:
        """The classes, as the names of scores."""
        assert isinstance(self.model, Model)
        return [written(label) for label in self.model.classes]

    @cached_property
    def by_class(self) -> Callable[..., Any]:
        """Makes an object from a number for each class. It takes half of the time of a dict."""
        labels = self.labels
        if len(set(labels)) < len(labels) or len(labels) > MOST_FIELDS:
            return lambda *numbers: dict(zip(labels, numbers, strict=True))
        fields = [f"class{i}" for i in range(len(labels))]
        names = dict(zip(fields, labels, strict=True))
        return msgspec.defstruct("ByClass", [(field, float) for field in fields], rename=names, gc=False)


@dataclass(frozen=True)
class Place:
    """A file that was named by the user, or found in a folder."""

    path: str
    name: str
    version: str | None
    found: bool = field(default=False, compare=False)
    """Whether it was found in a folder. If it disappears, the model does, too."""

    @classmethod
    def of(cls, path: str, name: str | None = None, found: bool = False) -> Place:
        """The name of a file, without its ending, is the name of the model. A version may follow after an @."""
        stem = os.path.basename(path)
        stem = next((stem.removesuffix(ending) for ending in ENDINGS if stem.endswith(ending)), stem)
        first, at, version = (name or stem).partition("@")
        for what, word in (("name", first), ("version", version)) if at else (("name", first),):
            if not NAME.fullmatch(word):
                raise SettingsError(
                    "models",
                    f"has {path}, whose {what} would be {word!r:.80}, but a {what} consists of letters, digits and "
                    "._-; name it: reviews=FILE",
                )
        return cls(path, first, version or None, found)


class Shelf:
    """The models by name and version. `refresh` replaces those whose files have changed."""

    def __init__(self, places: Sequence[str]) -> None:
        if not places:
            raise SettingsError("models", "must be at least one file or folder")
        self.places = list(places)
        self._models: dict[str, dict[str, Served]] = {}
        self._rejected: dict[str, Stamp] = {}
        self._complaints: list[str] = []
        """What was wrong with the names of files when they were last looked at."""
        self.changes = 0
        """How often the models that answer have been replaced because files have changed."""
        self._busy = Lock()
        """One refresh at a time. Requests do not wait for it."""
        self._swap = Lock()
        self.learning: set[str] = set()
        """The files of models that learn. They are not loaded again, because what was learned would be lost."""

    def load(self) -> None:
        """Load all models for the first time. A file that cannot be used is an error."""
        places, errors = self._found()
        if errors:
            raise errors[0]
        loaded = [self._loaded(place) for place in places]
        if not loaded:
            raise DataError(f"there is no model in {', '.join(self.places)}: no file ends in {', '.join(ENDINGS)}")
        self._models = arranged(loaded)

    def refresh(self) -> list[str]:
        """Load changed and new files beside the models that answer, and then replace these. Return what happened.

        Whatever is wrong with a file is reported once, and the old models go on answering.
        """
        with self._busy:
            before = {one.path: one for one in self}
            places, errors = self._found(before)
            after: list[Served] = []
            said: list[str] = []
            for place in places:
                old = before.get(place.path)
                stamp = stamp_of(place.path)
                if stamp is None or stamp in (old and old.stamp, self._rejected.get(place.path)):
                    after += [] if old is None else [old]
                    continue
                try:
                    if place.path in self.learning:
                        raise DataError("it has changed, but the model has learned since; restart the service")
                    self._rejected.pop(place.path, None)
                    fresh = self._loaded(place)
                    after.append(fresh)
                    said.append(f"{place.path} is loaded as {fresh.name}, version {fresh.version}.")
                except (MarkoneError, OSError) as error:
                    after += [] if old is None else [old]
                    self._rejected[place.path] = stamp
                    still = "; the old one goes on answering" if old is not None else ""
                    said.append(f"{place.path} cannot be used: {error}{still}.")
            complaints = [f"{error}." for error in errors]
            if after:
                gone = [one for path, one in before.items() if path not in {one.path for one in after}]
                said += [f"{one.name}, version {one.version}, is gone with its file {one.path}." for one in gone]
            else:
                complaints.append(f"There is no model in {', '.join(self.places)}; the old ones go on answering.")
            self._put(after or [*before.values()], before)
            said += [one for one in complaints if one not in self._complaints]
            self._complaints = complaints
            return said

    def _put(self, models: list[Served], before: dict[str, Served]) -> None:
        """Let these models answer. While files were loaded, a model may have learned: then its newest state stays."""
        with self._swap:
            now = {one.path: one for one in self}
            kept = [now.get(one.path, one) if one is before.get(one.path) else one for one in models]
            self.changes += {one.path: one.stamp for one in kept} != {path: one.stamp for path, one in before.items()}
            self._models = arranged(kept)

    def replace(self, served: Served) -> None:
        """Replace the model with the same file by another state of it."""
        with self._swap:
            self._models = arranged([served if one.path == served.path else one for one in self])

    def __iter__(self) -> Iterator[Served]:
        return (one for versions in self._models.values() for one in versions.values())

    def find(self, name: str | None, version: str | None, kind: str | None = None) -> Served:
        """Return a model by its name and version; by default the only one of this kind, in its latest version."""
        models = self._models
        if name is None:
            names = [one for one, versions in models.items() if kind in (None, latest(versions).kind)]
            if len(names) != 1:
                known = f"name one of {', '.join(names)} as the model" if names else "the service has none"
                raise Problem(422 if names else 404, f"This needs {CALLED.get(kind or '', 'a model')}; {known}.")
            [name] = names
        versions = models.get(name, {})
        if not versions:
            raise Problem(404, f"There is no model {name!r:.80}.{did_you_mean(name, models)}")
        served = latest(versions) if version is None else versions.get(version)
        if served is None:
            raise Problem(404, f"{name} has no version {version!r:.80}, but {', '.join(versions)}.")
        if kind not in (None, served.kind):
            raise Problem(422, f"{name} is {CALLED[served.kind]}, but this needs {CALLED[kind or '']}.")
        return served

    def versions(self, name: str) -> list[Served]:
        """Return all versions of a model, the latest last."""
        self.find(name, None)
        return list(self._models.get(name, {}).values())

    def _found(self, known: Collection[str] = ()) -> tuple[list[Place], list[SettingsError]]:
        """Return the files that may have models, and what is wrong with the names of others. If two files have the same
        name, the known one keeps it."""
        places: dict[tuple[str, str | None], Place] = {}
        errors: list[SettingsError] = []
        paths = [one for place in self.places for one in paths_at(place, known)]
        for path, name, found in sorted(paths, key=lambda one: one[0] not in known):
            try:
                one = Place.of(path, name, found)
                other = places.setdefault((one.name, one.version), one)
                if other is not one:
                    raise SettingsError(
                        "models", f"has {other.path} and {path} with the same name {one.name!r}; rename one of them"
                    )
            except SettingsError as error:
                errors.append(error)
        return list(places.values()), errors

    def _loaded(self, place: Place) -> Served:
        """Load a model, check it, and try it once, so that its first answer is as fast as later ones."""
        stamp = stamp_of(place.path)
        kind = str(kind_of(place.path))
        if kind not in LOADERS:
            raise DataError(f"{place.path} contains {kind!r:.50}, which the service does not have")
        model: AnyModel = LOADERS[kind](place.path)  # type: ignore[operator]
        warm(model)
        version = place.version or model.digest[:VERSION_DIGITS]
        return Served(place.name, version, kind, model, place.path, stamp or (0, 0, 0))


def refreshed(shelf: Shelf) -> list[str]:
    """Load changed files, and return what happened. Whatever goes wrong, the models that are there go on answering."""
    try:
        return shelf.refresh()
    except Exception as error:
        return [f"The models could not be looked at: {error}."]


def paths_at(place: str, known: Collection[str]) -> list[tuple[str, str | None, bool]]:
    """Return the files at a place: the path, the name if it is given, and whether the file was found in a folder. A
    folder that is not there any more keeps its known files."""
    name, equals, path = place.partition("=")
    if equals and not os.path.exists(place):
        return [(path, name, False)]
    if os.path.isdir(place):
        inside = sorted(entry for entry in os.listdir(place) if entry.endswith(ENDINGS) and entry[0] != ".")
        return [(os.path.join(place, entry), None, True) for entry in inside]
    kept = sorted(one for one in known if one.startswith(os.path.join(place, "")))
    return [(one, None, True) for one in kept] or [(place, None, False)]


def give_way() -> None:
    """Let this thread compute only while the threads that answer have nothing to do, where a system can do that."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, get_native_id(), LESS_URGENT)


def warm(model: AnyModel) -> None:
    if isinstance(model, Model):
        model.prepare()
        if all(column.kind == "text" for column in model.features.columns):
            model.decide({column.name: SAMPLE for column in model.features.columns})
    elif isinstance(model, Tagger):
        model.tag([SAMPLE.split()])


def arranged(models: list[Served]) -> dict[str, dict[str, Served]]:
    """Return the models by name and version, both in natural order: version 10 comes after version 9."""
    found: dict[str, dict[str, Served]] = {}
    for one in sorted(models, key=lambda one: (natural(one.name), natural(one.version))):
        found.setdefault(one.name, {})[one.version] = one
    return found


def natural(name: str) -> list[tuple[int, int | str]]:
    """
    >>> sorted(["v10", "v9"], key=natural)
    ['v9', 'v10']
    """
    return [(0, int(part)) if part.isdigit() else (1, part) for part in DIGITS.split(name) if part]


def latest(versions: dict[str, Served]) -> Served:
    return list(versions.values())[-1]


def stamp_of(path: str) -> Stamp | None:
    """What changes if a file is replaced or written to; None if there is none, or only a link to none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
