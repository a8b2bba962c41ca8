"""Lines of LIBSVM, Vowpal Wabbit, fastText and label<tab>text: the core against its plain twin."""

from __future__ import annotations

import io
import pickle
import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from markone import _core, reference
from markone.data.formats import FORMATS
from markone.reference import Example


def twins_of(source: str) -> dict[Any, Any]:
    """The core's readers of the formats that this source reads, each with its function in the reference."""
    formats = [format for format in FORMATS.values() if format.reader == source]
    return {getattr(_core, one.line_reader): getattr(reference.lines, f"read_{one.name}") for one in formats}


ROWS, TEXTS = twins_of("lines.RowLines"), twins_of("lines.TextLines")
EVERY = [*ROWS, *TEXTS]

# ---- writers of lines

blanks = st.text(" \t", min_size=1, max_size=2).map(str.encode)
endings = st.sampled_from([b"\n", b"\r\n"])
counts = st.one_of(st.integers(0, 30), st.integers(0, 2**31 - 1))
numbers = st.one_of(
    st.integers(-9, 9).map(str),
    st.integers(-(10**16), 10**16).map(str),
    st.decimals(-1000, 1000, allow_nan=False, places=4).map(lambda d: f"{d:f}"),
    st.floats(-1e30, 1e30).map(repr),
    st.floats(-(2.0**100), 2.0**100, width=32).map(lambda f: f"{f:.9g}"),
    st.sampled_from(
        ["+1", ".5", "5.", "-.5E+3", "1e-320", "00.10", "0e999", "-0", "12345678.1234567", "1234567.123456789"]
    ),
).map(str.encode)
names = st.one_of(
    st.sampled_from([b"a", b"b", b"price", b"x^y", b"^", b"#", b"'t", b"\xff", b"\xd0\xb6", b"\0", b"\r-", b"1"]),
    st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r:|"), min_size=1, max_size=12).map(str.encode),
)
labels = names.filter(lambda name: not name.startswith((b"'", b"#")))


@st.composite
def libsvm_lines(draw: st.DrawFn) -> tuple[bytes, Example | None]:
    comment = draw(st.sampled_from([b"", b"", b"#", b" # 1:2 |x __label__"]))
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([b"", b" ", comment])), None
    label = draw(labels)
    pieces = draw(st.lists(st.tuples(counts, numbers), max_size=6))
    line = label + b"".join(draw(blanks) + b"%d:%s" % piece for piece in pieces)
    if draw(st.booleans()):
        line = line.replace(b" ", b" qid:%d " % draw(counts), 1)
    if comment == b"#":  # which would be the label's where there is nothing else
        comment = b" #"
    values = [(b"%d" % index, float(value)) for index, value in pieces]
    return line + comment, Example(label, reference.add_up(values))


@st.composite
def vw_lines(draw: st.DrawFn) -> tuple[bytes, Example | None]:
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([b"", b" ", b"\t"])), None
    head, label, importance = b"", None, 1.0
    if draw(st.booleans()):
        label = draw(labels)
        head = label + draw(blanks)
        if draw(st.booleans()):
            importance = draw(st.floats(0, 1e300))
            head += repr(importance).encode() + draw(blanks)
            if draw(st.booleans()):
                head += draw(numbers) + draw(blanks)
    head += draw(st.one_of(st.just(b""), names.filter(lambda n: b"'" not in n), names.map(lambda n: b"'" + n + b" ")))
    line, pieces = draw(st.sampled_from([b"", b" "])) * (not head) + head, []
    for _ in range(draw(st.integers(1, 3))):
        space = draw(st.one_of(st.just(b""), names))
        scale = draw(st.one_of(st.none(), st.sampled_from([b"1", b"-2.5", b"1e-3", b"0"])) if space else st.none())
        line += b"|" + space + (b"" if scale is None else b":" + scale)
        for feature in draw(st.lists(names, max_size=5)):
            value = draw(st.one_of(st.none(), numbers))
            line += draw(blanks) + feature + (b"" if value is None else b":" + value)
            product = float(scale or 1) * float(value or 1)
            pieces.append((space + b"^" + feature if space else feature, product))
        line += draw(st.sampled_from([b"", b" "]))
    return line, Example(label, reference.add_up(pieces), importance)


