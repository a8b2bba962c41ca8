"""The slim core: with NumPy and a few small packages, models can be loaded and used."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import markone
from markone.extras import EXTRAS, need
from slim import SLIM, make_environment, run

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TEXTS, LABELS = ["free money", "see you", "free tea", "see me"] * 20, ["spam", "ham"] * 40


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Path]:
    """A slim environment, and a folder with models and what they predict."""
    folder = tmp_path_factory.mktemp("work")
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": random.integers(18, 80, 80).astype(float),
            "city": random.choice(["Rome", "Oslo"], 80),
            "note": random.choice(TEXTS, 80),
        }
    )
    table.loc[::7, "age"] = np.nan
    label = np.where(table["age"] > 40, "old", "young")
    gaps = markone.read(table[["age"]].to_numpy(), target=label, nan="missing")
    rows = [{"age": 50, "city": "Rome", "note": "free"}, {"age": None, "city": "Bonn", "note": ""}, {"city": "Oslo"}]
    models = {
        "texts": (markone.train(TEXTS, target=LABELS), ["free you", "see money"]),
        "table": (markone.train(table, target=label, rule="logistic"), rows),
        "curves": (markone.train(table[["age", "city"]], target=label), [{"age": 50, "city": "Rome"}, {"age": 20}]),
        "array": (markone.train(table[["age"]].fillna(0).to_numpy(), target=label, rule="mira"), [[50.0], [20.0]]),
        "gaps": (markone.train(gaps), [[50.0], [np.nan]]),
        "numbers": (markone.train(table[["age"]].fillna(0), target=np.arange(80.0), rule="regression"), [{"age": 3.5}]),
    }  # fmt: skip
    expected = {}
    for name, (model, examples) in models.items():
        model.save(folder / f"{name}.model")
        given = np.array(examples) if name in ("array", "gaps") else examples
        expected[name] = {"examples": examples, "scores": model.scores(given).tolist()}
    (folder / "expected.json").write_text(json.dumps(expected))
    (folder / "new.txt").write_text("free you\nsee money\n")
    pd.DataFrame({"text": ["free"]}).to_csv(folder / "new.csv")
    packages = tmp_path_factory.mktemp("slim")
    return make_environment(packages), folder


def test_the_slim_core_is_what_is_declared() -> None:
    assert {re.split("[<>=]", one)[0] for one in PROJECT["dependencies"]} == set(SLIM)
    extras = PROJECT["optional-dependencies"]
    for package, extra, _ in EXTRAS.values():
        assert any(package.lower() in one for one in [extra, *extras[extra]]), package
    assert "markone[sklearn,plot,excel,images,serve,onnx,js]" in extras["all"]


def test_nothing_else_is_there(place: tuple[list[str], Path]) -> None:
    command, folder = place
    code = "import importlib.util as u; print([m for m in ('pyarrow', 'scipy', 'sklearn', 'pandas') if u.find_spec(m)])"
    assert run(command, code, folder) == "[]\n"


def test_models_are_loaded_and_used(place: tuple[list[str], Path]) -> None:
    """With the same bits as where everything is installed."""
    command, folder = place
    code = """
import json, numpy as np, markone
for name, one in json.load(open("expected.json")).items():
    model = markone.load(f"{name}.model")
    arrays = name in ("array", "gaps")
    examples = np.array(one["examples"]) if arrays else one["examples"]
    assert model.scores(examples).tolist() == one["scores"], (name, model.scores(examples), one["scores"])
    assert len(model.predict(examples)) == len(examples)
    first = examples[:1] if arrays else examples[0]
    assert "<table>" in (next(model.explain(first)) if arrays else model.explain(first))._repr_html_()
    assert "<table>" in model._repr_html_() and str(model)
    model.save(f"{name}.again")
    assert open(f"{name}.again", "rb").read() == open(f"{name}.model", "rb").read()
print("done")
"""
    assert run(command, code, folder) == "done\n"


def test_the_command_line(place: tuple[list[str], Path]) -> None:
    command, folder = place
    code = """
from markone.cli import main
assert main(["predict", "texts.model", "new.txt"]) == 0
assert main(["explain", "texts.model", "--text", "free"]) == 0
assert main(["predict", "texts.model", "new.csv"]) == 2
"""
    assert run(command, code, folder).startswith("spam\nham\n")


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("markone.read('new.csv')", "tables"),
        ("markone.train(['a b', 'c d'], target=['x', 'y'])", "tables"),
        ("markone.Perceptron", "sklearn"),
        ("markone.validate([[1.0], [2.0]], target=[0, 1])", "sklearn"),
        ("markone.compare([[1.0], [2.0]], target=[0, 1])", "sklearn"),
        ("markone.tune([[1.0], [2.0]], target=[0, 1])", "sklearn"),
        ("markone.certify(np.eye(2), [0, 1])", "sklearn"),
        ("markone.lecture('000', 'trace')", "tables"),
        ("markone.load('table.model').predict('new.csv')", "tables"),
    ],
)
def test_what_is_missing_is_said(place: tuple[list[str], Path], code: str, extra: str) -> None:
    command, folder = place
    script = f"""
import markone, numpy as np
try:
    {code}
except markone.MarkoneError as error:
    print(error)
"""
    said = run(command, script, folder)
    assert f"is not installed: pip install 'markone[{extra}]'" in said and "markone[all]" in said


def test_structured_models_and_arrays_need_nothing_more(place: tuple[list[str], Path]) -> None:
    command, folder = place
    code = """
import markone, numpy as np
tagger = markone.Tagger.train([[("the", "DET"), ("dog", "NOUN")]] * 3, epochs=2)
assert tagger.tag([["the", "dog"]]) == [["DET", "NOUN"]]
model = markone.train(np.eye(4), target=["a", "b", "a", "b"], rule="perceptron")
assert model.predict(np.eye(4)).tolist() == ["a", "b", "a", "b"]
print("done")
"""
    assert run(command, code, folder) == "done\n"


def test_wrong_examples_get_a_sentence(place: tuple[list[str], Path]) -> None:
    command, folder = place
    code = """
import markone, numpy as np
table, gaps = markone.load("table.model"), markone.load("gaps.model")
wrong = [(table, {"age": "old"}), (table, [{"other": 1}]), (gaps, np.eye(3))]
for model, examples in wrong:
    try:
        model.predict(examples)
    except markone.DataError as error:
        print(error)
"""
    first, second, third = run(command, code, folder).splitlines()
    assert first == "column 'age' must have numbers, but here it has ['old']"
    assert second.startswith("the model needs the column 'age', and the data has other")
    assert third == "the model needs 1 columns, and the array has 3"


def test_nothing_is_needed_where_all_is_installed() -> None:
    need(*(module for module in EXTRAS if module != "ray"))  # which is as large as all others together
