"""Transition-based parsing in plain Python: the arc-hybrid system, its oracle by brute force, and the training.

Words are numbered from 0, and the root has the number after the last word. Features are tuples of strings. Every
training step adds all weights to a sum, from which the average is computed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

SHIFT, LEFT, RIGHT = range(3)
MOVES = (SHIFT, LEFT, RIGHT)
NOBODY = -1

Feature = tuple[str, ...]
Templates = Sequence[Sequence[str]]


@dataclass
class Parse:
    """The state of the parser in a sentence of `size` words."""

    size: int
    stack: list[int] = field(default_factory=list)
    next: int = 0
    heads: dict[int, int] = field(default_factory=dict)
    labels: dict[int, int] = field(default_factory=dict)
    lefts: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    rights: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    def allowed(self) -> list[int]:
        """The moves that are allowed. The root gets only one child, the last word on the stack."""
        waits = self.next < self.size
        can = (waits, bool(self.stack) and (waits or len(self.stack) == 1), len(self.stack) >= 2)
        return [move for move in MOVES if can[move]]

    def head_by(self, move: int) -> int:
        return self.next if move == LEFT else self.stack[-2]

    def make(self, move: int, label: int = 0) -> None:
        if move == SHIFT:
            self.stack.append(self.next)
            self.next += 1
            return
        head, child = self.head_by(move), self.stack.pop()
        self.heads[child], self.labels[child] = head, label
        (self.lefts if move == LEFT else self.rights)[head].append(child)

    def done(self) -> bool:
        return self.next == self.size and not self.stack

    @classmethod
    def after(cls, size: int, moves: Sequence[int]) -> Parse:
        parse = cls(size)
        for move in moves:
            parse.make(move)
        return parse


# ---- trees and the oracle


def fewest_mistakes(size: int, moves: Sequence[int], heads: Sequence[int]) -> int:
    """The smallest number of wrong heads in all trees that can be reached after these moves."""
    parse = Parse.after(size, moves)
    if parse.done():
        return sum(parse.heads[word] != heads[word] for word in range(size))
    return min(fewest_mistakes(size, [*moves, move], heads) for move in parse.allowed())


def trees(size: int) -> Iterator[tuple[int, ...]]:
    """All trees in which the root, the number after the last word, has one child."""
    for heads in product(range(size + 1), repeat=size):
        if heads.count(size) == 1 and all(reaches(word, heads) for word in range(size)):
            yield heads


def reaches(word: int, heads: Sequence[int]) -> bool:
    """Whether the path from a word to its head, and so on, ends at the root."""
    for _ in heads:
        word = heads[word] if word < len(heads) else word
    return word == len(heads)


def below(word: int, head: int, heads: Sequence[int]) -> bool:
    while word != head and word != len(heads):
        word = heads[word]
    return word == head


def crossing(heads: Sequence[int]) -> list[int]:
    """The words whose arcs span words that are not descendants of their heads."""
    return [
        word
        for word, head in enumerate(heads)
        if not all(below(between, head, heads) for between in range(min(word, head) + 1, max(word, head)))
    ]


def lifted(heads: Sequence[int]) -> list[int]:
    """Move the shortest crossing arc to the head of its head, until no arcs cross."""
    result = list(heads)
    while found := crossing(result):
        word = min(found, key=lambda one: abs(result[one] - one))
        result[word] = result[result[word]]
    return result


# ---- features


def shape(word: str) -> str:
    result, run, last = "", 0, ""
    for character in word:
        kind = "d" if character.isdigit() else "X" if character.isupper() else "x" if character.isalpha() else character
        run = run + 1 if kind == last and kind in "dXx" else 1
        last = kind
        if run <= 3:
            result += kind
    return result


@dataclass
class ParseView:
    """A parse with its words and their tags, from which templates make features."""

    parse: Parse
    words: Sequence[str]
    tags: Sequence[str]

    def features(self, templates: Templates, nodes: dict[str, int]) -> list[Feature]:
        return [(" ".join(one), *(self.value(atom, nodes) for atom in one)) for one in templates]

    def of_moves(self, templates: Templates) -> list[Feature]:
        parse = self.parse
        nodes = {f"s{i}": parse.stack[-1 - i] if i < len(parse.stack) else NOBODY for i in range(3)}
        nodes |= {f"b{i}": self.beside(parse.next, i) for i in range(4)} | {"last": parse.size - 1}
        for node in ("s0", "s1", "b0"):
            nodes |= {f"{node}-1": self.beside(nodes[node], -1), f"{node}+1": self.beside(nodes[node], 1)}
            nodes |= self.children(node, nodes[node])
        return self.features(templates, nodes)

    def of_labels(self, templates: Templates, move: int) -> list[Feature]:
        parse = self.parse
        h, c = parse.head_by(move), parse.stack[-1]
        nodes = {"h": h, "c": c, "h-1": self.beside(h, -1), "h+1": self.beside(h, 1)}
        nodes |= {f"c{far:+}": self.beside(c, far) for far in (-2, -1, 1, 2)}
        nodes["n"] = self.beside(parse.next, int(move == LEFT))
        return self.features(templates, nodes | self.children("h", h) | self.children("c", c))

    def beside(self, word: int, far: int) -> int:
        """The word at a distance `far` from another. The root comes after the last word."""
        return word + far if word != NOBODY and 0 <= word + far <= self.parse.size else NOBODY

    def children(self, node: str, word: int) -> dict[str, int]:
        """The last child on each side, and the one before it."""
        found: dict[str, int] = {}
        for side, all_of in (("l", self.parse.lefts[word]), ("r", self.parse.rights[word])):
            last = [NOBODY, NOBODY, *all_of] if word != NOBODY else [NOBODY, NOBODY]
            found |= {f"{node}{side}": last[-1], f"{node}{side}2": last[-2]}
        return found

    def value(self, atom: str, nodes: dict[str, int]) -> str:
        node, what = atom.split(" ", 1)
        word = nodes[node]
        if what in ("distance", "side", "between"):
            other = nodes[{"b0": "s0", "s0": "s1", "c": "h"}[node]]
            if NOBODY in (word, other):
                return "nobody"
            if what == "between":
                return str(sorted(set(self.tags[min(word, other) + 1 : max(word, other)])))
            far = abs(word - other)
            near = str(far) if far <= 4 else "5-7" if far < 8 else "8-15" if far < 16 else "more"
            return near if what == "distance" else str(word < other)
        if what in ("lefts", "rights", "left labels", "right labels"):
            side = self.parse.lefts if what.startswith("left") else self.parse.rights
            found = side[word] if word != NOBODY else []
            if what.endswith("labels"):
                return str(sorted({self.parse.labels[child] for child in found}))
            return str(len(found))
        if word == NOBODY:
            return "nobody"
        if what == "label":
            return str(self.parse.labels[word])
        if word == self.parse.size:
            return "root"
        form = self.words[word]
        known = {"word": form.lower(), "tag": self.tags[word], "suffix": form.lower()[-3:], "shape": shape(form)}
        known["prefix"] = form.lower()[:3]
        return "=" + known[what]


# ---- learning


class SummedWeights:
    """The weights of features for answers, and the sum of all weights after every step."""

    def __init__(self) -> None:
        self.w: dict[tuple[Feature, int], int] = defaultdict(int)
        self.total: dict[tuple[Feature, int], int] = defaultdict(int)

    def score(self, features: Sequence[Feature], answer: int) -> int:
        return sum(self.w[feature, answer] for feature in features if (feature, answer) in self.w)

    def best(self, features: Sequence[Feature], answers: Sequence[int]) -> int:
        return max(answers, key=lambda answer: (self.score(features, answer), -answer))

    def add(self, features: Sequence[Feature], answer: int, amount: int) -> None:
        for feature in features:
            self.w[feature, answer] += amount

    def end_step(self) -> None:
        for place, weight in self.w.items():
            self.total[place] += weight


@dataclass
class Sentence:
    """A sentence with its tree. Heads are numbered as in `Parse`."""

    words: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int]
    labels: Sequence[int]


class GreedyParser:
    """The averaged perceptron for greedy parsing, with a dynamic oracle by brute force."""

    def __init__(self, move_templates: Templates, label_templates: Templates, labels: Sequence[Sequence[int]]) -> None:
        """`labels` are the labels for the root's child, and the labels for other words."""
        self.move_templates = move_templates
        self.label_templates = label_templates
        self.labels = labels
        self.moves = SummedWeights()
        self.label_weights = SummedWeights()
        self.steps = 0
        self.updates = 0

    def label(self, view: ParseView, move: int) -> tuple[int, list[Feature]]:
        features = view.of_labels(self.label_templates, move)
        at_root = view.parse.head_by(move) == view.parse.size
        return self.label_weights.best(features, self.labels[0 if at_root else 1]), features

    def learn(self, sentence: Sentence, explores: Callable[[], bool]) -> int:
        """Visit a sentence, and return the number of moves that were mistakes."""
        size = len(sentence.words)
        parse, made, mistakes = Parse(size), list[int](), 0
        view = ParseView(parse, sentence.words, sentence.tags)
        while not parse.done():
            self.steps += 1
            features = view.of_moves(self.move_templates)
            lost = {move: fewest_mistakes(size, [*made, move], sentence.heads) for move in parse.allowed()}
            guess = self.moves.best(features, parse.allowed())
            right = self.moves.best(features, [move for move in lost if lost[move] == min(lost.values())])
            if lost[guess] > lost[right]:
                mistakes += 1
                self.updates += 1
                self.moves.add(features, right, 1)
                self.moves.add(features, guess, -1)
            taken, label = guess if explores() else right, 0
            if taken != SHIFT:
                child = parse.stack[-1]
                label, features = self.label(view, taken)
                if parse.head_by(taken) == sentence.heads[child] and label != sentence.labels[child]:
                    self.updates += 1
                    self.label_weights.add(features, sentence.labels[child], 1)
                    self.label_weights.add(features, label, -1)
            parse.make(taken, label)
            made.append(taken)
            self.moves.end_step()
            self.label_weights.end_step()
        return mistakes


