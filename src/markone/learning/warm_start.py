"""Growing: a learner that starts where a model is, with room for new features and classes."""

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
    """That a rule can learn on from a model."""
    rule, before, traits = settings.rule, base.settings.rule, settings.traits
    if traits.nears_an_optimum and rule in SOLVERS:
        raise SettingsError(
            "solver",
            f"is {settings.solver!r}, which looks at all rows at once and cannot learn on from a model; learn from all "
            "data together, or learn on by the solver 'online'",
        )
    if traits.nears_an_optimum:
        raise SettingsError(
            "rule",
            f"is {rule!r}, which looks at all rows at once and cannot learn on from a model; learn from all data "
            "together, or learn on by a rule that takes a step at each example, such as 'mira'",
        )
    if traits.online and base.scorer.weights is None:
        raise SettingsError("rule", f"is {rule!r}, which starts from weights, and {before!r} made a model without any")
    if not traits.online and rule != before:
        raise SettingsError("rule", f"is {rule!r}, which cannot learn on from what {before!r} has learned")
    settings.spelled_out().check_start(base.settings)


def grown(base: Model, moved: NDArray[np.int64], fresh: Learner, classes: list[Label]) -> Learner:
    """A learner at the model, where old feature i is now `moved[i]`, and the model's classes are among these; `fresh`
    is one of all the features and classes that has learned nothing yet.

    An average starts anew, so that new examples count as much as they would from the start.
    """
    number = KnownLabels(classes).number
    places = [place for label in base.classes if (place := number(label)) is not None]
    return fresh.grown_from(base.scorer, moved, places)
