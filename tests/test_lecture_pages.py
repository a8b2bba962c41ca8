"""The notebooks of the lectures, and the glossary."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import markone
from markone.cli import main
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


def test_the_index_counts_each_topic_once() -> None:
    text = MAKE.index(list(decks().values()))
    rows = re.findall(r"^\| \d{3} \| \[", text, re.MULTILINE)
    assert f"and drawn: {len(topics())} topics." in text
    assert len(rows) == sum(len(deck.topics) for deck in decks().values()) > len(topics())


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
        "mistake-driven", "sign", "sign(0)", "step function", "threshold", "convergence", "separator", "misclassified",
        "update rule", "iteration", "closed form", "loocv", "test-set method", "overtraining", "thrash",
        "linear interpolation", "maximum step size", "activation function", "radius r", "norm",
        "cauchy-schwarz inequality", "patchboard", "generalization",
    ],
)  # fmt: skip
def test_the_words_of_the_lectures_are_in_the_glossary(term: str) -> None:
    assert term in TERMS


COMMANDS = sorted({*re.findall(r"`markone (train DATA [^`]*)`", (DOCS / "glossary.md").read_text(encoding="utf-8"))})


@pytest.mark.parametrize("command", COMMANDS)
def test_training_as_in_the_glossary_works_with_few_rows(command: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["x,y,COLUMN", *(f"{i % 7},{i % 5},{'yes' if i % 7 > i % 5 else 'no'}" for i in range(60))]
    if "regression" in command:
        rows = [row.replace("yes", "1.5").replace("no", "2.5") for row in rows]
    for name in ("DATA", "TEST"):
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "SPEC.toml").write_text('[numeric]\nscale = "standard"\n')
    words = [{"DATA": "DATA.csv", "TEST": "TEST.csv"}.get(word, word) for word in command.split()]
    assert main(words) == 0, capsys.readouterr().err
    rows_used = 48 if "--patience" in words else ""  # the other 12 are held out
    what = "numbers" if "regression" in command else "2 classes"
    assert f"Learned {what} of COLUMN from {rows_used}" in capsys.readouterr().out


def test_topics_that_the_glossary_names_exist() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    named = re.findall(r"`markone lecture (\d+) ([a-z0-9-]+)`", text)
    assert len(named) > 10
    for number, name in named:
        assert name in {topic.name for topic in decks()[number].topics}, (number, name)
    assert set(topics()) == {topic.name for deck in decks().values() for topic in deck.topics}
