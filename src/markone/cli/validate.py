"""`markone validate`: estimates the accuracy of a rule on new rows."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from markone.cli.options import Flag, Reading, Validating, WholeNumber, given, sizes_in
from markone.cli.shared_options import (
    FOLDS,
    SPLITS,
    Cluster,
    HeldFiles,
    Importance,
    Json,
    Memory,
    NoProgress,
    Plain,
    Plot,
    Repeats,
    Share,
    Spec,
    Splits,
    Target,
    Threads,
)
from markone.errors import SettingsError

USUAL_FOLDS = 10


def validate(
    *data: HeldFiles,
    target: Target = None,
    method: Annotated[Splits | None, Parameter(help=f"{SPLITS} The default is `kfold`.")] = None,
    folds: Annotated[WholeNumber | None, Parameter(help=f"{FOLDS} The default is {USUAL_FOLDS}.")] = None,
    repeats: Repeats = 1,
    share: Share = 0.3,
    curve: Flag = False,
    sizes: str | None = None,
    features: Spec = None,
    plain: Plain = False,
    importance: Importance = None,
    threads: Threads = None,
    memory: Memory = None,
    cluster: Cluster = None,
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

    `markone validate reviews.csv --target label --curve --sizes 20,40`

    Parameters
    ----------
    curve
        Show instead a learning curve: the accuracy by the number of training rows. The same rows are held out for all
        of them, which are those of --method holdout with --share and --repeats.
    sizes
        The numbers of training rows for --curve, such as 100,200,400. By default, all rows that are not held out, half
        of them, and so on.
    """
    from markone.cli.pictures import check_picture, of_learning_curve, of_validation, refuse_pictures, save_picture
    from markone.cli.progress import wished
    from markone.cli.reading import open_rows
    from markone.cli.report import show
    from markone.experiments.curve import learning_curve
    from markone.experiments.validating import validate as test
    from markone.experiments.validation import Validation

    check_picture(plot, *data, features)
    if curve and method not in (None, "holdout"):
        raise SettingsError(
            "curve", f"holds out a share of the rows, so --method {method} is not possible; leave out one"
        )
    if curve and plain:
        raise SettingsError("curve", "always uses straight lines, so leave out --plain")
    if curve and folds is not None:
        raise SettingsError("curve", "holds out a share of the rows, so --folds is not possible; leave out one")
    if curve and cluster is not None:
        raise SettingsError("cluster", "is for folds, not for a learning curve; leave out --cluster or --curve")
    if sizes is not None and not curve:
        raise SettingsError("sizes", "are the numbers of rows of a learning curve; set --curve, too")
    source = open_rows("validate", data, reading, target=target, importance=importance, threads=threads)
    how: dict[str, Any] = {
        "repeats": repeats,
        "share": share,
        "features": features,
        "threads": threads,
        "memory": memory,
        "progress": wished(quiet=quiet),
        **given(learning),
    }
    if curve:
        by_rows = learning_curve(source, sizes=None if sizes is None else sizes_in(sizes, "sizes"), **how)
        save_picture(plot, lambda: of_learning_curve(by_rows), f"{by_rows.name} on {source.name}")
        show(by_rows, source, json=json)
        return
    if plot is not None:
        refuse_pictures(source)
    folds = USUAL_FOLDS if folds is None else folds
    validation = test(source, method=method or "kfold", folds=folds, plain=plain, cluster=cluster, **how)
    if isinstance(validation, Validation):
        save_picture(plot, lambda: of_validation(validation), f"{validation.name} on {source.name}")
    show(validation, source, json=json)
