"""Settings are typed keywords: a wrong name or a wrong kind of value is an error in an editor."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import markone
from markone import Parser, Settings, StructuredPerceptron, Tagger
from markone.model.settings import TrainSettings, TrialSettings
from markone.structured.parser_settings import ParserSettings
from markone.structured.tagger_settings import TaggerSettings

TYPED = {
    markone.train: TrainSettings,
    markone.validate: TrialSettings,
    markone.tune: TrialSettings,
    markone.trace: TrainSettings,
}


@pytest.mark.parametrize("function", TYPED, ids=lambda one: one.__name__)
def test_keywords_are_those_of_the_settings(function: Any) -> None:
    """All of them, with their types, and each once: those that are no parameters of their own."""
    typed, parameters = TYPED[function], inspect.signature(function).parameters
    assert parameters["settings"].annotation == f"Unpack[{typed.__name__}]"
    hints, theirs = get_type_hints(Settings), get_type_hints(typed)
    assert not typed.__required_keys__
    assert theirs == {field.name: hints[field.name] for field in fields(Settings) if field.name not in parameters}
    assert {"rule", *theirs} | ({"seed", "start"} & set(parameters)) == {field.name for field in fields(Settings)}


@pytest.mark.parametrize(
    ("train", "settings"),
    [(Tagger.train, TaggerSettings), (Parser.train, ParserSettings), (StructuredPerceptron, Settings)],
    ids=lambda one: one.__qualname__,
)
def test_structured_learners_spell_theirs_out(train: Any, settings: Any) -> None:
    parameters = inspect.signature(train).parameters
    assert not any(one.kind == inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    if settings is not Settings:
        assert {field.name for field in fields(settings)} <= set(parameters)


SNIPPET = """
import markone
from pathlib import Path
from sklearn.base import ClassifierMixin

markone.train("a.csv", target="y", rule="svm", epochs=3, C=0.1, seed=2, start="random", order="each")
markone.train("a.csv", rule="mlp", hidden=(3, 2), dropout=0.1, holdout=0.2, patience=2)
markone.validate("a.csv", folds=3, rule="hinge", eta=0.1, schedule="sqrt", seed=1)
markone.compare("a.csv", rules=["mira"], folds=3)
markone.tune("a.csv", rule="logistic", solver="online", penalty="l1")
markone.trace([[1, 2]], [1], tie="negative", bias=False, start={})
markone.Tagger.train("a.conllu", epochs=3, decode="greedy")
markone.Parser.train("a.conllu", mode="fast")
chosen = markone.tune("a.csv")
markone.train("a.csv", features=chosen.features, **chosen.settings)
model = markone.train("a.csv", epoch=3)  # wrong
markone.train("a.csv", epochs="many")  # wrong
markone.train("a.csv", rule="winnow")  # wrong
markone.train("a.csv", schedule="cosine")  # wrong
markone.validate("a.csv", fold=3)  # wrong
markone.validate("a.csv", average="yes")  # wrong
markone.tune("a.csv", strenght=1.0)  # wrong
markone.trace([[1, 2]], [1], ties="negative")  # wrong
markone.compare("a.csv", epochs=3)  # wrong
markone.Tagger.train("a.conllu", decode="fast")  # wrong
markone.Tagger.train("a.conllu", epoch=3)  # wrong
markone.Parser.train("a.conllu", modes="fast")  # wrong
"""


@pytest.mark.slow
def test_a_type_checker_finds_wrong_names_and_kinds(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "snippet.py").write_text(SNIPPET)
    root = Path(__file__).parents[1]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", root / "pyproject.toml", tmp_path / "snippet.py"],
        cwd=root,
        capture_output=True,
        text=True,
    ).stdout
    wrong = {number for number, line in enumerate(SNIPPET.splitlines(), 1) if line.endswith("# wrong")}
    errors = [line for line in found.splitlines() if "snippet.py:" in line and ": error:" in line]
    assert {int(line.partition("snippet.py:")[2].partition(":")[0]) for line in errors} == wrong, found
    assert 'Unexpected keyword argument "epoch" for "train"' in found