texts = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r")).map(str.encode),
    st.binary().map(lambda b: b.replace(b"\n", b"").replace(b"\r", b"")),
)


@st.composite
def fasttext_lines(draw: st.DrawFn) -> tuple[bytes, tuple[bytes | None, bytes]]:
    text = draw(texts.filter(lambda t: b"__label__" not in t))
    if draw(st.integers(0, 3)) == 0:
        return text, (None, text)
    label = draw(names)
    return draw(st.sampled_from([b"", b" "])) + b"__label__" + label + draw(blanks) + text, (label, text.lstrip(b" \t"))


@st.composite
def tab_lines(draw: st.DrawFn) -> tuple[bytes, tuple[bytes | None, bytes]]:
    label = draw(st.one_of(st.just(b""), texts.map(lambda t: t.replace(b"\t", b" "))))
    text = draw(texts)
    return label + b"\t" + text, (label or None, text)


WRITERS = {
    _core.LibsvmReader: libsvm_lines(),
    _core.VWReader: vw_lines(),
    _core.FastTextReader: fasttext_lines(),
    _core.TabReader: tab_lines(),
}


@st.composite
def files(draw: st.DrawFn, reader: type) -> tuple[bytes, list[Any]]:
    """A file, and what is in it."""
    lines = draw(st.lists(WRITERS[reader], max_size=6))
    ending = draw(endings)
    whole = ending.join(line for line, _ in lines)
    if draw(st.booleans()) or (lines and not lines[-1][0]):
        whole += ending if lines else b""
    return whole, [found for _, found in lines if found is not None]


@st.composite
def damaged(draw: st.DrawFn, reader: type) -> bytes:
    """A file, some of whose bytes are others, too many or missing."""
    whole = bytearray(draw(files(reader))[0])
    odd = st.sampled_from([bytes([c]) for c in b" \t:|#'\r\n\0\xff-+.e019_x"] + [b"nan", b"inf", b"1e39", b"__label__"])
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(whole)))
        whole[at : at + draw(st.integers(0, 2))] = draw(st.one_of(odd, st.just(b"")))
    return bytes(whole)


# ---- what the core reads


def names_in(arrays: tuple[np.ndarray, np.ndarray]) -> list[bytes]:
    offsets, data = arrays
    return [data[begin:end].tobytes() for begin, end in pairwise(offsets.tolist())]


def found_in(reader: Any, chunk: bytes, read: Any) -> list[Any]:
    """The arrays as the twin would have them, with values as they are in 32 bits."""
    label_of = dict(enumerate(names_in(reader.label_names())))
    labels = [None if number == -1 else label_of[number] for number in read.labels.tolist()]
    if isinstance(read, _core.LabelledTexts):
        spans = zip(read.starts.tolist(), read.ends.tolist(), strict=True)
        return [(label, chunk[start:end]) for label, (start, end) in zip(labels, spans, strict=True)]
    feature_of = names_in(reader.feature_names())
    found = []
    importance = [1.0] * len(labels) if read.importance is None else read.importance.tolist()
    for label, weight, (begin, end) in zip(labels, importance, pairwise(read.indptr.tolist()), strict=True):
        row = [feature_of[number] for number in read.indices[begin:end]]
        assert len({*row}) == len(row)  # each feature once
        found.append(Example(label, dict(zip(row, read.values[begin:end].tolist(), strict=True)), weight))
    return found


def rounded(rows: list[Any]) -> list[Any]:
    def to_float(value: float) -> float:
        return float(np.float32(value))

    return [
        Example(row.label, {name: to_float(value) for name, value in row.features.items()}, row.importance)
        if isinstance(row, Example)
        else row
        for row in rows
    ]


