"""Numbers, categories and conjunctions: parts of a feature map against plain twins, on tables cut anywhere."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markone import DataError, SettingsError, reference
from markone.data.blocks import Sparse
from markone.data.source import Column
from markone.features.categories import Categories
from markone.features.conjunctions import Conjunctions
from markone.features.numbers import Numbers
from markone.features.spec import Categorical, Numeric, Text
from markone.parallel import in_order
from parts import Row, batch_of, cut, learn, names_of, transform

A, B, FLAG = Column("a", "numeric"), Column("b", "numeric"), Column("flag", "boolean")
MAKE, CYLINDERS, ZIP = (Column(name, "categorical") for name in ("make", "cylinders", "zip"))
PLAIN = Numeric(scale="none")

halves = st.integers(-40, 40).map(lambda n: n / 2)
gaps_and_numbers = st.one_of(st.none(), halves)
cuts = st.lists(st.integers(0, 12), max_size=3)
makes = st.sampled_from(["asia", "europ", "ameri", "", "ü", None])


def near(rows: list[Row]) -> list[Any]:
    return [pytest.approx(row, rel=1e-5, abs=1e-5) for row in rows]


# ---- numbers


def numbers_twin(values: list[float | None], scale: str, missing: str, *, boolean: bool = False) -> list[Row]:
    """The rows of one column named `a`."""
    known = [Fraction(value) for value in values if value is not None]
    mean = sum(known) / len(known) if known else Fraction(0)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in known) / len(known)) if known else 0
    center, spread = Fraction(0), 1.0
    if scale == "standard" and not boolean:
        center, spread = mean, deviation
    elif scale == "max-abs" and not boolean:
        spread = float(max(map(abs, known), default=0))
    rows = []
    for value in values:
        filled = Fraction(value) if value is not None else mean if missing == "mean" else Fraction(0)
        row = {"a": float(filled - center) / spread if spread else 0.0, "a is missing": float(value is None)}
        rows.append({name: x for name, x in row.items() if abs(x) > 1e-9})
    return rows


@given(
    st.lists(gaps_and_numbers, min_size=1, max_size=12),
    cuts,
    st.sampled_from(["none", "standard", "max-abs"]),
    st.sampled_from(["mean", "zero"]),
    st.sampled_from([pa.float64(), pa.float32(), pa.float16(), pa.decimal128(5, 1), pa.int32(), pa.int8()]),
)
def test_numbers_are_scaled_and_filled(
    values: list[float | None], ends: list[int], scale: Any, missing: Any, kind: pa.DataType
) -> None:
    if pa.types.is_integer(kind):
        values = [value and math.floor(value) for value in values]
    array = pa.array(values, pa.float64()).cast(kind)
    part = Numbers([(A, Numeric(scale=scale, missing=missing))])
    rows = learn(part, *cut(batch_of({"a": array}), ends))
    rows = [{name: x for name, x in row.items() if abs(x) > 1e-9} for row in rows]
    assert rows == near(numbers_twin(values, scale, missing))
    assert names_of(part) == ["a"] + ["a is missing"] * (None in values)


@given(st.lists(st.one_of(st.none(), st.booleans()), min_size=1, max_size=9), st.sampled_from(["none", "standard"]))
def test_booleans_are_0_and_1_whatever_the_scale(values: list[bool | None], scale: Any) -> None:
    rows = learn(
        Numbers([(Column("a", "boolean"), Numeric(scale=scale))]), batch_of({"a": pa.array(values, pa.bool_())})
    )
    assert rows == near(numbers_twin(values, "none", "mean", boolean=True))


def test_nan_is_missing_like_null() -> None:
    part = Numbers([(A, PLAIN)])
    assert learn(part, batch_of({"a": [1.0, math.nan, None, 3.0]})) == [
        {"a": 1},
        {"a": 2, "a is missing": 1},
        {"a": 2, "a is missing": 1},
        {"a": 3},
    ]
    assert transform(part, batch_of({"a": pa.nulls(1)})) == [{"a": 2, "a is missing": 1}]


def test_missing_for_the_first_time_is_the_mean_and_no_feature() -> None:
    part = Numbers([(A, PLAIN), (B, Numeric())])
    learn(part, batch_of({"a": [1, 3], "b": [1, 3]}))
    assert names_of(part) == ["a", "b"]
    assert transform(part, batch_of({"a": [None, 5], "b": [None, 5]})) == [{"a": 2}, {"a": 5, "b": 3}]


def test_zero_is_a_number_like_any_other() -> None:
    part = Numbers([(A, Numeric(missing="zero"))])
    gap, zero = (learn(part, batch_of({"a": [4, 6, None]})), transform(part, batch_of({"a": [0]})))
    assert gap[2] == {"a": -5, "a is missing": 1} and zero == [{"a": -5}]


def test_a_constant_column_is_zero_and_stays_so() -> None:
    for scale, values in (("standard", [0.1] * 7), ("max-abs", [0.0] * 7)):
        part = Numbers([(A, Numeric(scale=scale))])
        assert learn(part, *cut(batch_of({"a": values}), [3])) == [{}] * 7
        assert transform(part, batch_of({"a": [1e30]})) == [{}]


def test_deviations_far_from_zero_are_right() -> None:
    seconds = [1.7e15 + x for x in (0, 1, 2, 3)]
    rows = learn(Numbers([(A, Numeric())]), *cut(batch_of({"a": seconds}), [1, 2]))
    assert [row["a"] for row in rows] == pytest.approx([(x - 1.5) / math.sqrt(1.25) for x in range(4)])


def test_columns_have_settings_of_their_own() -> None:
    part = Numbers([(A, PLAIN), (B, Numeric(scale="max-abs"))])
    assert learn(part, batch_of({"a": [1, 2], "b": [1, -2]})) == [{"a": 1, "b": 0.5}, {"a": 2, "b": -1}]


@pytest.mark.parametrize(
    ("values", "settings", "sentence"),
    [
        ([1.0, None], Numeric(missing="error"), "'a' has no number in some row; .*numeric.missing"),
        ([1.0, math.inf], Numeric(), "'a' has the number inf; "),
        ([-math.inf, None], Numeric(), "'a' has the number -inf; "),
        (
            [1.0, 1e39],
            PLAIN,
            "'a' has numbers too large for 32-bit floats; divide them first.*numeric.scale = 'max-abs'",
        ),
        ([-1e200, 1e200], Numeric(), "'a' has numbers too large to be scaled"),
        (["x", "y"], Numeric(), "'a' must have numbers.*string"),
    ],
)
def test_numbers_that_cannot_be_used_get_a_sentence(values: list[Any], settings: Numeric, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        learn(Numbers([(A, settings)]), batch_of({"a": values}))


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.booleans()), min_size=1, max_size=5),
    st.integers(1, 3),
    cuts,
)
def test_products_of_all_columns(table: list[tuple[int, int, bool]], degree: int, ends: list[int]) -> None:
    a, b, flag = map(list, zip(*table, strict=True))
    part = Numbers([(A, PLAIN), (FLAG, PLAIN), (B, PLAIN)], degree)
    rows = learn(part, *cut(batch_of({"a": a, "flag": flag, "b": b}), ends))
    twins = [reference.products({"a": x, "flag": int(f), "b": y}, degree) for x, y, f in table]
    assert names_of(part) == [name for name in twins[0] if name.count("flag") < 2]
    assert rows == [{name: x for name, x in twin.items() if x and name.count("flag") < 2} for twin in twins]


def test_products_are_of_scaled_and_filled_numbers() -> None:
    part = Numbers([(A, Numeric(scale="max-abs")), (B, PLAIN)], 2)
    rows = learn(part, batch_of({"a": [2, 4, None], "b": [1, 3, 5]}))
    assert rows[2] == {"a": 0.75, "b": 5, "a is missing": 1, "a*a": 0.5625, "a*b": 3.75, "b*b": 25}


def test_too_many_products_are_refused() -> None:
    many = [(Column(str(i), "numeric"), PLAIN) for i in range(200)]
    assert Numbers(many, 2).degree == 2
    with pytest.raises(SettingsError, match="degree of 3 makes 1373500 products of 200 numeric columns"):
        Numbers(many, 3)


def test_what_is_curved_becomes_linear() -> None:
    """sign(x1² − 2·x2 + 27), which no line separates."""
    grid = [(x1, x2) for x1 in range(-6, 7) for x2 in range(0, 40, 2) if x1**2 - 2 * x2 + 27 != 0]
    batch = batch_of({"a": [x1 for x1, _ in grid], "b": [x2 for _, x2 in grid]})
    w = {"a*a": 1, "b": -2, "BIAS": 27}
    rows = learn(Numbers([(A, PLAIN), (B, PLAIN)], 2), batch)
    for (x1, x2), row in zip(grid, rows, strict=True):
        assert reference.dot(w, {**row, "BIAS": 1}) == x1**2 - 2 * x2 + 27


def test_drafts_are_small_where_that_loses_nothing() -> None:
    part = Numbers([(A, PLAIN)])
    for kind, dtype in ((pa.float32(), np.float32), (pa.int16(), np.float32), (pa.int32(), np.float64)):
        assert part.collect(batch_of({"a": pa.array([1, 2], kind)})).columns.dtype == dtype


def test_threads_change_nothing() -> None:
    random = np.random.default_rng(1)
    batch = batch_of({"a": random.normal(size=999).tolist(), "make": random.choice(list("abcde"), 999).tolist()})
    for make_part in (lambda: Numbers([(A, Numeric())]), lambda: Categories([(MAKE, Categorical())])):
        one, many = make_part(), make_part()
        learn(one, *cut(batch, range(0, 999, 50)))
        for collected in in_order(many.collect, cut(batch, range(0, 999, 50)), threads=3):
            many.absorb(collected, None)
        many.finish()
        assert transform(one, batch) == transform(many, batch)


# ---- categories


def kept_twin(values: list[str | None], settings: Categorical) -> list[str]:
    """The categories that are features; a Counter's most common ones come in the order in which they were met."""
    counts = Counter(value for value in values if value is not None)
    kept = [value for value, count in counts.most_common() if count >= settings.min_count]
    return kept[: settings.max_features]


