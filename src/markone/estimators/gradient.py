"""What the estimators share that can take gradient steps online: how their rates fall."""

from __future__ import annotations

import numpy as np

SCHEDULES = {"constant": "constant", "invscaling": "sqrt", "optimal": "inverse", "adagrad": "adagrad"}


def first_rate(strength: float) -> float:
    """Bottou's first step for the schedule that falls as 1/t: the size of a typical weight under the penalty."""
    return float(strength) ** -0.25 if isinstance(strength, int | float | np.number) and strength > 0 else 1.0
