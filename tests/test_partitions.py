"""Partitions: the model depends on their number, but not on what runs them."""

from __future__ import annotations

import itertools
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import markone
from markone import reference
from markone.cluster.engine import Threads, reduce_in_tree
from markone.data.blocks import Block
from markone.learning.examples import BlockExamples, shares
from markone.learning.learners import learner_for
from markone.learning.online import Linear
from markone.learning.partitions import mixing
from markone.learning.passes import teach
from markone.model.rules import ONLINE
from markone.model.settings import Settings
from test_core import Careful, assert_same_weights, data, options

SPAM = ["free money now", "cheap pills", "free beer money", "win a prize now", "cash for free"]
HAM = ["see you soon", "the meeting is at ten", "notes of the meeting", "lunch at ten", "see the notes"]
TEXTS = [f"{text} {word}" for text in SPAM + HAM for word in ("one", "two", "three", "four")]
LABELS = ["spam"] * 20 + ["ham"] * 20
MIXED = random.Random(3).sample(range(40), 40)
TEXTS, LABELS = [TEXTS[i] for i in MIXED], [LABELS[i] for i in MIXED]


class Shuffled(Threads):
    """Runs all tasks that are asked for in one thread, in a random order."""

    def __init__(self, seed: int) -> None:
        super().__init__(1)
        self._random = random.Random(seed)
        self._waiting: list[Any] = []

    def submit(self, function: Any, *arguments: Any) -> Any:
        from concurrent.futures import Future

        task: Any = Future()
        self._waiting.append((task, function, arguments))
        return task

    def _run(self) -> None:
        while self._waiting:
            ready = [one for one in self._waiting if all(not is_open(argument) for argument in one[2])]
            chosen = self._random.choice(ready)
            self._waiting.remove(chosen)
            task, function, arguments = chosen
            task.set_result(function(*(a.result() if hasattr(a, "result") else a for a in arguments)))

    def wait(self, handles: Any, seconds: float) -> bool:
        self._run()
        return True

    def gather(self, handles: Any) -> list[Any]:
        self._run()
        return super().gather(handles)


def is_open(argument: Any) -> bool:
    return hasattr(argument, "done") and not argument.done()


# ---- the mathematics


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("rule", ONLINE)
@given(st.data())
def test_mixing_is_that_of_the_reference(rule: str, kind: str, st_data: st.DataObject) -> None:
    given_data = st_data.draw(data())
    how = st_data.draw(options(rule))
    count = st_data.draw(st.integers(2, 5))
    by = st_data.draw(st.sampled_from(["uniform", "mistakes"]))
    rows = len(given_data.y)
    count = min(count, rows)
    if count < 2:
        return
    settings = Settings(**how, order="given", epochs=3, partitions=count, mixing=by)
    block = given_data.block(kind)
    given_data.order = np.arange(rows)
    examples = given_data.examples()
    linear = Linear(settings, features=block.rows.width, classes=given_data.classes)
    oracle = Careful(given_data.classes, **how)
    parts = [examples[start:end] for start, end in shares(rows, count)]
    for epoch in (1, 2, 3):
        [*_, (tally, visits)] = linear.learn_pass(BlockExamples(block, settings), epoch, 0)
        tallies = reference.mixed_pass(oracle, parts, by)
        if oracle.nearest < 1e-6:
            return
        assert visits == rows
        assert (tally.mistakes, tally.updates) == (
            sum(one.mistakes for one in tallies),
            sum(one.updates for one in tallies),
        )
        assert_same_weights(linear, oracle, rtol=1e-6)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("rule", ONLINE)
