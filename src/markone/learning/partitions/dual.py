"""The SVM in partitions: each moves the multipliers of its own rows, and the moves of the weights are added (CoCoA).

In a pass, all partitions start at the same weights. Each makes steps of coordinate ascent as if the others moved the
weights as it does itself, `spread` times in all (Ma et al. 2015). With a spread of the number of partitions, the sum of
the moves never goes too far, but if rows of different partitions have little in common, steps are then too short. So
the dual says after each pass how much of the moves would have been best (Lee & Roth 2015): moves that go too far are
shortened, so that the dual never falls, and the spread of the next pass follows.

The duality gap is that of all rows: each partition computes the costs of its rows, and these are added.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.cluster.engine import LOOK, Engine, reduce_in_tree
from markone.learning.examples import IN_PARTITIONS, PartOfRows, seed_of, shuffled
from markone.learning.partitions.objective import sum_in_tree
from markone.learning.states import need
from markone.model.settings import Settings

POINTS = 17
"""The number of points between no step and a step of 2, from the best weights towards those of the multipliers, at
which the objective is measured."""
LONGEST_STEP = 2.0
ROOM = 1.3
"""The spread is this many times what would have made the last moves just as long as is best."""
WORD = 64
ROUNDING = 4 * np.finfo(np.float64).eps

Array = NDArray[np.float64]
State = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Problem:
    """What the core needs to know of a problem, besides the rows and C."""

    features: int
    classes: int
    squared: bool
    bias: bool
    side: int | None
    """The class that is separated from all others; None if all are separated at once."""
    seed: int | None
    """The seed by which the rows are shuffled once; None if they are in their own order, or in a new one in each pass.
    """


class Described(NamedTuple):
    """The examples of a partition, which are the rows of some importance."""

    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    importance: Array
    block: int
    """The number of rows in the block in which they are."""
    square: float
    """The sum of the squared lengths of the rows, each as often as its importance says."""


class Visited(NamedTuple):
    """The results of some visits."""

    visits: int
    mistakes: int
    updates: int
    loss: float
    importance: float


@dataclass(frozen=True, slots=True)
class PartOfPass:
    """The result of a partition's pass."""

    moves: Array | None
    """How far the weights have moved."""
    state: State
    visited: Visited


# ---- tasks


@contextmanager
def core_for(part: PartOfRows, number: int, problem: Problem) -> Iterator[_core.Dual]:
    """Yield the solver of the rows of a partition, which is made once on each machine, and serves one task at a time: a
    task that nobody waits for any longer may still run."""
    with part.kept.setdefault(("turns", problem), threading.Lock()):
        core = part.kept.get(problem) or made(part, number, problem)
        part.kept[problem] = core
        yield core


def made(part: PartOfRows, number: int, problem: Problem) -> _core.Dual:
    """Return a new solver of the rows of a partition."""
    block, rows = part.examples(Settings()).whole()
    labels = block.labels if problem.side is None else (block.labels == problem.side).astype(np.int32)
    if problem.seed is not None:
        rows = np.arange(len(block)) if rows is None else rows
        rows = shuffled(rows, problem.seed, 0, IN_PARTITIONS, number)
    return _core.Dual(
        block.rows,
        labels,
        block.importance,
        rows,
        features=problem.features,
        classes=problem.classes,
        C=1.0,
        squared=problem.squared,
        bias=problem.bias,
    )


def describe(part: PartOfRows, number: int, problem: Problem) -> Described:
    block, _ = part.examples(Settings()).whole()
    with core_for(part, number, problem) as core:
        rows = core.rows().astype(np.int64)
        importance = np.ones(len(rows)) if block.importance is None else block.importance[rows]
        square = core.typical2 * _core.sum(importance) if len(rows) else 0.0
        return Described(rows, core.labels().astype(np.int64), importance, len(block), square)


def learn_part(
    part: PartOfRows, number: int, problem: Problem, C: float, state: State, weights: Array, spread: float, seed: Any
) -> PartOfPass:
    """Make a pass over the examples of a partition that are not at rest."""
    with core_for(part, number, problem) as core:
        core.set_part(state, C)
        tally, moves = core.learn_part(weights, spread=spread, seed=seed)
        visited = Visited(tally.visits, tally.mistakes, tally.updates, tally.loss, tally.importance)
        return PartOfPass(moves, core.get_part(), visited)


