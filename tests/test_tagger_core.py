"""The core's tag sequences against plain Python, which looks at all of them."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from levels import check_levels
from markone import _core
from markone.data.strings import Strings
from markone.reference import TagLearner, known_of_others, known_tags
from markone.reference.sequences import END, NOTHING, START, Sentence, Tags
from markone.structured.templates import Templates

WORDS = ["a", "A", "the", "Dogs", "run-2", "EU", "dogs", "xyzzy", "X1", "42"]
LOCAL = [
    "form[0]",
    "lower[0]",
    "shape[1]",
    "signs[-1]",
    "prefix2[0]",
    "suffix3[-2]",
    "pos[0]",
    "lower[-1] lower[0]",
    "pos[-1] shape[0] pos[1]",
    "known[0]",
    "known[1] known[-1]",
]
HISTORIES = ["tag[-2] tag[-1]", "tag[-1] lower[0]", "tag[-2]"]
FOLDS = 3
Corpus = list[tuple[Sentence, Tags]]


@st.composite
def corpora(draw: st.DrawFn, longest: int = 4) -> tuple[list[str], Corpus]:
    """Tags, and sentences that have them."""
    tags = ["A", "B", "C"][: draw(st.integers(1, 3))]
    sentences: Corpus = []
    for size in draw(st.lists(st.integers(0, longest), min_size=1, max_size=4)):
        form = draw(st.lists(st.sampled_from(WORDS), min_size=size, max_size=size))
        pos = draw(st.lists(st.sampled_from(["N", "V"]), min_size=size, max_size=size))
        right = draw(st.lists(st.sampled_from(tags), min_size=size, max_size=size))
        sentences.append(({"form": form, "pos": pos}, tuple(right)))
    return tags, sentences


def texts(sentences: Sequence[Sentence], columns: Sequence[str]) -> tuple[NDArray[np.int64], list[Any]]:
    starts = np.cumsum([0, *(len(one["form"]) for one in sentences)], dtype=np.int64)
    found = [Strings.of([word for one in sentences for word in one[name]]) for name in columns]
    return starts, [(one.data, one.offsets) for one in found]


class Pair:
    """The core and its twin, given the same."""

    def __init__(
        self,
        tags: list[str],
        corpus: Corpus,
        templates: Sequence[str],
        *,
        rule: str = "perceptron",
        C: Fraction = Fraction(1, 4),
        decode: str = "viterbi",
        beam: int = 2,
        forbidden: frozenset[tuple[str, str]] = frozenset(),
    ) -> None:
        self.tags = tags
        self.templates = Templates.of(templates, ["pos"], looks_back=True)
        allowed = np.ones((len(tags) + 1, len(tags) + 1), bool)
        for before, after in forbidden:
            allowed[number_of(tags, before), number_of(tags, after)] = False
        self.core = (
            self.templates.for_core(),
            _core.TagSettings(tags=[tag.encode() for tag in tags], allowed=allowed, decode=decode, width=beam),
        )
        self.corpus = corpus
        pairs = [(one["form"], right) for one, right in corpus]
        others = known_of_others(pairs, tags, FOLDS)
        self.seen = [({**one, "known": known}, right) for (one, right), known in zip(corpus, others, strict=True)]
        self.known = known_tags([pair for form, right in pairs for pair in zip(form, right, strict=True)], tags)
        labels = np.array([tags.index(tag) for _, right in corpus for tag in right], np.int32)
        starts, columns = texts([one for one, _ in corpus], self.templates.columns)
        local, looking_back = _core.TaggerLearner.features_of_token(self.core[0])
        room = np.empty(len(labels) * local, np.uint32), np.empty(len(labels) * looking_back, np.uint64)
        self.learner = _core.TaggerLearner(
            *self.core, starts, columns, labels, *room, mira=rule == "mira", C=float(C), folds=FOLDS
        )
        self.twin = TagLearner(
            tags, self.templates.texts, rule=rule, C=C, decode=decode, beam=beam, forbidden=forbidden
        )

    def learn(self, passes: int = 2) -> None:
        for _ in range(passes):
            order = np.arange(len(self.corpus))[::-1].copy()
            before = (self.twin.mistakes, self.twin.updates, self.twin.loss)
            self.twin.learn([self.seen[i] for i in order])
            tally = self.learner.learn(order)
            after = (self.twin.mistakes, self.twin.updates, self.twin.loss)
            mistakes, updates, loss = (now - then for now, then in zip(after, before, strict=True))
            assert (tally.sentences, tally.mistakes, tally.updates) == (len(order), mistakes, updates)
            assert tally.loss == pytest.approx(float(loss), abs=1e-5)

    def weights(self, averaged: bool) -> dict[tuple[str, str], float]:
        keys, indptr, columns, weights = self.learner.weights(averaged)
        templates, offsets, data = self.learner.names(keys)
        names = Strings(data, offsets).tolist()
        found = {}
        for row, (template, name) in enumerate(zip(templates.tolist(), names, strict=True)):
            for at in range(indptr[row], indptr[row + 1]):
                found[in_order(self.templates.name(template, name)), self.tags[columns[at]]] = float(weights[at])
        assert len(found) == len(weights)
        return found

    def tagging(self, averaged: bool = False) -> _core.Tagging:
        return _core.Tagging(*self.core, self.learner.words(), self.learner.weights(averaged))

    def new(self, sentence: Sentence) -> Sentence:
        """A sentence as the twin sees it when it has learned."""
        return {**sentence, "known": [self.known.get(word.lower()) or NOTHING for word in sentence["form"]]}


def number_of(tags: list[str], tag: str) -> int:
    return len(tags) if tag in (START, END) else tags.index(tag)


def in_order(name: str) -> str:
    """With its places sorted: the core has tags last."""
    return " ".join(sorted(re.split(r" (?=\S+\[-?\d\]=)", name)))


def expected(weights: dict[tuple[str, str], Any]) -> dict[tuple[str, str], float]:
    return {(in_order(name), tag): float(weight) for (name, tag), weight in weights.items() if weight != 0}


templates_of_test = st.lists(st.sampled_from(LOCAL), min_size=1, max_size=5, unique=True)


# ---- learning


def draw_templates(data: st.DataObject, decode: str) -> list[str]:
    found = data.draw(templates_of_test)
    return found if decode == "viterbi" else found + data.draw(st.lists(st.sampled_from(HISTORIES), unique=True))


@pytest.mark.parametrize("rule", ["perceptron", "mira"])
@pytest.mark.parametrize("decode", ["viterbi", "greedy", "beam"])
@given(data=st.data())
def test_learns_as_the_lecture_has_it(decode: str, rule: str, data: st.DataObject) -> None:
    """Steps are 1, or so short a C that no step is shorter: all weights are exact."""
    tags, corpus = data.draw(corpora())
    pair = Pair(tags, corpus, draw_templates(data, decode), rule=rule, decode=decode, C=Fraction(1, 1024))
    pair.learn()
    assert pair.weights(False) == expected(pair.twin.w)
    assert pair.weights(True) == pytest.approx(expected(pair.twin.average()), abs=1e-6)
    assert pair.learner.norm2() == pytest.approx(float(sum(w * w for w in pair.twin.w.values())))


@pytest.mark.parametrize("decode", ["viterbi", "greedy", "beam"])
@given(data=st.data())
def test_mira_takes_the_shortest_step_that_wins(decode: str, data: st.DataObject) -> None:
    """After one sentence; then there are ties, which rounding may break."""
    tags, corpus = data.draw(corpora(longest=1 if decode == "greedy" else 4))
    pair = Pair(tags, corpus[:1], draw_templates(data, decode), rule="mira", decode=decode, C=Fraction(100))
    pair.learn(1)
    assert pair.weights(False) == pytest.approx(expected(pair.twin.w), abs=1e-6)


@given(corpora(), st.sampled_from(["viterbi", "greedy", "beam"]))
def test_goes_on_from_a_state(drawn: tuple[list[str], Corpus], decode: str) -> None:
    tags, corpus = drawn
    whole, first, second = (Pair(tags, corpus, ["lower[0]", "known[0]"], rule="mira", decode=decode) for _ in range(3))
    order = np.arange(len(corpus))
    for _ in range(3):
        whole.learner.learn(order)
    first.learner.learn(order)
    second.learner.set_state(first.learner.get_state())
    for _ in range(2):
        second.learner.learn(order)
    for name, array in whole.learner.get_state().items():
        assert array.tobytes() == second.learner.get_state()[name].tobytes()


def test_a_state_that_does_not_fit_is_refused() -> None:
    corpus: Corpus = [({"form": ["a", "dog"], "pos": ["D", "N"]}, ("B", "A"))]
    templates = ["lower[0]", "prefix5[0]", "suffix4[0]", "suffix3[0]"]
    pair = Pair(["A", "B"], corpus, templates)
    pair.learn()

    def new() -> _core.TaggerLearner:
        return Pair(["A", "B"], corpus, templates).learner

    good = pair.learner.get_state()
    where = good["origins"].reshape(-1, 5)  # sentence, token, template, and two tags before

    def elsewhere(column: int, value: int) -> NDArray[np.uint32]:
        other = where.copy()
        other[0, column] = value
        return other.reshape(-1)

    changes = {
        "steps": [np.array([-1.0]), np.zeros(0), np.zeros(2), np.array([np.nan]), np.array([0.5]), np.array([1e300])],
        "keys": [good["keys"][:-1], np.repeat(good["keys"][:1], len(good["keys"]))],
        "indptr": [good["indptr"][::-1].copy(), good["indptr"] + 1, good["indptr"][:-1]],
        "columns": [good["columns"] + 2, good["columns"][:-1], good["columns"] * 0],
        "weights": [good["weights"][:-1], good["weights"] * np.float32("inf")],
        "sums": [good["sums"][1:], good["sums"] * np.nan],
        "origins": [
            good["origins"][:-1],
            good["origins"][:-5],
            good["origins"] + 9,
            elsewhere(1, 1),  # the other word is another feature
            *(elsewhere(2, template) for template in range(1, 5)),  # the word has no such prefix, or is none of tags
            elsewhere(2, 2**32 - 1),
        ],
    }
    changed = new()
    for name, arrays in changes.items():
        for array in arrays:
            with pytest.raises(ValueError, match="."):
                changed.set_state({**good, name: array.astype(good[name].dtype)})
            assert len(changed.get_state()["keys"]) == 0  # nothing of it was taken over
    with pytest.raises(ValueError, match="the learner is not new"):
        pair.learner.set_state(good)
    again = new()
    again.set_state(good)
    assert all(again.get_state()[name].tobytes() == array.tobytes() for name, array in good.items())


# ---- search


FORBIDDEN = [(START, "B"), ("A", "C"), ("B", END), ("C", "C")]


@given(corpora(), templates_of_test, corpora(), st.frozensets(st.sampled_from(FORBIDDEN)))
def test_viterbi_finds_the_best_of_all(
    drawn: tuple[list[str], Corpus],
    templates: list[str],
    other: tuple[list[str], Corpus],
    forbidden: frozenset[tuple[str, str]],
) -> None:
    tags, corpus = ["A", "B", "C"], drawn[1]
    pair = Pair(tags, corpus, templates, forbidden=forbidden)
    pair.learn(1)
    tagging = pair.tagging()
    for sentence, _ in other[1]:
        starts, columns = texts([sentence], pair.templates.columns)
        ranked = pair.twin.ranked(pair.new(sentence))
        assert tuple(tags[i] for i in tagging.tag(starts, columns)) == ranked[0][1]
        found = [(score, tuple(tags[i] for i in numbers)) for score, numbers in tagging.best(starts, columns, 7)]
        assert [score for score, _ in found] == [score for score, _ in ranked[:7]]
        assert len(set(found)) == len(found) and set(found) <= set(ranked)
        scores = tagging.scores(starts, columns)
        for i, row in enumerate(scores):
            for tag, score in zip(tags, row, strict=True):
                through = [total for total, sequence in ranked if sequence[i] == tag]
                assert score == max(through, default=-np.inf)


@pytest.mark.parametrize("decode", ["greedy", "beam"])
@given(corpora(), corpora(), st.frozensets(st.sampled_from(FORBIDDEN)))
def test_beams_keep_what_is_best(
    decode: str, drawn: tuple[list[str], Corpus], other: tuple[list[str], Corpus], forbidden: frozenset[tuple[str, str]]
) -> None:
    tags = ["A", "B", "C"]
    pair = Pair(tags, drawn[1], ["lower[0]", "pos[0]", *HISTORIES], decode=decode, forbidden=forbidden)
    pair.learn(1)
    tagging = pair.tagging()
    for sentence, _ in other[1]:
        starts, columns = texts([sentence], pair.templates.columns)
        found = tuple(tags[i] for i in tagging.tag(starts, columns))
        assert found == pair.twin.predict(pair.new(sentence))
        for i, row in enumerate(tagging.scores(starts, columns)):
            for tag, score in zip(tags, row, strict=True):
                more = (*found[:i], tag)
                step = pair.twin.score(sentence, more) - pair.twin.score(sentence, found[:i])
                assert score == (step if pair.twin.is_allowed(more, len(more) == len(found)) else -np.inf)


@given(corpora(), corpora())
def test_a_wide_beam_is_exact(drawn: tuple[list[str], Corpus], other: tuple[list[str], Corpus]) -> None:
    tags = ["A", "B", "C"]
    pair = Pair(tags, drawn[1], ["lower[0]", *HISTORIES], decode="beam", beam=9)
    pair.learn(1)
    for sentence, _ in other[1]:
        starts, columns = texts([sentence], pair.templates.columns)
        ((score, numbers), *_) = pair.tagging().best(starts, columns, 3)
        found = tuple(tags[i] for i in numbers)
        assert score == pair.twin.score(sentence, found)
        assert score == max(pair.twin.score(sentence, one) for one in product(tags, repeat=len(found)))


@given(corpora())
def test_features_add_up_to_the_score(drawn: tuple[list[str], Corpus]) -> None:
    tags, corpus = drawn
    pair = Pair(tags, corpus, [*LOCAL, *HISTORIES], decode="beam")
    pair.learn(1)
    tagging = pair.tagging()
    for sentence, right in corpus:
        starts, columns = texts([sentence], pair.templates.columns)
        numbers = np.array([tags.index(tag) for tag in right], np.int32)
        total = 0.0
        for i in range(len(right)):
            templates, offsets, _, weights = tagging.features(starts, columns, numbers, i)
            assert len(offsets) - 1 == len(templates)
            total += weights.reshape(len(templates), len(tags))[:, numbers[i]].sum(dtype=np.float64)
        assert total == pair.twin.score(pair.new(sentence), right)


def tagging_score(w: dict[tuple[str, str], float], words: Sequence[str], tags: Tags) -> float:
    seen = zip(words, ("(1 before)", *words), (START, *tags), tags, strict=False)
    return sum(
        w.get((f"lower[0]={word}", tag), 0)
        + w.get((f"lower[-1]={left}", tag), 0)
        + w.get((f"tag[-1]={before}", tag), 0)
        for word, left, before, tag in seen
    )


def test_many_tags_are_as_few() -> None:
    """Rows are padded, and searched in blocks of several sizes."""
    for count in (1, 7, 8, 9, 17, 24, 25, 32, 33, 57, 64, 65):
        random = np.random.default_rng(count)
        tags = [f"T{i:02}" for i in range(count)]
        words = [f"w{i}" for i in range(20)]
        corpus: Corpus = []
        for size in (5, 6, 2):
            form = random.choice(words, size).tolist()
            corpus.append(({"form": form, "pos": form}, tuple(random.choice(tags, size).tolist())))
        pair = Pair(tags, corpus, ["lower[0]", "lower[-1]"])
        for _ in range(3):
            pair.learner.learn(np.arange(3))
        w = pair.weights(False)
        starts, columns = texts([one for one, _ in corpus], pair.templates.columns)
        tagging = pair.tagging()
        scores, found = tagging.scores(starts, columns), tagging.tag(starts, columns)
        for begin, end, (sentence, _) in zip(starts, starts[1:], corpus, strict=False):
            sequence = tuple(tags[i] for i in found[begin:end])
            best = np.full(count, -np.inf)
            for i, word in enumerate(sentence["form"]):
                before = f"lower[-1]={sentence['form'][i - 1] if i else '(1 before)'}"
                local = np.array([w.get((f"lower[0]={word}", t), 0) + w.get((before, t), 0) for t in tags])
                moves = np.array([[w.get((f"tag[-1]={p}", t), 0) for t in tags] for p in tags])
                start = np.array([w.get((f"tag[-1]={START}", t), 0) for t in tags])
                best = local + (start if i == 0 else (best[:, None] + moves).max(axis=0))
            assert scores[begin:end].max(axis=1) == pytest.approx(best.max())
            assert tagging_score(w, sentence["form"], sequence) == best.max()


# ---- what would read outside of an array


@pytest.mark.parametrize(
    ("starts", "offsets", "match"),
    [
        ([0, 3], [0, 1, 2], "too few"),
        ([0, 1], [0, 1, 2], "too few"),
        ([1, 2], [0, 1, 2], "first token"),
        ([], [0], "first token"),
        ([0, 2, 1, 2], [0, 1, 2], "before it starts"),
        ([0, 2], [0, 2, 1], "before it starts"),
        ([0, 2], [0, 1, 99], "outside"),
        ([0, 2], [-1, 1, 2], "outside"),
    ],
)
def test_batches_are_checked(starts: list[int], offsets: list[int], match: str) -> None:
    pair = Pair(["A"], [({"form": ["a"], "pos": ["N"]}, ("A",))], ["lower[0]"])
    columns = [(np.zeros(3, np.uint8), np.array(offsets, np.int64))]
    for act in (pair.tagging().tag, pair.tagging().scores):
        with pytest.raises(ValueError, match=match):
            act(np.array(starts, np.int64), columns)


def test_templates_are_checked() -> None:
    good: dict[str, Any] = {"columns": 1, "atoms": [("lower", 0, 0)], "patterns": [([(0, 0)], [])]}
    _core.TagTemplates(**good)
    for name, value in {
        "columns": 0,
        "atoms": [("lower", 0, 1)],
        "patterns": [([(1, 0)], [])],
    }.items():
        with pytest.raises(ValueError, match="."):
            _core.TagTemplates(**{**good, name: value})
    for atoms in ([("prefix", 0, 0)], [("suffix", 6, 0)], [("nonsense", 0, 0)]):
        with pytest.raises(ValueError, match="."):
            _core.TagTemplates(**{**good, "atoms": atoms})
    wrong: list[Any] = [[([(0, 9)], [])], [([(0, -9)], [])], [([], [3])], [([], [0])], []]
    for patterns in wrong:
        with pytest.raises(ValueError, match="."):
            _core.TagTemplates(**{**good, "patterns": patterns})


def test_the_exact_search_looks_back_at_one_tag_alone() -> None:
    corpus: Corpus = [({"form": ["a"], "pos": ["N"]}, ("A",))]
    for template in HISTORIES:
        Pair(["A"], corpus, [template], decode="beam")
        with pytest.raises(ValueError, match="only one previous tag"):
            Pair(["A"], corpus, [template])


def test_rows_are_checked() -> None:
    pair = Pair(["A", "B"], [({"form": ["a", "b"], "pos": ["N", "N"]}, ("A", "B"))], ["lower[0]"])
    pair.learn()
    keys, indptr, columns, weights = pair.learner.weights(False)
    words = pair.learner.words()
    bad: list[Any] = [
        (keys[:-1], indptr, columns, weights),
        (np.repeat(keys[:1], len(keys)), indptr, columns, weights),
        (keys, indptr[::-1].copy(), columns, weights),
        (keys, indptr + 1, columns, weights),
        (keys, indptr, columns + 2, weights),
        (keys, indptr, columns, weights * np.float32("nan")),
        (keys, indptr, columns, weights[:-1]),
    ]
    for rows in bad:
        with pytest.raises(ValueError, match="."):
            _core.Tagging(*pair.core, words, rows)
    numbers, sets, offsets, data = words
    for known in [
        (numbers, sets + 9, offsets, data),
        (numbers[:-1], sets, offsets, data),
        (numbers, sets, offsets + 1, data),
    ]:
        with pytest.raises(ValueError, match="."):
            _core.Tagging(*pair.core, known, (keys, indptr, columns, weights))


def test_keys_that_somebody_wrote_do_not_take_long() -> None:
    """Each takes about as long as another: with a place for all of them this would take minutes."""
    pair = Pair(["A", "B"], [({"form": ["a", "b"], "pos": ["N", "N"]}, ("A", "B"))], ["lower[0]"])
    size = 300_000
    numbers = np.arange(1, size + 1, dtype=np.uint64)
    indptr, columns = np.arange(size + 1, dtype=np.int64), np.zeros(size, np.uint32)
    offsets = np.array([0, 0], np.int64)
    starts, forms = texts([pair.corpus[0][0]], pair.templates.columns)
    begin = time.perf_counter()
    for keys in (numbers << np.uint64(40), numbers, numbers << np.uint64(20)):
        known = (keys, np.zeros(size, np.uint32), offsets, np.zeros(0, np.uint8))
        tagging = _core.Tagging(*pair.core, known, (keys, indptr, columns, np.ones(size, np.float32)))
        assert len(tagging.tag(starts, forms)) == 2
    assert time.perf_counter() - begin < 20


def test_where_no_sequence_is_allowed() -> None:
    forbidden = frozenset({(START, "A"), (START, "B")})
    for decode in ("viterbi", "greedy", "beam"):
        pair = Pair(
            ["A", "B"], [({"form": ["a"], "pos": ["N"]}, ("A",))], ["lower[0]"], decode=decode, forbidden=forbidden
        )
        starts, columns = texts([pair.corpus[0][0]], pair.templates.columns)
        with pytest.raises(ValueError, match="no sequence"):
            pair.tagging().tag(starts, columns)
        with pytest.raises(ValueError, match="no sequence"):
            pair.learner.learn(np.zeros(1, np.int64))


def test_levels_agree() -> None:
    """The versions of the loops for all processors and for newer ones give the same bits."""
    check_levels("""
from markone import Tagger
for decode in ("viterbi", "greedy", "beam"):
    tagger = Tagger.train([[(w, w[-1] + w[:1]) for w in s.split()] for s in
                           ("the dogs bark", "a cat", "cats run and dogs run", "they ran", "a dog")], decode=decode)
    print(tagger.weights.weights.tobytes().hex(), tagger.scores([["the", "dog", "runs"]])[0].tobytes().hex())
""")