@given(st_data=st.data())
def test_tables_that_are_mixed_in_place_have_the_bytes_of_lists_of_changes(
    rule: str, kind: str, st_data: st.DataObject
) -> None:
    given_data = st_data.draw(data())
    how = st_data.draw(options(rule))
    count = min(st_data.draw(st.integers(2, 7)), len(given_data.y))
    if count < 2:
        return
    by = st_data.draw(st.sampled_from(["uniform", "mistakes"]))
    dtype = st_data.draw(st.sampled_from([np.float32, np.float64]))
    settings = Settings(**how, epochs=4, partitions=count, mixing=by)
    block = given_data.block(kind)
    if dtype == np.float32:
        block = Block.of(block.matrix.astype(dtype), block.labels, block.importance)
    states = []
    for in_place in (True, False):
        linear = Linear(settings, features=block.rows.width, classes=given_data.classes, dtype=dtype)
        examples = BlockExamples(linear.ready(block), settings)
        with patch.object(mixing.Weights, "have_room", return_value=in_place), Threads(2) as linear.engine:
            for epoch in (1, 2, 3, 4):
                for _ in linear.learn_pass(examples, epoch, 0):
                    pass
        states.append({name: array.tobytes() for name, array in linear.get_state().items()})
    assert states[0] == states[1]


