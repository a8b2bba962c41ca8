"""Chooses the defaults of `logistic` and `hinge` that depend on the rows.

Logistic regression needs a penalty, because separable classes have no optimum without one. With
λ = share · 2 / classes · (mean |x|²) / rows, the penalty λ/2 ‖w‖² does not depend on the scale of the rows: if rows
are a thousand times as long, weights are a thousand times as small, and the probabilities stay the same. It corresponds
to one prior of the scores for any number of rows. With more than two classes, a balance of 0.1 · (classes - 2) / rows
prevents the bias from deciding alone if there are few rows of each class: see `Balance` in logistic.py.

Online, AdaGrad's first step changes each weight of a row by eta, and so the score of the row by eta · Σ|x|. With
eta = rate / (mean Σ|x|), this is `rate` for a typical row on every scale. A constant rate depends on the scale: 1 is
good for rows of length 1, but much too large for a table, where the squared length of a row is about the number of its
columns. With more than two classes and more features than rows, as texts have them, AdaGrad is worse: a row is a small
reason against each of the other classes, but AdaGrad makes steps of the same size from small reasons as from large
ones, so that a rare class is hardly ever predicted. The rate is then the same for all weights, eta = stride / (mean
|x|²).

A step of `hinge` changes the score of its row by eta · |x|²; with eta = pace / (mean |x|²), this is about `pace`.

`regression` has the penalty λ = ridge · (mean |x|²) / rows, for a target that is scaled to standard deviation 1.

All six constants were chosen by cross-validation (docs/rules.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from markone import _core
from markone.data.blocks import Block, Blocks, of_each
from markone.data.source import UNLABELLED
from markone.learning.lengths import Floats, lengths2, sizes
from markone.model.settings import Settings

MOST_VALUES = 2**26
"""The largest number of values in all rows for `newton`, which needs additional memory for them."""
MOST_PRODUCTS = 2**28
"""The largest number of values times weight vectors for `newton`, which uses all of them at each step."""
SHARE = 0.05
BALANCE = 0.1
RATE = 2.0
STRIDE = 5.0
PACE = 0.5
RIDGE = 0.1
TOL = 1e-4
"""The tolerance of the gradient for rows of length 1; shorter rows have smaller gradients."""
TOL_OF_NUMBERS = 1e-5
"""The same for `regression`."""


@dataclass(frozen=True)
class Measures:
    """The measurements of the rows from which defaults are computed."""

    values: int
    """The number of values in all rows."""
    importance: float
    """The sum of the importance of the training rows."""
    length2: float
    """The mean squared length of a row."""
    size: float
    """The mean sum of the absolute values of a row."""
    wide: bool
    """Whether there are more features than training rows."""


def measure(blocks: Blocks) -> Measures:
    """Measure all rows once. Rows without a label are not training rows."""
    values = width = 0
    parts: list[tuple[Floats, ...]] = []
    for stored, columns, measured in of_each(blocks, measure_block):
        values += stored
        width = max(width, columns)
        parts.append(measured)
    sums = [_core.sum(np.concatenate(column)) for column in zip(*parts, strict=True)]
    importance, length2, size = sums or (0.0, 0.0, 0.0)
    wide = width > sum(len(counts) for counts, *_ in parts)
    return Measures(values, importance, length2 / (importance or 1.0), size / (importance or 1.0), wide)


def measure_block(block: Block) -> tuple[int, int, tuple[Floats, ...]]:
    """Return the number of values in a block, its width, and for each training row its importance, its squared length
    and the sum of its absolute values, both times the importance."""
    rows = np.flatnonzero(block.labels != UNLABELLED).astype(np.int64)
    counts = np.ones(len(rows)) if block.importance is None else block.importance[rows]
    measured = counts, counts * lengths2(block.matrix, rows), counts * sizes(block.matrix, rows)
    return block.rows.stored, block.rows.width, measured


def suited(settings: Settings, blocks: Blocks, columns: int) -> Settings:
    """Return the settings with all defaults for these rows and this number of weight vectors."""
    settings = settings.before_rows()
    if not settings.traits.by_rows or not is_open(settings):
        return settings.spelled_out()
    rows = measure(blocks)
    if settings.traits.predicts_numbers:
        if settings.strength is None and settings.penalty == "l2":
            settings = replace(settings, strength=good(RIDGE * rows.length2, rows.importance))
        if settings.tol is None and rows.length2 < 1:
            settings = replace(settings, tol=good(TOL_OF_NUMBERS * math.sqrt(rows.length2), 1.0))
        return settings.spelled_out()
    if "solver" not in settings.traits.by_rows:
        return replace(settings, eta=good(PACE, rows.length2)).spelled_out()
    if settings.solver is None:
        # This depends on the rows alone: the available memory must not change the model.
        at_once = rows.values <= MOST_VALUES and rows.values * columns <= MOST_PRODUCTS
        settings = replace(settings, solver="newton" if at_once else "online").before_rows()
    if settings.solver == "online" and settings.eta is None and settings.schedule is None:
        if columns > 2 and rows.wide:
            settings = replace(settings, schedule="constant", eta=good(STRIDE, rows.length2))
        else:
            settings = replace(settings, schedule="adagrad", eta=good(RATE, rows.size))
    if settings.solver != "online":
        if settings.strength is None and settings.penalty == "l2":
            if settings.balance is None and settings.bias and columns > 2:
                settings = replace(settings, balance=good(BALANCE * (columns - 2), rows.importance))
            settings = replace(settings, strength=good(SHARE * 2 / max(2, columns) * rows.length2, rows.importance))
        if settings.tol is None and rows.length2 < 1:
            settings = replace(settings, tol=good(TOL * math.sqrt(rows.length2), 1.0))
    return settings.spelled_out()


def is_open(settings: Settings) -> bool:
    """Return whether a default depends on the rows."""
    if settings.traits.predicts_numbers:
        return settings.tol is None or (settings.strength is None and settings.penalty == "l2")
    if "solver" not in settings.traits.by_rows:
        return settings.eta is None
    if settings.solver == "online":
        return settings.eta is None and settings.schedule is None
    return settings.solver is None or settings.tol is None or (settings.strength is None and settings.penalty == "l2")


def good(top: float, bottom: float) -> float | None:
    """Return the quotient with three digits, which is easier to read; None, for the general default, if it is 0 or
    infinite."""
    with np.errstate(all="ignore"):
        quotient = float(np.float64(top) / np.float64(bottom))
    return float(f"{quotient:.3g}") if 0 < quotient < math.inf else None
