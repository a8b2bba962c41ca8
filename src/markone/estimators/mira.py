"""MIRA with scikit-learn's interface."""

from __future__ import annotations

from typing import Any

from markone.estimators.linear import LinearClassifier


class MIRA(LinearClassifier):
    """The margin-infused relaxed algorithm: the smallest change that makes the right class win by 1, capped at C.

    It can replace `sklearn.linear_model.PassiveAggressiveClassifier`. For two classes, it is PA-I by default.

    Parameters
    ----------
    C
        The largest step; `inf` for no limit. Smaller values suit noisy data.
    update
        When to make a step: "margin" whenever the right class does not win by 1, "mistake" only if it does not win.
    form
        The meaning of `C` for two classes, which share a weight vector: "label" for the largest step of this vector,
        "difference" for that of two vectors, one for each class. Their difference moves by at most 2·C. For more
        classes, both are the same.
    fit_intercept, max_iter, tol, n_iter_no_change, shuffle, random_state, average, tie, early_stopping
        As for `Perceptron`.
    validation_fraction, class_weight, warm_start, verbose
        As for `Perceptron`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MIRA(C=0.01, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    C: float
    update: str
    form: str

    def __init__(
        self,
        *,
        C: float = 1.0,
        update: str = "margin",
        form: str = "label",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        average: bool = True,
        tie: str = "error",
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self._keep(locals())

    def _own_settings(self, importance: float | None) -> dict[str, Any]:
        return {"rule": "mira", "C": self.C, "update": self.update, "form": self.form}
