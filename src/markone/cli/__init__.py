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
    """Run the command in `arguments`, by default those of the process, and return the exit status.

    The status is 0 for success, and 2 for a mistake of the user, which a line on standard error explains. Ctrl-C gives
    130, SIGTERM 143 and a closed pipe 141, as in a shell. Any other exception is a bug in Markone: Python shows it and
    exits with status 1.
    """
    # NumPy starts threads for matrix products as soon as it is imported, and the commands do not need them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a character that the terminal cannot show must not stop the work
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
        error.add_note("This is a bug in Markone. Please report it with the lines above and the command that you ran.")
        raise
    return DONE


def open_missing_streams() -> None:
    """Discard what is written to standard output or standard error if the user has closed them."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it stays open until the process ends


def as_error(warning: Warning | str) -> Exception:
    """Return a warning as an exception, so that it is printed like an error."""
    return warning if isinstance(warning, MarkoneWarning) else MarkoneError(str(warning))


@contextmanager
def terminating() -> Iterator[None]:
    """Turn SIGTERM into an exception, so that files are not left incomplete, unless SIGTERM already has a handler."""

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
    """Print an error on standard error, with settings named as options of the command."""
    from markone.cli.messages import sentence, tell

    tell(sentence(error, command))


def tell_interruption(interruption: KeyboardInterrupt) -> int:
    """Say on standard error that the run was interrupted, unless this was already said, and return the exit status."""
    from markone.cli.messages import tell
    from markone.learning.interruption import end_quietly

    end_quietly()
    if not getattr(interruption, "told", False):
        tell("interrupted")
    return TERMINATED if isinstance(interruption, Terminated) else INTERRUPTED


def give_up_standard_output() -> None:
    """Discard further output. Python flushes standard output when it exits, and this must not fail."""
    with suppress(OSError, ValueError):  # standard output may not be a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
