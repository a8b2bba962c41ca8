"""Validating where rows can have several labels: each fold trains a model with all that `train` does."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from markone.brief import Brief
from markone.data.budget import memory_budget
from markone.data.source import Source
from markone.data.subsets import Held, Subset
from markone.experiments.crew import crew_of
from markone.experiments.progress import StepProgress, watching
from markone.experiments.splits import Plan, Split
from markone.experiments.statistics import Interval, corrected_interval
from markone.experiments.validation import grid_of_folds
from markone.features.spec import Features, Function
from markone.learning.arguments import USUAL_RULE
from markone.learning.samples import SharedRows
from markone.learning.training import train
from markone.model.several_evaluation import SeveralEvaluation, pooled
from markone.reporting.grids import Grid
from markone.reporting.shown import Content, Shown


@dataclass(frozen=True, repr=False)
class LabelFold(Brief):
    """The result of one split."""

    number: int
    """The number of the fold in its repeat, starting with 1."""
    repeat: int
    """The number of the repeat, starting with 1."""
    learned: int
    """The number of training rows."""
    evaluation: SeveralEvaluation
    """The result on the test rows."""
    seconds: float
    """The time of training, with making features."""


@dataclass(frozen=True, repr=False)
class LabelValidation(Shown):
    """The result of a validation with several labels a row. When printed, it shows tables."""

    name: str
    """The rule."""
    design: str
    """How the rows were split, in words."""
    rows: int
    """The number of rows."""
    folds: list[LabelFold]

    def in_brief(self) -> str:
        return f"{self.name}, micro F1 {self.micro_f1:.2%} by {self.design}"

    @property
    def micro_f1(self) -> float:
        """Micro F1, as the mean of the folds."""
        return float(np.mean([fold.evaluation.micro_f1 for fold in self.folds]))

    @property
    def macro_f1(self) -> float:
        """Macro F1, as the mean of the folds."""
        return float(np.mean([fold.evaluation.macro_f1 for fold in self.folds]))

    @property
    def accuracy(self) -> float:
        """The share of rows whose labels are all right, as the mean of the folds."""
        return float(np.mean([fold.evaluation.accuracy for fold in self.folds]))

    @property
    def interval(self) -> Interval | None:
        """The 95% interval of micro F1, by Nadeau and Bengio's corrected t; None for a single fold."""
        if len(self.folds) < 2:
            return None
        tested = sum(fold.evaluation.total for fold in self.folds)
        learned = sum(fold.learned for fold in self.folds)
        low, high = corrected_interval([fold.evaluation.micro_f1 for fold in self.folds], tested / learned)
        return max(0.0, low), min(1.0, high)

    @cached_property
    def pooled(self) -> SeveralEvaluation:
        """The evaluation of the tests of all folds together."""
        return pooled([fold.evaluation for fold in self.folds])

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "design": self.design,
            "rows": self.rows,
            "micro_f1": self.micro_f1,
            "macro_f1": self.macro_f1,
            "accuracy": self.accuracy,
            "interval": self.interval,
            "folds": [
                {
                    "repeat": fold.repeat,
                    "fold": fold.number,
                    "learned": fold.learned,
                    "seconds": fold.seconds,
                    **fold.evaluation.as_dict(),
                }
                for fold in self.folds
            ],
            "pooled": self.pooled.as_dict(),
        }

    def parts(self) -> Iterator[Content]:
        interval = "" if self.interval is None else ", 95% interval {:.2%} to {:.2%}".format(*self.interval)
        yield f"{self.name}: micro F1 {self.micro_f1:.2%}{interval}, by {self.design} of {self.rows:,} rows."
        if len(self.folds) > 1:
            yield from ("", self._grid(), "", "All tests together:", "")
        yield from self.pooled.parts()

    def _grid(self) -> Grid:
        def cells(fold: LabelFold) -> list[str]:
            found = fold.evaluation
            return [f"{found.total:,}", f"{found.micro_f1:.2%}", f"{found.macro_f1:.2%}"]

        return grid_of_folds(self.folds, ["tested", "micro F1", "macro F1"], cells)


def validate_labels(
    source: Source,
    plan: Plan,
    given: Mapping[str, Any],
    *,
    features: Any = None,
    functions: Mapping[str, Function] | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: StepProgress | bool | None = None,
    cluster: Any = None,
) -> LabelValidation:
    """Test a rule on rows with several labels each. Thresholds are chosen inside the training rows of each fold."""
    plan.check_for_labels()
    held = Held(source, memory_budget(memory))
    splits, _ = plan.divide(len(held))
    name = str(given.get("rule", USUAL_RULE))
    how: dict[str, Any] = {"features": features, "functions": functions, "seed": plan.seed, **given}
    spec = Features.of(features, functions)
    words = (f"{name}, fold {place} of {len(splits)}" for place in range(1, len(splits) + 1))
    with crew_of(cluster, SharedRows(held), held, spec) as crew, watching(progress, len(splits)) as told:
        here = {"threads": 1} if crew.remote else {"threads": threads, "memory": memory}
        tasks = (([what], (split, {**how, **here})) for what, split in zip(words, splits, strict=True))
        folds = [*crew.each(tested, tasks, told)]
    return LabelValidation(name, plan.in_words(), len(held), folds)


def tested(rows: SharedRows, split: Split, how: Mapping[str, Any]) -> LabelFold:
    """Train and test on one split."""
    learned, start = split.learned, time.perf_counter()
    model = train(Subset(rows.held, learned), progress=False, **how)
    seconds = time.perf_counter() - start
    evaluation = model.evaluate(Subset(rows.held, split.tested), threads=how["threads"])
    return LabelFold(split.number, split.repeat, len(learned), evaluation, seconds)
