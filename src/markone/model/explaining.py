"""Explains a prediction by a table whose products sum to the score, and a model by its strongest features."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, islice, pairwise
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
from markone.model.decisions import ABSTAINED, Threshold
from markone.model.several_labels import against as negated
from markone.model.shapes import Shapes, shapes_of
from markone.reporting.grids import Grid, counted, feature_in_words, label_in_words, plain_number, signed_numbers
from markone.reporting.marking import MarkedText, Vocabulary, mark
from markone.reporting.shown import Content, Shown, fragment_of

if TYPE_CHECKING:
    from markone.model.model import Model

EXPLANATIONS_SHOWN = 5
"""The largest number of explanations that a notebook shows."""
SHAPES_SHOWN = 4
"""The largest number of curves, and of pairs, that a terminal shows."""
LABEL_WIDTH = 10
"""The largest width of a label above a column."""


# ---- one prediction


class Row(NamedTuple):
    """The contribution of one feature to a score."""

    feature: str
    value: float
    weight: float | None
    """None if the feature has no weight of its own."""
    product: float

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class ScoreTable(Brief):
    """The score of a class as a sum over features."""

    label: Label
    score: float
    """The sum of the products. After rounding, it has the same bits as the result of `scores`."""
    rows: list[Row]
    """The features of the example that are not 0, and BIAS with the value 1; the largest contributions come first."""

    def as_dict(self) -> dict[str, Any]:
        return {"label": plain_label(self.label), "score": self.score, "rows": [row._asdict() for row in self.rows]}


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Shown):
    """Why a model makes its prediction for one example.

    With two classes, the first scores 0 and the second has all the weights. There is one table, for the second class:
    positive products support the second class, and negative products the first. With more classes there are tables for
    the winner and the runner-up, and their difference: there, positive products support the winner, and negative
    products the runner-up. The words of texts are marked in the same way.
    """

    prediction: Label
    """The class with the best score; for a regression, the number."""
    runner_up: Label | None
    """The second-best class; None for a regression."""
    tables: tuple[ScoreTable, ...]
    """With two classes, the table of the second. With more, the tables of the winner and of the runner-up, which have
    the same features in the same order."""
    difference: ScoreTable
    """With two classes, the same table again; with more, the winner's table minus the runner-up's. Its label is the
    class that positive products and marks support."""
    speaks_against: Label
    """The class that negative products and marks support."""
    texts: list[MarkedText]
    """The texts of the example, if they have n-grams. Marks are computed from n-grams only: the contributions of BIAS
    and of lexicons are only in the tables."""
    top: int
    """The number of rows that are shown; `as_dict` and the tables contain all rows."""
    adds_up: bool = True
    """Whether the products add up to the score. In a network, features interact: there a product is what the score
    would lose without the feature, and there are no weights."""
    remark: str = ""
    """What else decides about the prediction: a threshold, or abstention."""

    def in_brief(self) -> str:
        return f"{self.prediction!r}" if self.runner_up is None else f"{self.prediction!r}, then {self.runner_up!r}"

    def as_dict(self) -> dict[str, Any]:
        found = {
            "prediction": plain_label(self.prediction),
            "runner_up": None if self.runner_up is None else plain_label(self.runner_up),
            "tables": [table.as_dict() for table in self.tables],
            "texts": [text.as_dict() for text in self.texts],
            **({"remark": self.remark} if self.remark else {}),
        }
        return found if len(self.tables) == 1 else {**found, "difference": self.difference.as_dict()}

    def parts(self) -> Iterator[Content]:
        score, supported = f"{self.difference.score:.6g}", label_in_words(self.difference.label)
        if self.runner_up is None:
            yield f"prediction: {score}"
            what = "The prediction is the sum of the products"
        elif len(self.tables) == 1:
            yield f"prediction: {label_in_words(self.prediction)}"
            what = f"The score of {supported} is {score}"
        else:
            first, second = (f"{label_in_words(table.label)}, which scores {table.score:.6g}" for table in self.tables)
            yield f"prediction: {first}; next is {second}"
            what = f"The difference is {score}"
        against = label_in_words(self.speaks_against)
        yield f"{what}. Positive numbers support {supported}, negative numbers {against}."
        if self.remark:
            yield self.remark
        if not self.adds_up:
            yield "Each line shows what the score would lose without the feature. The lines need not add up to it."
        if self.texts:
            yield self.texts
        yield self.grid()

    def grid(self) -> Grid:
        """Return the tables side by side, with the rows that are shown."""
        columns = self.tables if len(self.tables) == 1 else (*self.tables, self.difference)
        count = len(self.difference.rows)
        shown = min(self.top, count) if count - self.top != 1 else count  # "and 1 more" would need a line as well
        labels, heads = ["", ""], ["feature", "value"]
        cells = [[feature_in_words(row.feature), plain_number(row.value)] for row in self.difference.rows[:shown]]
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


@dataclass(frozen=True, slots=True, repr=False)
class SeveralExplanation(Shown):
    """Why a model predicts some labels for one example, and not others."""

    prediction: tuple[Label, ...]
    """The predicted labels."""
    labels: tuple[Explanation, ...]
    """An explanation for each predicted label, the best score first, and for the best label that is not predicted.
    Their second class is the label, and their first class is every example without it."""

    def in_brief(self) -> str:
        return ", ".join(map(repr, self.prediction)) or "no label"

    def as_dict(self) -> dict[str, Any]:
        return {
            "prediction": [*map(plain_label, self.prediction)],
            "labels": [one.as_dict() for one in self.labels],
        }

    def parts(self) -> Iterator[Content]:
        yield f"predictions: {', '.join(map(label_in_words, self.prediction)) or 'no label'}"
        for one in self.labels:
            yield ""
            yield from one.parts()


class Explanations(Iterator[Any]):
    """The explanations of several examples, which are made one after the other. A notebook shows the first of them."""

    def __init__(self, explain: Callable[[], Iterator[Any]]) -> None:
        self.explain = explain
        self.running = explain()

    def __next__(self) -> Any:
        return next(self.running)

    def __repr__(self) -> str:
        return "<Explanations: an iterator, with one for each example>"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.first()))

    def _repr_html_(self) -> str:
        return fragment_of([*(part for one in self.first() for part in one.contents())])

    def first(self) -> Iterator[Any]:
        """Return the first explanations. They are made again, so that none is missing in the iterator."""
        return islice(self.explain(), EXPLANATIONS_SHOWN)


def explain_examples(model: Model, examples: Any, top: int) -> Iterator[Explanation | SeveralExplanation]:
    """Explain the predictions for several examples."""
    for batch in model.features.batches(examples):
        matrix = model.features.transform(batch)
        scores = model.scorer.scores(as_rows(matrix))
        texts = {
            column.name: Strings.of_arrow(batch.columns[column.name])
            for column in model.features.columns
            if column.kind == "text"
        }
        for row, score in enumerate(scores):
            explained = partial(explain_row, model, matrix, row, score, texts, top)
            yield explained() if model.several is None else explain_labels(model, score, explained)


def explain_labels(
    model: Model, scores: NDArray[np.float32], explained: Callable[..., Explanation]
) -> SeveralExplanation:
    """Explain the predicted labels of a row, and the label with the best score of the others. `explained` explains the
    decision about a label of the row."""
    found = model.winners(scores[None, :])[0]
    order = np.argsort(-scores, kind="stable")
    chosen = [*order[found[order]], *order[~found[order]][:1]]
    [prediction] = model.labels_of(found[None, :])
    return SeveralExplanation(prediction, tuple(explained(label=int(label)) for label in chosen))


def explain_row(
    model: Model,
    matrix: NDArray[np.float32] | Sparse,
    row: int,
    scores: NDArray[np.float32],
    texts: dict[str, Strings],
    top: int,
    *,
    label: int | None = None,
) -> Explanation:
    """Explain the prediction for a row or, if a row can have several labels, why it has one of them."""
    labels = model.sides
    if label is None:
        winner, second = first_and_second(scores, model._tie, model.threshold)
        # Each class has a score or, with two classes, only the second.
        columns = [winner, second] if len(scores) > 1 else [0]
    else:
        winner = int(model.winners(scores[None, :])[0, label])
        second, columns = 1 - winner, [label]
        labels = [negated(model.classes[label]), model.classes[label]]
    features, values, lanes = features_of(matrix, row, multiclass=len(scores) > 1)
    weights, products, bias, sums = model.scorer.contributions(features, values, columns, lanes)
    decided, decided_weights, decided_sum = products[:, 0], weights[:, 0], float(sums[0])
    decided_bias = float(bias[0])
    if len(columns) > 1:
        decided, decided_weights = products[:, 0] - products[:, 1], weights[:, 0] - weights[:, 1]
        decided_sum, decided_bias = float(sums[0] - sums[1]), float(bias[0] - bias[1])

    present = np.flatnonzero(values)
    names = [model.features.name(number) for number in features[present].tolist()]
    has_bias = model.scorer.adds_up and (model.settings.bias or bias.any())
    contributions = np.append(decided[present], decided_bias)[: len(present) + has_bias]
    order = np.argsort(-abs(contributions), kind="stable").tolist()

    def table(number: int, score: float, weight: NDArray[Any], product: NDArray[Any], bias: float) -> ScoreTable:
        own = [None if math.isnan(one) else one for one in weight[present].tolist()]
        facts = zip(names, values[present].tolist(), own, product[present].tolist(), strict=True)
        rows = [*(Row(*one) for one in facts), Row(BIAS, 1.0, bias, bias)]
        return ScoreTable(labels[number], score, [rows[i] for i in order])

    of_classes = columns if len(columns) > 1 else [1]
    tables = tuple(
        table(number, float(sums[k]), weights[:, k], products[:, k], float(bias[k]))
        for k, number in enumerate(of_classes)
    )
    difference = tables[0] if len(tables) == 1 else table(winner, decided_sum, decided_weights, decided, decided_bias)
    products_by_feature = dict(zip(features[present].tolist(), decided[present].tolist(), strict=True))
    marked = mark_texts(model.features, {name: some.bytes_of(row) for name, some in texts.items()}, products_by_feature)
    prediction, runner_up, against = (labels[i] for i in (winner, second, second if len(columns) > 1 else 0))
    if model.predicts_numbers:
        prediction, runner_up = decided_sum, None
    adds_up, remark = model.scorer.adds_up, about_decision(model, scores, label)
    return Explanation(prediction, runner_up, tables, difference, against, marked, top, adds_up, remark)


def about_decision(model: Model, scores: NDArray[np.float32], label: int | None = None) -> str:
    """Return what else decides about a prediction, in words; empty if only the scores do."""
    threshold = model.threshold
    if model.several is not None and label is not None:
        threshold = model.several.decisions[label].threshold
    if threshold is not None:
        name = label_in_words(model.classes[1 if label is None else label])
        return f"{name} is predicted from a score of {threshold.score:.6g}, for {threshold.aim}."
    if model.abstention is not None and model.winners(scores[None, :])[0] == ABSTAINED:
        return f"The model makes no prediction, because the margin is not above {model.abstention.margin:.6g}."
    return ""


def first_and_second(
    scores: NDArray[np.float32], tie: _core.Tie, threshold: Threshold | None = None
) -> tuple[int, int]:
    """Return the class that wins, and the class that would win without it."""
    row = scores[None, :]
    winner = int((_core.winners(row, tie) if threshold is None else threshold.winners(row))[0])
    if len(scores) == 1:
        return winner, 1 - winner
    others = np.delete(scores, winner)
    second = int(_core.winners(others[None, :], tie)[0]) if len(others) > 1 else 0
    return winner, second + (second >= winner)


def features_of(
    matrix: NDArray[np.float32] | Sparse, row: int, *, multiclass: bool
) -> tuple[NDArray[np.uint32], NDArray[np.float64], int]:
    """Return the features and values of a row in the order of the core, and the number of its partial sums."""
    if isinstance(matrix, Sparse):
        here = slice(int(matrix.indptr[row]), int(matrix.indptr[row + 1]))
        return matrix.indices[here], matrix.data[here].astype(np.float64), 2 if multiclass else 8
    values = matrix[row].astype(np.float64)
    if multiclass:
        features = np.flatnonzero(values)
        return features.astype(np.uint32), values[features], 2
    return np.arange(len(values), dtype=np.uint32), values, 8 if len(values) < 64 else 32


def mark_texts(features: FeatureMap, texts: dict[str, bytes], products: dict[int, float]) -> list[MarkedText]:
    """Return the texts that have n-grams, marked by the contributions of their n-grams."""
    starts = accumulate((part.width for part in features.parts), initial=0)
    by_column: dict[str, list[tuple[Vocabulary, dict[int, float]]]] = {}
    for part, (begin, end) in zip(features.parts, pairwise(starts), strict=True):
        if isinstance(part, Ngrams):
            mine = {number - begin: value for number, value in products.items() if begin <= number < end}
            by_column.setdefault(part.column, []).append((part.vocabulary, mine))
    return [mark(column, texts[column], parts) for column, parts in by_column.items()]


# ---- a model


class Strong(NamedTuple):
    """A feature with a large weight."""

    feature: str
    weight: float
    inside: int | None
    """The number of training examples of the class that have the feature; None if that was not counted."""
    outside: int | None
    """The same for the other classes."""
    odds: float | None
    """How much more probable the feature is in the class than in other classes, with smoothed counts."""

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class Side(Brief):
    """The features that support a class most, or are most against it; the strongest first."""

    number: int
    """The index of the class in the model's `classes`."""
    label: Label
    speaks_for: bool
    strongest: list[Strong]

    def as_dict(self) -> dict[str, Any]:
        speaks = "for" if self.speaks_for else "against"
        strong = [one._asdict() for one in self.strongest]
        return {"label": plain_label(self.label), "speaks": speaks, "strongest": strong}


