"""The part of `markone explain` for taggers and parsers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from markone.cli.sentences import check_tags, open_files
from markone.data.chunks import Chunk
from markone.errors import DataError, SettingsError
from markone.model.explaining import check_top
from markone.reporting.shown import Shown
from markone.storage.container import kind_of
from markone.structured.corpora import Corpus
from markone.structured.explaining import explain_sentence, explain_tagger
from markone.structured.parser import Parser
from markone.structured.sentences import Sentences
from markone.structured.tagger import TagExplanation, Tagger

OPTIONS = ("format", "columns", "separator", "encoding")
"""The options for reading data that apply to sentences."""


def explain_words(
    path: str,
    text: str | None,
    example: tuple[str, int] | None,
    said: dict[str, Any],
    *,
    word: int | None,
    top: int,
) -> Shown:
    """Explain the predictions for a sentence or one of its words, or show the most important features of a tagger."""
    top = check_top(top)
    model: Tagger | Parser = Tagger.load(path) if kind_of(path) == "tagger" else Parser.load(path)
    if text is not None:
        sentence = sentence_in(text)
    elif example is not None:
        sentence = sentence_of(*example, said)
    elif word is not None:
        raise SettingsError("word", "needs a sentence, for example --text 'The dog barks.'")
    elif isinstance(model, Tagger):
        return explain_tagger(model, top)
    else:
        raise SettingsError("text", "must be given to explain a parser, for example --text 'The dog barks.'")
    if isinstance(model, Parser):
        check_tags(model, sentence)
    if word is None:
        return explain_sentence(model, sentence)
    if not 1 <= word <= sentence.words:
        raise SettingsError("word", f"must be the number of one of the {sentence.words} words, not {word}")
    found = model.explain(sentence, word - 1)
    if isinstance(found, TagExplanation):
        return replace(found, top=top)
    return replace(found, arc=replace(found.arc, top=top), label=replace(found.label, top=top))


def sentence_in(text: str) -> Sentences:
    """Return the sentence in a text, which must be exactly one."""
    found = Corpus([], "--text", "text").read_text(Chunk("--text", text.encode("utf-8", "replace"), 0))
    if len(found) != 1:
        raise SettingsError("text", f"must be one sentence, and has {len(found)}; explain them one at a time")
    return found


def sentence_of(data: str, number: int, said: dict[str, Any]) -> Sentences:
    """Return a sentence of a file by its number."""
    for name in said:
        if name not in OPTIONS:
            raise SettingsError(name, "does not apply to sentences; leave it out")
    corpus = open_files([data], said, heads=False, once=True)
    before = 0
    for batch in corpus:
        if number <= before + len(batch):
            return batch.some(number - before - 1, number - before)
        before += len(batch)
    raise DataError(f"there is no sentence {number:,} in {corpus.name}, which has {before:,} sentences")
