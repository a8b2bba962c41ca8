"""How a tagger is trained."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64

from markone import _core
from markone.errors import DataError
from markone.features.saved import Saved
from markone.learning.passes import Callback
from markone.learning.progress import Progress
from markone.model.history import History
from markone.structured.corpora import read_sentences
from markone.structured.keyed import KeyedWeights, pack_state, set_state
from markone.structured.runs import Arrays, Run, Sums, Wishes, check_settings, split
from markone.structured.sentences import Sentences
from markone.structured.spans import convert
from markone.structured.tagger import Tagger
from markone.structured.tagger_settings import TaggerSettings, settings_for

FOLDS = 5
"""What is known of the words of a training sentence comes from the other folds, as if it were a new one."""


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
    wishes = Wishes.of(checkpoint, resume, callback, progress)
    sentences = read_sentences(source)
    settings = settings_for(sentences, given)
    if sentences.words == 0:
        raise DataError("there is nothing to learn from: the sentences have no words")
    kept = None if wishes.resumed is None else Tagger.load(wishes.resumed)
    if kept is not None:
        check_settings(kept.settings, settings)
    training = Training(sentences, settings)
    if kept is not None:
        training.go_on(kept)
    return training.finish(wishes)


class Training(Run[Tagger]):
    """The training of a tagger."""

    stays_resumable = True

    def __init__(self, sentences: Sentences, settings: TaggerSettings) -> None:
        self.settings = settings
        self.templates = settings.seen()
        texts = tags_to_learn(sentences, settings)
        learned, held_out = split(len(sentences), settings.holdout, settings.seed)
        super().__init__(
            len(learned), len(held_out), epochs=settings.epochs, seed=settings.seed, patience=settings.patience
        )
        self.learned, words = sentences.chosen(learned, self.templates.columns)
        met = [texts[word] for word in words.tolist()]
        self.tags = sorted(set(met))
        """In the order in which they are numbered."""
        numbers = {tag: number for number, tag in enumerate(self.tags)}
        self.labels = np.array([numbers[tag] for tag in met], np.int32)
        self.held_out, words = sentences.chosen(held_out, self.templates.columns)
        self.held_labels = np.array([numbers.get(texts[word], -1) for word in words.tolist()], np.int32)
        self.core = self.templates.for_core(), settings.for_core(self.tags)
        looks_up = any(place.name == "known" for places in self.templates.places for place in places)
        self.learner = _core.TaggerLearner(
            *self.core,
            self.learned.starts,
            self.learned.arrays(self.templates.columns),
            self.labels,
            mira=settings.rule == "mira",
            C=1.0 if settings.C is None else float(settings.C),
            folds=FOLDS if looks_up else 0,
        )
        self.words = self.learner.words()
        counts = np.bincount(self.held_labels[self.held_labels >= 0] if len(held_out) else self.labels)
        total = len(self.held_labels) if len(held_out) else len(self.labels)
        self.history.majority = float(counts.max(initial=0) / max(1, total))

    def learn(self, some: NDArray[np.int64], epoch: int, seed: int) -> Sums:
        tally = self.learner.learn(some)
        return Sums(tally.sentences, tally.sentences, tally.mistakes, tally.updates, tally.loss)

    def accuracies(self) -> tuple[float | None, float | None]:
        """The share of held-out words that have the right tag."""
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
        return Tagger(
            tags=self.tags,
            settings=self.settings,
            words=self.words,
            weights=KeyedWeights.load(weights, templates=len(self.templates.texts), columns=len(self.tags)),
            history=history,
            resume=resume,
        )

    def state(self) -> Arrays:
        return pack_state(self.learner.get_state())

    def set_state(self, state: Arrays) -> None:
        set_state(self.learner, state)

    def digest(self) -> str:
        """Of the sentences that are learned and held out, and their tags."""
        hashed = xxh3_64("\0".join(self.tags).encode("utf-8", "surrogatepass"))
        for sentences, labels in ((self.learned, self.labels), (self.held_out, self.held_labels)):
            hashed.update(sentences.starts.tobytes())
            hashed.update(labels.tobytes())
            for data, offsets in sentences.arrays(self.templates.columns):
                hashed.update(offsets.tobytes())
                hashed.update(data.tobytes())
        return hashed.hexdigest()


def tags_to_learn(sentences: Sentences, settings: TaggerSettings) -> list[str]:
    """The tags of all words; those of spans in the scheme that they are learned in."""
    if settings.learn_as is None or settings.learn_as == settings.scheme:
        return sentences.column(settings.column).tolist()
    return [tag for tags in sentences.lists(settings.column) for tag in convert(tags, settings.learn_as)]
