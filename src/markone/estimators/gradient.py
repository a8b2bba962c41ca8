"""The base of the linear classifiers with solvers, which use all rows at once or make online gradient steps."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from markone.errors import SettingsError
from markone.estimators.base import one_of
from markone.estimators.indicators import is_indicator
from markone.estimators.linear import LinearClassifier, starting_at

SCHEDULES = {"constant": "constant", "invscaling": "sqrt", "optimal": "inverse", "adagrad": "adagrad"}
USUAL_SCHEDULE = "adagrad"
USUAL_C = 1.0
ALPHA_IN_PARTS = 1e-4
"""The default for partial_fit, which does not know the number of rows."""


def learns_online(estimator: GradientClassifier) -> bool:
    if estimator.solver != "online":
        raise AttributeError(
            f"solver={estimator.solver!r} needs all rows at once; for partial_fit, which gets them in parts, set "
            "solver='online'"
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

    def fit(  # type: ignore[override]  # parameters in the order of scikit-learn
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
        solver "dual" does not support them. With `early_stopping`, held-out accuracy is measured on `X_val` and `y_val`
        if they are given, else on a random share `validation_fraction` of the rows.

        If a row can have several labels, y is a matrix with a column for each label, as for `Perceptron`.
        """
        fit = self._fit_labels if is_indicator(y) else self._fit
        fit(X, y, sample_weight, X_val, y_val, starting_at(coef_init, intercept_init))
        with self._turns.alone():
            self._learner.let_go()
        return self

    @available_if(learns_online)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on more rows, once each, in the given order; only with `solver="online"`.

        Unlike in scikit-learn, every call may contain new labels. `classes` lists the classes that are already known.
        Parameters that change after the first call have no effect.
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _all_settings(self, importance: float | None) -> dict[str, Any]:
        chosen = super()._all_settings(importance)
        if self.solver != "online" and not self.early_stopping:
            chosen["patience"] = None  # it stops at the optimum
        return chosen

    def _step_settings(self, importance: float | None) -> dict[str, Any]:
        """Return the settings of the learning rate and the penalty."""
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
    """Return Bottou's initial learning rate for the 1/t schedule: the size of a typical weight under the penalty."""
    return float(strength) ** -0.25 if isinstance(strength, int | float | np.number) and strength > 0 else 1.0


def strength_of(C: Any, alpha: float | None, importance: float | None) -> float:
    """Return `alpha` if it is given, else 1 / (C · the sum of the sample weights), if that sum is known."""
    if alpha is not None:
        return alpha
    if not isinstance(C, int | float | np.number) or not C > 0:
        raise SettingsError("C", f"must be a number greater than 0, not {C!r}")
    if importance is not None:
        return 1 / (float(C) * importance)
    if C != USUAL_C:
        raise SettingsError(
            "C", "cannot be used by partial_fit, which does not know the number of rows; set alpha instead"
        )
    return ALPHA_IN_PARTS
