"""Tracing: a run made step by step, in which everything is written down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import Block, Sparse, as_rows
from markone.data.kinds import written
from markone.errors import SettingsError
from markone.features.map import BIAS, FeatureMap
from markone.features.spec import Function
from markone.learning.examples import BlockExamples, Visits
from markone.learning.learner import Learner
from markone.learning.online import Linear
from markone.learning.passes import LearnerTraining
from markone.learning.progress import Silence
from markone.learning.run import Run
from markone.learning.samples import open_sample
from markone.learning.training import check_names, new_learner, settings_of, spec_of
from markone.model.history import Stop
from markone.model.named_numbers import NamedNumbers
from markone.model.rules import RULES, Rule
from markone.model.scorer import Scorer
from markone.model.settings import Order, Settings, Start, TraceSettings
from markone.theory.trace import Change, Step, Trace

USUAL_STEPS = 1000
USUAL_TRACED: Rule = "perceptron"
USUAL_ORDER: Order = "given"


def trace(
    source: Any,
    target: Any = None,
    *,
    rule: Rule = USUAL_TRACED,
    features: Any = None,
    functions: Mapping[str, Function] | None = None,
    start: Mapping[Any, Mapping[str, float]] | Start | None = None,
    steps: int | None = USUAL_STEPS,
    only_mistakes: bool = False,
    threads: int | None = None,
    memory: int | str | None = None,
    **settings: Unpack[TraceSettings],
) -> Trace:
    """Makes a run step by step, as `markone.train` would with the same settings, and writes every step down.

    Parameters
    ----------
    source
        A source, or what `markone.read` takes: a path, a frame, a list of texts, rows of numbers.
    target
        What is to be predicted, as for `markone.read`, where `source` is not yet a source.
    rule
        As for `markone.train`, except that it is `perceptron` by default.
    features
        The spec of the features: a `Features`, a dict or the name of a TOML file.
    functions
        Python functions that make more features, by name.
    start
        Weights to start from, by class and feature; `BIAS` is the bias. Of two classes, those of the second. Or "zero"
        or "random", as in `markone.Settings`. For rules that take a step at each example.
    steps
        Stop after so many steps; None for all that the settings ask for.
    only_mistakes
        Keep the steps at which a mistake was made. Only these count for `steps`.
    threads
        How many threads make features; as many as there are cores by default.
    memory
        How much memory the rows may need: bytes, or a text such as "2 GB"; half of the machine's by default.
    settings
        All else is as in `markone.Settings`. Rows are visited as given unless `order` says otherwise; none is held out.

    Examples
    --------
    >>> run = trace([[3, 2], [-2, 2], [-2, -3]], [1, -1, 1], tie="negative", bias=False)
    >>> [step.rows[0] for step in run if step.mistakes]
    [0, 2]
    >>> run.weights()
    {'1': {'x0': 1.0, 'x1': -1.0}}
    """
    given: dict[str, Any] = {**settings}
    if isinstance(start, str):
        given["start"], start = start, None
    check_names(given)
    if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
        raise SettingsError("steps", f"must be a whole number of at least 1, or None for all, not {steps!r}")
    for name in ("holdout", "patience"):
        if given.get(name):
            raise SettingsError(name, "has no place in a trace, where all rows are learned from; leave it out")
    how = settings_of({"rule": rule, **as_in_lectures(rule, given.get("solver")), **given}, None)
    sample = open_sample(source, target, threads, memory)
    chart = FeatureMap(spec_of(features, functions, None, countable=how.traits.counts), sample.held.columns)
    matrix, importance = sample.fitted(chart, np.arange(len(sample)))
    block = Block(as_rows(matrix), matrix, sample.truth.astype(np.int32), importance)
    learner = new_learner(how, chart, sample.classes, [block])
    if start is not None:
        start_from(start, learner, chart, sample.classes)
    return Tracer(learner, chart, sample.classes, block, only_mistakes).run(steps)


def as_in_lectures(rule: Any, solver: Any) -> dict[str, Any]:
    """Settings unless others are asked for: rows are visited as given, and a step at each example is that of the
    lectures, at a constant rate."""
    traits = RULES.get(rule) if isinstance(rule, str) else None
    if traits is None or "order" not in traits.takes or solver not in (None, "online"):
        return {}
    return {"order": USUAL_ORDER, **({"schedule": "constant"} if "schedule" in traits.by_rows else {})}


def start_from(
    start: Mapping[Any, Mapping[str, float]], learner: Learner, chart: FeatureMap, classes: list[Any]
) -> None:
    """Puts the weights where they are to start."""
    if not learner.settings.traits.online:
        raise SettingsError("start", f"is for rules that take a step at each example, not for {learner.settings.rule}")
    numbers = {name: number for number, name in enumerate(chart.names())}
    columns = classes[1:] if learner.columns == 1 else classes
    matrix, bias = np.zeros((learner.features, learner.columns)), np.zeros(learner.columns)
    for label, weights in start.items():
        if label not in columns:
            known = ", ".join(map(repr, columns))
            raise SettingsError("start", f"has weights for {label!r}; there are those of {known}")
        column = columns.index(label)
        for name, weight in weights.items():
            if name == BIAS and learner.settings.bias:
                bias[column] = weight
            elif name in numbers:
                matrix[numbers[name], column] = weight
            else:
                raise SettingsError("start", f"has a weight for {name!r}, and no feature is called so")
    cast(Linear, learner).start_at(matrix, bias)


class OneByOne(BlockExamples):
    """Examples that are looked at after each step, and known in the order in which they are visited."""

    def __init__(self, block: Block, settings: Settings) -> None:
        super().__init__(block, settings)
        self._size = len(block)
        self._order: NDArray[np.int64] = np.zeros(0, np.int64)
        self._at = 0

    def visits(self, settings: Settings, epoch: int, skip: int = 0) -> Iterator[Visits]:
        for block, order in super().visits(settings, epoch, skip):
            self._order, self._at = np.arange(self._size) if order is None else order, 0
            yield block, order

    def between_looks(self, columns: int) -> int:
        return 1

    def taken(self, visits: int) -> NDArray[np.int64]:
        """The rows of the next so many visits."""
        self._at += visits
        return self._order[self._at - visits : self._at]


class Tracer:
    """A run, and what is written down of it."""

    def __init__(
        self, learner: Learner, chart: FeatureMap, classes: list[Any], block: Block, only_mistakes: bool
    ) -> None:
        self.learner, self.chart, self.classes = learner, chart, classes
        self.labels = [written(label) for label in classes]
        self.block = learner.ready(block)
        self.only_mistakes = only_mistakes
        self.examples = OneByOne(self.block, learner.settings)
        self.steps: list[Step] = []
        self.made = self.updates = self.mistakes = 0
        self._judge = learner.judge(self.block)
        """What the next step judges its rows by."""
        self._numbers = self._judge.named_numbers(chart, self.labels)
        self._visits = self._wrong = 0
        """Of the pass so far."""
        self._meanwhile: dict[tuple[int, int, int], Change] = {}
        """By steps that are left out, in the order in which they happened."""

    def run(self, most: int | None) -> Trace:
        """Makes the run, up to so many steps that are kept."""
        run, start = Run(LearnerTraining[Any](self.learner, self.examples)), self._numbers
        stopped: Stop | None = "epochs"
        for result in run.looks(Silence()):
            if result is None:
                self._follow(run)
                if len(self.steps) == most:
                    stopped = None
                    break
                continue
            self._visits = self._wrong = 0
            if (reason := run.reason_to_stop(result)) is not None:
                stopped = reason
                break
        return Trace(
            settings=self.learner.settings,
            classes=self.classes,
            features=self.chart,
            block=self.block,
            start=start,
            steps=self.steps,
            made=self.made,
            updates=self.updates,
            mistakes=self.mistakes,
            stopped=stopped,
        )

    def _follow(self, run: Run[Any]) -> None:
        """Writes down what has happened since the last look."""
        sums, judge, before = run.sums, self._judge, self._numbers
        self._judge = self.learner.judge(self.block)
        self._numbers = self._judge.named_numbers(self.chart, self.labels)
        changes = changes_between(before, self._numbers)
        rows, turn = self.learner.visited_rows(self.examples, sums.visits - self._visits)
        mistakes = None if sums.mistakes is None else sums.mistakes - self._wrong
        self._visits, self._wrong = sums.visits, sums.mistakes or 0
        if not len(rows):
            self._note(changes)
            return
        self.made += 1
        step = self._step(len(run.history) + 1, rows, judge, mistakes, changes, turn)
        self.updates, self.mistakes = self.updates + bool(changes), self.mistakes + step.mistakes
        if step.mistakes or not self.only_mistakes:
            self.steps.append(step)
            self._meanwhile = {}
        else:
            self._note(changes)

    def _step(
        self,
        epoch: int,
        rows: NDArray[np.int64],
        judge: Scorer,
        mistakes: int | None,
        changes: tuple[Change, ...],
        turn: int | None,
    ) -> Step:
        against = None if turn is None else self.labels[turn]
        facts: dict[str, Any] = {"label": None, "features": {}, "scores": {}, "predicted": None}
        if len(rows) == 1:
            one = self.block.take(rows)
            facts = {
                "label": self.classes[int(one.labels[0])],
                "features": self._named(one),
                **self._judgement(judge.scores(one.rows), turn),
            }
            mistakes = int(facts["predicted"] != facts["label"]) if mistakes is None else mistakes
        return Step(
            number=self.made,
            epoch=epoch,
            rows=tuple(rows.tolist()),
            mistakes=mistakes or 0,
            changes=changes,
            meanwhile=tuple(self._meanwhile.values()),
            against=against,
            **facts,
        )

    def _judgement(self, scores: NDArray[Any], turn: int | None) -> dict[str, Any]:
        """The activation, and what is said by it."""
        if turn is not None:
            score = float(scores[0, turn])
            return {"scores": {self.labels[turn]: score}, "predicted": self.classes[turn] if score > 0 else None}
        said = int(_core.winners(scores, _core.Tie[self.learner.settings.tie])[0])
        columns = self.labels if scores.shape[1] > 1 else self.labels[1:]
        named = {label: float(score) for label, score in zip(columns, scores[0], strict=True)}
        return {"scores": named, "predicted": self.classes[said]}

    def _named(self, one: Block) -> dict[str, float]:
        matrix = one.matrix
        if not isinstance(matrix, Sparse):
            return {self.chart.name(i): value for i, value in enumerate(matrix[0].tolist()) if value != 0}
        pairs = zip(matrix.indices.tolist(), matrix.data.tolist(), strict=True)
        return {self.chart.name(i): value for i, value in pairs if value != 0}

    def _note(self, changes: tuple[Change, ...]) -> None:
        """What is not to be shown is kept all the same: a trace can be played."""
        for change in changes:
            self._meanwhile[change.table, change.row, change.column] = change


def changes_between(before: list[NamedNumbers], after: list[NamedNumbers]) -> tuple[Change, ...]:
    """What a step has changed."""
    found = []
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        for row, column in np.argwhere(old.values != new.values).tolist():
            values = float(old.values[row, column]), float(new.values[row, column])
            found.append(Change(new.rows[row], new.columns[column], *values, number, row, column))
    return tuple(found)
