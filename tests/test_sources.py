"""Sources: the same examples, whatever they are kept in, and a sentence for everything that is wrong."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import markone
from files_of import (
    COMPRESSED,
    EVERY,
    IMAGES,
    LINES,
    MARKS,
    TABLE,
    TABLE_SETTINGS,
    TABLES,
    as_idx,
    damaged,
)
from markone.data.chunks import CHUNK
from markone.data.source import Column, GivenRows, Source
from markone.errors import DataError, MarkoneError, SettingsError


def write(folder: Path, name: str, data: bytes | str) -> str:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def examples(source: Source) -> list[tuple[Any, ...]]:
    """All examples of a source, as plain values: each column's, then the label and the importance."""
    found: list[tuple[Any, ...]] = []
    for batch in source.batches():
        assert len(batch) > 0 and list(batch.columns) == [column.name for column in source.columns]
        columns = [values_of(batch.columns[column.name]) for column in source.columns]
        labels = [None] * len(batch) if batch.labels is None else batch.labels.tolist()
        columns.append([None if number in (None, -1) else source.labels[number] for number in labels])
        columns.append([1.0] * len(batch) if batch.importance is None else batch.importance.tolist())
        found += zip(*columns, strict=True)
    return found


def values_of(column: Any) -> list[Any]:
    if isinstance(column, np.ndarray):
        return column.tolist()
    if not isinstance(column, GivenRows):
        return [value.decode() if isinstance(value, bytes) else value for value in column.to_pylist()]
    names = column.names.since(0)
    matrix = column.matrix
    if isinstance(matrix, np.ndarray):
        return [dict(zip(names, row, strict=True)) for row in matrix.tolist()]
    assert matrix.shape[1] <= len(names) and matrix.data.dtype == np.float32
    return [
        {names[i]: float(v) for i, v in zip(matrix.indices[a:b], matrix.data[a:b], strict=True)}
        for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]


THE_TABLE = [
    (row["age"], row["job"], row["member"], row["note"], row["label"], row["weight"]) for row in TABLE.to_pylist()
]
KINDS = [("age", "numeric"), ("job", "categorical"), ("member", "boolean"), ("note", "text")]


def kinds_of(source: Source) -> list[tuple[str, str]]:
    return [(column.name, column.kind) for column in source.columns]


# ---- the same table in every form


@pytest.mark.parametrize("ending", COMPRESSED)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_the_same_in_every_format(name: str, ending: str, tmp_path: Path) -> None:
    path = write(tmp_path, name + ending, COMPRESSED[ending](TABLES[name]))
    source = markone.read(path, **TABLE_SETTINGS)
    assert kinds_of(source) == KINDS
    assert examples(source) == THE_TABLE
    assert examples(source) == THE_TABLE, "a second time"
    assert source.labels == ["no way", "да"] and source.target == "label"


def frames() -> dict[str, Any]:
    import pandas as pd
    import polars as pl

    return {
        "pyarrow": TABLE,
        "batch": TABLE.combine_chunks().to_batches()[0],
        "reader": TABLE.to_reader(max_chunksize=5),
        "pandas": TABLE.to_pandas(),
        "pandas with an index": pd.DataFrame(TABLE.to_pandas().to_dict("list"), index=[f"row {i}" for i in range(12)]),
        "polars": pl.from_arrow(TABLE),
        "dictionaries": TABLE.to_pylist(),
        "columns": TABLE.to_pydict(),
    }


@pytest.mark.parametrize("form", list(frames()))
def test_a_table_is_the_same_in_every_frame(form: str) -> None:
    source = markone.read(frames()[form], **TABLE_SETTINGS)
    assert kinds_of(source) == KINDS
    assert examples(source) == THE_TABLE
    assert examples(source) == THE_TABLE, "a second time"


def test_a_relation_of_duckdb_is_read() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().from_arrow(TABLE).project("*")
    assert examples(markone.read(relation, **TABLE_SETTINGS)) == THE_TABLE


def test_columns_of_texts_and_numbers_in_pandas_are_read_as_texts() -> None:
    """pandas makes such columns of files whose first parts look like numbers, and of workbooks."""
    mixed = pd.DataFrame({"code": [1, "x", None, 2.5] * 5, "size": [1.0, 2.0, 3.0, np.nan] * 5, "y": ["a", "b"] * 10})
    before = mixed.copy()
    source = markone.read(mixed, target="y")
    assert [(column.name, column.kind) for column in source.columns] == [("code", "categorical"), ("size", "numeric")]
    [batch] = source.batches()
    assert batch.columns["code"].to_pylist()[:4] == ["1", "x", None, "2.5"]
    pd.testing.assert_frame_equal(mixed, before)
    odd: list[Any] = [1, "x", {2}, (3,)]
    with pytest.raises(DataError, match="Conversion failed for column odd"):
        markone.read(mixed.assign(odd=odd * 5), target="y")


def test_the_name_of_a_series_of_labels_is_that_of_the_target() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "kind": ["a", "a", "b", "b"]})
    for labels, name in [(frame["kind"], "kind"), (pl.Series("kind", ["a", "a", "b", "b"]), "kind")]:
        model = markone.train(frame[["size"]], labels)
        assert model.target == name and model.evaluate(frame).total == 4
    for labels in (
        frame["kind"].rename("size"),
        frame["kind"].rename(None),
        frame["kind"].rename(7),
        ["a", "a", "b", "b"],
    ):
        assert markone.train(frame[["size"]], labels).target == "label"


def test_frames_are_not_copied() -> None:
    frame = pa.table({"x": np.arange(10.0), "word": ["a"] * 10})
    [batch] = markone.read(frame).batches()
    for name in ("x", "word"):
        assert batch.columns[name].buffers()[-1].address == frame[name].chunk(0).buffers()[-1].address


@pytest.mark.parametrize("name", EVERY)
def test_any_number_of_threads_gives_the_same(name: str, tmp_path: Path) -> None:
    chosen = TABLE_SETTINGS if name in TABLES else {}
    path = write(tmp_path, name, EVERY[name])
    one, three = (markone.read(path, **chosen, threads=threads) for threads in (1, 3))
    assert examples(one) == examples(three) and one.labels == three.labels


