"""The training of a tagger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from markone import _core
from markone.data.spill import Spill
from markone.errors import DataError
from markone.learning.run_options import RunOptions
from markone.learning.states import need
from markone.learning.trainable import Arrays, PassTotals
from markone.model.history import History
from markone.storage.saved import Saved
from markone.structured.corpus_store import held_sentences
from markone.structured.partitions import TaggerPartitions, totals_of
from markone.structured.sentence_training import (
    SentenceTraining,
    arrays_of,
    digest_of,
    kept_model,
    run_of,
    split_sentences,
)
from markone.structured.sentences import Sentences, names_of, numbered
from markone.structured.spans import repaired
from markone.structured.sparse_weights import KeyedWeights, pack_state, set_state
from markone.structured.tagger_settings import TaggerSettings, repairs_for, settings_for

if TYPE_CHECKING:
    from markone.structured.tagger import Tagger

FOLDS = 5
"""The known tags of words in a training sentence come from the other folds, as if the sentence were new."""


def train_tagger(
    make: type[Tagger], source: Any, given: dict[str, Any], options: RunOptions, *, strict: bool
) -> Tagger:
    """Train a tagger: see `Tagger.train`."""
    sentences, spill = held_sentences(source, options.memory, heads=False)
    settings = settings_for(sentences, given)
    if sentences.words == 0:
        raise DataError("there is no training data: the sentences have no words")
    column = settings.column
    if len(sentences.column(column).blank()) == sentences.words:
        raise DataError(f"there is no training data: none of {sentences.words:,} words has a tag in {column!r}")
    repairs = repairs_for(sentences, settings, strict)
    kept = kept_model(make.load, settings, options)
    tagger = run_of(TaggerTraining(make, sentences, settings, spill, options.threads), kept).train(options)
    tagger.repairs = repairs
    return tagger


class TaggerTraining(SentenceTraining["Tagger"]):
    """The training of a tagger."""

    stays_resumable = True

    def __init__(
        self,
        make: type[Tagger],
        sentences: Sentences,
        settings: TaggerSettings,
        spill: Spill,
        threads: int = 1,
    ) -> None:
        self.make = make
        self.settings = settings
        self.templates = settings.seen()
        learned, held_out = split_sentences(len(sentences), settings.holdout, settings.seed)
        super().__init__(len(learned), len(held_out), settings)
        self.columns = names_in_file(sentences)
        self.learned = sentences.chosen(learned, self.templates.columns, spill)
        self.forms = hashes_of(self.learned)
        self.held_out = sentences.chosen(held_out, self.templates.columns, spill)
        texts, labels = numbered(tags_to_learn(sentences, settings), sentences.words, spill)
        in_training = labels if len(held_out) == 0 else labels[sentences.words_of(learned)]
        used = np.bincount(in_training, minlength=len(texts)) > 0
        self.tags = [text for text, is_used in zip(texts, used.tolist(), strict=True) if is_used]
        """The tags in the order of their numbers. Tags that occur only in held-out sentences have no number."""
        numbers = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
        self.labels = in_training if used.all() else numbers[in_training]
        self.held_labels = numbers[labels[sentences.words_of(held_out)]]
        self.core = self.templates.for_core(), settings.for_core(self.tags)
        looks_up = any(place.name == "known" for places in self.templates.places for place in places)
        sizes = [self.learned.words * each for each in _core.TaggerLearner.features_of_token(self.core[0])]
        self.learner = _core.TaggerLearner(
            *self.core,
            self.learned.starts,
            self.learned.arrays(self.templates.columns),
            self.labels,
            *(spill.empty(size, kind) for size, kind in zip(sizes, (np.uint32, np.uint64), strict=True)),
            mira=settings.rule == "mira",
            C=1.0 if settings.C is None else float(settings.C),
            folds=FOLDS if looks_up else 0,
        )
        self.partitions: TaggerPartitions | None = None
        if settings.partitions > 1:
            self.partitions = TaggerPartitions(self.learner, self.rows, settings.partitions, settings.seed, threads)
        self.words = self.learner.words()
        counts = np.bincount(self.held_labels[self.held_labels >= 0] if len(held_out) else self.labels)
        total = len(self.held_labels) if len(held_out) else len(self.labels)
        self.majority = float(counts.max(initial=0) / max(1, total))

    def new_history(self) -> History:
        return replace(super().new_history(), majority=self.majority)

    def learn(self, some: NDArray[np.int64], epoch: int, first: int, seed: int) -> PassTotals:
        return totals_of(self.learner.learn(some))

    def learn_pass(self, epoch: int, skip: int) -> Iterator[PassTotals]:
        return super().learn_pass(epoch, skip) if self.partitions is None else self.partitions.learn_pass(epoch)

    def accuracies(self) -> tuple[float | None, float | None]:
        """The share of held-out words with the right tag, by the last and the averaged weights."""
        if len(self.held_out) == 0:
            return None, None
        return self.accuracy(False), self.accuracy(True) if self.settings.average else None

    def accuracy(self, averaged: bool) -> float:
        tagging = _core.Tagging(*self.core, self.words, self.learner.weights(averaged))
        found = tagging.tag(self.held_out.starts, self.held_out.arrays(self.templates.columns))
        return float(np.count_nonzero(found == self.held_labels) / max(1, len(found)))

    def norm2(self) -> float:
        return self.learner.norm2()

    def weights(self) -> Saved:
        return KeyedWeights.of(self.learner, self.settings.average).save()

    def model(self, weights: Saved, history: History, resume: Saved | None) -> Tagger:
        return self.make(
            tags=self.tags,
            settings=self.settings,
            words=self.words,
            forms=self.forms,
            columns=self.columns,
            weights=KeyedWeights.load(weights, templates=len(self.templates.texts), columns=len(self.tags)),
            history=history,
            resume=resume,
        )

    def state(self) -> Arrays:
        return pack_state(self.learner.get_state())

    def set_state(self, state: Arrays, passes: int, visits: int) -> None:
        need(visits == 0 or self.partitions is None, "it was saved within a pass of partitions")
        set_state(self.learner, state, passes * self.rows + visits)

    def digest(self) -> str:
        """A digest of the training and held-out sentences and their tags."""
        arrays: list[NDArray[Any]] = []
        for sentences, labels in ((self.learned, self.labels), (self.held_out, self.held_labels)):
            arrays += [sentences.starts, labels, *arrays_of(sentences, self.templates.columns)]
        return digest_of(self.tags, arrays)


def hash_of(form: str) -> int:
    """The 64-bit hash of a word. Two of a million words have the same hash in one of 37 million models."""
    return xxh3_64_intdigest(form.encode("utf-8", "surrogatepass"))


def tags_to_learn(sentences: Sentences, settings: TaggerSettings) -> Iterator[list[str]]:
    """The tags of all words, in parts. Tags of spans are converted into the scheme of the training."""
    for part in sentences.parts():
        if settings.learn_as is None:
            yield part.column(settings.column).tolist()
        else:
            yield [tag for tags in part.lists(settings.column) for tag in repaired(tags, settings.learn_as)]


def names_in_file(sentences: Sentences) -> tuple[str, ...] | None:
    """The names of the columns of a file of columns; None if the user has not named them."""
    source, names = sentences.source, tuple(sentences.columns)
    given = source is not None and source.format == "columns" and list(names) != names_of(len(names))
    return names if given else None


def hashes_of(sentences: Sentences) -> NDArray[np.uint64]:
    """The hashes of all different words, in ascending order."""
    forms: set[str] = set()
    for part in sentences.parts():
        forms.update(part.form.tolist())
    return np.sort(np.fromiter(map(hash_of, forms), np.uint64, len(forms)))
