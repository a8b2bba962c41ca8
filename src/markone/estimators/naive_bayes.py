"""Naive Bayes with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from markone import _core
from markone.data.blocks import Rows, as_matrix, as_rows, describe_not_finite, is_sparse
from markone.errors import DataError, SettingsError
from markone.estimators.base import one_of
from markone.estimators.probabilities import ProbabilisticClassifier
from markone.features.event_kinds import Event, Group, one_group
from markone.learning.naive_bayes import Counting, is_positive
from markone.model.naive_bayes import USUAL_OF_VARIANCE
from markone.model.naive_bayes import NaiveBayes as Scorer
from markone.model.settings import Settings

EVENTS = get_args(Event)
LARGEST_CATEGORY = 2**24


class NaiveBayes(ProbabilisticClassifier):
    """Naive Bayes, which counts in one pass, and has probabilities.

    It can replace `MultinomialNB`, `BernoulliNB`, `GaussianNB` and `CategoricalNB` of `sklearn.naive_bayes`. It can
    also combine them on a table with several kinds of columns.

    Parameters
    ----------
    likelihood
        The kind of the columns: "multinomial" for counts of words; "bernoulli" for whether a word occurs; "gaussian"
        for measurements; "categorical" for numbers of categories, starting with 0. Or a list with a kind per column.
    alpha
        The number that is added to each count (Laplace smoothing). 0 is maximum likelihood: an event that never occurs
        in a class is then impossible in it, and odds may be infinite. If every class is impossible, the prior decides.
    interpolation
        The weight, from 0 to 1, of the class's own estimate in a mixture with the estimate of all classes together. It
        is used instead of `alpha`.
    fit_prior
        Whether the priors are the frequencies of the classes. Otherwise they are uniform.
    class_prior
        The priors, in the order of `classes_`.
    binarize
        A "bernoulli" feature counts as present if it is greater than this; with None, if it is not 0.
    var_smoothing
        This share of the largest variance of all "gaussian" columns is added to all variances. Unlike in scikit-learn,
        this variance uses the sample weights, and all rows that `partial_fit` has seen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NaiveBayes("gaussian").fit(X, y).score(X, y)
    0.96
    """

    words: ClassVar[dict[str, str]] = {"k": "alpha", "alpha": "interpolation"}

    _layout: Uniform | Mixed

    def __init__(
        self,
        likelihood: Any = "multinomial",
        *,
        alpha: float = 1.0,
        interpolation: float | None = None,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        binarize: float | None = 0.0,
        var_smoothing: float = USUAL_OF_VARIANCE,
    ) -> None:
        self.likelihood = likelihood
        self.alpha = alpha
        self.interpolation = interpolation
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.binarize = binarize
        self.var_smoothing = var_smoothing

    # ---- learning

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Count the rows of X, whose labels are y."""
        return self._fit(X, y, sample_weight, None, None)

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Count more rows. The result is the same as if all rows had been counted at once.

        Unlike in scikit-learn, every call may contain new labels and categories. `classes` lists the classes that are
        already known. Parameters that change after the first call have no effect.
        """
        with self._changing():
            if hasattr(self, "_learner") and isinstance(self._layout, Mixed):
                self._widen(self._layout.meeting(super()._validate(X, reset=False)))
            return self._partial_fit(X, y, classes, sample_weight)

    def merge(self, other: NaiveBayes) -> Self:
        """Add the counts of another classifier of the same columns, as if this one had counted its rows, too."""
        check_is_fitted(self)
        check_is_fitted(other)
        with other._turns:
            theirs, classes, counted = other._layout, other.classes_, other._counting().scorer()
        with self._changing():
            mine = self._layout
            if isinstance(mine, Mixed) and isinstance(theirs, Mixed):
                same = mine.kinds == theirs.kinds and mine.above == theirs.above
            else:
                same = mine == theirs
            if not same:
                raise DataError("only what was counted of the same columns, as events of the same kinds, can be added")
            self._meet(classes, np.zeros(0, np.int64))
            moved = np.arange(theirs.width)
            if isinstance(mine, Mixed) and isinstance(theirs, Mixed):
                self._widen(mine.with_room_for(theirs))
                moved = theirs.moved_to(cast(Mixed, self._layout))
            places = self.classes_.searchsorted(classes).tolist()
            self._learner = self._counting().twin().grown_from(counted, moved, places)
        return self

    def _meet(self, found: NDArray[Any], numbers: NDArray[Any]) -> NDArray[np.int32]:
        self._learner = self._counting().twin()  # so that the old one stays as it was if the rows are of no use
        return super()._meet(found, numbers)

    def _widen(self, layout: Mixed) -> None:
        """Makes room for categories that are new."""
        before, self._layout = cast(Mixed, self._layout), layout
        if layout.sizes != before.sizes:
            counting = self._counting().twin()
            counting.rearrange(layout.groups, layout.width, before.moved_to(layout))
            self._learner = counting

    def _all_settings(self, importance: float | None) -> dict[str, Any]:
        if not isinstance(self.fit_prior, bool | np.bool_):
            raise SettingsError("fit_prior", f"must be True or False, not {self.fit_prior!r}")
        smoothing = {"k": self.alpha} if self.interpolation is None else {"alpha": self.interpolation}
        return {"rule": "naive-bayes", "priors": "data" if self.fit_prior else "uniform", **smoothing}

    def _make(self, settings: Settings, features: int, classes: int, dtype: Any) -> Counting:
        return Counting(
            settings,
            features=features,
            classes=classes,
            dtype=dtype,
            groups=self._layout.groups,
            priors=self._given_priors(classes),
            of_variance=self._of_variance(),
        )

    def _given_priors(self, classes: int) -> NDArray[np.float64] | None:
        if self.class_prior is None:
            return None
        try:
            priors = np.asarray(self.class_prior, np.float64)
        except (TypeError, ValueError):
            raise SettingsError("class_prior", f"must be numbers, not {self.class_prior!r}") from None
        if priors.shape != (classes,):
            raise SettingsError("class_prior", f"must have a number for each of the {classes} classes")
        if not (np.isfinite(priors).all() and (priors >= 0).all() and priors.sum() > 0):
            raise SettingsError("class_prior", f"must be numbers of at least 0 that are not all 0, not {priors!r}")
        return priors

    def _of_variance(self) -> float:
        share = self.var_smoothing
        if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0 <= share < np.inf:
            raise SettingsError("var_smoothing", f"must be a number of at least 0, not {share!r}")
        return float(share)

    def _counting(self) -> Counting:
        return cast(Counting, self._learner)

    # ---- what comes in

    def _validate(self, X: Any, *, reset: bool) -> Any:
        matrix = super()._validate(X, reset=reset)
        if reset:
            self._layout = layout_of(self.likelihood, self.binarize, matrix)
        return self._layout.arrange(matrix)

    def _quick(self, X: Any) -> Rows | None:
        return super()._quick(X) if self._layout.takes_anything and not is_sparse(X) else None

    def _rows(self, X: Any) -> Rows:
        rows = super()._rows(X)
        if self._layout.takes_anything or not isinstance(rows, _core.SparseRows32 | _core.SparseRows64):
            return rows
        # A column that a row names twice is there once. Few matrices have such rows, so they are looked for last.
        return (
            as_rows(as_matrix(named_once(self._validate(X, reset=False)), self._learner.dtype))
            if rows.names_twice()
            else rows
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kinds = {self.likelihood} if isinstance(self.likelihood, str) else {*map(str, np.ravel(self.likelihood))}
        tags.input_tags.positive_only = not kinds.isdisjoint(("multinomial", "categorical"))
        tags.input_tags.categorical = "categorical" in kinds
        tags.classifier_tags.poor_score = kinds != {"gaussian"}
        return tags

    # ---- using

    @property
    def decision_function(self) -> Any:
        """There is none, as in scikit-learn's classes: there are probabilities."""
        raise AttributeError("naive Bayes has no decision_function; there is predict_joint_log_proba")

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """log P(class, row) for each class, in the order of `classes_`; -∞ where that cannot be."""
        with self._turns:
            rows = self._rows(X)
            return self._counting().scorer().joint_scores(rows)

    @property
    def class_count_(self) -> NDArray[np.float64]:
        """The weights of the rows of each class."""
        return self._read().events.rows

    @property
    def class_log_prior_(self) -> NDArray[np.float64]:
        """log P(class)."""
        return self._read().joint.starts()[0]

    @property
    def feature_count_(self) -> Any:
        """What was counted of each feature in each class, classes × features; with categories a list, of an array for
        each column."""
        return self._by_column(self._read().events.counts)

    @property
    def feature_log_prob_(self) -> Any:
        """log P(feature | class), in the same form. Of "bernoulli", that it is there."""
        with np.errstate(divide="ignore"):
            return self._by_column(np.log(self._read().probabilities()))

    @property
    def theta_(self) -> NDArray[np.float64]:
        """The means of the columns of the kind "gaussian": classes × columns."""
        return self._read().moments()[1].T

    @property
    def var_(self) -> NDArray[np.float64]:
        """Their variances."""
        return self._read().moments()[2].T

    def _read(self) -> Scorer:
        if "_learner" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} has counted nothing before fit or partial_fit")
        with self._turns:
            return self._counting().scorer()

    def _by_column(self, table: NDArray[np.float64]) -> Any:
        layout = self._layout
        if isinstance(layout, Uniform):
            return table.T
        if "categorical" not in layout.kinds:
            return table[layout.places].T
        return [table[place : place + size].T for place, size in zip(layout.places, layout.sizes, strict=True)]


