"""What the page on accuracy says, on the data that it names; skipped where they are not."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markone
from files_of import as_idx

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
DATA = ROOT / os.environ.get("MARKONE_DATA", "../shared/data")
PAGE = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
HALF_A_POINT = 0.005
ADULT_COLUMNS = [
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
CAR_COLUMNS = ["mpg", "cylinders", "displacement", "horsepower", "weight", "acceleration", "year", "origin", "car"]


def folder(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"there is no folder {name} in MARKONE_DATA")
    return DATA / name


def check_claims(data: str, measure: Callable[..., float]) -> None:
    """That the plain setting is as good as the page says, and within half a point of the best."""
    [row] = re.findall(rf"^\| {data}[^|]*\|([^a-z]*)\|", PAGE, re.MULTILINE)
    plain, plain_of_all, best_of_all = (float(share) / 100 for share in row.split("|"))
    settings: dict[str, Any]
    for settings, claimed in (({}, plain), ({"holdout": 0.0}, plain_of_all)):
        found = measure(**settings)
        assert found == pytest.approx(claimed, abs=0.001), (data, settings)
        assert found > best_of_all - HALF_A_POINT, (data, settings)


def of_two_files(train: markone.Source, test: markone.Source, seeds: int = 1) -> Callable[..., float]:
    """The mean of some seeds."""
    return lambda **settings: float(
        np.mean([markone.train(train, seed=seed, **settings).accuracy(test) for seed in range(seeds)])
    )


def of_folds(labels: Any, source_of: Callable[[Any], markone.Source], repeats: int = 1) -> Callable[..., float]:
    """The mean of ten folds, made anew as often as told."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    def measure(**settings: Any) -> float:
        folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=repeats, random_state=0).split(labels, labels)
        shares = [markone.train(source_of(train), **settings).accuracy(source_of(test)) for train, test in folds]
        return float(np.mean(shares))

    return measure


def test_imdb() -> None:
    train, test = (markone.read(folder("imdb") / f"{part}.tsv.gz", format="tab") for part in ("train", "test"))
    check_claims("IMDb", of_two_files(train, test))


def test_newsgroups() -> None:
    train, test = (
        markone.read(folder("newsgroups") / f"{part}.jsonl.gz", target="label") for part in ("train", "test")
    )
    check_claims("20 Newsgroups", of_two_files(train, test))


def test_sms_spam() -> None:
    lines = (folder("sms_spam") / "SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    labels, messages = (np.array(part) for part in zip(*(line.split("\t", 1) for line in lines), strict=True))
    check_claims(
        "SMS spam", of_folds(labels, lambda rows: markone.read(messages[rows].tolist(), target=labels[rows].tolist()))
    )


def test_mnist() -> None:
    train, test = (markone.read(folder("mnist") / f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k"))
    check_claims("MNIST", of_two_files(train, test))


def test_digits(tmp_path: Path) -> None:
    """ASCII art, of which each picture is 28 lines; validation and test set together are what is tested on."""

    def lines_of(name: str) -> list[str]:
        return gzip.decompress((folder("digits") / f"{name}.gz").read_bytes()).decode().split("\n")

    shades = np.zeros(128, np.uint8)
    shades[[ord("+"), ord("#")]] = 128, 255
    for name, parts in (("train", ["training"]), ("test", ["validation", "test"])):
        labels = [int(line) for part in parts for line in lines_of(f"{part}labels") if line]
        art = [line.ljust(28) for part in parts for line in lines_of(f"{part}images")[: 28 * 5000]]
        pixels = shades[np.frombuffer("".join(art[: 28 * len(labels)]).encode(), np.uint8)].reshape(-1, 28, 28)
        (tmp_path / f"{name}-images-idx3-ubyte").write_bytes(as_idx(pixels))
        (tmp_path / f"{name}-labels-idx1-ubyte").write_bytes(as_idx(np.array(labels, np.uint8)))
    train, test = (markone.read(tmp_path / f"{name}-images-idx3-ubyte") for name in ("train", "test"))
    check_claims("CS188 digits", of_two_files(train, test, seeds=4))


def test_adult(tmp_path: Path) -> None:
    # The labels of the test set end in a full stop.
    test_rows = gzip.decompress((folder("adult") / "adult.test.csv.gz").read_bytes()).replace(b"K.", b"K")
    (tmp_path / "test.csv").write_bytes(test_rows)
    train, test = (
        markone.read(path, format="csv", columns=ADULT_COLUMNS, target="income")
        for path in (folder("adult") / "adult.data.gz", tmp_path / "test.csv")
    )
    check_claims("Adult", of_two_files(train, test))


def test_a9a() -> None:
    train, test = (markone.read(folder("a9a") / name, format="libsvm") for name in ("a9a.gz", "a9a.t.gz"))
    check_claims("a9a", of_two_files(train, test))
    assert markone.train(train, epochs=1).features.width == 123


def test_credit(tmp_path: Path) -> None:
    lines = (folder("crx") / "crx.data").read_text().splitlines()

    def source_of(rows: Any) -> markone.Source:
        path = tmp_path / f"{rows[0]}-{len(rows)}-{rows.sum()}.csv"
        path.write_text("\n".join(lines[row] for row in rows))
        return markone.read(path, header=False, target="c15")

    check_claims("Credit approval", of_folds([line[-1] for line in lines], source_of, repeats=15))


def test_automobiles(tmp_path: Path) -> None:
    lines = (folder("auto_mpg") / "auto-mpg.data").read_text().splitlines()
    mileage = np.array([float(line.split()[0]) for line in lines])
    labels = np.where(mileage > np.median(mileage), "good", "bad")

    def source_of(rows: Any) -> markone.Source:
        path = tmp_path / f"{rows[0]}-{len(rows)}-{rows.sum()}.txt"
        path.write_text("\n".join(labels[row] + lines[row][4:] for row in rows))
        return markone.read(
            path,
            format="csv",
            separator="whitespace",
            columns=CAR_COLUMNS,
            target="mpg",
            kinds={"origin": "categorical", "car": "text"},
        )

    check_claims("Automobiles", of_folds(labels, source_of, repeats=15))
    assert "horsepower is missing" in markone.train(source_of(np.arange(len(lines)))).features.names()
