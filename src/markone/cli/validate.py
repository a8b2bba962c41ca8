"""`markone validate`: how good a rule is on rows that it has not learned from."""

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
    json: Json = False,
    quiet: NoProgress = False,
    learning: Validating | None = None,
    reading: Reading | None = None,
) -> None:
    """Test a rule on rows that it has not learned from.

    The rows are divided again and again into some to learn from and some to be tested; features are learned anew each
    time. The accuracy, its 95% interval and its standard deviation, each fold, and the accuracy after each pass.

    For example:

    `markone validate reviews.csv --target label`

    `markone validate reviews.csv --target label --rule logistic --method holdout --share 0.3`

    `markone validate reviews.csv --target label --method loo --json`
    """
    from markone.cli.progress import is_watched
    from markone.cli.reading import open_rows
    from markone.cli.report import show
    from markone.experiments.validating import validate as test

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
    show(validation, source, json=json)
