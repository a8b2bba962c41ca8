"""Verification: checks the claims of a certificate on the examples, with code that is independent of the solvers.

Floats are compared first, with a bound of all rounding errors: a sum of n products has an error of at most n·2⁻⁵³ times
the sum of their absolute values, in any order of the additions. If a comparison is too close to decide, it is computed
in fractions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.reporting.shown import Content, Shown
from markone.theory.claims import Claims, Plane, Proof, Support
from markone.theory.points import Points

Floats = NDArray[np.float64]

ROWS_AT_ONCE = 2**16
EPS = 2.0**-53
SMALLEST = 2.0**-1074
ROOM = 1e-12
"""Claims are weaker than the result by this share, so that floats can confirm them on any machine."""
ADDED_AT_ONCE = 256
"""If there are very many squares, they are added in groups of this size in floats, and the sums are added exactly."""
MOST_EXACT = 1000
"""Up to this number of products, the smallest is found exactly. For more, a bound is used."""


@dataclass(frozen=True, repr=False)
class Verification(Shown):
    """Whether all claims of a certificate are true. It is true as a bool if they are."""

    holds: bool
    reason: str
    """A sentence that says what was checked, or which claim is not true."""

    def __bool__(self) -> bool:
        return self.holds

    def parts(self) -> Iterator[Content]:
        yield self.reason

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return self.reason


def verify(claims: Claims, points: Points) -> Verification:
    """Check all claims on some points."""
    failure = next(failures(claims, points), None)
    if failure is not None:
        return Verification(False, failure)
    checked = {True: "a plane that separates", False: "a proof that none does", None: "the bracket"}
    return Verification(True, f"{checked[claims.separable]} was checked on {len(points):,} rows, and is correct")


def failures(claims: Claims, points: Points) -> Iterator[str]:
    """A sentence for each claim that is not true. If the points are not those of the claims, nothing else is
    checked."""
    about = (claims.rows, claims.features, claims.classes, claims.bias)
    if about != (len(points), points.features, points.classes, points.bias):
        yield (
            f"the certificate is about {claims.rows:,} rows of {claims.features:,} features and the classes "
            f"{claims.classes}, but these are {len(points):,} rows of {points.features:,} features and the classes "
            f"{points.classes}"
        )
        return
    for wrong_in in CHECKS:
        yield from wrong_in(claims, points)


# ---- one check for each claim, which yields a sentence if the claim is not true


def wrong_radius(claims: Claims, points: Points) -> Iterator[str]:
    radius = radius_of(points)
    if not math.isclose(claims.radius, radius, rel_tol=1e-9):
        yield f"the radius is {radius:.9g}, not {claims.radius:.9g}"


def wrong_margin(claims: Claims, points: Points) -> Iterator[str]:
    """The lower end of the bracket, which the plane shows."""
    lower = claims.bracket[0]
    if not claims.separable:
        if lower != 0:
            yield f"a margin of {lower} is claimed, but no plane is said to have it"
    elif claims.plane is None:
        yield "no plane is given that separates"
    elif not 0 <= lower < math.inf:
        yield f"{lower} is not a valid margin"
    else:
        yield from misses(points, claims.plane, lower, f"a margin of {lower:.9g}")


def wrong_proof(claims: Claims, points: Points) -> Iterator[str]:
    """The proof that nothing separates."""
    if claims.separable is False:
        if claims.proof is None or not balances(points, claims.proof):
            yield "the proof's examples do not sum to zero with its weights"
        if claims.bracket[1] != 0:
            yield f"nothing separates, but a margin of {claims.bracket[1]} is said to be possible"


def wrong_limit(claims: Claims, points: Points) -> Iterator[str]:
    """The upper end of the bracket, which a point of the hull shows."""
    upper = claims.bracket[1]
    if claims.separable is False:
        return
    if claims.support is None:
        if upper != math.inf:
            yield f"nothing shows that no margin is above {upper:.9g}"
    elif not upper >= hull_bound(points, claims.support):
        yield f"the point of the hull does not show that no margin is above {upper:.9g}"


def wrong_mistake_bound(claims: Claims, points: Points) -> Iterator[str]:
    if claims.mistake_bound is None:
        return
    plane = claims.bound_plane or claims.plane
    if plane is None:
        yield "no plane is given for the bound of mistakes"
        return
    yield from flaws(points, plane)
    if not claims.mistake_bound >= mistakes_allowed(points, plane, 0):
        yield f"the plane does not show that there are at most {claims.mistake_bound:.9g} mistakes"


def wrong_removal(claims: Claims, points: Points) -> Iterator[str]:
    if claims.removal is None:
        return
    if not in_range(np.asarray(claims.removal.rows), len(points)):
        yield "a row that is to be removed does not exist"
    kept = np.setdiff1d(np.arange(len(points)), claims.removal.rows)
    yield from misses(points.some(kept), claims.removal.plane, 0, "every row that is left on its right side")


def wrong_hinge(claims: Claims, points: Points) -> Iterator[str]:
    if claims.hinge is None:
        return
    yield from flaws(points, claims.hinge.plane)
    if not claims.hinge.total >= total_hinge(points, claims.hinge.plane, 0):
        yield f"the total hinge is above {claims.hinge.total:.9g}"


CHECKS = (wrong_radius, wrong_margin, wrong_proof, wrong_limit, wrong_mistake_bound, wrong_removal, wrong_hinge)


# ---- proofs


def balances(points: Points, proof: Proof) -> bool:
    """Whether the z of a proof, with its weights, sum to zero exactly."""
    if not proof.rows or not len(proof.rows) == len(proof.rivals) == len(proof.weights):
        return False
    sums: dict[tuple[int, int], Fraction] = {}
    for row, rival, weight in zip(proof.rows, proof.rivals, proof.weights, strict=True):
        if not (0 <= row < len(points) and 0 <= rival < len(points.classes) and rival != points.truth[row]):
            return False
        if not isinstance(weight, int) or weight <= 0:
            return False
        features, values = points.row(row)
        for feature, value in [*zip(features.tolist(), values.tolist(), strict=True), *([(-1, 1.0)] * points.bias)]:
            share = weight * Fraction(value)
            right, wrong = (feature, int(points.truth[row])), (feature, rival)
            sums[right] = sums.get(right, Fraction(0)) + share
            sums[wrong] = sums.get(wrong, Fraction(0)) - share
    return not any(sums.values())


# ---- planes


def flaws(points: Points, plane: Plane) -> Iterator[str]:
    """Sentences about a plane whose numbers or shape cannot be right."""
    columns = 1 if len(points.classes) == 2 else len(points.classes)
    if plane.weights.shape != (points.features, columns) or plane.bias.shape != (columns,):
        yield f"a plane has weights of the shape {plane.weights.shape}"
    elif not (plane.is_exact or (np.isfinite(plane.weights).all() and np.isfinite(plane.bias).all())):
        yield "the weights of a plane contain NaN or infinity"
    elif not points.bias and any(plane.bias):
        yield "a plane has a bias, which it must not have"


def misses(points: Points, plane: Plane, margin: float, claim: str) -> Iterator[str]:
    """A sentence if some z has a smaller margin than this, or is on the wrong side of the plane."""
    yield from flaws(points, plane)
    level, square = Fraction(margin) * length(plane.weights), None
    for row, rival in uncertain(points, plane, level):
        product = exact_product(points, plane, row, rival)
        if product > 0 and product < level and square is None:  # the level is rounded up; the exact one takes long
            square = Fraction(margin) ** 2 * sum(Fraction(one) ** 2 for one in plane.weights.ravel().tolist())
        if product <= 0 or (square is not None and product**2 < square):
            yield f"a plane is claimed to have {claim}, but it does not"


def uncertain(points: Points, plane: Plane, level: Fraction) -> Iterator[tuple[int, int]]:
    """The z whose product may not be above a level, as far as floats can tell."""
    level /= unit_of(plane)
    for start, products, errors in float_products(points, plane):
        with np.errstate(all="ignore"):
            sure = (products - errors) * (1 - 4 * EPS) > above(level)
        for row, rival in np.argwhere(~sure).tolist():
            yield start + row, rival


def least_margin(points: Points, plane: Plane) -> float:
    """A close lower bound of the smallest margin of all examples; 0 if the plane does not separate."""
    least, norm = least_product(points, plane), length(plane.weights)
    return below(least / norm * (1 - Fraction(ROOM))) if least > 0 and norm else 0.0


def mistakes_allowed(points: Points, plane: Plane, room: float = ROOM) -> float:
    """A bound of a perceptron's mistakes, from a plane that separates: (|(w, b)|·R / ρ)²; infinite if it does not.

    With a bias, the perceptron learns it as the weight of a feature that is always 1, and R is the length with it.
    """
    least = least_product(points, plane)
    if least <= 0:
        return math.inf
    reach2 = (longest_row(points) ** 2 + points.bias) * (2 if len(points.classes) > 2 else 1)
    norm2 = length(np.concatenate([plane.weights, plane.bias[None]])) ** 2
    return above(norm2 * reach2 / least**2 * (1 + Fraction(room)))


def least_product(points: Points, plane: Plane) -> Fraction:
    """The smallest product with any z, or a lower bound where very many are about the same."""
    found: list[tuple[float, int, int]] = []
    ceiling = math.inf
    for start, products, errors in float_products(points, plane):
        with np.errstate(all="ignore"):
            low, high = products - errors, (products + errors) * (1 + 4 * EPS)
            low *= np.where(low > 0, 1 - 4 * EPS, 1 + 4 * EPS)
        low[np.isnan(low)], high[np.isnan(high)] = -math.inf, math.inf
        ceiling = min(ceiling, float(high.min()))
        found += [(float(low[i, j]), start + i, j) for i, j in np.argwhere(low <= ceiling).tolist()]
    near = [one for one in found if one[0] <= ceiling]
    if len(near) > MOST_EXACT and min(near)[0] > 0:
        return Fraction(min(near)[0]) * unit_of(plane)
    return min(exact_product(points, plane, row, rival) for _, row, rival in near)


def float_products(points: Points, plane: Plane) -> Iterator[tuple[int, Floats, Floats]]:
    """Some rows at a time: the number of the first one, the products (rows × classes), and bounds of their errors."""
    weights, bias = as_floats(plane)
    for start in range(0, len(points), ROWS_AT_ONCE):
        matrix: Any = points.matrix[start : start + ROWS_AT_ONCE].astype(np.float64)
        truth = points.truth[start : start + ROWS_AT_ONCE]
        rows, sizes = np.arange(len(truth)), sizes_of(matrix)
        terms = int(np.diff(matrix.indptr).max(initial=0)) if points.is_sparse else points.features
        with np.errstate(all="ignore"):
            scores = np.asarray(matrix @ weights) + bias
            errors = (np.asarray(sizes @ abs(weights)) + abs(bias)) * ((terms + 6) * EPS)
            errors += (np.asarray(sizes.sum(axis=1)).reshape(-1, 1) + terms) * SMALLEST
            if len(bias) == 1:  # with two classes, the weights of the first are zeros
                scores, errors = np.append(scores * 0, scores, axis=1), np.append(errors * 0, errors, axis=1)
            products = scores[rows, truth][:, None] - scores
            errors = (errors[rows, truth][:, None] + errors) * (1 + 4 * EPS)
        products[rows, truth], errors[rows, truth] = math.inf, 0
        yield start, products, errors


def sizes_of(matrix: Any) -> Any:
    """The absolute values. SciPy's `abs` would sort each row first."""
    if not hasattr(matrix, "indptr"):
        return abs(matrix)
    return type(matrix)((abs(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)


def as_floats(plane: Plane) -> tuple[Floats, Floats]:
    """Weights and bias divided by the plane's unit, as floats."""
    weights, bias = plane.weights, plane.bias
    if plane.is_exact:
        unit = unit_of(plane)
        weights, bias = (np.vectorize(float, otypes=[np.float64])(array / unit) for array in (weights, bias))
    return weights, bias


def unit_of(plane: Plane) -> Fraction:
    """The largest fraction of an exact plane, whose fractions may be too large or too small for floats; otherwise 1."""
    largest = max(map(abs, [*plane.weights.ravel(), *plane.bias])) if plane.is_exact else 1
    return Fraction(largest or 1)


def exact_product(points: Points, plane: Plane, row: int, rival: int) -> Fraction:
    features, values = points.row(row)
    right = int(points.truth[row])
    sides = [(0, 1 if right else -1)] if len(plane.bias) == 1 else [(right, 1), (rival, -1)]
    total = Fraction(0)
    for column, sign in sides:
        score = Fraction(plane.bias[column])
        for weight, value in zip(plane.weights[features, column].tolist(), values.tolist(), strict=True):
            score += Fraction(weight) * Fraction(value)
        total += sign * score
    return total


def total_hinge(points: Points, plane: Plane, room: float = 1e-9) -> float:
    """A close upper bound of Σ max(0, 1 - the smallest product of the row's z)."""
    total, unit = 0.0, above(unit_of(plane))
    for _, products, errors in float_products(points, plane):
        with np.errstate(all="ignore"):
            hinges = np.maximum(0, 1 - products * unit + errors * (2 * unit)).max(axis=1)
            total += float(hinges.sum()) * (1 + 2 * (len(hinges) + 4) * EPS)
    return total * (1 + room) if math.isfinite(total) else math.inf


# ---- points of the hull


def hull_bound(points: Points, support: Support) -> float:
    """An upper bound of all margins, from a point of the hull: |v| + |r|·max|x|, rounded up.

    v is the mean of some z, weighted by their shares, and r the mean of their signs. The bound holds because the
    smallest product of a plane is at most its mean product, and |b| is at most max|x|. With several classes |r| is half
    the sum of the absolute values, and no two b differ by more than √2·max|x|.
    """
    rows, rivals, shares = np.asarray(support.rows), np.asarray(support.rivals), np.asarray(support.shares)
    classes = len(points.classes)
    if not len(rows) == len(rivals) == len(shares) or not np.isfinite(shares).all() or not (shares >= 0).all():
        return math.inf
    if not shares.any() or not in_range(rows, len(points)) or not in_range(rivals, classes):
        return math.inf
    if (points.truth[rows] == rivals).any():
        return math.inf
    shares = np.ldexp(shares, -int(np.frexp(shares.max())[1]))
    right = points.truth[rows]
    vector2 = sway = Fraction(0)
    for column in range(1 if classes == 2 else 0, classes):
        with_it = np.flatnonzero((right == column) | (rivals == column))
        signed = np.where(right[with_it] == column, shares[with_it], -shares[with_it])
        matrix: Any = points.matrix[rows[with_it]].astype(np.float64)
        with np.errstate(all="ignore"):
            v = np.asarray(matrix.T @ signed)
            errors = np.asarray(sizes_of(matrix).T @ abs(signed)) * ((len(rows) + 2) * EPS) + len(rows) * SMALLEST
            v = (abs(v) + errors) * (1 + 2 * EPS)
        if not np.isfinite(v).all():
            return math.inf
        vector2 += length(v) ** 2
        sway += Fraction(abs(math.fsum(signed)) * (1 + 2 * EPS)) if points.bias else 0
    if classes > 2:
        sway *= root_above(Fraction(1, 2))
    total = Fraction(math.fsum(shares) * (1 - 2 * EPS))
    return above((root_above(vector2) + sway * longest_row(points)) / total)


def in_range(numbers: NDArray[Any], count: int) -> bool:
    return numbers.dtype.kind in "iu" and bool(((numbers >= 0) & (numbers < count)).all())


# ---- lengths, rounded up


def radius_of(points: Points) -> float:
    """The length of the longest row; with more than two classes √2 times that, for the longest difference vector."""
    return above(longest_row(points) * (root_above(Fraction(2)) if len(points.classes) > 2 else 1))


def longest_row(points: Points) -> Fraction:
    """The length of the longest row, rounded up so that rounding errors cannot make it too small."""
    values = points.matrix.data if points.is_sparse else points.matrix
    unit = int(np.frexp(float(abs(values).max(initial=0)))[1])
    longest = 0.0
    for start in range(0, len(points), ROWS_AT_ONCE):
        rows = points.matrix[start : start + ROWS_AT_ONCE].astype(np.float64)
        if points.is_sparse:
            rows.data = np.ldexp(rows.data, -unit) ** 2
            squares = np.asarray(rows.sum(axis=1)).ravel()
        else:
            squares = (np.ldexp(rows, -unit) ** 2).sum(axis=1)
        longest = max(longest, float(squares.max(initial=0)))
    return root_above(Fraction(longest) * (1 + Fraction((points.features + 4) * EPS))) * Fraction(2) ** unit


def length(array: NDArray[Any]) -> Fraction:
    """|w|, rounded up."""
    if array.dtype == object:
        return root_above(sum((one * one for one in array.ravel()), Fraction(0)))
    unit = int(np.frexp(float(abs(array).max(initial=0)))[1])
    squares, at_once = np.ldexp(array.ravel(), -unit) ** 2, 1
    if len(squares) > ROWS_AT_ONCE:
        at_once = ADDED_AT_ONCE
        squares = np.add.reduceat(squares, np.arange(0, len(squares), at_once))
    return root_above(Fraction(math.fsum(squares)) * (1 + Fraction((at_once + 3) * EPS))) * Fraction(2) ** unit


def root_above(square: Fraction) -> Fraction:
    """The square root, rounded up."""
    if square <= 0:
        return Fraction(0)
    shift = 2 * (80 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    root = math.isqrt(math.floor(square * Fraction(2) ** shift)) + 1
    return root * Fraction(2) ** (-shift // 2)


def above(value: Fraction) -> float:
    """The smallest float that is not below the value."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -float(np.finfo(float).max)
    return near if near >= value else math.nextafter(near, math.inf)


def below(value: Fraction) -> float:
    return -above(-value)