@dataclass
class Item:
    """A parse in a beam, with the moves and labels that made it."""

    view: ParseView
    path: list[tuple[int, int]]
    score: int
    right: bool
    """Whether all moves were right."""


class BeamParser(GreedyParser):
    """The averaged structured perceptron with a beam and max-violation updates.

    The weight of a right move increases by 2, and those of the other moves decrease by 1; for a wrong move it is the
    opposite. So the weights of a feature always sum to 0.
    """

    def begin(self, sentence: Sentence) -> Item:
        return Item(ParseView(Parse(len(sentence.words)), sentence.words, sentence.tags), [], 0, True)

    def scored(self, item: Item, sentence: Sentence) -> list[tuple[int, int, bool]]:
        """The allowed moves, the scores after them, and whether all moves are still right after them."""
        parse, size = item.view.parse, len(sentence.words)
        features = item.view.of_moves(self.move_templates)
        made = [move for move, _ in item.path]
        now = fewest_mistakes(size, made, sentence.heads)
        return [
            (
                move,
                item.score + self.moves.score(features, move),
                item.right and fewest_mistakes(size, [*made, move], sentence.heads) == now,
            )
            for move in parse.allowed()
        ]

    def moved(self, item: Item, sentence: Sentence, move: int, score: int, right: bool) -> Item:
        label = -1 if move == SHIFT else self.label(item.view, move)[0]
        again = self.begin(sentence)
        for step in [*item.path, (move, label)]:
            again.view.parse.make(*step)
        return Item(again.view, [*item.path, (move, label)], score, right)

    def learn_with(self, sentence: Sentence, width: int) -> int:
        """Visit a sentence, and return 1 if its tree was wrong."""
        self.steps += 1
        beam, alone = [self.begin(sentence)], None
        most, update = -1, None
        for _ in range(2 * len(sentence.words)):
            if alone is not None:
                options = [option for option in self.scored(alone, sentence) if option[2]]
                alone = self.moved(alone, sentence, *max(options, key=lambda option: (option[1], -option[0])))
            found = [(item, option) for item in beam for option in self.scored(item, sentence)]
            best = sorted(found, key=lambda one: -one[1][1])[:width]
            if alone is None and not any(option[2] for _, option in best):
                item, option = max((one for one in found if one[1][2]), key=lambda one: one[1][1])
                alone = self.moved(item, sentence, *option)
            beam = [self.moved(item, sentence, *option) for item, option in best]
            right = alone or next(item for item in beam if item.right)
            if not beam[0].right and beam[0].score - right.score > most:
                most, update = beam[0].score - right.score, (right.path, beam[0].path)
        if not beam[0].right and update is not None:
            self.updates += 1
            same = next(i for i, (a, b) in enumerate(zip(*update, strict=True)) if a[0] != b[0])
            for sign, path in zip((1, -1), update, strict=True):
                self.follow(sentence, path, same, sign)
        self.learn_labels(sentence, (alone or next(item for item in beam if item.right)).path)
        self.moves.end_step()
        self.label_weights.end_step()
        return int(not beam[0].right)

    def follow(self, sentence: Sentence, path: Sequence[tuple[int, int]], start: int, sign: int) -> None:
        view = self.begin(sentence).view
        for step, (move, label) in enumerate(path):
            if step >= start:
                features = view.of_moves(self.move_templates)
                for other in MOVES:
                    self.moves.add(features, other, 2 * sign if other == move else -sign)
            view.parse.make(move, label)

    def learn_labels(self, sentence: Sentence, path: Sequence[tuple[int, int]]) -> None:
        view = self.begin(sentence).view
        for move, _ in path:
            label = -1
            if move != SHIFT:
                child = view.parse.stack[-1]
                label, features = self.label(view, move)
                if label != sentence.labels[child]:
                    self.updates += 1
                    self.label_weights.add(features, sentence.labels[child], 1)
                    self.label_weights.add(features, label, -1)
            view.parse.make(move, label)
