"""`markone evaluate`: what a model gets right and wrong."""

from __future__ import annotations

from textwrap import fill

from markone.cli.options import FileName, Flag, Reading, WholeNumber, given


def evaluate(
    model: FileName,
    data: FileName,
    /,
    *,
    target: str | None = None,
    margins: Flag = False,
    json: Flag = False,
    threads: WholeNumber | None = None,
    quiet: Flag = False,
    reading: Reading | None = None,
) -> None:
    """Measure a model on labelled examples.

    Accuracy, that of always saying the commonest class, and for each class precision, recall and F1; which classes were
    taken for which; and the log-loss of models that have probabilities.

    Examples:

    `markone evaluate reviews.model test.csv`

    `markone evaluate reviews.model test.csv --target label --json`

    `markone evaluate reviews.model test.csv --margins`

    Parameters
    ----------
    model
        The file of the model.
    data
        A file, a pattern, a folder, or - for standard input.
    target
        The column with the labels; named as in training by default.
    margins
        Show how far examples are from the plane between the classes, as histograms by the averaged and by the last
        weights; and whether any plane separates them. The rows are held in memory.
    json
        Print one JSON object instead of the tables.
    threads
        How many threads read and predict; as many as there are cores by default.
    quiet
        No progress.
    """
    from markone.cli.models import check_kind
    from markone.cli.progress import watched
    from markone.cli.reading import open_data
    from markone.cli.report import bad_lines, print_json
    from markone.cli.terminal import say
    from markone.model.model import load

    check_kind(model, "classifier", "measure", data)
    predictor = load(model)
    source = open_data(data, predictor, given(reading), target=target, with_labels=True, threads=threads)
    with watched(source, quiet=quiet) as seen:
        evaluation = predictor.evaluate(seen, threads=threads)
    measured, theory = None, ""
    if margins:
        from markone.learning.samples import open_sample
        from markone.theory.advice import line_from_theory
        from markone.theory.margins import margins as measure

        measured = measure(predictor, source, threads=threads)
        sample = open_sample(source, None, threads, None)
        theory = line_from_theory(sample, predictor.features, bias=predictor.settings.bias)
    if json:
        more = {} if measured is None else {"margins": measured.as_dict(), "theory": theory}
        print_json({**evaluation.as_dict(), **more, "bad_lines": source.bad.count})
        return
    say(str(evaluation))
    if measured is not None:
        say(f"\n{measured}\n\n{fill(theory, 80)}")
    if source.bad.count:
        bad_lines(source.bad)