def agree(kind: type, chunk: bytes) -> None:
    """Same rows, same names in the same order, same bad lines, skipped or refused."""
    good, bad = reference.read_lines(chunk, {**ROWS, **TEXTS}[kind])
    reader = kind()
    read = reader.read(chunk, skip_bad=True)
    assert found_in(reader, chunk, read) == rounded(good)
    assert read.bad == len(bad) and [line for line, _ in read.first_bad] == bad[:5]
    assert read.lines == chunk.count(b"\n") + (chunk != b"" and not chunk.endswith(b"\n"))
    met = [row.label if kind in ROWS else row[0] for row in good]
    assert names_in(reader.label_names()) == list(dict.fromkeys(label for label in met if label is not None))
    if kind in ROWS:
        assert names_in(reader.feature_names()) == list(dict.fromkeys(name for row in good for name in row.features))
    strict = kind()
    if not bad:
        assert found_in(strict, chunk, strict.read(chunk)) == rounded(good)
        return
    with pytest.raises(_core.BadLine) as caught:
        strict.read(chunk)
    wrong = caught.value
    assert (wrong.line, wrong.problem) == read.first_bad[0] and str(wrong) == f"line {wrong.line}: {wrong.problem}"
    starts = [0, *(at + 1 for at, byte in enumerate(chunk) if byte == 10), len(chunk) + 1]
    assert starts[wrong.line - 1] <= wrong.offset < starts[wrong.line]


@pytest.mark.parametrize("kind", EVERY)
@given(st.data())
def test_what_is_written_is_read(kind: type, data: st.DataObject) -> None:
    chunk, what = data.draw(files(kind))
    reader = kind()
    assert found_in(reader, chunk, reader.read(chunk)) == rounded(what)
    agree(kind, chunk)


@pytest.mark.parametrize("kind", EVERY)
@settings(max_examples=2 * settings().max_examples)
@given(st.data())
def test_damaged_lines_are_read_as_by_their_twin(kind: type, data: st.DataObject) -> None:
    agree(kind, data.draw(damaged(kind)))


@pytest.mark.parametrize("kind", EVERY)
@given(st.binary(max_size=200))
@example(b"\r\n\r\r\n\n\r")
@example(b"1|a:1|b:1:1||\n'|\n'a '|\n:|\n|:\n| :\n|a:")
@example(b"1 1:1#2:x\n#\n1#2 1:1 # 1:1\n1:1\nqid:1 1:1\n1 qid:x\n1 qid:1 qid:2\n1 :1\n1 1:\n1 1\n1 1:1:1")
@example(b"__label__\n__label__ a\n___label__a __label__b\na__label__b\n __label__a\t__label__b\n__label__a__label__b")
def test_any_bytes_are_read_as_by_the_twin(kind: type, chunk: bytes) -> None:
    agree(kind, chunk)


@pytest.mark.parametrize("kind", EVERY)
def test_a_file_with_flipped_bits_is_read_as_by_the_twin(kind: type) -> None:
    random = np.random.default_rng(7)
    line = {
        _core.LibsvmReader: b"+1 3:1 11:0.25 14:-1e-3 2147483647:1 # c\n",
        _core.VWReader: b"1 2.5 'tag |a:0.5 x:1.5 y |b long_name:1e-3 x\n",
        _core.FastTextReader: b"__label__spam free money __labe\n",
        _core.TabReader: b"spam\tfree money\t\xd0\xb6\n",
    }[kind]
    whole = np.frombuffer(line * 200, np.uint8)
    for _ in range(20):
        flips = (random.random((len(whole), 8)) < 0.003) @ (1 << np.arange(8))
        agree(kind, (whole ^ flips.astype(np.uint8)).tobytes())


# ---- numbers


