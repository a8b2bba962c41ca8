"""Checks of settings that taggers and parsers have in common."""

from __future__ import annotations

import math

from markone.errors import SettingsError


def check_passes(epochs: object, seed: object, holdout: float, patience: object) -> None:
    """How many passes are made, in which order, and when they stop."""
    whole("epochs", epochs, 1)
    whole("seed", seed, 0)
    if not is_number(holdout) or not 0 <= holdout < 1:
        raise SettingsError("holdout", f"must be at least 0 and less than 1, not {holdout!r}")
    if patience is not None:
        whole("patience", patience, 1)
        if holdout == 0:
            raise SettingsError("patience", "waits for held-out accuracy; set holdout, too")


def whole(name: str, value: object, least: int, most: int | None = None) -> None:
    good = isinstance(value, int) and not isinstance(value, bool) and value >= least
    if not good or (most is not None and isinstance(value, int) and value > most):
        upto = "" if most is None else f" and at most {most}"
        raise SettingsError(name, f"must be a whole number of at least {least}{upto}, not {value!r}")


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
