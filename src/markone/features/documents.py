"""Features of whole texts: words of a lexicon, "no", pronouns, "!", and the length of the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.source import Batch
from markone.data.strings import Strings
from markone.errors import SettingsError
from markone.features.part import Part
from markone.features.spec import Text
from markone.storage.saved import Contents, Saved

LONGEST_ENTRY = 20
FIRST_PERSON = ("I", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves")
SECOND_PERSON = ("you", "your", "yours", "yourself", "yourselves")


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature: its name, its words, and the function of their count and of the number of all words."""

    name: str
    words: tuple[str, ...]
    value: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]


def count(found: NDArray[Any], words: NDArray[Any]) -> NDArray[Any]:
    return found


def presence(found: NDArray[Any], words: NDArray[Any]) -> NDArray[Any]:
    return found > 0


def log_words(found: NDArray[Any], words: NDArray[Any]) -> NDArray[Any]:
    return _core.log(np.maximum(words, 1))


DOCUMENT = {
    "no": Feature("no", ("no",), presence),
    "pronouns": Feature("pronouns", FIRST_PERSON + SECOND_PERSON, count),
    "exclamation": Feature("!", ("!",), presence),
    "log-words": Feature("ln words", (), log_words),
}


class Documents(Part):
    """Features that depend only on the spec, not on the training texts. None is pruned."""

    mergeable = True

    def __init__(self, column: str, settings: Text, *, prefix: str = "") -> None:
        self.column = column
        self.prefix = prefix
        self.settings = settings
        self.features = [Feature(name, words, count) for name, words in settings.lexicons.items()]
        self.features += [DOCUMENT[name] for name in DOCUMENT if name in settings.document]
        entries = {word: self._tokens(word) for feature in self.features for word in feature.words}
        longest = max(map(len, entries.values()), default=1)
        if longest > LONGEST_ENTRY:
            word = next(word for word, tokens in entries.items() if len(tokens) > LONGEST_ENTRY)
            raise SettingsError(
                "lexicons", f"must have entries of at most {LONGEST_ENTRY} words and signs, not {word!r}"
            )
        self.vocabulary = _core.NgramVocabulary(self._settings(signs=True, longest=max(longest, 1)))
        names = {" ".join(tokens): None for tokens in entries.values() if tokens}
        self.vocabulary.keep(np.array([self.vocabulary.add_name(name) for name in names], np.uint32))
        members: dict[str, dict[int, None]] = {name: {} for name in names}
        for i, feature in enumerate(self.features):
            for word in feature.words:
                if entries[word]:
                    members[" ".join(entries[word])][i] = None
        self.members = np.array([i for some in members.values() for i in some], np.int64)
        """The features that each lexicon entry belongs to, one entry after the other."""
        self.begins = np.cumsum([0, *(len(some) for some in members.values())])
        self.words = _core.NgramVocabulary(self._settings(signs=False, longest=1))
        self.words.keep(np.zeros(0, np.uint32))

    def _settings(self, *, signs: bool, longest: int) -> _core.NgramSettings:
        return _core.NgramSettings(
            fold=True,
            signs=signs,
            negation=False,
            choice=_core.TokenChoice.all,
            shortest=1,
            longest=longest,
            characters=False,
            unspaced=self.settings.unspaced == "characters",
            emoji=self.settings.emoji == "whole",
        )

    def _tokens(self, entry: str) -> list[str]:
        """Encode a text; half of a surrogate pair, which UTF-8 does not have, becomes a space."""
        whole = entry.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return _core.tokens(self._settings(signs=True, longest=1), whole)

    def entries_of(self, feature: Feature) -> list[str]:
        """The words of a feature, each as tokens with spaces between them."""
        found = (" ".join(self._tokens(word)) for word in feature.words)
        return [*dict.fromkeys(entry for entry in found if entry)]

    def collect(self, batch: Batch) -> NDArray[np.float32]:
        return self.transform(batch)

    def absorb(self, collected: NDArray[np.float32], labels: NDArray[np.int32] | None) -> NDArray[np.float32]:
        return collected

    def absorbed(self) -> None:
        """Nothing is learned."""

    def absorb_all(self, absorbed: None) -> None: ...

    def finish(self) -> None: ...

    def refine(self, draft: NDArray[np.float32]) -> NDArray[np.float32]:
        return draft

    def transform(self, batch: Batch) -> NDArray[np.float32]:
        texts = Strings.of_arrow(batch.columns[self.column]).for_core
        indptr, indices, values, _ = self.vocabulary.read(*texts)
        words = self.words.read(*texts)[3].astype(np.float64)
        rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        begins, sizes = self.begins[indices], np.diff(self.begins)[indices]
        places = np.arange(sizes.sum()) + np.repeat(begins - np.cumsum(sizes) + sizes, sizes)
        found = np.zeros((len(words), len(self.features)))
        np.add.at(found, (np.repeat(rows, sizes), self.members[places]), np.repeat(values, sizes))
        matrix = np.empty(found.shape, np.float32)
        for i, feature in enumerate(self.features):
            matrix[:, i] = feature.value(found[:, i], words)
        return matrix

    @property
    def width(self) -> int:
        return len(self.features)

    def name(self, number: int) -> str:
        return self.prefix + self.features[number].name

    def save(self) -> Saved:
        return Saved()

    def take(self, contents: Contents) -> None: ...

    def extend(self, other: Documents) -> NDArray[np.int64]:
        return np.arange(self.width)
