"""Naive Bayes: against its plain twin, against scikit-learn, and against really leaving a row out."""

from __future__ import annotations

import copy
import itertools
import math
import os
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import markone
from levels import check_levels
from markone import DataError, NaiveBayes, Settings, SettingsError, _core, reference
from markone.data.blocks import Block
from markone.features.event_kinds import Group, one_group
from markone.learning.naive_bayes import Counting, leave_one_out, leave_one_out_predictions
from markone.model.evaluation import log_probabilities
from markone.model.events import Events
from markone.model.naive_bayes import NaiveBayes as Scorer
from markone.model.naive_bayes import Smoothing, priors_of
from markone.model.odds import OddsExplanation
from markone.storage.saved import Saved

DATA = Path(__file__).parents[1] / os.environ.get("MARKONE_DATA", "../shared/data")

WORDS, THERE, VALUES, NUMBERS = slice(0, 12), slice(12, 17), slice(17, 21), slice(21, 24)
GROUPS = (
    Group("multinomial", 0, 12),
    Group("bernoulli", 12, 17),
    Group("categorical", 17, 21),
    Group("gaussian", 21, 24, missing=((22, 24),)),
)
SMOOTHINGS: list[dict[str, Any]] = [{"k": 1.0}, {"k": 0.3}, {"k": 0.0}, {"alpha": 0.7}, {"alpha": 1.0}, {"alpha": 0.0}]


@dataclass
class Table:
    """Words, features that are there or not, a column of categories, and numbers, one of which may be missing."""

    X: np.ndarray
    y: np.ndarray
    classes: int

    def block(self, kind: str = "dense", importance: Any = None, which: Any = slice(None), dtype: Any = None) -> Block:
        X = self.X[which].astype(dtype or self.X.dtype)
        importance = None if importance is None else importance[which]
        return Block.of(scipy.sparse.csr_array(X) if kind == "sparse" else X, self.y[which], importance)


def mixed(classes: int, rows: int = 60, seed: int = 0) -> Table:
    random = np.random.default_rng(seed)
    parts = [
        random.poisson(0.3, (rows, 12)),
        random.random((rows, 5)) < 0.4,
        np.eye(4)[random.integers(0, 4, rows)] * (random.random((rows, 1)) < 0.8),
        random.normal(size=(rows, 3)),
        random.random((rows, 1)) < 0.2,
    ]
    return Table(np.hstack(parts).astype(np.float32), random.integers(0, classes, rows), classes)


def counting(block: Block, classes: int, groups: Any = GROUPS, priors: str = "data", **how: Any) -> Counting:
    found = Counting(
        Settings(rule="naive-bayes", priors=priors, **how), features=block.rows.width, classes=classes, groups=groups
    )
    found.learn(found.ready(block))
    return found


# ---- the worked numbers


def test_draws_r_r_b() -> None:
    """Through the whole of it: texts, counts, and a model's own table."""
    model = markone.train(["r r b", "g"], target=["drawn", "other"], rule="naive-bayes", k=0, holdout=0.0)
    for k, expected in ((0, Fraction(2, 3)), (1, Fraction(3, 5)), (100, Fraction(102, 203))):
        assert reference.laplace({"r": 2, "b": 1}, k)["r"] == expected
        events = Events.none(one_group("multinomial", 2), 2, 1)
        events.add(Block.of(np.array([[2.0, 1.0]]), np.array([0])))
        assert Scorer(events, Smoothing(k=k)).probabilities()[0, 0] == pytest.approx(float(expected), abs=1e-15)
    counted = model.explain().classes[0]
    assert counted.label == "drawn" and [(one.feature, one.probability) for one in counted.likely] == [
        ("r", pytest.approx(2 / 3)),
        ("b", pytest.approx(1 / 3)),
    ]


def test_the_lectures_priors() -> None:
    """0.66 and 0.33, which do not add up to 1; the table of the spam example starts at -1.1 and -0.4."""
    texts, labels = ["free money now", "see you", "the vote"], ["spam", "ham", "ham"]
    priors = {"ham": 0.66, "spam": 0.33}
    model = markone.train(texts, target=labels, rule="naive-bayes", priors=priors, holdout=0.0)
    starts = dict(zip(model.classes, model.scorer.joint.starts()[0].round(1).tolist(), strict=True))
    assert starts == {"spam": -1.1, "ham": -0.4}
    assert model.probabilities("").tolist() == pytest.approx(
        [1 / 3 if label == "spam" else 2 / 3 for label in model.classes]
    )
    uniform = markone.train(texts, target=labels, rule="naive-bayes", priors="uniform", holdout=0.0)
    assert uniform.probabilities("").tolist() == pytest.approx([0.5, 0.5])


def test_a_mixture_of_the_class_and_of_all() -> None:
    own, general = {"r": Fraction(2, 3), "b": Fraction(1, 3)}, {"r": Fraction(1, 2), "b": Fraction(1, 2)}
    assert reference.interpolated(own, general, Fraction(1, 2)) == {"r": Fraction(7, 12), "b": Fraction(5, 12)}
    assert reference.interpolated(own, general, 1) == own and reference.interpolated(own, general, 0) == general


# ---- against the twin


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    rows, features, classes = draw(st.integers(1, 12)), draw(st.integers(1, 6)), draw(st.integers(2, 6))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random.poisson(draw(st.sampled_from([0.2, 0.7, 2.0])), (rows, features)).astype(np.float32)
    importance = random.integers(0, 4, rows) if draw(st.booleans()) else np.ones(rows)
    return X, random.integers(0, classes, rows), importance.astype(float), classes


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("likelihood", ["multinomial", "bernoulli"])
@given(
    problems(),
    st.sampled_from([0, Fraction(1, 2), 1, 30, None]),
    st.sampled_from([0, Fraction(1, 4), 1]),
    st.booleans(),
)
@example((np.array([[1, 0], [0, 1]], np.float32), np.array([0, 1]), np.ones(2), 2), 0, 0, True)
def test_scores_are_the_references(
    likelihood: str,
    kind: str,
    problem: tuple[np.ndarray, np.ndarray, np.ndarray, int],
    k: Any,
    alpha: Any,
    uniform: bool,
) -> None:
    """In fractions, of which the logarithm is taken at the end."""
    X, y, importance, classes = problem
    alpha = alpha if k is None else None
    priors = dict.fromkeys(range(classes), Fraction(1, classes)) if uniform or not importance.any() else None
    twin = reference.NaiveBayes(
        range(classes), range(X.shape[1]), k=k, alpha=alpha, bernoulli=likelihood == "bernoulli", priors=priors
    )
    examples = [{j: int(v) for j, v in enumerate(row) if v} for row in X]
    twin.learn(zip(examples, y.tolist(), importance.astype(int).tolist(), strict=True))
    how = {"k": float(k)} if alpha is None else {"alpha": float(alpha)}
    matrix = scipy.sparse.csr_array(X) if kind == "sparse" else X
    block = Block.of(matrix, y, importance)
    ours = counting(block, classes, one_group(likelihood, X.shape[1]), "uniform" if priors else "data", **how)  # type: ignore[arg-type]
    joint = ours.scorer().joint_scores(block.rows)
    scores = ours.scores(block.rows)
    assert not np.isnan(joint).any() and not np.isnan(scores).any()
    for i, row in enumerate(examples):
        expected = twin.log_joint(row)
        np.testing.assert_allclose(joint[i], list(expected.values()), rtol=1e-12, atol=1e-12)
        posterior = [float(p) for p in twin.posterior(row).values()]
        np.testing.assert_allclose(np.exp(log_probabilities(scores[i : i + 1])[0]), posterior, rtol=1e-9, atol=1e-12)
        if classes == 2:
            above, below = expected[1], expected[0]
            odds = math.inf if math.isinf(below) else above - below
            np.testing.assert_allclose(scores[i], [odds], rtol=1e-12, atol=1e-12)


