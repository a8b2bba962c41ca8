"""Writes unicode_tables.h from Python's own tables: which characters make words, which of them belong to scripts that
have no spaces between words, which make emoji, and what each is in folded case.

python core/text/make_unicode.py > core/text/unicode_tables.h
"""

import sys
import unicodedata
from collections.abc import Callable, Container, Iterator
from itertools import groupby

POINTS = range(sys.maxunicode + 1)
UNSPACED = (
    *("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HENTAIGANA"),
    *("HALFWIDTH KATAKANA", "VERTICAL KANA", "BOPOMOFO", "THAI", "LAO", "KHMER", "MYANMAR"),
    *("TAI LE", "NEW TAI LUE", "TAI THAM", "TAI VIET", "AHOM"),
)
"""The names of letters of scripts without spaces begin with these words."""
STACKERS = ("MYANMAR SIGN VIRAMA", "KHMER SIGN COENG", "TAI THAM SIGN SAKOT")
"""Marks that put the next letter below the one before."""
IDEOGRAPHS = range(0x20000, 0x3FFFE)
PICTOGRAPHS = (*range(0x1F000, 0x1FB00), *range(0x1FC00, 0x1FFFE))
"""The Unicode standard keeps these for ideographs and for emoji, also those that are not assigned yet."""
MODIFIERS = ("VARIATION SELECTOR-15", "VARIATION SELECTOR-16", "COMBINING ENCLOSING KEYCAP")


def ranges(holds: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    for inside, run in groupby(POINTS, key=lambda point: holds(chr(point))):
        points = list(run)
        if inside:
            yield points[0], points[-1]


def category(character: str) -> str:
    return unicodedata.category(character)[0]


def is_named(character: str, beginnings: tuple[str, ...]) -> bool:
    name = unicodedata.name(character, "")
    return any(name == beginning or name.startswith((f"{beginning} ", f"{beginning}-")) for beginning in beginnings)


def is_to_come(character: str, points: Container[int]) -> bool:
    return unicodedata.category(character) == "Cn" and ord(character) in points


def is_unspaced(character: str) -> bool:
    letter = unicodedata.category(character) in ("Lo", "Lm", "Nl") and is_named(character, UNSPACED)
    return letter or is_to_come(character, IDEOGRAPHS)


def is_modifier(character: str) -> bool:
    tag = is_named(character, ("TAG", "CANCEL TAG"))
    return tag or is_named(character, ("EMOJI MODIFIER FITZPATRICK", *MODIFIERS))


def table(name: str, kind: str, rows: Iterator[tuple[int, ...]]) -> str:
    cells = [f"{{{', '.join(f'0x{point:x}' for point in row)}}}" for row in rows]
    lines, line = [], "   "
    for cell in cells:
        if len(line) + len(cell) > 117:
            lines.append(line)
            line = "   "
        line += f" {cell},"
    return "\n".join([f"inline constexpr {kind} {name}[] = {{", *lines, line, "};"])


def main() -> None:
    folded = ((point, *map(ord, chr(point).casefold())) for point in POINTS if chr(point).casefold() != chr(point))
    print("// Made by make_unicode.py from Unicode " + unicodedata.unidata_version + "; not to be edited.")
    print("// clang-format off\n#pragma once\n\n#include <cstdint>\n\nnamespace markone::unicode {\n")
    print("struct range {\n    std::uint32_t first, last;\n};\n")
    print("// A character, and the one to three that stand for it in folded case.")
    print("struct folding {\n    std::uint32_t from, to[3];\n};\n")
    print(f'inline constexpr char version[] = "{unicodedata.unidata_version}";\n')
    print("// Letters, digits and marks.")
    print(table("words", "range", ranges(lambda c: category(c) in "LNM")), end="\n\n")
    print("// Punctuation and symbols.")
    print(table("signs", "range", ranges(lambda c: category(c) in "PS")), end="\n\n")
    print("// Letters that have a lower case other than themselves.")
    print(table("capitals", "range", ranges(lambda c: c.lower() != c)), end="\n\n")
    print("// Letters of scripts without spaces between words, also those that are not assigned yet.")
    print(table("unspaced", "range", ranges(is_unspaced)), end="\n\n")
    print("// Marks, which belong to the letter before them.")
    print(table("marks", "range", ranges(lambda c: category(c) == "M")), end="\n\n")
    print("// Marks after which the next letter belongs to the same character of an unspaced script.")
    print(table("stackers", "range", ranges(lambda c: is_named(c, STACKERS))), end="\n\n")
    print("// Characters that change the emoji before them: variation selectors, skin tones, keycaps and tags.")
    print(table("modifiers", "range", ranges(is_modifier)), end="\n\n")
    print("// Letters of flags, which come in pairs.")
    print(table("flags", "range", ranges(lambda c: is_named(c, ("REGIONAL INDICATOR",)))), end="\n\n")
    print("// Characters that are kept for emoji, but not assigned yet.")
    print(table("emoji_to_come", "range", ranges(lambda c: is_to_come(c, PICTOGRAPHS))), end="\n\n")
    rows = (f"{{0x{row[0]:x}, {{{', '.join(f'0x{point:x}' for point in row[1:])}}}}}" for row in folded)
    print("inline constexpr folding foldings[] = {")
    line = "   "
    for cell in rows:
        if len(line) + len(cell) > 117:
            print(line)
            line = "   "
        line += f" {cell},"
    print(line)
    print("};\n\n}  // namespace markone::unicode")


main()
