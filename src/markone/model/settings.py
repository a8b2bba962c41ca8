"""Everything that a user can set about learning, checked in one place before any work."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from markone import _core
from markone.errors import SettingsError, did_you_mean

Rule = Literal["perceptron", "mira", "logistic", "hinge"]
Schedule = Literal["constant", "sqrt", "inverse", "adagrad"]
Penalty = Literal["l1", "l2"]
Tie = Literal["negative", "error", "positive"]
Form = Literal["label", "difference"]
Start = Literal["zero", "random"]
Order = Literal["given", "once", "each"]


USUAL_ETA = 1.0
USUAL_C = 0.3


@dataclass(frozen=True, kw_only=True, slots=True)
class Traits:
    """What is peculiar to a rule, beside its step."""

    finds_its_step: bool = False
    """It needs no learning rate, and a penalty would have none either; its step is capped at C."""
    goes_by_length: bool = False
    """Its step depends on the length of the example."""
    comes_to_rest: bool = False
    """It changes nothing once all is well, so that a pass without a change is the end."""
    repeats: bool = False
    """An example of importance k is visited k times in place."""
    has_scale: bool = True
    """Its loss means the same whatever the scale of the features."""


RULES: dict[Rule, Traits] = {
    "perceptron": Traits(comes_to_rest=True, repeats=True, has_scale=False),
    "mira": Traits(finds_its_step=True, goes_by_length=True, comes_to_rest=True),
    "logistic": Traits(),
    "hinge": Traits(),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """How to learn. Frozen: a change is a new object, `dataclasses.replace(settings, epochs=20)`.

    `None` stands for "what suits the rule"; a setting that the rule has no use for is an error, not ignored.

    >>> Settings(rule="mira", C=0.1)
    Settings(rule='mira', C=0.1)
    >>> Settings(rule="mira", eta=0.1)
    Traceback (most recent call last):
    ...
    markone.errors.SettingsError: eta is not used by the rule 'mira', which finds its own step; leave it out, or set C
    """

    rule: Rule = "perceptron"
    """How an example moves the weights."""
    epochs: int = 10
    """Passes over the data, at most."""
    eta: float | None = None
    """The learning rate, or its first value. 1 by default."""
    schedule: Schedule = "constant"
    """How the rate falls: eta; eta / √t; eta / (1 + eta·strength·t); or AdaGrad's rate for each weight."""
    C: float | None = None
    """The longest step of `mira`; may be infinite. 0.3 by default."""
    penalty: Penalty | None = None
    """What large weights cost: their absolute values (`l1`, which makes many of them 0) or their squares (`l2`)."""
    strength: float = 1e-4
    """How much they cost; also what `schedule="inverse"` falls by."""
    average: bool = True
    """Use the average of all weight vectors met in training instead of the last one."""
    tie: Tie = "error"
    """What a score of 0 means: the first class, the second, or a mistake whatever the label."""
    form: Form = "label"
    """The perceptron's step: w += eta·y·x, or w += eta·(y - f(x))·x, which goes twice as far."""
    bias: bool = True
    """Learn a weight for a feature that is always 1."""
    start: Start = "zero"
    """Where the weights start; at random means small normal numbers from `seed`."""
    order: Order = "each"
    """Visit the rows as given, shuffled once, or shuffled anew for each pass."""
    seed: int = 0
    """Makes everything random repeatable."""
    holdout: float = 0.0
    """The share of rows kept apart to measure accuracy after each pass. 0 for none."""
    patience: int | None = None
    """Stop after so many passes in which neither held-out accuracy nor, with `tol`, the loss has got better."""
    tol: float | None = None
    """How much better counts as better."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_type(field.name, getattr(self, field.name))
        check_ranges(self)
        check_sense(self)

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if field.name == "rule" or getattr(self, field.name) != field.default
        ]
        return f"Settings({', '.join(changed)})"

    @property
    def traits(self) -> Traits:
        """What is peculiar to the rule."""
        return RULES[self.rule]

    def steps_like(self, other: Settings) -> bool:
        """Whether an example changes the weights in the same way by both; passes, orders and stopping may differ."""
        names = ("rule", "eta", "schedule", "C", "penalty", "strength", "average", "tie", "form", "bias")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def spelled_out(self) -> Settings:
        """The same, with the step that None stands for."""
        if self.traits.finds_its_step:
            return replace(self, C=USUAL_C if self.C is None else self.C)
        return replace(self, eta=USUAL_ETA if self.eta is None else self.eta)

    def for_core(self) -> _core.Settings:
        """The part that the core needs to know."""
        return _core.Settings(
            rule=self.rule,
            schedule=_core.Schedule[self.schedule],
            penalty=_core.Penalty[self.penalty or "none"],
            ties=_core.Tie[self.tie],
            eta=USUAL_ETA if self.eta is None else self.eta,
            C=USUAL_C if self.C is None else self.C,
            strength=self.strength,
            difference=self.form == "difference",
            average=self.average,
            bias=self.bias,
        )


CHOICES: dict[str, tuple[Any, ...]] = {
    "rule": get_args(Rule),
    "schedule": get_args(Schedule),
    "penalty": (None, *get_args(Penalty)),
    "tie": get_args(Tie),
    "form": get_args(Form),
    "start": get_args(Start),
    "order": get_args(Order),
}
WHOLE_NUMBERS = {"epochs", "seed", "patience"}
NUMBERS = {"eta", "C", "strength", "holdout", "tol"}
SWITCHES = {"average", "bias"}
OPTIONAL = {"eta", "C", "patience", "tol"}


def check_type(name: str, value: object) -> None:
    if value is None and name in OPTIONAL:
        return
    if name in CHOICES:
        if not (value is None or isinstance(value, str)) or value not in CHOICES[name]:
            known = ", ".join(repr(choice) for choice in CHOICES[name])
            guess = did_you_mean(str(value), (str(choice) for choice in CHOICES[name]))
            raise SettingsError(name, f"must be one of {known}, not {value!r}.{guess}")
    elif name in SWITCHES:
        if not isinstance(value, bool):
            raise SettingsError(name, f"must be True or False, not {value!r}")
    elif isinstance(value, bool) or not isinstance(value, int if name in WHOLE_NUMBERS else (int, float)):
        raise SettingsError(name, f"must be a {'whole ' if name in WHOLE_NUMBERS else ''}number, not {value!r}")
    elif isinstance(value, float) and math.isnan(value):
        raise SettingsError(name, "must be a number, not nan")


def check_ranges(settings: Settings) -> None:
    def need(name: str, holds: bool, what: str) -> None:
        if not holds:
            raise SettingsError(name, f"must be {what}, not {getattr(settings, name)!r}")

    need("epochs", settings.epochs >= 1, "at least 1")
    need("eta", settings.eta is None or 0 < settings.eta < math.inf, "greater than 0 and finite")
    need("C", settings.C is None or settings.C > 0, "greater than 0")
    need("strength", 0 <= settings.strength < math.inf, "at least 0 and finite")
    need("seed", settings.seed >= 0, "at least 0")
    need("holdout", 0 <= settings.holdout < 1, "at least 0 and less than 1")
    need("patience", settings.patience is None or settings.patience >= 1, "at least 1")
    need("tol", settings.tol is None or settings.tol < math.inf, "finite")


def check_sense(settings: Settings) -> None:
    if settings.traits.finds_its_step:
        unused = f"is not used by the rule {settings.rule!r}, which finds its own step; leave it out"
        for name in ("eta", "penalty"):
            if getattr(settings, name) is not None:
                raise SettingsError(name, f"{unused}, or set C")
        if settings.schedule != "constant":
            raise SettingsError("schedule", unused)
    elif settings.C is not None:
        raise SettingsError("C", f"belongs to the rule 'mira', not to {settings.rule!r}; leave it out")
    if settings.form == "difference" and settings.rule != "perceptron":
        raise SettingsError("form", f"belongs to the rule 'perceptron', not to {settings.rule!r}; leave it out")
    if settings.schedule == "inverse" and settings.strength == 0:
        raise SettingsError("strength", "must be greater than 0 where the learning rate falls by it")
