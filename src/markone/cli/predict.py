"""`markone predict`: labels for examples, as they go by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from markone.cli.options import FileName, Flag, Reading, WholeNumber, columns_to_keep, given
from markone.cli.shared_options import ModelFile, NoProgress, Out
from markone.errors import NoDataError, SettingsError

if TYPE_CHECKING:
    from markone.model.model import Model


def predict(
    model: ModelFile,
    data: FileName,
    /,
    *,
    out: Out = None,
    output: Literal["labels", "csv", "jsonl"] | None = None,
    keep: str | None = None,
    scores: Flag = False,
    probabilities: Flag = False,
    threads: WholeNumber | None = None,
    quiet: NoProgress = False,
    reading: Reading | None = None,
) -> None:
    """Predict labels with a model that `markone train` has saved.

    The predictions go to standard output, one a line, while the data are read, or to a file. The columns' kinds are
    the model's, and a file is read as those were that it was trained on. Of an empty file nothing is predicted, and
    nothing is written.

    For example:

    `markone predict reviews.model new.csv`

    `markone predict reviews.model new.csv --keep all -o predicted.csv`

    `markone predict reviews.model new.csv --output jsonl --scores`

    `echo "not a good film" | markone predict reviews.model -`

    Parameters
    ----------
    data
        A file, a pattern, a folder, or - for standard input: plain lines for a model of texts, else of the format that
        the model was trained on.
    output
        How to write: labels, one a line, or csv or jsonl (JSON lines) with a column `prediction`. As the name of the
        file says; else labels, or csv where there is more to write.
    keep
        Columns of the data to write as well, before the prediction, as they are there: a,b,c or all.
    scores
        Write the score of each class.
    probabilities
        Write the probability of each class; for models of the rules logistic, naive-bayes and mlp.
    threads
        How many threads read and predict. As many as there are cores by default, but one for standard input, so that
        each line is answered when it comes.
    """
    from markone.cli.models import check_kind
    from markone.cli.output import check_not_read, make_writer, opened, output_format
    from markone.cli.progress import watched
    from markone.cli.reading import open_data
    from markone.data.files import STANDARD_INPUT
    from markone.model.model import load

    check_not_read(out, model, data)
    kept = columns_to_keep(keep)
    format = output_format(output, out, more=bool(kept) or scores or probabilities)
    if threads is None and data == STANDARD_INPUT:
        threads = 1
    check_kind(model, "classifier", "use", data)
    predictor = load(model)
    if probabilities:
        check_probabilities(predictor)
    try:
        source = open_data(data, predictor, given(reading), keep=kept, once=True, threads=threads)
    except NoDataError:  # of nothing, nothing is predicted
        with opened(out):
            return
    writer = make_writer(format, predictor.classes, scores=scores, probabilities=probabilities)
    with opened(out) as write, watched(source, quiet=quiet or out is None) as seen:
        for batch, winners, found in predictor.answers(seen, threads=threads):
            write(writer.lines(batch.kept, winners, found))
    if source.bad.count:
        from markone.cli.report import bad_lines

        bad_lines(source.bad)


def check_probabilities(model: Model) -> None:
    if not model.scorer.has_probabilities:
        rules = "'logistic', 'naive-bayes' and 'mlp'"
        problem = f"are those of models of the rules {rules}, and this one is of {model.settings.rule!r}"
        raise SettingsError("probabilities", problem)
