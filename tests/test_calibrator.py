"""Probabilities that are learned from rows on which a model was not trained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.metrics import brier_score_loss, log_loss

import markone
from markone.errors import DataError, SettingsError
from markone.experiments.statistics import Calibration
from markone.model.calibrator import (
    FEWEST_ROWS,
    MOST_CLASSES,
    Calibrator,
    best_slope,
    calibrate,
    is_better,
    of_each_class,
)
from markone.model.rules import RULES
from markone.storage.saved import Saved

TWO = ["a", "b"]


def odds_of(scores: Any) -> Any:
    """Log-odds with another slope on each side."""
    return np.where(scores > 0, 0.5, 1.5) * scores


def drawn(rows: int, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    scores = 3 * random.normal(size=(rows, 1))
    return scores, (random.random(rows) < 1 / (1 + np.exp(-odds_of(scores[:, 0])))).astype(np.int64)


def test_slopes_are_found() -> None:
    scores, truth = drawn(20_000)
    found = calibrate(scores, truth, None, TWO)
    places = np.linspace(-6, 6, 49)
    learned = 1 / (1 + np.exp(-found.log_odds(places)))
    assert np.abs(learned - 1 / (1 + np.exp(-odds_of(places)))).max() < 0.03
    assert len(found.slopes) == 12 and 0.0 in found.knots and found.rows == 20_000


def test_few_rows_have_one_slope_which_is_the_best() -> None:
    scores, truth = drawn(150)
    [slope] = calibrate(scores, truth, None, TWO).slopes

    def loss(slope: float) -> float:
        second = truth.sum()
        aims = np.where(truth == 1, (second + 1) / (second + 2), 1 / (len(truth) - second + 2))
        z = slope * scores[:, 0]
        return float((np.logaddexp(0, z) - aims * z).sum())

    assert loss(slope) < min(loss(0.999 * slope), loss(1.001 * slope))


def test_the_temperature_of_many_classes() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(20_000, 5))
    p = np.exp(2.5 * scores)
    truth = (random.random((20_000, 1)) < (p / p.sum(axis=1, keepdims=True)).cumsum(axis=1)).argmax(axis=1)
    [slope] = calibrate(7 * scores, truth, None, [*"abcde"]).slopes
    assert 7 * slope == pytest.approx(2.5, rel=0.03)


@given(st.integers(0, 1000), st.integers(FEWEST_ROWS, 1500), st.booleans())
def test_labels_and_the_order_of_scores_stay_the_same(seed: int, rows: int, separable: bool) -> None:
    scores, truth = drawn(rows, seed)
    if separable:
        truth = (scores[:, 0] > 0).astype(np.int64)
    found = calibrate(scores, truth, None, TWO)
    places = np.sort(np.concatenate([scores[:, 0], [0.0, -1e6, 1e6]]))
    odds = found.log_odds(places)
    assert (np.diff(odds) >= 0).all() and np.isfinite(odds).all()
    assert (np.sign(odds) == np.sign(places)).all()


def test_importance_is_the_number_of_times_that_a_row_counts() -> None:
    scores, truth = drawn(150)
    importance = np.random.default_rng(1).integers(0, 4, 150).astype(float)
    whole = calibrate(scores, truth, importance, TWO)
    repeated = np.repeat(np.arange(150), importance.astype(int))
    assert len(repeated) >= 200 or whole.slopes == pytest.approx(
        calibrate(scores[repeated], truth[repeated], None, TWO).slopes
    )


def test_probabilities_that_are_right_are_not_replaced() -> None:
    random = np.random.default_rng(0)
    scores = 2 * random.normal(size=(4000, 1))
    truth = (random.random(4000) < 1 / (1 + np.exp(-scores[:, 0]))).astype(np.int64)
    assert is_better(10 * scores, truth, None, TWO) and not is_better(scores, truth, None, TWO)


def texts(rows: int, seed: int = 0) -> dict[str, list[str]]:
    random = np.random.default_rng(seed)
    kinds = random.choice(["x", "y"], rows)
    words = [" ".join(random.choice([*"abcdefgh"], 6, p=shares(kind))) for kind in kinds]
    return {"text": words, "kind": kinds.tolist()}


def shares(kind: str) -> Any:
    one = np.arange(1, 9.0) if kind == "x" else np.arange(8, 0, -1.0)
    return (one + 8) / (one + 8).sum()


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in ("mlp", "logistic", "regression")])
def test_every_rule_has_probabilities_that_hold(rule: Any) -> None:
    model = markone.train(texts(1500), target="kind", rule=rule)
    found = model.evaluate(texts(4000, 1))
    assert model.has_probabilities
    assert found.calibration_error < 0.04
    assert found.log_loss < -np.log(0.5)


def test_a_model_with_few_rows_has_none_and_says_why() -> None:
    model = markone.train(texts(FEWEST_ROWS - 1), target="kind")
    assert model.calibrator is None and not model.has_probabilities
    with pytest.raises(SettingsError, match="there were fewer than 50; train with more rows"):
        model.probabilities("a b")


def test_the_measures_are_those_of_scikit_learn() -> None:
    model, tests = markone.train(texts(1500), target="kind"), texts(600, 1)
    found, p = model.evaluate(tests), model.probabilities(tests["text"])
    truth = np.array([model.classes.index(one) for one in tests["kind"]])
    assert found.log_loss == pytest.approx(log_loss(truth, p))
    assert found.brier == pytest.approx(brier_score_loss(truth, p[:, 1]))
    assert found.calibration_error == pytest.approx(Calibration.of(truth, p).error)
    assert "ECE" in str(found) and found.as_dict()["brier"] == found.brier
    assert model.probabilities(tests["text"][0]).tolist() == p[0].tolist()


def test_it_is_kept_in_the_file(tmp_path: Any) -> None:
    model = markone.train(texts(1500), target="kind")
    for final in (False, True):
        model.save(tmp_path / "m", final=final)
        again = markone.load(tmp_path / "m")
        assert again.calibrator == model.calibrator
        assert again.probabilities(["a b", "h h"]).tolist() == model.probabilities(["a b", "h h"]).tolist()


def test_a_resumed_training_has_the_same(tmp_path: Any) -> None:
    whole = markone.train(texts(1500), target="kind", epochs=4)
    markone.train(texts(1500), target="kind", epochs=2).save(tmp_path / "m")
    assert markone.train(texts(1500), target="kind", epochs=4, resume=tmp_path / "m").calibrator == whole.calibrator


def test_a_model_that_goes_on_from_another_uses_held_out_rows(tmp_path: Any) -> None:
    base = markone.train(texts(1500), target="kind", rule="perceptron")
    assert base.calibrator is not None and base.calibrator.rows == 1500
    more: dict[str, Any] = {"target": "kind", "from_model": base, "holdout": 0.2}
    whole = markone.train(texts(1000, 2), epochs=4, **more)
    assert whole.calibrator is not None and whole.calibrator.rows == whole.history.held_out
    markone.train(texts(1000, 2), epochs=2, **more).save(tmp_path / "m")
    resumed = markone.train(texts(1000, 2), target="kind", epochs=4, resume=tmp_path / "m")
    assert resumed.calibrator == whole.calibrator


def by_classes(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of four classes, two of which are too high and too steep, the classes, and their true log-odds."""
    rng = np.random.default_rng(seed)
    odds = 2 * rng.normal(size=(rows, 4))
    p = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    truth = (p.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1)
    return (odds - [0, 1.5, 0, -1]) / [1, 3, 2, 1], truth, odds


