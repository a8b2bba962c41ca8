"""The core of parsers: transitions, their oracle, searches and learning, against brute force and the reference."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from markone import _core
from markone.data.strings import Strings
from markone.reference import parsing
from markone.reference.parsing import LEFT, MOVES, RIGHT, SHIFT, BeamParser, GreedyParser, Parse, ParseView, Sentence

WORDS = ["the", "dog", "Dogs", "bark", "a1", "I", "of", "U.S.", "running", "2006"]
TAGS = ["DET", "NOUN", "VERB", "ADP"]
ALL_LABELS = [0, 1, 2]
USES = np.array([1, 2, 2], np.uint8)
"""The first label is that of the root's child."""
ONE_KEY = np.array([2**40], np.uint64)


def ints(numbers: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array(numbers, np.int32)


def written(heads: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int32]]:
    """As CoNLL-U counts them."""
    return ints([0 if head == len(heads) else head + 1 for head in heads])


@cache
def reachable(size: int, moves: tuple[int, ...] = ()) -> frozenset[tuple[int, ...]]:
    """All trees that one can come to."""
    parse = Parse.after(size, moves)
    if parse.done():
        return frozenset([tuple(parse.heads[word] for word in range(size))])
    return frozenset().union(*(reachable(size, (*moves, move)) for move in parse.allowed()))


