"""Starts a training at weights that the user gives."""

from __future__ import annotations

import os
from typing import Any, cast, get_args

from markone.data.source import Label
from markone.errors import SettingsError, did_you_mean
from markone.features.map import FeatureMap
from markone.learning.learner import Learner
from markone.learning.online import Linear
from markone.model.given_weights import GivenWeights
from markone.model.rules import SOLVERS
from markone.model.settings import Settings
from markone.model.settings import Start as NamedStart


def with_start(given: dict[str, Any], start: Any) -> tuple[dict[str, Any], GivenWeights | None]:
    """Return the settings with the argument `start` of a function, and the weights if it gives any.

    `logistic` then takes steps by default, because its other solvers converge to the same optimum from any start.
    """
    if start is None or (isinstance(start, str) and start in get_args(NamedStart)):
        return (given if start is None else {**given, "start": start}), None
    if isinstance(start, str) and not os.path.splitext(start)[1]:
        choices = get_args(NamedStart)
        raise SettingsError(
            "start",
            f"must be one of {', '.join(map(repr, choices))}, or weights or a file of weights, not {start!r}."
            f"{did_you_mean(start, choices)}",
        )
    weights = GivenWeights.of("start", start)
    takes_steps = given.get("rule") in tuple(SOLVERS) and given.get("solver") is None
    return ({**given, "solver": "online"} if takes_steps else given), weights


def check_given_start(settings: Settings) -> None:
    """Raise an error if a training with these settings cannot start at given weights."""
    if not settings.traits.online:
        raise SettingsError("start", f"is only for rules that take a step at each example, not for {settings.rule}")


def start_from(weights: GivenWeights, learner: Learner, features: FeatureMap, classes: list[Label]) -> None:
    """Set the first weights of a learner."""
    cast(Linear, learner).start_at(*weights.arrays(features.names(), classes, bias=learner.settings.bias))
