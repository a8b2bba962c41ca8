"""Mistake bounds and margins: what the theory says holds at every mistake, and is told."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st

import markone
from forging import Forged
from markone import DataError, Settings, SettingsError, _core
from markone.cli import main
from markone.data.blocks import Block
from markone.learning import examples, lengths
from markone.learning.lengths import lengths2
from markone.learning.online import Linear
from markone.learning.progress import Silence
from markone.model.bounds import MOST_POINTS, ROUNDING, Bounds
from markone.model.margins import functional_margins
from markone.model.settings import OnlineSettings
from markone.reference import Learner, length2
from markone.theory.margins import Spread, even_edges, margins

THREE = [[3, 2], [-2, 2], [-2, -3]], [1, -1, 1]
NUMBERS = st.integers(-6, 6)


def cloud(classes: int, rows: int = 200, apart: float = 1.0, seed: int = 0) -> tuple[np.ndarray, list[str]]:
    chance = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    X = chance.normal(size=(rows, 5)) + apart * np.eye(5)[y]
    return X.astype(np.float32), [f"c{k}" for k in y]


def vector(row: Any) -> dict[Any, Any]:
    return {i: value for i, value in enumerate(row) if value}


# ---- the loop notes its mistakes


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("rule", ["perceptron", "logistic"])
def test_mistakes_are_noted_and_nothing_else_changes(classes: int, kind: str, bits: int, rule: Any) -> None:
    chance = np.random.default_rng(classes)
    X = chance.integers(-4, 5, (60, 6)).astype(np.float32 if bits == 32 else np.float64)
    y = chance.integers(0, classes, 60)
    block = Block.of(scipy.sparse.csr_matrix(X) if kind == "sparse" else X, y)
    order = chance.permutation(60)
    how = Settings(rule=rule, average=True)
    plain, noting = (Linear(how, features=6, classes=classes, dtype=X.dtype) for _ in range(2))
    told: list[tuple[Any, Any]] = []
    noting.listener = lambda _, rows, found: told.append((rows, found))
    tallies = [(plain.learn(block, order), noting.learn(block, order)) for _ in range(3)]
    for name, array in plain.get_state().items():
        np.testing.assert_array_equal(array, noting.get_state()[name])
    watched = Linear(how, features=6, classes=classes, dtype=X.dtype)
    for (one, other), (rows, found) in zip(tallies, told, strict=True):
        for name in ("visits", "mistakes", "updates", "loss", "importance"):
            assert getattr(one, name) == getattr(other, name)
        noted = list(zip(rows.tolist(), found.tolist(), strict=True))
        assert len(noted) == one.mistakes > 0
        for row in order.tolist():  # one by one, each margin measured before the visit
            single = block.take(np.array([row]))
            margin = functional_margins(watched.scores(single.rows, averaged=False), single.labels)[0]
            if margin <= 0:
                assert noted.pop(0) == (row, pytest.approx(margin, rel=1e-5, abs=1e-5))
            watched.learn(single)
        assert not noted


def test_an_example_of_weight_three_may_be_three_mistakes() -> None:
    learner = _core.Learner64(OnlineSettings.of(Settings(average=False)).for_core(), 1, 2)
    rows = _core.DenseRows64(np.array([[0.0], [1.0]]))
    labels, weights = np.array([1, 0], np.int32), np.array([2.0, 3.0])
    tally, noted, found = learner.learn_noting(rows, labels, weights)
    assert tally.mistakes == 2 and noted.tolist() == [0, 1] and found.tolist() == [0.0, -1.0]
    tally, noted, found = learner.learn_noting(rows, labels, np.array([0.0, 0.0]), np.array([1]))
    assert tally.visits == 0 and len(noted) == len(found) == 0


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=9), st.integers(1, 40), st.data())
def test_lengths_are_those_of_the_rows(rows: list[list[int]], at_once: int, data: Any) -> None:
    some = data.draw(st.lists(st.integers(0, len(rows) - 1)))
    dense = np.array(rows, np.float32)
    sparse = scipy.sparse.csr_matrix(dense)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lengths, "AT_ONCE", at_once)
        for matrix in (dense, sparse):
            found = lengths2(matrix, np.array(some, np.int64))
            assert found.tolist() == [sum(value * value for value in rows[i]) for i in some]


# ---- the invariants, against the plain reference


class Watched(Learner):
    """A run of the reference that writes down every mistake."""

    def visit(self, x: Any, y: int, h: Any, tally: Any) -> None:
        before = {k: dict(weights) for k, weights in self.w.items()}
        mistakes = tally.mistakes
        super().visit(x, y, h, tally)
        if tally.mistakes > mistakes:
            self.noted.append((before, {k: dict(weights) for k, weights in self.w.items()}, self.extend(x), y))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.noted: list[Any] = []


def score(w: Any, x: Any, k: int) -> Any:
    return sum(w.get(k, {}).get(feature, 0) * value for feature, value in x.items())


def margin_of(w: Any, x: Any, y: int, classes: int) -> Any:
    return min(score(w, x, y) - score(w, x, k) for k in range(classes) if k != y)


def norm2_of(w: Any) -> Any:
    return sum(length2(weights) for weights in w.values())


@st.composite
def separable(draw: Any, classes: int, bias: bool) -> tuple[list[list[int]], list[int], Any]:
    """Whole numbers that a plane of whole numbers separates, and the plane."""
    columns = [1] if classes == 2 else range(classes)
    best: Any = {k: dict(enumerate(draw(st.lists(NUMBERS, min_size=3, max_size=3)))) for k in columns}
    if bias:
        for k in columns:
            best[k]["BIAS"] = draw(NUMBERS)
    rows, labels = [], []
    for row in draw(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=2, max_size=14)):
        x = {**vector(row), **({"BIAS": 1} if bias else {})}
        scores = [score(best, x, k) for k in range(classes)]
        if scores.count(max(scores)) == 1:
            rows.append(row)
            labels.append(scores.index(max(scores)))
    assume(len(set(labels)) == classes)
    return rows, labels, best


@pytest.mark.parametrize("classes", [2, 3])
@given(st.data())
def test_the_invariants_hold_at_every_mistake(classes: int, data: Any) -> None:
    bias, tie = data.draw(st.booleans()), data.draw(st.sampled_from(["negative", "error", "positive"]))
    rows, labels, best = data.draw(separable(classes, bias))
    watched = Watched(classes, bias=bias, tie=tie)
    extended = [(watched.extend(vector(row)), y) for row, y in zip(rows, labels, strict=True)]
    gamma2 = Fraction(min(margin_of(best, x, y, classes) for x, y in extended) ** 2, norm2_of(best))
    twice = 1 if classes == 2 else 2
    radius2 = twice * max(length2(x) for x, _ in extended)
    model = markone.train(
        np.array(rows, float),
        target=labels,
        rule="perceptron",
        epochs=400,
        holdout=0,
        order="given",
        bias=bias,
        tie=tie,
        bounds=True,
    )
    found = model.history.bounds
    assert found is not None and model.history.stopped == "converged"
    for _ in model.history:
        watched.learn([(vector(row), y, 1) for row, y in zip(rows, labels, strict=True)])
    norms = []
    for k, (before, after, x, y) in enumerate(watched.noted, start=1):
        norms.append((k, norm2_of(after)))
        assert k * k * gamma2 <= norms[-1][1] <= k * radius2
        assert margin_of(before, x, y, classes) <= 0
        if classes == 2:
            assert margin_of(after, x, y, 2) - margin_of(before, x, y, 2) == length2(x)
        else:
            [rival] = [c for c in range(classes) if c != y and after[c] != before[c]]
            over_rival = [score(w, x, y) - score(w, x, rival) for w in (before, after)]
            assert over_rival[0] == margin_of(before, x, y, classes)
            assert over_rival[1] - over_rival[0] == 2 * length2(x)
    assert found.mistakes == len(norms) == sum(one.mistakes or 0 for one in model.history)
    assert found.radius2 == radius2 and list(found.points)[: len(norms)] == norms[: len(found.points)]
    assert found.norm2 == norm2_of(watched.w) == pytest.approx(model.history[-1].norm2)
    if norms:
        assert found.least == pytest.approx(min(math.sqrt(norm2) / k for k, norm2 in norms))
        assert found.least**2 >= gamma2 * (1 - 1e-9) and found.least_bound >= found.mistakes * (1 - 1e-9)
        assert found.mistakes <= radius2 / gamma2
    margins = []
    for w in (watched.w, watched.average()):
        smallest = min(margin_of(w, x, y, classes) for x, y in extended)
        margins += [smallest / math.sqrt(norm2_of(w))] if smallest > 0 else []
    if margins:
        assert found.found == pytest.approx(max(margins))
        assert found.bound == pytest.approx(radius2 / max(margins) ** 2)
        assert found.mistakes <= found.bound * (1 + 1e-9) and found.found <= found.least * (1 + 1e-9)
    else:  # a tie that is no mistake
        assert found.found is None and tie != "error"


# ---- training


def kept(model: markone.Model) -> Bounds:
    assert model.history.bounds is not None
    return model.history.bounds


@pytest.mark.parametrize("classes", [2, 3])
def test_the_length_that_is_kept_is_that_of_the_weights(classes: int) -> None:
    X, y = cloud(classes)
    model = markone.train(X, target=y, rule="perceptron", epochs=30, holdout=0.2, bounds=True)
    found = kept(model)
    assert found.norm2 == pytest.approx(model.history[-1].norm2, rel=1e-5)
    assert found.points[-1] == (found.mistakes, found.norm2)
    learned = model.history.rows
    assert learned < len(X)  # some are held out, and count nowhere
    every = markone.train(X, target=y, rule="perceptron", holdout=0, bounds=True, epochs=1)
    assert kept(every).radius2 == pytest.approx((classes - 1) * ((X**2).sum(axis=1).max() + 1), rel=1e-6)
    assert kept(every).radius2 >= found.radius2


def test_watching_changes_nothing() -> None:
    X, y = cloud(3)
    plain, watched = (markone.train(X, target=y, rule="perceptron", bounds=bounds) for bounds in (False, True))
    np.testing.assert_array_equal(plain.scores(X), watched.scores(X))
    assert plain.history.bounds is None


def test_points_of_a_long_run_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = cloud(2, rows=400, apart=0.5)
    how: dict[str, Any] = {"rule": "perceptron", "epochs": 40, "holdout": 0, "bounds": True}
    found = kept(markone.train(X, target=y, **how))
    assert found.mistakes > 4 * MOST_POINTS
    assert MOST_POINTS / 2 - 1 <= len(found.points) <= MOST_POINTS and found.stride > 1
    assert [k for k, _ in found.points[:-1]] == [found.stride * (i + 1) for i in range(len(found.points) - 1)]
    assert found.points[-1] == (found.mistakes, found.norm2)
    monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", 30)  # told of mistakes a few at a time
    assert kept(markone.train(X, target=y, **how)) == found
    monkeypatch.setattr("markone.data.store.PIECE_VALUES", 60)
    monkeypatch.setattr("markone.data.budget.LEAST", 1000)
    some = kept(markone.train(X, target=y, memory=1000, **how))
    assert some.radius2 == found.radius2  # of rows in a file


class Interrupting(Silence):
    def __init__(self, look: int) -> None:
        self.left = look

    def advance(self, rows: int) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("bounds", [True, 0.01])
def test_a_training_that_was_interrupted_ends_with_the_same_bytes(
    bounds: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", 300)
    X, y = cloud(3)
    how: dict[str, Any] = {"rule": "perceptron", "epochs": 5, "holdout": 0.2, "patience": 4, "bounds": bounds}
    markone.train(X, target=y, **how).save(tmp_path / "whole")
    chance, stops = random.Random(0), 0
    while True:
        again: dict[str, Any] = {**how, "bounds": bounds if stops % 2 else False}  # it goes on by itself
        model = markone.train(
            X,
            target=y,
            checkpoint=tmp_path / "kept",
            resume=True,
            progress=Interrupting(chance.randint(2, 9)),
            **(again if stops else how),
        )
        if model.history.stopped != "interrupted":
            break
        stops += 1
        assert stops < 50
    assert stops > 0
    model.save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()
    assert markone.load(tmp_path / "model").history.bounds == model.history.bounds
    with pytest.raises(SettingsError, match=r"bounds is 5\.0 now and was (True|0\.01) before; leave it out"):
        markone.train(X, target=y, resume=tmp_path / "model", bounds=5)


def test_what_was_not_noted_cannot_be_taken_up(tmp_path: Path) -> None:
    X, y = cloud(2)
    markone.train(X, target=y, rule="perceptron", epochs=1).save(tmp_path / "model")
    with pytest.raises(SettingsError, match="bounds was not set before the interruption"):
        markone.train(X, target=y, resume=tmp_path / "model", epochs=2, bounds=True)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"rule": "mira"}, "the rule is 'mira'"),
        ({"rule": None}, "the rule is 'mira'"),
        ({"eta": 0.5}, "eta is 0.5"),
        ({"schedule": "sqrt"}, "the schedule is 'sqrt'"),
        ({"penalty": "l2"}, "there is a penalty, 'l2'"),
        ({"form": "difference"}, "the form is 'difference'"),
        ({"start": "random"}, "the weights start at random"),
        ({"bounds": 0.0}, "must be True, or the margin of a plane as a number above 0, not 0.0"),
        ({"bounds": "yes"}, "must be True, or the margin of a plane as a number above 0, not 'yes'"),
        ({"bounds": math.inf}, "must be True, or the margin"),
        ({"bounds": 10**400}, "must be True, or the margin"),
    ],
)
def test_where_the_theory_does_not_hold(how: dict[str, Any], reason: str) -> None:
    with pytest.raises(SettingsError, match=f"^bounds .*{reason}"):
        markone.train(*THREE[:1], target=THREE[1], **{"rule": "perceptron", "bounds": True, **how})


def test_where_examples_or_weights_do_not_begin_alike(tmp_path: Path) -> None:
    data = {"x": [1.0, 2.0, 3.0], "label": ["a", "b", "a"], "weight": [1.0, 2.0, 1.0]}
    source = markone.read(data, target="label", importance="weight")
    with pytest.raises(SettingsError, match="but examples differ in importance; leave it out, or change that"):
        markone.train(source, rule="perceptron", bounds=True)
    alike = markone.read({**data, "weight": [1.0] * 3}, target="label", importance="weight")
    assert kept(markone.train(alike, rule="perceptron", bounds=True)).mistakes > 0
    model = markone.train(alike, rule="perceptron")
    with pytest.raises(SettingsError, match="but the weights start from a model"):
        markone.train(alike, from_model=model, bounds=True)


# ---- in words


def test_the_lecture_in_words() -> None:
    model = markone.train(
        THREE[0], target=THREE[1], rule="perceptron", order="given", bias=False, tie="negative", bounds=True, holdout=0
    )
    found = kept(model)
    assert found.mistakes == 2 and found.points == ((1, 13.0), (2, 2.0))
    assert str(found).split("\n") == [
        "Made 2 mistakes; the theory allows at most 26: R²/γ², with R = 3.606 and the margin γ = 0.7071 of the "
        "weights.",
        "No plane through the origin has a margin above 0.7071, because |w|/k fell to this during the run: R²/γ² "
        "is at least 26.",
    ]
    assert found.as_dict()["bound"] == pytest.approx(26)
    given = replace(found, given=0.5, found=0.25)
    assert given.margin == 0.5 and given.bound == pytest.approx(52) and "γ = 0.5 that was given." in str(given)
    wrong = replace(found, given=2.0, found=None)
    assert wrong.margin is None and "No plane through the origin has the margin that was given, 2." in str(wrong)
    assert replace(found, given=1e-200).bound == pytest.approx(26)
    assert replace(found, given=1e-200, found=None).bound == math.inf


XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]


def test_xor_has_no_bound() -> None:
    tenths = 0.1 * np.array(XOR[0])
    model = markone.train(tenths, target=XOR[1], rule="perceptron", holdout=0, bounds=True)
    words = str(kept(model))
    assert "The weights do not separate the examples, so no bound is known." in words
    assert ", if the examples can be separated at all." in words
    assert words.endswith("The bias counts here as the weight of a feature that is always 1.")


def test_weights_that_return_to_0_prove_that_nothing_separates() -> None:
    how: dict[str, Any] = {"rule": "perceptron", "holdout": 0, "epochs": 20, "bounds": True}
    found = kept(markone.train(XOR[0], target=XOR[1], **how))
    assert any(norm2 == 0 for _, norm2 in found.points) and found.least == 0 and found.least_bound is None
    assert "All weights were 0 after one of them. Since k²γ² ≤ |w|², no plane separates the examples" in str(found)
    assert "a margin above" not in str(found)
    assert replace(found, given=1e-200).refuted and replace(found, given=1e-200).bound is None


def test_rounding_errors_are_no_figures_of_a_run() -> None:
    """Tenths are rounded, so weights that should be 0 may not be, and nothing is concluded from their length."""
    tenths = 0.1 * np.array(XOR[0])
    found = kept(markone.train(tenths, target=XOR[1], rule="perceptron", holdout=0, epochs=40, bounds=True))
    lengths = [math.sqrt(max(0.0, norm2)) / k for k, norm2 in found.points]
    assert found.stride == 1 and min(lengths) < 1e-4  # they came back to 0, or almost
    assert found.least is not None and any(found.least == pytest.approx(one, rel=6e-3) for one in lengths)
    assert found.least > 1e-3 > ROUNDING**0.5 * math.sqrt(found.radius2 / found.mistakes)


@pytest.mark.parametrize("huge", [1e15, 1e18])
def test_huge_numbers_have_a_true_bound_or_none(huge: float) -> None:
    """The margin of these points is at most 1, and their radius is the huge number."""
    points, signs = [[huge, 1.0], [huge, -1.0], [-huge, 1.0], [1.0, -1.0]], ["p", "n", "p", "n"]
    found = kept(
        markone.train(points, target=signs, rule="perceptron", holdout=0, epochs=30, bounds=True, order="given")
    )
    assert found.radius2 == pytest.approx(huge**2)
    assert found.bound is None or found.bound >= huge**2 / 2
    assert found.least is None or found.least >= 0.5


def test_rows_of_zeros() -> None:
    model = markone.train([[0.0], [0.0]], target=["a", "b"], rule="perceptron", bias=False, bounds=True, holdout=0)
    found = kept(model)
    assert found.radius2 == found.norm2 == found.least == 0 and found.least_bound is None
    assert str(found).startswith("Made 20 mistakes. All weights were 0 after one of them.")
    assert str(Bounds(0, 1.0, 0.0, None, True)) == "Made no mistakes."


# ---- in files


def test_forged_bounds(tmp_path: Path) -> None:
    X, y = cloud(2)
    markone.train(X, target=y, rule="perceptron", bounds=0.001).save(tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    for name, value, problem in (
        (None, [], "its bounds are not an object"),
        ("mistakes", 1.5, "its bounds have mistakes=1.5"),
        ("mistakes", None, "its bounds have mistakes=None"),
        ("mistakes", 2**60, "its bounds have mistakes="),
        ("radius2", -1.0, "its bounds have radius2=-1.0"),
        ("least", "nan", "its bounds have least=nan"),
        ("given", 0.0, "its bounds have given=0.0"),
        ("found", "inf", "its bounds have found=inf"),
        ("bias", 1, "its bounds have bias=1"),
        ("stride", 0, "its bounds have stride=0"),
        ("more", 0, "its bounds: 'more' is unknown"),
        ("points", {}, "the points of its bounds are not a short list"),
        ("points", [[1, 1.0]] * (MOST_POINTS + 1), "the points of its bounds are not a short list"),
        ("points", [[1]], r"its bounds have the point \[1\]"),
        ("points", [[1, "x"]], "its bounds have the point"),
    ):
        forged = Forged(good)
        history = forged.told["facts"]["history"]
        if name is None:
            history["bounds"] = value
        else:
            history["bounds"][name] = value
        (tmp_path / "bad").write_bytes(forged.assembled())
        with pytest.raises(DataError, match=problem):
            markone.load(tmp_path / "bad")
    forged = Forged(good)
    del forged.told["facts"]["history"]["bounds"]  # as files were before
    (tmp_path / "old").write_bytes(forged.assembled())
    assert markone.load(tmp_path / "old").history.bounds is None


# ---- margins


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("average", [True, False])
def test_margins_are_distances(classes: int, average: bool, tmp_path: Path) -> None:
    X, y = cloud(classes)
    model = markone.train(X, target=y, rule="perceptron", average=average, epochs=3, holdout=0)
    found = margins(model, X, y)
    weights, bias = (array.astype(np.float64) for array in model.weight_arrays())
    scores = X @ weights + bias
    numbers = np.array([model.classes.index(label) for label in y])
    if classes == 2:
        expected = np.where(numbers == 1, 1, -1) * scores[:, 0]
    else:
        others = np.where(np.arange(classes) == numbers[:, None], -np.inf, scores)
        expected = scores[np.arange(len(X)), numbers] - others.max(axis=1)
    used = found.averaged if average else found.last
    assert used is not None
    np.testing.assert_allclose(used.functional, expected, rtol=1e-5, atol=1e-4)
    assert used.norm == pytest.approx(float(np.linalg.norm(weights)))
    np.testing.assert_allclose(used.geometric, used.functional / used.norm)
    assert used.negative == pytest.approx(1 - model.accuracy(X, y), abs=1e-9)
    assert used.separates == (used.smallest > 0)
    assert used.quantiles((0.0, 0.5)) == {0.0: used.smallest, 0.5: pytest.approx(float(np.median(used.geometric)))}
    assert (found.averaged is None) == (not average)
    if average:
        last = markone.train(X, target=y, rule="perceptron", average=False, epochs=3, holdout=0)
        assert found.last is not None
        np.testing.assert_array_equal(found.last.functional, margins(last, X, y).last.functional)  # type: ignore[union-attr]
        model.save(tmp_path / "final", final=True)
        final = margins(markone.load(tmp_path / "final"), X, y)
        assert final.last is None and final.averaged is not None
        np.testing.assert_array_equal(final.averaged.functional, used.functional)


def test_with_patience_the_last_weights_are_those_of_the_best_pass() -> None:
    X, y = cloud(3, apart=0.7)
    how: dict[str, Any] = {"rule": "perceptron", "holdout": 0.3, "patience": 3, "epochs": 30}
    model = markone.train(X, target=y, **how)
    best = model.history.best_epoch
    assert best is not None and best < len(model.history)
    up_to_best = markone.train(X, target=y, **{**how, "epochs": best, "patience": None})
    for name, spread in margins(model, X, y).spreads().items():
        np.testing.assert_array_equal(spread.functional, margins(up_to_best, X, y).spreads()[name].functional)


def test_margins_of_other_rules_and_what_is_passed_over() -> None:
    X, y = cloud(2)
    svm = margins(markone.train(X, target=y, rule="svm", holdout=0), X, [*y[:-2], "c7", None])
    assert svm.averaged is None and svm.last is not None
    assert (svm.examples, svm.passed_over) == (198, 2) and len(svm.last.functional) == 198
    assert "2 examples were ignored, because the model does not know their labels." in str(svm)
    for rule in ("naive-bayes", "mlp"):
        with pytest.raises(SettingsError, match=f"rule is '{rule}', whose models have no weights and so no margins"):
            margins(markone.train(X, target=y, rule=rule, epochs=1), X, y)
    with pytest.raises(DataError, match="no example has a label that the model knows"):
        margins(markone.train(X, target=y), X, ["c7"] * len(X))


def test_without_weights_there_is_no_plane() -> None:
    spread = Spread(np.array([1.0, -1.0]), 0.0)
    assert spread.geometric.tolist() == [0, 0] and spread.smallest == 0 and "median 0" in str(spread)


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=30), st.integers(1, 50))
def test_a_histogram_counts_every_margin(values: list[float], bins: int) -> None:
    spread = Spread(np.array(values), 1.0)
    counts, edges = spread.histogram(bins)
    assert counts.sum() == len(values) and len(edges) == len(counts) + 1 <= bins + 3
    assert (np.diff(edges) > 0).all()
    if min(values) < 0 < max(values):
        assert 0 in edges
    assert even_edges(min(values), max(values), bins).tolist() == edges.tolist()


def test_margins_in_words() -> None:
    found = margins(markone.train(*THREE[:1], target=THREE[1], rule="perceptron", holdout=0), *THREE)
    words = str(found)
    assert words.count("Margins of 3 examples with the ") == 2 and "with the last weights" in words and "█" in words
    told = found.as_dict()
    assert told["last"]["smallest"] == found.last.smallest and sum(told["averaged"]["histogram"]["counts"]) == 3  # type: ignore[union-attr]
    assert json.loads(json.dumps(told)) == told


# ---- the commands


def test_the_commands(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text("x,y,label\n3,2,1\n-2,2,-1\n-2,-3,1\n")
    how = ["train", "points.csv", "--target", "label", "--rule", "perceptron", "--bounds"]
    assert main(how) == 0
    text = capsys.readouterr().out
    assert "Made 1 mistake; the theory allows at most" in text and "Numbers are used as they are." in text
    assert main([*how, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["bounds"]
    model = markone.load("points.model")
    assert told["mistakes"] == kept(model).mistakes and told["bound"] == kept(model).bound
    assert main([*how[:-1], "--json"]) == 0
    assert "bounds" not in json.loads(capsys.readouterr().out)
    assert main([*how, "--eta", "2"]) == 2
    assert "--bounds needs a perceptron" in capsys.readouterr().err
    assert main(["evaluate", "points.model", "points.csv", "--margins"]) == 0
    assert "Margins of 3 examples with the last weights" in capsys.readouterr().out
    assert main(["evaluate", "points.model", "points.csv", "--margins", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["margins"]["examples"] == 3
    assert main(["evaluate", "points.model", "points.csv", "--json"]) == 0
    assert "margins" not in json.loads(capsys.readouterr().out)


def test_bad_lines_are_counted_once(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("points.csv").write_text("x,y,label\n3,2,1\n-2,2,-1\n1\n-2,-3,1\n")
    more = ["points.csv", "--target", "label", "--skip-bad"]
    assert main(["train", *more, "--quiet"]) == 0
    assert main(["evaluate", "points.model", *more, "--margins", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bad_lines"] == 1
