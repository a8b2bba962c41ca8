"""Results show themselves in notebooks: as HTML without scripts, in which every name is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from markone import Features, Parser, Tagger, plots
from markone.demo.stories import write_stories
from markone.filtering.report import FilterReport
from markone.model.history import History, Pass
from markone.reporting.charts import Bars, Cells, Chart, Line, Pixels, Points
from markone.reporting.html import DARK, LIGHT, STYLE
from markone.reporting.shown import fragment_of
from markone.structured.explaining import explain_sentence

WRITING = {"fill", "font-size", "text-anchor"}
SHAPE = {"class", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray"}
PLAIN = ["style", "p", "pre", "h1", "h2", "h3", "figure", "figcaption", "title"]
TABLE = ["table", "thead", "tbody", "tfoot", "tr"]
ALLOWED: dict[str, set[str]] = {
    "svg": {"viewbox", "width", "height", "role", "aria-label", "xmlns", "font-family", *WRITING},
    "text": {"x", "y", *WRITING},
    "path": {"d", *SHAPE},
    "rect": {"x", "y", "width", "height", *SHAPE},
    "circle": {"cx", "cy", "r", *SHAPE},
    "polyline": {"points", *SHAPE},
    "polygon": {"points", *SHAPE},
    "div": {"class"},
    "td": {"class", "style"},
    "th": {"class"},
    "mark": {"style", "title"},
    **{tag: set() for tag in PLAIN + TABLE},
}
HOSTILE = "<script>alert(1)</script>\" onload='x' &amp; \u202e\x1b[2J"


class Harmless(HTMLParser):
    """Fails at every tag and attribute that is not ours, and knows the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        assert {name for name, _ in attributes} <= ALLOWED[tag], (tag, attributes)
        assert all(
            re.fullmatch(r"background:rgba\([\d,.]+\)", value or "") for name, value in attributes if name == "style"
        )
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += "" if self.open[-1:] == ["style"] else data


def results(folder: Path, names: list[str], words: list[str]) -> Iterator[Any]:
    """Results of all kinds, from data with these names of columns and classes, and with these words."""
    column, other, first, second = names
    random = np.random.default_rng(0)
    rows = 60
    table = pd.DataFrame(
        {
            column: [" ".join(random.choice(words, 4)) for _ in range(rows)],
            other: random.normal(size=rows),
            "label": np.where(np.arange(rows) % 3 > 0, first, second),
        }
    )
    source = markone.read(table, target="label", kinds={column: "text", other: "numeric"})
    model = markone.train(source, rule="perceptron", epochs=3, holdout=0.2)
    yield from (source, model, model.history, model.evaluate(source), model.losses(source), model.explain())
    yield from (model.explain(table.iloc[0]), model.explain(table), model.features, Features(text={"words": [1, 2]}))
    yield from (Features(), model.card(), markone.margins(model, source), *model.errors(source, most=1))
    yield from (markone.inspect(source), markone.audit(source, rule="mira", folds=2))
    yield markone.compare(source, rules=["mira", "svm"], folds=2)
    yield from (markone.validate(source, folds=2, rule="mira", epochs=2), markone.tune(source, rule="mira"))
    yield markone.learning_curve(source, rule="mira")
    X, y = random.normal(size=(20, 2)), np.array([first, second] * 10)
    yield from (certificate := markone.certify(X, y), certificate.verify(X, y))
    run = markone.trace(X, y, epochs=2)
    yield from (run, run.invariants())
    bounded = markone.train(X, target=y, rule="perceptron", bounds=True, epochs=5)
    yield from (bounded.history.bounds, bounded.history)
    regression = markone.train(table[[other]], target=table[other].to_numpy(), rule="regression")
    yield from (regression, regression.evaluate(table[[other]], table[other].to_numpy()))
    yield FilterReport(2, 1, 1, 10, 1.0, [first], second, 0.5, [0, 0.5, 1], [1, 1])
    sentences = [[(words[0], "A"), (words[1], "B")]] * 3
    tagger = Tagger.train(sentences, epochs=2)
    texts = [[word for word, _ in one] for one in sentences]
    yield from (tagger, tagger.tag(texts * 3), tagger.evaluate(sentences), explain_sentence(tagger, texts[0]))
    write_stories(folder / "some.conllu", 30, 1)
    parser = Parser.train(folder / "some.conllu", mode="fast", epochs=1, tag=True)
    yield from (parser, trees := parser.parse(texts), trees[0], parser.evaluate(folder / "some.conllu"))


