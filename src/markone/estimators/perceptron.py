"""The perceptron with scikit-learn's interface."""

from __future__ import annotations

from typing import Any

from markone.estimators.linear import LinearClassifier


class Perceptron(LinearClassifier):
    """The perceptron, averaged by default: on each mistake, add the example to the weights of its class.

    It can replace `sklearn.linear_model.Perceptron`. For more than two classes, it is one multiclass perceptron, which
    moves the right class and the wrong winner, not one classifier for each class against the rest.

    Parameters
    ----------
    penalty, alpha
        The regularisation, None, "l2" or "l1", and its strength.
    fit_intercept
        Learn a bias.
    max_iter, tol, n_iter_no_change
        Stop after `max_iter` passes, when a pass makes no mistake, or, if `tol` is given, when the loss (with
        `early_stopping` the held-out accuracy) has not improved by `tol` in `n_iter_no_change` passes. The loss of the
        perceptron has no natural scale, so `tol` is relative to it.
    shuffle, random_state
        Visit the rows in a new random order in each pass. The same number gives the same order, and None a different
        one each time.
    eta0
        The learning rate. Without a penalty it only scales the weights.
    average
        Use the average of all weight vectors during training.
    tie
        The meaning of a score of 0: "negative" is the first class, "positive" the second, and "error" is a mistake for
        both labels in training, and the first class in predictions.
    form
        The step on a mistake: "label" for eta0·y·x, "difference" for eta0·(y - f(x))·x, which goes twice as far.
    early_stopping, validation_fraction
        Hold out a share of the rows, stop when their accuracy no longer improves, and restore the best weights.
    class_weight
        The weight of each class: None, a dict, or "balanced", which gives all classes the same total weight, including
        sample weights.
    warm_start
        Continue from the last fit.
    verbose
        Show progress.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Perceptron(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    penalty: str | None
    alpha: float
    eta0: float
    form: str

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int = 20,
        tol: float | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        average: bool = True,
        tie: str = "error",
        form: str = "label",
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self._keep(locals())

    def _own_settings(self, importance: float | None) -> dict[str, Any]:
        return {
            "rule": "perceptron",
            "eta": self.eta0,
            "penalty": self.penalty,
            "strength": self.alpha,
            "form": self.form,
        }
