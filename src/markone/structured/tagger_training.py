"""How a tagger is trained: passes over sentences, with held-out sentences, checkpoints and a way to go on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64

from markone import _core
from markone.errors import DataError, SettingsError
from markone.features.saved import Saved
from markone.learning.checkpoints import Checkpoints, Keeper, Path
from markone.learning.examples import shuffled
from markone.learning.interruption import Interruption
from markone.learning.passes import MAY_GO_ON, Callback
from markone.learning.progress import Progress, Silence, visible_progress
from markone.learning.states import prefixed, without_prefix
from markone.model.history import History, Pass, Stop
from markone.structured.corpora import read_sentences
from markone.structured.keyed import Arrays, KeyedWeights, pack_state, set_state
from markone.structured.sentences import Sentences, Strings
from markone.structured.spans import convert
from markone.structured.tagger import Tagger
from markone.structured.tagger_settings import TaggerSettings, settings_for

FOLDS = 5
"""What is known of the words of a training sentence comes from the other folds, as if it were a new one."""
BETWEEN_LOOKS = 2000
"""Sentences."""
FACTS = {"digest", "visits", "mistakes", "updates", "loss", "passes_without_gain"}
MOST = 2**53
OTHER_SENTENCES = (
    "the sentences are not those of the training that was interrupted; resume it with the same data, or start anew"
)


def train_tagger(
    source: Any,
    given: dict[str, Any],
    *,
    checkpoint: Any,
    resume: Any,
    callback: Callback | None,
    progress: Progress | bool | None,
) -> Tagger:
    """See `Tagger.train`."""
    checkpoints = Checkpoints.of(checkpoint)
    if checkpoints is not None:
        checkpoints.check_folder()
    resumed = checkpoints.path if resume is True and checkpoints is not None else resume
    if resumed is True:
        raise SettingsError("resume", "needs the file that the training is kept in: checkpoint=..., or resume=...")
    if callback is not None and not callable(callback):
        raise SettingsError("callback", f"must be a function, not {callback!r}")
    if isinstance(progress, bool):
        progress = visible_progress() if progress else None
    sentences = read_sentences(source)
    settings = settings_for(sentences, given)
    if sentences.words == 0:
        raise DataError("there is nothing to learn from: the sentences have no words")
    kept = None
    if resumed and os.path.exists(resumed):
        kept = Tagger.load(resumed)
        check_kept(kept, settings)
    training = Training(sentences, settings)
    if kept is not None:
        training.go_on(kept)
    return training.finish(checkpoints, callback, progress or Silence())


def check_kept(kept: Tagger, settings: TaggerSettings) -> None:
    """That a training can be taken up from it, with the settings that it had."""
    if kept.resume is None:
        raise DataError("the file to resume from is a final model, which has not kept its training; train it anew")
    for field in fields(TaggerSettings):
        before, now = getattr(kept.settings, field.name), getattr(settings, field.name)
        if field.name != "epochs" and before != now:
            raise SettingsError(field.name, f"is {now!r:.80} now and was {before!r:.80} before the interruption")


@dataclass(slots=True)
class Sums:
    """What the visits of a pass have come to so far."""

    visits: int = 0
    mistakes: int = 0
    updates: int = 0
    loss: float = 0.0

    def add(self, tally: _core.SequenceTally) -> None:
        self.visits += tally.sentences
        self.mistakes += tally.mistakes
        self.updates += tally.updates
        self.loss += tally.loss


class Training:
    """A training that can be left at any look and taken up again, to the bit."""

    def __init__(self, sentences: Sentences, settings: TaggerSettings) -> None:
        self.settings = settings
        self.templates = settings.seen()
        texts = tags_to_learn(sentences, settings)
        learned, held_out = split(len(sentences), settings.holdout, settings.seed)
        self.learned, words = chosen(sentences, self.templates.columns, learned)
        met = [texts[word] for word in words.tolist()]
        self.tags = sorted(set(met))
        """In the order in which they are numbered."""
        numbers = {tag: number for number, tag in enumerate(self.tags)}
        self.labels = np.array([numbers[tag] for tag in met], np.int32)
        self.held_out, words = chosen(sentences, self.templates.columns, held_out)
        self.held_labels = np.array([numbers.get(texts[word], -1) for word in words.tolist()], np.int32)
        self.core = self.templates.for_core(), settings.for_core(self.tags)
        looks_up = any(place.name == "known" for places in self.templates.places for place in places)
        self.learner = _core.TaggerLearner(
            *self.core,
            self.learned.starts,
            texts_of(self.learned, self.templates.columns),
            self.labels,
            mira=settings.rule == "mira",
            C=1.0 if settings.C is None else float(settings.C),
            folds=FOLDS if looks_up else 0,
        )
        self.words = self.learner.words()
        self.sums = Sums()
        self.steady = True
        self.ended = False
        self.best: KeyedWeights | None = None
        self.best_accuracy = -1.0
        self.passes_without_gain = 0
        counts = np.bincount(self.held_labels[self.held_labels >= 0] if len(held_out) else self.labels)
        total = len(self.held_labels) if len(held_out) else len(self.labels)
        self.history = History(
            rows=len(learned), held_out=len(held_out), majority=float(counts.max(initial=0) / max(1, total))
        )

    # ---- passes

    def finish(self, checkpoints: Checkpoints | None, callback: Callback | None, progress: Progress) -> Tagger:
        """Makes the passes that are left."""
        keeper = None if checkpoints is None else Keeper(checkpoints, self.keep)
        signals = (signal.SIGINT,) if checkpoints is None else (signal.SIGINT, signal.SIGTERM)
        with Interruption(signals) as interruption:
            try:
                progress.start(len(self.learned), self.settings.epochs)
                progress.advance(len(self.learned) * len(self.history) + self.sums.visits)
                self.make_passes(callback, progress, keeper, lambda: interruption.signal is not None)
            except KeyboardInterrupt:  # which may come from a callback, or from another handler of Ctrl-C
                self.history.stopped = "interrupted"
                if keeper is not None and self.steady:
                    keeper.save_in_any_case()
            finally:
                progress.close()
        if interruption.signal == signal.SIGTERM:
            signal.raise_signal(signal.SIGTERM)
        return self.model()

    def make_passes(
        self, callback: Callback | None, progress: Progress, keeper: Keeper | None, interrupted: Callable[[], bool]
    ) -> None:
        while not self.ended and len(self.history) < self.settings.epochs:
            start = time.perf_counter()
            epoch = len(self.history) + 1
            order = shuffled(np.arange(len(self.learned), dtype=np.int64), self.settings.seed, epoch - 1)
            while self.sums.visits < len(order):
                self.steady = False
                tally = self.learner.learn(order[self.sums.visits : self.sums.visits + BETWEEN_LOOKS])
                self.sums.add(tally)
                self.steady = True
                progress.advance(tally.sentences)
                if self.sums.visits < len(order):
                    if interrupted():
                        raise KeyboardInterrupt
                    if keeper is not None:
                        keeper.look(after_pass=False)
            result = self.look(epoch, start)
            progress.finish_pass(result)
            reason = self.reason(result, bool(callback and callback(result)))
            if reason is not None:
                self.history.stopped, self.ended = reason, True
            elif interrupted():
                raise KeyboardInterrupt
            if keeper is not None:
                keeper.look(after_pass=True)

    def look(self, epoch: int, start: float) -> Pass:
        """The end of a pass: what it came to."""
        last, averaged = self.accuracy(False), self.accuracy(True) if self.settings.average else None
        result = Pass(
            epoch=epoch,
            mistakes=self.sums.mistakes,
            updates=self.sums.updates,
            loss=self.sums.loss / max(1, self.sums.visits),
            norm2=self.learner.norm2(),
            seconds=time.perf_counter() - start,
            holdout_last=last,
            holdout_averaged=averaged,
        )
        self.history.passes.append(result)
        self.sums = Sums()
        if result.holdout is not None:
            if self.remember(result):
                self.passes_without_gain = 0
                self.best = self.weights() if self.settings.patience else None
            else:
                self.passes_without_gain += 1
        return result

    def remember(self, result: Pass) -> bool:
        """Whether its held-out accuracy is the best so far."""
        if result.holdout is None or result.holdout <= self.best_accuracy:
            return False
        self.best_accuracy, self.history.best_epoch = result.holdout, result.epoch
        return True

    def accuracy(self, averaged: bool) -> float | None:
        """The share of held-out words that have the right tag."""
        if len(self.held_out) == 0:
            return None
        tagging = _core.Tagging(*self.core, self.words, self.learner.weights(averaged))
        found = tagging.tag(self.held_out.starts, texts_of(self.held_out, self.templates.columns))
        return float(np.count_nonzero(found == self.held_labels) / max(1, len(found)))

    def reason(self, result: Pass, asked: bool) -> Stop | None:
        if asked:
            return "callback"
        if result.updates == 0:
            return "converged"
        patience = self.settings.patience
        return "held-out" if patience is not None and self.passes_without_gain >= patience else None

    # ---- what is kept

    def weights(self) -> KeyedWeights:
        return KeyedWeights.of(self.learner, self.settings.average)

    def model(self) -> Tagger:
        return Tagger(
            tags=self.tags,
            settings=self.settings,
            words=self.words,
            weights=self.weights() if self.best is None else self.best,
            history=self.history,
            resume=self.state(),
        )

    def keep(self, path: Path) -> None:
        model = self.model()
        if not self.ended and len(self.history) < self.settings.epochs:
            model.history = replace(self.history, stopped="interrupted")
        model.save(path)

    def state(self) -> Saved:
        """All that is needed to take it up again, beside the history so far."""
        facts = {
            "digest": self.digest(),
            "visits": self.sums.visits,
            "mistakes": self.sums.mistakes,
            "updates": self.sums.updates,
            "loss": self.sums.loss,
            "passes_without_gain": self.passes_without_gain,
        }
        arrays = prefixed("state.", pack_state(self.learner.get_state()))
        if self.best is not None:
            arrays |= prefixed("best.", self.best.save().arrays)
        return Saved(facts, arrays)

    def digest(self) -> str:
        """Of the sentences that are learned and held out, and their tags."""
        hashed = xxh3_64("\0".join(self.tags).encode("utf-8", "surrogatepass"))
        for sentences, labels in ((self.learned, self.labels), (self.held_out, self.held_labels)):
            hashed.update(sentences.starts.tobytes())
            hashed.update(labels.tobytes())
            for data, offsets in texts_of(sentences, self.templates.columns):
                hashed.update(offsets.tobytes())
                hashed.update(data.tobytes())
        return hashed.hexdigest()

    def go_on(self, kept: Tagger) -> None:
        """Takes up a training of the same sentences."""
        assert kept.resume is not None  # it was checked
        facts = check_facts(kept.resume.facts)
        if facts["digest"] != self.digest() or kept.tags != self.tags:
            raise DataError(OTHER_SENTENCES)
        if facts["visits"] > len(self.learned):
            raise damaged("it has made more visits than there are sentences")
        set_state(self.learner, without_prefix("state.", kept.resume.arrays))
        best: Arrays = without_prefix("best.", kept.resume.arrays)
        if best:
            self.best = KeyedWeights.load(Saved({}, best), templates=len(self.templates.texts), columns=len(self.tags))
        self.sums = Sums(facts["visits"], facts["mistakes"], facts["updates"], float(facts["loss"]))
        for result in kept.history.passes:
            self.remember(result)
        self.passes_without_gain = facts["passes_without_gain"]
        self.history.passes = list(kept.history.passes)
        if kept.history.stopped not in MAY_GO_ON:
            self.history.stopped, self.ended = kept.history.stopped, True


def check_facts(facts: dict[str, Any]) -> dict[str, Any]:
    if facts.keys() != FACTS or not isinstance(facts["digest"], str):
        raise damaged("it has other parts than it should")
    for name in FACTS - {"digest"}:
        value = facts[name]
        good = type(value) is int or (name == "loss" and type(value) is float)
        if not good or not 0 <= value <= MOST:
            raise damaged(f"{name} is {value!r:.50}")
    return facts


def damaged(problem: str) -> DataError:
    return DataError(f"what the file has to go on from is damaged: {problem}; start anew")


# ---- sentences


def tags_to_learn(sentences: Sentences, settings: TaggerSettings) -> list[str]:
    """The tags of all words; those of spans in the scheme that they are learned in."""
    if settings.learn_as is None or settings.learn_as == settings.scheme:
        return sentences.column(settings.column).tolist()
    return [tag for tags in sentences.lists(settings.column) for tag in convert(tags, settings.learn_as)]


def split(sentences: int, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sentences to learn from and to hold out, at random, each set in the order of the corpus."""
    if share == 0:
        return np.arange(sentences), np.zeros(0, np.int64)
    apart = np.zeros(sentences, bool)
    apart[np.random.default_rng([seed, 1]).permutation(sentences)[: round(share * sentences)]] = True
    if not apart.any() or apart.all():
        raise DataError(f"{sentences} sentences are too few to hold out a share of {share:g}; hold out more, or none")
    return np.flatnonzero(~apart), np.flatnonzero(apart)


def chosen(
    sentences: Sentences, columns: tuple[str, ...], which: NDArray[np.int64]
) -> tuple[Sentences, NDArray[np.int64]]:
    """Some of the sentences with some of their columns, and which words they have."""
    sizes = np.diff(sentences.starts)[which]
    starts = np.zeros(len(which) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    words = np.repeat(sentences.starts[which] - starts[:-1], sizes) + np.arange(starts[-1])
    return Sentences(starts, {name: picked(sentences.column(name), words) for name in columns}), words


def picked(strings: Strings, which: NDArray[np.int64]) -> Strings:
    sizes = np.diff(strings.offsets)[which]
    offsets = np.zeros(len(which) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    places = np.repeat(strings.offsets[which] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return Strings(strings.bytes[places], offsets)


def texts_of(sentences: Sentences, columns: tuple[str, ...]) -> list[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """Columns as the core takes them."""
    found = [sentences.column(name) for name in columns]
    return [(np.ascontiguousarray(one.bytes), np.ascontiguousarray(one.offsets)) for one in found]
