"""A certificate's verify: what holds is confirmed, and nothing else is."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

from markone.theory.certificate import Certificate, Hinge, Plane, Proof, Removal, Support
from markone.theory.exact import decide
from markone.theory.points import Points, open_points
from markone.theory.verification import (
    above,
    below,
    hull_bound,
    least_margin,
    least_product,
    length,
    longest_row,
    mistakes_allowed,
    radius_of,
    root_above,
    total_hinge,
    verify,
)

IRIS, SPECIES = load_iris(return_X_y=True)
XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def certificate_of(points: Points, **claims: Any) -> Certificate:
    return Certificate(
        **{
            "separable": None,
            "classes": points.classes,
            "bias": points.bias,
            "rows": len(points),
            "features": points.features,
            "radius": radius_of(points),
            "bracket": (0.0, math.inf),
            **claims,
        }
    )


def separated(points: Points, plane: Plane, **claims: Any) -> Certificate:
    bracket = (least_margin(points, plane), math.inf)
    bound = mistakes_allowed(points, plane)
    found = {"separable": True, "plane": plane, "bracket": bracket, "mistake_bound": bound}
    return certificate_of(points, **{**found, **claims})


def decided(points: Points) -> Certificate:
    found = decide(points, seconds=math.inf)
    if isinstance(found, Proof):
        return certificate_of(points, separable=False, proof=found, bracket=(0.0, 0.0))
    assert found is not None
    return separated(points, found)


# Two points at a distance of 4, whose best plane lies halfway: a margin of 2.
TWO = open_points(np.array([[1.0, 0.0], [5.0, 0.0]]), [0, 1])
BEST = Plane(np.array([[1.0], [0.0]]), np.array([-3.0]))
BOTH = Support(np.array([0, 1]), np.array([1, 0]), np.array([0.5, 0.5]))
FOUR = open_points(XOR, [0, 1, 1, 0])
ALL = Proof((0, 1, 2, 3), (1, 0, 0, 1), (1, 1, 1, 1))


def best(**claims: Any) -> Certificate:
    bracket = (least_margin(TWO, BEST), hull_bound(TWO, BOTH))
    return replace(separated(TWO, BEST, support=BOTH, bracket=bracket), **claims)


def proved(**claims: Any) -> Certificate:
    return certificate_of(FOUR, **{"separable": False, "proof": ALL, "bracket": (0.0, 0.0), **claims})


def test_what_holds_is_confirmed() -> None:
    certificate = best()
    assert certificate.margin == pytest.approx(2, rel=1e-11) and certificate.bracket[1] == pytest.approx(2, rel=1e-11)
    assert certificate.bracket[0] <= 2 <= certificate.bracket[1]
    assert certificate.mistake_bound == pytest.approx(10 * 26 / 4)
    assert verify(certificate, TWO)
    assert verify(proved(), FOUR)
    assert certificate.verify(TWO.matrix, [0, 1])
    assert proved().verify(XOR, [0, 1, 1, 0]) and proved().verify(csr_matrix(XOR), [0, 1, 1, 0])


@pytest.mark.parametrize(
    "claims",
    [
        {"bracket": (2.0000001, 2.1)},
        {"bracket": (math.nan, 2.1)},
        {"bracket": (math.inf, 2.1)},
        {"bracket": (-1.0, 2.1)},
        {"bracket": (1.0, 1.9999999)},
        {"bracket": (1.0, math.nan)},
        {"support": None},
        {"support": Support(np.array([0]), np.array([1]), np.array([1.0]))},
        {"support": Support(np.array([0, 1]), np.array([1, 0]), np.array([0.5, -0.5]))},
        {"support": Support(np.array([0, 1]), np.array([1, 0]), np.array([math.nan, 0.5]))},
        {"support": Support(np.array([0, 1]), np.array([1, 0]), np.array([0.0, 0.0]))},
        {"support": Support(np.array([0, 1]), np.array([1, 1]), np.array([0.5, 0.5]))},
        {"support": Support(np.array([0, 1]), np.array([-1, 0]), np.array([0.5, 0.5]))},
        {"support": Support(np.array([0, 2]), np.array([1, 0]), np.array([0.5, 0.5]))},
        {"support": Support(np.array([0, 1]), np.array([1, 0]), np.array([0.5]))},
        {"plane": None},
        {"plane": Plane(-BEST.weights, BEST.bias)},
        {"plane": Plane(BEST.weights, np.array([-3.1]))},
        {"plane": Plane(BEST.weights, np.array([math.nan]))},
        {"plane": Plane(np.array([[math.inf], [0.0]]), BEST.bias)},
        {"plane": Plane(BEST.weights[:1], BEST.bias)},
        {"plane": Plane(np.zeros((2, 1)), np.zeros(1))},
        {"radius": 4.9},
        {"radius": math.nan},
        {"mistake_bound": 64.0},
        {"mistake_bound": math.nan},
        {"mistake_bound": -70.0},
        {"bound_plane": Plane(BEST.weights, np.array([0.0]))},
        {"bound_plane": Plane(BEST.weights[:1], BEST.bias)},
        {"rows": 3},
        {"features": 3},
        {"classes": [0, 2]},
        {"separable": False},
        {"separable": None},
        {"removal": Removal(np.array([0]), Plane(BEST.weights, np.array([-6.0])))},
        {"removal": Removal(np.array([2]), BEST)},
        {"hinge": Hinge(0.0, Plane(BEST.weights / 3, BEST.bias / 3))},
        {"hinge": Hinge(math.nan, BEST)},
    ],
)
def test_what_does_not_hold_of_a_plane_is_not_confirmed(claims: dict[str, Any]) -> None:
    found = verify(best(**claims), TWO)
    assert not found and found.reason and not found.holds


@pytest.mark.parametrize(
    "claims",
    [
        {"removal": Removal(np.array([0]), Plane(BEST.weights, np.array([-4.0])))},
        {"removal": Removal(np.array([], np.int64), BEST)},
        {"hinge": Hinge(0.0, BEST)},
        {"bound_plane": Plane(BEST.weights * 2, BEST.bias * 2)},
        {"mistake_bound": math.inf},
        {"bracket": (1.5, 2.5)},
        {"bracket": (0.0, math.inf), "support": None},
        {"support": Support(np.array([0, 1]), np.array([1, 0]), np.array([7.0, 7.0])), "bracket": (2.0, 2.0000001)},
    ],
)
def test_whatever_else_holds_is_confirmed(claims: dict[str, Any]) -> None:
    assert verify(best(**claims), TWO), verify(best(**claims), TWO).reason


@pytest.mark.parametrize(
    "proof",
    [
        None,
        Proof((), (), ()),
        Proof((0, 1, 2, 3), (1, 0, 0, 1), (1, 1, 1, 2)),
        Proof((0, 1, 2, 3), (1, 0, 0, 1), (-1, -1, -1, -1)),
        Proof((0, 1, 2, 3), (1, 0, 0, 1), (0, 0, 0, 0)),
        Proof((0, 1, 2, 3), (1, 0, 0, 1), (1, 1, 1)),
        Proof((0, 1, 2), (1, 0, 0), (1, 1, 1)),
        Proof((0, 1, 2, 2), (1, 0, 0, 0), (1, 1, 1, 1)),
        Proof((0, 1, 2, 4), (1, 0, 0, 1), (1, 1, 1, 1)),
        Proof((0, 1, 2, -1), (1, 0, 0, 1), (1, 1, 1, 1)),
        Proof((0, 1, 2, 3), (0, 0, 0, 1), (1, 1, 1, 1)),
        Proof((0, 1, 2, 3), (1, 0, 0, 2), (1, 1, 1, 1)),
        Proof((0, 1, 2, 3), (1, 0, 0, 1), (1.0, 1.0, 1.0, 1.0)),  # type: ignore[arg-type]
        Proof((0, 1, 2, 3), (1, 0, 0, 1), (math.nan,) * 4),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_sum_to_zero_is_no_proof(proof: Proof | None) -> None:
    assert not verify(proved(proof=proof), FOUR)


def test_a_proof_must_not_come_with_a_margin() -> None:
    assert not verify(proved(bracket=(0.0, 1.0)), FOUR)
    assert not verify(proved(bracket=(-1.0, 0.0)), FOUR)


def test_a_proof_does_not_survive_another_label_or_the_last_bit_of_a_value() -> None:
    moved = XOR.copy()
    moved[3, 0] = math.nextafter(1.0, 0.0)
    assert not proved().verify(moved, [0, 1, 1, 0])
    assert not proved().verify(XOR, [0, 1, 1, 1])


def test_a_margin_that_is_short_by_the_last_bit_is_found_out() -> None:
    gap = open_points(np.array([[-1.0], [1.0]]), ["a", "b"])
    plane = Plane(np.array([[1.0]]), np.array([2.0**-53]))
    assert verify(separated(gap, plane, bracket=(1 - 2.0**-53, math.inf)), gap)
    assert not verify(separated(gap, plane, bracket=(1.0, math.inf)), gap)


def test_a_plane_is_checked_in_fractions_where_floats_would_say_zero() -> None:
    # In floats, 1e300·1e-300 - 1 and many like it have no sign that can be trusted.
    X = np.array([[1e300, 1.0], [math.nextafter(1e300, math.inf), 1.0]])
    points = open_points(X, [0, 1])
    middle = (Fraction(X[0, 0]) + Fraction(X[1, 0])) / 2
    exactly = Plane(np.array([[Fraction(1)], [Fraction(0)]], object), np.array([-middle], object))
    assert verify(separated(points, exactly), points)
    assert least_margin(points, exactly) == pytest.approx(math.ulp(1e300) / 2)
    wrong = Plane(exactly.weights, np.array([-Fraction(X[1, 0])], object))
    assert least_margin(points, wrong) == 0 and not verify(separated(points, wrong), points)


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
def test_any_certificate_that_is_made_holds_and_its_opposite_does_not(seed: int, classes: int, bias: bool) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(classes, 12))
    X = random.normal(size=(count, 2)) if seed % 2 else random.integers(-2, 3, (count, 2)).astype(float)
    points = open_points(X, np.append(np.arange(classes), random.integers(0, classes, count - classes)), bias=bias)
    certificate = decided(points)
    assert verify(certificate, points)
    assert not verify(replace(certificate, separable=not certificate.separable), points)
    if certificate.separable:
        assert not verify(replace(certificate, bracket=(certificate.bracket[0] * 1.0001 + 1e-300, math.inf)), points)
        assert not verify(replace(certificate, mistake_bound=certificate.mistake_bound * 0.9999), points)  # type: ignore[operator]
        for wrong in (Proof((0,), (1 - int(points.truth[0] > 0),), (1,)), ALL):
            assert not verify(certificate_of(points, separable=False, proof=wrong, bracket=(0.0, 0.0)), points)
    else:
        w = random.normal(size=(2, 1 if classes == 2 else classes))
        plane = Plane(w, random.normal(size=w.shape[1]) * bias)
        assert least_margin(points, plane) == 0 and mistakes_allowed(points, plane) == math.inf
        assert not verify(separated(points, plane), points)


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
def test_the_two_bounds_never_cross(seed: int, classes: int, bias: bool) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(classes, 9))
    truth = np.append(np.arange(classes), random.integers(0, classes, count - classes))
    points = open_points(random.normal(size=(count, 3)) + 3 * np.eye(4)[truth][:, :3], truth, bias=bias)
    plane = decided(points).plane
    corners = [(i, c) for i in range(count) for c in range(classes) if c != truth[i]]
    rows, rivals = np.array(corners).T
    shares = random.random(len(rows)) * (random.random(len(rows)) < 0.5)
    upper = hull_bound(points, Support(rows, rivals, shares))
    assert plane is None or least_margin(points, plane) <= upper


def test_bounds_are_what_the_formulas_say() -> None:
    points = open_points(IRIS, SPECIES)
    random = np.random.default_rng(0)
    plane = Plane(random.normal(size=(4, 3)), random.normal(size=3))
    scores = IRIS @ plane.weights + plane.bias
    products = scores[np.arange(150), SPECIES][:, None] - scores
    products[np.arange(150), SPECIES] = np.inf
    assert float(least_product(points, plane)) == pytest.approx(products.min())
    assert total_hinge(points, plane) == pytest.approx(np.maximum(0, 1 - products.min(axis=1)).sum(), rel=1e-8)
    assert total_hinge(points, plane) >= total_hinge(points, plane, 0)
    assert radius_of(points) == pytest.approx(math.sqrt(2) * np.linalg.norm(IRIS, axis=1).max())
    rivals = np.where(SPECIES == 0, 1, 0)
    shares = random.random(150)
    v, r = np.zeros((3, 4)), np.zeros(3)
    for x, right, wrong, share in zip(IRIS, SPECIES, rivals, shares / shares.sum(), strict=True):
        v[right] += share * x
        v[wrong] -= share * x
        r[right] += share
        r[wrong] -= share
    expected = np.linalg.norm(v) + abs(r).sum() / 2 * math.sqrt(2) * np.linalg.norm(IRIS, axis=1).max()
    assert hull_bound(points, Support(np.arange(150), rivals, shares)) == pytest.approx(expected, rel=1e-12)


def test_the_hinge_of_any_plane_is_above_the_proofs_bound() -> None:
    points = open_points(IRIS[50:], SPECIES[50:])
    proof = decide(points)
    assert isinstance(proof, Proof) and 1 < proof.hinge_bound < len(proof.rows)
    assert ALL.hinge_bound == pytest.approx(4)
    flat = Plane(np.zeros((2, 1)), np.zeros(1))
    assert total_hinge(FOUR, flat) >= 4 > total_hinge(FOUR, flat, 0) * (1 - 1e-12)
    random = np.random.default_rng(0)
    for _ in range(20):
        assert total_hinge(points, Plane(random.normal(size=(4, 1)), random.normal(size=1))) > proof.hinge_bound


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_lengths_are_rounded_up_by_very_little(values: list[float]) -> None:
    square = sum(Fraction(value) ** 2 for value in values)
    for found in (length(np.array(values)), longest_row(open_points(np.array([values, values]), [0, 1]))):
        assert square <= found**2 <= square * (1 + Fraction(1, 10**14))


@given(st.fractions(min_value=-(10**300), max_value=10**300))
def test_fractions_are_rounded_to_the_safe_side(value: Fraction) -> None:
    assert below(value) <= value <= above(value)
    assert above(value) - below(value) <= math.ulp(above(value)) * 2
    if value > 0:
        assert value <= root_above(value) ** 2 <= value * (1 + Fraction(1, 2**70))


def test_what_is_too_large_for_floats_is_rounded_to_the_safe_side() -> None:
    most = float(np.finfo(float).max)
    assert (below(Fraction(10) ** 400), above(Fraction(10) ** 400)) == (most, math.inf)
    assert (below(-(Fraction(10) ** 400)), above(-(Fraction(10) ** 400))) == (-math.inf, -most)


def test_many_equal_products_are_told_by_floats() -> None:
    points = open_points(np.tile([[-1.0], [1.0]], (3000, 1)), np.tile([0, 1], 3000))
    plane = Plane(np.array([[0.1]]), np.array([0.0]))
    assert 1 - 1e-11 < least_margin(points, plane) < 1
    assert verify(separated(points, plane), points)


def test_a_certificate_can_be_read_and_written_as_json() -> None:
    fraction = Plane(np.array([[Fraction(1, 3)], [Fraction(2)]], object), np.array([Fraction(-1, 7)], object))
    told = json.loads(json.dumps(replace(best(), bound_plane=fraction).as_dict()))
    assert told["separable"] is True and told["margin"] == best().margin and told["proof"] is None
    assert told["plane"]["weights"] == [[1.0], [0.0]] and told["bound_plane"]["weights"] == [["1/3"], ["2"]]
    assert json.loads(json.dumps(proved().as_dict()))["proof"]["weights"] == ["1", "1", "1", "1"]
    assert json.loads(json.dumps(certificate_of(TWO).as_dict()))["bracket"] == [0.0, None]


def test_a_certificate_prints_what_it_found() -> None:
    removal = Removal(np.array([3]), Plane(np.ones((2, 1)), np.array([-0.5])))
    text = str(proved(removal=removal, hinge=Hinge(4.0, BEST), remarks=["XOR is a classic."]))
    assert text.splitlines() == [
        "not separable: 4 rows of 2 features, 0 and 1, with a bias",
        "  radius    1.41421",
        "  proof     4 examples that no plane separates: rows 1, 2, 3, 4",
        "  removal   without 1 row the others are separable: 4",
        "  hinge     4 in total is the smallest that was found, and none is below 4",
        "XOR is a classic.",
    ]
    assert verify(proved(removal=removal), FOUR)
    assert str(best()).splitlines() == [
        "separable: 2 rows of 2 features, 0 and 1, with a bias",
        "  margin    2; no plane has more than 2",
        "  radius    5",
        "  support   2 examples",
        "  mistakes  a perceptron makes at most 65",
        "            R²/γ², with the bias as a feature: R² = 26, γ = 0.632456",
    ]
    undecided = str(certificate_of(TWO)).splitlines()
    assert undecided == ["undecided: 2 rows of 2 features, 0 and 1, with a bias", "  radius    5"]
    assert "no plane has more than 2" in str(replace(best(), separable=None, plane=None))
