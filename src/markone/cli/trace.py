"""`markone trace`: a run step by step."""

from __future__ import annotations

from markone.cli.options import Flag, Reading, Tracing, WholeNumber, given
from markone.cli.shared_options import HeldFiles, Importance, Memory, Spec, Target, Threads


def trace(
    *data: HeldFiles,
    target: Target = None,
    steps: WholeNumber = 20,
    only_mistakes: Flag = False,
    features: Spec = None,
    importance: Importance = None,
    threads: Threads = None,
    memory: Memory = None,
    json: Flag = False,
    learning: Tracing | None = None,
    reading: Reading | None = None,
) -> None:
    """Show a run step by step: each example, what was said of it, and how that changed the weights.

    The perceptron as on the board: rows in their order, one after the other. Other rules and settings are shown in the
    same way.

    For example:

    `markone trace reviews.csv --target label`

    `markone trace reviews.csv --target label --steps 5 --only-mistakes`

    `markone trace reviews.csv --target label --rule mira --epochs 1 --json`

    Parameters
    ----------
    steps
        How many steps to show.
    only_mistakes
        Show the steps at which a mistake was made, and count only these.
    json
        Print a line of JSON for each step instead.
    """
    from markone.cli.reading import open_rows
    from markone.cli.report import bad_lines, print_json
    from markone.cli.terminal import say
    from markone.theory.tracing import trace as run

    source = open_rows("trace", data, reading, target=target, importance=importance, threads=threads)
    found = run(
        source,
        features=features,
        steps=steps,
        only_mistakes=only_mistakes,
        threads=threads,
        memory=memory,
        **given(learning),
    )
    if json:
        for step in found:
            print_json(step.as_dict())
        return
    say(str(found))
    bad_lines(source.bad)
