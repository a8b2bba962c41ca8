"""The scorer of each family."""

from __future__ import annotations

from markone.model.naive_bayes import NaiveBayes
from markone.model.network import Network
from markone.model.rules import FAMILIES
from markone.model.scorer import LinearScorer, Scorer

FAMILIES["online"].scorer = LinearScorer
FAMILIES["optimum"].scorer = LinearScorer
FAMILIES["svm"].scorer = LinearScorer
FAMILIES["naive-bayes"].scorer = NaiveBayes
FAMILIES["network"].scorer = Network
FAMILIES["regression"].scorer = LinearScorer


def scorer_kinds() -> dict[str, type[Scorer]]:
    """Return all kinds of scorers by their names in files."""
    return {family.scorer.kind: family.scorer for family in FAMILIES.values()}
