"""What predicting needs of sources: columns as they are in the file, plain lines, pipes read once, how far it is."""

from __future__ import annotations

import gzip
import io
import os
import threading
import time
from itertools import pairwise

import pytest

import markone
from files_of import TABLE, as_arrow, as_csv, as_json, as_parquet
from markone.data import files
from markone.data.files import KeptFile
from markone.data.strings import Strings
from markone.errors import DataError, SettingsError

COLUMNS = ["age", "job", "member", "note", "weight", "label"]


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def kept_of(source):
    """The kept columns of all batches, as lists."""
    found: dict[str, list[object]] = {}
    for batch in source.batches():
        for name, values in batch.kept.items():
            found.setdefault(name, []).extend(values if isinstance(values, list) else values.to_pylist())
    return found


# ---- columns that are kept


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_columns_are_kept_as_they_are(format, tmp_path):
    makers = {
        "csv": as_csv,
        "tsv": lambda: as_csv("\t"),
        "jsonl": as_json,
        "parquet": as_parquet,
        "arrow": as_arrow,
    }
    path = write(tmp_path, f"table.{format}", makers[format]())
    source = markone.read(path, target="label", importance="weight", keep="all")
    kept = kept_of(source)
    assert list(kept) == COLUMNS
    expected = TABLE.to_pydict()
    if format in ("csv", "tsv"):
        assert kept["age"] == ["" if age is None else f"{age:g}" for age in expected["age"]]
        assert kept["label"] == [label or "" for label in expected["label"]]
        assert kept["note"] == expected["note"]
    else:
        assert kept == expected
    few = markone.read(path, target="label", keep=["note", "age"])
    assert kept_of(few) == {name: kept[name] for name in ("note", "age")}
    assert kept_of(markone.read(path)) == {}
    assert kept_of(few.with_columns(few.columns[:1])) == kept_of(few)


def test_kept_columns_belong_to_the_rows_that_are_good(tmp_path):
    lines = ["n,word,y", *(f"{'x' if i == 7000 else i},w{i},{'a' if i % 2 else 'b'}" for i in range(9000)), "1,2"]
    path = write(tmp_path, "a.csv", "\n".join(lines))
    source = markone.read(path, target="y", keep=["word", "n"], skip_bad=True)
    kept = kept_of(source)
    assert kept["word"] == [f"w{i}" for i in range(9000) if i != 7000]
    assert kept["n"] == [word[1:] for word in kept["word"]]
    assert source.bad.count == 2
    rows = [f'{{"n": {i}, "y": {"false" if i % 2 else "true"}}}' for i in range(6000)]
    rows[5500] = '{"n": "x", "y": true}'
    path = write(tmp_path, "a.jsonl", "\n".join(rows))
    kept = kept_of(markone.read(path, target="y", keep="all", skip_bad=True))
    assert kept["n"] == [i for i in range(6000) if i != 5500] and kept["y"][:2] == [True, False]


@pytest.mark.parametrize(
    ("name", "data"), [("a.txt", "spam\tfree\n\tsee you\n"), ("a.ft", "__label__spam free\nsee you\n")]
)
def test_lines_have_a_label_and_a_text_to_keep(name, data, tmp_path):
    path = write(tmp_path, name, data)
    assert kept_of(markone.read(path, keep="all")) == {"label": ["spam", None], "text": ["free", "see you"]}
    assert kept_of(markone.read(path, keep=["text"])) == {"text": ["free", "see you"]}


def test_columns_that_are_not_there_cannot_be_kept(tmp_path):
    table = write(tmp_path, "a.csv", "word,n\nx y,1\nz,2\n")
    with pytest.raises(SettingsError, match=r"^keep must name columns of .*a\.csv, not 'wrod'. Did you mean 'word'\?$"):
        markone.read(table, keep=["wrod"])
    with pytest.raises(SettingsError, match="^keep must name columns of .*, not 'word'. It has 'label', 'text'"):
        markone.read(write(tmp_path, "a.txt", "a\tb\n"), keep=["word"])
    with pytest.raises(SettingsError, match="^keep means nothing for libsvm files"):
        markone.read(write(tmp_path, "a.libsvm", "1 1:1\n"), keep="all")
    with pytest.raises(SettingsError, match="^keep means nothing for data in memory"):
        markone.read(["a"], keep="all")
    with pytest.raises(SettingsError, match="^keep must be a list of words, not 'word'"):
        markone.read(table, keep="word")


