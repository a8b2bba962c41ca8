"""Rules and their families: the traits, settings and defaults of each rule, and the classes that implement it.

A family is a group of similar rules. Its record contains everything that differs between families. Simple facts are
here; each class or function is filled in by the room that it belongs to:

| hook | filled in by |
| --- | --- |
| `settings` | `model/settings.py` |
| `scorer` | `model/scorers.py` |
| `learner` | `learning/learners.py` |
| `leave_one_out` | `experiments/loo.py` |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from markone.model import search_grids
from markone.model.search_grids import Choice

if TYPE_CHECKING:
    from markone.model.scorer import Scorer
    from markone.model.settings import Settings, SpelledOut

Rule = Literal["perceptron", "mira", "logistic", "hinge", "svm", "naive-bayes", "mlp", "regression"]
Solver = Literal["online", "newton", "ascent"]

ONLINE: tuple[Rule, ...] = ("perceptron", "mira", "logistic", "hinge")
"""The rules that take a step at each example; `logistic` does so only with the solver `online`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Traits:
    """The properties of a rule, apart from its update step."""

    family: str
    """The name of its family in `FAMILIES`."""
    takes: frozenset[str] = frozenset()
    """The settings that the rule has, among those that not every rule has (`SPECIAL`)."""
    usual: Mapping[str, Any] = field(default_factory=dict)
    """The default values, which replace None."""
    by_rows: frozenset[str] = frozenset()
    """The settings whose defaults depend on the rows (learning/row_defaults.py)."""
    grid: Callable[[Settings], Iterable[Choice]] = search_grids.nothing
    """Returns the settings that tuning tries, from the default settings. The defaults come first, because the first of
    several equally good settings is chosen."""
    online: bool = False
    """It takes a step at each example, and uses only one example at a time."""
    finds_its_step: bool = False
    """It computes the length of its step itself, at most C. It has no learning rate, and so no penalty either."""
    goes_by_length: bool = False
    """Its step depends on the length of the example."""
    comes_to_rest: bool = False
    """If a pass changes nothing, the next would change nothing either, so training ends."""
    repeats: bool = False
    """An example of importance k is visited k times in a row."""
    has_scale: bool = True
    """The scale of the features does not change the meaning of its loss."""
    has_probabilities: bool = False
    """The softmax of its scores is a probability distribution."""
    has_mistake_bound: bool = False
    """The perceptron convergence theorem holds: if a plane separates the examples, the number of mistakes is bounded,
    and the last pass has none."""
    nears_an_optimum: bool = False
    """It minimises an objective, and stops when it is within `tol` of the optimum."""
    predicts_numbers: bool = False
    """It predicts numbers, not classes."""
    counts: bool = False
    """It counts events, and so needs features that can be counted."""
    linear: bool = True
    """Its scores are the sum over features of weight times value."""
    has_layers: bool = False
    """It has hidden layers, which can learn functions that are not linear."""
    alternative: Rule = "logistic"
    """The rule to try next if a model of this rule is no better than the majority."""
    tunes_passes: bool = False
    """More passes are not always better, so tuning chooses their number."""


UNFILLED: Any = None
"""A field that another room fills in."""


@dataclass(kw_only=True, slots=True)
class Family:
    """A group of similar rules: the facts, classes and functions that they share."""

    name: str
    gap_in_words: str = ""
    """A format for the distance to the optimum, with the fields `gap` and `percent` (100 times `gap`)."""
    tunes_in_turn: bool = False
    """One learner can evaluate all settings with `with_settings`, so tuning uses leave-one-out over all rows."""
    warm_by: str | None = None
    """A setting whose neighbouring values have similar optima. Tuning starts at the optimum of the previous value."""
    has_multipliers: bool = False
    """Its learners have a multiplier for each example, and so continue from the same rows, not from weights."""
    changes: str = "w"
    """The name in traces of the numbers that a step changes."""

    settings: type[SpelledOut] = UNFILLED
    """The class of its settings with all defaults filled in."""
    scorer: type[Scorer] = UNFILLED
    """The class with which its models predict and are loaded."""
    learner: Callable[..., Any] = UNFILLED
    """Makes a learner from settings and the numbers of features and classes."""
    leave_one_out: Any = None
    """A `Shortcut` for exact leave-one-out (experiments/shortcuts.py); None if each row needs its own training."""


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(name="online"),
        Family(name="optimum", gap_in_words="largest slope {gap:.2g}"),
        Family(
            name="svm",
            gap_in_words="duality gap {percent:.2g}% of it",
            warm_by="C",
            has_multipliers=True,
        ),
        Family(name="naive-bayes", changes="counts", tunes_in_turn=True),
        Family(name="network"),
        Family(name="regression", gap_in_words="largest slope {gap:.2g}"),
    )
}

SHARED = {"schedule": "constant", "strength": 1e-4}
STEPS = {**SHARED, "epochs": 10, "eta": 1.0, "average": True}
OPTIMUM = {**SHARED, "penalty": "l2", "balance": 0.0, "tol": 1e-4, "average": False}

