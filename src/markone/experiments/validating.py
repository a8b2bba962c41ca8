"""Validating: a way to learn is put to the test on rows that it has not learned from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from markone.errors import SettingsError
from markone.experiments.contenders import ByEstimator, Way, by_rule
from markone.experiments.folds import divided
from markone.experiments.loo import left_out
from markone.experiments.progress import Progress, watching
from markone.experiments.splits import Method, Plan, Split
from markone.experiments.validation import Validation, about_rows, fold_of, result
from markone.features.spec import Features, Function
from markone.learning.samples import Sample, open_regression, open_sample
from markone.learning.training import USUAL_RULE
from markone.model.rules import Rule
from markone.model.settings import TrialSettings


def validate(
    source: Any,
    *,
    target: Any = None,
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
    progress: Progress | bool | None = None,
    seed: int = 0,
    **settings: Unpack[TrialSettings],
) -> Validation:
    """Tests a way to learn on rows that it has not learned from.

    Features are learned anew in each fold from its rows to learn from, so that nothing of the tested rows leaks into
    them: neither their words nor how often a word goes with a class.

    Parameters
    ----------
    source
        A source, or what `markone.read` takes. Its rows are held in memory.
    target
        What is to be predicted, as for `markone.read`, where `source` is not yet a source. For a regression it is a
        column of numbers, or the numbers.
    method
        `holdout` tests a share of the rows, `kfold` each row once, together with a fold of others, and `loo` each row
        alone. All classes have their share of every test.
    folds
        How many folds `kfold` has.
    repeats
        How often `kfold` or `holdout` is done, each time with other divisions.
    share
        The share of rows that `holdout` tests.
    estimator
        Instead of a rule: any estimator of scikit-learn's kind. It is cloned for each fold, and learns from the same
        features. A regressor is measured by its mean squared error.
    rule
        A rule, as for `train`. `mira` by default.
    features
        The spec of the features, as for `train`.
    functions
        Python functions that make more features, by name.
    threads
        How many threads make features; as many as there are cores by default. The result is the same.
    memory
        How much memory the rows may need: bytes, or a text such as "2 GB"; half of the machine's by default.
    progress
        True for a bar on a terminal and lines elsewhere; or an object that is told of each training.
    seed
        Makes everything random repeatable, the divisions included.
    settings
        All else is as in `markone.Settings`: `epochs`, `C` and so on. With `patience`, a share of the rows to learn
        from is held out for it: the tested rows never choose anything.

    Examples
    --------
    >>> texts = ["free money", "money now", "free tea now", "see you", "see you soon", "tea soon"] * 5
    >>> validation = validate(texts, target=["spam", "spam", "spam", "ham", "ham", "ham"] * 5, folds=3)
    >>> [len(fold.rows) for fold in validation.folds], validation.mean
    ([10, 10, 10], 1.0)
    """
    plan = Plan(method=method, folds=folds, repeats=repeats, share=share, seed=seed)
    given: dict[str, Any] = {**({} if rule is None else {"rule": rule}), **settings}
    if estimator is not None:
        check_estimator(estimator, given)
        way: Way = ByEstimator(type(estimator).__name__, estimator, Features.of(features, functions))
    else:
        way = by_rule(given.get("rule", USUAL_RULE), given, seed, features, functions)
    regression = estimator is not None and is_regressor(estimator)
    sample = (open_regression if regression else open_sample)(source, target, threads, memory)
    return validated(sample, plan, way, progress)


def check_estimator(estimator: Any, given: Mapping[str, Any]) -> None:
    if isinstance(estimator, type):
        raise SettingsError("estimator", f"must be an object, not a class: {estimator.__name__}()")
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and hasattr(estimator, "get_params")):
        raise SettingsError("estimator", f"must have the methods of scikit-learn's, and {estimator!r:.60} has not")
    for name in given:
        raise SettingsError(name, "is for rules; an estimator has its settings in itself: leave it out")


def is_regressor(estimator: Any) -> bool:
    from sklearn.base import is_regressor as says_so

    return bool(says_so(estimator))


def validated(sample: Sample, plan: Plan, way: Way, progress: Progress | bool | None = None) -> Validation:
    """One way to learn, put to the test."""
    splits, remarks = plan.divide(len(sample), sample.strata)
    if plan.method == "loo":
        return left_out(sample, way, splits, progress)
    tests = []
    with watching(progress, len(splits)) as told:
        for split in splits:
            told.step(f"{way.name}, fold {number_of(split, plan)} of {len(splits)}")
            tests.append(fold_of(sample, split, way.answer(divided(sample, split, way.spec))))
    return result(sample, plan, way, tests, [*remarks, *about_rows(sample)])


def number_of(split: Split, plan: Plan) -> int:
    return (split.repeat - 1) * (plan.folds if plan.method == "kfold" else 1) + split.number
