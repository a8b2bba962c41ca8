"""The kinds of columns: how they are guessed, with which reasons, how values are read, and what is made of them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from markone.data.amounts import amount
from markone.data.dates import STYLES, guess_date, parser
from markone.data.guesses import guess
from markone.data.source import Batch, Column
from markone.errors import DataError, SettingsError
from markone.features.map import FeatureMap
from markone.features.sets import Sets
from markone.features.spec import Categorical, Features
from markone.reference.features import items_of_set, pieces_of_date
from parts import learn, names_of, transform

RANDOM = np.random.default_rng(7)


def table(tmp_path: Path, name: str = "a.csv", **columns: list[Any]) -> Path:
    """A CSV file of these columns; every field is quoted."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(f'"{value}"' for value in row) for row in rows)]
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def kinds_of(source: Any) -> dict[str, str]:
    return {column.name: column.kind for column in source.columns}


# ---- guesses


@pytest.mark.parametrize(
    ("name", "values", "kind", "reason"),
    [
        ("when", ["2024-03-05", "2023-12-31"], "date", "dates"),
        ("when", ["2024-03-05T14:00Z", "2023-12-31"], "datetime", "dates with times"),
        ("when", ["20240305", "20231231"], "date", "dates"),
        ("when", ["5/3/2024", "31/3/2024"], "day-first-date", "the day is first in '31/3/2024'"),
        ("when", ["5/3/2024", "3/31/2024"], "month-first-date", "the day is second in '3/31/2024'"),
        ("when", ["22-02-2015 18.15"], "day-first-datetime", "the day is first"),
        ("when", ["5/3/2024"], "month-first-date", "no value shows the order, so the month is first"),
        ("when", ["5.3.2024"], "day-first-date", "no value shows the order, so the day is first"),
        ("when", ["31/3/2024", "3/31/2024"], "categorical", ""),
        ("month", ["2024-03", "2023-12"], "date", "dates"),
        ("code", ["2024-13", "2023-12"], "categorical", ""),
        ("when", ["2024-02-30", "2024-01-01"], "categorical", ""),
        ("when", ["Mar 5, 2024", "5 March 2023", "Dec-2015"], "date", "dates"),
        ("created_at", ["1425000000", "1425000300"], "datetime", "Unix times"),
        ("count", ["1425000000", "1425000300"], "numeric", "numbers"),
        ("price", ["$1,234.56", "$3"], "numeric", "numbers written for people, such as '$1,234.56'"),
        ("price", ["1.234,56 €", "3 €"], "decimal-comma", "decimal comma"),
        ("price", ["3,5", "4"], "decimal-comma", "decimal comma"),
        ("share", ["12 %", "3.5%"], "numeric", "numbers"),
        ("rent", ["3k", "1.5M"], "numeric", "numbers"),
        ("balance", ["(45)", "1\u202f234"], "numeric", "numbers"),
        ("zip", ["01234", "99999"], "categorical", "'01234' has a leading zero"),
        ("flag", ["t", "F"], "boolean", "only 'F' and 't'"),
        ("flag", ["Y", "n"], "boolean", ""),
        ("flag", ["on", "OFF"], "boolean", ""),
        ("flag", ["Ja", "Nein"], "boolean", ""),
        ("code", ["t", "y", "n", "f"] * 5, "categorical", ""),
        ("code", ["f", "f", "f"], "categorical", ""),
        ("height", ["1.5", "2"], "numeric", "numbers"),
    ],
)
def test_few_values_show_a_kind(name: str, values: list[str], kind: str, reason: str) -> None:
    found = guess(pa.array(values), True, name)
    assert found.kind == kind and reason in found.reason


