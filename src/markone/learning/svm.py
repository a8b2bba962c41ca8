"""The support vector machine: multipliers of examples, which passes bring near their optimum."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Rows
from markone.errors import DataError
from markone.learning.examples import Examples, shuffled
from markone.learning.hard_margin import multipliers_of_hard_margin
from markone.learning.learner import CommonLearner, Counted, Course, Followed, State, Tally
from markone.learning.states import MOST, check_forms, check_in_core, need
from markone.model.scorer import LinearScorer
from markone.model.settings import Settings, SvmSettings

HOPEFUL = 1.3
"""The gap that was seen at the visits of a pass is that of weights which were still to get better. Where it is at most
so many times what is wanted, the true one may be small enough."""
OVERDUE = 4
"""After so many passes' worth of visits the objective is measured in any case, which also wakes those at rest."""
SETTLED = 0.1
"""So it is when those that are visited have only this share left of the room to move that they had then."""
FIRST_JUMP = 16
"""A hard margin that is not found after so many passes, or as many as there are dimensions, is sought in another way,
which is sure to end: where it is narrow, or there is none, passes get nowhere."""

FEW_FEATURES = 0.25
"""Where there are at most so many features for each example, examples are like others, and each pulls only a little
further what others have pulled already: with a large C, multipliers would climb to their bounds for many passes. So C
starts low, and they all grow with it."""
LARGE_C = 4.0
"""From where on C is large, in units of 1/‖x‖²: a visit can bring a multiplier that far."""
LOW_C = 0.3
"""Where it starts, in these units."""
PASSES_A_STEP, STEP = 2, 2.0
"""After how many passes it grows, and to how many times what it was."""
MOST_CLIMBING = 0.25
"""The share of the passes that may be spent on the way."""

AWAKE, VISITED = 0, 128
"""How the core notes that an example is to be visited in a pass, and that it has been (core/optimum/dual.h)."""
FLAT = ("pauses", "naps", "rivals", "numbers")
"""What has no columns in the core."""
LEVEL, BOUND = 0, 3
"""The places of C and of the dual among the core's numbers."""

NO_MARGIN = "the data cannot be separated by a plane, so there is no hard margin; choose a finite C"

Array = NDArray[np.float64]


class Support(NamedTuple):
    """The examples that hold the weights: their numbers among the rows, and how hard each pulls at each column."""

    rows: NDArray[np.int64]
    pulls: Array
    """The weights are the sum of pull times row; of two classes there is one column, negative for the first class."""


class Fitted(NamedTuple):
    """What is left of a learner that has let go of its examples."""

    weights: Array
    course: Course
    norm2: float
    support: Support
    alphas: list[Array]
    """Of all examples, those of the multipliers' bounds included; for each solver."""