@given(st.lists(st.from_regex(rb"\A-?([0-9]{0,9}\.?[0-9]{1,9}|[0-9]{1,9}\.)\Z"), min_size=1))
@example([b"0.1", b"123456789012345", b"999999999999999", b"0.000000000000001", b"123456789.12345678", b"-5."])
def test_the_short_way_to_a_number_ends_at_the_same_bits(texts: list[bytes]) -> None:
    # What has an exponent goes the long way. In double precision, the difference of the two is nothing at all.
    for text in texts:
        minus = text[1:] if text.startswith(b"-") else b"-" + text
        [value] = _core.LibsvmReader().read(b"1 7:%s 7:%se0" % (text, minus)).values
        assert value == 0
        [value] = _core.LibsvmReader().read(b"1 7:%s" % text).values
        assert value == np.float32(float(text)) and np.signbit(value) == np.signbit(float(text))


@pytest.mark.parametrize(
    "text",
    [
        *["1e400", "-1e400", "1e-400", "1e99999999999999999999", "1e-99999999999999999999", "3.5e38"],
        *["3.4028235677973366e38", "inf", "-INF", "nan", "NaN(1e5)", "infinity", "0x10", "1e", "1e+", ".", "-", "+"],
        *["+-1", "-+1", "++1", "--1", "1,5", "1_0", "1d5", "١", "1\0", "e5", ".e5"],
    ],
)
def test_what_is_no_finite_number_is_refused(text: str) -> None:
    for chunk in (f"1 2:{text}", f"1 |a b:{text}"):
        reader = _core.VWReader() if "|" in chunk else _core.LibsvmReader()
        with pytest.raises(_core.BadLine):
            reader.read(chunk.encode())
        assert reader.features == reader.labels == 0  # a bad line leaves nothing behind
        agree(type(reader), chunk.encode())


def test_far_away_numbers_are_right() -> None:
    zeros = b"0" * 1_000_000
    for text, value in {
        b"3.4028235677973362e38": np.finfo(np.float32).max,
        b"1e-46": 0,
        b"4.94e-324": 0,
        b"0e99999999999999999999": 0,
        b"0." + zeros + b"1e1000001": 1,
        b"1" + zeros + b"e-1000000": 1,
        zeros + b"7": 7,
    }.items():
        assert _core.LibsvmReader().read(b"1 2:" + text).values.tolist() == [value]
    reader = _core.LibsvmReader()
    reader.read(b"1 " + zeros + b"7:1")
    assert reader.feature_name(0) == "7"


# ---- LIBSVM


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_libsvm_is_read_as_by_scikit_learn(seed: int, zero_based: bool) -> None:
    random = np.random.default_rng(seed)
    X = random.standard_normal((int(random.integers(1, 9)), 20)) * (random.random(20) < 0.3)
    y = random.integers(-1, 2, X.shape[0])
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=zero_based, comment="a comment", query_id=np.arange(len(y)))
    reader = _core.LibsvmReader()
    read = reader.read(file.getvalue())
    columns = np.array([int(name) for name in names_in(reader.feature_names())], int) - (not zero_based)
    ours = scipy.sparse.csr_array((read.values, columns[read.indices], read.indptr), shape=X.shape)
    file.seek(0)
    theirs, labels, _ = load_svmlight_file(file, n_features=20, dtype=np.float32, zero_based=zero_based, query_id=True)
    assert (ours.toarray() == theirs.toarray()).all()
    assert [float(reader.label_name(label)) for label in read.labels] == labels.tolist()


def test_libsvm_indices_come_in_any_order_and_add_up() -> None:
    reader = _core.LibsvmReader()
    read = reader.read(b"a 9:1 3:2 9:0.5 003:1\nb 3:1")
    assert read.indptr.tolist() == [0, 2, 3]
    assert read.indices.tolist() == [0, 1, 1] and read.values.tolist() == [1.5, 3, 1]
    assert read.importance is None
    kinds = {name: getattr(read, name).dtype for name in ("indptr", "indices", "values", "labels")}
    assert kinds == {"indptr": np.int64, "indices": np.uint32, "values": np.float32, "labels": np.int32}


# ---- Vowpal Wabbit, by its documentation

