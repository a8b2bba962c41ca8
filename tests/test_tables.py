"""Tables of delimited lines: the core against Python's csv module and against its plain twin."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from markone import _core, reference
from markone._core import TableKind

SIGNS = [(",", '"'), ("\t", '"'), (";", "'"), ("|", None), (" ", '"'), (" ", None)]
odd = st.sampled_from([bytes([c]) for c in b" \t\n\r\",;'|ab1"] + [b'""', b'"\n', b"\r\n", b"\xff", b"\xd0\xb6"])
damaged_tables = st.lists(odd, max_size=30).map(b"".join)


def fields_in(read: Any) -> list[list[bytes | None]]:
    """The rows of a table that was read as words or texts."""
    columns = []
    for bits, offsets, data in read.columns:
        whole, ends = data.tobytes(), offsets.tolist()
        there = np.ones(len(ends) - 1, bool) if bits is None else np.unpackbits(bits, bitorder="little")
        columns.append([whole[a:b] if t else None for a, b, t in zip(ends[:-1], ends[1:], there, strict=False)])
    return [list(row) for row in zip(*columns, strict=True)]


def reader(width: int, kind: TableKind = TableKind.text, separator: str = ",", quote: str | None = '"') -> Any:
    names = [f"c{i}" for i in range(width)]
    return _core.TableReader(separator=separator, quote=quote, missing=["", "?"], kinds=[kind] * width, names=names)


# ---- the same as others


@given(rows=st.lists(st.lists(st.text("ab \t\",;\n'\x0b", max_size=5), min_size=2, max_size=2), max_size=8))
def test_what_python_writes_is_read(rows: list[list[str]]) -> None:
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    assert fields_in(reader(2).read(file.getvalue().encode())) == [[f.encode() for f in row] for row in rows]


def agree(data: bytes, separator: str, quote: str | None) -> None:
    rows, bad = reference.read_table(data, separator.encode(), None if quote is None else quote.encode())
    text = [(line, fields) for line, fields in rows if is_utf8(data, line, fields)]
    for width in {len(fields) for _, fields in rows} or {1}:
        read = reader(width, separator=separator, quote=quote).read(data, skip_bad=True)
        mine = list(zip(read.row_lines.tolist(), fields_in(read), strict=True))
        assert mine == [(line, fields) for line, fields in text if len(fields) == width]
        assert read.bad == len(rows) + len(bad) - len(mine)


def is_utf8(data: bytes, line: int, fields: list[bytes]) -> bool:
    try:
        b"".join(fields).decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(("separator", "quote"), SIGNS)
@given(data=damaged_tables)
@example(data=b'"a" b,c\n')
@example(data=b'a,"b\n')
@example(data=b'a\t"b\n" c\n')
def test_any_lines_are_read_as_by_the_twin(separator: str, quote: str | None, data: bytes) -> None:
    agree(data, separator, quote)


@pytest.mark.parametrize(("separator", "quote"), SIGNS)
@given(data=damaged_tables, size=st.integers(1, 9))
def test_rows_are_cut_where_they_end(separator: str, quote: str | None, data: bytes, size: int) -> None:
    """Reading in pieces, each cut after its last whole row, finds the same rows as reading all at once."""
    whole = reader(2, separator=separator, quote=quote).read(data, skip_bad=True)
    found, rest = [], b""
    for at in range(0, len(data), size):
        rest += data[at : at + size]
        end = _core.whole_rows(rest, separator=separator, quote=quote)
        assert rest[:end].endswith(b"\n") or end == 0
        found += fields_in(reader(2, separator=separator, quote=quote).read(rest[:end], skip_bad=True))
        rest = rest[end:]
    found += fields_in(reader(2, separator=separator, quote=quote).read(rest, skip_bad=True))
    assert found == fields_in(whole)


# ---- values


def test_missing_values_are_none_but_in_texts() -> None:
    lines = b"?, ?\n,\n a , a \n"
    assert fields_in(reader(2, TableKind.word).read(lines)) == [[None, None], [None, None], [b"a", b"a"]]
    assert fields_in(reader(2).read(lines)) == [[b"?", b"?"], [b"", b""], [b"a", b"a"]]


@given(values=st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), max_size=20))
def test_numbers_are_read_to_the_bit(values: list[float | None]) -> None:
    lines = "".join(f"{'?' if value is None else repr(value)},x\n" for value in values)
    [(bits, numbers), _] = reader_of_number_and_word().read(lines.encode()).columns
    there = np.ones(len(values), bool) if bits is None else np.unpackbits(bits, bitorder="little")[: len(values)]
    assert [n if t else None for n, t in zip(numbers.tolist(), there, strict=True)] == values


def reader_of_number_and_word() -> Any:
    return _core.TableReader(
        separator=",", quote='"', missing=["?"], kinds=[TableKind.number, TableKind.word], names=["age", "job"]
    )


@pytest.mark.parametrize(
    ("lines", "line", "problem"),
    [
        (b'1,a\n2,"b\nc"\nx,d\n', 4, "'age' is not a number: 'x'"),
        (b"1e999,a\n", 1, "'age' is too large or too small: '1e999'"),
        (b"inf,a\n", 1, "'age' is not finite: 'inf'"),
        (b"1,a\n\n1\n", 3, "there is 1 field instead of 2 in '1'"),
        (b"1,a,b\n", 1, "there are 3 fields instead of 2 in '1,a,b'"),
        (b'1,"a" b\n', 1, "there is more after a closing quote"),
        (b'1,"a\n', 1, "a quote is opened and never closed"),
        (b"1,\xe4\n", 1, "'\\xe4' is not UTF-8"),
    ],
)
def test_a_bad_row_gets_a_sentence(lines: bytes, line: int, problem: str) -> None:
    with pytest.raises(_core.BadLine, match=re.escape(problem)) as caught:
        reader_of_number_and_word().read(lines)
    assert caught.value.line == line
    read = reader_of_number_and_word().read(b"5,good\n" + lines + b"6,good\n", skip_bad=True)
    if b'"a\n' not in lines:  # which swallows what follows
        assert read.bad == 1 and read.columns[0][1].tolist()[-1] == 6
    assert read.first_bad[0][0] == line + 1 and problem in read.first_bad[0][1]


def test_wrong_settings_are_refused() -> None:
    for wrong in ({"separator": ",,"}, {"quote": ","}, {"separator": "\n"}):
        with pytest.raises(ValueError, match=r"separator|quote"):
            reader(1, **wrong)
