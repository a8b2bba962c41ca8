"""`markone train`: from files to a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Learning, Reading, WholeNumber, given
from markone.cli.training import (
    Checkpoint,
    Json,
    Minutes,
    Quiet,
    Resume,
    check_path,
    default_name,
    learn_and_save,
    progress,
)
from markone.errors import DataError

if TYPE_CHECKING:
    from markone.data.source import Source
    from markone.model.evaluation import Evaluation
    from markone.model.model import Model


def train(
    *data: FileName,
    target: str | None = None,
    out: Annotated[FileName | None, Parameter(name=["--out", "-o"])] = None,
    features: FileName | None = None,
    tune: Flag = False,
    test: FileName | None = None,
    from_model: Annotated[FileName | None, Parameter(name="--from")] = None,
    checkpoint: Checkpoint = False,
    minutes: Minutes = None,
    resume: Resume = False,
    final: Flag = False,
    bounds: Flag = False,
    importance: str | None = None,
    threads: WholeNumber | None = None,
    memory: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
    learning: Learning | None = None,
    reading: Reading | None = None,
) -> None:
    """Learn a model from labelled examples, and save it.

    Formats go by the names of the files: .csv .tsv .jsonl .parquet .arrow .libsvm .vw .ft .txt, each also with .gz .zst
    or .bz2; a folder of folders of texts; or --format. Ctrl-C keeps what was learned so far, and --resume goes on from
    there as if nothing had happened.

    Examples:

    `markone train reviews.csv --target label`

    `markone train reviews.csv --target label --rule logistic --epochs 10 -o logistic.model`

    `zcat reviews.csv.gz | markone train - --format csv --target label`

    `markone train more.csv --from reviews.model -o reviews2.model`

    `markone train reviews.csv --target label --tune --test test.csv`

    Parameters
    ----------
    data
        Files of one format, a pattern, a folder, or - for standard input.
    target
        The column to be predicted. Formats that have labels of their own need none.
    out
        The file of the model: named like the data, with the ending .model, by default.
    features
        A file of TOML that says what features are made of the columns.
    tune
        First choose settings that are not given, by rows held out from those to learn from, and say what was tried.
    test
        A labelled file in the same format: the model is measured on it, once, when everything else is done.
    from_model
        Learn on from a model: with its features and settings, and with new features and classes as the data have them.
    final
        Leave out of the file what is needed only to make more passes, and features without weight.
    bounds
        Say how many mistakes the theory of the perceptron allows. Needs --rule perceptron, as it is by default.
    importance
        A column that says how much each example counts.
    threads
        How many threads read and count; as many as there are cores by default. The model is the same.
    memory
        Rows that need more go to a temporary file: "2 GB"; half of the machine's by default. The model is the same.
    """
    from markone.cli.models import check_kind
    from markone.learning.training import train as learn
    from markone.model.model import load

    if not data:
        raise DataError("there are no data to learn from; name a file, as in: markone train reviews.csv --target label")
    path = out or default_name(data)
    check_path(path, [*data, *filter(None, [features, test])])
    if tune and (from_model is not None or resume):
        raise DataError(
            "--tune chooses settings for a training from the start; leave out --from and --resume, or --tune"
        )
    if from_model is not None:
        check_kind(from_model, "classifier", "learn on")
    base = None if from_model is None else load(from_model)
    source = open_source(data, base, given(reading), target=target, importance=importance, threads=threads)
    spec: Any = features
    chosen, tuning = given(learning), None
    if tune:
        from markone.cli.progress import is_watched
        from markone.experiments.tuning import tune as choose

        watched = is_watched(quiet=quiet)
        tuning = choose(source, features=spec, threads=threads, memory=memory, progress=watched, **chosen)
        chosen, spec = tuning.settings, tuning.features
    model = learn_and_save(
        lambda checkpoints, going_on: learn(
            source,
            features=spec,
            from_model=base,
            checkpoint=checkpoints,
            resume=going_on,
            threads=threads,
            memory=memory,
            progress=progress(quiet),
            bounds=bounds,
            **chosen,
        ),
        path,
        checkpoint=checkpoint,
        minutes=minutes,
        resume=resume,
        final=final,
        quiet=quiet,
    )
    from markone.cli.report import Report, print_json
    from markone.cli.terminal import say

    evaluation = None if test is None else evaluated(model, test, given(reading), target, threads)
    report = Report(model, source, path, list(data), final=final, tuning=tuning, test=test, evaluation=evaluation)
    if json:
        print_json(report.facts())
    elif not quiet:
        say("\n".join(report.lines()))


def evaluated(model: Model, test: str, said: dict[str, Any], target: str | None, threads: int | None) -> Evaluation:
    """The only time that anything looks at the rows to be tested."""
    from markone.cli.reading import open_data

    source = open_data(test, model, said, target=target, with_labels=True, threads=threads)
    return model.evaluate(source, threads=threads)


def open_source(
    data: Sequence[str],
    base: Model | None,
    said: dict[str, Any],
    *,
    target: str | None,
    importance: str | None,
    threads: int | None,
) -> Source:
    """The data, read as those of the model were from which we learn on, if there is one."""
    from markone.cli.reading import labelled, options_like, remember_name
    from markone.data.read import read

    options = {"target": target, **said}
    if base is not None:
        options = options_like(data[0], base, said, target=target, with_labels=True)
    what = data[0] if len(data) == 1 else [Path(name) for name in data]
    source = labelled(read(what, importance=importance, threads=threads, **options))
    remember_name(source, data[0])
    return source
