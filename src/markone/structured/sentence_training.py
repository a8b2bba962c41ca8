"""The base class for the training of taggers, parsers and structured perceptrons."""

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
"""The number of sentences after which training may stop or save a checkpoint."""
PIECE = 2**10
"""The number of adjacent sentences in a piece of a large corpus."""
WINDOW = 2**16
"""The number of sentences that are shuffled together. Larger corpora are divided into windows of random pieces."""


class PassSettings(Protocol):
    """The settings of passes."""

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
        assert settings.epochs is not None  # defaults are already filled in
        self.stopping = Stopping(epochs=settings.epochs, patience=settings.patience)
        self.seed = settings.seed
        self.rows = sentences
        self.held_out_count = held_out

    @abstractmethod
    def learn(self, some: NDArray[np.int64], epoch: int, first: int, seed: int) -> PassTotals:
        """Visit these sentences in order, or only the first of them. The result says how many were visited.

        `first` sentences were visited before in this pass.
        """

    @abstractmethod
    def weights(self) -> Saved:
        """The current weights for prediction."""

    @abstractmethod
    def model(self, weights: Saved, history: History, resume: Saved | None) -> AnyModel:
        """A model with these weights."""

    def order(self, epoch: int) -> NDArray[np.int64]:
        """The order in which a pass visits the sentences. By default each pass has a different order."""
        return visiting_order(self.rows, self.seed, epoch)

    def new_history(self) -> History:
        return History(rows=self.rows, held_out=self.held_out_count)

    def learn_pass(self, epoch: int, skip: int) -> Iterator[PassTotals]:
        order, at = self.order(epoch), skip
        while at < len(order):
            piece = self.learn(order[at : at + BETWEEN_LOOKS], epoch, at, seed_of(self.seed, epoch, at))
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
    """The model whose training is resumed, if any. Its settings must be the same, except for the number of passes."""
    if options.resume_from is None:
        return None
    kept = load(options.resume_from)
    check_all_settings(kept.settings, settings)
    return kept


def check_all_settings(before: Any, now: Any) -> None:
    check_same_settings(before, {field.name: getattr(now, field.name) for field in fields(now)})


def run_of(training: Trainable[AnyModel], kept: AnyModel | None) -> Run[AnyModel]:
    """A run from the start, or from the state of a model."""
    run = Run(training)
    if kept is not None:
        run.go_on(kept)
    return run


def digest_of(labels: Sequence[str], arrays: Iterable[NDArray[Any]]) -> str:
    """A hash of labels and arrays, which is different, almost certainly, for different ones."""
    hashed = xxh3_64("\0".join(labels).encode("utf-8", "surrogatepass"))
    for array in arrays:
        hashed.update(array.data)
    return hashed.hexdigest()


def arrays_of(sentences: Sentences, columns: Sequence[str]) -> Iterator[NDArray[Any]]:
    for data, offsets in sentences.arrays(columns):
        yield offsets
        yield data


def seed_of(*numbers: int) -> int:
    """A seed that depends only on these numbers, such as the position in a pass where training may be resumed."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])


def visiting_order(sentences: int, seed: int, epoch: int, *apart: int) -> NDArray[np.int64]:
    """A random order of all sentences. A large corpus is divided into windows, which consist of random pieces.

    So a pass over a corpus that does not fit into memory reads long pieces of it. Other numbers give another order.
    """
    order = np.arange(sentences, dtype=np.int64)
    if sentences <= WINDOW:
        return shuffled(order, seed, epoch - 1, *apart)
    first_ones = shuffled(np.arange(0, sentences, PIECE, dtype=np.int64), seed, epoch - 1, *apart)
    order = np.concatenate([order[first : first + PIECE] for first in first_ones.tolist()])
    for number, begin in enumerate(range(0, sentences, WINDOW)):
        order[begin : begin + WINDOW] = shuffled(order[begin : begin + WINDOW], seed, epoch - 1, number, *apart)
    return order


def split_sentences(sentences: int, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Random sets of training and held-out sentences, each in the order of the corpus."""
    if share == 0:
        return np.arange(sentences), np.zeros(0, np.int64)
    apart = np.zeros(sentences, bool)
    apart[np.random.default_rng([seed, 1]).permutation(sentences)[: round(share * sentences)]] = True
    if not apart.any() or apart.all():
        raise DataError(
            f"a share of {share:g} cannot be held out of {sentences} sentences: at least one must be held out, "
            "and at least one must remain for training"
        )
    return np.flatnonzero(~apart), np.flatnonzero(apart)
