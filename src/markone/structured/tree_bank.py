"""Sentences as input of the core's parser: words and their tags."""

from __future__ import annotations

import numpy as np

from markone import _core
from markone.data.spill import Spill
from markone.data.strings import Strings
from markone.errors import DataError, Setting, Words
from markone.structured.sentences import FORM, TAG, Sentences

DEPREL = "deprel"
FEATS = "feats"
TAG_FIRST = ("tag the words first, or train a parser with ", Setting("tag", True), ", which tags them itself")


def with_tags(batch: Sentences, tags: str) -> Sentences:
    """The sentences with a column `tags`. In pairs of a word and its tag, the tag counts as this column."""
    if tags not in batch.columns and batch.words == 0:
        return batch.with_columns({tags: Strings.of([])})
    if tags not in batch.columns and set(batch.columns) == {FORM, TAG}:
        return batch.with_columns({tags: batch.column(TAG)})
    return batch


def check_tags(batch: Sentences, tags: str, advice: Words = TAG_FIRST) -> None:
    """Check that every word has a tag. In the column of morphological features an underscore is a valid value."""
    if tags == FEATS:
        return
    blank = batch.column(tags).blank()
    if len(blank) > 0:
        more = "" if len(blank) == 1 else f", and {len(blank) - 1:,} other words have none, either"
        raise DataError(
            f"{batch.place_of(int(blank[0]))}: {batch.form[int(blank[0])]!r} has no {tags}{more}; a parser needs them",
            column=tags,
            advice=advice,
        )


def bank_of(sentences: Sentences, tags: str, spill: Spill | None = None) -> _core.TreeBank:
    """The sentences in the core's form."""
    make = np.empty if spill is None else spill.empty
    forms, names = sentences.arrays((FORM, tags))
    atoms = make((sentences.words, _core.TreeBank.atoms_of_word), np.uint64)
    return _core.TreeBank(np.ascontiguousarray(sentences.starts), *forms, *names, atoms)
