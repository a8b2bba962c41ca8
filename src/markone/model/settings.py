"""All settings of training. The check of each setting is declared with it, and runs before any work."""

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
Update = Literal["margin", "mistake"]
Start = Literal["zero", "random"]
Order = Literal["given", "once", "each"]
Gradient = Literal["sum", "mean"]
Loss = Literal["hinge", "squared", "absolute", "quantile"]
Multiclass = Literal["crammer-singer", "one-versus-rest"]
Likelihood = Literal["multinomial", "bernoulli", "gaussian"]
Activation = Literal["relu", "tanh", "sigmoid"]
Optimizer = Literal["adam", "adagrad", "sgd"]
Mixing = Literal["uniform", "mistakes"]

MOST_LAYERS = 2
WIDEST_LAYER = 2**16
MOST_PARTITIONS = 2**16
MOST_IN_NETWORKS = {"eta": 1e38, "strength": 1e38, "dropout": 0.999999}
"""The largest values that the core's networks, which compute in float32, can use."""
LARGEST_CLASS_WEIGHT = 1e6
Kind = TypeVar("Kind", bound="Settings")
SVM_PASSES_IN_PARTITIONS = 1000
"""The default of `epochs` for the SVM in partitions, which may need very many more passes than with one of them."""
ETA_OF_OPTIMIZER = {"adam": 0.001, "adagrad": 0.05, "sgd": 0.1}


# ---- checks of single settings


def rule_of(rule: Any) -> Any:
    """Check the name of a rule. The list of rules is read at each call, because families can be added."""
    return one_of(*RULES)(rule)


def sizes_of(hidden: Any) -> tuple[int, ...]:
    """Check the sizes of hidden layers. A single number means one layer."""
    sizes = (hidden,) if isinstance(hidden, int) else hidden
    if (
        not isinstance(sizes, list | tuple)
        or not 1 <= len(sizes) <= MOST_LAYERS
        or not all(type(size) is int and 1 <= size <= WIDEST_LAYER for size in sizes)
    ):
        raise ValueError(f"must be the sizes of one or two layers, such as (64, 32), not {hidden!r}")
    return tuple(sizes)


def priors_of(priors: Any) -> Any:
    """Check priors: 'data', 'uniform', or pairs of a label and its probability."""
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


