"""Weights of classes: they multiply the importance of rows, in every command that trains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import markone
from markone.cli import main
from markone.errors import SettingsError
from markone.model.rules import RULES

ROWS = 600
RARE = 0.1


def made(seed: int = 0, rows: int = ROWS) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    rare = random.random(rows) < RARE
    points = random.normal(size=(rows, 3)) + 0.9 * rare[:, None]
    return {**{f"x{i}": points[:, i] for i in range(3)}, "kind": np.where(rare, "rare", "usual").tolist()}


def weighted_by_hand(weights: dict[str, float]) -> dict[str, Any]:
    rows = made()
    return {**rows, "weight": [weights[label] for label in rows["kind"]]}


def weights_of(model: markone.Model) -> Any:
    return [array.tolist() for array in model.weight_arrays()]


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in ("mlp", "naive-bayes", "regression")])
def test_a_class_weight_is_the_importance_of_its_rows(rule: Any) -> None:
    found = markone.train(made(), target="kind", rule=rule, class_weight={"rare": 3})
    source = markone.read(weighted_by_hand({"rare": 3.0, "usual": 1.0}), target="kind", importance="weight")
    assert weights_of(found) == weights_of(markone.train(source, rule=rule))
    assert weights_of(found) != weights_of(markone.train(made(), target="kind", rule=rule))


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "regression"])
def test_balanced_classes_find_the_rare_one(rule: Any) -> None:
    plain, balanced = (
        markone.train(made(), target="kind", rule=rule, positive="rare", class_weight=one).evaluate(made(1))
        for one in (None, "balanced")
    )
    assert balanced.recall[1] > plain.recall[1]


def test_balanced_classes_have_the_same_total_weight() -> None:
    rows = made()
    rare = rows["kind"].count("rare")
    by_hand = {"rare": ROWS / (2 * rare), "usual": ROWS / (2 * (ROWS - rare))}
    found = markone.train(rows, target="kind", rule="logistic", class_weight="balanced")
    assert weights_of(found) == weights_of(markone.train(rows, target="kind", rule="logistic", class_weight=by_hand))
    assert found.history.majority == pytest.approx(0.5)


def test_only_training_rows_are_counted_for_balance_and_held_out_rows_are_weighted() -> None:
    rows = made()
    model = markone.train(rows, target="kind", holdout=0.5, class_weight="balanced")
    assert model.history.held_out > 0 and model.history.majority == pytest.approx(0.5, abs=0.02)


def test_the_weights_are_kept_and_resumed(tmp_path: Any) -> None:
    whole = markone.train(made(), target="kind", rule="perceptron", epochs=6, class_weight={"rare": 2.5})
    markone.train(made(), target="kind", rule="perceptron", epochs=3, class_weight={"rare": 2.5}).save(tmp_path / "m")
    assert markone.load(tmp_path / "m").settings.class_weight == (("rare", 2.5),)
    gone_on = markone.train(made(), target="kind", rule="perceptron", epochs=6, resume=tmp_path / "m")
    assert weights_of(gone_on) == weights_of(whole)
    with pytest.raises(SettingsError, match="class_weight is None now"):
        markone.train(made(), target="kind", rule="perceptron", epochs=6, class_weight=None, resume=tmp_path / "m")


def test_a_smaller_memory_gives_the_same_weights() -> None:
    rows = made(rows=50_000)
    settings: dict[str, Any] = {"target": "kind", "rule": "perceptron", "epochs": 2, "class_weight": "balanced"}
    assert weights_of(markone.train(rows, memory=2**20, **settings)) == weights_of(markone.train(rows, **settings))


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        ("equal", "class_weight must be 'balanced', or a number of at least 0"),
        ({"rare": -1}, "class_weight must be 'balanced'"),
        ({"rare": float("inf")}, "class_weight must be 'balanced'"),
        ({"rare": "2"}, "class_weight must be 'balanced'"),
        ({}, "class_weight must be 'balanced'"),
        (
            {"rrare": 2},
            "class_weight names 'rrare', which is not among the classes 'rare', 'usual'. Did you mean 'rare'",
        ),
    ],
)
def test_weights_that_cannot_be_used_get_a_sentence(weights: Any, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem.replace("(", r"\(")):
        markone.train(made(), target="kind", class_weight=weights)


def test_bounds_need_rows_that_count_the_same() -> None:
    with pytest.raises(SettingsError, match="examples differ in importance"):
        markone.train(made(), target="kind", rule="perceptron", bounds=True, class_weight="balanced")


def test_a_trace_has_weighted_steps() -> None:
    points = [[1.0], [-1.0], [-1.0]]
    labels = ["rare", "usual", "usual"]
    run = markone.trace(points, labels, rule="hinge", eta=1, epochs=1, bias=False, class_weight={"rare": 2})
    assert run.steps[0].rows[0] == 0 and run.weights() == {"usual": {"x0": -2.0}}


@pytest.mark.parametrize("rule", ["perceptron", "svm", "naive-bayes"])
def test_leave_one_out_of_weighted_rows_is_exact(rule: Any) -> None:
    rows = {name: values[:60] for name, values in made().items()}
    settings: dict[str, Any] = {"rule": rule, "features": {"numeric": {"scale": "none"}}, "epochs": 3}
    if rule != "perceptron":
        del settings["epochs"]
    for weights in ({"rare": 4.0}, "balanced"):
        found = markone.validate(rows, target="kind", method="loo", class_weight=weights, **settings)
        for left_out in range(0, 60, 7):
            others = {name: [*values[:left_out], *values[left_out + 1 :]] for name, values in rows.items()}
            if weights == {"rare": 4.0} and rule == "perceptron":
                continue  # its order is that of the training with all rows
            model = markone.train(others, target="kind", class_weight=weights, **settings)
            said = model.predict({name: values[left_out] for name, values in rows.items() if name != "kind"})
            assert found.classes[found.predicted[left_out]] == said


def test_validation_and_tuning_use_the_weights() -> None:
    rows = made()
    plain, balanced = (
        markone.validate(rows, target="kind", rule="logistic", folds=3, class_weight=one) for one in (None, "balanced")
    )
    rare = balanced.truth == 0
    assert (balanced.predicted[rare] == 0).mean() > (plain.predicted[rare] == 0).mean()
    tuned = markone.tune(rows, target="kind", rule="logistic", class_weight="balanced")
    assert tuned.settings["class_weight"] == "balanced"


def test_the_option_of_the_command(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    rows = made()
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    arguments = ["train", "a.csv", "--target", "kind", "--rule", "logistic", "--holdout", "0.2", "-o", "m"]
    assert main([*arguments, "--class-weight", "rare=5,usual=1"]) == 0
    assert markone.load("m").settings.class_weight == (("rare", 5.0), ("usual", 1.0))
    assert "Accuracy, by class weights, " in capsys.readouterr().out
    assert main([*arguments, "--class-weight", "balanced"]) == 0
    assert markone.load("m").settings.class_weight == "balanced"
    assert main([*arguments, "--class-weight", "rare=many"]) == 2
    assert "--class-weight must be numbers by label, such as ham=1,spam=5, not 'rare=many'" in capsys.readouterr().err
