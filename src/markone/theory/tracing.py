"""Tracing: makes a run step by step, and records every step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.checks import check_named, switch
from markone.data.blocks import Block, Sparse, as_rows
from markone.data.class_order import ClassOrder
from markone.data.kinds import written
from markone.data.source import Label
from markone.errors import SettingsError
from markone.features.map import FeatureMap
from markone.features.spec import Function
from markone.learning.arguments import check_names, settings_of, spec_of
from markone.learning.class_weights import weighted
from markone.learning.examples import BlockExamples, Visits
from markone.learning.learner import Learner
from markone.learning.learners import new_learner
from markone.learning.passes import LearnerTraining
from markone.learning.progress import Silence
from markone.learning.run import Run
from markone.learning.samples import open_sample
from markone.learning.starting import check_given_start, start_from, with_start
from markone.model.given_weights import WeightsByName
from markone.model.history import Stop
from markone.model.margins import functional_margins
from markone.model.named_numbers import NamedNumbers
from markone.model.rules import RULES, Rule
from markone.model.scorer import Scorer
from markone.model.settings import Order, Settings, Start, TrainSettings
from markone.storage.container import Path
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
    positive: Label | None = None,
    classes: Sequence[Label] | None = None,
    start: Start | WeightsByName | Path | None = None,
    steps: int | None = USUAL_STEPS,
    only_mistakes: bool = False,
    scaled: bool = False,
    threads: int | None = None,
    memory: int | str | None = None,
    **settings: Unpack[TrainSettings],
) -> Trace:
    """Make a run step by step, like `markone.train` with the same settings, and record every step.

    Parameters
    ----------
    source
        A source, or anything that `markone.read` accepts: a path, a frame, a list of texts, rows of numbers.
    target
        The labels, as for `markone.read`, if `source` is not already a source.
    rule
        As for `markone.train`, but the default is `perceptron`.
    features
        The specification of the features: a `Features`, a dict, the name of a TOML file, or "email".
    functions
        Python functions that make more features, by name.
    positive, classes, start
        As for `markone.train`.
    steps
        Stop after this number of steps; None for all steps of the run.
    only_mistakes
        Keep only steps with a mistake. Only these count for `steps`.
    scaled
        Scale numeric columns as `markone.train` does. By default, numbers are used as they are, unless `features` says
        how to scale them.
    threads
        The number of threads that make features. The default is the number of cores.
    memory
        The memory limit for the rows: bytes, or a text such as "2 GB". The default is half of the machine's memory.
    settings
        All other settings of `markone.Settings`. Rows are visited in the given order unless `order` is set, and none
        are held out.

    Examples
    --------
    >>> run = trace([[3, 2], [-2, 2], [-2, -3]], [1, -1, 1], tie="negative", bias=False)
    >>> [step.rows[0] for step in run if step.mistakes]
    [0, 2]
    >>> run.weights()
    {'1': {'x0': 1.0, 'x1': -1.0}}
    """
    given: dict[str, Any] = {**settings}
    given, weights = with_start(given, start)
    check_names(given)
    order = ClassOrder.of(positive, classes)
    if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
        raise SettingsError("steps", f"must be a whole number of at least 1, or None for all, not {steps!r}")
    for name in ("holdout", "patience"):
        if given.get(name):
            raise SettingsError(name, "is not possible in a trace, which trains on all rows; leave it out")
    for name in ("partitions", "mixing"):
        if given.get(name) not in (None, 1):
            raise SettingsError(name, "is not possible in a trace, which shows one step after the other; leave it out")
    how = settings_of({"rule": rule, **as_in_lectures(rule, given.get("solver")), **given}, None)
    if how.traits.predicts_numbers:
        raise SettingsError("rule", f"is {rule!r}, which predicts numbers, and a trace shows how classes are learned")
    if weights is not None:
        check_given_start(how)
    sample = open_sample(source, target, threads, memory, order)
    spec = spec_of(features, functions, None, countable=how.traits.counts, scaled=check_named("scaled", switch, scaled))
    chart = FeatureMap(spec, sample.held.columns)
    if scaled:
        chart.check_scaled(scaled)
    matrix, importance = sample.fitted(chart, np.arange(len(sample)))
    importance = weighted(how.class_weight, sample.classes, sample.truth, importance)
    block = Block(as_rows(matrix), matrix, sample.truth.astype(np.int32), importance)
    learner = new_learner(how, chart, sample.classes, [block])
    if weights is not None:
        start_from(weights, learner, chart, sample.classes)
    return Tracer(learner, chart, sample.classes, block, only_mistakes).run(steps)


def as_in_lectures(rule: Any, solver: Any) -> dict[str, Any]:
    """Defaults that follow the lectures: rows are visited in the given order, and the learning rate is constant."""
    traits = RULES.get(rule) if isinstance(rule, str) else None
    if traits is None or "order" not in traits.takes or solver not in (None, "online"):
        return {}
    return {"order": USUAL_ORDER, **({"schedule": "constant"} if "schedule" in traits.by_rows else {})}


class OneByOne(BlockExamples):
    """Examples that are visited one at a time. It remembers which rows were visited."""

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
        """The rows of the next `visits` visits."""
        self._at += visits
        return self._order[self._at - visits : self._at]


class Tracer:
    """A run, and its recorded steps."""

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
        """The scorer before the next step."""
        self._numbers = self._judge.named_numbers(chart, self.labels)
        self._visits = self._wrong = 0
        """The visits and mistakes of the current pass so far."""
        self._meanwhile: dict[tuple[int, int, int], Change] = {}
        """The changes of steps that are not shown, in their order."""

    def run(self, most: int | None) -> Trace:
        """Make the run until `most` steps are kept."""
        run, start = Run(LearnerTraining[Any](self.learner, self.examples)), self._numbers
        stopped: Stop | None = "epochs"
        for result in run.looks(Silence()):
            if result is None:
                if len(self.steps) == most:  # the run goes on, and did not end with the last step that is kept
                    stopped = None
                    break
                self._follow(run)
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
        """Record the step that was just made."""
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
        facts: dict[str, Any] = {"label": None, "features": {}, "scores": {}, "predicted": None, "margins": None}
        if len(rows) == 1:
            one = self.block.take(rows)
            facts = {
                "label": self.classes[int(one.labels[0])],
                "features": self._named(one),
                **self._judgement(judge.scores(one.rows), turn),
                "margins": self._margins(judge, one) if changes else None,
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
        """The activations, and the predicted class."""
        if turn is not None:
            score = float(scores[0, turn])
            return {"scores": {self.labels[turn]: score}, "predicted": self.classes[turn] if score > 0 else None}
        said = int(_core.winners(scores, _core.Tie[self.learner.settings.tie])[0])
        columns = self.labels if scores.shape[1] > 1 else self.labels[1:]
        named = {label: float(score) for label, score in zip(columns, scores[0], strict=True)}
        return {"scores": named, "predicted": self.classes[said]}

    def _margins(self, judge: Scorer, one: Block) -> tuple[float, float] | None:
        """The margins of an example before and after a step."""
        if not self.learner.settings.traits.online or self.learner.columns > 1:
            return None
        before, after = (functional_margins(by.scores(one.rows), one.labels) for by in (judge, self._judge))
        return float(before[0]), float(after[0])

    def _named(self, one: Block) -> dict[str, float]:
        matrix = one.matrix
        if not isinstance(matrix, Sparse):
            return {self.chart.name(i): value for i, value in enumerate(matrix[0].tolist()) if value != 0}
        pairs = zip(matrix.indices.tolist(), matrix.data.tolist(), strict=True)
        return {self.chart.name(i): value for i, value in pairs if value != 0}

    def _note(self, changes: tuple[Change, ...]) -> None:
        """Keep changes of steps that are not shown, so that the weights after later steps can be computed."""
        for change in changes:
            self._meanwhile[change.table, change.row, change.column] = change


def changes_between(before: list[NamedNumbers], after: list[NamedNumbers]) -> tuple[Change, ...]:
    """The numbers that differ between two lists of tables."""
    found = []
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        for row, column in np.argwhere(old.values != new.values).tolist():
            values = float(old.values[row, column]), float(new.values[row, column])
            found.append(Change(new.rows[row], new.columns[column], *values, number, row, column))
    return tuple(found)
