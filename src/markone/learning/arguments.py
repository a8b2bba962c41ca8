"""What a caller of a training gives: names and settings that are checked, and those that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from inspect import signature
from typing import Any

from markone.checks import as_kept
from markone.data.read import read
from markone.data.source import Column
from markone.errors import DataError, Setting, SettingsError, did_you_mean
from markone.features.choices import chosen_as
from markone.features.spec import Features, Function
from markone.learning.run import check_same_settings
from markone.model.model import Model
from markone.model.rules import SOLVERS, Rule, owners_of
from markone.model.settings import Settings

USUAL_RULE: Rule = "mira"
OF_ANY_RULE = ("epochs", "average", "tie", "bias", "order", "class_weight", "seed")


def check_for_numbers(**given: Any) -> None:
    """Raise an error for arguments that a rule that predicts numbers does not have."""
    for name, value in given.items():
        if value is not None and name in ("positive", "classes", "threshold", "abstain"):
            raise SettingsError(name, "is about classes, and the rule 'regression' predicts numbers; leave it out")
        if value is not None:
            raise SettingsError(
                name, "is not possible for the rule 'regression', which converges to one optimum from any start"
            )


def check_for_sets(settings: Settings, **given: Any) -> None:
    """Raise an error if rows with several labels cannot be learned by the rule, or with these arguments."""
    if not settings.traits.linear or settings.traits.counts or settings.traits.predicts_numbers:
        raise SettingsError(
            "rule",
            f"is {settings.rule!r}, which cannot learn several labels for each row; use 'perceptron', 'mira', 'hinge', "
            "'logistic' or 'svm'",
        )
    if settings.partitions > 1:
        given["partitions"] = settings.partitions
    for name, value in given.items():
        if value is not None and value is not False:
            raise SettingsError(name, "is for rows with one label each, but here a row can have several; leave it out")


def check_weights_of_words(spec: Features, columns: Sequence[Column]) -> None:
    """Raise an error if words are weighted by classes, which rows with several labels do not have."""
    if any(column.kind == "text" and spec.for_column(column).weight == "odds" for column in columns):
        raise SettingsError(
            "text.weight", "is 'odds', which needs one class for each row, but here a row can have several; use 'idf'"
        )


NOT_SETTINGS = {
    "calibrate": "is not needed: the probabilities of a model are calibrated where this makes them better",
    "cv": "is called folds, an argument of markone.validate and markone.compare",
    "tune": "is not a setting, but a function: train with the settings of markone.tune(...).settings",
}
"""Names that users of other libraries try, with what to do instead."""


def check_names(settings: dict[str, Any], others: Iterable[str] = ()) -> None:
    """Raise an error for names that are not settings. `others` are the arguments that the function also has."""
    known = [field.name for field in fields(Settings)]
    for name in settings:
        if name not in known:
            if name in signature(read).parameters:
                raise SettingsError(name, f"is an argument of markone.read: train(markone.read(..., {name}=...))")
            if name in NOT_SETTINGS:
                raise SettingsError(name, NOT_SETTINGS[name])
            guess = did_you_mean(name, [*known, *others])
            raise SettingsError(name, f"is unknown; there are {', '.join(known)}.{guess}")


def check_kept(kept: Model, given: dict[str, Any]) -> None:
    """Raise an error if the training of a model cannot be resumed with these settings."""
    if kept.resume is None or "digest" not in kept.resume.facts:
        raise DataError(
            "the file to resume from is a final model without its training state",
            advice=("to continue training from its weights, set ", Setting("from_model", ...)),
        )
    declared = {field.name: field for field in fields(Settings)}
    now = {name: as_kept(declared[name], value) for name, value in given.items()}
    check_same_settings(kept.settings, now, "; leave it out")


def settings_of(given: dict[str, Any], base: Model | None) -> Settings:
    """Return the given settings, completed from the model to start from, or by defaults."""
    settings = Settings(**{**usual_settings(given, base), **given}).before_rows()
    if "holdout" in given:
        check_patience(settings)
    if settings.traits.online and settings.tol is not None and settings.patience is None:
        raise SettingsError("tol", "is the smallest improvement for patience; set patience, too")
    if "strength" in given and settings.spelled_out().penalty is None and settings.schedule != "inverse":
        raise SettingsError("strength", "is that of a penalty, or of the schedule 'inverse'; set one of them, too")
    return settings


def going_on(given: dict[str, Any], base: Model) -> dict[str, Any]:
    """Return the settings for a training that starts from a model: `logistic` then uses the solver 'online' by default,
    because the other solvers would converge to the same optimum from any start."""
    rule = given.get("rule", base.settings.rule)
    return {**given, "solver": "online"} if rule in [*SOLVERS] and given.get("solver") is None else given


def usual_settings(given: dict[str, Any], base: Model | None) -> dict[str, Any]:
    """Return the settings of the model to start from; for another rule or solver, only those that all rules have."""
    if base is None:
        return {"rule": USUAL_RULE}
    rule, before = given.get("rule", base.settings.rule), base.settings
    if rule == before.rule and given.get("solver", before.solver) == before.solver:
        instead = {"alpha": "k", "k": "alpha"}  # only one of them can be set
        gone = {other for name, other in instead.items() if given.get(name) is not None}
        return {field.name: getattr(before, field.name) for field in fields(Settings) if field.name not in gone}
    return {"rule": rule} | {
        name: getattr(before, name)
        for name in OF_ANY_RULE
        if rule in owners_of(name) and getattr(before, name) != before.traits.usual.get(name)
    }


def check_patience(settings: Settings) -> None:
    if settings.patience is not None and settings.holdout == 0 and settings.tol is None:
        raise SettingsError("patience", "needs held-out accuracy, or with tol the loss; set holdout or tol, too")


def spec_of(
    features: Any,
    functions: Mapping[str, Function] | None,
    base: Model | None,
    *,
    countable: bool,
    scaled: bool = True,
    curved: bool = False,
    classless: bool = False,
) -> Features:
    if base is None:
        return Features.of(features, functions, countable=countable, scaled=scaled, curved=curved, classless=classless)
    if features is None:
        return base.features.spec
    columns = base.features.columns
    given = Features.of(features, functions, countable=countable, scaled=scaled, classless=classless).settled(columns)
    given = chosen_as(given, columns, base.features.spec)
    if given.as_dict() != base.features.spec.as_dict():
        raise SettingsError("features", "are already in the model that the training starts from; leave them out")
    return base.features.spec
