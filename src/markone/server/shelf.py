"""The shelf: the models that the service has, by name and version, and the files that they come from."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
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
        self._busy = Lock()
        """One refresh at a time. Requests do not wait for it."""
        self._swap = Lock()
        self.learning: set[str] = set()
        """The files of models that learn. They are not loaded again, because what was learned would be lost."""

    def load(self) -> None:
        """Load all models for the first time. A file that cannot be used is an error."""
        loaded = [self._loaded(place) for place in self._found()]
        if not loaded:
            raise DataError(f"there is no model in {', '.join(self.places)}: no file ends in {', '.join(ENDINGS)}")
        self._models = arranged(loaded)

    def refresh(self) -> list[str]:
        """Load changed and new files beside the models that answer, and then replace these. Return what happened.

        A file that cannot be used is reported, and the old model goes on answering.
        """
        with self._busy:
            said: list[str] = []
            before = {one.path: one for one in self}
            after: list[Served] = []
            for place in self._found():
                old = before.get(place.path)
                try:
                    stamp = stamp_of(place.path)
                    if stamp is None:
                        raise DataError(f"there is no model {place.path} any more")
                    if (old is not None and old.stamp == stamp) or self._rejected.get(place.path) == stamp:
                        after += [] if old is None else [old]
                        continue
                    if place.path in self.learning:
                        raise DataError("it has changed, but the model has learned since; restart the service")
                    self._rejected.pop(place.path, None)
                    fresh = self._loaded(place)
                    after.append(fresh)
                    said.append(f"{place.path} is loaded as {fresh.name}, version {fresh.version}.")
                except (MarkoneError, OSError) as error:
                    if old is not None:
                        after.append(old)
                    if stamp is not None:
                        self._rejected[place.path] = stamp
                        still = "; the old one goes on answering" if old is not None else ""
                        said.append(f"{place.path} cannot be used: {error}{still}.")
            gone = [one for path, one in before.items() if path not in {one.path for one in after}]
            said += [f"{one.name}, version {one.version}, is gone with its file {one.path}." for one in gone]
            # While files were loaded, a model may have learned: then its newest state stays.
            with self._swap:
                now = {one.path: one for one in self}
                kept = [now.get(one.path, one) if one is before.get(one.path) else one for one in after]
                self._models = arranged(kept) if kept else self._models
            return said

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

    def _found(self) -> list[Place]:
        places: list[Place] = []
        for place in self.places:
            name, equals, path = place.partition("=")
            if equals and not os.path.exists(place):
                places.append(Place.of(path, name))
            elif os.path.isdir(place):
                inside = sorted(entry for entry in os.listdir(place) if entry.endswith(ENDINGS) and entry[0] != ".")
                places += [Place.of(os.path.join(place, entry), found=True) for entry in inside]
            else:
                places.append(Place.of(place))
        for one, other in combinations(places, 2):
            if (one.name, one.version) == (other.name, other.version):
                raise SettingsError(
                    "models", f"has {one.path} and {other.path} with the same name {one.name!r}; rename one of them"
                )
        return places

    def _loaded(self, place: Place) -> Served:
        """Load a model, check it, and try it once, so that its first answer is as fast as later ones."""
        stamp = stamp_of(place.path)
        kind = str(kind_of(place.path))
        if kind not in LOADERS:
            raise DataError(f"{place.path} contains {kind!r:.50}, which the service does not have")
        model: AnyModel = LOADERS[kind](place.path)  # type: ignore[operator]
        if isinstance(model, Model) and model.predicts_numbers:
            raise DataError(
                f"{place.path} predicts numbers, and the service serves models of classes, taggers and parsers"
            )
        warm(model)
        version = place.version or model.digest[:VERSION_DIGITS]
        return Served(place.name, version, kind, model, place.path, stamp or (0, 0, 0))


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
    """What changes if a file is replaced or written to; None if there is none."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
