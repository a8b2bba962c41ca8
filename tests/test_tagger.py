"""Taggers: what they learn, find, explain and keep."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forging import Forged, damaged, forge
from markone import DataError, SettingsError, Tagger
from markone.data.strings import Strings
from markone.learning.checkpoints import Checkpoints
from markone.model.history import Pass
from markone.structured.corpora import read_sentences
from markone.structured.sentences import Sentences
from markone.structured.spans import SCHEMES, convert
from markone.structured.tagger import TagExplanation
from markone.structured.templates import WORDS, Templates, templates_with

ROOT = Path(__file__).parents[1]
DATA = ROOT / os.environ.get("MARKONE_DATA", "../shared/data")
NOUNS, VERBS = ["dog", "cat", "tree", "house", "bird", "child"], ["sees", "likes", "has", "finds", "runs"]
ADJECTIVES = ["big", "small", "red", "old"]


def corpus(size: int, seed: int = 0) -> list[list[tuple[str, str]]]:
    """A small language, with a word in twenty that is anything."""
    random = np.random.default_rng(seed)
    sentences = []
    for _ in range(size):
        found: list[tuple[str, str]] = []
        for part in range(2):
            found.append((str(random.choice(["the", "a"])), "DET"))
            found += [(str(random.choice(ADJECTIVES)), "ADJ")] * int(random.integers(0, 2))
            found.append((str(random.choice(NOUNS)), "NOUN"))
            if part == 0:
                found.append((str(random.choice(VERBS)), "VERB"))
        found = [(word, "NOUN" if random.random() < 0.05 else tag) for word, tag in found]
        sentences.append(found)
    return sentences


CORPUS = corpus(60)
NEW = [["the", "old", "cat", "sees", "a", "Zebra"], ["a", "child", "runs"], []]
CHUNKS = [
    {
        "form": ["the", "dog", "sees", "a", "cat"],
        "pos": ["D", "N", "V", "D", "N"],
        "tag": ["B-NP", "I-NP", "O", "B-NP", "I-NP"],
    },
    {"form": ["dogs", "run"], "pos": ["N", "V"], "tag": ["B-NP", "O"]},
    {"form": ["she", "likes", "old", "houses"], "pos": ["P", "V", "A", "N"], "tag": ["B-NP", "O", "B-NP", "I-NP"]},
]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger.train(CORPUS, epochs=4)


def content(tagger: Tagger, folder: Path, *, final: bool = False) -> bytes:
    path = folder / "content.tagger"
    tagger.save(path, final=final)
    return path.read_bytes()


# ---- tagging


def test_learns_a_small_language(tagger: Tagger) -> None:
    assert tagger.tag(NEW)[1] == ["DET", "NOUN", "VERB"]
    assert tagger.tag(["the", "old", "cat"]) == [["DET", "ADJ", "NOUN"]]
    assert [len(tags) for tags in tagger.tag(NEW)] == [6, 3, 0]
    clean = [[(word, "DET" if word in ("the", "a") else tag) for word, tag in one] for one in corpus(30, 7)]
    assert tagger.evaluate(clean).accuracy > 0.9
    assert len(tagger.history) == 4 and tagger.history.rows == 60 and tagger.history.stopped == "epochs"
    assert repr(tagger) == f"<Tagger: 'tag', 4 tags, {len(tagger.weights):,} features>"


def test_ways_to_ask_agree(tagger: Tagger) -> None:
    batch = Sentences.of(NEW)
    lists = tagger.tag(NEW)
    assert tagger.tag(batch) == lists
    assert tagger.tag_columns(batch).tolist() == [tag for tags in lists for tag in tags]
    for words, tags, scores, margins in zip(NEW, lists, tagger.scores(NEW), tagger.margins(NEW), strict=True):
        assert scores.shape == (len(words), 4)
        assert [tagger.tags[i] for i in scores.argmax(axis=1)] == tags
        ordered = np.sort(scores, axis=1)
        assert (margins == ordered[:, -1] - ordered[:, -2]).all()
        best = tagger.best(Sentences.of([words]), 3)
        assert best[0][0] == tags
        if words:
            assert best[0][1] == pytest.approx(float(scores[0].max()), abs=1e-4)
            assert best[0][1] - best[1][1] == pytest.approx(float(margins.min()), abs=1e-4)


def test_reads_files(tmp_path: Path, tagger: Tagger) -> None:
    path = tmp_path / "corpus.jsonl"
    lines = [{"tokens": [word for word, _ in one], "tags": [tag for _, tag in one]} for one in CORPUS]
    path.write_text("".join(f"{line}\n" for line in lines).replace("'", '"'))
    assert content(Tagger.train(path, epochs=4), tmp_path) == content(tagger, tmp_path)
    assert tagger.evaluate(path).accuracy == tagger.evaluate(CORPUS).accuracy


def test_words_that_are_no_text(tagger: Tagger) -> None:
    data = np.frombuffer(b"the\xff\xfe\x80dog", np.uint8)
    batch = Sentences(np.array([0, 3]), {"form": Strings(data, np.array([0, 3, 6, 9]))})
    assert len(tagger.tag(batch)[0]) == 3
    tags = Strings.of(["DET", "X", "NOUN"])
    learned = Tagger.train(Sentences(batch.starts, {**batch.columns, "tag": tags}))
    assert learned.tag(batch) == [["DET", "X", "NOUN"]]
    assert all(isinstance(one.feature, str) for one in learned.strongest("X"))
    assert tagger.tag([["", "dog"], ["\ud800", "x" * 10_000]])[0][1] == "NOUN"


def test_one_tag() -> None:
    only = Tagger.train([[("a", "A"), ("b", "A")], [("c", "A")]])
    assert only.tag(["x", "y"]) == [["A", "A"]]
    assert only.history.stopped == "converged" and len(only.weights) == 0
    assert only.margins(["x"])[0].tolist() == [np.inf]
    assert only.explain(["x"], 0).margin == 0


def test_threads_may_share_it(tagger: Tagger) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        assert len({str(one) for one in pool.map(tagger.tag, [NEW * 50] * 8)}) == 1


# ---- spans


@pytest.mark.parametrize("decode", ["viterbi", "greedy", "beam"])
def test_no_invalid_spans(decode: Any) -> None:
    chunker = Tagger.train(CHUNKS, inputs=["pos"], decode=decode, epochs=3)
    assert chunker.settings.scheme == "IOB2"
    random = np.random.default_rng(0)
    for _ in range(30):
        words = random.choice(["the", "dog", "cat", "zebra", "run"], 6).tolist()
        pos = random.choice(["D", "N", "V", "A"], 6).tolist()
        tags = chunker.tag([{"form": words, "pos": pos}])[0]
        assert not any(one == "I-NP" and before == "O" for before, one in zip(["O", *tags], tags, strict=False))
        (scores,) = chunker.scores([{"form": words, "pos": pos}])
        assert scores[0][chunker.tags.index("E-NP")] == scores[-1][chunker.tags.index("B-NP")] == -np.inf
    evaluation = chunker.evaluate(CHUNKS)
    assert evaluation.f1 == 1 and "F1" in str(evaluation) and evaluation.as_dict()["spans"] is not None


def test_schemes_are_asked_for() -> None:
    assert Tagger.train(CHUNKS, inputs=["pos"], scheme="none").settings.scheme is None
    same = Tagger.train(CHUNKS, inputs=["pos"], learn_as="IOB2")
    assert same.tags == ["B-NP", "I-NP", "O"] and same.tag(CHUNKS) == [one["tag"] for one in CHUNKS]
    assert Tagger.train(CORPUS, epochs=1).settings.scheme is None
    broken = [*CHUNKS, {"form": ["go"], "pos": ["V"], "tag": ["I-NP"]}]
    for how in ({}, {"scheme": "IOB2"}, {"learn_as": "IOB2"}):
        repaired = Tagger.train(broken, inputs=["pos"], **how)
        assert repaired.settings.scheme == "IOB2" and repaired.repairs is not None and repaired.repairs.count == 1
        assert repaired.repairs.first.startswith("sentence 4, word 1: 'I-NP' is not allowed at the start")
        mended = [*CHUNKS, {**broken[-1], "tag": ["B-NP"]}]
        assert repaired.weights.equals(Tagger.train(mended, inputs=["pos"], **how).weights)
        with pytest.raises(DataError, match="sentence 4, word 1: 'I-NP' is not allowed at the start"):
            Tagger.train(broken, inputs=["pos"], strict=True, **how)
    assert Tagger.train(CHUNKS, inputs=["pos"], strict=True).repairs is None
    with pytest.raises(DataError, match="sentence 1, word 1: 'D' is not a tag of the scheme IOB2"):
        Tagger.train(CHUNKS, column="pos", scheme="IOB2")


def test_known_words_are_told_from_others(tmp_path: Path) -> None:
    tagger = Tagger.train([[("the", "D"), ("dog", "N")], [("Dogs", "N")]], epochs=2)
    tagger.save(tmp_path / "x.tagger")
    for one in (tagger, Tagger.load(tmp_path / "x.tagger")):
        score = one.evaluate([[("the", "D"), ("dogs", "X"), ("dog", "N")], [("the", "X")]]).tags
        assert (score.words, score.known, score.right, score.right_known) == (4, 3, 2, 2)
        assert score.known_accuracy == 2 / 3 and score.unknown_accuracy == 0
        assert "known words 66.67 % (2 of 3 words)\nunknown words 0.00 % (0 of 1 words)" in str(score)
        twice = score + score
        assert (twice.known, twice.right_known) == (6, 4)


def test_a_column_that_says_nothing_is_refused() -> None:
    with pytest.raises(DataError, match="none of 2 words has a tag in 'xpos'"):
        Tagger.train([{"form": ["a", "b"], "xpos": ["_", "_"]}])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("learn_as", SCHEMES)
def test_spans_come_back_in_their_scheme(scheme: Any, learn_as: Any) -> None:
    touching = {"form": ["a", "b", "c", "d"], "pos": ["D"] * 4, "tag": ["B-NP", "B-NP", "I-NP", "B-VP"]}
    given = [{**one, "tag": convert(one["tag"], scheme)} for one in [*CHUNKS, touching]]
    chunker = Tagger.train(given, inputs=["pos"], scheme=scheme, learn_as=learn_as, epochs=20)
    assert set(chunker.tags) == {tag for one in given for tag in convert(one["tag"], learn_as)}
    right = [one["tag"] for one in given]
    assert chunker.tag(given) == right
    batch = Sentences.of(given)
    assert chunker.tag_columns(batch).tolist() == [tag for tags in right for tag in tags]
    assert chunker.best(given[-1])[0][0] == right[-1]
    assert chunker.evaluate(given).accuracy == 1


def test_inputs() -> None:
    with_pos = Tagger.train(CHUNKS, inputs=["pos"])
    assert any("pos[0]" in text for text in with_pos.settings.templates)
    with pytest.raises(DataError, match="no column 'pos'"):
        with_pos.tag([["the", "dog"]])
    without = Tagger.train(CHUNKS)
    assert without.settings.inputs == () and without.tag([["the", "dog"]]) == [["B-NP", "I-NP"]]
    own = Tagger.train(CHUNKS, templates=["pos[0]", "lower[0]"])
    assert own.settings.templates == ("pos[0]", "lower[0]")


def test_columns_without_names(tmp_path: Path) -> None:
    path = tmp_path / "chunks.txt"
    columns = [zip(*(one[name] for name in ("form", "pos", "tag")), strict=True) for one in CHUNKS]
    path.write_text("\n".join("".join(" ".join(word) + "\n" for word in one) for one in columns))
    chunker = Tagger.train(path)
    assert (chunker.settings.column, chunker.settings.inputs) == ("2", ("1",))
    assert chunker.evaluate(path).f1 == 1


# ---- why


@pytest.mark.parametrize("decode", ["viterbi", "greedy", "beam"])
def test_explanations_add_up(decode: Any) -> None:
    tagger = Tagger.train(CORPUS, epochs=2, decode=decode)
    words = ["the", "old", "cat", "sees", "a", "dog"]
    (tags,) = tagger.tag(words)
    chosen = whole_score(tagger, words, tags)
    for i in range(len(words)):
        for other in tagger.tags:
            explained = tagger.explain(words, i, against=other)
            changed = [*tags[:i], other, *tags[i + 1 :]]
            assert explained.margin == pytest.approx(chosen - whole_score(tagger, words, changed), abs=1e-4)
        usual = tagger.explain(words, i)
        others = [tagger.explain(words, i, against=tag).margin for tag in tagger.tags if tag != tags[i]]
        assert (usual.chosen, usual.margin) == (tags[i], pytest.approx(min(others)))
        assert usual.against != tags[i]


def whole_score(tagger: Tagger, words: list[str], tags: list[str]) -> float:
    batch = Sentences.of([words])
    numbers = np.array([tagger.tags.index(tag) for tag in tags], np.int32)
    return sum(float(row[numbers[i]]) for i in range(len(words)) for _, _, row in tagger._features(batch, numbers, i))


def test_an_explanation_can_be_read(tagger: Tagger) -> None:
    explained = tagger.explain(["the", "cat"], 1)
    assert isinstance(explained, TagExplanation)
    text = str(explained)
    assert text.startswith("'cat' is NOUN and not ") and "known[0]=NOUN" in text
    assert "<table" in explained.html()
    assert explained.as_dict()["margin"] == explained.margin
    shown = [float(line.split()[-1]) for line in text.splitlines()[2:]]
    assert " more " in text and sum(shown) == pytest.approx(explained.margin, abs=0.01)
    names = [term.feature for term in explained.terms]
    assert len(names) == len(set(names)) and {"lower[0]=cat", "tag[-1]=DET"} <= {*names}


def test_strongest_features_have_names(tagger: Tagger) -> None:
    found = tagger.strongest("DET", 5)
    assert [abs(one.weight) for one in found] == sorted((abs(one.weight) for one in found), reverse=True)
    everything = {one.feature: one.weight for one in tagger.strongest("DET", 100_000)}
    assert everything["lower[0]=the"] > 0
    assert all(re.match(r"\w+\[-?\d\]=", name) for name in everything)
    shown = {term.feature: term.chosen for term in tagger.explain(["the", "cat"], 0).terms}
    for name, weight in shown.items():
        if weight and "next" not in name:
            assert everything[name] == pytest.approx(weight)


def test_unknown_tags_and_words_are_said(tagger: Tagger) -> None:
    with pytest.raises(SettingsError, match="'NOUNS' is unknown.*Did you mean 'NOUN'"):
        tagger.strongest("NOUNS")
    with pytest.raises(SettingsError, match="i must be the number of a word, from 0 to 1"):
        tagger.explain(["the", "cat"], 2)
    with pytest.raises(DataError, match="exactly one sentence is needed, not 3"):
        tagger.best(NEW)


# ---- every option changes something


@pytest.mark.parametrize(
    "option",
    [
        {"rule": "perceptron"},
        {"epochs": 5},
        {"C": 0.001},
        {"average": False},
        {"decode": "greedy"},
        {"decode": "beam"},
        {"decode": "beam", "beam": 2},
        {"templates": WORDS[:3]},
        {"seed": 1},
        {"holdout": 0.2},
    ],
    ids=str,
)
def test_every_option_changes_the_weights(option: dict[str, Any], tagger: Tagger) -> None:
    other = Tagger.train(CORPUS, **{"epochs": 4, **option})
    one, two = (
        {**dict(zip(t.weights.keys.tolist(), t.weights.indptr.tolist(), strict=False))} for t in (tagger, other)
    )
    assert one != two or tagger.weights.weights.tobytes() != other.weights.weights.tobytes()
    if option == {"decode": "beam"}:
        narrow = Tagger.train(CORPUS, epochs=4, decode="beam", beam=2)
        assert narrow.weights.weights.tobytes() != other.weights.weights.tobytes()


def test_patience_stops_and_takes_the_best() -> None:
    seen: list[Pass] = []
    found = Tagger.train(CORPUS, epochs=30, holdout=0.3, patience=2, callback=seen.append)
    assert found.history.stopped == "held-out" and len(found.history) == len(seen) < 30
    assert found.history.best_epoch == len(seen) - 2
    assert found.history.held_out == 18 and found.history.rows == 42
    best = Tagger.train(CORPUS, epochs=found.history.best_epoch or 0, holdout=0.3, patience=2)
    assert best.weights.weights.tobytes() == found.weights.weights.tobytes()
    held = [one.holdout for one in seen]
    assert max(one for one in held if one is not None) == held[-3]


def test_a_callback_can_stop() -> None:
    found = Tagger.train(CORPUS, callback=lambda result: result.epoch == 2)
    assert found.history.stopped == "callback" and len(found.history) == 2


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"rule": "svm"}, "rule must be one of 'perceptron', 'mira'"),
        ({"decode": "viterbo"}, "Did you mean 'viterbi'"),
        ({"rule": "perceptron", "C": 1.0}, "C is only for the rule 'mira'"),
        ({"beam": 4}, "beam is only for decode='beam'"),
        ({"decode": "beam", "beam": 1}, "beam must be a whole number from 2 to 1024"),
        ({"C": 0}, "C must be a number greater than 0"),
        ({"C": float("nan")}, "C must be"),
        ({"epochs": 0}, "epochs must be"),
        ({"epochs": True}, "epochs must be"),
        ({"seed": -1}, "seed must be"),
        ({"holdout": 1}, "holdout must be"),
        ({"patience": 3}, "patience needs held-out sentences"),
        ({"average": 1}, "average must be"),
        ({"scheme": "BIO"}, "scheme must be one of"),
        ({"learn_as": "IOB2"}, "learn_as is only for tags of spans, and these tags are not"),
        ({"resume": True}, "resume needs the file"),
        ({"callback": 1}, "callback must be"),
        ({"inputs": "pos"}, "inputs must be a list"),
        ({"inputs": ["tag"]}, "inputs must not contain the column of words"),
        ({"column": 5}, "column must be the name"),
        ({"templates": "lower[0]"}, "templates must be a list"),
        ({"templates": ["lowr[0]"]}, "Did you mean 'lower'"),
        ({"templates": ["lower"]}, "is not a valid place"),
        ({"templates": ["lower[9]"]}, "at most 8 tokens away"),
        ({"templates": ["tag[0]"]}, "only the tags tag\\[-1\\] and tag\\[-2\\]"),
        ({"templates": ["tag[-1] lower[0]"]}, "use decode='beam'"),
        ({"templates": ["lower[0]", "lower[+0]"]}, "twice"),
        ({"templates": ["tag[-1]"]}, "something other than tags"),
        ({"templates": []}, "something other than tags"),
    ],
    ids=str,
)
def test_settings_are_checked(given: dict[str, Any], match: str) -> None:
    with pytest.raises(SettingsError, match=match):
        Tagger.train(CORPUS, **given)


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ([["the", "dog"]], "words, but no tags"),
        ([[]], "no tags|no words"),
        ([{"form": [], "tag": []}], "no words"),
        (["the", "dog"], "no tags"),
    ],
    ids=str,
)
def test_data_are_checked(source: Any, match: str) -> None:
    with pytest.raises(DataError, match=match):
        Tagger.train(source)


def test_templates_of_columns() -> None:
    assert templates_with([]) == WORDS
    for texts, columns in ((WORDS, ("form",)), (templates_with(["a", "b"]), ("form", "a", "b"))):
        seen = Templates.of(texts, columns)
        assert seen.columns == columns and seen.texts[-1] == "tag[-1]"
        assert len({*seen.texts}) == len(texts) + 1


# ---- files


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("decode", ["viterbi", "greedy", "beam"])
def test_what_is_saved_is_loaded(decode: Any, final: bool, tmp_path: Path) -> None:
    first = Tagger.train(CHUNKS, inputs=["pos"], decode=decode, holdout=0.4, patience=5, epochs=3)
    saved = content(first, tmp_path, final=final)
    again = Tagger.load(tmp_path / "content.tagger")
    assert content(again, tmp_path, final=final) == saved
    assert again.tag(CHUNKS) == first.tag(CHUNKS)
    assert again.settings == first.settings and again.tags == first.tags
    assert [one.tobytes() for one in again.scores(CHUNKS)] == [one.tobytes() for one in first.scores(CHUNKS)]
    assert again.strongest("O") == first.strongest("O")
    assert str(again.explain(CHUNKS[0], 0)) == str(first.explain(CHUNKS[0], 0))
    assert (again.resume is None) == final


def test_nothing_is_saved_twice(tmp_path: Path, tagger: Tagger) -> None:
    """Weights are the mean of what a training goes on from, unless those of another pass were better."""
    best = Tagger.train(CORPUS, epochs=30, holdout=0.3, patience=2)
    last = Tagger.train(CORPUS, epochs=4, average=False)
    for one, final, twice in ((tagger, False, False), (tagger, True, True), (best, False, True), (last, False, False)):
        assert ("weights.keys" in Forged(content(one, tmp_path, final=final)).header) == twice
        assert Tagger.load(tmp_path / "content.tagger").weights.equals(one.weights)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, tagger: Tagger) -> None:
    assert content(Tagger.train(CORPUS, epochs=4), tmp_path) == content(tagger, tmp_path)


def test_other_files_are_refused(tmp_path: Path, tagger: Tagger) -> None:
    from markone import load, train

    train(["free money", "see you soon"], target=["spam", "ham"]).save(tmp_path / "mail.model")
    with pytest.raises(DataError, match="it contains 'classifier', not a tagger"):
        Tagger.load(tmp_path / "mail.model")
    tagger.save(tmp_path / "x.tagger")
    with pytest.raises(DataError, match="'tagger' instead of a classifier; markone.Tagger.load opens it"):
        load(tmp_path / "x.tagger")
    with pytest.raises(DataError, match="there is no model"):
        Tagger.load(tmp_path / "nothing")


SMALL = Tagger.train(CHUNKS, inputs=["pos"], templates=["lower[0]", "known[0]", "pos[0]"], epochs=2)


@given(st.data())
def test_damaged_files_are_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    path = folder / "x.tagger"
    path.write_bytes(data.draw(damaged(content(SMALL, folder))))
    try:
        found = Tagger.load(path)
    except DataError:
        return
    assert content(found, folder) == content(SMALL, folder)


def test_weights_whose_sums_would_overflow_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tagger"
    SMALL.save(path, final=True)
    forged = Forged(path.read_bytes())
    [name] = [name for name in forged.header if name.endswith("weights.weights")]
    weights = forged.array(name)
    weights[:] = np.full(len(weights) // 4, -3e38, np.float32).tobytes()
    path.write_bytes(forged.assembled())
    with pytest.raises(DataError, match="its weights are impossibly large"):
        Tagger.load(path)


@given(st.data())
def test_forged_files_are_refused_or_harmless(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever stands in it under checksums that are right: a DataError, or a tagger that works."""
    folder = tmp_path_factory.mktemp("forged")
    forged = Forged(content(SMALL, folder))
    for _ in range(data.draw(st.integers(1, 2))):
        forge(data.draw, forged)
    path = folder / "x.tagger"
    path.write_bytes(forged.assembled())
    try:
        found = Tagger.load(path)
    except DataError:
        return
    assert len(found.tag([{**CHUNKS[0], **dict.fromkeys(found.settings.inputs, CHUNKS[0]["pos"])}])[0]) == 5
    found.strongest(found.tags[0])
    try:
        Tagger.train(CHUNKS, inputs=["pos"], templates=["lower[0]", "known[0]", "pos[0]"], epochs=3, resume=path)
    except (DataError, SettingsError):
        return


