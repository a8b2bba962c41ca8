"""Makes learners that start from a model, with new features and classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from markone.data.labels import KnownLabels
from markone.data.source import Label
from markone.errors import SettingsError
from markone.learning.learner import Learner
from markone.model.model import Model
from markone.model.rules import SOLVERS
from markone.model.settings import Settings


def check_growth(base: Model, settings: Settings) -> None:
    """Raise an error if training with these settings cannot start from a model."""
    rule, before, traits = settings.rule, base.settings.rule, settings.traits
    if traits.nears_an_optimum and rule in SOLVERS:
        raise SettingsError(
            "solver",
            f"is {settings.solver!r}, which needs all rows at once and cannot continue training from a model; train "
            "with all data together, or use the solver 'online'",
        )
    if traits.nears_an_optimum:
        raise SettingsError(
            "rule",
            f"is {rule!r}, which needs all rows at once and cannot continue training from a model; train with all "
            "data together, or use a rule that takes a step at each example, such as 'mira'",
        )
    if traits.online and base.scorer.weights is None:
        raise SettingsError("rule", f"is {rule!r}, which starts from weights, but a model of {before!r} has no weights")
    if not traits.online and rule != before:
        raise SettingsError("rule", f"is {rule!r}, which cannot continue training from a model of {before!r}")
    settings.spelled_out().check_start(base.settings)


def grown(base: Model, moved: NDArray[np.int64], fresh: Learner, classes: list[Label]) -> Learner:
    """Return a learner that starts from a model, with the features and classes of the untrained learner `fresh`.

    The model's feature i is now `moved[i]`, and `classes` contain the model's classes. Averaging starts again, so that
    new examples have the same influence as in a new training.
    """
    number = KnownLabels(classes).number
    places = [place for label in base.classes if (place := number(label)) is not None]
    return fresh.grown_from(base.scorer, moved, places)
