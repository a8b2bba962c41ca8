"""Strings and lists as C writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markone.exporting.parts import ExportError

LONGEST_STRING = 4000
"""C99 promises no longer strings than 4,095 characters."""
HARMLESS = re.compile(r"[a-zA-Z0-9 _-]{0,100}")


def c_string(text: str) -> str:
    """Return a string of C. Every character that could end it, or mean something to C, is written as a number.

    >>> print(c_string('a"b*/ ??/ é'))
    "a\\042b\\052\\057 \\077\\077\\057 \\303\\251"
    """
    if HARMLESS.fullmatch(text):  # as most words are
        return f'"{text}"'
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise ExportError(text, "contains half of a surrogate pair, which is no text in C") from None
    if b"\0" in data:
        raise ExportError(text, "contains a character 0, which ends a text in C")
    if len(data) > LONGEST_STRING:
        raise ExportError(text[:50] + "…", f"is longer than {LONGEST_STRING} bytes, which C may not read")
    safe = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:;=<>()[]'+%&!"
    return '"' + "".join(chr(byte) if byte in safe else f"\\{byte:03o}" for byte in data) + '"'


def lines(items: Sequence[str]) -> str:
    """Return the items of an initialiser, in lines that a person can read."""
    made, line = [], ""
    for item in items:
        if len(line) + len(item) > 112 and line:
            made.append(line)
            line = ""
        line += item + ", "
    return "\n    ".join([*made, line]).rstrip()