ANY_ONLINE = frozenset({"average", "bias", "start", "order", "partitions", "mixing"})
GRADIENT = ANY_ONLINE | {"eta", "schedule", "penalty"}
LOGISTIC: dict[str, Any] = {
    "takes": GRADIENT | {"solver", "gradient", "balance"},
    "by_rows": frozenset({"solver", "eta", "schedule", "strength", "balance", "tol"}),
    "has_probabilities": True,
    "alternative": "svm",
}
ALL_AT_ONCE: dict[str, Any] = {
    **LOGISTIC,
    "family": "optimum",
    "nears_an_optimum": True,
    "comes_to_rest": True,
    "grid": search_grids.strengths,
}

SOLVERS: dict[str, dict[str, Traits]] = {
    "logistic": {
        "online": Traits(
            **LOGISTIC,
            family="online",
            online=True,
            tunes_passes=True,
            grid=search_grids.rates,
            usual={**STEPS, "solver": "online"},
        ),
        "newton": Traits(**ALL_AT_ONCE, usual={**OPTIMUM, "epochs": 100, "solver": "newton"}),
        "ascent": Traits(**ALL_AT_ONCE, usual={**OPTIMUM, "epochs": 1000, "solver": "ascent", "gradient": "sum"}),
    }
}
"""Rules with several solvers, and the traits of each solver."""
ONLINE_ONLY = ("schedule", "average", "start", "order", "mixing")
"""The settings that a rule with several solvers has only with the solver `online`."""

RULES: dict[str, Traits] = {
    "perceptron": Traits(
        family="online",
        takes=GRADIENT | {"form"},
        online=True,
        tunes_passes=True,
        comes_to_rest=True,
        repeats=True,
        has_scale=False,
        has_mistake_bound=True,
        usual=STEPS,
    ),
    "mira": Traits(
        family="online",
        takes=ANY_ONLINE | {"C", "form", "update"},
        online=True,
        tunes_passes=True,
        finds_its_step=True,
        goes_by_length=True,
        comes_to_rest=True,
        grid=search_grids.caps,
        usual={**SHARED, "epochs": 10, "C": 0.3, "average": True},
    ),
    "logistic": SOLVERS["logistic"]["newton"],
    "hinge": Traits(
        family="online",
        takes=GRADIENT,
        by_rows=frozenset({"eta"}),
        online=True,
        tunes_passes=True,
        grid=search_grids.rates,
        usual=STEPS,
    ),
    "svm": Traits(
        family="svm",
        takes=frozenset({"C", "bias", "order", "loss", "multiclass", "partitions"}),
        nears_an_optimum=True,
        grid=search_grids.costs,
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
    "naive-bayes": Traits(
        family="naive-bayes",
        takes=frozenset({"k", "alpha", "likelihood", "priors", "partitions"}),
        has_probabilities=True,
        counts=True,
        linear=False,
        grid=search_grids.smoothings,
        usual={**SHARED, "epochs": 1, "average": False},
    ),
    "mlp": Traits(
        family="network",
        takes=frozenset({"eta", "penalty", "order", "hidden", "activation", "optimizer", "dropout", "batch"}),
        has_probabilities=True,
        linear=False,
        has_layers=True,
        tunes_passes=True,
        grid=search_grids.sizes_and_rates,
        usual={
            **SHARED,
            "epochs": 20,
            "activation": "relu",
            "optimizer": "adam",
            "dropout": 0.0,
            "average": False,
        },
    ),
    "regression": Traits(
        family="regression",
        takes=frozenset({"loss", "quantile", "penalty", "bias"}),
        by_rows=frozenset({"strength", "tol"}),
        predicts_numbers=True,
        nears_an_optimum=True,
        comes_to_rest=True,
        usual={**OPTIMUM, "epochs": 100, "tol": 1e-5, "solver": "newton", "loss": "squared"},
    ),
}

SPECIAL = frozenset().union(*(traits.takes for traits in RULES.values()))
"""The settings that only some rules have."""

COMPARED: dict[str, dict[str, Any]] = {
    "perceptron": {"rule": "perceptron", "average": False},
    "averaged-perceptron": {"rule": "perceptron"},
    "mira": {"rule": "mira"},
    "hinge": {"rule": "hinge"},
    "logistic": {"rule": "logistic"},
    "logistic-online": {"rule": "logistic", "solver": "online"},
    "svm": {"rule": "svm"},
    "naive-bayes": {"rule": "naive-bayes"},
    "mlp": {"rule": "mlp"},
}
"""The settings of each candidate in a comparison. The perceptron is compared with and without averaging, and logistic
regression with the solvers `newton` and `online`."""


def predicts_numbers(rule: Any) -> bool:
    """Return whether this is the name of a rule that predicts numbers."""
    traits = RULES.get(rule) if isinstance(rule, str) else None
    return traits is not None and traits.predicts_numbers


def owners_of(setting: str) -> list[str]:
    """Return the rules that have a setting."""
    return [rule for rule, traits in RULES.items() if setting in traits.takes or setting not in SPECIAL]


def register(family: Family, rules: Mapping[str, Traits]) -> None:
    """Add a family with its rules. Each rule takes part in comparisons under its own name."""
    FAMILIES[family.name] = family
    RULES.update(rules)
    COMPARED.update({rule: {"rule": rule} for rule in rules})
