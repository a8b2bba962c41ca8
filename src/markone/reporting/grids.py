"""Formats tables of names and numbers for people, and makes invisible characters in names visible."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from textwrap import wrap
from typing import Literal

from markone.brief import Brief
from markone.written import written

SCREEN = 80
NARROWEST_NAME, LEAST_OF_NAME = 12, 4
"""The smallest widths of names: while columns can still be left out, and after all of them have been left out."""
LONGEST_LABEL = 60
DIGITS = 4
MOST_DECIMALS = 6
LARGEST_IN_FULL = 1e9
GAP = "  "
FACT_WIDTH = 10
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"

Kind = Literal["head", "row", "last"]


# ---- names


PART_OF_WORD = "part:"
"""What the names of n-grams of characters begin with, after the name of their column."""


def visible(text: object) -> str:
    """Return the text on one line, with escapes for characters that are invisible, move the cursor or reverse the text.

    >>> visible("a\\x1b[31m\\u202eb\\n")
    'a\\\\x1b[31m\\\\u202eb\\\\n'
    """
    text = str(text)
    return text if text.isprintable() else "".join(c if c.isprintable() else escape(c) for c in text)


def visible_text(text: str) -> str:
    """Like `visible`, but for longer texts: line breaks, spaces and joined letters are not changed."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(c if c.isprintable() or c in "\n\t" or is_spacing(c) else escape(c) for c in text)


def is_spacing(character: str) -> bool:
    return character in JOINERS or unicodedata.category(character) == "Zs"


def escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def cells(text: str) -> int:
    """Return how many cells of a terminal the text needs."""
    if text.isascii():
        return len(text)
    return sum(map(cells_of, text))


