"""Parsers: what they learn, keep, say and refuse."""

from __future__ import annotations

import random
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forging
import markone
from made_treebanks import random_trees
from markone import DataError, Parser, SettingsError
from markone.learning.progress import Silence
from markone.model.history import Pass
from markone.structured.sentences import Sentences

NOUNS, VERBS, NAMES = ["dog", "cat", "bird", "tree"], ["sees", "likes", "knows"], ["Ann", "Bob"]


def sentence(chance: random.Random) -> dict[str, Any]:
    """A noun phrase or name, a verb, perhaps another noun phrase, perhaps a full stop."""
    form: list[str] = []
    upos: list[str] = []
    arcs: list[tuple[int, str]] = []

    def phrase(label: str, verb: int) -> None:
        if chance.random() < 0.5:
            form.append(chance.choice(NAMES))
            upos.append("PROPN")
            arcs.append((verb, label))
            return
        start = len(form)
        size = chance.choice([1, 2])
        form.extend([*["the", "big"][:size], chance.choice(NOUNS)])
        upos.extend([*["DET", "ADJ"][:size], "NOUN"])
        arcs.extend([(start + size, label) for label in ["det", "amod"][:size]] + [(verb, label)])

    size = chance.randint(0, 10)
    phrase("nsubj", -1)
    verb = len(form)
    arcs[:] = [(verb if head == -1 else head, label) for head, label in arcs]
    form.append(chance.choice(VERBS))
    upos.append("VERB")
    arcs.append((-1, "root"))
    if size > 3:
        phrase("obj", verb)
    if size > 6:
        form.append(".")
        upos.append("PUNCT")
        arcs.append((verb, "punct"))
    return {
        "form": form,
        "upos": upos,
        "head": [head + 1 for head, _ in arcs],
        "deprel": [label for _, label in arcs],
    }


def treebank(count: int, seed: int = 0) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [sentence(chance) for _ in range(count)]


def noisy(count: int) -> list[dict[str, Any]]:
    """The same, but names are objects in two ways, and nobody can know in which."""
    made = treebank(count)
    for number, one in enumerate(made):
        one["deprel"] = ["iobj" if label == "obj" and number % 2 else label for label in one["deprel"]]
        if one["upos"][-1] == "PUNCT" and number % 3:
            one["head"][-1] = 1 + one["upos"].index("NOUN") if "NOUN" in one["upos"] else one["head"][-1]
    return made


CROSSING = {
    "form": ["a", "hearing", "is", "scheduled", "on", "it", "today"],
    "upos": ["DET", "NOUN", "AUX", "VERB", "ADP", "PRON", "NOUN"],
    "head": [2, 4, 4, 0, 6, 2, 4],
    "deprel": ["det", "nsubj", "aux", "root", "case", "nmod", "obl"],
}
MODES = [{"mode": "fast"}, {"mode": "accurate", "beam": 4}, {"mode": "exact"}]
modes = pytest.mark.parametrize("how", MODES, ids=lambda how: str(how["mode"]))


def content(parser: Parser, folder: Path) -> bytes:
    path = folder / "some.parser"
    parser.save(path)
    return path.read_bytes()


# ---- learning and parsing


@modes
def test_it_parses_what_it_has_not_seen(how: dict[str, Any]) -> None:
    parser = Parser.train(treebank(60), epochs=6, **how)
    score = parser.evaluate(treebank(30, seed=1))
    assert score.las > 0.95
    first = treebank(1, seed=2)[0]
    tree = parser.parse([{"form": first["form"], "upos": first["upos"]}])[0]
    assert (tree.heads, tree.labels) == (first["head"], first["deprel"])
    pairs = list(zip(first["form"], first["upos"], strict=True))
    assert parser.parse([pairs]) == [tree]
    first, last = parser.history[0], parser.history[-1]
    assert (parser.history.stopped == "converged") == (last.updates == 0)
    assert first.updates > last.updates and first.mistakes is not None and first.mistakes > 0


