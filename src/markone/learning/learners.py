"""The learner of each family."""

from __future__ import annotations

from typing import Any

import numpy as np

from markone.learning.learner import Learner
from markone.learning.logistic import by_solver
from markone.learning.naive_bayes import EventKinds, counting_for
from markone.learning.network import Multilayer
from markone.learning.online import Linear
from markone.learning.smoothness import NONE, Smoothness
from markone.learning.svm import Dual
from markone.model.rules import FAMILIES, SOLVERS
from markone.model.settings import OnlineSettings, Settings

FAMILIES["online"].learner = Linear
FAMILIES["optimum"].learner = by_solver
FAMILIES["svm"].learner = Dual
FAMILIES["naive-bayes"].learner = counting_for
FAMILIES["network"].learner = Multilayer


def learner_for(
    settings: Settings,
    *,
    features: int,
    classes: int,
    dtype: Any = np.float64,
    events: EventKinds | None = None,
    smoothness: Smoothness = NONE,
) -> Learner:
    """Return a learner for the rule of the settings.

    A rule with several solvers uses 'online' if none was chosen. Rules that count need the kinds of `events` that the
    features are. Solvers that converge to an optimum keep curves smooth.
    """
    if settings.rule in SOLVERS and settings.solver is None:
        settings = OnlineSettings.of(settings)
    known: dict[str, Any] = {} if events is None else {"events": events}
    if settings.family is FAMILIES["optimum"]:
        known["smoothness"] = smoothness
    learner: Learner = settings.family.learner(settings, features=features, classes=classes, dtype=dtype, **known)
    return learner
