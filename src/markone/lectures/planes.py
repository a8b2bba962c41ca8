"""Labelled points in the plane: as data, as a chart with decision boundaries, and as runs of the perceptron."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from markone.lectures.topic import Table
from markone.reporting.charts import Chart, Line, Part, Points

if TYPE_CHECKING:
    from markone.theory.trace import Trace

Example = tuple[tuple[float, ...], int]
"""The coordinates of a point, and its label, which is -1 or +1."""

THREE: list[Example] = [((3, 2), 1), ((-2, 2), -1), ((-2, -3), 1)]
"""The three points on which lecture 000 runs the perceptron."""
AS_GIVEN: dict[str, Any] = {"numeric": {"scale": "none"}, "unit": False}
"""The specification of features that uses numbers without scaling."""


# ---- data


def rows_of(examples: Sequence[Example]) -> list[list[float]]:
    return [list(map(float, x)) for x, _ in examples]


def columns_of(examples: Sequence[Example]) -> dict[str, list[float]]:
    """Return the coordinates as columns with the names x1, x2, ..."""
    return {f"x{i}": list(map(float, one)) for i, one in enumerate(zip(*(x for x, _ in examples), strict=True), 1)}


def labels_of(examples: Sequence[Example]) -> list[int]:
    return [y for _, y in examples]


def table_of(examples: Sequence[Example]) -> Table:
    """Return the examples as a table with the columns x1, x2, ... and label."""
    return Table([*columns_of(examples), "label"], [[*x, f"{y:+d}"] for x, y in examples])


def made_points(
    count: int,
    seed: int,
    score: Callable[[float, float], float],
    *,
    gap: float = 0.0,
    flipped: float = 0.0,
    low: float = -3.0,
) -> list[Example]:
    """Return random points between `low` and 3, with the sign of their score as the label.

    Points whose score is at most `gap` are left out. The share `flipped` gets the wrong label.
    """
    chance = random.Random(seed)
    found: list[Example] = []
    while len(found) < count:
        x1, x2 = (round(chance.uniform(low, 3), 2) for _ in range(2))
        value = score(x1, x2)
        if abs(value) > gap:
            sign = 1 if value > 0 else -1
            found.append(((x1, x2), -sign if flipped and chance.random() < flipped else sign))
    return found


def product(w: Sequence[float], x: Sequence[float]) -> float:
    """w·x"""
    return float(sum(a * b for a, b in zip(w, x, strict=True)))


def length(w: Sequence[float]) -> float:
    """|w|"""
    return math.sqrt(product(w, w))


def rounded(w: Sequence[float], decimals: int = 2) -> tuple[float, ...]:
    return tuple(round(one, decimals) for one in w)


# ---- runs


def run_of(examples: Sequence[Example], *, bias: bool = False, epochs: int = 1000, **settings: Any) -> Trace:
    """Run the perceptron until a pass makes no mistake, and keep the mistakes."""
    from markone import trace

    return trace(
        rows_of(examples),
        labels_of(examples),
        steps=None,
        only_mistakes=True,
        bias=bias,
        epochs=epochs,
        average=False,
        **settings,
    )


def weights_in(run: Trace) -> list[tuple[float, ...]]:
    """Return w after each mistake. If there is a bias, it is the last number."""
    columns = (run.tables(after)[0].values[:, 0].tolist() for after in range(len(run)))
    return [tuple(column if run.settings.bias else column[:-1]) for column in columns]


def best_separator(examples: Sequence[Example], *, bias: bool = False) -> tuple[tuple[float, ...], float, float]:
    """Return the separator with the largest margin: w* with |w*| = 1, its bias, and its margin γ."""
    from markone import certify

    found = certify(rows_of(examples), labels_of(examples), bias=bias, tol=1e-6)
    if found.plane is None or found.margin is None:
        raise ValueError("the points are not separable")
    w = [float(one) for one in found.plane.weights[:, 0]]
    size = length(w)
    return tuple(one / size for one in w), float(found.plane.bias[0]) / size, found.margin


def mistakes(w: Sequence[float], examples: Sequence[Example], b: float = 0.0) -> int:
    """Count the examples whose margin y (w·x + b) is not positive."""
    return sum(y * (product(w, x) + b) <= 0 for x, y in examples)


def passes_of(run: Trace) -> list[int]:
    """Return the number of mistakes in each pass, up to the last pass with a mistake."""
    counts = Counter(step.epoch for step in run)
    return [counts[number] for number in range(1, max(counts) + 1)]


# ---- charts


def classes_of(examples: Sequence[Example], names: tuple[str, str] = ("+1", "-1")) -> Iterator[Points]:
    for number, (sign, name) in enumerate(zip((1, -1), names, strict=True)):
        chosen = [x for x, y in examples if y == sign]
        yield Points([x[0] for x in chosen], [x[1] for x in chosen], name, number)


def boundary(
    w: Sequence[float],
    b: float = 0.0,
    name: str = "w·x = 0",
    number: int = 2,
    *,
    reach: float = 100.0,
    dashed: bool = False,
) -> Line:
    """Return the line w1 x1 + w2 x2 + b = 0, which is long enough for every chart of the lectures."""
    size = length(w)
    foot = [-b * one / size**2 for one in w]
    along = (-w[1] / size * reach, w[0] / size * reach)
    xs, ys = zip(*((foot[0] + sign * along[0], foot[1] + sign * along[1]) for sign in (-1, 1)), strict=True)
    return Line(xs, ys, name, number, dashed)


def plane(
    examples: Sequence[Example],
    *parts: Part,
    title: str,
    names: tuple[str, str] = ("+1", "-1"),
    x: str = "x1",
    y: str = "x2",
    limits: tuple[float, float, float, float] | None = None,
) -> Chart:
    """Return a chart of the points in a square frame, with lines through it."""
    if limits is None:
        most = 1.15 * max(abs(one) for point, _ in examples for one in point[:2])
        limits = (-most, most, -most, most)
    return Chart((*parts, *classes_of(examples, names)), title=title, x=x, y=y, limits=limits, square=True)
