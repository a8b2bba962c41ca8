"""Traces: they are the runs that training makes, line by line as on the board, and can be played."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import markone
from markone.cli import main
from markone.errors import DataError, SettingsError
from markone.model.naive_bayes import ROWS
from markone.theory.tracing import trace

THREE = [[3, 2], [-2, 2], [-2, -3]], [1, -1, 1]
HEADLINES = ["win the vote", "win the election", "win the game"]
TOPICS = ["POLITICS", "POLITICS", "SPORTS"]
WORDS = {"unit": False, "text": {"words": [1, 1], "value": "binary", "weight": "none", "min_count": 1}}

RULES: list[dict[str, Any]] = [
    {"rule": "perceptron"},
    {"rule": "perceptron", "penalty": "l2", "strength": 0.01},
    {"rule": "mira"},
    {"rule": "logistic", "eta": 0.1},
    {"rule": "logistic", "solver": "newton", "strength": 0.1},
    {"rule": "logistic", "solver": "ascent", "epochs": 5, "eta": 0.1},
    {"rule": "hinge"},
    {"rule": "svm"},
    {"rule": "svm", "multiclass": "one-versus-rest"},
    {"rule": "naive-bayes"},
    {"rule": "mlp", "hidden": (4,), "epochs": 2},
]


def cloud(classes: int, rows: int = 30) -> tuple[np.ndarray, list[str]]:
    random = np.random.default_rng(classes)
    y = random.integers(0, classes, rows)
    X = (random.normal(size=(rows, 3)) + np.eye(4)[y][:, :3]).astype(np.float32)
    return X, ["abcd"[k] for k in y]


# ---- the board


def test_the_three_point_run_line_by_line() -> None:
    run = trace(*THREE, tie="negative", bias=False)
    assert str(run).split("\n") == [
        "pass  row  label  activation  says",
        "1     1    1      0           -1    wrong, a tie",
        "    x: x0 3, x1 2",
        "    w + x: x0 0 + 3 = 3, x1 0 + 2 = 2",
        "    margin: 0 + |x|² = 0 + 13 = 13",
        "1     2    -1     -2          -1    right",
        "    x: x0 -2, x1 2",
        "1     3    1      -12         -1    wrong",
        "    x: x0 -2, x1 -3",
        "    w + x: x0 3 - 2 = 1, x1 2 - 3 = -1",
        "    margin: -12 + |x|² = -12 + 13 = 1",
        "2     1    1      1           1     right",
        "    x: x0 3, x1 2",
        "2     2    -1     -4          -1    right",
        "    x: x0 -2, x1 2",
        "2     3    1      1           1     right",
        "    x: x0 -2, x1 -3",
        "",
        "6 steps, 2 mistakes, 2 changes of the weights. It ended: a pass changed nothing.",
    ]
    assert [run.weights(i)["1"] for i in range(3)] == [{"x0": 3, "x1": 2}, {"x0": 3, "x1": 2}, {"x0": 1, "x1": -1}]
    assert run.start[0].named() == {"1": {}}
    assert [step.pulls for step in run][:3] == [{"1": 1}, {}, {"1": 1}]


def test_the_three_headlines_line_by_line() -> None:
    run = trace(
        [*HEADLINES, "new chip"],
        [*TOPICS, "TECH"],
        features=WORDS,
        start={"SPORTS": {"BIAS": 1}},
        steps=3,
    )
    names = ["BIAS", "win", "game", "vote", "the", "election"]
    weights = [
        [run.weights(i)[topic].get(name, 0) for name in names] for i in (0, 2) for topic in ("SPORTS", "POLITICS")
    ]
    assert weights == [[0, -1, 0, -1, -1, 0], [1, 1, 0, 1, 1, 0], [1, 0, 1, -1, 0, 0], [0, 0, -1, 1, 0, 0]]
    assert [(step.scores["SPORTS"], step.scores["POLITICS"], step.predicted) for step in run] == [
        (1, 0, "SPORTS"),
        (-2, 3, "POLITICS"),
        (-2, 3, "POLITICS"),
    ]
    assert [step.mistakes for step in run] == [1, 0, 1]
    assert run[0].pulls == {"SPORTS": -1, "POLITICS": 1}
    lines = str(run).split("\n")
    assert lines[1].split() == ["1", "1", "POLITICS", "POLITICS", "0,", "SPORTS", "1,", "TECH", "0", "SPORTS", "wrong"]
    assert any(line.startswith("    w[SPORTS] - x: ") and "BIAS 1 - 1 = 0" in line for line in lines)
    assert run.stopped is None and lines[-1].endswith("The run would go on.")


# ---- the same as training


@pytest.mark.parametrize("how", RULES, ids=lambda how: "-".join(str(value) for value in how.values()))
@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_the_run_that_training_makes(how: dict[str, Any], classes: int) -> None:
    X, y = cloud(classes)
    run = trace(X, y, steps=None, **how)
    ordered = {} if how["rule"] == "naive-bayes" or "solver" in how else {"order": "given"}
    averaged = {"average": False} if how["rule"] in ("perceptron", "mira", "hinge") or how == RULES[3] else {}
    model = markone.train(X, target=y, holdout=0, **ordered, **averaged, **how)
    assert run.stopped == model.history.stopped
    if how["rule"] == "naive-bayes":
        assert run.weights()["b"][ROWS] == y.count("b")
    elif how["rule"] == "mlp":
        [*layers] = model.scorer.layers
        for table, (weights, bias) in zip(run.tables(), layers, strict=True):
            np.testing.assert_array_equal(table.values, np.vstack([weights, bias]))
    else:
        weights = model.scorer.weights
        tolerance = 1e-2 if how["rule"] == "svm" else 0  # a model has the best weights, not the last
        np.testing.assert_allclose(run.tables()[0].values[:-1], weights.matrix(), rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(run.tables()[0].values[-1], weights.bias(), rtol=tolerance, atol=tolerance)
    judged = [one.mistakes for one in model.history if one.mistakes is not None]
    if judged:
        assert run.mistakes == sum(judged)


@pytest.mark.parametrize("how", RULES, ids=lambda how: "-".join(str(value) for value in how.values()))
def test_it_can_be_played_forth_and_back(how: dict[str, Any]) -> None:
    X, y = cloud(3)
    run, mistakes = trace(X, y, steps=60, **how), trace(X, y, steps=10, only_mistakes=True, **how)
    whole = {step.number: i for i, step in enumerate(run)}
    for i in reversed(range(len(run))):
        before = run.tables(i - 1) if i else run.start
        for change in run[i].changes:
            assert before[change.table].values[change.row, change.column] == change.before
            assert run.tables(i)[change.table].values[change.row, change.column] == change.after
    for i, step in enumerate(mistakes):
        assert step.mistakes
        if step.number in whole:
            for ours, theirs in zip(mistakes.tables(i), run.tables(whole[step.number]), strict=True):
                np.testing.assert_array_equal(ours.values, theirs.values)


@given(st.data())
def test_an_update_raises_the_margin_of_its_example(data: Any) -> None:
    numbers = st.integers(-5, 5)
    rows = data.draw(st.lists(st.tuples(numbers, numbers), min_size=2, max_size=12))
    labels = ["a", "b", *data.draw(st.lists(st.sampled_from("ab"), min_size=len(rows) - 2, max_size=len(rows) - 2))]
    bias = data.draw(st.booleans())
    run = trace(np.array(rows, float), labels, bias=bias, epochs=5)
    for i, step in enumerate(run):
        if not step.mistakes:
            assert not step.changes
            continue
        x = np.array([*rows[step.rows[0]], float(bias)])
        sign = 1 if step.label == "b" else -1
        before = (run.tables(i - 1) if i else run.start)[0].values[:, 0]
        after = run.tables(i)[0].values[:, 0]
        assert sign * (after - before) @ x == x @ x


# ---- what it takes, and what it says


def test_orders_are_those_of_training() -> None:
    X, y = cloud(2)
    how: dict[str, Any] = {"rule": "perceptron", "order": "each", "seed": 3, "epochs": 3}
    run = trace(X, y, steps=None, **how)
    model = markone.train(X, target=y, holdout=0, average=False, **how)
    np.testing.assert_array_equal(run.tables()[0].values[:-1], model.scorer.weights.matrix())
    assert [step.rows for step in run][:30] != [step.rows for step in run][30:60]


def test_a_batch_and_all_rows_are_one_step() -> None:
    X, y = cloud(2)
    run = trace(X, y, rule="mlp", hidden=(2,), epochs=1, batch=10)
    assert sorted(row for step in run for row in step.rows) == list(range(30))
    assert run[0].scores == {} and run[0].label is None and run[0].features == {}
    assert "10 rows" in str(run) and "w[unit 1.1]" in str(run)
    run = trace(X, y, rule="logistic", solver="newton", strength=0.1)
    assert all(step.rows == tuple(range(30)) for step in run)
    assert run.stopped == "optimum" and "close enough to the optimum" in str(run)


def test_one_versus_rest_names_the_class_whose_turn_it_is() -> None:
    X, y = cloud(3)
    run = trace(X, y, rule="svm", multiclass="one-versus-rest", epochs=1, steps=None)
    assert {step.against for step in run} == {"a", "b", "c"}
    for step in run:
        assert {change.of for change in step.changes} <= {step.against}
        assert step.predicted in (None, step.against)
    assert "the rest" in str(run)


def test_what_is_too_long_is_cut() -> None:
    X = np.ones((2, 30))
    lines = str(trace(X, ["a", "b"], steps=1)).split("\n")
    assert lines[2].endswith("x7 1, and 22 more") and lines[3].endswith("and 23 more")


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"steps": 0}, "steps must be a whole number of at least 1, or None for all, not 0"),
        ({"steps": 1.5}, "steps must be"),
        ({"start": {"c": {}}}, "start has weights for 'c', which is not a class; the classes are 'a', 'b'"),
        ({"start": {"b": {"size": 1}}}, "start has a number for 'size', but there is no such feature"),
        ({"start": {"b": {}}, "rule": "svm"}, "start is only for rules that take a step at each example, not for svm"),
        ({"holdout": 0.2}, "holdout is not possible in a trace"),
        ({"stepps": 3}, "stepps is unknown"),
    ],
)
def test_mistakes_are_told(how: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        trace([[1.0], [2.0]], ["a", "b"], **how)


def test_one_class_has_no_run() -> None:
    with pytest.raises(DataError, match="all examples have the label 'a'"):
        trace([[1.0], [2.0]], ["a", "a"])


# ---- the command


def test_the_command(tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "points.csv"
    path.write_text("x,y,label\n3,2,1\n-2,2,-1\n-2,-3,1\n")
    spec = tmp_path / "plain.toml"
    spec.write_text('[numeric]\nscale = "none"\n')
    as_on_the_board = ["--features", str(spec), "--tie", "negative", "--no-bias"]
    assert main(["trace", str(path), "--target", "label", *as_on_the_board]) == 0
    shown = capsys.readouterr().out
    assert "w + x: x 0 + 3 = 3, y 0 + 2 = 2" in shown
    main(["trace", str(path), "--target", "label", "--only-mistakes", "--steps", "2", "--json"])
    steps = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(steps) == 2 and all(step["mistakes"] == 1 for step in steps)
    assert {"step", "pass", "rows", "label", "features", "scores", "predicted", "changes"} <= steps[0].keys()
    assert main(["trace"]) == 2
    assert "name a file" in capsys.readouterr().err


@pytest.mark.parametrize("sparse", [False, True])
def test_the_random_start_of_a_network_is_its_start_and_no_change(sparse: bool) -> None:
    X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [3.0, 1.0, 0.0], [0.0, 2.0, 1.0]])
    rows = scipy.sparse.csr_array(X) if sparse else X
    run = trace(rows, [0, 1, 0, 1], rule="mlp", hidden=(2,), epochs=2, batch=1, eta=0.001)
    first = run.start[0].values
    assert (first[:3] != 0).all() and (first[3] == 0).all()  # the biases start at 0
    for step in run:
        assert step.changes
        for change in step.changes:
            assert abs(change.after - change.before) < 0.0011  # Adam's steps are no longer than eta


def test_a_trace_may_start_at_random() -> None:
    X, y = [[3, 2], [-2, 2], [-2, -3]], [1, -1, 1]
    for start in ("zero", "random"):
        run = trace(X, y, start=start, epochs=2, steps=None)
        model = markone.train(X, target=y, rule="perceptron", start=start, epochs=2, order="given", average=False)
        assert (run.start[0].values == 0).all() == (start == "zero")
        assert list(run.weights()["1"].values())[:2] == model.scorer.weights.matrix()[:, 0].tolist()
    with pytest.raises(SettingsError, match="start must be one of"):
        trace(X, y, start="anywhere")


def test_a_run_that_ends_with_the_last_step_has_ended() -> None:
    """The lecture's three points need two passes of three steps."""
    points, signs = [[3, 2], [-2, 2], [-2, -3]], [1, -1, 1]
    for steps, stopped in ((5, None), (6, "converged"), (7, "converged")):
        run = markone.trace(points, signs, bias=False, steps=steps)
        assert (run.stopped, run.made) == (stopped, min(steps, 6))
    once = {steps: markone.trace(points, signs, bias=False, steps=steps, epochs=1).stopped for steps in (2, 3, 4)}
    assert once == {2: None, 3: "epochs", 4: "epochs"}
    shown, whole = (markone.trace(points, signs, bias=False, steps=steps) for steps in (2, None))
    assert shown.weights() == whole.weights(after=1) and shown.updates == 1  # the next step is not counted
    assert "It ended: a pass changed nothing." in markone.trace(points, signs, bias=False, steps=6).summary()


def test_a_tie_that_is_a_mistake_does_not_say_the_label() -> None:
    run = markone.trace([[1.0], [2.0]], ["no", "yes"], steps=1, tie="error")
    assert str(run).splitlines()[1].split() == ["1", "1", "no", "0", "tie", "wrong,", "a", "tie"]
    assert run[0].as_dict()["predicted"] == "no"
    right = markone.trace([[1.0], [2.0]], ["no", "yes"], steps=1, tie="negative")
    assert str(right).splitlines()[1].split() == ["1", "1", "no", "0", "no", "right,", "a", "tie"]
