"""The jackknife: tags each training sentence with a tagger that was not trained on it.

A parser that will use predicted tags should be trained with tags of the same quality. But a tagger is more accurate on
its own training sentences than on new ones. So the sentences are divided into parts, and each part is tagged by a
tagger that was trained on the other parts.
"""

from __future__ import annotations

import numpy as np

from markone.data.spill import Spill
from markone.data.strings import Strings
from markone.errors import DataError
from markone.learning.examples import shuffled
from markone.learning.progress import Progress
from markone.structured.sentences import FORM, Sentences
from markone.structured.tagger import Tagger

FOLDS = 5
PASSES = 5


def learn_to_tag(
    sentences: Sentences, column: str, epochs: int, *, seed: int, spill: Spill, progress: Progress
) -> Tagger:
    """Train a tagger for a parser. A parser cannot use a half-trained tagger, so an interruption is passed on."""
    tagger = Tagger.train(sentences, column=column, epochs=epochs, seed=seed, memory=spill.left, progress=progress)
    if tagger.history.stopped == "interrupted":
        raise KeyboardInterrupt
    return tagger


def jackknifed(sentences: Sentences, column: str, *, seed: int, spill: Spill, progress: Progress) -> Strings:
    """The predicted tags of all words, each part by a tagger that was trained on the other parts."""
    if len(sentences) < FOLDS:
        raise DataError(f"there are only {len(sentences)} sentences, which cannot be divided into {FOLDS} parts")
    order = shuffled(np.arange(len(sentences), dtype=np.int64), seed, 0)
    names = (FORM, column)
    number_of: dict[str, int] = {}
    found = spill.empty(sentences.words, np.int32)
    for fold in range(FOLDS):
        rest = np.sort(np.concatenate([order[other::FOLDS] for other in range(FOLDS) if other != fold]))
        others = sentences.chosen(rest, names, spill)
        tagger = learn_to_tag(others, column, PASSES, seed=seed, spill=spill, progress=progress)
        part = np.sort(order[fold::FOLDS])
        tags = tagger.tag_columns(sentences.chosen(part, names, spill)).tolist()
        found[sentences.words_of(part)] = [number_of.setdefault(tag, len(number_of)) for tag in tags]
    return Strings.of(list(number_of)).take(found, spill)
