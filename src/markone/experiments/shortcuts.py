"""Shortcuts to exact leave-one-out, which give the same predictions as one training per row."""

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
    """The prediction for each row by a model of all other rows."""

    predicted: NDArray[Any]
    probabilities: NDArray[np.float64] | None
    trained: int
    """The number of trainings that were needed."""
    remarks: list[str] = field(default_factory=list)


def nothing_bars(settings: Settings) -> None:
    """Allow the shortcut for all settings."""


@dataclass(frozen=True, kw_only=True)
class Shortcut:
    """The shortcut of a family."""

    answers: Callable[[ByRule, FoldRows, int], LeftOutAnswers | None]
    """A function of a way to learn, all rows and the number of threads. It returns None if the shortcut fails."""
    why_not: Callable[[Settings], SettingsError | None] = nothing_bars
    """A function that returns why the shortcut cannot be used with some settings, or None if it can."""
    has_probabilities: bool = False
    """Whether it gives probabilities. A rule with probabilities does not use a shortcut without them."""
    nowhere: str | None = None
    """The reason why it may fail."""
