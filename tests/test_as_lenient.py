"""Python is not stricter than the command line: the same examples, names and defaults work in both."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import markone
from markone import DataError, Model
from markone.cli import main


@pytest.fixture
def messy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A table as people have them, also as a file."""
    random = np.random.default_rng(0)
    rows = 200
    frame = pd.DataFrame(
        {
            "Id": range(rows),
            " Age ": random.integers(18, 80, rows).astype(float),
            "joined": pd.date_range("2020-01-01", periods=rows).strftime("%d/%m/%Y"),
            "income": [f"${number:,.2f}" for number in random.normal(50_000, 9_000, rows)],
            "city": random.choice(["Rome", "Oslo", None], rows),
            "notes": [" ".join(random.choice(["good", "bad", "slow", "fast"], 6)) for _ in range(rows)],
        }
    )
    frame.loc[::7, " Age "] = np.nan
    frame["left"] = (frame[" Age "].fillna(40) > 45).astype(int)
    monkeypatch.chdir(tmp_path)
    frame.to_csv("messy.csv", index=False)
    return frame


@pytest.fixture
def model(messy: pd.DataFrame) -> Model:
    return markone.train(messy[:150], target="left", rule="mira")


def test_evaluation_knows_its_target(messy: pd.DataFrame, model: Model, capsys: pytest.CaptureFixture[str]) -> None:
    model.save("left.model")
    assert main(["evaluate", "left.model", "messy.csv", "--json"]) == 0
    right = json.loads(capsys.readouterr().out)["right"]
    for examples in (messy, "messy.csv", Path("messy.csv"), messy.to_dict("records"), markone.read("messy.csv")):
        assert model.evaluate(examples).right == right
    assert model.accuracy(messy) == right / 200 and model.losses(messy).zero_one == 200 - right
    assert len(model.errors(messy, most=3)) == min(3, 200 - right)


def test_names_with_spaces_around_them(messy: pd.DataFrame, model: Model) -> None:
    """A file is read without them, and a frame has them. Each fits the other's model."""
    of_file = markone.train("messy.csv", target="left", rule="mira")
    assert np.array_equal(model.scores("messy.csv"), model.scores(messy))  # no warning of a missing column
    assert np.array_equal(of_file.scores(messy), of_file.scores(Path("messy.csv")))
    two = messy.assign(Age=1.0)  # both names are there, so nothing is guessed
    assert np.array_equal(model.scores(two), model.scores(messy))


def test_the_name_of_a_file(model: Model, messy: pd.DataFrame) -> None:
    assert len(model.predict("messy.csv")) == 200
    texts = markone.train(["free money", "see you"] * 4, target=["spam", "ham"] * 4)
    assert isinstance(texts.predict("messy.csv"), str)  # a text, for a model of texts


def test_settings_from_numpy(messy: pd.DataFrame) -> None:
    given = {"epochs": np.int64(3), "C": np.float32(0.5), "average": np.bool_(False), "seed": np.array(4)}
    assert markone.train(messy, target="left", rule="mira", **given).digest == (
        markone.train(messy, target="left", rule="mira", epochs=3, C=0.5, average=False, seed=4).digest
    )


def test_without_a_target_both_say_the_same(messy: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DataError) as raised:
        markone.train("messy.csv")
    assert main(["train", "messy.csv"]) == 2
    said = capsys.readouterr().err.removeprefix("markone: ").strip()
    assert "the columns of messy.csv are Id, Age, joined" in str(raised.value)
    assert said == str(raised.value).replace("target='left'", "--target left")


def test_certify_has_the_name_of_the_command_line(messy: pd.DataFrame) -> None:
    points = messy[[" Age ", "left"]].dropna()
    assert markone.certify(points, target="left").separable == markone.certify(points, "left").separable is True


@pytest.mark.parametrize("nan", ["error", "missing"])
def test_a_row_of_an_array_is_one_example(nan: str) -> None:
    """As a row of a frame is."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    for settings in ({"rule": "mira"}, {"rule": "regression"}):
        target = X[:, 0] * 3 if settings["rule"] == "regression" else (X[:, 0] > 0).tolist()
        model = markone.train(markone.read(X, target=target, nan=nan), **settings)
        for row in (X[0], X[0].astype(np.float32)):
            assert model.predict(row) == model.predict(X[:1])[0]
            assert np.array_equal(model.scores(row), model.scores(X[:1])[0])
            assert model.explain(row).prediction == model.predict(row)
        with pytest.raises(DataError, match="2|x0"):
            model.predict(X[0][:2])
