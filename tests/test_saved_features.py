"""Feature maps that are saved, loaded, extended and pruned; and what becomes of those that are damaged."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import markone
from markone import DataError, Features, SettingsError, _core
from markone.data.blocks import Sparse
from markone.data.source import Batch, Column, GivenRows
from markone.data.strings import Strings
from markone.errors import MarkoneError
from markone.features.examples import ListedNames
from markone.features.map import FeatureMap
from markone.features.part import Matrix, Part
from markone.storage.saved import Saved
from parts import PLAIN_TEXT

FUNCTIONS = {
    "first": lambda example: {str(example)[:9]: 1.0, "odd": len(str(example)) % 2},
    "size": lambda example: len(str(example)),
}
ALL = (
    Column("age", "numeric"),
    Column("height", "numeric"),
    Column("member", "boolean"),
    Column("make", "categorical"),
    Column("town", "categorical"),
    Column("tags", "set"),
    Column("born", "datetime"),
    Column("note", "text"),
    Column("title", "text"),
    Column("picture", "image"),
    Column("given", "rows"),
)
WORDS = ["a", "b", "bad", "Good", "not", "no", "!", "É", "не", "日本", "naïvely", "extraordinarily"]

# ---- maps and examples


def settings(**choices: list[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in choices.items()})


TEXTS = settings(
    words=[[1, 1], [1, 2], [1, 3], [2, 3]],
    characters=[[1, 2], [3, 3], []],
    case=["keep"],
    signs=[True],
    negation=[True],
    templates=[["lower"]],
    lexicons=[{"nice": ["good", "naïvely", "not bad"], "bad": ["bad", "not bad"]}],
    document=[["no", "exclamation", "log-words"]],
    value=["binary", "log"],
    weight=["idf", "odds"],
) | settings(words=[[1, 2], [1, 3]], weight=["idf", "odds"], hash_bits=[2, 4, 10])
PRUNED_TEXTS = settings(words=[[1, 2]], min_count=[2], max_features=[3], weight=["idf"])


@st.composite
def specs(draw: st.DrawFn) -> tuple[Features, tuple[Column, ...]]:
    chosen = draw(st.lists(st.sampled_from(ALL), min_size=1, max_size=4, unique=True))
    columns = tuple(column for column in ALL if column in chosen)
    factors = [column.name for column in columns if column.kind in ("numeric", "boolean", "categorical")]
    spec: dict[str, Any] = {
        "text": draw(TEXTS | PRUNED_TEXTS),
        "numeric": draw(settings(scale=["none", "max-abs"], missing=["zero"])),
        "categorical": draw(settings(min_count=[2], max_features=[1])),
        "image": draw(settings(pixels=["on-off"], patches=[2, 3])),
        "rows": draw(settings(scale=["standard", "max-abs"])),
        "unit": draw(st.booleans()),
    }
    if any(column.kind in ("numeric", "boolean") for column in columns):
        spec["degree"] = draw(st.integers(1, 3))
    if len(factors) > 1 and spec.get("degree", 1) == 1 and draw(st.booleans()):
        spec["conjunctions"] = ["*".join(factors[:2]), *(["*".join(factors)] if len(factors) > 2 else [])]
    if draw(st.booleans()):
        spec["functions"] = FUNCTIONS
    if Column("title", "text") in columns and "hash_bits" not in spec["text"]:
        spec["columns"] = {"title": {"words": [1, 1], "lexicons": {"short": ["a", "b"]}, "value": "binary"}}
    return Features(**spec), columns


def column_values(draw: st.DrawFn, column: Column, size: int, dense: bool) -> Any:
    def several(of: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(of, min_size=size, max_size=size))

    if column.kind == "numeric":
        return pa.array(several(st.none() | st.sampled_from([0.0, 1.0, -2.5, 7.25])), pa.float64())
    if column.kind == "boolean":
        return pa.array(several(st.none() | st.booleans()), pa.bool_())
    if column.kind == "categorical":
        return pa.array(several(st.none() | st.sampled_from(["", "asia", "é", "x=y"])), pa.string())
    if column.kind == "set":
        some = st.lists(st.sampled_from(["", "asia", "é", "x=y"]), max_size=4)
        return pa.array(several(st.none() | some), pa.list_(pa.string()))
    if column.kind == "datetime":
        moments = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))
        return pa.array(several(st.none() | moments), pa.timestamp("us"))
    if column.kind == "text":
        return pa.array([" ".join(words) for words in several(st.lists(st.sampled_from(WORDS), max_size=6))])
    if column.kind == "image":
        return np.array(several(st.lists(st.sampled_from([0, 200, 255]), min_size=12, max_size=12)), np.uint8).reshape(
            size, 3, 4
        )
    names = ["p", "q", "r", "é"]
    rows = np.array(several(st.lists(st.sampled_from([0, 1, -2, 0.5]), min_size=4, max_size=4)), np.float64)
    if dense:
        return GivenRows(rows, ListedNames(names))
    indptr = np.concatenate([[0], np.cumsum((rows != 0).sum(axis=1))])
    values = rows[rows != 0].astype(np.float32)
    return GivenRows(Sparse(indptr, np.nonzero(rows)[1].astype(np.uint32), values, 4), ListedNames(names))


def draw_batch(draw: st.DrawFn, columns: tuple[Column, ...], dense: bool) -> Batch:
    size = draw(st.integers(1, 5))
    labels = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)), np.int32)
    return Batch({column.name: column_values(draw, column, size, dense) for column in columns}, size, labels)


def plain(**more: Any) -> Features:
    """Words as they are counted, without weights."""
    text = {**PLAIN_TEXT, **more.pop("text", {})}
    if "hash_bits" in text:
        del text["min_count"]
    return Features(**{"unit": False, "text": text, **more})


def fitted(spec: Features, columns: tuple[Column, ...], *batches: Batch) -> FeatureMap:
    feature_map = FeatureMap(spec, columns)
    for batch in batches:
        feature_map.absorb(feature_map.collect(batch), batch.labels)
    try:
        feature_map.finish()
    except DataError as error:
        assume("no features at all" not in str(error))
        raise
    feature_map.settle()
    return feature_map


@st.composite
def maps(draw: st.DrawFn) -> tuple[FeatureMap, FeatureMap, Batch, Batch]:
    """Two maps of one spec, and the examples that each was fitted on."""
    spec, columns = draw(specs())
    dense = draw(st.booleans())
    first, second = (draw_batch(draw, columns, dense) for _ in range(2))
    return fitted(spec, columns, first), fitted(spec, columns, second), first, second


def from_file(saved: Saved) -> Saved:
    """As it comes back from a file."""
    arrays = {name: array.copy() for name, array in saved.arrays.items()}
    for array in arrays.values():
        array.flags.writeable = False
    return Saved(json.loads(json.dumps(saved.facts)), arrays)


def load(saved: Saved, width: int | None = None) -> FeatureMap:
    width = sum(saved.facts["widths"]) if width is None else width
    return FeatureMap.load(saved, width, {name: FUNCTIONS[name] for name in saved.facts["spec"].get("functions", ())})


def dense(matrix: Matrix) -> np.ndarray[Any, np.dtype[np.float32]]:
    if not isinstance(matrix, Sparse):
        return matrix
    full = np.zeros(matrix.shape, np.float32)
    full[np.repeat(np.arange(len(matrix)), np.diff(matrix.indptr)), matrix.indices] = matrix.data
    return full


def same(one: Matrix, other: Matrix) -> bool:
    if isinstance(one, Sparse) and isinstance(other, Sparse):
        arrays = [(getattr(one, name), getattr(other, name)) for name in ("indptr", "indices", "data")]
        return one.width == other.width and all(a.tobytes() == b.tobytes() for a, b in arrays)
    return isinstance(one, Sparse) == isinstance(other, Sparse) and dense(one).tobytes() == dense(other).tobytes()


def same_saved(one: Saved, other: Saved) -> bool:
    return (
        one.facts == other.facts
        and one.arrays.keys() == other.arrays.keys()
        and all(
            array.dtype == other.arrays[name].dtype
            and array.shape == other.arrays[name].shape
            and array.tobytes() == other.arrays[name].tobytes()
            for name, array in one.arrays.items()
        )
    )


# ---- saving and loading


@given(maps())
def test_a_loaded_map_is_the_saved_one(case: tuple[FeatureMap, FeatureMap, Batch, Batch]) -> None:
    feature_map, _, first, second = case
    loaded = load(from_file(feature_map.save()))
    assert loaded.names() == feature_map.names() == [feature_map.name(i) for i in range(feature_map.width)]
    assert loaded.starts.tolist() == feature_map.starts.tolist()
    for batch in (first, second):
        assert same(loaded.transform(batch), feature_map.transform(batch))
    assert same_saved(loaded.save(), feature_map.save())


def test_a_map_of_every_part_comes_back() -> None:
    spec = Features(
        text={"lexicons": {"good": ["fine"]}, "characters": [2, 2], "weight": "idf"},
        image={"patches": 2},
        conjunctions=["make*age", "age*height"],
        pairs=True,
        email=True,
        functions=FUNCTIONS,
    )
    values: dict[str, Any] = {"age": [1.0, None], "height": [2.0, 3.5], "member": [True, False], "make": ["a", None]}
    values |= {"tags": [["a"], ["b", "a"]], "born": [datetime(2000, 1, 1), None]}
    values |= {"town": ["b", "c"], "note": ["a fine day", "é"], "title": ["A", "b b"]}
    columns = {name: pa.array(some) for name, some in values.items()}
    columns["picture"] = np.arange(24, dtype=np.uint8).reshape(2, 3, 4) * 10
    columns["given"] = GivenRows(np.eye(2), ListedNames(["p", "q"]))
    feature_map = fitted(spec, ALL, batch := Batch(columns, 2))
    classes = set(Part.__subclasses__())
    while abstract := {one for one in classes if one.__subclasses__()}:
        classes = classes - abstract | {below for one in abstract for below in one.__subclasses__()}
    assert {type(part) for part in feature_map.parts} == {one for one in classes if one is not FeatureMap}
    loaded = load(from_file(feature_map.save()))
    assert same(loaded.transform(batch), feature_map.transform(batch)) and loaded.names() == feature_map.names()


def test_a_map_that_is_not_fitted_is_not_saved() -> None:
    feature_map = FeatureMap(plain(), (Column("note", "text"),))
    fit = fitted(plain(), feature_map.columns, Batch({"note": pa.array(["a b"])}, 1))
    with pytest.raises(DataError, match="not fitted"):
        feature_map.save()
    with pytest.raises(DataError, match="not fitted"):
        fit.extend(feature_map)


def test_functions_must_be_given_again() -> None:
    columns = (Column("note", "text"),)
    saved = fitted(plain(functions=FUNCTIONS), columns, Batch({"note": pa.array(["a b"])}, 1)).save()
    width = sum(saved.facts["widths"])
    with pytest.raises(DataError, match=r"uses the Python function 'size', .*functions=\{'size': \.\.\.\}"):
        FeatureMap.load(saved, width, {"first": FUNCTIONS["first"]})
    with pytest.raises(SettingsError, match="functions has 'sise', .*Did you mean 'size'"):
        FeatureMap.load(saved, width, {**FUNCTIONS, "sise": len})


def test_a_column_keeps_the_words_of_its_lexicon_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("fine\nnice\n", encoding="utf-8")
    columns = (Column("note", "text"),)
    batch = Batch({"note": pa.array(["fine day", "not nice, so nice"])}, 2)
    feature_map = fitted(plain(columns={"note": {"lexicons": {"good": path}}}), columns, batch)
    path.unlink()
    saved = from_file(feature_map.save())
    assert saved.facts["spec"]["columns"] == {"note": {"lexicons": {"good": ["fine", "nice"]}}}
    assert same(load(saved).transform(batch), feature_map.transform(batch))


# ---- extending


@given(maps())
def test_an_extended_map_has_the_features_of_both(case: tuple[FeatureMap, FeatureMap, Batch, Batch]) -> None:
    one, other, first, second = case
    check_extended(one, other, first, second)


def check_extended(one: FeatureMap, other: FeatureMap, first: Batch, second: Batch) -> None:
    before = one.transform(first)
    both = one.copy()
    numbers = both.extend(other)
    assert same(one.transform(first), before) and len(numbers) == one.width
    names, mine, theirs = both.names(), one.names(), other.names()
    hashed = "hash_bits" in one.spec.as_dict().get("text", {})
    moved = [names[number] for number in numbers]
    assert all(new == old or "(place " in old for new, old in zip(moved, mine, strict=True))
    if hashed:
        wanted = {name for name in (*mine, *theirs) if "(place " not in name}
        assert {name for name in names if "(place " not in name} <= wanted
    else:
        assert {*names} == {*mine, *theirs} and len(names) == len({*names})
    if not one.spec.unit:
        values, old = dense(both.transform(first)), dense(before)
        for number, was in zip(numbers, range(len(mine)), strict=True):
            if "is another" not in mine[was]:
                assert values[:, number].tobytes() == old[:, was].tobytes(), mine[was]
        values, new = dense(both.transform(second)), dense(other.transform(second))
        place_of = {name: number for number, name in enumerate(names)}
        for number, name in enumerate(theirs):
            if name not in mine and name in place_of and "*" not in name and "is another" not in name:
                assert values[:, place_of[name]].tobytes() == new[:, number].tobytes(), name
    loaded = load(from_file(both.save()))
    assert same(loaded.transform(second), both.transform(second)) and same_saved(loaded.save(), both.save())


@given(*[st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=4)] * 2)
def test_places_without_a_name_get_those_of_the_others(first: list[str], second: list[str]) -> None:
    columns, spec = (Column("note", "text"),), Features(text={"hash_bits": 4, "weight": "idf"})
    one, other = (fitted(spec, columns, Batch({"note": pa.array(texts)}, len(texts))) for texts in (first, second))
    mine, theirs = one.names(), other.names()
    one.extend(other)
    assert one.names() == [a if "(place" not in a else b for a, b in zip(mine, theirs, strict=True)]


def test_scaling_and_weights_of_words_stay() -> None:
    columns = (Column("age", "numeric"), Column("note", "text"))
    spec = plain(text={"weight": "idf"})
    first = Batch({"age": pa.array([1.0, 3.0]), "note": pa.array(["a b", "a"])}, 2)
    second = Batch({"age": pa.array([100.0, None, 0.0]), "note": pa.array(["a c", "c", "c"])}, 3)
    one, other = fitted(spec, columns, first), fitted(spec, columns, second)
    numbers = one.extend(other)
    assert one.names() == ["age", "age is missing", "note:a", "note:b", "note:c"] and numbers.tolist() == [0, 2, 3]
    assert dense(one.transform(first))[0].tolist() == pytest.approx([-1, 0, 1, 1 + np.log(1.5), 0])
    assert dense(one.transform(second)).tolist() == [
        pytest.approx(row) for row in ([98, 0, 1, 0, 1], [0, 1, 0, 0, 1], [-2, 0, 0, 0, 1])
    ]


def test_a_map_that_cannot_be_extended_stays_as_it_was() -> None:
    columns = (Column("note", "text"), Column("given", "rows"))
    batches = [
        Batch({"note": pa.array([text]), "given": GivenRows(np.ones((1, 2)), ListedNames(names))}, 1)
        for text, names in (("a b", ["p", "q"]), ("c", ["p", "s"]))
    ]
    one, other = (fitted(plain(), columns, batch) for batch in batches)
    before = one.save()
    with pytest.raises(DataError, match="have the column 's', .*train a new model"):
        one.extend(other)
    assert same_saved(one.save(), before)
    with pytest.raises(DataError, match="same spec and columns"):
        one.extend(fitted(plain(unit=True), columns, batches[0]))
    small, large = (np.zeros((1, side, side), np.uint8) for side in (3, 4))
    images = (Column("picture", "image"),)
    with pytest.raises(DataError, match="all have one size"):
        fitted(Features(), images, Batch({"picture": small}, 1)).extend(
            fitted(Features(), images, Batch({"picture": large}, 1))
        )


# ---- pruning


@given(maps(), st.randoms(use_true_random=False))
def test_what_stays_after_pruning_has_the_same_values(
    case: tuple[FeatureMap, FeatureMap, Batch, Batch], random: Any
) -> None:
    one, other, first, second = case
    used = np.array([random.random() < 0.5 for _ in range(one.width)])
    pruned = one.copy()
    before = one.names()
    stays = pruned.prune(used)
    assert one.names() == before
    named = np.array(["(place " not in name for name in before])
    assert (stays >= (used & named)).all() and (not one.spec.unit or stays.all())
    assert pruned.names() == [name for name, stay in zip(before, stays, strict=True) if stay]
    for batch in (first, second):
        assert dense(pruned.transform(batch)).tobytes() == dense(one.transform(batch))[:, stays].tobytes()
    loaded = load(from_file(pruned.save()))
    assert same(loaded.transform(second), pruned.transform(second)) and same_saved(loaded.save(), pruned.save())
    check_extended(pruned, other, first, second)
    again = pruned.prune(np.zeros(pruned.width, np.bool_))
    assert pruned.width == again.sum() and same(
        load(from_file(pruned.save())).transform(first), pruned.transform(first)
    )


def test_all_features_of_several_parts_can_be_pruned() -> None:
    """A model that has learned nothing has rows without features."""
    texts = {"title": ["a b", "c"], "text": ["d e", "f g"]}
    source = markone.read(texts, kinds=dict.fromkeys(texts, "text"))
    features = markone.FeatureMap(markone.Features(text={"weight": "none"}, unit=False), source.columns)
    features.fit(source)
    assert features.width > 0 and not features.prune(np.zeros(features.width, bool)).any()
    assert [features.transform(batch).shape for batch in source.batches()] == [(2, 0)]


def test_the_compact_form_of_a_large_table_is_small() -> None:
    columns, batch = (Column("note", "text"),), Batch({"note": pa.array(["a b c", "b c d"])}, 2)
    feature_map = fitted(plain(text={"hash_bits": 20, "words": [1, 2]}), columns, batch)
    stays = feature_map.prune(
        np.array([not name.startswith("(place") and name != "b c" for name in feature_map.names()])
    )
    assert len(stays) == 2**20 and feature_map.width == 6
    assert {*feature_map.names()} == {"a", "b", "c", "d", "a b", "c d"}
    assert sum(array.nbytes for array in feature_map.save().arrays.values()) < 100
    assert "b c" not in feature_map.named("b c") and feature_map.named("b c") == {"b": 1, "c": 1}


# ---- damage


def some_map(**text: Any) -> FeatureMap:
    columns = (Column("note", "text"),)
    batch = Batch({"note": pa.array(["a b c", "a b d"])}, 2, np.array([0, 1], np.int32))
    return fitted(Features(text={"words": [1, 3], **text}), columns, batch)


def changed(saved: Saved, **arrays: Any) -> Saved:
    return Saved(saved.facts, {**saved.arrays, **{f"part0.{name}": array for name, array in arrays.items()}})


GRAMS = some_map().save().arrays["part0.grams"]
NOBODY = 2**32 - 1


def grams(*pairs: tuple[int, int]) -> np.ndarray[Any, Any]:
    """The n-grams of `some_map`, the first of which are others."""
    there = GRAMS.copy()
    there[: len(pairs)] = pairs
    return there


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"grams": grams((0, 0))}, "too short or too long"),  # its own beginning
        ({"grams": grams((1, 0), (0, 0))}, "too short or too long"),
        ({"grams": grams((NOBODY, 4))}, "a part that is not there"),
        ({"grams": grams((2**31, 0))}, "a part that is not there"),
        ({"grams": grams((NOBODY, 0), (NOBODY, 0))}, "there twice"),
        ({"grams": GRAMS.astype(np.int32)}, "the array 'grams'"),
        ({"grams": GRAMS.reshape(-1)}, "the array 'grams'"),
        ({"words": np.frombuffer(b"aabc", np.uint8)}, "a word is there twice"),
        ({"words": np.frombuffer(b"a bc", np.uint8)}, "a space in a word"),
        ({"words": np.frombuffer(b"a\xffbc", np.uint8)}, "not UTF-8"),
        ({"words": np.frombuffer("abж".encode(), np.uint8)}, "starts within a character"),
        ({"words_offsets": np.array([0, 1, 1, 3, 4], np.int32)}, "a word is empty"),
        ({"words_offsets": np.array([0, 2, 1, 3, 4], np.int32)}, "not within their bytes"),
        ({"words_offsets": np.array([0, 1, 2, 3, 5], np.int64)}, "not within their bytes"),
        ({"words_offsets": np.array([-1, 1, 2, 3, 4], np.int64)}, "not within their bytes"),
        ({"words_offsets": np.zeros(0, np.int64)}, "not within their bytes"),
        ({"words_offsets": np.array([0, 1, 2, 3, 4], ">i8")}, "the array 'words_offsets'"),
        ({"more": np.zeros(1)}, "'more' is unknown"),
    ],
)
def test_damaged_ngrams_are_refused(arrays: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataError, match=f"the saved features are damaged: .*{problem}"):
        load(changed(some_map().save(), **arrays))


def test_damaged_weights_and_hashed_names_are_refused() -> None:
    odds = some_map(weight="odds").save()
    for weights in (np.full(len(odds.arrays["part0.weights"]), np.nan, np.float32), np.ones(3, np.float32)):
        with pytest.raises(DataError, match="weights"):
            load(changed(odds, weights=weights))
    for bits in (3, 20):
        hashed = some_map(hash_bits=bits)
        pruned = hashed.copy()
        pruned.prune(np.ones(hashed.width, np.bool_))
        for saved in (hashed.save(), pruned.save()):
            names = saved.arrays["part0.names"]
            with pytest.raises(DataError, match="shared"):
                load(changed(saved, shared=saved.arrays["part0.shared"] + np.uint8(2)))
            with pytest.raises(DataError, match="which names share"):
                load(changed(saved, shared=np.zeros(1, np.uint8)))
            for other in (names[::-1], np.full_like(names, 32), np.full_like(names, 97)):
                with pytest.raises(DataError):
                    load(changed(saved, names=other))
    facts, names = some_map(hash_bits=2).save().facts, Strings.of(["a", "b", "c", "d", "e"])
    arrays = {"names": names.data, "names_offsets": names.offsets.astype(np.int32), "shared": np.zeros(5, np.uint8)}
    with pytest.raises(DataError, match="two n-grams have the same place"):
        load(changed(Saved(facts), **arrays))


def test_a_small_file_does_not_make_us_allocate_much() -> None:
    saved = copy.deepcopy(some_map(hash_bits=4).save())
    saved.facts["spec"]["text"]["hash_bits"] = 30
    for widths, width in (([16], 16), ([2**30], 16), ([2**30], 2**29), ([16], 2**30)):
        saved.facts["widths"] = widths
        with pytest.raises(DataError, match="weights for"):
            load(saved, width)
    two = Batch({"note": pa.array(["a"]), "title": pa.array(["a"])}, 1)
    saved = copy.deepcopy(
        fitted(plain(text={"hash_bits": 4}), tuple(column for column in ALL if column.kind == "text"), two).save()
    )
    saved.facts["spec"]["text"]["hash_bits"] = 30
    saved.facts["widths"] = [2**30, 5 - 2**30]
    with pytest.raises(DataError, match="weights for"):
        load(saved, 5)


def test_a_saved_spec_opens_no_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("a\n", encoding="utf-8")
    for spec in (
        {"text": {"lexicons": {"x": str(path)}}},
        {"columns": {"note": {"lexicons": {"x": str(path)}}}},
        {"text": {"lexicons": str(path)}},
        {"text": str(path)},
        str(path),
    ):
        saved = some_map().save()
        with pytest.raises(DataError, match="the saved features are damaged"):
            FeatureMap.load(Saved({**saved.facts, "spec": spec}, saved.arrays), 7)


@pytest.mark.parametrize(
    "facts",
    [
        {"columns": [["note", "texts"]]},
        {"columns": [["note", "text"], ["note", "text"]]},
        {"columns": [["note"]]},
        {"columns": [[1, "text"]]},
        {"columns": []},
        {"columns": {}},
        {"spec": {"text": {"words": [1, 9]}}},
        {"spec": {"text": {"words": [1, 3], "case": "fold"}}},  # the default is not written
        {"spec": {"txt": {}}},
        {"spec": {"functions": {}}},
        {"spec": {"functions": [[]]}},
        {"spec": {"columns": {"other": {}}}},
        {"spec": {"columns": {"note": {"words": json.loads("[" * 90 + "]" * 90)}}}},
        {"widths": [6]},
        {"widths": []},
        {"widths": [7.0]},
        {"part0": {}},
        {"part0": {"features": -1}},
        {"part0": {"features": True}},
        {"part0": {"features": 2**70}},
        {"more": 1},
    ],
)
def test_damaged_facts_are_refused(facts: dict[str, Any]) -> None:
    saved = some_map().save()
    with pytest.raises(DataError):
        FeatureMap.load(Saved({**saved.facts, **facts}, saved.arrays), 7)


ODD_FACTS = st.sampled_from(
    [None, True, 0, 1, -1, 7, 2**31, 2**40, 1.5, "", "text", [], [1, 2], {}, {"a": 1}, "\ud800"]
)


@st.composite
def damage_to_facts(draw: st.DrawFn, facts: Any) -> Any:
    """Something somewhere in it is another thing, or gone, or more."""
    if isinstance(facts, dict) and facts and draw(st.integers(0, 9)):
        key = draw(st.sampled_from(sorted(facts)))
        if draw(st.integers(0, 9)) == 0:
            return {name: value for name, value in facts.items() if name != key}
        return {**facts, key: draw(damage_to_facts(facts[key]))}
    if isinstance(facts, list) and facts and draw(st.integers(0, 4)):
        at = draw(st.integers(0, len(facts) - 1))
        match draw(st.sampled_from(["change", "drop", "twice"])):
            case "drop":
                return facts[:at] + facts[at + 1 :]
            case "twice":
                return facts[: at + 1] + facts[at:]
        return [*facts[:at], draw(damage_to_facts(facts[at])), *facts[at + 1 :]]
    if type(facts) is int and draw(st.booleans()):
        return facts + draw(st.sampled_from([-1, 1]))
    return draw(ODD_FACTS)


@st.composite
def damage_to_arrays(draw: st.DrawFn, arrays: dict[str, np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    arrays = {name: array.copy() for name, array in arrays.items()}
    name, other = (draw(st.sampled_from(sorted(arrays))) for _ in range(2))
    array = arrays[name]
    match draw(
        st.sampled_from(["number", "number", "number", "dtype", "cut", "longer", "swap", "drop", "more", "shape"])
    ):
        case "number" if array.size:
            at = draw(st.integers(0, array.size - 1))
            numbers: list[Any] = [0, 1, 2, 3, array.size, array.reshape(-1)[draw(st.integers(0, array.size - 1))]]
            if array.dtype.kind == "f":
                numbers += [np.nan, np.inf, -np.inf, -1.0, 1e308, 5e-324]
            else:
                limits = np.iinfo(array.dtype)
                numbers += [limits.min, limits.max, limits.max // 2]
            with np.errstate(all="ignore"):
                array.reshape(-1)[at] = np.asarray(draw(st.sampled_from(numbers))).astype(array.dtype)
        case "dtype":
            dtypes = [
                np.int8,
                np.uint8,
                np.int32,
                np.uint32,
                np.int64,
                np.uint64,
                np.float32,
                np.float64,
                np.bool_,
                ">i4",
            ]
            with np.errstate(all="ignore"):
                arrays[name] = array.astype(draw(st.sampled_from(dtypes)))
        case "cut":
            arrays[name] = array[: draw(st.integers(0, len(array)))]
        case "longer":
            arrays[name] = np.concatenate([array, array[:1]])
        case "swap":
            arrays[name], arrays[other] = arrays[other], arrays[name]
        case "drop":
            del arrays[name]
        case "more":
            arrays[draw(st.sampled_from(["x", "part0.x", "part9.x", "part0.a.b", "."]))] = array
        case "shape":
            arrays[name] = array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1)
    return arrays


@given(maps(), st.data())
def test_damage_is_refused_or_does_no_harm(
    case: tuple[FeatureMap, FeatureMap, Batch, Batch], data: st.DataObject
) -> None:
    feature_map, other, first, second = case
    if data.draw(st.booleans()):
        feature_map.prune(np.arange(feature_map.width) % 2 == 0)
    saved = feature_map.save()
    width = feature_map.width
    for _ in range(data.draw(st.integers(1, 2))):
        if saved.arrays and data.draw(st.integers(0, 2)):
            saved = Saved(saved.facts, data.draw(damage_to_arrays(saved.arrays)))
        else:
            saved = Saved(
                data.draw(damage_to_facts(saved.facts).filter(lambda facts: isinstance(facts, dict))), saved.arrays
            )
    try:
        loaded = FeatureMap.load(saved, width, feature_map.spec.functions)
    except MarkoneError:
        return
    assert len(loaded.names()) == loaded.width == width
    if {column.name for column in loaded.columns} != {column.name for column in feature_map.columns}:
        return
    with suppress(DataError):
        for batch in (first, second):
            assert loaded.transform(batch).shape == (len(batch), width)
        loaded.extend(other)
        loaded.transform(second)
        assert len(loaded.names()) == loaded.width
        loaded.prune(np.arange(loaded.width) % 3 == 0)
        loaded.transform(first)
        assert same_saved(load(from_file(loaded.save())).save(), loaded.save())


# ---- the core


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=5), st.integers(1, 3))
def test_names_of_the_core_are_the_same_one_by_one_and_all_at_once(documents: list[list[str]], longest: int) -> None:
    how = _core.NgramSettings(
        fold=True,
        signs=True,
        negation=False,
        choice=_core.TokenChoice.all,
        shortest=1,
        longest=longest,
        characters=False,
    )
    texts = Strings.of([" ".join(words) for words in documents])
    make: list[Callable[[], Any]] = [lambda: _core.NgramVocabulary(how), lambda: _core.HashedVocabulary(how, 4)]
    for vocabulary in (one() for one in make):
        vocabulary.absorb(vocabulary.collect(*texts.for_core))
        names = Strings.of_core(*vocabulary.names()).tolist("surrogatepass")
        assert names == [vocabulary.name(number) for number in range(vocabulary.features)]


def test_the_core_refuses_what_cannot_be() -> None:
    how = _core.NgramSettings(
        fold=True, signs=True, negation=False, choice=_core.TokenChoice.all, shortest=1, longest=2, characters=False
    )
    vocabulary = _core.NgramVocabulary(how)
    with pytest.raises(RuntimeError, match="not chosen yet"):
        vocabulary.prune(np.zeros(0, np.uint32))
    with pytest.raises(ValueError, match="by itself"):
        vocabulary.extend(vocabulary)
    texts = Strings.of(["a"])
    for parts, features in (([], 1), ([NOBODY], 0), ([NOBODY, 0], 2)):
        with pytest.raises(ValueError, match="as many"):
            vocabulary.restore(*texts.for_core, np.array(parts, np.uint32), features)
    vocabulary.restore(*texts.for_core, np.array([NOBODY, 0], np.uint32), 1)
    with pytest.raises(RuntimeError, match="not empty"):
        vocabulary.restore(*texts.for_core, np.array([NOBODY, 0], np.uint32), 1)
    with pytest.raises(ValueError, match="choice"):
        vocabulary.prune(np.array([1], np.uint32))
    with pytest.raises(ValueError, match="twice"):
        _core.Patterns(np.array([3, 3], np.uint64))