def categories_twin(name: str, values: list[str | None], settings: Categorical) -> list[Row]:
    kept = kept_twin(values, settings)
    return [
        reference.one_hot({name: value}) if value is None or value in kept else {f"{name} is another": 1}
        for value in values
    ]


def as_dictionary(array: pa.Array) -> pa.Array:
    """With categories that do not occur, and in another order."""
    words = ["never", "ü", "", "europ", "asia", "ameri"]
    indices = [None if word is None else words.index(word) for word in array.to_pylist()]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(words))


@given(
    st.lists(makes, min_size=1, max_size=12),
    cuts,
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(1, 3)),
    st.sampled_from([lambda a: a, lambda a: a.cast(pa.large_string()), lambda a: a.dictionary_encode(), as_dictionary]),
)
def test_categories_are_one_hot(
    values: list[str | None], ends: list[int], min_count: int, most: int | None, form: Any
) -> None:
    settings = Categorical(min_count=min_count, max_features=most)
    part = Categories([(MAKE, settings)])
    rows = learn(part, *cut(batch_of({"make": form(pa.array(values, pa.string()))}), ends))
    assert rows == categories_twin("make", values, settings)
    kept = [f"make={value}" for value in kept_twin(values, settings)]
    assert names_of(part) == kept + ["make is missing"] * (None in values) + ["make is another"]


