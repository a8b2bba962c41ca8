"""Exact leave-one-out for the support vector machine: the prediction for a row by the optimum without it.

Most rows need no training. The training with all rows gives primal weights u, multipliers a, and the weights w that the
multipliers define. They are also feasible for the problem without row i: u without changes, and a without a_i, which
defines v = w - a_i⊗x_i. So the duality gap of that problem is known without any training:

    G' = P'(u) - D'(v),   P'(u) = P(u) - C_i·loss_i(u),   D'(v) = D(a) - a_iy + a_i·wx_i - |a_i|²|x_i|²/2 [+ a_iy²/4C_i]

(a_iy is the multiplier of the right class, or the only one; the last term belongs to the squared loss). Since P' and D'
are strongly convex, with the curvature of |w|²/2 or more, the optimum w' is close to both:

    |w' - u|²/2 + |w' - v|²/2 ≤ G',   which is   |w' - (u + v)/2|² ≤ G' - |u - v|²/4.

So w' lies in a ball. If all weights in the ball predict the same class for the row, so does the optimum. If G = 0, and
for the hinge loss with two classes, this means that the margin without a row is between m - a|x|² and m. Rows that are
not support vectors need no training, nor do misclassified rows. For the others, training continues from v until their
ball is small enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, as_scipy
from markone.errors import DataError, SettingsError
from markone.experiments.contenders import ByRule
from markone.experiments.folds import FoldRows
from markone.experiments.shortcuts import LeftOutAnswers, Shortcut
from markone.learning.examples import BlockExamples
from markone.learning.passes import teach
from markone.learning.svm import Dual, Solver
from markone.model.rules import FAMILIES
from markone.model.settings import Settings, SvmSettings
from markone.parallel import count_threads, in_order

CLOSE = 1e-6
"""The largest relative duality gap of the training with all rows. The radius of the ball is the root of the gap."""
FIRST_LOOK, LOOKED_AGAIN = 1e-4, 0.25
"""The gap at which the ball of a single row is first checked, and the factor to the gap of the next check."""
UNIT = float(np.finfo(np.float64).eps)

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SvmLeftOut:
    """The prediction for each row by the optimum without it."""

    predicted: NDArray[np.int64]
    """The number of the class that is predicted for each row."""
    free: int
    """The number of rows whose prediction is proven by the training with all rows."""
    retrained: int
    """The number of rows that needed more training."""
    near: int
    """The number of retrained rows so close to a tie that the prediction is not proven. It comes from weights within
    the tolerance of the optimum."""


def why_not(settings: Settings) -> SettingsError | None:
    """Return an error if training with these settings does not reach the optimum; else None."""
    if settings.family is not FAMILIES["svm"]:
        return SettingsError("rule", f"must be 'svm', not {settings.rule!r}")
    if settings.holdout > 0:
        return SettingsError("holdout", "must be 0: leaving out a row changes which rows are held out")
    if settings.patience is not None:
        return SettingsError("patience", "must be None: training may stop before it is close to the optimum")
    return None


def leave_one_out(block: Block, settings: Settings, classes: int, *, threads: int | None = None) -> SvmLeftOut | None:
    """Return the prediction for each row by the optimum without it, or None if `epochs` are too few to get close.

    >>> X = np.array([[3.0, 0.0], [2.0, 1.0], [0.0, 2.0], [1.0, 4.0], [4.0, 1.0]])
    >>> found = leave_one_out(Block.of(X, np.array([1, 1, 0, 0, 1])), Settings(rule="svm"), classes=2)
    >>> found.predicted.tolist(), found.free + found.retrained, found.near
    ([1, 1, 0, 0, 1], 5, 0)
    """
    problem = why_not(settings)
    if problem is not None:
        raise problem
    how = SvmSettings.of(settings)
    machine = Machine(block, replace(how, tol=min(how.tol, CLOSE), partitions=1), classes)
    try:
        history = teach(machine.with_all, machine.block)
    except DataError:
        if not math.isinf(how.C):
            raise
        return None  # all rows together have no hard margin, but without one row they may have one
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
    if not machine.is_within(how.tol):
        return None
    said = machine.say_of_all(len(history))
    counts = np.ones(len(block), bool) if machine.block.importance is None else machine.block.importance > 0
    doubtful = np.flatnonzero(~said.proven & counts)  # rows with weight 0 change nothing
    answers = in_order(machine.say_without, doubtful.tolist(), count_threads(threads))
    near = 0
    for row, one in zip(doubtful, answers, strict=True):
        said.predicted[row] = one.predicted[0]
        near += not one.proven[0]
    return SvmLeftOut(said.predicted, len(block) - len(doubtful), len(doubtful), near)


class Said(NamedTuple):
    """The predictions for some rows by the centre of the ball, and whether all weights in the ball agree."""

    predicted: NDArray[np.int64]
    proven: NDArray[np.bool_]


class Cut(NamedTuple):
    """The parts of the problem with all rows that disappear with each row."""

    pulls: Array
    """The pull of a row at each column."""
    dual: Array
    """The part of the dual that is linear in the row's multiplier, or quadratic in this multiplier alone."""
    cost: Array
    """The row's part of the primal."""