@pytest.mark.parametrize("format", ["libsvm", "vw", "tab", "csv"])
def test_many_chunks_and_threads_give_the_same(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("markone.data.chunks.CHUNK", 2**16)
    dice = random.Random(0)
    line = {
        "libsvm": lambda: (
            f"{dice.randrange(9)} " + " ".join(f"{dice.randrange(5000)}:{dice.random():.3f}" for _ in range(9))
        ),
        "vw": lambda: f"{dice.randrange(9)} |w " + " ".join(f"f{dice.randrange(5000)}" for _ in range(12)),
        "tab": lambda: f"{dice.randrange(9)}\t" + "naïve text " * dice.randrange(12),
        "csv": lambda: f'{dice.randrange(9)},"{"a, b" * dice.randrange(19)}\n",{dice.random()}',
    }[format]
    data = "".join(line() + "\n" for _ in range(4_000))
    path = write(tmp_path, "data", data)
    chosen: dict[str, Any] = {"header": False, "target": "c0"} if format == "csv" else {}
    read = [markone.read(path, format=format, threads=threads, **chosen) for threads in (1, 4)]
    batches = [list(source.batches()) for source in read]
    assert len(batches[0]) >= 3 and read[0].labels == read[1].labels
    for one, four in zip(*batches, strict=True):
        assert one.labels.tolist() == four.labels.tolist()
        for name, column in one.columns.items():
            if isinstance(column, GivenRows):
                for part in ("indptr", "indices", "data"):
                    assert getattr(column.matrix, part).tolist() == getattr(four.columns[name].matrix, part).tolist()
            else:
                assert column.to_pylist() == four.columns[name].to_pylist()
    again = [batch.labels.tolist() for batch in read[1].batches()]
    assert again == [batch.labels.tolist() for batch in batches[1]]


# ---- lines

SPAM = [("free money", "spam", 1.0), ("see you, Жорж", "ham", 1.0), ("prize", "spam", 1.0)]
LINE_EXAMPLES = {
    "rows.libsvm": [({"1": 1, "7": 0.5}, "1", 1.0), ({"3": 2}, "-1", 1.0), ({"1": -3}, "1", 1.0)],
    "rows.vw": [({"a^b": 2, "a^c": 1, "d^e": 1}, "1", 2.0), ({"f": 3}, "-1", 1.0), ({"a^b": 1}, "1", 1.0)],
    "texts.ft": SPAM,
    "texts.txt": [('free "money', "spam", 1.0), *SPAM[1:]],
}


@pytest.mark.parametrize("ending", COMPRESSED)
@pytest.mark.parametrize("name", LINES)
def test_lines_are_read(name: str, ending: str, tmp_path: Path) -> None:
    source = markone.read(write(tmp_path, name + ending, COMPRESSED[ending](LINES[name])))
    assert examples(source) == LINE_EXAMPLES[name]
    assert source.columns[0].kind == ("text" if "texts" in name else "rows")


def test_lines_without_a_label_are_unlabelled(tmp_path: Path) -> None:
    source = markone.read(write(tmp_path, "a.txt", "\tno label\nx\ty\n"))
    assert examples(source) == [("no label", None, 1.0), ("y", "x", 1.0)]
    [batch] = source.batches()
    assert batch.labels is not None and batch.labels.tolist() == [-1, 0]


def test_bytes_that_are_no_text_survive_in_lines(tmp_path: Path) -> None:
    [batch] = markone.read(write(tmp_path, "a.txt", b"x\t\xff\xfe ok\n")).batches()
    assert batch.columns["text"].data.tobytes() == b"\xff\xfe ok"


@pytest.mark.parametrize("name", ["texts.txt", "rows.libsvm", "rows.vw"])
def test_blank_lines_are_passed_over(name: str, tmp_path: Path) -> None:
    data = b"\n" + LINES[name].replace(b"\n", b"\r\n\r\n")
    assert examples(markone.read(write(tmp_path, name, data))) == LINE_EXAMPLES[name]


@pytest.mark.parametrize("name", LINES)
def test_bad_lines_are_told_or_passed_over(name: str, tmp_path: Path) -> None:
    bad = {
        "texts.txt": b"no tab",
        "texts.ft": b"__label__a __label__b",
        "rows.libsvm": b"1 x:1",
        "rows.vw": b"1 no bar",
    }
    path = write(tmp_path, name, LINES[name] + bad[name] + b"\n" + LINES[name])
    with pytest.raises(DataError, match=rf"{name}, line 4: .*; skip_bad=True skips such lines"):
        examples(markone.read(path))
    source = markone.read(path, skip_bad=True)
    assert examples(source) == 2 * LINE_EXAMPLES[name]
    assert source.bad.count == 1 and f"{name}, line 4: " in source.bad.first[0]


def test_a_file_in_which_nothing_is_right(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no lines that can be read as tab"):
        examples(markone.read(write(tmp_path, "a.txt", "x\n" * 10), format="tab", skip_bad=True))
    with pytest.raises(DataError, match="has no rows"):
        examples(markone.read(write(tmp_path, "a.csv", "x,y\n" + "x\n" * 10), skip_bad=True))


def test_names_of_features_grow(tmp_path: Path) -> None:
    paths = [Path(write(tmp_path, f"{i}.vw", f"a | w{i} x\n")) for i in range(3)]
    source = markone.read(paths)
    seen = []
    for batch in source.batches():
        given_rows = batch.columns["features"]
        seen.append((given_rows.matrix.width, given_rows.names.since(0)[: given_rows.matrix.width]))
    assert seen[0] == (2, ["w0", "x"]) and seen[2] == (4, ["w0", "x", "w1", "w2"])
    assert given_rows.names.since(3) == ["w2"] and len(given_rows.names) == 4


# ---- folders, patterns, standard input


def test_patterns_and_folders_of_parts(tmp_path: Path) -> None:
    for i in range(3):
        write(tmp_path, f"part-{i}.csv.gz", gzip.compress(f"x,y\n{i},a\n".encode()))
    write(tmp_path, "_SUCCESS", "")
    write(tmp_path, ".hidden.csv", "broken")
    for what in (str(tmp_path), tmp_path, str(tmp_path / "part-*.csv.gz"), sorted(tmp_path.glob("part*"))):
        assert [row[0] for row in examples(markone.read(what, target="y"))] == [0, 1, 2]


def test_a_folder_for_each_class(tmp_path: Path) -> None:
    for label, texts in {"spam": ["free money", "prize"], "ham": ["see you"]}.items():
        (tmp_path / label).mkdir()
        for i, text in enumerate(texts):
            write(tmp_path / label, f"{i}.txt", text)
    source = markone.read(tmp_path)
    assert examples(source) == [("see you", "ham", 1.0), ("free money", "spam", 1.0), ("prize", "spam", 1.0)]
    assert "ham, spam" in str(source)
    write(tmp_path, "more.txt", "a\tb\n")
    with pytest.raises(DataError, match="both files and folders; choose: format='folders'"):
        markone.read(tmp_path)
    assert len(examples(markone.read(tmp_path, format="folders"))) == 3
    with pytest.raises(DataError, match=r"longer than 3 bytes"):
        examples(markone.read(tmp_path, format="folders", longest_line=3))
    short = markone.read(tmp_path, format="folders", longest_line=7, skip_bad=True)
    assert len(examples(short)) == 2 and short.bad.count == 1


def test_folders_without_anything_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no files whose names show a known format"):
        markone.read(tmp_path)
    (tmp_path / "a").mkdir()
    with pytest.raises(DataError, match="has no folders that contain files"):
        markone.read(tmp_path)


@pytest.mark.parametrize("ending", COMPRESSED)
@pytest.mark.parametrize("name", [name for name in TABLES if name != "table.feather"])
def test_standard_input_can_be_read_again(name: str, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe(io.RawIOBase):
        """Something that cannot be rewound, and hands out a few bytes at a time."""

        def __init__(self, data: bytes) -> None:
            self.data = io.BytesIO(data)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            piece = self.data.read(min(len(buffer), 7))
            buffer[: len(piece)] = piece
            return len(piece)

    pipe = io.TextIOWrapper(io.BufferedReader(Pipe(COMPRESSED[ending](TABLES[name]))))
    monkeypatch.setattr(sys, "stdin", pipe)
    source = markone.read("-", format=name.removeprefix("table."), **TABLE_SETTINGS)
    assert examples(source) == THE_TABLE
    assert examples(source) == THE_TABLE
    assert "standard input" in str(source)


def test_there_may_be_no_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="there is no standard input"):
        markone.read("-", format="csv")


def test_standard_input_needs_a_format() -> None:
    with pytest.raises(SettingsError, match="format must be set for standard input"):
        markone.read("-")


def test_a_pipe_with_a_name_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[TABLES["table.csv"]])
    writer.start()
    source = markone.read(path, **TABLE_SETTINGS)
    assert examples(source) == THE_TABLE
    assert examples(source) == THE_TABLE
    writer.join()


# ---- images


@pytest.mark.parametrize("ending", COMPRESSED)
def test_images_find_their_labels(ending: str, tmp_path: Path) -> None:
    path = write(tmp_path, "train-images-idx3-ubyte" + ending, COMPRESSED[ending](as_idx(IMAGES)))
    assert markone.read(path, format="idx").target is None
    labels = write(tmp_path, "train-labels-idx1-ubyte", as_idx(MARKS))
    for source in (markone.read(path), markone.read(path, format="idx", target=labels)):
        expected = [(image, label, 1.0) for image, label in zip(IMAGES.tolist(), MARKS.tolist(), strict=True)]
        assert examples(source) == expected
        assert source.columns == (Column("image", "image"),) and "images of 4 × 3 pixels" in str(source)


def test_headers_of_images_are_not_believed(tmp_path: Path) -> None:
    whole = as_idx(IMAGES)
    name = "images-idx3-ubyte"
    with pytest.raises(DataError, match=r"should have 160 bytes, by its header, but has 159"):
        markone.read(write(tmp_path, name, whole[:-1]))
    huge = struct.pack(">4B3I", 0, 0, 8, 3, 2**32 - 1, 4000, 4000) + b"\0" * 100
    with pytest.raises(DataError, match="should have"):
        markone.read(write(tmp_path, name, huge))
    with pytest.raises(DataError, match="ends too soon"):
        examples(markone.read(write(tmp_path, f"{name}.gz", gzip.compress(huge))))
    too_wide = struct.pack(">4B3I", 0, 0, 8, 3, 2, 2**32 - 1, 2**32 - 1)
    with pytest.raises(DataError, match="too many"):
        markone.read(write(tmp_path, f"{name}.gz", gzip.compress(too_wide)))
    with pytest.raises(DataError, match="is not an idx file of images: it begins with 00 00 0d 03"):
        markone.read(write(tmp_path, name, b"\0\0\x0d" + whole[3:]))
    write(tmp_path, "labels-idx1-ubyte", as_idx(MARKS[:-1]))
    with pytest.raises(DataError, match="there are 12 images in .* but 11 labels in"):
        markone.read(write(tmp_path, name, whole))


# ---- memory


def test_lists_of_texts() -> None:
    assert examples(markone.read(["a", "b"])) == [("a", None, 1.0), ("b", None, 1.0)]
    source = markone.read(("a", "b"), target=np.array([True, False]), importance=[2, 0.5])
    assert examples(source) == [("a", True, 2.0), ("b", False, 0.5)]
    assert markone.read(["x"], target=["y"]).columns == (Column("text", "text"),)
    assert examples(markone.read(np.array(["a", "b"]), target=[1, 1.0])) == [("a", 1, 1.0), ("b", 1, 1.0)]
    assert examples(markone.read(pa.array(["a"]))) == [("a", None, 1.0)]


def test_matrices() -> None:
    dense = np.array([[1, 0], [0, 2]])
    expected = [({"x0": 1, "x1": 0}, "a", 1.0), ({"x0": 0, "x1": 2}, "b", 1.0)]
    assert examples(markone.read(dense, target=["a", "b"])) == expected
    assert examples(markone.read(dense.tolist(), target=["a", "b"])) == expected
    sparse = [({"x0": 1}, "a", 1.0), ({"x1": 2}, "b", 1.0)]
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array):
        assert examples(markone.read(kind(dense), target=["a", "b"])) == sparse
    assert "a dense matrix of 2 rows" in str(markone.read(dense))


