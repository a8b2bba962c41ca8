"""Runs: passes over sentences, with held-out sentences, checkpoints and a way to go on to the bit."""

from __future__ import annotations

import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from markone.errors import DataError, ModelFileError, Setting, SettingsError
from markone.learning.checkpoints import Checkpoints, Keeper, Path
from markone.learning.examples import shuffled
from markone.learning.interruption import Interruption
from markone.learning.passes import MAY_GO_ON, Callback
from markone.learning.progress import Progress, Silence, visible_progress
from markone.learning.states import prefixed, without_prefix
from markone.model.history import History, Pass, Stop
from markone.storage.saved import Saved

BETWEEN_LOOKS = 1000
"""Sentences."""
PIECE = 2**10
"""Sentences that stand together ..."""
WINDOW = 2**16
"""... and those that are visited at random: of several pieces, if there are more than these."""
MOST = 2**53
Arrays = dict[str, NDArray[Any]]


class Kept(Protocol):
    """A model that can be saved, and that a run can be taken up from."""

    history: History
    resume: Saved | None

    def save(self, path: Path) -> None: ...


Model = TypeVar("Model", bound=Kept)


@dataclass(slots=True)
class Sums:
    """What the visits of a pass have come to so far."""

    visits: int = 0
    """Of sentences."""
    decisions: int = 0
    mistakes: int = 0
    updates: int = 0
    loss: float = 0.0
    """Of all decisions."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user wants of a run beside its settings."""

    checkpoints: Checkpoints | None
    resumed: Path | None
    """The file to go on from, if it is there."""
    callback: Callback | None
    progress: Progress

    @classmethod
    def of(cls, checkpoint: Any, resume: Any, callback: Callback | None, progress: Progress | bool | None) -> Wishes:
        """Checked, before anything is done."""
        checkpoints = Checkpoints.of(checkpoint)
        if checkpoints is not None:
            checkpoints.check_folder()
        resumed = checkpoints.path if resume is True and checkpoints is not None else resume
        if resumed is True:
            where = (Setting("checkpoint", ...), ", or ", Setting("resume", ...))
            raise SettingsError("resume", ("needs the file that the training is kept in: ", *where))
        if callback is not None and not callable(callback):
            raise SettingsError("callback", f"must be a function, not {callback!r}")
        if isinstance(progress, bool):
            progress = visible_progress() if progress else None
        return cls(
            checkpoints, resumed if resumed and os.path.exists(resumed) else None, callback, progress or Silence()
        )