def test_classes_have_slopes_of_their_own_if_these_are_better() -> None:
    scores, truth, odds = by_classes(4000)
    found = calibrate(scores, truth, None, [*"abcd"])
    centred = np.array(found.offsets) - np.mean(found.offsets)
    np.testing.assert_allclose(found.slopes, [1, 3, 2, 1], rtol=0.12)
    np.testing.assert_allclose(centred, [-0.125, 1.375, -0.125, -1.125], atol=0.2)
    assert calibrate(odds, truth, None, [*"abcd"]).offsets == ()  # one slope is enough
    by_chance = [
        calibrate(odds, truth, None, [*"abcd"]) for seed in range(20) for _, truth, odds in [by_classes(100, seed)]
    ]
    assert sum(one.offsets != () for one in by_chance) <= 1  # few rows do not choose noise
    many = np.hstack([scores, np.full((4000, MOST_CLASSES), -50.0)])
    assert calibrate(many, truth, None, [*range(MOST_CLASSES + 4)]).offsets == ()


def test_slopes_of_classes_are_at_the_optimum() -> None:
    scores, truth, _ = by_classes(500)
    weights = np.random.default_rng(1).random(500)
    found = of_each_class(scores, truth, weights)
    slope = best_slope(scores, truth, weights)
    smoothed = 1 / (weights.sum() + 4)
    targets = np.eye(4)[truth] * (1 - smoothed) + smoothed / 4

    def cost(point: np.ndarray) -> float:
        odds = point[:4] * slope * scores + point[4:]
        logs = odds - np.log(np.exp(odds).sum(axis=1, keepdims=True))
        return float(-(weights[:, None] * targets * logs).sum() + ((point - np.repeat([1, 0], 4)) ** 2).sum() / 2)

    best = minimize(cost, np.repeat([1.0, 0.0], 4), tol=1e-10).x
    np.testing.assert_allclose(found.slopes, best[:4] * slope, rtol=2e-3)
    np.testing.assert_allclose(found.offsets, best[4:], atol=2e-3)


