"""What the page on accuracy says, on the data that it names; skipped where they are not."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markone

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
DATA = ROOT / os.environ.get("MARKONE_DATA", "../shared/data")
PAGE = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
found: dict[str, Any] = {}
exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], found)  # type: ignore[index]
TEXT: dict[str, Any] = found["TEXT"]


def claimed(data: str) -> float:
    [share] = re.findall(rf"^\| {data}[^|]*\| ([0-9.]+) % \|", PAGE, re.MULTILINE)
    return float(share) / 100


def folder(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"there is no folder {name} in MARKONE_DATA")
    return DATA / name


def text(**changes: Any) -> dict[str, Any]:
    return {**TEXT, "text": {**TEXT["text"], **changes}}


def test_imdb() -> None:
    train, test = (markone.read(folder("imdb") / f"{part}.tsv.gz", format="tab") for part in ("train", "test"))
    model = markone.train(train, rule="mira", C=0.3, epochs=20, features=text(words=[1, 3]))
    assert model.accuracy(test) > max(0.92, claimed("IMDb") - 0.001)


def test_newsgroups() -> None:
    train, test = (
        markone.read(folder("newsgroups") / f"{part}.jsonl.gz", target="label") for part in ("train", "test")
    )
    model = markone.train(train, rule="mira", C=0.3, epochs=20, features=text(words=[1, 2]))
    assert len(model.classes) == 20 and model.accuracy(test) > max(0.865, claimed("20 Newsgroups") - 0.001)


def test_sms_spam() -> None:
    from sklearn.model_selection import StratifiedKFold

    lines = (folder("sms_spam") / "SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    labels, messages = (np.array(part) for part in zip(*(line.split("\t", 1) for line in lines), strict=True))
    shares = []
    for learn, test in StratifiedKFold(10, shuffle=True, random_state=0).split(messages, labels):
        source = markone.read(messages[learn].tolist(), target=labels[learn].tolist())
        model = markone.train(source, rule="mira", C=0.3, epochs=20, features=text(words=[1, 2], min_count=1))
        shares.append(np.mean(model.predict(messages[test].tolist()) == labels[test]))
    assert np.mean(shares) > max(0.985, claimed("SMS spam") - 0.001)


def test_mnist() -> None:
    train, test = (markone.read(folder("mnist") / f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k"))
    pixels = markone.train(train, rule="perceptron", epochs=10)
    assert pixels.accuracy(test) > max(0.92, claimed("MNIST digits, 10 classes") - 0.001)
    conjunctions = {"image": {"pixels": "none", "patches": 2}}
    patches = markone.train(train, rule="mira", C=0.01, epochs=10, features=conjunctions)
    assert patches.accuracy(test) > max(0.97, claimed("MNIST digits, conjunctions") - 0.001)


def test_adult(tmp_path: Path) -> None:
    columns = [
        "age",
        "workclass",
        "fnlwgt",
        "education",
        "education-num",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "capital-gain",
        "capital-loss",
        "hours-per-week",
        "native-country",
        "income",
    ]
    # The labels of the test set end in a full stop.
    test_rows = gzip.decompress((folder("adult") / "adult.test.csv.gz").read_bytes()).replace(b"K.", b"K")
    (tmp_path / "test.csv").write_bytes(test_rows)
    train, test = (
        markone.read(path, format="csv", columns=columns, target="income")
        for path in (folder("adult") / "adult.data.gz", tmp_path / "test.csv")
    )
    model = markone.train(train, rule="mira", C=0.01, epochs=10)
    assert model.accuracy(test) > max(0.85, claimed("Adult") - 0.001)


def test_a9a() -> None:
    train, test = (markone.read(folder("a9a") / name, format="libsvm") for name in ("a9a.gz", "a9a.t.gz"))
    model = markone.train(train, rule="mira", C=0.01, epochs=10)
    assert model.features.width == 123 and model.accuracy(test) > 0.845


def test_credit_and_automobiles_are_read_as_they_are() -> None:
    credit = markone.read(folder("crx") / "crx.data", format="csv", header=False, target="c15")
    assert markone.train(credit, epochs=10, C=0.01, holdout=0.2).history[9].holdout > 0.8  # type: ignore[operator]
    cars = markone.read(
        folder("auto_mpg") / "auto-mpg.data",
        format="csv",
        separator="whitespace",
        columns=["mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration", "year", "origin", "car"],
        target="origin",
        kinds={"origin": "categorical"},
    )
    model = markone.train(cars, epochs=20, C=0.01)
    assert model.classes == ["1", "2", "3"] and model.accuracy(cars) > 0.75
    assert "horsepower is missing" in model.features.names()
