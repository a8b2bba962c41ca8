"""Passes over examples until there is a reason to stop."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block
from markone.errors import DataError
from markone.learning.checkpoints import Keeper
from markone.learning.examples import BlockExamples, Examples
from markone.learning.interruption import Interruption
from markone.learning.learner import Learner, Tally
from markone.learning.progress import Progress, Silence
from markone.learning.states import check_saved, prefixed, without_prefix
from markone.model.history import History, Pass, Stop
from markone.storage.saved import Saved

Callback = Callable[[Pass], bool | None]
MAY_GO_ON: tuple[Stop, ...] = ("epochs", "interrupted", "callback")
"""Why a training ended that would not have ended there by itself."""


def teach(
    learner: Learner,
    block: Block,
    *,
    holdout: Block | None = None,
    callback: Callback | None = None,
    progress: Progress | None = None,
) -> History:
    """Teaches a learner the block, as its settings say, and tells how it went.

    The held-out rows are `holdout`, or a share of the block where the settings ask for one.
    """
    examples = BlockExamples(learner.ready(block), learner.settings, holdout)
    run = Run(learner, examples)
    history = make_passes(run, callback=callback, progress=progress)
    run.watch.restore_best()
    return history


def make_passes(
    run: Run,
    *,
    callback: Callback | None = None,
    progress: Progress | None = None,
    keeper: Keeper | None = None,
    interruption: Interruption | None = None,
) -> History:
    """Passes over the examples until the settings say to stop; the weights are those of the last one.

    Ctrl-C ends the training with the weights so far. The callback sees every pass and ends the training by returning
    True. A keeper is shown the run at every look, and saves it when it is interrupted. Whoever has more to do after the
    passes notes interruptions himself.
    """
    if interruption is None:
        with Interruption((signal.SIGINT,)) as interruption:
            return make_passes(run, callback=callback, progress=progress, keeper=keeper, interruption=interruption)
    history = run.history
    progress = progress or Silence()
    try:
        progress.start(run.examples.rows, run.epochs)
        if done := run.examples.rows * len(history) + run.sums.visits:
            progress.advance(done)
        for result in run.looks(progress):
            reason: Stop | None = None
            if result is not None:
                progress.finish_pass(result)
                reason = run.watch.reason(result, bool(callback and callback(result)))
            if reason is None and interruption.signal is not None:
                raise KeyboardInterrupt
            if reason is not None:
                history.stopped = reason
                run.ended = True
            if keeper is not None:
                keeper.look(after_pass=result is not None)
            if run.ended:
                break
    except KeyboardInterrupt:  # which may come from a callback, or from another handler of Ctrl-C
        history.stopped = "interrupted"
        if keeper is not None and run.steady:
            keeper.save_in_any_case()
    finally:
        progress.close()
    return history


@dataclass(slots=True)
class Sums:
    """What the visits of a pass have come to so far."""

    visits: int = 0
    """Rows that it was their turn of, be their importance 0."""
    mistakes: int | None = 0
    updates: int = 0
    loss: float | None = 0.0
    importance: float = 0.0

    def add(self, tally: Tally, visits: int) -> None:
        self.visits += visits
        self.mistakes = None if self.mistakes is None or tally.mistakes is None else self.mistakes + tally.mistakes
        self.updates += tally.updates
        self.loss = None if self.loss is None or tally.loss is None else self.loss + tally.loss
        self.importance += tally.importance


class Run:
    """A training that can be left at any look and taken up again, to the bit."""

    def __init__(self, learner: Learner, examples: Examples) -> None:
        self.learner = learner
        self.examples = examples
        self.epochs = learner.settings.epochs
        self.watch = Watch(learner)
        self.sums = Sums()
        self.steady = True
        """Whether it is between two steps, so that it can be saved."""
        self.ended = False
        """Whether there was a reason to stop before the last pass."""
        learned, held_out = examples.labels()
        counts = np.bincount(held_out if len(held_out) else learned)
        self.history = History(
            rows=len(learned), held_out=len(held_out), majority=float(counts.max(initial=0) / max(1, counts.sum()))
        )
        learner.begin(examples)

    def looks(self, progress: Progress) -> Iterator[Pass | None]:
        """Makes the passes that are left; stops to look around with None within a pass, with its result after it."""
        if self.ended:
            return
        for epoch in range(len(self.history) + 1, self.epochs + 1):
            start = time.perf_counter()
            for visits in self._learn(epoch):
                progress.advance(visits)
                yield None
            result = self._result(epoch, start)
            self.history.passes.append(result)
            self.history.best_epoch = self.watch.look(result)
            self.sums = Sums()
            yield result

    def _learn(self, epoch: int) -> Iterator[int]:
        self.steady = False
        for tally, visits in self.learner.learn_pass(self.examples, epoch, self.sums.visits):
            self.sums.add(tally, visits)
            self.steady = True
            yield visits
            self.steady = False
        self.steady = True

    def _result(self, epoch: int, start: float) -> Pass:
        sums, norm2, course = self.sums, self.learner.norm2(), self.learner.course()
        if not (math.isfinite(sums.loss or 0.0) and math.isfinite(norm2)):
            raise DataError(
                f"the weights grew beyond all numbers in pass {epoch}: the features are too large for the learning "
                "rate; scale them (to unit length, or to a standard deviation of 1) or lower the rate"
            )
        last, averaged = accuracies(self.learner, self.examples.held_out())
        return Pass(
            epoch=epoch,
            mistakes=sums.mistakes,
            updates=sums.updates,
            loss=None if sums.loss is None else sums.loss / sums.importance if sums.importance else 0.0,
            norm2=norm2,
            seconds=time.perf_counter() - start,
            holdout_last=last,
            holdout_averaged=averaged,
            objective=course.objective,
            gap=course.gap,
        )

    def save(self) -> Saved:
        """All that is needed to take it up again, beside the history so far."""
        arrays = prefixed("state.", self.learner.get_state())
        if self.watch.best_state is not None:
            arrays |= prefixed("best.", self.watch.best_state)
        return Saved({"sums": asdict(self.sums), "passes_without_gain": self.watch.passes_without_gain}, arrays)

    def restore(self, saved: Saved, history: History) -> None:
        """Takes up what `save` gave of a run with this history."""
        check_saved(saved, self.learner.check_state, self.examples.rows)
        self.learner.set_state(without_prefix("state.", saved.arrays))
        self.watch.best_state = without_prefix("best.", saved.arrays) or None
        self.sums = Sums(**saved.facts["sums"])
        self.watch.recall(history.passes)
        self.watch.passes_without_gain = saved.facts["passes_without_gain"]
        self.history.passes = list(history.passes)
        self.history.best_epoch = self.watch.best_epoch
        if history.stopped not in MAY_GO_ON:
            self.history.stopped, self.ended = history.stopped, True


class Watch:
    """Decides when to stop, and remembers the best weights."""

    def __init__(self, learner: Learner) -> None:
        self.settings = learner.settings
        self.learner = learner
        self.best_accuracy = -math.inf
        self.best_epoch: int | None = None
        self.best_state: dict[str, NDArray[np.float64]] | None = None
        self.best_loss = math.inf
        self.passes_without_gain = 0

    def look(self, result: Pass) -> int | None:
        tol = 0.0 if self.settings.traits.nears_an_optimum else self.settings.tol or 0.0
        if result.holdout is None:
            if result.loss is None:
                return self.best_epoch
            # Where a loss has no scale of its own, what counts as better is a share of it.
            unit = 1.0 if self.settings.traits.has_scale or math.isinf(self.best_loss) else self.best_loss
            gained = result.loss < self.best_loss - tol * unit
        else:
            gained = result.holdout > self.best_accuracy + tol
        self.passes_without_gain = 0 if gained else self.passes_without_gain + 1
        if self._remember(result):
            self.best_state = self.learner.get_state() if self.settings.patience else None
        return self.best_epoch

    def recall(self, passes: list[Pass]) -> None:
        """What was best in passes that were made before."""
        for result in passes:
            self._remember(result)

    def _remember(self, result: Pass) -> bool:
        """Whether its held-out accuracy is the best so far."""
        if result.holdout is None:
            self.best_loss = min(self.best_loss, math.inf if result.loss is None else result.loss)
            return False
        if result.holdout <= self.best_accuracy:
            return False
        self.best_accuracy, self.best_epoch = result.holdout, result.epoch
        return True

    def reason(self, result: Pass, asked: bool) -> Stop | None:
        if asked:
            return "callback"
        if self.settings.traits.nears_an_optimum and self.learner.course().done:
            return "optimum"
        if result.updates == 0 and self.settings.traits.comes_to_rest:
            return "converged"
        if self.settings.patience is not None and self.passes_without_gain >= self.settings.patience:
            if result.holdout is not None:
                return "held-out"
            if self.settings.tol is not None:
                return "loss"
        return None

    def restore_best(self) -> None:
        if self.best_state is not None:
            self.learner.set_state(self.best_state)


def accuracies(learner: Learner, blocks: Iterator[Block]) -> tuple[float | None, float | None]:
    """The share of the blocks' importance that the last and the averaged weights classify rightly; None for no blocks.

    It is the share of rows where none has any importance.
    """
    which = [False, True] if learner.settings.average else [False]
    right, right_rows = np.zeros(2), np.zeros(2)
    importance, rows = 0.0, 0
    for block in blocks:
        weights = np.ones(len(block)) if block.importance is None else block.importance
        importance += _core.sum(weights)
        rows += len(block)
        for averaged in which:
            found = learner.predict(block.rows, averaged) == block.labels
            right[int(averaged)] += _core.sum(weights[found])
            right_rows[int(averaged)] += found.sum()
    if rows == 0:
        return None, None
    share = right / importance if importance > 0 else right_rows / rows
    return float(share[0]), float(share[1]) if learner.settings.average else None
