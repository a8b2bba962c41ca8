"""Marks the words of a text by how much each supports one class or the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from markone.brief import Brief, of_fields
from markone.reporting.grids import signed_number, visible_text

if TYPE_CHECKING:
    from rich.text import Text

    from markone import _core

Vocabulary: TypeAlias = "_core.NgramVocabulary | _core.HashedVocabulary | _core.CompactVocabulary"
Place = tuple[int, int]
"""The first byte of a word, and the byte after its last."""
FAINTEST = 0.05
"""Marks below this share of the largest mark are not shown."""
STRONG = 0.25
"""Without colours, a number follows each word whose mark is at least this share of the largest mark."""

# From weak to strong. Each has its own background, so that it is readable on any terminal.
SHADES = {
    True: ("#000000 on #dbe9ff", "#000000 on #a3c8ff", "#000000 on #5b9bf3", "#ffffff on #1f5fc4"),
    False: ("#000000 on #ffe1dc", "#000000 on #ffb3a6", "#000000 on #f27562", "#ffffff on #b3261e"),
}


class Piece(NamedTuple):
    """A piece of a text: a word, or the characters between two words."""

    text: str
    mark: float | None
    """How much the word supports one class or, if negative, the other; None if no feature contains the word."""

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class MarkedText(Brief):
    """A text, divided into pieces. Invalid UTF-8 is replaced."""

    column: str
    """The name of the column."""
    pieces: list[Piece]

    @property
    def largest(self) -> float:
        """The largest absolute value of a mark."""
        return max((abs(piece.mark) for piece in self.pieces if piece.mark is not None), default=0.0)

    def __str__(self) -> str:
        return self.plain(self.largest)

    def plain(self, largest: float) -> str:
        """Return the text without colours, with numbers after the most important words."""
        return "".join(
            visible_text(text) + (f"({signed_number(mark)})" if mark and share(mark, largest) >= STRONG else "")
            for text, mark in self.pieces
        )

    def rich(self, largest: float) -> Text:
        """Return the text with colours for a terminal."""
        from rich.text import Text

        marked = Text()
        for text, mark in self.pieces:
            marked.append(visible_text(text), style=shade(mark or 0.0, largest))
        return marked

    def as_dict(self) -> dict[str, Any]:
        """Return the text and its marks for JSON."""
        return {"column": self.column, "pieces": [piece._asdict() for piece in self.pieces]}


def share(mark: float, largest: float) -> float:
    return abs(mark) / largest if largest > 0 else 0.0


def shade(mark: float, largest: float) -> str:
    """Return the style of a word on a terminal."""
    strength = share(mark, largest)
    shades = SHADES[mark > 0]
    return "" if strength < FAINTEST else shades[min(int(strength * len(shades)), len(shades) - 1)]


def mark(column: str, text: bytes, parts: Iterable[tuple[Vocabulary, Mapping[int, float]]]) -> MarkedText:
    """Return the text with marks, from the vocabularies of its n-grams and the contributions of these.

    The contribution of a feature is divided equally among the places where it occurs, and at each place among the words
    of the n-gram. An n-gram of characters contains all words that it touches. A word's mark is the sum of its shares.
    """
    marks: dict[Place, float] = {}
    places: set[Place] = set()
    for vocabulary, contributions in parts:
        begins, ends, features, first, last = vocabulary.occurrences(text)
        lengths = last.astype(np.int64) - first
        occurs = lengths > 0  # an n-gram that consists of spaces has no words to mark
        features, first, lengths = features[occurs], first[occurs].astype(np.int64), lengths[occurs]
        met, which, times = np.unique(features, return_inverse=True, return_counts=True)
        products = np.array([contributions.get(feature, 0.0) for feature in met.tolist()])
        shares = (products / times)[which] / lengths
        words = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        sums = np.bincount(words, np.repeat(shares, lengths), minlength=len(begins))
        for word in np.unique(words).tolist():
            place = int(begins[word]), int(ends[word])
            marks[place] = marks.get(place, 0.0) + float(sums[word])
        places.update(zip(begins.tolist(), ends.tolist(), strict=True))
    return MarkedText(column, cut(text, sorted(divided(marks, places).items())))


def divided(marks: dict[Place, float], places: set[Place]) -> dict[Place, float]:
    """Divide the mark of a place among the smallest places inside it: a text without spaces is one word for n-grams of
    characters, but several words for others."""
    smallest: list[Place] = []
    for place in sorted(places, key=lambda place: (place[0], -place[1])):
        if smallest and smallest[-1][1] >= place[1]:
            smallest.pop()  # the place before contains this one
        smallest.append(place)
    finest: dict[Place, float] = {}
    for (begin, end), mark in marks.items():
        inside = smallest[bisect_left(smallest, (begin, 0)) : bisect_left(smallest, (end, 0))]
        for place in inside:
            finest[place] = finest.get(place, 0.0) + mark / len(inside)
    return finest


def cut(text: bytes, marks: list[tuple[Place, float]]) -> list[Piece]:
    pieces, done = [], 0
    for (begin, end), value in marks:
        pieces += [Piece(text[done:begin].decode(errors="replace"), None)] if done < begin else []
        pieces.append(Piece(text[begin:end].decode(errors="replace"), value))
        done = end
    return pieces + ([Piece(text[done:].decode(errors="replace"), None)] if done < len(text) else [])
