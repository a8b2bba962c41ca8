"""Whether the features of a row depend on other rows. If not, a row can be left out without making them again."""

from __future__ import annotations

from markone.features.documents import Documents
from markone.features.images import Pixels
from markone.features.map import FeatureMap
from markone.features.ngrams import Ngrams
from markone.features.numbers import Numbers
from markone.features.part import Part
from markone.features.precomputed import Given


def what_learns(features: FeatureMap) -> str | None:
    """Return why the features of a row depend on the other rows, or None if they do not.

    A feature that no other row has gets another number or none if its row is left out, but no weight in either case, so
    this is not counted as a dependence.
    """
    for part in features.parts:
        reason = what_part_learns(part, features.unit)
        if reason is not None:
            return reason
    return None


def what_part_learns(part: Part, unit: bool) -> str | None:
    if isinstance(part, Documents | Pixels):
        return None
    if isinstance(part, Numbers):
        if any(
            settings.scale != "none"
            for settings, column in zip(part.settings, part.columns, strict=True)
            if column.kind == "numeric"
        ):
            return "the scale of numbers depends on the rows (unless numeric.scale = 'none')"
        return "the values for missing numbers depend on the rows" if part.gaps.any() else None
    if isinstance(part, Given):
        if part.settings.scale != "none":
            return "the scale of given rows depends on the rows (unless rows.scale = 'none')"
        return (
            None if part.dense or not unit else "the scaling of rows to length 1 depends on the features of other rows"
        )
    if isinstance(part, Ngrams):
        if part.settings.hash_bits is None:
            return "the choice of words depends on the rows (unless text.hash_bits is set)"
        return None if part.settings.weight == "none" else "the weights of words depend on the rows"
    from markone.features.emails import Emails

    if isinstance(part, Emails):
        return "whether a sender is known, or a mail was sent before, depends on the rows" if part.known else None
    return "the choice of categories, conjunctions, patches and functions depends on the rows"
