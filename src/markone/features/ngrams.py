"""N-grams of words or characters in a text column, counted and weighted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Sparse
from markone.data.source import Batch
from markone.data.strings import Strings
from markone.errors import DataError
from markone.features.event_kinds import Event, Group
from markone.features.part import Part
from markone.features.spec import Text
from markone.features.text_weights import inverse_document_frequency, log_odds, shrunk
from markone.storage.saved import Contents, Saved, blob, check_finite, damaged, distrusted

NOBODY = 2**32 - 1
MOST_FEATURES = 2**31 - 1
BYTES_OF_NGRAM = 64
"""The approximate bytes per n-gram in the vocabulary: entries in a table, its parts, its count, its share of a word."""
BYTES_OF_CLASS_COUNT = 4
MANY_EXAMPLES = 1000
"""From this number of examples on, n-grams that occur in only one example are left out by default."""
SHRINKAGE = 0.5
FEW_EXAMPLES = 100
"""From this number of examples on, odds are shrunk by default if min_count is set to 1, or chosen to be 1."""
SUBWORD_SHARE = 0.5
"""The weights of n-grams within words are multiplied by this, because the words are features, too."""

Choice = Literal["all", "lower", "negated"]


class AbsorbedNgrams(NamedTuple):
    """The n-grams of some texts, in the order of their first occurrence."""

    names: tuple[NDArray[np.int64], NDArray[np.uint8]]
    """Their words; for hashed n-grams, the names of the places."""
    parts: NDArray[Any]
    """The beginning and the last word of each n-gram; for hashed n-grams, which of the names share their place."""
    counts: NDArray[np.uint32]
    """In how many texts each n-gram occurs, or each place."""
    by_class: list[NDArray[np.uint32]] | None
    classes: int
    examples: int


class Ngrams(Part):
    """The n-grams of one column, each a feature with its own name."""

    mergeable = True

    def __init__(
        self,
        column: str,
        settings: Text,
        *,
        lengths: tuple[int, int],
        characters: bool = False,
        within_words: bool = False,
        choice: Choice = "all",
        prefix: str = "",
    ) -> None:
        self.column = column
        self.settings = settings
        self.prefix = prefix
        self.value = _core.CountedAs["binary" if choice == "lower" else settings.value]
        self.characters = characters or within_words
        self.within_words = within_words
        self.lengths = lengths
        self.choice = choice
        self._how = _core.NgramSettings(
            fold=settings.case == "fold",
            signs=settings.signs and choice == "all",
            negation=settings.negation and choice == "all" and not within_words,
            choice=_core.TokenChoice[choice],
            shortest=lengths[0],
            longest=lengths[1],
            characters=characters or within_words,
            within_words=within_words,
            unspaced=settings.unspaced == "characters",
            emoji=settings.emoji == "whole",
        )
        self.vocabulary: _core.NgramVocabulary | _core.HashedVocabulary | _core.CompactVocabulary = (
            _core.NgramVocabulary(self._how)
            if settings.hash_bits is None
            else _core.HashedVocabulary(self._how, settings.hash_bits)
        )
        """Whether it is a hashed vocabulary with only the chosen places, as in a finished model."""
        self.weights: NDArray[np.float32] | None = None
        self._examples = 0
        self._numbers: NDArray[np.uint32] | None = None
        self._class_counts = _core.ClassCounts() if settings.weight == "odds" else None
        self._classes = 0
        self._put_off = False

    def collect(self, batch: Batch) -> _core.NgramBatch | _core.HashedBatch:
        return self._collecting.collect(*Strings.of_arrow(batch.columns[self.column]).for_core)

    def absorb(self, collected: _core.NgramBatch | _core.HashedBatch, labels: NDArray[np.int32] | None) -> Any:
        indptr, indices, values, _ = self._collecting.absorb(collected, presence=self._presence)
        self._examples += len(indptr) - 1
        if self._class_counts is not None and not self._put_off:
            if labels is None:
                raise DataError(
                    "text.weight is 'odds', which is computed from labels, but there are none; name the "
                    "target column, or set text.weight to 'idf' or 'none'"
                )
            self._classes = max(self._classes, 1 + int(labels.max(initial=-1)))
            self._class_counts.add(indptr, indices, values, self._known, labels, self._presence)
        return indptr, indices, values

    def counts_labels(self) -> bool:
        return self._class_counts is not None

    def put_off_labels(self) -> None:
        self._put_off = True

    def with_labels(self, absorbed: AbsorbedNgrams, batches: Iterable[tuple[Any, NDArray[np.int32]]]) -> AbsorbedNgrams:
        if self._class_counts is None:
            return absorbed
        counts, classes = _core.ClassCounts(), 0
        for (indptr, indices, values), labels in batches:
            classes = max(classes, 1 + int(labels.max(initial=-1)))
            counts.add(indptr, indices, values, len(absorbed.counts), labels, self._presence)
        return absorbed._replace(by_class=counts.counts(), classes=classes)

    def absorbed(self) -> AbsorbedNgrams:
        vocabulary = self._collecting
        parts: NDArray[Any]
        if isinstance(vocabulary, _core.NgramVocabulary):
            names, parts = vocabulary.words(), vocabulary.parts()
        else:
            names, parts = vocabulary.owners(), vocabulary.sharing()
        by_class = None if self._class_counts is None else self._class_counts.counts()
        return AbsorbedNgrams(names, parts, vocabulary.counts(), by_class, self._classes, self._examples)

    def absorb_all(self, absorbed: AbsorbedNgrams) -> None:
        vocabulary = self._collecting
        if isinstance(vocabulary, _core.NgramVocabulary):
            numbers = vocabulary.absorb_collected(*absorbed.names, absorbed.parts, absorbed.counts)
        else:
            vocabulary.add(*absorbed.names, absorbed.parts)
            vocabulary.add_counts(absorbed.counts)
            numbers = np.arange(self._known, dtype=np.uint32)
        if self._class_counts is not None and absorbed.by_class is not None:
            self._class_counts.add_counts(absorbed.by_class, numbers, self._presence)
        self._classes = max(self._classes, absorbed.classes)
        self._examples += absorbed.examples

    def finish(self) -> None:
        chosen = np.arange(self._known, dtype=np.uint32)
        min_count = self.settings.min_count or (2 if self._examples >= MANY_EXAMPLES else 1)
        if isinstance(self.vocabulary, _core.NgramVocabulary):
            chosen = self.vocabulary.frequent(min_count, self.settings.max_features or MOST_FEATURES)
            self._numbers = np.full(self._known, NOBODY, np.uint32)
            self._numbers[chosen] = np.arange(len(chosen), dtype=np.uint32)
        if self.settings.weight == "idf":
            self.weights = inverse_document_frequency(self._collecting.counts()[chosen], self._examples)
        elif self._class_counts is not None:
            rows_with = self._collecting.counts()[chosen] if self._presence else None
            table = self._class_counts.table(chosen, rows_with)
            odds = log_odds(table, self.settings.smoothing or 2 / max(2, self._classes))
            odds = shrunk(odds, table, self._shrinkage())
            if self.settings.discount > 0:
                odds /= np.float32(self.vocabulary.lengths()[chosen]) ** np.float32(self.settings.discount)
            self.weights = odds
            self._class_counts = None
        if self.within_words and self.weights is not None:
            self.weights *= np.float32(SUBWORD_SHARE)
        if isinstance(self.vocabulary, _core.NgramVocabulary):
            self.vocabulary.keep(chosen)

    def _shrinkage(self) -> float:
        if self.settings.shrinkage is not None:
            return self.settings.shrinkage
        return SHRINKAGE if self.settings.min_count == 1 and self._examples >= FEW_EXAMPLES else 0.0

    def refines_at_once(self) -> bool:
        return isinstance(self.vocabulary, _core.HashedVocabulary) and self.settings.weight == "none"

    def held(self) -> int:
        each = BYTES_OF_NGRAM if isinstance(self.vocabulary, _core.NgramVocabulary) else 0
        return (each + BYTES_OF_CLASS_COUNT * self._classes) * self._known

    def settle(self) -> None:
        self._numbers = None

    def refine(self, draft: Any) -> Sparse:
        return self.refine_with(draft, self._numbers)

    def transform(self, batch: Batch) -> Sparse:
        texts = Strings.of_arrow(batch.columns[self.column]).for_core
        indptr, indices, values, _ = self.vocabulary.read(*texts, value=self.value, weights=self.weights)
        return Sparse(indptr, indices, values, self.width)

    def numbers_of(self, absorbed: AbsorbedNgrams) -> NDArray[np.uint32] | None:
        """The features that the n-grams are here. The places of a table have the same numbers everywhere."""
        if not isinstance(self.vocabulary, _core.NgramVocabulary):
            return None
        return self.vocabulary.find_collected(*absorbed.names, absorbed.parts)

    def refine_with(self, draft: Any, numbers: NDArray[np.uint32] | None) -> Sparse:
        indptr, indices, values = draft
        if numbers is None and self.weights is None and self.value == _core.CountedAs.count:
            return Sparse(indptr, indices, values, self.width)
        width = self.width if numbers is None else len(numbers)
        rows = _core.refine_rows(
            indptr, indices, values, width, value=self.value, numbers=numbers, weights=self.weights
        )
        return Sparse(*rows, self.width)

    @property
    def _collecting(self) -> _core.NgramVocabulary | _core.HashedVocabulary:
        if isinstance(self.vocabulary, _core.CompactVocabulary):
            raise DataError("these n-grams have already been chosen; make another feature map")
        return self.vocabulary

    @property
    def _presence(self) -> bool:
        """Whether only the presence of an n-gram in a text counts."""
        return self.value == _core.CountedAs.binary

    @property
    def _known(self) -> int:
        """The number of n-grams so far, while they are collected."""
        vocabulary = self.vocabulary
        return vocabulary.known if isinstance(vocabulary, _core.NgramVocabulary) else vocabulary.features

    @property
    def width(self) -> int:
        return self.vocabulary.features

    def name(self, number: int) -> str:
        name = self.vocabulary.name(number)
        return self.prefix + (name or f"(place {number})")

    def names(self) -> list[str]:
        names = Strings.of_core(*self.vocabulary.names()).tolist("surrogatepass")
        if isinstance(self.vocabulary, _core.HashedVocabulary):
            names = [name or f"(place {number})" for number, name in enumerate(names)]
        return [self.prefix + name for name in names] if self.prefix else names

    def groups(self, likelihood: Event | None = None) -> list[Group]:
        """The values are counts of words."""
        return [Group(likelihood or "multinomial", 0, self.width)]

    def save(self) -> Saved:
        """Save the words, and the words of each n-gram. For hashed n-grams the names are enough."""
        weights = {} if self.weights is None else {"weights": self.weights}
        if isinstance(self.vocabulary, _core.NgramVocabulary):
            words, grams = Strings.of_core(*self.vocabulary.words()), self.vocabulary.parts().reshape(-1, 2)
            return Saved({"features": self.width}, {**blob("words", words), "grams": grams, **weights})
        compact = isinstance(self.vocabulary, _core.CompactVocabulary)
        offsets, data, shared = self.owners()
        return Saved({"compact": compact}, {**blob("names", Strings(data, offsets)), "shared": shared, **weights})

    def restore(self, saved: Saved, width: int | None = None) -> None:
        if self.settings.hash_bits is not None and saved.facts.get("compact") is not True:
            places = self.vocabulary.features
            if width not in (None, places):
                raise damaged(f"there are weights for {width} places of a table that has {places}")
        super().restore(saved, width)

    def take(self, contents: Contents) -> None:
        if isinstance(self.vocabulary, _core.NgramVocabulary):
            words = contents.texts("words", "strict")
            grams = contents.array("grams", np.uint32, None, 2)
            features = contents.fact("features", int)
            if not 0 <= features <= len(grams):
                raise damaged(f"{features} of {len(grams)} n-grams are features")
            if not self.characters and (words.data == ord(" ")).any():
                raise damaged("there is a space in a word")
            with distrusted():
                self.vocabulary.restore(*words.for_core, grams.reshape(-1), features)
        else:
            if contents.fact("compact", bool):
                self.vocabulary = self._compact()
            names = contents.texts("names", "strict")
            shared = contents.array("shared", np.uint8, None)
            if (shared > 1).any():
                raise damaged("whether a place is shared must be 0 or 1")
            with distrusted():
                self.vocabulary.add(*names.for_core, shared)
            if len(self.places()) != len(shared):
                raise damaged("two n-grams have the same place")
        if self.settings.weight != "none":
            self.weights = contents.array("weights", np.float32, self.width)
            check_finite("weights", self.weights)

    def extend(self, other: Ngrams) -> NDArray[np.int64]:
        before, mine = self.width, self.places()
        if isinstance(self.vocabulary, _core.NgramVocabulary):
            assert isinstance(other.vocabulary, _core.NgramVocabulary)
            numbers = self.vocabulary.extend(other.vocabulary)
        else:
            numbers = self.vocabulary.add(*other.owners())
        if self.weights is not None and other.weights is not None:
            weights = np.zeros(self.width, np.float32)
            weights[:before] = self.weights
            weights[numbers] = other.weights[other.places()]
            weights[mine] = self.weights[mine]
            self.weights = weights
        return np.arange(before)

    def prune(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Remove unused n-grams. Places of a hashed table without a name never have a value and are always removed."""
        places = self.places()
        stays = np.zeros(self.width, np.bool_)
        stays[places] = used[places]
        if isinstance(self.vocabulary, _core.NgramVocabulary):
            self.vocabulary.prune(np.flatnonzero(stays).astype(np.uint32))
        else:
            offsets, data, shared = self.owners()
            order = np.argsort(places)
            order = order[stays[places[order]]]
            compact = self._compact()
            compact.add(*Strings(data, offsets).take(order).for_core, shared[order])
            self.vocabulary = compact
        if self.weights is not None:
            self.weights = self.weights[stays]
        return stays

    def _compact(self) -> _core.CompactVocabulary:
        assert self.settings.hash_bits is not None
        return _core.CompactVocabulary(self._how, self.settings.hash_bits)

    def places(self) -> NDArray[Any]:
        """The numbers of the features that have names."""
        vocabulary = self.vocabulary
        return vocabulary.places() if isinstance(vocabulary, _core.HashedVocabulary) else np.arange(self.width)

    def owners(self) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]:
        """The names of hashed n-grams, in the order of `places`, and which of them share a place."""
        vocabulary = self.vocabulary
        assert not isinstance(vocabulary, _core.NgramVocabulary)
        names = vocabulary.owners() if isinstance(vocabulary, _core.HashedVocabulary) else vocabulary.names()
        return *names, vocabulary.sharing()

    def report(self) -> list[str]:
        """A remark about collisions of hashes."""
        vocabulary = self.vocabulary
        if not isinstance(vocabulary, _core.HashedVocabulary) or vocabulary.met == 0:
            return []
        return [
            f"{vocabulary.used:,} of {vocabulary.features:,} places are used, {vocabulary.shared:,} of them by several "
            f"n-grams; {vocabulary.strangers / vocabulary.met:.1%} of the occurrences are "
            "in a place named after another n-gram"
        ]
