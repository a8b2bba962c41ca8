"""Logistic regression by solvers that use all examples at each step and converge to the optimum.

They minimise the mean loss (cross-entropy) of the examples, weighted by importance, plus a penalty, strength · ½‖w‖² or
strength · ‖w‖₁, which does not include the bias, and a second penalty on the mean scores of the classes, balance ·
½‖mean score‖². Features of curves have a third penalty, on differences of neighbours (smoothness.py). The core computes
the loss and its derivatives (core/optimum/objective.h). A pass is one step of a solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Rows
from markone.errors import DataError
from markone.learning.examples import Examples, check_partitions
from markone.learning.learner import CommonLearner, Counted, Course, Followed, State
from markone.learning.partitions.objective import PartedObjective
from markone.learning.smoothness import NONE, Smoothness
from markone.learning.states import check_forms, need
from markone.model.scorer import LinearScorer
from markone.model.settings import OptimumSettings, Settings

Array = NDArray[np.float64]

Objective = _core.Objective | PartedObjective

MOST_PRODUCTS = 250
"""The largest number of products with the Hessian in one step."""
MOST_SWEEPS = 200
"""The largest number of visits of each weight in one step."""
LEFT_OVER = 0.1
"""A step stops when the gap of the quadratic approximation is this share of the gap; the true gap will be larger."""
FLAT_ENOUGH = 0.1
"""A line search stops when the slope is this share of the first slope."""
MOST_TRIES = 30
SUFFICIENT = 0.01
"""The share of the predicted decrease that a step with the penalty `l1` must achieve (Armijo)."""
POWER_STEPS = 30
MOST_PAIRS = 2**32
"""The largest number of weights for the penalty `l1`: the core numbers them with 32 bits."""
WIDEST_BLOCK = 1024
"""Up to this number of features, the preconditioner uses blocks of the Hessian."""
VALUES_FOR_EACH = 6
"""The blocks use all rows if rows have this number of values, half of the rows if they have twice as many ..."""
FEWEST_FOR_EACH = 2
"""... but at least this number of rows for each feature."""


LARGEST = 1e100
"""The largest weight or score in the saved state of a training."""
ROUNDING = 1e-3
"""The largest difference between saved scores and those of the weights, as a share of the largest score."""


class Descent(Protocol):
    """The current position of a solver, and its step."""

    mistakes: int
    loss: float
    """The mean loss, without the penalty."""
    objective: float
    gap: float
    """The largest component of the gradient."""

    def step(self, tol: float) -> None:
        """Make a step. It need not be more exact than for a gap of `tol`, at which the solver stops."""

    def weights(self) -> Array:
        """Return the weights, (features + 1) × stride; the last row is the bias."""

    def norm2(self) -> float: ...
    def state(self) -> State: ...

    def check(self, state: State) -> None:
        """Raise an error if a state of the right shape has impossible numbers."""

    def restore(self, state: State) -> None: ...


class BatchLearner(CommonLearner):
    """The learner of the solvers, without their steps."""

    settings: OptimumSettings
    classes: int

    def __init__(
        self,
        settings: Settings,
        *,
        features: int,
        classes: int,
        dtype: Any = np.float64,
        smoothness: Smoothness = NONE,
    ) -> None:
        self.settings = OptimumSettings.of(settings)
        self.smoothness = smoothness
        self.features = features
        self.classes = classes
        self.dtype = np.dtype(dtype)
        self.threads: int | None = None
        """How many threads compute the sums of partitions."""
        self._start: Array | None = None
        self._descent: Descent | None = None
        self._weights: _core.Weights32 | _core.Weights64 | None = None

    @property
    def time(self) -> float:
        """The number of steps at single examples, which is always 0."""
        return 0.0

    def with_settings(self, settings: Settings) -> BatchLearner:
        """Return a learner with other settings that starts from these weights."""
        fresh = by_solver(
            settings, features=self.features, classes=self.classes, dtype=self.dtype, smoothness=self.smoothness
        )
        weights = self.weights()
        fresh.start_at(weights.matrix(), weights.bias())
        return fresh

    def start_at(self, matrix: NDArray[Any], bias: NDArray[Any]) -> None:
        """Set the first weights (features × columns) and the first bias (columns)."""
        matrix, bias = np.asarray(matrix, np.float64), np.asarray(bias, np.float64)
        if matrix.shape != (self.features, self.columns) or bias.shape != (self.columns,):
            raise DataError(
                f"the first weights must have the shapes {(self.features, self.columns)} and {(self.columns,)}, "
                f"not {matrix.shape} and {bias.shape}"
            )
        if not (np.isfinite(matrix).all() and np.isfinite(bias).all()):
            raise DataError("the first weights contain NaN or infinity")
        self._start, self._descent, self._weights = np.vstack([matrix, bias]), None, None

    def grow(self, *, features: int, classes: int, places: list[int]) -> None:
        """Make room for new features and classes: class k moves to `places[k]`.

        If two classes shared a weight vector, each gets half of it, so that the difference of their scores stays the
        same.
        """
        before, old_classes = self.weights(), self.classes
        old = np.vstack([before.matrix(), before.bias()]).astype(np.float64)
        rows = [*range(self.features), features]
        self.features, self.classes = features, classes
        new = np.zeros((features + 1, self.columns))
        if classes == old_classes:
            new[rows] = old
        else:
            new[np.ix_(rows, places)] = old * [-0.5, 0.5] if old_classes == 2 else old
        self.start_at(new[:-1], new[-1])

    def ready(self, block: Block) -> Block:
        """Merge repeated features of a row, because curvatures depend on squares."""
        return block.without_repeats()

    def begin(self, examples: Examples) -> None:
        if self.classes < 2:
            raise DataError("logistic regression needs examples of at least two classes")
        block, chosen = examples.whole(in_files=True)
        block = block.without_repeats()
        objective: Objective
        if (partitions := self.settings.partitions) == 1:
            objective = _core.Objective(block.rows, block.labels, self.classes, block.importance, chosen)
        else:
            check_partitions(examples, partitions)
            objective = PartedObjective(block, self.classes, chosen, partitions=partitions, threads=self.threads)
        if objective.rows == 0:
            raise DataError("the weights of all examples are zero, so there is nothing to learn from")
        self._importance = objective.importance
        self._descent, self._weights = self._make_descent(objective, self._start), None

    def _make_descent(self, objective: Objective, start: Array | None) -> Descent:
        raise NotImplementedError

    def let_go(self) -> None:
        """Keep the weights, and release the examples."""
        weights = self.weights()
        self._start = np.vstack([weights.matrix(), weights.bias()]).astype(np.float64)
        self._descent = None

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Counted, int]]:
        """Make one step, which uses all examples."""
        descent = self._started()
        if skip:  # the step was made before the interruption
            return
        judged = Counted(descent.mistakes, examples.rows, descent.loss * self._importance, self._importance)
        if not self._step(descent):
            judged = judged._replace(updates=0)
        self._weights = None
        yield judged, examples.rows

    def _step(self, descent: Descent) -> bool:
        """Make a step, and return whether it changed any weight."""
        before = descent.state()
        descent.step(self._tol)
        return any((before[name] != now).any() for name, now in descent.state().items())

    def course(self) -> Course:
        descent = self._started()
        return Course(descent.objective, descent.gap, descent.gap <= self._tol)

    @property
    def _tol(self) -> float:
        return self.settings.tol

    def _started(self) -> Descent:
        assert self._descent is not None  # `begin` has set it
        return self._descent

    def weights(self, averaged: bool | None = None) -> _core.Weights32 | _core.Weights64:
        """Return the current weights, in the type of the rows."""
        if self._weights is None:
            if self._descent is not None:
                matrix = self._finished(self._descent.weights())
            else:
                matrix = np.zeros((self.features + 1, self.columns)) if self._start is None else self._start
            with np.errstate(over="ignore"):  # see norm2
                narrow = np.ascontiguousarray(matrix[:, : self.columns], self.dtype)
            kind = _core.Weights32 if self.dtype == np.float32 else _core.Weights64
            self._weights = kind(np.ascontiguousarray(narrow[:-1]), narrow[-1], self.classes)
        return self._weights

    def _finished(self, matrix: Array) -> Array:
        """Return the weights of a model from those of the solver."""
        return matrix

    @property
    def _solver_settings(self) -> OptimumSettings:
        """The settings for the solver."""
        return self.settings

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        return self.weights().scores(rows)

    def scorer(self) -> LinearScorer:
        return LinearScorer(self.weights(), self.settings.traits.has_probabilities)

    def visited_rows(self, examples: Followed, visits: int) -> tuple[NDArray[np.int64], int | None]:
        """Return all rows, because each step uses all of them."""
        block, rows = examples.whole()
        return np.arange(len(block)) if rows is None else rows, None

    def norm2(self) -> float:
        """Return the squared length of the weights; infinity if they overflow in the type of the rows."""
        norm2 = self._started().norm2()
        if not norm2**0.5 < float(np.finfo(self.dtype).max):
            weights = self.weights()
            if not (np.isfinite(weights.matrix()).all() and np.isfinite(weights.bias()).all()):
                return np.inf
        return norm2

    def get_state(self) -> State:
        return self._started().state()

    def check_state(self, state: State) -> None:
        check_forms(state, self.get_state())
        self._started().check(state)

    def set_state(self, state: State) -> None:
        self._started().restore(state)
        self._weights = None

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the weights without the examples."""
        weights = self.weights()
        return {
            "settings": self.settings,
            "dtype": self.dtype,
            "features": self.features,
            "classes": self.classes,
            "weights": np.vstack([weights.matrix(), weights.bias()]),
        }

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(  # type: ignore[misc]
            saved["settings"], features=saved["features"], classes=saved["classes"], dtype=saved["dtype"]
        )
        self.start_at(saved["weights"][:-1], saved["weights"][-1])


