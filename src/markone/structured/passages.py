"""Passages: where sentences stand in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data.chunks import Chunk


@dataclass(frozen=True, eq=False, repr=False)
class Passage(Brief):
    """Pieces of files, to write sentences back with all that stands between their words."""

    format: str
    chunks: tuple[Chunk, ...]
    """They end where sentences end."""
    which: NDArray[np.int64]
    """The chunk of each sentence."""
    begins: NDArray[np.int64]
    """Where in its chunk a sentence begins, with the comments before it ..."""
    ends: NDArray[np.int64]
    """... and where it ends."""
    places: NDArray[np.int64]
    """Where in its chunk the line of each word begins."""

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
        """The line of each word in its file. There is one chunk."""
        (chunk,) = self.chunks
        ends = np.flatnonzero(np.frombuffer(chunk.data, np.uint8) == ord("\n"))
        return (chunk.lines_before + 1 + np.searchsorted(ends, self.places)).astype(np.uint32)


@dataclass(frozen=True, eq=False, repr=False)
class CorpusLines(Brief):
    """CorpusLines of files, which are enough to say where something is wrong."""

    format: str
    files: tuple[str, ...]
    which: NDArray[np.uint32]
    """The file of each sentence."""
    lines: NDArray[np.uint32]
    """The line of each word."""

    def some(self, sentences: slice, words: slice) -> CorpusLines:
        return replace(self, which=self.which[sentences], lines=self.lines[words])

    def place_of(self, sentence: int, word: int) -> str:
        """File and line of a word, which is counted in the whole batch."""
        return f"{self.files[int(self.which[sentence])]}, line {int(self.lines[word])}"
