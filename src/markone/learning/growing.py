"""Growing: a learner that starts at the weights of a model, with room for new features and classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from markone.data.labels import KnownLabels
from markone.data.source import Label
from markone.learning.linear import Linear
from markone.model.model import Model
from markone.model.settings import Settings


def grown(base: Model, moved: NDArray[np.int64], features: int, classes: list[Label], settings: Settings) -> Linear:
    """A learner at the model's weights, where old feature i is now `moved[i]` of so many; its classes are among these.

    The average starts anew, so that new examples count as much as they would from the start.
    """
    linear = Linear(settings, features=features, classes=len(base.classes), dtype=np.float32)
    matrix, bias = base.weight_arrays()
    wider = np.zeros((features, matrix.shape[1]), matrix.dtype)
    wider[moved] = matrix
    linear.start_at(wider, bias)
    number = KnownLabels(classes).number
    places = [place for label in base.classes if (place := number(label)) is not None]
    linear.grow(features=features, classes=len(classes), places=places)
    return linear