class Newton(BatchLearner):
    """Newton's method: each step goes approximately to the minimum of a quadratic approximation of the objective.

    With l2, conjugate gradients find the minimum (Lin, Weng & Keerthi 2008): in the space of the weights or, if there
    are fewer rows than features, in the space of the rows. With l1, coordinate descent finds it (Yuan, Ho & Lin 2012).
    """

    def _step(self, descent: Descent) -> bool:
        """Make a step, and return whether it improved the objective or the gap.

        In exact arithmetic every step does. A step that does not was lost in rounding errors, and so would be the next;
        it is undone.
        """
        before, objective, gap = descent.state(), descent.objective, descent.gap
        descent.step(self._tol)
        better = descent.objective < objective or descent.gap < gap
        if not better:
            descent.restore(before)
        return better

    def _make_descent(self, objective: Objective, start: Array | None) -> Descent:
        settings = self._solver_settings
        if isinstance(objective, PartedObjective):
            return NewtonInWeights(objective, settings, start, self.smoothness)
        if settings.penalty == "l1" and settings.strength:
            return NewtonL1(objective, settings, start)
        # Given weights need not be a sum of rows, and smooth ones are not.
        if objective.rows < objective.features and start is None and not self.smoothness:
            return NewtonInRows(objective, settings)
        return NewtonInWeights(objective, settings, start, self.smoothness)