# ---- what columns are


@dataclass(frozen=True, slots=True)
class Uniform:
    """Columns of one kind, which stand as they are."""

    kind: Event
    width: int
    above: float | None
    """What is greater than this is there; None for what is not 0."""

    @property
    def groups(self) -> tuple[Group, ...]:
        return one_group(self.kind, self.width)

    @property
    def takes_anything(self) -> bool:
        return self.kind != "bernoulli"

    def arrange(self, matrix: Any) -> Any:
        """Repeated columns of a row are added up later, unless the sum decides what is there."""
        if self.takes_anything or (not self.above and is_positive(matrix)):
            return matrix  # the core takes what is not 0 as there
        check_finite(matrix)
        return there(named_once(matrix), self.above)


@dataclass(frozen=True, slots=True)
class Mixed:
    """Columns of several kinds: those of one kind stand side by side, and each category is a feature."""

    kinds: tuple[Event, ...]
    """Of each column."""
    sizes: tuple[int, ...]
    """Of each column: the number of its categories, or 1."""
    above: float | None

    takes_anything = False

    def columns(self, kind: Event) -> list[int]:
        return [column for column, mine in enumerate(self.kinds) if mine == kind]

    @property
    def places(self) -> NDArray[np.int64]:
        """The first feature of each column."""
        order = [column for kind in EVENTS for column in self.columns(kind)]
        sizes = np.array(self.sizes)[order]
        places = np.empty(len(sizes), np.int64)
        places[order] = np.cumsum(sizes) - sizes
        return places

    @property
    def width(self) -> int:
        return sum(self.sizes)

    @property
    def groups(self) -> tuple[Group, ...]:
        """Columns of words are one group, those of numbers another; those of categories are a group each."""
        groups, start = [], 0
        for kind in EVENTS:
            sizes = [self.sizes[column] for column in self.columns(kind)]
            for size in sizes if kind == "categorical" else filter(None, [sum(sizes)]):
                groups.append(Group(kind, start, start + size))
                start += size
        return tuple(groups)

    def meeting(self, matrix: Any) -> Mixed:
        """With room for the categories that are in these rows."""
        sizes = list(self.sizes)
        for column in self.columns("categorical"):
            sizes[column] = max(sizes[column], int(categories_of(matrix, column).max(initial=0)) + 1)
        return replace(self, sizes=tuple(sizes))

    def with_room_for(self, other: Mixed) -> Mixed:
        return replace(self, sizes=tuple(max(pair) for pair in zip(self.sizes, other.sizes, strict=True)))

    def moved_to(self, other: Mixed) -> NDArray[np.int64]:
        """Where each feature is among those of the same columns that have more categories."""
        moved = np.empty(self.width, np.int64)
        for mine, theirs, size in zip(self.places, other.places, self.sizes, strict=True):
            moved[mine : mine + size] = np.arange(theirs, theirs + size)
        return moved

    def arrange(self, matrix: Any) -> Any:
        from scipy.sparse import csr_array, hstack

        matrix = named_once(matrix)
        check_finite(matrix)
        parts: list[Any] = []
        for kind in EVENTS:
            columns = self.columns(kind)
            if kind == "categorical":
                parts += [self.one_hot(matrix, column) for column in columns]
            elif columns:
                some = matrix[:, columns]
                parts.append(there(some, self.above) if kind == "bernoulli" else some)
        if not any(map(is_sparse, parts)):
            return np.ascontiguousarray(np.hstack(parts))
        return csr_array(hstack([csr_array(part) for part in parts], format="csr", dtype=matrix.dtype))

    def one_hot(self, matrix: Any, column: int) -> Any:
        """A feature for each category; a category that is new has none."""
        from scipy.sparse import csr_array

        categories = categories_of(matrix, column)
        known = categories < self.sizes[column]
        indptr = np.concatenate([[0], np.cumsum(known)])
        ones = np.ones(indptr[-1], matrix.dtype)
        return csr_array((ones, categories[known], indptr), shape=(len(categories), self.sizes[column]))