class Dual(CommonLearner):
    """The linear SVM by dual coordinate descent: ½‖w‖² + Σ C·importance·loss, to within `tol` of the smallest.

    The bias is the weight of a feature that is always 1. A pass visits the examples that are not at rest.
    """

    settings: SvmSettings
    classes: int

    def __init__(self, settings: Settings, *, features: int, classes: int, dtype: Any = np.float64) -> None:
        self.settings = SvmSettings.of(settings)
        self.features, self.classes = features, classes
        self.dtype = np.dtype(dtype)
        self._tie = _core.Tie[settings.tie]
        self._solvers: list[Solver] = []
        self._start: tuple[list[Array], float] | None = None
        """Multipliers to begin with, and how many times the C is that they are of."""
        self._fitted: Fitted | None = None
        self._snapshot: _core.Weights32 | _core.Weights64 | None = None
        self._turn = 0
        """The solver whose turn it is in this pass."""
        self._visits = 0
        """Those that it has made in this pass."""
        self.visited: tuple[int, int | None] | None = None
        """The solver that made the last visit, and the row that it went to; None where the last piece had none."""

    @property
    def one_versus_rest(self) -> bool:
        """Whether each class has a solver of its own."""
        return self.classes > 2 and self.settings.multiclass == "one-versus-rest"

    @property
    def solvers(self) -> Sequence[Solver]:
        """One for the whole problem, or one for each class; none where the examples have been let go of."""
        return self._solvers

    # ---- learning

    def ready(self, block: Block) -> Block:
        """The block with each feature once in a row, because steps go by the length of rows."""
        return block.without_repeats()

    def begin(self, examples: Examples) -> None:
        if self.classes < 2:
            raise DataError("there is only one class; the svm needs examples of at least two")
        block, rows = examples.whole()
        if self.settings.order == "once":
            rows = shuffled(np.arange(len(block)) if rows is None else rows, self.settings.seed, 0)
        labels = [(block.labels == k).astype(np.int32) for k in range(self.classes)]
        sides = labels if self.one_versus_rest else [block.labels]
        self._solvers = [
            Solver(self._problem(replace(block, labels=side), rows), self.settings, self.features) for side in sides
        ]
        self._fitted, self._turn, self._visits = None, 0, 0
        if self._start is not None:
            alphas, times = self._start
            for solver, alpha in zip(self._solvers, alphas, strict=True):
                solver.start_at(alpha, times)
            self._start = None
        self._snapshot = None

    def _problem(self, block: Block, rows: NDArray[np.int64] | None) -> _core.Dual:
        return _core.Dual(
            block.rows,
            block.labels,
            block.importance,
            rows,
            features=self.features,
            classes=2 if self.one_versus_rest else self.classes,
            C=self.settings.C,
            squared=self.settings.loss == "squared",
            bias=self.settings.bias,
        )

    def make_pass(self, epoch: int) -> None:
        """A whole pass, without looking up."""
        seed = self._seed(epoch)
        for solver in self._solvers:
            if not solver.done and solver.core.begin_pass(seed, 0):
                solver.learn(len(solver.core))
        self._finish_pass(epoch)

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Tally, int]]:
        """Visits the examples that are not at rest; those that are count as visited, too, with the last piece."""
        left = examples.rows - skip
        if skip and left == 0:
            return
        size = examples.between_looks(1 if self.one_versus_rest else self.columns)
        seed = self._seed(epoch)
        while self._turn < len(self._solvers):
            solver = self._solvers[self._turn]
            remaining = 0 if solver.done else solver.core.begin_pass(seed, self._visits)
            if remaining == 0:
                self._turn += 1
            while remaining:
                tally = solver.learn(size)
                remaining -= tally.visits
                self._visits += tally.visits
                self.visited = self._turn, solver.core.last
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
        alphas, before, now = self._alphas(), self.settings.C, fresh.settings.C
        if alphas and fresh.one_versus_rest == self.one_versus_rest:
            fresh._start = alphas, 1.0 if now == before else now / before
        return fresh

    def start_at(self, multipliers: list[Array]) -> None:
        """Goes on from other multipliers: for each solver, those of all rows of the block that it has begun with."""
        for solver, alpha in zip(self._solvers, multipliers, strict=True):
            solver.start_at(alpha[solver.core.rows()], 1.0)
        self._snapshot = None

    def aim_at(self, tol: float) -> None:
        """Another gap to stop at, from now on."""
        for solver in self._solvers:
            solver.tol = tol

    # ---- what it is worth

    def course(self) -> Course:
        """The objective of the weights in use, and its duality gap as a share of it, both exact.

        In a pass after which it was not measured they are those of the best weights so far.
        """
        if self._fitted is not None:
            return self._fitted.course
        objective = sum(solver.objective for solver in self._solvers)
        if not math.isfinite(objective):
            return Course()
        gap = max(0.0, objective - sum(solver.core.bound for solver in self._solvers))
        return Course(objective, gap / objective if objective else 0.0, all(solver.done for solver in self._solvers))

    def norm2(self) -> float:
        """The squared length of the weights that the multipliers make up, bias included."""
        if self._fitted is not None:
            return self._fitted.norm2
        return float(sum(solver.core.norm2 for solver in self._solvers))

    @property
    def support(self) -> Support:
        """The examples without which the weights would not be the same."""
        if self._fitted is not None:
            return self._fitted.support
        rows = self._solvers[0].core.rows().astype(np.int64)
        pulls = np.hstack([solver.pulls() for solver in self._solvers])
        which = np.flatnonzero(pulls.any(axis=1))
        which = which[rows[which].argsort()]
        return Support(rows[which], pulls[which])

    def weights(self, averaged: bool | None = None) -> _core.Weights32 | _core.Weights64:
        """The weights: those with the smallest objective where it was just measured, else those of the multipliers."""
        if self._snapshot is None:
            self._snapshot = self._as_weights(self._matrix())
        return self._snapshot

    def _as_weights(self, matrix: Array) -> _core.Weights32 | _core.Weights64:
        all_of = matrix.astype(self.dtype)
        kind = _core.Weights32 if self.dtype == np.float32 else _core.Weights64
        return kind(np.ascontiguousarray(all_of[:-1]), all_of[-1].copy(), self.classes)

    def last_weights(self) -> Array:
        """Those of the multipliers, be there better ones; the last row is the bias."""
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
        """One row of `columns` scores for each row; there is nothing to average."""
        return self.weights().scores(rows)

    def predict(self, rows: Rows, averaged: bool | None = None) -> NDArray[np.int64]:
        """The number of the best class for each row; the settings' `tie` says which of several."""
        return _core.winners(self.scores(rows), self._tie)

    def scorer(self) -> LinearScorer:
        return LinearScorer(self.weights(), self.settings.traits.has_probabilities)

    def judge(self, block: Block) -> LinearScorer:
        return LinearScorer(self._as_weights(self.last_weights()), self.settings.traits.has_probabilities)

    def visited_rows(self, examples: Followed, visits: int) -> tuple[NDArray[np.int64], int | None]:
        """None where the last piece of a pass had no visit."""
        if self.visited is None:
            return np.zeros(0, np.int64), None
        turn, row = self.visited
        return np.array([] if row is None else [row], np.int64), turn if self.one_versus_rest else None

    # ---- what it remembers

    def let_go(self) -> None:
        """Keeps the weights and the multipliers, but not the examples."""
        if self._solvers:
            self._fitted = Fitted(self._matrix(), self.course(), self.norm2(), self.support, self._alphas())
            self._solvers = []

    def _alphas(self) -> list[Array]:
        return self._fitted.alphas if self._fitted is not None else [solver.core.alpha() for solver in self._solvers]

    def get_state(self) -> State:
        """All that is needed to go on, to the bit, as if nothing had happened."""
        states = [solver.get_state() for solver in self._solvers]
        state = {name: np.hstack([one[name] for one in states]) for name in states[0]}
        return {**state, "turn": np.array([self._turn, self._visits])}

    def set_state(self, state: State) -> None:
        """Goes back to what `get_state` of a learner with the same settings, shape and examples gave."""
        parts = self._parts(state)
        for solver, one in zip(self._solvers, parts, strict=True):
            solver.core.check_state(core_of(one))
        for solver, one in zip(self._solvers, parts, strict=True):
            solver.set_state(one)
        self._turn, self._visits = (int(number) for number in state["turn"])
        self._snapshot = None

    def check_state(self, state: State) -> None:
        """That a state, which may come from anywhere, is one that can be set."""
        check_forms(state, self.get_state(), unbounded=("numbers", "looks"))
        for solver, one in zip(self._solvers, self._parts(state), strict=True):
            solver.check_state(one)
        turn, visits = (int(number) for number in state["turn"])
        need(0 <= turn <= len(self._solvers), "it is the turn of nobody")
        pauses = state["pauses"][:, turn] if turn < len(self._solvers) else np.zeros(0, np.uint8)
        most = int(((pauses == AWAKE) | (pauses >= VISITED)).sum())
        need(0 <= visits <= most, "it has made more visits than there are examples")

    def _parts(self, state: State) -> list[State]:
        """The state of each solver."""
        count = len(self._solvers)
        return [{name: part(array, number, count) for name, array in state.items()} for number in range(count)]

    def __getstate__(self) -> dict[str, Any]:
        twin = Dual(self.settings, features=self.features, classes=self.classes, dtype=self.dtype)
        twin._solvers, twin._fitted, twin._start = self._solvers, self._fitted, self._start
        twin.let_go()
        return {**twin.__dict__, "_tie": None, "_snapshot": None}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved, _tie=_core.Tie[saved["settings"].tie])