def every_state(size: int, moves: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    parse = Parse.after(size, moves)
    return [moves, *(state for move in parse.allowed() for state in every_state(size, (*moves, move)))]


def fewest(size: int, moves: tuple[int, ...], heads: tuple[int, ...]) -> int:
    return min(sum(a != b for a, b in zip(tree, heads, strict=True)) for tree in reachable(size, moves))


def projective_trees(size: int) -> list[tuple[int, ...]]:
    return [heads for heads in parsing.trees(size) if not parsing.crossing(heads)]


# ---- transitions and the oracle


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_moves_make_every_projective_tree_with_one_root_and_no_other(size: int) -> None:
    assert reachable(size) == frozenset(projective_trees(size))
    assert all(len(moves) == 2 * size for moves in every_state(size) if Parse.after(size, moves).done())


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_cost_of_a_move_is_what_it_loses(size: int) -> None:
    for heads in projective_trees(size):
        for moves in every_state(size):
            costs = _core.move_costs(written(heads), ints(moves))
            allowed = Parse.after(size, moves).allowed()
            assert [move for move in MOVES if costs[move] >= 0] == allowed
            now = fewest(size, moves, heads)
            for move in allowed:
                assert costs[move] == fewest(size, (*moves, move), heads) - now
            # Cost zero: the gold tree is still reachable if it was; and some move always costs nothing.
            if heads in reachable(size, moves):
                for move in allowed:
                    assert (costs[move] == 0) == (heads in reachable(size, (*moves, move)))
            assert not allowed or min(costs[move] for move in allowed) == 0


def test_costs_are_asked_of_trees_and_moves_only() -> None:
    for heads, moves in (([2, 1], []), ([0, 0], []), ([3, 0], []), ([0], [LEFT]), ([0], [SHIFT, RIGHT]), ([0], [7])):
        with pytest.raises(ValueError):
            _core.move_costs(ints(heads), ints(moves))


@given(st.integers(1, 6), st.randoms(use_true_random=False))
def test_lifting_makes_trees_projective_as_the_reference_does(size: int, chance: random.Random) -> None:
    heads = chance.choice(list(parsing.trees(min(size, 5))))
    found, lifted = _core.projective(np.array([0, len(heads)]), written(heads))
    expected = parsing.lifted(heads)
    assert found.tolist() == written(expected).tolist()
    assert (lifted[0] == 0) == (not parsing.crossing(heads))
    assert not parsing.crossing(expected) and expected.count(len(heads)) == 1


# ---- banks


def room_for(words: int) -> NDArray[np.uint64]:
    return np.empty((words, _core.TreeBank.atoms_of_word), np.uint64)


def bank_of(sentences: Sequence[Sentence], trees: bool = True) -> _core.TreeBank:
    starts = np.array([0, *accumulate(len(one.words) for one in sentences)], np.int64)
    forms = Strings.of([word for one in sentences for word in one.words])
    tags = Strings.of([tag for one in sentences for tag in one.tags])
    bank = _core.TreeBank(starts, forms.data, forms.offsets, tags.data, tags.offsets, room_for(len(forms)))
    if trees:
        heads = np.concatenate([written(one.heads) for one in sentences])
        bank.set_trees(heads, ints([label for one in sentences for label in one.labels]))
    return bank


def some_sentences(seed: int, count: int, longest: int = 5) -> list[Sentence]:
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        heads = chance.choice(projective_trees(chance.randint(1, longest)))
        labels = [0 if head == len(heads) else chance.choice([1, 2]) for head in heads]
        words = [chance.choice(WORDS) for _ in heads]
        made.append(Sentence(words, [chance.choice(TAGS) for _ in heads], heads, labels))
    return made


def test_a_bank_checks_what_it_is_given() -> None:
    one = Sentence(["a", "b", "c"], ["X", "X", "X"], [1, 3, 1], [1, 0, 1])
    bank = bank_of([one])
    assert len(bank) == 1
    labels = ints([1, 0, 1])
    for heads in ([2, 0], [2, 3, 1], [0, 0, 1], [4, 0, 1], [-1, 0, 1]):
        with pytest.raises(ValueError, match=r"tree|head"):
            bank.set_trees(ints(heads), labels)
    with pytest.raises(ValueError, match="label"):
        bank.set_trees(ints([2, 0, 2]), ints([1, 0, -1]))
    four = bank_of([Sentence(["a"] * 4, ["X"] * 4, [2, 4, 1, 1], [1] * 4)], trees=False)
    with pytest.raises(ValueError, match="projective"):
        four.set_trees(ints([3, 4, 0, 3]), ints([1, 1, 0, 1]))
    starts, none = np.array([0, 2], np.int64), np.zeros(0, np.uint8)
    with pytest.raises(ValueError, match="positions"):
        _core.TreeBank(starts, none, np.array([0, 0], np.int64), none, np.array([0, 0], np.int64), room_for(1))
    nothing = np.zeros(1, np.int64)
    for room in (room_for(1), np.empty((0, _core.TreeBank.atoms_of_word - 1), np.uint64)):
        with pytest.raises(ValueError, match="wrong size"):
            _core.TreeBank(nothing, none, nothing, none, nothing, room)
    with pytest.raises(ValueError, match="trees"):
        _core.TreeLearner(USES, 1).learn(bank_of([one], trees=False), np.array([0]), False, 0)
    with pytest.raises(ValueError, match="sentence"):
        _core.TreeLearner(USES, 1).learn(bank, np.array([1]), False, 0)


# ---- learning


class Draws:
    """The random numbers of the core (SplitMix64)."""

    def __init__(self, seed: int) -> None:
        self.counter = seed

    def below(self, bound: int) -> int:
        self.counter = (self.counter + 0x9E3779B97F4A7C15) % 2**64
        z = self.counter
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return ((z ^ z >> 31) >> 32) * bound >> 32


def twin() -> GreedyParser:
    return GreedyParser(_core.move_templates(), _core.label_templates(), [[0], [1, 2]])


@pytest.mark.parametrize("seed", [0, 1])
def test_learning_greedily_is_that_of_the_reference(seed: int) -> None:
    sentences = some_sentences(seed, 6, longest=4)
    bank, learner, reference = bank_of(sentences), _core.TreeLearner(USES, 1), twin()
    order = np.arange(len(sentences))
    for epoch in range(3):
        moves, mistakes, updates = learner.learn(bank, order, epoch > 0, epoch)
        draws = Draws(epoch)
        explores = (lambda draws=draws: draws.below(10) != 0) if epoch > 0 else (lambda: False)
        before = reference.updates
        assert mistakes == sum(reference.learn(one, explores) for one in sentences)
        assert updates == reference.updates - before
        assert moves == sum(2 * len(one.words) for one in sentences)
    assert reference.moves.w and reference.label_weights.w
    check_weights(learner, reference, bank, sentences)


@pytest.mark.parametrize("width", [2, 3])
def test_learning_with_a_beam_is_that_of_the_reference(width: int) -> None:
    sentences = some_sentences(width, 6, longest=4)
    bank, learner = bank_of(sentences), _core.TreeLearner(USES, width)
    reference = BeamParser(_core.move_templates(), _core.label_templates(), [[0], [1, 2]])
    for epoch in range(3):
        before = reference.updates
        trees, mistakes, updates = learner.learn(bank, np.arange(len(sentences)), epoch > 0, epoch)
        assert trees == len(sentences)
        assert mistakes == sum(reference.learn_with(one, width) for one in sentences)
        assert updates == reference.updates - before
    check_weights(learner, reference, bank, sentences)


def check_weights(
    learner: _core.TreeLearner, reference: GreedyParser, bank: _core.TreeBank, sentences: Sequence[Sentence]
) -> None:
    """That all averaged weights which any state of these sentences asks for are those of the reference."""
    parser, units = frozen(learner, 1)
    seen = 0
    for number, one in enumerate(sentences):
        moves, labels = parser.path(bank, number)
        parse = Parse(len(one.words))
        view = ParseView(parse, one.words, one.tags)
        for step, (move, label) in enumerate(zip(moves.tolist(), labels.tolist(), strict=True)):
            before = moves[:step].copy(), labels[:step].copy()
            weights, _ = parser.look_at_moves(bank, number, *before)
            features = view.of_moves(reference.move_templates)
            expected = averages(reference, reference.moves, features, MOVES)
            assert np.abs(weights.reshape(-1, 3) * units["move_unit"] - expected).max() <= 1.01 * units["move_unit"]
            seen += np.count_nonzero(expected)
            if move != SHIFT:
                weights, _ = parser.look_at_labels(bank, number, *before, move)
                features = view.of_labels(reference.label_templates, move)
                expected = averages(reference, reference.label_weights, features, ALL_LABELS)
                found = weights.reshape(-1, 3) * units["label_unit"]
                assert np.abs(found - expected).max() <= 0.51 * units["label_unit"]
                seen += np.count_nonzero(expected)
            parse.make(move, label)
    assert seen > 100


def averages(
    reference: GreedyParser, weights: parsing.SummedWeights, features: Sequence[parsing.Feature], answers: Sequence[int]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    rows = [[weights.total.get((feature, one), 0) for one in answers] for feature in features]
    return np.array(rows) / reference.steps


def frozen(learner: _core.TreeLearner, width: int) -> tuple[_core.TreeParser, dict[str, float]]:
    found = learner.average(10**9, 0.0)
    units = {name: found.pop(name) for name in ("move_unit", "label_unit")}
    return _core.TreeParser(label_uses=USES, width=width, **found), units


def taught(sentences: Sequence[Sentence], width: int, epochs: int = 3) -> _core.TreeLearner:
    learner = _core.TreeLearner(USES, width)
    bank = bank_of(sentences)
    for epoch in range(epochs):
        learner.learn(bank, np.arange(len(sentences)), epoch > 0, epoch)
    return learner


# ---- searches


def score(parser: _core.TreeParser, bank: _core.TreeBank, moves: Sequence[int], labels: Sequence[int]) -> int:
    total = 0
    for step, move in enumerate(moves):
        weights, _ = parser.look_at_moves(bank, 0, ints(moves[:step]), ints(labels[:step]))
        total += int(weights.reshape(-1, 3)[:, move].sum())
    return total


def best_label_of(
    parser: _core.TreeParser,
    bank: _core.TreeBank,
    parse: Parse,
    path: list[tuple[int, int]],
    move: int,
    number: int = 0,
) -> int:
    """The label that an arc gets; -1 for a shift."""
    if move == SHIFT:
        return -1
    before = ints([one for one, _ in path]), ints([one for _, one in path])
    weights, _ = parser.look_at_labels(bank, number, *before, move)
    sums = weights.reshape(-1, 3).sum(axis=0).tolist()
    possible = [0] if parse.head_by(move) == parse.size else [1, 2]
    return max(possible, key=lambda one: (sums[one], -one))


def parse_of(size: int, path: list[tuple[int, int]]) -> Parse:
    parse = Parse(size)
    for step in path:
        parse.make(*step)
    return parse


def all_paths(
    parser: _core.TreeParser, bank: _core.TreeBank, parse: Parse, path: list[tuple[int, int]]
) -> list[list[tuple[int, int]]]:
    """All ways to parse the sentence, with the label that each arc gets."""
    if parse.done():
        return [path]
    found = []
    for move in parse.allowed():
        longer = [*path, (move, best_label_of(parser, bank, parse, path, move))]
        found += all_paths(parser, bank, parse_of(parse.size, longer), longer)
    return found


def path_with_beam(
    parser: _core.TreeParser, bank: _core.TreeBank, number: int, size: int, width: int
) -> list[tuple[int, int]]:
    """The moves and labels that a beam finds if the features of each state are added up one by one."""
    items: list[tuple[int, list[tuple[int, int]]]] = [(0, [])]
    for _ in range(2 * size):
        candidates = []
        for place, (total, path) in enumerate(items):
            weights, _ = parser.look_at_moves(
                bank, number, ints([move for move, _ in path]), ints([label for _, label in path])
            )
            sums = weights.reshape(-1, 3).sum(axis=0).tolist()
            candidates += [(-total - sums[move], place, move) for move in parse_of(size, path).allowed()]
        kept = []
        for negative, place, move in sorted(candidates)[:width]:
            path = items[place][1]
            label = best_label_of(parser, bank, parse_of(size, path), path, move, number)
            kept.append((-negative, [*path, (move, label)]))
        items = kept
    return items[0][1]


@pytest.mark.parametrize("width", [2, 3, 8, 30])
def test_states_of_a_beam_share_scores_and_get_their_own(width: int) -> None:
    """In sentences of the same length and of others, in one run, whose words repeat themselves."""
    parser = frozen(taught(some_sentences(7, 30), 4), width)[0]
    chance = random.Random(width)
    sentences = []
    for size in (3, 3, 7, 2, 7, 9, 1, 9, 3):
        words = [chance.choice(WORDS[:3]) for _ in range(size)]
        sentences.append(Sentence(words, [chance.choice(TAGS[:2]) for _ in words], [], []))
    bank = bank_of(sentences, trees=False)
    expected: list[tuple[int, int]] = []
    for number, one in enumerate(sentences):
        path = path_with_beam(parser, bank, number, len(one.words), width)
        moves, labels = parser.path(bank, number)
        assert list(zip(moves.tolist(), labels.tolist(), strict=True)) == path
        parse = parse_of(len(one.words), path)
        heads = written([parse.heads[word] for word in range(len(one.words))]).tolist()
        expected += zip(heads, [parse.labels[word] for word in range(len(one.words))], strict=True)
    heads, labels = parser.parse(bank)
    assert list(zip(heads.tolist(), labels.tolist(), strict=True)) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_wide_beam_finds_the_best_of_all_ways(size: int) -> None:
    learner = taught(some_sentences(3, 20), 4)
    wide, narrow = frozen(learner, 4096)[0], frozen(learner, 1)[0]
    chance = random.Random(size)
    for _ in range(3):
        words = [chance.choice(WORDS) for _ in range(size)]
        bank = bank_of([Sentence(words, [chance.choice(TAGS) for _ in words], [], [])], trees=False)
        paths = all_paths(wide, bank, Parse(size), [])
        scores = [score(wide, bank, [move for move, _ in path], [label for _, label in path]) for path in paths]
        moves, labels = wide.path(bank, 0)
        assert score(wide, bank, moves.tolist(), labels.tolist()) == max(scores)
        assert list(zip(moves.tolist(), labels.tolist(), strict=True)) in paths
        heads, found = wide.parse(bank)
        parse = Parse(size)
        for move, label in zip(moves.tolist(), labels.tolist(), strict=True):
            parse.make(move, label)
        assert heads.tolist() == written([parse.heads[word] for word in range(size)]).tolist()
        assert found.tolist() == [parse.labels[word] for word in range(size)]
        assert [list(array) for array in narrow.parse(bank)] == [list(array) for array in by_path(narrow, bank, size)]


def by_path(parser: _core.TreeParser, bank: _core.TreeBank, size: int) -> tuple[list[int], list[int]]:
    """A beam of one is greedy."""
    parse = Parse(size)
    for move, label in zip(*(array.tolist() for array in parser.path(bank, 0)), strict=True):
        parse.make(move, label)
    heads = written([parse.heads[word] for word in range(size)]).tolist()
    return heads, [parse.labels[word] for word in range(size)]


@pytest.mark.parametrize("width", [1, 2, 8])
def test_it_learns_what_can_be_learned(width: int) -> None:
    sentences = some_sentences(5, 25)
    for number, one in enumerate(sentences):  # so that no two are alike
        one.words = [f"{word}{number}x{place}" for place, word in enumerate(one.words)]
    bank, learner = bank_of(sentences), _core.TreeLearner(USES, width)
    tallies = [learner.learn(bank, np.arange(25), epoch > 0, epoch) for epoch in range(30)]
    assert tallies[0][1] > 10 and tallies[-1][1:] == (0, 0)
    heads, labels = frozen(learner, width)[0].parse(bank_of(sentences, trees=False))
    # The last weights make no mistake; their average may where they are only just right.
    right = heads == np.concatenate([written(one.heads) for one in sentences])
    assert right.mean() > 0.95
    assert (labels == [label for one in sentences for label in one.labels])[right].mean() > 0.95


# ---- what is kept


@pytest.mark.parametrize("width", [1, 4])
def test_a_state_is_all_that_learning_needs(width: int) -> None:
    sentences = some_sentences(7, 12)
    bank, order = bank_of(sentences), np.arange(12)
    whole, first, second = (_core.TreeLearner(USES, width) for _ in range(3))
    for learner in (whole, first):
        learner.learn(bank, order, False, 1)
    state = first.get_state()
    second.set_state(**state)
    assert all(np.array_equal(value, second.get_state()[name]) for name, value in state.items())
    assert whole.learn(bank, order, True, 2) == second.learn(bank, order, True, 2)
    for name, value in whole.get_state().items():
        assert np.array_equal(value, second.get_state()[name])


@pytest.mark.parametrize("width", [1, 4])
def test_kept_statistics_are_what_they_say(width: int) -> None:
    learner = taught(some_sentences(8, 12), width)
    state = learner.get_state()
    halves = state["move_weights"].view(np.int16).reshape(-1, 2).astype(np.int64)
    all_three = np.concatenate([halves, -halves.sum(axis=1, keepdims=True)], axis=1)
    assert learner.norm2() == (all_three**2).sum() + (state["label_weights"].astype(np.int64) ** 2).sum()
    found = learner.average(10**9, 0.0)
    averages = halves - state["move_sums"].reshape(-1, 2) / state["steps"]
    keys = state["move_keys"] & ~np.uint64(0xFF)  # the last byte is of no account
    kept = np.isin(keys, found["move_keys"])
    assert (averages[~kept] == 0).all()
    whole = found["move_weights"].view(np.int16).reshape(-1, 2)
    assert np.abs(whole * found["move_unit"] - averages[kept]).max() <= 0.5001 * found["move_unit"]
    assert np.abs(whole).max() == 32767
    fewer = learner.average(500, 0.5)
    size = np.abs(np.concatenate([averages, averages.sum(axis=1, keepdims=True)], axis=1)).max(axis=1)
    assert fewer["move_keys"].tolist() == keys[size > np.sort(size)[-501]].tolist()
    assert 0 < len(fewer["move_keys"]) <= 500
    assert 0 < len(fewer["label_keys"]) < len(found["label_keys"])


def test_states_that_are_none_are_refused() -> None:
    state = taught(some_sentences(9, 5), 1).get_state()
    wrong: list[dict[str, Any]] = [
        {"steps": -1},
        {"steps": 0},
        {"steps": 2**62},
        {"move_weights": state["move_weights"] | np.uint32(0x8000)},
        {"move_sums": state["move_sums"] + 2**40},
        {"label_sums": state["label_sums"] - 2**60},
        {"label_weights": state["label_weights"] + 32767},
        {"label_ids": np.zeros_like(state["label_ids"])},
        {"move_keys": state["move_keys"][0] + np.arange(len(state["move_keys"]), dtype=np.uint64)},
        {"arc_keys": ONE_KEY, "arc_weights": np.zeros(1, np.float32), "arc_sums": np.zeros(1)},
        {"move_keys": state["move_keys"][::-1].copy()},
        {"move_keys": state["move_keys"][1:].copy()},
        {"move_sums": state["move_sums"][2:].copy()},
        {"label_starts": state["label_starts"][1:].copy()},
        {"label_starts": state["label_starts"] + 1},
        {"label_ids": state["label_ids"] + 3},
        {"label_weights": state["label_weights"][1:].copy()},
    ]
    learner = _core.TreeLearner(USES, 1)
    for change in wrong:
        with pytest.raises(ValueError):
            learner.set_state(**{**state, **change})
        assert all(np.size(value) <= 1 for value in learner.get_state().values())  # nothing of it was taken over
    learner.set_state(**state)
    with pytest.raises(ValueError, match="not new"):
        learner.set_state(**state)


def test_states_of_arcs_that_are_none_are_refused() -> None:
    empty = _core.TreeLearner(USES, 1, 0.1).get_state()
    arcs = {"arc_keys": ONE_KEY, "arc_weights": np.ones(1, np.float32), "arc_sums": np.ones(1)}
    _core.TreeLearner(USES, 1, 0.1).set_state(**{**empty, **arcs, "steps": 1})
    for change in (
        {"arc_weights": np.array([np.nan], np.float32)},
        {"arc_weights": np.array([1e38], np.float32)},
        {"arc_sums": np.array([np.inf])},
        {"arc_sums": np.array([1e300])},
        {"move_keys": ONE_KEY, "move_weights": np.zeros(1, np.uint32), "move_sums": np.zeros(2, np.int64)},
    ):
        with pytest.raises(ValueError):
            _core.TreeLearner(USES, 1, 0.1).set_state(**{**empty, **arcs, "steps": 1, **change})


def hostile(count: int) -> list[NDArray[np.uint64]]:
    """Keys that meet in one place of a table, by their first bits, by their last ones, or in many crowds."""
    numbers = np.arange(5, 5 + count, dtype=np.uint64)
    first = np.uint64(2**63) + (numbers << np.uint64(8))
    last = (numbers + np.uint64(1)) << np.uint64(40) | np.uint64(0x12345600)
    crowds = np.sort((numbers % np.uint64(64) + np.uint64(1)) << np.uint64(57) | numbers << np.uint64(8))
    return [first, last, crowds]


@pytest.mark.parametrize("number", range(3), ids=["first bits", "last bits", "crowds"])
def test_keys_that_somebody_wrote_do_not_take_long(number: int) -> None:
    """Each takes about as long as another: with a place for all of them this would take hours."""
    size = 300_000
    keys = hostile(size)[number]
    weights = {
        "move_weights": np.ones(size, np.uint32),
        "label_starts": np.arange(size + 1, dtype=np.uint32),
        "label_weights": np.ones(size, np.uint32),
    }
    begin = time.perf_counter()
    arcs = {"arc_keys": keys, "arc_weights": np.ones(size, np.float32)}
    parser = _core.TreeParser(label_uses=USES, width=1, move_keys=keys, label_keys=keys, **weights, **arcs)
    bank = bank_of(some_sentences(3, 50))
    heads, _ = parser.parse(bank)
    assert len(heads) > 0
    learner = _core.TreeLearner(USES, 1)
    state = {
        **learner.get_state(),
        "steps": 1,
        "move_keys": keys,
        "move_weights": np.ones(size, np.uint32),
        "move_sums": np.zeros(2 * size, np.int64),
        "label_keys": keys,
        "label_starts": np.arange(size + 1, dtype=np.int64),
        "label_ids": np.ones(size, np.uint32),
        "label_weights": np.ones(size, np.int32),
        "label_sums": np.zeros(size, np.int64),
    }
    learner.set_state(**state)
    learner.learn(bank, np.arange(50), False, 1)
    kept = learner.get_state()
    assert np.isin(keys, kept["label_keys"]).all()
    if number != 1:  # where the bits differ by which moves' keys are told apart
        assert np.isin(keys, kept["move_keys"]).all()
    assert time.perf_counter() - begin < 20


def test_weights_that_are_none_are_refused() -> None:
    found = taught(some_sentences(9, 5), 1).average(10**9, 0.0)
    del found["move_unit"], found["label_unit"]
    wrong: list[dict[str, Any]] = [
        {"move_weights": found["move_weights"][1:].copy()},
        {"label_starts": found["label_starts"][1:].copy()},
        {"label_starts": found["label_starts"][::-1].copy()},
        {"label_weights": found["label_weights"] | np.uint32(7 << 16)},
        {"width": 0},
        {"label_uses": np.zeros(0, np.uint8)},
        {"move_keys": found["move_keys"][::-1].copy()},
        {"label_keys": found["label_keys"][::-1].copy()},
    ]
    for change in wrong:
        with pytest.raises(ValueError):
            _core.TreeParser(**{"label_uses": USES, "width": 1, **found, **change})


# ---- the best tree of all


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_eisner_finds_the_best_of_all_projective_trees(size: int) -> None:
    chance = np.random.default_rng(size)
    everything = np.array(projective_trees(size))
    for _ in range(10):
        scores = chance.normal(size=(size + 1, size))
        totals = scores[everything, np.arange(size)].sum(axis=1)
        assert _core.best_tree(scores).tolist() == written(everything[np.argmax(totals)].tolist()).tolist()
        # With whole numbers there are ties, and any of the best will do.
        scores = chance.integers(-2, 3, size=(size + 1, size)).astype(np.float64)
        found = _core.best_tree(scores)
        own = [size if head == 0 else head - 1 for head in found.tolist()]
        assert tuple(own) in set(map(tuple, everything.tolist()))
        assert scores[own, np.arange(size)].sum() == scores[everything, np.arange(size)].sum(axis=1).max()
    assert _core.best_tree(np.zeros((1, 0))).tolist() == []
    with pytest.raises(ValueError):
        _core.best_tree(np.zeros((size, size)))


def features_of_arc(one: Sentence, head: int, child: int) -> list[parsing.Feature]:
    """As the core has them: each template with the side, and with the side and the length; and the tags between."""
    size = len(one.words)
    view = ParseView(Parse(size), one.words, one.tags)
    nodes = {"h": head, "c": child, "h-1": head - 1, "h+1": head + 1 if head < size else -1}
    nodes |= {"c-1": child - 1, "c+1": child + 1}
    templates = _core.arc_templates()
    alone = view.features(templates, nodes)
    far = view.features([[*template, "c side", "c distance"] for template in templates], nodes)
    both = [feature for pair in zip(alone, far, strict=True) for feature in pair]
    inside = [] if head == size else one.tags[min(head, child) + 1 : max(head, child)]
    return both + [(*alone[0], "between", tag) for tag in dict.fromkeys(inside)]


def test_mira_takes_the_shortest_step_by_which_the_right_tree_wins() -> None:
    C = 0.05
    sentences = some_sentences(11, 8, longest=4)
    bank, learner = bank_of(sentences), _core.TreeLearner(USES, 1, C)
    w: dict[parsing.Feature, np.float32] = {}
    total: dict[parsing.Feature, float] = {}
    steps = updates = 0
    for _ in range(3):
        learner.learn(bank, np.arange(len(sentences)), False, 0)
        for one in sentences:
            steps += 1
            size = len(one.words)
            scores = np.zeros((size + 1, size))
            for head, child in np.ndindex(scores.shape):
                if head != child:
                    scores[head, child] = sum(float(w.get(name, 0)) for name in features_of_arc(one, head, child))
            raised = scores + (np.arange(size + 1)[:, None] != np.array(one.heads))
            # The search is tested above; of equals it is to take the same.
            wrong = [size if head == 0 else head - 1 for head in _core.best_tree(raised).tolist()]
            loss = sum(raised[wrong, np.arange(size)].tolist()) - sum(scores[one.heads, np.arange(size)].tolist())
            if wrong != list(one.heads) and loss > 0:
                updates += 1
                change: dict[parsing.Feature, int] = {}
                for sign, heads in ((1, one.heads), (-1, wrong)):
                    for child, head in enumerate(heads):
                        for feature in features_of_arc(one, head, child):
                            change[feature] = change.get(feature, 0) + sign
                tau = min(C, loss / sum(number**2 for number in change.values()))
                for feature, number in change.items():
                    w[feature] = w.get(feature, np.float32(0)) + np.float32(tau * number)
            for feature, weight in w.items():
                total[feature] = total.get(feature, 0.0) + float(weight)
    assert updates > 5
    found = learner.average(10**9, 0.0)
    del found["move_unit"], found["label_unit"]
    parser = _core.TreeParser(label_uses=USES, width=1, exact=True, **found)
    for number, one in enumerate(sentences):
        scores = parser.arc_scores(bank, number)
        for child in range(len(one.words)):
            for head in range(len(one.words) + 1):
                if head != child:
                    weights = [total.get(feature, 0.0) / steps for feature in features_of_arc(one, head, child)]
                    assert parser.look_at_arc(bank, number, head, child) == pytest.approx(weights, abs=1e-5)
                    assert scores[head, child] == pytest.approx(sum(weights), abs=1e-4)
        heads = _core.best_tree(scores)
        only = bank_of([one], trees=False)
        assert parser.parse(only)[0].tolist() == heads.tolist()


def test_a_sentence_can_be_too_long_for_the_exact_search() -> None:
    found = taught(some_sentences(9, 5), 1).average(10**9, 0.0)
    del found["move_unit"], found["label_unit"]
    parser = _core.TreeParser(label_uses=USES, width=1, exact=True, **found)
    long = Sentence(["a"] * 1001, ["X"] * 1001, [], [])
    with pytest.raises(ValueError, match="too long"):
        parser.parse(bank_of([long], trees=False))


@pytest.mark.parametrize("C", [None, 0.05])
def test_starting_anew_keeps_the_average_of_all_rounds(C: float | None) -> None:
    """The average over two rounds, of which the second starts from 0, is the mean of what each alone would have."""
    sentences = some_sentences(12, 10)
    bank, order = bank_of(sentences), np.arange(10)
    both, alone = _core.TreeLearner(USES, 1, C), [_core.TreeLearner(USES, 1, C) for _ in range(2)]
    for seed, learner in enumerate(alone):
        for epoch in range(2):
            assert both.learn(bank, order, epoch > 0, seed) == learner.learn(bank, order, epoch > 0, seed)
        if seed == 0:
            both.start_anew()
            assert both.norm2() == 0
    kind, weights = (
        ("move", lambda state: halves_of(state)) if C is None else ("arc", lambda state: state["arc_weights"])
    )
    sums = [averages_of(learner.get_state(), kind, weights) for learner in (both, *alone)]
    for key, average in sums[0].items():
        one, other = (found.get(key, np.zeros(2)) for found in sums[1:])
        assert average == pytest.approx((one + other) / 2, abs=1e-6)


def halves_of(state: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return state["move_weights"].view(np.int16).reshape(-1, 2).astype(np.float64)


def averages_of(state: dict[str, Any], kind: str, weights: Any) -> dict[int, Any]:
    values = weights(state)
    rows = values.reshape(len(values), -1) - state[f"{kind}_sums"].reshape(len(values), -1) / state["steps"]
    return dict(zip(state[f"{kind}_keys"].tolist(), rows, strict=True))
