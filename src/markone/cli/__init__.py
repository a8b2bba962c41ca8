"""The command line: one file per command, each a call of the library with the library's names. What is heavy is
imported by the command that needs it, so that `markone --version` and `--help` are quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from markone import __version__
from markone.errors import MarkoneError, did_you_mean

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError

__all__ = ["main"]

DONE, USERS_MISTAKE, INTERRUPTED, PIPE_CLOSED = 0, 2, 130, 141
VERSION = f"markone {__version__}"
HELP = """Linear models from labelled examples: fast, exact, and the same bit for bit each time.

Start with `markone demo`, then ask it how it is used: `markone demo --help`.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the command line, or `arguments` in its place, says; the exit status.

    0 done, 2 the user's mistake, told in a line on standard error; Ctrl-C gives 130 and a reader who has gone 141, as
    in a shell. Any other exception is a defect of ours, which Python shows before it ends with 1.
    """
    try:
        run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except MarkoneError as error:
        print(f"markone: {error}", file=sys.stderr)
        return USERS_MISTAKE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes standard output once more when it ends, and must not fail then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:
        error.add_note("This is a defect of Markone. Please report it, with the lines above and what you did.")
        raise
    return DONE


def run(arguments: list[str]) -> None:
    if arguments == ["--version"]:
        print(VERSION)
        return
    from cyclopts import CycloptsError

    app = make_app()
    try:
        command, bound, _ = app.parse_args(arguments, print_error=False, exit_on_error=False)
    except CycloptsError as error:
        raise UsageError(explain(error, arguments)) from None
    command(*bound.args, **bound.kwargs)


class UsageError(MarkoneError):
    """A command or an option that does not exist, or a value that does not fit."""


def explain(error: CycloptsError, arguments: list[str]) -> str:
    """Cyclopts' sentence, or a better one."""
    from cyclopts import UnusedCliTokensError

    if isinstance(error, UnusedCliTokensError):
        return f"too many words: {' '.join(error.unused_tokens or [])!r} is left over."
    message = str(error)
    return message if "Did you mean" in message else message + did_you_mean(arguments[0], ("--help", "--version"))


def make_app() -> App:
    """The commands and what they say of themselves."""
    from cyclopts import App

    from markone.cli.demo import demo
    from markone.cli.terminal import Terminal

    app = App(name="markone", help=HELP, version=VERSION, console=Terminal())
    app.command(demo)
    return app
