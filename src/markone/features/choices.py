"""Chooses how texts become features, from statistics of the first examples.

If words rarely repeat, a new text has many words that were never seen, but the parts of these words were. Whether this
is so is measured: the words of one half of the first texts are learned, and those of the other half are looked up.
docs/accuracy.md says where the limits come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from markone import _core
from markone.data.source import Batch, Column
from markone.data.strings import Strings
from markone.features.spec import AUTO, BEFORE, SUBWORDS, Features, Text, plain

SAMPLE = 1000
"""The choice depends on this many examples, or a few more."""
ENOUGH = 100
"""With fewer examples nothing is chosen: almost every word would be unknown."""
UNKNOWN = 0.1
"""From this share of unknown words on, n-grams of characters within words are features, too."""
RARELY = 0.5
"""From this share of unknown words on, n-grams that occur in only one example are kept."""
ALMOST_ALL = 0.9
"""From this share of unknown words on, parts of words are the only features, and their weights do not need labels."""

CHOSEN = ("subwords", "min_count")
"""The settings that are chosen."""
OF_SINGLE_WORDS = ("words", "weight")
"""Those that are also chosen where almost all words are unknown."""


def is_open(settings: Text) -> bool:
    """Whether something is to be chosen. Where a user says which n-grams there are, nothing is."""
    usual = Text()
    same = all(getattr(settings, name) == getattr(usual, name) for name in ("words", "characters", "weight"))
    return settings.subwords == AUTO and same and settings.hash_bits is None


def open_columns(spec: Features, columns: Iterable[Column]) -> list[Column]:
    return [column for column in columns if column.kind == "text" and is_open(spec.for_column(column))]


def choose(spec: Features, columns: Sequence[Column], batches: Iterator[Batch]) -> tuple[Features, Iterator[Batch]]:
    """Return the spec with everything chosen, and all batches, the first of which were looked at."""
    to_choose = open_columns(spec, columns)
    if not to_choose:
        return spec, batches
    first: list[Batch] = []
    for batch in batches:
        first.append(batch)
        if sum(map(len, first)) >= SAMPLE:
            break
    choices = {}
    for column in to_choose:
        settings = spec.for_column(column)
        choices[column.name] = choice(
            settings, unknown_words(settings, [batch.columns[column.name] for batch in first])
        )
    return with_choices(spec, columns, choices), chain(first, batches)


def choice(settings: Text, unknown: float | None) -> dict[str, Any]:
    """The settings for a share of unknown words; None if it is not known."""
    share = 0.0 if unknown is None else unknown
    chosen = {
        "subwords": SUBWORDS if share >= UNKNOWN else None,
        "min_count": 1 if settings.min_count is None and share >= RARELY else settings.min_count,
    }
    return {**chosen, "words": None, "weight": "idf"} if share >= ALMOST_ALL and is_plain(settings) else chosen


def is_plain(settings: Text) -> bool:
    """Whether nothing is set that belongs to whole words or to odds."""
    usual = Text()
    return all(
        getattr(settings, name) == getattr(usual, name)
        for name in ("negation", "templates", "lexicons", "smoothing", "discount", "shrinkage")
    )


def unknown_words(settings: Text, columns: Iterable[Any]) -> float | None:
    """The share of words in every second text that do not occur in the other texts; None if there are too few texts."""
    texts = [text for column in columns for text in Strings.of_arrow(column).tolist("replace")]
    if len(texts) < ENOUGH:
        return None
    how = _core.NgramSettings(
        fold=settings.case == "fold",
        signs=False,
        negation=False,
        choice=_core.TokenChoice.all,
        shortest=1,
        longest=1,
        characters=False,
        unspaced=settings.unspaced == "characters",
        emoji=settings.emoji == "whole",
    )
    vocabulary = _core.NgramVocabulary(how)
    vocabulary.absorb(vocabulary.collect(*Strings.of(texts[::2]).for_core))
    vocabulary.keep(np.arange(vocabulary.known, dtype=np.uint32))
    _, _, counts, lengths = vocabulary.read(*Strings.of(texts[1::2]).for_core)
    words = int(lengths.sum())
    return 1 - float(counts.sum(dtype=np.float64)) / words if words else 0.0


def with_choices(spec: Features, columns: Sequence[Column], choices: dict[str, dict[str, Any]]) -> Features:
    """The spec with the choices for some columns: for all texts if these are all texts, and they agree."""
    texts = [column.name for column in columns if column.kind == "text"]
    every = list(choices.values())
    if (
        [*choices] == texts
        and all(one == every[0] for one in every)
        and not any(name in spec.columns for name in texts)
    ):
        return replace(spec, text=replace(spec.text, **every[0]))
    exceptions = {name: {**spec.columns.get(name, {}), **one} for name, one in choices.items()}
    return replace(spec, columns={**spec.columns, **exceptions})


def chosen_as(spec: Features, columns: Sequence[Column], model: Features) -> Features:
    """The spec with the choices that were made for a model. Defaults are those of the time when the model was made."""
    usual = Text()
    then = {
        name: getattr(model.text, name)
        for name, value in BEFORE.items()
        if plain(getattr(model.text, name)) == value and getattr(spec.text, name) == getattr(usual, name)
    }
    choices = {}
    for column in open_columns(spec, columns):
        settings = model.for_column(column)
        chosen = {name: getattr(settings, name) for name in CHOSEN}
        others = {name: getattr(settings, name) for name in OF_SINGLE_WORDS}
        choices[column.name] = chosen | {name: value for name, value in others.items() if value != getattr(usual, name)}
    spec = with_choices(spec, columns, choices) if choices else spec
    return replace(spec, text=replace(spec.text, **then)) if then else spec
