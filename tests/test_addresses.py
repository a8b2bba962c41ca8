"""Files that have an address: read like those on a disk, with a sentence for whatever goes wrong."""

from __future__ import annotations

import gzip
import io
import time

import pytest

import markone
from markone import addresses
from markone.errors import DataError, LimitError

fsspec = pytest.importorskip("fsspec")
ROWS = [("free money", "spam"), ("see you", "ham"), ("cheap offer", "spam"), ("lunch at noon", "ham")]
LINES = "".join(f'{{"text": "{text}", "label": "{label}"}}\n' for text, label in ROWS)


class Silent(fsspec.AbstractFileSystem):  # type: ignore[name-defined, misc]
    """A file system that does not answer."""

    protocol = "silent"
    seconds = 0.0

    def info(self, path, **_):
        time.sleep(self.seconds)
        raise PermissionError(13, "Permission denied", path)


@pytest.fixture
def memory():
    fsspec.register_implementation("silent", Silent, clobber=True)
    found = fsspec.filesystem("memory")
    found.store.clear()
    yield found
    found.store.clear()


def parquet():
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = io.BytesIO()
    pq.write_table(pa.table({"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS]}), whole)
    return whole.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mails.jsonl", LINES.encode()),
        ("mails.jsonl.gz", gzip.compress(LINES.encode())),
        ("mails.csv", "text,label\n" + "".join(f"{text},{label}\n" for text, label in ROWS)),
        ("mails.parquet", parquet()),
    ],
)
def test_files_are_read_by_their_addresses(memory, tmp_path, name, content):
    content = content.encode() if isinstance(content, str) else content
    memory.pipe(f"/box/{name}", content)
    (tmp_path / name).write_bytes(content)
    here, there, local = (
        markone.train(markone.read(path, target="label"), epochs=2)
        for path in (tmp_path / name, f"memory://box/{name}", f"file://{tmp_path}/{name}")
    )
    assert here.digest == there.digest == local.digest


def test_patterns_and_folders_stand_for_their_files(memory):
    for name in ("a/1.jsonl", "a/2.jsonl", "a/.hidden.jsonl", "a/b/3.jsonl", "c/4.jsonl"):
        memory.pipe(f"/box/{name}", LINES.encode())

    def names(address):
        return [file.name.removeprefix("memory://box/") for file in markone.read(address, target="label").files]

    assert names("memory://box/a") == names("memory://box/a/*.jsonl") == ["a/1.jsonl", "a/2.jsonl"]
    assert names("memory://box/*/[34].jsonl") == ["c/4.jsonl"]
    assert len([*markone.read("memory://box/a/*.jsonl", target="label").batches()]) == 2


def test_predictions_for_files_with_addresses(memory, tmp_path):
    memory.pipe("/box/1.jsonl", LINES.encode())
    model = markone.train([text for text, _ in ROWS], target=[label for _, label in ROWS], epochs=2)
    for before in (0, 1):
        report = markone.predict_files(model, "memory://box/*.jsonl", tmp_path / "out", output="labels")
        assert report.before == before
    assert (tmp_path / "out" / "part-00000.txt").read_text().split() == [label for _, label in ROWS]
    memory.pipe("/box/1.jsonl", LINES.encode() * 2)
    with pytest.raises(DataError, match="has predictions with other files"):
        markone.predict_files(model, "memory://box/*.jsonl", tmp_path / "out", output="labels")


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("memory://box/none.jsonl", "memory://box/none.jsonl does not exist"),
        ("memory://box/*.csv", r"no file matches memory://box/\*.csv"),
        ("nosuch://user:secret@box/a.csv", "nosuch://box/a.csv cannot be read: Protocol not known: nosuch"),
        ("silent://box/a.csv", "silent://box/a.csv cannot be read: Permission denied"),
    ],
)
def test_an_address_that_cannot_be_read_gets_a_sentence(memory, address, problem):
    memory.pipe("/box/1.jsonl", LINES.encode())
    with pytest.raises(DataError, match=problem):
        markone.read(address, target="label")


def test_an_address_that_does_not_answer_is_an_error_in_time(memory, monkeypatch):
    monkeypatch.setattr(addresses, "ANSWER", 0.2)
    monkeypatch.setattr(Silent, "seconds", 1.0)
    with pytest.raises(DataError, match=r"silent://box/a.csv cannot be read: there was no answer within 0 seconds"):
        markone.read("silent://box/a.csv", target="label")


def test_a_file_that_changes_between_two_readings_is_an_error(memory):
    memory.pipe("/box/1.jsonl", LINES.encode())
    source = markone.read("memory://box/1.jsonl", target="label")
    memory.pipe("/box/1.jsonl", LINES.encode() * 2)
    with pytest.raises(DataError, match="memory://box/1.jsonl was written to while it was being read"):
        [*source.batches()]


def test_too_many_files_are_refused(memory, monkeypatch):
    monkeypatch.setattr(addresses, "MOST_FILES", 1)
    for number in range(2):
        memory.pipe(f"/box/{number}.jsonl", LINES.encode())
    with pytest.raises(LimitError, match="memory://box stands for 2 files; at most 1 are read together"):
        markone.read("memory://box", target="label")


def test_a_missing_package_is_named(monkeypatch):
    addresses.file_system_of.cache_clear()
    monkeypatch.setattr(addresses, "installed", lambda _: False)
    with pytest.raises(DataError, match=r"zip:// needs a package that is not installed: pip install fsspec"):
        markone.read("zip://a.csv::b.zip", target="label")


def test_workers_read_files_by_their_addresses(cluster, tmp_path, memory):
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_text(LINES * 5)
        memory.pipe(f"/box/{number}.jsonl", LINES.encode())
    pytest.importorskip("distributed")
    settings = {"partitions": 3, "epochs": 2}
    expected = markone.train(markone.read(f"{tmp_path}/*.jsonl", target="label"), **settings)
    source = markone.read(f"local://{tmp_path}/*.jsonl", target="label")
    assert markone.train(source, cluster=cluster.scheduler_address, **settings).digest == expected.digest
    evaluation = expected.evaluate(source, cluster=cluster.scheduler_address)
    assert evaluation.accuracy == expected.evaluate(f"{tmp_path}/*.jsonl").accuracy
    with pytest.raises(DataError, match="the worker tcp.* cannot read memory://box/0.jsonl: .* does not exist; files"):
        markone.train(
            markone.read("memory://box/*.jsonl", target="label"), cluster=cluster.scheduler_address, **settings
        )
