"""Logistic regression to its optimum: solvers that look at all examples at once.

What is made small is the mean loss (cross-entropy) of the examples, each counted by its importance, plus a penalty,
strength · ½‖w‖² or strength · ‖w‖₁, which leaves the bias free, and a second penalty on the mean scores of the classes,
balance · ½‖mean score‖². The core computes the loss and its derivatives (core/optimum/objective.h); this module
uses them. A pass is one step of a solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Rows
from markone.errors import DataError
from markone.learning.examples import Examples
from markone.learning.learner import CommonLearner, Counted, Course, Followed, State
from markone.learning.states import check_forms, need
from markone.model.scorer import LinearScorer
from markone.model.settings import OptimumSettings, Settings

Array = NDArray[np.float64]

MOST_PRODUCTS = 250
"""Products with the Hessian for one step, at most."""
MOST_SWEEPS = 200
"""Visits of each weight for one step, at most."""
LEFT_OVER = 0.1
"""The part of the gap that may be left by a step if the objective were a parabola: what it is not leaves more."""
FLAT_ENOUGH = 0.1
"""The part of its first slope that a line may have where it is said to be least."""
MOST_TRIES = 30
SUFFICIENT = 0.01
"""The part of the fall that the slope promises which a step with corners must bring (Armijo)."""
POWER_STEPS = 30
MOST_PAIRS = 2**32
"""The core numbers the weights by 32 bits."""
WIDEST_BLOCK = 1024
"""Up to so many features the Hessian's blocks are written out, to precondition with."""
VALUES_FOR_EACH = 6
"""From every row of those whose length is this, from half of those that are twice as long ..."""
FEWEST_FOR_EACH = 2
"""... but from so many rows for each feature at least."""


LARGEST = 1e100
"""The largest weights and scores that a file may have to go on from."""
ROUNDING = 1e-3
"""How far scores that were added up step by step may be from those of the weights, as a share of the largest."""


class Descent(Protocol):
    """Where a solver is, and how it makes a step."""

    mistakes: int
    loss: float
    """The mean loss, without the penalty."""
    objective: float
    gap: float
    """The largest slope."""

    def step(self, tol: float) -> None:
        """Goes on. A gap of `tol` will be near enough, so that nothing need be done more exactly than that."""

    def weights(self) -> Array:
        """(features + 1) × stride; the last row is the bias."""

    def norm2(self) -> float: ...
    def state(self) -> State: ...

    def check(self, state: State) -> None:
        """That a state of the right form, which may come from anywhere, has numbers that it can have."""

    def restore(self, state: State) -> None: ...


