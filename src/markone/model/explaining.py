"""Explanations: of a prediction, as the lecture's table that sums to the score; of a model, by its strong features."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone import _core
from markone.brief import Brief, of_fields
from markone.data.blocks import Sparse, as_rows
from markone.data.source import Label
from markone.data.strings import Strings
from markone.errors import SettingsError
from markone.features.map import BIAS, FeatureMap
from markone.features.ngrams import Ngrams
from markone.model.counts import STRONGEST, Counts, Weights, strongest
from markone.reporting import html
from markone.reporting.grids import SCREEN, Grid, label_in_words, plain_number, signed_numbers, visible
from markone.reporting.marking import MarkedText, mark

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

    from markone.model.model import Model

LABEL_WIDTH = 10
"""Of a label above a column."""


class Shown(Brief):
    """What can be seen as plain text, on a terminal, as HTML and in a notebook."""

    __slots__ = ()

    def parts(self) -> Iterator[str | Grid | list[MarkedText]]:
        """Sentences, tables and marked texts, as one reads them."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """All of it, in what JSON has."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Without colours, for a screen of 80 columns."""
        return "\n".join(as_plain(part) for part in self.parts() if not isinstance(part, list))

    def html(self) -> str:
        """A page of its own, which can be saved and opened in a browser."""
        return html.page("Explanation", self._repr_html_())

    def _repr_html_(self) -> str:
        return html.fragment(line for part in self.parts() for line in as_html(part))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        colours = console.color_system is not None and not console.no_color
        for part in self.parts():
            yield from as_rich(part, colours, options.max_width)


def as_plain(part: str | Grid) -> str:
    return textwrap.fill(visible(part), SCREEN) if isinstance(part, str) else str(part)


def as_html(part: str | Grid | list[MarkedText]) -> Iterator[str]:
    if isinstance(part, str):
        yield from [html.paragraph(part)] if part else []
    elif isinstance(part, Grid):
        yield html.table(part)
    else:
        for text in part:
            yield from [html.title(text.column)] if len(part) > 1 else []
            yield html.marked(text, largest_mark(part))


def as_rich(part: str | Grid | list[MarkedText], colours: bool, width: int) -> Iterator[Text]:
    """Never as strings, in which rich would look for markup."""
    from rich.text import Text

    if isinstance(part, str):
        yield Text(visible(part))
    elif isinstance(part, Grid):
        styles = {"head": "bold", "row": "", "last": "bold"}
        for line, kind in part.lines(width):
            yield Text(line, style=styles[kind], no_wrap=True, overflow="crop")
    else:
        for text in part:
            yield from [Text(f"{visible(text.column)}:", style="bold")] if len(part) > 1 else []
            largest = largest_mark(part)
            yield text.rich(largest) if colours else Text(text.plain(largest))
        yield Text()


def largest_mark(texts: list[MarkedText]) -> float:
    return max((text.largest for text in texts), default=0.0)


# ---- one prediction


