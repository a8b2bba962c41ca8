"""Sentences: words and their annotations, in columns that the core can read, with their positions in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief
from markone.data.spill import Spill
from markone.data.strings import Strings, starts_of
from markone.errors import DataError, did_you_mean
from markone.structured.passages import CorpusLines, Passage

FORM = "form"
TAG = "tag"
HEAD = "head"
UNKNOWN_HEAD = -1
AT_A_TIME = 2**14
"""The number of strings or sentences that are processed together, to limit memory use."""


def numbered(parts: Iterable[Sequence[str]], size: int, spill: Spill) -> tuple[list[str], NDArray[np.int32]]:
    """Number the strings of all parts. Returns the different strings, sorted, and the number of each of `size` strings.

    >>> numbered([["b", "a"], ["b"]], 3, Spill(2**20))
    (['a', 'b'], array([1, 0, 1], dtype=int32))
    """
    number_of: dict[str, int] = {}
    numbers = spill.empty(size, np.int32)
    at = 0
    for part in parts:
        for string in set(part):
            number_of.setdefault(string, len(number_of))
        numbers[at : at + len(part)] = list(map(number_of.__getitem__, part))
        at += len(part)
    strings = sorted(number_of)
    place = np.empty(len(strings), np.int32)
    place[[number_of[string] for string in strings]] = np.arange(len(strings))
    for begin in range(0, size, AT_A_TIME):
        some = numbers[begin : begin + AT_A_TIME]
        some[:] = place[some]
    return strings, numbers


@dataclass(frozen=True, eq=False, repr=False)
class Sentences(Brief):
    """A batch of sentences.

    >>> batch = Sentences.of([[("dogs", "NOUN"), ("bark", "VERB")], [("run", "VERB")]])
    >>> len(batch), batch.words, batch.lists("tag")
    (2, 3, [['NOUN', 'VERB'], ['VERB']])
    """

    starts: NDArray[np.int64]
    """Sentence s has the words from `starts[s]` up to, but not including, `starts[s + 1]`."""
    columns: dict[str, Strings]
    """The column `form`, and the other columns that are known."""
    heads: NDArray[np.int32] | None = None
    """The number of each word's head, counted from 1 in its sentence; 0 for the root, -1 if it is unknown."""
    source: Passage | CorpusLines | None = None
    """The positions of the sentences in files."""

    @classmethod
    def of(cls, sentences: Any, columns: Sequence[str] | None = None) -> Self:
        """Make sentences from Python lists.

        A sentence is a list of words; a list of tuples; or a dict of lists by column names, in which `head` contains
        numbers. The tuples consist of a word and its tag or, with `columns`, of a value for each column. A plain list
        of words is one sentence.
        """
        given = list_of(sentences)
        if given and all(isinstance(one, str) for one in given):
            given = [given]
        at_once = columns_at_once(given, columns)
        if at_once is not None:
            return cls(*at_once)
        rows = [fields_of(sentence, columns, number) for number, sentence in enumerate(given, 1)]
        names = list(dict.fromkeys(name for row in rows for name in row)) or [FORM]
        for number, row in enumerate(rows, 1):
            try:
                check_row(row, names)
            except DataError as error:
                raise DataError(f"sentence {number}: {error}") from None
        found = {name: [field for row in rows for field in row[name]] for name in names}
        heads = found.pop(HEAD, None)
        return cls(
            starts_of([len(row[FORM]) for row in rows]),
            {name: Strings.of(strings) for name, strings in found.items()},
            None if heads is None else heads_of(heads),
        )

    @classmethod
    def joined(cls, parts: Sequence[Sentences]) -> Sentences:
        """Join the sentences of several parts, which must have the same columns."""
        if len(parts) == 1:
            return parts[0]
        counts = [np.zeros(1, np.int64), *(np.diff(part.starts) for part in parts)]
        sources = [part.source for part in parts if isinstance(part.source, Passage)]
        heads = [part.heads for part in parts if part.heads is not None]
        return Sentences(
            np.cumsum(np.concatenate(counts)),
            {name: Strings.joined([part.columns[name] for part in parts]) for name in parts[0].columns},
            np.concatenate(heads) if len(heads) == len(parts) else None,
            Passage.joined(sources) if len(sources) == len(parts) else None,
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def words(self) -> int:
        """The number of words in all sentences."""
        return int(self.starts[-1])

    @property
    def form(self) -> Strings:
        return self.columns[FORM]

    def column(self, name: str) -> Strings:
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns))
            raise DataError(f"there is no column {name!r}, only {known}.{did_you_mean(name, self.columns)}")
        return self.columns[name]

    def lists(self, name: str = FORM) -> list[list[str]]:
        """A column, as a list for each sentence."""
        strings = self.column(name).tolist()
        return [strings[begin:end] for begin, end in pairwise(self.starts.tolist())]

    def head_lists(self) -> list[list[int]]:
        """The heads, as a list for each sentence."""
        if self.heads is None:
            raise DataError("the sentences have no heads")
        heads: list[int] = self.heads.tolist()
        return [heads[begin:end] for begin, end in pairwise(self.starts.tolist())]

    def some(self, begin: int, end: int) -> Sentences:
        """The sentences from `begin` up to, but not including, `end`."""
        starts = self.starts[begin : end + 1]
        first, last = int(starts[0]), int(starts[-1])
        return Sentences(
            starts - first,
            {name: strings.some(first, last) for name, strings in self.columns.items()},
            None if self.heads is None else self.heads[first:last],
            None if self.source is None else self.source.some(slice(begin, end), slice(first, last)),
        )

    def parts(self) -> Iterator[Sentences]:
        """All sentences, in parts of limited size."""
        for begin in range(0, len(self), AT_A_TIME):
            yield self.some(begin, min(begin + AT_A_TIME, len(self)))

    def words_of(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the words of some sentences."""
        sizes = np.diff(self.starts)[which]
        starts = starts_of(sizes)
        return np.repeat(self.starts[which] - starts[:-1], sizes) + np.arange(starts[-1])

    def chosen(self, which: NDArray[np.int64], columns: Sequence[str], spill: Spill | None = None) -> Sentences:
        """Some sentences, whose numbers must be ascending, with some of their columns."""
        if len(which) == len(self):
            return Sentences(self.starts, {name: self.column(name) for name in columns}, self.heads)
        words = self.words_of(which)
        return Sentences(
            starts_of(np.diff(self.starts)[which]),
            {name: self.column(name).take(words, spill) for name in columns},
            None if self.heads is None else self.heads[words],
        )

    def arrays(self, columns: Sequence[str]) -> list[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
        """Columns as arrays for the core."""
        found = [self.column(name) for name in columns]
        return [(np.ascontiguousarray(one.data), np.ascontiguousarray(one.offsets)) for one in found]

    def with_columns(self, columns: Mapping[str, Strings], heads: NDArray[np.int32] | None = None) -> Sentences:
        """The same sentences with additional or replaced columns, and with new heads if they are given."""
        for name, strings in columns.items():
            if len(strings) != self.words:
                raise DataError(f"the column {name!r} has {len(strings)} strings for {self.words} words")
        if heads is not None and len(heads) != self.words:
            raise DataError(f"there are {len(heads)} heads for {self.words} words")
        return replace(self, columns={**self.columns, **columns}, heads=self.heads if heads is None else heads)

    def place_of(self, word: int) -> str:
        """The position of a word, for messages. Words are numbered in the whole batch."""
        sentence = int(np.searchsorted(self.starts, word, "right")) - 1
        if self.source is None:
            return f"sentence {sentence + 1}, word {word - int(self.starts[sentence]) + 1}"
        return self.source.place_of(sentence, word)


# ---- from Python


def list_of(sentences: Any) -> list[Any]:
    if isinstance(sentences, str | bytes | Mapping) or not hasattr(sentences, "__iter__"):
        raise DataError(
            f"sentences must be lists of words, as in [['a', 'dog'], ['it', 'barks']], not {sentences!r:.80}"
        )
    return list(sentences)


def columns_at_once(
    sentences: list[Any], columns: Sequence[str] | None
) -> tuple[NDArray[np.int64], dict[str, Strings]] | None:
    """The starts and the columns of all sentences, if all words are strings, or all are tuples of strings of the same
    length, or all sentences are dicts with the same columns of strings.

    Otherwise the result is None, and a slower function is needed.
    """
    if set(map(type, sentences)) == {dict}:
        return columns_of_dicts(sentences)
    read = _core.read_lists(sentences)
    if read is None:
        return None
    starts, found, are_tuples = read
    if are_tuples:
        names = names_for(len(found), columns)
        fits = len(set(names)) == len(names) == len(found) and FORM in names and HEAD not in names
    else:
        names, fits = [FORM], columns is None
    return (starts, {name: Strings(*one) for name, one in zip(names, found, strict=True)}) if fits else None


def columns_of_dicts(sentences: list[dict[Any, Any]]) -> tuple[NDArray[np.int64], dict[str, Strings]] | None:
    names = sentences[0].keys()
    if FORM not in names or HEAD in names or not all(isinstance(name, str) for name in names):
        return None
    if not all(one.keys() == names for one in sentences):
        return None
    columns: dict[str, Strings] = {}
    starts = None
    for name in names:
        read = _core.read_lists([one[name] for one in sentences])
        if read is None or read[2] or not (starts is None or np.array_equal(starts, read[0])):
            return None
        starts = read[0]
        columns[name] = Strings(*read[1][0])
    return None if starts is None else (starts, columns)


def names_for(width: int, columns: Sequence[str] | None) -> list[str]:
    """The names of the columns of words with `width` fields."""
    return list(columns) if columns is not None else [FORM, TAG] if width == 2 else names_of(width)


def fields_of(sentence: Any, columns: Sequence[str] | None, number: int) -> dict[str, list[Any]]:
    """The columns of one sentence."""
    if isinstance(sentence, Mapping):
        return {str(name): list(fields) for name, fields in sentence.items()}
    if isinstance(sentence, str | bytes) or not hasattr(sentence, "__iter__"):
        raise DataError(f"sentence {number} is {sentence!r:.80}, not a list of words")
    words = list(sentence)
    if set(map(type, words)) <= {str} or not any(isinstance(word, tuple | list) for word in words):
        return {FORM: words} if columns is None or words else {name: [] for name in columns}
    kinds = set(map(type, words))
    widths = set(map(len, words)) if kinds <= {tuple, list} else {width_of(word) for word in words}
    if len(widths) > 1:
        raise DataError(f"sentence {number} has words with {min(widths)} and words with {max(widths)} fields")
    width = widths.pop()
    names = names_for(width, columns)
    if len(names) != width:
        raise DataError(f"the words of sentence {number} have {width} fields, but there are {len(names)} columns")
    return dict(zip(names, map(list, zip(*words, strict=True)), strict=True))


def width_of(word: Any) -> int:
    return len(word) if isinstance(word, tuple | list) else 1


def names_of(width: int) -> list[str]:
    """Default names for columns without names."""
    return [FORM, *map(str, range(1, width))][:width]


def check_row(row: dict[str, list[Any]], names: Sequence[str]) -> None:
    """Check that a sentence has these columns, with a field for each word. Empty sentences may lack columns."""
    if FORM not in row:
        raise DataError(f"the column of words, {FORM!r}, is missing")
    size = len(row[FORM])
    for name in names:
        fields = row.setdefault(name, []) if size == 0 else row.get(name)
        if fields is None:
            raise DataError(f"the column {name!r} is missing, which other sentences have")
        if len(fields) != size:
            raise DataError(f"there are {size} words, but {len(fields)} values of {name!r}")
        kind, called = (int, "a number") if name == HEAD else (str, "a string")
        if set(map(type, fields)) <= {kind}:
            continue
        for word, one in enumerate(fields, 1):
            if not isinstance(one, kind) or isinstance(one, bool):
                raise DataError(f"{name!r} of word {word} is {one!r:.80}, not {called}")
    if HEAD in row:
        heads_of(row[HEAD])


def heads_of(numbers: Sequence[int]) -> NDArray[np.int32]:
    limit = np.iinfo(np.int32).max
    for number in numbers:
        if not UNKNOWN_HEAD <= number <= limit:
            raise DataError(f"{number} is not a valid head: a head is the number of a word, or 0 for the root")
    return np.array(numbers, np.int32)
