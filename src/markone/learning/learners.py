"""Learners: which one a rule has."""

from __future__ import annotations

from typing import Any

import numpy as np

from markone.learning.learner import Learner
from markone.learning.linear import Linear
from markone.model.settings import Settings


def learner_for(settings: Settings, *, features: int, classes: int, dtype: Any = np.float64) -> Learner:
    """A learner by the settings' rule for rows of so many features; imported when it is needed."""
    return Linear(settings, features=features, classes=classes, dtype=dtype)
