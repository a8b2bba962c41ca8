"""Exact leave-one-out of the online rules, many times faster than a training for each row.

What is measured is the run that visits the rows in the order of the run with all of them, and passes over one. Then a
row that never made a step changes nothing when it is left out, and any other nothing before its first step. What there
is left to do is done for many rows at once (core/leave_one_out). Every answer is that of a training for its row.
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
"""How many are retrained between two looks up: many enough that going to their first steps costs little."""

Told = Callable[[int, int], None]
"""Is told how many rows are done, and how many there are."""


@dataclass(frozen=True, slots=True, repr=False)
class OnlineLeftOut(Brief):
    """What is said of each row by what was learned from all others."""

    predicted: NDArray[np.int64]
    """The number of each row's class."""
    free: int
    """Rows that never made a step: nothing had to be learned without them."""
    retrained: int
    """Rows without which the run was made anew from their first step on."""
    repeated: int
    """Rows so near to a tie that a training of their own had to decide; they are among the others, too."""


def why_not(settings: Settings) -> SettingsError | None:
    """What there is in the settings that a row changes even where it makes no step, in a sentence; None for nothing."""
    if not settings.traits.online:
        return SettingsError("rule", f"must be one that takes a step at each example, not {settings.rule!r}")
    settings = OnlineSettings.of(settings)
    if settings.penalty is not None:
        return SettingsError("penalty", "must be None: it shrinks the weights at each visit, whether or not of a step")
    if settings.schedule != "constant":
        return SettingsError("schedule", f"must be 'constant': by {settings.schedule!r} every visit changes the rate")
    if settings.holdout > 0:
        return SettingsError("holdout", "must be 0: other rows would be held out where one is left out")
    if settings.patience is not None:
        return SettingsError("patience", "must be None: the loss of a row may decide when to stop")
    return None


def leave_one_out(
    block: Block, settings: Settings, classes: int, *, threads: int | None = None, progress: Told | None = None
) -> OnlineLeftOut:
    """What weights say of each row that were learned from all others; `learn_without` is the plain way.

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
            "the weights grew beyond all numbers: the features are too large for the learning rate; scale them (to "
            "unit length, or to a standard deviation of 1) or lower the rate"
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
    """What is said of one row by what was learned from all others: the plain way, for any online rule."""
    how = OnlineSettings.of(settings)
    block = learner_of(block, how, classes).ready(block)
    return WithoutRow(block, how, classes, orders_of(len(block), how))(row)


@dataclass(frozen=True, slots=True)
class WithoutRow:
    """A training without a row, and what it says of it."""

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
    """For each pass, the order of all rows."""
    given = np.arange(rows)
    if settings.order == "given":
        return np.tile(given, (settings.epochs, 1))
    numbers = [epoch_of_order(settings, epoch) for epoch in range(1, settings.epochs + 1)]
    return np.stack([shuffled(given, settings.seed, number) for number in numbers])


def answers(way: ByRule, rows: FoldRows, threads: int) -> LeftOutAnswers:
    """Only without a row that made a step is there anything to be learned anew."""
    classes = len(rows.classes)
    settings = suited(way.settings, [rows.block], 1 if classes <= 2 else classes)
    found = leave_one_out(rows.block, settings, classes, threads=threads)
    remark = (
        f"{found.free:,} rows made no step, and could be left out for nothing; without each of the other "
        f"{found.retrained:,} the run was made again from its first step on. The answers are those of a training for "
        "each row, in the order of the run with all."
    )
    if settings.eta != way.settings.spelled_out().eta:
        remark = f"{remark.removesuffix('.')}, and at its rate, {settings.eta:g}."
    return LeftOutAnswers(found.predicted, None, 1 + found.retrained, [remark])


SHORTCUT = Shortcut(answers=answers, why_not=why_not)
