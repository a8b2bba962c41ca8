"""The command line: one file per command, and each command calls the library with the library's names. A command
imports large libraries only when it needs them, so that `markone --version` and `--help` are fast.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from markone import __version__
from markone.errors import MarkoneError, did_you_mean

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError

__all__ = ["main"]

DONE, USERS_MISTAKE, INTERRUPTED, PIPE_CLOSED, TERMINATED = 0, 2, 130, 141, 143
VERSION = f"markone {__version__}"
HELP = """Linear models from labelled examples: fast, exact, and the same bit for bit each time.

Start with `markone demo`, or with a file of your own: `markone train reviews.csv --target label`.
"""
COMMANDS = (
    "train",
    "predict",
    "evaluate",
    "explain",
    "validate",
    "compare",
    "certify",
    "trace",
    "tag train",
    "tag run",
    "tag evaluate",
    "parse train",
    "parse run",
    "parse evaluate",
    "demo",
    "completion",
)
GROUPS = {
    "tag": "Learn to tag words, tag them, and measure how well: parts of speech, phrases, names.",
    "parse": "Learn to parse sentences, parse them, and measure how well.",
}
"""Commands of two words, by their first."""
HYPHEN = "\0-"
"""Stands for `-`, standard input, which Cyclopts takes for an option that has lost its name."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the command line, or `arguments` in its place, says; the exit status.

    0 done, 2 the user's mistake, told in a line on standard error; Ctrl-C gives 130, SIGTERM 143 and a reader who has
    gone 141, as in a shell. Any other exception is a defect of ours, which Python shows before it ends with 1.
    """
    # NumPy starts threads for matrices as soon as it is imported. Nothing here multiplies matrices by it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show must not end the work
            stream.reconfigure(errors="backslashreplace")
    try:
        with terminating(), warnings.catch_warnings():
            warnings.showwarning = show_warning
            run(list(sys.argv[1:] if arguments is None else arguments))
            sys.stdout.flush()
    except MarkoneError as error:
        complain(error)
        return USERS_MISTAKE
    except KeyboardInterrupt as interruption:
        return tell_interruption(interruption)
    except BrokenPipeError:
        give_up_standard_output()
        return PIPE_CLOSED
    except OSError as error:
        complain(error)
        give_up_standard_output()
        return USERS_MISTAKE
    except Exception as error:
        error.add_note("This is a defect of Markone. Please report it, with the lines above and what you did.")
        raise
    return DONE


def open_missing_streams() -> None:
    """Who closes standard output or standard error does not want to see it, and that is all."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it is open to the end


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as a sentence."""
    complain(MarkoneError(str(message)))


@contextmanager
def terminating() -> Iterator[None]:
    """Makes SIGTERM an exception, so that nothing is left half done; unless somebody else has seen to it."""
    from markone.learning.interruption import Terminated

    def terminate(*_: object) -> None:
        raise Terminated

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def complain(error: Exception) -> None:
    from markone.cli.messages import sentence, tell

    tell(sentence(error))


def tell_interruption(interruption: KeyboardInterrupt) -> int:
    """A line on standard error, unless there was one already; the exit status."""
    from markone.cli.messages import tell
    from markone.learning.interruption import Terminated, end_quietly

    end_quietly()
    if not getattr(interruption, "told", False):
        tell("interrupted")
    return TERMINATED if isinstance(interruption, Terminated) else INTERRUPTED


def give_up_standard_output() -> None:
    """Python flushes standard output once more when it ends, and must not fail then."""
    with suppress(OSError, ValueError):  # it may be no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(arguments: list[str]) -> None:
    if arguments == ["--version"]:
        print(VERSION)
        return
    from cyclopts import CycloptsError

    name = command_in(arguments)
    app = make_app(only=name)
    if name is None or {"--help", "-h"} & set(arguments):
        from markone.cli.terminal import Terminal

        app.console = Terminal()
    try:
        tokens = [HYPHEN if argument == "-" else argument for argument in arguments]
        command, bound, _ = app.parse_args(tokens, print_error=False, exit_on_error=False)
    except CycloptsError as error:
        raise UsageError(usage_sentence(error, arguments)) from None
    command(*map(with_hyphens, bound.args), **with_hyphens(bound.kwargs))


def with_hyphens(value: Any) -> Any:
    """What was read, in which `-` is `-` again."""
    if isinstance(value, dict):
        return {name: with_hyphens(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(with_hyphens, value))
    return "-" if value == HYPHEN else value


class UsageError(MarkoneError):
    """A command or an option that does not exist, or a value that does not fit."""


def usage_sentence(error: CycloptsError, arguments: list[str]) -> str:
    """Cyclopts' sentence, or a better one."""
    from cyclopts import UnusedCliTokensError

    if isinstance(error, UnusedCliTokensError):
        return f"too many words: {' '.join(error.unused_tokens or [])!r} is left over."
    message = " ".join(str(error).replace(HYPHEN, "-").split())
    return message if "Did you mean" in message else message + did_you_mean(arguments[0], ("--help", "--version"))


def command_in(arguments: list[str]) -> str | None:
    """The command that the arguments begin with, if they do.

    >>> command_in(["train", "a.csv"]), command_in(["tag", "run", "en.tagger"]), command_in(["tag"])
    ('train', 'tag run', None)
    """
    return next((name for name in COMMANDS if name.split() == arguments[: len(name.split())]), None)


def function_of(name: str) -> Callable[..., None]:
    """What a command does: `tag run` is the function `run` in the file of `tag`."""
    file, _, word = name.partition(" ")
    found: Callable[..., None] = getattr(importlib.import_module(f"markone.cli.{file}"), word or file)
    return found


def make_app(only: str | None = None) -> App:
    """The commands and what they say of themselves, or just one of them."""
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
