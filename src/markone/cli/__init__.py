"""The command line: one file per command, and each command calls the library with the library's names. A command
imports large libraries only when it needs them, so that `markone --version` and `--help` are fast.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from markone.cli.app import command_in, run
from markone.errors import MarkoneError, MarkoneWarning, Terminated

__all__ = ["main"]

DONE, USERS_MISTAKE, INTERRUPTED, PIPE_CLOSED, TERMINATED = 0, 2, 130, 141, 143


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
    words = list(sys.argv[1:] if arguments is None else arguments)
    complain = partial(tell_error, command_in(words))
    try:
        with terminating(), warnings.catch_warnings():
            warnings.showwarning = lambda warning, *_, **__: complain(as_error(warning))
            run(words)
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


def as_error(warning: Warning | str) -> Exception:
    """What was warned of, to be told like an error."""
    return warning if isinstance(warning, MarkoneWarning) else MarkoneError(str(warning))


@contextmanager
def terminating() -> Iterator[None]:
    """Makes SIGTERM an exception, so that nothing is left half done; unless somebody else has seen to it."""

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


def tell_error(command: str | None, error: Exception) -> None:
    """A line on standard error, in which settings are called as the options of the command."""
    from markone.cli.messages import sentence, tell

    tell(sentence(error, command))


def tell_interruption(interruption: KeyboardInterrupt) -> int:
    """A line on standard error, unless there was one already; the exit status."""
    from markone.cli.messages import tell
    from markone.learning.interruption import end_quietly

    end_quietly()
    if not getattr(interruption, "told", False):
        tell("interrupted")
    return TERMINATED if isinstance(interruption, Terminated) else INTERRUPTED


def give_up_standard_output() -> None:
    """Python flushes standard output once more when it ends, and must not fail then."""
    with suppress(OSError, ValueError):  # it may be no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
