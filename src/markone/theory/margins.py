"""Margins: how far each example is on the right side of a model's decision boundary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.data.blocks import as_rows
from markone.data.source import Batch
from markone.errors import DataError, SettingsError
from markone.learning.online import Linear
from markone.learning.states import without_prefix
from markone.model.margins import functional_margins
from markone.model.model import Model
from markone.parallel import count_threads, in_order
from markone.reporting.charts import Bars, Chart
from markone.reporting.grids import Grid, plain_number
from markone.reporting.shown import Content, Shown

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 16
BAR = 40
"""The longest bar of a histogram, in cells."""
EIGHTHS = " ▏▎▍▌▋▊▉"

Weights = _core.Weights32 | _core.Weights64


@dataclass(frozen=True, repr=False)
class Spread(Shown):
    """The margins of examples with one weight vector. It is printed as a histogram."""

    functional: NDArray[np.float64]
    """For each example, the score of the right class minus the best other score; with two classes, y (w·x + b)."""
    norm: float
    """|w|, without the bias; with more than two classes, the length of all classes' weights together."""

    def in_brief(self) -> str:
        return next(self.lines())

    @property
    def geometric(self) -> NDArray[np.float64]:
        """For each example, its functional margin divided by |w|. With two classes, this is its distance from the
        plane, negative on the wrong side. It is 0 if all weights are 0, because there is no plane."""
        return self.functional / self.norm if self.norm > 0 else np.zeros_like(self.functional)

    @property
    def smallest(self) -> float:
        """The smallest geometric margin, which is called the margin of the data."""
        return float(self.geometric.min())

    @property
    def negative(self) -> float:
        """The share of examples whose margin is below 0."""
        return float((self.functional < 0).mean())

    @property
    def separates(self) -> bool:
        """Whether every margin is above 0."""
        return bool((self.functional > 0).all())

    def quantiles(self, shares: tuple[float, ...] = QUANTILES) -> dict[float, float]:
        """The quantiles of the geometric margins."""
        return dict(zip(shares, np.quantile(self.geometric, shares).tolist(), strict=True))

    def histogram(self, bins: int = BINS) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The numbers of geometric margins in about `bins` ranges of equal width, and the edges of the ranges. 0 is an
        edge."""
        edges = even_edges(float(self.geometric.min()), float(self.geometric.max()), bins)
        counts, _ = np.histogram(self.geometric, edges)
        return counts.astype(np.int64), edges

    def lines(self) -> Iterator[str]:
        """A summary, and below it the histogram."""
        middle = plain_number(float(np.median(self.geometric)))
        yield f"smallest {plain_number(self.smallest)}, median {middle}; {self.negative:.1%} below 0"
        bars = self.bars()
        largest = max(1, *bars.values)
        rows = [[name, f"{count:,}", bar(count / largest)] for name, count in zip(bars.names, bars.values, strict=True)]
        yield from str(Grid([], rows, words=(0, 2))).split("\n")

    def bars(self) -> Bars:
        """The histogram as bars."""
        counts, edges = self.histogram()
        named = list(map(plain_number, edges.tolist()))
        return Bars([f"{low} to {high}" for low, high in pairwise(named)], counts.tolist())

    def parts(self) -> Iterator[Content]:
        yield next(self.lines())
        yield Chart((self.bars(),))

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def as_dict(self) -> dict[str, Any]:
        """A summary as JSON values. All margins in it are geometric."""
        counts, edges = self.histogram()
        return {
            "norm": self.norm,
            "smallest": self.smallest,
            "negative": self.negative,
            "separates": self.separates,
            "quantiles": {str(share): margin for share, margin in self.quantiles().items()},
            "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
        }


@dataclass(frozen=True, repr=False)
class Margins(Shown):
    """The margins of examples with a model's weights. It is printed as histograms."""

    last: Spread | None
    """By the last weights, which are the only ones of a rule that does not average. None where a model that averages
    has not kept them, as one that was saved as final."""
    averaged: Spread | None
    """The margins with the averaged weights."""
    examples: int
    """The number of examples with a label that the model knows."""
    passed_over: int
    """The number of examples without such a label."""

    def in_brief(self) -> str:
        found = "; ".join(f"{name}: {next(spread.lines())}" for name, spread in self.spreads().items())
        return f"{self.examples:,} examples; {found}"

    def spreads(self) -> dict[str, Spread]:
        """The margins that exist, by name."""
        both = {"averaged": self.averaged, "last": self.last}
        return {name: spread for name, spread in both.items() if spread is not None}

    def parts(self) -> Iterator[Content]:
        for name, spread in self.spreads().items():
            yield f"Margins of {self.examples:,} examples with the {name} weights"
            yield from spread.parts()

    def __str__(self) -> str:
        parts = []
        for name, spread in self.spreads().items():
            parts += [f"Margins of {self.examples:,} examples with the {name} weights", *spread.lines(), ""]
        if self.passed_over:
            parts += [f"{self.passed_over:,} examples were ignored, because the model does not know their labels.", ""]
        return "\n".join(parts[:-1])

    def as_dict(self) -> dict[str, Any]:
        """A summary as JSON values."""
        return {
            "examples": self.examples,
            "passed_over": self.passed_over,
            **{name: spread.as_dict() for name, spread in self.spreads().items()},
        }


