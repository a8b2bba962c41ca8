"""The file of a parser: what of it is written, and how it is made again of what somebody wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from markone.checks import LARGEST
from markone.errors import DataError, SettingsError
from markone.learning.checkpoints import Path
from markone.model.file import check_keys, making, need, row_of
from markone.storage.container import PICKLED, from_bytes, read_file, write_file
from markone.storage.saved import Contents, Saved, joined
from markone.structured import tagger_file
from markone.structured.checking import history_in
from markone.structured.parser_settings import ParserSettings
from markone.structured.parser_weights import ParserWeights
from markone.structured.tagger_file import tags_of

if TYPE_CHECKING:
    from markone.structured.parser import Parser

KIND = "parser"


def save_parser(model: Parser, path: Path, *, final: bool = False) -> None:
    saved = to_saved(model, final=final)
    write_file(path, saved.facts, saved.arrays)


def to_saved(model: Parser, *, final: bool = False) -> Saved:
    parts = {"weights": model.weights.save()}
    if model.resume is not None and not final:
        parts["resume"] = model.resume
    if model.tagger is not None:
        parts["tagger"] = tagger_file.to_saved(model.tagger, final=True, forms=False)
    facts = {
        "kind": KIND,
        "settings": asdict(model.settings),
        "labels": model.labels,
        "crossing": model.crossing,
        "history": {**asdict(model.history), "passes": [row_of(one) for one in model.history]},
    }
    return joined(parts, facts)


def load_parser(path: Path) -> Parser:
    saved = read_file(path)
    with making(KIND, path):
        return from_saved(saved)


def unpickled(content: bytes) -> Parser:
    """The parser whose file has this content, which is checked like a file."""
    saved = from_bytes(content)
    with making(KIND, PICKLED):
        return from_saved(saved)


def from_saved(saved: Saved) -> Parser:
    from markone.structured.parser import Parser

    facts = saved.facts
    if facts.get("kind") != KIND:
        raise DataError(f"it holds no parser but {facts.get('kind')!r:.50}")
    contents = Contents(saved)
    contents.fact("kind", str)
    settings, labels = settings_of(contents.fact("settings", dict)), tags_of(contents.fact("labels", list))
    history = history_in(contents)
    crossing = contents.fact("crossing", int)
    need(0 <= crossing <= LARGEST, f"it says that {crossing!r:.50} sentences have arcs that cross")
    weights = ParserWeights.load(contents.saved("weights"), len(labels))
    tagger = tagger_file.from_saved(contents.saved("tagger")) if "tagger" in facts else None
    if tagger is not None and tagger.settings.column != settings.tags:
        raise DataError(f"its tagger is one of {tagger.settings.column!r:.50}, not of {settings.tags!r:.50}")
    resume = contents.saved("resume") if "resume" in facts else None
    contents.close()
    try:
        return Parser(
            labels=labels,
            settings=settings,
            weights=weights,
            history=history,
            crossing=crossing,
            tagger=tagger,
            resume=resume,
        )
    except ValueError as error:  # what the core refuses
        raise DataError(f"it is damaged: {error}") from None


def settings_of(found: Mapping[str, Any]) -> ParserSettings:
    check_keys(found, {field.name for field in fields(ParserSettings)}, "its settings")
    try:
        return ParserSettings(**found)
    except SettingsError as error:
        raise DataError(f"in its settings, {error}") from None
    except TypeError as error:  # what a choice cannot be compared with
        raise DataError(f"its settings are damaged: {error}") from None
