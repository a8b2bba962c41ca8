"""A comparison as one page of HTML, which asks nothing of the network."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING

from markone.reporting.html import fragment, page, paragraph, table, title

if TYPE_CHECKING:
    from markone.experiments.comparing import Comparison

NO_PICTURES = "There are no pictures: they need matplotlib, pip install 'markone[plot]'."


def page_of(comparison: Comparison) -> str:
    return page(f"Ways to learn from {comparison.source}", fragment(parts_of(comparison)))


def parts_of(comparison: Comparison) -> Iterator[str]:
    yield title(comparison.source)
    yield paragraph(f"{comparison.heading()}.")
    yield paragraph(comparison.verdict)
    if comparison.theory:
        yield paragraph(comparison.theory)
    yield table(comparison.grid())
    yield paragraph(
        "Accuracy is that of the tested rows, with its 95% interval. Seconds are for learning in one fold; making "
        f"features took {comparison.feature_seconds:.3f} more for each fold. Size is that of the model's file. Off by "
        "is how far probabilities are from what they say, on average; log-loss is the mean of -ln of the right class's."
    )
    for failure in comparison.failures:
        yield paragraph(f"{failure.name} took no part: {failure.reason}")
    for remark in comparison.remarks:
        yield paragraph(remark)
    if comparison.tests:
        yield title("Is one better than the next?")
        yield table(comparison.test_grid())
        yield paragraph(
            "Rows that only one of both got right, and how probable it is that two which are equally good differ so "
            "much (exact McNemar test)."
        )
    yield from pictures_of(comparison)


def pictures_of(comparison: Comparison) -> Iterator[str]:
    if importlib.util.find_spec("matplotlib") is None:
        yield paragraph(NO_PICTURES)
        return
    from markone import plots

    yield title("Accuracy")
    yield plots.svg(plots.accuracies(comparison))
    courses = [contender for contender in comparison.contenders if len(contender.validation.curve()) > 1]
    for contender in courses:
        yield title(f"Pass by pass: {contender.name}")
        yield plots.svg(plots.curves(contender.validation))
    if any(contender.has_probabilities for contender in comparison.contenders):
        yield title("Probabilities")
        yield plots.svg(plots.calibration(comparison))
    best = next((contender for contender in comparison.contenders if contender.rule is not None), None)
    if best is not None:
        yield title(f"What {best.name} takes for what")
        yield plots.svg(plots.confusion(best.validation))
