"""The invariants of a trace: what the proof of the mistake bound says is true after every mistake."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st

import markone
from markone.cli import main
from markone.errors import DataError, SettingsError

X = [[0, 0], [0, 1], [1, 0], [1, 1]]
AND, XOR = ["no", "no", "no", "yes"], ["no", "yes", "yes", "no"]
THREE = [[3, 2], [-2, 2], [-2, -3]], [1, -1, 1]


@st.composite
def separable(draw: st.DrawFn) -> tuple[list[list[int]], list[str], dict[str, float], bool]:
    """Rows on both sides of a plane, and the plane."""
    bias = draw(st.booleans())
    width = draw(st.integers(1, 4))
    plane = draw(st.lists(st.integers(-3, 3), min_size=width + 1, max_size=width + 1))
    plane = plane if bias else [*plane[:-1], 0]
    assume(any(plane[:-1]))
    rows = draw(st.lists(st.lists(st.integers(-5, 5), min_size=width, max_size=width), min_size=2, max_size=12))
    scores = [sum(w * x for w, x in zip(plane, [*row, 1], strict=True)) for row in rows]
    assume(all(scores) and min(scores) < 0 < max(scores))
    names = {**{f"x{i}": float(w) for i, w in enumerate(plane[:-1])}, **({"BIAS": float(plane[-1])} if bias else {})}
    return rows, ["plus" if score > 0 else "minus" for score in scores], names, bias


@given(separable(), st.booleans())
def test_they_hold_after_every_mistake(case: tuple[Any, list[str], dict[str, float], bool], sparse: bool) -> None:
    rows, labels, plane, bias = case
    given_rows = scipy.sparse.csr_array(np.array(rows, np.float64)) if sparse else rows
    run = markone.trace(given_rows, labels, bias=bias, steps=300)
    for found in (run.invariants(plane), run.invariants()):
        assert found.hold and found.separable and found.margin is not None and found.bound is not None
        assert len(found) == run.mistakes <= found.bound * (1 + 1e-9)
        assert math.sqrt(sum(w * w for w in (found.reference or {}).values())) == pytest.approx(1)
        by_mistake = [step for step in run if step.mistakes]
        for one, step in zip(found, by_mistake, strict=True):
            assert one.after - one.before == pytest.approx(sum(x * x for x in rows[one.row]) + bias)
            assert step.margins == pytest.approx((one.before, one.after))
            weights = run.weights(run.steps.index(step))["plus"]
            assert one.norm2 == pytest.approx(sum(w * w for w in weights.values()))
            product = sum(w * (found.reference or {}).get(name, 0.0) for name, w in weights.items())
            assert one.progress == pytest.approx(product)
            assert one.angle == pytest.approx(math.degrees(math.acos(min(1, product / math.sqrt(one.norm2)))), abs=1e-3)
            assert one.angle <= (found.largest_angle(one.k) or 0) + 1e-3
        bounds = [found.largest_angle(k) or 0 for k in range(1, len(found) + 1)]
        assert bounds == sorted(bounds, reverse=True)


def test_the_three_points_of_the_lecture() -> None:
    run = markone.trace(*THREE, tie="negative", bias=False)
    found = run.invariants({"x0": 1, "x1": -1})
    assert [(one.k, one.row, one.before, one.after, one.norm2) for one in found] == [
        (1, 0, 0, 13, 13),
        (2, 2, -12, 1, 2),
    ]
    assert found.margin == pytest.approx(1 / math.sqrt(2)) and found.bound == pytest.approx(26)
    assert found[1].angle == pytest.approx(0, abs=1e-5)
    lines = str(found).split("\n")
    assert lines[2].split() == ["2", "3", "-12", "1", "1.414", "1.414", "2", "2", "26", "0.0°", "73.9°"]
    assert lines[-1] == "kγ ≤ w·w* and k²γ² ≤ |w|² ≤ kR² after every mistake."


def test_and_from_a_certificate() -> None:
    run = markone.trace(X, AND, epochs=50)
    found = run.invariants(markone.certify(X, AND))
    assert len(found) == 18 and found.bound == pytest.approx(51)
    assert found.as_dict() == run.invariants().as_dict()
    assert json.dumps(found.as_dict())


def test_exclusive_or_has_no_margin() -> None:
    found = markone.trace(X, XOR, epochs=3).invariants()
    assert found.separable is False and found.margin is found.reference is found.bound is None and found.hold
    assert [one.norm2 for one in found][:8] == [1, 1, 3, 0, 1, 1, 3, 0]
    assert all(one.progress is one.angle is None for one in found)
    assert "No plane separates the rows" in str(found) and "w·w*" not in str(found)
    through_origin = markone.trace(X, AND, bias=False).invariants()
    assert "No plane through the origin separates the rows" in str(through_origin)


def test_a_run_that_was_cut_and_one_without_mistakes() -> None:
    run = markone.trace(X, AND, steps=3, only_mistakes=True)
    assert [one.k for one in run.invariants()] == [1, 2, 3]
    none = markone.trace([[1.0], [-1.0]], [1, 0], tie="positive", steps=1)
    assert none.mistakes == 0 and str(none.invariants()).startswith("0 mistakes; the theory allows")


def test_other_rules_show_margins_but_have_no_invariants() -> None:
    run = markone.trace(*THREE, rule="mira", C=10, bias=False)
    assert run[0].margins == pytest.approx((0, 1)) and "margin: 0 + 0.07692·|x|² = 0 + 1 = 1" in str(run)
    shrunk = markone.trace(*THREE, penalty="l2", strength=0.1)
    assert "margin: " in str(shrunk) and "|x|²" not in str(shrunk)
    for how in ({"rule": "naive-bayes"}, {"rule": "svm"}, {"rule": "mlp", "hidden": (2,)}):
        assert all(step.margins is None for step in markone.trace(*THREE, **how))  # type: ignore[arg-type]
    three_classes = markone.trace([[1.0], [2.0], [3.0]], [*"abc"])
    assert all(step.margins is None for step in three_classes)
    for other, problem in (
        (run, "the rule is 'mira'"),
        (shrunk, "there is a penalty"),
        (markone.trace(*THREE, eta=2.0), "eta is 2"),
        (markone.trace(*THREE, start={1: {"x0": 1.0}}), "the weights do not start at 0"),
        (three_classes, "two classes, and there are 3"),
    ):
        with pytest.raises(markone.MarkoneError, match=problem):
            other.invariants()


def test_planes_that_are_wrong() -> None:
    run = markone.trace(X, AND)
    for plane, problem in (
        ({"x0": 1, "x1": -1}, "does not separate the rows: row 3 of class no has the margin -0.7071"),
        ({"x0": 1, "BIAZ": -1}, "weight for 'BIAZ', but there is no such feature. Did you mean 'BIAS'"),
        ({"x0": "1"}, "finite numbers as weights, but that of 'x0' is '1'"),
        ({"x0": math.nan}, "finite numbers as weights"),
        ({}, "has no weight that differs from 0"),
        (5, "must be a certificate, or weights by feature, not 5"),
        (markone.certify(X, AND, bias=True).plane, "must be a certificate"),
        (markone.certify(np.eye(3), [0, 0, 1]), "about 3 features with a bias, and the trace about 2 with one"),
    ):
        with pytest.raises(markone.MarkoneError, match=problem):
            run.invariants(plane)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="no such feature"):
        markone.trace(*THREE, bias=False).invariants({"BIAS": 1.0})
    with pytest.raises(SettingsError, match="seconds must be"):
        run.invariants(seconds=0)
    with pytest.raises(DataError, match="importance|two classes"):
        markone.trace([[1.0], [2.0], [3.0]], [*"abc"]).invariants()


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(X, columns=["a", "b"]).assign(y=AND).to_csv("and.csv", index=False)
    command = ["trace", "and.csv", "--target", "y", "--epochs", "50"]
    assert main([*command, "--theory"]) == 0
    text = capsys.readouterr().out
    assert "18 mistakes; the theory allows at most 51" in text and "angle" in text and "a pass changed nothing" in text
    assert main([*command, "--reference", "a=1,b=1,BIAS=-1.5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bound"] == pytest.approx(51) and told["hold"] and len(told["mistakes"]) == 18
    assert main([*command, "--theory", "--steps", "2"]) == 0
    assert "2 mistakes; the theory allows at most 51" in capsys.readouterr().out
    for wrong, problem in (
        ("a=1,b", "--reference must be weights by feature"),
        ("a=1,c=2", "--reference has a weight"),
    ):
        assert main([*command, "--reference", wrong]) == 2
        assert problem in capsys.readouterr().err
    assert main([*command, "--theory", "--rule", "mira"]) == 2
    assert "the rule is 'mira'" in capsys.readouterr().err
