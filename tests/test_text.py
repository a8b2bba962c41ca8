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
from parts import ODD_WORDS, tokens_of

pytestmark = pytest.mark.skipif(
    unicodedata.unidata_version != _core.UNICODE_VERSION, reason="Python knows another version of Unicode"
)

Options = dict[str, Any]


def how_of(drawn: Options) -> Options:
    more = drawn.pop("more")
    runs_of_all_words = drawn["characters"] and not drawn["negation"] and drawn["choice"] == "all"
    within_words = runs_of_all_words and drawn["within_words"]
    return {**drawn, "within_words": within_words, "longest": drawn["shortest"] + more}


options = st.fixed_dictionaries(
    {
        "fold": st.booleans(),
        "signs": st.booleans(),
        "negation": st.booleans(),
        "choice": st.sampled_from(["all", "all", "lower", "negated"]),
        "characters": st.booleans(),
        "within_words": st.booleans(),
        "unspaced": st.booleans(),
        "emoji": st.booleans(),
        "shortest": st.integers(1, 3),
        "more": st.integers(0, 3),
    }
).map(how_of)
PLAIN = {
    "fold": True,
    "signs": False,
    "negation": False,
    "choice": "all",
    "characters": False,
    **dict.fromkeys(("within_words", "unspaced", "emoji"), False),
}

# Mostly few words, so that they repeat; sometimes anything.
texts = st.one_of(st.lists(st.sampled_from(ODD_WORDS)).map(" ".join), st.text())
broken = st.one_of(
    texts.map(str.encode), st.binary(), st.lists(st.one_of(texts.map(str.encode), st.binary())).map(b"".join)
)


def settings_of(how: Options) -> _core.NgramSettings:
    return _core.NgramSettings(**{**how, "choice": _core.TokenChoice[how["choice"]]})


def arrow(documents: list[bytes], dtype: Any = np.int32) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, documents)]).astype(dtype)
    return offsets, np.frombuffer(b"".join(documents), np.uint8)


def as_dicts(vocabulary: Any, rows: Any) -> list[dict[str, float]]:
    indptr, indices, values, lengths = rows
    assert len(lengths) == len(indptr) - 1
    found = []
    for begin, end in pairwise(indptr.tolist()):
        names = [vocabulary.name(int(number)) for number in indices[begin:end]]
        assert len({*names}) == len(names)  # each feature once
        found.append(dict(zip(names, values[begin:end].tolist(), strict=True)))
    return found


def expected(document: bytes, how: Options) -> Counter[str]:
    text, lengths = document.decode("utf-8", errors="replace"), (how["shortest"], how["longest"])
    if how["within_words"]:
        cut = {name: how[name] for name in ("fold", "unspaced", "emoji")}
        return Counter(reference.parts(text, *lengths, **cut))
    return Counter((reference.runs if how["characters"] else reference.ngrams)(tokens_of(text, how), *lengths))


@given(st.lists(broken, max_size=5), options, st.sampled_from([np.int32, np.int64]))
@example([b"a b a b", b"", b"b a", b"a b a b"], {**PLAIN, "shortest": 1, "longest": 3}, np.int32)
@example(
    [b"\xed\xa0\x80x \xc0\x80y \xf4\x90\x80\x80z \xe2\x82A \xf0\x9f\x98"],
    {**PLAIN, "signs": True, "shortest": 1, "longest": 1},
    np.int32,
)
def test_every_text_is_counted_as_by_its_twin(documents: list[bytes], how: Options, dtype: Any) -> None:
    vocabulary = _core.NgramVocabulary(settings_of(how))
    rows = vocabulary.absorb(vocabulary.collect(*arrow(documents, dtype)))
    assert as_dicts(vocabulary, rows) == [expected(document, how) for document in documents]
    if not how["characters"]:
        assert rows[3].tolist() == [len(tokens_of(document.decode(errors="replace"), how)) for document in documents]
        for document in documents:
            text = document.decode("utf-8", errors="replace")
            assert _core.tokens(settings_of(how), text) == tokens_of(text, how)


