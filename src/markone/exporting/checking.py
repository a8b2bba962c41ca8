"""The check of an export: it must give the labels and scores of the model for all sample rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from markone.errors import DataError
from markone.exporting.interpreter import Answer, Interpreter
from markone.exporting.samples import Row, batch_of, made_rows, rows_in

if TYPE_CHECKING:
    from markone.model.model import Model

ALMOST = 1e-6
"""The largest difference of scores, and of those above 1 the largest share of a score."""
ROUNDS = 24
"""How often a row with a difference is made shorter."""
PIECES = 8
"""Into how many pieces a text is cut each time."""


class Expected(NamedTuple):
    """What the model says of rows."""

    labels: list[int | None]
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None


Run = Callable[[Sequence[Row]], Sequence[Answer]]
"""Runs an export on rows."""


class Sample:
    """Sample rows, and what the model says of them."""

    def __init__(self, model: Model, document: dict[str, Any], examples: Any = None) -> None:
        self.model, self.document = model, document
        columns = model.features.columns
        self.rows: list[Row] = []
        parts: list[Expected] = []
        self.given = examples is not None
        batches = model.features.batches(examples) if self.given else [batch_of(made_rows(document), columns)]
        for batch in batches:
            self.rows += rows_in(batch, columns)
            parts.append(expected_of(model, batch))
        if not self.rows:
            raise DataError("the sample has no rows; give a file with some, or leave it out")
        self.expected = parts

    def check(self, run: Run, what: str, *, exact: bool) -> None:
        """Raise a `DataError` that names a feature, if an export says something else of some row.

        Unless it is `exact`, it adds in another order, so that classes whose scores are almost the same may change
        places.
        """
        answers, start = run(self.rows), 0
        for expected in self.expected:
            some = answers[start : start + len(expected.labels)]
            wrong = first_difference(expected, some, exact)
            if wrong is not None:
                self.blame(run, what, exact, self.rows[start + wrong[0]], wrong[1])
            start += len(expected.labels)

    def blame(self, run: Run, what: str, exact: bool, row: Row, problem: str) -> None:
        """Raise the error for a row, with the features that are left when everything else is removed from it."""
        columns = self.model.features.columns

        def fails(rows: list[Row]) -> list[bool]:
            expected, answers = expected_of(self.model, batch_of(rows, columns)), run(rows)
            alone = [one_of(expected, i) for i in range(len(rows))]
            return [first_difference(one, [by], exact) is not None for one, by in zip(alone, answers, strict=True)]

        short = shortened(row, fails)
        names = [name for name, _, value in Interpreter(self.document).values(short) if value != 0]
        features = ", ".join(map(repr, names[:3])) or "the bias"
        raise DataError(
            f"nothing was written, because {what} would differ from the model. {problem}. The reason is "
            f"{'one of ' if len(names) > 1 else ''}{features}; the shortest row that shows it is {short!r:.300}"
        )


def expected_of(model: Model, batch: Any) -> Expected:
    _, winners, scores = model.answer(batch)
    has = not model.predicts_numbers and model.has_probabilities
    labels = [None if model.predicts_numbers or number < 0 else number for number in winners.tolist()]
    return Expected(labels, scores.astype(np.float64), np.exp(model.log_probabilities(scores)) if has else None)


def one_of(expected: Expected, i: int) -> Expected:
    probabilities = None if expected.probabilities is None else expected.probabilities[i : i + 1]
    return Expected(expected.labels[i : i + 1], expected.scores[i : i + 1], probabilities)


def first_difference(expected: Expected, answers: Sequence[Answer], exact: bool) -> tuple[int, str] | None:
    """Return the number of the first row with a difference, and the difference in words."""
    for i, answer in enumerate(answers):
        for mine, theirs in zip(expected.scores[i].tolist(), answer.scores, strict=True):
            if not same(mine, theirs):
                return i, f"A score is {theirs!r} instead of {mine!r}"
        if answer.label != expected.labels[i] and (exact or not is_tie(expected.scores[i])):
            return i, f"The class has the number {answer.label} instead of {expected.labels[i]}"
        if expected.probabilities is not None and answer.probabilities is not None:
            for mine, theirs in zip(expected.probabilities[i].tolist(), answer.probabilities, strict=True):
                if not same(mine, theirs):
                    return i, f"A probability is {theirs!r} instead of {mine!r}"
    return None


def same(mine: float, theirs: float) -> bool:
    return mine == theirs or bool(abs(mine - theirs) <= ALMOST * max(1.0, abs(mine)))


def is_tie(scores: NDArray[np.float64]) -> bool:
    """Whether the two best classes differ by no more than scores may: engines that add in another order may then choose
    either."""
    each = scores if len(scores) > 1 else np.array([0.0, scores[0]])
    first, second = np.sort(each)[-2:]
    return math.isfinite(first) and same(second, first)


def shortened(row: Row, fails: Callable[[list[Row]], list[bool]]) -> Row:
    """Return a row with as few values and words as possible that still shows a difference."""
    for _ in range(ROUNDS):
        smaller = [*variants(row)]
        if not smaller:
            break
        try:
            found = fails(smaller)
        except DataError:  # a value that must not be missing
            break
        if True not in found:
            break
        row = smaller[found.index(True)]
    return row


def variants(row: Row) -> list[Row]:
    found: list[Row] = []
    for name, value in row.items():
        if value is None or value == "":
            continue
        words = value.split() if isinstance(value, str) else []
        size = -(-len(words) // PIECES)
        pieces = [words[i : i + size] for i in range(0, len(words), size)] if len(words) > 1 else []
        found += [{**row, name: " ".join(piece)} for piece in pieces]
        found += [{**row, name: " ".join(words[:i] + words[i + size :])} for i in range(0, len(words), size or 1)]
        found.append({**row, name: None})
    return found
