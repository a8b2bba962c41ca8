"""The exact decision: of any data just one of the two certificates can be had, and holds."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_iris

from markone.errors import DataError
from markone.theory import exact
from markone.theory.certificate import Plane, Proof
from markone.theory.cuts import Cuts
from markone.theory.dixon import null_vector, prime_for
from markone.theory.exact import Simplex, Whole, decide, prove
from markone.theory.points import Corner, Points, open_points
from markone.theory.products import Products
from markone.theory.quick_proofs import contested, find_opposites, hash_rows
from markone.theory.verification import balances, exact_product, least_product

AND = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def points_of(X: Any, y: Any, bias: bool = True) -> Points:
    return open_points(X if hasattr(X, "indptr") else np.asarray(X, np.float64), list(y), bias=bias)


def corners_of(points: Points) -> list[Corner]:
    return [(i, c) for i in range(len(points)) for c in range(len(points.classes)) if c != points.truth[i]]


def z_of(points: Points, corner: Corner) -> list[Fraction]:
    """By the definition: a block of x for the right class, and of -x for the wrong one."""
    row, rival = corner
    dense = points.matrix.toarray() if points.is_sparse else points.matrix
    x = [Fraction(float(value)) for value in dense[row]] + [Fraction(1)] * points.bias
    blocks = [[Fraction(0)] * len(x) for _ in points.classes]
    blocks[points.truth[row]], blocks[rival] = x, [-value for value in x]
    return [value for block in blocks for value in block]


def is_proof(points: Points, proof: Proof) -> bool:
    sums = [Fraction(0)] * (len(points.classes) * (points.features + points.bias))
    for corner, weight in zip(zip(proof.rows, proof.rivals, strict=True), proof.weights, strict=True):
        assert corner in corners_of(points) and weight > 0
        sums = [one + weight * value for one, value in zip(sums, z_of(points, corner), strict=True)]
    return not any(sums)


def separates(points: Points, plane: Plane) -> bool:
    weights, bias = plane.weights, plane.bias
    if len(bias) == 1:
        weights, bias = np.concatenate([weights * 0, weights], axis=1), np.append(bias * 0, bias)
    stacked = np.vstack([weights, bias[None]] if points.bias else [weights])
    w = [Fraction(value) for value in stacked.T.ravel().tolist()]
    products = (sum(a * b for a, b in zip(w, z_of(points, corner), strict=True)) for corner in corners_of(points))
    return all(product > 0 for product in products)


def check(points: Points, found: Proof | Plane | None) -> bool:
    """Whether it is a plane; that it holds, by definition, and that a proof is short."""
    assert found is not None
    if isinstance(found, Plane):
        assert separates(points, found)
        return True
    assert is_proof(points, found) and balances(points, found)
    assert len(found.rows) <= points.dimensions + 1 and math.gcd(*found.weights) == 1
    return False


def simplex(points: Points, hint: list[Corner] | None = None) -> Proof | Plane | None:
    whole = Whole(points)
    allowed = np.zeros((len(points), len(points.classes)), bool)
    for corner in corners_of(points):
        allowed[corner] = True
    return Simplex(points, whole, Products(points, allowed, whole.units), math.inf).run(hint or [])


# ---- data

GRID = st.integers(-2, 2).map(float)
WILD = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-300, 1e300, -1e300, 1.7e308, 0.1, 1.0, -1.0, 3.0]),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def data(draw: st.DrawFn, values: st.SearchStrategy[float], most: int = 10) -> Points:
    classes, width = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(values, min_size=width, max_size=width), min_size=classes, max_size=most))
    extra = draw(st.lists(st.integers(0, classes - 1), min_size=len(rows) - classes, max_size=len(rows) - classes))
    X = np.array(rows)
    return points_of(csr_matrix(X) if draw(st.booleans()) else X, [*range(classes), *extra], draw(st.booleans()))


@given(data(GRID))
@settings(max_examples=3 * settings().max_examples)
def test_on_a_grid_where_hulls_touch_just_one_of_the_two_is_found(points: Points) -> None:
    found = check(points, decide(points, seconds=math.inf))
    assert check(points, simplex(points)) == found
    assert check(points, simplex(points, corners_of(points)[::-1])) == found


@given(data(WILD, most=8))
def test_at_any_scale_just_one_of_the_two_is_found(points: Points) -> None:
    assert check(points, decide(points, seconds=math.inf)) == check(points, simplex(points))


@given(data(GRID))
def test_what_signs_and_equal_rows_say_is_so(points: Points) -> None:
    separable = isinstance(simplex(points), Plane)
    if proof := find_opposites(points):
        assert is_proof(points, proof) and len(proof.rows) <= 2 and not separable
    left = contested(points)
    corners = [corner for corner in corners_of(points) if left[corner]]
    assert not left[np.arange(len(points)), points.truth].any()
    proof = prove(points, corners, math.inf)
    assert (proof is None) == separable
    assert proof is None or is_proof(points, proof)


@given(data(GRID, most=6))
def test_equal_rows_of_different_classes_are_always_found(points: Points) -> None:
    dense = points.matrix.toarray() if points.is_sparse else points.matrix
    pairs = combinations(range(len(points)), 2)
    opposite = any((dense[i] == dense[j]).all() and points.truth[i] != points.truth[j] for i, j in pairs)
    zero = not points.bias and not dense.any(axis=1).all()
    assert (find_opposites(points) is not None) == (opposite or zero)


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
def test_agrees_with_linear_programming_on_data_in_general_position(seed: int, classes: int, bias: bool) -> None:
    random = np.random.default_rng(seed)
    y = np.append(np.arange(classes), random.integers(0, classes, random.integers(2, 12)))
    points = points_of(random.normal(size=(len(y), 3)), y, bias)
    z = np.array([[float(value) for value in z_of(points, corner)] for corner in corners_of(points)])
    feasible = linprog(np.zeros(z.shape[1]), -z, -np.ones(len(z)), bounds=(None, None)).status == 0
    assert check(points, decide(points, seconds=math.inf)) == feasible


# ---- known ones


def test_and_can_be_separated_and_xor_cannot() -> None:
    assert check(points_of(AND, [0, 0, 0, 1]), decide(points_of(AND, [0, 0, 0, 1])))
    xor = decide(points_of(AND, [0, 1, 1, 0]))
    assert xor == Proof((0, 1, 2, 3), (1, 0, 0, 1), (1, 1, 1, 1))


def test_setosa_can_be_separated_from_versicolor_but_not_versicolor_from_virginica() -> None:
    X, y = load_iris(return_X_y=True)
    assert check(points_of(X[:100], y[:100]), decide(points_of(X[:100], y[:100])))
    points = points_of(X[50:], y[50:])
    proof = decide(points)
    assert isinstance(proof, Proof) and not check(points, proof) and len(proof.rows) <= 6
    pair, rows = points_of(X, y).pair(1, 2)
    found = decide(pair)
    assert isinstance(found, Proof) and is_proof(points_of(X, y), found.of_pair(rows, 1, 2))


def test_a_row_of_zeros_is_a_proof_without_a_bias_only() -> None:
    X = [[0.0, 0.0], [1.0, 2.0], [-1.0, 0.5]]
    proof = find_opposites(points_of(X, "abb", bias=False))
    assert proof == decide(points_of(X, "abb", bias=False)) == Proof((0,), (1,), (1,))
    assert find_opposites(points_of(X, "abb")) is None


@pytest.mark.parametrize("matrix", [np.array, csr_matrix])
def test_two_equal_rows_of_different_classes_are_a_proof(matrix: Any) -> None:
    X = matrix([[1.0, 0.0, 2.0], [0.5, -0.0, 0.0], [1.0, 3.0, 2.0], [0.5, 0.0, 0.0]])
    assert find_opposites(points_of(X, "abca")) == Proof((1, 3), (0, 1), (1, 1))


def test_rows_that_name_features_in_another_order_are_equal() -> None:
    X = csr_matrix((np.array([2.0, 1.0, 1.0, 2.0, 0.0]), np.array([3, 1, 1, 3, 0]), np.array([0, 2, 5])), shape=(2, 4))
    assert len(set(hash_rows(X).tolist())) == 1
    assert find_opposites(Points(X, np.array([1, 0]), ["a", "b"], True)) == Proof((0, 1), (0, 1), (1, 1))


def test_signs_alone_separate_texts_with_words_of_their_own() -> None:
    # Words 0 and 1 are used by both classes; each of the first two texts has a word that only its class uses.
    X = csr_matrix([[1, 1, 1, 0.0], [1, 1, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
    assert not contested(points_of(X, [0, 1, 0, 1])).any()
    X = csr_matrix([[1, 1, 1.0], [1, 1, 0], [1, 0, 0], [0, 1, 0]])
    left = contested(points_of(X, [0, 1, 0, 0], bias=False))
    assert left.any(axis=1).tolist() == [False, True, True, True]


def test_a_gap_of_one_part_in_a_quintillion_is_a_gap() -> None:
    near = [[1.0], [1.0], [math.nextafter(1.0, 2.0)]]
    assert check(points_of(near, [0, 0, 1]), decide(points_of(near, [0, 0, 1])))
    assert not check(points_of([*near, [2.0]], [0, 1, 1, 0]), decide(points_of([*near, [2.0]], [0, 1, 1, 0])))
    assert check(points_of([[0.0], [5e-324]], "ab"), decide(points_of([[0.0], [5e-324]], "ab")))


def test_planes_that_no_floats_can_be_are_of_fractions() -> None:
    X = [[1e-300, 1e300], [2e-300, 1e300], [2e-300, math.nextafter(1e300, math.inf)]]
    points = points_of(X, [0, 1, 0])
    plane = simplex(points)
    assert isinstance(plane, Plane) and plane.is_exact and check(points, plane)


# ---- with many dimensions


def test_hundreds_of_dimensions_are_decided_by_lifting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "MOST_DIMENSIONS", 0)  # without the simplex method
    random = np.random.default_rng(0)
    points = points_of(random.integers(0, 9, (900, 120)), random.integers(0, 2, 900))
    proof = decide(points, seconds=60)
    assert isinstance(proof, Proof) and balances(points, proof) and len(proof.rows) <= 122
    again = prove(points, zip(proof.rows, proof.rivals, strict=True), 60)
    assert again == proof


def test_a_hard_case_is_answered_by_floats_that_are_checked() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    points = points_of(X, y)
    plane = decide(points, seconds=60)
    assert isinstance(plane, Plane) and not plane.is_exact
    assert least_product(points, plane) > 0


def test_sparse_rows_with_a_million_features_need_only_those_that_a_proof_has() -> None:
    random = np.random.default_rng(1)
    columns = random.choice(10**6, 12, replace=False)
    X = csr_matrix((random.normal(size=360), np.tile(columns, 30), np.arange(0, 361, 12)), shape=(30, 10**6))
    points = points_of(X, np.arange(30) % 2)
    small = points_of(X[:, np.sort(columns)].toarray(), np.arange(30) % 2)
    proof = prove(points, corners_of(points), 60)
    assert (proof is None) == isinstance(decide(small, seconds=60), Plane)
    assert proof is None or balances(points, proof)


def test_some_examples_may_be_separable_where_all_are_not() -> None:
    random = np.random.default_rng(2)
    points = points_of(random.normal(size=(100, 10)), np.append([0, 1], random.integers(0, 2, 98)))
    assert isinstance(decide(points), Proof)
    assert prove(points, corners_of(points)[:8]) is None and prove(points, []) is None
    assert prove(points, corners_of(points)) is not None


def test_two_of_several_classes_that_cannot_be_separated_are_a_proof_for_all() -> None:
    line = points_of([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 2])
    proof = decide(line)
    assert proof == Proof((0, 1, 2), (1, 0, 1), (1, 2, 1)) and is_proof(line, proof)


def test_classes_may_be_separable_two_by_two_but_not_together() -> None:
    # Each class is a vane of a pinwheel.
    X = [[6.0, 6.0], [2.0, 4.0], [6.0, 10.0], [7.0, 4.0], [9.0, 2.0], [5.0, 5.0]]
    points = points_of(X, [0, 0, 1, 1, 2, 2])
    for first, second in combinations(range(3), 2):
        assert isinstance(decide(points.pair(first, second)[0]), Plane)
    assert not check(points, decide(points))


def test_time_that_is_up_gives_no_answer() -> None:
    random = np.random.default_rng(0)
    points = points_of(random.normal(size=(200, 20)), random.integers(0, 2, 200))
    assert decide(points, seconds=0) is None
    assert decide(points, seconds=60) is not None


def test_the_cuts_rest_on_few_examples() -> None:
    random = np.random.default_rng(0)
    points = points_of(random.normal(size=(5000, 10)), random.integers(0, 2, 5000))
    whole = Whole(points)
    allowed = np.arange(2) != points.truth[:, None]
    found = Cuts(points, Products(points, allowed, whole.units), math.inf).run([])
    assert found.plane is None and len(found.corners) == 12


# ---- points


def test_arrays_are_taken_as_they_are_and_all_else_through_features() -> None:
    X = np.array([[1e300, 0.0], [0.0, 1e-300], [1.0, 1.0]])
    points = open_points(X, ["b", None, "a"])
    assert points.classes == ["a", "b"] and points.truth.tolist() == [1, 0]
    assert points.matrix.tolist() == [[1e300, 0.0], [1.0, 1.0]] and points.matrix.dtype == np.float64
    twice = csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert open_points(twice, [0, 1]).row(0) == (np.array([1]), np.array([3.0]))
    texts = open_points(["free money", "see you", "money money"], ["spam", "ham", "spam"])
    assert texts.is_sparse and texts.classes == ["ham", "spam"] and isinstance(decide(texts), Plane)
    assert texts.features > open_points(["free money", "see you"], [1, 0], {"text": {"words": [1, 1]}}).features == 4


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[1.0], [2.0]], ["a", "a"], "all examples have the label 'a'"),
        ([[1.0], [2.0]], [None, None], "no example has a label"),
        ([[1.0], [2.0]], ["a", "b", "a"], "there are 2 rows but 3 labels"),
        ([[1.0], [math.nan]], ["a", "b"], "contains NaN"),
        ([[1.0], [2.0]], None, "there are no labels"),
    ],
)
def test_what_cannot_be_separated_gets_a_sentence(X: Any, y: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        open_points(X, y)


# ---- whole numbers


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([1, 20, 60, 400]))
@example(0, 90, 30)
def test_null_vectors_are_those_of_cramers_rule(seed: int, size: int, bits: int) -> None:
    random = np.random.default_rng(seed)
    matrix = np.array([[random_integer(random, bits) for _ in range(size + 1)] for _ in range(size)], object)
    vector = null_vector(matrix)
    if vector is None:
        assert bits == 1 or size == 1
        return
    assert not (matrix @ vector).any() and math.gcd(*vector) == 1 and vector.any()
    # A row that follows from the others changes nothing; one that does not leaves none.
    assert (null_vector(np.vstack([matrix, matrix.sum(axis=0)])) == vector).all()
    assert null_vector(np.vstack([matrix, vector])) is None
    # Two of one column are two ways.
    assert null_vector(np.hstack([matrix, matrix[:, :1]])) is None


def random_integer(random: np.random.Generator, bits: int) -> int:
    value = int.from_bytes(random.bytes(bits // 8 + 1), "little") % 2 ** (bits + 1)
    return value - 2**bits


def test_primes_leave_room_for_sums() -> None:
    for size in (1, 10, 1000):
        prime = prime_for(size)
        assert prime**2 * size < 2**53 and all(prime % divisor for divisor in range(2, 1000))


@given(data(WILD, most=6))
def test_products_in_floats_are_no_further_off_than_they_say(points: Points) -> None:
    whole = Whole(points)
    allowed = np.zeros((len(points), len(points.classes)), bool)
    for corner in corners_of(points):
        allowed[corner] = True
    products = Products(points, allowed, whole.units)
    w: NDArray[Any] = np.array([3**i * (-1) ** i * 10**17 + i for i in range(points.dimensions)], object)
    found, errors = products.of(products.floats(w))
    exactly = {corner: Fraction(int(w @ whole.z(corner))) for corner in corners_of(points)}
    largest = max((abs(value) for value in exactly.values()), default=Fraction(0))
    if not largest:
        return
    corner = max(exactly, key=lambda one: abs(exactly[one]))
    if abs(found[corner]) < 1e-200:
        return
    factor = Fraction(found[corner]) / exactly[corner]
    slack = Fraction(errors[corner]) / abs(Fraction(found[corner]))
    for one, value in exactly.items():
        assert abs(Fraction(found[one]) - value * factor) <= Fraction(errors[one]) + abs(value * factor) * slack


def test_exact_products_are_by_definition() -> None:
    points = points_of([[0.1, 0.2], [0.3, -0.7], [1.5, 2.5]], [0, 1, 2])
    plane = Plane(np.array([[1.0, 2.0, 0.1], [0.3, -1.0, 0.7]]), np.array([0.5, 0.0, -0.5]))
    expected = sum(
        Fraction(a) * Fraction(b) for a, b in ((0.3, 2.0), (-0.7, -1.0), (-0.3, 0.1), (0.7, 0.7))
    ) + Fraction(0.5)
    assert exact_product(points, plane, 1, 2) == expected
