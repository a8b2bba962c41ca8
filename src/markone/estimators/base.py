"""The base of all classifiers: how they are fitted and used.

`predict` and `partial_fit` have two paths. The fast path is for arrays and matrices that need no conversion, and costs
some microseconds. All other input takes the slow path, through scikit-learn's validation. A linear classifier that
predicts again and again for a few rows has a third path for them, which is one call of the core.

Threads may share a classifier. Calls that train take turns, and a prediction uses either everything or nothing that
such a call learns.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from markone.data.blocks import Block, Rows, as_importance, as_matrix, as_rows, quick_rows
from markone.errors import DataError, SettingsError, did_you_mean
from markone.estimators.turns import Turns
from markone.learning.class_weights import balanced
from markone.learning.learner import Learner, Tally
from markone.learning.learners import learner_for
from markone.learning.passes import teach
from markone.learning.progress import progress_of
from markone.model.history import History
from markone.model.settings import Settings

LARGEST_SEED = 2**31
ANSWERED = "answered"
"""The note with the number of values in the rows that were predicted since the last training."""
LABELLER = "labeller"
"""The note with the object of the core that labels a few rows."""


class GrowingLearner(Protocol):
    """A learner that can be trained block by block, and that accepts new classes."""

    def learn(self, block: Block, order: NDArray[np.int64] | None = None) -> Tally: ...
    def grow(self, *, features: int, classes: int, places: list[int]) -> None: ...


class Classifier(ClassifierMixin, BaseEstimator):
    """The base of the classifiers. A subclass has parameters, and converts them to settings."""

    words: ClassVar[dict[str, str]] = {
        "epochs": "max_iter",
        "eta": "eta0",
        "schedule": "learning_rate",
        "strength": "alpha",
        "bias": "fit_intercept",
        "order": "shuffle",
        "seed": "random_state",
        "holdout": "validation_fraction",
        "patience": "n_iter_no_change",
    }
    """The names of settings, and the names of the same parameters in scikit-learn."""

    classes_: NDArray[Any]
    history_: History
    n_iter_: int
    _learner: Learner

    # Parameters of most classifiers, with values for those that do not have them.
    max_iter: int
    tol: float | None
    shuffle: bool
    validation_fraction: float
    n_iter_no_change: int
    random_state: Any
    early_stopping: bool = False
    class_weight: Any = None
    warm_start: bool = False
    verbose: int = 0

    def _keep(self, given: dict[str, Any]) -> None:
        """Store the arguments of a constructor, its `locals()`, under their names, as scikit-learn requires."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def _all_settings(self, importance: float | None) -> dict[str, Any]:
        """Return the settings for the parameters. `importance` is the sum of the sample weights, if it is known."""
        raise NotImplementedError

    def _make(self, settings: Settings, features: int, classes: int, dtype: Any) -> Learner:
        """Return a new learner."""
        return learner_for(settings, features=features, classes=classes, dtype=dtype)

    def _go_on(self, settings: Settings) -> Learner:
        """Return the learner of the last fit with new settings, or a new one if the rule's family has changed."""
        before = self._learner
        if settings.family is not before.settings.family:
            return self._make(settings, before.features, len(self.classes_), before.dtype)
        try:
            return before.with_settings(settings)
        except SettingsError as error:
            raise SettingsError(self.words.get(error.name, error.name), error.problem) from None

    # ---- learning

    def _fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        X_val: Any,
        y_val: ArrayLike | None,
        start: Callable[[Any], None] | None = None,
    ) -> Self:
        """Train on the rows of X and their labels y, after calling `start` with the learner.

        With `early_stopping`, held-out accuracy is measured on `X_val` and `y_val` if they are given, else on a random
        share `validation_fraction` of the rows.
        """
        with self._changing():
            goes_on = self.warm_start and hasattr(self, "_learner")
            matrix = self._validate(X, reset=not goes_on)
            numbers: NDArray[Any]
            found, numbers = number_classes(self._validate_labels(y, matrix.shape[0]))
            if len(found) < 2 and not goes_on:
                raise DataError(
                    f"there is only one class in y, {found.tolist()[0]!r}; "
                    "a classifier needs examples of at least two classes"
                )
            self._check_class_weight(found if not goes_on else np.concatenate([found, self.classes_]))
            weights = self._weights_of_examples(sample_weight, found, numbers)
            if weights is not None and not weights.any():
                raise DataError("the weights of all examples are zero: there is nothing to learn from")
            settings = self._settings(float(matrix.shape[0] if weights is None else weights.sum()))
            if goes_on:
                numbers = self._meet(found, numbers)
                learner, classes = self._go_on(settings), self.classes_
            else:
                learner, classes = self._make(settings, matrix.shape[1], len(found), matrix.dtype), found
            if start is not None:
                start(learner)
            history = teach(
                learner,
                Block.of(as_matrix(matrix, learner.dtype), numbers, weights),
                holdout=self._holdout(X_val, y_val, learner, classes),
                progress=progress_of(bool(self.verbose)),
            )
            self.classes_, self._learner, self.history_, self.n_iter_ = classes, learner, history, len(history)
            self._turns.notes[ANSWERED] = math.inf  # the fit read all rows, so all weights may be read once more
            self._forget()
        self._warn()
        return self

    def _partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None, sample_weight: ArrayLike | None) -> Self:
        """Train on more rows, once each, in the given order, with a learner that can grow."""
        if self.class_weight is not None:
            self._check_class_weight(None)
        with self._changing():
            first = not hasattr(self, "_learner")
            rows = None if first else self._quick(X)
            if rows is None:
                X = as_matrix(self._validate(X, reset=first), None if first else self._learner.dtype)
                rows = as_rows(X)
            weights = as_importance(sample_weight, len(rows))
            if first:
                self._begin(X, y, classes)
            numbers = known_classes(self.classes_, y, len(rows))
            if numbers is None:
                numbers = self._meet(*number_classes(self._validate_labels(y, len(rows))))
            if self.class_weight is not None:
                weights = self._weights_of_examples(weights, self.classes_, numbers)
            tally = self._growing().learn(self._learner.ready(Block(rows, X, numbers, weights)))
            if not math.isfinite(tally.loss or 0.0):
                raise DataError(
                    "training diverged (the weights overflowed): the features are too large for the learning rate; "
                    "scale them or lower the rate, and start again"
                )
            self._forget()
        return self

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Allow one training call at a time. If it fails, its changes are undone."""
        with self._turns.alone():
            before = dict(self.__dict__)
            try:
                yield
            except BaseException:
                for name in self.__dict__.keys() - before.keys():  # never all: other threads need `_shared_turns`
                    del self.__dict__[name]
                self.__dict__.update(before)
                raise

    @property
    def _turns(self) -> Turns:
        """The lock for reading and changing the classifier. Copies do not have it, nor classifiers before training."""
        turns: Turns | None = self.__dict__.get("_shared_turns")
        if turns is None:
            turns = self.__dict__.setdefault("_shared_turns", Turns())  # the same for all threads
        return turns

    def _begin(self, matrix: Any, y: ArrayLike, classes: ArrayLike | None) -> None:
        labels = self._validate_labels(y, matrix.shape[0])
        self.classes_ = np.unique(labels if classes is None else np.asarray(classes))
        settings = self._settings(None)
        self._learner = self._make(settings, matrix.shape[1], len(self.classes_), matrix.dtype)
        self.history_ = History()
        self.n_iter_ = 1

    def _growing(self) -> GrowingLearner:
        """Return the learner, which can be trained block by block, and accepts new classes."""
        return cast(GrowingLearner, self._learner)

    def _meet(self, found: NDArray[Any], numbers: NDArray[Any]) -> NDArray[np.int32]:
        """Add new classes, and return the numbers of the labels among all classes."""
        try:
            kinds = {self.classes_.dtype.kind, found.dtype.kind}
            if kinds & set("US") and kinds & set("iufb"):
                raise TypeError  # NumPy would turn numbers into strings
            classes = np.unique(np.concatenate([self.classes_, found]))
        except TypeError:
            raise DataError(
                f"the labels {found.tolist()} have another type than the known classes, {self.classes_.tolist()}"
            ) from None
        if len(classes) > len(self.classes_):
            places = classes.searchsorted(self.classes_).tolist()
            self._growing().grow(features=self._learner.features, classes=len(classes), places=places)
            self.classes_ = classes
        renumbered: NDArray[np.int32] = self.classes_.searchsorted(found).astype(np.int32)[numbers]
        return renumbered

    def _settings(self, importance: float | None) -> Settings:
        try:
            return Settings(**{name: plain_number(value) for name, value in self._all_settings(importance).items()})
        except SettingsError as error:
            raise SettingsError(self.words.get(error.name, error.name), error.problem) from None

    def _pass_settings(self) -> dict[str, Any]:
        """Return the settings about passes."""
        for name in ("shuffle", "early_stopping", "warm_start"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise SettingsError(name, f"must be True or False, not {getattr(self, name)!r}")
        if self.early_stopping and self.validation_fraction == 0:
            raise SettingsError(
                "validation_fraction", "must be greater than 0 for early_stopping, which needs held-out rows"
            )
        stops = self.early_stopping or self.tol is not None
        return {
            "epochs": self.max_iter,
            "order": "each" if self.shuffle else "given",
            "seed": seed_of(self.random_state),
            "holdout": self.validation_fraction if self.early_stopping else 0.0,
            "patience": self.n_iter_no_change if stops else None,
            "tol": self.tol,
        }

    def _holdout(self, X_val: Any, y_val: ArrayLike | None, learner: Learner, classes: NDArray[Any]) -> Block | None:
        if X_val is None and y_val is None:
            return None
        if X_val is None or y_val is None:
            raise DataError("X_val and y_val belong together; one of them is missing")
        if not self.early_stopping:
            raise SettingsError("early_stopping", "must be True if X_val and y_val are given")
        matrix = self._validate(X_val, reset=False)
        numbers = known_classes(classes, self._validate_labels(y_val, matrix.shape[0]), matrix.shape[0])
        if numbers is None:
            raise DataError("y_val has labels that are not in y")
        return Block.of(as_matrix(matrix, learner.dtype), numbers)

    def _check_class_weight(self, classes: NDArray[Any] | None) -> None:
        """Check `class_weight`. Without known classes, as in partial_fit, it cannot be "balanced"."""
        weights = self.class_weight
        if weights is None or (isinstance(weights, str) and weights == "balanced" and classes is not None):
            return
        if isinstance(weights, str) and weights == "balanced":
            raise SettingsError(
                "class_weight",
                "cannot be 'balanced' in partial_fit, which does not see all classes; give the weights as a dict",
            )
        if not isinstance(weights, dict):
            raise SettingsError("class_weight", f"must be None, 'balanced' or a dict, not {weights!r}")
        for label, weight in weights.items():
            if not isinstance(weight, int | float | np.number) or not 0 <= weight < np.inf:
                raise SettingsError("class_weight", f"must have numbers of at least 0, not {weight!r} for {label!r}")
        unknown = [] if classes is None else [label for label in weights if label not in classes.tolist()]
        if unknown:
            known = ", ".join(map(repr, classes.tolist()[:20])) if classes is not None else ""
            raise SettingsError("class_weight", f"names {unknown[0]!r}, which is not among the classes {known}")

    def _weights_of_examples(
        self, sample_weight: ArrayLike | None, classes: NDArray[Any], numbers: NDArray[Any]
    ) -> NDArray[np.float64] | None:
        weights = as_importance(sample_weight, len(numbers))
        if self.class_weight is None:
            return weights
        if isinstance(self.class_weight, dict):
            of_class = np.array([self.class_weight.get(label, 1.0) for label in classes.tolist()], np.float64)
        else:
            of_class = balanced(numbers, weights, len(classes))
        by_class: NDArray[np.float64] = of_class[numbers]
        return by_class if weights is None else weights * by_class

    def _warn(self) -> None:
        if self.history_.stopped == "interrupted":
            warnings.warn(
                f"Training was interrupted after {self.n_iter_} complete passes; the model so far is kept.",
                UserWarning,
                stacklevel=4,
            )
        elif (problem := self._unfinished()) is not None:
            warnings.warn(problem, ConvergenceWarning, stacklevel=4)

    def _unfinished(self) -> str | None:
        """Return why training is not finished, and what to do; None if it is finished."""
        stopped, nears_an_optimum = self.history_.stopped, self._learner.settings.traits.nears_an_optimum
        if stopped == "converged" and nears_an_optimum:
            return (
                f"After {self.n_iter_} passes nothing changes any more, but training has not converged to tol. Raise "
                "tol, or scale the features."
            )
        if stopped == "epochs" and nears_an_optimum:
            return (
                f"After max_iter={self.max_iter} passes training has not converged to tol. Raise max_iter or tol, or "
                "scale the features."
            )
        if stopped == "epochs" and getattr(self, "tol", None) is not None:
            return (
                f"The loss was still falling after max_iter={self.max_iter} passes. Raise max_iter, or set tol=None "
                "if you want exactly this number of passes."
            )
        return None

    def __copy__(self) -> Self:
        """Return an independent copy."""
        twin: Self = object.__new__(type(self))
        twin.__dict__.update(self.__getstate__())
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy or a pickle, with its own learner."""
        with self._turns:
            state: dict[str, Any] = dict(super().__getstate__())
            if "_learner" in state:
                state["_learner"] = copy.copy(self._learner)
        del state["_shared_turns"]
        return state

    # ---- using

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        turns: Turns | None = self.__dict__.get("_shared_turns")
        labeller = None if turns is None else turns.notes.get(LABELLER)
        if labeller is not None:
            found: NDArray[Any] | None = labeller.label(X, self.classes_)
            if found is not None:
                return found
        with self._turns as notes:
            rows = self._rows(X)
            if labeller is None:
                self._shorten(rows, notes)
            return self._found(rows)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The scores: one for each class, or a single one where there are two classes, positive for the second."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _found(self, rows: Rows) -> NDArray[Any]:
        """What `predict` returns for rows that have no shorter way."""
        return self.classes_.take(self._learner.predict(rows))

    def _shorten(self, rows: Rows, notes: dict[str, Any]) -> None:
        """Do nothing: only linear classifiers have a shorter way to the labels of the next rows."""

    def _forget(self) -> None:
        """Lets go what was read of the last learner."""

    def _scores(self, X: Any) -> NDArray[Any]:
        with self._turns:
            rows = self._rows(X)
            return self._learner.scores(rows)

    def _rows(self, X: Any) -> Rows:
        """The rows of what comes to be classified, for one who looks."""
        if "_learner" not in self.__dict__:
            check_is_fitted(self)
        rows = self._quick(X)
        if rows is None:
            rows = as_rows(as_matrix(self._validate(X, reset=False), self._learner.dtype))
        return rows

    def __sklearn_is_fitted__(self) -> bool:
        return "_learner" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ---- what comes in

    def _quick(self, X: Any) -> Rows | None:
        """The rows of X where it can be read as it is: the short way."""
        if "feature_names_in_" in self.__dict__:
            return None  # the names of X are to be looked at
        return quick_rows(X, self._learner.dtype, self._learner.features)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        try:
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                accept_large_sparse=True,
                dtype=[np.float64, np.float32],
                order="C",
                ensure_all_finite=False,  # the core looks
            )
        except ValueError as error:
            if "could not convert string to float" not in str(error):
                raise
            raise DataError(
                f"{error}. Estimators need numbers; make_pipeline(markone.FeatureTransformer(), ...) makes them of "
                "texts and tables"
            ) from None

    def _validate_labels(self, y: ArrayLike, rows: int) -> NDArray[Any]:
        labels: NDArray[Any] = column_or_1d(y, warn=True)
        if labels.dtype.kind not in "iub":
            check_classification_targets(labels)
        if labels.shape[0] != rows:
            raise DataError(f"there are {rows} rows but {labels.shape[0]} labels")
        return labels