@pytest.mark.parametrize(
    ("name", "values", "kind", "reason"),
    [
        ("customerID", [f"{i:04}-XK{i % 7}" for i in range(500)], None, "an id: 500 different values in 500 rows"),
        ("hash", [f"{i * 7919:08x}9" for i in range(500)], None, "an id"),
        ("user", [f"{'abcdefgh'[i % 8]}{'xyzuv'[i % 5]}{'klmn'[i // 40 % 4]}{'rst' * (i // 160)}" for i in range(480)],
         "text", "single words that are rarely repeated"),
        ("site", [f"http://a.org/{i}" for i in range(100)], "text", "single words"),
        ("row", [str(i) for i in range(100)], None, "the numbers of the rows"),
        ("tweet_id", [str(5 * 10**17 + i * 977 % 10**6) for i in range(100)], None, "an id, by its name"),
        ("number", [str(5 * 10**17 + i * 977 % 10**6) for i in range(100)], None, "long whole numbers"),
        ("weight", [str(i * 977 % 10**4) for i in range(100)], "numeric", "whole numbers"),
        ("sorted", [str(i * 3) for i in range(100)], "numeric", "whole numbers"),
        ("zone_type", [str(i % 30) for i in range(100)], "categorical", "codes, by its name: 30 different"),
        ("floor", [str(i % 30) for i in range(100)], "numeric", "whole numbers"),
        ("doors", [str(2 + i % 4) for i in range(400)], "categorical", "codes: only 4 different whole numbers"),
        ("doors", [str(2 + i % 4) for i in range(399)], "numeric", "whole numbers"),
        ("grade", [f"{2 + i % 4}.5" for i in range(400)], "numeric", "numbers"),
        ("genres", [f"{'abc'[i % 3]};{'def'[i % 2]}" for i in range(60)], "set", "5 different items"),
        ("genres", [f"{'abc'[i % 3]}, {'def'[i % 2]}" for i in range(60)], "comma-set", "commas"),
        ("genres", [f"['{'abc'[i % 3]}', '{'def'[i % 2]}']" for i in range(60)], "comma-set", "5 different items"),
        ("place", [f"town{i}, TX" for i in range(60)], "text", "words on average"),
    ],
)  # fmt: skip
def test_many_values_show_a_kind(name: str, values: list[str], kind: str | None, reason: str) -> None:
    found = guess(pa.array(values), True, name)
    assert found.kind == kind and reason in found.reason
    if kind is None:
        assert found.otherwise is not None


def test_numbers_of_frames_are_guessed_like_those_of_files() -> None:
    frame = pd.DataFrame(
        {"id": range(7000, 7100), "code": [*range(50)] * 2, "n": np.arange(100) * 37 % 91, "y": [0, 1] * 50}
    )
    for one in (frame, pl.DataFrame(frame), pa.Table.from_pandas(frame)):
        source = markone.read(one, target="y")
        assert kinds_of(source) == {"code": "categorical", "n": "numeric"}
        assert source.ignored == {"id": "an id, by its name: 100 different numbers in 100 rows"}
    strings = pa.table({"a": ["1", "2"], "b": ["$1", "2"]})  # strings of plain digits are words, as before
    assert kinds_of(markone.read(strings)) == {"a": "categorical", "b": "numeric"}


def test_ids_are_used_if_there_is_nothing_else(tmp_path: Path) -> None:
    path = table(tmp_path, id=list(range(60)), y=["a", "b"] * 30)
    source = markone.read(path, target="y")
    assert kinds_of(source) == {"id": "numeric"} and "there is no other column" in source.reasons["id"]


def test_a_guess_can_be_corrected(tmp_path: Path) -> None:
    path = table(tmp_path, id=list(range(60)), zip=["01234", "99999"] * 30, when=["5/3/2024"] * 60, y=["a", "b"] * 30)
    said = {"id": "numeric", "zip": "numeric", "when": "day-first-date"}
    source = markone.read(path, target="y", kinds=said)
    assert kinds_of(source) == said and set(source.reasons.values()) == {"as you said"}
    batch = next(source.batches())
    assert batch.columns["zip"].to_pylist()[:2] == [1234.0, 99999.0]
    assert batch.columns["when"].to_pylist()[0] == datetime(2024, 3, 5)
    with pytest.raises(SettingsError, match="'day-first-dat'.*Did you mean 'day-first-date'"):
        markone.read(path, kinds={"when": "day-first-dat"})


def test_numbers_need_no_comma_if_they_are_numbers(tmp_path: Path) -> None:
    path = table(tmp_path, price=["3,5", "4"] * 5, y=["a", "b"] * 5)
    model = markone.train(path, target="y")
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"price": 3.5}\n{"price": 4}\n')
    for same in ([{"price": 3.5}, {"price": 4.0}], lines, table(tmp_path, "b.csv", price=["3,5", "4,0"], x=[1, 2])):
        assert model.predict(same).tolist() == ["a", "b"]


