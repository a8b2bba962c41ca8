"""Exact leave-one-out for the online rules, many times faster than one training per row.

The training without a row visits the other rows in the same order as the training with all rows. So leaving out a row
that never caused a step changes nothing, and leaving out another row changes nothing before its first step. The rest is
computed for many rows at once (core/leave_one_out). Each prediction is the same as with a training for its row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.data.blocks import Block
from markone.errors import DataError, SettingsError
from markone.experiments.contenders import ByRule
from markone.experiments.folds import FoldRows
from markone.experiments.shortcuts import LeftOutAnswers, Shortcut
from markone.learning.examples import epoch_of_order, shuffled
from markone.learning.online import Linear, check_repeats
from markone.learning.row_defaults import suited
from markone.model.settings import OnlineSettings, Settings
from markone.parallel import count_threads, in_order

ROWS_AT_ONCE = 256
"""The number of rows that are retrained together. It is large, so that going to their first steps costs little."""

Told = Callable[[int, int], None]
"""Called with the number of finished rows and of all rows."""


@dataclass(frozen=True, slots=True, repr=False)
class OnlineLeftOut(Brief):
    """The prediction for each row by a model of all other rows."""

    predicted: NDArray[np.int64]
    """The number of the class that is predicted for each row."""
    free: int
    """The number of rows that never caused a step, which need no training."""
    retrained: int
    """The number of rows for which training was repeated from their first step."""
    repeated: int
    """The number of rows so close to a tie that a separate training had to decide. The other counts include them."""


def why_not(settings: Settings) -> SettingsError | None:
    """Return an error if, with these settings, a row changes the training without a step; else None."""
    if not settings.traits.online:
        return SettingsError("rule", f"must be one that takes a step at each example, not {settings.rule!r}")
    settings = OnlineSettings.of(settings)
    if settings.penalty is not None:
        return SettingsError("penalty", "must be None: it shrinks the weights at each visit, even without a step")
    if settings.schedule != "constant":
        return SettingsError(
            "schedule", f"must be 'constant': with {settings.schedule!r}, every visit changes the learning rate"
        )
    if settings.holdout > 0:
        return SettingsError("holdout", "must be 0: leaving out a row changes which rows are held out")
    if settings.partitions > 1:
        return SettingsError("partitions", "must be 1: leaving out a row changes which rows are in which partition")
    if settings.patience is not None:
        return SettingsError("patience", "must be None: the loss of a row may decide when to stop")
    return None


def leave_one_out(
    block: Block, settings: Settings, classes: int, *, threads: int | None = None, progress: Told | None = None
) -> OnlineLeftOut:
    """Return the prediction for each row by a model of all other rows. `learn_without` is the slow way.

    >>> X = np.array([[3.0, 0.0], [2.0, 1.0], [0.0, 2.0], [1.0, 4.0], [4.0, 1.0]])
    >>> leave_one_out(Block.of(X, np.array([1, 1, 0, 0, 1])), Settings(), classes=2)
    OnlineLeftOut(predicted=array([1, 1, 0, 0, 1]), free=1, retrained=4, repeated=0)
    """
    problem = why_not(settings)
    if problem is not None:
        raise problem
    how = OnlineSettings.of(settings)
    workers, rows = count_threads(threads), len(block)
    if classes < 2:
        return OnlineLeftOut(np.zeros(rows, np.int64), rows, 0, 0)
    learner = learner_of(block, how, classes)
    block = learner.ready(block)
    if how.traits.repeats and block.importance is not None:
        check_repeats(block.importance)
    kind = _core.LeftOut32 if learner.dtype == np.float32 else _core.LeftOut64
    orders = orders_of(rows, how)
    try:
        run = kind(
            how.for_core(),
            learner.weights(averaged=False),
            block.rows,
            block.labels,
            block.importance,
            orders,
            how.traits.comes_to_rest,
        )
    except _core.NotFinite:
        raise DataError(
            "training diverged (the weights overflowed): the features are too large for the learning rate; scale them "
            "(to unit length, or to a standard deviation of 1) or lower the rate"
        ) from None

    predicted, certain = np.empty(rows, np.int64), np.empty(rows, bool)
    steps = run.first_steps()
    free, movers = np.flatnonzero(steps < 0), np.argsort(steps, kind="stable")[int((steps < 0).sum()) :]
    predicted[free], certain[free] = run.free(free)
    done = len(free)
    size = max(1, min(ROWS_AT_ONCE, -(-len(movers) // workers)))
    parts = [movers[start : start + size] for start in range(0, len(movers), size)]
    for part, answers in zip(parts, in_order(run.retrain, parts, workers), strict=True):
        predicted[part], certain[part] = answers
        done += len(part)
        if progress is not None:
            progress(done, rows)
    doubtful = np.flatnonzero(~certain)
    answer_of = WithoutRow(block, how, classes, orders)
    for row, answer in zip(doubtful, in_order(answer_of, doubtful.tolist(), workers), strict=True):
        predicted[row] = answer
    return OnlineLeftOut(predicted, len(free), len(movers), len(doubtful))


def learn_without(block: Block, settings: Settings, classes: int, row: int) -> int:
    """Return the prediction for one row by a model of all other rows, the slow way, for any online rule."""
    how = OnlineSettings.of(settings)
    block = learner_of(block, how, classes).ready(block)
    return WithoutRow(block, how, classes, orders_of(len(block), how))(row)


@dataclass(frozen=True, slots=True)
class WithoutRow:
    """Trains without a row, and predicts its class."""

    block: Block
    settings: OnlineSettings
    classes: int
    orders: NDArray[np.int64]

    def __call__(self, row: int) -> int:
        learner = learner_of(self.block, self.settings, self.classes)
        for order in self.orders:
            tally = learner.learn(self.block, order[order != row])
            if tally.updates == 0 and self.settings.traits.comes_to_rest:
                break
        return int(learner.predict(self.block.take(np.array([row])).rows)[0])


def learner_of(block: Block, settings: Settings, classes: int) -> Linear:
    dtype = np.float32 if isinstance(block.rows, _core.DenseRows32 | _core.SparseRows32) else np.float64
    return Linear(settings, features=block.rows.width, classes=classes, dtype=dtype)


def orders_of(rows: int, settings: OnlineSettings) -> NDArray[np.int64]:
    """Return the order of all rows for each pass."""
    given = np.arange(rows)
    if settings.order == "given":
        return np.tile(given, (settings.epochs, 1))
    numbers = [epoch_of_order(settings, epoch) for epoch in range(1, settings.epochs + 1)]
    return np.stack([shuffled(given, settings.seed, number) for number in numbers])


def answers(way: ByRule, rows: FoldRows, threads: int) -> LeftOutAnswers:
    """Return the predictions. Training is repeated only for rows that caused a step."""
    classes = len(rows.classes)
    settings = suited(way.settings, [rows.block], 1 if classes <= 2 else classes)
    found = leave_one_out(rows.block, settings, classes, threads=threads)
    remark = (
        f"{found.free:,} rows caused no step and needed no training. For each of the other {found.retrained:,} rows, "
        "training was repeated from its first step. The predictions are the same as with one training per row, in the "
        "order of the training with all rows."
    )
    if settings.eta != way.settings.spelled_out().eta:
        remark = f"{remark.removesuffix('.')}, and with its learning rate, {settings.eta:g}."
    return LeftOutAnswers(found.predicted, None, 1 + found.retrained, [remark])


SHORTCUT = Shortcut(answers=answers, why_not=why_not)
