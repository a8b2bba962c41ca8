"""Logistic regression to its optimum: derivatives, optima, steps, and what the estimator makes of them."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import markone
from levels import check_levels
from markone import DataError, LogisticRegression, SettingsError, _core, reference
from markone.data.blocks import Block
from markone.features.part import Neighbours
from markone.learning.examples import BlockExamples
from markone.learning.logistic import Ascent, Newton, NewtonInRows, NewtonInWeights, NewtonL1
from markone.learning.passes import teach
from markone.learning.smoothness import Smoothness
from markone.model.settings import Settings

KINDS = ["sparse", "dense"]


@dataclass
class Data:
    X: np.ndarray
    y: np.ndarray
    importance: np.ndarray
    order: np.ndarray
    classes: int

    @property
    def columns(self) -> int:
        return 1 if self.classes == 2 else self.classes

    def block(self, kind: str = "dense", dtype: Any = np.float64) -> Block:
        matrix = self.X.astype(dtype)
        return Block.of(scipy.sparse.csr_array(matrix) if kind == "sparse" else matrix, self.y, self.importance)

    def objective(self, kind: str = "dense", dtype: Any = np.float64) -> _core.Objective:
        block = self.block(kind, dtype)
        return _core.Objective(block.rows, block.labels, self.classes, block.importance, self.order)

    def examples(self) -> list[tuple[dict[Any, float], int, float]]:
        return [
            (dict(enumerate(self.X[i].tolist())), int(self.y[i]), float(self.importance[i]))
            for i in self.order
            if self.importance[i] > 0
        ]

    def with_all_classes(self) -> Data:
        """The same, in which every class has an example; without one there is no optimum."""
        assume(len(self.y) >= self.classes)
        self.y[: self.classes] = np.arange(self.classes)
        self.importance[: self.classes] = 1
        self.order = np.arange(len(self.y))
        return self

    def named(self, w: np.ndarray) -> dict[int, dict[Any, float]]:
        """Weights as the reference has them."""
        names = [*range(self.X.shape[1]), reference.BIAS]
        moving = [1] if self.classes == 2 else range(self.classes)
        return {k: dict(zip(names, w[:, column].tolist(), strict=True)) for column, k in enumerate(moving)}


@st.composite
def data(draw: st.DrawFn, most_classes: int = 9) -> Data:
    rows = draw(st.integers(3, 20))
    features = draw(st.sampled_from([1, 2, 3, 9, 17, 40]))
    classes = draw(st.sampled_from([k for k in (2, 2, 3, 4, 5, 9, 34) if k <= most_classes]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random.normal(size=(rows, features)) * (random.random((rows, features)) < draw(st.sampled_from([0.3, 1.0])))
    importance = random.choice([0, 0.5, 1, 2, 3.25], rows) if draw(st.booleans()) else np.ones(rows)
    importance[0] = 1
    order = np.arange(rows) if draw(st.booleans()) else np.unique(np.append(random.integers(0, rows, rows), 0))
    X = X.astype(np.float32).astype(np.float64)  # so that both types have the same values
    return Data(X, random.integers(0, classes, rows), importance, order, classes)


def some_weights(of: _core.Objective, seed: int, size: float = 1.0) -> np.ndarray:
    """At random, with padding that is 0."""
    w = np.zeros((of.features + 1, of.stride))
    columns = 1 if of.stride == 1 else of.classes
    w[:, :columns] = size * np.random.default_rng(seed).normal(size=(len(w), columns))
    return w


def judged(of: _core.Objective, w: np.ndarray) -> tuple[float, np.ndarray]:
    """The loss and its gradient."""
    scores, gradient = np.zeros((of.rows, of.stride)), np.zeros_like(w)
    of.score(w, scores)
    loss, _ = of.judge(scores, pulls := np.zeros_like(scores))
    of.gather(pulls, gradient)
    return loss, gradient


# ---- the core's derivatives


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@given(data(most_classes=34), st.integers(0, 99))
def test_the_loss_and_its_gradient_are_the_references(kind: str, dtype: Any, sample: Data, seed: int) -> None:
    of = sample.objective(kind, dtype)
    w = some_weights(of, seed)
    loss, gradient = judged(of, w)
    examples, named = sample.examples(), sample.named(w)
    assert of.rows == len(examples) and of.importance == pytest.approx(sum(h for _, _, h in examples))
    assert loss == pytest.approx(reference.logistic_objective(named, examples, sample.classes), rel=1e-12)
    expected = reference.logistic_gradient(named, examples, sample.classes)
    for column, k in enumerate(named):
        np.testing.assert_allclose(gradient[:, column], list(expected[k].values()), rtol=1e-10, atol=1e-14)
    assert (gradient[:, sample.columns :] == 0).all()


@pytest.mark.parametrize("kind", KINDS)
@given(data(), st.integers(0, 99))
def test_the_gradient_is_the_difference_of_losses(kind: str, sample: Data, seed: int) -> None:
    of = sample.objective(kind)
    w, v = some_weights(of, seed), some_weights(of, seed + 1)
    _, gradient = judged(of, w)
    far = 1e-5
    slope = (judged(of, w + far * v)[0] - judged(of, w - far * v)[0]) / (2 * far)
    assert of.inner(gradient, v) == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@given(data(most_classes=34), st.integers(0, 99))
def test_products_with_the_hessian_are_differences_of_gradients(kind: str, dtype: Any, sample: Data, seed: int) -> None:
    of = sample.objective(kind, dtype)
    w, v = some_weights(of, seed), some_weights(of, seed + 1)
    far = 1e-5
    expected = (judged(of, w + far * v)[1] - judged(of, w - far * v)[1]) / (2 * far)
    judged(of, w)
    steps, out = np.zeros((of.rows, of.stride)), np.zeros_like(w)
    curvature = of.product(v, steps, out)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-7)
    assert curvature == pytest.approx(of.inner(v, out), rel=1e-10, abs=1e-14)
    scores = np.zeros_like(steps)
    of.score(v, scores)
    np.testing.assert_allclose(steps, scores, rtol=1e-12, atol=1e-12)
    bent = np.zeros_like(steps)
    assert of.bend(steps, bent) == pytest.approx(curvature, rel=1e-10, abs=1e-14)
    of.gather(bent, again := np.zeros_like(w))
    np.testing.assert_allclose(again, out, rtol=1e-10, atol=1e-13)

    units = np.eye(of.features + 1)
    of.curvatures(diagonal := np.zeros_like(w))
    for k in range(sample.columns):
        for j in range(0, of.features + 1, 5):
            one = np.zeros_like(w)
            one[:, k] = units[j]
            assert of.product(one, steps, out) == pytest.approx(diagonal[j, k], rel=1e-10, abs=1e-15)
    of.turn(False)
    pairs = np.flatnonzero(np.arange(of.stride)[None, :].repeat(len(w), 0) < sample.columns).astype(np.uint32)
    np.testing.assert_allclose(of.diagonal(pairs), diagonal.reshape(-1)[pairs], rtol=1e-10, atol=1e-15)


@given(data(most_classes=34), st.integers(0, 99), st.floats(0, 3))
def test_on_a_line_the_loss_its_slope_and_its_curvature_are_those_of_the_weights(
    sample: Data, seed: int, t: float
) -> None:
    of = sample.objective()
    w, v = some_weights(of, seed), some_weights(of, seed + 1)
    scores, steps = (np.zeros((of.rows, of.stride)) for _ in range(2))
    of.score(w, scores)
    of.score(v, steps)
    loss, slope, curvature = of.along(scores, steps, t)
    expected, gradient = judged(of, w + t * v)
    assert loss == pytest.approx(expected, rel=1e-10)
    assert slope == pytest.approx(of.inner(gradient, v), rel=1e-8, abs=1e-12)
    expected_curvature = of.product(v, np.zeros_like(steps), np.zeros_like(w))
    assert curvature == pytest.approx(expected_curvature, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@given(data(most_classes=34), st.integers(0, 99))
def test_columns_give_sums_of_rows_and_their_scores(kind: str, sample: Data, seed: int) -> None:
    of = sample.objective(kind)
    kept = [i for i in sample.order if sample.importance[i] > 0]
    X = sample.X[kept]
    c = np.random.default_rng(seed).normal(size=(of.rows, of.stride))
    for apart in (True, False):
        of.turn(apart)
        of.combine(c, w := np.zeros((of.features + 1, of.stride)))
        np.testing.assert_allclose(w[:-1], X.T @ c, rtol=1e-11, atol=1e-12)
    of.turn(True)
    largest = of.kernel(c, out := np.zeros_like(c))
    np.testing.assert_allclose(out, X @ (X.T @ c), rtol=1e-10, atol=1e-11)
    assert largest == pytest.approx(abs(X.T @ c).max(), rel=1e-11)
    np.testing.assert_allclose(of.sums(c), c.sum(axis=0), rtol=1e-10, atol=1e-12)


@given(data(), st.integers(0, 99))
def test_from_all_rows_the_preconditioner_divides_by_the_hessians_blocks(sample: Data, seed: int) -> None:
    of = sample.objective()
    judged(of, some_weights(of, seed, 0.1))
    features = of.features
    smoothness = Smoothness.of([Neighbours(0, (features,), 0.7)] if features > 2 else [])
    of.factorise(1, 0.1, *smoothness.lower_half)
    r = some_weights(of, seed + 1)
    of.precondition(r, found := np.zeros_like(r))
    for k in range(sample.columns):
        alone, out = np.zeros_like(r), np.zeros_like(r)
        alone[:, k] = found[:, k]
        of.product(alone, np.zeros((of.rows, of.stride)), out)
        out[:-1] += 0.1 * alone[:-1] + smoothness.pull(alone[:-1])
        np.testing.assert_allclose(out[:, k], r[:, k], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_extreme_scores_cost_what_they_should_and_nothing_overflows(classes: int) -> None:
    of = _core.Objective(Block.of(np.ones((1, 1)), np.array([1])).rows, np.array([1], np.int32), classes)
    for score in (0.0, 1e-9, 3.0, 40.0, 500.0, 710.0, 1e6, 1e300):
        scores, pulls = np.zeros((1, of.stride)), np.zeros((1, of.stride))
        place = 0 if classes == 2 else 1
        scores[0, place] = score
        good, _ = of.judge(scores, pulls)
        scores[0, place] = -score
        bad, mistakes = of.judge(scores, pulls)
        odds = classes - 1
        with np.errstate(under="ignore"):
            assert good == pytest.approx(np.log1p(odds * np.exp(-min(score, 708))), rel=1e-13)
        assert bad == pytest.approx(np.logaddexp(np.log(odds), -score) + score, rel=1e-13)
        assert (
            mistakes == 1
            and np.isfinite(pulls).all()
            and pulls[0, place]
            == pytest.approx(
                -1 / (1 + np.exp(-min(score, 700)) / odds) if odds > 1 else -1 / (1 + np.exp(-min(score, 700)))
            )
        )


def test_the_core_refuses_what_would_read_outside_an_array() -> None:
    block = Block.of(np.ones((3, 2)), np.array([0, 1, 1]))
    labels = block.labels
    for bad in (
        {"labels": labels[:2]},
        {"labels": np.array([0, 1, 2], np.int32)},
        {"classes": 1},
        {"importance": np.ones(2)},
        {"importance": np.array([1, -1.0, 1])},
        {"importance": np.array([1, np.nan, 1])},
        {"order": np.array([0, 3])},
        {"order": np.array([-1])},
    ):
        with pytest.raises(ValueError):
            _core.Objective(**{"rows": block.rows, "labels": labels, "classes": 2, **bad})  # type: ignore[arg-type]
    of = _core.Objective(block.rows, labels, 2)
    rows, features, wrong = np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((4, 1))
    for call in (
        lambda: of.judge(wrong, rows),
        lambda: of.judge(rows, wrong),
        lambda: of.along(rows, wrong, 1),
        lambda: of.score(wrong, rows),
        lambda: of.gather(rows, wrong),
        lambda: of.product(features, rows, wrong),
        lambda: of.kernel(rows, rows.copy()),
        lambda: of.combine(rows, features),
        lambda: of.diagonal(np.zeros(1, np.uint32)),
        lambda: of.precondition(features, features.copy()),
        lambda: of.factorise(0, 1.0, np.zeros((0, 2), np.uint32), np.zeros(0)),
        lambda: of.factorise(1, 1.0, np.zeros((2, 2), np.uint32), np.zeros(1)),
        lambda: of.factorise(1, 1.0, np.array([[of.features, 0]], np.uint32), np.zeros(1)),
        lambda: of.factorise(1, 1.0, np.array([[0, 1]], np.uint32), np.zeros(1)),
    ):
        with pytest.raises(ValueError):
            call()
    of.turn(False)
    with pytest.raises(IndexError):
        of.diagonal(np.array([3], np.uint32))
    with pytest.raises(ValueError):
        of.sweep(np.zeros(2, np.uint32), features, np.zeros(1), features.copy(), rows, np.zeros(3), 0.1)


def test_the_cpu_levels_give_the_same_bits() -> None:
    program = """
