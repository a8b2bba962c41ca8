"""Passages: the positions of sentences in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data.chunks import Chunk


@dataclass(frozen=True, eq=False, repr=False)
class Passage(Brief):
    """Pieces of files that contain sentences, so that these can be written back with everything between their words."""

    format: str
    chunks: tuple[Chunk, ...]
    """Each chunk ends at the end of a sentence."""
    which: NDArray[np.int64]
    """The number of each sentence's chunk."""
    begins: NDArray[np.int64]
    """The position in its chunk where each sentence begins, including the comments before it."""
    ends: NDArray[np.int64]
    """The position in its chunk where each sentence ends."""
    places: NDArray[np.int64]
    """The position in its chunk where the line of each word begins."""

    @classmethod
    def joined(cls, parts: Sequence[Passage]) -> Passage:
        firsts = np.cumsum([0, *(len(part.chunks) for part in parts)])
        return cls(
            parts[0].format,
            tuple(chunk for part in parts for chunk in part.chunks),
            np.concatenate([part.which + first for part, first in zip(parts, firsts, strict=False)]),
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("begins", "ends", "places")),
        )

    def some(self, sentences: slice, words: slice) -> Passage:
        of_sentences = {name: getattr(self, name)[sentences] for name in ("which", "begins", "ends")}
        return replace(self, places=self.places[words], **of_sentences)

    def place_of(self, sentence: int, word: int) -> str:
        """File and line of a word, which is counted in the whole batch."""
        chunk = self.chunks[int(self.which[sentence])]
        return chunk.place(1 + chunk.data.count(b"\n", 0, int(self.places[word])))

    def lines(self) -> NDArray[np.uint32]:
        """The line number of each word in its file. The passage must have exactly one chunk."""
        (chunk,) = self.chunks
        ends = np.flatnonzero(np.frombuffer(chunk.data, np.uint8) == ord("\n"))
        return (chunk.lines_before + 1 + np.searchsorted(ends, self.places)).astype(np.uint32)


@dataclass(frozen=True, eq=False, repr=False)
class CorpusLines(Brief):
    """The files and line numbers of sentences, which error messages need."""

    format: str
    files: tuple[str, ...]
    which: NDArray[np.uint32]
    """The number of each sentence's file."""
    lines: NDArray[np.uint32]
    """The line number of each word."""

    def some(self, sentences: slice, words: slice) -> CorpusLines:
        return replace(self, which=self.which[sentences], lines=self.lines[words])

    def place_of(self, sentence: int, word: int) -> str:
        """File and line of a word, which is counted in the whole batch."""
        return f"{self.files[int(self.which[sentence])]}, line {int(self.lines[word])}"