def class_weights_of(weights: Any) -> Any:
    """Check weights of classes: None, 'balanced', or pairs of a label and its weight."""
    if weights is None or (isinstance(weights, str) and weights == "balanced"):
        return weights
    pairs = list(weights.items()) if isinstance(weights, Mapping) else weights
    if (
        not isinstance(pairs, list | tuple)
        or not pairs
        or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs)
        or not all(type(number) in (int, float) and 0 <= number <= LARGEST_CLASS_WEIGHT for _, number in pairs)
    ):
        raise ValueError(f"must be 'balanced', or a number of at least 0 for labels, not {weights!r:.200}")
    return tuple((label, float(number)) for label, number in pairs)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Settings:
    """The settings of a training. They are frozen: `dataclasses.replace(settings, epochs=20)` makes changed settings.

    `None` means the default of the rule. A setting that the rule does not use is an error, and is not ignored.

    >>> Settings(rule="mira", C=0.1)
    Settings(rule='mira', C=0.1)
    >>> Settings(rule="mira", eta=0.1)
    Traceback (most recent call last):
    ...
    markone.errors.SettingsError: eta is not used by the rule 'mira', which finds its own step; leave it out, or set C
    """

    rule: Rule = checked("perceptron", rule_of)
    """The learning rule."""
    epochs: int | None = checked(None, optional(whole(1)))
    """The largest number of passes over the data. 10 by default; 10,000 for `svm`, which usually stops much earlier, or
    1,000 with partitions; 20 for `mlp`, 1 for `naive-bayes`."""
    eta: float | None = checked(None, optional(number(above=0, below=math.inf)))
    """The learning rate, or its first value. 1 by default; for `mlp`, the default depends on the optimizer; for online
    `logistic` without a schedule, it is 2 / the mean sum of the absolute values of a row; for `hinge` with a constant
    rate, it is 0.5 / the mean squared length of a row; for the solver `ascent`, it is 1 / the largest curvature, which
    is never too large."""
    schedule: Schedule | None = checked(None, one_of(None, *get_args(Schedule)))
    """How the learning rate decreases: eta (`constant`, the default), eta / √t, eta / (1 + eta·strength·t), or
    AdaGrad's rate for each weight, which is the default of online `logistic`."""
    C: float | None = checked(None, optional(number(above=0)))
    """The longest step of `mira`, 0.3 by default; the cost of a mistake for `svm`, 1 by default. May be infinite."""
    penalty: Penalty | None = checked(None, one_of(None, *get_args(Penalty)))
    """The regularisation: absolute values of the weights (`l1`, which makes many of them 0) or squares (`l2`)."""
    strength: float | None = checked(None, optional(number(least=0, below=math.inf)))
    """The strength of the penalty, and of the decrease with `schedule="inverse"`. 0.0001 by default; for `logistic`
    with `newton` or `ascent` and the penalty `l2`, 0.1 / classes · the mean squared length of a row / rows."""
    balance: float | None = checked(None, optional(number(least=0, below=math.inf)))
    """A second penalty of `logistic` with `newton` or `ascent`: half the sum of the squared mean scores of the classes,
    times this. With more than two classes, and without `strength`, the default is 0.1 · (classes - 2) / rows; otherwise
    it is 0."""
    average: bool | None = checked(None, optional(switch))
    """Use the average of all weight vectors of the training instead of the last one. This is the default of rules that
    take a step at each example."""
    tie: Tie = checked("error", one_of(*get_args(Tie)))
    """The meaning of a score of 0: the first class, the second class, or a mistake for any label."""
    form: Form = checked("label", one_of(*get_args(Form)))
    """The step of `perceptron`: w += eta·y·x, or w += eta·(y - f(x))·x, which is twice as long. For `mira` with two
    classes, the cap: their shared weight vector moves by at most C, or by at most 2·C, as the difference of two vectors
    that move by at most C each. With more classes, both forms of `mira` are the same."""
    update: Update = checked("margin", one_of(*get_args(Update)))
    """When `mira` makes a step: whenever the margin is below 1 (`margin`), or only on a mistake (`mistake`)."""
    bias: bool = checked(True, switch)
    """Learn a weight for a feature that is always 1."""
    start: Start = checked("zero", one_of(*get_args(Start)))
    """The first weights: 0, or small random numbers (normal distribution, from `seed`)."""
    order: Order = checked("each", one_of(*get_args(Order)))
    """The order of the rows: as given, shuffled once, or shuffled again for each pass."""
    seed: int = checked(0, whole(0, most=None))
    """The seed of all random numbers. The same seed gives the same model."""
    class_weight: Any = checked(None, class_weights_of)
    """How much the rows of each class count: `balanced` gives all classes the same total weight, so that rare classes
    are found more often; or a number for each label, where labels without a number have 1. By default, all rows count
    the same."""
    holdout: float = checked(0.0, number(least=0, below=1))
    """The share of rows that are held out to measure accuracy after each pass. 0 for none."""
    patience: int | None = checked(None, optional(whole(1)))
    """Stop after this number of passes without an improvement of held-out accuracy or, with `tol`, of the loss."""
    tol: float | None = checked(None, optional(number(below=math.inf)))
    """The smallest improvement that counts for stopping early. For rules with an optimum, the distance at which
    training stops: the duality gap of `svm` as a share of its objective (0.001 by default), or the largest component
    of the gradient of `logistic` with `newton` or `ascent` (0.0001 by default, and less if rows are shorter than 1) and
    of `regression` (0.00001)."""
    solver: Solver | None = checked(None, one_of(None, *get_args(Solver)))
    """The solver of `logistic`: `newton` (the default) or `ascent` use all examples at each step, until they converge;
    `online` takes a step at each example, and is the default if there are very many rows."""
    gradient: Gradient | None = checked(None, one_of(None, *get_args(Gradient)))
    """What `eta` of the solver `ascent` multiplies: the sum of the gradients of all rows (`sum`, the default), or their
    mean (`mean`). The optimum is the same."""
    loss: Loss | None = checked(None, one_of(None, *get_args(Loss)))
    """The loss of `svm` for a margin m below 1: 1 - m (`hinge`, the default) or its square (`squared`). The loss of
    `regression`: the squared error (`squared`, the default), which predicts means; the absolute error (`absolute`),
    which predicts medians; or that of a `quantile`."""
    quantile: float | None = checked(None, optional(number(above=0, below=1)))
    """The quantile that `regression` predicts with `loss="quantile"`, 0.5 by default: a share of 0.9 of the numbers
    should be below a prediction for the quantile 0.9."""
    multiclass: Multiclass | None = checked(None, one_of(None, *get_args(Multiclass)))
    """How `svm` learns more than two classes: all classes in one problem (`crammer-singer`, the default), or each class
    against the rest (`one-versus-rest`)."""
    k: float | None = checked(None, optional(number(least=0, below=math.inf)))
    """The number that `naive-bayes` adds to each count (Laplace smoothing). 1 by default; 0 is maximum likelihood."""
    alpha: float | None = checked(None, optional(number(least=0, most=1)))
    """Instead of k: `naive-bayes` interpolates a class's own estimate, with this weight, and that of all classes."""
    likelihood: Likelihood | None = checked(None, one_of(None, *get_args(Likelihood)))
    """The distribution of features in `naive-bayes`: `multinomial` counts how often a word occurs, `bernoulli` whether
    it occurs, and `gaussian` is for measurements. The default depends on the kind of column; for columns of numbers
    and categories it cannot be changed."""
    priors: Any = checked("data", priors_of)
    """The prior probabilities of classes in `naive-bayes`: as in the data, `uniform`, or a number for each label."""
    hidden: Any = checked(None, optional(sizes_of))
    """The sizes of the one or two hidden layers of `mlp`. (128,) by default; (32,) if there are very many features, as
    in texts."""
    activation: Activation | None = checked(None, one_of(None, *get_args(Activation)))
    """The activation function of the hidden layers of `mlp`. `relu` by default."""
    optimizer: Optimizer | None = checked(None, one_of(None, *get_args(Optimizer)))
    """The optimizer of `mlp`. `adam` by default."""
    dropout: float | None = checked(None, optional(number(least=0, below=1)))
    """The share of the hidden units of `mlp` that are randomly left out at each step. 0 by default."""
    batch: int | None = checked(None, optional(whole(1)))
    """The number of rows in a mini-batch of `mlp`. 64 by default; fewer, but at least 8, if there are few rows."""
    partitions: int = checked(1, whole(1, most=MOST_PARTITIONS))
    """The number of partitions of the rows, which learn at the same time. The model depends on this number, but not on
    the number of threads or workers. For rules that take a step at each example, the weights of all partitions are
    mixed after each pass; `naive-bayes` has the same counts with any number, and `svm` the same optimum."""
    mixing: Mixing | None = checked(None, one_of(None, *get_args(Mixing)))
    """The shares of partitions when their weights are mixed: all the same (`uniform`, the default), or by the number of
    mistakes in the pass (`mistakes`)."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_sense(self)

    def __eq__(self, other: object) -> bool:
        """Return whether all settings are the same. The class does not matter."""
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
        """Return all settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def traits(self) -> Traits:
        """The properties of the rule, or of its solver."""
        solvers = SOLVERS.get(self.rule)
        if solvers is None:
            return RULES[self.rule]
        if self.solver is not None:
            return solvers[self.solver]
        return solvers["online"] if self._takes_steps() else RULES[self.rule]

    @property
    def family(self) -> Family:
        """The family of the rule."""
        return FAMILIES[self.traits.family]

    def _takes_steps(self) -> bool:
        """Return whether a setting is given that only online training has."""
        defaults = {field.name: field.default for field in fields(self)}
        return any(getattr(self, name) != defaults[name] for name in (*ONLINE_ONLY, "eta"))

    def steps_like(self, other: Settings) -> bool:
        """Return whether an example changes the weights in the same way with both settings. Passes may differ."""
        names = ("rule", "eta", "schedule", "C", "penalty", "strength", "average", "tie", "form", "update", "bias")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def spelled_out(self) -> SpelledOut:
        """Return the settings of the rule's family, with defaults instead of None."""
        return self.family.settings.of(self)

    def before_rows(self) -> Settings:
        """Return settings with defaults, except for those that depend on the training rows and stay None.

        If the solver depends on the rows, so do nearly all defaults. A setting that only one solver has chooses it.
        """
        by_rows = self.traits.by_rows
        if "solver" not in by_rows and self.schedule not in (None, "constant"):
            by_rows = frozenset()  # a decreasing rate works for rows of any length
        if not by_rows:
            return self.spelled_out()
        if "solver" not in by_rows or self.solver is not None:
            return with_values(Settings, without_none(self, by_rows))
        return replace(self, solver="online").before_rows() if self._takes_steps() else self


