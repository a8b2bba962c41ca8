"""Texts whose words are marked: by how much each speaks for one class, or for the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from markone.brief import Brief, of_fields
from markone.features.ngrams import Ngrams
from markone.reporting.grids import signed_number, visible_text

if TYPE_CHECKING:
    from rich.text import Text

FAINTEST = 0.05
"""A mark that is a smaller share of the largest one is not shown."""
STRONG = 0.25
"""Where there are no colours, numbers stand behind the words whose marks are this share of the largest, or more."""

# From weak to strong; each is read on its own ground, whatever that of the terminal is.
SHADES = {
    True: ("#000000 on #dbe9ff", "#000000 on #a3c8ff", "#000000 on #5b9bf3", "#ffffff on #1f5fc4"),
    False: ("#000000 on #ffe1dc", "#000000 on #ffb3a6", "#000000 on #f27562", "#ffffff on #b3261e"),
}


class Piece(NamedTuple):
    """Some of a text: a word, or what is between words."""

    text: str
    mark: float | None
    """How much the word speaks for the one class or, if negative, for the other; None where no feature is of it."""

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class MarkedText(Brief):
    """A text in pieces; together they are the text. What is no UTF-8 in it is replaced."""

    column: str
    """What the text is called in the data."""
    pieces: list[Piece]

    @property
    def largest(self) -> float:
        """The largest mark, whatever its sign."""
        return max((abs(piece.mark) for piece in self.pieces if piece.mark is not None), default=0.0)

    def __str__(self) -> str:
        return self.plain(self.largest)

    def plain(self, largest: float) -> str:
        """Without colours: numbers stand behind the words that matter most."""
        return "".join(
            visible_text(text) + (f"({signed_number(mark)})" if mark and share(mark, largest) >= STRONG else "")
            for text, mark in self.pieces
        )

    def rich(self, largest: float) -> Text:
        """For a terminal that has colours."""
        from rich.text import Text

        marked = Text()
        for text, mark in self.pieces:
            marked.append(visible_text(text), style=shade(mark or 0.0, largest))
        return marked

    def as_dict(self) -> dict[str, Any]:
        """In what JSON has."""
        return {"column": self.column, "pieces": [piece._asdict() for piece in self.pieces]}


def share(mark: float, largest: float) -> float:
    return abs(mark) / largest if largest > 0 else 0.0


def shade(mark: float, largest: float) -> str:
    """The colours of a word on a terminal."""
    strength = share(mark, largest)
    shades = SHADES[mark > 0]
    return "" if strength < FAINTEST else shades[min(int(strength * len(shades)), len(shades) - 1)]


def mark(column: str, text: bytes, parts: Iterable[tuple[Ngrams, Mapping[int, float]]]) -> MarkedText:
    """The text with its words marked by parts of the feature map, each with what its features speak for.

    What a feature contributes is shared out equally among the places where it occurs, and at each place among the words
    that it is of; a run of characters is of all words that it touches. A word's mark is the sum of its shares.
    """
    marks: dict[tuple[int, int], float] = {}
    for part, contributions in parts:
        begins, ends, features, first, last = part.vocabulary.occurrences(text)
        lengths = last.astype(np.int64) - first
        occurs = lengths > 0  # of a run that is a mere space there is nothing to mark
        features, first, lengths = features[occurs], first[occurs].astype(np.int64), lengths[occurs]
        met, which, times = np.unique(features, return_inverse=True, return_counts=True)
        spoken = np.array([contributions.get(feature, 0.0) for feature in met.tolist()])
        shares = (spoken / times)[which] / lengths
        words = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        sums = np.bincount(words, np.repeat(shares, lengths), minlength=len(begins))
        for word in np.unique(words).tolist():
            place = int(begins[word]), int(ends[word])
            marks[place] = marks.get(place, 0.0) + float(sums[word])
    return MarkedText(column, cut(text, sorted(marks.items())))


def cut(text: bytes, marks: list[tuple[tuple[int, int], float]]) -> list[Piece]:
    pieces, at = [], 0
    for (begin, end), value in marks:
        pieces += [Piece(text[at:begin].decode(errors="replace"), None)] if at < begin else []
        pieces.append(Piece(text[begin:end].decode(errors="replace"), value))
        at = end
    return pieces + ([Piece(text[at:].decode(errors="replace"), None)] if at < len(text) else [])