def test_the_automobiles_makes() -> None:
    part = Categories([(MAKE, Categorical()), (CYLINDERS, Categorical())])
    batch = batch_of({"make": ["asia", "europ", "ameri", "asia"], "cylinders": [4, 4, 8, 4]})
    rows = learn(part, batch)
    assert rows[2] == {"make=ameri": 1, "cylinders=8": 1}
    assert names_of(part) == [
        "make=asia",
        "make=europ",
        "make=ameri",
        "make is another",
        "cylinders=4",
        "cylinders=8",
        "cylinders is another",
    ]
    matrix = part.transform(batch)
    assert isinstance(matrix, Sparse) and matrix.indptr.tolist() == [0, 2, 4, 6, 8]


def test_never_seen_and_never_missing_are_another() -> None:
    part = Categories([(MAKE, Categorical())])
    learn(part, batch_of({"make": ["asia"] * 20}))
    for copies in (1, 20):  # few rows and many are read in different ways
        found = transform(part, batch_of({"make": ["mars", None, "asia"] * copies}))
        assert found == [{"make is another": 1}, {"make is another": 1}, {"make=asia": 1}] * copies


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (pa.array([12345, 7, 12345]), ["zip=12345", "zip=7"]),
        (pa.array([True, False, True]), ["zip=true", "zip=false"]),
        (pa.array([1.5, math.nan, 4.0, 4.0]), ["zip=4", "zip=1.5", "zip is missing"]),
        (pa.nulls(2), ["zip is missing"]),
    ],
)
def test_anything_that_has_a_text_can_be_a_category(values: pa.Array, names: list[str]) -> None:
    part = Categories([(ZIP, Categorical())])
    learn(part, batch_of({"zip": values}))
    assert names_of(part) == [*names, "zip is another"]