def test_matrices_are_cut_into_batches() -> None:
    dense = np.random.default_rng(0).random((10_000, 3)).astype(np.float32)
    for matrix in (dense, scipy.sparse.csr_matrix(dense)):
        batches = list(markone.read(matrix, target=range(10_000)).batches())
        assert len(batches) > 2
        rows = [row for batch in batches for row in values_of(batch.columns["features"])]
        assert rows == [dict(zip(["x0", "x1", "x2"], row, strict=True)) for row in dense.tolist()]
    assert np.shares_memory(next(iter(markone.read(dense).batches())).columns["features"].matrix, dense)


@pytest.mark.parametrize(
    ("what", "more", "sentence"),
    [
        ([], {}, "the list is empty"),
        (
            ["a", 1],
            {},
            "a list must contain only texts, only dictionaries or only rows of numbers, not 1, which is number 1,",
        ),
        ([None, "good"], {}, "a text is missing: number 0 of the list, counted from 0, is None"),
        (["good", np.nan, None], {}, "a text is missing: number 1 of the list, counted from 0, is nan"),
        ([None, {"a": 1}], {}, "a dictionary is missing: number 0"),
        ([[1, 2], [3]], {}, "rows of numbers must have one length, but row 0 has 2, row 1 1"),
        ([["a", "b"]], {}, r"a list must contain only texts, .* not \['a', 'b'\], which is number 0"),
        ({"a": "abc", "b": "xyz"}, {}, r"the column 'a' must be a list of values, not str: 'abc'; .*\[{'a': \.\.\.}\]"),
        ({"a": b"abc"}, {}, "the column 'a' must be a list of values, not bytes"),
        ({"a": {"x": 1}}, {}, "the column 'a' must be a list of values, not dict"),
        ({"a": {1, 2}}, {}, "the column 'a' must be a list of values, not set"),
        ({"a": 1}, {}, "the column 'a' must be a list of values, not int: 1"),
        ({1: [1, 2], "1": [3, 4]}, {}, "two columns would be called '1': 1 and '1'; rename one"),
        ([{1: 1}, {"1": 2}], {}, "two columns would be called '1': 1 and '1'; rename one"),
        (["\ud800"], {}, "the column 'text' contains values of different kinds: .* surrogates not allowed"),
        ([{"a": 1}, {"a": "x"}], {}, "the column 'a' contains values of different kinds"),
        ({"a": []}, {}, "the table has no rows"),
        ({}, {}, "the table has no columns"),
        (3, {}, "data must be a path, a frame, .* not int"),
        (["a"], {"target": ["x", "y"]}, "there are 1 rows but 2 values in target"),
        (["a"], {"target": [{1: 2}]}, r"labels are texts, whole numbers or booleans, not dict: \{1: 2\}"),
        (["a", "b"], {"target": [(1, 2), 3]}, r"the labels of each row must be a list, such as .*, not 3"),
        (["a"], {"importance": [-1]}, "must not be negative"),
        (np.ones((0, 2)), {}, "has no rows or no columns"),
        (scipy.sparse.csr_matrix([[1e300]]), {}, "too large for a float of 32 bits"),
        ({"when": pa.array([0], pa.time32("s"))}, {}, "has no column to make features from"),
        ({"x": [1], "w": ["a"]}, {"importance": "w"}, "the importance 'w' must be a column of numbers: a"),
        ({"x": [1], "w": [1]}, {"importance": "w", "target": "w"}, "must not be the target column, 'w'"),
        ("", {}, "'' is not a path"),
        (
            {"x": [np.inf]},
            {},
            "the table, row 0: 'x' is not a finite number: inf; .*kinds=.*; skip_bad=True skips",
        ),
        ({"x": [1], "w": [np.inf]}, {"importance": "w"}, "'w' is not a finite number: inf; skip_bad=True skips"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(what: Any, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(MarkoneError, match=sentence):
        examples(markone.read(what, **more))


def test_advice_about_what_is_in_memory_helps() -> None:
    frame = {"x": [1.0, np.inf, 3.0], "w": [1.0, 2.0, -3.0]}
    source = markone.read(frame, target=["a", "b", "c"], importance="w", skip_bad=True)
    assert examples(source) == [(1.0, "a", 1.0)] and source.bad.count == 2
    said = markone.read({"x": frame["x"]}, kinds={"x": "categorical"})
    assert [row[0] for row in examples(said)] == ["1", "inf", "3"]


@given(texts=st.lists(st.text(max_size=5), min_size=1, max_size=9))
def test_a_list_of_texts_is_as_arrow_has_it(texts: list[str]) -> None:
    [batch] = markone.read({"it": texts}, kinds={"it": "text"}).batches()
    batch.columns["it"].validate(full=True)
    assert batch.columns["it"].equals(pa.array(texts))


def test_names_of_files_are_no_texts(tmp_path: Path) -> None:
    names = [write(tmp_path, f"{i}.csv", f"x,y\n{i},a\n") for i in range(2)]
    with pytest.raises(DataError, match=r"but '.*/0\.csv' is the name of a file; give pathlib\.Path objects to read"):
        markone.read(names)
    assert [row[0] for row in examples(markone.read([*map(Path, names)], target="y"))] == [0, 1]
    assert len(examples(markone.read([*names, "a text"]))) == 3
    assert len(examples(markone.read({"text": names}, kinds={"text": "text"}))) == 2


def test_a_series_is_a_list_of_texts_or_none() -> None:
    import pandas as pd
    import polars as pl

    frame = pd.DataFrame({"n": [1, 2], "word": ["a", "b"]})
    for texts in (frame["word"], frame["word"].astype(object), pl.Series(["a", "b"])):
        assert examples(markone.read(texts, target=[0, 1])) == [("a", 0, 1.0), ("b", 1, 1.0)]
    with pytest.raises(DataError, match=r"must contain (only )?texts, "):
        markone.read(frame.iloc[0])
    for numbers in (frame["n"], pl.Series([1, 2])):
        with pytest.raises(DataError, match=r"must contain (only )?texts, "):
            markone.read(numbers)
    assert examples(markone.read([frame.iloc[0].to_dict()])) == [(1.0, "a", None, 1.0)]


# ---- kinds


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 1, 2], "numeric"),
        ([True, None], "boolean"),
        (["yes", "No", None], "boolean"),
        (["1", "2"], "categorical"),
        (["red", "blue", "red"], "categorical"),
        (["free money now", "see you tomorrow"], "text"),
        (["good film", "awful", "bad film", "boring"], "text"),
        (["good film", "awful", "boring", "great"], "categorical"),
        ([f"{i} film" if i % 2 else f"{i}x" for i in range(48)], "text"),
        ([f"{i} film" if i % 3 == 0 else f"{i}x" for i in range(48)], "categorical"),
        (["new york", "new york", "los angeles", "new york"] * 3, "categorical"),
        (["一" * 20, "二" * 20], "text"),
        (pa.array(["a b c", "d e f"]).dictionary_encode(), "categorical"),
        (pa.DictionaryArray.from_arrays([0, None, 1], pa.array(["a", "b"], pa.string_view())), "categorical"),
        (pa.array([1, 2], pa.decimal128(5, 2)), "numeric"),
        (pa.array(["a b", "c d"], pa.string_view()), "text"),
        ([None, None], None),
        ([[1], [2]], None),
        (pa.array([0, 1], pa.timestamp("s")), "datetime"),
        (pa.array([0, 1], pa.date32()), "date"),
        (pa.array([0, 1], pa.time32("s")), None),
        ([b"a", b"b"], None),
    ],
)
def test_kinds_are_guessed(values: Any, kind: str | None) -> None:
    source = markone.read({"it": values, "x": [1.0] * len(values)})
    assert dict(kinds_of(source)).get("it") == kind
    assert ("ignored" in str(source)) == (kind is None)
    examples(source)


