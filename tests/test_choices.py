"""What is chosen from the first texts: n-grams within words, odds of rare n-grams; and the tokens of all scripts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from forging import Forged
from markone import Features, SettingsError, reference
from markone.features.choices import ENOUGH, RARELY, UNKNOWN, chosen_as, unknown_words
from markone.features.map import FeatureMap
from markone.features.spec import BEFORE, SUBWORDS, Text

SYLLABLES = ["ba", "do", "ki", "lu", "me", "ra", "so", "ti", "vu", "zan"]
ENDINGS = {"female": ["a", "ella", "ine"], "male": ["o", "ard", "us"]}


def names(count: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Distinct made names, whose class can be told from their endings only."""
    draw = random.Random(seed)
    made: dict[str, str] = {}
    while len(made) < count:
        label = draw.choice([*ENDINGS])
        name = "".join(draw.choices(SYLLABLES, k=3)) + draw.choice(ENDINGS[label])
        made.setdefault(name.title(), label)
    return [*made], [*made.values()]


def sentences(count: int, words: int = 8) -> tuple[list[str], list[str]]:
    """Texts of few words, which repeat."""
    draw = random.Random(1)
    texts = [" ".join(draw.choices(SYLLABLES, k=words)) for _ in range(count)]
    return texts, ["yes" if "ba" in text.split() else "no" for text in texts]


# ---- the choice


@given(st.lists(st.lists(st.sampled_from("abcdefgh")).map(" ".join), min_size=ENOUGH, max_size=ENOUGH + 20))
def test_the_share_of_unknown_words_is_that_of_every_second_text(texts: list[str]) -> None:
    known = {word for text in texts[::2] for word in reference.tokenize(text)}
    asked = [word for text in texts[1::2] for word in reference.tokenize(text)]
    expected = sum(word not in known for word in asked) / len(asked) if asked else 0.0
    halves = [pa.array(texts[:7]), pa.array(texts[7:])]
    assert unknown_words(Text(), halves) == pytest.approx(expected)
    assert unknown_words(Text(), [pa.array(texts[: ENOUGH - 1])]) is None


def test_single_words_get_their_parts_and_are_recognised_by_them() -> None:
    texts, labels = names(600)
    new, expected = names(900)
    new, expected = new[600:], expected[600:]
    model = markone.train(texts, target=labels)
    assert model.features.spec.text.subwords == SUBWORDS and model.features.spec.text.min_count == 1
    assert "part:ella " in model.features.names()
    assert np.mean(model.predict(new) == np.array(expected)) > 0.95
    whole = markone.train(texts, target=labels, features={"text": {"subwords": []}})
    assert np.mean(whole.predict(new) == np.array(expected)) < 0.7


@pytest.mark.parametrize(
    ("data", "settings", "chosen"),
    [
        (names(300), {}, (SUBWORDS, 1)),
        (names(300), {"min_count": 2}, (SUBWORDS, 2)),
        (names(300), {"subwords": []}, (None, None)),
        (names(300), {"subwords": [3, 3]}, ((3, 3), None)),
        (names(ENOUGH - 1), {}, (None, None)),
        (sentences(300), {}, (None, None)),
        # What a user says of n-grams is all that there is.
        (names(300), {"words": [1, 1]}, ("auto", None)),
        (names(300), {"characters": [2, 2]}, ("auto", None)),
        (names(300), {"weight": "idf"}, ("auto", None)),
        (names(300), {"hash_bits": 8}, ("auto", None)),
    ],
)
def test_what_is_chosen(data: tuple[list[str], list[str]], settings: dict[str, Any], chosen: Any) -> None:
    model = markone.train(data[0], target=data[1], features={"text": settings})
    text = model.features.spec.text
    assert (text.subwords, text.min_count) == chosen
    has_parts = any(name.startswith("part:") for name in model.features.names())
    assert has_parts == isinstance(text.subwords, tuple)


