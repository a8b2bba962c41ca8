"""`markone validate`: estimates the accuracy of a rule on new rows."""

from __future__ import annotations

from markone.cli.options import Reading, Validating, given
from markone.cli.shared_options import (
    Folds,
    HeldFiles,
    Importance,
    Json,
    Memory,
    Method,
    NoProgress,
    Plot,
    Repeats,
    Share,
    Spec,
    Target,
    Threads,
)


def validate(
    *data: HeldFiles,
    target: Target = None,
    method: Method = "kfold",
    folds: Folds = 10,
    repeats: Repeats = 1,
    share: Share = 0.3,
    features: Spec = None,
    importance: Importance = None,
    threads: Threads = None,
    memory: Memory = None,
    plot: Plot = None,
    json: Json = False,
    quiet: NoProgress = False,
    learning: Validating | None = None,
    reading: Reading | None = None,
) -> None:
    """Estimate how accurate a rule is on new rows, by cross-validation.

    The rows are repeatedly split into training rows and test rows. In each split, features are made from the training
    rows only. The report shows the accuracy with its 95% interval and standard deviation, the accuracy of each fold,
    and the accuracy after each pass.

    For example:

    `markone validate reviews.csv --target label`

    `markone validate reviews.csv --target label --rule logistic --method holdout --share 0.3`

    `markone validate reviews.csv --target label --method loo --json`
    """
    from markone.cli.pictures import check_picture, of_validation, save_picture
    from markone.cli.progress import is_watched
    from markone.cli.reading import open_rows
    from markone.cli.report import show
    from markone.experiments.validating import validate as test

    check_picture(plot, *data, features)
    source = open_rows("validate", data, reading, target=target, importance=importance, threads=threads)
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
    save_picture(plot, lambda: of_validation(validation), f"{validation.name} on {source.name}")
    show(validation, source, json=json)
