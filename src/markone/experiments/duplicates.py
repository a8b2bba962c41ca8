"""Rows that are the same or nearly the same, within training rows, and in training and test rows.

Two rows are the same if all their values are: numbers, categories, and the words of texts, without case and
punctuation. Two texts are nearly the same if at least 80% of their words, pairs and triples of words are in both. To
find such texts without comparing all pairs, each text has a signature of 32 minima of hashes (Broder 1997), all from
one hash function (Li, Owen and Zhang 2012; empty places by Shrivastava and Li 2014). Texts that agree in 4 places of a
band of the signature are compared. Time and memory grow in proportion to the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.blocks import Sparse, as_scipy
from markone.data.source import Batch, Column, GivenRows, Names
from markone.data.store import stack
from markone.features.map import beside
from markone.features.ngrams import Ngrams
from markone.features.spec import Text
from markone.parallel import in_order

SIMILAR = 0.8
"""The share of n-grams of either text that must be in both."""
LONGEST = 3
HASH_BITS = 22
FEWEST_NGRAMS = 12
"""Texts with fewer n-grams, which are those of 5 words, are too short to be nearly the same."""
PLACES, BAND = 32, 4
"""The length of a signature, and of its bands. Of texts that share 80% of their n-grams, 1 - (1 - 0.8⁴)⁸ = 98.5% agree
in a band."""
WORDS = Text(words=(1, LONGEST), signs=False, weight="none", hash_bits=HASH_BITS)
NONE = np.uint64(0x9E3779B97F4A7C15)
"""The number of a missing value."""

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Fingerprints:
    """What is compared of some rows."""

    same: Hashes
    """A hash of all values of a row."""
    comparable: NDArray[np.bool_]
    """Whether a row has any value."""
    ngrams: Sparse | None
    """The n-grams of all texts of a row; None if there are no texts."""

    def __len__(self) -> int:
        return len(self.same)

    @classmethod
    def of(
        cls, batches: Iterable[Batch], columns: tuple[Column, ...], threads: int, *, alone: bool = False
    ) -> Fingerprints:
        """Look at all rows. If they are compared with those of another source, and not `alone`, given features are
        compared by their names."""
        texts = [Ngrams(c.name, WORDS, lengths=(1, LONGEST)) for c in columns if c.kind == "text"]
        others = [c for c in columns if c.kind != "text"]
        names = NameHashes(alone)

        def look(batch: Batch) -> tuple[Hashes, NDArray[np.bool_], list[Any]]:
            same, there = np.zeros(len(batch), np.uint64), np.zeros(len(batch), np.bool_)
            for number, column in enumerate(others):
                found, present = hashed(batch.columns[column.name], names)
                same = mixed(same + mixed(found + np.uint64(number)))
                there |= present
            return same, there, [part.collect(batch) for part in texts]

        keys, present, ngrams = [np.zeros(0, np.uint64)], [np.zeros(0, np.bool_)], []
        for same, there, collected in in_order(look, batches, threads):
            if texts:
                counted: list[Any] = [of_absorbed(part, one) for part, one in zip(texts, collected, strict=True)]
                row: Any = beside(counted) if len(counted) > 1 else counted[0]
                ngrams.append(row)
                same = mixed(same + sums(row.indptr, mixed(row.indices.astype(np.uint64))))
                there = there | (np.diff(row.indptr) > 0)
            keys.append(same)
            present.append(there)
        return cls(np.concatenate(keys), np.concatenate(present), stack(ngrams) if ngrams else None)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Pairs:
    """Pairs of rows that are the same or nearly the same."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]
    """1 for rows that are the same, and else the share of n-grams that are in both."""

    def within(self, rows: int) -> Pairs:
        """Return the pairs of the first rows."""
        chosen = self.second < rows
        return Pairs(self.first[chosen], self.second[chosen], self.similarity[chosen])


