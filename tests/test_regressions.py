"""The three regressions of the lecture on experiments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, LeaveOneOut, cross_val_predict, train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

import markone
from markone.demo.dots import dots
from markone.errors import DataError
from markone.estimators.regressions import JoinTheDots, LinearLeastSquares, QuadraticLeastSquares

EVERY = [LinearLeastSquares(), QuadraticLeastSquares(), JoinTheDots()]


@parametrize_with_checks([LinearLeastSquares(), QuadraticLeastSquares()])
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def parabola() -> tuple[np.ndarray, np.ndarray]:
    """Points around a parabola, with noise: 40 of them, on which the lecture's ranking shows."""
    random = np.random.default_rng(0)
    x = random.uniform(-2, 2, 40)
    return x[:, None], 1 + x - 1.5 * x**2 + random.normal(0, 1, 40)


def mean_squared(errors: np.ndarray) -> float:
    return float((errors**2).mean())


def left_out(regressor: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return y - cross_val_predict(regressor, X, y, cv=LeaveOneOut())


# ---- what they learn


def test_a_line_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(1)
    X, y = random.normal(100, 3, (30, 4)), random.normal(size=30)
    ours, theirs = LinearLeastSquares().fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(ours.predict(X[:5] + 1), theirs.predict(X[:5] + 1), rtol=1e-9)


def test_a_parabola_in_several_features_has_their_products() -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(40, 3))
    y = 1 + X[:, 0] - 2 * X[:, 1] ** 2 + 3 * X[:, 0] * X[:, 2]
    fitted = QuadraticLeastSquares().fit(X, y)
    new = random.normal(size=(5, 3))
    expected = 1 + new[:, 0] - 2 * new[:, 1] ** 2 + 3 * new[:, 0] * new[:, 2]
    np.testing.assert_allclose(fitted.predict(new), expected, rtol=1e-9)
    assert len(fitted.weights_) == 1 + 3 + 6


def test_dots_are_joined_and_ties_averaged() -> None:
    dots = JoinTheDots().fit([[2.0], [0.0], [2.0], [4.0]], [1.0, 0.0, 3.0, 6.0])
    np.testing.assert_array_equal(dots.x_, [0, 2, 4])
    np.testing.assert_array_equal(dots.y_, [0, 2, 6])
    np.testing.assert_allclose(dots.predict([[-5.0], [1.0], [2.0], [3.0], [9.0]]), [0, 1, 2, 4, 6])


# ---- leaving one out


@st.composite
def points(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(2, 12))
    x = random.integers(0, 6, rows) if draw(st.booleans()) else random.normal(size=rows)  # whole numbers tie
    return x[:, None].astype(float), random.normal(size=rows)


@pytest.mark.parametrize("regressor", EVERY, ids=lambda regressor: type(regressor).__name__)
@given(points())
def test_errors_of_rows_left_out_are_those_of_learning_without_them(
    regressor: Any, sample: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = sample
    errors = clone(regressor).leave_one_out_errors(X, y)
    slow = left_out(regressor, X, y)
    np.testing.assert_allclose(errors, slow, rtol=1e-6, atol=1e-6 * (1 + np.abs(slow).max()))


@pytest.mark.parametrize("regressor", EVERY[:2], ids=lambda regressor: type(regressor).__name__)
def test_several_features_and_a_row_that_decides_a_term_alone(regressor: Any) -> None:
    random = np.random.default_rng(3)
    X, y = random.normal(size=(40, 3)), random.normal(size=40)
    np.testing.assert_allclose(regressor.leave_one_out_errors(X, y), left_out(regressor, X, y), rtol=1e-8)
    X = np.column_stack([X, np.arange(40) == 7])  # a feature that one row alone has
    np.testing.assert_allclose(regressor.leave_one_out_errors(X, y), left_out(regressor, X, y), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("regressor", EVERY, ids=lambda regressor: type(regressor).__name__)
def test_it_has_then_learned_from_all_rows(regressor: Any, parabola: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = parabola
    asked, fitted = clone(regressor), clone(regressor).fit(X, y)
    asked.leave_one_out_errors(X, y)
    np.testing.assert_array_equal(asked.predict(X), fitted.predict(X))
    with pytest.raises(DataError, match="nothing is left to learn from"):
        asked.leave_one_out_errors(X[:1], y[:1])


# ---- the lecture


def test_the_parabola_wins_by_every_method(parabola: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = parabola
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    folds = KFold(3, shuffle=True, random_state=0)
    by_test = [mean_squared(y_test - clone(one).fit(train, y_train).predict(test)) for one in EVERY]
    by_folds = [mean_squared(y - cross_val_predict(one, X, y, cv=folds)) for one in EVERY]
    by_left_out = [mean_squared(clone(one).leave_one_out_errors(X, y)) for one in EVERY]
    for line, parabola_, joined in (by_test, by_folds, by_left_out):
        assert parabola_ < min(line, joined)
    # On what they have learned from, the dots are best: that is why one validates.
    assert mean_squared(y - JoinTheDots().fit(X, y).predict(X)) == 0


def test_both_rankings_of_the_lecture() -> None:
    """By a test set of 30 % the line is worst, by leave-one-out joining the dots is. The parabola is best by all."""
    X, y = dots()
    how: dict[str, dict[str, Any]] = {
        "test set": {"method": "holdout", "share": 0.3},
        "leave-one-out": {"method": "loo"},
        "3-fold": {"method": "kfold", "folds": 3},
    }
    errors = {
        name: [markone.validate(X, target=y, estimator=one, **h).mean for one in EVERY] for name, h in how.items()
    }
    assert errors["test set"] == pytest.approx([1.1605, 0.316, 0.76], abs=1e-4)
    assert errors["leave-one-out"] == pytest.approx([1.535, 0.966, 2.5382], abs=1e-4)
    assert errors["3-fold"] == pytest.approx([1.4516, 0.8742, 2.2696], abs=1e-4)
    orders = {name: [type(EVERY[i]).__name__ for i in np.argsort(found)] for name, found in errors.items()}
    assert orders["test set"] == ["QuadraticLeastSquares", "JoinTheDots", "LinearLeastSquares"]
    assert orders["leave-one-out"] == orders["3-fold"] == ["QuadraticLeastSquares", "LinearLeastSquares", "JoinTheDots"]
    test = markone.validate(X, target=y, estimator=EVERY[0], method="holdout", share=0.3).folds[0]
    assert len(test.rows) == round(0.3 * len(y)) == 4
    slow = [mean_squared(left_out(one, X, y)) for one in EVERY]
    assert errors["leave-one-out"] == pytest.approx(slow)


def test_dots_need_one_feature() -> None:
    with pytest.raises(DataError, match="X has 2 features, and dots are joined along one"):
        JoinTheDots().fit([[1.0, 2.0], [2.0, 3.0]], [0.0, 1.0])
