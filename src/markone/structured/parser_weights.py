"""Weights of a parser, as models keep them: whole numbers of some unit, found by keys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.features.saved import Contents, Saved, check_finite, damaged

OF_ROOT, OF_OTHERS = 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class ParserWeights:
    """What a parser predicts with. Of moves and of labels there are features, each with a key in ascending order."""

    label_uses: NDArray[np.uint8]
    """Whether a label may be that of the root's child (1), of others (2), or of both (3)."""
    move_unit: float
    """The weight that 1 stands for."""
    move_keys: NDArray[np.uint64]
    move_weights: NDArray[np.uint32]
    """The weight of `shift` in the lower half and that of `left` in the upper one; all three sum to 0."""
    label_unit: float
    label_keys: NDArray[np.uint64]
    label_starts: NDArray[np.uint32]
    """Where each feature's weights start."""
    label_weights: NDArray[np.uint32]
    """A weight in the lower half, and its label in the upper one."""
    arc_keys: NDArray[np.uint64]
    """Features of arcs and their weights, if the search is exact; then there are none of moves."""
    arc_weights: NDArray[np.float32]

    @classmethod
    def of(cls, learner: _core.TreeLearner, label_uses: NDArray[np.uint8], most: int, smallest: float) -> ParserWeights:
        """The averaged weights of so many features, the largest, and for labels none smaller than `smallest`."""
        return cls(label_uses=label_uses, **learner.average(most, smallest))

    def __len__(self) -> int:
        return len(self.move_keys) + len(self.label_keys) + len(self.arc_keys)

    def parser(self, width: int, exact: bool) -> _core.TreeParser:
        return _core.TreeParser(
            exact=exact,
            arc_keys=self.arc_keys,
            arc_weights=self.arc_weights,
            label_uses=self.label_uses,
            width=width,
            move_keys=self.move_keys,
            move_weights=self.move_weights,
            label_keys=self.label_keys,
            label_starts=self.label_starts,
            label_weights=self.label_weights,
        )

    def save(self) -> Saved:
        return Saved(
            {"move_unit": self.move_unit, "label_unit": self.label_unit},
            {
                "label_uses": self.label_uses,
                "move_keys": self.move_keys,
                "move_weights": self.move_weights,
                "label_keys": self.label_keys,
                "label_starts": self.label_starts,
                "label_weights": self.label_weights,
                "arc_keys": self.arc_keys,
                "arc_weights": self.arc_weights,
            },
        )

    @classmethod
    def load(cls, saved: Saved, labels: int) -> ParserWeights:
        contents = Contents(saved)
        units = [contents.fact(name, float) for name in ("move_unit", "label_unit")]
        if not all(math.isfinite(unit) and unit > 0 for unit in units):
            raise damaged("a unit of its weights is no positive number")
        keys = contents.array("move_keys", np.uint64, None)
        label_keys = contents.array("label_keys", np.uint64, None)
        arc_keys = contents.array("arc_keys", np.uint64, None)
        starts = contents.array("label_starts", np.uint32, len(label_keys) + 1)
        if (np.diff(starts.astype(np.int64)) < 1).any() or starts[0] != 0:
            raise damaged("a feature of labels has no weights")
        found = cls(
            label_uses=contents.array("label_uses", np.uint8, labels),
            move_unit=units[0],
            move_keys=keys,
            move_weights=contents.array("move_weights", np.uint32, len(keys)),
            label_unit=units[1],
            label_keys=label_keys,
            label_starts=starts,
            label_weights=contents.array("label_weights", np.uint32, int(starts[-1])),
            arc_keys=arc_keys,
            arc_weights=contents.array("arc_weights", np.float32, len(arc_keys)),
        )
        contents.close()
        check_finite("arc_weights", found.arc_weights)
        for some in (keys, label_keys, arc_keys):
            if (some[1:] <= some[:-1]).any() or (some[:1] == 0).any():
                raise damaged("its keys are not in order")
        if (found.label_uses > OF_ROOT | OF_OTHERS).any() or (found.label_weights >> 16 >= labels).any():
            raise damaged("it has a weight of a label that is not there")
        return found


# ---- what learning goes on from

STATE: dict[str, np.dtype[Any]] = {
    "steps": np.dtype(np.int64),
    "move_keys": np.dtype(np.uint64),
    "move_weights": np.dtype(np.uint32),
    "move_sums": np.dtype(np.int64),
    "label_keys": np.dtype(np.uint64),
    "label_starts": np.dtype(np.int64),
    "label_ids": np.dtype(np.uint32),
    "label_weights": np.dtype(np.int32),
    "label_sums": np.dtype(np.int64),
    "arc_keys": np.dtype(np.uint64),
    "arc_weights": np.dtype(np.float32),
    "arc_sums": np.dtype(np.float64),
}
