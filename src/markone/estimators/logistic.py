"""Logistic regression with scikit-learn's interface."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from markone.estimators.gradient import GradientClassifier


class LogisticRegression(GradientClassifier):
    """Logistic regression by stochastic gradient descent: probabilities, for two classes or (softmax) many.

    Takes the place of `SGDClassifier(loss="log_loss")`, and where accuracy rather than the exact optimum is wanted, of
    `sklearn.linear_model.LogisticRegression`.

    Parameters
    ----------
    penalty, alpha, C
        What large weights cost: "l2", "l1" or None, and how much: mean loss + `alpha` · penalty is minimised. `C`,
        where it is given, is 1 / (alpha · rows).
    learning_rate, eta0
        How the rate falls: "optimal" as 1/t from a start that suits alpha; "constant" at eta0; "invscaling" as
        eta0/√t; "adagrad" with eta0 and a rate for each weight.
    fit_intercept, max_iter, tol, n_iter_no_change, shuffle, random_state, average, tie, early_stopping
        As for `Perceptron`.
    validation_fraction, class_weight, warm_start, verbose
        As for `Perceptron`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).round(2).argmax(axis=1).tolist()
    [0]
    """

    rule: ClassVar[str] = "logistic"

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