class BatchLearner(CommonLearner):
    """What the solvers share: all of a learner but its steps."""

    settings: OptimumSettings
    classes: int

    def __init__(self, settings: Settings, *, features: int, classes: int, dtype: Any = np.float64) -> None:
        self.settings = OptimumSettings.of(settings)
        self.features = features
        self.classes = classes
        self.dtype = np.dtype(dtype)
        self._start: Array | None = None
        self._way: Descent | None = None
        self._weights: _core.Weights32 | _core.Weights64 | None = None

    @property
    def time(self) -> float:
        """The examples that it has seen one by one: none."""
        return 0.0

    def with_settings(self, settings: Settings) -> BatchLearner:
        """A learner by other settings, which starts from these weights."""
        fresh = by_solver(settings, features=self.features, classes=self.classes, dtype=self.dtype)
        weights = self.weights()
        fresh.start_at(weights.matrix(), weights.bias())
        return fresh

    def start_at(self, matrix: NDArray[Any], bias: NDArray[Any]) -> None:
        """Puts the weights (features × columns) and the bias (columns) where learning is to start."""
        matrix, bias = np.asarray(matrix, np.float64), np.asarray(bias, np.float64)
        if matrix.shape != (self.features, self.columns) or bias.shape != (self.columns,):
            raise DataError(
                f"the first weights must have the shapes {(self.features, self.columns)} and {(self.columns,)}, "
                f"not {matrix.shape} and {bias.shape}"
            )
        if not (np.isfinite(matrix).all() and np.isfinite(bias).all()):
            raise DataError("the first weights contain NaN or infinity")
        self._start, self._way, self._weights = np.vstack([matrix, bias]), None, None

    def grow(self, *, features: int, classes: int, places: list[int]) -> None:
        """Makes room for new features and classes; `places[k]` is where class k goes.

        When two classes that shared a vector part, each takes half of it, so that their scores differ as before.
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
        """In which each row names a feature once: curvatures go by squares."""
        return block.without_repeats()

    def begin(self, examples: Examples) -> None:
        if self.classes < 2:
            raise DataError("logistic regression needs examples of at least two classes")
        block, chosen = examples.whole(in_files=True)
        block = block.without_repeats()
        objective = _core.Objective(block.rows, block.labels, self.classes, block.importance, chosen)
        if objective.rows == 0:
            raise DataError("the weights of all examples are zero: there is nothing to learn from")
        self._importance = objective.importance
        self._way, self._weights = self._find_way(objective, self._start), None

    def _find_way(self, objective: _core.Objective, start: Array | None) -> Descent:
        raise NotImplementedError

    def let_go(self) -> None:
        """Keeps the weights, and nothing of the examples."""
        weights = self.weights()
        self._start = np.vstack([weights.matrix(), weights.bias()]).astype(np.float64)
        self._way = None

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Counted, int]]:
        """One step."""
        way = self._on_its_way()
        if skip:  # the step was made
            return
        judged = Counted(way.mistakes, examples.rows, way.loss * self._importance, self._importance)
        if not self._step(way):
            judged = judged._replace(updates=0)
        self._weights = None
        yield judged, examples.rows

    def _step(self, way: Descent) -> bool:
        """Whether it has moved any weight."""
        before = way.state()
        way.step(self._tol)
        return any((before[name] != now).any() for name, now in way.state().items())

    def course(self) -> Course:
        way = self._on_its_way()
        return Course(way.objective, way.gap, way.gap <= self._tol)

    @property
    def _tol(self) -> float:
        return self.settings.tol

    def _on_its_way(self) -> Descent:
        assert self._way is not None  # it has begun
        return self._way

    def weights(self, averaged: bool | None = None) -> _core.Weights32 | _core.Weights64:
        """As they are now, in the type of the rows."""
        if self._weights is None:
            if self._way is not None:
                matrix = self._way.weights()
            else:
                matrix = np.zeros((self.features + 1, self.columns)) if self._start is None else self._start
            with np.errstate(over="ignore"):  # see norm2
                narrow = np.ascontiguousarray(matrix[:, : self.columns], self.dtype)
            kind = _core.Weights32 if self.dtype == np.float32 else _core.Weights64
            self._weights = kind(np.ascontiguousarray(narrow[:-1]), narrow[-1], self.classes)
        return self._weights

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        return self.weights().scores(rows)

    def scorer(self) -> LinearScorer:
        return LinearScorer(self.weights(), has_probabilities=True)

    def visited_rows(self, examples: Followed, visits: int) -> tuple[NDArray[np.int64], int | None]:
        """All rows, at each step."""
        block, rows = examples.whole()
        return np.arange(len(block)) if rows is None else rows, None

    def norm2(self) -> float:
        """Infinite where the weights are too large for the type of the rows, in which they are kept."""
        norm2 = self._on_its_way().norm2()
        if not norm2**0.5 < float(np.finfo(self.dtype).max):
            weights = self.weights()
            if not (np.isfinite(weights.matrix()).all() and np.isfinite(weights.bias()).all()):
                return np.inf
        return norm2

    def get_state(self) -> State:
        return self._on_its_way().state()

    def check_state(self, state: State) -> None:
        check_forms(state, self.get_state())
        self._on_its_way().check(state)

    def set_state(self, state: State) -> None:
        self._on_its_way().restore(state)
        self._weights = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy has the weights, and none of the examples."""
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
    """Newton's method: each step goes to where a parabola that fits the objective here is least, or nearly.

    With l2 that is found by conjugate gradients (Lin, Weng & Keerthi 2008), of the weights or, where there are fewer
    rows than features, of rows. With l1 it is found by coordinate descent (Yuan, Ho & Lin 2012).
    """

    def _step(self, way: Descent) -> bool:
        """Every step goes down. One that ends neither lower nor where it is less steep was lost in rounding, as would
        be the next; it is taken back."""
        before, objective, gap = way.state(), way.objective, way.gap
        way.step(self._tol)
        better = way.objective < objective or way.gap < gap
        if not better:
            way.restore(before)
        return better

    def _find_way(self, objective: _core.Objective, start: Array | None) -> Descent:
        if self.settings.penalty == "l1" and self.settings.strength:
            return Corners(objective, self.settings, start)
        if objective.rows < objective.features and start is None:  # other weights than 0 may be no sum of rows
            return Span(objective, self.settings)
        return Parabola(objective, self.settings, start)


