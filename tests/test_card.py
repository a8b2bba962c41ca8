"""The digest and the card of a model, and its scores for Arrow data."""

from __future__ import annotations

import copy
import hashlib
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import markone

TEXTS = ["free money", "cheap offer", "see you", "lunch with you"]
KINDS = ["spam", "spam", "ham", "ham"]
ROWS = {"age": [20, 61, 33, 70], "job": ["cook", "judge", "cook", "judge"]}


def text_model(**settings: Any) -> markone.Model:
    return markone.train(TEXTS, target=KINDS, **settings)


# ---- digests


@pytest.mark.parametrize("rule", ["mira", "logistic", "svm", "naive-bayes", "mlp"])
def test_the_digest_is_that_of_the_file(rule: str, tmp_path: Path) -> None:
    model = text_model(rule=rule)
    model.save(tmp_path / "a.model")
    assert model.digest == hashlib.sha256((tmp_path / "a.model").read_bytes()).hexdigest()
    assert markone.load(tmp_path / "a.model").digest == model.digest == pickle.loads(pickle.dumps(model)).digest
    assert copy.deepcopy(model).digest == text_model(rule=rule).digest == model.digest
    assert markone.train(TEXTS, target=KINDS[::-1], rule=rule).digest != model.digest


def test_the_digest_of_a_tagger_is_that_of_its_file(tmp_path: Path) -> None:
    tagger = markone.Tagger.train([[("the", "DET"), ("dog", "NOUN")]] * 3, epochs=2)
    tagger.save(tmp_path / "a.tagger")
    assert tagger.digest == hashlib.sha256((tmp_path / "a.tagger").read_bytes()).hexdigest()


# ---- cards


def test_a_model_that_is_too_good_or_has_numbers_as_classes_says_so() -> None:
    """Both are seen where a result is first shown, in a notebook or by print, and not only by `inspect`."""
    random = np.random.default_rng(0)
    numbers = random.integers(0, 2, 3000)
    frame = pandas.DataFrame(
        {"size": random.normal(size=3000), "status": np.where(numbers, "out", "in"), "gone": numbers}
    )
    leaky = markone.train(frame, target="gone")
    assert leaky.history.held_out >= 100 and "right on all held-out examples. Does a column give" in str(leaky)
    assert "Does a column give the target away" in str(leaky.card()) and "right on all" in leaky._repr_html_()
    fair = frame.assign(status=np.where(random.random(3000) < 0.2, "in", frame["status"]))
    assert "right on all" not in str(markone.train(fair, target="gone"))
    years = frame.assign(gone=np.arange(3000) % 30)
    assert "Its 30 classes are numbers. To predict numbers, use the rule 'regression'." in str(
        markone.train(years, target="gone")
    )
    words = years.assign(gone=years["gone"].map("group {}".format))
    assert "are numbers" not in str(markone.train(words, target="gone"))
    assert "are numbers" not in str(markone.train(years, target="gone", rule="regression"))


def test_a_model_says_what_replaces_the_names_of_estimators() -> None:
    model = text_model()
    with pytest.raises(AttributeError, match=r"no attribute 'predict_proba'; use model\.probabilities\(examples\)"):
        model.predict_proba(TEXTS)
    with pytest.raises(AttributeError, match=r"^'Model' object has no attribute 'strange'$"):
        model.strange  # noqa: B018
    assert not hasattr(model, "fit") and getattr(model, "coef_", None) is None


@pytest.mark.parametrize("rule", ["mira", "logistic", "svm", "naive-bayes", "mlp"])
def test_a_card_says_what_is_known(rule: str) -> None:
    frame = {"text": TEXTS * 10, "kind": KINDS * 10}
    model = markone.train(markone.read(frame, target="kind", kinds={"text": "text"}), rule=rule, holdout=0.25)
    card = model.card()
    text = str(card)
    assert text.startswith("# A model of 'kind'\n")
    for title in ("Model", "Data", "Training", "Figures", "Strongest features", "Limits"):
        assert f"\n## {title}\n" in text
    assert f"| rule | {rule} |" in text and model.digest in text
    held = f"{model.history.rows} examples, and {model.history.held_out} were held out"
    assert model.history.held_out > 0 and held in text and "| column text | text |" in text
    page = card.html()
    assert page.startswith("<!DOCTYPE html>") and model.digest in page and "http" not in page
    assert card.as_dict()["sections"][0]["title"] == "Model"
    if rule != "mlp":
        strongest = next(one for one in card.sections if one.title == "Strongest features")
        assert dict(strongest.rows)["spam"]
        assert ("held-out accuracy" in text) == any(one.holdout is not None for one in model.history)
    assert ("not calibrated" in text) == model.scorer.has_probabilities


