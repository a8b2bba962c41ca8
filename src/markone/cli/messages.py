"""Sentences about mistakes, in the words of the command line: the library says `skip_bad=True`, we say `--skip-bad`."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from markone.errors import SettingsError
from markone.reporting.grids import shortened, visible

OURS = ("minutes", "top", "output", "probabilities", "row", "word", "text")
"""Options that the library does not have."""
OF_EXPERIMENTS = ("method", "folds", "repeats", "share", "rules")
"""Those that other functions of it have."""
NAMES = {"from_model": "--from"}
"""Those that are called otherwise than in the library."""
NOT_OPTIONS = ("what", "source", "settings", "progress", "callback", "functions")
LONGEST_NAME, LONGEST_LINE = 200, 2000
LITERAL = r"True|False|None|'[^']*'|\"[^\"]*\"|\[\.\.\.\]|\{[^{}]*\}|\.\.\.|[0-9][0-9.]*"


def tell(text: str) -> None:
    """A line on standard error. Names in it, which are the user's or come from a file, may be of any length and hold
    anything; whoever cannot read it must not stop the work."""
    with suppress(OSError):
        print(f"markone: {readable(text)}", file=sys.stderr)


def readable(text: str) -> str:
    """With nothing hidden in it, and long names cut in the middle.

    >>> readable("no file a\\x1b")
    'no file a\\\\x1b'
    """
    named = rf"""'[^']{{{LONGEST_NAME},}}'|"[^"]{{{LONGEST_NAME},}}"|\S{{{LONGEST_NAME},}}"""
    lines = (re.sub(named, lambda found: shortened(found[0], LONGEST_NAME), visible(line)) for line in text.split("\n"))
    return "\n".join(shortened(line, LONGEST_LINE) for line in lines)


def typed(*words: object) -> str:
    """Words as one would type them in a shell."""
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


def sentence(error: Exception) -> str:
    """An error as a line for a user of the command line."""
    if isinstance(error, OSError):
        what = error.strerror or str(error)
        return what if error.filename is None else f"{error.filename}: {what}"
    names = [*option_names(), *options_of_sentences()]
    if isinstance(error, SettingsError):
        name, bracket, column = error.name.partition("[")
        if name in (*names, *OURS, *OF_EXPERIMENTS):
            said = f" {ast.literal_eval(column[:-1])}" if bracket else ""
            return f"{as_option(name)}{said} {with_options(error.problem, names)}"
    return with_options(str(error), names)


def with_options(text: str, names: Sequence[str] | None = None) -> str:
    """What the library says, with its settings as options: those of these names or, by default, of `markone train`.

    >>> with_options("say header=False, or kinds={'zip': 'text'}; skip_bad=True passes over such rows")
    'say --no-header, or --kinds zip=text; --skip-bad passes over such rows'
    """
    names = option_names() if names is None else names
    settings = re.compile(rf"(?<![\w.\-])({'|'.join(map(re.escape, names))})=({LITERAL})")
    text = settings.sub(lambda found: as_said(found[1], found[2]), text)
    longer = [name for name in names if "_" in name]  # which are no words of ours or of the user's
    return re.sub(rf"(?<![\w.\-'\"/])({'|'.join(longer)})(?![\w.'\"/])", lambda found: as_option(found[1]), text)


def as_said(name: str, value: str) -> str:
    """A setting as one would type it."""
    option = as_option(name)
    if value in ("True", "False"):
        return option if value == "True" else option.replace("--", "--no-", 1)
    if value == "None":
        return f"{option} none"
    if value == "[...]":
        return f"{option} a,b,c"
    if value == "...":
        return f"{option} ..."
    try:
        found = ast.literal_eval(value)
    except (ValueError, SyntaxError):  # {'zip': ...}
        return f"{name}={value}"
    if isinstance(found, dict):
        return " ".join(f"{option} {shlex.quote(f'{key}={one}')}" for key, one in found.items())
    return f"{option} {shlex.quote(str(found))}"


def as_option(name: str) -> str:
    return NAMES.get(name, "--" + name.replace("_", "-"))


def option_names() -> list[str]:
    """The names that settings have in the library, and options on the command line."""
    from dataclasses import fields

    from markone.data.read import read
    from markone.learning.training import train
    from markone.model.settings import Settings

    return [*parameters(read), *parameters(train), *(field.name for field in fields(Settings))]


def options_of_sentences() -> list[str]:
    """Those of taggers and parsers."""
    from markone.structured.corpora import open_corpus
    from markone.structured.parser import Parser
    from markone.structured.tagger import Tagger

    return [*parameters(open_corpus), *parameters(Tagger.train), *parameters(Parser.train)]


def parameters(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in NOT_OPTIONS]