def layout_of(likelihood: Any, binarize: Any, matrix: Any) -> Uniform | Mixed:
    columns = matrix.shape[1]
    kinds = [likelihood] if isinstance(likelihood, str) else likelihood
    if not isinstance(kinds, Sequence | np.ndarray) or (len(kinds) != columns and kinds != [likelihood]):
        raise SettingsError("likelihood", f"must be a kind, or one for each of the {columns} columns")
    for kind in kinds:
        one_of("likelihood", kind, EVENTS)
    if binarize is not None and (
        isinstance(binarize, bool) or not isinstance(binarize, int | float | np.number) or np.isnan(binarize)
    ):
        raise SettingsError("binarize", f"must be a number or None, not {binarize!r}")
    above = None if binarize is None else float(binarize)
    if isinstance(likelihood, str) and likelihood != "categorical":
        return Uniform(cast(Event, likelihood), columns, above)
    spread = kinds * columns if isinstance(likelihood, str) else kinds
    return Mixed(tuple(map(str, spread)), (1,) * columns, above).meeting(matrix)  # type: ignore[arg-type]


def named_once(matrix: Any) -> Any:
    """A sparse matrix in which no row names a column twice."""
    if not is_sparse(matrix) or matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix


def check_finite(matrix: Any) -> None:
    values = matrix.data if is_sparse(matrix) else matrix
    if not np.isfinite(values).all():
        raise DataError(describe_not_finite(values))


def there(matrix: Any, above: float | None) -> Any:
    """1 where something is greater, 0 elsewhere."""
    sparse = is_sparse(matrix)
    if sparse and above is not None and above < 0:
        raise SettingsError("binarize", f"must be at least 0 for a sparse matrix, not {above!r}")
    values = matrix.data if sparse else matrix
    found = np.asarray(values != 0 if above is None else values > above, matrix.dtype)
    return type(matrix)((found, matrix.indices, matrix.indptr), shape=matrix.shape) if sparse else found


def categories_of(matrix: Any, column: int) -> NDArray[np.int64]:
    values = matrix[:, [column]].toarray()[:, 0] if is_sparse(matrix) else matrix[:, column]
    if not np.isfinite(values).all():
        raise DataError(describe_not_finite(values[:, None]))
    if (values < 0).any():
        raise DataError(f"Negative values in data: column {column} has {values.min():g}, and categories count from 0")
    if values.max(initial=0) >= LARGEST_CATEGORY:
        raise DataError(f"column {column} has the category {values.max():g}; number the categories from 0")
    categories: NDArray[np.int64] = values.astype(np.int64)
    return categories
