"""A trace: the steps of a run, each with its example, its prediction and its changes of the weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from markone.brief import Brief, of_fields
from markone.data.blocks import Block
from markone.data.source import Label
from markone.features.map import BIAS, FeatureMap
from markone.model.history import REASONS, Stop
from markone.model.named_numbers import NamedNumbers
from markone.model.settings import Settings
from markone.reporting.grids import Grid, cells, counted, label_in_words, plain_number, shortened
from markone.reporting.shown import Content, Shown
from markone.theory.invariants import SECONDS, Invariants, invariants_of

if TYPE_CHECKING:
    from markone.theory.certificate import Certificate

SHOWN = 8
"""The largest number of features, changes or weights on a line."""
NAME_WIDTH = 24
"""The largest width of a feature's name on a line."""
INDENT = "    "
SAME = 1e-6
"""The tolerance with which the changes of all features must be the same multiple of the example."""

HEADS = ("pass", "row", "label", "activation", "says", "")
STEPS_IN_TABLE = 50
"""The largest number of steps that a notebook shows."""


class Change(NamedTuple):
    """A number that a step has changed."""

    feature: str
    of: str
    """The class of the weight, or the unit of a network."""
    before: float
    after: float
    table: int
    """The number of the table that contains it, and its row and column in the table."""
    row: int
    column: int

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class Step(Brief):
    """One step: a visit of one example, of a mini-batch (`mlp`), or of all examples (the solvers of `logistic`)."""

    number: int
    """The number of the step, counted from 1. Steps that are not shown count, too."""
    epoch: int
    """The number of the pass, counted from 1."""
    rows: tuple[int, ...]
    """The numbers of the visited examples among those with a label, counted from 0. Printed numbers start at 1."""
    label: Label
    """The right class of the example; None if there are several examples."""
    features: dict[str, float]
    """The non-zero features of the example."""
    scores: dict[str, float]
    """The activations before the step: for each class or, with two classes, only for the second."""
    predicted: Label
    """The predicted class before the step. None for several examples, and for the rest in one-versus-rest."""
    mistakes: int
    """The number of visited examples that were misclassified."""
    changes: tuple[Change, ...]
    """The changes of the step, in the order of the features."""
    meanwhile: tuple[Change, ...] = ()
    """The changes of the steps before this one that are not shown."""
    against: str | None = None
    """In one-versus-rest, the class that is compared with the rest."""
    margins: tuple[float, float] | None = None
    """The margin of the example before and after an update; only with two classes and rules that take a step at each
    example."""

    @property
    def pulls(self) -> dict[str, float] | None:
        """The multiple of the example that was added to the weights of each class; None if the change is different."""
        found: dict[str, float] = {}
        for change in self.changes:
            value = self.features.get(change.feature, 1.0)
            pull = (change.after - change.before) / value
            if abs(pull - found.setdefault(change.of, pull)) > SAME * max(1.0, abs(pull)):
                return None
        return found

    @property
    def is_tie(self) -> bool:
        """Whether two classes had the highest score together, so that the setting `tie` decided."""
        scores = sorted(self.scores.values(), reverse=True)
        return scores == [0.0] or (len(scores) > 1 and scores[0] == scores[1])

    def as_dict(self) -> dict[str, Any]:
        """The content as JSON values."""
        return {
            "step": self.number,
            "pass": self.epoch,
            "rows": list(self.rows),
            "label": self.label,
            "features": self.features,
            "scores": self.scores,
            "predicted": self.predicted,
            "mistakes": self.mistakes,
            "changes": [
                {"feature": one.feature, "of": one.of, "before": one.before, "after": one.after} for one in self.changes
            ],
            **({} if self.against is None else {"against": self.against}),
            **({} if self.margins is None else {"margins": list(self.margins)}),
        }


