"""The commands: their names, the functions that run them, and the parser of their options."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from markone import __version__
from markone.errors import MarkoneError, did_you_mean

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError

VERSION = f"markone {__version__}"
HELP = """Train fast linear models on labelled examples. The same data and seed give the same model, bit for bit.

Start with `markone demo`, or with your own file: `markone train reviews.csv --target label`.
"""
COMMANDS = (
    "inspect",
    "audit",
    "train",
    "predict",
    "evaluate",
    "explain",
    "validate",
    "compare",
    "certify",
    "trace",
    "play",
    "tag train",
    "tag run",
    "tag evaluate",
    "parse train",
    "parse run",
    "parse evaluate",
    "serve",
    "filter",
    "export",
    "lecture",
    "demo",
    "completion",
)
GROUPS = {
    "tag": "Train, use and evaluate taggers, which label words: parts of speech, phrases, names.",
    "parse": "Train, use and evaluate parsers, which find the syntax trees of sentences.",
}
"""The help of commands that consist of two words, by the first word."""
INSTEAD = {
    "fit": "markone train",
    "learn": "markone train",
    "tune": "markone train DATA --tune",
    "test": "markone evaluate",
    "score": "markone evaluate, or markone predict --scores",
    "classify": "markone predict",
}
"""What other programs call commands, with the command that does it here."""
HYPHEN = "\0-"
"""Replaces `-` (standard input), which Cyclopts would read as an option without a name."""


def run(arguments: list[str]) -> None:
    if arguments == ["--version"]:
        print(VERSION)
        return
    if sorted(arguments) == ["--verbose", "--version"]:
        from markone.cli.version import describe

        print(describe())
        return
    from cyclopts import CycloptsError

    name = command_in(arguments)
    app = make_app(only=name)
    wants_help = name is None or not {"--help", "-h"}.isdisjoint(arguments)
    if wants_help:
        from markone.cli.console import Terminal

        app.console = Terminal()
    try:
        tokens = [HYPHEN if argument == "-" else argument for argument in arguments]
        command, bound, _ = app.parse_args(tokens, print_error=False, exit_on_error=False)
    except CycloptsError as error:
        raise UsageError(usage_sentence(error, arguments)) from None
    if not wants_help:
        from markone import _core

        _core.cpu_level()  # rejects a wrong MARKONE_CPU before any work
    command(*map(with_hyphens, bound.args), **with_hyphens(bound.kwargs))


def with_hyphens(value: Any) -> Any:
    """Return the parsed arguments with `-` in place of `HYPHEN`."""
    if isinstance(value, dict):
        return {name: with_hyphens(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(with_hyphens, value))
    return "-" if value == HYPHEN else value


class UsageError(MarkoneError):
    """An unknown command or option, or an invalid value."""


def usage_sentence(error: CycloptsError, arguments: list[str]) -> str:
    """Return the message of Cyclopts, or a clearer one."""
    from cyclopts import UnusedCliTokensError

    if isinstance(error, UnusedCliTokensError):
        return f"too many arguments: {' '.join(error.unused_tokens or [])!r} is not expected here."
    message = " ".join(str(error).replace(HYPHEN, "-").split())
    if missing := re.fullmatch(r'Command "(.+)" parameter ([A-Z]+) requires an argument\.', message):
        return f"markone {missing[1]} needs {missing[2]}; markone {missing[1]} --help has examples."
    if (instead := INSTEAD.get(arguments[0])) and command_in(arguments) is None:
        return f"there is no command {arguments[0]}; see {instead}."
    return message if "Did you mean" in message else message + did_you_mean(arguments[0], ("--help", "--version"))


def command_in(arguments: list[str]) -> str | None:
    """Return the command that the arguments begin with, or None.

    >>> command_in(["train", "a.csv"]), command_in(["tag", "run", "en.tagger"]), command_in(["tag"])
    ('train', 'tag run', None)
    """
    return next((name for name in COMMANDS if name.split() == arguments[: len(name.split())]), None)


def function_of(name: str) -> Callable[..., None]:
    """Return the function of a command: for `tag run`, the function `run` in `cli/tag.py`."""
    file, _, word = name.partition(" ")
    function: Callable[..., None] = getattr(importlib.import_module(f"markone.cli.{file}"), word or file)
    return function


@cache
def options_of(command: str | None) -> dict[str, tuple[str, ...]]:
    """Return the option names of each setting of a command, such as `--header` and then `--no-header`."""
    if command is None:
        return {}
    arguments = command_named(command, make_app(only=command)).assemble_argument_collection(parse_docstring=False)
    named = {argument.field_info.name: argument.names for argument in arguments}
    return {name: names for name, names in named.items() if names[0].startswith("--")}


def command_named(name: str, app: App) -> App:
    for word in name.split():
        app = app[word]
    return app


def make_app(only: str | None = None) -> App:
    """Return the application with all commands, or with `only` one of them."""
    from cyclopts import App

    app = App(name="markone", help=HELP, version=VERSION)
    for place, name in enumerate(COMMANDS):
        if only not in (None, name):
            continue
        group, _, word = name.rpartition(" ")
        if group and group not in app:
            app.command(App(name=group, help=GROUPS[group], version_flags=(), sort_key=place))
        (app[group] if group else app).command(function_of(name), name=word, sort_key=place)
    return app