# ---- plain lines


def test_each_line_is_a_text(tmp_path):
    path = write(tmp_path, "a.txt", b"free money\r\n\nna\xc3\xafve\nlast")
    source = markone.read(path)
    assert (source.target, [(c.name, c.kind) for c in source.columns]) == (None, [("text", "text")])
    batches = list(source.batches())
    texts = [text for batch in batches for text in batch.columns["text"].to_pylist()]
    assert texts == ["free money", "", "naïve", "last"] and sum(map(len, batches)) == 4
    assert batches[0].labels is None
    assert source.reading == {"format": "lines"}
    assert kept_of(markone.read(path, keep="all")) == {"text": ["free money", "", "naïve", "last"]}


@pytest.mark.parametrize("data", [b"a", b"\n", b"\r\n\r\n", b"a\n\nb\r", b"\r", b"a\rb\n\n", b"\n" * 5])
def test_lines_are_those_that_python_finds(data, tmp_path):
    path = write(tmp_path, "a.x", data)
    found = []
    for batch in markone.read(path, format="lines").batches():
        texts = batch.columns["text"]
        assert isinstance(texts, Strings)
        whole = texts.data.tobytes()
        found += [whole[begin:end] for begin, end in pairwise(texts.offsets.tolist())]
    assert found == [line.removesuffix(b"\r") for line in data.removesuffix(b"\n").split(b"\n")]


def test_many_lines_come_in_many_batches(tmp_path):
    path = write(tmp_path, "a.txt.gz", gzip.compress(b"a line of text\n" * 200_000))
    batches = list(markone.read(path).batches())
    assert len(batches) > 2
    assert sum(map(len, batches)) == 200_000


def test_a_txt_file_without_a_tab_has_lines_and_with_one_it_has_labels(tmp_path):
    assert markone.read(write(tmp_path, "a.txt", "a\nb\tc\n")).reading["format"] == "tab"
    assert markone.read(write(tmp_path, "b.txt", "a\nb c\n")).reading["format"] == "lines"
    with pytest.raises(DataError, match="there is no tab .*; format='lines' reads lines without labels; skip_bad=True"):
        list(markone.read(tmp_path / "a.txt").batches())
    with pytest.raises(DataError, match="is empty"):
        markone.read(write(tmp_path, "c.txt", ""))
    with pytest.raises(DataError, match="is empty"):
        markone.read(tmp_path / "c.txt", format="lines")
    with pytest.raises(SettingsError, match="^target means nothing for lines files, which have no labels; leave"):
        markone.read(tmp_path / "b.txt", target="label")


# ---- how another file of the same make is read


def test_a_source_knows_how_it_was_read(tmp_path):
    path = write(tmp_path, "a.data", "1;x y;a\n2;z;b\n")
    said = {"format": "csv", "separator": ";", "columns": ["n", "word", "y"], "kinds": {"word": "text"}}
    source = markone.read(path, target="y", **said)
    assert source.reading == said
    again = markone.read(path, target="y", **source.reading)
    assert again.columns == source.columns
    assert source.with_columns(source.columns[:1]).reading == said
    assert markone.read(write(tmp_path, "b.csv", "a,b\nx,2\n")).reading == {"format": "csv"}
    assert markone.read(["a"]).reading == {}