class Ascent(BatchLearner):
    """Batch gradient ascent: w += eta Σ h [y − P(y|x, w)] x, minus eta Σ h times the gradient of the penalties.

    With `gradient="mean"`, the step is divided by Σ h. The default `eta` is 1 / L, the inverse of the largest curvature
    of the sum or of the mean. With it, both make the same steps, and no step can be too long.
    """

    def _make_descent(self, objective: Objective, start: Array | None) -> Descent:
        return GradientDescent(objective, self.settings, start, self.smoothness)


def by_solver(
    settings: Settings, *, features: int, classes: int, dtype: Any = np.float64, smoothness: Smoothness = NONE
) -> BatchLearner:
    """Return the learner for the solver of the settings."""
    solvers: dict[str, type[BatchLearner]] = {"newton": Newton, "ascent": Ascent}
    settings = OptimumSettings.of(settings)
    return solvers[settings.solver](settings, features=features, classes=classes, dtype=dtype, smoothness=smoothness)


class Balance:
    """A penalty on the mean score of each class: balance · ½‖m‖², where m is the mean of the rows' scores.

    A bias without a penalty fits the class frequencies of the training rows. If a class has few rows, their features
    already explain them, and new rows share few features with them, so the bias decides alone. Unlike the bias, the
    mean score does not change when all values of a feature are shifted.
    """

    def __init__(self, objective: Objective, settings: OptimumSettings) -> None:
        self.of = objective
        self.strength = settings.balance if settings.bias else 0.0
        self._shares = objective.shares()[:, None]
        self._none = np.zeros(objective.stride)

    def mean(self, scores: Array) -> Array:
        return self.of.sums(self._shares * scores) if self.strength else self._none

    def cost(self, scores: Array) -> float:
        mean = self.mean(scores)
        return self.strength / 2 * dot(mean, mean)

    def pull(self, scores: Array, pulls: Array) -> float:
        """Add the derivative of the penalty with respect to the scores to `pulls`. Return the product of both.

        For the scores of a direction, this is the product of that direction with the Hessian of the penalty.
        """
        if not self.strength:
            return 0.0
        mean = self.mean(scores)
        pulls += self._shares * (self.strength * mean)
        return self.strength * dot(mean, mean)

    def along(self, scores: Array, steps: Array) -> tuple[float, float]:
        """Return the slope and the curvature of the penalty along a line."""
        start, step = self.mean(scores), self.mean(steps)
        return self.strength * dot(start, step), self.strength * dot(step, step)


