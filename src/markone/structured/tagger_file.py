"""The file of a tagger: what it contains, and how it is checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from markone.data.strings import Strings
from markone.model.file import check_keys
from markone.model.scorer import need
from markone.storage.saved import Contents, Saved, joined
from markone.structured.checking import history_in
from markone.structured.sentence_model import LATER_SETTINGS, contents_of, facts_of, settings_in
from markone.structured.sentences import FORM
from markone.structured.sparse_weights import KeyedWeights, narrow, pack, unpack, wide
from markone.structured.tagger_settings import TaggerSettings

if TYPE_CHECKING:
    from markone.structured.tagger import Tagger

KIND = "tagger"
MOST_TAGS = 4096


def saved_tagger(model: Tagger, *, final: bool = False, forms: bool = True) -> Saved:
    """The content of a tagger's file. `forms` are needed only for the evaluation of known and unknown words."""
    words, sets, offsets, data = model.words
    known = Saved({}, {"words": words, "sets": narrow(sets), **pack("names", Strings(data, offsets))})
    if model.forms is not None and forms:
        known.arrays["forms"] = model.forms
    resume = None if final else model.resume
    parts = {"weights": model.weights.save(resume, model.settings.average), "known": known}
    if resume is not None:
        parts["resume"] = resume
    facts = facts_of(KIND, model.settings, model.history, tags=model.tags)
    if model.columns is not None:
        facts["columns"] = list(model.columns)
    return joined(parts, facts)


def tagger_parts(saved: Saved) -> dict[str, Any]:
    """The arguments of `Tagger`, each of them checked."""
    contents = contents_of(saved, KIND)
    settings, tags = settings_of(contents.fact("settings", dict)), tags_of(contents.fact("tags", list))
    history = history_in(contents)
    resume = contents.saved("resume") if "resume" in saved.facts else None
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
    columns = columns_of(contents.fact("columns", list)) if "columns" in saved.facts else None
    contents.close()
    return {
        "tags": tags,
        "settings": settings,
        "words": (words, sets, names.offsets, names.data),
        "weights": weights,
        "history": history,
        "forms": forms,
        "columns": columns,
        "resume": resume,
    }


def settings_of(found: Mapping[str, Any]) -> TaggerSettings:
    lists = ("inputs", "templates")
    found = {**LATER_SETTINGS, **found}
    check_keys(found, {field.name for field in fields(TaggerSettings)}, "its settings")
    for name in lists:
        valid = isinstance(found[name], list) and all(isinstance(one, str) for one in found[name])
        need(valid, f"its {name} are not a list of strings")
    need(isinstance(found["column"], str), "its column has no name")
    return settings_in({**found, **{name: tuple(found[name]) for name in lists}}, TaggerSettings)


def columns_of(found: list[Any]) -> tuple[str, ...]:
    need(all(isinstance(name, str) for name in found), "the name of a column is not a string")
    need(len(set(found)) == len(found) and FORM in found, "a column occurs twice, or the column of words is missing")
    return tuple(found)


def tags_of(found: list[Any]) -> list[str]:
    need(all(isinstance(tag, str) for tag in found), "a tag is not a string")
    need(0 < len(found) <= MOST_TAGS, f"it has {len(found)} tags")
    need(len(set(found)) == len(found), "a tag occurs twice")
    return found
