"""Scores of texts by tables are the scores of rows, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import markone
from levels import check_levels
from markone import _core
from markone.data.blocks import as_rows
from markone.data.source import Batch
from markone.data.strings import Strings
from markone.features.map import FeatureMap
from markone.features.spec import Features
from markone.model import text_scoring
from markone.model.scorer import LinearScorer
from markone.model.text_scoring import TextScoring
from parts import ODD_WORDS, PLAIN_TEXT

WORDS = [
    *ODD_WORDS,
    "not",
    "good",
    "Extraordinarily",
    "extraordinary",
    "Привет",
    "слово",
    "👍🏽",
    "12345678",
    "123456789",
]
texts = st.one_of(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join), st.text())
documents = st.lists(
    st.one_of(texts.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary()), min_size=1, max_size=6
)

lengths = st.tuples(st.integers(1, 3), st.integers(0, 2)).map(lambda pair: [pair[0], pair[0] + pair[1]])


def settings_of(drawn: dict[str, Any]) -> dict[str, Any]:
    if drawn["weight"] != "odds":
        del drawn["discount"]
    if drawn["negation"]:
        drawn["templates"] = [name for name in drawn["templates"] if name != "not"]
    if drawn["words"] is None and drawn["characters"] is None and not drawn["templates"]:
        drawn["words"] = [1, 2]
    return drawn


options = st.fixed_dictionaries(
    {
        "words": st.one_of(st.none(), lengths),
        "characters": st.one_of(st.none(), lengths),
        "case": st.sampled_from(["fold", "keep"]),
        "signs": st.booleans(),
        "negation": st.booleans(),
        "templates": st.sampled_from([[], ["lower"], ["not"], ["lower", "not"]]),
        "value": st.sampled_from(["count", "binary", "log"]),
        "weight": st.sampled_from(["none", "idf", "odds"]),
        "discount": st.sampled_from([0.0, 0.5]),
        "hash_bits": st.sampled_from([None, None, 3, 12]),
    }
).map(settings_of)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables are made for the first text."""
    monkeypatch.setattr(text_scoring, "BYTES_OF_FEATURE", -1)


def fitted(spec: dict[str, Any], columns: dict[str, list[bytes]], classes: int) -> FeatureMap:
    """A map that was fitted on some texts, with labels in turn."""
    count = len(next(iter(columns.values())))
    kinds = tuple(markone.data.source.Column(name, "text") for name in columns)
    features = FeatureMap(Features.of(spec), kinds)
    features.absorb(features.collect(batch_of(columns)), (np.arange(count) % classes).astype(np.int32))
    features.finish()
    features.settle()
    return features


def batch_of(columns: dict[str, list[bytes]]) -> Batch:
    count = len(next(iter(columns.values())))
    return Batch({name: Strings.of(some) for name, some in columns.items()}, count)


def scorer_of(features: FeatureMap, classes: int, seed: int = 0) -> LinearScorer:
    chance = np.random.default_rng(seed)
    columns = 1 if classes == 2 else classes
    matrix = chance.normal(size=(features.width, columns)).astype(np.float32)
    return LinearScorer(_core.Weights32(matrix, chance.normal(size=columns).astype(np.float32), classes), False)


def check_same(features: FeatureMap, scorer: LinearScorer, batch: Batch) -> None:
    tables = TextScoring.of(features, scorer)
    assert tables is not None and tables.nbytes == 0
    found = tables.scores(batch)
    assert found is not None and tables.nbytes > 0
    assert found.tobytes() == scorer.scores(as_rows(features.transform(batch))).tobytes()


@given(documents, documents, options, st.booleans(), st.sampled_from([2, 3, 7]))
def test_scores_of_tables_are_those_of_rows(
    seen: list[bytes], new: list[bytes], how: dict[str, Any], unit: bool, classes: int
) -> None:
    try:
        features = fitted({"text": how, "unit": unit}, {"text": seen}, classes)
    except markone.DataError:  # the texts have no features at all
        return
    check_same(features, scorer_of(features, classes), batch_of({"text": [*new, *seen]}))


@given(st.lists(st.tuples(texts, texts), min_size=2, max_size=5), options, options, st.booleans())
def test_columns_keep_their_own_features(
    pairs: list[tuple[str, str]], first: dict[str, Any], second: dict[str, Any], unit: bool
) -> None:
    encoded = [[text.encode("utf-8", "surrogatepass") for text in column] for column in zip(*pairs, strict=True)]
    columns = dict(zip(("title", "body"), encoded, strict=True))
    spec = {"text": first, "columns": {"body": second}, "unit": unit}
    try:
        features = fitted(spec, columns, 2)
    except (markone.DataError, markone.SettingsError):  # no features at all, or settings that exclude each other
        return
    check_same(features, scorer_of(features, 2), batch_of(columns))