@given(
    st.lists(broken, min_size=1, max_size=5), st.lists(broken, max_size=3), options, st.randoms(use_true_random=False)
)
def test_what_is_kept_is_read_and_all_else_passed_over(
    documents: list[bytes], others: list[bytes], how: Options, random: Any
) -> None:
    vocabulary = _core.NgramVocabulary(settings_of(how))
    _, indices, _, _ = vocabulary.absorb(vocabulary.collect(*arrow(documents)))
    met = sorted({*indices.tolist()})
    chosen = random.sample(met, random.randint(0, len(met)))
    names = [vocabulary.name(number) for number in chosen]
    vocabulary.keep(np.array(chosen, np.uint32))
    assert vocabulary.features == len(chosen) <= vocabulary.known
    assert [vocabulary.name(i) for i in range(len(chosen))] == names
    whole = [expected(document, how) for document in [*documents, *others]]
    kept = [{name: counts[name] for name in names if name in counts} for counts in whole]
    assert as_dicts(vocabulary, vocabulary.read(*arrow([*documents, *others]))) == kept
    with pytest.raises(RuntimeError, match="already"):
        vocabulary.keep(np.array([], np.uint32))
    # The same from the names alone.
    again = _core.NgramVocabulary(settings_of(how))
    again.keep(np.array([again.add_name(name) for name in names], np.uint32))
    assert as_dicts(again, again.read(*arrow([*documents, *others]))) == kept


@given(st.lists(broken, max_size=5), options, st.sampled_from([_core.CountedAs.binary, _core.CountedAs.log]))
def test_rows_of_presence_are_rows_without_their_counts(documents: list[bytes], how: Options, value: Any) -> None:
    for make in (lambda: _core.NgramVocabulary(settings_of(how)), lambda: _core.HashedVocabulary(settings_of(how), 6)):
        one, other = make(), make()
        indptr, indices, values, lengths = one.absorb(one.collect(*arrow(documents)))
        present = other.absorb(other.collect(*arrow(documents)), presence=True)
        assert values is not None and present[2] is None
        assert [part.tolist() for part in (indptr, indices, lengths)] == [present[i].tolist() for i in (0, 1, 3)]
        assert one.counts().tolist() == other.counts().tolist()
        width = int(indices.max(initial=0)) + 1 if len(indices) else 0
        labels = np.arange(len(documents), dtype=np.int32) % 4 - 1
        everything = np.arange(width, dtype=np.uint32)
        for counted in (values, None):
            classes = _core.ClassCounts()
            classes.add(indptr, indices, counted, width, labels, True)
            table = classes.table(everything, one.counts()[:width])
            assert table.shape == (1 + int(labels.max(initial=-1)), width)
            for label, row in enumerate(table.tolist()):
                starts = [i for i, other in enumerate(labels.tolist()) if other == label]
                inside = Counter(n for i in starts for n in indices[indptr[i] : indptr[i + 1]].tolist())
                assert row == [inside[feature] for feature in range(width)]
        ones = np.ones(len(indices), np.float32)
        refined = [_core.refine_rows(indptr, indices, counted, width, value=value) for counted in (ones, None)]
        for one_array, other_array in zip(*refined, strict=True):
            assert one_array.tolist() == other_array.tolist()


def test_rows_without_values_are_checked_too() -> None:
    starts, features = np.array([0, 1]), np.array([3], np.uint32)
    with pytest.raises(IndexError, match="beyond the width"):
        _core.refine_rows(starts, features, None, 3, value=_core.CountedAs.binary)
    with pytest.raises(ValueError, match="ends after its values"):
        _core.ClassCounts().add(np.array([0, 2]), features, None, 4, np.zeros(1, np.int32), True)
    counted = _core.ClassCounts()
    counted.add(starts, features, None, 4, np.ones(1, np.int32), True)
    for rows_with in (None, np.array([], np.uint32), np.array([0], np.uint32)):
        with pytest.raises(ValueError, match="rows"):
            counted.table(features, rows_with)
    with pytest.raises(ValueError, match="cannot both be counted"):
        counted.add(starts, features, np.ones(1, np.float32), 4, np.ones(1, np.int32), False)
    with pytest.raises(ValueError, match="no values to add"):
        _core.ClassCounts().add(starts, features, None, 4, np.zeros(1, np.int32), False)


@given(st.lists(broken, max_size=8), options, st.integers(0, 8))
def test_batches_cut_anywhere_give_the_same_numbers(documents: list[bytes], how: Options, cut: int) -> None:
    found = []
    for batches in ([documents], [documents[:cut], documents[cut:]], [[document] for document in documents]):
        vocabulary = _core.NgramVocabulary(settings_of(how))
        rows = [vocabulary.absorb(vocabulary.collect(*arrow(batch))) for batch in batches]
        found.append(([row.tolist() for _, row, _, _ in rows], vocabulary.counts().tolist(), vocabulary.known))
    flat = [[number for row in rows for number in row] for rows, _, _ in found]
    assert flat[0] == flat[1] == flat[2]
    assert found[0][1:] == found[1][1:] == found[2][1:]


