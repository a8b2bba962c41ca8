"""`markone predict`: writes labels for examples while it reads them."""

from __future__ import annotations

import os
from glob import has_magic
from typing import Any, Literal

from markone.cli.messages import typed
from markone.cli.options import FileName, Flag, Reading, WholeNumber, columns_to_keep, given
from markone.cli.shared_options import Cluster, ModelFile, NoProgress, Out
from markone.errors import DataError, NoDataError, Setting, SettingsError


def predict(
    model: ModelFile,
    data: FileName,
    /,
    *,
    out: Out = None,
    output: Literal["labels", "csv", "jsonl", "parquet"] | None = None,
    parts: FileName | None = None,
    cluster: Cluster = None,
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

    `markone predict reviews.model "crawl/*.parquet" --parts predicted --output parquet`

    `echo "not a good film" | markone predict reviews.model -`

    Parameters
    ----------
    data
        A file, a pattern, a folder, or - for standard input. Standard input has one text per line for a model of texts,
        and the format of the training data for other models.
    output
        The output format: labels, one per line; or csv or jsonl (JSON lines), with a column `prediction`; for --parts
        also parquet. By default, the name of the output file decides; without one, labels, or csv if there are more
        columns to write.
    parts
        Write the predictions for each file to a file of its own in this folder, such as part-00017.csv. If the command
        is interrupted or killed, start it again: parts that are there are not made again.
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
    if parts is not None:
        predict_parts(model, data, parts, output, keep, scores, probabilities, cluster, threads, quiet, reading, out)
        return
    if cluster is not None:
        raise SettingsError(
            "cluster", ("is for many files, each of which becomes a part; set ", Setting("parts", "out"))
        )
    if output == "parquet":
        raise SettingsError("output", ("can be parquet only for parts; set ", Setting("parts", "out")))

    from markone.cli.models import check_kind
    from markone.cli.output import check_not_read, opened, output_format
    from markone.cli.progress import watched
    from markone.cli.reading import open_data
    from markone.data.files import STANDARD_INPUT
    from markone.model.model import load
    from markone.model.writing import make_writer

    check_is_no_text(data, model)
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


def check_is_no_text(data: str, model: str) -> None:
    """Raise an error with advice if the data are words, and not the name of a file."""
    if len(data.split()) > 1 and not os.path.exists(data) and not has_magic(data) and os.sep not in data:
        advice = f"texts come from a file or a pipe: {typed('echo', data)} | {typed('markone', 'predict', model, '-')}"
        raise DataError(f"there is no file {data}", advice=advice)


def predict_parts(
    model: str,
    data: str,
    parts: str,
    output: Any,
    keep: str | None,
    scores: bool,
    probabilities: bool,
    cluster: str | None,
    threads: int | None,
    quiet: bool,
    reading: Reading | None,
    out: str | None,
) -> None:
    """Predict many files, each into a part."""
    from markone.cli.models import check_kind
    from markone.cli.progress import wished
    from markone.cli.reading import options_like
    from markone.cli.terminal import say
    from markone.data.files import STANDARD_INPUT
    from markone.learning.progress import progress_of
    from markone.model.model import load
    from markone.scoring.predicting import predict_files

    if out is not None:
        raise SettingsError("out", ("names one file, and the parts are files in a folder; leave it out"))
    if data == STANDARD_INPUT:
        raise SettingsError("parts", "is for files, not for standard input")
    check_kind(model, "classifier", "use", data)
    predictor = load(model)
    options = options_like(data, predictor, given(reading), target=None, with_labels=False)
    more = keep is not None or scores or probabilities
    bar = progress_of(wished(quiet=quiet))
    try:
        report = predict_files(
            predictor,
            data,
            parts,
            output=output or ("csv" if more else "labels"),
            keep=columns_to_keep(keep),
            scores=scores,
            probabilities=probabilities,
            reading={name: value for name, value in options.items() if value is not None},
            cluster=cluster,
            threads=threads,
            seen=bar.read,
        )
    finally:
        bar.close()
    if not quiet:
        say(report)
