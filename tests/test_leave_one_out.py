"""Leave-one-out: the shortcut against a training for each row, to the last label."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits

from levels import check_levels
from markone import _core, reference
from markone.data.blocks import Block
from markone.errors import DataError, SettingsError
from markone.experiments import loo_online as module
from markone.experiments.loo_online import OnlineLeftOut, learn_without, leave_one_out, orders_of, why_not
from markone.learning.online import Linear
from markone.model.settings import OnlineSettings, Settings
from quickly import slow

ONLINE = ["perceptron", "mira", "hinge", "logistic"]


def online(rule: Any, **how: Any) -> Settings:
    """The settings of a rule that takes a step at each example."""
    return Settings(rule=rule, solver="online" if rule == "logistic" else None, **how)


# Each example is a training for each of its rows, and there are many ways to learn.
few_examples = hypothesis_settings(max_examples=max(10, hypothesis_settings().max_examples // 3))


def plainly(block: Block, settings: Settings, classes: int) -> list[int]:
    return [learn_without(block, settings, classes, row) for row in range(len(block))]


@st.composite
def settings_of(draw: st.DrawFn, rule: str) -> Settings:
    chosen: dict[str, Any] = {
        "rule": rule,
        "epochs": draw(st.integers(1, 6)),
        "average": draw(st.booleans()),
        "tie": draw(st.sampled_from(["negative", "error", "positive"])),
        "bias": draw(st.booleans()),
        "order": draw(st.sampled_from(["given", "once", "each"])),
        "seed": draw(st.integers(0, 9)),
        "start": draw(st.sampled_from(["zero", "zero", "random"])),
    }
    if rule == "mira":
        chosen["C"] = draw(st.sampled_from([0.01, 0.3, 1.0, math.inf]))
        chosen["update"] = draw(st.sampled_from(["margin", "mistake"]))
    else:
        chosen["eta"] = draw(st.sampled_from([0.1, 1.0, 2.0]))
    if rule in ("perceptron", "mira"):
        chosen["form"] = draw(st.sampled_from(["label", "difference"]))
    return Settings(**chosen)


@st.composite
def blocks(draw: st.DrawFn, classes: int, kind: str) -> Block:
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(1, 24))
    features = draw(st.sampled_from([1, 2, 3, 9, 17, 63, 64, 101]))  # on either side of how dense rows are summed
    whole_numbers = draw(st.booleans())
    X = random.integers(-2, 3, (rows, features)) if whole_numbers else random.normal(size=(rows, features))
    X = X * (random.random((rows, features)) < draw(st.sampled_from([0.2, 0.6, 1.0])))
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    y = random.integers(0, classes, rows)
    if draw(st.booleans()):  # such that most rows make no step in the end
        y = (X @ random.normal(size=(features, classes))).argmax(axis=1)
    importance = random.choice([0, 0.5, 1, 1, 2, 3.25], rows) if draw(st.booleans()) else None
    return Block.of(scipy.sparse.csr_array(X) if kind == "sparse" else X, y, importance)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("rule", ONLINE)
@few_examples
@given(st.data())
def test_the_shortcut_gives_the_answers_of_a_training_for_each_row(
    rule: str, classes: int, kind: str, source: st.DataObject
) -> None:
    block, settings = source.draw(blocks(classes, kind)), source.draw(settings_of(rule))
    found = leave_one_out(block, settings, classes, threads=1)
    assert found.predicted.tolist() == plainly(block, settings, classes)
    assert found.free + found.retrained == len(block)


@pytest.mark.parametrize(
    ("how", "average"),
    [
        ({"rule": "perceptron"}, False),
        slow(({"rule": "perceptron"}, True)),
        slow(({"rule": "mira"}, False)),
        ({"rule": "mira"}, True),
        ({"rule": "mira", "update": "mistake", "form": "difference"}, False),
        slow(({"rule": "mira", "update": "mistake", "form": "difference"}, True)),
    ],
)
@few_examples
@given(st.data())
def test_it_is_the_references(how: dict[str, Any], average: bool, source: st.DataObject) -> None:
    classes = source.draw(st.sampled_from([2, 3]))
    random = np.random.default_rng(source.draw(st.integers(0, 2**32 - 1)))
    X, y = random.integers(-2, 3, (12, 3)), random.integers(0, classes, 12)
    rule = how["rule"]
    settings = online(average=average, epochs=4, **({"C": 0.25} if rule == "mira" else {}), **how).spelled_out()
    rows = [({j: Fraction(int(v)) for j, v in enumerate(x)}, int(label), 1) for x, label in zip(X, y, strict=True)]
    orders = orders_of(len(X), settings).tolist()
    chosen = {"C": Fraction(1, 4)} if rule == "mira" else {}
    exact = reference.leave_one_out(rows, orders, classes, average=average, rests=True, **how, **chosen)
    found = leave_one_out(Block.of(X.astype(float), y), settings, classes)
    if rule == "perceptron" and not average:  # whole numbers, which floats have
        assert found.predicted.tolist() == exact
    else:  # a tie that is not exact in floats may go either way
        assert (found.predicted == exact).sum() >= 10


@pytest.fixture(scope="module")
def tumours() -> Block:
    X, y = load_breast_cancer(return_X_y=True)
    return Block.of(((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32), y)


@pytest.fixture(scope="module")
def digits() -> Block:
    X, y = load_digits(return_X_y=True)
    return Block.of((X[:600] / 16).astype(np.float32), y[:600])


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("rule", ["perceptron", "mira"])
def test_real_data(rule: str, average: bool, tumours: Block, digits: Block) -> None:
    settings = online(rule, average=average)
    for block, classes in ((tumours, 2), (digits, 10)):
        found = leave_one_out(block, settings, classes)
        some = np.random.default_rng(0).choice(len(block), 40, replace=False)
        assert found.predicted[some].tolist() == [learn_without(block, settings, classes, row) for row in some]
        assert np.mean(found.predicted == block.labels) > 0.9
        assert found.free > len(block) / 20
        # Few are so near to a tie that they need a training of their own, and without averages none is.
        assert found.repeated <= (0.02 * len(block) if average else 0)


def test_who_is_free_and_who_is_retrained(tumours: Block) -> None:
    settings = Settings(rule="perceptron", epochs=3).spelled_out()
    linear = Linear(settings, features=tumours.rows.width, classes=2, dtype=np.float32)
    moved = np.zeros(len(tumours), bool)
    for order in orders_of(len(tumours), settings):
        for row in order:
            moved[row] |= linear.learn(tumours, np.array([row])).updates > 0
    found = leave_one_out(tumours, settings, 2)
    assert (found.free, found.retrained) == ((~moved).sum(), moved.sum())


def test_a_row_without_a_step_still_counts_in_the_average() -> None:
    # It takes part in the average's time. So the full model's answer is not always the one without it.
    settings, differ = Settings(rule="perceptron", epochs=2, bias=False), 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        block = Block.of(random.integers(-2, 3, (6, 2)).astype(float), random.integers(0, 2, 6))
        found = leave_one_out(block, settings, 2)
        run = _core.LeftOut64(
            OnlineSettings.of(settings).for_core(),
            Linear(settings, features=2, classes=2).weights(False),
            block.rows,
            block.labels,
            None,
            orders_of(6, OnlineSettings.of(settings)),
            True,
        )
        free = np.flatnonzero(run.first_steps() < 0)
        linear = Linear(settings, features=2, classes=2)
        for order in orders_of(6, OnlineSettings.of(settings)):
            if linear.learn(block, order).updates == 0:
                break
        differ += (linear.predict(block.rows)[free] != found.predicted[free]).sum()
        assert found.predicted.tolist() == plainly(block, settings, 2)
    assert differ > 0


def test_a_run_that_comes_to_rest_does_so_without_a_row_too() -> None:
    random = np.random.default_rng(4)
    X = random.normal(size=(80, 3))
    y = (X @ [1, -2, 0.5] > 0).astype(int)
    X += np.outer(2 * y - 1, [0.2, -0.4, 0.1])  # a margin
    block = Block.of(X, y)
    for average in (False, True):
        settings = Settings(rule="perceptron", epochs=100, average=average)
        found = leave_one_out(block, settings, 2)
        assert found.predicted.tolist() == plainly(block, settings, 2)
        assert found.free > 50


def test_features_that_a_row_names_twice() -> None:
    random = np.random.default_rng(2)
    indices = random.integers(0, 5, (30, 9)).astype(np.int32)  # nine entries for five features
    data = random.normal(size=(30, 9)) * (random.random((30, 9)) < 0.8)
    matrix = scipy.sparse.csr_array((data.ravel(), indices.ravel(), np.arange(0, 271, 9)), shape=(30, 5))
    block = Block.of(matrix, random.integers(0, 3, 30))
    for rule in ("perceptron", "mira"):
        for classes in (2, 3):
            some = Block(block.rows, block.matrix, np.minimum(block.labels, classes - 1), None)
            for average in (False, True):
                settings = online(rule, average=average, epochs=5)
                assert leave_one_out(some, settings, classes).predicted.tolist() == plainly(some, settings, classes)


def test_a_tie_is_decided_by_a_training() -> None:
    block = Block.of(np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0], [1.0, 2.0]]), np.array([1, 1, 0, 0]))
    found = leave_one_out(block, Settings(), 2)
    assert found.repeated > 0
    assert found.predicted.tolist() == plainly(block, Settings(), 2)


@pytest.mark.parametrize("rule", ["perceptron", "hinge"])
def test_whole_numbers_are_exact_as_far_as_floats_have_them(rule: Any) -> None:
    random = np.random.default_rng(5)
    X, y = random.integers(0, 5, (150, 12)), random.integers(0, 2, 150)
    for eta, large in ((1.0, 1), (3.0, 1), (12345.0, 1), (1.0, 3001), (54321.0, 3001)):
        block = Block.of((large * X).astype(np.float32), y, random.integers(1, 4, 150))
        settings = online(rule, eta=eta, epochs=4)
        found = leave_one_out(block, settings, 2)
        assert found.predicted.tolist() == plainly(block, settings, 2)
        # Noise alone makes more than a hundred steps, which are all known to the last digit where numbers are small.
        assert found.retrained > 100 and (eta * large > 3 or found.repeated <= 1)


def test_threads_change_nothing_and_progress_is_told(digits: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 32)
    told: list[tuple[int, int]] = []
    one = leave_one_out(digits, Settings(epochs=2), 10, threads=1, progress=lambda *now: told.append(now))
    two = leave_one_out(digits, Settings(epochs=2), 10, threads=3)
    np.testing.assert_array_equal(one.predicted, two.predicted)
    assert told[-1] == (600, 600) and len(told) == -(-one.retrained // 32)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.parametrize(("rule", "classes"), [("hinge", 5), ("logistic", 3), ("perceptron", 2)])
def test_rows_of_nothing_but_zeros(rule: Any, classes: int) -> None:
    """Replicas have no entry to read: the array of all entries is empty. `make sanitize` sees who reads it."""
    for features in (0, 4):
        block = Block.of(np.zeros((3 * classes, features)), np.arange(3 * classes) % classes)
        settings = Settings(rule=rule, epochs=2, solver="online" if rule == "logistic" else None)
        assert leave_one_out(block, settings, classes=classes).predicted.tolist() == plainly(block, settings, classes)


def test_one_class_is_the_only_answer() -> None:
    block = Block.of(np.ones((3, 2)), np.zeros(3, int))
    assert leave_one_out(block, Settings(), 1).predicted.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (Settings(rule="svm"), "rule"),
        (Settings(rule="hinge", penalty="l2"), "penalty"),
        (Settings(rule="perceptron", schedule="sqrt"), "schedule"),
        (Settings(rule="mira", holdout=0.1), "holdout"),
        (Settings(rule="mira", patience=2, tol=0.1), "patience"),
        (Settings(rule="logistic", solver="newton"), "rule"),
    ],
)
def test_what_has_no_shortcut_says_why(settings: Settings, name: str) -> None:
    assert why_not(settings) is not None
    block = Block.of(np.eye(2), np.array([0, 1]))
    with pytest.raises(SettingsError, match=f"^{name} must be "):
        leave_one_out(block, settings, 2)


def test_what_cannot_be_learned_from_is_refused() -> None:
    with pytest.raises(DataError, match="as often as its weight says"):
        leave_one_out(Block.of(np.eye(2), np.array([0, 1]), [1, 1e7]), Settings(), 2)
    with pytest.raises(DataError, match="training diverged"):
        leave_one_out(Block.of(np.array([[3e38], [3e38]], np.float32), np.array([0, 1])), Settings(epochs=3), 2)


def test_the_core_refuses_what_would_read_elsewhere() -> None:
    block = Block.of(np.eye(3), np.array([0, 1, 0]))
    start = Linear(Settings(), features=3, classes=2).weights(False)
    orders = np.arange(3).reshape(1, 3)

    def run(**changed: Any) -> Any:
        given = {
            "settings": OnlineSettings.of(Settings()).for_core(),
            "start": start,
            "rows": block.rows,
            "labels": block.labels,
        }
        return _core.LeftOut64(**{**given, "importance": None, "orders": orders, "rests": True, **changed})

    narrow = Linear(Settings(), features=2, classes=2).weights(False)
    for wrong in (
        {"orders": np.array([[0, 1, 3]])},
        {"orders": np.array([[0, 1]])},
        {"orders": np.array([[0, 1, -1]])},
        {"labels": np.array([0, 2, 0], np.int32)},
        {"labels": np.array([0, 1], np.int32)},
        {"importance": np.array([1.0, -1.0, 1.0])},
        {"start": narrow},
        {"settings": OnlineSettings.of(Settings(rule="hinge", penalty="l1")).for_core()},
    ):
        with pytest.raises(ValueError):
            run(**wrong)
    whole = run()
    assert whole.first_steps().tolist() == [0, 1, 2]
    for row in (-1, 3):
        with pytest.raises(IndexError):
            whole.retrain(np.array([row]))
    with pytest.raises(ValueError):
        whole.free(np.array([0]))
    settled = run(orders=np.array([[1, 1, 0]]))  # the last row is never visited
    with pytest.raises(ValueError):
        settled.retrain(np.array([2]))


def test_the_cpu_levels_give_the_same_answers() -> None:
    program = """
import itertools, numpy as np, scipy.sparse
from markone import _core
from markone.data.blocks import Block
from markone.experiments.loo_online import leave_one_out
from markone.model.settings import OnlineSettings, Settings
random = np.random.default_rng(5)
for dtype, rule, classes, width in itertools.product((np.float32, np.float64), ("perceptron", "mira"), (2, 5), (9, 70)):
    X = (random.normal(size=(90, width)) * (random.random((90, width)) < 0.7)).astype(dtype)
    y = random.integers(0, classes, 90)
    for matrix in (X, scipy.sparse.csr_array(X)):
        found = leave_one_out(Block.of(matrix, y), Settings(rule=rule), classes)
        print(found.predicted.tolist(), found.free, found.repeated)
"""
    check_levels(program)


def test_the_result_says_what_it_took(tumours: Block) -> None:
    found = leave_one_out(tumours, Settings(), 2)
    assert isinstance(found, OnlineLeftOut)
    assert found.free + found.retrained == len(tumours) and found.repeated < found.retrained
