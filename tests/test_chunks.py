"""Chunks: those of plain files are found without reading them, and are the same as those of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import markone
from markone.data.chunks import Span, chunks, line_pieces
from markone.data.files import NamedFile
from markone.data.options import Options

CONTENTS = st.lists(st.sampled_from([b"\n", b"a", b"bb\n", b"\r\n", b"c" * 7, b"d" * 20, "é\n".encode()]), max_size=30)


@given(
    contents=CONTENTS,
    size=st.integers(3, 20),
    tail=st.integers(1, 5),
    longest=st.integers(4, 60),
    marked=st.booleans(),
    once=st.booleans(),
)
def test_spans_are_the_chunks_of_a_stream(
    contents: list[bytes], size: int, tail: int, longest: int, marked: bool, once: bool
) -> None:
    options = Options(longest_line=longest)

    def found(make: Callable[[list[NamedFile], Options], Iterator[Any]], path: Path) -> list[object]:
        pieces: list[object] = []
        try:
            pieces.extend((piece.file, piece.read()) for piece in make([NamedFile(str(path), once)], options))
        except markone.MarkoneError as error:
            pieces.append(str(error))
        return pieces

    with TemporaryDirectory() as folder:
        path = Path(folder, "a.txt")
        path.write_bytes((b"\xef\xbb\xbf" if marked else b"") + b"".join(contents))
        with patch("markone.data.chunks.CHUNK", size), patch("markone.data.chunks.TAIL", tail):
            assert found(line_pieces, path) == found(chunks, path)


def test_plain_files_are_not_read_before_they_are_used(tmp_path: Path) -> None:
    plain, latin = tmp_path / "a.txt", tmp_path / "b.txt"
    plain.write_bytes(b"a\nb\n")
    latin.write_bytes(b"a\nb\xe9\n")
    [piece] = line_pieces([NamedFile(str(plain))], Options())
    assert isinstance(piece, Span) and piece.read() == b"a\nb\n"
    [other] = line_pieces([NamedFile(str(latin))], Options(encoding="latin-1"))
    assert not isinstance(other, Span) and other.read() == "a\nbé\n".encode()


def test_a_file_that_changes_before_its_lines_are_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for change, message in ((b"c\n", "grew"), (b"", "shrank")):
        path.write_bytes(b"a\nb\n")
        [piece] = line_pieces([NamedFile(str(path))], Options())
        path.write_bytes(b"a\nb\n" + change if change else b"a\n")
        with pytest.raises(markone.DataError, match=message):
            piece.read()


@pytest.mark.parametrize("threads", [1, 3])
def test_the_line_of_an_error_is_counted_over_all_chunks(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markone.data.chunks.CHUNK", 64)
    path = tmp_path / "a.libsvm"
    path.write_text("1 1:2 3:4\n" * 100 + "1 x\n" + "0 1:1\n" * 100)
    with pytest.raises(markone.DataError, match="line 101"):
        list(markone.read(path, threads=threads).batches())
    source = markone.read([path, path], threads=threads, skip_bad=True)
    assert sum(len(batch) for batch in source.batches()) == 400
    assert source.bad.count == 2 and all("line 101" in str(line) for line in source.bad.first)
