"""The training run: makes passes until it should stop, keeps the best weights, saves checkpoints, and resumes."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Generic

from markone.errors import DataError, SettingsError
from markone.learning.checkpoints import Keeper, Path
from markone.learning.interruption import Interruption
from markone.learning.progress import Progress
from markone.learning.run_options import RunOptions
from markone.learning.states import MOST, need, prefixed, without_prefix
from markone.learning.trainable import AnyModel, PassTotals, ResumeLayout, Trainable
from markone.model.history import History, Pass, Stop
from markone.storage.saved import Saved

MAY_GO_ON: tuple[Stop, ...] = ("epochs", "interrupted", "callback")
"""The reasons to stop after which a training can continue."""
UNJUDGED = ("mistakes", "loss")
"""The sums that are None for a learner that does not predict during training."""


class Run(Generic[AnyModel]):
    """A training that can be stopped between two pieces of a pass and resumed with the same bits."""

    def __init__(self, trained: Trainable[AnyModel]) -> None:
        self.trained = trained
        self.stopping = trained.stopping
        self.history = trained.new_history()
        self.sums = PassTotals()
        """The totals of the current pass."""
        self.steady = True
        """Whether the run is between two pieces, so that it can be saved."""
        self.ended = False
        """Whether there was a reason to stop before the last pass."""
        self.best: Saved | None = None
        """The weights with the best held-out accuracy, if `patience` is set."""
        self.best_accuracy = -math.inf
        self.best_loss = math.inf
        self.passes_without_gain = 0

    # ---- passes

    def train(self, options: RunOptions) -> AnyModel:
        """Make the remaining passes, and return the model. Signals only take effect at the end, so nothing is lost."""
        with options.interruption() as interruption:
            self._make_passes(options, interruption)
            last = self.save() if self.trained.stays_resumable else None
            model = self.trained.finished(self.best, self.history, last)
            if interruption.signal is not None and self.history.stopped != "interrupted":  # after the last pass
                if options.checkpoints is not None:
                    Keeper(options.checkpoints, lambda path: self.keep(path, last)).save_in_any_case()
                self.history.stopped = "interrupted"
        if interruption.signal == signal.SIGTERM:
            signal.raise_signal(signal.SIGTERM)
        return model

    def make_passes(self, options: RunOptions | None = None) -> History:
        """Make the remaining passes. The weights are those of the last pass. Ctrl-C ends training."""
        options = options or RunOptions()
        with options.interruption() as interruption:
            self._make_passes(options, interruption)
        return self.history

    def _make_passes(self, options: RunOptions, interruption: Interruption) -> None:
        progress, callback = options.progress, options.callback
        keeper = None if options.checkpoints is None else Keeper(options.checkpoints, self.keep)
        try:
            progress.start(self.trained.rows, self.stopping.epochs)
            if done := self.trained.rows * len(self.history) + self.sums.visits:
                progress.advance(done)
            for result in self.looks(progress):
                reason: Stop | None = None
                if result is not None:
                    progress.finish_pass(result)
                    reason = "callback" if callback and callback(result) else self.reason_to_stop(result)
                if reason is None and interruption.signal is not None:
                    raise KeyboardInterrupt
                if reason is not None:
                    self.history.stopped, self.ended = reason, True
                if keeper is not None:
                    keeper.look(after_pass=result is not None)
                if self.ended:
                    break
        except KeyboardInterrupt:  # it may also come from a callback, or from another handler of Ctrl-C
            self.history.stopped = "interrupted"
            if keeper is not None and self.steady:
                keeper.save_in_any_case()
        finally:
            progress.close()

    def looks(self, progress: Progress) -> Iterator[Pass | None]:
        """Make the remaining passes. Yield None after each piece of a pass, and the result after each pass."""
        if self.ended:
            return
        for epoch in range(len(self.history) + 1, self.stopping.epochs + 1):
            start = time.perf_counter()
            self.steady = False
            for piece in self.trained.learn_pass(epoch, self.sums.visits):
                self.sums.add(piece)
                self.steady = True
                progress.advance(piece.visits)
                yield None
                self.steady = False
            self.steady = True
            result = self._result(epoch, start)
            self.history.passes.append(result)
            self._compare(result)
            self.sums = PassTotals()
            yield result

    def _result(self, epoch: int, start: float) -> Pass:
        sums, norm2, course = self.sums, self.trained.norm2(), self.trained.course()
        if not (math.isfinite(sums.loss or 0.0) and math.isfinite(norm2)):
            raise DataError(f"training diverged in pass {epoch} (the weights overflowed): {self.trained.if_too_large}")
        last, averaged = self.trained.accuracies()
        return Pass(
            epoch=epoch,
            mistakes=sums.mistakes,
            updates=sums.updates,
            loss=None if sums.loss is None else sums.loss / sums.weight if sums.weight else 0.0,
            norm2=norm2,
            seconds=time.perf_counter() - start,
            holdout_last=last,
            holdout_averaged=averaged,
            objective=course.objective,
            gap=course.gap,
        )

    # ---- when to stop, and the best weights

    def reason_to_stop(self, result: Pass) -> Stop | None:
        """Return why this pass is the last, or None."""
        if self.trained.course().done:
            return "optimum"
        if result.updates == 0 and self.stopping.comes_to_rest:
            return "converged"
        if self.stopping.patience is not None and self.passes_without_gain >= self.stopping.patience:
            if result.holdout is not None:
                return "held-out"
            if self.stopping.stops_by_loss:
                return "loss"
        return None

    def _compare(self, result: Pass) -> None:
        """Compare a pass with the best one so far, and keep its weights if it is better."""
        if (gained := self._gained(result)) is not None:
            self.passes_without_gain = 0 if gained else self.passes_without_gain + 1
        if self._remember(result):
            self.best = self.trained.best() if self.stopping.patience else None

    def _gained(self, result: Pass) -> bool | None:
        """Return whether a pass is a sufficient improvement; None if that is not measured."""
        if result.holdout is not None:
            return result.holdout > self.best_accuracy + self.stopping.gain
        if result.loss is None or not self.stopping.watches_loss:
            return None
        unit = self.best_loss if self.stopping.gain_is_share and math.isfinite(self.best_loss) else 1.0
        return result.loss < self.best_loss - self.stopping.gain * unit

    def _remember(self, result: Pass) -> bool:
        """Record a pass, and return whether its held-out accuracy is the best so far."""
        if result.holdout is None:
            self.best_loss = min(self.best_loss, math.inf if result.loss is None else result.loss)
            return False
        if result.holdout <= self.best_accuracy:
            return False
        self.best_accuracy, self.history.best_epoch = result.holdout, result.epoch
        return True

    # ---- saving and resuming

    def keep(self, path: Path, state: Saved | None = None) -> None:
        """Save a checkpoint of the current state, or of another one."""
        history = self.history
        all_made = len(history) >= self.stopping.epochs and not self.trained.works_after_passes
        if not self.ended and not all_made:
            history = replace(history, stopped="interrupted")
        self.trained.unfinished(self.best, history, state or self.save()).save(path)

    def save(self) -> Saved:
        """Return everything that is needed to resume, except for the history."""
        layout = self.trained.layout
        facts = {
            "sums": layout.write_sums(self.sums),
            "passes_without_gain": self.passes_without_gain,
            "digest": self.trained.digest(),
            "best": None if self.best is None else self.best.facts,
        }
        arrays = prefixed("state.", self.trained.state())
        if self.best is not None:
            arrays |= prefixed("best.", self.best.arrays)
        return Saved({name: facts[name] for name in layout.facts if facts[name] is not None}, arrays)

    def go_on(self, kept: AnyModel) -> None:
        """Resume the training of a model with the same data."""
        if kept.resume is None:
            raise DataError("the file to resume from is a final model without its training state; train a new model")
        self.restore(kept.resume, kept.history)

    def restore(self, saved: Saved, history: History) -> None:
        """Restore what `save` returned for a run with this history. Everything is checked before a change."""
        trained, facts = self.trained, saved.facts
        digest = trained.digest()
        check_facts(facts, trained.layout, len(history), has_digest=digest is not None)
        if digest is not None and facts["digest"] != digest:
            raise DataError(other_data(trained.visited))
        sums = trained.layout.read_sums(facts["sums"])
        need(sums.visits <= trained.rows, f"it has more visits than there are {trained.visited}")
        best = self._best_in(saved, history)
        trained.set_state(without_prefix("state.", saved.arrays), len(history), sums.visits)
        self.best, self.sums, self.passes_without_gain = best, sums, facts["passes_without_gain"]
        for result in history:
            self._remember(result)
        self.history.passes = list(history.passes)
        if history.stopped not in MAY_GO_ON:
            self.history.stopped, self.ended = history.stopped, True

    def _best_in(self, saved: Saved, history: History) -> Saved | None:
        """Return the best weights in a saved state, if there should be any."""
        arrays = without_prefix("best.", saved.arrays)
        states = len(without_prefix("state.", saved.arrays))
        need(states + len(arrays) == len(saved.arrays), "it has the wrong arrays")
        measured = any(result.holdout is not None for result in history)
        expected = self.stopping.patience is not None and measured
        present = "best" in saved.facts if "best" in self.trained.layout.facts else len(arrays) > 0
        fits = present == expected and (expected or not arrays)
        need(fits, "the best weights are missing, or should not be there")
        if not expected:
            return None
        best = Saved(saved.facts.get("best", {}), arrays)
        self.trained.check_best(best)
        return best


def check_facts(facts: dict[str, Any], layout: ResumeLayout, passes: int, *, has_digest: bool) -> None:
    """Raise an error if these are not the facts of a run with this number of passes."""
    missing = set(layout.facts) - facts.keys() - {"best"} - (set() if has_digest else {"digest"})
    fits = not missing and facts.keys() <= set(layout.facts)
    fits = fits and isinstance(facts.get("digest", ""), str) and isinstance(facts.get("best", {}), dict)
    need(fits, "it has the wrong parts")
    sums, idle = facts["sums"], facts["passes_without_gain"]
    need(isinstance(sums, dict) and sums.keys() == layout.sums.keys(), "it has the wrong sums")
    unjudged = all(sums[name] is None for name in UNJUDGED)
    for name, kind in layout.sums.items():
        if not (unjudged and name in UNJUDGED):
            check_number(name, sums[name], kind)
    check_number("passes_without_gain", idle, int)
    need(idle <= passes, f"passes_without_gain is {idle} of {passes} passes")


def check_number(name: str, value: Any, kind: type) -> None:
    whole = type(value) is int and abs(value) <= MOST
    good = whole or (kind is float and type(value) is float and math.isfinite(value))
    need(good and (name == "loss" or value >= 0), f"{name} is {value!r:.50}")


def check_same_settings(before: Any, now: Mapping[str, Any], advice: str = "") -> None:
    """Raise an error if a training is resumed with other settings; only `epochs` may differ."""
    for name, value in now.items():
        if name != "epochs" and value != getattr(before, name):
            was = getattr(before, name)
            raise SettingsError(name, f"is {value!r:.80} now and was {was!r:.80} before the interruption{advice}")


def other_data(visited: str) -> str:
    return f"the {visited} are not those of the interrupted training; resume it with the same data, or start a new one"