@pytest.mark.parametrize("hash_bits", [None, 10])
@pytest.mark.parametrize("classes", [2, 5])
def test_features_without_weights_can_be_removed(hash_bits: int | None, classes: int) -> None:
    chance = np.random.default_rng(1)
    seen = [" ".join(map(str, chance.integers(0, 40, 30))).encode() for _ in range(50)]
    features = fitted({"text": {"words": [1, 2], "hash_bits": hash_bits}, "unit": False}, {"text": seen}, classes)
    kept = features.prune(chance.random(features.width) < 0.5)
    assert 0 < features.width < len(kept)
    check_same(features, scorer_of(features, classes), batch_of({"text": seen}))


@pytest.mark.parametrize("value", ["count", "binary"])
def test_what_was_seen_in_a_text_is_forgotten_in_the_next(value: str) -> None:
    features = fitted({"text": {"words": [1, 2], "value": value}}, {"text": [b"a b c", b"b a", b"c c"]}, 2)
    check_same(features, scorer_of(features, 2), batch_of({"text": [b"a b a", b"a", b"c c c", b"b c", b"", b"a a"]}))


@pytest.mark.parametrize("value", ["count", "binary", "log"])
def test_huge_texts_and_huge_counts(value: str) -> None:
    """The tables grow with the text; a text of one word repeated has one feature."""
    chance = np.random.default_rng(2)
    seen = [b"a b a", b"c d extraordinarily e"]
    long = " ".join(f"w{number}" for number in chance.integers(0, 10**6, 300_000)).encode()
    features = fitted({"text": {"words": [1, 3], "value": value}}, {"text": [*seen, long]}, 2)
    check_same(features, scorer_of(features, 2), batch_of({"text": [long, b"a " * 500_000, b"", *seen, b"x" * 10**6]}))


def test_words_of_a_file_that_no_text_contains_do_no_harm() -> None:
    """A file may say that a word has the byte 0, which no token has."""
    vocabulary = _core.NgramVocabulary(
        _core.NgramSettings(
            fold=True,
            signs=False,
            negation=False,
            choice=_core.TokenChoice.all,
            shortest=1,
            longest=2,
            characters=False,
        )
    )
    names = [b"a", b"a\0", b"\0", b"b"]
    none = 2**32 - 1
    parts = np.array([none, 0, none, 1, none, 2, none, 3, 1, 3, 0, 3], np.uint32)
    vocabulary.restore(*Strings.of(names).for_core, parts, 6)
    weights = _core.Weights32(np.arange(1, 7, dtype=np.float32).reshape(-1, 1), np.zeros(1, np.float32), 2)
    tables = _core.TextScorer(weights, unit=False)
    assert tables.add(vocabulary, value=_core.CountedAs.count, weights=None, column=0)
    assert tables.scores([Strings.of([b"a", b"b", b"a b", b"a\0b"]).for_core]).ravel().tolist() == [1, 4, 11, 11]


def test_a_factor_beyond_all_use_is_left_to_rows() -> None:
    features = fitted({"text": {"weight": "idf"}}, {"text": [b"a b", b"b c"]}, 2)
    [part] = features.parts
    part.weights = np.full(part.width, 1e38, np.float32)  # type: ignore[attr-defined]
    tables = TextScoring.of(features, scorer_of(features, 2))
    assert tables is not None and tables.scores(batch_of({"text": [b"a"]})) is None


def test_little_memory_is_left_to_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, *_: Any, **__: Any) -> None: ...

        def add(self, *_: Any, **__: Any) -> bool:
            raise MemoryError

    monkeypatch.setattr(_core, "TextScorer", Full)
    features = fitted({"text": {}}, {"text": [b"a b", b"b c"]}, 2)
    tables = TextScoring.of(features, scorer_of(features, 2))
    assert tables is not None
    assert tables.scores(batch_of({"text": [b"a"]})) is None
    assert tables.scores(batch_of({"text": [b"a"]})) is None and tables.nbytes == 0


