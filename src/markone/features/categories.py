"""Categories: each value of a categorical column is a feature that is 1 or absent."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Sparse
from markone.data.source import Batch, Column
from markone.data.strings import Strings
from markone.errors import DataError
from markone.features.event_kinds import Event, Group
from markone.features.part import Part
from markone.features.spec import Categorical
from markone.storage.saved import Contents, Saved, blob, damaged

Codes = NDArray[np.int32]
MISSING = 0
FEW = 8
"""Up to this number of rows, Python is faster than calls of Arrow."""


class Categories(Part):
    """One-hot rows of all categorical columns: for each column exactly one feature is 1.

    It is `make=asia`, or `make is missing` if there is no value and training had such gaps, or else `make is another`,
    for all categories that were rare in training or did not occur. Frequent categories come first. No category is
    pruned, because its examples would then count as `make is another`.
    """

    mergeable = True

    def __init__(self, columns: Sequence[tuple[Column, Categorical]]) -> None:
        self.columns = [column for column, _ in columns]
        self.settings = [settings for _, settings in columns]
        self.met: list[dict[str | None, int]] = [{None: MISSING} for _ in columns]
        """For each column its categories in training, numbered in the order of their first occurrence."""
        self.counts = [np.zeros(1, np.int64) for _ in columns]
        self.finish()

    def collect(self, batch: Batch) -> list[tuple[Codes, list[str | None]]]:
        return [encode(column.name, batch.columns[column.name]) for column in self.columns]

    def absorb(
        self, collected: list[tuple[Codes, list[str | None]]], labels: NDArray[np.int32] | None = None
    ) -> list[Codes]:
        """For each column the numbers of its categories in `met`."""
        draft = []
        for i, (codes, texts) in enumerate(collected):
            met = self.met[i]
            numbers = np.array([met.setdefault(text, len(met)) for text in texts], np.int32)[codes]
            counts = np.bincount(numbers, minlength=len(met))
            counts[: len(self.counts[i])] += self.counts[i]
            self.counts[i] = counts
            draft.append(numbers)
        return draft

    def absorbed(self) -> list[tuple[list[str | None], NDArray[np.int64]]]:
        return [([*met], counts) for met, counts in zip(self.met, self.counts, strict=True)]

    def absorb_all(self, absorbed: list[tuple[list[str | None], NDArray[np.int64]]]) -> None:
        for i, (texts, counts) in enumerate(absorbed):
            met = self.met[i]
            numbers = [met.setdefault(text, len(met)) for text in texts]
            total = np.zeros(len(met), np.int64)
            total[: len(self.counts[i])] = self.counts[i]
            total[numbers] += counts
            self.counts[i] = total

    def finish(self) -> None:
        kept: list[list[str]] = []
        self.places: list[Codes] = []
        """For each column the feature of each category in `met`, counted from the column's first feature."""
        for met, counts, settings in zip(self.met, self.counts, self.settings, strict=True):
            texts = list(met)
            order = 1 + np.argsort(-counts[1:], kind="stable")
            order = order[counts[order] >= settings.min_count][: settings.max_features]
            kept.append([str(texts[number]) for number in order])
            another = len(order) + bool(counts[MISSING])
            places = np.full(len(texts), another, np.int32)
            places[order] = np.arange(len(order))
            places[MISSING] = len(order)
            self.places.append(places)
        self.choose(kept, [bool(counts[MISSING]) for counts in self.counts])

    def choose(self, kept: list[list[str]], has_missing: list[bool]) -> None:
        """Set the features: for each column its categories, in their order, and whether it may be missing."""
        self.kept = kept
        self.has_missing = has_missing
        self.place_of: list[dict[str | None, int]] = [
            {**{text: place for place, text in enumerate(kept)}, None: len(kept)} for kept in self.kept
        ]
        self.widths = [len(kept) + has + 1 for kept, has in zip(self.kept, self.has_missing, strict=True)]
        self.begins = list(accumulate(self.widths, initial=0))

    def refine(self, draft: list[Codes]) -> Sparse:
        return self.refine_with(draft, self.places)

    def numbers_of(self, absorbed: list[tuple[list[str | None], NDArray[np.int64]]]) -> list[Codes]:
        found = zip(absorbed, self.place_of, self.widths, strict=True)
        return [
            np.array([place_of.get(text, width - 1) for text in texts], np.int32)
            for (texts, _), place_of, width in found
        ]

    def refine_with(self, draft: list[Codes], numbers: list[Codes]) -> Sparse:
        return self.rows([places[codes] for places, codes in zip(numbers, draft, strict=True)])

    def transform(self, batch: Batch) -> Sparse:
        return self.rows(self.find(batch))

    @property
    def width(self) -> int:
        return self.begins[-1]

    def name(self, number: int) -> str:
        column = bisect_right(self.begins, number) - 1
        return self.name_in(column, number - self.begins[column])

    def name_in(self, column: int, place: int) -> str:
        """The name of a feature, counted from the first feature of its column."""
        name, kept = self.columns[column].name, self.kept[column]
        if place < len(kept):
            return f"{name}={kept[place]}"
        return f"{name} is another" if place == self.widths[column] - 1 else f"{name} is missing"

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        """Each column is a group, in which exactly one feature is 1."""
        return [Group("categorical", begin, end) for begin, end in pairwise(self.begins)]

    def save(self) -> Saved:
        texts = Strings.of([text for kept in self.kept for text in kept])
        return Saved(
            {"kept": [len(kept) for kept in self.kept], "missing": self.has_missing}, blob("categories", texts)
        )

    def take(self, contents: Contents) -> None:
        columns = len(self.columns)
        sizes, has_missing = contents.facts("kept", int, columns), contents.facts("missing", bool, columns)
        texts = contents.texts("categories").tolist("surrogatepass")
        if min(sizes, default=0) < 0 or sum(sizes) != len(texts):
            raise damaged("the number of categories does not match the columns")
        kept = [texts[begin:end] for begin, end in pairwise(accumulate(sizes, initial=0))]
        if any(len({*some}) != len(some) for some in kept):
            raise damaged("a column has a category twice")
        self.choose(kept, has_missing)

    def extend(self, other: Categories) -> NDArray[np.int64]:
        """Add new categories after the old ones of a column, before `make is missing` and `make is another`."""
        before = (self.kept, self.has_missing)
        self.choose(
            [list(dict.fromkeys(mine + more)) for mine, more in zip(self.kept, other.kept, strict=True)],
            [mine or more for mine, more in zip(self.has_missing, other.has_missing, strict=True)],
        )
        places = self.places_of(*before)
        return np.concatenate([np.zeros(0, np.int64), *(b + p for b, p in zip(self.begins, places, strict=False))])

    def places_of(self, kept: list[list[str]], has_missing: list[bool]) -> list[NDArray[np.int64]]:
        """For each column, the features in this part of the features of `other`, all of which occur here, too."""
        return [
            np.array([*(place_of[text] for text in some), *[place_of[None]] * has, width - 1], np.int64)
            for some, has, place_of, width in zip(kept, has_missing, self.place_of, self.widths, strict=True)
        ]

    def find(self, batch: Batch) -> list[Codes]:
        """For each column the features of a batch, counted from the column's first feature."""
        found = []
        for column, place_of, width in zip(self.columns, self.place_of, self.widths, strict=True):
            codes, texts = encode(column.name, batch.columns[column.name])
            found.append(np.array([place_of.get(text, width - 1) for text in texts], np.int32)[codes])
        return found

    def rows(self, places: list[Codes]) -> Sparse:
        columns, size = len(places), len(places[0])
        indices = np.empty((size, columns), np.uint32)
        for i, begin in enumerate(self.begins[:-1]):
            np.add(places[i], begin, out=indices[:, i], casting="unsafe")
        indptr = np.arange(0, size * columns + 1, columns, dtype=np.int64)
        return Sparse(indptr, indices.reshape(-1), np.ones(size * columns, np.float32), self.width)


def encode(name: str, array: Any) -> tuple[Codes, list[str | None]]:
    """Number the distinct values of an Arrow array in their order, and return their texts; None is a missing value.

    Categories are compared as texts, because one file may have 4 and another "4". Several numbers may have one text.
    """
    if isinstance(array, list):
        return np.arange(len(array), dtype=np.int32), array
    import pyarrow as pa

    has_dictionary = pa.types.is_dictionary(array.type)
    kind = array.type.value_type if has_dictionary else array.type
    if len(array) <= FEW and kind in (pa.string(), pa.large_string()):
        return np.arange(len(array), dtype=np.int32), array.to_pylist()
    try:
        if has_dictionary:
            encoded = array.indices.dictionary_encode(null_encoding="encode")
            values = array.dictionary.take(encoded.dictionary)
        else:
            encoded = array.dictionary_encode(null_encoding="encode")
            values = encoded.dictionary
        texts: list[str | None] = (values if kind == pa.string() else values.cast(pa.string())).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise DataError(f"column {name!r} has values of type {array.type}, which cannot be categories") from None
    if pa.types.is_floating(kind):
        texts = [None if text == "nan" else text for text in texts]
    return encoded.indices.to_numpy(), texts
