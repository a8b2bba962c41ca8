"""`markone train`: trains a model on files."""

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
    Plot,
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
    plot: Plot = None,
    json: Json = False,
    quiet: Quiet = False,
    learning: Learning | None = None,
    reading: Reading | None = None,
) -> None:
    """Train a model on labelled examples, and save it.

    The ending of a file's name tells its format, also compressed as .gz, .zst or .bz2: --format lists the formats and
    their endings. A folder of texts has one subfolder for each class. Ctrl-C saves a checkpoint, from which --resume
    continues the training.

    For example:

    `markone train reviews.csv --target label`

    `markone train reviews.csv --target label --rule logistic --epochs 10 -o logistic.model`

    `zcat reviews.csv.gz | markone train - --format csv --target label`

    `markone train more.csv --from reviews.model -o reviews2.model`

    `markone train reviews.csv --target label --tune --test test.csv`

    `markone train reviews.csv --target label --plot training.html`

    Parameters
    ----------
    tune
        First choose the settings that are not given, on held-out training rows, and report what was tried.
    from_model
        Continue training from this model, with its features and settings. New features and classes are added.
    final
        Save a smaller file, without the data that only --resume needs and without features whose weights are 0.
    bounds
        Also report the bounds on the number of mistakes. Needs --rule perceptron with its default settings.
    memory
        How much memory the rows may use, such as "2 GB"; by default half of the memory. Rows that do not fit are stored
        in a temporary file, and the model is the same.
    """
    from markone.cli.pictures import check_picture, of_training, save_picture
    from markone.cli.reading import check_given, open_rows
    from markone.cli.report import Report
    from markone.learning.training import train as learn

    check_given("train", data)
    path = out or default_name(data)
    check_path(path, [*data, *filter(None, [features, test])])
    check_picture(plot, *data, features, test, from_model, written=[path, f"{path}.checkpoint"])
    base = model_to_start_from(from_model, tune=tune, resume=resume)
    source = open_rows("train", data, reading, base, target=target, importance=importance, threads=threads)
    spec: Any = features
    chosen, resources = given(learning), {"threads": threads, "memory": memory}
    tuning = tuned(source, spec, {**chosen, **resources}, quiet=quiet) if tune else None
    if tuning is not None:
        chosen, spec = tuning.settings, tuning.features

    def learn_from(checkpoints: Checkpoints, resumed: Any) -> Model:
        kept: dict[str, Any] = {"checkpoint": checkpoints, "resume": resumed, "progress": progress(quiet)}
        return learn(source, features=spec, from_model=base, bounds=bounds, **{**kept, **resources, **chosen})

    model = learn_and_save(learn_from, path, Keeping(checkpoint, minutes, resume, final, quiet))
    evaluation = None if test is None else evaluated(model, test, given(reading), target, threads)
    report = Report(model, source, path, list(data), final=final, tuning=tuning, test=test, evaluation=evaluation)
    report.tell(json=json, quiet=quiet)
    save_picture(plot, lambda: of_training(model), f"The training of {path}")


def model_to_start_from(path: str | None, *, tune: bool, resume: bool) -> Model | None:
    """Return the model to continue from, if there is one."""
    from markone.cli.models import check_kind
    from markone.model.model import load

    if tune and (path is not None or resume):
        raise DataError("--tune chooses settings for a new training, so it cannot be used with --from or --resume")
    if path is None:
        return None
    check_kind(path, "classifier", "continue")
    return load(path)


def tuned(source: Source, spec: Any, settings: dict[str, Any], *, quiet: bool) -> Tuning:
    """Return the settings with the best results on held-out rows."""
    from markone.cli.progress import is_watched
    from markone.experiments.tuning import tune

    return tune(source, features=spec, progress=is_watched(quiet=quiet), **settings)


def evaluated(model: Model, test: str, said: dict[str, Any], target: str | None, threads: int | None) -> Evaluation:
    """Evaluate the model on the test file. Nothing else reads this file."""
    from markone.cli.reading import open_data

    source = open_data(test, model, said, target=target, with_labels=True, threads=threads)
    return model.evaluate(source, threads=threads)
