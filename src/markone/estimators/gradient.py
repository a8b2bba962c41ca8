"""What logistic regression and the SVM share: stochastic gradient descent on a loss and a penalty."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from markone.errors import SettingsError, did_you_mean
from markone.estimators.linear import LinearClassifier

SCHEDULES = {"constant": "constant", "invscaling": "sqrt", "optimal": "inverse", "adagrad": "adagrad"}


class GradientClassifier(LinearClassifier):
    """Minimises mean loss + alpha · penalty, one example at a time."""

    rule: ClassVar[str]

    def __init__(
        self,
        *,
        penalty: str | None = "l2",
        alpha: float = 1e-4,
        C: float | None = None,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        learning_rate: str = "adagrad",
        eta0: float = 1.0,
        average: bool = True,
        tie: str = "error",
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.average = average
        self.tie = tie
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start

    def _own_settings(self, importance: float | None) -> dict[str, Any]:
        if not isinstance(self.learning_rate, str) or self.learning_rate not in SCHEDULES:
            raise SettingsError(
                "learning_rate",
                f"must be one of {', '.join(map(repr, SCHEDULES))}, not {self.learning_rate!r}."
                + did_you_mean(str(self.learning_rate), SCHEDULES),
            )
        strength = self._strength(importance)
        return {
            "rule": self.rule,
            "schedule": SCHEDULES[self.learning_rate],
            "eta": first_rate(strength) if self.learning_rate == "optimal" else self.eta0,
            "penalty": self.penalty,
            "strength": strength,
        }

    def _strength(self, importance: float | None) -> float:
        if self.C is None:
            return self.alpha
        if importance is None:
            raise SettingsError(
                "C", "says little to partial_fit, which does not know how many rows will come; set alpha"
            )
        if not isinstance(self.C, int | float | np.number) or not self.C > 0:
            raise SettingsError("C", f"must be a number greater than 0, not {self.C!r}")
        return 1 / (float(self.C) * importance)


def first_rate(strength: float) -> float:
    """Bottou's first step for the schedule that falls as 1/t: the size of a typical weight under the penalty."""
    return float(strength) ** -0.25 if isinstance(strength, int | float | np.number) and strength > 0 else 1.0
