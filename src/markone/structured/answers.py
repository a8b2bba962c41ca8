"""The answers of taggers and parsers. They are lists, and a notebook shows them with their words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from markone.reporting.grids import Grid, counted
from markone.reporting.shown import Content, fragment_of
from markone.reporting.svg import Drawing
from markone.structured.drawing import tree_svg, tree_text
from markone.structured.sentences import Sentences

SENTENCES_SHOWN = 5
WORDS_SHOWN = 60
"""A longer sentence is shown by its first words, and its tree as text."""

One = TypeVar("One")


class Answers(list[One]):
    """The answers for some sentences, in their order. It is a list that also knows the sentences."""

    sentences: Sentences

    @classmethod
    def of(cls, answers: Any, sentences: Sentences) -> Any:
        found = cls(answers)
        found.sentences = sentences
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)  # the sentences are not copied with it

    def shown(self, words: list[str], answer: One) -> Content:
        """Return one sentence with its answer."""
        raise NotImplementedError

    def contents(self) -> Iterator[Content]:
        sentences = getattr(self, "sentences", None)
        if sentences is None:  # a copy of the list
            yield f"{counted(len(self), 'answer')}"
            return
        for words, answer in islice(zip(sentences.lists("form"), self, strict=True), SENTENCES_SHOWN):
            yield self.shown(words, answer)
        if len(self) > SENTENCES_SHOWN:
            yield f"... and {counted(len(self) - SENTENCES_SHOWN, 'more sentence')}"

    def _repr_html_(self) -> str:
        return fragment_of(self.contents())


class Tagged(Answers[list[str]]):
    """The tags of some sentences: a list of tags for each of them."""

    def shown(self, words: list[str], answer: list[str]) -> Content:
        more = ["…"] if len(words) > WORDS_SHOWN else []
        return Grid([[*words[:WORDS_SHOWN], *more]], [[*answer[:WORDS_SHOWN], *more]], words=range(WORDS_SHOWN + 1))


class Trees(Answers[Any]):
    """The trees of some sentences."""

    def shown(self, words: list[str], answer: Any) -> Content:
        text = tree_text(words, answer.heads, answer.labels)
        return Drawing(tree_svg(words, answer.heads, answer.labels), text)
