"""Files that are no plain files, and files that change while they are read."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import markone
from markone.data.finding import find
from markone.errors import DataError


def texts_in(folder: Path) -> Path:
    for label in ("ham", "spam"):
        (folder / label).mkdir(parents=True)
        (folder / label / "1.txt").write_text(f"a text of {label}")
    return folder


def rows_of(source: markone.Source) -> int:
    return sum(len(batch) for batch in source.batches())


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))  # whose name may not be long


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_loop(path: Path) -> None:
    path.symlink_to(path.name)


def a_broken_link(path: Path) -> None:
    path.symlink_to("nowhere")


SPECIAL = {a_pipe: "is a pipe", a_socket: "socket|No such device", a_device: "is a device", a_loop: "symbolic links"}


@pytest.mark.parametrize("make", SPECIAL, ids=lambda make: make.__name__)
def test_what_is_no_file_in_a_folder_of_texts_is_told_or_passed_over(
    make: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = texts_in(tmp_path / "texts")
    make(folder / "spam" / "2.txt")  # type: ignore[operator]
    with pytest.raises(DataError, match=rf"spam/2\.txt .*({SPECIAL[make]})"):  # type: ignore[index]
        rows_of(markone.read(folder))
    source = markone.read(folder, skip_bad=True)
    assert rows_of(source) == 2 and source.bad.count == 1


@pytest.mark.parametrize("make", [a_pipe, a_device, a_loop, a_broken_link], ids=lambda make: make.__name__)
def test_what_is_no_file_among_tables_is_told(make: object, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    make(tmp_path / "b.csv")  # type: ignore[operator]
    with pytest.raises(DataError, match=r"b\.csv .*(is a pipe|is a device|symbolic link)"):
        rows_of(markone.read(tmp_path))
    assert find(str(tmp_path / "*.csv")) == [str(tmp_path / "a.csv")]


def test_links_that_lead_nowhere_are_told(tmp_path: Path) -> None:
    a_loop(tmp_path / "a.csv")
    a_broken_link(tmp_path / "b.csv")
    with pytest.raises(DataError, match=r"a\.csv is a symbolic link to a\.csv, which is a loop of links"):
        markone.read(tmp_path / "a.csv")
    with pytest.raises(DataError, match=r"b\.csv is a symbolic link to nowhere, which does not exist"):
        markone.read(tmp_path / "b.csv")


def test_a_pattern_finds_files_once_though_links_lead_back(tmp_path: Path) -> None:
    (tmp_path / "data" / "deep").mkdir(parents=True)
    for name in ("data/a.csv", "data/deep/b.csv", "data/deep/.hidden.csv"):
        (tmp_path / name).write_text("x,y\n1,2\n")
    for link in ("one", "other"):  # two loops: Python's own patterns would look into a million million folders
        (tmp_path / "data" / "deep" / link).symlink_to("..")
    names = [str(tmp_path / name) for name in ("data/a.csv", "data/deep/b.csv")]
    assert find(str(tmp_path / "**" / "*.csv")) == find(str(tmp_path / "data" / "**")) == names
    assert find(str(tmp_path / "d*" / "**" / "b.csv")) == names[1:]


def test_patterns_find_what_pythons_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import glob

    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "x/b.csv", "x/y/c.csv", "x/.z/d.csv", "x[1]/e.csv", "x/y/x/f.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    for pattern in ("**/*.csv", "**", "x/**", "x/**/*.csv", "**/x/*.csv", "**/x/**/*.csv", "*/**/*.csv", "x**/*.csv"):
        for path in (pattern, str(tmp_path / pattern)):
            assert find(path) == sorted({n for n in glob.glob(path, recursive=True) if os.path.isfile(n)}), path


# ---- files that change


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(path.read_bytes()[-4:])


def shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4)


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.replace(other, path)


def rewrite(path: Path) -> None:
    before = path.stat()
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


CHANGES = {
    grow: r"grew from 12 to 16 bytes",
    shrink: r"shrank from 12 to 8 bytes",
    replace: "was replaced by another file",
    rewrite: "was written to",
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_file_that_changes_between_readings_is_told(change: object, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    source = markone.read(path)
    assert rows_of(source) == rows_of(source) == 2
    change(path)  # type: ignore[operator]
    with pytest.raises(DataError, match=rf"a\.csv {CHANGES[change]} while it was being read; start again"):  # type: ignore[index]
        rows_of(source)
    assert rows_of(markone.read(path)) > 0


def test_files_of_all_formats_that_change_are_told(tmp_path: Path) -> None:
    def parquet(path: Path) -> None:
        pa.parquet.write_table(pa.table({"a": [1, 2]}), path)

    def images(path: Path) -> None:
        path.write_bytes(bytes([0, 0, 8, 3]) + bytes([0, 0, 0, 1]) * 3 + b"\xff")

    makers = {
        "a.parquet": parquet,
        "a.csv.gz": lambda path: path.write_bytes(gzip.compress(b"x,y\n1,2\n")),
        "a.libsvm": lambda path: path.write_text("1 2:3\n"),
        "a.jsonl": lambda path: path.write_text('{"a": 1}\n'),
        "a-idx3-ubyte": images,
    }
    for name, make in makers.items():
        make(tmp_path / name)
        source = markone.read(tmp_path / name)
        replace(tmp_path / name)
        with pytest.raises(DataError, match=rf"{name} was replaced by another file while it was being read"):
            rows_of(source)


def test_a_text_that_changes_between_readings_is_told(tmp_path: Path) -> None:
    source = markone.read(texts_in(tmp_path))
    assert rows_of(source) == rows_of(source) == 2
    grow(tmp_path / "spam" / "1.txt")
    with pytest.raises(DataError, match=r"spam/1\.txt has changed since it was first read; start again"):
        rows_of(source)


def test_a_file_that_grows_while_it_is_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,2\n" * 2**20)
    batches = markone.read(path, threads=1).batches()
    next(batches)
    grow(path)
    with pytest.raises(DataError, match=r"a\.csv grew from"):
        list(batches)


def test_a_file_that_is_read_only_once_may_grow_but_not_shrink(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    source = markone.read(path, once=True)
    grow(path)
    assert rows_of(source) == 3
    source = markone.read(path, once=True)
    shrink(path)
    with pytest.raises(DataError, match="shrank"):
        rows_of(source)


def test_a_pipe_that_takes_a_files_place_does_not_keep_one_waiting(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    source = markone.read(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(DataError, match=r"a\.csv is a pipe"):
        rows_of(source)


# ---- pipes that are named


@pytest.mark.parametrize("once", [False, True])
def test_a_pipe_that_is_named_is_read(once: bool, tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    thread = threading.Thread(target=lambda: path.write_text("x,y\n1,2\n3,4\n"), daemon=True)
    thread.start()
    source = markone.read(path, once=once)
    assert rows_of(source) == 2
    thread.join()
    if not once:
        assert rows_of(source) == 2


def test_standard_input_by_its_path(tmp_path: Path) -> None:
    """/dev/stdin is a pipe or a file, as it happens."""
    code = (
        "import markone; source = markone.read('/dev/stdin', format='csv');"
        "print(*[sum(map(len, source.batches())) for _ in range(2)])"
    )
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    command = [sys.executable, "-c", code]
    with path.open() as file:
        assert subprocess.run(command, stdin=file, capture_output=True, text=True, check=True).stdout == "2 2\n"
    piped = subprocess.run(command, input=path.read_text(), capture_output=True, text=True, check=True)
    assert piped.stdout == "2 2\n"
