"""`markone compare`: which rule to use on some data, and why."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Number, Reading, WholeNumber, given, words_in
from markone.errors import DataError


def compare(
    *data: FileName,
    target: str | None = None,
    rules: str | None = None,
    contrasts: Annotated[bool, Parameter(show_default=False)] = True,
    method: Literal["kfold", "holdout", "loo"] = "kfold",
    folds: WholeNumber = 5,
    repeats: WholeNumber = 1,
    share: Number = 0.3,
    tune: Flag = False,
    seed: WholeNumber = 0,
    features: FileName | None = None,
    importance: str | None = None,
    threads: WholeNumber | None = None,
    memory: str | None = None,
    html: FileName | None = None,
    json: Flag = False,
    quiet: Flag = False,
    reading: Reading | None = None,
) -> None:
    """Compare all rules on the same rows, and say which one to use, and why.

    For each rule: accuracy on rows that it has not learned from, with its 95% interval; how long learning takes, and
    how many passes; the size of the model; and how far its probabilities are off, if it has any. Beside them stand the
    commonest class, 1-nearest-neighbour and a decision tree. Exact McNemar tests say which differences may be chance.

    Examples:

    `markone compare reviews.csv --target label`

    `markone compare reviews.csv --target label --rules mira,svm --folds 10`

    `markone compare reviews.csv --target label --html comparison.html`

    Parameters
    ----------
    data
        Files of one format, a pattern, a folder, or - for standard input. Their rows are held in memory.
    target
        The column to be predicted. Formats that have labels of their own need none.
    rules
        The rules to compare, written as mira,svm: perceptron, which is not averaged, averaged-perceptron, mira, hinge,
        logistic, logistic-newton, which goes to the optimum, svm, naive-bayes and mlp. All by default.
    contrasts
        Also test the commonest class, 1-nearest-neighbour and a decision tree; yes by default.
    method
        How rows are divided: `kfold` tests each row once, together with a fold of others, `holdout` a share of them,
        and `loo` each row alone.
    folds
        How many folds `kfold` has.
    repeats
        How often `kfold` or `holdout` is done, each time with other divisions.
    share
        The share of rows that `holdout` tests.
    tune
        Choose each rule's settings in each fold, by rows held out from those to learn from.
    seed
        Makes everything random repeatable.
    features
        A file of TOML that says what features are made of the columns.
    importance
        A column that says how much each example counts in learning. In tests all count the same.
    threads
        How many threads make features; as many as there are cores by default. The result is the same.
    memory
        How much memory the rows may need: "2 GB"; half of the machine's by default.
    html
        Also write a page with the tables and, where matplotlib is installed, pictures.
    json
        Print one JSON object instead of the tables.
    quiet
        No progress.
    """
    from markone.cli.output import check_not_read
    from markone.cli.report import bad_lines, print_json
    from markone.cli.terminal import Terminal
    from markone.cli.train import open_source
    from markone.experiments.comparing import compare as put_to_the_test
    from markone.model.atomic import writing

    if not data:
        raise DataError("there are no data to test on; name a file, as in: markone compare reviews.csv --target label")
    check_not_read(html, *data, features)
    source = open_source(data, None, given(reading), target=target, importance=importance, threads=threads)
    comparison = put_to_the_test(
        source,
        rules=None if rules is None else words_in(rules),
        contrasts=contrasts,
        method=method,
        folds=folds,
        repeats=repeats,
        share=share,
        tune=tune,
        seed=seed,
        features=features,
        threads=threads,
        memory=memory,
        progress=not quiet and sys.stderr.isatty(),
    )
    if html is not None:
        with writing(html) as file:
            file.write(comparison.html().encode())
    if json:
        print_json({**comparison.as_dict(), "bad_lines": source.bad.count})
        return
    Terminal(highlight=False).print(str(comparison), markup=False, soft_wrap=True)
    bad_lines(source.bad)
