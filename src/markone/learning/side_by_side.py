"""The learner of the online rules for some labels at once, each of which a row has or not.

Its weights of a feature for all labels stand side by side, so that a row is read once for all of them. Each label gets
the weights that a learner of two classes would give it, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Rows
from markone.learning.learner import State
from markone.learning.online import Linear
from markone.learning.states import check_forms, need
from markone.model.settings import OnlineSettings

CLOCKS = "clocks"
"""The array of a state that all labels share."""


def most_together(settings: OnlineSettings, dtype: np.dtype[Any]) -> int:
    """Return how many labels can stand side by side; 1 if each of them needs clocks, rates or a start of its own."""
    shared = settings.class_weight is None and settings.penalty is None and settings.schedule == "constant"
    kind = _core.Learner32 if dtype == np.float32 else _core.Learner64
    return kind.labels_together if shared and settings.start == "zero" else 1


class SideBySide(Linear):
    """Weights for `features` and some labels; `sets` says which sets of labels have each of them."""

    def __init__(
        self, settings: OnlineSettings, *, features: int, sets: NDArray[np.bool_], dtype: np.dtype[Any]
    ) -> None:
        super().__init__(settings, features=features, classes=most_together(settings, dtype), dtype=dtype)
        self.sets = sets
        powers = np.uint32(1) << np.arange(len(sets), dtype=np.uint32)
        self._bits = (sets * powers[:, None]).sum(axis=0, dtype=np.uint32)

    @property
    def labels(self) -> int:
        return len(self.sets)

    def _visit(self, block: Block, order: NDArray[np.int64] | None) -> _core.Tally:
        return self._learner.learn_labels(block.rows, block.labels, block.importance, order, self._bits, self.labels)

    def start_at(self, matrix: NDArray[Any], bias: NDArray[Any]) -> None:
        """Set the first weights (features × labels) and the first bias (labels)."""
        super().start_at(*(np.pad(one, [(0, 0), (0, self.classes - self.labels)]) for one in (matrix, bias[None])))

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        """Return a score for each row and label."""
        return super().scores(rows, averaged)[:, : self.labels]

    def states(self) -> list[State]:
        """Return for each label the state of a learner that is alone."""
        whole = self.get_state()
        return [
            {name: array if name == CLOCKS else array[:, label, None] for name, array in whole.items()}
            for label in range(self.labels)
        ]

    def check_states(self, states: Sequence[State]) -> None:
        """Raise an error if these are not the states of the labels."""
        for form, state in zip(self.states(), states, strict=True):
            check_forms(state, form)
            need((state[CLOCKS] == states[0][CLOCKS]).all(), "its labels have different clocks")
        self.check_state(self._joined(states))

    def set_states(self, states: Sequence[State]) -> None:
        """Restore the states of the labels."""
        self.set_state(self._joined(states))

    def _joined(self, states: Sequence[State]) -> State:
        whole = self.get_state()
        for name, array in whole.items():
            if name == CLOCKS:
                whole[name] = states[0][name]
            else:
                array[:, : self.labels] = np.hstack([state[name] for state in states])
        return whole

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "sets": self.sets}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(  # type: ignore[misc]
            saved["settings"], features=saved["features"], sets=saved["sets"], dtype=saved["dtype"]
        )
        self.set_state(saved["state"])
