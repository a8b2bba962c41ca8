"""Bad input gets a sentence or a right answer, never a crash."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import markone
from markone import MIRA, DataError, LinearSVM, LogisticRegression, Perceptron, SettingsError, _core
from markone.data.blocks import Block, as_matrix, as_rows
from markone.learning.online import Linear
from markone.model.settings import OnlineSettings, Settings

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 2.0]])
y = np.array([0, 1, 1, 0])
OnlineLinearSVM = partial(LinearSVM, solver="online")
EVERY = [Perceptron, MIRA, partial(LogisticRegression, solver="online"), OnlineLinearSVM]


def broken(what: str) -> Any:
    matrix = scipy.sparse.csr_array(X)
    if what == "index beyond the width":
        matrix.indices[-1] = 2
    if what == "negative index":
        matrix.indices[0] = -1
    if what == "rows out of order":
        matrix.indptr[1] = 4
        matrix.indptr[2] = 2
    if what == "ends after its values":
        matrix.indptr[-1] = 1000
    if what == "starts before its values":
        matrix.indptr[0] = -3
    if what == "64-bit index beyond the width":
        matrix.indices = matrix.indices.astype(np.int64)
        matrix.indices[-1] = 2**40
    return matrix


@pytest.mark.parametrize(
    "what",
    [
        "index beyond the width",
        "negative index",
        "rows out of order",
        "ends after its values",
        "starts before its values",
        "64-bit index beyond the width",
    ],
)
def test_a_broken_sparse_matrix_is_refused(what: str) -> None:
    with pytest.raises(ValueError, match="beyond its width|sparse matrix"):
        Block.of(broken(what), y)
    with pytest.raises(ValueError):
        Perceptron().fit(broken(what), y)
    model = Perceptron(max_iter=3, tol=None).fit(X, y)
    with pytest.raises(ValueError):
        model.predict(broken(what))


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_nan_and_infinity_are_refused_everywhere(kind: Any, bad: float, sparse: bool) -> None:
    spoiled = X.copy()
    spoiled[2, 1] = bad
    matrix = scipy.sparse.csr_array(spoiled) if sparse else spoiled
    sentence = "NaN" if np.isnan(bad) else "infinity"
    with pytest.raises(ValueError, match=sentence):
        kind().fit(matrix, y)
    model = kind(max_iter=2, tol=None).fit(X, y)
    for use in (model.predict, model.decision_function, lambda m: model.partial_fit(m, y)):
        with pytest.raises(ValueError, match=sentence):
            use(matrix)
    if not sparse:
        with pytest.raises(DataError, match="row 2, column 1"):
            model.predict(matrix)


def test_a_sum_that_overflows_is_not_mistaken_for_infinity() -> None:
    as_rows(np.full((4, 50), np.finfo(np.float32).max, np.float32))


@pytest.mark.parametrize("kind", EVERY)
def test_empty_data_one_class_and_mismatched_lengths(kind: Any) -> None:
    with pytest.raises(ValueError, match="0 sample"):
        kind().fit(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="0 feature"):
        kind().fit(np.empty((3, 0)), [0, 1, 0])
    with pytest.raises(DataError, match="only one class in y, .*0.*at least two"):
        kind().fit(X, [0, 0, 0, 0])
    with pytest.raises(DataError, match="4 rows but 3 labels"):
        kind().fit(X, y[:3])
    model = kind(max_iter=2, tol=None).fit(X, y)
    with pytest.raises(DataError, match="4 rows but 3 labels"):
        model.partial_fit(X, y[:3])
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.ones((1, 3)))
    with pytest.raises(ValueError):
        model.predict(np.ones(2))
    with pytest.raises(ValueError):
        model.predict(np.ones((1, 2, 1)))


@pytest.mark.parametrize(
    "weights", [[1, 1, 1, -1], [1, 1, np.nan, 1], [1, 1, np.inf, 1], [1, 1, 1], "abcd", [[1, 1, 1, 1]]]
)
def test_bad_weights_of_examples(weights: Any) -> None:
    with pytest.raises(ValueError):
        Perceptron().fit(X, y, sample_weight=weights)
    if not isinstance(weights, str):
        with pytest.raises(DataError):
            Block.of(X, y, np.array(weights, float))


def test_the_perceptron_refuses_to_visit_an_example_for_ever() -> None:
    with pytest.raises(DataError, match="divide the weights"):
        Perceptron().fit(X, y, sample_weight=[1, 1, 1, 1e9])
    LogisticRegression(solver="online", max_iter=2, tol=None).fit(X, y, sample_weight=[1, 1, 1, 1e9])


def test_all_weights_zero_is_said() -> None:
    with pytest.raises(DataError, match="nothing to learn from"):
        Perceptron().fit(X, y, sample_weight=np.zeros(4))


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")  # scikit-learn's own
@pytest.mark.parametrize("labels", [[0.5, 1.2, 0.1, 0.7], [np.nan, 1, 0, 1], [[0, 2], [1, 0], [1, 1], [0, 1]]])
def test_labels_that_are_no_classes(labels: Any) -> None:
    with pytest.raises(ValueError):
        Perceptron().fit(X, labels)


@pytest.mark.parametrize("dtype", [object, str])
def test_labels_of_another_kind_than_before(dtype: Any) -> None:
    model = Perceptron().partial_fit(X, np.array(["a", "b", "a", "b"], dtype))
    with pytest.raises(DataError, match="another type"):
        model.partial_fit(X, [1, 2, 1, 2])
    with pytest.raises(DataError, match="another type"):
        Perceptron().partial_fit(X, y).partial_fit(X, np.array(["a", "b", "a", "b"], dtype))


def test_whole_floats_are_labels() -> None:
    assert Perceptron().fit(X, [0.0, 1.0, 1.0, 0.0]).predict(X).dtype == float


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, bool, np.float16, np.longdouble, object])
def test_other_types_of_numbers_are_converted(dtype: Any) -> None:
    expected = Perceptron(random_state=0).fit(X.astype(dtype).astype(float), y)
    found = Perceptron(random_state=0).fit(X.astype(dtype), y)
    np.testing.assert_allclose(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.predict(X.astype(dtype)), expected.predict(X.astype(dtype).astype(float)))


@pytest.mark.parametrize("dtype", [complex, str])
def test_what_is_no_number_is_refused(dtype: Any) -> None:
    values = np.array([["a", "b"], ["c", "d"]]) if dtype is str else X.astype(complex) * 1j
    with pytest.raises(ValueError):
        Perceptron().fit(values, y[: len(values)])
    with pytest.raises(DataError):
        Block.of(values, y[: len(values)])


def test_non_contiguous_and_read_only_arrays() -> None:
    wide = np.zeros((8, 4))
    wide[::2, ::2] = X
    view = wide[::2, ::2]
    assert not view.flags.c_contiguous
    frozen = X.copy()
    frozen.setflags(write=False)
    fortran = np.asfortranarray(X)
    expected = Perceptron(random_state=0).fit(X, y)
    for matrix in (view, frozen, fortran, X[::-1][::-1]):
        model = Perceptron(random_state=0).fit(matrix, y)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(model.predict(matrix), expected.predict(X))
        model.partial_fit(matrix, y)
    sparse = scipy.sparse.csr_array(X)
    for array in (sparse.data, sparse.indices, sparse.indptr):
        array.setflags(write=False)
    np.testing.assert_allclose(Perceptron(random_state=0).fit(sparse, y).coef_, expected.coef_)


@pytest.mark.parametrize("form", ["csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_every_sparse_form(form: str, family: str) -> None:
    kind = getattr(scipy.sparse, f"{form}_{family}")
    expected = Perceptron(random_state=0).fit(X, y)
    np.testing.assert_array_equal(Perceptron(random_state=0).fit(kind(X), y).coef_, expected.coef_)
    np.testing.assert_array_equal(expected.predict(kind(X)), expected.predict(X))


def test_a_feature_named_twice_in_a_row_counts_as_the_sum() -> None:
    twice = scipy.sparse.csr_array((np.array([1.0, 2.0, 1.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    once = scipy.sparse.csr_array(np.array([[0.0, 3.0], [1.0, 0.0]]))
    found = [MIRA(C=np.inf, shuffle=False, max_iter=1, tol=None).fit(m, [0, 1]).coef_ for m in (twice, once)]
    np.testing.assert_array_equal(*found)
    assert twice.nnz == 3  # the user's matrix stays as it was


def test_unsorted_features_are_as_good_as_sorted() -> None:
    backwards = scipy.sparse.csr_array(
        (np.array([2.0, 3.0, 1.0]), np.array([1, 0, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    assert not as_rows(as_matrix(backwards)).names_twice()
    wide = scipy.sparse.csr_array((np.ones(3), np.array([10**6, 5, 5]), np.array([0, 3])), shape=(1, 10**6 + 1))
    assert as_rows(as_matrix(wide)).names_twice()
    assert Block.of(wide, np.zeros(1, int)).without_repeats().rows.stored == 2


def test_a_row_without_features_is_scored_by_its_bias() -> None:
    model = Perceptron(random_state=0).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_array_equal(model.decision_function(scipy.sparse.csr_array((1, 2))), model.intercept_)


def test_the_core_itself_refuses_what_does_not_fit() -> None:
    linear = Linear(Settings(), features=2, classes=2)
    block = Block.of(X, y)
    with pytest.raises(ValueError, match="wider"):
        linear.learn(Block.of(np.ones((4, 3)), y))
    with pytest.raises(ValueError, match="wider"):
        linear.weights().scores(as_rows(np.ones((1, 3))))
    with pytest.raises(ValueError, match="wider"):
        linear._learner.scores(as_rows(scipy.sparse.csr_array(np.ones((1, 3)))), True)
    with pytest.raises(ValueError, match="no class"):
        linear.learn(Block.of(X, np.array([0, 1, 2, 0])))
    with pytest.raises(ValueError, match="no class"):
        linear.learn(Block.of(X, np.array([0, -1, 1, 0])))
    for order in ([4], [-1]):
        with pytest.raises(ValueError, match="not there"):
            linear.learn(block, np.array(order))
    with pytest.raises(TypeError):
        _core.Learner64(OnlineSettings.of(Settings()).for_core(), 2, 2).learn(block.rows, y.astype(np.int64))
    with pytest.raises(TypeError):
        _core.DenseRows64(np.asfortranarray(np.ones((2, 3))))
    with pytest.raises(TypeError):
        _core.DenseRows64(np.ones(3))
    with pytest.raises(ValueError, match="does not average"):
        Linear(Settings(average=False), features=2, classes=2).weights(averaged=True)


def test_too_many_features() -> None:
    with pytest.raises(DataError, match="too many"):
        as_rows(scipy.sparse.csr_array((1, 2**31 + 1)))
    with pytest.raises(ValueError, match="too many features"):
        _core.Learner64(OnlineSettings.of(Settings()).for_core(), 2**31 + 1, 2)


def test_the_first_weights_must_fit() -> None:
    with pytest.raises(DataError, match="coef_init must have the shape"):
        Perceptron().fit(X, y, coef_init=[1, 2, 3])
    with pytest.raises(DataError, match="NaN"):
        Perceptron().fit(X, y, coef_init=[1, np.nan])


def test_wrong_parameters_are_named_in_the_estimators_words() -> None:
    wrong: list[tuple[Any, str]] = [
        (Perceptron(max_iter=0), "max_iter must be a whole number of at least 1"),
        (Perceptron(eta0=-1), "eta0 must be a number greater than 0"),
        (Perceptron(penalty="elasticnet"), "penalty must be one of"),
        (Perceptron(shuffle="yes"), "shuffle must be True or False"),
        (Perceptron(early_stopping=True, validation_fraction=2), "validation_fraction must be"),
        (Perceptron(early_stopping=True, n_iter_no_change=0), "n_iter_no_change must be a whole number of at least 1"),
        (Perceptron(random_state="x"), "random_state must be a whole number"),
        (Perceptron(alpha=-1), "alpha must be a number of at least 0"),
        (Perceptron(fit_intercept=3), "fit_intercept must be True or False"),
        (OnlineLinearSVM(learning_rate="optimum"), "learning_rate must be one of .* Did you mean 'optimal'"),
        (OnlineLinearSVM(C=-1), "C must be a number greater than 0"),
        (OnlineLinearSVM(learning_rate=["optimal"]), "learning_rate must be one of"),
        (
            OnlineLinearSVM(alpha=0, learning_rate="optimal"),
            "alpha must be greater than 0 if the learning rate decreases",
        ),
        (Perceptron(early_stopping=True, validation_fraction=0), "validation_fraction must be greater than 0"),
        (MIRA(C=0), "C must be a number greater than 0"),
        (Perceptron(class_weight={0: -1}), "class_weight must have numbers of at least 0, not -1 for 0"),
        (Perceptron(class_weight={0: np.inf}), "class_weight must have numbers"),
        (Perceptron(class_weight={0: "a"}), "class_weight must have numbers"),
        (Perceptron(class_weight=np.array([1, 2])), "class_weight must be None, 'balanced' or a dict"),
        (Perceptron(class_weight={7: 1}), "class_weight names 7, which is not among the classes 0, 1"),
        (Perceptron(class_weight="balance"), "class_weight must be None, 'balanced' or a dict"),
    ]
    for model, sentence in wrong:
        with pytest.raises(SettingsError, match=sentence):
            model.fit(X, y)
    with pytest.raises(SettingsError, match="set alpha"):
        OnlineLinearSVM(C=2.0).partial_fit(X, y)
    for class_weight in ("balanced", "balance", [1, 2], {0: np.nan}):
        with pytest.raises(SettingsError, match="class_weight"):
            Perceptron(class_weight=class_weight).partial_fit(X, y)
    with pytest.raises(SettingsError, match="early_stopping must be True"):
        Perceptron().fit(X, y, X_val=X, y_val=y)
    with pytest.raises(DataError, match="belong together"):
        Perceptron(early_stopping=True).fit(X, y, X_val=X)
    with pytest.raises(DataError, match="not in y"):
        Perceptron(early_stopping=True).fit(X, y, X_val=X, y_val=[0, 1, 2, 3])


def test_unknown_public_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Preceptron'"):
        markone.Preceptron  # noqa: B018
    assert {"Perceptron", "MIRA", "LogisticRegression", "LinearSVM"} <= set(dir(markone))
