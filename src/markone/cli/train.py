"""`markone train`: from files to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Learning, Reading, given
from markone.cli.shared_options import (
    Checkpoint,
    Files,
    Importance,
    Json,
    Minutes,
    Quiet,
    Resume,
    SavedAs,
    Spec,
    Target,
    Test,
    Threads,
)
from markone.cli.training import Keeping, check_path, default_name, learn_and_save, progress
from markone.errors import DataError

if TYPE_CHECKING:
    from markone.data.source import Source
    from markone.experiments.tuning import Tuning
    from markone.learning.checkpoints import Checkpoints
    from markone.model.evaluation import Evaluation
    from markone.model.model import Model


def train(
    *data: Files,
    target: Target = None,
    out: SavedAs = None,
    features: Spec = None,
    tune: Flag = False,
    test: Test = None,
    from_model: Annotated[FileName | None, Parameter(name="--from")] = None,
    checkpoint: Checkpoint = False,
    minutes: Minutes = None,
    resume: Resume = False,
    final: Flag = False,
    bounds: Flag = False,
    importance: Importance = None,
    threads: Threads = None,
    memory: str | None = None,
    json: Json = False,
    quiet: Quiet = False,
    learning: Learning | None = None,
    reading: Reading | None = None,
) -> None:
    """Learn a model from labelled examples, and save it.

    The ending of a file's name shows its format, and .gz, .zst or .bz2 may follow it: --format lists the formats and
    their endings. A folder that contains one folder of texts per class can be read too. Ctrl-C keeps what was learned
    so far, and --resume goes on from there as if nothing had happened.

    For example:

    `markone train reviews.csv --target label`

    `markone train reviews.csv --target label --rule logistic --epochs 10 -o logistic.model`

    `zcat reviews.csv.gz | markone train - --format csv --target label`

    `markone train more.csv --from reviews.model -o reviews2.model`

    `markone train reviews.csv --target label --tune --test test.csv`

    Parameters
    ----------
    tune
        First choose settings that are not given, by rows held out from those to learn from, and say what was tried.
    from_model
        Learn on from a model: with its features and settings, and with new features and classes as the data have them.
    final
        Leave out of the file what is needed only to make more passes, and features without weight.
    bounds
        Say how many mistakes the theory of the perceptron allows. Needs --rule perceptron, as it is by default.
    memory
        Rows that need more go to a temporary file: "2 GB"; half of the machine's by default. The model is the same.
    """
    from markone.cli.reading import check_given, open_rows
    from markone.cli.report import Report
    from markone.learning.training import train as learn

    check_given("train", data)
    path = out or default_name(data)
    check_path(path, [*data, *filter(None, [features, test])])
    base = model_to_start_from(from_model, tune=tune, resume=resume)
    source = open_rows("train", data, reading, base, target=target, importance=importance, threads=threads)
    spec: Any = features
    chosen, how = given(learning), {"threads": threads, "memory": memory}
    tuning = tuned(source, spec, {**chosen, **how}, quiet=quiet) if tune else None
    if tuning is not None:
        chosen, spec = tuning.settings, tuning.features

    def learn_from(checkpoints: Checkpoints, resumed: Any) -> Model:
        kept: dict[str, Any] = {"checkpoint": checkpoints, "resume": resumed, "progress": progress(quiet)}
        return learn(source, features=spec, from_model=base, bounds=bounds, **{**kept, **how, **chosen})

    model = learn_and_save(learn_from, path, Keeping(checkpoint, minutes, resume, final, quiet))
    evaluation = None if test is None else evaluated(model, test, given(reading), target, threads)
    report = Report(model, source, path, list(data), final=final, tuning=tuning, test=test, evaluation=evaluation)
    report.tell(json=json, quiet=quiet)


def model_to_start_from(path: str | None, *, tune: bool, resume: bool) -> Model | None:
    """The model from which to learn on, if there is one."""
    from markone.cli.models import check_kind
    from markone.model.model import load

    if tune and (path is not None or resume):
        raise DataError(
            "--tune chooses settings for a training from the start; leave out --from and --resume, or --tune"
        )
    if path is None:
        return None
    check_kind(path, "classifier", "learn on")
    return load(path)


def tuned(source: Source, spec: Any, how: dict[str, Any], *, quiet: bool) -> Tuning:
    """The settings that did best on rows held out."""
    from markone.cli.progress import is_watched
    from markone.experiments.tuning import tune

    return tune(source, features=spec, progress=is_watched(quiet=quiet), **how)


def evaluated(model: Model, test: str, said: dict[str, Any], target: str | None, threads: int | None) -> Evaluation:
    """The only time that anything looks at the rows to be tested."""
    from markone.cli.reading import open_data

    source = open_data(test, model, said, target=target, with_labels=True, threads=threads)
    return model.evaluate(source, threads=threads)
