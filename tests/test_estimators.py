"""The estimators: scikit-learn's contract, its checks, and its scripts."""

from __future__ import annotations

import copy
import itertools
import pickle
import threading
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression as BatchLogisticRegression
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from markone import MIRA, MLP, LinearSVM, LogisticRegression, NaiveBayes, Perceptron, SettingsError
from markone.estimators.base import number_classes, seed_of
from markone.estimators.turns import Turns

EVERY = [Perceptron, MIRA, LogisticRegression, LinearSVM]


def OnlineLogisticRegression(**parameters: Any) -> LogisticRegression:
    """With the penalty that partial_fit has, which is not one that depends on the number of rows."""
    usual: dict[str, Any] = {} if "C" in parameters else {"alpha": 1e-4}
    return LogisticRegression(solver="online", **{**usual, **parameters})


def OnlineLinearSVM(**parameters: Any) -> LinearSVM:
    usual: dict[str, Any] = {} if "C" in parameters else {"alpha": 1e-4}
    return LinearSVM(solver="online", **{**usual, **parameters})


ONLINE = [Perceptron, MIRA, OnlineLogisticRegression, OnlineLinearSVM]

ORDER_DEPENDENT = (
    "an online learner that visits an example k times in place is not one that meets k copies of it here and there; "
    "test_weight_k_is_k_repeats_in_place_for_the_perceptron stands for this check"
)
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ORDER_DEPENDENT,
    "check_sample_weight_equivalence_on_sparse_data": ORDER_DEPENDENT,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks([kind() for kind in ONLINE], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, ...]:
    X, y = load_digits(return_X_y=True)
    return tuple(train_test_split(X / 16, y, test_size=0.3, random_state=0, stratify=y))


# ---- accuracy


@pytest.mark.parametrize("kind", EVERY)
def test_digits(kind: Any, digits: tuple[np.ndarray, ...]) -> None:
    X, X_test, y, y_test = digits
    assert kind(random_state=0).fit(X, y).score(X_test, y_test) > 0.93


def test_logistic_regression_comes_near_the_optimum() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    alpha = 0.01
    exact = BatchLogisticRegression(C=1 / (alpha * len(y)), tol=1e-8, max_iter=1000).fit(X, y)

    def objective(coef: np.ndarray, intercept: np.ndarray) -> float:
        margins = (2 * y - 1) * (X @ coef[0] + intercept[0])
        return float(np.logaddexp(0, -margins).mean() + alpha / 2 * (coef**2).sum())

    best = objective(exact.coef_, exact.intercept_)
    for learning_rate in ("optimal", "adagrad"):
        ours = OnlineLogisticRegression(alpha=alpha, max_iter=300, tol=None, learning_rate=learning_rate)
        ours.fit(X, y)
        assert best <= objective(ours.coef_, ours.intercept_) < 1.02 * best
        by_C = OnlineLogisticRegression(
            C=1 / (alpha * len(y)), max_iter=300, tol=None, learning_rate=learning_rate, random_state=0
        ).fit(X, y)
        np.testing.assert_allclose(by_C.coef_, ours.coef_, rtol=1e-6)


def test_softmax_comes_near_the_optimum() -> None:
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    alpha = 0.01
    exact = BatchLogisticRegression(C=1 / (alpha * len(y)), tol=1e-8, max_iter=1000).fit(X, y)
    ours = OnlineLogisticRegression(alpha=alpha, max_iter=500, tol=None, learning_rate="optimal").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), exact.predict_proba(X), atol=0.05)


def test_probabilities_sum_to_one_and_agree_with_their_logarithms(digits: tuple[np.ndarray, ...]) -> None:
    X, X_test, y, _ = digits
    for labels in (y, y > 4):
        model = OnlineLogisticRegression(random_state=0, max_iter=5, tol=None).fit(X, labels)
        p = model.predict_proba(X_test)
        assert p.shape == (len(X_test), len(model.classes_))
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_allclose(p, np.exp(model.predict_log_proba(X_test)), atol=1e-12)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X_test))
    assert not hasattr(Perceptron(), "predict_proba")


