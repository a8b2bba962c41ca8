"""Learners: which one a rule has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from markone.data.source import Label
from markone.features.event_kinds import Group
from markone.learning.learner import Learner
from markone.learning.online import Linear
from markone.model.settings import Settings


class Events(NamedTuple):
    """What a rule that counts needs to know beside the numbers of features and classes."""

    groups: list[Group]
    """What kind of events the features are."""
    labels: Sequence[Label]
    """The classes, which priors may be given for."""


def learner_for(
    settings: Settings, *, features: int, classes: int, dtype: Any = np.float64, events: Events | None = None
) -> Learner:
    """A learner by the settings' rule for rows of so many features; what it needs is imported when it is needed."""
    if settings.rule == "mlp":
        from markone.learning.network import Multilayer

        return Multilayer(settings, features=features, classes=classes)
    if settings.rule == "naive-bayes":
        from markone.learning.naive_bayes import Counting
        from markone.model.naive_bayes import priors_of

        groups, priors = None, None
        if events is not None:
            groups, priors = events.groups, priors_of(settings.priors, list(events.labels))
        return Counting(settings, features=features, classes=classes, dtype=dtype, groups=groups, priors=priors)
    if settings.rule == "logistic" and settings.solver in ("newton", "ascent"):
        from markone.learning.logistic import Ascent, Newton

        return (Newton if settings.solver == "newton" else Ascent)(
            settings, features=features, classes=classes, dtype=dtype
        )
    if settings.rule == "svm":
        from markone.learning.svm import Dual

        return Dual(settings, features=features, classes=classes, dtype=dtype)
    return Linear(settings, features=features, classes=classes, dtype=dtype)
