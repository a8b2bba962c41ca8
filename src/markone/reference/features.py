"""Features of tables, images and texts."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from itertools import combinations_with_replacement, product

from markone.reference.vectors import Number

# ---- tables and images


def one_hot(example: Mapping[str, str | None]) -> dict[str, int]:
    """An indicator feature for the value of each categorical column.

    >>> one_hot({"make": "asia", "origin": None})
    {'make=asia': 1, 'origin is missing': 1}
    """
    return {f"{name} is missing" if value is None else f"{name}={value}": 1 for name, value in example.items()}


def pieces_of_date(name: str, when: datetime, has_time: bool) -> dict[str, Number | str]:
    """The numbers and categories of a date.

    >>> pieces_of_date("born", datetime(1815, 12, 10), False)
    {'born.year': 1815, 'born.month': 'December', 'born.day': 10, 'born.weekday': 'Sunday', 'born.days': -56270}
    """
    found: dict[str, Number | str] = {
        f"{name}.year": when.year,
        f"{name}.month": when.strftime("%B"),
        f"{name}.day": when.day,
        f"{name}.weekday": when.strftime("%A"),
    }
    hour = {f"{name}.hour": str(when.hour)} if has_time else {}
    return {**found, **hour, f"{name}.days": (when.date() - date(1970, 1, 1)).days}


def items_of_set(name: str, items: Sequence[str] | None) -> dict[str, int]:
    """An indicator feature for each item of a set.

    >>> items_of_set("colours", ["red", "blue", "red"]), items_of_set("colours", None)
    ({'colours has red': 1, 'colours has blue': 1}, {'colours is missing': 1})
    """
    return {f"{name} is missing": 1} if items is None else {f"{name} has {item}": 1 for item in items}


def products(x: Mapping[str, Number], degree: int) -> dict[str, Number]:
    """All products of up to `degree` features, with which a linear model can learn curved boundaries.

    >>> products({"x1": 3, "x2": 5}, 2)
    {'x1': 3, 'x2': 5, 'x1*x1': 9, 'x1*x2': 15, 'x2*x2': 25}
    """
    chosen = (factors for size in range(1, degree + 1) for factors in combinations_with_replacement(x, size))
    return {"*".join(factors): math.prod(x[name] for name in factors) for factors in chosen}


def conjunction(*factors: Mapping[str, Number]) -> dict[str, Number]:
    """The products of each feature of one column with each feature of the next.

    >>> conjunction(one_hot({"make": "asia"}), {"weight": 2.5})
    {'make=asia*weight': 2.5}
    """
    return {
        "*".join(names): math.prod(factor[name] for factor, name in zip(factors, names, strict=True))
        for names in product(*factors)
    }


def patches(on: Sequence[Sequence[bool]], size: int) -> dict[str, int]:
    """The squares of an image with at least one pixel that is on, named by their upper left corner and their pixels.

    >>> patches([[0, 1, 0], [0, 1, 1]], 2)
    {'patch 0,0 01/01': 1, 'patch 0,1 10/11': 1}
    """
    found = {}
    for row in range(len(on) - size + 1):
        for column in range(len(on[0]) - size + 1):
            square = ["".join("01"[bool(pixel)] for pixel in on[row + i][column : column + size]) for i in range(size)]
            if "1" in "".join(square):
                found[f"patch {row},{column} {'/'.join(square)}"] = 1
    return found


# ---- text


def tokenize(text: str, *, fold: bool = True, signs: bool = False) -> list[str]:
    """Split a text into words: sequences of letters, digits and marks of any script, in folded case. With `signs`, each
    punctuation mark or symbol is a token, too.

    >>> tokenize("Don't stop, Émile!", signs=True)
    ['don', "'", 't', 'stop', ',', 'émile', '!']
    """
    tokens, word = [], ""
    for character in text + " ":
        kind = unicodedata.category(character)[0]
        shown = character.casefold() if fold else character
        if kind in "LNM":
            word += shown
            continue
        if word:
            tokens.append(word)
            word = ""
        if signs and kind in "PS" and character != "\N{REPLACEMENT CHARACTER}":
            tokens.append(shown)
    return tokens


NEGATIONS = {"cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "nowhere", "without"}
ENDS = set('.,;:!?()[]{}"…—–“”«»。，、；：！？।،؛؟')


def negated(text: str, *, fold: bool = True) -> list[tuple[str, bool]]:
    """All tokens, each with whether it is negated, that is between a negation and the next punctuation mark.

    >>> [token for token, is_negated in negated("I don't like it. You do!") if is_negated]
    ['like', 'it']
    """
    found, inside = [], False
    tokens = tokenize(text, fold=fold, signs=True)
    for i, token in enumerate(tokens):
        is_sign = unicodedata.category(token[0])[0] in "PS"
        found.append((token, inside and not is_sign))
        if is_sign:
            inside = inside and token not in ENDS
            continue
        plain = ascii_lower(token)
        after = i >= 2 and tokens[i - 1] in ("'", "’") and ascii_lower(tokens[i - 2]).endswith("n")
        inside = inside or plain in NEGATIONS or (plain == "t" and after)
    return found


def ascii_lower(word: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in word)


def mark_negated(text: str, *, fold: bool = True, signs: bool = False) -> list[str]:
    """The tokens, with NOT_ before negated ones.

    >>> mark_negated("not very good, but cheap")
    ['not', 'NOT_very', 'NOT_good', 'but', 'cheap']
    """
    shown = [(f"NOT_{token}" if inside else token) for token, inside in negated(text, fold=fold)]
    return shown if signs else [token for token in shown if unicodedata.category(token[0])[0] not in "PS"]


def without_capitals(text: str, *, fold: bool = True) -> list[str]:
    """The words without capital letters.

    >>> without_capitals("Free money, FREE Money")
    ['money']
    """
    words = [word for word in tokenize(text, fold=False) if all(letter.lower() == letter for letter in word)]
    return ["".join(letter.casefold() for letter in word) if fold else word for word in words]


def runs(tokens: Sequence[str], shortest: int, longest: int) -> list[str]:
    """The character n-grams of `shortest` to `longest` characters of the tokens, with single spaces around them.

    >>> runs(["a", "bc"], 3, 4)
    [' a ', 'a b', ' bc', 'bc ', ' a b', 'a bc', ' bc ']
    """
    line = f" {' '.join(tokens)} " if tokens else ""
    lengths = range(shortest, longest + 1)
    return [line[i : i + n] for n in lengths for i in range(len(line) - n + 1)]


def ngrams(tokens: Sequence[str], shortest: int, longest: int) -> list[str]:
    """The n-grams of `shortest` to `longest` tokens.

    >>> ngrams(["not", "very", "good"], 1, 2)
    ['not', 'very', 'good', 'not very', 'very good']
    """
    lengths = range(shortest, longest + 1)
    return [" ".join(tokens[i : i + n]) for n in lengths for i in range(len(tokens) - n + 1)]
