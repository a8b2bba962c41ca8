"""Everything that a user can set about learning, checked in one place before any work."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypedDict, get_args

from markone import _core
from markone.brief import one_line
from markone.errors import SettingsError, did_you_mean
from markone.model.rules import BY_ROWS, ETA_OF_OPTIMIZER, ONLINE_ONLY, OWNERS, RULES, SOLVERS, Rule, Solver, Traits

Schedule = Literal["constant", "sqrt", "inverse", "adagrad"]
Penalty = Literal["l1", "l2"]
Tie = Literal["negative", "error", "positive"]
Form = Literal["label", "difference"]
Start = Literal["zero", "random"]
Order = Literal["given", "once", "each"]
Loss = Literal["hinge", "squared"]
Multiclass = Literal["crammer-singer", "one-versus-rest"]
Likelihood = Literal["multinomial", "bernoulli", "gaussian"]
Activation = Literal["relu", "tanh", "sigmoid"]
Optimizer = Literal["adam", "adagrad", "sgd"]

MOST_LAYERS = 2
WIDEST_LAYER = 2**16


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
    epochs: int | None = None
    """Passes over the data, at most. 10 by default; 10,000 for `svm`, which ends long before, 20 for `mlp`, 1 for
    `naive-bayes`."""
    eta: float | None = None
    """The learning rate, or its first value. 1 by default; for `mlp` what suits its optimizer; for `logistic`, where
    the schedule is left to it, too, 2 / the mean sum of the sizes of a row; for `hinge`, where the rate is constant,
    0.5 / the mean squared length of a row."""
    schedule: Schedule | None = None
    """How the rate falls: eta (`constant`, the default); eta / √t; eta / (1 + eta·strength·t); or AdaGrad's rate for
    each weight, which is what `logistic` has by default where it takes a step at each example."""
    C: float | None = None
    """The longest step of `mira`, 0.3 by default; what a mistake costs the `svm`, 1 by default. May be infinite."""
    penalty: Penalty | None = None
    """What large weights cost: their absolute values (`l1`, which makes many of them 0) or their squares (`l2`)."""
    strength: float | None = None
    """How much they cost; also what `schedule="inverse"` falls by. 0.0001 by default; of `logistic` with the penalty
    `l2`, to its optimum, 0.1 / classes · the mean squared length of a row / rows."""
    balance: float | None = None
    """How much it costs `logistic`, to its optimum, to prefer a class in the mean of all rows: half the sum of the
    squares of the classes' mean scores, times this. Of more than two classes, where `strength` is left to the rule,
    too, 0.1 · (classes - 2) / rows; else 0 by default."""
    average: bool | None = None
    """Use the average of all weight vectors met in training instead of the last one, as rules that take a step at each
    example do by default."""
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
    """How much better counts as better; of what nears an optimum, how near is near enough: the `svm`'s duality gap as
    a share of its objective (0.001 by default), the largest slope of `logistic` by `newton` or `ascent` (0.0001,
    and less where rows are shorter than 1)."""
    solver: Solver | None = None
    """How `logistic` is learned: to its optimum by `newton`, the default, or by `ascent`, all examples at each step; or
    `online`, a step at each example, as by default from more rows than can well be looked at together."""
    loss: Loss | None = None
    """What the `svm` pays for a margin m below 1: 1 - m (`hinge`, the default) or its square (`squared`)."""
    multiclass: Multiclass | None = None
    """The `svm` of more than two classes: the right class against every other (`crammer-singer`, the default), or
    one for each class against the rest."""
    k: float | None = None
    """What `naive-bayes` adds to each count (Laplace). 1 by default; 0 is maximum likelihood."""
    alpha: float | None = None
    """Instead of k: `naive-bayes` mixes so much of a class's own estimate with that of all classes together."""
    likelihood: Likelihood | None = None
    """What `naive-bayes` takes features for: `multinomial`, how often a word occurs; `bernoulli`, whether it does;
    `gaussian`, a measurement. By default as suits the kind of column; numbers and categories are never otherwise."""
    priors: Any = "data"
    """How probable `naive-bayes` takes the classes for beforehand: as in the data, `uniform`, or numbers by label."""
    hidden: Any = None
    """The sizes of the hidden layers of `mlp`, one or two. (128,) by default; (32,) where features are very many, as
    those of texts."""
    activation: Activation | None = None
    """What `mlp` does with the sums of a hidden layer. `relu` by default."""
    optimizer: Optimizer | None = None
    """How `mlp` takes its steps. `adam` by default."""
    dropout: float | None = None
    """The share of hidden units of `mlp` that are left out at random at each step. 0 by default."""
    batch: int | None = None
    """How many rows `mlp` looks at for one step. 64 by default; fewer, but at least 8, where there are few rows."""

    def __post_init__(self) -> None:
        for name, make in MADE.items():
            object.__setattr__(self, name, make(getattr(self, name)))
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
        return one_line(f"Settings({', '.join(changed)})")

    @property
    def traits(self) -> Traits:
        """What is peculiar to the rule, or to the solver that it has."""
        if self.solver is not None:
            return SOLVERS[self.solver]
        return SOLVERS["online"] if self.rule == "logistic" and self._takes_steps() else RULES[self.rule]

    def _takes_steps(self) -> bool:
        """Whether something is set that only a learner has which takes a step at each example."""
        defaults = {field.name: field.default for field in fields(self)}
        return any(getattr(self, name) != defaults[name] for name in (*ONLINE_ONLY, "eta"))

    def steps_like(self, other: Settings) -> bool:
        """Whether an example changes the weights in the same way by both; passes, orders and stopping may differ."""
        names = ("rule", "eta", "schedule", "C", "penalty", "strength", "average", "tie", "form", "bias")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def spelled_out(self, *, but: tuple[str, ...] = ()) -> Settings:
        """The same, in which no None stands for what is usual; `but` are settings that may stay as they are."""
        usual = {name: value for name, value in self.traits.usual.items() if name not in but}
        if self.rule == "mlp":
            usual["eta"] = ETA_OF_OPTIMIZER[self.optimizer or usual["optimizer"]]
        if self.rule == "naive-bayes" and self.alpha is None:
            usual["k"] = 1.0
        return replace(self, **{name: value for name, value in usual.items() if getattr(self, name) is None})

    def before_rows(self) -> Settings:
        """The same, in which None only stands for what depends on the rows to learn from.

        Where that is the solver of `logistic`, nearly all does; but who sets what only one of them has, chooses it.
        """
        if self.rule == "hinge" and self.schedule in (None, "constant"):
            return self.spelled_out(but=("eta",))
        if self.rule != "logistic":
            return self.spelled_out()
        if self.solver is not None:
            return self.spelled_out(but=BY_ROWS)
        return replace(self, solver="online").before_rows() if self._takes_steps() else self

    def for_core(self) -> _core.Settings:
        """The part that the online rules in the core need to know."""
        how = self.spelled_out()
        return _core.Settings(
            rule=how.rule,
            schedule=_core.Schedule[how.schedule or "constant"],
            penalty=_core.Penalty[how.penalty or "none"],
            ties=_core.Tie[how.tie],
            eta=1.0 if how.eta is None else how.eta,
            C=1.0 if how.C is None else how.C,
            strength=0.0 if how.strength is None else how.strength,
            difference=how.form == "difference",
            average=bool(how.average),
            bias=how.bias,
        )