class Solver:
    """One problem of the core, and when to measure how near it is to its optimum."""

    def __init__(self, core: _core.Dual, settings: SvmSettings, features: int) -> None:
        self.core = core
        self.tol = settings.tol
        self._C = core.C
        self._passes = 0
        """Since C has grown."""
        self._room = math.inf
        """To move, that was seen in the pass before the last measurement."""
        self._visits = 0
        """Since the last measurement."""
        self._updates = 0
        """In this pass."""
        self._fresh = False
        """Whether nothing has moved since the last measurement."""
        self._still = False
        """Whether a whole pass after a measurement moved nothing: it is as near as it can be."""
        large = self._C * core.typical2
        if features <= FEW_FEATURES * len(core) and LARGE_C <= large < math.inf:
            steps = math.ceil(math.log(large / LOW_C, STEP))
            if PASSES_A_STEP * steps <= MOST_CLIMBING * settings.epochs:
                core.scale_to(LOW_C / core.typical2)

    @property
    def climbs(self) -> bool:
        """Whether C is still lower than it should be."""
        return self.core.C < self._C

    def start_at(self, alpha: Array, times: float) -> None:
        """Takes over multipliers of another C, of which this one is so many times: as they are or, where that makes the
        dual larger, grown or shrunk with C."""
        if len(alpha) != len(self.core):
            raise DataError(
                f"the multipliers to start from are those of {len(alpha)} examples, and now there are "
                f"{len(self.core)}; start anew for other examples"
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
        tally = self.core.learn(most)
        self._visits += tally.visits
        self._updates += tally.updates
        self._fresh = self._fresh and tally.updates == 0
        return tally

    def look(self, *, measure: bool) -> None:
        """After a pass: measures the objective if it is asked for, or time."""
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
        """Goes to the hard margin, or proves that there is none; stays here where the way there is too long."""
        if self.done or len(self.core) == 0:
            return
        alpha = multipliers_of_hard_margin(self.core)
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
        return self._still or self._is_near(self.core.primal) or self._has_own()

    @property
    def objective(self) -> float:
        """Of the weights in use, or where they are not measured, of the best."""
        if self.climbs:
            return math.inf
        return self.core.own if self._has_own() else self.core.primal

    def weights(self) -> Array:
        """The last row is the bias."""
        best = self._is_near(self.core.primal) or (self._fresh and math.isfinite(self.objective))
        return self.core.weights(best and not self._has_own())

    def _has_own(self) -> bool:
        """Whether the weights that the multipliers make up are near enough themselves."""
        return self._fresh and self._is_near(self.core.own)

    def _is_near(self, objective: float) -> bool:
        return not self.climbs and math.isfinite(objective) and objective - self.core.bound <= self.tol * objective

    def pulls(self) -> Array:
        """How hard each example pulls at each column."""
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
        """That a state of the right form has numbers that it can have."""
        check_in_core(self.core.check_state, core_of(state))
        need(float(state["numbers"][LEVEL, 0]) <= self._C, "its C is larger than that of the settings")
        room, *counts, fresh, still = state["looks"][:, 0].tolist()
        need(room >= 0, "it has less than no room to move")
        need(all(0 <= count <= MOST and count == int(count) for count in counts), "it has counted impossible numbers")
        need(counts[-1] < PASSES_A_STEP, "it has made too many passes with one C")
        need({fresh, still} <= {0.0, 1.0}, "it says neither yes nor no where it must")

    def set_state(self, state: State) -> None:
        room, visits, updates, passes, fresh, still = state["looks"][:, 0].tolist()
        self.core.set_state(core_of(state))
        self._room, self._visits, self._updates, self._passes = room, int(visits), int(updates), int(passes)
        self._fresh, self._still = bool(fresh), bool(still)


def core_of(state: State) -> State:
    """What the core knows of a solver's state."""
    return {name: array.ravel() if name in FLAT else array for name, array in state.items()}


def part(array: NDArray[Any], number: int, of: int) -> NDArray[Any]:
    """The columns of one solver among several."""
    if array.ndim < 2:
        return array
    width = array.shape[1] // of
    return np.ascontiguousarray(array[:, number * width : (number + 1) * width])


@lru_cache(maxsize=1024)
def seed_of_pass(seed: int, epoch: int) -> int:
    """What makes the order of a pass (from 1): the same for the same seed, whatever came before."""
    return int(np.random.SeedSequence([seed, epoch - 1]).generate_state(1, np.uint64)[0])