# ---- going on


class Stopped(Exception):  # noqa: N818 - it is none
    pass


@pytest.mark.parametrize("decode", ["viterbi", "greedy", "beam"])
@pytest.mark.parametrize(
    "more", [{}, {"holdout": 0.3, "patience": 3}, {"rule": "perceptron", "average": False}], ids=str
)
def test_resuming_is_as_if_nothing_had_happened(decode: Any, more: dict[str, Any], tmp_path: Path) -> None:
    options = {"epochs": 6, "decode": decode, **more}
    whole = content(Tagger.train(CORPUS, **options), tmp_path)
    kept = tmp_path / "kept.tagger"

    def stop(result: Pass) -> None:
        if result.epoch == 3:
            raise Stopped

    with pytest.raises(Stopped):
        Tagger.train(CORPUS, **options, checkpoint=kept, callback=stop)
    assert len(Tagger.load(kept).history) == 2 and Tagger.load(kept).history.stopped == "interrupted"
    again = Tagger.train(CORPUS, **options, checkpoint=kept, resume=True)
    assert content(again, tmp_path) == whole == kept.read_bytes()


def test_interrupted_within_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markone.structured.sentence_training.BETWEEN_LOOKS", 7)
    whole = content(Tagger.train(CORPUS, epochs=3), tmp_path)
    kept = tmp_path / "kept.tagger"

    class Impatient:
        """Presses Ctrl-C in the second pass."""

        def __init__(self) -> None:
            self.rows = 0

        def read(self, rows: int, share: float | None = None) -> None: ...
        def start(self, rows: int, epochs: int) -> None: ...
        def finish_pass(self, result: Pass) -> None: ...
        def close(self) -> None: ...
        def advance(self, rows: int) -> None:
            self.rows += rows
            if 80 <= self.rows < 80 + rows:
                signal.raise_signal(signal.SIGINT)

    stopped = Tagger.train(CORPUS, epochs=3, checkpoint=kept, progress=Impatient())
    assert stopped.history.stopped == "interrupted" and len(stopped.history) == 1
    assert stopped.tag(["the", "dog"])
    resumed = Tagger.train(CORPUS, epochs=3, checkpoint=Checkpoints(kept, minutes=1e-9), resume=True)
    assert content(resumed, tmp_path) == whole


