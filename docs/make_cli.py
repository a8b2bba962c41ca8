"""Writes cli.md, the reference of the command line, from the help texts of the program."""

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

*`docs/make_cli.py` generates this page from the help texts of the program.*

{help}
| command | what it does |
| --- | --- |
{commands}

Each command calls a function of the library, and its options have the names of the function's parameters:
`--skip-bad` is `skip_bad=True`. `markone --help` and `markone COMMAND --help` show the texts of this page. Options can
come before or after other arguments, as `--epochs 5` or `--epochs=5`.

`markone --version` shows the version. `markone --version --verbose` also shows the versions of Python, NumPy and the
compiler, the kinds of processors that the core was compiled for, and the kind that is used. The environment variable
`MARKONE_CPU` can choose another kind.

Results are written to standard output. Messages are written to standard error: progress if it is a terminal, skipped
lines, and errors.

| exit status | means |
| --- | --- |
| 0 | success |
| 1 | a bug in Markone |
| 2 | an error in the command or in the data; a line on standard error explains it |
| 130, 143 | interrupted by Ctrl-C, by SIGTERM |
| 141 | the reader of the output has closed the pipe, as in `markone predict reviews.model new.csv \\| head` |
"""
SHARED = {
    "Reading": """\
## Options for reading

All commands that read data have these options. [Reading data](reading-data.md) explains them with examples. `predict`,
`evaluate` and `explain` read a file in the same way as the training data of the model, so most options need not be
repeated.
""",
    "Learning": """\
## Options for learning

The commands that train a model have these options, which are the [settings](api.md) of the library. The defaults here
are those of `markone train`. The defaults of `markone trace` are the rule `perceptron` and the order `given`, and it
has neither `--holdout` nor `--patience`. `markone validate` holds out training rows only for `--patience`.
""",
    "Reading sentences": """\
## Options for reading sentences

`markone tag` and `markone parse` have these options for reading sentences.
""",
}
"""Groups of options that several commands share, and that are described once."""


def page() -> str:
    """Return the text of the page."""
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
            yield f"The command also has the [options for {name}](#options-for-{name.replace(' ', '-')}).\n"
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
    """Return a line of a table for an argument or an option."""
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
    """Return a word for the value of an option, or an empty text if it has no value."""
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
    """Return the text with options as code, if they are not code already."""
    pieces = re.split(r"(`[^`]*`)", text)
    pieces[::2] = [re.sub(r"(?<![\w-])(--?[a-zA-Z][\w-]*)", r"`\1`", piece) for piece in pieces[::2]]
    return "".join(pieces)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