def test_extreme_scores_have_probabilities() -> None:
    model = OnlineLogisticRegression(
        max_iter=1, tol=None, average=False, penalty=None, learning_rate="constant", eta0=1e-9
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit([[1.0], [2.0]], [0, 1], coef_init=[1e5])
        np.testing.assert_array_equal(model.predict_proba([[1.0], [-1.0]]), [[0, 1], [1, 0]])
        np.testing.assert_allclose(model.predict_proba([[4e-4]])[0, 0], np.exp(-40), rtol=1e-4)
        np.testing.assert_allclose(model.predict_log_proba([[1.0]]), [[-1e5, 0]])


# ---- partial_fit


@pytest.mark.parametrize("kind", ONLINE)
def test_classes_may_be_new_at_any_call(kind: Any, digits: tuple[np.ndarray, ...]) -> None:
    X, X_test, y, y_test = digits
    model = kind(random_state=0)
    order = np.argsort(y % 4, kind="stable")  # some classes come late
    for part in np.array_split(order, 10):
        model.partial_fit(X[part], y[part])
    assert model.classes_.tolist() == list(range(10))
    for _ in range(5):
        for part in np.array_split(np.random.default_rng(0).permutation(len(y)), 20):
            model.partial_fit(X[part], y[part])
    assert model.score(X_test, y_test) > 0.9


def test_one_class_first_then_another() -> None:
    X, y = load_iris(return_X_y=True)
    model = Perceptron()
    model.partial_fit(X[:50], y[:50])
    assert model.predict(X[:2]).tolist() == [0, 0]
    mixed = np.random.default_rng(0).permutation(100)
    for _ in range(20):
        model.partial_fit(X[mixed], y[mixed])
    assert model.score(X[:100], y[:100]) == 1
    model.partial_fit(X[100:], np.array(["2"] * 50).astype(int))
    assert model.classes_.tolist() == [0, 1, 2]


def test_with_one_class_so_far_there_is_one_answer() -> None:
    X, _ = load_iris(return_X_y=True)
    for tie in ("negative", "error", "positive"):
        assert Perceptron(tie=tie).partial_fit(X, [7] * 150).predict(X[:2]).tolist() == [7, 7]
    model = OnlineLogisticRegression().partial_fit(X, ["a"] * 150)
    assert model.predict_proba(X[:2]).tolist() == [[1], [1]] and model.predict_log_proba(X[:2]).tolist() == [[0], [0]]


def test_strings_of_any_kind_are_strings() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = Perceptron().partial_fit(X[:100], pd.Series(names[:100])).partial_fit(X[100:], names[100:].tolist())
    assert model.classes_.tolist() == ["a", "b", "c"]
    again = Perceptron(warm_start=True).fit(X, names.astype(object)).fit(X, names.tolist())
    assert again.score(X, names) > 0.9


def test_a_failed_partial_fit_leaves_the_model_as_it_was() -> None:
    X, y = load_iris(return_X_y=True)
    model = Perceptron()
    with pytest.raises(ValueError, match="negative"):
        model.partial_fit(X, y, sample_weight=np.full(150, -1.0))
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X, y)
    with pytest.raises(ValueError, match="negative"):
        model.partial_fit(X, y + 9, sample_weight=np.full(150, -1.0))
    with pytest.raises(ValueError, match="one class"):
        model.fit(np.ones((4, 7)), [0] * 4)
    assert model.classes_.tolist() == [0, 1, 2] and model.n_features_in_ == 4
    with pytest.raises(ValueError, match="training diverged"):
        OnlineLinearSVM(learning_rate="constant", eta0=1e300).partial_fit(
            [[1e200, 1], [-1e200, 0.0], [1e200, 1]], [0, 1, 1]
        )


def test_weights_that_are_read_cannot_be_written() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="read-only"):
        Perceptron().fit(X, y).coef_[0, 0] = 1


def test_announced_classes_are_there_from_the_start() -> None:
    X, y = load_iris(return_X_y=True)
    model = Perceptron().partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2] and model.coef_.shape == (3, 4)


@pytest.mark.parametrize("kind", ONLINE)
@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_partial_fit_in_any_batches_is_one_pass_in_given_order(kind: Any, batch: int) -> None:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    whole = kind(shuffle=False, max_iter=1, tol=None).fit(X, y)
    parts = kind()
    for start in range(0, 150, batch):
        parts.partial_fit(X[start : start + batch], y[start : start + batch], classes=[0, 1, 2])
    np.testing.assert_array_equal(whole.coef_, parts.coef_)
    np.testing.assert_array_equal(whole.intercept_, parts.intercept_)


