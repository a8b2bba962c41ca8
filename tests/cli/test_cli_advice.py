"""Advice on the command line: it follows from what was computed, does not contradict itself, and its commands run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markone
from markone.cli import main
from markone.model.rules import COMPARED
from markone.theory.advice import advice


def write(path: Path, X: Any, y: Any) -> None:
    header = ",".join([*(f"c{i}" for i in range(len(X[0]))), "what is it"])
    lines = [",".join([*map(str, row), str(label)]) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join([header, *lines]))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def exclusive_or(rows: int = 80) -> tuple[Any, Any]:
    X = np.random.default_rng(0).choice([-1.0, 1.0], (rows, 2)) + np.random.default_rng(1).normal(0, 0.1, (rows, 2))
    return X.round(3), np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


def run(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def commands_in(text: str) -> list[list[str]]:
    lines = [line.partition("markone train ")[2] for line in text.splitlines() if "markone train " in line]
    return [["train", *shlex.split(line)] for line in lines]


@pytest.mark.parametrize("name", COMPARED)
def test_what_compare_recommends_can_be_run(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = exclusive_or()
    write(here / "my rows.txt", X, y)
    asked = ("compare", "my rows.txt", "--target", "what is it", "--format", "csv", "--separator", ",")
    text = run(*asked, "--rules", name, "--folds", "2", "--no-contrasts", "--quiet", capsys=capsys)
    [command] = commands_in(text)
    run(*command, "-o", "a.model", "--quiet", capsys=capsys)
    settings = markone.load("a.model").settings
    assert {key: getattr(settings, key) for key in COMPARED[name]} == COMPARED[name]


@pytest.mark.parametrize(("classes", "bias"), [("and", True), ("and", False), ("xor", True)])
def test_what_certify_recommends_can_be_run(
    classes: str, bias: bool, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = exclusive_or()
    write(here / "rows.csv", X, np.where(X[:, 0] > 0, "a", "b") if classes == "and" else y)
    told = ["certify", "rows.csv", "--target", "what is it", "--quiet", *([] if bias else ["--no-bias"])]
    text = run(*told, capsys=capsys)
    [command] = commands_in(text)
    run(*command, "-o", "a.model", "--quiet", capsys=capsys)
    model = markone.load("a.model")
    if classes == "xor":
        assert model.settings.rule == "mlp" and "mira" not in text and "hidden layers" in text
    else:
        assert model.settings.bias is bias and model.history[-1].mistakes == 0
        assert ("plane through the origin" in text) is not bias


def test_exclusive_or_is_advised_to_have_other_features() -> None:
    X, y = exclusive_or()
    found = advice(markone.certify(X, y))
    assert "No plane separates" in found and "squares and products" in found and "mlp" in found and "mira" not in found
    nearly = np.where(X[:, 0] > 0, "a", "b")
    nearly[0] = "b" if nearly[0] == "a" else "a"
    assert "use mira, logistic or svm" in advice(markone.certify(X, nearly))


def test_a_comparison_does_not_contradict_itself() -> None:
    """A perceptron that is not at rest after ten passes says nothing of whether it ever will be."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 8))
    scores = X @ random.normal(size=8)
    X, y = X[abs(scores) > 0.02], (scores > 0).astype(int)[abs(scores) > 0.02]
    found = markone.compare(X, target=y, rules=["perceptron", "mira"], folds=2, contrasts=False)
    assert found.theory.startswith("A plane separates")
    assert "cannot be separated" not in found.verdict and "no plane" not in found.verdict.lower()
    X, y = exclusive_or()
    found = markone.compare(X, target=y.tolist(), rules=["perceptron"], folds=2, contrasts=False)
    assert found.theory.startswith("No plane separates") and "a plane separates" not in found.verdict


def test_margins_of_a_model_without_a_bias_are_held_against_planes_through_the_origin(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 and 2 differ by a threshold, but not by their signs."""
    write(here / "rows.csv", [[1.0], [1.1], [2.0], [2.1]] * 5, [*"aabb"] * 5)
    Path("features.toml").write_text('[numeric]\nscale = "none"\n')
    for option, expected in (("--no-bias", "No plane through the origin separates"), ("--bias", "A plane separates")):
        told = ("--target", "what is it", "--rule", "perceptron", "--features", "features.toml", option)
        run("train", "rows.csv", *told, "-o", "a.model", "--quiet", capsys=capsys)
        text = run("evaluate", "a.model", "rows.csv", "--margins", "--quiet", capsys=capsys)
        assert expected in " ".join(text.split())


def test_bounds_without_a_bias_speak_of_planes_through_the_origin() -> None:
    X, y = exclusive_or()
    for bias in (True, False):
        model = markone.train(X, target=y.tolist(), rule="perceptron", bounds=True, bias=bias)
        assert ("through the origin" in str(model.history.bounds)) is not bias
