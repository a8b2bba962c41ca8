"""`markone trace`: a run step by step."""

from __future__ import annotations

from markone.cli.options import FileName, Flag, Reading, Tracing, WholeNumber, given
from markone.errors import DataError


def trace(
    *data: FileName,
    target: str | None = None,
    steps: WholeNumber = 20,
    only_mistakes: Flag = False,
    features: FileName | None = None,
    importance: str | None = None,
    threads: WholeNumber | None = None,
    memory: str | None = None,
    json: Flag = False,
    learning: Tracing | None = None,
    reading: Reading | None = None,
) -> None:
    """Show a run step by step: each example, what was said of it, and how that changed the weights.

    The perceptron as on the board: rows in their order, one after the other. Other rules and settings are shown in the
    same way.

    Examples:

    `markone trace reviews.csv --target label`

    `markone trace reviews.csv --target label --steps 5 --only-mistakes`

    `markone trace reviews.csv --target label --rule mira --epochs 1 --json`

    Parameters
    ----------
    data
        Files of one format, a pattern, a folder, or - for standard input. Their rows are held in memory.
    target
        The column to be predicted. Formats that have labels of their own need none.
    steps
        How many steps to show.
    only_mistakes
        Show the steps at which a mistake was made, and count only these.
    features
        A file of TOML that says what features are made of the columns.
    importance
        A column that says how much each example counts.
    threads
        How many threads make features; as many as there are cores by default. The result is the same.
    memory
        How much memory the rows may need: "2 GB"; half of the machine's by default.
    json
        Print a line of JSON for each step instead.
    """
    from markone.cli.report import bad_lines, print_json
    from markone.cli.terminal import say
    from markone.cli.train import open_source
    from markone.theory.tracing import trace as run

    if not data:
        raise DataError("there are no data to learn from; name a file, as in: markone trace reviews.csv --target label")
    source = open_source(data, None, given(reading), target=target, importance=importance, threads=threads)
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
