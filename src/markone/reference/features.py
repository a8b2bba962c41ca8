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


UNSPACED = (
    *("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HENTAIGANA"),
    *("HALFWIDTH KATAKANA", "VERTICAL KANA", "BOPOMOFO", "THAI", "LAO", "KHMER", "MYANMAR"),
    *("TAI LE", "NEW TAI LUE", "TAI THAM", "TAI VIET", "AHOM"),
)
STACKERS = "\N{MYANMAR SIGN VIRAMA}\N{KHMER SIGN COENG}\N{TAI THAM SIGN SAKOT}"
SELECTORS = "\N{VARIATION SELECTOR-15}\N{VARIATION SELECTOR-16}"
KEYCAP = "\N{COMBINING ENCLOSING KEYCAP}"
JOINER = "\N{ZERO WIDTH JOINER}"


def tokenize(
    text: str, *, fold: bool = True, signs: bool = False, unspaced: bool = False, emoji: bool = False
) -> list[str]:
    """Split a text into words: sequences of letters, digits and marks of any script, in folded case. With `signs`, each
    punctuation mark or symbol is a token, too.

    With `unspaced`, each letter of a script without spaces between words is a token, together with its marks. With
    `emoji`, an emoji is one sign, together with its modifiers and the emoji that are joined to it.

    >>> tokenize("Don't stop, Émile!", signs=True)
    ['don', "'", 't', 'stop', ',', 'émile', '!']
    >>> tokenize("我的iPhone", unspaced=True)
    ['我', '的', 'iphone']
    """
    return [token for token, is_sign in cut(text, fold, unspaced, emoji) if signs or not is_sign]


def cut(text: str, fold: bool, unspaced: bool, emoji: bool) -> list[tuple[str, bool]]:
    """All words and signs, each with whether it is a sign."""
    tokens: list[tuple[str, bool]] = []
    at, inside = 0, False  # of a word
    while at < len(text):
        character, end = text[at], at + 1
        kind = unicodedata.category(character)[0]
        is_sign = kind in "PS" and character != "\N{REPLACEMENT CHARACTER}"
        if unspaced and is_unspaced(character):
            end = end_of_letter(text, at)
            tokens.append((shown(text[at:end], fold), False))
        elif emoji and (is_sign or is_reserved(character, EMOJI) or is_keycap(text, at)):
            end = end_of_emoji(text, at)
            tokens.append((shown("".join(one for one in text[at:end] if one not in SELECTORS), fold), True))
        elif kind in "LNM" and not (emoji and character in SELECTORS):
            before = tokens.pop()[0] if inside else ""
            tokens.append((before + shown(character, fold), False))
            at, inside = end, True
            continue
        elif is_sign:
            tokens.append((shown(character, fold), True))
        at, inside = end, False
    return tokens


def shown(text: str, fold: bool) -> str:
    return "".join(character.casefold() for character in text) if fold else text


EMOJI = (range(0x1F000, 0x1FB00), range(0x1FC00, 0x1FFFE))
IDEOGRAPHS = (range(0x20000, 0x3FFFE),)


def is_reserved(character: str, points: Sequence[range]) -> bool:
    """Whether a character is reserved for a purpose, but not assigned yet."""
    return unicodedata.category(character) == "Cn" and any(ord(character) in some for some in points)


def has_name(character: str, beginnings: Sequence[str]) -> bool:
    name = unicodedata.name(character, "")
    return any(name == beginning or name.startswith((f"{beginning} ", f"{beginning}-")) for beginning in beginnings)


def is_unspaced(character: str) -> bool:
    """Whether it is a letter of a script without spaces between words.

    >>> [character for character in "字かไaé가" if is_unspaced(character)]
    ['字', 'か', 'ไ']
    """
    is_letter = unicodedata.category(character) in ("Lo", "Lm", "Nl")
    return (is_letter and has_name(character, UNSPACED)) or is_reserved(character, IDEOGRAPHS)


def end_of_letter(text: str, at: int) -> int:
    """The end of a letter with its marks, and with the letters that a mark stacks below it."""
    end = at + 1
    while end < len(text):
        is_mark = unicodedata.category(text[end])[0] == "M"
        if not is_mark and not (text[end - 1] in STACKERS and is_unspaced(text[end])):
            break
        end += 1
    return end


def is_keycap(text: str, at: int) -> bool:
    rest = text[at + 1 : at + 3]
    return text[at] in "0123456789" and (rest[:1] == KEYCAP or rest == "\N{VARIATION SELECTOR-16}" + KEYCAP)