class Point:
    """A point in the space of the weights, with its loss, gradient, penalty and gap."""

    def __init__(
        self,
        objective: Objective,
        settings: OptimumSettings,
        start: Array | None = None,
        smoothness: Smoothness = NONE,
    ) -> None:
        self.of = objective
        self.strength = float(settings.strength)
        self.smooth = smoothness.shared_by(objective.importance)
        self.l1 = settings.penalty == "l1"
        self.has_bias = settings.bias
        self.balance = Balance(objective, settings)
        self.w = np.zeros((objective.features + 1, objective.stride))
        self.gradient = np.zeros_like(self.w)
        """The gradient of the loss and, if the penalty is smooth, of the penalty."""
        self.scores = np.zeros((objective.rows, objective.stride))
        self.pulls = np.zeros_like(self.scores)
        self.mean_row = self._mean_row()
        if start is not None:
            self.w[:, : start.shape[1]] = start
            self.w[-1] *= self.has_bias
        self._look()

    def _mean_row(self) -> Array | None:
        """Return the mean of all rows, with a 1 for the bias at the end; None if it is not needed."""
        if not self.balance.strength:
            return None
        self.pulls[:, 0] = self.of.shares()
        self.of.gather(self.pulls, self.gradient)
        return self.gradient[:, :1].copy()

    def _look(self) -> None:
        """Compute everything that depends on the weights."""
        w = self.w[:-1]
        self.of.score(self.w, self.scores)
        self.loss, self.mistakes = self.of.judge(self.scores, self.pulls)
        self.balance.pull(self.scores, self.pulls)
        self.of.gather(self.pulls, self.gradient)
        self._complete(self.gradient, self.w)
        penalty = self.strength * size_of(w) if self.l1 else self._bend(w, w) / 2
        self.objective = self.loss + penalty + self.balance.cost(self.scores)
        self.gap = float(self._slopes().max())

    def _product(self, v: Array, steps: Array, out: Array) -> float:
        """Set steps = the scores of v, and out = Hessian · v without the part of ½‖w‖² (see `_complete`).

        Return v · out.
        """
        bent = self.of.product(v, steps, out)
        if self.mean_row is not None:
            mean = self.balance.mean(steps)
            out += self.mean_row * (self.balance.strength * mean)
            bent += self.balance.strength * dot(mean, mean)
        return bent

    def _bend(self, a: Array, b: Array) -> float:
        """Return a · (Hessian of the quadratic penalties) · b, for two arrays of weights without the bias."""
        bent = self.strength * self.of.inner(a, b)
        return bent + self.of.inner(a, self.smooth.pull(b)) if self.smooth else bent

    def _complete(self, out: Array, v: Array) -> None:
        """Add the part of a smooth penalty to a gradient, or to a product with the Hessian."""
        if not self.l1:
            out[:-1] += self.strength * v[:-1]
            if self.smooth:
                out[:-1] += self.smooth.pull(v[:-1])
        if not self.has_bias:
            out[-1] = 0

    def _slopes(self) -> Array:
        """Return the absolute slope of the objective along each weight, in the direction in which it decreases.

        With l1, it is 0 if the weight is 0 and the objective increases in both directions.
        """
        slopes = abs(self.gradient)
        if self.l1:
            w, gradient = self.w[:-1], self.gradient[:-1]
            slopes[:-1] = np.where(
                w == 0, np.maximum(slopes[:-1] - self.strength, 0), abs(gradient + self.strength * np.sign(w))
            )
        return slopes

    def weights(self) -> Array:
        return self.w

    def norm2(self) -> float:
        return self.of.inner(self.w, self.w)

    def state(self) -> State:
        return {"w": self.w.copy()}

    def check(self, state: State) -> None:
        check_weights(self.of, state["w"])
        need(self.has_bias or not state["w"][-1].any(), "it has a bias, but the settings have none")

    def restore(self, state: State) -> None:
        self.w[:] = state["w"]
        self._look()


