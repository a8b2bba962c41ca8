"""A model: weights, the features that they belong to, and the classes that their scores are of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import as_rows
from markone.data.read import read
from markone.data.source import UNLABELLED, Batch, Label, Source
from markone.errors import DataError
from markone.features.map import FeatureMap
from markone.features.texts import Texts
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
        text = features.columns[0] if len(features.columns) == 1 and features.columns[0].kind == "text" else None
        self._text_column = None if text is None else text.name

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
            known = self._numbers(examples.labels)
            mine = known[labels[labels != UNLABELLED]]
            right += int((_core.winners(scores, self._tie)[labels != UNLABELLED] == mine).sum())
            total += len(mine)
        if total == 0:
            raise DataError("there are no labelled examples to measure accuracy on")
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
        return (scores for _, scores in self._score_batches(self._batches(examples), count_threads(threads)))

    def _score_batches(self, batches: Iterator[Batch], threads: int) -> Iterator[tuple[Any, NDArray[np.float32]]]:
        def score(batch: Batch) -> tuple[Any, NDArray[np.float32]]:
            return batch.labels, self._weights.scores(as_rows(self.features.transform(batch)))

        return in_order(score, batches, threads)

    def _batches(self, examples: Any) -> Iterator[Batch]:
        """What a user may give, as batches with the columns that the features need."""
        if isinstance(examples, Source):
            return examples.batches()
        if isinstance(examples, str | Mapping):
            examples = [examples]
        if self._text_column is not None and isinstance(examples, list) and all(type(one) is str for one in examples):
            return iter([Batch({self._text_column: Texts.of(examples)}, len(examples))])
        kinds = {column.name: column.kind for column in self.features.columns}
        return read(examples, kinds=kinds).batches()


def is_one(examples: Any) -> bool:
    return isinstance(examples, str) or (
        isinstance(examples, Mapping) and not any(isinstance(value, list | np.ndarray) for value in examples.values())
    )
