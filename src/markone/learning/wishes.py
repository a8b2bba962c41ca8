"""What a user wants of the decisions of a model, and how training fulfils it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from markone import _core
from markone.data.source import Label
from markone.data.store import TrainingRows
from markone.errors import DataError, SettingsError
from markone.learning.cross_fitting import Scored
from markone.model.calibrator import FEWEST_ROWS, Calibrator
from markone.model.decisions import (
    Abstention,
    Aim,
    Threshold,
    choose_abstention,
    choose_for_micro_f1,
    choose_threshold,
    promised_error,
)
from markone.model.margins import functional_margins
from markone.model.model import Model
from markone.model.settings import Settings
from markone.model.several_labels import LabelDecision, SeveralLabels

HOLDOUT = 0.2
"""The share of rows that are held out for abstention, by default."""
DIGITS = 6
"""The number of digits of a score for a probability, so that it does not depend on how logarithms are computed."""


class Decisions(NamedTuple):
    """What a model has for its decisions."""

    threshold: Threshold | None = None
    abstention: Abstention | None = None


NO_DECISIONS = Decisions()


@dataclass(frozen=True)
class Wishes:
    """What the user wants: a threshold, or a promised error."""

    aim: Aim | None = None
    error: float | None = None

    @classmethod
    def of(cls, threshold: Any, abstain: Any, earlier: Model | None) -> Wishes:
        """Return what is given or, if nothing is, what an earlier model has."""
        if threshold is None and abstain is None and earlier is not None:
            earlier_threshold = earlier.threshold
            if earlier.several is not None:
                own = [one.threshold for one in earlier.several.decisions if one.threshold is not None]
                earlier_threshold = next((one for one in own if one.aim != "micro-f1"), None)  # which is the default
            threshold = None if earlier_threshold is None else earlier_threshold.aim
            abstain = None if earlier.abstention is None else earlier.abstention.error
        if threshold is not None and abstain is not None:
            raise SettingsError("abstain", "does not work together with threshold; set only one of them")
        aim = None if threshold is None else Aim.of(threshold)
        return cls(aim, None if abstain is None else promised_error(abstain))

    @property
    def needs_rows(self) -> bool:
        """Whether rows with scores are needed to choose a threshold."""
        return self.aim is not None and self.aim.kind != "probability"

    @property
    def holdout(self) -> float | None:
        """The default share of held-out rows; None for the usual one."""
        return None if self.error is None else HOLDOUT

    def check(self, settings: Settings, given: Mapping[str, Any]) -> None:
        """Raise an error if the wishes do not fit the settings."""
        name = "threshold" if self.needs_rows else "abstain" if self.error is not None else None
        if name is not None and settings.class_weight is not None:
            raise SettingsError(name, "is chosen for rows as they are, without class_weight; leave one of them out")
        if self.error is not None and settings.patience is not None:
            raise SettingsError("abstain", "needs held-out rows that patience does not use; leave one of them out")
        if self.error is not None and given.get("holdout") == 0:
            raise SettingsError("abstain", "needs held-out rows, and holdout is 0; leave it out")

    def check_classes(self, classes: list[Label], store: TrainingRows, *, several: bool = False) -> None:
        """Raise an error if the wishes do not fit the classes and rows."""
        if self.aim is not None and self.aim.kind == "micro-f1" and not several:
            raise SettingsError("threshold", "is micro-f1, which is for rows with several labels; use f1")
        if self.aim is not None and len(classes) != 2 and not several:
            raise SettingsError("threshold", f"is for two classes, and there are {len(classes):,}; leave it out")
        if self.error is not None and store.importance is not None:
            raise SettingsError("abstain", "needs rows that all count the same; leave out their importance")

    def unfulfilled(self) -> Decisions:
        """Return what a checkpoint keeps, so that a resumed training has the same wishes."""
        return Decisions(
            None if self.aim is None else Threshold(str(self.aim)),
            None if self.error is None else Abstention(self.error),
        )

    def unfulfilled_of_labels(self, labels: int) -> SeveralLabels:
        """Return the same for a model whose rows can have several labels."""
        return SeveralLabels((LabelDecision(None, self.unfulfilled().threshold),) * labels)

    def thresholds_of_labels(
        self, settings: Settings, scored: list[Scored], calibrators: Sequence[Calibrator | None]
    ) -> list[Threshold | None]:
        """Choose the thresholds of several labels. Without a wish, they are chosen for micro F1, if there are rows for
        it, and no class weights, which already decide how often a label is predicted. A label that all rows have, or
        none, is predicted if its score is above 0."""
        few = not scored or len(scored[0].truth) < FEWEST_ROWS
        if (few or settings.class_weight is not None) and self.aim is None:
            return [None] * len(calibrators)
        if self.aim is not None and (few or self.aim.kind != "micro-f1"):
            wanted: list[Threshold | None] = []
            nothing: list[Scored | None] = [None] * len(calibrators)
            for one, calibrator in zip(scored or nothing, calibrators, strict=True):
                constant = one is not None and len(np.unique(one.truth)) < 2 and self.needs_rows
                wanted.append(None if constant else self.fulfilled(settings, one, calibrator, None).threshold)
            return wanted
        scores = np.hstack([one.scores for one in scored]).astype(np.float64)
        truth = np.column_stack([one.truth for one in scored])
        return choose_for_micro_f1(scores, truth, scored[0].importance)

    def fulfilled(
        self, settings: Settings, scored: Scored | None, calibrator: Calibrator | None, held_out: Scored | None
    ) -> Decisions:
        """Choose the threshold or the margin: by rows with scores of models that were not trained on them, or by the
        held-out rows, whose scores are those of the model itself."""
        if self.error is not None:
            return Decisions(None, abstention_of(self.error, settings, held_out))
        if self.aim is None:
            return NO_DECISIONS
        if self.aim.kind == "probability":
            return Decisions(threshold_at(self.aim, settings, calibrator))
        if scored is None or len(scored.truth) < FEWEST_ROWS:
            raise DataError(
                f"a threshold for {self.aim} is chosen on at least {FEWEST_ROWS} rows that the model was not trained "
                "on; use more rows, or a larger holdout"
            )
        return Decisions(
            choose_threshold(self.aim, scored.scores[:, 0].astype(np.float64), scored.truth, scored.importance)
        )


def threshold_at(aim: Aim, settings: Settings, calibrator: Calibrator | None) -> Threshold:
    """Return the threshold at a probability."""
    if calibrator is None and not settings.traits.has_probabilities:
        raise DataError(
            f"the model has no probabilities, because it was trained on fewer than {FEWEST_ROWS} rows, so there is no "
            f"threshold of {aim}; use more rows, or the rule 'logistic'"
        )
    [probability] = aim.numbers
    log_odds = math.log(probability / (1 - probability))
    score = log_odds if calibrator is None else calibrator.score_of(log_odds)
    return Threshold(str(aim), float(f"{score:.{DIGITS}g}"))


def abstention_of(error: float, settings: Settings, held_out: Scored | None) -> Abstention:
    if held_out is None:
        raise DataError("there are no held-out rows on which an error can be measured; set a larger holdout")
    scores = held_out.scores.astype(np.float64)
    found = _core.winners(held_out.scores, _core.Tie[settings.tie])
    return choose_abstention(error, functional_margins(scores, found), found == held_out.truth)