class GradientDescent(Point):
    """Gradient descent with a constant step size, `eta`, which is that of the mean of all rows."""

    def __init__(
        self,
        objective: Objective,
        settings: OptimumSettings,
        start: Array | None,
        smoothness: Smoothness = NONE,
    ) -> None:
        smoothness = NONE if settings.penalty == "l1" else smoothness
        super().__init__(objective, settings, None, smoothness)
        rows = objective.importance if settings.gradient == "sum" else 1.0
        self.eta = 1 / self._largest_curvature() if settings.eta is None else settings.eta * rows
        if start is not None:
            super().__init__(objective, settings, start, smoothness)

    def step(self, tol: float) -> None:
        self.w -= self.eta * self.gradient
        if self.l1:
            w, most = self.w[:-1], self.eta * self.strength
            w -= np.clip(w, -most, most)
        self._look()

    def _largest_curvature(self) -> float:
        """Return the largest curvature of the objective at any point, by the power method.

        With two classes, the curvature is largest if both are equally probable, as at the start. With more, two equally
        probable classes have a curvature of 1/2, and K equally probable classes, as at the start, of 1/K. The power
        method slightly underestimates it. That is safe, because only a step of twice the right length is too long.
        """
        columns = self.of.stride if self.of.stride == 1 else self.of.classes
        v, out, steps = np.zeros_like(self.w), np.zeros_like(self.w), np.zeros_like(self.scores)
        v[:, :columns] = np.random.default_rng(0).random((len(v), columns)) - 0.5
        if columns > 1:
            v[:, :columns] -= means_of(v, columns)
        largest = 0.0
        for _ in range(POWER_STEPS):
            if not self.has_bias:
                v[-1] = 0
            v /= np.sqrt(self.of.inner(v, v))
            largest = self._product(v, steps, out)
            if not largest > 0:  # all rows are 0
                break
            v, out = out, v
        largest *= columns / 2 if columns > 1 else 1
        return largest + (0 if self.l1 else self.strength + self.smooth.largest) or 1.0


