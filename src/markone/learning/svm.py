"""The support vector machine: passes bring the multipliers of the examples to their optimum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.cluster.engine import HasEngine
from markone.data.blocks import Block, Rows
from markone.errors import DataError
from markone.learning.examples import Examples, divided, shuffled
from markone.learning.hard_margin import multipliers_of_hard_margin
from markone.learning.learner import CommonLearner, Counted, Course, Followed, State, Tally
from markone.learning.partitions.dual import PartedDual, Problem
from markone.learning.states import MOST, check_forms, check_in_core, need
from markone.model.scorer import LinearScorer
from markone.model.settings import Settings, SvmSettings

HOPEFUL = 1.3
"""The gap that is seen during a pass is larger than the true gap, because the weights still improve. If it is at most
this many times the wanted gap, the true gap may be small enough, and is measured."""
OVERDUE = 4
"""After visits for this number of passes the objective is measured anyway, which also wakes examples at rest."""
SETTLED = 0.1
"""The objective is also measured if the visited examples have only this share of their former room to move."""
FIRST_JUMP = 16
"""If a hard margin is not found after this number of passes, or one pass for each dimension, another algorithm takes
over, which always ends: passes make no progress if the margin is narrow or does not exist."""

FEW_FEATURES = 0.25
"""With at most this number of features for each example, examples are similar, and each changes the weights only a
little more than the others have already done. With a large C, multipliers would need many passes to reach their bounds.
Therefore C starts low, and all multipliers grow with it."""
LARGE_C = 4.0
"""C is large from this value on, in units of 1/‖x‖²: one visit can change a multiplier that much."""
LOW_C = 0.3
"""The first value of C, in the same units."""
PASSES_A_STEP, STEP = 2, 2.0
"""The number of passes between two increases of C, and the factor of an increase."""
MOST_CLIMBING = 0.25
"""The largest share of the passes in which C is lower than its final value."""

AWAKE, VISITED = 0, 128
"""Codes of the core for an example that a pass has to visit, and has visited (core/optimum/dual.h)."""
FLAT = ("pauses", "naps", "rivals", "numbers")
"""The arrays that have no columns in the core."""
LEVEL, BOUND = 0, 3
"""The indices of C and of the dual objective in the core's numbers."""

NO_MARGIN = "the data cannot be separated by a plane, so there is no hard margin; choose a finite C"

Array = NDArray[np.float64]


class SupportVectors(NamedTuple):
    """The support vectors: the numbers of their rows, and their coefficients for each column of the weights."""

    rows: NDArray[np.int64]
    pulls: Array
    """The weights are the sum of pull times row. With two classes there is one column, negative for the first class."""


class Fitted(NamedTuple):
    """The results of a learner that has released its examples."""

    weights: Array
    course: Course
    norm2: float
    support: SupportVectors
    alphas: list[Array]
    """The multipliers of all examples, for each solver."""


