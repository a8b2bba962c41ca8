"""From a source to a model: text features as their twins make them, by any number of threads, in any memory."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from markone import DataError, FeatureMap, Features, MarkoneWarning, SettingsError, reference
from markone.data import store as store_module
from markone.data.source import Column
from markone.data.strings import Strings
from markone.learning import cross_fitting, reading
from parts import PLAIN_TEXT

WORDS = ["free", "money", "win", "the", "vote", "not", "good", "bad", "film", "see", "you", "soon", "!", "."]
TEXT = (Column("text", "text"),)

texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=2, max_size=12)


def fitted(documents: list[str], labels: list[str] | None = None, **text: Any) -> FeatureMap:
    source = markone.read(documents, target=labels or ["a", "b"] * (len(documents) // 2) + ["a"] * (len(documents) % 2))
    return FeatureMap(Features(text={**PLAIN_TEXT, **text}, unit=False), source.columns).fit(source)


def spam(rows: int = 400, seed: int = 0) -> tuple[list[str], list[str]]:
    """Messages of random words; those with more of the first three are spam."""
    random = np.random.default_rng(seed)
    documents = [" ".join(random.choice(WORDS, random.integers(1, 30))) for _ in range(rows)]
    return documents, ["spam" if len({"free", "money", "win"} & {*one.split()}) > 1 else "ham" for one in documents]


# ---- text features and their twins


@given(texts, st.sampled_from(["count", "binary", "log"]))
def test_values_are_counts_presence_or_logarithms(documents: list[str], value: str) -> None:
    if not any(map(reference.tokenize, documents)):
        return
    twin = {"count": float, "binary": lambda n: 1.0, "log": lambda n: math.log(1 + n)}[value]
    for found, document in zip(fitted(documents, value=value).named(documents), documents, strict=True):
        expected = {word: twin(n) for word, n in Counter(reference.tokenize(document)).items()}
        assert found == pytest.approx(expected, rel=1e-6)


@given(texts, st.sampled_from([1, 2]), st.sampled_from([None, 1, 3]))
def test_what_is_rare_is_pruned(documents: list[str], min_count: int, most: int | None) -> None:
    rows = [{*reference.tokenize(document)} for document in documents]
    counts = Counter(word for row in rows for word in row)
    often = sorted((n for n in counts.values() if n >= min_count), reverse=True)[:most]
    if not often:
        with pytest.raises(DataError, match="no features at all"):
            fitted(documents, min_count=min_count, max_features=most)
        return
    names = fitted(documents, min_count=min_count, max_features=most).names()
    assert [counts[name] for name in names] == often


@given(texts)
def test_idf_is_that_of_its_formula(documents: list[str]) -> None:
    rows = [Counter(reference.tokenize(document)) for document in documents]
    if not any(rows):
        return
    examples_with = Counter(word for row in rows for word in row)
    for found, row in zip(fitted(documents, weight="idf").named(documents), rows, strict=True):
        expected = {word: n * (1 + math.log((1 + len(rows)) / (1 + examples_with[word]))) for word, n in row.items()}
        assert found == pytest.approx(expected, rel=1e-6)


@given(texts, st.data(), st.sampled_from(["count", "binary"]), st.sampled_from([0.5, 1.0]), st.booleans())
def test_odds_are_naive_bayes(documents: list[str], data: Any, value: str, k: float, hashed: bool) -> None:
    labels = data.draw(st.lists(st.sampled_from("abc"), min_size=len(documents), max_size=len(documents)))
    rows = [Counter(reference.tokenize(document)) for document in documents]
    if not any(rows):
        return
    options: dict[str, Any] = {"hash_bits": 20} if hashed else {}
    found = fitted(documents, labels, weight="odds", value=value, smoothing=k, **options).named(documents)
    vocabulary = sorted({word for row in rows for word in row})
    counts = {label: Counter() for label in {*labels}}  # type: ignore[var-annotated]
    for label, row in zip(labels, rows, strict=True):
        counts[label].update(row if value == "count" else row.keys())
    width = 2**20 if hashed else len(vocabulary)
    weights = dict.fromkeys(vocabulary, 0.0)
    for one in counts.values():
        others = sum((other for other in counts.values() if other is not one), Counter())  # type: ignore[var-annotated]
        inside, outside = (sum(some.values()) + k * width for some in (one, others))
        for word in vocabulary:
            ratio = math.log((one[word] + k) / inside) - math.log((others[word] + k) / outside)
            weights[word] = max(weights[word], ratio)
    for features, row in zip(found, rows, strict=True):
        expected = {word: weights[word] * (n if value == "count" else 1) for word, n in row.items()}
        for word, weight in expected.items():
            assert features.get(word, 0) == pytest.approx(weight, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("hashed", [{}, {"hash_bits": 20}])
def test_the_odds_of_a_run_of_words_are_discounted(hashed: dict[str, int]) -> None:
    documents, labels = ["win a car", "win a car", "see you"], ["spam", "spam", "ham"]
    whole, half = (
        fitted(documents, labels, words=[1, 3], weight="odds", discount=power, **hashed).named("win a car")
        for power in (0, 0.5)
    )
    assert len({*whole.values()}) == 1 and whole.keys() == half.keys()
    for name, value in half.items():
        assert value == pytest.approx(whole[name] / math.sqrt(len(name.split())), rel=1e-6)


def test_smoothing_shrinks_with_the_number_of_classes() -> None:
    documents = ["a b", "a c", "b d", "c e", "e f", "a f"]
    for labels, smoothing in ((list("xyxyxy"), 1.0), (list("wxyzwx"), 0.5)):
        plain, said = (
            fitted(documents, labels, weight="odds", smoothing=one).named(documents) for one in (None, smoothing)
        )
        assert plain == said
        assert plain != fitted(documents, labels, weight="odds", smoothing=0.9).named(documents)


def test_what_occurs_once_is_left_out_of_many_examples_only() -> None:
    few = ["often"] * 998 + ["once"]
    for documents, names in ((few, ["often", "once"]), ([*few, "often"], ["often"])):
        assert fitted(documents, min_count=None).names() == names
    assert fitted([*few, "often"], min_count=1).names() == ["often", "once"]


def test_rows_are_of_unit_length_where_there_are_words() -> None:
    def is_unit(examples: Any, **spec: Any) -> bool:
        source = markone.read(examples, target=["x", "y"])
        feature_map = FeatureMap(Features(**spec), source.columns).fit(source)
        rows = feature_map.named(examples if isinstance(examples, list) else source)
        assert feature_map.unit == np.allclose([math.hypot(*row.values()) for row in rows], 1)
        return feature_map.unit

    texts, mixed = ["free money now", "see you soon, friend"], {"n": [3.0, 5.5], "note": ["a b c", "d e f g"]}
    assert is_unit(texts) and is_unit(mixed) and is_unit(texts, functions={"length": len})
    assert not is_unit(texts, unit=False) and not is_unit(mixed, unit=False)
    assert not is_unit(texts, text={"words": [], "document": ["log-words"]})
    numbers = {"n": [3.0, 4.0], "m": [3.0, 1.0]}
    assert not is_unit(numbers, numeric={"scale": "none"}) and is_unit(numbers, unit=True)


def test_odds_without_labels_get_a_sentence() -> None:
    source = markone.read(["free money", "see you"])
    with pytest.raises(
        DataError, match=r"^text\.weight is 'odds', which is computed from labels, .* set text\.weight to 'idf'"
    ):
        FeatureMap(Features(), source.columns).fit(source)
    assert FeatureMap(Features(text={"weight": "none"}), source.columns).fit(source).width == 6


@pytest.mark.parametrize("rows", [2, 3, 20])
def test_the_defaults_suit_few_examples(rows: int) -> None:
    documents, labels = (["free money", "see you soon"] * rows)[:rows], (["spam", "ham"] * rows)[:rows]
    model = markone.train(documents, target=labels)
    assert model.predict(["money!", "you"]).tolist() == ["spam", "ham"]
    mixed = markone.train({"n": range(rows), "note": documents}, target=labels, features={"columns": {"note": {}}})
    assert mixed.accuracy({"n": range(rows), "note": documents}, labels) == 1


def test_every_text_option_makes_the_features_that_it_names() -> None:
    document = "I don't like it at all, but Money is GOOD!"

    def features(**text: Any) -> dict[str, float]:
        named: dict[str, float] = fitted([document, "money, money"], **text).named(document)
        return named

    assert {"don", "t", "like", "good"} < features().keys() and "!" not in features()
    assert {"like it", "good !"} <= features(words=[2, 2], signs=True).keys()
    assert {"GOOD", "Money"} <= features(case="keep").keys()
    assert {"NOT_like", "NOT_all", "money", "t"} < features(negation=True).keys()
    assert features(words=[], characters=[3, 3])["chars: mo"] == 1
    lower = features(templates=["lower", "not"])
    assert lower["lower:like"] == 1 and "lower:money" not in lower and lower["money"] == 1
    assert lower["NOT_like"] == 1 and lower["like"] == 1
    assert features(words=[], lexicons={"nice": ["like", "at all", "good!"]}) == {"nice": 3}


def test_negated_words_of_a_broken_text_are_safe() -> None:
    feature_map = fitted(["not good", "x"], negation=True)
    assert feature_map.named("not \ud800 good") == {"not": 1, "NOT_good": 1}


def test_a_slice_of_an_arrow_array_is_read_as_it_is() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.string_view()):
        array = pyarrow.array(["a", "b", None, "d"], kind).slice(1, 2)
        assert Strings.of_arrow(array).tolist() == ["b", ""]
    assert Strings.of_arrow(pyarrow.array(["x", "y", "x"]).dictionary_encode()).tolist() == ["x", "y", "x"]


def test_a_lower_case_template_says_yes_or_no() -> None:
    assert fitted(["good good Good", "x"], templates=["lower"]).named("good good Good") == {"good": 3, "lower:good": 1}


def test_all_pronouns_of_the_first_and_second_person_count() -> None:
    text = "I me my mine myself we us our ours ourselves you your yours yourself yourselves he she it they"
    feature_map = fitted([text, "x"], words=[], document=["pronouns"])
    assert feature_map.named(text) == {"pronouns": 15}


def test_a_lexicon_may_have_words_with_hyphens() -> None:
    feature_map = fitted(["a state-of-the-art film", "x"], words=[], lexicons={"good": ["state-of-the-art", "a+"]})
    assert feature_map.named("State-of-the-art, a+ and a state") == {"good": 2}
    with pytest.raises(SettingsError, match="at most 20 words and signs"):
        fitted(["x", "y"], lexicons={"long": ["a " * 21]})


def test_columns_are_in_the_names_where_there_are_several() -> None:
    source = markone.read(
        [{"title": "free money now", "body": "see you", "n": 3.0, "y": "a"}] * 3
        + [{"title": "the vote is here", "body": "win the vote", "n": 5.0, "y": "b"}] * 3,
        target="y",
        kinds={"title": "text", "body": "text"},
    )
    spec = Features(text=PLAIN_TEXT, columns={"body": {"words": [2, 2]}, "n": {"scale": "none"}}, unit=False)
    feature_map = FeatureMap(spec, source.columns).fit(source)
    found = feature_map.named({"title": "free", "body": "see you see you", "n": 7})
    assert found == {"title:free": 1, "body:see you": 2, "n": 7}
    with pytest.raises(SettingsError, match=r"columns\.bodi is not a column; .*Did you mean 'body'"):
        FeatureMap(Features(columns={"bodi": {}}), source.columns)


def test_unit_rows_have_length_one_and_an_empty_one_stays() -> None:
    source = markone.read(["a a b", "", "c"], target=["x", "y", "x"])
    feature_map = FeatureMap(Features(unit=True, text=PLAIN_TEXT), source.columns).fit(source)
    lengths = [math.hypot(*row.values()) for row in feature_map.named(["a a b", "", "c a"])]
    assert lengths == pytest.approx([1, 0, 1])
    table = markone.read({"x": [3.0, 0.0], "y": [4.0, 0.0]}, target=["p", "q"])
    dense = FeatureMap(Features(unit=True, numeric={"scale": "none"}), table.columns).fit(table)
    [rows] = [dense.transform(batch) for batch in table.batches()]
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
    import scipy.sparse

    matrix = scipy.sparse.csr_matrix(np.array([[3.0, 4.0], [1.0, 0.0]], np.float32))
    markone.train(matrix, target=["p", "q"], features={"unit": True})
    assert matrix.toarray().tolist() == [[3, 4], [1, 0]]  # the user's numbers are the user's
    assert feature_map.named("a a b")["a"] == pytest.approx(2 / math.sqrt(5))


def test_collisions_are_counted_and_reported() -> None:
    documents, labels = spam()
    few, many = (fitted(documents, labels, hash_bits=bits) for bits in (2, 20))
    assert few.width == 4 and "4 of 4 places are used, 4 of them by several n-grams; 66.5% of" in few.report()[0]
    assert (
        many.width == 2**20 and "0.0% of the occurrences are in a place named after another n-gram" in many.report()[0]
    )
    assert {*many.named("free money")} == {"free", "money"}
    assert fitted(documents, labels).report() == []


# ---- training


def test_a_model_learns_predicts_and_names_its_weights() -> None:
    documents, labels = spam(1300)
    spec = {"text": PLAIN_TEXT, "unit": False}
    model = markone.train(documents[:1000], target=labels[:1000], epochs=20, features=spec)
    assert model.classes == ["ham", "spam"] and model.settings.rule == "mira"
    predicted = model.predict(documents[1000:])
    assert np.mean(predicted == labels[1000:]) > 0.85
    assert model.accuracy(markone.read(documents[1000:], target=labels[1000:])) == np.mean(predicted == labels[1000:])
    weights = model.weights()
    assert weights["free"][1] > 0.2 > abs(weights["film"][1]) and {*weights} == {"BIAS", *model.features.names()}
    features = {"BIAS": 1, **model.features.named(documents[0])}
    by_hand = sum(value * weights[name].astype(float) for name, value in features.items())
    np.testing.assert_allclose(model.scores(documents[0]), by_hand, rtol=1e-5, atol=1e-6)
    assert model.predict("free money") == "spam" and type(model.predict("free money")) is str
    assert model.scores(["free", "film"]).shape == (2, 2)


@pytest.mark.parametrize("text", [{}, {"hash_bits": 6}, {"weight": "odds", "characters": [1, 2]}])
def test_threads_and_memory_change_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: Any) -> None:
    monkeypatch.setattr(store_module, "PIECE_VALUES", 5000)
    monkeypatch.setattr(store_module, "WINDOW_PIECES", 4)
    monkeypatch.setattr("markone.data.chunks.CHUNK", 4096)
    files = []
    make = tempfile.TemporaryFile

    def temporary_file(**options: Any) -> Any:
        files.append(make(**options))
        return files[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", temporary_file)
    documents, labels = spam(4000)
    path = tmp_path / "spam.txt"
    path.write_text("".join(f"{label}\t{document}\n" for document, label in zip(documents, labels, strict=True)))
    found = []
    for threads, memory in [(1, None), (3, None), (2, "1 MiB")]:
        source = markone.read(path, format="tab", threads=threads)
        assert len(list(source.batches())) > 10
        model = markone.train(
            source,
            features={"text": {"words": [1, 3], **text}, "unit": True},
            threads=threads,
            memory=memory,
            holdout=0.2,
            epochs=3,
        )
        weights = [(name, vector.tolist()) for name, vector in model.weights().items()]
        scores = model.scores(source, threads=threads)
        found.append((weights, scores.tobytes(), model.history[2].holdout))
    assert found[0] == found[1] == found[2]
    assert len(files) == 1 and files[0].closed  # the rows of the last were in a file


def test_rows_without_a_label_are_left_out_of_training_and_of_accuracy() -> None:
    documents, labels = spam(200)
    some = [label if i % 3 else None for i, label in enumerate(labels)]
    source = markone.read(documents, target=some)
    model = markone.train(source, epochs=3)
    keep = [i for i in range(200) if i % 3]
    assert model.history[0].mistakes <= len(keep)
    predicted = model.predict(documents)
    assert model.accuracy(source) == pytest.approx(np.mean([predicted[i] == labels[i] for i in keep]))


def test_importance_is_heeded() -> None:
    source = markone.read(
        {"x": [1.0, 1.0, 1.0, -1.0], "y": ["a", "b", "a", "b"], "w": [1.0, 50.0, 1.0, 1.0]}, target="y", importance="w"
    )
    model = markone.train(source, rule="perceptron", order="given", epochs=3)
    assert model.predict({"x": 1.0}) == "b"


def test_numbers_and_booleans_are_classes_too() -> None:
    for labels in ([3, 1, 2], [True, False, True]):
        model = markone.train(["a", "b", "c"], target=labels)
        assert model.classes == sorted({*labels})
        assert [model.predict(text) for text in "abc"] == labels


def test_a_frame_a_dict_and_a_list_of_dicts_predict_alike() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"make": ["asia", "europ", "ameri"] * 10, "weight": np.arange(30.0)})
    frame["mpg"] = ["good" if weight < 15 else "bad" for weight in frame["weight"]]
    model = markone.train(frame, target="mpg", epochs=20)
    rows = frame[["make", "weight"]]
    from_frame = model.predict(rows)
    assert from_frame.tolist() == model.predict(rows.to_dict("records")).tolist()
    assert from_frame.tolist() == [model.predict(row) for row in rows.to_dict("records")]
    assert np.mean(from_frame == frame["mpg"]) > 0.9


def test_the_target_can_stand_second() -> None:
    texts, labels = ["good", "bad"] * 30, ["x", "y"] * 30
    assert markone.train(texts, labels).digest == markone.train(texts, target=labels).digest
    table = {"text": texts, "label": labels}
    assert markone.train(table, "label").target == markone.read(table, "label").target == "label"
    assert str(markone.inspect(texts, labels)) == str(markone.inspect(texts, target=labels))
    for run in (
        markone.validate,
        markone.audit,
        markone.certify,
        markone.compare,
        markone.tune,
        markone.learning_curve,
    ):
        assert [*signature(run).parameters][1] == "target" and run(texts, labels)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: markone.train(["a", "b"]), "nothing to predict: the columns of the table are text; name the column"),
        (lambda: markone.train(["a", "b"], target=["x", "x"]), "all examples have the label 'x'"),
        (lambda: markone.train(["a", "b"], target=["x", "y"], epoch=3), "epoch is unknown; .*Did you mean 'epochs'"),  # type: ignore[call-arg]
        (lambda: markone.train(["a", "b"], target=["x", "y"], rule="mirra"), "Did you mean 'mira'"),
        (lambda: markone.train(["a", "b"], target=["x", "y"], threads=0), "threads must be a whole number"),
        (lambda: markone.train(["", ""], target=["x", "y"]), "no features at all"),
        (lambda: markone.train(["a", "b"], target=[None, None]), "none of the rows has a label"),
        (lambda: markone.train(["a", "b"], target=["x", "y"], holdout=0.1), "too few to hold out"),
        (
            lambda: markone.train(markone.read(["a"], target=["x"]), target="y"),
            "target belongs to markone.read",
        ),
        (lambda: markone.train(["a", "b"], target=["x", "y"], kinds={}), "kinds is an argument of markone.read"),  # type: ignore[call-arg]
        (lambda: markone.train(["a", "b"], target=["x", "y"], functions=[len]), "functions must map names"),
        (lambda: markone.train(["a", "b"], target=["x", "y"], callback=3), "callback must be a function"),
        (lambda: markone.train(["a", "b"], target=["x", "y"], patience=1), "patience needs held-out accuracy"),
        (lambda: markone.train(["a", "b"], target=["x", "y"], tol=0.1), "tol is the smallest improvement for patience"),
        (lambda: markone.train(["a", "b"], target=["x", "y"], strength=0.1), "strength is that of a penalty"),
    ],
)
def test_what_is_wrong_gets_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(markone.MarkoneError, match=sentence):
        call()


def test_accuracy_wants_labels_that_the_model_knows() -> None:
    model = markone.train(["a", "b"], target=["x", "y"])
    with pytest.raises(DataError, match="the labels are missing: the model predicts 'label', and the table has text"):
        model.accuracy(["a"])
    assert model.accuracy(["a", "b"], target=["x", "x"]) == 0.5
    with pytest.raises(SettingsError, match="target belongs to markone.read"):
        model.accuracy(markone.read(["a"], target=["x"]), target=["x"])
    with pytest.raises(DataError, match=r"none of the labels \('x\.'\) is a class of the model \('x', 'y'\)"):
        model.accuracy(markone.read(["a"], target=["x."]))
    assert model.accuracy(markone.read(["a", "b"], target=["x", "z"])) == 0.5


def test_a_callback_and_progress_see_the_work() -> None:
    class Seen:
        rows, passes, closed = 0, 0, False

        def read(self, rows: int, share: float | None = None) -> None:
            self.rows = rows

        def start(self, rows: int, epochs: int) -> None: ...
        def advance(self, rows: int) -> None: ...
        def finish_pass(self, result: Any) -> None:
            self.passes += 1

        def close(self) -> None:
            self.closed = True

    seen = Seen()
    model = markone.train(*spam_source(), progress=seen, callback=lambda result: result.epoch == 2, epochs=9)
    assert (seen.rows, seen.passes, seen.closed) == (400, 2, True)
    assert model.history.stopped == "callback"


def spam_source() -> tuple[markone.Source]:
    documents, labels = spam()
    return (markone.read(documents, target=labels),)


def test_a_function_adds_features() -> None:
    def shouting(text: str) -> bool:
        return text.isupper()

    documents = ["BUY", "buy", "SELL", "sell"]
    model = markone.train(documents, target=["x", "y"] * 2, functions={"shouting": shouting}, epochs=9)
    assert model.predict("HOLD") == "x" and model.predict("hold") == "y"
    assert model.features.spec.as_dict() == {"functions": ["shouting"], "text": {"subwords": []}}


# ---- what examples may be


def zips() -> tuple[markone.Model, dict[str, list[Any]]]:
    """A model that knows `zip` as a category, and data in which it can be read as a number."""
    rows: dict[str, list[Any]] = {"zip": [f"0{i % 5}123" for i in range(50)], "n": [i * 7 % 50 for i in range(50)]}
    rows["y"] = ["ab"[i % 5 < 2] for i in range(50)]
    return markone.train(markone.read(rows, target="y", kinds={"zip": "categorical"}), epochs=10), rows


def test_a_source_is_read_as_the_model_knows_its_columns(tmp_path: Path) -> None:
    model, rows = zips()
    path = tmp_path / "zips.csv"
    path.write_text("zip,n,y\n" + "".join(f"{z},{n},{y}\n" for z, n, y in zip(*rows.values(), strict=True)))
    source = markone.read(path, target="y", kinds={"zip": "numeric"})
    assert [column.kind for column in source.columns] == ["numeric", "numeric"]
    assert model.accuracy(source) == model.accuracy(path, target="y") == model.accuracy(rows, target="y") == 1
    assert model.predict(source).tolist() == model.predict(path).tolist() == rows["y"]
    assert model.predict({"zip": "00123", "n": 3}) == "b"
    assert model.features.named({"zip": "00123", "n": None})["zip=00123"] == 1
    gaps = markone.read({"zip": ["00123"], "n": [None], "y": ["b"]}, target="y", kinds={"zip": "categorical"})
    assert model.accuracy(gaps) == 1


def test_a_column_that_is_not_there_is_named() -> None:
    model, rows = zips()
    for examples in ({"x": rows["zip"]}, [{"x": "00123"}], {"x": "00123"}, markone.read({"x": rows["zip"]})):
        with pytest.raises(DataError, match="the model needs the column 'zip', and .* has x"):
            model.predict(examples)
    with pytest.raises(DataError, match="does not predict texts, and 'zips.csv' is not the name of a file"):
        model.predict("zips.csv")
    with pytest.raises(DataError, match=r"needs the column 'zip', and .* has zips\. Did you mean 'zips'\?"):
        model.predict({"zips": "00123"})


def test_a_column_that_is_absent_counts_as_missing_with_one_warning(tmp_path: Path) -> None:
    model, rows = zips()
    missing = {"zip": rows["zip"], "n": [None] * len(rows["zip"])}
    (tmp_path / "zips.csv").write_text("zip\n" + "\n".join(rows["zip"]) + "\n")
    alike = [
        {"zip": rows["zip"]},
        pd.DataFrame({"zip": rows["zip"]}),
        markone.read({"zip": rows["zip"]}, kinds={"zip": "categorical"}),
        [{"zip": one} for one in rows["zip"]],
        tmp_path / "zips.csv",
    ]
    for examples in alike:
        with pytest.warns(MarkoneWarning, match="lacks the column 'n' of the model, which counts as missing") as caught:
            scores = model.scores(examples)
        assert len(caught) == 1 and caught[0].filename == __file__
        np.testing.assert_array_equal(scores, model.scores(missing))
    with pytest.warns(MarkoneWarning, match="lacks the column 'zip' .* Did you mean 'zips'"):
        model.predict({"zips": "00123", "n": 1})
    with pytest.warns(MarkoneWarning):
        evaluation = model.evaluate({"zip": rows["zip"], "y": rows["y"]})
    assert evaluation.accuracy == model.evaluate({**missing, "y": rows["y"]}).accuracy
    with pytest.warns(MarkoneWarning):
        explanation = model.explain({"zip": "00123"})
    assert explanation.as_dict() == model.explain({"zip": "00123", "n": None}).as_dict()


def test_all_kinds_of_columns_may_be_absent_but_not_in_training() -> None:
    table = {
        "number": [1.0, 2.0, 3.0, 4.0],
        "flag": [True, False, True, False],
        "town": ["Ulm", "Bonn", "Ulm", "Bonn"],
        "text": ["free money now", "see you there", "money for free", "see me there"],
        "y": ["a", "b", "a", "b"],
    }
    kinds = {"town": "categorical", "text": "text", "flag": "boolean"}
    model = markone.train(markone.read(table, target="y", kinds=kinds))
    for name in ("number", "flag", "town", "text"):
        given = {key: values for key, values in table.items() if key != name}
        with pytest.warns(MarkoneWarning, match=f"lacks the column '{name}'"):
            scores = model.scores(given)
        np.testing.assert_array_equal(scores, model.scores({**table, name: [None] * 4}))
    with pytest.warns(MarkoneWarning, match="lacks columns 'flag', 'town', 'text' of the model, which count as"):
        model.predict({"number": [1.0]})
    with pytest.raises(DataError, match="the model needs the column 'number'"):
        markone.train({"text": table["text"], "y": table["y"]}, target="y", from_model=model)


def test_a_model_knows_its_target(tmp_path: Path) -> None:
    model, rows = zips()
    path = tmp_path / "zips.csv"
    path.write_text("zip,n,y\n" + "".join(f"{z},{n},{y}\n" for z, n, y in zip(*rows.values(), strict=True)))
    model.save(tmp_path / "zips.model")
    for one in (model, markone.load(tmp_path / "zips.model")):
        for examples in (rows, pd.DataFrame(rows), path, str(path), markone.read(rows)):
            assert one.evaluate(examples).accuracy == one.accuracy(examples) == 1
            assert one.losses(examples).zero_one == 0
        with pytest.raises(
            DataError, match=r"the labels are missing: the model predicts 'y', and .* has zip, n\. Name"
        ):
            one.evaluate({"zip": rows["zip"], "n": rows["n"]})
        with pytest.raises(DataError, match=r"target=\.\.\. Did you mean 'yy'"):
            one.evaluate({"zip": rows["zip"], "n": rows["n"], "yy": rows["y"]})


def test_a_target_is_read_as_it_was_in_training(tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_text("word,y\n" + "red,1\nblue,2\n" * 4)
    model = markone.train(markone.read(tmp_path / "some.csv", target="y", kinds={"y": "categorical", "word": "text"}))
    assert model.classes == ["1", "2"] and model.evaluate(tmp_path / "some.csv").accuracy == 1


def test_texts_come_in_any_list_and_under_any_name() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts = ["good film", "bad film"]
    source = markone.read({"review": texts}, target=["p", "n"], kinds={"review": "text"})
    model = markone.train(source)
    frame = pandas.DataFrame({"review": texts})
    for examples in (
        texts,
        tuple(texts),
        np.array(texts),
        frame["review"],
        frame,
        polars.Series(texts),
        markone.read(texts),
        markone.read(frame, kinds={"review": "text"}),
    ):
        assert model.predict(examples).tolist() == ["p", "n"]
    assert model.accuracy(markone.read(texts, target=["p", "p"])) == 0.5
    with pytest.raises(DataError, match="example 0 is None"):
        model.predict([None, "good"])
    assert model.predict([b"good film", "bad \xff film"]).tolist() == ["p", "n"]
    many = model.predict(texts * 5000, threads=2)
    assert many.tolist() == ["p", "n"] * 5000 and len(list(model.features.batches(texts * 5000))) == 3
    assert model.predict([]).tolist() == [] and model.scores([]).shape == (0, 2)
    assert zips()[0].predict([]).tolist() == []


def test_rows_come_as_arrays_matrices_and_dicts(tmp_path: Path) -> None:
    import scipy.sparse

    random = np.random.default_rng(0)
    x = random.normal(size=(60, 3))
    labels = (x[:, 0] > 0).tolist()
    model = markone.train(x, target=labels, epochs=20)
    expected = model.predict(x).tolist()
    assert np.mean(np.array(expected) == labels) > 0.9
    assert model.predict(x.tolist()).tolist() == model.predict(scipy.sparse.csr_matrix(x)).tolist() == expected
    assert model.predict({"x0": 2.0}) is True and model.predict({"x0": -2.0}) is False
    path = tmp_path / "rows.libsvm"
    path.write_text("".join(f"{int(y)} 1:{a} 7:{b}\n" for y, (a, b, _) in zip(labels, x.tolist(), strict=True)))
    from_file = markone.train(path, epochs=20)
    assert from_file.predict([{"1": 2.0}, {"1": -2.0, "99": 5.0}]).tolist() == ["1", "0"]
    with pytest.raises(DataError, match="must be numbers"):
        from_file.predict({"1": "much"})


def test_images_come_as_arrays(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    images = random.integers(0, 100, (40, 4, 4)).astype(np.uint8)
    labels = np.arange(40, dtype=np.uint8) % 2
    images[labels == 1, :2] += 150
    (tmp_path / "images-idx3-ubyte").write_bytes(
        bytes([0, 0, 8, 3, *b"\0\0\0\x28\0\0\0\x04\0\0\0\x04"]) + images.tobytes()
    )
    (tmp_path / "labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, *b"\0\0\0\x28"]) + labels.tobytes())
    model = markone.train(tmp_path / "images-idx3-ubyte", epochs=10)
    assert model.predict(images).tolist() == labels.tolist() and model.predict(images[1]) == 1
    for wrong in (images[0].tolist(), images.astype(float), images[:, :2]):
        with pytest.raises(DataError, match="images"):
            model.predict(wrong)


# ---- labels and names that are alike


def test_labels_of_all_sorts_come_back_as_they_were() -> None:
    for labels in ([1, 1.5, 2], [1, "x", 2], [10**30, 5, 6], [2**63, -1, 5], ["x\0", "y", "z"], [True, False, 0]):
        model = markone.train(["aa", "bb", "cc"] * 3, target=labels * 3, epochs=20)
        found = [model.predict(text) for text in ("aa", "bb", "cc")]
        assert [(type(label), label) for label in found] == [(type(label), label) for label in labels]
        assert [(type(label), label) for label in model.predict(["aa", "bb", "cc"]).tolist()] == [
            (type(label), label) for label in labels
        ]


def test_labels_that_are_written_alike_are_matched() -> None:
    model = markone.train(["a", "b"], target=[1, 2])
    assert model.accuracy(markone.read(["a", "b"], target=["1", "1"])) == 0.5


def test_no_two_features_have_one_name() -> None:
    with pytest.raises(DataError, match="'text:free' is named like a word of the text 'text'"):
        markone.train({"text": ["free beer now", "see you"], "text:free": [1.0, 2.0]}, target=["x", "y"])
    text = {**PLAIN_TEXT, "document": ["no", "exclamation"], "signs": True, "case": "keep"}
    spec = {"text": text, "unit": False}
    model = markone.train(["no BIAS", "yes fine", "no no!"], target=list("aba"), features=spec)
    names = model.features.names()
    assert len({*names}) == len(names) == len(model.weights()) - 1
    assert {"no", "document:no", "BIAS (feature)"} < {*names}
    assert model.features.named("no no no!") == {"no": 3, "!": 1, "document:no": 1, "document:!": 1}
    columns = {"a": [1.0, 2, 3], "b": [3.0, 1, 2]}
    with pytest.raises(DataError, match=r"two features would be called 'a\*b'"):
        markone.train(columns, target=list("xyx"), features={"degree": 2, "conjunctions": ["a*b"]})


def test_a_degree_without_numbers_is_refused() -> None:
    for examples in (["a", "b"], np.eye(2)):
        with pytest.raises(SettingsError, match="degree of 2 makes products of numeric columns, but there are none"):
            markone.train(examples, target=["x", "y"], features={"degree": 2})


# ---- what must not happen unseen


def test_what_is_held_out_tells_the_features_nothing() -> None:
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(5000)]
    noise = [" ".join(random.choice(words, 20)) for _ in range(1500)]
    labels = random.integers(0, 2, 1500).tolist()
    spec = {"text": {"weight": "odds"}, "unit": True}
    model = markone.train(noise, target=labels, holdout=0.3, epochs=3, features=spec)
    assert model.history[2].holdout == pytest.approx(0.5, abs=0.08)
    assert model.accuracy(noise, target=labels) > 0.7  # it has learned the rest by heart


def test_a_source_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    lines = [f"{'xy'[i % 2]}\tword{i % 50} and some more words of number {i % 9}\n" for i in range(60_000)]
    path.write_text("".join(lines))
    source = markone.read(path)
    feature_map_finish = FeatureMap.finish

    def finish(self: FeatureMap) -> None:
        feature_map_finish(self)
        path.write_text("".join(lines[:100]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FeatureMap, "finish", finish)
        with pytest.raises(DataError, match=r"long\.txt shrank from 2,448,000 to 4,080 bytes"):
            markone.train(source, memory="1 MiB")


def test_a_vocabulary_that_outgrows_the_memory_is_an_error() -> None:
    texts = [f"w{i} v{i}" for i in range(30_000)]
    labels = ["x", "y"] * 15_000
    with pytest.raises(DataError, match=r"vocabulary needs more than the 1 MB .*text\.hash_bits"):
        markone.train(texts, target=labels, memory="1 MiB")
    assert (
        markone.train(texts, target=labels, memory="1 MiB", features={"text": {"hash_bits": 10}}).features.width == 1024
    )
    many = [i % 300 for i in range(30_000)]
    with pytest.raises(DataError, match=r"vocabulary needs more than the 1 MB .*text\.weight"):
        markone.train(texts, target=many, memory="1 MiB", features={"text": {"hash_bits": 10}})


@pytest.mark.parametrize(("weight", "readings"), [("none", 1), ("idf", 2)])
def test_hashed_words_without_weights_are_read_only_once_however_little_memory_there_is(
    weight: str, readings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "DRAFTS_SHARE", -1)  # no draft is small enough
    monkeypatch.setattr(cross_fitting, "MOST_ROWS", 0)
    chance = np.random.default_rng(0)
    texts = [" ".join(map(str, chance.zipf(1.3, 60))) for _ in range(3000)]
    labels = ["yes" if " 7 " in text else "no" for text in texts]
    features = {"text": {"words": [1, 2], "hash_bits": 12, "weight": weight}}
    source = markone.read(texts, target=labels)
    begun, batches = [], source.batches

    def counted() -> Any:
        begun.append(1)
        return batches()

    source.batches = counted  # type: ignore[method-assign]
    model = markone.train(source, features=features, memory="1 MiB", epochs=2)
    assert len(begun) == readings
    monkeypatch.undo()
    in_memory = markone.train(texts, target=labels, features=features, epochs=2)
    assert model.scores(texts).tobytes() == in_memory.scores(texts).tobytes()
    assert model.history[-1].holdout == in_memory.history[-1].holdout


def test_a_feature_map_is_fitted_once_and_then_used() -> None:
    source = markone.read(["a", "b"], target=["x", "y"])
    feature_map = FeatureMap(Features(), source.columns)
    assert repr(feature_map) == "<FeatureMap: not fitted of text>"
    with pytest.raises(DataError, match="not fitted yet"):
        feature_map.names()
    feature_map.fit(source)
    assert repr(feature_map) == "<FeatureMap: 2 features of text>"
    with pytest.raises(DataError, match="already fitted"):
        feature_map.fit(source)
    with pytest.raises(SettingsError, match="spec must be a Features"):
        FeatureMap({}, source.columns)  # type: ignore[arg-type]
    assert repr(markone.train(source)) == "<Model: mira, 2 features, 2 classes: 'x', 'y'>"


# ---- what a model tells of its training


def test_rows_without_labels_are_counted() -> None:
    table = {"text": ["red", "blue", "red red", "green"], "label": ["warm", "cold", "warm", None]}
    history = markone.train(table, target="label").history
    assert (history.rows, history.held_out, history.unlabelled) == (3, 0, 1)
    assert history.majority == pytest.approx(2 / 3)


def test_labels_that_are_written_with_zeros_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "agents.csv").write_text("agent,text\n" + "007,martini shaken\n012,tea stirred\n" * 3)
    assert markone.train(markone.read(tmp_path / "agents.csv", target="agent")).classes == ["007", "012"]
    (tmp_path / "numbers.csv").write_text("number,text\n" + "0,martini shaken\n-10,tea stirred\n0.5,water\n" * 3)
    assert markone.train(markone.read(tmp_path / "numbers.csv", target="number")).classes == [-10, 0, 0.5]