@given(st.floats(5e-324, 1.7e308))
def test_the_logarithm_is_right_to_the_last_digit(x: float) -> None:
    assert abs(_core.log(np.array([x]))[0] - math.log(x)) <= np.spacing(abs(math.log(x)))


def test_odds_of_the_twin() -> None:
    twin = reference.NaiveBayes(["ham", "spam"], ["free", "see"], k=0)
    twin.learn([({"free": 2, "see": 1}, "spam", 1), ({"see": 1}, "ham", 1)])
    assert twin.odds("see", "ham", "spam") == 3 and twin.odds("free", "spam", "ham") == math.inf
    assert twin.posterior({"free": 1}) == {"ham": 0, "spam": 1}


# ---- against scikit-learn


def table_of(kind: str, classes: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(classes)
    y = random.integers(0, classes, 150)
    if kind == "gaussian":
        return random.normal(size=(150, 8)) * [1, 10, 0.3, 5, 1, 1, 1, 1] + y[:, None] / 3 + 100, y
    if kind == "categorical":
        return (random.integers(0, 3, (150, 8)) + (y[:, None] > 0)).astype(float), y
    return random.poisson(0.5 + y[:, None] / 9, (150, 8)).astype(float), y


PEERS: dict[str, Any] = {
    "multinomial": MultinomialNB(alpha=0.7),
    "bernoulli": BernoulliNB(alpha=0.7),
    "gaussian": GaussianNB(),
    "categorical": CategoricalNB(alpha=0.7),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("kind", PEERS)
def test_probabilities_are_scikit_learns(kind: str, classes: int, sparse: bool, dtype: Any, weighted: bool) -> None:
    X, y = table_of(kind, classes)
    X = X.astype(dtype)
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    theirs = clone(PEERS[kind]).fit(X.astype(float), y, sample_weight=weights)
    given_X = scipy.sparse.csr_array(X) if sparse else X
    ours = NaiveBayes(kind, alpha=0.7).fit(given_X, y, sample_weight=weights)
    # Theirs adds a share of a variance in which weights have no say.
    tolerance = 1e-6 if kind == "gaussian" and weighted else 1e-9
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        expected = getattr(theirs, method)(X.astype(float))
        np.testing.assert_allclose(getattr(ours, method)(given_X), expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(ours.predict(given_X), theirs.predict(X.astype(float)))
    np.testing.assert_allclose(ours.class_count_, theirs.class_count_)
    if kind == "gaussian":
        np.testing.assert_allclose(ours.theta_, theirs.theta_)
        np.testing.assert_allclose(ours.var_, theirs.var_, rtol=tolerance)
        return
    np.testing.assert_allclose(ours.class_log_prior_, theirs.class_log_prior_)
    their_counts = theirs.category_count_ if kind == "categorical" else theirs.feature_count_
    for mine, expected in zip(ours.feature_count_, their_counts, strict=True):
        np.testing.assert_allclose(mine, expected)
    for mine, expected in zip(ours.feature_log_prob_, theirs.feature_log_prob_, strict=True):
        np.testing.assert_allclose(mine, expected)


def test_columns_of_several_kinds_are_the_sum_of_their_logarithms() -> None:
    kinds = ["gaussian", "multinomial", "categorical", "bernoulli", "multinomial", "categorical", "gaussian"]
    tables = {kind: table_of(kind, 3)[0] for kind in PEERS}
    y = table_of("gaussian", 3)[1]
    X = np.column_stack([tables[kind][:, i] for i, kind in enumerate(kinds)])
    expected = np.zeros((len(y), 3))
    for kind, peer in PEERS.items():
        columns = [i for i, one in enumerate(kinds) if one == kind]
        peer = clone(peer).fit(X[:, columns], y)
        expected += peer.predict_joint_log_proba(X[:, columns]) - np.log(np.bincount(y) / len(y))
    ours = NaiveBayes(kinds, alpha=0.7).fit(X, y)
    joint = ours.predict_joint_log_proba(X)
    np.testing.assert_allclose(joint, expected + np.log(np.bincount(y) / len(y)), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_joint_log_proba(scipy.sparse.csr_array(X)), joint, rtol=1e-12)
    assert [len(column[0]) for column in ours.feature_count_] == [1, 1, 4, 1, 1, 4, 1]


def test_fit_prior_and_class_prior() -> None:
    X, y = table_of("multinomial", 3)
    for ours, theirs in (
        (NaiveBayes(fit_prior=False), MultinomialNB(fit_prior=False)),
        (NaiveBayes(class_prior=[0.2, 0.5, 0.3]), MultinomialNB(class_prior=[0.2, 0.5, 0.3])),
    ):
        np.testing.assert_allclose(ours.fit(X, y).predict_proba(X), theirs.fit(X, y).predict_proba(X), rtol=1e-9)


def test_binarize() -> None:
    X, y = table_of("gaussian", 2)
    X -= 100
    for binarize in (-0.5, None):
        there = X != 0 if binarize is None else binarize < X
        ours = NaiveBayes("bernoulli", binarize=binarize).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), BernoulliNB().fit(there, y).predict_proba(there), rtol=1e-9)
    with pytest.raises(SettingsError, match="binarize must be at least 0 for a sparse matrix"):
        NaiveBayes("bernoulli", binarize=-1.0).fit(scipy.sparse.csr_array(X), y)


def test_years_and_timestamps_keep_their_variance() -> None:
    """Values far from 0 and near each other, of which sums of squares in one double would have lost all."""
    random = np.random.default_rng(0)
    offset = 1.6e9
    X = offset + random.normal(size=(400, 1)) * 1e-2
    X = np.where(np.arange(400)[:, None] < 200, X, X + 0.03)
    y = np.repeat([0, 1], 200)
    ours = NaiveBayes("gaussian").fit(X, y)
    away = X - offset
    np.testing.assert_allclose(ours.var_[:, 0], [away[:200].var(), away[200:].var()], rtol=1e-6)
    assert ours.score(X, y) > 0.85


def expected_failures(estimator: NaiveBayes) -> dict[str, str]:
    if estimator.likelihood == "categorical" and sklearn.__version__.startswith("1.6."):
        return {
            "check_positive_only_tag_during_fit": "scikit-learn 1.6 takes a mean with a fraction from whole numbers"
        }
    return {}


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks([NaiveBayes(), NaiveBayes("gaussian")])
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(
    [NaiveBayes(interpolation=0.8), NaiveBayes("bernoulli"), NaiveBayes("categorical")],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_own_checks_of_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


# ---- what cannot be


def test_infinite_odds_and_no_nan() -> None:
    """Maximum likelihood, as the lecture shows it: one word that a class has not seen, and the class is out."""
    X = np.array([[2, 1, 0, 0], [0, 1, 1, 0]])
    model = NaiveBayes(alpha=0).fit(X, ["ham", "spam"])
    only_ham, only_spam, both, neither, nothing = [1, 0, 0, 0], [0, 0, 3, 0], [1, 0, 1, 0], [0, 0, 0, 5], [0, 0, 0, 0]
    rows = np.array([only_ham, only_spam, both, neither, nothing])
    assert model._scores(rows.astype(float)).ravel().tolist() == [-math.inf, math.inf, 0, 0, 0]
    assert model.predict_proba(rows).tolist() == [[1, 0], [0, 1], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    assert model.predict_log_proba(rows)[:2].tolist() == [[0, -math.inf], [-math.inf, 0]]
    joint = model.predict_joint_log_proba(rows)
    assert joint[0, 1] == -math.inf and joint[0, 0] == pytest.approx(math.log(0.5 * 2 / 3))
    np.testing.assert_allclose(joint[2:], math.log(0.5))  # the prior decides, and an unseen word says nothing


def test_where_all_is_impossible_the_prior_decides() -> None:
    X = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    model = NaiveBayes(alpha=0).fit(X, [0, 1, 1, 2])
    assert model.predict_proba([[1, 1, 1]]).tolist() == [[0.25, 0.5, 0.25]]
    assert NaiveBayes(alpha=0, class_prior=[0, 0.2, 0.8]).fit(X, [0, 1, 1, 2]).predict_proba([[1, 1, 1]])[0, 0] == 0


def test_what_is_always_there_cannot_be_absent() -> None:
    model = NaiveBayes("bernoulli", alpha=0).fit([[1, 1], [1, 0], [0, 1], [0, 0]], [0, 0, 1, 1])
    assert model.predict_proba([[1, 1], [0, 1]]).tolist() == [[1, 0], [0, 1]]
    always = NaiveBayes("bernoulli", alpha=0).fit([[1, 1], [1, 0]], [0, 1])
    assert always.predict_proba([[0, 1], [0, 0]]).tolist() == [[1, 0], [0, 1]]  # that it is absent, no class has seen


def test_numbers_without_any_variance_say_nothing() -> None:
    constant = NaiveBayes("gaussian").fit([[0.1], [0.1], [0.1]], [0, 1, 1])
    np.testing.assert_allclose(constant.predict_proba([[0.1], [7.0]]), [[1 / 3, 2 / 3]] * 2)
    unsmoothed = NaiveBayes("gaussian", var_smoothing=0).fit([[1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    found = unsmoothed.predict_log_proba([[1.0], [2.5], [1e200]])
    assert not np.isnan(found).any() and found.argmax(axis=1).tolist()[:2] == [0, 1]


def test_a_class_without_rows() -> None:
    X, y = table_of("multinomial", 2)
    model = NaiveBayes().partial_fit(X, y, classes=[0, 1, 2])
    assert (model.predict_proba(X)[:, 2] == 0).all()
    for kind, how in itertools.product(
        ("multinomial", "bernoulli", "gaussian"), ({"alpha": 0}, {"interpolation": 0.5})
    ):
        uniform = NaiveBayes(kind, fit_prior=False, **how).partial_fit(X, y, classes=[0, 1, 2])
        assert not np.isnan(uniform.predict_proba(X)).any()


# ---- counts add up


@pytest.mark.parametrize("how", SMOOTHINGS)
@pytest.mark.parametrize("classes", [2, 4])
def test_the_same_counts_in_any_order_and_any_parts(classes: int, how: dict[str, Any]) -> None:
    table = mixed(classes)
    whole = counting(table.block(), classes, **how)
    expected = whole.scores(table.block().rows)
    order = np.random.default_rng(1).permutation(len(table.y))
    parted = Counting(whole.settings, features=25, classes=classes, groups=GROUPS)
    for i, part in enumerate(np.array_split(order, 7)):
        parted.learn(table.block("sparse" if i % 2 else "dense", which=part))
    np.testing.assert_array_equal(parted.scores(table.block().rows), expected)
    one, other = (counting(table.block(which=part), classes, **how) for part in (order[:20], order[20:]))
    np.testing.assert_array_equal(one.scorer().merged(other.scorer()).scores(table.block("sparse").rows), expected)
    np.testing.assert_array_equal(
        counting(table.block(dtype=np.float64), classes, **how).scores(table.block().rows), expected
    )


def test_weight_three_is_three_rows_and_weight_zero_none() -> None:
    table = mixed(3)
    times = np.random.default_rng(0).integers(0, 4, len(table.y))
    weighted = counting(table.block(importance=times.astype(float)), 3)
    repeated = counting(table.block(which=np.repeat(np.arange(len(table.y)), times)), 3)
    np.testing.assert_array_equal(weighted.scores(table.block().rows), repeated.scores(table.block().rows))


@pytest.mark.parametrize("kind", PEERS)
def test_partial_fit_and_merge_are_fit(kind: str) -> None:
    X, y = table_of(kind, 4)
    X = X.astype(np.float32)
    order = np.argsort(y, kind="stable")  # classes come one after the other, and categories with them
    whole = NaiveBayes(kind).fit(X, y)
    parts, merged = NaiveBayes(kind), NaiveBayes(kind).partial_fit(X[order[:1]], y[order[:1]])
    for part in np.array_split(order, 9):
        parts.partial_fit(X[part], y[part])
    for part in np.array_split(order[1:], 3):
        merged.merge(NaiveBayes(kind).partial_fit(X[part], y[part]))
    for one in (parts, merged):
        np.testing.assert_array_equal(one.predict_log_proba(X), whole.predict_log_proba(X))
        assert one.classes_.tolist() == [0, 1, 2, 3]


def test_what_cannot_be_merged() -> None:
    X, y = table_of("multinomial", 2)
    with pytest.raises(DataError, match="same columns"):
        NaiveBayes().fit(X, y).merge(NaiveBayes("bernoulli").fit(X, y))
    with pytest.raises(DataError, match="same columns"):
        NaiveBayes().fit(X, y).merge(NaiveBayes().fit(X[:, 1:], y))
    with pytest.raises(DataError, match="another type"):
        NaiveBayes().fit(X, y).merge(NaiveBayes().fit(X, np.array(["a", "b"])[y]))


def test_a_category_that_is_new_says_nothing() -> None:
    model = NaiveBayes("categorical").fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])
    np.testing.assert_allclose(model.predict_proba([[9, 9]]), [[1 / 3, 2 / 3]])


def test_a_failed_partial_fit_changes_nothing() -> None:
    X, y = table_of("multinomial", 2)
    model = NaiveBayes().fit(X, y)
    before = model.predict_proba(X)
    for bad in (-X[:2], X[:2] * np.nan, X[:2] + 1e200):
        with pytest.raises(ValueError, match="row 0|NaN"):
            model.partial_fit(bad, [7, 8])
    assert model.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_copies_and_pickles_count_on_alike() -> None:
    X, y = table_of("categorical", 3)
    model = NaiveBayes("categorical").fit(X, y)
    before = model.predict_proba(X)
    twins = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for twin in twins:
        twin.partial_fit(X[:9], y[:9] + 1)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    for twin in twins[1:]:
        np.testing.assert_array_equal(twin.predict_proba(X), twins[0].predict_proba(X))


# ---- leaving one out


def scores_the_slow_way(table: Table, groups: Any, importance: Any, priors: str, how: dict[str, Any]) -> np.ndarray:
    found = []
    for i in range(len(table.y)):
        others = np.arange(len(table.y)) != i
        without = counting(table.block("dense", importance, others), table.classes, groups, priors, **how)
        found.append(without.scores(table.block(which=[i]).rows)[0])
    return np.array(found)


@pytest.mark.parametrize("how", SMOOTHINGS)
@pytest.mark.parametrize("classes", [2, 4])
def test_leaving_one_out_is_learning_without_it(classes: int, how: dict[str, Any]) -> None:
    """To the bit, where counts are whole numbers: all kinds together, and each alone."""
    random = np.random.default_rng(0)
    table = mixed(classes, rows=20)
    for groups, weights, priors in itertools.product(
        (GROUPS, *((group,) for group in GROUPS)), (None, "whole", "fractions"), ("data", "uniform")
    ):
        importance = (
            None if weights is None else random.integers(1, 4, 20) + (weights == "fractions") * random.random(20)
        )
        block = table.block("sparse", importance)
        counted = counting(block, classes, groups, priors, **how)
        fast = counted.scorer().scores_left_out(block)
        slow = scores_the_slow_way(table, groups, importance, priors, how)
        assert not np.isnan(fast).any()
        if weights == "fractions":
            np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-11)
        else:
            np.testing.assert_array_equal(fast, slow)
        np.testing.assert_array_equal(counted.scorer().scores_left_out(table.block("dense", importance)), fast)


def test_a_sweep_over_smoothings_tells_the_best() -> None:
    table = mixed(3, rows=80)
    block = table.block()
    counted = counting(block, 3)
    grid = [Smoothing(k=k) for k in (0.0, 0.1, 1.0, 10.0)] + [Smoothing(alpha=alpha) for alpha in (0.5, 0.9)]
    found = leave_one_out(counted, block, grid)
    for one, how in zip(found, grid, strict=True):
        settings = {"k": how.k} if how.alpha is None else {"alpha": how.alpha}
        slow = scores_the_slow_way(table, GROUPS, None, "data", settings)
        predicted = slow.argmax(axis=1)
        np.testing.assert_array_equal(one.predicted, predicted)
        assert one.smoothing == how and one.right == (predicted == table.y).sum()
        assert one.log_probability == pytest.approx(log_probabilities(slow)[np.arange(80), table.y].mean())
    assert len({one.log_probability for one in found}) == len(grid)
    np.testing.assert_array_equal(
        leave_one_out_predictions(block, Settings(rule="naive-bayes", k=0.1), GROUPS, classes=3), found[1].predicted
    )


def test_a_right_answer_that_is_impossible_without_the_row() -> None:
    block = Block.of(np.array([[1, 0], [1, 0], [0, 1]], np.float32), np.array([0, 1, 0]))
    found = leave_one_out(counting(block, 2, one_group("multinomial", 2), k=0.0), block)[0]
    assert found.log_probability == -math.inf and found.predicted.tolist() == [1, 0, 0] and found.right == 1


def test_the_last_of_its_class_is_never_found_without_itself() -> None:
    X, y = np.eye(4, dtype=np.float32), np.array([0, 1, 1, 1])
    for kind in ("multinomial", "bernoulli", "gaussian"):
        block = Block.of(X, y)
        predicted = leave_one_out_predictions(block, Settings(rule="naive-bayes"), one_group(kind, 4), classes=2)
        assert predicted[0] == 1
    with pytest.raises(DataError, match="one other row"):
        leave_one_out(counting(Block.of(X[:1], y[:1]), 2, one_group("multinomial", 4)), Block.of(X[:1], y[:1]))


# ---- numbers that are missing, features that have no say


def test_missing_numbers_have_no_say() -> None:
    table = mixed(3)
    rows = table.X.copy()
    missing = rows[:, 24] != 0
    assert missing.any()
    rows[missing, 22] = 1e6  # what fills a gap does not matter
    other = Table(rows, table.y, 3)
    for kind in ("sparse", "dense"):
        counted, same = counting(table.block(kind), 3), counting(other.block(kind), 3)
        np.testing.assert_array_equal(counted.scores(table.block(kind).rows), same.scores(other.block(kind).rows))
    without = counting(table.block(), 3, (Group("gaussian", 21, 24),))
    assert (
        without.scores(table.block().rows)
        != counting(other.block(), 3, (Group("gaussian", 21, 24),)).scores(table.block().rows)
    ).any()


def test_a_column_with_gaps_in_a_table() -> None:
    frame = pd.DataFrame({"age": [20.0, None, 40.0, 60.0] * 5, "y": ["a", "a", "b", "b"] * 5})
    model = markone.train(frame, target="y", rule="naive-bayes", holdout=0.0)
    ages = model.explain().numbers[0]
    assert ages.feature == "age" and ages.mean == [20, 50]
    rows = {row.feature: row for row in model.explain({"age": None}).difference.rows}
    assert rows["age"].product == 0 and rows["age is missing"].product != 0


def test_features_of_no_group_have_no_say() -> None:
    table = mixed(3)
    only = counting(table.block(), 3, (Group("bernoulli", 12, 17),))
    other = Table(table.X.copy(), table.y, 3)
    other.X[:, :12] += 3
    np.testing.assert_array_equal(only.scores(table.block().rows), only.scores(other.block().rows))


@pytest.mark.parametrize(
    "groups",
    [
        [Group("multinomial", 0, 5)],
        [Group("multinomial", 0, 3), Group("bernoulli", 2, 4)],
        [Group("multinomial", 2, 2)],
        [Group("multinomial", 0, 4, size=3)],
        [Group("multinomial", 0, 4, missing=((0, 1),))],
        [Group("gaussian", 0, 2, missing=((0, 9),))],
        [Group("gaussian", 0, 2, missing=((0, 3), (1, 3)))],
    ],
)
def test_groups_that_cannot_be(groups: Sequence[Group]) -> None:
    with pytest.raises(ValueError, match="group|missing"):
        Events.none(groups, 4, 2)


# ---- fewer features, and files


def words_of_three_kinds() -> tuple[Block, Counting]:
    table = mixed(2, rows=30)
    table.X[:, 3] = 0  # a word that nobody has seen
    block = table.block()
    return block, counting(block, 2, k=0.0)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("how", SMOOTHINGS)
def test_without_what_is_not_used_the_scores_are_the_same(classes: int, how: dict[str, Any]) -> None:
    table = mixed(classes, rows=30)
    table.X[:, [3, 14]] = 0
    if classes == 2:
        table.X[1::2, :12], table.y[:] = table.X[::2, :12], np.arange(30) % 2  # words say the same for both classes
    scorer = counting(table.block(), classes, **how).scorer()
    used = scorer.used()
    assert used[21:].all()
    if classes == 2:
        assert not used[:12].any()
    else:
        assert used[3] == (how.get("k", 0) > 0) and used[:3].all()
    fewer = Table(np.ascontiguousarray(table.X[:, used]), table.y, classes)
    pruned = scorer.prune(used)
    np.testing.assert_array_equal(pruned.scores(fewer.block().rows), scorer.scores(table.block().rows))
    saved = pruned.save()
    again = Scorer.load(saved, classes, True)
    np.testing.assert_array_equal(again.scores(fewer.block("sparse").rows), pruned.scores(fewer.block().rows))


def test_each_feature_that_is_used_changes_a_score() -> None:
    """Lest `used` say yes to all."""
    block, counted = words_of_three_kinds()
    scorer = counted.scorer()
    used = scorer.used()
    assert not used[3] and used.sum() > 15
    expected = scorer.scores(block.rows)
    for feature in np.flatnonzero(used[:21]):
        kept = np.arange(25) != feature
        fewer = Block.of(np.ascontiguousarray(block.matrix[:, kept]), block.labels)
        assert (scorer.prune(kept).scores(fewer.rows) != expected).any(), feature


def test_counts_are_saved_in_few_bytes_and_without_loss() -> None:
    table = mixed(3)
    for importance, dtype in ((None, np.uint32), (np.full(60, 0.1), np.float64)):
        scorer = counting(table.block(importance=importance), 3, priors="uniform").scorer()
        saved = scorer.save()
        assert saved.arrays["counts"].dtype == dtype
        again = Scorer.load(saved, 3, True)
        assert again.smoothing == scorer.smoothing and again.events.groups[0].events == 12
        np.testing.assert_array_equal(again.scores(table.block().rows), scorer.scores(table.block().rows))


def forged() -> list[tuple[str, Any]]:
    """Names of facts and arrays, and what may stand there instead."""
    whole = counting(mixed(3).block(), 3, priors="uniform").scorer().save()
    arrays = whole.arrays
    too_many = arrays["counts"].copy()
    too_many[13] = 10**6
    nan = arrays["numbers"].copy()
    nan[0, 1, 0] = np.nan
    negative = arrays["numbers"].copy()
    negative[0, 0, 0] = -1
    return [
        ("k", -1.0),
        ("k", "1"),
        ("k", math.inf),
        ("alpha", 1.5),
        ("alpha", True),
        ("of_variance", None),
        ("groups", None),
        ("groups", [["multinomial", 0, 99, 99, []]]),
        ("groups", [["poisson", 0, 25, 25, []]]),
        ("groups", [["multinomial", 0, 25, 10**30, []]]),
        ("groups", [["multinomial", 0, 25, 25, [[1, 2, 3]]]]),
        ("groups", [["multinomial", 0.0, 25, 25, []]]),
        ("more", 1),
        ("counts", arrays["counts"].astype(np.int64)),
        ("counts", arrays["counts"][:, :2]),
        ("counts", too_many),
        ("rows", arrays["rows"][:2]),
        ("numbers", nan),
        ("numbers", negative),
        ("numbers", arrays["numbers"][:2]),
        ("others", -np.ones((4, 3))),
        ("priors", np.zeros(3)),
        ("priors", np.array([1.0, -1.0, 1.0])),
        ("priors", np.ones(2)),
        ("extra", np.ones(2)),
    ]


@pytest.mark.parametrize(("name", "value"), forged(), ids=lambda value: str(value)[:20].replace("\n", " "))
def test_forged_files_are_refused(name: str, value: Any) -> None:
    saved = counting(mixed(3).block(), 3, priors="uniform").scorer().save()
    facts, arrays = dict(saved.facts), dict(saved.arrays)
    (arrays if isinstance(value, np.ndarray) else facts)[name] = value
    with pytest.raises(DataError):
        Scorer.load(Saved(facts, arrays), 3, True)
    for missing in (*saved.facts, *saved.arrays):
        if missing not in ("alpha", "priors"):
            facts, arrays = dict(saved.facts), dict(saved.arrays)
            facts.pop(missing, None), arrays.pop(missing, None)
            with pytest.raises(DataError):
                Scorer.load(Saved(facts, arrays), 3, True)


def test_states_that_cannot_be_taken_up() -> None:
    block = mixed(3).block()
    counted = counting(block, 3)
    state = counted.get_state()
    counted.check_state(state)
    for name, value in (
        ("rows", np.ones(2)),
        ("counts", state["counts"].astype(np.float32)),
        ("counts", -state["counts"]),
        ("numbers", state["numbers"] * np.nan),
        ("more", np.ones(1)),
    ):
        with pytest.raises(DataError, match="damaged"):
            counted.check_state({**state, name: value})
    fresh = Counting(counted.settings, features=25, classes=3, groups=GROUPS)
    fresh.set_state(state)
    counted.learn(block)
    np.testing.assert_array_equal(fresh.get_state()["counts"], state["counts"])


# ---- as a rule of train


TEXTS = ["free money now", "win money", "see you at noon", "lunch at noon", "free lunch", "money at noon"] * 4
LABELS = ["spam", "spam", "ham", "ham", "ham", "spam"] * 4


@pytest.mark.parametrize("how", [{}, {"k": 0.0}, {"alpha": 0.9}, {"likelihood": "bernoulli"}])
def test_a_model_of_texts(how: dict[str, Any], tmp_path: Path) -> None:
    model = markone.train(TEXTS, target=LABELS, rule="naive-bayes", holdout=0.0, **how)
    assert model.predict(["win free money", "see you"]).tolist() == ["spam", "ham"]
    assert model.probabilities(TEXTS).sum(axis=1) == pytest.approx(1)
    for final in (False, True):
        model.save(tmp_path / "model", final=final)
        again = markone.load(tmp_path / "model")
        np.testing.assert_array_equal(again.scores(TEXTS), model.scores(TEXTS))
    assert len(model.history) == 1 and model.history[0].mistakes is None


def test_a_model_learns_on_by_adding_to_its_counts() -> None:
    settings: dict[str, Any] = {"rule": "naive-bayes", "holdout": 0.0, "features": {"text": {"min_count": 1}}}
    whole = markone.train([*TEXTS, "vote for me"], target=[*LABELS, "politics"], **settings)
    first = markone.train(TEXTS[:8], target=LABELS[:8], **settings)
    second = markone.train([*TEXTS[8:], "vote for me"], target=[*LABELS[8:], "politics"], from_model=first, holdout=0.0)
    assert second.features.width == whole.features.width > first.features.width
    columns = [second.classes.index(label) for label in whole.classes]
    np.testing.assert_allclose(second.scores(TEXTS)[:, columns], whole.scores(TEXTS), rtol=1e-12)


def test_a_model_learns_on_with_another_smoothing() -> None:
    laplace = markone.train(TEXTS, target=LABELS, rule="naive-bayes", holdout=0.0)
    mixed = markone.train(TEXTS, target=LABELS, from_model=laplace, alpha=0.5)
    assert (mixed.settings.k, mixed.settings.alpha) == (None, 0.5)
    assert markone.train(TEXTS, target=LABELS, from_model=mixed, k=2.0).settings.alpha is None


def test_a_training_is_resumed_with_the_priors_said_again(tmp_path: Path) -> None:
    how: dict[str, Any] = {"rule": "naive-bayes", "priors": {"ham": 0.7, "spam": 0.3}, "holdout": 0.0}
    model = markone.train(TEXTS, target=LABELS, checkpoint=tmp_path / "kept.model", **how)
    again = markone.train(TEXTS, target=LABELS, resume=tmp_path / "kept.model", **how)
    np.testing.assert_array_equal(again.scores(TEXTS), model.scores(TEXTS))


def test_a_likelihood_that_would_change_nothing_is_refused() -> None:
    table = {"height": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "blue"]}
    with pytest.raises(SettingsError, match="likelihood is for texts, pixels and rows of features, but there are none"):
        markone.train(table, target=["x", "x", "y", "y"], rule="naive-bayes", likelihood="gaussian")


def test_resumed_between_two_pieces_it_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from markone.learning import examples, progress

    monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", 10)
    settings: dict[str, Any] = {"target": LABELS, "rule": "naive-bayes", "holdout": 0.0}
    markone.train(TEXTS, **settings).save(tmp_path / "whole")

    class Interrupted(progress.Silence):
        visits = 0

        def advance(self, rows: int) -> None:
            self.visits += rows
            if self.visits > 10:
                raise KeyboardInterrupt

    cut = markone.train(TEXTS, checkpoint=tmp_path / "kept", progress=Interrupted(), **settings)
    assert cut.history.stopped == "interrupted" and cut.scorer.events.rows.sum() < len(TEXTS)  # type: ignore[attr-defined]
    markone.train(TEXTS, checkpoint=tmp_path / "kept", resume=True, **settings).save(tmp_path / "resumed")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize(
    ("priors", "problem"),
    [({"ham": 0.5, "eggs": 0.5}, "eggs"), ({"ham": 0.5, "spam": 0.2, "eggs": 0.3}, "eggs"), ({"ham": 1, "x": 2}, "x")],
)
def test_priors_must_be_those_of_the_classes(priors: Any, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        markone.train(TEXTS, target=LABELS, rule="naive-bayes", priors=priors)
    assert priors_of((("1", 0.25), ("2", 0.75)), [1, 2]).tolist() == [0.25, 0.75]  # type: ignore[union-attr]
    with pytest.raises(SettingsError, match="no number for 'b'"):
        priors_of((("a", 0.25), ("a", 0.75)), ["a", "b"])


# ---- explanations


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("how", SMOOTHINGS)
def test_what_features_contribute_adds_up_to_the_score(how: dict[str, Any], classes: int, kind: str) -> None:
    table = mixed(classes)
    scorer = counting(table.block(kind), classes, **how).scorer()
    scores = scorer.scores(table.block().rows)
    columns = list(range(scores.shape[1]))
    for row, expected in zip(table.X.astype(np.float64), scores, strict=True):
        features = np.arange(25, dtype=np.uint32) if kind == "dense" else np.flatnonzero(row).astype(np.uint32)
        values = row[features]
        weights, products, bias, sums = scorer.contributions(features, values, columns, 2)
        np.testing.assert_array_equal(sums, expected)
        with np.errstate(invalid="raise"):
            np.testing.assert_allclose(products.sum(axis=0) + bias, expected, rtol=1e-9, atol=1e-11)
        assert (products[values == 0] == 0).all()
        numbers = (features >= 21) & (features < 24)
        if np.isfinite(sums).all() and weights.any():
            assert np.isnan(weights[numbers]).all() and not np.isnan(weights[~numbers]).any()


def test_odds_from_the_largest() -> None:
    model = markone.train(TEXTS, target=LABELS, rule="naive-bayes", holdout=0.0)
    found = model.explain(top=3)
    assert isinstance(found, OddsExplanation)
    twin = reference.NaiveBayes(["spam", "ham"], sorted({word for text in TEXTS for word in text.split()}))
    twin.learn(
        ({word: text.split().count(word) for word in text.split()}, y, 1) for text, y in zip(TEXTS, LABELS, strict=True)
    )
    for one, other in (("spam", "ham"), ("ham", "spam")):
        [mine] = [facts for facts in found.classes if facts.label == one]
        odds = {word: twin.odds(word, one, other) for word in twin.features}
        assert {ratio.feature: Fraction(ratio.odds).limit_denominator(1000) for ratio in mine.ratios} == {
            word: ratio for word, ratio in odds.items() if ratio > 1
        }
        assert [ratio.odds for ratio in mine.ratios] == sorted((ratio.odds for ratio in mine.ratios), reverse=True)
        assert [likely.probability for likely in mine.likely] == pytest.approx(
            sorted((float(p) for p in twin.draws(one)[0].values()), reverse=True)
        )
        assert mine.examples == 12 and mine.prior == pytest.approx(0.5)
    text = str(found)
    assert "features that support spam (12 examples, prior 0.5)" in text and text.count(" : 1") == 6
    assert markone.train(TEXTS, target=LABELS, rule="naive-bayes", holdout=0.0).explain(top=1) != found


def test_infinite_odds_are_shown_and_written() -> None:
    model = markone.train(TEXTS, target=LABELS, rule="naive-bayes", k=0, holdout=0.0)
    found = model.explain()
    assert "∞" in str(found) and "<table" in found.html()
    ratios = [ratio for one in found.as_dict()["classes"] for ratio in one["ratios"]]
    assert {"inf"} < {str(ratio["odds"]) for ratio in ratios}
    seen = [one.times for one in found.classes[model.classes.index("spam")].ratios if math.isinf(one.odds)]
    assert seen == sorted(seen, reverse=True)
    explained = model.explain("win money")
    assert explained.difference.score in (math.inf, -math.inf) and "inf" in str(explained)
    both = model.explain("win lunch")
    assert {row.product for row in both.difference.rows if row.feature != "BIAS"} == {0}


def test_odds_of_many_classes_are_against_all_others() -> None:
    X, y = table_of("multinomial", 3)
    texts = [" ".join(f"w{j} " * int(n) for j, n in enumerate(row)) for row in X]
    found = markone.train(texts, target=y.tolist(), rule="naive-bayes", holdout=0.0).explain()
    for one in found.classes:
        peer = MultinomialNB().fit(X, y == one.label)
        expected = np.exp(peer.feature_log_prob_[1] - peer.feature_log_prob_[0])
        for ratio in one.ratios:
            assert ratio.odds == pytest.approx(expected[int(ratio.feature[1:])])


def test_measurements_are_told_by_mean_and_deviation() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = markone.train(X.assign(y=y), target="y", rule="naive-bayes", holdout=0.0)
    peer = GaussianNB().fit(X, y)
    found = model.explain()
    for i, number in enumerate(found.numbers):
        assert number.feature == X.columns[i]
        np.testing.assert_allclose(number.mean, peer.theta_[:, i], rtol=1e-6)
        np.testing.assert_allclose(number.deviation, np.sqrt(peer.var_[:, i]), rtol=1e-5)
    assert "5.006 ± " in str(found)
    assert model.accuracy(X, y) == pytest.approx(peer.score(X, y), abs=0.01)


# ---- what is refused


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"likelihood": "poisson"}, "likelihood must be one of"),
        ({"likelihood": "gausian"}, "Did you mean 'gaussian'"),
        ({"likelihood": ["gaussian"]}, "one for each of the 8 columns"),
        ({"likelihood": 3}, "one for each of the 8 columns"),
        ({"alpha": -1}, "alpha must be a number of at least 0"),
        ({"alpha": "x"}, "alpha must be a number"),
        ({"interpolation": 1.5}, "interpolation must be a number from 0 to 1"),
        ({"fit_prior": 2}, "fit_prior must be True or False"),
        ({"class_prior": [0.5]}, "class_prior must have a number for each of the 2 classes"),
        ({"class_prior": [1, -1]}, "class_prior must be numbers of at least 0"),
        ({"class_prior": "ab"}, "class_prior must be numbers"),
        ({"binarize": "x"}, "binarize must be a number or None"),
        ({"var_smoothing": -1}, "var_smoothing must be a number of at least 0"),
    ],
)
def test_parameters_that_mean_nothing(parameters: dict[str, Any], problem: str) -> None:
    X, y = table_of("multinomial", 2)
    with pytest.raises(SettingsError, match=problem):
        NaiveBayes(**parameters).fit(X, y)