class NewtonInWeights(Point):
    """Newton's method with the penalty ½‖w‖², in the space of the weights."""

    def __init__(
        self,
        objective: Objective,
        settings: OptimumSettings,
        start: Array | None,
        smoothness: Smoothness = NONE,
    ) -> None:
        super().__init__(objective, settings, start, smoothness)
        length = objective.stored() / objective.rows
        most = objective.rows // (FEWEST_FOR_EACH * (objective.features + 1))
        self.every = max(1, min(round(length / VALUES_FOR_EACH), most))

    def step(self, tol: float) -> None:
        of, w = self.of, self.w[:-1]
        direction, steps = self._solve(max(LEFT_OVER * self.gap, tol / 4))
        straight, square = self._bend(w, direction[:-1]), self._bend(direction[:-1], direction[:-1])
        slope, curvature = self.balance.along(self.scores, steps)
        line = Line(of, self.scores, steps, straight + slope, square + curvature)
        self.w += line.find_least(of.inner(self.gradient, direction)) * direction
        self._look()

    def _solve(self, near_enough: float) -> tuple[Array, Array]:
        """Minimise the quadratic approximation by conjugate gradients. Return the direction and its scores."""
        of, precondition = self.of, self._preconditioner()
        direction, steps = np.zeros_like(self.w), np.zeros_like(self.scores)
        out, some = np.zeros_like(self.w), np.zeros_like(self.scores)
        rest = -self.gradient
        z = precondition(rest)
        v, length = z.copy(), of.inner(rest, z)
        for _ in range(MOST_PRODUCTS):
            curvature = self._product(v, some, out) + self._bend(v[:-1], v[:-1])
            if not (curvature > 0 and length > 0):
                break
            self._complete(out, v)
            far = length / curvature
            direction += far * v
            steps += far * some
            rest -= far * out
            if abs(rest).max() <= near_enough:
                break
            z = precondition(rest)
            before, length = length, of.inner(rest, z)
            v *= length / before
            v += z
        return direction, steps

    def _preconditioner(self) -> Callable[[Array], Array]:
        """Return a function that divides by an approximate Hessian: its blocks if they are small, else its diagonal."""
        out = np.zeros_like(self.w)
        if not isinstance(self.of, PartedObjective) and self.of.features <= WIDEST_BLOCK:
            objective = self.of
            objective.factorise(self.every, self.strength, *self.smooth.lower_half)

            def divide(rest: Array) -> Array:
                objective.precondition(rest, out)
                return self._centred(out)

            return divide
        diagonal = np.zeros_like(self.w)
        self.of.curvatures(diagonal)
        diagonal[:-1] += self.strength
        if self.smooth:
            diagonal[:-1] += self.smooth.diagonal(len(diagonal) - 1)[:, None]
        diagonal[diagonal <= 0] = 1
        return lambda rest: self._centred(np.divide(rest, diagonal, out=out))

    def _centred(self, v: Array) -> Array:
        """Subtract the mean over classes, which does not change the softmax and must not grow."""
        if not self.has_bias:
            v[-1] = 0
        if self.of.stride > 1:
            v[:, : self.of.classes] -= means_of(v, self.of.classes)
        return v