class Machine:
    """A machine that is trained on all rows, with bounds of the optimum without one of them."""

    def __init__(self, block: Block, settings: SvmSettings, classes: int) -> None:
        dtype = np.float32 if isinstance(block.rows, _core.DenseRows32 | _core.SparseRows32) else np.float64
        self.settings, self.classes, self._dtype = settings, classes, dtype
        self.with_all = self._learner(block.rows.width)
        self.block = self.with_all.ready(block)
        self._rows = np.arange(len(block))
        self._x = as_scipy(self.block.matrix).astype(np.float64)
        squares = self._x * self._x if isinstance(self._x, np.ndarray) else self._x.multiply(self._x)
        self._length2 = np.asarray(squares.sum(axis=1)).ravel() + settings.bias
        self._longest = math.sqrt(self._length2.max())

    def _learner(self, features: int) -> Dual:
        return Dual(self.settings, features=features, classes=self.classes, dtype=self._dtype)

    def is_within(self, tol: float) -> bool:
        course = self.with_all.course()
        return course.done or (course.gap is not None and course.gap <= tol)

    def say_of_all(self, passes: int) -> Said:
        """Return the prediction for each row that follows from the training with all rows."""
        cuts = [self._cut(solver, number) for number, solver in enumerate(self.with_all.solvers)]
        return self._say(self.with_all, self._rows, cuts, passes)

    def say_without(self, row: int) -> Said:
        """Return the prediction for a row by the optimum without it.

        Training continues from the end of the training with all rows, until the prediction is proven, or the tolerance
        or the last pass is reached.
        """
        learner = self._learner(self.with_all.features)
        examples = BlockExamples(self.block, self.settings, rows=np.delete(self._rows, row))
        learner.begin(examples)
        learner.start_at(self._multipliers)
        one, nothing = np.array([row]), Cut(np.zeros((1, 1)), np.zeros(1), np.zeros(1))
        epoch, tol = 0, max(FIRST_LOOK, self.settings.tol)
        while True:
            learner.aim_at(tol)
            while not learner.course().done and epoch < self.settings.epochs:
                epoch += 1
                learner.make_pass(epoch)
            said = self._say(learner, one, [nothing] * len(learner.solvers), epoch)
            if said.proven[0]:
                return said
            if tol == self.settings.tol or epoch == self.settings.epochs:
                return Said(learner.predict(self.block.take(one).rows), said.proven)
            tol = max(LOOKED_AGAIN * tol, self.settings.tol)

    @cached_property
    def _multipliers(self) -> list[Array]:
        """The final multipliers of the training with all rows, for each solver."""
        found = []
        for solver in self.with_all.solvers:
            alpha = solver.core.alpha()
            found.append(np.zeros((len(self.block), alpha.shape[1])))
            found[-1][solver.core.rows()] = alpha
        return found

    def _cut(self, solver: Solver, number: int) -> Cut:
        core, rows = solver.core, len(self.block)
        pulls = np.zeros((rows, core.alpha().shape[1]))
        pulls[core.rows()] = solver.pulls()
        own, best = (self._scores(self._rows, core.weights(best)) for best in (False, True))
        labels = (self.block.labels == number) if self.with_all.one_versus_rest else self.block.labels
        if pulls.shape[1] == 1:
            lack = 1 - np.where(labels == 1, 1.0, -1.0) * best[:, 0]
            multiplier = np.abs(pulls[:, 0])
        else:
            right = best[self._rows, labels]
            best[self._rows, labels] = -np.inf
            lack, multiplier = 1 + best.max(axis=1) - right, pulls[self._rows, labels]
        C = core.C * (np.ones(rows) if self.block.importance is None else self.block.importance)
        dual = multiplier - (pulls * own).sum(axis=1)
        lack = np.maximum(lack, 0)
        if self.settings.loss == "squared":
            dual -= np.divide(multiplier**2, 4 * C, out=np.zeros(rows), where=C > 0)
            lack = lack**2
        # With a hard margin, the lack is only a rounding error.
        return Cut(pulls, dual, np.zeros(rows) if math.isinf(core.C) else C * lack)

    def _say(self, learner: Dual, which: NDArray[np.int64], cuts: list[Cut], passes: int) -> Said:
        balls = [self._ball(solver, which, cut, passes) for solver, cut in zip(learner.solvers, cuts, strict=True)]
        scores = np.hstack([middle for middle, _ in balls])
        reach = np.hstack([radius for _, radius in balls]) * np.sqrt(self._length2[which])[:, None]
        if scores.shape[1] == 1:
            proven = np.abs(scores[:, 0]) > reach[:, 0]
        else:
            # The difference of the weights of two classes varies by √2 times the radius of one ball.
            if len(balls) == 1:
                reach = np.broadcast_to(reach / math.sqrt(2), scores.shape)
            first = scores.argmax(axis=1)[:, None]
            least = np.take_along_axis(scores, first, 1) - np.take_along_axis(reach, first, 1)
            most = scores + reach
            np.put_along_axis(most, first, -np.inf, 1)
            proven = least[:, 0] > most.max(axis=1)
        # A row of zeros is a tie with all weights.
        return Said(_core.winners(scores, _core.Tie[self.settings.tie]), proven | (self._length2[which] == 0))

    def _ball(self, solver: Solver, which: NDArray[np.int64], cut: Cut, passes: int) -> tuple[Array, Array]:
        """Return the scores of some rows by the centre of the ball of their optimum, and its radius."""
        core, length2 = solver.core, self._length2[which]
        best, own = core.weights(True), core.weights(False)
        by_best, by_own = self._scores(which, best), self._scores(which, own)
        square = (cut.pulls**2).sum(axis=1) * length2
        gap = core.primal - cut.cost - (core.bound - cut.dual - square / 2)
        apart2 = ((best - own) ** 2).sum() + 2 * (cut.pulls * (by_best - by_own)).sum(axis=1) + square
        # The rounding error of weights that were summed up in many steps.
        pulled, length = float(np.abs(core.alpha()).sum()), math.sqrt(float((own * own).sum()))
        share = 4 * UNIT * (len(self.block) * (passes + 1) + self._x.shape[1])
        blur = share * (pulled * self._longest + length)
        gap = gap + share * (core.primal + pulled) + blur * (length + pulled * self._longest * share)
        radius = np.sqrt(np.maximum(gap - apart2 / 4, 0)) + blur
        return (by_best + by_own - cut.pulls * length2[:, None]) / 2, radius[:, None]

    def _scores(self, which: NDArray[np.int64], weights: Array) -> Array:
        x = self._x if len(which) == len(self._rows) else self._x[which]
        scores: Array = x @ weights[:-1] + weights[-1]
        return scores


def answers(way: ByRule, rows: FoldRows, threads: int) -> LeftOutAnswers | None:
    """Return the predictions. Training continues only for rows whose prediction is not proven."""
    found = leave_one_out(rows.block, way.settings, len(rows.classes), threads=threads)
    if found is None:
        return None
    remark = (
        f"For {found.free:,} rows, the optimum with all rows proves the prediction of the optimum without the row. For "
        f"each of the other {found.retrained:,} rows, training continued from the optimum with all rows. The "
        "predictions are those of the exact optimum, and a training that stops earlier may differ."
    )
    if found.near:
        remark += f" {found.near:,} predictions are not proven, because they are close to a tie."
    return LeftOutAnswers(found.predicted, None, 1 + found.retrained, [remark])


SHORTCUT = Shortcut(
    answers=answers, why_not=why_not, nowhere="the training with all rows does not get close to its optimum"
)
