"""Advice: what a certificate means for whoever has to choose a rule, in a sentence or two."""

from __future__ import annotations

import math

from markone.features.map import FeatureMap
from markone.learning.samples import Sample
from markone.reporting.grids import plain_number
from markone.theory.certificate import Certificate
from markone.theory.certifying import certify_points
from markone.theory.points import points_by

SECONDS = 5.0
"""How long a line of advice may take."""
FEW_WRONG = 0.1
"""Where a plane has a smaller share of the rows wrong, it is near enough to separating them."""


def certificate_of(sample: Sample, features: FeatureMap, *, bias: bool) -> Certificate:
    """Whether these examples can be separated by the planes that a model with or without a bias has; features that are
    new learn them."""
    return certify_points(points_by(sample, features, bias=bias), seconds=SECONDS)


def line_from_theory(sample: Sample, features: FeatureMap, *, bias: bool) -> str:
    """The same in words, with what to do."""
    return advice(certificate_of(sample, features, bias=bias))


def advice(certificate: Certificate) -> str:
    """
    >>> from markone import certify
    >>> advice(certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])).partition(":")[0]
    'No plane separates the classes (4 examples prove it), though one does without 1 of the 4 rows'
    """
    plane = "plane" if certificate.bias else "plane through the origin"
    if certificate.separable is None:
        return (
            f"Whether a {plane} separates the classes could not be told in a few seconds; markone certify takes longer."
        )
    if certificate.separable:
        margin, bound = certificate.margin or 0.0, certificate.mistake_bound
        known = bound is not None and math.isfinite(bound)
        most = f", after at most {math.floor(bound or 0):,} mistakes" if known else ""
        return (
            f"A {plane} separates the classes, with a margin of {plain_number(margin)} where the longest row has "
            f"{plain_number(certificate.radius)}: with enough passes a perceptron learns these rows without a "
            f"mistake{most}. What counts is how a rule does on others."
        )
    proof = f" ({len(certificate.proof.rows):,} examples prove it)" if certificate.proof is not None else ""
    removed = ""
    if certificate.removal is not None:
        rows = len(certificate.removal.rows)
        removed = f", though one does without {rows:,} of the {certificate.rows:,} rows"
    return f"No {plane} separates the classes{proof}{removed}: {what_to_do(certificate)}"


def what_to_do(certificate: Certificate) -> str:
    """Where nothing separates: whether a plane comes near enough, by the fewest rows that were found in its way."""
    if few_are_wrong(certificate):
        return "the perceptron never comes to rest, so average its weights, or take mira, logistic or svm."
    return (
        "other features may, conjunctions of columns or their squares and products (conjunctions and degree in the "
        "features), or hidden layers (the rule mlp)."
    )


def few_are_wrong(certificate: Certificate) -> bool:
    """Whether a plane is known that has few rows wrong."""
    removal = certificate.removal
    return removal is not None and len(removal.rows) < FEW_WRONG * certificate.rows