import hashlib, itertools, numpy as np, scipy.sparse
from markone.data.blocks import Block
from markone.learning.learners import learner_for
from markone.learning.passes import teach
from markone.model.settings import Settings
random, digest = np.random.default_rng(5), hashlib.sha256()
for dtype, classes, width, penalty, solver in itertools.product(
    (np.float32, np.float64), (2, 3, 10, 37), (11, 101), ("l1", "l2"), ("newton", "ascent")
):
    X = random.normal(size=(60, width)) * (random.random((60, width)) < 0.7)
    y = random.integers(0, classes, 60)
    for matrix in (X, scipy.sparse.csr_array(X)):
        balance = None if penalty == "l1" else 0.1
        how = Settings(rule="logistic", solver=solver, penalty=penalty, strength=0.01, epochs=3, balance=balance)
        learner = learner_for(how, features=width, classes=classes, dtype=dtype)
        history = teach(learner, Block.of(matrix.astype(dtype), y))
        digest.update(learner.weights().matrix().tobytes())
        digest.update(repr([(one.mistakes, one.loss, one.objective, one.gap) for one in history]).encode())
print(digest.hexdigest())
"""
    check_levels(program)


# ---- the optimum


def problem(name: str) -> tuple[np.ndarray, np.ndarray]:
    load = {"iris": load_iris, "cancer": load_breast_cancer, "digits": load_digits, "wide": load_breast_cancer}[name]
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rows = {"wide": 25, "digits": 400}.get(name, len(y))
    return X[:rows], y[:rows]


def objective_of(model: Any, X: np.ndarray, y: np.ndarray, alpha: float, penalty: str = "l2") -> float:
    scores = X @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        loss = np.logaddexp(0, np.where(y == model.classes_[1], -scores[:, 0], scores[:, 0])).mean()
    else:
        right = scores[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        loss = (np.logaddexp.reduce(scores, axis=1) - right).mean()
    return float(loss + alpha * (abs(model.coef_).sum() if penalty == "l1" else (model.coef_**2).sum() / 2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("name", ["iris", "cancer", "digits", "wide"])
def test_the_optimum_is_scikit_learns(name: str, C: float, kind: str) -> None:
    X, y = problem(name)
    exact = Theirs(C=C, tol=1e-8, max_iter=20_000).fit(X, y)
    model = LogisticRegression(C=C, tol=1e-10).fit(scipy.sparse.csr_array(X) if kind == "sparse" else X, y)
    assert model.history_.stopped == "optimum" and model.history_[-1].gap <= 1e-10
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, exact.intercept_, atol=1e-4)
    best = objective_of(exact, X, y, 1 / (C * len(y)))
    assert objective_of(model, X, y, 1 / (C * len(y))) == pytest.approx(best, rel=1e-8)
    assert model.history_[-1].objective == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("name", ["iris", "cancer", "wide"])
def test_single_precision_comes_as_near_as_it_can(name: str) -> None:
    X, y = problem(name)
    double = LogisticRegression(tol=1e-9).fit(X, y)
    single = LogisticRegression(tol=1e-9).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-4)


@pytest.mark.parametrize("C", [0.02, 0.3])
@pytest.mark.parametrize("name", ["iris", "cancer", "digits", "wide"])
def test_with_l1_no_slope_is_left_and_the_rest_is_zero(name: str, C: float) -> None:
    X, y = problem(name)
    alpha = 1 / (C * len(y))
    model = LogisticRegression(penalty="l1", C=C, tol=1e-8).fit(X, y)
    assert model.history_.stopped == "optimum"
    numbers = np.searchsorted(model.classes_, y)
    pulls = model.predict_proba(X)
    pulls[np.arange(len(y)), numbers] -= 1
    gradient = (pulls.T @ X / len(y))[1:] if len(model.classes_) == 2 else pulls.T @ X / len(y)
    w = model.coef_
    slopes = np.where(w == 0, np.maximum(abs(gradient) - alpha, 0), abs(gradient + alpha * np.sign(w)))
    assert slopes.max() <= 2e-8 and abs(pulls.mean(axis=0)).max() <= 2e-8
    assert 0.1 < (w == 0).mean() <= 1
    if name in ("iris", "cancer"):  # where theirs comes near it, too
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exact = Theirs(penalty="l1", solver="saga", C=C, tol=1e-9, max_iter=20_000).fit(X, y)
        best = objective_of(exact, X, y, alpha, "l1")
        assert objective_of(model, X, y, alpha, "l1") == pytest.approx(best, rel=1e-6)
        assert objective_of(model, X, y, alpha, "l1") <= best * (1 + 1e-9)
        np.testing.assert_allclose(w, exact.coef_, atol=1e-3)


@given(data(most_classes=4), st.sampled_from([0.03, 0.3]), st.sampled_from([None, 0.0, 0.2]), st.sampled_from(KINDS))
def test_random_problems_have_the_references_optimum(
    sample: Data, strength: float, balance: float | None, kind: str
) -> None:
    sample = sample.with_all_classes()
    sample.X = sample.X[:, :5]
    bias = balance is not None
    how = Settings(rule="logistic", solver="newton", strength=strength, bias=bias, balance=balance, tol=1e-10)
    learner = Newton(how, features=sample.X.shape[1], classes=sample.classes)
    history = teach(learner, sample.block(kind))
    examples = sample.examples()
    expected = reference.newton(examples, sample.classes, strength, steps=12, bias=bias, balance=balance or 0.0)
    w = np.vstack([learner.weights().matrix(), learner.weights().bias()])
    names = [*range(learner.features), reference.BIAS]
    want = np.array([[vector.get(name, 0.0) for vector in expected.values()] for name in names])
    if sample.classes > 2:
        want[-1] -= want[-1].mean()  # softmax is indifferent to what is added to all
    np.testing.assert_allclose(w, want, atol=1e-6)
    least = reference.logistic_objective(expected, examples, sample.classes, strength, balance=balance or 0.0)
    assert history[-1].objective == pytest.approx(least, rel=1e-9)
    assert history[-1].norm2 == pytest.approx(float((w**2).sum()), rel=1e-6, abs=1e-12)
    assert learner.course().done and history.stopped == "optimum"


@given(data(most_classes=4), st.sampled_from([None, 0.0, 0.2]))
def test_sums_of_rows_and_weights_lead_to_the_same_place(sample: Data, balance: float | None) -> None:
    sample = sample.with_all_classes()
    how = Settings(
        rule="logistic", solver="newton", strength=0.05, bias=balance is not None, balance=balance, tol=1e-11
    ).spelled_out()
    found = []
    for way in (NewtonInRows(sample.objective(), how), NewtonInWeights(sample.objective("sparse"), how, None)):
        for _ in range(60):
            way.step(1e-11)
            if way.gap <= 1e-11:
                break
        found.append(way.weights())
        assert way.norm2() == pytest.approx(float((found[-1] ** 2).sum()), rel=1e-9)
    np.testing.assert_allclose(*found, atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_balance_is_about_mean_scores_whatever_the_features_are_counted_from(classes: int) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 4)), random.integers(0, 5, 80) % classes
    found = []
    for shift, balance in ((0.0, 0.0), (0.0, 0.5), (7.0, 0.5), (0.0, 1e6)):
        how = Settings(rule="logistic", solver="newton", strength=0.01, balance=balance, tol=1e-10)
        learner = Newton(how, features=4, classes=classes)
        block = Block.of(X + shift, y)
        teach(learner, block)
        found.append(np.asarray(learner.scores(block.rows)))
    free, balanced, shifted, level = found
    assert abs(balanced.mean(axis=0)).max() < 0.7 * abs(free.mean(axis=0)).max()
    np.testing.assert_allclose(shifted, balanced, atol=1e-6)
    np.testing.assert_allclose(level.mean(axis=0), 0, atol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of steps that are the same anyway
@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("solver", ["newton", "ascent"])
@pytest.mark.parametrize("name", ["iris", "cancer", "wide"])
def test_importance_is_how_often_an_example_counts(name: str, solver: str, penalty: str) -> None:
    X, y = problem(name)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    how = {"solver": solver, "penalty": penalty, "alpha": 0.05, "tol": 1e-8}
    weighted = LogisticRegression(**how).fit(X, y, sample_weight=times)
    repeated = LogisticRegression(**how).fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    absent = LogisticRegression(**how).fit(X[times > 0], y[times > 0], sample_weight=times[times > 0])
    np.testing.assert_array_equal(weighted.coef_, absent.coef_)
    np.testing.assert_array_equal(weighted.intercept_, absent.intercept_)


def test_each_shape_and_penalty_has_its_way() -> None:
    def way(rows: int, features: int, **more: Any) -> Any:
        how = Settings(rule="logistic", solver="newton", **more)
        learner = Newton(how, features=features, classes=2)
        block = Block.of(np.random.default_rng(0).normal(size=(rows, features)), np.arange(rows) % 2)
        learner.begin(BlockExamples(block, how))
        return type(learner._descent)

    assert way(9, 3) is NewtonInWeights and way(3, 9) is NewtonInRows
    assert way(3, 9, penalty="l1") is NewtonL1
    assert way(3, 9, penalty="l1", strength=0) is NewtonInRows  # without a penalty there are no corners


def test_many_features_are_preconditioned_by_the_diagonal() -> None:
    random = np.random.default_rng(0)
    X = scipy.sparse.csr_array(scipy.sparse.random(1400, 1300, density=0.01, random_state=random))
    X.data *= np.exp(2 * random.normal(size=X.nnz))  # features of very different size
    y = random.integers(0, 3, 1400)
    model = LogisticRegression(tol=1e-8).fit(X, y)
    assert model.history_.stopped == "optimum"
    pulls = model.predict_proba(X)
    pulls[np.arange(len(y)), y] -= 1
    assert abs(pulls.T @ X / len(y) + model.coef_ / len(y)).max() <= 2e-8 and abs(pulls.mean(axis=0)).max() <= 2e-8


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("solver", ["newton", "ascent"])
def test_what_can_be_separated_without_a_penalty_ends_with_finite_weights(solver: str, penalty: str) -> None:
    X, y = load_iris(return_X_y=True)
    for rows, columns in ((100, 4), (150, 4), (3, 4)):
        some = np.linspace(0, rows - 1, rows).astype(int) if rows > 3 else np.array([0, 60, 120])
        how = Settings(rule="logistic", solver=solver, penalty=penalty, strength=0, tol=1e-300, epochs=60)
        learner = (Newton if solver == "newton" else Ascent)(how, features=columns, classes=len(set(y[some].tolist())))
        history = teach(learner, Block.of(X[some], y[some]))
        assert np.isfinite(learner.weights().matrix()).all() and np.isfinite(learner.weights().bias()).all()
        assert all(np.isfinite([one.objective, one.gap, one.norm2]).all() for one in history)
        assert history[-1].objective < history[0].objective
    with pytest.warns(ConvergenceWarning, match="has not converged to tol"):
        LogisticRegression(penalty=None, solver="ascent", max_iter=10, tol=1e-12).fit(X[:100], y[:100])


@pytest.mark.parametrize(
    "how",
    [
        {"strength": 1e300},  # so large that squares of what it leaves are 0
        {"strength": 0.01, "tol": 0},
        {"strength": 0, "tol": 0},
        {"strength": 0.01, "tol": 0, "penalty": "l1"},
    ],
)
def test_newton_stops_where_it_can_go_no_further(how: dict[str, Any]) -> None:
    X, y = load_iris(return_X_y=True)
    settings = Settings(rule="logistic", solver="newton", **how)
    learner = Newton(settings, features=4, classes=3)
    history = teach(learner, Block.of(X, y))
    assert history.stopped == "converged" and len(history) < 100
    assert [one.updates for one in history] == [150] * (len(history) - 1) + [0]
    if len(history) > 1:
        before = Newton(replace(settings, epochs=len(history) - 1), features=4, classes=3)
        teach(before, Block.of(X, y))
        np.testing.assert_array_equal(before.weights().matrix(), learner.weights().matrix())
        assert history[-1].gap is not None and history[-1].gap < 1e-8


def test_newton_in_the_span_of_rows_stops_where_it_can_go_no_further() -> None:
    X, y = np.random.default_rng(0).normal(size=(8, 20)), np.arange(8) % 2
    learner = Newton(Settings(rule="logistic", solver="newton", strength=0.01, tol=0), features=20, classes=2)
    history = teach(learner, Block.of(X, y))
    assert history.stopped == "converged" and 1 < len(history) < 100
    assert history[-1].gap is not None and history[-1].gap < 1e-14


def test_ascent_stops_where_a_step_is_too_short_to_move_anything() -> None:
    X, y = np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([0, 1, 0, 1])
    learner = Ascent(Settings(rule="logistic", solver="ascent", tol=-1.0), features=1, classes=2)
    assert teach(learner, Block.of(X, y)).stopped == "converged"


def test_a_fit_that_comes_no_nearer_warns() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"After \d+ passes nothing changes any more"):
        LogisticRegression(tol=0).fit(X, y)


def test_a_class_that_is_told_apart_by_far_holds_up_nothing_without_a_penalty() -> None:
    """Its rows say next to nothing about the curvature, but there is nothing else to go by."""
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(penalty=None, tol=1e-6).fit(X, y)
    assert model.history_.stopped == "optimum" and model.n_iter_ < 30
    theirs = Theirs(C=np.inf, tol=1e-8, max_iter=100_000).fit(X, y)
    losses = [-np.log(found.predict_proba(X)[np.arange(150), y]).mean() for found in (model, theirs)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


def test_rows_of_zeros_have_only_a_bias() -> None:
    for solver in ("newton", "ascent"):
        for penalty in ("l1", "l2"):
            how = {"solver": solver, "penalty": penalty, "tol": 1e-9, "max_iter": 1000}
            model = LogisticRegression(**how).fit(np.zeros((4, 2)), [0, 1, 1, 1])
            assert (model.coef_ == 0).all()
            np.testing.assert_allclose(model.intercept_, np.log(3), rtol=1e-6)
            wide = LogisticRegression(**how).fit(np.zeros((4, 9)), [0, 1, 1, 1])
            np.testing.assert_allclose(wide.intercept_, np.log(3), rtol=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            none = LogisticRegression(solver=solver, fit_intercept=False).fit(np.zeros((4, 2)), [0, 1, 1, 1])
        assert none.predict_proba([[0, 0]]).tolist() == [[0.5, 0.5]]


# ---- gradient ascent


@pytest.mark.parametrize(("gradient", "eta"), [(None, 0.03), ("sum", 0.03), ("mean", 0.5)])
@given(data(most_classes=4), st.sampled_from([None, 0.0, 0.2]), st.sampled_from([0.0, 0.1]), st.sampled_from(KINDS))
def test_ascent_is_the_lectures(
    gradient: Any, eta: float, sample: Data, balance: float | None, strength: float, kind: str
) -> None:
    sample.order = np.arange(len(sample.y))
    bias, cost = balance is not None, balance or 0.0
    steps: dict[str, Any] = {"solver": "ascent", "gradient": gradient, "eta": eta, "epochs": 4, "tol": 0}
    how = Settings(rule="logistic", strength=strength, bias=bias, balance=balance, **steps)
    learner = Ascent(how, features=sample.X.shape[1], classes=sample.classes)
    history = teach(learner, sample.block(kind))
    expected = reference.ascend(
        sample.examples(), sample.classes, eta, len(history), strength, bias, cost, gradient or "sum"
    )
    w = np.vstack([learner.weights().matrix(), learner.weights().bias()])
    names = [*range(learner.features), reference.BIAS]
    want = [[vector.get(name, 0.0) for vector in expected.values()] for name in names]
    np.testing.assert_allclose(w, want, rtol=1e-9, atol=1e-12)
    least = reference.logistic_objective(expected, sample.examples(), sample.classes, strength, balance=cost)
    assert history[-1].objective == pytest.approx(least, rel=1e-10)


@pytest.mark.parametrize(("gradient", "divisor"), [(None, 1), ("sum", 1), ("mean", 3)])
def test_one_step_of_ascent_by_hand(gradient: str | None, divisor: int) -> None:
    # w += eta Σ [y − P] x, where P is 1/2 at first: −1/2 of the first row, and 1/2 of the others.
    X, y = np.array([[2.0, 0.0], [0.0, 4.0], [6.0, 2.0]]), np.array([0, 1, 1])
    model = LogisticRegression(solver="ascent", gradient=gradient, eta0=0.3, penalty=None, max_iter=1, tol=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    np.testing.assert_allclose(model.coef_[0], np.array([-1 + 3, 2 + 1]) * 0.3 / divisor, rtol=1e-12)
    np.testing.assert_allclose(model.intercept_[0], 0.5 * 0.3 / divisor, rtol=1e-12)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_sum_is_the_mean_with_a_rate_per_row(classes: int, penalty: str) -> None:
    random = np.random.default_rng(3)
    X, y, h = random.normal(size=(64, 4)), random.integers(0, classes, 64), random.choice([0.5, 1.0, 3.0], 64)
    rows = float(h.sum())

    def fitted(**how: Any) -> np.ndarray:
        model = LogisticRegression(solver="ascent", penalty=penalty, alpha=0.01, tol=1e-6, max_iter=10_000, **how)
        found: np.ndarray = model.fit(X, y, sample_weight=h).coef_
        return found

    usual = fitted()
    np.testing.assert_array_equal(usual, fitted(gradient="mean"))  # the default rates make the same steps
    np.testing.assert_allclose(usual, fitted(gradient="sum", eta0=0.5 / rows), atol=1e-4)  # the optimum is the same
    np.testing.assert_allclose(
        fitted(gradient="sum", eta0=0.5 / rows), fitted(gradient="mean", eta0=0.5), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("name", ["iris", "cancer", "digits", "wide"])
def test_with_the_safe_rate_every_step_goes_down_and_the_last_is_at_the_optimum(name: str, penalty: str) -> None:
    X, y = problem(name)
    for scale in (1.0, 30.0):
        steps = LogisticRegression(solver="ascent", penalty=penalty, alpha=0.05, tol=1e-9, max_iter=30)
        with pytest.warns(ConvergenceWarning):
            steps.fit(scale * X + (scale > 1), y)
        objectives = [one.objective for one in steps.history_]
        assert (np.diff(objectives) < 0).all()
    if name in ("digits", "wide"):
        return  # it would take long
    how = {"penalty": penalty, "alpha": 0.05, "tol": 1e-7, "max_iter": 100_000}
    ascent, newton = (LogisticRegression(solver=solver, **how).fit(X, y) for solver in ("ascent", "newton"))
    np.testing.assert_allclose(ascent.coef_, newton.coef_, atol=1e-4)
    np.testing.assert_array_equal(ascent.coef_ == 0, newton.coef_ == 0)


def test_a_rate_that_is_too_large_is_said() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="lower the rate"), np.errstate(all="ignore"):
        LogisticRegression(solver="ascent", eta0=1e200, penalty="l2", alpha=1e200).fit(1e100 * X, y)


def test_the_lectures_review() -> None:
    x: dict[Any, float] = {"positive": 3, "negative": 2, "no": 1, "pronouns": 3, "!": 0, "length": 4.15}
    w: dict[Any, float] = {"positive": 2.5, "negative": -5.0, "no": -1.2, "pronouns": 0.5, "!": 2.0, "length": 0.7}
    w[reference.BIAS] = 0.1
    np.testing.assert_allclose(reference.probabilities({1: w}, x, 2), [0.31, 0.69], atol=0.005)
    assert round(reference.logistic_objective({1: w}, [(x, 1, 1)], 2), 2) == 0.37
    assert round(reference.logistic_objective({1: w}, [(x, 0, 1)], 2), 2) == 1.17
    of = _core.Objective(Block.of(np.array([list(x.values())]), np.array([1])).rows, np.array([1], np.int32), 2)
    assert round(judged(of, np.array([list(w.values())]).T)[0], 2) == 0.37


# ---- going on


WAYS = [
    ("newton", "l2", (40, 6)),
    ("newton", "l2", (12, 30)),
    ("newton", "l1", (40, 6)),
    ("ascent", "l2", (40, 6)),
    ("ascent", "l1", (12, 30)),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("solver", "penalty", "shape"), WAYS)
def test_a_state_goes_on_to_the_bit(solver: str, penalty: str, shape: tuple[int, int], classes: int) -> None:
    random = np.random.default_rng(1)
    X, y = random.normal(size=shape), random.integers(0, classes, shape[0])
    balance = None if penalty == "l1" else 0.1
    how = Settings(rule="logistic", solver=solver, penalty=penalty, strength=0.01, balance=balance, tol=0)
    examples = BlockExamples(Block.of(X, y), how)

    def begun() -> Any:
        learner = (Newton if solver == "newton" else Ascent)(how, features=shape[1], classes=classes)
        learner.begin(examples)
        return learner

    def go_on(learner: Any, first: int, last: int) -> list[Any]:
        told = []
        for epoch in range(first, last + 1):
            told += [tally for tally, _ in learner.learn_pass(examples, epoch, 0)] + [learner.course()]
        return told

    whole = begun()
    told = go_on(whole, 1, 5)
    first, second = begun(), begun()
    before = go_on(first, 1, 2)
    state = first.get_state()
    go_on(first, 3, 3)  # a state is a copy
    second.check_state(state)
    second.set_state(state)
    assert before + go_on(second, 3, 5) == told
    for name, array in whole.get_state().items():
        np.testing.assert_array_equal(array, second.get_state()[name])
    assert list(second.learn_pass(examples, 6, shape[0])) == []  # the step was made before it was saved


@pytest.mark.parametrize(("solver", "penalty", "shape"), WAYS[:3])
def test_a_damaged_state_is_refused(solver: str, penalty: str, shape: tuple[int, int]) -> None:
    X = np.random.default_rng(1).normal(size=shape)
    how = Settings(rule="logistic", solver=solver, penalty=penalty)
    learner = Newton(how, features=shape[1], classes=2)
    learner.begin(BlockExamples(Block.of(X, np.arange(shape[0]) % 2), how))
    state = learner.get_state()
    name = next(iter(state))
    for bad in (
        {},
        {**state, "more": np.zeros(1)},
        {**state, name: state[name][1:]},
        {**state, name: state[name].astype(np.float32)},
        {**state, name: np.full_like(state[name], np.nan)},
    ):
        with pytest.raises(DataError, match="damaged"):
            learner.check_state(bad)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_a_training_is_resumed_to_the_bit_and_its_file_tells_how_near_it_came(tmp_path: Path, penalty: str) -> None:
    random = np.random.default_rng(0)
    words = [" ".join(random.choice(list("abcdefghij"), 6)) for _ in range(60)]
    labels = ["yes" if "a" in text and "b" not in text else "no" for text in words]
    how: dict[str, Any] = {"rule": "logistic", "solver": "newton", "penalty": penalty, "strength": 0.01, "tol": 1e-9}
    whole = markone.train(words, target=labels, **how)
    assert whole.history.stopped == "optimum" and len(whole.history) > 3
    kept = tmp_path / "kept.model"
    markone.train(words, target=labels, epochs=2, checkpoint=kept, **how)
    resumed = markone.train(words, target=labels, epochs=whole.settings.epochs, resume=kept)
    for ours, theirs in zip(resumed.weight_arrays(), whole.weight_arrays(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    whole.save(tmp_path / "whole.model")
    loaded = markone.load(tmp_path / "whole.model")
    assert [one.gap for one in loaded.history] == [one.gap for one in whole.history]
    assert loaded.history[-1].gap <= 1e-9 < loaded.history[-2].gap
    np.testing.assert_array_equal(loaded.probabilities(words), whole.probabilities(words))


def test_rows_that_are_held_out_are_not_learned_from() -> None:
    X, y = problem("cancer")
    how = Settings(rule="logistic", solver="newton", holdout=0.3, tol=1e-9)
    learner = Newton(how, features=X.shape[1], classes=2)
    history = teach(learner, Block.of(X, y))
    examples = BlockExamples(Block.of(X, y), how)
    _, chosen = examples.whole()
    assert chosen is not None and history[-1].holdout is not None and history[-1].holdout > 0.9
    alone = LogisticRegression(alpha=learner.settings.strength, tol=1e-9).fit(X[chosen], y[chosen])
    np.testing.assert_array_equal(alone.coef_.T, learner.weights().matrix())


# ---- the estimator


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks([LogisticRegression(tol=1e-8)])
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks([LogisticRegression(penalty="l1", tol=1e-9), LogisticRegression(solver="ascent")])
def test_scikit_learns_own_checks_of_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_parameters_mean_what_they_mean_to_scikit_learn() -> None:
    X, y = problem("cancer")
    weights = np.random.default_rng(0).random(len(y))
    ours = LogisticRegression(C=0.5, tol=1e-9, fit_intercept=False, class_weight={0: 2.0})
    theirs = Theirs(C=0.5, tol=1e-9, fit_intercept=False, class_weight={0: 2.0}, max_iter=10_000)
    np.testing.assert_allclose(
        ours.fit(X, y, weights).coef_, theirs.fit(X, y, weights).coef_, atol=1e-4
    )  # the third argument, too
    assert ours.intercept_.tolist() == [0]
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    by_alpha = LogisticRegression(alpha=1 / (0.5 * len(y)), C=99, tol=1e-9).fit(X, y)  # alpha wins
    np.testing.assert_array_equal(by_alpha.coef_, LogisticRegression(C=0.5, tol=1e-9).fit(X, y).coef_)
    free, cheap = (LogisticRegression(penalty=p, C=C, tol=1e-6).fit(X, y) for p, C in ((None, 1e-3), ("l2", 1e9)))
    assert abs(free.coef_).max() > abs(LogisticRegression(C=1e-3).fit(X, y).coef_).max()
    assert free.score(X, y) == cheap.score(X, y) == 1


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"solver": "lbfgs"}, "solver"),
        ({"solver": "newton", "learning_rate": "optimal"}, "learning_rate"),
        ({"solver": "newton", "eta0": 0.1}, "eta0"),
        ({"solver": "ascent", "average": True}, "average"),
        ({"solver": "newton", "shuffle": False}, "shuffle"),
        ({"solver": "newton", "gradient": "mean"}, "gradient"),
        ({"solver": "ascent", "gradient": "median"}, "gradient"),
        ({"solver": "online", "learning_rate": "optimum"}, "learning_rate"),
        ({"C": 0}, "C"),
        ({"C": "1"}, "C"),
        ({"alpha": -1.0}, "alpha"),
        ({"penalty": "l3"}, "penalty"),
        ({"tol": "small"}, "tol"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_a_parameter_without_sense_is_named(wrong: dict[str, Any], name: str) -> None:
    with pytest.raises(SettingsError) as error:
        LogisticRegression(**wrong).fit([[0.0], [1.0]], [0, 1])
    assert str(error.value).startswith(name)


def test_partial_fit_is_for_the_online_solver() -> None:
    X, y = load_iris(return_X_y=True)
    assert not hasattr(LogisticRegression(), "partial_fit")
    with pytest.raises(AttributeError) as error:
        _ = LogisticRegression(solver="ascent").partial_fit
    assert "set solver='online'" in str(error.value.__cause__)
    online = LogisticRegression(solver="online").partial_fit(X, y)
    np.testing.assert_array_equal(online.coef_, LogisticRegression(solver="online", alpha=1e-4).partial_fit(X, y).coef_)
    with pytest.raises(SettingsError, match="set alpha"):
        LogisticRegression(solver="online", C=2.0).partial_fit(X, y)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("name", ["iris", "wide"])
def test_a_warm_start_is_near_the_end(name: str, penalty: str) -> None:
    X, y = problem(name)
    model = LogisticRegression(warm_start=True, penalty=penalty, tol=1e-6).fit(X, y)
    first = model.n_iter_
    model.set_params(C=1.1).fit(X, y)
    assert model.n_iter_ < first
    cold = LogisticRegression(C=1.1, penalty=penalty, tol=1e-6)
    np.testing.assert_allclose(model.coef_, cold.fit(X, y).coef_, atol=0.01)
    cold.fit(X, y, coef_init=model.coef_, intercept_init=model.intercept_)
    assert cold.n_iter_ == 1
    with pytest.raises(DataError, match="coef_init must have the shape"):
        cold.fit(X, y, coef_init=np.zeros((7, 7)))
    with pytest.raises(DataError, match="NaN"):
        cold.fit(X, y, coef_init=np.full_like(model.coef_, np.nan))


def test_a_warm_start_meets_new_classes() -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(warm_start=True, tol=1e-9).fit(X[:100], y[:100])
    before = model.decision_function(X)
    model.max_iter, model.tol = 1, 1e9
    learner = model._learner
    learner.grow(features=4, classes=3, places=[0, 2])  # type: ignore[attr-defined]
    scores = learner.scores(Block.of(X, y).rows)
    np.testing.assert_allclose(scores[:, 2] - scores[:, 0], before, rtol=1e-12)
    again = LogisticRegression(warm_start=True, tol=1e-9).fit(X[:100], y[:100])
    again.fit(X, y)
    assert again.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(again.coef_, LogisticRegression(tol=1e-9).fit(X, y).coef_, atol=1e-4)
    again.fit(X[:100], y[:100])  # a class that does not come any more is not forgotten
    assert again.coef_.shape == (3, 4) and again.predict(X[:100]).tolist() == y[:100].tolist()


def test_a_fitted_model_keeps_nothing_of_the_rows_and_can_be_pickled() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2000))
    y = np.arange(50) % 2
    model = LogisticRegression().fit(X, y)
    kept = pickle.dumps(model)
    assert len(kept) < 60_000 < X.nbytes
    twin = pickle.loads(kept)
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(twin.coef_, model.coef_)
    assert clone(model).get_params() == model.get_params()


def test_early_stopping_watches_the_rows_that_are_held_out() -> None:
    X, y = problem("cancer")
    random = np.random.default_rng(0)
    y = np.where(random.random(len(y)) < 0.2, 1 - y, y)
    model = LogisticRegression(C=1e6, early_stopping=True, n_iter_no_change=1, tol=1e-9, validation_fraction=0.3)
    model.fit(X, y)
    assert model.history_.stopped == "held-out" and model.history_[0].holdout is not None
    watched = LogisticRegression(C=1e6, early_stopping=True, n_iter_no_change=1, tol=1e-9)
    assert watched.fit(X[:400], y[:400], X_val=X[400:], y_val=y[400:]).history_.held_out == len(y) - 400


def test_probabilities_are_as_frequent_as_they_say() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 3))
    chance = 1 / (1 + np.exp(-X @ [2.0, -1.0, 0.5] + 0.3))
    y = (random.random(20_000) < chance).astype(int)
    model = LogisticRegression(C=1e6, tol=1e-8).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(p[:, 1], chance, atol=0.08)
    for low in np.arange(0, 1, 0.1):
        inside = (p[:, 1] >= low) & (p[:, 1] < low + 0.1)
        assert y[inside].mean() == pytest.approx(p[inside, 1].mean(), abs=0.04)
    assert p[:, 1].mean() == pytest.approx(y.mean(), abs=1e-7)  # what a free bias brings


# ---- what cannot be


def test_weights_that_outgrow_the_rows_type_get_a_sentence() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    with pytest.raises(DataError, match="training diverged"):
        markone.train(X, target=np.arange(40) % 2, rule="logistic", solver="ascent", eta=1e6, epochs=20)


def test_a_model_goes_on_only_online() -> None:
    texts, labels = ["a b", "b c", "a a", "c c"] * 4, ["x", "y", "x", "y"] * 4
    model = markone.train(texts, target=labels, rule="logistic", solver="newton")
    with pytest.raises(SettingsError, match="solver is 'newton', which needs all rows at once .* solver 'online'"):
        markone.train(texts, target=labels, from_model=model, solver="newton")
    hows: list[dict[str, Any]] = [{}, {"solver": "online"}]
    for how in hows:
        on = markone.train(texts, target=labels, from_model=model, **how)
        assert (on.settings.solver, on.settings.epochs, on.settings.penalty) == ("online", 10, None)
    from_mira = markone.train(texts, target=labels, from_model=markone.train(texts, target=labels), rule="logistic")
    assert from_mira.settings.solver == "online"


@pytest.mark.parametrize("solver", ["newton", "online"])
def test_a_weight_beyond_32_bits_gets_a_sentence(solver: str) -> None:
    with pytest.raises(DataError, match=r"a weight of 1e\+300 is too large"):
        LogisticRegression(solver=solver).fit([[0.0], [1.0]], [0, 1], sample_weight=[1e300, 1.0])
