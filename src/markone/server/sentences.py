"""Answers of taggers and parsers, as JSON or CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from markone.data.chunks import Chunk
from markone.server.examples import check_rows, check_text
from markone.server.messages import Chosen, Parsed, ParsedSentence, Tagged, TaggedSentence
from markone.server.messages import Sentences as Asking
from markone.server.problems import Problem
from markone.server.requests import CONLLU, JSON, PLAIN, Answer, Asked, in_json
from markone.structured.corpora import COLUMNS_OF_CONLLU, Corpus
from markone.structured.corpora import check_text as check_characters
from markone.structured.parser import Parser
from markone.structured.sentences import Sentences
from markone.structured.tagger import Tagger
from markone.structured.tree_bank import DEPREL
from markone.structured.writing import write_conllu

if TYPE_CHECKING:
    from markone.server.service import Service

ASKING = msgspec.json.Decoder(Asking)
BODY = "the request"
LONGEST_SENTENCE = {"fast": 5000, "accurate": 5000, "exact": 500}
"""The number of words for which each kind of parser needs a few tenths of a second."""
AT_ONCE = 50
"""The number of sentences after which the time is looked at."""
WAYS = ("text", "words", "sentences", "columns", "conllu")


def tag(service: Service, asked: Asked) -> Answer:
    """Tag the words of sentences."""
    kind = asked.gives((JSON, CONLLU))
    chosen, sentences = sentences_of(service, asked)
    served = service.find(asked, chosen, "tagger")
    assert isinstance(served.model, Tagger)
    column = served.model.settings.column
    if kind == CONLLU:
        if column not in COLUMNS_OF_CONLLU:
            raise Problem(406, f"CoNLL-U has no column for {column!r}; accept {JSON}.")
        return Answer(write_conllu(sentences, {column: served.model.tag_columns(sentences)}), CONLLU, len(sentences))
    pairs = zip(sentences.lists(), served.model.tag(sentences), strict=True)
    found = [TaggedSentence(words, tags) for words, tags in pairs]
    return in_json(Tagged(model=served.name, version=served.version, sentences=found), len(sentences))


def parse(service: Service, asked: Asked) -> Answer:
    """Find the syntax trees of sentences."""
    kind = asked.gives((JSON, CONLLU))
    chosen, sentences = sentences_of(service, asked)
    served = service.find(asked, chosen, "parser")
    assert isinstance(served.model, Parser)
    parser = served.model
    parsed = [parser.parsed(part) for part in in_time(service, parser, tagged(service, parser, sentences))]
    if kind == CONLLU:
        return Answer(b"".join(map(write_conllu, parsed)), CONLLU, len(sentences))
    found: list[ParsedSentence] = []
    for part in parsed:
        columns = (part.lists(), part.lists(parser.settings.tags), part.head_lists(), part.lists(DEPREL))
        found += [ParsedSentence(*one) for one in zip(*columns, strict=True)]
    return in_json(Parsed(model=served.name, version=served.version, sentences=found), len(sentences))


def in_time(service: Service, parser: Parser, sentences: Sentences) -> Iterator[Sentences]:
    """Return a few sentences at a time, and end when their answer would come too late. The time that a parser needs
    grows faster than a sentence, so the length of sentences is limited, too."""
    longest, allowed = int(np.diff(sentences.starts).max(initial=0)), LONGEST_SENTENCE[parser.settings.mode]
    if longest > allowed:
        raise Problem(413, f"A sentence may have {allowed:,} words for this parser, not {longest:,}.")
    end = monotonic() + service.settings.seconds
    for begin in range(0, len(sentences), AT_ONCE):
        if monotonic() > end:
            raise Problem(
                503, f"The sentences take longer than {service.settings.seconds:g} seconds; send fewer at once."
            )
        yield sentences.some(begin, min(begin + AT_ONCE, len(sentences)))


def tagged(service: Service, parser: Parser, sentences: Sentences) -> Sentences:
    """Return sentences with tags. If neither they nor the parser have any, the tagger of the service tags them."""
    column = parser.settings.tags
    if parser.tagger is not None or column in sentences.columns:
        return sentences
    taggers = [one.model for one in service.shelf if isinstance(one.model, Tagger)]
    fitting = [one for one in taggers if one.settings.column == column]
    if not fitting:
        raise Problem(
            422, f"The parser needs the column {column!r}: send it, or serve a tagger of {column!r} beside the parser."
        )
    return sentences.with_columns({column: fitting[-1].tag_columns(sentences)})


def sentences_of(service: Service, asked: Asked) -> tuple[Chosen, Sentences]:
    """Return which model is wanted, and the sentences, which are given in exactly one way."""
    if asked.kind != JSON:
        form = "text" if asked.kind == PLAIN else "conllu"
        return Chosen(), within(service, read(asked.body, form))
    wanted = ASKING.decode(asked.body)
    given = [way for way in WAYS if getattr(wanted, way) is not None]
    if len(given) != 1:
        raise Problem(422, f"Exactly one of {', '.join(WAYS[:-1])} and {WAYS[-1]} must be given, not {len(given)}.")
    if wanted.text is not None:
        check_text(wanted.text, service.settings)
        found = read(wanted.text.encode(), "text")
    elif wanted.conllu is not None:
        found = read(wanted.conllu.encode(), "conllu")
    else:
        found = Sentences.of([wanted.words] if wanted.words is not None else wanted.sentences or wanted.columns or [])
    return wanted, within(service, found)


def read(body: bytes, form: str) -> Sentences:
    """Read plain text or CoNLL-U."""
    chunk = Chunk(BODY, body if body.endswith(b"\n") else body + b"\n", 0)
    check_characters(chunk)
    return Corpus([], BODY, form, None, False, False).reader()(chunk)


def within(service: Service, sentences: Sentences) -> Sentences:
    check_rows(len(sentences), service.settings)
    return sentences
