"""The notebooks of the lectures, and the glossary."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import markone
from markone.lectures.decks import decks, topics
from pages import script_of_docs

DOCS = Path(__file__).parents[1] / "docs"
MAKE = script_of_docs("make_lectures")
TERMS = [
    term.strip().lower()
    for line in (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| term", "| ---"))
    for term in line.split(" | ")[0].removeprefix("| ").split(",")
]


@pytest.mark.parametrize("number", decks())
def test_a_notebook_has_a_call_for_each_topic(number: str) -> None:
    deck = decks()[number]
    notebook = json.loads(json.dumps(MAKE.notebook(deck)))
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code[0] == "import markone"
    assert code[1:] == [f'markone.lecture("{number}", "{topic.name}")' for topic in deck.topics]
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert notebook["nbformat"] == 4


def shown_by(code: str) -> str:
    """What a notebook shows for the value of a cell."""
    names: dict[str, object] = {"markone": markone}
    html: str = eval(compile(code, "cell", "eval"), names)._repr_html_()
    return html


def test_a_cell_shows_numbers_and_a_picture() -> None:
    html = shown_by('markone.lecture("000", "trace")')
    assert "<pre>pass  row  label" in html and "<svg" in html and "<script" not in html


@pytest.mark.slow
@pytest.mark.parametrize("number", decks())
def test_every_cell_of_a_notebook_runs(number: str) -> None:
    for cell in MAKE.notebook(decks()[number])["cells"]:
        code = "".join(cell["source"])
        if cell["cell_type"] == "code" and code != "import markone":
            assert "<svg" in shown_by(code), code


def test_the_glossary_is_in_order_and_says_each_term_once() -> None:
    first = [line.split(" | ")[0] for line in (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines()]
    entries = [entry.lower() for entry in first if entry.startswith("| ") and entry not in ("| term", "| ---")]
    assert entries == sorted(entries)
    assert len(TERMS) == len(set(TERMS))


@pytest.mark.parametrize(
    "term",
    [
        "cross-validation", "bag of words", "overfitting", "smoothing", "regularisation", "gradient descent",
        "linearly separable", "hyperplane", "decision boundary", "one-hot", "posterior", "converge", "held-out set",
        "mistake-driven",
    ],
)  # fmt: skip
def test_the_words_of_the_lectures_are_in_the_glossary(term: str) -> None:
    assert term in TERMS


def test_topics_that_the_glossary_names_exist() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    named = re.findall(r"`markone lecture (\d+) ([a-z0-9-]+)`", text)
    assert len(named) > 10
    for number, name in named:
        assert name in {topic.name for topic in decks()[number].topics}, (number, name)
    assert set(topics()) == {topic.name for deck in decks().values() for topic in deck.topics}