def test_names_and_words_are_escaped(tmp_path: Path) -> None:
    seen = set()
    for one in results(
        tmp_path, [f"a{HOSTILE}", f"b{HOSTILE}", f"c{HOSTILE}", f"d{HOSTILE}"], ["<b>x</b>", "y&lt;", "z"]
    ):
        Harmless(one._repr_html_())
        seen.add(type(one).__name__)
        assert "\n" not in repr(one) and len(repr(one)) <= 200
        assert len(str(one)) > 0 or isinstance(one, Features)
    assert {
        "Model", "History", "Evaluation", "Comparison", "Validation", "Certificate", "Trace", "Margins", "Explanation",
        "Tuning", "TableSource", "Features", "Tree", "Tagged", "Trees", "Audit", "NumberEvaluation", "FilterReport",
        "Bounds", "Losses", "LearningCurve", "Inspection", "FeatureMap", "Invariants", "Verification", "WorstError",
        "Tagger", "Parser", "TaggerEvaluation", "TreeScore", "SentenceExplanation", "ModelExplanation", "Card",
    } <= seen  # fmt: skip


@given(label=st.text(), column=st.text(), word=st.text())
def test_any_text_is_harmless(label: str, column: str, word: str) -> None:
    model = markone.train({column or "c": [word, "x y"] * 3}, target=[label, f"{label}2"] * 3, rule="mira", epochs=1)
    for one in (model, model.evaluate({column or "c": [word]}, [label]), model.explain({column or "c": word})):
        Harmless(one._repr_html_())
    for chart in (
        Chart((Line([1, 2], [3, 4], label), Points([1, 2], [0, -4], word, 1)), column, x=label),
        Chart((Bars([label, word], [1, -1]),), column),
        Chart((Cells([[1, -1]], [label], [word, column]),), column),
        Chart((Pixels([[0, 1], [1, 0.5]]),), column),
    ):
        Harmless(fragment_of([chart]))


def test_what_is_shown() -> None:
    """The report is in the table, and a chart has a point for each pass."""
    texts, labels = ["free money", "see you", "free tea", "see me"] * 5, ["spam", "ham"] * 10
    model = markone.train(texts, target=labels, rule="perceptron", epochs=3, holdout=0.2)
    text = Harmless(model._repr_html_()).text
    assert all(word in text for word in ("perceptron", "free", "held-out accuracy", "16 examples"))
    shown = Harmless(model.evaluate(texts, labels)._repr_html_()).text
    assert "accuracy" in shown and "20 of 20 examples are right." in shown and "precision" in shown
    assert '<mark style="background:rgba(31,111,235,' in model.explain("free see")._repr_html_()
    history = History([Pass(i, 9 - i, 1, None, 1.0, 0.1) for i in (1, 2, 3)])
    [line] = re.findall(r'<polyline points="([^"]*)"', history._repr_html_())
    heights = [float(place.split(",")[1]) for place in line.split()]
    assert heights == sorted(heights) and len(heights) == 3  # fewer mistakes are lower, and y grows downwards


def test_a_spec_is_shown_by_what_differs_from_the_defaults() -> None:
    assert repr(Features()) == "Features()"
    assert repr(Features(text={"words": [1, 2]}, unit=True)) == "Features(unit=True, text={'words': [1, 2]})"


def test_many_passes_are_shown_by_some() -> None:
    history = History([Pass(i, 0, 0, None, 1.0, None) for i in range(1, 501)])
    rows = re.findall(r"<tr><td>(\d+)</td>", history._repr_html_())
    assert len(rows) == 20 and (rows[0], rows[-1]) == ("1", "500")
    assert str(History([Pass(1, 0, 0, None, 1.0, None)])).startswith("1 pass; stopped")


def test_bars_of_negative_numbers_go_to_the_left() -> None:
    page = fragment_of([Chart((Bars(["a", "b"], [2, -1]),))])
    (x, width), (x2, width2) = re.findall(r'<rect x="([\d.]+)" y="\d+" width="([\d.]+)"', page)
    assert float(width) == pytest.approx(2 * float(width2)) and float(x2) + float(width2) == pytest.approx(float(x))


