"""Tokens of texts in SQL: a regular expression of exactly the characters that the tokenizer knows, and folded case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from markone.exporting.tokens import REPLACED, SELECTORS

Points = set[int]
KEYCAP_DIGIT = "[0-9]\ufe0f?\u20e3"


def points_in(ranges: list[int]) -> Points:
    pairs = zip(ranges[::2], ranges[1::2], strict=True)
    return {point for first, last in pairs for point in range(first, last + 1)}


def character_class(points: Points, escape: str) -> str:
    """Return the characters as a class of a regular expression.

    >>> character_class({97, 98, 99, 65}, "\\\\x{{{:x}}}")
    '[\\\\x{41}\\\\x{61}-\\\\x{63}]'
    """
    found: list[str] = []
    ordered = sorted(points)
    start = 0
    for i in range(1, len(ordered) + 1):
        if i < len(ordered) and ordered[i] == ordered[i - 1] + 1:
            continue
        first, last = escape.format(ordered[start]), escape.format(ordered[i - 1])
        found.append(first if start == i - 1 else f"{first}-{last}")
        start = i
    return f"[{''.join(found)}]"


class Classes:
    """The classes of characters for some settings of tokens."""

    def __init__(self, how: Any, characters: Any, escape: str) -> None:
        table = {name: points_in(ranges) for name, ranges in characters.items() if name not in ("unicode", "foldings")}
        for names in table.values():
            names.discard(REPLACED)
        signs, words = table["signs"], table["words"]
        # Of several roles of a character, the first of these counts.
        to_come, flags = table["emoji_to_come"], table["flags"] - table["emoji_to_come"]
        modifiers = table["modifiers"] - to_come - flags
        stackers = table["stackers"] - modifiers - to_come - flags
        marks = table["marks"] - stackers - modifiers - to_come - flags
        letters = table["unspaced"] - marks - stackers - modifiers - to_come - flags
        plain = set(words)
        if how["unspaced"]:
            plain -= letters
        if how["emoji"]:
            plain -= to_come | {*SELECTORS}
            signs = (signs | to_come) - (letters if how["unspaced"] else set())

        def shown(points: Points) -> str:
            return character_class(points, escape)

        self.words, self.signs, self.flags, self.modifiers = shown(plain), shown(signs), shown(flags), shown(modifiers)
        self.letters, self.stackers = shown(letters), shown(stackers)
        self.marks = shown(marks | (modifiers & words))


def pattern_of(how: Any, characters: Any, escape: str, text: str, literal: Callable[[str], str]) -> tuple[str, str]:
    """Return the pattern of tokens as a string of SQL, and the text in which it finds them."""
    classes = Classes(how, characters, escape)
    ways = []
    if how["unspaced"]:
        stacked = f"{classes.stackers}{classes.letters}?"
        ways.append(f"{classes.letters}(?:{stacked}|{classes.marks})*")
    if how["emoji"]:
        begin = f"(?:{classes.flags}{classes.flags}?|{KEYCAP_DIGIT}|{classes.signs})"
        ways.append(f"{begin}(?:{classes.modifiers}|\u200d{classes.signs})*")
        # A digit on a key is a token of its own, also within a word.
        text = f"regexp_replace({text}, {literal(f'({KEYCAP_DIGIT})')}, {literal(' ' + chr(92) + '1')}, 'g')"
    else:
        ways.append(classes.signs)
    ways.append(f"{classes.words}+")
    return literal(f"({'|'.join(ways)})"), text


def letters_only(how: Any, characters: Any, escape: str, literal: Callable[[str], str]) -> str:
    """Return a pattern of the beginning of tokens that are letters of scripts without spaces. They keep selectors."""
    return literal(f"^{Classes(how, characters, escape).letters}" if how["unspaced"] else "^$")


def signs_only(how: Any, characters: Any, escape: str, literal: Callable[[str], str]) -> str:
    """Return a pattern of the beginning of tokens that are signs."""
    classes = Classes(how, characters, escape)
    ways = [classes.signs, classes.flags, KEYCAP_DIGIT] if how["emoji"] else [classes.signs]
    return literal(f"^(?:{'|'.join(ways)})")


def folded(token: str, characters: Any, known: set[str], words: set[str], literal: Callable[[str], str]) -> str:
    """Return an expression for the token in folded case. Foldings that can lead to no known word are left out."""
    table = characters["foldings"]
    single: list[tuple[str, str]] = []
    for i in range(0, len(table), 4):
        before, after = chr(table[i]), "".join(map(chr, filter(None, table[i + 1 : i + 4])))
        if len(after) == 1:
            if after in known:
                single.append((before, after))
        elif any(after in word for word in words):
            token = f"replace({token}, {literal(before)}, {literal(after)})"
    if not single:
        return token
    before, after = ("".join(side) for side in zip(*single, strict=True))
    return f"translate({token}, {literal(before)}, {literal(after)})"
