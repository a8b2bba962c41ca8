"""Passes, orders, stopping, held-out rows, interruption."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markone import DataError
from markone.data.blocks import Block
from markone.learning import examples
from markone.learning.examples import BlockExamples
from markone.learning.holdout import split
from markone.learning.online import Linear, pieces
from markone.learning.passes import teach
from markone.learning.progress import Bar, PassLines, Silence, progress_of
from markone.model.history import Pass
from markone.model.rules import ONLINE
from markone.model.settings import Settings
from markone.reporting.meter import Meter


def noisy(rows: int = 300, classes: int = 2, seed: int = 0) -> Block:
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 8))
    scores = X @ random.normal(size=(8, classes)) + 1.5 * random.normal(size=(rows, classes))
    return Block.of(X, scores.argmax(axis=1))


def separable(rows: int = 200) -> Block:
    random = np.random.default_rng(1)
    X = random.normal(size=(rows, 5))
    scores = X @ [1, -2, 0.5, 0, 1]
    keep = abs(scores) > 0.5
    return Block.of(X[keep], (scores > 0)[keep].astype(int))


def learner(block: Block, **chosen: Any) -> Linear:
    return Linear(Settings(**chosen), features=block.rows.width, classes=int(block.labels.max()) + 1)


# ---- orders


def test_given_order_is_storage_order() -> None:
    block = noisy()
    trained, by_hand = learner(block, order="given", epochs=3), learner(block, order="given")
    teach(trained, block)
    for _ in range(3):
        by_hand.learn(block)
    np.testing.assert_array_equal(trained.weights().matrix(), by_hand.weights().matrix())


def test_shuffled_once_keeps_its_order_and_shuffled_each_pass_does_not() -> None:
    block = noisy()
    rows = np.arange(len(block)).tolist()

    def orders(how: str) -> list[list[int]]:
        settings = Settings(order=how, epochs=3)
        examples = BlockExamples(block, settings)
        return [order.tolist() for epoch in (1, 2, 3) for _, order in examples.visits(settings, epoch)]

    once, each = orders("once"), orders("each")
    assert all(sorted(order) == rows for order in [*once, *each])
    assert once[0] == once[1] == once[2] != rows
    assert len({tuple(order) for order in each}) == 3


def test_the_same_seed_gives_the_same_bytes() -> None:
    block = noisy()
    found = []
    for seed in (1, 1, 2):
        linear = learner(block, seed=seed, holdout=0.2, patience=2, epochs=30)
        teach(linear, block)
        found.append(linear.weights().matrix().tobytes())
    assert found[0] == found[1] != found[2]


def test_cutting_a_pass_into_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    block = noisy()
    whole, cut = learner(block), learner(block)
    one = teach(whole, block)
    monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", 100)
    visited = BlockExamples(block, whole.settings)

    def looks(columns: int) -> int:
        return len(list(pieces(None, len(block), visited.between_looks(columns))))

    assert looks(1) == 25 and looks(2) == 50
    two = teach(cut, block)
    np.testing.assert_array_equal(whole.weights().matrix(), cut.weights().matrix())
    assert [p.mistakes for p in one] == [p.mistakes for p in two]


# ---- history


@pytest.mark.parametrize("rule", ONLINE)
@pytest.mark.parametrize("classes", [2, 4])
def test_the_history_is_what_a_slow_count_finds(rule: str, classes: int) -> None:
    block, held_out = noisy(150, classes), noisy(80, classes, seed=5)
    linear, slow = learner(block, rule=rule, order="given", epochs=3), learner(block, rule=rule)
    history = teach(linear, block, holdout=held_out)
    X, loss_of = block.matrix, losses_of_rules()[rule]
    for one in history:
        mistakes, loss = 0, 0.0
        for i in range(len(block)):
            w = slow.weights(averaged=False)
            scores = X[i] @ w.matrix() + w.bias()
            if classes == 2:
                scores = np.array([0, scores[0]])
            y = block.labels[i]
            margin = scores[y] - np.delete(scores, y).max()
            mistakes += margin <= 0
            loss += loss_of(scores, y, margin)
            slow.learn(block, np.array([i]))
        assert one.mistakes == mistakes
        assert one.loss == pytest.approx(loss / len(block))
        w = slow.weights(averaged=False)
        assert one.norm2 == pytest.approx((w.matrix() ** 2).sum() + (w.bias() ** 2).sum())
        assert one.holdout_last == np.mean(slow.predict(held_out.rows, averaged=False) == held_out.labels)
        assert one.holdout_averaged == np.mean(slow.predict(held_out.rows, averaged=True) == held_out.labels)
        assert one.seconds > 0
    assert [one.epoch for one in history] == [1, 2, 3]


def losses_of_rules() -> dict[str, Any]:
    return {
        "perceptron": lambda s, y, margin: max(0, -margin),
        "mira": lambda s, y, margin: max(0, 1 - margin),
        "hinge": lambda s, y, margin: max(0, 1 - margin),
        "logistic": lambda s, y, margin: np.log(np.exp(s - s[y]).sum()),
    }


# ---- stopping


def test_stops_after_the_passes_asked_for() -> None:
    block = noisy()
    history = teach(learner(block, epochs=4), block)
    assert len(history) == 4 and history.stopped == "epochs"
    assert str(history) == "4 passes; stopped because all passes were made"


def test_stops_when_a_pass_makes_no_mistake() -> None:
    block = separable()
    history = teach(learner(block, epochs=1000), block)
    assert history.stopped == "converged" and history[-1].mistakes == 0
    assert all(one.mistakes > 0 for one in history.passes[:-1])


def test_gradient_rules_go_on_without_mistakes() -> None:
    block = separable()
    history = teach(learner(block, rule="logistic", epochs=60), block)
    assert len(history) == 60 and history[-1].mistakes == 0


def test_stops_when_held_out_accuracy_has_peaked_and_restores_the_best() -> None:
    block, held_out = noisy(), noisy(seed=9)
    linear = learner(block, epochs=200, patience=3)
    history = teach(linear, block, holdout=held_out)
    assert history.stopped == "held-out"
    best = max(history, key=lambda one: one.holdout or 0)
    assert history.best_epoch == best.epoch == len(history) - 3
    assert np.mean(linear.predict(held_out.rows) == held_out.labels) == best.holdout
    again = learner(block, epochs=best.epoch)
    teach(again, block)
    np.testing.assert_array_equal(linear.weights().matrix(), again.weights().matrix())
    np.testing.assert_array_equal(linear.weights(False).matrix(), again.weights(False).matrix())


def test_rows_held_out_are_not_learned_from() -> None:
    block = noisy(100)
    linear = learner(block, holdout=0.25, order="given", epochs=1)
    teach(linear, block)
    rows, apart = split(block.labels, 0.25, seed=0)
    by_hand = learner(block)
    by_hand.learn(block, rows)
    np.testing.assert_array_equal(linear.weights().matrix(), by_hand.weights().matrix())
    assert len(apart) == 25 and not set(rows) & set(apart)


def test_stops_when_the_loss_stands_still() -> None:
    block = noisy()
    history = teach(learner(block, rule="logistic", schedule="sqrt", epochs=500, tol=1e-3, patience=3), block)
    assert history.stopped == "loss" and 3 < len(history) < 500
    losses = [one.loss for one in history]
    gained = [loss < min(losses[:i], default=np.inf) - 1e-3 for i, loss in enumerate(losses)]
    assert gained[-4:] == [True, False, False, False]


def test_the_callback_sees_every_pass_and_may_stop() -> None:
    block, seen = noisy(), []

    def callback(result: Pass) -> bool:
        seen.append(result)
        return result.epoch == 3

    history = teach(learner(block, epochs=10), block, callback=callback)
    assert history.stopped == "callback" and seen == history.passes and len(seen) == 3


def test_interruption_keeps_the_model_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    class Impatient(Silence):
        looks = 0

        def advance(self, rows: int) -> None:
            self.looks += 1
            if self.looks == 8:
                raise KeyboardInterrupt

    block = noisy()
    monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", 480)  # five parts to a pass
    linear = learner(block, epochs=100)
    history = teach(linear, block, progress=Impatient())
    assert history.stopped == "interrupted" and len(history) == 1
    assert linear.time == 8 * 60  # all that was seen is kept
    assert np.mean(linear.predict(block.rows) == block.labels) > 0.6


def test_weights_beyond_all_numbers_are_an_error() -> None:
    X = np.array([[1e30, 1.0], [-1e30, 1.0], [1e30, -1.0]], np.float32)
    block = Block.of(X, np.array([0, 1, 1]))
    linear = Linear(Settings(rule="hinge", eta=1e10), features=2, classes=2, dtype=np.float32)
    with pytest.raises(DataError, match="in pass 1 .* scale them"):
        teach(linear, block)


def test_random_start_needs_no_zero() -> None:
    block = noisy()
    linear = learner(block, start="random", seed=3)
    first = linear.weights(False).matrix()
    assert (first != 0).all() and abs(first).max() < 0.1
    np.testing.assert_array_equal(first, learner(block, start="random", seed=3).weights(False).matrix())


# ---- splitting


@given(st.integers(2, 6), st.floats(0.05, 0.6), st.integers(0, 1000))
def test_a_split_takes_its_share_of_every_class(classes: int, share: float, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, classes, 200).astype(np.int32)
    rows, apart = split(labels, share, seed)
    assert sorted([*rows, *apart]) == list(range(200))
    for k in range(classes):
        members = int((labels == k).sum())
        assert abs((labels[apart] == k).sum() - share * members) <= 1.5


def test_too_few_rows_to_hold_out_is_said() -> None:
    with pytest.raises(DataError, match="3 rows are too few"):
        split(np.array([0, 1, 1], np.int32), 0.1, 0)


# ---- progress


def test_lines_tell_each_pass(capsys: pytest.CaptureFixture[str]) -> None:
    block = noisy()
    teach(learner(block, epochs=2, holdout=0.2), block, progress=PassLines())
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("pass 1: ") and "mistakes, loss" in lines[0] and "held-out accuracy" in lines[0]


def test_the_bar_tells_of_the_last_pass_and_leaves_no_lines(capsys: pytest.CaptureFixture[str]) -> None:
    block, bar = noisy(), Bar(Meter("terminal", 0.0))
    teach(learner(block, epochs=2), block, progress=bar)
    assert re.fullmatch(r"pass 2 of 2, last \d+ wrong", bar.what)
    assert "wrong" not in capsys.readouterr().err


def test_a_log_gets_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(progress_of(True), PassLines) and isinstance(
        progress_of(None), Silence
    )  # pytest's standard error is no terminal
