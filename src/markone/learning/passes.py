"""Trains learners in passes over rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block
from markone.learning.examples import BlockExamples, Examples
from markone.learning.learner import Course, Learner
from markone.learning.progress import Progress, Silence
from markone.learning.run import Run
from markone.learning.run_options import Callback, RunOptions
from markone.learning.states import need
from markone.learning.trainable import OF_ROWS, AnyModel, Arrays, PassTotals, Stopping, Trainable
from markone.model.history import History
from markone.model.settings import Settings
from markone.storage.saved import Saved


def teach(
    learner: Learner,
    block: Block,
    *,
    holdout: Block | None = None,
    callback: Callback | None = None,
    progress: Progress | None = None,
) -> History:
    """Train a learner on a block, with the learner's settings, and return the history.

    The held-out rows are `holdout` or, by the settings, a share of the block.
    """
    examples = BlockExamples(learner.ready(block), learner.settings, holdout)
    training = LearnerTraining[Any](learner, examples)
    run = Run(training)
    history = run.make_passes(RunOptions(callback=callback, progress=progress or Silence()))
    training.use_best(run.best)
    return history


class LearnerTraining(Trainable[AnyModel]):
    """The training of a learner. A subclass defines how a model is made of it."""

    layout = OF_ROWS
    visited = "rows"
    if_too_large = (
        "the features are too large for the learning rate; scale them (to unit length, or to a standard deviation of "
        "1) or lower the rate"
    )
    works_after_passes = True

    def __init__(self, learner: Learner, examples: Examples) -> None:
        self.learner = learner
        self.examples = examples
        self.stopping = stopping_of(learner.settings, learner.passes)
        self.rows = examples.rows
        learner.begin(examples)

    def new_history(self) -> History:
        learned, held_out = self.examples.labels()
        majority = share_of_most_frequent(*zip(self.examples.labels(), self.examples.importance(), strict=True))
        return History(rows=len(learned), held_out=len(held_out), majority=majority)

    def learn_pass(self, epoch: int, skip: int) -> Iterator[PassTotals]:
        if skip == self.rows and self.learner.settings.partitions > 1:
            return  # the pass was made before the interruption
        for tally, visits in self.learner.learn_pass(self.examples, epoch, skip):
            yield PassTotals(visits, tally.mistakes, tally.updates, tally.loss, tally.importance)

    def accuracies(self) -> tuple[float | None, float | None]:
        return accuracies(self.learner, self.examples.held_out())

    def norm2(self) -> float:
        return self.learner.norm2()

    def course(self) -> Course:
        return self.learner.course()

    def best(self) -> Saved:
        return Saved({}, self.learner.get_state())

    def check_best(self, best: Saved) -> None:
        self.learner.check_state(best.arrays)

    def use_best(self, best: Saved | None) -> None:
        """Restore the best weights, if they were kept."""
        if best is not None:
            self.learner.set_state(best.arrays)

    def state(self) -> Arrays:
        return self.learner.get_state()

    def set_state(self, state: Arrays, passes: int, visits: int) -> None:
        whole = visits in (0, self.rows)
        need(whole or self.learner.settings.partitions == 1, "it was saved within a pass of partitions")
        self.learner.check_state(state)
        self.learner.set_state(state)

    def digest(self) -> str | None:
        return None


def share_of_most_frequent(*parts: tuple[NDArray[np.int32], NDArray[np.float64] | None]) -> float:
    """Return the share of the most frequent class, weighted like the accuracy, in the last part that is not empty."""
    labels, importance = next((part for part in reversed(parts) if len(part[0])), parts[0])
    if importance is not None and not importance.any():
        importance = None
    counts = np.bincount(labels, importance)
    return float(counts.max(initial=0) / max(1, counts.sum()))


def stopping_of(settings: Settings, passes: int) -> Stopping:
    return Stopping(
        epochs=passes,
        patience=settings.patience,
        gain=0.0 if settings.traits.nears_an_optimum else settings.tol or 0.0,
        watches_loss=True,
        stops_by_loss=settings.tol is not None,
        gain_is_share=not settings.traits.has_scale,
        comes_to_rest=settings.traits.comes_to_rest,
    )


def accuracies(learner: Learner, blocks: Iterator[Block]) -> tuple[float | None, float | None]:
    """Return the accuracies of the last and of the averaged weights, weighted by importance; None without blocks.

    If the importance of all rows is 0, all rows have the same weight.
    """
    which = [False, True] if learner.settings.average else [False]
    found = [
        (
            np.ones(len(block)) if block.importance is None else block.importance,
            *(learner.right(block, averaged) for averaged in which),
        )
        for block in blocks
    ]
    if not found:
        return None, None
    # Everything is added up at once, so that the result does not depend on how rows are divided into blocks.
    weights, *right = (np.concatenate(column) for column in zip(*found, strict=True))
    importance = _core.sum(weights)
    shares = [_core.sum(weights[one]) / importance if importance > 0 else float(one.mean()) for one in right]
    return shares[0], shares[1] if learner.settings.average else None
