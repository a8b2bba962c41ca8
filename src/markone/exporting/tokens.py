"""Tokens of texts, from a document's own tables of characters: the rules of core/text in plain Python."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

NEGATIONS = {"cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "nowhere", "without"}
ENDS = '.,;:!?()[]{}"…—–“”«»。，、；：！？।،؛؟'
SELECTORS, KEYCAP, JOINER, REPLACED = (0xFE0E, 0xFE0F), 0x20E3, 0x200D, 0xFFFD
ROLES = ("emoji_to_come", "flags", "modifiers", "stackers", "marks", "unspaced")
"""The tables of roles. If several contain a character, the first counts."""
BITS = 2**64 - 1

Token = tuple[str, str]
"""A token and its kind: word, sign, or letter of a script without spaces."""


class Characters:
    """The kind, the role and the folded case of each character, by the tables of a document."""

    def __init__(self, tables: dict[str, Any]) -> None:
        folds = tables["foldings"]
        self.folded = {folds[i]: "".join(map(chr, filter(None, folds[i + 1 : i + 4]))) for i in range(0, len(folds), 4)}
        self.kind = cache(lambda point: self._first(tables, ("words", "signs"), point) or "gap")
        self.role = cache(lambda point: self._first(tables, ROLES, point))
        self.is_capital = cache(lambda point: self._first(tables, ("capitals",), point) is not None)

    @staticmethod
    def _first(tables: dict[str, Any], names: tuple[str, ...], point: int) -> str | None:
        if point == REPLACED:
            return None
        return next((name for name in names if within(tables[name], point)), None)

    def shown(self, point: int, fold: bool) -> str:
        return self.folded.get(point, chr(point)) if fold else chr(point)


def within(ranges: list[int], point: int) -> bool:
    """Whether a character is in one of the ranges.

    >>> [within([48, 57, 97, 122], ord(letter)) for letter in "0a:z{"]
    [True, True, False, True, False]
    """
    at = bisect_right(ranges, point)
    return at % 2 == 1 or (at > 0 and ranges[at - 1] == point)


class Tokenizer:
    """Makes the tokens of a part of a document."""

    def __init__(self, how: dict[str, Any], characters: Characters) -> None:
        self.how = how
        self.all = characters
        runs = how["runs"] is not None
        self.signs = how["signs"] or how["negation"] or how["choice"] == "negated"
        self.fold = how["fold"] and how["choice"] != "lower"
        self.unspaced = how["unspaced"] and not (runs and not how["within_words"])

    def __call__(self, text: str) -> list[str]:
        if self.how["runs"] is None:
            return [*self.words(text)]
        shortest, longest = self.how["runs"]
        if self.how["within_words"]:
            lines = [f" {token} " for token, kind in self.cut(text) if kind == "word"]
        else:
            words = [*self.words(text)]
            lines = [f" {' '.join(words)} "] if words else []
        return [
            line[i : i + size]
            for line in lines
            for size in range(shortest, longest + 1)
            for i in range(len(line) - size + 1)
        ]

    def words(self, text: str) -> Iterator[str]:
        choice, negation = self.how["choice"], Negation()
        for token, kind in self.cut(text):
            if kind == "sign":
                negation.sign(token)
                if self.how["signs"] and choice == "all":
                    yield token
            elif choice == "lower":
                if not any(self.all.is_capital(ord(one)) for one in token):
                    yield "".join(self.all.shown(ord(one), self.how["fold"]) for one in token)
            elif negation.word(token) and (self.how["negation"] or choice == "negated"):
                yield f"NOT_{token}"
            elif choice == "all":
                yield token

    def cut(self, text: str) -> Iterator[Token]:
        points = [*map(ord, text)]
        word: list[str] = []
        at = 0
        while at < len(points):
            point = points[at]
            kind = self.kind(points, at)
            at += 1
            if kind == "word":
                word.append(self.all.shown(point, self.fold))
                continue
            if word:
                yield "".join(word), "word"
                word.clear()
            if kind == "gap":
                continue
            made = [self.all.shown(point, self.fold)]
            if kind == "letter":
                at = self.take_marks(points, at, made)
            elif self.how["emoji"]:
                at = self.take_emoji(points, at, made)
            if kind == "letter" or self.signs:
                yield "".join(made), kind
        if word:
            yield "".join(word), "word"

    def kind(self, points: list[int], at: int) -> str:
        point = points[at]
        kind = {"words": "word", "signs": "sign", "gap": "gap"}[self.all.kind(point)]
        if point < 0x80:
            return "sign" if self.how["emoji"] and is_keycap(points, at) else kind
        role = self.all.role(point)
        if role == "unspaced" and self.unspaced:
            return "letter"
        if self.how["emoji"] and role == "emoji_to_come":
            return "sign"
        return "gap" if self.how["emoji"] and point in SELECTORS else kind

    def take_marks(self, points: list[int], at: int, made: list[str]) -> int:
        stacked = False
        while at < len(points):
            role = self.all.role(points[at])
            is_mark = role in ("marks", "stackers") or (role == "modifiers" and self.all.kind(points[at]) == "words")
            if not is_mark and not (stacked and role == "unspaced"):
                break
            stacked = role == "stackers"
            made.append(self.all.shown(points[at], self.fold))
            at += 1
        return at

    def take_emoji(self, points: list[int], at: int, made: list[str]) -> int:
        flag = self.all.role(points[at - 1]) == "flags"
        while at < len(points):
            role = self.all.role(points[at])
            if points[at] == JOINER:
                beyond = points[at + 1] if at + 1 < len(points) else None
                if beyond is None or (self.all.kind(beyond) != "signs" and self.all.role(beyond) != "emoji_to_come"):
                    break
                made += [chr(JOINER), self.all.shown(beyond, self.fold)]
                at, flag = at + 2, False
                continue
            if role != "modifiers" and not (flag and role == "flags"):
                break
            flag = False
            if points[at] not in SELECTORS:
                made.append(self.all.shown(points[at], self.fold))
            at += 1
        return at


def is_keycap(points: list[int], at: int) -> bool:
    """Whether a digit is on a key."""
    rest = points[at + 1 : at + 3]
    return 0x30 <= points[at] <= 0x39 and (rest[:1] == [KEYCAP] or rest == [SELECTORS[1], KEYCAP])


class Negation:
    """Tells whether a word follows a negation without punctuation in between."""

    open = after_n = after_apostrophe = False

    def word(self, token: str) -> bool:
        negated = self.open
        plain = "".join(one.lower() if one.isascii() else one for one in token)
        self.open = self.open or (self.after_apostrophe if plain == "t" else plain in NEGATIONS)
        self.after_n, self.after_apostrophe = token.endswith(("n", "N")), False
        return negated

    def sign(self, token: str) -> None:
        self.after_apostrophe, self.after_n = self.after_n and token in ("'", "’"), False
        if token in ENDS:
            self.open = False


# ---- hashes


def mixed(z: int) -> int:
    for _ in range(2):
        z = (z ^ z >> 32) * 0xD6E8FEB86659FD93 & BITS
    return z ^ z >> 32


def hash_of(token: bytes) -> int:
    """The hash of a token, of 64 bits."""
    odd = 0x9E3779B97F4A7C15
    size = len(token)
    found = size * odd & BITS
    if size < 8:
        return mixed(found ^ int.from_bytes(token, "little"))
    for at in range(0, size - 8, 8):
        found = mixed(found ^ int.from_bytes(token[at : at + 8], "little")) + odd & BITS
    return mixed(found ^ int.from_bytes(token[-8:], "little"))


def hash_of_ngram(tokens: list[str]) -> int:
    first, *rest = (hash_of(token.encode("utf-8", "surrogatepass")) for token in tokens)
    for one in rest:
        first = mixed(first * 0x9E3779B97F4A7C15 + one & BITS)
    return first


def splitter(runs: bool) -> Callable[[str], list[str]]:
    """Return how an n-gram is split into its tokens: n-grams of characters are single tokens."""
    return (lambda ngram: [ngram]) if runs else (lambda ngram: ngram.split(" "))
