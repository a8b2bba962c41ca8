"""The sparse weights of a tagger as a model stores them: rows with keys and names, each with few non-zero weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.data.strings import Strings, starts_of
from markone.errors import DataError
from markone.learning.states import without_prefix
from markone.storage.saved import Contents, Saved, check_finite, damaged

Arrays = dict[str, NDArray[Any]]
ORIGIN = ("sentence", "token", "template", "tag1", "tag2")
"""The place where a row first occurred, from which its name can be computed."""

LARGEST = 1e30
"""A limit for weights that is far above all real weights, and whose sums do not overflow."""
MOST_STEPS = 2**53


def narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Integers in one byte if they fit, otherwise in four bytes."""
    return numbers.astype(np.uint8 if numbers.max(initial=0) < 256 else np.uint32)


def wide(contents: Contents, name: str, size: int | None = None) -> NDArray[np.uint32]:
    """The integers that `narrow` has packed."""
    found = contents.peek(name)
    kind = np.uint8 if found is not None and found.dtype == np.uint8 else np.uint32
    return contents.array(name, kind, size).astype(np.uint32)


def pack(name: str, strings: Strings) -> Arrays:
    """Arrays for a file with these strings, which may contain any bytes."""
    return {name: strings.data, f"{name}_sizes": narrow(np.diff(strings.offsets))}


def unpack(contents: Contents, name: str, size: int | None = None) -> Strings:
    offsets = starts_of(wide(contents, f"{name}_sizes", size))
    return Strings(contents.array(name, np.uint8, int(offsets[-1])), offsets)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KeyedWeights(Brief):
    """Rows of weights, one for each feature with non-zero weights, in the order of their first occurrence."""

    keys: NDArray[np.uint64]
    indptr: NDArray[np.int64]
    columns: NDArray[np.uint32]
    weights: NDArray[np.float32]
    templates: NDArray[np.uint32]
    """The template of each feature."""
    names: Strings
    """The values in each feature."""

    @classmethod
    def of(cls, learner: _core.TaggerLearner, averaged: bool) -> KeyedWeights:
        rows = learner.weights(averaged)
        templates, offsets, data = learner.names(rows[0])
        return cls(*rows, templates, Strings(data, offsets))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def rows(self) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32]]:
        """The arrays for the core."""
        return self.keys, self.indptr, self.columns, self.weights

    @classmethod
    def of_state(cls, state: Arrays, averaged: bool, names: Strings) -> KeyedWeights:
        """The weights of a learner in this state, with the same bits."""
        steps, weights = float(state["steps"][0]), state["weights"]
        if averaged and steps > 0:
            weights = (weights.astype(np.float64) - state["sums"] / steps).astype(np.float32)
        stays = weights != 0
        indptr = starts_of(stays)[state["indptr"]]
        rows = np.diff(indptr) > 0
        return cls(
            state["keys"][rows],
            np.concatenate([indptr[:1], indptr[1:][rows]]),
            state["columns"][stays],
            weights[stays],
            state["origins"].reshape(-1, len(ORIGIN))[rows, ORIGIN.index("template")],
            names,
        )

    def save(self, resume: Saved | None = None, averaged: bool = True) -> Saved:
        """The content of a file: only the names, if all weights can be computed from the state for resuming."""
        names = pack("names", self.names)
        if resume is not None:
            state = unpack_state(without_prefix("state.", resume.arrays))
            if self.equals(KeyedWeights.of_state(state, averaged, self.names)):
                return Saved({}, names)
        counts, columns, templates = narrow(np.diff(self.indptr)), narrow(self.columns), narrow(self.templates)
        rows = {"keys": self.keys, "counts": counts, "columns": columns, "weights": self.weights}
        return Saved({}, {**rows, "templates": templates, **names})

    def equals(self, other: KeyedWeights) -> bool:
        mine: list[NDArray[Any]] = [*self.rows, self.templates]
        theirs: list[NDArray[Any]] = [*other.rows, other.templates]
        return all(one.tobytes() == two.tobytes() for one, two in zip(mine, theirs, strict=True))

    @classmethod
    def load(
        cls, saved: Saved, *, templates: int, columns: int, resume: Saved | None = None, averaged: bool = True
    ) -> KeyedWeights:
        contents = Contents(saved)
        if resume is not None and contents.peek("keys") is None:
            state = unpack_state(without_prefix("state.", resume.arrays))
            found = cls.of_state(state, averaged, unpack(contents, "names"))
        else:
            keys = contents.array("keys", np.uint64, None)
            indptr = starts_of(wide(contents, "counts", len(keys)))
            stored = int(indptr[-1])
            found = cls(
                keys,
                indptr,
                wide(contents, "columns", stored),
                contents.array("weights", np.float32, stored),
                wide(contents, "templates", len(keys)),
                unpack(contents, "names", len(keys)),
            )
        contents.close()
        if len(found.names) != len(found):
            raise damaged("not every feature has a name")
        indptr = found.indptr
        check_finite("weights", found.weights)
        if np.abs(found.weights).max(initial=0) > LARGEST:
            raise damaged("its weights are impossibly large")
        if (np.diff(indptr) == 0).any():
            raise damaged("a feature has no weights")
        if found.columns.max(initial=0) >= columns or found.templates.max(initial=0) >= templates:
            raise damaged("a weight has a tag or a template that does not exist")
        return found


# ---- the state from which training is resumed


def pack_state(state: Arrays) -> Arrays:
    """A learner's state in as few bytes as it needs."""
    packed = {name: state[name] for name in ("steps", "keys", "weights", "sums")}
    packed["counts"] = narrow(np.diff(state["indptr"]))
    packed["columns"] = narrow(state["columns"])
    origins = state["origins"].reshape(-1, len(ORIGIN))
    return packed | {name: narrow(origins[:, i]) for i, name in enumerate(ORIGIN)}


def unpack_state(packed: Arrays) -> Arrays:
    contents = Contents(Saved({}, packed))
    keys = contents.array("keys", np.uint64, None)
    indptr = starts_of(wide(contents, "counts", len(keys)))
    stored = int(indptr[-1])
    state: Arrays = {
        "steps": contents.array("steps", np.float64, 1),
        "keys": keys,
        "indptr": indptr,
        "columns": wide(contents, "columns", stored),
        "weights": contents.array("weights", np.float32, stored),
        "sums": contents.array("sums", np.float64, stored),
        "origins": np.stack([wide(contents, name, len(keys)) for name in ORIGIN], axis=1).reshape(-1).copy(),
    }
    contents.close()
    for name in ("steps", "weights", "sums"):
        check_finite(name, state[name])
    steps = float(state["steps"][0])
    if not (steps.is_integer() and 0 <= steps <= MOST_STEPS):
        raise damaged(f"it has made {steps} steps")
    largest = LARGEST * max(1.0, steps)
    if np.abs(state["weights"]).max(initial=0) > LARGEST or np.abs(state["sums"]).max(initial=0) > largest:
        raise damaged("its weights are impossibly large")
    return state


def set_state(learner: _core.TaggerLearner, packed: Arrays, steps: int) -> None:
    """Restore a learner's state, which must be after `steps` steps."""
    try:
        state = unpack_state(packed)
        if state["steps"][0] != steps:
            raise ValueError(f"it has made {state['steps'][0]:.0f} steps, not {steps}")
        learner.set_state(state)
    except (ValueError, IndexError) as error:
        raise DataError(f"the state from which to resume is damaged: {error}; start the training again") from None