def test_a_name_says_that_a_few_words_are_texts() -> None:
    few, many = [f"word{i}" for i in range(49)], [f"word{i}" for i in range(50)]
    assert kinds_of(markone.read({"Review": few, "job": few})) == [("Review", "text"), ("job", "categorical")]
    assert kinds_of(markone.read({"review": many})) == [("review", "categorical")]
    assert kinds_of(markone.read({"title": ["Mr", "Mrs"] * 9, "text": ["yes", "no"] * 9})) == [
        ("title", "categorical"),
        ("text", "boolean"),
    ]


def test_kinds_can_be_said(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "zip,id,flag,n,word\n01234,1,1,1,a\n99999,2,0,0,b\n")
    chosen = {"zip": "categorical", "id": "ignore", "flag": "boolean", "n": "text", "word": "text"}
    source = markone.read(path, kinds=chosen)
    assert examples(source) == [("01234", True, "1", "a", None, 1.0), ("99999", False, "0", "b", None, 1.0)]
    assert "ignored: as you said" in str(source)
    frame = {"zip": [1234, None], "x": [1.0, 2.5], "s": ["1", " 2.5"], "b": [True, False]}
    said = markone.read(frame, kinds={"zip": "categorical", "x": "text", "s": "numeric", "b": "numeric"})
    assert examples(said) == [("1234", "1", 1.0, 1.0, None, 1.0), (None, "2.5", 2.5, 0.0, None, 1.0)]
    with pytest.raises(DataError, match=r"column 'when' holds timestamp\[s\], which cannot be read as numeric; leave"):
        markone.read({"when": pa.array([0], pa.timestamp("s")), "x": [1]}, kinds={"when": "numeric"})


