"""Settings are checked before any work, in words."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from markone import MarkoneError, SettingsError
from markone.data.blocks import Block
from markone.learning.class_weights import weighted
from markone.learning.learners import learner_for
from markone.learning.passes import teach
from markone.model.rules import ONLINE, RULES, SOLVERS, Rule, owners_of
from markone.model.settings import Settings

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"rule": "preceptron"}, "rule must be one of .* Did you mean 'perceptron'"),
    ({"rule": None}, "rule must be one of"),
    ({"schedule": "sqr"}, "Did you mean 'sqrt'"),
    ({"penalty": ["l1", "l2"]}, "penalty must be one of"),
    ({"penalty": "l3"}, "penalty must be one of None, 'l1', 'l2'"),
    ({"tie": "zero"}, "tie must be"),
    ({"form": "x"}, "form must be"),
    ({"start": "one"}, "start must be"),
    ({"order": "random"}, "order must be"),
    ({"epochs": 0}, "epochs must be a whole number of at least 1, not 0"),
    ({"epochs": 2.5}, "epochs must be a whole number"),
    ({"epochs": True}, "epochs must be a whole number"),
    ({"eta": 0}, "eta must be a number greater than 0"),
    ({"eta": math.inf}, "eta must be a number greater than 0 and finite"),
    ({"eta": math.nan}, "eta must be a number greater than 0 and finite, not nan"),
    ({"eta": "1"}, "eta must be a number greater than 0 and finite, not '1'"),
    ({"eta": 10**400}, "eta must be a number that a float can hold"),
    ({"tol": -(10**400)}, "tol must be a number that a float can hold"),
    ({"rule": "svm", "C": 10**400}, "C must be a number that a float can hold"),
    ({"rule": "naive-bayes", "priors": {"a": 10**400, "b": 1}}, "priors must be 'data', 'uniform', or a number"),
    ({"rule": "mira", "C": 0}, "C must be a number greater than 0"),
    ({"strength": -1}, "strength must be a number of at least 0"),
    ({"strength": "0.1"}, "strength must be a number"),
    ({"rule": "mlp", "eta": 1e300}, "eta must be at most 1e\\+38 for the rule 'mlp'"),
    ({"rule": "mlp", "dropout": 1 - 1e-9}, "dropout must be at most 0.999999 for the rule 'mlp'"),
    ({"rule": "logistic", "balance": -1}, "balance must be a number of at least 0"),
    ({"rule": "hinge", "balance": 1.0}, "balance belongs to the rule 'logistic', not to 'hinge'"),
    ({"rule": "logistic", "balance": 1.0, "solver": "online"}, "balance is not used by the solver 'online'"),
    ({"rule": "logistic", "balance": 1.0, "penalty": "l1"}, "balance works with the penalty 'l2'"),
    ({"rule": "logistic", "balance": 1.0, "bias": False}, "balance needs a bias"),
    ({"seed": -1}, "seed must be a whole number of at least 0"),
    ({"holdout": 1}, "holdout must be a number of at least 0 and less than 1"),
    ({"patience": 0}, "patience must be a whole number of at least 1"),
    ({"tol": math.inf}, "tol must be a number that is finite"),
    ({"average": 1}, "average must be True or False"),
    ({"bias": "yes"}, "bias must be True or False"),
    ({"rule": "mira", "eta": 0.1}, "eta is not used by the rule 'mira'"),
    ({"rule": "mira", "penalty": "l2"}, "penalty is not used by the rule 'mira'"),
    ({"rule": "mira", "schedule": "sqrt"}, "schedule is not used by the rule 'mira'"),
    ({"rule": "hinge", "C": 1.0}, "C belongs to the rules 'mira' and 'svm', not to 'hinge'"),
    ({"rule": "hinge", "form": "difference"}, "form belongs to the rules 'perceptron' and 'mira', not to 'hinge'"),
    ({"update": "mistake"}, "update belongs to the rule 'mira', not to 'perceptron'"),
    ({"rule": "mira", "update": "mistakes"}, "update must be .* Did you mean 'mistake'"),
    ({"rule": "logistic", "solver": "ascent", "gradient": "total"}, "gradient must be one of None, 'sum', 'mean'"),
    ({"rule": "logistic", "solver": "newton", "gradient": "mean"}, "gradient belongs to the solver 'ascent'"),
    ({"rule": "logistic", "solver": "online", "gradient": "sum"}, "gradient belongs to the solver 'ascent'"),
    ({"rule": "logistic", "gradient": "sum"}, "gradient belongs to the solver 'ascent'; set that solver, too"),
    ({"rule": "mira", "gradient": "sum"}, "gradient belongs to the rule 'logistic', not to 'mira'"),
    ({"schedule": "inverse", "strength": 0}, "strength must be greater than 0 if the learning rate decreases"),
]


@pytest.mark.parametrize(("chosen", "sentence"), WRONG, ids=lambda value: str(value)[:50])
def test_a_wrong_setting_gets_a_sentence(chosen: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence) as caught:
        Settings(**chosen)
    assert isinstance(caught.value, MarkoneError) and isinstance(caught.value, ValueError)
    assert caught.value.name in chosen


def test_settings_are_frozen_and_show_what_is_not_default() -> None:
    settings = Settings(rule="mira", C=0.5)
    assert repr(settings) == "Settings(rule='mira', C=0.5)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.C = 1.0  # type: ignore[misc]
    assert dataclasses.replace(settings, epochs=9).epochs == 9


# Each setting, with values that must lead elsewhere than the base does.
CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"rule": "hinge"}),
    ({}, {"rule": "logistic"}),
    ({}, {"rule": "mira"}),
    ({}, {"epochs": 2}),
    ({}, {"eta": 0.5}),
    ({}, {"schedule": "sqrt"}),
    ({"penalty": "l2"}, {"schedule": "inverse"}),
    ({}, {"schedule": "adagrad"}),
    ({"rule": "mira"}, {"C": 0.01}),
    ({}, {"penalty": "l1"}),
    ({}, {"penalty": "l2"}),
    ({"penalty": "l1"}, {"strength": 0.1}),
    ({"penalty": "l2"}, {"strength": 0.1}),
    ({"penalty": "l2", "schedule": "adagrad"}, {"strength": 0.1}),
    ({}, {"average": False}),
    ({"bias": False}, {"tie": "negative"}),
    ({"bias": False}, {"tie": "positive"}),
    ({}, {"form": "difference"}),
    ({"rule": "mira", "C": 0.01}, {"form": "difference"}),
    ({"rule": "mira"}, {"update": "mistake"}),
    ({}, {"bias": False}),
    ({}, {"start": "random"}),
    ({}, {"order": "given"}),
    ({}, {"order": "once"}),
    ({}, {"seed": 1}),
    ({}, {"class_weight": {0: 3}}),
    ({}, {"holdout": 0.2}),
    ({"holdout": 0.2, "epochs": 40}, {"patience": 1}),
    ({"epochs": 40, "patience": 2}, {"tol": 0.5}),
    ({}, {"partitions": 2}),
    ({"partitions": 5, "order": "given"}, {"mixing": "mistakes"}),
    ({"rule": "logistic"}, {"solver": "newton"}),
    ({"rule": "logistic", "solver": "newton"}, {"solver": "ascent"}),
    ({"rule": "logistic", "solver": "newton"}, {"tol": 1e-9}),
    ({"rule": "logistic", "solver": "newton"}, {"penalty": "l1"}),
    ({"rule": "logistic", "solver": "newton"}, {"strength": 0.1}),
    ({"rule": "logistic", "solver": "newton"}, {"balance": 1.0}),
    ({"rule": "logistic", "solver": "ascent"}, {"balance": 1.0}),
    ({"rule": "logistic", "solver": "newton"}, {"bias": False}),
    ({"rule": "logistic", "solver": "newton"}, {"epochs": 1}),
    ({"rule": "logistic", "solver": "ascent"}, {"eta": 0.01}),
    ({"rule": "logistic", "solver": "ascent", "eta": 0.001}, {"gradient": "mean"}),
]


def outcome(chosen: dict[str, Any]) -> list[bytes]:
    random = np.random.default_rng(0)
    X = random.integers(-4, 5, (120, 5)) / 2  # such numbers tie often
    y = (X @ [1, -1, 0.5, 2, 0] + random.normal(size=120) > 0).astype(int)
    settings = Settings(**chosen)
    learner = learner_for(settings, features=5, classes=2)
    history = teach(learner, Block.of(X, y, weighted(settings.class_weight, [0, 1], y, None)))
    weights = learner.scorer().weights
    assert weights is not None  # it is linear
    return [weights.matrix().tobytes(), weights.bias().tobytes(), str(len(history)).encode()]


@pytest.mark.parametrize(("base", "change"), CHANGES, ids=str)
def test_every_setting_changes_something(base: dict[str, Any], change: dict[str, Any]) -> None:
    assert outcome(base) != outcome(base | change)
    assert outcome(base | change) == outcome(base | change)


def test_every_rule_has_its_traits() -> None:
    assert set(RULES) == set(get_args(Rule))


@pytest.mark.parametrize("rule", get_args(Rule))
@pytest.mark.parametrize("solver", [None, "online", "newton", "ascent"])
def test_what_is_usual_passes_the_checks(rule: Rule, solver: Any) -> None:
    """Settings that are spelled out are not checked again; no family leaves None where its class says there is none."""
    if solver is not None and rule not in SOLVERS:
        return
    how = Settings(rule=rule, solver=solver).spelled_out()
    assert type(how) is how.family.settings and how.spelled_out() is how
    assert Settings(**how.values()) == how and hash(Settings(**how.values())) == hash(how)
    for name, hint in get_type_hints(type(how)).items():
        assert getattr(how, name) is not None or type(None) in get_args(hint) or hint is Any, name


def test_no_setting_was_forgotten() -> None:
    changed = {name for _, change in CHANGES for name in change}
    online = {field.name for field in dataclasses.fields(Settings) if {*owners_of(field.name)} & {*ONLINE}}
    assert changed == online
