"""Certificates from beginning to end: planes with a bracket of the margin, or proofs, on any examples."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.svm import SVC

import markone
from markone.cli import main
from markone.errors import DataError, SettingsError
from markone.theory import bracket as bracket_module
from markone.theory import certifying
from markone.theory.bracket import Bracket, Clock, Passes, SolverRows, embedded, take_steps
from markone.theory.points import Points
from markone.theory.soft_margin import Softest, best_length, climb, margins_by, solve_program

AND = [[0, 0], [0, 1], [1, 0], [1, 1]]


def certified(X: Any, y: Any, **how: Any) -> markone.Certificate:
    """A certificate that holds."""
    certificate = markone.certify(X, y, **how)
    verification = certificate.verify(X, y)
    assert verification, verification.reason
    return certificate


def points_of(X: Any, y: Any, bias: bool = True) -> Points:
    y = np.asarray(y)
    return Points(np.asarray(X, np.float64), y.astype(np.int64), sorted(set(y.tolist())), bias)


# ---- what is known


def test_and_can_be_separated_and_exclusive_or_cannot() -> None:
    found = certified(AND, [0, 0, 0, 1])
    assert found.separable and found.bracket == pytest.approx((math.sqrt(2) / 4,) * 2)
    assert found.proof is None and found.removal is None
    exclusive = certified(AND, [0, 1, 1, 0])
    assert exclusive.separable is False and exclusive.bracket == (0, 0)
    assert exclusive.proof is not None and exclusive.proof.weights == (1, 1, 1, 1)
    assert exclusive.proof.labels == (0, 1, 1, 0)
    assert exclusive.removal is not None and len(exclusive.removal.rows) == 1
    assert exclusive.hinge is not None and exclusive.hinge.total == pytest.approx(4)


def test_the_lectures_three_points() -> None:
    # (3,2)+, (-2,2)-, (-2,-3)+: without a bias the z are (3,2), (2,-2), (-2,-3).
    found = certified([[3, 2], [-2, 2], [-2, -3]], ["+", "-", "+"], bias=False)
    # w = (1, -1)/√2 has the products 1/√2, 4/√2 and 1/√2, and (3,2)/2 + (-2,-3)/2 is just as long.
    assert found.separable and found.bracket == pytest.approx((math.sqrt(0.5),) * 2)
    assert found.radius == pytest.approx(math.sqrt(13))
    assert found.mistake_bound == pytest.approx(26)


def test_iris() -> None:
    X, y = load_iris(return_X_y=True)
    setosa = certified(X[:100], y[:100])
    svm = SVC(kernel="linear", C=1e10, tol=1e-10).fit(X[:100], y[:100])
    best = 1 / float(np.linalg.norm(svm.coef_))
    assert setosa.separable and setosa.bracket == pytest.approx((best, best), rel=1e-6)
    assert setosa.support is not None and set(setosa.support.rows) <= set(svm.support_)
    others = certified(X[50:], y[50:])
    assert others.proof is not None and len(others.proof.rows) <= 6
    assert others.removal is not None and len(others.removal.rows) == 1
    everyone = certified(X, y)
    assert everyone.proof is not None and len(everyone.proof.rows) <= 6


def test_breast_cancer_has_a_margin_of_a_hundred_millionth_of_its_radius() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    found = certified(X, y)
    assert found.separable and found.bracket[0] > 0 and found.bracket[1] / found.bracket[0] - 1 < 1e-6
    assert found.bracket[0] / found.radius < 1e-8
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    assert certified(scaled, y).bracket[0] == pytest.approx(0.0013998, rel=1e-4)


def test_digits() -> None:
    X, y = load_digits(return_X_y=True)
    pair = (y == 3) | (y == 8)
    svm = SVC(kernel="linear", C=1e10, tol=1e-9).fit(X[pair], y[pair])
    found = certified(X[pair], y[pair])
    assert found.bracket == pytest.approx((1 / float(np.linalg.norm(svm.coef_)),) * 2, rel=1e-5)
    all_ten = certified(X, y)
    assert all_ten.separable and all_ten.bracket[1] / all_ten.bracket[0] < 1.01


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sparse_and_dense_rows_are_the_same_rows(kind: Any) -> None:
    random = np.random.default_rng(0)
    X = (random.normal(size=(60, 8)) * (random.random((60, 8)) < 0.4)).astype(kind)
    for y in ((X @ np.arange(8) > 0.2).astype(int), random.integers(0, 2, 60)):
        dense, sparse = certified(X, y), certified(scipy.sparse.csr_matrix(X), y)
        assert dense.separable == sparse.separable
        assert dense.bracket == pytest.approx(sparse.bracket, rel=0.02)


# ---- a slow exact method


def exact_margin2(z: list[list[Fraction]], signs: list[int] | None) -> Fraction | None:
    """The squared distance from 0 of the hull of all z; with signs, of the mixtures in which both have the same share.

    It is that of a mixture of some z that is nearest on their plane: all sets of z are tried, in fractions. None where
    it is 0.
    """
    best: Fraction | None = None
    for size in range(1, len(z[0]) + 3):
        for chosen in combinations(range(len(z)), size):
            rows = [[Fraction(1)] * size]
            if signs is not None:
                rows.append([Fraction(signs[i]) for i in chosen])
            shares = smallest_mixture([[z[i][j] for i in chosen] for j in range(len(z[0]))], rows)
            if shares is None or min(shares) < 0:
                continue
            point = [
                sum((s * z[i][j] for s, i in zip(shares, chosen, strict=True)), Fraction(0)) for j in range(len(z[0]))
            ]
            length2 = sum((one * one for one in point), Fraction(0))
            best = length2 if best is None or length2 < best else best
    return best or None


def smallest_mixture(matrix: list[list[Fraction]], equal: list[list[Fraction]]) -> list[Fraction] | None:
    """min |M s|² with E s = (1, 0): the solution of its equations, if there is just one."""
    size, conditions = len(matrix[0]), len(equal)
    system = [[sum((row[i] * row[j] for row in matrix), Fraction(0)) for j in range(size)] for i in range(size)]
    system = [[*line, *(row[i] for row in equal), Fraction(0)] for i, line in enumerate(system)]
    for number, row in enumerate(equal):
        system.append([*row, *[Fraction(0)] * conditions, Fraction(int(number == 0))])
    for column in range(len(system)):
        pivot = next((i for i in range(column, len(system)) if system[i][column]), None)
        if pivot is None:
            return None
        system[column], system[pivot] = system[pivot], system[column]
        system[column] = [one / system[column][column] for one in system[column]]
        for i, line in enumerate(system):
            if i != column and line[column]:
                system[i] = [a - line[column] * b for a, b in zip(line, system[column], strict=True)]
    return [line[-1] for line in system[:size]]


@st.composite
def few_points(draw: st.DrawFn) -> tuple[Any, list[int]]:
    features, rows = draw(st.integers(1, 3)), draw(st.integers(2, 7))
    X = draw(arrays(np.int64, (rows, features), elements=st.integers(-3, 3)))
    y = draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows).filter(lambda y: len(set(y)) == 2))
    scale = draw(st.sampled_from([1.0, 2.0**-300, 2.0**300, 0.1]))
    return X * scale, y


@given(few_points(), st.booleans())
@settings(max_examples=2 * settings().max_examples)
def test_brackets_contain_the_margin_of_a_slow_exact_method(data: tuple[Any, list[int]], bias: bool) -> None:
    X, y = data
    found = certified(X, y, bias=bias, tol=1e-6)
    signs = [2 * label - 1 for label in y]
    z = [[sign * Fraction(float(one)) for one in row] for sign, row in zip(signs, X, strict=True)]
    best2 = exact_margin2(z, signs if bias else None)
    assert found.separable == (best2 is not None)
    if best2 is not None:
        lower, upper = map(Fraction, found.bracket)
        assert lower**2 <= best2 <= upper**2
        assert upper - lower <= upper / 10**5
        assert found.mistake_bound is not None
        assert perceptron_mistakes(X, signs, bias) <= found.mistake_bound


def perceptron_mistakes(X: Any, signs: list[int], bias: bool) -> int:
    """Those of the perceptron that starts from zero, until it makes none, or many."""
    x = [[Fraction(float(one)) for one in row] + [Fraction(int(bias))] for row in X]
    w, mistakes = [Fraction(0)] * len(x[0]), 0
    while mistakes < 300:
        before = mistakes
        for row, sign in zip(x, signs, strict=True):
            if sign * sum((a * b for a, b in zip(w, row, strict=True)), Fraction(0)) <= 0:
                w = [a + sign * b for a, b in zip(w, row, strict=True)]
                mistakes += 1
        if mistakes == before:
            break
    return mistakes


@st.composite
def several_classes(draw: st.DrawFn) -> tuple[Any, list[int]]:
    features, rows = draw(st.integers(1, 3)), draw(st.integers(3, 12))
    X = draw(arrays(np.float64, (rows, features), elements=st.sampled_from([-2.0, -1.0, -0.1, 0.0, 0.3, 1.0, 1e6])))
    y = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows).filter(lambda y: len(set(y)) == 3))
    return X, y


@given(several_classes(), st.booleans())
def test_several_classes_have_just_one_of_the_two_certificates(data: tuple[Any, list[int]], bias: bool) -> None:
    X, y = data
    found = certified(X, y, bias=bias)
    assert found.separable is not None
    assert (found.plane is None) == (found.proof is not None)
    if found.separable:
        assert found.bracket[0] <= found.bracket[1]
        assert found.bracket[1] <= 1.02 * found.bracket[0] or (
            np.abs(X).max() >= 1e6 and "differ so much" in str(found)
        )


def test_the_margin_of_several_classes_is_that_of_a_general_solver() -> None:
    random = np.random.default_rng(1)
    y = np.arange(30) % 3
    X = random.normal(size=(30, 2)) + 6 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    z = np.array(
        [np.outer(np.eye(3)[y[i]] - np.eye(3)[c], [*X[i], 1]) for i in range(30) for c in range(3) if c != y[i]]
    )
    z = z.reshape(60, 9)
    solved = scipy.optimize.minimize(
        lambda w: (w.reshape(3, 3)[:, :2] ** 2).sum() / 2,
        np.zeros(9),
        constraints={"type": "ineq", "fun": lambda w: z @ w - 1, "jac": lambda w: z},
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert certified(X, y, tol=1e-5).bracket == pytest.approx((1 / math.sqrt(2 * solved.fun),) * 2, rel=1e-4)


# ---- input at the edge


def test_one_class_is_a_sentence() -> None:
    with pytest.raises(DataError, match="all examples have the label 1; at least two classes"):
        markone.certify([[0.0], [1]], [1, 1])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-20, 1.0, 1e20, 1e150, 1e300])
@pytest.mark.parametrize("bias", [True, False])
def test_huge_and_tiny_scales(scale: float, bias: bool) -> None:
    X, y = np.array([[3.0, 2], [-2, 2], [-2, -3]]) * scale, [1, 0, 1]
    found, plain = certified(X, y, bias=bias), certified(X / scale, y, bias=bias)
    assert found.separable
    assert np.array(found.bracket) / scale == pytest.approx(np.array(plain.bracket), rel=0.02)
    assert certified(np.array(AND) * scale, [0, 1, 1, 0], bias=bias).separable is False


def test_features_of_scales_far_apart() -> None:
    X = np.array([[1e18, 0], [1e18, 1], [-1e18, 0], [-1e18, 1]])
    found = certified(X, [0, 1, 0, 1])
    assert found.separable and found.bracket[0] <= 0.5 <= found.bracket[1]
    assert certified(X * [1, 1e-18], [0, 1, 1, 0]).separable is False


def test_far_from_the_origin() -> None:
    X = np.array([[1e9, 1e9], [1e9 + 1, 1e9]])
    assert certified(X, [0, 1]).bracket == pytest.approx((0.5, 0.5), rel=1e-6)
    assert certified(X, [0, 1], bias=False).bracket[0] > 0


def test_rows_of_zeros_equal_rows_and_points_on_a_line() -> None:
    assert certified([[0.0, 0], [1, 1], [-1, -1]], [1, 1, 0], bias=False).proof.weights == (1,)  # type: ignore[union-attr]
    assert certified([[0.0, 0], [1, 1], [-1, -1]], [1, 1, 0]).separable
    assert certified([[0.0, 0], [0, 0]], [0, 1]).proof.rows == (0, 1)  # type: ignore[union-attr]
    equal = certified([[1.0, 2], [3, 4], [1, 2], [1, 2]], [0, 1, 0, 1])
    assert equal.proof is not None and len(equal.proof.rows) == 2
    assert equal.removal is not None and len(equal.removal.rows) == 1
    line = np.array([[1.0, 2, 3]]) * np.arange(9)[:, None]
    assert certified(line, [0] * 4 + [1] * 5).bracket == pytest.approx((math.sqrt(14) / 2,) * 2)
    assert certified(line, [0] * 4 + [1] * 4 + [0]).proof is not None


def test_settings_are_checked() -> None:
    for how in ({"tol": 0}, {"seconds": -1}, {"tol": "narrow"}):
        with pytest.raises(SettingsError, match="must be a number greater than 0"):
            markone.certify(AND, [0, 0, 0, 1], **how)
    with pytest.raises(SettingsError, match="progress must be True, False or a function"):
        markone.certify(AND, [0, 0, 0, 1], progress="loud")
    with pytest.raises(DataError, match="there are no labels; give a label for each row"):
        markone.certify(AND)


# ---- many dimensions


@pytest.fixture
def wide() -> tuple[Any, Any]:
    """Rows as of texts: many features, of which each row has few."""
    random = np.random.default_rng(0)
    X = scipy.sparse.random(300, 4000, density=0.005, random_state=random, format="csr", dtype=np.float32)
    return X, random.integers(0, 2, 300)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("classes", [2, 4])
def test_passes_and_steps_agree(
    wide: tuple[Any, Any], bias: bool, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = wide[0][:24]
    y = np.arange(24) % classes
    by_passes = certified(X, y, bias=bias, tol=1e-3)
    monkeypatch.setattr(certifying, "FEW_DIMENSIONS", 10**9)
    by_steps = certified(X, y, bias=bias, tol=1e-3)
    assert by_passes.separable and by_steps.separable
    for found in (by_passes, by_steps):
        assert found.bracket[0] >= (1 - 2e-3) * found.bracket[1]
    assert by_passes.bracket[0] <= by_steps.bracket[1] and by_steps.bracket[0] <= by_passes.bracket[1]


def test_a_proof_is_found_in_many_dimensions(wide: tuple[Any, Any]) -> None:
    X, y = wide
    few = scipy.sparse.csr_matrix(([1.0, 1, 1, 2, 3], ([0, 1, 1, 2, 2], [7, 7, 9, 7, 9])), (3, 4000), dtype=np.float32)
    # Without a bias, (1, 0) and (1, 1) of one class have (2, 3)... of the other between them.
    X = scipy.sparse.vstack([X, few, scipy.sparse.csr_matrix(([1.0], ([0], [9])), (1, 4000), dtype=np.float32)]).tocsr()
    found = certified(X, [*y, 1, 0, 0, 1], bias=False)
    assert found.separable is False and found.proof is not None
    assert set(found.proof.rows) <= {300, 301, 302, 303}
    assert found.removal is not None and len(found.removal.rows) <= 2


def test_more_visits_to_those_that_move_save_passes(wide: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = wide
    twin = X[:1].tolil()
    twin[0, 0] = 0.2  # much like a row of the other class
    X, y = scipy.sparse.vstack([X, twin]).tocsr(), np.append(y, 1 - y[0])
    points = Points(X, y.astype(np.int64), [0, 1], True)
    gaps = []
    for again in (bracket_module.AGAIN, 0):
        monkeypatch.setattr(bracket_module, "AGAIN", again)
        bracket = Bracket(points)
        Passes(bracket).run(Clock(60), 1e-3, lambda what: None, until=30)
        gaps.append(bracket.gap)
    assert gaps[0] < 0.5 * gaps[1]


def test_few_rows_of_many_features_keep_their_products_in_few() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(6, 50))
    small = embedded(points_of(X, [0, 1] * 3)).matrix
    assert small.shape == (6, 6)
    np.testing.assert_allclose(small @ small.T, X @ X.T, atol=1e-12)


def test_time_that_is_over_leaves_a_bracket_and_no_guess(wide: tuple[Any, Any]) -> None:
    X, y = wide
    hurried = markone.certify(X, y, seconds=1e-9)
    assert hurried.separable is None and hurried.verify(X, y)
    assert "time ran out" in str(hurried)
    assert hurried.plane is None and hurried.proof is None
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 30)), random.integers(0, 2, 200)
    hurried = markone.certify(X, y, seconds=1e-9)
    assert hurried.separable is None and hurried.verify(X, y)


# ---- what is left where nothing separates


def test_the_total_hinge_is_near_that_of_the_linear_program() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 5))
    for classes in (2, 3):
        y = (X[:, :classes] + random.normal(size=(300, classes))).argmax(axis=1)
        points = points_of(X, y)
        plane = solve_program(points, Clock(60))
        assert plane is not None
        best = float(np.maximum(0, 1 - margins_by(points, *plane)).sum())
        found = Softest(points)
        climb(found, Clock(60))
        assert best * (1 - 1e-9) <= found.hinge <= 1.02 * best
        certificate = certified(X, y)
        assert certificate.hinge is not None and certificate.hinge.total == pytest.approx(best)


def test_large_numbers_beside_small_ones_do_not_hide_them() -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(2000, 6)) * (random.random((2000, 6)) < 0.4)
    y = (X.sum(axis=1) + random.normal(size=2000) > 0).astype(int)
    hinges = []
    for size in (1.0, 1e5):
        rows = scipy.sparse.csr_array(X * [size, 1, 1, 1, 1, 1])
        found = Softest(Points(rows, y, [0, 1], bias=True))
        climb(found, Clock(60))
        hinges.append(found.hinge)
    assert hinges[1] == pytest.approx(hinges[0], rel=0.02)


@given(arrays(np.float64, st.integers(1, 12), elements=st.integers(-8, 8).map(lambda n: n / 4)))
def test_the_best_length_of_a_plane(margins: Any) -> None:
    best = np.maximum(0, 1 - best_length(margins) * margins).sum()
    others = [
        np.maximum(0, 1 - length * margins).sum() for length in [*np.linspace(0, 8, 400), *1 / margins[margins > 0]]
    ]
    assert best <= min(others) + 1e-9


def test_flipped_labels_are_found() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 8))
    y = (X @ random.normal(size=8) > 0.1).astype(int)
    far = np.flatnonzero(abs(X[:, 0]) > 0)[:6]
    y[far] ^= 1
    found = certified(X, y)
    assert found.removal is not None and len(found.removal.rows) <= 6


# ---- how it is told


def test_progress_is_told_in_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []
    markone.certify(AND, [0, 1, 1, 0], progress=told.append)
    assert told[0] == "reading" and "searching for a plane with few rows on the wrong side" in told
    markone.certify(AND, [0, 1, 1, 0], progress=True)
    assert "searching for equal rows of different classes" in capsys.readouterr().err


@pytest.fixture
def iris_file(tmp_path: Path) -> Path:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    lines = [",".join([*map(str, row), name]) for row, name in zip(X.tolist(), names, strict=True)]
    path = tmp_path / "iris.csv"
    path.write_text("\n".join(["a,b,c,d,species", *lines]))
    return path


def test_the_command(iris_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", str(iris_file), "--target", "species"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("not separable: 150 rows of 4 features, 3 classes, with a bias")
    assert "row" in out and "rather than" in out and "versicolor" in out
    assert "without 1 row the others are separable" in out and "--rule mira" in out
    lines = iris_file.read_text().splitlines()
    iris_file.write_text("\n".join(lines[:101]))
    assert main(["certify", str(iris_file), "--target", "species", "--no-bias", "--tol", "1e-6"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("separable: 100 rows of 4 features, setosa and versicolor, without a bias")
    assert "a perceptron makes at most" in out and "--rule perceptron" in out


def test_the_command_for_machines(iris_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "certificate.json"
    assert main(["certify", str(iris_file), "--target", "species", "--json", "--save", str(saved)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["separable"] is False and facts["bad_lines"] == 0
    assert all(int(weight) > 0 for weight in facts["proof"]["weights"])
    assert "plane" not in facts and "plane" not in facts["hinge"]
    whole = json.loads(saved.read_text())
    assert len(whole["hinge"]["plane"]["weights"]) == 4 and whole["proof"] == facts["proof"]


def test_the_command_needs_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify"]) == 2
    assert "no file was given; name a file" in capsys.readouterr().err


def test_rows_are_moved_and_scaled_and_planes_come_back() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 3)) * [1, 1e3, 1e-3] + [5, 0, 1]
    points = points_of(X, [0, 1] * 10)
    for how in ({"light": 16.0}, {"light": 1.0, "stretch": True}, {"light": 0.0}):
        rows = SolverRows(points, **how)  # type: ignore[arg-type]
        found = random.normal(size=(4, 1))
        weights, bias = rows.plane(found)
        np.testing.assert_allclose(X @ weights + bias, rows.matrix @ found[:-1] + found[-1], rtol=1e-9)
        lengths = np.linalg.norm(rows.matrix, axis=1)
        if how["light"]:
            assert 0.7 <= how["light"] * math.sqrt((lengths**2).mean()) <= 1.5


def test_steps_can_start_from_those_of_others() -> None:
    X, y = load_digits(n_class=2, return_X_y=True)
    bracket = Bracket(points_of(X, y))
    found, corners = take_steps(bracket, Clock(60))
    again = Bracket(points_of(X, y))
    assert take_steps(again, Clock(60), start=corners)[0] == found == "nearest"
    assert again.upper == pytest.approx(bracket.upper)


# ---- numbers of all sizes


@given(st.data())
def test_numbers_of_all_sizes_get_the_right_answer(data: st.DataObject) -> None:
    """The unit of a column does not matter for what can be separated: the same is asked about small whole numbers,
    which linear programming answers in whole numbers, too."""
    rows, columns = data.draw(st.integers(3, 7)), data.draw(st.integers(1, 3))
    whole = np.array(
        data.draw(
            st.lists(st.lists(st.integers(-2, 2), min_size=columns, max_size=columns), min_size=rows, max_size=rows)
        )
    )
    units = data.draw(
        st.lists(st.sampled_from([5e-324, 1e-310, 1e-160, 1.0, 1e30, 1e300]), min_size=columns, max_size=columns)
    )
    y = [0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=rows - 2, max_size=rows - 2))]
    bias = data.draw(st.booleans())
    expected = markone.certify(whole.astype(float), y, bias=bias)
    X = whole * np.array(units)
    found = markone.certify(X, y, bias=bias)
    assert found.separable is expected.separable and found.verify(X, y)


def test_a_margin_below_all_floats_is_told() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])
    found = markone.certify(5e-324 * X, [0, 0, 0, 1])
    assert found.separable and found.margin == 0 and "smaller than any positive float" in str(found)
    found = markone.certify(1e-310 * X, [0, 0, 0, 1])
    assert found.margin == pytest.approx(1e-310 / 8**0.5, rel=1e-6, abs=0)
    assert markone.certify(1e300 * X, [0, 0, 0, 1]).margin == pytest.approx(1e300 / 8**0.5)
