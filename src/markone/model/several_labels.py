"""Models whose rows can have several labels: which labels are predicted, and how probable each label is.

Each label has a score of its own, as if it were the second of two classes. So it also has a threshold and a calibration
of its own, which were learned from rows that the model was not trained on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.data.source import Label
from markone.errors import DataError
from markone.model.calibrator import Calibrator
from markone.model.decisions import Threshold
from markone.model.evaluation import log_probabilities
from markone.storage.saved import Saved


@dataclass(frozen=True, slots=True, repr=False)
class LabelDecision(Brief):
    """When a label is predicted, and how its score becomes a probability."""

    calibrator: Calibrator | None = None
    """Turns scores into probabilities; None if it was not learned."""
    threshold: Threshold | None = None
    """The score from which the label is predicted; None for a score above 0."""


@dataclass(frozen=True, slots=True, repr=False)
class SeveralLabels(Brief):
    """The decisions about all labels of a model, in their order."""

    decisions: tuple[LabelDecision, ...]

    @classmethod
    def plain(cls, labels: int) -> Self:
        """Return decisions that predict a label if its score is above 0."""
        return cls((LabelDecision(),) * labels)

    def in_brief(self) -> str:
        return f"{len(self.decisions):,} labels"

    @property
    def calibrated(self) -> bool:
        """Whether all labels have a calibration."""
        return all(one.calibrator is not None for one in self.decisions)

    def found(self, scores: NDArray[Any], tie: _core.Tie) -> NDArray[np.bool_]:
        """Return which labels are predicted, from the scores of all labels."""
        found = np.asarray(scores >= 0 if tie == _core.Tie.positive else scores > 0)
        for label, one in enumerate(self.decisions):
            if one.threshold is not None:
                found[:, label] = scores[:, label] >= one.threshold.score
        return found

    def log_probabilities(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each label."""
        return np.ascontiguousarray(self.log_of_both(scores)[:, 1])

    def log_of_both(self, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities that a row does not have a label, and that it has it: rows × 2 ×
        labels."""
        found = np.zeros((len(scores), 2, len(self.decisions)))
        for label, one in enumerate(self.decisions):
            own = scores[:, label, None]
            found[:, :, label] = log_probabilities(own if one.calibrator is None else one.calibrator.log_odds(own))
        return found

    def save(self) -> Saved:
        return Saved(
            {
                "labels": [
                    {
                        "calibrator": None if one.calibrator is None else one.calibrator.save().facts,
                        "threshold": None if one.threshold is None else one.threshold.save().facts,
                    }
                    for one in self.decisions
                ]
            },
            {},
        )

    @classmethod
    def load(cls, saved: Saved, labels: int) -> Self:
        """Restore the decisions from a file, and check every number."""
        found = saved.facts.get("labels")
        whole = not saved.arrays and saved.facts.keys() == {"labels"} and isinstance(found, list)
        if not whole or not isinstance(found, list) or len(found) != labels:
            raise DataError("its decisions do not match its labels")
        return cls(tuple(map(decision_of, found)))


def decision_of(facts: Any) -> LabelDecision:
    """Restore the decision about one label."""
    if not isinstance(facts, dict) or facts.keys() != {"calibrator", "threshold"}:
        raise DataError("a decision about a label has the wrong parts")
    if any(one is not None and not isinstance(one, dict) for one in facts.values()):
        raise DataError(f"a decision about a label is {facts!r:.60}")
    calibrator, threshold = (None if facts[name] is None else Saved(facts[name], {}) for name in sorted(facts))
    return LabelDecision(
        None if calibrator is None else Calibrator.load(calibrator, 2),
        None if threshold is None else Threshold.load(threshold, 2),
    )


def against(label: Label) -> str:
    """Return the name of the class of the rows that do not have a label.

    >>> against("sports")
    'not sports'
    """
    return f"not {label}"