class Dual(HasEngine, CommonLearner):
    """The linear SVM by dual coordinate descent: ½‖w‖² + Σ C·importance·loss, to within `tol` of the minimum.

    The bias is the weight of a feature that is always 1. A pass visits the examples that are not at rest. In
    partitions, all of them make a pass at the same time, and their moves are added.
    """

    settings: SvmSettings
    classes: int

    def __init__(self, settings: Settings, *, features: int, classes: int, dtype: Any = np.float64) -> None:
        self.settings = SvmSettings.of(settings)
        self.features, self.classes = features, classes
        self.dtype = np.dtype(dtype)
        self._solvers: list[Solver] = []
        self._start: tuple[list[Array], float] | None = None
        """The first multipliers, and the factor by which C has changed since they were computed."""
        self._fitted: Fitted | None = None
        self._snapshot: _core.Weights32 | _core.Weights64 | None = None
        self._turn = 0
        """The current solver of this pass."""
        self._visits = 0
        """The number of visits of the current solver in this pass."""
        self.visited: tuple[int, int | None] | None = None
        """The solver that made the last visit, and the visited row; None if the last piece had no visit."""

    @property
    def one_versus_rest(self) -> bool:
        """Whether each class has its own solver."""
        return self.classes > 2 and self.settings.multiclass == "one-versus-rest"

    @property
    def solvers(self) -> Sequence[Solver]:
        """One solver for the whole problem, or one for each class; empty if the examples have been released."""
        return self._solvers

    # ---- learning

    def ready(self, block: Block) -> Block:
        """Merge repeated features of a row, because steps depend on the length of rows."""
        return block.without_repeats()

    def begin(self, examples: Examples) -> None:
        if self.classes < 2:
            raise DataError("there is only one class; the svm needs examples of at least two")
        sides = range(self.classes) if self.one_versus_rest else [None]
        cores = self._problems(examples, sides) if self.settings.partitions == 1 else self._parted(examples, sides)
        self._solvers = [Solver(core, self.settings, self.features) for core in cores]
        self._fitted, self._turn, self._visits = None, 0, 0
        if self._start is not None:
            alphas, times = self._start
            for solver, alpha in zip(self._solvers, alphas, strict=True):
                solver.start_at(alpha, times)
            self._start = None
        self._snapshot = None

    def _problems(self, examples: Examples, sides: Iterable[int | None]) -> list[_core.Dual]:
        """Return the problem that separates each of these classes from the others, or all from each other."""
        block, rows = examples.whole()
        if self.settings.order == "once":
            rows = shuffled(np.arange(len(block)) if rows is None else rows, self.settings.seed, 0)
        return [
            _core.Dual(
                block.rows,
                block.labels if side is None else (block.labels == side).astype(np.int32),
                block.importance,
                rows,
                features=self.features,
                classes=self.classes if side is None else 2,
                C=self.settings.C,
                squared=self.settings.loss == "squared",
                bias=self.settings.bias,
            )
            for side in sides
        ]

    def _parted(self, examples: Examples, sides: Iterable[int | None]) -> list[PartedDual]:
        """Return the same problems, for examples in partitions."""
        parts = divided(examples, self.settings.partitions)
        found = []
        for side in sides:
            problem = Problem(
                features=self.features,
                classes=self.classes if side is None else 2,
                squared=self.settings.loss == "squared",
                bias=self.settings.bias,
                side=side,
                seed=self.settings.seed if self.settings.order == "once" else None,
            )
            found.append(PartedDual(parts, self.tasks, problem, self.settings.C))
        return found

    def make_pass(self, epoch: int) -> None:
        """Make a whole pass in one piece."""
        seed = self._seed(epoch)
        for solver in self._solvers:
            if not solver.done and solver.whole.begin_pass(seed, 0):
                solver.learn(len(solver.core))
        self._finish_pass(epoch)

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Tally, int]]:
        """Visit the examples that are not at rest. The others count as visited with the last piece."""
        if self.settings.partitions > 1:
            yield from self._learn_parts(examples, epoch)
            return
        left = examples.rows - skip
        if skip and left == 0:
            return
        size = examples.between_looks(1 if self.one_versus_rest else self.columns)
        seed = self._seed(epoch)
        while self._turn < len(self._solvers):
            solver = self._solvers[self._turn]
            remaining = 0 if solver.done else solver.whole.begin_pass(seed, self._visits)
            if remaining == 0:
                self._turn += 1
            while remaining:
                tally = solver.learn(size)
                remaining -= tally.visits
                self._visits += tally.visits
                self.visited = self._turn, solver.whole.last
                self._snapshot = None
                if remaining == 0:
                    self._turn, self._visits = self._turn + 1, 0
                    if all(other.done for other in self._solvers[self._turn :]):
                        self._finish_pass(epoch)
                        yield tally, left
                        return
                visits = min(tally.visits // len(self._solvers), left - 1)
                left -= visits
                yield tally, visits
        self._finish_pass(epoch)
        self.visited = None
        yield Counted(0, 0, 0.0, 0.0), left

    def _learn_parts(self, examples: Examples, epoch: int) -> Iterator[tuple[Counted, int]]:
        """Make a pass of all partitions, for one solver after the other. All rows count as visited with its end.

        It yields nothing visited while the tasks run, so that training can be interrupted: until all partitions have
        finished, their solver is as before.
        """
        seed = self.settings.seed if self.settings.order == "each" else None
        try:
            while self._turn < len(self._solvers):
                solver, made = self._solvers[self._turn], None
                for made in () if solver.done else solver.parted.learn_parts(seed, epoch):
                    if made is None:
                        yield Counted(0, 0, 0.0, 0.0), 0
                self._turn += 1
                if made is not None:
                    solver.note(made.visits, made.updates)
                    self._snapshot = None
                    yield Counted(made.mistakes, made.updates, made.loss, made.importance), 0
        except BaseException:
            self.end_tasks()
            raise
        self._finish_pass(epoch)
        yield Counted(0, 0, 0.0, 0.0), examples.rows

    def _seed(self, epoch: int) -> int | None:
        return None if self.settings.order != "each" else seed_of_pass(self.settings.seed, epoch)

    def _finish_pass(self, epoch: int) -> None:
        jump = max(FIRST_JUMP, (self.features + 1) * (1 if self.one_versus_rest else self.columns))
        for solver in self._solvers:
            if not solver.done:
                solver.look(measure=epoch == self.settings.epochs)
            if solver.core.hopeless:
                raise DataError(NO_MARGIN)
            if math.isinf(self.settings.C) and epoch in (jump, self.settings.epochs):
                solver.jump()
        self._turn = self._visits = 0
        self._snapshot = None

    def with_C(self, C: float) -> Dual:
        """A learner for another C, which will start from these multipliers, on the same examples."""
        return self.with_settings(replace(self.settings, C=C))

    def with_settings(self, settings: Settings) -> Dual:
        """A learner by other settings, which will start from these multipliers, on the same examples."""
        fresh = Dual(settings, features=self.features, classes=self.classes, dtype=self.dtype)
        fresh.engine, fresh.threads = self.engine, self.threads
        alphas, before, now = self._alphas(), self.settings.C, fresh.settings.C
        alike = fresh.one_versus_rest == self.one_versus_rest and fresh.settings.partitions == self.settings.partitions
        if alphas and alike:
            fresh._start = alphas, 1.0 if now == before else now / before
        return fresh

    def start_at(self, multipliers: list[Array]) -> None:
        """Continue from other multipliers: for each solver, those of all rows of the training block."""
        for solver, alpha in zip(self._solvers, multipliers, strict=True):
            solver.start_at(alpha[solver.core.rows()], 1.0)
        self._snapshot = None

    def aim_at(self, tol: float) -> None:
        """Change the gap at which the solvers stop."""
        for solver in self._solvers:
            solver.tol = tol

    # ---- results

    def course(self) -> Course:
        """Return the exact objective of the current weights, and its relative duality gap.

        If the objective was not measured after this pass, both belong to the best weights so far.
        """
        if self._fitted is not None:
            return self._fitted.course
        objective = sum(solver.objective for solver in self._solvers)
        if not math.isfinite(objective):
            return Course()
        gap = max(0.0, objective - sum(solver.core.bound for solver in self._solvers))
        return Course(objective, gap / objective if objective else 0.0, all(solver.done for solver in self._solvers))

    def norm2(self) -> float:
        """Return the squared length of the weights of the multipliers, with the bias."""
        if self._fitted is not None:
            return self._fitted.norm2
        return float(sum(solver.core.norm2 for solver in self._solvers))

    @property
    def support(self) -> SupportVectors:
        """The support vectors, without which the weights would be different."""
        if self._fitted is not None:
            return self._fitted.support
        rows = self._solvers[0].core.rows().astype(np.int64)
        pulls = np.hstack([solver.pulls() for solver in self._solvers])
        which = np.flatnonzero(pulls.any(axis=1))
        which = which[rows[which].argsort()]
        return SupportVectors(rows[which], pulls[which])

    def weights(self, averaged: bool | None = None) -> _core.Weights32 | _core.Weights64:
        """Return the weights with the smallest objective if it was just measured, else those of the multipliers."""
        if self._snapshot is None:
            self._snapshot = self._as_weights(self._matrix())
        return self._snapshot

    def _as_weights(self, matrix: Array) -> _core.Weights32 | _core.Weights64:
        all_of = matrix.astype(self.dtype)
        kind = _core.Weights32 if self.dtype == np.float32 else _core.Weights64
        return kind(np.ascontiguousarray(all_of[:-1]), all_of[-1].copy(), self.classes)

    def last_weights(self) -> Array:
        """Return the weights of the multipliers, even if there are better ones; the last row is the bias."""
        if not self._solvers:
            return self._matrix()
        return np.hstack([solver.core.weights(best=False) for solver in self._solvers])

    def _matrix(self) -> Array:
        if self._fitted is not None:
            return self._fitted.weights
        if not self._solvers:
            return np.zeros((self.features + 1, self.columns))
        return np.hstack([solver.weights() for solver in self._solvers])

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        """Return `columns` scores for each row; there are no averaged weights."""
        return self.weights().scores(rows)

    def scorer(self) -> LinearScorer:
        return LinearScorer(self.weights(), self.settings.traits.has_probabilities)

    def judge(self, block: Block) -> LinearScorer:
        return LinearScorer(self._as_weights(self.last_weights()), self.settings.traits.has_probabilities)

    def visited_rows(self, examples: Followed, visits: int) -> tuple[NDArray[np.int64], int | None]:
        """Return the row of the last visit; no row if the last piece of a pass had no visit."""
        if self.visited is None:
            return np.zeros(0, np.int64), None
        turn, row = self.visited
        return np.array([] if row is None else [row], np.int64), turn if self.one_versus_rest else None

    # ---- state

    def let_go(self) -> None:
        """Release the examples, and keep the weights and the multipliers."""
        if self._solvers:
            self._fitted = Fitted(self._matrix(), self.course(), self.norm2(), self.support, self._alphas())
            self._solvers = []
        self.end_tasks()

    def _alphas(self) -> list[Array]:
        return self._fitted.alphas if self._fitted is not None else [solver.core.alpha() for solver in self._solvers]

    def get_state(self) -> State:
        """Return everything that is needed to resume with the same bits."""
        states = [solver.get_state() for solver in self._solvers]
        state = {name: np.hstack([one[name] for one in states]) for name in states[0]}
        return {**state, "turn": np.array([self._turn, self._visits])}

    def set_state(self, state: State) -> None:
        """Restore a state of a learner with the same settings, shape and examples."""
        parts = self._parts(state)
        for solver, one in zip(self._solvers, parts, strict=True):
            solver.core.check_state(core_of(one))
        for solver, one in zip(self._solvers, parts, strict=True):
            solver.set_state(one)
        self._turn, self._visits = (int(number) for number in state["turn"])
        self._snapshot = None

    def check_state(self, state: State) -> None:
        """Raise an error if a state, which may come from a damaged file, cannot be restored."""
        check_forms(state, self.get_state(), unbounded=("numbers", "looks"))
        for solver, one in zip(self._solvers, self._parts(state), strict=True):
            solver.check_state(one)
        turn, visits = (int(number) for number in state["turn"])
        need(0 <= turn <= len(self._solvers), "its current solver does not exist")
        pauses = state["pauses"][:, turn] if turn < len(self._solvers) else np.zeros(0, np.uint8)
        most = int(((pauses == AWAKE) | (pauses >= VISITED)).sum())
        need(0 <= visits <= most, "it has more visits than there are examples")

    def _parts(self, state: State) -> list[State]:
        """Return the state of each solver."""
        count = len(self._solvers)
        return [{name: part(array, number, count) for name, array in state.items()} for number in range(count)]

    def __getstate__(self) -> dict[str, Any]:
        twin = Dual(self.settings, features=self.features, classes=self.classes, dtype=self.dtype)
        twin._solvers, twin._fitted, twin._start = self._solvers, self._fitted, self._start
        twin.let_go()
        return {**twin.__dict__, "_snapshot": None}


class Solver:
    """One problem of the core. It decides when to measure the distance to the optimum."""

    def __init__(self, core: _core.Dual | PartedDual, settings: SvmSettings, features: int) -> None:
        self.core = core
        self.tol = settings.tol
        self._C = core.C
        self._passes = 0
        """The number of passes since C has grown."""
        self._room = math.inf
        """The room to move that was seen in the pass before the last measurement."""
        self._visits = 0
        """The number of visits since the last measurement."""
        self._updates = 0
        """The number of updates in this pass."""
        self._fresh = False
        """Whether nothing has changed since the last measurement."""
        self._still = False
        """Whether a whole pass after a measurement changed nothing, so that the solver cannot get closer."""
        large = self._C * core.typical2
        if features <= FEW_FEATURES * len(core) and LARGE_C <= large < math.inf:
            steps = math.ceil(math.log(large / LOW_C, STEP))
            if PASSES_A_STEP * steps <= MOST_CLIMBING * settings.epochs:
                core.scale_to(LOW_C / core.typical2)

    @property
    def whole(self) -> _core.Dual:
        """The problem, if it is not in partitions."""
        assert isinstance(self.core, _core.Dual)
        return self.core

    @property
    def parted(self) -> PartedDual:
        """The problem in partitions."""
        assert isinstance(self.core, PartedDual)
        return self.core

    @property
    def climbs(self) -> bool:
        """Whether C is still lower than its final value."""
        return self.core.C < self._C

    def start_at(self, alpha: Array, times: float) -> None:
        """Start from multipliers of another C; the current C is `times` that one.

        The multipliers are scaled like C if that makes the dual objective larger.
        """
        if len(alpha) != len(self.core):
            raise DataError(
                f"there are multipliers of {len(alpha)} examples to start from, but now there are {len(self.core)} "
                "examples; start a new training for other examples"
            )
        if self.climbs and times > STEP:
            self.core.scale_to(self._C / times)
            self.core.start_at(alpha)
            return
        self.core.scale_to(self._C)
        self.core.start_at(alpha)
        linear, before = _core.sum(alpha[alpha > 0]), self.core.bound
        square = 2 * (linear - before)  # the dual of t times the multipliers is t·linear - t²·square/2
        t = min(times, linear / square if square > 0 else 1.0)
        if t != 1:
            self.core.start_at(t * alpha)
            if self.core.bound <= before:
                self.core.start_at(alpha)
        self.core.measure()
        self._fresh = True

    def learn(self, most: int) -> _core.Tally:
        tally = self.whole.learn(most)
        self.note(tally.visits, tally.updates)
        return tally

    def note(self, visits: int, updates: int) -> None:
        """Note how many visits were made, and how many of them changed the multipliers."""
        self._visits += visits
        self._updates += updates
        self._fresh = self._fresh and updates == 0

    def look(self, *, measure: bool) -> None:
        """Measure the objective after a pass, if that is requested or due."""
        core, was_fresh = self.core, self._fresh
        if self.climbs:
            self._passes = (self._passes + 1) % PASSES_A_STEP
            if measure or self._passes == 0:
                core.scale_to(self._C if measure else min(self._C, STEP * core.C))
            if not measure:
                self._updates = self._visits = 0
                return
        if math.isinf(self._room):
            self._room = core.seen_room
        measure = (
            measure
            or self._updates == 0
            or core.seen_gap <= HOPEFUL * self.tol * (core.bound + core.seen_gap)
            or self._visits >= OVERDUE * len(core)
            or core.seen_room <= SETTLED * self._room
        )
        self._still = was_fresh and self._updates == 0
        self._fresh = measure
        if measure:
            core.measure()
            self._room, self._visits = core.seen_room, 0
        self._updates = 0

    def jump(self) -> None:
        """Find the hard margin, or prove that there is none. Keep the current state if that needs too many steps."""
        if self.done or len(self.core) == 0:
            return
        alpha = multipliers_of_hard_margin(self.whole)
        if alpha is None:
            raise DataError(NO_MARGIN)
        before = self.core.get_state()
        self.core.start_at(alpha)
        self.core.measure()
        if self.core.bound < before["numbers"][BOUND]:
            self.core.set_state(before)
        else:
            self._fresh, self._room, self._visits = True, math.inf, 0

    @property
    def done(self) -> bool:
        """Whether the solver is close enough to the optimum, or cannot get closer."""
        return self._still or self._is_near(self.core.primal) or self._has_own()

    @property
    def objective(self) -> float:
        """The objective of the current weights or, if it was not measured, of the best weights."""
        if self.climbs:
            return math.inf
        return self.core.own if self._has_own() else self.core.primal

    def weights(self) -> Array:
        """Return the weights; the last row is the bias."""
        best = self._is_near(self.core.primal) or (self._fresh and math.isfinite(self.objective))
        return self.core.weights(best and not self._has_own())

    def _has_own(self) -> bool:
        """Return whether the weights of the multipliers are close enough to the optimum."""
        return self._fresh and self._is_near(self.core.own)

    def _is_near(self, objective: float) -> bool:
        return not self.climbs and math.isfinite(objective) and objective - self.core.bound <= self.tol * objective

    def pulls(self) -> Array:
        """Return the coefficients of each example for each column of the weights."""
        alpha = self.core.alpha()
        return alpha if alpha.shape[1] > 1 else alpha * np.where(self.core.labels() == 1, 1.0, -1.0)[:, None]

    def get_state(self) -> State:
        state = self.core.get_state()
        looks = [self._room, self._visits, self._updates, self._passes, self._fresh, self._still]
        state["looks"] = np.array(looks, np.float64)
        words = len(state["rivals"]) // max(1, len(self.core))
        state["rivals"] = state["rivals"].reshape(len(self.core), words)
        return {name: array if array.ndim == 2 else array[:, None] for name, array in state.items()}

    def check_state(self, state: State) -> None:
        """Raise an error if a state of the right shape has impossible numbers."""
        check_in_core(self.core.check_state, core_of(state))
        need(float(state["numbers"][LEVEL, 0]) <= self._C, "its C is larger than that of the settings")
        room, *counts, fresh, still = state["looks"][:, 0].tolist()
        need(room >= 0, "its room to move is negative")
        need(all(0 <= count <= MOST and count == int(count) for count in counts), "it has impossible counts")
        need(counts[-1] < PASSES_A_STEP, "it has too many passes with one C")
        need({fresh, still} <= {0.0, 1.0}, "it has flags that are neither 0 nor 1")

    def set_state(self, state: State) -> None:
        room, visits, updates, passes, fresh, still = state["looks"][:, 0].tolist()
        self.core.set_state(core_of(state))
        self._room, self._visits, self._updates, self._passes = room, int(visits), int(updates), int(passes)
        self._fresh, self._still = bool(fresh), bool(still)


def core_of(state: State) -> State:
    """Return the part of a solver's state that belongs to the core."""
    return {name: array.ravel() if name in FLAT else array for name, array in state.items()}


def part(array: NDArray[Any], number: int, of: int) -> NDArray[Any]:
    """Return the columns of one of several solvers."""
    if array.ndim < 2:
        return array
    width = array.shape[1] // of
    return np.ascontiguousarray(array[:, number * width : (number + 1) * width])


@lru_cache(maxsize=1024)
def seed_of_pass(seed: int, epoch: int) -> int:
    """Return the seed for the order of a pass (from 1). It depends only on the seed and the number of the pass."""
    return int(np.random.SeedSequence([seed, epoch - 1]).generate_state(1, np.uint64)[0])
