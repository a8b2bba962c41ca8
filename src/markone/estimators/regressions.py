"""Three regressions, to show what validation is for: a line, a parabola, and a line through every dot.

Each knows what its errors would be on rows that were left out, without learning again.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from markone.errors import DataError

ALONE = 1e-10
"""A row whose leverage is nearer to 1 than this decides some term alone: the closed form would divide by rounding."""


class LeastSquares(RegressorMixin, BaseEstimator):
    """The sum of terms of the features that has the smallest squared errors. A subclass says which terms.

    Features are first shifted and scaled to mean 0 and standard deviation 1, which changes no prediction but rounds
    better. Where several sums are best, it is the one with the smallest weights.
    """

    n_features_in_: int
    weights_: NDArray[np.float64]
    """Of the terms, the constant first."""

    def _terms(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """A column for each term but the constant, from features that are shifted and scaled."""
        raise NotImplementedError

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from the rows of X and their targets y."""
        rows, targets = numbers_of(self, X, y, reset=True)
        spread = rows.std(axis=0)
        self._shift, self._scale = rows.mean(axis=0), np.where(spread > 0, spread, 1.0)
        self.weights_ = np.linalg.lstsq(self._design(rows), targets, rcond=None)[0].astype(np.float64)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The target of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        predicted: NDArray[np.float64] = self._design(X) @ self.weights_
        return predicted

    def leave_one_out_errors(self, X: Any, y: ArrayLike) -> NDArray[np.float64]:
        """For each row, its target less what is predicted by what is learned from all others.

        By the hat matrix H, which makes predictions of targets: it is the error of the row where it is learned from as
        well, divided by 1 - H_ii. This learner becomes one that has learned from all rows.
        """
        self.fit(X, y)
        rows, targets = numbers_of(self, X, y, reset=False)
        check_two(targets)
        design = self._design(rows)
        directions, sizes, _ = np.linalg.svd(design, full_matrices=False)
        rank = int((sizes > sizes[0] * max(design.shape) * np.finfo(float).eps).sum())
        leverage = (directions[:, :rank] ** 2).sum(axis=1)
        alone = leverage > 1 - ALONE
        errors: NDArray[np.float64] = (targets - design @ self.weights_) / np.where(alone, 1.0, 1.0 - leverage)
        for row in np.flatnonzero(alone):
            others = np.arange(len(targets)) != row
            errors[row] = targets[row] - type(self)().fit(rows[others], targets[others]).predict(rows[[row]])[0]
        return errors

    def _design(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        Z = (X - self._shift) / self._scale
        return np.column_stack([np.ones(len(Z)), self._terms(Z)])


class LinearLeastSquares(LeastSquares):
    """The line, or plane, with the smallest squared errors.

    Examples
    --------
    >>> line = LinearLeastSquares().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> line.predict([[10.0]]).round(6).tolist()
    [21.0]
    """

    def _terms(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        return Z


class QuadraticLeastSquares(LeastSquares):
    """The parabola with the smallest squared errors: a sum of the features, their squares and their products in pairs.

    Examples
    --------
    >>> parabola = QuadraticLeastSquares().fit([[-1.0], [0.0], [1.0], [2.0]], [1.0, 0.0, 1.0, 4.0])
    >>> parabola.predict([[3.0]]).round(6).tolist()
    [9.0]
    """

    def _terms(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        one, other = np.triu_indices(Z.shape[1])
        return np.hstack([Z, Z[:, one] * Z[:, other]])


class JoinTheDots(RegressorMixin, BaseEstimator):
    """Straight lines from each dot to the next, of a single feature.

    Where several rows have the same x, their dot is at the mean of their targets. Beyond the first and the last dot the
    prediction stays what it is there.

    Examples
    --------
    >>> dots = JoinTheDots().fit([[0.0], [1.0], [3.0]], [0.0, 2.0, 0.0])
    >>> dots.predict([[0.5], [2.0], [9.0]]).tolist()
    [1.0, 1.0, 0.0]
    """

    n_features_in_: int
    x_: NDArray[np.float64]
    """Where the dots are, from left to right."""
    y_: NDArray[np.float64]
    """How high they are."""

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from the rows of X, which has one column, and their targets y."""
        rows, targets = numbers_of(self, X, y, reset=True)
        self.x_, dot, count = np.unique(single_column(rows), return_inverse=True, return_counts=True)
        self.y_ = np.bincount(dot, weights=targets) / count
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The target of each row."""
        check_is_fitted(self)
        x = single_column(validate_data(self, X, reset=False, dtype=np.float64))
        return np.interp(x, self.x_, self.y_)

    def leave_one_out_errors(self, X: Any, y: ArrayLike) -> NDArray[np.float64]:
        """For each row, its target less what is predicted by what is learned from all others.

        Without it, a dot of several rows is at the mean of the others, and a dot of its own is not there: its
        neighbours are joined. This learner becomes one that has learned from all rows.
        """
        self.fit(X, y)
        rows, targets = numbers_of(self, X, y, reset=False)
        check_two(targets)
        dot = self.x_.searchsorted(single_column(rows))
        count, sums = np.bincount(dot)[dot], np.bincount(dot, weights=targets)[dot]
        mean_of_others = (sums - targets) / np.maximum(count - 1, 1)
        errors: NDArray[np.float64] = targets - np.where(count > 1, mean_of_others, self._joined()[dot])
        return errors

    def _joined(self) -> NDArray[np.float64]:
        """For each dot, how high the line is there that joins its neighbours; at the ends, the next dot."""
        x, y = self.x_, self.y_
        if len(x) == 1:
            return y
        share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
        inner = y[:-2] + share * (y[2:] - y[:-2])
        return np.concatenate([y[1:2], inner, y[-2:-1]])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags._skip_test = True  # scikit-learn's checks come with several features
        return tags


def numbers_of(regressor: Any, X: Any, y: ArrayLike, *, reset: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rows, targets = validate_data(regressor, X, y, reset=reset, dtype=np.float64, y_numeric=True)
    return rows, targets.astype(np.float64)


def check_two(targets: NDArray[np.float64]) -> None:
    if len(targets) < 2:
        raise DataError("there is only one row: nothing is left to learn from without it")


def single_column(X: NDArray[np.float64]) -> NDArray[np.float64]:
    if X.shape[1] != 1:
        raise DataError(f"X has {X.shape[1]} features, and dots are joined along one; give X a single column")
    return X[:, 0]