@pytest.mark.parametrize(
    ("settings", "alone"),
    [
        ({}, True),
        ({"min_count": 2}, True),
        ({"discount": 0}, False),
        ({"smoothing": 0.1}, False),
        ({"negation": True}, False),
        ({"lexicons": {"good": ["ba"]}}, False),
    ],
)
def test_where_almost_all_words_are_unknown_only_their_parts_are_features(
    settings: dict[str, Any], alone: bool
) -> None:
    texts, labels = names(300)
    model = markone.train(texts, target=labels, features={"text": settings})
    text = model.features.spec.text
    assert (text.words, text.weight) == ((None, "idf") if alone else ((1, 3), "odds"))
    assert text.subwords == SUBWORDS
    assert all(name.startswith("part:") for name in model.features.names()) == alone
    again = markone.train(texts, target=labels, from_model=model, epochs=1)
    assert again.features.spec == model.features.spec


def test_some_unknown_words_are_enough_for_parts_but_not_for_single_examples() -> None:
    texts, labels = sentences(400)
    odd, _ = names(400)
    assert unknown_words(Text(), [pa.array(texts)]) == 0
    more = [f"{text} {word}" for text, word in zip(texts, odd, strict=True)]
    share = unknown_words(Text(), [pa.array(more)])
    assert share is not None and UNKNOWN < share < RARELY
    model = markone.train(more, target=labels)
    assert model.features.spec.text.subwords == SUBWORDS and model.features.spec.text.min_count is None


def test_each_column_has_its_own_choice() -> None:
    words, labels = names(300)
    texts, _ = sentences(300)
    source = markone.read(
        {"name": words, "text": texts, "y": labels}, target="y", kinds=dict.fromkeys(("name",), "text")
    )
    spec = markone.train(source).features.spec
    assert spec.columns["name"] == {"words": None, "subwords": SUBWORDS, "weight": "idf", "min_count": 1}
    assert spec.columns["text"] == {"subwords": None, "min_count": None}


@pytest.mark.parametrize("threads", [1, 3])
def test_the_choice_is_that_of_the_first_rows_however_they_are_batched(tmp_path: Path, threads: int) -> None:
    texts, labels = names(300)
    path = tmp_path / "names.csv"
    path.write_text("name,label\n" + "".join(f"{a},{b}\n" for a, b in zip(texts, labels, strict=True)))
    whole = markone.train(texts, target=labels, threads=threads)
    kinds = {"name": "text"}
    parts = markone.train(markone.read(path, target="label", kinds=kinds), threads=threads)
    assert parts.features.spec.text == whole.features.spec.text
    assert parts.features.names() == whole.features.names()


def test_a_model_keeps_its_choice(tmp_path: Path) -> None:
    texts, labels = names(300)
    few, few_labels = sentences(300)
    path = tmp_path / "model"
    model = markone.train(texts, target=labels, epochs=2)
    model.save(path)
    loaded = markone.load(path)
    assert loaded.features.spec == model.features.spec
    assert loaded.scores(texts[:9]).tolist() == model.scores(texts[:9]).tolist()
    # It is not chosen again for other texts.
    more = markone.train(few, target=few_labels, from_model=loaded)
    assert more.features.spec == model.features.spec
    # The settings may be said again.
    again = markone.train(texts, target=labels, resume=path, features={"text": {}}, epochs=4)
    assert again.weights().keys() == markone.train(texts, target=labels, epochs=4).weights().keys()
    with pytest.raises(SettingsError, match="features are already"):
        markone.train(texts, target=labels, resume=path, features={"text": {"signs": False}}, epochs=4)
    spec = chosen_as(Features(), model.features.columns, model.features.spec)
    assert spec == model.features.spec


def test_subwords_are_explained_within_their_words() -> None:
    texts, labels = names(300)
    model = markone.train([f"dear {name}!" for name in texts], target=labels)
    explanation = model.explain("dear Bakiluella, hello")
    marks = {piece.text: piece.mark for piece in explanation.texts[0].pieces if piece.mark is not None}
    assert max(marks, key=lambda word: abs(marks[word])) == "Bakiluella"
    assert "".join(piece.text for piece in explanation.texts[0].pieces) == "dear Bakiluella, hello"


def test_bad_subwords_are_refused() -> None:
    for bad in ("all", [0, 3], [3, 9], [4, 3]):
        with pytest.raises(SettingsError, match=r"text\.subwords must be 'auto', or \[shortest, longest\]"):
            Features(text={"subwords": bad})
    with pytest.raises(SettingsError, match=r"text\.shrinkage is for the weight 'odds'"):
        Features(text={"shrinkage": 1, "weight": "idf"})