def test_a_category_is_its_text() -> None:
    part = Categories([(ZIP, Categorical())])
    learn(part, batch_of({"zip": pa.array([4, 5, 5], pa.int64())}))
    for same in (pa.array([4], pa.int8()), pa.array([4.0]), pa.array(["4"]), pa.array(["4"]).dictionary_encode()):
        assert transform(part, batch_of({"zip": same})) == [{"zip=4": 1}]


def test_what_has_no_text_is_refused() -> None:
    with pytest.raises(DataError, match="'zip' has values of type list"):
        learn(Categories([(ZIP, Categorical())]), batch_of({"zip": pa.array([[1], [2]])}))


# ---- conjunctions


def conjunctions(*products: str, settings: Categorical | None = None, numeric: Numeric = PLAIN) -> Conjunctions:
    categorical = settings or Categorical()
    columns = [(MAKE, categorical), (CYLINDERS, categorical), (A, numeric), (B, numeric), (FLAG, numeric)]
    return Conjunctions(products, [*columns, (Column("story", "text"), Text())])


@given(
    st.lists(st.tuples(makes, st.sampled_from(["4", "6", "8", None]), halves, st.booleans()), min_size=1, max_size=12),
    cuts,
    st.integers(1, 2),
)
def test_conjunctions_are_products_of_features(table: list[Any], ends: list[int], min_count: int) -> None:
    make, cylinders, a, flag = map(list, zip(*table, strict=True))
    columns = {"make": pa.array(make, pa.string()), "cylinders": pa.array(cylinders, pa.string()), "a": a, "flag": flag}
    settings = Categorical(min_count=min_count)
    part = conjunctions("make * cylinders", "a*make", "flag*a", "cylinders*flag*a*make", "a*a", settings=settings)
    rows = learn(part, *cut(batch_of(columns), ends))
    makes_of = categories_twin("make", make, settings)
    cylinders_of = categories_twin("cylinders", cylinders, settings)
    for row, m, c, x, f in zip(rows, makes_of, cylinders_of, a, flag, strict=True):
        number, boolean = {"a": x}, {"flag": int(f)}
        twin = {
            **reference.conjunction(m, c),
            **reference.conjunction(number, m),
            **reference.conjunction(boolean, number),
            **reference.conjunction(c, boolean, number, m),
            **reference.conjunction(number, number),
        }
        assert row == {name: x for name, x in twin.items() if x}


