"""The theory takes numbers as they are: from arrays, from frames and on the command line, with and without a bias."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import markone
from markone.cli import main
from markone.errors import SettingsError
from markone.theory.advice import advice

X = [[0, 0], [0, 1], [1, 0], [1, 1]]
AND, OR, XOR = ["no", "no", "no", "yes"], ["no", "yes", "yes", "yes"], ["no", "yes", "yes", "no"]
SENTENCE = "Numbers are used as they are."
SCALED = "scaled to mean 0 and standard deviation 1"


def frame(labels: list[str]) -> pd.DataFrame:
    return pd.DataFrame(X, columns=["a", "b"]).assign(y=labels)


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def write(labels: list[str]) -> list[str]:
        frame(labels).to_csv("gate.csv", index=False)
        return ["gate.csv", "--target", "y"]

    return write


def three_points() -> list[str]:
    """Points of the lecture, which a plane through the origin separates."""
    Path("three.csv").write_text("a,b,y\n3,2,p\n-2,2,n\n-2,-3,p\n")
    return ["three.csv", "--target", "y"]


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([*words]) == 0
    return capsys.readouterr().out


# ---- the same figures everywhere


@pytest.mark.parametrize(("labels", "bound"), [(AND, 51), (OR, 27)])
def test_a_certificate_has_the_same_figures_everywhere(
    labels: list[str], bound: int, gate: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    by_array, by_frame = markone.certify(X, labels), markone.certify(frame(labels), "y")
    by_command = json.loads(said(capsys, "certify", *gate(labels), "--json"))
    for found in (by_array, by_frame):
        assert found.margin == pytest.approx(0.353553, abs=1e-6) and found.mistake_bound == pytest.approx(bound)
    assert by_command["margin"] == by_frame.margin and by_command["mistake_bound"] == by_frame.mistake_bound
    assert (by_array.numbers, by_frame.numbers, by_command["numbers"]) == (None, *["used as they are"] * 2)
    assert by_frame.verify(frame(labels), "y") and by_array.verify(X, labels)
    assert "  numbers   used as they are" in said(capsys, "certify", *gate(labels))


def test_a_trace_makes_the_same_steps_everywhere(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    by_array, by_frame = markone.trace(X, AND, epochs=50), markone.trace(frame(AND), "y", epochs=50)
    text = said(capsys, "trace", *gate(AND), "--epochs", "50", "--steps", "1000")
    assert by_array.mistakes == by_frame.mistakes == 18 and "18 mistakes" in text
    assert [[*step.features.values()] for step in by_array] == [[*step.features.values()] for step in by_frame]
    assert SENTENCE in text and SENTENCE in str(by_frame) and SENTENCE not in str(by_array)
    assert by_frame.as_dict()["numbers"] == "used as they are"


def test_bounds_have_the_same_figures_everywhere(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    how: dict[str, Any] = {"rule": "perceptron", "epochs": 50, "bounds": True}
    by_array, by_frame = markone.train(X, target=AND, **how), markone.train(frame(AND), target="y", **how)
    command = ["train", *gate(AND), "--rule", "perceptron", "--epochs", "50", "--bounds", "-o", "gate.model"]
    by_command = json.loads(said(capsys, *command, "--json"))
    assert by_array.history.bounds == by_frame.history.bounds
    assert by_command["bounds"] == json.loads(json.dumps(by_frame.history.bounds.as_dict()))
    assert by_command["numbers"] == "used as they are" and SENTENCE in said(capsys, *command)
    assert by_frame.explain({"a": 1, "b": 1}).tables[0].rows[0].value == 1


# ---- the other way


def test_scaling_can_be_wanted(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = markone.certify(frame(AND), "y", scaled=True)
    assert found.margin == pytest.approx(0.707107, abs=1e-6) and found.mistake_bound == pytest.approx(9)
    assert found.numbers == SCALED and found.verify(frame(AND), "y")
    text = said(capsys, "certify", *gate(AND), "--scaled")
    assert "0.707107" in text and SCALED in text and "--no-scaled" not in text
    run = markone.trace(frame(AND), "y", scaled=True)
    assert run[0].features == {"a": -1.0, "b": -1.0} and f"Numbers are {SCALED}." in str(run)
    assert SCALED in said(capsys, "trace", *gate(AND), "--scaled")
    text = said(capsys, "train", *gate(AND), "--rule", "perceptron", "--bounds", "--scaled")
    assert SCALED in text and "the theory allows at most 9" in text


def test_a_spec_decides_before_the_default() -> None:
    for spec in ({"numeric": {"scale": "standard"}}, markone.Features()):
        assert markone.certify(frame(AND), "y", features=spec).numbers == SCALED
        assert markone.trace(frame(AND), "y", features=spec)[0].features == {"a": -1.0, "b": -1.0}
        model = markone.train(frame(AND), target="y", rule="perceptron", bounds=True, features=spec)
        assert model.features.numbers_in_words() == SCALED
    other = {"columns": {"b": {"scale": "max-abs"}}}
    found = markone.certify(frame(AND), "y", features=other)
    assert found.numbers == "used as they are (b: divided by the largest absolute value)"


def test_train_scales_unless_told_otherwise(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert markone.train(frame(AND), target="y").features.numbers_in_words() == SCALED
    assert markone.train(frame(AND), target="y", scaled=False).features.numbers_in_words() == "used as they are"
    command = ["train", *gate(AND), "--rule", "perceptron", "--json"]
    assert json.loads(said(capsys, *command, "--no-scaled"))["numbers"] == "used as they are"
    assert json.loads(said(capsys, *command, "--tune", "--bounds"))["numbers"] == "used as they are"
    assert json.loads(said(capsys, *command, "--tune"))["numbers"] == SCALED


def test_rows_of_length_1_are_told() -> None:
    table = frame(AND).assign(text=["free money", "see you", "tea for you", "free tea"])
    found = markone.certify(table, "y")
    assert found.numbers == "used as they are, before rows are scaled to length 1"


@pytest.mark.parametrize("learn", [markone.certify, markone.trace])
def test_scaling_where_nothing_is_scaled_is_an_error(learn: Any) -> None:
    with pytest.raises(SettingsError, match="scaled is about numeric columns, but there are none"):
        learn(["free money", "see you"], ["spam", "ham"], scaled=True)
    with pytest.raises(SettingsError, match="scaled is about numeric columns, but there are none"):
        learn(X, AND, scaled=True)
    with pytest.raises(SettingsError, match="scaled is of no use, because the rule or the features say otherwise"):
        learn(frame(AND), "y", scaled=True, features={"numeric": {"scale": "none"}})
    with pytest.raises(SettingsError, match="scaled must be True or False, not 'yes'"):
        learn(frame(AND), "y", scaled="yes")


def test_train_refuses_a_scaling_that_changes_nothing() -> None:
    with pytest.raises(SettingsError, match="there are none"):
        markone.train(["free money", "see you"], target=["spam", "ham"], scaled=False)
    with pytest.raises(SettingsError, match="the features scale all numbers"):
        markone.train(frame(AND), target="y", scaled=False, features=markone.Features())
    with pytest.raises(SettingsError, match="the rule or the features say otherwise"):
        markone.train(frame(AND), target="y", scaled=True, rule="naive-bayes")
    with pytest.raises(SettingsError, match="scaled must be True or False"):
        markone.train(frame(AND), target="y", scaled=1)


def test_a_training_with_bounds_is_resumed_with_its_numbers(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", *gate(AND), "--rule", "perceptron", "--bounds", "--quiet"]
    said(capsys, *command, "--epochs", "30", "-o", "whole.model")
    said(capsys, *command, "--epochs", "3", "-o", "part.model")
    for more in ([], ["--no-scaled"]):
        said(capsys, *command, "--epochs", "30", "-o", "part.model", "--resume", *more)
        assert Path("part.model").read_bytes() == Path("whole.model").read_bytes()
    assert main([*command, "--epochs", "40", "-o", "part.model", "--resume", "--scaled"]) == 2
    assert "are already in the model" in capsys.readouterr().err
    assert main(["train", *gate(AND), "--from", "whole.model", "--scaled"]) == 2


# ---- planes without a bias


def test_all_commands_speak_of_planes_through_the_origin(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    data = gate(AND)
    text = said(capsys, "certify", *data, "--no-bias")
    assert "not separable" in text and "1 example that no plane through the origin separates: row 1" in text
    assert "Use a bias, with which a plane separates them." in text
    trace = said(capsys, "trace", *data, "--no-bias", "--steps", "4")
    assert "BIAS" not in trace and "BIAS" in said(capsys, "trace", *data, "--steps", "8")
    text = said(capsys, "train", *data, "--rule", "perceptron", "--no-bias", "--bounds", "-o", "a.model")
    assert "|w|², no plane through the origin separates the examples" in " ".join(text.split())
    text = " ".join(said(capsys, "evaluate", "a.model", "gate.csv", "--margins").split())
    assert "No plane through the origin separates the classes (1 example proves it)" in text


def test_a_comparison_without_a_bias(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """1 and 2 differ by a threshold, but not by their signs."""
    values, labels = [[1.0], [1.1], [2.0], [2.1]] * 10, [*"aabb"] * 10
    rules = ["perceptron", "mira", "naive-bayes"]
    with_bias, without = (
        markone.compare(values, target=labels, rules=rules, folds=2, contrasts=False, bias=bias)
        for bias in (True, False)
    )
    assert with_bias.theory.startswith("A plane separates")
    assert (
        without.theory.startswith("No plane through the origin separates")
        and "use a bias, with which" in without.theory
    )
    assert with_bias["mira"].validation.mean == 1 and without["mira"].validation.mean < 1
    assert without["mira"].settings == {"rule": "mira", "bias": False}
    assert without["naive-bayes"].settings == {"rule": "naive-bayes"}
    assert "no plane through the origin separates all rows" in without.verdict
    with pytest.raises(SettingsError, match="bias must be True or False"):
        markone.compare(values, target=labels, bias="no")  # type: ignore[arg-type]
    pd.DataFrame(values, columns=["a"]).assign(y=labels).to_csv("line.csv", index=False)
    command = ["compare", "line.csv", "--target", "y", "--rules", "mira", "--folds", "2", "--no-contrasts", "--quiet"]
    assert "--rule mira --no-bias" in said(capsys, *command, "--no-bias")
    tuned = markone.compare(values, target=labels, rules=["mira"], folds=2, contrasts=False, bias=False, tune=True)
    assert tuned["mira"].validation.mean < 1


# ---- advice


@pytest.mark.parametrize("bias", [True, False])
def test_exclusive_or_is_not_advised_to_use_mira(bias: bool, gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "certify", *gate(XOR), *([] if bias else ["--no-bias"]))
    assert "mira" not in text and "--rule mlp" in text and ("A bias is not enough" in text) == (not bias)
    assert "may be enough" not in text and "mira" not in advice(markone.certify(frame(XOR), "y", bias=bias))


def test_a_bias_is_advised_if_it_is_enough(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for labels in (AND, OR):
        text = said(capsys, "certify", *gate(labels), "--no-bias")
        command = next(line.split() for line in text.splitlines() if "markone train" in line)
        assert "--no-bias" not in command and "mlp" not in text
        said(capsys, *command[1:], "-o", "a.model")
        assert markone.load("a.model").accuracy(markone.read("gate.csv", target="y")) == 1


def test_a_proof_of_one_class_has_the_sum_0(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "certify", *gate(XOR))
    assert "the weighted sums of the examples of both classes are equal" in text
    Path("line.csv").write_text("a,b,y\n1,2,p\n-1,-2,p\n2,-1,n\n")
    text = said(capsys, "certify", "line.csv", "--target", "y", "--no-bias")
    assert "With these weights, the weighted sum of these examples is 0:" in text and "both classes" not in text


def test_the_recommended_perceptron_learns_without_a_mistake(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """It is trained on the same numbers, so the bound of the certificate holds for it."""
    for labels in (AND, OR):
        text = said(capsys, "certify", *gate(labels))
        command = next(line.split() for line in text.splitlines() if "markone train" in line)
        assert "--no-scaled" in command
        said(capsys, *command[1:], "-o", "a.model")
        history = markone.load("a.model").history
        assert history[-1].mistakes == 0 and history.stopped == "converged"


def separable(rows: int, seed: int) -> str:
    chance = random.Random(seed)
    points = [(chance.randint(0, 10), chance.randint(0, 6)) for _ in range(rows)]
    return "a,b,y\n" + "".join(f"{a},{b},{'p' if 3 * a - 2 * b > 7 else 'q'}\n" for a, b in points)


@pytest.mark.parametrize(
    "table",
    [
        "a,b,y\n" + "".join(f"{i * 37 % 11},{i * 17 % 7},{'p' if i * 37 % 11 > 5 else 'q'}\n" for i in range(40)),
        *(separable(60, seed) for seed in range(3)),
    ],
)
def test_the_recommended_perceptron_is_right_on_all_rows(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(table)
    text = said(capsys, "certify", "rows.csv", "--target", "y")
    command = next(line.split() for line in text.splitlines() if "markone train" in line)
    said(capsys, *command[1:], "-o", "a.model")
    assert markone.load("a.model").accuracy(markone.read("rows.csv", target="y")) == 1


def test_more_passes_than_the_command_makes_may_be_needed(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert "passes may be needed" not in said(capsys, "certify", *gate(AND))
    Path("rows.csv").write_text("a,y\n1000,p\n1001,q\n")
    text = " ".join(said(capsys, "certify", "rows.csv", "--target", "y").split())
    assert "--epochs 10000 " in text and re.search(
        r"In theory, up to [\d.e+,]+ passes may be needed\. The command", text
    )


def test_the_mistake_bound_can_be_computed_by_hand(gate: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The bias counts as a feature in the bound, but not in the margin and the radius of the points."""
    text = said(capsys, "certify", *gate(AND))
    most, radius2, margin = (
        float(re.search(pattern, text)[1])  # type: ignore[index]
        for pattern in (r"at most (\d+)", r"with the bias as a feature: R² = (\S+),", r"γ = (\S+)")
    )
    assert radius2 == 3 and math.floor(radius2 / margin**2 + 1e-3) == most
    assert "as a feature" not in said(capsys, "certify", *three_points(), "--no-bias")


