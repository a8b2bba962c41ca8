"""Predictions and explanations of classifiers and regressions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from markone.errors import MarkoneError
from markone.model.explaining import Explanation, ScoreTable, SeveralExplanation, plain_label
from markone.model.model import Model
from markone.model.writing import make_writer
from markone.server.examples import check_row, check_text, examples_of, missing_columns, of_model
from markone.server.messages import (
    Examples,
    Explained,
    ExplainedFeature,
    ExplainedScore,
    ExplainedText,
    MarkedPiece,
    PredictedNumber,
    PredictedNumbers,
    Prediction,
    Predictions,
    StreamedPrediction,
    ToExplain,
)
from markone.server.problems import Problem, problem_of
from markone.server.requests import CSV, ENCODER, JSON, LINES, Answer, Asked, in_json
from markone.server.settings import ServeSettings
from markone.server.shelf import Served

if TYPE_CHECKING:
    from markone.server.service import Service

EXAMPLES = msgspec.json.Decoder(Examples)
TO_EXPLAIN = msgspec.json.Decoder(ToExplain)
LINE = msgspec.json.Decoder(str | dict[str, Any])


def predict(service: Service, asked: Asked) -> Answer:
    """Predict the labels of texts, rows or columns or, with a regression, their numbers."""
    wanted = EXAMPLES.decode(asked.body)
    served = service.find(asked, wanted, "classifier")
    kind = asked.gives((JSON, CSV, LINES))
    given = examples_of(wanted, service.settings)
    model = model_of(served)
    numbers, scores = model.decide(of_model(model, given.examples))
    if kind == CSV:
        writer = make_writer("csv", model, scores=not model.predicts_numbers, probabilities=model.has_probabilities)
        return Answer(writer.lines({}, numbers, scores), CSV, given.rows)
    found = predictions_of(served, numbers, scores)
    if kind == LINES:
        return Answer(b"".join(ENCODER.encode(one) + b"\n" for one in found), LINES, given.rows)
    missing = missing_columns(model, given.names)
    answer: Any = PredictedNumbers if model.predicts_numbers else Predictions
    said = answer(model=served.name, version=served.version, predictions=found, missing=missing if missing else UNSET)
    return in_json(said, given.rows)


def predictions_of(
    served: Served, numbers: NDArray[np.int64], scores: NDArray[np.float32]
) -> list[Prediction] | list[PredictedNumber]:
    """Return the labels, scores and probabilities of the examples or, of a regression, the predicted numbers."""
    model = model_of(served)
    if model.predicts_numbers:
        return [*map(PredictedNumber, model.as_rows(scores).tolist())]
    winners = model.labels_of(numbers)
    named = starmap(served.by_class, model.as_rows(scores).tolist())
    if not model.has_probabilities:
        return list(map(Prediction, winners, named))
    shares = np.exp(model.log_probabilities(scores)).tolist()
    return list(map(Prediction, winners, named, starmap(served.by_class, shares)))


def model_of(served: Served) -> Model:
    assert isinstance(served.model, Model)
    return served.model


# ---- streams


def predict_lines(served: Served, lines: list[bytes], first: int, limits: ServeSettings) -> bytes:
    """Predict lines of JSON: a text or a row on each. A line that cannot be used gets an error, and the others not."""
    answers: list[Any] = [None] * len(lines)
    there: list[int] = []
    examples: list[Any] = []
    for place, line in enumerate(lines):
        try:
            examples.append(example_in(served, line, limits))
            there.append(place)
        except Exception as error:
            answers[place] = line_problem(error, first + place)
    for place, answer in zip(there, answers_of(served, examples, [first + place for place in there]), strict=True):
        answers[place] = answer
    return b"".join(ENCODER.encode(answer) + b"\n" for answer in answers)


def example_in(served: Served, line: bytes, limits: ServeSettings) -> Any:
    """Return the example on a line: a text, or a row, of which a model of texts uses only its column."""
    example = LINE.decode(line)
    if isinstance(example, str):
        check_text(example, limits)
        return example
    check_row(example, limits)
    columns = model_of(served).features.columns
    if len(columns) == 1 and columns[0].kind == "text":
        text = example.get(columns[0].name)
        if not isinstance(text, str):
            raise Problem(422, f"The row has no text in a column {columns[0].name!r}.")
        return text
    return example


def answers_of(
    served: Served, examples: list[Any], lines: list[int]
) -> Iterator[Prediction | PredictedNumber | StreamedPrediction]:
    """Predict all examples at once or, if one of them is wrong, one after the other."""
    if not examples:
        return
    try:
        yield from predictions_of(served, *model_of(served).decide(of_model(model_of(served), examples)))
        return
    except Exception as error:
        if len(examples) == 1:
            yield line_problem(error, lines[0])
            return
    for example, line in zip(examples, lines, strict=True):
        yield from answers_of(served, [example], [line])


def line_problem(error: Exception, line: int) -> StreamedPrediction:
    problem = problem_of(error)
    if problem is None:
        raise error
    return StreamedPrediction(error=problem.sentence, line=line)


# ---- explanations


def explain(service: Service, asked: Asked) -> Answer:
    """Explain a prediction: the contributions of the features, and the marked words of texts."""
    wanted = TO_EXPLAIN.decode(asked.body)
    served = service.find(asked, wanted, "classifier")
    given = examples_of(wanted, service.settings, ("text", "row"))
    examples = [given.examples] if isinstance(given.examples, str) else given.examples
    try:
        found = explanation_of(model_of(served), of_model(model_of(served), examples), wanted)
    except NotImplementedError as error:
        raise MarkoneError(str(error)) from None
    tables = found.tables if len(found.tables) == 1 else (*found.tables, found.difference)
    explained = Explained(
        model=served.name,
        version=served.version,
        prediction=plain_label(found.prediction),
        runner_up=None if found.runner_up is None else plain_label(found.runner_up),
        supports=plain_label(found.difference.label),
        against=plain_label(found.speaks_against),
        tables=[score_of(table, wanted.top) for table in tables],
        texts=[
            ExplainedText(text.column, [MarkedPiece(piece.text, piece.mark) for piece in text.pieces])
            for text in found.texts
        ],
    )
    return in_json(explained, 1)


def explanation_of(model: Model, examples: Any, wanted: ToExplain) -> Explanation:
    """Return why the model makes its prediction or, if an example can have several labels, why it has one of them."""
    if wanted.label is not None:
        model.need_classes("labels")
        model = model.of_label(wanted.label)
    [found] = model.explain(examples, top=wanted.top)
    only: Explanation = found.labels[0] if isinstance(found, SeveralExplanation) else found
    return only


def score_of(table: ScoreTable, top: int) -> ExplainedScore:
    rows = [ExplainedFeature(*row) for row in table.rows[:top]]
    return ExplainedScore(plain_label(table.label), table.score, rows, len(table.rows))