def test_frequent_pairs_come_first_and_unseen_ones_are_nothing() -> None:
    part = conjunctions("make*cylinders")
    learn(part, batch_of({"make": ["asia", "ameri", "ameri"], "cylinders": ["4", "8", "8"]}))
    assert names_of(part) == ["make=ameri*cylinders=8", "make=asia*cylinders=4"]
    others = batch_of({"make": ["asia", "asia", "mars", None], "cylinders": ["8", "4", "4", "4"]})
    assert transform(part, others) == [{}, {"make=asia*cylinders=4": 1}, {}, {}]
    two = conjunctions("a*a", "make*cylinders")
    learn(two, batch_of({"make": ["asia"], "cylinders": ["4"], "a": [1]}))
    assert transform(two, batch_of({"make": ["asia"], "cylinders": ["8"], "a": [3]})) == [{"a*a": 9}]


def test_rare_categories_are_one_in_conjunctions_too() -> None:
    part = conjunctions("make*a", settings=Categorical(max_features=1))
    learn(part, batch_of({"make": ["asia", "europ", "ameri", "asia"], "a": [1, 2, 3, 4]}))
    assert names_of(part) == ["make=asia*a", "make is another*a"]
    assert transform(part, batch_of({"make": ["mars"], "a": [7]})) == [{"make is another*a": 7}]


def test_numbers_in_conjunctions_are_scaled_and_filled() -> None:
    part = conjunctions("make*a", "a*b", numeric=Numeric(scale="max-abs"))
    rows = learn(part, batch_of({"make": ["asia"] * 3, "a": [2, 4, None], "b": [1, 1, 2]}))
    assert rows[2] == {"make=asia*a": 0.75, "a*b": 0.75}
    with pytest.raises(DataError, match="'a' has no number in some row"):
        learn(conjunctions("a*b", numeric=Numeric(missing="error")), batch_of({"a": [None], "b": [1]}))


def test_numbers_alone_make_dense_rows() -> None:
    part = conjunctions("a*b", "a*flag")
    batch = batch_of({"a": [2, 4], "b": [1, 3], "flag": [True, False]})
    assert learn(part, batch) == [{"a*b": 2, "a*flag": 2}, {"a*b": 12}]
    assert isinstance(part.transform(batch), np.ndarray)
    with pytest.raises(DataError, match=r"conjunction a\*b has numbers too large"):
        part.transform(batch_of({"a": [1.0, 1e30], "b": [1.0, 1e30], "flag": [True, True]}))


@pytest.mark.parametrize(
    ("products", "sentence"),
    [
        (["make*cylindres"], "no column 'cylindres'. Did you mean 'cylinders'"),
        (["make*story"], "'story' is of kind text"),
        (["make*a*make"], "names the categories of 'make' twice"),
        (["make*a", "a*make"], r"has 'a\*make' twice"),
    ],
)
def test_conjunctions_that_mean_nothing_are_refused(products: list[str], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        conjunctions(*products)


def test_more_categories_than_a_key_has_room_for() -> None:
    columns = [(Column(f"c{i}", "categorical"), Categorical()) for i in range(10)]  # six bits for each
    part = Conjunctions(["*".join(column.name for column, _ in columns)], columns)
    few, many = ({f"c{i}": list(range(size)) for i in range(10)} for size in (62, 63))
    assert len(learn(part, batch_of(few))) == 62
    with pytest.raises(DataError, match="'c0' has more than 62 categories"):
        part.absorb(part.collect(batch_of(many)))
