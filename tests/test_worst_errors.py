"""The worst errors of a model, with their explanations."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import markone
from markone.cli import main
from markone.errors import SettingsError
from markone.model.margins import functional_margins


def made(classes: int, rows: int = 400) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 4))
    y = (X[:, :classes] + random.normal(size=(rows, classes))).argmax(axis=1)
    return X, np.array([*"abcd"])[y]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("most", [1, 7, 10_000])
def test_they_are_the_errors_with_the_smallest_margins(classes: int, most: int) -> None:
    X, y = made(classes)
    model = markone.train(X, target=y)
    found = model.errors(X, y, most=most, threads=2)
    numbers = np.array([model.classes.index(one) for one in y])
    scores = model.scores(X)
    margins = functional_margins(scores, numbers)
    wrong = np.flatnonzero(model.predict(X) != y)
    worst = wrong[np.argsort(margins[wrong], kind="stable")][:most]
    assert [one.row - 1 for one in found] == worst.tolist()
    assert [one.margin for one in found] == pytest.approx(margins[worst].tolist())
    assert [one.truth for one in found] == y[worst].tolist()
    assert [one.explanation.prediction for one in found] == model.predict(X[worst]).tolist()


def test_unknown_and_missing_labels_are_no_errors() -> None:
    model = markone.train(["good film", "bad film"], target=["+", "-"])
    assert [one.row for one in model.errors(["bad", "good", "bad", "good"], ["?", None, "-", "-"])] == [4]
    assert model.errors(["good"], ["+"]) == []


def test_an_error_is_shown_with_its_explanation() -> None:
    model = markone.train(["good film", "bad film"], target=["+", "-"])
    [one] = model.errors(["a good film"], ["-"])
    assert str(one).startswith("Row 1 has the label -, with a margin of -")
    assert "good" in str(one) and "prediction: +" in str(one)
    assert one.as_dict()["explanation"]["prediction"] == "+"
    with pytest.raises(SettingsError, match="most must be"):
        model.errors(["a"], ["+"], most=0)


def test_the_option_of_the_command(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("text,label\ngood film,+\nbad film,-\nbad,+\n")
    assert main(["train", "a.csv", "--target", "label", "-o", "m", "--quiet"]) == 0
    (tmp_path / "b.csv").write_text("text,label\ngood film,-\nbad film,-\n")
    capsys.readouterr()
    assert main(["evaluate", "m", "b.csv", "--errors", "3"]) == 0
    assert "Row 1 has the label -" in capsys.readouterr().out
    assert main(["evaluate", "m", "b.csv", "--errors", "3", "--json"]) == 0
    assert [one["row"] for one in json.loads(capsys.readouterr().out)["errors"]] == [1]
