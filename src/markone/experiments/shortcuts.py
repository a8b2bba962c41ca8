"""Shortcuts to exact leave-one-out: the answers of a training for each row, without making it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.errors import SettingsError
from markone.experiments.contenders import ByRule
from markone.experiments.folds import FoldRows
from markone.model.settings import Settings


@dataclass(frozen=True)
class LeftOutAnswers:
    """What was said of each row by what was learned from all others."""

    predicted: NDArray[Any]
    probabilities: NDArray[np.float64] | None
    trained: int
    """How many trainings it took."""
    remarks: list[str] = field(default_factory=list)


def nothing_bars(settings: Settings) -> None:
    """It serves whatever the settings."""


@dataclass(frozen=True, kw_only=True)
class Shortcut:
    """How a family leaves one out."""

    answers: Callable[[ByRule, FoldRows, int], LeftOutAnswers | None]
    """Takes a way to learn, all rows and the number of threads; gives None where it turns out to lead nowhere."""
    why_not: Callable[[Settings], SettingsError | None] = nothing_bars
    """What there is in the settings that bars it, in a sentence; None for nothing."""
    has_probabilities: bool = False
    """Whether it finds them: a rule that has them is asked for them, and takes no shortcut without."""
    nowhere: str | None = None
    """Why it may lead nowhere."""
