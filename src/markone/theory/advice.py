"""Advice: one or two sentences that say what a certificate means for the choice of a rule."""

from __future__ import annotations

import math
from collections.abc import Callable

from markone.features.map import FeatureMap
from markone.learning.samples import Sample
from markone.reporting.grids import plain_number
from markone.theory.certificate import Certificate
from markone.theory.certifying import certify_points
from markone.theory.points import points_by

SECONDS = 5.0
"""The time limit for a line of advice."""
FEW_WRONG = 0.1
"""If a plane has a smaller share of rows on the wrong side, it almost separates the classes."""


def certificate_of(sample: Sample, features: FeatureMap, *, bias: bool) -> Certificate:
    """Certify whether the planes of a model, with or without a bias, can separate these examples. Features that are not
    fitted are fitted on them."""
    return certify_points(points_by(sample, features, bias=bias), seconds=SECONDS)


def line_from_theory(sample: Sample, features: FeatureMap, *, bias: bool) -> str:
    """The certificate in words, with advice."""
    certificate = certificate_of(sample, features, bias=bias)
    return advice(certificate, with_bias(certificate, lambda: certificate_of(sample, features, bias=True)))


def with_bias(certificate: Certificate, search: Callable[[], Certificate]) -> Certificate | None:
    """The certificate with a bias that `search` finds, if the given one is without a bias and nothing separates."""
    return search() if certificate.separable is False and not certificate.bias else None


def advice(certificate: Certificate, biased: Certificate | None = None) -> str:
    """The certificate in words, with advice. `biased` is the result of `with_bias`.

    >>> from markone import certify
    >>> advice(certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])).partition(":")[0]
    'No plane separates the classes (4 examples prove it), but one does after removing 1 of the 4 rows'
    """
    plane = certificate.plane_in_words
    if certificate.separable is None:
        return (
            f"It could not be decided within a few seconds whether a {plane} separates the classes; markone certify "
            "takes more time."
        )
    if certificate.separable:
        margin, bound = certificate.margin or 0.0, certificate.mistake_bound
        known = bound is not None and math.isfinite(bound)
        most = f", after at most {math.floor(bound or 0):,} mistakes" if known else ""
        return (
            f"A {plane} separates the classes, with a margin of {plain_number(margin)} where the longest row has "
            f"{plain_number(certificate.radius)}: with enough passes a perceptron learns these rows without a "
            f"mistake{most}. What counts is the accuracy on other rows."
        )
    proof = ""
    if certificate.proof is not None:
        size = len(certificate.proof.rows)
        proof = f" ({size:,} examples prove it)" if size > 1 else " (1 example proves it)"
    removed = ""
    if certificate.removal is not None:
        rows = len(certificate.removal.rows)
        removed = f", but one does after removing {rows:,} of the {certificate.rows:,} rows"
    return f"No {plane} separates the classes{proof}{removed}: {what_to_do(certificate, biased)}"


def what_to_do(certificate: Certificate, biased: Certificate | None = None) -> str:
    """Advice if nothing separates. It depends on whether a bias is enough, and on whether a plane has only few rows on
    the wrong side."""
    if biased is not None and biased.separable:
        return "use a bias, with which a plane separates them."
    if certificate.bias:
        bias = ""
    elif biased is not None and biased.separable is False:
        bias = "a bias is not enough, because no other plane separates them either; "
    else:
        bias = "a bias may be enough, because planes may then lie anywhere; "
    if few_are_wrong(certificate):
        return f"{bias}the perceptron never converges, so average its weights, or use mira, logistic or svm."
    return (
        f"{bias}other features may help, such as conjunctions of columns or their squares and products (conjunctions "
        "and degree in the features), or hidden layers (the rule mlp)."
    )


def few_are_wrong(certificate: Certificate) -> bool:
    """Whether a plane is known that has few rows on the wrong side."""
    removal = certificate.removal
    return removal is not None and len(removal.rows) < FEW_WRONG * certificate.rows
