"""The result of tuning: what was tried, what was chosen, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markone.brief import Brief
from markone.experiments.validation import Metric
from markone.features.spec import Features
from markone.model.rules import Rule
from markone.model.search_grids import Choice
from markone.reporting.grids import Grid
from markone.reporting.shown import Content, Shown

TRIALS_SHOWN = 10
KEYS = {"accuracy": "accuracy", "micro F1": "micro_f1"}
"""The names of the scores in JSON."""


@dataclass(frozen=True, repr=False)
class Trial(Brief):
    """The result of one candidate in one round."""

    round: int
    """The number of the round, starting with 1. The final is the last one."""
    settings: Choice
    """The settings that differ from the defaults, or that are tuned."""
    text: Choice
    """The settings of texts that differ from the defaults."""
    rows: int
    """The number of training rows."""
    passes: int
    """The chosen number of passes; if it is not tuned, the number of passes that were made."""
    score: float
    """The accuracy on the held-out rows or, if rows have several labels, micro F1."""
    seconds: float
    reason: str | None = None
    """The reason if the candidate could not be trained."""

    def in_words(self) -> str:
        found = [f"{name} {plain(value)}" for name, value in self.settings.items()]
        return ", ".join([*found, *(text_in_words(*one) for one in self.text.items())]) or "the defaults"

    def as_dict(self, metric: Metric = "accuracy") -> dict[str, Any]:
        return {
            "round": self.round,
            "settings": {name: jsonable(value) for name, value in self.settings.items()},
            "text": self.text,
            "rows": self.rows,
            "passes": self.passes,
            KEYS[metric]: self.score if self.reason is None else None,
            "seconds": self.seconds,
            "reason": self.reason,
        }


@dataclass(frozen=True, repr=False)
class Tuning(Shown):
    """The chosen settings and all trials. When printed, it shows a table.

    `train(source, features=tuning.features, **tuning.settings)` trains with these settings on all rows.
    """

    rule: Rule
    """The chosen rule."""
    settings: Choice
    """The rule, the given settings, and the chosen settings."""
    features: Features
    """The spec of the features, with the chosen settings of texts."""
    trials: list[Trial]
    """All trials, in order. Those of the final have the last round."""
    score: float
    """The accuracy (or micro F1) of the chosen settings in the final. If they are not the defaults, it is a little too
    high, since it is the best of several."""
    rows: int
    """The number of training rows in the final."""
    held_out: int
    """The number of rows that were held out at a time."""
    in_turn: bool
    """Whether all rows were held out in turn."""
    chosen: Trial
    """The trial of the chosen settings in the final."""
    kept: bool
    """Whether the defaults were kept."""
    rival: Trial | None
    """The best trial in the final besides the defaults; None if there was none."""
    gain: float
    """The accuracy of the chosen settings or, if the defaults were kept, of the rival, minus that of the defaults."""
    noise: float
    """The standard error of this difference."""
    design: str
    """How the rows were divided in the final, in words."""
    metric: Metric = "accuracy"
    """What the scores are: accuracy or, if rows have several labels, micro F1."""

    def in_brief(self) -> str:
        return (
            f"{self.rule}, {self.chosen.in_words()}; {self.metric} {self.score:.2%}, after {len(self.trials):,} trials"
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "settings": {name: jsonable(value) for name, value in self.settings.items()},
            "features": self.features.as_dict(),
            KEYS[self.metric]: self.score,
            "kept": self.kept,
            "gain": self.gain,
            "noise": self.noise,
            "rows": self.rows,
            "held_out": self.held_out,
            "in_turn": self.in_turn,
            "trials": [trial.as_dict(self.metric) for trial in self.trials],
        }

    def parts(self) -> Iterator[Content]:
        last = self.trials[-1].round
        ranked = sorted(self.trials, key=lambda trial: (-trial.round, trial is not self.chosen, -trial.score))
        rows = [
            [
                trial.in_words(),
                "final" if trial.round == last else str(trial.round),
                f"{trial.rows:,}",
                str(trial.passes),
                "-" if trial.reason else f"{trial.score:.2%}",
                f"{trial.seconds:.3f}",
            ]
            for trial in ranked[:TRIALS_SHOWN]
        ]
        finalists = sum(trial.round == last for trial in self.trials)
        yield f"Tuning made {len(self.trials) - finalists:,} trials, and a final of {finalists} by {self.design}."
        yield ""
        yield Grid([["settings", "round", "rows", "passes", self.metric, "seconds"]], rows)
        more = len(self.trials) - TRIALS_SHOWN
        if more > 0:
            yield f"... and {more:,} more"
        yield ""
        yield f"{self.verdict()} No test data were read."

    def verdict(self) -> str:
        """Return what was chosen, and why."""
        measured = f"{abs(100 * self.gain):.2f} points (standard error {100 * self.noise:.2f})"
        if not self.kept:
            return f"Chosen: {self.chosen.in_words()}. This is better than the defaults by {measured}."
        if self.rival is None:
            return "The defaults are kept, because there is nothing else to try."
        if self.gain <= 0:
            return "The defaults are kept, because nothing was better."
        return f"The defaults are kept: {self.rival.in_words()} is better by {measured}, which may be chance."


def text_in_words(name: str, value: Any) -> str:
    """
    >>> text_in_words("words", [1, 2]), text_in_words("subwords", []), text_in_words("weight", "idf")
    ('words 1-2', 'no subwords', 'weight idf')
    """
    if isinstance(value, list):
        return f"{name} {value[0]}-{value[1]}" if value else f"no {name}"
    return f"{name} {value}"


def plain(value: Any) -> str:
    """
    >>> plain(0.30000000000000004), plain((64, 64)), plain("l2")
    ('0.3', '64x64', 'l2')
    """
    if isinstance(value, tuple):
        return "x".join(map(str, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def jsonable(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
