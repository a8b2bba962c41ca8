"""Dixon's algorithm (1982): exact solutions of linear equations in whole numbers, digit by digit.

The matrix is inverted once, modulo a prime p. Each step then finds the next digit, in base p, of a solution modulo
higher and higher powers of p, and costs two products of a matrix with a vector. Once there are enough digits, the
solution's fractions can be reconstructed from them. Digits are so small that floats compute their products exactly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[Any]
"""Python's whole numbers, in an array of objects."""
Residues = NDArray[np.int64]
Digits = NDArray[np.float64]
"""Residues as floats, for quick products."""

FIRST_DIGITS = 8
FEW = 32


def null_vector(matrix: Integers) -> Integers | None:
    """Weights with which the columns sum to zero: whole numbers without a common factor; None unless they are unique.

    Its sign is chosen so that the first number that is not zero is positive.
    """
    prime = prime_for(max(matrix.shape))
    rows, columns = independent(remainders(matrix, prime), prime)
    if len(columns) != matrix.shape[1] - 1:
        return None
    (free,) = set(range(matrix.shape[1])) - set(columns)
    solution = solve(matrix[np.ix_(rows, columns)], -matrix[rows, free], prime) if columns else ([], 1)
    if solution is None:
        return None
    tops, bottom = solution
    vector = np.zeros(matrix.shape[1], object)
    vector[columns], vector[free] = tops, bottom
    vector //= math.gcd(*vector)
    if vector[np.flatnonzero(vector)[0]] < 0:
        vector = -vector
    # The prime may have been unlucky: what holds modulo it need not hold.
    return None if (matrix @ vector).any() else vector


def solve(matrix: Integers, wanted: Integers, prime: int) -> tuple[list[int], int] | None:
    """Solves matrix·x = wanted for a square matrix: the numerators of x, and their common denominator."""
    inverse = inverted(remainders(matrix, prime).astype(np.float64), prime)
    limbs = Limbs(matrix, prime)
    # By Hadamard's bound no determinant, and so no numerator or denominator, has more bits.
    sizes = [math.isqrt(int((column * column).sum())) + 1 for column in [*matrix.T, wanted]]
    enough = math.ceil((2 * sum(size.bit_length() for size in sizes) + 2) / math.log2(prime)) + 1
    rest, value, power, digits, next_try = wanted, np.zeros(len(wanted), object), 1, 0, FIRST_DIGITS
    while True:
        digit = np.mod(inverse @ remainders(rest, prime).astype(np.float64), prime)
        rest = (rest - limbs.times(digit)) // prime
        value = value + digit.astype(np.int64).astype(object) * power
        power, digits = power * prime, digits + 1
        if digits in (next_try, enough):
            next_try *= 2
            found = fractions_of(value.tolist(), power)
            if found is not None and not (matrix @ np.array(found[0], object) - wanted * found[1]).any():
                return found
            if digits == enough:
                return None


class Limbs:
    """A matrix of large numbers as a sum of matrices of small ones."""

    def __init__(self, matrix: Integers, prime: int) -> None:
        self.bits = 53 - prime.bit_length() - len(matrix).bit_length()
        sizes: Integers = abs(matrix)
        signs = np.where(matrix < 0, -1.0, 1.0)
        self.parts: list[Digits] = []
        while sizes.any():
            self.parts.append((sizes & (1 << self.bits) - 1).astype(np.float64) * signs)
            sizes = sizes >> self.bits

    def times(self, digits: Digits) -> Integers:
        total = np.zeros(len(digits), object)
        for place, part in enumerate(self.parts):
            total = total + ((part @ digits).astype(np.int64).astype(object) << (place * self.bits))
        return total


def fractions_of(values: list[int], power: int) -> tuple[list[int], int] | None:
    """Numerators and a common denominator of the fractions with these values modulo a power, if they are small
    enough."""
    limit = math.isqrt(power // 2)
    bottom, tops = 1, list[int]()
    for value in values:
        top = value * bottom % power
        top -= power * (top > power // 2)
        if abs(top) > limit:
            found = fraction_of(value * bottom % power, power, limit)
            if found is None or abs(bottom * found[1]) > limit:
                return None
            top, factor = found
            tops, bottom = [one * factor for one in tops], bottom * factor
        tops.append(top)
    return (tops, bottom) if bottom > 0 else ([-top for top in tops], -bottom)


def fraction_of(value: int, power: int, limit: int) -> tuple[int, int] | None:
    """The numerator and the denominator, by Euclid's algorithm, stopped halfway (Wang 1981)."""
    before, now = (power, 0), (value, 1)
    while now[0] > limit:
        quotient = before[0] // now[0]
        before, now = now, (before[0] - quotient * now[0], before[1] - quotient * now[1])
    return now if 0 < abs(now[1]) <= limit else None


# ---- modulo a prime


def prime_for(size: int) -> int:
    """The largest prime for which a sum of so many products of two digits has no rounding."""
    prime = math.isqrt(2**53 // max(size, 1)) - 1
    while any(prime % divisor == 0 for divisor in range(2, math.isqrt(prime) + 1)):
        prime -= 1
    return prime


def remainders(numbers: Integers, prime: int) -> Residues:
    return np.asarray(numbers % prime, np.int64)


def independent(matrix: Residues, prime: int) -> tuple[list[int], list[int]]:
    """Rows and columns, as many as the rank, in which the matrix can be inverted."""
    matrix = matrix.copy()
    rows, columns = np.arange(len(matrix)), list[int]()
    for column in range(matrix.shape[1]):
        rank = len(columns)
        candidates = np.flatnonzero(matrix[rank:, column])
        if not len(candidates):
            continue
        pivot = rank + candidates[0]
        matrix[[rank, pivot]], rows[[rank, pivot]] = matrix[[pivot, rank]], rows[[pivot, rank]]
        factors = matrix[rank + 1 :, column] * pow(int(matrix[rank, column]), -1, prime) % prime
        below = np.flatnonzero(factors)
        matrix[rank + 1 + below, column:] -= factors[below, None] * matrix[rank, None, column:]
        matrix[rank + 1 + below, column:] %= prime
        columns.append(column)
    return rows[: len(columns)].tolist(), columns


def inverted(matrix: Digits, prime: int) -> Digits:
    """The inverse, by quarters of the matrix, without pivoting: rows and columns must be in the order that
    `independent` gives."""
    if len(matrix) <= FEW:
        return inverted_by_rows(matrix.astype(np.int64), prime).astype(np.float64)
    half = len(matrix) // 2
    a, b, c, d = matrix[:half, :half], matrix[:half, half:], matrix[half:, :half], matrix[half:, half:]
    a = inverted(a, prime)
    left, right = c @ a % prime, a @ b % prime
    d = inverted((d - left @ b) % prime, prime)
    below, beside = -d @ left % prime, -right @ d % prime
    return np.block([[(a - beside @ left) % prime, beside], [below, d]])


def inverted_by_rows(matrix: Residues, prime: int) -> Residues:
    size = len(matrix)
    both = np.concatenate([matrix, np.eye(size, dtype=np.int64)], axis=1)
    for row in range(size):
        both[row] = both[row] * pow(int(both[row, row]), -1, prime) % prime
        factors = both[:, row].copy()
        factors[row] = 0
        both = (both - factors[:, None] * both[row]) % prime
    return both[:, size:]
