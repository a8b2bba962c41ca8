"""Rules: what each of them is like, which settings it has, and what is usual for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Rule = Literal["perceptron", "mira", "logistic", "hinge", "svm", "naive-bayes", "mlp"]
Solver = Literal["online", "newton", "ascent"]

ONLINE: tuple[Rule, ...] = ("perceptron", "mira", "logistic", "hinge")
"""Those that take a step at each example; `logistic` only by the solver `online`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Traits:
    """What is peculiar to a rule, beside its step."""

    online: bool = False
    """It takes a step at each example, and only looks at one at a time."""
    finds_its_step: bool = False
    """It needs no learning rate, and a penalty would have none either; its step is capped at C."""
    goes_by_length: bool = False
    """Its step depends on the length of the example."""
    comes_to_rest: bool = False
    """Where a pass changes nothing, the next would not either, so that such a pass is the end."""
    repeats: bool = False
    """An example of importance k is visited k times in place."""
    has_scale: bool = True
    """Its loss means the same whatever the scale of the features."""
    has_probabilities: bool = False
    """The softmax of its scores are probabilities."""
    nears_an_optimum: bool = False
    """It goes on until it is as near to the optimum as `tol` says."""
    counts: bool = False
    """It counts what occurs, and so needs features that can be counted."""
    usual: Mapping[str, Any] = field(default_factory=dict)
    """What the None of a setting stands for."""


SHARED = {"schedule": "constant", "strength": 1e-4}
STEPS = {**SHARED, "epochs": 10, "eta": 1.0, "average": True}
OPTIMUM = {**SHARED, "penalty": "l2", "balance": 0.0, "tol": 1e-4, "average": False}
ALL_AT_ONCE = {"has_probabilities": True, "nears_an_optimum": True, "comes_to_rest": True}

SOLVERS: dict[Solver, Traits] = {
    "online": Traits(online=True, has_probabilities=True, usual={**STEPS, "solver": "online"}),
    "newton": Traits(**ALL_AT_ONCE, usual={**OPTIMUM, "epochs": 100, "solver": "newton"}),
    "ascent": Traits(**ALL_AT_ONCE, usual={**OPTIMUM, "epochs": 1000, "solver": "ascent"}),
}
"""Ways to learn by the rule `logistic`."""

RULES: dict[Rule, Traits] = {
    "perceptron": Traits(online=True, comes_to_rest=True, repeats=True, has_scale=False, usual=STEPS),
    "mira": Traits(
        online=True,
        finds_its_step=True,
        goes_by_length=True,
        comes_to_rest=True,
        usual={**SHARED, "epochs": 10, "C": 0.3, "average": True},
    ),
    "logistic": SOLVERS["newton"],
    "hinge": Traits(online=True, usual=STEPS),
    "svm": Traits(
        nears_an_optimum=True,
        usual={
            **SHARED,
            "epochs": 10_000,
            "C": 1.0,
            "loss": "hinge",
            "multiclass": "crammer-singer",
            "tol": 1e-3,
            "average": False,
        },
    ),
    "naive-bayes": Traits(has_probabilities=True, counts=True, usual={**SHARED, "epochs": 1, "average": False}),
    "mlp": Traits(
        has_probabilities=True,
        usual={
            **SHARED,
            "epochs": 20,
            "activation": "relu",
            "optimizer": "adam",
            "dropout": 0.0,
            "average": False,
        },
    ),
}

ETA_OF_OPTIMIZER = {"adam": 0.001, "adagrad": 0.05, "sgd": 0.1}

OWNERS: dict[str, tuple[Rule, ...]] = {
    "eta": ("perceptron", "logistic", "hinge", "mlp"),
    "schedule": ("perceptron", "logistic", "hinge"),
    "C": ("mira", "svm"),
    "penalty": ("perceptron", "logistic", "hinge", "mlp"),
    "balance": ("logistic",),
    "average": ONLINE,
    "form": ("perceptron",),
    "bias": (*ONLINE, "svm"),
    "start": ONLINE,
    "order": (*ONLINE, "svm", "mlp"),
    "solver": ("logistic",),
    "loss": ("svm",),
    "multiclass": ("svm",),
    "k": ("naive-bayes",),
    "alpha": ("naive-bayes",),
    "likelihood": ("naive-bayes",),
    "priors": ("naive-bayes",),
    "hidden": ("mlp",),
    "activation": ("mlp",),
    "optimizer": ("mlp",),
    "dropout": ("mlp",),
    "batch": ("mlp",),
}
"""The rules that have a setting; what is not here, all have."""
ONLINE_ONLY = ("schedule", "average", "start", "order")
"""What the rule `logistic` has only where it is learned online."""
BY_ROWS = ("solver", "eta", "schedule", "strength", "balance", "tol")
"""What suits the rule `logistic` depends on the rows (learning/row_defaults.py)."""