# ---- the short way and the long way


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_short_way_and_the_long_way_agree(classes: int, dtype: Any) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 5)).astype(dtype), random.integers(0, classes, 60)
    model = Perceptron(random_state=0).fit(X, y)
    for matrix in (X, scipy.sparse.csr_matrix(X), scipy.sparse.csr_array(X)):
        row = matrix[:1]
        assert model._quick(row) is not None
        long_way = scipy.sparse.csc_array(row) if scipy.sparse.issparse(row) else row.tolist()
        assert model._quick(long_way) is None
        np.testing.assert_allclose(model.decision_function(row), model.decision_function(long_way), rtol=1e-6)
        np.testing.assert_array_equal(model.predict(row), model.predict(long_way))


def label_of(model: Any, X: Any) -> Any:
    """What the shortest path answers, or None."""
    labeller = model._turns.notes.get("labeller")
    return None if labeller is None else labeller.label(X, model.classes_)


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csr_array, np.array])
@pytest.mark.parametrize("make", [Perceptron, MIRA, LogisticRegression, LinearSVM])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_shortest_path_gives_the_same_labels(kind: Any, make: Any, classes: int, dtype: Any) -> None:
    X, numbers = make_classification(300, 20, n_informative=10, n_classes=classes, random_state=0)
    X[np.abs(X) < 0.5] = 0
    y = np.array(["no", "yes", "perhaps"])[numbers]
    rows = kind(X.astype(dtype))
    model = make(**({"random_state": 0} if make in ONLINE else {})).fit(rows[:200], y[:200])
    assert label_of(model, rows[:1]) is None  # nobody has asked yet
    model.predict(rows[:1])
    expected = model.classes_.take(model._learner.predict(model._rows(rows)))
    assert len({*expected}) == classes
    one_by_one = [label_of(model, rows[i : i + 1]) for i in range(300)]
    assert all(one.shape == (1,) and one.dtype == y.dtype for one in one_by_one)
    np.testing.assert_array_equal(np.concatenate(one_by_one), expected)
    np.testing.assert_array_equal(label_of(model, rows[:100]), expected[:100])
    if kind is not np.array:
        wide = rows[:1].copy()
        wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
        np.testing.assert_array_equal(label_of(model, wide), expected[:1])


def test_the_shortest_path_leaves_what_it_cannot_read_to_the_longer_ones() -> None:
    X, y = make_classification(100, 20, random_state=0)
    model = Perceptron(random_state=0).fit(X, y)
    first = model.predict(X[:1])
    assert label_of(model, X[:1]) is not None
    wrong = scipy.sparse.csr_matrix(X[:2])
    wrong.indices = wrong.indices + 20
    starts = scipy.sparse.csr_matrix(X[:2])
    starts.indptr = np.array([0, 50, 40], np.int32)
    big_endian, unaligned = X[:1].astype(">f8"), np.frombuffer(b"\0" + X[:1].tobytes(), np.float64, offset=1)
    by_columns = scipy.sparse.csc_matrix(X[:1])
    others = [X[0], X[:1].tolist(), X[:1].astype(np.float32), X[:1, ::-1], X[:1, :5], X[:0], np.repeat(X, 10, axis=0)]
    for other in [
        *others,
        big_endian,
        unaligned.reshape(1, -1),
        by_columns,
        wrong,
        starts,
        None,
        "text",
    ]:
        assert label_of(model, other) is None
    np.testing.assert_array_equal(model.predict(big_endian), first)
    np.testing.assert_array_equal(model.predict(X[:1].tolist()), first)
    with pytest.raises(ValueError, match="Input X contains NaN, first in row 0, column 3"):
        model.predict(np.where(np.arange(20) == 3, np.nan, X[:1]))
    with pytest.raises(ValueError, match="20 features"):
        model.predict(X[:1, :5])
    with pytest.raises(ValueError, match="column index beyond its width"):
        model.predict(wrong)


def test_the_shortest_path_follows_the_model() -> None:
    X, y = make_classification(200, 20, random_state=0)
    model = Perceptron(random_state=0).fit(X[:100], y[:100])
    model.predict(X[:1])
    assert label_of(model, X[:1]) is not None
    model.partial_fit(X[100:], 1 - y[100:])
    assert label_of(model, X[:1]) is None
    expected = model.classes_.take(model._learner.predict(model._rows(X)))
    np.testing.assert_array_equal([model.predict(X[i : i + 1])[0] for i in range(200)], expected)
    assert label_of(model, X[:1]) is not None
    answer = model.predict(X[:1])
    answer += 5  # the answer belongs to the caller
    np.testing.assert_array_equal(model.predict(X[:1]), expected[:1])
    model.classes_[:] = [7, 8]
    np.testing.assert_array_equal(model.predict(X[:1]), 7 + expected[:1])
    model.classes_ = np.array(["a", "b"])
    assert model.predict(X[:1])[0] == "ab"[expected[0]]
    assert pickle.loads(pickle.dumps(model)).predict(X[:1])[0] == "ab"[expected[0]]
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((1, 20), np.nan), ["a"])
    assert label_of(model, X[:1]) is None