class Row(NamedTuple):
    """What one feature adds to a score."""

    feature: str
    value: float
    weight: float | None
    """None where it has none of its own."""
    product: float

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class ScoreTable(Brief):
    """The score of a class, feature by feature."""

    label: Label
    score: float
    """The sum of the products: to the bit, once it is rounded, what `scores` gives."""
    rows: list[Row]
    """Features that are not 0 in the example, and BIAS, whose value is 1: first what decided most."""

    def as_dict(self) -> dict[str, Any]:
        return {"label": plain_label(self.label), "score": self.score, "rows": [row._asdict() for row in self.rows]}


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Shown):
    """Why a model predicts what it predicts for one example.

    Of two classes the first scores 0 and the second has all the weights. So there is one table, that of the second
    class: what is positive in it speaks for the second class, and what is negative for the first. Of more classes there
    are the tables of the winner and of the runner-up, and their difference: what is positive there speaks for the
    winner, and what is negative for the runner-up. The words of texts are marked in the same sense.
    """

    prediction: Label
    """The class that wins."""
    runner_up: Label
    """The best of the others."""
    tables: tuple[ScoreTable, ...]
    """Of two classes that of the second; of more that of the winner and that of the runner-up, whose rows are of the
    same features in the same order."""
    difference: ScoreTable
    """What decided: of two classes the same table once more; of more the winner's minus the runner-up's. Its label is
    what a positive product, or mark, speaks for."""
    speaks_against: Label
    """What a negative one speaks for."""
    texts: list[MarkedText]
    """The texts of the example, if n-grams are made of them. Marks are of n-grams alone: what BIAS or a lexicon speaks
    for is in the tables only."""
    top: int
    """So many rows are shown; `as_dict` and the tables have all."""
    adds_up: bool = True
    """Whether the products add up to the score. In a network features speak together: there a row's product is what
    the score would lose without the feature, and there are no weights."""

    def in_brief(self) -> str:
        return f"{self.prediction!r}, then {self.runner_up!r}"

    def as_dict(self) -> dict[str, Any]:
        found = {
            "prediction": plain_label(self.prediction),
            "runner_up": plain_label(self.runner_up),
            "tables": [table.as_dict() for table in self.tables],
            "texts": [text.as_dict() for text in self.texts],
        }
        return found if len(self.tables) == 1 else {**found, "difference": self.difference.as_dict()}

    def parts(self) -> Iterator[str | Grid | list[MarkedText]]:
        score, speaks_for = f"{self.difference.score:.6g}", label_in_words(self.difference.label)
        if len(self.tables) == 1:
            yield f"prediction: {label_in_words(self.prediction)}"
            what = f"The score of {speaks_for} is {score}"
        else:
            first, second = (f"{label_in_words(table.label)}, which scores {table.score:.6g}" for table in self.tables)
            yield f"prediction: {first}; next is {second}"
            what = f"The difference is {score}"
        against = label_in_words(self.speaks_against)
        yield f"{what}: what is positive speaks for {speaks_for}, what is negative for {against}."
        if not self.adds_up:
            yield "Each line says what the score would lose without the feature; together they need not add up to it."
        if self.texts:
            yield self.texts
        yield self.grid()

    def grid(self) -> Grid:
        """The tables side by side, cut to the rows that are shown."""
        columns = self.tables if len(self.tables) == 1 else (*self.tables, self.difference)
        count = len(self.difference.rows)
        shown = min(self.top, count) if count - self.top != 1 else count  # instead of one more there is room for it
        labels, heads = ["", ""], ["feature", "value"]
        cells = [[row.feature, plain_number(row.value)] for row in self.difference.rows[:shown]]
        more, total = (
            ["and 1 more feature" if count - shown == 1 else f"and {count - shown:,} more features", ""],
            ["sum" if self.adds_up else "score", ""],
        )
        for table in columns:
            rest = sum(row.product for row in table.rows[shown:])
            *products, others, score = signed_numbers([*(row.product for row in table.rows[:shown]), rest, table.score])
            if table is self.difference and len(columns) > 1:
                labels, heads = [*labels, ""], [*heads, "difference"]
            else:
                own = ["weight", "product"] if self.adds_up else ["share"]
                labels += len(own) * [label_in_words(table.label, LABEL_WIDTH)]
                heads += own
                if self.adds_up:
                    for line, row in zip(cells, table.rows[:shown], strict=True):
                        line.append("" if row.weight is None else plain_number(row.weight))
                    more, total = [*more, ""], [*total, ""]
            for line, product in zip(cells, products, strict=True):
                line.append(product)
            more, total = [*more, others], [*total, score]
        last = [more, total] if shown < count and self.adds_up else [total]
        if len(columns) == 1:
            return Grid([heads], cells, last, spare=[1, 2] if self.adds_up else [1])
        return Grid([labels, heads], cells, last, spare=[2, 4, 1, 5, 3] if self.adds_up else [1, 3, 2])


def explain_examples(model: Model, examples: Any, top: int) -> Iterator[Explanation]:
    """One after the other."""
    for batch in model.features.batches(examples):
        matrix = model.features.transform(batch)
        scores = model.scorer.scores(as_rows(matrix))
        texts = {
            column.name: Strings.of_arrow(batch.columns[column.name])
            for column in model.features.columns
            if column.kind == "text"
        }
        for row, score in enumerate(scores):
            yield explain_row(model, matrix, row, score, texts, top)


