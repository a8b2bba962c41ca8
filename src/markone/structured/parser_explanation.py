"""Explanations of a parser: why it chose an arc and a label, with the names of the features it used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.strings import text_of
from markone.reporting.grids import plain_number
from markone.reporting.shown import Content, Shown
from markone.structured.alternatives import NOBODY, Choice

MOVES = ("shift", "left", "right")
SHIFT, LEFT, RIGHT = range(3)
ROOT = "ROOT"


@dataclass(frozen=True, slots=True, repr=False)
class ParseExplanation(Shown):
    """The reasons for the head and the label of a word."""

    word: str
    head: str
    arc: Choice
    """The move that made the arc, compared with the second-best move at that time. In the mode `exact`, the head
    compared with the second-best head of this word."""
    label: Choice

    def in_brief(self) -> str:
        return f"{self.word!r} depends on {self.head!r} as {self.label.chosen!r}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "word": self.word,
            "head": self.head,
            "arc": self.arc.as_dict(),
            "label": self.label.as_dict(),
        }

    def parts(self) -> Iterator[Content]:
        yield f"{self.word!r} depends on {self.head!r} as {self.label.chosen!r}"
        for one in (self.arc, self.label):
            if one.against is None:
                yield f"{one.chosen!r}, because nothing else was possible"
                continue
            yield f"{one.chosen!r} and not {one.against!r}, by {plain_number(one.margin)}"
            yield one.grid()


class Replay:
    """The state of a parser after some moves, from which the names of its features are made."""

    def __init__(self, forms: Sequence[str], tags: Sequence[str], labels: Sequence[str]) -> None:
        self.forms = [*forms, ROOT]
        self.tags = [*tags, ROOT]
        self.names = labels
        self.stack: list[int] = []
        self.next = 0
        self.label = [NOBODY] * len(self.forms)
        self.children: dict[str, list[list[int]]] = {side: [[] for _ in self.forms] for side in ("left", "right")}

    def allowed(self) -> list[int]:
        waiting = self.next < len(self.forms) - 1
        can = (waiting, bool(self.stack) and (waiting or len(self.stack) == 1), len(self.stack) >= 2)
        return [move for move, may in enumerate(can) if may]

    def make(self, move: int, label: int) -> None:
        if move == SHIFT:
            self.stack.append(self.next)
            self.next += 1
            return
        child = self.stack.pop()
        head = self.next if move == LEFT else self.stack[-1]
        self.label[child] = self.names[label]
        self.children["left" if move == LEFT else "right"][head].append(child)

    def name(self, template: Sequence[str], nodes: NDArray[np.int32]) -> str:
        """The name of a feature: each atom with its value in this state."""
        at = dict(zip(_core.tree_nodes(), nodes.tolist(), strict=True))
        return ", ".join(f"{atom}={self._value(atom, at)}" for atom in template)

    def arc_names(self, head: int, child: int) -> list[str]:
        """The names of the features of an arc, in the order of the core."""
        size = len(self.forms) - 1
        at = dict.fromkeys(_core.tree_nodes(), -1)
        at |= {"h": head, "c": child, "c-1": child - 1, "c+1": child + 1, "h-1": head - 1}
        at["h+1"] = head + 1 if head < size else -1
        nodes = np.array(list(at.values()), np.int32)
        names = []
        for template in _core.arc_templates():
            names += [self.name(template, nodes), self.name([*template, "c side", "c distance"], nodes)]
        if head < size:
            between = dict.fromkeys(self.tags[min(head, child) + 1 : max(head, child)])
            names += [f"{names[0]}, between={tag}" for tag in between]
        return names

    def _value(self, atom: str, at: dict[str, int]) -> str:
        node, what = atom.split(" ", 1)
        word = at[node]
        if what in ("distance", "side", "between"):
            other = at[{"b0": "s0", "s0": "s1", "c": "h"}[node]]
            if word < 0 or other < 0:
                return NOBODY
            if what == "between":
                return "+".join(sorted(set(self.tags[min(word, other) + 1 : max(word, other)]))) or NOBODY
            return str(abs(word - other)) if what == "distance" else "left" if word < other else "right"
        if word < 0:
            return NOBODY
        if what in ("lefts", "rights"):
            return str(len(self.children[what.removesuffix("s")][word]))
        if what in ("left labels", "right labels"):
            found = {self.label[child] for child in self.children[what.removesuffix(" labels")][word]}
            return "+".join(sorted(found)) or NOBODY
        form = self.forms[word]
        known = {
            "word": form.lower(),
            "tag": self.tags[word],
            "label": self.label[word],
            "shape": text_of(_core.word_shape(form.encode("utf-8", "surrogatepass"))),
            "prefix": form.lower()[:3],
            "suffix": form.lower()[-3:],
        }
        return known[what]