def margins(model: Model, examples: Any, target: Any = None, *, threads: int | None = None) -> Margins:
    """Return the margins of examples with a model's averaged and last weights, and their distribution.

    Parameters
    ----------
    model
        A model with weights, that is of any rule except `naive-bayes` and `mlp`.
    examples
        A source with labels, or examples to which `target` belongs, as for `Model.evaluate`.
    target
        The right labels, if `examples` is not a source.
    threads
        The number of threads that make features. The default is the number of cores.

    Examples
    --------
    >>> import markone
    >>> points, signs = [[3, 2], [-2, 2], [-2, -3]], ["+", "-", "+"]
    >>> model = markone.train(points, target=signs, rule="perceptron", average=False, order="given", bias=False)
    >>> found = margins(model, points, signs)
    >>> found.last.functional.tolist()
    [1.0, 4.0, 1.0]
    """
    model.need_one_label("margins")
    vectors = weights_of(model)
    source = model.labelled(examples, target)
    number = model.label_numbers(source)

    def judge(batch: Batch) -> tuple[int, dict[str, NDArray[np.float64]]]:
        labels = number(batch)
        known = labels >= 0
        rows = as_rows(model.features.transform(batch))
        found = {
            name: functional_margins(weights.scores(rows)[known], labels[known]) for name, weights in vectors.items()
        }
        return len(labels), found

    total, parts = 0, []
    for size, part in in_order(judge, model.features.batches(source), count_threads(threads)):
        total += size
        parts.append(part)
    found = {name: np.concatenate([np.zeros(0), *(part[name] for part in parts)]) for name in vectors}
    count = len(next(iter(found.values())))
    if count == 0:
        raise DataError("no example has a label that the model knows, so there are no margins")
    if not all(np.isfinite(one).all() for one in found.values()):
        raise DataError("a score is NaN or infinity; the model was trained on features that are too large")
    spreads = {name: Spread(found[name], length(weights)) for name, weights in vectors.items()}
    return Margins(spreads.get("last"), spreads.get("averaged"), count, total - count)


def weights_of(model: Model) -> dict[str, Weights]:
    """The weights that a model predicts with, and the last ones, if it averages and has stored them."""
    weights = model.scorer.weights
    if weights is None:
        raise SettingsError("rule", f"is {model.settings.rule!r}, whose models have no weights and so no margins")
    if not model.settings.average:
        return {"last": weights}
    if model.resume is None:
        return {"averaged": weights}
    # With patience, the best weights are not those of the last pass.
    kept = without_prefix("best.", model.resume.arrays) or without_prefix("state.", model.resume.arrays)
    learner = Linear(model.settings, features=weights.features, classes=weights.classes, dtype=np.float32)
    learner.check_state(kept)
    learner.set_state(kept)
    return {"averaged": weights, "last": learner.weights(averaged=False)}


def length(weights: Weights) -> float:
    """|w|, without the bias."""
    return math.sqrt(float(np.square(weights.view(), dtype=np.float64).sum()))


def even_edges(low: float, high: float, bins: int) -> NDArray[np.float64]:
    """The edges of ranges with a round width that cover all numbers from `low` to `high`. Edges are multiples of the
    width.

    >>> even_edges(-0.2, 0.9, 5).tolist()
    [-0.5, 0.0, 0.5, 1.0]
    >>> even_edges(0.31, 0.42, 4).tolist()
    [0.3, 0.35, 0.4, 0.45]
    """
    most = max(abs(low), abs(high)) or 1.0
    span = max(high - low, 1e-6 * most)
    power = 10.0 ** math.floor(math.log10(span / bins))
    width = next(power * digit for digit in (1, 2, 5, 10) if power * digit * bins >= span * (1 - 1e-9))
    first = math.floor(low / width)
    last = max(first + 1, math.ceil(high / width))
    return np.array([float(f"{number * width:.12g}") for number in range(first, last + 1)])


def bar(share: float) -> str:
    """
    >>> bar(0.05)
    '██'
    """
    full, rest = divmod(round(share * BAR * 8), 8)
    return "█" * full + EIGHTHS[rest].strip()