ZEBRA = {
    b"MetricFeatures^height": 4.92,
    b"MetricFeatures^length": 6.56,
    b"Says^black": 1,
    b"Says^with": 1,
    b"Says^white": 1,
    b"Says^stripes": 1,
    b"OtherFeatures^NumberOfLegs": 4,
    b"OtherFeatures^HasStripes": 1,
}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (
            b"1 1.0 |MetricFeatures:3.28 height:1.5 length:2.0 |Says black with white stripes "
            b"|OtherFeatures NumberOfLegs:4.0 HasStripes",
            Example(b"1", ZEBRA),
        ),
        (
            b"1 1.0 zebra|MetricFeatures:3.28 height:1.5 length:2.0 |Says black with white stripes "
            b"|OtherFeatures NumberOfLegs:4.0 HasStripes",
            Example(b"1", ZEBRA),
        ),
        (
            b"0 | price:.23 sqft:.25 age:.05 2006",
            Example(b"0", {b"price": 0.23, b"sqft": 0.25, b"age": 0.05, b"2006": 1}),
        ),
        (b"1 2 'second_house | price:.18", Example(b"1", {b"price": 0.18}, 2)),
        (b"0 1 0.5 'third_house | price:.53", Example(b"0", {b"price": 0.53})),
        (b"| a b", Example(None, {b"a": 1, b"b": 1})),
        (b"'tag |f a", Example(None, {b"f^a": 1})),
        (b"1|f a", Example(None, {b"f^a": 1})),  # what touches the bar is a tag
        (b"1 |f a|g b", Example(b"1", {b"f^a": 1, b"g^b": 1})),
        (b"spam |f a a:2 |f a", Example(b"spam", {b"f^a": 4})),
        (b"-1 |", Example(b"-1", {})),
    ],
)
def test_vw_lines_mean_what_its_documentation_says(line: bytes, what: Example) -> None:
    reader = _core.VWReader()
    read = reader.read(line)
    assert read.importance is not None and read.importance.dtype == np.float64
    assert found_in(reader, line, read) == rounded([what])


# ---- names


@pytest.mark.parametrize("kind", EVERY)
@given(data=st.data())
def test_readers_that_merge_have_read_the_same_as_one(kind: Any, data: st.DataObject) -> None:
    chunks = [data.draw(files(kind))[0] for _ in range(3)]
    one, merged = kind(), kind()
    for chunk in chunks:
        together = one.read(chunk)
        alone = kind()
        apart = alone.read(chunk)
        labels = merged.add_labels(*alone.label_names())
        features = merged.add_features(*alone.feature_names()) if kind in ROWS else None
        assert np.append(labels, -1)[apart.labels].tolist() == together.labels.tolist()
        if features is not None:
            assert features.dtype == np.uint32 and features[apart.indices].tolist() == together.indices.tolist()
            assert names_in(merged.feature_names()) == names_in(one.feature_names())
            assert names_in(merged.feature_names(1)) == names_in(one.feature_names())[1:]
        if kind is _core.LibsvmReader:
            indices = alone.read_indices(chunk).indices
            assert indices.tolist() == [int(one.feature_name(number)) for number in together.indices]
            one.number(indices)
            assert indices.tolist() == together.indices.tolist()
        assert names_in(merged.label_names()) == names_in(one.label_names())


def test_names_that_are_wrong_are_refused() -> None:
    reader = _core.LibsvmReader()
    for name in (b"x", b"", b"-1", b"2147483648"):
        with pytest.raises(ValueError, match="is no index"):
            reader.add_features(np.array([0, len(name)]), name)
    for offsets in ([], [-1, 1], [0, 3], [1, 0]):
        with pytest.raises(ValueError, match="within their bytes"):
            reader.add_labels(np.array(offsets, np.int64), b"ab")


@pytest.mark.parametrize("kind", list(TEXTS))
@given(data=st.data())
def test_texts_are_gathered(kind: Any, data: st.DataObject) -> None:
    chunk, found = data.draw(files(kind))
    read = kind().read(chunk)
    assert names_in(_core.gather(chunk, read.starts, read.ends)) == [text for _, text in found]


