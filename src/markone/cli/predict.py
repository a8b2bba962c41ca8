"""`markone predict`: writes labels for examples while it reads them."""

from __future__ import annotations

from typing import Literal

from markone.cli.options import FileName, Flag, Reading, WholeNumber, columns_to_keep, given
from markone.cli.shared_options import ModelFile, NoProgress, Out
from markone.errors import NoDataError, SettingsError


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
    """Predict labels with a model that `markone train` has saved, or numbers with one of the rule `regression`.

    The predictions are written to standard output, one per line, while the data are read; or to a file. The data are
    read in the same way as the training data, and columns have the same kinds. For an empty file, nothing is written.

    For example:

    `markone predict reviews.model new.csv`

    `markone predict reviews.model new.csv --keep all -o predicted.csv`

    `markone predict reviews.model new.csv --output jsonl --scores`

    `echo "not a good film" | markone predict reviews.model -`

    Parameters
    ----------
    data
        A file, a pattern, a folder, or - for standard input. Standard input has one text per line for a model of texts,
        and the format of the training data for other models.
    output
        The output format: labels, one per line; or csv or jsonl (JSON lines), with a column `prediction`. By default,
        the name of the output file decides; without one, labels, or csv if there are more columns to write.
    keep
        Columns of the data to copy to the output, before the prediction: a,b,c or all.
    scores
        Also write the score of each class.
    probabilities
        Also write the probability of each class. Models of the rules logistic, naive-bayes and mlp always have
        probabilities; those of other rules have them if they were trained on at least 50 rows.
    threads
        The number of threads that read and predict. The default is one per core, but one for standard input, so that
        each line is answered immediately.
    """
    from markone.cli.models import check_kind
    from markone.cli.output import check_not_read, opened, output_format
    from markone.cli.progress import watched
    from markone.cli.reading import open_data
    from markone.data.files import STANDARD_INPUT
    from markone.model.model import load
    from markone.model.writing import make_writer

    check_not_read(out, model, data)
    kept = columns_to_keep(keep)
    format = output_format(output, out, more=bool(kept) or scores or probabilities)
    if threads is None and data == STANDARD_INPUT:
        threads = 1
    check_kind(model, "classifier", "use", data)
    predictor = load(model)
    if scores and predictor.predicts_numbers:
        raise SettingsError("scores", "are those of classes, and this model predicts numbers; leave it out")
    if probabilities:
        predictor.check_probabilities()
    try:
        source = open_data(data, predictor, given(reading), keep=kept, once=True, threads=threads)
    except NoDataError:  # an empty file has no predictions
        with opened(out):
            return
    writer = make_writer(format, predictor, scores=scores, probabilities=probabilities)
    with opened(out) as write, watched(source, quiet=quiet or out is None) as seen:
        for batch, winners, values in predictor.answers(seen, threads=threads):
            write(writer.lines(batch.kept, winners, values))
    if source.bad.count:
        from markone.cli.report import bad_lines

        bad_lines(source.bad)
