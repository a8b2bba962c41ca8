"""`markone train`: trains a model on files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, get_args

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Learning, Reading, given, option, words_in
from markone.cli.progress import wished
from markone.cli.shared_options import (
    Checkpoint,
    Classes,
    Cluster,
    Files,
    Importance,
    Json,
    Minutes,
    Plain,
    Plot,
    Positive,
    Quiet,
    Resume,
    SavedAs,
    Spec,
    Target,
    Test,
    Threads,
)
from markone.cli.training import Keeping, check_path, default_name, learn_and_save, save
from markone.errors import DataError, SettingsError

if TYPE_CHECKING:
    from markone.data.source import Source
    from markone.experiments.trials import Tuning
    from markone.learning.checkpoints import Checkpoints
    from markone.model.evaluation import Evaluation
    from markone.model.model import Model
    from markone.model.number_evaluation import NumberEvaluation
    from markone.model.several_evaluation import SeveralEvaluation


def train(
    *data: Files,
    target: Target = None,
    positive: Positive = None,
    classes: Classes = None,
    threshold: str | None = None,
    abstain: str | None = None,
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
    scaled: Annotated[bool | None, Parameter(show_default=False)] = None,
    plain: Plain = False,
    importance: Importance = None,
    threads: Threads = None,
    memory: str | None = None,
    cluster: Cluster = None,
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

    `markone train reviews.csv --target label --positive happy --threshold recall=0.9`

    `markone train reviews.csv --target label --plot training.html`

    `markone train articles.csv --target topics --kinds topics=set`

    `markone train "crawl/*.jsonl" --target label --partitions 8 --cluster tcp://host:8786`

    Without data, --start makes a model from weights in a file. They are weights of words, unless --kinds names columns:

    `markone train --start spam.json --classes ham,spam`

    Parameters
    ----------
    threshold
        When the positive class of two is predicted: a probability from which it is, such as 0.3; f1 for the best F1;
        recall=0.9 for the best precision with at least this recall; precision=0.9 for the best recall; or cost=1:5 if
        a missed positive row costs five times as much as a false positive. It is chosen on rows that the model was not
        trained on, and kept in the model. If rows have several labels, each label has a threshold, by default for
        micro-f1, the F1 of all labels together.
    abstain
        The largest share of wrong predictions, such as 1%. The model then makes no prediction where its margin is too
        small. One row of five is held out to find the margin, unless --holdout says otherwise. The promise holds with
        95% confidence for new rows of the same kind.
    tune
        First choose the settings that are not given, on held-out training rows, and report what was tried.
    from_model
        Continue training from this model, with its features and settings. New features and classes are added.
    final
        Save a smaller file, without the data that only --resume needs and without features whose weights are 0.
    bounds
        Also report the bounds on the number of mistakes. Needs --rule perceptron with its default settings. Numeric
        columns are then used as they are, without scaling.
    scaled
        Scale numeric columns, or use numbers as they are, if --features does not say it. The default is to scale them,
        but not with --bounds.
    memory
        How much memory the rows may use, such as "2 GB"; by default half of the memory. Rows that do not fit are stored
        in a temporary file, and the model is the same.
    """
    from markone.cli.pictures import check_picture, of_training, save_picture
    from markone.cli.reading import check_given, open_rows
    from markone.cli.report import GivenReport, Report
    from markone.learning.training import train as learn
    from markone.model.rules import predicts_numbers

    chosen, resources = given(learning), {"threads": threads, "memory": memory}
    start = file_of_weights(chosen)
    order = {"positive": positive, "classes": None if classes is None else words_in(classes)}
    if not data and start is not None:
        need_data = {"tune": tune, "from": from_model, "checkpoint": checkpoint, "minutes": minutes, "resume": resume}
        refuse_without_data({**need_data, "bounds": bounds, "importance": importance, "plain": plain})
        refuse_without_data({"threshold": threshold, "abstain": abstain, "cluster": cluster})
        check_path(path := out or default_name([start]), [start, *filter(None, [features, test])])
        check_picture(plot, start, features, test, written=[path])
        model = model_from_weights(start, {**chosen, **order}, features, target, given(reading))
        save(model, path, final=final)
        evaluation = None if test is None else evaluated(model, test, {}, target, threads)
        GivenReport(model, path, start, test=test, evaluation=evaluation).tell(json=json, quiet=quiet)
        save_picture(plot, lambda: of_training(model), f"The weights of {path}")
        return
    check_given("train", data)
    path = out or default_name(data)
    check_path(path, [*data, *filter(None, [features, test, start])])
    check_picture(plot, *data, features, test, from_model, start, written=[path, f"{path}.checkpoint"])
    if predicts_numbers(chosen.get("rule")):
        refuse_for_numbers({"tune": tune, "plot": plot, "bounds": bounds})
    base = model_to_start_from(from_model, tune=tune, resume=resume, start=start)
    source = open_rows("train", data, reading, base, target=target, importance=importance, threads=threads)
    spec: Any = features
    usual = not bounds if scaled is None else scaled
    how = {**chosen, **resources, "scaled": usual, "plain": plain}
    tuning = tuned(source, spec, {**how, "cluster": cluster}, quiet=quiet) if tune else None
    if tuning is not None:
        chosen, spec, plain = tuning.settings, tuning.features, False
        if "partitions" not in chosen:  # then only the tuning can use a cluster
            cluster = None

    def learn_from(checkpoints: Checkpoints, resumed: Any) -> Model:
        kept: dict[str, Any] = {"checkpoint": checkpoints, "resume": resumed, "progress": wished(quiet=quiet)}
        more: dict[str, Any] = {"bounds": bounds, "scaled": scaled, "plain": plain, **kept, **resources, **order}
        more |= {"threshold": threshold, "abstain": abstain, "cluster": cluster}
        return learn(source, features=spec, from_model=base, **more, **chosen)

    model = learn_and_save(learn_from, path, Keeping(checkpoint, minutes, resume, final, quiet))
    evaluation = None if test is None else evaluated(model, test, given(reading), target, threads)
    report = Report(model, source, path, list(data), final=final, tuning=tuning, test=test, evaluation=evaluation)
    report.tell(json=json, quiet=quiet)
    save_picture(plot, lambda: of_training(model), f"The training of {path}")