def explain_row(
    model: Model,
    matrix: NDArray[np.float32] | Sparse,
    row: int,
    scores: NDArray[np.float32],
    texts: dict[str, Strings],
    top: int,
) -> Explanation:
    winner, second = first_and_second(scores, model._tie)
    # A score of its own has each class, or just the second of two.
    columns = [winner, second] if len(scores) > 1 else [0]
    features, values, lanes = features_of(matrix, row, multiclass=len(scores) > 1)
    weights, products, bias, sums = model.scorer.contributions(features, values, columns, lanes)
    decided, decided_weights, decided_sum = products[:, 0], weights[:, 0], float(sums[0])
    decided_bias = float(bias[0])
    if len(columns) > 1:
        decided, decided_weights = products[:, 0] - products[:, 1], weights[:, 0] - weights[:, 1]
        decided_sum, decided_bias = float(sums[0] - sums[1]), float(bias[0] - bias[1])

    there = np.flatnonzero(values)
    names = [model.features.name(number) for number in features[there].tolist()]
    has_bias = model.scorer.adds_up and (model.settings.bias or bias.any())
    contributions = np.append(decided[there], decided_bias)[: len(there) + has_bias]
    order = np.argsort(-abs(contributions), kind="stable").tolist()

    def table(number: int, score: float, weight: NDArray[Any], product: NDArray[Any], bias: float) -> ScoreTable:
        own = [None if math.isnan(one) else one for one in weight[there].tolist()]
        facts = zip(names, values[there].tolist(), own, product[there].tolist(), strict=True)
        rows = [*(Row(*one) for one in facts), Row(BIAS, 1.0, bias, bias)]
        return ScoreTable(model.classes[number], score, [rows[i] for i in order])

    of_classes = columns if len(columns) > 1 else [1]
    tables = tuple(
        table(number, float(sums[k]), weights[:, k], products[:, k], float(bias[k]))
        for k, number in enumerate(of_classes)
    )
    difference = tables[0] if len(tables) == 1 else table(winner, decided_sum, decided_weights, decided, decided_bias)
    spoken = dict(zip(features[there].tolist(), decided[there].tolist(), strict=True))
    marked = mark_texts(model.features, {name: some.bytes_of(row) for name, some in texts.items()}, spoken)
    prediction, runner_up, against = (model.classes[i] for i in (winner, second, second if len(columns) > 1 else 0))
    return Explanation(prediction, runner_up, tables, difference, against, marked, top, model.scorer.adds_up)


def first_and_second(scores: NDArray[np.float32], tie: _core.Tie) -> tuple[int, int]:
    """The class that wins, and the one that would win without it."""
    winner = int(_core.winners(scores[None, :], tie)[0])
    if len(scores) == 1:
        return winner, 1 - winner
    others = np.delete(scores, winner)
    second = int(_core.winners(others[None, :], tie)[0]) if len(others) > 1 else 0
    return winner, second + (second >= winner)


def features_of(
    matrix: NDArray[np.float32] | Sparse, row: int, *, multiclass: bool
) -> tuple[NDArray[np.uint32], NDArray[np.float64], int]:
    """The features of a row and their values, as the core visits them, and into how many partial sums it adds them."""
    if isinstance(matrix, Sparse):
        here = slice(int(matrix.indptr[row]), int(matrix.indptr[row + 1]))
        return matrix.indices[here], matrix.data[here].astype(np.float64), 2 if multiclass else 8
    values = matrix[row].astype(np.float64)
    if multiclass:
        features = np.flatnonzero(values)
        return features.astype(np.uint32), values[features], 2
    return np.arange(len(values), dtype=np.uint32), values, 8 if len(values) < 64 else 32


def mark_texts(features: FeatureMap, texts: dict[str, bytes], spoken: dict[int, float]) -> list[MarkedText]:
    """The texts, marked by what their n-grams contribute, if there are n-grams of them."""
    starts = accumulate((part.width for part in features.parts), initial=0)
    by_column: dict[str, list[tuple[Ngrams, dict[int, float]]]] = {}
    for part, (begin, end) in zip(features.parts, pairwise(starts), strict=True):
        if isinstance(part, Ngrams):
            mine = {number - begin: value for number, value in spoken.items() if begin <= number < end}
            by_column.setdefault(part.column, []).append((part, mine))
    return [mark(column, texts[column], parts) for column, parts in by_column.items()]


# ---- a model


class Strong(NamedTuple):
    """A feature of large weight."""

    feature: str
    weight: float
    inside: int | None
    """In how many training examples of the class it occurs; None where that was not counted."""
    outside: int | None
    """In how many of other classes."""
    odds: float | None
    """How much more likely it is in an example of the class than in another, all counts being raised a little."""

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class Side(Brief):
    """The features that speak for a class most, or against it, the strongest first."""

    number: int
    """The class, by its place in the model's `classes`."""
    label: Label
    speaks_for: bool
    strongest: list[Strong]

    def as_dict(self) -> dict[str, Any]:
        speaks = "for" if self.speaks_for else "against"
        strong = [one._asdict() for one in self.strongest]
        return {"label": plain_label(self.label), "speaks": speaks, "strongest": strong}


