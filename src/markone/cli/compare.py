"""`markone compare`: which rule to use on some data, and why."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Reading, WholeNumber, words_in
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


def compare(
    *data: HeldFiles,
    target: Target = None,
    rules: str | None = None,
    contrasts: Annotated[bool, Parameter(show_default=False)] = True,
    method: Method = "kfold",
    folds: Folds = 5,
    repeats: Repeats = 1,
    share: Share = 0.3,
    tune: Flag = False,
    seed: WholeNumber = 0,
    features: Spec = None,
    importance: Importance = None,
    threads: Threads = None,
    memory: Memory = None,
    html: FileName | None = None,
    json: Json = False,
    quiet: NoProgress = False,
    reading: Reading | None = None,
) -> None:
    """Compare all rules on the same rows, and say which one to use, and why.

    For each rule: accuracy on rows that it has not learned from, with its 95% interval; how long learning takes, and
    how many passes; the size of the model; and how far its probabilities are off, if it has any. Beside them stand the
    commonest class, 1-nearest-neighbour and a decision tree. Exact McNemar tests say which differences may be chance.

    For example:

    `markone compare reviews.csv --target label`

    `markone compare reviews.csv --target label --rules mira,svm --folds 10`

    `markone compare reviews.csv --target label --html comparison.html`

    Parameters
    ----------
    rules
        The rules to compare, written as mira,svm: perceptron, which is not averaged, averaged-perceptron, mira, hinge,
        logistic, which goes to the optimum, logistic-online, svm, naive-bayes and mlp. All by default.
    contrasts
        Also test the commonest class, 1-nearest-neighbour and a decision tree; yes by default.
    tune
        Choose each rule's settings in each fold, by rows held out from those to learn from.
    seed
        Makes everything random repeatable.
    html
        Also write a page with the tables and, where matplotlib is installed, pictures.
    """
    from markone.cli.commands import train_command
    from markone.cli.output import check_not_read, write_page
    from markone.cli.progress import is_watched
    from markone.cli.reading import open_rows
    from markone.cli.report import show
    from markone.cli.terminal import Terminal
    from markone.experiments.comparing import compare as put_to_the_test

    check_not_read(html, *data, features)
    source = open_rows("compare", data, reading, target=target, importance=importance, threads=threads)
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
        progress=is_watched(quiet=quiet),
    )
    write_page(html, comparison.html)
    command = None
    if (best := comparison.best) is not None:
        how = {**best.settings, **({"tune": True} if tune else {}), **({"seed": seed} if seed else {})}
        command = train_command(data, target, features=features, importance=importance, reading=reading, **how)
    show(comparison, source, json=json, more={"command": command})
    if command is not None and not json:
        Terminal(highlight=False).print(f"\nNext:  {command}", markup=False, soft_wrap=True)