def test_bad_columns_are_refused() -> None:
    features = fitted({"text": {}}, {"text": [b"a b", b"b c"]}, 2)
    scorer = scorer_of(features, 2)
    tables = _core.TextScorer(scorer.weights, unit=True)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="weights without features"):
        tables.scores([Strings.of([b"a"]).for_core])
    [part] = features.parts
    assert tables.add(part.vocabulary, value=part.value, weights=part.weights, column=1)  # type: ignore[attr-defined]
    some, more = Strings.of([b"a"]).for_core, Strings.of([b"a", b"b"]).for_core
    with pytest.raises(ValueError, match="column is missing"):
        tables.scores([some])
    with pytest.raises(ValueError, match="differ in length"):
        tables.scores([some, more])
    with pytest.raises(ValueError, match="not in order"):
        tables.scores([some, (np.array([1, 0]), some[1])])
    with pytest.raises(ValueError, match="more features than weights"):
        tables.add(part.vocabulary, value=part.value, weights=None, column=0)  # type: ignore[attr-defined]


# ---- models


SPAM = ["free money now", "see you soon", "win money free money", "lunch with you soon"] * 5
LABELS = ["spam", "ham", "spam", "ham"] * 5


@pytest.fixture(params=[{}, {"features": {"text": PLAIN_TEXT}}, {"rule": "logistic"}])
def model(request: pytest.FixtureRequest) -> markone.Model:
    return markone.train(SPAM, target=LABELS, **request.param)


def by_rows(model: markone.Model, some: list[str]) -> NDArray[Any]:
    batches: Iterator[Batch] = model.features.batches(some)
    return np.concatenate([model.scorer.scores(as_rows(model.features.transform(batch))) for batch in batches])[:, 0]


def test_tables_are_made_when_many_texts_are_scored(model: markone.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_scoring, "BYTES_OF_FEATURE", 4)
    fresh = markone.model.model.unpickled(*model.__reduce__()[1])
    [few] = ["money for you"]
    before = fresh.scores(few)
    assert fresh.scoring_bytes == 0
    many = [few] * (4 * fresh.features.width)
    assert fresh.scores(many)[0].tobytes() == before.tobytes()
    assert fresh.scoring_bytes > 16 * fresh.features.width
    assert fresh.scores(few).tobytes() == before.tobytes()
    assert fresh.explain(few).tables[0].score == before[1]


@pytest.mark.parametrize("threads", [1, 4])
def test_models_score_and_predict_as_by_rows(model: markone.Model, threads: int) -> None:
    some = [text + word for text in SPAM for word in (" free", " you, soon!", " ünïcode", "")] * 200
    found = by_rows(model, some)
    assert model.scores(some, threads=threads)[:, 1].tobytes() == found.tobytes()
    assert (model.predict(some, threads=threads) == np.array(model.classes)[(found > 0).astype(int)]).all()
    assert model.scoring_bytes > 0


@pytest.mark.parametrize("text", ["free money, you", "", "ünïcode \ud800 free", "日本 you"])
def test_a_single_text_is_scored_as_in_a_list(model: markone.Model, text: str) -> None:
    model.scores(SPAM)
    assert model.scoring_bytes > 0
    assert model.scores(text).tobytes() == model.scores([text])[0].tobytes()
    assert model.predict(text) == model.predict([text])[0]
    with pytest.raises(markone.SettingsError, match="threads"):
        model.predict(text, threads=0)


def test_other_features_and_other_rules_have_no_tables() -> None:
    lexicon = {"text": {**PLAIN_TEXT, "lexicons": {"good": ["free"]}}}
    for other in ({"features": lexicon}, {"rule": "naive-bayes"}, {"rule": "mlp", "epochs": 1}):
        model = markone.train(SPAM, target=LABELS, **other)  # type: ignore[arg-type]
        assert len(model.predict(SPAM)) == len(SPAM) and model.scoring_bytes == 0


def test_every_level_gives_the_same_scores() -> None:
    check_levels(
        """
import markone
from markone.model import text_scoring
text_scoring.BYTES_OF_FEATURE = -1
texts = [f"{'Free' * (i % 3)} money, {i} extraordinarily ünïcode 日本 {i % 7} tea" * (1 + i % 4) for i in range(200)]
for classes in (2, 5):
    labels = [f"c{i % classes}" for i in range(200)]
    for text in ({}, {"value": "log", "weight": "idf", "characters": [2, 3]}, {"hash_bits": 12, "value": "count"}):
        model = markone.train(texts, target=labels, features={"text": text}, epochs=2)
        print(model.scores(texts).tobytes().hex())
        assert model.scoring_bytes > 0
"""
    )
