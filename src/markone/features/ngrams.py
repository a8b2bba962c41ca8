"""N-grams of a text column: runs of words or of characters, counted and weighed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Sparse
from markone.data.source import Batch
from markone.errors import DataError
from markone.features.part import Part
from markone.features.spec import Text
from markone.features.texts import as_texts
from markone.features.weighing import inverse_document_frequency, log_odds

NOBODY = 2**32 - 1
MOST_FEATURES = 2**31 - 1
BYTES_OF_NGRAM = 64
"""About what the vocabulary needs for one: two to four places in a table, its parts, its count, its share of a word."""
BYTES_OF_CLASS_COUNT = 4
MANY_EXAMPLES = 1000
"""From so many on, what occurs in one example only is left out unless told otherwise."""

Choice = Literal["all", "lower", "negated"]


class Ngrams(Part):
    """The n-grams of one column, each a feature with its own name."""

    def __init__(
        self,
        column: str,
        settings: Text,
        *,
        lengths: tuple[int, int],
        characters: bool = False,
        choice: Choice = "all",
        prefix: str = "",
    ) -> None:
        self.column = column
        self.settings = settings
        self.prefix = prefix
        self.value = _core.CountedAs["binary" if choice == "lower" else settings.value]
        how = _core.NgramSettings(
            fold=settings.case == "fold",
            signs=settings.signs and choice == "all",
            negation=settings.negation and choice == "all",
            choice=_core.TokenChoice[choice],
            shortest=lengths[0],
            longest=lengths[1],
            characters=characters,
        )
        self.vocabulary: _core.NgramVocabulary | _core.HashedVocabulary = (
            _core.NgramVocabulary(how)
            if settings.hash_bits is None
            else _core.HashedVocabulary(how, settings.hash_bits)
        )
        self.weights: NDArray[np.float32] | None = None
        self._examples = 0
        self._numbers: NDArray[np.uint32] | None = None
        self._class_counts = _core.ClassCounts() if settings.weight == "odds" else None
        self._classes = 0

    def collect(self, batch: Batch) -> _core.NgramBatch:
        return self.vocabulary.collect(*as_texts(batch.columns[self.column]))

    def absorb(self, collected: _core.NgramBatch, labels: NDArray[np.int32] | None) -> Any:
        indptr, indices, values, _ = self.vocabulary.absorb(collected)
        self._examples += len(indptr) - 1
        if self._class_counts is not None:
            if labels is None:
                raise DataError(
                    "text.weight is 'odds', which needs labels: it tells how much a word speaks for a class; say which "
                    "column is the target, or set text.weight to 'idf' or 'none'"
                )
            self._classes = max(self._classes, 1 + int(labels.max(initial=-1)))
            presence = self.value == _core.CountedAs.binary
            self._class_counts.add(indptr, indices, values, self._known, labels, presence)
        return indptr, indices, values

    def finish(self) -> None:
        counts = self.vocabulary.counts()
        chosen = np.arange(self._known, dtype=np.uint32)
        if isinstance(self.vocabulary, _core.NgramVocabulary):
            min_count = self.settings.min_count or (2 if self._examples >= MANY_EXAMPLES else 1)
            chosen = self.vocabulary.frequent(min_count, self.settings.max_features or MOST_FEATURES)
            self._numbers = np.full(self._known, NOBODY, np.uint32)
            self._numbers[chosen] = np.arange(len(chosen), dtype=np.uint32)
        if self.settings.weight == "idf":
            self.weights = inverse_document_frequency(counts[chosen], self._examples)
        elif self._class_counts is not None:
            odds = log_odds(self._class_counts.table(chosen), self.settings.smoothing or 2 / max(2, self._classes))
            self.weights = odds / np.float32(self.vocabulary.lengths()[chosen]) ** np.float32(self.settings.discount)
            self._class_counts = None
        if isinstance(self.vocabulary, _core.NgramVocabulary):
            self.vocabulary.keep(chosen)

    def held(self) -> int:
        each = BYTES_OF_NGRAM if isinstance(self.vocabulary, _core.NgramVocabulary) else 0
        return (each + BYTES_OF_CLASS_COUNT * self._classes) * self._known

    def settle(self) -> None:
        self._numbers = None

    def refine(self, draft: Any) -> Sparse:
        indptr, indices, values = draft
        width = self.width if self._numbers is None else len(self._numbers)
        rows = _core.refine_rows(
            indptr, indices, values, width, value=self.value, numbers=self._numbers, weights=self.weights
        )
        return Sparse(*rows, self.width)

    def transform(self, batch: Batch) -> Sparse:
        texts = as_texts(batch.columns[self.column])
        indptr, indices, values, _ = self.vocabulary.read(*texts, value=self.value, weights=self.weights)
        return Sparse(indptr, indices, values, self.width)

    @property
    def _known(self) -> int:
        """How many n-grams have a number while they are collected."""
        vocabulary = self.vocabulary
        return vocabulary.known if isinstance(vocabulary, _core.NgramVocabulary) else vocabulary.features

    @property
    def width(self) -> int:
        return self.vocabulary.features

    def name(self, number: int) -> str:
        name = self.vocabulary.name(number)
        return self.prefix + (name or f"(place {number})")

    def report(self) -> list[str]:
        """What is to be said about the hashing."""
        vocabulary = self.vocabulary
        if not isinstance(vocabulary, _core.HashedVocabulary) or vocabulary.met == 0:
            return []
        return [
            f"{vocabulary.used:,} of {vocabulary.features:,} places are used, {vocabulary.shared:,} of them by several "
            f"n-grams; {vocabulary.strangers / vocabulary.met:.1%} of what was met is in a place named after another"
        ]
