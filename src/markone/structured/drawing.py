"""Draws the tree of a sentence, in a terminal and as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markone.errors import DataError
from markone.reporting.grids import cells, visible
from markone.reporting.html import escaped

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
BOXES = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"
"""A character for each set of directions in which lines leave it."""
PLAIN_BOXES = " |||-+++-+++-+++"
ARROW, PLAIN_ARROW = "►", ">"

# Sizes in the SVG picture, in pixels.
CHARACTER = 8.5
GAP = 22.0
LEAST_WIDTH = 30.0
LEVEL = 26.0
SIDE = 16.0
TEXT_HEIGHT = 20.0
ROUND = 8.0
STEP = 5.0
"""The distance between two arcs that leave the same word."""


@dataclass(frozen=True)
class Comb:
    """A vertical line that connects a head with its dependents. It goes from the first to the last of these words."""

    head: int
    first: int
    last: int


def tree_text(
    words: Sequence[str],
    heads: Sequence[int],
    labels: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    *,
    ascii: bool = False,
) -> str:
    """Draw a tree for a terminal: one word on each line, with lines on the left from heads to their dependents.

    Parameters
    ----------
    words, labels, tags
        The columns of the sentence. Labels and tags are optional.
    heads
        The number of each word's head, counted from 1; 0 for a root, -1 if it is unknown.
    ascii
        Use only ASCII characters.

    >>> print(tree_text(["the", "dog", "barks"], [2, 3, 0], ["det", "nsubj", "root"]))
      ┌─► the    det
    ┌─┴─► dog    nsubj
    └──── barks  root
    """
    check_tree(words, heads, labels, tags)
    levels = levels_of(heads)
    columns = [list(map(visible, column)) for column in (words, tags, labels) if column is not None]
    widths = [max(map(cells, column), default=0) for column in columns]
    lines = []
    for i, line in enumerate(line_art(heads, levels, ascii)):
        fields = [column[i] + " " * (width - cells(column[i])) for column, width in zip(columns, widths, strict=True)]
        lines.append(f"{line} {'  '.join(fields)}".rstrip())
    return "\n".join(lines)


def line_art(heads: Sequence[int], levels: dict[int, tuple[Comb, int]], ascii: bool) -> Iterator[str]:
    """The drawing on the left of each word. Columns are counted from the words to the left, from 1."""
    boxes, arrow = (PLAIN_BOXES, PLAIN_ARROW) if ascii else (BOXES, ARROW)
    wide = max((level for _, level in levels.values()), default=0)
    for i, head in enumerate(heads, 1):
        ends = [levels[number][1] for number in (i, head) if number in levels]
        reach = max(ends, default=0)
        signs = ""
        for column in range(wide, 0, -1):
            lines = LEFT | RIGHT if column < reach else 0
            if column in ends:
                lines |= RIGHT
            for comb, level in levels.values():
                if level == column and comb.first <= i <= comb.last:
                    lines |= (UP if i > comb.first else 0) | (DOWN if i < comb.last else 0)
            signs += boxes[lines] + boxes[LEFT | RIGHT if column <= reach else 0]
        yield signs + (arrow if head > 0 else boxes[LEFT | RIGHT if reach else 0]) if wide else signs


def levels_of(heads: Sequence[int]) -> dict[int, tuple[Comb, int]]:
    """The comb of each head, and its column: left of the combs of its dependents, and not on top of another comb."""
    hanging: dict[int, list[int]] = {}
    for i, head in enumerate(heads, 1):
        if head > 0:
            hanging.setdefault(head, []).append(i)
    levels: dict[int, tuple[Comb, int]] = {}
    for head in sorted(hanging, key=lambda head: (height(head, hanging), head)):
        comb = Comb(head, min(head, *hanging[head]), max(head, *hanging[head]))
        level = 1 + max((levels[i][1] for i in hanging[head] if i in levels), default=0)
        while any(
            at == level and other.first <= comb.last and comb.first <= other.last for other, at in levels.values()
        ):
            level += 1
        levels[head] = comb, level
    return levels


def height(word: int, hanging: dict[int, list[int]]) -> int:
    """The length of the longest path from a word down to a word without dependents."""
    level, here = 0, hanging.get(word, [])
    while here:
        level, here = level + 1, [i for above in here for i in hanging.get(above, [])]
    return level


def check_tree(
    words: Sequence[str], heads: Sequence[int], labels: Sequence[str] | None, tags: Sequence[str] | None
) -> None:
    for name, column in (("heads", heads), ("labels", labels), ("tags", tags)):
        if column is not None and len(column) != len(words):
            raise DataError(f"there are {len(words)} words, but {len(column)} {name}")
    for i, head in enumerate(heads, 1):
        if not -1 <= head <= len(words):
            raise DataError(f"the head of word {i} is {head}, but the sentence has {len(words)} words")
    free: set[int] = set()  # words from which no cycle can be reached
    for i in range(1, len(words) + 1):
        path: list[int] = []
        at = i
        while at > 0 and at not in free and at not in path:
            path.append(at)
            at = heads[at - 1]
        if at in path:
            raise DataError(f"the heads form a cycle: the path from word {at} to its head, and so on, returns to it")
        free.update(path)


# ---- SVG


@dataclass(frozen=True)
class Arc:
    """An arc from a head to a word."""

    head: int
    word: int

    @property
    def ends(self) -> tuple[int, int]:
        return min(self.head, self.word), max(self.head, self.word)


def tree_svg(
    words: Sequence[str],
    heads: Sequence[int],
    labels: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
) -> str:
    """Draw a tree as SVG: words from left to right, with arcs above them from heads to their dependents.

    The drawing uses the text colour of the page that contains it.
    """
    check_tree(words, heads, labels, tags)
    names = labels if labels is not None else [""] * len(words)
    lefts, rights = places(words, names, tags)
    middles = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
    arcs = arcs_of(heads)
    top = LEVEL * (2 + max(arcs.values(), default=0))
    width, tall = (rights[-1] if rights else 0.0) + SIDE, top + TEXT_HEIGHT * (2 if tags is not None else 1) + SIDE
    described = escaped(" ".join(words))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{tall:g}" viewBox="0 0 {width:g} {tall:g}" '
        f'role="img" font-family="sans-serif" font-size="15" text-anchor="middle" fill="currentColor">',
        f"<title>{described}</title>",
    ]
    for i, word in enumerate(words):
        lines.append(text_at(middles[i], top + TEXT_HEIGHT, word))
        if tags is not None:
            lines.append(text_at(middles[i], top + 2 * TEXT_HEIGHT, tags[i], size=11))
    for arc, level in arcs.items():
        lines += drawn(arc, level, top, middles, heads, names[arc.word - 1])
    lines += [
        text_at(middles[i], LEVEL / 2, names[i] or "root", size=11) + arrow_at(middles[i], top, LEVEL / 2 + 4)
        for i, head in enumerate(heads)
        if head == 0
    ]
    return "\n".join([*lines, "</svg>\n"])


def places(words: Sequence[str], labels: Sequence[str], tags: Sequence[str] | None) -> tuple[list[float], list[float]]:
    """Where each word begins and ends, with room for its label and tag."""
    lefts: list[float] = []
    rights: list[float] = []
    at = SIDE
    for i, word in enumerate(words):
        others = [labels[i], tags[i] if tags is not None else ""]
        wide = max(
            LEAST_WIDTH, CHARACTER * cells(visible(word)), *(0.8 * CHARACTER * cells(visible(one)) for one in others)
        )
        lefts.append(at)
        rights.append(at + wide)
        at += wide + GAP
    return lefts, rights


def arcs_of(heads: Sequence[int]) -> dict[Arc, int]:
    """Each arc and the level at which it is drawn, which is above all arcs that it spans."""
    arcs = sorted(
        (Arc(head, word) for word, head in enumerate(heads, 1) if head > 0),
        key=lambda arc: (arc.ends[1] - arc.ends[0], arc.ends),
    )
    levels: dict[Arc, int] = {}
    for arc in arcs:
        first, last = arc.ends
        below = [level for other, level in levels.items() if other.ends[0] < last and first < other.ends[1]]
        levels[arc] = 1 + max(below, default=0)
    return levels


def drawn(arc: Arc, level: int, top: float, middles: Sequence[float], heads: Sequence[int], label: str) -> list[str]:
    """The line, arrow and label of an arc. Arcs that leave a head on the same side start at different points."""
    to_right = arc.word > arc.head
    siblings = [word for word, head in enumerate(heads, 1) if head == arc.head and (word > arc.head) == to_right]
    siblings.sort(key=lambda word: -abs(word - arc.head))  # the longest leaves nearest to the middle
    out = STEP * (1 + siblings.index(arc.word))
    begin = middles[arc.head - 1] + (out if to_right else -out)
    end = middles[arc.word - 1]
    high = top - LEVEL * level
    bend = ROUND if end > begin else -ROUND
    line = (
        f"M{begin:g} {top:g}V{high + ROUND:g}Q{begin:g} {high:g} {begin + bend:g} {high:g}"
        f"H{end - bend:g}Q{end:g} {high:g} {end:g} {high + ROUND:g}"
    )
    found = [f'<path d="{line}" fill="none" stroke="currentColor"/>' + arrow_at(end, top, high + ROUND)]
    return [*found, text_at((begin + end) / 2, high - 4, label, size=11)] if label else found


def arrow_at(x: float, y: float, above: float) -> str:
    """A vertical line down to a word, with an arrowhead."""
    line = f'<path d="M{x:g} {above:g}V{y - 5:g}" stroke="currentColor"/>'
    return f'{line}<path d="M{x - 3.5:g} {y - 7:g}H{x + 3.5:g}L{x:g} {y:g}Z"/>'


def text_at(x: float, y: float, text: str, size: int | None = None) -> str:
    own = "" if size is None else f' font-size="{size}"'
    return f'<text x="{x:g}" y="{y:g}"{own}>{escaped(text)}</text>'