def moves_of(result: PartOfPass) -> Array:
    assert result.moves is not None
    return result.moves


def without_moves(result: PartOfPass) -> PartOfPass:
    return replace(result, moves=None)


def measure_part(
    part: PartOfRows, number: int, problem: Problem, C: float, state: State, start: Array, end: Array
) -> tuple[State, Array]:
    """Return the costs of a partition at some points between two weights, and wake the examples that would move."""
    with core_for(part, number, problem) as core:
        core.set_part(state, C)
        costs = core.measure_part(start, end, POINTS)
        return core.get_part(), costs


def start_part(part: PartOfRows, number: int, problem: Problem, C: float, alpha: Array) -> tuple[Array, Array]:
    """Return the multipliers of a partition, cut to their bounds, and the weights that they make."""
    with core_for(part, number, problem) as core:
        core.scale_to(C)
        core.start_at(alpha)
        return core.alpha(), core.weights(best=False)


def weights_of(started: tuple[Array, Array]) -> Array:
    return started[1]


def multipliers_of(started: tuple[Array, Array]) -> Array:
    return started[0]


def problem_of_state(part: PartOfRows, number: int, problem: Problem, C: float, state: State) -> str:
    """Return what is wrong with the state of a partition; an empty text if it is good."""
    try:
        with core_for(part, number, problem) as core:
            core.set_part(state, C)
    except ValueError as error:
        return str(error)
    return ""


# ---- the driver


