"""`markone validate`: how good a rule is on rows that it has not learned from."""

from __future__ import annotations

from markone.cli import experiment_options
from markone.cli.options import Flag, Reading, Validating, given


def validate(
    *data: experiment_options.Files,
    target: experiment_options.Target = None,
    method: experiment_options.Method = "kfold",
    folds: experiment_options.Folds = 10,
    repeats: experiment_options.Repeats = 1,
    share: experiment_options.Share = 0.3,
    features: experiment_options.Spec = None,
    importance: experiment_options.Importance = None,
    threads: experiment_options.Threads = None,
    memory: experiment_options.Memory = None,
    json: Flag = False,
    quiet: Flag = False,
    learning: Validating | None = None,
    reading: Reading | None = None,
) -> None:
    """Test a rule on rows that it has not learned from.

    The rows are divided again and again into some to learn from and some to be tested; features are learned anew each
    time. The accuracy, its 95% interval and its standard deviation, each fold, and the accuracy after each pass.

    Examples:

    `markone validate reviews.csv --target label`

    `markone validate reviews.csv --target label --rule logistic --method holdout --share 0.3`

    `markone validate reviews.csv --target label --method loo --json`

    Parameters
    ----------
    method
        `holdout` tests a share of the rows, `kfold` each row once, together with a fold of others, and `loo` each row
        alone. All classes have their share of every test.
    json
        Print one JSON object instead of the tables.
    quiet
        No progress.
    """
    from markone.cli.progress import is_watched
    from markone.experiments.validating import validate as test

    source = experiment_options.open_rows(
        "validate", data, reading, target=target, importance=importance, threads=threads
    )
    validation = test(
        source,
        method=method,
        folds=folds,
        repeats=repeats,
        share=share,
        features=features,
        threads=threads,
        memory=memory,
        progress=is_watched(quiet=quiet),
        **given(learning),
    )
    experiment_options.show(validation, source, json=json)
