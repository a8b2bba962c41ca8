"""Checks that taggers and parsers have in common: of settings, and of what files say."""

from __future__ import annotations

import math

from markone.errors import SettingsError
from markone.model.file import history_of, need
from markone.model.history import History
from markone.storage.saved import Contents

LARGEST = 2**63 - 1
"""The largest number that the core can count to."""


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


def whole(name: str, value: object, least: int, most: int = LARGEST) -> None:
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return
    upto = f" and at most {most}" if most < LARGEST or (isinstance(value, int) and value > most) else ""
    raise SettingsError(name, f"must be a whole number of at least {least}{upto}, not {value!r:.80}")


def is_number(value: object) -> bool:
    """Whether it is finite, and a number that the core has."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def history_in(contents: Contents) -> History:
    """The history of a training that a file tells of."""
    history = history_of({"history": contents.fact("history", dict)})
    passes = len(history)
    need([one.epoch for one in history] == list(range(1, passes + 1)), "the passes of its history are not in order")
    best = history.best_epoch
    need(best is None or 1 <= best <= passes, f"its best pass is number {best} of {passes}")
    for one in history:
        for accuracy in (one.holdout_last, one.holdout_averaged):
            need(accuracy is None or 0 <= accuracy <= 1, f"a pass of its history has an accuracy of {accuracy}")
    return history