class Run(ABC, Generic[Model]):
    """A training that can be left at any look and taken up again."""

    stays_resumable = False
    """Whether what it ends with can be taken up again for more passes; else only what was kept before."""
    visited = "sentences"
    """What it learns from, in messages."""

    def __init__(self, sentences: int, held_out: int, *, epochs: int, seed: int, patience: int | None) -> None:
        self.sentences = sentences
        self.epochs = epochs
        self.seed = seed
        self.patience = patience
        self.sums = Sums()
        self.steady = True
        """Whether it is between two steps, so that it can be saved."""
        self.ended = False
        """Whether there was a reason to stop before the last pass."""
        self.best: Saved | None = None
        """The weights with the best held-out accuracy, where there is a patience."""
        self.best_accuracy = -1.0
        self.passes_without_gain = 0
        self.history = History(rows=sentences, held_out=held_out)

    # ---- what a learner does

    @abstractmethod
    def learn(self, some: NDArray[np.int64], epoch: int, seed: int) -> Sums:
        """Visits these sentences in turn, or only the first of them, and says how many."""

    @abstractmethod
    def accuracies(self) -> tuple[float | None, float | None]:
        """Those of the last and of the averaged weights on what is held out, where there is any."""

    @abstractmethod
    def norm2(self) -> float:
        """The squared length of the last weights."""

    @abstractmethod
    def weights(self) -> Saved:
        """The weights that predict, as they are now."""

    @abstractmethod
    def state(self) -> Arrays:
        """All that the learner needs to go on."""

    @abstractmethod
    def set_state(self, state: Arrays, passes: int, visits: int) -> None:
        """Takes up what `state` gave after so many passes and visits of the next one. It may come from anywhere: all of
        it is checked before anything is changed."""

    @abstractmethod
    def digest(self) -> str:
        """Of all that it learns from."""

    @abstractmethod
    def model(self, weights: Saved, history: History, resume: Saved | None) -> Model:
        """What predicts."""

    def order(self, epoch: int) -> NDArray[np.int64]:
        """In which a pass visits the sentences: another in each, unless a learner wants it otherwise."""
        return visiting_order(self.sentences, self.seed, epoch)

    # ---- passes

    def finish(self, wishes: Wishes) -> Model:
        """Makes the passes that are left."""
        checkpoints, progress = wishes.checkpoints, wishes.progress
        keeper = None if checkpoints is None else Keeper(checkpoints, self.keep)
        signals = (signal.SIGINT,) if checkpoints is None else (signal.SIGINT, signal.SIGTERM)
        with Interruption(signals, keeping=checkpoints is not None) as interruption:
            try:
                progress.start(self.sentences, self.epochs)
                progress.advance(self.sentences * len(self.history) + self.sums.visits)
                self._make_passes(wishes.callback, progress, keeper, lambda: interruption.signal is not None)
            except KeyboardInterrupt:  # which may come from a callback, or from another handler of Ctrl-C
                self.history.stopped = "interrupted"
                if keeper is not None and self.steady:
                    keeper.save_in_any_case()
            finally:
                progress.close()
        if interruption.signal == signal.SIGTERM:
            signal.raise_signal(signal.SIGTERM)
        return self.model(self.best or self.weights(), self.history, self._kept() if self.stays_resumable else None)

    def _make_passes(
        self, callback: Callback | None, progress: Progress, keeper: Keeper | None, interrupted: Callable[[], bool]
    ) -> None:
        while not self.ended and len(self.history) < self.epochs:
            start = time.perf_counter()
            epoch = len(self.history) + 1
            order = self.order(epoch)
            while self.sums.visits < len(order):
                progress.advance(self._visit(order, epoch))
                if self.sums.visits < len(order):
                    if interrupted():
                        raise KeyboardInterrupt
                    if keeper is not None:
                        keeper.look(after_pass=False)
            result = self._look(epoch, start)
            progress.finish_pass(result)
            reason = self._reason(result, bool(callback and callback(result)))
            if reason is not None:
                self.history.stopped, self.ended = reason, True
            elif interrupted():
                raise KeyboardInterrupt
            if keeper is not None:
                keeper.look(after_pass=True)

    def _visit(self, order: NDArray[np.int64], epoch: int) -> int:
        """Visits the next sentences, and returns how many.

        What is drawn at random depends on where in which pass it is, so that one can go on from any look.
        """
        at = self.sums.visits
        seed = int(np.random.SeedSequence([self.seed, epoch, at]).generate_state(1, np.uint64)[0])
        self.steady = False
        more = self.learn(order[at : at + BETWEEN_LOOKS], epoch, seed)
        self.sums = Sums(*(getattr(self.sums, one.name) + getattr(more, one.name) for one in fields(Sums)))
        self.steady = True
        return more.visits

    def _look(self, epoch: int, start: float) -> Pass:
        """The end of a pass: what it came to."""
        last, averaged = self.accuracies()
        result = Pass(
            epoch=epoch,
            mistakes=self.sums.mistakes,
            updates=self.sums.updates,
            loss=self.sums.loss / max(1, self.sums.decisions),
            norm2=self.norm2(),
            holdout_last=last,
            holdout_averaged=averaged,
            seconds=time.perf_counter() - start,
        )
        self.history.passes.append(result)
        self.sums = Sums()
        if result.holdout is not None:
            if self._remember(result):
                self.passes_without_gain = 0
                self.best = self.weights() if self.patience else None
            else:
                self.passes_without_gain += 1
        return result

    def _remember(self, result: Pass) -> bool:
        """Whether its held-out accuracy is the best so far."""
        if result.holdout is None or result.holdout <= self.best_accuracy:
            return False
        self.best_accuracy, self.history.best_epoch = result.holdout, result.epoch
        return True

    def _reason(self, result: Pass, asked: bool) -> Stop | None:
        if asked:
            return "callback"
        if result.updates == 0:
            return "converged"
        return "held-out" if self.patience is not None and self.passes_without_gain >= self.patience else None

    # ---- what is kept

    def keep(self, path: Path) -> None:
        """Saves it as it is, with all that is needed to take it up again."""
        history = self.history
        if not self.ended and len(history) < self.epochs:
            history = replace(history, stopped="interrupted")
        self.model(self.best or self.weights(), history, self._kept()).save(path)

    def _kept(self) -> Saved:
        """All that is needed to take it up again, beside the history so far."""
        facts = {"digest": self.digest(), "sums": asdict(self.sums), "passes_without_gain": self.passes_without_gain}
        arrays = prefixed("state.", self.state())
        if self.best is not None:
            facts["best"] = self.best.facts
            arrays |= prefixed("best.", self.best.arrays)
        return Saved(facts, arrays)

    def go_on(self, kept: Model) -> None:
        """Takes up a training of the same sentences."""
        if kept.resume is None:
            raise DataError("the file to resume from is a final model, which has not kept its training; train it anew")
        facts, arrays = kept.resume.facts, kept.resume.arrays
        passes = kept.history.passes
        check_facts(facts, len(passes))
        if facts["digest"] != self.digest():
            raise DataError(
                f"the {self.visited} are not those of the training that was interrupted; resume it with the same data, "
                "or start anew"
            )
        sums = Sums(**facts["sums"])
        if sums.visits > self.sentences:
            raise damaged(f"it has made more visits than there are {self.visited}")
        states, best = without_prefix("state.", arrays), without_prefix("best.", arrays)
        if len(states) + len(best) != len(arrays):
            raise damaged("it has other arrays than it should")
        measured = any(result.holdout is not None for result in passes)
        if ("best" in facts) != (self.patience is not None and measured) or (best and "best" not in facts):
            raise damaged("it has not kept the best weights, or should not have")
        found = Saved(facts["best"], best) if "best" in facts else None
        if found is not None:
            self._check_best(found)
        self.set_state(states, len(passes), sums.visits)
        self.sums, self.passes_without_gain, self.best = sums, facts["passes_without_gain"], found
        for result in passes:
            self._remember(result)
        self.history.passes = list(passes)
        if kept.history.stopped not in MAY_GO_ON:
            self.history.stopped, self.ended = kept.history.stopped, True

    def _check_best(self, best: Saved) -> None:
        """That these are weights that could predict, lest they turn out to be none when all passes are made."""
        try:
            self.model(best, self.history, None)
        except ValueError as error:
            raise damaged(str(error)) from None


