"""Text to counted n-grams: the core against its plain twin, on text of all scripts and on bytes that are no text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from markone import _core, reference

pytestmark = pytest.mark.skipif(
    unicodedata.unidata_version != _core.UNICODE_VERSION, reason="Python knows another version of Unicode"
)

Options = dict[str, Any]
options = st.fixed_dictionaries(
    {"fold": st.booleans(), "signs": st.booleans(), "shortest": st.integers(1, 3), "more": st.integers(0, 3)}
).map(
    lambda o: {"fold": o["fold"], "signs": o["signs"], "shortest": o["shortest"], "longest": o["shortest"] + o["more"]}
)

# Mostly few words, so that they repeat; sometimes anything.
texts = st.one_of(
    st.lists(st.sampled_from(["a", "B", "not", "Good", "ß", "é!", "ﬁn", "\u0130x", "''", "日本", "x-y", "\0"])).map(
        " ".join
    ),
    st.text(),
)
broken = st.one_of(
    texts.map(str.encode), st.binary(), st.lists(st.one_of(texts.map(str.encode), st.binary())).map(b"".join)
)


def arrow(documents: list[bytes], dtype: Any = np.int32) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, documents)]).astype(dtype)
    return offsets, np.frombuffer(b"".join(documents), np.uint8)


def counted(counter: _core.NgramCounter, documents: list[bytes], dtype: Any = np.int32) -> list[dict[str, float]]:
    indptr, indices, values = counter.count(*arrow(documents, dtype))
    rows = []
    for begin, end in pairwise(indptr.tolist()):
        names = [counter.name(int(number)) for number in indices[begin:end]]
        assert len({*names}) == len(names)  # each feature once
        rows.append(dict(zip(names, values[begin:end].tolist(), strict=True)))
    return rows


def expected(document: bytes, how: Options) -> Counter[str]:
    text = document.decode("utf-8", errors="replace")
    tokens = reference.tokenize(text, fold=how["fold"], signs=how["signs"])
    return Counter(reference.ngrams(tokens, how["shortest"], how["longest"]))


@given(st.lists(broken, max_size=5), options, st.sampled_from([np.int32, np.int64]))
@example([b"a b a b", b"", b"b a", b"a b a b"], {"fold": True, "signs": False, "shortest": 1, "longest": 3}, np.int32)
@example(
    [b"\xed\xa0\x80x \xc0\x80y \xf4\x90\x80\x80z \xe2\x82A \xf0\x9f\x98"],
    {"fold": True, "signs": True, "shortest": 1, "longest": 1},
    np.int32,
)
def test_every_text_is_counted_as_by_its_twin(documents: list[bytes], how: Options, dtype: Any) -> None:
    counter = _core.NgramCounter(**how)
    assert counted(counter, documents, dtype) == [expected(document, how) for document in documents]


@given(
    st.lists(broken, min_size=1, max_size=5), st.lists(broken, max_size=3), options, st.randoms(use_true_random=False)
)
def test_what_is_kept_is_read_and_all_else_passed_over(
    documents: list[bytes], others: list[bytes], how: Options, random: Any
) -> None:
    counter = _core.NgramCounter(**how)
    _, indices, _ = counter.count(*arrow(documents))
    met = sorted({*indices.tolist()})
    chosen = random.sample(met, random.randint(0, len(met)))
    names = [counter.name(number) for number in chosen]
    counter.keep(np.array(chosen, np.uint32))
    assert counter.features == len(chosen) <= counter.known
    assert [counter.name(i) for i in range(len(chosen))] == names
    for document in [*documents, *others]:
        whole = expected(document, how)
        assert counted(counter, [document]) == [{name: whole[name] for name in names if name in whole}]
    with pytest.raises(RuntimeError, match="already"):
        counter.keep(np.array([], np.uint32))


def test_all_characters_are_what_python_says() -> None:
    for fold in (False, True):
        counter = _core.NgramCounter(fold=fold, signs=True, shortest=1, longest=1)
        everything = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
        step = 4096
        documents = [" ".join(everything[i : i + step]) for i in range(0, len(everything), step)]
        how = {"fold": fold, "signs": True, "shortest": 1, "longest": 1}
        assert counted(counter, [d.encode() for d in documents]) == [expected(d.encode(), how) for d in documents]


def test_bad_arrays_are_refused() -> None:
    counter = _core.NgramCounter(fold=True, signs=False, shortest=1, longest=2)
    for offsets in ([], [-1, 0], [0, 5], [0, 3, 2]):
        with pytest.raises(ValueError, match="texts"):
            counter.count(np.array(offsets, np.int32), np.zeros(4, np.uint8))
    for lengths in ((0, 1), (2, 1)):
        with pytest.raises(ValueError, match="lengths"):
            _core.NgramCounter(fold=True, signs=False, shortest=lengths[0], longest=lengths[1])
    for chosen in ([0], [7]):
        with pytest.raises(ValueError, match="choice"):
            counter.keep(np.array(chosen, np.uint32))
    with pytest.raises(IndexError):
        counter.name(3)
