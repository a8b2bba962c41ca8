"""What the trainings of taggers, parsers and structured perceptrons share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64

from markone.errors import DataError
from markone.learning.checkpoints import Path
from markone.learning.examples import shuffled
from markone.learning.run import Run, check_same_settings
from markone.learning.run_options import RunOptions
from markone.learning.states import damaged
from markone.learning.trainable import OF_SENTENCES, AnyModel, PassTotals, Stopping, Trainable
from markone.model.history import History
from markone.storage.saved import Saved
from markone.structured.sentence_model import SentenceModel
from markone.structured.sentences import Sentences

SomeModel = TypeVar("SomeModel", bound=SentenceModel)

BETWEEN_LOOKS = 1000
"""Sentences."""
PIECE = 2**10
"""Sentences that stand together ..."""
WINDOW = 2**16
"""... and those that are visited at random: of several pieces, if there are more than these."""


class PassSettings(Protocol):
    """The settings that say how passes are made."""

    @property
    def epochs(self) -> int | None: ...
    @property
    def seed(self) -> int: ...
    @property
    def patience(self) -> int | None: ...


class SentenceTraining(Trainable[AnyModel]):
    """A training that visits sentences, or other examples, in an order that depends only on the seed and the pass."""

    layout = OF_SENTENCES
    visited = "sentences"
    stays_resumable = False

    def __init__(self, sentences: int, held_out: int, settings: PassSettings) -> None:
        assert settings.epochs is not None  # it is spelled out
        self.stopping = Stopping(epochs=settings.epochs, patience=settings.patience)
        self.seed = settings.seed
        self.rows = sentences
        self.held_out_count = held_out

    @abstractmethod
    def learn(self, some: NDArray[np.int64], epoch: int, first: int, seed: int) -> PassTotals:
        """Visits these sentences in turn, or only the first of them, and says how many.

        In this pass, `first` sentences were visited before.
        """

    @abstractmethod
    def weights(self) -> Saved:
        """The weights that predict, as they are now."""

    @abstractmethod
    def model(self, weights: Saved, history: History, resume: Saved | None) -> AnyModel:
        """A model with these weights."""

    def order(self, epoch: int) -> NDArray[np.int64]:
        """The order in which a pass visits the sentences: another in each, unless a training has reasons."""
        return visiting_order(self.rows, self.seed, epoch)

    def new_history(self) -> History:
        return History(rows=self.rows, held_out=self.held_out_count)

    def learn_pass(self, epoch: int, skip: int) -> Iterator[PassTotals]:
        order, at = self.order(epoch), skip
        while at < len(order):
            # What is drawn at random depends only on the place in the pass, so that one can go on from any look.
            seed = int(np.random.SeedSequence([self.seed, epoch, at]).generate_state(1, np.uint64)[0])
            piece = self.learn(order[at : at + BETWEEN_LOOKS], epoch, at, seed)
            at += piece.visits
            yield piece

    def best(self) -> Saved:
        return self.weights()

    def check_best(self, best: Saved) -> None:
        try:
            self.model(best, self.new_history(), None)
        except ValueError as error:
            raise damaged(str(error)) from None

    def unfinished(self, best: Saved | None, history: History, resume: Saved | None) -> AnyModel:
        return self.model(best or self.weights(), history, resume)

    def finished(self, best: Saved | None, history: History, resume: Saved | None) -> AnyModel:
        return self.unfinished(best, history, resume)


def kept_model(load: Callable[[Path], SomeModel], settings: Any, options: RunOptions) -> SomeModel | None:
    """The model whose training goes on, if there is one. It must have the same settings; there may be more passes."""
    if options.resume_from is None:
        return None
    kept = load(options.resume_from)
    check_all_settings(kept.settings, settings)
    return kept


def check_all_settings(before: Any, now: Any) -> None:
    check_same_settings(before, {field.name: getattr(now, field.name) for field in fields(now)})


def run_of(training: Trainable[AnyModel], kept: AnyModel | None) -> Run[AnyModel]:
    """A run from the start, or from where a training was left."""
    run = Run(training)
    if kept is not None:
        run.go_on(kept)
    return run


def digest_of(labels: Sequence[str], arrays: Iterable[NDArray[Any]]) -> str:
    """What differs, as good as surely, where labels or arrays do."""
    hashed = xxh3_64("\0".join(labels).encode("utf-8", "surrogatepass"))
    for array in arrays:
        hashed.update(array.data)
    return hashed.hexdigest()


def arrays_of(sentences: Sentences, columns: Sequence[str]) -> Iterator[NDArray[Any]]:
    for data, offsets in sentences.arrays(columns):
        yield offsets
        yield data


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


def split_sentences(sentences: int, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sentences to learn from and to hold out, at random, each set in the order of the corpus."""
    if share == 0:
        return np.arange(sentences), np.zeros(0, np.int64)
    apart = np.zeros(sentences, bool)
    apart[np.random.default_rng([seed, 1]).permutation(sentences)[: round(share * sentences)]] = True
    if not apart.any() or apart.all():
        raise DataError(f"{sentences} sentences are too few to hold out a share of {share:g}; hold out more, or none")
    return np.flatnonzero(~apart), np.flatnonzero(apart)
