"""Linear regression with scikit-learn's interface."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from markone import _core
from markone.data.blocks import Block, as_importance, as_matrix, as_rows
from markone.errors import DataError, SettingsError
from markone.learning.passes import teach
from markone.learning.regression import Regression
from markone.model.history import History
from markone.model.settings import Settings


class LinearRegression(RegressorMixin, BaseEstimator):
    """Predicts numbers by a weighted sum of the features: means, medians or other quantiles.

    It can replace `sklearn.linear_model.Ridge` and `QuantileRegressor`. It minimises the sum of the losses + `alpha` ·
    penalty, for targets that are scaled to standard deviation 1. The intercept has no penalty.

    Parameters
    ----------
    loss
        "squared", half the squared error, as in Ridge, which predicts means; "absolute", which predicts medians; or
        "quantile", which predicts the `quantile`. The corners of the last two are rounded, with a width of 2% of the
        standard deviation of the targets.
    quantile
        The quantile of the loss "quantile".
    penalty
        The regularisation: "l2", half the sum of the squared weights; "l1", the sum of their absolute values, which
        makes many weights 0; or None.
    alpha
        The strength of the penalty.
    fit_intercept
        Whether to learn an intercept.
    max_iter, tol
        Stop when no partial derivative of the mean objective is larger than `tol`, at the latest after `max_iter`
        steps.

    Examples
    --------
    >>> model = LinearRegression(alpha=0.001).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0])
    >>> model.predict([[10.0]]).round(1).tolist()
    [21.0]
    """

    words: ClassVar[dict[str, str]] = {"epochs": "max_iter", "strength": "alpha", "bias": "fit_intercept"}
    """The names of settings, and the names of the same parameters in scikit-learn."""

    coef_: NDArray[Any]
    """The weight of each feature."""
    intercept_: float
    history_: History
    n_iter_: int
    n_features_in_: int

    def __init__(
        self,
        *,
        loss: str = "squared",
        quantile: float = 0.5,
        penalty: str | None = "l2",
        alpha: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 100,
        tol: float = 1e-6,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.penalty = penalty
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their numbers y."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], y_numeric=True)
        numbers = np.asarray(y, np.float64)
        importance = None if sample_weight is None else as_importance(sample_weight, len(numbers))
        total = float(len(numbers) if importance is None else importance.sum())
        if not total > 0:
            raise DataError("the sample weights are all zero, so there is nothing to learn from")
        settings = self._settings(total)
        matrix = as_matrix(X)
        block = Block(as_rows(matrix), matrix, np.arange(len(numbers), dtype=np.int32), importance)
        learner = Regression(settings, features=matrix.shape[1], dtype=matrix.dtype, numbers=numbers)
        self.history_ = teach(learner, block)
        if self.history_.stopped == "interrupted":
            raise KeyboardInterrupt
        if self.history_.stopped == "epochs":
            warnings.warn(
                f"after {len(self.history_)} steps, it is not close enough to the optimum; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        weights = learner.weights()
        self.coef_, self.intercept_ = weights.matrix()[:, 0].copy(), float(weights.bias()[0])
        self.n_iter_ = len(self.history_)
        return self

    def _settings(self, importance: float) -> Settings:
        alpha: Any = self.alpha
        if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not 0 <= alpha < np.inf:
            raise SettingsError("alpha", f"must be a number of at least 0 and finite, not {alpha!r:.80}")
        given: dict[str, Any] = {
            "loss": self.loss,
            "quantile": self.quantile if self.loss == "quantile" else None,
            "penalty": self.penalty or "l2",
            "strength": float(alpha) / importance if self.penalty else 0.0,
            "bias": self.fit_intercept,
            "epochs": self.max_iter,
            "tol": self.tol,
        }
        try:
            return Settings(rule="regression", **given)
        except SettingsError as error:
            raise SettingsError(self.words.get(error.name, error.name), error.problem) from None

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the number of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=self.coef_.dtype)
        kind: Any = _core.Weights32 if self.coef_.dtype == np.float32 else _core.Weights64
        weights = kind(np.ascontiguousarray(self.coef_[:, None]), np.array([self.intercept_], self.coef_.dtype), 2)
        numbers: NDArray[Any] = weights.scores(as_rows(as_matrix(X)))[:, 0]
        return numbers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
