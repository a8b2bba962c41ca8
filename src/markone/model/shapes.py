"""The shapes of a table's model: the curve of each numeric column, and the grid of each pair of columns.

The score of a row is the sum of what each part contributes: the height of each column's curve at its number, the weight
of each category, the cell of each pair, and the bias. Where texts stand beside these columns, rows are then scaled to
length 1, and the contributions with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from markone.brief import Brief
from markone.data.source import Label
from markone.features.curves import Curves
from markone.features.numbers import Numbers
from markone.reporting.charts import Cells, Chart, Line, spread
from markone.reporting.grids import label_in_words

if TYPE_CHECKING:
    from markone.features.map import FeatureMap

Array = NDArray[np.float64]

THEN_SCALED = ", before rows are scaled"
MOST_LINES = 6
"""The largest number of classes in one chart."""


@dataclass(frozen=True, slots=True, repr=False)
class ColumnCurve(Brief):
    """What a numeric column contributes to the scores, by its number."""

    column: str
    xs: Array
    """Both ends of each interval, in their order."""
    heights: dict[Label, Array]
    """The contribution at each of them, by class. Of two classes, only the second has scores."""
    unit: bool = False
    """Whether rows are scaled to length 1 afterwards."""

    @property
    def strength(self) -> float:
        """How much the contribution varies. Intervals have about the same number of rows."""
        return max(float(ys.std()) for ys in self.heights.values())

    def as_dict(self) -> dict[str, Any]:
        heights = {str(label): ys.tolist() for label, ys in self.heights.items()}
        return {"column": self.column, "x": self.xs.tolist(), "heights": heights}

    def chart(self) -> Chart:
        strongest = sorted(self.heights, key=lambda label: -float(np.ptp(self.heights[label])))[:MOST_LINES]
        alone = len(self.heights) == 1
        lines = tuple(
            Line(self.xs.tolist(), ys.tolist(), "" if alone else label_in_words(label), number)
            for number, (label, ys) in enumerate(self.heights.items())
            if label in strongest
        )
        label = f" of {label_in_words(next(iter(self.heights)))}" if alone else ""
        title = f"{self.column}: contribution to the score{label}{THEN_SCALED if self.unit else ''}"
        heights = spread([y for line in lines for y in line.ys])
        return Chart(lines, title=title, x=self.column, limits=(float(self.xs[0]), float(self.xs[-1]), *heights))


@dataclass(frozen=True, slots=True, repr=False)
class PairGrid(Brief):
    """What a pair of columns contributes to the scores, beside the curves of both."""

    first: str
    second: str
    down: list[str]
    """The intervals or categories of the first column."""
    across: list[str]
    """Those of the second."""
    weights: dict[Label, Array]
    """The contribution of each cell, by class. Of two classes, only the second has scores."""
    unit: bool = False
    """Whether rows are scaled to length 1 afterwards."""

    @property
    def strength(self) -> float:
        return max(float(cells.std()) for cells in self.weights.values())

    def as_dict(self) -> dict[str, Any]:
        weights = {str(label): cells.tolist() for label, cells in self.weights.items()}
        return {"columns": [self.first, self.second], "down": self.down, "across": self.across, "weights": weights}

    def chart(self) -> Chart:
        """The heat map. Of many classes, it shows the one whose score changes most."""
        label = max(self.weights, key=lambda one: float(self.weights[one].std()))
        then = THEN_SCALED if self.unit else ""
        title = f"{self.first} × {self.second}: contribution to the score of {label_in_words(label)}{then}"
        return Chart((Cells(self.weights[label].tolist(), self.down, self.across),), title=title)


@dataclass(frozen=True, slots=True, repr=False)
class Shapes(Brief):
    """The curves and pairs of a model, the strongest first. It is false if there are none."""

    curves: list[ColumnCurve]
    pairs: list[PairGrid]

    def __bool__(self) -> bool:
        return bool(self.curves or self.pairs)

    def as_dict(self) -> dict[str, Any]:
        return {"curves": [one.as_dict() for one in self.curves], "pairs": [one.as_dict() for one in self.pairs]}

    def charts(self, most: int | None = None) -> Iterator[Chart]:
        """Return the charts of at most so many curves, and of at most so many pairs."""
        yield from (one.chart() for one in self.curves[:most])
        yield from (one.chart() for one in self.pairs[:most])


def shapes_of(features: FeatureMap, classes: list[Label], matrix: NDArray[Any]) -> Shapes:
    """Return the shapes of a linear model with these weights (features × columns)."""
    labels = classes[1:] if matrix.shape[1] == 1 else classes
    starts = features.starts.tolist()
    lines = [(at, one) for at, one in zip(starts, features.parts, strict=False) if isinstance(one, Numbers)]
    curves: list[ColumnCurve] = []
    pairs: list[PairGrid] = []
    for start, part in zip(starts, features.parts, strict=False):
        if not isinstance(part, Curves) or not part.width:
            continue
        weights = matrix[start : start + part.width].astype(np.float64)
        for begin, column in zip(part.begins, part.curves, strict=False):
            own = weights[begin : begin + part.parts(column)]
            least, greatest = part.bounds[column]
            ends = np.clip(np.concatenate([[least], part.cuts[column], [greatest]]), least, greatest)
            xs = np.column_stack([ends[:-1], ends[1:]]).ravel()
            heights = np.repeat(own, 2, axis=0)
            for at, numbers in lines:
                scaled = (xs - numbers.center[column]) / numbers.spread[column]
                heights = heights + scaled[:, None] * matrix[at + column]
            by_class = {label: heights[:, k] for k, label in enumerate(labels)}
            curves.append(ColumnCurve(part.columns[column].name, xs, by_class, features.unit))
        for begin, pair in zip(part.begins[len(part.curves) :], part.pairs, strict=False):
            down, across = ([part.name_in_pair(i, k) for k in range(part.side(i))] for i in (pair.first, pair.second))
            grid = weights[begin : begin + len(down) * len(across)].reshape(len(down), len(across), -1)
            by_class = {label: grid[:, :, k] for k, label in enumerate(labels)}
            names = part.columns[pair.first].name, part.columns[pair.second].name
            pairs.append(PairGrid(*names, down, across, by_class, features.unit))
    curves.sort(key=lambda one: -one.strength)
    pairs.sort(key=lambda one: -one.strength)
    return Shapes(curves, pairs)
