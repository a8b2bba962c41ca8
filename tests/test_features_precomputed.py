"""Rows that come with features, and features that the user's functions make."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from markone import DataError
from markone.data.blocks import Sparse
from markone.data.source import Batch, Column, GivenRows, Names
from markone.features.functions import Functions
from markone.features.precomputed import Given
from markone.features.spec import FeatureRows
from parts import Row, batch_of, learn, names_of, transform

ROWS = Column("rows", "rows")


class ListedNames(Names):
    def __init__(self, *names: str) -> None:
        self.names = list(names)

    def __len__(self) -> int:
        return len(self.names)

    def since(self, start: int) -> list[str]:
        return self.names[start:]


def given_batch(matrix: Any, names: Names) -> Batch:
    return Batch({"rows": GivenRows(matrix, names)}, matrix.shape[0])


def sparse_batches(rows: list[Row], names: ListedNames, ends: list[int], form: Callable[..., Any]) -> Iterator[Batch]:
    """Batches of rows whose names are numbered as they are read, as by a reader of lines."""
    places = [0, *sorted(min(end, len(rows)) for end in ends), len(rows)]
    for begin, end in pairwise(places):
        indptr, indices, data = [0], list[int](), list[float]()
        for row in rows[begin:end]:
            for name, value in row.items():
                if name not in names.names:
                    names.names.append(name)
                indices.append(names.names.index(name))
                data.append(value)
            indptr.append(len(indices))
        yield given_batch(form(indptr, indices, data, len(names)), names)


def as_ours(indptr: list[int], indices: list[int], data: list[float], width: int) -> Sparse:
    return Sparse(np.array(indptr, np.int64), np.array(indices, np.uint32), np.array(data, np.float32), width)


def as_scipy(indptr: list[int], indices: list[int], data: list[float], width: int) -> Any:
    return scipy.sparse.csr_matrix((np.array(data, float), indices, indptr), shape=(len(indptr) - 1, width))


names = st.sampled_from(["a", "b", "c", "d", "é"])
values = st.sampled_from([1.0, -2.0, 0.5, 4.0])
rows_of_names = st.lists(st.dictionaries(names, values, max_size=4), min_size=1, max_size=8)
cuts = st.lists(st.integers(0, 8), max_size=3)


def sparse_twin(rows: list[Row], scale: str) -> list[Row]:
    """Zeros count, and are not moved."""
    columns = {name: [row.get(name, 0.0) for row in rows] for row in rows for name in row}
    spread = dict.fromkeys(columns, 1.0)
    if scale == "standard":
        spread = {name: float(np.std(column)) or 1.0 for name, column in columns.items()}
    elif scale == "max-abs":
        spread = {name: max(map(abs, column)) for name, column in columns.items()}
    return [{name: value / spread[name] for name, value in row.items()} for row in rows]


@given(rows_of_names, cuts, st.sampled_from(["none", "standard", "max-abs"]), st.sampled_from([as_ours, as_scipy]))
def test_sparse_rows_keep_their_names(rows: list[Row], ends: list[int], scale: Any, form: Any) -> None:
    part = Given(ROWS, FeatureRows(scale=scale))
    found = learn(part, *sparse_batches(rows, ListedNames(), ends, form))
    assert found == [pytest.approx(row, rel=1e-6) for row in sparse_twin(rows, scale)]
    assert names_of(part) == [name for name, _ in Counter(name for row in rows for name in row).most_common()]


@given(rows_of_names, rows_of_names, cuts, st.sampled_from([as_ours, as_scipy]))
def test_other_rows_are_matched_by_name(rows: list[Row], others: list[Row], ends: list[int], form: Any) -> None:
    part = Given(ROWS, FeatureRows())
    learn(part, *sparse_batches(rows, ListedNames(), [], form))
    known = {name for row in rows for name in row}
    expected = [{name: value for name, value in row.items() if name in known} for row in others]
    grown = ListedNames("z")  # the batches are read one by one, while the names grow in number
    found = [row for batch in sparse_batches(others, grown, ends, form) for row in transform(part, batch)]
    assert found == expected
    dense = np.array([[row.get(name, 0) for name in grown.names] for row in others])
    assert transform(part, given_batch(dense, grown)) == expected


def test_names_are_looked_up_again_while_they_grow() -> None:
    part = Given(ROWS, FeatureRows())
    learn(part, *sparse_batches([{"a": 1.0, "b": 2.0}], ListedNames(), [], as_ours))
    first, second = ListedNames(), ListedNames()
    for _ in range(2):
        for growing, rows in ((first, [{"x": 1.0, "b": 5.0}]), (second, [{"a": 3.0}]), (first, [{"a": 4.0, "y": 1.0}])):
            (batch,) = sparse_batches(rows, growing, [], as_ours)
            assert transform(part, batch) == [{name: x for name, x in rows[0].items() if name in "ab"}]


def test_what_a_matrix_says_twice_adds_up() -> None:
    matrix = scipy.sparse.csr_matrix(([1.0, 2.0, 4.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    assert learn(Given(ROWS, FeatureRows()), given_batch(matrix, ListedNames("a", "b"))) == [{"a": 2, "b": 5}]
    assert matrix.nnz == 3  # the user's matrix is as it was


@given(
    st.lists(st.tuples(values, values, values), min_size=1, max_size=8),
    cuts,
    st.sampled_from(["none", "standard", "max-abs"]),
    st.sampled_from([np.float32, np.float64, np.int64]),
)
def test_dense_rows_stay_dense(rows: list[tuple[float, ...]], ends: list[int], scale: Any, dtype: Any) -> None:
    matrix = np.array(rows).astype(dtype)
    listed = ListedNames("0", "1", "2")
    part = Given(ROWS, FeatureRows(scale=scale))
    places = [0, *sorted(min(end, len(rows)) for end in ends), len(rows)]
    batches = [given_batch(matrix[begin:end], listed) for begin, end in pairwise(places)]
    found = learn(part, *batches)
    assert names_of(part) == ["0", "1", "2"] and isinstance(part.transform(batches[0]), np.ndarray)
    expected = matrix.astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        if scale == "standard":
            same = (expected == expected[0]).all(axis=0)
            expected = np.where(same, 0, (expected - expected.mean(axis=0)) / expected.std(axis=0))
        elif scale == "max-abs":
            expected = np.nan_to_num(expected / abs(expected).max(axis=0))
    dense = np.array([[row.get(name, 0) for name in "012"] for row in found])
    assert dense == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_dense_rows_of_one_type_are_not_copied() -> None:
    matrix = np.ones((2, 3), np.float32)
    part = Given(ROWS, FeatureRows())
    learn(part, given_batch(matrix, ListedNames("a", "b", "c")))
    assert part.refine(matrix) is matrix


def test_dense_columns_are_matched_by_name() -> None:
    part = Given(ROWS, FeatureRows(scale="max-abs"))
    learn(part, given_batch(np.array([[1.0, 2.0], [2.0, 8.0]]), ListedNames("a", "b")))
    swapped = ListedNames("b", "a")
    assert transform(part, given_batch(np.array([[8.0, 1.0]]), swapped)) == [{"a": 0.5, "b": 1}]
    sparse = scipy.sparse.csr_matrix(np.array([[5.0, 4.0, 0.0], [0.0, 0.0, 2.0]]))
    assert transform(part, given_batch(sparse, ListedNames("z", "b", "a"))) == [{"b": 0.5}, {"a": 1}]
    with pytest.raises(DataError, match="3 columns here, but 2 in training"):
        part.transform(given_batch(np.ones((1, 3)), ListedNames("a", "b", "c")))
    with pytest.raises(DataError, match="needs the column 'a'"):
        part.transform(given_batch(np.ones((1, 2)), ListedNames("b", "c")))


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (np.array([[1.0, 2.0], [3.0, math.nan]]), "NaN, first in row 1, column 1"),
        (np.array([[1.0, math.inf]]), "infinity, first in row 0, column 1"),
        (np.array([[1.0, 1e39]]), "too large for 32-bit floats"),
        (scipy.sparse.csr_matrix(np.array([[0.0, 1.0], [0.0, 0.0], [0.0, math.nan]])), "'b' is nan in row 2"),
        (scipy.sparse.csr_matrix(np.array([[0.0, 1e39]])), "too large for 32-bit floats"),
    ],
)
def test_rows_that_cannot_be_used_get_a_sentence(matrix: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        learn(Given(ROWS, FeatureRows()), given_batch(matrix, ListedNames("a", "b")))


def test_batches_must_agree() -> None:
    listed = ListedNames("a", "b")
    batches = [given_batch(matrix, listed) for matrix in (np.ones((1, 2)), scipy.sparse.csr_matrix(np.ones((1, 2))))]
    with pytest.raises(DataError, match="dense in one batch and sparse in another"):
        learn(Given(ROWS, FeatureRows()), *batches)


@pytest.mark.parametrize("form", [np.array, scipy.sparse.csr_matrix])
def test_numbers_too_large_to_be_scaled_are_refused(form: Any) -> None:
    batch = given_batch(form([[1.0, -1e200], [1.0, 1e200]]), ListedNames("a", "b"))
    with pytest.raises(DataError, match="'b' has numbers too large to be scaled"):
        learn(Given(ROWS, FeatureRows(scale="standard")), batch)


def test_columns_that_are_not_met_are_no_features() -> None:
    listed = ListedNames(*(str(i) for i in range(1000)))
    part = Given(ROWS, FeatureRows(scale="standard"))
    rows = [{"999": 1.0, "5": 1.0}, {"7": 2.0}, {"5": 3.0}, {"7": 2.0, "0": 2.0}]
    found = learn(part, *sparse_batches(rows, listed, [1, 2, 3], as_ours))
    assert names_of(part) == ["5", "7", "999", "0"]
    (batch,) = sparse_batches([{"3": 1.0}], listed, [], as_ours)
    assert transform(part, batch) == [{}]
    assert found == [pytest.approx(row, rel=1e-6) for row in sparse_twin(rows, "standard")]


# ---- functions


TEXT, NUMBER = Column("text", "text"), Column("n", "numeric")


def learn_functions(functions: dict[str, Any], columns: list[Column], **values: Any) -> list[Row]:
    return learn(Functions(functions, columns), batch_of(values))


def test_functions_of_a_text_get_the_text() -> None:
    functions = {"capitals": str.isupper, "length": len, "first": lambda text: {text[0]: 1, "last": text[-1] == "!"}}
    assert learn_functions(functions, [TEXT], text=["WIN!", "to"]) == [
        {"capitals()": 1, "length()": 4, "first(W)": 1, "first(last)": 1},
        {"length()": 2, "first(t)": 1},
    ]


def test_functions_of_several_columns_get_a_dict() -> None:
    seen: list[Any] = []
    functions = {"double": lambda example: seen.append(example) or 2 * example["n"]}  # type: ignore[func-returns-value]
    image, rows = Column("image", "image"), Column("rows", "rows")
    values = {
        "n": [3],
        "text": ["a"],
        "image": np.zeros((1, 2, 2), np.uint8),
        "rows": GivenRows(scipy.sparse.csr_matrix([[0.0, 7.0]]), ListedNames("a", "b")),
    }
    batch = Batch({**batch_of({"n": [3], "text": ["a"]}).columns, **{k: values[k] for k in ("image", "rows")}}, 1)
    assert learn(Functions(functions, [NUMBER, TEXT, image, rows]), batch) == [{"double()": 6}]
    assert {name: seen[0][name] for name in ("n", "text", "rows")} == {"n": 3, "text": "a", "rows": {"b": 7.0}}
    assert seen[0]["image"].shape == (2, 2)
    dense = Batch({"rows": GivenRows(np.array([[1.0, 2.0]]), ListedNames("a", "b"))}, 1)
    assert learn(Functions({"sum": lambda example: sum(example["rows"].values())}, [rows]), dense) == [{"sum()": 3}]


def test_nothing_and_zero_are_not_in_the_row_but_zero_has_a_name() -> None:
    part = Functions({"f": lambda text: {"none": None, "zero": 0}, "g": lambda text: None}, [TEXT])
    assert learn(part, batch_of({"text": ["a"]})) == [{}]
    assert names_of(part) == ["f(zero)"]
    assert len(part.transform(batch_of({"text": ["a"]})).indices) == 0


def test_names_that_training_did_not_meet_are_dropped() -> None:
    part = Functions({"word": lambda text: {text: np.float32(0.5)}}, [TEXT])
    first, second = batch_of({"text": ["a", "b"]}), batch_of({"text": ["c", "a"]})
    assert learn(part, first, second) == [{f"word({name})": 0.5} for name in "abca"]
    assert transform(part, batch_of({"text": ["b", "x"]})) == [{"word(b)": 0.5}, {}]


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda text: 1 // (len(text) - 2), "function 'f' failed in row 1 .*: ZeroDivisionError: "),
        (lambda text: math.nan, "'f\\(\\)' is nan in row 0"),
        (lambda text: {"x": -math.inf}, "'f\\(x\\)' is -inf in row 0"),
        (lambda text: 10**400, "'f\\(\\)' is 1000.* in row 0"),
        (lambda text: 1e39, "'f\\(\\)' is 1e.39 in row 0"),
        (lambda text: text, "'f\\(\\)' is 'a' in row 0 .* must be a number"),
        (lambda text: {"x": [1]}, r"'f\(x\)' is \[1\] in row 0"),
    ],
)
def test_functions_that_fail_get_a_sentence(function: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        learn_functions({"f": function}, [TEXT], text=["a", "bb"])
