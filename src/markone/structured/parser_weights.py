"""The weights of a parser as a model stores them: integer multiples of a unit, sorted by keys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.storage.saved import Contents, Saved, check_finite, damaged

OF_ROOT, OF_OTHERS = 1, 2
FIRST_PARTS = 2**16


def packed_keys(name: str, keys: NDArray[np.uint64]) -> dict[str, NDArray[Any]]:
    """Pack ascending keys into five bytes each. The first two bytes are stored as counts of their values.

    The last byte is not used, and is 0.
    """
    first = (keys >> np.uint64(48)).astype(np.int64)
    return {
        f"{name}_counts": np.bincount(first, minlength=FIRST_PARTS).astype(np.uint32),
        f"{name}_middle": (keys >> np.uint64(40)).astype(np.uint8),
        f"{name}_rest": (keys >> np.uint64(8)).astype(np.uint32),
    }


def unpacked_keys(contents: Contents, name: str) -> NDArray[np.uint64]:
    counts = contents.array(f"{name}_counts", np.uint32, FIRST_PARTS).astype(np.int64)
    rest = contents.array(f"{name}_rest", np.uint32, None).astype(np.uint64)
    middle = contents.array(f"{name}_middle", np.uint8, len(rest)).astype(np.uint64)
    if int(counts.sum()) != len(rest):
        raise damaged(f"the number of its {name} does not match its counts")
    first = np.repeat(np.arange(FIRST_PARTS, dtype=np.uint64), counts)
    keys: NDArray[np.uint64] = first << np.uint64(48) | middle << np.uint64(40) | rest << np.uint64(8)
    if (keys[1:] < keys[:-1]).any():
        raise damaged(f"its {name} are not in order")
    return keys


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParserWeights(Brief):
    """The weights that a parser predicts with. Features of moves and of labels have keys, in ascending order."""

    label_uses: NDArray[np.uint8]
    """Whether a label is for the child of the root (1), for other words (2), or for both (3)."""
    move_unit: float
    """The weight that the integer 1 stands for."""
    move_keys: NDArray[np.uint64]
    move_weights: NDArray[np.uint32]
    """The weight of `shift` in the lower half, and that of `left` in the upper half. The weights of the three moves sum
    to 0, so that of `right` is not stored."""
    label_unit: float
    label_keys: NDArray[np.uint64]
    label_starts: NDArray[np.uint32]
    """Where each feature's weights start."""
    label_weights: NDArray[np.uint32]
    """A weight in the lower half, and its label in the upper half."""
    arc_keys: NDArray[np.uint64]
    """The features of arcs in the mode `exact`, which has no features of moves."""
    arc_weights: NDArray[np.float32]

    @classmethod
    def of(cls, learner: _core.TreeLearner, label_uses: NDArray[np.uint8], most: int, smallest: float) -> ParserWeights:
        """The averaged weights of the `most` features with the largest weights; for labels none below `smallest`."""
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
                **packed_keys("move_keys", self.move_keys),
                "move_weights": self.move_weights,
                **packed_keys("label_keys", self.label_keys),
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
            raise damaged("a unit of its weights is not a positive number")
        keys = unpacked_keys(contents, "move_keys")
        label_keys = unpacked_keys(contents, "label_keys")
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
        if (arc_keys[1:] <= arc_keys[:-1]).any():
            raise damaged("its arc_keys are not in order")
        if (found.label_uses > OF_ROOT | OF_OTHERS).any() or (found.label_weights >> 16 >= labels).any():
            raise damaged("it has a weight for a label that does not exist")
        return found


# ---- the state from which training is resumed

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