class NewtonInRows:
    """Newton's method in the space of the rows, for more features than rows: weights are sums of rows, w = Σ c x.

    Every gradient, and so every direction of the conjugate gradients, is such a sum. Only the factors c of the rows are
    stored. Lengths are those of w, ‖w‖² = c'XX'c, and a product with XX' is one pass over the columns of the data.
    """

    def __init__(self, objective: _core.Objective, settings: OptimumSettings) -> None:
        self.of = objective
        self.strength = float(settings.strength)
        self.has_bias = settings.bias
        self.balance = Balance(objective, settings)
        objective.turn(True)
        self.c = np.zeros((objective.rows, objective.stride))
        self.bias = np.zeros(objective.stride)
        self.scores, self.gradient, self.image = (np.zeros_like(self.c) for _ in range(3))
        self._look()

    def _look(self) -> None:
        """Compute everything that depends on the weights.

        The gradient is stored as factors of rows, and `image` are the scores of the gradient as weights.
        """
        self.loss, self.mistakes = self.of.judge(self.scores, self.gradient)
        self.balance.pull(self.scores, self.gradient)
        self.bias_slope = self._sums(self.gradient)
        self.gradient += self.strength * self.c
        self.gap = max(self.of.kernel(self.gradient, self.image), float(abs(self.bias_slope).max()))
        norm2 = self.of.inner(self.c, self.scores - self.bias)
        self.objective = self.loss + self.strength / 2 * norm2 + self.balance.cost(self.scores)

    def _sums(self, pulls: Array) -> Array:
        return self.of.sums(pulls) if self.has_bias else np.zeros_like(self.bias)

    def step(self, tol: float) -> None:
        of = self.of
        direction, bias, steps = self._solve(max(LEFT_OVER * self.gap, tol / 4))
        image = steps - bias
        straight, square = of.inner(self.c, image), of.inner(direction, image)
        slope, curvature = self.balance.along(self.scores, steps)
        line = Line(of, self.scores, steps, self.strength * straight + slope, self.strength * square + curvature)
        far = line.find_least(of.inner(self.gradient, image) + dot(self.bias_slope, bias))
        self.c += far * direction
        self.bias += far * bias
        self.scores += far * steps
        self._look()

    def _solve(self, near_enough: float) -> tuple[Array, Array, Array]:
        """Like `NewtonInWeights._solve`. Return the direction in factors of rows, that of the bias, and its scores."""
        of = self.of
        direction, bias, steps = np.zeros_like(self.c), np.zeros_like(self.bias), np.zeros_like(self.c)
        rest, rest_image, rest_bias = -self.gradient, -self.image, -self.bias_slope
        v, v_image, v_bias = rest.copy(), rest_image.copy(), rest_bias.copy()
        out = np.zeros_like(self.c)
        length = of.inner(rest, rest_image) + dot(rest_bias, rest_bias)
        for _ in range(MOST_PRODUCTS):
            some = v_image + v_bias
            curvature = of.bend(some, out) + self.balance.pull(some, out) + self.strength * of.inner(v, v_image)
            if not (curvature > 0 and length > 0):
                break
            far = length / curvature
            direction += far * v
            bias += far * v_bias
            steps += far * some
            rest_bias -= far * self._sums(out)
            out += self.strength * v
            rest -= far * out
            largest = of.kernel(rest, rest_image)
            if max(largest, float(abs(rest_bias).max())) <= near_enough:
                break
            before, length = length, of.inner(rest, rest_image) + dot(rest_bias, rest_bias)
            for old, new in ((v, rest), (v_image, rest_image), (v_bias, rest_bias)):
                old *= length / before
                old += new
        return direction, bias, steps

    def weights(self) -> Array:
        w = np.zeros((self.of.features + 1, self.of.stride))
        self.of.combine(self.c, w)
        w[-1] = self.bias
        return w

    def norm2(self) -> float:
        return max(0.0, self.of.inner(self.c, self.scores - self.bias)) + dot(self.bias, self.bias)

    def state(self) -> State:
        return {"c": self.c.copy(), "bias": self.bias.copy(), "scores": self.scores.copy()}

    def check(self, state: State) -> None:
        for array in state.values():
            check_weights(self.of, np.atleast_2d(array))
        need(self.has_bias or not state["bias"].any(), "it has a bias, but the settings have none")
        scores = np.zeros_like(self.scores)
        self.of.kernel(state["c"], scores)
        scores += state["bias"]
        away = abs(scores - state["scores"]).max(initial=0)
        fits = bool(away <= ROUNDING * max(1.0, abs(scores).max(initial=0)))
        need(fits, "its scores do not match its weights")

    def restore(self, state: State) -> None:
        self.c[:], self.bias[:], self.scores[:] = state["c"], state["bias"], state["scores"]
        self._look()


