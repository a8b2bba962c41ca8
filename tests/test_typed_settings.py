"""Settings are typed keywords: a wrong name or a wrong kind of value is an error in an editor."""

from __future__ import annotations

import inspect
import json
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


EXAMPLES = """
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import markone
from markone.model.explaining import Explanation, Explanations
from markone.model.running import RunningTotals

model = markone.train(["free money", "see you"], target=["spam", "ham"])
assert_type(model, markone.Model)
assert_type(model.predict("free"), Any)
assert_type(model.predict(["free", "money"]), NDArray[Any])
assert_type(model.predict(Path("a.csv")), NDArray[Any])
assert_type(model.predict({"text": ["free", "money"]}), NDArray[Any])
assert_type(model.scores(["free"]), NDArray[np.float32])
assert_type(model.explain("free"), Explanation)
assert_type(model.explain({"text": "free", "age": 3, "city": None}), Explanation)
assert_type(model.explain("free", running=True), RunningTotals)
assert_type(model.explain(["free", "money"]), Explanations)
model.explain("free").predictions  # wrong
model.explain(["free"]).prediction  # wrong
model.predict("free", thread=2)  # wrong
"""


def wrong_lines(script: str) -> set[int]:
    return {number for number, line in enumerate(script.splitlines(), 1) if line.endswith("# wrong")}


@pytest.mark.slow
@pytest.mark.parametrize("script", [SNIPPET, EXAMPLES], ids=["settings", "examples"])
def test_mypy_finds_what_is_wrong(tmp_path: Path, script: str) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "snippet.py").write_text(script)
    root = Path(__file__).parents[1]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", root / "pyproject.toml", tmp_path / "snippet.py"],
        cwd=root,
        capture_output=True,
        text=True,
    ).stdout
    errors = [line for line in found.splitlines() if "snippet.py:" in line and ": error:" in line]
    assert {int(line.partition("snippet.py:")[2].partition(":")[0]) for line in errors} == wrong_lines(script), found
    assert script is not SNIPPET or 'Unexpected keyword argument "epoch" for "train"' in found


@pytest.mark.slow
@pytest.mark.parametrize("script", [SNIPPET, EXAMPLES], ids=["settings", "examples"])
def test_pyright_finds_what_is_wrong(tmp_path: Path, script: str) -> None:
    """The checker of Visual Studio Code. It sees the package as users do, without our configuration."""
    pytest.importorskip("pyright")
    (tmp_path / "snippet.py").write_text(script)
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"extraPaths": [str(Path(markone.__file__).parents[1])], "pythonVersion": "3.11"})
    )
    asked = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    answer = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True)
    if not answer.stdout.lstrip().startswith("{"):
        pytest.skip(f"pyright cannot run here: {answer.stderr[-200:]}")
    found = json.loads(answer.stdout)["generalDiagnostics"]
    errors = [one for one in found if one["severity"] == "error"]
    assert {one["range"]["start"]["line"] + 1 for one in errors} == wrong_lines(script), errors
    assert script is not SNIPPET or any('No parameter named "epoch"' in one["message"] for one in errors)
