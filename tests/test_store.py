"""The store of rows: what went in comes out, in memory and from a file, in the same order."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from markone import Settings
from markone.data import store as store_module
from markone.data.blocks import Block, Sparse, of_each
from markone.data.budget import machine_memory, memory_budget
from markone.data.store import FEW_PIECES, RowStore
from markone.errors import SettingsError
from markone.features.map import thin
from markone.learning import examples
from markone.learning.examples import BlockExamples, StoredExamples
from markone.learning.holdout import HoldoutChoice
from markone.learning.online import Linear
from markone.learning.passes import LearnerTraining, teach
from markone.learning.run import Run

LARGE, SMALL = 10**9, 2**20


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "PIECE_VALUES", 60)
    monkeypatch.setattr(store_module, "WINDOW_PIECES", 3)


def filled(
    rows: int,
    memory: int,
    *,
    dense: bool = False,
    seed: int = 0,
    folder: str | None = None,
    batch: int = 7,
    holdout: float = 0.0,
    counted: int = 0,
) -> tuple[RowStore, NDArray[np.float32], NDArray[np.int32]]:
    """A store, and its rows and labels before they went in, those without a label left out. The first `counted` rows
    are counts up to 255, which need less room in a file."""
    random = np.random.default_rng(seed)
    values = (random.normal(size=(rows, 5)) * (random.random((rows, 5)) < 0.6)).astype(np.float32)
    values[:counted] = random.choice([0, 1, 2, 255], (rows, 5))[:counted]
    labels = random.integers(-1, 3, rows).astype(np.int32)
    importance = random.random(rows)
    store = RowStore(memory, folder)
    choose = HoldoutChoice(holdout, seed)
    for start in range(0, rows, batch):
        part = values[start : start + batch]
        weights = importance[start : start + batch] if start >= batch else None
        some = labels[start : start + batch]
        store.add(part if dense else thin(part), some, weights, choose(some))
    store.finish(np.array([2, 0, 1], np.int32))
    return store, values[labels >= 0], np.array([2, 0, 1])[labels[labels >= 0]]


def as_dense(matrix: Any) -> NDArray[np.float32]:
    if not isinstance(matrix, Sparse):
        return np.asarray(matrix)
    found = np.zeros(matrix.shape, np.float32)
    rows = np.repeat(np.arange(len(matrix)), np.diff(matrix.indptr))
    found[rows, matrix.indices] = matrix.data
    return found


def visited(store: RowStore, settings: Settings, epoch: int = 1) -> Iterator[tuple[tuple[float, ...], int, float]]:
    for block, order in StoredExamples(store, settings).visits(settings, epoch):
        values = as_dense(block.matrix)
        weights = np.ones(len(block)) if block.importance is None else block.importance
        for row in np.arange(len(block)) if order is None else order:
            yield tuple(values[row].tolist()), int(block.labels[row]), float(weights[row])


@given(
    st.integers(1, 150),
    st.booleans(),
    st.sampled_from(["given", "once", "each"]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([0, 70, 150]),
)
def test_a_file_gives_the_rows_of_memory_in_the_same_order(
    rows: int, dense: bool, order: Any, holdout: float, counted: int
) -> None:
    memory, values, labels = filled(rows, LARGE, dense=dense, holdout=holdout, counted=counted)
    disk, _, _ = filled(rows, 0, dense=dense, holdout=holdout, counted=counted)
    with disk:
        compare(memory, disk, rows, values, labels, Settings(order=order, holdout=holdout, seed=5))


def compare(memory: RowStore, disk: RowStore, rows: int, values: Any, labels: Any, settings: Settings) -> None:
    if len(labels) < 20:
        return
    assert disk.on_disk and not memory.on_disk and memory.pieces == disk.pieces
    assert memory.unlabelled == disk.unlabelled == rows - len(labels)
    for epoch in (1, 2):
        seen = list(visited(memory, settings, epoch))
        assert seen == list(visited(disk, settings, epoch))
        everything = sorted(zip(map(tuple, values.tolist()), labels.tolist(), strict=True))
        if settings.holdout == 0:
            assert sorted((row, label) for row, label, _ in seen) == everything
        else:
            apart = [
                (tuple(row.tolist()), int(label))
                for block in StoredExamples(disk, settings).held_out()
                for row, label in zip(as_dense(block.matrix), block.labels, strict=True)
            ]
            assert 0 < len(apart) < len(labels)
            assert sorted([(row, label) for row, label, _ in seen] + apart) == everything
    if settings.order == "given" and settings.holdout == 0:
        assert [row for row, _, _ in seen] == list(map(tuple, values.tolist()))


def test_counts_need_a_byte_each_in_a_file() -> None:
    sizes = []
    for counted in (0, 400):
        store, _, _ = filled(400, 0, counted=counted)
        with store:
            assert store._file is not None
            sizes.append((store._file.write(), store.values, len(store)))
    (measured, values, rows), (counts, few, same_rows) = sizes
    assert measured == 8 * values + 8 * rows
    assert counts == 5 * few + 8 * same_rows


def test_rows_of_far_away_pieces_meet_in_a_window() -> None:
    store, values, _ = filled(2000, 0, dense=True)
    place = {tuple(row): i for i, row in enumerate(values.tolist())}
    with store:
        order = [place[row] for row, _, _ in visited(store, Settings(order="each"))]
    assert store.pieces > 100
    first, second = order[:36], order[36:72]  # three pieces of some twelve rows
    assert max(first) - min(first) > 200 and sorted(first) != first
    assert np.argsort(first).tolist() != np.argsort(second).tolist()  # each window is mixed in its own way


def test_each_pass_puts_other_pieces_together() -> None:
    store, values, _ = filled(2000, 0, dense=True)
    place = {tuple(row): i for i, row in enumerate(values.tolist())}
    settings = Settings(order="each")
    with store:
        firsts = [{place[row] // 12 for row, _, _ in list(visited(store, settings, epoch))[:36]} for epoch in (1, 2)]
    assert len(firsts[0] & firsts[1]) <= 2


def test_a_single_window_starts_in_the_order_of_the_rows() -> None:
    store, values, labels = filled(30, 0, dense=True)
    assert 1 < store.pieces <= 3
    block = Block.of(values, labels)
    settings = Settings(order="each")
    with store:
        seen = [row for row, _, _ in visited(store, settings)]
    [(_, order)] = BlockExamples(block, settings).visits(settings, 1)
    assert seen == [tuple(row) for row in values[order].tolist()]  # as if it were one block


def test_each_pass_has_its_own_order_unless_it_is_shuffled_once() -> None:
    store, _, _ = filled(300, 0)
    each, once = Settings(order="each"), Settings(order="once")
    with store:
        assert list(visited(store, each, 1)) != list(visited(store, each, 2))
        assert list(visited(store, once, 1)) == list(visited(store, once, 2)) == list(visited(store, each, 1))


@pytest.mark.parametrize("holdout", [0.0, 0.25])
@pytest.mark.parametrize("dense", [False, True])
def test_learning_from_a_file_ends_with_the_bytes_of_learning_from_memory(
    dense: bool, holdout: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "VALUES_BETWEEN_LOOKS", 300)
    settings = Settings(rule="mira", epochs=3, holdout=holdout)
    found = []
    for memory in (LARGE, 0):
        store, _, _ = filled(400, memory, dense=dense, holdout=holdout)
        linear = Linear(settings, features=5, classes=3, dtype=np.float32)
        with store:
            history = Run(LearnerTraining(linear, StoredExamples(store, settings))).make_passes()
        found.append((linear.weights().matrix().tobytes(), [(one.holdout, one.loss) for one in history]))
    assert found[0] == found[1]


def test_few_rows_are_learned_as_one_block_is() -> None:
    settings = Settings(rule="perceptron", epochs=3)
    store, values, labels = filled(30, LARGE, dense=True, batch=30)
    assert store.pieces == 1 and store.importance is None
    linear, by_block = (Linear(settings, features=5, classes=3, dtype=np.float32) for _ in range(2))
    Run(LearnerTraining(linear, StoredExamples(store, settings))).make_passes()
    block = Block.of(values, labels)
    teach(by_block, block)
    assert BlockExamples(block, settings).rows == len(store)
    assert linear.weights().matrix().tobytes() == by_block.weights().matrix().tobytes()


def test_one_window_of_a_file_is_in_memory_at_a_time() -> None:
    store, _, _ = filled(400, 0, holdout=0.25)
    with store:
        rows = StoredExamples(store, Settings(holdout=0.25))
        assert store.pieces > 2 * FEW_PIECES
        for blocks in (rows.learned(), rows.held_out()):
            before: list[weakref.ref[Any]] = []

            def noted(block: Block, before: list[weakref.ref[Any]] = before) -> int:
                assert all(one() is None for one in before)
                before.append(weakref.ref(block.matrix.data))
                return len(block)

            assert sum(of_each(blocks, noted)) in (len(store), store.held_out.sum())
            assert len(before) > 2


def test_rows_are_counted_and_held_out_as_they_are_in_memory() -> None:
    found = []
    for memory in (LARGE, 0):
        store, _, _ = filled(400, memory, holdout=0.25)
        with store:
            rows = StoredExamples(store, Settings(holdout=0.25))
            learned, apart = list(rows.learned()), list(rows.held_out())
            found.append(
                [
                    np.concatenate([as_dense(block.matrix) for block in learned]).tobytes(),
                    np.concatenate([block.labels for block in learned]).tobytes(),
                    np.concatenate([as_dense(block.matrix) for block in apart]).tobytes(),
                ]
            )
    assert found[0] == found[1]


def test_labels_are_met_once_each() -> None:
    store = RowStore(LARGE)
    for labels in ([3, 3, -1], [0, 3], [-1]):
        store.add(np.ones((len(labels), 1), np.float32), np.array(labels, np.int32), None)
    assert RowStore(LARGE).labels_met().tolist() == []
    assert store.labels_met().tolist() == [0, 3] and store.labels_met().dtype == np.int32


def test_the_file_has_no_name_and_is_closed(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    store, _, _ = filled(300, 0, folder=str(tmp_path))
    assert store.on_disk and list(tmp_path.iterdir()) == []
    store.close()
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


def test_the_store_keeps_to_its_budget() -> None:
    inside, _, _ = filled(300, SMALL)
    assert not inside.on_disk
    size = sum(array.nbytes for array in (inside.whole.matrix.indptr, inside.whole.matrix.indices)) * 3 // 2  # type: ignore[union-attr]
    with filled(300, size)[0] as outside:
        assert outside.on_disk


def test_memory_can_be_said_in_words() -> None:
    assert memory_budget("500 MB") == memory_budget("0.5GB") == memory_budget(500_000_000) == 500_000_000
    assert memory_budget("2 GiB") == 2**31
    assert memory_budget(None) == machine_memory() // 2 > 0
    for bad in ("much", "-1 GB", 0, 10, True, 1.5, "5 parsecs"):
        with pytest.raises(SettingsError, match="memory must be"):
            memory_budget(bad)  # type: ignore[arg-type]


@given(
    st.lists(st.integers(-1, 2), max_size=300),
    st.lists(st.integers(0, 300), max_size=5),
    st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 0.9]),
    st.integers(0, 3),
)
@example([0] * 17, [], 0.3, 0)
def test_held_out_rows_are_a_share_of_every_class_however_batches_are_cut(
    labels: list[int], cuts: list[int], share: float, seed: int
) -> None:
    rows = np.array(labels, np.int32)
    whole, cut = HoldoutChoice(share, seed), HoldoutChoice(share, seed)
    apart = whole(rows)
    places = [0, *sorted(min(place, len(rows)) for place in cuts), len(rows)]
    assert np.concatenate([cut(rows[a:b]) for a, b in pairwise(places)]).tolist() == apart.tolist()
    for label in range(3):
        assert abs(apart[rows == label].sum() - share * (rows == label).sum()) <= 1
    assert not apart[rows == -1].any()


def test_held_out_rows_are_chosen_at_random() -> None:
    labels = np.zeros(1000, np.int32)
    one, other = (np.flatnonzero(HoldoutChoice(0.1, seed)(labels)) for seed in (0, 1))
    assert len(one) == len(other) == 100 and len({*np.diff(one).tolist()}) > 5
    assert len({*one.tolist()} & {*other.tolist()}) < 30
    both = np.repeat(np.array([0, 1], np.int32), 1000)
    apart = HoldoutChoice(0.1, 0)(both)
    assert apart[:1000].tolist() != apart[1000:].tolist()  # each class has its own