# ---- odds of rare n-grams


def weights_of(settings: dict[str, Any], rows: int) -> dict[str, float]:
    texts = ["common rare"] + ["common"] * (rows // 2 - 1) + ["other"] * (rows - rows // 2)
    source = markone.read(texts, target=["a"] * (rows // 2) + ["b"] * (rows - rows // 2))
    features = FeatureMap(Features(text={"words": [1, 1], **settings}, unit=False), source.columns).fit(source)
    return {word: features.named(word).get(word, 0.0) for word in ("common", "rare")}


def test_odds_of_rare_ngrams_shrink() -> None:
    plain, shrunk = (weights_of({"shrinkage": shrinkage}, 20) for shrinkage in (0, 2))
    assert shrunk["rare"] == pytest.approx(plain["rare"] / 3)
    assert shrunk["common"] == pytest.approx(plain["common"] * 10 / 12)


def test_odds_shrink_by_default_only_where_single_examples_count() -> None:
    for rows, settings, shrinkage in ((20, {"min_count": 1}, 0), (ENOUGH, {"min_count": 1}, 0.5), (ENOUGH, {}, 0)):
        assert weights_of(settings, rows) == weights_of({**settings, "shrinkage": shrinkage}, rows)
    assert weights_of({"min_count": 1}, ENOUGH) != weights_of({}, ENOUGH)


# ---- scripts and emoji


def test_scripts_without_spaces_become_characters() -> None:
    texts = ["房间很好，iPhone13也好", "房间不好"]
    model = markone.train(texts, target=["good", "bad"], features={"text": {"words": [1, 2]}})
    assert {"很 好", "iphone13", "也", "不 好"} <= {*model.features.names()}
    whole = markone.train(texts, target=["good", "bad"], features={"text": {"unspaced": "words"}})
    assert "房间不好" in whole.features.names() and "不" not in whole.features.names()


def test_an_emoji_is_one_token() -> None:
    texts = ["👍🏽 👩\u200d🔬 🇩🇪 1\ufe0f\u20e3 ❤\ufe0f", "👎"]
    one, many = (
        markone.train(texts, target=["a", "b"], features={"text": {"words": [1, 1], "emoji": emoji}}).features.names()
        for emoji in ("whole", "parts")
    )
    assert {*one} == {"👍🏽", "👩\u200d🔬", "🇩🇪", "1\u20e3", "❤", "👎"}
    assert {"👍", "🏽", "🇩", "🇪", "\ufe0f"} <= {*many}


def test_marks_are_on_the_right_characters() -> None:
    texts = ["房间很好 👍🏽", "房间不好 👎🏽"] * 2
    model = markone.train(texts, target=["good", "bad"] * 2)
    pieces = model.explain("Hotel 很好👍🏽吗").texts[0].pieces
    marks = {piece.text: piece.mark for piece in pieces if piece.mark}
    assert [*marks] == ["很", "好", "👍🏽"] and "".join(piece.text for piece in pieces) == "Hotel 很好👍🏽吗"
    assert marks["很"] * marks["👍🏽"] > 0


def test_files_from_before_these_settings_split_texts_as_then(tmp_path: Path) -> None:
    texts = ["房间很好 👍🏽 free", "房间不好 👎🏽 money", "很好 1\ufe0f\u20e3", "不好 ❤\ufe0f"]
    then = {**BEFORE, "words": [1, 2]}
    model = markone.train(texts, target=["a", "b", "a", "b"], features={"text": then})
    path = tmp_path / "old"
    model.save(path)
    file = Forged(path.read_bytes())
    for name in BEFORE:
        del file.told["facts"]["features"]["spec"]["text"][name]
    path.write_bytes(file.assembled())
    old = markone.load(path)
    assert old.features.spec == model.features.spec
    asked = ["很好", "房间很好", "👍🏽👎", "1\ufe0f\u20e3"]
    assert old.scores(asked).tolist() == model.scores(asked).tolist()
    assert "房间很好" in old.features.names() and "很" not in old.features.names()