# ---- settings as keywords, which editors and type checkers know by these names and types (PEP 692)


class LearningSettings(TypedDict, total=False):
    """Settings that all who learn take as keywords; what they mean is said in `Settings`."""

    epochs: int | None
    eta: float | None
    schedule: Schedule | None
    C: float | None
    penalty: Penalty | None
    strength: float | None
    balance: float | None
    average: bool | None
    tie: Tie
    form: Form
    bias: bool
    order: Order
    holdout: float
    patience: int | None
    tol: float | None
    solver: Solver | None
    loss: Loss | None
    multiclass: Multiclass | None
    k: float | None
    alpha: float | None
    likelihood: Likelihood | None
    priors: Any
    hidden: Any
    activation: Activation | None
    optimizer: Optimizer | None
    dropout: float | None
    batch: int | None


class TrialSettings(LearningSettings, total=False):
    """Of those who have a seed of their own."""

    start: Start


class TraceSettings(LearningSettings, total=False):
    """Of those who start from weights that are given."""

    seed: int


class TrainSettings(TrialSettings, total=False):
    """All settings but the rule."""

    seed: int


CHOICES: dict[str, tuple[Any, ...]] = {
    "rule": get_args(Rule),
    "schedule": (None, *get_args(Schedule)),
    "penalty": (None, *get_args(Penalty)),
    "tie": get_args(Tie),
    "form": get_args(Form),
    "start": get_args(Start),
    "order": get_args(Order),
    "solver": (None, *get_args(Solver)),
    "loss": (None, *get_args(Loss)),
    "multiclass": (None, *get_args(Multiclass)),
    "likelihood": (None, *get_args(Likelihood)),
    "activation": (None, *get_args(Activation)),
    "optimizer": (None, *get_args(Optimizer)),
}
WHOLE_NUMBERS = {"epochs", "seed", "patience", "batch"}
NUMBERS = {"eta", "C", "strength", "balance", "holdout", "tol", "k", "alpha", "dropout"}
SWITCHES = {"average", "bias"}
MOST = 2**63 - 1
"""The largest whole number."""
OPTIONAL = {"epochs", "eta", "C", "strength", "balance", "average", "patience", "tol", "k", "alpha", "dropout", "batch"}


def sizes_of(hidden: Any) -> tuple[int, ...] | None:
    if hidden is None:
        return None
    sizes = (hidden,) if isinstance(hidden, int) else hidden
    if (
        not isinstance(sizes, list | tuple)
        or not 1 <= len(sizes) <= MOST_LAYERS
        or not all(type(size) is int and 1 <= size <= WIDEST_LAYER for size in sizes)
    ):
        raise SettingsError("hidden", f"must be the sizes of one or two layers, such as (64, 32), not {hidden!r}")
    return tuple(sizes)


