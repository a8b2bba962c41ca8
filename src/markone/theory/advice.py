"""Advice: what a certificate means for whoever has to choose a rule, in a sentence or two."""

from __future__ import annotations

import math

from markone.features.map import FeatureMap
from markone.learning.samples import Sample
from markone.model.grids import plain_number
from markone.theory.certificate import Certificate
from markone.theory.certifying import certify_points
from markone.theory.points import points_by

SECONDS = 5.0
"""How long a line of advice may take."""


def line_from_theory(sample: Sample, features: FeatureMap) -> str:
    """Whether these examples can be separated, with what margin, and what to do; features that are new learn them."""
    return advice(certify_points(points_by(sample, features, bias=True), seconds=SECONDS))


def advice(certificate: Certificate) -> str:
    """
    >>> from markone import certify
    >>> advice(certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])).partition(":")[0]
    'No plane separates the classes (4 examples prove it), though one does without 1 of the 4 rows'
    """
    if certificate.separable is None:
        return "Whether a plane separates the classes could not be told in a few seconds; markone certify takes longer."
    if certificate.separable:
        margin, bound = certificate.margin or 0.0, certificate.mistake_bound
        known = bound is not None and math.isfinite(bound)
        most = f", and a perceptron makes at most {math.floor(bound or 0):,} mistakes" if known else ""
        return (
            f"A plane separates the classes, with a margin of {plain_number(margin)} where the longest row has "
            f"{plain_number(certificate.radius)}{most}: every rule can learn these rows without a mistake, so what "
            "counts is how it does on others."
        )
    proof = f" ({len(certificate.proof.rows):,} examples prove it)" if certificate.proof is not None else ""
    removed = ""
    if certificate.removal is not None:
        rows = len(certificate.removal.rows)
        removed = f", though one does without {rows:,} of the {certificate.rows:,} rows"
    return (
        f"No plane separates the classes{proof}{removed}: the perceptron never comes to rest, so average its weights, "
        "or take mira, logistic or svm."
    )
