"""Everything that a user can set about learning. Each setting is checked where it is declared, before any work."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, TypedDict, TypeVar, get_args

from markone import _core
from markone.brief import one_line
from markone.checks import check_fields, checked, number, one_of, optional, switch, whole
from markone.errors import SettingsError
from markone.model.rules import FAMILIES, ONLINE_ONLY, RULES, SOLVERS, SPECIAL, Family, Rule, Solver, Traits, owners_of

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
Kind = TypeVar("Kind", bound="Settings")
ETA_OF_OPTIMIZER = {"adam": 0.001, "adagrad": 0.05, "sgd": 0.1}


# ---- what only these settings may be


def rule_of(rule: Any) -> Any:
    """The name of a rule that there is now: families can be added."""
    return one_of(*RULES)(rule)


def sizes_of(hidden: Any) -> tuple[int, ...]:
    """The sizes of hidden layers; one number is the size of one."""
    sizes = (hidden,) if isinstance(hidden, int) else hidden
    if (
        not isinstance(sizes, list | tuple)
        or not 1 <= len(sizes) <= MOST_LAYERS
        or not all(type(size) is int and 1 <= size <= WIDEST_LAYER for size in sizes)
    ):
        raise ValueError(f"must be the sizes of one or two layers, such as (64, 32), not {hidden!r}")
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
        raise ValueError(f"must be 'data', 'uniform', or a number greater than 0 for each label, not {priors!r}")
    return tuple((label, float(number)) for label, number in pairs)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
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

    rule: Rule = checked("perceptron", rule_of)
    """How an example moves the weights."""
    epochs: int | None = checked(None, optional(whole(1)))
    """Passes over the data, at most. 10 by default; 10,000 for `svm`, which ends long before, 20 for `mlp`, 1 for
    `naive-bayes`."""
    eta: float | None = checked(None, optional(number(above=0, below=math.inf)))
    """The learning rate, or its first value. 1 by default; for `mlp` what suits its optimizer; for `logistic`, where
    the schedule is left to it, too, 2 / the mean sum of the sizes of a row; for `hinge`, where the rate is constant,
    0.5 / the mean squared length of a row."""
    schedule: Schedule | None = checked(None, one_of(None, *get_args(Schedule)))
    """How the rate falls: eta (`constant`, the default); eta / √t; eta / (1 + eta·strength·t); or AdaGrad's rate for
    each weight, which is what `logistic` has by default where it takes a step at each example."""
    C: float | None = checked(None, optional(number(above=0)))
    """The longest step of `mira`, 0.3 by default; what a mistake costs the `svm`, 1 by default. May be infinite."""
    penalty: Penalty | None = checked(None, one_of(None, *get_args(Penalty)))
    """What large weights cost: their absolute values (`l1`, which makes many of them 0) or their squares (`l2`)."""
    strength: float | None = checked(None, optional(number(least=0, below=math.inf)))
    """How much they cost; also what `schedule="inverse"` falls by. 0.0001 by default; of `logistic` with the penalty
    `l2`, to its optimum, 0.1 / classes · the mean squared length of a row / rows."""
    balance: float | None = checked(None, optional(number(least=0, below=math.inf)))
    """How much it costs `logistic`, to its optimum, to prefer a class in the mean of all rows: half the sum of the
    squares of the classes' mean scores, times this. Of more than two classes, where `strength` is left to the rule,
    too, 0.1 · (classes - 2) / rows; else 0 by default."""
    average: bool | None = checked(None, optional(switch))
    """Use the average of all weight vectors met in training instead of the last one, as rules that take a step at each
    example do by default."""
    tie: Tie = checked("error", one_of(*get_args(Tie)))
    """What a score of 0 means: the first class, the second, or a mistake whatever the label."""
    form: Form = checked("label", one_of(*get_args(Form)))
    """The perceptron's step: w += eta·y·x, or w += eta·(y - f(x))·x, which goes twice as far."""
    bias: bool = checked(True, switch)
    """Learn a weight for a feature that is always 1."""
    start: Start = checked("zero", one_of(*get_args(Start)))
    """Where the weights start; at random means small normal numbers from `seed`."""
    order: Order = checked("each", one_of(*get_args(Order)))
    """Visit the rows as given, shuffled once, or shuffled anew for each pass."""
    seed: int = checked(0, whole(0, most=None))
    """Makes everything random repeatable."""
    holdout: float = checked(0.0, number(least=0, below=1))
    """The share of rows kept apart to measure accuracy after each pass. 0 for none."""
    patience: int | None = checked(None, optional(whole(1)))
    """Stop after so many passes in which neither held-out accuracy nor, with `tol`, the loss has got better."""
    tol: float | None = checked(None, optional(number(below=math.inf)))
    """How much better counts as better; of what nears an optimum, how near is near enough: the `svm`'s duality gap as
    a share of its objective (0.001 by default), the largest slope of `logistic` by `newton` or `ascent` (0.0001,
    and less where rows are shorter than 1)."""
    solver: Solver | None = checked(None, one_of(None, *get_args(Solver)))
    """How `logistic` is learned: to its optimum by `newton`, the default, or by `ascent`, all examples at each step; or
    `online`, a step at each example, as by default from more rows than can well be looked at together."""
    loss: Loss | None = checked(None, one_of(None, *get_args(Loss)))
    """What the `svm` pays for a margin m below 1: 1 - m (`hinge`, the default) or its square (`squared`)."""
    multiclass: Multiclass | None = checked(None, one_of(None, *get_args(Multiclass)))
    """The `svm` of more than two classes: the right class against every other (`crammer-singer`, the default), or
    one for each class against the rest."""
    k: float | None = checked(None, optional(number(least=0, below=math.inf)))
    """What `naive-bayes` adds to each count (Laplace). 1 by default; 0 is maximum likelihood."""
    alpha: float | None = checked(None, optional(number(least=0, most=1)))
    """Instead of k: `naive-bayes` mixes so much of a class's own estimate with that of all classes together."""
    likelihood: Likelihood | None = checked(None, one_of(None, *get_args(Likelihood)))
    """What `naive-bayes` takes features for: `multinomial`, how often a word occurs; `bernoulli`, whether it does;
    `gaussian`, a measurement. By default as suits the kind of column; numbers and categories are never otherwise."""
    priors: Any = checked("data", priors_of)
    """How probable `naive-bayes` takes the classes for beforehand: as in the data, `uniform`, or numbers by label."""
    hidden: Any = checked(None, optional(sizes_of))
    """The sizes of the hidden layers of `mlp`, one or two. (128,) by default; (32,) where features are very many, as
    those of texts."""
    activation: Activation | None = checked(None, one_of(None, *get_args(Activation)))
    """What `mlp` does with the sums of a hidden layer. `relu` by default."""
    optimizer: Optimizer | None = checked(None, one_of(None, *get_args(Optimizer)))
    """How `mlp` takes its steps. `adam` by default."""
    dropout: float | None = checked(None, optional(number(least=0, below=1)))
    """The share of hidden units of `mlp` that are left out at random at each step. 0 by default."""
    batch: int | None = checked(None, optional(whole(1)))
    """How many rows `mlp` looks at for one step. 64 by default; fewer, but at least 8, where there are few rows."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_sense(self)

    def __eq__(self, other: object) -> bool:
        """Whether all settings are the same, be they spelled out or not."""
        return isinstance(other, Settings) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(tuple(self.values().values()))

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if field.name == "rule" or getattr(self, field.name) != field.default
        ]
        return one_line(f"Settings({', '.join(changed)})")

    def values(self) -> dict[str, Any]:
        """All settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def traits(self) -> Traits:
        """What is peculiar to the rule, or to the solver that it has."""
        solvers = SOLVERS.get(self.rule)
        if solvers is None:
            return RULES[self.rule]
        if self.solver is not None:
            return solvers[self.solver]
        return solvers["online"] if self._takes_steps() else RULES[self.rule]

    @property
    def family(self) -> Family:
        """What the rule shares with others of its kind."""
        return FAMILIES[self.traits.family]

    def _takes_steps(self) -> bool:
        """Whether something is set that only a learner has which takes a step at each example."""
        defaults = {field.name: field.default for field in fields(self)}
        return any(getattr(self, name) != defaults[name] for name in (*ONLINE_ONLY, "eta"))

    def steps_like(self, other: Settings) -> bool:
        """Whether an example changes the weights in the same way by both; passes, orders and stopping may differ."""
        names = ("rule", "eta", "schedule", "C", "penalty", "strength", "average", "tie", "form", "bias")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def spelled_out(self) -> SpelledOut:
        """The same as settings of the rule's family, in which no None stands for what is usual."""
        return self.family.settings.of(self)

    def before_rows(self) -> Settings:
        """The same, in which None only stands for what depends on the rows to learn from.

        Where that is the solver, nearly all does; but who sets what only one of them has, chooses it.
        """
        by_rows = self.traits.by_rows
        if "solver" not in by_rows and self.schedule not in (None, "constant"):
            by_rows = frozenset()  # a rate that falls suits rows of any length
        if not by_rows:
            return self.spelled_out()
        if "solver" not in by_rows or self.solver is not None:
            return with_values(Settings, without_none(self, by_rows))
        return replace(self, solver="online").before_rows() if self._takes_steps() else self