def test_texts_outside_their_chunk_are_refused() -> None:
    for starts, ends in [([0], [4]), ([-1], [1]), ([2], [1]), ([0, 1], [1])]:
        with pytest.raises(ValueError, match=r"not within the chunk|more starts than ends"):
            _core.gather(b"abc", np.array(starts), np.array(ends))


def test_names_are_bytes_and_shown_as_text() -> None:
    reader = _core.VWReader()
    reader.read(b"\xd0\xb6\xff |a b\xfe\0\n")
    assert reader.label_name(0) == "ж\\xff" and reader.feature_name(0) == "a^b\\xfe\0"
    assert names_in(reader.feature_names()) == [b"a^b\xfe\0"]
    with pytest.raises(IndexError, match="no such name"):
        reader.feature_name(1)


# ---- what is wrong, and where


@pytest.mark.parametrize(
    ("kind", "line", "problem", "offset"),
    [
        (_core.LibsvmReader, b"1:2 3:4", "there is no label before the feature '1:2'", 0),
        (_core.LibsvmReader, b"1 2:3 x", "'x' is not index:value", 6),
        (_core.LibsvmReader, b"1 2:3 x:1", "the index 'x' is not a whole number from 0 to 2147483647", 6),
        (_core.LibsvmReader, b"1 2147483648:1", "the index '2147483648' is not a whole number from 0 to 2147483647", 2),
        (_core.LibsvmReader, b"1 -2:1", "the index '-2' is not a whole number from 0 to 2147483647", 2),
        (_core.LibsvmReader, b"1 2:one", "the value 'one' is not a number", 4),
        (_core.LibsvmReader, b"1 2:", "the value '' is not a number", 4),
        (_core.LibsvmReader, b"1 2:nan", "the value 'nan' is not finite", 4),
        (_core.LibsvmReader, b"1 2:1e999", "the value '1e999' is too large or too small", 4),
        (_core.LibsvmReader, b"1 2:1e39", "the value '1e39' is too large", 4),
        (_core.LibsvmReader, b"1 2:3e38 2:3e38", "the values of '1 2:3e38 2:3e38' add up to too large a number", 0),
        (_core.VWReader, b"1 a b", "there is no bar before the features in '1 a b'", 0),
        (_core.VWReader, b"'tag 1 | a", "the tag '\\'tag' is not the last word before the bar", 0),
        (_core.VWReader, b"1:0.5 | a", "the label '1:0.5' has costs, which are not supported", 0),
        (_core.VWReader, b"1 x | a", "the importance 'x' is not a number", 2),
        (_core.VWReader, b"1 -2 | a", "the importance '-2' is negative", 2),
        (_core.VWReader, b"1 2 inf | a", "the base 'inf' is not finite", 4),
        (_core.VWReader, b"1 2 3 4 | a", "'4' before the bar is no label, importance, base or tag", 6),
        (_core.VWReader, b"1 |:2 a", "the scale '2' has no namespace before it", 4),
        (_core.VWReader, b"1 |a:b c", "the scale 'b' is not a number", 5),
        (_core.VWReader, b"1 | :2", "the value '2' has no feature before it", 5),
        (_core.VWReader, b"1 | a:b", "the value 'b' is not a number", 6),
        (_core.VWReader, b"1 |a:1e30 b:1e30", "the value of 'b' is too large", 10),
        (_core.FastTextReader, b"__label__ a", "there is nothing after '__label__'", 0),
        (_core.FastTextReader, b"a __label__b", "the label '__label__b' is not at the start of its line", 2),
        (
            _core.FastTextReader,
            b"__label__a __label__b c",
            "the line has a second label, '__label__b'",
            11,
        ),
        (_core.TabReader, b"spam free money", "there is no tab between label and text in 'spam free money'", 0),
    ],
)
def test_a_bad_line_gets_a_sentence(kind: Any, line: bytes, problem: str, offset: int) -> None:
    good = {_core.FastTextReader: b"a\n", _core.TabReader: b"a\tb\n"}.get(kind, b"\n")
    with pytest.raises(_core.BadLine) as caught:
        kind().read(good + good + line + b"\r\n" + good)
    wrong = caught.value
    assert (wrong.line, wrong.offset, wrong.problem) == (3, 2 * len(good) + offset, problem)
    assert str(wrong) == f"line 3: {problem}" and isinstance(wrong, ValueError)
    again = pickle.loads(pickle.dumps(wrong))
    assert (str(again), again.line, again.offset, again.problem) == (str(wrong), 3, wrong.offset, problem)
    read = kind().read(good + (line + b"\n") * 9, skip_bad=True)
    assert (read.lines, read.bad) == (10, 9)
    assert read.first_bad == [(number, problem) for number in range(2, 7)]


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        ("жš,日本́", "жš,日本́"),
        ("\t\\'\"", "\\t\\\\\\'\""),
        ("\x1b[31m\x7f\0", "\\x1b[31m\\x7f\\x00"),
        ("\u202e\u2028\ufffd", "\\xe2\\x80\\xae\\xe2\\x80\\xa8\\xef\\xbf\\xbd"),
        (b"\xff\xd0 \xd0", "\\xff\\xd0 \\xd0"),
        ("x" * 78, "x" * 78),
        ("x" * 79, "x" * 77 + "…"),
        ("ж" * 1_000_000, "ж" * 77 + "…"),
        ("x" * 75 + "\0", "x" * 75 + "…"),
        ("x" * 74 + "\0", "x" * 74 + "\\x00"),
        (" ", " "),
    ],
)
def test_what_is_wrong_is_quoted_so_that_it_can_be_read(piece: str | bytes, shown: str) -> None:
    line = piece.encode() if isinstance(piece, str) else piece
    kind, before = _core.TabReader, "there is no tab between label and text in "
    if b"\t" in line:
        kind, before = _core.VWReader, "there is no bar before the features in "
    with pytest.raises(_core.BadLine) as caught:
        kind().read(line + b"\n")
    assert caught.value.problem == f"{before}'{shown}'"
    assert len(shown) <= 78


