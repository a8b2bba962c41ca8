"""A model: weights, the features that they belong to, and the classes that their scores are of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import as_rows
from markone.data.source import UNLABELLED, Batch, Label, Source
from markone.errors import DataError
from markone.features.examples import is_one
from markone.features.map import FeatureMap
from markone.parallel import count_threads, in_order

if TYPE_CHECKING:
    from markone.learning.history import History
    from markone.learning.settings import Settings

BIAS = "BIAS"


class Model:
    """What `markone.train` gives."""

    def __init__(
        self,
        *,
        features: FeatureMap,
        classes: list[Label],
        weights: _core.Weights32 | _core.Weights64,
        settings: Settings,
        history: History,
    ) -> None:
        self.features = features
        """The feature map: what an example's features are, by name."""
        self.classes = classes
        """The labels, in the order of the columns of `scores`."""
        self.settings = settings
        """How it was trained."""
        self.history = history
        """What happened in training."""
        self._weights = weights
        self._tie = _core.Tie[settings.tie]
        self._labels = np.array(classes, dtype=None if len({type(label) for label in classes}) == 1 else object)

    def predict(self, examples: Any, *, threads: int | None = None) -> Any:
        """The label of each example; a single label for one text or one dict."""
        best = self._labels[np.concatenate([_core.winners(s, self._tie) for s in self._each(examples, threads)])]
        return best[0].item() if is_one(examples) else best

    def scores(self, examples: Any, *, threads: int | None = None) -> NDArray[np.float32]:
        """A row of scores for each example, one for each of `classes`; of two classes the first scores 0."""
        found = np.concatenate(list(self._each(examples, threads)))
        if len(self.classes) == 2:
            found = np.hstack([np.zeros_like(found), found])
        return found[0] if is_one(examples) else found

    def accuracy(self, examples: Any, *, threads: int | None = None) -> float:
        """The share of a labelled source's examples that are classified rightly."""
        if not isinstance(examples, Source) or examples.target is None:
            raise DataError("accuracy needs labels; open the data with markone.read(..., target=...)")
        right = total = 0
        for labels, scores in self._score_batches(examples.batches(), count_threads(threads)):
            labelled = labels != UNLABELLED
            truth = self._numbers(examples.labels)[labels[labelled]]
            right += int((_core.winners(scores, self._tie)[labelled] == truth).sum())
            total += len(truth)
        if total == 0:
            raise DataError("there are no labelled examples to measure accuracy on")
        if (self._numbers(examples.labels) == len(self.classes)).all():
            theirs, mine = (", ".join(map(repr, labels[:5])) for labels in (examples.labels, self.classes))
            raise DataError(f"none of the labels ({theirs}) is one of the model's ({mine})")
        return right / total

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The weights of each feature by its name, in the order of `classes`; of two classes the first has weight 0."""
        matrix = np.vstack([self._weights.bias()[None, :], self._weights.matrix()])
        if len(self.classes) == 2:
            matrix = np.hstack([np.zeros_like(matrix), matrix])
        return dict(zip([BIAS, *self.features.names()], matrix, strict=True))

    def _numbers(self, labels: list[Label]) -> NDArray[np.int64]:
        """The class of each of another source's labels; one that is none of ours where it is unknown."""
        mine = {str(label): number for number, label in enumerate(self.classes)}
        return np.array([mine.get(str(label), len(mine)) for label in labels], np.int64)

    def _each(self, examples: Any, threads: int | None) -> Iterator[NDArray[np.float32]]:
        return (scores for _, scores in self._score_batches(self.features.batches(examples), count_threads(threads)))

    def _score_batches(self, batches: Iterator[Batch], threads: int) -> Iterator[tuple[Any, NDArray[np.float32]]]:
        def score(batch: Batch) -> tuple[Any, NDArray[np.float32]]:
            return batch.labels, self._weights.scores(as_rows(self.features.transform(batch)))

        return in_order(score, batches, threads)