def test_nan_is_a_missing_value_whoever_has_it(tmp_path: Path) -> None:
    import pandas as pd
    import polars as pl

    values = [1.0, float("nan"), 0.0]
    lines = "".join(f'{{"z": {z}, "y": "a"}}\n' for z in ("1", "NaN", "0"))
    for kind, expected in {
        "numeric": [1.0, None, 0.0],
        "categorical": ["1", None, "0"],
        "text": ["1", None, "0"],
        "boolean": [True, None, False],
    }.items():
        for what in (
            pl.DataFrame({"z": values}),
            pd.DataFrame({"z": values}),
            pa.table({"z": pa.array(values).dictionary_encode()}),
            pa.table({"z": pa.array(values, pa.float32())}),
            {"z": np.array(values)},
            [{"z": z} for z in values],
            write(tmp_path, "a.jsonl", lines),
        ):
            source = markone.read(what, kinds={"z": kind})
            assert [row[0] for row in examples(source)] == expected
    mixed = write(tmp_path, "b.jsonl", lines + '{"z": "x"}\n')
    assert [row[0] for row in examples(markone.read(mixed))] == ["1", None, "0", "x"]
    nothing = str(markone.read(pl.DataFrame({"x": [1.0, float("nan")], "z": [float("nan")] * 2})))
    assert "ignored: no value in the first 2 rows" in nothing and re.search(r"x +numeric +1  1$", nothing, re.MULTILINE)


@pytest.mark.parametrize("whole", [7, 2 * 10**16, 2**53 + 1, -(2**63), 2**63, 10**25])
def test_whole_numbers_are_written_in_digits(whole: int, tmp_path: Path) -> None:
    import pandas as pd

    ways: list[Any] = [
        {"z": [whole], "y": [whole]},
        [{"z": whole, "y": whole}],
        pa.table({name: pa.array([whole], pa.decimal128(38, 2)) for name in "zy"}),
        write(tmp_path, "a.jsonl", f'{{"z": {whole}, "y": {whole}}}\n'),
        write(tmp_path, "a.csv", f"z,y\n{whole},{whole}\n"),
    ]
    if -(2**63) <= whole < 2**63:
        ways.append(pd.DataFrame({"z": [whole], "y": [whole]}))
    if int(float(whole)) == whole:
        ways += [pa.table({"z": [float(whole)], "y": [float(whole)]}), {"z": [float(whole)], "y": [whole]}]
    for way in ways:
        assert examples(markone.read(way, target="y", kinds={"z": "categorical"})) == [(str(whole), whole, 1.0)]
        assert examples(markone.read(way, target="y")) == [(float(whole), whole, 1.0)]
    lines = write(tmp_path, "a.libsvm", "".join(f"{label} 1:1\n" for label in (whole, f"{whole}.0", f"{whole}00e-2")))
    assert {label for _, label, _ in examples(markone.read(lines))} == {str(whole)}


def test_whole_numbers_are_shown_in_digits() -> None:
    for values in ([2 * 10**16, 12345678], [2e16, 12345678.0]):
        assert str(markone.read({"x": values})).endswith(" 20000000000000000, 12345678")


def test_dates_that_python_lacks_are_not_shown() -> None:
    assert "ignored: no features are made from" in str(markone.read({"when": pa.array([2**30], pa.date32()), "x": [1]}))
    odd_zone = pa.array([0], pa.timestamp("s", "Nowhere/At-all"))
    assert str(markone.read({"when": odd_zone, "x": [1]})).splitlines()[2] == "when    date           0"


def test_what_is_nested_is_called_lists_or_objects(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"x": 1, "by": {}, "tags": [1]}\n')
    for source in (markone.read(path), markone.read({"x": [1], "by": [{}], "tags": [[1]]})):
        assert str(source).count("ignored: no features are made from lists or objects") == 2


def test_a_source_shows_its_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "age,job,none,label\n39,clerk,,yes\n?,baker,,no\n")
    shown = str(markone.read(path, target="label"))
    assert shown.splitlines()[1:] == [
        "column  kind                                   missing  examples",
        "age     numeric                                      1  39",
        "job     categorical                                  0  clerk, baker",
        "label   target                                       0  yes, no",
        "none    ignored: no value in the first 2 rows        2",
    ]
    assert shown.splitlines()[0] == f"{path}, by its first 2 rows"
    columns = "age (numeric), job (categorical), label (boolean)"
    assert repr(markone.read(path)) == f"<Source: {path}, no target, columns {columns}>"


# ---- CSV in all its forms


def test_missing_values_and_white_space(tmp_path: Path) -> None:
    path = write(
        tmp_path, "a.csv", 'n, c, t, y\n1, a, "one, two three" , no\n ?, NA, four five six,\n,null, "", yes \n'
    )
    assert examples(markone.read(path, target="y", kinds={"t": "text"})) == [
        (1.0, "a", "one, two three", "no", 1.0),
        (None, None, "four five six", None, 1.0),
        (None, None, "", "yes", 1.0),
    ]
    mine = markone.read(path, target="y", missing=["a", "?", ""])
    assert [row[1] for row in examples(mine)] == [None, "NA", "null"]


