"""Conjunctions: products of categories and numbers, such as `make=asia*weight`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Sparse
from markone.data.source import Batch, Column
from markone.errors import DataError, SettingsError, did_you_mean
from markone.features.categories import Categories, Codes
from markone.features.numbers import Numbers
from markone.features.part import Matrix, Part
from markone.storage.saved import Contents, Saved, damaged, joined

KEY_BITS = 62


class Draft(NamedTuple):
    met: list[NDArray[np.int32] | None]
    """For each conjunction the number of each row's combination of categories; None if it has no categorical column."""
    numbers: NDArray[Any]


@dataclass(slots=True)
class Combinations:
    """The combinations of some categorical columns, and which of them are features."""

    columns: list[int]
    met: dict[int, int] = field(default_factory=dict)
    """The keys of the combinations in training, numbered in the order of their first occurrence."""
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    places: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """The feature of each combination by its number in `met`."""
    features: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """The keys of the features: combinations of the columns' features, in which all rare categories are one."""
    place_of: dict[int, int] = field(default_factory=dict)

    @property
    def bits(self) -> int:
        return KEY_BITS // len(self.columns)

    def pack(self, codes: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """Compute keys from the codes of each column."""
        keys = codes[0].astype(np.int64)
        for more in codes[1:]:
            keys = keys << self.bits | more
        return keys

    def unpack(self, keys: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        shifts = range(self.bits * (len(self.columns) - 1), -1, -self.bits)
        return [keys >> shift & (1 << self.bits) - 1 for shift in shifts]

    def check_room(self, categories: Categories, counts: Sequence[int]) -> None:
        """Check that keys have room for all categories of each column."""
        most = (1 << self.bits) - 2  # two more codes are for missing and other categories
        for column in self.columns:
            if counts[column] > most:
                raise DataError(
                    f"column {categories.columns[column].name!r} has more than {most} categories, too many for a "
                    f"conjunction of {len(self.columns)} categorical columns"
                )

    def absorb(self, codes: list[Codes], categories: Categories) -> NDArray[np.int32]:
        self.check_room(categories, [len(met) - 1 for met in categories.met])
        local, keys = distinct(self.pack([codes[column] for column in self.columns]))
        numbers = np.array([self.met.setdefault(key, len(self.met)) for key in keys.tolist()], np.int32)[local]
        counts = np.bincount(numbers, minlength=len(self.met))
        counts[: len(self.counts)] += self.counts
        self.counts = counts
        return numbers

    def finish(self, categories: Categories) -> None:
        """Choose the features; the most frequent one comes first."""
        met = self.unpack(np.fromiter(self.met, np.int64, len(self.met)))
        local, keys = distinct(
            self.pack([categories.places[column][codes] for column, codes in zip(self.columns, met, strict=True)])
        )
        order = np.argsort(-np.bincount(local, self.counts, minlength=len(keys)), kind="stable")
        ranks = np.empty(len(order), np.int32)
        ranks[order] = np.arange(len(order))
        self.places = ranks[local]
        self.choose(keys[order])

    def choose(self, keys: NDArray[np.int64]) -> None:
        """Set the features."""
        self.features = keys
        self.place_of = {key: place for place, key in enumerate(keys.tolist())}

    def renumbered(self, places: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The keys of the features after the columns' features have been renumbered by `places`."""
        return self.pack(
            [places[column][codes] for column, codes in zip(self.columns, self.unpack(self.features), strict=True)]
        )

    def find(self, features: list[Codes]) -> NDArray[np.int32]:
        """The features of combinations of columns' features; -1 for those that did not occur in training."""
        local, keys = distinct(self.pack([features[column] for column in self.columns]))
        return np.array([self.place_of.get(key, -1) for key in keys.tolist()], np.int32)[local]


class Conjunctions(Part):
    """Products of columns: one for each combination of their categories in training.

    Numbers are scaled and filled before they are multiplied. A row whose combination of categories did not occur in
    training has no such feature. If there are only numbers, rows are dense.
    """

    def __init__(self, conjunctions: Sequence[str], columns: Sequence[tuple[Column, Any]]) -> None:
        """`columns` are all columns of a source with their settings; only those that a conjunction names are used."""
        known = {column.name: (column, settings) for column, settings in columns}
        self.factors = [parse(conjunction, known) for conjunction in conjunctions]
        met: set[tuple[str, ...]] = set()
        for conjunction, names in zip(conjunctions, self.factors, strict=True):
            if (factors := tuple(sorted(names))) in met:
                raise SettingsError("conjunctions", f"has {conjunction!r} twice")
            met.add(factors)
        used = list(dict.fromkeys(name for names in self.factors for name in names))
        self.categories = Categories([known[name] for name in used if known[name][0].kind == "categorical"])
        self.numbers = Numbers([known[name] for name in used if known[name][0].kind != "categorical"])
        category = {column.name: i for i, column in enumerate(self.categories.columns)}
        number = {column.name: i for i, column in enumerate(self.numbers.columns)}
        self.multiplied = [[number[name] for name in names if name in number] for names in self.factors]
        self.combinations = [
            Combinations(chosen) if (chosen := [category[name] for name in names if name in category]) else None
            for names in self.factors
        ]
        self.begins = [0]

    def collect(self, batch: Batch) -> Any:
        return self.categories.collect(batch), self.numbers.collect(batch)

    def absorb(self, collected: Any, labels: NDArray[np.int32] | None = None) -> Draft:
        codes = self.categories.absorb(collected[0])
        met = [None if one is None else one.absorb(codes, self.categories) for one in self.combinations]
        return Draft(met, self.numbers.absorb(collected[1]))

    def finish(self) -> None:
        self.categories.finish()
        self.numbers.finish()
        for one in self.combinations:
            if one is not None:
                one.finish(self.categories)
        self.count()

    def count(self) -> None:
        """Number the features of all conjunctions."""
        widths = [1 if one is None else len(one.features) for one in self.combinations]
        self.begins = list(accumulate(widths, initial=0))

    def refine(self, draft: Draft) -> Matrix:
        places = [
            None if one is None or met is None else one.places[met]
            for one, met in zip(self.combinations, draft.met, strict=True)
        ]
        return self.rows(places, draft.numbers)

    def transform(self, batch: Batch) -> Matrix:
        features = self.categories.find(batch)
        places = [None if one is None else one.find(features) for one in self.combinations]
        return self.rows(places, self.numbers.read(batch))

    @property
    def width(self) -> int:
        return self.begins[-1]

    def name(self, number: int) -> str:
        which = bisect_right(self.begins, number) - 1
        one = self.combinations[which]
        if one is None:
            return "*".join(self.factors[which])
        places = one.unpack(one.features[number - self.begins[which], None])
        names = {
            self.categories.columns[column].name: self.categories.name_in(column, int(place[0]))
            for column, place in zip(one.columns, places, strict=True)
        }
        return "*".join(names.get(name, name) for name in self.factors[which])

    def names(self) -> list[str]:
        names: list[str] = []
        for factors, one in zip(self.factors, self.combinations, strict=True):
            if one is None:
                names.append("*".join(factors))
                continue
            called = {
                self.categories.columns[column].name: [self.categories.name_in(column, p) for p in places.tolist()]
                for column, places in zip(one.columns, one.unpack(one.features), strict=True)
            }
            every = [called.get(name, [name] * len(one.features)) for name in factors]
            names += map("*".join, zip(*every, strict=True))
        return names

    def save(self) -> Saved:
        within = joined({"categories": self.categories.save(), "numbers": self.numbers.save()})
        keys = {f"keys{i}": one.features for i, one in enumerate(self.combinations) if one is not None}
        return Saved(within.facts, {**within.arrays, **keys})

    def take(self, contents: Contents) -> None:
        self.categories.restore(contents.saved("categories"))
        self.numbers.restore(contents.saved("numbers"))
        for i, one in enumerate(self.combinations):
            if one is None:
                continue
            one.check_room(self.categories, [len(kept) for kept in self.categories.kept])
            keys = contents.array(f"keys{i}", np.int64, None)
            places = one.unpack(keys)
            widths = [self.categories.widths[column] for column in one.columns]
            if (one.pack(places) != keys).any() or any((p >= w).any() for p, w in zip(places, widths, strict=True)):
                raise damaged("a conjunction has an unknown category")
            one.choose(keys)
            if len(one.place_of) != len(keys):
                raise damaged("a conjunction occurs twice")
        self.count()

    def extend(self, other: Conjunctions) -> NDArray[np.int64]:
        mine, theirs = ((one.categories.kept, one.categories.has_missing) for one in (self, other))
        self.categories.extend(other.categories)
        self.numbers.extend(other.numbers)
        before = self.begins
        for one, more in zip(self.combinations, other.combinations, strict=True):
            if one is not None and more is not None:
                one.check_room(self.categories, [len(kept) for kept in self.categories.kept])
                old = one.renumbered(self.categories.places_of(*mine))
                new = more.renumbered(self.categories.places_of(*theirs))
                one.choose(np.concatenate([old, new[~np.isin(new, old)]]))
        self.count()
        return np.concatenate(
            [
                np.arange(begin, begin + end - start)
                for begin, (start, end) in zip(self.begins[:-1], pairwise(before), strict=True)
            ]
        )

    def prune(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Prune combinations of categories. Products of numbers alone, which are one feature each, stay."""
        stays = used.copy()
        for one, (begin, end) in zip(self.combinations, pairwise(self.begins), strict=True):
            if one is None:
                stays[begin:end] = True
            else:
                one.choose(one.features[used[begin:end]])
        self.count()
        return stays

    def rows(self, places: list[NDArray[np.int32] | None], numbers: NDArray[Any]) -> Matrix:
        """The rows: a value for each conjunction, except where its place is -1."""
        size = numbers.shape[1]
        values = np.empty((size, len(places)), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = self.numbers.scale(numbers, self.numbers.find_missing(numbers))
            for i, factors in enumerate(self.multiplied):
                values[:, i] = scaled[factors].prod(axis=0)
        self.check_finite(values)
        if all(place is None for place in places):
            return values
        indices = np.empty((size, len(places)), np.int64)
        for i, place in enumerate(places):
            indices[:, i] = self.begins[i] if place is None else np.where(place < 0, -1, place + self.begins[i])
        kept = indices >= 0
        indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        return Sparse(indptr, indices[kept].astype(np.uint32), values[kept], self.width)

    def check_finite(self, values: NDArray[np.float32]) -> None:
        for which in np.flatnonzero(~np.isfinite(values).all(axis=0)):
            raise DataError(
                f"the conjunction {'*'.join(self.factors[which])} has numbers too large for 32-bit floats; divide its "
                "columns first, or scale them: numeric.scale = 'max-abs'"
            )


def parse(conjunction: str, known: dict[str, tuple[Column, Any]]) -> list[str]:
    names = [name.strip() for name in conjunction.split("*")]
    for name in names:
        if name not in known:
            raise SettingsError(
                "conjunctions", f"has {conjunction!r}, but there is no column {name!r}.{did_you_mean(name, known)}"
            )
        kind = known[name][0].kind
        if kind not in ("categorical", "numeric", "boolean"):
            raise SettingsError(
                "conjunctions",
                f"has {conjunction!r}, but column {name!r} is of kind {kind}; only categories, numbers and booleans "
                "can be multiplied",
            )
        if kind == "categorical" and names.count(name) > 1:
            raise SettingsError("conjunctions", f"has {conjunction!r}, which names the categories of {name!r} twice")
    return names


def distinct(keys: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the keys in the order of their first occurrence; also returns the distinct keys."""
    import pyarrow as pa

    encoded = pa.array(keys).dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary.to_numpy()
