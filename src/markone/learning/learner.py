"""What a learner is: what passes over examples teach, whatever its family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Block, Rows
from markone.learning.examples import Examples
from markone.model.scorer import Scorer
from markone.model.settings import Settings

State = dict[str, NDArray[Any]]


class Tally(Protocol):
    """What happened at some visits."""

    @property
    def mistakes(self) -> int | None:
        """Misclassified examples; None of a learner that does not judge before it learns."""

    @property
    def updates(self) -> int:
        """Visits that changed the learner."""

    @property
    def loss(self) -> float | None:
        """The sum of the losses."""

    @property
    def importance(self) -> float:
        """The sum of the importance of the examples."""


class Counted(NamedTuple):
    """A tally that was made in Python."""

    mistakes: int | None
    updates: int
    loss: float | None
    importance: float


class Course(NamedTuple):
    """How near a learner is to its optimum after a pass, if it nears one."""

    objective: float | None = None
    """What it makes small."""
    gap: float | None = None
    """How far it may be from the smallest: of the SVM the duality gap as a share of the objective, of logistic
    regression the largest slope."""
    done: bool = False
    """Whether that is near enough."""


class Learner(Protocol):
    """Learns from examples in passes, and can be left between two pieces of one and taken up again, to the bit."""

    settings: Settings
    """In which no None stands for what is usual."""

    @property
    def features(self) -> int:
        """The width of the rows that it can learn from."""

    @property
    def classes(self) -> int:
        """The number of classes, known to it as 0, 1, 2 and so on."""

    @property
    def columns(self) -> int:
        """Scores for each row: one for two classes, else one for each."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the rows."""

    def ready(self, block: Block) -> Block:
        """The block as this learner can use it."""

    def begin(self, examples: Examples) -> None:
        """Before the first pass; what looks at all examples at once takes them here."""

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Tally, int]]:
        """Makes one pass (from 1) in pieces: what happened in each, and how many rows it visited.

        So many visits of the pass were made before, and are skipped.
        """

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        """One row of `columns` scores for each row, by the averaged or the last weights."""

    def predict(self, rows: Rows, averaged: bool | None = None) -> NDArray[np.int64]:
        """The number of the best class for each row."""

    def norm2(self) -> float:
        """The squared length of the last weights, bias included."""

    def course(self) -> Course:
        """After a pass: how near it is to its optimum."""

    def scorer(self) -> Scorer:
        """What a model predicts with."""

    def get_state(self) -> State:
        """All that is needed to go on, to the bit, as if nothing had happened."""

    def set_state(self, state: State) -> None:
        """Goes back to what `get_state` of a learner with the same settings, shape and examples gave."""

    def check_state(self, state: State) -> None:
        """That a state, which may come from anywhere, is one that can be set."""
