"""The base class of taggers and parsers: files, their checks, and the input of sentences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

from markone.brief import Brief
from markone.errors import DataError, SettingsError
from markone.model.file import check_keys, history_in_json, making
from markone.model.history import History
from markone.reporting.shown import Content, fragment_of
from markone.storage.container import PICKLED, Path, digest_of, from_bytes, read_file, to_bytes, write_file
from markone.storage.saved import Contents, Saved
from markone.structured.sentences import Sentences

SomeSettings = TypeVar("SomeSettings")


class SentenceModel(Brief, ABC):
    """A model for sentences that can be saved in a file."""

    kind: ClassVar[str]
    """The kind of model, as its file names it."""
    settings: Any
    history: History
    resume: Saved | None

    def _repr_html_(self) -> str:
        return fragment_of(self.shown())

    def shown(self) -> Iterator[Content]:
        """Return what a notebook shows: what the model is, and the passes of its training."""
        yield f"{type(self).__name__}: {self.in_brief()}"
        yield from self.history.contents()

    @abstractmethod
    def to_saved(self, *, final: bool = False) -> Saved:
        """The content of the file."""

    @classmethod
    @abstractmethod
    def parts_of(cls, saved: Saved) -> dict[str, Any]:
        """The arguments of the constructor, from the content of a file. The file is not trusted, so all is checked."""

    @classmethod
    def from_saved(cls, saved: Saved) -> Self:
        parts = cls.parts_of(saved)
        try:
            return cls(**parts)
        except (ValueError, IndexError) as error:  # an error in the core
            raise DataError(f"it is damaged: {error}") from None

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file that `save` writes, as 64 hexadecimal digits."""
        return digest_of(self.to_saved())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the content of the model's file, which is checked when it is read."""
        return unpickled, (to_bytes(self.to_saved()), type(self))

    def save(self, path: Path, *, final: bool = False) -> None:
        """Write the model into a file. An existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path
            The name of the file.
        final
            Leave out the state from which training can be resumed. Parsers have it only in checkpoints.
        """
        saved = self.to_saved(final=final)
        write_file(path, saved.facts, saved.arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Load the model in a file that `save` has written. Files from any source are safe: no code in them is run."""
        saved = read_file(path)
        with making(cls.kind, path):
            return cls.from_saved(saved)

    def _read(self, sentences: Any) -> Sentences:
        raise NotImplementedError

    def _one(self, words: Any) -> Sentences:
        """Read exactly one sentence."""
        batch = self._read([words] if isinstance(words, dict) else words)
        if len(batch) != 1:
            raise DataError(f"exactly one sentence is needed, not {len(batch)}")
        return batch


def unpickled(content: bytes, kind: type[SentenceModel]) -> SentenceModel:
    """The model with this content of a file, which is checked like a file."""
    saved = from_bytes(content)
    with making(kind.kind, PICKLED):
        return kind.from_saved(saved)


def check_word(i: Any, batch: Sentences) -> None:
    if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < batch.words:
        raise SettingsError("i", f"must be the number of a word, from 0 to {batch.words - 1}, not {i!r}")


# ---- facts in files


LATER_SETTINGS = {"partitions": 1}
"""Settings that older files do not have. They are left out if they have these defaults, so that the same training makes
the same file as before."""


def facts_of(kind: str, settings: Any, history: History, **named: Any) -> dict[str, Any]:
    stored = dict(one for one in asdict(settings).items() if one not in LATER_SETTINGS.items())
    return {"kind": kind, "settings": stored, **named, "history": history_in_json(history)}


def contents_of(saved: Saved, kind: str, called: str | None = None) -> Contents:
    """The content of a file, after a check of its kind."""
    if saved.facts.get("kind") != kind:
        raise DataError(f"it contains {saved.facts.get('kind')!r:.50}, not a {called or kind}")
    contents = Contents(saved)
    contents.fact("kind", str)
    return contents


def settings_in(found: Mapping[str, Any], make: type[SomeSettings]) -> SomeSettings:
    """Settings of the class `make`, from a mapping with an entry for each field, except for later ones."""
    found = {**LATER_SETTINGS, **found}
    check_keys(found, {field.name for field in fields(make)}, "its settings")  # type: ignore[arg-type]
    try:
        return make(**found)
    except SettingsError as error:
        raise DataError(f"in its settings, {error}") from None
    except TypeError as error:  # an unhashable value where one of several choices is needed
        raise DataError(f"its settings are damaged: {error}") from None
