"""The interface between a run and the models that it trains: classifiers, taggers, parsers, structured perceptrons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from markone.learning.checkpoints import Path
from markone.learning.learner import Course
from markone.model.history import History
from markone.storage.saved import Saved

Arrays = dict[str, NDArray[Any]]


class KeptModel(Protocol):
    """A model that can be saved, and whose training can be resumed."""

    history: History
    resume: Saved | None

    def save(self, path: Path) -> None: ...


AnyModel = TypeVar("AnyModel", bound=KeptModel)


@dataclass(slots=True)
class PassTotals:
    """The totals of the visits of a pass so far."""

    visits: int = 0
    """The number of visited examples, also of those with importance 0."""
    mistakes: int | None = 0
    """None, like the loss, for a learner that does not predict during training."""
    updates: int = 0
    loss: float | None = 0.0
    weight: float = 0.0
    """The divisor for the mean loss."""

    def add(self, more: PassTotals) -> None:
        self.visits += more.visits
        self.mistakes = None if self.mistakes is None or more.mistakes is None else self.mistakes + more.mistakes
        self.updates += more.updates
        self.loss = None if self.loss is None or more.loss is None else self.loss + more.loss
        self.weight += more.weight


@dataclass(frozen=True, slots=True)
class Stopping:
    """The conditions for stopping a run."""

    epochs: int
    patience: int | None = None
    """The run stops after this number of passes without an improvement."""
    gain: float = 0.0
    """The smallest improvement over the best pass so far that counts."""
    watches_loss: bool = False
    """Whether a smaller loss counts as an improvement if no rows are held out ..."""
    stops_by_loss: bool = False
    """... and whether the run stops without such improvements."""
    gain_is_share: bool = False
    """Whether `gain` is a share of the loss, for losses that depend on the scale of the features."""
    comes_to_rest: bool = True
    """Whether the run stops after a pass that changes nothing."""


@dataclass(frozen=True, slots=True)
class ResumeLayout:
    """The layout of a saved run in a file. Names and order must stay those of older files."""

    facts: tuple[str, ...]
    sums: dict[str, type[int] | type[float]]
    """The names and types of the totals of the interrupted pass."""
    weight: str
    """The name of the total weight in the sums."""

    def write_sums(self, totals: PassTotals) -> dict[str, Any]:
        values = {name: getattr(totals, "weight" if name == self.weight else name) for name in self.sums}
        return {name: None if values[name] is None else kind(values[name]) for name, kind in self.sums.items()}

    def read_sums(self, sums: dict[str, Any]) -> PassTotals:
        return PassTotals(**{"weight" if name == self.weight else name: value for name, value in sums.items()})


OF_ROWS = ResumeLayout(
    facts=("sums", "passes_without_gain", "digest"),
    sums={"visits": int, "mistakes": int, "updates": int, "loss": float, "importance": float},
    weight="importance",
)
OF_SENTENCES = ResumeLayout(
    facts=("digest", "sums", "passes_without_gain", "best"),
    sums={"visits": int, "decisions": int, "mistakes": int, "updates": int, "loss": float},
    weight="decisions",
)


class Trainable(ABC, Generic[AnyModel]):
    """Something that a run trains. It can be stopped between two pieces of a pass and resumed with the same bits."""

    layout: ClassVar[ResumeLayout]
    visited: ClassVar[str]
    """The name of the examples in messages."""
    if_too_large: ClassVar[str] = "the features are too large"
    """The reason and the advice in the message about diverged training."""
    stays_resumable: ClassVar[bool] = True
    """Whether training can be resumed from the finished model, and not only from a checkpoint."""
    works_after_passes: ClassVar[bool] = False
    """Whether there is more work after the last pass."""
    stopping: Stopping
    rows: int
    """The number of examples that a pass visits."""

    @abstractmethod
    def new_history(self) -> History:
        """Return a history without passes, but with the numbers of examples."""

    @abstractmethod
    def learn_pass(self, epoch: int, skip: int) -> Iterator[PassTotals]:
        """Make one pass (from 1) in pieces, and return the totals of each.

        The first `skip` visits of the pass were made before an interruption, and are skipped.
        """

    @abstractmethod
    def accuracies(self) -> tuple[float | None, float | None]:
        """Return the held-out accuracies of the last and of the averaged weights; None if there are none."""

    @abstractmethod
    def norm2(self) -> float:
        """Return the squared length of the last weights."""

    def course(self) -> Course:
        """Return the distance to the optimum after a pass, if there is an optimum."""
        return Course()

    @abstractmethod
    def best(self) -> Saved:
        """Return a copy of the current weights, which are the best so far."""

    @abstractmethod
    def check_best(self, best: Saved) -> None:
        """Raise an error if the best weights from a file cannot be used."""

    @abstractmethod
    def state(self) -> Arrays:
        """Return everything that is needed to resume."""

    @abstractmethod
    def set_state(self, state: Arrays, passes: int, visits: int) -> None:
        """Restore what `state` returned after `passes` passes and `visits` visits of the next one.

        The state may come from a damaged file: all of it is checked before anything is changed.
        """

    @abstractmethod
    def digest(self) -> str | None:
        """Return a digest of all training examples; None if it is not compared."""

    def unfinished(self, best: Saved | None, history: History, resume: Saved) -> AnyModel:
        """Return the model for a checkpoint. Only `Run.train` needs models."""
        raise NotImplementedError

    def finished(self, best: Saved | None, history: History, resume: Saved | None) -> AnyModel:
        """Return the model with the best weights or, if none were kept, with the last."""
        raise NotImplementedError