def test_a_few_sparse_rows_after_partial_fit_are_scored_without_a_snapshot() -> None:
    random = np.random.default_rng(0)
    X = scipy.sparse.random(50, 10_000, density=0.001, random_state=0, format="csr")
    y = random.integers(0, 3, 50)
    model = Perceptron().partial_fit(X, y)
    few = model.decision_function(X[:2])
    assert not model._learner._snapshots
    assert model.coef_.shape == (3, 10_000) and model._learner._snapshots
    np.testing.assert_array_equal(few, model.decision_function(X[:2]))


# ---- parameters


def test_last_and_averaged_weights_are_both_there() -> None:
    X, y = load_iris(return_X_y=True)
    model = Perceptron(random_state=0).fit(X, y)
    averaged, last = model.weights(averaged=True), model.weights(averaged=False)
    np.testing.assert_array_equal(averaged[0], model.coef_)
    assert (averaged[0] != last[0]).any()
    plain = Perceptron(random_state=0, average=False).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, last[0])
    np.testing.assert_array_equal(plain.intercept_, last[1])


def test_class_weight_and_sample_weight() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 3))
    y = (X[:, 0] + random.normal(size=500) > 1.2).astype(int)
    recalls = []
    for class_weight in (None, "balanced", {1: 20}):
        model = LogisticRegression(class_weight=class_weight, random_state=0).fit(X, y)
        recalls.append((model.predict(X[y == 1]) == 1).mean())
    assert recalls[0] < recalls[1] < recalls[2]
    by_class = LogisticRegression(class_weight={1: 3}, random_state=0).fit(X, y)
    by_example = LogisticRegression(random_state=0).fit(X, y, sample_weight=np.where(y == 1, 3, 1))
    np.testing.assert_array_equal(by_class.coef_, by_example.coef_)
    part = OnlineLogisticRegression(class_weight={1: 3}).partial_fit(X, y)
    np.testing.assert_array_equal(
        part.coef_, OnlineLogisticRegression().partial_fit(X, y, sample_weight=np.where(y == 1, 3, 1)).coef_
    )


