"""`markone compare`: tests all rules on the same data, and recommends one."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from markone.cli.options import FileName, Flag, Reading, WholeNumber, words_in
from markone.cli.shared_options import (
    Cluster,
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
    no_bias: Flag = False,
    seed: WholeNumber = 0,
    features: Spec = None,
    importance: Importance = None,
    threads: Threads = None,
    memory: Memory = None,
    cluster: Cluster = None,
    html: FileName | None = None,
    plot: Plot = None,
    json: Json = False,
    quiet: NoProgress = False,
    reading: Reading | None = None,
) -> None:
    """Compare all rules on the same rows, recommend one, and say why.

    The table shows for each rule the accuracy on test rows with its 95% interval, the time and the number of passes of
    training, the size of the model, and the calibration error if the rule has probabilities. For comparison, it also
    shows the most frequent class, 1-nearest-neighbour and a decision tree. Exact McNemar tests tell which differences
    may be due to chance. If rows have several labels, rules are compared by micro F1.

    For example:

    `markone compare reviews.csv --target label`

    `markone compare reviews.csv --target label --rules mira,svm --folds 10`

    `markone compare reviews.csv --target label --html comparison.html`

    Parameters
    ----------
    rules
        The rules to compare, such as mira,svm. Their names are perceptron (not averaged), averaged-perceptron, mira,
        hinge, logistic (trained to the optimum), logistic-online, svm, naive-bayes and mlp. The default is all.
    contrasts
        Also test the most frequent class, 1-nearest-neighbour and a decision tree. The default is yes.
    tune
        Choose the settings of each rule in each fold, on held-out training rows.
    no_bias
        Train linear rules without a bias, so that their planes go through the origin.
    seed
        The seed of all random choices.
    html
        Also write an HTML page with the tables and, if matplotlib is installed, plots.
    """
    from markone.cli.commands import train_command
    from markone.cli.console import Terminal
    from markone.cli.output import check_not_read, write_page
    from markone.cli.pictures import check_picture, of_comparison, refuse_pictures, save_picture
    from markone.cli.progress import wished
    from markone.cli.reading import open_rows
    from markone.cli.report import show
    from markone.experiments.comparing import compare as run_comparison

    check_not_read(html, *data, features)
    check_picture(plot, *data, features, written=[html])
    source = open_rows("compare", data, reading, target=target, importance=importance, threads=threads)
    if plot is not None:
        refuse_pictures(source)
    comparison = run_comparison(
        source,
        rules=None if rules is None else words_in(rules),
        contrasts=contrasts,
        method=method,
        folds=folds,
        repeats=repeats,
        share=share,
        tune=tune,
        bias=not no_bias,
        seed=seed,
        features=features,
        threads=threads,
        memory=memory,
        progress=wished(quiet=quiet),
        cluster=cluster,
    )
    write_page(html, comparison.html)
    save_picture(plot, lambda: of_comparison(comparison), f"Rules compared on {comparison.source}")
    command = None
    if (best := comparison.best) is not None:
        settings = {**best.settings, **({"tune": True} if tune else {}), **({"seed": seed} if seed else {})}
        command = train_command(data, target, features=features, importance=importance, reading=reading, **settings)
    show(comparison, source, json=json, more={"command": command})
    if command is not None and not json:
        Terminal(highlight=False).print(f"\nNext:  {command}", markup=False, soft_wrap=True)
