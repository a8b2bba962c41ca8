"""Writes cli.md, the reference of the command line, from what the program says of itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from markone.cli.app import COMMANDS, HELP, command_named, make_app

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import Argument

PAGE = Path(__file__).with_name("cli.md")
INTRODUCTION = """\
# The command line

*This page is made by `docs/make_cli.py` from the program itself.*

{help}
| command | what it does |
| --- | --- |
{commands}

Each is a call of the library with the library's names: `--skip-bad` is `skip_bad=True`. `markone --help` and
`markone COMMAND --help` say what stands here, `markone --version` which version it is. `markone --version --verbose`
adds the versions of Python, NumPy and the compiler, the kinds of processors that the core was compiled for, and the
one that is used; the variable `MARKONE_CPU` may name another of them. Options may stand anywhere, and be written
`--epochs 5` or `--epochs=5`.

Results go to standard output, and what is to be said about them to standard error: progress where that is a terminal,
bad lines that were passed over, and mistakes, each in a sentence.

| exit status | means |
| --- | --- |
| 0 | done |
| 1 | a defect of Markone |
| 2 | a mistake in what was asked or given; a line on standard error says which |
| 130, 143 | interrupted by Ctrl-C, by SIGTERM |
| 141 | whoever read the output has gone, as in `markone predict reviews.model new.csv \\| head` |
"""
SHARED = {
    "Reading": """\
## Options for reading

These say how data are read, for all commands that have data. [Reading data](reading-data.md) explains them by examples.
`predict`, `evaluate` and `explain` read a file as those were read that the model was trained on, so that most need not
be said again.
""",
    "Learning": """\
## Options for learning

These say how a rule learns, for the commands that learn by one. The [settings](api.md) are those of the library.
Defaults are those of `markone train`. `markone trace` has the perceptron and the order `given` instead, and neither
`--holdout` nor `--patience`; `markone validate` holds rows out only for `--patience`.
""",
    "Reading sentences": """\
## Options for reading sentences

These say how sentences are read by `markone tag` and `markone parse`.
""",
}
"""Groups of options that several commands have, and which are described once."""


def page() -> str:
    """The whole reference."""
    app = make_app()
    commands = "\n".join(
        f"| [`{name}`](#markone-{name.replace(' ', '-')}) | {first_line(command_named(name, app))} |"
        for name in COMMANDS
    )
    parts = [INTRODUCTION.format(help=HELP, commands=commands)]
    shared: dict[str, list[str]] = {}
    for name in COMMANDS:
        parts.append("\n".join(describe(name, command_named(name, app), shared)))
    for group, rows in shared.items():
        parts.append("\n".join([SHARED[group], *table(rows)]))
    return "\n".join(parts)


def describe(name: str, command: App, shared: dict[str, list[str]]) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for argument in command.assemble_argument_collection(parse_docstring=True):
        if argument.show:
            group: Any = argument.parameter.group
            groups.setdefault(group[0].name, []).append(row(argument))
    yield f"## `markone {name}`\n"
    yield f"{in_markdown(without_parameters(command))}\n"
    for group, rows in groups.items():
        if group in SHARED:
            shared.setdefault(group, rows)
            name = group.lower()
            yield f"Also the [options for {name}](#options-for-{name.replace(' ', '-')}).\n"
        elif group == "Arguments":
            yield from table(rows, "argument")
        else:
            yield from table(rows)


def first_line(command: App) -> str:
    return without_parameters(command).partition("\n")[0].rstrip(".")


def without_parameters(command: App) -> str:
    return inspect.cleandoc(command.help).partition("\nParameters\n---")[0].rstrip()


def table(rows: list[str], title: str = "option") -> list[str]:
    return [f"| {title} | meaning |", "| --- | --- |", *rows, ""]


def row(argument: Argument) -> str:
    """A line of a table for an argument or an option."""
    choices = argument.get_choices() or ()
    names = [f"`{name}{value(argument) if name.startswith('--') else ''}`" for name in argument.names]
    meaning = " ".join((argument.parameter.help or "").split())
    usual = argument.field_info.default
    if argument.parameter.show_default is not False and usual not in (None, inspect.Parameter.empty):
        meaning += f" [default: {usual}]"
    if not all(f"`{choice}`" in meaning for choice in choices):
        meaning += f" [choices: {', '.join(choices)}]"
    return f"| {', '.join(names)} | {in_markdown(meaning)} |"


def value(argument: Argument) -> str:
    """A word for what comes after an option; nothing where nothing does."""
    hint = argument.hint
    kinds = set(get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)) - {type(None)}
    if kinds == {bool}:
        return ""
    if kinds <= {int, float}:
        return " NUMBER"
    if argument.get_choices():
        return " WORD"
    return " FILE" if kinds == {Path} else " TEXT"


def in_markdown(text: str) -> str:
    """The text with options as code, where they are not yet."""
    pieces = re.split(r"(`[^`]*`)", text)
    pieces[::2] = [re.sub(r"(?<![\w-])(--?[a-zA-Z][\w-]*)", r"`\1`", piece) for piece in pieces[::2]]
    return "".join(pieces)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
