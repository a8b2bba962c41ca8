"""The interface of learners, which all families of rules implement."""

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
    """The results of some visits."""

    @property
    def mistakes(self) -> int | None:
        """The number of misclassified examples; None for a learner that does not predict during training."""

    @property
    def updates(self) -> int:
        """The number of visits that changed the learner."""

    @property
    def loss(self) -> float | None:
        """The sum of the losses."""

    @property
    def importance(self) -> float:
        """The sum of the importance of the examples."""


class Counted(NamedTuple):
    """A tally that is computed in Python."""

    mistakes: int | None
    updates: int
    loss: float | None
    importance: float


class Course(NamedTuple):
    """The distance of a learner to its optimum after a pass, if it has an optimum."""

    objective: float | None = None
    """The value that the learner minimises."""
    gap: float | None = None
    """How far the objective may be from its minimum: for the SVM the duality gap as a share of the objective, for
    logistic regression the largest component of the gradient."""
    done: bool = False
    """Whether that is close enough."""


class Followed(Examples, Protocol):
    """Examples that record which rows were visited."""

    def taken(self, visits: int) -> NDArray[np.int64]:
        """Return the rows of the next `visits` visits."""


class Learner(Protocol):
    """Learns from examples in passes. It can be stopped between two pieces of a pass and resumed with the same bits."""

    @property
    def settings(self) -> SpelledOut:
        """The settings of its family, with all defaults filled in."""

    @property
    def features(self) -> int:
        """The width of the rows."""

    @property
    def classes(self) -> int:
        """The number of classes. Their labels are 0, 1, 2 and so on."""

    @property
    def columns(self) -> int:
        """The number of scores of a row: one for two classes, otherwise one for each class."""

    @property
    def passes(self) -> int:
        """The largest number of passes."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values in rows."""

    def ready(self, block: Block) -> Block:
        """Return the block in a form that this learner can use."""

    def begin(self, examples: Examples) -> None:
        """Prepare for the first pass. A learner that needs all examples at once takes them here."""

    def learn_pass(self, examples: Examples, epoch: int, skip: int) -> Iterator[tuple[Tally, int]]:
        """Make one pass (from 1) in pieces. Return for each piece its results and the number of visited rows.

        The first `skip` visits of the pass were made before an interruption, and are skipped.
        """

    def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]:
        """Return `columns` scores for each row, with the averaged or the last weights."""

    def predict(self, rows: Rows, averaged: bool | None = None) -> NDArray[np.int64]:
        """Return the number of the best class for each row."""

    def right(self, block: Block, averaged: bool | None = None) -> NDArray[np.bool_]:
        """Return for which labelled rows the prediction is right."""

    def norm2(self) -> float:
        """Return the squared length of the last weights, with the bias."""

    def course(self) -> Course:
        """Return the distance to the optimum after a pass."""

    def scorer(self) -> Scorer:
        """Return the scorer for a model."""

    def with_settings(self, settings: Settings) -> Learner:
        """Return a learner that continues from here with other settings."""

    def grown_from(self, scorer: Any, moved: NDArray[np.int64], places: list[int]) -> Learner:
        """Return a learner that starts from the scorer of a model, with the features and classes of this new learner.

        The model's feature i is `moved[i]` here, and its class k is `places[k]`.
        """

    def let_go(self) -> None:
        """Release the examples, and keep what was learned."""

    def judge(self, block: Block) -> Scorer:
        """Return the scorer that the next step uses for this block: the last weights, not averaged or best ones."""

    def visited_rows(self, examples: Followed, visits: int) -> tuple[NDArray[np.int64], int | None]:
        """Return the rows of the last step, which made `visits` visits, and the class that was learned against the
        rest, or None if all classes were learned together."""

    def get_state(self) -> State:
        """Return everything that is needed to resume with the same bits."""

    def set_state(self, state: State) -> None:
        """Restore a state of a learner with the same settings, shape and examples."""

    def check_state(self, state: State) -> None:
        """Raise an error if a state, which may come from a damaged file, cannot be restored."""


class CommonLearner:
    """The methods that most learners share; a learner overrides the others."""

    if TYPE_CHECKING:

        @property
        def settings(self) -> SpelledOut: ...
        @property
        def classes(self) -> int: ...
        def scores(self, rows: Rows, averaged: bool | None = None) -> NDArray[Any]: ...
        def scorer(self) -> Scorer: ...

    @property
    def columns(self) -> int:
        """The number of scores of a row: one for two classes, otherwise one for each class."""
        return 1 if self.classes <= 2 else self.classes

    @property
    def passes(self) -> int:
        """The largest number of passes, by the settings."""
        assert self.settings.epochs is not None  # defaults are filled in
        return self.settings.epochs

    def ready(self, block: Block) -> Block:
        """Return the block without changes."""
        return block

    def begin(self, examples: Examples) -> None:
        """Do nothing: the learner reads the examples during the passes."""

    def predict(self, rows: Rows, averaged: bool | None = None) -> NDArray[np.int64]:
        """Return the number of the best class for each row. The setting `tie` decides between equal scores."""
        if self.classes < 2:
            return np.zeros(len(rows), np.int64)
        return _core.winners(self.scores(rows, averaged), _core.Tie[self.settings.tie])

    def right(self, block: Block, averaged: bool | None = None) -> NDArray[np.bool_]:
        """Return for which labelled rows the prediction is right."""
        found: NDArray[np.bool_] = self.predict(block.rows, averaged) == block.labels
        return found

    def norm2(self) -> float:
        """Return 0, because the learner has no weights."""
        return 0.0

    def course(self) -> Course:
        """Return nothing: the learner has no optimum to which it could measure the distance."""
        return Course()

    def let_go(self) -> None:
        """Do nothing, because the learner keeps no examples."""

    def judge(self, block: Block) -> Scorer:
        return self.scorer()

    def visited_rows(self, examples: Followed, visits: int) -> tuple[NDArray[np.int64], int | None]:
        return examples.taken(visits), None

    def with_settings(self, settings: Settings) -> Learner:
        raise SettingsError("rule", f"is {self.settings.rule!r}, which cannot continue with other settings")

    def grown_from(self, scorer: Any, moved: NDArray[np.int64], places: list[int]) -> Learner:
        raise SettingsError("rule", f"is {self.settings.rule!r}, which cannot continue training from a model")
