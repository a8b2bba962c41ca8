"""`markone evaluate`: measures a model on labelled examples."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from markone.cli.options import Flag, Reading, WholeNumber, given
from markone.cli.shared_options import Cluster, File, Json, ModelFile, NoProgress, Plot, Threads
from markone.errors import SettingsError

if TYPE_CHECKING:
    from markone.data.source import Source
    from markone.model.model import Model


def evaluate(
    model: ModelFile,
    data: File,
    /,
    *,
    target: str | None = None,
    margins: Flag = False,
    errors: WholeNumber | None = None,
    plot: Plot = None,
    json: Json = False,
    threads: Threads = None,
    cluster: Cluster = None,
    quiet: NoProgress = False,
    reading: Reading | None = None,
) -> None:
    """Measure a model on labelled examples.

    The report shows the accuracy, and for comparison the accuracy of always predicting the most frequent class;
    precision, recall and F1 of each class; the confusion matrix; and the log-loss of models that have probabilities.
    For a model of the rule `regression`, it shows R², the mean squared and the mean absolute error with their 95%
    intervals, Spearman's rank correlation, and the range of the errors.

    For example:

    `markone evaluate reviews.model test.csv`

    `markone evaluate reviews.model test.csv --target label --json`

    `markone evaluate reviews.model test.csv --margins`

    `markone evaluate reviews.model test.csv --errors 5`

    `markone evaluate reviews.model test.csv --plot confusion.png`

    Parameters
    ----------
    target
        The column with the labels. The default is the target in training.
    margins
        Also show histograms of the distances of the examples from the decision boundary, with the averaged and with the
        last weights, and say whether any plane separates the classes. All rows must fit in memory.
    errors
        Also show this number of errors with their explanations: those first whose prediction has the largest score
        compared to the label's. Their labels may be wrong.
    """
    from markone.cli.console import Terminal
    from markone.cli.models import check_kind
    from markone.cli.pictures import check_picture, of_evaluation, save_picture
    from markone.cli.progress import watched
    from markone.cli.reading import open_data
    from markone.cli.report import about_rare_class, bad_lines, print_json
    from markone.cli.terminal import WIDE, knows_width, say
    from markone.model.model import load

    check_picture(plot, model, data)
    check_kind(model, "classifier", "measure", data)
    predictor = load(model)
    if predictor.predicts_numbers or predictor.several is not None:
        what = "numbers" if predictor.predicts_numbers else "several labels for each row"
        for name, value in (("margins", margins), ("plot", plot), ("errors", errors)):
            if value:
                raise SettingsError(name, f"is for models of classes, and this model predicts {what}; leave it out")
    source = open_data(data, predictor, given(reading), target=target, with_labels=True, threads=threads)
    with watched(source, quiet=quiet or cluster is not None) as seen:
        evaluation = predictor.evaluate(seen if cluster is None else source, threads=threads, cluster=cluster)
    title = f"{model} on {data}"
    save_picture(plot, lambda: of_evaluation(evaluation, predictor, source, threads), title)
    measured, theory = margins_of(predictor, source, threads) if margins else (None, "")
    worst = [] if errors is None else predictor.errors(source, most=errors, threads=threads)
    if json:
        more: dict[str, Any] = {} if measured is None else {"margins": measured.as_dict(), "theory": theory}
        if errors is not None:
            more["errors"] = [one.as_dict() for one in worst]
        print_json({**evaluation.as_dict(), **more, "bad_lines": source.bad.count})
        return
    say(str(evaluation))
    if hint := "\n".join(about_rare_class(predictor, evaluation)):
        say(f"\n{hint}")
    if measured is not None:
        say(f"\n{measured}\n\n{fill(theory, 80)}")
    for one in worst:
        say("")
        Terminal(highlight=False, width=None if knows_width() else WIDE).print(one)
    bad_lines(source.bad)


def margins_of(model: Model, source: Source, threads: int | None) -> tuple[Any, str]:
    """Return the margins of the examples, and a sentence that says whether any plane separates the classes."""
    from markone.learning.samples import open_sample
    from markone.theory.advice import line_from_theory
    from markone.theory.margins import margins

    measured = margins(model, source, threads=threads)
    sample = open_sample(source, None, threads, None)
    return measured, line_from_theory(sample, model.features, bias=model.settings.bias)
