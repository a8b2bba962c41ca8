"""Workbooks, databases, archives, pictures, ASCII images, lazy frames and data sets, and NaN in arrays."""

from __future__ import annotations

import io
import os
import sqlite3
import sys
import zipfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import markone
from files_of import damaged
from markone.data import archives, ascii_images, pictures, workbooks
from markone.errors import DataError, LimitError, MarkoneError, SettingsError

CSV = "a,b,y\n" + "1.5,x,0\n2.5,z,1\n" * 30


def kinds_of(source: Any) -> dict[str, str]:
    return {column.name: column.kind for column in source.columns}


def rows_in(source: Any) -> int:
    return sum(map(len, source.batches()))


# ---- workbooks


def workbook(**sheets: list[list[Any]]) -> bytes:
    """An .xlsx file with these sheets, whose cells are texts, numbers, truth values, dates or None."""
    out = io.BytesIO()
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = "http://schemas.openxmlformats.org/package/2006/relationships"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        names = "".join(f'<sheet name="{n}" sheetId="{i}" r:id="r{i}"/>' for i, n in enumerate(sheets, 1))
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{packages}"><Relationship Id="r1" Type="{relations}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml", f'<workbook {space} xmlns:r="{relations}"><sheets>{names}</sheets></workbook>'
        )
        links = "".join(
            f'<Relationship Id="r{i}" Type="{relations}/worksheet" Target="worksheets/sheet{i}.xml"/>'
            for i in range(1, len(sheets) + 1)
        )
        styles = f'<Relationship Id="s" Type="{relations}/styles" Target="styles.xml"/>'
        archive.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{packages}">{links}{styles}</Relationships>'
        )
        archive.writestr(
            "xl/styles.xml",
            f'<styleSheet {space}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        )
        for i, rows in enumerate(sheets.values(), 1):
            cells = "".join(
                f'<row r="{r}">{"".join(cell(value, f"{chr(65 + c)}{r}") for c, value in enumerate(row))}</row>'
                for r, row in enumerate(rows, 1)
            )
            archive.writestr(
                f"xl/worksheets/sheet{i}.xml", f"<worksheet {space}><sheetData>{cells}</sheetData></worksheet>"
            )
    return out.getvalue()


def cell(value: Any, place: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime):
        return f'<c r="{place}" s="1"><v>{(value - datetime(1899, 12, 30)).days}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


HEAD = ["age", "when", "town", "paid", "mixed"]
ROWS: list[list[Any]] = [
    [39, datetime(2024, 3, 5), "Rome", True, "a"],
    [None, datetime(2023, 12, 31), "?", False, 7],
    [50.5, None, "Bern", True, None],
]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    pytest.importorskip("python_calamine")
    path = tmp_path / "people.xlsx"
    path.write_bytes(workbook(Empty=[], People=[[], HEAD, *ROWS], Other=[["x"], ["u"]]))
    return path


def test_a_workbook_is_a_table(book: Path) -> None:
    source = markone.read(book, target="paid")
    assert kinds_of(source) == {"age": "numeric", "when": "date", "town": "categorical", "mixed": "categorical"}
    [batch] = source.batches()
    assert batch.columns["age"].to_pylist() == [39, None, 50.5]
    assert batch.columns["when"].to_pylist() == [ROWS[0][1], ROWS[1][1], None]
    assert batch.columns["town"].to_pylist() == ["Rome", None, "Bern"]
    assert batch.columns["mixed"].to_pylist() == ["a", "7", None]
    assert source.labels == [True, False] and "the first of its sheets, 'People', 'Other'" in str(source)
    assert kinds_of(markone.read(book, sheet="Other")) == {"x": "categorical"}
    assert list(kinds_of(markone.read(book, header=False, sheet="Other"))) == ["c0"]
    assert list(kinds_of(markone.read(book, columns=["v"], sheet="Other"))) == ["v"]
    assert next(markone.read(book, keep=["age"]).batches()).kept["age"] == [39, None, 50.5]
    assert next(markone.read(book, missing=["Rome", ""]).batches()).columns["town"].to_pylist() == [None, "?", "Bern"]


def test_a_model_reads_the_same_sheet_again(book: Path, tmp_path: Path) -> None:
    model = markone.train(markone.read(book, target="paid", sheet="People"))
    model.save(tmp_path / "a.model")
    assert markone.load(tmp_path / "a.model").reading == {"format": "excel", "sheet": "People"}
    assert model.evaluate(markone.read(book, target="paid")).accuracy == 1


def test_bad_workbooks_get_sentences(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="has no sheet 'Pepole'. Did you mean 'People'"):
        markone.read(book, sheet="Pepole")
    numbers = tmp_path / "numbers.xlsx"
    numbers.write_bytes(workbook(A=[[1, 2], [3, 4]]))
    with pytest.raises(DataError, match="numbers.xlsx, line 1: is the first row a header.*header=False"):
        markone.read(numbers)
    assert kinds_of(markone.read(numbers, header=False)) == {"c0": "numeric", "c1": "numeric"}
    (tmp_path / "text.xlsx").write_text("a,b\n")
    with pytest.raises(DataError, match="is not a workbook that can be read"):
        markone.read(tmp_path / "text.xlsx")
    monkeypatch.setattr(workbooks, "LARGEST", 1000)
    with pytest.raises(LimitError, match="too large for a workbook: more than 1,000 bytes; save its sheet as CSV"):
        markone.read(book)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(DataError, match=r"calamine, which is not installed; run: pip install 'markone\[excel\]'"):
        markone.read(book)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(damaged(workbook(A=[HEAD, *ROWS])))
def test_damaged_workbooks_are_read_or_refused(tmp_path: Path, data: bytes) -> None:
    pytest.importorskip("python_calamine")
    (tmp_path / "a.xlsx").write_bytes(data)
    with suppress(MarkoneError):
        rows_in(markone.read(tmp_path / "a.xlsx"))


# ---- databases


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop? 100%#.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "create table sale (id integer primary key, price real, town text, day text, picture blob, y int)"
        )
        rows = [
            (i, i / 2 if i % 9 else None, "Rome" if i % 3 else "Bern", f"2024-01-{1 + i % 28:02}", b"x", i % 2)
            for i in range(9000)
        ]
        connection.executemany("insert into sale values (?, ?, ?, ?, ?, ?)", rows)
    connection.close()
    return path