def pairs_of(rows: Fingerprints) -> Pairs:
    """Return pairs of rows that are alike, the smaller number first.

    If many rows are alike, they are not all in pairs with each other, but each is in a pair with the first of them.
    """
    first, second = matched(rows.same, rows.comparable)
    found = [(first, second, np.ones(len(first)))]
    if rows.ngrams is not None and len(rows) > 1:
        first, second = candidates(rows.ngrams)
        alike = similarities(rows.ngrams, first, second)
        near = alike >= SIMILAR
        found.append((first[near], second[near], alike[near]))
    first, second, similarity = (np.concatenate(column) for column in zip(*found, strict=True))
    pair = first * len(rows) + second
    _, chosen = np.unique(pair, return_index=True)  # the first of equal ones, which is that of the same rows
    return Pairs(first[chosen], second[chosen], similarity[chosen])


def groups_of(pairs: Pairs, rows: int) -> list[NDArray[np.int64]]:
    """Return groups of rows that are connected by pairs, in the order of their first rows."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(pairs.first):
        return []
    graph = coo_array((np.ones(len(pairs.first), np.int8), (pairs.first, pairs.second)), (rows, rows))
    number = connected_components(graph, directed=False)[1]
    which = np.flatnonzero(np.bincount(number)[number] > 1)
    order = which[np.argsort(number[which], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(number[order])) + 1)
    return sorted(groups, key=lambda group: int(group[0]))


def joined(first: Fingerprints, second: Fingerprints) -> Fingerprints:
    """Return the rows of both."""
    ngrams: Any = first.ngrams
    if first.ngrams is not None and second.ngrams is not None:
        ngrams = stack([first.ngrams, second.ngrams])
    return Fingerprints(
        np.concatenate([first.same, second.same]), np.concatenate([first.comparable, second.comparable]), ngrams
    )


# ---- rows that are the same


def matched(keys: Hashes, which: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs of each row and the first row with the same key, and of each and the one before it."""
    rows = np.flatnonzero(which)
    rows = rows[np.argsort(keys[rows], kind="stable")]
    new = np.ones(len(rows), np.bool_)
    new[1:] = keys[rows][1:] != keys[rows][:-1]
    starts = rows[np.flatnonzero(new)][np.cumsum(new) - 1] if len(rows) else rows
    later = np.flatnonzero(~new)
    before = rows[later - 1]
    return np.concatenate([starts[later], before]), np.concatenate([rows[later], rows[later]])


class NameHashes:
    """The hashes of the names of given features, each of which is computed once."""

    def __init__(self, alone: bool) -> None:
        self.alone = alone
        self.known: dict[int, Hashes] = {}

    def of(self, names: Names) -> Hashes:
        if self.alone:  # numbers are enough
            return mixed(np.arange(len(names), dtype=np.uint64))
        known = self.known.get(id(names), np.zeros(0, np.uint64))
        if len(known) < len(names):
            new = [hash_of(name.encode("utf-8", "surrogatepass")) for name in names.since(len(known))]
            known = self.known[id(names)] = np.concatenate([known, np.array(new, np.uint64)])
        return known


def hashed(values: Any, names: NameHashes) -> tuple[Hashes, NDArray[np.bool_]]:
    """Return a number for each value of a column, and whether there is a value. Equal values have equal numbers."""
    import pyarrow as pa

    if isinstance(values, GivenRows):
        return hashed_rows(values, names.of(values.names))
    if isinstance(values, np.ndarray):  # images
        found = np.array([hash_of(one.tobytes()) for one in values], np.uint64)
        return found, np.ones(len(values), np.bool_)
    there = np.asarray(values.is_valid())
    if pa.types.is_floating(values.type):
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64) + 0.0  # no negative zero
        return np.where(there, mixed(numbers.view(np.uint64)), NONE), there
    if pa.types.is_nested(values.type):
        found = np.array([hash_of(repr(one).encode()) for one in values.to_pylist()], np.uint64)
        return np.where(there, found, NONE), there
    encoded = values.dictionary_encode()
    known = [hash_of(repr(one).encode("utf-8", "surrogatepass")) for one in encoded.dictionary.to_pylist()]
    codes = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    return np.array([*known, NONE], np.uint64)[codes], there