def test_a_table_without_a_header(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "1,a\n2,b\n")
    assert kinds_of(markone.read(path, header=False)) == [("c0", "numeric"), ("c1", "categorical")]
    named = markone.read(path, columns=["n", "y"], target="y")
    assert examples(named) == [(1.0, "a", 1.0), (2.0, "b", 1.0)]
    assert examples(markone.read(path, columns=["n", "y"], header=True, target="y")) == [(2.0, "b", 1.0)]
    with pytest.raises(DataError, match="there are 2 fields but columns gives 1 names"):
        markone.read(path, columns=["n"])


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_first_row_that_may_be_no_header(separator: str, tmp_path: Path) -> None:
    name = "a.csv" if separator == "," else "a.tsv"
    path = write(tmp_path, name, "39,State-gov,77516\n50,Private,83311\n".replace(",", separator))
    with pytest.raises(
        DataError, match=r"line 1: is the first row a header\? 2 of its 3 fields are numbers: '39', '77516'"
    ):
        markone.read(path)
    assert len(examples(markone.read(path, header=False))) == 2
    assert len(examples(markone.read(path, columns=["age", "work", "id"]))) == 2
    assert kinds_of(markone.read(path, header=True))[0] == ("39", "numeric")
    few = write(tmp_path, name, "1st,x,2020\n1,2,3\n".replace(",", separator))
    assert kinds_of(markone.read(few))[2] == ("2020", "numeric")


def test_lines_that_end_in_a_carriage_return_alone(tmp_path: Path) -> None:
    for lines in ("a,b\r1,2\r", '"a","b"\r"1","2"', "a,b\r\r1,2"):
        for header in (None, False):
            with pytest.raises(
                DataError, match=r"the lines of .*a\.csv end in a carriage return alone, \\r; they must"
            ):
                markone.read(write(tmp_path, "a.csv", lines), header=header)
    quoted = write(tmp_path, "b.csv", '"one\rtwo",b\r')
    assert examples(markone.read(quoted, header=False)) == [("one\rtwo", "b", None, 1.0)]


def test_separators_quotes_and_encodings(tmp_path: Path) -> None:
    spaces = write(tmp_path, "a.data", '  18.0   8\t"buick skylark"\n15.0 ?  "ford, \'torino"\n')
    source = markone.read(spaces, format="csv", header=False, separator="whitespace")
    assert examples(source) == [(18.0, 8.0, "buick skylark", None, 1.0), (15.0, None, "ford, 'torino", None, 1.0)]
    other = write(tmp_path, "b.csv", "a;b\n'x;y';1,5\n")
    assert examples(markone.read(other, separator=";", quote="'")) == [("x;y", 1.5, None, 1.0)]
    plain = write(tmp_path, "c.tsv", 'a\tb\n"x\t1\ny"\t2\n')
    assert examples(markone.read(plain, quote=None)) == [('"x', 1.0, None, 1.0), ('y"', 2.0, None, 1.0)]
    latin = write(tmp_path, "d.csv", "naïve,b\ncafé,1\n".encode("latin-1"))
    assert examples(markone.read(latin, encoding="latin-1")) == [("café", 1.0, None, 1.0)]
    with pytest.raises(DataError, match=r"d.csv, line 1: .* not UTF-8; .* encoding='latin-1'"):
        markone.read(latin)
    with pytest.raises(DataError, match=r"d.csv is not ascii: there is no character for the bytes b'\\xef'"):
        markone.read(latin, encoding="ascii")
    wide = write(tmp_path, "e.csv", "a,b\ncafé,1\n".encode("utf-16"))
    assert examples(markone.read(wide, encoding="utf-16")) == [("café", 1.0, None, 1.0)]
    marked = write(tmp_path, "f.csv", "a,b\nx,1\n".encode("utf-8-sig"))
    assert kinds_of(markone.read(marked))[0] == ("a", "categorical")
    windows = write(tmp_path, "g.csv", 'a,b\r\n"x\r\ny",1\r\n\r\nz,2')
    assert examples(markone.read(windows)) == [("x\r\ny", 1.0, None, 1.0), ("z", 2.0, None, 1.0)]


def test_a_later_row_may_contradict(tmp_path: Path) -> None:
    rows = [f"{i % 999},a,{i % 2}" for i in range(100_000)]
    rows[90_000] = "abc,a,1"
    rows[95_000] = "1,a"
    rows[97_000] = "1,a,x"
    path = write(tmp_path, "a.csv", "n,c,y\n" + "\n".join(rows) + "\n")
    with pytest.raises(DataError, match=r"a\.csv, line 90002: 'n' is not a number: 'abc'; skip_bad=True skips"):
        examples(markone.read(path, target="y"))
    source = markone.read(path, target="y", skip_bad=True)
    assert len(examples(source)) == 100_000 - 3 and source.bad.count == 3
    assert "line 95002: there are 2 fields instead of 3 in '1,a'" in source.bad.first[1]
    assert "line 97002: the label 'x' is not numeric like those before" in source.bad.first[2]
    assert examples(source) and source.bad.count == 3, "bad lines are counted anew"
    assert source.labels == [0, 1]


def test_booleans_that_are_none(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"b": "yes", "x": 1}\n' * 6000 + '{"b": "perhaps", "x": 1}\n')
    with pytest.raises(DataError, match=r"line 6001: 'b' is neither true nor false: 'perhaps'.*'categorical'"):
        examples(markone.read(path))
    source = markone.read(path, skip_bad=True)
    assert len(examples(source)) == 6000 and source.bad.count == 1


def test_json_lines_of_all_sorts(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"n": 1, "m": 1, "d": {}}\n\n{"m": "x", "z": null}\n{"n": 2.5, "m": true}\n')
    assert examples(markone.read(path)) == [
        (1.0, "1", None, 1.0),
        (None, "x", None, 1.0),
        (2.5, "true", None, 1.0),
    ]
    for line, problem in {
        '{"n": "x"}': "'n' is not numeric, as it is in the first lines: 'x'",
        "[1]": "the line is not an object",
        '{"n": 1': "the line is not JSON",
        "[" * 100_000: "the line is not JSON",
        '{"n": 1e999}': "'n' is not a finite number: inf",
        '{"n": 1' + "0" * 400 + "}": "'n' is not numeric",
        '{"n": 1, "m": "\\ud800"}': "'m' is not",
    }.items():
        bad = write(tmp_path, "b.jsonl", '{"n": 1, "m": "a"}\n' * 6000 + line + "\n")
        with pytest.raises(DataError, match=rf"b\.jsonl, line 6001: {re.escape(problem)}"):
            examples(markone.read(bad))
        source = markone.read(bad, skip_bad=True)
        assert len(examples(source)) == 6000 and source.bad.count == 1 and problem in source.bad.first[0]