def test_a_later_value_that_is_no_date_gets_a_sentence(tmp_path: Path) -> None:
    path = table(tmp_path, when=["2024-03-05"] * 6000 + ["soon"], x=[1.5] * 6001)
    with pytest.raises(DataError, match=r"line 6002: 'when' is not of kind date: 'soon'; .*'when': 'categorical'"):
        list(markone.read(path).batches())
    source = markone.read(path, skip_bad=True)
    assert sum(map(len, source.batches())) == 6000 and source.bad.count == 1


def test_later_amounts_are_read_with_the_plain_numbers_before_them(tmp_path: Path) -> None:
    values = [str(i % 999) for i in range(300_000)]
    values[200_000], values[290_000] = "$1,234.50", "(7)"
    path = table(tmp_path, price=values, x=[1.5] * len(values))
    for threads in (1, 2):
        found = np.concatenate(
            [batch.columns["price"].to_numpy() for batch in markone.read(path, threads=threads).batches()]
        )
        assert found[200_000] == 1234.5 and found[290_000] == -7 and found[:999].tolist() == [*range(999)]
    values[250_000] = "seven"
    path = table(tmp_path, price=values, x=[1.5] * len(values))
    with pytest.raises(DataError, match=r"line 250002: 'price' is not a (finite )?number: 'seven'"):
        list(markone.read(path).batches())
    source = markone.read(path, skip_bad=True)
    assert sum(map(len, source.batches())) == 299_999 and source.bad.count == 1


# ---- amounts


@given(
    st.integers(-(10**9), 10**9), st.sampled_from(["$", "€", "", "EUR "]), st.sampled_from([",", " ", "\u2009", "'"])
)
def test_amounts_are_what_was_written(cents: int, sign: str, mark: str) -> None:
    whole, rest = divmod(abs(cents), 100)
    digits = f"{whole:,}.{rest:02}".replace(",", mark)
    minus = "-" if cents < 0 else ""
    number = pytest.approx(cents / 100)
    assert amount(f"{minus}{sign}{digits}") == number
    assert amount(f"({sign}{digits})") == pytest.approx(-abs(cents) / 100)
    if mark != "'":
        comma = digits.replace(".", ";").replace(",", ".").replace(";", ",")
        assert amount(f"{minus}{comma} {sign.strip()}", comma=True) == number
        assert amount(f"{minus}{comma}") is None or rest == 0 or mark == ","


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_plain_numbers_are_amounts(value: float) -> None:
    assert amount(repr(value)) == value


@pytest.mark.parametrize(
    "text", ["", "$", "()", "(5", "5)", "1,23", "12,34,567", "--5", "-$-5", "5 m", "1e999", "0x10", "nan"]
)
def test_other_texts_are_no_amounts(text: str) -> None:
    assert amount(text) is None


# ---- dates


WAYS = {
    "date": ["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d %b %Y", "%B %d, %Y", "%a, %d %b %Y"],
    "day-first-date": ["%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y"],
    "month-first-date": ["%m/%d/%Y", "%m-%d-%Y"],
    "datetime": ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%SZ", "%Y-%m-%d %I:%M:%S %p", "%a %b %d %H:%M:%S +0000 %Y"],
    "day-first-datetime": ["%d.%m.%Y %H:%M:%S", "%d/%m/%Y, %H.%M.%S"],
    "month-first-datetime": ["%m/%d/%Y %I:%M:%S%p"],
}


@given(
    st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1)), st.sampled_from([(k, w) for k in WAYS for w in WAYS[k]])
)
def test_dates_are_what_was_written(when: datetime, way: tuple[str, str]) -> None:
    kind, format = way
    when = when.replace(microsecond=0) if STYLES[kind].has_time else datetime(when.year, when.month, when.day)
    if format != "%Y%m%d" or 1900 <= when.year < 2100:
        assert parser(kind)(when.strftime(format)) == when


@given(
    st.lists(st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)), min_size=1), st.sampled_from(["day", "month"])
)
def test_the_order_of_day_and_month_is_that_of_the_column(days: list[datetime], first: str) -> None:
    written = [day.strftime("%d/%m/%Y" if first == "day" else "%m/%d/%Y") for day in days]
    found = guess_date(written)
    assert found is not None
    if any(day.day > 12 for day in days):
        assert found[0] == f"{first}-first-date"
        assert [parser(found[0])(text) for text in written] == [datetime(d.year, d.month, d.day) for d in days]
    else:
        assert found[0] == "month-first-date" and "no value shows the order" in found[1]


