"""Partitions of a parser's training: the parser depends on their number, but not on the threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markone
from markone import Parser, _core
from markone.learning.examples import shares
from markone.reference import mixed_pass_of_parser
from markone.reference.parsing import BeamParser, GreedyParser
from markone.structured.parser_training import UNIT_OF_PARTITIONS
from test_parser_core import USES, Draws, Sentence, bank_of, check_weights, some_sentences, twin

MODES = ["fast", "accurate", "exact"]
OWN_LABELS = ["root", "nsubj", "obj"]


def columns_of(one: Sentence) -> dict[str, list[Any]]:
    heads = [0 if head == len(one.heads) else head + 1 for head in one.heads]
    labels = [OWN_LABELS[label] for label in one.labels]
    return {"form": list(one.words), "upos": list(one.tags), "head": heads, "deprel": labels}


SENTENCES = [columns_of(one) for one in some_sentences(3, 41, longest=5)]


def trained(**how: Any) -> Parser:
    return Parser.train(SENTENCES, **{"mode": "fast", "epochs": 3, "progress": False, **how})


class Parts:
    """The partitions of a learner of the core."""

    def __init__(self, learner: _core.TreeLearner, bank: _core.TreeBank, ranges: list[tuple[int, int]]) -> None:
        self.learner = learner
        self.bank = bank
        self.ranges = ranges
        self.parts = [learner.part() for _ in ranges]

    def make_pass(self, explore: bool, seed: int) -> int:
        """Make a pass, and return the number of mistakes."""
        made, changes = 0, []
        for part, (start, end) in zip(self.parts, self.ranges, strict=True):
            part.start_at(self.learner)
            made += part.learn(self.bank, np.arange(start, end), explore, seed)[1]
            changes.append(part.take_changes(self.learner))
        self.learner.mix(changes)
        return made


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("count", [2, 3])
def test_mixing_is_that_of_the_reference(count: int, width: int) -> None:
    sentences = some_sentences(count, 7, longest=4)
    bank = bank_of(sentences)
    ranges = shares(len(sentences), count)
    learner = _core.TreeLearner(USES, width, unit=UNIT_OF_PARTITIONS)
    core = Parts(learner, bank, ranges)
    reference = twin() if width == 1 else BeamParser(_core.move_templates(), _core.label_templates(), [[0], [1, 2]])
    for epoch in range(3):
        explore = epoch > 0

        def learn(one: GreedyParser, part: list[Sentence], explore: bool = explore, epoch: int = epoch) -> int:
            if isinstance(one, BeamParser):
                return sum(one.learn_with(sentence, width) for sentence in part)
            draws = Draws(epoch)
            explores = (lambda: draws.below(10) != 0) if explore else (lambda: False)
            return sum(one.learn(sentence, explores) for sentence in part)

        parts = [sentences[start:end] for start, end in ranges]
        mistakes = mixed_pass_of_parser(reference, parts, learn, UNIT_OF_PARTITIONS)
        assert core.make_pass(explore, epoch) == mistakes
    check_weights(learner, reference, bank, sentences)
    weights = (reference.moves, reference.label_weights)
    assert learner.norm2() == pytest.approx(float(sum(w**2 for one in weights for w in one.w.values())))


def test_arcs_are_mixed_to_the_mean_of_the_partitions() -> None:
    sentences = some_sentences(5, 8, longest=5)
    learner = _core.TreeLearner(USES, 1, 0.05, UNIT_OF_PARTITIONS)
    core = Parts(learner, bank_of(sentences), shares(len(sentences), 2))
    total: dict[int, float] = {}
    for epoch in range(3):
        alone = []
        for start, end in core.ranges:
            one = _core.TreeLearner(USES, 1, 0.05, UNIT_OF_PARTITIONS)
            if epoch > 0:
                one.set_state(**learner.get_state())
            before = arcs_in(one)
            one.learn(core.bank, np.arange(start, end), epoch > 0, epoch)
            alone.append((before, arcs_in(one)))
        core.make_pass(epoch > 0, epoch)
        mixed = arcs_in(learner)
        for key, (weight, _) in mixed.items():
            assert weight == pytest.approx(np.mean([now.get(key, (0, 0))[0] for _, now in alone]), abs=1e-6)
            more = (now.get(key, (0, 0))[1] - was.get(key, (0, 0))[1] for was, now in alone)
            total[key] = total.get(key, 0) + sum(more)
        assert {key: met for key, (_, met) in mixed.items()} == pytest.approx(total, abs=1e-4)
    assert len(total) > 100


def arcs_in(learner: _core.TreeLearner) -> dict[int, tuple[float, float]]:
    """The weights of arcs, and the sums of all weights that were met."""
    state = learner.get_state()
    met = state["arc_weights"].astype(float) * state["steps"] - state["arc_sums"]
    pairs = zip(state["arc_weights"].tolist(), met.tolist(), strict=True)
    return dict(zip(state["arc_keys"].tolist(), pairs, strict=True))


def test_changes_of_other_weights_are_refused() -> None:
    sentences = some_sentences(5, 8)
    bank = bank_of(sentences)
    learner, empty = (_core.TreeLearner(USES, 1, 0.05) for _ in range(2))
    learner.learn(bank, np.arange(8), False, 0)
    part = learner.part()
    part.start_at(learner)
    part.learn(bank, np.arange(8), True, 1)
    with pytest.raises(ValueError, match="changes of other weights"):
        empty.mix([part.take_changes(learner)])
    with pytest.raises(ValueError, match="no partitions"):
        empty.mix([])
    with pytest.raises(ValueError, match="of another learner"):
        part.start_at(_core.TreeLearner(USES, 1))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("partitions", [2, 7, 41])
def test_threads_change_nothing(partitions: int, mode: str) -> None:
    parsers = [trained(partitions=partitions, mode=mode, threads=threads) for threads in (1, 2, 3)]
    assert len({parser.digest for parser in parsers}) == 1


@pytest.mark.parametrize("mode", MODES)
def test_partitions_give_another_parser_that_learns_as_well(mode: str) -> None:
    one, two = (trained(epochs=12, mode=mode, partitions=count) for count in (1, 2))
    assert one.digest != two.digest
    assert two.evaluate(SENTENCES).las >= one.evaluate(SENTENCES).las - 0.05
    assert two.settings.partitions == 2


def test_one_partition_is_the_training_without_partitions(tmp_path: Path) -> None:
    assert trained(partitions=1).digest == trained().digest
    three = trained(partitions=3)
    three.save(tmp_path / "three")
    again = Parser.load(tmp_path / "three")
    assert again.settings.partitions == 3 and again.digest == three.digest
    assert again.parse(SENTENCES) == three.parse(SENTENCES)


@pytest.mark.parametrize("mode", MODES)
def test_a_resumed_training_is_the_same(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    how = {"mode": mode, "epochs": 5, "partitions": 3, "holdout": 0.2, "round": 2 if mode == "accurate" else None}
    whole = trained(**how, threads=1)
    trained(**how, checkpoint=path, callback=lambda result: result.epoch == 2)
    resumed = trained(**how, checkpoint=path, resume=True)
    assert len(resumed.history) == 5
    assert resumed.digest == whole.digest
    with pytest.raises(markone.SettingsError, match="partitions"):
        trained(**{**how, "partitions": 2}, resume=path)


def test_rounds_begin_at_zero_for_all_partitions() -> None:
    rounds, alone = (trained(mode="accurate", partitions=2, epochs=4, round=each) for each in (2, 4))
    assert rounds.digest != alone.digest
    assert rounds.history[2].mistakes >= rounds.history[1].mistakes


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(markone.SettingsError, match="partitions is 42, but there are only 41 sentences"):
        trained(partitions=42)
    with pytest.raises(markone.SettingsError, match="partitions must be a whole number"):
        trained(partitions=0)
