"""What the linear classifiers share that have an optimum: solvers that look at all rows, or gradient steps online."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from markone.errors import SettingsError
from markone.estimators.base import one_of
from markone.estimators.linear import LinearClassifier, starting_at

SCHEDULES = {"constant": "constant", "invscaling": "sqrt", "optimal": "inverse", "adagrad": "adagrad"}
USUAL_SCHEDULE = "adagrad"
USUAL_C = 1.0
ALPHA_IN_PARTS = 1e-4
"""For partial_fit, which does not know how many rows will come."""


def learns_online(estimator: GradientClassifier) -> bool:
    if estimator.solver != "online":
        raise AttributeError(
            f"solver={estimator.solver!r} looks at all rows at once; for partial_fit, which sees some after the other, "
            "set solver='online'"
        )
    return True


class GradientClassifier(LinearClassifier):
    """The base of the linear classifiers that have a solver."""

    penalty: str | None
    C: float
    alpha: float | None
    solver: str
    learning_rate: str | None
    eta0: float | None

    def fit(  # type: ignore[override]  # in the order of scikit-learn's classes, whose place they take
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Learn from the rows of X and their labels y.

        `coef_init` and `intercept_init` are weights to start from, in the shapes of `coef_` and `intercept_`; the
        solver "dual" starts from none. With `early_stopping`, held-out accuracy is measured on `X_val` and `y_val`
        where they are given, else on a share `validation_fraction` of the rows, taken at random.
        """
        self._fit(X, y, sample_weight, X_val, y_val, starting_at(coef_init, intercept_init))
        with self._turns.alone():
            self._learner.let_go()
        return self

    @available_if(learns_online)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from some more rows, once each, in the order given; only with `solver="online"`.

        Unlike scikit-learn's classes, new labels may come with any call; `classes` announces those known beforehand.
        The parameters are those of the first call.
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _all_settings(self, importance: float | None) -> dict[str, Any]:
        chosen = super()._all_settings(importance)
        if self.solver != "online" and not self.early_stopping:
            chosen["patience"] = None  # it stops at the optimum
        return chosen

    def _step_settings(self, importance: float | None) -> dict[str, Any]:
        """How far steps go, and what large weights cost."""
        strength = 0.0 if self.penalty is None else strength_of(self.C, self.alpha, importance)
        chosen = {"penalty": self.penalty, "strength": strength, "eta": self.eta0}
        learning_rate = self.learning_rate
        if learning_rate is None and self.solver == "online":
            learning_rate = USUAL_SCHEDULE
        if learning_rate is not None:
            chosen["schedule"] = SCHEDULES[one_of("learning_rate", learning_rate, SCHEDULES)]
            if learning_rate == "optimal" and self.eta0 is None:
                chosen["eta"] = first_rate(strength)
        return chosen


def first_rate(strength: float) -> float:
    """Bottou's first step for the schedule that falls as 1/t: the size of a typical weight under the penalty."""
    return float(strength) ** -0.25 if isinstance(strength, int | float | np.number) and strength > 0 else 1.0


def strength_of(C: Any, alpha: float | None, importance: float | None) -> float:
    """`alpha` where it is given, else 1 / (C · the sum of the sample weights), where that sum is known."""
    if alpha is not None:
        return alpha
    if not isinstance(C, int | float | np.number) or not C > 0:
        raise SettingsError("C", f"must be a number greater than 0, not {C!r}")
    if importance is not None:
        return 1 / (float(C) * importance)
    if C != USUAL_C:
        raise SettingsError("C", "says little to partial_fit, which does not know how many rows will come; set alpha")
    return ALPHA_IN_PARTS