@dataclass(frozen=True, repr=False)
class Trace(Shown):
    """The steps of a run. The weights after each step can be computed from it."""

    settings: Settings
    classes: list[Label]
    features: FeatureMap = field(repr=False)
    block: Block = field(repr=False)
    """The examples, as rows of features."""
    start: list[NamedNumbers] = field(repr=False)
    """The weights before the first step."""
    steps: list[Step]
    made: int
    """The number of steps of the run, including those that are not in `steps`."""
    updates: int
    """The number of steps that changed weights."""
    mistakes: int
    stopped: Stop | None
    """The reason why the run ended; None if the limit of steps ended it."""

    def in_brief(self) -> str:
        return f"{self.settings.rule}, {self.summary()}"

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __getitem__(self, i: int) -> Step:
        return self.steps[i]

    def tables(self, after: int = -1) -> list[NamedNumbers]:
        """Return the weights after `steps[after]`, by default after the last step."""
        steps = self.steps[: range(len(self.steps))[after] + 1] if self.steps else []
        values = [table.values.copy() for table in self.start]
        for step in steps:
            for change in (*step.meanwhile, *step.changes):
                values[change.table][change.row, change.column] = change.after
        return [NamedNumbers(table.rows, table.columns, one) for table, one in zip(self.start, values, strict=True)]

    def weights(self, after: int = -1) -> dict[str, dict[str, float]]:
        """Return the weights of each class by name, after `steps[after]`; for a network, those of the first layer."""
        return self.tables(after)[0].named()

    def invariants(
        self, reference: Certificate | Mapping[str, float] | None = None, *, seconds: float = SECONDS
    ) -> Invariants:
        """Return the numbers behind the mistake bound after each mistake, compared with a plane that separates.

        Parameters
        ----------
        reference
            The plane w*: its weights by feature, with `BIAS` for the bias, positive for the second class; or a
            certificate of the same rows. By default, the plane with the best margin is searched for.
        seconds
            The time limit of this search.

        Examples
        --------
        >>> import markone
        >>> run = markone.trace([[3, 2], [-2, 2], [-2, -3]], [1, -1, 1], bias=False)
        >>> print(run.invariants({"x0": 1, "x1": -1}).grid())
        k  row  margin  after      kγ    w·w*  k²γ²  |w|²  kR²  angle  at most
        1    1       0     13  0.7071  0.7071   0.5    13   13  78.7°    78.7°
        2    3     -12      1   1.414   1.414     2     2   26   0.0°    73.9°
        """
        return invariants_of(self, reference, seconds)

    # ---- for readers

    def parts(self) -> Iterator[Content]:
        what = self.settings.family.changes
        shown = self.steps[:STEPS_IN_TABLE]
        rows = [[*line_of(step), "; ".join(below(step, what))] for step in shown]
        if rows:
            yield Grid([[*HEADS, "the example and what changes"]], rows, words=range(len(HEADS) + 1))
        if len(shown) < len(self.steps):
            yield f"... and {len(self.steps) - len(shown):,} more"
        yield self.summary()
        if (numbers := self.features.numbers_in_words()) is not None:
            yield f"Numbers are {numbers}."

    def __str__(self) -> str:
        numbers = self.features.numbers_in_words()
        about = [] if numbers is None else [f"Numbers are {numbers}."]
        return "\n".join([*in_words(self.steps, self.settings.family.changes), "", self.summary(), *about])

    def summary(self) -> str:
        """The number of steps, and the reason why they ended."""
        shown = "" if len(self.steps) == self.made else f" {len(self.steps):,} of the steps are shown."
        end = "The run would go on." if self.stopped is None else f"It ended: {REASONS[self.stopped]}."
        return (
            f"{counted(self.made, 'step')}, {counted(self.mistakes, 'mistake')}, "
            f"{counted(self.updates, 'change')} of the weights.{shown} {end}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The content as JSON values."""
        return {
            "rule": self.settings.rule,
            "classes": self.classes,
            "made": self.made,
            "mistakes": self.mistakes,
            "updates": self.updates,
            "stopped": self.stopped,
            "numbers": self.features.numbers_in_words(),
            "start": [table.named() for table in self.start],
            "steps": [step.as_dict() for step in self.steps],
            "weights": [table.named() for table in self.tables()],
        }


# ---- in words


def in_words(steps: Sequence[Step], what: str) -> Iterator[str]:
    """A line for each step, and below it the example and the arithmetic of the changed weights."""
    lines = [HEADS] + [line_of(step) for step in steps]
    widths = [max(map(cells, column)) for column in zip(*lines, strict=True)]
    for number, line in enumerate(lines):
        yield "  ".join(cell + " " * (width - cells(cell)) for cell, width in zip(line, widths, strict=True)).rstrip()
        if number:
            yield from (INDENT + more for more in below(steps[number - 1], what))


def line_of(step: Step) -> tuple[str, str, str, str, str, str]:
    if not step.scores:
        rows = counted(len(step.rows), "row")
        return str(step.epoch), rows, "", "", "", f"{step.mistakes:,} wrong"
    [*scores] = step.scores.items()
    single = len(scores) == 1
    activation = plain_number(scores[0][1]) if single else ", ".join(pairs(scores))
    verdict = ("wrong" if step.mistakes else "right") + (", a tie" if step.is_tie else "")
    turn = "" if step.against is None else f", {shortened(step.against, NAME_WIDTH)} against the rest"
    label = label_in_words(step.label, NAME_WIDTH)
    predicted = "the rest" if step.predicted is None else label_in_words(step.predicted, NAME_WIDTH)
    if step.is_tie and step.mistakes and step.predicted == step.label:  # every tie is a mistake, by the setting `tie`
        predicted = "tie"
    return str(step.epoch), f"{step.rows[0] + 1:,}", label, activation, predicted, verdict + turn


def below(step: Step, what: str) -> Iterator[str]:
    if step.features or step.scores:
        yield f"x: {', '.join(some(pairs(step.features.items()), len(step.features)))}" if step.features else "x: 0"
    if not step.changes:
        return
    pulls = step.pulls if step.scores else None
    by_class: dict[str, list[Change]] = {}
    for change in step.changes:
        by_class.setdefault(change.of, []).append(change)
    for of, changes in some_of(by_class):
        head = what if len(step.scores) == 1 and step.against is None else f"{what}[{shortened(of, NAME_WIDTH)}]"
        if pulls is not None:
            times = plain_number(abs(pulls[of]))
            head += f" {'-' if pulls[of] < 0 else '+'} {'' if times == '1' else f'{times}·'}x"
        yield f"{head}: {', '.join(some(map(arithmetic, changes[:SHOWN]), len(changes)))}"
    if len(by_class) > SHOWN:
        yield f"and {len(by_class) - SHOWN:,} more"
    if step.margins is not None:
        yield f"margin: {rise_in_words(step, None if pulls is None else next(iter(pulls.values())))}"


def rise_in_words(step: Step, pull: float | None) -> str:
    """The change of the margin: an update that adds x, or a multiple of it, raises it by |x|², or that multiple of it.

    With a bias, x has one more feature, which is always 1.
    """
    assert step.margins is not None
    before, after = step.margins
    begin, change = plain_number(before), f"{signed(after - before)} = {plain_number(after)}"
    if pull is None:
        return f"{begin} {change}"
    length2 = "|x|² + 1" if any(one.feature == BIAS for one in step.changes) else "|x|²"
    times = plain_number(abs(pull))
    rise = length2 if times == "1" else f"{times}·({length2})" if "+" in length2 else f"{times}·{length2}"
    return f"{begin} + {rise} = {begin} {change}"


def arithmetic(change: Change) -> str:
    """
    >>> arithmetic(Change("win", "SPORTS", 1.0, -1.5, 0, 0, 0))
    'win 1 - 2.5 = -1.5'
    """
    difference = change.after - change.before
    return (
        f"{shortened(change.feature, NAME_WIDTH)} {plain_number(change.before)} {signed(difference)} = "
        f"{plain_number(change.after)}"
    )


def signed(number: float) -> str:
    return f"{'-' if number < 0 else '+'} {plain_number(abs(number))}"


def pairs(named: Iterable[tuple[str, float]]) -> Iterator[str]:
    return (f"{shortened(name, NAME_WIDTH)} {plain_number(number)}" for name, number in named)


def some(texts: Iterable[str], of: int) -> list[str]:
    shown = [text for text, _ in zip(texts, range(SHOWN), strict=False)]
    return shown if len(shown) == of else [*shown, f"and {of - len(shown):,} more"]


def some_of(named: Mapping[str, list[Change]]) -> list[tuple[str, list[Change]]]:
    return list(named.items())[:SHOWN]
