"""Checks of settings and of model files that taggers and parsers share."""

from __future__ import annotations

from markone.errors import SettingsError
from markone.model.file import history_of
from markone.model.history import History
from markone.model.scorer import need
from markone.storage.saved import Contents


def check_patience(holdout: float, patience: int | None) -> None:
    if patience is not None and holdout == 0:
        raise SettingsError("patience", "needs held-out sentences to measure accuracy on; set holdout, too")


def history_in(contents: Contents) -> History:
    """The training history in a file, after checks."""
    history = history_of({"history": contents.fact("history", dict)})
    passes = len(history)
    need([one.epoch for one in history] == list(range(1, passes + 1)), "the passes in its history are not in order")
    best = history.best_epoch
    need(best is None or 1 <= best <= passes, f"its best pass is number {best} of {passes}")
    for one in history:
        for accuracy in (one.holdout_last, one.holdout_averaged):
            need(accuracy is None or 0 <= accuracy <= 1, f"a pass in its history has an accuracy of {accuracy}")
    return history