def test_balanced_classes_have_the_same_weight_in_all() -> None:
    """As scikit-learn's LogisticRegression and LinearSVC have it: weights are as good as repeated rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = (X[:, 0] + random.normal(size=300) > 1).astype(int)
    times = random.integers(1, 6, 300)
    for kind, tol in ((LogisticRegression, 1e-9), (LinearSVM, 1e-7)):
        ours = kind(class_weight="balanced", tol=tol)
        weighted = ours.fit(X, y, sample_weight=times).coef_
        by_hand = kind(tol=tol).fit(X, y, sample_weight=times * (times.sum() / 2 / np.bincount(y, times))[y]).coef_
        np.testing.assert_array_equal(weighted, by_hand)
        np.testing.assert_allclose(ours.fit(X.repeat(times, 0), y.repeat(times)).coef_, weighted, atol=1e-3)
    without = np.where(y == 1, 0.0, 1.0)
    model = Perceptron(class_weight="balanced").fit(X, y, sample_weight=without)  # a class that does not count
    assert (model.predict(X) == 0).mean() > 0.9


def test_weights_of_classes_yet_to_come() -> None:
    X, y = load_iris(return_X_y=True)
    model = (
        OnlineLogisticRegression(class_weight={0: 2.0, 2: 5.0})
        .partial_fit(X[:100], y[:100])
        .partial_fit(X[100:], y[100:])
    )
    weighted = OnlineLogisticRegression().partial_fit(X[:100], y[:100], sample_weight=np.where(y[:100] == 0, 2, 1))
    weighted.partial_fit(X[100:], y[100:], sample_weight=np.full(50, 5.0))
    np.testing.assert_array_equal(model.coef_, weighted.coef_)


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    X, y = load_iris(return_X_y=True)
    model = Perceptron(random_state=0)
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        model.fit(bad, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    coef = model.fit(X, y).coef_
    with pytest.raises(ValueError, match="row 7"):
        model.fit(bad, y[::-1] + 5)
    np.testing.assert_array_equal(model.coef_, coef)
    assert model.classes_.tolist() == [0, 1, 2]


def test_warm_start_goes_on() -> None:
    X, y = load_iris(return_X_y=True)
    straight = Perceptron(shuffle=False, max_iter=4, tol=None).fit(X, y)
    twice = Perceptron(shuffle=False, max_iter=2, tol=None, warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(straight.coef_, twice.coef_)
    fresh = Perceptron(shuffle=False, max_iter=2, tol=None).fit(X, y).fit(X, y)
    assert (fresh.coef_ != twice.coef_).any()


def test_warm_start_heeds_changed_parameters() -> None:
    X, y = load_iris(return_X_y=True)
    model = Perceptron(shuffle=False, max_iter=2, tol=None, warm_start=True, average=False).fit(X, y)
    before = model.coef_
    model.set_params(eta0=1e-9).fit(X, y)
    assert 0 < abs(model.coef_ - before).max() < 1e-5
    model.set_params(average=True, eta0=1.0).fit(X, y)
    assert (model.coef_ != model.weights(averaged=False)[0]).any()


def test_coef_init_is_where_it_starts() -> None:
    X, y = load_iris(return_X_y=True)
    coef, intercept = np.arange(12).reshape(3, 4) * 100.0, np.array([1.0, 2, 3])
    model = Perceptron(average=False, max_iter=1, tol=None).fit(X, y, coef_init=coef, intercept_init=intercept)
    assert abs(model.coef_ - coef).max() < 500 and (model.coef_ != coef).any()
    binary = Perceptron(average=False, max_iter=1, tol=None).fit(
        X[:100], y[:100], coef_init=[0, 0, 100, 0], intercept_init=-250
    )
    np.testing.assert_array_equal(binary.coef_, [[0, 0, 100, 0]])  # it makes no mistake
    np.testing.assert_array_equal(binary.intercept_, [-250])


def test_early_stopping_with_rows_given_and_taken(digits: tuple[np.ndarray, ...]) -> None:
    X, X_test, y, y_test = digits
    taken = Perceptron(early_stopping=True, max_iter=1000, random_state=0).fit(X, y)
    given = Perceptron(early_stopping=True, max_iter=1000, random_state=0).fit(X, y, X_val=X_test, y_val=y_test)
    for model in (taken, given):
        assert model.history_.stopped == "held-out" and model.n_iter_ == len(model.history_) < 1000
    best = given.history_[given.history_.best_epoch - 1]
    assert given.score(X_test, y_test) == pytest.approx(best.holdout_averaged)


def test_verbose_tells_each_pass(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    Perceptron(max_iter=3, tol=None, verbose=1).fit(X, y)
    assert capsys.readouterr().err.count("mistakes") == 3
    Perceptron(max_iter=3, tol=None).fit(X, y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("estimator", [Perceptron(tol=1e-3), LogisticRegression(), LinearSVM(), MLP()])
def test_a_run_that_is_cut_short_warns_where_it_was_called(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="max_iter=2") as caught:
        estimator.set_params(max_iter=2).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]


def test_ctrl_c_keeps_the_model_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    from markone.learning.progress import Silence

    def interrupt(self: Silence, result: Any) -> None:
        if result.epoch == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Silence, "finish_pass", interrupt)
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="interrupted after 3 complete passes"):
        model = Perceptron(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6


def test_seeds() -> None:
    X, y = load_iris(return_X_y=True)

    def coef(random_state: Any) -> np.ndarray:
        return Perceptron(random_state=random_state, max_iter=2, tol=None).fit(X, y).coef_

    assert (coef(1) == coef(1)).all() and (coef(1) != coef(2)).any() and (coef(None) != coef(None)).any()
    assert (coef(np.random.RandomState(3)) == coef(np.random.RandomState(3))).all()
    assert (coef(np.random.default_rng(3)) == coef(np.random.default_rng(3))).all()
    assert seed_of(np.int64(7)) == 7


def test_c_is_miras_cap_and_the_others_inverse_strength() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for kind in (LogisticRegression, LinearSVM):
        sizes = [abs(kind(C=C, random_state=0).fit(X, y).coef_).sum() for C in (0.001, 0.03, 1.0)]
        assert sizes == sorted(sizes)
    assert (
        abs(MIRA(C=1e-4, max_iter=1, tol=None).fit(X, y).coef_).max()
        < abs(MIRA(C=10, max_iter=1, tol=None).fit(X, y).coef_).max()
    )


def test_mira_has_both_updates_and_both_forms() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    found = {
        (update, form): MIRA(C=0.01, update=update, form=form, max_iter=2, tol=None).fit(X, y).coef_.tobytes()
        for update in ("margin", "mistake")
        for form in ("label", "difference")
    }
    assert len(set(found.values())) == 4
    assert (
        MIRA(C=0.02, update="mistake", max_iter=2, tol=None).fit(X, y).coef_.tobytes() == found["mistake", "difference"]
    )
    with pytest.raises(SettingsError, match="update must be"):
        MIRA(update="always").fit(X, y)


# ---- what users have


def test_dataframes_and_their_names() -> None:
    frame = pd.DataFrame({"a": [0.0, 1, 2, 3], "b": [1, 0, 1, 0]})
    model = Perceptron(random_state=0).fit(frame, pd.Series(["x", "y", "x", "y"]))
    assert model.feature_names_in_.tolist() == ["a", "b"] and model.n_features_in_ == 2
    model.predict(frame)
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(frame.to_numpy())
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "c"}))


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [0, 1], [2.0, 5.0], [10**12, -5]])
def test_labels_of_any_kind(labels: list[Any]) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], np.array(labels)[y[:100]]
    model = Perceptron(random_state=0).fit(X, y)
    assert model.score(X, y) == 1 and model.predict(X).dtype == y.dtype
    assert model.classes_.tolist() == sorted(labels)
    assert model.partial_fit(X[:1], y[:1]).score(X, y) == 1


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=30),
    st.integers(-(2**40), 2**40),
    st.sampled_from([np.int8, np.int32, np.int64, np.uint8, np.float64, str, bool]),
)
def test_classes_are_numbered_as_by_sorting(values: list[int], shift: int, dtype: Any) -> None:
    labels = np.array(values) + (shift if dtype is np.int64 else 0)
    labels = abs(labels).astype(dtype) if dtype is np.uint8 else labels.astype(dtype)
    found, numbers = number_classes(labels)
    expected_found, expected_numbers = np.unique(labels, return_inverse=True)
    assert found.dtype == labels.dtype
    np.testing.assert_array_equal(found, expected_found)
    np.testing.assert_array_equal(numbers, expected_numbers)


def test_before_fit_there_is_nothing() -> None:
    model = Perceptron()
    with pytest.raises(NotFittedError):
        model.predict([[1.0]])
    assert not hasattr(model, "coef_") and not hasattr(model, "classes_")


@pytest.mark.parametrize("kind", ONLINE)
def test_copies_and_pickles_go_on_alike(kind: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = kind(random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(X[:20], y[:20])
    np.testing.assert_array_equal(model.coef_, copy.coef_)
    assert clone(model).get_params() == model.get_params()


def test_a_shallow_copy_learns_on_its_own() -> None:
    X, y = load_iris(return_X_y=True)
    model = Perceptron().fit(X[:100], y[:100])
    before = model.coef_
    twin = copy.copy(model).partial_fit(X[100:], y[100:])
    assert twin.classes_.tolist() == [0, 1, 2] and model.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(model.coef_, before)
    assert model.score(X[:100], y[:100]) == 1


def test_numpys_numbers_are_numbers() -> None:
    X, y = load_iris(return_X_y=True)
    for kind in (OnlineLinearSVM, OnlineLogisticRegression):
        plain = kind(C=1.0, max_iter=3, tol=None, alpha=0.5).fit(X, y)
        for C in (np.int64(1), np.float32(1)):
            theirs = kind(C=C, max_iter=np.int64(3), tol=None, alpha=np.float64(0.5)).fit(X, y)
            np.testing.assert_array_equal(theirs.coef_, plain.coef_)


def test_early_stopping_by_rows_without_weight() -> None:
    X, y = load_iris(return_X_y=True)
    model = Perceptron(early_stopping=True, validation_fraction=0.5)
    weights = np.zeros(150)
    weights[::10] = 1
    assert model.fit(X, y, sample_weight=weights).n_iter_ >= 1


def test_pipelines_grids_and_calibration(digits: tuple[np.ndarray, ...]) -> None:
    X, X_test, y, y_test = digits
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), MIRA(random_state=0, max_iter=5, tol=None)), {"mira__C": [0.001, 1.0]}, cv=3
    ).fit(X, y)
    assert grid.score(X_test, y_test) > 0.9
    calibrated = CalibratedClassifierCV(Perceptron(random_state=0), cv=3).fit(X, y)
    assert calibrated.predict_proba(X_test).shape == (len(X_test), 10)
    texts = ["free money now", "win money", "meeting at noon", "lunch at noon"] * 5
    pipeline = make_pipeline(TfidfVectorizer(), Perceptron(random_state=0)).fit(
        texts, ["spam", "spam", "ham", "ham"] * 5
    )
    assert pipeline.predict(["free money", "noon meeting"]).tolist() == ["spam", "ham"]


# ---- scripts written for scikit-learn, with the import swapped

PERCEPTRON_SCRIPT = """
from sklearn.datasets import load_digits
from sklearn.linear_model import Perceptron
from sklearn.model_selection import train_test_split

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
clf = Perceptron(penalty=None, alpha=0.0001, fit_intercept=True, max_iter=1000, tol=1e-3, shuffle=True, verbose=0,
                 eta0=1.0, random_state=0, early_stopping=False, validation_fraction=0.1, n_iter_no_change=5,
                 class_weight=None, warm_start=False)
