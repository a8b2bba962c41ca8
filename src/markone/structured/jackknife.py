"""The jackknife: tags for sentences by taggers that have not learned from them.

A parser that is to parse with a tagger's tags must learn from tags as good as those will be. Its own sentences a tagger
has seen, and tags better than others. So they are divided into parts, and each part is tagged by a tagger of the rest.
"""

from __future__ import annotations

import numpy as np

from markone.errors import DataError, SettingsError
from markone.learning.examples import shuffled
from markone.learning.progress import Progress
from markone.structured.sentences import FORM, Sentences, Strings
from markone.structured.tagger import Tagger

FOLDS = 5
PASSES = 5


def jackknifed(
    sentences: Sentences, column: str, *, folds: int = FOLDS, seed: int = 0, progress: Progress | bool | None = None
) -> Strings:
    """The column as taggers give it that have learned from the other parts of the sentences."""
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise SettingsError("folds", f"must be a whole number of at least 2, not {folds!r}")
    if len(sentences) < folds:
        raise DataError(f"there are {len(sentences)} sentences, which cannot be divided into {folds} parts")
    order = shuffled(np.arange(len(sentences), dtype=np.int64), seed, 0)
    names = (FORM, column)
    found = np.empty(sentences.words, object)
    for fold in range(folds):
        part = np.sort(order[fold::folds])
        rest = np.sort(np.concatenate([order[other::folds] for other in range(folds) if other != fold]))
        others, _ = sentences.chosen(rest, names)
        tagger = Tagger.train(others, column=column, epochs=PASSES, seed=seed, progress=progress)
        if tagger.history.stopped == "interrupted":
            raise KeyboardInterrupt
        to_tag, words = sentences.chosen(part, names)
        found[words] = tagger.tag_columns(to_tag).tolist()
    return Strings.of(found.tolist())
