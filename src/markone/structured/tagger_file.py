"""The file of a tagger: what of it is written, and how it is made again of what somebody wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from markone.data.strings import Strings
from markone.errors import DataError, SettingsError
from markone.learning.checkpoints import Path
from markone.model.file import check_keys, making, need, row_of
from markone.storage.container import PICKLED, from_bytes, read_file, write_file
from markone.storage.saved import Contents, Saved, joined
from markone.structured.checking import history_in
from markone.structured.sentences import FORM
from markone.structured.sparse_weights import KeyedWeights, narrow, pack, unpack, wide
from markone.structured.tagger_settings import TaggerSettings

if TYPE_CHECKING:
    from markone.structured.tagger import Tagger

KIND = "tagger"
MOST_TAGS = 4096


def save_tagger(model: Tagger, path: Path, *, final: bool = False) -> None:
    saved = to_saved(model, final=final)
    write_file(path, saved.facts, saved.arrays)


def to_saved(model: Tagger, *, final: bool = False, forms: bool = True) -> Saved:
    """What a file keeps; `forms` are for those who evaluate it."""
    words, sets, offsets, data = model.words
    known = Saved({}, {"words": words, "sets": narrow(sets), **pack("names", Strings(data, offsets))})
    if model.forms is not None and forms:
        known.arrays["forms"] = model.forms
    resume = None if final else model.resume
    parts = {"weights": model.weights.save(resume, model.settings.average), "known": known}
    if resume is not None:
        parts["resume"] = resume
    facts = {
        "kind": KIND,
        "settings": asdict(model.settings),
        "tags": model.tags,
        "history": {**asdict(model.history), "passes": [row_of(one) for one in model.history]},
    }
    if model.columns is not None:
        facts["columns"] = list(model.columns)
    return joined(parts, facts)


def load_tagger(path: Path) -> Tagger:
    saved = read_file(path)
    with making(KIND, path):
        return from_saved(saved)


def unpickled(content: bytes) -> Tagger:
    """The tagger whose file has this content, which is checked like a file."""
    saved = from_bytes(content)
    with making(KIND, PICKLED):
        return from_saved(saved)


def from_saved(saved: Saved) -> Tagger:
    from markone.structured.tagger import Tagger

    facts = saved.facts
    if facts.get("kind") != KIND:
        raise DataError(f"it holds no tagger but {facts.get('kind')!r:.50}")
    contents = Contents(saved)
    contents.fact("kind", str)
    settings, tags = settings_of(contents.fact("settings", dict)), tags_of(contents.fact("tags", list))
    history = history_in(contents)
    resume = contents.saved("resume") if "resume" in facts else None
    weights = KeyedWeights.load(
        contents.saved("weights"),
        templates=len(settings.seen().texts),
        columns=len(tags),
        resume=resume,
        averaged=settings.average,
    )
    known = Contents(contents.saved("known"))
    words = known.array("words", np.uint64, None)
    sets = wide(known, "sets", len(words))
    names = unpack(known, "names")
    forms = known.array("forms", np.uint64, None) if known.peek("forms") is not None else None
    known.close()
    need(forms is None or bool((forms[1:] > forms[:-1]).all()), "the hashes of its words are not in order")
    columns = columns_of(contents.fact("columns", list)) if "columns" in facts else None
    contents.close()
    try:
        return Tagger(
            tags=tags,
            settings=settings,
            words=(words, sets, names.offsets, names.data),
            weights=weights,
            history=history,
            forms=forms,
            columns=columns,
            resume=resume,
        )
    except (ValueError, IndexError) as error:  # what the core refuses
        raise DataError(f"it is damaged: {error}") from None


def settings_of(found: Mapping[str, Any]) -> TaggerSettings:
    check_keys(found, {field.name for field in fields(TaggerSettings)}, "its settings")
    for name in ("inputs", "templates"):
        need(isinstance(found[name], list) and all(isinstance(one, str) for one in found[name]), f"{name} are no texts")
    need(isinstance(found["column"], str), "its column has no name")
    try:
        return TaggerSettings(**{**found, "inputs": tuple(found["inputs"]), "templates": tuple(found["templates"])})
    except SettingsError as error:
        raise DataError(f"in its settings, {error}") from None
    except TypeError as error:  # what a choice cannot be compared with
        raise DataError(f"its settings are damaged: {error}") from None


def columns_of(found: list[Any]) -> tuple[str, ...]:
    need(all(isinstance(name, str) for name in found), "the name of a column is no text")
    need(len(set(found)) == len(found) and FORM in found, "its columns are no names, or the words are not among them")
    return tuple(found)


def tags_of(found: list[Any]) -> list[str]:
    need(all(isinstance(tag, str) for tag in found), "a tag is no text")
    need(0 < len(found) <= MOST_TAGS, f"it has {len(found)} tags")
    need(len(set(found)) == len(found), "a tag occurs twice")
    return found
