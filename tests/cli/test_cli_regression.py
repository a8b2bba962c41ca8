"""Numbers on the command line: train, predict, evaluate and explain with `--rule regression`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from commands import rows_in
from markone.reporting.grids import SCREEN, cells

TRAIN = ("train", "cars.csv", "--target", "price", "--rule", "regression", "-o", "cars.model")


@pytest.fixture
def cars(folder):
    random = np.random.default_rng(0)
    for name, rows in (("cars.csv", 300), ("test.csv", 60)):
        lines = ["power,make,price"]
        for _ in range(rows):
            power, make = random.integers(50, 200), random.choice(["asia", "europe"])
            price = 120.5 * power + (3000 if make == "europe" else 0) + random.normal(0, 300)
            lines.append(f"{power},{make},{price:.2f}")
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def test_train_says_what_was_learned(run, cars):
    said = run(*TRAIN, "--test", "test.csv")
    assert "Learned numbers of price from 300 rows (regression, " in said
    assert "converged" in said and "mistake" not in said and "class" not in said.lower()
    assert all(cells(line) <= SCREEN for line in said.splitlines())
    assert "  R² 0.99" in said and "larger price" in said and "Note:" not in said
    facts = json.loads(run(*TRAIN, "--json", "--test", "test.csv"))
    assert facts["classes"] == [] and facts["rule"] == "regression" and facts["test"]["r2"] > 0.98


def test_the_result_on_a_test_file_fits_a_terminal(run, cars):
    said = run("train", "cars.csv", "--target", "make", "-o", "makes.model", "--test", "test.csv")
    assert "which were used only for this test." in " ".join(said.split())
    assert "  Accuracy" in said and all(cells(line) <= SCREEN for line in said.splitlines())


def test_predict_evaluate_and_explain(run, cars):
    run(*TRAIN)
    lines = run("predict", "cars.model", "test.csv").splitlines()
    prices = [float(row["price"]) for row in rows_in(cars / "test.csv")]
    assert len(lines) == 60 and np.corrcoef(list(map(float, lines)), prices)[0, 1] > 0.99
    run("predict", "cars.model", "test.csv", "--keep", "price", "-o", "out.csv")
    assert [row["prediction"] for row in rows_in(cars / "out.csv")] == lines
    [first, *_] = run("predict", "cars.model", "test.csv", "--output", "jsonl").splitlines()
    assert json.loads(first) == {"prediction": pytest.approx(float(lines[0]))}
    said = run("evaluate", "cars.model", "test.csv")
    assert "R²" in said and "95% interval" in said and "Spearman" in said
    assert json.loads(run("evaluate", "cars.model", "test.csv", "--json"))["mae"] < 400
    said = run("explain", "cars.model", "--row", "1", "test.csv")
    assert f"prediction: {float(lines[0]):.6g}" in said and "The prediction is the sum of the products" in said
    assert "larger price" in run("explain", "cars.model")


def test_quantiles(run, cars):
    run(*TRAIN, "--loss", "quantile", "--quantile", "0.9")
    facts = json.loads(run("evaluate", "cars.model", "test.csv", "--json"))
    assert facts["quantile"] == 0.9 and 0.75 < facts["below"] <= 1
    assert "the model predicts 90.0%" in run("evaluate", "cars.model", "test.csv")


def test_a_target_of_numbers_is_a_question(run, cars):
    said = run("train", "cars.csv", "--target", "price", status=2)
    assert said.endswith("to predict numbers, set --rule regression; or divide the values into classes")
    whole = "power,age\n" + "".join(f"{i % 37},{i % 61}\n" for i in range(300))
    (cars / "ages.csv").write_text(whole)
    text = " ".join(run("train", "ages.csv", "--target", "age").split())
    assert "has 61 different numbers. Are they classes? To predict numbers, use the rule 'regression'." in text


def test_what_is_only_for_classes_is_refused(run, cars):
    for more in (("--tune",), ("--plot", "a.svg"), ("--bounds",), ("--positive", "a"), ("--holdout", "0.1")):
        assert "predict" in run(*TRAIN, *more, status=2) or more[0] == "--holdout"
    run(*TRAIN)
    for command in (
        ("predict", "cars.model", "test.csv", "--scores"),
        ("predict", "cars.model", "test.csv", "--probabilities"),
        ("evaluate", "cars.model", "test.csv", "--margins"),
        ("evaluate", "cars.model", "test.csv", "--plot", "a.svg"),
        ("explain", "cars.model", "--plot", "a.svg"),
        ("audit", "cars.csv", "--target", "price", "--rule", "regression"),
    ):
        run(*command, status=2)


def test_validate(run, cars):
    assert "mean squared error" in run("validate", "cars.csv", "--target", "price", "--rule", "regression")