def test_rows_that_cannot_be_counted() -> None:
    X, y = table_of("multinomial", 2)
    X[5, 3] = -2
    for matrix in (X, scipy.sparse.csr_array(X)):
        with pytest.raises(DataError, match="feature 3 has the value -2 in row 5, but a multinomial counts"):
            NaiveBayes().fit(matrix, y)
    assert NaiveBayes("bernoulli").fit(X, y).score(X, y) > 0.4
    with pytest.raises(DataError, match="column 3 has -2, and categories count from 0"):
        NaiveBayes("categorical").fit(X, y)
    with pytest.raises(DataError, match="feature 0 has the value 1e\\+200 in row 0, which is too large"):
        NaiveBayes("gaussian").fit(X * 0 + 1e200, y)
    with pytest.raises(DataError, match="weight of 1e\\+20 is too large"):
        NaiveBayes("gaussian").fit(X, y, sample_weight=np.full(len(y), 1e20))
    with pytest.raises(SettingsError, match="epochs must be 1"):
        Settings(rule="naive-bayes", epochs=2)


def test_a_feature_that_a_row_names_twice_is_there_once() -> None:
    twice = scipy.sparse.csr_matrix((np.ones(5), np.array([0, 0, 1, 2, 2]), np.array([0, 3, 5])), shape=(2, 3))
    once = twice.copy()
    once.sum_duplicates()
    for kind in ("bernoulli", "multinomial"):
        model, same = NaiveBayes(kind).fit(twice, [0, 1]), NaiveBayes(kind).fit(once, [0, 1])
        assert not twice.has_canonical_format
        np.testing.assert_array_equal(model.predict_proba(twice), same.predict_proba(once))


