"""`markone trace`: shows a training step by step."""

from __future__ import annotations

from markone.cli.options import Flag, Reading, Tracing, WholeNumber, given, words_in
from markone.cli.shared_options import Classes, HeldFiles, Importance, Memory, Positive, Spec, Target, Threads


def trace(
    *data: HeldFiles,
    target: Target = None,
    positive: Positive = None,
    classes: Classes = None,
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
    """Show a training step by step: each example, its prediction, and the change of the weights.

    By default this is the textbook perceptron, which visits the rows in their order. Other rules and settings can be
    shown in the same way.

    For example:

    `markone trace reviews.csv --target label`

    `markone trace reviews.csv --target label --steps 5 --only-mistakes`

    `markone trace reviews.csv --target label --rule mira --epochs 1 --json`

    `markone trace reviews.csv --target label --start weights.json`

    Parameters
    ----------
    steps
        The number of steps to show.
    only_mistakes
        Show only the steps with a mistake; --steps then counts only these.
    json
        Print a JSON object for each step, one per line, instead of the report.
    """
    from markone.cli.reading import open_rows
    from markone.cli.report import bad_lines, print_json
    from markone.cli.terminal import say
    from markone.theory.tracing import trace as run

    source = open_rows("trace", data, reading, target=target, importance=importance, threads=threads)
    steps_shown = run(
        source,
        features=features,
        positive=positive,
        classes=None if classes is None else words_in(classes),
        steps=steps,
        only_mistakes=only_mistakes,
        threads=threads,
        memory=memory,
        **given(learning),
    )
    if json:
        for step in steps_shown:
            print_json(step.as_dict())
        return
    say(str(steps_shown))
    bad_lines(source.bad)
