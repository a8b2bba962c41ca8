"""Passes over examples until there is a reason to stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block
from markone.data.store import RowStore
from markone.errors import DataError
from markone.learning.holdout import check_both, split
from markone.learning.linear import Linear
from markone.learning.progress import Progress, Silence
from markone.model.history import History, Pass, Stop
from markone.model.settings import Settings

Callback = Callable[[Pass], bool | None]

VALUES_BETWEEN_LOOKS = 4_000_000
"""How many values, times weight vectors, before Python looks up: for Ctrl-C and for the progress bar."""


class Examples(Protocol):
    """What is learned from, and what is held out to measure accuracy on."""

    @property
    def rows(self) -> int:
        """How many a pass visits."""

    def visits(self, settings: Settings, epoch: int) -> Iterator[tuple[Block, NDArray[np.int64] | None]]:
        """The blocks of a pass (from 1), each with the order of its visits; None is every row as it stands."""

    def between_looks(self, columns: int) -> int:
        """How many visits are soon made, for so many weight vectors; the same wherever the rows are kept."""

    def held_out(self) -> Iterator[Block]:
        """Nothing where nothing is held out."""


class BlockExamples:
    """One block, or what a share of it leaves to learn from."""

    def __init__(self, block: Block, settings: Settings, holdout: Block | None = None) -> None:
        self._block = block
        self._rows = np.arange(len(block))
        self._holdout = holdout
        if holdout is None and settings.holdout > 0:
            self._rows, kept_apart = split(block.labels, settings.holdout, settings.seed)
            self._holdout = block.take(kept_apart)

    @property
    def rows(self) -> int:
        return len(self._rows)

    def visits(self, settings: Settings, epoch: int) -> Iterator[tuple[Block, NDArray[np.int64] | None]]:
        if settings.order == "given":
            yield self._block, self._rows if len(self._rows) < len(self._block) else None
        else:
            yield self._block, shuffled(self._rows, settings.seed, epoch_of_order(settings, epoch))

    def between_looks(self, columns: int) -> int:
        return between_looks(len(self._block), self._block.rows.stored, columns)

    def held_out(self) -> Iterator[Block]:
        if self._holdout is not None:
            yield self._holdout


class StoredExamples:
    """A store of rows, in memory or in a file, which are visited in the same order."""

    def __init__(self, store: RowStore, settings: Settings) -> None:
        self._store = store
        self._learned = ~store.held_out
        if settings.holdout > 0:
            check_both(store.held_out, settings.holdout)
        self.rows = int(self._learned.sum())

    def visits(self, settings: Settings, epoch: int) -> Iterator[tuple[Block, NDArray[np.int64] | None]]:
        pieces = np.arange(self._store.pieces)
        shuffling = settings.order != "given"
        mixed = epoch_of_order(settings, epoch)
        if shuffling:
            pieces = shuffled(pieces, settings.seed, mixed, 0, 1)
        for number, window in enumerate(self._store.windows(pieces)):
            # Of few rows there is one window. As it is shuffled wholly, its rows may as well start in their own order.
            block, here, anywhere = self._store.window(np.sort(window) if len(pieces) == len(window) else window)
            rows = here[self._learned[anywhere]]
            if shuffling:
                rows = shuffled(rows, settings.seed, mixed, *([number] if number else []))
            yield block, rows
            del block

    def between_looks(self, columns: int) -> int:
        return between_looks(len(self._store), self._store.values, columns)

    def held_out(self) -> Iterator[Block]:
        if self._learned.all():
            return
        for window in self._store.windows(np.arange(self._store.pieces)):
            block, here, anywhere = self._store.window(window)
            apart = here[~self._learned[anywhere]]
            if len(apart):
                yield block.take(apart)


def train_linear(
    linear: Linear,
    block: Block,
    *,
    holdout: Block | None = None,
    callback: Callback | None = None,
    progress: Progress | None = None,
) -> History:
    """Teaches `linear` the block, as its settings say, and tells how it went.

    The held-out rows are `holdout`, or a share of the block where the settings ask for one.
    """
    examples = BlockExamples(linear.ready(block), linear.settings, holdout)
    return make_passes(linear, examples, callback=callback, progress=progress)


def make_passes(
    linear: Linear, examples: Examples, *, callback: Callback | None = None, progress: Progress | None = None
) -> History:
    """Passes over the examples until the settings say to stop.

    Ctrl-C ends the training with the weights so far. The callback sees every pass and ends the training by returning
    True.
    """
    settings = linear.settings
    watch = Watch(settings, linear)
    history = History()
    progress = progress or Silence()
    progress.start(examples.rows, settings.epochs)
    try:
        for epoch in range(1, settings.epochs + 1):
            result = make_pass(linear, examples, epoch, progress)
            history.passes.append(result)
            progress.finish_pass(result)
            history.best_epoch = watch.look(result)
            reason = watch.reason(result, bool(callback and callback(result)))
            if reason is not None:
                history.stopped = reason
                break
    except KeyboardInterrupt:
        history.stopped = "interrupted"
    finally:
        progress.close()
    watch.restore_best()
    return history


def make_pass(linear: Linear, examples: Examples, epoch: int, progress: Progress) -> Pass:
    start = time.perf_counter()
    mistakes, updates, loss, importance = 0, 0, 0.0, 0.0
    size = examples.between_looks(linear.columns)
    for block, order in examples.visits(linear.settings, epoch):
        for part in parts(order, len(block) if order is None else len(order), size):
            tally = linear.learn(block, part)
            mistakes += tally.mistakes
            updates += tally.updates
            loss += tally.loss
            importance += tally.importance
            progress.advance(tally.visits)
        del block, order, part  # or this window would stay while the next one is read
    norm2 = linear.norm2()
    if not (math.isfinite(loss) and math.isfinite(norm2)):
        raise DataError(
            f"the weights grew beyond all numbers in pass {epoch}: the features are too large for the learning rate; "
            "scale them (to unit length, or to a standard deviation of 1) or lower the rate"
        )
    last, averaged = accuracies(linear, examples.held_out())
    return Pass(
        epoch=epoch,
        mistakes=mistakes,
        updates=updates,
        loss=loss / importance if importance else 0.0,
        norm2=norm2,
        seconds=time.perf_counter() - start,
        holdout_last=last,
        holdout_averaged=averaged,
    )


class Watch:
    """Decides when to stop, and remembers the best weights."""

    def __init__(self, settings: Settings, linear: Linear) -> None:
        self.settings = settings
        self.linear = linear
        self.best_accuracy = -math.inf
        self.best_epoch: int | None = None
        self.best_state: dict[str, NDArray[np.float64]] | None = None
        self.best_loss = math.inf
        self.passes_without_gain = 0

    def look(self, result: Pass) -> int | None:
        tol = self.settings.tol or 0.0
        if result.holdout is None:
            # Where a loss has no scale of its own, what counts as better is a share of it.
            unit = 1.0 if self.settings.traits.has_scale or math.isinf(self.best_loss) else self.best_loss
            gained = result.loss < self.best_loss - tol * unit
            self.best_loss = min(self.best_loss, result.loss)
        else:
            gained = result.holdout > self.best_accuracy + tol
            if result.holdout > self.best_accuracy:
                self.best_accuracy, self.best_epoch = result.holdout, result.epoch
                self.best_state = self.linear.get_state() if self.settings.patience else None
        self.passes_without_gain = 0 if gained else self.passes_without_gain + 1
        return self.best_epoch

    def reason(self, result: Pass, asked: bool) -> Stop | None:
        if asked:
            return "callback"
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
            self.linear.set_state(self.best_state)


def epoch_of_order(settings: Settings, epoch: int) -> int:
    """The number, from 0, of the order in which a pass visits the rows."""
    return 0 if settings.order == "once" else epoch - 1


def shuffled(rows: NDArray[np.int64], seed: int, *numbers: int) -> NDArray[np.int64]:
    """A copy in random order: the same for the same seed and numbers, whatever came before."""
    order = rows.copy()
    _core.shuffle(order, int(np.random.SeedSequence([seed, *numbers]).generate_state(1, np.uint64)[0]))
    return order


def between_looks(rows: int, stored: int, columns: int) -> int:
    """How many of these rows are soon learned, for so many weight vectors."""
    return max(1, VALUES_BETWEEN_LOOKS * rows // max(1, stored * columns))


def parts(order: NDArray[np.int64] | None, visits: int, size: int) -> Iterator[NDArray[np.int64] | None]:
    """The order of so many visits, cut into pieces."""
    if visits <= size:
        yield order
        return
    order = np.arange(visits) if order is None else order
    for start in range(0, visits, size):
        yield order[start : start + size]


def accuracies(linear: Linear, blocks: Iterator[Block]) -> tuple[float | None, float | None]:
    """The share of the blocks' importance that the last and the averaged weights classify rightly; None for no blocks.

    It is the share of rows where none has any importance.
    """
    which = [False, True] if linear.settings.average else [False]
    right, right_rows = np.zeros(2), np.zeros(2)
    importance, rows = 0.0, 0
    for block in blocks:
        weights = np.ones(len(block)) if block.importance is None else block.importance
        importance += float(weights.sum())
        rows += len(block)
        for averaged in which:
            found = linear.predict(block.rows, averaged) == block.labels
            right[int(averaged)] += weights[found].sum()
            right_rows[int(averaged)] += found.sum()
    if rows == 0:
        return None, None
    share = right / importance if importance > 0 else right_rows / rows
    return float(share[0]), float(share[1]) if linear.settings.average else None