class Ascent(BatchLearner):
    """The lectures' batch gradient: w += eta Σ h [y − P(y|x, w)] x / Σ h, less what the penalty takes.

    Without an `eta` it is 1 / L, the inverse of the largest curvature, with which no step can go too far.
    """

    def _find_way(self, objective: _core.Objective, start: Array | None) -> Descent:
        return Straight(objective, self.settings, start)


def by_solver(settings: Settings, *, features: int, classes: int, dtype: Any = np.float64) -> BatchLearner:
    """The learner of the settings' solver."""
    solvers: dict[str, type[BatchLearner]] = {"newton": Newton, "ascent": Ascent}
    how = OptimumSettings.of(settings)
    return solvers[how.solver](how, features=features, classes=classes, dtype=dtype)


class Balance:
    """A penalty on the mean score of each class: balance · ½‖m‖², where m is the mean of the rows' scores.

    A free bias fits how often each class occurs among the rows to learn from. With few rows of a class, their own
    weights explain these rows already, and new rows share few features with them; so the bias decides alone. The mean
    score, unlike the bias, stays the same when all values of a feature are shifted.
    """

    def __init__(self, objective: _core.Objective, settings: OptimumSettings) -> None:
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
        """Adds the derivatives of the penalty by scores; or, of a direction, what the penalty bends it by.

        The answer is the product of the two."""
        if not self.strength:
            return 0.0
        mean = self.mean(scores)
        pulls += self._shares * (self.strength * mean)
        return self.strength * dot(mean, mean)

    def along(self, scores: Array, steps: Array) -> tuple[float, float]:
        """The slope and the curvature of the penalty on a line through the scores."""
        start, step = self.mean(scores), self.mean(steps)
        return self.strength * dot(start, step), self.strength * dot(step, step)


class Place:
    """A place in the space of the weights: the loss, its gradient, the penalty and the gap there."""

    def __init__(self, objective: _core.Objective, settings: OptimumSettings, start: Array | None = None) -> None:
        self.of = objective
        self.strength = float(settings.strength)
        self.l1 = settings.penalty == "l1"
        self.has_bias = settings.bias
        self.balance = Balance(objective, settings)
        self.w = np.zeros((objective.features + 1, objective.stride))
        self.gradient = np.zeros_like(self.w)
        """Of the loss and, where that has a gradient, of the penalty."""
        self.scores = np.zeros((objective.rows, objective.stride))
        self.pulls = np.zeros_like(self.scores)
        self.mean_row = self._mean_row()
        if start is not None:
            self.w[:, : start.shape[1]] = start
            self.w[-1] *= self.has_bias
        self._look()

    def _mean_row(self) -> Array | None:
        """Of all rows, with the 1 of the bias at its end; where there is a use for it."""
        if not self.balance.strength:
            return None
        self.pulls[:, 0] = self.of.shares()
        self.of.gather(self.pulls, self.gradient)
        return self.gradient[:, :1].copy()

    def _look(self) -> None:
        w = self.w[:-1]
        self.of.score(self.w, self.scores)
        self.loss, self.mistakes = self.of.judge(self.scores, self.pulls)
        self.balance.pull(self.scores, self.pulls)
        self.of.gather(self.pulls, self.gradient)
        self._complete(self.gradient, self.w)
        penalty = size_of(w) if self.l1 else self.of.inner(w, w) / 2
        self.objective = self.loss + self.strength * penalty + self.balance.cost(self.scores)
        self.gap = float(self._slopes().max())

    def _product(self, v: Array, steps: Array, out: Array) -> float:
        """steps = the scores of v, out = the Hessian · v but for ½‖w‖² (see `_complete`); the answer is v · out."""
        bent = self.of.product(v, steps, out)
        if self.mean_row is not None:
            mean = self.balance.mean(steps)
            out += self.mean_row * (self.balance.strength * mean)
            bent += self.balance.strength * dot(mean, mean)
        return bent

    def _complete(self, out: Array, v: Array) -> None:
        """Adds what a smooth penalty does to a gradient, or to a product with the Hessian."""
        if not self.l1:
            out[:-1] += self.strength * v[:-1]
        if not self.has_bias:
            out[-1] = 0

    def _slopes(self) -> Array:
        """How steep the objective is along each weight, on the side on which it falls; 0 at a corner that holds it."""
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
        need(self.has_bias or not state["w"][-1].any(), "it has a bias, and should have none")

    def restore(self, state: State) -> None:
        self.w[:] = state["w"]
        self._look()