def test_a_card_without_held_out_rows_and_of_given_weights() -> None:
    assert "accuracy on new examples is unknown" in str(text_model(holdout=0).card())
    given = markone.Model.from_weights({"free": 4, "BIAS": -1}, classes=["ham", "spam"])
    assert "given, and not learned" in str(given.card("Mine")) and str(given.card("Mine")).startswith("# Mine\n")


def test_names_cannot_change_a_card() -> None:
    evil = ["<script>alert(1)</script> | # x\n## Model", "ham"]
    model = markone.train({"a|b": TEXTS, "y": [evil[0]] * 2 + [evil[1]] * 2}, target="y")
    text, page = str(model.card("*x* <b>")), model.card("*x* <b>").html()
    assert text.startswith("# \\*x\\* \\<b\\>\n") and text.count("\n## Model\n") == 1
    assert "<script" not in text.replace("\\<script", "") and "<script" not in page and "<b>" not in page
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 3, line


# ---- Arrow


def check(found: Any, model: markone.Model, examples: Any) -> None:
    assert isinstance(found, pa.RecordBatch)
    assert found["prediction"].to_pylist() == list(model.predict(examples))
    names = [f"score:{label}" for label in model.classes]
    scores = np.column_stack([found[name].to_numpy() for name in names])
    assert scores.tobytes() == model.scores(examples).tobytes()
    has = model.scorer.has_probabilities
    more = [f"probability:{label}" for label in model.classes] if has else []
    assert found.schema.names == ["prediction", *names, *more]
    if has:
        shares = np.column_stack([found[name].to_numpy() for name in more])
        assert shares.tobytes() == model.probabilities(examples).tobytes()


@pytest.mark.parametrize("rule", ["mira", "logistic", "naive-bayes"])
def test_texts_from_every_engine(rule: str) -> None:
    model = text_model(rule=rule)
    name = model.features.columns[0].name
    array = pa.array(TEXTS)
    for batch in (
        array,
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pa.array(TEXTS, pa.large_string()),
        pa.RecordBatch.from_pydict({name: array}),
        pa.table({name: array}),
        pa.StructArray.from_arrays([array], [name]),
        polars.Series(TEXTS),
        polars.DataFrame({name: TEXTS}),
        pandas.DataFrame({name: TEXTS}),
    ):
        check(model.score_arrow(batch), model, TEXTS)
    for empty in (
        pa.array([], pa.string()),
        pa.table({name: pa.array([], pa.string())}),
        polars.Series([], dtype=polars.String),
    ):
        found = model.score_arrow(empty)
        assert len(found) == 0 and found.schema == model.score_arrow(array).schema
    sliced = model.score_arrow(array[1:3])
    check(sliced, model, TEXTS[1:3])


def test_tables_and_labels_of_other_types() -> None:
    model = markone.train(ROWS, target=[1, 2, 1, 2], rule="mira")
    check(model.score_arrow(pa.table(ROWS)), model, ROWS)
    struct = pa.array([dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)])
    check(model.score_arrow(struct), model, ROWS)
    check(model.score_arrow(pa.chunked_array([struct[:1], struct[1:]])), model, ROWS)
    assert model.score_arrow(struct)["prediction"].type == pa.int64()
    with pytest.raises(markone.DataError, match="several columns, 'age', 'job'"):
        model.score_arrow(pa.array([1]))
    three = markone.train(TEXTS, target=["a", "b", "c", "c"])
    check(three.score_arrow(pa.array(TEXTS)), three, TEXTS)


def test_a_model_fits_on_a_screen_with_whole_names() -> None:
    long = [" ".join(f"word{i}number{i + j}ofthiskind" for j in range(6)) for i in range(40)]
    text = str(markone.train(long, target=["first of both", "second of both"] * 20, holdout=0))
    assert max(map(len, text.splitlines())) <= 80
    _, _, features = text.partition("class ")
    names = " ".join(features.split())
    assert "first of both" in names and "second of both" in names and "\N{HORIZONTAL ELLIPSIS}" not in names