def end_of_emoji(text: str, at: int) -> int:
    """The end of a flag of two letters, or of a sign with its modifiers and the signs that are joined to it.

    >>> [end_of_emoji(text, 0) for text in ("🇩🇪🇫🇷", "👍🏽👍", "!!")]
    [2, 2, 1]
    """
    end = at + 1
    flags = [has_name(character, ["REGIONAL INDICATOR"]) for character in text[at : at + 2]]
    if flags == [True, True]:
        end += 1
    while end < len(text):
        if is_modifier(text[end]):
            end += 1
        elif text[end] == JOINER and end + 1 < len(text) and is_symbol(text[end + 1]):
            end += 2
        else:
            break
    return end


def is_modifier(character: str) -> bool:
    """Variation selectors, skin tones, keycaps and tags."""
    names = ["EMOJI MODIFIER FITZPATRICK", "TAG", "CANCEL TAG"]
    return character in SELECTORS + KEYCAP or has_name(character, names)


def is_symbol(character: str) -> bool:
    is_sign = unicodedata.category(character)[0] in "PS" and character != "\N{REPLACEMENT CHARACTER}"
    return is_sign or is_reserved(character, EMOJI)


NEGATIONS = {"cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "nowhere", "without"}
ENDS = set('.,;:!?()[]{}"…—–“”«»。，、；：！？।،؛؟')


def negated(text: str, *, fold: bool = True, unspaced: bool = False, emoji: bool = False) -> list[tuple[str, bool]]:
    """All tokens, each with whether it is negated, that is between a negation and the next punctuation mark.

    >>> [token for token, is_negated in negated("I don't like it. You do!") if is_negated]
    ['like', 'it']
    """
    found, inside = [], False
    tokens = cut(text, fold, unspaced, emoji)
    for i, (token, is_sign) in enumerate(tokens):
        found.append((token, inside and not is_sign))
        if is_sign:
            inside = inside and token not in ENDS
            continue
        plain = ascii_lower(token)
        after = i >= 2 and tokens[i - 1][0] in ("'", "’") and ascii_lower(tokens[i - 2][0]).endswith("n")
        inside = inside or plain in NEGATIONS or (plain == "t" and after)
    return found


def ascii_lower(word: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in word)


def mark_negated(
    text: str, *, fold: bool = True, signs: bool = False, unspaced: bool = False, emoji: bool = False
) -> list[str]:
    """The tokens, with NOT_ before negated ones.

    >>> mark_negated("not very good, but cheap")
    ['not', 'NOT_very', 'NOT_good', 'but', 'cheap']
    """
    found = negated(text, fold=fold, unspaced=unspaced, emoji=emoji)
    is_sign = [one for _, one in cut(text, fold, unspaced, emoji)]
    shown = [(f"NOT_{token}" if inside else token) for token, inside in found]
    return [token for token, is_one in zip(shown, is_sign, strict=True) if signs or not is_one]


def without_capitals(text: str, *, fold: bool = True, unspaced: bool = False, emoji: bool = False) -> list[str]:
    """The words without capital letters.

    >>> without_capitals("Free money, FREE Money")
    ['money']
    """
    words = tokenize(text, fold=False, unspaced=unspaced, emoji=emoji)
    small = [word for word in words if all(letter.lower() == letter for letter in word)]
    return ["".join(letter.casefold() for letter in word) if fold else word for word in small]


def runs(tokens: Sequence[str], shortest: int, longest: int) -> list[str]:
    """The character n-grams of `shortest` to `longest` characters of the tokens, with single spaces around them.

    >>> runs(["a", "bc"], 3, 4)
    [' a ', 'a b', ' bc', 'bc ', ' a b', 'a bc', ' bc ']
    """
    line = f" {' '.join(tokens)} " if tokens else ""
    lengths = range(shortest, longest + 1)
    return [line[i : i + n] for n in lengths for i in range(len(line) - n + 1)]


def parts(text: str, shortest: int, longest: int, **how: bool) -> list[str]:
    """The character n-grams within each word of a text, with the spaces around the word. With `unspaced`, the letters
    of scripts without spaces are words of their own and have no parts.

    >>> parts("Ann, 我", 3, 4, unspaced=True)
    [' an', 'ann', 'nn ', ' ann', 'ann ']
    """
    letters = how.get("unspaced", False)
    words = [word for word in tokenize(text, **how) if not (letters and is_unspaced(word[0]))]
    return [run for word in words for run in runs([word], shortest, longest)]


def ngrams(tokens: Sequence[str], shortest: int, longest: int) -> list[str]:
    """The n-grams of `shortest` to `longest` tokens.

    >>> ngrams(["not", "very", "good"], 1, 2)
    ['not', 'very', 'good', 'not very', 'very good']
    """
    lengths = range(shortest, longest + 1)
    return [" ".join(tokens[i : i + n]) for n in lengths for i in range(len(tokens) - n + 1)]