clf.fit(X_train, y_train)
assert clf.coef_.shape == (10, 64) and clf.intercept_.shape == (10,)
assert 1 <= clf.n_iter_ <= 1000
assert list(clf.classes_) == list(range(10))
accuracy = clf.score(X_test, y_test)
"""

SGD_SCRIPT = """
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
clf = make_pipeline(StandardScaler(), SGDClassifier(penalty="l2", alpha=1e-4, max_iter=1000, tol=1e-3, average=True,
                                                   learning_rate="optimal", random_state=0, class_weight="balanced"))
accuracy = cross_val_score(clf, X, y, cv=5).mean()
online = SGDClassifier(alpha=1e-3, random_state=0)
scaled = StandardScaler().fit_transform(X)
for part in np.array_split(np.arange(len(y)), 10):
    online.partial_fit(scaled[part], y[part], classes=np.unique(y))
assert online.decision_function(scaled).shape == (len(y),)
assert online.score(scaled, y) > 0.93
"""


def run(script: str) -> float:
    names: dict[str, Any] = {}
    exec(compile(script, "script", "exec"), names)
    return float(names["accuracy"])


def test_a_script_for_scikit_learns_perceptron() -> None:
    theirs = run(PERCEPTRON_SCRIPT)
    ours = run(
        PERCEPTRON_SCRIPT.replace("from sklearn.linear_model import Perceptron", "from markone import Perceptron")
    )
    assert ours >= theirs - 0.005


@pytest.mark.parametrize(
    "ours",
    [
        "import functools, markone\nSGDClassifier = functools.partial(markone.LinearSVM, solver='online')",
        "import functools, markone\nSGDClassifier = functools.partial(markone.LogisticRegression, solver='online')",
    ],
)
def test_a_script_for_scikit_learns_sgd_classifier(ours: str) -> None:
    theirs = run(SGD_SCRIPT)
    swapped = SGD_SCRIPT.replace("from sklearn.linear_model import SGDClassifier", ours)
    assert run(swapped) >= theirs - 0.01


def test_cross_validation_is_no_worse_than_scikit_learns() -> None:
    from sklearn.linear_model import Perceptron as Theirs

    X, y = load_iris(return_X_y=True)
    ours = cross_val_score(Perceptron(random_state=0), X, y, cv=5).mean()
    assert ours >= cross_val_score(Theirs(random_state=0), X, y, cv=5).mean()


# ---- threads


def chunks_of_rows(count: int, rows: int) -> list[tuple[NDArray[np.float64], NDArray[Any]]]:
    """Disjoint chunks of which each has a class that no other has."""
    random = np.random.default_rng(7)
    found = []
    for number in range(count):
        X = random.integers(0, 5, (rows, 6)).astype(float)
        y = np.where(X[:, 0] > 2, "many", np.where(X[:, 1] > 2, "few", f"own {number}"))
        found.append((X, y))
    return found


SHARED = {
    "perceptron": lambda: Perceptron(),
    "perceptron, last": lambda: Perceptron(average=False),
    "mira": lambda: MIRA(),
    "logistic": lambda: LogisticRegression(solver="online", alpha=1e-4),
    "svm": lambda: LinearSVM(solver="online", alpha=1e-4),
    "mlp": lambda: MLP(hidden_layer_sizes=(8,)),
    "naive bayes": lambda: NaiveBayes(),
    "naive bayes of categories": lambda: NaiveBayes(likelihood="categorical"),
}


def known_by(model: Any) -> bytes:
    state = model._learner.get_state()
    return repr(model.classes_.tolist()).encode() + b"".join(state[name].tobytes() for name in sorted(state))


@pytest.mark.parametrize("make", SHARED.values(), ids=SHARED.keys())
def test_threads_that_share_an_estimator_take_turns(make: Any) -> None:
    """What four threads teach it is what some order of their calls teaches it, whatever is predicted meanwhile."""
    parts = chunks_of_rows(4, 400)
    model = make()
    model.partial_fit(parts[0][0][:5], parts[0][1][:5], classes=["few", "many"])
    begun, problems, done = threading.Barrier(7), [], threading.Event()
    labels = {label for _, y in parts for label in y.tolist()} | {"few", "many"}

    def teach(X: Any, y: Any) -> None:
        begun.wait()
        try:
            model.partial_fit(X, y)
        except BaseException as error:
            problems.append(error)

    def look(X: Any, y: Any) -> None:
        begun.wait()
        try:
            while not done.is_set():
                assert set(model.predict(X[:50]).tolist()) <= labels
                copy.copy(model).predict(X[:5])
                pickle.loads(pickle.dumps(model)).predict(X[:5])
                if hasattr(model, "coef_"):
                    assert model.coef_.shape[1] == 6
        except BaseException as error:
            problems.append(error)

    teachers = [threading.Thread(target=teach, args=part) for part in parts]
    lookers = [threading.Thread(target=look, args=part) for part in parts[:3]]
    for thread in (*teachers, *lookers):
        thread.start()
    for thread in teachers:
        thread.join()
    done.set()
    for thread in lookers:
        thread.join()
    assert not problems
    in_some_order = set()
    for order in itertools.permutations(range(4)):
        alone = make()
        alone.partial_fit(parts[0][0][:5], parts[0][1][:5], classes=["few", "many"])
        for number in order:
            alone.partial_fit(*parts[number])
        in_some_order.add(known_by(alone))
    assert known_by(model) in in_some_order
    if isinstance(model, Perceptron | MIRA):
        assert model._learner.time == 4 * 400 + 5


def test_who_learns_waits_for_those_who_predict_and_they_for_it() -> None:
    turns, seen = Turns(), []

    def change() -> None:
        with turns.alone():
            seen.append("changed")

    def look() -> None:
        with turns:
            seen.append("looked")

    with turns:
        changing = threading.Thread(target=change)
        changing.start()
        time.sleep(0.05)
        late = threading.Thread(target=look)
        late.start()
        time.sleep(0.05)
        assert seen == []  # one waits for us, and the other behind it
    changing.join()
    late.join()
    assert seen == ["changed", "looked"]
    with turns.alone(), turns.alone(), turns:
        pass


def test_what_threads_take_turns_by_is_in_no_copy() -> None:
    X, y = load_iris(return_X_y=True)
    model = Perceptron().fit(X, y)
    for other in (clone(model), copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert "_shared_turns" not in vars(other)
        assert other.get_params() == model.get_params()


@pytest.mark.parametrize("estimator", [Perceptron(), MIRA(), LinearSVM(), LogisticRegression()])
def test_thresholds_and_calibration_of_scikit_learn_work(estimator):
    X, y = make_classification(400, weights=[0.9], random_state=0)
    plain = clone(estimator).fit(X, y)
    has_scores = not hasattr(estimator, "predict_proba")
    low = FixedThresholdClassifier(estimator, threshold=-0.5 if has_scores else 0.1).fit(X, y).predict(X)
    high = FixedThresholdClassifier(estimator, threshold=0.5 if has_scores else 0.9).fit(X, y).predict(X)
    assert low.sum() >= plain.predict(X).sum() >= high.sum() and low.sum() > high.sum()
    tuned = TunedThresholdClassifierCV(estimator, scoring="f1", cv=3).fit(X, y)
    assert f1_score(y, tuned.predict(X)) > 0.6
    likely = CalibratedClassifierCV(estimator, ensemble=False, cv=3).fit(X, y).predict_proba(X)
    assert abs(likely[:, 1].mean() - y.mean()) < 0.03 and log_loss(y, likely) < 0.3