def without_none(given: Settings, but: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return all settings with defaults instead of None, except for the settings in `but`."""
    usual = given.family.settings.usual(given)
    return {
        name: usual[name] if value is None and name in usual and name not in but else value
        for name, value in given.values().items()
    }


def with_values(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """Return settings of a class with these values, without checking them again."""
    settings = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(settings, name, value)
    return settings


# ---- the settings of each family


class SpelledOut(Settings):
    """Settings of a family with all defaults filled in, as learners use them."""

    __slots__ = ()
    epochs: int

    @classmethod
    def of(cls, given: Settings) -> Self:
        """Convert other settings to those of this family, with defaults instead of None."""
        return given if isinstance(given, cls) else with_values(cls, without_none(given))

    @staticmethod
    def usual(given: Settings) -> Mapping[str, Any]:
        """Return the defaults, which replace None."""
        return given.traits.usual

    @staticmethod
    def check_given(given: Settings) -> None:
        """Check the rules that only this family has for its settings."""

    def check_start(self, before: Settings) -> None:
        """Raise an error if training with these settings cannot start from a model of the same rule."""


class OnlineSettings(SpelledOut):
    """Settings of rules that take a step at each example."""

    __slots__ = ()
    schedule: Schedule
    strength: float
    average: bool

    @staticmethod
    def check_given(given: Settings) -> None:
        if given.balance:
            raise SettingsError("balance", "is not used by the solver 'online'; leave it out")
        if given.mixing is not None and given.partitions == 1:
            raise SettingsError("mixing", "needs at least two partitions; set partitions, too, or leave it out")

    @classmethod
    def of(cls, given: Settings) -> Self:
        """Convert other settings, and choose the solver 'online' for a rule with several solvers."""
        if given.rule in SOLVERS and given.solver != "online":
            given = replace(given, solver="online")
        return super().of(given)

    def for_core(self) -> _core.Settings:
        """Return the settings that the online rules in the core need."""
        return _core.Settings(
            rule=self.rule,
            schedule=_core.Schedule[self.schedule],
            penalty=_core.Penalty[self.penalty or "none"],
            ties=_core.Tie[self.tie],
            update=_core.Update[self.update],
            eta=1.0 if self.eta is None else self.eta,
            C=1.0 if self.C is None else self.C,
            strength=self.strength,
            difference=self.form == "difference",
            average=self.average,
            bias=self.bias,
        )


class OptimumSettings(SpelledOut):
    """Settings of `logistic` with a solver that uses all examples at each step."""

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
        if given.partitions > 1 and given.penalty == "l1" and given.solver != "ascent":
            raise SettingsError(
                "partitions",
                "work with the penalty 'l1' only by the solvers 'online' and 'ascent'; choose one of them",
            )
        if given.balance and given.penalty == "l1":
            raise SettingsError("balance", "works with the penalty 'l2', not with 'l1'; leave it out")
        if given.balance and not given.bias:
            raise SettingsError("balance", "needs a bias, which is switched off; leave it out")


class SvmSettings(SpelledOut):
    """Settings of the rule `svm`."""

    __slots__ = ()
    C: float
    loss: Loss
    multiclass: Multiclass
    tol: float

    @staticmethod
    def usual(given: Settings) -> Mapping[str, Any]:
        usual = given.traits.usual
        return {**usual, "epochs": SVM_PASSES_IN_PARTITIONS} if given.partitions > 1 else usual

    @staticmethod
    def check_given(given: Settings) -> None:
        if given.loss not in (None, "hinge", "squared"):
            raise SettingsError("loss", f"must be 'hinge' or 'squared' for the rule 'svm', not {given.loss!r}")
        if given.partitions > 1 and given.C is not None and math.isinf(given.C):
            raise SettingsError("partitions", "must be 1 for a hard margin, whose C is infinite; choose a finite C")


class NaiveBayesSettings(SpelledOut):
    """Settings of the rule `naive-bayes`; k is None if alpha is set."""

    __slots__ = ()

    @staticmethod
    def usual(given: Settings) -> Mapping[str, Any]:
        return {**given.traits.usual, **({"k": 1.0} if given.alpha is None else {})}

    @staticmethod
    def check_given(given: Settings) -> None:
        if given.k is not None and given.alpha is not None:
            raise SettingsError("alpha", "replaces k; set only one of them")
        if given.epochs not in (None, 1):
            raise SettingsError("epochs", f"must be 1 for the rule {given.rule!r}, which counts, not {given.epochs!r}")


class NetworkSettings(SpelledOut):
    """Settings of the rule `mlp`. The learner chooses `hidden` by the features, and `batch` by the rows."""

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
        for name, most in MOST_IN_NETWORKS.items():
            if (value := getattr(given, name)) is not None and value > most:
                raise SettingsError(name, f"must be at most {most:g} for the rule {given.rule!r}, not {value!r}")

    def check_start(self, before: Settings) -> None:
        if self.hidden != before.hidden:
            raise SettingsError("hidden", f"is {self.hidden}, but the model's layers are {before.hidden}")
        if self.activation != before.activation:
            raise SettingsError(
                "activation",
                f"is {self.activation!r}, but the model has learned its weights for {before.activation!r}; "
                "leave it out",
            )


class RegressionSettings(OptimumSettings):
    """Settings of the rule `regression`."""

    __slots__ = ()
    loss: Loss

    @staticmethod
    def check_given(given: Settings) -> None:
        if given.loss == "hinge":
            raise SettingsError("loss", "must be 'squared', 'absolute' or 'quantile' for the rule 'regression'")
        if given.class_weight is not None:
            raise SettingsError(
                "class_weight", "is about classes, and the rule 'regression' predicts numbers; leave it out"
            )
        if given.quantile is not None and given.loss != "quantile":
            raise SettingsError("quantile", "belongs to the loss 'quantile'; set that loss, too, or leave it out")
        for name in ("holdout", "patience"):
            if getattr(given, name):
                raise SettingsError(
                    name, "is not used by the rule 'regression', which holds out no rows; leave it out, or use validate"
                )


FAMILIES["online"].settings = OnlineSettings
FAMILIES["optimum"].settings = OptimumSettings
FAMILIES["svm"].settings = SvmSettings
FAMILIES["naive-bayes"].settings = NaiveBayesSettings
FAMILIES["network"].settings = NetworkSettings
FAMILIES["regression"].settings = RegressionSettings


# ---- settings as keyword arguments, with names and types for editors and type checkers (PEP 692)


class LearningSettings(TypedDict, total=False):
    """Settings that every function that trains accepts as keyword arguments; `Settings` documents them."""

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
    update: Update
    bias: bool
    order: Order
    class_weight: Any
    holdout: float
    patience: int | None
    tol: float | None
    solver: Solver | None
    gradient: Gradient | None
    loss: Loss | None
    quantile: float | None
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
    partitions: int
    mixing: Mixing | None


class TrialSettings(LearningSettings, total=False):
    """Keyword arguments of functions that have their own seed."""

    start: Start


class TrainSettings(LearningSettings, total=False):
    """Keyword arguments of functions that can start from given weights."""

    seed: int


# ---- checks of combinations


def check_sense(settings: Settings) -> None:
    """Raise an error if the settings do not fit the rule or each other."""
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
    if settings.gradient is not None and settings.solver != "ascent":
        raise SettingsError("gradient", "belongs to the solver 'ascent'; set that solver, too, or leave it out")
    settings.family.settings.check_given(settings)
    if settings.schedule == "inverse" and settings.strength == 0:
        raise SettingsError("strength", "must be greater than 0 if the learning rate decreases with it")


def given_names(settings: Settings) -> list[str]:
    """Return the names of the settings that differ from the defaults of the rule."""
    usual = settings.traits.usual
    return [
        field.name
        for field in fields(settings)
        if (value := getattr(settings, field.name)) != field.default and value != usual.get(field.name, field.default)
    ]
