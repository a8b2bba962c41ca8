"""Sentences that need not fit into memory: the same are learned from, wherever they are."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markone import DataError, Parser, SettingsError, Tagger
from markone.data import spill as spill_module
from markone.data import strings as strings_module
from markone.data.budget import LEAST
from markone.data.spill import GrowingArray, Spill
from markone.data.strings import Strings
from markone.demo.stories import write_stories
from markone.structured import sentence_training
from markone.structured.corpora import open_corpus, read_sentences
from markone.structured.corpus_store import held_sentences, hold
from markone.structured.sentence_training import visiting_order

LARGE = 10**9


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("treebank") / "made.conllu"
    write_stories(path, 1500, seed=4)
    return str(path)


# ---- spilling to disk


@pytest.mark.parametrize("memory", [0, 50, 10_000])
@given(parts=st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5), max_size=8))
def test_arrays_grow_in_memory_and_in_files(parts: list[list[int]], memory: int) -> None:
    spill = Spill(memory)
    growing = GrowingArray(spill, np.int32)
    for part in parts:
        growing.append(np.array(part, np.int64))
    found = growing.finish()
    wanted = [number for part in parts for number in part]
    assert found.dtype == np.int32 and found.tolist() == wanted
    assert spill.on_disk == (4 * len(wanted) > memory) and found.flags.writeable
    assert spill.used == (0 if spill.on_disk else 4 * len(wanted))
    del found
    assert spill.used == 0


def test_room_is_given_back_when_nobody_needs_an_array() -> None:
    spill = Spill(1000)
    array = spill.empty((10, 5), np.float64)
    some = array[3:4]
    assert (spill.used, spill.on_disk, spill.left) == (400, False, LEAST)
    other = spill.empty(601, np.uint8)
    assert spill.on_disk and spill.used == 400 and other.nbytes == 601
    other[:] = 7
    assert other.sum() == 7 * 601
    del array
    assert spill.used == 400
    del some
    assert spill.used == 0
    assert spill.empty(0, np.int32).shape == (0,)


def test_files_have_no_names_and_are_where_they_should_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(os.listdir("/proc/self/fd"))
    array = Spill(0, str(tmp_path)).empty(5000, np.uint8)
    assert os.listdir(tmp_path) == [] and str(tmp_path) in Path("/proc/self/maps").read_text()
    del array
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()
    assert set(os.listdir("/proc/self/fd")) == before

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spill_module.os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space"):
        Spill(0).empty(5000, np.uint8)


# ---- sentences


def test_held_sentences_are_those_of_the_files(tmp_path: Path, treebank: str) -> None:
    second = tmp_path / "second.conllu"
    write_stories(second, 3, seed=9)
    with second.open("a") as file:
        file.write("# the end")
    source = [Path(treebank), second]
    whole = read_sentences(source)
    for memory in (LARGE, LEAST, 0):
        held = hold(open_corpus(source).batches(), Spill(memory))
        assert held.starts.tolist() == whole.starts.tolist() and held.head_lists() == whole.head_lists()
        assert list(held.columns) == list(whole.columns)
        assert all(held.lists(name) == whole.lists(name) for name in whole.columns)
        places = [0, 8, whole.words // 2, whole.words - 1]
        assert [held.place_of(word) for word in places] == [whole.place_of(word) for word in places]
        some = held.some(1498, 1502)
        assert some.lists() == whole.lists()[1498:1502]
        assert [some.place_of(word) for word in range(some.words)] == [
            whole.place_of(int(whole.starts[1498]) + word) for word in range(some.words)
        ]


def test_what_is_not_in_files_is_taken_as_it_is(tmp_path: Path) -> None:
    batch = read_sentences([["a", "dog"]])
    assert held_sentences(batch, None)[0] is batch
    assert held_sentences([["a", "dog"]], "2 MB")[0].lists() == [["a", "dog"]]
    empty = tmp_path / "empty.conllu"
    empty.write_text("# nothing\n")
    with pytest.raises(DataError, match="has no sentences"):
        held_sentences(str(empty), None)
    with pytest.raises(SettingsError, match="memory"):
        held_sentences(batch, "little")


@pytest.mark.parametrize("at_a_time", [1, 3, 100])
@given(strings=st.lists(st.text(max_size=4), min_size=1, max_size=9), data=st.data())
def test_strings_are_chosen_some_at_a_time(at_a_time: int, strings: list[str], data: st.DataObject) -> None:
    which = np.array(data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=12)), np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings_module, "AT_A_TIME", at_a_time)
        for spill in (None, Spill(0)):
            chosen = Strings.of(strings).take(which, spill)
            assert chosen.tolist() == [strings[i] for i in which.tolist()]


# ---- order


def test_few_sentences_come_in_any_order_and_many_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_training, "PIECE", 4)
    monkeypatch.setattr(sentence_training, "WINDOW", 12)
    orders = [visiting_order(size, seed, epoch) for size in (5, 12, 13, 50) for seed in (0, 1) for epoch in (1, 2)]
    for order in orders:
        assert sorted(order.tolist()) == list(range(len(order)))
    assert len({tuple(order.tolist()) for order in orders}) == len(orders)
    many = visiting_order(50, 0, 1)
    for begin in range(0, 48, 12):
        window = many[begin : begin + 12]
        assert len(set((window // 4).tolist())) in (3, 4) and (np.diff(window) != 1).any()
    assert many.tolist() == visiting_order(50, 0, 1).tolist()


# ---- learning


def content(model: Tagger | Parser, folder: Path) -> bytes:
    model.save(folder / "model")
    return (folder / "model").read_bytes()


TRAININGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "tagger": (Tagger, {"epochs": 1}),
    "tagger with a beam and some held out": (Tagger, {"decode": "beam", "epochs": 1, "holdout": 0.1}),
    "parser": (Parser, {"mode": "fast", "epochs": 2, "holdout": 0.1}),
    "parser with a tagger": (Parser, {"mode": "fast", "epochs": 1, "tag": True}),
}


@pytest.mark.parametrize("name", TRAININGS)
def test_how_much_memory_there_is_changes_nothing(
    name: str, treebank: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentence_training, "PIECE", 64)
    monkeypatch.setattr(sentence_training, "WINDOW", 512)
    spills: list[Spill] = []

    class Seen(Spill):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            spills.append(self)

    monkeypatch.setattr("markone.structured.corpus_store.Spill", Seen)
    model, settings = TRAININGS[name]
    wanted = content(model.train(treebank, **settings, memory="1 GB"), tmp_path)
    assert not any(spill.on_disk for spill in spills)
    found = content(model.train(treebank, **settings, memory="1 MiB"), tmp_path)
    assert any(spill.on_disk for spill in spills) and all(spill.used <= spill.memory for spill in spills)
    assert found == wanted
    assert content(model.train(read_sentences(treebank), **settings), tmp_path) == wanted


def test_errors_say_where_they_are_though_files_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "bad.conllu"
    write_stories(path, 2, seed=1)
    with path.open("a") as file:
        file.write("1\ta\t_\tX\t_\t_\t1\tdep\t_\t_\n\n")
    line = len(path.read_text().splitlines()) - 1
    with pytest.raises(DataError, match=rf"bad\.conllu, line {line}: "):
        Parser.train(path)
    spans = tmp_path / "bad.iob"
    spans.write_text("a B-NP\nb O\n\nc O\nd I-NP\n")
    with pytest.raises(DataError, match=r"bad\.iob, line 5: 'I-NP' is not allowed after 'O'"):
        Tagger.train(spans, scheme="IOB2", strict=True)


def test_resumes_from_a_file_to_what_memory_would_give(
    treebank: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = content(Tagger.train(treebank, epochs=3), tmp_path)
    kept = tmp_path / "kept"
    Tagger.train(treebank, epochs=2, memory="1 MiB", checkpoint=kept)
    assert content(Tagger.train(treebank, epochs=3, memory="1 MiB", resume=kept), tmp_path) == whole
