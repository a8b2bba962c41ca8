"""Logistic regression with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, cast

from markone.estimators.gradient import USUAL_C, GradientClassifier
from markone.estimators.probabilities import ProbabilisticClassifier
from markone.learning.learner import Learner
from markone.learning.logistic import BatchLearner
from markone.learning.online import Linear
from markone.model.settings import Settings


class LogisticRegression(ProbabilisticClassifier, GradientClassifier):
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
        self._keep(locals())

    def _go_on(self, settings: Settings) -> Learner:
        """Every solver can start from the weights of another."""
        before, learner = self._learner, super()._go_on(settings)
        if settings.family is not before.settings.family:
            weights = cast(Linear | BatchLearner, before).weights()
            cast(Linear | BatchLearner, learner).start_at(weights.matrix(), weights.bias())
        return learner

    def _own_settings(self, importance: float | None) -> dict[str, Any]:
        return {"rule": "logistic", "solver": self.solver, **self._step_settings(importance)}