def test_serial_numbers_of_excel_are_dates_if_said(tmp_path: Path) -> None:
    path = table(tmp_path, when=["45356", "45356.75"], x=[1, 2])
    assert kinds_of(markone.read(path))["when"] == "numeric"
    batch = next(markone.read(path, kinds={"when": "excel-datetime"}).batches())
    assert batch.columns["when"].to_pylist() == [datetime(2024, 3, 5), datetime(2024, 3, 5, 18)]


@pytest.mark.parametrize(
    "kind", [pa.date32(), pa.date64(), *map(pa.timestamp, ("s", "ms", "us", "ns")), pa.timestamp("ms", "UTC")]
)
def test_dates_of_arrow_are_dates(kind: Any) -> None:
    when = [datetime(2024, 3, 5), None, datetime(1950, 1, 1)]
    source = markone.read({"when": pa.array(when, pa.timestamp("us")).cast(kind), "x": [1.5, 2, 3]})
    assert kinds_of(source)["when"] == "date"
    assert next(source.batches()).columns["when"].to_pylist() == when


@given(
    st.lists(st.none() | st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)), min_size=1),
    st.sampled_from(["date", "datetime"]),
)
def test_what_is_made_of_dates(when: list[datetime | None], kind: str) -> None:
    columns = (Column("when", kind),)
    feature_map = FeatureMap(Features(numeric={"scale": "none", "missing": "zero"}), columns)
    batch = Batch({"when": pa.array(when, pa.timestamp("us"))}, len(when))
    feature_map.absorb(feature_map.collect(batch), None)
    feature_map.finish()
    for row, moment in zip(feature_map.named([{"when": one} for one in when]), when, strict=True):
        if moment is None:
            assert row and all(name.endswith("is missing") and value == 1 for name, value in row.items())
            continue
        pieces = pieces_of_date("when", moment, kind == "datetime")
        wanted = {f"{n}={v}" if isinstance(v, str) else n: 1 if isinstance(v, str) else v for n, v in pieces.items()}
        assert row == {name: value for name, value in wanted.items() if value != 0}


def test_a_column_may_be_named_like_a_piece_of_a_date() -> None:
    columns = (Column("when", "date"), Column("when.year", "numeric"))
    assert [column.name for column in FeatureMap(Features(), columns).made] == [
        "when.month", "when.day", "when.weekday", "when.days", "when.year",
    ]  # fmt: skip


def test_dates_are_learned_saved_and_explained(tmp_path: Path) -> None:
    days = [datetime(2024, 1, 1) + timedelta(days=i) for i in range(300)]
    labels = ["rest" if day.weekday() >= 5 else "work" for day in days]
    path = table(tmp_path, when=[f"{day:%d/%m/%Y}" for day in days], y=labels)
    model = markone.train(path, target="y", features={"columns": {"when.days": {"scale": "max-abs"}}})
    model.save(tmp_path / "a.model")
    model = markone.load(tmp_path / "a.model")
    assert model.evaluate(path).accuracy == 1
    assert model.predict([{"when": "7/12/2024"}, {"when": "9/12/2024"}]).tolist() == ["rest", "work"]
    assert model.predict(pd.DataFrame({"when": [datetime(2024, 12, 7)]})).tolist() == ["rest"]
    assert model.predict({"when": "7/12/2024"}) == "rest"
    assert "when.weekday=Saturday" in str(model.explain({"when": "7/12/2024"}))


def test_a_missing_date_or_set_counts_as_missing() -> None:
    days = [datetime(2024, 1, 1) + timedelta(days=i) for i in range(60)]
    frame = pl.DataFrame({"when": days, "tags": [["a"], ["b"]] * 30, "x": np.arange(60) % 7 / 2, "y": [0, 1] * 30})
    model = markone.train(frame, target="y")
    with pytest.warns(
        markone.MarkoneWarning, match="lacks columns 'when', 'tags' of the model, which count as missing"
    ):
        assert model.predict([{"x": 3}])[0] in (0, 1)


# ---- sets


