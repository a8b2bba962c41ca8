"""The program `markone`, which is also `python -m markone`.

Signals are dealt with before anything else is imported. While nothing is being learned there is nothing to keep, and
files are written whole or not at all. So a signal ends the process at once: an exception could come in the middle of an
import, or be swallowed by a library. While something is learned, `markone.learning.interruption` takes over.
"""

import os
import signal
import sys

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"
"""A bar hides it, and leaves its line behind."""


def leave(number: int, _: object) -> None:
    """Ends the process with a line on standard error."""
    for one in STATUS:
        signal.signal(one, signal.SIG_IGN)
    try:
        start = SHOW_CURSOR if os.isatty(2) else b""
        os.write(2, start + b"markone: interrupted\n")
    except OSError:
        pass
    os._exit(STATUS[signal.Signals(number)])


leave.ends_the_program = True  # type: ignore[attr-defined]


def listen() -> None:
    for number in STATUS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, leave)


listen()


def program() -> int:
    """The exit status of the command that the command line says."""
    from markone.cli import main

    status = main()
    for number in STATUS:  # the command has ended; Python only tidies up
        signal.signal(number, signal.SIG_IGN)
    return status


if __name__ == "__main__":
    sys.exit(program())
