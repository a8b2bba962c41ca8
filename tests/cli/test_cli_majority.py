"""Models that are no better than always saying the commonest class, of which that is said first; and others."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

POOR = "The model is no better than always predicting the most frequent class: "


@pytest.fixture
def tables(folder: Path) -> Path:
    """Labels that have nothing to do with the numbers beside them, and labels that have."""
    chance = random.Random(3)
    for name, rows, depends in (("noise", 1500, False), ("few", 60, False), ("good", 1500, True), ("fine", 60, True)):
        lines = ["x,z,label"]
        for _ in range(rows):
            x, z = chance.random(), chance.random()
            likely = x > 0.3 if depends else chance.random() < 0.85
            lines.append(f"{x:.3f},{z:.3f},{'usual' if likely else 'rare'}")
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_train_says_first_that_a_model_is_poor(run, tables: Path) -> None:
    for name, where in (("noise", "held-out rows"), ("few", "the training rows")):
        for rule in ("perceptron", "logistic", "naive-bayes", "svm"):
            shown = run("train", f"{name}.csv", "--target", "label", "--rule", rule, "-o", "a.model").split("\n")
            facts = run("evaluate", "a.model", f"{name}.csv")
            if shown[0].startswith(POOR):
                said = " ".join(shown[:3])
                assert where in said and "Try --rule " in said and f"--rule {rule}," not in said
                if name == "few":
                    assert facts.startswith(POOR)
            else:
                assert shown[0].startswith("Read ") and (name == "noise" or not facts.startswith(POOR)), rule
    shown = run("train", "noise.csv", "--target", "label", "--rule", "naive-bayes", "-o", "a.model")
    assert shown.startswith(POOR)
    shown = run("train", "few.csv", "--target", "label", "--rule", "naive-bayes", "-o", "a.model")
    assert shown.startswith(POOR)


def test_train_says_nothing_of_a_model_that_is_better(run, tables: Path) -> None:
    for name in ("good", "fine"):
        for rule in ("perceptron", "logistic", "naive-bayes", "svm"):
            shown = run("train", f"{name}.csv", "--target", "label", "--rule", rule, "-o", "a.model")
            assert shown.startswith("Read "), rule


def test_evaluate_and_validate_say_it_first_and_only_where_it_is_true(run, tables: Path) -> None:
    for name, poor in (("noise", True), ("good", False)):
        run("train", f"{name}.csv", "--target", "label", "--rule", "naive-bayes", "-o", "a.model")
        assert run("evaluate", "a.model", f"{name}.csv").startswith(POOR) == poor
        arguments = ("validate", f"{name}.csv", "--target", "label", "--rule", "naive-bayes", "--folds", "3", "--quiet")
        assert run(*arguments).startswith(POOR) == poor
