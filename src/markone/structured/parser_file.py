"""The file of a parser: what it contains, and how it is checked when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markone.checks import LARGEST
from markone.errors import DataError
from markone.model.scorer import need
from markone.storage.saved import Saved, joined
from markone.structured.checking import history_in
from markone.structured.parser_settings import ParserSettings
from markone.structured.parser_weights import ParserWeights
from markone.structured.sentence_model import contents_of, facts_of, settings_in
from markone.structured.tagger import Tagger
from markone.structured.tagger_file import saved_tagger, tags_of

if TYPE_CHECKING:
    from markone.structured.parser import Parser

KIND = "parser"


def saved_parser(model: Parser, *, final: bool = False) -> Saved:
    """The content of a parser's file."""
    parts = {"weights": model.weights.save()}
    if model.resume is not None and not final:
        parts["resume"] = model.resume
    if model.tagger is not None:
        parts["tagger"] = saved_tagger(model.tagger, final=True, forms=False)
    return joined(parts, facts_of(KIND, model.settings, model.history, labels=model.labels, crossing=model.crossing))


def parser_parts(saved: Saved) -> dict[str, Any]:
    """The arguments of `Parser`, each of them checked."""
    contents = contents_of(saved, KIND)
    settings = settings_in(contents.fact("settings", dict), ParserSettings)
    labels = tags_of(contents.fact("labels", list))
    history = history_in(contents)
    crossing = contents.fact("crossing", int)
    need(0 <= crossing <= LARGEST, f"it says that {crossing!r:.50} sentences have crossing arcs")
    weights = ParserWeights.load(contents.saved("weights"), len(labels))
    tagger = Tagger.from_saved(contents.saved("tagger")) if "tagger" in saved.facts else None
    if tagger is not None and tagger.settings.column != settings.tags:
        raise DataError(f"its tagger predicts {tagger.settings.column!r:.50}, not {settings.tags!r:.50}")
    resume = contents.saved("resume") if "resume" in saved.facts else None
    contents.close()
    return {
        "labels": labels,
        "settings": settings,
        "weights": weights,
        "history": history,
        "crossing": crossing,
        "tagger": tagger,
        "resume": resume,
    }
