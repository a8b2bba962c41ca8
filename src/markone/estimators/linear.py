"""The base of the linear classifiers: weights, and training block by block."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from markone import _core
from markone.data.blocks import Block, Rows, as_importance, as_matrix
from markone.errors import DataError, SettingsError
from markone.estimators.base import ANSWERED, LABELLER, Classifier
from markone.estimators.indicators import is_indicator, sets_in
from markone.learning.learner import Learner
from markone.learning.logistic import BatchLearner
from markone.learning.online import Linear
from markone.learning.passes import teach
from markone.learning.progress import progress_of
from markone.learning.several_labels import LabelLearner, LabelsInTurn, learner_of_sets
from markone.learning.svm import Dual

WORTH_OF_A_CALL = 1000
"""How many weights can be read in the time that the shortest path saves."""


class LinearClassifier(Classifier):
    """The base of the linear classifiers."""

    fit_intercept: bool
    average: bool | None
    tie: str

    def _own_settings(self, importance: float | None) -> dict[str, Any]:
        """Return the settings of this class. `importance` is the sum of the sample weights, if it is known."""
        raise NotImplementedError

    def _all_settings(self, importance: float | None) -> dict[str, Any]:
        return {
            **self._pass_settings(),
            "average": self.average,
            "tie": self.tie,
            "bias": self.fit_intercept,
            **self._own_settings(importance),
        }

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Learn from the rows of X and their labels y.

        `coef_init` and `intercept_init` are weights to start from, in the shapes of `coef_` and `intercept_`. With
        `early_stopping`, held-out accuracy is measured on `X_val` and `y_val` if they are given, else on a random share
        `validation_fraction` of the rows.

        If a row can have several labels, y is a matrix, dense or sparse, with a column for each label: 1 where a row
        has the label, and 0 elsewhere. Each label is then learned on its own, against the rows without it, and
        `predict` returns such a matrix.
        """
        fit = self._fit_labels if is_indicator(y) else self._fit
        return fit(X, y, sample_weight, X_val, y_val, starting_at(coef_init, intercept_init))

    def _fit_labels(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        X_val: Any,
        y_val: ArrayLike | None,
        start: Callable[[Any], None] | None,
    ) -> Self:
        """Train on rows that can have several labels. The arguments are those of `_fit`."""
        self._refuse_with_several(X_val=X_val, y_val=y_val, class_weight=self.class_weight, coef_init=start)
        with self._changing():
            matrix = self._validate(X, reset=True)
            sets, numbers = sets_in(y, matrix.shape[0])
            weights = as_importance(sample_weight, len(numbers))
            if weights is not None and not weights.any():
                raise DataError("the weights of all examples are zero: there is nothing to learn from")
            settings = self._settings(float(matrix.shape[0] if weights is None else weights.sum()))
            learner = learner_of_sets(
                settings, sets, [*range(len(sets))], lambda: self._make(settings, matrix.shape[1], 2, matrix.dtype)
            )
            block = Block.of(as_matrix(matrix, learner.dtype), numbers, weights)
            history = teach(learner, block, progress=progress_of(bool(self.verbose)))
            self.classes_, self._learner, self.history_ = np.arange(len(sets)), learner, history
            self.n_iter_ = learner.most_passes if isinstance(learner, LabelsInTurn) else len(history)
            self._forget()
        self._warn()
        return self

    def _refuse_with_several(self, **given: Any) -> None:
        """Raise an error for parameters that rows with several labels do not have."""
        given["warm_start"] = True if self.warm_start and hasattr(self, "_learner") else None
        for name, value in given.items():
            if value is not None:
                raise SettingsError(name, "is for rows with one label each, and y has several columns; leave it out")

    def _found(self, rows: Rows) -> NDArray[Any]:
        learner = self._learner
        return learner.found(rows).astype(np.int64) if isinstance(learner, LabelLearner) else super()._found(rows)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The scores: one for each class, or a single one where there are two classes, positive for the second. If rows
        can have several labels, each label has a score, which is positive where it is found."""
        several = isinstance(self.__dict__.get("_learner"), LabelLearner)
        return self._scores(X) if several else super().decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on more rows, once each, in the given order.

        Unlike in scikit-learn, every call may contain new labels. `classes` lists the classes that are already known.
        Parameters that change after the first call have no effect.
        """
        return self._partial_fit(X, y, classes, sample_weight)

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights: a row for each class, or one row for two classes."""
        return self._read()[0]

    @property
    def intercept_(self) -> NDArray[Any]:
        """The bias of each row of `coef_`."""
        return self._read()[1]

    def weights(self, averaged: bool | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return `coef_` and `intercept_` of the averaged or of the last weights; None means as `average` says."""
        check_is_fitted(self)
        with self._turns:
            return self._weights(averaged)

    def _weights(self, averaged: bool | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        weights = cast(Linear | BatchLearner | Dual, self._learner).weights(averaged)
        return weights.matrix().T, weights.bias()

    def _read(self) -> tuple[NDArray[Any], NDArray[Any]]:
        read = self.__dict__.get("_read_weights")
        if read is None:
            if "_learner" not in self.__dict__:
                raise AttributeError(f"this {type(self).__name__} has no weights before fit or partial_fit")
            with self._turns:
                read = self._read_weights = self._weights()
            for array in read:
                array.setflags(write=False)  # changing this copy would not change predictions
        return read

    def _shorten(self, rows: Rows, notes: dict[str, Any]) -> None:
        """Read all weights as soon as predictions have taken longer than that, and note what labels a few rows.

        Between two calls of `partial_fit` there may be only one prediction, and its row may have few of the features.
        """
        notes[ANSWERED] = notes.get(ANSWERED, 0) + rows.stored + WORTH_OF_A_CALL
        named = "feature_names_in_" in self.__dict__  # the names of X are to be looked at
        several = isinstance(self._learner, LabelLearner)
        if named or several or len(self.classes_) < 2 or notes[ANSWERED] < self._learner.features:
            return
        weights: Any = cast(Linear | BatchLearner | Dual, self._learner).weights()
        kind = _core.Labeller32 if isinstance(weights, _core.Weights32) else _core.Labeller64
        notes[LABELLER] = kind(weights, _core.Tie[self._learner.settings.tie], self.classes_)

    def _forget(self) -> None:
        self.__dict__.pop("_read_weights", None)


def starting_at(coef: ArrayLike | None, intercept: ArrayLike | None) -> Callable[[Learner], None] | None:
    """Return a function that sets the initial weights of a learner, or None if there are none."""
    if coef is None and intercept is None:
        return None
    return partial(start_at, coef=coef, intercept=intercept)


def start_at(linear: Learner, coef: ArrayLike | None, intercept: ArrayLike | None) -> None:
    """Set the initial weights of a learner, given in the shapes of scikit-learn."""
    if linear.settings.family.has_multipliers:
        raise DataError("coef_init and intercept_init are only for solvers that can start from weights")
    linear = cast(Linear | BatchLearner, linear)
    if linear.time > 0:
        raise DataError("coef_init and intercept_init are only for a first fit; warm_start already has weights")
    matrix = np.zeros((linear.features, linear.columns)) if coef is None else np.atleast_2d(np.asarray(coef)).T
    bias = np.zeros(linear.columns) if intercept is None else np.atleast_1d(np.asarray(intercept))
    if matrix.shape != (linear.features, linear.columns):
        raise DataError(
            f"coef_init must have the shape {(linear.columns, linear.features)}, not {np.asarray(coef).shape}"
        )
    linear.start_at(matrix, bias)
