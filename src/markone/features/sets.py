"""Sets: each item of a set is a feature that is 1 or absent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Sparse
from markone.data.source import Batch, Column
from markone.data.strings import Strings
from markone.features.event_kinds import Event, Group
from markone.features.part import Part
from markone.features.spec import Categorical
from markone.storage.saved import Contents, Saved, blob, damaged

Numbers = NDArray[np.int64]


class CollectedSets(NamedTuple):
    """The sets of a batch: where each row begins, the place of each item in `texts`, and which rows are missing."""

    indptr: Numbers
    places: Numbers
    texts: list[str]
    missing: NDArray[np.bool_]


class DraftedSets(NamedTuple):
    indptr: Numbers
    numbers: Numbers
    """The items' numbers in the order of their first occurrence."""
    missing: NDArray[np.bool_]


class Sets(Part):
    """Sparse rows of a column of sets: `colours has red` for each item, and `colours is missing` if there are gaps.

    Items that are rare in training, as the settings of categories say, and new ones have no feature.
    """

    mergeable = True

    def __init__(self, column: Column, settings: Categorical) -> None:
        self.column = column
        self.settings = settings
        self.met: dict[str, int] = {}
        self.counts = np.zeros(0, np.int64)
        self.gaps = 0
        self.choose([], has_missing=False)
        self.feature_of = np.zeros(0, np.int64)

    def choose(self, kept: list[str], *, has_missing: bool) -> None:
        self.kept, self.has_missing = kept, has_missing
        self.place_of = {text: place for place, text in enumerate(kept)}

    def collect(self, batch: Batch) -> CollectedSets:
        array = batch.columns[self.column.name]
        missing = array.is_null().to_numpy(zero_copy_only=False)
        sizes = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        items = array.flatten().dictionary_encode(null_encoding="encode")
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        texts = [str(text) for text in items.dictionary.to_pylist()]
        return CollectedSets(indptr, items.indices.to_numpy(zero_copy_only=False).astype(np.int64), texts, missing)

    def absorb(self, collected: CollectedSets, labels: NDArray[np.int32] | None = None) -> DraftedSets:
        indptr, places, texts, missing = collected
        numbers = np.array([self.met.setdefault(text, len(self.met)) for text in texts], np.int64)[places]
        rows = np.repeat(np.arange(len(missing)), np.diff(indptr))
        pairs = np.unique(np.stack([rows, numbers]), axis=1)  # an item counts once in a row
        counts = np.bincount(pairs[1], minlength=len(self.met))
        counts[: len(self.counts)] += self.counts
        self.counts = counts
        self.gaps += int(missing.sum())
        return DraftedSets(indptr, numbers, missing)

    def absorbed(self) -> tuple[list[str], Numbers, int]:
        return [*self.met], self.counts, self.gaps

    def absorb_all(self, absorbed: tuple[list[str], Numbers, int]) -> None:
        texts, counts, gaps = absorbed
        numbers = [self.met.setdefault(text, len(self.met)) for text in texts]
        total = np.zeros(len(self.met), np.int64)
        total[: len(self.counts)] = self.counts
        total[numbers] += counts
        self.counts = total
        self.gaps += gaps

    def finish(self) -> None:
        order = np.argsort(-self.counts, kind="stable")
        order = order[self.counts[order] >= self.settings.min_count][: self.settings.max_features]
        texts = list(self.met)
        self.feature_of = np.full(len(texts), -1, np.int64)
        self.feature_of[order] = np.arange(len(order))
        self.choose([texts[number] for number in order], has_missing=self.gaps > 0)

    def refine(self, draft: DraftedSets) -> Sparse:
        return self.refine_with(draft, self.feature_of)

    def numbers_of(self, absorbed: tuple[list[str], Numbers, int]) -> Numbers:
        return np.array([self.place_of.get(text, -1) for text in absorbed[0]], np.int64)

    def refine_with(self, draft: DraftedSets, numbers: Numbers) -> Sparse:
        return self.rows(draft.indptr, numbers[draft.numbers], draft.missing)

    def transform(self, batch: Batch) -> Sparse:
        indptr, places, texts, missing = self.collect(batch)
        known = np.array([self.place_of.get(text, -1) for text in texts], np.int64)
        return self.rows(indptr, known[places], missing)

    def rows(self, indptr: Numbers, features: Numbers, missing: NDArray[np.bool_]) -> Sparse:
        """Rows with each feature once, in their order; -1 is an item without a feature."""
        rows = np.repeat(np.arange(len(missing)), np.diff(indptr))
        known = features >= 0
        pairs = np.stack([rows[known], features[known]])
        if self.has_missing:
            gaps = np.flatnonzero(missing)
            pairs = np.concatenate([pairs, np.stack([gaps, np.full(len(gaps), len(self.kept))])], axis=1)
        pairs = np.unique(pairs, axis=1)
        begins = np.searchsorted(pairs[0], np.arange(len(missing) + 1)).astype(np.int64)
        return Sparse(begins, pairs[1].astype(np.uint32), np.ones(pairs.shape[1], np.float32), self.width)

    @property
    def width(self) -> int:
        return len(self.kept) + self.has_missing

    def name(self, number: int) -> str:
        name = self.column.name
        return f"{name} is missing" if number == len(self.kept) else f"{name} has {self.kept[number]}"

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        """Each item is present or absent."""
        return [Group("bernoulli", 0, self.width)] if self.width else []

    def save(self) -> Saved:
        return Saved({"missing": self.has_missing}, blob("items", Strings.of(self.kept)))

    def take(self, contents: Contents) -> None:
        has_missing = contents.fact("missing", bool)
        kept = contents.texts("items").tolist("surrogatepass")
        if len({*kept}) != len(kept):
            raise damaged("a column has an item twice")
        self.choose(kept, has_missing=has_missing)

    def extend(self, other: Sets) -> NDArray[np.int64]:
        """Add new items after the old ones, before `is missing`."""
        before, had_missing = len(self.kept), self.has_missing
        self.choose(list(dict.fromkeys(self.kept + other.kept)), has_missing=self.has_missing or other.has_missing)
        return np.array([*range(before), *[len(self.kept)] * had_missing], np.int64)

    def prune(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Remove unused items: an item without a feature is not counted as another one."""
        used = used.copy()
        stays = used[: len(self.kept)]
        has_missing = self.has_missing and bool(used[-1])
        self.choose([text for text, stay in zip(self.kept, stays, strict=True) if stay], has_missing=has_missing)
        return used
