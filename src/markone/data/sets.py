"""Sets: several words in one cell, such as `red;green`, `red|green`, `red, green` or `['red', 'green']`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

SetKind = Literal["set", "comma-set"]
"""A set has semicolons or vertical bars between its items, or commas."""
SET_KINDS: tuple[str, ...] = get_args(SetKind)
SIGNS = {"set": re.compile(r"[;|]"), "comma-set": re.compile(",")}
LISTED = re.compile(r"\[(.*)\]|\{(.*)\}|\((.*)\)", re.DOTALL)
QUOTED = re.compile(r"'.*'|\".*\"", re.DOTALL)

CELLS_WITH_SIGN = {"set": 0.2, "comma-set": 0.5}
"""The share of cells that must have a sign between items, so that a column is guessed to be of sets."""
ITEMS_REPEATED = {"set": 0.5, "comma-set": 0.2}
"""The number of different items must be at most this share of all items."""
BYTES_OF_ITEM, BYTES_OF_CELL = 30, 150
CELLS_LOOKED_AT = 1000
WORDS_OF_ITEM = 2.5


def items_in(cell: str, kind: str) -> list[str]:
    """The items of a set, each once. Brackets and quotes, as in a list of Python or JSON, are removed.

    >>> items_in("red; green;red", "set"), items_in("['red', 'green']", "set"), items_in(" ", "set")
    (['red', 'green'], ['red', 'green'], [])
    """
    listed = LISTED.fullmatch(cell.strip())
    if listed is None:
        items = SIGNS[kind].split(cell)
    else:
        items = SIGNS["comma-set"].split(next(inner for inner in listed.groups() if inner is not None))
    stripped = [item.strip() for item in items]
    if listed is not None:
        stripped = [item[1:-1] if QUOTED.fullmatch(item) else item for item in stripped]
    return list(dict.fromkeys(filter(None, stripped)))


def guess_set(cells: Sequence[str], counts: Sequence[int]) -> tuple[SetKind, str] | None:
    """The kind of a column of sets, and the reason; None if its cells are not sets. The `cells` are different, and the
    `counts` are their numbers of rows."""
    cells, counts = cells[:CELLS_LOOKED_AT], counts[:CELLS_LOOKED_AT]
    if sum(map(len, cells)) > BYTES_OF_CELL * len(cells):
        return None
    for kind in get_args(SetKind):
        many = sum(n for cell, n in zip(cells, counts, strict=True) if SIGNS[kind].search(cell))
        if many < CELLS_WITH_SIGN[kind] * sum(counts) or not many:
            continue
        found: Counter[str] = Counter()
        for cell, n in zip(cells, counts, strict=True):
            found.update(dict.fromkeys(items_in(cell, kind), n))
        if len(found) >= len(cells) or len(found) > ITEMS_REPEATED[kind] * found.total():
            continue
        size = sum(len(item) * n for item, n in found.items()) / found.total()
        words = sum(len(item.split()) * n for item, n in found.items()) / found.total()
        if size <= BYTES_OF_ITEM and words <= WORDS_OF_ITEM:
            between = "; or |" if kind == "set" else "commas"
            return kind, f"lists of {len(found):,} different items, with {between} between them"
    return None