def test_three_classes(gate: Any) -> None:
    rows = np.array([[0.0, 3.0], [0.5, 3.2], [3.0, 0.0], [3.2, 0.4], [-3.0, -3.0], [-3.1, -2.0]])
    labels = [*"aabbcc"]
    table = pd.DataFrame(rows, columns=["x", "y"]).assign(kind=labels)
    for bias in (True, False):
        by_array, by_frame = (markone.certify(*what, bias=bias, tol=1e-6) for what in ((rows, labels), (table, "kind")))
        assert by_array.separable and by_frame.separable
        assert by_frame.margin == pytest.approx(by_array.margin, rel=1e-5)
        assert advice(by_frame).startswith(f"A plane{'' if bias else ' through the origin'} separates")


def test_a_verdict_on_folds_does_not_contradict_the_theory() -> None:
    """Exclusive or with few rows: the training rows of a fold are separable, all rows are not."""
    found = markone.compare(X, target=XOR, rules=["perceptron"], folds=2, contrasts=False)
    assert found.theory.startswith("No plane separates")
    assert "so a plane separates these rows, though not all rows together." in found.verdict


def test_numbers_beyond_all_floats_have_the_same_advice_everywhere(
    gate: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row of a batch has no number that a reader could look up. The advice works."""
    gate(AND)
    Path("huge.csv").write_text("a,b,y\n1.9e301,2,p\n-2,2,n\n-2,-3,p\n")
    for command in ("certify", "trace", "train"):
        assert main([command, "huge.csv", "--target", "y"]) != 0
        error = capsys.readouterr().err
        assert "'a' has numbers too large" in error and "divide them first" in error and "batch" not in error
    Path("max.toml").write_text("[numeric]\nscale = 'max-abs'\n")
    said(capsys, "certify", "huge.csv", "--target", "y", "--features", "max.toml")