def test_both_ways_of_mixing_go_on_from_a_model_with_more_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums may be -0 there, which adding 0 would change."""
    chance = np.random.default_rng(3)
    texts = [" ".join(f"w{word}" for word in chance.integers(0, 30, 6)) for _ in range(120)]
    labels = [f"c{int(text[1:3].strip()) % (2 + (number > 40))}" for number, text in enumerate(texts)]
    first = markone.train(texts[:40], target=labels[:40], epochs=2)
    digests = set()
    for in_place in (True, False):
        monkeypatch.setattr(mixing.Weights, "have_room", lambda *_, way=in_place: way)
        digests.add(markone.train(texts, target=labels, from_model=first, partitions=2, epochs=2).digest)
    assert len(digests) == 1


def test_partitions_have_their_own_learners_if_there_is_room() -> None:
    small, large = (
        mixing.Weights(Linear(Settings(rule="mira"), features=features, classes=2, dtype=np.float32))
        for features in (100, 2**20)
    )
    assert small.have_room(16, 2)
    assert large.have_room(2, 2)
    assert not large.have_room(3, 2)


def test_shares_cover_all_rows() -> None:
    for rows in range(1, 40):
        for count in range(1, rows + 1):
            found = shares(rows, count)
            assert found[0][0] == 0
            assert found[-1][1] == rows
            assert all(a[1] == b[0] for a, b in itertools.pairwise(found))
            assert {end - start for start, end in found} <= {rows // count, -(-rows // count)}


def test_the_tree_depends_only_on_the_number_of_handles() -> None:
    def pair(a: str, b: str) -> str:
        return f"({a}{b})"

    with Threads(2) as engine:
        for letters, expected in (("a", "a"), ("ab", "(ab)"), ("abc", "((ab)c)"), ("abcdefg", "(((ab)(cd))((ef)g))")):
            assert engine.gather([reduce_in_tree(engine, pair, [engine.put(one) for one in letters])]) == [expected]


# ---- the same bytes


def rows_of(rows: int, seed: int) -> Block:
    chance = np.random.default_rng(seed)
    X = scipy.sparse.random_array((rows, 50), density=0.2, rng=chance, format="csr", dtype=np.float32)
    return Block.of(X, chance.integers(0, 3, rows))


@pytest.mark.parametrize("rule", [*ONLINE, "naive-bayes", "svm"])
@pytest.mark.parametrize("in_place", [True, False])
def test_threads_and_the_order_of_tasks_change_nothing(
    rule: Any, in_place: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mixing.Weights, "have_room", lambda *_: in_place)
    block = rows_of(300, 5)
    how: dict[str, Any] = {} if rule == "naive-bayes" else {"epochs": 3}
    settings = Settings(rule=rule, partitions=7, **how)
    if rule == "logistic":
        settings = replace(settings, solver="online")
    if rule == "svm":
        settings = replace(settings, epochs=20, tol=1e-6)
    states = []
    for engine in (Threads(1), Threads(2), Threads(5), Shuffled(1), Shuffled(2)):
        learner: Any = learner_for(settings, features=50, classes=3, dtype=np.float32)
        learner.engine = engine
        with engine:
            teach(learner, block)
        states.append(learner.get_state())
    for state in states[1:]:
        assert {name: array.tobytes() for name, array in state.items()} == {
            name: array.tobytes() for name, array in states[0].items()
        }


def test_the_svm_has_fewer_passes_in_partitions_unless_they_are_given() -> None:
    found = [Settings(rule="svm", **how).spelled_out().epochs for how in ({}, {"partitions": 2})]
    assert found == [10_000, 1_000]
    assert Settings(rule="svm", partitions=2, epochs=5000).spelled_out().epochs == 5000


def test_more_partitions_give_another_model_of_online_rules() -> None:
    saved = {p: markone.train(TEXTS, target=LABELS, partitions=p).digest for p in (1, 2, 3)}
    assert len(set(saved.values())) == 3
    by_mistakes = markone.train(TEXTS, target=LABELS, rule="perceptron", partitions=3, mixing="mistakes")
    assert by_mistakes.digest != markone.train(TEXTS, target=LABELS, rule="perceptron", partitions=3).digest


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_give_the_same_file(threads: int, tmp_path: Any) -> None:
    for name, some in (("a", 1), ("b", threads)):
        markone.train(TEXTS, target=LABELS, rule="perceptron", partitions=4, holdout=0.2, threads=some).save(
            tmp_path / name
        )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(("solver", "tol"), [("newton", 1e-8), ("ascent", 1e-4)])
@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_regression_has_the_same_optimum_in_any_number_of_partitions(
    solver: Any, tol: float, classes: int
) -> None:
    block = rows_of(60, 6)
    chance = np.random.default_rng(2)
    labels = (block.labels % classes).astype(np.int32)
    block = Block.of(block.matrix.astype(np.float64), labels, chance.choice([0, 1, 2.5], 60))
    found = {}
    for count in (1, 4, 60):
        settings = Settings(
            rule="logistic", solver=solver, tol=tol, balance=0.1, strength=0.1, epochs=2_000, partitions=count
        )
        outcomes = []
        for threads in (1, 3):
            learner: Any = learner_for(settings, features=50, classes=classes)
            learner.threads = threads
            history = teach(learner, block)
            assert history.stopped == "optimum"
            outcomes.append((learner.weights().matrix(), history[-1].objective))
        assert outcomes[0][0].tobytes() == outcomes[1][0].tobytes()
        found[count] = outcomes[0]
    for weights, objective in found.values():
        assert abs(objective - found[1][1]) <= 1e-6 * found[1][1]
        np.testing.assert_allclose(weights, found[1][0], atol=tol * 20)


CLASSES = [(2, None), (3, "crammer-singer"), (70, "crammer-singer"), (3, "one-versus-rest")]


@pytest.mark.parametrize(("classes", "multiclass"), CLASSES)
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_the_svm_has_the_same_objective_in_any_number_of_partitions(classes: int, multiclass: Any, loss: Any) -> None:
    chance = np.random.default_rng(2)
    X = scipy.sparse.random_array((210, 50), density=0.2, rng=chance, format="csr", dtype=np.float64)
    importance = chance.choice([0, 1, 2.5], 210)
    importance[:30] = 0  # the first of seven partitions has no examples
    block = Block.of(X, np.arange(210) % classes, importance)
    found = {}
    for count in (1, 2, 3, 7):
        settings = Settings(
            rule="svm", tol=5e-7, epochs=20_000, C=0.3, loss=loss, multiclass=multiclass, partitions=count
        )
        states = []
        for threads in (1, 2):
            learner: Any = learner_for(settings, features=50, classes=classes)
            learner.threads = threads
            history = teach(learner, block)
            assert history.stopped == "optimum"
            states.append({name: array.tobytes() for name, array in learner.get_state().items()})
            found[count] = history[-1].objective
        assert states[0] == states[1]
        course = learner.course()
        assert course.gap <= 5e-7
        assert proven_gap(learner, block) == pytest.approx(course.gap, abs=1e-9)
    for objective in found.values():
        assert abs(objective - found[1]) <= 1e-6 * found[1]


def proven_gap(learner: Any, block: Block) -> float:
    """Return the relative duality gap from the finished weights and multipliers alone."""
    weights = np.hstack([solver.weights() for solver in learner.solvers])
    scores = block.matrix @ weights[:-1] + weights[-1]
    support, h, y = learner.support, block.importance, block.labels
    assert h is not None
    C, several, squared = learner.settings.C, scores.shape[1] > 1, learner.settings.loss == "squared"
    pulls = np.zeros_like(scores)
    pulls[support.rows] = support.pulls
    made = np.vstack([block.matrix.T @ pulls, pulls.sum(axis=0)])
    if several and not learner.one_versus_rest:
        right = np.take_along_axis(scores, y[:, None], 1)
        np.put_along_axis(scores, y[:, None], -np.inf, 1)
        lack, multipliers = 1 + scores.max(axis=1, keepdims=True) - right, np.take_along_axis(pulls, y[:, None], 1)
    else:
        signs = np.where(y[:, None] == (np.arange(scores.shape[1]) if several else 1), 1, -1)
        lack, multipliers = 1 - signs * scores, signs * pulls
    lack = np.maximum(lack, 0) ** (2 if squared else 1)
    primal = (weights**2).sum() / 2 + (C * h[:, None] * lack).sum()
    soft = np.divide(multipliers**2, 4 * C * h[:, None], out=np.zeros_like(multipliers), where=h[:, None] > 0)
    dual = (multipliers - squared * soft).sum() - (made**2).sum() / 2
    return float((primal - dual) / primal)


@pytest.mark.parametrize(("classes", "parts"), [(2, 2), (2, 7), (4, 3)])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_the_svm_in_partitions_is_that_of_the_reference(classes: int, parts: int, loss: Any) -> None:
    block = rows_of(40, 4)
    examples = [
        ({int(i): float(v) for i, v in zip(row.indices, row.data, strict=True)}, int(y) % classes, 1.0)
        for row, y in zip(block.matrix, block.labels, strict=True)
    ]
    examples = [(x, i % classes, h) for i, (x, _, h) in enumerate(examples)]
    oracle = reference.SVM(classes, C=0.3, loss=loss)
    oracle.learn_in_parts(examples, parts, 1500)
    least = float(oracle.primal(examples))
    assert least - float(oracle.dual(examples)) <= 1e-6 * least
    settings = Settings(rule="svm", C=0.3, loss=loss, tol=5e-7, partitions=parts)
    learner: Any = learner_for(settings, features=50, classes=classes)
    history = teach(learner, Block.of(block.matrix.astype(np.float64), np.arange(40) % classes))
    assert history[-1].objective == pytest.approx(least, rel=2e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_dual_never_falls_whatever_the_spread(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    block = Block.of(rows_of(90, 3).matrix.astype(np.float64), np.arange(90) % classes)
    passes = {}
    for room in (0.0, 100.0):  # a spread of 1, and of as many partitions as there are
        monkeypatch.setattr("markone.learning.partitions.dual.ROOM", room)
        learner: Any = learner_for(Settings(rule="svm", partitions=5, tol=1e-5), features=50, classes=classes)
        bounds: list[float] = []

        def note(_: Any, learner: Any = learner, bounds: list[float] = bounds) -> None:
            bounds.append(learner.solvers[0].core.bound)

        passes[room] = len(teach(learner, block, callback=note))
        assert len(bounds) > 5
        assert min(np.diff(bounds)) >= -1e-9
    assert passes[0.0] != passes[100.0]


@pytest.mark.parametrize("order", ["given", "once", "each"])
def test_the_svm_in_partitions_has_orders(order: Any) -> None:
    block = rows_of(90, 3)
    states = []
    for seed in (1, 2):
        learner: Any = learner_for(
            Settings(rule="svm", partitions=3, order=order, seed=seed, epochs=3), features=50, classes=3
        )
        teach(learner, block)
        states.append(learner.get_state()["w"].tobytes())
    assert (states[0] == states[1]) == (order == "given")


def test_a_damaged_state_of_the_svm_in_partitions_is_refused() -> None:
    block = rows_of(90, 3)
    learner: Any = learner_for(Settings(rule="svm", partitions=3, epochs=3), features=50, classes=3)
    examples = BlockExamples(block, learner.settings)
    learner.begin(examples)
    for _ in learner.learn_pass(examples, 1, 0):
        pass
    state = learner.get_state()
    learner.check_state(state)
    for name, place, value, problem in (
        ("alpha", (0, 0), 9.0, "beyond its bound"),
        ("naps", (0, 0), 99, "impossible time"),
        ("rivals", (5, 0), 8, "a class that does not exist"),
        ("sights", (1, 0), -1.0, "slopes of the state"),
        ("numbers", (5, 0), 4.0, "move the weights too far"),
        ("numbers", (0, 0), -1.0, "an impossible number"),
        ("numbers", (1, 0), -1.0, "an impossible objective"),
    ):
        damaged = {key: array.copy() for key, array in state.items()}
        damaged[name][place] = value
        with pytest.raises(markone.MarkoneError, match=problem):
            learner.check_state(damaged)


def test_the_core_of_a_part_says_when_it_has_no_weights() -> None:
    block = rows_of(90, 3)
    learner: Any = learner_for(Settings(rule="svm"), features=50, classes=3, dtype=np.float32)
    learner.begin(BlockExamples(block, learner.settings))
    core = learner.solvers[0].core
    weights = np.zeros((51, 3))
    with pytest.raises(ValueError, match="spread is not greater than 0"):
        core.learn_part(weights, spread=0.0, seed=None)
    with pytest.raises(ValueError, match="fewer than two points"):
        core.measure_part(weights, weights, 1)
    tally, moves = core.learn_part(weights, spread=2.0, seed=None)
    assert tally.visits == 90
    assert moves.shape == (51, 3)
    costs = core.measure_part(weights, moves, 3)
    assert costs[0] == 90  # every row lacks 1 without weights
    for refused in (core.measure, lambda: core.learn(1)):
        with pytest.raises(RuntimeError, match="only a part of the examples"):
            refused()


def test_naive_bayes_counts_the_same_in_any_number_of_partitions() -> None:
    block = rows_of(211, 6)
    whole, parts = (
        Settings(rule="naive-bayes", partitions=count).family.learner(
            Settings(rule="naive-bayes", partitions=count), features=50, classes=3, dtype=np.float32
        )
        for count in (1, 9)
    )
    for one in (whole, parts):
        teach(one, block)
    assert all(array.tobytes() == parts.get_state()[name].tobytes() for name, array in whole.get_state().items())


# ---- runs


@pytest.mark.parametrize("rule", ["perceptron", "mira", "naive-bayes", "svm"])
def test_a_resumed_training_is_the_same(rule: Any, tmp_path: Any) -> None:
    path = tmp_path / "kept"
    how: dict[str, Any] = {"target": LABELS, "rule": rule, "partitions": 3, "holdout": 0.2}
    if rule != "naive-bayes":
        how["epochs"] = 6
    whole = markone.train(TEXTS, **how)
    markone.train(TEXTS, **how, checkpoint=path, callback=lambda result: result.epoch == 1)
    resumed = markone.train(TEXTS, **how, checkpoint=path, resume=True)
    if rule != "naive-bayes":
        assert len(resumed.history) == len(whole.history)
    assert resumed.digest == whole.digest


def test_an_interrupted_pass_is_made_again(tmp_path: Any) -> None:
    path = tmp_path / "kept"
    block = rows_of(400, 7)
    settings = Settings(rule="perceptron", partitions=4, epochs=4)
    linear, other = (Linear(settings, features=50, classes=3, dtype=np.float32) for _ in range(2))
    teach(linear, block)
    examples = BlockExamples(block, settings)
    other.begin(examples)
    for epoch in (1, 2, 3, 4):
        before = other.get_state()
        with Threads(1) as engine:
            pass_of = mixing.mixed_pass(mixing.Weights(other), examples.parts(4), engine, epoch)
            next(pass_of)
            pass_of.close()
        other.set_state(before)
        for _ in other.learn_pass(examples, epoch, 0):
            pass
    assert all(array.tobytes() == other.get_state()[name].tobytes() for name, array in linear.get_state().items())
    assert not path.exists()


class Hesitant(Threads):
    """Says at every second look that tasks have not finished."""

    looks = 0

    def wait(self, handles: Any, seconds: float) -> bool:
        self.looks += 1
        return self.looks % 2 == 0 and super().wait(handles, 60)


@pytest.mark.parametrize("multiclass", ["crammer-singer", "one-versus-rest"])
def test_an_interrupted_pass_of_the_svm_goes_on(multiclass: Any) -> None:
    settings = Settings(rule="svm", partitions=4, epochs=4, tol=1e-9, multiclass=multiclass)
    learners: list[Any] = [learner_for(settings, features=50, classes=3, dtype=np.float32) for _ in range(2)]
    examples = BlockExamples(rows_of(400, 7), settings)
    breaks = itertools.cycle([0, 1, 2])
    with Hesitant(2) as engine:
        for learner in learners:
            learner.engine = engine
            learner.begin(examples)
        for epoch in (1, 2, 3, 4):
            for _ in learners[0].learn_pass(examples, epoch, 0):
                pass
            visited = 0
            while visited == 0:
                before = learners[1].get_state()
                learners[1].set_state(before)
                pieces = [*itertools.islice(learners[1].learn_pass(examples, epoch, 0), 1 + next(breaks))]
                visited = sum(visits for _, visits in pieces)
    a, b = (learner.get_state() for learner in learners)
    assert all(array.tobytes() == b[name].tobytes() for name, array in a.items())


def test_a_training_starts_from_given_weights() -> None:
    block = rows_of(60, 8)
    settings = Settings(rule="perceptron", partitions=3, order="given", start="random", seed=4, eta=1e-9)
    linear = Linear(settings, features=50, classes=3)
    before = linear.weights(False).matrix()
    teach(linear, Block.of(block.matrix.astype(np.float64), block.labels))
    np.testing.assert_allclose(linear.weights(False).matrix(), before, atol=1e-6)
    assert (before != 0).any()


def test_the_settings_are_in_the_file(tmp_path: Any) -> None:
    model = markone.train(TEXTS, target=LABELS, partitions=2, mixing="mistakes")
    model.save(tmp_path / "model")
    kept = markone.load(tmp_path / "model").settings
    assert (kept.partitions, kept.mixing) == (2, "mistakes")
    more = markone.train(TEXTS, target=LABELS, from_model=tmp_path / "model")
    assert more.settings.partitions == 2


def test_rows_in_a_file_are_learned_like_rows_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    import markone.data.store as store
    from markone.learning.examples import StoredExamples

    monkeypatch.setattr(store, "PIECE_VALUES", 64)
    chance = np.random.default_rng(1)
    X = scipy.sparse.random_array((500, 40), density=0.3, rng=chance, format="csr", dtype=np.float32)
    labels = chance.integers(0, 2, 500).astype(np.int32)
    states = []
    for memory, batch in ((2**30, 100), (2**30, 17), (1, 100), (1, 17)):
        settings = Settings(rule="perceptron", partitions=3, epochs=2)
        with store.RowStore(memory) as rows:
            for start in range(0, 500, batch):
                some = X[start : start + batch]
                matrix = store.Sparse(
                    some.indptr.astype(np.int64), some.indices.astype(np.uint32), some.data, some.shape[1]
                )
                rows.add(matrix, labels[start : start + batch], None)
            rows.finish(np.arange(2, dtype=np.int32))
            assert rows.on_disk == (memory == 1)
            linear = Linear(settings, features=40, classes=2, dtype=np.float32)
            examples = StoredExamples(rows, settings)
            linear.begin(examples)
            for epoch in (1, 2):
                for _ in linear.learn_pass(examples, epoch, 0):
                    pass
        states.append({name: array.tobytes() for name, array in linear.get_state().items()})
    assert all(state == states[0] for state in states[1:])


# ---- real data


DATA = Path(__file__).parents[1] / os.environ.get("MARKONE_DATA", "../shared/data")
TWO_TENTHS_OF_A_POINT = 0.002


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["perceptron", "mira"])
@pytest.mark.parametrize(
    ("train", "test", "how"),
    [
        ("a9a/a9a.gz", "a9a/a9a.t.gz", {"format": "libsvm"}),
        ("imdb/train.tsv.gz", "imdb/test.tsv.gz", {"format": "tab"}),
        ("newsgroups/train.jsonl.gz", "newsgroups/test.jsonl.gz", {"target": "label"}),
    ],
)
def test_two_partitions_are_as_accurate_as_one(train: str, test: str, how: dict[str, Any], rule: Any) -> None:
    if not (DATA / train).exists():
        pytest.skip(f"there is no {DATA / train}")
    source, rows = markone.read(DATA / train, **how), markone.read(DATA / test, **how)
    one, two = (
        markone.train(source, rule=rule, partitions=count, epochs=10).evaluate(rows).accuracy for count in (1, 2)
    )
    assert two >= one - TWO_TENTHS_OF_A_POINT


# ---- what is refused


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ({"partitions": 41}, "partitions is 41, but there are only 40 rows"),
        ({"partitions": 0}, "partitions must be a whole number from 1 to 65536, not 0"),
        ({"partitions": "2"}, "partitions must be a whole number"),
        ({"rule": "mlp", "partitions": 2}, "partitions belongs to the rules .* not to 'mlp'"),
        ({"rule": "naive-bayes", "partitions": 2, "mixing": "uniform"}, "mixing belongs to the rules"),
        ({"partitions": 2, "mixing": "mean"}, "mixing must be one of None, 'uniform', 'mistakes'"),
        ({"mixing": "uniform"}, "mixing needs at least two partitions"),
        (
            {"rule": "logistic", "solver": "newton", "penalty": "l1", "partitions": 2},
            "partitions work with the penalty 'l1' only by the solvers",
        ),
        ({"rule": "logistic", "partitions": 2, "cluster": "tcp://127.0.0.1:9"}, "cluster needs rules whose partitions"),
        ({"rule": "svm", "partitions": 41}, "partitions is 41, but there are only 40 rows"),
        ({"rule": "svm", "partitions": 2, "C": float("inf")}, "partitions must be 1 for a hard margin"),
        ({"rule": "regression", "partitions": 2}, "partitions belongs to the rules .* not to 'regression'"),
        (
            {"rule": "perceptron", "partitions": 2, "bounds": True},
            "bounds needs a perceptron .* but there are 2 partitions",
        ),
    ],
)
def test_bad_settings_get_a_sentence(how: dict[str, Any], problem: str) -> None:
    with pytest.raises(markone.MarkoneError, match=problem):
        markone.train(TEXTS, target=LABELS, **how)


def test_a_trace_has_no_partitions() -> None:
    with pytest.raises(markone.MarkoneError, match="partitions is not possible in a trace"):
        markone.trace([[0, 1], [1, 0], [1, 1]], [0, 1, 1], partitions=2)


def test_leaving_one_out_with_partitions_trains_again_without_each_row() -> None:
    rows = np.eye(12) + np.arange(12) % 3
    found = markone.validate(rows, target=LABELS[:12], method="loo", rule="perceptron", partitions=2, epochs=2)
    assert any("partitions must be 1" in remark for remark in found.remarks)


def test_rows_with_several_labels_have_no_partitions() -> None:
    with pytest.raises(markone.MarkoneError, match="partitions is for rows with one label each"):
        markone.train(["a b", "b c", "c a"], target=[["x"], ["x", "y"], ["y"]], partitions=2)
