"""Messages on standard error, and commands and options in the form in which users type them."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from markone.errors import UNSAID, Setting, Told
from markone.reporting.grids import shortened, visible

LONGEST_NAME, LONGEST_LINE = 200, 2000
SIGNS, HARD_TO_TYPE = ("--separator", "--quote"), {"\t": "tab", " ": "space"}
"""Options whose values can be written as words, and the words."""
FILLED_IN = "a,b,c"
"""A placeholder for a list that the user has to write."""


def tell(text: str) -> None:
    """Print a line on standard error.

    It may contain names of any length and any characters, from the user or from a file. If standard error is closed,
    the work must go on.
    """
    with suppress(OSError):
        print(f"markone: {readable(text)}", file=sys.stderr)


def readable(text: str) -> str:
    """Return a text with control characters made visible, and long names shortened in the middle.

    >>> readable("no file a\\x1b")
    'no file a\\\\x1b'
    """
    named = rf"""'[^']{{{LONGEST_NAME},}}'|"[^"]{{{LONGEST_NAME},}}"|\S{{{LONGEST_NAME},}}"""
    lines = (re.sub(named, lambda found: shortened(found[0], LONGEST_NAME), visible(line)) for line in text.split("\n"))
    return "\n".join(shortened(line, LONGEST_LINE) for line in lines)


def typed(*words: object) -> str:
    """Return words as users type them in a shell."""
    return " ".join(quoted(str(word)) for word in words)


def quoted(word: str) -> str:
    """
    >>> quoted("a b"), quoted("a\\x1b'")
    ("'a b'", "$'a\\\\x1b\\\\''")
    """
    if word.isprintable():
        return shlex.quote(word)
    inside = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{visible(inside)}'"


def sentence(error: Exception, command: str | None = None) -> str:
    """Return an error as a line of text, with settings named as options of the command."""
    from markone.cli.app import options_of

    if isinstance(error, OSError):
        what = error.strerror or str(error)
        return what if error.filename is None else f"{error.filename}: {what}"
    return error.in_words(lambda one: as_option(options_of(command), one)) if isinstance(error, Told) else str(error)


def as_option(options: Mapping[str, tuple[str, ...]], setting: Setting) -> str:
    """Return a setting as an option, or as a Python argument if the command has no such option.

    >>> options = {"header": ("--header", "--no-header"), "kinds": ("--kinds",)}
    >>> print(as_option(options, Setting("header", False)), as_option(options, Setting("kinds", {"zip": "text"})))
    --no-header --kinds zip=text
    >>> print(as_option(options, Setting("kinds", key="zip")), as_option(options, Setting("functions", {"f": ...})))
    --kinds zip functions={'f': ...}
    """
    names = options.get(setting.name)
    if names is None:
        return str(setting)
    if setting.value is UNSAID:
        return names[0] if setting.key is None else f"{names[0]} {setting.key}"
    return typed(*option_words(names, setting.value))


def option_words(names: tuple[str, ...], value: Any) -> list[str]:
    """Return the words of an option with this value. The last name of a yes-or-no option means no.

    >>> option_words(("--columns",), ["a", "b"]), option_words(("--quote",), None)
    (['--columns', 'a,b'], ['--quote', 'none'])
    """
    if isinstance(value, bool):
        return [names[0] if value else names[-1]]
    if value == [...]:
        return [names[0], FILLED_IN]
    if isinstance(value, dict):
        value = [f"{name}={one}" for name, one in value.items()]
    if isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    if value is None or value is ...:
        value = "none" if value is None else "..."
    return [names[0], HARD_TO_TYPE.get(value, value) if names[0] in SIGNS else str(value)]