class Straight(Place):
    """Goes straight down, always by the same part of the gradient."""

    def __init__(self, objective: _core.Objective, settings: OptimumSettings, start: Array | None) -> None:
        super().__init__(objective, settings)
        self.eta = 1 / self._largest_curvature() if settings.eta is None else settings.eta
        if start is not None:
            super().__init__(objective, settings, start)

    def step(self, tol: float) -> None:
        self.w -= self.eta * self.gradient
        if self.l1:
            w, most = self.w[:-1], self.eta * self.strength
            w -= np.clip(w, -most, most)
        self._look()

    def _largest_curvature(self) -> float:
        """That of the objective anywhere, found by the power method.

        Two classes bend most where both are as probable, which at the start they are. Of more, two that share all
        probability bend by a half, and K that share it, as at the start, by 1/K. The power method comes from below, but
        near: and a step goes too far only where it is twice as long as it should be.
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
            if not largest > 0:  # all rows are zero
                break
            v, out = out, v
        largest *= columns / 2 if columns > 1 else 1
        return largest + (0 if self.l1 else self.strength) or 1.0


class Parabola(Place):
    """Newton's method with the penalty ½‖w‖²."""

    def __init__(self, objective: _core.Objective, settings: OptimumSettings, start: Array | None) -> None:
        super().__init__(objective, settings, start)
        length = objective.stored() / objective.rows
        most = objective.rows // (FEWEST_FOR_EACH * (objective.features + 1))
        self.every = max(1, min(round(length / VALUES_FOR_EACH), most))

    def step(self, tol: float) -> None:
        of, w = self.of, self.w[:-1]
        direction, steps = self._solve(max(LEFT_OVER * self.gap, tol / 4))
        straight, square = of.inner(w, direction[:-1]), of.inner(direction[:-1], direction[:-1])
        slope, curvature = self.balance.along(self.scores, steps)
        line = Line(of, self.scores, steps, self.strength * straight + slope, self.strength * square + curvature)
        self.w += line.find_least(of.inner(self.gradient, direction)) * direction
        self._look()

    def _solve(self, near_enough: float) -> tuple[Array, Array]:
        """Conjugate gradients: the direction that ends where a parabola is least, and its scores."""
        of, precondition = self.of, self._preconditioner()
        direction, steps = np.zeros_like(self.w), np.zeros_like(self.scores)
        out, some = np.zeros_like(self.w), np.zeros_like(self.scores)
        rest = -self.gradient
        z = precondition(rest)
        v, length = z.copy(), of.inner(rest, z)
        for _ in range(MOST_PRODUCTS):
            curvature = self._product(v, some, out) + self.strength * of.inner(v[:-1], v[:-1])
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
        """What divides by something like the Hessian: by its blocks where they are small, else by its diagonal."""
        out = np.zeros_like(self.w)
        if self.of.features <= WIDEST_BLOCK:
            self.of.factorise(self.every, self.strength)

            def divide(rest: Array) -> Array:
                self.of.precondition(rest, out)
                return self._centred(out)

            return divide
        diagonal = np.zeros_like(self.w)
        self.of.curvatures(diagonal)
        diagonal[:-1] += self.strength
        diagonal[diagonal <= 0] = 1
        return lambda rest: self._centred(np.divide(rest, diagonal, out=out))

    def _centred(self, v: Array) -> Array:
        """Softmax is indifferent to what all classes gain alike, and that must not grow."""
        if not self.has_bias:
            v[-1] = 0
        if self.of.stride > 1:
            v[:, : self.of.classes] -= means_of(v, self.of.classes)
        return v