def priors_of(priors: Any) -> Any:
    """A word, or pairs of a label and its probability."""
    if isinstance(priors, str) and priors in ("data", "uniform"):
        return priors
    pairs = list(priors.items()) if isinstance(priors, Mapping) else priors
    if (
        not isinstance(pairs, list | tuple)
        or len(pairs) < 2
        or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs)
        or not all(type(number) in (int, float) and 0 < number <= sys.float_info.max for _, number in pairs)
    ):
        raise SettingsError(
            "priors", f"must be 'data', 'uniform', or a number greater than 0 for each label, not {priors!r}"
        )
    return tuple((label, float(number)) for label, number in pairs)


MADE = {"hidden": sizes_of, "priors": priors_of}
"""What is checked while it is made what it is kept as."""


def check_type(name: str, value: object) -> None:
    if name in MADE or (value is None and name in OPTIONAL):
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
    elif name in WHOLE_NUMBERS - {"seed"} and isinstance(value, int) and value > MOST:
        raise SettingsError(name, f"must be less than 2⁶³, not a number of {value.bit_length()} bits")
    elif isinstance(value, int) and name in NUMBERS and abs(value) > sys.float_info.max:
        raise SettingsError(name, f"must be a number that a float can hold, not one of {value.bit_length()} bits")


def check_ranges(settings: Settings) -> None:
    def need(name: str, holds: bool, what: str) -> None:
        if not holds:
            raise SettingsError(name, f"must be {what}, not {getattr(settings, name)!r}")

    need("epochs", settings.epochs is None or settings.epochs >= 1, "at least 1")
    need("eta", settings.eta is None or 0 < settings.eta < math.inf, "greater than 0 and finite")
    need("C", settings.C is None or settings.C > 0, "greater than 0")
    need("strength", settings.strength is None or 0 <= settings.strength < math.inf, "at least 0 and finite")
    need("balance", settings.balance is None or 0 <= settings.balance < math.inf, "at least 0 and finite")
    need("seed", settings.seed >= 0, "at least 0")
    need("holdout", 0 <= settings.holdout < 1, "at least 0 and less than 1")
    need("patience", settings.patience is None or settings.patience >= 1, "at least 1")
    need("tol", settings.tol is None or settings.tol < math.inf, "finite")
    need("k", settings.k is None or 0 <= settings.k < math.inf, "at least 0 and finite")
    need("alpha", settings.alpha is None or 0 <= settings.alpha <= 1, "from 0 to 1")
    need("dropout", settings.dropout is None or 0 <= settings.dropout < 1, "at least 0 and less than 1")
    need("batch", settings.batch is None or settings.batch >= 1, "at least 1")


def check_sense(settings: Settings) -> None:
    rule, given = settings.rule, [field.name for field in fields(settings) if was_set(settings, field)]
    if settings.traits.finds_its_step:
        unused = f"is not used by the rule {rule!r}, which finds its own step; leave it out"
        for name in ("eta", "penalty", "schedule"):
            if name in given:
                raise SettingsError(name, unused if name == "schedule" else f"{unused}, or set C")
    for name in given:
        owners = OWNERS.get(name, (rule,))
        if rule not in owners:
            whose = " and ".join(filter(None, [", ".join(map(repr, owners[:-1])), repr(owners[-1])]))
            raise SettingsError(
                name, f"belongs to the rule{'s' if len(owners) > 1 else ''} {whose}, not to {rule!r}; leave it out"
            )
    if settings.solver not in (None, "online"):
        for name in (*ONLINE_ONLY, *(["eta"] if settings.solver == "newton" else [])):
            if name in given:
                raise SettingsError(name, f"is not used by the solver {settings.solver!r}; leave it out")
    if settings.balance and rule == "logistic":
        if settings.traits.online:
            raise SettingsError("balance", "is not used by the solver 'online'; leave it out")
        if settings.penalty == "l1":
            raise SettingsError("balance", "goes with the penalty 'l2', not with 'l1'; leave it out")
        if not settings.bias:
            raise SettingsError("balance", "is about what a bias does, and there is none; leave it out")
    if rule == "naive-bayes":
        if settings.k is not None and settings.alpha is not None:
            raise SettingsError("alpha", "takes the place of k; set one of them")
        if settings.epochs not in (None, 1):
            raise SettingsError("epochs", f"must be 1 for the rule {rule!r}, which counts; not {settings.epochs!r}")
    if rule == "mlp" and settings.penalty == "l1":
        raise SettingsError("penalty", "must be 'l2' or None for the rule 'mlp', not 'l1'")
    if settings.schedule == "inverse" and settings.strength == 0:
        raise SettingsError("strength", "must be greater than 0 where the learning rate falls by it")


def was_set(settings: Settings, field: Any) -> bool:
    """Whether a setting says something that goes without saying for some rule at least."""
    value = getattr(settings, field.name)
    return bool(value != field.default and value != settings.traits.usual.get(field.name, field.default))