@given(
    st.lists(st.none() | st.lists(st.sampled_from(["a", "b", "ä;", ""]), max_size=5), min_size=1, max_size=6),
    st.integers(1, 3),
)
def test_what_is_made_of_sets(sets: list[list[str] | None], min_count: int) -> None:
    part = Sets(Column("tags", "set"), Categorical(min_count=min_count))
    batches = [Batch({"tags": pa.array(some, pa.list_(pa.string()))}, len(some)) for some in (sets[:2], sets[2:])]
    rows = learn(part, *batches)
    wanted = [items_of_set("tags", items) for items in sets]
    often = {
        name
        for row in wanted
        for name in row
        if sum(name in other for other in wanted) >= min_count or "missing" in name
    }
    assert rows == [{name: 1.0 for name in row if name in often} for row in wanted]
    assert set(names_of(part)) == often
    assert transform(part, Batch({"tags": pa.array([["new"]])}, 1)) == [{}]


def test_sets_are_learned_from_files_frames_and_objects(tmp_path: Path) -> None:
    kept = [["red", "blue"], ["red"], ["green", "blue"], ["green"]] * 20
    labels = ["yes" if "red" in tags else "no" for tags in kept]
    written = table(tmp_path, tags=[";".join(tags) for tags in kept], x=[1.5] * 80, y=labels)
    lines = tmp_path / "a.jsonl"
    lines.write_text(
        "".join(json.dumps({"tags": t, "x": 1.5, "y": y}) + "\n" for t, y in zip(kept, labels, strict=True))
    )
    for data in (written, lines, pl.DataFrame({"tags": kept, "x": [1.5] * 80, "y": labels})):
        model = markone.train(data, target="y")
        assert kinds_of(markone.read(data, target="y"))["tags"] == "set"
        assert model.predict([{"tags": ["red", "white"], "x": 1}, {"tags": ["blue"], "x": 1}]).tolist() == ["yes", "no"]
        assert model.predict([{"tags": "red; white", "x": 1}, {"tags": "blue|green", "x": 1}]).tolist() == ["yes", "no"]
        assert model.predict({"tags": ["red"], "x": 1}) == "yes"
        assert "tags has red" in model.features.names()


# ---- objects within objects


def test_objects_within_objects_become_columns(tmp_path: Path) -> None:
    rows = [{"by": {"name": "Ada", "at": {"age": i}}, "y": i % 2} for i in range(3)]
    lines = tmp_path / "a.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame = pa.Table.from_pylist(rows)
    pa.parquet.write_table(frame, tmp_path / "a.parquet")
    for data in (lines, tmp_path / "a.parquet", frame, rows, pl.DataFrame(rows)):
        source = markone.read(data, target="y")
        assert kinds_of(source) == {"by.name": "categorical", "by.at.age": "numeric"}
        assert next(source.batches()).columns["by.at.age"].to_pylist() == [0, 1, 2]
    for path in (lines, tmp_path / "a.parquet"):
        kept = next(markone.read(path, target="y", keep="all").batches()).kept
        values = kept["by"] if isinstance(kept["by"], list) else kept["by"].to_pylist()
        assert set(kept) == {"by", "y"} and values[1] == {"name": "Ada", "at": {"age": 1}}
        assert set(next(markone.read(path, target="y", keep=["by.name"]).batches()).kept) == {"by.name"}
    model = markone.train(rows, target="y")
    assert len(model.predict([{"by": {"name": "Ada", "at": {"age": 1}}}])) == 1
    assert model.predict({"by": {"name": "Ada", "at": {"age": 1}}}) in (0, 1)


def test_numbers_that_pandas_has_left_as_strings_are_numbers(tmp_path):
    """pandas reads a column with a blank field as strings. Codes have no decimal point, and remain categories."""
    lines = [f"{i + 0.5},{1000 + i},{'ab'[i > 20]}" for i in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["amount,zip,label", *lines, " ,1001,a"]))
    table = pd.read_csv(tmp_path / "a.csv", dtype={"zip": str})
    assert not pd.api.types.is_numeric_dtype(table["amount"])
    source = markone.read(table, target="label")
    assert {one.name: one.kind for one in source.columns} == {"amount": "numeric", "zip": "categorical"}
    values = next(iter(source.batches())).columns["amount"].to_pylist()
    assert values == [*(i + 0.5 for i in range(40)), None]
    [amount] = [one for one in markone.inspect(table, target="label").columns if one.name == "amount"]
    assert (amount.missing, amount.distinct) == (1, 40)
    texts = markone.read({"text": ["1.5", "2.5", "three"], "label": ["a", "b", "a"]}, target="label")
    assert [one.kind for one in texts.columns] == ["text"]
