"""Growing: a learner that goes on from a model, with room for new features and classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from markone.data.source import Label
from markone.errors import DataError
from markone.learning.filling import identity
from markone.learning.linear import Linear
from markone.learning.passes import without_prefix
from markone.model.model import Model

OF_FEATURES = ("v", "u", "squares", "settled")
"""What a learner's state has a row of for each feature."""


def grown(base: Model, moved: NDArray[np.int64], features: int, classes: list[Label]) -> Linear:
    """The model's learner, where old feature i is now `moved[i]` of so many, and its classes are among these."""
    linear = Linear(base.settings, features=features, classes=len(base.classes), dtype=np.float32)

    def spread(rows: NDArray[np.generic]) -> NDArray[np.generic]:
        wider = np.zeros((features, *rows.shape[1:]), rows.dtype)
        wider[moved] = rows
        return wider

    if base.resume is None:
        matrix, bias = base.weight_arrays()
        linear.start_at(spread(matrix), bias)
    else:
        state = without_prefix("state.", base.resume.arrays)
        try:
            linear.set_state({name: spread(array) if name in OF_FEATURES else array for name, array in state.items()})
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise DataError(f"what the model has to learn on from does not fit together: {error}") from None
    number = {identity(label): i for i, label in enumerate(classes)}
    linear.grow(features=features, classes=len(classes), places=[number[identity(label)] for label in base.classes])
    return linear
