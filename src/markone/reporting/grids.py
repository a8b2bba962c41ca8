"""Tables of names and numbers as people read them, and names in which nothing is hidden."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from typing import Literal

from markone.brief import Brief
from markone.data.kinds import written

SCREEN = 80
NARROWEST_NAME, LEAST_OF_NAME = 12, 4
"""How narrow names may get before columns are left out, and when all are that can be."""
LONGEST_LABEL = 60
DIGITS = 4
MOST_DECIMALS = 6
LARGEST_IN_FULL = 1e9
GAP = "  "
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"

Kind = Literal["head", "row", "last"]


# ---- names


def visible(text: object) -> str:
    """On one line, with what would move the cursor, turn the text around or not be seen written as an escape.

    >>> visible("a\\x1b[31m\\u202eb\\n")
    'a\\\\x1b[31m\\\\u202eb\\\\n'
    """
    text = str(text)
    return text if text.isprintable() else "".join(c if c.isprintable() else escape(c) for c in text)


def visible_text(text: str) -> str:
    """The same for a longer text, whose lines, spaces and joined letters stay as they are."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(c if c.isprintable() or c in "\n\t" or is_spacing(c) else escape(c) for c in text)


def is_spacing(character: str) -> bool:
    return character in JOINERS or unicodedata.category(character) == "Zs"


def escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def cells(text: str) -> int:
    """How many cells of a terminal it takes."""
    if text.isascii():
        return len(text)
    return sum(map(cells_of, text))


def cells_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shortened(text: object, width: int) -> str:
    """Made visible, and cut to so many cells in the middle: long names often differ only in how they end.

    >>> shortened("not very good", 8)
    'not …ood'
    """
    line = visible(text)
    if cells(line) <= width:
        return line
    begin = first_cells(line, width // 2)
    end = first_cells(line[::-1], width - 1 - cells(begin))[::-1]
    return f"{begin}…{end}"


def first_cells(line: str, width: int) -> str:
    """As many of its characters as there is room for."""
    used = accumulate(map(cells_of, line))
    return line[: sum(1 for _ in takewhile(lambda so_far: so_far <= width, used))]


def label_in_words(label: object, width: int = LONGEST_LABEL) -> str:
    """As predictions are written, and cut."""
    return shortened(written(label), width)


# ---- numbers


def plain_number(number: float) -> str:
    """
    >>> [plain_number(x) for x in (1.0, 0.123456, 123456.0)]
    ['1', '0.1235', '123456']
    """
    number += 0.0  # without the sign of a zero
    return f"{number:.0f}" if 10**DIGITS <= abs(number) < LARGEST_IN_FULL else f"{number:.{DIGITS}g}"


def signed_number(number: float) -> str:
    return f"+{plain_number(number)}" if number > 0 else plain_number(number)


def signed_numbers(numbers: Sequence[float]) -> list[str]:
    """With as many decimals for all as the largest needs, so that one can see how they add up.

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
    """A column of names, and columns of numbers. Whoever shows it makes the names visible, and escapes them."""

    heads: list[list[str]]
    """Lines above the columns."""
    rows: list[list[str]]
    last: list[list[str]] = field(default_factory=list)
    """Lines that close the table."""
    spare: Sequence[int] = ()
    """The columns that are left out where there is no room, the first of them first. No number is ever cut."""

    def lines(self, width: int = SCREEN) -> Iterator[tuple[str, Kind]]:
        """In so many cells: the names give way to the numbers."""
        everything = [*self.heads, *self.rows, *self.last]
        widths = {i: max(cells(visible(line[i])) for line in everything) for i in range(len(self.heads[0]))}
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
                yield aligned([line[i] for i in widths], [*widths.values()]), kind  # type: ignore[misc]

    def __str__(self) -> str:
        return "\n".join(line for line, _ in self.lines())


def aligned(line: Iterable[str], widths: Sequence[int]) -> str:
    name, *numbers = (shortened(cell, width) for cell, width in zip(line, widths, strict=True))
    padded = [" " * (width - cells(number)) + number for number, width in zip(numbers, widths[1:], strict=True)]
    return GAP.join([name + " " * (widths[0] - cells(name)), *padded]).rstrip()
