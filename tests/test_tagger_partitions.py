"""Partitions of a tagger's training: the tagger depends on their number, but not on the threads."""

from __future__ import annotations

import os
import random
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from markone import _core
from markone.learning.examples import shares
from markone.reference import mixed_pass_of_tagger
from markone.structured.tagger import Tagger
from test_tagger_core import Pair, corpora, draw_templates, expected

CHANCE = random.Random(5)
WORDS = {"D": ["the", "a", "every"], "N": ["dog", "run", "moon", "walk"], "V": ["run", "walk", "barks"]}
SENTENCES = [
    [(CHANCE.choice(WORDS[tag]), tag) for tag in CHANCE.choice(["DNV", "NV", "DNVDN", "VN"])] for _ in range(61)
]


def trained(**how: Any) -> Tagger:
    return Tagger.train(SENTENCES, **{"epochs": 3, "progress": False, **how})


@pytest.mark.parametrize("rule", ["perceptron", "mira"])
@pytest.mark.parametrize("decode", ["viterbi", "greedy"])
@given(data=st.data())
def test_mixing_is_that_of_the_reference(decode: str, rule: str, data: st.DataObject) -> None:
    tags, corpus = data.draw(corpora())
    count = data.draw(st.sampled_from([count for count in (1, 2, 4) if count <= len(corpus)]))
    # A short C makes all steps alike, and two or four partitions have means without rounding errors.
    pair = Pair(tags, corpus, draw_templates(data, decode), rule=rule, decode=decode, C=Fraction(1, 1024))
    ranges = shares(len(corpus), count)
    parts = [pair.learner.part() for _ in ranges]
    for _ in range(3):
        for part, (start, end) in zip(parts, ranges, strict=True):
            part.learn(np.arange(start, end))
        changes = reduce(_core.merge_tag_changes, [part.take_changes(pair.learner, 1 / count) for part in parts])
        pair.learner.mix(changes)
        for part in parts:
            part.follow(changes)
        mixed_pass_of_tagger(pair.twin, [pair.seen[start:end] for start, end in ranges])
    assert pair.weights(False) == expected(pair.twin.w)
    assert pair.weights(True) == pytest.approx(expected(pair.twin.average()), abs=1e-6)


@pytest.mark.parametrize("decode", ["viterbi", "beam"])
@pytest.mark.parametrize("partitions", [2, 7, 61])
def test_threads_change_nothing(partitions: int, decode: Any) -> None:
    taggers = [trained(partitions=partitions, decode=decode, threads=threads, holdout=0.0) for threads in (1, 2, 3)]
    assert len({tagger.digest for tagger in taggers}) == 1


def test_partitions_give_another_tagger_that_learns_as_well() -> None:
    one, two = trained(epochs=8), trained(epochs=8, partitions=2)
    assert one.digest != two.digest
    assert two.evaluate(SENTENCES).accuracy >= one.evaluate(SENTENCES).accuracy - 0.02
    assert two.settings.partitions == 2


def test_one_partition_is_the_training_without_partitions(tmp_path: Path) -> None:
    assert trained(partitions=1).digest == trained().digest
    trained(partitions=3).save(tmp_path / "three")
    assert Tagger.load(tmp_path / "three").settings.partitions == 3


def test_a_resumed_training_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    whole = trained(epochs=5, partitions=3, holdout=0.2, threads=1)
    trained(epochs=5, partitions=3, holdout=0.2, checkpoint=path, callback=lambda result: result.epoch == 2)
    resumed = trained(epochs=5, partitions=3, holdout=0.2, checkpoint=path, resume=True)
    assert len(resumed.history) == 5
    assert resumed.digest == whole.digest


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(markone.SettingsError, match="partitions is 62, but there are only 61 sentences"):
        trained(partitions=62)
    with pytest.raises(markone.SettingsError, match="partitions must be a whole number"):
        trained(partitions=0)


DATA = Path(__file__).parents[1] / os.environ.get("MARKONE_DATA", "../shared/data")
TWO_TENTHS_OF_A_POINT = 0.002


@pytest.mark.slow
def test_two_partitions_are_as_accurate_as_one() -> None:
    train, test = (DATA / f"ewt/en_ewt-ud-{part}.conllu.gz" for part in ("train", "test"))
    if not train.exists():
        pytest.skip(f"there is no {train}")
    one, two = (Tagger.train(train, partitions=count, progress=False).evaluate(test).accuracy for count in (1, 2))
    assert two >= one - TWO_TENTHS_OF_A_POINT
