"""Leave-one-out of the support vector machine: proofs and answers against its optimum without each row."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import markone
from markone.data.blocks import Block
from markone.errors import SettingsError
from markone.experiments import loo_svm
from markone.experiments.loo_svm import Machine, leave_one_out
from markone.learning.passes import teach
from markone.learning.svm import Dual
from markone.model.settings import Settings

MANY = 100_000
"""Passes, which are always enough to come to `TIGHT`."""
TIGHT = 1e-9
TIE = 1e-3
"""A row whose best scores are nearer than this by a training to `TIGHT` may go either way."""


class Plain:
    """A training without a row, from scratch and to the last digits."""

    def __init__(self, block: Block, settings: Settings, classes: int) -> None:
        self.block, self.classes = block, classes
        self.settings = replace(settings, tol=TIGHT, epochs=MANY)

    def __call__(self, row: int) -> tuple[int, bool]:
        """What is said of it, and whether that is a tie as far as can be told."""
        learner = Dual(self.settings, features=self.block.rows.width, classes=self.classes)
        teach(learner, self.block.take(np.delete(np.arange(len(self.block)), row)))
        alone = self.block.take(np.array([row])).rows
        scores = np.sort(learner.scores(alone)[0].astype(float))
        lead = abs(scores[0]) if len(scores) == 1 else scores[-1] - scores[-2]
        return int(learner.predict(alone)[0]), bool(lead < TIE)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Block, int]:
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes, rows, features = draw(st.sampled_from([2, 2, 3, 4])), draw(st.integers(4, 24)), draw(st.integers(1, 8))
    X = random.normal(size=(rows, features)) * (random.random((rows, features)) < draw(st.sampled_from([0.4, 1.0])))
    y = (X @ random.normal(size=(features, classes)) + random.normal(size=classes)).argmax(axis=1)
    if draw(st.booleans()):
        y = np.where(random.random(rows) < 0.2, random.integers(0, classes, rows), y)
    if draw(st.booleans()):  # twice the same row, with the same label and with another one
        X[1], X[3], y[1] = X[0], X[2], y[0]
    if draw(st.booleans()):
        X[rows // 2] = 0
    importance = random.choice([0, 0.5, 1, 2, 3.25], rows) if draw(st.booleans()) else None
    matrix = scipy.sparse.csr_array(X) if draw(st.booleans()) else X
    return Block.of(matrix, y, importance), classes


ways = st.builds(
    Settings,
    rule=st.just("svm"),
    C=st.sampled_from([0.01, 0.3, 1.0, 30.0]),
    loss=st.sampled_from(["hinge", "squared"]),
    multiclass=st.sampled_from(["crammer-singer", "one-versus-rest"]),
    bias=st.booleans(),
    order=st.sampled_from(["given", "once", "each"]),
    epochs=st.just(MANY),
)
few_examples = hypothesis_settings(max_examples=max(10, hypothesis_settings().max_examples // 4))


@few_examples
@given(problems(), ways)
def test_answers_are_those_of_the_optimum_without_each_row(problem: tuple[Block, int], settings: Settings) -> None:
    block, classes = problem
    found = leave_one_out(block, settings, classes, threads=1)
    assert found is not None and found.free + found.retrained == len(block)
    plain = Plain(block, settings, classes)
    for row in range(len(block)):
        answer, tie = plain(row)
        assert tie or found.predicted[row] == answer


@few_examples
@given(problems(), ways, st.sampled_from([0.5, 0.1, 0.01, 1e-4]))
def test_what_is_proven_holds_however_far_the_optimum_is(
    problem: tuple[Block, int], settings: Settings, tol: float
) -> None:
    block, classes = problem
    machine = Machine(block, replace(settings, tol=tol).spelled_out(), classes)
    passes = len(teach(machine.with_all, machine.block))
    said, plain = machine.say_of_all(passes), Plain(block, settings, classes)
    for row in np.flatnonzero(said.proven).tolist():
        answer, tie = plain(row)
        assert tie or said.predicted[row] == answer
    for row in np.flatnonzero(~said.proven).tolist():
        one = machine.say_without(row)
        answer, tie = plain(row)
        assert tie or not one.proven[0] or one.predicted[0] == answer


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("multiclass", ["crammer-singer", "one-versus-rest"])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, pytest.param(load_digits, marks=pytest.mark.slow)])
def test_real_data(load: Any, C: float, multiclass: str, loss: str) -> None:
    X, y = load(return_X_y=True)
    X, y = X[:400:2] if load is load_digits else X[::3], y[:400:2] if load is load_digits else y[::3]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    block, classes = Block.of(X, y), len(np.unique(y))
    settings = Settings(rule="svm", C=C, multiclass=multiclass, loss=loss)
    found = leave_one_out(block, settings, classes)
    assert found is not None
    plain = Plain(block, settings, classes)
    for row in np.random.default_rng(0).choice(len(block), 3, replace=False).tolist():
        answer, tie = plain(row)
        assert tie or found.predicted[row] == answer
    assert found.near <= 0.02 * len(block)
    machine = Dual(settings, features=block.rows.width, classes=classes)
    teach(machine, block)
    assert found.retrained <= len(machine.support.rows)
    assert np.mean(found.predicted == y) > 0.75


def test_only_rows_that_hold_the_plane_and_might_change_sides_are_retrained() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    block = Block.of((X - X.mean(axis=0)) / X.std(axis=0), y)
    settings = Settings(rule="svm", C=0.01, tol=1e-9)
    machine = Dual(settings, features=block.rows.width, classes=2)
    teach(machine, block)
    margins = machine.scores(block.rows)[:, 0] * np.where(y == 1, 1, -1)
    alpha = np.zeros(len(y))
    alpha[machine.support.rows] = np.abs(machine.support.pulls[:, 0])
    reach = alpha * ((block.matrix**2).sum(axis=1) + 1)  # how much lower the margin may be without the row
    found = leave_one_out(block, settings, 2)
    assert found is not None
    unsure = (margins > 0) & (margins < reach)
    assert 0 < unsure.sum() < (alpha > 0).sum()
    assert abs(found.retrained - unsure.sum()) <= 2
    wrong = margins < 0
    assert wrong.any() and (found.predicted[wrong] != y[wrong]).all()


def test_threads_change_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    block, settings = Block.of(X - X.mean(axis=0), y), Settings(rule="svm", C=0.1)
    one, three = (leave_one_out(block, settings, 3, threads=threads) for threads in (1, 3))
    assert one is not None and three is not None
    assert one.predicted.tolist() == three.predicted.tolist()
    assert (one.free, one.retrained, one.near) == (three.free, three.retrained, three.near)


def test_hard_margins() -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 3))
    y = (X @ [1.0, -2, 0.5] > 0).astype(int)
    X += 0.2 * np.outer(2 * y - 1, [1.0, -2, 0.5])
    settings = Settings(rule="svm", C=math.inf)
    found = leave_one_out(Block.of(X, y), settings, 2)
    assert found is not None and found.retrained < 10  # in four dimensions five rows hold the plane at most
    plain = Plain(Block.of(X, y), replace(settings, epochs=200), 2)
    assert found.predicted.tolist() == [plain(row)[0] for row in range(40)]


def test_where_all_rows_have_no_hard_margin_the_plain_way_is_taken() -> None:
    # No line has the middle one on its other side; without any of the three there is one.
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])
    assert leave_one_out(Block.of(X, y), Settings(rule="svm", C=math.inf), 2) is None
    result = markone.validate(X, target=y, rule="svm", C=math.inf, method="loo", features={"rows": {"scale": "none"}})
    assert result.trained == 3 and "does not get close to its optimum" in " ".join(result.remarks)


def test_too_few_passes_are_no_optimum() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    block = Block.of((X - X.mean(axis=0)) / X.std(axis=0), y)
    assert leave_one_out(block, Settings(rule="svm", C=10.0, epochs=2), 2) is None


@pytest.mark.parametrize("chosen", [{"patience": 3}, {"holdout": 0.2, "patience": 3}, {"rule": "mira"}])
def test_settings_by_which_the_optimum_is_not_what_counts(chosen: dict[str, Any]) -> None:
    settings = Settings(**{"rule": "svm", **chosen})
    with pytest.raises(SettingsError, match="must be"):
        leave_one_out(Block.of(np.eye(4), np.array([0, 1, 0, 1])), settings, 2)


def test_validation_takes_the_shortcut_and_says_so() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    unscaled = {"rows": {"scale": "none"}}
    quick = markone.validate(X, target=y, rule="svm", C=0.1, method="loo", features=unscaled)
    assert 1 < quick.trained < 60
    assert "The predictions are those of the exact optimum" in " ".join(quick.remarks)
    found = leave_one_out(Block.of(X.astype(np.float32), y), Settings(rule="svm", C=0.1), 2)
    assert found is not None and quick.trained == 1 + found.retrained
    assert quick.predicted.tolist() == found.predicted.tolist()


def test_rows_next_to_a_tie_are_counted(monkeypatch: Any) -> None:
    # Without any of the four, the middle lies on the plane or next to it.
    X, y = np.array([[1.0], [0.0], [0.0], [-1.0]]), np.array([1, 1, 0, 0])
    found = leave_one_out(Block.of(X, y), Settings(rule="svm", bias=False), 2)
    assert found is not None and found.near == 0  # rows of zeros are ties that are decided
    monkeypatch.setattr(loo_svm, "CLOSE", 0.5)
    X[1:3] = [[1e-9], [-1e-9]]
    found = leave_one_out(Block.of(X, y), Settings(rule="svm", tol=0.5), 2)
    assert found is not None and found.near > 0
