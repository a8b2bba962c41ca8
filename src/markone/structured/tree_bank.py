"""Sentences as the core's parser sees them: words and their tags."""

from __future__ import annotations

import numpy as np

from markone import _core
from markone.data.spill import Spill
from markone.data.strings import Strings
from markone.errors import DataError, Setting, Words
from markone.structured.sentences import FORM, TAG, Sentences

DEPREL = "deprel"
FEATS = "feats"
TAG_FIRST = ("tag the words first, or train a parser with ", Setting("tag", True), ", which does so itself")


def with_tags(batch: Sentences, tags: str) -> Sentences:
    """Pairs of a word and its tag will do, whatever the column is called."""
    if tags not in batch.columns and batch.words == 0:
        return batch.with_columns({tags: Strings.of([])})
    if tags not in batch.columns and set(batch.columns) == {FORM, TAG}:
        return batch.with_columns({tags: batch.column(TAG)})
    return batch


def check_tags(batch: Sentences, tags: str, advice: Words = TAG_FIRST) -> None:
    """That every word has a tag. Of features an underscore says that there are none."""
    if tags == FEATS:
        return
    blank = batch.column(tags).blank()
    if len(blank) > 0:
        more = "" if len(blank) == 1 else f", as have {len(blank) - 1:,} more"
        raise DataError(
            f"{batch.place_of(int(blank[0]))}: {batch.form[int(blank[0])]!r} has no {tags}{more}, and a parser goes by "
            "them",
            column=tags,
            advice=advice,
        )


def bank_of(sentences: Sentences, tags: str, spill: Spill | None = None) -> _core.TreeBank:
    """Sentences as the core sees them."""
    make = np.empty if spill is None else spill.empty
    forms, names = sentences.arrays((FORM, tags))
    atoms = make((sentences.words, _core.TreeBank.atoms_of_word), np.uint64)
    return _core.TreeBank(np.ascontiguousarray(sentences.starts), *forms, *names, atoms)