def file_of_weights(learning: dict[str, Any]) -> str | None:
    """Return the file that --start names, if it names one."""
    from markone.model.settings import Start

    start: str | None = learning.get("start")
    return None if start in (None, *get_args(Start)) else start


def refuse_for_numbers(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if value:
            raise SettingsError(name, "is for rules that predict classes, not for 'regression'; leave it out")


def refuse_without_data(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if value:
            raise DataError(f"{option(name)} needs data, but no file was given; leave it out, or name a file")


def model_from_weights(
    start: str, learning: dict[str, Any], features: str | None, target: str | None, reading: dict[str, Any]
) -> Model:
    """Make a model from the weights in a file."""
    from markone.model.given_weights import GivenWeights
    from markone.model.model import Model

    for name in reading:
        if name != "kinds":
            raise DataError(f"{option(name)} is for reading data, but no file was given; leave it out, or name a file")
    weights: Any = GivenWeights.of("start", start)
    said = {name: value for name, value in {"target": target, **reading}.items() if value is not None}
    return Model.from_weights(weights, features=features, **said, **{n: v for n, v in learning.items() if n != "start"})


def model_to_start_from(path: str | None, *, tune: bool, resume: bool, start: str | None) -> Model | None:
    """Return the model to continue from, if there is one."""
    from markone.cli.models import check_kind
    from markone.model.model import load

    if tune and (path is not None or resume or start is not None):
        raise DataError(
            "--tune chooses settings for a new training, so it cannot be used with --from, --resume or a file for "
            "--start"
        )
    if path is None:
        return None
    check_kind(path, "classifier", "continue")
    return load(path)


def tuned(source: Source, spec: Any, settings: dict[str, Any], *, quiet: bool) -> Tuning:
    """Return the settings with the best results on held-out rows."""
    from markone.experiments.tuning import tune

    return tune(source, features=spec, progress=wished(quiet=quiet), **settings)


def evaluated(
    model: Model, test: str, said: dict[str, Any], target: str | None, threads: int | None
) -> Evaluation | NumberEvaluation | SeveralEvaluation:
    """Evaluate the model on the test file. Nothing else reads this file."""
    from markone.cli.reading import open_data

    source = open_data(test, model, said, target=target, with_labels=True, threads=threads)
    evaluation: Evaluation | NumberEvaluation = model.evaluate(source, threads=threads)
    return evaluation