@pytest.mark.parametrize("skip_bad", [False, True])
@pytest.mark.parametrize("text", ['[{"a": 1}, {"a": 2}]', '\n[\n  {"a": 1},\n  {"a": 2}\n]\n', '[{"a": 1},\n{"a": 2}]'])
def test_a_json_array_is_told(text: str, skip_bad: bool, tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"a\.json begins with \[ like a JSON array, but should contain one JSON object per line"
    ):
        markone.read(write(tmp_path, "a.json", text), skip_bad=skip_bad)
    assert len(examples(markone.read(json.loads(text)))) == 2


# ---- labels and importance


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        (["1", "0", "+1"], [1, 0]),
        (["true", "False", "true"], [True, False]),
        (["yes", "no", "yes"], ["yes", "no"]),
        (["1.5", "2.0", "3"], [1.5, 2, 3]),
        (["90071992547409931", "90071992547409932", ""], [90071992547409931, 90071992547409932]),
        (["a", " b ", "b"], ["a", "b"]),
    ],
)
def test_labels_have_types(written: list[str], labels: list[Any], tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "x,y\n" + "".join(f'1,"{label}"\n' for label in written))
    source = markone.read(path, target="y")
    examples(source)
    assert source.labels == labels and list(map(type, source.labels)) == list(map(type, labels))


def test_labels_of_frames_are_plain() -> None:
    for values, labels in [
        (np.array([3, 1, 3]), [3, 1]),
        ([2.0, 1.0, None], [2, 1]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b"]),
        ([np.float32(0.5), np.float32(1), None], [0.5, 1]),
    ]:
        source = markone.read({"x": [1, 2, 3], "y": values}, target="y")
        examples(source)
        assert source.labels == labels and list(map(type, source.labels)) == list(map(type, labels))
    given_beside = markone.read({"x": [1, 2]}, target=[np.int64(7), np.str_("a")])
    assert given_beside.labels == [7, "a"] and type(given_beside.labels[0]) is int
    said = markone.read({"x": [1, 2], "y": [1, 2]}, target="y", kinds={"y": "categorical"})
    examples(said)
    assert said.labels == ["1", "2"]


def test_markone_classifies(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).random(1000)
    for source in (
        {"x": numbers, "y": numbers},
        write(tmp_path, "a.csv", "x,y\n" + "".join(f"1,{n}\n" for n in numbers)),
    ):
        with pytest.raises(
            DataError, match="'y' has more than 20 different values with fractions.*this rule predicts classes"
        ):
            markone.train(markone.read(source, target="y"))
    lines = write(tmp_path, "a.libsvm", "".join(f"{n} 1:1\n" for n in numbers))
    with pytest.raises(DataError, match="this rule predicts classes"):
        markone.train(markone.read(lines))


def test_importance_is_checked(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "x,w,y\n1,2,a\n1,-1,b\n1,,c\n1,0,d\n")
    with pytest.raises(DataError, match=r"line 3: the importance 'w' is negative: -1; skip_bad"):
        examples(markone.read(path, target="y", importance="w"))
    source = markone.read(path, target="y", importance="w", skip_bad=True)
    assert examples(source) == [(1.0, "a", 2.0), (1.0, "d", 0.0)]
    assert source.bad.count == 2 and "line 4: the importance 'w' is missing" in source.bad.first[1]
    assert source.labels == ["a", "d"], "a bad row has no label"


# ---- what is wrong


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"format": "cvs"}, "format must be one of .*, not 'cvs'. Did you mean 'csv'?"),
        ({"kinds": {"x": "numerc"}}, r"kinds\['x'\] must be one of .* Did you mean 'numeric'?"),
        ({"kinds": {"ag": "text"}}, "kinds are for columns of .*, not for 'ag'. Did you mean 'age'?"),
        ({"kinds": ["x"]}, "kinds must map the names of columns to kinds"),
        (
            {"target": "lable"},
            "target must be a column of .*, not 'lable'. It has .* Did you mean 'label'?",
        ),
        ({"target": "zzz"}, "target must be a column of .* It has 'age', 'label'"),
        ({"target": ["a"]}, "target must be the name of a column of .*, not list"),
        ({"importance": "ages"}, "importance must be a column of .* Did you mean 'age'?"),
        ({"header": "yes"}, "header must be True or False"),
        ({"skip_bad": None}, "skip_bad must be True or False"),
        ({"columns": "ab"}, "columns must be a list of words"),
        ({"columns": ["a", "a"]}, "columns must differ, but 'a' occurs twice"),
        ({"separator": ",,"}, "separator must be one character of ASCII, or 'whitespace'"),
        ({"quote": "«"}, "quote must be one character of ASCII, or None"),
        ({"separator": ";", "quote": ";"}, "quote must be neither white space nor the separator"),
        ({"encoding": "utf-99"}, "encoding must be the name of an encoding"),
        ({"encoding": "hex"}, "encoding must be the name of an encoding"),
        ({"missing": "?"}, "missing must be a list of words"),
        ({"longest_line": 0}, "longest_line must be a whole number from 1 to"),
        ({"threads": 0}, "threads must be a whole number of at least 1"),
        ({"kinds": {"label": "text"}, "target": "label"}, "kinds say text for the target 'label'"),
        ({"format": "libsvm", "target": "x"}, "target means nothing for libsvm files"),
        ({"format": "libsvm", "kinds": {"x": "text"}}, "kinds of libsvm files can only say .* not x=text"),
        ({"format": "vw", "kinds": {"label": "set"}}, "kinds means nothing for vw files; leave it out"),
        ({"format": "parquet", "encoding": "latin-1"}, "encoding means nothing for parquet files"),
        ({"format": "jsonl", "separator": ";"}, "separator means nothing for jsonl files"),
    ],
)
def test_settings_are_checked(setting: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "age,label\n1,a\n")
    with pytest.raises(SettingsError, match=sentence):
        markone.read(path, **setting)