def without_none(given: Settings, but: frozenset[str] = frozenset()) -> dict[str, Any]:
    """All settings, with what is usual for None; `but` are settings that may stay None."""
    usual = given.family.settings.usual(given)
    return {
        name: usual[name] if value is None and name in usual and name not in but else value
        for name, value in given.values().items()
    }


def with_values(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """Settings of a kind with these values, which are not checked again."""
    made = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


# ---- the settings of each family


class SpelledOut(Settings):
    """Settings of a family, in which no None stands for what is usual: what learners go by."""

    __slots__ = ()
    epochs: int

    @classmethod
    def of(cls, given: Settings) -> Self:
        """Other settings as those of this family, with what is usual where they have None."""
        return given if isinstance(given, cls) else with_values(cls, without_none(given))

    @staticmethod
    def usual(given: Settings) -> Mapping[str, Any]:
        """What None stands for."""
        return given.traits.usual

    @staticmethod
    def check_given(given: Settings) -> None:
        """What only this family asks of its settings."""

    def check_start(self, before: Settings) -> None:
        """That learning can go on by these settings from a model that was learned by others of the same rule."""


class OnlineSettings(SpelledOut):
    """Of rules that take a step at each example."""

    __slots__ = ()
    schedule: Schedule
    strength: float
    average: bool

    @staticmethod
    def check_given(given: Settings) -> None:
        if given.balance:
            raise SettingsError("balance", "is not used by the solver 'online'; leave it out")

    @classmethod
    def of(cls, given: Settings) -> Self:
        """By a step at each example, which a rule with several solvers need not take."""
        if given.rule in SOLVERS and given.solver != "online":
            given = replace(given, solver="online")
        return super().of(given)

    def for_core(self) -> _core.Settings:
        """The part that the online rules in the core need to know."""
        return _core.Settings(
            rule=self.rule,
            schedule=_core.Schedule[self.schedule],
            penalty=_core.Penalty[self.penalty or "none"],
            ties=_core.Tie[self.tie],
            eta=1.0 if self.eta is None else self.eta,
            C=1.0 if self.C is None else self.C,
            strength=self.strength,
            difference=self.form == "difference",
            average=self.average,
            bias=self.bias,
        )


class OptimumSettings(SpelledOut):
    """Of `logistic` where it looks at all examples at each step."""

    __slots__ = ()
    strength: float
    balance: float
    tol: float
    solver: Solver

    @staticmethod
    def check_given(given: Settings) -> None:
        unused = (*ONLINE_ONLY, *(["eta"] if given.solver == "newton" else []))
        for name in unused if given.solver is not None else ():
            if name in given_names(given):
                raise SettingsError(name, f"is not used by the solver {given.solver!r}; leave it out")
        if given.balance and given.penalty == "l1":
            raise SettingsError("balance", "goes with the penalty 'l2', not with 'l1'; leave it out")
        if given.balance and not given.bias:
            raise SettingsError("balance", "is about what a bias does, and there is none; leave it out")


class SvmSettings(SpelledOut):
    """Of the rule `svm`."""

    __slots__ = ()
    C: float
    loss: Loss
    multiclass: Multiclass
    tol: float


class NaiveBayesSettings(SpelledOut):
    """Of the rule `naive-bayes`; k is None where there is an alpha."""

    __slots__ = ()

    @staticmethod
    def usual(given: Settings) -> Mapping[str, Any]:
        return {**given.traits.usual, **({"k": 1.0} if given.alpha is None else {})}

    @staticmethod
    def check_given(given: Settings) -> None:
        if given.k is not None and given.alpha is not None:
            raise SettingsError("alpha", "takes the place of k; set one of them")
        if given.epochs not in (None, 1):
            raise SettingsError("epochs", f"must be 1 for the rule {given.rule!r}, which counts; not {given.epochs!r}")


class NetworkSettings(SpelledOut):
    """Of the rule `mlp`; the learner chooses `hidden` by the features, and `batch` by the rows."""

    __slots__ = ()
    eta: float
    strength: float
    activation: Activation
    optimizer: Optimizer
    dropout: float

    @staticmethod
    def usual(given: Settings) -> Mapping[str, Any]:
        usual = given.traits.usual
        return {**usual, "eta": ETA_OF_OPTIMIZER[given.optimizer or usual["optimizer"]]}

    @staticmethod
    def check_given(given: Settings) -> None:
        if given.penalty == "l1":
            raise SettingsError("penalty", f"must be 'l2' or None for the rule {given.rule!r}, not 'l1'")

    def check_start(self, before: Settings) -> None:
        if self.hidden != before.hidden:
            raise SettingsError("hidden", f"is {self.hidden}, and the model's layers are {before.hidden}")
        if self.activation != before.activation:
            raise SettingsError(
                "activation",
                f"is {self.activation!r}, and the model has learned its weights for {before.activation!r}; "
                "leave it out",
            )


FAMILIES["online"].settings = OnlineSettings
FAMILIES["optimum"].settings = OptimumSettings
FAMILIES["svm"].settings = SvmSettings
FAMILIES["naive-bayes"].settings = NaiveBayesSettings
FAMILIES["network"].settings = NetworkSettings


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


# ---- which settings go together


def check_sense(settings: Settings) -> None:
    rule, traits, given = settings.rule, settings.traits, given_names(settings)
    if traits.finds_its_step:
        unused = f"is not used by the rule {rule!r}, which finds its own step; leave it out"
        for name in ("eta", "penalty", "schedule"):
            if name in given:
                raise SettingsError(name, unused if name == "schedule" else f"{unused}, or set C")
    for name in given:
        if name in SPECIAL and name not in traits.takes:
            owners = owners_of(name)
            whose = " and ".join(filter(None, [", ".join(map(repr, owners[:-1])), repr(owners[-1])]))
            raise SettingsError(
                name, f"belongs to the rule{'s' if len(owners) > 1 else ''} {whose}, not to {rule!r}; leave it out"
            )
    settings.family.settings.check_given(settings)
    if settings.schedule == "inverse" and settings.strength == 0:
        raise SettingsError("strength", "must be greater than 0 where the learning rate falls by it")


def given_names(settings: Settings) -> list[str]:
    """The settings that say something else than what goes without saying for the rule."""
    usual = settings.traits.usual
    return [
        field.name
        for field in fields(settings)
        if (value := getattr(settings, field.name)) != field.default and value != usual.get(field.name, field.default)
    ]
