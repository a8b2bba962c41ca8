"""Advice: a line from the theory, where rules are compared and models evaluated."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

import markone
from markone.cli import main
from markone.theory.advice import advice

X, y = load_iris(return_X_y=True)


def test_what_can_be_separated_is_said_to_be() -> None:
    found = markone.certify(X[:100], y[:100])
    line = advice(found)
    assert line.startswith("A plane separates the classes, with a margin of 0.8176")
    assert found.mistake_bound is not None
    assert f"at most {int(found.mistake_bound)} mistakes" in line


def test_what_cannot_be_separated_is_said_not_to_be() -> None:
    line = advice(markone.certify(X[50:], y[50:]))
    assert line.startswith("No plane separates the classes (6 examples prove it), but one does after removing 1 of")
    assert "average" in line and "mira" in line


def test_what_was_not_decided_is_said_to_be_open() -> None:
    undecided = markone.Certificate(
        separable=None, classes=[0, 1], bias=True, rows=2, features=1, radius=1.0, bracket=(0.0, 1.0)
    )
    assert "could not be decided" in advice(undecided)


def test_a_comparison_tells_it() -> None:
    for rows, words in ((slice(0, 100), "A plane separates"), (slice(50, 150), "No plane separates")):
        comparison = markone.compare(X[rows], target=y[rows], rules=["mira"], contrasts=False, folds=3)
        assert comparison.theory.startswith(words)
        assert words in str(comparison) and words in comparison.html()
        assert comparison.as_dict()["theory"] == comparison.theory


def test_an_evaluation_with_margins_tells_it(tmp_path: Any, capsys: Any) -> None:
    path, model = tmp_path / "points.csv", tmp_path / "points.model"
    lines = [f"{a},{b},{'left' if a < 0 else 'right'}" for a, b in np.random.default_rng(0).normal(size=(40, 2))]
    path.write_text("\n".join(["a,b,side", *lines]) + "\n")
    assert main(["train", str(path), "--target", "side", "-o", str(model), "--quiet"]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(model), str(path), "--margins"]) == 0
    assert "A plane separates the classes" in capsys.readouterr().out
    main(["evaluate", str(model), str(path), "--margins", "--json"])
    assert json.loads(capsys.readouterr().out)["theory"].startswith("A plane separates")
    main(["evaluate", str(model), str(path), "--json"])
    assert "theory" not in json.loads(capsys.readouterr().out)
