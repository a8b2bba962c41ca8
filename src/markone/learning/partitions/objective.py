"""The objective of logistic regression in partitions: each computes its own sums, and these are added in a fixed tree.

It stands for the core's objective of all rows, and gives a solver the same numbers except for rounding errors, so that
it converges to the same optimum. Threads compute the sums of several partitions at the same time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from operator import add
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block
from markone.learning.examples import shares
from markone.parallel import count_threads, in_order

Array = NDArray[np.float64]
Result = TypeVar("Result")
Number = TypeVar("Number", float, Array)


class PartedObjective:
    """The mean loss of rows in partitions, with the methods of `_core.Objective` for steps in the space of weights."""

    def __init__(
        self, block: Block, classes: int, chosen: NDArray[np.int64] | None, *, partitions: int, threads: int | None
    ) -> None:
        """`chosen` are the numbers of the training rows; None if these are all rows."""
        rows = np.arange(len(block)) if chosen is None else chosen
        made = [
            _core.Objective(block.rows, block.labels, classes, block.importance, rows[(rows >= start) & (rows < end)])
            for start, end in shares(len(block), partitions)
        ]
        self._parts = [part for part in made if part.rows > 0]
        self._ends = np.cumsum([0, *(part.rows for part in self._parts)]).tolist()
        self._threads = count_threads(threads)
        self.rows = int(self._ends[-1])
        self.features = block.rows.width
        self.classes = classes
        self.stride = made[0].stride
        self.importance = float(sum(part.importance for part in self._parts))
        self._shares = [part.importance / self.importance for part in self._parts]

    def stored(self) -> int:
        return sum(part.stored() for part in self._parts)

    def _each(self, work: Callable[[int, slice], Result]) -> list[Result]:
        """Return the results for the number and the rows of each partition."""
        rows = [slice(start, end) for start, end in pairwise(self._ends)]
        return [*in_order(lambda i: work(i, rows[i]), range(len(rows)), self._threads)]

    # ---- functions of the scores of all rows

    def shares(self) -> Array:
        return np.concatenate([share * part.shares() for share, part in zip(self._shares, self._parts, strict=True)])

    def judge(self, scores: Array, pulls: Array) -> tuple[float, int]:
        def judged(i: int, rows: slice) -> tuple[float, int]:
            loss, mistakes = self._parts[i].judge(scores[rows], pulls[rows])
            pulls[rows] *= self._shares[i]
            return self._shares[i] * loss, mistakes

        found = self._each(judged)
        return sum_in_tree([loss for loss, _ in found]), sum(mistakes for _, mistakes in found)

    def along(self, scores: Array, steps: Array, t: float) -> tuple[float, float, float]:
        found = self._each(
            lambda i, rows: self._shares[i] * np.array(self._parts[i].along(scores[rows], steps[rows], t))
        )
        loss, slope, curvature = sum_in_tree(found).tolist()
        return loss, slope, curvature

    def sums(self, pulls: Array) -> Array:
        return sum_in_tree(self._each(lambda i, rows: self._parts[i].sums(pulls[rows])))

    # ---- functions of the weights

    def inner(self, a: Array, b: Array) -> float:
        return self._parts[0].inner(a, b)

    def score(self, w: Array, scores: Array) -> None:
        self._each(lambda i, rows: self._parts[i].score(w, scores[rows]))

    def gather(self, pulls: Array, out: Array) -> None:
        def gathered(i: int, rows: slice) -> Array:
            self._parts[i].gather(pulls[rows], own := np.zeros_like(out))
            return own

        out[:] = sum_in_tree(self._each(gathered))

    def product(self, v: Array, steps: Array, out: Array) -> float:
        def multiplied(i: int, rows: slice) -> tuple[float, Array]:
            bent = self._parts[i].product(v, steps[rows], own := np.zeros_like(out))
            own *= self._shares[i]
            return self._shares[i] * bent, own

        found = self._each(multiplied)
        out[:] = sum_in_tree([own for _, own in found])
        return sum_in_tree([bent for bent, _ in found])

    def curvatures(self, out: Array) -> None:
        def computed(i: int, rows: slice) -> Array:
            self._parts[i].curvatures(own := np.zeros_like(out))
            own *= self._shares[i]
            return own

        out[:] = sum_in_tree(self._each(computed))


def sum_in_tree(numbers: list[Number]) -> Number:
    """Return the sum of neighbours, then of neighbours of these, and so on: its bits depend on the numbers alone.

    >>> sum_in_tree([1, 2, 3])
    6
    """
    while len(numbers) > 1:
        numbers = [reduce(add, numbers[i : i + 2]) for i in range(0, len(numbers), 2)]
    return numbers[0]