def test_the_core_checks_what_it_is_given() -> None:
    block = mixed(3).block()
    events = counting(block, 3).events
    arrays = events.arrays()
    with pytest.raises(ValueError, match="wrong shape"):
        events.core.count(block.rows, block.labels, None, None, np.zeros(2), arrays["counts"], arrays["numbers"])
    with pytest.raises(ValueError, match="no class"):
        replace(events).core.count(
            block.rows, block.labels + 9, None, None, arrays["rows"], arrays["counts"], arrays["numbers"]
        )
    with pytest.raises(ValueError, match="wider"):
        counting(Block.of(block.matrix[:, :4].copy(), block.labels), 3, one_group("multinomial", 4)).scores(block.rows)
    with pytest.raises(ValueError, match="not there"):
        events.core.count(block.rows, block.labels, None, np.array([99]), **arrays_for_count(arrays))


def arrays_for_count(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: arrays[name] for name in ("rows", "counts", "numbers")}


# ---- real data


def folder(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"there is no folder {name} in MARKONE_DATA")
    return DATA / name


@pytest.mark.slow
def test_mnist_pixels_on_and_off() -> None:
    train, test = (markone.read(folder("mnist") / f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k"))
    assert markone.train(train, rule="naive-bayes", holdout=0.0).accuracy(test) == pytest.approx(0.843, abs=0.005)


@pytest.mark.slow
def test_imdb_is_as_good_as_scikit_learns() -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    def read(part: str) -> tuple[list[str], list[str]]:
        import gzip

        with gzip.open(folder("imdb") / f"{part}.tsv.gz", "rt", encoding="utf-8", newline="\n") as file:
            pairs = [line.rstrip("\n").split("\t", 1) for line in file]
        return [text for _, text in pairs], [label for label, _ in pairs]

    (texts, labels), (new, truth) = read("train"), read("test")
    vectorizer = CountVectorizer()
    X, X_test = vectorizer.fit_transform(texts), vectorizer.transform(new)
    theirs = MultinomialNB().fit(X, labels)
    ours = NaiveBayes().fit(X, labels)
    np.testing.assert_array_equal(ours.predict(X_test), theirs.predict(X_test))
    model = markone.train(texts, target=labels, rule="naive-bayes", holdout=0.0, features={"text": {"signs": False}})
    assert model.accuracy(new, truth) == pytest.approx(theirs.score(X_test, truth), abs=0.005)


# ---- the loops for rows of one kind of event

LEVELS = """
import numpy as np, scipy.sparse
from markone import NaiveBayes
random = np.random.default_rng(0)
y = random.integers(0, 5, 400)
X = (random.gamma(0.3, size=(400, 13)) * random.integers(0, 2, (400, 13))).astype(np.float32)
for likelihood in ("multinomial", "bernoulli", "gaussian"):
    for dtype in (np.float32, np.float64):
        for rows in (X.astype(dtype), scipy.sparse.csr_matrix(X.astype(dtype))):
            model = NaiveBayes(likelihood).fit(rows, y)
            print(model.predict_joint_log_proba(rows).tobytes().hex(), model.feature_count_.tobytes().hex())
"""


def test_every_level_of_processors_counts_and_scores_alike() -> None:
    check_levels(LEVELS)


@pytest.mark.parametrize("likelihood", ["multinomial", "bernoulli", "gaussian"])
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_counting_class_by_class_is_counting_row_by_row(likelihood: str, kind: Any, weighted: bool) -> None:
    """Many rows of one kind of event are counted by other loops than a few, or than rows of several kinds."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 300)
    X = random.integers(-3 if likelihood == "gaussian" else 0, 300, (300, 8)) * random.integers(0, 2, (300, 8)) / 4
    weights = random.integers(0, 3, 300) if weighted else None
    whole = NaiveBayes(likelihood).fit(kind(X), y, weights)
    parts = NaiveBayes(likelihood)
    for i in range(300):
        parts.partial_fit(kind(X[i : i + 1]), y[i : i + 1], [0, 1, 2], None if weights is None else weights[i : i + 1])
    mixed = NaiveBayes([*[likelihood] * 8, "categorical"])
    mixed.fit(kind(np.hstack([X, np.zeros((300, 1))])), y, weights)
    for other in (parts, mixed):
        assert np.array_equal(whole.class_count_, other.class_count_)
        if likelihood == "gaussian":
            assert np.array_equal(whole.theta_, other.theta_) and np.array_equal(whole.var_, other.var_)
        elif other is parts:
            assert np.array_equal(whole.feature_count_, other.feature_count_)
        else:
            assert np.array_equal(whole.feature_count_, np.hstack(other.feature_count_[:8]))
    assert np.array_equal(whole.predict_joint_log_proba(kind(X)), parts.predict_joint_log_proba(kind(X)))
    theirs = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "gaussian": GaussianNB}[likelihood]()
    theirs.fit(X, y, weights)
    np.testing.assert_allclose(
        whole.predict_joint_log_proba(kind(X)), theirs.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("likelihood", ["multinomial", "bernoulli"])
def test_a_column_named_twice_in_a_row_that_is_not_sorted(likelihood: str) -> None:
    X = scipy.sparse.csr_matrix(([1.0, 2, 1, 3], [2, 0, 2, 1], [0, 3, 4]), shape=(2, 3))
    merged = X.copy()
    merged.sum_duplicates()
    ours, theirs = (NaiveBayes(likelihood).fit(rows, [0, 1]) for rows in (X, merged))
    assert np.array_equal(ours.feature_count_, theirs.feature_count_)
    assert np.array_equal(ours.predict_proba(X), theirs.predict_proba(merged))
    assert X.nnz == 4  # the caller's matrix is as it was


# ---- what is read quickly


def test_a_scorer_keeps_its_counts_while_the_learner_counts_on():
    counting = Counting(Settings(rule="naive-bayes"), features=2, classes=2)
    block = Block.of(np.array([[3.0, 1], [1, 2]]), np.array([0, 1]))
    counting.learn(block)
    before = counting.scorer()
    twin = counting.with_settings(Settings(rule="naive-bayes", k=2))
    counting.learn(block)
    twin.learn(block)
    assert before.events.counts.tolist() == [[3, 1], [1, 2]]
    for learner in (counting, twin):
        assert learner.scorer().events.counts.tolist() == [[6, 2], [2, 4]]


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("alpha", [0.5, 0])
def test_stored_zeros_and_events_of_no_class_change_no_bit(kind: Any, classes: int, alpha: float):
    random = np.random.default_rng(0)
    counts = random.poisson(0.7, (60, 40)).astype(float)
    counts[:, 7] = 0  # an event that occurs in no class: without smoothing it is ignored
    labels = np.arange(60) % classes
    model = NaiveBayes(kind, alpha=alpha).fit(counts, labels)
    tested = counts.copy()
    tested[:, 7] = 3
    sparse = scipy.sparse.csr_array(tested)
    full = scipy.sparse.csr_array((tested.ravel(), np.tile(np.arange(40), 60), np.arange(0, 2401, 40)), (60, 40))
    assert full.nnz > sparse.nnz
    expected = model.predict_joint_log_proba(sparse)
    for rows in (full, tested):
        assert np.array_equal(model.predict_joint_log_proba(rows), expected)
        assert np.array_equal(
            model._counting().scores(model._rows(rows)), model._counting().scores(model._rows(sparse))
        )


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 50])
def test_sums_of_numbers_are_exact_for_any_number_of_rows(rows: int):
    values = np.random.default_rng(rows).normal(size=(rows, 3)).astype(np.float32)
    events = Events.none(one_group("gaussian", 3), 3, 1)
    events.add(Block.of(values, np.zeros(rows, int)))
    for number, sums in enumerate(events.numbers[:, :, 0].tolist()):
        exact = [Fraction(float(value)) for value in values[:, number]]
        assert sums[0] == rows
        assert Fraction(sums[1]) + Fraction(sums[2]) == sum(exact)
        assert Fraction(sums[3]) + Fraction(sums[4]) == sum(one * one for one in exact)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_know_their_least_value(form: Any, dtype: Any):
    values = np.random.default_rng(0).normal(size=(5, 13)).astype(dtype)
    labels = np.zeros(5, int)
    assert Block.of(form(values), labels).rows.least == values.min()
    assert Block.of(form(abs(values)), labels).rows.least == 0