class NewtonL1(Point):
    """Newton's method with the penalty ‖w‖₁, which is not smooth and makes many weights exactly 0."""

    of: _core.Objective

    def __init__(self, objective: _core.Objective, settings: OptimumSettings, start: Array | None) -> None:
        if (objective.features + 1) * objective.stride > MOST_PAIRS:
            raise DataError(
                f"{objective.features:,} features and {objective.classes:,} classes have too many weights for the "
                "penalty 'l1'; use fewer features, or the penalty 'l2'"
            )
        objective.turn(False)
        super().__init__(objective, settings, start)

    def step(self, tol: float) -> None:
        target, steps = self._solve(max(LEFT_OVER * self.gap, tol / 4))
        direction = target - self.w
        before = size_of(self.w[:-1])
        promise = self.of.inner(self.gradient, direction)
        promise += self.strength * (size_of(target[:-1]) - before)
        far = 1.0
        for _ in range(MOST_TRIES):
            there = target if far == 1 else self.w + far * direction
            loss, _, _ = self.of.along(self.scores, steps, far)
            if loss + self.strength * size_of(there[:-1]) <= self.objective + SUFFICIENT * far * promise:
                self.w[:] = there
                break
            far /= 2
        self._look()

    def _solve(self, near_enough: float) -> tuple[Array, Array]:
        """Find the minimum of the quadratic approximation plus ‖w‖₁ by coordinate descent. Return it, and the scores of
        the step to it.

        Weights that are 0, and would change only if the gradient changed much, are not visited.
        """
        of = self.of
        visited = (self.w != 0) | (abs(self.gradient) > self.strength - min(self.gap, self.strength / 2))
        visited[-1, : columns_of(of)] = self.has_bias
        pairs = np.flatnonzero(visited).astype(np.uint32)
        diagonal = of.diagonal(pairs)
        target, steps, means = self.w.copy(), np.zeros_like(self.scores), np.zeros(of.rows)
        few = np.ones(len(pairs), bool)
        for _ in range(MOST_SWEEPS):
            worst = of.sweep(pairs[few], self.gradient, diagonal[few], target, steps, means, self.strength)
            if worst > near_enough:
                # Most of the work is on the weights that are not 0. When these have converged, all are visited again.
                few = few & (target.reshape(-1)[pairs] != 0) if few.all() else few
            elif few.all():
                break
            else:
                few = np.ones(len(pairs), bool)
        return target, steps


class Line:
    """The objective along a line. It is convex, and cheap to compute from the scores."""

    def __init__(self, of: Objective, scores: Array, steps: Array, straight: float, square: float) -> None:
        self.of = of
        self.scores = scores
        self.steps = steps
        self.straight = straight
        self.square = square

    def find_least(self, slope: float) -> float:
        """Return the approximate position of the minimum, for this slope at 0; 0 if the objective does not decrease."""
        if not slope < 0:
            return 0.0
        t, low, high = 1.0, 0.0, np.inf
        for _ in range(MOST_TRIES):
            _, first, second = self.of.along(self.scores, self.steps, t)
            first, second = first + self.straight + self.square * t, second + self.square
            if abs(first) <= -FLAT_ENOUGH * slope:
                return t
            low, high = (t, high) if first < 0 else (low, t)
            # A step of Newton's method, which must stay in the known interval and not go far beyond tried values.
            t = t - first / second if second > 0 else np.inf
            if not low < t < high or t > 4 * low > 0:
                t = 4 * low if high == np.inf else (low + high) / 2
        return low


def check_weights(objective: Objective, w: Array) -> None:
    """Raise an error if weights from a file are so large that squares overflow, or if the padding is not 0."""
    need(bool(abs(w).max(initial=0) <= LARGEST), "it has weights that are too large")
    need(not w[:, columns_of(objective) :].any(), "it has weights for classes that do not exist")


def dot(a: Array, b: Array) -> float:
    """Return the product of two short vectors, with the same order of additions on every machine."""
    return float(sum((a * b).tolist()))


def size_of(w: Array) -> float:
    """Return ‖w‖₁."""
    return _core.sum(abs(w).ravel())


def means_of(v: Array, columns: int) -> Array:
    """Return the mean of each row's first columns; the others are padding with 0."""
    return _core.sum_rows(v)[:, None] / columns


def columns_of(objective: Objective) -> int:
    return 1 if objective.stride == 1 else objective.classes