class ClassFacts(NamedTuple):
    """What there is to say of a class as a whole."""

    label: Label
    examples: int | None
    """How many it had in training; None where that was not counted."""
    bias: float | None
    """Of two classes only the second has one."""

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class ModelExplanation(Shown):
    """What a model goes by: the features of largest weight for each class, how often training met them, and odds.

    Of two classes the second has the weights: what has a positive one speaks for it, what has a negative one for the
    first. Of more classes there is what speaks for each and what speaks against it; the latter is in `sides` and
    `as_dict`, and is not shown.
    """

    classes: list[ClassFacts]
    sides: list[Side]
    features: int
    """How many features the model has."""
    top: int
    """So many rows of each side are shown; `as_dict` and `sides` have more."""

    def in_brief(self) -> str:
        return f"{self.features:,} features, {len(self.classes):,} classes"

    def as_dict(self) -> dict[str, Any]:
        return {
            "features": self.features,
            "classes": [{**facts._asdict(), "label": plain_label(facts.label)} for facts in self.classes],
            "sides": [side.as_dict() for side in self.sides],
        }

    def by_class(self, top: int) -> list[tuple[Label, list[str]]]:
        """For each class the names of the features that speak for it most."""
        sides = [side for side in self.sides if side.speaks_for]
        return [(side.label, [one.feature for one in side.strongest[:top]]) for side in sides]

    def parts(self) -> Iterator[str | Grid | list[MarkedText]]:
        rows = sum(facts.examples or 0 for facts in self.classes)
        learned = f", learned from {rows:,} examples" if rows else ""
        yield f"{self.features:,} features, {len(self.classes):,} classes{learned}"
        for side in self.sides:
            if side.speaks_for:
                yield ""
                facts = self.classes[side.number]
                share = f" ({facts.examples:,} examples, {facts.examples / rows:.1%})" if facts.examples else ""
                bias = "" if facts.bias is None else f"; bias {plain_number(facts.bias)}"
                yield f"what speaks for {label_in_words(side.label)}{share}{bias}"
                yield self.grid(side)

    def grid(self, side: Side) -> Grid:
        shown = side.strongest[: self.top]
        two = len(self.classes) == 2
        other = self.classes[1 - side.number].label if two else None
        elsewhere = f"in {label_in_words(other, LABEL_WIDTH)}" if two else "elsewhere"
        heads = ["feature", "weight", f"in {label_in_words(side.label, LABEL_WIDTH)}", elsewhere, "odds"]
        weights = signed_numbers([one.weight for one in shown])
        cells = [
            [one.feature, weight, *("" if n is None else f"{n:,}" for n in one[2:4]), odds_in_words(one.odds)]
            for one, weight in zip(shown, weights, strict=True)
        ]
        if all(one.odds is None for one in shown):
            return Grid([heads[:2]], [line[:2] for line in cells])
        return Grid([heads], cells, spare=[3, 2, 4])


def explain_weights(model: Model, weights_of_features: Weights, top: int) -> ModelExplanation:
    bias: list[float | None] = weights_of_features.bias().astype(np.float64).tolist()
    if len(bias) == 1:
        bias = [None, *bias]
    counts: Counts | None = model.counts
    examples = [None] * len(bias) if counts is None else counts.rows.tolist()
    sides = []
    for number, speaks_for, features, weights in strongest(weights_of_features, max(top, STRONGEST)):
        strong = []
        for feature, weight in zip(features.tolist(), weights.tolist(), strict=True):
            count = None if counts is None else counts.of(feature, number)
            strong.append(Strong(model.features.name(feature), weight, *(count or (None, None, None))))
        sides.append(Side(number, model.classes[number], speaks_for, strong))
    facts = [ClassFacts(*one) for one in zip(model.classes, examples, bias, strict=True)]
    return ModelExplanation(facts, sides, model.features.width, top)


def odds_in_words(odds: float | None) -> str:
    """
    >>> [odds_in_words(x) for x in (12.34, 0.25, None)]
    ['12.3 : 1', '1 : 4.0', '']
    """
    if odds is None:
        return ""
    return f"{odds:,.1f} : 1" if odds >= 1 else f"1 : {1 / odds:,.1f}"


# ---- what both need


def check_top(top: Any) -> int:
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise SettingsError("top", f"must be a whole number of at least 1, not {top!r}")
    return top


def plain_label(label: Label) -> Any:
    """As JSON has it."""
    return label if isinstance(label, str | int | float) else str(label)
