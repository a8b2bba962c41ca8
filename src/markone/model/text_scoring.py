"""Scores of texts without rows in between, for linear models whose features are all n-grams."""

from __future__ import annotations

import math
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.source import Batch
from markone.data.strings import Strings
from markone.features.map import FeatureMap
from markone.features.ngrams import Ngrams
from markone.model.scorer import LinearScorer, Scorer

BYTES_OF_FEATURE = 4
"""The tables are made once this many bytes of text per feature have been scored. They save more time than they cost
after about three times as many."""


class TextScoring:
    """Scores texts with the tables of `_core.TextScorer`, which are made when a model scores many texts.

    The tables give the same scores as rows, bit for bit, in less than half of the time. They need 30 to 60 bytes per
    n-gram in addition to the model, so a model that scores only a few texts does without them.
    """

    def __init__(self, features: FeatureMap, parts: list[Ngrams], weights: _core.Weights32) -> None:
        self._features = features
        self._parts = parts
        self._weights = weights
        self._columns = list(dict.fromkeys(part.column for part in parts))
        self._tables: _core.TextScorer | None = None
        self._left: float = BYTES_OF_FEATURE * features.width
        self._busy = Lock()

    @classmethod
    def of(cls, features: FeatureMap, scorer: Scorer) -> TextScoring | None:
        """Return the scoring of texts for a model; None if not all features are n-grams, or the model is not linear."""
        parts = [part for part in features.parts if isinstance(part, Ngrams)]
        if not isinstance(scorer, LinearScorer) or len(parts) < len(features.parts):
            return None
        weights = scorer.weights
        return cls(features, parts, weights) if isinstance(weights, _core.Weights32) else None

    @property
    def nbytes(self) -> int:
        """The size of the tables in bytes; 0 if they have not been made."""
        return 0 if self._tables is None else self._tables.nbytes

    def scores(self, batch: Batch) -> NDArray[np.float32] | None:
        """Return the scores of a batch; None if there are no tables, because few texts were scored so far."""
        texts = [Strings.of_arrow(batch.columns[column]).for_core for column in self._columns]
        if self._tables is None:
            self._left -= sum(int(offsets[-1]) - int(offsets[0]) for offsets, _ in texts)
            if self._left > 0 or not self._make():
                return None
        assert self._tables is not None
        return self._tables.scores(texts)

    def scores_of_texts(self, texts: list[Any]) -> NDArray[np.float32] | None:
        """Return the scores of texts without a batch around them; None if there are no tables yet, several columns, or
        something else among the texts."""
        if self._tables is None or len(self._columns) > 1:
            return None
        return self._tables.scores_of_texts(texts)

    def prepare(self) -> None:
        """Make the tables now, if they can be made."""
        if self._tables is None:
            self._make()

    def _make(self) -> bool:
        """Make the tables, unless another thread has; return whether there are any."""
        with self._busy:
            self._tables = self._tables or self._made()
            if self._tables is None:
                self._left = math.inf
            return self._tables is not None

    def _made(self) -> _core.TextScorer | None:
        """Return the tables; None if there are too many n-grams, factors beyond all use, or too little memory."""
        tables = _core.TextScorer(self._weights, unit=self._features.unit)
        try:
            for part in self._parts:
                column = self._columns.index(part.column)
                if not tables.add(part.vocabulary, value=part.value, weights=part.weights, column=column):
                    return None
        except MemoryError:
            return None
        return tables