def cells_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shortened(text: object, width: int) -> str:
    """Return the visible text, shortened in the middle to `width` cells: long names often differ only at the end.

    >>> shortened("not very good", 8)
    'not …ood'
    """
    line = visible(text)
    if cells(line) <= width:
        return line
    begin = first_cells(line, width // 2)
    end = first_cells(line[::-1], width - 1 - cells(begin))[::-1]
    return f"{begin}…{end}"


def feature_in_words(name: str) -> str:
    """Return the name of a feature with visible spaces in parts of words, where they are the ends of a word.

    >>> feature_in_words("name part:na "), feature_in_words("not clean")
    ('name part:na␣', 'not clean')
    """
    begin, mark, part = name.rpartition(PART_OF_WORD)
    return begin + mark + part.replace(" ", "␣") if mark else name


def first_cells(line: str, width: int) -> str:
    """Return as many of the first characters as fit into `width` cells."""
    used = accumulate(map(cells_of, line))
    return line[: sum(1 for _ in takewhile(lambda so_far: so_far <= width, used))]


def label_in_words(label: object, width: int = LONGEST_LABEL) -> str:
    """Return a label as it is written in predictions, shortened to `width` cells."""
    return shortened(written(label), width)


# ---- numbers


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with what it counts. `many` is the plural; by default it ends in s.

    >>> counted(1, "row"), counted(2500, "row"), counted(2, "class", "classes")
    ('1 row', '2,500 rows', '2 classes')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def plain_number(number: float) -> str:
    """
    >>> [plain_number(x) for x in (1.0, 0.123456, 123456.0)]
    ['1', '0.1235', '123456']
    """
    number += 0.0  # removes the sign of a negative zero
    return f"{number:.0f}" if 10**DIGITS <= abs(number) < LARGEST_IN_FULL else f"{number:.{DIGITS}g}"


def signed_number(number: float) -> str:
    return f"+{plain_number(number)}" if number > 0 else plain_number(number)


def signed_numbers(numbers: Sequence[float]) -> list[str]:
    """Format all numbers with the decimals that the largest needs, so that readers can see how they add up.

    >>> signed_numbers([4.0, -3.0, 0.0])
    ['+4', '-3', '0']
    >>> signed_numbers([1.5, -0.25])
    ['+1.500', '-0.250']
    """
    largest = max(map(abs, numbers), default=0.0)
    if not math.isfinite(largest) or largest >= LARGEST_IN_FULL or 0 < largest < 10.0 ** (DIGITS - MOST_DECIMALS):
        return [f"{number:+.{DIGITS}g}" for number in numbers]
    whole = largest == 0 or all(number == round(number) for number in numbers)
    decimals = 0 if whole else min(max(DIGITS - 1 - math.floor(math.log10(largest)), 1), MOST_DECIMALS)
    return [f"{number:+.{decimals}f}" if number else f"{0:.{decimals}f}" for number in numbers]


# ---- tables


@dataclass(frozen=True, slots=True, repr=False)
class Grid(Brief):
    """A table with one column of names and several columns of numbers. The names are made visible when it is shown."""

    heads: list[list[str]]
    """The lines above the rows."""
    rows: list[list[str]]
    last: list[list[str]] = field(default_factory=list)
    """The lines below the rows."""
    spare: Sequence[int] = ()
    """The columns that may be left out if the table is too wide, in this order. Numbers are never shortened."""
    words: Sequence[int] = (0,)
    """The columns of words, which begin at the left. Numbers end at the right."""
    sentences: bool = False
    """Whether the last of two columns has sentences, which go on below if they are too wide."""

    def lines(self, width: int = SCREEN) -> Iterator[tuple[str, Kind]]:
        """Return the lines of the table in `width` cells. Names are shortened to make room for numbers."""
        if self.sentences:
            yield from self.wrapped_lines(width)
            return
        everything = [*self.heads, *self.rows, *self.last]
        widths = {i: max(cells(visible(line[i])) for line in everything) for i in range(len(everything[0]))}
        left_out = iter(self.spare)
        while (left := width - sum(widths.values()) + widths[0] - len(GAP) * (len(widths) - 1)) < min(
            widths[0], NARROWEST_NAME
        ):
            column = next(left_out, None)
            if column is None:
                break
            del widths[column]
        widths[0] = min(widths[0], max(left, LEAST_OF_NAME))
        for kind, lines in (("head", self.heads), ("row", self.rows), ("last", self.last)):
            for line in lines:
                padded = (aligned(line[i], width, i in self.words) for i, width in widths.items())
                yield GAP.join(padded).rstrip(), kind  # type: ignore[misc]

    def wrapped_lines(self, width: int) -> Iterator[tuple[str, Kind]]:
        """Return the lines of a table whose second column has sentences."""
        everything = [*self.heads, *self.rows, *self.last]
        first = min(max(cells(visible(name)) for name, _ in everything), width // 3)
        for kind, lines in (("head", self.heads), ("row", self.rows), ("last", self.last)):
            for name, sentence in lines:
                wrapped = wrap(visible(sentence), max(width - first - len(GAP), NARROWEST_NAME)) or [""]
                for begin, rest in zip([name, *[""] * (len(wrapped) - 1)], wrapped, strict=True):
                    yield f"{aligned(begin, first, at_left=True)}{GAP}{rest}".rstrip(), kind  # type: ignore[misc]

    def __str__(self) -> str:
        return "\n".join(line for line, _ in self.lines())


def aligned(cell: str, width: int, at_left: bool) -> str:
    shown = shortened(cell, width)
    space = " " * (width - cells(shown))
    return shown + space if at_left else space + shown


@dataclass(frozen=True, slots=True, repr=False)
class Facts(Brief):
    """Names with a value and a note each, such as the measures of a test. Notes may be empty."""

    rows: list[tuple[str, str, str]]
    least: int = 0
    """The smallest width of the values."""

    def __str__(self) -> str:
        width = max([self.least, *(cells(value) for _, value, _ in self.rows)])
        return "\n".join(f"{name:<{FACT_WIDTH}}{value:>{width}}{GAP}{note}".rstrip() for name, value, note in self.rows)
