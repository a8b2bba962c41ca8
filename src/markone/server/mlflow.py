"""MLflow's scoring protocol: `/ping` and `/invocations`, with the formats of MLflow 2."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from markone.server.examples import Given, check_rows, check_text, of_columns, of_model, of_rows, of_texts
from markone.server.messages import Invocation, Invoked, SplitFrame
from markone.server.predicting import model_of
from markone.server.problems import Problem
from markone.server.requests import CSV, JSON, PLAIN, Answer, Asked, in_json
from markone.server.settings import ServeSettings
from markone.server.shelf import Served

if TYPE_CHECKING:
    from markone.server.service import Service

INVOCATION = msgspec.json.Decoder(Invocation)
MOST_COLUMNS = 10_000
WAYS = ("dataframe_split", "dataframe_records", "instances", "inputs")


def ping(service: Service, asked: Asked) -> Answer:
    """Whether the service answers requests."""
    service.check_ready()
    return Answer(b"\n", PLAIN)


def invoke(service: Service, asked: Asked) -> Answer:
    """Predict rows in one of MLflow's formats."""
    served = service.find(asked, None, "classifier")
    limits = service.settings
    given = rows_in_csv(asked.body, limits) if asked.kind == CSV else rows_in_json(served, asked.body, limits)
    model = model_of(served)
    numbers, scores = model.decide(of_model(model, given.examples))
    asked.gives((JSON,))
    found = model.as_rows(scores).tolist() if model.predicts_numbers else model.labels_of(numbers)
    return in_json(Invoked(found), given.rows)


def rows_in_json(served: Served, body: bytes, limits: ServeSettings) -> Given:
    wanted = INVOCATION.decode(body)
    if wanted.params:
        raise Problem(422, "The model has no parameters; leave out params.")
    given = {way: value for way in WAYS if (value := getattr(wanted, way)) is not None}
    if len(given) != 1:
        raise Problem(422, f"Exactly one of {', '.join(WAYS[:-1])} and {WAYS[-1]} must be given, not {len(given)}.")
    [value] = given.values()
    if isinstance(value, SplitFrame):
        return of_split(served, value, limits)
    return of_columns(value, limits) if isinstance(value, Mapping) else of_list(served, value, limits)


def of_split(served: Served, frame: SplitFrame, limits: ServeSettings) -> Given:
    names = frame.columns or [column.name for column in model_of(served).features.columns]
    if len(set(names)) < len(names):
        raise Problem(422, "Two columns have the same name.")
    for row in frame.data:
        if len(row) != len(names):
            raise Problem(422, f"A row has {len(row)} values, but there are {len(names)} columns.")
    return of_rows([dict(zip(names, row, strict=True)) for row in frame.data], limits)


def of_list(served: Served, values: list[Any], limits: ServeSettings) -> Given:
    """Texts, rows by name, or rows of values in the order of the columns."""
    if all(isinstance(value, str) for value in values):
        return of_texts(values, limits)
    if all(isinstance(value, dict) for value in values):
        return of_rows(values, limits)
    if all(isinstance(value, list) for value in values):
        return of_split(served, SplitFrame(data=values), limits)
    raise Problem(422, "The list must contain only texts, only rows by name, or only lists of values.")


def rows_in_csv(body: bytes, limits: ServeSettings) -> Given:
    import pyarrow as pa
    from pyarrow import csv

    if body[: body.find(b"\n") + 1].count(b",") >= MOST_COLUMNS:
        raise Problem(413, f"A request may have {MOST_COLUMNS:,} columns in CSV.")
    try:
        table = csv.read_csv(io.BytesIO(body))
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise Problem(422, f"The CSV cannot be read: {str(error).splitlines()[0]:.200}") from None
    check_rows(table.num_rows, limits)
    for column in table.columns:
        if pa.types.is_string(column.type):
            for text in column:
                check_text(text.as_py() or "", limits)
    if len(set(table.column_names)) < table.num_columns:
        raise Problem(422, "Two columns have the same name.")
    return Given(table, table.num_rows, table.column_names)