def test_explanations_of_a_frame_show_the_first_ones_and_stay_whole() -> None:
    texts = ["free money", "see you"] * 4
    model = markone.train({"text": texts}, target=["spam", "ham"] * 4)
    found = model.explain(pd.DataFrame({"text": texts}))
    assert found._repr_html_().count("prediction:") == 5 == str(found).count("prediction:")
    assert len([*found]) == 8 and repr(found).startswith("<Explanations")


def test_a_row_of_a_frame_is_one_example() -> None:
    frame = pd.DataFrame(
        {"age": [30.0, 41, np.nan, 22] * 5, "city": ["Rome", "Oslo", None, "Rome"] * 5, "paid": list("ynyn") * 5}
    )
    model = markone.train(frame, target="paid", rule="mira")
    for i, row in enumerate(frame.itertuples()):
        alone = model.scores(frame.iloc[i])
        assert alone.ndim == 1 or len(alone) == 1
        assert np.array_equal(np.ravel(alone), np.ravel(model.scores(frame[i : i + 1])))
        assert model.predict(row) == model.predict(frame.iloc[i]) == model.predict(frame)[i]
        assert isinstance(model.explain(row).prediction, str)
    texts = markone.train(["free money", "see you"] * 4, target=["spam", "ham"] * 4)
    assert len(texts.predict(pd.Series(["free", "see"], index=["a", "b"]))) == 2  # a column, not a row


def test_themes() -> None:
    """Light colours where the page is light, whatever the system prefers, and the other way round."""
    assert STYLE.count(LIGHT) == 2 and STYLE.count(DARK) == 2 and "prefers-color-scheme: dark" in STYLE
    for sign in ('[data-jp-theme-light="false"]', ".vscode-dark", '[data-jp-theme-light="true"]', ".vscode-light"):
        assert f"{sign} .markone" in STYLE


def test_a_theme_of_the_page_wins(page: Any) -> None:
    """In Chromium: the colour of a line is that of the page's theme, and else of the system."""
    fragment = fragment_of([Chart((Line([1, 2], [3, 4]),))])
    found = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for theme in ("", 'data-jp-theme-light="false"', 'data-jp-theme-light="true"', 'class="vscode-dark"'):
            page.set_content(f"<body {theme}>{fragment}</body>")
            line = "getComputedStyle(document.querySelector('polyline')).stroke"
            found[scheme, theme] = page.evaluate(line)
    light, dark = "rgb(0, 114, 178)", "rgb(88, 166, 255)"
    assert found["light", ""] == light and found["dark", ""] == dark
    for scheme in ("light", "dark"):
        assert found[scheme, 'data-jp-theme-light="false"'] == found[scheme, 'class="vscode-dark"'] == dark
        assert found[scheme, 'data-jp-theme-light="true"'] == light


def test_words_are_aligned_to_the_left(page: Any) -> None:
    """In Chromium: also where the page aligns the cells of all tables to the right, as Jupyter does."""
    theirs = ":not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td { text-align: right; }"
    fragment = markone.inspect({"a": [1, 2]})._repr_html_()
    page.set_content(f'<style>{theirs}</style><div class="jp-RenderedHTMLCommon">{fragment}</div>')
    cells = "[...document.querySelectorAll('tbody td')]"
    aligned = dict(page.evaluate(f"{cells}.map(one => [one.innerText, getComputedStyle(one).textAlign])"))
    assert aligned["a"] == aligned["numeric"] == "left" and aligned["0"] == "right"


CELLS = [
    "import markone\ntexts, labels = ['free money', 'see you'] * 9, ['spam', 'ham'] * 9",
    "model = markone.train(texts, target=labels); model",
    "model.evaluate(texts, labels)",
    "model.explain('free tea')",
    "markone.read({'a': [1, 2]})",
    "from markone import plots; plots.confusion(model.evaluate(texts, labels))",
    "print(model.evaluate(texts, labels))",
]


def test_a_real_notebook() -> None:
    """Each result is HTML, with a short line as its text. A figure shows itself."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[0] == []
    for (output,) in outputs[1:6]:
        assert output.output_type == "execute_result"
        assert output.data["text/html"].startswith('<div class="markone">')
        assert "\n" not in output.data["text/plain"] and len(output.data["text/plain"]) <= 200
    assert "<svg" in outputs[5][0].data["text/html"] and "image/png" not in outputs[5][0].data
    assert outputs[6][0].text.startswith("18 of 18 examples are right.")


def test_a_figure_shows_itself() -> None:
    figure = plots.losses_curve()
    assert "<svg" in figure._repr_html_() and "<script" not in figure._repr_html_()
