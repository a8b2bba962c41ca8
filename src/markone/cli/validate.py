"""`markone validate`: how good a rule is on rows that it has not learned from."""

from __future__ import annotations

import sys
from typing import Literal

from markone.cli.options import FileName, Flag, Learning, Number, Reading, WholeNumber, given
from markone.errors import DataError


def validate(
    *data: FileName,
    target: str | None = None,
    method: Literal["kfold", "holdout", "loo"] = "kfold",
    folds: WholeNumber = 10,
    repeats: WholeNumber = 1,
    share: Number = 0.3,
    features: FileName | None = None,
    importance: str | None = None,
    threads: WholeNumber | None = None,
    memory: str | None = None,
    json: Flag = False,
    quiet: Flag = False,
    learning: Learning | None = None,
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
    data
        Files of one format, a pattern, a folder, or - for standard input. Their rows are held in memory.
    target
        The column to be predicted. Formats that have labels of their own need none.
    method
        `holdout` tests a share of the rows, `kfold` each row once, together with a fold of others, and `loo` each row
        alone. All classes have their share of every test.
    folds
        How many folds `kfold` has.
    repeats
        How often `kfold` or `holdout` is done, each time with other divisions.
    share
        The share of rows that `holdout` tests.
    features
        A file of TOML that says what features are made of the columns.
    importance
        A column that says how much each example counts in learning. In tests all count the same.
    threads
        How many threads make features; as many as there are cores by default. The result is the same.
    memory
        How much memory the rows may need: "2 GB"; half of the machine's by default.
    json
        Print one JSON object instead of the tables.
    quiet
        No progress.
    """
    from markone.cli.report import bad_lines, print_json
    from markone.cli.terminal import Terminal
    from markone.cli.train import open_source
    from markone.experiments.validation import validate as test

    if not data:
        raise DataError("there are no data to test on; name a file, as in: markone validate reviews.csv --target label")
    source = open_source(data, None, given(reading), target=target, importance=importance, threads=threads)
    validation = test(
        source,
        method=method,
        folds=folds,
        repeats=repeats,
        share=share,
        features=features,
        threads=threads,
        memory=memory,
        progress=not quiet and sys.stderr.isatty(),
        **given(learning),
    )
    if json:
        print_json({**validation.as_dict(), "bad_lines": source.bad.count})
        return
    Terminal(highlight=False).print(str(validation), markup=False, soft_wrap=True)
    bad_lines(source.bad)