class PartedDual:
    """The solver of examples in partitions. It stands for the core's solver of all examples, with the same methods.

    This process has the multipliers, and sends those of a partition with each task.
    """

    hopeless = False

    def __init__(self, parts: Sequence[Any], engine: Callable[[], Engine], problem: Problem, C: float) -> None:
        """`parts` are partitions, or handles of them."""
        self._engine = engine
        self._problem = problem
        self.C = C
        numbered = [*enumerate(parts)]
        described: list[Described] = self._gather(describe, [(part, number, problem) for number, part in numbered])
        self._parts = [one for one, rows in zip(numbered, described, strict=True) if len(rows.rows)]
        blocks = np.cumsum([0, *(one.block for one in described)])
        first = np.zeros_like(blocks) if engine().in_process else blocks
        self._rows = np.concatenate([one.rows + start for one, start in zip(described, first, strict=False)])
        self._labels = np.concatenate([one.labels for one in described])
        self._importance = np.concatenate([one.importance for one in described])
        ends = np.cumsum([0, *(len(one.rows) for one in described if len(one.rows))]).tolist()
        self._slices = [slice(*pair) for pair in pairwise(ends)]
        total = _core.sum(self._importance)
        self.typical2 = sum_in_tree([one.square for one in described]) / total if total else 0.0
        self._words = 0 if problem.classes <= 2 else -(-problem.classes // WORD)
        columns = 1 if problem.classes <= 2 else problem.classes
        self._own = np.arange(len(self)), 0 if problem.classes <= 2 else self._labels
        """Where the multipliers of two classes are, or those of the right classes."""
        self._w: Array = np.zeros((problem.features + 1, columns))
        self._best: Array = self._w
        self._alpha: Array = np.zeros((len(self), columns))
        self._sights = np.zeros((len(self._parts), 3))
        self.spread = float(max(1, len(self._parts)))
        self.primal = self.own = self.bound = self.norm2 = 0.0
        self._start_anew()

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self) -> NDArray[np.int64]:
        return self._rows

    def labels(self) -> NDArray[np.int64]:
        return self._labels

    def alpha(self) -> Array:
        return self._alpha.copy()

    def weights(self, best: bool) -> Array:
        return (self._best if best else self._w).copy()

    @property
    def seen_gap(self) -> float:
        return _core.sum(self._sights[:, 2].copy())

    @property
    def seen_room(self) -> float:
        return float(self._sights[:, 0].max(initial=0) - self._sights[:, 1].min(initial=0))

    # ---- learning

    def learn_parts(self, seed: int | None, epoch: int) -> Iterator[Visited | None]:
        """Make a pass (from 1) over all partitions, in the order of the rows if there is no seed. It yields None while
        the tasks run, and then what was visited.

        Until then, everything is as before the pass, so that it can be interrupted.
        """
        engine = self._engine()
        sent = engine.put(self._w)
        tasks = []
        for (number, part), state in zip(self._parts, self._states(), strict=True):
            own = None if seed is None else seed_of(seed, epoch - 1, IN_PARTITIONS, number)
            how = (number, self._problem, self.C, state, sent, self.spread, own)
            tasks.append(engine.submit(learn_part, part, *how))
        used = [sent, *tasks]
        try:
            whole = reduce_in_tree(engine, add, [engine.submit(moves_of, task) for task in tasks])
            rest = [engine.submit(without_moves, task) for task in tasks]
            used += [whole, *rest]
            while not engine.wait([whole, *rest], LOOK):
                yield None
            moves, *each = engine.gather([whole, *rest])
        finally:
            engine.free(used)
        self._move(moves, each)
        yield Visited(*(sum_in_tree([one.visited[i] for one in each]) for i in range(len(Visited._fields))))

    def _move(self, moves: Array, each: list[PartOfPass]) -> None:
        """Move the weights and the multipliers as far as it makes the dual larger, but at most as far as they want."""
        steps = np.concatenate([one.state["alpha"] for one in each]) - self._alpha
        right, pushed, soft = self._right(self._alpha), self._right(steps), self._soft
        slope = _core.sum(pushed * (1 - soft * right)) - inner(self._w, moves)
        curvature = inner(moves, moves) + _core.sum(soft * pushed * pushed)
        best = max(0.0, slope / curvature) if curvature > 0 else 1.0
        t = min(1.0, best)
        for place, one in zip(self._slices, each, strict=True):
            self._put(place, one.state)
        self._sights = np.array([one.state["sights"] for one in each])
        if t < 1:
            self._alpha += (t - 1) * steps
        self._within_bounds()
        self._w = self._w + t * moves
        if curvature > 0:
            most = float(len(self._parts))
            self.spread = min(max(1.0, ROOM * self.spread / best), most) if best > 0 else most
        self._weigh()

    def measure(self) -> None:
        """Find the primal of the weights, and better best weights with it; wake examples that would move."""
        engine = self._engine()
        sent = [engine.put(self._best), engine.put(self._w)]
        found = self._gather(
            measure_part,
            [
                (part, number, self._problem, self.C, state, *sent)
                for (number, part), state in zip(self._parts, self._states(), strict=True)
            ],
        )
        engine.free(sent)
        for place, (state, _) in zip(self._slices, found, strict=True):
            self._put(place, state)
        way = self._w - self._best
        across, along = inner(self._best, way), inner(way, way)
        ts = np.linspace(0, LONGEST_STEP, POINTS)
        objectives = inner(self._best, self._best) / 2 + ts * (across + ts * along / 2)
        objectives += sum_in_tree([costs for _, costs in found])
        self.own = float(objectives[ts == 1][0])
        least = int(objectives.argmin())
        if objectives[least] < self.primal:
            self.primal = float(objectives[least])
            self._best = self._best + ts[least] * way

    def scale_to(self, C: float) -> None:
        """Change C. All multipliers shrink with it, or grow as far as that makes the dual larger."""
        times = C / self.C
        self.C = C
        right = self._right(self._alpha)
        linear, square = _core.sum(right), self.norm2 + _core.sum(self._soft * right * right)
        t = float(np.clip(linear / square, 1.0, times)) if times > 1 and square > 0 else times
        self._alpha *= t
        self._within_bounds()
        self._w = self._w * t
        sights = self._sights * [t, t, 1]
        self._start_anew()
        self._sights = sights

    def start_at(self, alpha: Array) -> None:
        """Go on from other multipliers, which are cut to their bounds."""
        engine = self._engine()
        started = [
            engine.submit(start_part, part, number, self._problem, self.C, np.ascontiguousarray(alpha[place]))
            for (number, part), place in zip(self._parts, self._slices, strict=True)
        ]
        whole = reduce_in_tree(engine, add, [engine.submit(weights_of, one) for one in started])
        self._w, *cut = engine.gather([whole, *(engine.submit(multipliers_of, one) for one in started)])
        engine.free([whole, *started])
        self._alpha = np.concatenate(cut)
        self._sights = np.zeros_like(self._sights)
        self._start_anew()

    def _gather(self, function: Callable[..., Any], arguments: Sequence[Sequence[Any]]) -> list[Any]:
        engine = self._engine()
        tasks = [engine.submit(function, *one) for one in arguments]
        try:
            return engine.gather(tasks)
        finally:
            engine.free(tasks)

    def _start_anew(self) -> None:
        """Wake all examples, and forget the best weights."""
        self._pauses, self._naps = np.zeros(len(self), np.uint8), np.zeros(len(self), np.uint8)
        bits = np.arange(self._words * WORD).reshape(self._words, WORD) < self._problem.classes
        mask = (bits.astype(np.uint64) << np.arange(WORD, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
        self._rivals = np.tile(mask, len(self))
        self._best = np.zeros_like(self._w)
        self.own = self.primal = _core.sum(self.C * self._importance)
        self._weigh()

    def _weigh(self) -> None:
        """Compute the length of the weights and the dual."""
        self.norm2 = inner(self._w, self._w)
        right = self._right(self._alpha)
        self.bound = _core.sum(right * (1 - self._soft * right / 2)) - self.norm2 / 2

    def _within_bounds(self) -> None:
        """Put multipliers that are at a bound, except for rounding errors, exactly there."""
        right = np.maximum(self._right(self._alpha), 0)
        if not self._problem.squared:
            cap = self.C * self._importance
            right = np.where(abs(right - cap) <= ROUNDING * cap, cap, right)
        if self._problem.classes > 2:
            np.minimum(self._alpha, 0, out=self._alpha)
        self._alpha[self._own] = right

    def _right(self, alpha: Array) -> Array:
        """Return the multipliers of two classes, or those of the right classes."""
        found: Array = alpha[self._own]
        return found

    @property
    def _soft(self) -> Array:
        return 1 / (2 * self.C * self._importance) if self._problem.squared else np.zeros(len(self))

    # ---- state

    def _states(self) -> list[State]:
        """Return the state of each partition."""
        arrays: State = {"alpha": self._alpha, "pauses": self._pauses, "naps": self._naps, "rivals": self._rivals}
        return states_of(arrays, self._sights, self._slices, self._words)

    def _put(self, place: slice, state: State) -> None:
        self._alpha[place] = state["alpha"]
        self._pauses[place], self._naps[place] = state["pauses"], state["naps"]
        self._rivals[place.start * self._words : place.stop * self._words] = state["rivals"]

    def get_state(self) -> State:
        """Return everything that is needed to go on with the same bits."""
        numbers = [self.C, self.primal, self.own, self.bound, self.norm2, self.spread]
        return {
            "alpha": self._alpha.copy(),
            "w": self._w,
            "best": self._best,
            "pauses": self._pauses.copy(),
            "naps": self._naps.copy(),
            "rivals": self._rivals.copy(),
            "sights": self._sights.copy(),
            "numbers": np.array(numbers),
        }

    def check_state(self, state: State) -> None:
        """Raise an error if a state of the right shape has impossible numbers."""
        C, primal, own, _, norm2, spread = state["numbers"].tolist()
        need(bool(np.isfinite(state["numbers"]).all()) and C > 0, "it has an impossible number")
        need(primal >= 0 and own >= 0 and norm2 >= 0, "it has an impossible objective")
        need(1 <= spread <= max(1, len(self._parts)), "its partitions move the weights too far")
        states = states_of(state, state["sights"], self._slices, self._words)
        arguments = [
            (part, number, self._problem, C, one) for (number, part), one in zip(self._parts, states, strict=True)
        ]
        for problem in self._gather(problem_of_state, arguments):
            need(not problem, problem)

    def set_state(self, state: State) -> None:
        self.C, self.primal, self.own, self.bound, self.norm2, self.spread = state["numbers"].tolist()
        self._alpha, self._w, self._best = (state[name].copy() for name in ("alpha", "w", "best"))
        self._pauses, self._naps, self._rivals = (state[name].copy() for name in ("pauses", "naps", "rivals"))
        self._sights = state["sights"].copy()


def states_of(arrays: State, sights: Array, places: list[slice], words: int) -> list[State]:
    """Divide the state of all examples into those of the partitions, which are at these places."""
    return [
        {
            **{name: np.ascontiguousarray(arrays[name][place]) for name in ("alpha", "pauses", "naps")},
            "rivals": arrays["rivals"][place.start * words : place.stop * words],
            "sights": seen,
        }
        for place, seen in zip(places, np.ascontiguousarray(sights), strict=True)
    ]


def inner(a: Array, b: Array) -> float:
    """Return the sum of products, in the same order of additions on every machine."""
    return _core.sum((a * b).ravel())
