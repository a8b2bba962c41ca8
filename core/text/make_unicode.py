"""Writes unicode_tables.h from Python's own tables: which characters make words, and what each is in folded case.

python core/text/make_unicode.py > core/text/unicode_tables.h
"""

import sys
import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby

POINTS = range(sys.maxunicode + 1)


def ranges(holds: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    for inside, run in groupby(POINTS, key=lambda point: holds(chr(point))):
        points = list(run)
        if inside:
            yield points[0], points[-1]


def category(character: str) -> str:
    return unicodedata.category(character)[0]


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