def visiting_order(sentences: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """All sentences at random, but many in windows: of some random pieces of the corpus, so that a pass over a corpus
    that does not fit into memory reads it in long runs."""
    order = np.arange(sentences, dtype=np.int64)
    if sentences <= WINDOW:
        return shuffled(order, seed, epoch - 1)
    first_ones = shuffled(np.arange(0, sentences, PIECE, dtype=np.int64), seed, epoch - 1)
    order = np.concatenate([order[first : first + PIECE] for first in first_ones.tolist()])
    for number, begin in enumerate(range(0, sentences, WINDOW)):
        order[begin : begin + WINDOW] = shuffled(order[begin : begin + WINDOW], seed, epoch - 1, number)
    return order


def check_settings(kept: Any, now: Any) -> None:
    """That a training goes on with the settings that it had; there may be more passes."""
    for field in fields(now):
        before, wanted = getattr(kept, field.name), getattr(now, field.name)
        if field.name != "epochs" and before != wanted:
            raise SettingsError(field.name, f"is {wanted!r:.80} now and was {before!r:.80} before the interruption")


def split(sentences: int, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sentences to learn from and to hold out, at random, each set in the order of the corpus."""
    if share == 0:
        return np.arange(sentences), np.zeros(0, np.int64)
    apart = np.zeros(sentences, bool)
    apart[np.random.default_rng([seed, 1]).permutation(sentences)[: round(share * sentences)]] = True
    if not apart.any() or apart.all():
        raise DataError(f"{sentences} sentences are too few to hold out a share of {share:g}; hold out more, or none")
    return np.flatnonzero(~apart), np.flatnonzero(apart)


def check_facts(facts: dict[str, Any], passes: int) -> None:
    """The facts that a run of so many passes has kept."""
    if (
        not {"digest", "sums", "passes_without_gain"}
        <= facts.keys()
        <= {"digest", "sums", "passes_without_gain", "best"}
    ):
        raise damaged("it has other parts than it should")
    sums = facts["sums"]
    if not isinstance(sums, dict) or sums.keys() != {one.name for one in fields(Sums)}:
        raise damaged("it has other sums than it should")
    for name, value in {**sums, "passes_without_gain": facts["passes_without_gain"]}.items():
        good = type(value) is int or (name == "loss" and type(value) is float)
        if not good or not 0 <= value <= MOST:
            raise damaged(f"{name} is {value!r:.50}")
    if facts["passes_without_gain"] > passes:
        raise damaged(f"passes_without_gain is {facts['passes_without_gain']} of {passes} passes")
    if not isinstance(facts["digest"], str) or not isinstance(facts.get("best", {}), dict):
        raise damaged("it has other parts than it should")


def damaged(problem: str) -> ModelFileError:
    return ModelFileError(f"what the file has to go on from is damaged: {problem}; start anew")
