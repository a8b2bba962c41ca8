"""The rule `regression`: numbers instead of classes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import spearmanr
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, QuantileRegressor, Ridge
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import markone
from markone import DataError, LinearRegression, ModelFileError, Settings, SettingsError
from markone.data.blocks import Block
from markone.learning.checkpoints import Checkpoints
from markone.learning.passes import teach
from markone.learning.regression import WIDTH, Regression, TargetObjective
from markone.model.number_evaluation import NumberEvaluation
from markone.reference import BIAS, least_squares, quantile_loss, regression_objective
from markone.storage.container import read_file, write_file

DIABETES = load_diabetes(as_frame=True, scaled=False).frame
TRAIN, TEST = DIABETES[:330], DIABETES[330:].reset_index(drop=True)


def problem(rows: int = 60, features: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features))
    return X, X @ random.normal(size=features) * 3 + 7 + random.normal(size=rows)


def model_of(**given: Any) -> markone.Model:
    return markone.train(TRAIN, target="target", rule="regression", **given)


# ---- the optimum


@settings(max_examples=25, deadline=None)
@drawn(
    rows=st.integers(3, 12),
    features=st.integers(1, 4),
    strength=st.sampled_from([0.01, 0.5, 3.0]),
    seed=st.integers(0, 1000),
    weighted=st.booleans(),
    sparse=st.booleans(),
)
def test_least_squares_is_its_plain_twin(
    rows: int, features: int, strength: float, seed: int, weighted: bool, sparse: bool
) -> None:
    X, y = problem(rows, features, seed)
    importance = np.random.default_rng(seed).integers(1, 4, rows).astype(float) if weighted else np.ones(rows)
    scale = np.sqrt(np.average((y - np.average(y, weights=importance)) ** 2, weights=importance))
    examples = [(dict(enumerate(x)), number / scale, h) for x, number, h in zip(X, y, importance, strict=True)]
    twin = least_squares(examples, strength)
    how = Settings(rule="regression", strength=strength, tol=1e-10)
    learner = Regression(how, features=features, numbers=y)
    matrix = scipy.sparse.csr_array(X) if sparse else X
    history = teach(learner, Block.of(matrix, np.arange(rows), importance))
    found = learner.weights()
    np.testing.assert_allclose(found.matrix()[:, 0], [twin[i] * scale for i in range(features)], atol=1e-6)
    np.testing.assert_allclose(found.bias()[0], twin[BIAS] * scale, atol=1e-6)
    # The numbers are shifted to mean 0, which only changes the bias.
    assert history[-1].objective == pytest.approx(regression_objective(twin, examples, strength), abs=1e-9)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("rows", [5, 40])
def test_quantile_loss_is_its_plain_twin_and_its_slopes_are_right(q: float, rows: int) -> None:
    X, y = problem(rows, 6)
    z = (y - y.mean()) / y.std()
    block = Block.of(X, np.arange(rows))
    of = TargetObjective(block, z, None, Settings(rule="regression", loss="quantile", quantile=q))
    scores = np.random.default_rng(1).normal(size=(rows, 1))
    pulls, other = np.zeros_like(scores), np.zeros_like(scores)
    loss, _ = of.judge(scores, pulls)
    twin = np.mean([quantile_loss(float(s), float(t), q, WIDTH) for s, t in zip(scores[:, 0], z, strict=True)])
    assert loss / of.unit == pytest.approx(twin)
    steps = np.random.default_rng(2).normal(size=(rows, 1))
    at, slope, curvature = of.along(scores, steps, 0.3)
    assert at == pytest.approx(of.judge(scores + 0.3 * steps, other)[0])
    assert slope == pytest.approx(float((other * steps).sum()))
    ahead, behind = of.along(scores, steps, 0.3 + 1e-6), of.along(scores, steps, 0.3 - 1e-6)
    assert slope == pytest.approx((ahead[0] - behind[0]) / 2e-6, rel=1e-4, abs=1e-9)
    assert curvature == pytest.approx((ahead[1] - behind[1]) / 2e-6, rel=1e-3, abs=1e-7)


@pytest.mark.parametrize(("rows", "features"), [(60, 4), (20, 50)])
@pytest.mark.parametrize("loss", ["squared", "quantile"])
def test_no_other_weights_are_better(rows: int, features: int, loss: str) -> None:
    X, y = problem(rows, features)
    q = 0.7 if loss == "quantile" else None
    how = Settings(rule="regression", loss=loss, quantile=q, strength=0.1, tol=1e-9)
    learner = Regression(how, features=features, numbers=y)
    found = teach(learner, Block.of(X, np.arange(rows)))[-1].objective
    z = (y - y.mean()) / y.std()

    def cost(w: np.ndarray) -> float:
        s = X @ w[:-1] + w[-1]
        t = (s - z) / WIDTH
        losses = (s - z) ** 2 / 2 if q is None else q * (z - s) + WIDTH * np.logaddexp(0, t)
        return float(losses.mean() + 0.05 * w[:-1] @ w[:-1])

    best = minimize(cost, np.zeros(features + 1), method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    assert found == pytest.approx(best.fun, abs=1e-6)


def test_quantiles_are_near_those_of_linear_programming() -> None:
    X, y = problem(200, 3)
    for q in (0.1, 0.5, 0.9):
        ours = LinearRegression(loss="quantile", quantile=q, penalty=None).fit(X, y)
        theirs = QuantileRegressor(quantile=q, alpha=0).fit(X, y)
        losses = [
            np.mean([quantile_loss(s, t, q) for s, t in zip(one.predict(X), y, strict=True)]) for one in (ours, theirs)
        ]
        assert losses[1] <= losses[0] + 1e-9 < losses[1] + WIDTH * y.std() * math.log(2)
        assert abs(float((y < ours.predict(X)).mean()) - q) < 0.03
    absolute = LinearRegression(loss="absolute", penalty=None).fit(X, y)
    median = LinearRegression(loss="quantile", quantile=0.5, penalty=None).fit(X, y)
    np.testing.assert_array_equal(absolute.coef_, median.coef_)


# ---- the model


def test_train_predict_and_evaluate() -> None:
    model = model_of(plain=True)
    assert model.classes == [] and model.predicts_numbers and model.positive is None
    predicted = model.predict(TEST)
    assert predicted.dtype == np.float64 and isinstance(model.predict(dict(TEST.iloc[0])), float)
    assert model.predict(dict(TEST.iloc[0])) == predicted[0]
    np.testing.assert_array_equal(model.scores(TEST), predicted.astype(np.float32))
    found = model.evaluate(TEST)
    truth = TEST["target"].to_numpy()
    assert isinstance(found, NumberEvaluation)
    assert found.mse == pytest.approx(mean_squared_error(truth, predicted))
    assert found.mae == pytest.approx(mean_absolute_error(truth, predicted))
    assert found.r2 == pytest.approx(r2_score(truth, predicted))
    assert found.spearman == pytest.approx(spearmanr(truth, predicted).statistic)
    assert found.r2 > 0.5
    for (low, high), value in (
        (found.r2_interval, found.r2),
        (found.mse_interval, found.mse),
        (found.mae_interval, found.mae),
    ):
        assert low < value < high
    facts = json.loads(json.dumps(found.as_dict()))
    assert facts["r2"] == found.r2 and facts["examples"] == len(TEST)
    assert "95% interval" in str(found) and "Spearman" in str(found)


def test_same_features_give_at_least_ridges_r2() -> None:
    X, y = DIABETES.drop(columns="target").to_numpy(), DIABETES["target"].to_numpy()
    Z = (X - X[:330].mean(axis=0)) / X[:330].std(axis=0)
    theirs = Ridge().fit(Z[:330], y[:330]).score(Z[330:], y[330:])
    assert model_of().evaluate(TEST).r2 >= theirs - 0.002


def test_tables_have_curves_where_they_help() -> None:
    random = np.random.default_rng(0)
    table = pd.DataFrame({"x": random.uniform(-3, 3, 800), "z": random.uniform(-3, 3, 800)})
    y = table["x"] ** 2 + 0.1 * random.normal(size=800)
    source = markone.read(table[:600], target=y[:600].tolist())
    curved, plain = (markone.train(source, rule="regression", plain=one) for one in (False, True))
    tests = table[600:].reset_index(drop=True), y[600:].tolist()
    assert plain.evaluate(*tests).r2 < 0.1 and curved.evaluate(*tests).r2 > 0.95
    assert any("curve" in one for one in curved.features.shapes_in_words())
    assert markone.validate(source, rule="regression", folds=3).mean < 0.5


def test_texts_dates_and_sets() -> None:
    texts = [f"{'very ' * (i % 4)}good {'cheap' if i % 3 else 'dear'} thing" for i in range(200)]
    numbers = [2.5 * (i % 4) - (3 if i % 3 else 0) for i in range(200)]
    model = markone.train(texts, target=numbers, rule="regression")
    assert model.evaluate(texts, numbers).r2 > 0.9
    assert "very good" in {row.feature for row in model.explain("very good").tables[0].rows}
    table = {"when": pd.date_range("2020-01-01", periods=300), "tags": [["a"] if i % 2 else ["b"] for i in range(300)]}
    y = [i % 2 * 5.0 + (i // 31 % 12) for i in range(300)]
    assert markone.train(pd.DataFrame(table), target=y, rule="regression").evaluate(pd.DataFrame(table), y).r2 > 0.5


def test_explanations_sum_to_the_number() -> None:
    for model in (model_of(), model_of(loss="absolute")):
        explanation = model.explain(dict(TEST.iloc[3]))
        [table] = explanation.tables
        assert explanation.prediction == table.score == model.predict(dict(TEST.iloc[3]))
        assert sum(row.product for row in table.rows) == pytest.approx(table.score, rel=1e-5)
        assert explanation.runner_up is None and "prediction: " in str(explanation)
        assert json.loads(json.dumps(explanation.as_dict()))["runner_up"] is None
    whole = model_of().explain()
    assert "predicts target" in str(whole) and {side.label for side in whole.sides} == {
        "smaller target",
        "larger target",
    }
    assert "<table" in whole.html()


def test_losses_predict_means_medians_and_quantiles() -> None:
    random = np.random.default_rng(0)
    X = np.zeros((2001, 1))
    y = random.exponential(size=2001) * 10
    for given, expected in (
        ({}, y.mean()),
        ({"loss": "absolute"}, np.median(y)),
        ({"loss": "quantile", "quantile": 0.9}, np.quantile(y, 0.9)),
    ):
        model = markone.train(X + random.normal(0, 1e-9, X.shape), target=y.tolist(), rule="regression", **given)
        assert model.predict([[0.0]])[0] == pytest.approx(expected, rel=0.02)


def test_every_setting_changes_something() -> None:
    usual = model_of(plain=True).predict(TEST)
    for given in (
        {"strength": 1.0},
        {"loss": "absolute"},
        {"bias": False},
        {"penalty": "l1", "strength": 0.1},
        {"epochs": 1},
        {"tol": 0.1},
    ):
        assert not np.array_equal(model_of(**given).predict(TEST), usual), given
    one, other = (model_of(loss="quantile", quantile=q).predict(TEST) for q in (0.2, 0.8))
    assert (one < other).all()
    sparse = model_of(penalty="l1", strength=0.2)
    assert (sparse.weight_arrays()[0] == 0).any()


def test_the_unit_of_the_target_does_not_matter() -> None:
    usual = model_of().predict(TEST)
    other = markone.train(
        TRAIN.drop(columns="target"), target=(TRAIN["target"] * 1000 - 5).tolist(), rule="regression"
    ).predict(TEST.drop(columns="target"))
    np.testing.assert_allclose(other, usual * 1000 - 5, rtol=1e-4)


# ---- files, checkpoints, resuming


def test_file_round_trip(tmp_path: Path) -> None:
    model = model_of()
    for final in (False, True):
        model.save(tmp_path / "m.model", final=final)
        again = markone.load(tmp_path / "m.model")
        np.testing.assert_array_equal(again.predict(TEST), model.predict(TEST))
        assert again.settings == model.settings and again.predicts_numbers
    quantile = model_of(loss="quantile", quantile=0.3)
    quantile.save(tmp_path / "q.model")
    assert markone.load(tmp_path / "q.model").settings.quantile == 0.3
    saved = read_file(tmp_path / "m.model")
    write_file(tmp_path / "bad.model", {**saved.facts, "classes": ["a", "b"]}, saved.arrays)
    with pytest.raises(ModelFileError, match="predicts numbers, but has classes"):
        markone.load(tmp_path / "bad.model")


def test_the_same_training_gives_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    for file, more in zip(files, ({}, {"threads": 2}, {"memory": 2**20}), strict=True):
        model_of(**more).save(file)
    assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()


def test_a_training_can_be_interrupted_and_resumed(tmp_path: Path) -> None:
    how: dict[str, Any] = {"loss": "quantile", "quantile": 0.3}
    whole = model_of(**how)
    assert len(whole.history) > 3
    stopped = model_of(**how, checkpoint=Checkpoints(tmp_path / "c"), callback=lambda one: one.epoch == 2)
    assert len(stopped.history) == 2
    first = model_of(**how, epochs=2)
    first.save(tmp_path / "first")
    resumed = markone.train(TRAIN, target="target", rule="regression", resume=tmp_path / "first", epochs=100, **how)
    np.testing.assert_array_equal(resumed.predict(TEST), whole.predict(TEST))
    changed = TRAIN.assign(target=TRAIN["target"] * 2)
    with pytest.raises(DataError, match="the rows are not those of the interrupted training"):
        markone.train(changed, target="target", rule="regression", resume=tmp_path / "first", epochs=100, **how)


# ---- validation


def test_validation() -> None:
    found = markone.validate(DIABETES, target="target", rule="regression", folds=5)
    theirs = markone.validate(DIABETES, target="target", estimator=Ridge(), folds=5)
    assert found.metric == "mean squared error" and found.mean < 1.02 * theirs.mean
    left_out = markone.validate(DIABETES[:40], target="target", rule="regression", method="loo")
    assert left_out.metric == "mean squared error" and len(left_out.predicted) == 40
    curve = markone.learning_curve(DIABETES, target="target", rule="regression", sizes=[100, 200])
    assert "mean squared error" in str(curve) or curve.metric == "mean squared error"


# ---- what is refused


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"holdout": 0.1}, "holdout is not used by the rule 'regression'"),
        ({"patience": 2}, "patience is not used"),
        ({"loss": "hinge"}, "loss must be 'squared', 'absolute' or 'quantile'"),
        ({"quantile": 0.3}, "belongs to the loss 'quantile'"),
        ({"loss": "quantile", "quantile": 1.0}, "quantile must be a number greater than 0 and less than 1"),
        ({"C": 1.0}, "C belongs to"),
        ({"class_weight": "balanced"}, "class_weight is about classes"),
        ({"threshold": 0.5}, "threshold is about classes"),
        ({"abstain": 0.01}, "abstain is about classes"),
        ({"eta": 0.1}, "eta belongs to"),
        ({"positive": "a"}, "positive is about classes"),
        ({"classes": ["a", "b"]}, "classes is about classes"),
        ({"start": {"age": 1.0}}, "start is not possible"),
    ],
)
def test_wrong_settings(given: dict[str, Any], match: str) -> None:
    with pytest.raises(SettingsError, match=match):
        model_of(**given)


def test_other_rules_do_not_have_these_settings() -> None:
    with pytest.raises(SettingsError, match="loss must be 'hinge' or 'squared' for the rule 'svm'"):
        Settings(rule="svm", loss="absolute")
    with pytest.raises(SettingsError, match="quantile belongs to the rule 'regression'"):
        Settings(rule="mira", quantile=0.5)


def test_targets_that_are_no_numbers() -> None:
    with pytest.raises(DataError, match="needs a target of numbers, and 'label' has the value 'x'"):
        markone.train(["a", "b"], target=["x", "y"], rule="regression")
    with pytest.raises(DataError, match="has the value True"):
        markone.train(["a", "b"], target=[True, False], rule="regression")
    with pytest.raises(DataError, match="none of the rows has a label"):
        markone.train(["a", "b"], target=[None, None], rule="regression")
    with pytest.raises(DataError, match="too large"):
        markone.train(["a", "b"], target=[1e300, 1], rule="regression")
    with pytest.raises(DataError, match="differ only by about"):
        markone.train(["a", "b"], target=[10**12, 10**12 + 1], rule="regression")


def test_odd_targets() -> None:
    constant = markone.train(["a", "b"], target=[3, 3], rule="regression")
    assert constant.predict("a") == 3.0 and math.isnan(constant.evaluate(["a", "b"], [3, 3]).r2)
    one = markone.train(["a"], target=[2.5], rule="regression")
    assert one.predict("zzz") == 2.5
    gaps = markone.train(["a", "b", "c"], target=[1.5, None, 2.5], rule="regression")
    assert gaps.history.rows == 2 and gaps.history.unlabelled == 1
    assert gaps.evaluate(["a", "b"], [1.5, None]).unlabelled == 1
    written = markone.train(["a", "b", "a"], target=["1.5", "2", "1e0"], rule="regression")
    assert 1 < written.predict("a") < 2


def test_classes_of_numbers_ask_for_this_rule(tmp_path: Path) -> None:
    X, y = problem(100)
    for learn in (markone.train, markone.validate, markone.audit, markone.tune):
        with pytest.raises(DataError, match="this rule predicts classes; to predict numbers, set rule='regression'"):
            learn(X, target=y)
    path = tmp_path / "a.libsvm"
    path.write_text("".join(f"{number} 1:{x[0]}\n" for x, number in zip(X, y, strict=True)))
    with pytest.raises(DataError, match="set rule='regression'"):
        markone.train(path)
    assert markone.train(path, rule="regression").predicts_numbers


def test_what_a_regression_does_not_have() -> None:
    model = model_of()
    for ask in (
        lambda: model.accuracy(TEST),
        lambda: model.probabilities(TEST),
        lambda: model.losses(TEST),
        lambda: markone.margins(model, TEST),
        lambda: model.errors(TEST),
        lambda: model.card(),
        lambda: markone.filter_files(model, "none.csv", "none"),
        lambda: markone.audit(TRAIN, target="target", rule="regression"),
        lambda: markone.tune(TRAIN, target="target", rule="regression"),
        lambda: markone.trace(TRAIN, "target", rule="regression"),
        lambda: markone.compare(TRAIN, target="target", rules=["regression"]),
        lambda: markone.train(TRAIN, target="target", rule="regression", from_model=model),
        lambda: markone.train(TRAIN, target="target", from_model=model),
    ):
        with pytest.raises(SettingsError):
            ask()


# ---- the estimator


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([LinearRegression(tol=1e-10)])
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([LinearRegression(loss="absolute", tol=1e-10), LinearRegression(penalty="l1", alpha=0.01)])
def test_scikit_learns_own_checks_of_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_estimator_is_ridge() -> None:
    X, y = problem(80, 5)
    weights = np.random.default_rng(0).random(80)
    for alpha, intercept in ((0.5, True), (30.0, False)):
        ours = LinearRegression(alpha=alpha, fit_intercept=intercept, tol=1e-10).fit(X, y, weights)
        theirs = Ridge(alpha=alpha, fit_intercept=intercept).fit(X, y, weights)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-7)
    assert ours.n_iter_ >= 1
    sparse = LinearRegression().fit(scipy.sparse.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, LinearRegression().fit(X, y).coef_, atol=1e-6)
    assert LinearRegression().fit(X.astype(np.float32), y).coef_.dtype == np.float32


def test_the_penalty_l1_is_that_of_lasso() -> None:
    X, y = problem(80, 5)
    z = (y - y.mean()) / y.std()
    ours = LinearRegression(penalty="l1", alpha=0.1 * 80, tol=1e-10).fit(X, z)
    np.testing.assert_allclose(ours.coef_, Lasso(alpha=0.1, tol=1e-10).fit(X, z).coef_, atol=1e-6)


def test_wrong_parameters() -> None:
    X, y = problem(20)
    for given, match in (
        ({"alpha": -1}, "alpha must be"),
        ({"loss": "hinge"}, "loss must be"),
        ({"loss": "quantile", "quantile": 2}, "quantile must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"fit_intercept": 1}, "fit_intercept must be"),
    ):
        with pytest.raises(SettingsError, match=match):
            LinearRegression(**given).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        LinearRegression(loss="absolute", max_iter=1).fit(X, y)
