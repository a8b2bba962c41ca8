"""The program `markone`, which is also `python -m markone`.

Signal handlers are installed before anything else is imported. Outside of training there is nothing to save, and files
are written completely or not at all. A signal therefore ends the process at once: an exception could interrupt an
import, or a library could swallow it. During training, `markone.learning.interruption` handles signals.
"""

import gc
import os
import signal
import sys

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"
"""A progress bar hides the cursor, and its line has to be deleted."""
OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Imports make many objects that all stay. With Python's usual 700, an eighth of a short command would be spent on
looking for garbage among them."""


def leave(number: int, _: object) -> None:
    """Print a line on standard error and end the process."""
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
    """Run the command line and return its exit status."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    from markone.cli import main

    status = main()
    gc.freeze()  # Python looks for garbage once more when it ends, although the system takes all memory back
    for number in STATUS:  # the command has ended, and Python only cleans up
        signal.signal(number, signal.SIG_IGN)
    return status


if __name__ == "__main__":
    sys.exit(program())
