"""The support vector machine: against its reference, LIBLINEAR, and quadratic programs solved in another way."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_sparse_data as check_on_sparse_data,
)

from levels import check_levels
from markone import DataError, LinearSVM, SettingsError, reference
from markone.data.blocks import Block
from markone.learning.examples import BlockExamples
from markone.learning.hard_margin import UPDATES, Inverse
from markone.learning.passes import LearnerTraining, teach
from markone.learning.run import Run
from markone.learning.svm import NO_MARGIN, Dual
from markone.model.settings import Settings


def solve(X: Any, y: Any, importance: Any = None, *, classes: int | None = None, **chosen: Any) -> Dual:
    X = X if scipy.sparse.issparse(X) else np.asarray(X)
    how = Settings(rule="svm", **{"tol": 1e-9, "epochs": 20_000, **chosen})
    learner = Dual(how, features=X.shape[1], classes=classes or int(np.max(y)) + 1, dtype=X.dtype)
    teach(learner, Block.of(X, np.asarray(y), importance))
    return learner


def primal(weights: Any, X: Any, y: Any, importance: Any = None, *, how: Settings) -> float:
    """The objective from scratch, by weights whose last row is the bias."""
    how = how.spelled_out()
    X = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)
    s = X.astype(float) @ weights[:-1] + weights[-1]
    h = np.ones(len(y)) if importance is None else np.asarray(importance)
    if s.shape[1] == 1:
        lack = 1 - np.where(np.asarray(y) == 1, 1, -1)[:, None] * s
    elif how.multiclass == "one-versus-rest":
        lack = 1 - np.where(np.asarray(y)[:, None] == np.arange(s.shape[1]), 1, -1) * s
    else:
        right = np.take_along_axis(s, np.asarray(y)[:, None], 1)
        wrong = np.where(np.arange(s.shape[1]) == np.asarray(y)[:, None], -np.inf, s)
        lack = 1 + wrong.max(axis=1, keepdims=True) - right
    loss = np.maximum(0, lack) ** (2 if how.loss == "squared" else 1)
    return float((weights**2).sum() / 2 + how.C * (h[:, None] * loss).sum())


def all_weights(learner: Dual) -> np.ndarray:
    return np.vstack([learner.weights().matrix(), learner.weights().bias()])


def dual_value(learner: Dual, X: Any, y: Any, importance: Any = None) -> float:
    """The dual from scratch, by the multipliers alone."""
    how, found = learner.settings, learner.support
    X = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)
    X = np.hstack([X.astype(float), np.full((len(X), 1), float(how.bias))])[found.rows]
    h = (np.ones(len(y)) if importance is None else np.asarray(importance))[found.rows]
    w = X.T @ found.pulls
    if learner.columns == 1 or learner.one_versus_rest:
        a = np.abs(found.pulls)
    else:
        a = np.take_along_axis(found.pulls, np.asarray(y)[found.rows][:, None], 1)
    extra = (a**2 / (4 * how.C * h[:, None])).sum() if how.loss == "squared" else 0.0
    return float(a.sum() - extra - (w**2).sum() / 2)


# ---- small problems against the reference and another solver


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    rows, features = draw(st.integers(1, 12)), draw(st.sampled_from([1, 2, 3, 5, 9]))
    classes = draw(st.sampled_from([2, 2, 3, 4, 7]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random.normal(size=(rows, features)) * (random.random((rows, features)) < draw(st.sampled_from([0.3, 0.7, 1])))
    importance = random.choice([0, 0.5, 1, 1, 2, 3.25], rows) if draw(st.booleans()) else np.ones(rows)
    return X, random.integers(0, classes, rows), importance, classes


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@given(problems(), st.sampled_from([0.01, 0.3, 1.0, 10.0]), st.sampled_from(["hinge", "squared"]), st.booleans())
def test_the_reference_finds_the_same(kind: str, problem: Any, C: float, loss: str, bias: bool) -> None:
    X, y, h, classes = problem
    examples = [
        ({j: float(v) for j, v in enumerate(x) if v}, int(k), float(weight))
        for x, k, weight in zip(X, y, h, strict=True)
    ]
    slow = reference.SVM(classes, C=C, loss=loss, bias=bias)
    slow.learn(examples, 500)
    low, high = slow.dual(examples), slow.primal(examples)

    matrix = scipy.sparse.csr_array(X) if kind == "sparse" else X
    fast = solve(matrix, y, h, classes=classes, C=C, loss=loss, bias=bias)
    course = fast.course()
    assert course.objective is not None and course.gap is not None and course.gap >= 0
    assert low * (1 - 1e-9) - 1e-12 <= course.objective <= high * (1 + 1e-6) + 1e-12
    found = all_weights(fast)
    assert course.objective == pytest.approx(primal(found, X, y, h, how=fast.settings), rel=1e-9, abs=1e-12)
    bound = dual_value(fast, X, y, h)
    assert course.objective * (1 - course.gap) == pytest.approx(bound, rel=1e-8, abs=1e-12)
    if high - low < 1e-9 * high:  # the optimum is one point
        want = np.array([[slow.w[k].get(j, 0.0) for k in slow.moving] for j in [*range(X.shape[1]), reference.BIAS]])
        np.testing.assert_allclose(found, want, atol=3e-3 * (1 + np.abs(want).max()))


@given(problems(), st.sampled_from([0.1, 1.0]))
def test_one_versus_rest_is_a_machine_for_each_class(problem: Any, C: float) -> None:
    X, y, h, _ = problem
    examples = [({j: float(v) for j, v in enumerate(x)}, int(k), float(w)) for x, k, w in zip(X, y, h, strict=True)]
    known = [example for example in examples if example[1] < 3]
    if not known:
        return
    machines = reference.one_versus_rest(known, 3, 300, C=C)
    sides = [[(x, int(k == number), w) for x, k, w in known] for number in range(3)]
    low = sum(machine.dual(side) for machine, side in zip(machines, sides, strict=True))
    high = sum(machine.primal(side) for machine, side in zip(machines, sides, strict=True))
    keep = np.asarray(y) < 3
    objective = solve(X[keep], y[keep], h[keep], classes=3, C=C, multiclass="one-versus-rest").course().objective
    assert objective is not None and low * (1 - 1e-9) - 1e-9 <= objective <= high * (1 + 1e-5) + 1e-9


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("seed", range(5))
def test_a_quadratic_program_has_the_same_solution(loss: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(15, 3)), random.integers(0, 2, 15)
    C = float(random.choice([0.2, 1.0, 5.0]))
    z = np.where(y == 1, 1, -1)[:, None] * np.hstack([X, np.ones((15, 1))])
    Q = z @ z.T + (np.eye(15) / (2 * C) if loss == "squared" else 0)
    outside = scipy.optimize.minimize(
        lambda a: (a @ Q @ a / 2 - a.sum(), Q @ a - 1),
        np.zeros(15),
        jac=True,
        bounds=[(0, C if loss == "hinge" else None)] * 15,
        method="L-BFGS-B",
        options={"maxiter": 100_000, "ftol": 1e-15, "gtol": 1e-10},
    )
    learner = solve(X, y, C=C, loss=loss)
    assert learner.course().objective == pytest.approx(-outside.fun, rel=1e-6)
    np.testing.assert_allclose(all_weights(learner)[:, 0], z.T @ outside.x, atol=1e-3)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_crammer_and_singers_program_has_the_same_solution(loss: str) -> None:
    random = np.random.default_rng(0)
    X, y, C = np.hstack([random.normal(size=(10, 2)), np.ones((10, 1))]), random.integers(0, 3, 10), 0.7

    # Over w and the slack of each example: ½‖w‖² + C Σ slack, w_y·x - w_k·x ≥ 1 - slack.
    def objective(v: np.ndarray) -> float:
        slack = v[9:]
        return float((v[:9] ** 2).sum() / 2 + C * (slack if loss == "hinge" else slack**2).sum())

    def room(v: np.ndarray) -> np.ndarray:
        s = X @ v[:9].reshape(3, 3)
        right = np.take_along_axis(s, y[:, None], 1)
        return np.concatenate([(right - s - 1 + 1.0 * (np.arange(3) == y[:, None])).T + v[9:], [v[9:]]]).ravel()

    start = np.concatenate([np.zeros(9), np.ones(10)])
    outside = scipy.optimize.minimize(
        objective,
        start,
        constraints={"type": "ineq", "fun": room},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert solve(X[:, :2], y, C=C, loss=loss).course().objective == pytest.approx(outside.fun, rel=1e-6)


# ---- against LIBLINEAR


def scaled(data: Any) -> tuple[np.ndarray, np.ndarray]:
    X, y = data(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("C", [0.001, 1.0, pytest.param(30.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize(
    ("data", "multiclass"),
    [(load_breast_cancer, None), (load_iris, "crammer-singer"), (load_iris, "one-versus-rest")],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_is_liblinears(data: Any, multiclass: Any, loss: str, C: float) -> None:
    if multiclass == "crammer-singer" and loss == "squared":
        pytest.skip("LIBLINEAR does not have it")
    X, y = scaled(data)
    weights = np.random.default_rng(0).choice([0.5, 1, 2], len(y))
    for kind, importance in ((np.asarray, None), (scipy.sparse.csr_matrix, weights)):
        if importance is not None and multiclass == "crammer-singer":
            importance = None  # LIBLINEAR takes no weights there
        theirs = LinearSVC(
            C=C,
            loss="hinge" if loss == "hinge" else "squared_hinge",
            dual=loss == "hinge",
            multi_class="crammer_singer" if multiclass == "crammer-singer" else "ovr",
            tol=1e-7,
            max_iter=50_000,
            random_state=0,
        ).fit(kind(X), y, **({} if importance is None else {"sample_weight": importance}))
        ours = solve(kind(X), y, importance, C=C, loss=loss, multiclass=multiclass, tol=1e-5)
        want = primal(np.vstack([theirs.coef_.T, theirs.intercept_]), X, y, importance, how=ours.settings)
        assert ours.course().objective == pytest.approx(want, rel=1e-4)


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
def test_digits_as_liblinear_in_single_precision() -> None:
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    theirs = LinearSVC(C=0.1, multi_class="crammer_singer", tol=1e-4, max_iter=20_000, random_state=0).fit(
        X.astype(float), y
    )
    ours = solve(scipy.sparse.csr_matrix(X), y, C=0.1, tol=1e-5)
    want = primal(np.vstack([theirs.coef_.T, theirs.intercept_]), X, y, how=ours.settings)
    assert ours.course().objective == pytest.approx(want, rel=1e-4)
    assert ours.weights().matrix().dtype == np.float32
    dense = solve(X, y, C=0.1, tol=1e-5)
    assert dense.course().objective == pytest.approx(ours.course().objective, rel=2e-5)


# ---- what must not change anything


@pytest.fixture(scope="module")
def noisy() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    X = random.normal(size=(120, 6))
    return X, (X[:, 0] + X[:, 1] ** 2 + random.normal(size=120) > 1).astype(int) + (X[:, 2] > 0.8)


@pytest.mark.parametrize("multiclass", ["crammer-singer", "one-versus-rest"])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_weights_of_examples(noisy: Any, loss: str, multiclass: str) -> None:
    X, y = noisy
    how = {"loss": loss, "multiclass": multiclass, "C": 0.5}
    h = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    weighted = solve(X, y, h, **how)
    repeated = solve(np.repeat(X, h.astype(int), axis=0), np.repeat(y, h.astype(int)), **how)
    np.testing.assert_allclose(all_weights(weighted), all_weights(repeated), atol=1e-4)
    assert weighted.course().objective == pytest.approx(repeated.course().objective, rel=1e-7)
    # A row of no weight is not there at all: the same bits without it.
    present = h > 0
    without = solve(X[present], y[present], h[present], **how)
    np.testing.assert_array_equal(all_weights(weighted), all_weights(without))
    np.testing.assert_array_equal(weighted.support.rows, np.flatnonzero(present)[without.support.rows])


def test_what_does_not_support_can_go(noisy: Any) -> None:
    X, y = noisy
    for chosen in ({}, {"multiclass": "one-versus-rest"}, {"loss": "squared"}):
        whole = solve(X, y, C=0.3, **chosen)
        kept = whole.support.rows
        assert 0 < len(kept) < len(y)
        fewer = solve(X[kept], y[kept], C=0.3, classes=3, **chosen)
        assert fewer.course().objective == pytest.approx(whole.course().objective, rel=1e-7)
        np.testing.assert_allclose(all_weights(fewer), all_weights(whole), atol=2e-4)


def test_the_support_makes_up_the_weights(noisy: Any) -> None:
    X, y = noisy
    for chosen in ({}, {"multiclass": "one-versus-rest"}, {"order": "once"}):
        learner = solve(X, y, C=0.3, tol=1e-6, **chosen)
        rows, pulls = learner.support
        assert (np.diff(rows) > 0).all() and (np.abs(pulls) <= 0.3 * (1 + 1e-12)).all()
        extended = np.hstack([X, np.ones((len(X), 1))])
        np.testing.assert_allclose(extended[rows].T @ pulls, all_weights(learner), atol=1e-2)


def test_duplicates_zeros_and_a_single_feature() -> None:
    X = np.array([[0.0], [0.0], [2.0], [2.0], [2.0], [-1.0], [0.0]])
    y = np.array([0, 1, 1, 1, 0, 0, 0])
    for loss in ("hinge", "squared"):
        for bias in (True, False):
            for labels, classes in ((y, 2), (np.where(np.arange(7) == 2, 2, y), 3)):
                for importance in (None, np.array([1, 2, 0, 1, 1, 1, 0.5])):
                    learner = solve(X, labels, importance, classes=classes, C=2.0, loss=loss, bias=bias)
                    course = learner.course()
                    again = primal(all_weights(learner), X, labels, importance, how=learner.settings)
                    assert course.objective == pytest.approx(again, rel=1e-9) and course.gap <= 1e-9
    blank = solve(np.zeros((4, 2)), [0, 1, 2, 0], bias=False, C=2.0)
    assert blank.course().objective == 8 and blank.course().gap == 0


def test_features_that_a_row_names_twice_are_added_up() -> None:
    twice = scipy.sparse.csr_matrix(
        (np.array([1.0, 2.0, -1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    learner = solve(twice, [1, 0])
    once = solve(np.array([[3.0, 0], [0, -1]]), [1, 0])
    np.testing.assert_allclose(all_weights(learner), all_weights(once), atol=1e-6)


# ---- the gap


def test_the_gap_is_never_negative_and_falls_to_tol(noisy: Any) -> None:
    X, y = noisy
    for tol in (0.1, 1e-2, 1e-4, 1e-6):
        learner = Dual(Settings(rule="svm", tol=tol, epochs=5000), features=6, classes=3)
        history = teach(learner, Block.of(X, y))
        gaps = [one.gap for one in history if one.gap is not None]
        assert history.stopped == "optimum"
        assert all(gap >= 0 for gap in gaps)
        assert gaps[-1] <= tol < min([1.0, *gaps[:-1]])
        # Before C has climbed to where it should be, there is nothing to tell.
        assert [one.gap for one in history][-len(gaps) :] == gaps
        course = learner.course()
        assert course.objective == pytest.approx(primal(all_weights(learner), X, y, how=learner.settings), rel=1e-9)
        exact = 1 - dual_value(learner, X, y) / course.objective
        assert course.gap == pytest.approx(exact, abs=1e-9)


def test_passes_that_are_not_enough_are_told(noisy: Any) -> None:
    X, y = noisy
    learner = Dual(Settings(rule="svm", tol=1e-12, epochs=3), features=6, classes=3)
    history = teach(learner, Block.of(X, y))
    assert history.stopped == "epochs" and history[-1].gap > 1e-12
    objective = primal(all_weights(learner), X, y, how=learner.settings)
    assert history[-1].objective == pytest.approx(objective, rel=1e-9)


def test_every_order_leads_there(noisy: Any) -> None:
    X, y = noisy
    found = [solve(X, y, order=order, seed=seed, tol=1e-6) for order in ("given", "once", "each") for seed in (0, 1)]
    objectives = [learner.course().objective for learner in found]
    assert max(objectives) <= min(objectives) * (1 + 2e-6)
    assert len({all_weights(learner).tobytes() for learner in found}) == 5  # "given" has no use for a seed


def test_C_climbs_where_examples_are_alike(noisy: Any, monkeypatch: Any) -> None:
    X, y = noisy
    found = {}
    for share in (0.25, 0.0):  # the share of features that counts as few
        monkeypatch.setattr("markone.learning.svm.FEW_FEATURES", share)
        learner = Dual(Settings(rule="svm", C=30.0), features=6, classes=3)
        history = teach(learner, Block.of(X, y))
        found[share] = learner.course().objective, sum(one.updates for one in history), history[0].gap
    assert found[0.25][0] == pytest.approx(found[0.0][0], rel=2e-3)
    assert found[0.25][1] < found[0.0][1] / 2
    assert found[0.25][2] is None and found[0.0][2] is not None
    monkeypatch.setattr("markone.learning.svm.FEW_FEATURES", 0.25)
    # Where passes end before it is there, it goes the rest of the way at once.
    learner = Dual(Settings(rule="svm", C=30.0, epochs=80), features=6, classes=3)
    history = teach(learner, Block.of(X, y))
    assert history[-1].objective == pytest.approx(primal(all_weights(learner), X, y, how=learner.settings), rel=1e-9)


# ---- the hard margin


def test_the_hard_margin_of_a_worked_example() -> None:
    # On the line, the classes are [-3, -1] and [3, 5]: the widest street is between -1 and 3 but the bias costs, too.
    # w·3 + b = 1 and -w·1 + b = -1 give w = b' = (0.5, -0.5), the only feasible point on both margins.
    X, y = np.array([[-3.0], [-1.0], [3.0], [5.0]]), [0, 0, 1, 1]
    learner = solve(X, y, C=math.inf, tol=1e-10)
    np.testing.assert_allclose(all_weights(learner).ravel(), [0.5, -0.5], atol=1e-5)
    assert learner.course().objective == pytest.approx(0.25)
    assert learner.support.rows.tolist() == [1, 2]
    # Without a bias the lecture's two points: w = (0.5, 0.5), a margin of √2.
    learner = solve(np.array([[1.0, 1], [2, 2], [-1, -1]]), [1, 1, 0], C=math.inf, bias=False, tol=1e-10)
    np.testing.assert_allclose(all_weights(learner).ravel(), [0.5, 0.5, 0], atol=1e-5)


@pytest.mark.parametrize("multiclass", ["crammer-singer", "one-versus-rest"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("features", [2, 8])
def test_hard_margins_are_at_least_1(features: int, classes: int, multiclass: str) -> None:
    random = np.random.default_rng(features)
    centres = random.normal(size=(classes, features))
    if multiclass == "one-versus-rest" and features == 2:
        centres = np.array([[0, 5], [5, 0], [0, -5], [-5, 0]])[:classes]  # each apart from all others
    y = random.integers(0, classes, 60)
    X = 4 * centres[y] + random.uniform(-0.3, 0.3, size=(60, features))
    learner = solve(X, y, C=math.inf, tol=1e-6, multiclass=multiclass)
    s = X @ learner.weights().matrix() + learner.weights().bias()
    if classes == 2:
        margins = np.where(y == 1, 1, -1) * s[:, 0]
    elif multiclass == "one-versus-rest":
        margins = np.where(y[:, None] == np.arange(classes), 1, -1) * s
    else:
        right = np.take_along_axis(s, y[:, None], 1)
        margins = (right - s)[np.arange(classes) != y[:, None]]
    assert margins.min() == pytest.approx(1, abs=1e-9)
    course = learner.course()
    assert course.done and course.objective == pytest.approx((all_weights(learner) ** 2).sum() / 2)


def test_an_inverse_that_gains_and_loses_columns_is_the_pseudo_inverse() -> None:
    """Through far more updates than after which it is computed anew."""
    random = np.random.default_rng(0)
    inverse = Inverse(30)
    columns: list[Any] = []
    for step in range(3 * UPDATES):
        if columns and (len(columns) == 20 or random.random() < 0.4):
            gone = int(random.integers(len(columns)))
            inverse.remove(gone)
            del columns[gone]
        else:
            columns.append(random.normal(size=30))
            assert inverse.add(columns[-1])
        if columns and step % 23 == 0:
            made, left = inverse.best_for_first()
            matrix = np.array(columns).T
            np.testing.assert_allclose(made, np.linalg.pinv(matrix)[:, 0], atol=1e-10)
            np.testing.assert_allclose(left, np.eye(30)[0] - matrix @ made, atol=1e-10)
    assert not inverse.add(2 * columns[0] - 3 * columns[1])


def test_a_narrow_hard_margin_is_found_exactly() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = (X @ [1.0, 2.0, -1.0] > 0.3).astype(int)
    learner = solve(X, y, C=math.inf, tol=1e-8, epochs=100)
    assert learner.course().done
    z = np.where(y == 1, 1, -1)[:, None] * np.hstack([X, np.ones((300, 1))])
    outside = scipy.optimize.minimize(
        lambda w: (w @ w / 2, w),
        all_weights(learner).ravel() * 1.5,
        jac=True,
        constraints={"type": "ineq", "fun": lambda w: z @ w - 1, "jac": lambda w: z},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert learner.course().objective == pytest.approx(outside.fun, rel=1e-5)


@pytest.mark.parametrize("multiclass", ["crammer-singer", "one-versus-rest"])
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0, 0], [1, 1], [0, 1], [1, 0]], [1, 1, 0, 0]),  # exclusive or
        ([[1.0, 2], [1, 2], [0, 1]], [0, 1, 1]),  # the same with two labels
        ([[0.0], [1], [2], [3]], [0, 1, 0, 2]),
        (np.random.default_rng(0).normal(size=(300, 4)), np.random.default_rng(1).integers(0, 3, 300)),
    ],
)
def test_what_cannot_be_separated_is_told(X: Any, y: Any, multiclass: str) -> None:
    with pytest.raises(
        DataError, match="cannot be separated by a plane, so there is no hard margin; choose a finite C"
    ):
        solve(X, y, C=math.inf, multiclass=multiclass)
    with pytest.raises(DataError, match=NO_MARGIN):
        solve(scipy.sparse.csr_array(np.asarray(X, np.float32)), y, C=math.inf, multiclass=multiclass, epochs=2)


def test_a_row_of_zeros_has_no_hard_margin_without_a_bias() -> None:
    X = np.array([[1.0, 0], [0, 0], [-1, 0]])
    for y in ([1, 1, 0], [1, 2, 0]):
        with pytest.raises(DataError, match=NO_MARGIN):
            solve(X, y, C=math.inf, bias=False)
        assert solve(X, y, C=math.inf).course().done


# ---- going on


@pytest.mark.parametrize("multiclass", ["crammer-singer", "one-versus-rest"])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_a_path_of_C_goes_on_from_the_last_solution(noisy: Any, loss: str, multiclass: str) -> None:
    X, y = noisy
    block = Block.of(X, y)
    how = Settings(rule="svm", loss=loss, multiclass=multiclass, tol=1e-6, epochs=50_000)
    path = [0.01, 0.1, 1.0, 3.0, 0.3, 0.01]
    learner = Dual(how, features=6, classes=3).with_C(path[0])
    warm = cold = len(teach(learner, block))
    for C in path[1:]:
        learner = learner.with_C(C)
        warm += len(teach(learner, block))
        anew = Dual(learner.settings, features=6, classes=3)
        cold += len(teach(anew, block))
        assert learner.settings.C == C
        assert learner.course().objective == pytest.approx(anew.course().objective, rel=2e-6)
    assert len(teach(learner.with_C(path[-1]), block)) < len(teach(anew, block))
    # By the hinge loss a C that climbs from below is as good a start as the optimum of another C.
    assert loss == "hinge" or warm < cold
    with pytest.raises(DataError, match="multipliers of 120 examples to start from, but now there are 100"):
        teach(learner.with_C(1.0), Block.of(X[:100], y[:100]))


@pytest.mark.parametrize("stop", [1, 3, 7, 12])
@pytest.mark.parametrize(
    "chosen",
    [{}, {"multiclass": "one-versus-rest"}, {"loss": "squared", "order": "once"}, {"C": math.inf}],
)
def test_resumes_to_the_bit(noisy: Any, chosen: dict[str, Any], stop: int, monkeypatch: Any) -> None:
    X, y = noisy
    if "C" in chosen:
        y = (X[:, 0] > 0.1).astype(int)
    monkeypatch.setattr("markone.learning.examples.VALUES_BETWEEN_LOOKS", 6 * 40)  # several looks in a pass
    how = Settings(rule="svm", tol=1e-5, epochs=400, **chosen)

    def fresh() -> Run:
        learner = Dual(how, features=6, classes=int(y.max()) + 1)
        return Run(LearnerTraining(learner, BlockExamples(learner.ready(Block.of(X, y)), how)))

    whole = fresh()
    whole.make_passes()
    first = fresh()
    for looks, _ in enumerate(first.looks(Quiet()), start=1):
        if looks == stop:
            break
    saved = first.save()
    saved.arrays.update({name: array.copy() for name, array in saved.arrays.items()})
    second = fresh()
    second.restore(saved, first.history)
    second.make_passes()
    assert len(whole.history) == len(second.history) > 1
    for one, other in zip(whole.history, second.history, strict=True):
        assert (one.mistakes, one.updates, one.loss, one.norm2) == (
            other.mistakes,
            other.updates,
            other.loss,
            other.norm2,
        )
        assert (one.objective, one.gap) == (other.objective, other.gap)
    for name, array in whole.trained.learner.get_state().items():
        np.testing.assert_array_equal(array, second.trained.learner.get_state()[name])
    np.testing.assert_array_equal(all_weights(whole.trained.learner), all_weights(second.trained.learner))  # type: ignore[arg-type]


class Quiet:
    def advance(self, visits: int) -> None:
        pass


def test_a_damaged_state_is_refused(noisy: Any) -> None:
    X, y = noisy
    learner = solve(X, y, tol=0.1)
    good = learner.get_state()
    learner.check_state(good)
    for name, change in [
        ("alpha", lambda a: a[:-1]),
        ("alpha", lambda a: a.astype(np.float32)),
        ("w", lambda a: a * np.nan),
        ("turn", lambda a: a + 7),
        ("turn", lambda a: np.array([0, 121])),
        ("turn", lambda a: -a - 1),
        ("rivals", lambda a: a[:, :0]),
        ("numbers", lambda a: np.full_like(a, np.nan)),
    ]:
        with pytest.raises(DataError, match="the training state in the file is damaged"):
            learner.check_state({**good, name: change(good[name])})
    with pytest.raises(DataError, match="damaged"):
        learner.check_state({})


def test_the_processors_level_changes_no_bit() -> None:
    program = """
