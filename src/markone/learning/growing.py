"""Growing: a learner that starts at the weights of a model, with room for new features and classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from markone.data.labels import KnownLabels
from markone.data.source import Label
from markone.errors import SettingsError
from markone.learning.learner import Learner
from markone.learning.linear import Linear
from markone.model.model import Model
from markone.model.scorer import LinearScorer
from markone.model.settings import Settings


def grown(base: Model, moved: NDArray[np.int64], features: int, classes: list[Label], settings: Settings) -> Learner:
    """A learner at the model's weights, where old feature i is now `moved[i]` of so many; its classes are among these.

    The average starts anew, so that new examples count as much as they would from the start.
    """
    if not settings.traits.online:
        raise SettingsError(
            "rule",
            f"is {settings.rule!r}, which cannot learn on from a model; learn from all data together, or learn on by a "
            "rule that takes a step at each example, such as 'mira'",
        )
    if not isinstance(base.scorer, LinearScorer):
        raise SettingsError(
            "rule", f"is {settings.rule!r}, which starts from weights, and the model was made by {base.settings.rule!r}"
        )
    linear = Linear(settings, features=features, classes=len(base.classes), dtype=np.float32)
    matrix, bias = base.weight_arrays()
    wider = np.zeros((features, matrix.shape[1]), matrix.dtype)
    wider[moved] = matrix
    linear.start_at(wider, bias)
    number = KnownLabels(classes).number
    places = [place for label in base.classes if (place := number(label)) is not None]
    linear.grow(features=features, classes=len(classes), places=places)
    return linear
