"""Verification: what a certificate claims, held against the examples, by code that shares nothing with what found it."""

from __future__ import annotations

from fractions import Fraction

from markone.theory.certificate import Proof
from markone.theory.points import Points


def balances(points: Points, proof: Proof) -> bool:
    """Whether the z of a proof sum to zero, exactly."""
    if not proof.rows or not len(proof.rows) == len(proof.rivals) == len(proof.weights):
        return False
    sums: dict[tuple[int, int], Fraction] = {}
    for row, rival, weight in zip(proof.rows, proof.rivals, proof.weights, strict=True):
        right = int(points.truth[row]) if 0 <= row < len(points) else rival
        if right == rival or not 0 <= rival < len(points.classes) or weight <= 0:
            return False
        features, values = points.row(row)
        x = dict(zip(features.tolist(), values.tolist(), strict=True)) | ({-1: 1.0} if points.bias else {})
        for feature, value in x.items():
            for column, sign in ((right, weight), (rival, -weight)):
                sums[feature, column] = sums.get((feature, column), Fraction(0)) + sign * Fraction(value)
    return not any(sums.values())
