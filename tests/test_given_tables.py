"""Naive Bayes from tables of probabilities that a person gives, and running totals."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from markone import Model
from markone.data.blocks import as_rows
from markone.errors import MarkoneWarning, SettingsError
from markone.model.running import RunningTotals

PRIORS = {"spam": 0.33333, "ham": 0.66666}
GARY = {
    "Gary": (0.00002, 0.00021),
    "would": (0.00069, 0.00084),
    "you": (0.00881, 0.00304),
    "like": (0.00086, 0.00083),
    "to": (0.01517, 0.01339),
    "lose": (0.00008, 0.00002),
    "weight": (0.00016, 0.00002),
    "while": (0.00027, 0.00027),
    "sleep": (0.00006, 0.00001),
}
TEXT = "Gary would you like to lose weight while you sleep"


def tables(**changed: tuple[float, float]) -> dict[str, dict[str, float]]:
    both = {**GARY, **changed}
    return {label: {word: pair[i] for word, pair in both.items()} for i, label in enumerate(("spam", "ham"))}


# ---- the lecture's message


def test_the_running_totals_of_the_lecture() -> None:
    found = Model.from_tables(tables(), priors=PRIORS).explain(TEXT, running=True)
    assert isinstance(found, RunningTotals) and found.prediction == "spam" and found.classes == ["ham", "spam"]
    assert [row.word for row in found.rows] == ["(prior)", *TEXT.lower().split()]
    assert [round(total, 1) for total in found.rows[0].totals] == [-0.4, -1.1]
    spam, ham = math.log(PRIORS["spam"]), math.log(PRIORS["ham"])
    for word, row in zip(TEXT.split(), found.rows[1:], strict=True):
        spam, ham = spam + math.log(GARY[word][0]), ham + math.log(GARY[word][1])
        assert row.probabilities == pytest.approx([GARY[word][1], GARY[word][0]])
        assert row.totals == pytest.approx([ham, spam], abs=2e-5)  # the priors are divided by their sum, 0.99999
    # The printed probabilities are rounded: they give -76.0 and -80.3. The lecture's totals are those before rounding.
    assert [round(total, 1) for total in found.rows[-1].totals] == [-80.3, -76.0]
    assert found.posterior[1] == pytest.approx(1 / (1 + math.exp(ham - spam)), abs=1e-6)
    assert round(100 * found.posterior[1], 1) == 98.7


def test_numbers_that_are_printed_alike_give_the_totals_of_the_lecture() -> None:
    """With P(weight | ham) = 0.0000165, which is printed as .00002, the totals are -76.0 and -80.5, and P is 98.9 %."""
    found = Model.from_tables(tables(weight=(0.00016, 0.0000165)), priors=PRIORS).explain(TEXT, running=True)
    assert [round(total, 1) for total in found.rows[-1].totals] == [-80.5, -76.0]
    assert str(found).splitlines()[1].split() == ["word", "P(w|spam)", "P(w|ham)", "total", "spam", "total", "ham"]
    assert str(found).splitlines()[2].split() == ["(prior)", "0.3333", "0.6667", "-1.1", "-0.4"]
    assert str(found).endswith("P(spam | text) = 98.9%")


def test_the_tables_of_the_deck() -> None:
    """Two lists of frequent words, which differ: words of one list only are ignored, or have a given probability."""
    spam = {"the": 0.0156, "to": 0.0153, "and": 0.0115, "of": 0.0095, "you": 0.0093, "a": 0.0086, "with": 0.0080}
    ham = {"the": 0.0210, "to": 0.0133, "of": 0.0119, "2002": 0.0110, "with": 0.0108, "and": 0.0105, "a": 0.0100}
    priors = {"ham": 0.66, "spam": 0.33}
    with pytest.warns(
        MarkoneWarning, match="some classes have no probability for '2002', 'you', so predictions ignore"
    ):
        model = Model.from_tables({"ham": ham, "spam": spam}, priors=priors)
    assert model.scores("you 2002")[1] == pytest.approx(math.log(0.5))
    assert model.scores("to")[1] == pytest.approx(math.log(0.0153 * 0.33 / (0.0133 * 0.66)))
    rare = Model.from_tables({"ham": ham, "spam": spam}, priors=priors, unlisted=0.001)
    assert rare.scores("you 2002")[1] == pytest.approx(math.log(0.5 * 9.3 / 11))


# ---- a real model


@given(st.lists(st.tuples(st.floats(0.001, 0.1), st.floats(0.001, 0.1), st.floats(0.001, 0.1)), min_size=1, max_size=8),
       st.tuples(*[st.floats(0.1, 1)] * 3), st.lists(st.integers(0, 9), max_size=12))  # fmt: skip
def test_scores_are_sums_of_logarithms(rows: Any, shares: Any, words: list[int]) -> None:
    given_tables = {label: {f"w{i}": row[k] for i, row in enumerate(rows)} for k, label in enumerate("abc")}
    priors = {label: share / sum(shares) for label, share in zip("abc", shares, strict=True)}
    model = Model.from_tables(given_tables, priors=priors)
    text = " ".join(f"w{i}" for i in words)
    known = [i for i in words if i < len(rows)]
    expected = [math.log(priors[label]) + sum(math.log(rows[i][k]) for i in known) for k, label in enumerate("abc")]
    assert model.scores(text) == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert model.explain(text, running=True).rows[-1].totals == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_it_is_saved_explained_evaluated_and_trained_on(tmp_path: Path) -> None:
    model = Model.from_tables(tables(), priors=PRIORS)
    model.save(tmp_path / "nb.model")
    loaded = markone.load(tmp_path / "nb.model")
    assert loaded.probabilities(TEXT).tolist() == model.probabilities(TEXT).tolist()
    assert str(loaded.explain(TEXT, running=True)) == str(model.explain(TEXT, running=True))
    said = str(loaded.explain())
    assert said.startswith("9 features, 2 classes, with given probabilities") and "times" not in said
    assert loaded.explain().as_dict()["classes"][0]["examples"] is None
    assert loaded.evaluate({"text": [TEXT], "label": ["spam"]}).accuracy == 1
    assert model.settings.rule == "naive-bayes" and model.positive == "spam"
    more = {"text": ["cheap pills", "you would"], "label": ["spam", "ham"]}
    trained = markone.train(more, target="label", from_model=loaded, k=1)
    assert trained.predict("cheap pills") == "spam" and trained.features.width == 11


def test_a_probability_of_0_is_impossible() -> None:
    model = Model.from_tables({"2": {"on": 0.1, "off": 0.2}, "3": {"on": 0.0, "off": 0.5}})
    assert model.predict("on off off off") == "2" and model.probabilities("on").tolist() == [1, 0]
    rows = model.explain("on off", running=True).rows
    assert rows[-1].totals[1] == -math.inf and "-∞" in str(model.explain("on off", running=True))


def test_pixels_are_present_or_absent() -> None:
    pixels = {"2": {"p1": 0.8, "p2": 0.1, "p3": 0.1}, "3": {"p1": 0.8, "p2": 0.9, "p3": 0.0}}
    model = Model.from_tables(pixels, priors={"2": 0.1, "3": 0.9}, likelihood="bernoulli", kinds="rows")
    assert model.predict({"p1": 1, "p2": 1, "p3": 1}) == "2"  # wins, because a 3 never has the third pixel
    expected = math.log(0.9 * 0.2 * 0.9) - math.log(0.1 * 0.2 * 0.1 * 0.9)
    assert model.scores({"p2": 1})[1] == pytest.approx(expected, rel=1e-6)


def test_priors_are_equal_or_divided_by_their_sum() -> None:
    same = {"a": {"w": 0.1}, "b": {"w": 0.1}}
    assert Model.from_tables(same).probabilities("w").tolist() == [0.5, 0.5]
    assert Model.from_tables(same, priors={"a": 0.33, "b": 0.66}).probabilities("w") == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("words", "how", "problem"),
    [
        ({"a": {"w": 0.6, "v": 0.5}, "b": {"w": 0.1, "v": 0.1}}, {}, "words of 'a' have probabilities that sum to 1.1"),
        ({"a": {"w": 0.6, "v": 0.5}, "b": {"w": 0.1}}, {"unlisted": 0.1}, "words of 'a' have probabilities that sum"),
        ({"a": {"w": 1.2}, "b": {"w": 0.1}}, {}, "words have 1.2 for 'w' of 'a'; a probability is from 0 to 1"),
        ({"a": {"w": -0.1}, "b": {"w": 0.1}}, {}, "words have -0.1 for 'w' of 'a'; a probability is from 0 to 1"),
        ({"a": {"w": math.nan}, "b": {"w": 0.1}}, {}, "words have nan for 'w'; every number must be finite"),
        ({"a": {"w": "x"}, "b": {"w": 0.1}}, {}, "words have 'x' for 'w', which is not a number"),
        ({"a": {"w": 0.1}, "b": {"v": 0.1}}, {}, "words have no word in common"),
        ({"a": {"w": 0.1}, "b": {}}, {}, "words have no words for 'b'"),
        ({"a": {"w": 0.1}}, {}, "^words must have probabilities for at least two classes, not only for 'a'$"),
        ({}, {}, "words must have probabilities for at least two classes, and there is none"),
        ({"a": {"w": 0.9}, "b": {"v": 0.1}}, {"unlisted": 0.2}, "unlisted is 0.2, with which .* of 'a' sum to 1.1,"),
        ({"w": 0.1}, {}, "words must be the probabilities of words for each class"),
        ({"a": {"W": 0.1, "w": 0.1}, "b": {"W": 0.1, "w": 0.1}}, {}, "words have 'W' and 'w', which are"),
        ({"a": {"w": 0.1}, "b": {"w": 0.1}}, {"priors": {"a": 0.5, "b": 0.4}}, "priors sum to 0.9, not to 1"),
        ({"a": {"w": 0.1}, "b": {"w": 0.1}}, {"priors": {"a": 1.0, "b": 0}}, "priors must be greater than 0"),
        ({"a": {"w": 0.1}, "b": {"w": 0.1}}, {"priors": {"a": 1.0}}, "priors have no numbers for 'b'"),
        ({"a": {"w": 0.1}, "b": {"w": 0.1}}, {"priors": {"a": 0.5, "c": 0.5}}, "priors have numbers for 'c', which"),
        ({"a": {"w": 0.1}, "b": {"w": 0.1}}, {"priors": [0.5, 0.5]}, "priors must be a probability for each class"),
        ({"a": {"w": 0.1}, "b": {"w": 0.1}}, {"classes": ["a", "c"]}, "words have numbers for 'b', which is not"),
        ({"a": {"w": 0.1}, "b": {"w": 0.1}}, {"classes": ["a", "b", "c"]}, "words have no numbers for 'c'"),
        ({"a": {"w": 0.1}, "b": {"w": 0.1}}, {"likelihood": "gaussian"}, "likelihood must be 'multinomial' or"),
        ({"a": {"w": 0.1}, "b": {"w": 0.1}}, {"kinds": "numeric"}, "kinds must make features that are multinomial"),
        ({"a": {"w": 0.1}, "b": {"w": 0.1}}, {"unlisted": 2}, "unlisted has 2 for"),
        ({"a": {"two words": 0.1}, "b": {"two words": 0.1}}, {}, "words have a number for 'two words', but"),
    ],
)  # fmt: skip
def test_mistakes_are_told(words: Any, how: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        Model.from_tables(words, **how)


# ---- running totals of trained models


def test_running_totals_of_a_trained_model_end_at_its_scores() -> None:
    texts = ["free money for you", "see you soon", "free tea for me", "money money money", "see me at the tea"]
    labels = ["spam", "ham", "ham", "spam", "news"]
    for features in (None, {"text": {"words": [1, 2]}}, {"text": {"value": "binary"}}):
        model = markone.train(texts, target=labels, rule="naive-bayes", features=features)
        example = "free money, money for the unknown tea"
        found = model.explain(example, running=True)
        [batch] = model.features.batches([example])
        joint = model.scorer.joint_scores(as_rows(model.features.transform(batch)))[0]  # type: ignore[attr-defined]
        np.testing.assert_allclose(found.rows[-1].totals, joint, rtol=1e-6)
        assert found.posterior == pytest.approx(model.probabilities(example).tolist())
        words = [row.word for row in found.rows]
        assert words.count("money") == (1 if features == {"text": {"value": "binary"}} else 2)
        assert "unknown" not in words and words.index("free") < words.index("money") < words.index("tea")
    several = list(model.explain(texts, running=True))
    assert [one.prediction for one in several] == model.predict(texts).tolist()


def test_long_texts_show_the_first_words_and_the_last_totals() -> None:
    model = Model.from_tables(tables(), priors=PRIORS)
    short = str(model.explain(TEXT, running=True, top=3)).splitlines()
    assert [line.split()[0] for line in short[2:6]] == ["(prior)", "gary", "would", "you"]
    assert short[6].split() == ["and", "7", "more", "words", "-76.0", "-80.3"]
    assert len(model.explain(TEXT, running=True, top=3).as_dict()["rows"]) == 11
    assert len(str(model.explain(TEXT, running=True, top=9)).splitlines()) == 14  # no line for "1 more word"


def test_models_without_running_totals_say_so() -> None:
    data: dict[str, Any] = {"target": ["a", "b"]}
    with pytest.raises(SettingsError, match="running is for naive Bayes, and this is a model of the rule 'mira'"):
        markone.train(["x y", "z"], **data).explain("x", running=True)
    for model in (
        markone.train([[1.0], [2.0]], rule="naive-bayes", **data),
        markone.train(["x y", "z"], rule="naive-bayes", likelihood="bernoulli", **data),
    ):
        with pytest.raises(SettingsError, match="running is for models that count the words of texts"):
            model.explain("x", running=True)
    with pytest.raises(SettingsError, match="running needs an example; give a text"):
        Model.from_tables(tables()).explain(running=True)


def test_the_command_line_shows_running_totals(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    from markone.cli import main

    monkeypatch.chdir(tmp_path)
    Model.from_tables(tables(), priors=PRIORS).save("nb.model")
    (tmp_path / "mail.csv").write_text(f"text\n{TEXT}\n")
    assert main(["explain", "nb.model", TEXT, "--running"]) == 0
    said = capsys.readouterr().out
    assert "P(spam | text) = 98.7%" in said and "(prior)" in said
    assert main(["explain", "nb.model", "mail.csv", "--row", "1", "--running", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["prediction"] == "spam" and facts["rows"][0]["word"] == "(prior)" and len(facts["rows"]) == 11
    assert main(["explain", "nb.model", TEXT, "--running", "--html", "page.html"]) == 0
    assert "P(spam | text)" in (tmp_path / "page.html").read_text()
    assert main(["explain", "nb.model", "--running"]) == 2
    assert "--running needs an example" in capsys.readouterr().err
