"""`markone play`: opens the playground, a page that shows how the rules learn."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Reading, WholeNumber
from markone.cli.shared_options import FILES, Memory, Target, Threads


def play(
    *data: Annotated[FileName, Parameter(help=f"{FILES} Without a file, the page starts with examples of its own.")],
    target: Target = None,
    port: WholeNumber = 0,
    no_browser: Flag = False,
    threads: Threads = None,
    memory: Memory = None,
    reading: Reading | None = None,
) -> None:
    """Open the playground: a page on which one can watch a rule learn, step by step.

    The page shows points in the plane, or texts with the weights of their words. It can rewind, it compares the
    mistakes with their bound, and it proves whether the classes are separable. With a file, the page shows its rows by
    two features or two principal components, and Markone's core makes the runs. Of a large file it shows a random
    sample. The server can only be reached from this machine. Ctrl-C ends it.

    For example:

    `markone play`

    `markone play people.csv --target income`

    `markone play reviews.csv --target label --no-browser`

    Parameters
    ----------
    port
        The port to listen on; 0 for any free port.
    no_browser
        Do not open a browser, only print the address.
    """
    import signal
    import webbrowser

    from markone.cli.reading import open_rows
    from markone.cli.report import bad_lines
    from markone.cli.terminal import say
    from markone.play.server import has_browser, open_playground
    from markone.play.shown import Shown

    shown = None
    if data:
        source = open_rows("play", data, reading, target=target, threads=threads)
        shown = Shown.of(source, threads=threads, memory=memory)
        say(shown.sentence())
        bad_lines(source.bad)
    with open_playground(shown, port) as server:
        print(f"The playground is at {server.address} (Ctrl-C ends it).", flush=True)
        if not no_browser and has_browser():
            webbrowser.open(server.address)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            print()
        finally:
            signal.signal(signal.SIGINT, before)
