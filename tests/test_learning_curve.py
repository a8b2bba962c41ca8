"""Learning curves by the number of training rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.tree import DecisionTreeClassifier

import markone
from markone.cli import main
from markone.errors import DataError, SettingsError
from markone.estimators.regressions import LinearLeastSquares
from markone.experiments.curve import nested_order
from markone.experiments.splits import Plan
from markone.learning.samples import open_sample

X, y = load_iris(return_X_y=True)


def test_more_rows_help_and_few_are_overfitted() -> None:
    digits = load_digits()
    curve = markone.learning_curve(digits.data, target=digits.target, rule="logistic", sizes=[40, 160, 640])
    assert [size.rows for size in curve] == [40, 160, 640]
    held_out = [size.held_out for size in curve]
    assert held_out == sorted(held_out) and held_out[0] < 0.85 and held_out[-1] > 0.9
    assert all(size.training == 1 for size in curve)


def test_the_largest_size_is_a_hold_out_test() -> None:
    """With all rows that are not held out it is what `validate` measures, with the features of these rows."""
    table = pd.DataFrame(X, columns=[*"abcd"]).assign(kind=y)
    for how in ({"rule": "perceptron"}, {"rule": "naive-bayes"}, {"estimator": DecisionTreeClassifier(random_state=0)}):
        curve = markone.learning_curve(table, target="kind", sizes=[20, 105], **how)  # type: ignore[arg-type]
        tested = markone.validate(table, target="kind", method="holdout", **how)  # type: ignore[arg-type]
        assert curve[-1].held_out == tested.mean and curve.held_out == len(tested.folds[0].rows) == 45


def test_sets_are_nested_and_keep_the_shares_of_the_classes() -> None:
    sample = open_sample(X, y, None, None)
    [split], _ = Plan(method="holdout", share=0.3).divide(len(sample), sample.strata)
    order = nested_order(sample, split, 0)
    assert sorted(order.tolist()) == split.learned.tolist()
    for size in (3, 30, 99):
        counts = np.bincount(sample.truth[order[:size]])
        assert counts.max() - counts.min() <= 1
    assert nested_order(sample, split, 0).tolist() == order.tolist() != nested_order(sample, split, 1).tolist()


def test_repeats_and_seeds() -> None:
    how: dict[str, Any] = {"target": y, "sizes": [9, 60], "rule": "mira"}
    first, again, other = (markone.learning_curve(X, seed=seed, repeats=4, **how) for seed in (0, 0, 1))
    assert [size.scores for size in first] == [size.scores for size in again] != [size.scores for size in other]
    for size in first:
        assert len(size.scores) == 4 and size.held_out == pytest.approx(np.mean(size.scores))
    single = markone.learning_curve(X, **how)
    assert single[0].scores == first[0].scores[:1]
    assert "lowest" in str(first) and "lowest" not in str(single)


def test_a_regression_has_errors() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 3))
    targets = rows @ [1.0, 2.0, 3.0] + random.normal(0, 0.5, 200)
    curve = markone.learning_curve(rows, target=targets, estimator=LinearLeastSquares(), sizes=[5, 20, 140])
    assert curve.metric == "mean squared error" and curve[0].held_out > curve[1].held_out > 0.2
    assert curve[0].training < curve[2].training
    assert "mean squared error" in str(curve) and "%" not in str(curve).split("\n\n")[1]


def test_it_is_printed_and_has_defaults() -> None:
    curve = markone.learning_curve(X, target=y, share=0.2)
    assert [size.rows for size in curve] == [15, 30, 60, 120] and curve.held_out == 30
    lines = str(curve).split("\n")
    said = "mira: accuracy by the number of training rows, on 30 held-out rows (hold-out of 20%)."
    assert " ".join(lines[:2]) == said
    assert lines[3].split() == ["rows", "training", "held-out"] and len(lines) == 8
    assert curve.as_dict()["sizes"][0]["rows"] == 15 and json.dumps(curve.as_dict())
    assert "with 120" in repr(curve)


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        ([20, 10], "must be in ascending order, but 10 follows 20"),
        ([10, 10], "must be in ascending order"),
        ([1], "whole number of at least 2"),
        ([2.5], "whole number"),
        ([], "at least one number"),
        ("10,20", "must be a list of numbers of rows"),
        (10, "must be a list of numbers of rows"),
        ([10, 1000], "must be at most 105, the number of rows that are not held out, not 1,000"),
    ],
)
def test_sizes_that_are_wrong(sizes: Any, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        markone.learning_curve(X, target=y, sizes=sizes)


def test_data_that_are_too_few() -> None:
    with pytest.raises(DataError, match="too few to hold out|only 1 row|needs at least two|at least two"):
        markone.learning_curve([[1.0]], target=[1])
    with pytest.raises(DataError, match="too few to hold out"):
        markone.learning_curve([[1.0], [2.0]], target=[0, 1], share=0.1)
    with pytest.raises(DataError, match="2 training rows have only one class; use larger sizes"):
        markone.learning_curve(np.arange(100.0)[:, None], target=[1] + [0] * 99, sizes=[2, 50])
    with pytest.raises(SettingsError, match="share must be"):
        markone.learning_curve(X, target=y, share=2)
    with pytest.raises(SettingsError, match="epoch is unknown"):
        markone.learning_curve(X, target=y, epoch=2)  # type: ignore[call-arg]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(X, columns=[*"abcd"]).assign(kind=y).to_csv("iris.csv", index=False)
    command = ["validate", "iris.csv", "--target", "kind", "--quiet"]
    assert main([*command, "--curve"]) == 0
    assert "by the number of training rows" in capsys.readouterr().out
    assert main([*command, "--curve", "--sizes", "10,50", "--rule", "logistic", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [size["rows"] for size in told["sizes"]] == [10, 50] and told["name"] == "logistic"
    for wrong, problem in (
        (["--sizes", "10"], "--sizes are the numbers of rows of a learning curve; set --curve, too"),
        (["--curve", "--sizes", "ten"], "--sizes must be numbers of rows, such as 100,200, not 'ten'"),
        (["--curve", "--sizes", "20,10"], "--sizes must be in ascending order"),
        (["--curve", "--method", "loo"], "--curve holds out a share of the rows, so --method loo is not possible"),
        (["--curve", "--method", "kfold"], "--curve holds out a share of the rows, so --method kfold is not possible"),
        (["--curve", "--folds", "10"], "--curve holds out a share of the rows, so --folds is not possible"),
    ):
        assert main([*command, *wrong]) == 2
        assert problem in capsys.readouterr().err