def test_the_best_score_stays_the_most_probable() -> None:
    scores, _, _ = by_classes(1000, seed=1)
    calibrator = Calibrator((1.0, 3.0, 2.0, 1.0), (), 1000, (0.0, 1.5, 0.0, -1.0))
    raised = calibrator.log_odds(scores)
    p = np.exp(calibrator.log_probabilities(scores))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (raised.argmax(axis=1) != scores.argmax(axis=1)).sum() > 100
    assert (p.argmax(axis=1) == scores.argmax(axis=1)).all()
    assert (p.astype(np.float32).argmax(axis=1) == scores.argmax(axis=1)).all()
    same = raised.argmax(axis=1) == scores.argmax(axis=1)
    shares = np.exp(raised) / np.exp(raised).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(p[same], shares[same], atol=1e-5)


def test_slopes_of_classes_are_saved() -> None:
    found = Calibrator((1.0, 2.0, 0.5), (), 300, (0.0, 1.0, -1.0))
    assert Calibrator.load(found.save(), 3) == found
    for facts in ({"offsets": [0.0, 1.0]}, {"slopes": [1.0]}, {"knots": [0.0]}, {"offsets": [0.0, 1.0, float("nan")]}):
        with pytest.raises(DataError, match="its calibration has"):
            Calibrator.load(Saved({**found.save().facts, **facts}, {}), 3)
    for classes in (2, 4):
        with pytest.raises(DataError, match="its calibration has"):
            Calibrator.load(found.save(), classes)


GOOD = {"slopes": [1.0, 2.0], "knots": [0.0], "rows": 300}


@pytest.mark.parametrize(
    "changed",
    [
        {"slopes": [1.0]},
        {"slopes": [1.0, -2.0]},
        {"slopes": [1.0, float("nan")]},
        {"slopes": [1.0, float("inf")]},
        {"slopes": [1, 2]},
        {"slopes": "ab"},
        {"slopes": [1.0] * 30, "knots": [float(i) for i in range(29)]},
        {"knots": [1.0]},
        {"slopes": [1.0] * 4, "knots": [0.0, 2.0, 1.0]},
        {"rows": -1},
        {"rows": True},
        {"more": 1},
    ],
)
def test_forged_numbers_are_refused(changed: dict[str, Any]) -> None:
    Calibrator.load(Saved(GOOD, {}), 2)
    with pytest.raises(DataError, match="its calibration has"):
        Calibrator.load(Saved({**GOOD, **changed}, {}), 2)
    with pytest.raises(DataError, match="its calibration has"):
        Calibrator.load(Saved(GOOD, {}), 3)


@pytest.mark.parametrize("classes", [2, 3])
def test_naive_bayes_is_calibrated_by_exact_leave_one_out(classes: int) -> None:
    random = np.random.default_rng(classes)
    truth = random.integers(classes, size=90)
    counts = random.poisson(1 + (truth[:, None] == np.arange(6) % classes)).astype(np.float32)
    X = np.repeat(counts, 4, axis=1)  # what is counted four times makes its probabilities far too certain
    labels = [*"abc"[:classes]]
    target = [labels[one] for one in truth]
    how: dict[str, Any] = {"rule": "naive-bayes", "classes": labels, "likelihood": "multinomial"}
    columns = [1] if classes == 2 else [*range(classes)]
    others = [np.arange(90) != row for row in range(90)]
    alone = [markone.train(X[some], target=[target[i] for i in np.flatnonzero(some)], **how) for some in others]
    scores = np.array([model.scores(X[[row]])[0, columns] for row, model in enumerate(alone)])
    model = markone.train(X, target=target, **how)
    assert model.calibrator is not None and is_better(scores, truth, None, labels)
    expected = calibrate(scores, truth, None, labels)
    np.testing.assert_allclose(model.calibrator.slopes, expected.slopes, rtol=1e-3)
    assert model.calibrator.rows == 90
    kept_back = markone.train(X, target=target, holdout=0.3, **how)  # held-out rows were not counted in the first place
    assert kept_back.calibrator is not None and kept_back.calibrator.rows == 90
