"""Made data of any size: texts, and rows of features. They are as frequent as words, and one in ten tells the class."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WORDS = 200_000
WORDS_IN_TEXT = 100
AT_ONCE = 20_000
"""How many examples are made at once."""


def write_texts(path: Path, *, seed: int, size: int) -> int:
    """Write a file of about this size, with a label, a tab and a text on each line, and return its size."""
    with path.open("wb") as file:
        for labels, texts in made_texts(seed):
            file.write(tabbed(labels, texts))
            if file.tell() >= size:
                return file.tell()
    raise AssertionError("texts are made without end")


def tabbed(labels: NDArray[np.bool_], texts: list[bytes]) -> bytes:
    lines = zip(labels.tolist(), texts, strict=True)
    return b"".join([b"%s\t%s\n" % (b"yes" if yes else b"no", text) for yes, text in lines])


def made_texts(seed: int) -> Iterator[tuple[NDArray[np.bool_], list[bytes]]]:
    """Yield labels and texts without end."""
    words = [spelled(number) for number in range(WORDS)]
    for labels, ranks in made_ranks(seed, WORDS_IN_TEXT):
        yield labels, [b" ".join([words[rank] for rank in text]) for text in ranks.tolist()]


def made_ranks(seed: int, length: int) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int64]]]:
    """Yield labels, and of each example the ranks of its words, from 0 for the most frequent word."""
    language = np.random.default_rng(0)
    reach = np.cumsum(1 / np.arange(1, WORDS + 1))
    weights = language.normal(size=WORDS) * (language.random(WORDS) < 0.1)
    middle = length * (weights / np.arange(1, WORDS + 1)).sum() / reach[-1]
    random = np.random.default_rng([0, seed])
    while True:
        ranks = reach.searchsorted(random.random((AT_ONCE, length)) * reach[-1])
        yield weights[ranks].sum(axis=1) > middle, ranks


def spelled(number: int) -> bytes:
    """A word for a number, of three letters or more: the more frequent, the shorter.

    >>> [spelled(number) for number in (0, 1, 26**3 - 1, 26**3)]
    [b'aaa', b'aab', b'zzz', b'aaaa']
    """
    number += 1 + 26 + 26**2
    letters = b""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        letters = bytes([ord("a") + letter]) + letters
    return letters