class Span:
    """The same where there are more features than rows: weights that are sums of rows, w = Σ c x.

    Every gradient, and so every direction of the conjugate gradients, is such a sum. So only the rows' factors c are
    kept, lengths are those of w, ‖w‖² = c'XX'c, and a product with XX' is one pass over the columns of the data.
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
        """The gradient, too, is kept as factors of rows, and its image are the scores that it has as weights."""
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
        """As of `Parabola`: the direction in factors of rows, that of the bias, and the scores of both."""
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
        need(self.has_bias or not state["bias"].any(), "it has a bias, and should have none")
        scores = np.zeros_like(self.scores)
        self.of.kernel(state["c"], scores)
        scores += state["bias"]
        away = abs(scores - state["scores"]).max(initial=0)
        need(bool(away <= ROUNDING * max(1.0, abs(scores).max(initial=0))), "its scores are not those of its weights")

    def restore(self, state: State) -> None:
        self.c[:], self.bias[:], self.scores[:] = state["c"], state["bias"], state["scores"]
        self._look()


class Corners(Place):
    """Newton's method with the penalty ‖w‖₁, whose corners hold many weights at exactly 0."""

    def __init__(self, objective: _core.Objective, settings: OptimumSettings, start: Array | None) -> None:
        if (objective.features + 1) * objective.stride > MOST_PAIRS:
            raise DataError(
                f"{objective.features:,} features of {objective.classes:,} classes are too many weights for the "
                "penalty 'l1'; take fewer features, or the penalty 'l2'"
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
        """Coordinate descent: where a parabola with corners is least, and the scores of the way there.

        Weights that are 0, and would stay so unless the gradient changed much, are not visited.
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
                # Most of the work is to settle those that are not 0; then the others are looked at again.
                few = few & (target.reshape(-1)[pairs] != 0) if few.all() else few
            elif few.all():
                break
            else:
                few = np.ones(len(pairs), bool)
        return target, steps


class Line:
    """The objective on a line: convex, and easily computed, as the scores on it are known."""

    def __init__(self, of: _core.Objective, scores: Array, steps: Array, straight: float, square: float) -> None:
        self.of = of
        self.scores = scores
        self.steps = steps
        self.straight = straight
        self.square = square

    def find_least(self, slope: float) -> float:
        """About where it is least, for the slope that it starts with; 0 where it does not fall."""
        if not slope < 0:
            return 0.0
        t, low, high = 1.0, 0.0, np.inf
        for _ in range(MOST_TRIES):
            _, first, second = self.of.along(self.scores, self.steps, t)
            first, second = first + self.straight + self.square * t, second + self.square
            if abs(first) <= -FLAT_ENOUGH * slope:
                return t
            low, high = (t, high) if first < 0 else (low, t)
            # Newton's step, but neither far beyond what was looked at nor out of what is known.
            t = t - first / second if second > 0 else np.inf
            if not low < t < high or t > 4 * low > 0:
                t = 4 * low if high == np.inf else (low + high) / 2
        return low


def check_weights(objective: _core.Objective, w: Array) -> None:
    """That weights from a file are not so large that their squares overflow, and are 0 where there is no class."""
    need(bool(abs(w).max(initial=0) <= LARGEST), "it has weights that are too large")
    need(not w[:, columns_of(objective) :].any(), "it has weights of classes that are not there")


def dot(a: Array, b: Array) -> float:
    """Of few numbers, which are added one after the other on every machine."""
    return float(sum((a * b).tolist()))


def size_of(w: Array) -> float:
    """‖w‖₁."""
    return _core.sum(abs(w).ravel())


def means_of(v: Array, columns: int) -> Array:
    """The mean of each row's first columns; the others are padding, and 0."""
    return _core.sum_rows(v)[:, None] / columns


def columns_of(objective: _core.Objective) -> int:
    return 1 if objective.stride == 1 else objective.classes