def hashed_rows(given: GivenRows, names: Hashes) -> tuple[Hashes, NDArray[np.bool_]]:
    """Hash rows of features by their names and values; 0 is the same as an absent feature."""
    matrix = as_scipy(given.matrix)
    if isinstance(matrix, np.ndarray):
        from scipy.sparse import csr_array

        matrix = csr_array(matrix)
    values = np.asarray(matrix.data, np.float64).view(np.uint64) * NONE  # which is odd, so that no bit is lost
    values = np.where(matrix.data == 0, np.uint64(0), mixed(values + names[matrix.indices]))
    return sums(np.asarray(matrix.indptr, np.int64), values), np.ones(matrix.shape[0], np.bool_)


def hash_of(value: bytes) -> int:
    return int.from_bytes(blake2b(value, digest_size=8).digest())


def mixed(numbers: Hashes) -> Hashes:
    """Return numbers whose bits all depend on all bits (the finalizer of SplitMix64)."""
    found = numbers.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    return found ^ (found >> np.uint64(31))


def sums(indptr: NDArray[np.int64], values: Hashes) -> Hashes:
    """Return the sum of the values of each row, which does not depend on their order; 0 for an empty row."""
    totals = np.zeros(len(indptr) - 1, np.uint64)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        totals[filled] = np.add.reduceat(values, indptr[filled])
    return totals


# ---- texts that are nearly the same


def of_absorbed(part: Ngrams, collected: Any) -> Sparse:
    """Return the n-grams of a batch, each with the value 1."""
    indptr, indices, _ = part.absorb(collected, None)
    return Sparse(indptr, indices, np.ones(len(indices), np.float32), part.width)


def candidates(ngrams: Sparse) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs of rows that agree in a band of their signatures."""
    signature = signatures(ngrams)
    long = np.diff(ngrams.indptr) >= FEWEST_NGRAMS
    found = []
    for band in range(0, PLACES, BAND):
        key = np.zeros(len(ngrams), np.uint64)
        for place in range(band, band + BAND):
            key = mixed(key + signature[:, place])
        found.append(matched(key, long))
    pair = np.unique(np.concatenate([first * len(ngrams) + second for first, second in found]))
    return pair // len(ngrams), pair % len(ngrams)


def signatures(ngrams: Sparse) -> NDArray[np.uint64]:
    """Return the smallest hash in each place of each row. An empty place repeats the next one that is not empty."""
    hashes = mixed(ngrams.indices.astype(np.uint64) + NONE)
    place = (hashes % np.uint64(PLACES)).astype(np.int64)
    row = np.repeat(np.arange(len(ngrams)), np.diff(ngrams.indptr))
    empty = np.iinfo(np.uint64).max
    found = np.full((len(ngrams), PLACES), empty, np.uint64)
    np.minimum.at(found.reshape(-1), row * PLACES + place, hashes)
    for number in range(2 * PLACES - 1, -1, -1):
        here, after = number % PLACES, (number + 1) % PLACES
        gaps = found[:, here] == empty
        found[gaps, here] = found[gaps, after]
    return found


def similarities(
    ngrams: Sparse, first: NDArray[np.int64], second: NDArray[np.int64], at_once: int = 4096
) -> NDArray[np.float64]:
    """Return for each pair of rows the share of n-grams that are in both (Jaccard's index)."""
    matrix, sizes = as_scipy(ngrams), np.diff(ngrams.indptr)
    both = np.zeros(len(first))
    for start in range(0, len(first), at_once):
        some = slice(start, start + at_once)
        both[some] = np.ravel(matrix[first[some]].multiply(matrix[second[some]]).sum(axis=1))
    found: NDArray[np.float64] = both / np.maximum(sizes[first] + sizes[second] - both, 1)
    return found
