"""Sentences about mistakes, in the words of the command line: the library says `skip_bad=True`, we say `--skip-bad`."""

from __future__ import annotations

import ast
import re
import shlex

from markone.errors import SettingsError

OURS = ("minutes", "top", "output", "probabilities", "row", "text")
"""Options that the library does not have."""
NAMES = {"from_model": "--from"}
"""Those that are called otherwise than in the library."""
LITERAL = r"True|False|None|'[^']*'|\"[^\"]*\"|\[\.\.\.\]|\{[^{}]*\}|\.\.\.|[0-9][0-9.]*"


def sentence(error: Exception) -> str:
    """An error as a line for a user of the command line."""
    if isinstance(error, OSError):
        what = error.strerror or str(error)
        return what if error.filename is None else f"{error.filename}: {what}"
    if isinstance(error, SettingsError):
        name, bracket, column = error.name.partition("[")
        if name in (*option_names(), *OURS):
            said = f" {ast.literal_eval(column[:-1])}" if bracket else ""
            return f"{as_option(name)}{said} {with_options(error.problem)}"
    return with_options(str(error))


def with_options(text: str) -> str:
    """
    >>> with_options("say header=False, or kinds={'zip': 'text'}; skip_bad=True passes over such rows")
    'say --no-header, or --kinds zip=text; --skip-bad passes over such rows'
    """
    names = option_names()
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
    from inspect import signature

    from markone.data.read import read
    from markone.learning.training import train
    from markone.model.settings import Settings

    parameters = [*signature(read).parameters, *signature(train).parameters]
    names = [*parameters, *(field.name for field in fields(Settings))]
    return [name for name in dict.fromkeys(names) if name not in ("what", "source", "settings", "progress", "callback")]
