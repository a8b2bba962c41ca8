"""What the estimators share that can take gradient steps online: how their rates fall."""

from __future__ import annotations

from typing import Any

import numpy as np

from markone.errors import SettingsError

SCHEDULES = {"constant": "constant", "invscaling": "sqrt", "optimal": "inverse", "adagrad": "adagrad"}
USUAL_C = 1.0
ALPHA_IN_PARTS = 1e-4
"""For partial_fit, which does not know how many rows will come."""


def first_rate(strength: float) -> float:
    """Bottou's first step for the schedule that falls as 1/t: the size of a typical weight under the penalty."""
    return float(strength) ** -0.25 if isinstance(strength, int | float | np.number) and strength > 0 else 1.0


def strength_of(C: Any, alpha: float | None, importance: float | None) -> float:
    """`alpha` where it is given, else 1 / (C · the sum of the sample weights), where that sum is known."""
    if alpha is not None:
        return alpha
    if not isinstance(C, int | float | np.number) or not C > 0:
        raise SettingsError("C", f"must be a number greater than 0, not {C!r}")
    if importance is not None:
        return 1 / (float(C) * importance)
    if C != USUAL_C:
        raise SettingsError("C", "says little to partial_fit, which does not know how many rows will come; set alpha")
    return ALPHA_IN_PARTS
