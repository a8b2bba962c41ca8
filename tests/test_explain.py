"""Explanations: tables that sum to the scores, marked words, strong features; and nothing hostile gets through."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

import markone
from files_of import as_idx
from markone import DataError, Model, Settings, SettingsError, _core, reference
from markone.data.blocks import Block
from markone.learning.online import Linear
from markone.model.counts import DTYPES, STRONGEST, Counts, count_strongest, strongest
from markone.model.explaining import Explanation, ModelExplanation, first_and_second
from markone.model.scorer import LinearScorer
from markone.reporting.grids import Grid, cells, label_in_words, shortened, signed_numbers, visible, visible_text
from markone.storage.saved import Saved
from parts import ODD_WORDS, PLAIN_TEXT, tokens_of

PLAIN_WORDS = {"text": PLAIN_TEXT, "unit": False}

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></div><!--",
    "&amp;'",
    "[bold red]x[/]",
    "[/]",
    ":smile:",
    "\x1b[31m\x1b]0;title\x07",
    "\u202eabc\u2066",
    "line\r\nend\u2028\x85",
    "tab\tnul\0",
    "\ud800",
    "é日本\u0301",
    "w" * 300,
]
anything = st.one_of(
    st.sampled_from(HOSTILE), st.text(max_size=20), st.lists(st.sampled_from(HOSTILE), max_size=3).map(" ".join)
)


def with_weights(model: Model, matrix: Any, bias: Any) -> Model:
    """The model, with these weights (features × columns)."""
    linear = Linear(
        Settings(average=False), features=model.features.width, classes=len(model.classes), dtype=np.float32
    )
    linear.start_at(np.asarray(matrix), np.asarray(bias))
    model.scorer = LinearScorer(linear.weights(False), model.settings.traits.has_probabilities)
    return model


def weights_of(model: Model) -> _core.Weights32 | _core.Weights64:
    assert model.scorer.weights is not None
    return model.scorer.weights


def by_name(model: Model, weights: dict[str, Any], bias: Any) -> Model:
    """The model, with weights by the names of its features; 0 for others."""
    columns = 1 if len(model.classes) == 2 else len(model.classes)
    matrix = np.zeros((model.features.width, columns))
    for number, name in enumerate(model.features.names()):
        matrix[number] = weights.get(name, 0)
    return with_weights(model, matrix, np.atleast_1d(bias))


def plain(shown: Any, *, colours: bool = False, width: int = 80) -> str:
    """What rich prints."""
    file = StringIO()
    Console(
        file=file,
        width=width,
        force_terminal=colours,
        color_system="truecolor" if colours else None,
        no_color=not colours,
    ).print(shown)
    return file.getvalue()


# ---- the lecture's tables


def test_the_spam_filter_of_the_lecture() -> None:
    model = markone.train(["free money", "see you"], target=["ham", "spam"], features=PLAIN_WORDS)
    by_name(model, {"free": 4, "money": 2}, -3)
    found = model.explain("free money")
    assert (found.prediction, found.runner_up) == ("spam", "ham")
    [table] = found.tables
    assert table is found.difference and table.label == "spam" and table.score == 3
    assert table.rows == [("free", 1, 4, 4), ("BIAS", 1, -3, -3), ("money", 1, 2, 2)]
    assert str(found) == (
        "prediction: spam\n"
        "The score of spam is 3. Positive numbers support spam, negative numbers ham.\n"
        "feature  value  weight  product\n"
        "free         1       4       +4\n"
        "BIAS         1      -3       -3\n"
        "money        1       2       +2\n"
        "sum                          +3"
    )
    against = model.explain("you")
    assert (against.prediction, against.runner_up, against.speaks_against) == ("ham", "spam", "ham")
    assert against.tables[0].score == -3 and against.tables[0].label == "spam"


def test_the_vote_of_the_lecture() -> None:
    weights = {"win": [2, 4, 0], "game": [0, 4, 2], "vote": [4, 0, 0]}
    documents = ["win the vote", "win the election", "win the game"]
    model = markone.train(documents, target=["POLITICS", "SPORTS", "TECH"], features=PLAIN_WORDS)
    by_name(model, weights, [1, -2, 2])
    found = model.explain("win the vote")
    # SPORTS and TECH have the same score, and a tie is the first one's.
    assert (found.prediction, found.runner_up, found.speaks_against) == ("POLITICS", "SPORTS", "SPORTS")
    assert [(table.label, table.score) for table in found.tables] == [("POLITICS", 7), ("SPORTS", 2)]
    assert [row.feature for row in found.difference.rows] == ["vote", "BIAS", "win", "the"]
    assert [row.product for row in found.difference.rows] == [4, 3, -2, 0] and found.difference.score == 5
    assert [[row.feature for row in table.rows] for table in found.tables] == 2 * [["vote", "BIAS", "win", "the"]]
    lines = str(found).splitlines()
    assert lines[0] == "prediction: POLITICS, which scores 7; next is SPORTS, which scores 2"
    assert lines[1] == "The difference is 5. Positive numbers support POLITICS, negative numbers SPORTS."
    assert lines[2].split() == ["POLITICS", "POLITICS", "SPORTS", "SPORTS"]
    assert lines[4].split() == ["vote", "1", "4", "+4", "0", "0", "+4"]
    assert lines[-1].split() == ["sum", "+7", "+2", "+5"]


def test_the_sentiment_of_the_lecture() -> None:
    names = ["positive", "negative", "no", "pronouns", "!", "ln words"]
    values = [3, 2, 1, 3, 0, 4.15]
    examples = [dict(zip(names, values, strict=True)), dict.fromkeys(names, 7)]
    model = markone.train(examples, target=[0, 1], features={"numeric": {"scale": "none"}})
    by_name(model, dict(zip(names, [2.5, -5.0, -1.2, 0.5, 2.0, 0.7], strict=True)), 0.1)
    found = model.explain(dict(zip(names, values, strict=True)))
    products = {row.feature: row.product for row in found.tables[0].rows}
    expected = {"positive": 7.5, "negative": -10, "no": -1.2, "pronouns": 1.5, "ln words": 2.905, "BIAS": 0.1}
    assert products == pytest.approx(expected)  # "!" is 0, and so not there
    assert found.tables[0].score == pytest.approx(0.805) and found.prediction == 1


@st.composite
def linear_models(draw: st.DrawFn) -> tuple[Model, Any]:
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    width = draw(st.sampled_from([1, 7, 8, 9, 63, 64, 65, 100, 3000]))
    classes = draw(st.sampled_from([2, 2, 3, 4, 5, 9, 17, 40]))
    spread = draw(st.sampled_from([0, 1, 8]))  # of the magnitudes, which decides how additions round
    rows = max(classes, 4)

    def numbers(*shape: int) -> Any:
        return (random.normal(size=shape) * 10.0 ** random.uniform(-spread, spread, shape)).astype(np.float32)

    X = numbers(rows, width) * (random.random((rows, width)) < draw(st.sampled_from([0.1, 0.7, 1.0])))
    X[0, :] = 1
    examples = scipy.sparse.csr_array(X) if draw(st.booleans()) else X
    model = markone.train(examples, target=[*range(classes)] + [0] * (rows - classes), epochs=1)
    columns = 1 if classes == 2 else classes
    weights = numbers(width, columns)
    if draw(st.booleans()):
        # Most of what is large cancels out, and what is left depends on the order of the additions.
        one, other = random.permutation(width)[: width // 2 * 2].reshape(2, -1)
        weights[one] *= 2.0**60
        weights[other] = -weights[one]
    return with_weights(model, weights, numbers(columns)), examples


@given(linear_models())
def test_the_sums_are_the_scores_to_the_bit(drawn: tuple[Model, Any]) -> None:
    model, examples = drawn
    scores = model.scores(examples)
    predicted = model.predict(examples)
    for row, found in enumerate(model.explain(examples)):
        assert found.prediction == predicted[row]
        tables = {table.label: table for table in found.tables}
        assert {*tables} == ({found.prediction, found.runner_up} if len(model.classes) > 2 else {1})
        for label, table in tables.items():
            assert np.float32(table.score).tobytes() == scores[row, label].tobytes()
            products = [one.product for one in table.rows]
            assert all(one.product == one.value * one.weight for one in table.rows)
            error = len(products) * 2.0**-52 * sum(map(abs, products)) + np.spacing(abs(np.float32(table.score))) / 2
            assert abs(math.fsum(products) - table.score) <= error
        others = [score for label, score in enumerate(scores[row]) if label != found.prediction]
        assert scores[row, found.runner_up] == max(others)


def test_usual_products_sum_to_the_score_in_any_order() -> None:
    random = np.random.default_rng(3)
    documents = [" ".join(random.choice(["win", "vote", "game", "see", "you"], 40)) for _ in range(200)]
    for rule, classes in (("logistic", 2), ("mira", 2), ("perceptron", 3)):
        labels = random.integers(0, classes, 200)
        model = markone.train(documents, target=labels, rule=rule, features={"text": {"words": [1, 3]}, "unit": True})
        for found in model.explain(documents):
            for table in found.tables:
                assert np.float32(math.fsum(row.product for row in table.rows)) == np.float32(table.score)


def test_a_few_rows_are_shown_and_the_rest_is_summed() -> None:
    model = markone.train({"x": [1.0, 2.0], **{f"column {i}": [1.0, 0.0] for i in range(30)}}, target=["a", "b"])
    example = {"x": 1.0, **{f"column {i}": 1.0 for i in range(30)}}
    found = model.explain(example, top=5)
    lines = str(found).splitlines()
    [more] = [line for line in lines if line.startswith("and ")]
    assert more.startswith("and 27 more features") and len(found.tables[0].rows) == 32
    assert float(more.split()[-1]) == pytest.approx(sum(row.product for row in found.tables[0].rows[5:]), abs=1e-3)
    assert len(lines) == 2 + 1 + 5 + 2
    # One more feature has the place of the line that would speak of it.
    assert "more feature" not in str(model.explain(example, top=31))
    assert str(model.explain(example, top=31)) == str(model.explain(example, top=32))
    with pytest.raises(SettingsError, match="top must be a whole number of at least 1, not 0"):
        model.explain(example, top=0)


def test_without_a_bias_there_is_no_row_for_it() -> None:
    documents, labels = ["free money", "see you"], ["spam", "ham"]
    assert "BIAS" not in str(markone.train(documents, target=labels, bias=False).explain("free"))
    assert "BIAS" in str(markone.train(documents, target=labels).explain("free"))


def test_a_feature_that_is_called_bias_is_told_apart() -> None:
    model = markone.train(["BIAS word", "word"], target=["a", "b"], features={"text": {**PLAIN_TEXT, "case": "keep"}})
    names = [row.feature for row in model.explain("BIAS word").tables[0].rows]
    assert sorted(names) == ["BIAS", "BIAS (feature)", "word"]


# ---- what can be explained


def test_one_gives_one_and_several_give_several() -> None:
    pandas = pytest.importorskip("pandas")
    texts = ["free money", "see you"]
    model = markone.train(texts, target=["spam", "ham"])
    assert isinstance(model.explain("free"), Explanation)
    for several in (texts, markone.read(texts), pandas.Series(texts), pandas.DataFrame({"text": texts}), tuple(texts)):
        assert [one.prediction for one in model.explain(several)] == ["spam", "ham"]
    assert [*model.explain([])] == []
    frame = pandas.DataFrame({"make": ["asia", "europ"] * 5, "weight": np.arange(10.0), "note": ["a b"] * 10})
    source = markone.read(frame, target=["x", "y"] * 5, kinds={"note": "text"})
    table = markone.train(source, features={**PLAIN_WORDS, "conjunctions": ["make*weight"]})
    one = table.explain({"make": "asia", "weight": 3.0, "note": "a c"})
    assert {"make=asia", "weight", "make=asia*weight", "BIAS", "note:a"} == {r.feature for r in one.tables[0].rows}
    assert [found.prediction for found in table.explain(frame)] == table.predict(frame).tolist()


def test_an_empty_text_of_a_table_is_not_shown() -> None:
    rows = [{"good": "quiet", "bad": "noisy street"}, {"good": "clean", "bad": "dirty"}] * 5
    source = markone.read(rows, target=["x", "y"] * 5, kinds={"good": "text", "bad": "text"})
    model = markone.train(source)
    both, one = (model.explain({"good": "quiet", "bad": bad})._repr_html_() for bad in ("noisy", ""))
    assert re.findall("<h3>(.*)</h3>", both) == ["good", "bad"]
    assert re.findall("<h3>(.*)</h3>", one) == ["good"]


def test_an_image_is_explained(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 255, (6, 4, 4), dtype=np.uint8)
    (tmp_path / "images-idx3-ubyte").write_bytes(as_idx(images))
    (tmp_path / "labels-idx1-ubyte").write_bytes(as_idx(np.array([0, 1, 2] * 2, np.uint8)))
    model = markone.train(tmp_path / "images-idx3-ubyte")
    found = model.explain(images[0])
    assert found.prediction == model.predict(images[0]) and found.texts == []
    assert found.difference.rows[0].feature.startswith(("pixel ", "patch "))
    assert [one.prediction for one in model.explain(images)] == model.predict(images).tolist()


def test_an_explanation_is_json_and_complete() -> None:
    model = markone.train(
        ["free money", "see you", "see the game"], target=["spam", "ham", "sports"], features=PLAIN_WORDS
    )
    found = model.explain("see free money you game", top=1)
    said = json.loads(json.dumps(found.as_dict()))
    assert said["prediction"] == found.prediction and said["runner_up"] == found.runner_up
    assert [len(table["rows"]) for table in said["tables"]] == [6, 6]
    for kind, table in zip(said["tables"], found.tables, strict=True):
        assert kind["score"] == table.score and kind["rows"][0] == table.rows[0]._asdict()
    assert said["difference"]["score"] == found.tables[0].score - found.tables[1].score
    assert "".join(piece["text"] for piece in said["texts"][0]["pieces"]) == "see free money you game"
    json.dumps(model.explain().as_dict())
    assert "difference" not in markone.train(["a", "b"], target=[1, 2]).explain("a").as_dict()


# ---- marked words

options = st.fixed_dictionaries(
    {},
    optional={
        "words": st.sampled_from([[], [1, 1], [1, 3], [2, 3]]),
        "characters": st.sampled_from([[1, 1], [1, 3], [3, 4]]),
        "case": st.sampled_from(["fold", "keep"]),
        "signs": st.booleans(),
        "negation": st.booleans(),
        "templates": st.sampled_from([[], ["lower"]]),
        "value": st.sampled_from(["count", "binary", "log"]),
        "hash_bits": st.sampled_from([3, 16]),
    },
).filter(lambda how: how.get("words") != [] or how.get("characters"))
texts = st.one_of(st.lists(st.sampled_from(ODD_WORDS)).map(" ".join), anything)
encodable = texts.map(lambda text: text.encode(errors="replace").decode())
broken = st.one_of(texts.map(lambda text: text.encode(errors="surrogatepass")), st.binary(max_size=20))


EVERYTHING = {
    **dict.fromkeys(("fold", "signs", "negation", "characters", "unspaced", "emoji"), True),
    "choice": "all",
    "shortest": 1,
    "longest": 4,
}


@given(
    broken,
    st.fixed_dictionaries(
        {
            "fold": st.booleans(),
            "signs": st.booleans(),
            "negation": st.booleans(),
            "choice": st.sampled_from(["all", "lower", "negated"]),
            "characters": st.booleans(),
            "unspaced": st.booleans(),
            "emoji": st.booleans(),
            "shortest": st.sampled_from([1, 2]),
            "longest": st.sampled_from([2, 4]),
        }
    ),
    st.sampled_from([None, 2, 16]),
)
@example(b"\xff Good \xe2\x82 \xe6\x97\xa5", EVERYTHING, None)
def test_occurrences_are_where_the_features_are(text: bytes, how: dict[str, Any], bits: int | None) -> None:
    settings = _core.NgramSettings(**{**how, "choice": _core.TokenChoice[how["choice"]]})
    vocabulary = _core.NgramVocabulary(settings) if bits is None else _core.HashedVocabulary(settings, bits)
    arrays = np.array([0, len(text)]), np.frombuffer(text, np.uint8)
    vocabulary.absorb(vocabulary.collect(*arrays))
    if isinstance(vocabulary, _core.NgramVocabulary):
        vocabulary.keep(vocabulary.frequent(1, 2**31 - 1))
    _, indices, values, _ = vocabulary.read(*arrays)
    begins, ends, features, first, last = vocabulary.occurrences(text)
    assert Counter(features.tolist()) == dict(zip(indices.tolist(), values.tolist(), strict=True))
    decoded = text.decode(errors="replace")
    tokens = tokens_of(decoded, how)
    words = [text[begin:end].decode() for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    assert (begins[1:] >= ends[:-1]).all() and len(words) == len(tokens)
    assert [tokens_of(word, {**how, "choice": "all", "negation": False, "signs": True}) for word in words] == [
        [token.removeprefix("NOT_") if how["negation"] or how["choice"] == "negated" else token] for token in tokens
    ]
    for feature, begin, end in zip(features.tolist(), first.tolist(), last.tolist(), strict=True):
        if bits == 2:
            continue  # places are named after others
        name = vocabulary.name(feature)
        if how["characters"]:
            around = f" {' '.join(tokens[begin:end])} " if begin < end else " "
            assert name in around and (end - begin < 2 or name not in around[:-1].rpartition(" ")[0] + " ")
        else:
            assert name == " ".join(tokens[begin:end])


@given(st.lists(encodable, min_size=3, max_size=4), options, st.sampled_from([2, 3]))
@example(["free money <b>", "see you\x1b[1m", "x"], {"words": [1, 3], "characters": [1, 3]}, 2)
def test_marks_sum_to_what_the_ngrams_contribute(documents: list[str], how: dict[str, Any], classes: int) -> None:
    labels = ["a", "b", "c"][:classes] + ["a"] * (len(documents) - classes)
    try:
        model = markone.train(documents, target=labels, features={"text": how}, epochs=2)
    except DataError:
        return  # there are no features at all
    for document, found in zip(documents, model.explain(documents), strict=True):
        [text] = found.texts
        assert "".join(piece.text for piece in text.pieces) == document
        marks = math.fsum(piece.mark for piece in text.pieces if piece.mark is not None)
        rows = [row for row in found.difference.rows if row.feature not in ("BIAS", "chars: ")]
        if how.get("hash_bits") is None:
            assert marks == pytest.approx(math.fsum(row.product for row in rows), abs=1e-6)


def test_a_product_is_shared_among_places_and_words() -> None:
    model = markone.train(
        ["not good", "not bad"], target=["a", "b"], features={"text": {**PLAIN_TEXT, "words": [1, 2]}, "unit": False}
    )
    by_name(model, {"not": 6, "not good": 8, "good": -1}, 0)
    found = model.explain("not  good, Not so!")
    assert found.texts[0].pieces == [("not", 10), ("  ", None), ("good", 3), (", ", None), ("Not", 6), (" so!", None)]


def test_runs_of_characters_are_shared_among_the_words_that_they_touch() -> None:
    how = {**PLAIN_TEXT, "words": [], "characters": [3, 3]}
    model = markone.train(["ab cd", "x"], target=["b", "a"], features={"text": how, "unit": False})
    by_name(model, {"chars:b c": 4, "chars: ab": 1}, 0)
    assert model.explain("ab, cd").texts[0].pieces == [("ab", 3), (", ", None), ("cd", 2)]


def test_each_text_column_is_marked_on_its_own() -> None:
    columns = {"title": ["free", "see"], "body": ["money free", "you see"]}
    model = markone.train(markone.read(columns, target=["spam", "ham"], kinds={"title": "text"}), features=PLAIN_WORDS)
    by_name(model, {"title:free": 1, "body:money": 2}, 0)
    found = model.explain({"title": "Free!", "body": "free money"})
    marked = {text.column: [piece for piece in text.pieces if piece.mark] for text in found.texts}
    assert marked == {"title": [("Free", 1)], "body": [("money", 2)]}
    assert "body:\nfree money(+2)\n" in plain(found) and "title:\nFree(+1)!" in plain(found)


def test_colours_go_by_the_sign_and_the_size_of_a_mark() -> None:
    model = markone.train(["good fine", "bad so"], target=["neg", "pos"], features=PLAIN_WORDS)
    by_name(model, {"good": 4, "fine": 1, "bad": -4, "so": 0.01}, 0)
    found = model.explain("good fine bad so")
    printed = plain(found, colours=True)
    assert "\x1b[38;2;255;255;255;48;2;31;95;196mgood" in printed  # white on blue
    assert "\x1b[38;2;0;0;0;48;2;163;200;255mfine" in printed
    assert "\x1b[38;2;255;255;255;48;2;179;38;30mbad" in printed and " so\n" in printed
    page = found.html()
    assert '<mark style="background:rgba(31,111,235,0.60)" title="+4">good</mark>' in page
    assert '<mark style="background:rgba(218,54,40,0.60)" title="-4">bad</mark> so<' in page
    # Without colours the numbers of the strongest stand in the text.
    assert "good(+4) fine(+1) bad(-4) so\n" in plain(found)
    assert str(found.texts[0]) == "good(+4) fine(+1) bad(-4) so"


# ---- hostile names


ALLOWED = {
    "html": {"lang"},
    "meta": {"charset", "name", "content"},
    "div": {"class"},
    "td": {"class"},
    "mark": {"style", "title"},
}
VIEWPORT = ("meta", "content", "width=device-width, initial-scale=1")
PLAIN = {"head", "title", "style", "body", "p", "h3", "table", "thead", "tbody", "tfoot", "tr", "th", "td"}


class Seen(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.marked = ""
        self.cells: list[str] = []
        self.paragraphs: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED or tag in PLAIN
        assert {name for name, _ in attributes} <= ALLOWED.get(tag, set())
        for name, value in attributes:
            if (tag, name, value) == VIEWPORT:
                continue
            assert re.fullmatch(r"[-+.,:()\w ]+", value or ""), (name, value)
        if tag in ("td", "th"):
            self.cells.append("")
        if tag == "p":
            self.paragraphs.append("")
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data
        elif self.open and self.open[-1] == "p":
            self.paragraphs[-1] += data
        elif "table" not in self.open and (self.open[-1:] == ["mark"] or self.open.count("div") == 2):
            self.marked += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def hostile_models(texts: list[str], labels: list[str], column: str, signs: bool) -> list[Any]:
    """Explanations in which these words, labels and names of columns are."""
    if len({*labels}) < 2 or not column.strip():
        return []
    keys = [f"k{i}{text}" for i, text in enumerate(texts)]
    table = {column: keys * 3, f"{column}2": [1.0, 2.0, 3.0] * len(keys), f"{column}3": [*texts] * 3}
    source = markone.read(table, target=labels * 3, kinds={column: "categorical", f"{column}3": "text"})
    model = markone.train(source, epochs=2, features={"text": {"signs": signs, "words": [1, 2]}})
    return [*model.explain({name: values[:2] for name, values in table.items()}), model.explain()]


@given(st.lists(anything, min_size=3, max_size=3), st.lists(anything, min_size=3, max_size=3), anything, st.booleans())
@example(["free <b>money</b>", "x", "y"], ["<i>", "\x1b[2J", "[red]"], "<td>\x1b[1m\u202e", False)
def test_hostile_names_and_texts_are_harmless(texts: list[str], labels: list[str], column: str, signs: bool) -> None:
    texts = [text.encode(errors="replace").decode() for text in texts]
    labels = [label.encode(errors="replace").decode() for label in labels]
    column = column.encode(errors="replace").decode()
    for found in hostile_models(texts, labels, column, signs):
        seen = Seen(found.html())
        assert Seen(found._repr_html_()).cells == seen.cells
        for part in seen.cells + seen.paragraphs:
            assert part.isprintable()
        if isinstance(found, Explanation):
            assert seen.paragraphs[0].startswith(f"prediction: {label_in_words(found.prediction)}")
            shown = [row.feature for row in found.difference.rows[: found.top]]
            assert {visible(name) for name in shown} <= {*seen.cells}
            text = "".join(piece.text for piece in found.texts[0].pieces)
            assert seen.marked.strip("\n") == visible_text(text).strip("\n")
        # Nothing but our own colours and ends of lines moves the cursor or turns the text around.
        assert str(found).replace("\n", "").isprintable()
        printed = plain(found, colours=True, width=200)
        for line in re.sub(r"\x1b\[[0-9;]*m", "", printed).split("\n"):
            assert visible_text(line) == line
        if isinstance(found, ModelExplanation):
            for side in found.sides:
                if side.speaks_for:
                    assert f"features that support {label_in_words(side.label)}" in "".join(seen.paragraphs)


def test_markup_is_not_interpreted() -> None:
    model = markone.train(["[red]free[/red] money", "see you"], target=["[bold]spam[/]", ":smile:"])
    assert model.classes == [":smile:", "[bold]spam[/]"]
    by_name(model, {"free": 1}, 0)
    for shown in (plain(model.explain("[red]free[/red]")), plain(model.explain("free"), colours=True)):
        assert "prediction: [bold]spam[/]\n" in shown and "numbers :smile:" in shown.replace("\n", " ")
    assert "[red]free(" in plain(model.explain("[red]free[/red]"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("\x1b[1m", "\\x1b[1m"), ("a\u202eb", "a\\u202eb"), ("a\nb\t", "a\\nb\\t"), ("\ud800", "\\ud800"), ("é日", "é日")],
)
def test_what_is_hidden_is_made_visible(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_texts_keep_their_lines_and_joined_letters() -> None:
    assert visible_text("a\r\nb\tc\u200dd\u00a0e\x1b\u202e\r") == "a\nb\tc\u200dd\u00a0e\\x1b\\u202e\\r"


# ---- tables on a screen


def test_everything_fits_on_a_screen_of_80_columns() -> None:
    names = ["日本語" * 40, "x" * 200, "\x1b" * 60]
    examples = [dict.fromkeys(names, float(i + 1)) for i in range(4)]
    for labels in (["l" * 100, "m" * 100] * 2, ["長い名前" * 30, "m" * 100, "n" * 100, "o"]):
        model = markone.train(examples, target=labels)
        for shown in (model.explain(examples[0]), model.explain()):
            wide = [line for line in str(shown).splitlines() if "長い名前長い名前" not in line]
            assert max(map(cells, wide)) <= 80 and len(wide) > 6
            for line in plain(shown, width=80).splitlines():
                assert cells(line) <= 80
    assert model.explain(examples[0]).as_dict()["tables"][0]["rows"][0]["feature"] in {*names, "BIAS"}


def test_names_are_cut_by_cells() -> None:
    assert shortened("日本語", 5) == "日…語" and cells("日…語") == 5
    assert shortened("日本語", 6) == "日本語" and shortened("abc", 2) == "a…"
    assert [shortened("x" * 50 + end, 10) for end in "ab"] == ["xxxxx…xxxa", "xxxxx…xxxb"]
    assert cells("e\u0301") == 1


@given(st.lists(st.floats(-1e12, 1e12), min_size=1))
def test_numbers_of_a_column_have_their_decimals_in_common(numbers: list[float]) -> None:
    shown = signed_numbers(numbers)
    largest = max(map(abs, numbers))
    for text, number in zip(shown, numbers, strict=True):
        assert float(text) == pytest.approx(
            number, abs=max(largest * 1e-3, 1e-6) if largest >= 1e-2 else 1e-3 * largest
        )
        assert text[0] == ("+" if number > 0 else "-" if number < 0 else text[0])
    if 1e-2 <= largest < 1e9:
        assert len({len(text.partition(".")[2]) for text in shown}) == 1


# ---- a model


def spam() -> tuple[list[str], list[str]]:
    random = np.random.default_rng(1)
    words = ["free", "money", "win", "the", "vote", "good", "bad", "film", "see", "you", "soon"]
    documents = [" ".join(random.choice(words, random.integers(1, 12))) for _ in range(300)]
    return documents, ["spam" if len({"free", "money", "win"} & {*one.split()}) > 1 else "ham" for one in documents]


def counted(model: Model, examples: Any, labels: list[Any]) -> Model:
    """The model, with counts in these examples."""
    numbers = np.array([model.classes.index(label) if label in model.classes else -1 for label in labels], np.int32)
    blocks, at = [], 0
    for batch in model.features.batches(examples):
        blocks.append(Block.of(model.features.transform(batch), numbers[at : at + len(batch)]))
        at += len(batch)
    model.counts = count_strongest(weights_of(model), iter(blocks), len(model.classes), model.features)
    return model


def test_a_model_is_explained_by_weights_counts_and_odds() -> None:
    documents, labels = spam()
    model = markone.train(documents, target=labels, epochs=10, features=PLAIN_WORDS)
    counted(model, [*documents, "free"], [*labels, "unknown"])
    found = model.explain(top=3)
    assert isinstance(found, ModelExplanation) and [side.label for side in found.sides] == ["spam", "ham"]
    assert all(side.speaks_for for side in found.sides)
    total = Counter(labels)
    assert [(facts.label, facts.examples) for facts in found.classes] == [
        ("ham", total["ham"]),
        ("spam", total["spam"]),
    ]
    weights = model.weights()
    for side, sign in zip(found.sides, (1, -1), strict=True):
        expected = sorted(
            ((sign * weight[1], name) for name, weight in weights.items() if sign * weight[1] > 0 and name != "BIAS"),
            key=lambda pair: -pair[0],
        )
        assert [one.weight for one in side.strongest] == [sign * weight for weight, _ in expected]
        for one in side.strongest:
            assert weights[one.feature][1] == one.weight
            rows = Counter(
                label for document, label in zip(documents, labels, strict=True) if one.feature in document.split()
            )
            other = "ham" if side.label == "spam" else "spam"
            assert (one.inside, one.outside) == (rows[side.label], rows[other])
            inside = (rows[side.label] + 1) / (total[side.label] + 2)
            assert one.odds == pytest.approx(inside / ((rows[other] + 1) / (total[other] + 2)))
    lines = str(found).splitlines()
    assert lines[0] == f"{model.features.width} features, 2 classes, learned from 300 examples"
    share = f"{total['spam'] / 300:.1%}"
    assert lines[2].startswith(f"features that support spam ({total['spam']} examples, {share}); bias ")
    assert lines[3].split() == ["feature", "weight", "in", "spam", "in", "ham", "odds"]
    assert lines[4].split()[0] in ("free", "money", "win") and lines[4].endswith(" : 1")
    assert len(lines) == 2 + 2 + 3 + 1 + 2 + 3
    assert "elsewhere" not in str(found) and "odds" in found.html() and "odds" in plain(found)


def test_of_many_classes_each_has_what_speaks_for_it_and_against_it() -> None:
    model = markone.train(["a x", "b x", "c x", "c y"], target=["A", "B", "C", "C"], epochs=10)
    counted(model, ["a x", "b x", "c x", "c y"], ["A", "B", "C", "C"])
    found = model.explain()
    assert [(side.label, side.speaks_for) for side in found.sides] == [(k, s) for k in "ABC" for s in (True, False)]
    best = {side.label: side.strongest[0] for side in found.sides if side.speaks_for}
    assert {label: one.feature for label, one in best.items()} == {"A": "a", "B": "b", "C": "c"}
    assert (best["C"].inside, best["C"].outside) == (2, 0) and best["C"].odds == (3 / 4) / (1 / 4)
    assert "elsewhere" in str(found) and "3.0 : 1" in str(found)
    for side in found.sides:
        signs = {one.weight > 0 for one in side.strongest}
        assert signs <= {side.speaks_for}
    assert len(found.as_dict()["sides"]) == 6 and str(found).count("features that support") == 3


def test_numbers_have_no_counts() -> None:
    columns = {"size": [1.0, 2.0, 3.0, 4.0], "make": ["a", "b", "a", "b"], "text": ["x y", "z", "x", "y z"]}
    model = markone.train(markone.read(columns, target=[0, 1, 0, 1], kinds={"text": "text"}))
    counted(model, columns, [0, 1, 0, 1])
    odds = {one.feature: one.odds for side in model.explain().sides for one in side.strongest}
    assert odds["size"] is None and odds["make=a"] == 3 and odds["text:x"] == 3
    dense = markone.train({"x": [1.0, 2.0]}, target=["a", "b"])
    counted(dense, {"x": [1.0, 2.0]}, ["a", "b"])
    assert dense.counts is not None and len(dense.counts.features) == 0 and dense.counts.rows.tolist() == [1, 1]
    assert "odds" not in str(dense.explain()) and "(1 examples, 50.0%)" in str(dense.explain())


def test_counts_need_not_be_there() -> None:
    model = markone.train(["free money", "see you"], target=["spam", "ham"], features=PLAIN_WORDS)
    assert model.counts is None or isinstance(model.counts, Counts)
    model.counts = None
    found = model.explain()
    assert {one.odds for side in found.sides for one in side.strongest} == {None}
    lines = [line.split() for line in str(found).splitlines()]
    assert lines[0] == ["4", "features,", "2", "classes"] and lines[3] == ["feature", "weight"]


@given(st.integers(1, 400), st.sampled_from([2, 3, 5]), st.integers(0, 2**32), st.sampled_from([1, 3, 100]))
def test_the_strongest_are_the_largest_and_of_equals_the_first(width: int, classes: int, seed: int, most: int) -> None:
    random = np.random.default_rng(seed)
    columns = 1 if classes == 2 else classes
    matrix = random.integers(-3, 4, (width, columns)).astype(np.float32)  # with many equals
    linear = Linear(Settings(average=False), features=width, classes=classes, dtype=np.float32)
    linear.start_at(matrix, np.zeros(columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("markone.model.counts.VALUES_AT_ONCE", 64)
        sides = [*strongest(linear.weights(False), most)]
    assert len(sides) == (2 if classes == 2 else 2 * classes)
    for i, side in enumerate(sides):
        column, sign = (0, 1 - 2 * i) if classes == 2 else (i // 2, 1 - 2 * (i % 2))
        order = sorted(range(width), key=lambda feature: (-sign * matrix[feature, column], feature))
        expected = [feature for feature in order if sign * matrix[feature, column] > 0][:most]
        assert side.features.tolist() == expected
        assert side.weights.tolist() == matrix[expected, column].tolist()
        assert (side.number, side.speaks_for) == ((1 - i, True) if classes == 2 else (column, sign > 0))


@given(st.sampled_from([2, 3]), st.sampled_from([np.float32, np.float64]), st.booleans(), st.integers(0, 1000))
def test_sparse_and_dense_rows_are_counted_alike(classes: int, dtype: Any, sparse: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, (20, 6)) * random.normal(size=(20, 6))
    labels = random.integers(-1, classes, 20)
    model = markone.train(scipy.sparse.csr_array(X), target=[*range(classes)] * 6 + [0] * (20 - 6 * classes))
    order = [int(name.removeprefix("x")) for name in model.features.names()]
    X = X[:, order].astype(dtype)
    stored = scipy.sparse.csr_array(X)
    stored.data[:1] = 0  # stored, but not there
    matrix = stored if sparse else stored.toarray()
    found = count_strongest(weights_of(model), [Block.of(matrix, labels)], classes, model.features)
    assert found.rows.tolist() == [int((labels == k).sum()) for k in range(classes)]
    assert len(found.features) > 0
    for i, (feature, number) in enumerate(zip(found.features, found.classes, strict=True)):
        there = stored.toarray()[:, feature] != 0
        assert found.inside[i] == (there & (labels == number)).sum()
        assert found.total[i] == (there & (labels >= 0)).sum()


def test_few_features_are_counted_however_many_there_are() -> None:
    words = [f"w{i}" for i in range(1000)]
    model = markone.train(words, target=["a", "b"] * 500, features=PLAIN_WORDS)
    counted(model, words, ["a", "b"] * 500)
    assert model.counts is not None and len(model.counts.features) == 2 * STRONGEST


# ---- counts in a file


def some_counts() -> tuple[Counts, int, int]:
    documents, labels = spam()
    model = counted(markone.train(documents, target=labels), documents, labels)
    assert model.counts is not None
    return model.counts, model.features.width, len(model.classes)


def test_counts_are_saved_and_loaded() -> None:
    counts, width, classes = some_counts()
    saved = counts.save()
    json.dumps(saved.facts)
    loaded = Counts.load(saved, width, classes)
    for name in DTYPES:
        assert getattr(loaded, name).tolist() == getattr(counts, name).tolist()
    feature, number = int(counts.features[0]), int(counts.classes[0])
    assert loaded.of(feature, number) == counts.of(feature, number) is not None
    assert counts.of(feature, 1 - number) is None


def test_counts_follow_features_that_are_renumbered() -> None:
    counts, width, classes = some_counts()
    stays = np.arange(width) % 3 != 1
    fewer = counts.renumbered(stays)
    Counts.load(fewer.save(), int(stays.sum()), classes)
    new = np.cumsum(stays) - 1
    for feature, number in zip(counts.features.tolist(), counts.classes.tolist(), strict=True):
        if stays[feature]:
            assert fewer.of(int(new[feature]), number) == counts.of(feature, number)
    assert len(fewer.features) == stays[counts.features].sum()


def damage(name: str, change: Any) -> Any:
    def damaged(saved: Saved) -> Saved:
        array = saved.arrays[name].copy()
        return Saved(saved.facts, {**saved.arrays, name: change(array)})

    return damaged


def put(at: int, value: int) -> Any:
    def change(array: Any) -> Any:
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    "damaged",
    [
        lambda saved: Saved({"x": 1}, saved.arrays),
        lambda saved: Saved({}, {}),
        lambda saved: Saved({}, {**saved.arrays, "more": np.zeros(1)}),
        *(damage(name, lambda array: array.astype(np.float64)) for name in DTYPES),
        *(damage(name, lambda array: array[None, :]) for name in DTYPES),
        *(damage(name, lambda array: array[:-1]) for name in DTYPES),
        damage("features", put(-1, 2**32 - 1)),
        damage("classes", put(0, 2)),
        damage("features", lambda array: array[::-1]),
        damage("features", put(1, 0)),
        damage("inside", put(0, -1)),
        damage("inside", put(0, 2**62)),
        damage("total", put(0, -1)),
        damage("total", put(0, -(2**63))),
        damage("total", put(0, 2**63 - 1)),
        damage("rows", put(0, -1)),
        damage("rows", put(0, 2**63 - 1)),
        damage("rows", put(0, 0)),
        damage("rows", lambda array: array // 100),
    ],
)
def test_damaged_counts_get_a_sentence(damaged: Any) -> None:
    counts, width, classes = some_counts()
    with pytest.raises(DataError, match="the table of counts in the model file .*; the file is damaged"):
        Counts.load(damaged(counts.save()), width, classes)


small_or_large = st.lists(st.integers(0, 6) | st.integers(0, 2**31), max_size=6)


@given(st.fixed_dictionaries(dict.fromkeys(DTYPES, small_or_large)))
def test_any_counts_load_or_are_refused(numbers: dict[str, list[int]]) -> None:
    arrays = {name: np.array(numbers[name], dtype) for name, dtype in DTYPES.items()}
    try:
        counts = Counts.load(Saved({}, arrays), 7, 3)
    except DataError:
        return
    for feature, number in zip(counts.features.tolist(), counts.classes.tolist(), strict=True):
        found = counts.of(feature, number)
        assert found is not None and found.odds > 0 and found.inside >= 0 and found.outside >= 0


@pytest.mark.parametrize(
    ("inside", "total", "problem"),
    [([1, 1], [2, 3], "two numbers for one feature"), ([4, 0], [4, 4], "impossible numbers"), ([3, 0], [3, 3], None)],
)
def test_impossible_counts_are_refused(inside: list[int], total: list[int], problem: str | None) -> None:
    arrays = {"features": [0, 0], "classes": [0, 1], "inside": inside, "total": total, "rows": [3, 3, 3]}
    saved = Saved({}, {name: np.array(arrays[name], dtype) for name, dtype in DTYPES.items()})
    if problem is None:
        assert Counts.load(saved, 1, 3).of(0, 0) == (3, 0, (4 / 5) / (1 / 8))
        return
    with pytest.raises(DataError, match=problem):
        Counts.load(saved, 1, 3)


# ---- probabilities


def test_probabilities_are_the_sigmoid_or_the_softmax_of_the_scores() -> None:
    documents, labels = spam()
    few = slice(0, 40)  # too few rows to calibrate probabilities
    two = markone.train(documents[few], target=labels[few], rule="logistic")
    scores = two.scores(documents).astype(np.float64)
    found = two.probabilities(documents)
    assert found.dtype == np.float64 and found.shape == (300, 2)
    np.testing.assert_allclose(found[:, 1], [reference.sigmoid(score) for score in scores[:, 1]], rtol=1e-14)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-15)
    assert two.probabilities("free money").shape == (2,) and two.probabilities([]).shape == (0, 2)
    assert two.probabilities("free money").tolist() == two.probabilities(["free money"])[0].tolist()
    three = markone.train(documents[few], target=([*"abc"] * 100)[few], rule="logistic")
    softmax = [reference.softmax(row) for row in three.scores(documents[:9]).astype(np.float64).tolist()]
    np.testing.assert_allclose(three.probabilities(documents[:9]), softmax, rtol=1e-14)


@pytest.mark.parametrize("classes", [2, 3])
def test_extreme_scores_have_probabilities(classes: int) -> None:
    model = markone.train(["a", "b", "c"], target=[*range(classes), 0][:3], rule="logistic")
    columns = 1 if classes == 2 else classes
    with_weights(model, np.full((3, columns), 1e30) * [[1], [-1], [1]], [3e38] + [-3e38] * (columns - 1))
    found = model.probabilities(["a", "b", ""])
    assert np.isfinite(found).all() and found.sum(axis=1).tolist() == [1, 1, 1]


@pytest.mark.parametrize("rule", ["perceptron", "mira", "hinge"])
def test_other_rules_have_no_probabilities_if_there_are_few_rows(rule: str) -> None:
    model = markone.train(["a", "b"], target=["x", "y"], rule=rule)
    with pytest.raises(SettingsError, match=f"scores of the rule '{rule}' become probabilities by rows .*'logistic'"):
        model.probabilities("a")


@pytest.mark.parametrize("width", [80, 41, 40, 30, 20])
def test_no_number_is_cut_where_there_is_little_room(width: int) -> None:
    heads, row = ["feature", "one", "two", "three"], ["a rather long name", "+1.2345", "-2.3456", "3,456,789"]
    lines = [line for line, _ in Grid([heads], [row], spare=[3, 2]).lines(width)]
    assert max(map(len, lines)) <= width
    left = [number for number in row[1:] if number in lines[1].split()]
    assert lines[1].split()[-len(left) :] == left and "+1.2345" in left
    assert {80: 3, 41: 3, 40: 2, 30: 2, 20: 1}[width] == len(left)


def test_labels_are_shown_as_they_are_predicted_and_not_at_any_length() -> None:
    model = markone.train(["a b", "c d"] * 3, target=[True, False] * 3)
    for shown in (str(model.explain()), str(model.explain("a")), str(model.evaluate(["a", "c"], [True, False]))):
        assert "true" in shown and "True" not in shown
    model = markone.train(["a b", "c d"] * 3, target=["x" * 500, "y" * 500] * 3)
    for shown in (str(model.explain()), str(model.explain("a")), str(model.evaluate(["a"], ["x" * 500]))):
        assert "x" * 61 not in shown and "xxx…xxx" in shown


def test_names_of_columns_are_escaped() -> None:
    table = {"<b>one": ["red warm", "blue cold"] * 3, "two": ["soft bed", "hard floor"] * 3, "y": ["a", "b"] * 3}
    source = markone.read(table, target="y", kinds={"<b>one": "text", "two": "text"})
    page = markone.train(source).explain({"<b>one": "red", "two": "bed"}).html()
    assert "<b>" not in page and "&lt;b&gt;one" in page


@pytest.mark.parametrize(("tie", "winner", "second"), [("error", 0, 1), ("negative", 0, 1), ("positive", 2, 1)])
def test_the_runner_up_would_win_without_the_winner(tie: str, winner: int, second: int) -> None:
    scores = np.zeros(3, np.float32)
    assert first_and_second(scores, _core.Tie[tie]) == (winner, second)