# ---- large, and from several threads


@pytest.mark.parametrize("kind", ROWS)
def test_a_line_of_a_million_features(kind: Any) -> None:
    many = 1_000_000
    features = b" ".join(b"%d:%d" % (i, i % 7) for i in range(many))
    reader = kind()
    read = reader.read(b"a %s%s\n" % (b"| " if kind is _core.VWReader else b"", features))
    assert read.indptr.tolist() == [0, many] and reader.features == many
    assert (read.indices == np.arange(many)).all() and (read.values == np.arange(many) % 7).all()
    assert reader.feature_name(many - 1) == str(many - 1)


def test_chunks_of_any_kind_of_bytes_are_read() -> None:
    for chunk in (b"a\tb", bytearray(b"a\tb"), memoryview(b"xa\tb")[1:], np.frombuffer(b"a\tb", np.uint8)):
        assert _core.TabReader().read(chunk).ends.tolist() == [3]
    for wrong in ("a\tb", np.zeros(3), np.zeros((2, 2), np.uint8), np.zeros(6, np.uint8)[::2], None):
        with pytest.raises(TypeError):
            _core.TabReader().read(wrong)


def test_a_reader_may_be_shared_by_threads() -> None:
    reader = _core.VWReader()
    results: list[tuple[bytes, Any]] = []

    def work(start: int) -> None:
        for i in range(start, start + 40):
            chunk = b"".join(b"l%d |n f%d:%d g%d\n" % (k % 5, k, k, k // 2) for k in range(i, i + 200))
            results.append((chunk, reader.read(chunk)))
            assert reader.feature_name(0).startswith("n^")

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 20, 40, 60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 160
    for chunk, read in results:
        assert found_in(reader, chunk, read) == rounded(reference.read_lines(chunk, reference.read_vw)[0])
