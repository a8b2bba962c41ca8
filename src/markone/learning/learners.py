"""The learner of each family, and learners for given rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Blocks
from markone.data.source import Label
from markone.errors import SettingsError
from markone.features.map import FeatureMap
from markone.learning.learner import Learner
from markone.learning.logistic import by_solver
from markone.learning.naive_bayes import EventKinds, counting_for
from markone.learning.network import Multilayer
from markone.learning.online import Linear
from markone.learning.regression import Regression
from markone.learning.row_defaults import suited
from markone.learning.several_labels import Sets, learner_of_sets
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
    sets: Sets | None = None,
    names: list[Label] | None = None,
) -> Learner:
    """Return a learner for the rule of the settings.

    A rule with several solvers uses 'online' if none was chosen. Rules that count need the kinds of `events` that the
    features are. Solvers that converge to an optimum keep curves smooth. Rules that predict numbers need the `numbers`
    that the labels of rows stand for. If a row can have several labels, `sets` says which; the labels of rows are then
    numbers of sets, and `names` are the labels.
    """
    if settings.rule in SOLVERS and settings.solver is None:
        settings = OnlineSettings.of(settings)
    known: dict[str, Any] = {} if events is None else {"events": events}
    if issubclass(settings.family.settings, OptimumSettings):
        known["smoothness"] = smoothness
    if settings.traits.predicts_numbers:
        known["numbers"] = numbers
    if sets is not None:
        classes = 2

    def made() -> Learner:
        learner: Learner = settings.family.learner(settings, features=features, classes=classes, dtype=dtype, **known)
        return learner

    return made() if sets is None else learner_of_sets(settings, sets, names or [*range(len(sets))], made)


def new_learner(
    settings: Settings,
    features: FeatureMap,
    classes: list[Label],
    blocks: Blocks = (),
    numbers: NDArray[np.float64] | None = None,
    sets: Sets | None = None,
) -> Learner:
    """Return a learner with all defaults, some of which depend on the training rows."""
    settings = suited(settings, blocks, 1 if len(classes) <= 2 or sets is not None else len(classes))
    events = None
    if settings.traits.counts:
        if settings.likelihood is not None and not features.may_be_counted_otherwise():
            raise SettingsError(
                "likelihood",
                "is for texts, pixels and rows of features, but there are none; numbers and categories have their own "
                "likelihoods, so leave it out",
            )
        events = EventKinds(features.groups(settings.likelihood), classes)
    smoothness = Smoothness.of(features.neighbours())
    return learner_for(
        settings,
        features=features.width,
        classes=len(classes),
        dtype=np.float32,
        events=events,
        smoothness=smoothness,
        numbers=numbers,
        sets=sets,
        names=classes,
    )
