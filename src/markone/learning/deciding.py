"""How scores become probabilities and decisions, learned from rows that the model was not trained on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.source import Label
from markone.learning.cross_fitting import Scored
from markone.learning.wishes import Wishes
from markone.model.calibrator import FEWEST_ROWS, Calibrator, calibrate, is_better
from markone.model.decisions import choose_for_micro_f1
from markone.model.settings import Settings
from markone.model.several_labels import LabelDecision, SeveralLabels

WITH_AND_WITHOUT: list[Label] = [False, True]
"""The two classes of one label: the rows without it, and those with it."""


def calibrator_of(found: Scored, settings: Settings, classes: list[Label]) -> Calibrator | None:
    """Learn how scores become probabilities. A rule that has probabilities keeps its own unless those of the calibrator
    are better."""
    if len(found.truth) < FEWEST_ROWS:
        return None
    if not np.isfinite(found.scores).all() or (found.importance is not None and not found.importance.any()):
        return None
    keeps_its_own = settings.traits.has_probabilities and not is_better(*found, classes)
    return None if keeps_its_own else calibrate(*found, classes)


def decisions_of_labels(scored: list[Scored], settings: Settings, wishes: Wishes, labels: int) -> SeveralLabels:
    """Learn for each label how scores become probabilities and, if the user wants it, a threshold. `scored` has the
    rows of each label; it is empty if there are none."""
    calibrators = [calibrator_of(one, settings, WITH_AND_WITHOUT) for one in scored] or [None] * labels
    thresholds = wishes.thresholds_of_labels(settings, scored, calibrators)
    return SeveralLabels(tuple(map(LabelDecision, calibrators, thresholds)))


def of_each_label(scores: NDArray[np.floating], truth: NDArray[np.bool_]) -> list[Scored]:
    """Return the rows of each label, with their scores and whether they have it (both rows × labels)."""
    columns = zip(scores.T, truth.T, strict=True)
    return [Scored(own[:, None], is_so.astype(np.int64), None) for own, is_so in columns]


def found_by_others(
    scores: NDArray[np.floating], truth: NDArray[np.bool_], parts: NDArray[np.int64], settings: Settings
) -> NDArray[np.bool_]:
    """Return which labels are predicted, if the thresholds for each part of the rows are chosen on the other parts.

    With class weights, all thresholds are 0: these already decide how often a label is predicted.
    """
    found = np.zeros(truth.shape, bool)
    for part in np.unique(parts):
        own, others = parts == part, parts != part
        decisions = SeveralLabels.plain(truth.shape[1])
        if settings.class_weight is None and others.any():
            thresholds = choose_for_micro_f1(scores[others].astype(np.float64), truth[others], None)
            decisions = SeveralLabels(tuple(LabelDecision(None, threshold) for threshold in thresholds))
        found[own] = decisions.found(scores[own], _core.Tie[settings.tie])
    return found
