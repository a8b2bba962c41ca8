"""Logistic regression with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from markone.errors import SettingsError, did_you_mean
from markone.estimators.gradient import SCHEDULES, USUAL_C, first_rate, strength_of
from markone.estimators.linear import LinearClassifier, start_at
from markone.learning.learner import Learner
from markone.learning.logistic import Batch
from markone.model.settings import Settings


def learns_online(estimator: LogisticRegression) -> bool:
    if estimator.solver != "online":
        raise AttributeError(
            f"solver={estimator.solver!r} looks at all rows at once; for partial_fit, which sees some after the other, "
            "set solver='online'"
        )
    return True


class LogisticRegression(LinearClassifier):
    """Logistic regression: probabilities, for two classes or (softmax) many.

    Takes the place of `sklearn.linear_model.LogisticRegression` and, with `solver="online"`, of
    `SGDClassifier(loss="log_loss")`. What is made small is the mean loss + `alpha` · penalty; the intercept costs
    nothing.

    Parameters
    ----------
    penalty
        What large weights cost: "l2", half the sum of their squares; "l1", that of their absolute values, which makes
        many of them 0; or None.
    C, alpha
        How little they cost, as scikit-learn has it, or how much: `alpha` is 1 / (C · the sum of the sample weights)
        unless it is given. `partial_fit`, which cannot know that sum, takes 0.0001.
    solver
        "newton" goes to the optimum in few steps; "ascent" is the lectures' batch gradient, a step of which looks at
        all rows; "online" takes a step at each row, and can learn from more rows later.
    tol, max_iter
        Stop when no slope of the objective is steeper than `tol`, at the latest after so many steps. Of the solver
        "online", as for `Perceptron`.
    eta0
        The rate of "ascent", and the first one of "online". By default that of "ascent" is the largest that is safe.
    learning_rate, average, shuffle, n_iter_no_change
        Only of "online". How the rate falls: "optimal" as 1/t from a start that suits alpha; "constant" at eta0;
        "invscaling" as eta0/√t; "adagrad", the usual one, with eta0 and a rate for each weight. All else as for
        `Perceptron`.
    fit_intercept, random_state, tie, early_stopping, validation_fraction, class_weight, warm_start, verbose
        As for `Perceptron`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict_proba(X[:1]).round(2).tolist()
    [[0.98, 0.02, 0.0]]
    """

    def __init__(
        self,
        *,
        penalty: str | None = "l2",
        C: float = USUAL_C,
        alpha: float | None = None,
        solver: str = "newton",
        fit_intercept: bool = True,
        max_iter: int = 100,
        tol: float | None = 1e-4,
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
        self.penalty = penalty
        self.C = C
        self.alpha = alpha
        self.solver = solver
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

    def fit(  # type: ignore[override]  # in the order of scikit-learn's class, whose place it takes
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

        `coef_init` and `intercept_init` are weights to start from, in the shapes of `coef_` and `intercept_`. With
        `early_stopping`, held-out accuracy is measured on `X_val` and `y_val` where they are given, else on a share
        `validation_fraction` of the rows, taken at random.
        """

        def start(learner: Learner) -> None:
            if coef_init is not None or intercept_init is not None:
                start_at(learner, coef_init, intercept_init)

        self._fit(X, y, sample_weight, X_val, y_val, start)
        if isinstance(self._learner, Batch):
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

    def _go_on(self, settings: Settings) -> Learner:
        if not isinstance(self._learner, Batch):
            return super()._go_on(settings)
        learner = self._make(settings, self._learner.features, len(self.classes_), self._learner.dtype)
        weights = self._learner.weights()
        learner.start_at(weights.matrix(), weights.bias())  # type: ignore[attr-defined]
        return learner

    def _all_settings(self, importance: float | None) -> dict[str, Any]:
        chosen = super()._all_settings(importance)
        if self.solver != "online" and not self.early_stopping:
            chosen["patience"] = None  # it stops at the optimum
        return chosen

    def _own_settings(self, importance: float | None) -> dict[str, Any]:
        strength = 0.0 if self.penalty is None else strength_of(self.C, self.alpha, importance)
        chosen = {
            "rule": "logistic",
            "solver": self.solver,
            "penalty": self.penalty,
            "strength": strength,
            "eta": self.eta0,
        }
        learning_rate = self.learning_rate
        if learning_rate is None and self.solver == "online":
            learning_rate = "adagrad"
        if learning_rate is not None:
            if not isinstance(learning_rate, str) or learning_rate not in SCHEDULES:
                raise SettingsError(
                    "learning_rate",
                    f"must be one of {', '.join(map(repr, SCHEDULES))}, not {learning_rate!r}."
                    + did_you_mean(str(learning_rate), SCHEDULES),
                )
            chosen["schedule"] = SCHEDULES[learning_rate]
            if learning_rate == "optimal" and self.eta0 is None:
                chosen["eta"] = first_rate(strength)
        return chosen

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability of each class, in the order of `classes_`."""
        scores = self._scores(X)
        if len(self.classes_) < 2:
            return np.ones_like(scores)
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """The logarithm of each class's probability, exact where the probability itself would round to 0."""
        scores = self._scores(X)
        if len(self.classes_) < 2:
            return np.zeros_like(scores)
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        scores = scores - scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))  # type: ignore[no-any-return]