@modes
def test_odd_sentences_have_trees_too(how: dict[str, Any]) -> None:
    parser = Parser.train(treebank(30), epochs=3, **how)
    assert parser.parse([]) == []
    words = [[], ["dog"], ["Zyzzyva", "ünseen", "\ud800", ""], ["the"] * 70]
    trees = parser.parse([{"form": one, "upos": ["NOUN"] * len(one)} for one in words])
    assert [len(tree.heads) for tree in trees] == [0, 1, 4, 70]
    for tree in trees[1:]:
        assert tree.heads.count(0) == 1
        roots = [label for head, label in zip(tree.heads, tree.labels, strict=True) if head == 0]
        assert roots == ["root"] and tree.labels.count("root") == 1
    assert trees[1] == ([0], ["root"])
    heads, labels = parser.parse_columns(Sentences.of([{"form": ["Ann", "sees"], "upos": ["PROPN", "VERB"]}]))
    assert heads.tolist() == [2, 0] and labels.tolist() == ["nsubj", "root"]


def test_sentences_may_be_too_long_for_an_exact_search() -> None:
    long = {"form": ["a"] * 1001, "upos": ["X"] * 1001, "head": [*range(2, 1002), 0], "deprel": ["x"] * 1000 + ["root"]}
    with pytest.raises(DataError, match="too long"):
        Parser.train(treebank(3), mode="exact", epochs=1).parse([long])
    with pytest.raises(DataError, match="too long"):
        Parser.train([long], mode="exact")
    assert Parser.train([long], mode="fast", epochs=2).parse([long])[0].heads.count(0) == 1


def test_one_word_is_enough_to_learn_from() -> None:
    one = {"form": ["go"], "upos": ["VERB"], "head": [0], "deprel": ["root"]}
    parser = Parser.train([one, {name: [] for name in one}], mode="fast")
    assert parser.history.stopped == "converged"
    assert parser.parse([{"form": ["go", "on"], "upos": ["VERB", "ADV"]}])[0].heads.count(0) == 1


def parts(parser: Parser) -> bytes:
    """All weights."""
    return b"".join(array.tobytes() for array in parser.weights.save().arrays.values())


def test_every_setting_changes_something() -> None:
    sentences = [{**one, "other": ["X"] * len(one["form"])} for one in [*noisy(40), CROSSING]]
    usual = parts(Parser.train(sentences, mode="fast", epochs=2))
    for change in ({"epochs": 3}, {"seed": 1}, {"tags": "other"}, {"crossing": "skip"}, {"holdout": 0.2}):
        given: dict[str, Any] = {"mode": "fast", "epochs": 2, **change}
        assert parts(Parser.train(sentences, **given)) != usual
    for change in ({"round": 1}, {"features": 100}):
        assert parts(Parser.train(sentences, mode="fast", epochs=2, **change)) != usual
    assert len({parts(Parser.train(sentences, mode="accurate", epochs=2, beam=beam)) for beam in (2, 8)}) == 2
    assert len({parts(Parser.train(sentences, mode="exact", epochs=2, C=C)) for C in (0.001, 0.1)}) == 2


def test_trees_that_cross_are_lifted_or_skipped() -> None:
    lifted = Parser.train([CROSSING] * 3, mode="fast", epochs=8)
    assert lifted.crossing == 3 and lifted.history.rows == 3
    tree = lifted.parse([CROSSING])[0]
    assert tree.heads == [2, 4, 4, 0, 6, 4, 4] and tree.labels == CROSSING["deprel"]
    skipped = Parser.train([CROSSING, *treebank(5)], mode="fast", crossing="skip")
    assert skipped.crossing == 1 and skipped.history.rows == 5
    assert "nmod" not in skipped.labels
    with pytest.raises(DataError, match="no training data"):
        Parser.train([CROSSING], crossing="skip")


# ---- files


