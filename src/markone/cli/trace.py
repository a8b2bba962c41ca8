"""`markone trace`: shows a training step by step."""

from __future__ import annotations

from markone.cli.options import Flag, Reading, Tracing, WholeNumber, given, pairs_in, words_in
from markone.cli.shared_options import (
    Classes,
    HeldFiles,
    Importance,
    Memory,
    Plot,
    Positive,
    Scaled,
    Spec,
    Target,
    Threads,
)


def trace(
    *data: HeldFiles,
    target: Target = None,
    positive: Positive = None,
    classes: Classes = None,
    steps: WholeNumber = 20,
    only_mistakes: Flag = False,
    theory: Flag = False,
    reference: str | None = None,
    features: Spec = None,
    scaled: Scaled = False,
    importance: Importance = None,
    threads: Threads = None,
    memory: Memory = None,
    plot: Plot = None,
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

    `markone trace reviews.csv --target label --plot steps.gif`

    `markone trace reviews.csv --target label --start weights.json`

    `markone trace reviews.csv --target label --theory --steps 100`

    Parameters
    ----------
    steps
        The number of steps to show.
    only_mistakes
        Show only the steps with a mistake; --steps then counts only these.
    theory
        Show instead a table of the numbers behind the mistake bound: the margin of the example before and after each
        mistake, and how the weights w approach a plane w* that separates the classes. --steps then counts mistakes.
        This needs a perceptron and two classes.
    reference
        The plane w* for --theory, positive for the second class, such as a=1,b=1,BIAS=-1.5. By default, it is a plane
        with the best margin.
    json
        Print a JSON object for each step, one per line, instead of the report.
    """
    from markone.cli.pictures import check_picture, of_invariants, save_picture, save_trace
    from markone.cli.reading import open_rows
    from markone.cli.report import bad_lines, print_json
    from markone.cli.terminal import say
    from markone.theory.tracing import trace as run

    by_theory = theory or reference is not None
    check_picture(plot, *data, features, moves=not by_theory)
    source = open_rows("trace", data, reading, target=target, importance=importance, threads=threads)
    steps_shown = run(
        source,
        features=features,
        positive=positive,
        classes=None if classes is None else words_in(classes),
        steps=steps,
        only_mistakes=only_mistakes or by_theory,
        scaled=scaled,
        threads=threads,
        memory=memory,
        **given(learning),
    )
    if by_theory:
        found = steps_shown.invariants(None if reference is None else weights_in(reference))
        save_picture(plot, lambda: of_invariants(found), f"A run on {source.name}")
        if json:
            print_json({**found.as_dict(), "stopped": steps_shown.stopped})
        else:
            say(f"{found}\n\n{steps_shown.summary()}")
            bad_lines(source.bad)
        return
    save_trace(plot, steps_shown, f"A run on {source.name}")
    if json:
        for step in steps_shown:
            print_json(step.as_dict())
        return
    say(str(steps_shown))
    bad_lines(source.bad)


def weights_in(text: str) -> dict[str, float]:
    """
    >>> weights_in("a=1,b=1,BIAS=-1.5")
    {'a': 1.0, 'b': 1.0, 'BIAS': -1.5}
    """
    from markone.errors import SettingsError

    try:
        return {name: float(weight) for name, weight in pairs_in([text]).items()}
    except ValueError:
        raise SettingsError(
            "reference", f"must be weights by feature, such as a=1,b=1,BIAS=-1.5, not {text!r}"
        ) from None
