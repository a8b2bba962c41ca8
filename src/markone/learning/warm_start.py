"""Growing: a learner that starts where a model is, with room for new features and classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from markone.data.labels import KnownLabels
from markone.data.source import Label
from markone.errors import SettingsError
from markone.learning.learner import Learner
from markone.learning.naive_bayes import Counting
from markone.learning.network import Multilayer
from markone.learning.online import Linear
from markone.model.model import Model
from markone.model.naive_bayes import NaiveBayes
from markone.model.network import Network
from markone.model.scorer import LinearScorer
from markone.model.settings import Settings


def check_growth(base: Model, settings: Settings) -> None:
    """That a rule can learn on from a model."""
    rule, before = settings.rule, base.settings.rule
    if settings.rule == "logistic" and settings.traits.nears_an_optimum:
        raise SettingsError(
            "solver",
            f"is {settings.solver!r}, which looks at all rows at once and cannot learn on from a model; learn from all "
            "data together, or learn on by the solver 'online'",
        )
    if settings.traits.nears_an_optimum:
        raise SettingsError(
            "rule",
            f"is {rule!r}, which looks at all rows at once and cannot learn on from a model; learn from all data "
            "together, or learn on by a rule that takes a step at each example, such as 'mira'",
        )
    if settings.traits.online and not isinstance(base.scorer, LinearScorer):
        raise SettingsError("rule", f"is {rule!r}, which starts from weights, and {before!r} made a model without any")
    if not settings.traits.online and rule != before:
        raise SettingsError("rule", f"is {rule!r}, which cannot learn on from what {before!r} has learned")
    if rule == "mlp" and settings.hidden != base.settings.hidden:
        raise SettingsError("hidden", f"is {settings.hidden}, and the model's layers are {base.settings.hidden}")
    if rule == "mlp" and settings.activation != base.settings.activation:
        raise SettingsError(
            "activation",
            f"is {settings.activation!r}, and the model has learned its weights for {base.settings.activation!r}; "
            "leave it out",
        )


def grown(base: Model, moved: NDArray[np.int64], fresh: Learner, classes: list[Label]) -> Learner:
    """A learner at the model, where old feature i is now `moved[i]`, and the model's classes are among these; `fresh`
    is one of all the features and classes that has learned nothing yet.

    An average starts anew, so that new examples count as much as they would from the start.
    """
    number = KnownLabels(classes).number
    places = [place for label in base.classes if (place := number(label)) is not None]
    settings, features = fresh.settings, fresh.features
    if isinstance(base.scorer, NaiveBayes):
        assert isinstance(fresh, Counting)  # the rule is the same
        fresh.start_from(base.scorer, moved, places)
        return fresh
    learner: Linear | Multilayer
    if isinstance(base.scorer, Network):
        learner = Multilayer(settings, features=features, classes=len(base.classes))
        learner.start_at(base.scorer.layers, moved)
    else:
        learner = Linear(settings, features=features, classes=len(base.classes), dtype=np.float32)
        matrix, bias = base.weight_arrays()
        wider = np.zeros((features, matrix.shape[1]), matrix.dtype)
        wider[moved] = matrix
        learner.start_at(wider, bias)
    learner.grow(features=features, classes=len(classes), places=places)
    return learner
