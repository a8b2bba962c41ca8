"""Plots explanations: the products of one prediction, and the odds and measurements of naive Bayes."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from markone.errors import DataError
from markone.model.explaining import Explanation, Row
from markone.model.odds import ClassOdds, OddsExplanation
from markone.plots.colours import BLUE, INK
from markone.plots.drawing import (
    LINE,
    TEXT,
    draw_bars,
    entitle,
    entitle_sides,
    finished,
    label_text,
    mark_of,
    name_axes,
    name_text,
    new_figure,
    panels_for,
    tidy,
)
from markone.reporting.grids import plain_number

LEAST_LINES = 4
FINITE_ODDS = 10.0
"""Infinite odds are drawn as this multiple of the largest finite odds."""


def products(found: Any) -> Figure:
    """Draw why a model makes its prediction for an example: the product of each feature's value and weight.

    Bars to the right support the class that the title names there, and bars to the left the other one. What is not
    shown is added up as the last bar.

    Parameters
    ----------
    found
        The `Explanation` of a prediction, as `model.explain(example)` gives it.
    """
    if not isinstance(found, Explanation):
        raise DataError(f"this plot needs the explanation of a prediction, not a {type(found).__name__}")
    rows = found.difference.rows
    shown = rows if len(rows) - found.top <= 1 else rows[: found.top]
    names, values = list(map(in_words, shown)), [row.product for row in shown]
    if len(shown) < len(rows) and found.adds_up:
        names.append(f"{len(rows) - len(shown):,} more features")
        values.append(sum(row.product for row in rows[len(shown) :]))
    figure = new_figure(6, 1.4 + LINE * len(names))
    axes = figure.add_subplot()
    draw_bars(axes, names, values)
    entitle_sides(axes, label_text(found.speaks_against), label_text(found.difference.label))
    name_axes(axes, "value × weight" if found.adds_up else "what the score loses without the feature")
    what = "score" if len(found.tables) == 1 else "difference of scores"
    title = f"prediction: {label_text(found.prediction)}; {what} {plain_number(found.difference.score)}"
    figure.suptitle(title, fontsize=TEXT, color=INK, x=0.01, ha="left")
    return finished(figure, f"The features behind the {title}")


def in_words(row: Row) -> str:
    """Return the feature with its value, if this is not just 1."""
    value = plain_number(row.value)
    return row.feature if value == "1" else f"{name_text(row.feature, less=len(value) + 3)} = {value}"


def odds(found: Any) -> Figure:
    """Draw the largest odds of a naive Bayes model: how much more probable a feature is in a class than elsewhere.

    Odds that are infinite are hatched, and their names say so.

    Parameters
    ----------
    found
        The `OddsExplanation` of a model, as `model.explain()` gives it for the rule `naive-bayes`.
    """
    if not isinstance(found, OddsExplanation):
        raise DataError(f"this plot needs the odds of a naive Bayes model, not a {type(found).__name__}")
    drawn = [one for one in found.classes if one.ratios]
    if not drawn:
        raise DataError("this model has no odds to draw: its features are measurements, which have means instead")
    longest = max(min(found.top, len(one.ratios)) for one in drawn)
    finite = [ratio.odds for one in drawn for ratio in one.ratios[: found.top] if math.isfinite(ratio.odds)]
    edge = FINITE_ODDS * max(finite, default=1.0)
    figure, panels = panels_for(len(drawn), longest, (name for one in drawn for name in names_in(one, found.top)))
    for axes, one in zip(panels, drawn, strict=True):
        draw_odds(axes, one, found.top, longest, edge)
    return finished(figure, f"The largest odds of {len(drawn)} classes")


def measurements(found: Any) -> Figure:
    """Draw the measurements of a naive Bayes model: their mean in each class, and one standard deviation around it.

    Parameters
    ----------
    found
        The `OddsExplanation` of a model, as `model.explain()` gives it for the rule `naive-bayes`.
    """
    if not isinstance(found, OddsExplanation):
        raise DataError(f"this plot needs a naive Bayes model's explanation, not a {type(found).__name__}")
    shown = found.numbers[: found.top]
    if not shown:
        raise DataError("this model has no measurements to draw: its features are counts, which have odds instead")
    labels = [label_text(one.label) for one in found.classes]
    figure, panels = panels_for(len(shown), max(len(labels), LEAST_LINES), labels, share=False)
    for axes, number in zip(panels, shown, strict=True):
        tidy(axes, grid="x")
        for place, (mean, deviation) in enumerate(zip(number.mean, number.deviation, strict=True)):
            colour, marker = mark_of(place)
            axes.errorbar(
                [mean], [place], xerr=[deviation], fmt=marker, color=colour, markersize=5, linewidth=2, alpha=0.9
            )
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
        axes.locator_params(axis="x", nbins=4)
        entitle(axes, name_text(number.feature, less=8))
    count = f"{len(shown)} of {len(found.numbers)}" if len(shown) < len(found.numbers) else str(len(shown))
    return finished(figure, f"Mean and standard deviation of {count} measurements in each class")


def names_in(one: ClassOdds, top: int) -> list[str]:
    shown = one.ratios[:top]
    return [f"{name_text(ratio.feature, less=4)}{': ∞' if math.isinf(ratio.odds) else ''}" for ratio in shown]


def draw_odds(axes: Any, one: ClassOdds, top: int, lines: int, edge: float) -> None:
    shown = one.ratios[:top]
    infinite = [math.isinf(ratio.odds) for ratio in shown]
    draw_bars(
        axes, names_in(one, top), [math.log10(edge if math.isinf(ratio.odds) else ratio.odds) for ratio in shown], lines
    )
    for bar, endless in zip(axes.patches, infinite, strict=True):
        if endless:
            bar.set(facecolor="none", edgecolor=BLUE, hatch="////")
    axes.set_xlim(0, math.log10(edge) * 1.05 or 1.0)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda power, _: f"{10**power:,.3g} : 1"))
    axes.locator_params(axis="x", nbins=2)
    entitle(axes, label_text(one.label))
