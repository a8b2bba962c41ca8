"""`markone.inspect`: what it says about columns, and what it warns about."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import markone
from markone.errors import DataError, MarkoneError, SettingsError

RANDOM = np.random.default_rng(3)
ROWS = 400
LABELS = np.where(RANDOM.random(ROWS) < 0.4, "yes", "no")

REASONS = RANDOM.choice(["a", "b", "c"], ROWS)


def frame(**columns: Any) -> pd.DataFrame:
    noise = RANDOM.normal(size=ROWS)
    return pd.DataFrame({"noise": noise, **columns, "y": LABELS})


def about(data: Any, **options: Any) -> list[tuple[str, str | None]]:
    return [(one.about, one.column) for one in markone.inspect(data, target="y", **options).remarks]


def test_columns_are_shown_with_kind_reason_and_counts() -> None:
    colours = ["red", "green", None, "blue"] * (ROWS // 4)
    found = markone.inspect(frame(colour=colours, when=pd.date_range("2024-01-01", periods=ROWS)), target="y")
    assert found.rows == ROWS and found.remarks == []
    by_name = {column.name: column for column in found.columns}
    assert list(by_name) == ["noise", "colour", "when", "y"]
    colour = by_name["colour"]
    assert (colour.kind, colour.missing, colour.distinct, colour.makes) == ("categorical", 100, 3, "3 categories")
    assert colour.examples == "red, green, blue" and "3 different words" in colour.reason
    assert by_name["when"].makes == "its year, month, day, weekday, days"
    assert by_name["y"].kind == "target"
    assert found.classes == {"no": int((LABELS == "no").sum()), "yes": int((LABELS == "yes").sum())}
    assert "Nothing looks wrong." in str(found) and max(map(len, str(found).splitlines())) <= 80
    assert "<table>" in found._repr_html_() and json.dumps(found.as_dict())


@pytest.mark.parametrize(
    ("columns", "remark"),
    [
        ({"id": range(5000, 5000 + ROWS)}, ("id", "id")),
        ({"c": ["x"] * ROWS}, ("constant", "c")),
        ({"outcome": np.where(LABELS == "yes", "late", "on time")}, ("gives the target away", "outcome")),
        ({"delay": np.where(LABELS == "yes", 60, 0) + RANDOM.random(ROWS)}, ("gives the target away", "delay")),
        ({"why": np.where(LABELS == "yes", REASONS, None)}, ("gives the target away", "why")),
        ({"age": ["unknown", *map(str, RANDOM.integers(0, 30, ROWS - 1))]}, ("almost numbers", "age")),
    ],
)  # fmt: skip
def test_a_column_gets_a_remark(columns: dict[str, Any], remark: tuple[str, str]) -> None:
    assert about(frame()) == []
    assert about(frame(**columns)) == [remark]


def test_copies_are_found() -> None:
    town = RANDOM.choice(["Rome", "Oslo", "Bern"], ROWS)
    code = pd.Series(town).map({"Rome": 7, "Oslo": 3, "Bern": 5})
    number = RANDOM.normal(size=ROWS)
    assert about(frame(town=town, code=code, n=number, m=number, k=number + 1)) == [("copy", "code"), ("copy", "m")]


def test_one_class_of_three_can_be_given_away() -> None:
    labels = RANDOM.choice(["good", "fair", "bad"], ROWS)
    data = pd.DataFrame({"x": RANDOM.normal(size=ROWS), "why": np.where(labels == "bad", "slow", None), "y": labels})
    [remark] = markone.inspect(data, target="y").remarks
    assert str(remark) == (
        "why alone tells bad from the other classes in 100.0% of the rows. Is it known before the outcome? If not, "
        "leave it out: kinds={'why': 'ignore'}"
    )


def test_a_good_column_does_not_give_the_target_away() -> None:
    noisy = np.where(RANDOM.random(ROWS) < 0.1, np.where(LABELS == "yes", "no", "yes"), LABELS)
    assert about(frame(hint=noisy)) == []
    assert about(frame(unique=[f"{label} {i}" for i, label in enumerate(LABELS)])) == []


@pytest.mark.parametrize(
    ("labels", "remarks"),
    [
        (RANDOM.integers(0, 28, ROWS), ["measurement"]),
        (RANDOM.normal(size=ROWS), ["measurement"]),
        ([f"name{i}" for i in range(ROWS)], ["target of ids"]),
        (["a"] * ROWS, ["one class"]),
        (["a"] * (ROWS - 15) + ["b"] * 15, ["imbalance"]),
        (["a"] * 200 + ["b"] * (ROWS - 203) + ["c"] * 3, ["rare classes"]),
        ([None, None, *LABELS[2:]], ["unlabelled"]),
    ],
)
def test_a_target_gets_a_remark(labels: Any, remarks: list[str]) -> None:
    assert [one for one, _ in about(frame().assign(y=labels))] == remarks


def test_equal_rows_with_different_labels() -> None:
    data = pd.DataFrame({"a": np.arange(ROWS) % 150, "b": np.arange(ROWS) % 50, "y": LABELS})
    found = {one.about: str(one) for one in markone.inspect(data, target="y").remarks}
    rows = data.groupby(["a", "b"])["y"].nunique()
    torn = data.set_index(["a", "b"]).index.isin(rows[rows > 1].index).sum()
    assert found["different labels"].startswith(f"{torn} rows equal another row except for the label")
    assert found["repeated rows"].startswith(f"{ROWS - 150} rows repeat an earlier row")


def test_a_wrong_separator_or_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("price, EUR;size;y\n" + "3;4;a\n5;6;b\n" * 30)
    # The first row has one comma, but the others have none, which is only seen when they are read.
    with pytest.raises(DataError, match="there is 1 field instead of 2"):
        markone.inspect(path)
    path = tmp_path / "b.tsv"
    path.write_text("a,b\n1,2\n3,4\n")
    [remark] = markone.inspect(path).remarks
    assert (remark.about, str(remark)) == (
        "separator", "the fields seem to be separated by ','; if they are, set separator=','",
    )  # fmt: skip
    assert markone.inspect(path, separator=",").remarks == []
    path = tmp_path / "c.csv"
    path.write_text("red,big,yes\n" + "blue,small,no\nred,big,yes\n" * 30)
    remarks = markone.inspect(path).remarks
    assert remarks[0].about == "header" and "set header=False" in str(remarks[0])
    assert "header" not in [one.about for one in markone.inspect(path, header=False).remarks]


def test_labels_may_stand_beside_the_data() -> None:
    assert about_labels(markone.inspect(frame().drop(columns="y"), target=LABELS.tolist())) == {"yes", "no"}
    texts = markone.inspect(["free money", "see you"] * 30, target=["spam", "ham"] * 30)
    assert about_labels(texts) == {"spam", "ham"}


def about_labels(found: markone.Inspection) -> set[Any]:
    return set(found.classes)


def test_other_formats_are_inspected_too(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("spam\tfree money\nham\tsee you\nham\tbye\n")
    found = markone.inspect(path)
    assert [(c.name, c.kind, c.makes) for c in found.columns] == [("text", "text", "features of its words")]
    assert found.classes == {"ham": 2, "spam": 1} and found.rows == 3
    assert markone.inspect(markone.read(path)).classes == found.classes
    matrix = markone.inspect(np.eye(60), target=[0, 1] * 30)
    assert matrix.classes == {0: 30, 1: 30} and matrix.columns[0].kind == "rows"


def test_mistakes_get_sentences(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="target must be a column of the table, not 'z'"):
        markone.inspect(frame(), target="z")
    path = tmp_path / "a.csv"
    path.write_bytes(gzip.compress(b"a,y\n1,2\n"))
    assert markone.inspect(path, target="y").rows == 1
    with pytest.raises(MarkoneError):
        markone.inspect(tmp_path / "none.csv")


def test_all_rows_are_inspected_not_only_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "x,0\n" * 60_000 + "z,1\n")
    found = markone.inspect(path, target="y")
    assert found.rows == 50_000 and "the first 50,000 rows" in str(found)
    path.write_text("a,y\n" + "x,0\n" * 40_000 + "z,1\n")
    assert markone.inspect(path, target="y").columns[0].distinct == 2