def test_a_table_of_a_database_is_read(database: Path) -> None:
    source = markone.read(database, target="y")
    assert kinds_of(source) == {"price": "numeric", "town": "categorical", "day": "date"}
    assert source.ids == ["id"] and "picture" in source.ignored and "the table sale" in str(source)
    assert rows_in(source) == rows_in(source) == 9000 and source.labels == [0, 1]
    assert next(source.batches()).columns["price"].to_pylist()[:3] == [None, 0.5, 1.0]
    model = markone.train(source)
    assert model.reading == {"format": "sqlite"}


def test_a_query_is_read(database: Path) -> None:
    query = "select price, upper(town) as town, y from sale where id < 100 order by id desc"
    source = markone.read(database, target="y", query=query)
    assert rows_in(source) == 100 and next(source.batches()).columns["town"].to_pylist()[0] == "BERN"
    assert markone.train(source).reading == {"format": "sqlite", "query": query}
    assert rows_in(markone.read(database, query="sale")) == 9000


@pytest.mark.parametrize(
    "query",
    [
        "delete from sale",
        "drop table sale",
        "attach 'other.db' as other",
        "create table a (b)",
        "pragma user_version = 3",
        "insert into sale (y) values (1)",
        "update sale set y = 1",
        "vacuum into 'other.db'",
        "select load_extension('x')",
    ],
)
def test_a_query_cannot_change_anything(database: Path, query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(database.parent)
    before = database.read_bytes()
    with pytest.raises(MarkoneError):
        rows_in(markone.read(database, query=query))
    assert database.read_bytes() == before and os.listdir(database.parent) == [database.name]


def test_bad_databases_get_sentences(database: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: no such column: unknown"):
        markone.read(database, query="select unknown from sale")
    with pytest.raises(DataError, match="two columns of the same name"):
        markone.read(database, query="select y, y from sale")
    with sqlite3.connect(database) as connection:
        connection.execute("create table other (a)")
    connection.close()
    with pytest.raises(DataError, match=r"has 2 tables: 'other', 'sale'; name one of them, .* with query=\.\.\."):
        markone.read(database)
    (tmp_path / "text.sqlite").write_text("hello, this is no database at all\n" * 9)
    with pytest.raises(DataError, match="file is not a database"):
        markone.read(tmp_path / "text.sqlite")
    sqlite3.connect(tmp_path / "empty.db").close()
    with pytest.raises(DataError, match="no tables"):
        markone.read(tmp_path / "empty.db")
    (tmp_path / "a.csv").write_text(CSV)
    with pytest.raises(SettingsError, match="query means nothing for csv files"):
        markone.read(tmp_path / "a.csv", query="select 1")


def test_a_later_value_of_another_type_gets_a_sentence(database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("update sale set price = 'dear' where id = 8000")
    connection.close()
    with pytest.raises(DataError, match=r"row 8000 of the query: 'price' is not numeric, .*: 'dear'"):
        rows_in(markone.read(database))
    source = markone.read(database, skip_bad=True)
    assert rows_in(source) == 8999 and source.bad.count == 1


def test_duckdb_files_are_read(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table t as select 1.5::decimal(5, 2) as m, date '2024-01-01' as d, ['a', 'b'] as l, 'x' as y"
        )
    source = markone.read(path, target="y")
    assert kinds_of(source) == {"m": "numeric", "d": "date", "l": "set"}
    [batch] = source.batches()
    assert (batch.columns["m"].to_pylist(), batch.columns["l"].to_pylist()) == ([1.5], [["a", "b"]])
    with pytest.raises(DataError, match="cannot be read"):
        markone.read(path, query=f"select * from read_text('{__file__}')")
    with pytest.raises(DataError, match="cannot be read"):
        markone.read(path, query="create table u (a int)")


# ---- archives


def packed(path: Path, **members: bytes | str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)
    return path


def test_an_archive_of_one_file_is_read(tmp_path: Path) -> None:
    parquet = io.BytesIO()
    pa.parquet.write_table(pa.table({"a": [1.5, 2.5], "y": ["u", "v"]}), parquet)
    for path in (
        packed(tmp_path / "a.csv.zip", other=CSV),
        packed(tmp_path / "b.zip", b__csv=CSV, **{"folder/": "", "__MACOSX/._b.csv": "x", ".DS_Store": "x"}),
        packed(tmp_path / "c.ZIP", **{"folder/c__csv": CSV}),
    ):
        source = markone.read(path, target="y")
        assert rows_in(source) == rows_in(source) == 60 and source.labels == [0, 1]
    assert rows_in(markone.read(packed(tmp_path / "d.zip", d__parquet=parquet.getvalue()), target="y")) == 2
    assert rows_in(markone.read(packed(tmp_path / "e.zip", e=CSV), format="csv")) == 60


def test_an_ending_that_is_almost_known_is_guessed(tmp_path: Path) -> None:
    (tmp_path / "a.cvs").write_text(CSV)
    with pytest.raises(DataError, match=r"does not show its format; if you meant \.csv, set format='csv'"):
        markone.read(tmp_path / "a.cvs")


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        ("ham\tsee you\nspam\tfree\nham\thello\nham\tyes\n", "a label, a tab and a text per line: set format='tab'"),
        ("age\tjob\n1\tclerk\n2\tbaker\n", "a table with tabs: set format='tsv'"),
        (CSV, "a table with commas: set format='csv'"),
        ('{"a": 1}\n', "a JSON object per line: set format='jsonl'"),
    ],
)
def test_the_lines_of_a_file_without_an_ending_tell_what_to_set(tmp_path: Path, lines: str, advice: str) -> None:
    (tmp_path / "data").write_text(lines)
    with pytest.raises(DataError, match=f"does not show its format; by its first lines, it is {advice}"):
        markone.read(tmp_path / "data")


def test_treebanks_are_not_for_classifiers(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("1\tA\n")
    with pytest.raises(DataError, match="contains sentences, by its name; taggers and parsers learn from them"):
        markone.read(tmp_path / "a.conllu")


def test_other_archives_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"contains 2 files: a\.csv, b\.csv; an archive must contain one"):
        markone.read(packed(tmp_path / "two.zip", a__csv=CSV, b__csv=CSV))
    with pytest.raises(DataError, match="contains 0 files"):
        markone.read(packed(tmp_path / "none.zip"))
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(DataError, match="cannot be read as one"):
        markone.read(tmp_path / "text.zip")
    with pytest.raises(DataError, match="does not show its format"):
        markone.read(packed(tmp_path / "odd.zip", odd=CSV))
    monkeypatch.setattr(archives, "LARGEST_BY_RATIO", 10**6)
    with pytest.raises(LimitError, match=r"bomb\.csv in .* is 2,000,000 bytes large but packed into .* suspicious"):
        markone.read(packed(tmp_path / "bomb.zip", bomb__csv=b"0" * 2_000_000))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.data())
def test_damaged_archives_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    whole = packed(tmp_path / "whole.csv.zip", a__csv=CSV).read_bytes()
    (tmp_path / "a.csv.zip").write_bytes(data.draw(damaged(whole)))
    with suppress(MarkoneError):
        rows_in(markone.read(tmp_path / "a.csv.zip"))


# ---- pictures


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path / "pictures"
    for label, grey in (("dark", 10), ("light", 200)):
        (folder / label).mkdir(parents=True)
        for i, ending in enumerate(["png", "pgm", "bmp", "png"]):
            pixels = np.full((5, 4), grey + i, np.uint8)
            image.fromarray(pixels).save(folder / label / f"{i}.{ending}")
    return folder


def test_pictures_in_folders_have_labels(classes: Path) -> None:
    source = markone.read(classes)
    assert kinds_of(source) == {"image": "image"} and source.target == "label"
    [batch] = source.batches()
    assert batch.columns["image"].shape == (8, 5, 4) and batch.columns["image"][:, 0, 0].tolist() == [
        10,
        11,
        12,
        13,
        200,
        201,
        202,
        203,
    ]
    assert [source.labels[i] for i in batch.labels] == ["dark"] * 4 + ["light"] * 4
    model = markone.train(classes)
    assert model.reading == {"format": "pictures"} and model.evaluate(markone.read(classes)).accuracy == 1
    unlabelled = markone.read(classes / "light")
    assert unlabelled.target is None and set(model.predict(unlabelled)) == {"light"}
    assert rows_in(markone.read(classes / "dark" / "0.png")) == 1
    with pytest.raises(SettingsError, match="target means nothing for folders of pictures"):
        markone.read(classes, target="label")


def test_pictures_of_other_sizes_and_other_files_are_refused(classes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (3, 3)).save(classes / "light" / "z.png")
    (classes / "light" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(DataError, match=r"broken\.png is not a picture that can be read"):
        rows_in(markone.read(classes))
    (classes / "light" / "broken.png").unlink()
    with pytest.raises(DataError, match=r"z\.png has 3 × 3 pixels, but .*0\.png has 5 × 4"):
        rows_in(markone.read(classes))
    (classes / "light" / "notes.txt").write_text("a note")
    with pytest.raises(DataError, match=r"notes\.txt is not a picture"):
        markone.read(classes)
    source = markone.read(classes, skip_bad=True)
    assert rows_in(source) == 8 and source.bad.count == 2
    monkeypatch.setattr(pictures, "MOST_PIXELS", 10)
    with pytest.raises(DataError, match="5 × 4 pixels; that is too many"):
        markone.read(classes / "dark")


def test_without_pillow_pictures_are_refused_not_read_as_texts(classes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(DataError, match=r"0\.png is a picture, .* Pillow, which is not installed; .*markone\[images\]"):
        markone.read(classes)
    (classes / "dark" / "0.png").rename(classes / "dark" / "0")  # also if the name does not show it
    with pytest.raises(DataError, match="not a picture, by its name|Pillow"):
        markone.read(classes)


# ---- ASCII images


def test_ascii_images_are_read(tmp_path: Path) -> None:
    (tmp_path / "trainingimages").write_text("  # \n +# \n####\n    \n  + \n  # \n")
    (tmp_path / "traininglabels").write_text("4\n7\n")
    source = markone.read(tmp_path / "trainingimages")
    [batch] = source.batches()
    assert source.labels == [4, 7] and batch.columns["image"].tolist()[0] == [
        [0, 0, 255, 0],
        [0, 128, 255, 0],
        [255] * 4,
    ]
    assert markone.train(source).predict(batch.columns["image"]).tolist() == [4, 7]
    (tmp_path / "facedatatrain").write_text("#\n" * 4)
    (tmp_path / "facedatatrainlabels").write_text("1\n0\n")
    assert next(markone.read(tmp_path / "facedatatrain").batches()).columns["image"].shape == (2, 2, 1)
    (tmp_path / "other").write_text("#\n" * 4)
    named = markone.read(tmp_path / "other", format="ascii-images", target=tmp_path / "facedatatrainlabels")
    assert named.labels == [1, 0]
    assert ascii_images.HEIGHT_OF_WIDTH[28] == 28
    (tmp_path / "testimages").write_text((" " * 28 + "\n") * 56)
    assert markone.read(tmp_path / "testimages").target is None and rows_in(markone.read(tmp_path / "testimages")) == 2


def test_bad_ascii_images_get_sentences(tmp_path: Path) -> None:
    (tmp_path / "testimages").write_text("##\n##\n##\n")
    with pytest.raises(DataError, match="no labels that show how many lines an image has"):
        markone.read(tmp_path / "testimages")
    (tmp_path / "testlabels").write_text("1 2")
    with pytest.raises(DataError, match="3 lines and 2 labels, which are not whole images"):
        markone.read(tmp_path / "testimages")
    (tmp_path / "testimages").write_text("#a\n")
    with pytest.raises(DataError, match="has the character 'a'"):
        markone.read(tmp_path / "testimages")


# ---- data in memory


def test_lazy_frames_are_collected() -> None:
    frame = pl.LazyFrame({"a": [1.5, 2.5], "y": ["u", "v"]})
    assert kinds_of(markone.read(frame, target="y")) == {"a": "numeric"}
    model = markone.train(frame, target="y")
    assert model.predict(frame.select("a")).tolist() == ["u", "v"]


def test_data_sets_of_hugging_face_are_read() -> None:
    """The real package is large, so these classes stand for its own."""
    table = pa.table({"text": ["free money now", "see you later"], "label": [1, 0]})

    class Dataset:
        def with_format(self, kind: str) -> pa.Table:
            assert kind == "arrow"
            return table

        def __len__(self) -> int:
            return 2

    class DatasetDict(dict):
        with_format = None

    for made in (Dataset, DatasetDict):
        made.__module__ = "datasets.arrow_dataset"
    assert kinds_of(markone.read(Dataset(), target="label")) == {"text": "text"}
    assert markone.train(Dataset(), target="label").predict(["free money"]).tolist() == [1]
    with pytest.raises(DataError, match=r"choose one: 'train', 'test', as in data\['train'\]"):
        markone.read(DatasetDict(train=1, test=2), target="label")


def test_nan_in_arrays_is_missing_if_asked() -> None:
    X = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, np.nan], [4.0, 6.0]])
    with pytest.raises(DataError, match="NaN"):
        markone.train(X, target=[0, 1, 0, 1])
    source = markone.read(X, target=[0, 1, 0, 1], nan="missing")
    assert next(source.batches()).columns["x1"].to_pylist() == [None, 5.0, None, 6.0]
    model = markone.train(source)
    assert "x1 is missing" in model.features.names()
    assert model.predict(X).tolist() == [0, 1, 0, 1] == model.predict([{"x0": x, "x1": z} for x, z in X]).tolist()
    with pytest.raises(SettingsError, match="nan is about dense arrays"):
        markone.read(["a"], nan="missing")
    with pytest.raises(SettingsError, match="nan must be one of"):
        markone.read(X, nan="zero")
