"""Explains a prediction of naive Bayes word by word, with running totals of the logarithms of the probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from markone.brief import of_fields
from markone.data.blocks import as_rows
from markone.data.source import Label
from markone.data.strings import Strings
from markone.errors import SettingsError
from markone.features.ngrams import Ngrams
from markone.model.evaluation import log_probabilities
from markone.model.events import Floats
from markone.model.explaining import LABEL_WIDTH, first_and_second, plain_label
from markone.model.naive_bayes import NaiveBayes
from markone.reporting.grids import Grid, label_in_words, plain_number
from markone.reporting.shown import Content, Shown

if TYPE_CHECKING:
    from markone.model.model import Model

PRIOR = "(prior)"


class WordTotals(NamedTuple):
    """A word of the text, and the totals after it."""

    word: str
    """The word or n-gram; `(prior)` in the first row."""
    probabilities: list[float]
    """P(word | class) for each class; the priors in the first row."""
    totals: list[float]
    """The sum of the logarithms so far, for each class."""

    def __repr__(self) -> str:
        return of_fields(self)


@dataclass(frozen=True, slots=True, repr=False)
class RunningTotals(Shown):
    """Why naive Bayes makes its prediction for a text: its words in their order, with running totals.

    The totals start with the logarithms of the priors, and each word adds the logarithm of its probability. Words that
    the model does not know add nothing. The last totals are log P(class, text).
    """

    prediction: Label
    """The class with the best total."""
    runner_up: Label
    """The second-best class."""
    classes: list[Label]
    rows: list[WordTotals]
    """The priors, and then the words in their order."""
    posterior: list[float]
    """P(class | text) for each class."""
    top: int
    """The number of words that are shown; `rows` and `as_dict` contain all of them."""

    def in_brief(self) -> str:
        return f"{self.prediction!r}, then {self.runner_up!r}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "prediction": plain_label(self.prediction),
            "runner_up": plain_label(self.runner_up),
            "classes": list(map(plain_label, self.classes)),
            "rows": [row._asdict() for row in self.rows],
            "posterior": self.posterior,
        }

    def parts(self) -> Iterator[Content]:
        yield f"prediction: {label_in_words(self.prediction)}"
        yield self.grid()
        shown = self.shown()[0]
        label = label_in_words(self.classes[shown])
        yield f"P({label} | text) = {self.posterior[shown]:.1%}"

    def shown(self) -> list[int]:
        """Return the classes in the table: the positive and the negative one, or the winner and the runner-up."""
        if len(self.classes) == 2:
            return [1, 0]
        return [self.classes.index(self.prediction), self.classes.index(self.runner_up)]

    def grid(self) -> Grid:
        columns = self.shown()
        labels = [label_in_words(self.classes[i], LABEL_WIDTH) for i in columns]
        heads = ["word", *(f"P(w|{label})" for label in labels), *(f"total {label}" for label in labels)]
        most = (
            self.top + 1 if len(self.rows) - self.top != 2 else len(self.rows)
        )  # "1 more word" would need a line, too
        cells = [
            [
                row.word,
                *(plain_number(row.probabilities[i]) for i in columns),
                *(total_in_words(row.totals[i]) for i in columns),
            ]
            for row in self.rows[:most]
        ]
        more = len(self.rows) - most
        last = [f"and {more:,} more words", "", "", *(total_in_words(self.rows[-1].totals[i]) for i in columns)]
        return Grid([heads], cells, [last] if more > 0 else [])


def total_in_words(total: float) -> str:
    """
    >>> total_in_words(-76.04), total_in_words(float("-inf"))
    ('-76.0', '-∞')
    """
    return "-∞" if total == -np.inf else f"{total:.1f}"


def check_running(model: Model, example: Any) -> None:
    """Raise an error if a model has no running totals."""
    scorer, parts = model.scorer, model.features.parts
    if not isinstance(scorer, NaiveBayes):
        raise SettingsError("running", f"is for naive Bayes, and this is a model of the rule {model.settings.rule!r}")
    counts = all(
        isinstance(part, Ngrams) and part.settings.value in ("count", "binary") and part.settings.weight == "none"
        for part in parts
    )
    if not counts or model.features.unit or any(group.kind != "multinomial" for group in scorer.events.groups):
        raise SettingsError("running", "is for models that count the words of texts, and this model has other features")
    if example is None:
        raise SettingsError("running", "needs an example; give a text")


def explain_running(model: Model, examples: Any, top: int) -> Iterator[RunningTotals]:
    """Explain the predictions for several texts. The model has been checked."""
    for batch in model.features.batches(examples):
        scores = model.scorer.scores(as_rows(model.features.transform(batch)))
        posteriors = np.exp(log_probabilities(scores))
        texts = {name: Strings.of_arrow(column) for name, column in batch.columns.items()}
        for row, score in enumerate(scores):
            words = words_in_order(model, {name: some.bytes_of(row) for name, some in texts.items()})
            winner, second = first_and_second(score, model._tie, model.threshold)
            yield RunningTotals(
                prediction=model.classes[winner],
                runner_up=model.classes[second],
                classes=model.classes,
                rows=totals_of(model, words),
                posterior=posteriors[row].tolist(),
                top=top,
            )


def words_in_order(model: Model, texts: dict[str, bytes]) -> list[int]:
    """Return the features that count, in the order in which they end in the text."""
    found: list[tuple[int, int, int, int]] = []
    starts = model.features.starts.tolist()
    for number, part in enumerate(model.features.parts):
        assert isinstance(part, Ngrams)
        _, _, features, first, last = part.vocabulary.occurrences(texts[part.column])
        once = part.settings.value == "binary"
        met: set[int] = set()
        for feature, begin, end in zip(features.tolist(), first.tolist(), last.tolist(), strict=True):
            if not (once and feature in met):
                found.append((end, number, begin, starts[number] + feature))
            met.add(feature)
    return [feature for _, _, _, feature in sorted(found)]


def totals_of(model: Model, words: list[int]) -> list[WordTotals]:
    scorer = model.scorer
    assert isinstance(scorer, NaiveBayes)
    log_priors = np.asarray(scorer.joint.starts()[0], np.float64)
    probabilities: Floats = np.vstack([np.exp(log_priors)[None, :], scorer.probabilities(np.array(words, np.int64))])
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities)
    logs[0] = log_priors
    logs[np.isneginf(logs).all(axis=1)] = 0  # events that no class knows are ignored
    totals = np.cumsum(logs, axis=0)
    names = [PRIOR, *(model.features.name(word) for word in words)]
    return [WordTotals(*one) for one in zip(names, probabilities.tolist(), totals.tolist(), strict=True)]