import hashlib, itertools, numpy as np, scipy.sparse
from markone import _core
from markone.data.blocks import Block
from markone.learning.svm import Dual
from markone.learning.passes import teach
from markone.model.settings import Settings
random, digest = np.random.default_rng(5), hashlib.sha256()
cases = itertools.product((np.float32, np.float64), (2, 3, 10, 37), (45, 101), ("hinge", "squared"))
for dtype, classes, width, loss in cases:
    X = random.normal(size=(80, width)) * (random.random((80, width)) < 0.7)
    y = random.integers(0, classes, 80)
    for matrix in (X, scipy.sparse.csr_array(X)):
        learner = Dual(Settings(rule="svm", loss=loss, epochs=8), features=width, classes=classes, dtype=dtype)
        history = teach(learner, Block.of(matrix.astype(dtype), y))
        for array in learner.get_state().values():
            digest.update(array.tobytes())
        digest.update(repr([(one.mistakes, one.updates, one.loss, one.objective, one.gap) for one in history]).encode())
print(digest.hexdigest())
"""
    check_levels(program)


# ---- the estimator


ROUGH = "as near to the optimum as tol says is not near enough for this check; the tests below have a smaller tol"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ROUGH,
    "check_sample_weight_equivalence_on_sparse_data": ROUGH,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(
    # Rows far from 0 would take many passes, and what is checked does not depend on being at the optimum.
    [LinearSVM(max_iter=100)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(
    [LinearSVM(loss="squared_hinge", multi_class="ovr", max_iter=100)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learns_own_checks_of_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", [check_sample_weight_equivalence_on_dense_data, check_on_sparse_data])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_weights_of_examples_are_repeats(check: Any, loss: str, multi_class: str) -> None:
    # A gap that is 0 as far as doubles can tell is the square of what is left in the weights: 1e-8. By a tol below 0
    # no gap is small enough, and passes go on until nothing moves.
    check("LinearSVM", LinearSVM(loss=loss, multi_class=multi_class, tol=-1, max_iter=100_000))


def test_the_estimator_is_the_learner(noisy: Any) -> None:
    X, y = noisy
    for matrix in (X, scipy.sparse.csr_matrix(X), X.astype(np.float32)):
        model = LinearSVM(C=0.3, tol=1e-6, max_iter=5000).fit(matrix, y)
        learner = solve(matrix, y, C=0.3, tol=1e-6)
        np.testing.assert_array_equal(model.coef_, learner.weights().matrix().T)
        np.testing.assert_array_equal(model.intercept_, learner.weights().bias())
        assert (model.objective_, model.dual_gap_) == learner.course()[:2]
        np.testing.assert_array_equal(model.support_, learner.support.rows)
        assert model.dual_coef_.shape == (3, len(model.support_))
        np.testing.assert_allclose(model.dual_coef_ @ X[model.support_], model.coef_, atol=0.02)
        assert model.n_iter_ == len(model.history_)


def test_one_versus_rest_and_squared_losses_are_their_own() -> None:
    X, y = scaled(load_iris)
    found = {
        (loss, multi_class): LinearSVM(loss=loss, multi_class=multi_class).fit(X, y).coef_.tobytes()
        for loss in ("hinge", "squared_hinge")
        for multi_class in ("crammer_singer", "ovr")
    }
    assert len(set(found.values())) == 4


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
def test_accuracy_as_liblinears() -> None:
    X, y = load_digits(return_X_y=True)
    for multi_class in ("crammer_singer", "ovr"):
        ours = LinearSVM(C=0.05, multi_class=multi_class).fit(X[:1200] / 16, y[:1200])
        theirs = LinearSVC(C=0.05, loss="hinge", multi_class=multi_class, max_iter=20_000, random_state=0)
        theirs.fit(X[:1200] / 16, y[:1200])
        assert abs(ours.score(X[1200:] / 16, y[1200:]) - theirs.score(X[1200:] / 16, y[1200:])) <= 0.005


def test_fitted_machines_can_be_kept_and_have_let_go_of_their_rows(noisy: Any) -> None:
    X, y = noisy
    model = LinearSVM().fit(X, y)
    for twin in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))
        np.testing.assert_array_equal(twin.dual_coef_, model.dual_coef_)
        assert (twin.objective_, twin.dual_gap_) == (model.objective_, model.dual_gap_)
    assert not model._learner._solvers
    unfinished = Dual(Settings(rule="svm"), features=6, classes=3)
    run = Run[Any](LearnerTraining[Any](unfinished, BlockExamples(Block.of(X, y), unfinished.settings)))
    next(run.looks(Quiet()))
    np.testing.assert_array_equal(all_weights(pickle.loads(pickle.dumps(unfinished))), all_weights(unfinished))


def test_warm_start_over_a_path_of_C(noisy: Any) -> None:
    X, y = noisy
    model = LinearSVM(warm_start=True, tol=1e-7, max_iter=10_000)
    for C in (0.1, 1.0, 0.5):
        model.set_params(C=C).fit(X, y)
        cold = LinearSVM(C=C, tol=1e-7, max_iter=10_000).fit(X, y)
        assert model.objective_ == pytest.approx(cold.objective_, rel=2e-7)
    passes = model.n_iter_
    assert model.fit(X, y).n_iter_ < passes / 10
    model.set_params(multi_class="ovr").fit(X, y)  # another problem starts anew
    assert model.dual_gap_ <= 1e-7
    with pytest.raises(DataError, match="now there are 60"):
        model.fit(X[:60], y[:60])
    with pytest.raises(DataError, match="classes that were not there before"):
        model.fit(X, y + 1)


def test_the_online_solver_is_the_hinge_rule(noisy: Any) -> None:
    X, y = noisy
    online = LinearSVM(solver="online", alpha=0.01, max_iter=200, tol=None).fit(X, y)
    exact = LinearSVM(C=1 / (0.01 * len(y))).fit(X, y)
    assert online.score(X, y) == pytest.approx(exact.score(X, y), abs=0.05)
    by_C = LinearSVM(solver="online", C=1 / (0.01 * len(y)), max_iter=200, tol=None).fit(X, y)
    np.testing.assert_allclose(by_C.coef_, online.coef_, rtol=1e-9)
    assert online.partial_fit(X, y) is online
    for name in ("support_", "dual_coef_", "objective_", "dual_gap_"):
        assert hasattr(exact, name) and not hasattr(online, name) and not hasattr(LinearSVM(), name)
    assert not hasattr(LinearSVM(), "partial_fit") and hasattr(LinearSVM(solver="online"), "partial_fit")
    with pytest.raises(AttributeError) as refusal:
        LinearSVM().partial_fit(X, y)
    assert "set solver='online'" in str(refusal.value.__cause__)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (LinearSVM(loss="hing"), "loss must be one of 'hinge', 'squared_hinge', not 'hing'. Did you mean 'hinge'"),
        (LinearSVM(multi_class="ovo"), "multi_class must be one of"),
        (LinearSVM(solver="newton"), "solver must be one of"),
        (LinearSVM(C=0), "C must be a number greater than 0, not 0"),
        (LinearSVM(C="1"), "C must be a number"),
        (LinearSVM(penalty="l1"), "penalty must be 'l2' for solver='dual'"),
        (LinearSVM(alpha=0.1), "alpha is not used by solver='dual'"),
        (LinearSVM(average=True), "average is not used by solver='dual'"),
        (LinearSVM(solver="online", loss="squared_hinge"), "loss must be 'hinge' for solver='online'"),
        (LinearSVM(solver="online", multi_class="ovr"), "multi_class must be 'crammer_singer' for solver='online'"),
        (LinearSVM(solver="online", C=-1), "C must be a number greater than 0"),
        (LinearSVM(max_iter=0), "max_iter must be a whole number of at least 1"),
    ],
)
def test_parameters_that_make_no_sense(noisy: Any, model: LinearSVM, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        model.fit(*noisy)


def test_early_stopping_looks_at_held_out_rows(noisy: Any) -> None:
    X, y = noisy
    model = LinearSVM(early_stopping=True, n_iter_no_change=2, tol=1e-9, max_iter=3000).fit(X, y)
    assert model.history_.held_out == 12 and model.history_.stopped == "held-out"
    assert model.history_[0].holdout is not None and model.support_.max() < len(y)
    with pytest.raises(DataError, match="only for solvers that can start from weights"):
        LinearSVM().fit(X, y, coef_init=np.zeros((3, 6)))
