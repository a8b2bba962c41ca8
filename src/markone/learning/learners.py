"""Learners: which one each family has."""

from __future__ import annotations

from typing import Any

import numpy as np

from markone.learning.learner import Learner
from markone.learning.logistic import by_solver
from markone.learning.naive_bayes import EventKinds, counting_for
from markone.learning.network import Multilayer
from markone.learning.online import Linear
from markone.learning.svm import Dual
from markone.model.rules import FAMILIES, SOLVERS
from markone.model.settings import OnlineSettings, Settings

FAMILIES["online"].learner = Linear
FAMILIES["optimum"].learner = by_solver
FAMILIES["svm"].learner = Dual
FAMILIES["naive-bayes"].learner = counting_for
FAMILIES["network"].learner = Multilayer


def learner_for(
    settings: Settings, *, features: int, classes: int, dtype: Any = np.float64, events: EventKinds | None = None
) -> Learner:
    """A learner by the settings' rule for rows of so many features.

    A rule with several solvers, of which none was chosen, takes a step at each example. Rules that count are told what
    kinds of `events` the features are.
    """
    if settings.rule in SOLVERS and settings.solver is None:
        settings = OnlineSettings.of(settings)
    known: dict[str, Any] = {} if events is None else {"events": events}
    learner: Learner = settings.family.learner(settings, features=features, classes=classes, dtype=dtype, **known)
    return learner
