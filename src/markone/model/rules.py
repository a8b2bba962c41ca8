"""Rules and their families: what each rule is like, which settings it has, what is usual for it, and who does its work.

A family is what rules of one kind share. Its record holds everything that differs from family to family. The facts are
here; a class or function is filled in by the room that it belongs to:

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

Rule = Literal["perceptron", "mira", "logistic", "hinge", "svm", "naive-bayes", "mlp"]
Solver = Literal["online", "newton", "ascent"]

ONLINE: tuple[Rule, ...] = ("perceptron", "mira", "logistic", "hinge")
"""Those that take a step at each example; `logistic` only by the solver `online`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Traits:
    """What is peculiar to a rule, beside its step."""

    family: str
    """The name of its family in `FAMILIES`."""
    takes: frozenset[str] = frozenset()
    """The settings that it has, of those that not every rule has (`SPECIAL`)."""
    usual: Mapping[str, Any] = field(default_factory=dict)
    """What the None of a setting stands for."""
    by_rows: frozenset[str] = frozenset()
    """Those of which it depends on the rows (learning/row_defaults.py)."""
    grid: Callable[[Settings], Iterable[Choice]] = search_grids.nothing
    """What tuning tries, given the usual settings. The usual comes first: of two that are as good, the first is taken.
    """
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
    has_mistake_bound: bool = False
    """The perceptron's theorem holds for it: where a plane separates the examples, it makes a limited number of
    mistakes, and ends with a pass without any."""
    nears_an_optimum: bool = False
    """It goes on until it is as near to the optimum as `tol` says."""
    counts: bool = False
    """It counts what occurs, and so needs features that can be counted."""
    linear: bool = True
    """Its scores are sums of a weight times a value for each feature."""
    has_layers: bool = False
    """It has hidden layers, which find what weights alone do not."""
    tunes_passes: bool = False
    """More passes are not always better, so that tuning chooses how many."""


UNFILLED: Any = None
"""Until a room above fills it in."""


@dataclass(kw_only=True, slots=True)
class Family:
    """What the rules of one kind share."""

    name: str
    gap_in_words: str = ""
    """How near the optimum is, for those that near one: a format for `gap`, and for `percent`, which is 100 times it.
    """
    tunes_in_turn: bool = False
    """One learner serves all settings that tuning tries, by `with_settings`: so all rows choose, held out in turn."""
    warm_by: str | None = None
    """A setting for which the optimum of one value is near that of the next: tuning goes from one to the other."""
    changes: str = "w"
    """What a trace calls the numbers that a step changes."""

    settings: type[SpelledOut] = UNFILLED
    """Its settings with nothing left open."""
    scorer: type[Scorer] = UNFILLED
    """What its models predict with, and are loaded by."""
    learner: Callable[..., Any] = UNFILLED
    """Makes a learner of settings, and of the numbers of features and classes."""
    leave_one_out: Any = None
    """A `Shortcut` to exact leave-one-out (experiments/shortcuts.py); None where each row takes a training."""


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(name="online"),
        Family(name="optimum", gap_in_words="largest slope {gap:.2g}"),
        Family(
            name="svm",
            gap_in_words="duality gap {percent:.2g}% of it",
            warm_by="C",
        ),
        Family(name="naive-bayes", changes="counts", tunes_in_turn=True),
        Family(name="network"),
    )
}

SHARED = {"schedule": "constant", "strength": 1e-4}
STEPS = {**SHARED, "epochs": 10, "eta": 1.0, "average": True}
OPTIMUM = {**SHARED, "penalty": "l2", "balance": 0.0, "tol": 1e-4, "average": False}

ANY_ONLINE = frozenset({"average", "bias", "start", "order"})
GRADIENT = ANY_ONLINE | {"eta", "schedule", "penalty"}
LOGISTIC: dict[str, Any] = {
    "takes": GRADIENT | {"solver", "balance"},
    "by_rows": frozenset({"solver", "eta", "schedule", "strength", "balance", "tol"}),
    "has_probabilities": True,
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
        "ascent": Traits(**ALL_AT_ONCE, usual={**OPTIMUM, "epochs": 1000, "solver": "ascent"}),
    }
}
"""Rules that can be learned in several ways, by the name of the solver."""
ONLINE_ONLY = ("schedule", "average", "start", "order")
"""What a rule with several solvers has only where it is learned online."""

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
        takes=ANY_ONLINE | {"C"},
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
        takes=frozenset({"C", "bias", "order", "loss", "multiclass"}),
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
        takes=frozenset({"k", "alpha", "likelihood", "priors"}),
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
"""The rules as they are compared: the perceptron both as the lectures have it first and averaged, and logistic
regression both by a step at each example and to its optimum."""


def owners_of(setting: str) -> list[str]:
    """The rules that have a setting."""
    return [rule for rule, traits in RULES.items() if setting in traits.takes or setting not in SPECIAL]


def register(family: Family, rules: Mapping[str, Traits]) -> None:
    """Adds a family with its rules; each is compared under its own name."""
    FAMILIES[family.name] = family
    RULES.update(rules)
    COMPARED.update({rule: {"rule": rule} for rule in rules})
