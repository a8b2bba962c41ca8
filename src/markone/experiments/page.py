"""A comparison as an HTML page, which needs no network."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING

from markone.experiments.verdict import capitalised
from markone.reporting.html import fragment, page, paragraph, table, title

if TYPE_CHECKING:
    from markone.experiments.comparing import Comparison

NO_PICTURES = "There are no plots because matplotlib is not installed: pip install 'markone[plot]'."


ABOUT_TESTS = {
    "accuracy": (
        "The table counts the rows that only one of the two classified correctly. p is the probability of such a "
        "difference if both are equally good (exact McNemar test)."
    ),
    "micro F1": (
        "The table counts the rows for which one of the two is right about more labels. p is the probability of such a "
        "difference in micro F1 if both are equally good (by the normal distribution of the mean over rows)."
    ),
}


def page_of(comparison: Comparison) -> str:
    return page(f"Rules compared on {comparison.source}", fragment(parts_of(comparison)))


def parts_of(comparison: Comparison) -> Iterator[str]:
    yield title(comparison.source)
    yield paragraph(f"{comparison.heading()}.")
    yield paragraph(comparison.verdict)
    if comparison.theory:
        yield paragraph(comparison.theory)
    yield table(comparison.grid())
    yield paragraph(
        f"{capitalised(comparison.metric)} is measured on the test rows, with its 95% interval. Seconds is the time of "
        f"training in one fold; making features took {comparison.feature_seconds:.3f} seconds more per fold. Size is "
        "that of the model file. Off by is the calibration error, the mean difference between the predicted "
        "probabilities and the observed frequencies. Log-loss is the mean of -ln p, where p is the probability of the "
        "right class."
    )
    for failure in comparison.failures:
        yield paragraph(f"{failure.name} could not be trained: {failure.reason}")
    for remark in comparison.remarks:
        yield paragraph(remark)
    if comparison.tests:
        yield title("Is each significantly better than the next?")
        yield table(comparison.test_grid())
        yield paragraph(ABOUT_TESTS[comparison.metric])
    if comparison.metric == "accuracy":
        yield from pictures_of(comparison)


def pictures_of(comparison: Comparison) -> Iterator[str]:
    if importlib.util.find_spec("matplotlib") is None:
        yield paragraph(NO_PICTURES)
        return
    from markone import plots

    yield title("Accuracy")
    yield plots.svg(plots.accuracies(comparison))
    with_curves = [contender for contender in comparison.contenders if len(contender.validation.curve()) > 1]
    for contender in with_curves:
        yield title(f"Pass by pass: {contender.name}")
        yield plots.svg(plots.curves(contender.validation))
    if any(contender.has_probabilities for contender in comparison.contenders):
        yield title("Probabilities")
        yield plots.svg(plots.calibration(comparison))
    best = next((contender for contender in comparison.contenders if contender.rule is not None), None)
    if best is not None:
        yield title(f"Confusion matrix of {best.name}")
        yield plots.svg(plots.confusion(best.validation))