def number_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes in order, and the number of each label's: `np.unique`, without its sorting where that is easy."""
    if labels.dtype.kind == "i" and len(labels):
        lowest, highest = int(labels.min()), int(labels.max())
        if highest - lowest < len(labels):
            from_zero = labels.astype(np.int64) - lowest
            present = np.bincount(from_zero) > 0
            return np.flatnonzero(present).astype(labels.dtype) + labels.dtype.type(lowest), (present.cumsum() - 1)[
                from_zero
            ]
    found, numbers = np.unique(labels, return_inverse=True)
    return found, numbers


def known_classes(classes: NDArray[Any], labels: ArrayLike, rows: int) -> NDArray[np.int32] | None:
    """Return the class numbers of the labels, or None if a label is missing or unknown."""
    labels = np.asarray(labels)
    if labels.shape != (rows,):
        return None
    try:
        numbers = classes.searchsorted(labels)
        known = classes.take(numbers, mode="clip") == labels
    except TypeError:
        return None
    return numbers.astype(np.int32) if known.all() else None


def one_of(name: str, value: Any, known: Collection[str]) -> str:
    """Return the value, or raise an error if it is unknown."""
    if not isinstance(value, str) or value not in known:
        raise SettingsError(
            name, f"must be one of {', '.join(map(repr, known))}, not {value!r}." + did_you_mean(str(value), known)
        )
    return value


def plain_number(value: Any) -> Any:
    """Return a NumPy number as a Python number."""
    return value.item() if isinstance(value, np.generic) else value


def seed_of(random_state: Any) -> int:
    """Return a seed from a number, a generator, or None for a random one, as in scikit-learn."""
    if random_state is None:
        return int(np.random.default_rng().integers(LARGEST_SEED))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(LARGEST_SEED))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(LARGEST_SEED))
    return plain_number(random_state)  # type: ignore[no-any-return]
