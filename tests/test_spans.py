"""Spans and scores: schemes, what may follow what, and counting as conlleval and the shared task of 2018 do."""

from __future__ import annotations

import json
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markone import DataError, SettingsError
from markone.data.strings import Strings
from markone.structured.corpora import read_sentences
from markone.structured.scoring import Hits, SpanScore, TagScore, TreeScore, score_spans, score_tags, score_trees
from markone.structured.sentences import Sentences
from markone.structured.spans import (
    SCHEMES,
    SIGNS,
    Scheme,
    Span,
    check_spans,
    convert,
    first_break,
    guess_scheme,
    spans_of,
    tags_of,
    transition_mask,
)


@st.composite
def spans(draw: st.DrawFn) -> tuple[int, list[Span]]:
    """So many words, and spans of them."""
    cuts = sorted(draw(st.sets(st.integers(0, 8), max_size=6)))
    found = [
        Span(begin, end, draw(st.sampled_from(["NP", "VP", ""])))
        for begin, end in pairwise(cuts)
        if draw(st.integers(0, 3)) > 0
    ]
    return 8, found


@given(spans(), st.sampled_from(SCHEMES), st.sampled_from(SCHEMES))
def test_every_scheme_says_the_same(given: tuple[int, list[Span]], one: Scheme, other: Scheme) -> None:
    words, found = given
    tags = tags_of(found, words, one)
    assert spans_of(tags) == found
    assert convert(tags, other) == tags_of(found, words, other)
    assert first_break(tags, one) is None
    guessed = guess_scheme([tags])
    assert (guessed is None) == (not found) and (guessed is None or first_break(tags, guessed) is None)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_valid_sequences_are_those_that_spans_give(scheme: Scheme) -> None:
    """Over all sequences of three words: valid, allowed by the mask, and tags of some spans are one thing."""
    tags = ["O", *(f"{sign}-{kind}" for kind in "XY" for sign in SIGNS[scheme])]
    mask = transition_mask(tags, scheme)
    valid = 0
    for chosen in product(range(len(tags)), repeat=3):
        path = [len(tags), *chosen, len(tags)]
        allowed = all(mask[i, j] for i, j in pairwise(path))
        words = [tags[i] for i in chosen]
        assert allowed == (first_break(words, scheme) is None) == (convert(words, scheme) == words)
        valid += allowed
    assert 0 < valid < len(tags) ** 3


def test_tags_that_lead_nowhere_may_not_come() -> None:
    mask = transition_mask(["O", "B-X", "I-X", "B-Y", "E-Y"], "IOBES")
    assert not mask[:, 1].any() and not mask[:, 2].any()
    assert mask[5].tolist() == [True, False, False, True, False, True]


def test_schemes_are_guessed() -> None:
    assert guess_scheme([["B-NP", "O"], ["B-NP", "I-NP"]]) == "IOB2"
    assert guess_scheme([["I", "O", "B"]]) is None  # letters that may be anything
    assert guess_scheme([["I-NP", "O", "B-NP"]]) == "IOB2"
    assert guess_scheme([["I-NP", "O", "I-NP"], ["O", "B-NP"]]) == "IOB1"
    assert guess_scheme([["B-NP", "E-NP"], ["S-NP", "I-NP"]]) == "IOBES"
    assert guess_scheme([["B-NP", "I-NP", *["O"] * 200, "B_NP"]]) == "IOB2"
    assert guess_scheme([["B-NP", "I-NP", "O", "NOUN"]]) is None
    assert guess_scheme([["I-NP", "B-NP"]]) == "IOB1"
    assert guess_scheme([["S-NP", "O"], ["B-NP", "E-NP"]]) == "IOBES"
    assert guess_scheme([["B-NP", "I-NP", "E-NP"]]) == "IOBES"
    assert guess_scheme([["O", "O"]]) is None and guess_scheme([["NOUN"]]) is None


def test_wrong_tags_are_shown_where_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "chunks.conll"
    path.write_text("a B-NP\nb I-NP\n\nc O\nd I-NP\n")
    batch = read_sentences(path)
    check_spans(batch.some(1, 2), "1", "IOB1")
    with pytest.raises(DataError, match=r"conll, line 5: 'I-NP' is not allowed after 'O' in the scheme IOB2"):
        check_spans(batch, "1", "IOB2")
    with pytest.raises(
        DataError, match=r"conll, line 2: 'I-NP' is not allowed at the end of a sentence in the scheme IOBES"
    ):
        check_spans(batch, "1", "IOBES")
    with pytest.raises(DataError, match="line 1: 'a' is not a tag of the scheme IOB2"):
        check_spans(batch, "form", "IOB2")
    with pytest.raises(DataError, match="'I-NP' is not allowed at the start of a sentence"):
        check_spans(Sentences.of([[("a", "I-NP")]]), "tag", "IOB2")
    with pytest.raises(SettingsError, match="scheme must be one of 'IOB1', 'IOB2', 'IOBES', not 'IOB'"):
        check_spans(batch, "1", "IOB")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="'E-NP' is not a tag of the scheme IOB2"):
        transition_mask(["O", "E-NP"], "IOB2")
    with pytest.raises(DataError, match="'NOUN' is not a tag of a span"):
        spans_of(["NOUN"])
    for wrong in ([Span(0, 3, "X")], [Span(0, 2, "X"), Span(1, 2, "X")], [Span(1, 1, "X")]):
        with pytest.raises(DataError, match="is not within the 2 words, or overlaps another"):
            tags_of(wrong, 2, "IOB2")


