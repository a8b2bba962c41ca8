"""What a run can teach: classifiers, taggers, parsers, and structured perceptrons."""

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
    """A model that can be saved, and that a training can go on from."""

    history: History
    resume: Saved | None

    def save(self, path: Path) -> None: ...


AnyModel = TypeVar("AnyModel", bound=KeptModel)


@dataclass(slots=True)
class PassTotals:
    """What the visits of a pass add up to so far."""

    visits: int = 0
    """Examples that were visited, those of importance 0 included."""
    mistakes: int | None = 0
    """None of a learner that does not judge before it learns; so is the loss."""
    updates: int = 0
    loss: float | None = 0.0
    weight: float = 0.0
    """What the loss is divided by to get its mean."""

    def add(self, more: PassTotals) -> None:
        self.visits += more.visits
        self.mistakes = None if self.mistakes is None or more.mistakes is None else self.mistakes + more.mistakes
        self.updates += more.updates
        self.loss = None if self.loss is None or more.loss is None else self.loss + more.loss
        self.weight += more.weight


@dataclass(frozen=True, slots=True)
class Stopping:
    """When a run stops by itself."""

    epochs: int
    patience: int | None = None
    """It stops after so many passes without a gain."""
    gain: float = 0.0
    """By how much a pass must be better than the best one so far."""
    watches_loss: bool = False
    """Whether a smaller loss is a gain, where nothing is held out ..."""
    stops_by_loss: bool = False
    """... and whether patience ends where there was none."""
    gain_is_share: bool = False
    """Whether the gain is a share of the loss, since that has no scale of its own."""
    comes_to_rest: bool = True
    """Whether a pass that changes nothing is the last."""


@dataclass(frozen=True, slots=True)
class ResumeLayout:
    """How a file keeps a run to go on with. Names and order are those of files that were written before."""

    facts: tuple[str, ...]
    sums: dict[str, type[int] | type[float]]
    """The totals of the pass that was interrupted, and what kind of number each is."""
    weight: str
    """What the sums call the weight of the visits."""

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
    """What a run teaches in passes. It can be left between two pieces of a pass and taken up again, to the bit."""

    layout: ClassVar[ResumeLayout]
    visited: ClassVar[str]
    """What it learns from, in messages."""
    if_too_large: ClassVar[str] = "the features are too large"
    """Why weights may overflow, and what can be done."""
    stays_resumable: ClassVar[bool] = True
    """Whether training can go on from the finished model; else only from a checkpoint."""
    works_after_passes: ClassVar[bool] = False
    """Whether the model is not yet finished after the last pass."""
    stopping: Stopping
    rows: int
    """How many examples a pass visits."""

    @abstractmethod
    def new_history(self) -> History:
        """A history without passes, which says how many examples there are."""

    @abstractmethod
    def learn_pass(self, epoch: int, skip: int) -> Iterator[PassTotals]:
        """Makes one pass (from 1) in pieces, and says what happened in each.

        So many visits of the pass were made before, and are skipped.
        """

    @abstractmethod
    def accuracies(self) -> tuple[float | None, float | None]:
        """Those of the last and of the averaged weights on what is held out; None where there are none."""

    @abstractmethod
    def norm2(self) -> float:
        """The squared length of the last weights."""

    def course(self) -> Course:
        """After a pass: how near it is to its optimum, if it nears one."""
        return Course()

    @abstractmethod
    def best(self) -> Saved:
        """The weights as they are now, in case they turn out to be the best."""

    @abstractmethod
    def check_best(self, best: Saved) -> None:
        """That what a file has as the best weights can be used."""

    @abstractmethod
    def state(self) -> Arrays:
        """All that is needed to go on."""

    @abstractmethod
    def set_state(self, state: Arrays, passes: int, visits: int) -> None:
        """Takes up what `state` gave after so many passes and so many visits of the next one.

        It may come from anywhere: all of it is checked before anything is changed.
        """

    @abstractmethod
    def digest(self) -> str | None:
        """Of all that it learns from; None where nobody compares it."""

    def unfinished(self, best: Saved | None, history: History, resume: Saved) -> AnyModel:
        """The model of a checkpoint. Only `Run.train` asks for models."""
        raise NotImplementedError

    def finished(self, best: Saved | None, history: History, resume: Saved | None) -> AnyModel:
        """The model with the best weights or, where none were kept, the last."""
        raise NotImplementedError
