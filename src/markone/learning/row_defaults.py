"""What suits the rows: the settings of the rules `logistic` and `hinge` that nobody gave.

To its optimum, logistic regression needs nothing but a penalty, without which classes that can be separated have no
optimum. With λ = share · 2 / classes · (mean |x|²) / rows the penalty λ/2 ‖w‖² means the same on every scale: rows that
are a thousand times as long have weights a thousand times as small, and the same probabilities. It is that of one prior
for the scores, however many rows there are. Of more than two classes, 0.1 · (classes - 2) / rows keeps the bias from
deciding alone where there are few rows of each class: see `Balance` in logistic.py.

Online, AdaGrad's first step moves each weight of a row by eta, and so the row's score by eta · Σ|x|. With
eta = rate / (mean Σ|x|) that is `rate` for a typical row, on every scale. A constant rate knows no scale: 1 suits
rows of length 1, and is far too long for a table, in which the squared length of a row is the number of its columns.

A step of `hinge` moves the score of its row by eta · |x|²; with eta = pace / (mean |x|²) that is about `pace`.

All four numbers were chosen by cross-validation (docs/rules.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from markone import _core
from markone.data.blocks import Block
from markone.data.source import UNLABELLED
from markone.learning.lengths import Floats, lengths2, sizes
from markone.model.settings import Settings

MOST_VALUES = 2**26
"""Of all rows: of more, what a solver keeps beside them needs too much memory."""
MOST_PRODUCTS = 2**28
"""Values times weight vectors: with more, looking at all of them for each step takes too long."""
SHARE = 0.05
BALANCE = 0.1
RATE = 2.0
PACE = 0.5
TOL = 1e-4
"""Of the slope, for rows of length 1; the slopes of shorter ones are smaller."""


@dataclass(frozen=True)
class Measures:
    """What settings go by."""

    values: int
    """Of all rows."""
    importance: float
    """Of the rows to learn from together."""
    length2: float
    """The mean squared length of a row."""
    size: float
    """The mean sum of the sizes of a row's values."""


def measure(blocks: Iterable[Block]) -> Measures:
    """Looks at all rows once. Those without a label are not learned from."""
    values = 0
    parts: list[tuple[Floats, ...]] = []
    for block in blocks:
        values += block.rows.stored
        rows = np.flatnonzero(block.labels != UNLABELLED).astype(np.int64)
        counts = np.ones(len(rows)) if block.importance is None else block.importance[rows]
        parts.append((counts, counts * lengths2(block.matrix, rows), counts * sizes(block.matrix, rows)))
    sums = [_core.sum(np.concatenate(column)) for column in zip(*parts, strict=True)]
    importance, length2, size = sums or (0.0, 0.0, 0.0)
    return Measures(values, importance, length2 / (importance or 1.0), size / (importance or 1.0))


def suited(settings: Settings, blocks: Iterable[Block], columns: int) -> Settings:
    """The settings with nothing left open, for these rows and so many weight vectors."""
    how = settings.before_rows()
    if not how.traits.by_rows or not is_open(how):
        return how.spelled_out()
    found = measure(blocks)
    if "solver" not in how.traits.by_rows:
        return replace(how, eta=good(PACE, found.length2)).spelled_out()
    if how.solver is None:
        # Decided by the rows alone, and not by the memory that there is: that must not change the model.
        at_once = found.values <= MOST_VALUES and found.values * columns <= MOST_PRODUCTS
        how = replace(how, solver="newton" if at_once else "online").before_rows()
    if how.solver == "online" and how.eta is None and how.schedule is None:
        how = replace(how, schedule="adagrad", eta=good(RATE, found.size))
    if how.solver != "online":
        if how.strength is None and how.penalty == "l2":
            if how.balance is None and how.bias and columns > 2:
                how = replace(how, balance=good(BALANCE * (columns - 2), found.importance))
            how = replace(how, strength=good(SHARE * 2 / max(2, columns) * found.length2, found.importance))
        if how.tol is None and found.length2 < 1:
            how = replace(how, tol=good(TOL * math.sqrt(found.length2), 1.0))
    return how.spelled_out()


def is_open(how: Settings) -> bool:
    """Whether something depends on the rows."""
    if "solver" not in how.traits.by_rows:
        return how.eta is None
    if how.solver == "online":
        return how.eta is None and how.schedule is None
    return how.solver is None or how.tol is None or (how.strength is None and how.penalty == "l2")


def good(top: float, bottom: float) -> float | None:
    """The quotient in three digits, for those who read it; None, for what is usual, where there is none."""
    with np.errstate(all="ignore"):
        quotient = float(np.float64(top) / np.float64(bottom))
    return float(f"{quotient:.3g}") if 0 < quotient < math.inf else None