def test_settings_for_files_are_not_for_memory() -> None:
    for setting in ({"format": "csv"}, {"header": False}, {"encoding": "latin-1"}):
        with pytest.raises(SettingsError, match=r"for files|means nothing for data in memory"):
            markone.read(["a"], **setting)
    for setting in ({"target": "y"}, {"kinds": {"x0": "text"}}):
        with pytest.raises(SettingsError, match="matrix"):
            markone.read(np.ones((2, 2)), **setting)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    write(tmp_path, "reviews.csv", "a\n1\n")
    with pytest.raises(DataError, match=r"there is no file .*/review\.csv\. Did you mean 'reviews\.csv'\?"):
        markone.read(tmp_path / "review.csv")
    with pytest.raises(DataError, match=r"there is no folder .*/nowhere, which should contain a\.csv"):
        markone.read(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(DataError, match="no file matches"):
        markone.read(str(tmp_path / "*.tsv"))
    with pytest.raises(DataError, match=r"the name of .*/data does not show its format; set it, for instance format"):
        markone.read(write(tmp_path, "data", "x"))
    for name in ("t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte.gz"):
        with pytest.raises(DataError, match="contains labels, by its name; read the file of images, .*idx3-ubyte"):
            markone.read(write(tmp_path, name, as_idx(MARKS)))
        (tmp_path / name).unlink()
    write(tmp_path, "b.jsonl", "{}")
    with pytest.raises(DataError, match=r"b\.jsonl is jsonl but .*reviews\.csv is csv"):
        markone.read(sorted(tmp_path.glob("*.*")))


@pytest.mark.parametrize("name", [*EVERY, "empty.csv.gz"])
def test_an_empty_file_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"is empty|cannot be read|has no rows"):
        markone.read(write(tmp_path, name, b""))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst"])
def test_compressed_files_one_after_the_other_are_one(ending: str, tmp_path: Path) -> None:
    compress = COMPRESSED[ending]
    path = write(tmp_path, "a.txt" + ending, compress(b"a\tx\nb\t") + compress(b"y\n"))
    assert examples(markone.read(path)) == [("x", "a", 1.0), ("y", "b", 1.0)]


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst"])
def test_compressed_files_that_are_none(ending: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is named like a .* file but is not one"):
        markone.read(write(tmp_path, "a.csv" + ending, "a,b\n1,2\n"))
    whole = COMPRESSED[ending](b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(9999)))
    with pytest.raises(DataError, match="cannot be read"):
        examples(markone.read(write(tmp_path, "a.csv" + ending, whole[: len(whole) // 2])))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.vw", "a.txt"])
def test_an_endless_line_is_refused(name: str, ending: str, tmp_path: Path) -> None:
    path = write(tmp_path, name + ending, COMPRESSED[ending](b"x" * 5_000_000))
    with pytest.raises(DataError, match=r"line 1: the line is longer than 2,000,000 bytes"):
        examples(markone.read(path, longest_line=2_000_000))


def test_a_quote_that_is_not_closed(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'a,b\n1,"x\n' + "2,y\n" * 1000)
    problem = r"line 2: a quote is opened and never closed in .*if quotes are plain characters, set quote=None;"
    with pytest.raises(DataError, match=problem):
        examples(markone.read(path))
    with pytest.raises(DataError, match="is a quote not closed"):
        examples(markone.read(path, longest_line=100))


def test_headers_of_all_sorts(tmp_path: Path) -> None:
    late = write(tmp_path, "a.csv", "\n" * (CHUNK + 10) + "a,b\n1,2\n")
    assert kinds_of(markone.read(late)) == [("a", "numeric"), ("b", "numeric")]
    assert examples(markone.read(late)) == [(1.0, 2.0, None, 1.0)]
    long = write(tmp_path, "b.csv", '"' + "\n" * 200_000 + '",b\n1,2\nx\n')
    with pytest.raises(DataError, match=r"line 200003: there is 1 field instead of 2"):
        markone.read(long)
    nameless = write(tmp_path, "c.csv", ",b\n0,2\n")
    assert kinds_of(markone.read(nameless)) == [("c0", "numeric"), ("b", "numeric")]
    with pytest.raises(DataError, match="line 1: two columns are named 'b'; .*set header=False"):
        markone.read(write(tmp_path, "d.csv", "b,b\n1,2\n"))
    with pytest.raises(DataError, match=r"e\.csv has no rows"):
        markone.read(write(tmp_path, "e.csv", "a,b\n"))


def test_files_with_other_columns(tmp_path: Path) -> None:
    for format, tables in {
        "csv": ["a,b\n1,2\n", "b,a\n1,2\n"],
        "parquet": [pa.table({"a": [1]}), pa.table({"b": [1]})],
    }.items():
        for i, table in enumerate(tables):
            if isinstance(table, str):
                write(tmp_path, f"{i}.{format}", table)
            else:
                pa.parquet.write_table(table, tmp_path / f"{i}.{format}")
        with pytest.raises(DataError, match=r"has other columns than|has no column"):
            examples(markone.read(str(tmp_path / f"*.{format}")))


def test_a_file_that_changes_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "a,b\n1,2\n")
    source = markone.read(path)
    write(tmp_path, "a.csv", "a,c\n1,2\n")
    with pytest.raises(DataError, match=r"a\.csv (was written to|has changed)"):
        examples(source)
    pa.parquet.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    source = markone.read(tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"b": [1]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet (was|grew|shrank|has changed)"):
        examples(source)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_memory_stays_flat(tmp_path: Path) -> None:
    """Forty megabytes of CSV are read within little more memory than one chunk needs."""
    path = tmp_path / "large.csv"
    with path.open("w") as file:
        file.write("x,word,y\n")
        for _ in range(40):
            file.write("".join(f"{i}.25,word number {i} of this line,{i % 3}\n" for i in range(25_000)))
    # The system's own peak, since that of the resource module begins with the parent's.
    program = f"""
import re, markone
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024
source = markone.read({str(path)!r}, target="y", threads=2)
next(iter(source.batches()))
before = peak()
print(sum(len(batch) for batch in source.batches()), peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    rows, megabytes = map(int, done.stdout.split())
    assert rows == 1_000_000 and megabytes < 25 and os.path.getsize(path) > 35_000_000


def test_pyarrow_waits_until_it_is_needed() -> None:
    program = "import sys, markone; markone.read, markone.Source; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_texts_need_little_of_pyarrow_and_nothing_of_pandas() -> None:
    program = """
import sys, markone
source = markone.read(["a", "b"], target=["x", "y"])
assert sum(len(batch) for batch in source.batches()) == 2
print({"pyarrow.compute", "pandas"} & {*sys.modules})
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# ---- hostile files


@pytest.mark.parametrize("ending", COMPRESSED)
@pytest.mark.parametrize("name", EVERY)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=settings().max_examples // 10)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(name: str, ending: str, data: st.DataObject, tmp_path: Path) -> None:
    whole = data.draw(damaged(COMPRESSED[ending](EVERY[name])))
    path = write(tmp_path, name + ending, whole)
    more = TABLE_SETTINGS if name in TABLES and data.draw(st.booleans()) else {}
    try:
        source = markone.read(path, **more, skip_bad=data.draw(st.booleans()), threads=1)
        for batch in source.batches():
            for column in batch.columns.values():
                if isinstance(column, pa.Array):
                    column.validate(full=True)
        shown = str(source)
    except MarkoneError as error:
        shown = str(error)
    assert "".join(shown.split("\n")).isprintable()
