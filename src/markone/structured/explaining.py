"""Explanations of taggers and parsers: for all words of a sentence, or for a whole tagger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markone.model.explaining import check_top
from markone.reporting.grids import Grid, plain_number, signed_number, signed_numbers
from markone.reporting.shown import Content, Shown
from markone.structured.alternatives import NOBODY, Choice
from markone.structured.corpora import read_sentences
from markone.structured.parser import Parser
from markone.structured.parser_explanation import ParseExplanation
from markone.structured.tagger import TagExplanation, TagFeature, Tagger

SPARE = (5, 4)
"""Columns to leave out on a narrow screen, because feature names are long: first the evidence against an answer."""


@dataclass(frozen=True, slots=True, repr=False)
class SentenceExplanation(Shown):
    """The reasons for each decision about the words of a sentence. It is printed with one line per decision."""

    words: list[TagExplanation | ParseExplanation]

    def in_brief(self) -> str:
        return f"{len(self.words):,} words"

    def as_dict(self) -> dict[str, Any]:
        return {"words": [word.as_dict() for word in self.words]}

    def parts(self) -> Iterator[Content]:
        heads = ["word", "is", "and not", "by", "mostly for", "mostly against"]
        rows = []
        for number, word in enumerate(self.words, 1):
            name = f"{number} {word.word}"
            for answer, choice in decisions(word):
                rows.append([name, answer, *in_words(choice)])
                name = ""
        yield Grid([heads], rows, spare=SPARE)


def decisions(word: TagExplanation | ParseExplanation) -> Iterator[tuple[str, Choice]]:
    """The decisions about a word: the answer in words, and the choice."""
    if isinstance(word, TagExplanation):
        yield word.chosen, word
    else:
        moved = "" if word.arc.chosen == word.head else f", {word.arc.chosen}"
        yield f"of {word.head}{moved}", word.arc
        yield word.label.chosen, word.label


def in_words(choice: Choice) -> list[str]:
    """The other answer, the margin, and the features that support the choice most and oppose it most."""
    if choice.against is None:
        return [NOBODY] * 4
    strongest = [max(choice.terms, key=lambda term: term.difference * side, default=None) for side in (1, -1)]
    evidence = [
        NOBODY if term is None or term.difference * side <= 0 else f"{term.feature} {signed_number(term.difference)}"
        for side, term in zip((1, -1), strongest, strict=True)
    ]
    return [choice.against, plain_number(choice.margin), *evidence]


def explain_sentence(model: Tagger | Parser, words: Any) -> SentenceExplanation:
    """Explain the decisions of a tagger or a parser for each word of one sentence.

    Examples
    --------
    >>> tagger = Tagger.train([[("the", "DET"), ("dog", "NOUN")]], templates=["lower[0]"], rule="perceptron")
    >>> print(explain_sentence(tagger, ["the", "dog"]))
    word     is  and not  by                   mostly for  mostly against
    1 the   DET     NOUN   1  tag[-1] of the next word +1               -
    2 dog  NOUN      DET   4              lower[0]=dog +2               -
    """
    sentence = read_sentences([words] if isinstance(words, dict) else words)
    return SentenceExplanation([model.explain(sentence, i) for i in range(sentence.words)])


@dataclass(frozen=True, slots=True, repr=False)
class TaggerExplanation(Shown):
    """The features with the largest weights for and against each tag."""

    strongest: dict[str, list[TagFeature]]

    def as_dict(self) -> dict[str, Any]:
        return {"tags": {tag: [one._asdict() for one in found] for tag, found in self.strongest.items()}}

    def parts(self) -> Iterator[Content]:
        for tag, found in self.strongest.items():
            weights = signed_numbers([one.weight for one in found])
            rows = [[one.feature, weight] for one, weight in zip(found, weights, strict=True)]
            yield Grid([[f"evidence for {tag}", "weight"]], rows)
            yield ""


def explain_tagger(tagger: Tagger, top: int = 20) -> TaggerExplanation:
    """Return the `top` strongest features for and against each tag."""
    top = check_top(top)
    return TaggerExplanation({tag: tagger.strongest(tag, top) for tag in tagger.tags})