@given(st.lists(broken, max_size=8), options, st.integers(1, 3), st.integers(1, 10))
def test_the_most_frequent_come_first(documents: list[bytes], how: Options, min_count: int, most: int) -> None:
    vocabulary = _core.NgramVocabulary(settings_of(how))
    vocabulary.absorb(vocabulary.collect(*arrow(documents)))
    counts = Counter(name for document in documents for name in expected(document, how))
    chosen = vocabulary.frequent(min_count, most).tolist()
    names = [vocabulary.name(number) for number in chosen]
    assert [counts[name] for name in names] == sorted((n for n in counts.values() if n >= min_count), reverse=True)[
        :most
    ]
    for one, other in pairwise(chosen):
        assert counts[vocabulary.name(one)] > counts[vocabulary.name(other)] or one < other  # of equals the first met


@given(st.lists(broken, max_size=8), options)
def test_the_length_of_an_n_gram_is_its_words(documents: list[bytes], how: Options) -> None:
    for vocabulary in (_core.NgramVocabulary(settings_of(how)), _core.HashedVocabulary(settings_of(how), 8)):
        vocabulary.absorb(vocabulary.collect(*arrow(documents)))
        lengths = vocabulary.lengths().tolist()
        assert lengths == [
            1 if how["characters"] else vocabulary.name(number).count(" ") + 1 for number in range(len(lengths))
        ]


def test_counts_beyond_sixteen_bits_are_sorted_too() -> None:
    vocabulary = _core.NgramVocabulary(settings_of({**PLAIN, "shortest": 1, "longest": 1}))
    vocabulary.absorb(vocabulary.collect(*arrow([b"rare often"] * 3 + [b"often"] * 70_000 + [b"some"] * 65_536)))
    assert [vocabulary.name(number) for number in vocabulary.frequent(1, 9)] == ["often", "some", "rare"]


@given(st.lists(broken, max_size=6), st.lists(broken, max_size=3), options, st.sampled_from([1, 3, 20]))
def test_places_of_a_hashed_table_add_up(documents: list[bytes], others: list[bytes], how: Options, bits: int) -> None:
    vocabulary = _core.HashedVocabulary(settings_of(how), bits)
    assert vocabulary.features == 2**bits
    indptr, indices, values, _ = vocabulary.absorb(vocabulary.collect(*arrow(documents)))
    for row, document in enumerate(documents):
        here = indices[indptr[row] : indptr[row + 1]].tolist()
        assert len({*here}) == len(here)
        assert values[indptr[row] : indptr[row + 1]].sum() == sum(expected(document, how).values())
    names = {name for document in documents for name in expected(document, how)}
    assert vocabulary.used == len({*indices.tolist()})
    assert vocabulary.met == sum(sum(expected(document, how).values()) for document in documents)
    if bits == 20 and vocabulary.used == len(names):  # no two came to one place
        assert vocabulary.shared == vocabulary.strangers == 0
        assert as_dicts(vocabulary, vocabulary.read(*arrow([*documents, *others]))) == [
            {name: n for name, n in expected(document, how).items() if name in names}
            for document in [*documents, *others]
        ]
    if len(names) > 2**bits:
        assert 0 < vocabulary.shared <= vocabulary.used and vocabulary.strangers > 0
    again = vocabulary.read(*arrow(documents))
    assert again[0].tolist() == indptr.tolist()
    for begin, end in pairwise(indptr.tolist()):
        assert sorted(zip(indices[begin:end], values[begin:end], strict=True)) == sorted(
            zip(again[1][begin:end], again[2][begin:end], strict=True)
        )


# Long texts in which some words are not ASCII, so that stretches of both kinds alternate.
LONG_WORDS = ["plain", "words", "of", "ASCII", "an-extraordinarily-long-word-without-any-blank", *ODD_WORDS]
long_texts = st.lists(st.tuples(st.integers(0, 40), st.sampled_from(LONG_WORDS)), max_size=12).map(
    lambda pairs: " ".join(f"{'ascii, and ' * count}{word}" for count, word in pairs)
)


