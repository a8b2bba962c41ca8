"""What taggers and parsers share: their file, how it is checked, and how sentences are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, ClassVar, Self, TypeVar

from markone.brief import Brief
from markone.errors import DataError, SettingsError
from markone.model.file import check_keys, history_in_json, making
from markone.model.history import History
from markone.storage.container import PICKLED, Path, from_bytes, read_file, to_bytes, write_file
from markone.storage.saved import Contents, Saved
from markone.structured.sentences import Sentences

SomeSettings = TypeVar("SomeSettings")


class SentenceModel(Brief, ABC):
    """A model of sentences, which one file holds."""

    kind: ClassVar[str]
    """What its file says that it holds."""
    settings: Any
    history: History
    resume: Saved | None

    @abstractmethod
    def to_saved(self, *, final: bool = False) -> Saved:
        """What the file holds."""

    @classmethod
    @abstractmethod
    def parts_of(cls, saved: Saved) -> dict[str, Any]:
        """The arguments that it is made of, from what a file holds, which may come from anywhere."""

    @classmethod
    def from_saved(cls, saved: Saved) -> Self:
        parts = cls.parts_of(saved)
        try:
            return cls(**parts)
        except (ValueError, IndexError) as error:  # what the core refuses
            raise DataError(f"it is damaged: {error}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        """The content of its file, which is checked when it is read."""
        return unpickled, (to_bytes(self.to_saved()), type(self))

    def save(self, path: Path, *, final: bool = False) -> None:
        """Writes the model into a file, which is replaced when the new one is whole.

        Parameters
        ----------
        path
            The name of the file.
        final
            Leave out what is needed only to go on with the training. Of parsers, only checkpoints have that.
        """
        saved = self.to_saved(final=final)
        write_file(path, saved.facts, saved.arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """The model in a file that `save` has written. The file may come from anywhere: nothing in it is run."""
        saved = read_file(path)
        with making(cls.kind, path):
            return cls.from_saved(saved)

    def _read(self, sentences: Any) -> Sentences:
        raise NotImplementedError

    def _one(self, words: Any) -> Sentences:
        """One sentence, and no more."""
        batch = self._read([words] if isinstance(words, dict) else words)
        if len(batch) != 1:
            raise DataError(f"one sentence is wanted, not {len(batch)}")
        return batch


def unpickled(content: bytes, kind: type[SentenceModel]) -> SentenceModel:
    """The model whose file has this content, which is checked like a file."""
    saved = from_bytes(content)
    with making(kind.kind, PICKLED):
        return kind.from_saved(saved)


def check_word(i: Any, batch: Sentences) -> None:
    if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < batch.words:
        raise SettingsError("i", f"must be the number of one of {batch.words} words, from 0, not {i!r}")


# ---- facts of files


def facts_of(kind: str, settings: Any, history: History, **named: Any) -> dict[str, Any]:
    return {"kind": kind, "settings": asdict(settings), **named, "history": history_in_json(history)}


def contents_of(saved: Saved, kind: str, called: str | None = None) -> Contents:
    """What a file holds, of which the kind is checked and taken out."""
    if saved.facts.get("kind") != kind:
        raise DataError(f"it holds no {called or kind} but {saved.facts.get('kind')!r:.50}")
    contents = Contents(saved)
    contents.fact("kind", str)
    return contents


def settings_in(found: Mapping[str, Any], make: type[SomeSettings]) -> SomeSettings:
    """Settings of this class, which has a field for each."""
    check_keys(found, {field.name for field in fields(make)}, "its settings")  # type: ignore[arg-type]
    try:
        return make(**found)
    except SettingsError as error:
        raise DataError(f"in its settings, {error}") from None
    except TypeError as error:  # what a choice cannot be compared with
        raise DataError(f"its settings are damaged: {error}") from None