class ClassFacts(NamedTuple):
    """Facts about a class as a whole."""

    label: Label
    examples: int | None
    """The number of its training examples; None if they were not counted."""
    bias: float | None
    """The bias; with two classes, only the second has one."""

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class ModelExplanation(Shown):
    """The strongest features of a model: those with the largest weights for each class, their counts, and their odds.

    With two classes, features with positive weights support the second class, and those with negative weights the
    first. With more classes, each has features that support it and features that are against it; the latter are in
    `sides` and `as_dict`, but are not shown.
    """

    classes: list[ClassFacts]
    sides: list[Side]
    features: int
    """How many features the model has."""
    top: int
    """The number of rows that are shown for each class; `as_dict` and `sides` contain more."""
    target: str | None = None
    """The name of the numbers that the model predicts; None if it predicts classes."""
    shapes: Shapes = field(default_factory=lambda: Shapes([], []))
    """The curves of columns, and the heat maps of pairs of columns, if the model has any. The strongest are shown in a
    terminal, and all of them in HTML."""

    def in_brief(self) -> str:
        return f"{counted(self.features, 'feature')}, {self.predicted()}"

    def predicted(self) -> str:
        if self.target is not None:
            return f"predicts {label_in_words(self.target)}"
        return counted(len(self.classes), "class", "classes")

    def as_dict(self) -> dict[str, Any]:
        return {
            "features": self.features,
            "classes": [{**facts._asdict(), "label": plain_label(facts.label)} for facts in self.classes],
            "sides": [side.as_dict() for side in self.sides],
            **(self.shapes.as_dict() if self.shapes else {}),
        }

    def contents(self) -> Iterator[Content]:
        yield from (*self.tables(), *self.shapes.charts())

    def by_class(self, top: int) -> list[tuple[Label, list[str]]]:
        """Return for each class the names of the features that support it most."""
        sides = [side for side in self.sides if side.speaks_for]
        return [(side.label, [one.feature for one in side.strongest[:top]]) for side in sides]

    def parts(self) -> Iterator[Content]:
        yield from self.tables()
        for chart in self.shapes.charts(SHAPES_SHOWN):
            yield ""
            yield chart
        more = len(self.shapes.curves) + len(self.shapes.pairs) - len(list(self.shapes.charts(SHAPES_SHOWN)))
        if more:
            yield ""
            yield f"and {counted(more, 'other curve or pair', 'other curves and pairs')}: --plot and --html draw all"

    def tables(self) -> Iterator[str | Grid]:
        """Return the strongest features of each class."""
        rows = sum(facts.examples or 0 for facts in self.classes)
        learned = f", learned from {rows:,} examples" if rows else ""
        yield f"{counted(self.features, 'feature')}, {self.predicted()}{learned}"
        for side in self.sides:
            if side.speaks_for:
                yield ""
                facts = self.classes[side.number]
                share = f" ({facts.examples:,} examples, {facts.examples / rows:.1%})" if facts.examples else ""
                bias = "" if facts.bias is None else f"; bias {plain_number(facts.bias)}"
                yield f"features that support {label_in_words(side.label)}{share}{bias}"
                yield self.grid(side)

    def grid(self, side: Side) -> Grid:
        shown = side.strongest[: self.top]
        two = len(self.classes) == 2
        other = self.classes[1 - side.number].label if two else None
        elsewhere = f"in {label_in_words(other, LABEL_WIDTH)}" if two else "elsewhere"
        heads = ["feature", "weight", f"in {label_in_words(side.label, LABEL_WIDTH)}", elsewhere, "odds"]
        weights = signed_numbers([one.weight for one in shown])
        cells = [
            [
                feature_in_words(one.feature),
                weight,
                *("" if n is None else f"{n:,}" for n in one[2:4]),
                odds_in_words(one.odds),
            ]
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
        sides.append(Side(number, model.sides[number], speaks_for, strong))
    facts = [ClassFacts(*one) for one in zip(model.sides, examples, bias, strict=True)]
    target = (model.target or "numbers") if model.predicts_numbers else None
    labels: list[Label] = model.classes if target is None else [None, target]
    shapes = shapes_of(model.features, labels, weights_of_features.matrix())
    return ModelExplanation(facts, sides, model.features.width, top, target, shapes)


def odds_in_words(odds: float | None) -> str:
    """
    >>> [odds_in_words(x) for x in (12.34, 0.25, None)]
    ['12.3 : 1', '1 : 4.0', '']
    """
    if odds is None:
        return ""
    return f"{odds:,.1f} : 1" if odds >= 1 else f"1 : {1 / odds:,.1f}"


# ---- used by both


def check_top(top: Any) -> int:
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise SettingsError("top", f"must be a whole number of at least 1, not {top!r}")
    return top


def plain_label(label: Label) -> Any:
    """Return the label as JSON can represent it."""
    return label if isinstance(label, str | int | float) else str(label)