@modes
def test_the_same_seed_gives_the_same_bytes_and_a_file_the_same_trees(how: dict[str, Any], tmp_path: Path) -> None:
    parser, again = (Parser.train(treebank(30), epochs=3, seed=7, **how) for _ in range(2))
    first = content(parser, tmp_path)
    assert content(again, tmp_path) == first
    loaded = Parser.load(tmp_path / "some.parser")
    assert content(loaded, tmp_path) == first
    more = [{"form": one["form"], "upos": one["upos"]} for one in treebank(40, seed=3)]
    assert loaded.parse(more) == parser.parse(more)
    assert loaded.labels == parser.labels and loaded.settings == parser.settings
    assert repr(loaded) == repr(parser)
    with pytest.raises(DataError, match=r"markone\.Parser\.load opens it"):
        markone.load(tmp_path / "some.parser")
    markone.train(["free money", "see you soon"], target=["spam", "ham"]).save(tmp_path / "other")
    with pytest.raises(DataError, match="contains 'classifier', not a parser"):
        Parser.load(tmp_path / "other")


@modes
@pytest.mark.parametrize("between", [3, 1000], ids=["within a pass", "after a pass"])
def test_a_training_that_was_interrupted_ends_as_if_it_had_not_been(
    how: dict[str, Any], between: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markone.structured.sentence_training.BETWEEN_LOOKS", between)
    settings: dict[str, Any] = {"epochs": 4, "round": 3, "holdout": 0.2, "patience": 4, **how}
    whole = Parser.train(noisy(40), **settings)
    kept = tmp_path / "kept"

    def interrupt(result: Pass) -> None:
        if result.epoch == 2:
            signal.raise_signal(signal.SIGINT)

    stopped = Parser.train(noisy(40), checkpoint=kept, callback=interrupt, **settings)
    assert stopped.history.stopped == "interrupted" and len(stopped.history) == 2
    resumed = Parser.train(noisy(40), checkpoint=kept, resume=True, **settings)
    assert content(resumed, tmp_path) == content(whole, tmp_path)
    assert len(resumed.history) == 4


@modes
def test_a_training_of_many_features_is_taken_up(how: dict[str, Any], tmp_path: Path) -> None:
    """Tables that hold so many keys have grown while they were filled."""
    sentences, kept = random_trees(400 if how["mode"] == "fast" else 200, 1), tmp_path / "kept"
    settings: dict[str, Any] = {"epochs": 3, **how, **({"beam": 2} if how["mode"] == "accurate" else {})}

    def interrupt(result: Pass) -> None:
        if result.epoch == 2:
            signal.raise_signal(signal.SIGINT)

    Parser.train(sentences, checkpoint=kept, callback=interrupt, **settings)
    table = "resume.state.arc_keys" if how["mode"] == "exact" else "resume.state.move_keys"
    assert forging.Forged(kept.read_bytes()).told["tensors"][table]["shape"][0] > 100_000
    resumed = Parser.train(sentences, resume=kept, **settings)
    assert content(resumed, tmp_path) == content(Parser.train(sentences, **settings), tmp_path)


def test_more_passes_can_be_made_later(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    Parser.train(noisy(40), mode="fast", epochs=2, checkpoint=kept)
    more = Parser.train(noisy(40), mode="fast", epochs=4, checkpoint=kept, resume=True)
    assert content(more, tmp_path) == content(Parser.train(noisy(40), mode="fast", epochs=4), tmp_path)
    assert len(more.history) == 4


def test_a_training_is_taken_up_only_with_the_same_sentences_and_settings(tmp_path: Path) -> None:
    kept, final = tmp_path / "kept", tmp_path / "final"
    given: dict[str, Any] = {"mode": "fast", "epochs": 2}
    Parser.train(treebank(20), checkpoint=kept, **given).save(final)
    with pytest.raises(DataError, match="not those of the interrupted training"):
        Parser.train(treebank(20, seed=1), resume=kept, **given)
    with pytest.raises(SettingsError, match="seed is 1 now and was 0"):
        Parser.train(treebank(20), resume=kept, seed=1, **given)
    with pytest.raises(DataError, match="without its training state"):
        Parser.train(treebank(20), resume=final, **given)
    with pytest.raises(SettingsError, match="resume needs the file"):
        Parser.train(treebank(20), resume=True, **given)
    Parser.load(kept).save(final, final=True)
    assert Parser.load(final).resume is None and final.stat().st_size < kept.stat().st_size


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("parser") / "kept"
    Parser.train(noisy(6), mode="accurate", beam=2, epochs=1, checkpoint=path)
    return path.read_bytes()


@given(st.data())
def test_a_damaged_file_is_refused(whole_file: bytes, tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.parser"
    path.write_bytes(data.draw(forging.damaged(whole_file)))
    if path.read_bytes() != whole_file:
        with pytest.raises(DataError):
            Parser.load(path)


@settings(max_examples=2 * settings().max_examples)
@given(st.data())
def test_a_forged_file_is_refused_or_harmless(
    whole_file: bytes, tmp_path_factory: pytest.TempPathFactory, data: Any
) -> None:
    """Whatever numbers somebody writes into a file under right checksums, it is a parser, or an error says what not."""
    forged = forging.Forged(whole_file)
    names = sorted(name for name in forged.header if name != "__metadata__")
    if data.draw(st.booleans()):
        facts = forging.places(forged.told["facts"])
        forging.put(forged.told["facts"], data.draw(st.sampled_from(facts)), data.draw(forging.ODD))
    else:
        name = data.draw(st.sampled_from(names))
        if data.draw(st.booleans()):
            forged.resize(name, data.draw(st.integers(-3, 3)))
        array = forged.array(name)
        if len(array):
            at = data.draw(st.integers(0, len(array) - 1))
            array[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "forged.parser"
    path.write_bytes(forged.assembled())
    given: dict[str, Any] = {"mode": "accurate", "beam": 2, "epochs": 2}
    try:
        parser = Parser.load(path)
        assert len(parser.parse(treebank(3))) == 3
        Parser.train(noisy(6), resume=path, **given)
    except (DataError, SettingsError):
        pass


# ---- why


@modes
def test_an_explanation_adds_up_and_names_what_was_seen(how: dict[str, Any]) -> None:
    parser = Parser.train(treebank(60), epochs=6, **how)
    words = {"form": ["the", "dog", "sees", "Ann", "."], "upos": ["DET", "NOUN", "VERB", "PROPN", "PUNCT"]}
    tree = parser.parse([words])[0]
    for i, head in enumerate(tree.heads):
        told = parser.explain(words, i)
        assert told.word == words["form"][i]
        assert told.head == ("ROOT" if head == 0 else words["form"][head - 1])
        assert told.label.chosen == tree.labels[i]
        if how["mode"] == "exact":
            assert told.arc.chosen == told.head
        else:
            assert told.arc.chosen == ("left" if head == 0 or head > i else "right")
        for one in (told.arc, told.label):
            assert one.against is None or one.margin == pytest.approx(sum(term.difference for term in one.terms))
            if how["mode"] == "fast" or one is told.label:
                assert one.margin >= 0
    dog = parser.explain(words, 1)
    features = [term.feature for term in dog.arc.terms]
    exact = how["mode"] == "exact"
    assert ("c side=left, h tag=VERB, c tag=NOUN" if exact else "s0 tag=NOUN, b0 tag=VERB, b0 distance=1") in features
    assert any(("c word=dog" if exact else "s0 word=dog") in name for name in features)
    shapes = [term.feature for term in (*dog.arc.terms, *dog.label.terms) if "shape" in term.feature]
    assert all("shape=xxx" in name or "shape=Xxx" in name for name in shapes)
    stop = parser.explain(words, 4)
    assert exact or any("h left labels=nsubj" in term.feature for term in stop.label.terms)
    assert "'dog' depends on 'sees' as 'nsubj'" in str(dog)
    assert dog.as_dict()["label"]["chosen"] == "nsubj"
    with pytest.raises(SettingsError, match="from 0"):
        parser.explain(words, 5)
    with pytest.raises(DataError, match="one sentence"):
        parser.explain([words, words], 0)


# ---- what is refused


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"mode": "quick"}, "mode"),
        ({"mode": "fast", "beam": 4}, "beam is only for"),
        ({"beam": 1}, "beam must be"),
        ({"epochs": 0}, "epochs must be"),
        ({"seed": -1}, "seed must be"),
        ({"holdout": 1.0}, "holdout must be"),
        ({"patience": 2}, "set holdout"),
        ({"crossing": "cut"}, "crossing"),
        ({"round": 0}, "round must be"),
        ({"features": 0}, "features must be"),
        ({"C": 1.0}, "C is only for"),
        ({"mode": "exact", "C": 0.0}, "C must be"),
        ({"mode": "exact", "beam": 4}, "beam is only for"),
        ({"tags": "form"}, "tags must be"),
    ],
)
def test_settings_that_mean_nothing_are_refused(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        Parser.train(treebank(3), **change)


@pytest.mark.parametrize(
    ("heads", "problem"),
    [([2, 1, 0], "circle"), ([0, 0, 1], "two roots"), ([9, 0, 2], "head is word 9"), ([2, -1, 2], "no head")],
)
def test_heads_that_are_no_tree_are_refused(heads: list[int], problem: str) -> None:
    one = {"form": ["a", "b", "c"], "upos": ["X"] * 3, "head": heads, "deprel": ["x"] * 3}
    with pytest.raises(DataError, match=f"sentence 4.*{problem}"):
        Parser.train([*treebank(3), one])


def test_sentences_that_lack_something_are_refused() -> None:
    with pytest.raises(DataError, match="no heads"):
        Parser.train([["no", "trees"]])
    with pytest.raises(DataError, match=r"'xpos'.*upos"):
        Parser.train(treebank(3), tags="xpos")
    parser = Parser.train(treebank(3), mode="fast")
    with pytest.raises(DataError, match="'upos'"):
        parser.parse([["no", "tags"]])
    with pytest.raises(DataError, match="no training data"):
        Parser.train([{"form": [], "upos": [], "head": [], "deprel": []}])


def test_words_without_tags_are_refused(tmp_path: Path) -> None:
    sentences = treebank(20)
    parser = Parser.train(sentences, mode="fast", epochs=2)
    for blank in ("_", ""):
        bare = {**sentences[1], "upos": [*sentences[1]["upos"][:-1], blank]}
        size = len(bare["form"])
        for use in (parser.parse, parser.evaluate):
            with pytest.raises(DataError, match=f"sentence 2, word {size}: .* has no upos; .* tag=True"):
                use([sentences[0], bare])
        with pytest.raises(DataError, match=f"sentence 2, word {size}: .* has no upos; .* with tags="):
            Parser.train([sentences[0], bare])
    tags = Parser.train(sentences, mode="fast", epochs=1, tag=True)
    assert len(tags.parse([{"form": ["dog"], "upos": ["_"]}])[0].heads) == 1


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markone.structured.sentence_training.BETWEEN_LOOKS", 3)
    told: list[tuple[str, int]] = []

    class Listener(Silence):
        def start(self, rows: int, epochs: int) -> None:
            told.append(("start", rows * epochs))

        def advance(self, rows: int) -> None:
            told.append(("advance", rows))

        def finish_pass(self, result: Pass) -> None:
            told.append(("pass", result.epoch))

        def close(self) -> None:
            told.append(("close", 0))

    Parser.train(noisy(10), mode="fast", epochs=2, progress=Listener())
    assert told[0] == ("start", 20) and told[-1] == ("close", 0)
    assert sum(rows for what, rows in told if what == "advance") == 20
    assert [one for one in told if one[0] == "pass"] == [("pass", 1), ("pass", 2)]


def test_held_out_sentences_tell_when_to_stop() -> None:
    told: list[Pass] = []
    parser = Parser.train(
        noisy(50), mode="fast", epochs=30, holdout=0.3, patience=2, callback=lambda one: told.append(one)
    )
    history = parser.history
    assert history.stopped == "held-out" and len(history) < 30
    assert history.held_out == 15 and history.rows == 35
    best = max(history, key=lambda one: (one.holdout or 0, -one.epoch))
    assert history.best_epoch == best.epoch and told == history.passes
    assert np.isfinite([one.norm2 for one in history]).all()
    assert markone.Parser is Parser
