"""The linear support vector machine with scikit-learn's interface."""

from __future__ import annotations

from typing import ClassVar

from markone.estimators.gradient import GradientClassifier


class LinearSVM(GradientClassifier):
    """The linear support vector machine by stochastic gradient descent on the hinge loss.

    Takes the place of `SGDClassifier(loss="hinge")`. With more than two classes the margin is that of the right class
    over the best wrong one (Crammer and Singer's SVM), not one classifier for each class against the rest.

    Parameters
    ----------
    penalty, alpha, C
        What large weights cost: "l2", "l1" or None, and how much: mean loss + `alpha` · penalty is minimised. `C`,
        where it is given, is 1 / (alpha · rows).
    learning_rate, eta0
        As for `LogisticRegression`.
    fit_intercept, max_iter, tol, n_iter_no_change, shuffle, random_state, average, tie, early_stopping
        As for `Perceptron`.
    validation_fraction, class_weight, warm_start, verbose
        As for `Perceptron`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVM(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    rule: ClassVar[str] = "hinge"