def test_more_passes_than_before(tmp_path: Path) -> None:
    path = tmp_path / "x.tagger"
    Tagger.train(CORPUS, epochs=2).save(path)
    assert content(Tagger.train(CORPUS, epochs=5, resume=path), tmp_path) == content(
        Tagger.train(CORPUS, epochs=5), tmp_path
    )


def test_resuming_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tagger"
    first = Tagger.train(CORPUS, epochs=2)
    first.save(path)
    with pytest.raises(DataError, match="not those of the interrupted training"):
        Tagger.train(corpus(60, 1), epochs=3, resume=path)
    with pytest.raises(SettingsError, match="rule is 'perceptron' now and was 'mira'"):
        Tagger.train(CORPUS, rule="perceptron", resume=path)
    first.save(path, final=True)
    with pytest.raises(DataError, match="final model"):
        Tagger.train(CORPUS, resume=path)


# ---- real data


def real(name: str) -> Path:
    if not (DATA / name).exists():
        pytest.skip(f"there is no {name} in MARKONE_DATA")
    return DATA / name


@pytest.mark.slow
@pytest.mark.parametrize(("column", "least"), [("upos", 0.953), ("xpos", 0.948)])
def test_parts_of_speech(column: str, least: float, tmp_path: Path) -> None:
    tagger = Tagger.train(real("ewt/en_ewt-ud-train.conllu.gz"), column=column)
    assert tagger.evaluate(read_sentences(real("ewt/en_ewt-ud-test.conllu.gz"))).accuracy >= least
    tagger.save(tmp_path / "x.tagger", final=True)
    assert (tmp_path / "x.tagger").stat().st_size < 30e6


@pytest.mark.slow
def test_phrases() -> None:
    chunker = Tagger.train(real("conll2000/train.txt.gz"))
    f1 = chunker.evaluate(real("conll2000/test.txt.gz")).f1
    assert f1 is not None and f1 >= 0.940
