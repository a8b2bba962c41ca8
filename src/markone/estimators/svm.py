"""The linear support vector machine with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from markone.errors import DataError, SettingsError
from markone.estimators.base import GrowingLearner, one_of
from markone.estimators.gradient import USUAL_C, GradientClassifier
from markone.learning.learner import Learner
from markone.learning.several_labels import LabelLearner
from markone.learning.svm import Dual

LOSSES = {"hinge": "hinge", "squared_hinge": "squared"}
MULTICLASS = {"crammer_singer": "crammer-singer", "ovr": "one-versus-rest"}
SOLVERS = ("dual", "online")
ONLY_ONLINE = ("alpha", "learning_rate", "eta0", "average")


class LinearSVM(GradientClassifier):
    """The linear support vector machine, which minimises ½‖w‖² + C · the sum of the losses.

    It can replace `sklearn.svm.LinearSVC` and, with `solver="online"`, `SGDClassifier(loss="hinge")`. The intercept is
    the weight of a feature that is always 1, and part of ‖w‖² (except with `solver="online"`).

    Parameters
    ----------
    loss
        The loss of a margin m below 1: 1 - m ("hinge"), or its square ("squared_hinge").
    C
        The weight of the losses. `inf` is a hard margin: no margin may be below 1, and inseparable data are an error.
    multi_class
        For more than two classes: "crammer_singer", where the margin is the difference between the right class and the
        best wrong class; or "ovr", one machine for each class against the rest.
    solver
        "dual" converges to the optimum up to `tol`; "online" makes a step at each row, and supports `partial_fit`.
    tol, max_iter
        Stop when the relative duality gap is at most `tol`, which proves that the objective is as close to the optimum;
        at the latest after `max_iter` passes. For the solver "online", as for `Perceptron`.
    penalty, alpha, learning_rate, eta0, average
        Only for "online", which minimises the mean loss + `alpha` · penalty. The penalty is "l2", "l1" or None, and
        `alpha` is 1 / (C · the sum of the sample weights) unless it is given. The learning rate is as for
        `LogisticRegression`.
    warm_start
        Continue from the last fit. This is much faster for the same rows with another C.
    fit_intercept, random_state, shuffle, tie, early_stopping, validation_fraction, n_iter_no_change
        As for `Perceptron`.
    class_weight, verbose
        As for `Perceptron`.

    Attributes
    ----------
    objective_, dual_gap_
        The value of the objective, and its relative duality gap.
    support_, dual_coef_
        The row numbers of the support vectors, and the weight of each in each row of `coef_`:
        `dual_coef_ @ X[support_]` is `coef_`, to within `tol`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_iris(return_X_y=True)
    >>> X = scale(X)
    >>> model = LinearSVM().fit(X, y)
    >>> model.score(X, y) > 0.95, model.dual_gap_ <= 1e-3
    (True, True)
    """

    loss: str
    multi_class: str

    def __init__(
        self,
        *,
        loss: str = "hinge",
        C: float = USUAL_C,
        multi_class: str = "crammer_singer",
        solver: str = "dual",
        penalty: str | None = "l2",
        alpha: float | None = None,
        fit_intercept: bool = True,
        max_iter: int = 10_000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        learning_rate: str | None = None,
        eta0: float | None = None,
        average: bool | None = None,
        tie: str = "error",
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self._keep(locals())

    @property
    def objective_(self) -> float:
        """The value of the objective, ½‖w‖² + C · the sum of the losses."""
        objective = self._solved("objective_").course().objective
        return float("inf") if objective is None else objective

    @property
    def dual_gap_(self) -> float:
        """The relative duality gap: the largest possible distance to the optimum, as a share of the objective."""
        gap = self._solved("dual_gap_").course().gap
        return float("inf") if gap is None else gap

    @property
    def support_(self) -> NDArray[np.int64]:
        """The row numbers of the support vectors."""
        return self._solved("support_").support.rows

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The weight of each support vector in each row of `coef_`."""
        return self._solved("dual_coef_").support.pulls.T

    def _solved(self, name: str) -> Dual:
        learner: Learner | None = self.__dict__.get("_learner")
        if isinstance(learner, LabelLearner):
            raise AttributeError(f"{name} does not exist if rows can have several labels")
        if learner is None or not learner.settings.family.has_multipliers:
            raise AttributeError(f"{name} only exists after fit with solver='dual'")
        return cast(Dual, learner)

    # ---- what the parameters mean

    def _growing(self) -> GrowingLearner:
        if self._learner.settings.family.has_multipliers:
            raise DataError(
                "y has classes that were not there before, and solver='dual' goes on from the same rows; set "
                "warm_start=False, or solver='online'"
            )
        return super()._growing()

    def _all_settings(self, importance: float | None) -> dict[str, Any]:
        for name, known in (("loss", LOSSES), ("multi_class", MULTICLASS), ("solver", SOLVERS)):
            one_of(name, getattr(self, name), known)
        return super()._all_settings(importance)

    def _own_settings(self, importance: float | None) -> dict[str, Any]:
        if self.solver == "online":
            return self._online_settings(importance)
        for name in ONLY_ONLINE:
            if getattr(self, name) is not None:
                raise SettingsError(name, "is not used by solver='dual'; leave it out, or set solver='online'")
        if self.penalty != "l2":
            raise SettingsError("penalty", f"must be 'l2' for solver='dual', not {self.penalty!r}")
        return {"rule": "svm", "C": self.C, "loss": LOSSES[self.loss], "multiclass": MULTICLASS[self.multi_class]}

    def _online_settings(self, importance: float | None) -> dict[str, Any]:
        for name, only in (("loss", "hinge"), ("multi_class", "crammer_singer")):
            if getattr(self, name) != only:
                raise SettingsError(name, f"must be {only!r} for solver='online', not {getattr(self, name)!r}")
        return {"rule": "hinge", **self._step_settings(importance)}
