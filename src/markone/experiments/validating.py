"""Validating: testing a way to learn on rows that were not used in training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from markone.checks import check_named, switch
from markone.errors import SettingsError
from markone.experiments.contenders import ByEstimator, ByRule, Way, by_rule, for_table
from markone.experiments.crew import crew_of
from markone.experiments.folds import divided
from markone.experiments.loo import left_out
from markone.experiments.progress import StepProgress, watching
from markone.experiments.splits import Method, Plan, Split
from markone.experiments.validating_labels import validate_labels
from markone.experiments.validation import Fold, Validation, about_rows, fold_of, result
from markone.extras import need
from markone.features.spec import Features, Function
from markone.learning import table_defaults
from markone.learning.arguments import USUAL_RULE
from markone.learning.reading import opened
from markone.learning.samples import Sample, open_regression, open_sample
from markone.model.rules import Rule
from markone.model.settings import TrialSettings


def validate(
    source: Any,
    target: Any = None,
    *,
    method: Method = "kfold",
    folds: int = 10,
    repeats: int = 1,
    share: float = 0.3,
    estimator: Any = None,
    rule: Rule | None = None,
    features: Any = None,
    functions: Mapping[str, Function] | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: StepProgress | bool | None = None,
    seed: int = 0,
    plain: bool = False,
    cluster: Any = None,
    **settings: Unpack[TrialSettings],
) -> Any:
    """Tests a rule or an estimator on rows that were not used in training.

    The result is a `Validation` or, if rows have lists of labels, a `LabelValidation`, with micro and macro F1.

    In each fold, features are made from the training rows only. So no information about the test rows leaks into them:
    neither their words nor how often a word occurs with a class.

    Parameters
    ----------
    source
        A source, or an argument of `markone.read`. All rows must fit in memory.
    target
        The target, as for `markone.read`, if `source` is not a source yet. For a regression, it is a column of numbers,
        or the numbers.
    method
        How to split the rows: `kfold` divides them into folds and tests each fold once, `holdout` tests a random share,
        and `loo` (leave-one-out) tests each row alone. The first two keep the shares of the classes.
    folds
        The number of folds of `kfold`.
    repeats
        How often to repeat `kfold` or `holdout`, each time with another random split.
    share
        The share of rows that `holdout` tests.
    estimator
        An estimator with the interface of scikit-learn, instead of a rule. It is cloned for each fold, and trained on
        the same features. A regressor is evaluated by its mean squared error.
    rule
        A rule, as for `train`. The default is also that of `train`, but `loo` uses `mira` for tables, too.
    features
        The spec of the features, as for `train`.
    functions
        Python functions that make more features, by name.
    threads
        The number of threads that make features; by default one per core. The result does not depend on it.
    memory
        How much memory the rows may use: bytes, or a text such as "2 GB"; by default half of the memory.
    progress
        True for a bar on a terminal and lines elsewhere; or an object that is called for each training.
    seed
        The seed of all random choices, including the splits.
    plain
        True for the rule `mira` and straight lines, also for a table, as for `train`.
    cluster
        The workers of a cluster test a fold each: the address of a Dask scheduler such as "tcp://host:8786", a
        `dask.distributed.Client`, the address of a Ray cluster such as "ray://host:10001", or the module `ray`. They
        read the files themselves, which must have the same path on all machines. The result is the same.
    settings
        Other settings of `markone.Settings`, such as `epochs` and `C`. With `patience`, a share of the training rows is
        held out for it, because the test rows must not influence training.

    Examples
    --------
    >>> texts = ["free money", "money now", "free tea now", "see you", "see you soon", "tea soon"] * 5
    >>> validation = validate(texts, target=["spam", "spam", "spam", "ham", "ham", "ham"] * 5, folds=3)
    >>> [len(fold.rows) for fold in validation.folds], validation.mean
    ([10, 10, 10], 1.0)
    """
    need("sklearn", "scipy")
    plan = Plan(method=method, folds=folds, repeats=repeats, share=share, seed=seed)
    given: dict[str, Any] = {**({} if rule is None else {"rule": rule}), **settings}
    if estimator is None:
        source, target = opened(source, target, threads), None
        if source.several:
            how: dict[str, Any] = {"features": features, "functions": functions, "threads": threads, "memory": memory}
            return validate_labels(source, plan, given, progress=progress, cluster=cluster, **how)
    way, regression = way_of(estimator, given, seed, features, functions)
    sample = open_for(way, regression, source, target, threads, memory)
    curved = estimator is None and method != "loo" and table_defaults.suits(sample.held.columns, given)
    table_defaults.check_plain(check_named("plain", switch, plain), curved)
    if curved and not plain:
        way = for_table(given, seed, features, functions)
    return validated(sample, plan, way, progress, cluster)


def way_of(
    estimator: Any, given: dict[str, Any], seed: int, features: Any, functions: Mapping[str, Function] | None
) -> tuple[Way, bool]:
    """Return the way to learn by an estimator or by a rule, and whether it is a regression."""
    if estimator is None:
        by = by_rule(given.get("rule", USUAL_RULE), given, seed, features, functions)
        return by, by.settings.traits.predicts_numbers
    check_estimator(estimator, given)
    way = ByEstimator(type(estimator).__name__, estimator, Features.of(features, functions))
    return way, is_regressor(estimator)


def open_for(
    way: Way, regression: bool, source: Any, target: Any, threads: int | None, memory: int | str | None
) -> Sample:
    """Read a sample for regression or for classification."""
    if regression and isinstance(way, ByRule):
        source, target = opened(source, target, threads), None
    return (open_regression if regression else open_sample)(source, target, threads, memory)


def check_estimator(estimator: Any, given: Mapping[str, Any]) -> None:
    if isinstance(estimator, type):
        raise SettingsError("estimator", f"must be an object, not a class: {estimator.__name__}()")
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and hasattr(estimator, "get_params")):
        raise SettingsError(
            "estimator", f"must have the methods of a scikit-learn estimator, and {estimator!r:.60} does not"
        )
    for name in given:
        raise SettingsError(name, "is only for rules; an estimator has its own settings, so leave it out")


def is_regressor(estimator: Any) -> bool:
    from sklearn.base import is_regressor as says_so

    return bool(says_so(estimator))


def validated(
    sample: Sample, plan: Plan, way: Way, progress: StepProgress | bool | None = None, cluster: Any = None
) -> Validation:
    """Test one way to learn on a sample."""
    splits, remarks = plan.divide(len(sample), sample.strata)
    if plan.method == "loo":
        return left_out(sample, way, splits, progress, cluster)
    tasks = (([f"{way.name}, fold {number_of(split, plan)} of {len(splits)}"], (split, way)) for split in splits)
    with crew_of(cluster, sample, sample.held, way.spec) as crew, watching(progress, len(splits)) as told:
        tests = [*crew.each(tested, tasks, told)]
    return result(sample, plan, way, tests, [*remarks, *about_rows(sample)])


def tested(sample: Sample, split: Split, way: Way) -> Fold:
    """Train and test on one split."""
    return fold_of(sample, split, way.answer(divided(sample, split, way.spec)))


def number_of(split: Split, plan: Plan) -> int:
    return (split.repeat - 1) * (plan.folds if plan.method == "kfold" else 1) + split.number
