"""What a learner is: what passes over examples teach, whatever its family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Rows
from markone.errors import SettingsError
from markone.learning.examples import Examples
from markone.model.scorer import Scorer
from markone.model.settings import Settings, SpelledOut

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


class Followed(Examples, Protocol):
    """Examples that know which rows were visited last."""

    def taken(self, visits: int) -> NDArray[np.int64]:
        """The rows of the next so many visits."""


class Learner(Protocol):
    """Learns from examples in passes, and can be left between two pieces of one and taken up again, to the bit."""

    @property
    def settings(self) -> SpelledOut:
        """Those of its family, in which no None stands for what is usual."""

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

    def with_settings(self, settings: Settings) -> Learner:
        """A learner that goes on from here by other settings."""

    def grown_from(self, scorer: Any, moved: NDArray[np.int64], places: list[int]) -> Learner:
        """One that starts where a model's scorer is: old feature i is now `moved[i]`, and class k is `places[k]`. This
        one has all the features and classes, and has learned nothing yet."""

    def let_go(self) -> None:
        """Keeps what it has learned, but not the examples."""

    def judge(self, block: Block) -> Scorer:
        """What the next step judges rows of this block by: nothing averaged, and nothing better from before."""

    def visited_rows(self, examples: Followed, visits: int) -> tuple[NDArray[np.int64], int | None]:
        """The rows of the last step, which made so many visits; and, where each class is learned against the rest, the
        number of the class whose turn it was."""

    def get_state(self) -> State:
        """All that is needed to go on, to the bit, as if nothing had happened."""

    def set_state(self, state: State) -> None:
        """Goes back to what `get_state` of a learner with the same settings, shape and examples gave."""

    def check_state(self, state: State) -> None:
        """That a state, which may come from anywhere, is one that can be set."""


class CommonLearner:
    """What most learners do alike; a learner overrides what it does in another way."""

    if TYPE_CHECKING:

        @property
        def settings(self) -> SpelledOut: ...
        @property
        def classes(self) -> int: ...
        def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]: ...
        def scorer(self) -> Scorer: ...

    @property
    def columns(self) -> int:
        """Scores for each row: one for two classes, else one for each."""
        return 1 if self.classes <= 2 else self.classes

    def ready(self, block: Block) -> Block:
        """The block as it is."""
        return block

    def begin(self, examples: Examples) -> None:
        """It takes examples as they come."""

    def predict(self, rows: Rows, averaged: bool | None = None) -> NDArray[np.int64]:
        """The number of the best class for each row; the settings' `tie` says which of several."""
        if self.classes < 2:
            return np.zeros(len(rows), np.int64)
        return _core.winners(self.scores(rows, averaged), _core.Tie[self.settings.tie])

    def norm2(self) -> float:
        """It has no weights."""
        return 0.0

    def course(self) -> Course:
        """It nears no optimum that it could measure its distance to."""
        return Course()

    def let_go(self) -> None:
        """It keeps no examples."""

    def judge(self, block: Block) -> Scorer:
        return self.scorer()

    def visited_rows(self, examples: Followed, visits: int) -> tuple[NDArray[np.int64], int | None]:
        return examples.taken(visits), None

    def with_settings(self, settings: Settings) -> Learner:
        raise SettingsError("rule", f"is {self.settings.rule!r}, which cannot go on by other settings")

    def grown_from(self, scorer: Any, moved: NDArray[np.int64], places: list[int]) -> Learner:
        raise SettingsError("rule", f"is {self.settings.rule!r}, which cannot learn on from a model")
