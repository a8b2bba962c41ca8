"""`markone filter`: keeps the rows of large files that a model likes."""

from __future__ import annotations

import os
from typing import Annotated

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Number, WholeNumber
from markone.cli.shared_options import Json, ModelFile, Quiet
from markone.errors import SettingsError

INPUT = "JSON lines (.jsonl, .jsonl.gz, .jsonl.zst) or Parquet files, patterns such as crawl/*.jsonl.zst, or folders."


def filter(
    model: ModelFile,
    /,
    *data: Annotated[FileName, Parameter(help=INPUT)],
    out: Annotated[FileName, Parameter(name=["--out", "-o"])] = "filtered",
    keep: str | None = None,
    threshold: Annotated[Number | None, Parameter(allow_leading_hyphen=True)] = None,
    label: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    text: str | None = None,
    scores: Flag = False,
    shard: str = "256 MB",
    skip_bad: Flag = False,
    threads: WholeNumber | None = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Keep the rows of large files that a model likes, for example to clean a crawl.

    The kept rows are copied to files in a folder, with the same bytes and in the same order. If the command is
    interrupted or killed, start it again: it goes on where it stopped, without losing a row or writing one twice. The
    report shows the share of kept rows, a histogram, and the speed. Models of fastText cannot be read; train a model on
    their training file instead.

    For example:

    `markone filter reviews.model crawl.jsonl --keep 10% -o best`

    `markone filter reviews.model crawl.jsonl --label happy --threshold 0.5 -o sure`

    Parameters
    ----------
    out
        The folder to write to.
    keep
        The share of rows to keep, such as 10%. The threshold for it is estimated from a sample.
    threshold
        Keep rows whose value is at least this: the probability of the label or, if the model has no probabilities, the
        margin by which the label wins over all others.
    label
        The label of the rows to keep; by default the positive class of two. Without --keep and --threshold, all rows
        with this prediction are kept.
    text
        The field or column with the text, if it has another name than in the training data.
    scores
        Add the value as a last field or column, `score`.
    shard
        The input that goes into one output file.
    skip_bad
        Skip lines that cannot be used, and count them. By default they are an error.
    threads
        The number of threads; by default one per core. The result does not depend on it.
    """
    from markone.cli.models import check_kind
    from markone.cli.progress import wished
    from markone.cli.terminal import say
    from markone.data.finding import format_of
    from markone.filtering.filtering import check_not_fasttext, filter_files
    from markone.learning.progress import progress_of

    check_not_fasttext(model)
    check_kind(model, "classifier", "use", *data)
    if format_of(out) is not None and not os.path.isdir(out):
        advice = f"names the folder of the results, and {out} is named like a file; leave out the ending"
        raise SettingsError("out", advice)
    bar = progress_of(wished(quiet=quiet or json))
    try:
        report = filter_files(
            model,
            data,
            out,
            keep=keep,
            threshold=threshold,
            label=label,
            text=text,
            scores=scores,
            shard=shard,
            skip_bad=skip_bad,
            threads=threads,
            seen=bar.read,
        )
    finally:
        bar.close()
    if json:
        from markone.cli.report import print_json

        print_json(report.as_dict())
    elif not quiet:
        say(report)
