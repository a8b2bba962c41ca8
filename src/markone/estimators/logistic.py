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
    """Logistic regression for two classes, or softmax regression for more.

    It can replace `sklearn.linear_model.LogisticRegression` and, with `solver="online"`,
    `SGDClassifier(loss="log_loss")`. It minimises the mean loss + `alpha` · penalty. The intercept has no penalty.

    Parameters
    ----------
    penalty
        The regularisation: "l2", half the sum of the squared weights; "l1", the sum of their absolute values, which
        makes many weights 0; or None.
    C, alpha
        The strength of the penalty: `C` is its inverse, as in scikit-learn. `alpha` is 1 / (C · the sum of the sample
        weights) unless it is given. `partial_fit`, which does not know this sum, uses 0.0001.
    solver
        "newton" reaches the optimum in few steps; "ascent" is the batch gradient of the lectures, which uses all rows
        for each step; "online" makes a step at each row, and supports `partial_fit`.
    tol, max_iter
        Stop when no partial derivative of the objective is larger than `tol`, at the latest after `max_iter` steps. For
        the solver "online", as for `Perceptron`.
    eta0
        The learning rate of "ascent", or the initial rate of "online". The default of "ascent" is the largest safe one.
    gradient
        Only for "ascent". What `eta0` multiplies: "sum", the default, the sum of the gradients of all rows, as in the
        lectures, or "mean", their mean. The optimum is the same.
    learning_rate, average, shuffle, n_iter_no_change
        Only for "online". The schedule of the learning rate: "optimal", 1/t from a start that depends on alpha;
        "constant", eta0; "invscaling", eta0/√t; or "adagrad", the default, with a rate for each weight. The others as
        for `Perceptron`.
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

    gradient: str | None

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
        gradient: str | None = None,
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
        own = {"rule": "logistic", "solver": self.solver, "gradient": self.gradient}
        return {**own, **self._step_settings(importance)}