@given(long_texts, st.booleans(), st.booleans())
def test_what_is_beyond_a_space_does_not_matter(text: str, fold: bool, signs: bool) -> None:
    how = settings_of({**PLAIN, "fold": fold, "signs": signs, "shortest": 1, "longest": 1})
    whole = _core.tokens(how, text)
    assert whole == [token for piece in text.split(" ") for token in _core.tokens(how, piece)]


@pytest.mark.parametrize("stride", [59, pytest.param(1, marks=pytest.mark.slow)])
def test_all_characters_are_what_python_says(stride: int) -> None:
    # Behind the ideographs are only tags, and much that is not assigned or private.
    points = [p for p in range(0x110000) if p < 0x33480 or 0xE0000 <= p < 0xE0200 or p % stride == 0]
    for fold in (False, True):
        how = {**PLAIN, "fold": fold, "signs": True, "shortest": 1, "longest": 1, "unspaced": fold, "emoji": fold}
        everything = [chr(point) for point in points if not 0xD800 <= point < 0xE000]
        step = 4096
        documents = [" ".join(everything[i : i + step]).encode() for i in range(0, len(everything), step)]
        for choice in ("all", "lower"):
            how["choice"] = choice
            vocabulary = _core.NgramVocabulary(settings_of(how))
            rows = vocabulary.absorb(vocabulary.collect(*arrow(documents)))
            assert as_dicts(vocabulary, rows) == [expected(document, how) for document in documents]


def test_bad_arrays_are_refused() -> None:
    vocabulary, chosen_already = (
        _core.NgramVocabulary(settings_of({**PLAIN, "shortest": 1, "longest": 2})) for _ in range(2)
    )
    chosen_already.keep(np.array([], np.uint32))
    with pytest.raises(RuntimeError, match="not chosen yet"):
        vocabulary.read(*arrow([b"a"]))
    for offsets in ([], [-1, 0], [0, 5], [0, 3, 2]):
        with pytest.raises(ValueError, match="texts"):
            vocabulary.collect(np.array(offsets, np.int32), np.zeros(4, np.uint8))
        with pytest.raises(ValueError, match="texts"):
            chosen_already.read(np.array(offsets, np.int32), np.zeros(4, np.uint8))
    for lengths in ((0, 1), (2, 1)):
        for characters in (False, True):
            how = {**PLAIN, "shortest": lengths[0], "longest": lengths[1], "characters": characters}
            with pytest.raises(ValueError, match="lengths"):
                _core.NgramVocabulary(settings_of(how)).collect(*arrow([b"a"]))
    for chosen in ([0], [7]):
        with pytest.raises(ValueError, match="choice"):
            vocabulary.keep(np.array(chosen, np.uint32))
    with pytest.raises(IndexError):
        vocabulary.name(3)
    for bits in (0, 31):
        with pytest.raises(ValueError, match="bits"):
            _core.HashedVocabulary(settings_of({**PLAIN, "shortest": 1, "longest": 1}), bits)


def test_a_batch_is_absorbed_once_and_by_its_own_vocabulary() -> None:
    one, other = (_core.NgramVocabulary(settings_of({**PLAIN, "shortest": 1, "longest": 1})) for _ in range(2))
    batch = one.collect(*arrow([b"a"]))
    with pytest.raises(ValueError, match="another vocabulary"):
        other.absorb(batch)
    one.absorb(batch)
    with pytest.raises(ValueError, match="already"):
        one.absorb(batch)


def test_words_that_nearly_have_one_hash_have_places_of_their_own() -> None:
    vocabulary = _core.HashedVocabulary(settings_of({**PLAIN, "shortest": 1, "longest": 1}), 24)
    words = ["aaaq", "aaaaq", "zzzj", "zzzzj", *("a" * n for n in range(1, 20)), "ab", "ba", "aab", "baa"]
    vocabulary.absorb(vocabulary.collect(*arrow([" ".join(words).encode()])))
    assert vocabulary.used == len(words) and vocabulary.shared == 0


def test_a_long_text_needs_no_room_for_what_could_be() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    vocabulary = _core.NgramVocabulary(settings_of({**PLAIN, "shortest": 1, "longest": 3}))
    vocabulary.absorb(vocabulary.collect(*arrow([b"a " * 2_000_000])))
    assert vocabulary.known == 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB
