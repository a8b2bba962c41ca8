"""Files that are not read, and files of CSV that are written otherwise than with commas."""

from __future__ import annotations

import pickle
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import markone
from markone.errors import DataError, SettingsError


def database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("create table t (a, b)")
    connection.commit()
    connection.close()


def archive_with(*names: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, "something")

    return make


def tar(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        archive.add(__file__, "a.csv")


def arrays(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, a=np.arange(3))


def beginning(start: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(start + b"\0" * 100) and None  # type: ignore[return-value]


MAKERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "xlsx": (archive_with("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook.*format='excel'"),
    "docx": (archive_with("[Content_Types].xml", "word/document.xml"), "a Word document.*plain text"),
    "ods": (archive_with("mimetype", "content.xml"), "OpenDocument spreadsheet"),
    "zip": (archive_with("a.csv"), "a ZIP archive.*ends in .zip"),
    "npz": (arrays, "an archive of NumPy arrays.*numpy.load"),
    "npy": (lambda path: path.write_bytes(b"\x93NUMPY\x01\0v\0"), "a NumPy array.*numpy.load"),
    "tar": (tar, "a tar archive.*unpack it"),
    "db": (database, "an SQLite database.*format='sqlite'"),
    "pkl": (lambda path: path.write_bytes(pickle.dumps([1, 2])), "a Python pickle.*can run any code"),
    "pdf": (beginning(b"%PDF-1.7\n"), "a PDF document.*pdftotext"),
    "xls": (beginning(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "an old Office document"),
    "png": (beginning(b"\x89PNG\r\n\x1a\n"), "a PNG picture.*format='pictures'"),
    "jpg": (beginning(b"\xff\xd8\xff\xe0"), "a JPEG picture.*format='pictures'"),
    "webp": (beginning(b"RIFF\0\0\0\0WEBP"), "a WebP picture"),
}

PICTURES = ("png", "jpg", "webp")
READ_BY_NAME = ("xlsx", "ods", "xls", "db", "zip", *PICTURES)
"""What is read if the name of the file shows its format."""


@pytest.mark.parametrize("ending", MAKERS)
def test_what_is_not_read_is_told_whatever_it_is_called(ending: str, tmp_path: Path) -> None:
    make, sentence = MAKERS[ending]
    own_name = [] if ending in READ_BY_NAME else [f"a.{ending}"]
    for name in (*own_name, "a", "a.csv", "a.jsonl", "a.txt", "a.libsvm"):
        make(tmp_path / name)
        with pytest.raises(DataError, match=sentence):
            markone.read(tmp_path / name)
    for label in ("cat", "dog"):
        (tmp_path / "texts" / label).mkdir(parents=True)
        make(tmp_path / "texts" / label / f"1.{ending}")
    if ending == "zip":
        return  # the text in it is read
    with pytest.raises(DataError, match="not a picture that can be read" if ending in PICTURES else sentence):
        list(markone.read(tmp_path / "texts").batches())


def test_a_name_alone_says_what_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("a.docx", "folder/b.sav"):
        (tmp_path / name).write_text("nothing that is known")
    with pytest.raises(DataError, match=r"a\.docx is a Word document, which Markone does not read; save"):
        markone.read(tmp_path / "a.docx")
    with pytest.raises(DataError, match=r"b\.sav is an SPSS file"):
        markone.read(tmp_path / "folder")
    (tmp_path / "a.strange").write_text("x")
    with pytest.raises(DataError, match=r"the name of .*a\.strange does not show its format"):
        markone.read(tmp_path / "a.strange")


def test_parquet_by_another_name_is_told(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": [1]}), tmp_path / "a.csv")
    with pytest.raises(DataError, match="a Parquet file.*format='parquet'"):
        markone.read(tmp_path / "a.csv")


# ---- separators


@pytest.mark.parametrize(("sign", "how"), [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars"), (",", None)])
def test_the_separator_of_csv_is_found(sign: str, how: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [["text", "n", "label"], [f'"one{sign} two"', "1", "a"], ['"three, four; five|six"', "2", "b"]]
    path.write_text("".join(sign.join(row) + "\n" for row in rows))
    source = markone.read(path, target="label")
    assert [column.name for column in source.columns] == ["text", "n"]
    [batch] = source.batches()
    assert batch.columns["text"].to_pylist() == [f"one{sign} two", "three, four; five|six"]
    assert ("separated by" in str(source)) == (how is not None)
    if how:
        assert f"a.csv, separated by {how}, by its first 2 rows" in str(source)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,b\n1;2,3\n", ["a", "b"]),  # the first row has a comma
        ("a;b,c\n1;2,3\n", ["a;b", "c"]),
        ("text\nhello; you\nbye; you\n", ["text"]),  # the first row has no other sign either
        ("a;b\n1;2\n3\n", ["a;b"]),  # rows have not equally many fields
        ('"a;b"\n"1;2"\n', ["a;b"]),  # they are in quotes
        ("a;b;c|d\n1;2;3|4\n", ["a", "b", "c|d"]),  # the sign that makes more fields
    ],
)
def test_the_separator_is_a_comma_unless_another_is_certain(text: str, columns: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert [column.name for column in markone.read(tmp_path / "a.csv").columns] == columns


def test_a_separator_that_is_said_is_used(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a;b\n1;2\n")
    assert len(markone.read(tmp_path / "a.csv", separator=",").columns) == 1


# ---- a target that is not there


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("good,pos\nbad,neg\nnice,pos\n", "'good', 'pos'.* looks like an example, .*set header=False.*columns="),
        ("good,pos,1\nbad,neg,2\n", "looks like an example"),
        ("text,kind\ngood,pos\n", r"text', 'kind'\.$"),
        ("good\nbad\n", "A file with one column has no labels"),
        ("a;b\n1;2\n3\n", "If the fields are separated by ';', set separator=';'"),
        ("text,labels\ngood,pos\n", r"text', 'labels'\. Did you mean 'labels'"),
    ],
)
def test_a_target_that_is_not_there_gets_the_columns_and_a_hint(text: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(SettingsError, match=f"target must be a column of .*, not 'label'. It has '.*{hint}"):
        markone.read(tmp_path / "a.csv", target="label")
