"""Predictions for Arrow data, for engines that call a function with batches of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from markone.data.kinds import written
from markone.errors import DataError
from markone.model.decisions import ABSTAINED
from markone.model.writing import PREDICTION, free_name

if TYPE_CHECKING:
    from markone.model.model import Model


def score_batch(model: Model, batch: Any) -> Any:
    """Return a record batch with the prediction, the scores and the probabilities of each row."""
    import pyarrow as pa

    table = table_of(model, batch)
    rows = table.num_rows
    if rows == 0:  # the types of the scores are those of a row without values
        table = pa.table({field.name: pa.nulls(1, field.type) for field in table.schema})
    numbers, scores = (found[:rows] for found in model.decide(table))
    columns = answer_columns(model, numbers, scores, wants_scores=True, wants_probabilities=model.has_probabilities)
    return pa.RecordBatch.from_pydict(columns)


def answer_columns(
    model: Model,
    numbers: Any,
    scores: Any,
    kept: Mapping[str, Any] | None = None,
    *,
    wants_scores: bool,
    wants_probabilities: bool,
) -> dict[str, Any]:
    """Return the kept columns as they are, and after them the prediction, scores and probabilities as Arrow arrays."""
    import pyarrow as pa

    columns = {**(kept or {})}
    if model.predicts_numbers:
        columns[free_name(PREDICTION, columns)] = pa.array(np.ascontiguousarray(model.as_rows(scores)))
        return columns
    columns[free_name(PREDICTION, columns)] = labels_of(model, numbers)
    groups = {"score": model.as_rows(scores)} if wants_scores else {}
    if wants_probabilities:
        groups["probability"] = np.exp(model.log_probabilities(scores))
    for name, matrix in groups.items():
        for label, column in zip(model.classes, matrix.T, strict=True):
            columns[free_name(f"{name}:{written(label)}", columns)] = pa.array(np.ascontiguousarray(column))
    return columns


def labels_of(model: Model, numbers: Any) -> Any:
    """The labels as an Arrow array: of their own type, or as texts if they have several types; null where the model
    abstains. If a row can have several labels, they are lists of texts."""
    import pyarrow as pa

    labels = model.classes
    if model.several is not None:
        return pa.array([list(map(written, one)) for one in model.labels_of(numbers)], pa.list_(pa.string()))
    if len({type(label) for label in labels}) > 1:
        labels = [written(label) for label in labels]
    return pa.array(labels).take(pa.array(numbers, mask=numbers == ABSTAINED))


def table_of(model: Model, batch: Any) -> Any:
    """The batch as a table: a table of columns, a column of structs, or the column of a model that has only one."""
    import pyarrow as pa

    if hasattr(batch, "column_names") or hasattr(batch, "columns"):
        return batch if isinstance(batch, pa.Table) else pa.table(batch)
    column = batch
    if not isinstance(batch, pa.Array | pa.ChunkedArray):
        column = pa.chunked_array(batch) if hasattr(batch, "__arrow_c_stream__") else pa.array(batch)
    if pa.types.is_struct(column.type):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        empty = pa.schema(list(column.type))
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(chunk) for chunk in chunks], empty)
    names = [one.name for one in model.features.columns]
    if len(names) > 1:
        known = ", ".join(map(repr, names))
        raise DataError(f"the model has several columns, {known}; give it all of them, as a table or a struct")
    return pa.table({names[0]: column})