def test_a_source_with_other_columns_reads_no_more_than_those(tmp_path):
    path = write(tmp_path, "a.csv", "n,m,y\n" + "1,2,a\n" * 6000 + "1,bad,b\n")
    source = markone.read(path, target="y")
    with pytest.raises(DataError, match="'m' is not a number"):
        list(source.batches())
    fewer = source.with_columns(source.columns[:1])
    assert next(list(batch.columns) for batch in fewer.batches()) == ["n"]
    with pytest.raises(DataError, match="needs the column 'k', and .* has n, m, y"):
        source.with_columns((markone.data.source.Column("k", "numeric"),))


# ---- how far it is


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow"])
def test_progress_goes_from_nothing_to_all(ending, tmp_path):
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    table = pa.table({"n": list(range(400_000)), "y": ["a", "b"] * 200_000})
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pa.parquet.write_table(table, path)
    elif ending == "arrow":
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table, max_chunksize=50_000)
    else:
        out = io.BytesIO()
        pa.csv.write_csv(table, out)
        path.write_bytes(gzip.compress(out.getvalue()) if ending == "csv.gz" else out.getvalue())
    source = markone.read(path, target="y", threads=1)
    for _ in range(2):
        shares = [source.progress for _ in source.batches()]
        assert shares == sorted(shares) and shares[0] < 0.7 and shares[-1] == 1


def test_the_progress_of_a_pipe_is_not_known(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    source = markone.read("-", format="lines")
    assert [source.progress for _ in source.batches()] == [None]
    assert markone.read(["a"]).progress is None


# ---- pipes


@pytest.mark.parametrize("in_memory", [0, 50, files.IN_MEMORY])
def test_a_pipe_is_kept_and_can_be_read_again(monkeypatch, in_memory):
    data = b"a,b\n1,2\n" * 10
    monkeypatch.setattr(files, "IN_MEMORY", in_memory)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    source = markone.read("-", format="csv", header=True, skip_bad=True)
    [file] = source.files
    if len(data) > in_memory:
        assert os.fstat(file.kept.fileno()).st_size == len(data)  # a file without a name
    else:
        assert file.kept.getvalue() == data
    assert [len(batch) for batch in source.batches()] == [len(batch) for batch in source.batches()]


def test_what_is_read_once_is_not_kept(monkeypatch):
    monkeypatch.setattr(files, "START_KEPT", 100_000)
    monkeypatch.setattr(files, "IN_MEMORY", 0)
    data = b"".join(b"line %d\n" % i for i in range(400_000))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    source = markone.read("-", format="lines", once=True)
    texts = [text for batch in source.batches() for text in batch.columns["text"].to_pylist()]
    assert texts == data.decode().splitlines()
    [file] = source.files
    assert os.fstat(file.kept.fileno()).st_size < 3_000_000 < len(data)
    with pytest.raises(DataError, match="standard input can be read only once"):
        list(source.batches())


@pytest.mark.parametrize("once", [True, False])
def test_a_csv_pipe_read_once_gives_the_same(once, monkeypatch):
    data = "n,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(300_000))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.encode())))
    source = markone.read("-", format="csv", target="y", once=once)
    numbers = [n for batch in source.batches() for n in batch.columns["n"].to_pylist()]
    assert numbers == list(range(300_000))


def test_lines_are_handed_on_as_they_come():
    reading, writing = os.pipe()
    came: list[object] = []

    def produce():
        for line in (b"first\n", b"second\n", b"third\n"):
            os.write(writing, line)
            before = len(came)
            deadline = time.monotonic() + 10
            while len(came) == before and time.monotonic() < deadline:
                time.sleep(0.005)
        os.close(writing)

    producer = threading.Thread(target=produce)
    with open(reading, "rb") as stream:
        file = KeptFile(stream, "a pipe", once=True)
        opened = file.open()
        producer.start()
        while data := opened.read(2**20):
            came.append(data)
        producer.join()
    assert came == [b"first\n", b"second\n", b"third\n"]


def test_once_must_be_true_or_false():
    with pytest.raises(SettingsError, match="^once must be True or False, not 1"):
        markone.read(["a"], once=1)
