"""The feature map as a transformer of scikit-learn, for any pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from markone.data.blocks import Sparse, as_scipy
from markone.data.read import read
from markone.errors import DataError, SettingsError
from markone.features.map import FeatureMap
from markone.features.spec import Features, Function, with_defaults
from markone.parallel import count_threads

OF_CLASSES = ("binary", "multiclass")
"""The kinds of y with classes, which some features are chosen by."""

WITHOUT_CLASSES = {"text": {"weight": "idf"}}
"""The usual weights of words depend on the classes. Without classes, these are used."""


class FeatureTransformer(TransformerMixin, BaseEstimator):
    """Turns texts and tables into features, with the feature map of `markone.train`.

    Parameters
    ----------
    features
        The specification of the features, as for `markone.train`.
    functions
        Your own functions that make features, by name, as for `markone.train`.
    kinds
        The kinds of columns, as for `markone.read`, for example `{"zip": "categorical"}`. By default, they are guessed.
    sparse_output
        Whether the result of `transform` is a sparse matrix or an array. With `auto`, it is sparse if most values are
        0, but not if `set_output` asks for a frame, which needs an array.
    n_jobs
        The number of threads that make features. The default is the number of cores. The result is always the same.

    Attributes
    ----------
    feature_map_
        The fitted `FeatureMap`.
    n_features_in_, feature_names_in_
        The number and the names of the columns, as in scikit-learn.

    Examples
    --------
    >>> from markone import FeatureTransformer, Perceptron
    >>> from sklearn.pipeline import make_pipeline
    >>> texts, labels = ["free money", "see you", "free tea", "see me"], ["spam", "ham", "spam", "ham"]
    >>> pipeline = make_pipeline(FeatureTransformer({"text": {"words": [1, 1]}}), Perceptron()).fit(texts, labels)
    >>> pipeline.predict(["free you"]).tolist()
    ['spam']
    >>> pipeline[0].get_feature_names_out().tolist()
    ['free', 'see', 'money', 'you', 'tea', 'me']
    """

    feature_map_: FeatureMap
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        features: Any = None,
        *,
        functions: Mapping[str, Function] | None = None,
        kinds: Mapping[str, str] | None = None,
        sparse_output: bool | Literal["auto"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.features = features
        self.functions = functions
        self.kinds = kinds
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the features on texts, a table or an array. Some features are chosen by the classes, if y has classes."""
        if not (self.sparse_output == "auto" or isinstance(self.sparse_output, bool)):
            raise SettingsError("sparse_output", f"must be True, False or 'auto', not {self.sparse_output!r}")
        X = self._validate(X, reset=True)
        target = np.asarray(y) if y is not None and type_of_target(y) in OF_CLASSES else None
        source = read(X, target=target, kinds=dict(self.kinds or {}), threads=self.n_jobs, **how_to_read(X))
        features = self.features
        if target is None and (features is None or isinstance(features, Mapping)):
            features = with_defaults(features or {}, WITHOUT_CLASSES)
        spec = Features.of(features, self.functions)
        self.feature_map_ = FeatureMap(spec, source.columns).fit(source, count_threads(self.n_jobs))
        return self

    def transform(self, X: Any) -> Any:
        """Return a row of features for each example."""
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        found = [self.feature_map_.transform(batch) for batch in self.feature_map_.batches(X)]
        if not found:
            raise DataError("there are no examples")
        as_sparse = self.sparse_output
        if as_sparse == "auto":
            as_sparse = isinstance(found[0], Sparse) and _get_output_config("transform", self)["dense"] == "default"
        if as_sparse:
            return sparse.vstack([sparse.csr_matrix(as_scipy(one)) for one in found], format="csr")
        return np.vstack([as_scipy(one).toarray() if isinstance(one, Sparse) else one for one in found])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features. `input_features` must be the names of the columns, if it is given."""
        check_is_fitted(self)
        if input_features is not None:
            own = getattr(self, "feature_names_in_", None)
            if own is not None and not np.array_equal(own, input_features):
                raise ValueError("input_features is not equal to feature_names_in_")
            if own is None and len(input_features) != self.n_features_in_:
                raise ValueError(
                    f"input_features should have length equal to number of features ({self.n_features_in_})"
                )
        return np.array(self.feature_map_.names(), object)

    @property
    def _n_features_out(self) -> int:
        return self.feature_map_.width

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Check arrays as scikit-learn does. Frames, texts and everything else are checked when they are read."""
        if is_like_array(X):
            X = np.asarray(X)
        if isinstance(X, np.ndarray) and (X.ndim != 1 or X.dtype.kind not in "OUS"):
            return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_features=1)
        if sparse.issparse(X):
            return validate_data(self, X, reset=reset, accept_sparse="csr", ensure_all_finite="allow-nan")
        if isinstance(X, list) and X and isinstance(X[0], list | tuple):
            X = check_array(X, dtype=None, ensure_all_finite="allow-nan")
            return validate_data(self, X, reset=reset, skip_check_array=True)
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []  # features are 32-bit floats
        return tags


def is_like_array(X: Any) -> bool:
    """Whether it is no array, but can become one, and is not a frame or a column of one."""
    of_frame = any(hasattr(X, name) for name in ("columns", "column_names", "index", "__arrow_c_stream__"))
    return hasattr(X, "__array__") and not isinstance(X, np.ndarray) and not of_frame


def how_to_read(X: Any) -> dict[str, Any]:
    """Return the options of `read`. In an array of numbers, NaN is a missing value."""
    return {"nan": "missing"} if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub" else {}