def conlleval_spans(tags: list[str]) -> list[tuple[int, int, str]]:
    """conlleval's rules for where a chunk starts and ends, between each pair of tags."""
    pairs = [("O", ""), *((tag[0], tag[2:]) for tag in tags), ("O", "")]
    found = []
    start = 0
    for i, ((before, kind_before), (sign, kind)) in enumerate(pairwise(pairs)):
        ends = before in ("E", "S") or (before in ("B", "I") and sign in ("B", "S", "O"))
        ends = ends or (before != "O" and kind_before != kind)
        if ends:
            found.append((start, i, kind_before))
        starts = sign in ("B", "S") or (before in ("E", "S", "O") and sign in ("E", "I"))
        if starts or (sign != "O" and kind_before != kind):
            start = i
    return found


all_tags = st.lists(st.sampled_from(["O", *(f"{sign}-{kind}" for sign in "BIES" for kind in "XY")]), max_size=8)


@given(all_tags)
def test_spans_are_those_of_conlleval(tags: list[str]) -> None:
    assert [tuple(span) for span in spans_of(tags)] == conlleval_spans(tags)


# ---- scores

tag_lists = st.lists(st.lists(st.tuples(*[st.sampled_from(["O", "B-X", "I-X", "B-Y"])] * 2), max_size=4), max_size=5)


@given(tag_lists, tag_lists)
def test_scores_of_batches_add_up(one: list[list[tuple[str, str]]], other: list[list[tuple[str, str]]]) -> None:
    def parts(pairs: list[list[tuple[str, str]]]) -> tuple[list[list[str]], list[list[str]]]:
        return [[gold for gold, _ in row] for row in pairs], [[found for _, found in row] for row in pairs]

    assert score_tags(*parts(one)) + score_tags(*parts(other)) == score_tags(*parts(one + other))
    assert score_spans(*parts(one)) + score_spans(*parts(other)) == score_spans(*parts(one + other))
    total = score_tags(*parts(one))
    assert total.right == sum(gold == found for row in one for gold, found in row)
    assert total.right_sentences == sum(all(gold == found for gold, found in row) for row in one)


def test_a_score_by_hand() -> None:
    gold = [["B-NP", "I-NP", "O", "B-NP"], ["B-VP"]]
    found = [["B-NP", "I-NP", "B-NP", "I-NP"], ["B-VP"]]
    score = score_spans(gold, found)
    assert score.kinds == {"NP": Hits(2, 2, 1), "VP": Hits(1, 1, 1)}
    assert score.all == Hits(3, 3, 2) and score.f1 == score.precision == score.recall == 2 / 3
    assert Hits(4, 2, 1).precision == 0.5 and Hits(4, 2, 1).recall == 0.25 and Hits(4, 2, 1).f1 == 1 / 3
    assert score.tags.accuracy == 3 / 5 and score.tags.sentence_accuracy == 1 / 2
    assert score.tags.commonest() == [(("B-NP", "I-NP"), 1), (("O", "B-NP"), 1)]
    assert json.loads(json.dumps(score.as_dict()))["kinds"]["NP"]["f1"] == 0.5
    assert json.loads(json.dumps(score.tags.as_dict()))["confusions"][0] == {
        "gold": "B-NP",
        "found": "I-NP",
        "count": 1,
    }


def test_nothing_has_a_score_too() -> None:
    assert TagScore().accuracy == SpanScore().f1 == TreeScore().las == 0
    assert "0 of 0" in str(SpanScore()) and "0 of 0" in str(TagScore()) and "0 of 0" in str(TreeScore())


def test_scores_need_as_many_words() -> None:
    with pytest.raises(DataError, match="there are 1 sentences, but predictions for 0"):
        score_tags([["a"]], [])
    with pytest.raises(DataError, match="sentence 2 has 1 words, but predictions for 2"):
        score_spans([[], ["O"]], [[], ["O", "O"]])


def test_labels_count_without_their_subtypes() -> None:
    gold = Sentences.of(
        [
            {
                "form": ["my", "dog", "barks", "."],
                "head": [2, 3, 0, 3],
                "deprel": ["nmod:poss", "nsubj", "root", "punct"],
            },
            {"form": ["no"], "head": [0], "deprel": ["root"]},
        ]
    )
    score = score_trees(
        gold, np.array([2, 3, 0, 2, 0], np.int32), Strings.of(["nmod", "obj", "root", "punct", "root:x"])
    )
    assert score == TreeScore(words=5, heads=4, labelled=3, sentences=2, whole=1)
    assert (score.uas, score.las) == (4 / 5, 3 / 5) and (score + score).las == 3 / 5 and (score + score).whole == 2
    assert json.loads(json.dumps(score.as_dict()))["uas"] == 0.8
    with pytest.raises(DataError, match="there are 1 heads and 1 labels for 5 words"):
        score_trees(gold, np.zeros(1, np.int32), Strings.of(["a"]))
    with pytest.raises(DataError, match="no heads"):
        score_trees(Sentences.of([["a"]]), np.zeros(1, np.int32), Strings.of(["a"]))
