"""The learner of each family."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.learning.learner import Learner
from markone.learning.logistic import by_solver
from markone.learning.naive_bayes import EventKinds, counting_for
from markone.learning.network import Multilayer
from markone.learning.online import Linear
from markone.learning.regression import Regression
from markone.learning.smoothness import NONE, Smoothness
from markone.learning.svm import Dual
from markone.model.rules import FAMILIES, SOLVERS
from markone.model.settings import OnlineSettings, OptimumSettings, Settings

FAMILIES["online"].learner = Linear
FAMILIES["optimum"].learner = by_solver
FAMILIES["svm"].learner = Dual
FAMILIES["naive-bayes"].learner = counting_for
FAMILIES["network"].learner = Multilayer
FAMILIES["regression"].learner = Regression


def learner_for(
    settings: Settings,
    *,
    features: int,
    classes: int,
    dtype: Any = np.float64,
    events: EventKinds | None = None,
    smoothness: Smoothness = NONE,
    numbers: NDArray[np.float64] | None = None,
) -> Learner:
    """Return a learner for the rule of the settings.

    A rule with several solvers uses 'online' if none was chosen. Rules that count need the kinds of `events` that the
    features are. Solvers that converge to an optimum keep curves smooth. Rules that predict numbers need the `numbers`
    that the labels of rows stand for.
    """
    if settings.rule in SOLVERS and settings.solver is None:
        settings = OnlineSettings.of(settings)
    known: dict[str, Any] = {} if events is None else {"events": events}
    if issubclass(settings.family.settings, OptimumSettings):
        known["smoothness"] = smoothness
    if settings.traits.predicts_numbers:
        known["numbers"] = numbers
    learner: Learner = settings.family.learner(settings, features=features, classes=classes, dtype=dtype, **known)
    return learner
